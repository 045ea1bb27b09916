//! `plastic-residual`: what is left of a strain beyond yield.

use super::{Measured, mean_displacement, rows, settle, step};
use crate::{Row, Size, bound, compare};
use glam::DVec3;
use meniscus::fem::{Axes, Body, Material, Params, Plasticity};
use meniscus::geometry::TetMesh;
use std::error::Error;

const CASE: &str = "plastic-residual";
const LENGTH: f64 = 1.0;
/// The strain at which the bar is held, and the yield strain.
const STRAIN: f64 = 1e-3;
const YIELD: f64 = 5e-4;

pub(crate) fn run(_: Size) -> Vec<Row> {
    rows(CASE, measure())
}

fn measure() -> Measured {
    let poisson = Material::default().poisson;
    // |(ε, −νε, −νε)| = ε √(1 + 2ν²).
    let slow = STRAIN - YIELD / (1.0 + 2.0 * poisson * poisson).sqrt();
    Ok(vec![
        compare(CASE, "slow creep: ε − ε_y/√(1 + 2ν²)", slow, residual(0.5, 400)?, 0.01),
        compare(CASE, "creep within a step: ε", STRAIN, residual(1e9, 2)?, 0.01),
        bound(CASE, "no creep: what stays / ε", residual(0.0, 100)? / STRAIN, 1e-6),
    ])
}

/// Pulls a bar, holds it, lets it go; returns the strain that stays.
fn residual(creep: f64, steps: u32) -> Result<f64, Box<dyn Error>> {
    let plasticity = Some(Plasticity { yield_strain: YIELD, creep, max_strain: 0.1, keep_volume: false });
    let material = Material { plasticity, mass_damping: 20.0, ..Material::default() };
    let mesh = TetMesh::block(DVec3::ZERO, DVec3::new(LENGTH, 0.2, 0.2), [10, 2, 2]);
    let params = Params { tolerance: 1e-8, newton_tolerance: 1e-8, ..Params::default() };
    let mut body = Body::new("bar", &mesh, params, material)?;
    body.fix_axes(Axes::Y, |p| p.y < 1e-9);
    body.fix_axes(Axes::Z, |p| p.z < 1e-9);
    body.fix_axes(Axes::X, |p| p.x < 1e-9 || p.x > LENGTH - 1e-9);
    body.prescribe(|_, rest| if rest.x > 0.5 * LENGTH { rest + STRAIN * LENGTH * DVec3::X } else { rest });
    settle(&mut body, DVec3::ZERO)?;
    for _ in 0..steps {
        step(&mut body, 0.01, DVec3::ZERO)?;
    }
    let held = mean_displacement(&body, |p| p.x > LENGTH - 1e-9).x / LENGTH;
    if (held / STRAIN - 1.0).abs() > 1e-3 {
        return Err(format!("the bar is not stretched: {held}").into());
    }
    body.release(|p| p.x > LENGTH - 1e-9);
    body.fix_axes(Axes::Y, |p| p.y < 1e-9);
    body.fix_axes(Axes::Z, |p| p.z < 1e-9);
    settle(&mut body, DVec3::ZERO)?;
    Ok(mean_displacement(&body, |p| p.x > LENGTH - 1e-9).x / LENGTH)
}
