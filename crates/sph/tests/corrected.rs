//! The liquid with corrected gradients: conservation, determinism, what it keeps of its motion.

use glam::{DMat3, DVec3, Vec3};
use meniscus_boundary::{Boundaries, Compliance, RigidCompliance};
use meniscus_boundary::{Friction, Motion, Wall, WallShape};
use meniscus_geometry::{Periodic, solids};
use meniscus_sph::{Body, Gradients, Level, Liquid, Material, Params, Setup, State};
use std::f64::consts::{PI, TAU};

const GRAVITY: DVec3 = DVec3::new(0.0, -9.81, 0.0);

fn setup(spacing: f64, gradients: Gradients, walls: Vec<Wall>, speed: f64) -> Setup {
    Setup {
        params: Params { spacing, gradients: Some(gradients), ..Params::default() },
        materials: vec![("water".into(), Material::default())],
        walls: Boundaries::new(walls).unwrap(),
        coupling: Default::default(),
        emitters: vec![],
        periodic: Periodic::default(),
        stiffness: 400.0,
        speed,
    }
}

fn tank(min: DVec3, max: DVec3) -> Wall {
    Wall { shape: WallShape::Tank { min, max }, friction: Friction::Slip, motion: Motion::Still }
}

fn fill(liquid: &mut Liquid, counts: [usize; 3], of: impl Fn(Vec3) -> Option<Vec3>) {
    let spacing = liquid.setup().params.spacing as f32;
    for n in 0..counts.iter().product() {
        let at = [n % counts[0], n / counts[0] % counts[1], n / counts[0] / counts[1]];
        let x = (Vec3::from_array(at.map(|i| i as f32)) + 0.5) * spacing;
        if let Some(v) = of(x) {
            liquid.particles_mut().push(0, x, v, 1000.0);
        }
    }
}

fn step(liquid: &mut Liquid, time: f64, dt: f64, gravity: DVec3) {
    liquid.sort(time, dt);
    liquid.find_neighbours();
    liquid.find_wall_integrals_at(time, dt);
    liquid.sum_density_and_gradients().unwrap();
    liquid.remove_divergence(dt).unwrap();
    liquid.sum_forces(gravity, dt).unwrap();
    liquid.find_pressure(gravity, dt).unwrap();
    liquid.advance(time, dt).unwrap();
}

fn splash(level: Level, threads: usize) -> State {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| {
        let walls = vec![tank(DVec3::ZERO, DVec3::new(1.0, 2.0, 0.6))];
        let mut liquid = Liquid::new(setup(0.05, Gradients::Corrected, walls, 2.8)).with_level(level);
        fill(&mut liquid, [10, 14, 12], |_| Some(Vec3::ZERO));
        (0..25).for_each(|k| step(&mut liquid, k as f64 * 4e-3, 4e-3, GRAVITY));
        liquid.state().clone()
    })
}

#[test]
fn same_bits_at_any_thread_count_and_instruction_set() {
    let one = splash(Level::new(), 1);
    assert_eq!(one, splash(Level::new(), 3), "three threads");
    assert_eq!(one, splash(Level::baseline(), 1), "baseline");
}

/// Momentum and angular momentum of all particles, per mass of one.
fn momenta(liquid: &Liquid) -> [DVec3; 2] {
    let p = &liquid.state().particles;
    let each = p.position.iter().zip(&p.velocity).map(|(x, v)| [x.as_dvec3(), v.as_dvec3()]);
    each.fold([DVec3::ZERO; 2], |[sum, turn], [x, v]| [sum + v, turn + x.cross(v)])
}

#[test]
fn a_drop_that_turns_keeps_its_momenta() {
    let (spacing, radius, spin) = (0.02, 0.12, 5.0);
    let mut liquid = Liquid::new(setup(spacing, Gradients::Corrected, vec![], spin * radius));
    let center = Vec3::splat(0.12);
    fill(&mut liquid, [12, 12, 12], |x| {
        let r = x - center;
        (r.length() < radius as f32).then(|| Vec3::new(0.1, 0.0, 0.0) + spin as f32 * Vec3::Y.cross(r))
    });
    let before = momenta(&liquid);
    let (mut time, dt) = (0.0, 5e-3);
    while time < TAU / spin {
        step(&mut liquid, time, dt, DVec3::ZERO);
        time += dt;
    }
    let after = momenta(&liquid);
    assert!((after[0] - before[0]).length() < 1e-4 * before[0].length(), "{before:?} {after:?}");
    assert!((after[1] - before[1]).length() < 0.02 * before[1].length(), "{before:?} {after:?}");
}

/// The part of a shear flow in a pool 10 deep that is left after half a second.
fn left_of_shear(gradients: Gradients) -> f64 {
    let (spacing, depth) = (0.02, 0.2_f64);
    let open = f64::INFINITY;
    let walls = vec![tank(DVec3::new(-open, 0.0, -open), DVec3::splat(open))];
    let mut setup = setup(spacing, gradients, walls, (2.0 * 9.81 * depth).sqrt());
    setup.periodic = Periodic { min: Vec3::ZERO, length: Vec3::new(0.4, 0.0, 0.1) };
    let mut liquid = Liquid::new(setup);
    let wave = |x: Vec3| (f64::from(x.x) * PI / depth).sin();
    fill(&mut liquid, [20, 10, 5], |x| Some(Vec3::Z * (0.1 * wave(x)) as f32));
    let (mut time, dt) = (0.0, 3e-3);
    while time < 0.5 {
        step(&mut liquid, time, dt, GRAVITY);
        time += dt;
    }
    let p = &liquid.state().particles;
    let sum: f64 = p.position.iter().zip(&p.velocity).map(|(x, v)| f64::from(v.z) * wave(*x)).sum();
    2.0 * sum / (0.1 * p.len() as f64)
}

#[test]
fn shear_under_gravity_stays_where_gradients_are_corrected() {
    let (corrected, plain) = (left_of_shear(Gradients::Corrected), left_of_shear(Gradients::Plain));
    // Guards: 0.96 and 0.83; later plain gradients leave a quarter.
    assert!(corrected > 0.95 && corrected < 1.02 && 1.0 - plain > 3.0 * (1.0 - corrected), "{corrected} {plain}");
}

/// Energy of eddies 16 particles across without viscosity after a turn or so, over that at the start.
/// Two drops of spray near to each other, which have left the liquid with their pressures: `dam-break` exploded by such a pair.
#[test]
fn spray_does_not_keep_the_pressure_of_the_liquid() {
    let mut liquid = Liquid::new(setup(0.02, Gradients::Corrected, vec![], 4.0));
    for x in [0.5, 0.53] {
        liquid.particles_mut().push(0, Vec3::new(x, 0.5, 0.5), Vec3::ZERO, 1000.0);
    }
    liquid.particles_mut().multiplier.fill(1e6);
    (0..3).for_each(|k| step(&mut liquid, f64::from(k) * 1e-3, 1e-3, GRAVITY));
    let [a, b] = [0, 1].map(|i| liquid.state().particles.velocity[i]);
    assert!((a - b).length() < 1e-6 && (a.y + 3.0 * 9.81e-3).abs() < 1e-5, "{a} {b}");
}

#[test]
fn steps_take_little_from_eddies_and_give_them_nothing() {
    let (across, thick) = (16, 5);
    let spacing = 1.0 / across as f64;
    let mut setup = setup(spacing, Gradients::Corrected, vec![], 1.0);
    setup.materials[0].1.viscosity = 0.0;
    setup.periodic = Periodic { min: Vec3::ZERO, length: Vec3::new(1.0, 1.0, (thick as f64 * spacing) as f32) };
    let mut liquid = Liquid::new(setup);
    let k = TAU as f32;
    fill(&mut liquid, [across, across, thick], |x| {
        Some(Vec3::new((k * x.x).sin() * (k * x.y).cos(), -(k * x.x).cos() * (k * x.y).sin(), 0.0))
    });
    let energy = |liquid: &Liquid| -> f64 {
        liquid.state().particles.velocity.iter().map(|v| f64::from(v.length_squared())).sum()
    };
    let (start, dt) = (energy(&liquid), 0.4 * spacing);
    let mut last = start;
    for n in 0..20 {
        step(&mut liquid, f64::from(n) * dt, dt, DVec3::ZERO);
        let now = energy(&liquid);
        assert!(now < 1.01 * last, "step {n}: {} of {}", now / start, last / start);
        last = now;
    }
    // A guard; without the divergence that is turned round it is less.
    assert!(last / start > 0.7, "{}", last / start);
}

/// A ball in a tank eight radii wide and deep, which can only rise.
struct Ball {
    liquid: Liquid,
    corners: Vec<DVec3>,
    mass: f64,
    /// Mass of the liquid that it displaces \[kg\].
    displaced: f64,
    center: DVec3,
    speed: f64,
    /// What it felt in the last step over its mass, gravity excepted \[m/s²\].
    felt: f64,
}

impl Ball {
    /// Of a radius of so many spacings \[m\] and a density \[kg/m³\].
    fn new(per_radius: usize, spacing: f64, density: f64) -> Self {
        let (many, radius) = (8 * per_radius, per_radius as f64 * spacing);
        let side = 8.0 * radius;
        let walls = vec![tank(DVec3::ZERO, DVec3::new(side, 2.0, side))];
        let mut liquid = Liquid::new(setup(spacing, Gradients::Corrected, walls.clone(), (2.0 * 9.81 * side).sqrt()));
        let center = DVec3::splat(0.5 * side) + DVec3::new(0.13, 0.21, -0.07) * spacing;
        let mesh = solids::icosphere(DVec3::ZERO, radius, 2);
        let at = |n: usize| DVec3::new((n % many) as f64, (n / many % many) as f64, (n / many / many) as f64);
        let mut positions: Vec<DVec3> = (0..many.pow(3)).map(|n| (at(n) + 0.5) * spacing - center).collect();
        positions.sort_by(|a, b| a.length().total_cmp(&b.length()));
        // What it displaces; the rest begins where it ends.
        let nearest = radius + 0.02 * spacing;
        for r in &positions[(mesh.signed_volume() / spacing.powi(3)).round() as usize..] {
            let x = center + r.normalize() * r.length().max(nearest);
            liquid.particles_mut().push(0, x.as_vec3(), Vec3::ZERO, 1000.0);
        }
        let corners = mesh.vertices().to_vec();
        liquid.bodies_mut(1)[0] = Body { triangles: mesh.triangles().to_vec(), ..Body::default() };
        let [mass, displaced] = [density, 1000.0].map(|density| density * mesh.signed_volume());
        let mut ball = Self { liquid, corners, mass, displaced, center, speed: 0.0, felt: 0.0 };
        ball.show();
        let mut placed = Boundaries::new(walls).unwrap();
        placed.place(0.0, 1e-3);
        assert!(ball.liquid.relax(&placed, GRAVITY).unwrap().converged);
        ball
    }

    /// Shows the liquid where it is, how it moves and what it felt.
    fn show(&mut self) {
        let center = self.center;
        let body = &mut self.liquid.bodies_mut(1)[0];
        body.positions = self.corners.iter().map(|corner| center + *corner).collect();
        body.velocities = vec![DVec3::Y * self.speed; self.corners.len()];
        body.accelerations = vec![DVec3::Y * self.felt; self.corners.len()];
        let inverse_mass = DVec3::new(0.0, 1.0 / self.mass, 0.0);
        body.compliance = Compliance::Rigid(RigidCompliance { inverse_mass, inverse_inertia: DMat3::ZERO, center });
    }

    /// What the liquid pushes it up with over the weight of what it displaces, in a step that leaves it where it is.
    fn push(&mut self, dt: f64) -> f64 {
        self.show();
        step(&mut self.liquid, 0.0, dt, GRAVITY);
        self.liquid.body_forces(0).iter().sum::<DVec3>().y / (9.81 * self.displaced)
    }

    fn step(&mut self, time: f64, dt: f64) {
        self.show();
        step(&mut self.liquid, time, dt, GRAVITY);
        self.felt = self.liquid.body_forces(0).iter().sum::<DVec3>().y / self.mass;
        self.speed += (self.felt - 9.81) * dt;
        self.center.y += self.speed * dt;
        let (center, corners) = (self.center, &self.corners);
        self.liquid.keep_before_bodies(|_, ends| ends.extend(corners.iter().map(|corner| center + *corner)), dt);
    }
}

#[test]
fn a_light_ball_carries_half_of_the_liquid_that_it_displaces() {
    let (density, dt) = (50.0, 2e-3);
    let mut ball = Ball::new(4, 0.02, density);
    (0..4).for_each(|k| ball.step(k as f64 * dt, dt));
    let start = ball.speed;
    (4..14).for_each(|k| ball.step(k as f64 * dt, dt));
    let acceleration = (ball.speed - start) / (10.0 * dt);
    let added = ((1000.0 - density) * 9.81 / acceleration - density) / 1000.0;
    // 0.524 in a tank of this width, before drag begins. A guard: 0.594 here, 0.637 at three spacings per radius.
    assert!((added / 0.524 - 1.0).abs() < 0.15, "{added}");
}

#[test]
fn a_light_ball_does_not_shake() {
    let (density, dt) = (50.0, 2e-3);
    let mut ball = Ball::new(3, 0.02, density);
    let mut speeds = vec![0.0];
    for k in 0..12 {
        ball.step(k as f64 * dt, dt);
        speeds.push(ball.speed);
    }
    let mean = speeds[12] / 12.0;
    // The liquid's part of its inertia is ten times its own: it shook by fourteen times its acceleration.
    for pair in speeds.windows(2) {
        assert!(((pair[1] - pair[0]) / mean - 1.0).abs() < 0.5, "{speeds:?}");
    }
}

#[test]
fn a_blow_is_given_once() {
    let mut ball = Ball::new(3, 0.02, f64::INFINITY);
    let before = (0..3).map(|_| ball.push(1e-3)).fold(0.0, |_, push| push);
    ball.speed = 0.02;
    let [blow, next] = [ball.push(1e-3), ball.push(1e-3)].map(|push| before - push);
    let added = blow * 9.81 * 1e-3 / ball.speed;
    // 0.524 in a tank of this width; a guard.
    assert!((added / 0.524 - 1.0).abs() < 0.15 && next.abs() < 0.1 * blow, "{added} {blow} {next}");
}
