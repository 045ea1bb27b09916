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
    let again = meniscus_viewer::protocol::encode_frame(&world.frame(), 0, 0);
    // All but the numbers of topology and picture.
    assert_eq!(frame[16..], again[16..]);
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
    // A bar that tears is another one.
    client.send(r#"{"type":"load","scene":"bar-snap"}"#);
    client.until("another scene", |c| c.scene["name"] == "bar-snap");
    client.until("it has a topology", |c| c.topologies == 2);
}

#[test]
fn speed_is_what_was_asked_for() {
    let server = play("beam", &["solid.beam.edge=0.15"], &options());
    let mut client = Client::connect(&server);
    client.send(r#"{"type":"speed","factor":0.25}"#);
    client.until("the speed is known", |c| c.status["speed"] == 0.25 && c.status["rate"].is_f64());
    let (start, from) = (Instant::now(), client.time());
    client.until("some time has passed", |_| start.elapsed() > Duration::from_secs(2));
    let rate = (client.time() - from) / start.elapsed().as_secs_f64();
    // A simulation that could go faster is held back; on a busy machine it may be slower.
    assert!(rate < 0.27, "{rate}");
}

/// Times, on a machine that does nothing else: `cargo test --release -p meniscus-viewer --test live -- --ignored --nocapture`.
#[test]
#[ignore = "measures the machine"]
fn pictures_come_in_time() {
    for scene in ["pool", "dam-break", "jelly-drop"].into_iter().filter(|name| gallery::find(name).is_some()) {
        let set: &[&str] = if scene == "dam-break" { &["sph.spacing=0.04"] } else { &[] };
        let server = play(scene, set, &options());
        let mut client = Client::connect(&server);
        client.until("it runs", |c| c.frames > 30);
        let (start, frames, time) = (Instant::now(), client.frames, client.time());
        client.until("five seconds", |_| start.elapsed() > Duration::from_secs(5));
        let seconds = start.elapsed().as_secs_f64();
        let rate = f64::from(client.frames - frames) / seconds;
        println!("{scene}: {rate:.1} frames/s, {:.2} s simulated per second", (client.time() - time) / seconds);
        let mut worst = Duration::ZERO;
        for k in 0..20 {
            let commands = client.status["commands"].as_u64().unwrap_or(0);
            client.until("the status is fresh", |c| c.status["commands"].as_u64() == Some(commands));
            let before = step(&client);
            let sent = Instant::now();
            let y = if k % 2 == 0 { -9.0 } else { -10.0 };
            client.send(&format!(r#"{{"type":"command","command":{{"set":{{"key":"gravity","value":[0,{y},0]}}}}}}"#));
            // The second frame from now was begun after the command came.
            let frames = client.frames;
            client.until("a frame that shows it", |c| c.frames >= frames + 2 && step(c) > before);
            worst = worst.max(sent.elapsed());
        }
        println!("{scene}: from a command to a frame that shows it at most {:.1} ms", worst.as_secs_f64() * 1e3);
    }
    let server = play("dam-break", &["sph.spacing=0.0137"], &options());
    let mut client = Client::connect(&server);
    client.send(r#"{"type":"speed","factor":1000}"#);
    client.until("many frames", |c| c.frames > 12);
    client.until("a profile", |c| {
        c.status["stages"].as_array().is_some_and(|s| s.iter().any(|s| s[0] == "encode picture"))
    });
    let stages = client.status["stages"].as_array().unwrap();
    let of = |names: &[&str]| {
        stages.iter().filter(|s| names.contains(&s[0].as_str().unwrap())).map(|s| s[1].as_f64().unwrap()).sum::<f64>()
    };
    let (streaming, all) =
        (of(&["copy frame", "encode picture"]), stages.iter().map(|s| s[1].as_f64().unwrap()).sum::<f64>());
    println!("{} particles: streaming {streaming:.2} ms of {all:.2} ms per step", client.status["particles"]);
}
