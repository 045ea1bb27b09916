//! Linear elasticity in the frame of the element \[MG04\]: Ψ = μ |F − R|² + λ/2 tr²(RᵀF − I).

use super::{Curvature, Energy, per_pair, symmetric};
use crate::symmetric::{norm, trace};
use glam::{DMat3, DVec3};

/// Lamé's constants \[Pa\].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Corotational {
    pub(crate) lambda: f64,
    pub(crate) mu: f64,
}

impl Corotational {
    /// tr(RᵀF − I), the change of volume to first order.
    #[inline(always)]
    fn dilation(f: &DMat3, r: &DMat3) -> f64 {
        r.x_axis.dot(f.x_axis) + r.y_axis.dot(f.y_axis) + r.z_axis.dot(f.z_axis) - 3.0
    }
}

impl Energy for Corotational {
    fn density(&self, f: &DMat3, r: &DMat3) -> f64 {
        let (strain, dilation) = (norm(&(*f - *r)), Self::dilation(f, r));
        self.mu * strain * strain + 0.5 * self.lambda * dilation * dilation
    }

    /// P = 2μ (F − R) + λ tr(RᵀF − I) R, the force of the warped stiffness R Kₑ (Rᵀx − x₀).
    #[inline(always)]
    fn stress(&self, f: &DMat3, r: &DMat3) -> DMat3 {
        let (a, b) = (2.0 * self.mu, self.lambda * Self::dilation(f, r) - 2.0 * self.mu);
        *f * a + *r * b
    }

    fn curvature(&self, s: DVec3) -> Curvature {
        let (lambda, mu) = (self.lambda, self.mu);
        let dilation = trace(&DMat3::from_diagonal(s)) - 3.0;
        // At sᵢ = −sⱼ the rotation jumps; the curvature there is what it is a little beside.
        let sum = |i: usize, j: usize| if (s[i] + s[j]).abs() > 1e-9 { s[i] + s[j] } else { 1e-9 };
        Curvature {
            stretch: symmetric(DVec3::splat(2.0 * mu + lambda), DVec3::splat(lambda)),
            twist: per_pair(|i, j| 2.0 * mu + 2.0 * (lambda * dilation - 2.0 * mu) / sum(i, j)),
            shear: DVec3::splat(2.0 * mu),
        }
    }
}
