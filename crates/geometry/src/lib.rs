//! Geometry in double precision: no time, no force.

mod aabb;
mod bvh;
mod files;
mod mesh;
pub mod solids;
mod topology;
mod triangle;
mod weld;

pub use aabb::Aabb;
pub use bvh::{Bvh, Closest, Hit, WrongVertexCount};
pub use files::{
    ImportOptions, LARGEST_FILE, MeshFileError, ParseError, Place, Problem, UpAxis, parse_obj, parse_ply, parse_stl,
    read_mesh, write_obj, write_ply,
};
pub use mesh::{LARGEST_COORDINATE, MeshError, TriangleMesh};
pub use topology::{EdgeDefect, NotClosed};
