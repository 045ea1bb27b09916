//! What solids of particles bump into: sides of walls, and rigid bodies that answer.
//!
//! Solids take many sub-steps within a step of the rigid bodies. In these a rigid body gains speed evenly, as much as it would
//! without them, and every bump changes its motion at once, by as much as it yields. The sum of all bumps is handed to it as a
//! force when it takes its own step.

use crate::bodies::Sides;
use crate::rigid::Rigids;
use glam::{DMat3, DQuat, DVec3};
use meniscus_particles::Walls;
use meniscus_rigid::{Expected, Motion};
use meniscus_sph::unified::Obstacles;

/// Walls first, then rigid bodies.
pub(crate) struct Bumps<'a> {
    walls: &'a Sides,
    rigids: &'a Rigids,
    moving: Vec<Moving>,
    /// Farther from the ball around a rigid body its distance need not be exact \[m\].
    reach: f64,
}

/// A rigid body within a step.
struct Moving {
    /// x = R x₀ + t.
    rotation: DQuat,
    translation: DVec3,
    center: DVec3,
    motion: Motion,
    /// What it gains by itself \[m/s²\] and \[rad/s²\].
    gain: Motion,
    /// How it yields \[1/kg\] and \[1/(kg·m²)\].
    inverse_mass: DVec3,
    inverse_inertia: DMat3,
    /// Of a ball around its centre \[m\].
    radius: f64,
}

impl<'a> Bumps<'a> {
    /// For a step of `dt` \[s\] and particles that are stopped within a reach \[m\]; the walls are where they are at its end.
    pub(crate) fn new(walls: &'a Sides, rigids: &'a mut Rigids, [dt, reach]: [f64; 2], gravity: DVec3) -> Self {
        let expected = if rigids.is_empty() { Vec::new() } else { rigids.world.expect(dt, gravity) };
        let moving =
            expected.iter().enumerate().map(|(body, expected)| Moving::new(rigids, body, expected, dt)).collect();
        Self { walls, rigids, moving, reach }
    }
}

impl Moving {
    fn new(rigids: &Rigids, body: usize, Expected { unpushed, yielding, .. }: &Expected, dt: f64) -> Self {
        let world = &rigids.world;
        let ((rotation, translation), center) = (world.pose(body), world.mass_properties(body).center);
        let motion = if world.is_led(body) { *unpushed } else { world.motion(body) };
        let (inverse_mass, inverse_inertia) = world.answer(body);
        Self {
            rotation,
            translation,
            center,
            motion,
            gain: Motion {
                velocity: (unpushed.velocity - motion.velocity) / dt,
                spin: (unpushed.spin - motion.spin) / dt,
            },
            // What others hold gives way as something heavier would.
            inverse_mass: inverse_mass * *yielding,
            inverse_inertia: inverse_inertia * *yielding,
            radius: world.positions(body).map(|x| x.distance(center)).fold(0.0, f64::max),
        }
    }

    fn advance(&mut self, step: f64) {
        let Motion { velocity, spin } = &mut self.motion;
        *velocity += self.gain.velocity * step;
        *spin += self.gain.spin * step;
        let turn = DQuat::from_vec4((*spin * (0.5 * step)).extend(1.0)).normalize();
        let center = self.center + *velocity * step;
        self.translation = center + turn * (self.translation - self.center);
        self.rotation = (turn * self.rotation).normalize();
        self.center = center;
    }
}

impl Obstacles for Bumps<'_> {
    fn count(&self) -> usize {
        self.walls.count() + self.moving.len()
    }

    fn distance(&self, side: usize, point: DVec3) -> (f64, DVec3) {
        let Some(body) = side.checked_sub(self.walls.count()) else { return self.walls.distance(side, point) };
        let Moving { rotation, translation, center, radius, .. } = &self.moving[body];
        let from = point - *center;
        let far = from.length() - radius;
        if far > self.reach {
            return (far, from.normalize_or(DVec3::Y));
        }
        let (distance, normal) = self.rigids.own_distance(body, rotation.conjugate() * (point - *translation));
        (distance, *rotation * normal)
    }

    fn velocity(&self, side: usize, point: DVec3) -> DVec3 {
        match side.checked_sub(self.walls.count()) {
            None => self.walls.velocity(side, point),
            Some(body) => self.moving[body].motion.at(point - self.moving[body].center),
        }
    }

    fn mobility(&self, side: usize, point: DVec3, along: DVec3) -> f64 {
        let Some(body) = side.checked_sub(self.walls.count()) else { return 0.0 };
        let Moving { center, inverse_mass, inverse_inertia, .. } = &self.moving[body];
        let turn = (point - *center).cross(along);
        along.dot(*inverse_mass * along) + turn.dot(*inverse_inertia * turn)
    }

    fn push(&mut self, side: usize, point: DVec3, impulse: DVec3) {
        let Some(body) = side.checked_sub(self.walls.count()) else { return };
        let Moving { center, inverse_mass, inverse_inertia, motion, .. } = &mut self.moving[body];
        motion.velocity += *inverse_mass * impulse;
        motion.spin += *inverse_inertia * (point - *center).cross(impulse);
    }

    fn advance(&mut self, step: f64) {
        self.moving.iter_mut().for_each(|body| body.advance(step));
    }
}
