//! Worlds of the method `unified`: the same bits however they are run, checkpoints, other methods, wrong scenes.

use meniscus_scene::{Command, Grab, Loaded, Move, Poke, Release};
use meniscus_sim::World;
use std::io::ErrorKind;

/// A light and a heavy soft box fall into a little water.
const SCENE: &str = r#"
method = "unified"
fps = 50
[sph]
spacing = 0.04
[liquid.water]
fill = [{ box = { min = [-0.2, 0, -0.2], max = [0.2, 0.16, 0.2] } }]
[wall.tank]
shape = { box = { min = [-0.2, 0, -0.2], max = [0.2, 0.8, 0.2], open = ["+y"] } }
[solid.light]
shape = { box = { min = [-0.16, 0.18, -0.12], max = [0, 0.3, 0] } }
rotation = [10, 20, 30]
young = 3e4
density = 200
[solid.heavy]
shape = { sphere = { center = [0.08, 0.3, 0.05], radius = 0.07 } }
young = 1e5
density = 3000
"#;

fn load(text: &str, overrides: &[&str]) -> Loaded {
    let overrides: Vec<String> = overrides.iter().map(|s| (*s).to_owned()).collect();
    Loaded::from_text("unified", "unified.toml", text, &overrides, &|_| Err(ErrorKind::NotFound.into())).unwrap()
}

fn frames(world: &mut World, count: usize) {
    (0..count).for_each(|_| world.advance_frame(|_| ()).unwrap());
}

fn digest_after(threads: usize, overrides: &[&str], count: usize) -> String {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(|| {
        let mut world = World::new(&load(SCENE, overrides)).unwrap();
        frames(&mut world, count);
        world.digest()
    })
}

#[test]
fn the_same_bits_on_one_thread_and_on_three() {
    assert_eq!(digest_after(1, &[], 8), digest_after(3, &[], 8));
    let papers = ["sph.pressure=\"state-equation\""];
    assert_eq!(digest_after(1, &papers, 2), digest_after(3, &papers, 2));
}

/// A drop beside a yielding box on a floor, and oil around a part of it.
const TENSE: &str = r#"
method = "unified"
fps = 50
[sph]
spacing = 0.001
[liquid.water]
surface_tension = 0.07
contact_angle = 110
fill = [{ sphere = { center = [0, 0.004, 0], radius = 0.0055 } }]
[liquid.oil]
density = 900
surface_tension = 0.03
fill = [{ box = { min = [0.006, 0, -0.004], max = [0.012, 0.006, 0.004] } }]
[wall.floor]
shape = { plane = { point = [0, 0, 0], normal = [0, 1, 0] } }
[solid.clay]
shape = { box = { min = [-0.012, 0, -0.004], max = [-0.006, 0.006, 0.004] } }
young = 3e3
plasticity = { yield_strain = 0.001, creep = 100 }
"#;

#[test]
fn surfaces_pull_and_solids_yield_with_the_same_bits_and_from_checkpoints() {
    let run = |threads: usize, overrides: &[&str]| {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(|| {
            let mut world = World::new(&load(TENSE, overrides)).unwrap();
            frames(&mut world, 1);
            let saved = world.save().unwrap();
            frames(&mut world, 1);
            let mut resumed = World::new(&load(TENSE, overrides)).unwrap();
            resumed.load(&saved).unwrap();
            frames(&mut resumed, 1);
            assert_eq!(world.digest(), resumed.digest());
            world.digest()
        })
    };
    let plain = run(1, &[]);
    assert_eq!(plain, run(3, &[]));
    assert_ne!(plain, run(2, &["sph.tension=\"paper\""]));
    assert_ne!(plain, run(2, &["liquid.water.contact_angle=60"]));
    assert_ne!(plain, run(2, &["solid.clay.plasticity.creep=0"]));
}

#[test]
fn tension_and_angle_change_while_it_runs() {
    let set = |key: &str, value| {
        Command::Set(meniscus_scene::Set { key: key.into(), value: meniscus_scene::Value::Number(value) })
    };
    let run = |commands: &[(&str, f64)]| {
        let mut world = World::new(&load(TENSE, &[])).unwrap();
        assert!(world.apply(set("liquid.water.contact_angle", 181.0)).is_err());
        assert!(world.apply(set("liquid.water.surface_tension", -1.0)).is_err());
        commands.iter().for_each(|&(key, value)| world.apply(set(key, value)).unwrap());
        frames(&mut world, 1);
        world.digest()
    };
    let plain = run(&[]);
    assert_ne!(plain, run(&[("liquid.water.surface_tension", 0.05)]));
    assert_ne!(plain, run(&[("liquid.water.contact_angle", 60.0)]));
}

#[test]
fn a_checkpoint_goes_on_as_if_nothing_had_been() {
    let mut whole = World::new(&load(SCENE, &[])).unwrap();
    frames(&mut whole, 5);
    let saved = whole.save().unwrap();
    frames(&mut whole, 5);
    let mut resumed = World::new(&load(SCENE, &[])).unwrap();
    resumed.load(&saved).unwrap();
    frames(&mut resumed, 5);
    assert_eq!(whole.digest(), resumed.digest());
    let mut other = World::new(&load(SCENE, &["sph.spacing=0.05"])).unwrap();
    assert!(other.load(&saved).is_err(), "a checkpoint of other bodies");
}

#[test]
fn the_light_one_floats_and_the_heavy_one_sinks() {
    let mut world = World::new(&load(SCENE, &[])).unwrap();
    frames(&mut world, 60);
    let (columns, values) = (world.columns(), world.measure());
    let value = |name: &str| values[columns.iter().position(|c| c == name).unwrap()];
    assert!(value("light.y [m]") > 0.15, "{}", value("light.y [m]"));
    // On the floor it rests on its radius.
    assert!((value("heavy.y [m]") - 0.07).abs() < 0.02, "{}", value("heavy.y [m]"));
    assert_eq!(world.frame().surfaces.len(), 2);
    assert!(world.totals().volume_change.abs() < 0.01);
}

#[test]
fn the_same_scene_runs_with_the_other_method() {
    for method in ["unified", "gauss"] {
        let mut world = World::new(&load(SCENE, &[&format!("method=\"{method}\"")])).unwrap();
        frames(&mut world, 3);
        assert_eq!(world.frame().surfaces.len(), 2, "{method}");
        assert!(world.totals().kinetic_energy > 0.0, "{method}");
    }
}

#[test]
fn a_poke_moves_solids_and_without_liquid_they_fall_on_the_floor() {
    let text = SCENE.replace("fill = [{ box = { min = [-0.2, 0, -0.2], max = [0.2, 0.16, 0.2] } }]", "");
    let mut world = World::new(&load(&text, &[])).unwrap();
    let poke = Poke { center: [-0.08, 0.24, -0.06], radius: 0.2, velocity: [0.5, 0.0, 0.0] };
    world.apply(Command::Poke(poke)).unwrap();
    frames(&mut world, 1);
    assert!(world.totals().momentum.x > 0.0);
    frames(&mut world, 40);
    let (columns, values) = (world.columns(), world.measure());
    let value = |name: &str| values[columns.iter().position(|c| c == name).unwrap()];
    assert!(value("light.y [m]") < 0.2 && value("heavy.y [m]") > 0.04);
}

#[test]
fn what_the_method_does_not_have_is_refused_with_its_key() {
    let refused = |what: &str, by: &str| {
        let text = SCENE.replace(what, by);
        let loaded = Loaded::from_text("unified", "unified.toml", &text, &[], &|_| Err(ErrorKind::NotFound.into()));
        loaded.err().map(|e| format!("{e} {}", e.advice().unwrap_or_default())).unwrap_or_default()
    };
    for (more, key) in [("fracture = { strength = 1e5 }", "fracture"), ("mass_damping = 0.5", "mass_damping")] {
        let message = refused("density = 200", &format!("density = 200\n{more}"));
        assert!(message.contains(key) && message.contains("gauss"), "{message}");
    }
}

/// A soft ball flies at a rigid box, beside its middle; nothing else is there.
const STRIKE: &str = r#"
method = "unified"
gravity = [0, 0, 0]
[sph]
spacing = 0.02
[solid.ball]
shape = { sphere = { center = [-0.12, 0.03, 0], radius = 0.06 } }
young = 5e4
density = 1200
velocity = [1, 0, 0]
[rigid.box]
shape = { box = { min = [0, -0.1, -0.05], max = [0.1, 0.1, 0.05] } }
density = 500
[contact]
friction = 0.3
"#;

#[test]
fn a_soft_ball_gives_a_rigid_box_what_it_loses() {
    let world = &mut World::new(&load(STRIKE, &["time.dt=0.002"])).unwrap();
    let before = world.totals();
    frames(world, 12);
    let (columns, values) = (world.columns(), world.measure());
    let value = |name: &str| values[columns.iter().position(|c| c == name).unwrap()];
    let now = world.totals();
    assert!((now.momentum - before.momentum).length() < 1e-9 * before.momentum.length(), "{:?}", now.momentum);
    assert!(now.kinetic_energy + now.elastic_energy < 1.001 * before.kinetic_energy);
    // A ball of 1.09 kg at 1 m/s and a box of 1 kg: if they stuck together both would go on at half the speed.
    assert!(value("box.x [m]") > 0.06, "{}", value("box.x [m]"));
    assert!(value("box.kinetic energy [J]") > 0.2 * before.kinetic_energy, "{}", value("box.kinetic energy [J]"));
    // It was struck above its middle.
    let turned = world.frame().surfaces.iter().find(|s| s.body == 1).map(|s| s.positions.clone()).unwrap();
    let [low, high] = [f32::INFINITY, f32::NEG_INFINITY];
    let (low, high) = turned.iter().fold((low, high), |(low, high), p| (low.min(p.x), high.max(p.x)));
    assert!(high - low > 0.101, "{}", high - low);
}

#[test]
fn a_rigid_box_rests_on_a_soft_one_and_on_the_floor_below_it() {
    let text = r#"
method = "unified"
fps = 50
[sph]
spacing = 0.02
[solid.pad]
shape = { box = { min = [-0.1, 0, -0.1], max = [0.1, 0.06, 0.1] } }
young = 1e5
density = 1000
stiffness_damping = 0.003
[rigid.weight]
shape = { box = { min = [-0.06, 0.061, -0.06], max = [0.06, 0.101, 0.06] } }
density = 5000
[rigid.plate]
shape = { box = { min = [-0.3, 0, -0.1], max = [-0.12, 0.01, 0.1] } }
density = 5000
[solid.block]
shape = { box = { min = [-0.26, 0.011, -0.04], max = [-0.16, 0.111, 0.04] } }
young = 1e5
density = 3000
stiffness_damping = 0.003
[wall.floor]
shape = { plane = { point = [0, 0, 0], normal = [0, 1, 0] } }
"#;
    let mut world = World::new(&load(text, &[])).unwrap();
    frames(&mut world, 40);
    let (columns, values) = (world.columns(), world.measure());
    let value = |name: &str| values[columns.iter().position(|c| c == name).unwrap()];
    // σ = ρ g h over its area: 5000·9.81·0.04 Pa/1e5 Pa of 6 cm is 1.2 mm at most: the pad is wider than the weight.
    let height = value("weight.y [m]");
    assert!((0.0785..0.0812).contains(&height), "{height}");
    assert!((value("plate.y [m]") - 0.005).abs() < 5e-4, "{}", value("plate.y [m]"));
    assert!((value("block.y [m]") - 0.06).abs() < 2e-3, "{}", value("block.y [m]"));
    // The weight of everything: pad, weight, plate, block.
    let weight = 9.81 * (2.4 + 2.88 + 1.8 + 2.4);
    let held = -value("floor.fy [N]");
    assert!((held / weight - 1.0).abs() < 0.1, "{held} N of {weight} N");
    assert!(world.totals().max_speed < 0.05, "{}", world.totals().max_speed);
}

#[test]
fn rigid_bodies_in_liquid_keep_their_bits_and_their_checkpoints() {
    let more = "[rigid.cork]\nshape = { box = { min = [0.02, 0.2, -0.16], max = [0.14, 0.28, -0.04] } }\ndensity = 300\n\
        [rigid.stone]\nshape = { sphere = { center = [-0.1, 0.4, 0.1], radius = 0.05 } }\ndensity = 3000\n";
    let text = format!("{SCENE}{more}");
    let run = |threads: usize, count: usize| {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(|| {
            let mut world = World::new(&load(&text, &[])).unwrap();
            frames(&mut world, count);
            world
        })
    };
    let (mut whole, other) = (run(1, 12), run(3, 12));
    assert_eq!(whole.digest(), other.digest());
    let saved = whole.save().unwrap();
    frames(&mut whole, 4);
    let mut resumed = World::new(&load(&text, &[])).unwrap();
    resumed.load(&saved).unwrap();
    frames(&mut resumed, 4);
    assert_eq!(whole.digest(), resumed.digest());
    frames(&mut whole, 44);
    let (columns, values) = (whole.columns(), whole.measure());
    let value = |name: &str| values[columns.iter().position(|c| c == name).unwrap()];
    assert!(value("cork.y [m]") > 0.13, "{}", value("cork.y [m]"));
    assert!((value("stone.y [m]") - 0.05).abs() < 0.02, "{}", value("stone.y [m]"));
    assert_eq!(whole.frame().surfaces.len(), 4);
    assert!(whole.totals().volume_change.abs() < 0.01);
}

#[test]
fn a_pull_of_the_scene_moves_a_solid_with_the_force_of_its_spring() {
    let text = r#"
method = "unified"
gravity = [0, 0, 0]
[time]
dt = 0.002
[sph]
spacing = 0.02
[solid.bar]
shape = { box = { min = [0, 0, 0], max = [0.2, 0.06, 0.06] } }
young = 1e5
[pull.hand]
body = "bar"
at = { point = [0.2, 0.03, 0.03] }
from = 0.01
until = 0.1
stiffness = 200
motion = { keys = [{ time = 0, position = [0, 0, 0] }, { time = 0.05, position = [0.1, 0, 0] }] }
"#;
    let mut world = World::new(&load(text, &[])).unwrap();
    let held = |world: &World| world.hands().first().map(|hand| hand.force);
    for step in 0..60 {
        let before = world.totals().momentum;
        world.step(f64::INFINITY).unwrap();
        let (gained, force) = (world.totals().momentum - before, held(&world));
        // From 0.01 s, which rounding puts in step 5 or 6, to 0.1 s.
        assert!((6..50).contains(&step) == force.is_some() || [5, 50].contains(&step), "{step}");
        let felt = force.unwrap_or_default() * 0.002;
        assert!((gained - felt).length() < 1e-12 + 1e-9 * felt.length(), "{step}: {gained} {felt}");
    }
    assert!(world.totals().momentum.x > 0.05, "{}", world.totals().momentum);
    let columns = world.columns();
    assert!(columns.contains(&"hand.fx [N]".to_owned()), "{columns:?}");
    assert_eq!(columns.len(), world.measure().len());
}

#[test]
fn hands_find_particles_and_rigid_bodies() {
    let grab = |body: &str| {
        let at = meniscus_scene::Pick::Point([0.0, 0.0, 0.0]);
        let body = Some(body.to_owned());
        Command::Grab(Grab { hand: 1, body, at, strength: None, stiffness: None, damping: None })
    };
    for body in ["ball", "box"] {
        let mut world = World::new(&load(STRIKE, &["time.dt=0.002"])).unwrap();
        world.apply(grab(body)).unwrap();
        world.apply(Command::Move(Move { hand: 1, target: [0.0, 0.1, 0.0], strength: Some(0.5) })).unwrap();
        (0..20).for_each(|_| world.step(f64::INFINITY).unwrap());
        let hands = world.hands();
        assert_eq!((hands.len(), hands[0].hand, hands[0].body.as_str()), (1, Some(1), body));
        assert!(hands[0].force.y > 0.0 && world.totals().momentum.y > 0.0, "{body}");
        world.apply(Command::Release(Release { hand: 1 })).unwrap();
        world.step(f64::INFINITY).unwrap();
        assert!(world.hands().is_empty(), "{body}");
    }
}

#[test]
fn density_and_stiffness_are_live() {
    let set = |key: &str, value| {
        Command::Set(meniscus_scene::Set { key: key.into(), value: meniscus_scene::Value::Number(value) })
    };
    let mut world = World::new(&load(SCENE, &[])).unwrap();
    let keys: Vec<String> =
        meniscus_scene::live::parameters(&load(SCENE, &[]).scene).into_iter().map(|parameter| parameter.key).collect();
    for key in ["solid.light.density", "solid.light.young", "solid.heavy.stiffness_damping"] {
        assert!(keys.iter().any(|known| known == key), "{keys:?}");
    }
    frames(&mut world, 30);
    let position = |world: &World, name: &str| {
        let (columns, values) = (world.columns(), world.measure());
        values[columns.iter().position(|c| c == name).unwrap()]
    };
    assert!(position(&world, "light.y [m]") > 0.14 && position(&world, "heavy.y [m]") < 0.12);
    world.apply(set("solid.light.density", 4000.0)).unwrap();
    world.apply(set("solid.heavy.density", 100.0)).unwrap();
    world.apply(set("solid.light.young", 1e5)).unwrap();
    frames(&mut world, 60);
    assert!(position(&world, "light.y [m]") < 0.1, "{}", position(&world, "light.y [m]"));
    assert!(position(&world, "heavy.y [m]") > 0.14, "{}", position(&world, "heavy.y [m]"));
}
