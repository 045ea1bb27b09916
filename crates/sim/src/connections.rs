//! The `connections` method: liquid, deformable and rigid bodies of particles that meet through connections \[B\].
//!
//! One step; the names are those of the step report. Stages 1 to 6 and 8 to 10 are the liquid's, as in the method `gauss`:
//!
//! | | stage | what happens |
//! |---|---|---|
//! | 0 | join liquid | with the interface "sph": particles of bodies take their places among the liquid's |
//! | 1, 2 | sort particles, find neighbours | |
//! | 7 | connect liquid | springs between particles of bodies and of the liquid: forces on both |
//! | 3–9 | touch walls … advance | the liquid, which feels its part of 7 beside its own forces |
//! | 10 | leave liquid | with the interface "sph": what the liquid did to the particles of bodies becomes a force on them |
//! | 11 | connect, move, part bodies | steps of their own, as `meniscus_particles` describes them |
//! | 12 | part liquid | with the projection: bodies and liquid that overlap are moved apart |
//! | 13 | drain | |
//!
//! A scene of the method `gauss` may have bodies of particles too. The liquid then meets their skins, as it meets the surface of
//! any body there: stages 1 to 9 are those of `gauss`, forces on the vertices of a skin are handed to the particles that it
//! hangs on, 11 follows, and liquid that a skin has passed is put back before it. Between the bodies nothing changes.
//!
//! With springs, liquid and bodies know all they need of each other after stage 7: they take the rest of the step side by side.
//!
//! The interface "sph" is that of Koshizuka and others \[SK98\], to which the paper looks ahead: the particles of a body are moved as
//! liquid of the body's density, and the body takes their mean.

use crate::bodies::Bodies;
use crate::gauss::{Gauss, SHIFT_WORK, report_solves};
use crate::grips::Grips;
use crate::hands::{Hand, Holds};
use crate::method::{Method, Totals};
use glam::{DVec3, Vec3};
use meniscus_core::{Digest, Frame, StepError, StepReport};
use meniscus_particles::{Drops, Pushes, State};
use meniscus_scene::live::LiveKey;
use meniscus_scene::{Grab, Move, Poke, Release};
use meniscus_sph::{Liquid, PressureSolver, ViscositySolver};

/// Radius of a particle of the liquid as bodies meet it \[m\]: half a spacing more than its own. Beside a body it lacks
/// neighbours, so the liquid crowds there; held back by as much, a body displaces about its volume.
pub(crate) fn drop_radius(liquid: &Liquid) -> f64 {
    liquid.setup().params.spacing
}

/// How bodies and liquid meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wetting {
    /// Springs between their particles.
    Springs,
    /// Their particles are moved apart.
    Projection,
    /// Particles of bodies join the liquid.
    Sph,
    /// The liquid pushes the skins of bodies, as it does all surfaces with the method `gauss`.
    Skins,
}

/// The method with its state.
pub(crate) struct Connections {
    /// Liquid, walls, nozzles, probes.
    pub(crate) wet: Gauss,
    pub(crate) bodies: Bodies,
    pub(crate) wetting: Wetting,
    /// With the interface "sph": the liquid's id of the first particle of the bodies.
    pub(crate) first_id: u32,
    /// Mass of a particle of each liquid \[kg\].
    pub(crate) masses: Vec<f64>,
    pub(crate) pushes: Pushes,
    /// Report of the bodies' step where it is taken beside the liquid's.
    pub(crate) beside: StepReport,
    /// With the interface "sph": velocities of the particles of bodies before the liquid's step \[m/s\].
    pub(crate) before: Vec<Vec3>,
}

impl Method for Connections {
    fn step(&mut self, time: f64, dt: f64, report: &mut StepReport) -> Result<(), StepError> {
        let gravity = self.wet.gravity;
        self.wet.walls.place(time, dt);
        if self.wet.dry {
            self.place_walls(time, dt);
            self.bodies.step(gravity, [time, dt], report)?; // 11
            self.bodies.begun = false;
            return Ok(());
        }
        match self.wetting {
            Wetting::Springs => self.step_side_by_side(time, dt, report)?,
            Wetting::Projection | Wetting::Sph => self.step_in_turn(time, dt, report)?,
            Wetting::Skins => self.step_with_skins(time, dt, report)?,
        }
        self.bodies.begun = false;
        if self.wetting == Wetting::Projection {
            report.stage("part liquid", || self.part_liquid(dt)); // 12
        }
        self.wet.drain(report); // 13
        report.count("kept inside walls", self.wet.liquid.kept_inside() as f64);
        Ok(())
    }

    fn roll_back(&mut self) {
        self.wet.roll_back();
        self.bodies.roll_back();
    }

    fn stable_step(&self) -> f64 {
        if self.wet.dry {
            return f64::INFINITY;
        }
        let by_liquid = self.wet.stable_step();
        let lightest = self.masses.iter().copied().fold(f64::INFINITY, f64::min);
        match self.wetting {
            Wetting::Springs => by_liquid.min(self.bodies.system.liquid_step(lightest, drop_radius(&self.wet.liquid))),
            Wetting::Projection | Wetting::Sph => by_liquid,
            Wetting::Skins => by_liquid.min(self.bodies.stable_step()),
        }
    }

    fn set(&mut self, key: &LiveKey, value: &[f64]) {
        self.wet.set(key, value);
        self.masses.iter_mut().zip(0..).for_each(|(mass, number)| *mass = self.wet.liquid.mass(number));
    }

    fn poke(&mut self, poke: &Poke) {
        self.wet.poke(poke);
        let [center, velocity] = [poke.center, poke.velocity].map(DVec3::from_array);
        self.bodies.system.poke(center, poke.radius, velocity);
    }

    fn grab(&mut self, grab: &Grab) {
        self.bodies.grab(grab);
    }

    fn move_hand(&mut self, to: &Move) {
        self.bodies.move_hand(to);
    }

    fn release(&mut self, release: &Release) {
        self.bodies.release(release);
    }

    fn hands(&self) -> Vec<Hand> {
        self.bodies.hands()
    }

    fn save(&self) -> Result<Vec<u8>, postcard::Error> {
        postcard::to_stdvec(&(self.wet.save()?, self.bodies.system.save(), &self.bodies.grips))
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), postcard::Error> {
        let (wet, state, grips): (Vec<u8>, State, Grips) = postcard::from_bytes(bytes)?;
        self.wet.load(&wet)?;
        if self.bodies.load(state, grips) { Ok(()) } else { Err(postcard::Error::DeserializeBadEncoding) }
    }

    fn digest(&self, digest: Digest) -> Digest {
        self.bodies.digest(self.wet.digest(digest))
    }

    fn show(&self, frame: &mut Frame) {
        self.wet.show(frame);
        self.bodies.show(frame);
    }

    fn gauss_points(&self) -> Vec<Vec3> {
        self.wet.gauss_points()
    }

    fn totals(&self) -> Totals {
        let (system, gravity) = (&self.bodies.system, self.wet.gravity);
        let mut totals = self.wet.totals();
        totals.body_particles = system.masses().len() as u64;
        totals.max_speed = totals.max_speed.max(system.max_speed());
        totals.elastic_energy += system.contact_energy();
        for body in 0..system.bodies() {
            totals.kinetic_energy += system.kinetic_energy(body);
            totals.potential_energy -= system.mass(body) * gravity.dot(system.center(body));
            totals.elastic_energy += system.elastic_energy(body);
            totals.momentum += system.momentum(body);
        }
        totals
    }

    fn columns(&self) -> Vec<String> {
        self.wet.columns().into_iter().chain(self.bodies.columns()).collect()
    }

    fn measure(&self, values: &mut Vec<f64>) {
        let first = values.len();
        self.wet.measure(values);
        self.bodies.add_wall_forces(&mut values[first..]);
        self.bodies.measure(values);
    }
}

impl Connections {
    /// Springs: bodies and liquid at once.
    fn step_side_by_side(&mut self, time: f64, dt: f64, report: &mut StepReport) -> Result<(), StepError> {
        let liquid = &mut self.wet.liquid;
        report.stage("sort particles", || liquid.sort(time, dt)); // 1
        report.stage("find neighbours", || liquid.find_neighbours()); // 2
        report.stage("connect liquid", || self.connect_liquid()); // 7
        let Self { wet, bodies, pushes, beside, .. } = self;
        let gravity = wet.gravity;
        beside.clear();
        let (by_liquid, by_bodies) = rayon::join(
            || step_liquid(wet, pushes, [time, dt], report), // 3 to 9
            || bodies.step(gravity, [time, dt], beside),     // 11
        );
        report.absorb(beside);
        by_liquid.and(by_bodies)
    }

    /// Skins: the liquid as with the method `gauss`, then the bodies with what it did to their skins.
    fn step_with_skins(&mut self, time: f64, dt: f64, report: &mut StepReport) -> Result<(), StepError> {
        let Self { wet, bodies, .. } = self;
        report.stage("carry skins", || bodies.place_in(&mut wet.liquid));
        wet.step_liquid(time, dt, report)?; // 1 to 9
        bodies.take_forces(&wet.liquid);
        bodies.step(wet.gravity, [time, dt], report)?; // 11
        report.stage("keep before bodies", || bodies.keep_liquid_out(&mut wet.liquid, dt));
        report.count("wet triangles", wet.liquid.wet_triangles() as f64);
        Ok(())
    }

    /// Projection and SPH: bodies after the liquid.
    fn step_in_turn(&mut self, time: f64, dt: f64, report: &mut StepReport) -> Result<(), StepError> {
        if self.wetting == Wetting::Sph {
            report.stage("join liquid", || self.join_liquid()); // 0
        }
        let liquid = &mut self.wet.liquid;
        report.stage("sort particles", || liquid.sort(time, dt)); // 1
        report.stage("find neighbours", || liquid.find_neighbours()); // 2
        step_liquid(&mut self.wet, &self.pushes, [time, dt], report)?; // 3 to 9
        if self.wetting == Wetting::Sph {
            report.stage("leave liquid", || self.leave_liquid(dt)); // 10
        }
        self.bodies.step(self.wet.gravity, [time, dt], report) // 11
    }

    /// Without liquid: walls are shown where they are.
    fn place_walls(&mut self, time: f64, dt: f64) {
        self.wet.liquid.sort(time, dt);
        self.wet.liquid.touch_placed_walls(&self.wet.walls);
    }

    /// Springs between bodies and liquid.
    fn connect_liquid(&mut self) {
        let liquid = &self.wet.liquid;
        let particles = &liquid.state().particles;
        let drops = Drops {
            grid: liquid.grid(),
            position: &particles.position,
            velocity: &particles.velocity,
            liquid: &particles.liquid,
            mass: &self.masses,
            radius: drop_radius(liquid),
        };
        self.bodies.system.connect_liquid(&drops, &mut self.pushes);
    }

    /// Takes overlaps between bodies and liquid away.
    fn part_liquid(&mut self, dt: f64) {
        let radius = drop_radius(&self.wet.liquid);
        let (particles, grid) = self.wet.liquid.particles_and_grid_mut();
        self.bodies.system.part_liquid(
            (grid, radius),
            (&mut particles.position, &mut particles.velocity),
            (&particles.liquid, &self.masses),
            dt,
        );
    }

    /// The particles of bodies take their places among the liquid's.
    fn join_liquid(&mut self) {
        self.before.clear();
        self.before.resize(self.bodies.system.masses().len(), Vec3::ZERO);
        let first = self.first_id;
        let state = self.bodies.system.state();
        let particles = self.wet.liquid.particles_mut();
        for i in 0..particles.len() {
            let k = particles.id[i].wrapping_sub(first) as usize;
            if k < state.position.len() {
                particles.position[i] = state.position[k].as_vec3();
                particles.velocity[i] = state.velocity[k].as_vec3();
                self.before[k] = particles.velocity[i];
            }
        }
    }

    /// What the liquid has done to the particles of bodies: F = m (Δv/dt − g).
    fn leave_liquid(&mut self, dt: f64) {
        let (first, gravity) = (self.first_id, self.wet.gravity);
        let particles = &self.wet.liquid.state().particles;
        let count = self.before.len();
        for (id, v) in particles.id.iter().zip(&particles.velocity) {
            let k = id.wrapping_sub(first) as usize;
            if k < count {
                let change = (*v - self.before[k]).as_dvec3() / dt - gravity;
                let force = change * self.bodies.system.masses()[k];
                self.bodies.system.external_mut()[k] = force;
            }
        }
    }
}

/// The liquid from its walls to its advance; `pushes` are what bodies do to it.
fn step_liquid(
    Gauss { liquid, walls, gravity, .. }: &mut Gauss,
    pushes: &Pushes,
    [time, dt]: [f64; 2],
    report: &mut StepReport,
) -> Result<(), StepError> {
    let gravity = *gravity;
    let add = |liquid: &mut Liquid| {
        let accelerations = liquid.accelerations_mut();
        pushes.iter().for_each(|(j, push)| accelerations[j as usize] += push);
    };
    report.stage("touch walls", || liquid.touch_placed_walls(walls)); // 3
    match liquid.setup().params.pressure {
        PressureSolver::Dfsph => {
            report.stage("sum density", || liquid.sum_density_and_gradients())?; // 4
            let divergence = report.stage("remove divergence", || liquid.remove_divergence(dt))?; // 5
            report.stage("sum forces", || liquid.sum_forces(gravity, dt))?; // 6
            let mut viscosity = None;
            if liquid.setup().params.viscosity == ViscositySolver::Implicit {
                viscosity = Some(report.stage("solve viscosity", || liquid.solve_viscosity(dt))?);
            }
            add(liquid);
            let density = report.stage("find pressure", || liquid.find_pressure(gravity, dt))?; // 8
            report_solves(report, [&divergence, &density], viscosity.as_ref());
            report.count(SHIFT_WORK, liquid.shift_work());
        }
        PressureSolver::StateEquation => {
            report.stage("sum density", || liquid.sum_density())?; // 4  [B eq. 10]
            report.stage("find pressure", || liquid.apply_state_equation()); // 8  [B eq. 14]
            report.stage("sum forces", || liquid.sum_all_forces(gravity))?; // 6  [B, unnumbered]
            add(liquid);
        }
    }
    report.stage("advance", || liquid.advance(time, dt))?; // 9
    // Animated walls.
    liquid.keep_before_bodies(|_, _| {}, dt);
    Ok(())
}
