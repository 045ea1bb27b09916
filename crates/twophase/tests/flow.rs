//! What every flow keeps: rest, volume, momentum, bits at any number of threads, a saved state.

use glam::DVec3;
use meniscus_core::{Fault, StepReport};
use meniscus_geometry::{Aabb, solids};
use meniscus_twophase::{Flow, Fluid, Inflow, Open, Params, Setup, SetupError, Side, Sides, Solid, State};

const GRAVITY: DVec3 = DVec3::new(0.0, -9.81, 0.0);

fn setup(n: usize) -> Setup {
    let params = Params { spacing: 1.0 / n as f64, ..Params::default() };
    Setup { params, domain: Aabb::new(DVec3::ZERO, DVec3::ONE), gravity: GRAVITY, solid: None }
}

fn dam(n: usize) -> Flow {
    let mut flow = Flow::new(setup(n)).unwrap();
    flow.fill(|x| (x.x - 0.4).max(x.y - 0.7).min(x.y - 0.1));
    flow
}

fn steps(flow: &mut Flow, count: usize) {
    let mut report = StepReport::default();
    for _ in 0..count {
        let mut dt = flow.stable_step();
        // The first projection may make it faster than could be known before.
        while let Err(error) = flow.step(dt, &mut report) {
            assert!(matches!(error.fault, Fault::TooFar { .. }), "{error}");
            flow.roll_back();
            dt *= 0.5;
        }
    }
}

fn in_pool<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}

#[test]
fn bits_do_not_depend_on_the_number_of_threads() {
    let run = |threads| {
        in_pool(threads, || {
            let mut flow = dam(24);
            steps(&mut flow, 25);
            flow.state().clone()
        })
    };
    let one = run(1);
    assert!(one == run(2) && one == run(3));
}

#[test]
fn a_saved_flow_goes_on_bit_for_bit() {
    let mut flow = dam(16);
    steps(&mut flow, 10);
    let bytes = postcard::to_stdvec(flow.state()).unwrap();
    steps(&mut flow, 10);
    let mut again = Flow::new(setup(16)).unwrap();
    assert!(again.restore(postcard::from_bytes::<State>(&bytes).unwrap()));
    steps(&mut again, 10);
    assert!(flow.state() == again.state());
    assert_eq!(flow.energy(), again.energy());
    assert!(!Flow::new(setup(12)).unwrap().restore(postcard::from_bytes(&bytes).unwrap()), "another grid");
}

#[test]
fn a_step_that_is_rolled_back_leaves_nothing() {
    let mut flow = dam(12);
    steps(&mut flow, 3);
    let before = flow.state().clone();
    steps(&mut flow, 1);
    flow.roll_back();
    assert!(*flow.state() == before);
}

/// A ball of triangles in the middle of a box.
fn ball() -> Solid {
    Solid::from_mesh(&solids::icosphere(DVec3::new(0.52, 0.45, 0.49), 0.23, 3)).unwrap()
}

#[test]
fn a_pool_around_a_solid_stays_at_rest() {
    for solid in [ball(), ball().sticky()] {
        let mut flow = Flow::new(Setup { solid: Some(solid), ..setup(20) }).unwrap();
        flow.fill(|x| x.y - 0.5137);
        steps(&mut flow, 10);
        // The level at rest is unknown here, so that the pressure jumps: the solver must find it.
        assert!(flow.max_speed() < 1e-6, "{}", flow.max_speed());
    }
}

#[test]
fn water_breaks_on_a_solid_and_keeps_its_volume() {
    let mut flow = Flow::new(Setup { solid: Some(ball()), ..setup(20) }).unwrap();
    flow.fill(|x| (x.x - 0.25).max(x.y - 0.8));
    let volume = flow.liquid_volume();
    let energy = flow.energy();
    let mut report = StepReport::default();
    for _ in 0..120 {
        flow.step(flow.stable_step(), &mut report).unwrap();
        assert!(report.counter("pressure iterations").unwrap() <= 25.0);
    }
    assert!((flow.liquid_volume() / volume - 1.0).abs() < 1e-12);
    let now = flow.energy();
    assert!(now.kinetic + now.potential < 1.01 * energy.potential, "{now:?}");
    assert!(flow.max_speed() > 1.0 && flow.max_speed() < 60.0, "{}", flow.max_speed());
    let grid = flow.grid();
    for p in (0..grid.len()).filter(|&p| grid.contains(p)) {
        let f = flow.state().volume_fraction[p];
        assert!((0.0..=1.0).contains(&f));
    }
}

#[test]
fn the_capacity_of_a_box_with_a_ball_is_what_the_ball_leaves() {
    let mut flow = Flow::new(Setup { solid: Some(ball()), ..setup(32) }).unwrap();
    flow.fill(|_| -1.0);
    let left = 1.0 - 4.0 / 3.0 * std::f64::consts::PI * 0.23f64.powi(3);
    assert!((flow.liquid_volume() / left - 1.0).abs() < 0.01, "{}", flow.liquid_volume() / left);
}

#[test]
fn a_stream_passes_through_a_box() {
    let inflow = Side::Inflow(Inflow { velocity: [0.5, 0.0, 0.0], level: Some(0.5) });
    let sides = Sides { x_min: inflow, x_max: Side::Open(Open { wave_speed: 2.0, sponge: 0.0 }), ..Sides::default() };
    let mut given = setup(16);
    given.params.sides = sides;
    given.params.still_level = Some(0.5);
    let mut flow = Flow::new(given).unwrap();
    flow.fill(|x| x.y - 0.5);
    steps(&mut flow, 150);
    assert!((flow.liquid_volume() / 0.5 - 1.0).abs() < 0.2, "{}", flow.liquid_volume());
    assert!(flow.max_speed() < 5.0, "{}", flow.max_speed());
}

#[test]
fn still_water_before_open_sides_stays_still() {
    let mut given = setup(16);
    let open = Side::Open(Open::default());
    given.params.sides = Sides { x_min: open, x_max: open, ..Sides::default() };
    given.params.still_level = Some(0.4371);
    let mut flow = Flow::new(given).unwrap();
    flow.fill(|x| x.y - 0.4371);
    steps(&mut flow, 20);
    assert!(flow.max_speed() < 1e-10, "{}", flow.max_speed());
}

#[test]
fn momentum_is_kept_between_periodic_sides() {
    let mut given = setup(16);
    given.gravity = DVec3::ZERO;
    given.params.sides = Sides::all(Side::Periodic);
    given.params.liquid = Fluid { density: 1000.0, viscosity: 0.0 };
    given.params.surface_tension = 0.0;
    let mut flow = Flow::new(given).unwrap();
    flow.fill(|x| x.distance(DVec3::splat(0.5)) - 0.25);
    flow.set_velocity(|x| if x.distance(DVec3::splat(0.5)) < 0.28 { DVec3::new(1.0, 0.3, -0.2) } else { DVec3::ZERO });
    steps(&mut flow, 1);
    let before = flow.momentum();
    steps(&mut flow, 40);
    assert!((flow.momentum() - before).length() < 1e-6 * before.length(), "{} {}", before, flow.momentum());
}

/// A quarter of a drop, 32 cells across, swings without viscosity: waves of the length of a cell must not grow. The swing alone
/// moves nothing faster than 0.05 R ω = 0.39 m/s, and the gas somewhat more.
#[test]
fn a_drop_that_swings_stays_smooth() {
    let fluid = |density| Fluid { density, viscosity: 0.0 };
    let (liquid, gas) = (fluid(1.0), fluid(1e-3));
    let params = Params { spacing: 0.1 / 16.0, liquid, gas, surface_tension: 1.0, ..Params::default() };
    let domain = Aabb::new(DVec3::ZERO, DVec3::new(0.5, 0.5, 0.1 / 16.0));
    let mut flow = Flow::new(Setup { params, domain, gravity: DVec3::ZERO, solid: None }).unwrap();
    flow.fill(|x| {
        let r = x.truncate().length().max(1e-9);
        r - 0.1 * (1.0 + 0.05 * (x.x * x.x - x.y * x.y) / (r * r))
    });
    steps(&mut flow, 440);
    assert!(flow.max_speed() < 0.8, "{}", flow.max_speed());
}

#[test]
fn the_surface_of_a_ball_is_a_closed_sphere_that_moves_with_it() {
    let mut flow = Flow::new(setup(32)).unwrap();
    flow.fill(|x| x.distance(DVec3::splat(0.5)) - 0.3);
    flow.set_velocity(|_| DVec3::X);
    let surface = flow.surface();
    let mesh = meniscus_geometry::TriangleMesh::new(surface.positions.clone(), surface.triangles.clone()).unwrap();
    mesh.closed().unwrap();
    let volume = 4.0 / 3.0 * std::f64::consts::PI * 0.027;
    assert!((mesh.signed_volume() / volume - 1.0).abs() < 0.01, "{}", mesh.signed_volume() / volume);
    assert!(surface.velocities.iter().all(|v| (*v - DVec3::X).length() < 1e-9));
    // Water in a corner is closed by the walls.
    let mut corner = Flow::new(setup(16)).unwrap();
    corner.fill(|x| (x.x - 0.5).max(x.y - 0.5).max(x.z - 0.5));
    let surface = corner.surface();
    let mesh = meniscus_geometry::TriangleMesh::new(surface.positions, surface.triangles).unwrap();
    mesh.closed().unwrap();
    assert!((mesh.signed_volume() / 0.125 - 1.0).abs() < 0.03, "{}", mesh.signed_volume());
}

/// The rim of the water along the sides was cut off by up to half a cell, and shone as a white scratch.
#[test]
fn water_stands_at_the_sides_as_high_as_before_them() {
    let mut flow = Flow::new(setup(16)).unwrap();
    flow.fill(|x| x.y - 0.53);
    let surface = flow.surface();
    let mesh = meniscus_geometry::TriangleMesh::new(surface.positions, surface.triangles).unwrap();
    mesh.closed().unwrap();
    assert!((mesh.signed_volume() / 0.53 - 1.0).abs() < 1e-6, "{}", mesh.signed_volume());
    for corners in mesh.corners() {
        let normal = (corners[1] - corners[0]).cross(corners[2] - corners[0]).normalize();
        let along = normal.abs().max_element();
        assert!(along > 1.0 - 1e-6, "a facet between the sides at {}: {normal}", corners[0]);
    }
}

#[test]
fn the_surface_of_water_at_rest_has_the_pressure_of_its_depth() {
    let given = setup(16);
    let weight = given.params.liquid.density * given.gravity.length();
    assert!(weight > 9000.0);
    let mut flow = Flow::new(given).unwrap();
    flow.fill(|x| x.y - 0.53);
    steps(&mut flow, 3);
    let surface = flow.surface();
    assert!(surface.positions.iter().any(|x| x.y == 0.0) && surface.pressures.len() == surface.positions.len());
    for (x, pressure) in surface.positions.iter().zip(&surface.pressures) {
        assert!((pressure - weight * (0.53 - x.y)).abs() < 1e-3 * weight, "{pressure} Pa at {x}");
    }
}

#[test]
fn foolish_setups_are_refused() {
    let error = |change: fn(&mut Setup)| {
        let mut given = setup(8);
        change(&mut given);
        Flow::new(given).err().map(|e| e.to_string()).unwrap_or_default()
    };
    assert!(error(|s| s.params.spacing = 0.3).contains("whole number"));
    assert!(error(|s| s.params.sides.x_min = Side::Inflow(Inflow::default())).contains("cannot leave"));
    assert!(error(|s| s.params.sides.z_max = Side::Periodic).contains("along z"));
    let thin = |s: &mut Setup| {
        s.domain = Aabb::new(DVec3::ZERO, DVec3::new(1.0, 1.0, 0.125));
        s.params.sides.z_min = Side::NoSlip;
    };
    assert!(error(thin).contains("one cell"));
    let mut open = solids::icosphere(DVec3::ZERO, 1.0, 1).triangles().to_vec();
    open.pop();
    let vertices = solids::icosphere(DVec3::ZERO, 1.0, 1).vertices().to_vec();
    let mesh = meniscus_geometry::TriangleMesh::new(vertices, open).unwrap();
    assert!(matches!(Solid::from_mesh(&mesh), Err(SetupError::OpenMesh(_))));
}

/// A slab one cell thick, x and y periodic or not.
fn slab(cells: [usize; 2], params: Params) -> Flow {
    let size = DVec3::new(cells[0] as f64, cells[1] as f64, 1.0) * params.spacing;
    let domain = Aabb::new(DVec3::ZERO, size);
    Flow::new(Setup { params, domain, gravity: DVec3::ZERO, solid: None }).unwrap()
}

#[test]
fn the_seam_of_periodic_sides_is_not_seen() {
    let n = 16;
    let sides = Sides { x_min: Side::Periodic, x_max: Side::Periodic, ..Sides::default() };
    for velocity in [1.0, -1.0] {
        // Discs half a box apart: one meets the seam, the other does not.
        let run = |middle: f64| {
            let mut flow = slab([n, n], Params { spacing: 1.0 / n as f64, sides, ..Params::default() });
            flow.fill(|x| {
                let away = (x.x - middle).abs();
                DVec3::new(away.min(1.0 - away), x.y - 0.52, 0.0).length() - 0.21
            });
            flow.set_velocity(|_| DVec3::X * velocity);
            (0..10).for_each(|_| flow.carry(0.4 / n as f64));
            flow
        };
        let (at_seam, elsewhere) = (run(0.0), run(0.5));
        let fraction = |flow: &Flow, i: usize, j: usize| flow.state().volume_fraction[flow.grid().index([i, j, 0])];
        for k in 0..n * n {
            let (i, j) = (k % n, k / n);
            let off = fraction(&at_seam, i, j) - fraction(&elsewhere, (i + n / 2) % n, j);
            assert!(off.abs() < 1e-10, "{velocity} {i} {j} {off}");
        }
    }
}

#[test]
fn viscous_fluid_leaves_through_either_end_alike() {
    let n = 16;
    let open = Side::Open(Open::default());
    let fluid = Fluid { density: 1.0, viscosity: 0.05 };
    let run = |sign: f64| {
        let sides = if sign > 0.0 {
            Sides { x_max: open, ..Sides::default() }
        } else {
            Sides { x_min: open, ..Sides::default() }
        };
        let params = Params { spacing: 1.0 / n as f64, sides, liquid: fluid, gas: fluid, ..Params::default() };
        let mut flow = slab([n, n], params);
        flow.set_velocity(|x| {
            let along = if sign > 0.0 { x.x } else { 1.0 - x.x };
            DVec3::new(sign * along * along, 0.3 * along * x.y * (1.0 - x.y), 0.0)
        });
        steps(&mut flow, 3);
        flow
    };
    let (high, low) = (run(1.0), run(-1.0));
    for j in 0..n {
        for i in 0..=n {
            let u = |flow: &Flow, i: usize| flow.state().velocity[0][flow.grid().index([i, j, 0])];
            let off = u(&high, i) + u(&low, n - i);
            assert!(off.abs() < 1e-6, "{i} {j} {off} {}", u(&high, i));
        }
    }
}
