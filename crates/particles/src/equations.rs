//! The equations of motion of all bodies, and of one alone, as integrators see them.

use crate::contact_law::{Law, Meeting, Memory};
use crate::integrator::{Integrable, Integrator};
use crate::interface::{Interface, Matter, Now};
use crate::motion::{Body, BodySlice, HEAVY, LIGHT, Start};
use crate::system::System;
use glam::DVec3;
use meniscus_boundary::Boundaries;

/// The particles of one body.
pub(crate) struct Own<'a> {
    /// Number of the first among all.
    pub(crate) first: usize,
    pub(crate) position: &'a [DVec3],
    pub(crate) velocity: &'a [DVec3],
    /// Positions of the particles of all bodies when the step began \[m\].
    pub(crate) start: &'a [DVec3],
}

/// The geometry of the k-th particle of a body at a wall, if anything acts between them; `since` \[s\] is the time since the
/// step began.
pub(crate) fn meet_wall(
    (walls, wall): (&Boundaries, usize),
    k: usize,
    own: &Own,
    (matter, law): (&Matter, &Law),
    memory: &Memory,
    since: f64,
) -> Option<Meeting> {
    let (x, i) = (own.position[k], own.first + k);
    let (distance, normal) = walls.distance(wall, x);
    let (length, inverse_mass) = (matter.radius[i], matter.inverse_mass[i]);
    let overlap = length - distance;
    if law.apart(overlap, memory) || inverse_mass == 0.0 {
        return None;
    }
    let of_wall = walls.velocity(wall, x);
    Some(Meeting {
        overlap,
        normal,
        velocity: own.velocity[k] - of_wall,
        moved: x - own.start[i] - of_wall * since,
        length,
        inverse_mass,
    })
}

/// All bodies as one system of equations.
pub(crate) struct Whole<'a> {
    slice: BodySlice<'a>,
    from: &'a [DVec3],
    interface: &'a mut Interface,
    matter: &'a Matter,
    external: &'a [DVec3],
    memories: &'a [Memory],
    near: &'a [bool],
    walls: &'a mut Boundaries,
    gravity: DVec3,
    /// When the step began \[s\].
    time: f64,
    /// Of dynamic connections; none if they do not act.
    law: Option<Law>,
}

impl<'a> Whole<'a> {
    pub(crate) fn new(
        system: &'a mut System,
        walls: &'a mut Boundaries,
        gravity: DVec3,
        time: f64,
        law: Option<Law>,
    ) -> Self {
        let System { bodies, matter, state, interface, work, .. } = system;
        let slice = BodySlice {
            bodies,
            position: &mut state.position,
            velocity: &mut state.velocity,
            rigid: &mut state.rigid,
            force: &mut work.force,
            rates: &mut work.rates,
            start: Start {
                position: &mut work.start,
                velocity: &mut work.start_velocity,
                rigid: &mut work.start_rigid,
                sum_velocity: &mut work.sum_velocity,
                sum_acceleration: &mut work.sum_acceleration,
                sum_rates: &mut work.sum_rates,
            },
            inverse_mass: &matter.inverse_mass,
        };
        let (external, near, from) = (&work.external, &work.near, &work.from);
        Self { slice, from, interface, matter, external, memories: &state.walls, near, walls, gravity, time, law }
    }

    /// Forces between bodies and of walls at a time \[s\], on top of what is there.
    fn add_contact_forces(&mut self, time: f64) {
        let Some(law) = self.law else { return };
        self.walls.place_at(time);
        let Self { slice, matter, walls, memories, near, .. } = self;
        let (count, since) = (walls.sides().len(), time - self.time);
        let (walls, matter, memories, near, from) = (&**walls, *matter, *memories, *near, self.from);
        slice.reborrow().each(LIGHT, &|body, slice| {
            let number = matter.body[body.range.start] as usize;
            let own = Own { first: body.range.start, position: slice.position, velocity: slice.velocity, start: from };
            for wall in (0..count).filter(|wall| near[number * count + wall]) {
                for (k, force) in slice.force.iter_mut().enumerate() {
                    let memory = &memories[(own.first + k) * count + wall];
                    if let Some(meeting) = meet_wall((walls, wall), k, &own, (matter, &law), memory, since) {
                        *force += law.force(&meeting, memory);
                    }
                }
            }
        });
        let BodySlice { position, velocity, force, .. } = slice;
        let now = Now { position, velocity, start: self.from };
        self.interface.push(&law, now, matter, force);
    }

    /// Dynamic connections and walls act once, as impulses; then every body moves on its own, in steps of its own.
    pub(crate) fn step_locally(&mut self, integrator: Integrator, [time, dt]: [f64; 2]) {
        self.slice.force.fill(DVec3::ZERO);
        self.add_contact_forces(time);
        let (gravity, matter, external) = (self.gravity, self.matter, self.external);
        self.slice.reborrow().each(HEAVY, &|body, slice| {
            slice.kick(body, dt);
            let steps = (dt / body.highest_mode.longest_step(integrator)).ceil().max(1.0);
            let mut alone = Alone { slice, body, gravity, matter, external };
            for step in 0..steps as u32 {
                integrator.step(&mut alone, time + f64::from(step) * dt / steps, dt / steps);
            }
        });
    }
}

impl Integrable for Whole<'_> {
    fn begin(&mut self) {
        self.slice.reborrow().each(LIGHT, &|_, slice| slice.begin());
    }

    fn evaluate(&mut self, time: f64, weight: f64) {
        let (gravity, matter, external) = (self.gravity, self.matter, self.external);
        self.slice.reborrow().each(HEAVY, &|body, slice| slice.weigh(body, gravity, &matter.mass, external));
        self.add_contact_forces(time);
        self.slice.reborrow().each(LIGHT, &|body, slice| slice.rate(body, weight));
    }

    fn reach(&mut self, length: f64) {
        self.slice.reborrow().each(LIGHT, &|body, slice| slice.reach(body, length));
    }

    fn finish(&mut self, length: f64) {
        self.slice.reborrow().each(LIGHT, &|body, slice| slice.finish(body, length));
    }
}

/// One body by itself.
struct Alone<'a, 'b> {
    slice: &'a mut BodySlice<'b>,
    body: &'a Body,
    gravity: DVec3,
    matter: &'a Matter,
    external: &'a [DVec3],
}

impl Integrable for Alone<'_, '_> {
    fn begin(&mut self) {
        self.slice.begin();
    }

    fn evaluate(&mut self, _: f64, weight: f64) {
        self.slice.weigh(self.body, self.gravity, &self.matter.mass, self.external);
        self.slice.rate(self.body, weight);
    }

    fn reach(&mut self, length: f64) {
        self.slice.reach(self.body, length);
    }

    fn finish(&mut self, length: f64) {
        self.slice.finish(self.body, length);
    }
}
