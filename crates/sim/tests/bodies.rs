//! Worlds with bodies of particles: the same bits however they are run, checkpoints, interfaces, walls, wrong scenes.

use meniscus_core::BodyKind;
use meniscus_scene::{Command, Loaded, Poke};
use meniscus_sim::World;
use std::io::ErrorKind;

/// Soft and rigid boxes fall into a little water in a sliding vat.
const SCENE: &str = r#"
method = "connections"
fps = 50
[sph]
spacing = 0.04
[liquid.water]
fill = [{ box = { min = [-0.2, 0, -0.2], max = [0.2, 0.12, 0.2] } }]
[wall.vat]
shape = { box = { min = [-0.2, 0, -0.2], max = [0.2, 0.6, 0.2], open = ["+y"] } }
motion = { slide = { displacement = [0.1, 0, 0], period = 0.6 } }
[body.soft]
shape = { box = { min = [-0.16, 0.15, -0.1], max = [0, 0.31, 0.06] } }
rotation = [10, 20, 30]
[body.hard]
kind = "rigid"
shape = { sphere = { center = [0.1, 0.22, 0.05], radius = 0.08 } }
density = 700
spin = [0, 5, 1]
repeat = { count = [1, 2, 1], step = [0, 0.18, 0], rotation = [0, 30, 0] }
"#;

fn load(text: &str, overrides: &[&str]) -> Loaded {
    let overrides: Vec<String> = overrides.iter().map(|s| (*s).to_owned()).collect();
    Loaded::from_text("bodies", "bodies.toml", text, &overrides, &|_| Err(ErrorKind::NotFound.into())).unwrap()
}

fn world(overrides: &[&str]) -> World {
    World::new(&load(SCENE, overrides)).unwrap()
}

fn frames(world: &mut World, count: usize) {
    (0..count).for_each(|_| world.advance_frame(|_| ()).unwrap());
}

const KINDS: &[&[&str]] = &[
    &[],
    &["connections.steps=local", "sph.pressure=state-equation"],
    &["connections.interface=projection"],
    &["connections.interface=sph"],
    &["connections.sticky=0.1", "connections.integrator=runge-kutta4"],
    &["method=gauss"],
    &["method=gauss", "connections.interface=projection", "sph.pressure=state-equation"],
];

#[test]
fn the_same_bits_at_any_thread_count() {
    for kind in KINDS {
        let digest = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut world = world(kind);
                frames(&mut world, 15);
                world.digest()
            })
        };
        let one = digest(1);
        assert_eq!(one, digest(2), "{kind:?}");
        assert_eq!(one, digest(3), "{kind:?}");
    }
}

#[test]
fn a_checkpoint_goes_on_bit_for_bit() {
    for kind in KINDS {
        let mut whole = world(kind);
        frames(&mut whole, 12);
        let saved = whole.save().unwrap();
        frames(&mut whole, 8);
        let mut resumed = world(kind);
        resumed.load(&saved).unwrap();
        frames(&mut resumed, 8);
        assert_eq!(whole.digest(), resumed.digest(), "{kind:?}");
        assert_eq!(whole.measure(), resumed.measure(), "{kind:?}");
    }
}

#[test]
fn a_checkpoint_of_other_bodies_is_refused() {
    let mut other = World::new(&load(SCENE, &["body.soft.spacing=0.05"])).unwrap();
    assert!(other.load(&world(&[]).save().unwrap()).is_err());
    assert!(other.load(b"nothing of the kind").is_err());
}

#[test]
fn bodies_and_liquid_stay_in_the_vat() {
    for kind in KINDS {
        let mut world = world(kind);
        let start = world.totals();
        frames(&mut world, 40);
        let totals = world.totals();
        assert_eq!(totals.particles, start.particles, "{kind:?}");
        assert_eq!(totals.body_particles, start.body_particles, "{kind:?}");
        let frame = world.frame();
        let solids = |body: u16| frame.bodies[usize::from(body)].kind == BodyKind::Solid;
        let skins: Vec<_> = frame.surfaces.iter().filter(|surface| solids(surface.body)).collect();
        assert_eq!(skins.len(), 2, "{kind:?}");
        for vertex in skins.iter().flat_map(|surface| &surface.positions) {
            assert!(vertex.y > -0.02 && vertex.y < 0.7 && vertex.z.abs() < 0.22, "{kind:?}: {vertex}");
            assert!((-0.22..0.32).contains(&vertex.x), "{kind:?}: {vertex}");
        }
        // What lies in the vat weighs on it.
        let columns = world.columns();
        let value = |name: &str| world.measure()[columns.iter().position(|column| column == name).unwrap()];
        assert!(value("vat.fy [N]") < 0.0 && value("soft.elastic energy [J]") >= 0.0, "{kind:?}");
    }
}

#[test]
fn a_poke_pushes_bodies() {
    let mut world = world(&["gravity=[0,0,0]", "liquid.water.fill=[]"]);
    world.apply(Command::Poke(Poke { center: [0.0; 3], radius: 100.0, velocity: [0.0, 1.0, 0.0] })).unwrap();
    world.step(0.001).unwrap();
    let momentum = world.totals().momentum;
    let mass: f64 = 500.0 * 64.0 * 0.04f64.powi(3);
    assert!(momentum.y > mass, "{momentum}");
}

#[test]
fn wrong_scenes_are_told_what_is_wrong() {
    let wrong = |text: &str, line: usize, message: &str| {
        let error = Loaded::from_text("x", "x.toml", text, &[], &|_| Err(ErrorKind::NotFound.into())).unwrap_err();
        assert!(error.line() == Some(line) && error.to_string().contains(message), "{error}");
    };
    let head = "method = \"connections\"\n[body.a]\nshape = { sphere = { center = [0,0,0], radius = 1 } }\n";
    wrong(&head.replace("connections", "unified"), 2, "is not read by the method \"unified\"");
    let gauss = head.replace("connections", "gauss");
    let other = "[solid.b]\nshape = { box = { min = [2,0,0], max = [3,1,1] } }\n";
    wrong(&format!("{gauss}{other}"), 3, "does not meet `solid` and `rigid`");
    wrong(&format!("{gauss}{}", other.replace("solid", "rigid")), 3, "does not meet `solid` and `rigid`");
    wrong(&format!("{gauss}[connections]\ninterface = \"sph\"\n"), 5, "liquid meets the skins");
    wrong(&format!("{head}spacing = 0\n"), 4, "greater than zero");
    wrong(&format!("{head}kind = \"gas\"\n"), 4, "gas");
    wrong(&format!("{head}repeat = {{ count = [2, 1, 1], step = [0, 0, 0] }}\n"), 4, "zero along an axis");
    wrong(
        &format!("{head}kind = \"rigid\"\nfixed = [{{ region = {{ box = {{ min = [0,0,0], max = [1,1,1] }} }} }}]\n"),
        5,
        "moves as one",
    );
    wrong(&format!("{head}[contact]\nfriction = -1\n"), 5, "0 or more");
    let small = load(&format!("{head}spacing = 10\n"), &[]);
    let error = World::new(&small).err().unwrap().to_string();
    assert!(error.contains("body `a`") && error.contains("smaller than the spacing"), "{error}");
}

/// A cube of water in free space becomes a ball under surface tension, with this method too: its corners draw in.
#[test]
fn surface_tension_rounds_a_cube_of_water() {
    let scene = |tension: f64| {
        format!(
            "method = \"connections\"\nfps = 100\ngravity = [0, 0, 0]\n[sph]\nspacing = 0.005\n[liquid.water]\nviscosity = 0.01\n\
             surface_tension = {tension}\nfill = [{{ box = {{ min = [0, 0, 0], max = [0.03, 0.03, 0.03] }} }}]\n\
             [body.far]\nspacing = 0.01\nshape = {{ box = {{ min = [0.2, 0, 0], max = [0.23, 0.03, 0.03] }} }}\n"
        )
    };
    let farthest = |tension: f64| {
        let mut world = World::new(&load(&scene(tension), &[])).unwrap();
        // One capillary time, √(ρR³/σ).
        frames(&mut world, 30);
        let positions = world.frame().particles.positions;
        let center = positions.iter().sum::<glam::Vec3>() / positions.len() as f32;
        positions.iter().map(|p| p.distance(center)).fold(0.0, f32::max)
    };
    // The corner particles start 21.7 mm from the middle; a ball of the same volume has a radius of 18.6 mm, its last layer 16 mm.
    let (without, with) = (farthest(0.0), farthest(0.07));
    assert!(without > 0.021 && with < 0.5 * (0.0217 + 0.016) && with > 0.014, "{without} {with}");
}
