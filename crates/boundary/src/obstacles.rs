//! What solids that take many sub-steps bump into: sides of walls, and rigid bodies that answer.
//!
//! Within a step of theirs rigid bodies gain speed evenly, as much as they would without the bumps, and every bump changes their
//! motion at once, by as much as they give way. The sum of all bumps is handed to them as a force when they take their own step.

use crate::boundaries::Boundaries;
use crate::compliance::RigidCompliance;
use crate::motion::Pose;
use crate::surface::Surface;
use glam::{DQuat, DVec3};
use std::sync::Arc;

/// Walls first, then rigid bodies.
pub struct Obstacles<'a> {
    /// Walls, where they are at the end of the step.
    pub walls: &'a Boundaries,
    /// Rigid bodies, where they are now.
    pub bodies: Vec<Mover>,
}

/// A rigid body within a step.
#[derive(Debug, Clone)]
pub struct Mover {
    /// Its surface, in its own coordinates.
    pub surface: Arc<Surface>,
    /// Where it is.
    pub pose: Pose,
    /// Velocity of its centre \[m/s\] and angular velocity \[rad/s\].
    pub motion: [DVec3; 2],
    /// What it gains of both by itself \[m/s²\] and \[rad/s²\].
    pub gain: [DVec3; 2],
    /// How it gives way; its centre goes along.
    pub compliance: RigidCompliance,
    /// Of a ball around its centre \[m\].
    pub radius: f64,
    /// Farther from that ball its distance need not be exact \[m\].
    pub reach: f64,
}

impl Mover {
    fn distance(&self, point: DVec3) -> (f64, DVec3) {
        let from = point - self.compliance.center;
        let far = from.length() - self.radius;
        if far > self.reach {
            return (far, from.normalize_or(DVec3::Y));
        }
        let (distance, normal) = self.surface.outward_distance(self.pose.unapply(point));
        (distance, self.pose.rotation * normal)
    }

    fn velocity(&self, point: DVec3) -> DVec3 {
        let [velocity, spin] = self.motion;
        velocity + spin.cross(point - self.compliance.center)
    }

    fn push(&mut self, point: DVec3, impulse: DVec3) {
        let RigidCompliance { inverse_mass, inverse_inertia, center } = self.compliance;
        self.motion[0] += inverse_mass * impulse;
        self.motion[1] += inverse_inertia * (point - center).cross(impulse);
    }

    fn advance(&mut self, step: f64) {
        let [velocity, spin] = &mut self.motion;
        *velocity += self.gain[0] * step;
        *spin += self.gain[1] * step;
        let turn = DQuat::from_vec4((*spin * (0.5 * step)).extend(1.0)).normalize();
        let center = self.compliance.center + *velocity * step;
        self.pose.translation = center + turn * (self.pose.translation - self.compliance.center);
        self.pose.rotation = (turn * self.pose.rotation).normalize();
        self.compliance.center = center;
    }
}

impl<'a> Obstacles<'a> {
    /// Walls alone.
    #[must_use]
    pub fn walls(walls: &'a Boundaries) -> Self {
        Self { walls, bodies: Vec::new() }
    }

    fn body(&self, number: usize) -> Option<usize> {
        number.checked_sub(self.walls.sides().len())
    }

    /// Number of sides of walls and of bodies.
    #[must_use]
    pub fn count(&self) -> usize {
        self.walls.sides().len() + self.bodies.len()
    }

    /// Distance of a point \[m\] in front of one of them \[m\] and the unit normal there.
    #[must_use]
    pub fn distance(&self, number: usize, point: DVec3) -> (f64, DVec3) {
        match self.body(number) {
            None => self.walls.distance(number, point),
            Some(body) => self.bodies[body].distance(point),
        }
    }

    /// Its velocity at a point \[m/s\].
    #[must_use]
    pub fn velocity(&self, number: usize, point: DVec3) -> DVec3 {
        match self.body(number) {
            None => self.walls.velocity(number, point),
            Some(body) => self.bodies[body].velocity(point),
        }
    }

    /// How fast it gives way at a point to an impulse along a unit vector \[1/kg\].
    #[must_use]
    pub fn compliance(&self, number: usize, point: DVec3, along: DVec3) -> f64 {
        self.body(number).map_or(0.0, |body| self.bodies[body].compliance.along(point, along))
    }

    /// It feels an impulse \[N·s\] at a point \[m\].
    pub fn push(&mut self, number: usize, point: DVec3, impulse: DVec3) {
        if let Some(body) = self.body(number) {
            self.bodies[body].push(point, impulse);
        }
    }

    /// Bodies go on by a sub-step \[s\].
    pub fn advance(&mut self, step: f64) {
        self.bodies.iter_mut().for_each(|body| body.advance(step));
    }
}
