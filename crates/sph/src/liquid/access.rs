//! How others reach the particles: whole arrays at a time, so that ranks or a device can stand behind them later.

use crate::liquid::Liquid;
use crate::particles::Particles;
use glam::Vec3;

impl Liquid {
    /// The particles, in the order in which they are stored.
    #[must_use]
    pub fn particles(&self) -> &Particles {
        &self.state.particles
    }

    /// Adds particles of a liquid at positions \[m\], with velocities \[m/s\].
    pub fn add(&mut self, liquid: u16, particles: impl IntoIterator<Item = [Vec3; 2]>) {
        let density = self.setup.materials[usize::from(liquid)].1.density as f32;
        let all = &mut self.state.particles;
        particles.into_iter().for_each(|[position, velocity]| all.push(liquid, position, velocity, density));
    }

    /// Keeps the particles of which this holds, in their order; returns how many went.
    pub fn retain(&mut self, keep: impl Fn(&Particles, usize) -> bool) -> usize {
        self.state.particles.retain(keep)
    }

    /// Adds to the velocity \[m/s\] of every particle what is given for its liquid and position \[m\].
    pub fn kick(&mut self, change: impl Fn(u16, Vec3) -> Vec3) {
        let Particles { liquid, position, velocity, .. } = &mut self.state.particles;
        velocity.iter_mut().zip(liquid).zip(position).for_each(|((v, liquid), x)| *v += change(*liquid, *x));
    }
}
