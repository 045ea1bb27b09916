//! The motion of bodies: where they are, how fast, and what a stage of the integrator does to one of them.
//!
//! Arrays hold the particles of all bodies, body after body, and one [`RigidMotion`] for each body, which means nothing for
//! deformable ones. [`BodySlice`] is the part of all arrays that belongs to some bodies; it can be cut, so that bodies are moved
//! in parallel without copies.

use crate::definitions::{Connection, Particle, RigidMotion};
use crate::integrator::Integrator;
use glam::{DMat3, DQuat, DVec3};
use rayon::join;
use std::ops::Range;

/// A body at work.
#[derive(Debug, Clone)]
pub(crate) struct Body {
    pub(crate) name: String,
    /// Its particles among all.
    pub(crate) range: Range<usize>,
    pub(crate) kind: Kind,
    pub(crate) highest_mode: HighestMode,
    /// Largest radius of its particles \[m\].
    pub(crate) radius: f64,
    /// Smallest diameter of its particles that is not zero \[m\].
    pub(crate) smallest: f64,
    /// ω² of the fastest dynamic connection of its particles \[1/s²\].
    pub(crate) contact_rate: f64,
}

/// How fast a body's springs swing at most.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct HighestMode {
    /// Highest angular frequency ω \[rad/s\].
    pub(crate) frequency: f64,
    /// Damping of that swing over the critical one, dimensionless.
    pub(crate) damping: f64,
}

impl HighestMode {
    /// The longest step \[s\].
    pub(crate) fn longest_step(&self, integrator: Integrator) -> f64 {
        integrator.longest_step(self.damping) / self.frequency
    }

    /// The fastest swing of particles on springs at rest, by power iteration on M⁻¹K. It comes from below: a tenth is added.
    pub(crate) fn of(particles: &[Particle], connections: &[Connection]) -> Self {
        let mut u: Vec<DVec3> = (0..particles.len()).map(|i| scatter(i as u64)).collect();
        let mut f = vec![DVec3::ZERO; u.len()];
        let mut squared = 0.0f64;
        for _ in 0..60 {
            f.fill(DVec3::ZERO);
            for c in connections {
                let [a, b] = c.ends.map(|end| end as usize);
                let n = (particles[a].position - particles[b].position).normalize_or_zero();
                let force = n * (c.stiffness * n.dot(u[a] - u[b]));
                f[a] += force;
                f[b] -= force;
            }
            f.iter_mut().zip(particles).for_each(|(f, e)| *f /= e.mass);
            let (size, before) = [&f, &u].map(|v| v.iter().map(|v| v.length_squared()).sum::<f64>()).into();
            squared = (size / before).sqrt();
            if squared == 0.0 || !squared.is_finite() {
                return Self::default();
            }
            u.iter_mut().zip(&f).for_each(|(u, f)| *u = *f / size.sqrt());
        }
        let frequency = 1.1 * squared.sqrt();
        let slowness = connections.iter().filter(|c| c.stiffness > 0.0).map(|c| c.damping / c.stiffness);
        Self { frequency, damping: 0.5 * frequency * slowness.fold(f64::INFINITY, f64::min).min(2.0 / frequency) }
    }
}

/// Directions without pattern.
fn scatter(i: u64) -> DVec3 {
    let one = |k: u64| {
        let bits = (3 * i + k + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (bits >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    DVec3::new(one(0), one(1), one(2))
}

/// What holds a body together.
#[derive(Debug, Clone)]
pub(crate) enum Kind {
    /// Static connections.
    Deformable(Vec<Connection>),
    /// Fixed distances.
    Rigid(Frame),
}

/// A rigid body in its own space.
#[derive(Debug, Clone)]
pub(crate) struct Frame {
    /// Particles relative to the centre \[m\].
    pub(crate) positions: Vec<DVec3>,
    pub(crate) mass: f64,
    pub(crate) inverse_inertia: DMat3,
}

impl Frame {
    /// ω = R I_body⁻¹ Rᵀ L \[B eq. 7, which prints τ for L\].
    pub(crate) fn angular_velocity(&self, motion: &RigidMotion) -> DVec3 {
        let r = rotation(motion);
        r * (self.inverse_inertia * (r.transpose() * motion.angular_momentum))
    }

    /// R I_body⁻¹ Rᵀ \[1/(kg·m²)\].
    pub(crate) fn inverse_inertia_now(&self, motion: &RigidMotion) -> DMat3 {
        let r = rotation(motion);
        r * self.inverse_inertia * r.transpose()
    }

    /// Kinetic energy \[J\].
    pub(crate) fn kinetic_energy(&self, motion: &RigidMotion) -> f64 {
        let turning = self.angular_velocity(motion).dot(motion.angular_momentum);
        0.5 * (self.mass * motion.velocity.length_squared() + turning)
    }

    /// Puts the particles where the body is.
    pub(crate) fn place(&self, motion: &RigidMotion, x: &mut [DVec3], v: &mut [DVec3]) {
        let (r, w) = (rotation(motion), self.angular_velocity(motion));
        for ((position, x), v) in self.positions.iter().zip(x).zip(v) {
            let arm = r * *position;
            *x = motion.center + arm;
            *v = motion.velocity + w.cross(arm);
        }
    }
}

fn rotation(motion: &RigidMotion) -> DMat3 {
    // Stages leave the quaternion a little long: only its direction counts.
    DMat3::from_quat(motion.orientation.normalize())
}

/// How a rigid body changes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RigidRates {
    velocity: DVec3,
    /// ½ ω q.
    turn: DQuat,
    acceleration: DVec3,
    torque: DVec3,
}

impl Default for RigidRates {
    fn default() -> Self {
        // Not the default of quaternions, which is one.
        let turn = DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0);
        Self { velocity: DVec3::ZERO, turn, acceleration: DVec3::ZERO, torque: DVec3::ZERO }
    }
}

impl RigidRates {
    fn plus(self, weight: f64, other: &Self) -> Self {
        Self {
            velocity: self.velocity + other.velocity * weight,
            turn: self.turn + other.turn * weight,
            acceleration: self.acceleration + other.acceleration * weight,
            torque: self.torque + other.torque * weight,
        }
    }

    fn onward(&self, from: &RigidMotion, length: f64) -> RigidMotion {
        RigidMotion {
            center: from.center + self.velocity * length,
            orientation: from.orientation + self.turn * length,
            velocity: from.velocity + self.acceleration * length,
            angular_momentum: from.angular_momentum + self.torque * length,
        }
    }
}

/// The arrays of some bodies.
pub(crate) struct BodySlice<'a> {
    pub(crate) bodies: &'a [Body],
    pub(crate) position: &'a mut [DVec3],
    pub(crate) velocity: &'a mut [DVec3],
    pub(crate) rigid: &'a mut [RigidMotion],
    /// Forces \[N\], then accelerations.
    pub(crate) force: &'a mut [DVec3],
    pub(crate) rates: &'a mut [RigidRates],
    pub(crate) start: Start<'a>,
    pub(crate) inverse_mass: &'a [f64],
}

/// Where the step began, and the sums of rates.
pub(crate) struct Start<'a> {
    pub(crate) position: &'a mut [DVec3],
    pub(crate) velocity: &'a mut [DVec3],
    pub(crate) rigid: &'a mut [RigidMotion],
    pub(crate) sum_velocity: &'a mut [DVec3],
    pub(crate) sum_acceleration: &'a mut [DVec3],
    pub(crate) sum_rates: &'a mut [RigidRates],
}

/// Fewer particles than this are not worth a second thread where springs are pulled …
pub(crate) const HEAVY: usize = 256;
/// … and where particles are only moved.
pub(crate) const LIGHT: usize = 4096;

impl<'a> BodySlice<'a> {
    /// The same lane for a while.
    pub(crate) fn reborrow(&mut self) -> BodySlice<'_> {
        let start = &mut self.start;
        BodySlice {
            bodies: self.bodies,
            position: self.position,
            velocity: self.velocity,
            rigid: self.rigid,
            force: self.force,
            rates: self.rates,
            start: Start {
                position: start.position,
                velocity: start.velocity,
                rigid: start.rigid,
                sum_velocity: start.sum_velocity,
                sum_acceleration: start.sum_acceleration,
                sum_rates: start.sum_rates,
            },
            inverse_mass: self.inverse_mass,
        }
    }

    /// The lanes of the first `n` bodies and of the others.
    fn cut(self, n: usize) -> (BodySlice<'a>, BodySlice<'a>) {
        let p = self.bodies[n].range.start - self.bodies[0].range.start;
        let (bodies, rest_bodies) = self.bodies.split_at(n);
        let (position, rest_position) = self.position.split_at_mut(p);
        let (velocity, rest_velocity) = self.velocity.split_at_mut(p);
        let (rigid, rest_rigid) = self.rigid.split_at_mut(n);
        let (force, rest_force) = self.force.split_at_mut(p);
        let (rates, rest_rates) = self.rates.split_at_mut(n);
        let (inverse_mass, rest_inverse_mass) = self.inverse_mass.split_at(p);
        let (start, rest_start) = self.start.cut(n, p);
        (
            BodySlice { bodies, position, velocity, rigid, force, rates, start, inverse_mass },
            BodySlice {
                bodies: rest_bodies,
                position: rest_position,
                velocity: rest_velocity,
                rigid: rest_rigid,
                force: rest_force,
                rates: rest_rates,
                start: rest_start,
                inverse_mass: rest_inverse_mass,
            },
        )
    }

    /// Runs `work` on the lane of every single body; `grain` particles or fewer stay on one thread.
    pub(crate) fn each(self, grain: usize, work: &(impl Fn(&Body, &mut BodySlice) + Sync)) {
        let (count, particles) = (self.bodies.len(), self.position.len());
        match count {
            0 => {}
            1 => {
                let mut slice = self;
                let bodies = slice.bodies;
                work(&bodies[0], &mut slice);
            }
            _ => {
                let (a, b) = self.cut(count / 2);
                if particles <= grain {
                    a.each(grain, work);
                    b.each(grain, work);
                } else {
                    join(|| a.each(grain, work), || b.each(grain, work));
                }
            }
        }
    }

    /// A step of this one body begins.
    pub(crate) fn begin(&mut self) {
        let start = &mut self.start;
        start.position.copy_from_slice(self.position);
        start.velocity.copy_from_slice(self.velocity);
        start.rigid.copy_from_slice(self.rigid);
        start.sum_velocity.fill(DVec3::ZERO);
        start.sum_acceleration.fill(DVec3::ZERO);
        start.sum_rates.fill(RigidRates::default());
    }

    /// Gravity, forces from outside and those of static connections \[B eqs 2–4\]; `mass` and `external` are of all bodies.
    pub(crate) fn weigh(&mut self, body: &Body, gravity: DVec3, mass: &[f64], external: &[DVec3]) {
        let outside = mass[body.range.clone()].iter().zip(&external[body.range.clone()]);
        for ((force, inverse_mass), (mass, external)) in self.force.iter_mut().zip(self.inverse_mass).zip(outside) {
            // What has no finite mass stays where it is.
            *force = if *inverse_mass > 0.0 { gravity * *mass + *external } else { DVec3::ZERO };
        }
        if let Kind::Deformable(connections) = &body.kind {
            self.pull(connections);
        }
    }

    /// Adds the forces of static connections \[B eq. 3\].
    // (1) of docs/src/particle-bodies.md
    fn pull(&mut self, connections: &[Connection]) {
        for connection in connections {
            let [a, b] = connection.ends.map(|end| end as usize);
            let distance = self.position[a] - self.position[b];
            let force = connection.force(distance, self.velocity[a] - self.velocity[b]);
            self.force[a] += force;
            self.force[b] -= force;
        }
    }

    /// Turns forces into rates and adds them to their sum \[B eqs 1, 5, 6, 8\].
    // (3) of docs/src/particle-bodies.md
    pub(crate) fn rate(&mut self, body: &Body, weight: f64) {
        match &body.kind {
            Kind::Deformable(_) => {
                for (force, inverse_mass) in self.force.iter_mut().zip(self.inverse_mass) {
                    *force *= *inverse_mass;
                }
                let start = &mut self.start;
                start.sum_velocity.iter_mut().zip(&*self.velocity).for_each(|(sum, v)| *sum += *v * weight);
                start.sum_acceleration.iter_mut().zip(&*self.force).for_each(|(sum, a)| *sum += *a * weight);
            }
            Kind::Rigid(frame) => {
                let motion = &self.rigid[0];
                let [force, torque] = resultant(motion.center, self.position, self.force);
                let w = frame.angular_velocity(motion);
                self.rates[0] = RigidRates {
                    velocity: motion.velocity,
                    turn: DQuat::from_xyzw(w.x, w.y, w.z, 0.0) * motion.orientation * 0.5,
                    acceleration: force / frame.mass,
                    torque,
                };
                self.start.sum_rates[0] = self.start.sum_rates[0].plus(weight, &self.rates[0]);
            }
        }
    }

    /// Goes to where the last rates lead.
    pub(crate) fn reach(&mut self, body: &Body, length: f64) {
        match &body.kind {
            Kind::Deformable(_) => {
                for (i, (x, v)) in self.position.iter_mut().zip(&mut *self.velocity).enumerate() {
                    *x = self.start.position[i] + *v * length;
                    *v = self.start.velocity[i] + self.force[i] * length;
                }
            }
            Kind::Rigid(frame) => {
                self.rigid[0] = self.rates[0].onward(&self.start.rigid[0], length);
                frame.place(&self.rigid[0], self.position, self.velocity);
            }
        }
    }

    /// Goes to where the sum of rates leads.
    pub(crate) fn finish(&mut self, body: &Body, length: f64) {
        match &body.kind {
            Kind::Deformable(_) => {
                for (i, (x, v)) in self.position.iter_mut().zip(&mut *self.velocity).enumerate() {
                    *x = self.start.position[i] + self.start.sum_velocity[i] * length;
                    *v = self.start.velocity[i] + self.start.sum_acceleration[i] * length;
                }
            }
            Kind::Rigid(frame) => {
                self.rigid[0] = self.start.sum_rates[0].onward(&self.start.rigid[0], length);
                self.rigid[0].orientation = self.rigid[0].orientation.normalize();
                frame.place(&self.rigid[0], self.position, self.velocity);
            }
        }
    }

    /// Changes velocities at once by the impulses of forces that act for a time \[s\].
    pub(crate) fn kick(&mut self, body: &Body, time: f64) {
        match &body.kind {
            Kind::Deformable(_) => {
                let push = self.force.iter().zip(self.inverse_mass);
                self.velocity.iter_mut().zip(push).for_each(|(v, (f, w))| *v += *f * (*w * time));
            }
            Kind::Rigid(frame) => {
                let motion = &mut self.rigid[0];
                let [force, torque] = resultant(motion.center, self.position, self.force);
                motion.velocity += force * (time / frame.mass);
                motion.angular_momentum += torque * time;
                frame.place(motion, self.position, self.velocity);
            }
        }
    }
}

impl<'a> Start<'a> {
    fn cut(self, n: usize, p: usize) -> (Start<'a>, Start<'a>) {
        let (position, rest_position) = self.position.split_at_mut(p);
        let (velocity, rest_velocity) = self.velocity.split_at_mut(p);
        let (rigid, rest_rigid) = self.rigid.split_at_mut(n);
        let (sum_velocity, rest_sum_velocity) = self.sum_velocity.split_at_mut(p);
        let (sum_acceleration, rest_sum_acceleration) = self.sum_acceleration.split_at_mut(p);
        let (sum_rates, rest_sum_rates) = self.sum_rates.split_at_mut(n);
        (
            Start { position, velocity, rigid, sum_velocity, sum_acceleration, sum_rates },
            Start {
                position: rest_position,
                velocity: rest_velocity,
                rigid: rest_rigid,
                sum_velocity: rest_sum_velocity,
                sum_acceleration: rest_sum_acceleration,
                sum_rates: rest_sum_rates,
            },
        )
    }
}

/// Force and torque about a centre.
fn resultant(center: DVec3, position: &[DVec3], force: &[DVec3]) -> [DVec3; 2] {
    position
        .iter()
        .zip(force)
        .fold([DVec3::ZERO; 2], |[sum, torque], (x, f)| [sum + *f, torque + (*x - center).cross(*f)])
}
