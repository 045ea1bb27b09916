//! Particles of bodies that join the liquid for its step \[SK98\]: they are moved as liquid of the body's density, and the body takes
//! their mean.
//!
//! > F = m (Δv/Δt − g)

use glam::{DVec3, Vec3};
use meniscus_particles::System;
use meniscus_sph::Liquid;

/// Where particles of bodies are among those of a liquid.
#[derive(Debug, Clone, Default)]
pub struct Joined {
    /// The liquid's id of the first of them; the others follow.
    first_id: u32,
    /// Their velocities before the liquid's step \[m/s\].
    before: Vec<Vec3>,
}

impl Joined {
    /// Particles of bodies with ids from this one on.
    #[must_use]
    pub fn starting_at(first_id: u32) -> Self {
        Self { first_id, before: Vec::new() }
    }

    /// The particles of bodies take their places among the liquid's.
    pub fn join(&mut self, liquid: &mut Liquid, system: &System) {
        self.before.clear();
        self.before.resize(system.masses().len(), Vec3::ZERO);
        let state = system.state();
        let particles = liquid.particles_mut();
        for i in 0..particles.len() {
            let k = particles.id[i].wrapping_sub(self.first_id) as usize;
            if k < state.position.len() {
                particles.position[i] = state.position[k].as_vec3();
                particles.velocity[i] = state.velocity[k].as_vec3();
                self.before[k] = particles.velocity[i];
            }
        }
    }

    /// What the liquid has done to the particles of bodies in a step of `dt` \[s\].
    pub fn leave(&mut self, liquid: &Liquid, system: &mut System, gravity: DVec3, dt: f64) {
        let particles = liquid.particles();
        for (id, v) in particles.id.iter().zip(&particles.velocity) {
            let k = id.wrapping_sub(self.first_id) as usize;
            if k < self.before.len() {
                let change = (*v - self.before[k]).as_dvec3() / dt - gravity;
                system.external_mut()[k] = change * system.masses()[k];
            }
        }
    }
}
