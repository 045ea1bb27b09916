//! `led-sphere-grid`: the drag of a ball to which the fluid sticks.

use super::run;
use crate::{Row, Size, compare, failed};
use glam::DVec3;
use meniscus::geometry::Aabb;
use meniscus::twophase::{Flow, Fluid, Inflow, Open, Params, Setup, Side, Sides, Solid};
use std::f64::consts::PI;

/// Half the width of the stream, and where ball and measuring planes are from where it comes in, in radii: 2 % of it is blocked.
const WIDTH: f64 = 6.4;
const BALL: f64 = 5.0;
const PLANES: [f64; 2] = [1.0, 11.0];
const LENGTH: f64 = 15.0;

/// When the mean is taken, in radii over the velocity.
const SETTLED: f64 = 9.0;
const UNTIL: f64 = 11.0;

/// Drag coefficients at some Reynolds numbers 2RU/ν.
pub(crate) fn led(size: Size) -> Vec<Row> {
    let cases: &[(f64, f64)] =
        if size == Size::Fine { &[(100.0, 0.10), (300.0, 0.10), (1000.0, 0.20)] } else { &[(100.0, 0.20)] };
    let cells = if size == Size::Fine { 12.0 } else { 6.0 };
    let row = |&(reynolds, tolerance): &(f64, f64)| match drag(cells, reynolds) {
        Ok(found) => {
            let name = format!("drag coefficient at Re {reynolds}, {cells} cells per radius");
            vec![compare("led-sphere-grid", &name, standard(reynolds), found, tolerance).asked()]
        }
        Err(error) => failed("led-sphere-grid", &error),
    };
    cases.iter().flat_map(row).collect()
}

/// The standard curve by Schiller and Naumann.
fn standard(reynolds: f64) -> f64 {
    24.0 / reynolds * (1.0 + 0.15 * libm::pow(reynolds, 0.687))
}

/// A quarter of a ball of radius one on two planes of symmetry, in a stream of velocity and density one.
fn stream(cells: f64, reynolds: f64) -> Result<Flow, String> {
    let (h, inflow) = (1.0 / cells, Inflow { velocity: [1.0, 0.0, 0.0], level: None });
    let sides = Sides { x_min: Side::Inflow(inflow), x_max: Side::Open(Open::default()), ..Sides::default() };
    let fluid = Fluid { density: 1.0, viscosity: 2.0 / reynolds };
    let params = Params { spacing: h, sides, liquid: fluid, gas: fluid, surface_tension: 0.0, ..Params::default() };
    let width = (WIDTH * cells).round() * h;
    let domain = Aabb::new(DVec3::ZERO, DVec3::new(LENGTH, width, width));
    // Not in a symmetric place of the grid along the stream.
    let ball = Solid::new(move |x: DVec3| x.distance(DVec3::X * (BALL + 0.3 * h)) - 1.0).sticky();
    let setup = Setup { params, domain, gravity: DVec3::ZERO, solid: Some(ball) };
    let mut flow = Flow::new(setup).map_err(|e| e.to_string())?;
    flow.fill(|_| -1.0);
    flow.set_velocity(|_| DVec3::X);
    Ok(flow)
}

/// The mean drag coefficient: what is missing of pressure and momentum behind the ball, over ½ρU²πR²/4.
fn drag(cells: f64, reynolds: f64) -> Result<f64, String> {
    let mut flow = stream(cells, reynolds)?;
    let (mut sum, mut weight, mut last) = (0.0, 0.0, 0.0);
    run(&mut flow, UNTIL, |flow, time| {
        if time > SETTLED {
            let [before, behind] = PLANES.map(|x| thrust(flow, x));
            sum += (before - behind) * (time - last);
            weight += time - last;
        }
        last = time;
    })?;
    Ok(sum / weight / (0.5 * 0.25 * PI))
}

/// Σ (p + ρu²) h² over the cells in which a plane across the stream lies.
fn thrust(flow: &Flow, position: f64) -> f64 {
    let (grid, state) = (flow.grid(), flow.state());
    let h = grid.spacing();
    let cells = (0..grid.len()).filter(|&p| grid.contains(p));
    let here = cells.filter(|&p| (grid.center(p).x - 0.5 * h - position).abs() < 0.5 * h);
    here.map(|p| state.pressure[p] + flow.cell_velocity(p).x.powi(2)).sum::<f64>() * h * h
}
