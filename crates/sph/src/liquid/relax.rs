//! A start at rest: particles make room before the first step.
//!
//! A fill puts particles on a lattice, which walls, bodies and other fills cut where they like. What lies too near to them is too dense, and
//! the first steps would drive it apart. Here the density solve moves positions alone,
//!
//! > x += δ,  cᵢ(x + δ) ≤ 1,
//!
//! a part at a time, until hardly any compression is left; velocities stay as they are given.
//!
//! In disorder that is new, an even pressure pushes particles about, Σⱼ (Lᵢ + Lⱼ) gᵢⱼ ≠ 0, and by such motions liquid that has no divergence gives
//! way: a pool whose lattice a ball has cut starts with three quarters of its head. It takes shifts of a hundredth of a spacing to end that. So
//! particles settle: under gravity and pressure, among walls and bodies that stay where they are, each goes a little along what its acceleration
//! from rest has against the best linear field through those of its neighbours, a′ = R a / 4.4, and makes room again,
//!
//! > x += β s² a′/(p/ρ0 + s |g|),
//!
//! as what it is pushed with when it moves grows with the pressure that it is under, until little is left. Then the pressure of the first step is found, from nothing: conjugate gradients carry it some layer further with each
//! iteration, so that deep liquid needs more of them than a step may take, and would be thrown up by what it lacks.

use crate::liquid::Liquid;
use crate::liquid::dfsph::{ROUNDING, Solved};
use crate::simd::Packed;
use glam::{DVec3, Vec3};
use meniscus_boundary::Boundaries;
use meniscus_core::{StepError, par};
use rayon::prelude::*;

/// Part of the compression that a round takes back.
const PART: f64 = 0.4;

/// Farthest that a particle moves in a round, in spacings.
const FARTHEST: f32 = 0.1;

/// What may be left, in units of what a step may leave.
const ERROR_LEFT: f64 = 5.0;

/// Most rounds.
const MAX_ROUNDS: u32 = 40;

/// β: how far particles go in a round of settling, dimensionless. With twice as much they overshoot in pools of thirty layers.
const SETTLING: f32 = 0.15;

/// Most rounds of settling.
const MAX_SETTLING_ROUNDS: u32 = 30;

/// Root of the mean square of a′, over gravity, with which liquid counts as settled. A lattice in a tank starts with 0.08, for its edges, one that is
/// cut by a ball with 0.3.
const UNSETTLED: f64 = 0.1;

/// R of what one particle does alone: 2 s² Σⱼ wᵢⱼ of a lattice, with the cubic spline at h = 2 s.
const ALONE: f64 = 4.4;

/// Most iterations for the pressure of the first step.
const MAX_PRESSURE_ITERATIONS: u32 = 3000;

/// What it took to make room.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Relaxed {
    /// Rounds taken.
    pub rounds: u32,
    /// Mean compression above rest before and after, dimensionless.
    pub compression: [f64; 2],
    /// Rounds of settling taken.
    pub settling_rounds: u32,
    /// Root of the mean square of what accelerations from rest have against those of their neighbours before and after settling, over gravity.
    pub unrest: [f64; 2],
    /// Iterations of the solves for the pressure of the first step.
    pub pressure_iterations: u32,
    /// Whether no more compression is left than five times what a step may leave.
    pub converged: bool,
    /// Whether the pressure is found.
    pub pressure_found: bool,
}

impl Liquid {
    /// Moves particles apart where they are too dense, before walls that have been placed for a step, and bodies, and finds their pressure
    /// under gravity \[m/s²\]. Nothing without `relax` or with plain gradients, whose velocities make room as soon as they start.
    ///
    /// # Errors
    /// When a density or a force is not finite.
    pub fn relax(&mut self, placed: &Boundaries, gravity: DVec3) -> Result<Relaxed, StepError> {
        let params = &self.setup.params;
        let mut relaxed = Relaxed { converged: true, pressure_found: true, ..Relaxed::default() };
        if !(params.relax && self.corrects_gradients()) || self.state.particles.is_empty() {
            return Ok(relaxed);
        }
        let (last_step, dt) = (self.state.last_step, PART * params.spacing / self.setup.speed);
        let most = ERROR_LEFT * params.density_error;
        loop {
            let left = self.sum_start(placed)?;
            relaxed.compression[1] = left;
            if relaxed.rounds == 0 {
                relaxed.compression[0] = left;
            }
            relaxed.converged = left <= most;
            if relaxed.converged || relaxed.rounds == MAX_ROUNDS {
                break;
            }
            self.make_room(dt);
            relaxed.rounds += 1;
        }
        if gravity != DVec3::ZERO {
            self.settle(placed, gravity, &mut relaxed)?;
        }
        let found = self.find_first_pressure(gravity)?;
        relaxed.pressure_iterations = found.iterations;
        relaxed.pressure_found = found.converged;
        self.state.last_step = last_step;
        Ok(relaxed)
    }

    /// Moves particles until pressure holds them where they are.
    fn settle(&mut self, placed: &Boundaries, gravity: DVec3, relaxed: &mut Relaxed) -> Result<(), StepError> {
        let dt = self.time_of_fall(gravity);
        let make_room_in = PART * self.setup.params.spacing / self.setup.speed;
        loop {
            let unrest = self.unrest(gravity, dt)? / gravity.length();
            relaxed.unrest[1] = unrest;
            if relaxed.settling_rounds == 0 {
                relaxed.unrest[0] = unrest;
            }
            if unrest <= UNSETTLED || relaxed.settling_rounds == MAX_SETTLING_ROUNDS {
                return Ok(());
            }
            self.scale_by_pressure(gravity, dt);
            let moves = std::mem::take(&mut self.work.push);
            self.move_along(&moves, 1.0);
            self.work.push = moves;
            self.sum_start(placed)?;
            self.make_room(make_room_in);
            self.sum_start(placed)?;
            relaxed.settling_rounds += 1;
        }
    }

    /// Turns R of the velocities after `dt` from rest into how far particles go in a round of settling \[m\].
    fn scale_by_pressure(&mut self, gravity: DVec3, dt: f64) {
        let (spacing, inverse_dt) = (self.setup.params.spacing as f32, (1.0 / (ALONE * dt)) as f32);
        let own = spacing * gravity.length() as f32;
        let (particles, rest) = (&self.state.particles, &self.work.rest_density);
        let moves = self.work.push.iter_mut().zip(&particles.multiplier).zip(&particles.liquid);
        for ((v, q), &liquid) in moves {
            let pressed = q.max(0.0) / rest[usize::from(liquid)] + own;
            let factor = SETTLING * spacing * spacing * inverse_dt / pressed;
            v.iter_mut().for_each(|v| *v *= factor);
        }
    }

    /// The time in which liquid falls by a part of a spacing from rest \[s\].
    fn time_of_fall(&self, gravity: DVec3) -> f64 {
        libm::sqrt(PART * self.setup.params.spacing / gravity.length())
    }

    /// R of the velocities that the liquid has after `dt` from rest, among walls and bodies that stay, into `work.push`; returns the root of the
    /// mean square of a′ \[m/s²\].
    fn unrest(&mut self, gravity: DVec3, dt: f64) -> Result<f64, StepError> {
        self.remove_divergence(dt)?;
        self.work.corrected.turned.fill(0.0);
        self.accelerate_from_rest(gravity, dt);
        self.add_mirror_heads(gravity.as_vec3());
        self.bodies.start_from_nothing();
        self.work.corrected.holds_bodies = true;
        self.project(dt, PART * ROUNDING, MAX_PRESSURE_ITERATIONS);
        self.work.corrected.holds_bodies = false;
        let (mut rough, mut rows) =
            (std::mem::take(&mut self.work.push), std::mem::take(&mut self.work.corrected.rows));
        self.roughen_against_fit(&self.work.corrected.projected, &mut rows, &mut rough);
        (self.work.push, self.work.corrected.rows) = (rough, rows);
        let (rough, count) = (&self.work.push, self.state.particles.len());
        let sum = par::sum(count, |i| f64::from(Vec3::from_slice(&rough[i]).length_squared()));
        Ok(libm::sqrt(sum / count as f64) / (ALONE * dt))
    }

    /// Accelerations with which liquid that falls from rest reaches its velocity within a step, whatever its velocities are.
    fn accelerate_from_rest(&mut self, gravity: DVec3, dt: f64) {
        let (gravity, inverse_dt) = (gravity.as_vec3(), (1.0 / dt) as f32);
        let acceleration = &mut self.work.acceleration;
        acceleration.clear();
        acceleration.extend(self.state.particles.velocity.iter().map(|v| gravity - *v * inverse_dt));
    }

    /// The pressure with which the first step will start. A mean divergence says little about deep liquid, which falls as a whole but for
    /// its lowest layers: so all is solved for that single precision can tell.
    fn find_first_pressure(&mut self, gravity: DVec3) -> Result<Solved, StepError> {
        let spacing = self.setup.params.spacing;
        let fastest =
            par::max(self.state.particles.len(), 0.0, |i| f64::from(self.state.particles.velocity[i].length()));
        // A fall by a part of a spacing is told from rounding best.
        let speed = libm::sqrt(PART * spacing * gravity.length()) + fastest;
        if speed == 0.0 {
            return Ok(Solved { converged: true, ..Solved::default() });
        }
        let dt = PART * spacing / speed;
        self.remove_divergence(dt)?;
        self.sum_forces(gravity, dt)?;
        self.bodies.predict(gravity);
        self.start_bodies();
        let forces = self.work.acceleration.clone();
        let first = self.project(dt, PART * ROUNDING, MAX_PRESSURE_ITERATIONS);
        // Walls feel the head before them where there is pressure.
        self.work.acceleration.clone_from(&forces);
        self.add_mirror_heads(gravity.as_vec3());
        let mut found = self.project(dt, PART * ROUNDING, MAX_PRESSURE_ITERATIONS);
        found.iterations += first.iterations;
        let particles = &mut self.state.particles;
        particles.pressure.clone_from(&particles.multiplier);
        Ok(found)
    }

    /// As [`Liquid::sort`], before the first step: nozzles are shut.
    fn put_in_order(&mut self) {
        let emitters = std::mem::take(&mut self.setup.emitters);
        self.sort(0.0, 0.0);
        self.setup.emitters = emitters;
    }

    /// Compression at the start; returns the mean of what lies above rest.
    fn sum_start(&mut self, placed: &Boundaries) -> Result<f64, StepError> {
        self.put_in_order();
        self.find_neighbours();
        self.find_wall_integrals(placed);
        self.sum_density_and_gradients()?;
        let (compression, liquid) = (&self.work.compression, &self.state.particles.liquid);
        let above = |i: usize| {
            if self.phases.is_solid(liquid[i]) { 0.0 } else { f64::from(compression[i] - 1.0).max(0.0) }
        };
        Ok(par::sum(liquid.len(), above) / liquid.len() as f64)
    }

    /// One round.
    fn make_room(&mut self, dt: f64) {
        self.accelerate_from_rest(DVec3::ZERO, dt);
        self.bodies.start_from_nothing();
        self.shift(dt);
        let flow = std::mem::take(&mut self.work.flow);
        self.move_along(&flow, dt as f32);
        self.work.flow = flow;
    }

    /// Moves particles along velocities for a time \[s\], but not far, and through no wall; the velocities are not theirs.
    fn move_along(&mut self, flow: &[Packed], step: f32) {
        let farthest = FARTHEST * self.setup.params.spacing as f32;
        let (walls, phases, position) = (&self.walls, &self.phases, &self.work.position);
        let particles = &mut self.state.particles;
        let (liquid, velocity) = (&particles.liquid, &particles.velocity);
        let each = particles.position.par_iter_mut().with_min_len(par::LIGHT).enumerate();
        each.filter(|(i, _)| !phases.is_solid(liquid[*i])).for_each(|(i, x)| {
            *x += (Vec3::from_slice(&flow[i]) * step).clamp_length_max(farthest);
            walls.keep_inside(x, &mut velocity[i].clone());
        });
        for contact in self.work.contacts.iter().flatten().filter(|contact| walls.is_surface(contact.wall)) {
            let i = contact.particle as usize;
            let from = Vec3::from_slice(&position[i]);
            walls.keep_before(contact.wall, from, &mut particles.position[i], &mut particles.velocity[i].clone());
        }
        if self.setup.periodic.any() {
            let periodic = self.setup.periodic;
            self.state.particles.position.iter_mut().for_each(|x| *x = periodic.wrap(*x));
        }
    }
}
