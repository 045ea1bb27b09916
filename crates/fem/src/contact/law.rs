//! How an overlap pushes over a step, so that contact never makes energy.
//!
//! | symbol | meaning |
//! |---|---|
//! | d₀, d₁ | distance at the start and at the end of the step, negative inside \[m\] |
//! | m = max(0, −d) | overlap \[m\] |
//! | E(d) = ½ k m² | its energy \[J\], k = κ A \[N/m\] |
//! | σ = Δt/τ | how far a step goes over the stage that is solved for: 1 for implicit Euler, 2 for the midpoint rule |
//! | d₁ = d₀ + σ n·s | with s of the stage |
//!
//! * Implicit Euler pushes with p = −E'(d₁). E is convex, so that p (d₁ − d₀) ≤ E(d₀) − E(d₁): contact gives back at most what it
//!   holds, and calms as implicit Euler calms everything.
//! * The midpoint rule pushes with the secant p = (E(d₁) − E(d₀))/(d₀ − d₁) \[Gon96\]: what contact takes from the motion is
//!   what it holds, to the last digit. The slope at the middle of the step would be the same while the node is inside; a node
//!   that enters or leaves within a step would do so without the work, and a stiff body would gain energy at every touch.
//!
//! Both are monotone in d₁: the implicit problem stays convex, p is never negative.

use glam::DVec3;

/// How a node is placed against what it may touch.
#[derive(Debug, Clone, Copy)]
pub(super) struct Overlap {
    /// d₀ \[m\].
    pub(super) gap: f64,
    /// n.
    pub(super) normal: DVec3,
    /// k \[N/m\].
    pub(super) stiffness: f64,
    /// σ, dimensionless.
    pub(super) stretch: f64,
}

impl Overlap {
    /// d₁ \[m\].
    fn end_gap(&self, s: DVec3) -> f64 {
        self.gap + self.stretch * self.normal.dot(s)
    }

    fn is_midpoint(&self) -> bool {
        self.stretch > 1.0
    }

    /// m₀ and m₁ \[m\].
    fn depths(&self, end_gap: f64) -> [f64; 2] {
        [(-self.gap).max(0.0), (-end_gap).max(0.0)]
    }

    /// p \[N\] after a displacement.
    pub(super) fn push(&self, s: DVec3) -> f64 {
        let (k, end) = (self.stiffness, self.end_gap(s));
        match self.depths(end) {
            [_, m] if !self.is_midpoint() => k * m,
            [m0, m] if m0 > 0.0 && m > 0.0 => 0.5 * k * (m0 + m),
            [_, m] if m > 0.0 => 0.5 * k * m * m / (self.gap + m),
            [m0, _] if m0 > 0.0 => 0.5 * k * m0 * m0 / (m0 + end),
            _ => 0.0,
        }
    }

    /// −dp/d(n·s) \[N/m\], not negative.
    pub(super) fn resistance(&self, s: DVec3) -> f64 {
        let (k, end) = (self.stiffness, self.end_gap(s));
        let slope = match self.depths(end) {
            [_, m] if !self.is_midpoint() && m > 0.0 => k,
            _ if !self.is_midpoint() => 0.0,
            [m0, m] if m0 > 0.0 && m > 0.0 => 0.5 * k,
            [_, m] if m > 0.0 => 0.5 * k * (1.0 - square(self.gap / (self.gap + m))),
            [m0, _] if m0 > 0.0 => 0.5 * k * square(m0 / (m0 + end)),
            _ => 0.0,
        };
        self.stretch * slope
    }

    /// The potential of p in n·s \[J\], up to a constant of the step.
    pub(super) fn potential(&self, s: DVec3) -> f64 {
        let (k, end) = (self.stiffness, self.end_gap(s));
        let along_gap = match self.depths(end) {
            [_, m] if !self.is_midpoint() => 0.5 * k * m * m,
            [m0, m] if m0 > 0.0 && m > 0.0 => 0.5 * k * (m0 * m + 0.5 * m * m),
            [_, m] if m > 0.0 => {
                let d = self.gap;
                let rest = if d > 0.0 { d * d * libm::log((d + m) / d) } else { 0.0 };
                0.5 * k * (0.5 * m * m - d * m + rest)
            }
            [m0, _] if m0 > 0.0 => -0.5 * k * m0 * m0 * libm::log((m0 + end) / m0),
            _ => 0.0,
        };
        along_gap / self.stretch
    }

    /// E(d₀) \[J\].
    pub(super) fn energy(&self) -> f64 {
        0.5 * self.stiffness * square((-self.gap).max(0.0))
    }
}

fn square(x: f64) -> f64 {
    x * x
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ways into, out of, within and past a surface, by both rules.
    fn all() -> impl Iterator<Item = (Overlap, f64)> {
        let gaps = [-0.3, -0.1, 0.0, 0.1, 0.3];
        let one = move |stretch: f64| {
            gaps.into_iter().flat_map(move |gap| {
                let overlap = Overlap { gap, normal: DVec3::Y, stiffness: 7.0, stretch };
                [-0.5, -0.25, -0.05, 0.05, 0.25, 0.5].map(|way| (overlap, way))
            })
        };
        [1.0, 2.0].into_iter().flat_map(one)
    }

    #[test]
    fn contact_gives_back_at_most_what_it_holds_and_all_of_it_by_the_midpoint_rule() {
        for (overlap, way) in all() {
            let s = DVec3::Y * (way / overlap.stretch);
            let end = Overlap { gap: overlap.gap + way, ..overlap };
            let (work, given) = (overlap.push(s) * way, overlap.energy() - end.energy());
            assert!(overlap.push(s) >= 0.0 && work <= given + 1e-15, "{overlap:?} {way}: {work} of {given}");
            assert!(overlap.stretch == 1.0 || (work - given).abs() < 1e-14, "{overlap:?} {way}: {work} {given}");
        }
    }

    #[test]
    fn resistance_is_the_slope_of_the_push_and_the_push_that_of_the_potential() {
        for (overlap, way) in all() {
            let (g, e) = (way / overlap.stretch, 1e-6);
            let slope = |f: &dyn Fn(DVec3) -> f64| (f(DVec3::Y * (g + e)) - f(DVec3::Y * (g - e))) / (2.0 * e);
            let (push, resistance) = (overlap.push(DVec3::Y * g), overlap.resistance(DVec3::Y * g));
            assert!((slope(&|s| overlap.potential(s)) + push).abs() < 1e-6, "{overlap:?} {way}");
            let corner = (overlap.gap + way).abs() < 1e-9;
            assert!(corner || (slope(&|s| overlap.push(s)) + resistance).abs() < 1e-4, "{overlap:?} {way}");
        }
    }
}
