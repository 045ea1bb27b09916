//! Parts of the heart's wall: cut from a surface, moved by shapes, measured.

use std::collections::{BTreeMap, BTreeSet};

use glam::DVec3;
use meniscus_geometry::TriangleMesh;

/// Number of shapes that move the wall.
pub(crate) const SHAPES: usize = 4;

/// Cuts triangles where a field changes its sign; values smaller than `near` are taken for zero. Returns the triangles of
/// both sides.
pub(crate) fn split(
    vertices: &mut Vec<DVec3>,
    triangles: &[[u32; 3]],
    (field, near): (&dyn Fn(DVec3) -> f64, f64),
) -> [Vec<[u32; 3]>; 2] {
    let mut values: Vec<f64> = vertices.iter().map(|&p| field(p)).collect();
    // Vertices close to the border are put on it, so that no thin triangles arise.
    values.iter_mut().filter(|value| value.abs() < near).for_each(|value| *value = 0.0);
    let mut middles = BTreeMap::new();
    let mut sides = [Vec::new(), Vec::new()];
    for &triangle in triangles {
        let signs = triangle.map(|v| values[v as usize]);
        if signs.iter().all(|&s| s <= 0.0) || signs.iter().all(|&s| s >= 0.0) {
            let above = signs.iter().any(|&s| s > 0.0);
            sides[usize::from(above)].push(triangle);
            continue;
        }
        let mut polygons = [Vec::new(), Vec::new()];
        for n in 0..3 {
            let [a, b] = [triangle[n], triangle[(n + 1) % 3]];
            let [va, vb] = [values[a as usize], values[b as usize]];
            if va <= 0.0 {
                polygons[0].push(a);
            }
            if va >= 0.0 {
                polygons[1].push(a);
            }
            if va * vb < 0.0 {
                let middle = *middles.entry([a.min(b), a.max(b)]).or_insert_with(|| {
                    vertices.push(vertices[a as usize].lerp(vertices[b as usize], va / (va - vb)));
                    vertices.len() as u32 - 1
                });
                polygons.iter_mut().for_each(|polygon| polygon.push(middle));
            }
        }
        for (side, polygon) in sides.iter_mut().zip(polygons) {
            side.extend((2..polygon.len()).map(|n| [polygon[0], polygon[n - 1], polygon[n]]));
        }
    }
    sides
}

/// A part of the wall: its vertices at rest and the shapes that move them.
pub(crate) struct Wall {
    pub(crate) vertices: Vec<DVec3>,
    pub(crate) triangles: Vec<[u32; 3]>,
    /// Displacements of the vertices by each shape \[m\].
    pub(crate) shapes: [Vec<DVec3>; SHAPES],
}

impl Wall {
    pub(crate) fn new(all: &[DVec3], triangles: &[[u32; 3]], shapes: &dyn Fn(DVec3) -> [DVec3; SHAPES]) -> Self {
        let mut number = vec![u32::MAX; all.len()];
        let mut vertices = Vec::new();
        let mut used = |v: u32| {
            if number[v as usize] == u32::MAX {
                number[v as usize] = vertices.len() as u32;
                // As the file has them.
                vertices.push(all[v as usize].as_vec3().as_dvec3());
            }
            number[v as usize]
        };
        let triangles: Vec<[u32; 3]> = triangles.iter().map(|t| t.map(&mut used)).collect();
        let moved: Vec<[DVec3; SHAPES]> = vertices.iter().map(|&p| shapes(p)).collect();
        let shapes = [0, 1, 2, 3].map(|k| moved.iter().map(|m| m[k].as_vec3().as_dvec3()).collect());
        Self { vertices, triangles, shapes }
    }

    /// Volume within, the rings closed by flat lids \[m³\].
    fn volume(&self, weights: [f64; SHAPES]) -> f64 {
        let position = |v: usize| (0..SHAPES).fold(self.vertices[v], |p, k| p + weights[k] * self.shapes[k][v]);
        let vertices: Vec<DVec3> = (0..self.vertices.len()).map(position).collect();
        lumen(&TriangleMesh::new(vertices, self.triangles.clone()).expect("a part of our own"))
    }

    /// The weight of the second shape at which the volume is as wished: Newton's method.
    pub(crate) fn narrowing(&self, mut weights: [f64; SHAPES], wanted: f64) -> f64 {
        const SMALL: f64 = 1e-4;
        for _ in 0..12 {
            let now = self.volume(weights);
            let mut more = weights;
            more[1] += SMALL;
            weights[1] -= (now - wanted) * SMALL / (self.volume(more) - now);
        }
        weights[1]
    }
}

/// Volume within a wall whose holes are closed by lids about their middles \[m³\].
fn lumen(mesh: &TriangleMesh) -> f64 {
    let origin = DVec3::ZERO;
    let tet = |[a, b, c]: [DVec3; 3]| (a - origin).dot((b - origin).cross(c - origin)) / 6.0;
    let wall: f64 = mesh.corners().map(tet).sum();
    wall + rims(mesh)
        .iter()
        .map(|rim| {
            let middle = rim.iter().sum::<DVec3>() / rim.len() as f64;
            (0..rim.len()).map(|n| tet([rim[(n + 1) % rim.len()], rim[n], middle])).sum::<f64>()
        })
        .sum::<f64>()
}

/// The holes of a surface: their corners in the direction of its triangles.
fn rims(mesh: &TriangleMesh) -> Vec<Vec<DVec3>> {
    let open: BTreeSet<[u32; 2]> = mesh.boundary_edges().into_iter().collect();
    let sides = mesh.triangles().iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]);
    let mut next: BTreeMap<u32, u32> =
        sides.filter(|&[a, b]| open.contains(&[a.min(b), a.max(b)])).map(|[a, b]| (a, b)).collect();
    let mut rims = Vec::new();
    while let Some((&start, _)) = next.first_key_value() {
        let (mut rim, mut at) = (Vec::new(), start);
        while let Some(to) = next.remove(&at) {
            rim.push(mesh.vertices()[at as usize]);
            at = to;
        }
        rims.push(rim);
    }
    rims
}
