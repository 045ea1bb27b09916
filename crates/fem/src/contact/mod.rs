//! Contact of soft bodies: with themselves, with each other, with obstacles.
//!
//! A node of a surface that has gone through a surface is pushed back, with an energy that grows with the overlap:
//!
//! | symbol | meaning | in the code |
//! |---|---|---|
//! | d | distance of the node from the nearest point of the other surface, negative inside \[m\] | `gap` |
//! | n | from that point to the node outside, from the node to that point inside | `normal` |
//! | λ | barycentric coordinates of the point in its triangle | |
//! | A | area of the surface that the node stands for, at rest \[m²\] | `area` |
//! | κ | pressure per overlap \[Pa/m\]: `stiffness` E / mean edge, of the softer body; half of it where both bodies' nodes push | |
//! | s = τ (u − Σ λₖ uₖ) | how far the node moves against the point in the step \[m\] | `ContactRow` |
//! | p | push \[N\]: κ A times the overlap at the end of the step, or its mean over the step (`law.rs`) | `push` |
//! | t = s − n n·s | slip \[m\] | |
//!
//! * Energy ½ κ A min(d, 0)². The force on the node is p n, on the corners of the triangle −λₖ p n: exactly the gradient, since
//!   moving the point along the surface does not change d. Both have one line of action, so that linear and angular momentum stay.
//! * A face under a pressure P rests at an overlap of P/κ; at the rim of a block, whose nodes stand for its sides too, at less.
//!   A face goes on in its plane for half an edge beyond a sharp rim that a node sees from the side: blocks as wide as each
//!   other stand on each other.
//! * Contact never makes energy: the push over a step is one that gives back at most what the overlap holds, and what is
//!   left too much at its end is taken back (`account.rs`). What a bounce keeps is up to damping: of the integrator and of the
//!   material (`stiffness_damping`); contact itself has none.
//! * Friction −μ p t / max(|t|, τ v): Coulomb's, made smooth below a creeping speed v.
//! * Both are implicit: p and t are those at the end of the step, along n and λ of its start. Pairs that will meet within the
//!   step are found by their speed, pushes that would pull are let go, in a few passes of Newton's method over all bodies that
//!   touch (`newton.rs`): bodies of any stiffness rest on each other at any step.
//! * Obstacles may be rigid bodies that answer: their velocity and spin join the implicit problem, eliminated from it
//!   (`linear/rigid_unknowns.rs`). Points of their surfaces are held against soft surfaces as nodes are; where both push, each does half.
//! * Nothing is remembered from step to step: a resumed run repeats every bit.
//!
//! Edges that cross without a node inside the other body are not seen. Nodes deeper than `depth` edges are left alone: they
//! may belong to the other side of a thin body. Within a body, nodes and triangles closer than two edges at rest do not
//! touch, so that thin parts and fresh cracks are left in peace; nor do those that face the same way, or between which the
//! body is inside out: there it has gone through itself, and contact would lock what elasticity brings apart again.

mod account;
mod find;
mod law;
mod obstacle;
mod pairs;
mod params;
mod skin;

pub use obstacle::{Ball, Cuboid, Distance, Inertia, Obstacle, Plane, Sample, Tank};
pub(crate) use pairs::ContactPairs;
pub use pairs::ContactPoint;
pub use params::ContactParams;

use crate::body::Body;
use crate::newton::Group;
use crate::params::ParamsError;
use glam::DVec3;
use meniscus_core::{StepError, StepReport, Wrench};
use pairs::Pair;
use skin::Skin;

/// Moves bodies that may touch. Holds memory that is used again and nothing that a checkpoint would need.
pub struct Contact {
    params: ContactParams,
    skins: Vec<Skin>,
    contacts: ContactPairs,
    obstacle_forces: Vec<Wrench>,
    account: account::Account,
    /// Energy of the overlaps at the end of the last step \[J\].
    stored: f64,
}

/// Imbalance over the loads at which passes end where one Newton iteration would do without contact, dimensionless.
const PASS_TOLERANCE: f64 = 1e-3;

impl Contact {
    /// Contact with these parameters.
    ///
    /// # Errors
    /// Parameters out of range.
    pub fn new(params: ContactParams) -> Result<Self, ParamsError> {
        params.check()?;
        Ok(Self {
            params,
            skins: Vec::new(),
            contacts: ContactPairs::default(),
            obstacle_forces: Vec::new(),
            account: Default::default(),
            stored: 0.0,
        })
    }

    /// Moves bodies on by `dt` \[s\] under gravity \[m/s²\], as [`Body::step`] does, with contact between them, within them and
    /// with obstacles. A step that fails can be undone by rolling back every body.
    ///
    /// # Errors
    /// When a quantity is not finite or the linear solve does not converge.
    pub fn step(
        &mut self,
        bodies: &mut [Body],
        obstacles: &[&dyn Obstacle],
        dt: f64,
        gravity: DVec3,
        report: &mut StepReport,
    ) -> Result<(), StepError> {
        for body in &mut *bodies {
            body.work.problem = body.implicit_problem(dt)?;
        }
        report.stage("keep", || bodies.iter_mut().for_each(Body::keep)); // 1
        report.stage("yield", || bodies.iter_mut().for_each(|body| body.flow(dt))); // 2
        report.stage("load", || bodies.iter_mut().for_each(|body| body.load(gravity))); // 3
        report.stage("find contacts", || self.find(bodies, obstacles, dt)); // d, n, λ of every pair
        self.account.open(bodies.len(), obstacles, &self.contacts.pairs);
        self.find_unknown(bodies, report)?; // 4 to 9, all that touch together
        self.tell(obstacles.len());
        report.stage("advance", || bodies.iter_mut().try_for_each(|body| body.advance(dt)))?; // 10
        self.keep_energy(bodies, obstacles, dt, gravity, report); // `account.rs`
        report.stage("smooth stress", || bodies.iter_mut().for_each(|body| body.smooth_stress(dt))); // 11
        let cracks: u32 = report.stage("break", || bodies.iter_mut().map(Body::fracture).sum()); // 12
        report.count("cracks", f64::from(cracks));
        report.count("contacts", self.contact_points().count() as f64);
        Ok(())
    }

    /// 4 to 9: bodies that may touch together, the others each alone.
    fn find_unknown(&mut self, bodies: &mut [Body], report: &mut StepReport) -> Result<(), StepError> {
        let mut together: Vec<&mut Body> = Vec::new();
        let mut number = vec![0; bodies.len()];
        self.contacts.members.clear();
        for (i, body) in bodies.iter_mut().enumerate() {
            if self.contacts.involves(i) {
                number[i] = together.len() as u32;
                self.contacts.members.push(i);
                together.push(body);
            } else {
                body.find_unknown(report)?;
            }
        }
        if together.is_empty() {
            return Ok(());
        }
        self.contacts.renumber(&number);
        let mut group = Group { bodies: &mut together, contacts: &mut self.contacts };
        let mut effort = group.effort();
        if effort.iterations == 1 {
            effort.newton_tolerance = PASS_TOLERANCE;
            effort.tolerance = effort.tolerance.max(0.1 * PASS_TOLERANCE);
        }
        effort.iterations = effort.iterations.max(self.params.passes);
        group.find_unknown(&effort, report)?;
        self.contacts.note_forces(&mut together);
        self.contacts.keep_momentum(&together);
        together.iter_mut().filter(|body| body.is_prescribed()).for_each(|body| body.update_rotations());
        Ok(())
    }

    /// Adds up what obstacles feel.
    fn tell(&mut self, obstacles: usize) {
        self.obstacle_forces.clear();
        self.obstacle_forces.resize(obstacles, Wrench::ZERO);
        for pair in &self.contacts.pairs {
            if let Some((obstacle, position)) = pair.obstacle {
                self.obstacle_forces[obstacle as usize].push(position, -pair.on_soft());
            }
        }
    }

    /// What each obstacle felt in the last step, about the origin.
    #[must_use]
    pub fn obstacle_forces(&self) -> &[Wrench] {
        &self.obstacle_forces
    }

    /// Where bodies touched in the last step.
    pub fn contact_points(&self) -> impl Iterator<Item = ContactPoint> {
        self.contacts.pairs.iter().map(Pair::contact_point).filter(|point| point.force != DVec3::ZERO)
    }

    /// The energy of the overlaps at the end of the last step \[J\]; none before the first.
    #[must_use]
    pub fn stored_energy(&self) -> f64 {
        self.stored
    }

    /// The energy of the overlaps as they are \[J\].
    #[must_use]
    pub fn energy(&mut self, bodies: &[Body], obstacles: &[&dyn Obstacle]) -> f64 {
        self.find(bodies, obstacles, 0.0);
        self.contacts.pairs.iter().map(Pair::energy).sum()
    }

    /// The forces of the overlaps as they are, without friction, on the nodes of each body \[N\]: minus the slope of the energy.
    #[must_use]
    pub fn forces(&mut self, bodies: &[Body], obstacles: &[&dyn Obstacle]) -> Vec<Vec<DVec3>> {
        self.find(bodies, obstacles, 0.0);
        let mut forces: Vec<Vec<DVec3>> = bodies.iter().map(|body| vec![DVec3::ZERO; body.positions().len()]).collect();
        for pair in &self.contacts.pairs {
            let push = pair.overlap.push(DVec3::ZERO) * pair.overlap.normal;
            pair.spread(push, |body, node, force| forces[body][node] += force);
        }
        forces
    }
}
