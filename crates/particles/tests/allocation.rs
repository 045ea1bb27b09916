//! A step allocates nothing once it has warmed up, on any thread.

use glam::{DQuat, DVec3};
use meniscus_core::StepReport;
use meniscus_geometry::{Aabb, Shape, fill};
use meniscus_particles::{Elastic, InterfaceKind, Matter, Params, Planes, Steps, System};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static COUNTING: &StatsAlloc<std::alloc::System> = &INSTRUMENTED_SYSTEM;

/// Soft and rigid cubes on a floor between two walls.
fn pile(params: Params) -> (System, Planes) {
    let matter = Matter { spacing: 0.05, density: 500.0 };
    let mut system = System::new(params, 2e5, 0.4);
    let cube = fill(&Shape::Box(Aabb::new(DVec3::splat(-0.1), DVec3::splat(0.1))), 0.05, &[]).unwrap();
    for number in 0..8 {
        let turn = DQuat::from_scaled_axis(DVec3::new(0.3, 0.2, 0.1) * f64::from(number));
        let center = DVec3::new(0.05 * f64::from(number % 2), 0.2 + 0.3 * f64::from(number), 0.0);
        let places: Vec<DVec3> = cube.iter().map(|&p| center + turn * p).collect();
        if number % 2 == 0 {
            system.add_rigid(&matter.rigid("hard", &places).unwrap()).unwrap();
        } else {
            let elastic = Elastic { young: 1e5, damping: 0.2 };
            system.add_deformable(&matter.deformable("soft", &places, elastic).unwrap()).unwrap();
        }
    }
    let side = |x: f64| [DVec3::X * -x, DVec3::X * x.signum()];
    (system, Planes(vec![[DVec3::ZERO, DVec3::Y], side(0.3), side(-0.3)]))
}

fn count_allocations(threads: usize, params: &Params) -> usize {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(|| {
        let (mut system, mut walls) = pile(params.clone());
        let mut report = StepReport::default();
        let mut step = |number: i32| {
            report.clear();
            let at = [0.005 * f64::from(number), 0.005];
            system.step(&mut walls, DVec3::new(0.0, -9.81, 0.0), at, &mut report).unwrap();
        };
        (0..600).for_each(&mut step);
        let region = Region::new(COUNTING);
        (600..650).for_each(&mut step);
        let change = region.change();
        change.allocations + change.reallocations
    })
}

#[test]
fn a_warm_step_allocates_nothing() {
    for (interface, steps) in [
        (InterfaceKind::Springs, Steps::Global),
        (InterfaceKind::Springs, Steps::Local),
        (InterfaceKind::Projection, Steps::Global),
    ] {
        let params = Params { interface, steps, ..Params::default() };
        assert_eq!(count_allocations(1, &params), 0, "{params:?} on one thread");
        assert_eq!(count_allocations(2, &params), 0, "{params:?} on two threads");
    }
}
