//! Worlds of air and water on a grid: resume, determinism, retries, what frames and probes hold.

use meniscus_scene::{Command, Loaded, Poke};
use meniscus_sim::World;

/// Everything at once: a bubble, a drop that falls, a body in the way, an open side, probes of every kind.
const SCENE: &str = r#"
method = "twophase"
fps = 50
[twophase]
spacing = 0.05
[twophase.sides]
x_max = { open = { wave_speed = 2 } }
[liquid.pool]
fill = [{ box = { min = [0, 0, 0], max = [1, 0.42, 0.5] } }]
cutouts = [{ sphere = { center = [0.3, 0.2, 0.25], radius = 0.1 } }]
[liquid.drop]
fill = [{ sphere = { center = [0.5, 0.7, 0.2], radius = 0.12 } }]
velocity = [0, -1, 0]
spin = [0, 0, 2]
[wall.tank]
shape = { box = { min = [0, 0, 0], max = [1, 1, 0.5], open = ["+y"] } }
friction = "no-slip"
[wall.ramp]
shape = { plane = { point = [0.7, 0, 0], normal = [-0.5, 1, 0] } }
[probe.p]
point = [0.12, 0.22, 0.32]
[probe.q]
plane = { point = [0.5, 0, 0], normal = [1, 0, 0] }
[probe.level]
gauge = [0.1, 0, 0.1]
[[script]]
time = 0.02
command = { set = { key = "gravity", value = [1.0, -9.81, 0.0] } }
"#;

fn world(overrides: &[&str]) -> World {
    let overrides: Vec<String> = overrides.iter().map(|s| (*s).to_owned()).collect();
    let none = |_: &str| Err(std::io::ErrorKind::NotFound.into());
    World::new(&Loaded::from_text("small", "small.toml", SCENE, &overrides, &none).unwrap()).unwrap()
}

fn steps(world: &mut World, count: usize) {
    (0..count).for_each(|_| world.step(f64::INFINITY).unwrap());
}

#[test]
fn sixty_steps_are_thirty_and_thirty() {
    let mut unbroken = world(&[]);
    steps(&mut unbroken, 30);
    let saved = unbroken.save().unwrap();
    steps(&mut unbroken, 30);
    let mut resumed = world(&[]);
    resumed.load(&saved).unwrap();
    steps(&mut resumed, 30);
    assert_eq!(resumed.digest(), unbroken.digest());
    assert_eq!(resumed.frame(), unbroken.frame());
    assert!(unbroken.time() > 0.02, "the script had its say");
    assert!(world(&["twophase.spacing=0.1"]).load(&saved).is_err(), "a state of another grid is refused");
}

#[test]
fn one_and_two_threads_give_the_same_bits() {
    let run = |threads: usize| {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(|| {
            let mut world = world(&["twophase.spacing=0.025"]);
            let poke = Poke { center: [0.2, 0.3, 0.2], radius: 0.2, velocity: [0.0, 1.0, 0.0] };
            world.apply(Command::Poke(poke)).unwrap();
            steps(&mut world, 20);
            (world.digest(), world.measure())
        })
    };
    assert_eq!(run(1), run(2));
}

#[test]
fn a_step_that_is_too_long_is_tried_again_shorter() {
    let mut world = world(&["time.dt=0.05"]);
    steps(&mut world, 3);
    assert!(world.report().retries > 0);
    assert!(world.time() < 0.15);
    // Nothing shorter is allowed: the world is as it was, and the error says why.
    let mut stuck = self::world(&["time.dt=0.05", "time.min_dt=0.05", "time.max_dt=0.05"]);
    let error = (0..10).find_map(|_| stuck.step(f64::INFINITY).err()).unwrap();
    assert!(error.to_string().contains("cells in one step"), "{error}");
}

#[test]
fn frames_hold_the_surface_and_probes_their_columns() {
    let mut world = world(&[]);
    let columns = world.columns();
    let at = |name: &str| columns.iter().position(|column| column == name).unwrap_or_else(|| panic!("{columns:?}"));
    let before = world.measure();
    assert_eq!(before.len(), columns.len());
    assert!((before[at("level.level [m]")] - 0.42).abs() < 1e-12);
    assert_eq!(before[at("bubbles")], 1.0);
    let ball = 4.0 / 3.0 * std::f64::consts::PI * 0.001;
    assert!((before[at("bubble volume [m3]")] / ball - 1.0).abs() < 0.02, "{before:?}");
    assert_eq!(before[at("p.density [kg/m3]")], 1000.0);
    steps(&mut world, 10);
    let frame = world.frame();
    let surface = frame.surfaces.last().unwrap();
    assert_eq!(surface.positions.len(), surface.velocities.len());
    assert!(surface.triangles.iter().flatten().all(|&v| (v as usize) < surface.positions.len()));
    let lowest = surface.velocities.iter().map(|v| v.y).fold(0.0, f32::min);
    assert!((-3.0..-0.5).contains(&lowest), "the drop falls at {lowest} m/s");
    let fields = world.fields().unwrap();
    let cells = fields.cells.iter().product::<u32>() as usize;
    assert_eq!(fields.cells, [20, 20, 10]);
    assert!(fields.scalars.iter().all(|(_, values)| values.len() == cells));
    assert!(fields.vectors.iter().all(|(_, values)| values.len() == cells));
}
