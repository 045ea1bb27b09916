//! Implicit viscosity for thick liquids \[WKBB18\].
//!
//! > ρᵢ uᵢ + Δt Σⱼ wᵢⱼ (dᵢⱼ·(uᵢ − uⱼ)) dᵢⱼ + Δt μ kᵢ (uᵢ − v_wall) = ρᵢ vᵢ*
//! >
//! > wᵢⱼ = −10 μᵢⱼ V0 (dW/dr)/r / (r² + 0.0025 h²)
//!
//! | symbol | meaning |
//! |---|---|
//! | v*, u | velocity before and after friction \[m/s\] |
//! | dᵢⱼ | xᵢ − xⱼ \[m\] |
//! | kᵢ | friction factor of walls \[1/m²\] |
//!
//! The force acts along the line between two particles: unlike the Laplacian of MCG03 it keeps angular momentum and does not
//! resist rigid motion, so that a rope of honey can coil. The matrix is symmetric and positive: conjugate gradients, with
//! the mean of the diagonal as preconditioner. As with the Laplacian, the sum is divided by what it gives for a parabolic
//! shear flow on the lattice at rest. The step is not limited by viscosity.

use crate::kernel::Kernel;
use crate::liquid::dfsph::Solved;
use crate::liquid::viscosity::Viscosity;
use crate::liquid::{Liquid, with_kernel_and_space};
use crate::neighbours::Block;
use crate::simd::{LANES, Packed, Space, add_up, add_up3, dot, gather, minus, pack, plus_scaled, splat, splat3};
use fearless_simd::{Simd, SimdFrom, dispatch, f32x8};
use glam::Vec3;
use meniscus_boundary::Friction as WallFriction;
use meniscus_core::{StepError, par};
use rayon::prelude::*;

/// Residual over the first one at which the solve ends.
const ERROR: f64 = 1e-3;
/// Most iterations; what is left then is friction that comes a step later.
const MAX_ITERATIONS: u32 = 200;
/// Softening of 1/r², in units of h².
const SOFTENING: f64 = 0.0025;

/// Memory of the solve.
#[derive(Default)]
pub(crate) struct ImplicitViscosity {
    residual: Vec<Vec3>,
    direction: Vec<Packed>,
    image: Vec<Packed>,
    /// 1/Aᵢ, the mean over the three axes.
    inverse: Vec<f32>,
    /// μ k v_wall and μ k of the walls.
    drag: Vec<Packed>,
}

/// What the sum gives for the flow u = y²/2 on the lattice at rest, instead of one; spacing in units of h.
pub(crate) fn lattice_share(kernel: &Kernel, spacing: f64) -> f64 {
    let n = libm::floor(1.0 / spacing) as i64;
    let mut sum = 0.0;
    for (x, y, z) in (-n..=n).flat_map(|x| (-n..=n).flat_map(move |y| (-n..=n).map(move |z| (x, y, z)))) {
        let r_squared = spacing * spacing * (x * x + y * y + z * z) as f64;
        let r = libm::sqrt(r_squared);
        if r > 0.0 {
            let squares = (x * x * y * y) as f64 * spacing.powi(4);
            sum -= 5.0 * kernel.slope(r) / r * squares / (r_squared + SOFTENING);
        }
    }
    sum * spacing * spacing * spacing
}

impl Liquid {
    /// Friction inside the liquid and along walls, at the end of the step; its acceleration is added.
    ///
    /// # Errors
    /// When a velocity is not finite.
    pub fn solve_viscosity(&mut self, dt: f64) -> Result<Solved, StepError> {
        let step = dt as f32;
        let mut thick = std::mem::take(&mut self.work.implicit_viscosity);
        self.sum_drag(&mut thick.drag);
        let count = self.state.particles.len();
        let ImplicitViscosity { residual, direction, image, inverse, drag } = &mut thick;
        let (velocity, acceleration) = (&self.state.particles.velocity, &self.work.acceleration);
        let flow = &mut self.work.flow;
        flow.resize(count + 1, [0.0; 4]);
        flow[..count].par_iter_mut().with_min_len(par::LIGHT).enumerate().for_each(|(i, flow)| {
            *flow = pack(velocity[i] + acceleration[i] * step, 0.0);
        });
        self.resist(&self.work.flow, image);
        residual.resize(count, Vec3::ZERO);
        inverse.resize(count, 0.0);
        direction.resize(count + 1, [0.0; 4]);
        let (flow, rest, liquid) = (&self.work.flow, &self.work.rest_density, &self.state.particles.liquid);
        let density = |i: usize| rest[usize::from(liquid[i])];
        let each = residual.par_iter_mut().zip(&mut *inverse).zip(&mut direction[..count]).with_min_len(par::LIGHT);
        each.enumerate().for_each(|(i, ((residual, inverse), direction))| {
            let (u, own) = (Vec3::from_slice(&flow[i]), Vec3::from_slice(&drag[i]));
            *residual = (own - u * drag[i][3] - Vec3::from_slice(&image[i])) * step;
            *inverse = 1.0 / (density(i) + step * (image[i][3] / 3.0 + drag[i][3]));
            *direction = pack(*residual * *inverse, 0.0);
        });
        let product =
            |residual: &[Vec3]| par::sum(count, |i| f64::from(residual[i].length_squared()) * f64::from(inverse[i]));
        let first = product(residual);
        let mut slope = first;
        let mut solved = Solved { converged: true, ..Solved::default() };
        while slope > ERROR * ERROR * first && solved.iterations < MAX_ITERATIONS {
            self.resist(direction, image);
            let of = |i: usize| {
                let p = Vec3::from_slice(&direction[i]);
                p * (density(i) + step * drag[i][3]) + Vec3::from_slice(&image[i]) * step
            };
            let curvature = par::sum(count, |i| f64::from(of(i).dot(Vec3::from_slice(&direction[i]))));
            let length = (slope / curvature) as f32;
            let flow = self.work.flow[..count].par_iter_mut().zip(&mut *residual).with_min_len(par::LIGHT);
            flow.enumerate().for_each(|(i, (flow, residual))| {
                *flow = pack(Vec3::from_slice(flow) + Vec3::from_slice(&direction[i]) * length, 0.0);
                *residual -= of(i) * length;
            });
            let next = product(residual);
            let turn = (next / slope) as f32;
            let along = direction[..count].par_iter_mut().with_min_len(par::LIGHT).enumerate();
            along.for_each(|(i, p)| *p = pack(residual[i] * inverse[i] + Vec3::from_slice(p) * turn, 0.0));
            slope = next;
            solved.iterations += 1;
        }
        solved.error = if first > 0.0 { (slope / first).sqrt() } else { 0.0 };
        solved.converged = solved.error <= ERROR;
        self.work.implicit_viscosity = thick;
        self.take_over(dt)?;
        Ok(solved)
    }

    /// Friction factors of all walls that touch a particle, with their velocities.
    fn sum_drag(&self, drag: &mut Vec<Packed>) {
        drag.clear();
        drag.resize(self.state.particles.len(), [0.0; 4]);
        for contact in self.work.contacts.iter().flatten() {
            let i = contact.particle as usize;
            if let Some(viscosity) = self.wall_viscosity(contact.wall, i) {
                let sum = pack(contact.drag_velocity * viscosity, contact.drag * viscosity);
                drag[i] = std::array::from_fn(|k| drag[i][k] + sum[k]);
            }
        }
    }

    /// Viscosity between a particle and a wall \[Pa·s\], if it has friction.
    pub(crate) fn wall_viscosity(&self, wall: u16, i: usize) -> Option<f32> {
        match self.walls.friction(wall) {
            WallFriction::Slip => None,
            WallFriction::NoSlip => {
                Some(self.setup.materials[usize::from(self.state.particles.liquid[i])].1.viscosity as f32)
            }
            WallFriction::Viscosity(viscosity) => Some(viscosity as f32),
        }
    }

    /// Velocities of `work.flow` become accelerations; walls feel what they have done.
    fn take_over(&mut self, dt: f64) -> Result<(), StepError> {
        for contact in self.work.contacts.iter().flatten() {
            let i = contact.particle as usize;
            let Some(viscosity) = self.wall_viscosity(contact.wall, i) else { continue };
            let force = (contact.drag_velocity - Vec3::from_slice(&self.work.flow[i]) * contact.drag) * viscosity;
            let on_particle = force.as_dvec3() * self.rest_volume();
            self.work.reactions[usize::from(contact.wall)]
                .push(self.state.particles.position[i].as_dvec3(), -on_particle);
        }
        if self.walls.any_body_has_friction() {
            self.add_friction_to_bodies(|liquid, contact| {
                let i = contact.particle as usize;
                let viscosity = liquid.wall_viscosity(contact.wall, i).unwrap_or(0.0);
                let force = (contact.drag_velocity - Vec3::from_slice(&liquid.work.flow[i]) * contact.drag) * viscosity;
                force.as_dvec3() * liquid.rest_volume()
            });
        }
        let (flow, velocity, inverse_dt) = (&self.work.flow, &self.state.particles.velocity, (1.0 / dt) as f32);
        self.work.acceleration.par_iter_mut().with_min_len(par::LIGHT).enumerate().for_each(|(i, a)| {
            *a = (Vec3::from_slice(&flow[i]) - velocity[i]) * inverse_dt;
        });
        let acceleration = &self.work.acceleration;
        self.check("solve viscosity", "acceleration", |_, i| acceleration[i].is_finite())
    }

    /// Σⱼ wᵢⱼ (dᵢⱼ·(uᵢ − uⱼ)) dᵢⱼ, and Σⱼ wᵢⱼ r² as companion.
    fn resist(&self, flow: &[Packed], output: &mut Vec<Packed>) {
        let (work, count, level) = (&self.work, self.state.particles.len(), self.level);
        output.resize(count, [0.0; 4]);
        let norm = -10.0 * self.rest_volume() / self.h.powi(4);
        let viscosity = self.friction(0.0).viscosity;
        let softening = (SOFTENING * self.h * self.h) as f32;
        with_kernel_and_space!(self, |pair| {
            let blocks = work.neighbours.blocks.par_iter().zip(&work.slopes);
            blocks.zip(output.par_chunks_mut(par::PIECE)).for_each(|((block, slopes), piece)| {
                let fields = (&work.position[..], flow, viscosity);
                dispatch!(level, simd => sum(simd, pair.1, (block, slopes), fields, [norm as f32, softening], piece));
            });
        });
    }
}

#[inline(always)]
fn sum<S: Simd, P: Space>(
    simd: S,
    space: P,
    (block, slopes): (&Block, &[[f32; LANES]]),
    (position, flow, viscosity): (&[Packed], &[Packed], Viscosity),
    [norm, softening]: [f32; 2],
    output: &mut [Packed],
) {
    simd.vectorize(
        #[inline(always)]
        || {
            let softening = splat(simd, softening);
            for (k, output) in output.iter_mut().enumerate() {
                let i = block.start + k;
                let (x_i, v_i) = (splat3(simd, position[i]), splat3(simd, flow[i]));
                let (mut force, mut diagonal) = ([splat(simd, 0.0); 3], splat(simd, 0.0));
                for (eight, slope) in block.of(k).iter().zip(&slopes[block.range(k)]) {
                    let (x_j, _) = gather(simd, position, eight);
                    let (v_j, _) = gather(simd, flow, eight);
                    let d = space.shortest(simd, minus(x_i, x_j));
                    let r_squared = dot(d, d);
                    let mu = match viscosity {
                        Viscosity::Uniform(mu) => splat(simd, mu),
                        Viscosity::Mixed(mu) => Viscosity::pair(simd, mu, i, eight),
                    };
                    let weight = mu * f32x8::simd_from(simd, *slope) / (r_squared + softening);
                    force = plus_scaled(force, weight * dot(minus(v_i, v_j), d), d);
                    diagonal += weight * r_squared;
                }
                *output = pack(add_up3(force) * norm, add_up(diagonal) * norm);
            }
        },
    );
}
