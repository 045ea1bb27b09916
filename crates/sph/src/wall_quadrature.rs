//! Walls of any shape: the wall integral at the Gauss points of their triangles \[MSTHG04 sec. 4.3\].
//!
//! > 1 − γ = −Σₛ k(r) r·n A w,  ∇γ = −Σₛ W(r) n A w
//!
//! over the samples s of the surface, with k = (g − 1/4πr²)/r and the symbols of [`crate::wall_integral`]. A distance is read as
//! `stretch (z − offset)` ([`Calibration`]): the surface is moved into the liquid by `offset`, and lengths are scaled by
//! `stretch`/h. Edges move with both their faces, so that a moved box is a box.

use crate::kernel::Kernel;
use crate::wall_integral::Calibration;
use glam::{DMat3, DVec3, Vec3};
pub use meniscus_boundary::Wet;
use meniscus_geometry::{NeighbourGrid, Periodic, TriangleMesh, quadrature};
use std::f64::consts::PI;

/// Longest edge of a triangle's pieces, in units of the scaled support radius: beyond it the error of γ at rest grows
/// above half a percent.
pub const LONGEST_EDGE: f64 = 0.5;

/// A triangle is not cut into more than this squared.
pub(crate) const MAX_PIECES: u32 = 1000;

/// Steps of the tables.
const STEPS: usize = 512;

/// What the samples of a surface do to a particle.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct SampledIntegral {
    /// 1 − γ, dimensionless.
    pub wall_fraction: f32,
    /// ∇γ \[1/m\], into the liquid.
    pub gamma_gradient: Vec3,
}

/// The part of a kernel that decides what samples do, as tables over q².
#[derive(Debug, Clone)]
pub struct SampleKernel {
    /// W and the tail 1 − 4π ∫₀^q W s² ds.
    table: Vec<[f32; 2]>,
    /// Lengths are multiplied by this: stretch/h \[1/m\].
    scale: f32,
    /// How far the surface moves into the liquid \[m\].
    offset: f64,
}

impl SampleKernel {
    /// For a density kernel, calibrated, and a support radius h \[m\].
    #[must_use]
    pub fn new(kernel: &Kernel, calibration: &Calibration, h: f64) -> Self {
        let at = |k: usize| libm::sqrt(k as f64 / STEPS as f64);
        let table = (0..=STEPS + 1).map(|k| [kernel.value(at(k)) as f32, kernel.tail(at(k)) as f32]).collect();
        let offset = h * (calibration.half_spacing - calibration.rest / calibration.stretch);
        Self { table, scale: (calibration.stretch / h) as f32, offset }
    }

    /// As it is, without calibration: lengths in units of h, the surface where it is.
    #[must_use]
    pub fn plain(kernel: &Kernel, h: f64) -> Self {
        Self::new(kernel, &Calibration { rest: 0.0, stretch: 1.0, half_spacing: 0.0 }, h)
    }

    /// How far samples reach \[m\].
    #[must_use]
    pub fn reach(&self) -> f32 {
        1.0 / self.scale
    }

    /// How far the surface moves into the liquid \[m\].
    #[must_use]
    pub fn offset(&self) -> f64 {
        self.offset
    }

    /// What a sample with an area at `r` from a particle adds: W, and its part of −4π (1 − γ), both before
    /// [`SampleKernel::norms`]; nothing out of reach.
    #[inline(always)]
    pub(crate) fn weigh(&self, r: Vec3, area: Vec3) -> Option<[f32; 2]> {
        let r = r * self.scale;
        let q_squared = r.length_squared();
        if q_squared >= 1.0 {
            return None;
        }
        let [w, tail] = self.at(q_squared);
        let q_cubed = (q_squared * q_squared.sqrt()).max(1e-6);
        Some([w, tail / q_cubed * r.dot(area)])
    }

    /// Factors that make ∇γ \[1/m\] of Σ W n A and 1 − γ of the other sum: areas scale with the square of lengths.
    pub(crate) fn norms(&self) -> (f32, f32) {
        (self.scale * self.scale * self.scale, self.scale * self.scale / (4.0 * PI as f32))
    }

    /// h³ W and the tail at q² < 1.
    #[inline(always)]
    fn at(&self, q_squared: f32) -> [f32; 2] {
        let scaled = q_squared * STEPS as f32;
        let k = scaled as usize;
        let part = scaled - k as f32;
        let ([w0, t0], [w1, t1]) = (self.table[k], self.table[k + 1]);
        [w0 + part * (w1 - w0), t0 + part * (t1 - t0)]
    }
}

/// The samples of a surface, sorted by cell.
#[derive(Debug, Clone, Default)]
pub struct Samples {
    /// Where they are \[m\]; moved by the offset, unless both sides are wet.
    position: Vec<Vec3>,
    /// Normal times area \[m²\], into the liquid.
    area: Vec<Vec3>,
    grid: NeighbourGrid,
    wet: Option<Wet>,
}

impl Samples {
    /// Samples a surface for a kernel.
    #[must_use]
    pub fn new(mesh: &TriangleMesh, wet: Wet, kernel: &SampleKernel) -> Self {
        let sign = if wet == Wet::Back { -1.0 } else { 1.0 };
        let moved = match wet {
            Wet::Both => mesh.vertices().to_vec(),
            _ => move_out(mesh, sign * kernel.offset),
        };
        let longest = LONGEST_EDGE / f64::from(kernel.scale);
        let (mut position, mut area) = (Vec::new(), Vec::new());
        for triangle in mesh.triangles() {
            let corners = triangle.map(|v| moved[v as usize]);
            let whole = 0.5 * sign * (corners[1] - corners[0]).cross(corners[2] - corners[0]);
            let pieces = quadrature::subdivisions(corners, longest, MAX_PIECES);
            for sample in quadrature::subdivided(pieces) {
                position.push(sample.at(corners).as_vec3());
                area.push((whole * sample.weight).as_vec3());
            }
        }
        let mut grid = NeighbourGrid::default();
        grid.sort(&position, kernel.reach(), Periodic::default());
        let sorted = |values: &[Vec3]| grid.order().iter().map(|&i| values[i as usize]).collect();
        Self { position: sorted(&position), area: sorted(&area), grid, wet: Some(wet) }
    }

    /// Number of samples.
    #[must_use]
    pub fn len(&self) -> usize {
        self.position.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.position.is_empty()
    }

    /// Where they are on the surface \[m\], before they are moved; only those that `near` asks for, given where they are moved to.
    pub(crate) fn on_surface(&self, kernel: &SampleKernel, near: impl Fn(Vec3) -> bool, mut visit: impl FnMut(Vec3)) {
        let offset = if self.wet == Some(Wet::Both) { 0.0 } else { kernel.offset as f32 };
        for (x, area) in self.position.iter().zip(&self.area).filter(|(x, _)| near(**x)) {
            visit(*x - area.normalize_or_zero() * offset);
        }
    }

    /// What they do to a particle; nothing out of reach.
    #[must_use]
    pub fn integrate(&self, p: Vec3, kernel: &SampleKernel) -> Option<SampledIntegral> {
        let both = self.wet == Some(Wet::Both);
        let offset = if both { kernel.offset as f32 } else { 0.0 };
        let reach = Vec3::splat(kernel.reach() + offset.abs());
        let (mut wall_fraction, mut gamma_gradient, mut felt) = (0.0, Vec3::ZERO, 0.0);
        self.grid.for_each_range_in(p - reach, p + reach, |range| {
            for (x, area) in self.position[range.clone()].iter().zip(&self.area[range]) {
                let mut r = *x - p;
                let mut area = *area;
                if both {
                    area = if r.dot(area) > 0.0 { -area } else { area };
                    r += area.normalize_or_zero() * offset;
                }
                if let Some([w, flux]) = kernel.weigh(r, area) {
                    wall_fraction -= flux;
                    gamma_gradient += area * w;
                    felt += w;
                }
            }
        });
        if felt == 0.0 {
            return None;
        }
        let (cubed, quarter) = kernel.norms();
        Some(SampledIntegral {
            wall_fraction: whole_wall_fraction(wall_fraction * quarter),
            gamma_gradient: gamma_gradient * cubed,
        })
    }
}

/// Below this a sum of fluxes is that of a point behind the moved surface; above, it is what the sum's error leaves of nothing.
const BEHIND: f32 = -0.02;

/// 1 − γ from the flux through all faces: behind the moved surface, where it is negative, the rest of the kernel is in the liquid.
pub(crate) fn whole_wall_fraction(flux: f32) -> f32 {
    if flux < BEHIND { flux + 1.0 } else { flux.max(0.0) }
}

/// Vertices moved along their normals so that every face moves by `distance`, as far as that is possible at once.
fn move_out(mesh: &TriangleMesh, distance: f64) -> Vec<DVec3> {
    let mut miters = vec![Miter::default(); mesh.vertices().len()];
    for triangle in mesh.triangles() {
        Miter::add(&mut miters, *triangle, &Bevel::new(triangle.map(|v| mesh.vertices()[v as usize])));
    }
    mesh.vertices().iter().zip(&miters).map(|(vertex, miter)| *vertex + miter.shift() * distance).collect()
}

/// The normal of a face and its angles \[rad\].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bevel {
    normal: DVec3,
    angles: [f64; 3],
}

impl Bevel {
    pub(crate) fn new([a, b, c]: [DVec3; 3]) -> Self {
        let angle = |at: DVec3, next: DVec3, last: DVec3| {
            let angle = (next - at).angle_between(last - at);
            if angle.is_finite() { angle } else { 0.0 }
        };
        let normal = (b - a).cross(c - a).normalize_or_zero();
        Self { normal, angles: [angle(a, b, c), angle(b, c, a), angle(c, a, b)] }
    }
}

/// How a vertex moves with its faces: Σ n nᵀ and Σ n over them, weighted by angle.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Miter {
    matrix: DMat3,
    normals: DVec3,
}

impl Default for Miter {
    fn default() -> Self {
        Self { matrix: DMat3::ZERO, normals: DVec3::ZERO }
    }
}

impl Miter {
    /// Adds a face to the miters of its corners.
    pub(crate) fn add(miters: &mut [Self], triangle: [u32; 3], face: &Bevel) {
        let n = face.normal;
        let square = DMat3::from_cols(n * n.x, n * n.y, n * n.z);
        for (v, angle) in triangle.into_iter().zip(face.angles) {
            miters[v as usize].matrix += square * angle;
            miters[v as usize].normals += n * angle;
        }
    }

    /// The shift s with n·s = 1 for all normals n of a vertex, by least squares; a little regular, and not longer than
    /// three: at a needle's tip nothing fits.
    pub(crate) fn shift(&self) -> DVec3 {
        let mean = self.normals.normalize_or_zero();
        let total = self.matrix.x_axis.x + self.matrix.y_axis.y + self.matrix.z_axis.z;
        let matrix = self.matrix + DMat3::from_diagonal(DVec3::splat(1e-3 * total));
        let shift = matrix.inverse() * (self.normals + mean * (1e-3 * total));
        if shift.is_finite() { shift.clamp_length_max(3.0) } else { mean }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wall_integral::WallIntegral;
    use meniscus_geometry::{Aabb, solids};

    const H: f64 = 0.1;

    /// A box seen from inside, cut into a few triangles.
    fn tank(size: f64) -> TriangleMesh {
        solids::cuboid(&Aabb::new(DVec3::ZERO, DVec3::splat(size)))
    }

    #[test]
    fn samples_of_planes_edges_and_corners_match_the_closed_form() {
        let kernel = Kernel::CUBIC_SPLINE;
        let (exact, plain) = (WallIntegral::new(&kernel), SampleKernel::plain(&kernel, H));
        let samples = Samples::new(&tank(1.0), Wet::Back, &plain);
        let mut worst = 0.0f64;
        for position in [[0.2, 5.0, 5.0], [0.3, 5.1, 4.9], [0.2, 0.3, 5.0], [0.25, 0.7, 0.4], [0.5, 0.2, 0.2]] {
            let p = DVec3::from_array(position);
            let cut = exact.tank(p, DVec3::ZERO, DVec3::splat(10.0));
            let found = samples.integrate((p * H).as_vec3(), &plain).unwrap();
            worst = worst.max((f64::from(found.wall_fraction) - cut.wall_fraction).abs());
            let error = (found.gamma_gradient.as_dvec3() * H - cut.gradient).length();
            assert!(error < 0.01 * cut.gradient.length(), "{p}: {} {}", found.gamma_gradient * H as f32, cut.gradient);
        }
        assert!(worst < 0.005, "{worst}");
    }

    #[test]
    fn calibrated_samples_of_a_tank_are_the_calibrated_tank() {
        let kernel = Kernel::CUBIC_SPLINE;
        let calibration = Calibration::new(&kernel, &kernel, 0.5);
        let sampled = SampleKernel::new(&kernel, &calibration, H);
        let samples = Samples::new(&tank(1.0), Wet::Back, &sampled);
        let exact = WallIntegral::new(&kernel);
        for position in [[0.25, 5.0, 5.0], [0.25, 0.25, 5.0], [0.25, 0.25, 0.25], [0.3, 0.35, 5.0], [0.22, 5.0, 0.4]] {
            let p = DVec3::from_array(position);
            let read = |z: DVec3| DVec3::from_array(z.to_array().map(|z| calibration.read(z)));
            let cut = exact.tank(DVec3::ZERO, -read(p), read(DVec3::splat(10.0) - p));
            let found = samples.integrate((p * H).as_vec3(), &sampled).unwrap();
            assert!(
                (f64::from(found.wall_fraction) - cut.wall_fraction).abs() < 0.005,
                "{p}: {} {}",
                found.wall_fraction,
                cut.wall_fraction
            );
            let expected = cut.gradient * (calibration.stretch / H);
            assert!(
                (found.gamma_gradient.as_dvec3() - expected).length() < 0.02 * expected.length(),
                "{p}: {} {expected}",
                found.gamma_gradient
            );
        }
    }

    #[test]
    fn a_shell_is_met_from_both_sides_and_a_body_from_outside() {
        let kernel = Kernel::CUBIC_SPLINE;
        let calibration = Calibration::new(&kernel, &kernel, 0.5);
        let sampled = SampleKernel::new(&kernel, &calibration, H);
        let corners = vec![DVec3::ZERO, DVec3::X, DVec3::Z, DVec3::X + DVec3::Z];
        let sheet = TriangleMesh::new(corners, vec![[0, 2, 1], [1, 2, 3]]).unwrap();
        let shell = Samples::new(&sheet, Wet::Both, &sampled);
        let above = shell.integrate(Vec3::new(0.5, 0.025, 0.5), &sampled).unwrap();
        let below = shell.integrate(Vec3::new(0.5, -0.025, 0.5), &sampled).unwrap();
        assert!(
            (above.wall_fraction - below.wall_fraction).abs() < 1e-4
                && (above.gamma_gradient + below.gamma_gradient).length() < 1e-2
        );
        assert!(above.gamma_gradient.y > 0.0 && (above.wall_fraction - 0.1497).abs() < 0.005, "{above:?}");
        assert!(shell.integrate(Vec3::new(0.5, 0.06, 0.5), &sampled).is_none());

        let ball = Samples::new(&solids::icosphere(DVec3::ZERO, 0.3, 3), Wet::Front, &sampled);
        let outside = ball.integrate(Vec3::new(0.0, 0.325, 0.0), &sampled).unwrap();
        assert!(
            outside.gamma_gradient.y > 0.0
                && outside.gamma_gradient.x.abs() + outside.gamma_gradient.z.abs() < 0.05 * outside.gamma_gradient.y
        );
        assert!(outside.wall_fraction < above.wall_fraction, "a ball cuts off less than a plane");
        // Pushed through the moved surface it goes on to rise.
        let nearer = ball.integrate(Vec3::new(0.0, 0.305, 0.0), &sampled).unwrap();
        assert!(nearer.wall_fraction > 0.5 && nearer.wall_fraction < 1.0, "{nearer:?}");
    }
}
