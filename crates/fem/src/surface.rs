//! The surface of a body as triangles: what couplings, pictures and files see.

use crate::element::{EDGES, FACES};
use crate::params::Order;
use crate::state::Mesh;
use crate::topology::NONE;

/// A face of an element that no other element covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Face {
    /// The element.
    pub element: u32,
    /// The corner opposite the face, 0 to 3.
    pub side: u8,
}

/// The surface: faces, and one triangle (linear) or four (quadratic) for each, counter-clockwise seen from outside.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Surface {
    faces: Vec<Face>,
    triangles: Vec<[u32; 3]>,
}

impl Surface {
    /// Faces without a neighbour, in the order of elements and sides.
    pub(crate) fn new(mesh: &Mesh, neighbours: &[[u32; 4]]) -> Self {
        let mut surface = Self::default();
        for (element, sides) in neighbours.iter().enumerate() {
            for (side, _) in sides.iter().enumerate().filter(|(_, other)| **other == NONE) {
                surface.open(mesh, Face { element: element as u32, side: side as u8 });
            }
        }
        surface
    }

    /// The faces.
    #[must_use]
    pub fn faces(&self) -> &[Face] {
        &self.faces
    }

    /// The triangles, as numbers of nodes.
    #[must_use]
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// The face that a triangle belongs to.
    #[must_use]
    pub fn face_of(&self, triangle: usize) -> Option<Face> {
        let per_face = self.triangles.len() / self.faces.len().max(1);
        self.faces.get(triangle / per_face.max(1)).copied()
    }

    /// Adds a face.
    fn open(&mut self, mesh: &Mesh, face: Face) {
        self.faces.push(face);
        for_each_triangle(mesh, face, |triangle| self.triangles.push(triangle));
    }

    /// Adds faces that a crack has opened, in their place in the order.
    pub(crate) fn follow(&mut self, mesh: &Mesh, opened: &[Face]) {
        self.faces.extend(opened);
        self.faces.sort_unstable();
        self.triangles.clear();
        for &face in &self.faces {
            for_each_triangle(mesh, face, |triangle| self.triangles.push(triangle));
        }
    }
}

/// Local numbers of the nodes of a face: its corners, then the middles of its edges (empty for linear elements).
pub(crate) fn face_nodes(order: Order, side: u8) -> ([usize; 3], Option<[usize; 3]>) {
    let corners = FACES[usize::from(side) % 4];
    let middle = |a: usize, b: usize| {
        let edge = EDGES.iter().position(|&[i, j]| (i, j) == (a.min(b), a.max(b)));
        4 + edge.unwrap_or(0)
    };
    let [a, b, c] = corners;
    (corners, (order == Order::Quadratic).then(|| [middle(a, b), middle(b, c), middle(c, a)]))
}

fn for_each_triangle(mesh: &Mesh, face: Face, mut each: impl FnMut([u32; 3])) {
    let nodes = mesh.element(face.element as usize);
    let ([a, b, c], middles) = face_nodes(mesh.order, face.side);
    let mut emit = |local: [usize; 3]| each(local.map(|k| nodes[k]));
    match middles {
        None => emit([a, b, c]),
        Some([ab, bc, ca]) => [[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]].into_iter().for_each(emit),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::Topology;
    use glam::DVec3;
    use meniscus_geometry::{TetMesh, TriangleMesh};

    #[test]
    fn the_surface_is_closed_and_encloses_the_volume() {
        let block = TetMesh::block(DVec3::ZERO, DVec3::new(2.0, 1.0, 0.5), [3, 2, 2]);
        for (order, per_face) in [(Order::Linear, 1), (Order::Quadratic, 4)] {
            let mesh = Mesh::new(&block, order);
            let (topology, _) = Topology::new(&mesh, 1.0).unwrap();
            let surface = Surface::new(&mesh, &topology.neighbours);
            assert_eq!(surface.triangles().len(), per_face * block.surface().len());
            assert_eq!(surface.face_of(per_face * 5), Some(surface.faces()[5]));
            let triangles = TriangleMesh::new(mesh.rest_position.clone(), surface.triangles().to_vec()).unwrap();
            triangles.closed().unwrap();
            assert!((triangles.signed_volume() - 1.0).abs() < 1e-14);
        }
    }
}
