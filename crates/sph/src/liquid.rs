//! The particle liquid: its state, its workspace, and one method per stage of a step.
//!
//! Stages are rooms below this one: they alone see the workspace.
//! A step runs the stages in the order in which they stand here; `sim` calls them by name. What they do about bodies that
//! answer is in `bodies/coupled.rs`, how pressure is found in [`crate::liquid::dfsph`]. The state before the step
//! stays untouched in the second buffer until the next sort, so that a failed step is undone by a swap.

mod access;
mod biharmonic_damping;
pub(crate) mod bodies;
pub(crate) mod dfsph;
mod implicit_viscosity;
mod phases;
mod porous;
mod relax;
mod state_equation;
mod step;
mod tension;
mod viscosity;

use crate::density::{self, Sums};
use crate::emitter::{Emitter, EmitterState};
use crate::neighbours::{self, Columns, Neighbours, PairValues};
use crate::params::{BodyWall, Coupling, KernelFamily, Material, Params, PressureSolver, ViscositySolver};
use crate::particles::Particles;
use crate::simd::{CubicSpline, KernelLanes, LANES, Packed, Papers, QuarticSpline, Stored3};
use crate::traction::{LAYER, Traction};
use crate::wall_contacts::{Contact, Walls};
pub use bodies::Body;
use bodies::{Bodies, FARTHEST, FrictionContact, NodeWeight};
use dfsph::Progress;
pub use dfsph::Solved;
use dfsph::corrected::Corrected;
use fearless_simd::{Level, dispatch};
use glam::{DVec3, Vec3};
use implicit_viscosity::ImplicitViscosity;
use meniscus_boundary::Boundaries;
use meniscus_core::{Fault, StepError, Wrench, par};
use meniscus_geometry::{NeighbourGrid, Periodic};
pub use phases::Phase;
use phases::Phases;
pub use porous::{Held, Pores};
use rayon::prelude::*;
pub use relax::Relaxed;
use serde::{Deserialize, Serialize};
pub use step::Hooks;
use tension::Tension;
use viscosity::lattice_share;

/// Everything that a liquid is made from.
#[derive(Debug, Clone)]
pub struct Setup {
    /// Discretisation.
    pub params: Params,
    /// Names and materials, in the order of the particles' liquid numbers.
    pub materials: Vec<(String, Material)>,
    /// Walls.
    pub walls: Boundaries,
    /// How it meets bodies.
    pub coupling: Coupling,
    /// Nozzles.
    pub emitters: Vec<Emitter>,
    /// Space that repeats.
    pub periodic: Periodic,
    /// Stiffness k of the state equation \[m²/s²\], resolved.
    pub stiffness: f64,
    /// The speed to be expected \[m/s\]: that of liquid which falls from the highest place to the lowest.
    pub speed: f64,
}

/// What a checkpoint holds.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// The particles.
    pub particles: Particles,
    /// One per emitter.
    pub emitters: Vec<EmitterState>,
    /// Largest speed \[m/s\], acceleration \[m/s²\] and p/ρ0 \[m²/s²\] at the end of the last step.
    pub fastest: [f64; 3],
    /// Start and length of the last step \[s\]: where the walls are.
    pub last_step: [f64; 2],
    /// Pressure force on each node of each body in the last step \[N\].
    pub body_forces: Vec<Vec<DVec3>>,
    /// Impulses \[N·s\] that nodes are owed by particles which were stopped at them after the last step.
    pub body_impulses: Vec<Vec<DVec3>>,
    /// How fast friction changed the velocity of a node at most in the last step \[1/s\].
    pub body_rate: f64,
}

/// A particle liquid in space with walls and nozzles.
pub struct Liquid {
    setup: Setup,
    state: State,
    work: Workspace,
    walls: Walls,
    bodies: Bodies,
    phases: Phases,
    level: Level,
    h: f64,
    /// Σ W Δx³ of the density kernel on the lattice at rest.
    lattice_sum: f64,
    /// The lattice's share of the viscous sum.
    viscosity_share: f64,
}

/// Memory that lives from step to step and means nothing between steps.
#[derive(Default)]
struct Workspace {
    before: State,
    grid: NeighbourGrid,
    columns: Columns,
    neighbours: Neighbours,
    /// Position and a companion; one more than particles: the last is nobody.
    position: Vec<Packed>,
    /// Velocity and a companion; one more than particles.
    flow: Vec<Packed>,
    /// Viscosity per particle, if liquids differ in it; one more than particles.
    viscosity: Vec<f32>,
    /// Rest density of each liquid \[kg/m³\], and how hard its particles are to move by pressure.
    rest_density: Vec<f32>,
    inertia: Vec<f32>,
    /// Rest densities over that of the heaviest liquid.
    density_share: Vec<f32>,
    /// Inverse of that inertia of each particle, if there are several; one more than particles.
    lightness: Vec<f32>,
    contacts: Vec<Vec<Contact>>,
    /// Which nodes of bodies the particles of each block push.
    links: Vec<Vec<NodeWeight>>,
    /// What nodes push the particles of each block with, by the paper's traction \[N\].
    tractions: Vec<Vec<NodeWeight>>,
    /// Which nodes of bodies feel the friction of the particles of each block.
    friction_contacts: Vec<Vec<FrictionContact>>,
    /// ρᵢ/ρ0ᵢ.
    compression: Vec<f32>,
    acceleration: Vec<Vec3>,
    /// Accelerations of velocities, where these are not those of positions.
    own_acceleration: Vec<Vec3>,
    reactions: Vec<Wrench>,
    kept_inside: usize,
    // Of the incompressible solver alone:
    sums: Vec<Sums>,
    /// ∇γ of all walls \[1/m\], and ∇γ·v with their velocities \[1/s\].
    gamma_gradients: Vec<Packed>,
    inverse_diagonal: Vec<f32>,
    /// Σⱼ |g|²/ρ0ⱼ where neighbours differ in density, else empty.
    squares: Vec<f32>,
    divergence_pressure: Vec<f32>,
    residual: Vec<f32>,
    image: Vec<f32>,
    /// 1/Aᵢ of the particles that the solve is about, zero for the others.
    free: Vec<f32>,
    /// Accelerations by multipliers.
    push: Vec<Packed>,
    /// Slopes of the kernel between pairs.
    slopes: PairValues<[f32; LANES]>,
    /// Gradients of the kernel between pairs, where they are kept.
    gradients: PairValues<Stored3>,
    /// Sums of blocks.
    partial: Vec<f64>,
    progress: Vec<Progress>,
    corrected: Corrected,
    implicit_viscosity: ImplicitViscosity,
    tension: Tension,
}

/// Runs `$body` with `$pair` bound to the kernels and the space that the liquid uses.
macro_rules! with_kernel_and_space {
    ($liquid:expr, |$pair:ident| $body:expr) => {{
        use crate::params::KernelFamily;
        use crate::simd::{CubicSpline, Free, Papers, QuarticSpline, Repeating};
        match ($liquid.setup.params.kernel, $liquid.setup.periodic.any()) {
            (KernelFamily::Papers, false) => {
                let $pair = (Papers, Free);
                $body
            }
            (KernelFamily::Papers, true) => {
                let $pair = (Papers, Repeating::new(&$liquid.setup.periodic));
                $body
            }
            (KernelFamily::QuarticSpline, false) => {
                let $pair = (QuarticSpline, Free);
                $body
            }
            (KernelFamily::QuarticSpline, true) => {
                let $pair = (QuarticSpline, Repeating::new(&$liquid.setup.periodic));
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
    }};
}
use with_kernel_and_space;

impl Liquid {
    /// A liquid without particles.
    #[must_use]
    pub fn new(setup: Setup) -> Self {
        let h = setup.params.spacing * setup.params.support;
        let (walls, spacing) = (&setup.walls, setup.params.spacing);
        let walls = match setup.params.kernel {
            KernelFamily::Papers => Walls::new::<Papers>(walls, setup.coupling.friction, h, spacing),
            KernelFamily::CubicSpline => Walls::new::<CubicSpline>(walls, setup.coupling.friction, h, spacing),
            KernelFamily::QuarticSpline => Walls::new::<QuarticSpline>(walls, setup.coupling.friction, h, spacing),
        };
        let state = State { emitters: vec![EmitterState::default(); setup.emitters.len()], ..State::default() };
        let mut work = Workspace::default();
        work.reactions.resize(walls.len() + walls.body_walls(), Wrench::ZERO);
        let bodies = Bodies::with_prescribed(&setup.walls);
        let lattice_sum = match setup.params.kernel {
            KernelFamily::Papers => Papers::DENSITY,
            KernelFamily::CubicSpline => CubicSpline::DENSITY,
            KernelFamily::QuarticSpline => QuarticSpline::DENSITY,
        }
        .lattice_sum(spacing / h);
        let viscosity_share = match setup.params.viscosity {
            ViscositySolver::Explicit => lattice_share(spacing / h),
            ViscositySolver::Implicit => match setup.params.kernel {
                KernelFamily::Papers => implicit_viscosity::lattice_share(&Papers::GRADIENT, spacing / h),
                KernelFamily::CubicSpline => implicit_viscosity::lattice_share(&CubicSpline::GRADIENT, spacing / h),
                KernelFamily::QuarticSpline => implicit_viscosity::lattice_share(&QuarticSpline::GRADIENT, spacing / h),
            },
        };
        Self {
            setup,
            state,
            work,
            walls,
            bodies,
            phases: Phases::default(),
            level: best_level(),
            h,
            lattice_sum,
            viscosity_share,
        }
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

    /// The grid of cells h in which the particles are sorted, as of the last sort.
    #[must_use]
    pub fn grid(&self) -> &NeighbourGrid {
        &self.work.grid
    }

    /// The particles to move, with the grid of the last sort.
    pub fn particles_and_grid_mut(&mut self) -> (&mut Particles, &NeighbourGrid) {
        (&mut self.state.particles, &self.work.grid)
    }

    /// Accelerations \[m/s²\] in storage order, as forces have been summed so far in this step: others may add theirs.
    pub fn accelerations_mut(&mut self) -> &mut [Vec3] {
        &mut self.work.acceleration
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
            if self.state.last_step[1] > 0.0 {
                let [time, dt] = self.state.last_step;
                self.setup.walls.place(time, dt);
                self.walls.place(&self.setup.walls);
            }
        }
        fits
    }

    /// Volume of a particle at rest \[m³\], the same for all liquids.
    #[must_use]
    pub fn rest_volume(&self) -> f64 {
        let spacing = self.setup.params.spacing;
        spacing * spacing * spacing * self.setup.params.mass_factor
    }

    /// Mass of one particle of a liquid \[kg\].
    #[must_use]
    pub fn mass(&self, liquid: u16) -> f64 {
        self.setup.materials[usize::from(liquid)].1.density * self.rest_volume()
    }

    /// The liquids without the solids among them.
    pub(crate) fn liquids(&self) -> &[(String, Material)] {
        let materials = &self.setup.materials;
        &materials[..materials.len().min(self.phases.first_material.into())]
    }

    /// Rest density of the heaviest liquid \[kg/m³\].
    pub(crate) fn heaviest(&self) -> f64 {
        self.liquids().iter().map(|m| m.1.density).fold(0.0, f64::max)
    }

    /// Rest density of the lightest liquid \[kg/m³\].
    pub(crate) fn lightest(&self) -> f64 {
        self.liquids().iter().map(|m| m.1.density).fold(f64::INFINITY, f64::min)
    }

    /// Turns Σ h³ W into compression.
    pub(crate) fn value_norm(&self) -> f32 {
        (self.rest_volume() / (self.h * self.h * self.h * self.lattice_sum)) as f32
    }

    /// Turns Σ h⁴ ∇W into the gradient of compression \[1/m\].
    pub(crate) fn gradient_norm(&self) -> f32 {
        (self.rest_volume() / (self.h * self.h * self.h * self.h * self.lattice_sum)) as f32
    }

    /// Force and torque about the origin on each wall in the last step.
    #[must_use]
    pub fn reactions(&self) -> Vec<Wrench> {
        let mut reactions = self.work.reactions[..self.walls.len()].to_vec();
        for (wall, felt) in self.bodies.on_prescribed() {
            reactions[wall] += felt;
        }
        reactions
    }

    /// So many bodies that answer, to be placed before each step.
    pub fn bodies_mut(&mut self, count: usize) -> &mut [Body] {
        self.bodies.given_mut(count)
    }

    /// Whether there are bodies or animated walls.
    #[must_use]
    pub fn has_bodies(&self) -> bool {
        !self.bodies.is_empty()
    }

    /// Force on each node of a body that answers in the last step \[N\].
    #[must_use]
    pub fn body_forces(&self, body: usize) -> &[DVec3] {
        self.bodies.force_on_given(body)
    }

    /// Pressure forces on the nodes of a body that answers as a checkpoint holds them \[N\]; none before the first step.
    #[must_use]
    pub fn last_body_forces(&self, body: usize) -> &[DVec3] {
        self.state.body_forces.get(self.bodies.prescribed() + body).map_or(&[], Vec::as_slice)
    }

    /// Gauss points on surfaces of bodies and of walls made of triangles that liquid feels, where they are after the last step
    /// \[m\]. Those of bodies are the fewest, as particles at the end of their reach see them: nearer ones see up to sixteen times
    /// as many, if they are integrated over by points. Other walls have none.
    #[must_use]
    pub fn gauss_points(&self) -> Vec<Vec3> {
        let mut points = Vec::new();
        let reach = match self.setup.coupling.wall {
            BodyWall::Pressure => f64::from(self.walls.sample_kernel().reach()),
            BodyWall::Traction => self.h,
        };
        let longest = f64::from(FARTHEST) * self.setup.coupling.longest_edge * reach;
        self.bodies.show_points(longest, self.state.last_step[1], &mut points);
        if !self.state.particles.is_empty() {
            self.walls.show_points(&self.work.grid, &mut points);
        }
        points
    }

    /// How many triangles of bodies were near enough to liquid in the last step to be felt.
    #[must_use]
    pub fn wet_triangles(&self) -> usize {
        self.bodies.wet_triangles()
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

    /// Nozzles send new particles; all particles are sorted by cell. Must come first: it keeps the state for a roll-back.
    pub fn sort(&mut self, time: f64, dt: f64) {
        let before = &mut self.work.before;
        std::mem::swap(&mut self.state, before);
        self.state.emitters.clone_from(&before.emitters);
        self.state.body_forces.clone_from(&before.body_forces);
        self.state.body_impulses.clone_from(&before.body_impulses);
        self.state.fastest = before.fastest;
        self.state.body_rate = before.body_rate;
        let count = before.particles.len();
        let next_id = before.particles.next_id;
        for (emitter, state) in self.setup.emitters.iter().zip(&mut self.state.emitters) {
            let (liquid, velocity) = (emitter.liquid, emitter.velocity(time));
            let rest_density = self.setup.materials[usize::from(liquid)].1.density as f32;
            emitter.advance(state, [time, dt], self.setup.params.spacing, |position| {
                before.particles.push(liquid, position, velocity, rest_density);
            });
        }
        self.work.grid.sort(&before.particles.position, self.h as f32, self.setup.periodic);
        self.state.particles.copy_in_order(&before.particles, self.work.grid.order());
        before.particles.truncate(count);
        before.particles.next_id = next_id;
        self.locate_solids();
    }

    /// Neighbour lists. Where pressure follows from density, the sums of kernels too, while the lists of a block are at hand.
    pub fn find_neighbours(&mut self) {
        let count = self.state.particles.len();
        let packed = &mut self.work.position;
        packed.resize(count + 1, NOBODY);
        let Particles { position: positions, liquid, .. } = &self.state.particles;
        let phases = &self.phases;
        self.work.columns.copy(positions, &mut packed[..count], |i| phases.fullness(liquid[i]));
        packed[count] = NOBODY;
        self.work.neighbours.cut(count);
        let (grid, level, h) = (&self.work.grid, self.level, self.h as f32);
        let packed = (&self.work.position[..], &self.work.columns);
        let sums_density = self.sums_kernels_alone();
        let (inverse_h, norm) = ((1.0 / self.h) as f32, self.value_norm());
        let compression = &mut self.work.compression;
        compression.resize(count, 0.0);
        let blocks = self.work.neighbours.blocks.par_iter_mut().with_max_len(par::BATCH);
        with_kernel_and_space!(self, |pair| {
            blocks.zip(compression.par_chunks_mut(par::PIECE)).for_each(|(block, piece)| {
                dispatch!(level, simd => neighbours::find(simd, block, grid, packed, h));
                if sums_density {
                    dispatch!(level, simd => density::sum(simd, pair.0, block, inverse_h, piece));
                    piece.iter_mut().for_each(|c| *c *= norm);
                }
            });
        });
        self.work.rest_density.clear();
        self.work.rest_density.extend(self.setup.materials.iter().map(|m| m.1.density as f32));
        self.spread_viscosities();
        self.spread_inertias();
    }

    /// Which particles touch which wall, where the liquid's own walls are in the step from `time` to `time + dt`.
    pub fn find_wall_integrals_at(&mut self, time: f64, dt: f64) {
        let mut walls = std::mem::take(&mut self.setup.walls);
        walls.place(time, dt);
        self.find_wall_integrals(&walls);
        self.setup.walls = walls;
    }

    /// Which particles touch which wall; these are the liquid's own, which the world has placed for the step.
    pub fn find_wall_integrals(&mut self, placed: &Boundaries) {
        self.walls.place(placed);
        self.bodies.place_prescribed(placed);
        self.state.last_step = placed.step();
        let sorted = (&self.work.grid, &self.work.columns, &self.work.position[..]);
        match self.setup.params.kernel {
            _ if self.state.particles.is_empty() => {}
            KernelFamily::Papers => self.walls.integrate::<Papers>(self.level, sorted),
            KernelFamily::CubicSpline => self.walls.integrate::<CubicSpline>(self.level, sorted),
            KernelFamily::QuarticSpline => self.walls.integrate::<QuarticSpline>(self.level, sorted),
        }
        self.place_bodies(placed.step()[1]);
        let (walls, bodies, particles) = (&self.walls, &self.bodies, &self.state.particles);
        let phases = &self.phases;
        self.work.reactions.fill(Wrench::ZERO);
        let blocks = self.work.neighbours.blocks.len();
        self.work.contacts.resize_with(blocks, Vec::new);
        self.work.links.resize_with(blocks, Vec::new);
        self.work.friction_contacts.resize_with(blocks, Vec::new);
        self.work.tractions.resize_with(blocks, Vec::new);
        let by_traction = self.setup.coupling.wall == BodyWall::Traction;
        if by_traction {
            std::mem::swap(&mut self.work.links, &mut self.work.tractions);
        }
        let lists = self
            .work
            .contacts
            .par_iter_mut()
            .with_max_len(par::BATCH)
            .zip(&mut self.work.links)
            .zip(&mut self.work.friction_contacts);
        lists.enumerate().for_each(|(number, ((contacts, links), friction_contacts))| {
            contacts.clear();
            links.clear();
            friction_contacts.clear();
            let start = number * par::PIECE;
            let end = (start + par::PIECE).min(particles.len());
            let is_met =
                |&i: &usize| !walls.are_out_of_reach(particles.position[i]) && !phases.is_solid(particles.liquid[i]);
            for i in (start..end).filter(is_met) {
                walls.for_each_contact(i as u32, particles.position[i], |contact| contacts.push(contact));
            }
            let at = |i: u32| particles.position[i as usize];
            walls.for_each_surface_contact(number, links, at, |contact| {
                if !phases.is_solid(particles.liquid[contact.particle as usize]) {
                    contacts.push(contact);
                }
            });
            links.clear();
            bodies.for_each_contact(number, links, at, |particle, mut contact| {
                if by_traction {
                    (contact.gamma_gradient, contact.gamma_rate) = (Vec3::ZERO, 0.0);
                }
                contacts.push(walls.body_contact(particle, &contact));
                if contact.distance.is_some() && walls.body_has_friction(contact.prescribed) {
                    friction_contacts.push(FrictionContact {
                        particle,
                        nodes: contact.friction_nodes,
                        lambda: contact.lambda,
                    });
                }
            });
        });
        if by_traction {
            std::mem::swap(&mut self.work.links, &mut self.work.tractions);
        }
        if !self.bodies.is_empty() {
            self.bodies.sort_links(&self.work.links);
        }
    }

    /// Compression and density: cᵢ = V0 Σⱼ Wᵢⱼ + (1 − γᵢ), ρᵢ = cᵢ ρ0ᵢ.
    ///
    /// # Errors
    /// When a density is not finite.
    pub fn sum_density(&mut self) -> Result<(), StepError> {
        if !self.sums_kernels_alone() {
            self.sum_pairs();
        }
        self.add_wall_fractions();
        self.finish_density()
    }

    /// Whether the sums of kernels are all that a step needs of pairs before their forces.
    fn sums_kernels_alone(&self) -> bool {
        self.setup.params.pressure == PressureSolver::StateEquation && !self.has_tension()
    }

    pub(crate) fn add_wall_fractions(&mut self) {
        let pieces = self.work.compression.par_chunks_mut(par::PIECE).zip(&self.work.contacts);
        pieces.with_min_len(par::LIGHT / par::PIECE).enumerate().for_each(|(number, (piece, contacts))| {
            for contact in contacts {
                piece[contact.particle as usize - number * par::PIECE] += contact.wall_fraction;
            }
        });
    }

    pub(crate) fn finish_density(&mut self) -> Result<(), StepError> {
        let (rest, compression) = (&self.work.rest_density, &self.work.compression);
        let Particles { density, liquid, .. } = &mut self.state.particles;
        density.par_iter_mut().with_min_len(par::LIGHT).enumerate().for_each(|(i, density)| {
            *density = compression[i] * rest[usize::from(liquid[i])];
        });
        self.check("sum density", "density", |p, i| p.density[i].is_finite())
    }

    /// What the mirror image of a particle behind a wall adds to its pressure there \[Pa\], half of ρ g s along ∇γ: the
    /// image lies a spacing deeper, so hydrostatics holds up to the wall. Nothing where the liquid does not press.
    pub(crate) fn mirror_pressure(&self, contact: &Contact, gravity: Vec3, pressure: f32) -> f32 {
        let gravity = self.walls.gravity_at(contact.wall, gravity);
        if pressure <= 0.0 || gravity == Vec3::ZERO || self.setup.params.position_correction {
            return 0.0;
        }
        let i = contact.particle as usize;
        let rest_density = self.work.rest_density[usize::from(self.state.particles.liquid[i])];
        let depth = -contact.gamma_gradient.normalize_or_zero().dot(gravity) * self.setup.params.spacing as f32;
        (0.5 * rest_density * depth).max(-pressure)
    }

    /// Symplectic Euler: v += a dt, x += v dt. Nothing passes a wall.
    ///
    /// # Errors
    /// When a velocity is not finite, or a particle would outrun its neighbours.
    pub fn advance(&mut self, time: f64, dt: f64) -> Result<(), StepError> {
        let (step, reach, spacing) = (dt as f32, self.h, self.setup.params.spacing);
        let (emitters, walls, periodic) = (&self.setup.emitters, &self.walls, &self.setup.periodic);
        let Workspace { acceleration, own_acceleration, contacts, position: packed, .. } = &self.work;
        let Particles { position, velocity, multiplier, .. } = &mut self.state.particles;
        let pieces = position.par_chunks_mut(par::PIECE).zip(velocity.par_chunks_mut(par::PIECE)).zip(contacts);
        let moved = pieces
            .enumerate()
            .map(|(piece, ((x, v), contacts))| {
                let start = piece * par::PIECE;
                let mut kept = 0;
                for (k, (x, v)) in x.iter_mut().zip(&mut *v).enumerate() {
                    let mut moving = *v + acceleration[start + k] * step;
                    *v = own_acceleration.get(start + k).map_or(moving, |a| *v + *a * step);
                    for emitter in emitters {
                        if emitter.flows(time) && emitter.drives(*x, reach, spacing) {
                            moving = emitter.velocity(time);
                            *v = moving;
                        }
                    }
                    *x += moving * step;
                    kept += usize::from(walls.keep_inside(x, v));
                }
                for contact in contacts.iter().filter(|contact| walls.is_surface(contact.wall)) {
                    let k = contact.particle as usize - start;
                    // Where velocities are not those of positions, the way is not theirs either.
                    let shifted = !own_acceleration.is_empty();
                    let from = if shifted { Vec3::from_slice(&packed[start + k]) } else { x[k] - v[k] * step };
                    kept += usize::from(walls.keep_before(contact.wall, from, &mut x[k], &mut v[k]));
                }
                if periodic.any() {
                    x.iter_mut().for_each(|x| *x = periodic.wrap(*x));
                }
                let mut moved = Moved { kept, ..Moved::default() };
                for ((x, v), i) in x.iter().zip(&*v).zip(start..) {
                    moved.see(*x, *v, acceleration[i], multiplier[i]);
                }
                moved
            })
            .reduce(Moved::default, Moved::and);
        self.work.kept_inside = moved.kept;
        if moved.is_lost {
            self.check("advance", "velocity", |p, i| p.velocity[i].is_finite() && p.position[i].is_finite())?;
        }
        let most = moved.most.as_dvec3();
        self.state.fastest = [most.x.sqrt(), most.y.sqrt(), most.z / self.lightest()];
        self.check_speed(dt)
    }

    fn check_speed(&self, dt: f64) -> Result<(), StepError> {
        let (particles, [speed, ..]) = (&self.state.particles, self.state.fastest);
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

    /// Largest stable step after the last one \[s\]. The state equation resolves sound; the incompressible liquid only its
    /// own motion, and the rattling of single particles between their neighbours under pressure, which is as fast as √(p/ρ)
    /// across a spacing.
    #[must_use]
    pub fn stable_step(&self, courant: f64, gravity: f64) -> f64 {
        let [speed, push, pressure] = self.state.fastest;
        let by_motion = match self.setup.params.pressure {
            // All liquids are as stiff as the heaviest: sound is fastest in the lightest.
            PressureSolver::StateEquation => {
                let sound = (self.setup.stiffness * self.heaviest() / self.lightest()).sqrt();
                courant * self.h / (sound + speed)
            }
            PressureSolver::Dfsph => {
                let rattle = pressure.min(self.setup.speed * self.setup.speed).sqrt();
                courant * self.setup.params.spacing / speed.max(rattle).max(1e-12)
            }
        };
        let push = match self.setup.params.pressure {
            PressureSolver::StateEquation => push.max(gravity),
            PressureSolver::Dfsph => gravity,
        };
        let by_force = 0.5 * courant * (self.h / push.max(1e-12)).sqrt();
        let kinematic = self.liquids().iter().map(|m| m.1.viscosity / m.1.density).fold(0.0, f64::max);
        // Half of what a chequered velocity bears: the Laplacian takes 3.7 ν/s² from it on the lattice at h = 2 s, walls
        // take more.
        let by_viscosity = 0.0625 * self.h * self.h / kinematic.max(1e-12);
        let by_viscosity = match self.setup.params.viscosity {
            ViscositySolver::Explicit => by_viscosity,
            ViscositySolver::Implicit => f64::INFINITY,
        };
        let by_friction = match self.setup.params.viscosity {
            ViscositySolver::Explicit => 0.5 / self.state.body_rate.max(1e-12),
            ViscositySolver::Implicit => f64::INFINITY,
        };
        // Waves as short as two spacings, under surface tension.
        let cubed = self.setup.params.spacing * self.setup.params.spacing * self.setup.params.spacing;
        let by_tension = courant * (cubed / (std::f64::consts::TAU * self.strongest_tension()).max(1e-30)).sqrt();
        by_motion.min(by_tension).min(by_force).min(by_viscosity).min(by_friction).min(self.stable_traction_step())
    }

    /// A particle and the lightest node that it may meet are tied by the steepest slope of the traction.
    fn stable_traction_step(&self) -> f64 {
        if self.bodies.is_empty() || self.setup.coupling.wall == BodyWall::Pressure {
            return f64::INFINITY;
        }
        let (volume, h) = (self.rest_volume(), self.h);
        let mass = 1.0 / (1.0 / (self.lightest() * volume) + self.bodies.largest_compliance());
        // On the surface its points hold most.
        let held = self.point_viscosity() * volume * LAYER * h * Traction::plane_laplacian(0.0, h);
        self.traction().stable_step(mass).min(0.5 * mass / held.max(1e-300))
    }

    fn name_of(&self, i: usize) -> String {
        self.setup.materials[usize::from(self.state.particles.liquid[i])].0.clone()
    }

    pub(crate) fn check(
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

/// What has been seen of particles on their way.
#[derive(Debug, Clone, Copy, Default)]
struct Moved {
    /// How many had to be kept inside walls.
    kept: usize,
    /// Largest squares of speed \[m²/s²\] and acceleration \[m²/s⁴\], and largest multiplier \[Pa\].
    most: Vec3,
    /// Whether some of them may not be finite any more.
    is_lost: bool,
}

impl Moved {
    #[inline(always)]
    fn see(&mut self, position: Vec3, velocity: Vec3, acceleration: Vec3, multiplier: f32) {
        let speed = velocity.length_squared();
        self.most = self.most.max(Vec3::new(speed, acceleration.length_squared(), multiplier));
        self.is_lost |= !(speed + position.length_squared()).is_finite();
    }

    fn and(self, other: Self) -> Self {
        Self { kept: self.kept + other.kept, most: self.most.max(other.most), is_lost: self.is_lost | other.is_lost }
    }
}

/// The best instruction set, but not beyond AVX2: with AVX-512 the same eight lanes run slower here, for its compressing stores.
fn best_level() -> Level {
    let best = Level::new();
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    if let Some(avx2) = best.as_avx2() {
        return Level::Avx2(avx2);
    }
    best
}

/// The last of the packed positions: out of everyone's way, without mass.
const NOBODY: Packed = [1e18, 1e18, 1e18, 0.0];
