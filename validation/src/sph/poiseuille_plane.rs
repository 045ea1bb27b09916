//! `poiseuille-plane`: the start-up of flow between two plates.

use crate::worlds::{run_until, table, world};
use crate::{Plot, Row, Size, bound, failed, largest};
use meniscus::sim::World;

const CASE: &str = "poiseuille-plane";
const DATA: &str = include_str!("../../data/poiseuille_plane_transient_morris1997.csv");
/// Distance of the plates \[m\].
const L: f64 = 1e-3;
/// Largest velocity at the end \[m/s\].
const U_MAX: f64 = 1.25e-5;

pub(crate) fn run(size: Size) -> Vec<Row> {
    let across = if size == Size::Fine { 80 } else { 40 };
    profiles(across).unwrap_or_else(|error| failed(CASE, &error))
}

fn profiles(across: u32) -> Result<Vec<Row>, String> {
    let spacing = L / f64::from(across);
    let scene = format!(
        "gravity = [1e-4, 0, 0]\n[sph]\nspacing = {spacing:?}\nartificial_viscosity = 0\n\
         [periodic]\nmin = [0, 0, 0]\nmax = [{edge:?}, {L:?}, {edge:?}]\naxes = [\"x\", \"z\"]\n\
         [liquid.water]\nviscosity = 1e-3\nfill = [{{ box = {{ min = [0, 0, 0], max = [{edge:?}, {L:?}, {edge:?}] }} }}]\n\
         [wall.below]\nfriction = \"no-slip\"\nshape = {{ plane = {{ point = [0, 0, 0], normal = [0, 1, 0] }} }}\n\
         [wall.above]\nfriction = \"no-slip\"\nshape = {{ plane = {{ point = [0, {L:?}, 0], normal = [0, -1, 0] }} }}\n",
        edge = 4.0 * spacing,
    );
    let data = table::<3>(DATA);
    let mut times: Vec<f64> = data.iter().map(|row| row[0]).collect();
    times.dedup();
    let mut world = world(CASE, &scene)?;
    let mut plot = Plot::new("y [m]", "velocity [m/s]");
    let mut rows = Vec::new();
    for time in times {
        run_until(&mut world, time)?;
        let exact: Vec<[f64; 2]> = data.iter().filter(|row| row[0] == time).map(|row| [row[1], row[2]]).collect();
        let error = worst_error(&world, &exact);
        rows.push(
            bound(CASE, &format!("velocity at t = {time} s, worst particle, over u_max"), error / U_MAX, 0.03).asked(),
        );
        plot = plot.reference(&format!("exact, {time} s"), &exact).dots(&format!("ours, {time} s"), &profile(&world));
    }
    rows[0].plots.push(plot);
    Ok(rows)
}

/// Height \[m\] and velocity \[m/s\] of particles in one row between the plates.
fn profile(world: &World) -> Vec<[f64; 2]> {
    let particles = world.frame().particles;
    let row = particles.positions.iter().zip(&particles.velocities).step_by(16);
    row.map(|(x, v)| [f64::from(x.y), f64::from(v.x)]).collect()
}

fn worst_error(world: &World, exact: &[[f64; 2]]) -> f64 {
    let particles = world.frame().particles;
    let errors = particles.positions.iter().zip(&particles.velocities).map(|(x, v)| {
        let y = f64::from(x.y);
        let after = exact.partition_point(|point| point[0] < y).clamp(1, exact.len() - 1);
        (f64::from(v.x) - quadratic(&exact[(after - 1).min(exact.len() - 3)..], y)).abs()
    });
    largest(errors)
}

/// The parabola through the first three points.
fn quadratic(points: &[[f64; 2]], y: f64) -> f64 {
    let [[a, u], [b, v], [c, w]] = [points[0], points[1], points[2]];
    u * (y - b) * (y - c) / ((a - b) * (a - c))
        + v * (y - a) * (y - c) / ((b - a) * (b - c))
        + w * (y - a) * (y - b) / ((c - a) * (c - b))
}
