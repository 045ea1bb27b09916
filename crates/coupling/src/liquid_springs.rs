//! Liquid and bodies of particles that meet particle by particle: springs between them \[B\], or a projection that moves them apart.

use glam::Vec3;
use meniscus_core::{StepError, StepReport};
use meniscus_particles::{LiquidParticles, Pushes, System};
use meniscus_sph::{Hooks, Liquid};

/// Radius of a particle of the liquid as bodies meet it \[m\]: half a spacing more than its own. Beside a body it lacks
/// neighbours, so the liquid crowds there; held back by as much, a body displaces about its volume.
#[must_use]
pub fn drop_radius(liquid: &Liquid) -> f64 {
    liquid.setup().params.spacing
}

/// Springs between bodies and liquid: forces on the former, pushes for the latter. `masses` \[kg\] are those of a particle of
/// each liquid, sorted particles are needed.
pub fn connect(liquid: &Liquid, system: &mut System, masses: &[f64], pushes: &mut Pushes) {
    let particles = liquid.particles();
    let drops = LiquidParticles {
        grid: liquid.grid(),
        position: &particles.position,
        velocity: &particles.velocity,
        liquid: &particles.liquid,
        mass: masses,
        radius: drop_radius(liquid),
    };
    system.connect_liquid(&drops, pushes);
}

/// Takes overlaps between bodies and liquid away, in a step of `dt` \[s\].
pub fn resolve_overlaps(liquid: &mut Liquid, system: &mut System, masses: &[f64], dt: f64) {
    let radius = drop_radius(liquid);
    let (particles, grid) = liquid.particles_and_grid_mut();
    system.resolve_liquid_overlaps(
        (grid, radius),
        (&mut particles.position, &mut particles.velocity),
        (&particles.liquid, masses),
        dt,
    );
}

/// What bodies do to the liquid within its step.
pub struct Pushed<'a>(pub &'a Pushes);

impl Hooks for Pushed<'_> {
    fn after_forces(&mut self, liquid: &mut Liquid, _: &mut StepReport) -> Result<(), StepError> {
        let accelerations: &mut [Vec3] = liquid.accelerations_mut();
        self.0.iter().for_each(|(j, push)| accelerations[j as usize] += push);
        Ok(())
    }

    /// Animated walls; skins come later.
    fn after_advance(&mut self, liquid: &mut Liquid, _: &mut StepReport) -> Result<(), StepError> {
        let [_, dt] = liquid.state().last_step;
        liquid.keep_before_bodies(|_, _| {}, dt);
        Ok(())
    }
}
