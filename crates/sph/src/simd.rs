//! Eight neighbours at a time.
//!
//! The hot loops run over a particle's neighbour list in groups of eight lanes, with plain multiplications and additions
//! and one fixed order of summation: the bits are the same at every instruction set (SSE2 to AVX-512, NEON, none).
//! Neighbours are read as packed quadruples (one 16-byte load each) and transposed in registers.

use crate::kernel::Kernel;
use fearless_simd::{
    Level, Select, Simd, SimdBase, SimdCombine, SimdFloat, SimdFrom, SimdMask, SimdSplit, f32x4, f32x8, mask32x8,
};
use glam::Vec3;
use meniscus_geometry::Periodic;
use std::f32::consts::{FRAC_PI_2, PI};

/// Number of lanes. Neighbour lists are padded to a multiple of it with the index of a particle without mass.
pub(crate) const LANES: usize = 8;

/// Three coordinates and a companion, as the lanes like to load them.
pub(crate) type Packed = [f32; 4];

/// Packs a vector and a companion.
#[inline(always)]
pub(crate) fn pack(v: Vec3, companion: f32) -> Packed {
    [v.x, v.y, v.z, companion]
}

/// Three vectors of lanes.
pub(crate) type Lanes3<S> = [f32x8<S>; 3];

/// Three vectors of lanes, in memory.
pub(crate) type Stored3 = [[f32; LANES]; 3];

/// One number in all lanes.
#[inline(always)]
pub(crate) fn splat<S: Simd>(simd: S, value: f32) -> f32x8<S> {
    f32x8::splat(simd, value)
}

/// One vector in all lanes.
#[inline(always)]
pub(crate) fn splat3<S: Simd>(simd: S, v: Packed) -> Lanes3<S> {
    [splat(simd, v[0]), splat(simd, v[1]), splat(simd, v[2])]
}

/// Reads eight packed quadruples as three coordinates and the companions.
#[inline(always)]
pub(crate) fn gather<S: Simd>(simd: S, from: &[Packed], eight: &[u32; LANES]) -> (Lanes3<S>, f32x8<S>) {
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    if let Level::Avx2(avx2) = simd.level() {
        let [x, y, z, w] = avx2::gather(avx2, from, eight);
        let lanes = |column: [f32; LANES]| f32x8::simd_from(simd, column);
        return ([lanes(x), lanes(y), lanes(z)], lanes(w));
    }
    let load = |k: usize| f32x4::simd_from(simd, from[eight[k] as usize]);
    let low = transpose(load(0), load(1), load(2), load(3));
    let high = transpose(load(4), load(5), load(6), load(7));
    ([low[0].combine(high[0]), low[1].combine(high[1]), low[2].combine(high[2])], low[3].combine(high[3]))
}

#[inline(always)]
fn transpose<S: Simd>(a: f32x4<S>, b: f32x4<S>, c: f32x4<S>, d: f32x4<S>) -> [f32x4<S>; 4] {
    let (ac_low, ac_high) = (a.zip_low(c), a.zip_high(c));
    let (bd_low, bd_high) = (b.zip_low(d), b.zip_high(d));
    [ac_low.zip_low(bd_low), ac_low.zip_high(bd_low), ac_high.zip_low(bd_high), ac_high.zip_high(bd_high)]
}

/// What takes fewer instructions than the portable lanes make of it.
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
mod avx2 {
    use super::{LANES, Packed};
    use fearless_simd::{SimdFrom, f32x8, u32x8};
    #[cfg(target_arch = "x86")]
    use std::arch::x86::{
        _mm_set_ps, _mm256_permutevar8x32_ps, _mm256_set_m128, _mm256_unpackhi_ps, _mm256_unpacklo_ps,
    };
    #[cfg(target_arch = "x86_64")]
    use std::arch::x86_64::{
        _mm_set_ps, _mm256_permutevar8x32_ps, _mm256_set_m128, _mm256_unpackhi_ps, _mm256_unpacklo_ps,
    };

    /// For each set of lanes, their numbers one after the other.
    static SET: [[u32; LANES]; 256] = {
        let mut order = [[0; LANES]; 256];
        let mut bits = 0;
        while bits < 256 {
            let (mut lane, mut count) = (0, 0);
            while lane < LANES {
                if bits >> lane & 1 == 1 {
                    order[bits][count] = lane as u32;
                    count += 1;
                }
                lane += 1;
            }
            bits += 1;
        }
        order
    };

    fearless_simd::kernel!(
        #[inline(always)]
        pub(super) fn set_first(avx2: Avx2, lanes: [f32; LANES], bits: usize) -> [f32; LANES] {
            let order = u32x8::simd_from(avx2, SET[bits & 0xff]);
            let first = _mm256_permutevar8x32_ps(f32x8::simd_from(avx2, lanes).into(), order.into());
            f32x8::simd_from(avx2, first).into()
        }
    );

    fearless_simd::kernel!(
        /// Two quadruples in one register, which the lanes' own zips would not leave apart.
        #[inline(always)]
        pub(super) fn gather(avx2: Avx2, from: &[Packed], eight: &[u32; LANES]) -> [[f32; LANES]; 4] {
            let load = |k: usize| {
                let [x, y, z, w] = from[eight[k] as usize];
                _mm_set_ps(w, z, y, x)
            };
            let pair = |k: usize| _mm256_set_m128(load(k + 4), load(k));
            let (a, b, c, d) = (pair(0), pair(1), pair(2), pair(3));
            let (ac_low, ac_high) = (_mm256_unpacklo_ps(a, c), _mm256_unpackhi_ps(a, c));
            let (bd_low, bd_high) = (_mm256_unpacklo_ps(b, d), _mm256_unpackhi_ps(b, d));
            let columns = [
                _mm256_unpacklo_ps(ac_low, bd_low),
                _mm256_unpackhi_ps(ac_low, bd_low),
                _mm256_unpacklo_ps(ac_high, bd_high),
                _mm256_unpackhi_ps(ac_high, bd_high),
            ];
            columns.map(|c| <[f32; 8]>::from(f32x8::simd_from(avx2, c)))
        }
    );
}

/// The lanes whose bits are set, first; what follows them means nothing.
#[inline(always)]
pub(crate) fn set_first<S: Simd>(simd: S, lanes: f32x8<S>, mask: mask32x8<S>) -> f32x8<S> {
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    if let Level::Avx2(avx2) = simd.level() {
        return f32x8::simd_from(simd, avx2::set_first(avx2, lanes.into(), mask.to_bitmask() as usize));
    }
    lanes.compress(mask)
}

/// Reads eight single numbers.
#[inline(always)]
pub(crate) fn gather1<S: Simd>(simd: S, from: &[f32], eight: &[u32; LANES]) -> f32x8<S> {
    f32x8::simd_from(simd, eight.map(|j| from[j as usize]))
}

/// Reads the companions of eight packed quadruples.
#[inline(always)]
pub(crate) fn gather_companions<S: Simd>(simd: S, from: &[Packed], eight: &[u32; LANES]) -> f32x8<S> {
    f32x8::simd_from(simd, eight.map(|j| from[j as usize][3]))
}

/// Sum of the lanes, always along the same tree.
#[inline(always)]
pub(crate) fn add_up<S: Simd>(lanes: f32x8<S>) -> f32 {
    let (low, high) = lanes.split();
    let four: [f32; 4] = (low + high).into();
    (four[0] + four[2]) + (four[1] + four[3])
}

/// Sums of the lanes of a vector.
#[inline(always)]
pub(crate) fn add_up3<S: Simd>(lanes: Lanes3<S>) -> Vec3 {
    Vec3::new(add_up(lanes[0]), add_up(lanes[1]), add_up(lanes[2]))
}

#[inline(always)]
pub(crate) fn dot<S: Simd>(a: Lanes3<S>, b: Lanes3<S>) -> f32x8<S> {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

#[inline(always)]
pub(crate) fn minus<S: Simd>(a: Lanes3<S>, b: Lanes3<S>) -> Lanes3<S> {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

/// `factor · a`.
#[inline(always)]
pub(crate) fn scaled<S: Simd>(factor: f32x8<S>, a: Lanes3<S>) -> Lanes3<S> {
    [factor * a[0], factor * a[1], factor * a[2]]
}

/// `sum + factor · a`.
#[inline(always)]
pub(crate) fn plus_scaled<S: Simd>(sum: Lanes3<S>, factor: f32x8<S>, a: Lanes3<S>) -> Lanes3<S> {
    [sum[0] + factor * a[0], sum[1] + factor * a[1], sum[2] + factor * a[2]]
}

/// `sum − factor · a`.
#[inline(always)]
pub(crate) fn minus_scaled<S: Simd>(sum: Lanes3<S>, factor: f32x8<S>, a: Lanes3<S>) -> Lanes3<S> {
    [sum[0] - factor * a[0], sum[1] - factor * a[1], sum[2] - factor * a[2]]
}

/// The angle of a vector with y ≥ 0 from the first axis, 0 to π, within 3e-7; zero of the vector zero.
#[inline(always)]
pub(crate) fn angle<S: Simd>(simd: S, y: f32x8<S>, x: f32x8<S>) -> f32x8<S> {
    // Abramowitz and Stegun 4.4.49: atan r/r for r ≤ 1 as a polynomial in r².
    const SERIES: [f32; 9] = [
        0.002_866_225_7,
        -0.016_165_737,
        0.042_909_615,
        -0.075_289_64,
        0.106_562_64,
        -0.142_089,
        0.199_935_5,
        -0.333_331_45,
        1.0,
    ];
    let away = x.abs();
    let ratio = y.min(away) / y.max(away).max(splat(simd, f32::MIN_POSITIVE));
    let square = ratio * ratio;
    let mut series = splat(simd, 0.0);
    for coefficient in SERIES {
        series = series * square + splat(simd, coefficient);
    }
    let flat = ratio * series;
    let steep = y.simd_gt(away).select(splat(simd, FRAC_PI_2) - flat, flat);
    x.simd_lt(splat(simd, 0.0)).select(splat(simd, PI) - steep, steep)
}

/// Space with or without repetition: how the difference of two positions is taken.
pub(crate) trait Space: Copy + Sync {
    fn shortest<S: Simd>(&self, simd: S, d: Lanes3<S>) -> Lanes3<S>;
}

/// Space without end.
#[derive(Clone, Copy)]
pub(crate) struct Free;

impl Space for Free {
    #[inline(always)]
    fn shortest<S: Simd>(&self, _: S, d: Lanes3<S>) -> Lanes3<S> {
        d
    }
}

/// Space that repeats; axes that do not have inverse length zero.
#[derive(Clone, Copy)]
pub(crate) struct Repeating {
    length: Vec3,
    inverse: Vec3,
}

impl Repeating {
    pub(crate) fn new(periodic: &Periodic) -> Self {
        let length = periodic.length;
        let inverse = Vec3::select(length.cmpgt(Vec3::ZERO), 1.0 / length, Vec3::ZERO);
        Self { length, inverse }
    }

    #[inline(always)]
    fn along<S: Simd>(&self, simd: S, axis: usize, d: f32x8<S>) -> f32x8<S> {
        let turns = (d * splat(simd, self.inverse[axis])).round_ties_even();
        d - turns * splat(simd, self.length[axis])
    }
}

impl Space for Repeating {
    #[inline(always)]
    fn shortest<S: Simd>(&self, simd: S, d: Lanes3<S>) -> Lanes3<S> {
        [self.along(simd, 0, d[0]), self.along(simd, 1, d[1]), self.along(simd, 2, d[2])]
    }
}

/// A family of kernels in factored form, lane by lane; q = r/h.
pub(crate) trait KernelLanes: Copy + Sync {
    /// The same kernels as polynomials: density.
    const DENSITY: Kernel;
    /// The same kernels as polynomials: pressure gradient.
    const GRADIENT: Kernel;
    /// h³ W of the density kernel.
    fn value<S: Simd>(simd: S, q: f32x8<S>) -> f32x8<S>;
    /// h⁴ dW/dr of the gradient kernel.
    fn slope<S: Simd>(simd: S, q: f32x8<S>) -> f32x8<S>;
    /// The part 4π ∫ W s² ds of the density kernel beyond q.
    fn tail<S: Simd>(simd: S, q: f32x8<S>) -> f32x8<S>;

    /// The part ∫ W s ds of the density kernel beyond q.
    fn moment<S: Simd>(simd: S, q: f32x8<S>) -> f32x8<S>;

    /// The tail over q³, with the square of q at hand: what passes a piece of a wall.
    #[inline(always)]
    fn flux<S: Simd>(simd: S, q: f32x8<S>, square: f32x8<S>) -> f32x8<S> {
        Self::tail(simd, q) / (q * square)
    }

    /// h⁴ dW/dr divided by q: times the difference of two positions over h it is h⁴ ∇W. Finite at the origin, where the
    /// difference is zero.
    #[inline(always)]
    fn slope_over_q<S: Simd>(simd: S, q: f32x8<S>) -> f32x8<S> {
        Self::slope(simd, q) / (q + splat(simd, 1e-9))
    }
}

/// Poly6 for density, spiky for pressure \[MCG03\].
#[derive(Clone, Copy)]
pub(crate) struct Papers;

impl KernelLanes for Papers {
    const DENSITY: Kernel = Kernel::POLY6;
    const GRADIENT: Kernel = Kernel::SPIKY;

    #[inline(always)]
    fn value<S: Simd>(simd: S, q: f32x8<S>) -> f32x8<S> {
        let t = (splat(simd, 1.0) - q * q).max(splat(simd, 0.0));
        t * t * t * splat(simd, 1.566_681_5)
    }

    #[inline(always)]
    fn slope<S: Simd>(simd: S, q: f32x8<S>) -> f32x8<S> {
        let t = (splat(simd, 1.0) - q).max(splat(simd, 0.0));
        t * t * splat(simd, -14.323_945)
    }

    #[inline(always)]
    fn tail<S: Simd>(simd: S, q: f32x8<S>) -> f32x8<S> {
        // 1 − 315/16 (q³/3 − 3 q⁵/5 + 3 q⁷/7 − q⁹/9)
        let q = q.min(splat(simd, 1.0));
        let square = q * q;
        let series = splat(simd, 8.4375) - square * splat(simd, 2.1875);
        let series = splat(simd, -11.8125) + square * series;
        let series = splat(simd, 6.5625) + square * series;
        splat(simd, 1.0) - q * square * series
    }

    #[inline(always)]
    fn moment<S: Simd>(simd: S, q: f32x8<S>) -> f32x8<S> {
        // 315/(512 π) (1 − q²)₊⁴
        let t = (splat(simd, 1.0) - q * q).max(splat(simd, 0.0));
        let two = t * t;
        two * two * splat(simd, 0.195_835_19)
    }
}

/// The cubic spline for everything.
#[derive(Clone, Copy)]
pub(crate) struct CubicSpline;

impl KernelLanes for CubicSpline {
    const DENSITY: Kernel = Kernel::CUBIC_SPLINE;
    const GRADIENT: Kernel = Kernel::CUBIC_SPLINE;

    #[inline(always)]
    fn value<S: Simd>(simd: S, q: f32x8<S>) -> f32x8<S> {
        // 8/π (2 (1 − q)₊³ − 8 (½ − q)₊³)
        let outer = (splat(simd, 1.0) - q).max(splat(simd, 0.0));
        let inner = (splat(simd, 0.5) - q).max(splat(simd, 0.0));
        outer * outer * outer * splat(simd, 5.092_958) - inner * inner * inner * splat(simd, 20.371_833)
    }

    #[inline(always)]
    fn slope<S: Simd>(simd: S, q: f32x8<S>) -> f32x8<S> {
        // 48/π (4 (½ − q)₊² − (1 − q)₊²)
        let outer = (splat(simd, 1.0) - q).max(splat(simd, 0.0));
        let inner = (splat(simd, 0.5) - q).max(splat(simd, 0.0));
        inner * inner * splat(simd, 61.115_5) - outer * outer * splat(simd, 15.278_875)
    }

    #[inline(always)]
    fn tail<S: Simd>(simd: S, q: f32x8<S>) -> f32x8<S> {
        // 64 (t⁴/4 − 2 t⁵/5 + t⁶/6) − 256 (u⁴/16 − u⁵/5 + u⁶/6) with t = (1 − q)₊, u = (½ − q)₊
        let t = (splat(simd, 1.0) - q).max(splat(simd, 0.0));
        let u = (splat(simd, 0.5) - q).max(splat(simd, 0.0));
        let outer = splat(simd, 16.0) - t * (splat(simd, 25.6) - t * splat(simd, 10.666_667));
        let inner = splat(simd, 16.0) - u * (splat(simd, 51.2) - u * splat(simd, 42.666_668));
        let (tt, uu) = (t * t, u * u);
        tt * tt * outer - uu * uu * inner
    }

    #[inline(always)]
    fn moment<S: Simd>(simd: S, q: f32x8<S>) -> f32x8<S> {
        // 8/π (t⁴ (1/2 − 2 t/5) − u⁴ (1 − 8 u/5)) with t = (1 − q)₊, u = (½ − q)₊
        let t = (splat(simd, 1.0) - q).max(splat(simd, 0.0));
        let u = (splat(simd, 0.5) - q).max(splat(simd, 0.0));
        let outer = splat(simd, 1.273_239_5) - t * splat(simd, 1.018_591_6);
        let inner = splat(simd, 2.546_479) - u * splat(simd, 4.074_366_6);
        let (tt, uu) = (t * t, u * u);
        tt * tt * outer - uu * uu * inner
    }

    #[inline(always)]
    fn flux<S: Simd>(simd: S, q: f32x8<S>, square: f32x8<S>) -> f32x8<S> {
        // t⁴ (16 − 25.6 t + 32/3 t²)/q³ outside of ½, 1/q³ − 32/3 + 38.4 q² − 32 q³ inside
        let inverse = splat(simd, 1.0) / (q * square);
        let t = (splat(simd, 1.0) - q).max(splat(simd, 0.0));
        let series = splat(simd, 16.0) - t * (splat(simd, 25.6) - t * splat(simd, 10.666_667));
        let tt = t * t;
        let outer = tt * tt * series * inverse;
        let inner = inverse - (splat(simd, 10.666_667) - square * (splat(simd, 38.4) - q * splat(simd, 32.0)));
        q.simd_lt(splat(simd, 0.5)).select(inner, outer)
    }
}

/// The quartic spline for everything.
#[derive(Clone, Copy)]
pub(crate) struct QuarticSpline;

impl QuarticSpline {
    /// (1 − q)₊, (3/5 − q)₊, (1/5 − q)₊.
    #[inline(always)]
    fn parts<S: Simd>(simd: S, q: f32x8<S>) -> [f32x8<S>; 3] {
        [1.0, 0.6, 0.2].map(|knot| (splat(simd, knot) - q).max(splat(simd, 0.0)))
    }
}

impl KernelLanes for QuarticSpline {
    const DENSITY: Kernel = Kernel::QUARTIC_SPLINE;
    const GRADIENT: Kernel = Kernel::QUARTIC_SPLINE;

    #[inline(always)]
    fn value<S: Simd>(simd: S, q: f32x8<S>) -> f32x8<S> {
        // 5⁷/(2⁹ 5 π) (t⁴ − 5 u⁴ + 10 v⁴)
        let [t, u, v] = Self::parts(simd, q).map(|part| part * part * part * part);
        t * splat(simd, 9.714_046) - u * splat(simd, 48.570_23) + v * splat(simd, 97.140_46)
    }

    #[inline(always)]
    fn slope<S: Simd>(simd: S, q: f32x8<S>) -> f32x8<S> {
        let [t, u, v] = Self::parts(simd, q).map(|part| part * part * part);
        u * splat(simd, 194.280_92) - t * splat(simd, 38.856_184) - v * splat(simd, 388.561_84)
    }

    #[inline(always)]
    fn tail<S: Simd>(simd: S, q: f32x8<S>) -> f32x8<S> {
        // 4π ∫ (a − s)⁴ s² ds = 4π t⁵ (a²/5 − a t/3 + t²/7) with t = (a − q)₊
        let [t, u, v] = Self::parts(simd, q);
        let of = |part: f32x8<S>, constant: f32, linear: f32, square: f32| {
            let two = part * part;
            let series = splat(simd, constant) - part * (splat(simd, linear) - part * splat(simd, square));
            two * two * part * series
        };
        of(t, TAIL / 5.0, TAIL / 3.0, TAIL / 7.0) - of(u, 0.36 * TAIL, TAIL, 5.0 * TAIL / 7.0)
            + of(v, 0.08 * TAIL, 2.0 * TAIL / 3.0, 10.0 * TAIL / 7.0)
    }

    #[inline(always)]
    fn moment<S: Simd>(simd: S, q: f32x8<S>) -> f32x8<S> {
        // ∫ (a − s)⁴ s ds = t⁵ (a/5 − t/6) with t = (a − q)₊
        let [t, u, v] = Self::parts(simd, q);
        let of = |part: f32x8<S>, constant: f32, linear: f32| {
            let two = part * part;
            two * two * part * (splat(simd, constant) - part * splat(simd, linear))
        };
        of(t, NORM / 5.0, NORM / 6.0) - of(u, 0.6 * NORM, 5.0 * NORM / 6.0) + of(v, 0.4 * NORM, 5.0 * NORM / 3.0)
    }
}

/// The norm of the quartic spline: 5⁷/(2⁹ 5 π).
const NORM: f32 = 9.714_046;

/// 4π times the norm of the quartic spline: 5⁷/640.
const TAIL: f32 = 122.070_31;

/// h⁵ ∇²W of the viscosity kernel.
#[inline(always)]
pub(crate) fn viscosity_laplacian<S: Simd>(simd: S, q: f32x8<S>) -> f32x8<S> {
    (splat(simd, 1.0) - q).max(splat(simd, 0.0)) * splat(simd, 14.323_945)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel;
    use fearless_simd::{Level, dispatch};

    fn evaluate<K: KernelLanes>(level: Level) -> Vec<[f32; 6]> {
        let at = |q: f32| {
            dispatch!(level, simd => {
                let q = splat(simd, q);
                let near = q.max(splat(simd, 0.01));
                let flux = K::flux(simd, near, near * near) * (near * near * near);
                let [value, slope, laplacian] = [K::value(simd, q), K::slope(simd, q), viscosity_laplacian(simd, q)];
                let all = [value, slope, laplacian, K::tail(simd, q), flux, K::moment(simd, q)];
                all.map(|lanes| add_up(lanes) / 8.0)
            })
        };
        (0..=120).map(|k| at(k as f32 / 100.0)).collect()
    }

    /// ∫ W s ds from k/100 on, by Simpson's rule between hundredths, where the pieces of all kernels meet.
    fn first_moment(kernel: &Kernel, k: usize) -> f64 {
        let at = |q: f64| kernel.value(q) * q;
        let part = |k: f64| (at(k / 100.0) + 4.0 * at((k + 0.5) / 100.0) + at((k + 1.0) / 100.0)) / 600.0;
        (k..100).map(|k| part(k as f64)).sum()
    }

    fn check<K: KernelLanes>() {
        let baseline = evaluate::<K>(Level::baseline());
        assert_eq!(baseline, evaluate::<K>(Level::new()), "same bits at every level");
        for (k, [value, slope, laplacian, tail, flux, moment]) in baseline.into_iter().enumerate() {
            let q = k as f64 / 100.0;
            assert!((f64::from(value) - K::DENSITY.value(q)).abs() < 2e-6, "W at {q}");
            // The terms of the quartic spline's are up to 40 large and cancel: four roundings of that.
            let error = f64::from(tail) - K::DENSITY.tail(q.min(1.0));
            assert!(error.abs() < 40.0 * 4.0 * f64::from(f32::EPSILON / 2.0), "tail at {q}: {error:e}");
            let error = f64::from(flux) - K::DENSITY.tail(q.clamp(0.01, 1.0));
            assert!(error.abs() < 40.0 * 4.0 * f64::from(f32::EPSILON / 2.0), "flux at {q}: {error:e}");
            let error = f64::from(moment) - first_moment(&K::DENSITY, k);
            assert!(error.abs() < 2e-6, "∫ W s ds beyond {q}: {error:e}");
            assert!((f64::from(slope) - K::GRADIENT.slope(q)).abs() < 1e-5, "W' at {q}");
            assert!((f64::from(laplacian) - kernel::viscosity_laplacian(q)).abs() < 1e-5, "∇²W at {q}");
        }
    }

    #[test]
    fn lanes_equal_the_polynomials() {
        check::<Papers>();
        check::<CubicSpline>();
        check::<QuarticSpline>();
    }

    #[test]
    fn angles_are_those_of_atan2() {
        for k in 0..=2000 {
            let at = std::f64::consts::PI * f64::from(k) / 2000.0;
            for length in [1e-12, 1.0, 1e12] {
                let [x, y] = [at.cos() * length, at.sin() * length].map(|x| x as f32);
                let found = levels()
                    .into_iter()
                    .map(|level| dispatch!(level, simd => add_up(angle(simd, splat(simd, y), splat(simd, x))) / 8.0));
                for found in found {
                    assert!((f64::from(found) - at).abs() < 3e-7, "{found} {at}");
                }
            }
        }
        assert_eq!(dispatch!(Level::new(), simd => add_up(angle(simd, splat(simd, 0.0), splat(simd, 0.0)))), 0.0);
    }

    #[test]
    fn gathering_transposes() {
        let from: Vec<Packed> = (0..20).map(|i| [i as f32, 10.0 + i as f32, -(i as f32), 0.5 * i as f32]).collect();
        let eight = [3, 1, 4, 15, 9, 2, 6, 5];
        for level in levels() {
            dispatch!(level, simd => {
                let (p, w) = gather(simd, &from, &eight);
                let columns: [[f32; 8]; 4] = [p[0].into(), p[1].into(), p[2].into(), w.into()];
                for (lane, &j) in eight.iter().enumerate() {
                    assert_eq!(columns.map(|c| c[lane]), from[j as usize]);
                }
                let companions: [f32; 8] = gather_companions(simd, &from, &eight).into();
                assert_eq!(companions, columns[3]);
                let single: [f32; 8] = gather1(simd, &[0.0, 7.0, 9.0], &[2, 1, 0, 1, 1, 2, 2, 0]).into();
                assert_eq!(single, [9.0, 7.0, 0.0, 7.0, 7.0, 9.0, 9.0, 0.0]);
            });
        }
    }

    #[test]
    fn lanes_that_are_set_come_first() {
        for level in levels() {
            for bits in 0..256u32 {
                dispatch!(level, simd => {
                    let lanes = f32x8::simd_from(simd, std::array::from_fn(|k| k as f32));
                    let is_set = f32x8::simd_from(simd, std::array::from_fn(|k| (bits >> k & 1) as f32));
                    let first: [f32; 8] = set_first(simd, lanes, is_set.simd_gt(splat(simd, 0.5))).into();
                    let expected = (0..8).filter(|k| bits >> k & 1 == 1).map(|k| k as f32);
                    assert!(expected.eq(first[..bits.count_ones() as usize].iter().copied()), "{bits:b} {first:?}");
                });
            }
        }
    }

    /// The best instruction set, none, and the one with loops of its own.
    fn levels() -> Vec<Level> {
        let mut levels = vec![Level::new(), Level::baseline()];
        #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
        levels.extend(Level::new().as_avx2().map(Level::Avx2));
        levels
    }
}
