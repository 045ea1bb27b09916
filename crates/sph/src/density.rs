//! Compression: cᵢ = V0 Σⱼ Wᵢⱼ + (1 − γᵢ), the particles and what the walls cut off \[MCG03 eq. 3; B eq. 10\].
//!
//! All particles of a scene have the same rest volume V0 = spacing³, whatever their liquid: ρᵢ = cᵢ ρ0ᵢ. Counting volumes
//! instead of masses leaves no spurious density at an interface between liquids \[SZW eq. 5\].

use crate::neighbours::Block;
use crate::simd::{
    KernelLanes, LANES, Packed, Space, Stored3, add_up, add_up3, dot, gather, minus, plus_scaled, splat, splat3,
};
use fearless_simd::{Simd, SimdFloat, SimdFrom, f32x8};
use glam::Vec3;

/// Sums over the neighbours of one particle; lengths in units of h.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Sums {
    /// Σⱼ h³ Wᵢⱼ.
    pub(crate) value: f32,
    /// Σⱼ h⁴ ∇Wᵢⱼ.
    pub(crate) gradient: Vec3,
    /// Σⱼ h⁸ |∇Wᵢⱼ|².
    pub(crate) square: f32,
    /// −⅓ Σⱼ h³ r dW/dr: the share of momentum that passes through the pairs, one in the limit.
    pub(crate) moment: f32,
}

/// Σⱼ h³ Wᵢⱼ for the particles of a block.
#[inline(always)]
// (3) of docs/src/liquid.md
pub(crate) fn sum<S: Simd, K: KernelLanes>(simd: S, _: K, block: &Block, inverse_h: f32, output: &mut [f32]) {
    simd.vectorize(
        #[inline(always)]
        || {
            let inverse_h = splat(simd, inverse_h);
            for (k, output) in output.iter_mut().enumerate() {
                let mut sum = splat(simd, 0.0);
                for square in block.squares(k) {
                    let q = f32x8::simd_from(simd, *square).sqrt() * inverse_h;
                    sum += K::value(simd, q);
                }
                *output = add_up(sum);
            }
        },
    );
}

/// As [`sum`], with the sums of gradients that the incompressible solver needs. The companion of a position is 1, that of nobody 0, and that of a porous
/// solid what its matter fills of its volume. h⁵ (dW/dr)/r of each pair, times the companions of both, goes to `slopes`, and h⁴ ∇W, if it is to be
/// kept, to `gradients`, where the passes of that solver find them.
#[inline(always)]
pub(crate) fn sum_with_gradients<S: Simd, K: KernelLanes, P: Space>(
    simd: S,
    (_, space): (K, P),
    block: &Block,
    position: &[Packed],
    inverse_h: f32,
    (output, slopes, gradients): (&mut [Sums], &mut Vec<[f32; LANES]>, &mut Vec<Stored3>),
    keep: bool,
) {
    slopes.resize(block.group_count(), [0.0; LANES]);
    gradients.resize(if keep { block.group_count() } else { 0 }, [[0.0; LANES]; 3]);
    simd.vectorize(
        #[inline(always)]
        || {
            let inverse_h = splat(simd, inverse_h);
            let zero = splat(simd, 0.0);
            for (k, output) in output.iter_mut().enumerate() {
                let (x_i, full_i) =
                    (splat3(simd, position[block.start + k]), splat(simd, position[block.start + k][3]));
                let (mut value, mut gradient, mut sum_of_squares, mut moment) = (zero, [zero; 3], zero, zero);
                for (at, (eight, square)) in block.range(k).zip(block.with_squares(k)) {
                    let q = f32x8::simd_from(simd, *square).sqrt() * inverse_h;
                    let (x_j, full_j) = gather(simd, position, eight);
                    let d = space.shortest(simd, minus(x_i, x_j));
                    let slope = full_i * full_j * K::slope_over_q(simd, q) * inverse_h;
                    slopes[at] = slope.into();
                    if keep {
                        gradients[at] = [(slope * d[0]).into(), (slope * d[1]).into(), (slope * d[2]).into()];
                    }
                    value += full_j * K::value(simd, q);
                    gradient = plus_scaled(gradient, slope, d);
                    let along = slope * dot(d, d);
                    sum_of_squares += slope * along;
                    moment += along * inverse_h;
                }
                *output = Sums {
                    value: add_up(value),
                    gradient: add_up3(gradient),
                    square: add_up(sum_of_squares),
                    moment: add_up(moment) * (-1.0 / 3.0),
                };
            }
        },
    );
}
