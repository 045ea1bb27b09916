//! Friction inside the liquid and along walls.
//!
//! > fᵢ = Σⱼ Vⱼ μᵢⱼ (vⱼ − vᵢ) ∇²Wᵢⱼ  \[MCG03 eq. 14\]
//!
//! in N/m³, with the dynamic viscosity μ in Pa·s; a pair of different liquids takes the mean of theirs. On the lattice at
//! rest Σ V r² ∇²W falls short of its integral 6 by a percent or more: the sum is divided by its share.
//!
//! Artificial viscosity \[Mon92\], as a pair pressure, ρ that of the lighter of the two: Π = ρ α c u with u = −v·d (h/2)/r², bounded where r < h/10 (there the
//! paper adds a softening to r², which costs a division). It acts along the line between two particles, so it keeps angular momentum, and not on rigid motion. It takes up what real water passes
//! on to eddies smaller than a particle: without it, a liquid that comes to rest goes on trembling, for nothing else
//! here loses energy.
//!
//! The slope of the cubic spline vanishes at the origin: two particles squeezed into a corner could come to share one
//! place. Pairs closer than half a spacing push each other apart, with the pressure ρ c² at most.

use crate::kernel::viscosity_laplacian as laplacian;
use crate::liquid::Liquid;
use crate::neighbours::{Block, for_each_block};
use crate::params::ViscositySolver;
use crate::particles::Particles;
use crate::simd::{
    KernelLanes, LANES, Packed, Space, add_up3, dot, gather, gather1, minus, plus_scaled, splat, splat3,
    viscosity_laplacian,
};
use fearless_simd::{Select, Simd, SimdBase, SimdFloat, SimdFrom, dispatch, f32x8};
use glam::{DVec3, Vec3};
use meniscus_core::{StepError, par};
use rayon::prelude::*;

/// Viscosity of the particles \[Pa·s\].
#[derive(Clone, Copy)]
pub(crate) enum Viscosity<'a> {
    /// The same everywhere.
    Uniform(f32),
    /// Per particle; a pair takes the mean.
    Mixed(&'a [f32]),
}

impl Viscosity<'_> {
    /// The viscosity between particle i and eight others: the mean, or nothing if one is negative.
    #[inline(always)]
    pub(crate) fn pair<S: Simd>(simd: S, mu: &[f32], i: usize, eight: &[u32; LANES]) -> f32x8<S> {
        let (mu_i, mu_j, zero) = (splat(simd, mu[i]), gather1(simd, mu, eight), splat(simd, 0.0));
        mu_i.min(mu_j).simd_lt(zero).select(zero, (mu_i + mu_j) * splat(simd, 0.5))
    }
}

/// Strength of friction inside the liquid.
#[derive(Clone, Copy)]
pub(crate) struct Friction<'a> {
    /// Divided by the lattice's share.
    pub(crate) viscosity: Viscosity<'a>,
    /// ρ α c/(2 h) \[Pa·s/m²\].
    pub(crate) shock: f32,
    /// ρ c² \[Pa\]: pressure between particles that share one position.
    crowding: f32,
    /// Where crowding begins: half a spacing, in units of h.
    crowded: f32,
}

/// 1/q, but not more than 10: what is divided by the distance of two particles stays bounded where they meet.
#[inline(always)]
pub(crate) fn bounded_inverse<S: Simd>(simd: S, q: f32x8<S>) -> f32x8<S> {
    splat(simd, 1.0) / q.max(splat(simd, 0.1))
}

/// Σ V r² ∇²W over the lattice at rest, divided by its integral 6; spacing in units of h.
pub(crate) fn lattice_share(spacing: f64) -> f64 {
    let n = libm::floor(1.0 / spacing) as i64;
    let mut sum = 0.0;
    for (x, y, z) in (-n..=n).flat_map(|x| (-n..=n).flat_map(move |y| (-n..=n).map(move |z| (x, y, z)))) {
        let r_squared = spacing * spacing * (x * x + y * y + z * z) as f64;
        sum += r_squared * laplacian(libm::sqrt(r_squared));
    }
    sum * spacing * spacing * spacing / 6.0
}

impl Liquid {
    /// Viscosities, and the artificial one for a signal speed c \[m/s\].
    pub(crate) fn friction(&self, signal_speed: f64) -> Friction<'_> {
        let first = self.setup.materials.first().map_or(0.0, |m| m.1.viscosity);
        Friction {
            viscosity: if self.work.viscosity.is_empty() {
                Viscosity::Uniform((first / self.viscosity_share) as f32)
            } else {
                Viscosity::Mixed(&self.work.viscosity)
            },
            shock: (self.heaviest()
                * self.setup.params.artificial_viscosity(self.corrects_gradients())
                * signal_speed
                * 0.5
                / self.h) as f32,
            crowding: (self.heaviest() * signal_speed * signal_speed) as f32,
            crowded: (0.5 * self.setup.params.spacing / self.h) as f32,
        }
    }

    /// Viscosities per particle where liquids differ in it; negative for porous solids, which drag liquid in their own way.
    pub(crate) fn spread_viscosities(&mut self) {
        let materials = &self.setup.materials;
        self.work.viscosity.clear();
        if self.phases.is_porous() || materials.iter().any(|m| m.1.viscosity != materials[0].1.viscosity) {
            let of = |l: u16| match self.phases.pores_of(l) {
                None => (materials[usize::from(l)].1.viscosity / self.viscosity_share) as f32,
                Some(_) => -1.0,
            };
            self.work.viscosity.extend(self.state.particles.liquid.iter().map(|&l| of(l)));
            self.work.viscosity.push(0.0);
        }
    }

    /// Viscosity, friction of small eddies and gravity, without pressure, as accelerations.
    ///
    /// # Errors
    /// When an acceleration is not finite.
    pub fn sum_forces(&mut self, gravity: DVec3, dt: f64) -> Result<(), StepError> {
        let shares = self.density_shares();
        self.pack_volumes_and_velocities(|particles, i| shares[usize::from(particles.liquid[i])]);
        self.work.density_share = shares;
        let mut output = std::mem::take(&mut self.work.acceleration);
        output.resize(self.state.particles.len(), Vec3::ZERO);
        let signal_speed = self.setup.speed;
        let mut friction = self.friction(signal_speed);
        if self.setup.params.viscosity == ViscositySolver::Implicit {
            friction.viscosity = Viscosity::Uniform(0.0);
        }
        let (position, flow, inverse_h) = (&self.work.position, &self.work.flow, (1.0 / self.h) as f32);
        let level = self.level;
        crate::liquid::with_kernel_and_space!(self, |pair| {
            for_each_block(&self.work.neighbours.blocks, &mut output, |block, piece| {
                dispatch!(level, simd => sum(simd, pair, block, (position, flow), friction, inverse_h, piece));
            });
        });
        self.work.acceleration = output;
        self.finish_forces(gravity)?;
        self.add_biharmonic_damping(dt);
        Ok(())
    }

    /// Rest densities over that of the heaviest liquid, dimensionless; one for solids, which leave it to the liquid beside them, and
    /// zero for porous ones, which liquid passes.
    fn density_shares(&mut self) -> Vec<f32> {
        let mut shares = std::mem::take(&mut self.work.density_share);
        let heaviest = self.heaviest() as f32;
        let of = |(&d, l): (&f32, u16)| match self.phases.pores_of(l) {
            Some(_) => 0.0,
            None if self.phases.is_solid(l) => 1.0,
            None => d / heaviest,
        };
        shares.clear();
        shares.extend(self.work.rest_density.iter().zip(0..).map(of));
        shares
    }

    /// Puts volumes beside positions, and beside velocities whatever a pass wants there.
    pub(crate) fn pack_volumes_and_velocities(&mut self, companion: impl Fn(&Particles, usize) -> f32 + Sync) {
        let particles = &self.state.particles;
        let (count, volume) = (particles.len(), self.rest_volume() as f32);
        let (position, flow, compression) = (&mut self.work.position, &mut self.work.flow, &self.work.compression);
        flow.resize(count + 1, [0.0; 4]);
        position[..count].par_iter_mut().zip(&mut flow[..count]).with_min_len(par::LIGHT).enumerate().for_each(
            |(i, (position, flow))| {
                position[3] = volume / compression[i];
                *flow = crate::simd::pack(particles.velocity[i], companion(particles, i));
            },
        );
        flow[count] = [0.0; 4];
    }

    /// Turns forces per volume into accelerations, with friction along walls and gravity.
    pub(crate) fn finish_forces(&mut self, gravity: DVec3) -> Result<(), StepError> {
        let explicit = self.setup.params.viscosity == ViscositySolver::Explicit;
        for contact in self.work.contacts.iter().flatten().filter(|_| explicit) {
            let i = contact.particle as usize;
            let Some(viscosity) = self.wall_viscosity(contact.wall, i) else { continue };
            let force = (contact.drag_velocity - self.state.particles.velocity[i] * contact.drag) * viscosity;
            self.work.acceleration[i] += force;
            let on_particle = force.as_dvec3() * f64::from(self.work.position[i][3]);
            self.work.reactions[usize::from(contact.wall)]
                .push(self.state.particles.position[i].as_dvec3(), -on_particle);
        }
        if explicit && self.walls.any_body_has_friction() {
            self.add_friction_to_bodies(|liquid, contact| {
                let i = contact.particle as usize;
                let viscosity = liquid.wall_viscosity(contact.wall, i).unwrap_or(0.0);
                let force = (contact.drag_velocity - liquid.state.particles.velocity[i] * contact.drag) * viscosity;
                force.as_dvec3() * f64::from(liquid.work.position[i][3])
            });
        }
        let gravity = gravity.as_vec3();
        let density = &self.state.particles.density;
        self.work.acceleration.par_iter_mut().with_min_len(par::LIGHT).zip(density).for_each(|(a, &density)| {
            *a = *a / density + gravity;
        });
        self.add_tractions();
        let acceleration = &self.work.acceleration;
        self.check("sum forces", "acceleration", |_, i| acceleration[i].is_finite())
    }
}

/// Sums friction per volume \[N/m³\] on the particles of a block.
#[inline(always)]
fn sum<S: Simd, K: KernelLanes, P: Space>(
    simd: S,
    (_, space): (K, P),
    block: &Block,
    (position, flow): (&[Packed], &[Packed]),
    friction: Friction,
    inverse_h: f32,
    output: &mut [Vec3],
) {
    simd.vectorize(
        #[inline(always)]
        || {
            // Of one length: an index is checked once for both.
            let flow = &flow[..position.len()];
            let inverse_h = splat(simd, inverse_h);
            let zero = splat(simd, 0.0);
            let shock = splat(simd, friction.shock);
            let norm = inverse_h * inverse_h * inverse_h * inverse_h * inverse_h;
            let crowded = splat(simd, friction.crowded);
            // The slope of a kernel is about −10 where it is steep.
            let crowding = splat(simd, -10.0 * friction.crowding / friction.crowded);
            for (k, output) in output.iter_mut().enumerate() {
                let i = block.start + k;
                let (x_i, v_i) = (splat3(simd, position[i]), splat3(simd, flow[i]));
                let share_i = splat(simd, flow[i][3]);
                let mut force = [zero; 3];
                for (eight, square) in block.with_squares(k) {
                    let q = f32x8::simd_from(simd, *square).sqrt() * inverse_h;
                    let inverse_q = bounded_inverse(simd, q);
                    let (x_j, volume_j) = gather(simd, position, eight);
                    let (v_j, share_j) = gather(simd, flow, eight);
                    let d = space.shortest(simd, minus(x_i, x_j));
                    let v = minus(v_i, v_j);
                    let approach = (zero - dot(v, d)) * inverse_q * inverse_q;
                    let mu = match friction.viscosity {
                        Viscosity::Uniform(mu) => splat(simd, mu),
                        Viscosity::Mixed(mu) => Viscosity::pair(simd, mu, i, eight),
                    };
                    let weight = volume_j * norm;
                    let apart = crowding * (crowded - q).max(zero);
                    // A pair is as dense as its lighter particle.
                    let along = (shock * approach * K::slope(simd, q) + apart) * inverse_q * share_i.min(share_j);
                    force = plus_scaled(force, zero - weight * along, d);
                    force = plus_scaled(force, zero - weight * mu * viscosity_laplacian(simd, q), v);
                }
                *output = add_up3(force);
            }
        },
    );
}
