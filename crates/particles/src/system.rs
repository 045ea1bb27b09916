//! Bodies together: their state, their step, what they weigh and carry.
//!
//! One step of length dt, cut into as many as the stiffest spring asks for; the names are those of the step report:
//!
//! | | stage | what happens |
//! |---|---|---|
//! | 1 | connect bodies | pairs of particles that can touch are listed, if any has moved far enough |
//! | 2 | move bodies | the integrator asks for forces: gravity, static connections \[B eqs 2–4\], walls, dynamic connections; rigid bodies take their sums \[B eqs 5, 6\] |
//! | 3 | resolve overlaps | with the projection: overlaps are taken away |
//! | 4 | remember | what friction holds, what sticks |

use crate::contact_law::{DynamicConnection, Law, Memory};
use crate::definitions::{Deformable, Rigid, RigidMotion};
use crate::equations::{Own, Whole, meet_wall};
use crate::error::BodyError;
use crate::interface::{Interface, Matter, Now};
use crate::motion::{Body, Frame, HighestMode, Kind, RigidRates};
use crate::params::{InterfaceKind, Params, Steps};
use crate::projection::Projection;
use glam::DVec3;
use meniscus_boundary::Boundaries;
use meniscus_core::{Fault, StepError, StepReport, Wrench, par};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// More steps than this within one are not taken: bodies are too stiff or too light to be computed.
const MAX_STEPS: f64 = 1e4;

/// What a checkpoint holds.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// Positions of all particles \[m\], body after body.
    pub position: Vec<DVec3>,
    /// Velocities of all particles \[m/s\].
    pub velocity: Vec<DVec3>,
    /// One for each body; without meaning for deformable ones.
    pub rigid: Vec<RigidMotion>,
    /// Dynamic connections that remember something.
    pub dynamic_connections: Vec<DynamicConnection>,
    /// Contacts with walls: all surfaces of the first particle, then of the second.
    pub walls: Vec<Memory>,
}

impl State {
    /// A copy into memory that is there.
    fn copy_from(&mut self, other: &Self) {
        self.position.clone_from(&other.position);
        self.velocity.clone_from(&other.velocity);
        self.rigid.clone_from(&other.rigid);
        self.dynamic_connections.clone_from(&other.dynamic_connections);
        self.walls.clone_from(&other.walls);
    }
}

/// Bodies of particles that move and touch.
pub struct System {
    pub(crate) params: Params,
    pub(crate) law: Law,
    /// Of connections with liquid \[Pa\].
    pub(crate) liquid_modulus: f64,
    /// Over what is stable, as in `time.courant` of a scene.
    pub(crate) courant: f64,
    pub(crate) bodies: Vec<Body>,
    pub(crate) matter: Matter,
    pub(crate) state: State,
    before: State,
    pub(crate) interface: Interface,
    pub(crate) projection: Projection,
    pub(crate) work: Workspace,
    reactions: Vec<Wrench>,
}

/// Memory that means nothing between steps.
#[derive(Default)]
pub(crate) struct Workspace {
    pub(crate) force: Vec<DVec3>,
    pub(crate) external: Vec<DVec3>,
    pub(crate) rates: Vec<RigidRates>,
    /// Where the particles were when the step began \[m\].
    pub(crate) from: Vec<DVec3>,
    pub(crate) start: Vec<DVec3>,
    pub(crate) start_velocity: Vec<DVec3>,
    pub(crate) start_rigid: Vec<RigidMotion>,
    pub(crate) sum_velocity: Vec<DVec3>,
    pub(crate) sum_acceleration: Vec<DVec3>,
    pub(crate) sum_rates: Vec<RigidRates>,
    /// Particles of bodies and of a liquid that may overlap.
    pub(crate) wet_pairs: Vec<Vec<[u32; 2]>>,
    /// Whether liquid may touch a body.
    pub(crate) wet_bodies: Vec<bool>,
    /// Whether a body is near a wall: all walls of the first body, then of the second.
    pub(crate) near: Vec<bool>,
}

impl System {
    /// No bodies yet. `modulus` \[Pa\] is that of dynamic connections unless the parameters have one; `courant` is the share of
    /// a particle's size that may be crossed in a step.
    #[must_use]
    pub fn new(params: Params, modulus: f64, courant: f64) -> Self {
        let law = Law::new(&params, params.modulus.unwrap_or(modulus));
        Self {
            params,
            law,
            liquid_modulus: 0.0,
            courant,
            bodies: Vec::new(),
            matter: Matter::default(),
            state: State::default(),
            before: State::default(),
            interface: Interface::default(),
            projection: Projection::default(),
            work: Workspace::default(),
            reactions: Vec::new(),
        }
    }

    /// Lets connections with liquid have a modulus \[Pa\], unless the parameters have one.
    #[must_use]
    pub fn with_liquid_modulus(mut self, modulus: f64) -> Self {
        self.liquid_modulus = self.params.liquid_modulus.unwrap_or(modulus);
        self
    }

    /// Adds a deformable body.
    ///
    /// # Errors
    /// When it is none.
    pub fn add_deformable(&mut self, body: &Deformable) -> Result<(), BodyError> {
        crate::definitions::check(&body.particles, true)?;
        let count = body.particles.len();
        for (index, c) in body.connections.iter().enumerate() {
            let there = c.ends.iter().all(|&end| (end as usize) < count) && c.ends[0] != c.ends[1];
            let sane = |value: f64| value >= 0.0 && value.is_finite();
            if !(there && sane(c.stiffness) && sane(c.length) && sane(c.damping)) {
                return Err(BodyError::Connection { index });
            }
        }
        let highest_mode = HighestMode::of(&body.particles, &body.connections);
        let kind = Kind::Deformable(body.connections.clone());
        self.push_body(&body.name, kind, highest_mode, RigidMotion::default(), &body.particles);
        Ok(())
    }

    /// Adds a rigid body.
    ///
    /// # Errors
    /// When it is none.
    pub fn add_rigid(&mut self, body: &Rigid) -> Result<(), BodyError> {
        crate::definitions::check(&body.particles, false)?;
        let inverse = body.motion.orientation.inverse();
        let frame = Frame {
            positions: body.particles.iter().map(|e| inverse * (e.position - body.motion.center)).collect(),
            mass: body.mass,
            inverse_inertia: body.inertia.inverse(),
        };
        let range = self.push_body(
            &body.name,
            Kind::Rigid(frame.clone()),
            HighestMode::default(),
            body.motion,
            &body.particles,
        );
        frame.place(&body.motion, &mut self.state.position[range.clone()], &mut self.state.velocity[range]);
        Ok(())
    }

    fn push_body(
        &mut self,
        name: &str,
        kind: Kind,
        highest_mode: HighestMode,
        motion: RigidMotion,
        particles: &[crate::Particle],
    ) -> Range<usize> {
        let (first, number) = (self.matter.mass.len(), self.bodies.len() as u32);
        let range = first..first + particles.len();
        for e in particles {
            self.matter.mass.push(e.mass);
            self.matter.inverse_mass.push(1.0 / e.mass);
            self.matter.radius.push(e.radius);
            self.matter.body.push(number);
            self.matter.rest.push(e.position);
            self.state.position.push(e.position);
            self.state.velocity.push(e.velocity);
        }
        self.state.rigid.push(motion);
        // A particle of a surface is met by about two others; the bound of a sum is twice that.
        let rate = |e: &crate::Particle| 4.0 * self.law.modulus * 2.0 * e.radius * (1.0 / e.mass);
        let sizes = particles.iter().map(|e| 2.0 * e.radius);
        self.bodies.push(Body {
            name: name.into(),
            range: range.clone(),
            kind,
            highest_mode,
            radius: particles.iter().map(|e| e.radius).fold(0.0, f64::max),
            smallest: sizes.filter(|size| *size > 0.0).fold(f64::INFINITY, f64::min),
            contact_rate: particles.iter().map(rate).fold(0.0, f64::max),
        });
        self.work.external.resize(self.matter.mass.len(), DVec3::ZERO);
        range
    }

    /// Number of bodies.
    #[must_use]
    pub fn bodies(&self) -> usize {
        self.bodies.len()
    }

    /// The particles of a body among all.
    #[must_use]
    pub fn particles_of(&self, body: usize) -> Range<usize> {
        self.bodies[body].range.clone()
    }

    /// The state.
    #[must_use]
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Masses of all particles \[kg\].
    #[must_use]
    pub fn masses(&self) -> &[f64] {
        &self.matter.mass
    }

    /// Inverse masses of all particles \[1/kg\], zero for those that stay where they are.
    #[must_use]
    pub fn inverse_masses(&self) -> &[f64] {
        &self.matter.inverse_mass
    }

    /// Radii of all particles \[m\].
    #[must_use]
    pub fn radii(&self) -> &[f64] {
        &self.matter.radius
    }

    /// Forces from outside on all particles \[N\], which act until they are changed.
    pub fn external_mut(&mut self) -> &mut [DVec3] {
        &mut self.work.external
    }

    /// The state for a checkpoint.
    #[must_use]
    pub fn save(&self) -> State {
        // Which pairs may touch soon depends on when they were last looked for, and is found anew; what has touched counts.
        let remembers = |pair: &&DynamicConnection| pair.memory != Memory::default();
        let dynamic_connections = self.interface.dynamic_connections.iter().filter(remembers).copied().collect();
        State { dynamic_connections, ..self.state.clone() }
    }

    /// Takes over a state; `false`, and nothing happens, if it is not one of these bodies.
    #[must_use]
    pub fn restore(&mut self, state: State) -> bool {
        let (particles, bodies) = (self.matter.mass.len(), self.bodies.len());
        let fits = state.position.len() == particles
            && state.velocity.len() == particles
            && state.rigid.len() == bodies
            && state.dynamic_connections.is_sorted_by_key(|pair| pair.ends)
            && state.dynamic_connections.iter().flat_map(|pair| pair.ends).all(|end| (end as usize) < particles)
            && state.walls.len().is_multiple_of(particles.max(1));
        if fits {
            self.interface.dynamic_connections.clone_from(&state.dynamic_connections);
            self.interface.forget_search();
            self.state = State { dynamic_connections: Vec::new(), ..state };
        }
        fits
    }

    /// Undoes the last step.
    pub fn roll_back(&mut self) {
        std::mem::swap(&mut self.state, &mut self.before);
        self.interface.dynamic_connections.clone_from(&self.state.dynamic_connections);
        self.state.dynamic_connections.clear();
        self.interface.forget_search();
    }

    /// Adds velocity within a ball, most at its centre, none at its rim; a rigid body takes the mean of its particles.
    pub fn poke(&mut self, center: DVec3, radius: f64, velocity: DVec3) {
        for (number, body) in self.bodies.iter().enumerate() {
            let range = body.range.clone();
            let push = |i: usize| {
                let q = self.state.position[i].distance(center) / radius;
                let share = if q < 1.0 { (1.0 - q * q) * (1.0 - q * q) } else { 0.0 };
                velocity * share
            };
            match &body.kind {
                Kind::Deformable(_) => {
                    for i in range.filter(|&i| self.matter.inverse_mass[i] > 0.0) {
                        let push = push(i);
                        self.state.velocity[i] += push;
                    }
                }
                Kind::Rigid(frame) => {
                    let mean = range.clone().map(|i| push(i) * self.matter.mass[i]).sum::<DVec3>() / frame.mass;
                    self.state.rigid[number].velocity += mean;
                    self.state.velocity[range].iter_mut().for_each(|v| *v += mean);
                }
            }
        }
    }

    /// Force and torque about the origin on each side of the walls in the last step.
    #[must_use]
    pub fn reactions(&self) -> &[Wrench] {
        &self.reactions
    }

    /// Number of dynamic connections that exist.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.interface.existing(&self.state.position, &self.matter)
    }

    /// Fastest particle \[m/s\].
    #[must_use]
    pub fn max_speed(&self) -> f64 {
        let velocity = &self.state.velocity;
        par::max(velocity.len(), 0.0, |i| velocity[i].length_squared()).sqrt()
    }

    /// Largest stable step \[s\] as the bodies are now: springs, and motion over the size of a particle.
    #[must_use]
    pub fn stable_step(&self) -> f64 {
        let relative = self.courant / 0.4;
        let integrator = self.params.integrator;
        let springs =
            self.bodies.iter().map(|body| body.highest_mode.longest_step(integrator)).fold(f64::INFINITY, f64::min);
        let (contact, smallest) = self.stiffest_contact();
        let by_motion = self.courant * smallest / self.max_speed().max(1e-12);
        let by_springs = match (self.params.interface, self.params.steps) {
            (InterfaceKind::Projection, Steps::Global) => springs,
            (InterfaceKind::Projection, Steps::Local) => f64::INFINITY,
            (_, Steps::Global) => springs.min(contact.longest_step(integrator)),
            // What acts once a step acts before the motion: stable up to 2/ω.
            (_, Steps::Local) => 1.0 / contact.frequency,
        };
        by_motion.min(relative * by_springs)
    }

    /// The shortest step that a body takes for its own springs \[s\], and which; none without deformable bodies.
    #[must_use]
    pub fn finest_step(&self) -> Option<(f64, &str)> {
        let integrator = self.params.integrator;
        let steps = self.bodies.iter().map(|body| (body.highest_mode.longest_step(integrator), body.name.as_str()));
        steps.filter(|(step, _)| !step.is_infinite()).min_by(|a, b| a.0.total_cmp(&b.0))
    }

    /// The fastest dynamic connection, and the smallest distance of touch \[m\].
    fn stiffest_contact(&self) -> (HighestMode, f64) {
        let smallest = self.bodies.iter().map(|body| body.smallest).fold(f64::INFINITY, f64::min);
        let frequency = self.bodies.iter().map(|body| body.contact_rate).fold(0.0, f64::max).sqrt();
        (HighestMode { frequency, damping: self.params.damping_ratio }, smallest)
    }

    /// Moves all bodies from `time` by `dt` \[s\] in as many steps as they need.
    ///
    /// # Errors
    /// When a position or a velocity is not finite.
    pub fn step(
        &mut self,
        walls: &mut Boundaries,
        gravity: DVec3,
        [time, dt]: [f64; 2],
        report: &mut StepReport,
    ) -> Result<(), StepError> {
        self.begin(walls.sides().len());
        let mut now = time;
        let end = time + dt;
        let mut steps = 0.0;
        while now < end {
            let stable = self.stable_step();
            let left = end - now;
            let parts = (left / stable).ceil().max(1.0);
            if parts.is_nan() {
                return Err(self.not_finite());
            }
            if parts > MAX_STEPS {
                let fault = Fault::StepTooSmall { needed: stable, smallest: left / MAX_STEPS };
                return Err(StepError { stage: "move bodies".into(), body: "bodies".into(), index: None, fault });
            }
            let part = left / parts;
            self.step_once(walls, gravity, [now, part], report);
            now = if parts == 1.0 { end } else { now + part };
            steps += 1.0;
        }
        report.count("body steps", steps);
        let connections = match self.params.interface {
            InterfaceKind::Projection => self.projection.parted,
            InterfaceKind::Springs | InterfaceKind::Sph => self.connections(),
        };
        report.count("connections", connections as f64);
        self.reactions.iter_mut().for_each(|reaction| {
            reaction.force /= steps;
            reaction.torque /= steps;
        });
        let state = &self.state;
        match par::find_first(state.position.len(), |i| !(state.position[i] + state.velocity[i]).is_finite()) {
            None => Ok(()),
            Some(_) => Err(self.not_finite()),
        }
    }

    fn begin(&mut self, walls: usize) {
        let particles = self.matter.mass.len();
        self.state.walls.resize(walls * particles, Memory::default());
        self.before.copy_from(&self.state);
        self.before.dynamic_connections.clone_from(&self.interface.dynamic_connections);
        self.reactions.clear();
        self.reactions.resize(walls, Wrench::ZERO);
        let work = &mut self.work;
        for array in [
            &mut work.force,
            &mut work.from,
            &mut work.start,
            &mut work.start_velocity,
            &mut work.sum_velocity,
            &mut work.sum_acceleration,
        ] {
            array.resize(particles, DVec3::ZERO);
        }
        work.rates.resize(self.bodies.len(), RigidRates::default());
        work.sum_rates.resize(self.bodies.len(), RigidRates::default());
        work.start_rigid.resize(self.bodies.len(), RigidMotion::default());
    }

    fn not_finite(&self) -> StepError {
        let state = &self.state;
        let bad = |i: usize| !(state.position[i] + state.velocity[i]).is_finite();
        let i = par::find_first(state.position.len(), bad).unwrap_or(0);
        let body = &self.bodies[self.matter.body[i] as usize];
        StepError::not_finite("move bodies", &body.name, (i - body.range.start) as u64, "velocity")
    }

    fn step_once(&mut self, walls: &mut Boundaries, gravity: DVec3, [time, dt]: [f64; 2], report: &mut StepReport) {
        walls.place_at(time);
        self.work.from.copy_from_slice(&self.state.position);
        let ahead = 1.5 * self.max_speed() * dt;
        self.find_near_walls(walls, ahead);
        let (interface, state) = (&mut self.interface, &self.state);
        report.stage("connect bodies", || {
            let now = [&state.position[..], &state.velocity[..]];
            interface.update(now, 1.5 * dt, &self.law, (&self.bodies, &self.matter)); // 1
        });
        let springs = self.params.interface != InterfaceKind::Projection;
        report.stage("move bodies", || self.advance(walls, gravity, [time, dt], springs)); // 2
        walls.place_at(time + dt);
        if !springs {
            report.stage("resolve overlaps", || self.resolve_overlaps(walls, dt)); // 3
        }
        report.stage("remember", || self.remember(walls, dt, springs)); // 4
    }

    fn advance(&mut self, walls: &mut Boundaries, gravity: DVec3, [time, dt]: [f64; 2], springs: bool) {
        let (integrator, steps) = (self.params.integrator, self.params.steps);
        let law = springs.then_some(self.law);
        let mut whole = Whole::new(self, walls, gravity, time, law);
        match steps {
            Steps::Global => integrator.step(&mut whole, time, dt),
            Steps::Local => whole.step_locally(integrator, [time, dt]),
        }
    }

    /// Which bodies can meet which walls in a step in which they move by `ahead` \[m\].
    fn find_near_walls(&mut self, walls: &Boundaries, ahead: f64) {
        let near = &mut self.work.near;
        near.clear();
        for body in &self.bodies {
            let positions = &self.state.position[body.range.clone()];
            let bounds = meniscus_geometry::Aabb::around(positions.iter().copied());
            let reach = 0.5 * bounds.size().length() + body.radius * (1.0 + self.params.sticky) + 2.0 * ahead;
            near.extend((0..walls.sides().len()).map(|wall| walls.distance(wall, bounds.center()).0 < reach));
        }
    }

    fn remember(&mut self, walls: &Boundaries, dt: f64, springs: bool) {
        let now = Now { position: &self.state.position, velocity: &self.state.velocity, start: &self.work.from };
        if springs {
            self.interface.remember(&self.law, now, &self.matter);
        }
        let count = walls.sides().len();
        for (number, body) in self.bodies.iter().enumerate() {
            for wall in (0..count).filter(|wall| self.work.near[number * count + wall]) {
                let own = Own {
                    first: body.range.start,
                    position: &self.state.position[body.range.clone()],
                    velocity: &self.state.velocity[body.range.clone()],
                    start: &self.work.from,
                };
                for (k, x) in own.position.iter().enumerate() {
                    let memory = &mut self.state.walls[(own.first + k) * count + wall];
                    match meet_wall((walls, wall), k, &own, (&self.matter, &self.law), memory, dt) {
                        Some(meeting) if springs => {
                            let force = -self.law.force(&meeting, memory);
                            self.reactions[wall].force += force;
                            self.reactions[wall].torque += x.cross(force);
                            self.law.remember(&meeting, memory);
                        }
                        _ if *memory != Memory::default() => *memory = Memory::default(),
                        _ => {}
                    }
                }
            }
        }
    }

    fn resolve_overlaps(&mut self, walls: &Boundaries, dt: f64) {
        let Self { params, bodies, matter, state, interface, projection, work, reactions, .. } = self;
        projection.run(
            params,
            (bodies, matter),
            state,
            (&interface.dynamic_connections, &work.from),
            (walls, &work.near),
            dt,
        );
        projection.react(reactions);
    }
}
