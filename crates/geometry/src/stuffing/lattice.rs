//! The body-centred cubic lattice: the corners and the middles of cubes.
//!
//! A node is linked to 14 others: along the axes to six of its own kind, by long edges as long as a cube, and along the
//! diagonals to eight of the other kind, by short edges √¾ as long. Two neighbouring middles and an edge of the square
//! between them span a tetrahedron; all tetrahedra are alike, and there are twelve per cube.

use glam::DVec3;
use rayon::prelude::*;

use crate::Aabb;

/// Steps from a node to its neighbours in half cubes: six long ones, then eight short ones. The step back from `d` is
/// `d ^ 1` among the long and `19 − d` among the short.
pub(super) const STEPS: [[i32; 3]; 14] = {
    let mut steps = [[0; 3]; 14];
    let mut d = 0;
    while d < 6 {
        steps[d][d / 2] = if d % 2 == 0 { 2 } else { -2 };
        d += 1;
    }
    while d < 14 {
        let mut axis = 0;
        while axis < 3 {
            steps[d][axis] = if (d - 6) >> axis & 1 == 1 { 1 } else { -1 };
            axis += 1;
        }
        d += 1;
    }
    steps
};

/// Whether a step goes along a long edge.
pub(super) const fn is_long(step: usize) -> bool {
    step < 6
}

/// The step back.
pub(super) const fn back(step: usize) -> usize {
    if is_long(step) { step ^ 1 } else { 19 - step }
}

/// The step that goes a way in half cubes.
pub(super) fn step_along(way: [i32; 3]) -> usize {
    match way.iter().position(|w| w.abs() == 2) {
        Some(axis) => 2 * axis + usize::from(way[axis] < 0),
        None => 6 + (0..3).map(|axis| usize::from(way[axis] > 0) << axis).sum::<usize>(),
    }
}

/// A lattice of cubes. Nodes are numbered, corners first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Lattice {
    origin: DVec3,
    spacing: f64,
    cubes: [usize; 3],
}

/// Cubes along a side of the blocks that are looked at together.
const BLOCK: usize = 4;

impl Lattice {
    /// A lattice of cubes with edges of `spacing` \[m\], with more than a cube beyond every side of a box \[m\]: centred
    /// on the box, then moved by `shift`, less than half a cube.
    pub(super) fn around(bounds: &Aabb, spacing: f64, shift: DVec3) -> Self {
        let cubes = (bounds.size() / spacing).ceil() + 4.0;
        let origin = bounds.center() + spacing * (shift - 0.5 * cubes);
        Self { origin, spacing, cubes: cubes.to_array().map(|n| n as usize) }
    }

    /// Such a lattice has fewer nodes than this.
    pub(super) fn count_around(bounds: &Aabb, spacing: f64) -> f64 {
        2.0 * ((bounds.size() / spacing).ceil() + 5.0).element_product()
    }

    pub(super) fn spacing(&self) -> f64 {
        self.spacing
    }

    fn corner_count(&self) -> usize {
        self.cubes.iter().map(|n| n + 1).product()
    }

    pub(super) fn node_count(&self) -> usize {
        self.corner_count() + self.cubes.iter().product::<usize>()
    }

    pub(super) fn corner(&self, [i, j, k]: [usize; 3]) -> usize {
        (k * (self.cubes[1] + 1) + j) * (self.cubes[0] + 1) + i
    }

    pub(super) fn middle(&self, [i, j, k]: [usize; 3]) -> usize {
        self.corner_count() + (k * self.cubes[1] + j) * self.cubes[0] + i
    }

    /// Where a node lies, in half cubes from the first corner: even numbers for corners, odd ones for middles.
    pub(super) fn coordinates(&self, node: usize) -> [i32; 3] {
        let corners = self.corner_count();
        let (number, [nx, ny, _], odd) = match node.checked_sub(corners) {
            None => (node, self.cubes.map(|n| n + 1), 0),
            Some(number) => (number, self.cubes, 1),
        };
        [number % nx, number / nx % ny, number / (nx * ny)].map(|i| 2 * i as i32 + odd)
    }

    /// The node at a position, if the lattice reaches there.
    fn node_at(&self, coordinates: [i32; 3]) -> Option<usize> {
        let odd = coordinates[0] & 1;
        let mut number = [0; 3];
        for axis in 0..3 {
            number[axis] = usize::try_from(coordinates[axis]).ok()? / 2;
            if number[axis] > self.cubes[axis] - odd as usize {
                return None;
            }
        }
        Some(if odd == 0 { self.corner(number) } else { self.middle(number) })
    }

    /// The neighbours of a node, step by step.
    pub(super) fn neighbours(&self, node: usize) -> impl Iterator<Item = (usize, usize)> {
        let coordinates = self.coordinates(node);
        let at = move |step: &[i32; 3]| self.node_at([0, 1, 2].map(|axis| coordinates[axis] + step[axis]));
        STEPS.iter().enumerate().filter_map(move |(d, step)| Some((d, at(step)?)))
    }

    /// The position of a node \[m\].
    pub(super) fn position(&self, node: usize) -> DVec3 {
        self.origin + 0.5 * self.spacing * DVec3::from(self.coordinates(node).map(f64::from))
    }

    /// The signed distance at every node \[m\]; infinite, with its sign, where the surface is farther away than `band`
    /// \[m\] from all nodes around.
    pub(super) fn sample(&self, signed_distance: &(impl Fn(DVec3) -> f64 + Sync), band: f64) -> Vec<f64> {
        let [bx, by, bz] = self.cubes.map(|n| n / BLOCK + 1);
        let edge = self.spacing * BLOCK as f64;
        let far = band + 0.5 * 3f64.sqrt() * edge;
        let of_block = |block: usize| {
            let [x, y, z] = [block % bx, block / bx % by, block / (bx * by)].map(|i| i as f64 + 0.5);
            signed_distance(self.origin + edge * DVec3::new(x, y, z))
        };
        let blocks: Vec<f64> = (0..bx * by * bz).into_par_iter().map(of_block).collect();
        let of_node = |node: usize| {
            let [x, y, z] = self.coordinates(node).map(|i| i as usize / (2 * BLOCK));
            let around = blocks[(z * by + y) * bx + x];
            if around.abs() > far { around.signum() * f64::INFINITY } else { signed_distance(self.position(node)) }
        };
        (0..self.node_count()).into_par_iter().map(of_node).collect()
    }

    /// Calls `f` with the corners of every tetrahedron and, for its two long edges, which end lies at an even position.
    /// Corners 0 and 1 are one long edge, 2 and 3 the other.
    pub(super) fn for_each_tet(&self, mut f: impl FnMut([usize; 4], [usize; 2])) {
        let [nx, ny, nz] = self.cubes;
        for k in 0..nz {
            for j in 0..ny {
                for i in 0..nx {
                    for axis in 0..3 {
                        self.tets_beyond([i, j, k], axis, &mut f);
                    }
                }
            }
        }
    }

    /// The four tetrahedra round the line from the middle of a cube to that of the next.
    fn tets_beyond(&self, cube: [usize; 3], axis: usize, f: &mut impl FnMut([usize; 4], [usize; 2])) {
        let mut next = cube;
        next[axis] += 1;
        if next[axis] == self.cubes[axis] {
            return;
        }
        let middles = [self.middle(cube), self.middle(next)];
        let even_middle = cube[axis] % 2;
        let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
        // The square between the cubes, its corners in order.
        let square = [[0, 0], [1, 0], [1, 1], [0, 1]].map(|[a, b]| {
            let mut corner = next;
            corner[u] += a;
            corner[v] += b;
            corner
        });
        for side in 0..4 {
            let (from, to) = (square[side], square[(side + 1) % 4]);
            let along = if side % 2 == 0 { u } else { v };
            let tet = [self.corner(from), self.corner(to), middles[0], middles[1]];
            f(tet, [from[along] % 2, 2 + even_middle]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{TetMesh, dihedral_angles, tet_volume};

    fn lattice() -> Lattice {
        Lattice::around(&Aabb::new(DVec3::ZERO, DVec3::new(1.0, 0.6, 0.3)), 0.25, DVec3::ZERO)
    }

    #[test]
    fn nodes_have_coordinates_positions_and_neighbours() {
        let lattice = lattice();
        for node in 0..lattice.node_count() {
            assert_eq!(lattice.node_at(lattice.coordinates(node)), Some(node));
            for (step, neighbour) in lattice.neighbours(node) {
                let way = lattice.position(neighbour) - lattice.position(node);
                let length = if is_long(step) { 0.25 } else { 0.25 * 0.75f64.sqrt() };
                assert!((way.length() - length).abs() < 1e-14);
                assert_eq!(step_along(STEPS[step]), step);
                assert!(lattice.neighbours(neighbour).any(|(d, there)| d == back(step) && there == node));
            }
        }
        assert_eq!(lattice.neighbours(lattice.middle([2, 2, 2])).count(), 14);
        assert!(
            lattice.node_count() as f64
                <= Lattice::count_around(&Aabb::new(DVec3::ZERO, DVec3::new(1.0, 0.6, 0.3)), 0.25)
        );
    }

    #[test]
    fn tetrahedra_are_alike_fill_space_and_match() {
        let lattice = lattice();
        let mut tets = Vec::new();
        lattice.for_each_tet(|tet, even| {
            for (pair, even) in [[0, 1], [2, 3]].into_iter().zip(even) {
                let other = pair[0] + pair[1] - even;
                let [a, b] = [even, other].map(|i| lattice.coordinates(tet[i]));
                let axis = (0..3).find(|&axis| a[axis] != b[axis]).unwrap();
                assert!(a[axis] / 2 % 2 == 0 && (a[axis] - b[axis]).abs() == 2);
            }
            tets.push(tet.map(|node| node as u32));
        });
        let positions: Vec<_> = (0..lattice.node_count()).map(|node| lattice.position(node)).collect();
        let mesh = TetMesh::new(positions, tets).unwrap();
        for corners in mesh.corners() {
            assert!((tet_volume(corners) - 0.25f64.powi(3) / 12.0).abs() < 1e-15);
            assert!(dihedral_angles(corners).iter().all(|a| (a - 60.0).abs() < 1e-6 || (a - 90.0).abs() < 1e-6));
        }
        crate::TriangleMesh::new(mesh.vertices().to_vec(), mesh.surface()).unwrap().closed().unwrap();
    }

    #[test]
    fn far_nodes_have_their_sign_only() {
        let bounds = Aabb::new(-DVec3::ONE, DVec3::ONE);
        let lattice = Lattice::around(&bounds, 0.03, DVec3::ZERO);
        let ball = |p: DVec3| p.length() - 0.9;
        let values = lattice.sample(&ball, 0.1);
        let mut exact = 0;
        for (node, value) in values.iter().enumerate() {
            let expected = ball(lattice.position(node));
            assert_eq!(value.signum(), expected.signum());
            assert!(value.is_infinite() && expected.abs() > 0.1 || *value == expected);
            exact += usize::from(value.is_finite());
        }
        assert!(exact * 2 < values.len());
    }
}
