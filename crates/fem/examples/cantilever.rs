//! A stopwatch: the cantilever of the benchmark, `cargo run --release -p meniscus-fem --example cantilever -- N THREADS FRAMES`.

use glam::DVec3;
use meniscus_core::StepReport;
use meniscus_fem::{Body, Material, Params};
use meniscus_geometry::TetMesh;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let numbers: Vec<u32> = std::env::args().skip(1).filter_map(|a| a.parse().ok()).collect();
    let [n, threads, frames] = numbers[..] else { return Err("usage: cantilever N THREADS FRAMES".into()) };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads as usize).build()?;
    pool.install(|| run(n, frames))
}

fn run(n: u32, frames: u32) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let mesh = TetMesh::block(DVec3::ZERO, DVec3::new(1.0, 0.25, 0.25), [4 * n, n, n]);
    let mut body = Body::new("beam", &mesh, Params::default(), Material::default())?;
    body.fix(|p| p.x < 1e-9);
    let end: Vec<usize> = (0..mesh.vertices().len()).filter(|&i| mesh.vertices()[i].x > 1.0 - 1e-9).collect();
    let mut profile = StepReport::default();
    let mut report = StepReport::default();
    let (mut tip, mut cg) = (DVec3::ZERO, 0.0);
    let start = Instant::now();
    for frame in 0..frames {
        report.clear();
        body.step(1.0 / 60.0, DVec3::new(0.0, -9.81, 0.0), &mut report)?;
        profile.absorb(&report);
        cg += report.counter("cg iterations").unwrap_or(0.0);
        if frame + 60 >= frames {
            let moved = |&i: &usize| body.positions()[i] - body.rest_positions()[i];
            tip += end.iter().map(moved).sum::<DVec3>() / end.len() as f64 / 60.0;
        }
    }
    let ms = start.elapsed().as_secs_f64() * 1e3 / f64::from(frames);
    println!("{} tets  {ms:.2} ms per frame  {:.1} cg iterations  tip {tip:.5}", body.tets(), cg / f64::from(frames));
    for stage in profile.stages() {
        println!("  {:16} {:8.3} ms", stage.name, stage.time.as_secs_f64() * 1e3 / f64::from(frames));
    }
    Ok(())
}
