//! Euler, Heun and Runge–Kutta behind one interface \[B, implementation\].
//!
//! > kₛ = f(t + aₛ dt, y + aₛ dt kₛ₋₁),  y(t + dt) = y + dt Σₛ bₛ kₛ
//!
//! In all three a stage looks back to the one before it only, so a scheme is a list of pairs (a, b). On an undamped spring,
//! z = ω dt, a step multiplies the amplitude by √(1 + z²) (Euler), √(1 + z⁴/4) (Heun), √(1 − z⁶/72 + z⁸/576) (Runge–Kutta).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Integrators by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Integrator {
    /// Of first order, one look at the forces a step; springs gain energy.
    Euler,
    /// Predictor and corrector, of second order, two looks a step.
    #[default]
    Heun,
    /// Of fourth order, four looks a step.
    RungeKutta4,
}

/// A moving thing that keeps where a step started and the sum of the rates seen since.
pub trait Integrable {
    /// A step starts at the present state.
    fn begin(&mut self);

    /// Finds the rates of the present state at a time \[s\] and adds them, weighted, to their sum.
    fn evaluate(&mut self, time: f64, weight: f64);

    /// Goes to where the last rates lead from the start in a time \[s\].
    fn reach(&mut self, length: f64);

    /// Goes to where the sum of rates leads from the start in a time \[s\].
    fn finish(&mut self, length: f64);
}

impl Integrator {
    /// Where in the step the rates are seen, and what they count: a, b.
    fn stages(self) -> &'static [(f64, f64)] {
        match self {
            Self::Euler => &[(0.0, 1.0)],
            Self::Heun => &[(0.0, 0.5), (1.0, 0.5)],
            Self::RungeKutta4 => &[(0.0, 1.0 / 6.0), (0.5, 1.0 / 3.0), (0.5, 1.0 / 3.0), (1.0, 1.0 / 6.0)],
        }
    }

    /// Takes one step from `time` to `time + dt` \[s\].
    // (5) of docs/src/particle-bodies.md
    pub fn step(self, system: &mut impl Integrable, time: f64, dt: f64) {
        system.begin();
        for &(at, weight) in self.stages() {
            if at > 0.0 {
                system.reach(at * dt);
            }
            system.evaluate(time + at * dt, weight);
        }
        system.finish(dt);
    }

    /// The longest step in units of 1/ω that springs with a share `damping` of the critical one bear, dimensionless: what the
    /// scheme adds to the amplitude in a step, z²/2 (Euler) or z⁴/8 (Heun), is no more than what damping takes, ζz. Undamped
    /// springs grow, slowly; with Runge–Kutta they do not.
    #[must_use]
    pub fn longest_step(self, damping: f64) -> f64 {
        match self {
            Self::Euler => (2.0 * damping).clamp(0.12, 0.8),
            Self::Heun => (2.0 * libm::cbrt(damping)).clamp(0.2, 1.2),
            Self::RungeKutta4 => 2.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ẍ = −x.
    #[derive(Default)]
    struct Spring {
        now: [f64; 2],
        start: [f64; 2],
        rates: [f64; 2],
        sum: [f64; 2],
    }

    impl Integrable for Spring {
        fn begin(&mut self) {
            self.start = self.now;
            self.sum = [0.0; 2];
        }
        fn evaluate(&mut self, _: f64, weight: f64) {
            self.rates = [self.now[1], -self.now[0]];
            (0..2).for_each(|k| self.sum[k] += weight * self.rates[k]);
        }
        fn reach(&mut self, length: f64) {
            self.now = std::array::from_fn(|k| self.start[k] + length * self.rates[k]);
        }
        fn finish(&mut self, length: f64) {
            self.now = std::array::from_fn(|k| self.start[k] + length * self.sum[k]);
        }
    }

    type Growth = (Integrator, fn(f64) -> f64);

    #[test]
    fn amplitudes_grow_as_derived() {
        let growth: [Growth; 3] = [
            (Integrator::Euler, |z| 1.0 + z * z),
            (Integrator::Heun, |z| 1.0 + z.powi(4) / 4.0),
            (Integrator::RungeKutta4, |z| 1.0 - z.powi(6) / 72.0 + z.powi(8) / 576.0),
        ];
        for (integrator, growth) in growth {
            for z in [0.1, 0.5, 1.0] {
                let mut spring = Spring { now: [0.6, -0.8], ..Spring::default() };
                integrator.step(&mut spring, 0.0, z);
                let energy = spring.now[0] * spring.now[0] + spring.now[1] * spring.now[1];
                assert!((energy - growth(z)).abs() < 1e-14, "{integrator:?} at {z}: {energy}");
            }
        }
    }
}
