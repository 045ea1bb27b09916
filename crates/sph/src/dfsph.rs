//! The incompressible liquid: divergence-free SPH \[BK17\].
//!
//! Two solves per step. After the particles have been sorted, the velocity is freed of divergence; after gravity and
//! friction have been added, it is corrected so that the next positions have no compression:
//!
//! > ċᵢ = Σⱼ (vᵢ − vⱼ)·gᵢⱼ − vᵢ·bᵢ + …,  gᵢⱼ = V0 ∇Wᵢⱼ,  bᵢ = −∇(1 − γᵢ)
//! >
//! > aᵢ = (1/ρ0ᵢ) (−Σⱼ (qᵢ + qⱼ) gᵢⱼ + qᵢ bᵢ),  q ≥ 0
//!
//! | symbol | meaning |
//! |---|---|
//! | cᵢ | compression ρᵢ/ρ0ᵢ, dimensionless |
//! | qᵢ | pressure \[Pa\] as a multiplier of cᵢ ≤ 1 (density solve) or ċᵢ ≤ 0 (divergence solve) |
//! | Aᵢ | \|Σ g − b\|²/ρ0 + Σ \|g\|²/ρ0: how fast cᵢ falls under its own qᵢ |
//!
//! The conditions c ≤ 1, q ≥ 0, and q = 0 where c < 1 are those of a quadratic programme. We take the set of particles that
//! press (q > 0 or too dense), solve for them by conjugate gradients with 1/A as preconditioner, let go of those that
//! would pull, and choose again. Deviations from the paper: it relaxes by Jacobi with ω = ½, which grows without bound in
//! some arrangements (the largest eigenvalue exceeds 4 beside walls) and gains a third of what conjugate gradients gain
//! per iteration; q, not the velocity, is the unknown, so that it can be kept from turning negative; the wall term b
//! is the slope of the deficit that enters c, so that forces stay the gradient of the constraint (taking it twice in the
//! force and once in the rate heats the liquid).

use crate::density::{self, Sums};
use crate::lanes::{KernelLanes, Packed, Space, add_up, add_up3, dot, gather, minus, pack, plus_scaled, splat, splat3};
use crate::liquid::{Liquid, Workspace, with_kernel_and_space};
use crate::neighbours::{Block, for_each_block};
use fearless_simd::{Simd, SimdFloat, dispatch};
use glam::{DVec3, Vec3};
use meniscus_core::{StepError, par};
use rayon::prelude::*;

/// Below this compression a particle belongs to spray or to a surface: its velocity may converge freely.
const LOOSE: f32 = 0.75;

/// Rounding of a compression in single precision.
const ROUNDING: f64 = 3e-7;

/// How a solve went.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Solved {
    /// Iterations taken.
    pub iterations: u32,
    /// Mean error at the end, dimensionless: compression, or divergence times dt.
    pub error: f64,
    /// Whether the error asked for was reached.
    pub converged: bool,
}

/// When to stop.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Stop {
    error: f64,
    iterations: [u32; 2],
}

/// Which of the two solves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Aim {
    /// No divergence of the velocity.
    Divergence,
    /// No compression at the end of the step.
    Density,
}

impl Liquid {
    /// Compression with the sums of gradients that the solves need.
    ///
    /// # Errors
    /// When a density is not finite.
    pub fn sum_density_and_gradients(&mut self) -> Result<(), StepError> {
        let (level, inverse_h, place) = (self.level, (1.0 / self.h) as f32, &self.work.place);
        let output = &mut self.work.sums;
        output.resize(self.state.particles.len(), Sums::default());
        with_kernel_and_space!(self, |pair| {
            for_each_block(&self.work.neighbours.blocks, output, |block, piece| {
                dispatch!(level, simd => density::sum_with_gradients(simd, pair, block, place, inverse_h, piece));
            });
        });
        let (value, gradient) = (self.value_norm(), self.gradient_norm());
        let (sums, compression) = (&mut self.work.sums, &mut self.work.compression);
        compression.resize(sums.len(), 0.0);
        compression.par_iter_mut().zip(sums).with_min_len(par::PIECE).for_each(|(c, sums)| {
            *c = sums.value * value;
            sums.gradient *= gradient;
            sums.square *= gradient * gradient;
            sums.moment *= value;
        });
        self.add_wall_deficits();
        self.finish_density()?;
        self.prepare_diagonal();
        Ok(())
    }

    /// Wall terms per particle, and 1/Aᵢ.
    fn prepare_diagonal(&mut self) {
        let count = self.state.particles.len();
        let work = &mut self.work;
        work.wall_push.clear();
        work.wall_push.resize(count, [0.0; 4]);
        for contact in work.contacts.iter().flatten() {
            let wall = &mut work.wall_push[contact.particle as usize];
            let sum = pack(contact.push, contact.flux);
            *wall = std::array::from_fn(|k| wall[k] + sum[k]);
        }
        let (sums, walls, liquids) = (&work.sums, &work.wall_push, &self.state.particles.liquid);
        let rest = &work.rest_density;
        work.inverse_diagonal.resize(count, 0.0);
        work.inverse_diagonal.par_iter_mut().with_min_len(par::PIECE).enumerate().for_each(|(i, inverse)| {
            let total = sums[i].gradient - Vec3::from_slice(&walls[i]);
            let diagonal = (total.length_squared() + sums[i].square) / rest[usize::from(liquids[i])];
            *inverse = if diagonal > 1e-12 { 1.0 / diagonal } else { 0.0 };
        });
    }

    /// Frees the velocity of divergence.
    ///
    /// # Errors
    /// When a velocity is not finite.
    pub fn remove_divergence(&mut self, dt: f64) -> Result<Solved, StepError> {
        let solver = &self.setup.params;
        let stop = Stop { error: solver.divergence_error, iterations: [1, solver.max_divergence_iterations] };
        self.work.acceleration.resize(self.state.particles.len(), Vec3::ZERO);
        self.work.acceleration.fill(Vec3::ZERO);
        let solved = self.solve(Aim::Divergence, dt, stop);
        let (velocity, flow) = (&mut self.state.particles.velocity, &self.work.flow);
        velocity.par_iter_mut().with_min_len(par::PIECE).zip(flow).for_each(|(v, flow)| *v = Vec3::from_slice(flow));
        self.check("remove divergence", "velocity", |p, i| p.velocity[i].is_finite())?;
        Ok(solved)
    }

    /// Finds the pressure that leaves no compression at the end of the step, and adds its acceleration.
    ///
    /// # Errors
    /// When a pressure is not finite.
    pub fn find_pressure(&mut self, gravity: DVec3, dt: f64) -> Result<Solved, StepError> {
        let solver = &self.setup.params;
        // How much a step of free fall would compress a column of the height that gives the expected speed.
        let fall = 2.0 * (gravity.length() * dt / self.setup.speed).powi(2);
        let error = if fall > 0.0 { solver.density_error.min(solver.pressure_error * fall) } else { solver.density_error };
        let error = error.max(ROUNDING * self.share_taken_back(dt));
        let stop = Stop { error, iterations: [2, solver.max_density_iterations] };
        self.add_mirror_pressure(gravity.as_vec3());
        let solved = self.solve(Aim::Density, dt, stop);
        let inverse_dt = (1.0 / dt) as f32;
        let (velocity, flow) = (&self.state.particles.velocity, &self.work.flow);
        self.work.acceleration.par_iter_mut().with_min_len(par::PIECE).enumerate().for_each(|(i, a)| {
            *a = (Vec3::from_slice(&flow[i]) - velocity[i]) * inverse_dt;
        });
        self.report_pressure(gravity.as_vec3());
        self.react();
        self.check("find pressure", "pressure", |p, i| p.pressure[i].is_finite())?;
        let acceleration = &self.work.acceleration;
        self.check("find pressure", "acceleration", |_, i| acceleration[i].is_finite())?;
        Ok(solved)
    }

    /// The part of the wall's pressure that does not depend on the liquid's: see [`Liquid::mirror_pressure`].
    fn add_mirror_pressure(&mut self, gravity: Vec3) {
        for contact in self.work.contacts.iter().flatten() {
            let i = contact.particle as usize;
            let pressure = self.mirror_pressure(contact, gravity, self.state.particles.multiplier[i]);
            let rest_density = self.work.rest_density[usize::from(self.state.particles.liquid[i])];
            self.work.acceleration[i] += contact.push * (pressure / rest_density);
            let on_particle = contact.push.as_dvec3() * (f64::from(pressure) * self.rest_volume());
            self.work.reactions[usize::from(contact.wall)].add(self.state.particles.position[i], -on_particle);
        }
    }

    /// Pressure as the stress that particles pass on: half of the moment of the forces between a particle and its
    /// neighbours, over its volume. Inside the liquid that is the multipliers of both solves times the share of momentum
    /// that passes through the neighbours (1.02 on a lattice, 0.97 in disorder). Beside a wall layers form and stress differs
    /// with direction: there it is the part along the wall's normal, with the wall's own push.
    fn report_pressure(&mut self, gravity: Vec3) {
        let (multiplier, divergence) = (&self.state.particles.multiplier, &self.work.divergence_pressure);
        let of = |i: usize| multiplier[i] + divergence[i];
        let mut pressure = std::mem::take(&mut self.state.particles.pressure);
        let (sums, contacts) = (&self.work.sums, &self.work.contacts);
        let lever = 0.5 * self.setup.params.spacing as f32;
        let blocks = self.work.neighbours.blocks.par_iter().zip(pressure.par_chunks_mut(par::PIECE)).zip(contacts);
        blocks.for_each(|((block, pressure), contacts)| {
            pressure.iter_mut().enumerate().for_each(|(k, p)| *p = sums[block.start + k].moment * of(block.start + k));
            for contact in contacts.iter().filter(|contact| contact.deficit > 0.0) {
                let i = contact.particle as usize;
                let from_wall = of(i) + self.mirror_pressure(contact, gravity, multiplier[i]);
                pressure[i - block.start] = self.stress_along(block, i, contact.normal, &of)
                    + from_wall * contact.push.dot(contact.normal) * lever;
            }
        });
        self.state.particles.pressure = pressure;
    }

    /// Normal stress along a direction that a particle and its neighbours pass on \[Pa\].
    fn stress_along(&self, block: &Block, i: usize, along: Vec3, pressure: &impl Fn(usize) -> f32) -> f32 {
        let (place, kernel) = (&self.work.place, self.gradient_kernel());
        let here = Vec3::from_slice(&place[i]);
        let others = block.of(i - block.start).iter().flatten().map(|&j| j as usize);
        let sum = others.filter(|&j| j != i && j + 1 < place.len()).map(|j| {
            let d = self.setup.periodic.shortest(here - Vec3::from_slice(&place[j]));
            let r = f64::from(d.length()).max(1e-12);
            -0.5 * (pressure(i) + pressure(j)) * d.dot(along).powi(2) * (kernel.slope(r / self.h) / r) as f32
        });
        sum.sum::<f32>() * self.gradient_norm()
    }

    /// The reaction of walls to the pressure of the density solve.
    fn react(&mut self) {
        for contact in self.work.contacts.iter().flatten() {
            let i = contact.particle as usize;
            let multiplier = f64::from(self.state.particles.multiplier[i] + self.work.divergence_pressure[i]);
            let on_particle = contact.push.as_dvec3() * (multiplier * self.rest_volume());
            self.work.reactions[usize::from(contact.wall)].add(self.state.particles.position[i], -on_particle);
        }
    }

    /// Solves for multipliers that leave no positive residual; at the end `work.flow` holds the corrected velocities.
    fn solve(&mut self, aim: Aim, dt: f64, stop: Stop) -> Solved {
        let dt = dt as f32;
        let mut solved = Solved::default();
        let mut q = std::mem::take(match aim {
            Aim::Divergence => &mut self.work.divergence_pressure,
            Aim::Density => &mut self.state.particles.multiplier,
        });
        q.resize(self.state.particles.len(), 0.0);
        if aim == Aim::Divergence {
            q.fill(0.0);
        }
        loop {
            self.set_velocities(&q, dt);
            solved.error = self.set_residuals(aim, &q, dt);
            solved.iterations += 1;
            if solved.is_done(&stop) || solved.iterations >= stop.iterations[1] {
                break;
            }
            self.descend(&mut q, dt, &stop, &mut solved);
            let pulled = release(&mut q);
            if !pulled && solved.is_done(&stop) {
                break;
            }
        }
        solved.converged = solved.error <= stop.error;
        match aim {
            Aim::Divergence => self.work.divergence_pressure = q,
            Aim::Density => self.state.particles.multiplier = q,
        }
        solved
    }

    /// Conjugate gradients over the particles that press or are pressed; the others stay at zero.
    fn descend(&mut self, q: &mut [f32], dt: f32, stop: &Stop, solved: &mut Solved) {
        let mut slope = self.choose_direction(q);
        while solved.iterations < stop.iterations[1] && slope > 0.0 {
            let curvature = self.apply(dt);
            solved.iterations += 1;
            if curvature <= 0.0 {
                break;
            }
            let next = self.follow_direction(q, (slope / curvature) as f32, dt);
            let free_error;
            (solved.error, free_error) = self.mean_errors();
            // When most of the error lies with particles that are not free, it is time to choose anew.
            if solved.is_done(stop) || free_error < 0.3 * (solved.error - free_error) {
                break;
            }
            self.turn_direction((next / slope) as f32);
            slope = next;
        }
    }

    /// v + Δt a, with the acceleration by the multipliers, into `work.flow`.
    fn set_velocities(&mut self, q: &[f32], dt: f32) {
        let mut push = std::mem::take(&mut self.work.push);
        self.accelerate(q, &mut push);
        let (count, flow) = (q.len(), &mut self.work.flow);
        flow.resize(count + 1, [0.0; 4]);
        let (velocity, acceleration) = (&self.state.particles.velocity, &self.work.acceleration);
        flow[..count].par_iter_mut().with_min_len(par::PIECE).enumerate().for_each(|(i, flow)| {
            *flow = pack(velocity[i] + (acceleration[i] + Vec3::from_slice(&push[i])) * dt, 1.0);
        });
        flow[count] = [0.0; 4];
        self.work.push = push;
    }

    /// Residuals under the velocities of `work.flow`; returns the mean of the positive ones.
    fn set_residuals(&mut self, aim: Aim, q: &[f32], dt: f32) -> f64 {
        let mut residual = std::mem::take(&mut self.work.residual);
        self.sum_rates(&self.work.flow, true, &mut residual);
        let compression = &self.work.compression;
        let (share, compliance) = (self.share_taken_back(dt.into()) as f32, self.compliance(dt.into()));
        residual.par_iter_mut().with_min_len(par::PIECE).zip(compression).zip(q).for_each(|((r, &c), &q)| {
            *r = match aim {
                Aim::Density => (c - 1.0).min(share * (c - 1.0)) + dt * *r - compliance * q,
                Aim::Divergence if c < LOOSE => 0.0,
                Aim::Divergence => dt * *r - compliance * q,
            };
        });
        self.work.residual = residual;
        self.work.free.resize(self.state.particles.len(), 0.0);
        self.mean_errors().0
    }

    /// The part of its compression that the liquid takes back in a step. All of it takes the time in which the liquid
    /// crosses a spacing: then the speed of taking it back does not depend on the step, and cannot drive it towards zero.
    fn share_taken_back(&self, dt: f64) -> f64 {
        (dt * self.setup.speed / self.setup.params.spacing).min(1.0)
    }

    /// Compression under pressure \[1/Pa\], so little that it is not seen, but enough to give liquid that fills a closed
    /// vessel a pressure.
    fn compliance(&self, dt: f64) -> f32 {
        (1e-5 * self.share_taken_back(dt) / (self.heaviest() * self.setup.speed * self.setup.speed)) as f32
    }

    /// Mean of the positive residuals: of all particles, and of the free ones alone.
    fn mean_errors(&self) -> (f64, f64) {
        let Workspace { residual, free, .. } = &self.work;
        let sums = par::reduce(
            residual.len(),
            &|range| {
                range.fold((0.0, 0.0), |(all, of_free), i| {
                    let error = f64::from(residual[i].max(0.0));
                    (all + error, of_free + if free[i] > 0.0 { error } else { 0.0 })
                })
            },
            &|a, b| (a.0 + b.0, a.1 + b.1),
        )
        .unwrap_or_default();
        let count = residual.len().max(1) as f64;
        (sums.0 / count, sums.1 / count)
    }

    /// The first direction: residuals over the diagonal, where there is pressure or should be; returns r·z.
    fn choose_direction(&mut self, q: &[f32]) -> f64 {
        let Workspace { direction, free, residual, inverse_diagonal, .. } = &mut self.work;
        direction.resize(q.len(), 0.0);
        free.resize(q.len(), 0.0);
        let both = free.par_iter_mut().zip(&mut *direction).with_min_len(par::PIECE).enumerate();
        both.for_each(|(i, (free, direction))| {
            // The preconditioner of particles that are not free is zero: nothing reaches them.
            *free = if q[i] > 0.0 || residual[i] > 0.0 { inverse_diagonal[i] } else { 0.0 };
            *direction = *free * residual[i];
        });
        par::sum(q.len(), |i| f64::from(residual[i]) * f64::from(direction[i]))
    }

    /// The image of the direction; returns the curvature along it.
    fn apply(&mut self, dt: f32) -> f64 {
        let mut push = std::mem::take(&mut self.work.push);
        let mut image = std::mem::take(&mut self.work.image);
        let direction = std::mem::take(&mut self.work.direction);
        self.accelerate(&direction, &mut push);
        self.sum_rates(&push, false, &mut image);
        let compliance = self.compliance(dt.into());
        image.par_iter_mut().with_min_len(par::PIECE).zip(&direction).for_each(|(image, &along)| {
            *image = compliance * along - dt * dt * *image;
        });
        let curvature = par::sum(image.len(), |i| f64::from(image[i]) * f64::from(direction[i]));
        (self.work.push, self.work.image, self.work.direction) = (push, image, direction);
        curvature
    }

    /// Goes along the direction; returns r·z there.
    fn follow_direction(&mut self, q: &mut [f32], length: f32, dt: f32) -> f64 {
        let Workspace { direction, residual, image, flow, push, free, .. } = &mut self.work;
        let multipliers = q.par_iter_mut().zip(&mut *residual).with_min_len(par::PIECE).enumerate();
        multipliers.for_each(|(i, (q, r))| {
            *q += length * direction[i];
            *r -= length * image[i];
        });
        let step = length * dt;
        flow.par_iter_mut().with_min_len(par::PIECE).zip(&*push).for_each(|(flow, push)| {
            *flow = std::array::from_fn(|k| if k < 3 { flow[k] + step * push[k] } else { flow[k] });
        });
        par::sum(q.len(), |i| f64::from(residual[i]) * f64::from(residual[i] * free[i]))
    }

    fn turn_direction(&mut self, factor: f32) {
        let Workspace { direction, residual, free, .. } = &mut self.work;
        direction.par_iter_mut().with_min_len(par::PIECE).enumerate().for_each(|(i, direction)| {
            *direction = free[i] * residual[i] + factor * *direction;
        });
    }

    /// Accelerations by multipliers, with 1 as companion; one more than particles.
    fn accelerate(&mut self, multiplier: &[f32], output: &mut Vec<Packed>) {
        let count = multiplier.len();
        let mut place = std::mem::take(&mut self.work.place);
        place[..count].par_iter_mut().with_min_len(par::PIECE).zip(multiplier).for_each(|(place, &q)| place[3] = q);
        output.resize(count + 1, [0.0; 4]);
        let (level, inverse_h, norm) = (self.level, (1.0 / self.h) as f32, self.gradient_norm());
        let (work, particles) = (&self.work, &self.state.particles);
        with_kernel_and_space!(self, |pair| {
            for_each_block(&work.neighbours.blocks, &mut output[..count], |block, piece| {
                dispatch!(level, simd => sum_pressure(simd, pair, block, &place, inverse_h, piece));
                for (k, output) in piece.iter_mut().enumerate() {
                    let i = block.start + k;
                    let rest_density = work.rest_density[usize::from(particles.liquid[i])];
                    let own = (Vec3::from_slice(&work.wall_push[i]) - work.sums[i].gradient) * place[i][3];
                    *output = pack((own - Vec3::from_slice(output) * norm) / rest_density, 1.0);
                }
            });
        });
        output[count] = [0.0; 4];
        self.work.place = place;
    }

    /// ċ under velocities (or accelerations, before walls that do not move).
    fn sum_rates(&self, flow: &[Packed], walls_move: bool, output: &mut Vec<f32>) {
        let (level, inverse_h, norm) = (self.level, (1.0 / self.h) as f32, self.gradient_norm());
        output.resize(self.state.particles.len(), 0.0);
        let work = &self.work;
        with_kernel_and_space!(self, |pair| {
            for_each_block(&work.neighbours.blocks, output, |block, piece| {
                dispatch!(level, simd => sum_rate(simd, pair, block, (&work.place, flow), inverse_h, piece));
                for (k, rate) in piece.iter_mut().enumerate() {
                    let i = block.start + k;
                    let [x, y, z, flux] = work.wall_push[i];
                    let wall = Vec3::new(x, y, z).dot(Vec3::from_slice(&flow[i]));
                    *rate = *rate * norm - wall + if walls_move { flux } else { 0.0 };
                }
            });
        });
    }
}

impl Solved {
    fn is_done(&self, stop: &Stop) -> bool {
        self.error <= stop.error && self.iterations >= stop.iterations[0]
    }
}

/// A multiplier pushes, it never pulls: negative ones are let go. Whether there were any.
fn release(q: &mut [f32]) -> bool {
    let pulls = q.par_iter_mut().with_min_len(par::PIECE).map(|q| {
        let pulls = *q < 0.0;
        *q = q.max(0.0);
        usize::from(pulls)
    });
    pulls.sum::<usize>() > 0
}

/// Σⱼ qⱼ h⁴ ∇Wᵢⱼ for the particles of a block; the companion of a place is q.
#[inline(always)]
fn sum_pressure<S: Simd, K: KernelLanes, P: Space>(
    simd: S,
    (_, space): (K, P),
    block: &Block,
    place: &[Packed],
    inverse_h: f32,
    output: &mut [Packed],
) {
    simd.vectorize(
        #[inline(always)]
        || {
            let inverse_h = splat(simd, inverse_h);
            for (k, output) in output.iter_mut().enumerate() {
                let x_i = splat3(simd, place[block.start + k]);
                let mut sum = [splat(simd, 0.0); 3];
                for eight in block.of(k) {
                    let (x_j, q_j) = gather(simd, place, eight);
                    let d = space.shortest(simd, minus(x_i, x_j));
                    let q = dot(d, d).sqrt() * inverse_h;
                    sum = plus_scaled(sum, q_j * K::slope_over_q(simd, q) * inverse_h, d);
                }
                *output = pack(add_up3(sum), 0.0);
            }
        },
    );
}

/// Σⱼ (vᵢ − vⱼ)·h⁴ ∇Wᵢⱼ for the particles of a block; the companion of a velocity is 1, that of nobody 0.
#[inline(always)]
fn sum_rate<S: Simd, K: KernelLanes, P: Space>(
    simd: S,
    (_, space): (K, P),
    block: &Block,
    (place, flow): (&[Packed], &[Packed]),
    inverse_h: f32,
    output: &mut [f32],
) {
    simd.vectorize(
        #[inline(always)]
        || {
            let inverse_h = splat(simd, inverse_h);
            for (k, output) in output.iter_mut().enumerate() {
                let i = block.start + k;
                let (x_i, v_i) = (splat3(simd, place[i]), splat3(simd, flow[i]));
                let mut sum = splat(simd, 0.0);
                for eight in block.of(k) {
                    let (x_j, _) = gather(simd, place, eight);
                    let (v_j, one) = gather(simd, flow, eight);
                    let d = space.shortest(simd, minus(x_i, x_j));
                    let q = dot(d, d).sqrt() * inverse_h;
                    sum += one * K::slope_over_q(simd, q) * inverse_h * dot(minus(v_i, v_j), d);
                }
                *output = add_up(sum);
            }
        },
    );
}
