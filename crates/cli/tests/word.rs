//! It keeps its word: nothing lost, nothing silent, no way out of its folder. Every test is named after what was seen
//! before it was mended.

mod program;

use program::{Place, SMALL};
use serde_json::Value;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The small scene, long enough to be met in the middle.
fn long() -> String {
    SMALL.replace("seconds = 0.3", "seconds = 3")
}

/// Waits until something has happened, not for a time.
#[track_caller]
fn wait_until(what: &str, happened: impl Fn() -> bool) {
    let start = Instant::now();
    while !happened() {
        assert!(start.elapsed() < Duration::from_secs(120), "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn info(place: &Place, run: &str) -> Value {
    serde_json::from_slice(&place.read(&format!("{run}/run.json"))).unwrap()
}

/// What is in a run folder but its times.
fn files(place: &Place, run: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let timed = |path: &PathBuf| path.ends_with("run.json") || path.ends_with("run.log");
    place.files(run).into_iter().filter(|(path, _)| !timed(path)).collect()
}

fn names(files: &[(PathBuf, Vec<u8>)]) -> Vec<&PathBuf> {
    files.iter().map(|(path, _)| path).collect()
}

/// Starts a run and kills it when it has written a file.
fn killed_at(place: &Place, arguments: &[&str], file: &str) {
    let mut child = place.start(arguments);
    wait_until(file, || place.exists(file));
    child.kill().unwrap();
    assert!(!child.wait().unwrap().success(), "it was killed before its end");
}

const COMMANDS: &str = "{\"step\": 3, \"command\": {\"poke\": {\"center\": [0.2, 0.3, 0.2], \"radius\": 0.3, \"velocity\": [1.0, 2.0, 0.0]}}}\n\
     {\"step\": 60, \"command\": {\"set\": {\"key\": \"gravity\", \"value\": [0.0, -5.0, 1.0]}}}\n\
     {\"step\": 90, \"command\": {\"poke\": {\"center\": [0.2, 0.1, 0.2], \"radius\": 0.3, \"velocity\": [-1.0, 2.0, 0.0]}}}\n";

#[test]
fn resume_after_run_with_commands_lost_those_not_yet_due() {
    let place = Place::new();
    place.write("long.toml", long().replace("seconds = 3", "seconds = 1"));
    place.write("log.jsonl", COMMANDS);
    let run = ["run", "long.toml", "--no-pictures", "--json", "--commands", "log.jsonl", "--out"];
    let whole = place.run(&[&run[..], &["whole"]].concat()).json()["digest"].clone();
    let done = place.read("whole/commands.jsonl");
    assert_eq!(String::from_utf8(done.clone()).unwrap().lines().count(), 3, "all commands come before the end");
    killed_at(&place, &[&run[..], &["k"]].concat(), "k/checkpoints/checkpoint_00002.mnc");
    assert_eq!(place.run(&["resume", "k", "--no-pictures", "--json"]).json()["digest"], whole);
    assert_eq!(place.read("k/commands.jsonl"), done);
    // Going back, and broken off again on the way: nothing is forgotten.
    let back = ["resume", "k", "--from-frame", "0", "--no-pictures", "--json"];
    std::fs::remove_file(place.path("k/checkpoints/checkpoint_00004.mnc")).unwrap();
    killed_at(&place, &back, "k/checkpoints/checkpoint_00004.mnc");
    assert_eq!(place.run(&["resume", "k", "--no-pictures", "--json"]).json()["digest"], whole);
    assert_eq!(place.read("k/commands.jsonl"), done);
    assert_eq!(files(&place, "k"), files(&place, "whole"));
}

#[test]
fn two_writers_into_one_folder_corrupted_it() {
    let place = Place::new();
    place.write("long.toml", long());
    let mut first = place.start(&["run", "long.toml", "--no-pictures", "--out", "r"]);
    wait_until("it runs", || place.exists("r/checkpoints/checkpoint_00000.mnc"));
    let second = place.run(&["resume", "r", "--no-pictures"]);
    assert_eq!(second.code, 2, "{}", second.out);
    assert!(second.err.contains(&format!("process {}", first.id())), "{}", second.err);
    first.kill().unwrap();
    first.wait().unwrap();
    assert!(place.exists("r/run.lock"), "a killed process leaves its lock file");
    let exported = place.run(&["export", "r", "--to", "ply"]);
    assert!(exported.code == 0 && exported.err.contains("broken off"), "{}", exported.err);
    let resumed = place.run(&["resume", "r", "--no-pictures"]);
    assert!(resumed.code == 0 && resumed.out.contains("broken off"), "{}{}", resumed.out, resumed.err);
    assert!(!place.exists("r/run.lock"));
}

#[test]
fn run_json_of_a_stranger_wrote_outside_of_its_folder() {
    let place = Place::with_scene();
    assert_eq!(place.run(&["run", "small.toml", "--quiet", "--out", "r"]).code, 0);
    let evil = place.path("evil");
    for name in [evil.to_str().unwrap(), "../evil", "a/../../evil", "..", ""] {
        let mut info = info(&place, "r");
        info["scene"] = name.into();
        place.write("r/run.json", info.to_string());
        for verb in [&["render", "r"][..], &["resume", "r", "--from-frame", "4"], &["export", "r", "--to", "ply"]] {
            let answer = place.run(verb);
            assert!(answer.code == 2 && answer.err.contains("run.json"), "{name}: {}", answer.err);
        }
        info["scene"] = "small".into();
        place.write("r/run.json", info.to_string());
    }
    assert!(!place.exists("evil.gif"));
    // Links lead out as well.
    std::fs::create_dir(place.path("elsewhere")).unwrap();
    #[cfg(unix)]
    for name in ["frames", "checkpoints", "probes.csv", "commands.jsonl", "vtk"] {
        let (inside, aside) = (place.path("r").join(name), place.path("r/aside"));
        let _ = std::fs::rename(&inside, &aside);
        std::os::unix::fs::symlink(place.path("elsewhere"), &inside).unwrap();
        let answer = place.run(&["resume", "r", "--from-frame", "4"]);
        assert!(answer.code == 2 && answer.err.contains("link"), "{name}: {}", answer.err);
        std::fs::remove_file(&inside).unwrap();
        let _ = std::fs::rename(&aside, &inside);
    }
    assert!(place.files("elsewhere").is_empty());
    assert_eq!(place.run(&["resume", "r", "--from-frame", "4"]).code, 0, "and all is as it was");
}

/// Starts the program with a standard output that nobody reads.
fn unheard(place: &Place, arguments: &[&str]) -> i32 {
    let mut command = Command::new(env!("CARGO_BIN_EXE_meniscus"));
    let command = command.args(arguments).current_dir(place.path("")).stdin(Stdio::null());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop((child.stdout.take(), child.stderr.take()));
    child.wait().unwrap().code().expect("no signal")
}

#[test]
fn a_closed_standard_output_killed_the_run() {
    let place = Place::with_scene();
    assert_eq!(unheard(&place, &["run", "small.toml", "--out", "r"]), 0);
    assert_eq!(info(&place, "r")["status"], "done");
    for arguments in
        [&["list"][..], &["list", "--json"], &["schema"], &["completions", "bash"], &["check", "small.toml"]]
    {
        assert_eq!(unheard(&place, arguments), 0, "{arguments:?}");
    }
}

#[cfg(unix)]
fn signal(child: &Child, names: &[&str]) {
    for name in names {
        assert!(Command::new("kill").args([&format!("-{name}"), &child.id().to_string()]).status().unwrap().success());
    }
}

#[cfg(unix)]
#[test]
fn ctrl_c_lost_what_came_after_the_last_checkpoint() {
    use std::io::Read;
    let place = Place::new();
    // One checkpoint at the start and one at the end: what is kept in between is kept by the signal.
    let scene = long().replace("checkpoint_every = 2", "checkpoint_every = 1000\nprobes = \"step\"");
    place.write("long.toml", scene.replace("seconds = 3", "seconds = 1"));
    place.write("log.jsonl", COMMANDS);
    let run = ["run", "long.toml", "--no-pictures", "--commands", "log.jsonl", "--out"];
    assert_eq!(place.run(&[&run[..], &["whole"]].concat()).code, 0);
    for (name, code) in [("INT", 130), ("TERM", 143)] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_meniscus"));
        command.args([&run[..], &[name]].concat()).current_dir(place.path(""));
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        wait_until("it runs", || place.exists(&format!("{name}/frames/frame_00003.mnf")));
        signal(&child, &[name]);
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(code), "{said}");
        assert!(said.contains(&format!("meniscus resume {name}")), "{said}");
        assert_eq!(info(&place, name)["status"], "stopped");
        assert!(place.exists(&format!("{name}/checkpoints/stopped.mnc")));
        let resumed = place.run(&["resume", name, "--no-pictures"]);
        assert!(resumed.code == 0 && resumed.out.contains("(stopped)"), "{}{}", resumed.out, resumed.err);
        let at: u32 = resumed.out.split("frame ").nth(1).unwrap().split('/').next().unwrap().parse().unwrap();
        assert!(at >= 3, "it goes on where it stopped, not at frame {at}");
        let (these, whole) = (files(&place, name), files(&place, "whole"));
        assert_eq!(names(&these), names(&whole));
        assert!(these == whole, "the same bytes");
    }
}

/// Two signals that are delivered together, so that no step can end between them.
#[cfg(unix)]
#[test]
fn a_second_ctrl_c_ends_at_once() {
    let place = Place::new();
    place.write("long.toml", long());
    let mut child = place.start(&["run", "long.toml", "--no-pictures", "--out", "r"]);
    wait_until("it runs", || place.exists("r/frames/frame_00001.mnf"));
    signal(&child, &["STOP", "INT", "TERM", "CONT"]);
    let code = child.wait().unwrap().code();
    assert!(matches!(code, Some(130 | 143)), "{code:?}");
    assert_eq!(info(&place, "r")["status"], "running", "it did not wait for its step");
    assert!(place.run(&["export", "r", "--to", "ply"]).err.contains("broken off"));
}

#[test]
fn damaged_frames_were_passed_over_in_silence() {
    let place = Place::with_scene();
    assert_eq!(place.run(&["run", "small.toml", "--quiet", "--out", "r"]).code, 0);
    let frame = place.path("r/frames/frame_00005.mnf");
    let sound = std::fs::read(&frame).unwrap();
    let mut bytes = sound.clone();
    bytes[100] ^= 4;
    std::fs::write(&frame, &bytes).unwrap();
    for verb in [&["export", "r", "--to", "vtk"][..], &["render", "r"], &["render", "r", "--strip", "16"]] {
        let answer = place.run(verb);
        assert_eq!(answer.code, 1, "{verb:?}: {}", answer.err);
        assert!(answer.err.contains("passing over") && answer.err.contains("frame_00005.mnf"), "{}", answer.err);
    }
    let resumed = place.run(&["resume", "r", "--from-frame", "10"]);
    assert_eq!(resumed.code, 0, "{}", resumed.err);
    assert!(resumed.err.contains("frame_00005.mnf") && resumed.err.contains("kept"), "{}", resumed.err);
    assert_eq!(std::fs::read(&frame).unwrap(), bytes);
    assert!(!place.run(&["resume", "r", "--from-frame", "4"]).err.contains("kept"), "it was written anew");
    assert_eq!(std::fs::read(&frame).unwrap(), sound);
    std::fs::remove_file(&frame).unwrap();
    assert!(place.run(&["resume", "r", "--from-frame", "10"]).err.contains("frame_00005.mnf"));
    let probes = String::from_utf8(place.read("r/probes.csv")).unwrap();
    place.write("r/probes.csv", probes.replacen("\n0.0,", "\nzero,", 1));
    let resumed = place.run(&["resume", "r", "--from-frame", "10"]);
    assert!(resumed.err.contains("probes.csv, line 2"), "{}", resumed.err);
}

#[test]
fn probes_deleted_while_it_ran_were_lost_in_silence() {
    let place = Place::new();
    place.write("long.toml", long());
    let mut child = place.start(&["run", "long.toml", "--no-pictures", "--out", "r"]);
    wait_until("it runs", || place.exists("r/frames/frame_00002.mnf"));
    std::fs::remove_file(place.path("r/probes.csv")).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(2));
    let info = info(&place, "r");
    assert_eq!(info["status"], "failed");
    assert!(info["error"]["message"].as_str().unwrap().contains("probes.csv"), "{info}");
}

#[cfg(unix)]
#[test]
fn a_pipe_named_as_mesh_hung_for_ever() {
    let place = Place::new();
    assert!(Command::new("mkfifo").arg(place.path("pipe.obj")).status().unwrap().success());
    let scene = |file: &str| format!("[solid.a]\nshape = {{ mesh = {{ file = \"{file}\" }} }}\n");
    for file in ["pipe.obj", "/dev/zero", "/dev/stdin"] {
        place.write("x.toml", scene(file));
        let answer = place.run(&["check", "x.toml", "--json"]);
        let message = answer.json()["error"]["message"].as_str().unwrap().to_owned();
        assert!(answer.code == 2 && message.contains("is not a file"), "{message}");
    }
    // A file that is larger than any mesh is not read: this one takes no room on the disk.
    std::fs::File::create(place.path("huge.obj")).unwrap().set_len(1 << 40).unwrap();
    place.write("x.toml", scene("huge.obj"));
    let (start, answer) = (std::time::Instant::now(), place.run(&["check", "x.toml", "--json"]));
    let message = answer.json()["error"]["message"].as_str().unwrap().to_owned();
    assert!(answer.code == 2 && message.contains("huge.obj") && message.contains("large"), "{message}");
    assert!(start.elapsed().as_secs_f64() < 10.0, "{:?}", start.elapsed());
}

/// Whoever reads the message, in a log or on a page, may not be one who may read the file.
#[test]
fn a_line_of_a_file_that_is_no_mesh_was_shown() {
    let place = Place::new();
    for ending in ["obj", "stl", "ply", "msh", "vtk", "vtu", "ele", "gltf", "glb"] {
        let file = format!("secret.{ending}");
        place.write(&file, "root:x:0:0:hunter2\nf hunter2\nfacet hunter2\nelement vertex hunter2\n");
        for (table, key) in [
            ("liquid", format!("fill = [{{ mesh = {{ file = \"{file}\" }} }}]")),
            ("solid", format!("shape = {{ mesh = {{ file = \"{file}\" }} }}")),
            ("rigid", format!("shape = {{ mesh = {{ file = \"{file}\" }} }}")),
            ("wall", format!("shape = {{ mesh = {{ file = \"{file}\" }} }}")),
            ("animated", format!("file = \"{file}\"")),
        ] {
            place.write("x.toml", format!("[{table}.a]\n{key}\n"));
            for json in [&["check", "x.toml"][..], &["check", "x.toml", "--json"]] {
                let answer = place.run(json);
                let said = answer.out + &answer.err;
                assert!(answer.code == 2 && said.contains(&file), "{table} {ending}: {said}");
                assert!(!said.contains("hunter2") && !said.contains("root:x"), "{table} {ending}: {said}");
            }
        }
    }
}

/// The step is far too long for the state equation: it was run to its end, and nothing told that particles fly.
#[test]
fn energy_from_nowhere_was_in_no_record() {
    let place = Place::new();
    let scene = "seconds = 0.3\n[time]\ndt = 0.02\n[sph]\npressure = \"state-equation\"\nspacing = 0.1\n[liquid.water]\n\
        fill = [{ box = { min = [0, 0, 0], max = [0.5, 0.3, 0.3] } }]\n[wall.tank]\nshape = { box = { min = [0, 0, 0], max = [0.5, 0.6, 0.3] } }\n";
    place.write("bad.toml", scene);
    let done = place.run(&["run", "bad.toml", "--no-pictures", "--out", "bad"]);
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(done.out.lines().any(|line| line.starts_with("warning: energy grew by")), "{}", done.out);
    let warnings = info(&place, "bad")["warnings"].to_string();
    assert!(warnings.contains("energy grew by") && warnings.contains("find pressure"), "{warnings}");
}
