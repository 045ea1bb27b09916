//! St Venant–Kirchhoff: Ψ = μ |E|² + λ/2 tr² E with Green's strain E = (FᵀF − I)/2.

use super::{Curvature, Energy, per_pair, symmetric, unfolded};
use crate::symmetric::{norm, trace};
use glam::{DMat3, DVec3};

/// Lamé's constants \[Pa\].
#[derive(Debug, Clone, Copy)]
pub(crate) struct StVenantKirchhoff {
    pub(crate) lambda: f64,
    pub(crate) mu: f64,
}

fn green_strain(f: &DMat3) -> DMat3 {
    (f.transpose() * *f - DMat3::IDENTITY) * 0.5
}

impl Energy for StVenantKirchhoff {
    fn density(&self, f: &DMat3, _: &DMat3) -> f64 {
        let strain = green_strain(f);
        let (size, dilation) = (norm(&strain), trace(&strain));
        self.mu * size * size + 0.5 * self.lambda * dilation * dilation
    }

    fn stress(&self, f: &DMat3, r: &DMat3) -> DMat3 {
        let f = unfolded(f, r);
        let strain = green_strain(&f);
        f * (strain * (2.0 * self.mu) + DMat3::from_diagonal(DVec3::splat(self.lambda * trace(&strain))))
    }

    fn curvature(&self, s: DVec3) -> Curvature {
        let (lambda, mu) = (self.lambda, self.mu);
        let pressure = 0.5 * lambda * (s.length_squared() - 3.0) - mu;
        let squares = |i: usize, j: usize| mu * (s[i] * s[i] + s[j] * s[j]) + pressure;
        Curvature {
            stretch: symmetric(
                (3.0 * mu + lambda) * s * s + DVec3::splat(pressure),
                per_pair(|i, j| lambda * s[i] * s[j]),
            ),
            twist: per_pair(|i, j| squares(i, j) - mu * s[i] * s[j]),
            shear: per_pair(|i, j| squares(i, j) + mu * s[i] * s[j]),
        }
    }
}
