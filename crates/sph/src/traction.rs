//! The paper's wall: every point of a surface pushes a particle away, or holds it \[MSTHG04 sec. 4.2\].
//!
//! | symbol | meaning |
//! |---|---|
//! | h | reach \[m\]: nothing is felt beyond it |
//! | r₀ | distance of no force from a point \[m\] |
//! | k | stiffness \[Pa\], the push of a point at no distance |
//! | β | strength of the holding part, r > r₀; 1 in the paper, dimensionless |
//! | z | distance from a plane \[m\] |
//! | z\* | distance of no force from a plane \[m\] |
//!
//! > τ(r) = k ((h − r)⁴ − (h − r₀)² (h − r)²) / (h² r₀ (2h − r₀)), times β for r > r₀  \[eq. 15\]
//! >
//! > f = ∫ τ(r) (p − x)/r dA  \[eq. 14, where the direction is missing\]
//!
//! Over a plane only the part along the normal is left: F(z) = 2π z ∫_z^h τ dr. With s = 1 − r/h, c = 1 − r₀/h and
//! A(s) = s⁵/5 − c² s³/3, the integral is k h A(s)/(1 − c²) as long as s ≤ c; so F vanishes where s = t c with
//!
//! > 3 t⁵ − 5 t³ + 2 (1 − β) = 0,  z\* = h − t (h − r₀),
//!
//! t = √(5/3) for the paper and 1 without holding. A liquid that rests half a spacing from its walls asks for r₀ = 0.419 h
//! with β = 1 and h two spacings; but there a wall holds more (0.0374 k h²) than it pushes (0.0343 k h²) and water sticks
//! to it. Hence β.

use glam::DVec3;
use meniscus_geometry::quadrature;
use std::f64::consts::PI;

/// Thickness of the layer that the points of a surface hold, over the reach: a viscosity times the Laplacian of a kernel, summed over an
/// area, is a force only with the volume of a particle and a length \[MSTHG04 eqs 17, 19 lack both\]. At half a spacing from a plane,
/// with a reach of two, it makes the sum over points ∫_z^h s I(s) ds/(z I(z)), I being that of the plane.
pub const LAYER: f64 = 0.575;

/// β if nothing is said: a wall that holds a liquid, but not a whole head of it.
pub const ADHESION: f64 = 0.1;

/// How much stiffer a wall is than a head at rest asks for. A load that comes at once needs the energy of the barrier: 1.6
/// times as much with β from 0.1 to 1, 1.85 times with none.
pub const MARGIN: f64 = 2.0;

/// Part of the stable step of a particle on a spring that is taken.
const STEP_PART: f64 = 0.5;

/// Steps in which distances are searched, 0 to h.
const SEARCH: u32 = 1000;

/// The force between a point of a surface and a particle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Traction {
    /// h \[m\].
    pub reach: f64,
    /// r₀ \[m\], between 0 and h.
    pub zero: f64,
    /// k \[Pa\].
    pub stiffness: f64,
    /// β, dimensionless, 0 to 1.
    pub adhesion: f64,
}

impl Traction {
    /// With the r₀ that lets a liquid rest at a distance from a plane \[m\], less than the reach.
    #[must_use]
    pub fn resting_at(distance: f64, reach: f64, stiffness: f64, adhesion: f64) -> Self {
        Self { reach, zero: reach - (reach - distance) / zero_ratio(adhesion), stiffness, adhesion }
    }

    /// With the stiffness that holds a pressure \[Pa\] on the area of a particle \[m²\], [`MARGIN`] times.
    #[must_use]
    pub fn holding(self, pressure: f64, area: f64) -> Self {
        let unit = Self { stiffness: 1.0, ..self };
        Self { stiffness: MARGIN * pressure * area / unit.strongest(), ..self }
    }

    /// The pressure on the area of a particle \[m²\] at which it is pushed through a plane \[Pa\].
    #[must_use]
    pub fn held_pressure(&self, area: f64) -> f64 {
        self.strongest() / area
    }

    /// τ \[Pa\]: pushes if positive.
    #[must_use]
    pub fn at(&self, r: f64) -> f64 {
        let (s, c) = (1.0 - r / self.reach, self.rest_ratio());
        if s <= 0.0 {
            return 0.0;
        }
        let part = if r > self.zero { self.adhesion } else { 1.0 };
        part * self.stiffness * s * s * (s * s - c * c) / (1.0 - c * c)
    }

    /// The force of a plane \[N\] at a distance z \[m\], away from it if positive. Both sides are alike.
    #[must_use]
    pub fn plane(&self, z: f64) -> f64 {
        2.0 * PI * z.abs() * self.beyond(z.abs())
    }

    /// Change of the force of a plane with the distance \[N/m\].
    #[must_use]
    pub fn plane_slope(&self, z: f64) -> f64 {
        2.0 * PI * (self.beyond(z) - z * self.at(z))
    }

    /// z\* \[m\]: where a plane neither pushes nor holds. Negative where it only holds.
    #[must_use]
    pub fn rest_distance(&self) -> f64 {
        self.reach - zero_ratio(self.adhesion) * (self.reach - self.zero)
    }

    /// The strongest push of a plane \[N\]; zero if it only holds.
    #[must_use]
    pub fn strongest(&self) -> f64 {
        self.distances().map(|z| self.plane(z)).fold(0.0, f64::max)
    }

    /// The work that takes a particle from its rest to the plane \[J\].
    #[must_use]
    pub fn barrier(&self) -> f64 {
        let step = self.rest_distance().max(0.0) / f64::from(SEARCH);
        (0..SEARCH).map(|k| self.plane(step * (f64::from(k) + 0.5))).sum::<f64>() * step
    }

    /// Longest stable step of a particle of a mass \[kg\] before a plane \[s\], with a margin for edges, where two planes push.
    #[must_use]
    pub fn stable_step(&self, mass: f64) -> f64 {
        let steepest = self.distances().map(|z| self.plane_slope(z).abs()).fold(0.0, f64::max);
        STEP_PART * 2.0 * libm::sqrt(mass / steepest)
    }

    /// What a plane sums up of ∇²W of the viscosity kernel at a distance z \[1/m³\]: ∫ ∇²W dA = 15/h³ (1 − z/h)² (1 + 2 z/h).
    #[must_use]
    pub fn plane_laplacian(z: f64, h: f64) -> f64 {
        let q = (z.abs() / h).min(1.0);
        15.0 / (h * h * h) * (1.0 - q) * (1.0 - q) * (1.0 + 2.0 * q)
    }

    /// The force of a triangle on a particle \[N\], by Gauss points on pieces with edges of at most `longest` \[m\]. A point
    /// at no distance pushes along the normal.
    #[must_use]
    pub fn of_triangle(&self, p: DVec3, corners: [DVec3; 3], longest: f64) -> DVec3 {
        let whole = 0.5 * (corners[1] - corners[0]).cross(corners[2] - corners[0]);
        let (area, normal) = (whole.length(), whole.normalize_or_zero());
        let cuts = quadrature::subdivisions(corners, longest, crate::wall_quadrature::MAX_PIECES);
        quadrature::subdivided(cuts)
            .map(|sample| {
                let apart = p - sample.at(corners);
                let r = apart.length();
                let away = if r > 0.0 { apart / r } else { normal };
                area * sample.weight * self.at(r) * away
            })
            .sum()
    }

    /// c.
    fn rest_ratio(&self) -> f64 {
        1.0 - self.zero / self.reach
    }

    /// ∫_z^h τ dr \[N/m\].
    fn beyond(&self, z: f64) -> f64 {
        let (s, c) = ((1.0 - z / self.reach).max(0.0), self.rest_ratio());
        let a = |s: f64| s * s * s * (s * s / 5.0 - c * c / 3.0);
        let sum = if s <= c { self.adhesion * a(s) } else { a(s) - (1.0 - self.adhesion) * a(c) };
        self.stiffness * self.reach * sum / (1.0 - c * c)
    }

    fn distances(&self) -> impl Iterator<Item = f64> {
        (0..=SEARCH).map(|k| self.reach * f64::from(k) / f64::from(SEARCH))
    }
}

/// t: the root of 3 t⁵ − 5 t³ + 2 (1 − β) between 1 and √(5/3), by halving.
fn zero_ratio(adhesion: f64) -> f64 {
    let value = |t: f64| t * t * t * (3.0 * t * t - 5.0) + 2.0 * (1.0 - adhesion);
    let (mut low, mut high) = (1.0, libm::sqrt(5.0 / 3.0));
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if value(middle) < 0.0 { low = middle } else { high = middle }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of_paper(zero: f64) -> Traction {
        Traction { reach: 1.0, zero, stiffness: 1.0, adhesion: 1.0 }
    }

    #[test]
    fn the_papers_force_has_its_known_values() {
        let half = of_paper(0.5);
        assert_eq!((half.at(0.0), half.at(0.5), half.at(1.0), half.at(1.5)), (1.0, 0.0, 0.0, 0.0));
        assert!((half.at(0.646_446_609) + 1.0 / 48.0).abs() < 1e-9, "its lowest");
        let slope = (half.at(0.5 + 1e-6) - half.at(0.5 - 1e-6)) / 2e-6;
        assert!((slope + 1.0 / 3.0).abs() < 1e-6);
        assert!((half.rest_distance() - 0.354_502_776).abs() < 1e-9);
        assert!((half.strongest() - 0.049_016).abs() < 1e-6 && (half.plane(0.12) - 0.049_016).abs() < 1e-6);
        assert!((half.barrier() - 0.010_616_284_5).abs() < 1e-7);
        assert!((of_paper(0.25).rest_distance() - 0.031_754_163_4).abs() < 1e-9);
        // Nearer than this to the surface, the zero of a point leaves a plane that only holds.
        let (pushes, holds) = (of_paper(0.23), of_paper(0.2253));
        assert!(pushes.rest_distance() > 0.0 && pushes.strongest() > 0.0);
        assert!(holds.rest_distance() < 0.0 && holds.strongest() == 0.0);
    }

    #[test]
    fn points_of_a_plane_hold_as_their_kernel_says() {
        let h = 0.3;
        let laplacian = |r: f64| 45.0 / (PI * libm::pow(h, 6.0)) * (h - r).max(0.0);
        for part in [0.0, 0.25, 0.5, 0.9] {
            let z = part * h;
            let n = 4000;
            let step = (h - z) / f64::from(n);
            let rings = (0..n).map(|k| z + (f64::from(k) + 0.5) * step);
            let sum: f64 = rings.map(|r| laplacian(r) * 2.0 * PI * r * step).sum();
            let plane = Traction::plane_laplacian(z, h);
            assert!((sum / plane - 1.0).abs() < 1e-5, "{part}: {sum} {plane}");
        }
        assert!((Traction::plane_laplacian(0.5, 1.0) - 7.5).abs() < 1e-12);
    }

    #[test]
    fn the_zero_follows_from_the_rest_distance() {
        let zero = |adhesion| Traction::resting_at(0.25, 1.0, 1.0, adhesion).zero;
        assert!((zero(0.0) - 0.25).abs() < 1e-9 && (zero(1.0) - 0.419_052).abs() < 1e-6);
        assert!((zero(ADHESION) - 0.321_843).abs() < 1e-6);
        let paper = Traction::resting_at(0.25, 1.0, 1.0, 1.0);
        let held = paper.distances().map(|z| -paper.plane(z)).fold(0.0, f64::max);
        assert!((held - 0.037_403).abs() < 1e-6 && (paper.strongest() - 0.034_265).abs() < 1e-6);
    }

    #[test]
    fn a_wall_holds_the_head_it_is_made_for() {
        // Water 0.5 m deep, particles 1 cm apart.
        let (pressure, spacing) = (1000.0 * 9.81 * 0.5, 0.01);
        let wall =
            Traction::resting_at(0.5 * spacing, 2.0 * spacing, 1.0, ADHESION).holding(pressure, spacing * spacing);
        assert!((wall.held_pressure(spacing * spacing) - MARGIN * pressure).abs() < 1e-9 * pressure);
        // 2 · 9.0075 ρgH; what is asked for at once is the barrier's energy.
        assert!((wall.stiffness / pressure - 18.015).abs() < 1e-3, "{}", wall.stiffness / pressure);
        assert!(wall.barrier() > pressure * spacing.powi(3) * 0.5);
    }

    /// Steps of leapfrog for a particle that falls from its rest towards a plane: whether its energy stays.
    fn is_stable(wall: &Traction, mass: f64, dt: f64) -> bool {
        let (mut z, mut v) = (wall.rest_distance(), -libm::sqrt(wall.barrier() / mass));
        let (start, mut most) = (0.5 * mass * v * v, 0.0f64);
        for _ in 0..200 {
            v += 0.5 * dt * wall.plane(z) / mass;
            z += dt * v;
            v += 0.5 * dt * wall.plane(z) / mass;
            if z < wall.rest_distance() {
                most = most.max(0.5 * mass * v * v);
            } else {
                v = -v.abs();
            }
        }
        most < 1.2 * start
    }

    #[test]
    fn the_step_is_stable_and_not_by_far_too_short() {
        let wall = Traction::resting_at(0.005, 0.02, 1e5, ADHESION);
        let (mass, dt) = (1e-3, wall.stable_step(1e-3));
        assert!(is_stable(&wall, mass, dt) && !is_stable(&wall, mass, 8.0 * dt));
    }

    proptest! {
        #[test]
        fn the_plane_is_the_integral_of_its_points(zero in 0.1..0.9f64, adhesion in 0.0..1.0f64, z in 0.0..1.1f64) {
            let traction = Traction { reach: 0.3, zero: 0.3 * zero, stiffness: 20.0, adhesion };
            let z = 0.3 * z;
            // ∫ τ z/r 2πρ dρ over rings, by midpoints in r.
            let (n, span) = (4000, (0.3 - z).max(0.0));
            let rings = (0..n).map(|k| traction.at(z + (f64::from(k) + 0.5) * span / f64::from(n)));
            let sum = 2.0 * PI * z * rings.sum::<f64>() * span / f64::from(n);
            prop_assert!((sum - traction.plane(z)).abs() < 1e-6, "{} {}", sum, traction.plane(z));
            let slope = (traction.plane(z + 1e-6) - traction.plane(z - 1e-6)) / 2e-6;
            prop_assert!(z < 1e-5 || (slope - traction.plane_slope(z)).abs() < 1e-4 * 20.0);
        }

        #[test]
        fn liquid_rests_where_it_is_asked_to(rest in 0.05..0.9f64, adhesion in 0.0..1.0f64) {
            let traction = Traction::resting_at(rest, 1.0, 1.0, adhesion);
            prop_assert!((traction.rest_distance() - rest).abs() < 1e-12);
            prop_assert!(traction.plane(rest).abs() < 1e-9);
            prop_assert!(traction.plane(0.9 * rest) > 0.0 && traction.plane(rest + 0.1 * (1.0 - rest)) <= 0.0);
        }

        #[test]
        fn a_triangle_moves_with_its_particle(
            c in prop::array::uniform3(prop::array::uniform3(-1.0..1.0f64)), p in prop::array::uniform3(-1.0..1.0f64),
            by in prop::array::uniform3(-1.0..1.0f64), angle in 0.0..6.0f64,
        ) {
            let (corners, p, by) = (c.map(DVec3::from), DVec3::from(p), DVec3::from(by));
            let turn = glam::DQuat::from_axis_angle(DVec3::new(0.6, 0.0, 0.8), angle);
            let here = of_paper(0.5).of_triangle(p, corners, 0.5);
            let there = of_paper(0.5).of_triangle(turn * p + by, corners.map(|c| turn * c + by), 0.5);
            prop_assert!((turn * here - there).length() < 1e-9);
        }
    }
}
