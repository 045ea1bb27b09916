//! Opening a body along faces: nodes are duplicated, elements stay whole.
//!
//! To split a node along a plane, its elements are told apart by the side of their centres. Those in front get a copy of the
//! node, so that faces between the two sides come apart. Then every node around is looked after: elements that no longer
//! hang together through faces at a node (its fans) get a node each. Masses follow from the elements around each node;
//! velocities are copied, so that momentum is unchanged.

use crate::element::FACES;
use crate::fracture::node_tension;
use crate::state::{Mesh, State};
use crate::surface::Face;
use crate::topology::{Incidence, NONE, Topology};
use glam::DVec3;

/// Splits nodes of a body.
pub(crate) struct Cutter<'a> {
    state: &'a mut State,
    neighbours: Vec<[u32; 4]>,
    incidence: Incidence,
    min_piece: usize,
    before: Option<Mesh>,
    touched: Vec<u32>,
    opened: Vec<Face>,
    cracks: u32,
}

/// What has changed.
pub(crate) struct Cut {
    /// The mesh before.
    pub(crate) before: Mesh,
    /// Elements across faces now.
    pub(crate) neighbours: Vec<[u32; 4]>,
    /// Nodes whose elements have changed, or the nodes of whose elements have.
    pub(crate) touched: Vec<u32>,
    /// Faces that were inside.
    pub(crate) opened: Vec<Face>,
}

impl<'a> Cutter<'a> {
    pub(crate) fn new(state: &'a mut State, topology: &Topology, min_piece: usize) -> Self {
        Self {
            state,
            neighbours: topology.neighbours.clone(),
            incidence: topology.incidence.clone(),
            min_piece,
            before: None,
            touched: Vec::new(),
            opened: Vec::new(),
            cracks: 0,
        }
    }

    /// Nodes split so far.
    pub(crate) fn cracks(&self) -> u32 {
        self.cracks
    }

    /// The corners of an element.
    pub(crate) fn corners(&self, element: u32) -> [u32; 4] {
        self.state.mesh.corners(element as usize)
    }

    /// Whether a node lies on a crack.
    pub(crate) fn is_cracked(&self, node: u32) -> bool {
        self.state.mesh.cracked[node as usize]
    }

    /// The largest tension around a node \[Pa\], and its direction.
    pub(crate) fn tension(&self, topology: &Topology, points: usize, node: u32) -> (f64, DVec3) {
        let motion = &self.state.motion;
        let elements = self.incidence.of(node as usize).iter().map(|i| i.element as usize);
        node_tension(topology, elements, |element| motion.rotation[element * points], &motion.stress)
    }

    /// What has changed, if anything.
    pub(crate) fn finish(self) -> Option<Cut> {
        let Self { neighbours, before, mut touched, mut opened, .. } = self;
        touched.sort_unstable();
        touched.dedup();
        opened.sort_unstable();
        before.map(|before| Cut { before, neighbours, touched, opened })
    }

    /// Splits a node along the plane with this normal. Says whether that was possible.
    pub(crate) fn split(&mut self, node: u32, normal: DVec3) -> bool {
        let around: Vec<u32> = self.incidence.of(node as usize).iter().map(|i| i.element).collect();
        let front = self.in_front(node, normal, &around);
        if front.is_empty() || front.len() == around.len() || self.leaves_crumbs(node, &around, &front) {
            return false;
        }
        self.before.get_or_insert_with(|| self.state.mesh.clone());
        self.touch(&around);
        let copy = self.duplicate(node);
        front.iter().for_each(|&element| self.replace(element, node, copy));
        self.open_faces(&around);
        self.part_fans(&around);
        self.touch(&around);
        self.cracks += 1;
        true
    }

    /// The elements whose centres are in front of the plane through a node.
    fn in_front(&self, node: u32, normal: DVec3, around: &[u32]) -> Vec<u32> {
        let position = &self.state.motion.position;
        let height = |element: u32| {
            let corners = self.corners(element).map(|corner| position[corner as usize]);
            normal.dot(0.25 * corners.iter().sum::<DVec3>() - position[node as usize])
        };
        around.iter().copied().filter(|&element| height(element) > 0.0).collect()
    }

    /// Whether a piece of too few elements would come off.
    fn leaves_crumbs(&self, node: u32, around: &[u32], front: &[u32]) -> bool {
        let is_front = |element: u32| front.binary_search(&element).is_ok();
        let is_around = |element: u32| around.binary_search(&element).is_ok();
        // Faces at the node between front and back come apart.
        let cut = |a: u32, side: usize, b: u32| {
            let opposite = self.corners(a)[side];
            opposite != node && is_around(a) && is_around(b) && is_front(a) != is_front(b)
        };
        around.iter().any(|&start| self.piece_within(start, self.min_piece, &cut) < self.min_piece)
    }

    /// Number of elements that hang together with `start`, counted up to `most`.
    fn piece_within(&self, start: u32, most: usize, cut: &impl Fn(u32, usize, u32) -> bool) -> usize {
        let mut piece = vec![start];
        let mut next = 0;
        while next < piece.len() && piece.len() < most {
            let element = piece[next];
            next += 1;
            for (side, &other) in self.neighbours[element as usize].iter().enumerate() {
                if other != NONE && !piece.contains(&other) && !cut(element, side, other) {
                    piece.push(other);
                }
            }
        }
        piece.len()
    }

    /// Appends a copy of a node.
    fn duplicate(&mut self, node: u32) -> u32 {
        let k = node as usize;
        let State { mesh, motion } = &mut *self.state;
        let [last, before] = &mut motion.velocity_change;
        let arrays = [&mut mesh.rest_position, &mut motion.position, &mut motion.velocity, &mut motion.target];
        for array in arrays.into_iter().chain([last, before]) {
            array.push(array[k]);
        }
        mesh.fixed.push(mesh.fixed[k]);
        mesh.cracked[k] = true;
        mesh.cracked.push(true);
        (mesh.rest_position.len() - 1) as u32
    }

    fn replace(&mut self, element: u32, old: u32, new: u32) {
        let stride = self.state.mesh.order.nodes();
        let nodes = &mut self.state.mesh.elements[element as usize * stride..][..stride];
        nodes.iter_mut().filter(|node| **node == old).for_each(|node| *node = new);
    }

    /// The corners of a face, sorted.
    fn face(&self, element: u32, side: usize) -> [u32; 3] {
        let corners = self.corners(element);
        let mut face = FACES[side].map(|corner| corners[corner]);
        face.sort_unstable();
        face
    }

    /// Parts elements whose common faces no longer have the same corners.
    fn open_faces(&mut self, around: &[u32]) {
        for &element in around {
            for side in 0..4 {
                let other = self.neighbours[element as usize][side];
                if other == NONE {
                    continue;
                }
                let sides = &self.neighbours[other as usize];
                let Some(opposite) = sides.iter().position(|&back| back == element) else { continue };
                let (here, there) = (self.face(element, side), self.face(other, opposite));
                if here != there {
                    self.neighbours[element as usize][side] = NONE;
                    self.neighbours[other as usize][opposite] = NONE;
                    self.opened.push(Face { element, side: side as u8 });
                    self.opened.push(Face { element: other, side: opposite as u8 });
                    here.iter().chain(&there).for_each(|&node| self.state.mesh.cracked[node as usize] = true);
                }
            }
        }
    }

    /// Gives every fan of elements around a node a node of its own.
    fn part_fans(&mut self, around: &[u32]) {
        self.incidence = Incidence::new(&self.state.mesh);
        let mut nodes: Vec<u32> = Vec::new();
        around.iter().for_each(|&element| nodes.extend(self.state.mesh.element(element as usize)));
        nodes.sort_unstable();
        nodes.dedup();
        for node in nodes {
            let elements: Vec<u32> = self.incidence.of(node as usize).iter().map(|i| i.element).collect();
            for fan in self.fans(node, &elements).into_iter().skip(1) {
                let copy = self.duplicate(node);
                fan.iter().for_each(|&element| self.replace(element, node, copy));
                self.touch(&fan);
            }
        }
        self.incidence = Incidence::new(&self.state.mesh);
    }

    /// Groups of elements that hang together through faces at a node, in the order of their first elements.
    fn fans(&self, node: u32, elements: &[u32]) -> Vec<Vec<u32>> {
        let mut left: Vec<u32> = elements.to_vec();
        let mut fans = Vec::new();
        while !left.is_empty() {
            let mut fan = vec![left.remove(0)];
            let mut next = 0;
            while next < fan.len() {
                let element = fan[next];
                next += 1;
                for (side, &other) in self.neighbours[element as usize].iter().enumerate() {
                    if let (true, Ok(at)) = (self.face_holds(element, side, node), left.binary_search(&other)) {
                        fan.push(left.remove(at));
                    }
                }
            }
            fans.push(fan);
        }
        fans
    }

    /// Whether a node is a corner or a middle of a face.
    fn face_holds(&self, element: u32, side: usize, node: u32) -> bool {
        let nodes = self.state.mesh.element(element as usize);
        let (corners, middles) = crate::surface::face_nodes(self.state.mesh.order, side as u8);
        let holds = |locals: [usize; 3]| locals.iter().any(|&k| nodes[k] == node);
        holds(corners) || middles.is_some_and(holds)
    }

    fn touch(&mut self, elements: &[u32]) {
        for &element in elements {
            self.touched.extend(self.state.mesh.element(element as usize));
        }
    }
}
