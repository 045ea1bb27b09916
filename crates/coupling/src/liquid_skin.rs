//! Liquid and bodies of particles that carry a skin: the liquid meets the skin, the particles that it hangs on feel the force.

use crate::exchange::{Wetted, take_triangles};
use glam::DVec3;
use meniscus_boundary::{Compliance, RigidCompliance};
use meniscus_particles::{Skin, System};
use meniscus_sph::{Body, Liquid};

/// Bodies of particles in their skins.
pub struct Skins<'a> {
    /// The bodies.
    pub system: &'a mut System,
    /// One for each body.
    pub skins: &'a [Skin],
    /// How fast the vertices of each skin give way \[1/kg\]; none of rigid bodies.
    pub compliance: &'a [Vec<f64>],
}

impl Skins<'_> {
    /// Where the vertices of a skin are \[m\].
    fn carried(&self, body: usize) -> impl Iterator<Item = DVec3> {
        self.skins[body].carry(&self.system.state().position[self.system.particles_of(body)])
    }
}

impl Wetted for Skins<'_> {
    fn surfaces(&self) -> usize {
        self.skins.len()
    }

    fn show(&mut self, _: f64, surfaces: &mut [Body]) {
        let (system, state) = (&*self.system, self.system.state());
        for (number, (to, skin)) in surfaces.iter_mut().zip(self.skins).enumerate() {
            let particles = system.particles_of(number);
            to.positions.clear();
            to.positions.extend(skin.carry(&state.position[particles.clone()]));
            to.velocities.clear();
            to.velocities.extend(skin.carry(&state.velocity[particles]));
            to.accelerations.clear();
            take_triangles(&mut to.triangles, skin.triangles());
            match (system.inverse_inertia(number), &mut to.compliance) {
                (Some(inverse_inertia), compliance) => {
                    let inverse_mass = DVec3::splat(1.0 / system.mass(number));
                    let center = system.center(number);
                    *compliance = Compliance::Rigid(RigidCompliance { inverse_mass, inverse_inertia, center });
                }
                (None, Compliance::Lumped(_)) => {}
                (None, compliance) => *compliance = Compliance::Lumped(self.compliance[number].clone()),
            }
        }
    }

    fn take_forces(&mut self, liquid: &Liquid, first: usize) {
        self.system.external_mut().fill(DVec3::ZERO);
        for (number, skin) in self.skins.iter().enumerate() {
            let particles = self.system.particles_of(number);
            skin.hand_down(liquid.body_forces(first + number), &mut self.system.external_mut()[particles]);
        }
    }

    fn ends(&self, surface: usize, ends: &mut Vec<DVec3>) {
        ends.extend(self.carried(surface));
    }
}
