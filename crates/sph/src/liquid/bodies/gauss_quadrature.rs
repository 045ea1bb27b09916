//! The wall integral over the triangles of a body, and the paper's traction: by Gauss points, or along edges.

use super::closest_point::{ClosestPointList, Nearest};
use super::compaction::Chosen;
use super::edges::Edges;
use super::{Pair, Pairs};
use crate::neighbours::Columns;
use crate::params::Distribution;
use crate::simd::{
    KernelLanes, LANES, Lanes3, Packed, add_up, dot, gather, minus, pack, plus_scaled, set_first, splat, splat3,
};
use crate::traction::Traction;
use crate::wall_quadrature::{MAX_PIECES, SampleKernel};
use fearless_simd::{Simd, SimdBase, SimdFloat, SimdFrom, SimdMask, f32x8, mask32x8, u32x8};
use glam::{DVec3, Vec3};
use meniscus_geometry::{NeighbourGrid, quadrature};
use std::f32::consts::PI;
use std::marker::PhantomData;
use std::ops::Range;

/// Gauss points of a piece.
const POINTS: usize = 7;

/// Pieces seen from far away are this many times as long as those seen from a fifth of the reach.
pub(crate) const FARTHEST: f32 = 2.0;

/// A triangle near to liquid, as its integral sees it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Face {
    /// Corners \[m\].
    pub(super) own: [DVec3; 3],
    /// Moved into the liquid by the offset \[m\].
    pub(super) moved: [DVec3; 3],
    /// How fast they are \[m/s\].
    pub(super) velocity: [Vec3; 3],
}

/// How a triangle is looked at.
#[derive(Debug, Clone, Copy)]
pub(crate) struct IntegrationScheme<'a> {
    pub(crate) kernel: &'a SampleKernel,
    /// Longest edge of a piece seen from 0.2 reaches, in reaches.
    pub(crate) longest: f32,
    /// How far friction reaches \[m\], if there is any.
    pub(crate) friction_reach: Option<f64>,
    /// Whether the integral is taken along edges, not at Gauss points.
    pub(crate) by_edges: bool,
    /// The paper's wall instead of the integral.
    pub(crate) traction: Option<TractionKernel>,
    /// What its points do to liquid that slides along them.
    pub(crate) hold: Option<PointHold<'a>>,
}

/// The paper's boundary viscosity: every point of a surface holds liquid by ∇²W \[MSTHG04 eqs 17–19\].
#[derive(Debug, Clone, Copy)]
pub(crate) struct PointHold<'a> {
    /// μ V δ 45/(π h⁵) \[N·s/m³\].
    pub(crate) factor: f32,
    /// Of the particles \[m/s\].
    pub(crate) velocity: &'a [Vec3],
}

impl IntegrationScheme<'_> {
    /// How far a surface is felt \[m\].
    pub(super) fn reach(&self) -> f32 {
        self.traction.map_or(self.kernel.reach(), |traction| traction.reach)
    }
}

/// The paper's traction, ready for lanes: see [`crate::Traction`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct TractionKernel {
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

impl TractionKernel {
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

/// The wall integral over one triangle for all particles near it: along its edges, or over pieces with seven Gauss points
/// each, of which only those within reach of a particle are looked at. All points lie in one plane: r·n is the same for all.
#[inline(always)]
pub(super) fn integrate<S: Simd, K: KernelLanes>(
    simd: S,
    face: &Face,
    scheme: IntegrationScheme,
    (liquid, columns, positions): SortedParticles<'_>,
    (Pairs { pairs, closest_points }, scratch): (&mut Pairs, &mut Scratch),
) {
    let Scratch { ranges, may_feel, in_friction_reach, near, pieces } = scratch;
    let farthest = scheme.reach();
    let reach = scheme.friction_reach.map_or(farthest, |reach| farthest.max(reach as f32));
    let low = face.moved.iter().chain(&face.own).fold(DVec3::INFINITY, |low, c| low.min(*c)).as_vec3() - reach;
    let high = face.moved.iter().chain(&face.own).fold(DVec3::NEG_INFINITY, |high, c| high.max(*c)).as_vec3() + reach;
    // Lanes live outside of the closure: inside, the compiler would not know the instruction set.
    ranges.clear();
    liquid.for_each_range_in(low, high, |range| ranges.push(range));
    let room = ranges.iter().map(Range::len).sum::<usize>() + 2 * LANES;
    may_feel.clear(room);
    in_friction_reach.clear(room);
    near.clear(room);
    simd.vectorize(
        #[inline(always)]
        || {
            let corners = if scheme.traction.is_some() { face.own } else { face.moved };
            let cut = CutTriangle::new(corners, farthest, scheme.longest);
            let moved = face.own.iter().zip(&corners).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
            let margin = scheme.friction_reach.map_or(0.0, |reach| (reach + moved) as f32 * cut.scale);
            let [behind, before, margin] = [-1.0, margin.max(1.0), margin].map(|x| splat(simd, x));
            for range in &*ranges {
                let end = u32x8::splat(simd, range.end as u32);
                for from in range.clone().step_by(LANES) {
                    let relative = cut.relative(simd, columns.eight(simd, from));
                    // What stands farther behind the triangle is before the other side of its body.
                    let height = cut.height(simd, relative);
                    let may_meet = height.simd_gt(behind) & height.simd_lt(before);
                    if may_meet.to_bitmask() == 0 {
                        continue;
                    }
                    let feet = cut.feet(simd, relative);
                    let numbers = u32x8::from_fn(simd, |k| (from + k) as u32);
                    let real = numbers.simd_lt(end) & may_meet;
                    may_feel.push(simd, cut.within(simd, &feet, feet.radius) & real, numbers);
                    if scheme.friction_reach.is_some() {
                        in_friction_reach.push(simd, cut.within(simd, &feet, margin) & real, numbers);
                    }
                }
            }
            let nobody = (positions.len() - 1) as u32;
            if let Some(reach) = scheme.friction_reach {
                let (nearest, reach) = (Nearest::new(simd, face.own), splat(simd, reach as f32));
                for eight in in_friction_reach.eights(nobody) {
                    near.push(simd, nearest.closest_points(simd, gather(simd, positions, eight).0), reach, eight);
                }
                closest_points.extend(near.all());
            }
            let edges = Edges::new(&cut);
            for eight in may_feel.eights(nobody) {
                let relative = cut.relative(simd, gather(simd, positions, eight).0);
                if scheme.by_edges {
                    edges.press::<_, K>(simd, (eight, nobody), relative, pairs);
                    continue;
                }
                let feet = cut.feet(simd, relative).store();
                for (k, &particle) in eight.iter().enumerate().take_while(|(_, particle)| **particle != nobody) {
                    let foot = Foot::of(&feet, k);
                    let pair = match scheme.traction {
                        None => cut.press::<_, K>(simd, foot, pieces),
                        Some(kernel) => cut.push(simd, foot, kernel, pieces).map(|(mut pair, held)| {
                            if let Some(hold) = scheme.hold {
                                let own = hold.velocity[particle as usize];
                                for ((part, node), held) in pair.parts.iter_mut().zip(face.velocity).zip(held) {
                                    *part += (node - own) * (hold.factor * held);
                                }
                            }
                            pair
                        }),
                    };
                    pairs.extend(pair.map(|pair| Pair { particle, ..pair }));
                }
            }
        },
    );
}

/// Memory that the triangles of a thread share.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    /// Ranges of particles around the triangle.
    ranges: Vec<Range<usize>>,
    /// Particles that may feel it, and those that may be near enough for its friction.
    may_feel: Chosen,
    in_friction_reach: Chosen,
    near: ClosestPointList,
    pieces: Felt,
}

impl Scratch {
    /// For how many particles and ranges there is room.
    pub(super) fn room(&self) -> [usize; 2] {
        [self.may_feel.room(), self.ranges.capacity()]
    }

    /// Makes at least so much room.
    pub(super) fn make_room(&mut self, [particles, ranges]: [usize; 2]) {
        self.may_feel.clear(particles);
        self.in_friction_reach.clear(particles);
        self.near.clear(particles);
        self.ranges.clear();
        self.ranges.reserve(ranges);
    }
}

/// The liquid's particles: in cells, as columns, and as quadruples, the last of which is nobody.
pub(crate) type SortedParticles<'a> = (&'a NeighbourGrid, &'a Columns, &'a [Packed]);

/// Pieces that are summed together.
const BATCH: usize = 8 * LANES;

/// Far out of reach, in reaches.
const NOWHERE: f32 = 1e6;

/// A triangle that can be cut into n² pieces, in reaches and in axes of its own: along its first side, across it in its plane,
/// and along its normal.
pub(super) struct CutTriangle {
    /// Third corner \[m\].
    corner: Vec3,
    /// Gradients of the coordinates along the sides, which go from the third corner to the first and second \[1/m\], and how
    /// steep they and their sum are.
    dual: [Vec3; 2],
    steepness: [f32; 3],
    /// Axes.
    pub(super) axes: [Vec3; 3],
    /// Area, longest edge and sides, the first of which has no part across.
    area: f32,
    edge: f32,
    pub(super) sides: [[f32; 2]; 2],
    /// Seven points around the centroid, the distance of the farthest, and their weights.
    offsets: [[f32; 2]; POINTS],
    spread: f32,
    weights: [f32; POINTS],
    /// One over the reach \[1/m\].
    pub(super) scale: f32,
    /// Longest edge of a piece seen from 0.2 reaches.
    longest: f32,
}

/// Pieces of a triangle around a particle: their centroids as seen from the point below it, and which way up they are.
#[derive(Debug)]
struct Felt {
    center: [[f32; BATCH + LANES]; 2],
    sign: [f32; BATCH + LANES],
    count: usize,
}

impl Default for Felt {
    fn default() -> Self {
        Self { center: [[NOWHERE; BATCH + LANES]; 2], sign: [0.0; BATCH + LANES], count: 0 }
    }
}

impl Felt {
    /// Takes up those of eight pieces that are set.
    #[inline(always)]
    fn push<S: Simd>(&mut self, simd: S, set: mask32x8<S>, [a, b]: [f32x8<S>; 2], signs: f32x8<S>) {
        let lanes = self.count..self.count + LANES;
        set_first(simd, a, set).store_slice(&mut self.center[0][lanes.clone()]);
        set_first(simd, b, set).store_slice(&mut self.center[1][lanes.clone()]);
        set_first(simd, signs, set).store_slice(&mut self.sign[lanes]);
        self.count += set.to_bitmask().count_ones() as usize;
    }

    /// Calls `sums` with the Gauss points of all pieces, eight pieces at a time, and forgets the pieces.
    #[inline(always)]
    fn add_to<S: Simd>(&mut self, simd: S, cut: &CutTriangle, part: f32, sums: &mut impl Points<S>) {
        let filled = self.count.next_multiple_of(LANES).min(BATCH + LANES);
        self.center[0][self.count..filled].fill(NOWHERE);
        for from in (0..filled).step_by(LANES) {
            let [a, b, sign] = [&self.center[0], &self.center[1], &self.sign]
                .map(|column| f32x8::from_slice(simd, &column[from..from + LANES]));
            let sign = sign * splat(simd, part);
            for (offset, weight) in cut.offsets.iter().zip(&cut.weights) {
                let apart = [a + sign * splat(simd, offset[0]), b + sign * splat(simd, offset[1])];
                sums.add(simd, splat(simd, *weight), apart);
            }
        }
        self.count = 0;
    }
}

/// Where a particle stands before a triangle.
#[derive(Debug, Clone, Copy)]
struct Foot {
    /// Above the plane, in reaches.
    height: f32,
    /// Coordinates along the sides of the point below it.
    at: [f32; 2],
    /// How far it feels the plane around that point, in reaches.
    radius: f32,
}

impl Foot {
    /// One of eight.
    #[inline(always)]
    fn of([height, x, y, radius]: &[[f32; LANES]; 4], k: usize) -> Self {
        Self { height: height[k], at: [x[k], y[k]], radius: radius[k] }
    }
}

/// Where eight particles stand.
struct Feet<S: Simd> {
    height: f32x8<S>,
    at: [f32x8<S>; 2],
    radius: f32x8<S>,
}

impl<S: Simd> Feet<S> {
    #[inline(always)]
    fn store(&self) -> [[f32; LANES]; 4] {
        [self.height.into(), self.at[0].into(), self.at[1].into(), self.radius.into()]
    }
}

/// One vector in all lanes.
#[inline(always)]
pub(super) fn splat_vector<S: Simd>(simd: S, v: Vec3) -> Lanes3<S> {
    splat3(simd, pack(v, 0.0))
}

/// Gradients of the coordinates along two sides \[1/m\].
pub(super) fn dual(sides: [DVec3; 2]) -> [DVec3; 2] {
    let normal = sides[0].cross(sides[1]);
    let square = normal.length_squared().max(1e-300);
    [sides[1].cross(normal) / square, normal.cross(sides[0]) / square]
}

impl CutTriangle {
    fn new(corners: [DVec3; 3], reach: f32, longest: f32) -> Self {
        let [a, b, c] = corners;
        let sides = [a - c, b - c];
        let normal = sides[0].cross(sides[1]);
        let dual = dual(sides);
        let scale = 1.0 / f64::from(reach);
        let along = sides[0].normalize_or_zero();
        let axes = [along, normal.normalize_or_zero().cross(along), normal.normalize_or_zero()];
        let in_plane = |v: DVec3| [axes[0], axes[1]].map(|axis| v.dot(axis) * scale);
        let points = quadrature::seven_points();
        let third = 1.0 / 3.0;
        let offset = |s: &quadrature::Sample| (s.lambda.x - third) * sides[0] + (s.lambda.y - third) * sides[1];
        let spread = points.iter().map(|s| offset(s).length()).fold(0.0, f64::max) * scale;
        Self {
            corner: c.as_vec3(),
            dual: dual.map(DVec3::as_vec3),
            steepness: [dual[0].length(), dual[1].length(), (dual[0] + dual[1]).length()].map(|g| (g / scale) as f32),
            axes: axes.map(DVec3::as_vec3),
            area: (0.5 * normal.length() * scale * scale) as f32,
            edge: (sides[0].length().max(sides[1].length()).max(a.distance(b)) * scale) as f32,
            sides: sides.map(|side| in_plane(side).map(|x| x as f32)),
            offsets: std::array::from_fn(|k| in_plane(offset(&points[k])).map(|x| x as f32)),
            // Rounded up: what is felt is not lost.
            spread: (spread * (1.0 + 1e-5)) as f32,
            weights: std::array::from_fn(|k| points[k].weight as f32),
            scale: scale as f32,
            longest,
        }
    }

    /// How many times a side is cut for a particle at a height: the nearer, the more often. An edge of half a reach seen from
    /// 0.2 reaches, and two and a half times the height elsewhere, leave an error of γ below 0.0025.
    #[inline(always)]
    fn cuts(&self, height: f32) -> f32 {
        let nearness = (5.0 * height.abs()).clamp(0.5, FARTHEST);
        (self.edge / (self.longest * nearness)).ceil().clamp(1.0, MAX_PIECES as f32)
    }

    /// Eight positions relative to the third corner \[m\].
    #[inline(always)]
    fn relative<S: Simd>(&self, simd: S, p: Lanes3<S>) -> Lanes3<S> {
        minus(p, splat_vector(simd, self.corner))
    }

    /// How high eight positions lie above the plane, in reaches.
    #[inline(always)]
    pub(super) fn height<S: Simd>(&self, simd: S, relative: Lanes3<S>) -> f32x8<S> {
        self.along(simd, 2, relative)
    }

    /// How far eight positions lie along an axis, in reaches.
    #[inline(always)]
    pub(super) fn along<S: Simd>(&self, simd: S, axis: usize, relative: Lanes3<S>) -> f32x8<S> {
        dot(relative, splat_vector(simd, self.axes[axis])) * splat(simd, self.scale)
    }

    /// The coordinates along the sides of eight positions in the plane, in reaches from where they are zero.
    #[inline(always)]
    pub(super) fn coordinates_of<S: Simd>(&self, simd: S, [a, b]: [f32x8<S>; 2]) -> [f32x8<S>; 2] {
        let [u, v] = [self.coordinates([1.0, 0.0]), self.coordinates([0.0, 1.0])];
        [a * splat(simd, u[0]) + b * splat(simd, v[0]), a * splat(simd, u[1]) + b * splat(simd, v[1])]
    }

    /// Where eight particles stand before the triangle.
    #[inline(always)]
    fn feet<S: Simd>(&self, simd: S, relative: Lanes3<S>) -> Feet<S> {
        let height = self.height(simd, relative);
        let square = splat(simd, 1.0) - height * height;
        let at = self.dual.map(|dual| dot(splat_vector(simd, dual), relative));
        Feet { height, at, radius: square.max(splat(simd, 0.0)).sqrt() }
    }

    /// Which of eight particles stand above the triangle or nearer to it than `radius` in its plane; none with a radius of zero does.
    #[inline(always)]
    fn within<S: Simd>(&self, simd: S, feet: &Feet<S>, radius: f32x8<S>) -> mask32x8<S> {
        let ([x, y], zero) = (feet.at, splat(simd, 0.0));
        let [left, low, beyond] = self.steepness.map(|g| radius * splat(simd, g));
        let inside = (x + left).simd_ge(zero) & (y + low).simd_ge(zero);
        let before = (x + y).simd_le(splat(simd, 1.0) + beyond);
        radius.simd_gt(zero) & inside & before
    }

    /// Calls `sums` with the Gauss points of all pieces that a particle may feel.
    #[inline(always)]
    fn visit<S: Simd>(&self, simd: S, (foot, cuts): (Foot, f32), felt: &mut Felt, sums: &mut impl Points<S>) {
        let Foot { at: [x, y], radius, .. } = foot;
        let (count, part) = (cuts as i32, 1.0 / cuts);
        let (x, y, spread) = (x * cuts, y * cuts, self.steepness.map(|g| radius * g * cuts));
        // Pieces (i, j) reach from their coordinates to one more, and i + j to two more.
        let (first, last) = ((x - spread[0]).floor() as i32, (x + spread[0]).floor() as i32);
        let (low, high) = ((y - spread[1]).floor() as i32, (y + spread[1]).floor() as i32);
        let (least, most) = ((x + y - spread[2]).floor() as i32 - 1, (x + y + spread[2]).floor() as i32);
        let farthest = radius + self.spread * part;
        let [[along, _], [slant, across]] = self.sides.map(|side| side.map(|x| x * part));
        // Four pairs of pieces in a row, the second of each upside down.
        let cells = f32x8::simd_from(simd, [0.0, 0.0, 1.0, 1.0, 2.0, 2.0, 3.0, 3.0]);
        let thirds = f32x8::simd_from(simd, [1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0].map(|k| k / 3.0));
        let signs = f32x8::simd_from(simd, [1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0, -1.0]);
        for i in first.max(0)..=last.min(count - 1) {
            let from = low.max(least - i).max(0);
            let to = high.min(most - i).min(count - 1 - i);
            let u = (thirds + splat(simd, i as f32 - x)) * splat(simd, along);
            for j in (from..=to).step_by(LANES / 2) {
                let v = cells + thirds + splat(simd, j as f32 - y);
                let center = [u + v * splat(simd, slant), v * splat(simd, across)];
                let square = center[0] * center[0] + center[1] * center[1];
                let is_near = square.simd_lt(splat(simd, farthest * farthest));
                // The last of a row has no neighbour upside down.
                let exists = (cells + thirds).simd_lt(splat(simd, (count - i - j) as f32 - 0.5));
                let in_row = cells.simd_le(splat(simd, (to - j) as f32));
                felt.push(simd, is_near & exists & in_row, center, signs);
                if felt.count >= BATCH {
                    felt.add_to(simd, self, part, sums);
                }
            }
        }
        felt.add_to(simd, self, part, sums);
    }

    /// The coordinates along the sides of a position in the plane, as seen from where they are zero.
    fn coordinates(&self, [a, b]: [f32; 2]) -> [f32; 2] {
        let position = (self.axes[0] * a + self.axes[1] * b) / self.scale;
        self.dual.map(|dual| dual.dot(position))
    }

    /// The wall integral around a particle, which has no number yet.
    #[inline(always)]
    fn press<S: Simd, K: KernelLanes>(&self, simd: S, foot: Foot, pieces: &mut Felt) -> Option<Pair> {
        let zero = splat(simd, 0.0);
        let square = splat(simd, foot.height * foot.height);
        let mut sums = Pressing::<S, K> { square, flux: zero, weight: zero, moments: [zero; 2], kernel: PhantomData };
        let cuts = self.cuts(foot.height);
        self.visit(simd, (foot, cuts), pieces, &mut sums);
        let weight = add_up(sums.weight);
        if weight == 0.0 {
            return None;
        }
        let area = self.area / (cuts * cuts);
        let gradient = self.axes[2] * (area * self.scale);
        let moments = self.coordinates(sums.moments.map(add_up));
        let [x, y] = [0, 1].map(|k| foot.at[k] * weight + moments[k]);
        Some(Pair {
            wall_fraction: add_up(sums.flux) * foot.height * area / (4.0 * PI),
            parts: [gradient * x, gradient * y, gradient * (weight - x - y)],
            ..Pair::default()
        })
    }

    /// The force of the paper's wall on a particle \[N\], a part for each corner. Behind the triangle it is what it is before
    /// it: pushed back, not out.
    #[inline(always)]
    fn push<S: Simd>(
        &self,
        simd: S,
        foot: Foot,
        kernel: TractionKernel,
        pieces: &mut Felt,
    ) -> Option<(Pair, [f32; 3])> {
        let zero = splat(simd, 0.0);
        let [u, v] = [self.coordinates([1.0, 0.0]), self.coordinates([0.0, 1.0])];
        let mut sums = Tractions {
            kernel,
            height: foot.height.abs(),
            at: foot.at,
            coordinates: [[u[0], v[0]], [u[1], v[1]]],
            force: [zero; 3],
            along: [[zero; 3]; 2],
            held: [zero; 3],
        };
        let cuts = self.cuts(foot.height);
        self.visit(simd, (foot, cuts), pieces, &mut sums);
        let area = self.area / (cuts * cuts * self.scale * self.scale);
        let [force, x, y] = [sums.force, sums.along[0], sums.along[1]].map(|sum| {
            let [a, b, c] = sum.map(add_up);
            (self.axes[0] * a + self.axes[1] * b + self.axes[2] * c) * area
        });
        let [all, u, v] = sums.held.map(|sum| add_up(sum) * area);
        (all > 0.0).then(|| (Pair { parts: [x, y, force - x - y], ..Pair::default() }, [u, v, all - u - v]))
    }
}

/// What is summed over Gauss points.
trait Points<S: Simd> {
    /// Eight points with their weight, apart from the point below the particle by these vectors in the plane, in reaches.
    fn add(&mut self, simd: S, weight: f32x8<S>, apart: [f32x8<S>; 2]);
}

/// Σ w T/q³, Σ w W and Σ w W x, with x in the plane.
struct Pressing<S: Simd, K> {
    /// Of the height.
    square: f32x8<S>,
    flux: f32x8<S>,
    weight: f32x8<S>,
    moments: [f32x8<S>; 2],
    kernel: PhantomData<K>,
}

impl<S: Simd, K: KernelLanes> Points<S> for Pressing<S, K> {
    #[inline(always)]
    fn add(&mut self, simd: S, weight: f32x8<S>, [a, b]: [f32x8<S>; 2]) {
        let square = (a * a + b * b + self.square).max(splat(simd, 1e-4));
        let q = square.sqrt();
        self.flux += weight * K::flux(simd, q, square);
        let weight = weight * K::value(simd, q);
        self.weight += weight;
        self.moments[0] += weight * a;
        self.moments[1] += weight * b;
    }
}

/// Σ w τ (p − x)/r, and the same times the coordinates along the sides \[Pa\]; Σ w (1 − r/h), and the same.
struct Tractions<S: Simd> {
    kernel: TractionKernel,
    /// Above the plane, in reaches.
    height: f32,
    /// Coordinates of the point below the particle, and how they grow in the plane.
    at: [f32; 2],
    coordinates: [[f32; 2]; 2],
    force: Lanes3<S>,
    along: [Lanes3<S>; 2],
    held: [f32x8<S>; 3],
}

impl<S: Simd> Points<S> for Tractions<S> {
    #[inline(always)]
    fn add(&mut self, simd: S, weight: f32x8<S>, [a, b]: [f32x8<S>; 2]) {
        let TractionKernel { rest, adhesion, strength, bridson, .. } = self.kernel;
        let (zero, one) = (splat(simd, 0.0), splat(simd, 1.0));
        let apart = [a, b, splat(simd, -self.height)];
        let q = dot(apart, apart).sqrt();
        let s = (one - q).max(zero);
        let square = s * s;
        let beyond = square - splat(simd, rest);
        let shape = beyond.max(zero) + beyond.min(zero) * splat(simd, adhesion);
        let mut held = weight * s;
        let mut weight = weight * square * shape * splat(simd, -strength) / q.max(splat(simd, 1e-6));
        let [u, v] = [0, 1].map(|k| {
            let [x, y] = self.coordinates[k].map(|slope| splat(simd, slope));
            splat(simd, self.at[k]) + a * x + b * y
        });
        if bridson {
            // 2/(1 + Σ λ²) \[MSTHG04 eq. 21\].
            let w = one - u - v;
            let factor = splat(simd, 2.0) / (one + u * u + v * v + w * w);
            (weight, held) = (weight * factor, held * factor);
        }
        self.held[0] += held;
        self.held[1] += held * u;
        self.held[2] += held * v;
        self.force = plus_scaled(self.force, weight, apart);
        self.along[0] = plus_scaled(self.along[0], weight * u, apart);
        self.along[1] = plus_scaled(self.along[1], weight * v, apart);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::{CubicSpline, Papers, QuarticSpline};
    use crate::wall_integral::WallIntegral;
    use fearless_simd::{Level, dispatch};

    /// What a triangle does to a particle, lengths in reaches.
    fn pair<K: KernelLanes>(p: Vec3, corners: [DVec3; 3], by_edges: bool) -> Option<Pair> {
        dispatch!(Level::new(), simd => {
            let cut = CutTriangle::new(corners, 1.0, 0.5);
            let relative = cut.relative(simd, splat_vector(simd, p));
            let feet = cut.feet(simd, relative);
            if cut.within(simd, &feet, feet.radius).to_bitmask() == 0 {
                return None;
            }
            if by_edges {
                let mut pairs = Vec::new();
                Edges::new(&cut).press::<_, K>(simd, (&[0, 1, 1, 1, 1, 1, 1, 1], 1), relative, &mut pairs);
                pairs.pop()
            } else {
                cut.press::<_, K>(simd, Foot::of(&feet.store(), 0), &mut Felt::default())
            }
        })
    }

    /// 1 − γ and |∇γ| of a particle before a plane of triangles with such an edge, lengths in reaches.
    fn before_plane<K: KernelLanes>(p: Vec3, edge: f64, slant: f64, by_edges: bool) -> [f64; 2] {
        let corner = |i: i32, j: i32| DVec3::new(f64::from(i) + slant * f64::from(j), f64::from(j), 0.0) * edge;
        let mut sum = [0.0; 2];
        let count = (2.0 / edge).ceil() as i32 + 2;
        for (i, j) in (-count..count).flat_map(|i| (-count..count).map(move |j| (i, j))) {
            let [a, b, c, d] = [corner(i, j), corner(i + 1, j), corner(i, j + 1), corner(i + 1, j + 1)];
            for corners in [[a, b, c], [d, c, b]] {
                if let Some(pair) = pair::<K>(p, corners, by_edges) {
                    sum[0] += f64::from(pair.wall_fraction);
                    sum[1] += f64::from(pair.parts.iter().sum::<Vec3>().z);
                }
            }
        }
        sum
    }

    /// What [`CutTriangle::cuts`] and [`Edges`] say of their errors, at all heights at which particles rest.
    #[test]
    fn a_plane_of_triangles_is_a_plane() {
        fn check<K: KernelLanes>() {
            let wall = WallIntegral::new(&K::DENSITY);
            for (n, z) in [0.1, 0.15, 0.2, 0.3, 0.4, 0.6, 0.8].into_iter().enumerate() {
                for (k, edge) in (0..30).flat_map(|k| [0.4, 0.7, 1.3, 2.2, 5.0].map(|edge| (k, edge))) {
                    let along = |step: f64| (step * f64::from(k) + 0.1 * n as f64).fract() as f32;
                    let p = Vec3::new(along(0.754_877_67), along(0.569_840_29), z as f32);
                    for (by_edges, most) in [(false, [2.5e-3, 1.5e-3]), (true, [2e-4, 1e-3])] {
                        let ((wall_fraction, weight), [d, w]) =
                            (wall.plane(z), before_plane::<K>(p, edge, 0.3, by_edges));
                        assert!(
                            (d - wall_fraction).abs() < most[0],
                            "1 − γ at {p}, edges of {edge}: {d} {wall_fraction}"
                        );
                        let error = (w - weight).abs() / wall.plane(0.0).1;
                        assert!(error < most[1], "∇γ at {p}, edges of {edge}: {w} {weight}");
                    }
                }
            }
        }
        check::<CubicSpline>();
        check::<QuarticSpline>();
        check::<Papers>();
    }

    /// Edges against points that lie so close that nothing is left to wish for, corner by corner, for triangles of all shapes
    /// and particles before and behind them, above their insides, edges and corners.
    #[test]
    fn edges_are_the_integral() {
        fn check<K: KernelLanes>() {
            let mut random = {
                let mut k = 0.0_f64;
                move || {
                    k += 1.0;
                    (43_758.545_3 * (12.989_8 * k).sin()).fract()
                }
            };
            for k in 0..60 {
                let size = [0.3, 0.8, 1.5][k % 3];
                let mut corners: [DVec3; 3] =
                    std::array::from_fn(|_| DVec3::new(random(), random() * [1.0, 0.1][k % 2], random()) * size);
                let normal = (corners[0] - corners[2]).cross(corners[1] - corners[2]);
                let share = match k % 5 {
                    0 => [1.0, 0.0, 0.0],
                    1 => [0.4, 0.6, 0.0],
                    _ => [random(), random(), random()],
                };
                let z = [-0.3, 0.1, 0.2, 0.5, 0.9][k / 3 % 5];
                let sum: f64 = share.iter().sum();
                let foot = corners[0] * (share[0] + 1.0 - sum) + corners[1] * share[1] + corners[2] * share[2];
                let p = (foot + normal.normalize() * z).as_vec3();
                if k % 7 == 0 {
                    // Seen from the other side.
                    corners.swap(0, 1);
                }
                let normal = (corners[0] - corners[2]).cross(corners[1] - corners[2]);
                let (mut wall_fraction, mut parts) = (0.0, [0.0; 3]);
                for sample in quadrature::subdivided(40) {
                    let r = sample.at(corners) - p.as_dvec3();
                    let (q, area) = (r.length(), 0.5 * normal.length() * sample.weight);
                    if q < 1.0 {
                        wall_fraction -= K::DENSITY.tail(q) / q.powi(3) * r.dot(normal.normalize()) * area
                            / (4.0 * std::f64::consts::PI);
                        for (part, lambda) in parts.iter_mut().zip(sample.lambda.to_array()) {
                            *part += lambda * K::DENSITY.value(q) * area;
                        }
                    }
                }
                let found = pair::<K>(p, corners, true).unwrap_or_default();
                let error = f64::from(found.wall_fraction) - wall_fraction;
                assert!(error.abs() < 2e-4, "{k}: {} {wall_fraction}", found.wall_fraction);
                // Moments are right to so much; the corners of a slender triangle share by its height.
                let longest = (0..3).map(|k| corners[k].distance(corners[(k + 1) % 3])).fold(0.0, f64::max);
                let height = (normal.length() / longest).min(1.0);
                for (found, part) in found.parts.iter().zip(parts) {
                    let error = f64::from(found.dot(normal.normalize().as_vec3())) - part;
                    assert!((error * height).abs() < 1e-3, "{k}: {found} {parts:?} {error:e}");
                }
            }
        }
        check::<CubicSpline>();
        check::<QuarticSpline>();
        check::<Papers>();
    }
}
