//! Bad usage and bad input: exit code 2, a helpful message, no panic, nothing written.

mod program;

use program::{Place, SMALL};

#[track_caller]
fn refuse(place: &Place, arguments: &[&str], words: &[&str]) {
    let answer = place.run(arguments);
    // The report wraps long lines; a message is found in the JSON form, which does not.
    assert_eq!(answer.code, 2, "{}{}", answer.out, answer.err);
    assert!(!answer.err.contains("panicked"), "{}", answer.err);
    assert!(!answer.err.trim().is_empty(), "a person is told as well");
    let mut with_json = arguments.to_vec();
    with_json.push("--json");
    let json = place.run(&with_json);
    assert_eq!(json.code, 2);
    let message = json.json()["error"]["message"].as_str().unwrap().to_owned();
    for word in words {
        assert!(message.contains(word), "`{word}` is not in: {message}");
    }
    assert!(!place.exists("out"), "nothing is written");
}

#[test]
fn files_that_are_no_scenes() {
    let place = Place::new();
    refuse(&place, &["run", "no-such.toml"], &["no-such.toml", "meniscus list"]);
    place.write("x.toml", "seconds = = 1\n");
    refuse(&place, &["run", "x.toml"], &["x.toml:1", "not TOML"]);
    place.write("x.toml", "seconds = 1\nsecnds = 2\n");
    refuse(&place, &["run", "x.toml"], &["x.toml:2", "no key `secnds`", "did you mean `seconds`"]);
    place.write("x.toml", "seconds = \"long\"\n");
    refuse(&place, &["run", "x.toml"], &["x.toml:1", "`seconds`: invalid type", "Simulated time [s]"]);
    place.write("x.toml", [0xff, 0xfe, 0x00]);
    refuse(&place, &["run", "x.toml"], &["x.toml"]);
    std::fs::create_dir(place.path("folder.toml")).unwrap();
    refuse(&place, &["run", "folder.toml"], &["folder.toml"]);
}

#[test]
fn numbers_that_make_no_sense() {
    let place = Place::with_scene();
    refuse(&place, &["run", "small.toml", "--set", "liquid.water.density=-1"], &["greater than zero", "kg/m³"]);
    refuse(&place, &["run", "small.toml", "--set", "liquid.water.viscosity=nan"], &["finite", "Pa·s"]);
    refuse(&place, &["run", "small.toml", "--set", "sph.spacing=0"], &["`sph.spacing` must be greater than zero"]);
    refuse(&place, &["run", "small.toml", "--seconds=-1"], &["`seconds` must be greater than zero"]);
    refuse(&place, &["run", "small.toml", "--threads", "0"], &["at least 1"]);
    refuse(&place, &["run", "small.toml", "--set", "spacing"], &["no `=`"]);
}

#[test]
fn solids_that_cannot_be() {
    let place = Place::new();
    let refuse_solid = |keys: &str, words: &[&str]| {
        place.write("x.toml", format!("[solid.duck]\n{keys}\n"));
        refuse(&place, &["run", "x.toml"], words);
    };
    let ball = "shape = { sphere = { center = [0, 0, 0], radius = 1 } }";
    refuse_solid(&format!("poisson = 0.5\n{ball}"), &["x.toml:2", "`solid.duck.poisson`", "less than 0.5"]);
    refuse_solid(&format!("young = 0\n{ball}"), &["x.toml:2", "`solid.duck.young` must be greater than 0", "[Pa]"]);
    refuse_solid("shape = { mesh = { file = \"no.ply\" } }", &["x.toml:2", "no.ply"]);
    refuse_solid(&format!("edge = 1e-7\n{ball}"), &["memory"]);
    place.write("open.obj", TET.replace("f 2 3 4\n", ""));
    refuse_solid("shape = { mesh = { file = \"open.obj\" } }", &["x.toml:2", "open"]);
    place.write("flat.msh", "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 1 1 0\n$EndNodes\n$Elements\n1\n1 4 0 1 2 3 4\n$EndElements\n");
    refuse_solid("shape = { tets = { file = \"flat.msh\" } }", &["x.toml:2", "flat.msh"]);
}

#[test]
fn scenes_larger_than_the_machine() {
    let place = Place::with_scene();
    refuse(&place, &["run", "small.toml", "--set", "sph.spacing=1e-5"], &["memory", "GB"]);
    refuse(&place, &["check", "small.toml", "--set", "sph.spacing=1e-6"], &["memory"]);
}

/// A unit tetrahedron as OBJ, closed; each test spoils it in its own way.
const TET: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";

#[test]
fn meshes_that_cannot_be_filled() {
    let place = Place::new();
    let scene =
        |file: &str| format!("[sph]\nspacing = 0.1\n[liquid.w]\nfill = [{{ mesh = {{ file = \"{file}\" }} }}]\n");
    let refuse_mesh = |file: &str, bytes: &[u8], words: &[&str]| {
        place.write("x.toml", scene(file));
        place.write(file, bytes);
        let mut all = vec!["x.toml:4", file];
        all.extend(words);
        refuse(&place, &["run", "x.toml"], &all);
    };
    refuse_mesh("index.obj", TET.replace("f 2 3 4", "f 2 3 9").as_bytes(), &["line 8", "9"]);
    refuse_mesh("nan.obj", TET.replace("v 0 0 1", "v 0 0 nan").as_bytes(), &["line 4"]);
    refuse_mesh("open.obj", TET.replace("f 2 3 4\n", "").as_bytes(), &["open"]);
    let header = "ply\nformat binary_little_endian 1.0\nelement vertex 4000000000\nproperty float x\nproperty float y\n\
                  property float z\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n";
    refuse_mesh("huge.ply", header.as_bytes(), &["4000000000"]);
    refuse_mesh("what.fbx", b"FBX", &[".obj, .stl or .ply"]);
    place.write("x.toml", scene("missing.stl"));
    refuse(&place, &["run", "x.toml"], &["x.toml:4", "missing.stl", "cannot read"]);
}

#[test]
fn a_good_mesh_is_filled_and_its_path_starts_at_the_scene_file() {
    let place = Place::new();
    std::fs::create_dir(place.path("scenes")).unwrap();
    place.write("scenes/tet.obj", TET);
    place.write(
        "scenes/x.toml",
        "seconds = 0.1\n[output]\npicture_every = 0\n[sph]\nspacing = 0.05\n[liquid.w]\nfill = [{ mesh = { file = \"tet.obj\", up = \"z\", scale = 0.5, offset = [1, 0, 0] } }]\n",
    );
    let answer = place.run(&["run", "scenes/x.toml", "--json", "--out", "o"]);
    assert_eq!(answer.code, 0, "{}", answer.err);
    // A tetrahedron of 0.5³/6 m³.
    let particles = answer.json()["particles"].as_f64().unwrap();
    assert!((particles * 0.05f64.powi(3) / (0.125 / 6.0) - 1.0).abs() < 0.3, "{particles}");
    // The record needs nothing else: the mesh travels with it.
    std::fs::remove_dir_all(place.path("scenes")).unwrap();
    assert_eq!(place.run(&["resume", "o", "--from-frame", "0"]).code, 0);
}

#[test]
fn folders_that_cannot_take_a_run() {
    let place = Place::with_scene();
    place.write("file", "x");
    refuse(&place, &["run", "small.toml", "--out", "file"], &["file"]);
    refuse(&place, &["run", "small.toml", "--out", "file/below"], &["file/below"]);
    std::fs::create_dir(place.path("full")).unwrap();
    place.write("full/mine", "precious");
    refuse(&place, &["run", "small.toml", "--out", "full"], &["full", "not empty"]);
    assert_eq!(place.read("full/mine"), b"precious");
    #[cfg(target_os = "linux")]
    refuse(&place, &["run", "small.toml", "--out", "/proc/meniscus"], &["/proc/meniscus"]);
}

#[test]
fn records_that_cannot_be_resumed() {
    let place = Place::with_scene();
    refuse(&place, &["resume", "nowhere"], &["nowhere"]);
    std::fs::create_dir(place.path("empty")).unwrap();
    refuse(&place, &["resume", "empty"], &["run.json"]);
    assert_eq!(place.run(&["run", "small.toml", "--out", "r", "--no-pictures"]).code, 0);
    let checkpoints: Vec<_> = place.files("r/checkpoints");
    assert!(checkpoints.len() > 4);
    let spoil = |change: &dyn Fn(&mut Vec<u8>)| {
        for (name, bytes) in &checkpoints {
            let mut bytes = bytes.clone();
            change(&mut bytes);
            std::fs::write(place.path("r/checkpoints").join(name), bytes).unwrap();
        }
    };
    spoil(&|bytes| bytes.truncate(bytes.len() / 2));
    refuse(&place, &["resume", "r"], &["no usable checkpoint", "run the scene again"]);
    spoil(&|bytes| {
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
    });
    refuse(&place, &["resume", "r"], &["no usable checkpoint"]);
    // The format version follows the eight bytes of the magic.
    spoil(&|bytes| bytes[8] = 77);
    refuse(&place, &["resume", "r"], &["no usable checkpoint", "version"]);
    for (name, _) in &checkpoints {
        std::fs::remove_file(place.path("r/checkpoints").join(name)).unwrap();
    }
    refuse(&place, &["resume", "r"], &["no usable checkpoint", "run the scene again"]);
}

#[test]
fn verbs_and_names_that_do_not_exist() {
    let place = Place::new();
    assert_eq!(place.run(&["fly"]).code, 2);
    refuse(&place, &["run", "dam-break", "--colour"], &["--colour"]);
    assert_eq!(place.run(&["run"]).code, 2);
    assert_eq!(place.run(&["new", "no-such-scene"]).code, 2);
    assert!(place.run(&["new", "no-such-scene"]).err.contains("dam-break"));
    refuse(&place, &["validate", "alchemy"], &["no case `alchemy`", "wall-integral"]);
    refuse(&place, &["bench", "alchemy"], &["no case `alchemy`", "sph/state-equation"]);
    assert_eq!(place.run(&["export", "nowhere", "--to", "vtk"]).code, 2);
    assert_eq!(place.run(&["render", "nowhere"]).code, 2);
}

#[test]
fn a_simulation_that_fails_says_where_and_keeps_its_last_frame() {
    let place = Place::new();
    let wild = format!(
        "{SMALL}[[script]]\ntime = 0.1\ncommand = {{ poke = {{ center = [0.2, 0.3, 0.2], radius = 1, velocity = [1e9, 0, 0] }} }}\n"
    );
    place.write("wild.toml", wild);
    let answer = place.run(&["run", "wild.toml", "--json", "--out", "w"]);
    assert_eq!(answer.code, 3, "{}", answer.err);
    let error = &answer.json()["error"];
    assert_eq!(
        (error["code"].as_str(), error["stage"].as_str(), error["body"].as_str()),
        (Some("too-fast"), Some("advance"), Some("water"))
    );
    assert!(error["index"].is_u64());
    let info: serde_json::Value = serde_json::from_slice(&place.read("w/run.json")).unwrap();
    assert_eq!((info["status"].as_str(), &info["error"]), (Some("failed"), error));
    assert!(place.exists("w/frames/frame_00005.mnf") && !place.exists("w/frames/frame_00006.mnf"));
}

#[test]
fn animations_that_cannot_be() {
    let place = Place::new();
    let refuse_file = |name: &str, bytes: &str, words: &[&str]| {
        place.write(name, bytes);
        place.write("x.toml", format!("[animated.hand]\nfile = \"{name}\"\n"));
        refuse(&place, &["run", "x.toml"], words);
    };
    place.write("x.toml", "[animated.hand]\nfile = \"nowhere.glb\"\n");
    refuse(&place, &["run", "x.toml"], &["x.toml:2", "nowhere.glb"]);
    refuse_file("hand.fbx", "", &["x.toml:2", "unknown kind of animation"]);
    refuse_file("empty.glb", "", &["x.toml:2", "is not glTF"]);
    refuse_file("short.glb", "glTF", &["x.toml:2", "the version in its header is not 2"]);
    let leaves = r#"{"asset":{"version":"2.0"},"buffers":[{"uri":"../secret.bin","byteLength":4}]}"#;
    refuse_file("leaves.gltf", leaves, &["x.toml:2", "is not a file beside this one or below its folder"]);
    let missing = r#"{"asset":{"version":"2.0"},"buffers":[{"uri":"nowhere.bin","byteLength":4}]}"#;
    refuse_file("missing.gltf", missing, &["x.toml:2", "cannot read `nowhere.bin`"]);
    let huge = r#"{"asset":{"version":"2.0"},"buffers":[{"uri":"data:;base64,AAAAAA==","byteLength":4000000000}]}"#;
    refuse_file("huge.gltf", huge, &["x.toml:2", "4000000000 bytes are announced, but there are 4"]);
    // Two frames that have nothing to do with each other.
    place.write("frame_2.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1 2 4\n");
    place.write("frame_1.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    place.write("x.toml", "[animated.sheet]\nfile = \"frame_#.obj\"\n");
    refuse(&place, &["run", "x.toml"], &["x.toml:2", "it has 4 vertices instead of 3"]);
}
