//! The energy of bodies that touch, booked over a step: what a step leaves too much of is taken back.
//!
//! | symbol | meaning |
//! |---|---|
//! | K, Ψ | energies of motion, of elements and springs \[J\] |
//! | E = Σ ½ k m² | energy of the overlaps (`law.rs`), at both ends of the step \[J\] |
//! | W | work of loads, reactions, supports and walls \[J\] |
//! | R | what rigid bodies that answer gain in their own step, from contact and gravity \[J\] |
//!
//! G = ΔK + ΔΨ + ΔE + R − W, for each set of bodies that hang together by contacts. The law of a pair gains nothing along the normal
//! and the triangle of the start of the step; what turns within it, passes from triangle to triangle, or is not solved to
//! the last digit, can. Damping and friction only take, and are left out: G is too small by what they take.
//!
//! A gain is taken out of the motion about the mean velocity of each body first, as `energy_control.rs` does it, then out of the motion of
//! whole bodies about that of what they touch. What even that does not cover is told as `energy not explained`.

use super::find::Gone;
use super::obstacle::{Inertia, Obstacle};
use super::pairs::Pair;
use super::{Contact, ContactPairs};
use crate::body::Body;
use crate::linear::Twist;
use glam::DVec3;
use meniscus_core::{StepReport, Wrench};

/// Growth below this part of the energies at play is rounding.
const ROUNDING: f64 = 1e-13;

/// Energies of bodies that hang together.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Entry {
    /// G \[J\].
    gain: f64,
    /// What rounding is measured by \[J\].
    size: f64,
    /// Whether bodies of it touch walls, which need not move with their mean.
    wall: f64,
    /// Σ |force| v of walls where they touch.
    wall_motion: DVec3,
}

/// The books of a step.
#[derive(Debug, Default)]
pub(super) struct Account {
    /// The set of each body, then of each obstacle.
    set: Vec<usize>,
    /// One for each set.
    entries: Vec<Entry>,
}

impl Account {
    /// Opens the books for pairs at the start of a step.
    pub(super) fn open(&mut self, bodies: usize, obstacles: &[&dyn Obstacle], pairs: &[Pair]) {
        self.set.clear();
        self.set.extend(0..bodies + obstacles.len());
        for pair in pairs {
            let is_compliant = |number: u32| obstacles[number as usize].inertia().is_some();
            let other = pair.other.map(|other| other as usize);
            let rigid = pair.obstacle.filter(|(number, _)| is_compliant(*number));
            for other in other.into_iter().chain(rigid.map(|(number, _)| bodies + number as usize)) {
                self.join(pair.body as usize, other);
            }
        }
        self.entries.clear();
        self.entries.resize(self.set.len(), Entry::default());
        self.note_overlaps(pairs, -1.0);
    }

    /// Makes one set of those of two members: the lower number leads.
    fn join(&mut self, a: usize, b: usize) {
        let [keep, drop] = [self.set[a].min(self.set[b]), self.set[a].max(self.set[b])];
        if keep != drop {
            self.set.iter_mut().filter(|set| **set == drop).for_each(|set| *set = keep);
        }
    }

    fn book(&mut self, member: usize, energy: f64, size: f64) {
        let entry = &mut self.entries[self.set[member]];
        entry.gain += energy;
        entry.size += size;
    }

    /// Books the energy of overlaps.
    fn note_overlaps(&mut self, pairs: &[Pair], sign: f64) {
        pairs.iter().for_each(|pair| self.book(pair.body as usize, sign * pair.energy(), pair.energy()));
    }

    /// Books what obstacles and held nodes have given, and where walls touch.
    fn note_work(&mut self, bodies: &[Body], obstacles: &[&dyn Obstacle], contacts: &ContactPairs, gone: Gone<'_>) {
        for pair in &contacts.pairs {
            let member = pair.body as usize;
            self.book(member, contacts.work_on_prescribed(pair, bodies, gone.time), 0.0);
            let Some((number, position)) = pair.obstacle else { continue };
            let (force, obstacle) = (pair.on_soft(), obstacles[number as usize]);
            let velocity =
                obstacle.velocity(position) + gone.beyond(number as usize, obstacle.inertia().as_ref(), position);
            self.book(member, -gone.time * force.dot(velocity), 0.0);
            if obstacle.inertia().is_none() {
                let entry = &mut self.entries[self.set[member]];
                entry.wall += force.length();
                entry.wall_motion += force.length() * velocity;
            }
        }
    }

    /// Books that a rigid body, moved by the velocity at the end of its step, gains less than the power of what it feels there: by half
    /// of the energy of its change of velocity.
    fn note_rigid(&mut self, member: usize, own: &Inertia, felt: &Wrench, gravity: DVec3, dt: f64) {
        let Wrench { force, torque } = felt.about(own.center);
        let change =
            (force + own.mass * gravity).length_squared() / own.mass + torque.dot(own.inertia.inverse() * torque);
        self.book(member, -0.5 * dt * dt * change, 0.0);
    }

    /// The velocity of what the bodies of a set touch \[m/s\]: of its walls, or their own mean.
    fn reference(&self, set: usize, bodies: &[Body]) -> DVec3 {
        let entry = &self.entries[set];
        if entry.wall > 0.0 {
            return entry.wall_motion / entry.wall;
        }
        let members = || bodies.iter().enumerate().filter(|(i, _)| self.set[*i] == set).map(|(_, body)| body);
        let mass: f64 = members().map(Body::mass).sum();
        members().map(Body::momentum).sum::<DVec3>() / mass
    }

    /// Takes gains out of the motion; returns what was taken and what was left \[J\].
    fn settle(&self, bodies: &mut [Body]) -> [f64; 2] {
        let mut sum = [0.0; 2];
        for (set, entry) in self.entries.iter().enumerate().filter(|(_, entry)| entry.gain > ROUNDING * entry.size) {
            let mut left = self.take(set, entry.gain, bodies, Body::resting_velocity);
            if left > 0.0 {
                let reference = self.reference(set, bodies);
                left = self.take(set, left, bodies, |body| if body.is_free() { reference } else { DVec3::ZERO });
            }
            sum = [sum[0] + entry.gain - left, sum[1] + left];
        }
        sum
    }

    /// Takes energy \[J\] out of the motion of a set about velocities of its bodies; returns what is left.
    fn take(&self, set: usize, energy: f64, bodies: &mut [Body], about: impl Fn(&Body) -> DVec3) -> f64 {
        let members = |i: usize| self.set[i] == set;
        let about: Vec<DVec3> = bodies.iter().map(about).collect();
        let each = bodies.iter().zip(&about).enumerate().filter(|(i, _)| members(*i));
        let motion: f64 = each.map(|(_, (body, mean))| body.energy_about(*mean)).sum();
        let taken = energy.min(motion);
        if taken > 0.0 {
            let kept = (1.0 - taken / motion).sqrt();
            for (i, body) in bodies.iter_mut().enumerate().filter(|(i, _)| members(*i)) {
                body.slow_about(about[i], kept);
            }
        }
        energy - taken
    }
}

impl Contact {
    /// Takes back what bodies that touch have gained in a step of `dt` \[s\].
    pub(super) fn keep_energy(
        &mut self,
        bodies: &mut [Body],
        obstacles: &[&dyn Obstacle],
        dt: f64,
        gravity: DVec3,
        report: &mut StepReport,
    ) {
        self.stored = 0.0;
        if self.contact_points().next().is_none() {
            return;
        }
        let beyond: Vec<Twist> = obstacles
            .iter()
            .zip(&self.obstacle_forces)
            .map(|(obstacle, felt)| obstacle.inertia().map_or([DVec3::ZERO; 2], |own| own.beyond(felt, dt)))
            .collect();
        let gone = Gone { time: dt, beyond: &beyond };
        let pairs = self.search(bodies, obstacles, 0.0, gone);
        self.stored = pairs.iter().map(Pair::energy).sum();
        let mut account = std::mem::take(&mut self.account);
        account.note_overlaps(&pairs, 1.0);
        account.note_work(bodies, obstacles, &self.contacts, gone);
        for (number, (obstacle, felt)) in obstacles.iter().zip(&self.obstacle_forces).enumerate() {
            if let Some(own) = obstacle.inertia() {
                account.note_rigid(bodies.len() + number, &own, felt, gravity, dt);
            }
        }
        for member in self.contacts.members.iter().copied() {
            let (gain, size) = bodies[member].gain_of_step(dt);
            account.book(member, gain, size);
        }
        let [taken, left] = account.settle(bodies);
        self.account = account;
        report.count("energy taken back", taken);
        report.count("energy not explained", left);
    }
}
