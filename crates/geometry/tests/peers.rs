//! What we write, others read; what others write, we read. The others are the OBJ, STL and PLY crates of the community.

use std::io::Cursor;

use glam::DVec3;
use meniscus_geometry::{ImportOptions, TriangleMesh, parse_ply, parse_stl, solids, write_obj, write_ply};
use ply_rs_bw::parser::Parser;
use ply_rs_bw::ply::{
    Addable, DefaultElement, ElementDef, Encoding, Ply, Property, PropertyDef, PropertyType, ScalarType,
};
use ply_rs_bw::writer::Writer;

fn body() -> TriangleMesh {
    solids::torus(DVec3::new(0.5, -0.25, 2.0), 0.75, 0.25, [16, 8])
}

/// Largest distance between the corners of two meshes, triangle by triangle.
fn difference(mesh: &TriangleMesh, corners: impl ExactSizeIterator<Item = [DVec3; 3]>) -> f64 {
    assert_eq!(mesh.triangles().len(), corners.len());
    let distances = mesh.corners().zip(corners).flat_map(|(a, b)| [0, 1, 2].map(|i| a[i].distance(b[i])));
    distances.fold(0.0, f64::max)
}

#[test]
fn tobj_reads_our_obj() {
    let mut bytes = Vec::new();
    write_obj(&body(), &mut bytes).unwrap();
    let no_materials = |_: &std::path::Path| Err(tobj::LoadError::OpenFileFailed);
    let (models, _) = tobj::load_obj_buf(&mut Cursor::new(bytes), &tobj::LoadOptions::default(), no_materials).unwrap();
    let read = &models[0].mesh;
    let vertex = |&v: &u32| {
        DVec3::from_slice(&read.positions[3 * v as usize..][..3].iter().map(|&x| f64::from(x)).collect::<Vec<_>>())
    };
    let corners = read.indices.chunks_exact(3).map(|t| [vertex(&t[0]), vertex(&t[1]), vertex(&t[2])]);
    assert!(difference(&body(), corners) < 1e-6);
}

#[test]
fn we_read_the_stl_of_stl_io() {
    let triangles: Vec<_> = body()
        .corners()
        .map(|corners| stl_io::Triangle {
            normal: stl_io::Normal::new([0.0; 3]),
            vertices: corners.map(|c| stl_io::Vertex::new(c.as_vec3().to_array())),
        })
        .collect();
    let mut bytes = Vec::new();
    stl_io::write_stl(&mut bytes, triangles.iter()).unwrap();
    let mesh = parse_stl(&bytes, &ImportOptions::default()).unwrap();
    assert!(mesh.closed().is_ok() && difference(&body(), mesh.corners()) < 1e-6);
}

#[test]
fn ply_rs_reads_our_ply() {
    let mut bytes = Vec::new();
    write_ply(&body(), &mut bytes).unwrap();
    let ply = Parser::<DefaultElement>::new().read_ply(&mut Cursor::new(bytes)).unwrap();
    let vertices: Vec<_> = ply.payload["vertex"].iter().map(position).collect();
    let corners = ply.payload["face"].iter().map(|face| indices(face).map(|v| vertices[v as usize]));
    assert_eq!(difference(&body(), corners.collect::<Vec<_>>().into_iter()), 0.0);
}

fn position(vertex: &DefaultElement) -> DVec3 {
    let coordinate = |name: &str| match vertex[name] {
        Property::Double(value) => value,
        ref other => panic!("{other:?}"),
    };
    DVec3::new(coordinate("x"), coordinate("y"), coordinate("z"))
}

fn indices(face: &DefaultElement) -> [u32; 3] {
    match &face["vertex_indices"] {
        Property::ListUInt(list) => list.as_slice().try_into().unwrap(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn we_read_the_ply_of_ply_rs() {
    for encoding in [Encoding::Ascii, Encoding::BinaryLittleEndian, Encoding::BinaryBigEndian] {
        let mut bytes = Vec::new();
        Writer::new().write_ply(&mut bytes, &mut their_ply(encoding)).unwrap();
        let mesh = parse_ply(&bytes, &ImportOptions::default()).unwrap();
        assert_eq!(difference(&body(), mesh.corners()), 0.0, "{encoding:?}");
    }
}

fn their_ply(encoding: Encoding) -> Ply<DefaultElement> {
    let mut ply = Ply::<DefaultElement>::new();
    ply.header.encoding = encoding;
    let mut vertex = ElementDef::new("vertex".into());
    for name in ["x", "y", "z"] {
        vertex.properties.add(PropertyDef::new(name.into(), PropertyType::Scalar(ScalarType::Double)));
    }
    let mut face = ElementDef::new("face".into());
    let list = PropertyType::List(ScalarType::UChar, ScalarType::UInt);
    face.properties.add(PropertyDef::new("vertex_index".into(), list));
    ply.header.elements.add(vertex);
    ply.header.elements.add(face);
    let mesh = body();
    let named = |(name, x): (&str, f64)| (name.to_string(), Property::Double(x));
    let vertices = mesh.vertices().iter().map(|v| ["x", "y", "z"].into_iter().zip(v.to_array()).map(named).collect());
    let list = |t: &[u32; 3]| ("vertex_index".to_string(), Property::ListUInt(t.to_vec()));
    let faces = mesh.triangles().iter().map(|t| std::iter::once(list(t)).collect());
    ply.payload.insert("vertex".into(), vertices.collect());
    ply.payload.insert("face".into(), faces.collect());
    ply
}
