//! A tree of boxes over the triangles of a mesh: closest points, winding numbers, crossings.
//!
//! The tree keeps its own copy of the corners in the order of its leaves. Building it takes O(n log n), moving it
//! ([`refit`](Bvh::refit)) O(n) without allocating, a query O(log n); the first winding number after that O(n) more. Results
//! depend on the mesh alone: not on threads, not on chance.

mod build;
mod crossing;
mod nearest;
mod self_crossing;
mod tensor;
mod winding;

use glam::DVec3;
use std::sync::OnceLock;

use crate::{Aabb, TriangleMesh};
use winding::FarField;

pub use crossing::Hit;
pub use nearest::Closest;
pub use self_crossing::SelfCrossing;

/// A bounding volume hierarchy over the triangles of a mesh. Lengths in metres.
#[derive(Debug, Clone)]
pub struct Bvh {
    /// Depth first: the left child of inner node `i` is `i + 1`.
    nodes: Vec<Node>,
    /// What each node looks like from afar; found when a winding number is asked for.
    far: OnceLock<Vec<FarField>>,
    /// In leaf order: number of the triangle in the mesh, its vertices, its corners.
    triangles: Vec<u32>,
    indices: Vec<[u32; 3]>,
    corners: Vec<[DVec3; 3]>,
    vertex_count: usize,
}

#[derive(Debug, Clone, Copy)]
struct Node {
    bounds: Aabb,
    /// Of an inner node: its right child. Of a leaf: its first triangle, in leaf order.
    next: u32,
    /// Number of triangles of a leaf; zero for inner nodes.
    count: u32,
}

/// What a node leads to.
enum Kind {
    Inner { left: usize, right: usize },
    Leaf { range: std::ops::Range<usize> },
}

impl Node {
    fn kind(&self, number: usize) -> Kind {
        let (next, count) = (self.next as usize, self.count as usize);
        if count == 0 {
            Kind::Inner { left: number + 1, right: next }
        } else {
            Kind::Leaf { range: next..next + count }
        }
    }
}

/// The vertices do not belong to the mesh that the tree was built over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the tree was built over a mesh of {expected} vertices and cannot be refitted to {given}")]
pub struct WrongVertexCount {
    /// Number of vertices that the tree knows.
    pub expected: usize,
    /// Number of vertices that were given.
    pub given: usize,
}

impl Bvh {
    /// Builds the tree.
    #[must_use]
    pub fn new(mesh: &TriangleMesh) -> Self {
        let (nodes, triangles) = build::tree(mesh);
        let indices: Vec<_> = triangles.iter().map(|&t| mesh.triangles()[t as usize]).collect();
        let corners = vec![[DVec3::ZERO; 3]; triangles.len()];
        let far = OnceLock::new();
        let mut tree = Self { nodes, far, triangles, indices, corners, vertex_count: mesh.vertices().len() };
        tree.place(mesh.vertices());
        tree
    }

    /// Follows the vertices \[m\] to new positions, with the same triangles. Queries stay exact; they get slower when the
    /// mesh no longer resembles the one that the tree was built for.
    ///
    /// # Errors
    /// When the number of vertices has changed.
    pub fn refit(&mut self, vertices: &[DVec3]) -> Result<(), WrongVertexCount> {
        if vertices.len() != self.vertex_count {
            return Err(WrongVertexCount { expected: self.vertex_count, given: vertices.len() });
        }
        self.place(vertices);
        Ok(())
    }

    /// Updates corners and boxes, children before parents.
    fn place(&mut self, vertices: &[DVec3]) {
        self.far.take();
        for (corners, indices) in self.corners.iter_mut().zip(&self.indices) {
            *corners = indices.map(|v| vertices[v as usize]);
        }
        for i in (0..self.nodes.len()).rev() {
            self.nodes[i].bounds = match self.nodes[i].kind(i) {
                Kind::Leaf { range } => Aabb::around(self.corners[range].iter().copied().flatten()),
                Kind::Inner { left, right } => self.nodes[left].bounds.union(&self.nodes[right].bounds),
            };
        }
    }

    /// The far fields of all nodes, children before parents.
    fn far_fields(&self) -> Vec<FarField> {
        let mut far = vec![FarField::default(); self.nodes.len()];
        for (i, node) in self.nodes.iter().enumerate().rev() {
            far[i] = match node.kind(i) {
                Kind::Leaf { range } => {
                    let triangles = self.corners[range].iter().copied().map(FarField::of_triangle);
                    FarField::joined(triangles, &node.bounds)
                }
                Kind::Inner { left, right } => FarField::joined([far[left], far[right]].into_iter(), &node.bounds),
            };
        }
        far
    }

    /// The box around all triangles \[m\].
    #[must_use]
    pub fn bounds(&self) -> Aabb {
        self.nodes[0].bounds
    }

    /// Calls `f` with the number of every triangle whose bounding box touches `region`.
    pub fn for_each_overlapping(&self, region: &Aabb, mut f: impl FnMut(u32)) {
        self.overlapping(0, region, &mut f);
    }

    fn overlapping(&self, node: usize, region: &Aabb, f: &mut impl FnMut(u32)) {
        if !self.nodes[node].bounds.intersects(region) {
            return;
        }
        match self.nodes[node].kind(node) {
            Kind::Inner { left, right } => {
                self.overlapping(left, region, f);
                self.overlapping(right, region, f);
            }
            Kind::Leaf { range } => {
                let touches = |i: &usize| Aabb::around(self.corners[*i]).intersects(region);
                range.filter(touches).for_each(|i| f(self.triangles[i]));
            }
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::solids;
    use proptest::prelude::*;

    pub(crate) fn point(reach: f64) -> impl Strategy<Value = DVec3> {
        prop::array::uniform3(-reach..reach).prop_map(DVec3::from)
    }

    /// Triangles of all sizes and shapes in the unit cube about the origin.
    pub(crate) fn soup() -> impl Strategy<Value = TriangleMesh> {
        let triangle = (point(1.0), point(1.0), point(1.0), -12i32..1);
        let corners = triangle.prop_map(|(a, b, c, size)| [a, a + b * 2f64.powi(size), a + c * 2f64.powi(size)]);
        prop::collection::vec(corners, 1..60).prop_filter_map("no area", |corners| {
            let triangles = (0..corners.len() as u32).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
            TriangleMesh::new(corners.concat(), triangles).ok()
        })
    }

    /// Closed meshes with edges, curvature and a hole through the middle.
    pub(crate) fn bodies() -> Vec<TriangleMesh> {
        let c = DVec3::new(0.1, -0.05, 0.02);
        vec![
            solids::cuboid(&Aabb::new(c - DVec3::splat(0.5), c + DVec3::new(0.5, 0.3, 0.7))),
            solids::icosphere(c, 0.6, 3),
            solids::uv_sphere(c, 0.6, 40, 20),
            solids::cylinder(c - 0.4 * DVec3::ONE, c + 0.3 * DVec3::ONE, 0.3, 50),
            solids::torus(c, 0.5, 0.15, [60, 20]),
        ]
    }

    fn overlaps(tree: &Bvh, region: &Aabb) -> Vec<u32> {
        let mut found = Vec::new();
        tree.for_each_overlapping(region, |t| found.push(t));
        found.sort_unstable();
        found
    }

    proptest! {
        #[test]
        fn overlaps_are_those_of_all_boxes(mesh in soup(), a in point(1.2), b in point(1.2)) {
            let region = Aabb::new(a, b);
            let boxes = mesh.corners().map(Aabb::around).zip(0u32..);
            let expected: Vec<u32> = boxes.filter(|(bounds, _)| bounds.intersects(&region)).map(|(_, t)| t).collect();
            prop_assert_eq!(overlaps(&Bvh::new(&mesh), &region), expected);
        }

        #[test]
        fn a_refitted_tree_answers_like_a_new_one(
            mut mesh in soup(), shift in point(1.0), p in point(1.5), b in point(1.5),
        ) {
            let mut tree = Bvh::new(&mesh);
            for (v, vertex) in mesh.vertices_mut().iter_mut().enumerate() {
                *vertex += shift * (v as f64 * 0.1);
            }
            tree.refit(mesh.vertices()).unwrap();
            let new = Bvh::new(&mesh);
            prop_assert_eq!(tree.bounds(), mesh.bounds());
            prop_assert_eq!(tree.closest_point(p), new.closest_point(p));
            prop_assert_eq!(tree.segment_hits(p, b), new.segment_hits(p, b));
            prop_assert_eq!(overlaps(&tree, &Aabb::new(p, b)), overlaps(&new, &Aabb::new(p, b)));
            prop_assert!((tree.winding_number_exact(p) - new.winding_number_exact(p)).abs() < 1e-12);
        }
    }

    #[test]
    fn a_changed_number_of_vertices_is_refused() {
        let mut tree = Bvh::new(&solids::icosphere(DVec3::ZERO, 1.0, 1));
        assert_eq!(tree.refit(&[DVec3::ZERO]), Err(WrongVertexCount { expected: 42, given: 1 }));
    }

    #[test]
    fn questions_that_make_no_sense_get_answers_that_say_so() {
        let tree = Bvh::new(&solids::icosphere(DVec3::ZERO, 1.0, 2));
        assert!(tree.closest_point(DVec3::NAN).distance_squared.is_nan());
        assert!(tree.closest_within(DVec3::NAN, 1.0).is_none());
        assert!(!tree.inside(DVec3::NAN) && tree.winding_number(DVec3::NAN).is_nan());
        assert_eq!(tree.segment_hits(DVec3::ZERO, DVec3::NAN), None);
        assert_eq!(tree.segment_hits(DVec3::X, DVec3::X), None);
        assert!(overlaps(&tree, &Aabb::EMPTY).is_empty());
    }
}
