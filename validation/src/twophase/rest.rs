//! `hydrostatic-rest`, `static-drop`: what is in balance stays at rest.

use super::boxed;
use crate::{Plot, Row, Size, at_least, bound, compare, failed, given};
use glam::DVec3;
use meniscus::core::StepReport;
use meniscus::twophase::{Fluid, Params};

/// A pool whose level lies between the planes of the grid, at 1000:1.
pub(crate) fn hydrostatic(size: Size) -> Vec<Row> {
    let n = if size == Size::Fine { 64 } else { 24 };
    // With the live pressure measured from the surface, and from elsewhere.
    let levels = [("live pressure from the surface", None), ("live pressure from 0.2 m below", Some(0.23))];
    let one = |(what, level): (&str, Option<f64>)| {
        let track = pool(n, level, 0.0, 100).unwrap_or_default();
        let plot = Plot::new("steps", &format!("|u| [m/s], {what}")).measured("ours", &track);
        let plot = plot.level("allowed", [0.0, 100.0], 1e-10).log_upwards();
        let speed = track.last().map_or(f64::NAN, |point| point[1]);
        bound("hydrostatic-rest", &format!("{what}: |u| after 100 steps [m/s]"), speed, 1e-10).asked().with(plot)
    };
    let mut rows: Vec<Row> = levels.into_iter().map(one).collect();
    // Water that cannot move would pass: the same pool, tilted by a hundredth.
    let tilted = pool(n, None, 0.01, 10).unwrap_or_default().last().map_or(f64::NAN, |point| point[1]);
    rows.push(at_least("hydrostatic-rest", "level tilted by 0.01: |u| after 10 steps [m/s]", tilted, 1e-4));
    rows
}

/// Steps taken and |u| \[m/s\] of a pool whose level is tilted.
fn pool(n: usize, still_level: Option<f64>, tilt: f64, count: usize) -> Result<Vec<[f64; 2]>, String> {
    let params = Params {
        spacing: 1.0 / n as f64,
        gas: Fluid { density: 1.0, viscosity: 1.8e-5 },
        tolerance: 1e-14,
        still_level,
        ..Params::default()
    };
    let mut flow = boxed([n; 3], params, DVec3::new(0.0, -9.81, 0.0))?;
    flow.fill(|x| x.y - 0.4371 - tilt * (x.x - 0.5));
    let (mut report, mut track) = (StepReport::default(), Vec::new());
    for number in 1..=count {
        flow.step(flow.stable_step(), &mut report).map_err(|e| e.to_string())?;
        track.push([number as f64, flow.max_speed()]);
    }
    Ok(track)
}

/// A round drop without gravity: its currents and its pressure.
pub(crate) fn drop(size: Size) -> Vec<Row> {
    let laplace: &[f64] = if size == Size::Fine { &[120.0, 1200.0, 12000.0] } else { &[120.0] };
    laplace.iter().flat_map(|&number| drops(number)).collect()
}

fn drops(laplace: f64) -> Vec<Row> {
    let [exact, computed] = match [drop_at_rest(laplace, true), drop_at_rest(laplace, false)] {
        [Ok(exact), Ok(computed)] => [exact, computed],
        [Err(error), _] | [_, Err(error)] => return failed("static-drop", &error),
    };
    let name = |what: &str| format!("La {laplace}: {what}");
    // A drop without tension has no currents.
    let speed = |drop: &AtRest| given((drop.jump - 1.0).abs() < 0.1, drop.speed);
    let plot = Plot::new(&name("t over D²/ν"), "|u| / √(σ/ρD)").log_upwards();
    let plot = plot.measured("exact curvature", &exact.track).measured("computed curvature", &computed.track);
    vec![
        bound("static-drop", &name("|u| / √(σ/ρD), exact curvature"), speed(&exact), 1e-10).asked().with(plot),
        bound("static-drop", &name("|u| / √(σ/ρD), computed curvature"), speed(&computed), 1e-4).asked(),
        compare("static-drop", &name("jump of the pressure over σ/R"), 1.0, computed.jump, 0.01).asked(),
    ]
}

/// A drop after the time D²/ν.
struct AtRest {
    /// Largest velocity over √(σ/ρD).
    speed: f64,
    /// Jump of the pressure over σ/R.
    jump: f64,
    /// Time over D²/ν, and that velocity.
    track: Vec<[f64; 2]>,
}

/// Radius in cells, of a quarter of the drop in a box of 32 cells.
const RADIUS: f64 = 12.8;

/// D = 0.8 m, σ = ρ = 1.
fn drop_at_rest(laplace: f64, exact: bool) -> Result<AtRest, String> {
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
    let (scale, mut track) = ((1.0 / diameter).sqrt(), Vec::new());
    while time < end {
        let dt = flow.stable_step();
        flow.step(dt, &mut report).map_err(|e| e.to_string())?;
        time += dt;
        track.push([time / end, flow.max_speed() / scale]);
    }
    let inside = flow.state().pressure[flow.grid().index([0, 0, 0])];
    let outside = flow.state().pressure[flow.grid().index([n - 1, n - 1, 0])];
    Ok(AtRest { speed: flow.max_speed() / scale, jump: (inside - outside) * 0.5 * diameter, track })
}
