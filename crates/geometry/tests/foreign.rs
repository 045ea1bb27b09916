//! A model that others made: the rigged hand of the npm package @webxr-input-profiles/assets (MIT). It is fetched for
//! tests only; without it they are skipped, except in CI.

use std::path::PathBuf;

use glam::DVec3;
use meniscus_geometry::animation::{AnimationOptions, JointKey, JointKeys, Pose, Wetting, read_animation};

/// The folder with `node_modules`: MENISCUS_NPM, or `target/npm` of the project.
fn hand(side: &str) -> Option<PathBuf> {
    let home = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/npm");
    let folder = std::env::var_os("MENISCUS_NPM").map_or_else(|| PathBuf::from(home), PathBuf::from);
    let file = format!("node_modules/@webxr-input-profiles/assets/dist/profiles/generic-hand/{side}.glb");
    let path = folder.join(file);
    let there = path.is_file();
    assert!(there || std::env::var_os("CI").is_none(), "CI needs {}", path.display());
    if !there {
        println!("skipped: npm install --prefix target/npm @webxr-input-profiles/assets brings what is missing");
    }
    there.then_some(path)
}

/// A script: the whole hand dips by 10 cm and turns, while the index finger bends.
fn script() -> Vec<JointKeys> {
    let key = |time, turn: DVec3, shift: DVec3| JointKey { time, turn, shift };
    let still = key(0.0, DVec3::ZERO, DVec3::ZERO);
    let bent = vec![still, key(1.0, DVec3::new(-0.3, 0.0, 0.0), DVec3::ZERO)];
    vec![
        JointKeys { joint: "Armature".into(), keys: vec![still, key(1.0, 0.5 * DVec3::Y, -0.1 * DVec3::Y)] },
        JointKeys { joint: "index-finger-phalanx-distal".into(), keys: bent.clone() },
        JointKeys { joint: "index-finger-tip".into(), keys: bent },
    ]
}

#[test]
fn a_foreign_hand_is_closed_after_welding_and_moved_by_a_script() {
    for side in ["left", "right"] {
        let Some(path) = hand(side) else { return };
        let text = read_animation(&path, &AnimationOptions::default()).unwrap_err().to_string();
        assert!(text.contains("it has no animation: give its joints a motion"), "{text}");

        let options = AnimationOptions { joints: script(), ..AnimationOptions::default() };
        let hand = read_animation(&path, &options).unwrap();
        assert_eq!((hand.wetting(), hand.triangles().len()), (Wetting::Closed, 2314), "{:?}", hand.warnings());
        hand.mesh_at(0.0).closed().unwrap();
        // A hand has about 0.3 litres.
        let volume = hand.mesh_at(0.0).signed_volume();
        assert!((1e-4..6e-4).contains(&volume), "{volume} m³");
        let (mut before, mut after) = (Pose::default(), Pose::default());
        hand.pose(0.0, &mut before);
        hand.pose(1.0, &mut after);
        let fallen = before.positions().iter().zip(after.positions()).map(|(a, b)| a.y - b.y);
        let mean = fallen.sum::<f64>() / hand.vertex_count() as f64;
        assert!((mean - 0.1).abs() < 0.005, "{mean} m");
        assert!((hand.mesh_at(1.0).signed_volume() / volume - 1.0).abs() < 0.05);
        assert!(hand.jumps(0.05, 1.0 / 24.0).is_empty());
    }
}
