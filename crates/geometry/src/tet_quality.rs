//! How well tetrahedra are shaped, and which of them hang together.

use glam::DVec3;
use rayon::prelude::*;

use crate::pieces::Pieces;
use crate::tet_mesh::{longest_edge, shared_faces};
use crate::{TetMesh, tet_volume};

/// A tetrahedron with an angle below this between two of its faces counts as a sliver \[degrees\].
pub const SLIVER: f64 = 5.0;

/// The shape of the tetrahedra of a mesh.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TetQuality {
    /// Smallest angle between two faces of a tetrahedron \[degrees\]; 70.5 in a regular one.
    pub min_dihedral: f64,
    /// Largest angle between two faces of a tetrahedron \[degrees\].
    pub max_dihedral: f64,
    /// The tetrahedron with the smallest angle; of several, the first.
    pub worst: usize,
    /// Number of tetrahedra with an angle below [`SLIVER`].
    pub slivers: usize,
    /// Largest [aspect ratio](aspect_ratio), dimensionless.
    pub max_aspect: f64,
}

/// The angles between the faces of a tetrahedron \[degrees\], along the edges from corner 0 to 1, 2, 3, from 1 to 2, 3,
/// and from 2 to 3.
#[must_use]
pub fn dihedral_angles(corners: [DVec3; 4]) -> [f64; 6] {
    let [a, b, c, d] = corners;
    // Each normal belongs to the face opposite the corner of the same index; all point out, or all in.
    let normals = [(c - b).cross(d - b), (d - a).cross(c - a), (b - a).cross(d - a), (c - a).cross(b - a)]
        .map(DVec3::normalize_or_zero);
    let between = |i: usize, j: usize| {
        let (n, m) = (normals[i], normals[j]);
        libm::atan2(n.cross(m).length(), -n.dot(m)).to_degrees()
    };
    // An edge lies between the faces opposite the other two corners.
    [between(2, 3), between(1, 3), between(1, 2), between(0, 3), between(0, 2), between(0, 1)]
}

/// Longest edge over the radius of the inscribed sphere, as a multiple of that ratio in a regular tetrahedron:
/// dimensionless, at least 1.
#[must_use]
pub fn aspect_ratio(corners: [DVec3; 4]) -> f64 {
    let [a, b, c, d] = corners;
    let faces = [[b, c, d], [a, d, c], [a, b, d], [a, c, b]];
    let area: f64 = faces.iter().map(|&face| crate::triangle::area_vector(face).length()).sum();
    let radius = 3.0 * tet_volume(corners).abs() / area;
    longest_edge(corners) / (24f64.sqrt() * radius)
}

impl TetMesh {
    /// How well the tetrahedra are shaped.
    #[must_use]
    pub fn quality(&self) -> TetQuality {
        let of_tet = |(tet, corners): (usize, &[u32; 4])| {
            let corners = corners.map(|v| self.vertices()[v as usize]);
            let angles = dihedral_angles(corners);
            let min_dihedral = angles.into_iter().fold(f64::INFINITY, f64::min);
            TetQuality {
                min_dihedral,
                max_dihedral: angles.into_iter().fold(0.0, f64::max),
                worst: tet,
                slivers: usize::from(min_dihedral < SLIVER),
                max_aspect: aspect_ratio(corners),
            }
        };
        self.tets().par_iter().enumerate().map(of_tet).reduce(TetQuality::none, TetQuality::and)
    }

    /// The number of the connected piece that each tetrahedron belongs to. Pieces are joined across faces and numbered
    /// in the order of their first tetrahedra.
    #[must_use]
    pub fn components(&self) -> Vec<u32> {
        let mut pieces = Pieces::new(self.tets().len());
        for [one, other] in shared_faces(self.tets()) {
            pieces.join(one, other);
        }
        pieces.numbers()
    }
}

impl TetQuality {
    fn none() -> Self {
        Self { min_dihedral: f64::INFINITY, max_dihedral: 0.0, worst: usize::MAX, slivers: 0, max_aspect: 0.0 }
    }

    /// Of two groups of tetrahedra together. Minima, maxima and counts do not depend on the order of grouping.
    fn and(self, other: Self) -> Self {
        let mine = (self.min_dihedral, self.worst) <= (other.min_dihedral, other.worst);
        let worse = if mine { self } else { other };
        Self {
            min_dihedral: worse.min_dihedral,
            max_dihedral: self.max_dihedral.max(other.max_dihedral),
            worst: worse.worst,
            slivers: self.slivers + other.slivers,
            max_aspect: self.max_aspect.max(other.max_aspect),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn regular() -> [DVec3; 4] {
        [[1.0, 1.0, 1.0], [1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]].map(DVec3::from)
    }

    #[test]
    fn a_regular_tetrahedron_is_the_best() {
        let third = (1.0f64 / 3.0).acos().to_degrees();
        assert!(dihedral_angles(regular()).iter().all(|a| (a - third).abs() < 1e-12));
        assert!((aspect_ratio(regular()) - 1.0).abs() < 1e-15);
    }

    #[test]
    fn the_corner_of_a_cube_has_three_right_angles() {
        let angles = dihedral_angles([DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z]);
        let slanted = (1.0 / 3f64.sqrt()).acos().to_degrees();
        for (angle, expected) in angles.into_iter().zip([90.0, 90.0, 90.0, slanted, slanted, slanted]) {
            assert!((angle - expected).abs() < 1e-12, "{angles:?}");
        }
    }

    #[test]
    fn a_mesh_names_its_worst_tetrahedron_and_counts_slivers() {
        let mut vertices = regular().to_vec();
        vertices.extend([
            DVec3::splat(5.0),
            DVec3::new(6.0, 5.0, 5.0),
            DVec3::new(5.0, 6.0, 5.0),
            DVec3::new(6.0, 6.0, 5.01),
        ]);
        let mesh = TetMesh::new(vertices, vec![[0, 1, 2, 3], [4, 5, 6, 7]]).unwrap();
        let quality = mesh.quality();
        assert_eq!((quality.worst, quality.slivers), (1, 1));
        assert!(quality.min_dihedral < 2.0 && quality.max_dihedral > 178.0 && quality.max_aspect > 30.0);
        assert_eq!(mesh.components(), [0, 1]);
    }

    #[test]
    fn blocks_hang_together_across_faces_only() {
        let block = TetMesh::block(DVec3::ZERO, DVec3::ONE, [2, 2, 2]);
        assert!(block.components().iter().all(|&piece| piece == 0));
        assert!((block.quality().min_dihedral - (1.0 / 3f64.sqrt()).acos().to_degrees()).abs() < 1e-9);
        let corners = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z, -DVec3::X, -DVec3::Y, -DVec3::Z].to_vec();
        let touching = TetMesh::new(corners, vec![[0, 1, 2, 3], [0, 4, 5, 6]]).unwrap();
        assert_eq!(touching.components(), [0, 1]);
    }

    proptest! {
        #[test]
        fn angles_agree_with_those_between_half_planes(v in prop::array::uniform4(prop::array::uniform3(-1.0..1.0f64))) {
            let corners = v.map(DVec3::from);
            prop_assume!(tet_volume(corners).abs() > 1e-3);
            let pairs = [(0, 1, 2, 3), (0, 2, 1, 3), (0, 3, 1, 2), (1, 2, 0, 3), (1, 3, 0, 2), (2, 3, 0, 1)];
            for (angle, (i, j, k, l)) in dihedral_angles(corners).into_iter().zip(pairs) {
                let along = (corners[j] - corners[i]).normalize();
                let across = |m: usize| (corners[m] - corners[i]).reject_from_normalized(along);
                prop_assert!((across(k).angle_between(across(l)).to_degrees() - angle).abs() < 1e-6);
            }
            prop_assert!(aspect_ratio(corners) >= 1.0);
        }
    }
}
