//! Solids that move: no liquid is made or lost, levels rise by what is displaced, and every run has the same bits.

use glam::{DQuat, DVec3};
use meniscus_boundary::{Pose, Vertices};
use meniscus_core::StepReport;
use meniscus_geometry::{Aabb, TriangleMesh, solids};
use meniscus_twophase::{ATMOSPHERE, Flow, Fluid, Open, Params, Setup, Side, Sides, Solid, State, Thicken};
use std::f64::consts::PI;
use std::sync::Arc;

const GRAVITY: DVec3 = DVec3::new(0.0, -9.81, 0.0);

fn setup(n: usize, solid: Solid) -> Setup {
    let sides = Sides { y_max: Side::Open(Open::default()), ..Sides::default() };
    let params = Params { spacing: 1.0 / n as f64, sides, surface_tension: 0.0, ..Params::default() };
    Setup { params, domain: Aabb::new(DVec3::ZERO, DVec3::ONE), gravity: GRAVITY, solid: Some(solid) }
}

fn slid(path: impl Fn(f64) -> DVec3 + Send + Sync + 'static) -> impl Fn(f64) -> Pose + Send + Sync + 'static {
    move |t| Pose { translation: path(t), ..Pose::default() }
}

fn run(flow: &mut Flow, end: f64) {
    let mut report = StepReport::default();
    while flow.state().time < end * (1.0 - 1e-12) {
        let left = end - flow.state().time;
        let mut dt = flow.stable_step().min(left);
        while let Err(error) = flow.step(dt, &mut report) {
            assert!(dt > 1e-7, "{error}");
            flow.roll_back();
            dt *= 0.5;
        }
    }
}

/// A ball of 0.2 m comes down into the water and goes up again.
fn diver() -> Solid {
    let mesh = solids::icosphere(DVec3::new(0.52, 0.75, 0.49), 0.15, 3);
    Solid::from_mesh(&mesh).unwrap().moving(slid(|t| DVec3::Y * (-0.2 * (1.0 - libm::cos(2.0 * PI * t)))))
}

#[test]
fn a_floor_that_rises_lifts_the_water() {
    let n = 16;
    let floor = Solid::new(|x: DVec3| x.y - 0.1).moving(slid(|t| DVec3::Y * (0.1 * (1.0 - libm::cos(PI * t)))));
    let mut flow = Flow::new(setup(n, floor)).unwrap();
    flow.fill(|x| x.y - 0.437);
    let volume = flow.liquid_volume();
    run(&mut flow, 1.0);
    assert!((flow.liquid_volume() / volume - 1.0).abs() < 1e-12, "{}", flow.liquid_volume() / volume - 1.0);
    // The floor is at 0.3 m now.
    for k in 0..n * n {
        let at = DVec3::new((k % n) as f64 + 0.5, 0.0, (k / n) as f64 + 0.5) / n as f64;
        let level = 0.3 + flow.gauge(1, at);
        assert!((level - 0.637).abs() < 1e-6, "{level} at {at}");
    }
}

/// Steps that are not made for the intervals of the floor end them early: nothing is kept aside in the cells that it has covered.
#[test]
fn steps_that_miss_the_ends_of_intervals_hide_nothing() {
    let n = 12;
    let floor = Solid::new(|x: DVec3| x.y - 0.1).moving(slid(|t| DVec3::Y * (0.1 * (1.0 - libm::cos(PI * t)))));
    let mut flow = Flow::new(setup(n, floor)).unwrap();
    flow.fill(|x| x.y - 0.437);
    let volume = flow.liquid_volume();
    while flow.state().time < 1.0 {
        let dt = 0.87 * flow.stable_step();
        flow.step(dt, &mut StepReport::default()).unwrap();
        assert!(flow.state().hidden.is_empty(), "{} s", flow.state().time);
    }
    let visible: f64 = (0..n * n)
        .map(|k| flow.gauge(1, DVec3::new((k % n) as f64 + 0.5, 0.0, (k / n) as f64 + 0.5) / n as f64))
        .sum::<f64>()
        / (n * n) as f64;
    assert!((visible / volume - 1.0).abs() < 1e-12, "{}", visible / volume - 1.0);
}

/// A cylinder of radius a in a round tank of radius 2a full of water: the water's energy is ½ C_a ρπa² U², C_a = 5/3, also when the step that
/// comes to the end of an interval is next to nothing and the velocity of the next interval is found in it.
#[test]
fn a_tiny_step_at_the_end_of_an_interval_loses_no_velocity() {
    let (h, wide) = (1.0 / 8.0, 40.0 / 8.0);
    let middle = DVec3::new(0.5 * wide + 0.013, 0.5 * wide - 0.021, 0.0);
    let from_axis = move |x: DVec3| x.with_z(0.0).distance(middle);
    let inner = Solid::new(move |x| from_axis(x) - 1.0).moving(slid(move |t| DVec3::X * (h * t)));
    let solid = Solid::new(move |x| 2.0 - from_axis(x)).and(inner);
    let liquid = Fluid { density: 1000.0, viscosity: 0.0 };
    let params = Params { spacing: h, surface_tension: 0.0, liquid, ..Params::default() };
    let domain = Aabb::new(DVec3::ZERO, DVec3::new(wide, wide, h));
    let mut flow = Flow::new(Setup { params, domain, gravity: DVec3::ZERO, solid: Some(solid) }).unwrap();
    flow.fill(|_| -1.0);
    let added = |flow: &Flow| flow.energy().kinetic / (0.5 * 1000.0 * PI * h * (h * h));
    for _ in 0..3 {
        let interval = flow.state().interval;
        while flow.state().interval == interval {
            let dt = 0.5 * flow.stable_step();
            flow.step(dt, &mut StepReport::default()).unwrap();
        }
        assert!((added(&flow) / (5.0 / 3.0) - 1.0).abs() < 0.04, "{}", added(&flow));
    }
}

#[test]
fn a_ball_dives_and_comes_back_without_a_drop_lost() {
    let mut flow = Flow::new(setup(20, diver())).unwrap();
    flow.fill(|x| x.y - 0.45);
    let volume = flow.liquid_volume();
    for frame in 1..=10 {
        run(&mut flow, 0.1 * f64::from(frame));
        let change = flow.liquid_volume() / volume - 1.0;
        assert!(change.abs() < 1e-10, "{change} at {}", flow.state().time);
        assert!(flow.state().volume_fraction.iter().all(|f| (0.0..=1.0).contains(f)));
        assert!(flow.max_speed() < 20.0, "{}", flow.max_speed());
    }
}

#[test]
fn threads_roll_backs_and_resumes_change_nothing() {
    let fresh = || {
        let mut flow = Flow::new(setup(12, diver())).unwrap();
        flow.fill(|x| x.y - 0.55);
        flow
    };
    let step = |flow: &mut Flow| {
        let dt = flow.stable_step();
        flow.step(dt, &mut StepReport::default()).unwrap();
    };
    let go = |threads: usize| {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(|| {
            let mut flow = fresh();
            (0..60).for_each(|_| step(&mut flow));
            flow.state().clone()
        })
    };
    let one = go(1);
    assert!(one == go(2) && one == go(3));
    // A roll back after every step, and a resume inside intervals.
    let mut flow = fresh();
    for k in 0..60 {
        step(&mut flow);
        let state = flow.state().clone();
        let started = k > 0;
        if started {
            flow.roll_back();
            step(&mut flow);
            assert!(*flow.state() == state, "step {k}");
        }
        if k % 7 == 3 {
            let bytes = postcard::to_stdvec(flow.state()).unwrap();
            flow = fresh();
            assert!(flow.restore(postcard::from_bytes::<State>(&bytes).unwrap()));
        }
    }
    assert!(*flow.state() == one);
}

/// A box whose walls breathe.
struct Breathing(TriangleMesh);

impl Vertices for Breathing {
    fn triangles(&self) -> &[[u32; 3]] {
        self.0.triangles()
    }

    fn positions(&self, time: f64, positions: &mut Vec<DVec3>) {
        let swell = 1.0 + 0.2 * libm::sin(2.0 * PI * time);
        positions.clear();
        let middle = DVec3::splat(0.5);
        // Wide when it is low: the volume stays.
        positions
            .extend(self.0.vertices().iter().map(|x| middle + (*x - middle) * DVec3::new(swell, 1.0 / swell, 1.0)));
    }
}

#[test]
fn a_mesh_that_deforms_keeps_the_water_around_it() {
    let body = Breathing(solids::icosphere(DVec3::splat(0.5), 0.2, 3));
    let solid = Solid::from_vertices(Arc::new(body)).unwrap();
    let mut flow = Flow::new(setup(16, solid)).unwrap();
    flow.fill(|x| x.y - 0.5);
    let volume = flow.liquid_volume();
    run(&mut flow, 0.5);
    assert!((flow.liquid_volume() / volume - 1.0).abs() < 1e-10, "{}", flow.liquid_volume() / volume - 1.0);
    assert!(flow.max_speed() > 0.05 && flow.max_speed() < 10.0, "{}", flow.max_speed());
}

#[test]
fn a_shell_lets_nothing_through() {
    let n = 20;
    let h = 1.0 / n as f64;
    let body = Breathing(solids::icosphere(DVec3::splat(0.5), 0.3, 3));
    let solid = Solid::shell_of_vertices(Arc::new(body), 2.0 * h, Thicken::Centred).unwrap();
    let mut flow = Flow::new(setup(n, solid)).unwrap();
    // Half full inside, empty outside.
    flow.fill(|x| (x.distance(DVec3::splat(0.5)) - 0.3).max(x.y - 0.5));
    let volume = flow.liquid_volume();
    run(&mut flow, 1.0);
    assert!((flow.liquid_volume() / volume - 1.0).abs() < 1e-12, "{}", flow.liquid_volume() / volume - 1.0);
    let grid = flow.grid();
    let outside = |p: &usize| {
        let x = (grid.center(*p) - DVec3::splat(0.5)) / DVec3::new(1.0, 1.0, 1.0);
        x.length() > 0.3 + 2.0 * h
    };
    let leaked: f64 = (0..grid.len()).filter(|&p| grid.contains(p)).filter(outside).map(|p| flow.liquid_in(p)).sum();
    assert_eq!(leaked, 0.0);
}

#[test]
fn gas_in_a_closed_box_is_squeezed_by_a_piston() {
    let piston =
        Solid::new(|x: DVec3| 0.9 - x.y).moving(slid(|t| DVec3::Y * (-0.05 * (1.0 - libm::cos(PI * t.min(1.0))))));
    let mut given = setup(10, piston);
    given.params.sides = Sides::default();
    let mut flow = Flow::new(given).unwrap();
    flow.fill(|x| x.y - 0.4);
    let volume = flow.liquid_volume();
    // Within an interval the room goes linearly to that of its end: let the piston come to rest.
    run(&mut flow, 1.3);
    assert!((flow.liquid_volume() / volume - 1.0).abs() < 1e-12);
    let grid = flow.grid();
    let gas: f64 = (0..grid.len())
        .filter(|&p| grid.contains(p))
        .map(|p| flow.state().capacity[p] * (1.0 - flow.state().volume_fraction[p]))
        .sum::<f64>()
        * grid.spacing().powi(3);
    assert!((gas - 0.4).abs() < 1e-9, "{gas}");
    assert!((flow.gauge(1, DVec3::splat(0.5)) - 0.4).abs() < 1e-6);
}

/// The lid of a closed box comes down until a tenth of the gas's volume is gone: its pressure is p₀/9 above that of the air outside, and the
/// floor bears the water's weight as well.
#[test]
fn gas_shut_in_is_pressed_as_much_as_it_shrinks() {
    let lid =
        Solid::new(|x: DVec3| 0.9 - x.y).moving(slid(|t| DVec3::Y * (-0.025 * (1.0 - libm::cos(PI * t.min(1.0))))));
    let mut given = setup(10, lid);
    given.params.sides = Sides::default();
    let mut flow = Flow::new(given).unwrap();
    flow.fill(|x| x.y - 0.4);
    run(&mut flow, 1.2);
    let [chamber] = flow.chambers()[..] else { panic!("{:?}", flow.chambers()) };
    assert!((chamber.gas - 0.45).abs() < 1e-9 && chamber.withheld.abs() < 1e-9, "{chamber:?}");
    assert!((chamber.pressure / (ATMOSPHERE / 9.0) - 1.0).abs() < 1e-6, "{chamber:?}");
    let floor = flow.at(DVec3::new(0.55, 0.05, 0.55)).2;
    let expected = ATMOSPHERE / 9.0 + 1000.0 * 9.81 * 0.35;
    assert!((floor / expected - 1.0).abs() < 0.005, "{floor} instead of {expected}");
    // A resumed flow knows its gas.
    let pressure = chamber.pressure;
    let state = flow.state().clone();
    assert!(flow.restore(state));
    assert_eq!(flow.chambers()[0].pressure, pressure);
}

/// A floor pushes water out through an open side and goes down again, so that some comes back: what is there and what went, less what came, is
/// what was there.
#[test]
fn what_passes_the_sides_is_in_the_ledger() {
    let lift = |t: f64| 0.1 * (1.0 - libm::cos(2.0 * PI * t.min(1.0)));
    let floor = Solid::new(|x: DVec3| x.y - 0.1).moving(slid(move |t| DVec3::Y * lift(t)));
    let mut given = setup(12, floor);
    given.params.sides.x_max = Side::Open(Open { wave_speed: 2.0, sponge: 0.0 });
    let mut flow = Flow::new(given).unwrap();
    flow.fill(|x| x.y - 0.5);
    let start = flow.ledger().start();
    run(&mut flow, 0.5);
    let out = flow.ledger();
    run(&mut flow, 2.0);
    let back = flow.ledger();
    assert!(out.let_out > 0.05 && back.let_in > 0.02, "{out:?} {back:?}");
    for ledger in [out, back] {
        assert!((ledger.start() / start - 1.0).abs() < 1e-12, "{ledger:?}");
    }
    let [_, high] = flow.state().passed[0];
    assert!((high.outward / 12f64.powi(3) / back.let_out - 1.0).abs() < 1e-9);
}

#[test]
fn a_wheel_turns_in_the_water() {
    let blade = solids::cuboid(&Aabb::new(DVec3::new(0.2, 0.45, 0.3), DVec3::new(0.8, 0.6, 0.7)));
    let turn = |t: f64| {
        let rotation = DQuat::from_axis_angle(DVec3::Z, -2.0 * t);
        let middle = DVec3::new(0.5, 0.525, 0.5);
        Pose { rotation, translation: middle - rotation * middle }
    };
    let solid = Solid::from_mesh(&blade).unwrap().moving(turn).sticky();
    let mut given = setup(16, solid);
    given.params.liquid = Fluid { density: 1000.0, viscosity: 0.1 };
    let mut flow = Flow::new(given).unwrap();
    flow.fill(|x| x.y - 0.5);
    let volume = flow.liquid_volume();
    run(&mut flow, 0.5);
    assert!((flow.liquid_volume() / volume - 1.0).abs() < 1e-10, "{}", flow.liquid_volume() / volume - 1.0);
    assert!(flow.max_speed() > 0.3 && flow.max_speed() < 20.0, "{}", flow.max_speed());
}

/// The floor of a box of gas sinks at 1 m/s: what comes in through the open top comes from rest, and half a cell inside its pressure is −½ρU².
#[test]
fn what_comes_in_comes_from_rest() {
    let floor = Solid::new(|x: DVec3| x.y - 0.45).moving(slid(|t| DVec3::Y * -t));
    let mut given = setup(16, floor);
    given.gravity = DVec3::ZERO;
    let density = given.params.gas.density;
    let mut flow = Flow::new(given).unwrap();
    // Short steps: the pressure is that of Bernoulli over 1 + U dt/h.
    (0..200).for_each(|_| flow.step(5e-4, &mut StepReport::default()).unwrap());
    let (velocity, _, pressure) = flow.at(DVec3::new(0.5, 1.0 - 0.5 / 16.0, 0.5));
    assert!((velocity.y + 1.0).abs() < 1e-3, "{velocity}");
    assert!((pressure / (-0.5 * density) - 1.0).abs() < 0.01, "{pressure}");
}

/// Gas whirls in and out of an open top in which a ball stands: nothing drives it, so its energy falls. It grew by a factor of twenty to a
/// hundred when what comes in had its energy for nothing, and in `heart-spurt` without end.
#[test]
fn a_whirl_in_an_open_side_is_no_heater() {
    for x in [0.3, 0.6] {
        let ball = Solid::new(|x: DVec3| x.distance(DVec3::new(0.52, 0.91, 0.49)) - 0.13);
        let mut given = setup(16, ball);
        given.gravity = DVec3::ZERO;
        let mut flow = Flow::new(given).unwrap();
        let middle = DVec3::new(x, 1.0, 0.6);
        flow.set_velocity(|x| DVec3::Z.cross(x - middle) * 20.0 * libm::exp(-40.0 * x.distance_squared(middle)));
        let mut step = || {
            flow.step(flow.stable_step().min(0.01), &mut StepReport::default()).unwrap();
            flow.energy().kinetic
        };
        let start = step();
        assert!(start > 1e-3, "{start}");
        for n in 1..200 {
            let energy = step();
            assert!(energy <= start, "{energy} of {start} J after {n} steps");
        }
    }
}

/// Water between a floor and a lid: at rest at the one, slipping along the other, cos(πy/2L) decays at ν(π/2L)²; both are solids.
#[test]
fn each_solid_has_its_own_friction() {
    let (n, viscosity) = (16, 0.01);
    let h = 1.0 / f64::from(n);
    let fluid = Fluid { density: 1.0, viscosity };
    // A floor on faces of cells, and between them.
    for shift in [0.0, 0.3, 0.6] {
        let [low, high] = [(2.0 + shift) * h, 14.0 * h];
        let floor = Solid::new(move |x: DVec3| x.y - low).sticky();
        let lid = Solid::new(move |x: DVec3| high - x.y);
        let sides = Sides { x_min: Side::Periodic, x_max: Side::Periodic, ..Sides::default() };
        let params = Params { spacing: h, sides, liquid: fluid, gas: fluid, surface_tension: 0.0, ..Params::default() };
        let domain = Aabb::new(DVec3::ZERO, DVec3::new(4.0 * h, 1.0, h));
        let solid = Some(floor.and(lid));
        let mut flow = Flow::new(Setup { params, domain, gravity: DVec3::ZERO, solid }).unwrap();
        let wave = 0.5 * PI / (high - low);
        flow.set_velocity(|x| DVec3::X * if x.y > low { libm::sin(wave * (x.y - low)) } else { 0.0 });
        let start = flow.energy().kinetic;
        (0..200).for_each(|_| flow.step(0.05, &mut StepReport::default()).unwrap());
        let rate = -0.5 * libm::log(flow.energy().kinetic / start) / 10.0;
        // How thick the layer is that decays so. A guard: where cells are cut, the wall is known to a quarter of a cell.
        let thick = 0.5 * PI * (viscosity / rate).sqrt();
        assert!((thick - (high - low)).abs() < 0.25 * h, "{shift}: {} cells", (thick - (high - low)) / h);
    }
}

/// Sides keep their friction when a slippery solid stands in the box: sin(πy) decays at νπ² beside it.
#[test]
fn a_slippery_solid_does_not_make_the_sides_slippery() {
    let fluid = Fluid { density: 1.0, viscosity: 0.01 };
    let sides = Sides {
        x_min: Side::Periodic,
        x_max: Side::Periodic,
        y_min: Side::NoSlip,
        y_max: Side::NoSlip,
        ..Sides::default()
    };
    let h = 1.0 / 16.0;
    let params = Params { spacing: h, sides, liquid: fluid, gas: fluid, surface_tension: 0.0, ..Params::default() };
    let domain = Aabb::new(DVec3::ZERO, DVec3::new(4.0 * h, 1.0, 6.0 * h));
    let solid = Some(Solid::new(move |x: DVec3| x.z - 2.0 * h));
    let mut flow = Flow::new(Setup { params, domain, gravity: DVec3::ZERO, solid }).unwrap();
    flow.set_velocity(|x| DVec3::X * libm::sin(PI * x.y));
    let start = flow.energy().kinetic;
    (0..100).for_each(|_| flow.step(0.05, &mut StepReport::default()).unwrap());
    let rate = -0.5 * libm::log(flow.energy().kinetic / start) / 5.0;
    let exact = 0.01 * PI * PI;
    assert!((rate / exact - 1.0).abs() < 0.02, "{}", rate / exact);
}
