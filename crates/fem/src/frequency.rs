//! The slowest free vibration of a body that is held.

use crate::body::Body;
use crate::params::Params;
use glam::DVec3;
use meniscus_core::StepReport;

/// Rounds of inverse iteration: each weakens a mode with twice the frequency four times as much as the slowest.
const ROUNDS: u32 = 4;
/// Part of the slowest mode's stiffness that counts in [`Body::stiffening`]: half of it would do, but bodies soften when they bend
/// far.
const SAFE: f64 = 0.25;
/// Imbalance over the load at which the solve of a round ends, dimensionless: what is left of the slowest mode's force is its error.
const BALANCE: f64 = 1e-3;
/// Largest displacement of the trial motion, over the size of an element: small enough to be linear.
const SMALL: f64 = 1e-6;

impl Body {
    /// Angular frequency of its slowest free vibration about its shape at rest \[rad/s\], by inverse iteration; from above, to a
    /// percent or a few. Zero for a body that is held altogether at fewer than three nodes.
    #[must_use]
    pub fn lowest_frequency(&self) -> f64 {
        let params = Params { tolerance: BALANCE, newton_tolerance: 0.5, ..self.params };
        let Ok(mut trial) = Self::from_state(&self.name, params, self.material, self.state.clone()) else {
            return 0.0;
        };
        // Held at three nodes at least: what can still slide or turn has no slowest vibration.
        let held = self.state.mesh.fixed.iter().filter(|fixed| fixed.all()).count() >= 3;
        let size = libm::cbrt(self.topology.volume.iter().sum::<f64>() / self.topology.volume.len().max(1) as f64);
        trial.motion_mut().0.copy_from_slice(self.rest_positions());
        trial.state.motion.target.copy_from_slice(&self.state.mesh.rest_position);
        let (masses, rest) = (self.masses(), self.rest_positions());
        // Any motion will do that has a part of the slowest one.
        let mut motion: Vec<DVec3> = (0..rest.len()).map(scattered).collect();
        // A force that moves a node of mean mass by about a small part of an element, were it not for its neighbours.
        let mean_mass = masses.iter().sum::<f64>() / masses.len().max(1) as f64;
        let mut scale = SMALL * size * self.material.young * size / mean_mass;
        let mut squared = 0.0;
        for _ in 0..if held { ROUNDS } else { 0 } {
            for ((force, u), m) in trial.external_force_mut().iter_mut().zip(&motion).zip(masses) {
                *force = *u * (*m * scale);
            }
            trial.motion_mut().0.copy_from_slice(rest);
            if trial.settle(DVec3::ZERO, &mut StepReport::default()).is_err() {
                return 0.0;
            }
            let found: Vec<DVec3> = trial.positions().iter().zip(rest).map(|(x, at)| *x - *at).collect();
            let weighted = |a: &[DVec3], b: &[DVec3]| -> f64 {
                a.iter().zip(b).zip(masses).map(|((a, b), m)| *m * a.dot(*b)).sum()
            };
            // Rayleigh's quotient: K u = scale M (motion before).
            squared = scale * weighted(&found, &motion) / weighted(&found, &found);
            let largest = found.iter().map(|u| u.length()).fold(f64::MIN_POSITIVE, f64::max);
            motion = found.iter().map(|u| *u / largest).collect();
            scale = SMALL * size * squared;
        }
        if squared.is_finite() && squared > 0.0 { squared.sqrt() } else { 0.0 }
    }
}

impl Body {
    /// How much heavier than its mass every node is at least to a force that is new in a step of `dt` \[s\], dimensionless:
    /// 1 + ω² (τ² + τβ)/4, with the frequency ω \[rad/s\] of its slowest vibration. An implicit step takes the stiffness
    /// against its forces.
    #[must_use]
    pub fn stiffening(&self, frequency: f64, dt: f64) -> f64 {
        self.implicit_problem(dt).map_or(1.0, |problem| 1.0 + SAFE * frequency * frequency * problem.stiffness)
    }
}

/// A direction that differs from node to node.
fn scattered(node: usize) -> DVec3 {
    let turn = |k: f64| (node as f64 * k + 0.3).fract() - 0.4;
    DVec3::new(turn(0.618_034), turn(0.754_878), turn(0.569_840))
}
