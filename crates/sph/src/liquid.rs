//! The particle liquid: its state, its workspace, and one method per stage of a step.
//!
//! A step runs the stages in the order in which they stand here; `sim` calls them by name. The state before the step
//! stays untouched in the second buffer until the next sort, so that a failed step is undone by a swap.

use crate::density;
use crate::emitter::{Emitter, EmitterState};
use crate::forces::{self, ForceInput, Viscosity};
use crate::lanes::{CubicSpline, Free, KernelLanes, Packed, Papers, Repeating, pack};
use crate::neighbours::{self, Neighbours, for_each_block};
use crate::params::{Friction, KernelFamily, Material, Params, Wall};
use crate::particles::Particles;
use crate::walls::{Contact, Walls};
use fearless_simd::{Level, dispatch};
use glam::{DVec3, Vec3};
use meniscus_core::{Fault, StepError, par};
use meniscus_geometry::{NeighbourGrid, Periodic};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Everything that a liquid is made from.
#[derive(Debug, Clone)]
pub struct Setup {
    /// Discretisation.
    pub params: Params,
    /// Names and materials, in the order of the particles' liquid numbers.
    pub materials: Vec<(String, Material)>,
    /// Walls.
    pub walls: Vec<Wall>,
    /// Nozzles.
    pub emitters: Vec<Emitter>,
    /// Space that repeats.
    pub periodic: Periodic,
    /// Stiffness k of the state equation \[m²/s²\], resolved.
    pub stiffness: f64,
}

/// What a checkpoint holds.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// The particles.
    pub particles: Particles,
    /// One per emitter.
    pub emitters: Vec<EmitterState>,
    /// Largest speed \[m/s\] and acceleration \[m/s²\] at the end of the last step.
    pub fastest: [f64; 2],
}

/// Force \[N\] and torque about the origin \[N·m\] on a wall.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Reaction {
    /// Force \[N\].
    pub force: DVec3,
    /// Torque about the origin \[N·m\].
    pub torque: DVec3,
}

/// A particle liquid in space with walls and nozzles.
pub struct Liquid {
    setup: Setup,
    state: State,
    work: Workspace,
    walls: Walls,
    level: Level,
    h: f64,
    /// Σ W Δx³ of the density kernel on the lattice at rest.
    lattice_sum: f64,
}

/// Memory that lives from step to step and means nothing between steps.
#[derive(Default)]
struct Workspace {
    before: State,
    grid: NeighbourGrid,
    neighbours: Neighbours,
    /// Position and mass, or position and volume; one more than particles: the last is nobody.
    place: Vec<Packed>,
    /// Velocity and pressure; one more than particles.
    flow: Vec<Packed>,
    /// Viscosity per particle, if liquids differ in it; one more than particles.
    viscosity: Vec<f32>,
    /// Mass \[kg\] and rest density \[kg/m³\] of the particles of each liquid.
    mass: Vec<f32>,
    rest_density: Vec<f32>,
    contacts: Vec<Vec<Contact>>,
    acceleration: Vec<Vec3>,
    reactions: Vec<Reaction>,
    kept_inside: usize,
}

/// Runs `$body` with `$kernel` and `$space` bound to the types that the liquid uses.
macro_rules! with_kernel_and_space {
    ($liquid:expr, |$pair:ident| $body:expr) => {
        match ($liquid.setup.params.kernel, $liquid.setup.periodic.any()) {
            (KernelFamily::Papers, false) => {
                let $pair = (Papers, Free);
                $body
            }
            (KernelFamily::Papers, true) => {
                let $pair = (Papers, Repeating::new(&$liquid.setup.periodic));
                $body
            }
            (KernelFamily::CubicSpline, false) => {
                let $pair = (CubicSpline, Free);
                $body
            }
            (KernelFamily::CubicSpline, true) => {
                let $pair = (CubicSpline, Repeating::new(&$liquid.setup.periodic));
                $body
            }
        }
    };
}

impl Liquid {
    /// A liquid without particles.
    #[must_use]
    pub fn new(setup: Setup) -> Self {
        let h = setup.params.spacing * setup.params.support;
        let (walls, spacing) = (setup.walls.clone(), setup.params.spacing);
        let walls = match setup.params.kernel {
            KernelFamily::Papers => Walls::new::<Papers>(walls, h, spacing),
            KernelFamily::CubicSpline => Walls::new::<CubicSpline>(walls, h, spacing),
        };
        let state = State { emitters: vec![EmitterState::default(); setup.emitters.len()], ..State::default() };
        let mut work = Workspace::default();
        work.reactions.resize(walls.len(), Reaction::default());
        let lattice_sum = match setup.params.kernel {
            KernelFamily::Papers => Papers::DENSITY,
            KernelFamily::CubicSpline => CubicSpline::DENSITY,
        }
        .lattice_sum(spacing / h);
        Self { setup, state, work, walls, level: Level::new(), h, lattice_sum }
    }

    /// Uses another instruction set; the bits do not change.
    #[must_use]
    pub fn with_level(mut self, level: Level) -> Self {
        self.level = level;
        self
    }

    /// What it was made from.
    #[must_use]
    pub fn setup(&self) -> &Setup {
        &self.setup
    }

    /// Changes viscosities, densities and speeds between steps; counts, walls, kernel and spacing stay as they are.
    pub fn set_parameters(&mut self, change: impl FnOnce(&mut Setup)) {
        change(&mut self.setup);
    }

    /// Support radius h \[m\].
    #[must_use]
    pub fn support_radius(&self) -> f64 {
        self.h
    }

    /// The state.
    #[must_use]
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The particles, to seed or to poke.
    pub fn particles_mut(&mut self) -> &mut Particles {
        &mut self.state.particles
    }

    /// Takes over a state; `false`, and nothing happens, if it is not one of this liquid.
    #[must_use]
    pub fn restore(&mut self, state: State) -> bool {
        let liquids = self.setup.materials.len();
        let fits = state.emitters.len() == self.setup.emitters.len()
            && state.particles.is_consistent()
            && state.particles.liquid.iter().all(|&l| usize::from(l) < liquids);
        if fits {
            self.state = state;
        }
        fits
    }

    /// Mass of one particle of a liquid \[kg\].
    #[must_use]
    pub fn mass(&self, liquid: u16) -> f64 {
        let spacing = self.setup.params.spacing;
        self.setup.materials[usize::from(liquid)].1.density
            * spacing
            * spacing
            * spacing
            * self.setup.params.mass_factor
    }

    /// Force and torque on each wall in the last step.
    #[must_use]
    pub fn reactions(&self) -> &[Reaction] {
        &self.work.reactions
    }

    /// How many particles had to be put back in front of a wall in the last step.
    #[must_use]
    pub fn kept_inside(&self) -> usize {
        self.work.kept_inside
    }

    /// Mean number of neighbours in the last step.
    #[must_use]
    pub fn mean_neighbours(&self) -> f64 {
        self.work.neighbours.mean_count(self.state.particles.len() as u32)
    }

    /// Undoes the step under way.
    pub fn roll_back(&mut self) {
        std::mem::swap(&mut self.state, &mut self.work.before);
    }

    /// 1. Nozzles send new particles; all particles are sorted by cell. Must come first: it keeps the state for a roll-back.
    pub fn sort(&mut self, time: f64, dt: f64) {
        let before = &mut self.work.before;
        std::mem::swap(&mut self.state, before);
        self.state.emitters.clone_from(&before.emitters);
        self.state.fastest = before.fastest;
        let count = before.particles.len();
        let next_id = before.particles.next_id;
        for (emitter, state) in self.setup.emitters.iter().zip(&mut self.state.emitters) {
            let (liquid, velocity) = (emitter.liquid, emitter.velocity());
            let rest_density = self.setup.materials[usize::from(liquid)].1.density as f32;
            emitter.advance(state, [time, dt], self.setup.params.spacing, |place| {
                before.particles.push(liquid, place, velocity, rest_density);
            });
        }
        self.work.grid.sort(&before.particles.position, self.h as f32, self.setup.periodic);
        self.state.particles.copy_in_order(&before.particles, self.work.grid.order());
        before.particles.truncate(count);
        before.particles.next_id = next_id;
    }

    /// 2. Neighbour lists.
    pub fn find_neighbours(&mut self) {
        self.work.mass.clear();
        self.work.rest_density.clear();
        for liquid in 0..self.setup.materials.len() {
            self.work.mass.push(self.mass(liquid as u16) as f32);
            self.work.rest_density.push(self.setup.materials[liquid].1.density as f32);
        }
        let particles = &self.state.particles;
        let (place, mass) = (&mut self.work.place, &self.work.mass);
        place.resize(particles.len() + 1, [0.0; 4]);
        place
            .par_iter_mut()
            .with_min_len(par::PIECE)
            .zip(&particles.position)
            .zip(&particles.liquid)
            .for_each(|((place, &position), &liquid)| *place = pack(position, mass[usize::from(liquid)]));
        place[particles.len()] = NOBODY;
        self.work.neighbours.cut(particles.len());
        let (grid, place, level, h) = (&self.work.grid, &self.work.place, self.level, self.h as f32);
        self.work.neighbours.blocks.par_iter_mut().for_each(|block| {
            dispatch!(level, simd => neighbours::find(simd, block, grid, place, h));
        });
    }

    /// 3. Which particles touch which wall.
    pub fn touch_walls(&mut self) {
        let (walls, particles) = (&self.walls, &self.state.particles);
        self.work.contacts.resize_with(self.work.neighbours.blocks.len(), Vec::new);
        self.work.contacts.par_iter_mut().enumerate().for_each(|(number, contacts)| {
            contacts.clear();
            let start = number * par::PIECE;
            let end = (start + par::PIECE).min(particles.len());
            for i in start..end {
                walls.for_each_contact(i as u32, particles.position[i], |contact| contacts.push(contact));
            }
        });
    }

    /// 4. ρᵢ = Σⱼ mⱼ Wᵢⱼ + ρ0 (1 − γᵢ).
    ///
    /// # Errors
    /// When a density is not finite.
    pub fn sum_density(&mut self) -> Result<(), StepError> {
        let (level, inverse_h, place) = (self.level, (1.0 / self.h) as f32, &self.work.place);
        let output = &mut self.state.particles.density;
        let norm = (1.0 / (self.h * self.h * self.h * self.lattice_sum)) as f32;
        with_kernel_and_space!(self, |pair| {
            for_each_block(&self.work.neighbours.blocks, output, |block, piece| {
                dispatch!(level, simd => density::sum(simd, pair, block, place, inverse_h, piece));
                piece.iter_mut().for_each(|density| *density *= norm);
            });
        });
        let (rest, particles) = (&self.work.rest_density, &mut self.state.particles);
        for contact in self.work.contacts.iter().flatten() {
            let i = contact.particle as usize;
            particles.density[i] += rest[usize::from(particles.liquid[i])] * contact.deficit;
        }
        self.check("sum density", "density", |p, i| p.density[i].is_finite())
    }

    /// 5. p = k ρ0/n ((ρ/ρ0)ⁿ − 1), clamped at zero: a free surface pulls on nothing \[MCG03 eq. 12; B eq. 14\].
    pub fn apply_state_equation(&mut self) {
        let (k, exponent) = (self.setup.stiffness as f32, self.setup.params.exponent);
        let rest = &self.work.rest_density;
        // Equal compression is equal pressure in every liquid of the scene, else the heavy one is stiffer.
        let reference = rest.iter().copied().fold(0.0, f32::max);
        let particles = &mut self.state.particles;
        let (density, liquid) = (&particles.density, &particles.liquid);
        particles.pressure.par_iter_mut().with_min_len(par::PIECE).enumerate().for_each(|(i, pressure)| {
            let ratio = density[i] / rest[usize::from(liquid[i])];
            let power = (1..exponent).fold(ratio, |power, _| power * ratio);
            *pressure = (k * reference / exponent as f32 * (power - 1.0)).max(0.0);
        });
    }

    /// 6. Pressure, viscosity, walls and gravity as accelerations.
    ///
    /// # Errors
    /// When an acceleration is not finite.
    pub fn sum_forces(&mut self, gravity: DVec3) -> Result<(), StepError> {
        self.pack_for_forces();
        let speed_of_sound = self.setup.stiffness.sqrt();
        let reference = self.setup.materials.iter().map(|m| m.1.density).fold(0.0, f64::max);
        let first = self.setup.materials.first().map_or(0.0, |m| m.1.viscosity);
        let input = ForceInput {
            place: &self.work.place,
            flow: &self.work.flow,
            viscosity: if self.work.viscosity.is_empty() {
                Viscosity::Uniform(first as f32)
            } else {
                Viscosity::Mixed(&self.work.viscosity)
            },
            inverse_h: (1.0 / self.h) as f32,
            shock: (reference * self.setup.params.artificial_viscosity * speed_of_sound * 0.5 * self.h) as f32,
        };
        let (level, particles) = (self.level, &self.state.particles);
        let output = &mut self.work.acceleration;
        output.resize(particles.len(), Vec3::ZERO);
        with_kernel_and_space!(self, |pair| {
            for_each_block(&self.work.neighbours.blocks, output, |block, piece| {
                dispatch!(level, simd => forces::sum(simd, pair, block, &input, piece));
            });
        });
        let gravity = gravity.as_vec3();
        self.push_off_walls(gravity);
        let density = &self.state.particles.density;
        self.work.acceleration.par_iter_mut().with_min_len(par::PIECE).zip(density).for_each(|(a, &density)| {
            *a = *a / density + gravity;
        });
        let acceleration = &self.work.acceleration;
        self.check("sum forces", "acceleration", |_, i| acceleration[i].is_finite())
    }

    fn pack_for_forces(&mut self) {
        let particles = &self.state.particles;
        let count = particles.len();
        let (place, flow) = (&mut self.work.place, &mut self.work.flow);
        flow.resize(count + 1, [0.0; 4]);
        place[..count].par_iter_mut().zip(&mut flow[..count]).with_min_len(par::PIECE).enumerate().for_each(
            |(i, (place, flow))| {
                place[3] /= particles.density[i];
                *flow = pack(particles.velocity[i], particles.pressure[i]);
            },
        );
        flow[count] = [0.0; 4];
        let materials = &self.setup.materials;
        self.work.viscosity.clear();
        if materials.iter().any(|m| m.1.viscosity != materials[0].1.viscosity) {
            self.work.viscosity.extend(particles.liquid.iter().map(|&l| materials[usize::from(l)].1.viscosity as f32));
            self.work.viscosity.push(0.0);
        }
    }

    /// The wall's share of pressure and friction, per volume \[N/m³\], and the same on the wall with the opposite sign. The
    /// mirror image of a particle lies a spacing further down its push: hydrostatics is exact up to the wall.
    fn push_off_walls(&mut self, gravity: Vec3) {
        let particles = &self.state.particles;
        let spacing = self.setup.params.spacing as f32;
        self.work.reactions.fill(Reaction::default());
        for contact in self.work.contacts.iter().flatten() {
            let i = contact.particle as usize;
            let viscosity = match self.walls.friction(contact.wall) {
                Friction::Slip => 0.0,
                Friction::NoSlip => self.setup.materials[usize::from(particles.liquid[i])].1.viscosity as f32,
                Friction::Viscosity(viscosity) => viscosity as f32,
            };
            let mirror = -particles.density[i] * spacing * contact.push.normalize_or_zero().dot(gravity);
            let pressure =
                if particles.pressure[i] > 0.0 { (particles.pressure[i] + 0.5 * mirror).max(0.0) } else { 0.0 };
            let force = contact.push * pressure - particles.velocity[i] * (viscosity * contact.drag);
            self.work.acceleration[i] += force;
            let volume = f64::from(self.work.place[i][3]);
            let on_wall = force.as_dvec3() * -volume;
            let reaction = &mut self.work.reactions[usize::from(contact.wall)];
            reaction.force += on_wall;
            reaction.torque += particles.position[i].as_dvec3().cross(on_wall);
        }
    }

    /// 7. Symplectic Euler: v += a dt, x += v dt. Nothing passes a wall.
    ///
    /// # Errors
    /// When a velocity is not finite, or a particle would outrun its neighbours.
    pub fn advance(&mut self, time: f64, dt: f64) -> Result<(), StepError> {
        let step = dt as f32;
        let (reach, spacing) = (self.h, self.setup.params.spacing);
        let emitters = &self.setup.emitters;
        let particles = &mut self.state.particles;
        let (walls, periodic, acceleration) = (&self.walls, &self.setup.periodic, &self.work.acceleration);
        let moving = particles.position.par_iter_mut().with_min_len(par::PIECE).zip(&mut particles.velocity);
        self.work.kept_inside = moving
            .zip(acceleration)
            .map(|((x, v), &a)| {
                *v += a * step;
                for emitter in emitters {
                    if emitter.flows(time) && emitter.drives(*x, reach, spacing) {
                        *v = emitter.velocity();
                    }
                }
                *x += *v * step;
                let kept = walls.keep_inside(x, v);
                if periodic.any() {
                    *x = periodic.wrap(*x);
                }
                usize::from(kept)
            })
            .sum();
        self.check("advance", "velocity", |p, i| p.velocity[i].is_finite() && p.position[i].is_finite())?;
        self.measure_speed(dt)
    }

    fn measure_speed(&mut self, dt: f64) -> Result<(), StepError> {
        let particles = &self.state.particles;
        let speed = par::max(particles.len(), 0.0, |i| f64::from(particles.velocity[i].length_squared())).sqrt();
        let push = par::max(particles.len(), 0.0, |i| f64::from(self.work.acceleration[i].length_squared())).sqrt();
        self.state.fastest = [speed, push];
        if speed * dt <= self.h {
            return Ok(());
        }
        let limit = (self.h / dt) as f32;
        let i = par::find_first(particles.len(), |i| particles.velocity[i].length() > limit);
        Err(StepError {
            stage: "advance".into(),
            body: i.map_or(String::new(), |i| self.name_of(i)),
            index: i.map(|i| u64::from(particles.id[i])),
            fault: Fault::TooFast { distance: speed * dt, support_radius: self.h },
        })
    }

    /// Largest stable step after the last one \[s\]: sound, motion, acceleration and viscosity within a support radius.
    #[must_use]
    pub fn stable_step(&self, courant: f64, gravity: f64) -> f64 {
        let [speed, push] = self.state.fastest;
        let by_sound = courant * self.h / (self.setup.stiffness.sqrt() + speed);
        let by_force = 0.5 * courant * (self.h / push.max(gravity).max(1e-12)).sqrt();
        let kinematic = self.setup.materials.iter().map(|m| m.1.viscosity / m.1.density).fold(0.0, f64::max);
        let by_viscosity = 0.125 * self.h * self.h / kinematic.max(1e-12);
        by_sound.min(by_force).min(by_viscosity)
    }

    fn name_of(&self, i: usize) -> String {
        self.setup.materials[usize::from(self.state.particles.liquid[i])].0.clone()
    }

    fn check(
        &self,
        stage: &str,
        quantity: &str,
        good: impl Fn(&Particles, usize) -> bool + Sync,
    ) -> Result<(), StepError> {
        let particles = &self.state.particles;
        match par::find_first(particles.len(), |i| !good(particles, i)) {
            None => Ok(()),
            Some(i) => Err(StepError::not_finite(stage, &self.name_of(i), particles.id[i].into(), quantity)),
        }
    }
}

/// The last of the packed places: out of everyone's way, without mass.
const NOBODY: Packed = [1e18, 1e18, 1e18, 0.0];
