//! A dam breaks in a closed box of n³ cells: `dam_break N STEPS THREADS` prints cell-steps per second and the stages.

use glam::DVec3;
use meniscus_core::StepReport;
use meniscus_geometry::Aabb;
use meniscus_twophase::{Flow, Fluid, Params, Setup};
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let numbers: Vec<usize> = std::env::args().skip(1).filter_map(|a| a.parse().ok()).collect();
    let (n, steps, threads) = match numbers[..] {
        [n, steps, threads] => (n, steps, threads),
        _ => (64, 20, 1),
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
    pool.install(|| run(n, steps))
}

fn run(n: usize, steps: usize) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let params =
        Params { spacing: 1.0 / n as f64, gas: Fluid { density: 1.0, viscosity: 1.8e-5 }, ..Params::default() };
    let domain = Aabb::new(DVec3::ZERO, DVec3::ONE);
    let mut flow = Flow::new(Setup { params, domain, gravity: DVec3::new(0.0, -9.81, 0.0), solid: None })?;
    flow.fill(|x| (x.x - 0.4).max(x.y - 0.8));
    let volume = flow.liquid_volume();
    let mut profile = StepReport::default();
    let (mut time, mut iterations) = (0.0, Vec::new());
    let start = Instant::now();
    for _ in 0..steps {
        let mut report = StepReport::default();
        let dt = report.stage("find step", || flow.stable_step());
        flow.step(dt, &mut report)?;
        time += dt;
        iterations.push(report.counter("pressure iterations").unwrap_or(0.0));
        profile.absorb(&report);
    }
    let seconds = start.elapsed().as_secs_f64();
    let items = (n * n * n * steps) as f64;
    println!(
        "{n}³, t = {time:.3} s: {:.0} k cell-steps/s, volume {:.1e}",
        items / seconds / 1e3,
        flow.liquid_volume() / volume - 1.0
    );
    println!(
        "iterations: mean {:.1}, most {}",
        iterations.iter().sum::<f64>() / steps as f64,
        iterations.iter().fold(0.0f64, |a, b| a.max(*b))
    );
    let mut shown = iterations.clone();
    shown.truncate(30);
    println!("{shown:?}  max speed {}", flow.max_speed());
    for stage in profile.stages() {
        println!("{:20} {:7.0} ns", stage.name, stage.time.as_secs_f64() * 1e9 / items);
    }
    Ok(())
}
