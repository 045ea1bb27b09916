//! Soft bodies and rigid ones: rigid bodies are obstacles that move, give way and feel what the soft ones feel.

use glam::{DQuat, DVec3};
use meniscus_boundary::Distance;
use meniscus_core::Wrench;
use meniscus_fem::contact::{Inertia, Obstacle, Sample};
use meniscus_rigid::{MassProperties, Motion, Predicted, World};

/// Points of all surfaces: where they were at the start, and where they are in the step.
#[derive(Debug, Clone, Default)]
pub struct Samples {
    at_start: Vec<Vec<Sample>>,
    now: Vec<Vec<Sample>>,
}

impl Samples {
    /// Adds the points of the next body.
    pub fn push(&mut self, samples: Vec<Sample>) {
        self.at_start.push(samples);
        self.now.push(Vec::new());
    }

    fn place(&mut self, world: &World) {
        for (body, (now, at_start)) in self.now.iter_mut().zip(&self.at_start).enumerate() {
            let (rotation, translation) = world.pose(body);
            now.clear();
            now.extend(at_start.iter().map(|s| Sample { position: rotation * s.position + translation, ..*s }));
        }
    }
}

/// A rigid body as soft bodies meet it in a step.
pub struct RigidSide<'a> {
    world: &'a World,
    samples: &'a [Sample],
    body: usize,
    pose: (DQuat, DVec3),
    center: DVec3,
    /// How it is predicted to move.
    predicted: Motion,
    inertia: Option<Inertia>,
    /// Farther from its bounds the distance need not be exact \[m\].
    reach: f64,
}

impl Distance for RigidSide<'_> {
    fn distance(&self, point: DVec3) -> (f64, DVec3) {
        let (rotation, translation) = self.pose;
        let own = rotation.conjugate() * (point - translation);
        let surface = self.world.boundary(self.body);
        let far = surface.tree().bounds().distance_squared(own).sqrt();
        if far > self.reach {
            return (far, (point - self.center).normalize_or(DVec3::Y));
        }
        let (distance, normal) = surface.outward_distance(own);
        (distance, rotation * normal)
    }

    fn velocity(&self, point: DVec3) -> DVec3 {
        self.predicted.at(point - self.center)
    }
}

impl Obstacle for RigidSide<'_> {
    fn samples(&self) -> &[Sample] {
        self.samples
    }

    fn inertia(&self) -> Option<Inertia> {
        self.inertia
    }
}

/// The bodies as soft ones meet them in a step of `dt` \[s\] under gravity \[m/s²\]; exact within a reach \[m\].
pub fn sides<'a>(
    world: &'a mut World,
    samples: &'a mut Samples,
    [dt, reach]: [f64; 2],
    gravity: DVec3,
) -> Vec<RigidSide<'a>> {
    let predicted = world.predict(dt, gravity);
    samples.place(world);
    let (world, samples) = (&*world, &*samples);
    let side = |(body, Predicted { motion, softness, .. }): (usize, Predicted)| {
        let MassProperties { mass, center, inertia } = world.mass_properties(body);
        let Wrench { force, torque } = world.given(body);
        // What others hold gives way as something heavier would.
        let heavier = Inertia { mass: mass / softness, center, inertia: inertia * (1.0 / softness), force, torque };
        RigidSide {
            world,
            samples: &samples.now[body],
            body,
            pose: world.pose(body),
            center,
            predicted: motion,
            inertia: (!world.is_prescribed(body)).then_some(heavier),
            reach,
        }
    };
    predicted.into_iter().enumerate().map(side).collect()
}

/// Hands the bodies what they felt from others, about the origin.
pub fn give(world: &mut World, felt: &[Wrench]) {
    for (body, felt) in felt.iter().enumerate() {
        let torque = felt.torque - world.mass_properties(body).center.cross(felt.force);
        world.add_force(body, felt.force, torque);
        world.note_given(body, felt.force, torque);
    }
}
