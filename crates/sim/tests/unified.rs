//! Worlds of the method `unified`: the same bits however they are run, checkpoints, other methods, wrong scenes.

use meniscus_scene::{Command, Loaded, Poke};
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
fn what_the_method_does_not_have_is_refused() {
    let refused = |more: &str| {
        let text = format!("{SCENE}{more}");
        let loaded = Loaded::from_text("unified", "unified.toml", &text, &[], &|_| Err(ErrorKind::NotFound.into()));
        loaded.err().map(|e| e.to_string()).unwrap_or_default()
    };
    let stone = "[rigid.stone]\nshape = { box = { min = [0, 0.5, 0], max = [0.1, 0.6, 0.1] } }\n";
    assert!(refused(stone).contains("rigid"), "{}", refused(stone));
}
