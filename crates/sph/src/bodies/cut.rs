//! The wall integral over the triangles of a body.

use super::{Pair, Pairs, Rub};
use crate::lanes::{KernelLanes, LANES, Lanes3, add_up, add_up3, dot, minus, pack, plus_scaled, scaled, splat, splat3};
use crate::neighbours::Columns;
use crate::params::Distribution;
use crate::surface::{MOST_PIECES, SampleKernel};
use crate::traction::Traction;
use fearless_simd::{Select, Simd, SimdBase, SimdFloat, SimdFrom, SimdMask, f32x8};
use glam::{DVec3, Vec3};
use meniscus_geometry::{NeighbourGrid, quadrature};
use std::f32::consts::PI;
use std::marker::PhantomData;

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
    (liquid, places): (&NeighbourGrid, &Columns),
    Pairs { ranges, pairs, rubs: all_rubs }: &mut Pairs,
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
            let rubbing = sight.rub.map(|reach| (Nearest::new(simd, face.own), reach as f32));
            for range in &*ranges {
                for from in range.clone().step_by(LANES) {
                    let p = places.eight(simd, from);
                    let real = 0xff_u64 >> (LANES - (range.end - from).min(LANES));
                    let (feet, felt) = cut.feet(simd, p);
                    let (rubs, rubbed) = match &rubbing {
                        Some((nearest, reach)) => nearest.rubs(simd, p, *reach),
                        None => (Rubs::default(), 0),
                    };
                    let mut left = rubbed & real;
                    while left != 0 {
                        let k = left.trailing_zeros() as usize;
                        left &= left - 1;
                        all_rubs.push(((from + k) as u32, rubs.at(k)));
                    }
                    let mut left = felt & real;
                    while left != 0 {
                        let k = left.trailing_zeros() as usize;
                        left &= left - 1;
                        let foot = feet.at(k);
                        let pair = match sight.traction {
                            None => cut.press::<K>(simd, foot),
                            Some(pushing) => cut.push(simd, foot, pushing),
                        };
                        if let Some(pair) = pair {
                            pairs.push(Pair { particle: (from + k) as u32, ..pair });
                        }
                    }
                }
            }
        },
    );
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

/// Where a particle stands before a triangle.
#[derive(Debug, Clone, Copy)]
struct Foot {
    /// Position \[m\].
    place: Vec3,
    /// Above the plane \[m\].
    height: f32,
    /// Coordinates along the sides of the point below it.
    at: [f32; 2],
    /// How far it feels the plane around that point \[m\].
    radius: f32,
}

/// Where eight particles stand.
struct Feet {
    place: [[f32; LANES]; 3],
    height: [f32; LANES],
    at: [[f32; LANES]; 2],
    radius: [f32; LANES],
}

impl Feet {
    #[inline(always)]
    fn at(&self, k: usize) -> Foot {
        Foot {
            place: Vec3::from_array(self.place.map(|x| x[k])),
            height: self.height[k],
            at: self.at.map(|x| x[k]),
            radius: self.radius[k],
        }
    }
}

/// Where eight particles are nearest to a triangle: how far away \[m\], and two of the coordinates there.
#[derive(Default)]
struct Rubs {
    distance: [f32; LANES],
    at: [[f32; LANES]; 2],
}

impl Rubs {
    #[inline(always)]
    fn at(&self, k: usize) -> Rub {
        let [u, v] = self.at.map(|x| x[k]);
        Rub { distance: self.distance[k], lambda: Vec3::new(u, v, 1.0 - u - v) }
    }
}

/// A triangle to which the nearest point is sought.
struct Nearest<S: Simd> {
    /// Third corner, and sides from it to the first and second, and from the first to the second \[m\].
    corner: Lanes3<S>,
    sides: [Lanes3<S>; 3],
    /// One over the squares of their lengths \[1/m²\].
    inverse_squares: [f32x8<S>; 3],
    /// Gradients of the coordinates along the first two sides \[1/m\].
    dual: [Lanes3<S>; 2],
}

impl<S: Simd> Nearest<S> {
    #[inline(always)]
    fn new(simd: S, [a, b, c]: [DVec3; 3]) -> Self {
        let lanes = |v: DVec3| splat_vector(simd, v.as_vec3());
        let sides = [a - c, b - c, b - a];
        Self {
            corner: lanes(c),
            sides: sides.map(lanes),
            inverse_squares: sides.map(|side| splat(simd, (1.0 / side.length_squared().max(1e-30)) as f32)),
            dual: dual([sides[0], sides[1]]).map(lanes),
        }
    }

    /// Where eight particles are nearest to the triangle; which of them are within reach, as bits. The nearest point lies
    /// below a particle, if it stands above the triangle, or on a side.
    #[inline(always)]
    fn rubs(&self, simd: S, p: Lanes3<S>, reach: f32) -> (Rubs, u64) {
        let (zero, one) = (splat(simd, 0.0), splat(simd, 1.0));
        let from_third = minus(p, self.corner);
        let from_first = minus(from_third, self.sides[0]);
        let (x, y) = (dot(self.dual[0], from_third), dot(self.dual[1], from_third));
        let below = minus(minus(from_third, scaled(x, self.sides[0])), scaled(y, self.sides[1]));
        let above = x.simd_ge(zero) & y.simd_ge(zero) & (x + y).simd_le(one);
        let square = above.select(dot(below, below), splat(simd, f32::MAX));
        let [(t, first), (u, second), (v, third)] =
            [self.on_side(simd, 0, from_third), self.on_side(simd, 1, from_third), self.on_side(simd, 2, from_first)];
        let best = (square, x, y);
        let best = nearer(best, (first, t, zero));
        let best = nearer(best, (second, zero, u));
        let (square, x, y) = nearer(best, (third, one - v, v));
        let distance = square.sqrt();
        let near = distance.simd_lt(splat(simd, reach));
        (Rubs { distance: distance.into(), at: [x.into(), y.into()] }, near.to_bitmask())
    }

    /// Where on a side eight points are nearest to it, as a part of it, and the squares of their distances \[m²\]; the points are
    /// seen from where it starts.
    #[inline(always)]
    fn on_side(&self, simd: S, k: usize, p: Lanes3<S>) -> (f32x8<S>, f32x8<S>) {
        let along = dot(p, self.sides[k]) * self.inverse_squares[k];
        let t = along.max(splat(simd, 0.0)).min(splat(simd, 1.0));
        let apart = minus(p, scaled(t, self.sides[k]));
        (t, dot(apart, apart))
    }
}

/// The nearer of two points, lane by lane: squares of distances, and coordinates.
#[inline(always)]
fn nearer<S: Simd>(
    a: (f32x8<S>, f32x8<S>, f32x8<S>),
    b: (f32x8<S>, f32x8<S>, f32x8<S>),
) -> (f32x8<S>, f32x8<S>, f32x8<S>) {
    let is_nearer = b.0.simd_lt(a.0);
    (is_nearer.select(b.0, a.0), is_nearer.select(b.1, a.1), is_nearer.select(b.2, a.2))
}

/// One vector in all lanes.
#[inline(always)]
fn splat_vector<S: Simd>(simd: S, v: Vec3) -> Lanes3<S> {
    splat3(simd, pack(v, 0.0))
}

/// Gradients of the coordinates along two sides \[1/m\].
fn dual(sides: [DVec3; 2]) -> [DVec3; 2] {
    let normal = sides[0].cross(sides[1]);
    let square = normal.length_squared().max(1e-300);
    [sides[1].cross(normal) / square, normal.cross(sides[0]) / square]
}

impl<S: Simd> CutTriangle<S> {
    #[inline(always)]
    fn new(simd: S, corners: [DVec3; 3], reach: f32, longest: f32) -> Self {
        let [a, b, c] = corners;
        let sides = [a - c, b - c];
        let normal = sides[0].cross(sides[1]);
        let dual = dual(sides);
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
    /// a half times the height elsewhere, leave an error of γ below 0.0025.
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
            offsets: scaled(splat(simd, part), self.offsets),
            farthest: farthest * farthest,
        }
    }

    /// Where eight particles stand before the triangle, and which of them may feel it, as bits.
    #[inline(always)]
    fn feet(&self, simd: S, p: Lanes3<S>) -> (Feet, u64) {
        let (reach, zero) = (splat(simd, 1.0 / self.scale), splat(simd, 0.0));
        let from_corner = minus(p, splat_vector(simd, self.corner));
        let height = dot(from_corner, splat_vector(simd, self.normal));
        let square = reach * reach - height * height;
        let radius = square.max(zero).sqrt();
        let x = dot(splat_vector(simd, self.dual[0]), from_corner);
        let y = dot(splat_vector(simd, self.dual[1]), from_corner);
        let [left, low, beyond] = self.steepness;
        let inside = (x + radius * splat(simd, left)).simd_ge(zero) & (y + radius * splat(simd, low)).simd_ge(zero);
        let before = (x + y).simd_le(splat(simd, 1.0) + radius * splat(simd, beyond));
        let felt = square.simd_gt(zero) & inside & before;
        let place = [p[0].into(), p[1].into(), p[2].into()];
        let feet = Feet { place, height: height.into(), at: [x.into(), y.into()], radius: radius.into() };
        (feet, felt.to_bitmask())
    }

    /// Calls `sums` with all pieces that a particle may feel; returns the number of cuts.
    #[inline(always)]
    fn visit(&self, simd: S, foot: Foot, sums: &mut impl Points<S>) -> Option<f32> {
        let Foot { place: p, height, at: [x, y], radius } = foot;
        let cuts = self.cuts(simd, height);
        let parts = cuts.count as f32;
        let (x, y, spread) = (x * parts, y * parts, self.steepness.map(|g| radius * g * parts));
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
                        let u = splat(simd, u) + sign * self.coordinates[0];
                        let v = splat(simd, v) + sign * self.coordinates[1];
                        sums.add(simd, self.weights, apart, [u, v]);
                        felt = true;
                    }
                }
            }
        }
        felt.then_some(parts)
    }

    /// The wall integral around a particle, which has no number yet.
    #[inline(always)]
    fn press<K: KernelLanes>(&self, simd: S, foot: Foot) -> Option<Pair> {
        let zero = splat(simd, 0.0);
        let scale = splat(simd, self.scale);
        let mut sums = Pressing::<S, K> { scale, flux: zero, weight: zero, moments: [zero; 2], kernel: PhantomData };
        let parts = self.visit(simd, foot, &mut sums)?;
        let weight = add_up(sums.weight);
        if weight == 0.0 {
            return None;
        }
        let area = self.area / (parts * parts) * self.scale * self.scale;
        let push = self.normal * (area * self.scale);
        let [x, y] = sums.moments.map(|moment| add_up(moment) / parts);
        Some(Pair {
            deficit: add_up(sums.flux) * foot.height * self.scale * area / (4.0 * PI),
            parts: [push * x, push * y, push * (weight - x - y)],
            ..Pair::default()
        })
    }

    /// The force of the paper's wall on a particle \[N\], a part for each corner. Behind the triangle it is what it is before
    /// it: pushed back, not out.
    #[inline(always)]
    fn push(&self, simd: S, foot: Foot, pushing: Pushing) -> Option<Pair> {
        let place = foot.place - self.normal * (2.0 * foot.height.min(0.0));
        let before = Foot { place, height: foot.height.abs(), ..foot };
        let zero = splat(simd, 0.0);
        let mut sums = Tractions { pushing, parts: 1.0, force: [zero; 3], along: [[zero; 3]; 2] };
        if pushing.bridson {
            sums.parts = self.cuts(simd, before.height).count as f32;
        }
        let parts = self.visit(simd, before, &mut sums)?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lanes::{CubicSpline, QuarticSpline};
    use crate::wall::WallIntegral;
    use fearless_simd::{Level, dispatch};
    use meniscus_geometry::closest_point;
    use proptest::prelude::*;

    /// 1 − γ and |∇γ| of a particle before a plane of triangles with such an edge, lengths in reaches.
    fn before_plane<K: KernelLanes>(p: Vec3, edge: f64, slant: f64) -> [f64; 2] {
        let corner = |i: i32, j: i32| DVec3::new(f64::from(i) + slant * f64::from(j), f64::from(j), 0.0) * edge;
        let mut sum = [0.0; 2];
        let count = (2.0 / edge).ceil() as i32 + 2;
        for (i, j) in (-count..count).flat_map(|i| (-count..count).map(move |j| (i, j))) {
            let [a, b, c, d] = [corner(i, j), corner(i + 1, j), corner(i, j + 1), corner(i + 1, j + 1)];
            for corners in [[a, b, c], [d, c, b]] {
                let pair = dispatch!(Level::new(), simd => {
                    let cut = CutTriangle::new(simd, corners, 1.0, 0.5);
                    let (feet, felt) = cut.feet(simd, splat_vector(simd, p));
                    if felt & 1 == 1 { cut.press::<K>(simd, feet.at(0)) } else { None }
                });
                if let Some(pair) = pair {
                    sum[0] += f64::from(pair.deficit);
                    sum[1] += f64::from(pair.parts.iter().sum::<Vec3>().z);
                }
            }
        }
        sum
    }

    /// What [`CutTriangle::cuts`] says of its errors, at all heights at which particles rest.
    #[test]
    fn a_plane_of_triangles_is_a_plane() {
        fn check<K: KernelLanes>() {
            let wall = WallIntegral::new(&K::DENSITY);
            for (n, z) in [0.1, 0.15, 0.2, 0.3, 0.4, 0.6, 0.8].into_iter().enumerate() {
                for (k, edge) in (0..60).flat_map(|k| [0.4, 0.7, 1.3, 2.2, 5.0].map(|edge| (k, edge))) {
                    let along = |step: f64| (step * f64::from(k) + 0.1 * n as f64).fract() as f32;
                    let p = Vec3::new(along(0.754_877_67), along(0.569_840_29), z as f32);
                    let ((deficit, weight), [d, w]) = (wall.plane(z), before_plane::<K>(p, edge, 0.3));
                    assert!((d - deficit).abs() < 2.5e-3, "1 − γ at {p}, edges of {edge}: {d} {deficit}");
                    let error = (w - weight).abs() / wall.plane(0.0).1;
                    assert!(error < 1.5e-3, "∇γ at {p}, edges of {edge}: {w} {weight}");
                }
            }
        }
        check::<CubicSpline>();
        check::<QuarticSpline>();
    }

    proptest! {
        #[test]
        fn eight_nearest_points_are_those_of_one(
            corners in prop::array::uniform9(-1.0f64..1.0),
            places in prop::array::uniform24(-1.5f32..1.5),
        ) {
            let [a, b, c] = [0, 3, 6].map(|k| DVec3::from_slice(&corners[k..]));
            let place = |k: usize| Vec3::new(places[k], places[8 + k], places[16 + k]);
            for level in [Level::new(), Level::baseline()] {
                let (rubs, near) = dispatch!(level, simd => {
                    let p = [0, 8, 16].map(|k| f32x8::from_slice(simd, &places[k..k + LANES]));
                    Nearest::new(simd, [a, b, c]).rubs(simd, p, 1.0)
                });
                for k in 0..LANES {
                    let (nearest, lambda) = closest_point(place(k).as_dvec3(), [a, b, c]);
                    let (distance, rub) = (nearest.distance(place(k).as_dvec3()), rubs.at(k));
                    prop_assert!((f64::from(rub.distance) - distance).abs() < 2e-6, "{} {distance}", rub.distance);
                    prop_assert!(near >> k & 1 == u64::from(rub.distance < 1.0));
                    // Where the triangle is a needle, other points are as near.
                    let point = rub.lambda.x * a.as_vec3() + rub.lambda.y * b.as_vec3() + rub.lambda.z * c.as_vec3();
                    let off = point.distance(place(k)) - rub.distance;
                    prop_assert!(off.abs() < 1e-5 && rub.lambda.min_element() > -1e-6, "{off} {lambda}");
                }
            }
        }
    }
}
