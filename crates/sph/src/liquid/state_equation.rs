//! The state-equation liquid: pressure from density, then forces \[MCG03 eqs 10, 12, 14; B eq. 14 and unnumbered\].
//!
//! > pᵢ = k ρ0/n (cᵢⁿ − 1), not below zero
//! >
//! > fᵢ = −Σⱼ Vⱼ (pᵢ + pⱼ + Πᵢⱼ) ∇Wᵢⱼ + Σⱼ Vⱼ μᵢⱼ (vⱼ − vᵢ) ∇²Wᵢⱼ
//!
//! as forces per volume, Vⱼ = V0/cⱼ. Deviations. MCG03 and Boldt take *half* of pᵢ + pⱼ: since Σ V pⱼ ∇W alone is the
//! gradient and Σ V pᵢ ∇W vanishes inside the liquid, that is half of the gradient of any smooth pressure, and water at
//! rest would show twice its pressure (a test holds on to this). Boldt also prints + for −, and densities for pressures.
//! Each pair's force is equal and opposite. Πᵢⱼ is the artificial viscosity of [`crate::liquid::viscosity`].

use crate::liquid::Liquid;
use crate::liquid::viscosity::{Friction, Viscosity, bounded_inverse};
use crate::neighbours::{Block, for_each_block};
use crate::simd::{
    KernelLanes, Packed, Space, add_up3, dot, gather, minus, minus_scaled, splat, splat3, viscosity_laplacian,
};
use fearless_simd::{Simd, SimdFloat, SimdFrom, dispatch, f32x8};
use glam::{DVec3, Vec3};
use meniscus_core::{StepError, par};
use rayon::prelude::*;

/// What the force pass reads.
#[derive(Clone, Copy)]
struct Input<'a> {
    /// Position \[m\] and volume Vⱼ \[m³\].
    position: &'a [Packed],
    /// Velocity \[m/s\] and pressure \[Pa\].
    flow: &'a [Packed],
    friction: Friction<'a>,
    /// 1/h \[1/m\].
    inverse_h: f32,
}

impl Liquid {
    /// p = k ρ0/n (cⁿ − 1), not below zero: a free surface pulls on nothing.
    pub fn apply_state_equation(&mut self) {
        let (k, exponent) = (self.setup.stiffness as f32, self.setup.params.exponent);
        // Equal compression is equal pressure in every liquid of the scene, else the heavy one is stiffer.
        let modulus = k * self.heaviest() as f32 / exponent as f32;
        let compression = &self.work.compression;
        self.state.particles.pressure.par_iter_mut().with_min_len(par::LIGHT).zip(compression).for_each(
            |(pressure, &c)| {
                let power = (1..exponent).fold(c, |power, _| power * c);
                *pressure = (modulus * (power - 1.0)).max(0.0);
            },
        );
        self.free_solids_of_pressure();
    }

    /// Pressure, viscosity, walls and gravity as accelerations.
    ///
    /// # Errors
    /// When an acceleration is not finite.
    pub fn sum_all_forces(&mut self, gravity: DVec3) -> Result<(), StepError> {
        self.pack_volumes_and_velocities(|particles, i| particles.pressure[i]);
        let mut output = std::mem::take(&mut self.work.acceleration);
        output.resize(self.state.particles.len(), Vec3::ZERO);
        let input = Input {
            position: &self.work.position,
            flow: &self.work.flow,
            friction: self.friction(self.setup.stiffness.sqrt()),
            inverse_h: (1.0 / self.h) as f32,
        };
        let level = self.level;
        crate::liquid::with_kernel_and_space!(self, |pair| {
            for_each_block(&self.work.neighbours.blocks, &mut output, |block, piece| {
                dispatch!(level, simd => sum(simd, pair, block, &input, piece));
            });
        });
        self.work.acceleration = output;
        self.push_off_walls(gravity.as_vec3());
        self.finish_forces(gravity)
    }

    /// The wall's share of the pressure force, per volume \[N/m³\], on the particle and, turned over, on the wall.
    fn push_off_walls(&mut self, gravity: Vec3) {
        for contact in self.work.contacts.iter().flatten() {
            let i = contact.particle as usize;
            let p = self.state.particles.pressure[i];
            let force = contact.gamma_gradient * (p + self.mirror_pressure(contact, gravity, p));
            self.work.acceleration[i] += force;
            let on_particle = force.as_dvec3() * f64::from(self.work.position[i][3]);
            self.work.reactions[usize::from(contact.wall)]
                .push(self.state.particles.position[i].as_dvec3(), -on_particle);
        }
        self.push_bodies(gravity, |liquid, i| {
            let pressure = liquid.state.particles.pressure[i];
            [pressure, pressure, liquid.work.position[i][3] / liquid.rest_volume() as f32]
        });
    }
}

/// Sums forces per volume \[N/m³\] on the particles of a block.
#[inline(always)]
fn sum<S: Simd, K: KernelLanes, P: Space>(
    simd: S,
    (_, space): (K, P),
    block: &Block,
    input: &Input,
    output: &mut [Vec3],
) {
    simd.vectorize(
        #[inline(always)]
        || {
            // Of one length: an index is checked once for both.
            let (position, flow) = (input.position, &input.flow[..input.position.len()]);
            let inverse_h = splat(simd, input.inverse_h);
            let zero = splat(simd, 0.0);
            let shock = splat(simd, input.friction.shock);
            let slope_norm = inverse_h * inverse_h * inverse_h * inverse_h * inverse_h;
            for (k, output) in output.iter_mut().enumerate() {
                let i = block.start + k;
                let (x_i, v_i) = (splat3(simd, position[i]), splat3(simd, flow[i]));
                let p_i = splat(simd, flow[i][3]);
                let mut force = [zero; 3];
                for (eight, square) in block.with_squares(k) {
                    let q = f32x8::simd_from(simd, *square).sqrt() * inverse_h;
                    let inverse_q = bounded_inverse(simd, q);
                    let (x_j, volume_j) = gather(simd, position, eight);
                    let (v_j, p_j) = gather(simd, flow, eight);
                    let d = space.shortest(simd, minus(x_i, x_j));
                    let v = minus(v_i, v_j);
                    // What waits for the division comes last.
                    let shear = shock * dot(v, d);
                    let slope = K::slope(simd, q) * (volume_j * slope_norm) * inverse_q;
                    let pressure = p_i + p_j - shear * (inverse_q * inverse_q);
                    let mu = match input.friction.viscosity {
                        Viscosity::Uniform(mu) => splat(simd, mu),
                        Viscosity::Mixed(mu) => Viscosity::pair(simd, mu, i, eight),
                    };
                    let friction = mu * viscosity_laplacian(simd, q) * (volume_j * slope_norm);
                    force = minus_scaled(force, friction, v);
                    force = minus_scaled(force, pressure * slope, d);
                }
                *output = add_up3(force);
            }
        },
    );
}
