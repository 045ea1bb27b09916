//! Surfaces of triangles: where they are, which side is wet, how far away.

use glam::DVec3;
use meniscus_geometry::{Bvh, TriangleMesh};

/// Which side of a surface is wet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wet {
    /// The side that the normals point to.
    Front,
    /// The other side.
    Back,
    /// Both: each sample turns to the particle. For open shells.
    Both,
}

/// A surface of triangles with its tree: in coordinates of its own, if it moves as one; in those of space, if vertices move.
#[derive(Debug, Clone)]
pub struct Surface {
    mesh: TriangleMesh,
    tree: Bvh,
    normals: Vec<DVec3>,
    /// At the vertices, weighted by area, of any length.
    vertex_normals: Vec<DVec3>,
    wet: Wet,
    /// Where the vertices are at the end of the step \[m\] and how fast they go there \[m/s\]; empty unless they move.
    ends: Vec<DVec3>,
    velocities: Vec<DVec3>,
}

impl Surface {
    /// From its triangles.
    #[must_use]
    pub fn new(mesh: TriangleMesh, wet: Wet) -> Self {
        let tree = Bvh::new(&mesh);
        let (normals, vertex_normals, ends, velocities) = Default::default();
        let mut surface = Self { mesh, tree, normals, vertex_normals, wet, ends, velocities };
        surface.turn_normals();
        surface
    }

    /// Its triangles, where they are at the start of the step.
    #[must_use]
    pub fn mesh(&self) -> &TriangleMesh {
        &self.mesh
    }

    /// The tree over them.
    #[must_use]
    pub fn tree(&self) -> &Bvh {
        &self.tree
    }

    /// Their unit normals.
    #[must_use]
    pub fn normals(&self) -> &[DVec3] {
        &self.normals
    }

    /// Its wet side.
    #[must_use]
    pub fn wet(&self) -> Wet {
        self.wet
    }

    /// Where vertices that move are at the end of the step \[m\]; none if they do not.
    #[must_use]
    pub fn ends(&self) -> &[DVec3] {
        &self.ends
    }

    /// Velocities of vertices that move \[m/s\]; none if they do not.
    #[must_use]
    pub fn velocities(&self) -> &[DVec3] {
        &self.velocities
    }

    /// Moves the vertices: `place` writes where they are at the start of a step and at its end \[m\], which comes 1/`inverse_dt` later.
    /// As many as there are must be written; else nothing changes.
    pub(crate) fn refit(&mut self, inverse_dt: f64, place: impl FnOnce(&mut [DVec3], &mut Vec<DVec3>)) {
        place(self.mesh.vertices_mut(), &mut self.ends);
        self.follow_vertices();
        let Self { mesh, ends, velocities, .. } = self;
        velocities.clear();
        velocities.extend(mesh.vertices().iter().zip(&*ends).map(|(now, end)| (*end - *now) * inverse_dt));
    }

    /// Moves the vertices to where they are \[m\]; a number of them that does not fit leaves it where it is.
    pub fn place(&mut self, vertices: &[DVec3]) {
        if vertices.len() == self.mesh.vertices().len() {
            self.mesh.vertices_mut().copy_from_slice(vertices);
            self.follow_vertices();
        }
    }

    fn follow_vertices(&mut self) {
        // The number of vertices was compared before.
        let _fits = self.tree.refit(self.mesh.vertices());
        self.turn_normals();
    }

    fn turn_normals(&mut self) {
        let Self { mesh, normals, vertex_normals, .. } = self;
        normals.clear();
        normals.extend(mesh.corners().map(normal));
        vertex_normals.clear();
        vertex_normals.resize(mesh.vertices().len(), DVec3::ZERO);
        for &corners in mesh.triangles() {
            let [a, b, c] = corners.map(|v| mesh.vertices()[v as usize]);
            let area = (b - a).cross(c - a);
            corners.iter().for_each(|&v| vertex_normals[v as usize] += area);
        }
    }

    /// Distance of a point from the triangles \[m\], and whether it lies on the side of their normals: of surfaces that need not be closed.
    #[must_use]
    pub fn beside(&self, point: DVec3) -> (f64, bool) {
        let closest = self.tree.closest_point(point);
        let corners = self.mesh.triangles()[closest.triangle as usize];
        let normal: DVec3 =
            (0..3).map(|i| self.vertex_normals[corners[i] as usize].normalize_or_zero() * closest.barycentric[i]).sum();
        (closest.distance(), (point - closest.point).dot(normal) >= 0.0)
    }

    /// Distance from a closed surface \[m\], negative inside, and the unit normal out of it.
    #[must_use]
    pub fn outward_distance(&self, point: DVec3) -> (f64, DVec3) {
        let closest = self.tree.closest_point(point);
        let distance = if self.tree.inside(point) { -closest.distance() } else { closest.distance() };
        // On the surface the direction to it says nothing.
        let normal = match (point - closest.point) / distance {
            normal if normal.is_finite() && normal.length() > 0.5 => normal,
            _ => self.normals[closest.triangle as usize],
        };
        (distance, normal)
    }

    /// Distance from the solid behind the wet side \[m\], negative in it, and the unit normal out of it.
    #[must_use]
    pub fn distance(&self, point: DVec3) -> (f64, DVec3) {
        let sign = if self.wet == Wet::Back { -1.0 } else { 1.0 };
        let (distance, normal) = self.outward_distance(point);
        (sign * distance, sign * normal)
    }

    /// Velocity \[m/s\] of the point of the surface that is nearest to a position \[m\], as far as vertices move.
    #[must_use]
    pub fn velocity(&self, point: DVec3) -> DVec3 {
        if self.velocities.is_empty() {
            return DVec3::ZERO;
        }
        let closest = self.tree.closest_point(point);
        let [a, b, c] = self.mesh.triangles()[closest.triangle as usize].map(|v| self.velocities[v as usize]);
        a * closest.barycentric.x + b * closest.barycentric.y + c * closest.barycentric.z
    }
}

fn normal([a, b, c]: [DVec3; 3]) -> DVec3 {
    (b - a).cross(c - a).normalize_or(DVec3::Y)
}
