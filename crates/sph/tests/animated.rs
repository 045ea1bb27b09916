//! Walls whose vertices move, in a liquid: it floats them, makes room for them and does not leak.

use glam::{DVec3, Vec3};
use meniscus_boundary::{Boundaries, Frames, Friction, Key, Motion, Wall, WallShape, Wet};
use meniscus_geometry::{Bvh, TriangleMesh, solids};
use meniscus_sph::{Coupling, Liquid, Material, Params, PressureSolver, Setup};

const SPACING: f64 = 0.04;
const RADIUS: f64 = 0.1;
const GRAVITY: DVec3 = DVec3::new(0.0, -9.81, 0.0);
const CENTER: DVec3 = DVec3::new(0.2, 0.2, 0.2);

fn ball() -> TriangleMesh {
    solids::icosphere(CENTER, RADIUS, 2)
}

/// A ball whose vertices are moved by a function of position and time, in a tank.
fn walls(friction: Friction, moved: impl Fn(DVec3, f64) -> DVec3) -> Boundaries {
    let times: Vec<f64> = (0..=40).map(|k| 0.0125 * f64::from(k)).collect();
    let frames = Frames::sampled(&ball(), times, None, moved).unwrap();
    let tank = Wall {
        shape: WallShape::Tank { min: DVec3::ZERO, max: DVec3::new(0.4, f64::INFINITY, 0.4) },
        friction: Friction::Slip,
        motion: Motion::Still,
    };
    Boundaries::new(vec![tank, Wall::animated(ball(), frames, Wet::Front, friction).unwrap()]).unwrap()
}

/// The tank with water 0.4 m high, but for the ball.
fn liquid(pressure: PressureSolver, walls: &Boundaries) -> Liquid {
    let mut liquid = Liquid::new(Setup {
        params: Params { spacing: SPACING, pressure, ..Params::default() },
        materials: vec![("water".into(), Material { viscosity: 0.5, ..Material::default() })],
        walls: walls.clone(),
        coupling: Coupling::default(),
        emitters: vec![],
        periodic: Default::default(),
        stiffness: 400.0,
        speed: 2.8,
    });
    for k in 0..1000 {
        let position = (Vec3::new((k % 10) as f32, (k / 100) as f32, (k / 10 % 10) as f32) + 0.5) * SPACING as f32;
        if position.as_dvec3().distance(CENTER) > RADIUS + 0.4 * SPACING {
            liquid.particles_mut().push(0, position, Vec3::ZERO, 1000.0);
        }
    }
    liquid
}

fn step(liquid: &mut Liquid, walls: &mut Boundaries, time: f64, dt: f64) {
    walls.place(time, dt);
    liquid.sort(time, dt);
    liquid.find_neighbours();
    liquid.find_wall_integrals(walls);
    if liquid.setup().params.pressure == PressureSolver::Dfsph {
        liquid.sum_density_and_gradients().unwrap();
        liquid.remove_divergence(dt).unwrap();
        liquid.sum_forces(GRAVITY, dt).unwrap();
        liquid.find_pressure(GRAVITY, dt).unwrap();
    } else {
        liquid.sum_density().unwrap();
        liquid.apply_state_equation();
        liquid.sum_all_forces(GRAVITY).unwrap();
    }
    liquid.advance(time, dt).unwrap();
    liquid.keep_before_bodies(|_, _| {}, dt);
}

/// Runs for some seconds; calls `see` after each step.
fn run(liquid: &mut Liquid, walls: &mut Boundaries, seconds: f64, dt: f64, mut see: impl FnMut(&Liquid, f64)) {
    let steps = (seconds / dt).round() as u32;
    for number in 0..steps {
        step(liquid, walls, dt * f64::from(number), dt);
        see(liquid, dt * f64::from(number + 1));
    }
}

/// Height of the surface, from the particles within a spacing of the highest of their column \[m\].
fn level(liquid: &Liquid) -> f64 {
    let mut tops = [0.0f64; 25];
    for p in &liquid.state().particles.position {
        let column = (p.x / 0.08).clamp(0.0, 4.0) as usize * 5 + (p.z / 0.08).clamp(0.0, 4.0) as usize;
        tops[column] = tops[column].max(f64::from(p.y));
    }
    tops.iter().sum::<f64>() / 25.0 + 0.5 * SPACING
}

/// Water at rest pushes a ball of frames up with the weight of what it displaces.
#[test]
fn a_ball_of_frames_that_rests_has_its_buoyancy() {
    for (pressure, dt) in [(PressureSolver::Dfsph, 4e-3), (PressureSolver::StateEquation, 1e-3)] {
        let mut walls = walls(Friction::Slip, |x, _| x);
        let mut liquid = liquid(pressure, &walls);
        let (mut force, mut count) = (DVec3::ZERO, 0.0);
        run(&mut liquid, &mut walls, 1.0, dt, |liquid, time| {
            if time > 0.5 {
                force += liquid.reactions()[1].force;
                count += 1.0;
            }
        });
        let expected = 1000.0 * 9.81 * ball().signed_volume();
        let force = force / count;
        assert!((force.y / expected - 1.0).abs() < 0.1, "{pressure:?}: {force} {expected}");
        assert!(force.x.hypot(force.z) < 0.1 * expected, "{force}");
    }
}

/// A ball that swells makes the water rise by its volume, and no particle gets in or out.
#[test]
fn a_ball_that_swells_lifts_the_water_and_nothing_leaks() {
    let grown = |t: f64| 1.0 + 0.3 * (t / 0.4).min(1.0);
    let swell = |x: DVec3, t: f64| CENTER + (x - CENTER) * grown(t);
    let mut walls = walls(Friction::Slip, swell);
    let mut liquid = liquid(PressureSolver::Dfsph, &walls);
    let count = liquid.state().particles.len();
    run(&mut liquid, &mut walls, 0.1, 2e-3, |_, _| {});
    // Let it settle at the size of the start first: frames are clamped, so the clock starts anew.
    let before = level(&liquid);
    run(&mut liquid, &mut walls, 0.8, 2e-3, |liquid, time| {
        let mut grown_ball = ball();
        grown_ball.vertices_mut().iter_mut().for_each(|x| *x = swell(*x, time));
        let tree = Bvh::new(&grown_ball);
        let particles = &liquid.state().particles;
        assert_eq!(particles.len(), count);
        for p in &particles.position {
            let p = p.as_dvec3();
            assert!(p.cmpgt(DVec3::ZERO).all() && p.x < 0.4 && p.z < 0.4 && p.y < 0.8, "{time}: {p}");
            assert!(!tree.inside(p), "{time}: {p} is in the ball");
        }
    });
    let volume = ball().signed_volume();
    let expected = volume * (1.3f64.powi(3) - 1.0) / 0.16;
    let rise = level(&liquid) - before;
    // 31 mm; the level of particles is known to half a spacing.
    assert!((rise - expected).abs() < 0.5 * SPACING && rise > 0.0, "{rise} {expected}");
}

/// A ball of frames that moves as one pushes as a wall does that is told so: set in motion at once, against its added mass.
#[test]
fn frames_of_a_ball_that_moves_as_one_push_as_it_does() {
    let speed = 0.5;
    let push = |walls: &mut Boundaries| {
        let mut liquid = liquid(PressureSolver::Dfsph, walls);
        let mut impulse = DVec3::ZERO;
        run(&mut liquid, walls, 0.05, 1e-3, |liquid, _| impulse += liquid.reactions()[1].force * 1e-3);
        impulse
    };
    let by_frames = push(&mut walls(Friction::Slip, |x, t| x + DVec3::X * (speed * t)));
    let still = push(&mut walls(Friction::Slip, |x, _| x));
    // Between inner keys on a line the speed is even.
    let key = |time: f64| Key { time, position: [speed * time, 0.0, 0.0], rotation: [0.0; 3] };
    let mut as_one: Vec<Wall> = walls(Friction::Slip, |x, _| x).walls().cloned().collect();
    as_one[1].motion = Motion::Keys([-2.0, -1.0, 0.0, 1.0, 2.0, 3.0].map(key).to_vec());
    let as_one = push(&mut Boundaries::new(as_one).unwrap());
    // Half of the displaced water, in unbounded water: 1 N s; more in a tank.
    let added = 0.5 * 1000.0 * ball().signed_volume() * speed;
    assert!(by_frames.x < still.x - 0.7 * added, "{by_frames} {still} {added}");
    assert!((by_frames - as_one).length() < 0.15 * as_one.length(), "{by_frames} {as_one}");
}

/// A sticky ball that turns drags water along, and feels it; a slippery one does not.
#[test]
fn friction_of_animated_walls_is_their_own() {
    let spun = |friction: Friction| {
        let turn = |x: DVec3, t: f64| CENTER + glam::DQuat::from_rotation_y(4.0 * t) * (x - CENTER);
        let mut walls = walls(friction, turn);
        let mut liquid = liquid(PressureSolver::Dfsph, &walls);
        let mut torque = DVec3::ZERO;
        run(&mut liquid, &mut walls, 0.1, 2e-3, |liquid, _| {
            let felt = liquid.reactions()[1].about(CENTER);
            torque += felt.torque * 2e-3;
        });
        torque.y
    };
    let (sticky, slippery) = (spun(Friction::NoSlip), spun(Friction::Slip));
    // In steady, unbounded flow the torque would be 8πμR³ω, 5 mN m s in a tenth of a second; from rest it is more, at this spacing of
    // its order (a guard). The facets of a slippery ball push a little, too.
    let steady = 8.0 * std::f64::consts::PI * 0.5 * RADIUS * RADIUS * RADIUS * 4.0 * 0.1;
    let by_friction = slippery - sticky;
    assert!(by_friction > 0.5 * steady && by_friction < 4.0 * steady, "{sticky} {slippery} {steady}");
}
