//! What a film animator takes away, read back by those that read it: USD by its own library, sequences of files and glTF by VTK, where
//! these are installed (`MENISCUS_PYTHON`), and glTF by our own reader.

mod program;

use meniscus::geometry::animation::{AnimationOptions, read_animation};
use program::Place;
use serde_json::Value;
use std::path::{Path, PathBuf};
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

/// What a script makes of files, as JSON.
fn read_by(script: &str, files: &[PathBuf]) -> Option<Value> {
    let Some(python) = std::env::var_os("MENISCUS_PYTHON") else {
        assert!(std::env::var_os("CI").is_none(), "CI must set MENISCUS_PYTHON");
        eprintln!("skipped: MENISCUS_PYTHON is not set");
        return None;
    };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(script);
    let answer = Command::new(python).arg(script).args(files).output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&answer.stdout), String::from_utf8_lossy(&answer.stderr));
    assert!(answer.status.success(), "{out}{err}");
    Some(serde_json::from_str(&out).unwrap_or_else(|e| panic!("{e}: {out}{err}")))
}

/// A place with the scene and its run in `r`.
fn ran() -> Place {
    let place = Place::new();
    place.write("falls.toml", SCENE);
    let run = place.run(&["run", "falls.toml", "--no-pictures", "--quiet", "--out", "r"]);
    assert_eq!(run.code, 0, "{}{}", run.out, run.err);
    place
}

fn export(place: &Place, to: &str) -> program::Answer {
    let answer = place.run(&["export", "r", "--to", to]);
    assert_eq!(answer.code, 0, "{}{}", answer.out, answer.err);
    answer
}

/// Bytes of all files whose names end so.
fn size(place: &Place, folder: &str, ending: &str) -> usize {
    let files = place.files(folder);
    files.iter().filter(|file| file.0.extension().is_some_and(|found| found == ending)).map(|file| file.1.len()).sum()
}

#[test]
fn usd_holds_what_was_run() {
    let place = ran();
    let said = export(&place, "usd").out;
    assert!(said.ends_with("next: blender --python r/usd/falls.blender.py\n"), "{said}");
    for file in [
        "falls.usda",
        "falls.blender.py",
        "falls/geo.usdc",
        "falls/water_0.00006.usdc",
        "falls/water_0_spray.00000.usdc",
    ] {
        assert!(
            place.exists(&format!("r/usd/{file}")),
            "{file} of {:?}",
            place.files("r/usd").iter().map(|f| &f.0).collect::<Vec<_>>()
        );
    }
    export(&place, "usda");
    let (binary, words) = (size(&place, "r/usd", "usdc"), size(&place, "r/usda", "usda"));
    assert!(2 * binary < words, "{binary} bytes in binary, {words} in words");
    let roots = [place.path("r/usd/falls.usda"), place.path("r/usda/falls.usda")];
    let Some(told) = read_by("read_usd.py", &roots) else { return };
    assert_eq!(told["faults"], Value::Array(Vec::new()));
    assert_eq!(told["differs"], Value::Array(Vec::new()), "binary clips hold other bits than words");
    assert!(told["compared"].as_u64().unwrap() > 7 * 6 * 2, "{}", told["compared"]);
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
    // Water changes its triangles, the soft cube moves its points, the ball is moved as it is.
    let varying = |prefix: &str| {
        let all = told["varying"].as_object().unwrap();
        all.iter().find(|(name, _)| name.starts_with(prefix)).unwrap().1.clone()
    };
    assert_eq!(varying("water"), serde_json::json!(["points", "triangles"]));
    assert_eq!(varying("cube"), serde_json::json!(["points"]));
    assert_eq!(varying("ball"), serde_json::json!([]));
    assert_eq!(water.len(), 7);
    // The water keeps its volume while it falls, and its triangles change.
    let volume = |row: &Value| row[2].as_f64().unwrap();
    assert!((volume(&water[0]) / 0.027 - 1.0).abs() < 0.1, "{}", volume(&water[0]));
    assert_ne!(water[0][1], water[6][1]);
    // Solids have no pressure.
    let pressures = told["pressures"].as_object().unwrap();
    assert!(pressures.len() == 1 && pressures.keys().all(|name| name.starts_with("water")), "{pressures:?}");
    let [low, high] = [0, 1].map(|k| pressures.values().next().unwrap()[k].as_f64().unwrap());
    assert!(low <= high && low > -1e4 && high < 1e5, "{low} to {high} Pa");
    // The ball is one mesh that falls freely by g t²/2.
    let height = |row: &Value| row[3][1].as_f64().unwrap();
    assert!(ball.iter().all(|row| row[0] == ball[0][0] && volume(row) == volume(&ball[0])));
    let fallen = height(&ball[0]) - height(&ball[4]);
    assert!((fallen - 0.5 * 9.81 * 0.2f64.powi(2)).abs() < 0.12, "{fallen}: a point of a spinning ball");
    assert!((volume(&cube[0]) / 0.008 - 1.0).abs() < 1e-3 && cube.iter().all(|row| row[0] == cube[0][0]));
    let spray = told["points"].as_object().unwrap().values().next().unwrap();
    assert!(spray.as_array().unwrap().iter().all(|row| row[0] == row[1] && row[1] == row[2]), "{spray}");
}

/// A tap that opens at the third of five frames: the liquid's files are there before, empty.
const TAP: &str = r#"
seconds = 0.2
fps = 20
[sph]
spacing = 0.05
[liquid.water]
[emitter.tap]
liquid = "water"
center = [0.5, 0.8, 0.2]
direction = [0, -1, 0]
opening = { disc = { radius = 0.12 } }
speed = 3
from = 0.12
[wall.tank]
shape = { box = { min = [0, 0, 0], max = [1, 1, 0.4] } }
"#;

fn numbers(place: &Place, folder: &str, body: &str, ending: &str) -> Vec<PathBuf> {
    let files = place.files(folder).into_iter().map(|file| place.path(folder).join(file.0));
    let mine = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        name.contains(body) && name.ends_with(ending)
    };
    let mut found: Vec<PathBuf> = files.filter(mine).collect();
    found.sort();
    found
}

fn name(path: &Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}

#[test]
fn sequences_hold_surfaces_of_liquids_and_bodies() {
    let place = ran();
    for ending in ["obj", "ply"] {
        export(&place, ending);
        let folder = format!("r/{ending}/surfaces");
        let [water, ball, cube] =
            ["_water_", "_ball_", "_cube_"].map(|body| numbers(&place, &folder, body, &format!(".{ending}")));
        assert_eq!([water.len(), ball.len(), cube.len()], [7; 3]);
        let all: Vec<PathBuf> = [&water[..], &ball, &cube].concat();
        let Some(told) = read_by("read_meshes.py", &all) else { return };
        let volume = |path: &Path| told[name(path)][2].as_f64().unwrap();
        assert!((volume(&water[0]) / 0.027 - 1.0).abs() < 0.1, "{}", volume(&water[0]));
        assert!((volume(&cube[6]) / 0.008 - 1.0).abs() < 0.05, "{}", volume(&cube[6]));
        assert!(ball.iter().all(|path| (volume(path) / volume(&ball[0]) - 1.0).abs() < 1e-3));
        let top = |path: &Path| told[name(path)][3][3].as_f64().unwrap();
        let fallen = top(&ball[0]) - top(&ball[4]);
        assert!((fallen - 0.5 * 9.81 * 0.2f64.powi(2)).abs() < 0.01, "{fallen}");
    }
    // Our own reader plays them.
    let first = numbers(&place, "r/obj/surfaces", "_ball_", "00000.obj").remove(0);
    let pattern = first.with_file_name(name(&first).replace("00000", "#####"));
    let options = AnimationOptions { fps: 20.0, ..AnimationOptions::default() };
    let again = read_animation(pattern, &options).unwrap();
    assert!((again.duration() - 0.3).abs() < 1e-9, "{}", again.duration());
}

#[test]
fn a_frame_without_liquid_is_an_empty_file() {
    let place = Place::new();
    place.write("tap.toml", TAP);
    let run = place.run(&["run", "tap.toml", "--no-pictures", "--quiet", "--out", "r"]);
    assert_eq!(run.code, 0, "{}{}", run.out, run.err);
    for ending in ["obj", "ply"] {
        export(&place, ending);
        let water = numbers(&place, &format!("r/{ending}/surfaces"), "_water_", &format!(".{ending}"));
        assert_eq!(water.len(), 5, "{water:?}");
        let Some(told) = read_by("read_meshes.py", &water) else { return };
        let points: Vec<u64> = water.iter().map(|path| told[name(path)][0].as_u64().unwrap()).collect();
        assert!(points[..2] == [0, 0] && points[4] > 0, "{points:?}");
    }
}

/// Bodies over time by VTK and by our own reader are where the sequence has them.
#[test]
fn gltf_moves_as_the_bodies_did() {
    let place = ran();
    let said = export(&place, "glb").err;
    assert!(said.contains("left out: water: a liquid"), "{said}");
    export(&place, "ply");
    let file = place.path("r/glb/falls.glb");
    let ours = read_animation(&file, &AnimationOptions::default()).unwrap();
    assert!((ours.duration() - 0.3).abs() < 1e-6, "{}", ours.duration());
    let names: Vec<&str> = ours.parts().iter().map(|part| part.name.as_str()).collect();
    let bodies: Vec<&str> = ["ball", "cube"].into_iter().filter(|body| names.contains(body)).collect();
    assert_eq!(bodies.len(), 2, "{names:?}");
    let Some(told) = read_by("read_meshes.py", &[file]) else { return };
    for (k, frame) in [0, 2, 4, 6].into_iter().enumerate() {
        for body in &bodies {
            let path = numbers(&place, "r/ply/surfaces", &format!("_{body}_"), &format!("{frame:05}.ply")).remove(0);
            let row = &read_by("read_meshes.py", std::slice::from_ref(&path)).unwrap()[name(&path)];
            let bounds: Vec<f64> = row[3].as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect();
            let mesh = ours.part_at(body, 0.1 * k as f64).unwrap();
            let found = mesh.bounds();
            let mine = [found.min.x, found.max.x, found.min.y, found.max.y, found.min.z, found.max.z];
            let near = |values: &[f64]| values.iter().zip(&bounds).all(|(a, b)| (a - b).abs() < 2e-5);
            assert!(near(&mine), "{body} at {frame}: {mine:?} for {bounds:?}");
            let theirs =
                told["falls.glb"][k].as_array().unwrap().iter().any(|row| {
                    near(&row[3].as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect::<Vec<_>>())
                });
            assert!(theirs, "VTK does not have {body} at {frame} in {bounds:?}: {}", told["falls.glb"][k]);
        }
    }
}

/// Foam is found in the frames of a run: beside its surfaces when it has ended, and the same again from its record.
#[test]
fn foam_goes_where_surfaces_go() {
    let place = Place::new();
    place.write("falls.toml", SCENE);
    let small = ["--set", "picture.width=64", "--set", "picture.height=36", "--set", "picture.supersample=1"];
    let foam = ["--set", "seconds=0.7", "--set", "surface.foam=true", "--set", "surface.every=2"];
    let run = [&["run", "falls.toml", "--quiet", "--out", "r"], &foam[..], &small].concat();
    let run = place.run(&run);
    assert_eq!(run.code, 0, "{}{}", run.out, run.err);
    let of_run = std::fs::read(place.path("r/surface/foam/foam_00014.ply")).unwrap();
    assert!(of_run.len() > 1000, "{} bytes", of_run.len());
    assert!(!place.exists("r/surface/foam/foam_00013.ply"), "every second frame");
    assert!(!place.exists("r/surface/foam/foam_00002.ply"), "there is none before the water meets the floor");
    let again = place.run(&["surface", "r", "--quiet", "--out", "s"]);
    assert_eq!(again.code, 0, "{}{}", again.out, again.err);
    assert!(std::fs::read(place.path("s/foam/foam_00014.ply")).unwrap() == of_run, "run and record differ");
    export(&place, "usda");
    let root = std::fs::read_to_string(place.path("r/usda/falls.usda")).unwrap();
    assert!(root.contains("def Points \"water_0_foam\"") && root.contains("meniscus = \"foam\""), "{root}");
    // Pictures of the record have it, those without differ.
    let picture = |set: &str, to: &str| {
        let taken = place.run(&["render", "r", "--frame", "14", "--out", to, "--set", set, "--quiet"]);
        assert_eq!(taken.code, 0, "{}{}", taken.out, taken.err);
        std::fs::read(place.path(to)).unwrap()
    };
    let (white, plain) = (picture("surface.foam=true", "white.png"), picture("surface.foam=false", "plain.png"));
    assert!(white != plain);
    let last = std::fs::read(place.path("r/frame_0014.png"));
    assert!(last.is_ok_and(|bytes| bytes == white), "{:?}", place.files("r").iter().map(|f| &f.0).collect::<Vec<_>>());
}
