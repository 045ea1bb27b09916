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
    let cases: [(&[&str], &str); 8] = [
        (&["--set", "gravity=[0, 0, 0]"], "--out"),
        (&["--out", "n"], "--from-frame"),
        (
            &["--from-frame", "4", "--out", "n", "--set", "sph.spacing=0.1"],
            "cannot change `sph.spacing` in a branch: it holds from the start",
        ),
        (&["--from-frame", "4", "--out", "n", "--set", "gravty=[0, 0, 0]"], "did you mean `gravity`"),
        (&["--from-frame", "4", "--out", "n", "--set", "liquid.water.viscosity=-1"], "must not be negative"),
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

/// A cube of 0.1 m with a corner there, as an OBJ file.
fn cube_at([x, y, z]: [f64; 3]) -> String {
    let corner = |k: usize| [k & 1, k >> 1 & 1, k >> 2].map(|bit| 0.1 * bit as f64);
    let mut text: String = (0..8)
        .map(|k| {
            let [a, b, c] = corner(k);
            format!("v {} {} {}\n", x + a, y + b, z + c)
        })
        .collect();
    for [a, b, c, d] in [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]] {
        text += &format!("f {} {} {}\nf {} {} {}\n", a + 1, b + 1, c + 1, a + 1, c + 1, d + 1);
    }
    text
}

/// The files that a scene needs go along, to a branch and to a branch of that; under the same names.
#[test]
fn branches_have_the_meshes_of_their_scene() {
    let place = Place::new();
    place.write("my box.obj", cube_at([0.6, 0.3, 0.1]));
    for frame in 0..4 {
        place.write(&format!("led_{frame}.obj"), cube_at([0.8, 0.4 - 0.05 * f64::from(frame), 0.25]));
    }
    let meshes =
        "\n[rigid.box]\nshape = { mesh = { file = \"my box.obj\" } }\n[animated.led]\nfile = \"led_#.obj\"\nfps = 10\n";
    place.write("old.toml", format!("{SMALL}{meshes}"));
    let check = place.run(&["check", "old.toml", "--json"]).json();
    let near = |key: &str, expected: [f64; 3]| {
        let found = expected.iter().zip(check["animated"][0][key].as_array().unwrap());
        found.map(|(a, b)| (a - b.as_f64().unwrap()).abs()).all(|off| off < 1e-9)
    };
    assert!(near("min", [0.8, 0.25, 0.25]) && near("max", [0.9, 0.5, 0.35]), "{}", check["animated"]);
    let said = place.run(&["check", "old.toml"]).out;
    assert!(
        said.contains("led moves between (0.80, 0.25, 0.25) and (0.90, 0.50, 0.35) m, from 0.00 to 0.30 s"),
        "{said}"
    );
    let at = |frame: u32, x: f64| {
        let time = f64::from(frame) / 50.0;
        format!("\n[[script]]\ntime = {time}\ncommand = {{ set = {{ key = \"gravity\", value = [{x}, -9.81, 0] }} }}\n")
    };
    place.write("whole.toml", format!("{SMALL}{meshes}{}{}", at(5, 3.0), at(9, -3.0)));
    digest(&place, &["run", "old.toml", "--no-pictures", "--json", "--out", "old run"]);
    let whole = digest(&place, &["run", "whole.toml", "--no-pictures", "--json", "--out", "whole"]);
    let branch = |from: &str, frame: &str, x: &str, out: &str| {
        let change = format!("gravity=[{x}, -9.81, 0]");
        let words = ["resume", from, "--from-frame", frame, "--set", &change, "--out", out, "--no-pictures", "--json"];
        digest(&place, &words)
    };
    branch("old run", "5", "3", "first branch");
    assert_eq!(branch("first branch", "9", "-3", "second branch"), whole);
    assert_eq!(place.files("second branch/frames"), place.files("whole/frames"));
    assert_eq!(place.files("second branch/assets"), place.files("old run/assets"));
    assert_eq!(place.read("second branch/scene.toml"), place.read("whole/scene.toml"));
}
