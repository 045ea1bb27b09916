//! `box-volume`, `dam-break-grid`, `sloshing-grid`: water in a closed tank.

use super::{boxed, run};
use crate::worlds::table;
use crate::{Plot, Row, Size, bound, compare, failed, given, half_period, interpolate, largest, mean};
use glam::DVec3;
use meniscus::twophase::{Flow, Fluid, Params};
use std::f64::consts::PI;

const GRAVITY: DVec3 = DVec3::new(0.0, -9.81, 0.0);

fn water_and_air(spacing: f64) -> Params {
    Params { spacing, gas: Fluid { density: 1.0, viscosity: 1.8e-5 }, ..Params::default() }
}

/// A violent slosh in a closed box keeps its water.
pub(crate) fn box_volume(size: Size) -> Vec<Row> {
    let seconds = if size == Size::Fine { 10.0 } else { 3.0 };
    let (mut changes, mut speeds) = (Vec::new(), Vec::new());
    let outcome = boxed([32; 3], water_and_air(1.0 / 32.0), GRAVITY).and_then(|mut flow| {
        flow.fill(|x| (x.x - 0.4).max(x.y - 0.8).min(x.y - 0.1));
        let volume = flow.liquid_volume();
        run(&mut flow, seconds, |flow, time| {
            changes.push([time, (flow.liquid_volume() / volume - 1.0).abs()]);
            speeds.push(flow.max_speed());
        })
    });
    if let Err(error) = outcome {
        return failed("box-volume", &error);
    }
    // Water that stands still keeps its volume.
    let worst = given(largest(speeds) > 1.0, largest(changes.iter().map(|point| point[1])));
    let plot = Plot::new("t [s]", "|change| of the volume, relative").log_upwards().measured("ours", &changes);
    let plot = plot.level("allowed", [0.0, seconds], 1e-10);
    let quantity = format!("relative change of volume in {seconds} s, 32³");
    vec![bound("box-volume", &quantity, worst, 1e-10).asked().with(plot)]
}

/// The front of a collapsing column \[MM52\].
pub(crate) fn dam_break(size: Size) -> Vec<Row> {
    let across = if size == Size::Fine { 32 } else { 16 };
    let table = table::<2>(include_str!("../../data/dambreak_martin_moyce_n2_2_a2.25in_front.csv"));
    let history = match front(across) {
        Ok(history) => history,
        Err(error) => return failed("dam-break-grid", &error),
    };
    let (late, worst) = delay_and_error(&history, &table);
    let shown: Vec<[f64; 2]> = history.iter().map(|[t, z]| [t + late, *z]).collect();
    let points: Vec<[f64; 2]> = table.iter().copied().filter(|row| row[0] < 3.6).collect();
    let plot = Plot::new("t √(2g/a)", "front over a").measured("ours, later by the gate's lag", &shown);
    let plot = plot.rings("Martin and Moyce", &points);
    vec![
        bound("dam-break-grid", "the experiment is late by t√(2g/a): its gate", late, 0.3).with(plot),
        bound("dam-break-grid", "largest error of the front over the front, the gate taken out", worst, 0.05).asked(),
    ]
}

/// By how much the experiment is late, in the mean over T > 1; and how far the fronts then differ.
fn delay_and_error(history: &[[f64; 2]], table: &[[f64; 2]]) -> (f64, f64) {
    let when: Vec<[f64; 2]> = history.iter().map(|[t, z]| [*z, *t]).collect();
    let late_enough = || table.iter().filter(|row| row[0] > 1.0);
    let late = mean(late_enough().map(|row| row[0] - interpolate(&when, row[1])));
    let errors = late_enough().map(|row| (interpolate(history, row[0] - late) / row[1] - 1.0).abs());
    (late, largest(errors))
}

/// (t √(2g/a), front/a) of a column a = 0.05715 m wide and twice as high.
fn front(across: usize) -> Result<Vec<[f64; 2]>, String> {
    let a = 0.05715;
    let params = water_and_air(a / across as f64);
    let mut flow = boxed([6 * across, 3 * across, 1], params, GRAVITY)?;
    flow.fill(|x| (x.x - a).max(x.y - 2.0 * a));
    let scale = (2.0 * 9.81 / a).sqrt();
    let mut history = Vec::new();
    run(&mut flow, 3.6 / scale, |flow, time| history.push([time * scale, foremost(flow) / a]))?;
    Ok(history)
}

/// How far the liquid on the floor reaches.
fn foremost(flow: &Flow) -> f64 {
    let grid = flow.grid();
    let fraction = |i: usize| flow.state().volume_fraction[grid.index([i, 0, 0])];
    let wet = (0..grid.cells()[0]).map(fraction).take_while(|f| *f > 0.0).sum::<f64>();
    wet * grid.spacing()
}

/// Period of the first sloshing mode in a tank of 1 m with 0.5 m of water.
pub(crate) fn sloshing(size: Size) -> Vec<Row> {
    let n = if size == Size::Fine { 128 } else { 64 };
    let k = PI;
    let omega = (9.81 * k * (k * 0.5f64).tanh()).sqrt();
    let (measured, track) = match period(n, omega) {
        Ok(found) => found,
        Err(error) => return failed("sloshing-grid", &error),
    };
    let theory: Vec<[f64; 2]> = track.iter().map(|[t, _]| [*t, track[0][1] * libm::cos(omega * t)]).collect();
    let plot = Plot::new("t [s]", "level at the wall [m]").reference("theory", &theory).measured("ours", &track);
    let row = compare("sloshing-grid", "T₁ [s], L = 1 m, d = 0.5 m", 2.0 * PI / omega, measured, 0.01);
    vec![row.asked().with(plot)]
}

fn period(n: usize, omega: f64) -> Result<(f64, Vec<[f64; 2]>), String> {
    let mut params = water_and_air(1.0 / n as f64);
    params.gas.viscosity = 0.0;
    params.liquid.viscosity = 0.0;
    let mut flow = boxed([n, n * 3 / 4, 1], params, GRAVITY)?;
    flow.fill(|x| x.y - 0.5 - 0.005 * libm::cos(PI * x.x));
    let mut history = Vec::new();
    run(&mut flow, 5.2 * PI / omega, |flow, time| history.push([time, flow.gauge(1, DVec3::ZERO) - 0.5]))?;
    Ok((2.0 * half_period(&history, 0.0)?, history))
}
