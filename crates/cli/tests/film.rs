//! What a film animator takes away: USD, read back by its own library where that is installed (`MENISCUS_PYTHON`).

mod program;

use program::Place;
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// Water falls on a rigid ball that falls too, and on a soft cube.
const SCENE: &str = r#"
seconds = 0.3
fps = 20
[sph]
spacing = 0.05
[liquid.water]
fill = [{ box = { min = [0, 0.6, 0], max = [0.3, 0.9, 0.3] } }]
[rigid.ball]
shape = { sphere = { center = [0.7, 0.8, 0.2], radius = 0.1 } }
spin = [0, 0, 5]
[solid.cube]
shape = { box = { min = [0.6, 0.05, 0.1], max = [0.8, 0.25, 0.3] } }
target_tets = 60
[wall.tank]
shape = { box = { min = [0, 0, 0], max = [1, 1, 0.4] } }
"#;

/// What USD's own library finds in a file.
fn read_by_usd(root: &Path) -> Option<Value> {
    let Some(python) = std::env::var_os("MENISCUS_PYTHON") else {
        assert!(std::env::var_os("CI").is_none(), "CI must set MENISCUS_PYTHON");
        eprintln!("skipped: MENISCUS_PYTHON is not set");
        return None;
    };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/read_usd.py");
    let answer = Command::new(python).arg(script).arg(root).output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&answer.stdout), String::from_utf8_lossy(&answer.stderr));
    assert!(answer.status.success(), "{out}{err}");
    Some(serde_json::from_str(&out).unwrap_or_else(|e| panic!("{e}: {out}{err}")))
}

#[test]
fn usd_holds_what_was_run() {
    let place = Place::new();
    place.write("falls.toml", SCENE);
    let run = place.run(&["run", "falls.toml", "--no-pictures", "--quiet", "--out", "r"]);
    assert_eq!(run.code, 0, "{}{}", run.out, run.err);
    let answer = place.run(&["export", "r", "--to", "usd"]);
    assert_eq!(answer.code, 0, "{}{}", answer.out, answer.err);
    for file in ["falls.usda", "falls/water_0.00006.usda", "falls/water_0_spray.00000.usda"] {
        assert!(
            place.exists(&format!("r/usd/{file}")),
            "{file} of {:?}",
            place.files("r/usd").iter().map(|f| &f.0).collect::<Vec<_>>()
        );
    }
    let Some(told) = read_by_usd(&place.path("r/usd/falls.usda")) else { return };
    assert_eq!(told["faults"], Value::Array(Vec::new()));
    assert_eq!(
        (told["up"].as_str(), told["metres"].as_f64(), told["fps"].as_f64()),
        (Some("Y"), Some(1.0), Some(20.0))
    );
    assert_eq!(told["frames"], serde_json::json!([0.0, 6.0]));
    assert!(told["camera"] == true && told["default"] == "World");
    let mesh = |prefix: &str| {
        let meshes = told["meshes"].as_object().unwrap();
        let found = meshes.iter().find(|(name, _)| name.starts_with(prefix));
        found.unwrap_or_else(|| panic!("no {prefix} in {:?}", meshes.keys())).1.as_array().unwrap().clone()
    };
    let (water, ball, cube) = (mesh("water"), mesh("ball"), mesh("cube"));
    assert_eq!(water.len(), 7);
    // The water keeps its volume while it falls, and its triangles change.
    let volume = |row: &Value| row[2].as_f64().unwrap();
    assert!((volume(&water[0]) / 0.027 - 1.0).abs() < 0.1, "{}", volume(&water[0]));
    assert_ne!(water[0][1], water[6][1]);
    // The ball is one mesh that falls freely by g t²/2.
    let height = |row: &Value| row[3][1].as_f64().unwrap();
    assert!(ball.iter().all(|row| row[0] == ball[0][0] && volume(row) == volume(&ball[0])));
    let fallen = height(&ball[0]) - height(&ball[4]);
    assert!((fallen - 0.5 * 9.81 * 0.2f64.powi(2)).abs() < 0.12, "{fallen}: a point of a spinning ball");
    assert!((volume(&cube[0]) / 0.008 - 1.0).abs() < 1e-3 && cube.iter().all(|row| row[0] == cube[0][0]));
    let spray = told["points"].as_object().unwrap().values().next().unwrap();
    assert!(spray.as_array().unwrap().iter().all(|row| row[0] == row[1] && row[1] == row[2]), "{spray}");
}
