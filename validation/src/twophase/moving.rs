//! `entry-volume`: a solid that moves displaces water, and none is lost.

use super::run;
use crate::{Row, Size, bound, compare};
use glam::DVec3;
use meniscus::geometry::Aabb;
use meniscus::twophase::{Flow, Open, Params, Placement, Setup, Side, Sides, Solid};
use std::f64::consts::PI;

/// Water and air in a box of cells with an open top, and a solid.
fn pool(cells: [usize; 3], spacing: f64, solid: Solid) -> Result<Flow, String> {
    let sides = Sides { y_max: Side::Open(Open::default()), ..Sides::default() };
    let params = Params { spacing, sides, surface_tension: 0.0, ..Params::default() };
    let size = DVec3::from_array(cells.map(|n| n as f64)) * spacing;
    let domain = Aabb::new(DVec3::ZERO, size);
    let gravity = DVec3::new(0.0, -9.81, 0.0);
    Flow::new(Setup { params, domain, gravity, solid: Some(solid) }).map_err(|e| e.to_string())
}

/// A solid that is moved by a function of time.
fn led(solid: Solid, path: impl Fn(f64) -> DVec3 + Send + Sync + 'static) -> Solid {
    solid.moving(move |time| Placement { translation: path(time), ..Placement::default() })
}

fn change(flow: &Flow, volume: f64) -> f64 {
    (flow.liquid_volume() / volume - 1.0).abs()
}

/// A ball of eight cells' radius goes into the water and out again.
pub(crate) fn entry(_: Size) -> Vec<Row> {
    let [rise, volume] = dive().unwrap_or([f64::NAN; 2]);
    let (radius, side) = (8.0f64, 24.0f64);
    let expected = 4.0 / 3.0 * PI * radius.powi(3) / (side * side);
    vec![
        compare("entry-volume", "rise of the mean level [cells], ball under water", expected, rise, 0.002),
        bound("entry-volume", "largest relative change of volume, in and out", volume, 1e-10),
    ]
}

/// The rise of the mean level in cells when the ball is under water, and the largest change of the volume.
fn dive() -> Result<[f64; 2], String> {
    let (h, radius) = (1.0 / 24.0, 8.0 / 24.0);
    let ball = Solid::new(move |x| x.distance(DVec3::new(0.513, 1.45, 0.489)) - radius);
    let mut flow = pool([24, 44, 24], h, led(ball, |t| DVec3::Y * (-0.45 * (1.0 - libm::cos(PI * t)))))?;
    flow.fill(|x| x.y - 1.0);
    let before = flow.liquid_volume();
    let mut worst = 0.0f64;
    run(&mut flow, 1.0, |flow, _| worst = worst.max(change(flow, before)))?;
    // What the ball leaves of the cells, and the liquid, stand in a tank of this area.
    let taken = (0..flow.grid().len()).filter(|&p| flow.grid().contains(p)).map(|p| 1.0 - flow.state().capacity[p]);
    let rise = taken.sum::<f64>() / (24.0 * 24.0);
    run(&mut flow, 1.0, |flow, _| worst = worst.max(change(flow, before)))?;
    Ok([rise, worst])
}
