//! The wall integral over a triangle as line integrals along its edges: our derivation, for the purpose of those in \[FLRVK13\].
//!
//! In the plane of a triangle W depends on the distance ρ from the foot of the particle alone, q² = z² + ρ². With
//!
//! > H(q) = ∫ W s ds,  M(q) = ∫ T/s² ds = T/q − 4π H, both from q to 1,
//!
//! and the tail T of the kernel, polar coordinates about the foot turn integrals over the triangle into ones along its edges:
//!
//! > ∫ W dA = ∮ (H(z) − H(q)) dφ,  ∫ T/q³ dA = ∮ (M(z) − M(q)) dφ,  ∫ W **ρ** dA = ∮ H **ν** ds
//!
//! with normals **ν** into the triangle. An edge at a distance d of the foot has dφ = d dt/(d² + t²). Beyond reach H and M are
//! zero, and the angle is all that is left. The part within reach is integrated by six Gauss points in y, where t = c sinh(8
//! ln y) and c² = z² + d²: then q = c cosh(8 ln y) has no root in it that a near particle would make steep. Of a triangle of
//! any size, before a particle 0.15 reaches away or farther, ∫ W dA is then within 1e-4 and γ within 1e-5, and ∫ W **ρ** dA
//! within 1e-3; at 0.05 reaches within 6e-4, 2e-4 and 6e-3.

use super::Pair;
use super::gauss_quadrature::CutTriangle;
use crate::simd::{KernelLanes, LANES, Lanes3, angle, splat};
use fearless_simd::{Select, Simd, SimdBase, SimdFloat, SimdMask, f32x8};
use std::f32::consts::PI;

/// Positions and weights of Gauss points on [−1, 1].
const POINTS: [[f32; 2]; 6] = [
    [-0.932_469_5, 0.171_324_49],
    [-0.661_209_4, 0.360_761_57],
    [-0.238_619_18, 0.467_913_93],
    [0.238_619_18, 0.467_913_93],
    [0.661_209_4, 0.360_761_57],
    [0.932_469_5, 0.171_324_49],
];

/// Least square of a height, in reaches: γ jumps at the surface.
const LEAST_SQUARE: f32 = 1e-4;

/// An integral of W over a triangle that is not told from zero.
const NOTHING: f32 = 1e-6;

/// An edge in the plane of its triangle, in reaches: where it begins, its direction and its length. The triangle lies to its
/// left.
#[derive(Debug, Clone, Copy)]
struct Edge {
    start: [f32; 2],
    along: [f32; 2],
    length: f32,
}

impl Edge {
    fn new(start: [f32; 2], end: [f32; 2]) -> Self {
        let side = [end[0] - start[0], end[1] - start[1]];
        let length = (side[0] * side[0] + side[1] * side[1]).sqrt();
        Self { start, along: side.map(|x| x / length.max(f32::MIN_POSITIVE)), length }
    }
}

/// H and M.
#[inline(always)]
fn potentials<S: Simd, K: KernelLanes>(simd: S, q: f32x8<S>, inverse: f32x8<S>) -> [f32x8<S>; 2] {
    let moment = K::moment(simd, q);
    [moment, K::tail(simd, q) * inverse - moment * splat(simd, 4.0 * PI)]
}

/// ∫ T/q³ dA, ∫ W dA and ∫ W **ρ** dA of eight particles.
struct Integrals<S: Simd> {
    flux: f32x8<S>,
    weight: f32x8<S>,
    moments: [f32x8<S>; 2],
}

/// The edges of a triangle.
pub(super) struct Edges<'a> {
    cut: &'a CutTriangle,
    edges: [Edge; 3],
}

impl<'a> Edges<'a> {
    pub(super) fn new(cut: &'a CutTriangle) -> Self {
        let [a, b] = cut.sides;
        let corners = [[0.0; 2], a, b];
        Self { cut, edges: [0, 1, 2].map(|k| Edge::new(corners[k], corners[(k + 1) % 3])) }
    }

    /// Puts down what the triangle does to eight particles, the last of which may be nobody, at positions relative to its third
    /// corner \[m\].
    #[inline(always)]
    pub(super) fn press<S: Simd, K: KernelLanes>(
        &self,
        simd: S,
        (particles, nobody): (&[u32; LANES], u32),
        relative: Lanes3<S>,
        pairs: &mut Vec<Pair>,
    ) {
        let cut = self.cut;
        let height = cut.height(simd, relative);
        let foot = [cut.along(simd, 0, relative), cut.along(simd, 1, relative)];
        let sums = self.integrate::<S, K>(simd, height, foot);
        let wall_fractions: [f32; LANES] = (sums.flux * height * splat(simd, 0.25 / PI)).into();
        let weights: [f32; LANES] = sums.weight.into();
        // First moments of the coordinates along the sides: those of the foot, and around it.
        let [a, b] = [foot[0] * sums.weight + sums.moments[0], foot[1] * sums.weight + sums.moments[1]];
        let [x, y] = cut.coordinates_of(simd, [a, b]);
        let parts: [[f32; LANES]; 2] = [x.into(), y.into()];
        let gradient = cut.axes[2] * cut.scale;
        for (k, &particle) in particles.iter().enumerate().take_while(|(_, particle)| **particle != nobody) {
            let (weight, [x, y]) = (weights[k], parts.map(|part| part[k]));
            if weight > NOTHING {
                pairs.push(Pair {
                    particle,
                    wall_fraction: wall_fractions[k],
                    parts: [gradient * x, gradient * y, gradient * (weight - x - y)],
                });
            }
        }
    }

    #[inline(always)]
    fn integrate<S: Simd, K: KernelLanes>(&self, simd: S, height: f32x8<S>, foot: [f32x8<S>; 2]) -> Integrals<S> {
        let (zero, half, one) = (splat(simd, 0.0), splat(simd, 0.5), splat(simd, 1.0));
        let low = (height * height).max(splat(simd, LEAST_SQUARE));
        let z = low.sqrt();
        let [below, flux_below] = potentials::<S, K>(simd, z, one / z);
        let mut sums = Integrals { flux: zero, weight: zero, moments: [zero; 2] };
        // The angle of what is out of reach, as seen from the foot: the sum of two angles of each edge, on both sides of what is
        // within reach.
        let mut beyond = zero;
        for Edge { start, along, length } in &self.edges {
            let (x, y) = (foot[0] - splat(simd, start[0]), foot[1] - splat(simd, start[1]));
            let (u, v) = (splat(simd, along[0]), splat(simd, along[1]));
            let distance = y * u - x * v;
            let begin = zero - (x * u + y * v);
            let end = begin + splat(simd, *length);
            let square = distance * distance;
            let nearest = low + square;
            let reach = (one - nearest).max(zero).sqrt();
            let (from, to) = (begin.min(reach).max(zero - reach), end.min(reach).max(zero - reach));
            let away = distance.abs();
            // Never the vector zero, also where the foot is a corner.
            let least = splat(simd, 1e-30);
            let before = [square + begin * from + least, away * (from - begin)];
            let after = [square + to * end + least, away * (end - to)];
            let cosine = before[0] * after[0] - before[1] * after[1];
            let seen = angle(simd, before[0] * after[1] + before[1] * after[0], cosine);
            beyond += distance.simd_lt(zero).select(zero - seen, seen);
            if from.simd_lt(to).to_bitmask() == 0 {
                continue;
            }
            let near = nearest.sqrt();
            let (first, last) = (eighth_root(simd, from, near, nearest), eighth_root(simd, to, near, nearest));
            let (middle, spread) = ((last + first) * half, (last - first) * half);
            let near = near * half;
            let (mut flux, mut weight, mut moment) = (zero, zero, zero);
            for [point, part] in POINTS {
                let y = middle + spread * splat(simd, point);
                let inverse = one / y;
                let (grown, shrunk) = (eighth_power(y), eighth_power(inverse));
                let (q, t) = ((grown + shrunk) * near, (grown - shrunk) * near);
                let apart = (square + t * t).max(splat(simd, 1e-12));
                // One division for two.
                let both = one / (q * apart);
                let [moment_beyond, flux_beyond] = potentials::<S, K>(simd, q, both * apart);
                // dt = 8 q dy/y
                let step = q * inverse * splat(simd, 8.0 * part);
                let turn = step * (both * q);
                weight += turn * (below - moment_beyond);
                flux += turn * (flux_below - flux_beyond);
                moment += step * moment_beyond;
            }
            let (turn, moment) = (spread * distance, moment * spread);
            sums.weight += weight * turn;
            sums.flux += flux * turn;
            sums.moments[0] -= moment * v;
            sums.moments[1] += moment * u;
        }
        sums.weight += below * beyond;
        sums.flux += flux_below * beyond;
        sums
    }
}

/// y with c sinh(8 ln y) = t, given c and its square.
#[inline(always)]
fn eighth_root<S: Simd>(simd: S, t: f32x8<S>, c: f32x8<S>, square: f32x8<S>) -> f32x8<S> {
    let grown = (t.abs() + (square + t * t).sqrt()) / c;
    let y = grown.sqrt().sqrt().sqrt();
    t.simd_lt(splat(simd, 0.0)).select(splat(simd, 1.0) / y, y)
}

#[inline(always)]
fn eighth_power<S: Simd>(x: f32x8<S>) -> f32x8<S> {
    let two = x * x;
    let four = two * two;
    four * four
}
