//! A step allocates nothing once it has warmed up, on any thread.

use glam::DVec3;
use meniscus_core::StepReport;
use meniscus_fem::{Body, Fracture, Material, Order, Params, Plasticity};
use meniscus_geometry::TetMesh;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use std::alloc::System;

#[global_allocator]
static COUNTING: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

fn count_allocations(threads: usize, order: Order) -> usize {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(|| {
        let mesh = TetMesh::block(DVec3::ZERO, DVec3::new(1.0, 0.25, 0.25), [12, 3, 3]);
        let material = Material {
            plasticity: Some(Plasticity::default()),
            fracture: Some(Fracture { strength: 1e9, ..Fracture::default() }),
            ..Material::default()
        };
        let params = Params { order, newton_iterations: 2, ..Params::default() };
        let mut body = Body::new("beam", &mesh, params, material).unwrap();
        body.fix(|p| p.x < 1e-9);
        let mut report = StepReport::default();
        let mut step = || {
            report.clear();
            body.step(1.0 / 60.0, DVec3::new(0.0, -9.81, 0.0), &mut report).unwrap();
        };
        (0..20).for_each(|_| step());
        let region = Region::new(COUNTING);
        (0..50).for_each(|_| step());
        let change = region.change();
        change.allocations + change.reallocations
    })
}

#[test]
fn a_warm_step_allocates_nothing() {
    for order in [Order::Linear, Order::Quadratic] {
        assert_eq!(count_allocations(1, order), 0, "{order:?} on one thread");
        assert_eq!(count_allocations(2, order), 0, "{order:?} on two threads");
    }
}
