//! Between a level and the next coarser one.
//!
//! Red cells alone take part: after a black half-sweep the black residual is zero, and before the next one the black
//! unknowns are not needed.

use super::level::Level;
use super::pack::every_second;
use crate::rows::Rows;
use fearless_simd::{Simd, dispatch};
use std::ops::Range;

impl Level {
    /// A share of the residual, collected in blocks, becomes the right-hand side of the coarser level: the transpose of
    /// [`Self::correct`]. A block collects from its own red cells, and from those of its six neighbours that look at it.
    pub(super) fn restrict(&mut self, coarse: &mut Self, share: f32) {
        self.find_residual();
        self.wraps.fill_red(&mut self.residual);
        let fine = &*self;
        let rows = Rows::new(coarse.cells, 1);
        rows.each([&mut coarse.natural], |row, [output]| {
            output.fill(0.0);
            let [ys, zs] = rows.coordinates(&row).map(|b| 2 * b as isize);
            let ys = ys..(ys + 2).min(fine.cells[1] as isize);
            let zs = zs..(zs + 2).min(fine.cells[2] as isize);
            for z in zs.clone() {
                for y in ys.clone() {
                    dispatch!(fine.instructions, simd => fine.collect_own(simd, [y, z], output));
                }
                fine.collect_facing(1, outside(&ys).map(|y| [y, z]), output);
            }
            for y in ys.clone() {
                fine.collect_facing(2, outside(&zs).map(|z| [y, z]), output);
            }
            if share < 1.0 {
                output.iter_mut().for_each(|b| *b *= share);
            }
        });
        coarse.take_right_hand_side();
    }

    /// From the cells of the blocks in a row, and from their neighbours along x: the red cell of block I is the I-th; the
    /// one of a neighbour that looks at I is the one after if the row starts red, else the one before.
    #[inline(always)]
    fn collect_own<S: Simd>(&self, simd: S, [y, z]: [isize; 2], output: &mut [f32]) {
        simd.vectorize(
            #[inline(always)]
            || {
                let n = output.len();
                let own = self.start(y, z)..self.start(y, z) + n;
                let looking = if (y + z) & 1 == 0 { own.start + 1..own.end + 1 } else { own.start - 1..own.end - 1 };
                let [x, y, z] = self.weight.each_ref().map(|w| &w[own.clone()]);
                let r = &self.residual[own.clone()];
                let (far, far_weight) = (&self.residual[looking.clone()], &self.weight[0][looking]);
                for i in 0..n {
                    output[i] += r[i] * (1.0 - (x[i] + y[i] + z[i])) + far[i] * far_weight[i];
                }
            },
        );
    }

    /// From rows of the neighbours along y or z; beyond the ends of the box they are ghosts.
    #[inline(always)]
    fn collect_facing(&self, axis: usize, rows: [[isize; 2]; 2], output: &mut [f32]) {
        for [y, z] in rows {
            let start = self.start(y, z);
            let (r, w) = (&self.residual[start..], &self.weight[axis][start..]);
            for ((output, r), w) in output.iter_mut().zip(r).zip(w) {
                *output += r * w;
            }
        }
    }

    /// Adds what the coarser level has found to the red cells: p_C + Σ w (p_D − p_C).
    pub(super) fn correct(&mut self, coarse: &mut Self) {
        coarse.put_in_natural_order();
        let rows = self.rows();
        let (coarse, weight, instructions) = (&*coarse, &self.weight, self.instructions);
        rows.each([&mut self.x[0]], |row, [output]| {
            let [y, z] = rows.coordinates(&row).map(|i| i as isize);
            let side = |i: isize| if i & 1 == 0 { -1 } else { 1 };
            let blocks = |j: isize, k: isize, shift: isize| {
                let [w, h, _] = coarse.cells.map(|n| n as isize + 2);
                let start = (1 + shift + (j + 1) * w + (k + 1) * w * h) as usize;
                &coarse.natural[start..start + output.len()]
            };
            let (j, k) = (y / 2, z / 2);
            let values =
                [blocks(j, k, 0), blocks(j, k, side(y + z)), blocks(j + side(y), k, 0), blocks(j, k + side(z), 0)];
            let weights = weight.each_ref().map(|w| row.of(w));
            dispatch!(instructions, simd => correct_row(simd, values, weights, output));
        });
    }

    /// Index of the first red cell of a row, which may be a ghost row.
    #[inline(always)]
    fn start(&self, j: isize, k: isize) -> usize {
        let [sy, sz] = self.strides.map(|s| s as isize);
        (1 + (j + 1) * sy + (k + 1) * sz) as usize
    }

    fn take_right_hand_side(&mut self) {
        let (rows, natural, n) = (self.rows(), &self.natural, self.cells[0]);
        let (w, h) = (n + 2, self.cells[1] + 2);
        for (color, b) in self.b.iter_mut().enumerate() {
            rows.each([b], |row, [output]| {
                let [j, k] = rows.coordinates(&row);
                let start = 1 + (j + 1) * w + (k + 1) * w * h;
                every_second(&natural[start..start + n], Self::shift(&rows, &row, color), output);
            });
        }
    }

    pub(super) fn put_in_natural_order(&mut self) {
        let rows = Rows::new(self.cells, 1);
        let mut natural = std::mem::take(&mut self.natural);
        rows.each([&mut natural], |row, [output]| {
            let [j, k] = rows.coordinates(&row);
            let start = self.start(j as isize, k as isize);
            let first = (j + k) & 1;
            let (even, odd) = (&self.x[first][start..], &self.x[1 - first][start..]);
            let (pairs, rest) = output.as_chunks_mut::<2>();
            for (pair, (even, odd)) in pairs.iter_mut().zip(even.iter().zip(odd)) {
                *pair = [*even, *odd];
            }
            if let ([last], Some(value)) = (rest, even.get(pairs.len())) {
                *last = *value;
            }
        });
        self.natural = natural;
        self.wrap_natural();
    }
}

/// The two entries just outside a range.
fn outside(range: &Range<isize>) -> [isize; 2] {
    [range.start - 1, range.end]
}

#[inline(always)]
fn correct_row<S: Simd>(simd: S, values: [&[f32]; 4], weights: [&[f32]; 3], output: &mut [f32]) {
    simd.vectorize(
        #[inline(always)]
        || {
            let n = output.len();
            let ([c, x, y, z], [wx, wy, wz]) = (values.map(|v| &v[..n]), weights.map(|w| &w[..n]));
            for m in 0..n {
                let own = 1.0 - (wx[m] + wy[m] + wz[m]);
                output[m] += own * c[m] + wx[m] * x[m] + wy[m] * y[m] + wz[m] * z[m];
            }
        },
    );
}
