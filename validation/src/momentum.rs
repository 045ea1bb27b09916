//! `momentum`: a blob without walls keeps its momentum.

use crate::worlds::{momentum_of, run_until, world};
use crate::{Plot, Row, Size, bound, failed, given};

const SCENE: &str = r#"
gravity = [0, 0, 0]
domain = { min = [-9, -9, -9], max = [9, 9, 9] }
[sph]
spacing = 0.02
[liquid.left]
fill = [{ sphere = { center = [-0.15, 0, 0], radius = 0.12 } }]
velocity = [2, 0.3, 0]
viscosity = 0.5
[liquid.right]
fill = [{ sphere = { center = [0.15, 0.05, 0], radius = 0.14 } }]
velocity = [-0.5, 0, 0.1]
"#;

pub(crate) fn run(size: Size) -> Vec<Row> {
    let seconds = if size == Size::Fine { 2.0 } else { 0.4 };
    collide(seconds).unwrap_or_else(|error| failed("momentum", &error))
}

fn collide(seconds: f64) -> Result<Vec<Row>, String> {
    let mut world = world("momentum", SCENE)?;
    let (before, left) = (world.totals().momentum, momentum_of(&world, 0));
    let mut drops = [Vec::new(), Vec::new()];
    for k in 0..=20 {
        run_until(&mut world, seconds * f64::from(k) / 20.0)?;
        for (drop, track) in (0..).zip(&mut drops) {
            track.push([world.time(), momentum_of(&world, drop).x]);
        }
    }
    let change = (world.totals().momentum - before).length() / before.length();
    // Drops that never meet keep their momentum, too.
    let given_away = (momentum_of(&world, 0) - left).length() / left.length();
    let plot = Plot::new("t [s]", "momentum along x [particle masses · m/s]");
    let plot = plot.measured("left drop", &drops[0]).measured("right drop", &drops[1]);
    let change = given(given_away > 0.1, change);
    Ok(vec![bound("momentum", "|change| / |momentum|, two drops collide", change, 1e-5).asked().with(plot)])
}
