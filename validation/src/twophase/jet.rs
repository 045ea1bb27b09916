//! `outflow`: a jet falls through an open floor.

use super::run;
use crate::{Row, Size, bound, compare, failed};
use glam::DVec3;
use meniscus::geometry::Aabb;
use meniscus::twophase::{Flow, Open, Outflow, Params, Setup, Side, Sides};

/// Speed at the start and gravity \[m/s, m/s²\].
const SPEED: f64 = 2.0;
const GRAVITY: f64 = 9.81;

/// A block of water falls through a floor that is open to the air.
pub(crate) fn outflow(_: Size) -> Vec<Row> {
    match falls() {
        Ok([speed, expected, fastest, left]) => vec![
            compare("outflow", "speed of the jet in the two cells over the floor [m/s]", expected, speed, 0.02),
            bound("outflow", "fastest flow over that of the jet at the end", fastest, 1.2),
            bound("outflow", "part of the water that is left", left, 1e-6),
        ],
        Err(error) => failed("outflow", &error),
    }
}

/// The mean speed of the water over the floor while it leaves and what it should be, the fastest flow over the fastest water, and what part of
/// the water is left at last.
fn falls() -> Result<[f64; 4], String> {
    let h = 1.0 / 16.0;
    let (top, floor) = (Side::Open(Open::default()), Side::Outflow(Outflow::default()));
    let params = Params {
        spacing: h,
        sides: Sides { y_max: top, y_min: floor, ..Sides::default() },
        surface_tension: 0.0,
        ..Params::default()
    };
    let domain = Aabb::new(DVec3::ZERO, DVec3::new(1.0, 2.0, 1.0));
    let setup = Setup { params, domain, gravity: DVec3::new(0.0, -GRAVITY, 0.0), solid: None };
    let mut flow = Flow::new(setup).map_err(|e| e.to_string())?;
    let block = |x: DVec3| ((x - DVec3::new(0.5, 1.1, 0.5)).abs() - DVec3::new(0.2, 0.6, 0.2)).max_element();
    flow.fill(block);
    flow.set_velocity(|x| if block(x) < h { DVec3::Y * -SPEED } else { DVec3::ZERO });
    let volume = flow.liquid_volume();
    let (mut sum, mut expected, mut fastest, mut last) = (0.0, 0.0, 0.0f64, 0.0);
    run(&mut flow, 0.6, |flow, time| {
        fastest = fastest.max(flow.max_speed());
        let dt = time - last;
        last = time;
        // Its middle part: its front pushes air before it, its end has met the air.
        if (0.22..0.36).contains(&time) {
            // Velocities live half a step ahead.
            expected += dt * (SPEED + GRAVITY * (time + 0.5 * dt));
            sum += dt * over_floor(flow, h);
        }
    })?;
    Ok([sum / 0.14, expected / 0.14, fastest / (SPEED + GRAVITY * 0.45), flow.liquid_volume() / volume])
}

/// Mean speed downwards of the water in the two lowest layers \[m/s\].
fn over_floor(flow: &Flow, h: f64) -> f64 {
    let grid = flow.grid();
    let cells = (0..grid.len()).filter(|&p| grid.contains(p) && grid.center(p).y < 2.0 * h);
    let (volume, momentum) = cells.fold((0.0, 0.0), |(volume, momentum), p| {
        let own = flow.liquid_in(p);
        (volume + own, momentum - own * flow.cell_velocity(p).y)
    });
    momentum / volume
}
