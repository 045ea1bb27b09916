//! A rubber duck, from ellipsoids that melt into each other.
//!
//! Lengths are in units of about the length of the duck until it is scaled at the end: x from tail to beak, y up, z to
//! its left. The values that shape it are not distances, but have their sign and, near the surface, about their size.

use glam::{DMat3, DVec2, DVec3};

use crate::{Aabb, IsoGrid, TriangleMesh};

/// An ellipsoid, turned about the z axis.
struct Ellipsoid {
    center: DVec3,
    radii: DVec3,
    /// From its own axes to ours.
    turn: DMat3,
}

impl Ellipsoid {
    /// Tilted upwards at its front by an angle \[degrees\].
    fn new(center: [f64; 3], radii: [f64; 3], tilt: f64) -> Self {
        Self { center: DVec3::from(center), radii: DVec3::from(radii), turn: tilted(tilt) }
    }

    /// About the signed distance: the value of the quadric over the length of its gradient.
    fn value(&self, p: DVec3) -> f64 {
        let q = self.turn.transpose() * (p - self.center);
        let (scaled, twice) = ((q / self.radii).length(), (q / (self.radii * self.radii)).length());
        if twice > 0.0 { scaled * (scaled - 1.0) / twice } else { -self.radii.min_element() }
    }
}

/// The smaller of two values, blended where they differ by less than `blend`.
fn melt(a: f64, b: f64, blend: f64) -> f64 {
    let h = (blend - (a - b).abs()).max(0.0) / blend;
    a.min(b) - 0.25 * blend * h * h
}

/// A thick round plate with a round rim, drawn out along its front.
struct Plate {
    center: DVec3,
    /// Radius of the flat part, half the thickness, half the length that it is drawn out by.
    radius: f64,
    thickness: f64,
    reach: f64,
    /// From its own axes to ours.
    turn: DMat3,
}

impl Plate {
    /// Tilted upwards at its front by an angle \[degrees\].
    fn new(center: [f64; 3], [radius, thickness, reach]: [f64; 3], tilt: f64) -> Self {
        Self { center: DVec3::from(center), radius, thickness, reach, turn: tilted(tilt) }
    }

    /// The signed distance.
    fn value(&self, p: DVec3) -> f64 {
        let q = self.turn.transpose() * (p - self.center);
        let along = DVec2::new(q.x - q.x.clamp(-self.reach, self.reach), q.z);
        DVec2::new((along.length() - self.radius).max(0.0), q.y).length() - self.thickness
    }
}

/// A turn about the z axis that lifts what points along x by an angle \[degrees\].
fn tilted(angle: f64) -> DMat3 {
    let (sin, cos) = libm::sincos(angle.to_radians());
    DMat3::from_cols(DVec3::new(cos, sin, 0.0), DVec3::new(-sin, cos, 0.0), DVec3::Z)
}

struct Duck {
    body: [Ellipsoid; 3],
    wing: [Ellipsoid; 2],
    head: Ellipsoid,
    beak: [Plate; 2],
    eye: Ellipsoid,
}

impl Duck {
    fn new() -> Self {
        Self {
            body: [
                Ellipsoid::new([-0.06, 0.22, 0.0], [0.42, 0.24, 0.30], 4.0),
                Ellipsoid::new([0.16, 0.27, 0.0], [0.25, 0.25, 0.26], 0.0),
                Ellipsoid::new([-0.43, 0.36, 0.0], [0.17, 0.07, 0.13], -40.0),
            ],
            wing: [
                Ellipsoid::new([-0.09, 0.27, 0.235], [0.25, 0.135, 0.085], -10.0),
                Ellipsoid::new([-0.29, 0.34, 0.235], [0.12, 0.06, 0.06], -30.0),
            ],
            head: Ellipsoid::new([0.20, 0.62, 0.0], [0.23, 0.225, 0.22], 0.0),
            beak: [
                Plate::new([0.42, 0.60, 0.0], [0.078, 0.044, 0.04], 11.0),
                Plate::new([0.40, 0.515, 0.0], [0.055, 0.038, 0.035], -9.0),
            ],
            eye: Ellipsoid::new([0.338, 0.70, 0.132], [0.052, 0.064, 0.052], 0.0),
        }
    }

    /// Negative inside.
    fn value(&self, p: DVec3) -> f64 {
        // Left and right are alike.
        let p = DVec3::new(p.x, p.y, p.z.abs());
        let [trunk, breast, tail] = &self.body;
        let body = melt(melt(trunk.value(p), breast.value(p), 0.15), tail.value(p), 0.14);
        let wing = melt(self.wing[0].value(p), self.wing[1].value(p), 0.09);
        let body = melt(body, wing, 0.035);
        // A flat bottom, so that it stands.
        let body = -melt(-body, p.y, 0.04);
        let beak = melt(self.beak[0].value(p), self.beak[1].value(p), 0.02);
        let head = melt(melt(self.head.value(p), beak, 0.03), self.eye.value(p), 0.012);
        melt(body, head, 0.06)
    }

    fn gradient(&self, p: DVec3) -> DVec3 {
        const STEP: f64 = 1e-4;
        DVec3::from(DVec3::AXES.map(|axis| (self.value(p + STEP * axis) - self.value(p - STEP * axis)) / (2.0 * STEP)))
    }

    /// The nearest point of the surface, about.
    fn projected(&self, mut p: DVec3) -> DVec3 {
        for _ in 0..3 {
            let gradient = self.gradient(p);
            p -= self.value(p) * gradient / gradient.length_squared().max(1e-3);
        }
        p
    }
}

/// Length of the duck in the bath \[m\].
pub const DUCK_LENGTH: f64 = 0.2;

/// Rounds of evening out the triangles.
const ROUNDS: usize = 24;
/// The values of ellipsoids can change faster than distances do, but not more than twice as fast.
const CAUTION: f64 = 0.5;

/// A rubber duck of some length from tail to beak \[m\], that looks along x and stands on y = 0 above the origin. `cells`
/// is how finely it is cut along its length, from 8 to 400: 22 give about 2,000 triangles, 44 about 9,000.
#[must_use]
pub fn duck(length: f64, cells: u32) -> TriangleMesh {
    let duck = Duck::new();
    let room = Aabb::new(DVec3::new(-0.7, -0.1, -0.45), DVec3::new(0.7, 0.95, 0.45));
    let spacing = 1.2 / f64::from(cells.clamp(8, 400));
    let mut mesh = match IsoGrid::covering(&room, spacing) {
        Ok(grid) => {
            let surface = grid.surface_of(|p| CAUTION * duck.value(p), 0.0);
            TriangleMesh::trusted(surface.positions, surface.triangles)
        }
        Err(error) => unreachable!("a room of fixed size has a grid: {error}"),
    };
    even_out(&mut mesh, |p| duck.projected(p));
    let bounds = mesh.bounds();
    let middle = DVec3::new(bounds.center().x, bounds.min.y, bounds.center().z);
    let scale = length / bounds.size().x;
    mesh.vertices_mut().iter_mut().for_each(|v| *v = scale * (*v - middle));
    mesh
}

/// Moves vertices along the surface towards the middle of their neighbours, and back onto it.
fn even_out(mesh: &mut TriangleMesh, projected: impl Fn(DVec3) -> DVec3) {
    let triangles = mesh.triangles().to_vec();
    let mut sums = Vec::new();
    for _ in 0..ROUNDS {
        sums.clear();
        sums.resize(mesh.vertices().len(), (DVec3::ZERO, 0.0));
        for t in &triangles {
            for (v, next) in [(t[0], t[1]), (t[1], t[2]), (t[2], t[0])] {
                let (sum, count) = &mut sums[v as usize];
                *sum += mesh.vertices()[next as usize];
                *count += 1.0;
            }
        }
        for (vertex, (sum, count)) in mesh.vertices_mut().iter_mut().zip(&sums) {
            *vertex = projected(vertex.lerp(*sum / *count, 0.5));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Bvh;

    #[test]
    fn ducks_of_all_sizes_are_closed_and_face_outwards() {
        for (length, cells) in [(0.2, 22), (1.0, 44), (0.05, 66)] {
            let duck = duck(length, cells);
            duck.closed().unwrap();
            assert!(duck.components().iter().all(|&piece| piece == 0));
            let bounds = duck.bounds();
            assert!((bounds.size().x - length).abs() < 1e-12 && bounds.min.y.abs() < 1e-12);
            assert!((bounds.min.z + bounds.max.z).abs() < 1e-3 * length);
            // A rubber duck is about three quarters as high and half as wide as it is long.
            let part = duck.signed_volume() / (length * length * length);
            assert!((0.1..0.25).contains(&part), "{part}");
            assert_eq!(Bvh::new(&duck).self_crossing(), None);
        }
        assert!((1500..3000).contains(&duck(0.2, 22).triangles().len()));
        assert!((7_000..10_000).contains(&duck(0.2, 44).triangles().len()));
    }

    #[test]
    fn triangles_are_even() {
        let duck = duck(DUCK_LENGTH, 44);
        let mut angles: Vec<f64> = duck
            .corners()
            .map(|c| crate::triangle::angles(c).into_iter().fold(f64::INFINITY, f64::min).to_degrees())
            .collect();
        angles.sort_by(f64::total_cmp);
        assert!(angles[angles.len() / 2] > 40.0 && angles[angles.len() / 20] > 25.0, "{:?}", &angles[..20]);
    }
}
