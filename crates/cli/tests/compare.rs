//! `compare`: the same scene by several methods.

mod program;

use program::Place;

/// A column of water among walls, and a box beside it.
const SCENE: &str = r#"# A test.
seconds = 0.1
fps = 30
resolution = 0.1
compare = ["connections", "twophase"]
[liquid.water]
fill = [{ box = { min = [0, 0, 0], max = [0.4, 0.4, 0.4] } }]
[wall.tank]
shape = { box = { min = [0, 0, 0], max = [0.8, 0.8, 0.4], open = ["+y"] } }
[probe.left]
gauge = [0.2, 0, 0.2]
"#;

const BOX: &str = "[rigid.box]\nshape = { box = { min = [0.5, 0.5, 0], max = [0.7, 0.7, 0.2] } }\ndensity = 500\n";

fn place() -> Place {
    let place = Place::new();
    place.write("fall.toml", SCENE);
    place.write("box.toml", format!("{SCENE}{BOX}"));
    place
}

#[test]
fn the_methods_of_the_scene_stand_side_by_side() {
    let place = place();
    let answer = place.run(&["compare", "fall.toml", "--json"]);
    assert_eq!(answer.code, 0, "{}{}", answer.out, answer.err);
    let json = answer.json();
    let methods: Vec<&str> =
        json["methods"].as_array().unwrap().iter().map(|m| m["method"].as_str().unwrap()).collect();
    assert_eq!(methods, ["gauss", "connections", "twophase"]);
    for method in json["methods"].as_array().unwrap() {
        assert_eq!(method["ran"], true, "{method}");
        assert!(method["ms_per_step"].as_f64().unwrap() > 0.0 && method["steps"].as_u64().unwrap() > 0, "{method}");
        let [first, last] = [0, 2].map(|k| method["moments"][k]["front [m]"].as_f64().unwrap());
        // On a grid the front moves from cell to cell.
        assert!(last >= first && (0.3..0.6).contains(&last), "it runs: {method}");
        assert!(method["means"]["kinetic energy [J]"].as_f64().unwrap() > 1.0, "it falls: {method}");
        assert!((0.3..0.5).contains(&method["means"]["left.level [m]"].as_f64().unwrap()), "{method}");
    }
    // One document, and the same in the folder.
    assert_eq!(
        serde_json::from_slice::<serde_json::Value>(&place.read("out/fall-compare/compare.json")).unwrap(),
        json
    );
    let csv = String::from_utf8(place.read("out/fall-compare/compare.csv")).unwrap();
    assert_eq!(csv.lines().count(), 1 + 3 * 4, "a row per method and frame: {csv}");
    assert!(csv.starts_with("method,time [s],front [m],left.level [m],"), "{csv}");
    let png = place.read("out/fall-compare/compare.png");
    let [width, height] = [16, 20].map(|at| u32::from_be_bytes(png[at..at + 4].try_into().unwrap()));
    assert!(width >= 3 * 480 && height > 4 * 320, "three columns of four pictures, words below: {width} x {height}");
    assert!(String::from_utf8(place.read("out/fall-compare/compare.svg")).unwrap().contains("<polyline"));
}

#[test]
fn a_method_that_cannot_has_its_reason_and_two_are_enough() {
    let place = place();
    let answer = place.run(&["compare", "box.toml", "--methods", "gauss,unified,twophase", "--out", "c"]);
    assert_eq!(answer.code, 0, "{}{}", answer.out, answer.err);
    assert!(
        answer.out.contains("twophase cannot: line 12") && answer.out.contains("bodies that float"),
        "{}",
        answer.out
    );
    assert!(answer.out.contains("box.draught [m]") && answer.out.contains("c/compare.png"), "{}", answer.out);
    // One method alone compares nothing; and a folder in use is not written into.
    let alone = place.run(&["compare", "box.toml", "--methods", "gauss,twophase", "--seconds", "0.03"]);
    assert_eq!(alone.code, 1, "{}{}", alone.out, alone.err);
    let again = place.run(&["compare", "box.toml", "--out", "c"]);
    assert!(again.code == 2 && again.err.contains("not empty"), "{}", again.err);
}

#[test]
fn what_cannot_be_meant_is_refused() {
    let place = place();
    let code = |arguments: &[&str]| {
        let answer = place.run(&[&["compare", "fall.toml"], arguments].concat());
        (answer.code, answer.err)
    };
    let (exit, words) = code(&["--methods", "gaus"]);
    assert!(exit == 2 && words.contains("did you mean `gauss`"), "{words}");
    let (exit, words) = code(&["--methods", "gauss,gauss"]);
    assert!(exit == 2 && words.contains("twice"), "{words}");
    let (exit, words) = code(&["--seconds", "-1"]);
    assert!(exit == 2 && words.contains("seconds"), "{words}");
    let (exit, words) = code(&["--set", "liquid.watr.density=900"]);
    assert!(exit == 2 && words.contains("did you mean") && words.contains("`water`"), "{words}");
    assert!(!place.exists("out"), "nothing is written");
}
