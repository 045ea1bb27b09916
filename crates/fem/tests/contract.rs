//! What every body promises: forces from energies, conservation, rest, invariance, the same bits however it is run.

use glam::{DMat3, DQuat, DVec3};
use meniscus_core::{Fault, StepReport};
use meniscus_fem::{
    Body, Fracture, Integrator, Linearisation, Material, Model, Order, Params, Plasticity, State, SurfacePoint,
};
use meniscus_geometry::TetMesh;

const GRAVITY: DVec3 = DVec3::new(0.0, -9.81, 0.0);
const MODELS: [Model; 3] = [Model::Corotational, Model::NeoHookean, Model::StVenantKirchhoff];
const ORDERS: [Order; 2] = [Order::Linear, Order::Quadratic];

/// Numbers between −1 and 1 without pattern.
fn scatter(i: usize) -> DVec3 {
    let one = |k: usize| (((i * 3 + k) * 7919 + 104_729) % 2003) as f64 / 1001.0 - 1.0;
    DVec3::new(one(0), one(1), one(2))
}

fn block(n: u32) -> TetMesh {
    TetMesh::block(DVec3::ZERO, DVec3::new(0.4, 0.2, 0.2), [2 * n, n, n])
}

fn body(model: Model, order: Order) -> Body {
    let params = Params { order, ..Params::default() };
    Body::new("block", &block(2), params, Material { model, ..Material::default() }).unwrap()
}

fn disturb(body: &mut Body, size: f64) {
    let (position, _) = body.motion_mut();
    position.iter_mut().enumerate().for_each(|(i, x)| *x += scatter(i) * size);
}

fn step(body: &mut Body, dt: f64, gravity: DVec3) -> StepReport {
    let mut report = StepReport::default();
    body.step(dt, gravity, &mut report).unwrap();
    report
}

#[test]
fn forces_are_minus_the_slope_of_energy() {
    for model in MODELS {
        for order in ORDERS {
            let mut body = body(model, order);
            disturb(&mut body, 0.01);
            let point = SurfacePoint { face: 5, barycentric: [0.2, 0.3, 0.5] };
            body.attach(0, point, DVec3::new(0.5, 0.5, 0.1), 300.0, 0.0).unwrap();
            let forces = body.elastic_forces();
            let size = forces.iter().map(|f| f.length()).fold(0.0, f64::max);
            for i in (0..forces.len()).step_by(7) {
                for axis in [DVec3::X, DVec3::Y, DVec3::Z] {
                    let mut energy = |e: f64| {
                        body.motion_mut().0[i] += axis * e;
                        let energy = body.elastic_energy();
                        body.motion_mut().0[i] -= axis * e;
                        energy
                    };
                    let h = 1e-6;
                    let slope = (energy(h) - energy(-h)) / (2.0 * h);
                    let error = (slope + forces[i].dot(axis)).abs();
                    assert!(error < 1e-6 * size, "{model:?} {order:?} node {i}: {slope} {}", forces[i].dot(axis));
                }
            }
        }
    }
}

/// The same after plastic flow: the product of strains keeps it true.
#[test]
fn forces_are_minus_the_slope_of_energy_after_flow() {
    for model in MODELS {
        let plasticity = Some(Plasticity { yield_strain: 0.01, creep: 1e3, max_strain: 0.4, keep_volume: false });
        let material = Material { model, plasticity, ..Material::default() };
        let mut body = Body::new("clay", &block(2), Params::default(), material).unwrap();
        disturb(&mut body, 0.015);
        step(&mut body, 1e-3, DVec3::ZERO);
        assert!(body.state().motion.plastic_strain.iter().any(|strain| strain[0].abs() > 0.01));
        disturb(&mut body, 0.015);
        let forces = body.elastic_forces();
        let size = forces.iter().map(|f| f.length()).fold(0.0, f64::max);
        let torque = forces.iter().zip(body.positions()).fold(DVec3::ZERO, |sum, (f, x)| sum + x.cross(*f));
        assert!(torque.length() < 1e-12 * size, "{model:?}: elements turn themselves, {torque}");
        for (i, force) in forces.iter().enumerate() {
            let mut energy = |e: f64| {
                body.motion_mut().0[i].y += e;
                let energy = body.elastic_energy();
                body.motion_mut().0[i].y -= e;
                energy
            };
            let slope = (energy(1e-6) - energy(-1e-6)) / 2e-6;
            assert!((slope + force.y).abs() < 1e-6 * size, "{model:?} node {i}: {slope} {}", force.y);
        }
    }
}

#[test]
fn inner_forces_have_neither_sum_nor_torque() {
    for model in MODELS {
        for order in ORDERS {
            let mut body = body(model, order);
            disturb(&mut body, 0.02);
            let forces = body.elastic_forces();
            let size = forces.iter().map(|f| f.length()).sum::<f64>();
            let torque = forces.iter().zip(body.positions()).fold(DVec3::ZERO, |sum, (f, x)| sum + x.cross(*f));
            assert!(forces.iter().sum::<DVec3>().length() < 1e-14 * size);
            assert!(torque.length() < 1e-13 * size, "{model:?} {order:?} {torque} {size}");
        }
    }
}

#[test]
fn rigid_motion_gives_no_force_at_any_angle_and_position() {
    for model in MODELS {
        for order in ORDERS {
            let mut body = body(model, order);
            for k in 0..12 {
                let r = DMat3::from_quat(DQuat::from_scaled_axis(scatter(k) * 4.0));
                let rest = body.rest_positions().to_vec();
                let (position, _) = body.motion_mut();
                position.iter_mut().zip(&rest).for_each(|(x, rest)| *x = r * *rest + scatter(k + 100));
                let largest = body.elastic_forces().iter().map(|f| f.length()).fold(0.0, f64::max);
                // Against E h², the force of a strain of one on an element of h = 0.1 m.
                assert!(largest < 1e-12 * 1e6 * 0.01, "{model:?} {order:?} {largest}");
            }
        }
    }
}

#[test]
fn rest_stays_at_rest_to_the_last_bit() {
    for model in [Model::Corotational, Model::StVenantKirchhoff] {
        for order in ORDERS {
            let mut body = body(model, order);
            body.fix(|p| p.x < 1e-9);
            let before = body.positions().to_vec();
            (0..5).for_each(|_| drop(step(&mut body, 0.02, DVec3::ZERO)));
            let moved = body.positions().iter().zip(&before).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
            assert!(moved < 1e-16, "{model:?} {order:?} {moved}");
        }
    }
}

#[test]
fn a_free_body_falls_as_the_integrator_says_and_does_not_deform() {
    let dt = 0.01;
    for (integrator, lag) in [(Integrator::ImplicitEuler, 1.0), (Integrator::ImplicitMidpoint, 0.0)] {
        for order in ORDERS {
            let params = Params { order, integrator, ..Params::default() };
            let mut body = Body::new("block", &block(2), params, Material::default()).unwrap();
            (0..50).for_each(|_| drop(step(&mut body, dt, GRAVITY)));
            // Σ (k h) g h = g t²/2 + g t h/2 for implicit Euler, exact for the midpoint rule.
            let fall = 0.5 * GRAVITY * 0.25 + lag * 0.5 * dt * 0.5 * GRAVITY;
            for (x, rest) in body.positions().iter().zip(body.rest_positions()) {
                assert!((*x - *rest - fall).length() < 1e-12, "{integrator:?} {order:?} {}", *x - *rest - fall);
            }
        }
    }
}

#[test]
fn linear_momentum_is_kept_to_round_off_and_angular_nearly() {
    for integrator in [Integrator::ImplicitEuler, Integrator::ImplicitMidpoint] {
        let newton = if integrator == Integrator::ImplicitEuler { 1 } else { 6 };
        let params = Params { integrator, newton_iterations: newton, newton_tolerance: 1e-9, ..Params::default() };
        let mut body = Body::new("block", &block(2), params, Material::default()).unwrap();
        let rest = body.rest_positions().to_vec();
        let (_, velocity) = body.motion_mut();
        for (i, v) in velocity.iter_mut().enumerate() {
            *v = DVec3::new(3.0, 1.0, 0.5) + DVec3::new(0.0, 5.0, 8.0).cross(rest[i]) + scatter(i) * 0.3;
        }
        let (p, l, e) = (body.momentum(), body.angular_momentum(), body.kinetic_energy());
        (0..100).for_each(|_| drop(step(&mut body, 0.002, DVec3::ZERO)));
        assert!((body.momentum() - p).length() < 1e-13 * p.length(), "{integrator:?}");
        let spin = |body: &Body, p: DVec3| body.angular_momentum() - body.center().cross(p);
        let drift = (body.angular_momentum() - l).length() / l.length();
        let energy = body.kinetic_energy() + body.elastic_energy();
        match integrator {
            Integrator::ImplicitEuler => assert!(energy < e && drift < 0.05, "{energy} {e} {drift}"),
            Integrator::ImplicitMidpoint => {
                assert!(drift < 1e-7, "{drift}");
                assert!((energy / e - 1.0).abs() < 0.01, "{energy} {e}");
            }
        }
        assert!(spin(&body, p).is_finite());
    }
}

#[test]
fn springs_pull_with_the_force_they_say_and_bodies_hang_from_them() {
    for order in ORDERS {
        let mut body = body(Model::Corotational, order);
        let faces = body.surface().faces().len();
        let anchor = DVec3::new(0.2, 1.0, 0.1);
        for face in (0..faces).step_by(9) {
            let point = SurfacePoint { face, barycentric: [0.3, 0.3, 0.4] };
            body.attach(face as u64, point, anchor, 50.0, 5.0).unwrap();
        }
        let on_nodes: DVec3 = body.elastic_forces().iter().sum();
        let by_springs: DVec3 = body.springs().map(|pull| pull.force).sum();
        assert!((on_nodes - by_springs).length() < 1e-12 * by_springs.length());
        (0..400).for_each(|_| drop(step(&mut body, 0.02, GRAVITY)));
        let weight = body.mass() * GRAVITY;
        let held: DVec3 = body.springs().map(|pull| pull.force).sum();
        assert!((held + weight).length() < 1e-3 * weight.length(), "{order:?} {held} {weight}");
        (0..faces).step_by(9).for_each(|face| body.detach(face as u64).unwrap());
        assert!(body.detach(0).is_err() && body.pull(0, DVec3::ZERO).is_err());
        assert!(body.attach(0, SurfacePoint { face: faces, barycentric: [1.0, 0.0, 0.0] }, anchor, 1.0, 0.0).is_err());
    }
}

#[test]
fn uniform_pressure_pushes_nowhere_and_traction_where_it_should() {
    for order in ORDERS {
        let mut body = body(Model::Corotational, order);
        disturb(&mut body, 0.02);
        body.add_pressure(|_| 1e4);
        let size: f64 = body.external_force_mut().iter().map(|f| f.length()).sum();
        let sum: DVec3 = body.external_force_mut().iter().sum();
        assert!(sum.length() < 1e-12 * size, "{order:?} {sum}");
        body.clear_forces();
        body.add_traction(|p| if p.x > 0.4 - 1e-9 { DVec3::new(2.0, 3.0, 4.0) } else { DVec3::ZERO });
        let sum: DVec3 = body.external_force_mut().iter().sum();
        assert!((sum - DVec3::new(2.0, 3.0, 4.0) * 0.04).length() < 1e-14, "{order:?} {sum}");
    }
}

#[test]
fn forces_at_points_of_the_surface_keep_force_and_torque() {
    for order in ORDERS {
        let mut body = body(Model::Corotational, order);
        disturb(&mut body, 0.02);
        let (mut force, mut torque) = (DVec3::ZERO, DVec3::ZERO);
        for triangle in (0..body.surface().triangles().len()).step_by(5) {
            let (push, lambda) = (scatter(triangle), [0.2, 0.5, 0.3]);
            let ([a, b, c], _) = body.corners_of(triangle).unwrap();
            force += push;
            torque += (lambda[0] * a + lambda[1] * b + lambda[2] * c).cross(push);
            body.add_force_at(triangle, lambda, push).unwrap();
        }
        let positions = body.positions().to_vec();
        let nodal = body.external_force_mut();
        assert!((nodal.iter().sum::<DVec3>() - force).length() < 1e-13);
        let turn = positions.iter().zip(nodal).fold(DVec3::ZERO, |sum, (x, f)| sum + x.cross(*f));
        assert!((turn - torque).length() < 1e-13);
        assert!(body.add_force_at(1_000_000, [1.0, 0.0, 0.0], DVec3::X).is_err());
    }
}

#[test]
fn led_nodes_go_where_they_are_led_and_held_ones_stay() {
    for integrator in [Integrator::ImplicitEuler, Integrator::ImplicitMidpoint] {
        let params = Params { integrator, ..Params::default() };
        let mut body = Body::new("block", &block(2), params, Material::default()).unwrap();
        assert_eq!(body.fix(|p| p.x < 1e-9), 9);
        for k in 1..=20 {
            let shift = DVec3::new(0.0, 0.01 * f64::from(k), 0.0);
            body.prescribe(|_, rest| rest + shift);
            step(&mut body, 0.01, DVec3::ZERO);
            for i in 0..body.positions().len() {
                if body.fixed(i).all() {
                    assert_eq!(body.positions()[i], body.rest_positions()[i] + shift);
                    assert!((body.velocities()[i] - DVec3::Y).length() < 1e-10);
                    assert_eq!(body.inverse_mass(i), 0.0);
                }
            }
        }
        assert!((body.center().y - 0.1 - 0.2).abs() < 0.05, "the rest follows");
        body.release(|_| true);
        assert!((0..body.positions().len()).all(|i| !body.fixed(i).any()));
    }
}

/// A body that does everything at once: bends, yields, breaks, is pulled.
fn busy(order: Order, integrator: Integrator, model: Model) -> Body {
    let material = Material {
        model,
        young: 2e5,
        mass_damping: 0.1,
        stiffness_damping: 1e-3,
        plasticity: Some(Plasticity { yield_strain: 0.05, creep: 5.0, ..Plasticity::default() }),
        fracture: Some(Fracture { strength: 1.5e4, smoothing: 0.01, max_cracks: 4, min_piece: 4 }),
        ..Material::default()
    };
    let params = Params { order, integrator, newton_iterations: 2, ..Params::default() };
    let mesh = TetMesh::block(DVec3::ZERO, DVec3::new(1.0, 0.2, 0.2), [15, 3, 3]);
    let mut body = Body::new("busy", &mesh, params, material).unwrap();
    body.fix(|p| p.x < 1e-9);
    body.attach(0, SurfacePoint { face: 40, barycentric: [0.2, 0.2, 0.6] }, DVec3::new(0.6, 0.6, 0.3), 200.0, 1.0)
        .unwrap();
    body
}

fn run_busy(body: &mut Body, steps: usize) {
    for _ in 0..steps {
        step(body, 0.01, GRAVITY);
    }
}

fn in_pool<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}

const BUSY: [(Order, Integrator, Model); 3] = [
    (Order::Linear, Integrator::ImplicitEuler, Model::Corotational),
    (Order::Quadratic, Integrator::ImplicitEuler, Model::Corotational),
    (Order::Linear, Integrator::ImplicitMidpoint, Model::NeoHookean),
];

#[test]
fn same_bits_at_any_thread_count() {
    for (order, integrator, model) in BUSY {
        let run = |threads| {
            in_pool(threads, || {
                let mut body = busy(order, integrator, model);
                run_busy(&mut body, 30);
                body.state().clone()
            })
        };
        let one = run(1);
        assert!(one.mesh.cracked.contains(&true), "{order:?} {model:?} it breaks");
        assert!(one.motion.plastic_strain.iter().any(|s| s[0] != 0.0), "and yields");
        assert_eq!(one, run(2), "two threads");
        assert_eq!(one, run(3), "three threads");
    }
}

#[test]
fn a_saved_body_goes_on_as_if_nothing_had_happened() {
    for (order, integrator, model) in BUSY {
        let mut whole = busy(order, integrator, model);
        run_busy(&mut whole, 20);
        let bytes = postcard::to_stdvec(whole.state()).unwrap();
        run_busy(&mut whole, 20);
        let mut resumed = busy(order, integrator, model);
        let state: State = postcard::from_bytes(&bytes).unwrap();
        resumed.restore(state).unwrap();
        run_busy(&mut resumed, 20);
        assert_eq!(whole.state(), resumed.state());
        assert_eq!(whole.surface(), resumed.surface());
    }
}

#[test]
fn rolling_back_restores_every_bit() {
    for (order, integrator, model) in BUSY {
        let mut body = busy(order, integrator, model);
        let mut broke = 0.0;
        for _ in 0..25 {
            let before = body.state().clone();
            let surface = body.surface().clone();
            broke += step(&mut body, 0.01, GRAVITY).counter("cracks").unwrap();
            let after = body.state().clone();
            body.roll_back();
            assert_eq!(body.state(), &before);
            assert_eq!(body.surface(), &surface);
            step(&mut body, 0.01, GRAVITY);
            assert_eq!(body.state(), &after, "the second try is like the first");
        }
        assert!(broke > 0.0);
    }
}

#[test]
fn trouble_is_named() {
    let mut body = body(Model::Corotational, Order::Linear);
    body.motion_mut().0[11].y = f64::NAN;
    let mut report = StepReport::default();
    let error = body.step(0.01, GRAVITY, &mut report).unwrap_err();
    assert_eq!((error.stage.as_str(), error.body.as_str()), ("balance", "block"));
    assert!(error.index.is_some() && error.to_string().contains("not finite"), "{error}");
    body.roll_back();
    assert!(body.step(0.0, GRAVITY, &mut report).is_err());
    assert!(body.step(f64::NAN, GRAVITY, &mut report).is_err());

    let params = Params { max_iterations: 2, ..Params::default() };
    let mut slow = Body::new("slow", &block(6), params, Material::default()).unwrap();
    slow.fix(|p| p.x < 1e-9);
    let error = slow.step(0.1, GRAVITY, &mut report).unwrap_err();
    assert_eq!(error.stage, "solve");
    assert!(matches!(error.fault, Fault::NotConverged { iterations: 2, .. }), "{error}");
}

#[test]
fn projected_and_exact_stiffness_lead_to_the_same_step() {
    let run = |linearisation: Linearisation, model: Model| {
        let params = Params {
            linearisation,
            newton_iterations: 30,
            newton_tolerance: 1e-10,
            tolerance: 1e-8,
            ..Params::default()
        };
        let mut body = Body::new("block", &block(2), params, Material { model, ..Material::default() }).unwrap();
        body.fix(|p| p.x < 1e-9);
        disturb(&mut body, 0.005);
        (0..3).for_each(|_| drop(step(&mut body, 0.02, GRAVITY)));
        body.positions().to_vec()
    };
    for model in MODELS {
        let projected = run(Linearisation::Projected, model);
        for linearisation in [Linearisation::Exact, Linearisation::Warped] {
            let other = run(linearisation, model);
            let apart = projected.iter().zip(&other).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
            assert!(apart < 1e-8, "{model:?} {linearisation:?} {apart}");
        }
    }
}

/// Kinetic and elastic energy and that in the field of gravity \[J\].
fn total_energy(body: &Body, gravity: DVec3) -> f64 {
    body.kinetic_energy() + body.elastic_energy() - body.mass() * gravity.dot(body.center())
}

/// A block whose nodes are moved without pattern \[m\], that flies and spins \[rad/s\].
fn shaken(model: Model, order: Order, young: f64, spin: f64, size: f64) -> Body {
    let params = Params { order, ..Params::default() };
    let material = Material { model, young, ..Material::default() };
    let mut body = Body::new("block", &block(2), params, material).unwrap();
    let rest = body.rest_positions().to_vec();
    let (x, v) = body.motion_mut();
    for i in 0..x.len() {
        x[i] += size * scatter(i + 7);
        v[i] = DVec3::X + (spin * DVec3::new(0.2, -0.4, 0.9)).cross(rest[i]) + 0.2 * scatter(i);
    }
    body
}

/// Largest rise of the energy above its least so far, over the first, and the linear solves per step.
fn growth(body: &mut Body, steps: u32, gravity: DVec3) -> (f64, f64) {
    let start = total_energy(body, gravity);
    let (mut least, mut worst, mut solves) = (start, 0.0f64, 0.0);
    for _ in 0..steps {
        solves += step(body, 0.005, gravity).counter("newton iterations").unwrap();
        let now = total_energy(body, gravity);
        worst = worst.max((now - least) / start.abs());
        least = least.min(now);
    }
    (worst, solves / f64::from(steps))
}

/// One linear solve per step, and yet energy does not grow: not of a body that spins, is scrambled, or falls while it is held.
#[test]
fn implicit_steps_never_gain_energy() {
    for order in ORDERS {
        for (young, spin) in [(1e5, 6.0), (1e4, 15.0)] {
            let mut body = shaken(Model::Corotational, order, young, spin, 0.0);
            let before = body.momentum();
            let (growth, solves) = growth(&mut body, 100, DVec3::ZERO);
            assert!(growth < 1e-13 && solves < 1.1, "{order:?} spin {spin}: {growth:e}, {solves} solves");
            assert!(body.momentum().distance(before) < 1e-13 * before.length());
        }
        let mut held = shaken(Model::Corotational, order, 1e5, 5.0, 0.05);
        held.fix(|p| p.x < 1e-9);
        let (growth, solves) = growth(&mut held, 100, GRAVITY);
        assert!(growth < 1e-13 && solves < 1.1, "{order:?} held: {growth:e}, {solves} solves");
    }
    for model in MODELS {
        let (growth, solves) = growth(&mut shaken(model, Order::Linear, 1e6, 0.0, 0.05), 50, DVec3::ZERO);
        println!("{model:?} {growth:e} {solves}");
        assert!(growth < 1e-13 && solves < 5.0, "{model:?} scrambled: {growth:e}, {solves} solves");
    }
}

/// A cantilever of 1 m × 0.1 m × 0.1 m: Euler and Bernoulli's first frequency is 1.8751² √(EI/ρAL⁴).
#[test]
fn the_slowest_vibration_is_that_of_a_beam() {
    let mesh = TetMesh::block(DVec3::ZERO, DVec3::new(1.0, 0.1, 0.1), [10, 1, 1]);
    let params = Params { order: Order::Quadratic, ..Params::default() };
    let mut beam = Body::new("beam", &mesh, params, Material { young: 1e7, ..Material::default() }).unwrap();
    assert_eq!(beam.lowest_frequency(), 0.0, "nothing holds it");
    beam.fix(|position| position.x < 1e-9);
    let exact = 1.875_104f64.powi(2) * f64::sqrt(1e7 * 1e-4 / 12.0 / (1000.0 * 0.01));
    let found = beam.lowest_frequency();
    assert!((found / exact - 1.0).abs() < 0.05, "{found} {exact}");
    let dt = 1e-2;
    assert!((beam.stiffening(found, dt) - 1.0 - 0.25 * (found * dt).powi(2)).abs() < 1e-12);
}
