//! Geometry in double precision: no time, no force.
//!
//! A tour in the order in which a solid enters a simulation:
//!
//! 1. **A surface.** [`read_mesh`] reads OBJ, STL and PLY; [`solids`] makes boxes, spheres, cylinders and tori. Both
//!    give a [`TriangleMesh`], whose indices and coordinates have been checked.
//! 2. **Is it sound?** [`TriangleMesh::closed`] says where it is open, turned over or shared by too many triangles;
//!    [`TriangleMesh::orient_outward`] turns it to face outwards.
//! 3. **Questions.** A [`Bvh`] answers for any point: the [closest point](Bvh::closest_point), the
//!    [winding number](Bvh::winding_number), [inside or not](Bvh::inside), the
//!    [signed distance](Bvh::signed_distance); and for any segment, [where it first hits](Bvh::segment_hits). It
//!    follows a moving mesh with [`Bvh::refit`].
//! 4. **Samples.** [`quadrature`] puts Gauss points on triangles; [`fill`] puts particles into a [`Shape`] and keeps
//!    them out of others.
//! 5. **Tetrahedra.** [`mesh_tets`] fills a closed surface, [`stuff`] a signed distance; [`TetMesh`] makes blocks, balls,
//!    tubes and pools, and [`read_tets`] reads those of Gmsh, TetGen and VTK. A [`Skin`] carries a surface along with
//!    them. [`IsoGrid`] goes the other way, from values to a surface.
//! 6. **Meshes that move by themselves.** [`animation`] reads glTF and sequences of files and poses them at any time.
//! 7. **Neighbours.** [`NeighbourGrid`] sorts particles by cell; it alone works in single precision, as they do.
//!
//! ```
//! use glam::DVec3;
//! use meniscus_geometry::{Aabb, Bvh, KeepOut, Shape, TetOptions, fill, mesh_tets, quadrature, solids};
//!
//! // A ball of radius 20 cm, one metre above the origin.
//! let ball = solids::icosphere(DVec3::Y, 0.2, 3);
//! ball.closed()?;
//!
//! // How far is the origin from its surface, and is its centre inside?
//! let tree = Bvh::new(&ball);
//! assert!((tree.signed_distance(DVec3::ZERO) - 0.8).abs() < 1e-3);
//! assert!(tree.inside(DVec3::Y));
//!
//! // Water around it: a tank of one cubic metre, particles 5 cm apart.
//! let tank = Shape::Box(Aabb::new(DVec3::new(-0.5, 0.5, -0.5), DVec3::new(0.5, 1.5, 0.5)));
//! let body = KeepOut { shape: Shape::Mesh(ball.clone()), clearance: 0.025 };
//! let water = fill(&tank, 0.05, &[body])?;
//! assert!(water.len() < 20 * 20 * 20 && water.iter().all(|&p| tree.signed_distance(p) > 0.024));
//!
//! // Its area, by quadrature.
//! let area: f64 = ball
//!     .corners()
//!     .flat_map(|[a, b, c]| {
//!         let area = 0.5 * (b - a).cross(c - a).length();
//!         quadrature::seven_points().map(|sample| area * sample.weight)
//!     })
//!     .sum();
//! assert!((area - ball.area()).abs() < 1e-12);
//!
//! // The ball as a soft body: about a thousand tetrahedra of its volume, none of them flat.
//! let soft = mesh_tets(&ball, &TetOptions::count(1000))?;
//! assert!(soft.volume_error.abs() < 0.01 && soft.mesh.quality().min_dihedral > 10.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Lengths are in metres, y points up, triangles run counter-clockwise seen from outside. Every result is the same,
//! bit for bit, at any number of threads.

mod aabb;
pub mod animation;
mod bvh;
mod files;
mod grid;
mod iso;
mod mesh;
mod pieces;
pub mod quadrature;
mod refine;
mod sample;
mod shape;
mod skin;
pub mod solids;
mod stuffing;
mod tet_mesh;
mod tet_quality;
mod tet_solids;
mod topology;
mod triangle;
mod weld;

pub use aabb::{Aabb, InnerBox};
pub use bvh::{Bvh, Closest, Hit, SelfCrossing, WrongVertexCount};
pub use files::{
    ImportOptions, LARGEST_FILE, MeshFileError, ParseError, Place, Problem, TetFile, TetGenError, TetReport, UpAxis,
    parse_mesh, parse_msh, parse_obj, parse_ply, parse_stl, parse_tetgen, parse_vtk, parse_vtu, read_bytes, read_mesh,
    read_tets, write_obj, write_ply,
};
pub use grid::{NeighbourGrid, Periodic};
pub use iso::{CutEdge, IsoError, IsoGrid, IsoSurface, LARGEST_SIDE, Sample};
pub use mesh::{LARGEST_COORDINATE, MeshError, TriangleMesh};
pub use refine::refined;
pub use sample::{FillError, KeepOut, LARGEST_FILL, count_estimate, fill};
pub use shape::{Region, Shape, ShapeError};
pub use skin::{Anchor, Skin, SkinError, barycentric};
pub use stuffing::{
    LARGEST_LATTICE, LARGEST_SURFACE, SelfCrossings, Stuffed, TetError, TetOptions, TetSize, mesh_tets, stuff,
};
pub use tet_mesh::{TetMesh, TetMeshError, surface_of, tet_volume};
pub use tet_quality::{SLIVER, TetQuality, aspect_ratio, dihedral_angles};
pub use tet_solids::{BodyError, LARGEST_BODY, Pool, Tube};
pub use topology::{EdgeDefect, NotClosed};
pub use triangle::closest_point;
