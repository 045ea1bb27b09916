//! Runs: same bits at any thread count, exact resume, no torn file whatever happens.

mod program;

use program::Place;
use std::time::Duration;

fn digest(place: &Place, arguments: &[&str]) -> String {
    let answer = place.run(arguments);
    assert_eq!(answer.code, 0, "{}{}", answer.out, answer.err);
    answer.json()["digest"].as_str().unwrap().to_owned()
}

#[test]
fn one_thread_and_two_give_the_same_digest() {
    let place = Place::new();
    let run = |threads: &str, out: &str| {
        let short = ["--seconds", "0.2", "--set", "sph.spacing=0.04", "--no-pictures", "--json"];
        digest(&place, &[&["run", "dam-break", "--threads", threads, "--out", out], &short[..]].concat())
    };
    let one = run("1", "a");
    assert_eq!(one.len(), 32);
    assert_eq!(one, run("2", "b"));
    assert_eq!(place.files("a/frames"), place.files("b/frames"));
}

#[test]
fn the_json_of_a_run_is_the_contract() {
    let place = Place::with_scene();
    let json = place.run(&["run", "small.toml", "--json"]).json();
    let keys: Vec<&str> = json.as_object().unwrap().keys().map(String::as_str).collect();
    let wanted = [
        "scene",
        "method",
        "steps",
        "simulated_seconds",
        "wall_seconds",
        "particles",
        "tets",
        "cells",
        "digest",
        "warnings",
    ];
    assert_eq!(keys, wanted);
    assert_eq!((json["scene"].as_str(), json["method"].as_str()), (Some("small"), Some("gauss")));
    assert_eq!((json["particles"].as_u64(), json["simulated_seconds"].as_f64()), (Some(8 * 12 * 8), Some(0.3)));
    for file in ["run.json", "scene.toml", "probes.csv", "frame_0005.png", "small.gif", "frames/frame_00015.mnf"] {
        assert!(place.exists(&format!("out/small/{file}")), "{file}");
    }
    place.run(&["run", "small.toml", "--quiet"]);
    assert!(place.exists("out/small-2/run.json"), "a second run has a folder of its own");
}

#[test]
fn resuming_from_any_frame_writes_the_same_files() {
    let place = Place::with_scene();
    let whole = digest(&place, &["run", "small.toml", "--json", "--out", "r"]);
    let but_times = |files: Vec<(std::path::PathBuf, Vec<u8>)>| {
        files
            .into_iter()
            .filter(|(path, _)| !path.ends_with("run.json") && !path.ends_with("run.log"))
            .collect::<Vec<_>>()
    };
    let files = but_times(place.files("r"));
    for frame in ["0", "5", "14"] {
        assert_eq!(digest(&place, &["resume", "r", "--from-frame", frame, "--json"]), whole);
        assert_eq!(but_times(place.files("r")), files, "from frame {frame}");
    }
    // A damaged checkpoint is passed over, with a word about it.
    let newest = place.path("r/checkpoints/checkpoint_00015.mnc");
    let mut bytes = std::fs::read(&newest).unwrap();
    bytes[100] ^= 4;
    std::fs::write(&newest, bytes).unwrap();
    let answer = place.run(&["resume", "r", "--json"]);
    assert!(answer.err.contains("passing over") && answer.err.contains("checkpoint_00015.mnc"), "{}", answer.err);
    assert_eq!(answer.json()["digest"], whole);
}

#[test]
fn killed_at_any_moment_it_resumes_to_the_same_end() {
    let place = Place::with_scene();
    let whole = digest(&place, &["run", "small.toml", "--json", "--out", "whole"]);
    let start = std::time::Instant::now();
    digest(&place, &["run", "small.toml", "--json", "--out", "timed"]);
    let duration = start.elapsed().as_micros() as u64;
    let mut random = 0x9e37_79b9_7f4a_7c15u64;
    let mut resumed = 0;
    for attempt in 0..20 {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let out = format!("k{attempt}");
        let mut child = place.start(&["run", "small.toml", "--json", "--out", &out]);
        // Three of four come past the start, however long that takes beside other work.
        while attempt % 4 > 0 && !place.exists(&format!("{out}/checkpoints/checkpoint_00000.mnc")) {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_micros(random % duration));
        child.kill().unwrap();
        child.wait().unwrap();
        let answer = place.run(&["resume", &out, "--json"]);
        if answer.code == 2 {
            // Killed before checkpoint 0: told to run again.
            assert!(!place.path(&out).join("checkpoints/checkpoint_00000.mnc").exists(), "{}", answer.out);
            continue;
        }
        resumed += 1;
        assert_eq!(answer.json()["digest"], whole, "attempt {attempt}");
        assert_eq!(place.files(&format!("{out}/frames")), place.files("whole/frames"), "attempt {attempt}");
        assert_eq!(place.read(&format!("{out}/probes.csv")), place.read("whole/probes.csv"), "attempt {attempt}");
        let strays = place.files(&out).into_iter().filter(|(path, _)| path.to_string_lossy().contains("tmp"));
        assert_eq!(strays.count(), 0, "no temporary is left");
    }
    assert!(resumed >= 15, "only {resumed} of 20 kills came after the start");
}

#[test]
fn exports_and_renders_what_was_run() {
    let place = Place::with_scene();
    assert_eq!(place.run(&["run", "small.toml", "--quiet", "--no-pictures", "--out", "r"]).code, 0);
    assert!(!place.exists("r/frame_0000.png"));
    assert_eq!(place.run(&["render", "r", "--set", "picture.color=water"]).code, 0);
    assert!(place.exists("r/frame_0000.png") && place.exists("r/small.gif"));
    assert_eq!(place.run(&["render", "r", "--strip", "4", "--columns", "2"]).code, 0);
    assert!(place.exists("r/strip.png"));
    let small = ["--set", "picture.width=64", "--set", "picture.height=36", "--samples", "2", "--quality", "final"];
    for threads in ["1", "2"] {
        let hero = format!("hero-{threads}.jpg");
        let one = ["render", "r", "--frame", "3", "--out", hero.as_str(), "--threads", threads];
        assert_eq!(place.run(&[&one[..], &small[..]].concat()).code, 0);
    }
    assert!(place.read("hero-1.jpg").starts_with(b"\xff\xd8") && place.read("hero-1.jpg") == place.read("hero-2.jpg"));
    assert_eq!(
        place.run(&["render", "r", "--to", "y4m", "--set", "picture.width=64", "--set", "picture.height=36"]).code,
        0
    );
    assert!(place.read("r/small.y4m").starts_with(b"YUV4MPEG2 W64 H36 "));
    if !cfg!(feature = "mp4") {
        let refused = place.run(&["render", "r", "--to", "mp4"]);
        assert!(refused.code == 2 && refused.err.contains("--features mp4"), "{}", refused.err);
    }
    assert_eq!(place.run(&["export", "r", "--to", "vtk"]).code, 0);
    assert!(place.exists("r/vtk/particles.pvd"));
    assert_eq!(place.run(&["export", "r", "--to", "ply", "--out", "p"]).code, 0);
    assert!(place.exists("p/particles/particles_00000.ply"));
    let refused = place.run(&["export", "r", "--to", "vti"]);
    assert!(refused.code == 2 && refused.err.contains("only `twophase` has a grid"), "{}", refused.err);
}

#[test]
fn a_grid_runs_resumes_and_is_exported() {
    let place = Place::new();
    let short = ["--seconds", "0.1", "--set", "twophase.spacing=0.1", "--no-pictures", "--json"];
    let whole = digest(&place, &[&["run", "dam-break-grid", "--threads", "2", "--out", "g"], &short[..]].concat());
    let resumed = digest(&place, &["resume", "g", "--from-frame", "1", "--no-pictures", "--json"]);
    assert_eq!(whole, resumed);
    assert_eq!(place.run(&["export", "g", "--to", "vti"]).code, 0);
    assert!(place.exists("g/vti/fields.pvd") && place.exists("g/vti/fields_00003.vti"));
    assert_eq!(place.run(&["export", "g", "--to", "vtk"]).code, 0);
    assert!(place.exists("g/vtk/surfaces.pvd"));
    let check = place.run(&["check", "dam-break-grid", "--set", "twophase.spacing=0.1", "--json"]).json();
    assert_eq!(check["cells"], 16 * 12 * 4);
    let odd = place.run(&["check", "dam-break-grid", "--set", "twophase.spacing=0.11"]);
    assert!(odd.code == 2 && odd.err.contains("whole number"), "{}", odd.err);
}

#[test]
fn commands_of_one_run_can_be_given_to_another() {
    let place = Place::with_scene();
    let still = digest(&place, &["run", "small.toml", "--no-pictures", "--json", "--out", "still"]);
    place.write(
        "log.jsonl",
        "{\"step\": 10, \"command\": {\"poke\": {\"center\": [0.2, 0.3, 0.2], \"radius\": 0.3, \"velocity\": [1.0, 2.0, 0.0]}}}\n\
         {\"step\": 20, \"command\": {\"set\": {\"key\": \"gravity\", \"value\": [0.0, -5.0, 1.0]}}}\n",
    );
    let arguments = ["run", "small.toml", "--no-pictures", "--json", "--commands", "log.jsonl", "--out"];
    let poked = digest(&place, &[&arguments[..], &["a"]].concat());
    assert_ne!(poked, still);
    assert_eq!(String::from_utf8(place.read("a/commands.jsonl")).unwrap().lines().count(), 2);
    let again = ["run", "small.toml", "--no-pictures", "--json", "--commands", "a/commands.jsonl", "--out", "b"];
    assert_eq!(digest(&place, &again), poked);
    assert_eq!(digest(&place, &["resume", "b", "--from-frame", "4", "--json", "--no-pictures"]), poked);
}

#[test]
fn help_list_schema_and_completions_answer() {
    let place = Place::new();
    let help = place.run(&["--help"]).out;
    assert!(help.contains("Examples:") && help.contains("Exit codes") && help.contains("resume"));
    assert!(place.run(&["run", "--help"]).out.contains("--set <KEY=VALUE>"));
    assert!(place.run(&["list"]).out.contains("dam-break"));
    assert!(place.run(&["list", "--json"]).json().as_array().unwrap().len() >= 2);
    assert_eq!(place.run(&["schema"]).json()["title"], "Meniscus scene");
    for shell in ["bash", "zsh", "fish", "powershell"] {
        assert!(place.run(&["completions", shell]).out.contains("meniscus"), "{shell}");
    }
    assert_eq!(place.run(&["new", "dam-break"]).code, 0);
    assert_eq!(place.run(&["check", "dam-break.toml", "--set", "sph.spacing=0.05"]).code, 0);
    assert_eq!(place.run(&["new", "dam-break"]).code, 2, "nothing is overwritten");
    // Two scenes with the same duck; another duck of the user's is left alone.
    assert_eq!(place.run(&["new", "duck-drop"]).code, 0);
    assert_eq!(place.run(&["new", "duck-sinks"]).code, 0);
    place.write("assets/duck.ply", "mine");
    let refused = place.run(&["new", "duck-floats"]);
    assert!(refused.code == 2 && refused.err.contains("duck.ply") && refused.err.contains("nothing is overwritten"));
    assert!(!place.exists("duck-floats.toml") && place.read("assets/duck.ply") == b"mine");
}

/// Commands that a run proposes can be copied into a shell, whatever the user's file is called.
#[test]
fn what_is_proposed_next_works_for_files_of_users() {
    let place = Place::new();
    place.write("it's my scene.toml", program::SMALL);
    let run = place.run(&["run", "it's my scene.toml", "--seconds", "0.1", "--out", "a run"]);
    assert_eq!(run.code, 0, "{}{}", run.out, run.err);
    let next = run.out.lines().find_map(|line| line.strip_prefix("next: ")).unwrap();
    let commands: Vec<&str> = next.split(" · ").collect();
    assert_eq!(commands.len(), 5, "{next}");
    for command in commands {
        let words = command.strip_prefix("meniscus ").unwrap();
        // A browser is not to be had here: what is played must load, what is viewed must be a run.
        let words = words.replacen("play", "check", 1);
        let words = match words.strip_prefix("view") {
            Some(dir) => format!("resume {dir}"),
            None => words,
        };
        let shell = format!("'{}' {words}", env!("CARGO_BIN_EXE_meniscus"));
        let done = std::process::Command::new("sh").args(["-c", &shell]).current_dir(place.path("")).output().unwrap();
        assert!(done.status.success(), "{command}: {}", String::from_utf8_lossy(&done.stderr));
    }
}
