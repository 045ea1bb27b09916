//! A frame as rays meet it: triangles and drops that move while the shutter is open, a floor, panes of glass.

use glam::{Vec3, Vec4};
use meniscus_core::{BodyKind, Foam, Frame, Look, Material, Solids, Style, Surface, WallShape, Walls, Wire};

use super::matter::{Liquid, Matter, Texture, of_solid};
use super::tree::{Ray, Span, Tree, WIDE};
use crate::Bounds;
use crate::bounds::is_usable;
use crate::coloring::is_liquid;
use crate::glass::{is_glass, liquid_positions};
use crate::ground::grid_step;
use crate::normals::{CREASE, LIQUID_CREASE, facets};

/// A drop of spray over half a spacing, dimensionless: as in draft pictures.
const SPRAY_SIZE: f32 = 0.6;
/// What foam sends back, dimensionless: as in draft pictures.
const WHITE: f32 = 0.9;
/// Half the width of the rods along the edges of a tank, over the size of the scene.
const ROD: f32 = 0.0022;
/// How far panes stand off the liquid, over the size of the scene.
const STAND_OFF: f32 = 0.003;
/// How far the floor rises into what stands on it, over the size of the scene: liquids overlap bodies, so that no film of air shows.
const OVERLAP: f32 = 0.0015;

/// How far anything moves while the shutter is open, over the size of the scene: farther, it would be a streak and no shape.
const LONGEST_BLUR: f32 = 0.04;
/// A vertex of a body that is so much faster than half of the others is not blurred: bodies hold together.
const OUTLIER: f32 = 6.0;

/// What the floor of a light studio sends back, dimensionless.
pub(super) const FLOOR: f32 = 0.58;

/// A corner of a triangle in motion.
#[derive(Debug, Clone, Copy, Default)]
struct Corner {
    at: Vec3,
    velocity: Vec3,
}

/// A triangle before it is sorted into leaves.
#[derive(Debug, Clone, Copy)]
struct Face {
    corners: [Corner; 3],
    normals: [Vec3; 3],
    /// Where the corners are on the body at rest: patterns move with it \[m\].
    rest: [Vec3; 3],
    matter: u16,
}

/// Four triangles side by side: a corner and two edges, and how fast they move.
#[derive(Debug, Clone, Copy)]
struct Triangles {
    at: [[Vec4; 3]; 3],
    velocity: [[Vec4; 3]; 3],
    moves: bool,
}

/// A ball.
#[derive(Debug, Clone, Copy)]
struct Ball {
    center: Vec3,
    velocity: Vec3,
    radius: f32,
    matter: u16,
}

/// What a ray met.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hit {
    /// \[m\]
    pub(crate) distance: f32,
    pub(crate) what: What,
}

/// Which primitive.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum What {
    /// A triangle, and the weights of its second and third corner.
    Face(u32, [f32; 2]),
    Ball(u32),
    Floor,
}

/// A point of a surface.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Point {
    /// \[m\]
    pub(crate) at: Vec3,
    /// Unit normal for shading, on the side of the ray.
    pub(crate) normal: Vec3,
    /// Unit normal of the face, on the side of the ray.
    pub(crate) face: Vec3,
    /// Whether the ray comes from outside.
    pub(crate) outside: bool,
    /// The point on the body at rest \[m\].
    pub(crate) rest: Vec3,
    pub(crate) matter: Matter,
}

/// A horizontal floor without end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Floor {
    /// Height \[m\].
    pub(crate) height: f32,
    pub(crate) matter: Matter,
}

/// Everything that rays meet.
#[derive(Debug, Default)]
pub(crate) struct Set {
    faces: Vec<Face>,
    leaves: Vec<Triangles>,
    tree: Tree,
    balls: Vec<Ball>,
    ball_tree: Tree,
    matters: Vec<Matter>,
    pub(crate) liquids: Vec<Liquid>,
    pub(crate) floor: Option<Floor>,
    /// The box of all liquids \[m\].
    pub(crate) wet: Option<Span>,
    pub(crate) middle: Vec3,
    /// Diagonal of the box of the scene \[m\].
    pub(crate) size: f32,
    /// Time for which the shutter is open \[s\].
    shutter: f32,
}

/// Who looks how: by the names of bodies, and where bodies were when they were made.
#[derive(Debug, Clone, Default)]
pub(crate) struct Wardrobe {
    pub(crate) looks: Vec<(String, Look)>,
    pub(crate) rest: Vec<Surface>,
}

impl Wardrobe {
    fn look(&self, frame: &Frame, body: u16) -> Look {
        let name = frame.bodies.get(usize::from(body)).map(|b| b.name.as_str());
        self.looks.iter().find(|(known, _)| Some(known.as_str()) == name).map_or(Look::default(), |(_, look)| *look)
    }

    /// Vertices at rest, if the surface still has the same ones.
    fn rest<'a>(&'a self, surface: &'a Surface) -> &'a [Vec3] {
        let same = |s: &&Surface| s.body == surface.body && s.positions.len() == surface.positions.len();
        self.rest.iter().find(same).map_or(&surface.positions, |s| &s.positions)
    }
}

impl Set {
    /// Collects a frame; `shutter` is the time for which the shutter is open \[s\], `size` the size of the scene \[m\].
    pub(crate) fn new(frame: &Frame, wardrobe: &Wardrobe, style: &Style, bounds: &Bounds, shutter: f32) -> Self {
        let size = 2.0 * bounds.radius();
        let mut set = Self { middle: bounds.center(), size, shutter, ..Self::default() };
        let liquids = set.take_liquids(frame, wardrobe);
        frame.surfaces.iter().for_each(|surface| set.take_surface(frame, surface, wardrobe, style, &liquids));
        set.take_particles(frame, wardrobe, style, &liquids);
        set.take_foam(&frame.foam);
        set.take_wires(frame);
        if style.ground {
            let height = style.ground_height.unwrap_or(bounds.min.y) + 0.5 * OVERLAP * size;
            let texture = Texture::Tile(grid_step(bounds.radius()));
            let albedo = Vec3::splat(if style.theme == meniscus_core::Theme::Dark { 0.09 } else { FLOOR });
            set.floor = Some(Floor { height, matter: Matter::Opaque { albedo, gloss: 0.0, texture } });
        }
        set.grow_trees(0.5 * shutter);
        set
    }

    /// The velocity with which something is blurred \[m/s\].
    fn blurred(&self, velocity: Option<&Vec3>, fastest: f32) -> Vec3 {
        let sound = velocity.copied().filter(|v| v.is_finite() && v.length() <= fastest);
        sound.unwrap_or_default().clamp_length_max(LONGEST_BLUR * self.size / self.shutter.max(1e-9))
    }

    /// Numbers the liquids; the matter of each body that is one.
    fn take_liquids(&mut self, frame: &Frame, wardrobe: &Wardrobe) -> Vec<Option<u16>> {
        let bodies = (0u16..).zip(&frame.bodies);
        bodies
            .map(|(body, info)| {
                (info.kind == BodyKind::Liquid).then(|| {
                    self.liquids.push(Liquid::new(info, wardrobe.look(frame, body), self.size));
                    self.matter(Matter::Liquid((self.liquids.len() - 1) as u16))
                })
            })
            .collect()
    }

    fn matter(&mut self, matter: Matter) -> u16 {
        let known = self.matters.iter().position(|m| *m == matter);
        let index = known.unwrap_or_else(|| {
            self.matters.push(matter);
            self.matters.len() - 1
        });
        index as u16
    }

    fn take_surface(
        &mut self,
        frame: &Frame,
        surface: &Surface,
        wardrobe: &Wardrobe,
        style: &Style,
        liquids: &[Option<u16>],
    ) {
        let info = frame.bodies.get(usize::from(surface.body));
        let kind = info.map(|b| b.kind);
        let look = wardrobe.look(frame, surface.body);
        let liquid = liquids.get(usize::from(surface.body)).copied().flatten();
        let wall = kind == Some(BodyKind::Wall);
        if wall && style.walls == Walls::Hidden {
            return;
        }
        let pane = wall
            && look.material.is_none()
            && match style.walls {
                Walls::Glass => true,
                Walls::Auto => is_glass(surface, liquid_positions(frame)),
                Walls::Solid | Walls::Hidden => false,
            };
        let look = if pane { Look { material: Some(Material::Glass), ..look } } else { look };
        let matter = liquid.unwrap_or_else(|| {
            let solid = of_solid(info, look, self.size);
            self.matter(match solid {
                Matter::Opaque { albedo, .. } if kind == Some(BodyKind::Solid) && style.solids == Solids::Glass => {
                    Matter::Veil { albedo, passes: 0.72 }
                }
                other => other,
            })
        });
        let rest = wardrobe.rest(surface);
        let fastest = if liquid.is_some() { f32::INFINITY } else { OUTLIER * median_speed(surface) };
        let crease = if liquid.is_some() { LIQUID_CREASE } else { CREASE };
        for facet in facets(surface, crease) {
            let corners = facet.vertices.map(|v| Corner {
                at: surface.positions[v as usize],
                velocity: self.blurred(surface.velocities.get(v as usize), fastest),
            });
            let rest = facet.vertices.map(|v| rest[v as usize]);
            self.faces.push(Face { corners, normals: facet.normals, rest, matter });
        }
        if liquid.is_some() {
            let span = Span::of(surface.positions.iter().copied().filter(|p| is_usable(*p)));
            let wet = self.wet.unwrap_or(span);
            self.wet = Some(Span { low: wet.low.min(span.low), high: wet.high.max(span.high) });
        }
    }

    fn take_particles(&mut self, frame: &Frame, wardrobe: &Wardrobe, style: &Style, liquids: &[Option<u16>]) {
        let particles = &frame.particles;
        let radius = 0.5 * particles.spacing * style.particle_scale;
        if !(radius.is_finite() && radius > 0.0) {
            return;
        }
        // Beside its surface, particles of a liquid are spray.
        let spray = frame.surfaces.iter().any(|s| is_liquid(frame, s.body));
        let solids: Vec<u16> = (0u16..)
            .zip(&frame.bodies)
            .map(|(body, info)| self.matter(of_solid(Some(info), wardrobe.look(frame, body), self.size)))
            .collect();
        for (i, &center) in particles.positions.iter().enumerate().filter(|(_, p)| is_usable(**p)) {
            let body = particles.bodies.get(i).map_or(usize::MAX, |&b| usize::from(b));
            let liquid = liquids.get(body).copied().flatten();
            let Some(matter) = liquid.or_else(|| solids.get(body).copied()) else { continue };
            let velocity = self.blurred(particles.velocities.get(i), f32::INFINITY);
            let radius = if spray && liquid.is_some() { SPRAY_SIZE * radius } else { radius };
            self.balls.push(Ball { center, velocity, radius, matter });
        }
    }

    /// Foam is dull and white.
    fn take_foam(&mut self, foam: &Foam) {
        let radius = 0.5 * foam.size;
        if foam.is_empty() || !(radius.is_finite() && radius > 0.0) {
            return;
        }
        let matter = self.matter(Matter::Opaque { albedo: Vec3::splat(WHITE), gloss: 0.0, texture: Texture::Plain });
        for (i, &center) in foam.positions.iter().enumerate().filter(|(_, p)| is_usable(**p)) {
            let velocity = self.blurred(foam.velocities.get(i), f32::INFINITY);
            self.balls.push(Ball { center, velocity, radius, matter });
        }
    }

    /// Outlines become rods; what they enclose gets panes of glass.
    fn take_wires(&mut self, frame: &Frame) {
        for wire in &frame.wires {
            let wall = frame.bodies.get(usize::from(wire.body)).is_some_and(|b| b.kind == BodyKind::Wall);
            let albedo = if wall { Vec3::new(0.42, 0.58, 0.55) } else { Vec3::splat(0.3) };
            let rod = self.matter(Matter::Opaque { albedo, gloss: 1.0, texture: Texture::Plain });
            for ends in wire.segments.iter().filter(|ends| ends.iter().all(|p| is_usable(*p))) {
                self.add_rod(*ends, ROD * self.size, rod);
            }
            if wall {
                self.add_panes(frame, wire);
            }
        }
    }

    /// A rod of square section along a segment.
    fn add_rod(&mut self, [a, b]: [Vec3; 2], half: f32, matter: u16) {
        let Some(along) = (b - a).try_normalize() else { return };
        let side = along.any_orthonormal_vector();
        let up = along.cross(side);
        let corner = |end: Vec3, out: f32, k: usize| {
            let [x, y] = [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]][k % 4];
            end + along * (out * half) + (side * x + up * y) * half
        };
        for k in 0..4 {
            let quad = [corner(a, -1.0, k), corner(a, -1.0, k + 1), corner(b, 1.0, k + 1), corner(b, 1.0, k)];
            self.add_quad(quad, matter);
        }
        for (end, out) in [(a, -1.0), (b, 1.0)] {
            self.add_quad([0, 1, 2, 3].map(|k| corner(end, out, k)), matter);
        }
    }

    fn add_quad(&mut self, [a, b, c, d]: [Vec3; 4], matter: u16) {
        for [p, q, r] in [[a, b, c], [a, c, d]] {
            let Some(normal) = (q - p).cross(r - p).try_normalize() else { continue };
            let corners = [p, q, r].map(|at| Corner { at, velocity: Vec3::ZERO });
            self.faces.push(Face { corners, normals: [normal; 3], rest: [p, q, r], matter });
        }
    }

    /// A pane on each plane of a tank's walls that four corners of its outline lie on; floors are of tile.
    fn add_panes(&mut self, frame: &Frame, wire: &Wire) {
        let mut corners: Vec<Vec3> = wire.segments.iter().flatten().copied().filter(|p| is_usable(*p)).collect();
        corners.sort_by(|a, b| a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y)).then(a.z.total_cmp(&b.z)));
        corners.dedup_by(|a, b| a.distance(*b) < 1e-4 * self.size);
        let glass = self.matter(Matter::Glass { tint: Vec3::new(0.965, 0.985, 0.98) });
        let floor = self.matter(Matter::Opaque {
            albedo: Vec3::new(0.66, 0.70, 0.72),
            gloss: 0.0,
            texture: Texture::Tile(grid_step(0.5 * self.size)),
        });
        for (point, normal) in planes_of(frame, wire.body, &corners) {
            let mut on: Vec<Vec3> =
                corners.iter().copied().filter(|p| (*p - point).dot(normal).abs() < 1e-3 * self.size).collect();
            if on.len() != 4 {
                continue;
            }
            let middle = on.iter().sum::<Vec3>() * 0.25;
            let side = (on[0] - middle).normalize_or_zero();
            let up = normal.cross(side);
            let angle = |p: &Vec3| libm::atan2f(up.dot(*p - middle), side.dot(*p - middle));
            on.sort_by(|a, b| angle(a).total_cmp(&angle(b)));
            let flat = normal.y > 0.99;
            let (shift, matter) = if flat { (OVERLAP * self.size, floor) } else { (-STAND_OFF * self.size, glass) };
            self.add_quad([0, 1, 2, 3].map(|k| on[k] + normal * shift), matter);
        }
    }

    fn grow_trees(&mut self, half: f32) {
        let boxes: Vec<Span> = self
            .faces
            .iter()
            .map(|f| Span::of(f.corners.iter().flat_map(|c| [c.at - c.velocity * half, c.at + c.velocity * half])))
            .collect();
        self.tree = Tree::new(&boxes);
        self.leaves = self.tree.leaves.iter().map(|leaf| Triangles::new(leaf, &self.faces)).collect();
        let boxes: Vec<Span> = self
            .balls
            .iter()
            .map(|b| {
                let reach = b.velocity.abs() * half + b.radius;
                Span { low: b.center - reach, high: b.center + reach }
            })
            .collect();
        self.ball_tree = Tree::new(&boxes);
    }

    /// The nearest thing before `far` \[m\].
    pub(crate) fn first(&self, ray: &Ray, far: f32) -> Option<Hit> {
        let mut found = None;
        let mut far = far;
        if let Some(distance) = self.floor_at(ray).filter(|d| *d < far) {
            far = distance;
            found = Some(Hit { distance, what: What::Floor });
        }
        self.tree.visit(ray, &mut far, |leaf, far| {
            let (distances, u, v) = self.leaves[leaf].meet(ray);
            for k in 0..WIDE {
                if distances[k] < *far {
                    *far = distances[k];
                    found = Some(Hit { distance: *far, what: What::Face(self.tree.leaves[leaf][k], [u[k], v[k]]) });
                }
            }
        });
        self.ball_tree.visit(ray, &mut far, |leaf, far| {
            for &ball in self.ball_tree.leaves[leaf].iter().filter(|&&b| b != u32::MAX) {
                if let Some(distance) = self.balls[ball as usize].meet(ray).into_iter().find(|d| d > &0.0 && d < far) {
                    *far = distance;
                    found = Some(Hit { distance, what: What::Ball(ball) });
                }
            }
        });
        found
    }

    /// Calls `each` for everything on the way, in no order, with the distance \[m\], until it says that it has seen enough.
    pub(crate) fn all(&self, ray: &Ray, each: &mut dyn FnMut(f32, What) -> bool) {
        let mut far = f32::INFINITY;
        self.tree.visit(ray, &mut far, |leaf, far| {
            let (distances, u, v) = self.leaves[leaf].meet(ray);
            for k in (0..WIDE).filter(|&k| distances[k].is_finite()) {
                if *far > 0.0 && !each(distances[k], What::Face(self.tree.leaves[leaf][k], [u[k], v[k]])) {
                    *far = -1.0;
                }
            }
        });
        if far < 0.0 {
            return;
        }
        self.ball_tree.visit(ray, &mut far, |leaf, far| {
            for &ball in self.ball_tree.leaves[leaf].iter().filter(|&&b| b != u32::MAX) {
                for distance in self.balls[ball as usize].meet(ray).into_iter().filter(|d| *d > 0.0 && d.is_finite()) {
                    if *far > 0.0 && !each(distance, What::Ball(ball)) {
                        *far = -1.0;
                    }
                }
            }
        });
    }

    fn floor_at(&self, ray: &Ray) -> Option<f32> {
        let floor = self.floor?;
        let distance = (floor.height - ray.origin.y) / ray.direction.y;
        (distance > 0.0 && distance.is_finite()).then_some(distance)
    }

    /// What a primitive is made of.
    pub(crate) fn matter_of(&self, what: What) -> Matter {
        match what {
            What::Face(k, _) => self.matters[usize::from(self.faces[k as usize].matter)],
            What::Ball(k) => self.matters[usize::from(self.balls[k as usize].matter)],
            What::Floor => self.floor.map_or(Matter::Glass { tint: Vec3::ONE }, |f| f.matter),
        }
    }

    /// Normal out of a primitive, not normalised, where a ray meets it after a distance \[m\].
    pub(crate) fn outwards(&self, ray: &Ray, distance: f32, what: What) -> Vec3 {
        match what {
            What::Face(k, _) => self.faces[k as usize].outwards(ray.time),
            What::Ball(k) => ray.at(distance) - self.balls[k as usize].at(ray.time),
            What::Floor => Vec3::Y,
        }
    }

    /// All about the point that a ray has met.
    pub(crate) fn point(&self, ray: &Ray, hit: &Hit) -> Point {
        let at = ray.at(hit.distance);
        let out = self.outwards(ray, hit.distance, hit.what).normalize_or_zero();
        let (smooth, rest) = match hit.what {
            What::Face(k, parts) => self.faces[k as usize].mixed(parts),
            What::Ball(k) => (out, at - self.balls[k as usize].center),
            What::Floor => (out, at),
        };
        let outside = out.dot(ray.direction) < 0.0;
        let side = if outside { 1.0 } else { -1.0 };
        let normal = smooth * side;
        // A smooth normal that looks away from the ray would send light through the surface.
        let normal = if normal.dot(ray.direction) < -1e-3 { normal } else { out * side };
        Point { at, normal, face: out * side, outside, rest, matter: self.matter_of(hit.what) }
    }
}

/// Planes that a wall stands on: those that the frame knows, or the faces of a box but its top.
fn planes_of(frame: &Frame, body: u16, corners: &[Vec3]) -> Vec<(Vec3, Vec3)> {
    let known: Vec<(Vec3, Vec3)> = frame
        .walls
        .iter()
        .filter(|wall| wall.body == body)
        .filter_map(|wall| match wall.shape {
            WallShape::Plane { point, normal } => Some((point, normal)),
            _ => None,
        })
        .collect();
    if !known.is_empty() || corners.len() != 8 {
        return known;
    }
    let span = Span::of(corners.iter().copied());
    let low = Vec3::AXES.map(|axis| (span.low, axis));
    low.into_iter().chain([(span.high, Vec3::NEG_X), (span.high, Vec3::NEG_Z)]).collect()
}

/// The speed that half of the vertices of a surface do not reach \[m/s\].
fn median_speed(surface: &Surface) -> f32 {
    let mut speeds: Vec<f32> = surface.velocities.iter().map(|v| v.length()).collect();
    speeds.sort_unstable_by(f32::total_cmp);
    speeds.get(speeds.len() / 2).copied().unwrap_or(0.0)
}

impl Face {
    fn outwards(&self, time: f32) -> Vec3 {
        let [a, b, c] = self.corners.map(|c| c.at + c.velocity * time);
        (b - a).cross(c - a)
    }

    /// Smooth normal and position at rest between the corners.
    fn mixed(&self, [u, v]: [f32; 2]) -> (Vec3, Vec3) {
        let mix = |p: &[Vec3; 3]| p[0] * (1.0 - u - v) + p[1] * u + p[2] * v;
        (mix(&self.normals).normalize_or_zero(), mix(&self.rest))
    }
}

impl Triangles {
    fn new(leaf: &[u32; WIDE], faces: &[Face]) -> Self {
        let mut lanes = Self { at: [[Vec4::ZERO; 3]; 3], velocity: [[Vec4::ZERO; 3]; 3], moves: false };
        for (k, face) in leaf.iter().enumerate().filter_map(|(k, &f)| Some((k, faces.get(f as usize)?))) {
            let [a, b, c] = face.corners;
            let at = [a.at, b.at - a.at, c.at - a.at];
            let velocity = [a.velocity, b.velocity - a.velocity, c.velocity - a.velocity];
            for axis in 0..3 {
                for row in 0..3 {
                    lanes.at[row][axis][k] = at[row][axis];
                    lanes.velocity[row][axis][k] = velocity[row][axis];
                }
            }
            lanes.moves |= velocity.iter().any(|v| *v != Vec3::ZERO);
        }
        lanes
    }

    /// Distances \[m\], infinite where there is none, and weights of the second and third corners.
    fn meet(&self, ray: &Ray) -> (Vec4, Vec4, Vec4) {
        let mut at = self.at;
        if self.moves {
            for (row, velocity) in at.iter_mut().zip(&self.velocity) {
                row.iter_mut().zip(velocity).for_each(|(x, v)| *x += *v * ray.time);
            }
        }
        let [corner, first, second] = at;
        let direction = ray.direction.to_array().map(Vec4::splat);
        let origin = ray.origin.to_array().map(Vec4::splat);
        let to = [origin[0] - corner[0], origin[1] - corner[1], origin[2] - corner[2]];
        let p = cross(&direction, &second);
        let scale = Vec4::ONE / dot(&first, &p);
        let q = cross(&to, &first);
        let u = dot(&to, &p) * scale;
        let v = dot(&direction, &q) * scale;
        let distance = dot(&second, &q) * scale;
        // Not a number where a lane is empty or seen edge-on: then no comparison holds.
        let inside = u.cmpge(Vec4::ZERO) & v.cmpge(Vec4::ZERO) & (u + v).cmple(Vec4::ONE) & distance.cmpgt(Vec4::ZERO);
        (Vec4::select(inside, distance, Vec4::INFINITY), u, v)
    }
}

fn cross(a: &[Vec4; 3], b: &[Vec4; 3]) -> [Vec4; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn dot(a: &[Vec4; 3], b: &[Vec4; 3]) -> Vec4 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

impl Ball {
    fn at(&self, time: f32) -> Vec3 {
        self.center + self.velocity * time
    }

    /// Where a ray enters and leaves \[m\]; infinite when it does not.
    fn meet(&self, ray: &Ray) -> [f32; 2] {
        let to = self.at(ray.time) - ray.origin;
        let along = to.dot(ray.direction);
        let aside = to - ray.direction * along;
        let square = self.radius * self.radius - aside.length_squared();
        if square <= 0.0 {
            return [f32::INFINITY; 2];
        }
        let half = square.sqrt();
        [along - half, along + half]
    }
}
