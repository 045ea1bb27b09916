//! Writing meshes.

use std::io::{self, Write};

use glam::DVec3;

use crate::TriangleMesh;

/// Writes a mesh as OBJ text, in metres. Reading it back gives the same bits.
///
/// # Errors
/// Those of the writer.
pub fn write_obj(mesh: &TriangleMesh, mut out: impl Write) -> io::Result<()> {
    for v in mesh.vertices() {
        writeln!(out, "v {} {} {}", v.x, v.y, v.z)?;
    }
    for [a, b, c] in mesh.triangles().iter().map(|t| t.map(|v| u64::from(v) + 1)) {
        writeln!(out, "f {a} {b} {c}")?;
    }
    out.flush()
}

/// Writes a mesh as binary PLY, lowest byte first, in metres and double precision. Reading it back gives the same bits.
///
/// # Errors
/// Those of the writer.
pub fn write_ply(mesh: &TriangleMesh, mut out: impl Write) -> io::Result<()> {
    write!(
        out,
        "ply\nformat binary_little_endian 1.0\n\
         element vertex {}\nproperty double x\nproperty double y\nproperty double z\n\
         element face {}\nproperty list uchar uint vertex_indices\nend_header\n",
        mesh.vertices().len(),
        mesh.triangles().len()
    )?;
    for coordinate in mesh.vertices().iter().flat_map(DVec3::to_array) {
        out.write_all(&coordinate.to_le_bytes())?;
    }
    for triangle in mesh.triangles() {
        out.write_all(&[3])?;
        for vertex in triangle {
            out.write_all(&vertex.to_le_bytes())?;
        }
    }
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ImportOptions, ParseError, parse_obj, parse_ply, solids};
    use proptest::prelude::*;

    type Parsed = Result<TriangleMesh, ParseError>;

    fn through_obj(mesh: &TriangleMesh) -> Parsed {
        let mut bytes = Vec::new();
        write_obj(mesh, &mut bytes).unwrap();
        parse_obj(&bytes, &ImportOptions::default())
    }

    fn through_ply(mesh: &TriangleMesh) -> Parsed {
        let mut bytes = Vec::new();
        write_ply(mesh, &mut bytes).unwrap();
        parse_ply(&bytes, &ImportOptions::default())
    }

    #[test]
    fn bodies_survive_a_round_trip() {
        let tilted = DVec3::new(0.3, 0.7, -0.2);
        for mesh in [solids::icosphere(tilted, 1.0 / 3.0, 2), solids::torus(tilted, 0.7, 0.1, [13, 7])] {
            assert_eq!(through_obj(&mesh), Ok(mesh.clone()));
            assert_eq!(through_ply(&mesh), Ok(mesh));
        }
    }

    proptest! {
        #[test]
        fn every_bit_survives_a_round_trip(corners in prop::array::uniform9(-1.0..1.0f64), exponent in -30..30i32) {
            let scaled = corners.map(|x| x * 10f64.powi(exponent));
            let vertices = scaled.chunks(3).map(DVec3::from_slice).collect();
            let mesh = TriangleMesh::new(vertices, vec![[0, 1, 2]]).unwrap();
            prop_assert_eq!(through_obj(&mesh), Ok(mesh.clone()));
            prop_assert_eq!(through_ply(&mesh), Ok(mesh));
        }
    }
}
