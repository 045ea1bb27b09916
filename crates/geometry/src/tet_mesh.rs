//! Tetrahedral meshes: checked, all turned the same way round, with their surface.

use glam::DVec3;
use serde::Serialize;

/// A tetrahedral mesh. Indices have been checked, coordinates are finite, every tetrahedron has a positive volume:
/// (b − a) × (c − a) · (d − a) > 0.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TetMesh {
    vertices: Vec<DVec3>,
    tets: Vec<[u32; 4]>,
}

/// Why vertices and tetrahedra are not a mesh.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TetMeshError {
    /// There is no tetrahedron.
    #[error("the mesh has no tetrahedra")]
    Empty,
    /// A coordinate is infinite or not a number.
    #[error("vertex {vertex} is not finite")]
    BadVertex {
        /// Number of the vertex, from 0.
        vertex: usize,
    },
    /// A tetrahedron names a vertex that does not exist, or one twice.
    #[error("tetrahedron {tet} names vertex {index}, but there are {vertices} vertices")]
    IndexOutOfRange {
        /// Number of the tetrahedron, from 0.
        tet: usize,
        /// The index.
        index: u32,
        /// Number of vertices.
        vertices: usize,
    },
    /// A tetrahedron has no volume.
    #[error("tetrahedron {tet} at {} m is flat: its volume is {volume:.3e} m³", crate::mesh::rounded(*position))]
    Flat {
        /// Number of the tetrahedron, from 0.
        tet: usize,
        /// Its centre \[m\].
        position: DVec3,
        /// Its volume \[m³\].
        volume: f64,
    },
}

/// Volumes below this part of the cube of the longest edge count as none.
const FLAT: f64 = 1e-12;

impl TetMesh {
    /// Checks a mesh and turns its tetrahedra to positive volume.
    ///
    /// # Errors
    /// Names the first vertex or tetrahedron that cannot be used.
    pub fn new(vertices: Vec<DVec3>, mut tets: Vec<[u32; 4]>) -> Result<Self, TetMeshError> {
        if tets.is_empty() {
            return Err(TetMeshError::Empty);
        }
        if let Some(vertex) = vertices.iter().position(|v| !v.is_finite()) {
            return Err(TetMeshError::BadVertex { vertex });
        }
        for (number, tet) in tets.iter_mut().enumerate() {
            if let Some(&index) = tet.iter().find(|&&i| i as usize >= vertices.len()) {
                return Err(TetMeshError::IndexOutOfRange { tet: number, index, vertices: vertices.len() });
            }
            let corners = tet.map(|i| vertices[i as usize]);
            let volume = tet_volume(corners);
            let longest = longest_edge(corners);
            if volume.abs() <= FLAT * longest * longest * longest {
                let position = corners.iter().sum::<DVec3>() / 4.0;
                return Err(TetMeshError::Flat { tet: number, position, volume });
            }
            if volume < 0.0 {
                tet.swap(2, 3);
            }
        }
        Ok(Self { vertices, tets })
    }

    /// Vertices \[m\].
    #[must_use]
    pub fn vertices(&self) -> &[DVec3] {
        &self.vertices
    }

    /// Corners of the tetrahedra.
    #[must_use]
    pub fn tets(&self) -> &[[u32; 4]] {
        &self.tets
    }

    /// Corner positions of each tetrahedron \[m\].
    pub fn corners(&self) -> impl ExactSizeIterator<Item = [DVec3; 4]> {
        self.tets.iter().map(|tet| tet.map(|i| self.vertices[i as usize]))
    }

    /// Volume \[m³\].
    #[must_use]
    pub fn volume(&self) -> f64 {
        self.corners().map(tet_volume).sum()
    }

    /// Triangles that belong to one tetrahedron only, counter-clockwise seen from outside, in a fixed order.
    #[must_use]
    pub fn surface(&self) -> Vec<[u32; 3]> {
        surface_of(&self.tets)
    }

    /// A box along the axes of n cells, five tetrahedra each, the split alternating so that faces match.
    ///
    /// # Panics
    /// If a count is zero or the box is empty.
    #[must_use]
    pub fn block(min: DVec3, max: DVec3, [nx, ny, nz]: [u32; 3]) -> Self {
        assert!(nx > 0 && ny > 0 && nz > 0 && min.cmplt(max).all(), "an empty block");
        let at = |x: u32, y: u32, z: u32| (z * (ny + 1) + y) * (nx + 1) + x;
        let part = |k: u32, n: u32| f64::from(k) / f64::from(n);
        let mut vertices = Vec::new();
        let mut tets = Vec::new();
        for z in 0..=nz {
            for y in 0..=ny {
                for x in 0..=nx {
                    vertices.push(min + (max - min) * DVec3::new(part(x, nx), part(y, ny), part(z, nz)));
                }
            }
        }
        for z in 0..nz {
            for y in 0..ny {
                for x in 0..nx {
                    // Corner k has the bits x, y, z; odd cells are mirrored in x.
                    let odd = (x + y + z) % 2;
                    let corner = |k: u32| at(x + ((k & 1) ^ odd), y + (k >> 1 & 1), z + (k >> 2 & 1));
                    for tet in [[0, 1, 2, 4], [3, 1, 2, 7], [5, 1, 4, 7], [6, 2, 4, 7], [1, 2, 4, 7]] {
                        tets.push(tet.map(corner));
                    }
                }
            }
        }
        match Self::new(vertices, tets) {
            Ok(mesh) => mesh,
            Err(error) => unreachable!("a block is a mesh: {error}"),
        }
    }
}

/// Volume of a tetrahedron \[m³\]; negative if it is turned over.
#[must_use]
pub fn tet_volume([a, b, c, d]: [DVec3; 4]) -> f64 {
    (b - a).cross(c - a).dot(d - a) / 6.0
}

pub(crate) fn longest_edge(corners: [DVec3; 4]) -> f64 {
    let mut longest = 0.0f64;
    for (i, a) in corners.iter().enumerate() {
        for b in &corners[..i] {
            longest = longest.max(a.distance(*b));
        }
    }
    longest
}

/// Triangles of positively turned tetrahedra that belong to one of them only, in the order of tetrahedra and faces.
#[must_use]
pub fn surface_of(tets: &[[u32; 4]]) -> Vec<[u32; 3]> {
    surface_faces(tets).into_iter().map(|(_, face)| face).collect()
}

/// As [`surface_of`], each with the tetrahedron that it belongs to.
pub(crate) fn surface_faces(tets: &[[u32; 4]]) -> Vec<(u32, [u32; 3])> {
    // Each face seen from outside its tetrahedron.
    let faces = |t: &[u32; 4]| [[t[1], t[2], t[3]], [t[0], t[3], t[2]], [t[0], t[1], t[3]], [t[0], t[2], t[1]]];
    let mut all: Vec<([u32; 3], u32)> = Vec::with_capacity(tets.len() * 4);
    for (tet, corners) in tets.iter().enumerate() {
        for (k, face) in faces(corners).into_iter().enumerate() {
            let mut key = face;
            key.sort_unstable();
            all.push((key, (tet * 4 + k) as u32));
        }
    }
    all.sort_unstable();
    let mut outside: Vec<u32> = Vec::new();
    for group in all.chunk_by(|a, b| a.0 == b.0) {
        if let [(_, number)] = group {
            outside.push(*number);
        }
    }
    outside.sort_unstable();
    outside.iter().map(|&n| (n / 4, faces(&tets[n as usize / 4])[n as usize % 4])).collect()
}

/// Pairs of tetrahedra that share a face.
pub(crate) fn shared_faces(tets: &[[u32; 4]]) -> Vec<[u32; 2]> {
    let mut faces: Vec<([u32; 3], u32)> = Vec::with_capacity(4 * tets.len());
    for (tet, &corners) in (0..).zip(tets) {
        let mut sorted = corners;
        sorted.sort_unstable();
        let [a, b, c, d] = sorted;
        faces.extend([[b, c, d], [a, c, d], [a, b, d], [a, b, c]].map(|face| (face, tet)));
    }
    faces.sort_unstable();
    let shared = faces.windows(2).filter(|pair| pair[0].0 == pair[1].0);
    shared.map(|pair| [pair[0].1, pair[1].1]).collect()
}

/// How tetrahedra can meet wrongly at a face that they share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FaceDefect {
    /// More than two have it.
    Crowded,
    /// Two have it and lie on the same side of it.
    Folded,
}

/// The first of some positively turned tetrahedra that meets those before it wrongly.
pub(crate) fn wrong_face(tets: &[[u32; 4]]) -> Option<(usize, FaceDefect)> {
    // Faces by their sorted vertices; with each its tetrahedron and whether it runs round it evenly, seen from outside.
    let mut faces: Vec<([u32; 3], u32, bool)> = Vec::with_capacity(4 * tets.len());
    for (tet, &[a, b, c, d]) in (0..).zip(tets) {
        faces.extend([[b, c, d], [a, d, c], [a, b, d], [a, c, b]].map(|[p, q, r]| {
            let mut sorted = [p, q, r];
            sorted.sort_unstable();
            (sorted, tet, [p, q, r] == sorted || [q, r, p] == sorted || [r, p, q] == sorted)
        }));
    }
    faces.sort_unstable();
    let defect = |group: &[([u32; 3], u32, bool)]| match group {
        [_, _, third, ..] => Some((third.1 as usize, FaceDefect::Crowded)),
        [first, second] if first.2 == second.2 => Some((second.1 as usize, FaceDefect::Folded)),
        _ => None,
    };
    faces.chunk_by(|a, b| a.0 == b.0).filter_map(defect).min_by_key(|(tet, _)| *tet)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TriangleMesh;

    #[test]
    fn a_block_has_its_volume_and_a_closed_surface() {
        let mesh = TetMesh::block(DVec3::ZERO, DVec3::new(2.0, 1.0, 0.5), [4, 3, 2]);
        assert_eq!(mesh.tets().len(), 4 * 3 * 2 * 5);
        assert!((mesh.volume() - 1.0).abs() < 1e-14);
        let surface = TriangleMesh::new(mesh.vertices().to_vec(), mesh.surface()).unwrap();
        surface.closed().unwrap();
        assert_eq!(mesh.surface().len(), 2 * 2 * (4 * 3 + 3 * 2 + 4 * 2));
        assert!((surface.signed_volume() - 1.0).abs() < 1e-14, "the surface faces outwards");
    }

    #[test]
    fn inverted_tetrahedra_are_turned_and_bad_ones_named() {
        let corners = vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z, DVec3::new(1.0, 1.0, 0.0)];
        let mesh = TetMesh::new(corners.clone(), vec![[0, 2, 1, 3]]).unwrap();
        assert!(mesh.volume() > 0.0);
        let error = |tets| TetMesh::new(corners.clone(), tets).unwrap_err();
        assert_eq!(error(vec![]), TetMeshError::Empty);
        assert!(matches!(
            error(vec![[0, 1, 2, 3], [0, 1, 2, 9]]),
            TetMeshError::IndexOutOfRange { tet: 1, index: 9, .. }
        ));
        assert!(matches!(error(vec![[0, 1, 2, 4]]), TetMeshError::Flat { tet: 0, .. }));
        assert!(matches!(error(vec![[0, 1, 1, 3]]), TetMeshError::Flat { tet: 0, .. }));
        let turned = TetMesh::new(corners.clone(), vec![[0, 1, 2, 3], [1, 4, 2, 3]]).unwrap();
        assert_eq!(wrong_face(turned.tets()), None);
        let mut broken = corners.clone();
        broken[1].y = f64::NAN;
        assert_eq!(TetMesh::new(broken, vec![[0, 1, 2, 3]]).unwrap_err(), TetMeshError::BadVertex { vertex: 1 });
    }

    #[test]
    fn tetrahedra_that_share_a_face_lie_on_both_sides_of_it() {
        let corners = vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z, -DVec3::Z, 2.0 * DVec3::Z];
        let wrong = |tets: &[[u32; 4]]| wrong_face(TetMesh::new(corners.clone(), tets.to_vec()).unwrap().tets());
        assert_eq!(wrong(&[[0, 1, 2, 3], [0, 1, 2, 4]]), None);
        assert_eq!(wrong(&[[0, 1, 2, 3], [0, 1, 2, 5]]), Some((1, FaceDefect::Folded)));
        assert_eq!(wrong(&[[0, 1, 2, 3], [0, 1, 2, 4], [2, 1, 0, 5]]), Some((2, FaceDefect::Crowded)));
        assert_eq!(wrong(&[[0, 1, 2, 3], [1, 0, 2, 3]]), Some((1, FaceDefect::Folded)));
        assert_eq!(wrong_face(TetMesh::block(DVec3::ZERO, DVec3::ONE, [3, 4, 5]).tets()), None);
    }
}
