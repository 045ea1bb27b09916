//! Bodies that answer: surfaces that move as their nodes do and carry the liquid's push back to them \[MSTHG04 sec. 4\].
//!
//! In each step the triangles that liquid is near to are cut into pieces with seven Gauss points each. A particle within
//! reach sums 1 − γ and ∇γ over the points, as for any wall ([`crate::surface`]), and what part of ∇γ belongs to which
//! node:
//!
//! > Bᵢₖ = Σₛ λₖ(s) W(rᵢₛ) n A w,  ∇γᵢ = Σₖ Bᵢₖ
//!
//! Pressure qᵢ pushes the particle with V0 qᵢ Σₖ Bᵢₖ and node k with −V0 Σᵢ qᵢ Bᵢₖ: equal and opposite. Dry triangles have
//! no points.
//!
//! A light body would be thrown about by a liquid that takes it for a wall which moves as it did: the added mass of the
//! liquid exceeds its own. So the pressure is found with a body that yields,
//!
//! > uₖ = vₖ + Δt (fₖ − fₖ°)/mₖ,
//!
//! f° being the force of the last step, which its velocity knows already. Internal forces are left to the body's own
//! solver: what it yields less than a heap of loose nodes is made good in the next step, and at rest nothing is left.

use crate::lanes::{KernelLanes, LANES, Lanes3, add_up, dot, pack, plus_scaled, splat, splat3};
use crate::surface::{LONGEST_EDGE, MOST_PIECES, Miter, SampleKernel};
use fearless_simd::{Level, Simd, SimdBase, SimdFloat, SimdFrom, dispatch, f32x8};
use glam::{DMat3, DVec3, Vec3};
use meniscus_core::par;
use meniscus_geometry::{NeighbourGrid, quadrature};
use rayon::prelude::*;
use std::f32::consts::PI;
use std::ops::Range;

/// A surface that moves, and what it does when it is pushed.
#[derive(Debug, Clone, Default)]
pub struct Body {
    /// Nodes at the start of the step \[m\].
    pub positions: Vec<DVec3>,
    /// Their velocities \[m/s\].
    pub velocities: Vec<DVec3>,
    /// Triangles that face the liquid, as nodes.
    pub triangles: Vec<[u32; 3]>,
    /// What it does when it is pushed.
    pub answer: Answer,
}

/// How a body yields to forces on its nodes.
#[derive(Debug, Clone, Default)]
pub enum Answer {
    /// It moves as prescribed.
    #[default]
    None,
    /// Each node for itself: inverse masses \[1/kg\], zero where it is held.
    Nodes(Vec<f64>),
    /// As one.
    Rigid {
        /// Inverse mass along each axis \[1/kg\], zero where it is held.
        inverse_mass: DVec3,
        /// Inverse inertia about the centre, along the axes of space \[1/(kg·m²)\].
        inverse_inertia: DMat3,
        /// Centre of mass \[m\].
        center: DVec3,
    },
}

/// A part of ∇γ of a particle that belongs to a node.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Link {
    pub(crate) particle: u32,
    /// Number of the node among those of all bodies.
    pub(crate) node: u32,
    /// Bᵢₖ \[1/m\].
    pub(crate) weight: Vec3,
}

/// A triangle near to liquid.
#[derive(Debug, Clone, Copy)]
struct WetTriangle {
    body: u32,
    /// Number among the triangles of its body.
    number: u32,
    /// Nodes, numbered over all bodies.
    nodes: [u32; 3],
    /// Moved into the liquid by the offset \[m\].
    corners: [DVec3; 3],
}

/// What a triangle does to a particle.
#[derive(Debug, Clone, Copy)]
struct Pair {
    particle: u32,
    /// Part of 1 − γ.
    deficit: f32,
    /// Part of ∇γ for each corner \[1/m\].
    parts: [Vec3; 3],
}

/// The particles that a triangle touches.
#[derive(Debug, Clone, Default)]
struct Pairs {
    /// Places of particles around it.
    ranges: Vec<Range<usize>>,
    pairs: Vec<Pair>,
}

/// All bodies, and what they touch in a step.
#[derive(Debug, Clone, Default)]
pub(crate) struct Bodies {
    pub(crate) bodies: Vec<Body>,
    /// Number of the first node of each body, and of all nodes.
    first: Vec<u32>,
    wet: Vec<WetTriangle>,
    miters: Vec<Miter>,
    /// For each wet triangle; there may be more lists than triangles.
    pairs: Vec<Pairs>,
    /// For each block of particles: particle, wet triangle, place in its list, in this order.
    touched: Vec<Vec<[u32; 3]>>,
    /// Forces or accelerations of all nodes in the course of a solve.
    pub(crate) answer: Vec<DVec3>,
    /// What the nodes feel already at the start of a solve \[N\].
    pub(crate) start: Vec<DVec3>,
    /// Force on each node in the last step \[N\].
    pub(crate) force: Vec<DVec3>,
}

/// What all bodies do to a particle.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct BodyTouch {
    pub(crate) deficit: f32,
    pub(crate) push: Vec3,
    /// ∇γ times the velocity of the surface \[1/s\].
    pub(crate) flux: f32,
}

impl Bodies {
    pub(crate) fn is_empty(&self) -> bool {
        self.bodies.is_empty()
    }

    pub(crate) fn node_count(&self) -> usize {
        self.first.last().map_or(0, |&n| n as usize)
    }

    /// The nodes of a body among those of all.
    pub(crate) fn nodes_of(&self, body: usize) -> Range<usize> {
        self.first[body] as usize..self.first[body + 1] as usize
    }

    /// Numbers the nodes.
    pub(crate) fn number(&mut self) {
        self.first.clear();
        self.first.push(0);
        let mut count = 0;
        for body in &self.bodies {
            count += body.positions.len() as u32;
            self.first.push(count);
        }
        self.answer.resize(count as usize, DVec3::ZERO);
        self.start.resize(count as usize, DVec3::ZERO);
        self.force.clear();
        self.force.resize(count as usize, DVec3::ZERO);
    }

    /// Integrates over the triangles that liquid may touch, for each particle that is near one.
    pub(crate) fn integrate<K: KernelLanes>(
        &mut self,
        level: Level,
        kernel: &SampleKernel,
        liquid: &NeighbourGrid,
        positions: &[Vec3],
    ) {
        self.find_wet(kernel, liquid);
        if self.pairs.len() < self.wet.len() {
            self.pairs.resize_with(self.wet.len(), Pairs::default);
        }
        self.pairs.par_iter_mut().zip(&self.wet).for_each(|(pairs, wet)| {
            pairs.pairs.clear();
            dispatch!(level, simd => integrate::<_, K>(simd, wet, kernel, liquid, positions, pairs));
        });
        let blocks = positions.len().div_ceil(par::PIECE);
        self.touched.resize_with(blocks.max(self.touched.len()), Vec::new);
        self.touched.iter_mut().for_each(Vec::clear);
        for (t, pairs) in (0..self.wet.len() as u32).zip(&self.pairs) {
            for (k, pair) in (0..).zip(&pairs.pairs) {
                self.touched[pair.particle as usize / par::PIECE].push([pair.particle, t, k]);
            }
        }
        self.touched[..blocks].par_iter_mut().for_each(|block| block.sort_unstable());
    }

    fn find_wet(&mut self, kernel: &SampleKernel, liquid: &NeighbourGrid) {
        self.wet.clear();
        let margin = f64::from(kernel.reach()) + kernel.offset().abs();
        for (b, body) in self.bodies.iter().enumerate() {
            let first_wet = self.wet.len();
            for (number, triangle) in (0..).zip(&body.triangles) {
                let corners = triangle.map(|v| body.positions[v as usize]);
                let low = corners[0].min(corners[1]).min(corners[2]) - margin;
                let high = corners[0].max(corners[1]).max(corners[2]) + margin;
                let mut near = false;
                liquid.for_each_range_in(low.as_vec3(), high.as_vec3(), |range| near |= !range.is_empty());
                if near {
                    let nodes = triangle.map(|v| self.first[b] + v);
                    self.wet.push(WetTriangle { body: b as u32, number, nodes, corners });
                }
            }
            if self.wet.len() == first_wet {
                continue;
            }
            self.miters.clear();
            self.miters.resize(body.positions.len(), Miter::default());
            for triangle in &body.triangles {
                let corners = triangle.map(|v| body.positions[v as usize]);
                Miter::add(&mut self.miters, *triangle, corners);
            }
            for wet in &mut self.wet[first_wet..] {
                let triangle = body.triangles[wet.number as usize];
                for (corner, v) in wet.corners.iter_mut().zip(triangle) {
                    *corner += self.miters[v as usize].shift() * kernel.offset();
                }
            }
        }
    }

    /// Calls `visit` with each particle of a block that bodies touch, and puts down its links to their nodes.
    pub(crate) fn for_each_touch(&self, block: usize, links: &mut Vec<Link>, mut visit: impl FnMut(u32, BodyTouch)) {
        let Some(touched) = self.touched.get(block) else { return };
        for group in touched.chunk_by(|a, b| a[0] == b[0]) {
            let (first, particle) = (links.len(), group[0][0]);
            let mut sum = BodyTouch::default();
            for &[_, t, k] in group {
                let pair = &self.pairs[t as usize].pairs[k as usize];
                sum.deficit += pair.deficit;
                for (node, part) in self.wet[t as usize].nodes.into_iter().zip(pair.parts) {
                    match links[first..].iter_mut().find(|link| link.node == node) {
                        Some(link) => link.weight += part,
                        None => links.push(Link { particle, node, weight: part }),
                    }
                }
            }
            if sum.deficit < 0.0 {
                // Behind the moved surface: the rest of the kernel is in the liquid.
                sum.deficit += 1.0;
            }
            for link in &links[first..] {
                sum.push += link.weight;
                sum.flux += link.weight.dot(self.velocity(link.node));
            }
            visit(particle, sum);
        }
    }

    /// The body that a node belongs to.
    pub(crate) fn body_of(&self, node: u32) -> usize {
        self.first.partition_point(|&first| first <= node) - 1
    }

    fn velocity(&self, node: u32) -> Vec3 {
        let body = self.body_of(node);
        self.bodies[body].velocities[(node - self.first[body]) as usize].as_vec3()
    }

    /// Turns the forces on all nodes \[N\] into the accelerations with which they yield \[m/s²\].
    pub(crate) fn yield_to_forces(&mut self) {
        for (b, body) in self.bodies.iter().enumerate() {
            let nodes = self.first[b] as usize..self.first[b + 1] as usize;
            let answer = &mut self.answer[nodes];
            match &body.answer {
                Answer::None => answer.fill(DVec3::ZERO),
                Answer::Nodes(inverse_masses) => {
                    answer.iter_mut().zip(inverse_masses).for_each(|(a, inverse)| *a *= *inverse);
                }
                Answer::Rigid { inverse_mass, inverse_inertia, center } => {
                    let (mut force, mut torque) = (DVec3::ZERO, DVec3::ZERO);
                    for (f, x) in answer.iter().zip(&body.positions) {
                        force += *f;
                        torque += (*x - *center).cross(*f);
                    }
                    let (linear, angular) = (force * *inverse_mass, *inverse_inertia * torque);
                    for (a, x) in answer.iter_mut().zip(&body.positions) {
                        *a = linear + angular.cross(*x - *center);
                    }
                }
            }
        }
    }

    /// How fast a node yields to a force on it alone, at most \[1/kg\].
    pub(crate) fn mobility(&self, node: u32) -> f64 {
        let b = self.body_of(node);
        match &self.bodies[b].answer {
            Answer::None => 0.0,
            Answer::Nodes(inverse_masses) => inverse_masses[(node - self.first[b]) as usize],
            Answer::Rigid { inverse_mass, inverse_inertia, center } => {
                let arm = self.bodies[b].positions[(node - self.first[b]) as usize] - *center;
                let trace = inverse_inertia.x_axis.x + inverse_inertia.y_axis.y + inverse_inertia.z_axis.z;
                inverse_mass.max_element() + trace * arm.length_squared()
            }
        }
    }

    /// Calls `visit` with every particle that a triangle passed in the step, on its way from `starts` to `to` \[m\] while the
    /// nodes went from where they were to `ends`: from outside to inside only.
    pub(crate) fn for_each_passed(
        &self,
        way: impl Fn(usize) -> [DVec3; 2],
        ends: &[DVec3],
        gap: f64,
        mut visit: impl FnMut(usize, &Passed),
    ) {
        for group in self.touched.iter().flat_map(|block| block.chunk_by(|a, b| a[0] == b[0])) {
            let particle = group[0][0] as usize;
            let way = way(particle);
            let hits = group.iter().filter_map(|&[_, t, _]| {
                let wet = &self.wet[t as usize];
                let body = &self.bodies[wet.body as usize];
                let starts = body.triangles[wet.number as usize].map(|v| body.positions[v as usize]);
                let ends = wet.nodes.map(|node| ends[node as usize]);
                let (time, lambda) = crossing(way, starts, ends)?;
                let normal = (ends[1] - ends[0]).cross(ends[2] - ends[0]).normalize_or_zero();
                let on = lambda.x * ends[0] + lambda.y * ends[1] + lambda.z * ends[2];
                Some((time, Passed { place: on + normal * gap, normal, nodes: wet.nodes, lambda }))
            });
            if let Some((_, first)) = hits.min_by(|a, b| a.0.total_cmp(&b.0)) {
                visit(particle, &first);
            }
        }
    }
}

/// The wall integral over one triangle, cut into pieces with seven Gauss points each, for all particles near it. Only
/// pieces within reach of a particle are looked at. All points lie in one plane: r·n is the same for all of them.
#[inline(always)]
fn integrate<S: Simd, K: KernelLanes>(
    simd: S,
    wet: &WetTriangle,
    kernel: &SampleKernel,
    liquid: &NeighbourGrid,
    positions: &[Vec3],
    Pairs { ranges, pairs }: &mut Pairs,
) {
    let reach = kernel.reach();
    let low = wet.corners.iter().fold(DVec3::INFINITY, |low, c| low.min(*c)).as_vec3() - reach;
    let high = wet.corners.iter().fold(DVec3::NEG_INFINITY, |high, c| high.max(*c)).as_vec3() + reach;
    // Lanes live outside of the closure: inside, the compiler would not know the instruction set.
    ranges.clear();
    liquid.for_each_range_in(low, high, |range| ranges.push(range));
    simd.vectorize(
        #[inline(always)]
        || {
            let cut = CutTriangle::new(simd, wet.corners, kernel);
            for range in ranges {
                for i in range.clone() {
                    if let Some(pair) = cut.around::<K>(simd, positions[i]) {
                        pairs.push(Pair { particle: i as u32, ..pair });
                    }
                }
            }
        },
    );
}

/// A triangle cut into n² pieces.
struct CutTriangle<S: Simd> {
    /// Third corner, and sides to the first and second divided by n \[m\].
    corner: Vec3,
    sides: [Vec3; 2],
    /// Gradients of the coordinates along the sides, in pieces \[1/m\].
    dual: [Vec3; 2],
    normal: Vec3,
    /// Area of a piece \[m²\].
    area: f32,
    cuts: i32,
    /// Seven points around the centroid of an upright piece \[m\]; their weights; their coordinates along the sides.
    offsets: Lanes3<S>,
    weights: f32x8<S>,
    coordinates: [f32x8<S>; 2],
    /// stretch/h \[1/m\].
    scale: f32,
}

impl<S: Simd> CutTriangle<S> {
    #[inline(always)]
    fn new(simd: S, corners: [DVec3; 3], kernel: &SampleKernel) -> Self {
        let longest = LONGEST_EDGE * f64::from(kernel.reach());
        let cuts = quadrature::subdivisions(corners, longest, MOST_PIECES);
        let parts = f64::from(cuts);
        let [a, b, c] = corners;
        let sides = [(a - c) / parts, (b - c) / parts];
        let normal = sides[0].cross(sides[1]);
        let square = normal.length_squared().max(1e-300);
        let dual = [sides[1].cross(normal) / square, normal.cross(sides[0]) / square];
        let points = quadrature::seven_points();
        let lane = |value: &dyn Fn(&quadrature::Sample) -> f64| {
            let mut lanes = [0.0; LANES];
            lanes.iter_mut().zip(&points).for_each(|(lane, point)| *lane = value(point) as f32);
            f32x8::simd_from(simd, lanes)
        };
        let third = 1.0 / 3.0;
        let along = |s: &quadrature::Sample| (s.lambda.x - third) * sides[0] + (s.lambda.y - third) * sides[1];
        Self {
            corner: c.as_vec3(),
            sides: sides.map(DVec3::as_vec3),
            dual: dual.map(DVec3::as_vec3),
            normal: normal.normalize_or_zero().as_vec3(),
            area: (0.5 * normal.length()) as f32,
            cuts: cuts as i32,
            offsets: [lane(&|s| along(s).x), lane(&|s| along(s).y), lane(&|s| along(s).z)],
            weights: lane(&|s| s.weight),
            coordinates: [lane(&|s| s.lambda.x - third), lane(&|s| s.lambda.y - third)],
            scale: 1.0 / kernel.reach(),
        }
    }

    /// The integral around a particle, which has no number yet.
    #[inline(always)]
    fn around<K: KernelLanes>(&self, simd: S, p: Vec3) -> Option<Pair> {
        let reach = 1.0 / self.scale;
        let from_corner = p - self.corner;
        let height = from_corner.dot(self.normal);
        if height.abs() >= reach {
            return None;
        }
        let radius = (reach * reach - height * height).sqrt();
        let (x, y) = (self.dual[0].dot(from_corner), self.dual[1].dot(from_corner));
        let spread = [self.dual[0], self.dual[1], self.dual[0] + self.dual[1]].map(|g| radius * g.length());
        // Pieces (i, j) reach from their coordinates to one more, and i + j to two more.
        let (first, last) = ((x - spread[0]).floor() as i32, (x + spread[0]).floor() as i32);
        let (low, high) = ((y - spread[1]).floor() as i32, (y + spread[1]).floor() as i32);
        let (least, most) = ((x + y - spread[2]).floor() as i32 - 1, (x + y + spread[2]).floor() as i32);
        let farthest = self.farthest(reach);
        let mut sums = Sums { flux: splat(simd, 0.0), weight: splat(simd, 0.0), moments: [splat(simd, 0.0); 2] };
        let mut felt = false;
        for i in first.max(0)..=last.min(self.cuts - 1) {
            let from = low.max(least - i).max(0);
            let to = high.min(most - i).min(self.cuts - 1 - i);
            for j in from..=to {
                for (third, sign) in [(1.0 / 3.0, 1.0), (2.0 / 3.0, -1.0)] {
                    let (u, v) = (i as f32 + third, j as f32 + third);
                    let center = self.corner + self.sides[0] * u + self.sides[1] * v - p;
                    // The last of a row has no neighbour upside down.
                    let exists = sign > 0.0 || i + j < self.cuts - 1;
                    if exists && center.length_squared() < farthest {
                        self.add_piece::<K>(simd, (center, [u, v], sign), &mut sums);
                        felt = true;
                    }
                }
            }
        }
        let weight = add_up(sums.weight);
        if !felt || weight == 0.0 {
            return None;
        }
        let scale_squared = self.scale * self.scale;
        let push = self.normal * (self.area * scale_squared * self.scale);
        let parts = f32::recip(self.cuts as f32);
        let [x, y] = sums.moments.map(|moment| add_up(moment) * parts);
        Some(Pair {
            particle: u32::MAX,
            deficit: add_up(sums.flux) * height * self.scale * self.area * scale_squared / (4.0 * PI),
            parts: [push * x, push * y, push * (weight - x - y)],
        })
    }

    /// Square of the distance at which the centre of a piece cannot be felt any more \[m²\].
    #[inline(always)]
    fn farthest(&self, reach: f32) -> f32 {
        // Two thirds of a median, which is shorter than the longer of its neighbouring sides.
        let side = self.sides[0].length().max(self.sides[1].length()).max((self.sides[0] - self.sides[1]).length());
        let farthest = reach + side * (2.0 / 3.0);
        farthest * farthest
    }

    /// Seven points: Σ w T/q³, Σ w W and Σ w W (u, v).
    #[inline(always)]
    fn add_piece<K: KernelLanes>(&self, simd: S, (center, [u, v], sign): (Vec3, [f32; 2], f32), sums: &mut Sums<S>) {
        let (sign, scale) = (splat(simd, sign), splat(simd, self.scale));
        let r = plus_scaled(splat3(simd, pack(center, 0.0)), sign, self.offsets);
        let q = (dot(r, r)).sqrt() * scale;
        let near = q.max(splat(simd, 0.01));
        sums.flux += self.weights * K::tail(simd, q) / (near * near * near);
        let weight = self.weights * K::value(simd, q);
        sums.weight += weight;
        sums.moments[0] += weight * (splat(simd, u) + sign * self.coordinates[0]);
        sums.moments[1] += weight * (splat(simd, v) + sign * self.coordinates[1]);
    }
}

/// Sums over Gauss points.
struct Sums<S: Simd> {
    flux: f32x8<S>,
    weight: f32x8<S>,
    moments: [f32x8<S>; 2],
}

/// Where a particle was stopped by a body.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Passed {
    pub(crate) place: DVec3,
    pub(crate) normal: DVec3,
    pub(crate) nodes: [u32; 3],
    pub(crate) lambda: DVec3,
}

/// Part of the step after which a point on its way passes a moving triangle from its front to its back, and where in the
/// triangle. The height above the plane is taken to change evenly over the step.
fn crossing([from, to]: [DVec3; 2], starts: [DVec3; 3], ends: [DVec3; 3]) -> Option<(f64, DVec3)> {
    let height = |p: DVec3, [a, b, c]: [DVec3; 3]| (p - a).dot((b - a).cross(c - a).normalize_or_zero());
    let (before, after) = (height(from, starts), height(to, ends));
    if before < 0.0 || after >= 0.0 {
        return None;
    }
    let time = before / (before - after);
    let at = |k: usize| starts[k].lerp(ends[k], time);
    let [a, b, c] = [at(0), at(1), at(2)];
    let (p, normal) = (from.lerp(to, time), (b - a).cross(c - a));
    let part = |u: DVec3, v: DVec3| (u - p).cross(v - p).dot(normal) / normal.length_squared();
    let lambda = DVec3::new(part(b, c), part(c, a), part(a, b));
    // A hair more than the triangle: nothing slips between two.
    (lambda.min_element() > -1e-3).then_some((time, lambda))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moving_triangle_is_passed_from_its_front_only() {
        let triangle = [DVec3::ZERO, DVec3::Z, DVec3::X];
        let up = triangle.map(|p| p + DVec3::Y);
        let inside = DVec3::new(0.2, 0.5, 0.2);
        let (time, lambda) = crossing([inside, inside], triangle, up).unwrap();
        assert!((time - 0.5).abs() < 1e-12 && (lambda - DVec3::new(0.6, 0.2, 0.2)).length() < 1e-12);
        assert!(crossing([inside, inside], up, triangle).is_none(), "it comes out of the back");
        let beside = DVec3::new(0.7, 0.5, 0.7);
        assert!(crossing([beside, beside], triangle, up).is_none());
    }

    #[test]
    fn a_rigid_body_yields_as_one() {
        let corners = vec![DVec3::ZERO, 2.0 * DVec3::X, 2.0 * DVec3::Y];
        let answer = Answer::Rigid {
            inverse_mass: DVec3::splat(0.5),
            inverse_inertia: DMat3::IDENTITY * 0.25,
            center: DVec3::X,
        };
        let body = Body { positions: corners, velocities: vec![DVec3::ZERO; 3], triangles: vec![[0, 1, 2]], answer };
        let mut bodies = Bodies { bodies: vec![body], ..Bodies::default() };
        bodies.number();
        bodies.answer[1] = DVec3::Y;
        bodies.yield_to_forces();
        // Force y at 1 m from the centre: 0.5 m/s² and 0.25 rad/s² about z.
        assert!((bodies.answer[0] - DVec3::new(0.0, 0.25, 0.0)).length() < 1e-12);
        assert!((bodies.answer[1] - DVec3::new(0.0, 0.75, 0.0)).length() < 1e-12);
        assert!((bodies.answer[2] - DVec3::new(-0.5, 0.25, 0.0)).length() < 1e-12);
    }
}
