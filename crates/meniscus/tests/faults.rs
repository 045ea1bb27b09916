//! Every write of a run fails once, torn in its middle, and all after it: whatever is left resumes to the same end.

use meniscus::record::{RunFolder, fail_after};
use meniscus::scene::Loaded;
use meniscus::sim::Logged;
use meniscus::{RunError, RunOptions, resume, run};

const SCENE: &str = r#"
seconds = 0.08
fps = 50
[sph]
spacing = 0.1
[output]
checkpoint_every = 2
probes = "step"
[liquid.water]
fill = [{ box = { min = [0, 0, 0], max = [0.4, 0.6, 0.4] } }]
[wall.tank]
shape = { box = { min = [0, 0, 0], max = [1, 1, 0.4] } }
"#;

const COMMANDS: [&str; 2] = [
    r#"{"step": 1, "command": {"set": {"key": "gravity", "value": [0.0, -5.0, 1.0]}}}"#,
    r#"{"step": 3, "command": {"set": {"key": "gravity", "value": [0.0, -9.0, 0.0]}}}"#,
];

/// Ends the failing, however a test ends.
struct Sound;

impl Drop for Sound {
    fn drop(&mut self) {
        fail_after(None);
    }
}

#[test]
fn a_write_that_fails_anywhere_costs_nothing_but_time() {
    let _sound = Sound;
    let loaded = Loaded::from_text("small", "small.toml", SCENE, &[], &|_| Err(std::io::ErrorKind::NotFound.into()));
    let loaded = loaded.unwrap();
    let replay: Vec<Logged> = COMMANDS.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    let options = RunOptions { no_pictures: true, replay, threads: 1, ..RunOptions::default() };
    let out = tempfile::tempdir().unwrap();
    let start = |name: &str| run(&loaded, || RunFolder::create(out.path(), name), &options, &mut |_| ());
    let (whole, summary) = start("whole").unwrap();
    let rows = std::fs::read(whole.probes_path()).unwrap();
    let commands = std::fs::read(whole.commands_path()).unwrap();
    assert_eq!(commands.iter().filter(|&&byte| byte == b'\n').count(), 2, "both commands come before the end");
    let (mut resumed, mut writes) = (0, 0);
    for n in 0.. {
        let name = format!("n{n}");
        fail_after(Some(n));
        let result = start(&name);
        fail_after(None);
        let Err(error) = result else {
            writes = n;
            break;
        };
        assert!(matches!(error, RunError::Record(_)), "write {n}: {error}");
        // Before there is a checkpoint the run has to be started again, and says so.
        let Ok(folder) = RunFolder::open(out.path().join(&name)) else { continue };
        match resume(&folder, None, &RunOptions { no_pictures: true, threads: 1, ..RunOptions::default() }, &mut |_| ())
        {
            Err(RunError::NoCheckpoint { .. }) => assert!(!folder.checkpoint_path(0).exists(), "write {n}"),
            Err(error) => panic!("write {n}: {error}"),
            Ok(again) => {
                resumed += 1;
                assert_eq!(again.digest, summary.digest, "write {n}");
                assert_eq!(std::fs::read(folder.probes_path()).unwrap(), rows, "write {n}");
                assert_eq!(std::fs::read(folder.commands_path()).unwrap(), commands, "write {n}");
                assert_eq!(folder.frame_numbers().unwrap(), whole.frame_numbers().unwrap(), "write {n}");
            }
        }
    }
    assert!(writes > 30 && resumed > 20, "{writes} writes, {resumed} resumed");
}
