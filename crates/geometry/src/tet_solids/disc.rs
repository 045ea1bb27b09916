//! Discs of triangles, and layers of prisms on them.

use std::f64::consts::TAU;

/// A disc of radius 1: its points, ring by ring from the centre, and its triangles.
pub(super) fn disc(rings: u32) -> (Vec<[f64; 2]>, Vec<[u32; 3]>) {
    let first = |ring: u32| if ring == 0 { 0 } else { 1 + 3 * ring * (ring - 1) };
    let number = |ring: u32, i: u32| if ring == 0 { 0 } else { first(ring) + i % (6 * ring) };
    let mut points = vec![[0.0; 2]];
    let mut triangles = Vec::new();
    for ring in 1..=rings {
        for i in 0..6 * ring {
            let (sin, cos) = libm::sincos(TAU * f64::from(i) / f64::from(6 * ring));
            let radius = f64::from(ring) / f64::from(rings);
            points.push([radius * cos, radius * sin]);
        }
        for sector in 0..6 {
            let (outer, inner) = (sector * ring, sector * (ring - 1));
            for i in 0..ring {
                triangles.push([number(ring, outer + i), number(ring, outer + i + 1), number(ring - 1, inner + i)]);
                if i + 1 < ring {
                    let shared = number(ring, outer + i + 1);
                    triangles.push([number(ring - 1, inner + i), shared, number(ring - 1, inner + i + 1)]);
                }
            }
        }
    }
    (points, triangles)
}

/// The tetrahedra between a triangle in one layer and the same in the next. Diagonals start at the corner with the lower
/// number, so that neighbours match and never run in a circle; every other layer is upside down.
pub(super) fn prism(mut triangle: [u32; 3], layer: u32, points: u32) -> [[u32; 4]; 3] {
    triangle.sort_unstable();
    let at = |layer: u32| triangle.map(|v| layer * points + v);
    let (a, b) = if layer.is_multiple_of(2) { (at(layer), at(layer + 1)) } else { (at(layer + 1), at(layer)) };
    [[a[0], a[1], a[2], b[2]], [a[0], a[1], b[1], b[2]], [a[0], b[0], b[1], b[2]]]
}
