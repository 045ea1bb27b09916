//! The wall integral over the triangles of a body.

use super::{Pair, Rub};
use crate::lanes::{KernelLanes, LANES, Lanes3, add_up, add_up3, dot, pack, plus_scaled, splat, splat3};
use crate::params::Distribution;
use crate::surface::{MOST_PIECES, SampleKernel};
use crate::traction::Traction;
use fearless_simd::{Simd, SimdBase, SimdFloat, SimdFrom, f32x8};
use glam::{DVec3, Vec3};
use meniscus_geometry::{NeighbourGrid, closest_point, quadrature};
use std::f32::consts::PI;
use std::marker::PhantomData;
use std::ops::Range;

/// Pieces seen from far away are this many times as long as those seen from a fifth of the reach.
pub(crate) const FARTHEST: f32 = 2.0;

/// A triangle near to liquid, as its integral sees it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Face {
    /// Corners \[m\].
    pub(super) own: [DVec3; 3],
    /// Moved into the liquid by the offset \[m\].
    pub(super) moved: [DVec3; 3],
}

/// How a triangle is looked at.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sight<'a> {
    pub(crate) kernel: &'a SampleKernel,
    /// Longest edge of a piece seen from 0.2 reaches, in reaches.
    pub(crate) longest: f32,
    /// How far friction reaches \[m\], if there is any.
    pub(crate) rub: Option<f64>,
    /// The paper's wall instead of the integral.
    pub(crate) traction: Option<Pushing>,
}

impl Sight<'_> {
    /// How far a surface is felt \[m\].
    pub(super) fn reach(&self) -> f32 {
        self.traction.map_or(self.kernel.reach(), |traction| traction.reach)
    }
}

/// The paper's traction, ready for lanes: see [`crate::Traction`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Pushing {
    /// h \[m\].
    reach: f32,
    /// c² and β.
    rest: f32,
    adhesion: f32,
    /// k/(1 − c²) \[Pa\].
    strength: f32,
    /// Whether points push as Bridson's impulses do.
    bridson: bool,
}

impl Pushing {
    pub(crate) fn new(traction: &Traction, distribution: Distribution) -> Self {
        let c = 1.0 - traction.zero / traction.reach;
        Self {
            reach: traction.reach as f32,
            rest: (c * c) as f32,
            adhesion: traction.adhesion as f32,
            strength: (traction.stiffness / (1.0 - c * c)) as f32,
            bridson: distribution == Distribution::Bridson,
        }
    }
}

/// The wall integral over one triangle, cut into pieces with seven Gauss points each, for all particles near it. Only
/// pieces within reach of a particle are looked at. All points lie in one plane: r·n is the same for all of them.
#[inline(always)]
pub(super) fn integrate<S: Simd, K: KernelLanes>(
    simd: S,
    face: &Face,
    sight: Sight,
    (liquid, positions): (&NeighbourGrid, &[Vec3]),
    (ranges, pairs): (&mut Vec<Range<usize>>, &mut Vec<Pair>),
) {
    let farthest = sight.reach();
    let reach = sight.rub.map_or(farthest, |rub| farthest.max(rub as f32));
    let low = face.moved.iter().chain(&face.own).fold(DVec3::INFINITY, |low, c| low.min(*c)).as_vec3() - reach;
    let high = face.moved.iter().chain(&face.own).fold(DVec3::NEG_INFINITY, |high, c| high.max(*c)).as_vec3() + reach;
    // Lanes live outside of the closure: inside, the compiler would not know the instruction set.
    ranges.clear();
    liquid.for_each_range_in(low, high, |range| ranges.push(range));
    simd.vectorize(
        #[inline(always)]
        || {
            let corners = if sight.traction.is_some() { face.own } else { face.moved };
            let cut = CutTriangle::new(simd, corners, farthest, sight.longest);
            for i in ranges.iter().flat_map(Clone::clone) {
                let rub = sight.rub.and_then(|reach| rub(face.own, positions[i], reach));
                let pair = match sight.traction {
                    None => cut.press::<K>(simd, positions[i]),
                    Some(pushing) => cut.push(simd, positions[i], pushing),
                };
                if let Some(pair) = pair.or_else(|| rub.map(|_| Pair::default())) {
                    pairs.push(Pair { particle: i as u32, rub: rub.unwrap_or_default(), ..pair });
                }
            }
        },
    );
}

/// Where a particle is nearest to a triangle, if friction reaches it.
fn rub(corners: [DVec3; 3], position: Vec3, reach: f64) -> Option<Rub> {
    let position = position.as_dvec3();
    let (nearest, lambda) = closest_point(position, corners);
    let distance = nearest.distance(position);
    (distance < reach).then_some(Rub { distance: distance as f32, lambda: lambda.as_vec3() })
}

/// A triangle that can be cut into n² pieces.
struct CutTriangle<S: Simd> {
    /// Third corner, and sides to the first and second \[m\].
    corner: Vec3,
    sides: [Vec3; 2],
    /// Gradients of the coordinates along the sides \[1/m\], and how steep they and their sum are.
    dual: [Vec3; 2],
    steepness: [f32; 3],
    normal: Vec3,
    /// Area \[m²\].
    area: f32,
    /// Longest edge \[m\].
    edge: f32,
    /// Seven points around the centroid \[m\]; their weights; their coordinates along the sides.
    offsets: Lanes3<S>,
    weights: f32x8<S>,
    coordinates: [f32x8<S>; 2],
    /// One over the reach \[1/m\].
    scale: f32,
    /// Longest edge of a piece seen from 0.2 reaches, in reaches.
    longest: f32,
}

/// One way to cut it.
struct Cuts<S: Simd> {
    count: i32,
    /// Sides of a piece \[m\].
    sides: [Vec3; 2],
    offsets: Lanes3<S>,
    /// Square of the distance at which the centre of a piece cannot be felt any more \[m²\].
    farthest: f32,
}

impl<S: Simd> CutTriangle<S> {
    #[inline(always)]
    fn new(simd: S, corners: [DVec3; 3], reach: f32, longest: f32) -> Self {
        let [a, b, c] = corners;
        let sides = [a - c, b - c];
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
            steepness: [dual[0].length(), dual[1].length(), (dual[0] + dual[1]).length()].map(|g| g as f32),
            normal: normal.normalize_or_zero().as_vec3(),
            area: (0.5 * normal.length()) as f32,
            edge: sides[0].length().max(sides[1].length()).max(a.distance(b)) as f32,
            offsets: [lane(&|s| along(s).x), lane(&|s| along(s).y), lane(&|s| along(s).z)],
            weights: lane(&|s| s.weight),
            coordinates: [lane(&|s| s.lambda.x - third), lane(&|s| s.lambda.y - third)],
            scale: 1.0 / reach,
            longest,
        }
    }

    /// Pieces for a particle at a height: the nearer, the smaller. An edge of half a reach seen from 0.2 reaches, and two and
    /// a half times the height elsewhere, leave an error of γ below 0.002.
    #[inline(always)]
    fn cuts(&self, simd: S, height: f32) -> Cuts<S> {
        let reach = 1.0 / self.scale;
        let nearness = (5.0 * height.abs() * self.scale).clamp(0.5, FARTHEST);
        let count = (self.edge / (self.longest * nearness * reach)).ceil().clamp(1.0, MOST_PIECES as f32);
        let part = 1.0 / count;
        // Two thirds of a median, which is shorter than the longer of its neighbouring sides.
        let farthest = reach + self.edge * part * (2.0 / 3.0);
        Cuts {
            count: count as i32,
            sides: self.sides.map(|side| side * part),
            offsets: self.offsets.map(|offset| offset * splat(simd, part)),
            farthest: farthest * farthest,
        }
    }

    /// Calls `sums` with all pieces that a particle may feel; returns its height \[m\] and the number of cuts.
    #[inline(always)]
    fn visit(&self, simd: S, p: Vec3, sums: &mut impl Points<S>) -> Option<(f32, f32)> {
        let reach = 1.0 / self.scale;
        let from_corner = p - self.corner;
        let height = from_corner.dot(self.normal);
        if height.abs() >= reach {
            return None;
        }
        let radius = (reach * reach - height * height).sqrt();
        let (x, y) = (self.dual[0].dot(from_corner), self.dual[1].dot(from_corner));
        let spread = self.steepness.map(|g| radius * g);
        if x < -spread[0] || y < -spread[1] || x + y > 1.0 + spread[2] {
            return None;
        }
        let cuts = self.cuts(simd, height);
        let parts = cuts.count as f32;
        let (x, y, spread) = (x * parts, y * parts, spread.map(|spread| spread * parts));
        // Pieces (i, j) reach from their coordinates to one more, and i + j to two more.
        let (first, last) = ((x - spread[0]).floor() as i32, (x + spread[0]).floor() as i32);
        let (low, high) = ((y - spread[1]).floor() as i32, (y + spread[1]).floor() as i32);
        let (least, most) = ((x + y - spread[2]).floor() as i32 - 1, (x + y + spread[2]).floor() as i32);
        let mut felt = false;
        for i in first.max(0)..=last.min(cuts.count - 1) {
            let from = low.max(least - i).max(0);
            let to = high.min(most - i).min(cuts.count - 1 - i);
            for j in from..=to {
                for (third, sign) in [(1.0 / 3.0, 1.0), (2.0 / 3.0, -1.0)] {
                    let (u, v) = (i as f32 + third, j as f32 + third);
                    let center = self.corner + cuts.sides[0] * u + cuts.sides[1] * v - p;
                    // The last of a row has no neighbour upside down.
                    let exists = sign > 0.0 || i + j < cuts.count - 1;
                    if exists && center.length_squared() < cuts.farthest {
                        let sign = splat(simd, sign);
                        let apart = plus_scaled(splat3(simd, pack(center, 0.0)), sign, cuts.offsets);
                        let [u, v] = [(u, 0), (v, 1)].map(|(at, k)| splat(simd, at) + sign * self.coordinates[k]);
                        sums.add(simd, self.weights, apart, [u, v]);
                        felt = true;
                    }
                }
            }
        }
        felt.then_some((height, parts))
    }

    /// The wall integral around a particle, which has no number yet.
    #[inline(always)]
    fn press<K: KernelLanes>(&self, simd: S, p: Vec3) -> Option<Pair> {
        let zero = splat(simd, 0.0);
        let scale = splat(simd, self.scale);
        let mut sums = Pressing::<S, K> { scale, flux: zero, weight: zero, moments: [zero; 2], kernel: PhantomData };
        let (height, parts) = self.visit(simd, p, &mut sums)?;
        let weight = add_up(sums.weight);
        if weight == 0.0 {
            return None;
        }
        let area = self.area / (parts * parts) * self.scale * self.scale;
        let push = self.normal * (area * self.scale);
        let [x, y] = sums.moments.map(|moment| add_up(moment) / parts);
        Some(Pair {
            deficit: add_up(sums.flux) * height * self.scale * area / (4.0 * PI),
            parts: [push * x, push * y, push * (weight - x - y)],
            ..Pair::default()
        })
    }

    /// The force of the paper's wall on a particle \[N\], a part for each corner. Behind the triangle it is what it is before
    /// it: pushed back, not out.
    #[inline(always)]
    fn push(&self, simd: S, p: Vec3, pushing: Pushing) -> Option<Pair> {
        let height = (p - self.corner).dot(self.normal);
        let before = p - self.normal * (2.0 * height.min(0.0));
        let zero = splat(simd, 0.0);
        let mut sums = Tractions { pushing, parts: 1.0, force: [zero; 3], along: [[zero; 3]; 2] };
        if pushing.bridson {
            sums.parts = self.cuts(simd, height).count as f32;
        }
        let (_, parts) = self.visit(simd, before, &mut sums)?;
        let area = self.area / (parts * parts);
        let force = add_up3(sums.force) * area;
        let [x, y] = sums.along.map(|along| add_up3(along) * (area / parts));
        (force != Vec3::ZERO).then(|| Pair { parts: [x, y, force - x - y], ..Pair::default() })
    }
}

/// What is summed over Gauss points.
trait Points<S: Simd> {
    /// Seven points with their weights, apart from the particle by these vectors \[m\], at these coordinates in pieces.
    fn add(&mut self, simd: S, weights: f32x8<S>, apart: Lanes3<S>, at: [f32x8<S>; 2]);
}

/// Σ w T/q³, Σ w W and Σ w W (u, v).
struct Pressing<S: Simd, K> {
    scale: f32x8<S>,
    flux: f32x8<S>,
    weight: f32x8<S>,
    moments: [f32x8<S>; 2],
    kernel: PhantomData<K>,
}

impl<S: Simd, K: KernelLanes> Points<S> for Pressing<S, K> {
    #[inline(always)]
    fn add(&mut self, simd: S, weights: f32x8<S>, apart: Lanes3<S>, [u, v]: [f32x8<S>; 2]) {
        let q = dot(apart, apart).sqrt() * self.scale;
        let near = q.max(splat(simd, 0.01));
        self.flux += weights * K::tail(simd, q) / (near * near * near);
        let weight = weights * K::value(simd, q);
        self.weight += weight;
        self.moments[0] += weight * u;
        self.moments[1] += weight * v;
    }
}

/// Σ w τ (p − x)/r, and the same times u and v \[Pa\].
struct Tractions<S: Simd> {
    pushing: Pushing,
    /// Number of cuts, if Bridson's factor is asked for.
    parts: f32,
    force: Lanes3<S>,
    along: [Lanes3<S>; 2],
}

impl<S: Simd> Points<S> for Tractions<S> {
    #[inline(always)]
    fn add(&mut self, simd: S, weights: f32x8<S>, apart: Lanes3<S>, [u, v]: [f32x8<S>; 2]) {
        let Pushing { reach, rest, adhesion, strength, bridson } = self.pushing;
        let (zero, one) = (splat(simd, 0.0), splat(simd, 1.0));
        let r = dot(apart, apart).sqrt();
        let s = (one - r * splat(simd, 1.0 / reach)).max(zero);
        let square = s * s;
        let beyond = square - splat(simd, rest);
        let shape = beyond.max(zero) + beyond.min(zero) * splat(simd, adhesion);
        let mut weight = weights * square * shape * splat(simd, -strength) / r.max(splat(simd, 1e-6 * reach));
        if bridson {
            // 2/(1 + Σ λ²) \[MSTHG04 eq. 21\].
            let part = splat(simd, 1.0 / self.parts);
            let (a, b) = (u * part, v * part);
            let c = one - a - b;
            weight = weight * splat(simd, 2.0) / (one + a * a + b * b + c * c);
        }
        self.force = plus_scaled(self.force, weight, apart);
        self.along[0] = plus_scaled(self.along[0], weight * u, apart);
        self.along[1] = plus_scaled(self.along[1], weight * v, apart);
    }
}
