//! How short the sub-steps of solids of particles are, before a step is begun: a step that takes minutes must not begin, and
//! `time.min_dt` holds for what takes steps of its own.

use crate::build::BuildError;
use meniscus_fem::Material;
use meniscus_scene::Scene;

/// Sub-steps that a step may have.
const MAX_SUBSTEPS: f64 = 1e4;
/// Particles times sub-steps that a step may have: ten seconds, at about 100 ns each.
const MAX_WORK: f64 = 1e8;

/// The shortest sub-step of a method.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Finest<'a> {
    /// The body that needs it.
    pub(crate) body: &'a str,
    /// Its length \[s\].
    pub(crate) step: f64,
    /// Particles that take such steps.
    pub(crate) particles: usize,
}

impl Finest<'_> {
    /// The longest step that is not too much work \[s\].
    pub(crate) fn longest_step(&self) -> f64 {
        self.step * MAX_SUBSTEPS.min(MAX_WORK / self.particles.max(1) as f64).max(1.0)
    }

    /// Refuses a scene whose solids need sub-steps below `time.min_dt`.
    pub(crate) fn check(&self, scene: &Scene) -> Result<(), BuildError> {
        // A NaN is refused too.
        if self.step >= scene.time.min_dt {
            return Ok(());
        }
        let message = format!(
            "makes `{}` so stiff that it needs sub-steps of {:.2e} s, below `time.min_dt` = {:.2e} s",
            self.body, self.step, scene.time.min_dt
        );
        Err(BuildError::Size { key: stiffest_key(scene, self.body), message })
    }
}

/// The key that makes a body stiff: the one that is farthest from its default.
fn stiffest_key(scene: &Scene, name: &str) -> String {
    let usual = Material::default();
    let (table, young, density, damping) = match (scene.solid.get(name), scene.body.get(name)) {
        (Some(solid), _) => ("solid", solid.young, solid.density, solid.stiffness_damping),
        (_, Some(body)) => ("body", body.young, body.density, 0.0),
        _ => return name.to_owned(),
    };
    // Damping over what is critical to the fastest vibration of a usual body.
    let damped = damping * (usual.young / usual.density).sqrt() / scene.sph.spacing;
    let (stiff, light) = (young / usual.young, usual.density / density);
    let key = match () {
        () if damped > stiff.sqrt().max(light.sqrt()) => "stiffness_damping",
        () if light > stiff => "density",
        () => "young",
    };
    format!("{table}.{name}.{key}")
}
