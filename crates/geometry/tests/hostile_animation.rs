//! Animations that lie, break off or were damaged on the way: every answer is an animation or an error, at once and
//! without reserving more memory than the file could fill.

use std::path::Path;
use std::time::Instant;

use meniscus_geometry::animation::{AnimationOptions, Playback, Pose, parse_glb};

mod damage;

use damage::{Chance, PATIENCE, within_memory};

/// Small files with a skin, and with sparse morph targets, a cubic path and no indices.
fn corpus() -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/glb");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| (path.display().to_string(), std::fs::read(path).unwrap())).collect()
}

/// Parses, then asks an animation all that it can be asked. Says whether it was one.
fn survives(name: &str, bytes: &[u8]) -> bool {
    let start = Instant::now();
    let playback = Playback { cycles: 3.0, ..Playback::default() };
    let options = AnimationOptions { playback, ..AnimationOptions::default() };
    let parsed = parse_glb(Path::new("a.glb"), bytes, &options);
    match &parsed {
        Ok(animation) => {
            let mut pose = Pose::default();
            for time in [-1.0, 0.0, 0.3, 1e9] {
                animation.pose(time, &mut pose);
                assert_eq!(pose.positions().len(), animation.vertex_count());
            }
            let used = animation.triangles().iter().flatten().all(|&v| (v as usize) < animation.vertex_count());
            assert!(used && animation.parts().iter().all(|part| part.triangles.end <= animation.triangles().len()));
            assert!(animation.jumps(0.1, animation.duration() / 10.0).len() <= 30);
            assert!(animation.mesh_at(0.5).area() >= 0.0);
        }
        Err(error) => assert!(error.to_string().len() < 600, "{error}"),
    }
    assert!(start.elapsed() < PATIENCE, "{name} took {:?}", start.elapsed());
    parsed.is_ok()
}

#[test]
fn the_files_of_the_corpus_are_closed_and_move() {
    let files = corpus();
    assert_eq!(files.len(), 2);
    for (name, bytes) in files {
        let animation = parse_glb(Path::new("a.glb"), &bytes, &AnimationOptions::default()).unwrap();
        assert_eq!(animation.vertex_count(), 4, "{name}");
        animation.mesh_at(0.0).closed().unwrap();
        assert!(!animation.jumps(0.5, 1.0).is_empty(), "{name}");
        assert!(survives(&name, &bytes));
    }
}

#[test]
fn files_that_break_off_are_errors() {
    within_memory(|| {
        for (name, bytes) in corpus() {
            (0..bytes.len()).for_each(|end| assert!(!survives(&name, &bytes[..end]), "{name}: {end} bytes"));
        }
    });
}

#[test]
fn files_with_one_damaged_byte_are_animations_or_errors() {
    within_memory(|| {
        let mut chance = Chance(7);
        for (name, bytes) in corpus() {
            for _ in 0..4000 {
                let mut damaged = bytes.clone();
                damaged[chance.below(bytes.len())] = chance.below(256) as u8;
                survives(&name, &damaged);
            }
        }
    });
}

#[test]
fn numbers_that_promise_too_much_are_errors() {
    within_memory(|| {
        for (name, bytes) in corpus() {
            // Every number of the JSON in turn becomes a huge one of the same length, or a large one.
            let digits: Vec<usize> = (20..bytes.len()).filter(|&n| bytes[n].is_ascii_digit()).collect();
            for &n in &digits {
                for digit in [b'0', b'9'] {
                    let mut damaged = bytes.clone();
                    damaged[n] = digit;
                    survives(&name, &damaged);
                }
                let mut longer = bytes.clone();
                longer.splice(n..n, *b"4000");
                let [json, whole] = [12, 8].map(|at| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) + 4);
                longer[12..16].copy_from_slice(&json.to_le_bytes());
                longer[8..12].copy_from_slice(&whole.to_le_bytes());
                survives(&name, &longer);
            }
        }
    });
}

#[test]
fn one_accessor_used_by_many_meshes_does_not_fill_the_memory() {
    let (_, bytes) = corpus().remove(0);
    let length = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
    let json = String::from_utf8(bytes[20..20 + length].to_vec()).unwrap();
    let primitive = r#"{"attributes":{"POSITION":0}}"#;
    let many = vec![primitive; 100_000].join(",");
    let start = json.find(r#""primitives":["#).unwrap() + r#""primitives":["#.len();
    let json = format!("{}{many},{}", &json[..start], &json[start..]);
    let mut file = b"glTF".to_vec();
    let rest = &bytes[20 + length..];
    file.extend([2, (20 + json.len() + rest.len()) as u32, json.len() as u32].iter().flat_map(|n| n.to_le_bytes()));
    file.extend(b"JSON");
    file.extend(json.bytes());
    file.extend(rest);
    within_memory(|| drop(parse_glb(Path::new("a.glb"), &file, &AnimationOptions::default())));
}

#[test]
fn noise_is_an_error() {
    let mut chance = Chance(8);
    for _ in 0..500 {
        let noise: Vec<u8> = (0..chance.below(300)).map(|_| chance.below(256) as u8).collect();
        for start in [&b""[..], b"glTF", b"glTF\x02\0\0\0\x20\0\0\0", b"{\"asset\":{\"version\":\"2.0\"},"] {
            assert!(!survives("noise", &[start, &noise].concat()));
        }
    }
}
