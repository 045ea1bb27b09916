//! Plastic flow: strain that does not come back.
//!
//! The material remembers a stretch Fₚ = I + εₚ per point and answers elastically to what is beyond it, Fₑ = F Fₚ⁻¹ = R Sₑ,
//! with elastic strain ε = Sₑ − I. Where |ε| exceeds the yield strain, Fₚ ← (I + h c ε) Fₚ with the creep rate c, at most
//! all of it, and |εₚ| stays below its maximum.
//!
//! \[MG04 sec. 3.3\] adds strains instead, ε = S − I − εₚ, which is the same to first order. The product keeps every force
//! the gradient of an energy and every element free of torque, also after large flow, which the sum does not.

use crate::assembly::Elements;
use crate::body::Body;
use crate::element::{Element, with_element};
use crate::params::Plasticity;
use crate::rotation::polar;
use crate::symmetric::{Six, from_six, norm, to_six, trace};
use glam::{DMat3, DQuat, DVec3};
use rayon::prelude::*;

impl Body {
    /// 2. Lets every point flow that is strained beyond yield.
    pub(crate) fn flow(&mut self, dt: f64) {
        let Some(plasticity) = self.material.plasticity else { return };
        let motion = &mut self.state.motion;
        let elements = Elements {
            nodes: &self.state.mesh.elements,
            topology: &self.topology,
            plastic_strain: &self.work.before.plastic_strain,
            position: &motion.position,
        };
        let (rotation, strain) = (&motion.rotation, &mut motion.plastic_strain);
        with_element!(self.params.order, flow_elements(&elements, &plasticity, dt, rotation, strain));
    }
}

fn flow_elements<E: Element<N>, const N: usize>(
    elements: &Elements<'_>,
    plasticity: &Plasticity,
    dt: f64,
    rotation: &[DQuat],
    strain: &mut [Six],
) {
    strain.par_chunks_mut(E::POINTS).with_min_len(64).enumerate().for_each(|(element, strain)| {
        elements.at_points::<E, N>(element, |q, f, _, _| {
            let r = DMat3::from_quat(polar(&f, rotation[element * E::POINTS + q]));
            strain[q] = plasticity.flowed(&(r.transpose() * f), strain[q], dt);
        });
    });
}

impl Plasticity {
    /// The plastic strain after a time `dt` \[s\] at the elastic stretch Sₑ.
    fn flowed(&self, stretch: &DMat3, plastic: Six, dt: f64) -> Six {
        let mut elastic = *stretch - DMat3::IDENTITY;
        if self.keep_volume {
            elastic -= DMat3::from_diagonal(DVec3::splat(trace(&elastic) / 3.0));
        }
        // Strain that is not a number does not flow.
        let yields = norm(&elastic) > self.yield_strain;
        if !yields {
            return plastic;
        }
        let part = (dt * self.creep).min(1.0);
        let flowed = (DMat3::IDENTITY + elastic * part) * (DMat3::IDENTITY + from_six(plastic));
        let strain = from_six(to_six(&(flowed - DMat3::IDENTITY)));
        let size = norm(&strain);
        to_six(&if size > self.max_strain { strain * (self.max_strain / size) } else { strain })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAW: Plasticity = Plasticity { yield_strain: 0.01, creep: 10.0, max_strain: 0.2, keep_volume: false };

    fn stretched(x: f64) -> DMat3 {
        DMat3::from_diagonal(DVec3::new(1.0 + x, 1.0 - 0.3 * x, 1.0 - 0.3 * x))
    }

    #[test]
    fn strain_below_yield_is_not_remembered_and_all_of_it_is_when_creep_is_fast() {
        assert_eq!(LAW.flowed(&stretched(0.005), [0.0; 6], 0.01), [0.0; 6]);
        let fast = LAW.flowed(&stretched(0.05), [0.0; 6], 1.0);
        assert!(fast.iter().zip([0.05, -0.015, -0.015, 0.0, 0.0, 0.0]).all(|(a, b)| (a - b).abs() < 1e-15));
        let slow = LAW.flowed(&stretched(0.05), [0.0; 6], 0.01);
        assert!((slow[0] - 0.005).abs() < 1e-15);
    }

    #[test]
    fn plastic_strain_has_a_largest_norm_and_may_keep_volume() {
        let most = LAW.flowed(&stretched(0.5), [0.1, 0.0, 0.0, 0.0, 0.0, 0.0], 1.0);
        assert!((norm(&from_six(most)) - 0.2).abs() < 1e-15);
        let shape = Plasticity { keep_volume: true, ..LAW }.flowed(&stretched(0.05), [0.0; 6], 1.0);
        assert!((shape[0] + shape[1] + shape[2]).abs() < 1e-15);
    }
}
