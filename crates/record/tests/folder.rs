//! Run folders: making, opening, resuming.

mod scenery;

use std::fs;
use std::path::Path;

use meniscus_record::{
    CheckpointHeader, FrameFault, RecordError, RunFolder, RunInfo, RunStatus, read_commands, write_atomic,
};
use serde_json::{Value, json};

const COLUMNS: [&str; 2] = ["time [s]", "level [m]"];

/// A run of `frames` frames with a checkpoint at every fourth and a picture of each.
fn sample_run(dir: &Path, frames: u32) -> RunFolder {
    let run = RunFolder::create_at(dir).unwrap();
    run.write_info(&RunInfo { fps: 30.0, ..RunInfo::start("pool", "dfsph") }).unwrap();
    run.write_scene("method = \"dfsph\"\n").unwrap();
    continue_run(&run, 0, frames);
    run
}

fn continue_run(run: &RunFolder, from: u32, to: u32) {
    let mut probes = run.probe_writer(&COLUMNS).unwrap();
    let mut commands = run.command_writer().unwrap();
    for number in from..to {
        run.write_frame(&scenery::tiny(number)).unwrap();
        write_atomic(run.picture_path(number), format!("picture {number}").as_bytes()).unwrap();
        probes.write(&[f64::from(number) / 30.0, 1.0 / f64::from(number)]).unwrap();
        if number % 3 == 0 {
            commands.write(&json!({"frame": number, "pull": [0.1, 0.2]})).unwrap();
        }
        if number % 4 == 0 {
            let (probes_rows, commands_rows) = (probes.rows(), commands.rows());
            let header = CheckpointHeader { frame: number, probes_rows, commands_rows, ..Default::default() };
            run.write_checkpoint(&header, format!("state {number}").as_bytes()).unwrap();
        }
    }
}

/// Every file of a folder with its bytes.
fn contents(dir: &Path) -> Vec<(String, Vec<u8>)> {
    let mut all = Vec::new();
    for entry in fs::read_dir(dir).unwrap().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap();
        if entry.path().is_dir() {
            all.extend(contents(&entry.path()).into_iter().map(|(inner, bytes)| (format!("{name}/{inner}"), bytes)));
        } else if name != "run.json" {
            all.push((name, fs::read(entry.path()).unwrap()));
        }
    }
    all.sort();
    all
}

#[test]
fn folders_that_exist_get_a_suffix() {
    let out = tempfile::tempdir().unwrap();
    let parent = out.path().join("out");
    let names = (0..3).map(|_| RunFolder::create(&parent, "pool").unwrap().dir().file_name().unwrap().to_owned());
    assert_eq!(names.collect::<Vec<_>>(), ["pool", "pool-2", "pool-3"]);
    assert!(matches!(RunFolder::create(&parent, "../pool"), Err(RecordError::BadName { .. })));
}

#[test]
fn a_folder_of_ones_own_must_be_empty_and_writable() {
    let out = tempfile::tempdir().unwrap();
    let empty = out.path().join("deep/inside");
    fs::create_dir_all(&empty).unwrap();
    assert_eq!(RunFolder::create_at(&empty).unwrap().dir(), empty);

    let error = RunFolder::create_at(&empty).unwrap_err();
    assert!(matches!(error, RecordError::FolderNotEmpty { .. }) && error.is_usage());
    assert!(error.to_string().contains("deep/inside"), "{error}");

    let file = out.path().join("file");
    fs::write(&file, b"x").unwrap();
    assert!(matches!(RunFolder::create_at(&file), Err(RecordError::NotAFolder { .. })));
    let error = RunFolder::create_at(file.join("below")).unwrap_err();
    assert!(matches!(error, RecordError::NotWritable { .. }) && error.is_usage());
    assert!(error.to_string().contains("file/below"), "{error}");
    assert!(matches!(RunFolder::create(&file, "pool"), Err(RecordError::NotWritable { .. })));
}

#[test]
#[cfg(unix)]
fn a_folder_without_permission_is_told() {
    use std::os::unix::fs::PermissionsExt;
    let out = tempfile::tempdir().unwrap();
    fs::set_permissions(out.path(), fs::Permissions::from_mode(0o555)).unwrap();
    if fs::write(out.path().join("root may"), b"").is_ok() {
        println!("skipped: this user may write everywhere");
        return;
    }
    let error = RunFolder::create_at(out.path()).unwrap_err();
    assert!(matches!(error, RecordError::NotWritable { .. }), "{error}");
}

#[test]
fn opening_says_what_is_wrong() {
    let out = tempfile::tempdir().unwrap();
    let open = |name: &str| RunFolder::open(out.path().join(name));
    assert!(matches!(open("nothing"), Err(RecordError::NoSuchFolder { .. })));
    fs::write(out.path().join("file"), b"x").unwrap();
    assert!(matches!(open("file"), Err(RecordError::NotAFolder { .. })));
    fs::create_dir(out.path().join("empty")).unwrap();
    assert!(matches!(open("empty"), Err(RecordError::NotARun { .. })));

    let run = sample_run(&out.path().join("pool"), 1);
    let good: Value = serde_json::from_slice(&fs::read(run.info_path()).unwrap()).unwrap();
    for bad in ["", "{", "[]", "{}", "{\"format\": 1}", "{\"format\": \"one\"}", "\u{feff}", "null"] {
        fs::write(run.info_path(), bad).unwrap();
        let error = open("pool").unwrap_err();
        assert!(matches!(error, RecordError::MalformedRun { .. }), "{bad:?}: {error}");
        assert!(error.to_string().contains("run.json"), "{error}");
    }
    fs::write(run.info_path(), b"\xff\xfe").unwrap();
    assert!(matches!(open("pool"), Err(RecordError::MalformedRun { .. })));

    fs::write(run.info_path(), json!({"format": 2, "program": "9.1.0", "else": []}).to_string()).unwrap();
    let error = open("pool").unwrap_err();
    assert!(matches!(error, RecordError::IncompatibleRun { format: 2, .. }));
    assert!(error.to_string().contains("made by Meniscus 9.1.0"), "{error}");

    let mut newer = good;
    newer["invented_later"] = json!({"a": 1});
    fs::write(run.info_path(), newer.to_string()).unwrap();
    assert_eq!(open("pool").unwrap().info().unwrap().scene, "pool");
}

#[test]
fn run_json_is_pretty_and_its_keys_are_in_order() {
    let out = tempfile::tempdir().unwrap();
    let run = RunFolder::create(out.path(), "pool").unwrap();
    let info = RunInfo { started: "2026-01-02T03:04:05Z".into(), ..RunInfo::start("pool", "dfsph") };
    run.write_info(&info).unwrap();
    let text = fs::read_to_string(run.info_path()).unwrap();
    let keys: Vec<_> = text.lines().filter_map(|l| l.strip_prefix("  \"")?.split('"').next()).collect();
    let expected = "format program scene method threads status error started seconds fps steps simulated_seconds \
                    wall_seconds particles tets cells lost_particles digest warnings timings";
    assert_eq!(keys, expected.split_whitespace().collect::<Vec<_>>());
    assert!(text.contains("\"status\": \"running\"") && text.ends_with("}\n"));
    assert_eq!(run.info().unwrap(), info);
    run.write_info(&RunInfo { status: RunStatus::Done, ..info }).unwrap();
    assert_eq!(run.info().unwrap().status, RunStatus::Done);
}

#[test]
fn scene_assets_and_frames_come_back() {
    let out = tempfile::tempdir().unwrap();
    let run = sample_run(&out.path().join("pool"), 3);
    assert_eq!(run.scene().unwrap(), "method = \"dfsph\"\n");
    let path = run.write_asset("organs/liver.obj", b"v 0 0 0\n").unwrap();
    assert_eq!(fs::read(path).unwrap(), b"v 0 0 0\n");
    assert!(matches!(run.write_asset("../run.json", b""), Err(RecordError::BadName { .. })));

    assert_eq!(run.frame_numbers().unwrap(), [0, 1, 2]);
    assert_eq!(run.read_frame(2).unwrap(), scenery::tiny(2));
    assert!(matches!(run.read_frame(3), Err(RecordError::Io { .. })));
    fs::write(run.frame_path(1), b"\x89MNF").unwrap();
    let error = run.read_frame(1).unwrap_err();
    assert!(error.to_string().contains("frame_00001.mnf: the frame is cut off"), "{error}");

    fs::rename(run.frame_path(2), run.frame_path(1)).unwrap();
    let error = run.read_frame(1).unwrap_err();
    assert!(error.to_string().contains("belongs to frame 2"), "{error}");
    run.write_frame(&scenery::tiny(2)).unwrap();

    let mut wrong = scenery::tiny(7);
    wrong.particles.ids.pop();
    assert!(matches!(run.write_frame(&wrong), Err(RecordError::BadFrame(FrameFault::Lengths { .. }))));
    assert_eq!(run.frame_numbers().unwrap(), [0, 1, 2]);
}

#[test]
fn opening_sweeps_strays_and_nothing_else() {
    let out = tempfile::tempdir().unwrap();
    let run = sample_run(&out.path().join("pool"), 2);
    run.write_asset("organs/a.obj", b"v").unwrap();
    let before = contents(run.dir());
    for folder in ["", "frames", "checkpoints", "assets", "assets/organs"] {
        fs::write(run.dir().join(folder).join(".meniscus-1-77.partial"), b"half a fra").unwrap();
    }
    assert_eq!(run.frame_numbers().unwrap(), [0, 1]);
    RunFolder::open(run.dir()).unwrap();
    assert_eq!(contents(run.dir()), before);
}

#[test]
fn damaged_checkpoints_are_skipped_and_told() {
    let out = tempfile::tempdir().unwrap();
    let run = sample_run(&out.path().join("pool"), 14);
    assert_eq!(run.checkpoint_numbers().unwrap(), [0, 4, 8, 12]);
    assert_eq!(run.latest_checkpoint().unwrap().found.unwrap().payload, b"state 12");
    assert_eq!(run.checkpoint_at_or_before(11).unwrap().found.unwrap().payload, b"state 8");

    fs::copy(run.checkpoint_path(0), run.checkpoint_path(12)).unwrap();
    let sound = fs::read(run.checkpoint_path(8)).unwrap();
    fs::write(run.checkpoint_path(8), &sound[..sound.len() - 9]).unwrap();
    let search = run.latest_checkpoint().unwrap();
    assert_eq!(search.found.unwrap().header.frame, 4);
    let reasons: Vec<_> = search.skipped.iter().map(|s| s.reason.to_string()).collect();
    assert!(reasons[0].contains("belongs to frame 0") && reasons[1].contains("cut off"), "{reasons:?}");
    assert_eq!(search.skipped[1].path, run.checkpoint_path(8));
    assert!(run.checkpoint_at_or_before(3).unwrap().skipped.is_empty());

    fs::remove_dir_all(run.dir().join("checkpoints")).unwrap();
    assert!(run.latest_checkpoint().unwrap().found.is_none());
}

#[test]
fn a_resumed_run_is_an_unbroken_run() {
    let out = tempfile::tempdir().unwrap();
    let unbroken = sample_run(&out.path().join("unbroken"), 14);
    for (name, broken_at, from) in [("a", 11, u32::MAX), ("b", 14, 6), ("c", 9, 0), ("d", 14, 13)] {
        let run = sample_run(&out.path().join(name), broken_at);
        let header = run.checkpoint_at_or_before(from).unwrap().found.unwrap().header;
        run.rewind_to(&header).unwrap();
        assert_eq!(run.frame_numbers().unwrap().last(), Some(&header.frame));
        assert_eq!(run.picture_numbers().unwrap().last(), Some(&header.frame));
        continue_run(&run, header.frame + 1, 14);
        assert_eq!(contents(run.dir()), contents(unbroken.dir()), "{name}");
    }
    assert_eq!(read_commands(unbroken.commands_path()).unwrap().len(), 5);
}

#[test]
fn rewinding_needs_the_rows_that_the_checkpoint_counts_on() {
    let out = tempfile::tempdir().unwrap();
    let run = sample_run(&out.path().join("pool"), 14);
    fs::write(run.probes_path(), "time [s],level [m]\n0.0,inf\n").unwrap();
    let before = contents(run.dir());
    let header = run.checkpoint_at_or_before(8).unwrap().found.unwrap().header;
    let error = run.rewind_to(&header).unwrap_err();
    assert!(matches!(error, RecordError::RowsMissing { found: 1, needed: 9, .. }), "{error}");
    assert_eq!(contents(run.dir()), before);
}
