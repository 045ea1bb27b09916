//! Animations: what is read, how it is welded, judged, placed and played, and what is said about bad files.

use std::path::Path;

use glam::{DQuat, DVec3};
use meniscus_geometry::animation::{
    Animation, AnimationError, AnimationOptions, JointKey, JointKeys, Playback, Pose, Wetting, parse_glb,
    read_animation,
};
use meniscus_geometry::{ImportOptions, MeshFileError, TriangleMesh, UpAxis, solids, write_obj};

const CLOSE: f64 = 1e-9;

/// A `.gltf` file under way: JSON around one buffer, as a data URI.
struct File {
    bytes: Vec<u8>,
    views: Vec<String>,
    accessors: Vec<String>,
}

impl File {
    fn new() -> Self {
        Self { bytes: Vec::new(), views: Vec::new(), accessors: Vec::new() }
    }

    fn add(&mut self, bytes: &[u8], about: &str) -> usize {
        self.views.push(format!(r#"{{"buffer":0,"byteOffset":{},"byteLength":{}}}"#, self.bytes.len(), bytes.len()));
        self.bytes.extend_from_slice(bytes);
        self.accessors.push(format!(r#"{{"bufferView":{},{about}}}"#, self.views.len() - 1));
        self.accessors.len() - 1
    }

    fn floats(&mut self, values: &[f32], kind: &str, count: usize) -> usize {
        let bytes: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
        self.add(&bytes, &format!(r#""componentType":5126,"count":{count},"type":"{kind}""#))
    }

    fn glb(&self, rest: &str) -> Vec<u8> {
        let json = format!(
            r#"{{"asset":{{"version":"2.0"}},"buffers":[{{"byteLength":{}}}],"bufferViews":[{}],"accessors":[{}],{rest}}}"#,
            self.bytes.len(),
            self.views.join(","),
            self.accessors.join(",")
        );
        glb(json.as_bytes(), &self.bytes)
    }
}

fn glb(json: &[u8], binary: &[u8]) -> Vec<u8> {
    let mut bytes = b"glTF".to_vec();
    bytes.extend(2u32.to_le_bytes());
    bytes.extend(((28 + json.len() + binary.len()) as u32).to_le_bytes());
    for (kind, chunk) in [(b"JSON", json), (b"BIN\0", binary)] {
        bytes.extend((chunk.len() as u32).to_le_bytes());
        bytes.extend(kind);
        bytes.extend(chunk);
    }
    bytes
}

fn parsed(bytes: &[u8]) -> Result<Animation, AnimationError> {
    parse_glb(Path::new("test.glb"), bytes, &AnimationOptions::default())
}

fn problem(bytes: &[u8]) -> String {
    parsed(bytes).unwrap_err().to_string()
}

/// A tetrahedron without indices: every corner three times, as a file with flat shading has it.
fn corners() -> Vec<f32> {
    let p = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]].concat().into_iter().flat_map(|v: usize| p[v]).collect()
}

/// A node with a tetrahedron that moves along x from 0 to 2 s.
fn moving(interpolation: &str, times: &[f32], values: &[f32]) -> Vec<u8> {
    let mut file = File::new();
    let positions = file.floats(&corners(), "VEC3", 12);
    let input = file.floats(times, "SCALAR", times.len());
    let output = file.floats(values, "VEC3", values.len() / 3);
    file.glb(&format!(
        r#""nodes":[{{"mesh":0,"name":"thing"}}],"meshes":[{{"primitives":[{{"attributes":{{"POSITION":{positions}}}}}]}}],
        "animations":[{{"channels":[{{"sampler":0,"target":{{"node":0,"path":"translation"}}}}],
        "samplers":[{{"input":{input},"output":{output},"interpolation":"{interpolation}"}}]}}]"#
    ))
}

fn along_x() -> Vec<u8> {
    moving("LINEAR", &[0.0, 2.0], &[0.0, 0.0, 0.0, 4.0, 0.0, 0.0])
}

fn first_x(animation: &Animation, time: f64) -> f64 {
    animation.mesh_at(time).bounds().min.x
}

#[test]
fn corners_without_indices_are_welded_to_a_closed_body() {
    let animation = parsed(&along_x()).unwrap();
    assert_eq!((animation.vertex_count(), animation.triangles().len()), (4, 4));
    assert_eq!((animation.wetting(), animation.warnings()), (Wetting::Closed, &[][..]));
    let mesh = animation.mesh_at(0.0);
    mesh.closed().unwrap();
    assert!((mesh.signed_volume() - 1.0 / 6.0).abs() < CLOSE);
    assert_eq!(animation.parts()[0].name, "thing");
}

#[test]
fn samplers_step_and_go_straight_and_curve() {
    let linear = parsed(&along_x()).unwrap();
    let step = parsed(&moving("STEP", &[0.0, 2.0], &[0.0, 0.0, 0.0, 4.0, 0.0, 0.0])).unwrap();
    let zero = [0.0; 3];
    let [a, b, slope] = [zero, [4.0, 0.0, 0.0], [3.0, 0.0, 0.0]];
    let cubic = parsed(&moving("CUBICSPLINE", &[0.0, 2.0], &[zero, a, slope, zero, b, zero].concat())).unwrap();
    assert!((first_x(&linear, 0.5) - 1.0).abs() < CLOSE);
    assert_eq!([0.0, 0.5, 1.99, 2.0].map(|t| first_x(&step, t)), [0.0, 0.0, 0.0, 4.0]);
    // Hermite at s = 1/4: 4 (3/16 − 2/64) + 2 · 3 (1/64 − 2/16 + 1/4).
    assert!((first_x(&cubic, 0.5) - (0.625 + 0.84375)).abs() < CLOSE, "{}", first_x(&cubic, 0.5));
}

#[test]
fn playing_starts_speeds_up_repeats_and_stops() {
    let played = |playback: Playback| {
        let options = AnimationOptions { playback, ..AnimationOptions::default() };
        parse_glb(Path::new("test.glb"), &along_x(), &options)
    };
    let once = played(Playback { start: 1.0, speed: 2.0, ..Playback::default() }).unwrap();
    assert_eq!([0.0, 1.0, 1.5, 2.0, 9.0].map(|t| first_x(&once, t)), [0.0, 0.0, 2.0, 4.0, 4.0]);
    assert_eq!((once.duration(), once.moving()), (1.0, [1.0, 2.0]));
    let part = played(Playback { from: Some(0.5), until: Some(1.5), cycles: 2.5, ..Playback::default() }).unwrap();
    assert_eq!([0.0, 0.75, 1.25, 2.5, 99.0].map(|t| first_x(&part, t)), [1.0, 2.5, 1.5, 2.0, 2.0]);
    let whole = played(Playback { cycles: 2.0, ..Playback::default() }).unwrap();
    assert_eq!([4.0, 5.0].map(|t| first_x(&whole, t)), [4.0, 4.0]);
    let forever = played(Playback { cycles: f64::INFINITY, ..Playback::default() }).unwrap();
    assert!((first_x(&forever, 101.0) - 2.0).abs() < 1e-9);
    for bad in [
        Playback { from: Some(1.0), until: Some(1.0), ..Playback::default() },
        Playback { until: Some(3.0), ..Playback::default() },
        Playback { from: Some(f64::NAN), ..Playback::default() },
    ] {
        let text = played(bad).unwrap_err().to_string();
        assert!(text.contains("the animation runs from 0 to 2 s: it cannot be played"), "{text}");
    }
    for bad in [Playback { speed: 0.0, ..Playback::default() }, Playback { cycles: f64::NAN, ..Playback::default() }] {
        assert!(matches!(played(bad), Err(AnimationError::Option { .. })));
    }
}

#[test]
fn a_body_is_scaled_turned_and_placed() {
    let import = ImportOptions { scale: 0.1, up: UpAxis::Z };
    let rotation = DQuat::from_rotation_y(std::f64::consts::FRAC_PI_2);
    let position = DVec3::new(5.0, 6.0, 7.0);
    let options = AnimationOptions { import, rotation, position, ..AnimationOptions::default() };
    let animation = parse_glb(Path::new("test.glb"), &along_x(), &options).unwrap();
    // (4, 0, 1) in the file is (4, 1, 0) with y up, scaled and turned (0, 0.1, −0.4).
    let top = animation.mesh_at(2.0).vertices().iter().copied().max_by(|a, b| a.y.total_cmp(&b.y)).unwrap();
    assert!(top.distance(DVec3::new(5.0, 6.1, 6.6)) < CLOSE, "{top}");
}

#[test]
fn a_body_is_carried_along_while_it_is_played() {
    let playback = Playback { start: 1.0, cycles: 2.0, ..Playback::default() };
    let options = AnimationOptions { velocity: 3.0 * DVec3::Y, playback, ..AnimationOptions::default() };
    let animation = parse_glb(Path::new("test.glb"), &along_x(), &options).unwrap();
    let height = |time: f64| animation.mesh_at(time).bounds().min.y;
    assert_eq!([0.0, 1.0, 2.0, 5.0, 9.0].map(height), [0.0, 0.0, 3.0, 12.0, 12.0]);
}

#[test]
fn jumps_are_named_with_frame_and_vertex() {
    let jumping = moving("STEP", &[0.0, 1.0, 2.0], &[0.0, 0.0, 0.0, 4.0, 0.0, 0.0, 4.0, 0.0, 0.0]);
    let found = parsed(&jumping).unwrap().jumps(0.5, 0.25);
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].frame, found[0].time, found[0].distance, found[0].part.as_str()), (4, 0.75, 4.0, "thing"));
    let playback = Playback { cycles: 3.0, ..Playback::default() };
    let options = AnimationOptions { playback, ..AnimationOptions::default() };
    let looped = parse_glb(Path::new("test.glb"), &along_x(), &options).unwrap();
    assert!(parsed(&along_x()).unwrap().jumps(0.6, 0.25).is_empty());
    assert_eq!(looped.jumps(0.6, 0.25)[0].frame, 9, "the end is not the beginning");
}

/// Two joints, the second half way along a strip of four corners, turned by a quarter about z at 1 s. The node of the
/// skinned mesh stands somewhere else, which must not count.
fn skinned(weights: [f32; 16], turn: [f32; 8]) -> Vec<u8> {
    let mut file = File::new();
    let positions = file.floats(&[0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 2.0, 0.0, 0.0, 2.0, 0.0, 1.0], "VEC3", 4);
    let joints = file.add(&[[0, 1, 0, 0]; 4].concat(), r#""componentType":5121,"count":4,"type":"VEC4""#);
    let weights = file.floats(&weights, "VEC4", 4);
    let indices = file.add(&[0, 1, 2, 2, 1, 3], r#""componentType":5121,"count":6,"type":"SCALAR""#);
    let bind = |x: f32| [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, x, 0.0, 0.0, 1.0];
    let binds = file.floats(&[bind(0.0), bind(-1.0)].concat(), "MAT4", 2);
    let input = file.floats(&[0.0, 1.0], "SCALAR", 2);
    let output = file.floats(&turn, "VEC4", 2);
    file.glb(&format!(
        r#""nodes":[{{"name":"root","children":[1]}},{{"name":"bend","translation":[1,0,0]}},{{"mesh":0,"skin":0,"translation":[50,0,0]}}],
        "scenes":[{{"nodes":[0,2]}}],"skins":[{{"joints":[0,1],"inverseBindMatrices":{binds}}}],
        "meshes":[{{"name":"strip","primitives":[{{"attributes":{{"POSITION":{positions},"JOINTS_0":{joints},"WEIGHTS_0":{weights}}},"indices":{indices}}}]}}],
        "animations":[{{"channels":[{{"sampler":0,"target":{{"node":1,"path":"rotation"}}}}],"samplers":[{{"input":{input},"output":{output}}}]}}]"#
    ))
}

const STRIP_WEIGHTS: [f32; 16] = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0];
const QUARTER: [f32; 8] =
    [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, std::f32::consts::FRAC_1_SQRT_2, std::f32::consts::FRAC_1_SQRT_2];

#[test]
fn skins_bend_and_their_own_node_does_not_count() {
    let animation = parsed(&skinned(STRIP_WEIGHTS, QUARTER)).unwrap();
    assert_eq!(animation.wetting(), Wetting::Shell);
    let at = |time: f64| animation.mesh_at(time).vertices().to_vec();
    assert!(at(0.0)[2].distance(DVec3::new(2.0, 0.0, 0.0)) < 1e-6);
    assert!(at(1.0)[3].distance(DVec3::new(1.0, 1.0, 1.0)) < 1e-6);
    // Half of a quarter, along the arc.
    let (sin, cos) = libm::sincos(std::f64::consts::FRAC_PI_4);
    assert!(at(0.5)[2].distance(DVec3::new(1.0 + cos, sin, 0.0)) < 1e-6, "{}", at(0.5)[2]);
}

#[test]
fn a_skin_that_holds_nothing_is_an_error() {
    let mut weights = STRIP_WEIGHTS;
    weights[9] = 0.0;
    let text = problem(&skinned(weights, QUARTER));
    assert!(text.contains("test.glb: mesh 0: the weights of vertex 2 (counted from 0) add up to 0"), "{text}");
    weights[9] = f32::NAN;
    assert!(problem(&skinned(weights, QUARTER)).contains("weights of vertex 2"));
}

#[test]
fn morph_targets_are_scaled_by_their_weights() {
    let mut file = File::new();
    let positions = file.floats(&corners(), "VEC3", 12);
    let up: Vec<f32> = corners().chunks(3).flat_map(|p| [0.0, 3.0 * p[1], 0.0]).collect();
    let target = file.floats(&up, "VEC3", 12);
    let input = file.floats(&[0.0, 1.0], "SCALAR", 2);
    let output = file.floats(&[0.0, 1.0], "SCALAR", 2);
    let bytes = file.glb(&format!(
        r#""nodes":[{{"mesh":0,"scale":[1,2,-1]}}],"meshes":[{{"primitives":[{{"attributes":{{"POSITION":{positions}}},"targets":[{{"POSITION":{target}}}]}}]}}],
        "animations":[{{"channels":[{{"sampler":0,"target":{{"node":0,"path":"weights"}}}}],"samplers":[{{"input":{input},"output":{output}}}]}}]"#
    ));
    let animation = parsed(&bytes).unwrap();
    assert_eq!(animation.vertex_count(), 4);
    for (time, height) in [(0.0, 2.0), (0.5, 5.0), (1.0, 8.0)] {
        let mesh = animation.mesh_at(time);
        assert!((mesh.bounds().max.y - height).abs() < CLOSE);
        assert!((mesh.signed_volume() - height / 6.0).abs() < CLOSE, "a mirrored node faces outwards, too");
    }
}

#[test]
fn a_script_moves_a_model_without_animation() {
    let mut file = File::new();
    let positions = file.floats(&corners(), "VEC3", 12);
    let still = file.glb(&format!(
        r#""nodes":[{{"mesh":0,"name":"ball"}}],"meshes":[{{"primitives":[{{"attributes":{{"POSITION":{positions}}}}}]}}]"#
    ));
    assert!(problem(&still).contains("it has no animation: give its joints a motion"));
    let key = |time, angle: f64, y| JointKey { time, turn: angle * DVec3::Z, shift: DVec3::new(0.0, y, 0.0) };
    let joints = |joint: &str, keys| vec![JointKeys { joint: joint.into(), keys }];
    let read = |joints| parse_glb(Path::new("s"), &still, &AnimationOptions { joints, ..AnimationOptions::default() });
    let animation = read(joints("ball", vec![key(0.0, 0.0, 0.0), key(1.0, std::f64::consts::PI, 2.0)])).unwrap();
    let b = animation.mesh_at(1.0).bounds();
    assert!(
        b.min.distance(DVec3::new(-1.0, 1.0, 0.0)) < CLOSE && b.max.distance(DVec3::new(0.0, 2.0, 1.0)) < CLOSE,
        "{b:?}"
    );
    let text = read(joints("bell", vec![key(0.0, 0.0, 0.0)])).unwrap_err().to_string();
    assert!(text.contains("joint `bell`: no node of the file has this name"), "{text}");
    assert!(read(joints("ball", vec![key(1.0, 0.0, 0.0), key(1.0, 0.0, 0.0)])).is_err());
    assert!(read(joints("ball", vec![key(1.0, 0.0, 0.0)])).unwrap_err().to_string().contains("has no length"));
}

#[test]
fn small_holes_are_closed_with_a_warning_and_large_ones_make_a_shell() {
    let ball = solids::icosphere(DVec3::ZERO, 1.0, 3);
    let without = |count: usize| {
        let mut file = File::new();
        let positions: Vec<f32> = ball.corners().skip(count).flatten().flat_map(|p| p.as_vec3().to_array()).collect();
        let corners = positions.len() / 3;
        let positions = file.floats(&positions, "VEC3", corners);
        let input = file.floats(&[0.0, 1.0], "SCALAR", 2);
        let output = file.floats(&[0.0, 0.0, 0.0, 1.0, 0.0, 0.0], "VEC3", 2);
        file.glb(&format!(
            r#""nodes":[{{"mesh":0}}],"meshes":[{{"primitives":[{{"attributes":{{"POSITION":{positions}}}}}]}}],
            "animations":[{{"channels":[{{"sampler":0,"target":{{"node":0,"path":"translation"}}}}],"samplers":[{{"input":{input},"output":{output}}}]}}]"#
        ))
    };
    let mended = parsed(&without(4)).unwrap();
    assert_eq!(mended.wetting(), Wetting::Closed);
    mended.mesh_at(0.3).closed().unwrap();
    assert!((mended.mesh_at(0.3).signed_volume() / ball.signed_volume() - 1.0).abs() < 1e-3);
    assert!(mended.warnings()[0].starts_with("holes were closed with "), "{:?}", mended.warnings());
    assert_eq!(parsed(&without(40)).unwrap().wetting(), Wetting::Shell);
    let options = AnimationOptions { wetting: Some(Wetting::Shell), ..AnimationOptions::default() };
    let chosen = parse_glb(Path::new("s"), &without(0), &options).unwrap();
    assert_eq!((chosen.wetting(), chosen.triangles().len()), (Wetting::Shell, ball.triangles().len()));
}

#[test]
fn keys_that_are_no_keys_are_named() {
    for (times, values, part) in [
        (vec![0.0, f32::NAN], vec![0.0; 6], "animation 0, sampler 0: key 1 is at NaN s: times must be finite and rise"),
        (vec![1.0, 0.5], vec![0.0; 6], "key 1 is at 0.5 s"),
        (vec![0.0, 1.0], vec![0.0, 0.0, 0.0, 0.0, f32::INFINITY, 0.0], "key 1 is inf"),
        (vec![0.0, 1.0], vec![0.0; 9], "2 keys need 6 numbers, not 9"),
        (vec![], vec![], "it has no keys"),
        (vec![0.5], vec![0.0; 3], "its animation has no length: all its keys are at 0.5 s"),
    ] {
        let text = problem(&moving("LINEAR", &times, &values));
        assert!(text.contains(part), "{text}");
    }
    assert!(problem(&moving("QUICK", &[0.0, 1.0], &[0.0; 6])).contains("none of LINEAR, STEP and CUBICSPLINE"));
}

#[test]
fn references_counts_and_graphs_are_checked_before_they_are_used() {
    let with = |accessors: &str, rest: &str| {
        let json = format!(
            r#"{{"asset":{{"version":"2.0"}},"buffers":[{{"byteLength":36}}],"bufferViews":[{{"buffer":0,"byteLength":36}}],"accessors":[{accessors}],{rest}}}"#
        );
        glb(json.as_bytes(), &[0; 36])
    };
    let moved = r#""animations":[{"channels":[{"sampler":0,"target":{"node":0,"path":"translation"}}],"samplers":[{"input":1,"output":2}]}]"#;
    let keys = r#"{"componentType":5126,"count":2,"type":"SCALAR"},{"componentType":5126,"count":2,"type":"VEC3"}"#;
    let thing =
        format!(r#""nodes":[{{"mesh":0}}],"meshes":[{{"primitives":[{{"attributes":{{"POSITION":0}}}}]}}],{moved}"#);
    let positions =
        |count: u64| format!(r#"{{"bufferView":0,"componentType":5126,"count":{count},"type":"VEC3"}},{keys}"#);
    for (bytes, part) in [
        (with(&positions(4_000_000_000), &thing), "key 1 is at 0 s"),
        (
            with(r#"{"count":4000000000,"componentType":5126,"type":"VEC3"}"#, r#""nodes":[{"mesh":0}],"skins":[]"#),
            "it has no animation",
        ),
        (with(&positions(3), r#""nodes":[{"children":[1]},{"children":[0]}]"#), "node 0: it is its own ancestor"),
        (with(&positions(3), r#""nodes":[{"children":[2]},{"children":[2]},{}]"#), "node 2: it has two parents"),
        (
            with(&positions(3), r#""nodes":[{"children":[7]}]"#),
            "node 0 uses node 7, but the file has 1, numbered from 0",
        ),
        (
            with(&positions(3), r#""nodes":[],"extensionsRequired":["KHR_draco_mesh_compression"]"#),
            "it needs the extension `KHR_draco_mesh_compression`",
        ),
        (glb(br#"{"asset":{"version":"1.0"}}"#, &[]), "its version is `1.0`"),
        (glb(b"{", &[]), "the JSON in it is not glTF"),
        (
            glb(br#"{"asset":{"version":"2.0"},"buffers":[{"byteLength":4000000000}]}"#, &[0; 4]),
            "buffer 0: 4000000000 bytes are announced, but there are 4",
        ),
        (
            glb(br#"{"asset":{"version":"2.0"},"buffers":[{"byteLength":4,"uri":"a.bin"}]}"#, &[]),
            "it lies in another file, `a.bin`",
        ),
    ] {
        let text = problem(&bytes);
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn positions_that_are_not_there_are_counted() {
    let mut file = File::new();
    file.floats(&corners(), "VEC3", 4_000_000_000);
    let input = file.floats(&[0.0, 1.0], "SCALAR", 2);
    let output = file.floats(&[0.0; 6], "VEC3", 2);
    let rest = format!(
        r#""nodes":[{{"mesh":0}}],"meshes":[{{"primitives":[{{"attributes":{{"POSITION":0}}}}]}}],
        "animations":[{{"channels":[{{"sampler":0,"target":{{"node":0,"path":"translation"}}}}],"samplers":[{{"input":{input},"output":{output}}}]}}]"#
    );
    assert!(problem(&file.glb(&rest)).contains("more than 16777216 vertices"));
    file.accessors[0] = file.accessors[0].replace("4000000000", "13");
    let text = problem(&file.glb(&rest));
    assert!(text.contains("accessor 0: 13 elements of 12 bytes are announced, but 144 bytes follow"), "{text}");
    file.accessors[0] = file.accessors[0].replace("13", "12").replace("VEC3", "VEC4");
    assert!(problem(&file.glb(&rest)).contains("mesh 0 needs VEC3, but it is `VEC4`"));
}

#[test]
fn buffers_come_from_the_files_own_folder_only() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("home");
    std::fs::create_dir_all(home.join("below")).unwrap();
    std::fs::write(folder.path().join("secret.bin"), [0; 64]).unwrap();
    std::fs::write(home.join("below/a b.bin"), [0; 64]).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(folder.path().join("secret.bin"), home.join("link.bin")).unwrap();
    let read = |uri: &str| {
        let path = home.join("a.gltf");
        let json = format!(r#"{{"asset":{{"version":"2.0"}},"buffers":[{{"byteLength":64,"uri":"{uri}"}}]}}"#);
        std::fs::write(&path, json).unwrap();
        read_animation(&path, &AnimationOptions::default()).unwrap_err().to_string()
    };
    let secret = folder.path().join("secret.bin").display().to_string();
    let outside =
        ["../secret.bin", "%2e%2e/secret.bin", "below/../../secret.bin", "file:///etc/passwd", secret.as_str()];
    for uri in outside.into_iter().chain(cfg!(unix).then_some("link.bin")) {
        let text = read(uri);
        assert!(text.contains("buffer 0: `") && text.contains("is not a file beside this one"), "{uri}: {text}");
    }
    assert!(read("missing.bin").contains("cannot read"), "{}", read("missing.bin"));
    assert!(read("below").contains("is not a file"));
    for good in [
        "below/a%20b.bin",
        "data:application/octet-stream;base64,QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQQ==",
    ] {
        assert!(read(good).contains("it has no animation"), "{good}: {}", read(good));
    }
}

fn obj_of(mesh: &TriangleMesh) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_obj(mesh, &mut bytes).unwrap();
    bytes
}

#[test]
fn sequences_of_files_are_read_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let pattern = folder.path().join("frame_###.obj");
    let options = AnimationOptions { fps: 2.0, ..AnimationOptions::default() };
    let read = || read_animation(&pattern, &options);
    assert!(matches!(read(), Err(AnimationError::FrameCount { count: 0, .. })));
    let put = |name: &str, mesh: &TriangleMesh| std::fs::write(folder.path().join(name), obj_of(mesh)).unwrap();
    for (n, x) in [(998, 0.0), (999, 1.0), (1000, 4.0)] {
        put(&format!("frame_{n}.obj"), &solids::icosphere(DVec3::X * x, 0.5, 1));
    }
    put("frame_12.obj", &solids::icosphere(DVec3::ZERO, 9.0, 1));
    let ball = read().unwrap();
    assert_eq!((ball.wetting(), ball.duration(), ball.warnings().len()), (Wetting::Closed, 1.0, 0));
    assert!((ball.mesh_at(0.75).bounds().center().x - 2.5).abs() < CLOSE);
    put("frame_1002.obj", &solids::icosphere(DVec3::ZERO, 1.0, 1));
    assert!(read().unwrap_err().to_string().ends_with("frame 1001 is missing"));
    put("frame_1001.obj", &solids::icosphere(DVec3::ZERO, 1.0, 0));
    let text = read().unwrap_err().to_string();
    assert!(text.contains("frame_1001.obj: it has 12 vertices instead of 42; all frames of a sequence"), "{text}");
    let mut turned = obj_of(&solids::icosphere(DVec3::ZERO, 1.0, 1));
    turned.truncate(turned.len() - 2);
    std::fs::write(folder.path().join("frame_1001.obj"), [turned, b"7\n".to_vec()].concat()).unwrap();
    assert!(matches!(read(), Err(AnimationError::Topology { .. })));
    std::fs::write(folder.path().join("frame_1001.obj"), "v 0 0 nan").unwrap();
    assert!(matches!(read(), Err(AnimationError::File(MeshFileError::Content { .. }))));
    for name in ["frame.obj", "f#_#.obj", "frame.fbx", "frame_##.usd"] {
        assert!(read_animation(folder.path().join(name), &options).is_err(), "{name}");
    }
}

#[test]
fn posing_again_asks_for_no_memory_and_gives_the_same_bits() {
    let animation = parsed(&skinned(STRIP_WEIGHTS, QUARTER)).unwrap();
    let [mut pose, mut other] = [Pose::default(), Pose::default()];
    animation.pose(0.3, &mut pose);
    let room = pose.positions().as_ptr();
    animation.pose(0.9, &mut pose);
    animation.pose(0.3, &mut pose);
    animation.pose(0.3, &mut other);
    assert_eq!((pose.positions().as_ptr(), pose.positions()), (room, other.positions()));
}
