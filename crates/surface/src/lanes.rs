//! The two hot loops, eight lanes at a time: neighbours of a particle, and a row of nodes.
//!
//! Plain multiplications and additions without contraction, lane by lane: the bits are those of any instruction set.

use crate::REACH;
use fearless_simd::{Level, Simd, dispatch};

/// Number of lanes.
pub(crate) const LANES: usize = 8;

/// 1/R².
const INVERSE: f32 = 1.0 / (REACH * REACH);

/// 315/(64π R³): W at the origin \[1/spacing³\].
pub(crate) const PEAK: f32 = 0.195_835_18;

/// Points as the loops read them.
#[derive(Clone, Copy)]
pub(crate) struct Columns<'a> {
    pub(crate) x: &'a [f32],
    pub(crate) y: &'a [f32],
    pub(crate) z: &'a [f32],
    /// What each counts for.
    pub(crate) weight: &'a [f32],
}

/// The instruction set of this machine.
pub(crate) fn level() -> Level {
    Level::new()
}

/// Σ_j weight_j (1 − q²)³ over ranges of points, for each point of `own`.
pub(crate) fn neighbour_sums(
    level: Level,
    points: Columns,
    own: std::ops::Range<usize>,
    ranges: &[std::ops::Range<usize>],
    out: &mut [f32],
) {
    dispatch!(level, simd => sums(simd, points, own, ranges, out));
}

#[inline(always)]
fn sums<S: Simd>(
    simd: S,
    points: Columns,
    own: std::ops::Range<usize>,
    ranges: &[std::ops::Range<usize>],
    out: &mut [f32],
) {
    simd.vectorize(
        #[inline(always)]
        || {
            for (i, out) in own.zip(out) {
                let at = [points.x[i], points.y[i], points.z[i]];
                let mut lanes = [0.0; LANES];
                for range in ranges {
                    add_range(points, range.clone(), at, &mut lanes);
                }
                *out =
                    ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
            }
        },
    );
}

#[inline(always)]
fn add_range(points: Columns, range: std::ops::Range<usize>, at: [f32; 3], lanes: &mut [f32; LANES]) {
    let [x, y, z, weight] = [points.x, points.y, points.z, points.weight].map(|column| &column[range.clone()]);
    let (xs, x_rest) = x.as_chunks::<LANES>();
    let (ys, y_rest) = y.as_chunks::<LANES>();
    let (zs, z_rest) = z.as_chunks::<LANES>();
    let (weights, weight_rest) = weight.as_chunks::<LANES>();
    for (((x, y), z), weight) in xs.iter().zip(ys).zip(zs).zip(weights) {
        for k in 0..LANES {
            lanes[k] += weight[k] * bump([x[k] - at[0], y[k] - at[1], z[k] - at[2]]);
        }
    }
    for k in 0..x_rest.len() {
        lanes[k] += weight_rest[k] * bump([x_rest[k] - at[0], y_rest[k] - at[1], z_rest[k] - at[2]]);
    }
}

/// (1 − q²)³ inside the reach.
#[inline(always)]
fn bump(d: [f32; 3]) -> f32 {
    let t = 1.0 - (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]) * INVERSE;
    let t = if t > 0.0 { t } else { 0.0 };
    t * t * t
}

/// A particle seen from the first node of a block: lengths in nodes.
#[derive(Clone, Copy)]
pub(crate) struct Ball {
    pub(crate) at: [f32; 3],
    /// V_i W(0).
    pub(crate) peak: f32,
}

/// Nodes along a side of a block of the field.
pub(crate) const SIDE: usize = 8;

/// Values of a block, x fastest.
pub(crate) type Values = [f32; SIDE * SIDE * SIDE];

/// Adds balls of one size \[nodes\], in their order, to the nodes of a block.
pub(crate) fn add_balls(level: Level, balls: &[Ball], reach: f32, out: &mut Values) {
    dispatch!(level, simd => balls_in(simd, balls, reach, out));
}

#[inline(always)]
fn balls_in<S: Simd>(simd: S, balls: &[Ball], reach: f32, out: &mut Values) {
    simd.vectorize(
        #[inline(always)]
        || {
            let inverse = 1.0 / (reach * reach);
            for ball in balls {
                let mut across = [0.0; SIDE];
                for (k, across) in across.iter_mut().enumerate() {
                    let d = k as f32 - ball.at[0];
                    *across = d * d * inverse;
                }
                let (zs, ys) = (nodes(ball.at[2], reach), nodes(ball.at[1], reach));
                for z in zs {
                    let dz = z as f32 - ball.at[2];
                    let left = 1.0 - dz * dz * inverse;
                    for y in ys.clone() {
                        let dy = y as f32 - ball.at[1];
                        let left = left - dy * dy * inverse;
                        if left > 0.0 {
                            let row = &mut out[(z * SIDE + y) * SIDE..][..SIDE];
                            for k in 0..SIDE {
                                let t = left - across[k];
                                let t = if t > 0.0 { t } else { 0.0 };
                                row[k] += ball.peak * (t * t * t);
                            }
                        }
                    }
                }
            }
        },
    );
}

/// Nodes of a block no farther than `reach` from a position.
#[inline(always)]
pub(crate) fn nodes(at: f32, reach: f32) -> std::ops::Range<usize> {
    let from = (at - reach).max(0.0);
    let to = (at + reach + 1.0).clamp(0.0, SIDE as f32);
    from as usize..to as usize
}

/// An ellipsoid seen from the first node of a block: lengths in nodes.
#[derive(Clone, Copy)]
pub(crate) struct Ellipsoid {
    pub(crate) at: [f32; 3],
    /// V_i W(0) det G.
    pub(crate) peak: f32,
    /// q² = xx x² + yy y² + zz z² + xy x y + xz x z + yz y z.
    pub(crate) form: [f32; 6],
    /// Half the sides of the box around it.
    pub(crate) reach: [f32; 3],
}

/// Adds an ellipsoid to the nodes of a block.
pub(crate) fn add_ellipsoid(level: Level, e: &Ellipsoid, out: &mut Values) {
    dispatch!(level, simd => ellipsoid_in(simd, e, out));
}

#[inline(always)]
fn ellipsoid_in<S: Simd>(simd: S, e: &Ellipsoid, out: &mut Values) {
    simd.vectorize(
        #[inline(always)]
        || {
            let [xx, yy, zz, xy, xz, yz] = e.form;
            let (mut d, mut square) = ([0.0; SIDE], [0.0; SIDE]);
            for k in 0..SIDE {
                d[k] = k as f32 - e.at[0];
                square[k] = xx * d[k] * d[k];
            }
            for z in nodes(e.at[2], e.reach[2]) {
                let dz = z as f32 - e.at[2];
                for y in nodes(e.at[1], e.reach[1]) {
                    let dy = y as f32 - e.at[1];
                    let left = 1.0 - (yy * dy * dy + zz * dz * dz + yz * dy * dz);
                    let lean = xy * dy + xz * dz;
                    let row = &mut out[(z * SIDE + y) * SIDE..][..SIDE];
                    for k in 0..SIDE {
                        let t = left - (square[k] + lean * d[k]);
                        let t = if t > 0.0 { t } else { 0.0 };
                        row[k] += e.peak * (t * t * t);
                    }
                }
            }
        },
    );
}
