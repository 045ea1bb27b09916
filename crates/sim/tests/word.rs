//! Scenes that were lost, hung, panicked or gave noise in silence. Every test is named after what was seen before.

use meniscus_core::Fault;
use meniscus_scene::Loaded;
use meniscus_sim::{BuildError, World};

fn loaded(text: &str) -> Loaded {
    let nothing = |_: &str| Err(std::io::ErrorKind::NotFound.into());
    Loaded::from_text("test", "test.toml", text, &[], &nothing).unwrap()
}

fn world(text: &str) -> World {
    World::new(&loaded(text)).unwrap()
}

/// The key of a size that is refused.
#[track_caller]
fn refused(text: &str) -> String {
    match World::new(&loaded(text)) {
        Err(BuildError::Size { key, .. }) => key,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("it was built"),
    }
}

const TANK: &str = r#"
[sph]
spacing = 0.1
[liquid.water]
fill = [{ box = { min = [0, 0, 0], max = [0.5, 0.3, 0.3] } }]
[wall.tank]
shape = { box = { min = [0, 0, 0], max = [0.5, 0.6, 0.3] } }
"#;

#[test]
fn a_moving_tank_lost_all_its_liquid() {
    let moving = format!("{TANK}motion = {{ slide = {{ displacement = [6, 0, 0], period = 6 }} }}\n");
    let mut tank = world(&moving);
    let start = tank.totals().particles;
    while tank.time() < 3.0 {
        tank.step(3.0).unwrap();
    }
    assert_eq!((tank.totals().particles, tank.lost()), (start, 0));
    let x = tank.frame().particles.positions.iter().map(|p| p.x).fold(f32::INFINITY, f32::min);
    assert!(x > 5.5, "it was carried along, to {x} m");
}

#[test]
fn particles_that_left_the_domain_were_not_counted() {
    let mut open = world(&format!(
        "domain = {{ min = [-1, -0.5, -1], max = [2, 2, 2] }}\n{}",
        TANK.split("[wall").next().unwrap()
    ));
    let start = open.totals().particles;
    while open.time() < 0.5 {
        open.step(0.5).unwrap();
    }
    assert_eq!((open.totals().particles, open.lost()), (0, start), "it has fallen out");
    let mut again = world(&format!(
        "domain = {{ min = [-1, -0.5, -1], max = [2, 2, 2] }}\n{}",
        TANK.split("[wall").next().unwrap()
    ));
    again.load(&open.save().unwrap()).unwrap();
    assert_eq!(again.lost(), start, "a checkpoint has the count");
}

#[test]
fn stiff_solids_of_particles_never_finished_a_step() {
    let scene = |keys: &str| {
        format!(
            "method = \"unified\"\n[sph]\nspacing = 0.1\n[solid.beam]\n{keys}\nshape = {{ box = {{ min = [0, 0, 0], max = [0.4, 0.2, 0.2] }} }}\n"
        )
    };
    // Before anything is stepped, with the key that does it.
    for (keys, key) in [
        ("young = 1e20", "solid.beam.young"),
        ("density = 1e-9\nyoung = 1e9", "solid.beam.density"),
        ("stiffness_damping = 1e9", "solid.beam.stiffness_damping"),
    ] {
        assert_eq!(refused(&scene(keys)), key);
    }
    let mut soft = world(&scene("young = 1e5"));
    soft.step(f64::INFINITY).unwrap();
    // A hand at a slider can make it so while it runs.
    let set = r#"{"set": {"key": "solid.beam.young", "value": 1e20}}"#;
    soft.apply(serde_json::from_str(set).unwrap()).unwrap();
    let error = soft.step(f64::INFINITY).unwrap_err();
    assert!(matches!(error.fault, Fault::StepTooSmall { smallest, .. } if smallest == 1e-7), "{error}");
    assert_eq!((error.stage.as_str(), error.body.as_str()), ("choose step", "beam"));
}

/// With `connections.steps = "local"` the steps of a body had no bound, and `check` hung.
#[test]
fn stiff_bodies_of_springs_never_finished_a_step() {
    let scene = |keys: &str, steps: &str| {
        format!(
            "method = \"connections\"\n[connections]\nsteps = \"{steps}\"\n[sph]\nspacing = 0.1\n[body.beam]\n{keys}\nshape = {{ box = {{ min = [0, 0, 0], max = [0.4, 0.2, 0.2] }} }}\n"
        )
    };
    for steps in ["local", "global"] {
        assert_eq!(refused(&scene("young = 1e20", steps)), "body.beam.young");
        assert_eq!(refused(&scene("density = 1e-9", steps)), "body.beam.density");
    }
    // Stiff but possible: the step is shortened, so that it is never longer than ten thousand of the body's own.
    let mut stiff = world(&scene("young = 1e13", "local"));
    stiff.step(f64::INFINITY).unwrap();
    assert_eq!(stiff.limited_by(), "sub-steps");
    assert!(stiff.time() > 1e-7 && stiff.time() < 0.01, "{}", stiff.time());
}

#[test]
fn huge_sizes_ended_in_a_panic_or_an_abort() {
    let shape = |size: &str| format!("shape = {{ box = {{ min = [0, 0, 0], max = [{size}, {size}, {size}] }} }}\n");
    assert_eq!(refused(&format!("[rigid.box]\n{}", shape("1e6"))), "rigid.box.shape");
    assert_eq!(refused(&format!("[solid.box]\n{}", shape("1e18"))), "solid.box.shape");
    assert_eq!(refused(&format!("method = \"unified\"\n[solid.box]\n{}", shape("1e18"))), "solid.box.shape");
    assert_eq!(refused(&format!("method = \"connections\"\n[body.box]\n{}", shape("1e18"))), "body.box.shape");
    assert_eq!(refused(&format!("{TANK}[wall.far]\n{}", shape("1e300"))), "wall.far.shape");
    let periodic = "[periodic]\naxes = [\"x\"]\nmin = [0, 0, 0]\nmax = [9e18, 1, 1]\n";
    assert_eq!(refused(&format!("{TANK}{periodic}")), "periodic.max");
    let emitter = "[emitter.nozzle]\nliquid = \"water\"\ncenter = [0, 2, 0]\ndirection = [0, -1, 0]\nspeed = 1\nopening = { disc = { radius = 1e6 } }\n";
    assert_eq!(refused(&format!("{TANK}{emitter}")), "emitter.nozzle.opening");
}

#[test]
fn far_from_the_origin_it_computed_noise() {
    let at = |x: f64| {
        let (low, high) = (x, x + 0.5);
        format!(
            "[sph]\nspacing = 0.1\n[liquid.water]\nfill = [{{ box = {{ min = [{low}, 0, 0], max = [{high}, 0.3, 0.3] }} }}]\n"
        )
    };
    assert_eq!(refused(&at(1e5)), "liquid.water.fill[0]");
    assert_eq!(refused(&at(-1e4)), "liquid.water.fill[0]");
    // Single precision has 6e-5 m there, less than a thousandth of the spacing.
    world(&at(500.0)).step(f64::INFINITY).unwrap();
}

#[test]
fn a_fixed_step_far_above_what_is_stable_was_taken_in_silence() {
    let with_step = |dt: f64| world(&format!("{TANK}[time]\ndt = {dt}\n"));
    let warned = with_step(1.0).warnings().join("\n");
    assert!(warned.contains("`time.dt` = 1.000e0 s is") && warned.contains("stable at the start"), "{warned}");
    assert!(!with_step(1e-5).warnings().join("\n").contains("time.dt"));
}

/// Which pairs of particles may touch soon depends on when they were last looked for; that is no state.
#[test]
fn checkpoints_of_connections_differed_after_a_kill() {
    let scene = r#"
method = "connections"
[sph]
spacing = 0.1
[body.low]
shape = { box = { min = [0, 0.01, 0], max = [0.5, 0.3, 0.5] } }
[body.high]
velocity = [0.3, -1, 0]
shape = { box = { min = [0.1, 0.32, 0.05], max = [0.6, 0.6, 0.55] } }
[wall.floor]
shape = { plane = { point = [0, 0, 0], normal = [0, 1, 0] } }
"#;
    let steps = |world: &mut World, count: usize| (0..count).for_each(|_| world.step(f64::INFINITY).unwrap());
    let mut unbroken = world(scene);
    steps(&mut unbroken, 7);
    let saved = unbroken.save().unwrap();
    for count in [1, 2, 5, 30] {
        let mut resumed = world(scene);
        resumed.load(&saved).unwrap();
        assert_eq!(resumed.digest(), {
            let mut same = world(scene);
            same.load(&saved).unwrap();
            same.digest()
        });
        let mut on = world(scene);
        steps(&mut on, 7 + count);
        steps(&mut resumed, count);
        assert!(resumed.save().unwrap() == on.save().unwrap(), "{count} steps later");
        assert_eq!(resumed.digest(), on.digest());
    }
}

#[test]
fn bodies_that_overlapped_at_the_start_exploded() {
    let block = |name: &str, y: f64| {
        format!("[rigid.{name}]\nshape = {{ box = {{ min = [0, {y}, 0], max = [0.4, {}, 0.4] }} }}\n", y + 0.4)
    };
    let floor = "[wall.floor]\nshape = { plane = { point = [0, 0, 0], normal = [0, 1, 0] } }\n";
    let built = |text: &str| World::new(&loaded(text)).map(|world| world.warnings().to_vec());
    let refused = |text: &str| match built(text) {
        Err(BuildError::Overlap { what, with, .. }) => format!("{what} in {with}"),
        other => panic!("{other:?}"),
    };
    assert_eq!(refused(&format!("{}{}", block("a", 0.0), block("b", 0.2))), "a in b");
    assert_eq!(refused(&format!("{}{floor}", block("a", -0.2))), "a in floor");
    let tank = "[wall.tank]\nshape = { box = { min = [0, 0, 0], max = [0.2, 9, 9], open = [\"+y\"] } }\n";
    assert_eq!(refused(&format!("{}{tank}", block("a", 0.5))), "a in tank");
    let soft = "[solid.s]\nshape = { sphere = { center = [0.2, 0.5, 0.2], radius = 0.2 } }\n";
    assert_eq!(refused(&format!("{soft}{}", block("a", 0.3))), "s in a");
    let nozzle = "[emitter.n]\nliquid = \"w\"\ncenter = [0.2, 0.2, 0.2]\ndirection = [0, -1, 0]\nspeed = 1\nopening = { disc = { radius = 0.1 } }\n[liquid.w]\n";
    assert_eq!(refused(&format!("{}{nozzle}", block("a", 0.0))), "n in a");
    // Of bodies that coincide no vertex lies in the other, nor of a body that is crossed by another: they were let through.
    for method in ["gauss", "unified", "connections"] {
        for table in ["rigid", "solid"] {
            let at = |name: &str, min: [f64; 3], max: [f64; 3]| {
                format!("[{table}.{name}]\nshape = {{ box = {{ min = {min:?}, max = {max:?} }} }}\n")
            };
            let head = format!("method = \"{method}\"\nresolution = 0.05\n");
            let one = at("a", [0.0, 0.0, 0.0], [0.4, 0.4, 0.4]);
            for other in [at("b", [0.0, 0.0, 0.0], [0.4, 0.4, 0.4]), at("b", [0.1, -0.4, 0.1], [0.3, 0.8, 0.3])] {
                assert_eq!(refused(&format!("{head}{one}{other}")), "a in b", "{method}, {table}");
            }
        }
    }
    // A little is only said; what stands side by side is not.
    let shallow = built(&format!("{}{}", block("a", 0.0), block("b", 0.37))).unwrap();
    assert!(shallow.join("").contains("`a` lies 3.00e-2 m deep in `b`"), "{shallow:?}");
    assert_eq!(built(&format!("{}{}{floor}", block("a", 0.0), block("b", 0.41))).unwrap(), [""; 0]);
}

/// The first warning about energy in so many frames, and how near it came to one.
fn energy_warning(text: &str, frames: u32) -> (Option<String>, f64) {
    let mut world = world(text);
    let mut reached = 0.0f64;
    for _ in 0..frames {
        world.advance_frame(|_| {}).unwrap();
        reached = reached.max(world.unexplained_energy());
    }
    (world.warnings().iter().find(|warning| warning.starts_with("energy grew")).cloned(), reached)
}

/// Blocks that overlap by less than is refused.
fn overlapping(method: &str, table: &str, young: f64) -> String {
    let block = |name: &str, y: f64| {
        format!(
            "[{table}.{name}]\nyoung = {young}\nshape = {{ box = {{ min = [0, {y}, 0], max = [0.4, {}, 0.4] }} }}\n",
            y + 0.4
        )
    };
    format!(
        "method = \"{method}\"\ngravity = [0, 0, 0]\n[sph]\nspacing = 0.1\n{}{}",
        block("low", 0.0),
        block("high", 0.35)
    )
}

#[test]
fn energy_from_nowhere_was_not_told() {
    // A step far too long for the state equation: particles fly.
    let unstable = format!("{TANK}[time]\ndt = 0.02\n").replace("[sph]", "[sph]\npressure = \"state-equation\"");
    let (told, _) = energy_warning(&unstable, 10);
    let told = told.expect("an explosion is told");
    assert!(told.contains("stage \"find pressure\"") && told.contains("`water` is fastest"), "{told}");
    // The same with the step that is stable.
    let (none, reached) = energy_warning(&unstable.replace("dt = 0.02", "max_dt = 0.01"), 8);
    assert!(none.is_none(), "{none:?}, {reached}");
    // Particles of solids that begin in each other push each other out: 1,600 J. Elements and springs find a way out that costs none.
    let (told, _) = energy_warning(&overlapping("unified", "solid", 1e6), 4);
    let told = told.expect("what overlaps is thrown apart");
    assert!(told.contains("between 0.0000 and 0.1333 s") && told.contains("stage \"move solids\""), "{told}");
    for (method, table) in [("gauss", "solid"), ("connections", "body")] {
        let (none, reached) = energy_warning(&overlapping(method, table, 1e6), 4);
        assert!(none.is_none(), "{method}: {none:?}, {reached}");
    }
}

/// Moving walls, nozzles and drains do work: it is known.
#[test]
fn work_that_is_known_is_not_told_as_energy_from_nowhere() {
    let shaken = format!("{TANK}motion = {{ slide = {{ displacement = [0.3, 0, 0], period = 0.6 }} }}\n");
    let (none, reached) = energy_warning(&shaken, 30);
    println!("shaken {reached}");
    assert!(none.is_none(), "{none:?}");
    let nozzle = "[emitter.n]\nliquid = \"water\"\ncenter = [0.25, 0.9, 0.15]\ndirection = [0, -1, 0]\nspeed = 3\nopening = { disc = { radius = 0.11 } }\n";
    // Far below the origin what is drained takes more energy than all the rest has.
    let drain = "[drain.d]\nregion = { box = { min = [0, 0, 0], max = [0.5, 0.1, 0.3] } }\n";
    let (none, reached) = energy_warning(&format!("{TANK}{nozzle}{drain}"), 30);
    println!("filled and drained {reached}");
    assert!(none.is_none(), "{none:?}");
}

/// A cube with an edge \[m\], as a mesh file.
fn cube(edge: f64) -> String {
    let corners = (0..8).map(|k| [k & 1, k >> 1 & 1, k >> 2].map(|bit| f64::from(bit) * edge));
    let vertices: String = corners.map(|[x, y, z]| format!("v {x} {y} {z}\n")).collect();
    let quads = [[1, 3, 4, 2], [5, 6, 8, 7], [1, 2, 6, 5], [3, 7, 8, 4], [1, 5, 7, 3], [2, 4, 8, 6]];
    vertices + &quads.map(|[a, b, c, d]| format!("f {a} {b} {c}\nf {a} {c} {d}\n")).concat()
}

#[test]
fn sizes_that_cannot_be_meant_were_not_named() {
    let odd = |text: &str, edge: f64| {
        let file = move |_: &str| Ok(cube(edge).into_bytes());
        let loaded = Loaded::from_text("test", "test.toml", text, &[], &file).unwrap();
        // Nothing is built: a fill of the larger ones would take minutes.
        meniscus_sim::odd_sizes(&loaded).unwrap().join("\n")
    };
    let liver = "[solid.liver]\nshape = { mesh = { file = \"liver.obj\" } }\n";
    let told = odd(liver, 80.0);
    assert!(
        told.contains("`solid.liver`") && told.contains("80.000 m across") && told.contains("scale = 0.001"),
        "{told}"
    );
    let small = odd(liver, 0.2);
    assert!(!small.contains("across") && small.contains("implicit Euler"), "{small}");
    let bunny = "[sph]\nspacing = 0.02\n[liquid.water]\nfill = [{ mesh = { file = \"bunny.obj\" } }]\n";
    let told = odd(bunny, 10.0);
    assert!(told.contains("`liquid.water.fill[0]`") && told.contains("1.2e8 particles"), "{told}");
    let plate = format!(
        "{TANK}[solid.plate]\nedge = 0.03\nshape = {{ box = {{ min = [0.6, 0, 0], max = [0.9, 0.03, 0.3] }} }}\n"
    );
    let told = odd(&plate, 1.0);
    assert!(told.contains("3.000e-2 m thin, less than `sph.spacing`"), "{told}");
    assert!(told.contains("`plate` has one linear tetrahedron across"), "{told}");
    assert!(!odd(&plate.replace("edge = 0.03", "edge = 0.01"), 1.0).contains("linear tetrahedron"));
    assert!(!odd(&format!("{plate}fem.order = \"quadratic\"\n"), 1.0).contains("linear tetrahedron"));
}
