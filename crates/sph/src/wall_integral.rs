//! The wall integral: the part of a particle's kernel that a wall cuts off, in closed form.
//!
//! A particle at p sees the liquid only on its own side of the walls. With n out of the liquid and r = x − p, the field
//! G'(r) = r̂ (g(r) − 1/(4πr²)), g(r) = r⁻² ∫₀ʳ W s² ds, vanishes for r ≥ h and has ∇·G' = W − δ. So the part of the kernel
//! inside the liquid is an integral over the wall's *surface* \[FLRVK13, there with other line integrals\]:
//!
//! > γ(p) = 1 + ∮ G'·n dA,  ∇γ = −∮ W n dA.
//!
//! | symbol | meaning |
//! |---|---|
//! | z | distance of the particle from the plane of a face, in units of h; negative beyond it |
//! | γ | part of the kernel inside the liquid, dimensionless; 1 − γ is the *wall_fraction* that the wall fills up |
//! | Q(r) | antiderivative of k(r)·r with Q(1) = 0, for an integrand k(r) on the face |
//! | d, θ | distance from the foot point to an edge, angle round the foot point |
//!
//! For an infinite plane ∫ k dA = −2π Q(z). For a rectangle, split at the foot point into right triangles, what remains is
//! ∫ Q(√(z² + d²/cos²θ)) dθ: all powers of that root have elementary integrals (`angular_moments`), so planes, edges and
//! corners are exact for every polynomial kernel.

use crate::kernel::Kernel;
use glam::DVec3;
use std::f64::consts::PI;

/// Powers −1 … 8 of r.
const POWERS: usize = 10;
type Powers = [f64; POWERS];

/// Q on one piece of a kernel: Σ cₘ rᵐ, m = −1 … 8.
#[derive(Debug, Clone, Copy)]
struct Piece {
    from: f64,
    to: f64,
    /// For k = W: the weight ∫ W dA of a face.
    weight: Powers,
    /// For k = G'/r: the flux of G' through a face, divided by z.
    flux: Powers,
}

/// What walls do to one particle. Lengths in units of h.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Cut {
    /// 1 − γ, dimensionless: the part of the kernel outside the liquid.
    pub wall_fraction: f64,
    /// ∇γ \[1/h\]: points into the liquid.
    pub gradient: DVec3,
}

impl std::ops::AddAssign for Cut {
    fn add_assign(&mut self, other: Cut) {
        self.wall_fraction += other.wall_fraction;
        self.gradient += other.gradient;
    }
}

/// A rectangle seen from a particle: `z` away, reaching from `low` to `high` along its two axes. Units of h.
#[derive(Debug, Clone, Copy)]
struct Face {
    z: f64,
    low: [f64; 2],
    high: [f64; 2],
}

/// The wall integrals of one kernel.
#[derive(Debug, Clone)]
pub struct WallIntegral {
    pieces: Vec<Piece>,
}

impl WallIntegral {
    /// Prepares the antiderivatives of a kernel.
    #[must_use]
    pub fn new(kernel: &Kernel) -> Self {
        let mut pieces: Vec<Piece> = Vec::new();
        let (mut from, mut mass) = (0.0, 0.0);
        for piece in kernel.pieces() {
            let mut weight = [0.0; POWERS];
            let mut flux = [0.0; POWERS];
            let mut at_origin = mass;
            for (k, &c) in piece.c.iter().enumerate() {
                let n = k as f64;
                let cubed = |x: f64| c * libm::pow(x, n + 3.0) / (n + 3.0);
                weight[k + 3] = c / (n + 2.0); // W r → rᵏ⁺²/(k+2)
                flux[k + 3] = c / ((n + 3.0) * (n + 2.0)); // r⁻² ∫ W s² ds → rᵏ⁺²/((k+3)(k+2))
                at_origin -= cubed(from);
                mass += cubed(piece.to) - cubed(from);
            }
            flux[0] = 1.0 / (4.0 * PI) - at_origin; // the rest is (at_origin − 1/4π) r⁻²
            pieces.push(Piece { from, to: piece.to, weight, flux });
            from = piece.to;
        }
        let mut integral = Self { pieces };
        integral.fix_constants();
        integral
    }

    /// Chooses the constants so that Q is continuous and Q(1) = 0.
    fn fix_constants(&mut self) {
        let (mut weight, mut flux) = (0.0, 0.0);
        for piece in self.pieces.iter_mut().rev() {
            piece.weight[1] += weight - polynomial(&piece.weight, piece.to);
            piece.flux[1] += flux - polynomial(&piece.flux, piece.to);
            if piece.from > 0.0 {
                weight = polynomial(&piece.weight, piece.from);
                flux = polynomial(&piece.flux, piece.from);
            }
        }
    }

    /// A wall that fills the half space beyond a plane, `z` away.
    #[must_use]
    pub fn plane(&self, z: f64) -> (f64, f64) {
        let r = z.abs();
        if r >= 1.0 {
            return (if z < 0.0 { 1.0 } else { 0.0 }, 0.0);
        }
        let piece = self.piece(r);
        let weight = -2.0 * PI * polynomial(&piece.weight, r);
        let beyond = if r < 1e-9 { 0.5 } else { 2.0 * PI * r * polynomial(&piece.flux, r) };
        (if z < 0.0 { 1.0 - beyond } else { beyond }, weight)
    }

    fn piece(&self, r: f64) -> &Piece {
        self.pieces.iter().find(|p| r < p.to).unwrap_or(&self.pieces[self.pieces.len() - 1])
    }

    /// 1 − γ and ∇γ at `p` inside an axis-aligned tank from `low` to `high`; sides at infinity are open. Units of h.
    #[must_use]
    pub fn tank(&self, p: DVec3, low: DVec3, high: DVec3) -> Cut {
        let mut cut = Cut::default();
        let mut outside = false;
        for axis in 0..3 {
            let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
            for (side, z) in [(-1.0, p[axis] - low[axis]), (1.0, high[axis] - p[axis])] {
                if z >= 1.0 {
                    continue;
                }
                outside |= z < 0.0;
                let face = Face { z, low: [low[u] - p[u], low[v] - p[v]], high: [high[u] - p[u], high[v] - p[v]] };
                let (flux, weight) = self.face(&face);
                cut.wall_fraction -= flux;
                cut.gradient[axis] -= side * weight;
            }
        }
        if outside {
            cut.wall_fraction += 1.0;
        }
        cut
    }

    /// Flux of G' and ∫ W dA through a rectangle, whose normal points away from the particle for z > 0.
    fn face(&self, face: &Face) -> (f64, f64) {
        let z = face.z.abs().max(1e-9);
        if z >= 1.0 {
            return (0.0, 0.0);
        }
        let reach = libm::sqrt(1.0 - z * z);
        let whole = face.low.iter().all(|&x| x <= -reach) && face.high.iter().all(|&x| x >= reach);
        let (flux, weight) = if whole {
            let piece = self.piece(z);
            (-2.0 * PI * polynomial(&piece.flux, z), -2.0 * PI * polynomial(&piece.weight, z))
        } else {
            self.four_corners(z, face)
        };
        (face.z.signum() * z * flux, weight)
    }

    /// ∫ k dA over a rectangle: from the foot point to each corner, odd in x and in y.
    fn four_corners(&self, z: f64, face: &Face) -> (f64, f64) {
        // Nothing beyond the support radius matters, and infinity has no angle. Sides out of reach are all alike.
        let near = |side: &f64| side.abs().min(2.0);
        let ([x0, y0], [x1, y1]) = (face.low.each_ref().map(near), face.high.each_ref().map(near));
        let first = self.corner(z, x1, y1);
        let left = if x0 == x1 { first } else { self.corner(z, x0, y1) };
        let low = if y0 == y1 { first } else { self.corner(z, x1, y0) };
        let last = if y0 == y1 {
            left
        } else if x0 == x1 {
            low
        } else {
            self.corner(z, x0, y0)
        };
        let [left_sign, low_sign] = face.low.map(f64::signum);
        let [right_sign, high_sign] = face.high.map(f64::signum);
        let corners = [
            (first, right_sign * high_sign),
            (left, -left_sign * high_sign),
            (low, -right_sign * low_sign),
            (last, left_sign * low_sign),
        ];
        corners.iter().fold((0.0, 0.0), |sum, (part, sign)| (sum.0 + sign * part.0, sum.1 + sign * part.1))
    }

    /// ∫ k dA over the rectangle from the foot point to (x, y), both positive.
    fn corner(&self, z: f64, x: f64, y: f64) -> (f64, f64) {
        if x == 0.0 || y == 0.0 {
            return (0.0, 0.0);
        }
        let (a, b) = (self.triangle(z, x, y), self.triangle(z, y, x));
        (a.0 + b.0, a.1 + b.1)
    }

    /// ∫ k dA over the right triangle with legs d (from the foot point) and e: ∫₀^α (Q(r(θ)) − Q(z)) dθ.
    fn triangle(&self, z: f64, d: f64, e: f64) -> (f64, f64) {
        let alpha = libm::atan2(e, d);
        let at_z = self.piece(z);
        let mut flux = -alpha * polynomial(&at_z.flux, z);
        let mut weight = -alpha * polynomial(&at_z.weight, z);
        let mut from: Option<Powers> = None;
        for piece in self.pieces.iter().filter(|p| p.to * p.to > z * z + d * d) {
            let edge = libm::sqrt(piece.to * piece.to - z * z - d * d) / d;
            let tangent = edge.min(e / d);
            let before = from.unwrap_or([0.0; POWERS]);
            let after = angular_moments(z, d, tangent);
            for m in 0..POWERS {
                flux += piece.flux[m] * (after[m] - before[m]);
                weight += piece.weight[m] * (after[m] - before[m]);
            }
            from = Some(after);
            if edge >= e / d {
                break;
            }
        }
        (flux, weight)
    }
}

/// Σ cₘ rᵐ, m = −1 … 8.
fn polynomial(c: &Powers, r: f64) -> f64 {
    let regular = c[1..].iter().rev().fold(0.0, |sum, &c| sum * r + c);
    if c[0] == 0.0 { regular } else { regular + c[0] / r }
}

/// Jₘ = ∫₀^θ r(θ)ᵐ dθ with r² = z² + d²/cos²θ, m = −1 … 8, at t = tan θ.
///
/// Jₘ = z² Jₘ₋₂ + d² Kₘ₋₂ with Kₙ = ∫ rⁿ dt = (t rⁿ + n R² Kₙ₋₂)/(n + 1), R² = z² + d².
fn angular_moments(z: f64, d: f64, t: f64) -> Powers {
    let big_r = libm::sqrt(z * z + d * d);
    let r = libm::sqrt(big_r * big_r + d * d * t * t);
    let theta = libm::atan(t);
    let sine = t / libm::sqrt(1.0 + t * t);
    let mut k = [0.0; POWERS]; // K₋₁ … K₈
    k[0] = libm::asinh(d * t / big_r) / d;
    k[1] = t;
    let mut r_to_n = 1.0;
    for n in 1..POWERS - 1 {
        r_to_n *= r;
        k[n + 1] = (t * r_to_n + n as f64 * big_r * big_r * k[n - 1]) / (n as f64 + 1.0);
    }
    let mut j = [0.0; POWERS];
    j[0] = libm::asin((z * sine / big_r).min(1.0)) / z;
    j[1] = theta;
    for m in 2..POWERS {
        j[m] = z * z * j[m - 2] + d * d * k[m - 2];
    }
    j
}

/// ∫ over the half space beyond a plane of ∇²W (s/z) \[1/h²\]: the factor of μ (v_wall − v) in the friction of a wall under
/// which the velocity goes on linearly, so that it vanishes at the wall: 15 (0.15 − z²/2 + 3z⁴/4 − 2z⁵/5)/z.
#[must_use]
pub fn plane_friction(z: f64) -> f64 {
    if z >= 1.0 {
        return 0.0;
    }
    let z2 = z * z;
    15.0 * (0.15 - 0.5 * z2 + 0.75 * z2 * z2 - 0.4 * z2 * z2 * z) / z
}

/// How distances to a wall are read, so that a lattice at rest sits half a spacing away from it, undisturbed.
///
/// The wall integral takes the solid for a continuum at rest. Liquid before a wall is better served by its mirror image,
/// which comes nearer twice as fast and passes the pressure on: only then is the wall_fraction right on a lattice *and* its
/// slope the force that holds that lattice under uniform pressure, so that the wall neither gives nor takes energy. Both
/// follow from reading a distance z as `rest + stretch (z − spacing/2)`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Calibration {
    /// The reading at half a spacing, in units of h: where the wall_fraction is that of a half-lattice.
    pub rest: f64,
    /// Slope of the reading, dimensionless, about 2.
    pub stretch: f64,
    /// Half a spacing, in units of h.
    pub half_spacing: f64,
}

impl Calibration {
    /// For a density kernel, a gradient kernel and a spacing in units of h.
    #[must_use]
    pub fn new(density: &Kernel, gradient: &Kernel, spacing: f64) -> Self {
        let wanted = 1.0 - density.lattice_sum_above(spacing, -0.5 * spacing) / density.lattice_sum(spacing);
        let wall = WallIntegral::new(density);
        let (mut near, mut far) = (0.0, 1.0);
        for _ in 0..60 {
            let middle = 0.5 * (near + far);
            if wall.plane(middle).0 > wanted { near = middle } else { far = middle }
        }
        let push = 2.0 * gradient.half_lattice_push(spacing);
        Self { rest: near, stretch: push / wall.plane(near).1, half_spacing: 0.5 * spacing }
    }

    /// The reading of a distance; both in units of h.
    #[must_use]
    pub fn read(&self, z: f64) -> f64 {
        self.rest + self.stretch * (z - self.half_spacing)
    }

    /// Distance beyond which the wall is not felt, in units of h.
    #[must_use]
    pub fn reach(&self) -> f64 {
        self.half_spacing + (1.0 - self.rest) / self.stretch
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ALL: [Kernel; 4] = [Kernel::POLY6, Kernel::SPIKY, Kernel::CUBIC_SPLINE, Kernel::QUARTIC_SPLINE];
    const FAR: DVec3 = DVec3::INFINITY;

    /// The wall_fraction as a plain sum over a fine lattice of the volume outside the tank.
    fn wall_fraction_by_volume(kernel: &Kernel, p: DVec3, low: DVec3, high: DVec3) -> f64 {
        let n = 70;
        let dx = 1.0 / n as f64;
        let mut sum = 0.0;
        for i in -n..n {
            for j in -n..n {
                for k in -n..n {
                    let r = (DVec3::new(i as f64, j as f64, k as f64) + 0.5) * dx;
                    let x = p + r;
                    if x.cmplt(low).any() || x.cmpgt(high).any() {
                        sum += kernel.value(r.length());
                    }
                }
            }
        }
        sum * dx * dx * dx
    }

    #[test]
    fn planes_edges_and_corners_equal_the_volume_they_cut_off() {
        for kernel in ALL {
            let wall = WallIntegral::new(&kernel);
            // Distances on the borders of the volume sum's cells, so that it resolves them exactly.
            let positions = [(0.2, 9.0, 9.0), (0.4, 0.2, 9.0), (0.2, 0.4, 0.6), (0.5, 0.5, 0.1)];
            for (x, y, z) in positions {
                let p = DVec3::new(x, y, z);
                let exact = wall.tank(p, DVec3::ZERO, FAR).wall_fraction;
                let sum = wall_fraction_by_volume(&kernel, p, DVec3::ZERO, FAR);
                assert!((exact - sum).abs() < 2e-4, "{p}: {exact} {sum}");
            }
        }
    }

    #[test]
    fn a_narrow_tank_cuts_from_both_sides() {
        let wall = WallIntegral::new(&Kernel::CUBIC_SPLINE);
        let (low, high) = (DVec3::splat(-0.3), DVec3::splat(0.4));
        let p = DVec3::new(0.0, 0.1, -0.1);
        let sum = wall_fraction_by_volume(&Kernel::CUBIC_SPLINE, p, low, high);
        assert!((wall.tank(p, low, high).wall_fraction - sum).abs() < 2e-4);
    }

    #[test]
    fn at_a_plane_an_edge_and_a_corner_half_three_quarters_and_seven_eighths_are_missing() {
        for kernel in ALL {
            let wall = WallIntegral::new(&kernel);
            let e = 1e-7;
            for (p, expected) in [((e, 9.0, 9.0), 0.5), ((e, e, 9.0), 0.75), ((e, e, e), 0.875)] {
                let wall_fraction = wall.tank(DVec3::from(p), DVec3::ZERO, FAR).wall_fraction;
                assert!((wall_fraction - expected).abs() < 1e-5, "{p:?}: {wall_fraction}");
            }
        }
    }

    #[test]
    fn beyond_the_plane_the_wall_fraction_goes_on_to_one() {
        let wall = WallIntegral::new(&Kernel::POLY6);
        let at = |z: f64| wall.tank(DVec3::new(z, 9.0, 9.0), DVec3::ZERO, FAR).wall_fraction;
        assert!((at(0.3) + at(-0.3) - 1.0).abs() < 1e-12);
        assert!((at(0.3) - wall.plane(0.3).0).abs() < 1e-14 && (at(-0.3) - wall.plane(-0.3).0).abs() < 1e-14);
        assert!((wall.plane(1e-12).0 - 0.5).abs() < 1e-9 && wall.plane(-2.0).0 == 1.0 && wall.plane(2.0).0 == 0.0);
    }

    proptest! {
        #[test]
        fn the_gradient_is_that_of_gamma(x in 0.02f64..1.1, y in 0.02f64..1.1, z in 0.02f64..1.1) {
            for kernel in ALL {
                let wall = WallIntegral::new(&kernel);
                let p = DVec3::new(x, y, z);
                let high = DVec3::new(1.3, 5.0, f64::INFINITY);
                let gradient = wall.tank(p, DVec3::ZERO, high).gradient;
                for axis in 0..3 {
                    let mut step = DVec3::ZERO;
                    step[axis] = 1e-5;
                    let after = wall.tank(p + step, DVec3::ZERO, high).wall_fraction;
                    let before = wall.tank(p - step, DVec3::ZERO, high).wall_fraction;
                    let difference = -(after - before) / 2e-5;
                    prop_assert!((gradient[axis] - difference).abs() < 1e-5, "{} {}", gradient[axis], difference);
                }
            }
        }
    }

    #[test]
    fn friction_of_a_plane_follows_from_the_plane_integral() {
        // δ = ∫ s I ds / (z I) with I(s) = 15 (1 − 3s² + 2s³); 0.575 h at z = h/4.
        let i = |s: f64| 15.0 * (1.0 - 3.0 * s * s + 2.0 * s * s * s);
        assert!((plane_friction(0.25) / i(0.25) - 0.575).abs() < 5e-4);
        for z in [0.1, 0.5, 0.9] {
            let n = 20_000;
            let ds = (1.0 - z) / n as f64;
            let integral: f64 = (0..n).map(|k| z + (k as f64 + 0.5) * ds).map(|s| s * i(s) * ds).sum();
            assert!((plane_friction(z) - integral / z).abs() < 1e-6);
        }
        assert_eq!(plane_friction(1.5), 0.0);
    }

    #[test]
    fn calibration_leaves_a_half_lattice_at_rest() {
        for (density, gradient) in [(Kernel::CUBIC_SPLINE, Kernel::CUBIC_SPLINE), (Kernel::POLY6, Kernel::SPIKY)] {
            for spacing in [0.5, 0.4, 1.0 / 3.0] {
                let c = Calibration::new(&density, &gradient, spacing);
                let wall = WallIntegral::new(&density);
                let (wall_fraction, weight) = wall.plane(c.read(0.5 * spacing));
                let layer = density.lattice_sum_above(spacing, -0.5 * spacing) / density.lattice_sum(spacing);
                assert!((layer + wall_fraction - 1.0).abs() < 1e-12);
                assert!((0.5 * c.stretch * weight - gradient.half_lattice_push(spacing)).abs() < 1e-12);
                assert!(c.reach() < 1.0 && wall.plane(c.read(c.reach())).0.abs() < 1e-12);
            }
        }
        let c = Calibration::new(&Kernel::CUBIC_SPLINE, &Kernel::CUBIC_SPLINE, 0.5);
        assert!((c.rest / 0.5 - 0.5833).abs() < 1e-4 && (c.stretch - 2.393).abs() < 1e-3, "{c:?}");
    }
}
