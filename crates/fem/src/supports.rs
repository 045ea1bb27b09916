//! How a body is held and led.

use crate::axes::Axes;
use crate::body::Body;
use crate::element::{Element, Linear, Quadratic};
use crate::linear::Matrix;
use crate::params::Order;
use crate::state::{Mesh, Spring, State};
use crate::surface::{Face, face_nodes};
use glam::{DMat3, DVec3};

/// A point of the surface.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SurfacePoint {
    /// Number of the face in [`Surface::faces`](crate::Surface::faces).
    pub face: usize,
    /// Barycentric coordinates in the triangle of the face's corners, dimensionless.
    pub barycentric: [f64; 3],
}

/// What a spring does.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pull {
    /// Its number.
    pub id: u64,
    /// The point that it is tied to, where it is now \[m\].
    pub point: DVec3,
    /// Its far end \[m\].
    pub anchor: DVec3,
    /// Force on the body \[N\].
    pub force: DVec3,
}

/// There is no such face, spring, or finite number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("there is no such {0}")]
pub struct NoSuch(pub &'static str);

fn usable(number: f64) -> bool {
    number.is_finite() && number >= 0.0
}

impl Body {
    /// Holds the nodes whose position at rest is in a region, where they are now. Returns how many there are.
    pub fn fix(&mut self, inside: impl Fn(DVec3) -> bool) -> usize {
        self.fix_axes(Axes::ALL, inside)
    }

    /// Holds the nodes whose position at rest is in a region along some axes only: they slide freely along the others.
    pub fn fix_axes(&mut self, axes: Axes, inside: impl Fn(DVec3) -> bool) -> usize {
        let State { mesh, motion } = &mut self.state;
        let mut count = 0;
        for (node, position) in mesh.rest_position.iter().enumerate() {
            if inside(*position) {
                mesh.fixed[node] = mesh.fixed[node].and(axes);
                motion.target[node] = axes.select(motion.position[node], motion.target[node]);
                motion.velocity[node] = axes.free_part(motion.velocity[node]);
                count += 1;
            }
        }
        self.forget_preconditioner();
        count
    }

    /// Lets the nodes in a region go.
    pub fn release(&mut self, inside: impl Fn(DVec3) -> bool) {
        let State { mesh, .. } = &mut self.state;
        for (node, position) in mesh.rest_position.iter().enumerate() {
            // Vertices without elements have no mass to move.
            if inside(*position) && self.topology.mass[node] > 0.0 {
                mesh.fixed[node] = Axes::NONE;
            }
        }
        self.forget_preconditioner();
    }

    /// Prescribes where the fixed nodes go: `target` gives, from a node's number and position at rest \[m\], where it is at the end of the next
    /// step \[m\].
    pub fn prescribe(&mut self, target: impl Fn(usize, DVec3) -> DVec3) {
        let State { mesh, motion } = &mut self.state;
        if self.work.prescribed_from.is_empty() {
            self.work.prescribed_from.extend_from_slice(&motion.target);
        }
        for node in (0..mesh.nodes()).filter(|&node| mesh.fixed[node].any()) {
            motion.target[node] = target(node, mesh.rest_position[node]);
        }
    }

    /// Directions in which a node is held or prescribed.
    #[must_use]
    pub fn fixed(&self, node: usize) -> Axes {
        self.state.mesh.fixed.get(node).copied().unwrap_or(Axes::ALL)
    }

    /// Ties a point of the surface to a position \[m\] with a spring of a stiffness \[N/m\] and a damping \[N·s/m\]. `id` is the
    /// number by which it is known; an older spring of that number goes.
    ///
    /// # Errors
    /// When there is no such face, or a number is not finite or negative.
    pub fn attach(
        &mut self,
        id: u64,
        point: SurfacePoint,
        anchor: DVec3,
        stiffness: f64,
        damping: f64,
    ) -> Result<(), NoSuch> {
        let &Face { element, side } = self.surface.faces().get(point.face).ok_or(NoSuch("face"))?;
        let sound = point.barycentric.iter().all(|l| l.is_finite()) && anchor.is_finite();
        if !(sound && usable(stiffness) && usable(damping)) {
            return Err(NoSuch("spring: its numbers must be finite and not negative"));
        }
        let mut barycentric = [0.0; 4];
        let (corners, _) = face_nodes(self.params.order, side);
        corners.iter().zip(point.barycentric).for_each(|(&corner, l)| barycentric[corner] = l);
        let springs = &mut self.state.motion.springs;
        springs.retain(|spring| spring.id != id);
        springs.push(Spring { id, element, barycentric, anchor, stiffness, damping });
        Ok(())
    }

    /// Moves the far end of a spring \[m\].
    ///
    /// # Errors
    /// When there is no such spring, or the position is not finite.
    pub fn pull(&mut self, id: u64, anchor: DVec3) -> Result<(), NoSuch> {
        let spring = self.state.motion.springs.iter_mut().find(|spring| spring.id == id).ok_or(NoSuch("spring"))?;
        if !anchor.is_finite() {
            return Err(NoSuch("place: it must be finite"));
        }
        spring.anchor = anchor;
        Ok(())
    }

    /// Changes the stiffness \[N/m\] and the damping \[N·s/m\] of a spring.
    ///
    /// # Errors
    /// When there is no such spring, or a number is not finite or negative.
    pub fn stiffen(&mut self, id: u64, stiffness: f64, damping: f64) -> Result<(), NoSuch> {
        let spring = self.state.motion.springs.iter_mut().find(|spring| spring.id == id).ok_or(NoSuch("spring"))?;
        if !(usable(stiffness) && usable(damping)) {
            return Err(NoSuch("spring: its numbers must be finite and not negative"));
        }
        (spring.stiffness, spring.damping) = (stiffness, damping);
        Ok(())
    }

    /// Removes a spring.
    ///
    /// # Errors
    /// When there is no such spring.
    pub fn detach(&mut self, id: u64) -> Result<(), NoSuch> {
        let springs = &mut self.state.motion.springs;
        let number = springs.iter().position(|spring| spring.id == id).ok_or(NoSuch("spring"))?;
        springs.remove(number);
        Ok(())
    }

    /// The springs and what they do now.
    pub fn springs(&self) -> impl Iterator<Item = Pull> {
        let (mesh, motion) = (&self.state.mesh, &self.state.motion);
        motion.springs.iter().map(|spring| {
            let (point, velocity) = (spring.at(mesh, &motion.position), spring.at(mesh, &motion.velocity));
            let force = spring.stiffness * (spring.anchor - point) - spring.damping * velocity;
            Pull { id: spring.id, point, anchor: spring.anchor, force }
        })
    }
}

impl Spring {
    /// Weights of the nodes of its element at its point.
    fn weights(&self, order: Order, mut each: impl FnMut(usize, f64)) {
        match order {
            Order::Linear => Linear::values(self.barycentric).into_iter().enumerate().for_each(|(k, w)| each(k, w)),
            Order::Quadratic => {
                Quadratic::values(self.barycentric).into_iter().enumerate().for_each(|(k, w)| each(k, w));
            }
        }
    }

    /// The mean of a nodal quantity at its point.
    pub(crate) fn at(&self, mesh: &Mesh, values: &[DVec3]) -> DVec3 {
        let nodes = mesh.element(self.element as usize);
        let mut sum = DVec3::ZERO;
        self.weights(mesh.order, |k, weight| sum += values[nodes[k] as usize] * weight);
        sum
    }

    /// Adds a force \[N\] at its point to the nodes.
    pub(crate) fn add_force(&self, mesh: &Mesh, force: DVec3, to: &mut [DVec3]) {
        let nodes = mesh.element(self.element as usize);
        self.weights(mesh.order, |k, weight| to[nodes[k] as usize] += force * weight);
    }

    /// Adds `factor` wₐ wᵦ I to the matrix.
    pub(crate) fn add_stiffness(&self, mesh: &Mesh, factor: f64, matrix: &mut Matrix<DMat3>) {
        let nodes = mesh.element(self.element as usize);
        self.weights(mesh.order, |a, row| {
            self.weights(mesh.order, |b, column| {
                matrix.add(nodes[a], nodes[b], DMat3::from_diagonal(DVec3::splat(factor * row * column)));
            });
        });
    }
}
