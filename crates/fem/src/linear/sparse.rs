//! Sparse matrices while a multigrid hierarchy is being built: products and transposes in double precision.

use super::matrix::{Matrix, Piece};
use crate::axes::Axes;
use glam::{DMat3, DVec3};
use rayon::prelude::*;

/// A matrix of 3×3 blocks by rows.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sparse {
    /// Where each row starts, and where the last one ends.
    pub(crate) start: Vec<u32>,
    /// Columns in rising order within each row.
    pub(crate) columns: Vec<u32>,
    /// One block per column.
    pub(crate) values: Vec<DMat3>,
}

/// One row under construction.
type Row = Vec<(u32, DMat3)>;

impl Sparse {
    /// Puts rows together.
    pub(crate) fn from_rows(rows: &[Row]) -> Self {
        let mut matrix = Self { start: vec![0], ..Self::default() };
        for row in rows {
            matrix.columns.extend(row.iter().map(|entry| entry.0));
            matrix.values.extend(row.iter().map(|entry| entry.1));
            matrix.start.push(matrix.columns.len() as u32);
        }
        matrix
    }

    /// Copies a matrix without the rows and columns of fixed directions; those keep a unit diagonal.
    pub(crate) fn without(matrix: &Matrix<DMat3>, fixed: &[Axes]) -> Self {
        let free = |i: usize| DMat3::from_diagonal(fixed[i].free_part(DVec3::ONE));
        let row = |(i, (columns, values)): (usize, (&[u32], &[DMat3]))| {
            let block = |(&j, &block): (&u32, &DMat3)| {
                let own = if j as usize == i { DMat3::IDENTITY - free(i) } else { DMat3::ZERO };
                (j, free(i) * block * free(j as usize) + own)
            };
            let is_free = |j: u32| !fixed[i].all() && !fixed[j as usize].all();
            let entries = columns.iter().zip(values).filter(|&(&j, _)| j as usize == i || is_free(j));
            entries.map(block).collect::<Row>()
        };
        let rows: Vec<Row> = matrix.pieces.iter().flat_map(Piece::rows).enumerate().map(row).collect();
        Self::from_rows(&rows)
    }

    /// Number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.start.len() - 1
    }

    /// The columns and blocks of a row.
    pub(crate) fn row(&self, i: usize) -> (&[u32], &[DMat3]) {
        let range = self.start[i] as usize..self.start[i + 1] as usize;
        (&self.columns[range.clone()], &self.values[range])
    }

    /// The diagonal block of a row; zero if it has none.
    pub(crate) fn diagonal(&self, i: usize) -> DMat3 {
        let (columns, values) = self.row(i);
        columns.binary_search(&(i as u32)).map_or(DMat3::ZERO, |k| values[k])
    }

    /// The product with another matrix of `columns` columns.
    pub(crate) fn times(&self, other: &Self, columns: usize) -> Self {
        let rows: Vec<Row> = (0..self.rows())
            .into_par_iter()
            .map_init(
                || Accumulator { slot: vec![EMPTY; columns], row: Row::new() },
                |accumulator, i| {
                    let (columns, values) = self.row(i);
                    for (&k, a) in columns.iter().zip(values) {
                        let (columns, values) = other.row(k as usize);
                        columns.iter().zip(values).for_each(|(&j, b)| accumulator.add(j, *a * *b));
                    }
                    accumulator.take()
                },
            )
            .collect();
        Self::from_rows(&rows)
    }

    /// The transpose, of a matrix of `columns` columns.
    pub(crate) fn transposed(&self, columns: usize) -> Self {
        let mut rows = vec![Row::new(); columns];
        for i in 0..self.rows() {
            let (columns, values) = self.row(i);
            for (&j, block) in columns.iter().zip(values) {
                rows[j as usize].push((i as u32, block.transpose()));
            }
        }
        Self::from_rows(&rows)
    }
}

const EMPTY: u32 = u32::MAX;

/// Adds up blocks of one row by column.
struct Accumulator {
    /// Where in the row a column is.
    slot: Vec<u32>,
    row: Row,
}

impl Accumulator {
    fn add(&mut self, column: u32, block: DMat3) {
        let slot = &mut self.slot[column as usize];
        if *slot == EMPTY {
            *slot = self.row.len() as u32;
            self.row.push((column, block));
        } else {
            self.row[*slot as usize].1 += block;
        }
    }

    fn take(&mut self) -> Row {
        self.row.iter().for_each(|entry| self.slot[entry.0 as usize] = EMPTY);
        self.row.sort_unstable_by_key(|entry| entry.0);
        std::mem::take(&mut self.row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dense(m: &Sparse, columns: usize) -> Vec<Vec<DMat3>> {
        let mut full = vec![vec![DMat3::ZERO; columns]; m.rows()];
        for (i, full) in full.iter_mut().enumerate() {
            let (columns, values) = m.row(i);
            columns.iter().zip(values).for_each(|(&j, b)| full[j as usize] = *b);
        }
        full
    }

    #[test]
    fn products_and_transposes_agree_with_dense_ones() {
        let block = |n: u32| DMat3::from_cols_array(&std::array::from_fn(|k| f64::from((n * 7 + k as u32 * 3) % 11)));
        let a = Sparse::from_rows(&[
            vec![(0, block(1)), (2, block(2))],
            vec![],
            vec![(1, block(3))],
            vec![(0, block(4)), (1, block(5))],
        ]);
        let b = Sparse::from_rows(&[vec![(1, block(6))], vec![(0, block(7)), (1, block(8))], vec![(1, block(9))]]);
        let (da, db, dc) = (dense(&a, 3), dense(&b, 2), dense(&a.times(&b, 2), 2));
        for i in 0..4 {
            for j in 0..2 {
                let sum = (0..3).fold(DMat3::ZERO, |sum, k| sum + da[i][k] * db[k][j]);
                assert_eq!(dc[i][j], sum);
            }
        }
        let t = dense(&a.transposed(3), 4);
        assert!((0..4).all(|i| (0..3).all(|j| t[j][i] == da[i][j].transpose())));
        assert_eq!((a.diagonal(0), a.diagonal(3)), (block(1), DMat3::ZERO));
    }
}
