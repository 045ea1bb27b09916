//! Worlds with rigid bodies: weight on soft ones, momentum, checkpoints, threads, hands, frames and probes, bad input.

use glam::DVec3;
use meniscus_core::BodyKind;
use meniscus_scene::{Command, Grab, Loaded, Move, Pick, SceneError};
use meniscus_sim::World;

fn try_load(text: &str) -> Result<Loaded, SceneError> {
    Loaded::from_text("rigid", "rigid.toml", text, &[], &|_| Err(std::io::ErrorKind::NotFound.into()))
}

fn world(text: &str) -> World {
    World::new(&try_load(text).unwrap_or_else(|e| panic!("{e}"))).unwrap()
}

fn steps(world: &mut World, count: usize) {
    (0..count).for_each(|_| world.step(f64::INFINITY).unwrap());
}

fn read(world: &World, column: &str) -> f64 {
    let number = world.columns().iter().position(|name| name == column).unwrap_or_else(|| panic!("no {column}"));
    world.measure()[number]
}

/// A jelly on the floor, a box, a ball and a ring that fall on it, a paddle that is led.
const HEAP: &str = r#"
[time]
dt = 0.004
[solid.jelly]
shape = { box = { min = [-0.15, 0, -0.15], max = [0.15, 0.15, 0.15] } }
target_tets = 400
young = 3e4
stiffness_damping = 0.005
[rigid.box]
shape = { box = { min = [-0.05, 0.16, -0.05], max = [0.05, 0.26, 0.05] } }
rotation = [0, 30, 10]
[rigid.ball]
shape = { sphere = { center = [0.135, 0.25, 0.02], radius = 0.05 } }
density = 300
restitution = 0.3
spin = [0, 0, 20]
[rigid.pool]
shape = { pool = { min = [-0.05, 0.4, -0.05], max = [0.05, 0.45, 0.05], thickness = 0.02 } }
edge = 0.03
[rigid.paddle]
shape = { cylinder = { start = [0.4, 0.05, -0.1], end = [0.4, 0.05, 0.1], radius = 0.04 } }
motion = { keys = [{ time = 0 }, { time = 0.4, position = [-0.3, 0, 0] }] }
[wall.floor]
shape = { plane = { point = [0, 0, 0], normal = [0, 1, 0] } }
[probe.corner]
solid = { name = "box", point = [0, 0.16, 0] }
[pull.hand]
body = "ball"
at = { point = [0.135, 9, 0.02] }
from = 0.2
until = 0.4
motion = { keys = [{ time = 0 }, { time = 0.2, position = [0, 0.1, 0] }] }
"#;

#[test]
fn same_bits_at_any_thread_count_and_after_a_resume() {
    let run = |threads: usize| {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(|| {
            let mut world = world(HEAP);
            steps(&mut world, 70);
            let saved = world.save().unwrap();
            steps(&mut world, 60);
            (saved, world.digest(), world.frame())
        })
    };
    let (saved, digest, frame) = run(1);
    let (_, on_two, _) = run(2);
    assert_eq!(digest, on_two);
    let mut resumed = world(HEAP);
    resumed.load(&saved).unwrap();
    steps(&mut resumed, 60);
    assert_eq!(resumed.digest(), digest);
    assert_eq!(resumed.frame(), frame);
    let mut other = world(&HEAP.replace("[rigid.ball]", "[rigid.bell]").replace("\"ball\"", "\"bell\""));
    other.load(&saved).unwrap();
    let fewer = HEAP.split("[rigid.paddle]").next().unwrap();
    assert!(world(fewer).load(&saved).is_err(), "other bodies");
}

#[test]
fn frames_probes_and_hands_know_rigid_bodies() {
    let mut world = world(HEAP);
    assert!(world.warnings().is_empty(), "{:?}", world.warnings());
    let frame = world.frame();
    let names: Vec<&str> = frame.bodies.iter().map(|body| body.name.as_str()).collect();
    assert_eq!(names, ["floor", "jelly", "box", "ball", "pool", "paddle"]);
    assert!(frame.bodies[2].kind == BodyKind::Solid && frame.surfaces.len() == 5);
    for surface in &frame.surfaces {
        assert!(surface.triangles.as_flattened().iter().all(|&v| (v as usize) < surface.positions.len()));
    }
    while world.time() < 0.35 {
        world.step(0.35).unwrap();
    }
    let hand = &world.hands()[0];
    assert!(hand.body == "ball" && read(&world, "hand.fy [N]") == hand.force.y);
    assert_eq!(world.frame().wires.len(), 1);
    assert!(read(&world, "corner.dy [m]") < 0.0, "the box has sunk in");
    assert!((read(&world, "paddle.x [m]") - 0.4) < -0.2, "the paddle was led");
    let lowest = world.frame().surfaces.iter().flat_map(|s| &s.positions).map(|p| p.y).fold(f32::INFINITY, f32::min);
    assert!(lowest > -0.01, "the floor holds: {lowest}");

    // A person throws the box away.
    let grab = Grab {
        hand: 1,
        body: Some("box".into()),
        at: Pick::Point([0.0, 1.0, 0.0]),
        stiffness: None,
        damping: None,
        strength: None,
    };
    world.apply(Command::Grab(grab)).unwrap();
    world.apply(Command::Move(Move { hand: 1, target: [-1.0, 1.0, 0.0], strength: None })).unwrap();
    let before = read(&world, "box.x [m]");
    steps(&mut world, 40);
    assert!(read(&world, "box.x [m]") < before - 0.02 && world.hands().iter().any(|hand| hand.hand == Some(1)));
}

/// A box rests on a jelly: the jelly carries its weight, the floor that of both.
#[test]
fn a_box_on_a_jelly_weighs_its_weight() {
    let text = r#"
[time]
dt = 0.005
[solid.jelly]
shape = { box = { min = [-0.15, 0, -0.15], max = [0.15, 0.15, 0.15] } }
target_tets = 300
young = 5e4
stiffness_damping = 0.02
[rigid.box]
shape = { box = { min = [-0.06, 0.151, -0.06], max = [0.06, 0.271, 0.06] } }
[wall.floor]
shape = { plane = { point = [0, 0, 0], normal = [0, 1, 0] } }
"#;
    let mut world = world(text);
    steps(&mut world, 400);
    let (mass, jelly) = (1000.0 * 0.12 * 0.12 * 0.12, 1000.0 * 0.3 * 0.3 * 0.15);
    assert!(read(&world, "box.kinetic energy [J]") < 1e-6, "it rests");
    let carried = read(&world, "box.fy [N]");
    assert!((carried / (mass * 9.81) - 1.0).abs() < 0.01, "{carried}");
    let on_floor = -read(&world, "floor.fy [N]");
    assert!((on_floor / ((mass + jelly) * 9.81) - 1.0).abs() < 0.01, "{on_floor}");
    let side = (read(&world, "box.fx [N]"), read(&world, "box.fz [N]"));
    assert!(side.0.abs() < 0.05 * carried && side.1.abs() < 0.05 * carried, "{side:?}");
    let sunk = 0.211 - read(&world, "box.y [m]");
    assert!((0.0..0.02).contains(&sunk), "{sunk}");
}

/// A jelly rests on a box that rests on the floor: rapier's contact and ours agree.
#[test]
fn a_jelly_on_a_box_on_the_floor_rests() {
    let text = r#"
[time]
dt = 0.005
[solid.jelly]
shape = { box = { min = [-0.1, 0.101, -0.1], max = [0.1, 0.201, 0.1] } }
target_tets = 200
young = 5e4
stiffness_damping = 0.02
[rigid.plate]
shape = { box = { min = [-0.15, 0.0, -0.15], max = [0.15, 0.1, 0.15] } }
density = 50
[wall.floor]
shape = { plane = { point = [0, 0, 0], normal = [0, 1, 0] } }
"#;
    let mut world = world(text);
    steps(&mut world, 300);
    assert!(world.totals().kinetic_energy < 1e-5, "{}", world.totals().kinetic_energy);
    let (plate, jelly) = (read(&world, "plate.y [m]"), read(&world, "jelly.y [m]"));
    assert!((plate - 0.05).abs() < 2e-3, "{plate}");
    assert!((jelly - 0.15).abs() < 0.01, "{jelly}");
    let weight = 9.81 * (50.0 * 0.3 * 0.1 * 0.3 + 1000.0 * 0.2 * 0.1 * 0.2);
    let on_floor = -read(&world, "floor.fy [N]");
    assert!((on_floor / weight - 1.0).abs() < 0.01, "the floor carries both: {on_floor} {weight}");
}

/// Bodies of all kinds collide in empty space: what one gains the others lose.
#[test]
fn soft_and_rigid_bodies_together_keep_their_momentum() {
    let text = r#"
gravity = [0, 0, 0]
[time]
dt = 0.002
[solid.jelly]
shape = { sphere = { center = [0, 0, 0], radius = 0.1 } }
target_tets = 300
young = 3e4
[rigid.heavy]
shape = { sphere = { center = [-0.3, 0.03, 0], radius = 0.08 } }
density = 3000
velocity = [3, 0, 0]
[rigid.light]
shape = { box = { min = [0.12, -0.05, -0.05], max = [0.22, 0.05, 0.05] } }
density = 20
"#;
    let mut world = world(text);
    let before = world.totals().momentum;
    steps(&mut world, 150);
    let after = world.totals().momentum;
    assert!((after - before).length() < 1e-12 * before.length(), "{after} {before}");
    let speed = |name: &str| read(&world, &format!("{name}.kinetic energy [J]"));
    assert!(speed("light") > 0.1 && speed("jelly") > 0.1, "all were hit");
    assert!(world.totals().kinetic_energy + world.totals().elastic_energy < 0.5 * before.x * 3.0 * 1.001);
    let center = DVec3::new(read(&world, "light.x [m]"), read(&world, "light.y [m]"), read(&world, "light.z [m]"));
    assert!(center.x > 0.3, "{center}");
}

#[test]
fn what_cannot_be_a_rigid_body_is_refused() {
    let refused = |text: &str, words: &[&str]| {
        let said = match try_load(text) {
            Err(error) => error.to_string(),
            Ok(loaded) => World::new(&loaded).err().unwrap_or_else(|| panic!("{text} is a world")).to_string(),
        };
        assert!(words.iter().all(|word| said.contains(word)), "{said}");
    };
    let ball = "shape = { sphere = { center = [0, 0, 0], radius = 1 } }\n";
    refused(&format!("[rigid.a]\n{ball}density = 0\n"), &["rigid.toml:3", "density"]);
    refused(&format!("[rigid.a]\n{ball}friction = -1\n"), &["rigid.toml:3", "friction"]);
    refused(&format!("[rigid.a]\n{ball}restitution = 2\n"), &["rigid.toml:3", "restitution"]);
    refused(&format!("[rigid.a]\n{ball}edge = 0\n"), &["rigid.toml:3", "edge"]);
    refused(&format!("[rigid.a]\n{ball}young = 1\n"), &["rigid.toml:3", "young"]);
    refused(&format!("[solid.a]\n{ball}[rigid.a]\n{ball}"), &["rigid.toml:3", "name of a solid"]);
    refused("[rigid.a]\nshape = { mesh = { file = \"no.obj\" } }\n", &["rigid.toml:2", "no.obj"]);
    refused(&format!("[rigid.a]\n{ball}edge = 1e-6\n"), &["`a`", "tetrahedra"]);
}
