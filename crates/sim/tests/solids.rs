//! Worlds with deformable solids: the same bits however they are run, checkpoints, walls, pieces, probes.

use meniscus_core::BodyKind;
use meniscus_geometry::{TriangleMesh, solids, write_obj};
use meniscus_scene::{Loaded, SceneError};
use meniscus_sim::World;
use std::io::ErrorKind;

/// A jelly, a plastic ball that yields and a brittle bar that is torn, in a tank whose floor moves.
const SCENE: &str = r#"
fps = 50
[time]
max_dt = 0.005
[solid.jelly]
shape = { box = { min = [-0.2, 0.01, -0.2], max = [0.2, 0.21, 0.2] } }
target_tets = 300
young = 1e4
stiffness_damping = 0.01
[solid.ball]
shape = { mesh = { file = "ball.obj", offset = [0, 0.33, 0] } }
target_tets = 300
velocity = [0, -2, 0]
spin = [0, 0, 3]
plasticity = { yield_strain = 0.02, creep = 30 }
[solid.bar]
shape = { box = { min = [-0.2, 0.6, 0], max = [0.2, 0.7, 0.1] } }
edge = 0.05
fracture = { strength = 5e4 }
[[solid.bar.fixed]]
region = { box = { min = [-0.2, 0, -1], max = [-0.19, 1, 1] } }
[[solid.bar.fixed]]
region = { box = { min = [0.19, 0, -1], max = [0.2, 1, 1] } }
motion = { keys = [{ time = 0 }, { time = 0.2, position = [0.1, 0, 0] }] }
[wall.tank]
shape = { box = { min = [-0.5, 0, -0.5], max = [0.5, 1, 0.5], open = ["+y"] } }
motion = { slide = { displacement = [0.02, 0, 0], period = 1 } }
[probe.end]
solid = { name = "bar", point = [0.2, 0.65, 0.05] }
"#;

fn try_load(text: &str, overrides: &[&str]) -> Result<Loaded, SceneError> {
    let overrides: Vec<String> = overrides.iter().map(|s| (*s).to_owned()).collect();
    let read = |file: &str| {
        let mut bytes = Vec::new();
        let ball = solids::icosphere(glam::DVec3::ZERO, 0.1, 2);
        match file {
            "ball.obj" => write_obj(&ball, &mut bytes)?,
            "open.obj" => bytes.extend(b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\n"),
            "crossed.obj" => {
                // A second ball, pushed half into the first.
                let mut vertices = ball.vertices().to_vec();
                vertices.extend(ball.vertices().iter().map(|&v| v + 0.1 * glam::DVec3::X));
                let shift = ball.vertices().len() as u32;
                let mut triangles = ball.triangles().to_vec();
                triangles.extend(ball.triangles().iter().map(|t| t.map(|v| v + shift)));
                write_obj(&TriangleMesh::new(vertices, triangles).unwrap(), &mut bytes)?;
            }
            // One face of ten million corners; half of its triangles have no area.
            "huge.obj" => {
                bytes.extend(b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf");
                bytes.extend(b" 1 2 3 4".repeat(2_500_001));
            }
            "one.node" => bytes.extend(b"4 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n"),
            "one.ele" => bytes.extend(b"1 4 0\n1 1 2 3 4\n"),
            _ => return Err(ErrorKind::NotFound.into()),
        }
        Ok(bytes)
    };
    Loaded::from_text("solids", "solids.toml", text, &overrides, &read)
}

fn world(overrides: &[&str]) -> World {
    World::new(&try_load(SCENE, overrides).unwrap()).unwrap()
}

fn steps(world: &mut World, count: usize) {
    (0..count).for_each(|_| world.step(f64::INFINITY).unwrap());
}

/// The value of a column of the probe file.
fn read(world: &World, column: &str) -> f64 {
    let number = world.columns().iter().position(|name| name == column).unwrap_or_else(|| panic!("no {column}"));
    world.measure()[number]
}

#[test]
fn one_and_two_threads_give_the_same_bits() {
    let run = |threads: usize| {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(|| {
            let mut world = world(&[]);
            steps(&mut world, 60);
            assert!(read(&world, "bar.pieces") >= 2.0, "it is torn");
            world.digest()
        })
    };
    assert_eq!(run(1), run(2));
}

#[test]
fn a_resumed_run_repeats_every_bit() {
    let mut unbroken = world(&[]);
    for before in [10, 35] {
        steps(&mut unbroken, before);
        let saved = unbroken.save().unwrap();
        let mut resumed = world(&[]);
        resumed.load(&saved).unwrap();
        assert_eq!(resumed.frame(), unbroken.frame());
        steps(&mut unbroken, 20);
        steps(&mut resumed, 20);
        assert_eq!(resumed.digest(), unbroken.digest());
        assert_eq!(resumed.frame(), unbroken.frame());
    }
    let mut other = world(&["solid.ball.target_tets=200"]);
    assert!(other.load(&unbroken.save().unwrap()).is_err(), "another mesh has no place for the skin");
}

#[test]
fn frames_probes_and_sums_tell_what_happens() {
    let mut world = world(&[]);
    // The ball is soft and light: implicit Euler takes its vibrations, and that is told.
    assert!(world.warnings().iter().all(|warning| warning.contains("of its vibrations")), "{:?}", world.warnings());
    let (start, frame) = (world.totals(), world.frame());
    let names: Vec<&str> = frame.bodies.iter().map(|body| body.name.as_str()).collect();
    assert_eq!(names, ["tank", "jelly", "ball", "bar"]);
    assert_eq!(frame.bodies[2].kind, BodyKind::Solid);
    assert_eq!(frame.surfaces[1].triangles.len(), 320, "the surface of the file is shown");
    assert!(frame.particles.is_empty() && start.tets > 600);
    while world.time() < 0.15 {
        world.step(1.0).unwrap();
    }
    assert!(read(&world, "end.dx [m]") > 0.05, "the end was led");
    assert!(read(&world, "tank.fy [N]") < 0.0, "the floor is pressed down");
    assert!(read(&world, "jelly.elastic energy [J]") > 0.0);
    let (now, frame) = (world.totals(), world.frame());
    assert_eq!(now.tets, start.tets, "nothing is lost where it breaks");
    assert!(now.elastic_energy > 0.0 && now.momentum.is_finite());
    let lowest = frame.surfaces.iter().flat_map(|s| &s.positions).map(|p| p.y).fold(f32::INFINITY, f32::min);
    assert!(lowest > -0.02, "the floor holds: {lowest}");
    for surface in &frame.surfaces {
        assert!(surface.triangles.as_flattened().iter().all(|&v| (v as usize) < surface.positions.len()));
    }
}

#[test]
fn solids_far_from_everything_fall_freely() {
    let text = "[solid.ball]\nshape = { sphere = { center = [0, 9, 0], radius = 0.1 } }\ntarget_tets = 160\n";
    let mut world = World::new(&try_load(text, &["time.max_dt=0.001"]).unwrap()).unwrap();
    while world.time() < 0.5 {
        world.step(0.5).unwrap();
    }
    let fallen = 9.0 - read(&world, "ball.y [m]");
    assert!((fallen / (0.5 * 9.81 * 0.25) - 1.0).abs() < 0.01, "{fallen}");
}

#[test]
fn tetrahedra_are_read_with_both_their_files() {
    let text = "[solid.one]\nshape = { tets = { file = \"one.ele\", scale = 0.5, offset = [0, 1, 0] } }\n";
    let loaded = try_load(text, &[]).unwrap();
    let mut world = World::new(&loaded).unwrap();
    assert_eq!(world.totals().tets, 1);
    steps(&mut world, 3);
    let (scene, assets) = loaded.self_contained();
    let read = |file: &str| {
        let asset = assets.iter().find(|asset| format!("assets/{}", asset.file) == file);
        asset.map(|asset| asset.bytes.clone()).ok_or_else(|| ErrorKind::NotFound.into())
    };
    let text = meniscus_scene::to_text(&scene).unwrap();
    let again = Loaded::from_text("x", "x.toml", &text, &[], &read).unwrap();
    assert_eq!(World::new(&again).unwrap().totals().tets, 1);
}

#[test]
fn generated_solids_have_about_as_many_tetrahedra_as_asked_for() {
    let shapes = [
        "box = { min = [0, 0, 0], max = [1, 1, 0.001] }",
        "box = { min = [0, 0, 0], max = [2, 0.3, 0.4] }",
        "sphere = { center = [0, 0, 0], radius = 0.1 }",
        "cylinder = { start = [0, 0, 0], end = [1, 0, 0], radius = 0.1 }",
        "tube = { start = [0, 0, 0], end = [1, 0, 0], inner_radius = 0.09, outer_radius = 0.1 }",
        "pool = { min = [0, 0, 0], max = [1, 0.5, 1], thickness = 0.1 }",
        "mesh = { file = \"ball.obj\" }",
    ];
    for shape in shapes {
        let text = format!("[solid.a]\ntarget_tets = 5000\nshape = {{ {shape} }}\n");
        let tets = World::new(&try_load(&text, &[]).unwrap()).unwrap().totals().tets;
        assert!((2500..=7500).contains(&tets), "{shape}: {tets}");
    }
}

#[test]
fn what_cannot_be_a_solid_is_refused() {
    let refused = |text: &str, words: &[&str]| {
        let said = match try_load(text, &[]) {
            Err(error) => error.to_string(),
            Ok(loaded) => World::new(&loaded).err().unwrap_or_else(|| panic!("{text} is a world")).to_string(),
        };
        assert!(words.iter().all(|word| said.contains(word)), "{said}");
    };
    refused("[solid.a]\nshape = { mesh = { file = \"no.obj\" } }\n", &["solids.toml:2", "no.obj"]);
    refused("[solid.a]\nshape = { mesh = { file = \"open.obj\" } }\n", &["solids.toml:2", "open"]);
    for table in ["solid", "rigid"] {
        let text = format!("[{table}.a]\nshape = {{ mesh = {{ file = \"crossed.obj\" }} }}\n");
        refused(&text, &["solids.toml:2", "crossed.obj", "passes through itself", " m"]);
    }
    let huge = "[solid.a]\nshape = { mesh = { file = \"huge.obj\" } }\n";
    refused(huge, &["solids.toml:2", "huge.obj", "5000002 triangles", "coarser"]);
    refused("[solid.a]\nshape = { tets = { file = \"ball.obj\" } }\n", &["solids.toml:2", ".msh"]);
    refused("[solid.a]\nedge = 9\nshape = { mesh = { file = \"ball.obj\" } }\n", &["solid `a`", "thinner"]);
    refused(
        "[solid.a]\nedge = 1e-5\nshape = { box = { min = [0,0,0], max = [1,1,1] } }\n",
        &["solid `a`", "tetrahedra"],
    );
    refused(
        "[solid.a]\nedge = 1e-3\nshape = { box = { min = [0,0,0], max = [1000,1000,1e-12] } }\n",
        &["solid `a`", "tetrahedra"],
    );
}

#[test]
fn a_step_that_fails_leaves_the_world_as_it_was() {
    let mut world = world(&["solid.bar.fem.max_iterations=1", "solid.bar.fem.tolerance=1e-12"]);
    let before = (world.digest(), world.frame());
    let error = world.step(f64::INFINITY).unwrap_err();
    assert!(error.stage == "solve" && error.body == "bar", "{error}");
    assert_eq!((world.digest(), world.frame()), before);
}

#[test]
fn liquids_soft_and_rigid_bodies_share_a_world() {
    let liquid = "[sph]\nspacing = 0.05\n[liquid.water]\nfill = [{ box = { min = [-0.4, 0.3, -0.4], max = [-0.3, 0.5, -0.3] } }]\n";
    let ball = "[rigid.pea]\nshape = { sphere = { center = [0.3, 0.5, 0.3], radius = 0.05 } }\n";
    let mut world = World::new(&try_load(&format!("{SCENE}{liquid}{ball}"), &[]).unwrap()).unwrap();
    assert!(world.warnings().is_empty(), "{:?}", world.warnings());
    steps(&mut world, 5);
    assert!(world.totals().particles > 0 && world.totals().tets > 0);
}

/// Cracks leave hinges behind for which the multigrid hierarchy of the solve is no longer positive.
#[test]
fn the_bar_of_the_gallery_breaks_without_failing() {
    let scene = include_str!("../../../scenes/bar-snap.toml");
    let surface = |_: &str| Ok(include_bytes!("../../../scenes/assets/test-bar.obj").to_vec());
    let loaded = Loaded::from_text("bar-snap", "bar-snap.toml", scene, &[], &surface).unwrap();
    let mut world = World::new(&loaded).unwrap();
    let tets = world.totals().tets;
    while world.time() < 0.65 {
        world.step(0.65).unwrap();
    }
    assert!(read(&world, "bar.pieces") >= 2.0 && world.totals().tets == tets);
}

/// A ball that shatters on the floor shows its skin outside and the faces of its tetrahedra inside: nothing stretches across the
/// cracks, nothing is missing, and a checkpoint brings it back.
#[test]
fn pieces_of_a_broken_body_wear_its_skin() {
    const BALL: &str = r#"
[time]
max_dt = 0.002
[solid.ball]
shape = { mesh = { file = "ball.obj", offset = [0, 0.12, 0] } }
target_tets = 1500
velocity = [0, -12, 0]
young = 1e6
fracture = { strength = 4e4, max_cracks = 40 }
[wall.floor]
shape = { plane = { point = [0, 0, 0], normal = [0, 1, 0] } }
"#;
    let build = || World::new(&try_load(BALL, &[]).unwrap()).unwrap();
    let mut world = build();
    let whole = world.frame().surfaces[0].clone();
    let longest = |surface: &meniscus_core::Surface| {
        let edge = |&[a, b, c]: &[u32; 3]| {
            let [a, b, c] = [a, b, c].map(|v| surface.positions[v as usize]);
            a.distance(b).max(b.distance(c)).max(c.distance(a))
        };
        let skin = &surface.triangles[..whole.triangles.len()];
        skin.iter().map(edge).fold(0.0, f32::max)
    };
    let at_rest = longest(&whole);
    assert!(whole.triangles.len() > 1000, "the skin of a body that breaks is fine: {}", whole.triangles.len());
    let mut pieces = 1.0;
    while world.time() < 0.12 {
        world.step(0.12).unwrap();
        let surface = &world.frame().surfaces[0];
        pieces = read(&world, "ball.pieces");
        assert!(longest(surface) < 3.0 * at_rest, "{}: {} {at_rest}", world.time(), longest(surface));
        assert!(surface.triangles.as_flattened().iter().all(|&v| (v as usize) < surface.positions.len()));
    }
    assert!(pieces > 2.0, "{pieces}");
    let broken = world.frame();
    assert!(broken.surfaces[0].triangles.len() > whole.triangles.len() + 20, "cracks are seen");
    let mut resumed = build();
    resumed.load(&world.save().unwrap()).unwrap();
    assert_eq!(resumed.frame(), broken);
}
