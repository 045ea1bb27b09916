//! Balls of layers about an icosahedron.

use std::collections::HashMap;

use glam::DVec3;

use crate::solids::icosahedron;
use crate::{TetMesh, TetMeshError};

/// A ball of radius 1 in layers.
pub(super) struct Onion {
    n: u32,
    vertices: Vec<DVec3>,
    tets: Vec<[u32; 4]>,
    /// Vertices by the corners of the icosahedron with their whole weights; looked up, never iterated.
    numbers: HashMap<Vec<(u32, u32)>, u32>,
}

/// A position in one of the twenty cones: weights of the centre and of three corners, with sum n.
type Weights = [u32; 4];

impl Onion {
    pub(super) fn new(n: u32) -> Self {
        let mut onion = Self { n, vertices: Vec::new(), tets: Vec::new(), numbers: HashMap::new() };
        let (corners, faces) = icosahedron();
        for face in faces {
            for weights in compositions(n - 1) {
                onion.tet(&corners, face, [0, 1, 2, 3].map(|i| plus(weights, &[i])));
            }
            if n > 1 {
                compositions(n - 2).for_each(|weights| onion.octahedron(&corners, face, weights));
            }
            if n > 2 {
                for weights in compositions(n - 3) {
                    onion.tet(&corners, face, [[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]].map(|t| plus(weights, &t)));
                }
            }
        }
        onion
    }

    fn tet(&mut self, corners: &[DVec3], face: [u32; 3], points: [Weights; 4]) {
        let tet = points.map(|weights| self.number(corners, face, weights));
        self.tets.push(tet);
    }

    /// Four tetrahedra round the shortest of the three diagonals.
    fn octahedron(&mut self, corners: &[DVec3], face: [u32; 3], weights: Weights) {
        let at = |onion: &mut Self, i: usize, j: usize| onion.number(corners, face, plus(weights, &[i, j]));
        // Opposite corners have no index in common.
        let pairs = [([0, 1], [2, 3]), ([0, 2], [1, 3]), ([0, 3], [1, 2])]
            .map(|(p, q)| [at(self, p[0], p[1]), at(self, q[0], q[1])]);
        let length = |pair: &[u32; 2]| self.vertices[pair[0] as usize].distance(self.vertices[pair[1] as usize]);
        let shortest = (0..3).min_by(|&i, &j| length(&pairs[i]).total_cmp(&length(&pairs[j]))).unwrap_or(0);
        let [p, q] = pairs[shortest];
        let ([a, c], [b, d]) = (pairs[(shortest + 1) % 3], pairs[(shortest + 2) % 3]);
        self.tets.extend([[a, b], [b, c], [c, d], [d, a]].map(|[r, s]| [p, q, r, s]));
    }

    fn number(&mut self, corners: &[DVec3], face: [u32; 3], weights: Weights) -> u32 {
        let [_, outer @ ..] = weights;
        let mut key: Vec<(u32, u32)> = face.into_iter().zip(outer).filter(|&(_, weight)| weight > 0).collect();
        key.sort_unstable();
        let direction: DVec3 = key.iter().map(|&(corner, weight)| f64::from(weight) * corners[corner as usize]).sum();
        let layer: u32 = outer.iter().sum();
        let n = self.n;
        let next = self.vertices.len() as u32;
        let vertices = &mut self.vertices;
        *self.numbers.entry(key).or_insert_with(|| {
            vertices.push(direction.normalize_or_zero() * (f64::from(layer) / f64::from(n)));
            next
        })
    }

    pub(super) fn mesh(self) -> Result<TetMesh, TetMeshError> {
        TetMesh::new(self.vertices, self.tets)
    }
}

/// All ways to write a number as a sum of four.
fn compositions(n: u32) -> impl Iterator<Item = Weights> {
    (0..=n).flat_map(move |a| (0..=n - a).flat_map(move |b| (0..=n - a - b).map(move |c| [a, b, c, n - a - b - c])))
}

fn plus(mut weights: Weights, indices: &[usize]) -> Weights {
    indices.iter().for_each(|&index| weights[index] += 1);
    weights
}
