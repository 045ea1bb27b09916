//! Elastic solids of particles, which take many sub-steps, and rigid bodies, which take one: within it a body gains speed evenly, and
//! every bump changes its motion at once. What it felt in all is handed to it by [`crate::fem_rigid::give`].

use glam::DVec3;
use meniscus_boundary::{Mover, Pose, RigidCompliance};
use meniscus_rigid::{Predicted, World};
use std::sync::Arc;

/// The bodies as solids bump into them in a step of `dt` \[s\] under gravity \[m/s²\]; exact within a reach \[m\].
pub fn movers(world: &mut World, [dt, reach]: [f64; 2], gravity: DVec3) -> Vec<Mover> {
    let predicted = if world.is_empty() { Vec::new() } else { world.predict(dt, gravity) };
    let mover = |(body, Predicted { unpushed, softness, .. }): (usize, &Predicted)| {
        let (rotation, translation) = world.pose(body);
        let motion = if world.is_prescribed(body) { *unpushed } else { world.motion(body) };
        let RigidCompliance { inverse_mass, inverse_inertia, center } = world.compliance(body);
        Mover {
            surface: Arc::clone(world.boundary(body)),
            pose: Pose { rotation, translation },
            motion: [motion.velocity, motion.spin],
            gain: [(unpushed.velocity - motion.velocity) / dt, (unpushed.spin - motion.spin) / dt],
            // What others hold gives way as something heavier would.
            compliance: RigidCompliance {
                inverse_mass: inverse_mass * *softness,
                inverse_inertia: inverse_inertia * *softness,
                center,
            },
            radius: world.positions(body).map(|x| x.distance(center)).fold(0.0, f64::max),
            reach,
        }
    };
    predicted.iter().enumerate().map(mover).collect()
}
