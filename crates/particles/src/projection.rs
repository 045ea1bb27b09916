//! The interface by projection, the paper's future work: particles that overlap are moved apart, velocities follow.
//!
//! A contact with overlap δ and normal n moves its two sides by λ w₁ n and −λ w₂ n with λ = δ/(w₁ + w₂), where w = 1/m for a
//! particle, and for a rigid body, met at an arm r from its centre, 1/M + (r × n)·I⁻¹(r × n), the body turning by
//! λ I⁻¹(r × n). Friction takes back sliding across n, at most μ δ. Velocities change by impulses that stop what comes nearer, no
//! faster than δ/dt, and sliding up to μ times as much: what is squeezed is moved, not shot out. Contacts are swept in their order.
//! Moves and impulses are equal and opposite, so that momentum stays.

use crate::contact_law::DynamicConnection;
use crate::definitions::RigidMotion;
use crate::interface::Matter;
use crate::motion::{Body, Kind};
use crate::params::Params;
use crate::system::State;
use glam::{DMat3, DQuat, DVec3, Vec3};
use meniscus_boundary::Boundaries;
use meniscus_core::Wrench;

/// Share of an overlap with liquid that is taken away in a step, dimensionless: all at once would squeeze the liquid behind.
const GENTLE: f64 = 0.2;

/// Memory of the projection; nothing in it lasts.
#[derive(Debug, Default)]
pub(crate) struct Projection {
    position: Vec<DVec3>,
    rigid: Vec<RigidMotion>,
    /// Pairs of particles that overlapped at the start.
    pub(crate) parted: usize,
    /// Impulse on each wall, and where it acts, over the step's length: force \[N\] and torque \[N·m\].
    walls: Vec<Wrench>,
}

/// What is moved.
struct Moved<'a> {
    bodies: &'a [Body],
    matter: &'a Matter,
    position: &'a mut [DVec3],
    rigid: &'a mut [RigidMotion],
}

impl Moved<'_> {
    fn position(&self, i: usize) -> DVec3 {
        let number = self.matter.body[i] as usize;
        match &self.bodies[number].kind {
            Kind::Deformable(_) => self.position[i],
            Kind::Rigid(frame) => {
                let motion = &self.rigid[number];
                motion.center + motion.orientation * frame.positions[i - self.bodies[number].range.start]
            }
        }
    }

    /// I⁻¹ a in world space, for the body of a particle.
    fn turning(&self, number: usize, inverse_inertia: &DMat3, a: DVec3) -> DVec3 {
        let q = self.rigid[number].orientation;
        q * (*inverse_inertia * (q.inverse() * a))
    }

    /// Inverse mass that a particle at a position shows in a direction \[1/kg\].
    fn inverse_mass(&self, i: usize, at: DVec3, n: DVec3) -> f64 {
        let number = self.matter.body[i] as usize;
        match &self.bodies[number].kind {
            Kind::Deformable(_) => self.matter.inverse_mass[i],
            Kind::Rigid(frame) => {
                let arm = (at - self.rigid[number].center).cross(n);
                1.0 / frame.mass + arm.dot(self.turning(number, &frame.inverse_inertia, arm))
            }
        }
    }

    /// Moves the body of a particle at a position by an impulse of position \[kg·m\].
    fn push(&mut self, i: usize, at: DVec3, impulse: DVec3) {
        let number = self.matter.body[i] as usize;
        match &self.bodies[number].kind {
            Kind::Deformable(_) => self.position[i] += impulse * self.matter.inverse_mass[i],
            Kind::Rigid(frame) => {
                let arm = (at - self.rigid[number].center).cross(impulse);
                let turn = self.turning(number, &frame.inverse_inertia, arm);
                let motion = &mut self.rigid[number];
                motion.center += impulse / frame.mass;
                let q = motion.orientation;
                motion.orientation = (q + DQuat::from_xyzw(turn.x, turn.y, turn.z, 0.0) * q * 0.5).normalize();
            }
        }
    }
}

/// What friction takes back of a slide across n, at most μ δ.
fn held(slid: DVec3, n: DVec3, most: f64) -> DVec3 {
    -(slid - n * slid.dot(n)).clamp_length_max(most)
}

/// Change of a relative velocity that stops what comes nearer along n, at most by `fastest` \[m/s\], and sliding up to
/// `friction` times as much.
fn stopped(velocity: DVec3, n: DVec3, [fastest, friction]: [f64; 2]) -> DVec3 {
    let along = velocity.dot(n);
    let stop = (-along).clamp(0.0, fastest);
    n * stop + held(velocity, n, friction * stop)
}

impl Projection {
    /// Takes overlaps away and stops what comes nearer.
    pub(crate) fn run(
        &mut self,
        params: &Params,
        (bodies, matter): (&[Body], &Matter),
        state: &mut State,
        (dynamic_connections, from): (&[DynamicConnection], &[DVec3]),
        (walls, near): (&Boundaries, &[bool]),
        dt: f64,
    ) {
        self.begin(state);
        self.walls.clear();
        self.walls.resize(walls.sides().len(), Wrench::ZERO);
        let mut moved = Moved { bodies, matter, position: &mut self.position, rigid: &mut self.rigid };
        let overlap = |pair: &&DynamicConnection| {
            let [i, j] = pair.ends.map(|end| end as usize);
            state.position[i].distance(state.position[j]) < matter.radius[i] + matter.radius[j]
        };
        self.parted = dynamic_connections.iter().filter(overlap).count();
        for _ in 0..params.iterations {
            for pair in dynamic_connections {
                moved.separate(pair, (from, dt), params.friction, state);
            }
            for (number, body) in bodies.iter().enumerate() {
                for wall in (0..walls.sides().len()).filter(|wall| near[number * walls.sides().len() + wall]) {
                    for i in body.range.clone() {
                        moved.lift(i, (walls, wall), (from, dt), params.friction, (state, &mut self.walls[wall]));
                    }
                }
            }
        }
        self.finish(bodies, state);
        self.walls.iter_mut().for_each(|felt| {
            *felt = *felt / dt;
        });
    }

    fn begin(&mut self, state: &State) {
        self.position.clear();
        self.position.extend_from_slice(&state.position);
        self.rigid.clear();
        self.rigid.extend_from_slice(&state.rigid);
    }

    /// Parts the particles of bodies and of a liquid; `pairs` name them, as they are listed.
    pub(crate) fn resolve_liquid_overlaps(
        &mut self,
        (bodies, matter): (&[Body], &Matter),
        state: &mut State,
        pairs: impl Iterator<Item = [u32; 2]>,
        (drops, radius): (&mut MovedDrops, f64),
        dt: f64,
    ) {
        self.begin(state);
        let mut moved = Moved { bodies, matter, position: &mut self.position, rigid: &mut self.rigid };
        for [i, j] in pairs {
            moved.part_drop([i as usize, j as usize], drops, radius, (state, dt));
        }
        self.finish(bodies, state);
    }

    /// Puts bodies where they have been moved; velocities have been changed pair by pair.
    fn finish(&mut self, bodies: &[Body], state: &mut State) {
        for (number, body) in bodies.iter().enumerate() {
            let range = body.range.clone();
            match &body.kind {
                Kind::Deformable(_) => state.position[range.clone()].copy_from_slice(&self.position[range]),
                Kind::Rigid(frame) => {
                    let motion = self.rigid[number];
                    let old = &mut state.rigid[number];
                    // What it turns with stays as it was, also in its new orientation.
                    (old.center, old.orientation) = (motion.center, motion.orientation);
                    frame.place(old, &mut state.position[range.clone()], &mut state.velocity[range]);
                }
            }
        }
    }

    /// Adds the forces on walls.
    pub(crate) fn react(&self, reactions: &mut [Wrench]) {
        for (sum, felt) in reactions.iter_mut().zip(&self.walls) {
            *sum += *felt;
        }
    }
}

/// The particles of a liquid as they are moved.
pub(crate) struct MovedDrops<'a> {
    pub(crate) position: &'a mut [Vec3],
    pub(crate) velocity: &'a mut [Vec3],
    pub(crate) liquid: &'a [u16],
    pub(crate) mass: &'a [f64],
}

impl Moved<'_> {
    /// A particle of a body and one of a liquid. They part, and do not go on towards each other; liquid that is squeezed between
    /// a body and a wall is not shot out.
    fn part_drop(&mut self, [i, j]: [usize; 2], drops: &mut MovedDrops, radius: f64, (state, dt): (&mut State, f64)) {
        let (a, b) = (self.position(i), drops.position[j].as_dvec3());
        let length = self.matter.radius[i] + radius;
        let squared = a.distance_squared(b);
        if squared >= length * length {
            return;
        }
        let far = squared.sqrt();
        let n = if far > 0.0 { (a - b) / far } else { DVec3::Y };
        let inverse = 1.0 / drops.mass[usize::from(drops.liquid[j])];
        let both = self.inverse_mass(i, a, n) + inverse;
        let move_apart = n * (GENTLE * (length - far) / both);
        self.push(i, a, move_apart);
        drops.position[j] = (b - move_apart * inverse).as_vec3();
        let velocity = self.velocity(i, a, state) - drops.velocity[j].as_dvec3();
        let stop = stopped(velocity, n, [(length - far) / dt, 0.0]) / both;
        self.kick(i, a, stop, state);
        drops.velocity[j] -= (stop * inverse).as_vec3();
    }

    /// Velocity of a particle at a position \[m/s\].
    fn velocity(&self, i: usize, at: DVec3, state: &State) -> DVec3 {
        let number = self.matter.body[i] as usize;
        match &self.bodies[number].kind {
            Kind::Deformable(_) => state.velocity[i],
            Kind::Rigid(frame) => {
                let arm = at - self.rigid[number].center;
                let motion = &state.rigid[number];
                motion.velocity + frame.angular_velocity(motion).cross(arm)
            }
        }
    }

    /// Changes the velocity of the body of a particle at a position by an impulse \[N·s\].
    fn kick(&mut self, i: usize, at: DVec3, impulse: DVec3, state: &mut State) {
        let number = self.matter.body[i] as usize;
        match &self.bodies[number].kind {
            Kind::Deformable(_) => state.velocity[i] += impulse * self.matter.inverse_mass[i],
            Kind::Rigid(frame) => {
                let arm = at - self.rigid[number].center;
                state.rigid[number].velocity += impulse / frame.mass;
                state.rigid[number].angular_momentum += arm.cross(impulse);
            }
        }
    }

    /// Two particles.
    fn separate(&mut self, pair: &DynamicConnection, (from, dt): (&[DVec3], f64), friction: f64, state: &mut State) {
        let [i, j] = pair.ends.map(|end| end as usize);
        let (a, b) = (self.position(i), self.position(j));
        let length = self.matter.radius[i] + self.matter.radius[j];
        let squared = a.distance_squared(b);
        if squared >= length * length {
            return;
        }
        let far = squared.sqrt();
        let n = if far > 0.0 { (a - b) / far } else { DVec3::Y };
        let w = self.inverse_mass(i, a, n) + self.inverse_mass(j, b, n);
        if w == 0.0 {
            return;
        }
        let overlap = length - far;
        let slid = (a - from[i]) - (b - from[j]);
        let impulse = (n * overlap + held(slid, n, friction * overlap)) / w;
        self.push(i, a, impulse);
        self.push(j, b, -impulse);
        let velocity = self.velocity(i, a, state) - self.velocity(j, b, state);
        let stop = stopped(velocity, n, [overlap / dt, friction]) / w;
        self.kick(i, a, stop, state);
        self.kick(j, b, -stop, state);
    }

    /// A particle and a wall.
    fn lift(
        &mut self,
        i: usize,
        (walls, wall): (&Boundaries, usize),
        (from, dt): (&[DVec3], f64),
        friction: f64,
        (state, felt): (&mut State, &mut Wrench),
    ) {
        let at = self.position(i);
        let (distance, n) = walls.distance(wall, at);
        let overlap = self.matter.radius[i] - distance;
        let w = self.inverse_mass(i, at, n);
        if overlap <= 0.0 || w == 0.0 {
            return;
        }
        let slid = at - from[i] - walls.velocity(wall, at) * dt;
        let impulse = (n * overlap + held(slid, n, friction * overlap)) / w;
        self.push(i, at, impulse);
        let velocity = self.velocity(i, at, state) - walls.velocity(wall, at);
        let stop = stopped(velocity, n, [overlap / dt, friction]) / w;
        self.kick(i, at, stop, state);
        felt.force -= stop;
        felt.torque -= at.cross(stop);
    }
}
