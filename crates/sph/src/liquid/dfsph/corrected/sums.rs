//! Sums over pairs with corrected gradients, a block of particles at a time.

use super::super::pairs::Pairs;
use super::{Symmetric, apply};
use crate::neighbours::Block;
use crate::simd::{LANES, Packed, Space, add_up, add_up3, dot, gather, minus, pack, plus_scaled, splat, splat3};
use fearless_simd::{Simd, SimdFrom, f32x8};
use glam::Vec3;

/// Σⱼ qⱼ Lⱼ h⁴ ∇Wᵢⱼ for the particles of a block.
#[inline(always)]
pub(super) fn sum_pressure<S: Simd, P: Space>(
    simd: S,
    space: P,
    pairs: Pairs<'_>,
    position: &[Packed],
    [a, b]: &[Vec<Packed>; 2],
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
                    let (g, _) = pairs.gradient(simd, (space, position), x_i, (at, eight));
                    let ([xx, yy, zz], xy) = gather(simd, a, eight);
                    let ([xz, yz, _], _) = gather(simd, b, eight);
                    sum[0] += xx * g[0] + xy * g[1] + xz * g[2];
                    sum[1] += xy * g[0] + yy * g[1] + yz * g[2];
                    sum[2] += xz * g[0] + yz * g[1] + zz * g[2];
                }
                *output = pack(add_up3(sum), 0.0);
            }
        },
    );
}

/// Σⱼ (vᵢ − vⱼ)·Lᵢ h⁴ ∇Wᵢⱼ for the particles of a block.
#[inline(always)]
pub(super) fn sum_rate<S: Simd, P: Space>(
    simd: S,
    space: P,
    pairs: Pairs<'_>,
    (position, flow): (&[Packed], &[Packed]),
    inverse: &[Symmetric],
    output: &mut [f32],
) {
    let block = pairs.block;
    simd.vectorize(
        #[inline(always)]
        || {
            for (k, output) in output.iter_mut().enumerate() {
                let i = block.start + k;
                let (x_i, v_i) = (splat3(simd, position[i]), splat3(simd, flow[i]));
                let [xx, yy, zz, xy, xz, yz] = inverse[i].map(|l| splat(simd, l));
                let mut sum = splat(simd, 0.0);
                for (at, eight) in block.range(k).zip(block.of(k)) {
                    let (g, _) = pairs.gradient(simd, (space, position), x_i, (at, eight));
                    let v = minus(v_i, gather(simd, flow, eight).0);
                    let x = xx * v[0] + xy * v[1] + xz * v[2];
                    let y = xy * v[0] + yy * v[1] + yz * v[2];
                    let z = xz * v[0] + yz * v[1] + zz * v[2];
                    sum += dot([x, y, z], g);
                }
                *output = add_up(sum);
            }
        },
    );
}

/// Σⱼ h⁴ ∇W⊗d, times a norm, for the particles of a block.
#[inline(always)]
pub(super) fn sum_moments<S: Simd, P: Space>(
    simd: S,
    space: P,
    pairs: Pairs<'_>,
    position: &[Packed],
    norm: f32,
    output: &mut [Symmetric],
) {
    let block = pairs.block;
    simd.vectorize(
        #[inline(always)]
        || {
            for (k, output) in output.iter_mut().enumerate() {
                let x_i = splat3(simd, position[block.start + k]);
                let mut sum = [splat(simd, 0.0); 6];
                for (at, eight) in block.range(k).zip(block.of(k)) {
                    let d = space.shortest(simd, minus(x_i, gather(simd, position, eight).0));
                    let slope = f32x8::simd_from(simd, pairs.slopes[at]);
                    let g = [slope * d[0], slope * d[1], slope * d[2]];
                    sum[0] += g[0] * d[0];
                    sum[1] += g[1] * d[1];
                    sum[2] += g[2] * d[2];
                    sum[3] += g[0] * d[1];
                    sum[4] += g[0] * d[2];
                    sum[5] += g[1] * d[2];
                }
                *output = sum.map(|sum| add_up(sum) * norm);
            }
        },
    );
}

/// θ (Σⱼ (vᵢ − vⱼ)⊗h⁴ ∇Wᵢⱼ) times the inverse moments, row by row, for the particles of a block; the companion of the first row is θ.
#[inline(always)]
pub(super) fn fit_field<S: Simd, P: Space>(
    simd: S,
    space: P,
    pairs: Pairs<'_>,
    (position, flow): (&[Packed], &[Packed]),
    fit: &[(Symmetric, f32)],
    [x, y, z]: [&mut [Packed]; 3],
) {
    let block = pairs.block;
    simd.vectorize(
        #[inline(always)]
        || {
            for (k, (inverse, trust)) in fit.iter().enumerate() {
                let i = block.start + k;
                let (x_i, v_i) = (splat3(simd, position[i]), splat3(simd, flow[i]));
                let mut sum = [[splat(simd, 0.0); 3]; 3];
                for (at, eight) in block.range(k).zip(block.of(k)) {
                    let (g, _) = pairs.gradient(simd, (space, position), x_i, (at, eight));
                    let v = minus(v_i, gather(simd, flow, eight).0);
                    for (sum, v) in sum.iter_mut().zip(v) {
                        *sum = plus_scaled(*sum, v, g);
                    }
                }
                let row = |sum, companion| pack(apply(inverse, add_up3(sum)) * *trust, companion);
                (x[k], y[k], z[k]) = (row(sum[0], *trust), row(sum[1], 0.0), row(sum[2], 0.0));
            }
        },
    );
}

/// Σⱼ h⁵ (dW/dr)/r (θᵢ(vᵢⱼ − Gᵢxᵢⱼ) + θⱼ(vᵢⱼ − Gⱼxᵢⱼ)) of a particle of a block.
#[inline(always)]
pub(super) fn sum_noise<S: Simd, P: Space>(
    simd: S,
    space: P,
    (block, slopes, k): (&Block, &[[f32; LANES]], usize),
    (position, flow): (&[Packed], &[Packed]),
    [x, y, z]: &[Vec<Packed>; 3],
) -> Vec3 {
    simd.vectorize(
        #[inline(always)]
        || {
            let i = block.start + k;
            let (x_i, v_i) = (splat3(simd, position[i]), splat3(simd, flow[i]));
            let (own_x, own_y, own_z) = (splat3(simd, x[i]), splat3(simd, y[i]), splat3(simd, z[i]));
            let trust = splat(simd, x[i][3]);
            let mut sum = [splat(simd, 0.0); 3];
            for (eight, slope) in block.of(k).iter().zip(&slopes[block.range(k)]) {
                let d = space.shortest(simd, minus(x_i, gather(simd, position, eight).0));
                let v = minus(v_i, gather(simd, flow, eight).0);
                let (row_x, trust_j) = gather(simd, x, eight);
                let ((row_y, _), (row_z, _)) = (gather(simd, y, eight), gather(simd, z, eight));
                let both = trust + trust_j;
                let rough = [
                    both * v[0] - dot(own_x, d) - dot(row_x, d),
                    both * v[1] - dot(own_y, d) - dot(row_y, d),
                    both * v[2] - dot(own_z, d) - dot(row_z, d),
                ];
                sum = plus_scaled(sum, f32x8::simd_from(simd, *slope), rough);
            }
            add_up3(sum)
        },
    )
}
