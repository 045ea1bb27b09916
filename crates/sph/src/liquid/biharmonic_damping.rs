//! Friction of eddies that are smaller than the particles can show.
//!
//! > Δvᵢ = −ε (ρ/ρ0ᵢ) (M M v)ᵢ,  (M v)ᵢ = −Σⱼ V0 (dW/dr)/r (dᵢⱼ·(vᵢ − vⱼ)) dᵢⱼ
//!
//! | symbol | meaning |
//! |---|---|
//! | ε | part taken in a step: Δt c/s, at most a quarter; c is the speed to be expected, s the spacing |
//! | M | how a velocity differs from its neighbours', dimensionless: 1 for a particle that moves alone, up to 2.2 for layers that move against each other, 0.0375 (k h)² for a wave of wave number k (cubic spline) |
//! | ρ | rest density of the lightest liquid or solid of particles |
//!
//! A particle under pressure rattles between its neighbours with √(p/ρ)/s, and the incompressible solver, with one pressure
//! for three directions, has nothing to hold against it: only friction ends it. Viscosity strong enough for that would
//! stop the waves as well. M applied twice tells them apart: a wave of twenty spacings loses two thousandths of what rattling loses. Each M acts along the line between two particles and is symmetric:
//! momentum and angular momentum stay, energy falls.
//!
//! With corrected gradients the friction is against the best linear field through the velocities of neighbours instead
//! ([`crate::liquid::dfsph::corrected`]): in disorder M feels shear.

use crate::liquid::{Liquid, with_kernel_and_space};
use crate::neighbours::Block;
use crate::simd::{LANES, Packed, Space, add_up3, dot, gather, minus, pack, plus_scaled, splat, splat3};
use fearless_simd::{Simd, SimdBase, SimdFrom, dispatch, f32x8};
use glam::Vec3;
use meniscus_core::par;
use rayon::prelude::*;

/// Largest ε: stable up to an M of 2.8.
const LARGEST: f64 = 0.25;

/// Part of it with corrected gradients, and the largest: their operator R has eigenvalues up to 6 on a lattice, 9 at most, and
/// R R + 5 R up to 126.
const OF_NOISE: f64 = 0.03;
const LARGEST_OF_NOISE: f64 = 0.015;

impl Liquid {
    /// Adds the friction of small eddies to the accelerations of the incompressible liquid.
    pub(crate) fn add_biharmonic_damping(&mut self, dt: f64) {
        let params = &self.setup.params;
        let share = params.eddy_friction(self.corrects_gradients()) * dt * self.setup.speed / params.spacing;
        if share <= 0.0 {
            return;
        }
        if self.corrects_gradients() {
            return self.damp_noise((OF_NOISE * share).min(LARGEST_OF_NOISE), dt);
        }
        let share = share.min(LARGEST);
        let count = self.state.particles.len();
        let mut flow = std::mem::take(&mut self.work.flow);
        let mut rough = std::mem::take(&mut self.work.push);
        flow.resize(count + 1, [0.0; 4]);
        let (velocity, liquid) = (&self.state.particles.velocity, &self.state.particles.liquid);
        let each = flow[..count].par_iter_mut().with_min_len(par::LIGHT).zip(velocity).zip(liquid);
        each.for_each(|((flow, &v), &l)| *flow = pack(v, f32::from(u8::from(self.phases.pores_of(l).is_some()))));
        self.roughen(&flow, &mut rough);
        self.roughen(&rough, &mut flow);
        // Particles of solids take part, and may be lighter than any liquid.
        let lightest = self.setup.materials.iter().map(|m| m.1.density).fold(f64::INFINITY, f64::min);
        let strength = (share * lightest / dt) as f32;
        let (rest, liquid) = (&self.work.rest_density, &self.state.particles.liquid);
        let acceleration = self.work.acceleration.par_iter_mut().with_min_len(par::LIGHT);
        acceleration.enumerate().for_each(|(i, a)| {
            *a -= Vec3::from_slice(&flow[i]) * (strength / rest[usize::from(liquid[i])]);
        });
        (self.work.flow, self.work.push) = (flow, rough);
    }

    /// M of the velocities; one more than particles.
    fn roughen(&self, flow: &[Packed], output: &mut Vec<Packed>) {
        let (work, count, level) = (&self.work, self.state.particles.len(), self.level);
        output.resize(count + 1, [0.0; 4]);
        let norm = -self.gradient_norm();
        with_kernel_and_space!(self, |pair| {
            let blocks = work.neighbours.blocks.par_iter().zip(&work.slopes);
            blocks.zip(output[..count].par_chunks_mut(par::PIECE)).for_each(|((block, slopes), piece)| {
                dispatch!(level, simd => sum(simd, pair.1, (block, slopes), (&work.position, flow), norm, piece));
            });
        });
        output[count] = [0.0; 4];
    }
}

/// M of the velocities for the particles of a block; those of porous solids, whose companion is one, and others pass each other.
#[inline(always)]
fn sum<S: Simd, P: Space>(
    simd: S,
    space: P,
    (block, slopes): (&Block, &[[f32; LANES]]),
    (position, flow): (&[Packed], &[Packed]),
    norm: f32,
    output: &mut [Packed],
) {
    simd.vectorize(
        #[inline(always)]
        || {
            for (k, output) in output.iter_mut().enumerate() {
                let i = block.start + k;
                let (x_i, v_i, porous_i) = (splat3(simd, position[i]), splat3(simd, flow[i]), splat(simd, flow[i][3]));
                let mut sum = [splat(simd, 0.0); 3];
                for (eight, slope) in block.of(k).iter().zip(&slopes[block.range(k)]) {
                    let (x_j, _) = gather(simd, position, eight);
                    let (v_j, porous_j) = gather(simd, flow, eight);
                    let d = space.shortest(simd, minus(x_i, x_j));
                    let alike = splat(simd, 1.0) - (porous_i - porous_j).abs();
                    sum = plus_scaled(sum, alike * f32x8::simd_from(simd, *slope) * dot(minus(v_i, v_j), d), d);
                }
                *output = pack(add_up3(sum) * norm, flow[i][3]);
            }
        },
    );
}
