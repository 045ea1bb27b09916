//! Reading and writing meshes: triangles from OBJ, STL and PLY, tetrahedra from Gmsh, TetGen and VTK.
//!
//! The readers are our own and small, because files come from anywhere: no size in a file is believed before the bytes
//! that it announces have been seen, and every error says where in the file it is and what should stand there. The
//! `parse_` functions work on bytes alone and never touch a file.

mod cursor;
mod error;
mod msh;
mod obj;
mod ply;
mod soup;
mod stl;
mod tet_soup;
mod tetgen;
mod tets;
mod vtk;
mod vtu;
mod words;
mod write;
mod xml;

use std::io::Read;
use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::TriangleMesh;

pub use error::{MeshFileError, ParseError, Place, Problem};
pub use msh::parse_msh;
pub use obj::parse_obj;
pub use ply::parse_ply;
pub use stl::parse_stl;
pub use tetgen::{TetGenError, parse_tetgen};
pub use tets::{TetFile, TetReport, read_tets};
pub use vtk::parse_vtk;
pub use vtu::parse_vtu;
pub use write::{write_obj, write_ply};

use soup::{Raw, Soup};
pub(crate) use xml::from_base64;

/// Larger files are refused \[bytes\].
pub const LARGEST_FILE: u64 = 1 << 30;

/// How the coordinates of a file become ours.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ImportOptions {
    /// Length of the file's unit \[m\], default 1: 0.001 for a file in millimetres.
    pub scale: f64,
    /// The axis that points upwards in the file, default y.
    pub up: UpAxis,
}

impl Default for ImportOptions {
    fn default() -> Self {
        Self { scale: 1.0, up: UpAxis::Y }
    }
}

/// The axis that points upwards. Our world is right-handed with y up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum UpAxis {
    /// As in our world.
    #[default]
    Y,
    /// As in most engineering programs: (x, y, z) becomes (x, z, −y).
    Z,
}

type Parse = fn(&[u8], &ImportOptions) -> Result<Soup, ParseError>;

/// Reads a mesh from an OBJ, STL or PLY file, known by its extension. Equal vertices are
/// [welded](TriangleMesh::from_soup), polygons cut into fans, everything but positions and faces is ignored.
///
/// # Errors
/// Names the file, the place in it, and what would be right.
pub fn read_mesh(path: impl AsRef<Path>, options: &ImportOptions) -> Result<TriangleMesh, MeshFileError> {
    let path = path.as_ref();
    parser_for(path)?;
    parse_mesh(path, &read_bytes(path)?, options)
}

/// As [`read_mesh`], from bytes that have been read; the path only names them.
///
/// # Errors
/// Names the file, the place in it, and what would be right.
pub fn parse_mesh(path: &Path, bytes: &[u8], options: &ImportOptions) -> Result<TriangleMesh, MeshFileError> {
    let soup = parser_for(path)?(bytes, options);
    soup.and_then(Soup::finish).map_err(|error| MeshFileError::Content { path: path.into(), error })
}

/// Vertices and triangles as a file has them: nothing welded, nothing dropped, so that the files of a sequence can be
/// compared. In the file's own unit and axes.
pub(crate) fn parse_raw(path: &Path, bytes: &[u8]) -> Result<Raw, MeshFileError> {
    let soup = parser_for(path)?(bytes, &ImportOptions::default());
    soup.and_then(Soup::raw).map_err(|error| MeshFileError::Content { path: path.into(), error })
}

fn parser_for(path: &Path) -> Result<Parse, MeshFileError> {
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase();
    match extension.as_str() {
        "obj" => Ok(obj::obj_soup),
        "stl" => Ok(stl::stl_soup),
        "ply" => Ok(ply::ply_soup),
        _ => Err(MeshFileError::UnknownFormat { path: path.into() }),
    }
}

/// Reads a file whole: an ordinary one, that is, no folder, pipe or device, of no more than [`LARGEST_FILE`].
///
/// # Errors
/// Names the file, and what it is instead.
pub fn read_bytes(path: &Path) -> Result<Vec<u8>, MeshFileError> {
    let failed = |error| MeshFileError::Read { path: path.into(), error };
    let too_large = |bytes| MeshFileError::TooLarge { path: path.into(), bytes };
    let about = std::fs::metadata(path).map_err(failed)?;
    if !about.is_file() {
        return Err(MeshFileError::NotAFile { path: path.into() });
    }
    if about.len() > LARGEST_FILE {
        return Err(too_large(about.len()));
    }
    let mut bytes = Vec::new();
    // It may grow while it is read; some say that they are empty and never end.
    let file = std::fs::File::open(path).map_err(failed)?;
    file.take(LARGEST_FILE + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > LARGEST_FILE { Err(too_large(bytes.len() as u64)) } else { Ok(bytes) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solids;
    use glam::DVec3;

    fn written(name: &str, bytes: &[u8]) -> (tempfile::TempDir, std::path::PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        (folder, path)
    }

    #[test]
    fn the_extension_decides_in_either_case() {
        let mesh = solids::icosphere(DVec3::ONE, 0.5, 1);
        let mut bytes = Vec::new();
        write_ply(&mesh, &mut bytes).unwrap();
        let (_folder, path) = written("ball.PLY", &bytes);
        assert_eq!(read_mesh(path, &ImportOptions::default()).unwrap(), mesh);
    }

    #[test]
    fn errors_name_the_file_the_place_and_what_would_be_right() {
        let options = ImportOptions::default();
        let (_folder, path) = written("bad.obj", b"v 0 0 0\nv 1 0 zero\n");
        let error = read_mesh(&path, &options).unwrap_err().to_string();
        assert!(error.contains("bad.obj, line 2: expected a number, found `zero`"), "{error}");
        let error = read_mesh(path.with_file_name("none.obj"), &options).unwrap_err().to_string();
        assert!(error.contains("none.obj"), "{error}");
        for name in ["mesh.fbx", "mesh", ".obj"] {
            let error = read_mesh(path.with_file_name(name), &options).unwrap_err().to_string();
            assert!(error.contains(name) && error.contains(".obj, .stl or .ply"), "{error}");
        }
        let folder = path.with_file_name("folder.stl");
        std::fs::create_dir(&folder).unwrap();
        assert!(matches!(read_mesh(folder, &options), Err(MeshFileError::NotAFile { .. })));
    }

    /// A scene of a stranger may name any file: what is no mesh is not shown.
    #[test]
    fn a_file_that_is_no_mesh_is_not_echoed() {
        let secret = b"root:x:0:0:root:/root:/bin/bash\n# comment\nhunter2 hunter2 hunter2\n";
        for name in ["a.obj", "a.ply", "a.stl"] {
            let said = parse_mesh(Path::new(name), secret, &ImportOptions::default()).unwrap_err().to_string();
            assert!(!said.contains("root:") && !said.contains("hunter2"), "{said}");
        }
        let options = ImportOptions::default();
        for error in [
            parse_msh(secret, &options).unwrap_err().to_string(),
            parse_vtk(secret, &options).unwrap_err().to_string(),
            parse_vtu(secret, &options).unwrap_err().to_string(),
            parse_tetgen(secret, secret, &options).unwrap_err().to_string(),
        ] {
            assert!(!error.contains("root:"), "{error}");
        }
    }

    #[test]
    fn options_have_defaults_and_know_their_words() {
        let options: ImportOptions = serde_json::from_str(r#"{"up": "z"}"#).unwrap();
        assert_eq!(options, ImportOptions { scale: 1.0, up: UpAxis::Z });
        assert!(serde_json::from_str::<ImportOptions>(r#"{"upp": "z"}"#).is_err());
    }
}
