//! Elastic energies: density, stress, and curvature in principal stretches.
//!
//! | symbol | meaning |
//! |---|---|
//! | F | deformation gradient |
//! | R, S | its rotation and stretch, F = R S |
//! | s₁ s₂ s₃ | principal stretches; the least is negative when F turns inside out |
//! | Ψ | energy per volume at rest \[J/m³\] |
//! | P = ∂Ψ/∂F | first Piola–Kirchhoff stress \[Pa\] |
//! | λ, μ | Lamé's constants \[Pa\] |

mod corotational;
mod neo_hookean;
mod st_venant_kirchhoff;

use crate::params::{Material, Model};
use crate::symmetric::norm;
use corotational::Corotational;
use glam::{DMat3, DVec3};
use neo_hookean::NeoHookean;
use st_venant_kirchhoff::StVenantKirchhoff;

/// An isotropic elastic energy.
pub(crate) trait Energy {
    /// Ψ(F) \[J/m³\]; `r` is the rotation of F.
    fn density(&self, f: &DMat3, r: &DMat3) -> f64;
    /// P(F) \[Pa\].
    fn stress(&self, f: &DMat3, r: &DMat3) -> DMat3;
    /// Second derivatives at principal stretches.
    fn curvature(&self, s: DVec3) -> Curvature;
}

/// ∂P/∂F in the principal frame, where it falls into a 3×3 block and six numbers \[TSIF05, SGK19\]: with Ψᵢ = ∂Ψ/∂sᵢ and
/// pairs (2,3), (3,1), (1,2) of axes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Curvature {
    /// ∂²Ψ/∂sᵢ∂sⱼ \[Pa\].
    pub(crate) stretch: DMat3,
    /// (Ψᵢ + Ψⱼ)/(sᵢ + sⱼ) \[Pa\]: resistance to turning one axis into the other.
    pub(crate) twist: DVec3,
    /// (Ψᵢ − Ψⱼ)/(sᵢ − sⱼ) \[Pa\]: resistance to shear.
    pub(crate) shear: DVec3,
}

/// The energy of a material.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Elastic {
    Corotational(Corotational),
    NeoHookean(NeoHookean),
    StVenantKirchhoff(StVenantKirchhoff),
}

impl Elastic {
    pub(crate) fn new(material: &Material) -> Self {
        let [lambda, mu] = material.lame();
        match material.model {
            Model::Corotational => Self::Corotational(Corotational { lambda, mu }),
            Model::NeoHookean => Self::NeoHookean(NeoHookean::new(lambda, mu)),
            Model::StVenantKirchhoff => Self::StVenantKirchhoff(StVenantKirchhoff { lambda, mu }),
        }
    }
}

/// Calls the same method of whichever energy it is.
macro_rules! delegate {
    ($elastic:expr, $energy:ident => $call:expr) => {
        match $elastic {
            Elastic::Corotational($energy) => $call,
            Elastic::NeoHookean($energy) => $call,
            Elastic::StVenantKirchhoff($energy) => $call,
        }
    };
}

impl Energy for Elastic {
    #[inline(always)]
    fn density(&self, f: &DMat3, r: &DMat3) -> f64 {
        delegate!(self, energy => energy.density(f, r))
    }

    #[inline(always)]
    fn stress(&self, f: &DMat3, r: &DMat3) -> DMat3 {
        delegate!(self, energy => energy.stress(f, r))
    }

    fn curvature(&self, s: DVec3) -> Curvature {
        delegate!(self, energy => energy.curvature(s))
    }
}

/// Norm of F below which a point has no size of its own, dimensionless.
const COLLAPSED: f64 = 1e-3;

/// F, or a small size along its rotation for a point that has collapsed: there smooth energies are stationary, and it would
/// never come back.
fn unfolded(f: &DMat3, r: &DMat3) -> DMat3 {
    if norm(f) < COLLAPSED { *f + *r * COLLAPSED } else { *f }
}

/// The two other axes of each.
pub(crate) const PAIRS: [[usize; 2]; 3] = [[1, 2], [2, 0], [0, 1]];

/// One number per pair of axes.
pub(crate) fn per_pair(value: impl Fn(usize, usize) -> f64) -> DVec3 {
    DVec3::from_array(PAIRS.map(|[i, j]| value(i, j)))
}

/// A symmetric matrix from its diagonal and its pairs.
pub(crate) fn symmetric(diagonal: DVec3, pair: DVec3) -> DMat3 {
    let [yz, zx, xy] = pair.to_array();
    DMat3::from_cols(DVec3::new(diagonal.x, xy, zx), DVec3::new(xy, diagonal.y, yz), DVec3::new(zx, yz, diagonal.z))
}

#[cfg(test)]
mod tests;
