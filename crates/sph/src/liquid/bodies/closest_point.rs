//! Where particles are nearest to a triangle: there friction holds them.

use super::ClosestPoint;
use super::compaction::Chosen;
use super::gauss_quadrature::{dual, splat_vector};
use crate::simd::{LANES, Lanes3, dot, minus, scaled, set_first, splat};
use fearless_simd::{Select, Simd, SimdBase, SimdFloat, SimdFrom, f32x8, u32x8};
use glam::{DVec3, Vec3};

/// Where eight particles are nearest to a triangle: how far away \[m\], and two of the coordinates there.
pub(super) struct ClosestPoints<S: Simd> {
    distance: f32x8<S>,
    at: [f32x8<S>; 2],
}

/// Particles near to a triangle, in their order, and where they are nearest to it.
#[derive(Debug, Default)]
pub(super) struct ClosestPointList {
    particles: Chosen,
    distance: Vec<f32>,
    at: [Vec<f32>; 2],
}

impl ClosestPointList {
    /// Makes room for so many.
    pub(super) fn clear(&mut self, room: usize) {
        self.particles.clear(room);
        let room = self.particles.room();
        let [u, v] = &mut self.at;
        [&mut self.distance, u, v].into_iter().for_each(|column| column.resize(room, 0.0));
    }

    /// Takes up those of eight particles that are nearer than `farthest` \[m\].
    #[inline(always)]
    pub(super) fn push<S: Simd>(
        &mut self,
        simd: S,
        points: ClosestPoints<S>,
        farthest: f32x8<S>,
        eight: &[u32; LANES],
    ) {
        let near = points.distance.simd_lt(farthest);
        let count = self.particles.all().len();
        let lanes = count..count + LANES;
        let [u, v] = &mut self.at;
        for (value, column) in [(points.distance, &mut self.distance), (points.at[0], u), (points.at[1], v)] {
            set_first(simd, value, near).store_slice(&mut column[lanes.clone()]);
        }
        self.particles.push(simd, near, u32x8::simd_from(simd, *eight));
    }

    pub(super) fn all(&self) -> impl Iterator<Item = (u32, ClosestPoint)> {
        self.particles.all().iter().enumerate().map(|(k, &particle)| {
            let [u, v] = [self.at[0][k], self.at[1][k]];
            (particle, ClosestPoint { distance: self.distance[k], lambda: Vec3::new(u, v, 1.0 - u - v) })
        })
    }
}

/// A triangle to which the nearest point is sought.
pub(super) struct Nearest<S: Simd> {
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
    pub(super) fn new(simd: S, [a, b, c]: [DVec3; 3]) -> Self {
        let lanes = |v: DVec3| splat_vector(simd, v.as_vec3());
        let sides = [a - c, b - c, b - a];
        Self {
            corner: lanes(c),
            sides: sides.map(lanes),
            inverse_squares: sides.map(|side| splat(simd, (1.0 / side.length_squared().max(1e-30)) as f32)),
            dual: dual([sides[0], sides[1]]).map(lanes),
        }
    }

    /// Where eight particles are nearest to the triangle: below a particle, if it stands above the triangle, or on a side.
    #[inline(always)]
    pub(super) fn closest_points(&self, simd: S, p: Lanes3<S>) -> ClosestPoints<S> {
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
        ClosestPoints { distance, at: [x, y] }
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

#[cfg(test)]
mod tests {
    use super::*;
    use fearless_simd::{Level, dispatch};
    use meniscus_geometry::closest_point;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn eight_nearest_points_are_those_of_one(
            corners in prop::array::uniform9(-1.0f64..1.0),
            positions in prop::array::uniform24(-1.5f32..1.5),
        ) {
            let [a, b, c] = [0, 3, 6].map(|k| DVec3::from_slice(&corners[k..]));
            let position = |k: usize| Vec3::new(positions[k], positions[8 + k], positions[16 + k]);
            for level in [Level::new(), Level::baseline()] {
                let mut list = ClosestPointList::default();
                list.clear(2 * LANES);
                dispatch!(level, simd => {
                    let p = [0, 8, 16].map(|k| f32x8::from_slice(simd, &positions[k..k + LANES]));
                    let eight = Nearest::new(simd, [a, b, c]).closest_points(simd, p);
                    list.push(simd, eight, splat(simd, 1.0), &[0, 1, 2, 3, 4, 5, 6, 7]);
                });
                let points: Vec<_> = list.all().collect();
                for k in 0..LANES {
                    let (nearest, lambda) = closest_point(position(k).as_dvec3(), [a, b, c]);
                    let distance = nearest.distance(position(k).as_dvec3());
                    let Some(&(_, found)) = points.iter().find(|found| found.0 as usize == k) else {
                        prop_assert!(distance > 1.0 - 2e-6);
                        continue;
                    };
                    prop_assert!((f64::from(found.distance) - distance).abs() < 2e-6, "{} {distance}", found.distance);
                    // Where the triangle is a needle, other points are as near.
                    let point = found.lambda.x * a.as_vec3() + found.lambda.y * b.as_vec3() + found.lambda.z * c.as_vec3();
                    let off = point.distance(position(k)) - found.distance;
                    prop_assert!(off.abs() < 1e-5 && found.lambda.min_element() > -1e-6, "{off} {lambda}");
                }
            }
        }
    }
}
