//! Files that lie, break off or were damaged on the way: every answer is a mesh or an error, at once and without
//! reserving more memory than the file could fill.

use std::time::Instant;

use glam::DVec3;
use meniscus_geometry::{
    Bvh, ImportOptions, ParseError, TriangleMesh, parse_obj, parse_ply, parse_stl, solids, write_obj, write_ply,
};

mod damage;

use damage::{Chance, PATIENCE, within_memory};

type Parse = fn(&[u8], &ImportOptions) -> Result<TriangleMesh, ParseError>;

/// A small valid file of each kind.
fn corpus() -> Vec<(&'static str, Parse, Vec<u8>)> {
    let mesh = solids::icosphere(DVec3::new(0.25, -0.5, 1.0), 0.75, 0);
    let mut obj = b"# a ball\no ball\n".to_vec();
    write_obj(&mesh, &mut obj).unwrap();
    let mut little = Vec::new();
    write_ply(&mesh, &mut little).unwrap();
    vec![
        ("obj", parse_obj, obj),
        ("stl text", parse_stl, stl_text(&mesh)),
        ("stl binary", parse_stl, stl_binary(&mesh)),
        ("ply little endian", parse_ply, little),
        ("ply big endian", parse_ply, ply_big_endian(&mesh)),
        ("ply text", parse_ply, ply_text(&mesh)),
    ]
}

fn stl_text(mesh: &TriangleMesh) -> Vec<u8> {
    let facet = |c: [DVec3; 3]| {
        let vertices = c.map(|v| format!("vertex {} {} {}\n", v.x, v.y, v.z)).concat();
        format!("facet normal 0 0 0\nouter loop\n{vertices}endloop\nendfacet\n")
    };
    format!("solid ball\n{}endsolid ball\n", mesh.corners().map(facet).collect::<String>()).into()
}

fn stl_binary(mesh: &TriangleMesh) -> Vec<u8> {
    let mut bytes = vec![b' '; 80];
    bytes.extend((mesh.triangles().len() as u32).to_le_bytes());
    for corners in mesh.corners() {
        bytes.extend([0; 12]);
        bytes.extend(corners.iter().flat_map(|c| c.as_vec3().to_array()).flat_map(f32::to_le_bytes));
        bytes.extend([0; 2]);
    }
    bytes
}

fn ply_header(format: &str, mesh: &TriangleMesh) -> String {
    format!(
        "ply\nformat {format} 1.0\ncomment a ball\nelement vertex {}\n\
         property float x\nproperty float y\nproperty float z\n\
         element face {}\nproperty list uchar int vertex_indices\nend_header\n",
        mesh.vertices().len(),
        mesh.triangles().len()
    )
}

fn ply_big_endian(mesh: &TriangleMesh) -> Vec<u8> {
    let mut bytes = ply_header("binary_big_endian", mesh).into_bytes();
    bytes.extend(mesh.vertices().iter().flat_map(|v| v.as_vec3().to_array()).flat_map(f32::to_be_bytes));
    for triangle in mesh.triangles() {
        bytes.push(3);
        bytes.extend(triangle.iter().flat_map(|v| v.to_be_bytes()));
    }
    bytes
}

fn ply_text(mesh: &TriangleMesh) -> Vec<u8> {
    let vertices = mesh.vertices().iter().map(|v| format!("{} {} {}\n", v.x, v.y, v.z));
    let faces = mesh.triangles().iter().map(|[a, b, c]| format!("3 {a} {b} {c}\n"));
    [ply_header("ascii", mesh)].into_iter().chain(vertices).chain(faces).collect::<String>().into()
}

/// Parses, then asks a mesh all that a mesh can be asked. Says whether it was one.
fn survives(name: &str, parse: Parse, bytes: &[u8]) -> bool {
    let start = Instant::now();
    let parsed = parse(bytes, &ImportOptions::default());
    match &parsed {
        Ok(mesh) => interrogate(mesh.clone()),
        Err(error) => assert!(error.to_string().len() < 400, "{error}"),
    }
    assert!(start.elapsed() < PATIENCE, "{name} took {:?}", start.elapsed());
    parsed.is_ok()
}

fn interrogate(mut mesh: TriangleMesh) {
    let oriented = mesh.orient_outward();
    assert_eq!(oriented.is_ok(), mesh.closed().is_ok());
    assert!(mesh.area() >= 0.0 && !mesh.bounds().is_empty());
    assert!(mesh.vertex_normals().iter().all(|n| n.is_finite()));
    let tree = Bvh::new(&mesh);
    for p in [DVec3::ZERO, mesh.bounds().center(), mesh.bounds().max] {
        assert!(tree.closest_point(p).distance_squared >= 0.0);
        assert!(tree.winding_number(p).is_finite());
        assert!(tree.segment_hits(p, DVec3::ONE).is_none_or(|hit| (0.0..=1.0).contains(&hit.t)));
    }
}

#[test]
fn the_files_of_the_corpus_are_valid() {
    for (name, parse, bytes) in corpus() {
        let mesh = parse(&bytes, &ImportOptions::default()).unwrap();
        assert!(mesh.closed().is_ok() && mesh.triangles().len() == 20, "{name}");
    }
}

#[test]
fn files_that_break_off_are_errors() {
    within_memory(|| {
        for (name, parse, bytes) in corpus() {
            // Text may lose its last line break, part of a name or digits of its last number, an OBJ whole faces.
            let may_lose = match name {
                "obj" => bytes.len(),
                "stl text" => " ball\n".len(),
                "ply text" => "0\n".len(),
                _ => 0,
            };
            for end in 0..bytes.len() {
                let accepted = survives(name, parse, &bytes[..end]);
                assert!(!accepted || bytes.len() - end <= may_lose, "{name}: {end} of {} bytes", bytes.len());
            }
        }
    });
}

#[test]
fn files_with_one_damaged_byte_are_meshes_or_errors() {
    within_memory(|| {
        let mut chance = Chance(1);
        for (name, parse, bytes) in corpus() {
            for _ in 0..2000 {
                let mut damaged = bytes.clone();
                damaged[chance.below(bytes.len())] = chance.below(256) as u8;
                survives(name, parse, &damaged);
            }
        }
    });
}

#[test]
fn noise_is_an_error() {
    let mut chance = Chance(2);
    for _ in 0..500 {
        let length = chance.below(300);
        let noise: Vec<u8> = (0..length).map(|_| chance.below(256) as u8).collect();
        for (start, parse) in [("", parse_obj as Parse), ("", parse_stl), ("solid ", parse_stl), ("ply\n", parse_ply)] {
            assert!(!survives("noise", parse, &[start.as_bytes(), &noise].concat()) || start.is_empty());
        }
    }
}

#[test]
fn headers_that_promise_too_much_are_errors() {
    let binary_stl = |count: u32| [&[0; 80][..], &count.to_le_bytes(), &[0; 50]].concat();
    let ply = |format: &str, vertices: &str, list: &str| {
        let header = format!(
            "ply\nformat {format} 1.0\nelement vertex {vertices}\n\
             property float x\nproperty float y\nproperty float z\n\
             element face 1\nproperty list {list} vertex_indices\nend_header\n"
        );
        [header.as_bytes(), &[255; 64]].concat()
    };
    let empty_elements =
        b"ply\nformat ascii 1.0\nelement a 99999999999\nelement vertex 4000000000\nend_header\n".to_vec();
    let many_elements =
        [&b"ply\nformat ascii 1.0\n"[..], &b"element e 4000000000\n".repeat(50_000), b"end_header\n"].concat();
    within_memory(|| {
        for (parse, bytes) in [
            (parse_stl as Parse, binary_stl(4_000_000_000)),
            (parse_stl, binary_stl(u32::MAX)),
            (parse_stl, binary_stl(2)),
            (parse_ply, ply("binary_little_endian", "4000000000", "uchar int")),
            (parse_ply, ply("binary_big_endian", "18446744073709551615", "uchar int")),
            (parse_ply, ply("binary_little_endian", "0", "uint int")),
            (parse_ply, ply("binary_little_endian", "0", "int uchar")),
            (parse_ply, ply("binary_little_endian", "0", "double double")),
            (parse_ply, ply("ascii", "4000000000", "uchar int")),
            (parse_ply, ply("ascii", "99999999999999999999", "uchar int")),
            (parse_ply, empty_elements),
            (parse_ply, many_elements),
        ] {
            assert!(!survives("promise", parse, &bytes));
        }
    });
}

#[test]
fn long_lines_and_many_lines_take_no_longer_than_their_bytes() {
    let corners = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n";
    within_memory(|| {
        let fan = format!("{corners}f{}\n", " 1 2 3 4".repeat(25_000));
        assert!(survives("a face of 100,000 corners", parse_obj, fan.as_bytes()));
        let joined = format!("{corners}{}", "f 1 2 3 ".repeat(100_000));
        assert!(!survives("100,000 faces on one line", parse_obj, joined.as_bytes()));
        let joined = format!("{corners}f 1 2 {}3\n", "\\\n".repeat(100_000));
        assert!(survives("100,000 joined lines", parse_obj, joined.as_bytes()));
        let flat: String = (0..50_000).map(|i| format!("v {i} 0 0\n")).collect();
        let flat = format!(
            "{flat}v 0 1 0\n{}f 1 2 50001\n",
            (1..49_999).map(|i| format!("f {i} {} {}\n", i + 1, i + 2)).collect::<String>()
        );
        assert!(survives("50,000 triangles without area", parse_obj, flat.as_bytes()));
        assert!(!survives("nothing but line breaks", parse_stl, &[b"solid".as_slice(), &[b'\n'; 300_000]].concat()));
    });
}
