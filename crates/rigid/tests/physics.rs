//! Rigid bodies against the textbook: fall, friction, collisions, spin; springs, roll-back, checkpoints.

use glam::{DQuat, DVec3};
use meniscus_boundary::{Boundaries, RigidCompliance};
use meniscus_core::Wrench;
use meniscus_geometry::{Aabb, TriangleMesh, solids};
use meniscus_rigid::{Form, Lock, Material, Motion, RigidError, State, World};

const GRAVITY: DVec3 = DVec3::new(0.0, -9.81, 0.0);

fn cube(center: DVec3, size: f64) -> TriangleMesh {
    solids::cuboid(&Aabb::new(center - 0.5 * size, center + 0.5 * size))
}

fn ball(world: &mut World, center: DVec3, radius: f64, material: Material) -> usize {
    let surface = solids::icosphere(center, radius, 3);
    world.add("ball", surface, Form::Ball { center, radius }, material, false).unwrap()
}

fn run(world: &mut World, seconds: f64, dt: f64, gravity: DVec3) {
    (0..(seconds / dt).round() as usize).for_each(|_| world.step(dt, gravity).unwrap());
}

#[test]
fn bodies_fall_freely_and_keep_their_spin() {
    let mut world = World::default();
    let bounds = Aabb::new(DVec3::new(0.0, 5.0, 0.0), DVec3::new(0.1, 5.3, 0.5));
    let brick = world.add("brick", solids::cuboid(&bounds), Form::Surface, Material::default(), false).unwrap();
    world.throw(brick, Motion { velocity: DVec3::X, spin: DVec3::new(1.0, 6.0, 2.0) });
    let spin = world.angular_momentum(brick) - world.mass_properties(brick).center.cross(world.momentum(brick));
    let energy = world.kinetic_energy(brick);
    run(&mut world, 0.5, 1e-3, GRAVITY);
    let center = world.mass_properties(brick).center;
    let expected = bounds.center() + DVec3::X * 0.5 + 0.5 * GRAVITY * 0.25;
    assert!(center.distance(expected) < 3e-3, "{center} {expected}");
    assert!(world.motion(brick).velocity.distance(DVec3::X + 0.5 * GRAVITY) < 1e-9);
    let after = world.angular_momentum(brick) - center.cross(world.momentum(brick));
    assert!(after.distance(spin) < 0.02 * spin.length(), "{after} {spin}");
    let Wrench { force, torque } = world.felt(brick);
    assert!(force.length() < 1e-9 * world.mass_properties(brick).mass && torque.length() < 0.05, "{force} {torque}");
    let turning = world.kinetic_energy(brick) - 0.5 * world.momentum(brick).length_squared() / 15.0;
    let at_first = energy - 0.5 * 15.0;
    assert!((turning / at_first - 1.0).abs() < 0.02, "{turning} {at_first}");
}

/// A force and a torque along all axes move a body along those that are left to it, as they would a free one.
#[test]
fn locked_directions_stay() {
    let mut world = World::default();
    let locked = world.add("locked", cube(DVec3::ZERO, 0.2), Form::Surface, Material::default(), false).unwrap();
    let free = world.add("free", cube(DVec3::X, 0.2), Form::Surface, Material::default(), false).unwrap();
    world.lock(locked, &[Lock::X, Lock::Y, Lock::Rx, Lock::Rz]);
    world.attach(1, locked, DVec3::new(0.1, 0.0, 0.0), 50.0, 0.0);
    world.pull_to(1, DVec3::new(0.5, 0.0, 0.0));
    for _ in 0..100 {
        for body in [locked, free] {
            world.add_force(body, DVec3::new(3.0, 2.0, 4.0), DVec3::new(0.3, 0.2, 0.1));
        }
        world.step(0.002, GRAVITY).unwrap();
    }
    let (center, Motion { velocity, spin }) = (world.mass_properties(locked).center, world.motion(locked));
    assert!(
        center.x.abs() + center.y.abs() < 1e-12 && velocity.x.abs() + velocity.y.abs() < 1e-12,
        "{center} {velocity}"
    );
    assert!(spin.x.abs() + spin.z.abs() < 1e-12, "{spin}");
    assert!((velocity.z - world.motion(free).velocity.z).abs() < 0.01, "the spring hardly pulls along z");
    assert!(spin.y > 0.1);
    let RigidCompliance { inverse_mass, inverse_inertia, .. } = world.compliance(locked);
    assert!(inverse_mass.distance(DVec3::Z / 8.0) < 1e-12);
    let about_y = (inverse_inertia * DVec3::Y).distance(DVec3::Y / (8.0 * 0.04 / 6.0));
    assert!(about_y < 1e-6 && inverse_inertia * DVec3::X == DVec3::ZERO, "{inverse_inertia}");
}

/// A block stays on a slope below the angle of friction, tan α = μ, and slides with g (sin α − μ cos α) above it.
#[test]
fn friction_holds_up_to_its_angle() {
    let friction = 0.5;
    let angle_of_friction = f64::atan(friction);
    for (angle, slides) in [(0.9 * angle_of_friction, false), (1.2 * angle_of_friction, true)] {
        let mut world = World::default();
        let block = cube(DVec3::new(0.0, 0.1, 0.0), 0.2);
        let block =
            world.add("block", block, Form::Surface, Material { friction, ..Material::default() }, false).unwrap();
        world.meet(&Boundaries::planes([[DVec3::ZERO, DVec3::Y]])).unwrap();
        // The slope is level and gravity leans.
        let gravity = DQuat::from_rotation_z(angle) * GRAVITY;
        run(&mut world, 0.5, 0.002, gravity);
        let slid = world.mass_properties(block).center.x;
        let expected = if slides { 0.5 * 9.81 * (angle.sin() - friction * angle.cos()) * 0.25 } else { 0.0 };
        assert!((slid - expected).abs() < 0.02 * expected + 1e-3, "{angle}: {slid} {expected}");
        let weight = 8.0 * 9.81;
        let force = world.felt(block).force;
        assert!((force.y / (weight * angle.cos()) - 1.0).abs() < 1e-3, "{force}");
    }
}

/// Two balls in a head-on collision: momentum stays, and the speed of parting is e times that of approach.
#[test]
fn collisions_keep_momentum_and_lose_what_restitution_says() {
    for restitution in [0.0, 0.5, 1.0] {
        let mut world = World::default();
        let material = Material { restitution, friction: 0.0, ..Material::default() };
        let small = ball(&mut world, DVec3::new(-0.3, 0.0, 0.0), 0.1, material);
        let large = ball(&mut world, DVec3::new(0.3, 0.0, 0.0), 0.15, material);
        world.throw(small, Motion { velocity: DVec3::new(2.0, 0.0, 0.0), spin: DVec3::ZERO });
        let momentum = world.momentum(small) + world.momentum(large);
        run(&mut world, 0.5, 0.002, DVec3::ZERO);
        let after = world.momentum(small) + world.momentum(large);
        assert!(after.distance(momentum) < 1e-12 * momentum.length(), "{after} {momentum}");
        let apart = world.motion(large).velocity.x - world.motion(small).velocity.x;
        assert!((apart - 2.0 * restitution).abs() < 0.02, "e = {restitution}: {apart}");
    }
}

/// A ring, whose surface is not convex, lies flat on the floor; a ball falls through its hole.
#[test]
fn surfaces_that_are_not_convex_are_met_as_they_are() {
    let mut world = World::default();
    let ring = solids::torus(DVec3::new(0.0, 0.0501, 0.0), 0.2, 0.05, [24, 12]);
    let lowest = ring.bounds().min.y;
    let ring = world.add("ring", ring, Form::Surface, Material::default(), false).unwrap();
    let pea = ball(&mut world, DVec3::new(0.01, 0.4, 0.0), 0.03, Material::default());
    world.meet(&Boundaries::planes([[DVec3::ZERO, DVec3::Y]])).unwrap();
    run(&mut world, 1.5, 0.002, GRAVITY);
    let low = world.positions(ring).map(|p| p.y).fold(f64::INFINITY, f64::min);
    assert!(low.abs() < 2e-3, "{low} {lowest}");
    let pea = world.mass_properties(pea).center;
    assert!((pea.y - 0.03).abs() < 2e-3 && pea.x.hypot(pea.z) < 0.15, "{pea}");
}

#[test]
fn springs_of_any_stiffness_pull_with_the_force_they_say() {
    for stiffness in [50.0, 5e3, 1e8] {
        let mut world = World::default();
        let block = world.add("block", cube(DVec3::ZERO, 0.2), Form::Surface, Material::default(), false).unwrap();
        let picked = world.first_hit(block, DVec3::new(0.05, 3.0, 0.02), DVec3::NEG_Y).unwrap();
        assert!(picked.position.distance(DVec3::new(0.05, 0.1, 0.02)) < 1e-12);
        world.attach(4, block, picked.position, stiffness, 10.0);
        for step in 1..=200 {
            // As a hand moves: 0.3 m in half a second.
            assert!(world.pull_to(4, DVec3::new(0.05, 0.1 + 0.003 * f64::from(step.min(100)), 0.02)));
            let before = world.momentum(block);
            world.step(0.005, GRAVITY).unwrap();
            let pull = world.springs().next().unwrap();
            let gained = (world.momentum(block) - before) / 0.005 - 8.0 * GRAVITY;
            assert!(gained.distance(pull.force) < 1e-9 * pull.force.length().max(100.0), "{gained} {pull:?}");
            assert!(pull.point.is_finite() && pull.point.length() < 10.0, "{pull:?}");
        }
        assert!(world.detach(4) && !world.detach(4) && !world.pull_to(4, DVec3::ZERO));

        // Held above its centre it hangs still in the end; the softest spring creeps there at 1.25 per second.
        let mut world = World::default();
        let block = world.add("block", cube(DVec3::ZERO, 0.2), Form::Surface, Material::default(), false).unwrap();
        world.attach(0, block, DVec3::new(0.0, 0.1, 0.0), stiffness, 50.0);
        run(&mut world, 15.0, 0.005, GRAVITY);
        let pull = world.springs().next().unwrap();
        assert!(pull.force.distance(-8.0 * GRAVITY) < 1e-3, "it hangs: {pull:?}");
        assert!((pull.anchor - pull.point).distance(pull.force / stiffness) < 1e-9 + 1e-6 / stiffness, "{pull:?}");
    }
}

#[test]
fn led_bodies_go_where_they_are_led_and_push_others() {
    let mut world = World::default();
    let pusher = world.add("pusher", cube(DVec3::new(-0.3, 0.1, 0.0), 0.2), Form::Surface, Material::default(), true);
    let pushed = world.add("pushed", cube(DVec3::new(0.0, 0.1, 0.0), 0.2), Form::Surface, Material::default(), false);
    let (pusher, pushed) = (pusher.unwrap(), pushed.unwrap());
    world.meet(&Boundaries::planes([[DVec3::ZERO, DVec3::Y]])).unwrap();
    for step in 1..=100 {
        world.prescribe(pusher, DQuat::IDENTITY, DVec3::X * 0.005 * f64::from(step));
        world.step(0.005, GRAVITY).unwrap();
    }
    assert!((world.mass_properties(pusher).center.x - 0.2).abs() < 1e-12);
    assert!((world.mass_properties(pushed).center.x - 0.4).abs() < 5e-3);
    assert!(world.velocities(pusher).all(|v| v.distance(DVec3::X) < 1e-9));
}

/// What rests on something presses it with its weight, along the slope too: both sides feel the same.
#[test]
fn walls_and_led_bodies_feel_what_rests_on_them() {
    let mut world = World::default();
    let add = |world: &mut World, y: f64, size: f64, prescribed: bool| {
        let material = Material { friction: 0.8, ..Material::default() };
        world.add("cube", cube(DVec3::new(0.1, y, 0.0), size), Form::Surface, material, prescribed).unwrap()
    };
    let [low, high] = [(0.1, 0.2), (0.25, 0.1)].map(|(y, size)| add(&mut world, y, size, false));
    let (floor, other) = (0, 1);
    world.meet(&Boundaries::planes([[DVec3::ZERO, DVec3::Y], [DVec3::splat(-5.0), DVec3::X]])).unwrap();
    // The floor is level and gravity leans.
    let gravity = DQuat::from_rotation_z(0.3) * GRAVITY;
    run(&mut world, 1.0, 0.002, gravity);
    let weight = (world.mass_properties(low).mass + world.mass_properties(high).mass) * gravity;
    let Wrench { force, torque } = world.on_wall(floor);
    assert!(force.distance(weight) < 1e-3 * weight.length(), "{force} {weight}");
    let center = [low, high].map(|body| world.mass_properties(body)).map(|m| m.mass * m.center);
    let expected = (center[0] + center[1]).cross(gravity);
    assert!(torque.distance(expected) < 0.05 * expected.length(), "{torque} {expected}");
    assert_eq!(world.on_wall(other), Wrench::ZERO);
    assert!(world.contacts() >= 6, "{}", world.contacts());
    // While a body is thrown, action is reaction in every step.
    world.throw(high, Motion { velocity: DVec3::new(1.0, -3.0, 0.5), spin: DVec3::ONE });
    for _ in 0..50 {
        let momentum = |world: &World| world.momentum(low) + world.momentum(high);
        let before = momentum(&world);
        world.step(0.002, gravity).unwrap();
        let change = (momentum(&world) - before) / 0.002 - weight;
        assert!((change + world.on_wall(floor).force).length() < 1e-9 * weight.length().max(change.length()));
    }

    let mut world = World::default();
    let plate = add(&mut world, 0.0, 0.4, true);
    let on_it = add(&mut world, 0.25, 0.1, false);
    run(&mut world, 1.0, 0.002, GRAVITY);
    let weight = world.mass_properties(on_it).mass * GRAVITY;
    assert!(world.felt(plate).force.distance(weight) < 1e-3 * weight.length(), "{}", world.felt(plate).force);
}

/// A heap of all kinds of bodies.
fn heap() -> World {
    let mut world = World::default();
    for k in 0..6 {
        let center = DVec3::new(0.05 * f64::from(k % 3), 0.15 + 0.25 * f64::from(k), 0.02 * f64::from(k));
        let (surface, form) = match k % 3 {
            0 => (solids::icosphere(center, 0.1, 3), Form::Ball { center, radius: 0.1 }),
            1 => (cube(center, 0.18), Form::Surface),
            _ => (solids::torus(center, 0.12, 0.04, [16, 8]), Form::Surface),
        };
        let material = Material { restitution: 0.4, ..Material::default() };
        world.add("body", surface, form, material, false).unwrap();
    }
    world.meet(&Boundaries::planes([[DVec3::ZERO, DVec3::Y]])).unwrap();
    world.attach(1, 4, world.mass_properties(4).center, 300.0, 5.0);
    world
}

fn positions(world: &World) -> Vec<DVec3> {
    (0..world.len()).flat_map(|body| world.positions(body).chain(world.velocities(body)).collect::<Vec<_>>()).collect()
}

#[test]
fn checkpoints_and_roll_backs_repeat_every_bit() {
    let mut unbroken = heap();
    run(&mut unbroken, 0.6, 0.004, GRAVITY);
    let saved = postcard::to_allocvec(unbroken.state()).unwrap();
    let mut resumed = heap();
    resumed.restore(postcard::from_bytes::<State>(&saved).unwrap()).unwrap();
    assert_eq!(positions(&resumed), positions(&unbroken));
    run(&mut unbroken, 0.4, 0.004, GRAVITY);
    run(&mut resumed, 0.4, 0.004, GRAVITY);
    assert_eq!(positions(&resumed), positions(&unbroken));

    let before = positions(&resumed);
    let expected = resumed.predict(0.004, GRAVITY);
    assert_eq!(positions(&resumed), before, "what is expected changes nothing");
    resumed.step(0.01, GRAVITY).unwrap();
    resumed.roll_back();
    assert_eq!(positions(&resumed), before);
    run(&mut resumed, 0.004, 0.004, GRAVITY);
    run(&mut unbroken, 0.004, 0.004, GRAVITY);
    assert_eq!(positions(&resumed), positions(&unbroken));
    assert!((0..resumed.len()).all(|body| resumed.motion(body) == expected[body].motion));

    let mut other = World::default();
    ball(&mut other, DVec3::ZERO, 0.1, Material::default());
    assert!(matches!(other.restore(postcard::from_bytes(&saved).unwrap()), Err(RigidError::Unsound)));
}

#[test]
fn what_cannot_be_a_body_is_refused() {
    let mut world = World::default();
    let mut try_it = |surface: TriangleMesh, material: Material| {
        world.add("it", surface, Form::Surface, material, false).unwrap_err().to_string()
    };
    let open = TriangleMesh::new(vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z], vec![[0, 2, 1], [0, 1, 3]]).unwrap();
    assert!(try_it(open, Material::default()).contains("open"));
    let inside_out: Vec<[u32; 3]> = cube(DVec3::ZERO, 1.0).triangles().iter().map(|&[a, b, c]| [a, c, b]).collect();
    let inside_out = TriangleMesh::new(cube(DVec3::ZERO, 1.0).vertices().to_vec(), inside_out).unwrap();
    assert!(try_it(inside_out, Material::default()).contains("no volume"));
    for material in [
        Material { density: 0.0, ..Material::default() },
        Material { density: f64::NAN, ..Material::default() },
        Material { friction: -1.0, ..Material::default() },
        Material { restitution: 1.5, ..Material::default() },
    ] {
        assert!(try_it(cube(DVec3::ZERO, 1.0), material).contains("must be"));
    }
}
