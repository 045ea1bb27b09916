//! `sloshing`: the first period of water in a tank.

use crate::worlds::{run_until, world};
use crate::{Plot, Row, Size, compare, failed, is_sound, largest, mean};
use meniscus::scene::{Command, Set, Value};
use meniscus::sim::World;
use std::f64::consts::TAU;

const CASE: &str = "sloshing";
const G: f64 = 9.81;
/// ω² = g k tanh(k d) with k = π/L, L = 1 m, d = 0.5 m.
const PERIOD: f64 = 1.181_815_5;
/// How long the tank is pushed \[s\].
const PUSH: f64 = 0.3;

pub(crate) fn run(size: Size) -> Vec<Row> {
    if size == Size::Fine {
        [tank(0.01, 2.0), tank(0.02, 0.8)].concat()
    } else {
        [tank(0.02, 2.0), tank(0.03125, 0.8)].concat()
    }
}

/// The period after a push \[m/s²\].
fn tank(spacing: f64, push: f64) -> Vec<Row> {
    let scene = format!(
        "gravity = [{push:?},  -{G:?}, 0]\n[sph]\nspacing = {spacing:?}\n\
         [periodic]\nmin = [0, 0, 0]\nmax = [1, 1, {depth:?}]\naxes = [\"z\"]\n\
         [liquid.water]\nfill = [{{ box = {{ min = [0, 0, 0], max = [1, 0.5, {depth:?}] }} }}]\n\
         [wall.tank]\nshape = {{ box = {{ min = [0, 0, -9], max = [1, 1, 9], open = [\"+y\", \"+z\", \"-z\"] }} }}\n",
        depth = 4.0 * spacing,
    );
    let result = world(CASE, &scene).and_then(|mut world| {
        run_until(&mut world, PUSH)?;
        let still = Set { key: "gravity".into(), value: Value::Vector([0.0, -G, 0.0]) };
        world.apply(Command::Set(still))?;
        let (period, track) = period(&mut world, 2)?;
        let name = format!("period of the first mode after a push of {push} m/s² [s]");
        let plot = Plot::new(&format!("t [s], push of {push} m/s²"), "centre of mass from the middle [m]");
        let plot = plot.reference("theory, from the first passage", &theory(&track)).measured("ours", &track);
        Ok(vec![compare(CASE, &name, PERIOD, period, 0.02).asked().with(plot)])
    });
    result.unwrap_or_else(|error| failed(CASE, &error))
}

/// The mean of some periods: times between rising passages of the centre of mass through the middle.
fn period(world: &mut World, periods: usize) -> Result<(f64, Vec<[f64; 2]>), String> {
    let mut passages: Vec<f64> = Vec::new();
    let mut last = [world.time(), offset(world)];
    let mut track = vec![last];
    while passages.len() <= periods {
        run_until(world, last[0] + 0.01)?;
        let now = [world.time(), offset(world)];
        if last[1] < 0.0 && now[1] >= 0.0 {
            passages.push(last[0] + (now[0] - last[0]) * last[1] / (last[1] - now[1]));
        }
        last = now;
        track.push(now);
        if last[0] > 20.0 {
            return Err(format!("{} passages in 20 s", passages.len()));
        }
    }
    if !is_sound(&track) {
        return Err("what was measured is not finite".into());
    }
    Ok(((passages[periods] - passages[0]) / periods as f64, track))
}

/// A swing of the period of theory through the first rising passage of a track, as wide as it.
fn theory(track: &[[f64; 2]]) -> Vec<[f64; 2]> {
    let start = track.array_windows().find(|[a, b]| a[1] < 0.0 && b[1] >= 0.0).map_or(0.0, |[a, _]| a[0]);
    let width = largest(track.iter().map(|point| point[1].abs()));
    track.iter().map(|[t, _]| [*t, width * (TAU * (t - start) / PERIOD).sin()]).collect()
}

fn offset(world: &World) -> f64 {
    let positions = world.frame().particles.positions;
    mean(positions.iter().map(|x| f64::from(x.x) - 0.5))
}
