//! Sparse matrices of 3×3 blocks in pieces of rows.

use super::block::Block;
use super::sparse::Sparse;
use crate::symmetric::trace;
use glam::DMat3;
use meniscus_core::par;
use rayon::prelude::*;

/// Rows per piece. Part of the results' definition: sums over rows are added piece by piece.
pub(crate) const ROWS: usize = 32;

/// Fewest pieces of a product that are worth the hearing of another thread, and of a loop that only adds vectors.
pub(crate) const PIECES: usize = 3;
pub(crate) const LIGHT_PIECES: usize = par::LIGHT / ROWS;

/// The next few rows of a matrix.
#[derive(Debug, Clone, Default)]
pub(crate) struct Piece<B> {
    /// Where each row starts, and where the last one ends.
    pub(crate) start: Vec<u32>,
    /// Columns in rising order within each row.
    pub(crate) columns: Vec<u32>,
    /// One block per column.
    pub(crate) values: Vec<B>,
}

impl<B: Block> Piece<B> {
    /// The columns and blocks of each row.
    #[inline(always)]
    pub(crate) fn rows(&self) -> impl Iterator<Item = (&[u32], &[B])> {
        self.start.windows(2).map(|ends| {
            let range = ends[0] as usize..ends[1] as usize;
            (&self.columns[range.clone()], &self.values[range])
        })
    }
}

/// A matrix of 3×3 blocks.
#[derive(Debug, Clone, Default)]
pub(crate) struct Matrix<B> {
    pub(crate) pieces: Vec<Piece<B>>,
}

impl<B: Block> Matrix<B> {
    /// Rounds a matrix to this precision.
    pub(crate) fn round(sparse: &Sparse) -> Self {
        let piece = |rows: &[u32]| {
            let (first, last) = (rows[0], rows[rows.len() - 1]);
            let range = first as usize..last as usize;
            Piece {
                start: rows.iter().map(|&row| row - first).collect(),
                columns: sparse.columns[range.clone()].to_vec(),
                values: sparse.values[range].iter().map(|&block| B::round(block)).collect(),
            }
        };
        let ends = (0..sparse.rows()).step_by(ROWS).map(|row| (row, (row + ROWS).min(sparse.rows())));
        Self { pieces: ends.map(|(from, to)| piece(&sparse.start[from..=to])).collect() }
    }

    /// Number of blocks stored.
    #[cfg(test)]
    pub(crate) fn blocks(&self) -> usize {
        self.pieces.iter().map(|piece| piece.values.len()).sum()
    }

    /// Adds to a block; nothing happens where the pattern has none.
    pub(crate) fn add(&mut self, row: u32, column: u32, block: B)
    where
        B: std::ops::AddAssign,
    {
        let Some(piece) = self.pieces.get_mut(row as usize / ROWS) else { return };
        let k = row as usize % ROWS;
        let range = piece.start[k] as usize..piece.start[k + 1] as usize;
        if let Ok(at) = piece.columns[range.clone()].binary_search(&column) {
            piece.values[range.start + at] += block;
        }
    }

    /// `out[i] = each(i, (A x)ᵢ)` for every row.
    #[inline(always)]
    pub(crate) fn map<O: Send>(&self, x: &[B::Vector], out: &mut [O], each: impl Fn(usize, B::Vector) -> O + Sync) {
        let work = self.pieces.par_iter().with_min_len(PIECES).zip(out.par_chunks_mut(ROWS));
        work.enumerate().for_each(|(number, (piece, out))| {
            for (k, (out, (columns, values))) in out.iter_mut().zip(piece.rows()).enumerate() {
                *out = each(number * ROWS + k, product(columns, values, x));
            }
        });
    }

    /// As [`map`](Self::map), where `each` also gives a number per row; their sum is returned.
    #[inline(always)]
    pub(crate) fn map_sum<O: Send>(
        &self,
        x: &[B::Vector],
        out: &mut [O],
        partial: &mut [f64],
        each: impl Fn(usize, B::Vector) -> (O, f64) + Sync,
    ) -> f64 {
        let pieces = self.pieces.par_iter().with_min_len(PIECES);
        let work = pieces.zip(out.par_chunks_mut(ROWS)).zip(partial.par_iter_mut());
        work.enumerate().for_each(|(number, ((piece, out), partial))| {
            *partial = 0.0;
            for (k, (out, (columns, values))) in out.iter_mut().zip(piece.rows()).enumerate() {
                let (value, term) = each(number * ROWS + k, product(columns, values, x));
                *out = value;
                *partial += term;
            }
        });
        partial[..self.pieces.len()].iter().sum()
    }
}

impl Matrix<DMat3> {
    /// Traces of the diagonal blocks.
    pub(crate) fn traces(&self) -> Vec<f64> {
        let rows = self.pieces.iter().flat_map(Piece::rows).enumerate();
        rows.map(|(i, (columns, values))| columns.binary_search(&(i as u32)).map_or(0.0, |k| trace(&values[k])))
            .collect()
    }
}

#[inline(always)]
fn product<B: Block>(columns: &[u32], values: &[B], x: &[B::Vector]) -> B::Vector {
    columns.iter().zip(values).fold(B::Vector::default(), |sum, (&j, &block)| sum + block.times(x[j as usize]))
}
