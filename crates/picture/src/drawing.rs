//! What there is to draw, in view space: spheres, triangles, panes of glass and line segments.

use std::ops::{Add, Mul};

use glam::{Vec2, Vec3};
use meniscus_core::{BodyKind, Foam, Frame, Surface};
use rayon::prelude::*;

use crate::bounds::is_usable;
use crate::camera::View;
use crate::color::Light;
use crate::coloring::{Paint, is_liquid};
use crate::glass::{is_glass, liquid_positions, sharp_edges};
use crate::normals::{CREASE, Facet, LIQUID_CREASE, facets};
use meniscus_core::{Liquids, Solids, Style, Walls};

/// Smallest drawn radius of a sphere \[px\]: below it samples would miss spheres and distant liquid would sparkle.
const SMALLEST_RADIUS: f32 = 0.6;
/// A drop of spray over half a spacing, dimensionless: what flies alone has torn into finer drops than are computed.
const SPRAY_SIZE: f32 = 0.6;
/// The way of light through a drop of spray, over that which gives a liquid its colour: drops of water are nearly white, drops of blood
/// red.
const SPRAY_WAY: f32 = 0.25;

/// The same of a point of foam: there are so many that none is missed.
const SMALLEST_SPECK: f32 = 0.35;
/// What foam sends back, dimensionless.
const WHITE: f32 = 0.9;

/// How a surface answers light.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Material {
    /// Satin, like painted plastic.
    Satin,
    /// Water: dark when looked into, bright at grazing angles.
    Water,
}

/// A particle in view space.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sphere {
    pub(crate) center: Vec3,
    pub(crate) radius: f32,
    pub(crate) albedo: Light,
    pub(crate) material: Material,
}

/// A triangle in view space, seen from either side.
///
/// The edge functions are homogeneous \[OG97\]: a ray d hits the triangle where all `edges · d` are not
/// negative, they are proportional to the barycentric coordinates, and `plane · d` is one over the depth. No vertex
/// needs to be in front of the eye.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Triangle {
    pub(crate) vertices: [Vec3; 3],
    pub(crate) edges: [Vec3; 3],
    pub(crate) plane: Vec3,
    /// Unit normals at the corners, on the side of the eye.
    pub(crate) normals: [Vec3; 3],
    pub(crate) albedo: [Light; 3],
    pub(crate) material: Material,
}

/// A line segment in view space.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Segment {
    pub(crate) ends: [Vec3; 2],
    pub(crate) color: Light,
}

/// The point of a surface that a ray meets.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hit {
    pub(crate) point: Vec3,
    /// Unit normal, on the side of the eye.
    pub(crate) normal: Vec3,
    /// Unit normal of the flat face that was met; `None` for a sphere.
    pub(crate) face: Option<Vec3>,
    pub(crate) albedo: Light,
    pub(crate) material: Material,
}

/// Everything to be drawn. Reused from picture to picture.
#[derive(Debug, Default)]
pub(crate) struct Drawing {
    pub(crate) spheres: Vec<Sphere>,
    pub(crate) triangles: Vec<Triangle>,
    /// Panes of glass and clear water, farthest first.
    pub(crate) glass: Vec<Triangle>,
    /// Surfaces of liquids with a depth, and whether their outside is seen.
    pub(crate) water: Vec<(Triangle, bool)>,
    pub(crate) segments: Vec<Segment>,
}

impl Drawing {
    /// Collects what a frame shows.
    pub(crate) fn collect(&mut self, frame: &Frame, view: &View, paint: &Paint, style: &Style) {
        self.collect_spheres(frame, view, paint, style);
        self.collect_foam(&frame.foam, view);
        self.collect_wires(frame, view, paint);
        self.triangles.clear();
        self.glass.clear();
        self.water.clear();
        for surface in &frame.surfaces {
            let is = |kind| frame.bodies.get(surface.body as usize).is_some_and(|b| b.kind == kind);
            let wall = is(BodyKind::Wall);
            let pane = match style.walls {
                Walls::Hidden if wall => continue,
                Walls::Glass => wall,
                Walls::Auto => wall && is_glass(surface, liquid_positions(frame)),
                Walls::Solid | Walls::Hidden => false,
            };
            let glass = pane || style.solids == Solids::Glass && is(BodyKind::Solid);
            if pane {
                self.add_segments(&sharp_edges(surface), view, paint.body(surface.body));
            }
            let surface_paint = SurfacePaint::new(frame, surface, paint, style);
            if surface_paint.deep {
                add_water(&mut self.water, surface, view, paint.deep(surface.body));
                continue;
            }
            let list = if glass || surface_paint.clear { &mut self.glass } else { &mut self.triangles };
            add_surface(list, surface, view, &surface_paint);
        }
        // Stable, so that panes at equal depths keep the order of the frame.
        self.glass.sort_by(|a, b| farthest(b).total_cmp(&farthest(a)));
    }

    fn collect_spheres(&mut self, frame: &Frame, view: &View, paint: &Paint, style: &Style) {
        let particles = &frame.particles;
        let radius = 0.5 * particles.spacing * style.particle_scale;
        // Beside surfaces, particles are spray and have their colour.
        let spray = style.liquids == Liquids::Deep && frame.surfaces.iter().any(|s| is_liquid(frame, s.body));
        let radius = if spray { SPRAY_SIZE * radius } else { radius };
        self.spheres.clear();
        if !(radius.is_finite() && radius > 0.0) {
            return;
        }
        self.spheres.par_extend(particles.positions.par_iter().enumerate().filter_map(|(i, p)| {
            if !is_usable(*p) {
                return None;
            }
            let body = particles.bodies.get(i).copied().unwrap_or(u16::MAX);
            let center = view.to_view(*p);
            let radius = radius.max(SMALLEST_RADIUS * center.z / view.focal);
            let wet = paint.is_water() && is_liquid(frame, body);
            let material = if wet { Material::Water } else { Material::Satin };
            let albedo = if wet && spray {
                paint.deep(body).map(|part| libm::powf(part, SPRAY_WAY))
            } else {
                paint.particle(particles, i)
            };
            Some(Sphere { center, radius, albedo, material })
        }));
    }

    /// Foam is dull and white, in the air as below water, which tints it.
    fn collect_foam(&mut self, foam: &Foam, view: &View) {
        let radius = 0.5 * foam.size;
        if !(radius.is_finite() && radius > 0.0) {
            return;
        }
        let usable = foam.positions.par_iter().filter(|p| is_usable(**p));
        self.spheres.par_extend(usable.map(|p| {
            let center = view.to_view(*p);
            let radius = radius.max(SMALLEST_SPECK * center.z / view.focal);
            Sphere { center, radius, albedo: Light::splat(WHITE), material: Material::Satin }
        }));
    }

    fn collect_wires(&mut self, frame: &Frame, view: &View, paint: &Paint) {
        self.segments.clear();
        for wire in &frame.wires {
            self.add_segments(&wire.segments, view, paint.body(wire.body));
        }
    }

    fn add_segments(&mut self, segments: &[[Vec3; 2]], view: &View, color: Light) {
        let usable = segments.iter().filter(|ends| ends.iter().all(|p| is_usable(*p)));
        let clipped = usable.filter_map(|ends| clip_segment(ends.map(|p| view.to_view(p)), view.near));
        self.segments.extend(clipped.map(|ends| Segment { ends, color }));
    }
}

impl Sphere {
    /// The nearest point on the ray with these slopes; at the rim when the ray misses by a rounding error.
    #[inline]
    pub(crate) fn hit(&self, slopes: Vec2) -> Hit {
        let ray = slopes.extend(1.0);
        let point = ray * self.depth(slopes);
        let normal = (point - self.center) / self.radius;
        Hit { point, normal, face: None, albedo: self.albedo, material: self.material }
    }

    /// Depth at which the ray with these slopes enters.
    ///
    /// With d the ray and c = z (u, v, 1) the centre, the discriminant d·d r² − |d × c|² is computed from the distance
    /// (d − c/z) on the picture plane: squares of distances to far spheres would cancel in single precision.
    #[inline]
    pub(crate) fn depth(&self, slopes: Vec2) -> f32 {
        let z = self.center.z;
        let middle = self.center.truncate() / z;
        let e = slopes - middle;
        let twist = e.perp_dot(middle);
        let dd = slopes.length_squared() + 1.0;
        let discriminant = dd * self.radius * self.radius - z * z * (e.length_squared() + twist * twist);
        (z * (1.0 + slopes.dot(middle)) - discriminant.max(0.0).sqrt()) / dd
    }
}

impl Triangle {
    /// A triangle from view-space corners; `None` when it is seen edge-on.
    fn new(vertices: [Vec3; 3], normals: [Vec3; 3], albedo: [Light; 3], material: Material) -> Option<Self> {
        let [a, b, c] = vertices;
        let normal = (b - a).cross(c - a);
        let height = normal.dot(a);
        // View space is left-handed: this normal points inwards, and away from the eye when the outside is seen.
        let side = if height > 0.0 { 1.0 } else { -1.0 };
        let edges = [b.cross(c), c.cross(a), a.cross(b)].map(|e| e * side);
        let plane = normal / height;
        let usable = plane.is_finite() && edges.iter().all(|e| e.is_finite());
        usable.then_some(Self { vertices, edges, plane, normals: normals.map(|n| n * side), albedo, material })
    }

    /// The point on the ray with these slopes; the nearest corner values when it misses by a rounding error.
    #[inline]
    pub(crate) fn hit(&self, slopes: Vec2) -> Hit {
        let ray = slopes.extend(1.0);
        let parts = self.edges.map(|e| e.dot(ray).max(0.0));
        let sum = parts[0] + parts[1] + parts[2];
        let parts = if sum > 0.0 { parts.map(|p| p / sum) } else { [1.0 / 3.0; 3] };
        let normal = mix(&self.normals, parts).try_normalize().unwrap_or(self.normals[0]);
        let (point, albedo) = (mix(&self.vertices, parts), mix(&self.albedo, parts));
        // One over the depth grows towards the plane: its gradient points away from the eye.
        let face = -self.plane / self.plane.length_squared().sqrt();
        Hit { point, normal, face: Some(face), albedo, material: self.material }
    }
}

#[inline]
fn mix<T: Copy + Mul<f32, Output = T> + Add<Output = T>>(values: &[T; 3], parts: [f32; 3]) -> T {
    values[0] * parts[0] + values[1] * parts[1] + values[2] * parts[2]
}

fn farthest(triangle: &Triangle) -> f32 {
    triangle.vertices.iter().fold(f32::NEG_INFINITY, |z, v| z.max(v.z))
}

/// The part of a segment in front of the near plane.
fn clip_segment([a, b]: [Vec3; 2], near: f32) -> Option<[Vec3; 2]> {
    let cut = |p: Vec3, q: Vec3| if p.z < near { p + (q - p) * ((near - p.z) / (q.z - p.z)) } else { p };
    (a.z.max(b.z) > near).then(|| [cut(a, b), cut(b, a)])
}

/// How the vertices of a surface are coloured.
struct SurfacePaint<'a> {
    surface: &'a Surface,
    paint: &'a Paint,
    liquid: bool,
    clear: bool,
    deep: bool,
}

impl<'a> SurfacePaint<'a> {
    fn new(frame: &Frame, surface: &'a Surface, paint: &'a Paint, style: &Style) -> Self {
        let liquid = is_liquid(frame, surface.body);
        let deep = liquid && style.liquids == Liquids::Deep && style.shows_surfaces();
        Self { surface, paint, liquid, clear: liquid && style.liquids == Liquids::Clear, deep }
    }

    fn material(&self) -> Material {
        if self.clear || self.liquid && self.paint.is_water() { Material::Water } else { Material::Satin }
    }

    fn albedo(&self, vertex: u32) -> Light {
        let body = self.surface.body;
        if self.liquid {
            self.paint.liquid_vertex(body, self.surface.velocities.get(vertex as usize))
        } else {
            self.paint.body(body)
        }
    }
}

fn add_surface(list: &mut Vec<Triangle>, surface: &Surface, view: &View, paint: &SurfacePaint) {
    let material = paint.material();
    let crease = if paint.liquid { LIQUID_CREASE } else { CREASE };
    list.par_extend(facets(surface, crease).into_par_iter().filter_map(|Facet { vertices, normals }| {
        // Facets hold only indices in range.
        let corners = vertices.map(|v| view.to_view(surface.positions[v as usize]));
        Triangle::new(corners, normals.map(|n| view.turn(n)), vertices.map(|v| paint.albedo(v)), material)
    }));
}

fn add_water(list: &mut Vec<(Triangle, bool)>, surface: &Surface, view: &View, albedo: Light) {
    list.par_extend(facets(surface, LIQUID_CREASE).into_par_iter().filter_map(|Facet { vertices, normals }| {
        let corners = vertices.map(|v| view.to_view(surface.positions[v as usize]));
        let [a, b, c] = corners;
        let outside = (b - a).cross(c - a).dot(a) > 0.0;
        let triangle = Triangle::new(corners, normals.map(|n| view.turn(n)), [albedo; 3], Material::Water)?;
        Some((triangle, outside))
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ray_meets_a_far_small_sphere_exactly() {
        let sphere = Sphere {
            center: Vec3::new(300.0, -200.0, 1000.0),
            radius: 0.02,
            albedo: Light::ONE,
            material: Material::Satin,
        };
        let middle = sphere.hit(sphere.center.truncate() / sphere.center.z);
        assert!((middle.normal.length() - 1.0).abs() < 1e-2);
        let near = sphere.center.length() - sphere.radius;
        assert!((middle.point.length() - near).abs() < 2e-4);
    }

    #[test]
    fn a_ray_meets_both_sides_of_a_triangle() {
        let corners = [Vec3::new(-1.0, -1.0, 2.0), Vec3::new(1.0, -1.0, 2.0), Vec3::new(0.0, 1.0, 4.0)];
        let normal = (corners[2] - corners[0]).cross(corners[1] - corners[0]).normalize();
        for (vertices, n) in [(corners, normal), ([corners[1], corners[0], corners[2]], -normal)] {
            let triangle = Triangle::new(vertices, [n; 3], [Light::ONE; 3], Material::Satin).unwrap();
            let hit = triangle.hit(Vec2::ZERO);
            assert!((hit.point - Vec3::new(0.0, 0.0, 3.0)).length() < 1e-5, "{}", hit.point);
            assert!(hit.normal.z < 0.0);
            assert!((1.0 / triangle.plane.z - 3.0).abs() < 1e-5);
            assert!(triangle.edges.iter().all(|e| e.z > 0.0));
        }
        assert!(
            Triangle::new([Vec3::Z, Vec3::Z * 2.0, Vec3::Z * 3.0], [Vec3::X; 3], [Light::ONE; 3], Material::Satin)
                .is_none()
        );
    }

    #[test]
    fn segments_end_at_the_near_plane() {
        let [a, b] = clip_segment([Vec3::new(0.0, 0.0, -1.0), Vec3::new(2.0, 0.0, 1.0)], 0.5).unwrap();
        assert!((a - Vec3::new(1.5, 0.0, 0.5)).length() < 1e-6 && b.z == 1.0);
        assert!(clip_segment([-Vec3::Z, -Vec3::Z], 0.5).is_none());
    }
}
