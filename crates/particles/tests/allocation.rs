//! A step allocates nothing once it has warmed up, on any thread.

use glam::{DQuat, DVec3, Vec3};
use meniscus_boundary::Boundaries;
use meniscus_core::StepReport;
use meniscus_geometry::{Aabb, NeighbourGrid, Periodic, Shape, fill};
use meniscus_particles::{Elastic, InterfaceKind, LiquidParticles, Matter, Params, Pushes, Steps, System};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static COUNTING: &StatsAlloc<std::alloc::System> = &INSTRUMENTED_SYSTEM;

/// Soft and rigid cubes on a floor between two walls.
fn pile(params: Params) -> (System, Boundaries) {
    let matter = Matter { spacing: 0.05, density: 500.0 };
    let mut system = System::new(params, 2e5, 0.4).with_liquid_modulus(1e4);
    let cube = fill(&Shape::Box(Aabb::new(DVec3::splat(-0.1), DVec3::splat(0.1))), 0.05, &[]).unwrap();
    for number in 0..8 {
        let turn = DQuat::from_scaled_axis(DVec3::new(0.3, 0.2, 0.1) * f64::from(number));
        let center = DVec3::new(0.05 * f64::from(number % 2), 0.2 + 0.3 * f64::from(number), 0.0);
        let positions: Vec<DVec3> = cube.iter().map(|&p| center + turn * p).collect();
        if number % 2 == 0 {
            system.add_rigid(&matter.rigid("hard", &positions).unwrap()).unwrap();
        } else {
            let elastic = Elastic { young: 1e5, damping: 0.2 };
            system.add_deformable(&matter.deformable("soft", &positions, elastic).unwrap()).unwrap();
        }
    }
    let side = |x: f64| [DVec3::X * -x, DVec3::X * x.signum()];
    (system, Boundaries::planes([[DVec3::ZERO, DVec3::Y], side(0.3), side(-0.3)]))
}

/// Liquid at rest around the pile, that connects with it in every step.
struct Pond {
    grid: NeighbourGrid,
    at_rest: Vec<Vec3>,
    position: Vec<Vec3>,
    velocity: Vec<Vec3>,
    liquid: Vec<u16>,
    pushes: Pushes,
    pushed: usize,
}

impl Pond {
    const RADIUS: f64 = 0.02;
    const MASS: [f64; 1] = [0.064];

    fn new() -> Self {
        let tank = Shape::Box(Aabb::new(DVec3::new(-0.3, 0.0, -0.2), DVec3::new(0.3, 0.4, 0.2)));
        let scattered: Vec<Vec3> = fill(&tank, 2.0 * Self::RADIUS, &[]).unwrap().iter().map(|p| p.as_vec3()).collect();
        let mut grid = NeighbourGrid::default();
        grid.sort(&scattered, 0.1, Periodic::default());
        let at_rest: Vec<Vec3> = grid.order().iter().map(|&i| scattered[i as usize]).collect();
        let (velocity, liquid) = (vec![Vec3::ZERO; at_rest.len()], vec![0; at_rest.len()]);
        Self { grid, position: at_rest.clone(), at_rest, velocity, liquid, pushes: Pushes::default(), pushed: 0 }
    }

    fn meet(&mut self, system: &mut System, interface: InterfaceKind, dt: f64) {
        self.position.copy_from_slice(&self.at_rest);
        self.velocity.fill(Vec3::ZERO);
        if interface == InterfaceKind::Projection {
            let moving = (&mut self.position[..], &mut self.velocity[..]);
            system.resolve_liquid_overlaps((&self.grid, Self::RADIUS), moving, (&self.liquid, &Self::MASS), dt);
            self.pushed = self.velocity.iter().filter(|v| **v != Vec3::ZERO).count();
        } else {
            let drops = LiquidParticles {
                grid: &self.grid,
                position: &self.position,
                velocity: &self.velocity,
                liquid: &self.liquid,
                mass: &Self::MASS,
                radius: Self::RADIUS,
            };
            system.connect_liquid(&drops, &mut self.pushes);
            self.pushed = self.pushes.iter().count();
        }
    }
}

fn count_allocations(threads: usize, params: &Params, mut pond: Option<Pond>) -> usize {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(|| {
        let (mut system, mut walls) = pile(params.clone());
        let mut pushed = 0;
        let mut report = StepReport::default();
        let mut step = |number: i32| {
            report.clear();
            let at = [0.005 * f64::from(number), 0.005];
            if let Some(pond) = &mut pond {
                pond.meet(&mut system, params.interface, 0.005);
                pushed = pond.pushed;
            }
            system.step(&mut walls, DVec3::new(0.0, -9.81, 0.0), at, &mut report).unwrap();
        };
        (0..600).for_each(&mut step);
        let region = Region::new(COUNTING);
        (600..650).for_each(&mut step);
        let change = region.change();
        assert!(pond.is_none() || pushed > 0, "the pile is dry");
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
        for threads in [1, 2] {
            assert_eq!(count_allocations(threads, &params, None), 0, "{params:?}, {threads} threads");
            assert_eq!(
                count_allocations(threads, &params, Some(Pond::new())),
                0,
                "{params:?} in liquid, {threads} threads"
            );
        }
    }
}
