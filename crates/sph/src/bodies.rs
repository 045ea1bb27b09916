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

use crate::surface::{LONGEST_EDGE, MOST_PIECES, Miter, SampleKernel};
use glam::{DMat3, DVec3, Vec3};
use meniscus_geometry::{NeighbourGrid, Periodic, quadrature};
use rayon::prelude::*;

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
        /// Inverse mass \[1/kg\].
        inverse_mass: f64,
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

/// Piece of a triangle with its Gauss points.
#[derive(Debug, Clone, Copy, Default)]
struct Piece {
    /// Number of the wet triangle.
    triangle: u32,
    points: [Point; 7],
}

#[derive(Debug, Clone, Copy, Default)]
struct Point {
    position: Vec3,
    /// Normal times area \[m²\].
    area: Vec3,
    lambda: Vec3,
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
    /// Its sides are cut into so many.
    cuts: u32,
}

/// All bodies, and the points of a step.
#[derive(Debug, Clone, Default)]
pub(crate) struct Bodies {
    pub(crate) bodies: Vec<Body>,
    /// Number of the first node of each body, and of all nodes.
    first: Vec<u32>,
    wet: Vec<WetTriangle>,
    miters: Vec<Miter>,
    /// The points for each number of cuts.
    rules: Vec<Vec<quadrature::Sample>>,
    /// Which wet triangle a piece belongs to, and which of its pieces it is.
    owners: Vec<[u32; 2]>,
    pieces: Vec<Piece>,
    centers: Vec<Vec3>,
    grid: NeighbourGrid,
    /// How far the centre of a piece may be from a particle that feels it \[m\].
    reach: f32,
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
    pub(crate) fn nodes_of(&self, body: usize) -> std::ops::Range<usize> {
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

    /// Puts Gauss points on the triangles that liquid may touch: those with a particle in the cells around them.
    pub(crate) fn sample(&mut self, kernel: &SampleKernel, liquid: &NeighbourGrid) {
        self.find_wet(kernel, liquid);
        let longest = LONGEST_EDGE * f64::from(kernel.reach());
        self.owners.clear();
        for (number, triangle) in (0..).zip(&mut self.wet) {
            triangle.cuts = quadrature::subdivisions(triangle.corners, longest, MOST_PIECES);
            while self.rules.len() <= triangle.cuts as usize {
                self.rules.push(quadrature::subdivided(self.rules.len() as u32).collect());
            }
            self.owners.extend((0..triangle.cuts * triangle.cuts).map(|piece| [number, piece]));
        }
        self.pieces.resize(self.owners.len(), Piece::default());
        self.centers.resize(self.owners.len(), Vec3::ZERO);
        let (wet, rules) = (&self.wet, &self.rules);
        let both = self.pieces.par_iter_mut().zip(&mut self.centers).zip(&self.owners).with_min_len(64);
        both.for_each(|((piece, center), &[number, index])| {
            let triangle = &wet[number as usize];
            let [a, b, c] = triangle.corners;
            let area = 0.5 * (b - a).cross(c - a);
            let rule = &rules[triangle.cuts as usize][7 * index as usize..][..7];
            piece.triangle = number;
            for (point, sample) in piece.points.iter_mut().zip(rule) {
                *point = Point {
                    position: sample.at(triangle.corners).as_vec3(),
                    area: (area * sample.weight).as_vec3(),
                    lambda: sample.lambda.as_vec3(),
                };
            }
            *center = piece.points[0].position;
        });
        // Corners of a piece lie two thirds of its median, at most of its longest side, from the centre.
        self.reach = kernel.reach() + (longest * (2.0 / 3.0)) as f32;
        self.grid.sort(&self.centers, self.reach, Periodic::default());
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
                    self.wet.push(WetTriangle { body: b as u32, number, nodes, corners, cuts: 1 });
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

    /// What the bodies do to a particle, and the links to their nodes; nothing out of reach.
    pub(crate) fn touch(
        &self,
        (particle, p): (u32, Vec3),
        kernel: &SampleKernel,
        links: &mut Vec<Link>,
    ) -> Option<BodyTouch> {
        if self.pieces.is_empty() {
            return None;
        }
        let first = links.len();
        let reach = Vec3::splat(self.reach);
        let mut sum = BodyTouch::default();
        let order = self.grid.order();
        self.grid.for_each_range_in(p - reach, p + reach, |range| {
            for &index in &order[range] {
                let piece = &self.pieces[index as usize];
                if piece.points[0].position.distance_squared(p) >= self.reach * self.reach {
                    continue;
                }
                let mut parts = [Vec3::ZERO; 3];
                let mut felt = false;
                for point in &piece.points {
                    let Some([w, flux]) = kernel.weigh(point.position - p, point.area) else { continue };
                    felt = true;
                    sum.deficit -= flux;
                    let push = point.area * w;
                    parts[0] += push * point.lambda.x;
                    parts[1] += push * point.lambda.y;
                    parts[2] += push * point.lambda.z;
                }
                if felt {
                    let nodes = self.wet[piece.triangle as usize].nodes;
                    for (node, part) in nodes.into_iter().zip(parts) {
                        match links[first..].iter_mut().find(|link| link.node == node) {
                            Some(link) => link.weight += part,
                            None => links.push(Link { particle, node, weight: part }),
                        }
                    }
                }
            }
        });
        if links.len() == first {
            return None;
        }
        let (cubed, deficit) = kernel.norms();
        sum.deficit *= deficit;
        if sum.deficit < 0.0 {
            // Behind the moved surface: the rest of the kernel is in the liquid.
            sum.deficit += 1.0;
        }
        for link in &mut links[first..] {
            link.weight *= cubed;
            sum.push += link.weight;
            sum.flux += link.weight.dot(self.velocity(link.node));
        }
        Some(sum)
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
                inverse_mass + trace * arm.length_squared()
            }
        }
    }

    /// The first triangle that a particle passed on its way `from` → `to` \[m\], while the nodes went from where they were
    /// to `ends`: a place before it and its normal then, its nodes and their shares. Only from outside to inside.
    pub(crate) fn passed(&self, [from, to]: [DVec3; 2], ends: &[DVec3], gap: f64) -> Option<Passed> {
        let reach = Vec3::splat(self.reach);
        let middle = from.as_vec3();
        let mut first: Option<(f64, Passed)> = None;
        let mut seen = u32::MAX;
        self.grid.for_each_range_in(middle - reach, middle + reach, |range| {
            for &index in &self.grid.order()[range] {
                let number = self.pieces[index as usize].triangle;
                if number == seen {
                    continue;
                }
                seen = number;
                let wet = &self.wet[number as usize];
                let body = &self.bodies[wet.body as usize];
                let starts = body.triangles[wet.number as usize].map(|v| body.positions[v as usize]);
                let ends = wet.nodes.map(|node| ends[node as usize]);
                let Some((time, lambda)) = crossing([from, to], starts, ends) else { continue };
                if first.is_none_or(|(earliest, _)| time < earliest) {
                    let normal = (ends[1] - ends[0]).cross(ends[2] - ends[0]).normalize_or_zero();
                    let on = lambda.x * ends[0] + lambda.y * ends[1] + lambda.z * ends[2];
                    first = Some((time, Passed { place: on + normal * gap, normal, nodes: wet.nodes, lambda }));
                }
            }
        });
        first.map(|(_, passed)| passed)
    }
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
        let answer = Answer::Rigid { inverse_mass: 0.5, inverse_inertia: DMat3::IDENTITY * 0.25, center: DVec3::X };
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
