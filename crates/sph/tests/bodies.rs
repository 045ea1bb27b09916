//! Bodies that answer: what the liquid does to them is what they do to the liquid.

use glam::{DMat3, DVec3, Vec3};
use meniscus_boundary::{Boundaries, Compliance, Friction, RigidCompliance};
use meniscus_geometry::{Aabb, solids};
use meniscus_sph::{
    Body, BodyWall, Coupling, Distribution, Integral, Liquid, Material, Params, Phase, PressureSolver, Setup,
};

const SPACING: f64 = 0.05;

fn setup(pressure: PressureSolver) -> Setup {
    Setup {
        params: Params { spacing: SPACING, pressure, ..Params::default() },
        materials: vec![("water".into(), Material::default())],
        walls: Boundaries::default(),
        coupling: Default::default(),
        emitters: vec![],
        periodic: Default::default(),
        stiffness: 400.0,
        speed: 3.0,
    }
}

fn cube(answer: impl Fn(usize) -> Compliance) -> Body {
    let mesh = solids::cuboid(&Aabb::new(DVec3::new(-0.2, -0.4, -0.2), DVec3::new(0.2, 0.0, 0.2)));
    Body {
        positions: mesh.vertices().to_vec(),
        velocities: vec![DVec3::ZERO; mesh.vertices().len()],
        triangles: mesh.triangles().to_vec(),
        compliance: answer(mesh.vertices().len()),
        ..Body::default()
    }
}

/// A block of water that falls onto the top of a cube at 1 m/s, and the cube.
fn falling(pressure: PressureSolver, answer: impl Fn(usize) -> Compliance) -> Liquid {
    let mut liquid = Liquid::new(setup(pressure));
    for k in 0..8 * 4 * 8 {
        let position =
            Vec3::new((k % 8) as f32 - 3.5, (k / 8 % 4) as f32 + 0.5, (k / 32) as f32 - 3.5) * SPACING as f32;
        liquid.particles_mut().push(0, position, Vec3::NEG_Y, 1000.0);
    }
    liquid.bodies_mut(1)[0] = cube(answer);
    liquid
}

fn step(liquid: &mut Liquid, dt: f64) {
    liquid.sort(0.0, dt);
    liquid.find_neighbours();
    liquid.find_wall_integrals_at(0.0, dt);
    if liquid.setup().params.pressure == PressureSolver::Dfsph {
        liquid.sum_density_and_gradients().unwrap();
        liquid.remove_divergence(dt).unwrap();
        liquid.sum_forces(DVec3::ZERO, dt).unwrap();
        liquid.find_pressure(DVec3::ZERO, dt).unwrap();
    } else {
        liquid.sum_density().unwrap();
        liquid.apply_state_equation();
        liquid.sum_all_forces(DVec3::ZERO).unwrap();
    }
    liquid.advance(0.0, dt).unwrap();
}

fn momentum(liquid: &Liquid) -> DVec3 {
    let particles = &liquid.state().particles;
    particles.velocity.iter().map(|v| v.as_dvec3() * liquid.mass(0)).sum()
}

#[test]
fn action_is_reaction() {
    for (pressure, integral) in [
        (PressureSolver::Dfsph, Integral::Edges),
        (PressureSolver::Dfsph, Integral::Points),
        (PressureSolver::StateEquation, Integral::Edges),
    ] {
        let liquid = falling(pressure, |n| Compliance::Lumped(vec![1.0 / 8.0; n]));
        let mut liquid = with_coupling(liquid, Coupling { integral, ..Coupling::default() });
        if pressure == PressureSolver::StateEquation {
            // Pressed together a little, or there is no pressure.
            liquid.particles_mut().position.iter_mut().for_each(|x| *x = *x * 0.98 + 0.001);
        }
        let before = momentum(&liquid);
        let dt = 0.002;
        step(&mut liquid, dt);
        let given: DVec3 = liquid.body_forces(0).iter().sum::<DVec3>() * dt;
        let change = momentum(&liquid) - before;
        assert!(change.y > 0.01 * before.length(), "{pressure:?}: the cube stops the water: {change}");
        assert!((change + given).length() < 2e-5 * change.length(), "{pressure:?}: {change} {given}");
    }
}

#[test]
fn edges_and_points_push_alike() {
    let forces = |integral: Integral| {
        let liquid = falling(PressureSolver::Dfsph, |n| Compliance::Lumped(vec![1.0 / 8.0; n]));
        let mut liquid = with_coupling(liquid, Coupling { integral, ..Coupling::default() });
        step(&mut liquid, 0.002);
        liquid.body_forces(0).to_vec()
    };
    let [edges, points] = [Integral::Edges, Integral::Points].map(forces);
    let all = points.iter().sum::<DVec3>().length();
    for (a, b) in edges.iter().zip(&points) {
        assert!(a.distance(*b) < 0.01 * all, "{edges:?} {points:?}");
    }
    assert_ne!(edges, points);
}

#[test]
fn a_body_that_yields_is_pushed_less() {
    let push = |answer: &dyn Fn(usize) -> Compliance| {
        let mut liquid = falling(PressureSolver::Dfsph, answer);
        step(&mut liquid, 0.002);
        -liquid.body_forces(0).iter().sum::<DVec3>().y
    };
    let held = push(&|_| Compliance::Fixed);
    // Water of 32 kg meets cubes of 64 kg.
    let loose = push(&|n| Compliance::Lumped(vec![n as f64 / 64.0; n]));
    let rigid = push(&|_| {
        Compliance::Rigid(RigidCompliance {
            inverse_mass: DVec3::splat(1.0 / 64.0),
            inverse_inertia: DMat3::ZERO,
            center: DVec3::new(0.0, -0.2, 0.0),
        })
    });
    assert!(held > rigid && rigid > 0.5 * held, "{held} {rigid}");
    assert!(held > loose && loose > 0.0, "{held} {loose}");
}

#[test]
fn what_a_surface_passes_is_put_back_and_its_momentum_kept() {
    let mut liquid = falling(PressureSolver::Dfsph, |n| Compliance::Lumped(vec![1.0 / 8.0; n]));
    let dt = 0.002;
    step(&mut liquid, dt);
    let before = momentum(&liquid);
    // The top of the cube jumps up by a spacing.
    let raised: Vec<DVec3> = cube(|_| Compliance::Fixed).positions.iter().map(|p| *p + DVec3::Y * SPACING).collect();
    liquid.keep_before_bodies(|_, ends| ends.extend_from_slice(&raised), dt);
    assert_eq!(liquid.kept_inside(), 64, "the lowest layer");
    let lowest = liquid.state().particles.position.iter().map(|x| x.y).fold(f32::INFINITY, f32::min);
    assert!(f64::from(lowest) > SPACING, "{lowest}");
    let owed: DVec3 = liquid.state().body_impulses[0].iter().sum();
    assert!((momentum(&liquid) - before + owed).length() < 1e-4 * before.length());
}

/// A pad of elastic particles on the cube: what it passes is the pad's own affair, and the cube is not pushed for it.
#[test]
fn embedded_solids_are_not_put_back() {
    let dt = 0.002;
    let position =
        |k: usize| DVec3::new((k % 8) as f64 - 3.5, (k / 8 % 4) as f64 + 0.5, (k / 32) as f64 - 3.5) * SPACING;
    let (positions, still): (Vec<DVec3>, _) = ((0..256).map(position).collect(), vec![DVec3::ZERO; 256]);
    let mass = 1000.0 * SPACING.powi(3);
    let pad = Phase { name: "pad".into(), particles: 0..256, mass, inertia: mass, ..Phase::default() };
    let mut liquid = Liquid::new(setup(PressureSolver::Dfsph));
    liquid.particles_mut().push(0, Vec3::Y, Vec3::ZERO, 1000.0);
    liquid.embed(vec![pad], [&positions, &still], 0.0);
    liquid.bodies_mut(1)[0] = cube(|n| Compliance::Lumped(vec![1.0 / 8.0; n]));
    liquid.place_solids(&positions, &still);
    step(&mut liquid, dt);
    let before = liquid.state().particles.position.clone();
    let raised: Vec<DVec3> = cube(|_| Compliance::Fixed).positions.iter().map(|p| *p + DVec3::Y * SPACING).collect();
    liquid.keep_before_bodies(|_, ends| ends.extend_from_slice(&raised), dt);
    assert_eq!(liquid.kept_inside(), 0);
    assert_eq!(liquid.state().particles.position, before);
    assert!(liquid.state().body_impulses[0].iter().all(|impulse| *impulse == DVec3::ZERO));
}

/// Water that slides over the top of a cube at 1 m/s, with this coupling, after a step of `dt`: what it lost, what nodes got.
fn sliding(coupling: Coupling, dt: f64) -> (Liquid, [DVec3; 2]) {
    let mut liquid = falling(PressureSolver::Dfsph, |n| Compliance::Lumped(vec![1.0 / 8.0; n]));
    liquid.set_parameters(|setup| {
        setup.params.artificial_viscosity = Some(0.0);
        setup.materials[0].1.viscosity = 2.0;
    });
    liquid = with_coupling(liquid, coupling);
    liquid.particles_mut().velocity.fill(Vec3::X);
    let before = momentum(&liquid);
    step(&mut liquid, dt);
    let given = liquid.body_forces(0).iter().sum::<DVec3>() * dt;
    let lost = before - momentum(&liquid);
    (liquid, [lost, given])
}

fn with_coupling(liquid: Liquid, coupling: Coupling) -> Liquid {
    let mut other = Liquid::new(Setup { coupling, ..liquid.setup().clone() });
    *other.particles_mut() = liquid.state().particles.clone();
    let cube = cube(|n| Compliance::Lumped(vec![1.0 / 8.0; n]));
    other.bodies_mut(1)[0] = cube;
    other
}

#[test]
fn friction_takes_from_the_liquid_what_it_gives_to_the_body() {
    let dt = 1e-3;
    let (_, [lost, given]) = sliding(Coupling::default(), dt);
    assert!(lost.x.abs() < 1e-4 && given.x.abs() < 1e-4, "slip: {lost} {given}");
    let no_slip = Coupling { friction: Friction::NoSlip, ..Coupling::default() };
    let (liquid, [lost, given]) = sliding(no_slip, dt);
    assert!(lost.x > 0.0 && (lost - given).length() < 1e-4 * lost.x, "{lost} {given}");
    // The wall's drag on the lowest layer as a tank of the same floor has it: mu k(s/2) V each.
    let floor = meniscus_boundary::Wall {
        shape: meniscus_boundary::WallShape::Plane { point: DVec3::ZERO, normal: DVec3::Y },
        friction: Friction::NoSlip,
        motion: meniscus_boundary::Motion::Still,
    };
    let mut plane = Liquid::new(Setup { walls: Boundaries::new(vec![floor]).unwrap(), ..liquid.setup().clone() });
    let start = falling(PressureSolver::Dfsph, |_| Compliance::Fixed);
    *plane.particles_mut() = start.state().particles.clone();
    plane.particles_mut().velocity.fill(Vec3::X);
    step(&mut plane, dt);
    let by_floor = plane.reactions()[0].force.x * dt;
    assert!((by_floor - given.x).abs() < 1e-3 * by_floor, "{by_floor} {}", given.x);
    assert!(liquid.state().body_rate > 0.0, "the step is told");
}

#[test]
fn the_traction_pushes_as_it_is_pushed() {
    for distribution in [Distribution::Barycentric, Distribution::Bridson] {
        for pressure in [PressureSolver::Dfsph, PressureSolver::StateEquation] {
            let coupling = Coupling { wall: BodyWall::Traction, distribution, ..Coupling::default() };
            let mut liquid = with_coupling(falling(pressure, |_| Compliance::Fixed), coupling);
            // Nearer than its rest at half a spacing.
            liquid.particles_mut().position.iter_mut().for_each(|x| x.y -= 0.2 * SPACING as f32);
            liquid.particles_mut().velocity.fill(Vec3::ZERO);
            let dt = 1e-4;
            step(&mut liquid, dt);
            let given: DVec3 = liquid.body_forces(0).iter().sum::<DVec3>() * dt;
            let change = momentum(&liquid);
            assert!(change.y > 0.0, "away from the wall: {change}");
            assert!((change + given).length() < 1e-4 * change.length(), "{distribution:?}: {change} {given}");
            if distribution == Distribution::Barycentric {
                // All 64 of the lowest layer are above the middle of a face that is four reaches wide, or near its edge.
                let plane = liquid.traction().plane(0.3 * SPACING) + 0.5 * liquid.traction().plane(1.3 * SPACING);
                let most = 64.0 * plane * dt;
                assert!(change.y > 0.8 * most && change.y < 1.3 * most, "{} of {most}", change.y);
            }
            assert!(liquid.stable_step(0.4, 9.81) < 1e-2, "the step is told");
        }
    }
}
