//! What follows from nodes and elements: masses, gradients, who touches whom, the pattern of the matrix.

use crate::element::{FACES, corner_gradients};
use crate::linear::{Matrix, Piece, ROWS};
use crate::state::Mesh;
use glam::{DMat3, DVec3};
use rayon::prelude::*;

/// No element.
pub(crate) const NONE: u32 = u32::MAX;

/// An element and the index of a node in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Incident {
    pub(crate) element: u32,
    pub(crate) node: u32,
}

/// What follows from the mesh. Never stored: a checkpoint rebuilds it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Topology {
    /// Gradients of the corners of each element \[1/m\].
    pub(crate) gradients: Vec<[DVec3; 4]>,
    /// Volumes of the elements at rest \[m³\].
    pub(crate) volume: Vec<f64>,
    /// Masses of the nodes \[kg\].
    pub(crate) mass: Vec<f64>,
    /// Elements across the four faces of each, or [`NONE`].
    pub(crate) neighbours: Vec<[u32; 4]>,
    /// Elements of each node, in rising order.
    pub(crate) incidence: Incidence,
    /// For each element of each row of each piece: where in the row its nodes are.
    pub(crate) slots: Vec<Vec<u16>>,
}

/// Elements of each node.
#[derive(Debug, Clone, Default)]
pub(crate) struct Incidence {
    start: Vec<u32>,
    items: Vec<Incident>,
}

impl Incidence {
    pub(crate) fn new(mesh: &Mesh) -> Self {
        let mut start = vec![0u32; mesh.nodes() + 1];
        mesh.elements.iter().for_each(|&node| start[node as usize + 1] += 1);
        (0..mesh.nodes()).for_each(|node| start[node + 1] += start[node]);
        let mut next = start.clone();
        let mut items = vec![Incident { element: 0, node: 0 }; mesh.elements.len()];
        let stride = mesh.order.nodes();
        for (at, &node) in mesh.elements.iter().enumerate() {
            let slot = &mut next[node as usize];
            items[*slot as usize] = Incident { element: (at / stride) as u32, node: (at % stride) as u32 };
            *slot += 1;
        }
        Self { start, items }
    }

    /// The elements of a node.
    #[inline(always)]
    pub(crate) fn of(&self, node: usize) -> &[Incident] {
        &self.items[self.start[node] as usize..self.start[node + 1] as usize]
    }
}

/// A node has more neighbours than the matrix can count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Crowded {
    pub(crate) node: usize,
    pub(crate) neighbours: usize,
}

impl Topology {
    /// Everything that follows from a mesh, and the pattern of its matrix.
    pub(crate) fn new(mesh: &Mesh, density: f64) -> Result<(Self, Matrix<DMat3>), Crowded> {
        let (gradients, volume) = geometry(mesh);
        let mut topology = Self {
            gradients,
            volume,
            neighbours: neighbours(mesh),
            incidence: Incidence::new(mesh),
            ..Self::default()
        };
        topology.mass = topology.masses(mesh, density);
        let pieces = mesh.nodes().div_ceil(ROWS);
        let made: Result<Vec<_>, Crowded> = (0..pieces).into_par_iter().map(|n| topology.piece(mesh, n)).collect();
        let (pieces, slots) = made?.into_iter().unzip();
        topology.slots = slots;
        Ok((topology, Matrix { pieces }))
    }

    /// Follows a change of the nodes of some elements. Only pieces with `touched` nodes are built anew: all nodes that
    /// those elements had before or have now.
    pub(crate) fn follow(&mut self, mesh: &Mesh, density: f64, touched: &[u32], matrix: &mut Matrix<DMat3>) {
        self.incidence = Incidence::new(mesh);
        self.mass = self.masses(mesh, density);
        let pieces = mesh.nodes().div_ceil(ROWS);
        let mut stale = vec![false; pieces];
        touched.iter().for_each(|&node| stale[node as usize / ROWS] = true);
        matrix.pieces.resize_with(pieces, Piece::default);
        self.slots.resize_with(pieces, Vec::new);
        for number in (0..pieces).filter(|&n| stale[n]) {
            // Splitting nodes only removes neighbours, so that no row becomes crowded.
            if let Ok((piece, slots)) = self.piece(mesh, number) {
                (matrix.pieces[number], self.slots[number]) = (piece, slots);
            }
        }
    }

    /// Takes up another density \[kg/m³\].
    pub(crate) fn weigh(&mut self, mesh: &Mesh, density: f64) {
        self.mass = self.masses(mesh, density);
    }

    /// Masses of the nodes: shares of the elements around them.
    fn masses(&self, mesh: &Mesh, density: f64) -> Vec<f64> {
        let share = |i: &Incident| self.volume[i.element as usize] * mesh.order.mass_share(i.node as usize);
        (0..mesh.nodes()).map(|node| density * self.incidence.of(node).iter().map(share).sum::<f64>()).collect()
    }

    /// The pattern of a piece of rows, and where in them the elements' nodes go.
    fn piece(&self, mesh: &Mesh, number: usize) -> Result<(Piece<DMat3>, Vec<u16>), Crowded> {
        let mut piece = Piece { start: vec![0], columns: Vec::new(), values: Vec::new() };
        let mut slots = Vec::new();
        let mut row: Vec<u32> = Vec::new();
        for node in number * ROWS..((number + 1) * ROWS).min(mesh.nodes()) {
            row.clear();
            row.push(node as u32);
            let elements = self.incidence.of(node);
            elements.iter().for_each(|i| row.extend(mesh.element(i.element as usize)));
            row.sort_unstable();
            row.dedup();
            if row.len() > usize::from(u16::MAX) {
                return Err(Crowded { node, neighbours: row.len() });
            }
            let index = |other: &u32| row.binary_search(other).map_or(0, |k| k as u16);
            elements.iter().for_each(|i| slots.extend(mesh.element(i.element as usize).iter().map(index)));
            piece.columns.extend(&row);
            piece.start.push(piece.columns.len() as u32);
        }
        piece.values.resize(piece.columns.len(), DMat3::ZERO);
        Ok((piece, slots))
    }
}

fn geometry(mesh: &Mesh) -> (Vec<[DVec3; 4]>, Vec<f64>) {
    let position = |node: u32| mesh.rest_position[node as usize];
    (0..mesh.element_count()).map(|e| corner_gradients(mesh.corners(e).map(position))).unzip()
}

/// The element across each face of each element.
fn neighbours(mesh: &Mesh) -> Vec<[u32; 4]> {
    let mut faces: Vec<([u32; 3], u32)> = Vec::with_capacity(4 * mesh.element_count());
    for element in 0..mesh.element_count() {
        let corners = mesh.corners(element);
        for (side, face) in FACES.iter().enumerate() {
            let mut key = face.map(|corner| corners[corner]);
            key.sort_unstable();
            faces.push((key, (4 * element + side) as u32));
        }
    }
    faces.sort_unstable();
    let mut neighbours = vec![[NONE; 4]; mesh.element_count()];
    for group in faces.chunk_by(|a, b| a.0 == b.0) {
        // A face of three elements, in a mesh that overlaps itself, joins none of them.
        if let [(_, a), (_, b)] = *group {
            neighbours[a as usize / 4][a as usize % 4] = b / 4;
            neighbours[b as usize / 4][b as usize % 4] = a / 4;
        }
    }
    neighbours
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Order;
    use meniscus_geometry::TetMesh;

    #[test]
    fn masses_add_up_and_faces_pair_up() {
        let block = TetMesh::block(DVec3::ZERO, DVec3::new(2.0, 1.0, 0.5), [5, 4, 3]);
        for order in [Order::Linear, Order::Quadratic] {
            let mesh = Mesh::new(&block, order);
            let (topology, matrix) = Topology::new(&mesh, 700.0).unwrap();
            assert!((topology.mass.iter().sum::<f64>() - 700.0).abs() < 1e-10);
            assert!(topology.mass.iter().all(|&m| m > 0.0));
            let outside = topology.neighbours.iter().flatten().filter(|&&n| n == NONE).count();
            assert_eq!(outside, block.surface().len());
            for (e, sides) in topology.neighbours.iter().enumerate() {
                for &other in sides.iter().filter(|&&other| other != NONE) {
                    assert!(topology.neighbours[other as usize].contains(&(e as u32)));
                }
            }
            // Every row names itself and only nodes that share an element.
            let rows = matrix.pieces.iter().flat_map(Piece::rows).count();
            assert_eq!(rows, mesh.nodes());
            for (i, (columns, _)) in matrix.pieces.iter().flat_map(Piece::rows).enumerate() {
                assert!(columns.is_sorted() && columns.contains(&(i as u32)));
            }
        }
    }
}
