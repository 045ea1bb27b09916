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
//! is the slope of the wall fraction that enters c, so that forces stay the gradient of the constraint (taking it twice in the
//! force and once in the rate heats the liquid).
//!
//! Particles in disorder have no velocity that keeps all their compressions: as a shear flow carries them past each other, the
//! density solve pushes them apart, and never together. If that changes velocities it takes energy from the flow, as in sand.
//! `position_correction` leaves velocities to the divergence solve.

pub(crate) mod corrected;
mod pairs;

use crate::density::{self, Sums};
use crate::liquid::{Liquid, Workspace, with_kernel_and_space};
use crate::neighbours::{Block, sum_over_blocks};
use crate::simd::{Packed, Stored3, pack};
use crate::wall_contacts::Contact;
use fearless_simd::dispatch;
use glam::{DVec3, Vec3};
use meniscus_core::{StepError, par};
use pairs::{Pairs, sum_along, sum_moment, sum_pressure, sum_rate, sum_square};
use rayon::prelude::*;

/// Below this compression a particle belongs to spray or to a surface: its velocity may converge freely.
const SPRAY_COMPRESSION: f32 = 0.75;

/// What rounding in single precision leaves of a compression.
pub(crate) const ROUNDING: f64 = 2e-6;

/// Part of the first error that may be left where the liquid is in violent motion.
const ERROR_LEFT: f64 = 0.05;

/// Most memory for the gradients of pairs \[bytes\]: what the caches hold is read faster than made anew in every pass, what they
/// do not hold is not.
const MAX_PAIR_BYTES: usize = 4 << 20;

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
    /// Error at which to stop, or a part of the first one, but not above `most`.
    error: f64,
    most: f64,
    iterations: [u32; 2],
    /// Whether pressure that is too high counts as an error, too. Under gravity it is soon found out; in a drop, where all liquid is under
    /// one pressure, it would drive the liquid apart and vanish, again and again.
    both_ways: bool,
}

/// Which of the two solves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Aim {
    /// No divergence of the velocity.
    Divergence,
    /// No compression at the end of the step.
    Density,
    /// No divergence of the velocity, with corrected gradients.
    Projection,
    /// No compression at the end of the step, by moving positions alone.
    Shift,
}

impl Liquid {
    /// Compression with the sums of gradients that the solves need.
    ///
    /// # Errors
    /// When a density is not finite.
    pub fn sum_density_and_gradients(&mut self) -> Result<(), StepError> {
        self.sum_pairs();
        self.add_wall_fractions();
        self.finish_density()?;
        self.sum_squares();
        self.prepare_diagonal();
        Ok(())
    }

    /// Compression without walls, the sums of gradients, and the slope of the kernel between all pairs.
    pub(crate) fn sum_pairs(&mut self) {
        let (level, inverse_h, position) = (self.level, (1.0 / self.h) as f32, &self.work.position);
        let output = &mut self.work.sums;
        output.resize(self.state.particles.len(), Sums::default());
        let slopes = &mut self.work.slopes;
        let (blocks, gradients) = (&self.work.neighbours.blocks, &mut self.work.gradients);
        slopes.resize_with(blocks.len(), Vec::new);
        gradients.resize_with(blocks.len(), Vec::new);
        let groups: usize = blocks.iter().map(Block::group_count).sum();
        let keep = groups * size_of::<Stored3>() <= MAX_PAIR_BYTES;
        with_kernel_and_space!(self, |pair| {
            let pieces = output.par_chunks_mut(par::PIECE).zip(&mut *slopes).zip(&mut *gradients);
            blocks.par_iter().with_max_len(par::BATCH).zip(pieces).for_each(|(block, ((sums, slopes), gradients))| {
                let output = (sums, slopes, gradients);
                dispatch!(level, simd => density::sum_with_gradients(simd, pair, block, position, inverse_h, output, keep));
            });
        });
        let (value, gradient) = (self.value_norm(), self.gradient_norm());
        let (sums, compression) = (&mut self.work.sums, &mut self.work.compression);
        compression.resize(sums.len(), 0.0);
        compression.par_iter_mut().zip(sums).with_min_len(par::LIGHT).for_each(|(c, sums)| {
            *c = sums.value * value;
            sums.gradient *= gradient;
            sums.square *= gradient * gradient;
            sums.moment *= value;
        });
    }

    /// How hard particles of different materials are to move; nothing to spread where they are all alike.
    pub(crate) fn spread_inertias(&mut self) {
        let mut inertia = std::mem::take(&mut self.work.inertia);
        self.inertias(&mut inertia);
        let lightness = &mut self.work.lightness;
        lightness.clear();
        if inertia.iter().any(|&i| i != inertia[0]) {
            lightness.extend(self.state.particles.liquid.iter().map(|&l| 1.0 / inertia[usize::from(l)]));
            lightness.push(0.0);
        }
        self.work.inertia = inertia;
    }

    /// Σⱼ |g|²/ρ0ⱼ where neighbours differ in density.
    fn sum_squares(&mut self) {
        let work = &mut self.work;
        if work.lightness.is_empty() {
            work.squares.clear();
            return;
        }
        let (level, mut output) = (self.level, std::mem::take(&mut work.squares));
        output.resize(self.state.particles.len(), 0.0);
        let (position, slopes, lightness) = (&self.work.position, &self.work.slopes, &self.work.lightness);
        let norm = self.gradient_norm() * self.gradient_norm();
        with_kernel_and_space!(self, |pair| {
            let pieces = output.par_chunks_mut(par::PIECE).zip(slopes);
            self.work.neighbours.blocks.par_iter().zip(pieces).for_each(|(block, (piece, slopes))| {
                dispatch!(level, simd => sum_square(simd, pair.1, (block, slopes), (position, lightness), piece));
                piece.iter_mut().for_each(|square| *square *= norm);
            });
        });
        self.work.squares = output;
    }

    /// Wall terms per particle, and 1/Aᵢ.
    fn prepare_diagonal(&mut self) {
        let count = self.state.particles.len();
        let volume = self.rest_volume();
        let Self { work, bodies, state, phases, .. } = self;
        work.gamma_gradients.resize(count, [0.0; 4]);
        work.inverse_diagonal.resize(count, 0.0);
        let (sums, liquids) = (&work.sums, &state.particles.liquid);
        let (inertia, among_others, in_pores) = (&work.inertia, &work.squares, &phases.in_pores);
        let pieces =
            work.gamma_gradients.par_chunks_mut(par::PIECE).zip(work.inverse_diagonal.par_chunks_mut(par::PIECE));
        let pieces = pieces.zip(work.contacts.par_iter().zip(&work.links)).enumerate();
        pieces.for_each(|(number, ((walls, inverses), (contacts, links)))| {
            let start = number * par::PIECE;
            walls.fill([0.0; 4]);
            for contact in contacts {
                let wall = &mut walls[contact.particle as usize - start];
                let sum = pack(contact.gamma_gradient, contact.gamma_rate);
                *wall = std::array::from_fn(|k| wall[k] + sum[k]);
            }
            // How fast bodies give way to a particle's own push.
            inverses.fill(0.0);
            for link in links {
                let node_compliance = bodies.node_compliance(link.node) * volume;
                inverses[link.particle as usize - start] += link.weight.length_squared() * node_compliance as f32;
            }
            for (k, (inverse, wall)) in inverses.iter_mut().zip(walls).enumerate() {
                let sums = &sums[start + k];
                let total = sums.gradient - Vec3::from_slice(wall);
                let own = inertia[usize::from(liquids[start + k])] * in_pores.hindrance(start + k);
                let diagonal = *inverse
                    + match among_others.get(start + k) {
                        None => (total.length_squared() + sums.square) / own,
                        Some(square) => total.length_squared() / own + square,
                    };
                *inverse = if diagonal > 1e-12 { 1.0 / diagonal } else { 0.0 };
            }
        });
    }

    /// Frees the velocity of divergence. Where gradients are corrected, it corrects them, and leaves that to
    /// [`Liquid::find_pressure`].
    ///
    /// # Errors
    /// When a velocity is not finite.
    pub fn remove_divergence(&mut self, dt: f64) -> Result<Solved, StepError> {
        let solver = &self.setup.params;
        let error = solver.divergence_error;
        let stop = Stop { error, most: error, iterations: [0, solver.max_divergence_iterations], both_ways: false };
        self.work.acceleration.resize(self.state.particles.len(), Vec3::ZERO);
        self.work.acceleration.fill(Vec3::ZERO);
        self.bodies.start_from_nothing();
        if self.corrects_gradients() {
            self.correct_gradients();
            self.turn_divergence();
            self.work.divergence_pressure.clear();
            self.work.divergence_pressure.resize(self.state.particles.len(), 0.0);
            return Ok(Solved { converged: true, ..Solved::default() });
        }
        let solved = self.solve(Aim::Divergence, dt, stop);
        let velocity = self.state.particles.velocity.par_iter_mut().with_min_len(par::LIGHT);
        velocity.zip(&self.work.flow).for_each(|(v, flow)| *v = Vec3::from_slice(flow));
        self.check("remove divergence", "velocity", |p, i| p.velocity[i].is_finite())?;
        Ok(solved)
    }

    /// Finds the pressure that leaves no compression at the end of the step, and adds its acceleration.
    ///
    /// # Errors
    /// When a pressure is not finite.
    pub fn find_pressure(&mut self, gravity: DVec3, dt: f64) -> Result<Solved, StepError> {
        if self.corrects_gradients() {
            return self.project_and_shift(gravity, dt);
        }
        let solver = &self.setup.params;
        let error = self.error_of_pressure(gravity, dt).min(solver.density_error);
        let error = error.max(ROUNDING * self.share_taken_back(dt));
        let most = solver.density_error.max(error);
        let stop = Stop {
            error,
            most,
            iterations: [1, solver.max_density_iterations],
            both_ways: self.strongest_tension() > 0.0,
        };
        if self.setup.params.position_correction {
            self.work.own_acceleration.clone_from(&self.work.acceleration);
        }
        self.add_mirror_pressure(gravity.as_vec3());
        self.start_bodies();
        let solved = self.solve(Aim::Density, dt, stop);
        let inverse_dt = (1.0 / dt) as f32;
        let Workspace { flow, acceleration, .. } = &mut self.work;
        let velocity = &self.state.particles.velocity;
        acceleration.par_iter_mut().with_min_len(par::LIGHT).enumerate().for_each(|(i, a)| {
            *a = (Vec3::from_slice(&flow[i]) - velocity[i]) * inverse_dt;
        });
        self.report_pressure(gravity.as_vec3());
        self.react_to(|liquid, _, i| liquid.felt_pressure(i));
        self.push_bodies(gravity.as_vec3(), |liquid, i| {
            let multiplier = liquid.state.particles.multiplier[i];
            [multiplier + liquid.work.divergence_pressure[i], multiplier, 1.0]
        });
        self.check("find pressure", "pressure", |p, i| p.pressure[i].is_finite())?;
        let acceleration = &self.work.acceleration;
        self.check("find pressure", "acceleration", |_, i| acceleration[i].is_finite())?;
        Ok(solved)
    }

    /// The compression that a step under the error that pressure may have would leave: infinite where nothing drives the liquid.
    fn error_of_pressure(&self, gravity: DVec3, dt: f64) -> f64 {
        // How much a step of free fall would compress a column of the height that gives the expected speed.
        let fall = 2.0 * (gravity.length() * dt / self.setup.speed).powi(2);
        // How much a step of surface tension would compress a drop of twenty spacings in the mean: p dt²/(ρ s²) in its outermost
        // layer, which is 3 s/R of it.
        let spacing = self.setup.params.spacing;
        let squeeze = 6.0 / 400.0 * self.strongest_tension() * dt * dt / (spacing * spacing * spacing);
        let of = |drive: f64| if drive > 0.0 { self.setup.params.pressure_error * drive } else { f64::INFINITY };
        of(fall).min(of(squeeze))
    }

    /// The part of the wall's pressure that does not depend on the liquid's: see [`Liquid::mirror_pressure`].
    fn add_mirror_pressure(&mut self, gravity: Vec3) {
        for contact in self.work.contacts.iter().flatten() {
            let i = contact.particle as usize;
            let pressure = self.mirror_pressure(contact, gravity, self.state.particles.multiplier[i]);
            if pressure != 0.0 {
                let rest_density = self.work.rest_density[usize::from(self.state.particles.liquid[i])];
                self.work.acceleration[i] +=
                    self.phases.let_through(i, contact.gamma_gradient * (pressure / rest_density));
            }
        }
        self.react_to(|liquid, contact, i| {
            liquid.mirror_pressure(contact, gravity, liquid.state.particles.multiplier[i])
        });
    }

    /// The reaction of walls to a pressure of particles \[Pa\]; bodies have theirs from [`Liquid::push_bodies`].
    fn react_to(&mut self, pressure: impl Fn(&Self, &Contact, usize) -> f32) {
        let mut reactions = std::mem::take(&mut self.work.reactions);
        let walls = self.walls.len();
        let on_walls = self.work.contacts.iter().flatten().filter(|contact| usize::from(contact.wall) < walls);
        for contact in on_walls {
            let i = contact.particle as usize;
            let on_particle =
                contact.gamma_gradient.as_dvec3() * (f64::from(pressure(self, contact, i)) * self.rest_volume());
            reactions[usize::from(contact.wall)].push(self.state.particles.position[i].as_dvec3(), -on_particle);
        }
        self.work.reactions = reactions;
    }

    /// Pressure as the stress that particles pass on: half of the moment of the forces between a particle and its
    /// neighbours, over its volume, in the mean over all directions. Beside a wall layers form and stress differs with
    /// direction: there it is the part along the wall's normal, with the wall's own ∇γ.
    fn report_pressure(&mut self, gravity: Vec3) {
        let mut position = std::mem::take(&mut self.work.position);
        let companions = position[..self.state.particles.len()].par_iter_mut().with_min_len(par::LIGHT);
        companions.enumerate().for_each(|(i, position)| position[3] = self.felt_pressure(i));
        self.work.position = position;
        let mut pressure = std::mem::take(&mut self.state.particles.pressure);
        let (work, multiplier, level) = (&self.work, &self.state.particles.multiplier, self.level);
        let of = |i: usize| self.felt_pressure(i);
        let norm = self.value_norm() * (1.0 / self.h) as f32;
        let blocks = work.neighbours.blocks.par_iter().zip(&work.slopes).zip(&work.contacts);
        let blocks = blocks.zip(pressure.par_chunks_mut(par::PIECE));
        blocks.for_each(|(((block, slopes), contacts), pressure)| {
            with_kernel_and_space!(self, |pair| {
                dispatch!(level, simd => sum_moment(simd, pair.1, (block, slopes), &work.position, pressure));
            });
            for (i, pressure) in (block.start..).zip(&mut *pressure) {
                *pressure = 0.5 * (work.sums[i].moment * of(i) + *pressure * norm);
            }
            for contact in contacts.iter().filter(|contact| contact.wall_fraction > 1e-6) {
                let i = contact.particle as usize;
                let from_wall = of(i) + self.mirror_pressure(contact, gravity, multiplier[i]);
                let lists = (block, &slopes[..]);
                let from_others = with_kernel_and_space!(self, |pair| {
                    dispatch!(level, simd => sum_along(simd, pair.1, lists, &work.position, (i, contact.normal)))
                });
                pressure[i - block.start] = from_others * self.gradient_norm()
                    + from_wall * contact.gamma_gradient.dot(contact.normal) * contact.distance;
            }
        });
        self.state.particles.pressure = pressure;
    }

    /// The pressure by which velocities change in a step \[Pa\].
    fn felt_pressure(&self, i: usize) -> f32 {
        let by_density = if self.setup.params.position_correction { 0.0 } else { self.state.particles.multiplier[i] };
        by_density + self.work.divergence_pressure[i]
    }

    /// Solves for multipliers that leave no positive residual; at the end `work.flow` holds the corrected velocities.
    fn solve(&mut self, aim: Aim, dt: f64, mut stop: Stop) -> Solved {
        let dt = dt as f32;
        let mut solved = Solved::default();
        let mut q = std::mem::take(match aim {
            Aim::Divergence | Aim::Shift => &mut self.work.divergence_pressure,
            Aim::Density | Aim::Projection => &mut self.state.particles.multiplier,
        });
        q.resize(self.state.particles.len(), 0.0);
        let warm = matches!(aim, Aim::Density | Aim::Projection);
        if !warm {
            q.fill(0.0);
        }
        self.set_velocities(&q, warm, dt);
        let mut response_of = warm;
        loop {
            if !response_of {
                self.yield_bodies(&q);
            }
            solved.error = self.set_residuals(aim, &q, dt, stop.both_ways);
            if solved.iterations == 0 {
                stop.error = stop.error.max(ERROR_LEFT * solved.error).min(stop.most);
            }
            if solved.is_done(&stop) || solved.iterations >= stop.iterations[1] {
                break;
            }
            let before = solved.iterations;
            self.descend(&mut q, dt, &stop, &mut solved);
            let pulled = release(&mut q, &self.work.corrected.pulls);
            if pulled {
                self.set_velocities(&q, true, dt);
            }
            response_of = pulled;
            let stuck = solved.iterations == before;
            if stuck || solved.iterations >= stop.iterations[1] || !pulled && solved.is_done(&stop) {
                break;
            }
        }
        solved.converged = solved.error <= stop.error;
        match aim {
            Aim::Divergence | Aim::Shift => self.work.divergence_pressure = q,
            Aim::Density | Aim::Projection => self.state.particles.multiplier = q,
        }
        solved
    }

    /// Conjugate gradients over the particles that press or are pressed; the others stay at zero. The direction is the
    /// companion of the positions.
    fn descend(&mut self, q: &mut [f32], dt: f32, stop: &Stop, solved: &mut Solved) {
        let mut slope = self.choose_direction(q);
        while solved.iterations < stop.iterations[1] && slope > 0.0 {
            let curvature = self.apply(dt);
            solved.iterations += 1;
            if curvature <= 0.0 {
                break;
            }
            let Progress { slope: next, error, free_error } =
                self.follow_direction(q, (slope / curvature) as f32, dt, stop.both_ways);
            solved.error = error;
            // When most of the error lies with particles that are not free, it is time to choose anew.
            if solved.is_done(stop) || free_error < 0.3 * (error - free_error) {
                break;
            }
            self.turn_direction((next / slope) as f32);
            slope = next;
        }
    }

    /// v + Δt a into `work.flow`, with the acceleration by the multipliers unless they are all zero; to these bodies give way, too.
    fn set_velocities(&mut self, q: &[f32], pushed: bool, dt: f32) {
        let count = q.len();
        let mut flow = std::mem::take(&mut self.work.flow);
        if pushed {
            let position = self.work.position[..count].par_iter_mut().with_min_len(par::LIGHT);
            position.zip(q).for_each(|(position, &q)| position[3] = q);
            self.response(&mut flow, true);
        } else {
            flow.clear();
            flow.resize(count + 1, [0.0; 4]);
        }
        let (velocity, acceleration) = (&self.state.particles.velocity, &self.work.acceleration);
        flow[..count].par_iter_mut().with_min_len(par::LIGHT).enumerate().for_each(|(i, flow)| {
            *flow = pack(velocity[i] + (acceleration[i] + Vec3::from_slice(flow)) * dt, 0.0);
        });
        self.work.flow = flow;
    }

    /// Residuals under the velocities of `work.flow` and bodies that have response_of; returns the mean of what they miss their condition by.
    fn set_residuals(&mut self, aim: Aim, q: &[f32], dt: f32, both_ways: bool) -> f64 {
        let mut residual = std::mem::take(&mut self.work.residual);
        let mut partial = std::mem::take(&mut self.work.partial);
        let corrected = &self.work.corrected;
        let (walls, pulls) =
            (if corrected.on { &corrected.gamma_gradients } else { &self.work.gamma_gradients }, &corrected.pulls);
        let compression = &self.work.compression;
        let (share, compliance) = (self.share_taken_back(dt.into()) as f32, self.compliance(dt.into()));
        let (phases, liquids) = (&self.phases, &self.state.particles.liquid);
        let error = self.sum_rates((&self.work.flow, dt), &mut residual, &mut partial, |i, rate| {
            let (c, rate) = (compression[i], rate + walls[i][3]);
            let residual = match aim {
                // Nothing is asked of the inside of solids.
                _ if phases.is_solid(liquids[i]) => 0.0,
                Aim::Density | Aim::Shift => (c - 1.0).min(share * (c - 1.0)) + dt * rate - compliance * q[i],
                Aim::Divergence | Aim::Projection if c < SPRAY_COMPRESSION => 0.0,
                Aim::Divergence => dt * rate - compliance * q[i],
                Aim::Projection => dt * (rate + corrected.turned[i]) - compliance * q[i],
            };
            (residual, miss(residual, q[i], both_ways, may_pull(pulls, i)))
        });
        (self.work.residual, self.work.partial) = (residual, partial);
        error / q.len().max(1) as f64
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

    /// The first direction: residuals over the diagonal, where there is pressure or should be; returns r·z.
    fn choose_direction(&mut self, q: &[f32]) -> f64 {
        let Workspace { position, free, residual, inverse_diagonal, corrected, .. } = &mut self.work;
        free.resize(q.len(), 0.0);
        let both = free.par_iter_mut().zip(&mut position[..q.len()]).with_min_len(par::LIGHT).enumerate();
        both.for_each(|(i, (free, position))| {
            // The preconditioner of particles that are not free is zero: nothing reaches them.
            let is_free = q[i] > 0.0 || residual[i] > 0.0 || may_pull(&corrected.pulls, i);
            *free = if is_free { inverse_diagonal[i] } else { 0.0 };
            position[3] = *free * residual[i];
        });
        par::sum(q.len(), |i| f64::from(residual[i]) * f64::from(position[i][3]))
    }

    /// The image of the direction; returns the curvature along it.
    fn apply(&mut self, dt: f32) -> f64 {
        let mut push = std::mem::take(&mut self.work.push);
        let mut image = std::mem::take(&mut self.work.image);
        let mut partial = std::mem::take(&mut self.work.partial);
        self.response(&mut push, false);
        let (position, compliance) = (&self.work.position, self.compliance(dt.into()));
        let curvature = self.sum_rates((&push, 1.0), &mut image, &mut partial, |i, rate| {
            let image = compliance * position[i][3] - dt * dt * rate;
            (image, image * position[i][3])
        });
        (self.work.push, self.work.image, self.work.partial) = (push, image, partial);
        curvature
    }

    /// Goes along the direction.
    fn follow_direction(&mut self, q: &mut [f32], length: f32, dt: f32, both_ways: bool) -> Progress {
        let Workspace { position, residual, image, flow, push, free, progress, corrected, .. } = &mut self.work;
        let count = q.len();
        progress.resize(count.div_ceil(par::PIECE), Progress::default());
        let pieces = q.par_chunks_mut(par::PIECE).zip(residual.par_chunks_mut(par::PIECE));
        let pieces = pieces.zip(flow[..count].par_chunks_mut(par::PIECE)).zip(&mut *progress);
        pieces.with_min_len(par::LIGHT / par::PIECE).enumerate().for_each(|(n, (((q, residual), flow), progress))| {
            *progress = Progress::default();
            for (k, (q, (r, flow))) in q.iter_mut().zip(residual.iter_mut().zip(flow)).enumerate() {
                let i = n * par::PIECE + k;
                *q += length * position[i][3];
                *r -= length * image[i];
                *flow = pack(Vec3::from_slice(flow) + Vec3::from_slice(&push[i]) * (length * dt), 0.0);
                let (error, free) =
                    (f64::from(miss(*r, *q, both_ways, may_pull(&corrected.pulls, i))), f64::from(free[i]));
                progress.slope += f64::from(*r) * f64::from(*r) * free;
                progress.error += error;
                progress.free_error += if free > 0.0 { error } else { 0.0 };
            }
        });
        let sum = progress.iter().fold(Progress::default(), |a, b| Progress {
            slope: a.slope + b.slope,
            error: a.error + b.error,
            free_error: a.free_error + b.free_error,
        });
        let mean = 1.0 / count.max(1) as f64;
        Progress { slope: sum.slope, error: sum.error * mean, free_error: sum.free_error * mean }
    }

    fn turn_direction(&mut self, factor: f32) {
        let Workspace { position, residual, free, .. } = &mut self.work;
        position[..residual.len()].par_iter_mut().with_min_len(par::LIGHT).enumerate().for_each(|(i, position)| {
            position[3] = free[i] * residual[i] + factor * position[3];
        });
    }

    /// Accelerations by the multipliers that are the companions of the positions; one more than particles.
    pub(crate) fn accelerate(&self, output: &mut Vec<Packed>) {
        if self.work.corrected.on {
            return self.accelerate_corrected(output);
        }
        let (work, particles, in_pores) = (&self.work, &self.state.particles, &self.phases.in_pores);
        let count = particles.len();
        output.resize(count + 1, [0.0; 4]);
        let (level, norm) = (self.level, self.gradient_norm());
        let blocks = work.neighbours.blocks.par_iter().with_max_len(par::BATCH);
        let blocks = blocks.zip(&work.slopes).zip(&work.gradients);
        with_kernel_and_space!(self, |pair| {
            let pieces = output[..count].par_chunks_mut(par::PIECE);
            blocks.zip(pieces).for_each(|(((block, slopes), gradients), piece)| {
                let pairs = Pairs { block, slopes, gradients };
                dispatch!(level, simd => sum_pressure(simd, pair.1, pairs, &work.position, piece));
                for (k, output) in piece.iter_mut().enumerate() {
                    let i = block.start + k;
                    let rest_density = work.inertia[usize::from(particles.liquid[i])] * in_pores.hindrance(i);
                    let own =
                        (Vec3::from_slice(&work.gamma_gradients[i]) - work.sums[i].gradient) * work.position[i][3];
                    *output = pack((own - Vec3::from_slice(output) * norm) / rest_density, 0.0);
                }
            });
        });
        output[count] = [0.0; 4];
        if work.corrected.shifts {
            self.phases.hold(output);
        } else {
            self.phases.respond_as_rigid(&particles.position, output);
        }
    }

    /// ċ under velocities (or accelerations) before walls at rest and bodies that give way for a time (or just give way), as
    /// `finish` turns it into an output; returns the sum of the second numbers of `finish`.
    fn sum_rates(
        &self,
        (flow, time): (&[Packed], f32),
        output: &mut Vec<f32>,
        partial: &mut Vec<f64>,
        finish: impl Fn(usize, f32) -> (f32, f32) + Sync,
    ) -> f64 {
        if self.work.corrected.on {
            return self.sum_rates_corrected((flow, time), output, partial, finish);
        }
        let (level, norm, work) = (self.level, self.gradient_norm(), &self.work);
        output.resize(self.state.particles.len(), 0.0);
        with_kernel_and_space!(self, |pair| {
            sum_over_blocks(&work.neighbours.blocks, output, partial, |number, block, piece| {
                let pairs = Pairs { block, slopes: &work.slopes[number], gradients: &work.gradients[number] };
                dispatch!(level, simd => sum_rate(simd, pair.1, pairs, (&work.position, flow), piece));
                for link in work.links[number].iter().filter(|_| !work.corrected.shifts) {
                    let rate = link.weight.dot(self.bodies.response_of(link.node)) * time;
                    piece[link.particle as usize - block.start] += rate / norm;
                }
                let mut sum = 0.0;
                for (k, output) in piece.iter_mut().enumerate() {
                    let i = block.start + k;
                    let wall = Vec3::from_slice(&work.gamma_gradients[i]).dot(Vec3::from_slice(&flow[i]));
                    let (value, summed) = finish(i, *output * norm - wall);
                    *output = value;
                    sum += f64::from(summed);
                }
                sum
            })
        })
    }
}

/// Where a step along a direction has led.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Progress {
    /// r·z.
    slope: f64,
    /// Mean of the positive residuals: of all particles.
    error: f64,
    /// And of the free ones.
    free_error: f64,
}

impl Solved {
    fn is_done(&self, stop: &Stop) -> bool {
        self.error <= stop.error && self.iterations >= stop.iterations[0]
    }
}

/// What a residual misses its condition by, with a multiplier q.
fn miss(residual: f32, q: f32, both_ways: bool, may_pull: bool) -> f32 {
    if both_ways && q > 0.0 || may_pull { residual.abs() } else { residual.max(0.0) }
}

/// Whether a multiplier may pull: of those that are asked for.
fn may_pull(pulls: &[bool], i: usize) -> bool {
    pulls.get(i).is_some_and(|&pulls| pulls)
}

/// A multiplier pushes, and pulls only where it may: other negative ones are let go. Whether there were any.
fn release(q: &mut [f32], pulls: &[bool]) -> bool {
    let released = q.par_iter_mut().with_min_len(par::LIGHT).enumerate().map(|(i, q)| {
        if may_pull(pulls, i) {
            return 0;
        }
        let pulled = *q < 0.0;
        *q = q.max(0.0);
        usize::from(pulled)
    });
    released.sum::<usize>() > 0
}
