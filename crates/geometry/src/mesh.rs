//! Triangle meshes whose indices and coordinates have been checked.

use glam::DVec3;
use serde::{Deserialize, Serialize};

use crate::{Aabb, triangle};

/// Coordinates beyond this \[m\] are refused: their products would overflow.
pub const LARGEST_COORDINATE: f64 = 1e40;

/// A surface of triangles, counter-clockwise seen from outside. Lengths in metres.
///
/// Every index is in range, there is at least one triangle, and at construction no triangle had zero area; later
/// [`vertices_mut`](Self::vertices_mut) may move the vertices anywhere.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct TriangleMesh {
    vertices: Vec<DVec3>,
    triangles: Vec<[u32; 3]>,
    degenerate: usize,
}

/// What a serialised mesh holds before it is checked: the same fields in the same order.
#[derive(Deserialize)]
struct Unchecked {
    vertices: Vec<DVec3>,
    triangles: Vec<[u32; 3]>,
    degenerate: usize,
}

/// Why numbers do not make a mesh.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MeshError {
    /// A triangle names a vertex that does not exist.
    #[error("triangle {triangle} uses vertex {vertex}, but the mesh has {vertices} vertices, numbered from 0")]
    IndexOutOfRange {
        /// Number of the triangle, from 0.
        triangle: usize,
        /// The index that it uses.
        vertex: u32,
        /// Number of vertices of the mesh.
        vertices: usize,
    },
    /// A vertex is infinite, not a number or absurdly far away.
    #[error("vertex {vertex} is at {position} m: coordinates must be finite and at most {LARGEST_COORDINATE:e} m")]
    BadVertex {
        /// Number of the vertex, from 0.
        vertex: usize,
        /// Its position \[m\].
        position: DVec3,
    },
    /// More vertices than an index can name.
    #[error("{vertices} vertices are more than a 32-bit index can name")]
    TooManyVertices {
        /// Number of vertices.
        vertices: usize,
    },
    /// No triangle with an area.
    #[error("the mesh has no triangle with an area ({dropped} without area were dropped)")]
    Empty {
        /// Number of triangles without area.
        dropped: usize,
    },
}

/// A position to the micrometre, for messages \[m\]: tiny numbers would fill a line with zeros.
pub(crate) fn rounded(position: DVec3) -> DVec3 {
    const PARTS: f64 = 1e6;
    // Adding nothing takes the sign from zeros.
    (PARTS * position).round() / PARTS + DVec3::ZERO
}

impl TriangleMesh {
    /// A mesh of these vertices \[m\] and triangles. Triangles without area are dropped and
    /// [counted](Self::degenerate_triangles); vertices keep their numbers.
    ///
    /// # Errors
    /// The first index out of range, the first bad vertex, or no triangle left.
    pub fn new(vertices: Vec<DVec3>, triangles: Vec<[u32; 3]>) -> Result<Self, MeshError> {
        Self::check(&vertices, &triangles)?;
        let mut mesh = Self { vertices, triangles, degenerate: 0 };
        let before = mesh.triangles.len();
        let vertices = &mesh.vertices;
        mesh.triangles.retain(|t| !triangle::is_flat(t.map(|v| vertices[v as usize])));
        mesh.degenerate = before - mesh.triangles.len();
        if mesh.triangles.is_empty() {
            return Err(MeshError::Empty { dropped: mesh.degenerate });
        }
        Ok(mesh)
    }

    /// A mesh whose indices are known to be right: the generators of [`solids`](crate::solids).
    pub(crate) fn trusted(vertices: Vec<DVec3>, triangles: Vec<[u32; 3]>) -> Self {
        Self { vertices, triangles, degenerate: 0 }
    }

    /// The same mesh with another count of degenerate triangles.
    pub(crate) fn with_degenerate(self, degenerate: usize) -> Self {
        Self { degenerate, ..self }
    }

    /// Checks every vertex, then every index.
    pub(crate) fn check(positions: &[DVec3], triangles: &[[u32; 3]]) -> Result<(), MeshError> {
        let vertices = positions.len();
        if u32::try_from(vertices).is_err() {
            return Err(MeshError::TooManyVertices { vertices });
        }
        let good = |p: &DVec3| p.abs().cmple(DVec3::splat(LARGEST_COORDINATE)).all();
        if let Some((vertex, &position)) = positions.iter().enumerate().find(|(_, p)| !good(p)) {
            return Err(MeshError::BadVertex { vertex, position });
        }
        for (triangle, corners) in triangles.iter().enumerate() {
            if let Some(&vertex) = corners.iter().find(|&&v| v as usize >= vertices) {
                return Err(MeshError::IndexOutOfRange { triangle, vertex, vertices });
            }
        }
        Ok(())
    }

    /// Positions of the vertices \[m\].
    #[must_use]
    pub fn vertices(&self) -> &[DVec3] {
        &self.vertices
    }

    /// Positions of the vertices \[m\], to move them. Keep them finite.
    pub fn vertices_mut(&mut self) -> &mut [DVec3] {
        &mut self.vertices
    }

    /// Triangles as three vertex numbers, counter-clockwise seen from outside.
    #[must_use]
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// How many triangles without area were dropped or mended when the mesh was made.
    #[must_use]
    pub fn degenerate_triangles(&self) -> usize {
        self.degenerate
    }

    /// The corners of each triangle \[m\], in the order of [`triangles`](Self::triangles).
    pub fn corners(&self) -> impl ExactSizeIterator<Item = [DVec3; 3]> {
        self.triangles.iter().map(|t| t.map(|v| self.vertices[v as usize]))
    }

    /// Turns some triangles over, so that they face the other way.
    pub(crate) fn flip(&mut self, wanted: impl Fn(usize) -> bool) {
        self.triangles.iter_mut().enumerate().filter(|&(t, _)| wanted(t)).for_each(|(_, corners)| corners.swap(1, 2));
    }

    /// The smallest box around the triangles \[m\]; vertices that no triangle uses do not count.
    #[must_use]
    pub fn bounds(&self) -> Aabb {
        Aabb::around(self.corners().flatten())
    }

    /// Area of all triangles \[m²\].
    #[must_use]
    pub fn area(&self) -> f64 {
        self.corners().map(|c| triangle::area_vector(c).length()).sum()
    }

    /// Enclosed volume \[m³\] of a [closed](Self::closed) mesh: positive when its triangles face outwards.
    #[must_use]
    pub fn signed_volume(&self) -> f64 {
        let origin = self.bounds().center();
        self.corners().map(|c| triangle::signed_volume(c, origin)).sum()
    }

    /// Unit normals of the vertices: each triangle's normal weighted with its angle at the vertex. Zero where no
    /// triangle has an area.
    #[must_use]
    pub fn vertex_normals(&self) -> Vec<DVec3> {
        let mut normals = vec![DVec3::ZERO; self.vertices.len()];
        for (triangle, corners) in self.triangles.iter().zip(self.corners()) {
            let normal = triangle::area_vector(corners).normalize_or_zero();
            for (vertex, angle) in triangle.iter().zip(triangle::angles(corners)) {
                normals[*vertex as usize] += angle * normal;
            }
        }
        normals.iter().map(|n| n.normalize_or_zero()).collect()
    }
}

impl TryFrom<Unchecked> for TriangleMesh {
    type Error = MeshError;

    /// Checks indices and coordinates, but keeps every triangle: a state that is read back must not change.
    fn try_from(read: Unchecked) -> Result<Self, MeshError> {
        Self::check(&read.vertices, &read.triangles)?;
        if read.triangles.is_empty() {
            return Err(MeshError::Empty { dropped: read.degenerate });
        }
        Ok(Self { vertices: read.vertices, triangles: read.triangles, degenerate: read.degenerate })
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::solids;
    use proptest::prelude::*;

    /// One mesh of several, their common corners welded.
    pub(crate) fn joined(parts: &[TriangleMesh]) -> TriangleMesh {
        let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
        for part in parts {
            let first = vertices.len() as u32;
            vertices.extend_from_slice(part.vertices());
            triangles.extend(part.triangles().iter().map(|t| t.map(|v| v + first)));
        }
        TriangleMesh::from_soup(vertices, triangles).unwrap()
    }

    fn corner() -> Vec<DVec3> {
        vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z]
    }

    #[test]
    fn errors_name_the_triangle_or_the_vertex() {
        let out_of_range = TriangleMesh::new(corner(), vec![[0, 1, 2], [0, 4, 1]]);
        assert_eq!(out_of_range, Err(MeshError::IndexOutOfRange { triangle: 1, vertex: 4, vertices: 4 }));
        for bad in [f64::NAN, f64::INFINITY, -1e200] {
            let mut vertices = corner();
            vertices[3].y = bad;
            let error = TriangleMesh::new(vertices, vec![[0, 1, 2]]).unwrap_err();
            assert!(matches!(error, MeshError::BadVertex { vertex: 3, .. }), "{error}");
        }
        assert_eq!(TriangleMesh::new(corner(), vec![]), Err(MeshError::Empty { dropped: 0 }));
        assert_eq!(TriangleMesh::new(vec![], vec![]), Err(MeshError::Empty { dropped: 0 }));
        assert_eq!(TriangleMesh::new(corner(), vec![[0, 1, 1]]), Err(MeshError::Empty { dropped: 1 }));
    }

    #[test]
    fn triangles_without_area_are_dropped_and_counted() {
        let mut vertices = corner();
        vertices.push(2.0 * DVec3::X);
        let mesh = TriangleMesh::new(vertices, vec![[0, 1, 1], [0, 1, 2], [0, 1, 4], [0, 2, 3]]).unwrap();
        assert_eq!(mesh.triangles(), [[0, 1, 2], [0, 2, 3]]);
        assert_eq!((mesh.degenerate_triangles(), mesh.vertices().len()), (2, 5));
    }

    #[test]
    fn a_box_has_its_area_volume_and_bounds() {
        let b = Aabb::new(DVec3::new(1.0, 2.0, 3.0), DVec3::new(2.0, 4.0, 6.0));
        let mesh = solids::cuboid(&b);
        assert_eq!((mesh.area(), mesh.signed_volume(), mesh.bounds()), (22.0, 6.0, b));
    }

    #[test]
    fn the_volume_is_accurate_far_from_the_origin() {
        let far = DVec3::splat(1e6);
        let mesh = solids::cuboid(&Aabb::new(far, far + DVec3::ONE));
        assert!((mesh.signed_volume() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn normals_of_a_box_do_not_depend_on_how_its_faces_are_cut() {
        let mesh = solids::cuboid(&Aabb::new(-DVec3::ONE, DVec3::ONE));
        for (vertex, normal) in mesh.vertices().iter().zip(mesh.vertex_normals()) {
            assert!(normal.distance(vertex.normalize()) < 1e-15);
        }
    }

    #[test]
    fn a_vertex_without_triangles_has_no_normal() {
        let mesh = TriangleMesh::new(corner(), vec![[0, 1, 2]]).unwrap();
        assert_eq!(mesh.vertex_normals(), [DVec3::Z, DVec3::Z, DVec3::Z, DVec3::ZERO]);
    }

    #[test]
    fn a_mesh_survives_serialisation_and_a_bad_one_is_refused() {
        let mesh = solids::icosphere(DVec3::ONE, 0.3, 1);
        let text = serde_json::to_string(&mesh).unwrap();
        assert_eq!(serde_json::from_str::<TriangleMesh>(&text).unwrap(), mesh);
        let bad = r#"{"vertices":[[0,0,0]],"triangles":[[0,0,7]],"degenerate":0}"#;
        assert!(serde_json::from_str::<TriangleMesh>(bad).unwrap_err().to_string().contains("vertex 7"));
    }

    proptest! {
        #[test]
        fn whatever_is_accepted_can_be_measured(
            points in prop::collection::vec(prop::array::uniform3(-1e3..1e3f64), 0..12),
            triangles in prop::collection::vec(prop::array::uniform3(0u32..14), 0..12),
        ) {
            let vertices: Vec<_> = points.into_iter().map(DVec3::from).collect();
            if let Ok(mesh) = TriangleMesh::new(vertices, triangles) {
                prop_assert!(mesh.area() > 0.0 && mesh.signed_volume().is_finite() && !mesh.bounds().is_empty());
                prop_assert!(mesh.vertex_normals().iter().all(|n| n.is_finite()));
            }
        }
    }
}
