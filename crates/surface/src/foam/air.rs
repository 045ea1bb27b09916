//! The liquid around a point of foam, and what it cannot pass.

use crate::cloud::Cloud;
use crate::ghosts::{Plane, Solids, Vessel};
use crate::{FARTHEST, REACH, is_liquid};
use glam::Vec3;
use meniscus_core::Frame;

/// How far before a wall a point comes to rest \[spacings\].
const BEFORE: f32 = 0.05;

/// The particles of a frame in cells, with images behind walls: beside them liquid does not end. Lengths in spacings.
#[derive(Debug, Default)]
pub(super) struct Air {
    pub(super) cloud: Cloud,
}

impl Air {
    /// Takes all particles of liquids; whether there are any.
    pub(super) fn take(&mut self, frame: &Frame) -> bool {
        let particles = &frame.particles;
        let spacing = particles.spacing;
        let reach = FARTHEST * spacing;
        // Also true for what is not a number.
        let lost: Vec<bool> = particles.positions.iter().map(|x| !x.abs().cmple(Vec3::splat(reach)).all()).collect();
        let found = lost
            .iter()
            .enumerate()
            .any(|(i, lost)| !lost && particles.bodies.get(i).is_some_and(|&b| is_liquid(frame, b)));
        if !(found && spacing > 0.0 && spacing.is_finite()) {
            return false;
        }
        self.cloud.take(frame, &lost);
        self.cloud.mirror(&Plane::all(frame, spacing), &Vessel::all(frame, spacing));
        self.cloud.run_into(&Solids::all(frame, spacing));
        self.cloud.count_neighbours();
        true
    }

    /// Whether at a sorted index there is an image.
    pub(super) fn is_image(&self, index: usize) -> bool {
        self.cloud.is_image(index)
    }

    /// How many neighbours a point has within reach, and the mean velocity of those that are liquid \[m/s\].
    pub(super) fn around(&self, x: Vec3, frame: &Frame) -> (u32, Option<Vec3>) {
        let sorted = &self.cloud.sorted;
        let (mut count, mut moved, mut weight) = (0, Vec3::ZERO, 0.0);
        self.cloud.grid.for_each_range_in(x - REACH, x + REACH, |range| {
            for j in range {
                let part = 1.0 - x.distance_squared(sorted.at(j)) / (REACH * REACH);
                if part <= 0.0 {
                    continue;
                }
                count += 1;
                if let (false, Some(v)) = (self.is_image(j), frame.particles.velocities.get(sorted.number[j] as usize))
                {
                    moved += part * part * part * *v;
                    weight += part * part * part;
                }
            }
        });
        let mean = moved / weight;
        (count, (weight > 1e-6 && mean.is_finite()).then_some(mean))
    }
}

/// Walls and bodies of a frame.
pub(super) struct Borders {
    planes: Vec<Plane>,
    vessels: Vec<Vessel>,
    solids: Solids,
}

impl Borders {
    pub(super) fn all(frame: &Frame) -> Self {
        let spacing = frame.particles.spacing;
        Self {
            planes: Plane::all(frame, spacing),
            vessels: Vessel::all(frame, spacing),
            solids: Solids::closed(frame, spacing),
        }
    }

    /// Puts a point that has passed a wall, or is in a body, back before it, and takes its velocity into it.
    pub(super) fn hold(&self, x: &mut Vec3, velocity: &mut Vec3) {
        let mut stop = |x: &mut Vec3, at: Vec3, normal: Vec3| {
            *x = at + BEFORE * normal;
            *velocity -= velocity.dot(normal).min(0.0) * normal;
        };
        for vessel in &self.vessels {
            if vessel.depth(*x, BEFORE) < 0.0 {
                let at = vessel.nearest(*x);
                stop(x, at, (at - *x).normalize_or_zero());
            }
        }
        if let Some(at) = self.solids.skin(*x) {
            stop(x, at, (at - *x).normalize_or_zero());
        }
        for plane in &self.planes {
            let distance = plane.distance(*x);
            if distance < BEFORE {
                stop(x, *x - distance * plane.normal, plane.normal);
            }
        }
    }
}
