//! One level of the multigrid in single precision, its red and black cells in arrays of their own.
//!
//! Cells with an even sum of coordinates are red (0), the others black (1). Row (j, k) of colour c holds the cells
//! i = 2m + s, s = (j + k + c) mod 2, m = 0, 1, …; a cell's neighbours along y and z have the same m in the other colour,
//! those along x have m − 1 + s and m + s. So a half-sweep reads one colour, writes the other, and runs along contiguous
//! memory; the order in which rows are done does not matter.

use crate::rows::{Row, Rows};
use fearless_simd::{Level as Instructions, Simd, dispatch};

/// One level.
#[derive(Debug, Clone)]
pub(crate) struct Level {
    pub(super) cells: [usize; 3],
    /// Cells of a colour along a row.
    pub(super) half: usize,
    /// Distance between rows, and between planes.
    pub(super) strides: [usize; 2],
    pub(super) instructions: Instructions,
    /// Conductance of the low face of each cell, per colour and axis.
    pub(super) low: [[Vec<f32>; 3]; 2],
    /// One over the sum of the conductances of a cell, per colour; zero for cells without.
    pub(super) inverse: [Vec<f32>; 2],
    /// Unknown and right-hand side, per colour.
    pub(super) x: [Vec<f32>; 2],
    pub(super) b: [Vec<f32>; 2],
    /// Residual of the red cells; that of the black ones is zero after their half-sweep.
    pub(super) residual: Vec<f32>,
    /// Weights of the neighbouring blocks for the red cells, per axis.
    pub(super) weight: [Vec<f32>; 3],
    /// Cells around jumps, per colour.
    pub(super) band: [Band; 2],
    /// The cells in natural order, for the exchange with the finer level.
    pub(super) natural: Vec<f32>,
    /// Ghosts beyond periodic sides and where their values come from.
    pub(super) wraps: super::wrap::Wraps,
}

/// A list of cells, ordered by rows.
#[derive(Debug, Clone, Default)]
pub(super) struct Band {
    pub(super) cells: Vec<u32>,
    pub(super) starts: Vec<u32>,
}

/// The rows that a half-sweep reads around the row that it writes: low and high neighbours along x, y, z.
pub(super) struct NeighbourRows<'a> {
    values: [&'a [f32]; 6],
    pub(super) conductances: [&'a [f32]; 6],
}

impl Level {
    pub(super) fn rows(&self) -> Rows {
        Rows::new([self.half, self.cells[1], self.cells[2]], 1)
    }

    /// s of a row of a colour.
    #[inline(always)]
    pub(super) fn shift(rows: &Rows, row: &Row, color: usize) -> usize {
        let [j, k] = rows.coordinates(row);
        (j + k + color) & 1
    }

    #[inline(always)]
    pub(super) fn around(&self, color: usize, row: &Row, s: usize) -> NeighbourRows<'_> {
        let (x, own, other) = (&self.x[1 - color], &self.low[color], &self.low[1 - color]);
        let [sy, sz] = self.strides;
        let left = row.start - 1 + s..row.start - 1 + s + row.len;
        let right = row.start + s..row.start + s + row.len;
        let (down, up) = (row.before(x, sy), row.after(x, sy));
        let (back, front) = (row.before(x, sz), row.after(x, sz));
        NeighbourRows {
            values: [&x[left], &x[right.clone()], down, up, back, front],
            conductances: [
                row.of(&own[0]),
                &other[0][right],
                row.of(&own[1]),
                row.after(&other[1], sy),
                row.of(&own[2]),
                row.after(&other[2], sz),
            ],
        }
    }

    /// Solves every cell of a colour for its neighbours: x = (b + Σ g x_n) / Σ g.
    pub(super) fn relax(&mut self, color: usize) {
        self.wrap_unknown(1 - color);
        let rows = self.rows();
        let mut x = std::mem::take(&mut self.x[color]);
        rows.each([&mut x], |row, [output]| {
            let around = self.around(color, &row, Self::shift(&rows, &row, color));
            let (b, inverse) = (row.of(&self.b[color]), row.of(&self.inverse[color]));
            dispatch!(self.instructions, simd => relax_row(simd, &around, b, inverse, output));
        });
        self.x[color] = x;
    }

    /// The same for the cells around jumps only.
    pub(super) fn relax_band(&mut self, color: usize) {
        if self.band[color].cells.is_empty() {
            return;
        }
        self.wrap_unknown(1 - color);
        let rows = self.rows();
        let mut x = std::mem::take(&mut self.x[color]);
        let Band { cells, starts } = &self.band[color];
        let (b, inverse) = (&self.b[color], &self.inverse[color]);
        rows.each([&mut x], |row, [output]| {
            let range = starts[row.number] as usize..starts[row.number + 1] as usize;
            if !range.is_empty() {
                let around = self.around(color, &row, Self::shift(&rows, &row, color));
                for &p in &cells[range] {
                    let (p, m) = (p as usize, p as usize - row.start);
                    output[m] = (b[p] + around.flow(m)) * inverse[p];
                }
            }
        });
        self.x[color] = x;
    }

    /// b − A x of the red cells.
    pub(super) fn find_residual(&mut self) {
        self.wrap_unknown(1);
        let rows = self.rows();
        let n = self.cells[0];
        let mut residual = std::mem::take(&mut self.residual);
        rows.each([&mut residual], |row, [output]| {
            let s = Self::shift(&rows, &row, 0);
            let around = self.around(0, &row, s);
            let (b, x) = (row.of(&self.b[0]), row.of(&self.x[0]));
            dispatch!(self.instructions, simd => residual_row(simd, &around, b, x, output));
            // The last entry of an odd row may be nobody's.
            output[(n - s).div_ceil(2)..].fill(0.0);
        });
        self.residual = residual;
    }

    /// Sets the unknown to zero.
    pub(super) fn clear(&mut self) {
        self.x.iter_mut().for_each(|x| x.fill(0.0));
    }
}

impl NeighbourRows<'_> {
    /// Σ g x_n of one cell.
    #[inline(always)]
    fn flow(&self, m: usize) -> f32 {
        let (v, g) = (&self.values, &self.conductances);
        (g[0][m] * v[0][m] + g[1][m] * v[1][m])
            + (g[2][m] * v[2][m] + g[3][m] * v[3][m])
            + (g[4][m] * v[4][m] + g[5][m] * v[5][m])
    }

    /// Rows cut to one length, so that the loops need not check.
    #[inline(always)]
    fn cut(&self, n: usize) -> Self {
        Self { values: self.values.map(|v| &v[..n]), conductances: self.conductances.map(|g| &g[..n]) }
    }
}

#[inline(always)]
fn relax_row<S: Simd>(simd: S, around: &NeighbourRows, b: &[f32], inverse: &[f32], output: &mut [f32]) {
    simd.vectorize(
        #[inline(always)]
        || {
            let n = output.len();
            let (around, b, inverse) = (around.cut(n), &b[..n], &inverse[..n]);
            for m in 0..n {
                output[m] = (b[m] + around.flow(m)) * inverse[m];
            }
        },
    );
}

#[inline(always)]
fn residual_row<S: Simd>(simd: S, around: &NeighbourRows, b: &[f32], x: &[f32], output: &mut [f32]) {
    simd.vectorize(
        #[inline(always)]
        || {
            let n = output.len();
            let (around, b, x) = (around.cut(n), &b[..n], &x[..n]);
            let g = &around.conductances;
            for m in 0..n {
                let sum = (g[0][m] + g[1][m]) + (g[2][m] + g[3][m]) + (g[4][m] + g[5][m]);
                output[m] = (b[m] - sum * x[m]) + around.flow(m);
            }
        },
    );
}
