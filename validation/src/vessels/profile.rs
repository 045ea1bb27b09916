//! `vessel-profile`: the start-up of flow in a round pipe whose wall is a mesh.

use super::{fill, pipe, rings};
use crate::worlds::{run_until, table, world_with};
use crate::{Plot, Row, Size, bound, failed, largest};
use meniscus::geometry::write_ply;
use meniscus::sim::World;

const CASE: &str = "vessel-profile";
const DATA: &str = include_str!("../../data/poiseuille_pipe_transient_vessel.csv");
/// Radius of the pipe \[m\].
const R: f64 = 2e-3;
/// Largest velocity at the end \[m/s\].
const U_MAX: f64 = 0.285_714;
/// Particles from the axis to the wall.
const RINGS: u32 = 10;

pub(crate) fn run(size: Size) -> Vec<Row> {
    // What repeats is 4 mm long, or four layers, which is as short as it may be; all times, or the first three.
    let (layers, end) = if size == Size::Fine { (20, f64::INFINITY) } else { (4, 0.2) };
    profiles(layers, end).unwrap_or_else(|error| failed(CASE, &error))
}

fn profiles(layers: u32, end: f64) -> Result<Vec<Row>, String> {
    let spacing = R / f64::from(RINGS);
    let length = spacing * f64::from(layers);
    let scene = format!(
        "gravity = [0.9434, 0, 0]\n[sph]\nspacing = {spacing:?}\nartificial_viscosity = 0\nposition_correction = true\neddy_friction = 1\n\
         [periodic]\nmin = [0, -0.003, -0.003]\nmax = [{length:?}, 0.003, 0.003]\naxes = [\"x\"]\n\
         [liquid.blood]\ndensity = 1060\nviscosity = 0.0035\n{}\n\
         [wall.pipe]\nfriction = \"no-slip\"\nshape = {{ mesh = {{ surface = {{ file = \"pipe.ply\" }}, wet = \"inside\" }} }}\n",
        fill(&rings(RINGS, spacing), 0.0, layers, spacing)
    );
    // Longer than what repeats: its ends are out of reach.
    let wall = pipe([-R, length + R], R, 48);
    let file = |_: &str| {
        let mut bytes = Vec::new();
        write_ply(&wall, &mut bytes).map(|()| bytes)
    };
    let mut world = world_with(CASE, &scene, &file)?;
    let data = table::<3>(DATA);
    let mut times: Vec<f64> = data.iter().map(|row| row[0]).filter(|time| *time <= end).collect();
    times.dedup();
    let mut plot = Plot::new("r [m]", "velocity [m/s]");
    let mut rows = Vec::new();
    for time in times {
        run_until(&mut world, time)?;
        let exact: Vec<[f64; 2]> = data.iter().filter(|row| row[0] == time).map(|row| [row[1], row[2]]).collect();
        let error = worst_error(&world, &exact) / U_MAX;
        rows.push(bound(CASE, &format!("velocity at t = {time} s, worst particle, over u_max"), error, 0.05).asked());
        plot = plot.reference(&format!("exact, {time} s"), &exact).dots(&format!("ours, {time} s"), &profile(&world));
    }
    rows[0].plots.push(plot);
    Ok(rows)
}

/// Radius \[m\] and velocity \[m/s\] of some particles.
fn profile(world: &World) -> Vec<[f64; 2]> {
    let particles = world.frame().particles;
    let some = particles.positions.iter().zip(&particles.velocities).step_by(12);
    some.map(|(x, v)| [f64::from(x.y).hypot(f64::from(x.z)), f64::from(v.x)]).collect()
}

fn worst_error(world: &World, exact: &[[f64; 2]]) -> f64 {
    let particles = world.frame().particles;
    let errors = particles.positions.iter().zip(&particles.velocities).map(|(x, v)| {
        let r = f64::from(x.y).hypot(f64::from(x.z));
        let after = exact.partition_point(|point| point[0] < r).clamp(1, exact.len() - 1);
        let [[a, u], [b, w]] = [exact[after - 1], exact[after]];
        (f64::from(v.x) - (u + (w - u) * (r - a) / (b - a))).abs()
    });
    largest(errors)
}
