//! `zalesak`, `single-vortex`, `deformation-3d`: shapes that come back to where they were.

use super::boxed;
use crate::{Plot, Row, Size, bound, given, interpolate};
use glam::DVec3;
use meniscus::twophase::{Flow, Params};
use std::f64::consts::PI;

/// The table of errors may be exceeded by this factor.
const MARGIN: f64 = 1.1;
const VOLUME: f64 = 1e-13;

/// A disk with a slot turns once \[Zal79\].
pub(crate) fn zalesak(size: Size) -> Vec<Row> {
    let disk = |x: DVec3| {
        let round = (x - DVec3::new(0.5, 0.75, x.z)).length() - 0.15;
        let slot = ((x.x - 0.5).abs() - 0.025).max(x.y - 0.85);
        round.max(-slot)
    };
    let turn = |x: DVec3, _: f64| 2.0 * PI * DVec3::new(0.5 - x.y, x.x - 0.5, 0.0);
    let table = [(64, 3.066e-3), (128, 1.026e-3), (256, 4.65e-4)];
    table
        .into_iter()
        .take(chosen(size, 3, 2))
        .flat_map(|(n, limit)| there_and_back("zalesak", [n, n, 1], disk, turn, 1.0, limit))
        .collect()
}

/// A disk is drawn into a spiral and back \[RK98\].
pub(crate) fn vortex(size: Size) -> Vec<Row> {
    let disk = |x: DVec3| (x - DVec3::new(0.5, 0.75, x.z)).length() - 0.15;
    let stir = |x: DVec3, time: f64| {
        let back = libm::cos(PI * time / 8.0);
        let (sx, sy) = (libm::sin(PI * x.x), libm::sin(PI * x.y));
        let (cx, cy) = (libm::cos(PI * x.x), libm::cos(PI * x.y));
        2.0 * back * DVec3::new(-sx * sx * sy * cy, sy * sy * sx * cx, 0.0)
    };
    let table = [(64, 1.416e-2), (128, 2.063e-3), (256, 5.255e-4)];
    table
        .into_iter()
        .take(chosen(size, 3, 2))
        .flat_map(|(n, limit)| there_and_back("single-vortex", [n, n, 1], disk, stir, 8.0, limit))
        .collect()
}

/// A ball is drawn into a sheet and back \[EFFM02\].
pub(crate) fn deformation(size: Size) -> Vec<Row> {
    let ball = |x: DVec3| x.distance(DVec3::splat(0.35)) - 0.15;
    let stir = |x: DVec3, time: f64| {
        let back = libm::cos(PI * time / 3.0);
        let [s, d] = [PI, 2.0 * PI].map(|k| x.to_array().map(|x| libm::sin(k * x)));
        let square = |k: usize| s[k] * s[k];
        back * DVec3::new(2.0 * square(0) * d[1] * d[2], -d[0] * square(1) * d[2], -d[0] * d[1] * square(2))
    };
    let table = [(32, 7.543e-3), (64, 2.825e-3)];
    table
        .into_iter()
        .take(chosen(size, 2, 1))
        .flat_map(|(n, limit)| there_and_back("deformation-3d", [n; 3], ball, stir, 3.0, limit))
        .collect()
}

fn chosen(size: Size, fine: usize, quick: usize) -> usize {
    if size == Size::Fine { fine } else { quick }
}

/// Carries a shape for a period and compares it with itself.
fn there_and_back(
    case: &str,
    cells: [usize; 3],
    shape: impl Fn(DVec3) -> f64 + Sync,
    velocity: impl Fn(DVec3, f64) -> DVec3 + Sync,
    period: f64,
    limit: f64,
) -> Vec<Row> {
    let n = cells[0];
    let params = Params { spacing: 1.0 / n as f64, ..Params::default() };
    let measured = boxed(cells, params, DVec3::ZERO).map(|mut flow| carry(&mut flow, shape, velocity, period));
    let (track, change) = measured.unwrap_or((Vec::new(), f64::NAN));
    // What is not carried anywhere comes back, too.
    let away = interpolate(&track, 0.5 * period) > 2.0 * limit;
    let error = track.last().map_or(f64::NAN, |point| point[1]);
    let plot = Plot::new(&format!("t, {n} cells"), "Σ|F − F₀| h²").log_upwards().measured("ours", &track);
    let plot = plot.rings("may be left at the end", &[[period, MARGIN * limit]]);
    vec![
        bound(case, &format!("{n} cells: Σ|F − F₀| h²"), given(away, error), MARGIN * limit).asked().with(plot),
        bound(case, &format!("{n} cells: relative change of volume"), given(away, change), VOLUME).asked(),
    ]
}

/// Time and error of the shape on the way, and the change of its volume.
fn carry(
    flow: &mut Flow,
    shape: impl Fn(DVec3) -> f64 + Sync,
    velocity: impl Fn(DVec3, f64) -> DVec3 + Sync,
    period: f64,
) -> (Vec<[f64; 2]>, f64) {
    flow.fill(&shape);
    let (first, volume) = (flow.state().volume_fraction.clone(), flow.liquid_volume());
    flow.set_velocity(|x| velocity(x, 0.0));
    let steps = (period / flow.courant_step()).ceil();
    let dt = period / steps;
    let mut track = Vec::new();
    for step in 0..steps as u64 {
        flow.set_velocity(|x| velocity(x, (step as f64 + 0.5) * dt));
        flow.carry(dt);
        track.push([(step + 1) as f64 * dt, difference(flow, &first)]);
    }
    (track, flow.liquid_volume() / volume - 1.0)
}

/// Σ|F − F₀| over the volume of a cell, or its area.
fn difference(flow: &Flow, first: &[f64]) -> f64 {
    let differences = flow.state().volume_fraction.iter().zip(first).enumerate();
    let inside = differences.filter(|(p, _)| flow.grid().contains(*p));
    let error: f64 = inside.map(|(_, (a, b))| (a - b).abs()).sum();
    let dimensions = flow.grid().active_axes().count();
    error * flow.grid().spacing().powi(dimensions as i32)
}
