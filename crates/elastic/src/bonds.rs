//! Sums over the neighbours of a particle, three coordinates at a time.
//!
//! The fourth lane idles, and every coordinate sees the same operations in the same order as it would alone: the bits are the
//! same at every instruction set.

use fearless_simd::{Simd, SimdFrom, f64x4};
use glam::{DMat3, DVec3};

/// A neighbour at rest: Xᵢⱼ \[m\] and V̄ωᵢⱼ \[m\].
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Bond {
    pub(super) to: u32,
    pub(super) rest: DVec3,
    pub(super) weight: f64,
}

/// The stress of a particle as its neighbours read it: three columns of B \[Pa\], and below the first of them ζE \[Pa\].
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[repr(align(32))]
pub(super) struct Stress([[f64; 4]; 3]);

impl Stress {
    pub(super) fn new(b: DMat3, resistance: f64) -> Self {
        let [x, y, z] = [b.x_axis, b.y_axis, b.z_axis].map(|column| column.to_array());
        Self([[x[0], x[1], x[2], resistance], [y[0], y[1], y[2], 0.0], [z[0], z[1], z[2], 0.0]])
    }
}

#[inline(always)]
fn load<S: Simd>(simd: S, v: DVec3) -> f64x4<S> {
    f64x4::simd_from(simd, [v.x, v.y, v.z, 0.0])
}

#[inline(always)]
fn stored<S: Simd>(v: f64x4<S>) -> DVec3 {
    let [x, y, z, _]: [f64; 4] = v.into();
    DVec3::new(x, y, z)
}

/// Σⱼ xᵢⱼ ⊗ V̄ωᵢⱼXᵢⱼ \[m³\].
#[inline(always)]
pub(super) fn gradient<S: Simd>(simd: S, bonds: &[Bond], positions: &[DVec3], x: DVec3) -> DMat3 {
    let x = load(simd, x);
    let zero = f64x4::simd_from(simd, 0.0);
    let mut sum = [zero; 3];
    for bond in bonds {
        let now = load(simd, positions[bond.to as usize]) - x;
        let rest = bond.rest * bond.weight;
        sum = [sum[0] + now * rest.x, sum[1] + now * rest.y, sum[2] + now * rest.z];
    }
    DMat3::from_cols(stored(sum[0]), stored(sum[1]), stored(sum[2]))
}

/// Σⱼ V̄ωᵢⱼ ((Bᵢ + Bⱼ) Xᵢⱼ + 2ζE xᵢⱼ + damping along xᵢⱼ) \[N\], for damping \[Pa·s\] under velocities \[m/s\].
#[inline(always)]
pub(super) fn force<S: Simd>(
    simd: S,
    (i, bonds): (usize, &[Bond]),
    (positions, velocities): (&[DVec3], &[DVec3]),
    stresses: &[Stress],
    damping: f64,
) -> DVec3 {
    let columns = |of: &Stress| of.0.map(|column| f64x4::simd_from(simd, column));
    let (x, v, own) = (load(simd, positions[i]), velocities[i], columns(&stresses[i]));
    let resistance = stresses[i].0[0][3];
    let mut sum = f64x4::simd_from(simd, 0.0);
    for bond in bonds {
        let (j, rest) = (bond.to as usize, bond.rest);
        let other = columns(&stresses[j]);
        let now = load(simd, positions[j]) - x;
        let both = [own[0] + other[0], own[1] + other[1], own[2] + other[2]];
        let mut pull = both[0] * rest.x + both[1] * rest.y + both[2] * rest.z;
        pull += now * (resistance + stresses[j].0[0][3]);
        if damping > 0.0 {
            let apart = positions[j] - positions[i];
            pull += now * (damping * apart.dot(velocities[j] - v) / apart.length_squared().max(1e-30));
        }
        sum += pull * bond.weight;
    }
    stored(sum)
}
