//! Ten viewers, random commands: nothing panics, answers come, memory does not grow.
//!
//! Seconds in CI; `MENISCUS_HAMMER_MINUTES=60` asks for the long form, as `.ci/nightly` does. `MENISCUS_HAMMER_SEED` repeats a session.

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use support::{Client, options, play};

/// Scenes of all methods that take moderate steps.
const SCENES: [&str; 6] = ["jelly-drop", "bar-snap", "vat", "float", "floating-boxes", "droplets"];
const WATCHERS: usize = 9;

/// Numbers that look like chance (splitmix64).
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    fn point(&mut self) -> [f64; 3] {
        [(); 3].map(|()| self.between(-0.5, 1.5))
    }
}

/// What this process holds in memory \[MB\], where the system tells.
fn resident() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.split_whitespace().next()?.parse::<f64>().ok().map(|kb| kb / 1024.0)
}

fn setting<T: std::str::FromStr>(name: &str) -> Option<T> {
    std::env::var(name).ok()?.parse().ok()
}

/// One thing that a person does with hand or mouse.
fn command(chance: &mut Chance, client: &Client) -> String {
    use serde_json::json;
    let act = match chance.below(8) {
        0 | 1 => json!({ "grab": { "at": { "point": chance.point() } } }),
        2 | 3 => json!({ "move": { "target": chance.point() } }),
        4 => json!({ "release": {} }),
        5 => {
            let velocity = [(); 3].map(|()| chance.between(-3.0, 3.0));
            json!({ "poke": { "center": chance.point(), "radius": chance.between(0.01, 0.5), "velocity": velocity } })
        }
        _ => {
            let parameters = client.scene["parameters"].as_array().cloned().unwrap_or_default();
            if parameters.is_empty() {
                return json!({ "type": "pause", "on": false }).to_string();
            }
            let parameter = &parameters[chance.below(parameters.len())];
            let value = match parameter["default"].as_f64() {
                // Mostly what a slider gives, sometimes what makes no sense.
                Some(number) if chance.below(8) > 0 => json!(number * chance.between(0.2, 5.0)),
                Some(_) => json!(chance.between(-1e9, 1e9)),
                None => json!([(); 3].map(|()| chance.between(-15.0, 15.0))),
            };
            json!({ "set": { "key": parameter["key"], "value": value } })
        }
    };
    json!({ "type": "command", "command": act }).to_string()
}

/// Looks at everything, and is gone and back at times.
fn watch(server: &meniscus_viewer::Server, stop: &AtomicBool, seen: &AtomicU64) {
    while !stop.load(Ordering::Relaxed) {
        let mut client = Client::connect(server);
        let start = Instant::now();
        while !stop.load(Ordering::Relaxed) && start.elapsed() < Duration::from_secs(20) {
            if client.read().is_err() {
                break;
            }
        }
        seen.fetch_add(u64::from(client.frames), Ordering::Relaxed);
    }
}

/// The slowest answer of a session \[s\] and what was asked.
#[derive(Default)]
struct Slowest(f64, String);

impl Slowest {
    fn ask(&mut self, client: &mut Client, request: &str, done: impl Fn(&Client) -> bool) {
        let asked = Instant::now();
        client.send(request);
        client.until(request, done);
        let took = asked.elapsed().as_secs_f64();
        if took > self.0 {
            *self = Self(took, request.to_owned());
        }
    }
}

fn pause(on: bool) -> String {
    format!(r#"{{"type":"pause","on":{on}}}"#)
}

#[test]
fn ten_viewers_and_random_commands() {
    let minutes = setting("MENISCUS_HAMMER_MINUTES").unwrap_or(0.2);
    let seed = setting("MENISCUS_HAMMER_SEED").unwrap_or(1);
    let mut chance = Chance(seed);
    let server = Arc::new(play(SCENES[0], &[], &options()));
    let (stop, seen) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let watchers: Vec<_> = (0..WATCHERS)
        .map(|_| {
            let (server, stop, seen) = (Arc::clone(&server), Arc::clone(&stop), Arc::clone(&seen));
            std::thread::spawn(move || watch(&server, &stop, &seen))
        })
        .collect();
    let mut client = Client::connect(&server);
    client.until("there is a frame", |c| c.frames > 0);
    let (start, mut slowest, mut given, mut rounds) = (Instant::now(), Slowest::default(), 0u32, 0u32);
    let mut memory = Vec::new();
    while start.elapsed().as_secs_f64() < 60.0 * minutes || rounds < 2 {
        // All scenes in turn, so that memory can be compared round by round.
        for scene in SCENES {
            let load = format!(r#"{{"type":"load","scene":"{scene}"}}"#);
            let generation = client.scene["generation"].as_u64();
            slowest.ask(&mut client, &load, |c| {
                c.status["loading"] == scene || c.scene["generation"].as_u64() > generation
            });
            client.until(&load, |c| c.scene["generation"].as_u64() > generation && c.scene["name"] == scene);
            for _ in 0..20 {
                let request = command(&mut chance, &client);
                client.send(&request);
                given += 1;
                // Frames and news in between, as a page reads them.
                for _ in 0..chance.below(6) {
                    client.read().unwrap_or_else(|error| panic!("seed {seed}, after {request}: {error}"));
                }
            }
            slowest.ask(&mut client, &pause(true), |c| c.status["running"] == false);
            slowest.ask(&mut client, &pause(false), |c| c.status["running"] == true || !c.status["failed"].is_null());
            if chance.below(2) == 0 {
                let generation = client.scene["generation"].as_u64();
                slowest.ask(&mut client, r#"{"type":"reset"}"#, |c| {
                    c.status["loading"].is_string() || c.scene["generation"].as_u64() > generation
                });
            }
        }
        rounds += 1;
        memory.extend(resident());
    }
    stop.store(true, Ordering::Relaxed);
    for watcher in watchers {
        watcher.join().expect("a watcher was served to the end");
    }
    println!(
        "seed {seed}: {:.1} min, {rounds} rounds of {} scenes, {given} commands, {} frames seen by {WATCHERS} watchers, \
         slowest answer {:.2} s ({}), memory {memory:.0?} MB",
        start.elapsed().as_secs_f64() / 60.0,
        SCENES.len(),
        seen.load(Ordering::Relaxed),
        slowest.0,
        slowest.1,
    );
    assert!(seen.load(Ordering::Relaxed) > 0, "somebody must have seen something");
    // A second on a machine that does nothing else; tests share theirs.
    assert!(slowest.0 < 5.0, "{} took {} s (seed {seed})", slowest.1, slowest.0);
    // The system's allocator has a heap for every thread there ever was, up to eight per core, and fills them over the first half hour: with
    // MALLOC_ARENA_MAX=1 memory is flat from the start, and half as large.
    if memory.len() >= 16 {
        let quarter = |n: usize| &memory[memory.len() * n / 4..memory.len() * (n + 1) / 4];
        let [third, last] = [2, 3].map(|n| quarter(n).iter().sum::<f64>() / quarter(n).len() as f64);
        assert!(last < 1.1 * third, "memory grew from {third:.0} to {last:.0} MB (seed {seed})");
    }
}
