//! Closed meshes of simple bodies, facing outwards. Lengths in metres; sizes must be positive.

mod duck;

use std::collections::HashMap;
use std::f64::consts::{PI, TAU};

use glam::DVec3;

use crate::{Aabb, TriangleMesh};

pub use duck::{DUCK_LENGTH, duck};

/// Icospheres are cut no finer than this: 20·4⁹ is five million triangles.
const FINEST_ICOSPHERE: u32 = 9;

/// A box of twelve triangles.
#[must_use]
pub fn cuboid(bounds: &Aabb) -> TriangleMesh {
    let at = |i: u32| DVec3::new(f64::from(i & 1), f64::from(i >> 1 & 1), f64::from(i >> 2));
    let vertices = (0..8).map(|i| bounds.min + at(i) * bounds.size()).collect();
    let faces = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
    TriangleMesh::trusted(vertices, faces.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect())
}

/// A sphere of 20·4ⁿ nearly equal triangles with all vertices on it, from an icosahedron cut `n` times (at most 9).
#[must_use]
pub fn icosphere(center: DVec3, radius: f64, n: u32) -> TriangleMesh {
    let (mut directions, mut triangles) = icosahedron();
    for _ in 0..n.min(FINEST_ICOSPHERE) {
        triangles = quartered(&mut directions, &triangles);
    }
    TriangleMesh::trusted(directions.iter().map(|&d| center + radius * d).collect(), triangles)
}

pub(crate) fn icosahedron() -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let golden = 0.5 * (1.0 + 5f64.sqrt());
    let corners = [(-1.0, golden), (1.0, golden), (-1.0, -golden), (1.0, -golden)];
    let rectangles = [
        corners.map(|(a, b)| DVec3::new(a, b, 0.0)),
        corners.map(|(a, b)| DVec3::new(0.0, a, b)),
        corners.map(|(a, b)| DVec3::new(b, 0.0, a)),
    ];
    let triangles = [
        [[0, 11, 5], [0, 5, 1], [0, 1, 7], [0, 7, 10], [0, 10, 11]],
        [[1, 5, 9], [5, 11, 4], [11, 10, 2], [10, 7, 6], [7, 1, 8]],
        [[3, 9, 4], [3, 4, 2], [3, 2, 6], [3, 6, 8], [3, 8, 9]],
        [[4, 9, 5], [2, 4, 11], [6, 2, 10], [8, 6, 7], [9, 8, 1]],
    ];
    (rectangles.concat().iter().map(|v| v.normalize()).collect(), triangles.concat())
}

/// Each triangle cut into four at the middles of its edges, which are lifted onto the sphere.
fn quartered(directions: &mut Vec<DVec3>, triangles: &[[u32; 3]]) -> Vec<[u32; 3]> {
    let mut middles: HashMap<[u32; 2], u32> = HashMap::new();
    let mut middle = |a: u32, b: u32| {
        *middles.entry([a.min(b), a.max(b)]).or_insert_with(|| {
            directions.push((directions[a as usize] + directions[b as usize]).normalize());
            directions.len() as u32 - 1
        })
    };
    let mut finer = Vec::with_capacity(4 * triangles.len());
    for &[a, b, c] in triangles {
        let (ab, bc, ca) = (middle(a, b), middle(b, c), middle(c, a));
        finer.extend([[a, ab, ca], [b, bc, ab], [c, ca, bc], [ab, bc, ca]]);
    }
    finer
}

/// A sphere of meridians and parallels about the y axis: at least 3 `segments` around, at least 2 `rings` from pole to
/// pole.
#[must_use]
pub fn uv_sphere(center: DVec3, radius: f64, segments: u32, rings: u32) -> TriangleMesh {
    let (segments, rings) = (segments.max(3), rings.max(2));
    let mut strip = Revolved::new(center + radius * DVec3::Y, segments);
    for ring in 1..rings {
        let (sin, cos) = sin_cos(PI * f64::from(ring) / f64::from(rings));
        strip.ring(center + radius * cos * DVec3::Y, [radius * sin * DVec3::Z, radius * sin * DVec3::X]);
    }
    strip.finish(center - radius * DVec3::Y)
}

/// A cylinder between the centres of its two flat ends, with at least 3 `segments` around. The ends are fans about
/// their centres.
#[must_use]
pub fn cylinder(start: DVec3, end: DVec3, radius: f64, segments: u32) -> TriangleMesh {
    let (u, v) = (end - start).normalize_or(DVec3::Y).any_orthonormal_pair();
    let mut strip = Revolved::new(end, segments.max(3));
    strip.ring(end, [radius * u, radius * v]);
    strip.ring(start, [radius * u, radius * v]);
    strip.finish(start)
}

/// A torus about the y axis: a tube of radius `minor` whose middle line is a circle of radius `major`, cut at least 3
/// times around the axis and 3 times around the tube.
#[must_use]
pub fn torus(center: DVec3, major: f64, minor: f64, segments: [u32; 2]) -> TriangleMesh {
    let [n, m] = segments.map(|s| s.max(3));
    let vertex = |i: u32, j: u32| {
        let (sin_i, cos_i) = sin_cos(TAU * f64::from(i) / f64::from(n));
        let (sin_j, cos_j) = sin_cos(TAU * f64::from(j) / f64::from(m));
        let out = major + minor * cos_j;
        center + DVec3::new(out * cos_i, minor * sin_j, out * sin_i)
    };
    let vertices = (0..n).flat_map(|i| (0..m).map(move |j| (i, j))).map(|(i, j)| vertex(i, j)).collect();
    let number = |i: u32, j: u32| i % n * m + j % m;
    let quad = |i: u32, j: u32| [number(i, j), number(i, j + 1), number(i + 1, j + 1), number(i + 1, j)];
    let quads = (0..n).flat_map(|i| (0..m).map(move |j| (i, j))).map(|(i, j)| quad(i, j));
    TriangleMesh::trusted(vertices, quads.flat_map(|[a, b, c, d]| [[a, b, c], [a, c, d]]).collect())
}

fn sin_cos(angle: f64) -> (f64, f64) {
    libm::sincos(angle)
}

/// A surface of rings between two poles, from the first pole down.
struct Revolved {
    vertices: Vec<DVec3>,
    triangles: Vec<[u32; 3]>,
    segments: u32,
}

impl Revolved {
    fn new(pole: DVec3, segments: u32) -> Self {
        Self { vertices: vec![pole], triangles: Vec::new(), segments }
    }

    /// Adds a ring, counter-clockwise seen from the first pole, and joins it to what is above.
    fn ring(&mut self, center: DVec3, [u, v]: [DVec3; 2]) {
        let n = self.segments;
        let first = self.vertices.len() as u32;
        for i in 0..n {
            let (sin, cos) = sin_cos(TAU * f64::from(i) / f64::from(n));
            self.vertices.push(center + cos * u + sin * v);
        }
        for i in 0..n {
            let next = (i + 1) % n;
            if first == 1 {
                self.triangles.push([0, 1 + i, 1 + next]);
            } else {
                let (above, below) = (first - n, first);
                self.triangles.push([above + i, below + i, below + next]);
                self.triangles.push([above + i, below + next, above + next]);
            }
        }
    }

    fn finish(mut self, pole: DVec3) -> TriangleMesh {
        let last = self.vertices.len() as u32;
        let ring = last - self.segments;
        self.vertices.push(pole);
        self.triangles.extend((0..self.segments).map(|i| [last, ring + (i + 1) % self.segments, ring + i]));
        TriangleMesh::trusted(self.vertices, self.triangles)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_near(value: f64, expected: f64, relative: f64) {
        assert!((value - expected).abs() <= relative * expected.abs(), "{value} instead of {expected}");
    }

    /// Closed, and larger than nothing: facing outwards.
    fn assert_sound(mesh: &TriangleMesh) {
        mesh.closed().unwrap();
        assert!(mesh.signed_volume() > 0.0);
        assert!(TriangleMesh::new(mesh.vertices().to_vec(), mesh.triangles().to_vec()).unwrap() == *mesh);
    }

    #[test]
    fn all_are_closed_and_face_outwards() {
        let c = DVec3::new(1.0, -2.0, 3.0);
        assert_sound(&cuboid(&Aabb::new(c, c + DVec3::new(1.0, 2.0, 3.0))));
        (0..4).for_each(|n| assert_sound(&icosphere(c, 0.5, n)));
        assert_sound(&uv_sphere(c, 0.5, 0, 0));
        assert_sound(&uv_sphere(c, 0.5, 17, 9));
        assert_sound(&cylinder(c, c + DVec3::new(0.3, 0.2, -0.9), 0.4, 0));
        assert_sound(&cylinder(c, c - DVec3::Y, 0.4, 33));
        assert_sound(&torus(c, 1.0, 0.4, [0, 0]));
        assert_sound(&torus(c, 1.0, 0.4, [20, 11]));
    }

    #[test]
    fn an_icosphere_has_its_vertices_on_the_sphere() {
        let mesh = icosphere(DVec3::ONE, 2.0, 3);
        assert_eq!((mesh.triangles().len(), mesh.vertices().len()), (1280, 642));
        assert!(mesh.vertices().iter().all(|v| (v.distance(DVec3::ONE) - 2.0).abs() < 1e-14));
    }

    #[test]
    fn fine_meshes_have_the_volumes_of_their_bodies() {
        assert_near(icosphere(DVec3::ONE, 2.0, 5).signed_volume(), 32.0 / 3.0 * PI, 2e-3);
        assert_near(icosphere(DVec3::ONE, 2.0, 5).area(), 16.0 * PI, 2e-3);
        assert_near(uv_sphere(DVec3::ONE, 2.0, 100, 50).signed_volume(), 32.0 / 3.0 * PI, 3e-3);
        assert_near(cylinder(DVec3::ZERO, DVec3::ONE, 0.5, 200).signed_volume(), 3f64.sqrt() * PI / 4.0, 1e-3);
        assert_near(torus(DVec3::ONE, 2.0, 0.5, [200, 100]).signed_volume(), PI * PI, 2e-3);
    }
}
