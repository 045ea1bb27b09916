//! The cantilever of `meniscus bench fem` by rapier3d's FEM and by ours, one after the other in one run:
//! `cargo run --release -- [CELLS ACROSS] [FRAMES]`, 8 cells and 600 frames unless told.
//!
//! 1 × 0.25 × 0.25 m, E = 1e6 Pa, ν = 0.3, 1000 kg/m³, 9.81 m/s², 4n × n × n cells of five tetrahedra, steps of 1/60 s from
//! release; the tip is the mean of the last 60 frames. rapier3d: implicit Euler, one substep, at most 300 iterations of
//! conjugate gradients; with its default of 20 the beam is soft.

use glam::DVec3;
use meniscus_core::StepReport;
use meniscus_fem::{Body, Material, Params};
use meniscus_geometry::TetMesh;
use rapier3d::prelude::{
    PhysicsWorld, Real, SoftBodyBuilder, SoftBodyCellModel, SoftBodyMaterial, SoftBodySolver, Vector,
};
use std::time::Instant;

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// What a run gives.
struct Run {
    ms_per_frame: f64,
    tip: f64,
}

fn main() -> Result<(), Failure> {
    let numbers: Vec<u32> = std::env::args().skip(1).filter_map(|a| a.parse().ok()).collect();
    let cells = numbers.first().copied().unwrap_or(8);
    let frames = numbers.get(1).copied().unwrap_or(600);
    let mesh = TetMesh::block(DVec3::ZERO, DVec3::new(1.0, 0.25, 0.25), [4 * cells, cells, cells]);
    let reference = equilibrium(&mesh)?;
    println!("{} tetrahedra, {frames} frames; equilibrium {reference:.5} m", mesh.tets().len());
    let theirs = rapier(&mesh, frames);
    show("rapier3d 0.36, 1 thread", &theirs, reference);
    for threads in [1, 2] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
        let ours = pool.install(|| meniscus(&mesh, frames))?;
        show(&format!("meniscus, {threads} thread(s)"), &ours, reference);
        println!("  rapier3d / meniscus: {:.1}", theirs.ms_per_frame / ours.ms_per_frame);
    }
    Ok(())
}

fn show(name: &str, run: &Run, reference: f64) {
    let error = 100.0 * (run.tip / reference - 1.0);
    println!("{name:24} {:8.2} ms per frame   tip {:.5} m ({error:+.2} %)", run.ms_per_frame, run.tip);
}

fn tips(mesh: &TetMesh) -> Vec<usize> {
    (0..mesh.vertices().len()).filter(|&i| mesh.vertices()[i].x > 1.0 - 1e-9).collect()
}

fn rapier(mesh: &TetMesh, frames: u32) -> Run {
    let mut world = PhysicsWorld::new();
    world.integration_parameters.dt = 1.0 / 60.0;
    world.integration_parameters.num_solver_iterations = 1;
    world.integration_parameters.soft_bodies.fem.max_linear_iterations = 300;
    let vector = |p: &DVec3| Vector::new(p.x as Real, p.y as Real, p.z as Real);
    let mut masses = vec![0.0; mesh.vertices().len()];
    for (tet, corners) in mesh.tets().iter().zip(mesh.corners()) {
        let share = 250.0 * meniscus_geometry::tet_volume(corners);
        tet.iter().for_each(|&v| masses[v as usize] += share as Real);
    }
    let held = (0u32..).zip(mesh.vertices()).filter(|(_, p)| p.x < 1e-9).map(|(i, _)| i);
    let builder = SoftBodyBuilder::new(mesh.vertices().iter().map(vector).collect())
        .cells(mesh.tets().to_vec())
        .cell_model(SoftBodyCellModel::Corotational)
        .material(SoftBodyMaterial {
            young_modulus: 1e6,
            poisson_ratio: 0.3,
            elastic_damping_ratio: 0.0,
            ..Default::default()
        })
        .solver(SoftBodySolver::Fem)
        .masses(masses)
        .pinned_particles(held.collect::<Vec<u32>>())
        .no_surface_collider()
        .can_sleep(false);
    let handle = world.insert_soft_body(builder);
    let ends = tips(mesh);
    let mut tip = 0.0;
    let start = Instant::now();
    for frame in 0..frames {
        world.step();
        if frame + 60 >= frames {
            let body = &world.soft_bodies[handle];
            let sag = |&i: &usize| f64::from(body.particle_position(i).y) - mesh.vertices()[i].y;
            tip += ends.iter().map(sag).sum::<f64>() / ends.len() as f64 / 60.0;
        }
    }
    Run { ms_per_frame: start.elapsed().as_secs_f64() * 1e3 / f64::from(frames), tip }
}

fn beam(mesh: &TetMesh) -> Result<Body, Failure> {
    let material = Material { young: 1e6, poisson: 0.3, density: 1000.0, ..Material::default() };
    let mut body = Body::new("beam", mesh, Params::default(), material)?;
    body.fix(|p| p.x < 1e-9);
    Ok(body)
}

fn sag(body: &Body, ends: &[usize]) -> f64 {
    ends.iter().map(|&i| body.positions()[i].y - body.rest_positions()[i].y).sum::<f64>() / ends.len() as f64
}

fn equilibrium(mesh: &TetMesh) -> Result<f64, Failure> {
    let mut body = beam(mesh)?;
    body.settle(DVec3::new(0.0, -9.81, 0.0), &mut StepReport::default())?;
    Ok(sag(&body, &tips(mesh)))
}

fn meniscus(mesh: &TetMesh, frames: u32) -> Result<Run, Failure> {
    let mut body = beam(mesh)?;
    let ends = tips(mesh);
    let (mut tip, mut report) = (0.0, StepReport::default());
    let start = Instant::now();
    for frame in 0..frames {
        report.clear();
        body.step(1.0 / 60.0, DVec3::new(0.0, -9.81, 0.0), &mut report)?;
        if frame + 60 >= frames {
            tip += sag(&body, &ends) / 60.0;
        }
    }
    Ok(Run { ms_per_frame: start.elapsed().as_secs_f64() * 1e3 / f64::from(frames), tip })
}
