//! Branches: a run that leaves another at a frame is, bit for bit, the whole run of a scene with that change in its script.

mod program;

use program::{Place, SMALL};

fn digest(place: &Place, arguments: &[&str]) -> String {
    let answer = place.run(arguments);
    assert_eq!(answer.code, 0, "{}{}", answer.out, answer.err);
    answer.json()["digest"].as_str().unwrap().to_owned()
}

/// At a frame with a checkpoint and at one that is only reached by stepping on from one.
#[test]
fn a_branch_is_a_whole_run_with_a_scripted_change() {
    let place = Place::with_scene();
    let old = digest(&place, &["run", "small.toml", "--json", "--out", "old"]);
    let before = place.files("old");
    for frame in [6, 7] {
        let change = format!(
            "\n[[script]]\ntime = {}\ncommand = {{ set = {{ key = \"gravity\", value = [3, -9.81, 0] }} }}\n",
            f64::from(frame) / 50.0
        );
        place.write("changed.toml", format!("{SMALL}{change}"));
        let (whole, branch) = (format!("whole{frame}"), format!("branch{frame}"));
        let scripted = digest(&place, &["run", "changed.toml", "--json", "--out", &whole]);
        let at = frame.to_string();
        let branched = digest(
            &place,
            &["resume", "old", "--from-frame", &at, "--set", "gravity=[3, -9.81, 0]", "--out", &branch, "--json"],
        );
        assert_eq!(branched, scripted);
        assert_ne!(branched, old);
        assert_eq!(place.files(&format!("{branch}/frames")), place.files(&format!("{whole}/frames")));
        assert_eq!(place.read(&format!("{branch}/probes.csv")), place.read(&format!("{whole}/probes.csv")));
        assert_eq!(place.read(&format!("{branch}/frame_0015.png")), place.read(&format!("{whole}/frame_0015.png")));
        let info: serde_json::Value = serde_json::from_slice(&place.read(&format!("{branch}/run.json"))).unwrap();
        assert_eq!((&info["branch"]["from"], &info["branch"]["frame"]), (&"old".into(), &frame.into()));
        assert_eq!(info["branch"]["set"][0], "gravity=[3.0,-9.81,0.0]");
        // It can be resumed, too.
        assert_eq!(digest(&place, &["resume", &branch, "--from-frame", "10", "--json"]), scripted);
    }
    assert_eq!(place.files("old"), before, "the old run is as it was");
}

/// What was done by hand before the frame is done again; what came later is left out, or given anew.
#[test]
fn commands_by_hand_are_repeated_up_to_the_branch() {
    let place = Place::with_scene();
    let command = |step: u64, x: f64| {
        format!("{{\"step\":{step},\"command\":{{\"set\":{{\"key\":\"gravity\",\"value\":[{x},-9.81,0]}}}}}}\n")
    };
    let steps = place.run(&["run", "small.toml", "--json", "--out", "plain"]).json()["steps"].as_u64().unwrap();
    // Frame 9 of 15 lies well before the last steps.
    let late = steps - 3;
    place.write("both.jsonl", command(2, 4.0) + &command(late, -4.0));
    place.write("first.jsonl", command(2, 4.0));
    let run = |commands: &str, out: &str| {
        digest(&place, &["run", "small.toml", "--commands", commands, "--json", "--out", out])
    };
    let both = run("both.jsonl", "old");
    let first = run("first.jsonl", "first");
    assert_ne!(both, first);
    let branch = ["resume", "old", "--from-frame", "9", "--json", "--out"];
    assert_eq!(digest(&place, &[&branch[..], &["a"]].concat()), first);
    place.write("later.jsonl", command(3, 9.0) + &command(late, -7.0));
    let again = digest(&place, &[&branch[..], &["b", "--commands", "later.jsonl"]].concat());
    place.write("all.jsonl", command(2, 4.0) + &command(late, -7.0));
    assert_eq!(again, run("all.jsonl", "all"));
}

#[test]
fn what_cannot_be_is_refused() {
    let place = Place::with_scene();
    digest(&place, &["run", "small.toml", "--json", "--no-pictures", "--out", "old"]);
    let cases: [(&[&str], &str); 6] = [
        (&["--set", "gravity=[0, 0, 0]"], "--out"),
        (&["--out", "n"], "--from-frame"),
        (&["--from-frame", "4", "--out", "n", "--set", "sph.spacing=0.1"], "sph.spacing"),
        (&["--from-frame", "4", "--out", "n", "--set", "gravity"], "key=value"),
        (&["--from-frame", "4", "--out", "n", "--set", "gravity=down"], "number or [x, y, z]"),
        (&["--from-frame", "99", "--out", "n"], "frame_00099"),
    ];
    for (arguments, said) in cases {
        let answer = place.run(&[&["resume", "old"], arguments].concat());
        assert!(answer.code == 2 && answer.err.contains(said), "{arguments:?}: {}", answer.err);
        assert!(!place.exists("n"), "{arguments:?} left a folder");
    }
    let taken = place.run(&["resume", "old", "--from-frame", "4", "--out", "old"]);
    assert!(taken.code == 2 && taken.err.contains("old"), "{}", taken.err);
}
