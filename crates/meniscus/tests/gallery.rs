//! Every scene of the gallery loads, runs three steps and makes a picture; those with liquid and soft solids with either method.

use meniscus::gallery::{self, GALLERY};
use meniscus::scene::{Loaded, Method};
use meniscus::sim::World;

#[test]
fn every_scene_runs_three_steps() {
    for scene in GALLERY {
        let loaded = gallery::load_gallery(scene, &[]).unwrap_or_else(|e| panic!("{}: {e}", scene.name));
        assert!(!loaded.scene.title.is_empty(), "{} has no title", scene.name);
        let mut world = World::new(&loaded).unwrap_or_else(|e| panic!("{}: {e}", scene.name));
        // Shapes of meshes are no whole number of spacings.
        let told: Vec<&String> = world.warnings().iter().filter(|w| !w.contains("volume than its shapes")).collect();
        assert!(told.is_empty(), "{}: {told:?}", scene.name);
        for _ in 0..3 {
            world.step(f64::INFINITY).unwrap_or_else(|e| panic!("{}: {e}", scene.name));
        }
        let picture = meniscus::picture::render(&world.frame(), &loaded.scene.camera, &loaded.scene.picture);
        assert!(picture.is_ok(), "{}", scene.name);
    }
}

#[test]
fn liquid_and_soft_solids_run_with_either_method() {
    let mut switched = Vec::new();
    for scene in GALLERY {
        let loaded = gallery::load_gallery(scene, &[]).unwrap_or_else(|e| panic!("{}: {e}", scene.name));
        let other = match loaded.scene.method {
            Method::Gauss => "method=\"unified\"",
            Method::Unified => "method=\"gauss\"",
            _ => continue,
        };
        if loaded.scene.liquid.is_empty() || loaded.scene.solid.is_empty() {
            continue;
        }
        // What only one of the methods can do is refused by the other, with its key.
        let mut solids = loaded.scene.solid.values();
        let only_here = match loaded.scene.method {
            Method::Gauss => solids.any(|solid| solid.fracture.is_some()).then_some("fracture"),
            _ => solids.any(|solid| solid.porosity > 0.0).then_some("porosity"),
        };
        match gallery::load_gallery(scene, &[other.to_owned()]) {
            Err(error) => {
                assert!(only_here.is_some_and(|key| error.to_string().contains(key)), "{}: {error}", scene.name);
            }
            Ok(loaded) => {
                let mut world = World::new(&loaded).unwrap_or_else(|e| panic!("{}: {e}", scene.name));
                for _ in 0..3 {
                    world.step(f64::INFINITY).unwrap_or_else(|e| panic!("{}: {e}", scene.name));
                }
                assert!(only_here.is_none(), "{}", scene.name);
            }
        }
        switched.push(scene.name);
    }
    for name in ["pool", "floating-boxes", "vessel", "pool-fracture", "duck-sinks", "sponge"] {
        assert!(switched.contains(&name), "{switched:?}");
    }
}

/// The pool of `pool-fracture` breaks by the wave of its box, not under its water.
#[test]
fn a_pool_cracks_only_where_a_box_falls_in() {
    let scene = gallery::find("pool-fracture").unwrap();
    let (before, rest) = scene.text.split_once("[solid.box]").unwrap();
    let after = rest.find("\n[").map_or("", |at| &rest[at..]);
    let none = |_: &str| Err(std::io::ErrorKind::NotFound.into());
    let settings = meniscus::scene::Settings::default();
    let loaded =
        |text: &str| Loaded::with_settings("pool-fracture", "pool-fracture.toml", text, &settings, &none).unwrap();
    let cracked = |text: &str, until: f64| {
        let mut world = World::new(&loaded(text)).unwrap();
        let faces = |world: &World| {
            let frame = world.frame();
            let pool = frame.surfaces.iter().find(|s| frame.bodies[usize::from(s.body)].name == "pool");
            pool.map_or(0, |pool| pool.triangles.len())
        };
        let whole = faces(&world);
        while world.time() < until && faces(&world) == whole {
            world.advance_frame(|_| {}).unwrap();
        }
        (faces(&world) != whole).then(|| world.time())
    };
    assert_eq!(cracked(&format!("{before}{after}"), 3.0), None);
    // It falls 0.77 m.
    let hit = (2.0_f64 * 0.77 / 9.81).sqrt();
    assert!(cracked(scene.text, 1.0).is_some_and(|time| time > hit), "{:?}", cracked(scene.text, 1.0));
}

/// The sponge of `sponge` soaks at the surface and keeps its water while it sinks and lies; it breathed where its damping was too low.
#[test]
#[ignore = "minutes: .ci/nightly"]
fn the_sponge_keeps_its_water_while_it_sinks() {
    let mut world = World::new(&gallery::load("sponge", &[]).unwrap()).unwrap();
    let column = world.columns().iter().position(|name| name == "sponge.saturation [1]").unwrap();
    while world.time() < 6.0 - 1e-6 {
        world.advance_frame(|_| {}).unwrap();
        let saturation = world.measure()[column];
        assert!(world.time() < 2.0 || (0.9..1.05).contains(&saturation), "{saturation} at {} s", world.time());
    }
}
