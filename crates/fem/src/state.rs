//! The state of a body: what a checkpoint holds.

use crate::axes::Axes;
use crate::element::{EDGES, corner_gradients};
use crate::params::Order;
use crate::symmetric::Six;
use glam::{DQuat, DVec3};
use meniscus_geometry::TetMesh;
use serde::{Deserialize, Serialize};

/// What a checkpoint holds: plain arrays, two groups of them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// What only supports and fracture change.
    pub mesh: Mesh,
    /// What every step changes.
    pub motion: Motion,
}

/// Nodes and elements.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Mesh {
    /// Kind of the elements.
    pub order: Order,
    /// Places of the nodes at rest \[m\].
    pub rest_position: Vec<DVec3>,
    /// Nodes of the elements, 4 or 10 each: corners first, then the middles of the edges 01 02 03 12 13 23.
    pub elements: Vec<u32>,
    /// Number of each element in the body at first, before it broke into pieces.
    pub origin: Vec<u32>,
    /// Directions in which a node is held or led.
    pub fixed: Vec<Axes>,
    /// Whether a node lies on a crack.
    pub cracked: Vec<bool>,
}

/// Where the nodes are and what their elements remember.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Motion {
    /// Positions of the nodes \[m\].
    pub position: Vec<DVec3>,
    /// Velocities of the nodes \[m/s\].
    pub velocity: Vec<DVec3>,
    /// Where fixed nodes are at the end of the next step \[m\].
    pub target: Vec<DVec3>,
    /// Changes of velocity in the last step and in the one before \[m/s\]: the guess for the next.
    pub velocity_change: [Vec<DVec3>; 2],
    /// Rotations of the elements' points: the guess for the next.
    pub rotation: Vec<DQuat>,
    /// Plastic strain of the points (xx yy zz yz zx xy), dimensionless; empty without plasticity.
    pub plastic_strain: Vec<[f64; 6]>,
    /// Stress of the elements in their own frames (xx yy zz yz zx xy) \[Pa\], smoothed in time; empty without fracture.
    pub stress: Vec<[f64; 6]>,
    /// Springs that hold or pull.
    pub springs: Vec<Spring>,
    /// Ratio of stiffness to inertia for which the preconditioner was built \[s²\]; zero when it is to be built anew.
    pub preconditioned_for: f64,
}

/// A spring between a point of an element and a position.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Spring {
    /// Its number, chosen by whoever attached it: it stays when other springs go and when the body breaks.
    pub id: u64,
    /// The element.
    pub element: u32,
    /// Barycentric coordinates of the point in it, dimensionless.
    pub barycentric: [f64; 4],
    /// The position \[m\].
    pub anchor: DVec3,
    /// Stiffness \[N/m\].
    pub stiffness: f64,
    /// Damping \[N·s/m\].
    pub damping: f64,
}

impl Mesh {
    /// The mesh of a body at rest; quadratic elements get nodes in the middles of the edges, after the corners.
    pub(crate) fn new(tets: &TetMesh, order: Order) -> Self {
        let mut rest_position = tets.vertices().to_vec();
        let elements = match order {
            Order::Linear => tets.tets().as_flattened().to_vec(),
            Order::Quadratic => with_middles(tets.tets(), &mut rest_position),
        };
        let nodes = rest_position.len();
        // Vertices of no tetrahedron have no mass; they stay where they are.
        let mut fixed = vec![Axes::ALL; nodes];
        elements.iter().for_each(|&node| fixed[node as usize] = Axes::NONE);
        let origin = (0..tets.tets().len() as u32).collect();
        Self { order, rest_position, elements, origin, fixed, cracked: vec![false; nodes] }
    }

    /// Number of nodes.
    #[must_use]
    pub fn nodes(&self) -> usize {
        self.rest_position.len()
    }

    /// Number of elements.
    #[must_use]
    pub fn element_count(&self) -> usize {
        self.elements.len() / self.order.nodes()
    }

    /// The nodes of an element.
    #[must_use]
    pub fn element(&self, number: usize) -> &[u32] {
        let stride = self.order.nodes();
        &self.elements[number * stride..(number + 1) * stride]
    }

    /// The four corners of an element.
    pub(crate) fn corners(&self, number: usize) -> [u32; 4] {
        let nodes = self.element(number);
        [nodes[0], nodes[1], nodes[2], nodes[3]]
    }

    fn is_sound(&self) -> bool {
        let nodes = self.nodes();
        let stride = self.order.nodes();
        let position = |node: u32| self.rest_position[node as usize];
        self.fixed.len() == nodes
            && self.cracked.len() == nodes
            && self.origin.len() == self.element_count()
            && self.elements.len().is_multiple_of(stride)
            && !self.elements.is_empty()
            && self.elements.iter().all(|&node| (node as usize) < nodes)
            && self.rest_position.iter().all(|p| p.is_finite())
            && (0..self.element_count()).all(|e| corner_gradients(self.corners(e).map(position)).1 > 0.0)
    }
}

/// Elements of ten nodes; appends the middles of the edges to the positions, in the order in which edges first appear.
fn with_middles(tets: &[[u32; 4]], positions: &mut Vec<DVec3>) -> Vec<u32> {
    let edge = |tet: &[u32; 4], k: usize| {
        let [a, b] = EDGES[k].map(|corner| tet[corner]);
        [a.min(b), a.max(b)]
    };
    // Sorted by edge; of each edge the first use gives the number.
    let mut uses: Vec<([u32; 2], u32)> = Vec::with_capacity(6 * tets.len());
    for (number, tet) in tets.iter().enumerate() {
        uses.extend((0..6).map(|k| (edge(tet, k), (6 * number + k) as u32)));
    }
    uses.sort_unstable();
    let mut first: Vec<u32> = vec![0; uses.len()];
    for group in uses.chunk_by(|a, b| a.0 == b.0) {
        group.iter().for_each(|&(_, at)| first[at as usize] = group[0].1);
    }
    let mut node: Vec<u32> = vec![0; uses.len()];
    let mut elements = Vec::with_capacity(10 * tets.len());
    for (number, tet) in tets.iter().enumerate() {
        elements.extend(tet);
        for k in 0..6 {
            let at = 6 * number + k;
            if first[at] as usize == at {
                let [a, b] = edge(tet, k).map(|corner| positions[corner as usize]);
                node[at] = positions.len() as u32;
                positions.push(0.5 * (a + b));
            }
            node[at] = node[first[at] as usize];
            elements.push(node[at]);
        }
    }
    elements
}

impl Motion {
    /// Becomes a copy of another, in the memory that is there.
    pub(crate) fn copy_from(&mut self, other: &Self) {
        let Self {
            position,
            velocity,
            target,
            velocity_change,
            rotation,
            plastic_strain,
            stress,
            springs,
            preconditioned_for,
        } = self;
        let [last, before] = velocity_change;
        position.clone_from(&other.position);
        velocity.clone_from(&other.velocity);
        target.clone_from(&other.target);
        last.clone_from(&other.velocity_change[0]);
        before.clone_from(&other.velocity_change[1]);
        rotation.clone_from(&other.rotation);
        plastic_strain.clone_from(&other.plastic_strain);
        stress.clone_from(&other.stress);
        springs.clone_from(&other.springs);
        *preconditioned_for = other.preconditioned_for;
    }
}

impl State {
    /// A body at rest.
    pub(crate) fn at_rest(mesh: Mesh, plastic: bool, brittle: bool) -> Self {
        let (nodes, elements) = (mesh.nodes(), mesh.element_count());
        let points = elements * mesh.order.points();
        let motion = Motion {
            position: mesh.rest_position.clone(),
            velocity: vec![DVec3::ZERO; nodes],
            target: mesh.rest_position.clone(),
            velocity_change: [vec![DVec3::ZERO; nodes], vec![DVec3::ZERO; nodes]],
            rotation: vec![DQuat::IDENTITY; points],
            plastic_strain: vec![Six::default(); if plastic { points } else { 0 }],
            stress: vec![Six::default(); if brittle { elements } else { 0 }],
            springs: Vec::new(),
            preconditioned_for: 0.0,
        };
        Self { mesh, motion }
    }

    /// Whether the arrays fit each other: nothing that a checkpoint can hold makes a step panic.
    pub(crate) fn is_sound(&self) -> bool {
        let Self { mesh, motion } = self;
        let (nodes, elements) = (mesh.nodes(), mesh.element_count());
        let points = elements * mesh.order.points();
        let [last, before] = &motion.velocity_change;
        let per_node = [&motion.position, &motion.velocity, &motion.target, last, before];
        mesh.is_sound()
            && per_node.iter().all(|array| array.len() == nodes)
            && motion.rotation.len() == points
            && [0, points].contains(&motion.plastic_strain.len())
            && [0, elements].contains(&motion.stress.len())
            && motion.springs.iter().all(|spring| (spring.element as usize) < elements)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn middles_are_shared_along_edges() {
        let block = TetMesh::block(DVec3::ZERO, DVec3::ONE, [2, 2, 2]);
        let mesh = Mesh::new(&block, Order::Quadratic);
        // V − E + F − T = 1 for a ball, with 4 T = 2 F − surface.
        let (v, t, s) = (block.vertices().len(), block.tets().len(), block.surface().len());
        let edges = v + (4 * t + s) / 2 - t - 1;
        assert_eq!(mesh.nodes(), v + edges);
        for e in 0..mesh.element_count() {
            let nodes = mesh.element(e);
            for (k, [a, b]) in EDGES.into_iter().enumerate() {
                let position = |n: usize| mesh.rest_position[nodes[n] as usize];
                assert_eq!(position(4 + k), 0.5 * (position(a) + position(b)));
            }
        }
        assert!(State::at_rest(mesh, true, true).is_sound());
    }

    #[test]
    fn broken_states_are_refused() {
        let mesh = Mesh::new(&TetMesh::block(DVec3::ZERO, DVec3::ONE, [1, 1, 1]), Order::Linear);
        let good = State::at_rest(mesh, false, false);
        assert!(good.is_sound());
        let broken = |change: fn(&mut State)| {
            let mut state = good.clone();
            change(&mut state);
            !state.is_sound()
        };
        assert!(broken(|s| s.mesh.elements[3] = 99));
        assert!(broken(|s| s.mesh.elements.truncate(3)));
        assert!(broken(|s| s.mesh.elements.swap(0, 1)));
        assert!(broken(|s| s.motion.velocity.truncate(3)));
        assert!(broken(|s| s.motion.stress.push([0.0; 6])));
        assert!(broken(|s| s.mesh.rest_position[0].x = f64::NAN));
    }
}
