//! The shared scene in salva3d: DFSPH with two pressure iterations and one of divergence. Walls are two layers of particles.

use salva3d::math::Vector;
use salva3d::object::interaction_groups::InteractionGroups;
use salva3d::object::{Boundary, Fluid};
use salva3d::solver::{DFSPHSolver, DfsphParameters};
use salva3d::LiquidWorld;
use std::time::Instant;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let n: usize = arguments.next().and_then(|n| n.parse().ok()).expect("salva-peer N THREADS");
    let threads = arguments.next().unwrap_or_default();
    let r = 0.5 / n as f32;
    let solver: DFSPHSolver = DFSPHSolver::with_parameters(DfsphParameters {
        min_pressure_iter: 2,
        max_pressure_iter: 2,
        max_density_error: 1e-9,
        min_divergence_iter: 1,
        max_divergence_iter: 1,
        max_divergence_error: 1e-9,
    });
    let mut world = LiquidWorld::new(solver, r, 2.0, 1.0);
    let at = |i: usize| r + 2.0 * r * i as f32;
    let cube = (0..n).flat_map(|i| (0..n).flat_map(move |j| (0..n).map(move |k| Vector::new(at(i), at(j), at(k)))));
    world.add_fluid(Fluid::new(cube.collect(), r, 1000.0, InteractionGroups::default()));
    world.add_boundary(Boundary::new(walls(r), InteractionGroups::default()));
    let dt = 0.15 * r;
    let gravity = Vector::new(0.0, -9.81, 0.0);
    (0..3).for_each(|_| world.step(dt, &gravity));
    let steps = match n {
        0..=31 => 12,
        32..=46 => 8,
        _ => 4,
    };
    let start = Instant::now();
    (0..steps).for_each(|_| world.step(dt, &gravity));
    let ns = start.elapsed().as_secs_f64() * 1e9 / (n * n * n * steps) as f64;
    println!("{:22} {n:4} {threads:>8} {ns:14.0}", "salva dfsph");
}

/// Two layers of particles outside the tank.
fn walls(r: f32) -> Vec<Vector<f32>> {
    let (low, high) = ([-r; 3], [2.0 + r, 2.0, 1.0 + r]);
    let count: Vec<i32> = (0..3).map(|k| ((high[k] - low[k]) / (2.0 * r)).round() as i32).collect();
    let mut positions = Vec::new();
    for i in -2..count[0] + 2 {
        for j in -2..count[1] + 2 {
            for k in -2..count[2] + 2 {
                let index = [i, j, k];
                if (0..3).any(|axis| index[axis] < 0 || index[axis] >= count[axis]) {
                    let along = |axis: usize| low[axis] + r + 2.0 * r * index[axis] as f32;
                    positions.push(Vector::new(along(0), along(1), along(2)));
                }
            }
        }
    }
    positions
}
