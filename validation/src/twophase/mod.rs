//! Air and water on a grid. Planar references run as slabs one cell thick.

mod advection;

pub(crate) use advection::{deformation, vortex, zalesak};

use glam::DVec3;
use meniscus::core::StepReport;
use meniscus::geometry::Aabb;
use meniscus::twophase::{Flow, Params, Setup};

/// A box of cells from the origin.
fn boxed(cells: [usize; 3], params: Params, gravity: DVec3) -> Result<Flow, String> {
    let size = DVec3::from_array(cells.map(|n| n as f64)) * params.spacing;
    let domain = Aabb::new(DVec3::ZERO, size);
    Flow::new(Setup { params, domain, gravity, solid: None }).map_err(|e| e.to_string())
}

/// Steps until a time \[s\], calling `watch` before the first step and after each.
fn run(flow: &mut Flow, end: f64, mut watch: impl FnMut(&Flow, f64)) -> Result<(), String> {
    let mut report = StepReport::default();
    let mut time = 0.0;
    watch(flow, time);
    while time < end * (1.0 - 1e-12) {
        let left = end - time;
        let dt = (left / (left / flow.stable_step()).ceil()).min(left);
        flow.step(dt, &mut report).map_err(|e| e.to_string())?;
        time += dt;
        watch(flow, time);
    }
    Ok(())
}
