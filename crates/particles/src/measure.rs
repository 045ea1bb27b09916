//! What bodies weigh and carry.

use crate::motion::{Body, Kind};
use crate::system::System;
use glam::{DMat3, DVec3};

impl System {
    /// Mass of a body \[kg\], without particles that stay where they are.
    #[must_use]
    pub fn mass(&self, body: usize) -> f64 {
        self.moving(body).map(|i| self.matter.mass[i]).sum()
    }

    /// Centre of mass of a body \[m\].
    #[must_use]
    pub fn center(&self, body: usize) -> DVec3 {
        match &self.bodies[body].kind {
            Kind::Rigid(_) => self.state.rigid[body].center,
            Kind::Deformable(_) => {
                let sum: DVec3 = self.moving(body).map(|i| self.state.position[i] * self.matter.mass[i]).sum();
                sum / self.mass(body)
            }
        }
    }

    /// Momentum of a body \[kg·m/s\].
    #[must_use]
    pub fn momentum(&self, body: usize) -> DVec3 {
        match &self.bodies[body].kind {
            Kind::Rigid(frame) => self.state.rigid[body].velocity * frame.mass,
            Kind::Deformable(_) => self.moving(body).map(|i| self.state.velocity[i] * self.matter.mass[i]).sum(),
        }
    }

    /// Angular momentum of a body about the origin \[kg·m²/s\].
    #[must_use]
    pub fn angular_momentum(&self, body: usize) -> DVec3 {
        match &self.bodies[body].kind {
            Kind::Rigid(frame) => {
                let motion = &self.state.rigid[body];
                motion.angular_momentum + motion.center.cross(motion.velocity) * frame.mass
            }
            Kind::Deformable(_) => {
                let own = |i: usize| self.state.position[i].cross(self.state.velocity[i]) * self.matter.mass[i];
                self.moving(body).map(own).sum()
            }
        }
    }

    /// Angular velocity of a rigid body \[rad/s\]; zero for a deformable one.
    #[must_use]
    pub fn angular_velocity(&self, body: usize) -> DVec3 {
        match &self.bodies[body].kind {
            Kind::Rigid(frame) => frame.angular_velocity(&self.state.rigid[body]),
            Kind::Deformable(_) => DVec3::ZERO,
        }
    }

    /// Inverse inertia of a rigid body about its centre, along the axes of space \[1/(kg·m²)\]; none for a deformable one.
    #[must_use]
    pub fn inverse_inertia(&self, body: usize) -> Option<DMat3> {
        match &self.bodies[body].kind {
            Kind::Rigid(frame) => Some(frame.inverse_inertia_now(&self.state.rigid[body])),
            Kind::Deformable(_) => None,
        }
    }

    /// Kinetic energy of a body \[J\].
    #[must_use]
    pub fn kinetic_energy(&self, body: usize) -> f64 {
        match &self.bodies[body].kind {
            Kind::Rigid(frame) => frame.kinetic_energy(&self.state.rigid[body]),
            Kind::Deformable(_) => {
                let own = |i: usize| 0.5 * self.matter.mass[i] * self.state.velocity[i].length_squared();
                self.moving(body).map(own).sum()
            }
        }
    }

    /// Elastic energy of the static connections of a body \[J\].
    #[must_use]
    pub fn elastic_energy(&self, body: usize) -> f64 {
        let Body { range, kind, .. } = &self.bodies[body];
        let x = &self.state.position[range.clone()];
        match kind {
            Kind::Rigid(_) => 0.0,
            Kind::Deformable(connections) => {
                let length = |ends: [u32; 2]| x[ends[0] as usize].distance(x[ends[1] as usize]);
                connections.iter().map(|c| c.energy(length(c.ends))).sum()
            }
        }
    }

    /// Elastic energy of the dynamic connections between bodies \[J\].
    #[must_use]
    pub fn contact_energy(&self) -> f64 {
        self.interface.energy(&self.law, &self.state.position, &self.matter)
    }

    /// The particles of a body that are free to move.
    fn moving(&self, body: usize) -> impl Iterator<Item = usize> {
        self.bodies[body].range.clone().filter(|&i| self.matter.inverse_mass[i] > 0.0)
    }
}
