//! ρᵢ = Σⱼ mⱼ Wᵢⱼ + ρ0 (1 − γᵢ): the particles and what the walls cut off \[MCG03 eq. 3; B eq. 10; wall: see `wall`\].

use crate::lanes::{KernelLanes, Packed, Space, add_up, dot, gather, minus, splat, splat3};
use crate::neighbours::Block;
use fearless_simd::{Simd, SimdFloat};

/// Sums Σⱼ mⱼ h³ Wᵢⱼ for the particles of a block; the companions of `packed` are the masses.
#[inline(always)]
pub(crate) fn sum<S: Simd, K: KernelLanes, P: Space>(
    simd: S,
    (_, space): (K, P),
    block: &Block,
    packed: &[Packed],
    inverse_h: f32,
    output: &mut [f32],
) {
    simd.vectorize(
        #[inline(always)]
        || {
            let inverse_h = splat(simd, inverse_h);
            for (k, output) in output.iter_mut().enumerate() {
                let x_i = splat3(simd, packed[block.start + k]);
                let mut sum = splat(simd, 0.0);
                for eight in block.of(k) {
                    let (x_j, m_j) = gather(simd, packed, eight);
                    let d = space.shortest(simd, minus(x_i, x_j));
                    let q = dot(d, d).sqrt() * inverse_h;
                    sum += m_j * K::value(simd, q);
                }
                *output = add_up(sum);
            }
        },
    );
}
