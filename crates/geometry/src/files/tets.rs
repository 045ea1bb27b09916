//! Reading tetrahedral meshes: Gmsh, TetGen and VTK.

use std::path::Path;

use super::msh::parse_msh;
use super::tetgen::{TetGenError, parse_tetgen};
use super::vtk::parse_vtk;
use super::vtu::parse_vtu;
use super::{ImportOptions, MeshFileError, ParseError, read_bytes};
use crate::{TetMesh, TetQuality};

/// A mesh of tetrahedra from a file.
#[derive(Debug, Clone, PartialEq)]
pub struct TetFile {
    /// The mesh.
    pub mesh: TetMesh,
    /// The region that each tetrahedron belongs to, by its number in the file: physical group, attribute or material; 0
    /// where the file says nothing.
    pub regions: Vec<i64>,
    /// Names of regions, as far as the file has them.
    pub region_names: Vec<(i64, String)>,
    /// What was done to it, and how good it is.
    pub report: TetReport,
}

/// What was done to a mesh while it was read, and how good it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TetReport {
    /// Tetrahedra that were turned to positive volume.
    pub turned: usize,
    /// Tetrahedra with more nodes than corners, mostly ten, of which the four corners were kept.
    pub reduced: usize,
    /// Elements of other kinds, which were left out.
    pub other_elements: usize,
    /// Nodes that no tetrahedron uses, which were left out.
    pub unused_nodes: usize,
    /// Pieces that do not hang together across faces.
    pub pieces: usize,
    /// Angles, aspect ratios, slivers.
    pub quality: TetQuality,
}

/// What a file is.
enum Kind {
    Msh,
    Vtk,
    Vtu,
    /// One of the two files of TetGen.
    TetGen,
}

fn kind_of(path: &Path) -> Result<Kind, MeshFileError> {
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase();
    match extension.as_str() {
        "msh" => Ok(Kind::Msh),
        "vtk" => Ok(Kind::Vtk),
        "vtu" => Ok(Kind::Vtu),
        "node" | "ele" => Ok(Kind::TetGen),
        _ => Err(MeshFileError::UnknownTetFormat { path: path.into() }),
    }
}

/// Reads tetrahedra from a file of Gmsh (.msh, versions 2 and 4.1), TetGen (.node and .ele, either names both) or VTK
/// (.vtk and .vtu), known by its extension.
///
/// # Errors
/// Names the file, the place in it, and what would be right.
pub fn read_tets(path: impl AsRef<Path>, options: &ImportOptions) -> Result<TetFile, MeshFileError> {
    let path = path.as_ref();
    let single = |parse: fn(&[u8], &ImportOptions) -> Result<TetFile, ParseError>| {
        let parsed = parse(&read_bytes(path)?, options);
        parsed.map_err(|error| MeshFileError::Content { path: path.into(), error })
    };
    match kind_of(path)? {
        Kind::Msh => single(parse_msh),
        Kind::Vtk => single(parse_vtk),
        Kind::Vtu => single(parse_vtu),
        Kind::TetGen => {
            let upper = path.extension().is_some_and(|e| e.to_str().is_some_and(|e| e.starts_with(['N', 'E'])));
            let [node, ele] = if upper { ["NODE", "ELE"] } else { ["node", "ele"] }.map(|e| path.with_extension(e));
            let parsed = parse_tetgen(&read_bytes(&node)?, &read_bytes(&ele)?, options);
            parsed.map_err(|TetGenError { in_nodes, error }| MeshFileError::Content {
                path: if in_nodes { node } else { ele },
                error,
            })
        }
    }
}
