//! Liquid and soft solids together: weight, level, the same bits however it is run, no leak.

use meniscus_geometry::{Bvh, TriangleMesh};
use meniscus_scene::Loaded;
use meniscus_sim::World;

/// A light soft cube that floats in a tank.
const FLOAT: &str = r#"
[sph]
spacing = 0.05
[liquid.water]
fill = [{ box = { min = [-0.4, 0, -0.4], max = [0.4, 0.4, 0.4] } }]
[wall.tank]
shape = { box = { min = [-0.4, 0, -0.4], max = [0.4, 1, 0.4], open = ["+y"] } }
[solid.cube]
shape = { box = { min = [-0.15, 0.25, -0.15], max = [0.15, 0.55, 0.15] } }
target_tets = 200
young = 1e5
density = 400
"#;

/// Water in a soft pool whose wall is pulled.
const POOL: &str = r#"
[sph]
spacing = 0.06
[liquid.water]
fill = [{ box = { min = [-0.3, 0.1, -0.3], max = [0.3, 0.45, 0.3] } }]
[solid.pool]
shape = { pool = { min = [-0.3, 0.1, -0.3], max = [0.3, 0.5, 0.3], thickness = 0.1 } }
target_tets = 300
young = 1e5
stiffness_damping = 0.01
fixed = [{ region = { box = { min = [-1, -0.01, -1], max = [1, 0.01, 1] } } }]
[wall.floor]
shape = { plane = { point = [0, 0, 0], normal = [0, 1, 0] } }
[pull.hand]
at = { point = [0.4, 0.5, 0] }
stiffness = 2e3
motion = { slide = { displacement = [0.3, -0.2, 0], period = 0.4 } }
"#;

/// Water on a thin plate of aluminium that is clamped at both ends.
const PLATE: &str = r#"
[sph]
spacing = 0.1
[liquid.water]
fill = [{ box = { min = [0, 0, -0.1], max = [1, 1, 0.1] } }]
[wall.tank]
shape = { box = { min = [0, -1, -0.1], max = [1, 2, 0.1], open = ["-y", "+y"] } }
[solid.plate]
shape = { box = { min = [0, -0.05, -0.1], max = [1, 0, 0.1] } }
target_tets = 100
young = 6.75e10
density = 2700
fixed = [
    { region = { box = { min = [-1, -1, -1], max = [0, 1, 1] } } },
    { region = { box = { min = [1, -1, -1], max = [2, 1, 1] } } },
]
"#;

fn world(text: &str) -> World {
    let none = |_: &str| Err(std::io::ErrorKind::NotFound.into());
    World::new(&Loaded::from_text("coupling", "coupling.toml", text, &[], &none).unwrap()).unwrap()
}

fn until(world: &mut World, time: f64) {
    while world.time() < time {
        world.step(time).unwrap();
    }
}

fn read(world: &World, column: &str) -> f64 {
    let number = world.columns().iter().position(|name| name == column).unwrap_or_else(|| panic!("no {column}"));
    world.measure()[number]
}

#[test]
fn a_light_soft_cube_floats_at_its_draught() {
    float(FLOAT);
}

#[test]
fn a_light_rigid_cube_floats_at_its_draught() {
    let rigid = FLOAT
        .replace("[solid.cube]", "[rigid.cube]")
        .replace("target_tets = 200\nyoung = 1e5\ndensity = 400", "density = 400");
    float(&rigid);
}

#[test]
fn a_light_cube_floats_in_the_papers_liquid_too() {
    float(&FLOAT.replace("spacing = 0.05", "spacing = 0.05\npressure = \"state-equation\""));
}

fn float(scene: &str) {
    let mut world = world(scene);
    assert!(world.warnings()[0].contains("lie in `cube`"), "{:?}", world.warnings());
    until(&mut world, 3.0);
    let mean = |world: &mut World, column: &str| {
        let start = world.time();
        let mut sum = 0.0;
        for k in 1..=20 {
            until(world, start + 0.05 * f64::from(k));
            sum += read(world, column);
        }
        sum / 20.0
    };
    // The level rises by what the cube displaces: 0.4 of its volume, in a tank of 0.64 m².
    let particles = world.frame().particles.positions.len() as f64;
    let water = particles * 0.05f64.powi(3);
    let level = (water + 0.4 * 0.027) / 0.64;
    let center = mean(&mut world, "cube.y [m]");
    // However it tilts, four tenths of it are under water; upright its centre is 0.03 m above the level.
    assert!((center - (level + 0.03)).abs() < 0.025, "half a spacing: {center} {level}");
}

#[test]
fn nothing_leaks_and_threads_and_checkpoints_do_not_matter() {
    let run = |threads: usize| {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(|| {
            let mut world = world(POOL);
            until(&mut world, 0.3);
            let saved = world.save().unwrap();
            until(&mut world, 0.5);
            (world, saved)
        })
    };
    let ((one, saved), (two, _)) = (run(1), run(2));
    assert_eq!(one.digest(), two.digest());
    let mut resumed = world(POOL);
    resumed.load(&saved).unwrap();
    until(&mut resumed, 0.5);
    assert_eq!(resumed.digest(), one.digest());
    assert_eq!(inside_of_pool(&one), 0, "no particle is in the wall of the pool");
}

/// Particles inside of the pool's wall.
fn inside_of_pool(world: &World) -> usize {
    let frame = world.frame();
    let pool = &frame.surfaces[0];
    let corners = pool.positions.iter().map(|p| p.as_dvec3()).collect();
    let tree = Bvh::new(&TriangleMesh::new(corners, pool.triangles.clone()).unwrap());
    frame.particles.positions.iter().filter(|p| tree.inside(p.as_dvec3())).count()
}

/// The water weighs fifteen times as much as the plate, which hardly moves: taken for loose nodes it would yield to every change of
/// the pressure, and the water would fall, rise and fall again (113 J).
#[test]
fn water_comes_to_rest_on_a_stiff_plate() {
    let mut world = world(PLATE);
    let mut most = 0.0f64;
    for k in 1..=10 {
        until(&mut world, 0.05 * f64::from(k));
        most = most.max(read(&world, "kinetic energy [J]"));
    }
    assert!(most < 3.0, "{most} J");
}

/// Water in a pool that is light and stiff settles as it does between walls. Were the pool's nodes taken for loose ones, in whatever
/// measure, the water would shake it on and on.
#[test]
fn water_settles_in_a_light_stiff_pool_as_between_walls() {
    let pool =
        &POOL.replace("young = 1e5", "young = 1e7\ndensity = 300").replace("stiffness = 2e3", "stiffness = 1e-3");
    let (water, _) = pool.split_once("[solid.pool]").unwrap();
    let tank = "[wall.tank]\nshape = { box = { min = [-0.3, 0.1, -0.3], max = [0.3, 0.5, 0.3], open = [\"+y\"] } }";
    // Alone among walls its gradients would be corrected: another liquid.
    let water = &water.replace("[sph]", "[sph]\ngradients = \"plain\"");
    let energy = |text: &str| {
        let mut world = world(text);
        until(&mut world, 1.0);
        let late = (1..=10).map(|k| {
            until(&mut world, 1.0 + 0.1 * f64::from(k));
            read(&world, "kinetic energy [J]")
        });
        late.sum::<f64>() / 10.0
    };
    let (soft, rigid) = (energy(pool), energy(&format!("{water}{tank}")));
    assert!(soft < 1.5 * rigid, "{soft} J, between walls {rigid} J");
}

/// The paper's wall holds a cube up, but the liquid crowds before it: without the wall's part of the density a layer there
/// takes up less room than it should, and the cube sinks deeper than by the wall's pressure.
#[test]
fn the_papers_wall_floats_a_cube_too_deep() {
    let mut world = world(&format!("{FLOAT}[coupling]\nwall = \"traction\"\n"));
    until(&mut world, 2.0);
    let before = read(&world, "cube.y [m]");
    until(&mut world, 2.5);
    let center = read(&world, "cube.y [m]");
    assert!((center - before).abs() < 0.01, "it rests: {before} {center}");
    let level = (world.frame().particles.positions.len() as f64 * 0.05f64.powi(3) + 0.4 * 0.027) / 0.64;
    assert!(center > 0.2 && center < level, "above the ground, below its draught: {center} {level}");
}

#[test]
fn a_pool_that_breaks_while_it_is_wet_leaks_through_its_cracks_only() {
    let mut world = world(
        &format!("{POOL}[time]\ndt = 0.004\n")
            .replace("stiffness_damping = 0.01", "stiffness_damping = 0.01\nfracture = { strength = 1500 }"),
    );
    let mut cracks = 0.0;
    while world.time() < 0.4 {
        world.step(0.4).unwrap();
        cracks += world.report().counter("cracks").unwrap_or(0.0);
        let frame = world.frame();
        for solid in &frame.surfaces {
            let corners = solid.positions.iter().map(|p| p.as_dvec3()).collect();
            let tree = Bvh::new(&TriangleMesh::new(corners, solid.triangles.clone()).unwrap());
            let inside = frame.particles.positions.iter().filter(|p| tree.inside(p.as_dvec3())).count();
            assert_eq!(inside, 0, "at {} s", world.time());
        }
    }
    assert!(cracks > 5.0, "{cracks} cracks");
}

#[test]
fn solids_that_move_faster_than_the_liquid_take_more_steps() {
    // A small stone shot into still water: its own step is shorter than the liquid's.
    let scene = FLOAT
        .replace("[solid.cube]", "[rigid.cube]")
        .replace("target_tets = 200\nyoung = 1e5\ndensity = 400", "density = 8000\nvelocity = [0, -8, 0]");
    let steps = |substeps: u32| {
        let mut world = world(&format!("{scene}[coupling]\nsubsteps = {substeps}\n"));
        let mut steps = 0;
        while world.time() < 0.02 {
            world.step(0.02).unwrap();
            steps += 1;
        }
        (steps, read(&world, "cube.y [m]"))
    };
    let ((alone, y), (together, y_of_many)) = (steps(1), steps(8));
    assert!(together <= alone, "{together} {alone}");
    assert!((y - y_of_many).abs() < 0.02, "{y} {y_of_many}");
}
