//! A live simulation at its socket: what is done is done, logged, and can be repeated; pictures come in time.

mod support;

use meniscus::gallery;
use meniscus::scene::Loaded;
use meniscus::sim::{Logged, World};
use std::time::{Duration, Instant};
use support::{Client, options, play, play_into};

#[test]
fn a_session_can_be_repeated_bit_for_bit() {
    let place = tempfile::tempdir().unwrap();
    let set = ["solid.jelly.target_tets=200", "solid.rubber.target_tets=150", "solid.puck.target_tets=150"];
    let server = play_into("jelly-drop", &set, &options(), Some(place.path().to_owned()));
    let mut client = Client::connect(&server);
    client.until("there is a frame", |c| c.frames > 0);
    let grab = r#"{"type":"command","command":{"grab":{"at":{"point":[0,0.35,0]},"body":"jelly"}}}"#;
    client.send(grab);
    client.until("the hand holds", |c| c.status["hands"].as_array().is_some_and(|hands| hands.len() == 1));
    for k in 0..10 {
        client.send(&format!(
            r#"{{"type":"command","command":{{"move":{{"target":[0.1,{},0]}}}}}}"#,
            0.35 + 0.02 * f64::from(k)
        ));
        let frames = client.frames;
        client.until("a frame later", |c| c.frames > frames);
    }
    client.send(r#"{"type":"command","command":{"set":{"key":"solid.jelly.young","value":40000}}}"#);
    // A viewer that goes lets go; the next one sees it.
    drop(client);
    let mut client = Client::connect(&server);
    client.until("nobody holds", |c| c.status["hands"].as_array().is_some_and(Vec::is_empty));
    client.send(r#"{"type":"pause","on":true}"#);
    client.until("it stands", |c| c.status["running"] == false && c.status["step"].as_f64() == Some(step(c)));
    let (steps, frame) = (step(&client), client.frame.clone());

    let folder = place.path().join("jelly-drop");
    let rows = meniscus_record::read_commands(folder.join("commands.jsonl")).unwrap();
    let log: Vec<Logged> = rows.into_iter().map(|row| serde_json::from_value(row).unwrap()).collect();
    assert!(log.len() >= 13, "{}", log.len());
    let loaded = Loaded::from_file(&folder.join("scene.toml"), &[]).unwrap();
    let mut world = World::new(&loaded).unwrap();
    world.replay(log).unwrap();
    while (world.steps() as f64) < steps {
        world.step_to_frame().unwrap();
    }
    let again = meniscus_viewer::protocol::encode_frame(&world.frame(), &Default::default(), 0, 0);
    // All but the numbers of topology and picture.
    assert_eq!(frame[16..], again[16..]);
}

/// Stops the world that ran while the client connected and puts a new one in its place, which stands at its first frame: frames
/// and news of the old one that are still under way are not taken for the new one's.
fn start_anew(client: &mut Client) {
    client.send(r#"{"type":"pause","on":true}"#);
    client.until("it stands", |c| c.status["running"] == false && c.scene["generation"].is_u64());
    let before = client.scene["generation"].as_u64();
    client.send(r#"{"type":"reset"}"#);
    client.until("a new world stands", |c| {
        let generation = c.scene["generation"].as_u64();
        let told = c.status["generation"].as_u64() == generation && c.status["frame"] == 0;
        generation > before && told && c.frames > 0 && c.u32_at(16) == 0
    });
}

fn step(client: &Client) -> f64 {
    f64::from_le_bytes(client.frame[32..40].try_into().unwrap())
}

#[test]
fn topology_is_sent_once_and_pictures_follow_each_other() {
    let server = play("dam-break", &["sph.spacing=0.05"], &options());
    let mut client = Client::connect(&server);
    client.until("twenty frames", |c| c.frames >= 20);
    assert_eq!(client.topologies, 1);
    assert_eq!(client.scene["mode"], "live");
    assert_eq!(client.scene["protocol"], i32::from(meniscus_viewer::protocol::VERSION));
}

/// The client itself asserts that no topology comes twice.
#[test]
fn triangles_come_again_when_a_body_tears_and_only_then() {
    let set = ["solid.bar.edge=0.05", "solid.bar.fracture.strength=6e4"];
    let server = play("bar-snap", &set, &options());
    let mut client = Client::connect(&server);
    client.until("there is a frame", |c| c.frames > 0);
    let whole = client.surfaces();
    client.until("it is torn", |c| c.status["pieces"].as_f64() >= Some(2.0));
    client.send(r#"{"type":"pause","on":true}"#);
    client.until("it stands", |c| c.status["running"] == false && c.status["step"].as_f64() == Some(step(c)));
    assert!(client.topologies > 1 && client.is_whole(), "{} topologies", client.topologies);
    let triangles = |surfaces: &[(bool, usize, usize)]| surfaces.iter().map(|surface| surface.2).sum::<usize>();
    let torn = client.surfaces();
    assert!(torn.len() > whole.len() || triangles(&torn) > triangles(&whole), "{whole:?} {torn:?}");
    // What moves and cannot tear sends none.
    let before = (client.topologies, client.frames);
    client.send(r#"{"type":"command","command":{"set":{"key":"solid.bar.fracture.strength","value":1e30}}}"#);
    client.send(r#"{"type":"pause","on":false}"#);
    client.until("more frames", |c| c.frames > before.1 + 10);
    assert_eq!(client.topologies, before.0);
}

/// The first frames of all that can be chosen, at its own size.
#[test]
fn every_scene_of_the_gallery_is_sent() {
    let server = play("dam-break", &["sph.spacing=0.1"], &options());
    let mut client = Client::connect(&server);
    client.until("there is a scene", |c| c.scene["gallery"].is_array() && c.frames > 0);
    let names: Vec<_> = client.scene["gallery"].as_array().unwrap().iter().map(|card| card["name"].clone()).collect();
    assert_eq!(names.len(), gallery::GALLERY.len());
    for name in names {
        let start = Instant::now();
        client.send(&serde_json::json!({ "type": "load", "scene": name }).to_string());
        let before = client.scene["generation"].as_u64();
        client.until(&format!("{name} is there"), |c| c.scene["generation"].as_u64() > before || c.refused.is_some());
        assert!(client.scene["name"] == name && client.refused.is_none(), "{name}: {:?}", client.refused);
        let (first, generation) = (client.frames, client.scene["generation"].clone());
        client.until(&format!("{name} goes on"), |c| {
            c.frames > first + 1 && c.status["generation"] == generation && c.status["step"].as_u64() > Some(0)
        });
        assert!(client.status["failed"].is_null(), "{name}: {}", client.status["failed"]);
        assert!(client.is_whole(), "{name}");
        for parameter in client.scene["parameters"].as_array().unwrap() {
            let [about, unit] = ["about", "unit"].map(|field| parameter[field].as_str().unwrap());
            assert!(!about.is_empty() && !parameter["default"].is_null(), "{name}: {parameter}");
            assert!(!unit.is_empty() || !about.contains('['), "{name}: {parameter}");
        }
        println!("{name}: {:.1} s", start.elapsed().as_secs_f64());
    }
}

#[test]
fn a_push_moves_the_liquid() {
    let fastest_after = |pushes: u32| {
        let server = play("dam-break", &["sph.spacing=0.05"], &options());
        let mut client = Client::connect(&server);
        start_anew(&mut client);
        for _ in 0..pushes {
            let poke = r#"{"poke":{"center":[0.3,0.3,0.1],"radius":0.6,"velocity":[-3,0,0]}}"#;
            client.send(&format!(r#"{{"type":"command","command":{poke}}}"#));
        }
        client.send(r#"{"type":"step"}"#);
        client.until("a frame later", |c| c.status["frame"] == 1 && c.u32_at(16) == 1);
        // The highest speed of the particles.
        client.f32_at(72)
    };
    let (left_alone, pushed) = (fastest_after(0), fastest_after(1));
    assert!(left_alone < 0.5 && pushed > 1.0, "{left_alone} and {pushed} m/s");
}

#[test]
fn speed_is_what_was_asked_for() {
    let server = play("beam", &["solid.beam.edge=0.15"], &options());
    let mut client = Client::connect(&server);
    // The clock starts before the order is given, and time is what a status after it says: news that come late make the rate
    // lower, never higher.
    let start = Instant::now();
    client.send(r#"{"type":"speed","factor":0.25}"#);
    client.until("the speed is known", |c| c.status["speed"] == 0.25 && c.status["rate"].is_f64());
    let now = |c: &Client| c.status["time"].as_f64().unwrap();
    let from = now(&client);
    client.until("some time has passed", |_| start.elapsed() > Duration::from_secs(3));
    let rate = (now(&client) - from) / start.elapsed().as_secs_f64();
    // A simulation that could go faster is held back; on a busy machine it may be slower.
    assert!(rate < 0.27, "{rate}");
}

#[test]
fn every_slider_changes_the_simulation() {
    let pool =
        ["sph.spacing=0.1", "solid.pool.target_tets=200", "pull.hand.from=0", "coupling.wall=traction", "fps=240"];
    let boxes = [
        "sph.spacing=0.08",
        "solid.light.target_tets=60",
        "solid.heavy.target_tets=60",
        "solid.pool.target_tets=200",
        "rigid.stone.velocity=[0,-25,0]", // into the water in two frames
        "fps=240",
    ];
    let splash = ["twophase.spacing=0.002", "fps=2000"];
    let vat = ["sph.spacing=0.05", "fps=240"];
    // Fast, so that it is in the water in two frames.
    let duck = ["sph.spacing=0.05", "liquid.water.surface_tension=0.5", "solid.duck.velocity=[0,-6,0]", "fps=100"];
    for (scene, set, wanted) in [
        (
            "pool",
            &pool[..],
            &["gravity", "liquid.water.density", "solid.pool.density", "pull.hand.stiffness", "coupling.rest_distance"]
                [..],
        ),
        ("floating-boxes", &boxes, &["sph.artificial_viscosity", "liquid.water.density", "rigid.stone.density"]),
        ("drop-splash", &splash, &["liquid.pool.surface_tension", "liquid.pool.density", "liquid.pool.viscosity"]),
        ("vat-liquid", &vat, &["liquid.water.density", "liquid.water.viscosity"]),
        ("duck-floats", &duck, &["solid.duck.density", "solid.duck.young", "liquid.water.surface_tension"]),
    ] {
        let loaded = load(scene, set);
        let parameters = meniscus::scene::live::parameters(&loaded.scene);
        let value_of = |key: &str| {
            let found = parameters.iter().find(|parameter| parameter.key == key);
            let parameter = found.unwrap_or_else(|| panic!("{scene} has no {key}"));
            another(&serde_json::to_value(&parameter.default).unwrap())
        };
        let plain = frames_later(&loaded, None);
        let all: Vec<_> = wanted.iter().map(|key| (*key, value_of(key))).collect();
        let expected: Vec<_> = all.iter().map(|(key, value)| frames_later(&loaded, Some((key, value)))).collect();
        let server = play(scene, set, &options());
        let mut client = Client::connect(&server);
        client.send(r#"{"type":"pause","on":true}"#);
        client.until("it stands", |c| c.status["running"] == false && c.scene["parameters"].is_array());
        for ((key, value), changed) in all.iter().zip(expected) {
            assert!(plain[40..] != changed[40..], "{scene}: {key} changes nothing");
            let parameters = client.scene["parameters"].as_array().unwrap();
            let shown = parameters.iter().find(|p| p["key"] == *key).unwrap().clone();
            assert!(shown["unit"].is_string() && !shown["default"].is_null(), "{shown}");
            let set = |value| format!(r#"{{"type":"command","command":{{"set":{{"key":"{key}","value":{value}}}}}}}"#);
            let before = client.scene["generation"].as_u64();
            client.send(&set(value));
            client.send(r#"{"type":"reset"}"#);
            (0..2).for_each(|_| client.send(r#"{"type":"step"}"#));
            client.until("two frames of a new world", |c| {
                let generation = c.scene["generation"].as_u64();
                generation > before && c.status["generation"].as_u64() == generation && stands_at_two(c)
            });
            assert_eq!(client.status["settings"][*key], *value);
            assert!(client.frame[24..] == changed[24..], "{scene}: {key} is not what it would be from the start");
            client.send(&set(&shown["default"]));
        }
    }
}

/// Whether both the status and the picture are those of the second frame.
fn stands_at_two(client: &Client) -> bool {
    client.status["frame"] == 2 && client.u32_at(16) == 2
}

/// Another value of a parameter.
fn another(default: &serde_json::Value) -> serde_json::Value {
    match default.as_f64() {
        Some(number) => serde_json::json!(1.25 * number),
        None => serde_json::json!([1.0, -9.0, 0.5]),
    }
}

fn load(scene: &str, set: &[&str]) -> Loaded {
    let overrides: Vec<String> = ["fps=60"].iter().chain(set).map(|s| (*s).to_owned()).collect();
    gallery::load(scene, &overrides).unwrap()
}

/// The picture of a scene after two frames, something set at the start.
fn frames_later(loaded: &Loaded, command: Option<(&str, &serde_json::Value)>) -> Vec<u8> {
    let mut world = World::new(loaded).unwrap();
    if let Some((key, value)) = command {
        let command = serde_json::json!({ "set": { "key": key, "value": value } });
        world.apply(serde_json::from_value(command).unwrap()).unwrap();
    }
    (0..2).for_each(|_| world.advance_frame(|_| {}).unwrap());
    let frame = world.frame();
    meniscus_viewer::protocol::encode_frame(&frame, &meniscus_viewer::protocol::Extras::plain(&frame), 0, 0)
}

#[test]
fn bodies_of_every_kind_are_pulled_by_a_spring() {
    for (scene, set, body, at, up) in [
        ("floating-boxes", &["sph.spacing=0.1"][..], "stone", [0.04, 0.72, -0.22], 1.2),
        ("floating-boxes", &["sph.spacing=0.1"], "light", [-0.3, 0.7, 0.02], 1.2),
        ("vat", &["sph.spacing=0.03"], "green", [-0.17, 0.2, -0.08], 0.8),
        ("vat", &["sph.spacing=0.03"], "red", [-0.15, 0.1, 0.1], 0.8),
        ("duck-floats", &["sph.spacing=0.04"], "duck", [0.0, 0.7, 0.0], 1.3),
    ] {
        let server = play(scene, set, &options());
        let mut client = Client::connect(&server);
        start_anew(&mut client);
        let at = format!("[{},{},{}]", at[0], at[1], at[2]);
        client.send(&format!(
            r#"{{"type":"command","command":{{"grab":{{"at":{{"point":{at}}},"body":"{body}","strength":2}}}}}}"#
        ));
        client.send(r#"{"type":"step"}"#);
        client.until("it is held", |c| c.status["hands"].as_array().is_some_and(|hands| hands.len() == 1));
        let height = |c: &Client| c.status["hands"][0]["point"][1].as_f64().unwrap();
        let start = height(&client);
        client.send(&format!(r#"{{"type":"command","command":{{"move":{{"target":[0,{up},0]}}}}}}"#));
        client.send(r#"{"type":"pause","on":false}"#);
        client.until(&format!("{body} is pulled up"), |c| height(c) > start + 0.15);
        let force = client.status["hands"][0]["force"][1].as_f64().unwrap();
        assert!(force.abs() > 0.1, "{body}: {force}");
        assert!(client.refused.is_none(), "{:?}", client.refused);
        client.send(r#"{"type":"command","command":{"release":{}}}"#);
        client.until("it is let go", |c| c.status["hands"].as_array().is_some_and(Vec::is_empty));
    }
}

#[test]
fn a_hand_gets_stronger_while_it_holds() {
    // It hangs g/160 s² = 6.1 cm below the hand, and swings a little; or a quarter of that.
    let set = ["solid.jelly.target_tets=60", "solid.rubber.target_tets=60", "solid.puck.target_tets=60"];
    let server = play("jelly-drop", &set, &options());
    let mut client = Client::connect(&server);
    start_anew(&mut client);
    client.send(r#"{"type":"command","command":{"grab":{"at":{"point":[0.06,2,0.03]},"body":"puck"}}}"#);
    client.send(r#"{"type":"speed","factor":1000}"#);
    client.send(r#"{"type":"pause","on":false}"#);
    client.until("it hangs", |c| c.frames > 0 && c.time() > 2.5);
    let height = |c: &Client, of: &str| c.status["hands"][0][of][1].as_f64().unwrap();
    let stretch = |c: &Client| height(c, "target") - height(c, "point");
    let (weak, hand) = (stretch(&client), client.status["hands"][0]["target"].clone());
    assert!((weak - 9.81 / 160.0).abs() < 0.012, "{weak}");
    client.send(&format!(r#"{{"type":"command","command":{{"move":{{"target":{hand},"strength":4}}}}}}"#));
    client.until("it hangs again", |c| c.time() > 5.0);
    let strong = stretch(&client);
    assert!((strong - 0.25 * 9.81 / 160.0).abs() < 0.004, "{strong}");
}

#[test]
fn tetrahedra_and_gauss_points_come_when_they_are_asked_for() {
    let server = play("pool", &["sph.spacing=0.1", "solid.pool.target_tets=200"], &options());
    let mut client = Client::connect(&server);
    client.until("some frames", |c| c.frames > 3);
    assert_eq!((client.topologies, client.u32_at(100)), (1, 0));
    client.send(r#"{"type":"pause","on":true}"#);
    client.until("it stands", |c| c.status["running"] == false && c.status["step"].as_f64() == Some(step(c)));
    // Also while it stands.
    client.send(r#"{"type":"extras","tets":true,"points":true,"surfaces":false}"#);
    client.until("they come", |c| c.topologies == 2 && c.u32_at(100) > 0);
    // Every point lies on the pool, within the thickness of its walls.
    let points: Vec<[f32; 3]> = client.points();
    let on_a_wall = |[x, y, z]: &[f32; 3]| {
        let inner = [(x.abs() - 0.4).abs(), (z.abs() - 0.4).abs(), (y - 0.1).abs(), (y - 0.55).abs()];
        let outer = [(x.abs() - 0.5).abs(), (z.abs() - 0.5).abs(), y.abs()];
        inner.iter().chain(&outer).any(|away| *away < 0.03)
    };
    assert!(points.len() > 200 && points.iter().all(on_a_wall), "{}", points.len());
    client.send(r#"{"type":"extras","tets":false,"points":false,"surfaces":false}"#);
    client.until("they go", |c| c.topologies == 3 && c.u32_at(100) == 0);
}

/// Times, on a machine that does nothing else: `cargo test --release -p meniscus-viewer --test live -- --ignored --nocapture`.
#[test]
#[ignore = "measures the machine"]
fn pictures_come_in_time() {
    for scene in ["pool", "vessel-injury", "dam-break", "jelly-drop"] {
        let set: &[&str] = if scene == "dam-break" { &["sph.spacing=0.04"] } else { &[] };
        let server = play(scene, set, &options());
        let mut client = Client::connect(&server);
        // As the page does: liquids by their surfaces.
        client.send(r#"{"type":"extras","tets":false,"points":false,"surfaces":true}"#);
        client.until("it runs, with surfaces", |c| c.frames > 30 && c.u32_at(112) == 1);
        // As fast as it goes, then at the pace of the clock.
        for factor in [1000, 1] {
            client.send(&format!(r#"{{"type":"speed","factor":{factor}}}"#));
            client.until("the speed is known", |c| c.status["speed"] == f64::from(factor));
            let (start, frames, time) = (Instant::now(), client.frames, client.time());
            client.until("five seconds", |_| start.elapsed() > Duration::from_secs(5));
            let seconds = start.elapsed().as_secs_f64();
            let (sent, simulated) = (f64::from(client.frames - frames) / seconds, (client.time() - time) / seconds);
            println!("{scene} at {factor} x: {sent:.1} frames/s sent, {:.1} frames/s simulated", 60.0 * simulated);
        }
        println!("{scene}: pictures, beside the steps: {} ms per step", client.status["encoding"]);
        println!("{scene}: stages [ms per step] {}", client.status["stages"]);
        println!("{scene}: {} particles, {} bytes a picture", client.u32_at(20), client.frame.len());
        if scene == "dam-break" || scene == "vessel-injury" {
            continue;
        }
        let (body, at) = if scene == "pool" { ("pool", "[0.5,0.55,0]") } else { ("jelly", "[0,0.35,0]") };
        client.send(&format!(r#"{{"type":"command","command":{{"grab":{{"at":{{"point":{at}}},"body":"{body}"}}}}}}"#));
        let mut latencies: Vec<f64> = (0..60)
            .map(|k| {
                // At any time of a frame.
                std::thread::sleep(Duration::from_millis(7 * k % 17));
                let target = [0.6, 0.5 + 0.001 * k as f32, 0.001];
                let sent = Instant::now();
                client.send(&format!(
                    r#"{{"type":"command","command":{{"move":{{"target":[{},{},{}]}}}}}}"#,
                    target[0], target[1], target[2]
                ));
                client.until("a frame that shows the hand there", |c| c.shows_hand_at(target));
                sent.elapsed().as_secs_f64() * 1e3
            })
            .collect();
        latencies.sort_by(f64::total_cmp);
        let [half, worst] = [30, 59].map(|k| latencies[k]);
        println!("{scene}: from a drag to the first frame that shows it {half:.1} ms, at most {worst:.1} ms");
    }
    let server = play("dam-break", &["sph.spacing=0.0137"], &options());
    let mut client = Client::connect(&server);
    client.send(r#"{"type":"speed","factor":1000}"#);
    client.until("many frames", |c| c.frames > 12);
    client.until("a profile", |c| c.status["encoding"].as_f64() > Some(0.0));
    let stages = client.status["stages"].as_array().unwrap();
    let of = |name: &str| stages.iter().find(|s| s[0] == name).map_or(0.0, |s| s[1].as_f64().unwrap());
    let (copying, encoding) = (of("copy frame"), client.status["encoding"].as_f64().unwrap());
    let step = stages.iter().map(|s| s[1].as_f64().unwrap()).sum::<f64>() - copying;
    println!(
        "{} particles: a step {step:.2} ms, copying {copying:.2} ms, encoding beside it {encoding:.2} ms",
        client.status["particles"]
    );
    println!("streaming: {:.1} % of the step", 100.0 * (copying + encoding) / step);
}

/// A solid of particles that takes seconds for every step.
const SLOW: &str = r#"
method = "unified"
fps = 60
gravity = [0, 0, 0]
[sph]
spacing = 0.01
[solid.block]
young = 3e12
density = 1000
shape = { box = { min = [0, 0, 0], max = [0.2, 0.2, 0.2] } }
"#;

/// Asks for something, and for an answer in time: a second is what a machine with nothing else to do takes at most, and tests share theirs.
fn answered(client: &mut Client, request: &str, what: &str, done: impl Fn(&Client) -> bool) {
    let asked = Instant::now();
    client.send(request);
    client.until(what, done);
    assert!(asked.elapsed() < Duration::from_secs(5), "{what}: {:?}", asked.elapsed());
}

/// A slider made the next step take long, and the server answered nobody.
#[test]
fn a_slider_froze_the_server() {
    let none = |_: &str| Err(std::io::ErrorKind::NotFound.into());
    let soft = SLOW.replace("young = 3e12", "young = 1e5");
    let server = support::serve_scene(Loaded::from_text("soft", "soft.toml", &soft, &[], &none).unwrap(), &options());
    let mut client = Client::connect(&server);
    client.until("it goes on", |client| client.status["step"].as_u64() > Some(0));
    client.send(r#"{"type":"command","command":{"set":{"key":"solid.block.young","value":3e12}}}"#);
    client.until("a step that takes long", |client| client.status["busy"].as_f64().is_some_and(|busy| busy > 0.3));
    answered(&mut client, r#"{"type":"pause","on":true}"#, "pause", |client| client.status["running"] == false);
    assert!(client.status["busy"].is_number(), "{}", client.status);
    let generation = client.status["generation"].as_u64();
    // What is set while the step is under way is not lost with its world.
    client.send(r#"{"type":"command","command":{"set":{"key":"solid.block.young","value":2e5}}}"#);
    answered(&mut client, r#"{"type":"reset"}"#, "reset", |client| client.status["generation"].as_u64() > generation);
    client.until("what was set holds", |client| client.status["settings"]["solid.block.young"] == 2e5);
}

/// While a step took long the server answered nobody.
#[test]
fn a_long_step_froze_the_server() {
    let none = |_: &str| Err(std::io::ErrorKind::NotFound.into());
    let loaded = Loaded::from_text("slow", "slow.toml", SLOW, &[], &none).unwrap();
    let server = support::serve_scene(loaded, &options());
    let mut client = Client::connect(&server);
    // It is in the midst of its first step.
    client.until("a step that takes long", |client| client.status["busy"].as_f64().is_some_and(|busy| busy > 0.3));
    assert_eq!(client.status["step"], 0, "it must still be in its first step");
    answered(&mut client, r#"{"type":"pause","on":true}"#, "pause", |client| client.status["running"] == false);
    assert!(client.status["busy"].is_number() && client.status["step"] == 0, "{}", client.status);
    answered(&mut client, r#"{"type":"pause","on":false}"#, "go on", |client| client.status["running"] == true);
    let generation = client.status["generation"].as_u64();
    // A slider that was moved while the step took long was lost by the reset.
    client.send(r#"{"type":"command","command":{"set":{"key":"solid.block.young","value":2e12}}}"#);
    answered(&mut client, r#"{"type":"reset"}"#, "reset", |client| client.status["generation"].as_u64() > generation);
    client.until("the slider", |client| client.status["settings"]["solid.block.young"] == 2e12);
    answered(&mut client, r#"{"type":"load","scene":"beam"}"#, "load", |client| {
        client.status["loading"] == "beam" || client.scene["name"] == "beam"
    });
    client.until("the other scene moves", |client| {
        client.scene["name"] == "beam" && client.status["step"].as_u64().is_some_and(|step| step > 3)
    });
}
