//! Hands that pull at solids: their forces, sessions that replay, pieces, checkpoints, bad input.

use glam::DVec3;
use meniscus_scene::{Command, Grab, Loaded, Move, Pick, Ray, Release};
use meniscus_sim::{Hand, Logged, World};

/// Two jellies side by side; tolerances that leave nothing to the solver.
const JELLIES: &str = r#"
[time]
dt = 0.004
[solid.left]
shape = { box = { min = [-0.3, 0, 0], max = [-0.1, 0.2, 0.2] } }
target_tets = 200
young = 2e4
fem = { tolerance = 1e-12 }
[solid.right]
shape = { box = { min = [0.1, 0, 0], max = [0.3, 0.2, 0.2] } }
target_tets = 200
young = 2e4
fem = { tolerance = 1e-12 }
"#;

fn load(text: &str) -> Loaded {
    Loaded::from_text("hands", "hands.toml", text, &[], &|_| Err(std::io::ErrorKind::NotFound.into()))
        .unwrap_or_else(|e| panic!("{e}"))
}

fn world(text: &str) -> World {
    World::new(&load(text)).unwrap()
}

fn steps(world: &mut World, count: usize) {
    (0..count).for_each(|_| world.step(f64::INFINITY).unwrap());
}

fn grab(hand: u32, body: Option<&str>, at: Pick) -> Command {
    Command::Grab(Grab {
        hand,
        body: body.map(str::to_owned),
        at,
        stiffness: Some(500.0),
        damping: Some(0.0),
        strength: None,
    })
}

fn move_to(hand: u32, target: [f64; 3]) -> Command {
    Command::Move(Move { hand, target, strength: None })
}

fn down(x: f64) -> Pick {
    Pick::Ray(Ray { origin: [x, 3.0, 0.1], direction: [0.0, -2.0, 0.0] })
}

#[test]
fn a_hand_pulls_with_the_force_of_its_spring_and_nothing_else_moves_the_body() {
    let mut world = world(JELLIES);
    world.apply(grab(3, None, down(-0.2))).unwrap();
    steps(&mut world, 1);
    let held = world.hands();
    assert_eq!((held.len(), held[0].hand, held[0].body.as_str()), (1, Some(3), "left"));
    assert!(held[0].target.distance(DVec3::new(-0.2, 0.2, 0.1)) < 1e-12, "{held:?}");
    let target = DVec3::new(-0.3, 0.6, 0.2);
    world.apply(move_to(3, target.to_array())).unwrap();
    let (mass, gravity) = (2.0 * 8.0, DVec3::new(0.0, -9.81, 0.0));
    for _ in 0..40 {
        let before = world.totals().momentum;
        steps(&mut world, 1);
        let Hand { point, force, target: end, .. } = world.hands()[0];
        assert_eq!(end, target);
        assert!((force + 500.0 * (point - target)).length() < 1e-12 * force.length());
        let gained = (world.totals().momentum - before) / 0.004;
        assert!((gained - mass * gravity - force).length() < 1e-6 * force.length(), "{gained} {force}");
    }
    world.apply(Command::Release(Release { hand: 3 })).unwrap();
    let before = world.totals().momentum;
    steps(&mut world, 1);
    assert!(world.hands().is_empty());
    let gained = (world.totals().momentum - before) / 0.004;
    assert!((gained - mass * gravity).length() < 1e-6, "{gained}");
}

#[test]
fn a_hand_takes_the_nearest_point_of_the_body_it_is_told() {
    let mut world = world(JELLIES);
    world.apply(grab(0, Some("right"), Pick::Point([-1.0, 0.1, 0.1]))).unwrap();
    world.apply(grab(1, None, Pick::Point([-1.0, 0.1, 0.1]))).unwrap();
    world.apply(grab(2, Some("right"), down(-0.2))).unwrap();
    world.apply(grab(3, None, down(0.0))).unwrap();
    steps(&mut world, 1);
    let held: Vec<(Option<u32>, String)> = world.hands().into_iter().map(|h| (h.hand, h.body)).collect();
    assert_eq!(held, [(Some(0), "right".to_owned()), (Some(1), "left".to_owned())], "rays that miss hold nothing");
    assert!(world.hands()[0].target.distance(DVec3::splat(0.1)) < 1e-12);
    // The same hand takes another body: the first is free.
    world.apply(grab(0, Some("left"), Pick::Point([-0.2, 9.0, 0.1]))).unwrap();
    steps(&mut world, 1);
    assert!(world.hands().iter().all(|hand| hand.body == "left"));
    let wires: Vec<_> = world.frame().wires.iter().flat_map(|wire| wire.segments.clone()).collect();
    assert_eq!(wires.len(), 2, "frames show who pulls where");
}

/// A session with two hands on a bar that breaks between them.
fn play(world: &mut World) {
    world.apply(grab(1, None, Pick::Point([-1.0, 0.05, 0.05]))).unwrap();
    world.apply(grab(2, None, Pick::Point([1.0, 0.05, 0.05]))).unwrap();
    for step in 0..60 {
        let pulled = 0.4 + 0.05 * f64::from(step);
        world.apply(move_to(1, [-pulled, 0.05, 0.05])).unwrap();
        world.apply(move_to(2, [pulled, 0.05, 0.05])).unwrap();
        steps(world, 1);
    }
}

const BAR: &str = r#"
gravity = [0, 0, 0]
[time]
dt = 0.005
[solid.bar]
shape = { box = { min = [-0.4, 0, 0], max = [0.4, 0.1, 0.1] } }
edge = 0.05
fracture = { strength = 3e4 }
"#;

#[test]
fn sessions_replay_bit_for_bit_also_when_they_break_the_body() {
    let mut live = world(BAR);
    play(&mut live);
    let log: Vec<Logged> = serde_json::from_str(&serde_json::to_string(live.log()).unwrap()).unwrap();
    let mut replayed = world(BAR);
    replayed.replay(log).unwrap();
    steps(&mut replayed, 60);
    assert_eq!(replayed.digest(), live.digest());
    assert_eq!(replayed.hands(), live.hands());

    let column = live.columns().iter().position(|name| name == "bar.pieces").unwrap();
    assert!(live.measure()[column] >= 2.0, "the bar is torn");
    let hands = live.hands();
    assert_eq!(hands.len(), 2, "each hand has its piece");
    let centers: Vec<f32> = hands.iter().map(|hand| hand.point.as_vec3().x).collect();
    assert!(centers[0] < -0.4 && centers[1] > 0.4, "{centers:?}");

    // Going on from a checkpoint, hands are still closed.
    let mut resumed = world(BAR);
    resumed.load(&live.save().unwrap()).unwrap();
    assert_eq!(resumed.hands(), hands);
    for world in [&mut live, &mut resumed] {
        world.apply(Command::Release(Release { hand: 1 })).unwrap();
        world.apply(move_to(2, [1.0, 1.0, 0.0])).unwrap();
        steps(world, 10);
        assert_eq!(world.hands().len(), 1);
    }
    assert_eq!(resumed.digest(), live.digest());
}

#[test]
fn pulls_of_the_scene_take_move_and_let_go_on_time() {
    let pull = r#"
[pull.hand]
body = "right"
at = { ray = { origin = [0.2, 9, 0.1], direction = [0, -1, 0] } }
from = 0.1
until = 0.9
motion = { keys = [{ time = 0 }, { time = 0.3, position = [0, 0.2, 0] }] }
[[solid.right.fixed]]
region = { box = { min = [0, -1, -1], max = [1, 0, 1] } }
"#;
    let text = format!("{JELLIES}{pull}");
    let read = |world: &World, column: &str| {
        let number = world.columns().iter().position(|name| name == column).unwrap_or_else(|| panic!("no {column}"));
        world.measure()[number]
    };
    let run = |mut world: World, until: f64| {
        while world.time() < until - 1e-9 {
            world.step(until).unwrap();
        }
        world
    };
    let waiting = run(world(&text), 0.1);
    assert!(
        waiting.hands().is_empty() && read(&waiting, "hand.fy [N]") == 0.0 && read(&waiting, "hand.x [m]").is_nan()
    );
    let holding = run(waiting, 0.8);
    let hand = &holding.hands()[0];
    assert_eq!((hand.hand, hand.pull.as_str()), (None, "hand"));
    assert!(hand.force.y > 10.0, "{hand:?}");
    assert_eq!(read(&holding, "hand.fy [N]"), hand.force.y);
    assert_eq!(read(&holding, "hand.y [m]"), hand.point.y);
    let mut resumed = world(&text);
    resumed.load(&holding.save().unwrap()).unwrap();
    let (free, again) = (run(holding, 1.0), run(resumed, 1.0));
    assert!(free.hands().is_empty());
    assert_eq!(free.digest(), again.digest());
}

#[test]
fn what_no_hand_can_do_is_refused() {
    let mut world = world(JELLIES);
    let refused = |world: &mut World, command: Command, word: &str| {
        let said = world.apply(command).unwrap_err();
        assert!(said.contains(word), "{said}");
    };
    refused(&mut world, grab(0, Some("middle"), down(0.0)), "left, right");
    refused(&mut world, grab(0, None, Pick::Point([f64::NAN, 0.0, 0.0])), "finite");
    refused(&mut world, grab(0, None, Pick::Ray(Ray { origin: [0.0; 3], direction: [0.0; 3] })), "direction");
    let soft = Grab { hand: 0, body: None, at: down(0.2), stiffness: Some(-1.0), damping: None, strength: None };
    refused(&mut world, Command::Grab(soft), "stiffness");
    refused(&mut world, move_to(0, [f64::INFINITY, 0.0, 0.0]), "finite");
    world.apply(move_to(5, [0.0; 3])).unwrap();
    world.apply(Command::Release(Release { hand: 5 })).unwrap();
    steps(&mut world, 1);
    let mut empty = self::world("[wall.floor]\nshape = { plane = { point = [0, 0, 0], normal = [0, 1, 0] } }\n");
    refused(&mut empty, grab(0, None, down(0.0)), "the scene has none");

    let scene = |pull: &str| {
        let text = format!("{JELLIES}[pull.p]\n{pull}\n");
        let read = |_: &str| Err(std::io::ErrorKind::NotFound.into());
        Loaded::from_text("hands", "hands.toml", &text, &[], &read).unwrap_err().to_string()
    };
    let lines = JELLIES.lines().count() + 2;
    let said = scene("body = \"middle\"\nat = { point = [0, 0, 0] }");
    assert!(said.contains(&format!("hands.toml:{lines}")) && said.contains("left, right"), "{said}");
    assert!(scene("at = { point = [0, 0, 0] }\nfrom = 2\nuntil = 1").contains("must come after from = 2"));
    assert!(scene("at = { point = [0, 0, 0] }\nfrom = -2").contains("negative"));
    assert!(scene("at = { point = [0, 0, 0] }\nstiffness = -2").contains("negative"));
    assert!(scene("at = { ray = { origin = [0, 0, 0], direction = [0, 0, 0] } }").contains("direction"));
    assert!(scene("motion = \"still\"").contains("at"));
}

/// Pulls of a scene and points that are followed are the same under every method of particles: a hand lifts a box by 20 cm.
#[test]
fn a_pull_of_the_scene_lifts_a_box_under_every_method_of_particles() {
    for method in ["gauss", "unified", "connections"] {
        let scene = format!(
            "method = \"{method}\"\nseconds = 2\nfps = 10\nresolution = 0.05\ntime = {{ max_dt = 0.004 }}\n\
             [rigid.box]\nshape = {{ box = {{ min = [0, 0, 0], max = [0.25, 0.25, 0.25] }} }}\n\
             [wall.floor]\nshape = {{ plane = {{ point = [0, 0, 0], normal = [0, 1, 0] }} }}\n\
             [pull.hand]\nat = {{ point = [0.125, 0.25, 0.125] }}\nbody = \"box\"\nstiffness = 8000\n\
             motion = {{ keys = [{{ time = 0, position = [0, 0, 0] }}, {{ time = 0.5, position = [0, 0.2, 0] }}] }}\n\
             [probe.top]\nsolid = {{ name = \"box\", point = [0.125, 0.25, 0.125] }}\n"
        );
        let mut world = world(&scene);
        (0..20).for_each(|_| world.advance_frame(|_| {}).unwrap());
        let (columns, values) = (world.columns(), world.measure());
        let read = |name: &str| values[columns.iter().position(|column| column == name).unwrap()];
        // The spring carries 153 N: it is 2 cm longer than nothing.
        let (rise, force) = (read("top.dy [m]"), read("hand.fy [N]"));
        assert!((rise - 0.1808).abs() < 0.002, "{method}: {rise}");
        assert!((force - 153.3).abs() < 1.5, "{method}: {force}");
    }
}
