//! What contact promises: forces from an energy, momentum, rest, friction, no passage, the same bits however it is run.

use glam::{DMat3, DQuat, DVec3};
use meniscus_core::StepReport;
use meniscus_core::Wrench;
use meniscus_fem::contact::{Ball, Contact, ContactParams, Cuboid, Distance, Inertia, Obstacle, Plane, Sample};
use meniscus_fem::{Body, Integrator, Material, Order, Params, Reaction, State};
use meniscus_geometry::{Aabb, TetMesh};

const GRAVITY: DVec3 = DVec3::new(0.0, -9.81, 0.0);

/// Numbers between −1 and 1 without pattern.
fn scatter(i: usize) -> DVec3 {
    let one = |k: usize| (((i * 3 + k) * 7919 + 104_729) % 2003) as f64 / 1001.0 - 1.0;
    DVec3::new(one(0), one(1), one(2))
}

fn block(name: &str, min: DVec3, size: DVec3, cells: [u32; 3], material: Material) -> Body {
    Body::new(name, &TetMesh::block(min, min + size, cells), Params::default(), material).unwrap()
}

fn soft(young: f64) -> Material {
    Material { young, ..Material::default() }
}

fn contact(params: ContactParams) -> Contact {
    Contact::new(params).unwrap()
}

fn step(contact: &mut Contact, bodies: &mut [Body], obstacles: &[&dyn Obstacle], dt: f64) -> StepReport {
    let mut report = StepReport::default();
    contact.step(bodies, obstacles, dt, GRAVITY, &mut report).unwrap();
    report
}

/// Two blocks and a ball that overlap, none of their faces parallel.
fn tangle() -> (Vec<Body>, Ball) {
    let mut bodies = vec![
        block("a", DVec3::ZERO, DVec3::splat(0.3), [3, 3, 3], soft(1e5)),
        block("b", DVec3::new(0.05, 0.28, 0.04), DVec3::splat(0.25), [2, 2, 2], soft(3e5)),
    ];
    let turn = DMat3::from_quat(DQuat::from_scaled_axis(DVec3::new(0.1, 0.2, -0.15)));
    for (k, body) in bodies.iter_mut().enumerate() {
        let position = body.motion_mut().0;
        for (i, x) in position.iter_mut().enumerate() {
            *x = if k == 1 { turn * *x } else { *x } + scatter(i) * 0.004;
        }
    }
    let ball = Ball { center: DVec3::new(-0.1, 0.15, 0.15), radius: 0.12, velocity: DVec3::ZERO, spin: DVec3::ZERO };
    (bodies, ball)
}

#[test]
fn forces_are_minus_the_slope_of_energy() {
    let (mut bodies, ball) = tangle();
    let mut contact = contact(ContactParams::default());
    let forces = contact.forces(&bodies, &[&ball]);
    let size = forces.iter().flatten().map(|f| f.length()).fold(0.0, f64::max);
    assert!(size > 1.0, "they overlap");
    for body in 0..2 {
        for (node, on_node) in forces[body].iter().enumerate() {
            for axis in [DVec3::X, DVec3::Y, DVec3::Z] {
                let mut energy = |e: f64| {
                    bodies[body].motion_mut().0[node] += e * axis;
                    let energy = contact.energy(&bodies, &[&ball]);
                    bodies[body].motion_mut().0[node] -= e * axis;
                    energy
                };
                let e = 1e-7;
                let slope = (energy(e) - energy(-e)) / (2.0 * e);
                let force = on_node.dot(axis);
                assert!((slope + force).abs() < 1e-5 * size, "body {body} node {node}: {slope} {force}");
            }
        }
    }
}

#[test]
fn bodies_push_each_other_without_net_force_or_torque() {
    let (bodies, _) = tangle();
    let forces = contact(ContactParams::default()).forces(&bodies, &[]);
    let size: f64 = forces.iter().flatten().map(|f| f.length()).sum();
    let sum: DVec3 = forces.iter().flatten().sum();
    let positions = bodies.iter().flat_map(Body::positions);
    let torque = positions.zip(forces.iter().flatten()).fold(DVec3::ZERO, |sum, (x, f)| sum + x.cross(*f));
    assert!(size > 1.0 && sum.length() < 1e-14 * size && torque.length() < 1e-14 * size, "{sum} {torque} {size}");
}

#[test]
fn a_collision_keeps_momentum_and_gains_no_energy() {
    for integrator in [Integrator::ImplicitEuler, Integrator::ImplicitMidpoint] {
        let params = Params { integrator, ..Params::default() };
        let mesh = |x: f64, n: u32| {
            let min = DVec3::new(x, 0.03 * x, -0.02 * x);
            TetMesh::block(min, min + DVec3::splat(0.2), [n, n, n])
        };
        let mut bodies = vec![
            Body::new("left", &mesh(0.0, 3), params, soft(1e5)).unwrap(),
            Body::new("right", &mesh(0.25, 2), params, soft(4e5)).unwrap(),
        ];
        for (body, v) in bodies.iter_mut().zip([DVec3::new(2.0, 0.5, 0.0), DVec3::new(-1.0, 0.0, 0.2)]) {
            body.motion_mut().1.fill(v);
        }
        let sum = |bodies: &[Body]| bodies.iter().map(Body::momentum).sum::<DVec3>();
        let turn = |bodies: &[Body]| bodies.iter().map(Body::angular_momentum).sum::<DVec3>();
        let energy = |bodies: &[Body]| bodies.iter().map(|b| b.kinetic_energy() + b.elastic_energy()).sum::<f64>();
        let (p, l, e) = (sum(&bodies), turn(&bodies), energy(&bodies));
        let mut contact = contact(ContactParams::default());
        let mut touched = 0.0;
        for _ in 0..150 {
            let mut report = StepReport::default();
            contact.step(&mut bodies, &[], 0.002, DVec3::ZERO, &mut report).unwrap();
            touched += report.counter("contacts").unwrap();
            let overlaps = contact.energy(&bodies, &[]);
            assert!(
                energy(&bodies) + overlaps <= e * (1.0 + 1e-12),
                "{integrator:?} {} {e}",
                energy(&bodies) + overlaps
            );
        }
        assert!(touched > 20.0, "{touched}");
        assert!(bodies[1].momentum().x > 0.0, "the right one was hit");
        assert!((sum(&bodies) - p).length() < 1e-13 * p.length(), "{integrator:?} {}", (sum(&bodies) - p).length());
        let drift = (turn(&bodies) - l).length() / l.length();
        assert!(drift < 0.02, "{integrator:?}: angular momentum drifts by {drift}");
    }
}

#[test]
fn a_stack_comes_to_rest_and_the_floor_carries_its_weight() {
    for order in [Order::Linear, Order::Quadratic] {
        let stiffness = [5e5, 5e4, 2e5];
        let mut bodies: Vec<Body> = stiffness
            .into_iter()
            .enumerate()
            .map(|(k, young)| {
                let min = DVec3::new(0.005 * k as f64, 0.202 * k as f64, 0.0);
                let material = Material { stiffness_damping: 0.01, ..soft(young) };
                let n = if order == Order::Linear { 3 } else { 1 };
                let mesh = TetMesh::block(min, min + DVec3::splat(0.2), [n, n, n]);
                Body::new(&format!("{k}"), &mesh, Params { order, ..Params::default() }, material).unwrap()
            })
            .collect();
        let floor = Plane::floor(0.0);
        let mut contact = contact(ContactParams { friction: 0.5, ..ContactParams::default() });
        let mut most: f64 = 0.0;
        for _ in 0..180 {
            most = most.max(step(&mut contact, &mut bodies, &[&floor], 1.0 / 60.0).counter("cg iterations").unwrap());
        }
        let weight: DVec3 = bodies.iter().map(|body| body.mass() * GRAVITY).sum();
        let felt = contact.obstacle_forces()[0].force;
        assert!((felt - weight).length() < 0.01 * weight.length(), "{order:?}: {felt} {weight}");
        for body in &bodies {
            let speed = body.velocities().iter().map(|v| v.length()).fold(0.0, f64::max);
            assert!(speed < 0.02, "{order:?} {}: {speed} m/s", body.name());
        }
        let lowest = bodies[0].positions().iter().map(|p| p.y).fold(f64::INFINITY, f64::min);
        assert!(lowest < 0.0 && lowest > -0.003, "{order:?} {lowest}");
        assert!(bodies[2].center().y > 0.45, "{}", bodies[2].center());
        assert!(most < 400.0, "{order:?}: {most} iterations of conjugate gradients in one step");
    }
}

/// Energy of motion, elasticity, height and overlaps \[J\].
fn whole_energy(contact: &mut Contact, bodies: &[Body], obstacles: &[&dyn Obstacle]) -> f64 {
    let own = |b: &Body| b.kinetic_energy() + b.elastic_energy() + b.gravitational_energy(GRAVITY);
    bodies.iter().map(own).sum::<f64>() + contact.energy(bodies, obstacles)
}

/// A plate that just fits between a floor and a lid, at rest or pressed together, by every integrator: its energy is never above what it
/// had and the work of the lid.
#[test]
fn a_plate_between_walls_holds_no_more_energy_than_it_was_given() {
    for integrator in [Integrator::ImplicitEuler, Integrator::ImplicitMidpoint] {
        for speed in [0.0, 0.1] {
            let params = Params { integrator, ..Params::default() };
            let mesh = TetMesh::block(DVec3::ZERO, DVec3::new(0.4, 0.1, 0.4), [4, 1, 4]);
            let mut bodies = [Body::new("plate", &mesh, params, soft(1e6)).unwrap()];
            let (floor, down) = (Plane::floor(0.0), DVec3::new(0.0, -speed, 0.0));
            let mut lid = Plane { point: DVec3::new(0.0, 0.1, 0.0), normal: -DVec3::Y, velocity: down };
            let mut contact = contact(ContactParams::default());
            let start = whole_energy(&mut contact, &bodies, &[&floor, &lid]);
            let (dt, mut work) = (0.002, 0.0);
            for _ in 0..100 {
                step(&mut contact, &mut bodies, &[&floor, &lid], dt);
                work -= dt * contact.obstacle_forces()[1].force.dot(lid.velocity);
                lid.point += dt * lid.velocity;
                let now = whole_energy(&mut contact, &bodies, &[&floor, &lid]);
                assert!(now <= (start + work) * (1.0 + 1e-12), "{integrator:?} {speed}: {now} of {start} + {work}");
            }
            // 2 cm of 10: E A (0.2)²/2 h is about 32 J.
            assert!(if speed > 0.0 { work > 20.0 } else { work == 0.0 }, "{integrator:?}: {work}");
        }
    }
}

/// Blocks as wide as each other: the overlap of their faces is the weight above over κ ΣA, with the areas of the face's nodes.
#[test]
fn cubes_in_a_stack_overlap_as_much_as_they_should() {
    let material = Material { stiffness_damping: 0.01, ..soft(1e5) };
    let cube = |k: usize| block(&format!("{k}"), DVec3::Y * (0.2 * k as f64), DVec3::splat(0.2), [4, 4, 4], material);
    let mut bodies: Vec<Body> = (0..3).map(cube).collect();
    let (floor, mut contact) = (Plane::floor(0.0), contact(ContactParams::default()));
    for _ in 0..150 {
        step(&mut contact, &mut bodies, &[&floor], 0.01);
    }
    // Edges of the surface: two sides and a diagonal of every triangle.
    let edge = 0.05 * (2.0 + 2f64.sqrt()) / 3.0;
    // The face, and half of the row of cells around it.
    let area = 0.2 * 0.2 + 0.5 * 4.0 * 0.2 * 0.05;
    for k in 0..2 {
        let height = |body: &Body, level: f64| {
            let on = |(_, rest): &(&DVec3, &DVec3)| (rest.y - level).abs() < 1e-9;
            let positions: Vec<f64> =
                body.positions().iter().zip(body.rest_positions()).filter(on).map(|(x, _)| x.y).collect();
            positions.iter().sum::<f64>() / positions.len() as f64
        };
        let level = 0.2 * (k + 1) as f64;
        let overlap = height(&bodies[k], level) - height(&bodies[k + 1], level);
        let weight: f64 = bodies[k + 1..].iter().map(|body| 9.81 * body.mass()).sum();
        let expected = weight / (10.0 * 1e5 / edge * area);
        assert!((overlap / expected - 1.0).abs() < 0.1, "{k}: {overlap} {expected}");
    }
}

#[test]
fn friction_holds_below_its_angle_and_slows_above() {
    let slide = |slope: f64| {
        let normal = DVec3::new(-slope, 1.0, 0.0).normalize();
        let down = DVec3::new(-normal.y, normal.x, 0.0);
        let plane = Plane { point: DVec3::ZERO, normal, velocity: DVec3::ZERO };
        // A plane that rises along x: the block lies on it.
        let mut body = block("block", DVec3::ZERO, DVec3::new(0.2, 0.1, 0.2), [2, 1, 2], soft(1e6));
        let turn = DMat3::from_cols(-down, normal, DVec3::Z);
        body.motion_mut().0.iter_mut().for_each(|x| *x = turn * *x);
        let mut bodies = [body];
        let mut contact = contact(ContactParams { friction: 0.4, ..ContactParams::default() });
        let center = bodies[0].center();
        for _ in 0..200 {
            step(&mut contact, &mut bodies, &[&plane], 0.005);
        }
        ((bodies[0].center() - center).dot(down), normal)
    };
    let (held, _) = slide(0.3);
    assert!(held.abs() < 0.005, "{held}");
    let (slid, normal) = slide(0.8);
    // a = g (sin − μ cos) for one second.
    let expected = 0.5 * 9.81 * (-normal.x - 0.4 * normal.y);
    assert!((slid / expected - 1.0).abs() < 0.05, "{slid} {expected}");
}

#[test]
fn nothing_passes_at_speed() {
    for dt in [1.0 / 60.0, 1.0 / 500.0] {
        let mut bodies = [block("shot", DVec3::new(0.0, 0.5, 0.0), DVec3::splat(0.2), [4, 4, 4], soft(2e6))];
        bodies[0].motion_mut().1.fill(DVec3::new(3.0, -20.0, 0.0));
        let (floor, post) = (
            Plane::floor(0.0),
            Cuboid { bounds: Aabb::new(DVec3::new(0.3, 0.0, -1.0), DVec3::new(0.4, 0.3, 1.0)), velocity: DVec3::ZERO },
        );
        let mut contact = contact(ContactParams::default());
        for _ in 0..(0.5 / dt) as u32 {
            step(&mut contact, &mut bodies, &[&floor, &post], dt);
            let lowest = bodies[0].positions().iter().map(|p| p.y).fold(f64::INFINITY, f64::min);
            // Inner nodes are not held back themselves; an edge is 5 cm.
            assert!(lowest > -0.05, "{dt}: {lowest}");
        }
        assert!(bodies[0].center().y > 0.05 && bodies[0].volume() > 0.0);
    }
}

/// A block with a slot from above: two arms on a base.
fn fork() -> TetMesh {
    let whole = TetMesh::block(DVec3::ZERO, DVec3::new(0.5, 0.8, 0.1), [10, 16, 2]);
    let in_slot = |tet: &[u32; 4]| {
        let middle = tet.iter().map(|&v| whole.vertices()[v as usize]).sum::<DVec3>() / 4.0;
        middle.y > 0.15 && middle.x > 0.15 && middle.x < 0.35
    };
    let tets: Vec<[u32; 4]> = whole.tets().iter().filter(|tet| !in_slot(tet)).copied().collect();
    let mut number = vec![u32::MAX; whole.vertices().len()];
    let mut vertices = Vec::new();
    for &v in tets.as_flattened() {
        if number[v as usize] == u32::MAX {
            number[v as usize] = vertices.len() as u32;
            vertices.push(whole.vertices()[v as usize]);
        }
    }
    TetMesh::new(vertices, tets.iter().map(|tet| tet.map(|v| number[v as usize])).collect()).unwrap()
}

/// The fork with its arms pressed together.
fn pressed_fork() -> Body {
    let mut body = Body::new("fork", &fork(), Params::default(), soft(1e5)).unwrap();
    body.fix(|p| p.y < 1e-9);
    let rest = body.rest_positions().to_vec();
    let tip = |p: DVec3| p.y > 0.8 - 1e-9;
    let nodes = rest.iter().filter(|p| tip(**p)).count() as f64;
    for (force, p) in body.external_force_mut().iter_mut().zip(&rest) {
        if tip(*p) {
            *force = DVec3::new(if p.x < 0.25 { 40.0 } else { -40.0 }, 0.0, 0.0) / nodes;
        }
    }
    body
}

/// The smallest distance between the inner sides of the arms along x: negative when they have passed through each other.
fn between_the_arms(self_contact: bool) -> f64 {
    let mut bodies = [pressed_fork()];
    let rest = bodies[0].rest_positions().to_vec();
    let mut contact = contact(ContactParams { self_contact, ..ContactParams::default() });
    for _ in 0..120 {
        step(&mut contact, &mut bodies, &[], 1.0 / 60.0);
    }
    let reach = |left: bool| {
        let side = if left { 0.15 } else { 0.35 };
        // Not the tips themselves: their rims pass beside each other.
        let inner = |p: &DVec3| (p.x - side).abs() < 1e-9 && (p.y - 0.75).abs() < 1e-9;
        let positions = bodies[0].positions().iter().zip(&rest).filter(|(_, p)| inner(p)).map(|(x, _)| x.x);
        positions.sum::<f64>() / rest.iter().filter(|p| inner(p)).count() as f64
    };
    reach(false) - reach(true)
}

/// The arms close, touch and swing back when the load is gone.
#[test]
fn a_body_that_looks_for_itself_only_when_it_must_finds_the_same() {
    let move_fork = |forgetful: bool| {
        let mut bodies = [pressed_fork()];
        let mut memory = contact(ContactParams::default());
        let mut touched = Vec::new();
        for k in 0..120 {
            if forgetful {
                memory = contact(ContactParams::default());
            }
            if k == 60 {
                bodies[0].external_force_mut().fill(DVec3::ZERO);
            }
            let report = step(&mut memory, &mut bodies, &[], 1.0 / 60.0);
            touched.push(report.counter("contacts").unwrap_or(0.0));
        }
        let [body] = bodies;
        (body.positions().to_vec(), touched)
    };
    let (seldom, often) = (move_fork(false), move_fork(true));
    assert_eq!(seldom, often);
    assert!(seldom.1.iter().any(|count| *count > 0.0) && seldom.1.contains(&0.0), "{:?}", seldom.1);
}

#[test]
fn a_body_does_not_pass_through_itself() {
    let (through, apart) = (between_the_arms(false), between_the_arms(true));
    assert!(through < -0.05, "the load closes the slot: {through}");
    assert!(apart > -0.006, "the arms stop each other: {apart}");
}

#[test]
fn bodies_that_are_only_near_are_left_alone() {
    // A thin plate and a cube whose neighbours' faces coincide.
    let mut bodies = vec![
        block("plate", DVec3::ZERO, DVec3::new(1.0, 0.02, 1.0), [8, 1, 8], soft(1e5)),
        block("cube", DVec3::new(0.0, 0.02, 0.0), DVec3::splat(0.25), [2, 2, 2], soft(1e5)),
    ];
    let before = [bodies[0].state().clone(), bodies[1].state().clone()];
    let mut contact = contact(ContactParams::default());
    let mut report = StepReport::default();
    contact.step(&mut bodies, &[], 0.01, DVec3::ZERO, &mut report).unwrap();
    for (body, before) in bodies.iter().zip(&before) {
        let moved =
            body.positions().iter().zip(&before.motion.position).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
        assert!(moved < 1e-15, "{}: {moved}", body.name());
    }
}

fn heap() -> Vec<Body> {
    let position = |k: usize| DVec3::new(0.05 * k as f64, 0.05 + 0.22 * k as f64, 0.03 * (k % 2) as f64);
    (0..3)
        .map(|k| block(&format!("{k}"), position(k), DVec3::splat(0.2), [3, 3, 3], soft([2e5, 5e4, 1e5][k])))
        .collect()
}

fn fall(bodies: &mut [Body], steps: usize) {
    let mut contact = contact(ContactParams::default());
    for _ in 0..steps {
        step(&mut contact, bodies, &[&Plane::floor(0.0)], 1.0 / 60.0);
    }
}

#[test]
fn same_bits_at_any_thread_count_and_after_a_resume() {
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut bodies = heap();
            fall(&mut bodies, 40);
            bodies.iter().map(|body| body.state().clone()).collect::<Vec<State>>()
        })
    };
    let one = run(1);
    assert_eq!(one, run(2));
    let mut bodies = heap();
    fall(&mut bodies, 20);
    let saved: Vec<Vec<u8>> = bodies.iter().map(|body| postcard::to_stdvec(body.state()).unwrap()).collect();
    let mut resumed = heap();
    for (body, bytes) in resumed.iter_mut().zip(&saved) {
        body.restore(postcard::from_bytes(bytes).unwrap()).unwrap();
    }
    fall(&mut resumed, 20);
    assert!(resumed.iter().zip(&one).all(|(body, state)| body.state() == state));
}

#[test]
fn reactions_hold_a_body_as_a_floor_would_and_say_with_what_force() {
    let mut body = block("held", DVec3::ZERO, DVec3::splat(0.2), [2, 2, 2], soft(1e6));
    let stiffness = 1e6;
    let damping = 1e3;
    let weight = body.mass() * GRAVITY;
    let mut held = DVec3::ZERO;
    for _ in 0..100 {
        body.clear_forces();
        for node in 0..body.positions().len() {
            let overlap = -body.positions()[node].y;
            if body.rest_positions()[node].y < 1e-9 {
                body.add_reaction(Reaction {
                    node: node as u32,
                    force: DVec3::Y * stiffness * overlap,
                    stiffness: DMat3::from_diagonal(DVec3::Y * stiffness),
                    damping: DMat3::from_diagonal(DVec3::splat(damping)),
                });
            }
        }
        let before = body.momentum();
        body.step(0.02, GRAVITY, &mut StepReport::default()).unwrap();
        held = body.reaction_forces().sum();
        let change = body.momentum() - before;
        assert!((change - 0.02 * (held + weight)).length() < 1e-4 * 0.02 * weight.length(), "{change} {held}");
    }
    assert!((held + weight).length() < 1e-3 * weight.length(), "{held}");
    assert!(body.velocities().iter().all(|v| v.length() < 1e-6));
}

#[test]
fn parameters_out_of_range_are_named() {
    let bad = ContactParams { friction: -1.0, ..ContactParams::default() };
    assert_eq!(Contact::new(bad).err().unwrap().key, "contact.friction");
    assert_eq!(Contact::new(ContactParams { passes: 0, ..bad }).err().unwrap().key, "contact.friction");
}

/// A rigid ball that answers, moved by hand as a rigid body solver would.
struct Free {
    ball: Ball,
    samples: Vec<Sample>,
    mass: f64,
}

impl Free {
    fn new(center: DVec3, radius: f64, mass: f64, velocity: DVec3) -> Self {
        let mut free = Self { ball: Ball { center, radius, velocity, spin: DVec3::ZERO }, samples: Vec::new(), mass };
        free.follow();
        free
    }

    fn moment(&self) -> f64 {
        0.4 * self.mass * self.ball.radius * self.ball.radius
    }

    fn follow(&mut self) {
        let surface = meniscus_geometry::solids::icosphere(self.ball.center, self.ball.radius, 2);
        let count = surface.vertices().len() as f64;
        let area = 4.0 * std::f64::consts::PI * self.ball.radius * self.ball.radius / count;
        self.samples = surface.vertices().iter().map(|&position| Sample { position, area }).collect();
    }

    /// A step in which gravity is expected already.
    fn advance(&mut self, felt: Wrench, dt: f64) {
        self.ball.velocity += dt / self.mass * felt.force;
        self.ball.spin += dt / self.moment() * (felt.torque - self.ball.center.cross(felt.force));
        self.ball.center += dt * self.ball.velocity;
        self.follow();
    }
}

impl Distance for Free {
    fn distance(&self, point: DVec3) -> (f64, DVec3) {
        self.ball.distance(point)
    }

    fn velocity(&self, point: DVec3) -> DVec3 {
        self.ball.velocity(point)
    }
}

impl Obstacle for Free {
    fn samples(&self) -> &[Sample] {
        &self.samples
    }

    fn inertia(&self) -> Option<Inertia> {
        let inertia = DMat3::from_diagonal(DVec3::splat(self.moment()));
        Some(Inertia { mass: self.mass, center: self.ball.center, inertia, force: DVec3::ZERO, torque: DVec3::ZERO })
    }
}

/// Energy that a rigid body and a soft one may gain, over what they had: the surface of the body is met by points that turn with it.
const MAX_GROWTH: f64 = 1e-6;

/// A ball of any mass flies into a jelly of any stiffness: linear and angular momentum stay, nothing explodes.
#[test]
fn rigid_bodies_that_answer_exchange_momentum_with_soft_ones() {
    let all = [(5.0, 2e4), (0.01, 2e4), (0.01, 1e7), (500.0, 1e7)];
    let integrators = [Integrator::ImplicitEuler, Integrator::ImplicitMidpoint];
    for (integrator, (mass, young)) in integrators.into_iter().flat_map(|i| all.map(|values| (i, values))) {
        let mesh = TetMesh::block(DVec3::ZERO, DVec3::splat(0.3), [4, 4, 4]);
        let params = Params { integrator, ..Params::default() };
        let mut bodies = [Body::new("jelly", &mesh, params, soft(young)).unwrap()];
        let mut contact = contact(ContactParams::default());
        let mut ball = Free::new(DVec3::new(0.2, 0.42, 0.13), 0.1, mass, DVec3::new(0.3, -2.0, 0.0));
        let momentum = |body: &Body, ball: &Free| body.momentum() + ball.mass * ball.ball.velocity;
        let spin = |body: &Body, ball: &Free| {
            let own = ball.ball.center.cross(ball.mass * ball.ball.velocity) + ball.moment() * ball.ball.spin;
            body.angular_momentum() + own
        };
        let energy = |body: &Body, ball: &Free| {
            let own = ball.mass * ball.ball.velocity.length_squared() + ball.moment() * ball.ball.spin.length_squared();
            body.kinetic_energy() + body.elastic_energy() + 0.5 * own
        };
        let (p, l, e) = (momentum(&bodies[0], &ball), spin(&bodies[0], &ball), energy(&bodies[0], &ball));
        let dt = 0.002;
        let mut touched = false;
        for _ in 0..100 {
            let obstacles: [&dyn Obstacle; 1] = [&ball];
            contact.step(&mut bodies, &obstacles, dt, DVec3::ZERO, &mut StepReport::default()).unwrap();
            let felt = contact.obstacle_forces()[0];
            touched |= felt.force != DVec3::ZERO;
            ball.advance(felt, dt);
            let drift = momentum(&bodies[0], &ball).distance(p) / p.length();
            assert!(drift < 1e-12, "{mass} {young}: {drift}");
            let now = energy(&bodies[0], &ball) + contact.energy(&bodies, &[&ball]);
            assert!(now <= e * (1.0 + MAX_GROWTH), "{integrator:?} {mass} {young}: {now} {e}");
        }
        assert!(touched);
        let turn = spin(&bodies[0], &ball).distance(l) / l.length();
        assert!(turn < 0.05, "{mass} {young}: {turn}");
        let inside = bodies[0].nearest_point(ball.ball.center).unwrap().distance;
        assert!(mass > 100.0 || inside > 0.05, "{mass} {young}: it does not sink in: {inside}");
    }
}

/// The largest relative error of an edge of a body's tetrahedra.
fn deformation(body: &Body) -> f64 {
    let mesh = &body.state().mesh;
    let mut worst = 0.0f64;
    for element in 0..mesh.element_count() {
        let nodes = mesh.element(element);
        for (k, &a) in nodes.iter().enumerate() {
            for &b in &nodes[..k] {
                let length = |positions: &[DVec3]| positions[a as usize].distance(positions[b as usize]);
                worst = worst.max((length(body.positions()) / length(body.rest_positions()) - 1.0).abs());
            }
        }
    }
    worst
}

/// Very soft bodies that were thrown at the floor until they were inside out, or scrambled, do not lock in contact with
/// themselves: left in peace they recover their shapes.
#[test]
fn a_body_that_went_through_itself_comes_apart_again() {
    let material = Material { mass_damping: 2.0, ..soft(2e3) };
    let cube = || block("cube", DVec3::new(0.0, 0.01, 0.0), DVec3::splat(0.2), [6, 6, 6], material);
    let mut thrown = cube();
    thrown.motion_mut().1.fill(DVec3::new(0.0, -20.0, 0.0));
    let mut at_floor = contact(ContactParams::default());
    for _ in 0..40 {
        let bodies = std::slice::from_mut(&mut thrown);
        at_floor.step(bodies, &[&Plane::floor(0.0)], 0.002, DVec3::ZERO, &mut StepReport::default()).unwrap();
    }
    let mut scrambled = cube();
    scrambled.motion_mut().0.iter_mut().enumerate().for_each(|(i, x)| *x = 0.1 * scatter(i));
    for (name, mut body) in [("thrown", thrown), ("scrambled", scrambled)] {
        assert!(deformation(&body) > 1.0, "{name}: {}", deformation(&body));
        let mut contact = contact(ContactParams::default());
        for _ in 0..300 {
            let bodies = std::slice::from_mut(&mut body);
            contact.step(bodies, &[], 0.01, DVec3::ZERO, &mut StepReport::default()).unwrap();
        }
        assert!(deformation(&body) < 0.02, "{name}: {}", deformation(&body));
    }
}
