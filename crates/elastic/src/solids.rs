//! Elastic bodies in motion: steps of their own within a step of the liquid.
//!
//! A step of the liquid is cut into equal sub-steps, as many as the stiffest body asks for. In each, forces are found where the
//! particles are, velocities are changed by them and positions by velocities: a leapfrog, which keeps energy in the mean.
//! Walls and rigid bodies stop particles half a spacing away from them. Surfaces of different bodies that are nearer than a spacing
//! push each other apart, with friction (`contact_law.rs`).

use crate::contact_law::{Contacts, Moving, REACH};
use crate::elastic::{Elastic, ElasticMaterial, Strain};
use glam::{DMat3, DVec3, Vec3};
use meniscus_boundary::{Obstacles, RigidCompliance};
use meniscus_core::{Fault, StepError, Wrench, par};
use meniscus_geometry::{NeighbourGrid, Periodic};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Sub-steps within a step of the liquid; a body that asks for more is too stiff, too light or too damped to be computed.
const MAX_SUBSTEPS: f64 = 1e4;

/// A particle that is led along some axes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prescribed {
    /// The particle, within its body.
    pub particle: u32,
    /// One along the axes in which it is led, zero along the others.
    pub axes: DVec3,
    /// Where it is at the end of the step \[m\].
    pub end: DVec3,
}

/// A body.
#[derive(Debug, Clone)]
pub struct SolidBody {
    /// Its name.
    pub name: String,
    /// Its shape at rest.
    pub elastic: Elastic,
    /// Positions at rest \[m\].
    pub rest: Vec<DVec3>,
    /// Particles that are led.
    pub prescribed: Vec<Prescribed>,
    /// Its particles among those of all bodies.
    pub particles: Range<usize>,
}

/// What a checkpoint holds: all particles of all bodies.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SolidState {
    /// Positions \[m\].
    pub position: Vec<DVec3>,
    /// Velocities \[m/s\].
    pub velocity: Vec<DVec3>,
    /// What the liquid did to each particle in the last step \[N\].
    pub force: Vec<DVec3>,
    /// Impulses that it still owes them \[N·s\].
    pub owed: Vec<DVec3>,
    /// Plastic strains; empty if no body yields.
    pub plastic: Vec<DMat3>,
    /// Part of `force` that is drag of liquid in pores \[N\]; empty if no body has any.
    pub drag: Vec<DVec3>,
    /// What friction with other bodies remembers of the slip of each particle \[m\]; empty if there is only one body.
    pub slip: Vec<DVec3>,
}

impl Clone for SolidState {
    fn clone(&self) -> Self {
        let mut copy = Self::default();
        copy.clone_from(self);
        copy
    }

    /// Into the memory that is there.
    fn clone_from(&mut self, source: &Self) {
        let Self { position, velocity, force, owed, plastic, drag, slip } = self;
        position.clone_from(&source.position);
        velocity.clone_from(&source.velocity);
        force.clone_from(&source.force);
        owed.clone_from(&source.owed);
        plastic.clone_from(&source.plastic);
        drag.clone_from(&source.drag);
        slip.clone_from(&source.slip);
    }
}

/// Bodies with their state.
#[derive(Debug, Clone, Default)]
pub struct Solids {
    bodies: Vec<SolidBody>,
    spacing: f64,
    friction: f64,
    state: SolidState,
    before: SolidState,
    strains: Vec<Strain>,
    forces: Vec<DVec3>,
    /// Pairs of particles of different bodies that may touch in the step.
    near: Vec<(u32, u32)>,
    contacts: Contacts,
    /// Particles and sides that may touch in the step.
    beside: Vec<(u32, u32)>,
    grid: NeighbourGrid,
    singles: Vec<Vec3>,
    /// Impulse \[N·s\] and its moment about the origin \[N·m·s\] on each obstacle in the step.
    reactions: Vec<Wrench>,
    begun: bool,
    substeps: u32,
    pulls: Vec<(u32, DVec3)>,
}

impl Solids {
    /// No bodies, particles a spacing \[m\] apart, Coulomb friction at walls and between bodies (dimensionless).
    #[must_use]
    pub fn new(spacing: f64, friction: f64) -> Self {
        Self { spacing, friction, ..Self::default() }
    }

    /// Adds a body of particles at positions \[m\] that share a volume \[m³\].
    pub fn add(&mut self, name: &str, positions: Vec<DVec3>, volume: f64, material: ElasticMaterial) {
        let start = self.state.position.len();
        let elastic = Elastic::new(&positions, self.spacing, volume, material);
        self.contacts.add(&positions, self.spacing);
        let SolidState { position, velocity, force, owed, plastic, drag, slip } = &mut self.state;
        position.extend_from_slice(&positions);
        for zeroed in [velocity, force, owed] {
            zeroed.resize(position.len(), DVec3::ZERO);
        }
        if material.plasticity.is_some() || !plastic.is_empty() {
            plastic.resize(position.len(), DMat3::ZERO);
        }
        if !drag.is_empty() {
            drag.resize(position.len(), DVec3::ZERO);
        }
        if !self.bodies.is_empty() {
            slip.resize(position.len(), DVec3::ZERO);
        }
        let particles = start..position.len();
        self.bodies.push(SolidBody { name: name.into(), elastic, rest: positions, prescribed: Vec::new(), particles });
        self.strains.push(Strain::default());
    }

    /// Makes room for the drag of liquid in pores.
    pub fn feel_drag(&mut self) {
        self.state.drag.resize(self.state.position.len(), DVec3::ZERO);
    }

    /// The bodies.
    #[must_use]
    pub fn bodies(&self) -> &[SolidBody] {
        &self.bodies
    }

    /// The bodies, to lead or to change.
    pub fn bodies_mut(&mut self) -> &mut [SolidBody] {
        &mut self.bodies
    }

    /// The bodies, and the state to change.
    pub fn bodies_and_state_mut(&mut self) -> (&[SolidBody], &mut SolidState) {
        (&self.bodies, &mut self.state)
    }

    /// The state.
    #[must_use]
    pub fn state(&self) -> &SolidState {
        &self.state
    }

    /// The state, to throw or to poke.
    pub fn state_mut(&mut self) -> &mut SolidState {
        &mut self.state
    }

    /// Forces \[N\] from outside on some particles, which act until they are changed.
    pub fn pulls_mut(&mut self) -> &mut Vec<(u32, DVec3)> {
        &mut self.pulls
    }

    /// Whether there are no bodies.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bodies.is_empty()
    }

    /// Takes over a state; whether it is one of these bodies.
    #[must_use]
    pub fn restore(&mut self, state: SolidState) -> bool {
        let count = self.state.position.len();
        let fits = [&state.position, &state.velocity, &state.force, &state.owed].iter().all(|v| v.len() == count)
            && state.plastic.len() == self.state.plastic.len()
            && state.drag.len() == self.state.drag.len()
            && state.slip.len() == self.state.slip.len();
        if fits {
            self.state = state;
            self.begun = false;
        }
        fits
    }

    /// Impulse \[N·s\] and its moment about the origin \[N·m·s\] on each obstacle in the last step: over its length, a force and a torque.
    #[must_use]
    pub fn reactions(&self) -> &[Wrench] {
        &self.reactions
    }

    /// Sub-steps of the last step.
    #[must_use]
    pub fn substeps(&self) -> u32 {
        self.substeps
    }

    /// Undoes the step under way.
    pub fn roll_back(&mut self) {
        if std::mem::take(&mut self.begun) {
            std::mem::swap(&mut self.state, &mut self.before);
        }
    }

    /// The step is over: it will not be undone.
    pub fn finish(&mut self) {
        self.begun = false;
    }

    /// Moves all bodies through a step of `dt` \[s\], under gravity \[m/s²\], the forces of the state and what is owed.
    ///
    /// # Errors
    /// When a particle goes where no number is.
    pub fn advance(&mut self, dt: f64, gravity: DVec3, obstacles: &mut Obstacles<'_>) -> Result<(), StepError> {
        self.begun = true;
        self.before.clone_from(&self.state);
        self.reactions.clear();
        self.reactions.resize(obstacles.count(), Wrench::ZERO);
        self.find_near(dt);
        self.find_beside(dt, obstacles);
        let stable = self.bodies.iter().map(|body| body.elastic.stable_step()).fold(f64::INFINITY, f64::min);
        let count = (dt / stable).ceil().max(1.0);
        if count.is_nan() || count > MAX_SUBSTEPS {
            return Err(self.too_stiff(dt));
        }
        self.substeps = count as u32;
        let step = dt / count;
        for number in 0..self.substeps {
            self.sum_forces(gravity, [dt, step]);
            self.kick_and_drift(step);
            self.prescribe(step, step * f64::from(self.substeps - 1 - number));
            obstacles.advance(step);
            self.bump(obstacles);
        }
        self.state.owed.fill(DVec3::ZERO);
        self.flow(dt);
        self.check()
    }

    /// The stiffest body asks for more sub-steps than there is time for.
    fn too_stiff(&self, dt: f64) -> StepError {
        let steps = self.bodies.iter().map(|body| (body.elastic.stable_step(), body));
        // A NaN comes first.
        let stiffest = steps.min_by(|a, b| a.0.max(0.0).total_cmp(&b.0.max(0.0)));
        let (needed, body) = stiffest.map_or((0.0, String::new()), |(step, body)| (step, body.name.clone()));
        let fault = Fault::StepTooSmall { needed, smallest: dt / MAX_SUBSTEPS };
        StepError { stage: "move solids".into(), body, index: None, fault }
    }

    /// Strain beyond yield turns plastic.
    fn flow(&mut self, dt: f64) {
        let Self { bodies, strains, state, .. } = self;
        for (body, strain) in bodies.iter().zip(strains) {
            if let Some(plastic) = state.plastic.get_mut(body.particles.clone()) {
                body.elastic.flow(strain, plastic, dt);
            }
        }
    }

    fn check(&self) -> Result<(), StepError> {
        let state = &self.state;
        let good = |i: usize| state.position[i].is_finite() && state.velocity[i].is_finite();
        match par::find_first(state.position.len(), |i| !good(i)) {
            None => Ok(()),
            Some(i) => {
                let body = self.bodies.iter().find(|body| body.particles.contains(&i));
                let name = body.map_or(String::new(), |body| body.name.clone());
                let fault = Fault::NotFinite { quantity: "position".into() };
                Err(StepError { stage: "move solids".into(), body: name, index: Some(i as u64), fault })
            }
        }
    }

    /// Elastic forces, contact, gravity, and what the liquid does, for a step of the liquid of `dt` \[s\] and a sub-step of `step`.
    fn sum_forces(&mut self, gravity: DVec3, [dt, step]: [f64; 2]) {
        let Self { bodies, strains, forces, state, .. } = self;
        forces.resize(state.position.len(), DVec3::ZERO);
        for (body, strain) in bodies.iter().zip(strains) {
            let own = body.particles.clone();
            let (x, v, f) = (&state.position[own.clone()], &state.velocity[own.clone()], &mut forces[own.clone()]);
            let weight = gravity * body.elastic.mass();
            let by_liquid = state.force[own.clone()].iter().zip(&state.owed[own]);
            f.iter_mut().zip(by_liquid).for_each(|(f, (force, owed))| *f = *force + *owed / dt + weight);
            body.elastic.strain_beyond(x, plastic_of(&state.plastic, body), strain);
            body.elastic.add_forces(x, v, strain, f);
        }
        self.pulls.iter().for_each(|(i, force)| self.forces[*i as usize] += *force);
        if self.bodies.len() > 1 {
            let Self { state: SolidState { position, velocity, slip, .. }, contacts, bodies, strains, spacing, .. } =
                self;
            let moving = Moving { bodies, strains, position, velocity, spacing: *spacing };
            contacts.add_forces(&moving, &self.near, self.friction, step, [slip, &mut self.forces]);
        }
    }

    fn kick_and_drift(&mut self, step: f64) {
        for body in &self.bodies {
            let per_mass = step / body.elastic.mass();
            for i in body.particles.clone() {
                self.state.velocity[i] += self.forces[i] * per_mass;
                self.state.position[i] += self.state.velocity[i] * step;
            }
        }
    }

    /// Prescribed particles go straight to where they are at the end of the step, `left` \[s\] from the end of the sub-step.
    fn prescribe(&mut self, step: f64, left: f64) {
        for body in &self.bodies {
            for prescribed in &body.prescribed {
                let i = body.particles.start + prescribed.particle as usize;
                let (x, v) = (&mut self.state.position[i], &mut self.state.velocity[i]);
                let before = *x - *v * step;
                let speed = (prescribed.end - before) / (step + left);
                *v += (speed - *v) * prescribed.axes;
                *x = before + *v * step;
            }
        }
    }

    /// Which particles and sides may come to touch in a step.
    fn find_beside(&mut self, dt: f64, obstacles: &Obstacles<'_>) {
        self.beside.clear();
        let Self { state, beside, reactions, spacing, .. } = self;
        let fastest = par::max(state.velocity.len(), 0.0, |i| state.velocity[i].length());
        for (i, x) in state.position.iter().enumerate() {
            for side in 0..reactions.len() {
                let way = 2.0 * dt * (fastest + obstacles.velocity(side, *x).length());
                if obstacles.distance(side, *x).0 < *spacing + way {
                    beside.push((i as u32, side as u32));
                }
            }
        }
    }

    /// Obstacles stop particles half a spacing away from them, and yield to that as much as they can.
    fn bump(&mut self, obstacles: &mut Obstacles<'_>) {
        let (radius, mut bodies) = (0.5 * self.spacing, self.bodies.iter().peekable());
        for &(i, side) in &self.beside {
            let (i, side) = (i as usize, side as usize);
            while bodies.next_if(|body| body.particles.end <= i).is_some() {}
            let mass = bodies.peek().map_or(0.0, |body| body.elastic.mass());
            let (x, v) = (&mut self.state.position[i], &mut self.state.velocity[i]);
            let (distance, normal) = obstacles.distance(side, *x);
            if distance >= radius {
                continue;
            }
            *x += normal * (radius - distance);
            let relative = *v - obstacles.velocity(side, *x);
            let approach = -relative.dot(normal);
            if approach <= 0.0 {
                continue;
            }
            let share = |along: DVec3| 1.0 / (1.0 + mass * obstacles.compliance(side, *x, along));
            let along = relative + normal * approach;
            let slip = along.length().max(1e-30);
            let stopped = approach * share(normal);
            let friction = (self.friction * stopped / slip).min(share(along / slip));
            let change = normal * stopped - along * friction;
            *v += change;
            let impulse = -change * mass;
            obstacles.push(side, *x, impulse);
            self.reactions[side].push(*x, impulse);
        }
    }

    /// Which particles of different bodies may come to touch in a step.
    fn find_near(&mut self, dt: f64) {
        self.near.clear();
        if self.bodies.len() < 2 {
            return;
        }
        let Self { state, singles, grid, near, bodies, spacing, .. } = self;
        let fastest = par::max(state.velocity.len(), 0.0, |i| state.velocity[i].length());
        let reach = (REACH * *spacing + 2.0 * fastest * dt).min(4.0 * *spacing);
        singles.clear();
        singles.extend(state.position.iter().map(|p| p.as_vec3()));
        grid.sort(singles, reach as f32, Periodic::default());
        for body in bodies.iter() {
            for i in body.particles.clone() {
                let around = Vec3::splat(reach as f32);
                grid.for_each_range_in(singles[i] - around, singles[i] + around, |range| {
                    for &j in grid.order()[range].iter().filter(|&&j| j as usize >= body.particles.end) {
                        if state.position[i].distance(state.position[j as usize]) < reach {
                            near.push((i as u32, j));
                        }
                    }
                });
            }
        }
        near.sort_unstable();
    }

    /// Elastic energy of a body \[J\].
    #[must_use]
    pub fn elastic_energy(&self, body: usize) -> f64 {
        let body = &self.bodies[body];
        let (positions, mut strain) = (&self.state.position[body.particles.clone()], Strain::default());
        body.elastic.strain_beyond(positions, plastic_of(&self.state.plastic, body), &mut strain);
        body.elastic.energy(positions, &strain)
    }

    /// Largest speed \[m/s\].
    #[must_use]
    pub fn max_speed(&self) -> f64 {
        par::max(self.state.velocity.len(), 0.0, |i| self.state.velocity[i].length())
    }

    /// How a rigid body of the same particles would give way. A body that is held does not.
    #[must_use]
    pub fn rigid_compliance(&self, body: usize) -> RigidCompliance {
        let body = &self.bodies[body];
        let positions = &self.state.position[body.particles.clone()];
        let mass = body.elastic.mass();
        let count = positions.len() as f64;
        let center = positions.iter().sum::<DVec3>() / count;
        let mut inertia = DMat3::ZERO;
        for &x in positions {
            let r = x - center;
            let square = DMat3::from_diagonal(DVec3::splat(r.length_squared()));
            inertia += (square - DMat3::from_cols(r * r.x, r * r.y, r * r.z)) * mass;
        }
        let loose = body.prescribed.is_empty() && inertia.determinant() > 0.0;
        RigidCompliance {
            center,
            inverse_mass: DVec3::splat(if loose { 1.0 / (mass * count) } else { 0.0 }),
            inverse_inertia: if loose { inertia.inverse() } else { DMat3::ZERO },
        }
    }
}

/// The plastic strains of a body, if it has any.
fn plastic_of<'a>(plastic: &'a [DMat3], body: &SolidBody) -> &'a [DMat3] {
    plastic.get(body.particles.clone()).unwrap_or_default()
}
