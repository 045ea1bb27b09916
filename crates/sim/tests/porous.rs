//! Porous solids of the method `unified`: they soak, weigh more for it, and drain; momentum stays; the same bits however they are run.

use meniscus_scene::Loaded;
use meniscus_sim::World;
use std::io::ErrorKind;

fn load(text: &str) -> Loaded {
    Loaded::from_text("porous", "porous.toml", text, &[], &|_| Err(ErrorKind::NotFound.into())).unwrap()
}

fn reading(world: &World, column: &str) -> f64 {
    let number = world.columns().iter().position(|name| name == column).unwrap_or_else(|| panic!("no {column}"));
    world.measure()[number]
}

fn run_until(world: &mut World, time: f64) {
    while world.time() < time {
        world.step(time).unwrap();
    }
}

/// A block of 0.16 m, four tenths of its volume under water, in a tank.
fn floating(density: f64) -> String {
    format!(
        r#"
method = "unified"
fps = 50
[sph]
spacing = 0.04
[liquid.water]
fill = [{{ box = {{ min = [-0.2, 0, -0.2], max = [0.2, 0.32, 0.2] }} }}]
[wall.tank]
shape = {{ box = {{ min = [-0.2, 0, -0.2], max = [0.2, 0.8, 0.2], open = ["+y"] }} }}
[solid.block]
shape = {{ box = {{ min = [-0.08, 0.32, -0.08], max = [0.08, 0.48, 0.08] }} }}
young = 1e5
stiffness_damping = 0.001
density = {density:?}
porosity = 0.8
permeability = 1e-7
"#
    )
}

/// Its matter is 0.2 of it: a block of 300 kg/m³ floats as long as it is dry and sinks when it is soaked, one of 100 kg/m³ stays.
#[test]
fn a_body_soaks_and_sinks_if_its_matter_is_heavier_than_water() {
    let height = |density: f64| {
        let mut world = World::new(&load(&floating(density))).unwrap();
        let dry = reading(&world, "block.mass with liquid [kg]");
        assert!((dry - density * 0.16f64.powi(3)).abs() < 1e-9, "{dry}");
        run_until(&mut world, 3.0);
        let [saturation, held] =
            ["block.saturation [1]", "block.liquid held [kg]"].map(|column| reading(&world, column));
        assert!((reading(&world, "block.mass with liquid [kg]") - dry - held).abs() < 1e-9);
        (reading(&world, "block.y [m]"), saturation)
    };
    let (low, full) = height(300.0);
    let (high, part) = height(100.0);
    // A particle more or less is 2 % of what its pores hold.
    assert!(low < 0.12 && full > 0.7, "at {low} m, {full} full");
    assert!(high > 0.2 && part < 0.8, "at {high} m, {part} full");
}

#[test]
fn a_soaked_body_drains_when_it_is_lifted() {
    let text = r#"
method = "unified"
[sph]
spacing = 0.04
[liquid.water]
fill = [{ box = { min = [-0.08, 0.2, -0.08], max = [0.08, 0.36, 0.08] } }]
[wall.floor]
shape = { plane = { point = [0, 0, 0], normal = [0, 1, 0] } }
[solid.block]
shape = { box = { min = [-0.08, 0.2, -0.08], max = [0.08, 0.36, 0.08] } }
density = 300
porosity = 0.8
permeability = 1e-8
fixed = [{ region = { box = { min = [-0.1, 0.1, -0.1], max = [0.1, 0.4, 0.1] } } }]
"#;
    let mut world = World::new(&load(text)).unwrap();
    let soaked = reading(&world, "block.mass with liquid [kg]");
    let full = reading(&world, "block.saturation [1]");
    assert!(full > 0.7 && soaked > 2.0 * 300.0 * 0.16f64.powi(3), "{full} full, {soaked} kg");
    // In its pores water falls at k ρ g/(μ φ) = 0.12 m/s.
    run_until(&mut world, 2.5);
    assert!(reading(&world, "block.saturation [1]") < 0.1 * full);
}

/// A hand holds a soaked block whose pores let next to nothing out: its force carries the block and its water.
#[test]
fn a_soaked_body_weighs_what_it_is_and_what_it_holds() {
    let text = |fill: &str| {
        format!(
            r#"
method = "unified"
domain = {{ min = [-9, -9, -9], max = [9, 9, 9] }}
[sph]
spacing = 0.02
[liquid.water]
fill = [{{ box = {{ {fill} }} }}]
[wall.shelf]
shape = {{ plane = {{ point = [0, -2, 0], normal = [0, 1, 0] }} }}
[solid.block]
shape = {{ box = {{ min = [-0.08, 0, -0.08], max = [0.08, 0.16, 0.08] }} }}
density = 300
young = 1e6
stiffness_damping = 0.002
porosity = 0.669921875
permeability = 1e-11
[pull.hand]
body = "block"
at = {{ point = [0, 0.16, 0] }}
stiffness = 600
"#
        )
    };
    // What the hand has given in half a second, but for what moves faster or slower after it.
    let weigh = |fill: &str| {
        let mut world = World::new(&load(&text(fill))).unwrap();
        run_until(&mut world, 0.5);
        let (start, before, mut given) = (world.time(), world.totals().momentum.y, 0.0);
        while world.time() < 1.0 {
            let time = world.time();
            world.step(1.0).unwrap();
            given += world.hands()[0].force.y * (world.time() - time);
        }
        let kept = world.totals().momentum.y - before;
        [(given - kept) / (world.time() - start), reading(&world, "block.liquid held [kg]")]
    };
    let own = 300.0 * 0.16f64.powi(3);
    let [dry, none] = weigh("min = [4, -2, 4], max = [4.1, -1.9, 4.1]");
    assert!(none == 0.0 && (dry / (9.81 * own) - 1.0).abs() < 0.01, "12.05 N dry: {dry} N, {none} kg");
    let [soaked, held] = weigh("min = [-0.08, 0, -0.08], max = [0.08, 0.16, 0.08]");
    // Seven layers of liquid where there are eight of the solid.
    assert!((held - 343.0 * 0.008).abs() < 1e-9, "{held} kg");
    assert!((soaked / (9.81 * (own + held)) - 1.0).abs() < 0.01, "38.97 N soaked: {soaked} N with {held} kg");
}

/// Drag is a thousand times faster than a step, the solid lighter than its water and stiff: nothing may shake it as it falls.
#[test]
fn a_soaked_body_of_fine_pores_falls_as_one() {
    for (young, permeability) in [("1e5", "1e-9"), ("1e6", "1e-11"), ("1e6", "1e-14")] {
        let text = format!(
            r#"
method = "unified"
domain = {{ min = [-9, -9, -9], max = [9, 9, 9] }}
[sph]
spacing = 0.02
[liquid.water]
fill = [{{ box = {{ min = [-0.08, 0, -0.08], max = [0.08, 0.16, 0.08] }} }}]
[solid.block]
shape = {{ box = {{ min = [-0.08, 0, -0.08], max = [0.08, 0.16, 0.08] }} }}
density = 300
young = {young}
stiffness_damping = 0.0005
porosity = 0.669921875
permeability = {permeability}
"#
        );
        let mut world = World::new(&load(&text)).unwrap();
        run_until(&mut world, 0.4);
        // Falling it has 32 J. Particles at its edges are hardly in it: a hair's breadth decides.
        let [elastic, saturation] =
            ["block.elastic energy [J]", "block.saturation [1]"].map(|column| reading(&world, column));
        assert!(elastic < 1e-3 && saturation > 0.9, "E = {young}, k = {permeability}: {elastic} J, {saturation}");
    }
}

/// Water falls on a light sponge in space without walls.
const COLLISION: &str = r#"
method = "unified"
gravity = [0, 0, 0]
fps = 50
domain = { min = [-9, -9, -9], max = [9, 9, 9] }
[sph]
spacing = 0.02
[liquid.water]
velocity = [1, 0.3, 0]
fill = [{ sphere = { center = [-0.13, 0, 0], radius = 0.08 } }]
[solid.sponge]
density = 100
young = 5e4
stiffness_damping = 0.001
porosity = 0.8
permeability = 1e-7
suction = 100
velocity = [0, 0.2, 0]
shape = { box = { min = [-0.04, -0.06, -0.06], max = [0.08, 0.06, 0.06] } }
"#;

#[test]
fn momentum_and_mass_stay() {
    let mut world = World::new(&load(COLLISION)).unwrap();
    let (before, count) = (world.totals().momentum, world.frame().particles.positions.len());
    run_until(&mut world, 0.2);
    let change = (world.totals().momentum - before).length() / before.length();
    assert!(change < 1e-5, "{change:e}");
    assert_eq!(world.frame().particles.positions.len(), count);
    assert!(reading(&world, "sponge.liquid held [kg]") > 0.0);
    assert!(reading(&world, "sponge.x [m]") > 0.03, "it is taken along");
}

#[test]
fn the_same_bits_on_one_thread_and_on_three_and_from_a_checkpoint() {
    let run = |threads: usize| {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(|| {
            let mut world = World::new(&load(COLLISION)).unwrap();
            (0..4).for_each(|_| world.advance_frame(|_| ()).unwrap());
            let saved = world.save().unwrap();
            (0..2).for_each(|_| world.advance_frame(|_| ()).unwrap());
            let mut resumed = World::new(&load(COLLISION)).unwrap();
            resumed.load(&saved).unwrap();
            (0..2).for_each(|_| resumed.advance_frame(|_| ()).unwrap());
            assert_eq!(world.digest(), resumed.digest());
            world.digest()
        })
    };
    assert_eq!(run(1), run(3));
}
