//! Liquid and soft bodies of tetrahedra: the nodes of their surface meet the liquid, and the stiffness of the whole body answers.

use crate::exchange::{Wetted, take_triangles};
use glam::DVec3;
use meniscus_fem::{Body, StepCompliance};
use meniscus_sph::{self as sph, Liquid};
use std::sync::{Arc, Mutex, PoisonError};

/// What is known of a body while it is whole.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Whole {
    /// Its nodes.
    pub nodes: usize,
    /// Angular frequency of its slowest vibration \[rad/s\]; zero if nothing holds it.
    pub frequency: f64,
}

/// What soft bodies lend a liquid for its step.
#[derive(Debug, Default)]
pub struct Lent(Vec<Arc<Mutex<Option<StepCompliance>>>>);

/// Soft bodies as a liquid meets them.
pub struct Soft<'a, W: Fn(usize) -> Whole> {
    /// The bodies, or pieces of bodies.
    pub bodies: &'a mut [Body],
    /// What is known of each.
    pub whole: W,
    /// What they lend.
    pub lent: &'a mut Lent,
}

impl<W: Fn(usize) -> Whole> Wetted for Soft<'_, W> {
    fn surfaces(&self) -> usize {
        self.bodies.len()
    }

    fn show(&mut self, dt: f64, surfaces: &mut [sph::Body]) {
        self.lent.0.resize_with(self.bodies.len(), Arc::default);
        for (number, (from, to)) in self.bodies.iter_mut().zip(surfaces).enumerate() {
            to.positions.clear();
            to.positions.extend_from_slice(from.positions());
            to.velocities.clear();
            to.velocities.extend_from_slice(from.velocities());
            to.accelerations.clear();
            take_triangles(&mut to.triangles, from.surface().triangles());
            lend(from, (self.whole)(number), &self.lent.0[number], dt, to);
        }
    }

    fn take_back(&mut self) {
        for (body, lent) in self.bodies.iter_mut().zip(&self.lent.0) {
            if let Some(compliance) = lent.lock().unwrap_or_else(PoisonError::into_inner).take() {
                body.take_compliance(compliance);
            }
        }
    }

    fn take_forces(&mut self, liquid: &Liquid, first: usize) {
        for (number, body) in self.bodies.iter_mut().enumerate() {
            body.clear_forces();
            // A body that has broken in this step has new nodes at its end, which the liquid does not know yet.
            let forces = liquid.body_forces(first + number);
            body.external_force_mut().iter_mut().zip(forces).for_each(|(to, force)| *to = *force);
        }
    }

    fn ends(&self, surface: usize, ends: &mut Vec<DVec3>) {
        ends.extend_from_slice(self.bodies[surface].positions());
    }
}

/// Lends the liquid how a body gives way in a step of `dt` \[s\]: as its stiffness lets it, or as loose nodes where that is not known.
fn lend(from: &mut Body, of: Whole, lent: &Arc<Mutex<Option<StepCompliance>>>, dt: f64, to: &mut sph::Body) {
    // What is broken may be loose.
    let whole = from.positions().len() == of.nodes;
    match whole.then(|| from.lend_compliance(dt)).flatten() {
        Some(compliance) => {
            to.compliance.set_implicit(lent, (0..compliance.nodes()).map(|node| compliance.alone(node)));
            *lent.lock().unwrap_or_else(PoisonError::into_inner) = Some(compliance);
        }
        None => {
            let lighter = 1.0 / from.stiffening(if whole { of.frequency } else { 0.0 }, dt);
            to.compliance.set_lumped((0..from.positions().len()).map(|node| lighter * from.inverse_mass(node)));
        }
    }
}
