//! Liquid in the pores of elastic solids \[BJWB25\]: drag and suction out, the change of drag back at once.

use glam::DVec3;
use meniscus_elastic::{SolidState, Solids};
use meniscus_sph::{Held, Liquid, Solved};

/// Suction and drag, as accelerations of liquid and solids, which have been moved. Comes after all other forces, before pressure.
pub fn add_porous_drag(liquid: &mut Liquid, solids: &Solids, gravity: DVec3, dt: f64) -> Solved {
    let SolidState { velocity, drag, .. } = solids.state();
    liquid.add_porous_drag([velocity, drag], gravity, dt)
}

/// Gives particles of solids the change of drag in a step of `dt` \[s\] at once; those that are led do not heed it.
pub(crate) fn give(liquid: &mut Liquid, solids: &mut Solids, dt: f64) {
    if liquid.drag_on_solids().is_empty() {
        return;
    }
    let (bodies, SolidState { velocity, drag, .. }) = solids.bodies_and_state_mut();
    let change = liquid.change_of_drag(drag, |change| {
        for body in bodies {
            for prescribed in &body.prescribed {
                change[body.particles.start + prescribed.particle as usize] *= DVec3::ONE - prescribed.axes;
            }
        }
    });
    for body in bodies {
        for k in body.particles.clone() {
            velocity[k] += change[k] * (dt / body.elastic.mass());
        }
    }
    drag.copy_from_slice(liquid.drag_on_solids());
}

/// What a porous solid holds where it is; nothing if it has no pores.
#[must_use]
pub fn held(liquid: &Liquid, solids: &Solids, number: usize) -> Option<Held> {
    let body = &solids.bodies()[number];
    liquid.held_by(number, &solids.state().position[body.particles.clone()], body.elastic.volume())
}
