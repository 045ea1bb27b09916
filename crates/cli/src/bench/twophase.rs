//! The dam break of the two-phase grid, shared with other solvers: a column of water of 0.4 × 0.8 × 1 m falls in a closed box
//! of 1 m, air 1000 times lighter around it, n³ cells.

use super::Stepper;
use crate::failure::Failure;
use glam::DVec3;
use meniscus::core::StepReport;
use meniscus::geometry::Aabb;
use meniscus::twophase::{Flow, Fluid, Params, Setup};

/// Steps measured, fewer where they are long.
pub(super) fn measured_steps(n: usize) -> u64 {
    match n {
        0..=64 => 40,
        65..=96 => 20,
        _ => 12,
    }
}

pub(super) fn dam_break(n: usize) -> Result<Stepper, Failure> {
    let gas = Fluid { density: 1.0, viscosity: 1.8e-5 };
    let setup = Setup {
        params: Params { spacing: 1.0 / n as f64, gas, ..Params::default() },
        domain: Aabb::new(DVec3::ZERO, DVec3::ONE),
        gravity: DVec3::new(0.0, -9.81, 0.0),
        solid: None,
    };
    let mut flow = Flow::new(setup).map_err(|e| Failure::input("bench", e.to_string()))?;
    flow.fill(|x| (x.x - 0.4).max(x.y - 0.8));
    Ok(Box::new(move |profile: &mut StepReport| {
        let dt = profile.stage("find step", || flow.stable_step());
        flow.step(dt, profile).map_err(|e| Failure::input("bench", e.to_string()))?;
        Ok(flow.grid().cell_count() as u64)
    }))
}
