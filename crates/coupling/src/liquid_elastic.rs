//! Liquid and elastic solids of particles \[SZW\]: particles of the solids stand among the liquid's and take part in its sums; what
//! the liquid does to them goes back as forces.
//!
//! Solids take many sub-steps within a step of the liquid. They are moved first, under the forces F′ of the last step; the liquid
//! then finds F, and the impulse dt (F − F′) is given to them, its rigid part at once, the rest over the next step: what the liquid
//! loses the solid gains, to rounding.

use crate::liquid_porous;
use glam::DVec3;
use meniscus_elastic::{SolidState, Solids};
use meniscus_sph::{Liquid, Phase, Pores};

/// Takes solids into a liquid; `pores` has one for each, `viscosity` \[Pa·s\] is that of the layer of liquid on them.
pub fn embed(liquid: &mut Liquid, solids: &mut Solids, pores: &[Option<Pores>], viscosity: f64) {
    if pores.iter().any(Option::is_some) {
        solids.feel_drag();
    }
    let phase = |(body, pores): (&meniscus_elastic::SolidBody, &Option<Pores>)| Phase {
        name: body.name.clone(),
        particles: body.particles.clone(),
        mass: body.elastic.mass(),
        inertia: 1.0,
        pores: *pores,
        ..Phase::default()
    };
    let phases = solids.bodies().iter().zip(pores).map(phase).collect();
    let SolidState { position, velocity, .. } = solids.state();
    liquid.embed(phases, [position, velocity], viscosity);
}

/// Solids have become lighter or heavier.
pub fn weigh(liquid: &mut Liquid, solids: &Solids) {
    liquid.change_phases(|phases| {
        phases.iter_mut().zip(solids.bodies()).for_each(|(phase, body)| phase.mass = body.elastic.mass());
    });
}

/// The first move: the particles of solids take their places among the liquid's, and say how they give way in a step of `dt` \[s\].
pub fn place(liquid: &mut Liquid, solids: &Solids, dt: f64) {
    let SolidState { position, velocity, .. } = solids.state();
    liquid.place_solids(position, velocity);
    let spacing = liquid.setup().params.spacing;
    liquid.change_phases(|phases| {
        for (number, (phase, solid)) in phases.iter_mut().zip(solids.bodies()).enumerate() {
            // A particle takes along what sound reaches in the step.
            let reach = solid.elastic.material().sound_speed() * dt / spacing;
            phase.inertia = solid.elastic.mass() * (1.0 + reach * reach);
            phase.compliance = solids.rigid_compliance(number);
            let held = solid.prescribed.iter().filter(|prescribed| prescribed.axes == DVec3::ONE).count();
            phase.inverse_mass = if held < solid.elastic.len() { 1.0 / solid.elastic.mass() } else { 0.0 };
        }
    });
}

/// Shows the liquid where solids are that have been moved under the forces `before` \[N\]. Comes between forces and pressure.
pub fn predict(liquid: &mut Liquid, solids: &Solids, before: &[DVec3], gravity: DVec3, dt: f64) {
    liquid.predict_solids(before, &solids.state().position, gravity, dt);
}

/// The second move: gives the solids what the liquid did to them; their particles in the liquid are put where the solids are.
pub fn give(liquid: &mut Liquid, solids: &mut Solids, dt: f64) {
    liquid_porous::give(liquid, solids, dt);
    let SolidState { position, velocity, force, owed, .. } = solids.state_mut();
    liquid.forces_on_solids(force);
    let before = liquid.forces_before();
    for phase in liquid.phases() {
        let (mut impulse, mut moment) = (DVec3::ZERO, DVec3::ZERO);
        for k in phase.particles.clone() {
            let change = (force[k] - before[k]) * dt;
            owed[k] = change;
            impulse += change;
            moment += (position[k] - phase.compliance.center).cross(change);
        }
        let motion = phase.compliance.motion(impulse, moment);
        for k in phase.particles.clone() {
            let change = phase.compliance.at(motion, position[k]);
            velocity[k] += change;
            owed[k] -= change * phase.mass;
        }
    }
    show(liquid, solids);
}

/// The second move with the state equation: forces, before the solids are moved under them.
pub fn push(liquid: &mut Liquid, solids: &mut Solids, gravity: DVec3) {
    solids.state_mut().force.copy_from_slice(liquid.push_solids(gravity));
}

/// Puts the particles of solids where the solids are.
pub fn show(liquid: &mut Liquid, solids: &Solids) {
    let SolidState { position, velocity, .. } = solids.state();
    liquid.show_solids(position, velocity);
}
