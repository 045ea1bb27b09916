//! Geometry in double precision: no time, no force.

mod aabb;
mod bvh;
mod mesh;
pub mod solids;
mod topology;
mod triangle;
mod weld;

pub use aabb::Aabb;
pub use bvh::{Bvh, Closest, Hit, WrongVertexCount};
pub use mesh::{LARGEST_COORDINATE, MeshError, TriangleMesh};
pub use topology::{EdgeDefect, NotClosed};
