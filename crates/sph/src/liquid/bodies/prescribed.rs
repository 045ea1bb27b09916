//! Animated walls among the bodies: they move as prescribed, vertex by vertex, and come before the bodies that answer.

use super::{Bodies, Body};
use glam::DVec3;
use meniscus_boundary::{Boundaries, Compliance, Wet};
use meniscus_core::Wrench;

impl Bodies {
    /// No bodies but the animated walls.
    pub(crate) fn with_prescribed(walls: &Boundaries) -> Self {
        let prescribed: Vec<usize> = (0..walls.len()).filter(|&wall| walls.wall(wall).deforms()).collect();
        let body = |&wall: &usize| {
            let surface = walls.surface(wall)?;
            let outwards = |[a, b, c]: [u32; 3]| if surface.wet() == Wet::Back { [a, c, b] } else { [a, b, c] };
            Some(Body {
                positions: surface.mesh().vertices().to_vec(),
                velocities: surface.velocities().to_vec(),
                accelerations: Vec::new(),
                triangles: surface.mesh().triangles().iter().copied().map(outwards).collect(),
                compliance: Compliance::Fixed,
            })
        };
        Self { bodies: prescribed.iter().filter_map(body).collect(), prescribed, ..Self::default() }
    }

    /// Puts the animated walls where they are in the step.
    pub(crate) fn place_prescribed(&mut self, walls: &Boundaries) {
        for (body, &wall) in self.bodies.iter_mut().zip(&self.prescribed) {
            let Some(surface) = walls.surface(wall) else { continue };
            body.positions.clear();
            body.positions.extend_from_slice(surface.mesh().vertices());
            body.velocities.clear();
            body.velocities.extend_from_slice(surface.velocities());
        }
    }

    /// Number of animated walls.
    pub(crate) fn prescribed(&self) -> usize {
        self.prescribed.len()
    }

    /// So many bodies that answer.
    pub(crate) fn given_mut(&mut self, count: usize) -> &mut [Body] {
        self.bodies.resize_with(self.prescribed.len() + count, Body::default);
        &mut self.bodies[self.prescribed.len()..]
    }

    /// Force on each node of a body that answers in the last step \[N\].
    pub(crate) fn force_on_given(&self, body: usize) -> &[DVec3] {
        &self.force[self.nodes_of(self.prescribed.len() + body)]
    }

    /// The number among the animated walls of the one that a node belongs to, if it does.
    pub(super) fn prescribed_of(&self, node: u32) -> Option<usize> {
        // Most worlds have none.
        let count = self.prescribed.len();
        if count == 0 || node >= self.first[count] {
            return None;
        }
        Some(self.body_of(node))
    }

    /// What each animated wall felt in the last step, about the origin, with its number among the walls.
    pub(crate) fn on_prescribed(&self) -> impl Iterator<Item = (usize, Wrench)> {
        // Before the first step no node has a number.
        let stepped = !self.first.is_empty();
        self.prescribed.iter().enumerate().filter(move |_| stepped).map(|(body, &wall)| {
            let forces = self.force[self.nodes_of(body)].iter().zip(&self.bodies[body].positions);
            (wall, forces.map(|(force, position)| Wrench::at(*position, *force)).sum())
        })
    }
}
