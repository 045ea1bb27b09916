//! Sums over pairs of neighbours, a block of particles at a time.

use crate::neighbours::Block;
use crate::simd::{
    LANES, Lanes3, Packed, Space, Stored3, add_up, add_up3, dot, gather, gather_companions, gather1, minus, pack,
    plus_scaled, scaled, splat, splat3,
};
use fearless_simd::{Simd, SimdFrom, f32x8};
use glam::Vec3;

/// The pairs of a block: their lists, the slopes of the kernel between them, and its gradients, if they are kept.
#[derive(Clone, Copy)]
pub(super) struct Pairs<'a> {
    pub(super) block: &'a Block,
    pub(super) slopes: &'a [[f32; LANES]],
    pub(super) gradients: &'a [Stored3],
}

impl Pairs<'_> {
    /// h⁴ ∇W between a particle and eight neighbours, whose index among all pairs is `at`: the same bits whether gradients are
    /// kept or not. The companions of their positions, if these had to be read.
    #[inline(always)]
    pub(super) fn gradient<S: Simd, P: Space>(
        &self,
        simd: S,
        (space, position): (P, &[Packed]),
        x_i: Lanes3<S>,
        (at, eight): (usize, &[u32; LANES]),
    ) -> (Lanes3<S>, Option<f32x8<S>>) {
        if self.gradients.is_empty() {
            let slope = f32x8::simd_from(simd, self.slopes[at]);
            let (x_j, companions) = gather(simd, position, eight);
            (scaled(slope, space.shortest(simd, minus(x_i, x_j))), Some(companions))
        } else {
            let [x, y, z] = self.gradients[at];
            ([f32x8::simd_from(simd, x), f32x8::simd_from(simd, y), f32x8::simd_from(simd, z)], None)
        }
    }
}

/// Σⱼ qⱼ h⁴ ∇Wᵢⱼ for the particles of a block; the companion of a position is q.
#[inline(always)]
// (5) of docs/src/liquid.md
pub(super) fn sum_pressure<S: Simd, P: Space>(
    simd: S,
    space: P,
    pairs: Pairs<'_>,
    position: &[Packed],
    output: &mut [Packed],
) {
    let block = pairs.block;
    simd.vectorize(
        #[inline(always)]
        || {
            for (k, output) in output.iter_mut().enumerate() {
                let x_i = splat3(simd, position[block.start + k]);
                let mut sum = [splat(simd, 0.0); 3];
                for (at, eight) in block.range(k).zip(block.of(k)) {
                    let (gradient, companions) = pairs.gradient(simd, (space, position), x_i, (at, eight));
                    let q_j = match companions {
                        Some(companions) => companions,
                        None => gather_companions(simd, position, eight),
                    };
                    sum = plus_scaled(sum, q_j, gradient);
                }
                *output = pack(add_up3(sum), 0.0);
            }
        },
    );
}

/// −⅓ Σⱼ qⱼ h⁴ r dW/dr for the particles of a block; the companion of a position is q.
#[inline(always)]
pub(super) fn sum_moment<S: Simd, P: Space>(
    simd: S,
    space: P,
    (block, slopes): (&Block, &[[f32; LANES]]),
    position: &[Packed],
    output: &mut [f32],
) {
    simd.vectorize(
        #[inline(always)]
        || {
            for (k, output) in output.iter_mut().enumerate() {
                let x_i = splat3(simd, position[block.start + k]);
                let mut sum = splat(simd, 0.0);
                for (eight, slope) in block.of(k).iter().zip(&slopes[block.range(k)]) {
                    let (x_j, q_j) = gather(simd, position, eight);
                    let d = space.shortest(simd, minus(x_i, x_j));
                    sum += q_j * f32x8::simd_from(simd, *slope) * dot(d, d);
                }
                *output = add_up(sum) * (-1.0 / 3.0);
            }
        },
    );
}

/// −½ Σⱼ (qᵢ + qⱼ) h⁵ (dW/dr)/r (d·n)² of a particle of a block: the stress along a direction that it and its neighbours pass on.
/// The companion of a position is q.
#[inline(always)]
pub(super) fn sum_along<S: Simd, P: Space>(
    simd: S,
    space: P,
    (block, slopes): (&Block, &[[f32; LANES]]),
    position: &[Packed],
    (i, along): (usize, Vec3),
) -> f32 {
    simd.vectorize(
        #[inline(always)]
        || {
            let (x_i, q_i) = (splat3(simd, position[i]), splat(simd, position[i][3]));
            let along = splat3(simd, pack(along, 0.0));
            let mut sum = splat(simd, 0.0);
            for (eight, slope) in block.of(i - block.start).iter().zip(&slopes[block.range(i - block.start)]) {
                let (x_j, q_j) = gather(simd, position, eight);
                let d = dot(space.shortest(simd, minus(x_i, x_j)), along);
                sum += (q_i + q_j) * f32x8::simd_from(simd, *slope) * d * d;
            }
            -0.5 * add_up(sum)
        },
    )
}

/// Σⱼ h⁸ |∇Wᵢⱼ|² wⱼ for the particles of a block, with a weight for each particle.
#[inline(always)]
pub(super) fn sum_square<S: Simd, P: Space>(
    simd: S,
    space: P,
    (block, slopes): (&Block, &[[f32; LANES]]),
    (position, weight): (&[Packed], &[f32]),
    output: &mut [f32],
) {
    simd.vectorize(
        #[inline(always)]
        || {
            for (k, output) in output.iter_mut().enumerate() {
                let x_i = splat3(simd, position[block.start + k]);
                let mut sum = splat(simd, 0.0);
                for (eight, slope) in block.of(k).iter().zip(&slopes[block.range(k)]) {
                    let (x_j, _) = gather(simd, position, eight);
                    let d = space.shortest(simd, minus(x_i, x_j));
                    let slope = f32x8::simd_from(simd, *slope);
                    sum += slope * slope * dot(d, d) * gather1(simd, weight, eight);
                }
                *output = add_up(sum);
            }
        },
    );
}

/// Σⱼ (vᵢ − vⱼ)·h⁴ ∇Wᵢⱼ for the particles of a block.
#[inline(always)]
// (4) of docs/src/liquid.md
pub(super) fn sum_rate<S: Simd, P: Space>(
    simd: S,
    space: P,
    pairs: Pairs<'_>,
    (position, flow): (&[Packed], &[Packed]),
    output: &mut [f32],
) {
    let block = pairs.block;
    simd.vectorize(
        #[inline(always)]
        || {
            for (k, output) in output.iter_mut().enumerate() {
                let i = block.start + k;
                let (x_i, v_i) = (splat3(simd, position[i]), splat3(simd, flow[i]));
                let mut sum = splat(simd, 0.0);
                for (at, eight) in block.range(k).zip(block.of(k)) {
                    let (gradient, _) = pairs.gradient(simd, (space, position), x_i, (at, eight));
                    sum += dot(minus(v_i, gather(simd, flow, eight).0), gradient);
                }
                *output = add_up(sum);
            }
        },
    );
}
