//! `hydrostatic-rest`, `static-drop`: what is in balance stays at rest.

use super::boxed;
use crate::{Row, Size, bound, compare};
use glam::DVec3;
use meniscus::core::StepReport;
use meniscus::twophase::{Flow, Fluid, Params};

/// A pool whose level lies between the planes of the grid, at 1000:1.
pub(crate) fn hydrostatic(size: Size) -> Vec<Row> {
    let n = if size == Size::Fine { 64 } else { 24 };
    // With the live pressure measured from the surface, and from elsewhere.
    let levels = [("live pressure from the surface", None), ("live pressure from 0.2 m below", Some(0.23))];
    let one = |(what, level): (&str, Option<f64>)| {
        let speed = pool(n, level).unwrap_or(f64::NAN);
        bound("hydrostatic-rest", &format!("{what}: |u| after 100 steps [m/s]"), speed, 1e-10)
    };
    levels.into_iter().map(one).collect()
}

fn pool(n: usize, still_level: Option<f64>) -> Result<f64, String> {
    let params = Params {
        spacing: 1.0 / n as f64,
        gas: Fluid { density: 1.0, viscosity: 1.8e-5 },
        tolerance: 1e-14,
        still_level,
        ..Params::default()
    };
    let mut flow = boxed([n; 3], params, DVec3::new(0.0, -9.81, 0.0))?;
    flow.fill(|x| x.y - 0.4371);
    steps(&mut flow, 100)?;
    Ok(flow.max_speed())
}

fn steps(flow: &mut Flow, count: usize) -> Result<(), String> {
    let mut report = StepReport::default();
    for _ in 0..count {
        flow.step(flow.stable_step(), &mut report).map_err(|e| e.to_string())?;
    }
    Ok(())
}

/// A round drop without gravity: its currents and its pressure.
pub(crate) fn drop(size: Size) -> Vec<Row> {
    let laplace: &[f64] = if size == Size::Fine { &[120.0, 1200.0, 12000.0] } else { &[120.0] };
    laplace.iter().flat_map(|&number| drops(number)).collect()
}

fn drops(laplace: f64) -> Vec<Row> {
    let exact = drop_at_rest(laplace, true).unwrap_or([f64::NAN; 2]);
    let computed = drop_at_rest(laplace, false).unwrap_or([f64::NAN; 2]);
    let name = |what: &str| format!("La {laplace}: {what}");
    vec![
        bound("static-drop", &name("|u| / √(σ/ρD), exact curvature"), exact[0], 1e-10),
        bound("static-drop", &name("|u| / √(σ/ρD), computed curvature"), computed[0], 1e-4),
        compare("static-drop", &name("jump of the pressure over σ/R"), 1.0, computed[1], 0.01),
    ]
}

/// Radius in cells, of a quarter of the drop in a box of 32 cells.
const RADIUS: f64 = 12.8;

/// Largest velocity over √(σ/ρD) after the time D²/ν, and the jump of the pressure over σ/R; D = 0.8 m, σ = ρ = 1.
fn drop_at_rest(laplace: f64, exact: bool) -> Result<[f64; 2], String> {
    let (diameter, n) = (0.8f64, 32);
    let viscosity = (diameter / laplace).sqrt();
    let fluid = Fluid { density: 1.0, viscosity };
    let params = Params {
        spacing: 0.5 * diameter / RADIUS,
        gas: fluid,
        liquid: fluid,
        surface_tension: 1.0,
        tolerance: 1e-13,
        ..Params::default()
    };
    let mut flow = boxed([n, n, 1], params, DVec3::ZERO)?;
    flow.fill(|x| x.truncate().length() - 0.5 * diameter);
    if exact {
        flow.prescribe_curvature(2.0 / diameter);
    }
    let mut report = StepReport::default();
    let (mut time, end) = (0.0, diameter * diameter / viscosity);
    while time < end {
        let dt = flow.stable_step();
        flow.step(dt, &mut report).map_err(|e| e.to_string())?;
        time += dt;
    }
    let scale = (1.0 / diameter).sqrt();
    let inside = flow.state().pressure[flow.grid().index([0, 0, 0])];
    let outside = flow.state().pressure[flow.grid().index([n - 1, n - 1, 0])];
    Ok([flow.max_speed() / scale, (inside - outside) * 0.5 * diameter])
}
