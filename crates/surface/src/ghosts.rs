//! Walls and bodies, as the field and the mesh meet them. Lengths in spacings.

use crate::REACH;
use glam::{DVec3, Vec3};
use meniscus_core::{BodyKind, Frame, Surface, WallShape};
use meniscus_geometry::{Aabb, Bvh, TriangleMesh};

/// A plane that the liquid does not pass.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Plane {
    pub(crate) normal: Vec3,
    height: f32,
}

impl Plane {
    /// The planes of a frame; walls of the same position and side count once.
    pub(crate) fn all(frame: &Frame, spacing: f32) -> Vec<Self> {
        let mut planes: Vec<Self> = Vec::new();
        for wall in &frame.walls {
            if let WallShape::Plane { point, normal } = wall.shape {
                let normal = normal.normalize_or_zero();
                let plane = Self { normal, height: normal.dot(point / spacing) };
                if normal != Vec3::ZERO && plane.height.is_finite() && !planes.contains(&plane) && planes.len() < 16 {
                    planes.push(plane);
                }
            }
        }
        planes
    }

    /// Distance of a point from it, negative beyond it.
    pub(crate) fn distance(&self, point: Vec3) -> f32 {
        self.normal.dot(point) - self.height
    }
}

/// A closed surface with liquid inside only.
pub(crate) struct Vessel {
    tree: Bvh,
    bounds: Aabb,
}

impl Vessel {
    pub(crate) fn all(frame: &Frame, spacing: f32) -> Vec<Self> {
        let is_vessel = |body| frame.walls.iter().any(|w| w.body == body && w.shape == WallShape::Vessel);
        let of_vessels = frame.surfaces.iter().filter(|surface| is_vessel(surface.body));
        of_vessels
            .filter_map(|surface| tree(surface, spacing))
            .map(|tree| Self { bounds: tree.bounds(), tree })
            .collect()
    }

    /// The image of a point inside and within reach of the wall.
    pub(crate) fn image(&self, point: Vec3) -> Option<Vec3> {
        let x = point.as_dvec3();
        let closest = self.tree.closest_within(x, f64::from(REACH))?;
        self.tree.inside(x).then(|| (2.0 * closest.point - x).as_vec3())
    }

    /// How deep inside a point is, as far as `most` goes, negative outside.
    pub(crate) fn depth(&self, point: Vec3, most: f32) -> f32 {
        let x = point.as_dvec3();
        if !self.bounds.grow(f64::from(most)).contains(x) {
            return -most;
        }
        let distance = self.tree.closest_within(x, f64::from(most)).map_or(most, |closest| closest.distance() as f32);
        if self.tree.inside(x) { distance } else { -distance }
    }

    /// The nearest point of the wall.
    pub(crate) fn nearest(&self, point: Vec3) -> Vec3 {
        self.tree.closest_point(point.as_dvec3()).point.as_vec3()
    }
}

/// How far from a skin a particle is beside a body \[spacings\]: the layer next to it.
const BESIDE: f64 = 0.9;

/// How far before a skin the image of a particle beside it lies \[spacings\]: the liquid then ends about half a spacing inside.
const BEFORE: f32 = 0.4;

/// Bodies, and walls with liquid outside of them.
pub(crate) struct Solids(Vec<Bvh>);

impl Solids {
    pub(crate) fn all(frame: &Frame, spacing: f32) -> Self {
        Self::those(frame, spacing, |_| true)
    }

    /// Those that have an inside: no open shells.
    pub(crate) fn closed(frame: &Frame, spacing: f32) -> Self {
        Self::those(frame, spacing, |mesh| mesh.closed().is_ok())
    }

    fn those(frame: &Frame, spacing: f32, keep: impl Fn(&TriangleMesh) -> bool) -> Self {
        let is_liquid = |body: u16| crate::is_liquid(frame, body);
        let is_vessel = |body| frame.walls.iter().any(|w| w.body == body && w.shape == WallShape::Vessel);
        let kind = |body: u16| frame.bodies.get(usize::from(body)).map(|b| b.kind);
        let solid = |surface: &&Surface| {
            let body = surface.body;
            let closed = kind(body) == Some(BodyKind::Solid) || kind(body) == Some(BodyKind::Wall);
            closed && !is_liquid(body) && !is_vessel(body)
        };
        let meshes = frame.surfaces.iter().filter(solid).filter_map(|surface| mesh(surface, spacing));
        Self(meshes.filter(keep).map(|mesh| Bvh::new(&mesh)).collect())
    }

    /// The point of a skin that is nearest to a point inside of a body.
    pub(crate) fn skin(&self, point: Vec3) -> Option<Vec3> {
        let x = point.as_dvec3();
        let around = self.0.iter().find(|tree| tree.inside(x))?;
        Some(around.closest_point(x).point.as_vec3())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The image of a particle beside a skin: between the two, near to the skin.
    pub(crate) fn image(&self, point: Vec3) -> Option<Vec3> {
        let x = point.as_dvec3();
        let near = self.0.iter().filter(|tree| tree.bounds().grow(BESIDE).contains(x));
        let closest = near.filter_map(|tree| tree.closest_within(x, BESIDE));
        let first = closest.min_by(|a, b| a.distance_squared.total_cmp(&b.distance_squared))?;
        let skin = first.point.as_vec3();
        Some(skin + (point - skin).clamp_length_max(BEFORE))
    }
}

fn tree(surface: &Surface, spacing: f32) -> Option<Bvh> {
    mesh(surface, spacing).map(|mesh| Bvh::new(&mesh))
}

fn mesh(surface: &Surface, spacing: f32) -> Option<TriangleMesh> {
    let scale = 1.0 / f64::from(spacing);
    let vertices: Vec<DVec3> = surface.positions.iter().map(|x| x.as_dvec3() * scale).collect();
    // A surface that is no mesh has no inside to run into.
    TriangleMesh::new(vertices, surface.triangles.clone()).ok()
}
