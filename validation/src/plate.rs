//! `water-on-plate`: a column of water bends a clamped plate.

use crate::worlds::{run_until, world};
use crate::{Plot, Row, Size, compare, failed};

const CASE: &str = "water-on-plate";
/// Bending q L⁴/(384 D) and shear of a plate clamped at both ends, plane strain, ν = 0.3 \[m\].
pub(crate) const DEFLECTION: f64 = 7.301e-5;

pub(crate) fn run(size: Size) -> Vec<Row> {
    // Spacing of the particles, edge of the elements [m], time to settle and time of the mean [s].
    let setup = if size == Size::Fine { [0.025, 0.025, 1.0, 0.5] } else { [0.05, 0.05, 0.5, 0.25] };
    match deflection(setup) {
        Err(error) => failed(CASE, &error),
        Ok((measured, track)) => {
            let plot = Plot::new("t [s]", "deflection [m]").measured("middle of the plate", &track);
            let plot = plot.level("theory", [0.0, setup[2] + setup[3]], DEFLECTION);
            vec![compare(CASE, "mean deflection of the middle [m]", DEFLECTION, measured, 0.05).asked().with(plot)]
        }
    }
}

/// The mean deflection of the middle \[m\] over a time after settling, and how it came about.
pub(crate) fn deflection([spacing, edge, settle, mean]: [f64; 4]) -> Result<(f64, Vec<[f64; 2]>), String> {
    // Two particles and a gap wide; the plate's faces across it are held, as plane strain asks.
    let half = spacing;
    let hold = |min: [f64; 3], max: [f64; 3], axes: &str| {
        format!("{{ region = {{ box = {{ min = {min:?}, max = {max:?} }} }}, axes = {axes} }}")
    };
    let holds = [
        hold([-1.0, -1.0, -1.0], [0.0, 1.0, 1.0], "[\"x\", \"y\", \"z\"]"),
        hold([1.0, -1.0, -1.0], [2.0, 1.0, 1.0], "[\"x\", \"y\", \"z\"]"),
        hold([-1.0, -1.0, half], [2.0, 1.0, 1.0], "[\"z\"]"),
        hold([-1.0, -1.0, -1.0], [2.0, 1.0, -half], "[\"z\"]"),
    ];
    let scene = format!(
        "[sph]\nspacing = {spacing:?}\n\
         [liquid.water]\nfill = [{{ box = {{ min = [0, 0, {low:?}], max = [1, 2, {half:?}] }} }}]\n\
         [wall.tank]\nshape = {{ box = {{ min = [0, -1, {low:?}], max = [1, 3, {half:?}], open = [\"-y\", \"+y\"] }} }}\n\
         [solid.plate]\nshape = {{ box = {{ min = [0, -0.05, {low:?}], max = [1, 0, {half:?}] }} }}\nedge = {edge:?}\n\
         young = 6.75e10\npoisson = 0.3\ndensity = 2700\nfem = {{ order = \"quadratic\" }}\nfixed = [{}]\n\
         [contact]\nfriction = 0\nown = false\n\
         [probe.middle]\nsolid = {{ name = \"plate\", point = [0.5, 0, 0] }}\n",
        holds.join(",\n"),
        low = -half,
    );
    let mut world = world(CASE, &scene)?;
    let column = world.columns().iter().position(|name| name == "middle.dy [m]").ok_or("no probe")?;
    let mut track = Vec::new();
    for k in 1..=50 {
        run_until(&mut world, settle * f64::from(k) / 50.0)?;
        track.push([world.time(), -world.measure()[column]]);
    }
    let (mut sum, mut time) = (0.0, 0.0);
    while world.time() < settle + mean {
        let before = world.time();
        world.step(settle + mean).map_err(|e| e.to_string())?;
        let step = world.time() - before;
        sum -= step * world.measure()[column];
        time += step;
        track.push([world.time(), -world.measure()[column]]);
    }
    Ok((sum / time, track))
}
