//! The surface of a body, ready to be searched.

use crate::body::Body;
use glam::DVec3;
use meniscus_geometry::{Bvh, Closest, TriangleMesh, tet_volume};

/// Normals with at least this cosine between them face the same way.
const SAME: f64 = 0.5;

/// Triangles whose normal has less than this cosine with that of a node can be in its way.
const FACING: f64 = 0.2;

/// A body's surface where it is now.
#[derive(Default)]
pub(super) struct Skin {
    /// What it was made from.
    source: Vec<[u32; 3]>,
    rest: Vec<DVec3>,
    /// The triangles of the tree.
    pub(super) triangles: Vec<[u32; 3]>,
    /// A tree over them; none for a body without a surface.
    pub(super) tree: Option<Bvh>,
    /// Nodes on the surface, in rising order.
    pub(super) nodes: Vec<u32>,
    /// Area that each of those nodes stands for, at rest \[m²\].
    pub(super) area: Vec<f64>,
    /// Mean length of the edges at rest \[m\].
    pub(super) edge: f64,
    /// Normals of all nodes, of any length: those of the triangles around, weighted by their areas.
    normal: Vec<DVec3>,
    /// Where elements that are inside out now have their middles at rest \[m\].
    inverted: Vec<DVec3>,
    /// Mean velocity of the nodes on the surface \[m/s\].
    pub(super) velocity: DVec3,
    /// Largest difference of a node's velocity to it \[m/s\].
    pub(super) spread: f64,
    quiet: Option<Quiet>,
}

/// A body far from touching itself. As long as that lasts there is nothing to find, and nobody has to look.
struct Quiet {
    /// Where its nodes were when it was looked at \[m\].
    positions: Vec<DVec3>,
    /// No node had a triangle that it could touch within this distance \[m\].
    clearance: f64,
}

impl Skin {
    /// Follows the body, also when cracks have changed its surface.
    pub(super) fn follow(&mut self, body: &Body) {
        if self.source != body.surface().triangles() || self.rest != body.rest_positions() {
            self.rebuild(body);
            self.quiet = None;
        }
        let velocity = body.velocities();
        let count = self.nodes.len().max(1) as f64;
        self.velocity = self.nodes.iter().map(|&node| velocity[node as usize]).sum::<DVec3>() / count;
        let apart = |&node: &u32| velocity[node as usize].distance(self.velocity);
        self.spread = self.nodes.iter().map(apart).fold(0.0, f64::max);
    }

    /// Whether the body is surely out of its own reach \[m\].
    pub(super) fn is_quiet(&self, body: &Body, reach: f64) -> bool {
        self.quiet.as_ref().is_some_and(|quiet| {
            let moved = |(a, b): (&DVec3, &DVec3)| a.distance_squared(*b);
            let farthest = body.positions().iter().zip(&quiet.positions).map(moved).fold(0.0, f64::max).sqrt();
            // A NaN is not quiet.
            reach + 2.0 * farthest <= quiet.clearance
        })
    }

    /// Notes that no node has a triangle that it could touch within a distance \[m\], or that one has.
    pub(super) fn note_clearance(&mut self, body: &Body, clearance: Option<f64>) {
        let Some(clearance) = clearance else {
            self.quiet = None;
            return;
        };
        let quiet = self.quiet.get_or_insert_with(|| Quiet { positions: Vec::new(), clearance });
        quiet.positions.clear();
        quiet.positions.extend_from_slice(body.positions());
        quiet.clearance = clearance;
    }

    /// Turns to where the body is now, ready to be searched.
    pub(super) fn turn(&mut self, body: &Body) {
        let position = body.positions();
        let mut tree = self.tree.take();
        // The number of vertices is that of the nodes it was built for.
        let refit = || tree.as_mut().map(|tree| tree.refit(position));
        let turn = || {
            self.turn_normals(position);
            self.find_inverted(body);
        };
        let _ = rayon::join(refit, turn);
        self.tree = tree;
    }

    fn turn_normals(&mut self, position: &[DVec3]) {
        self.normal.clear();
        self.normal.resize(position.len(), DVec3::ZERO);
        for triangle in &self.triangles {
            let [a, b, c] = triangle.map(|node| position[node as usize]);
            let normal = (b - a).cross(c - a);
            triangle.iter().for_each(|&node| self.normal[node as usize] += normal);
        }
    }

    fn find_inverted(&mut self, body: &Body) {
        let (mesh, position) = (&body.state.mesh, body.positions());
        let inside_out = |corners: &[u32; 4]| tet_volume(corners.map(|node| position[node as usize])) <= 0.0;
        let middle = |corners: [u32; 4]| corners.iter().map(|&node| self.rest[node as usize]).sum::<DVec3>() / 4.0;
        let corners = (0..mesh.element_count()).map(|element| mesh.corners(element));
        self.inverted.clear();
        self.inverted.extend(corners.filter(inside_out).map(middle));
    }

    /// The normal of a node, of any length.
    pub(super) fn normal(&self, node: u32) -> DVec3 {
        self.normal[node as usize]
    }

    /// Whether a triangle faces what comes with a normal of any length. A node on the rim of a block that stands on an equal one
    /// is nearest to that block's side, and would slip past it; what holds it is the face below.
    pub(super) fn faces(&self, normal: DVec3, triangle: u32, position: &[DVec3]) -> bool {
        self.face(triangle, position).dot(normal) <= FACING * normal.length()
    }

    /// The unit normal of a triangle.
    pub(super) fn face(&self, triangle: u32, position: &[DVec3]) -> DVec3 {
        let [a, b, c] = self.triangles[triangle as usize].map(|node| position[node as usize]);
        (b - a).cross(c - a).normalize_or(DVec3::Y)
    }

    /// Whether the surface around a node faces the same way as at a point of it: the body itself is between them, so that the
    /// node has passed through.
    pub(super) fn faces_as(&self, node: u32, closest: &Closest, position: &[DVec3]) -> bool {
        let own = self.normal[node as usize].normalize_or_zero();
        own.dot(self.outward(closest, position).normalize_or_zero()) > SAME
    }

    /// Whether the body is inside out between a node and a point of a triangle: near the straight line between them at rest. Its
    /// surface has then passed through itself, and contact would keep it there.
    pub(super) fn is_inverted_between(&self, node: u32, closest: &Closest) -> bool {
        let start = self.rest[node as usize];
        let corners = self.triangles[closest.triangle as usize].map(|corner| self.rest[corner as usize]);
        let point: DVec3 = corners.iter().zip(closest.barycentric.to_array()).map(|(corner, l)| *corner * l).sum();
        let way = point - start;
        self.inverted.iter().any(|middle| {
            let along = ((*middle - start).dot(way) / way.length_squared()).clamp(0.0, 1.0);
            middle.distance_squared(start + along * way) < self.edge * self.edge
        })
    }

    fn rebuild(&mut self, body: &Body) {
        self.source = body.surface().triangles().to_vec();
        self.rest = body.rest_positions().to_vec();
        // Triangles without area are left out of the tree; without any there is no tree.
        let mesh = TriangleMesh::new(self.rest.clone(), self.source.clone()).ok();
        self.triangles = mesh.as_ref().map_or_else(Vec::new, |mesh| mesh.triangles().to_vec());
        self.tree = mesh.as_ref().map(Bvh::new);
        self.nodes = self.triangles.as_flattened().to_vec();
        self.nodes.sort_unstable();
        self.nodes.dedup();
        let mut area = vec![0.0; self.rest.len()];
        let mut edges = 0.0;
        for triangle in &self.triangles {
            let [a, b, c] = triangle.map(|node| self.rest[node as usize]);
            let own = 0.5 * (b - a).cross(c - a).length();
            triangle.iter().for_each(|&node| area[node as usize] += own / 3.0);
            edges += a.distance(b) + b.distance(c) + c.distance(a);
        }
        self.area = self.nodes.iter().map(|&node| area[node as usize]).collect();
        self.edge = edges / (3 * self.triangles.len()).max(1) as f64;
    }

    /// Whether a node and a triangle of this surface are closer than two edges at rest.
    pub(super) fn are_neighbours(&self, node: u32, triangle: u32) -> bool {
        let near = 4.0 * self.edge * self.edge;
        let position = self.rest[node as usize];
        self.triangles[triangle as usize]
            .iter()
            .any(|&corner| position.distance_squared(self.rest[corner as usize]) < near)
    }

    /// The direction out of the surface at a point of it, of any length: of the triangle inside it, the mean of the corners'
    /// on its border, where the triangle alone would not do.
    pub(super) fn outward(&self, closest: &Closest, position: &[DVec3]) -> DVec3 {
        let nodes = self.triangles[closest.triangle as usize].map(|node| node as usize);
        let lambda = closest.barycentric.to_array();
        if closest.barycentric.min_element() > 0.0 {
            let [a, b, c] = nodes.map(|node| position[node]);
            return (b - a).cross(c - a);
        }
        nodes.iter().zip(lambda).fold(DVec3::ZERO, |sum, (&node, l)| sum + l * self.normal[node].normalize_or_zero())
    }
}
