//! Animated meshes in scenes: where frames show them, what they do to liquids, resumes, threads, and what is refused.

use meniscus_core::BodyKind;
use meniscus_scene::{Loaded, SceneError, to_text};
use meniscus_sim::World;
use std::io::ErrorKind;
use std::path::Path;

fn asset(file: &str) -> std::io::Result<Vec<u8>> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes/assets").join(file))
}

/// Two sheets of one triangle pair each as a sequence: a plate that rises by a metre per frame.
fn plate(file: &str) -> std::io::Result<Vec<u8>> {
    let height = match file {
        "plate_1.obj" => 0.0,
        "plate_2.obj" => 1.0,
        _ => return Err(ErrorKind::NotFound.into()),
    };
    let corners = [[0, 0], [1, 0], [1, 1], [0, 1]].map(|[x, z]| format!("v {x} {height} {z}\n"));
    Ok(format!("{}f 1 3 2\nf 1 4 3\n", corners.concat()).into_bytes())
}

fn read(file: &str) -> std::io::Result<Vec<u8>> {
    asset(file).or_else(|_| plate(file))
}

fn try_load(text: &str) -> Result<Loaded, SceneError> {
    Loaded::from_text("x", "x.toml", text, &[], &read)
}

fn world(text: &str) -> World {
    World::new(&try_load(text).unwrap()).unwrap()
}

/// A hand dips into a small basin.
const BASIN: &str = r#"
method = "twophase"
fps = 50
[twophase]
spacing = 0.025
[twophase.sides]
y_max = { open = {} }
[liquid.water]
fill = [{ box = { min = [-0.35, -0.15, -0.2], max = [0.25, 0, 0.2] } }]
[domain]
min = [-0.35, -0.15, -0.2]
max = [0.25, 0.25, 0.2]
[animated.hand]
file = "hand.glb"
speed = 2
"#;

/// The basin for particles, which read no table of the grid.
fn by_particles(text: &str) -> String {
    let grid = "\"twophase\"\nfps = 50\n[twophase]\nspacing = 0.025\n[twophase.sides]\ny_max = { open = {} }\n";
    assert!(text.contains(grid));
    text.replace(grid, "\"gauss\"\nfps = 50\nresolution = 0.025\n")
}

fn frames(world: &mut World, count: usize) {
    (0..count).for_each(|_| world.advance_frame(|_| {}).unwrap());
}

fn value(world: &World, column: &str) -> f64 {
    let at = world.columns().iter().position(|c| c == column).unwrap();
    world.measure()[at]
}

#[test]
fn a_hand_is_shown_where_it_is_and_no_water_is_lost() {
    let loaded = try_load(BASIN).unwrap();
    let animation = loaded.animations().next().unwrap().2.clone();
    let mut world = World::new(&loaded).unwrap();
    let volume = value(&world, "liquid volume [m3]");
    let surface_of = |world: &World| {
        let frame = world.frame();
        let body = frame.bodies.iter().position(|body| body.name == "hand").unwrap();
        assert_eq!(frame.bodies[body].kind, BodyKind::Wall);
        frame.surfaces.iter().find(|surface| usize::from(surface.body) == body).unwrap().clone()
    };
    for _ in 0..4 {
        frames(&mut world, 5);
        let shown = surface_of(&world);
        let mesh = animation.mesh_at(world.time());
        assert!(shown.positions.iter().zip(mesh.vertices()).all(|(a, b)| a.distance(b.as_vec3()) < 1e-6));
        let change = value(&world, "liquid volume [m3]") / volume - 1.0;
        assert!(change.abs() < 1e-9, "{change}");
    }
    // 0.4 s at double speed: the hand goes down through the surface.
    let speed = surface_of(&world).velocities.iter().map(|v| v.length()).fold(0.0, f32::max);
    assert!((0.3..4.0).contains(&speed), "{speed} m/s");
    assert!(world.totals().max_speed > 0.1 && world.totals().max_speed < 20.0);
}

#[test]
fn threads_resumes_and_retries_give_the_same_bits() {
    let steps = |world: &mut World, count: usize| (0..count).for_each(|_| world.step(f64::INFINITY).unwrap());
    let start = || {
        let mut world = world(BASIN);
        // Into the water.
        frames(&mut world, 12);
        world
    };
    let go = |threads: usize| {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(|| {
            let mut world = start();
            steps(&mut world, 11);
            world.digest()
        })
    };
    let one = go(1);
    assert_eq!(one, go(2));
    assert_eq!(one, go(3));
    // Saved after a number of steps that ends no interval.
    let mut first = start();
    steps(&mut first, 4);
    let saved = first.save().unwrap();
    let mut resumed = world(BASIN);
    resumed.load(&saved).unwrap();
    steps(&mut resumed, 7);
    assert_eq!(resumed.digest(), one);
}

#[test]
fn a_scene_with_an_animation_is_self_contained() {
    let (scene, assets) = try_load(BASIN).unwrap().self_contained();
    assert_eq!(scene.animated["hand"].file, "assets/animated-0/hand.glb");
    let found = |file: &str| {
        let asset = assets.iter().find(|asset| format!("assets/{}", asset.file) == file);
        asset.map(|asset| asset.bytes.clone()).ok_or_else(|| ErrorKind::NotFound.into())
    };
    let again = Loaded::from_text("x", "x.toml", &to_text(&scene).unwrap(), &[], &found).unwrap();
    assert_eq!(again.animations().len(), 1);
}

#[test]
fn particles_give_way_to_a_hand() {
    for method in ["gauss", "unified", "connections"] {
        let text = format!(
            "method = \"{method}\"\nfps = 50\n[sph]\nspacing = 0.02\n[liquid.water]\n\
             fill = [{{ box = {{ min = [-0.35, -0.15, -0.2], max = [0.25, 0, 0.2] }} }}]\n\
             [wall.tank]\nshape = {{ box = {{ min = [-0.35, -0.15, -0.2], max = [0.25, 0.25, 0.2], open = [\"+y\"] }} }}\n\
             [animated.hand]\nfile = \"hand.glb\"\nspeed = 2\n"
        );
        let loaded = try_load(&text).unwrap();
        let animation = loaded.animations().next().unwrap().2.clone();
        let mut world = World::new(&loaded).unwrap();
        let before = world.totals().particles;
        frames(&mut world, 20);
        let tree = meniscus_geometry::Bvh::new(&animation.mesh_at(world.time()));
        let frame = world.frame();
        let positions = &frame.particles.positions;
        let deepest = positions.iter().map(|p| tree.signed_distance(p.as_dvec3())).fold(f64::INFINITY, f64::min);
        assert!(deepest > -0.01, "{method}: a particle is {deepest} m deep in the hand");
        assert_eq!(world.totals().particles, before, "{method}: nothing leaks");
        let near = positions.iter().any(|p| tree.signed_distance(p.as_dvec3()) < 0.02);
        assert!(near, "{method}: the hand is in the water");
        let moved = frame.particles.velocities.iter().map(|v| v.length()).fold(0.0, f32::max);
        assert!((0.05..10.0).contains(&moved), "{method}: {moved} m/s");
    }
}

#[test]
fn animations_that_cannot_be_meant_are_refused() {
    let error = |change: &dyn Fn(&str) -> String| {
        let text = change(BASIN);
        match try_load(&text) {
            Err(error) => error.to_string(),
            Ok(loaded) => World::new(&loaded).err().map_or_else(String::new, |error| error.to_string()),
        }
    };
    let file = |name: &'static str| move |text: &str| text.replace("hand.glb", name);
    let with = |keys: &'static str| move |text: &str| format!("{text}{keys}\n");
    for (found, words) in [
        (error(&file("nowhere.glb")), "nowhere.glb"),
        (error(&file("hand.fbx")), "unknown kind of animation"),
        (error(&file("duck.ply")), "one `#` for each digit"),
        (error(&file("missing_##.obj")), "0 files fit this name"),
        (error(&with("from = 2.5\nuntil = 2")), "must come after from"),
        (error(&with("until = 30")), "cannot be played"),
        (error(&with("cycles = 2\nloop = true")), "has no meaning with loop"),
        (error(&with("loop = true")), "from where it begins"),
        (error(&with("scale = 0")), "greater than zero"),
        (error(&with("side = \"left\"")), "cannot be `left`"),
        (error(&|text| by_particles(text).replace("speed = 2", "wetting = \"shell\"")), "particles need an inside"),
        (error(&|text| by_particles(text).replace("hand.glb", "heart.glb")), "open surface"),
    ] {
        assert!(found.contains(words), "`{words}` is not in: {found}");
    }
}

#[test]
fn a_sequence_of_files_moves_a_shell() {
    let text = BASIN
        .replace("hand.glb", "plate_#.obj")
        .replace("speed = 2", "scale = 0.1\nposition = [-0.1, -0.05, -0.05]\nfps = 2");
    let mut world = world(&text);
    let volume = value(&world, "liquid volume [m3]");
    frames(&mut world, 10);
    assert!((value(&world, "liquid volume [m3]") / volume - 1.0).abs() < 1e-9);
    // It rises by 0.1 m in half a second.
    let highest = |world: &World| {
        let frame = world.frame();
        let surface = frame.surfaces.iter().find(|surface| surface.positions.len() == 4).unwrap();
        surface.positions.iter().map(|p| p.y).fold(f32::MIN, f32::max)
    };
    assert!((highest(&world) - (-0.05 + 0.2 * world.time() as f32)).abs() < 1e-4, "{}", highest(&world));
}
