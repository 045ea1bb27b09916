//! A writer is killed at random moments, again and again. Whatever is found afterwards is whole, the run resumes from it,
//! and in the end it has written what an unbroken run writes.

mod scenery;

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use meniscus_record::{
    CheckpointHeader, RunFolder, RunInfo, decode_checkpoint, decode_frame, read_commands, read_probes, write_atomic,
};
use scenery::Random;
use serde_json::json;

const KILLS: u32 = 20;
const FOLDER: &str = "MENISCUS_CRASH_FOLDER";
const LAST_FRAME: &str = "MENISCUS_CRASH_LAST_FRAME";

/// Resumes the run in `dir` and writes up to and with frame `last`.
fn write_run(dir: &Path, last: u32) {
    let run = RunFolder::open(dir).unwrap();
    let checkpoint = run.latest_checkpoint().unwrap().found;
    let header = checkpoint.map(|c| c.header);
    run.rewind_to(header.as_ref().unwrap_or(&CheckpointHeader::default())).unwrap();
    let mut probes = run.probe_writer(&["time", "noise"]).unwrap();
    let mut commands = run.command_writer().unwrap();
    let info = run.info().unwrap();
    for frame in header.map_or(0, |h| h.frame + 1)..=last {
        run.write_frame(&scenery::tiny(frame)).unwrap();
        write_atomic(run.picture_path(frame), &vec![frame as u8; 5000]).unwrap();
        for row in 0..3 {
            probes.write(&[f64::from(frame), f64::from(frame * row).sqrt()]).unwrap();
        }
        commands.write(&json!({"frame": frame})).unwrap();
        run.write_info(&RunInfo { steps: u64::from(frame), ..info.clone() }).unwrap();
        if frame % 4 == 0 {
            let (probes_rows, commands_rows) = (probes.rows(), commands.rows());
            let header = CheckpointHeader { frame, probes_rows, commands_rows, ..Default::default() };
            run.write_checkpoint(&header, &state(frame)).unwrap();
        }
    }
}

fn state(frame: u32) -> Vec<u8> {
    frame.to_le_bytes().repeat(250_000)
}

/// The program that is killed: this test in another process.
#[test]
fn child() {
    if let (Ok(dir), Ok(last)) = (std::env::var(FOLDER), std::env::var(LAST_FRAME)) {
        write_run(Path::new(&dir), last.parse().unwrap());
    }
}

fn spawn(dir: &Path, last: u32) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child", "--nocapture"])
        .env(FOLDER, dir)
        .env(LAST_FRAME, last.to_string())
        .stdout(Stdio::null())
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap()
}

fn new_run(dir: &Path) {
    let run = RunFolder::create_at(dir).unwrap();
    let info = RunInfo { started: "2026-01-01T00:00:00Z".into(), ..RunInfo::start("crash", "none") };
    run.write_info(&info).unwrap();
}

/// Every file is whole and the newest checkpoint can be used.
fn check_state(dir: &Path) {
    let run = RunFolder::open(dir).unwrap();
    for frame in run.frame_numbers().unwrap() {
        assert_eq!(decode_frame(&fs::read(run.frame_path(frame)).unwrap()).unwrap(), scenery::tiny(frame));
    }
    for frame in run.checkpoint_numbers().unwrap() {
        let bytes = fs::read(run.checkpoint_path(frame)).unwrap();
        assert_eq!(decode_checkpoint(&bytes).unwrap().1, state(frame));
    }
    for frame in run.picture_numbers().unwrap() {
        assert_eq!(fs::read(run.picture_path(frame)).unwrap(), vec![frame as u8; 5000]);
    }
    for folder in [dir.to_path_buf(), dir.join("frames"), dir.join("checkpoints")] {
        let names = fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
        assert_eq!(names.filter(|n| n.starts_with('.')).collect::<Vec<_>>(), [""; 0], "strays are swept");
    }
    let search = run.latest_checkpoint().unwrap();
    assert!(search.skipped.is_empty(), "{:?}", search.skipped);
    if let Some(checkpoint) = search.found {
        let frames = run.frame_numbers().unwrap();
        assert!((0..=checkpoint.header.frame).all(|frame| frames.contains(&frame)));
        assert!(read_probes(run.probes_path()).unwrap().rows.len() as u64 >= checkpoint.header.probes_rows);
        assert!(read_commands(run.commands_path()).unwrap().len() as u64 >= checkpoint.header.commands_rows);
    }
}

fn newest_frame(dir: &Path) -> Option<u32> {
    let names = fs::read_dir(dir.join("frames")).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
    names.filter_map(|n| n.strip_prefix("frame_")?.strip_suffix(".mnf")?.parse().ok()).max()
}

fn wait_until(happened: impl Fn() -> bool) {
    let start = Instant::now();
    while !happened() {
        assert!(start.elapsed() < Duration::from_secs(60), "the writer does not write");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn a_kill_at_any_moment_leaves_a_run_that_resumes() {
    let out = tempfile::tempdir().unwrap();
    let (broken, unbroken) = (out.path().join("broken"), out.path().join("unbroken"));
    new_run(&broken);
    let mut random = Random(5);
    for kill in 0..KILLS {
        let before = newest_frame(&broken);
        let mut child = spawn(&broken, u32::MAX - 1);
        // Every other time it comes as far as a new frame; otherwise it may be killed while it opens or rewinds.
        if kill % 2 == 0 {
            wait_until(|| newest_frame(&broken) > before);
        }
        std::thread::sleep(Duration::from_micros(random.below(60_000) as u64));
        child.kill().unwrap();
        assert!(!child.wait().unwrap().success());
        check_state(&broken);
    }
    let reached = newest_frame(&broken).unwrap();
    let last = reached + 5;
    assert!(spawn(&broken, last).wait().unwrap().success());
    new_run(&unbroken);
    write_run(&unbroken, last);
    for name in ["run.json", "probes.csv", "commands.jsonl"] {
        assert!(fs::read(broken.join(name)).unwrap() == fs::read(unbroken.join(name)).unwrap(), "{name} differs");
    }
    for folder in ["frames", "checkpoints"] {
        let names = |dir: &Path| {
            let mut names: Vec<_> = fs::read_dir(dir.join(folder)).unwrap().map(|e| e.unwrap().file_name()).collect();
            names.sort();
            names
        };
        assert_eq!(names(&broken), names(&unbroken));
    }
    check_state(&broken);
}
