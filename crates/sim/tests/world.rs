//! Worlds as a whole: resume, replay, determinism, retries.

use meniscus_scene::{Command, Loaded, Poke, Set, Value};
use meniscus_sim::{Logged, World};

const SMALL: &str = r#"
seconds = 0.2
fps = 50
[sph]
spacing = 0.05
[liquid.water]
fill = [{ box = { min = [0, 0, 0], max = [0.4, 0.6, 0.4] } }]
[emitter.tap]
liquid = "water"
center = [0.8, 0.8, 0.2]
direction = [0, -1, 0]
opening = { disc = { radius = 0.1 } }
speed = 3
[wall.tank]
shape = { box = { min = [0, 0, 0], max = [1, 1, 0.4], open = ["+y"] } }
[drain.corner]
region = { box = { min = [0.9, 0, 0], max = [1, 0.1, 0.4] } }
[probe.p]
point = [0.2, 0.2, 0.2]
[probe.q]
plane = { point = [0.5, 0, 0], normal = [2, 0, 0] }
[[script]]
time = 0.1
command = { set = { key = "gravity", value = [1.0, -9.81, 0.0] } }
"#;

fn load(text: &str, overrides: &[&str]) -> Loaded {
    let overrides: Vec<String> = overrides.iter().map(|s| (*s).to_owned()).collect();
    Loaded::from_text("small", "small.toml", text, &overrides, &|_| Err(std::io::ErrorKind::NotFound.into())).unwrap()
}

fn world(text: &str) -> World {
    World::new(&load(text, &[])).unwrap()
}

fn steps(world: &mut World, count: usize) {
    (0..count).for_each(|_| world.step(f64::INFINITY).unwrap());
}

#[test]
fn four_hundred_steps_are_two_hundred_and_two_hundred() {
    let mut unbroken = world(SMALL);
    steps(&mut unbroken, 200);
    let saved = unbroken.save().unwrap();
    let half_way = unbroken.digest();
    steps(&mut unbroken, 200);
    let mut resumed = world(SMALL);
    resumed.load(&saved).unwrap();
    assert_eq!(resumed.digest(), half_way);
    steps(&mut resumed, 200);
    assert_eq!(resumed.digest(), unbroken.digest());
    assert_eq!(resumed.frame(), unbroken.frame());
    assert!(unbroken.time() > 0.1, "the script had its say");
}

#[test]
fn digests_do_not_depend_on_threads() {
    let digest = |threads: usize| {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(|| {
            let mut world = world(SMALL);
            steps(&mut world, 150);
            world.digest()
        })
    };
    assert_eq!(digest(1), digest(2));
    assert_eq!(digest(1), digest(3));
}

#[test]
fn live_commands_replay_bit_for_bit() {
    let mut live = world(SMALL);
    steps(&mut live, 20);
    live.apply(Command::Poke(Poke { center: [0.2, 0.3, 0.2], radius: 0.3, velocity: [2.0, 1.0, 0.0] })).unwrap();
    steps(&mut live, 20);
    live.apply(Command::Set(Set { key: "liquid.water.viscosity".into(), value: Value::Number(5.0) })).unwrap();
    live.apply(Command::Set(Set { key: "emitter.tap.speed".into(), value: Value::Number(1.0) })).unwrap();
    steps(&mut live, 30);
    let log: Vec<Logged> = serde_json::from_str(&serde_json::to_string(live.log()).unwrap()).unwrap();
    assert_eq!(log.iter().map(|logged| logged.step).collect::<Vec<_>>(), [20, 40, 40]);

    let mut replayed = world(SMALL);
    replayed.replay(log).unwrap();
    steps(&mut replayed, 70);
    assert_eq!(replayed.digest(), live.digest());
    assert_eq!(replayed.log(), live.log());

    // Settings survive a save.
    let mut resumed = world(SMALL);
    resumed.load(&live.save().unwrap()).unwrap();
    steps(&mut resumed, 30);
    steps(&mut live, 30);
    assert_eq!(resumed.digest(), live.digest());

    let mut idle = world(SMALL);
    steps(&mut idle, 100);
    assert_ne!(idle.digest(), live.digest());
}

#[test]
fn commands_that_make_no_sense_are_refused() {
    let mut world = world(SMALL);
    let set = |key: &str, value: Value| Command::Set(Set { key: key.into(), value });
    assert!(world.apply(set("gravity", Value::Number(1.0))).unwrap_err().contains("three numbers"));
    let unknown = world.apply(set("liquid.milk.viscosity", Value::Number(1.0))).unwrap_err();
    assert!(unknown.contains("liquid.water.viscosity"), "{unknown}");
    assert!(world.apply(set("liquid.water.viscosity", Value::Number(f64::NAN))).is_err());
    assert!(world.apply(Command::Poke(Poke { center: [0.0; 3], radius: 0.0, velocity: [0.0; 3] })).is_err());
    assert!(world.log().is_empty());
}

#[test]
fn frames_end_on_time_and_rows_fit_their_columns() {
    let mut world = world(SMALL);
    for number in 1..=10 {
        world.advance_frame(|_| ()).unwrap();
        assert_eq!(world.time(), f64::from(number) / 50.0);
        let frame = world.frame();
        assert_eq!((frame.number, frame.time), (number, world.time()));
        assert!(frame.particles.ids.windows(2).all(|pair| pair[0] < pair[1]));
        assert_eq!(world.measure().len(), world.columns().len());
    }
    let columns = world.columns();
    let value = |name: &str| world.measure()[columns.iter().position(|c| c == name).expect(name)];
    assert!(value("p.density [kg/m3]") > 700.0 && value("tank.fy [N]") < 0.0);
    assert!(value("q.flow [m3/s]") > 0.0, "water runs to the right");
}

#[test]
fn steps_of_a_frame_have_the_same_length() {
    let mut world = World::new(&load(SMALL, &["time.dt=0.003"])).unwrap();
    let mut lengths = Vec::new();
    world.advance_frame(|world| lengths.push(world.report().dt)).unwrap();
    assert_eq!(lengths.len(), 7, "a frame of 0.02 s");
    assert!(lengths.iter().all(|dt| (dt - 0.02 / 7.0).abs() < 1e-15), "{lengths:?}");
}

#[test]
fn a_step_that_is_too_long_is_cut_and_one_that_cannot_work_is_located() {
    // A fixed step far beyond stability: some steps fail and are retried at half their length.
    let mut wild = World::new(&load(SMALL, &["time.dt=0.05"])).unwrap();
    let mut retries = 0;
    for _ in 0..20 {
        wild.step(f64::INFINITY).unwrap();
        retries += wild.report().retries;
    }
    assert!(retries > 0);
    assert!(wild.frame().particles.positions.iter().all(|p| p.is_finite()));

    // No step is small enough for a poke faster than light.
    let mut doomed = world(SMALL);
    steps(&mut doomed, 5);
    let before = doomed.frame();
    doomed.apply(Command::Poke(Poke { center: [0.2, 0.3, 0.2], radius: 0.5, velocity: [1e9, 0.0, 0.0] })).unwrap();
    let error = doomed.step(f64::INFINITY).unwrap_err();
    assert_eq!((error.stage.as_str(), error.body.as_str()), ("advance", "water"));
    assert!(error.index.is_some());
    assert_eq!(doomed.frame().particles.positions, before.particles.positions, "rolled back");
}

#[test]
fn a_foreign_state_is_refused() {
    let mut world = world(SMALL);
    assert!(world.load(b"nonsense").is_err());
    let second_tap =
        "[emitter.a]\nliquid=\"water\"\ncenter=[0,0.9,0]\ndirection=[0,-1,0]\nopening={disc={radius=0.1}}\n";
    let two_taps = SMALL.replace("[emitter.tap]", &format!("{second_tap}[emitter.tap]"));
    let mut other = World::new(&load(&two_taps, &[])).unwrap();
    assert!(other.load(&world.save().unwrap()).is_err(), "one emitter more");
}
