//! Stable neo-Hookean \[SGK18 eq. 14\]: Ψ = μ/2 (I − 3) + λ/2 (J − α)² − μ/2 log(I + 1), I = tr FᵀF, J = det F.
//!
//! Finite and smooth for every F, also flat and inside out; at rest it agrees with Lamé's constants \[SGK18 sec. 3.4\].

use super::{Curvature, Energy, per_pair, symmetric, unfolded};
use crate::symmetric::norm;
use glam::{DMat3, DVec3};

/// The constants of the energy, not Lamé's.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NeoHookean {
    lambda: f64,
    mu: f64,
    /// J at which the volume term rests, dimensionless.
    alpha: f64,
    /// Density at rest, so that rest has no energy \[J/m³\].
    rest: f64,
}

impl NeoHookean {
    /// The energy that has Lamé's constants at rest.
    pub(crate) fn new(lame_lambda: f64, lame_mu: f64) -> Self {
        let mu = 4.0 / 3.0 * lame_mu;
        let lambda = lame_lambda + 5.0 / 6.0 * lame_mu;
        let alpha = 1.0 + 0.75 * mu / lambda;
        let rest = 0.5 * lambda * (1.0 - alpha) * (1.0 - alpha) - 0.5 * mu * libm::log(4.0);
        Self { lambda, mu, alpha, rest }
    }

    /// μ (1 − 1/(I + 1)).
    fn shear_modulus(&self, invariant: f64) -> f64 {
        self.mu * (1.0 - 1.0 / (invariant + 1.0))
    }
}

/// ∂J/∂F.
fn cofactor(f: &DMat3) -> DMat3 {
    DMat3::from_cols(f.y_axis.cross(f.z_axis), f.z_axis.cross(f.x_axis), f.x_axis.cross(f.y_axis))
}

impl Energy for NeoHookean {
    fn density(&self, f: &DMat3, _: &DMat3) -> f64 {
        let (size, volume) = (norm(f), f.determinant() - self.alpha);
        let invariant = size * size;
        0.5 * self.mu * (invariant - 3.0) + 0.5 * self.lambda * volume * volume
            - 0.5 * self.mu * libm::log(invariant + 1.0)
            - self.rest
    }

    fn stress(&self, f: &DMat3, r: &DMat3) -> DMat3 {
        let f = unfolded(f, r);
        let size = norm(&f);
        f * self.shear_modulus(size * size) + cofactor(&f) * (self.lambda * (f.determinant() - self.alpha))
    }

    fn curvature(&self, s: DVec3) -> Curvature {
        let invariant = s.length_squared();
        let (mu, pressure) = (self.shear_modulus(invariant), self.lambda * (s.x * s.y * s.z - self.alpha));
        let growth = 2.0 * self.mu / ((invariant + 1.0) * (invariant + 1.0));
        // ∂J/∂s.
        let j = per_pair(|i, j| s[i] * s[j]);
        Curvature {
            stretch: symmetric(
                DVec3::splat(mu) + growth * s * s + self.lambda * j * j,
                per_pair(|a, b| growth * s[a] * s[b] + self.lambda * j[a] * j[b]) + pressure * s,
            ),
            twist: DVec3::splat(mu) + pressure * s,
            shear: DVec3::splat(mu) - pressure * s,
        }
    }
}
