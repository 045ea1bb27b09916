//! Loops over the rows of a grid, in parallel, with the same bits at any number of threads.
//!
//! A row is what runs along x: contiguous in memory, the unit in which the hot loops are written. Rows are dealt out by
//! cutting the output arrays at row borders; sums are kept per row and added up in the order of the rows.

use crate::grid::{GHOSTS, Grid};
use std::ops::Range;

/// Cells that are worth a task of their own.
const GRAIN: usize = 8192;

/// One row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row {
    /// Index of its first cell in the arrays.
    pub(crate) start: usize,
    /// Number of its cells.
    pub(crate) len: usize,
    /// Its number, ghost rows included.
    pub(crate) number: usize,
}

impl Row {
    /// Its part of a field.
    #[inline(always)]
    pub(crate) fn of<'a, T>(&self, field: &'a [T]) -> &'a [T] {
        &field[self.start..self.start + self.len]
    }

    /// The part of a field that lies `stride` further.
    #[inline(always)]
    pub(crate) fn after<'a, T>(&self, field: &'a [T], stride: usize) -> &'a [T] {
        &field[self.start + stride..self.start + stride + self.len]
    }

    /// The part of a field that lies `stride` before.
    #[inline(always)]
    pub(crate) fn before<'a, T>(&self, field: &'a [T], stride: usize) -> &'a [T] {
        &field[self.start - stride..self.start - stride + self.len]
    }
}

/// The rows of a box of cells.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rows {
    /// Layers of ghosts around the box.
    ghosts: usize,
    /// Length of a row with its ghosts.
    stride: usize,
    /// Rows of a plane, and planes, with ghosts.
    counts: [usize; 2],
    /// Cells of the box that are visited.
    extent: [usize; 3],
}

impl Grid {
    /// All rows of cells.
    pub(crate) fn rows(&self) -> Rows {
        Rows::new(self.cells(), GHOSTS)
    }

    /// All rows of faces along an axis: those of the cells and the last ones.
    pub(crate) fn face_rows(&self, axis: usize) -> Rows {
        let mut extent = self.cells();
        extent[axis] += 1;
        self.rows().reaching(extent)
    }

    /// Number of rows, ghost rows included.
    pub(crate) fn row_count(&self) -> usize {
        self.len() / self.stride(1)
    }
}

impl Rows {
    /// The rows of a box of cells with layers of ghosts around it.
    pub(crate) fn new(extent: [usize; 3], ghosts: usize) -> Self {
        let [stride, rows, planes] = extent.map(|n| n + 2 * ghosts);
        Self { ghosts, stride, counts: [rows, planes], extent }
    }

    /// The same layout, visiting other cells; they may reach into the ghosts.
    pub(crate) fn reaching(mut self, extent: [usize; 3]) -> Self {
        self.extent = extent;
        self
    }

    fn count(&self) -> usize {
        self.counts[0] * self.counts[1]
    }

    /// Cells in so many rows, in the mean: rows of ghosts have none.
    fn cells_among(&self, rows: usize) -> usize {
        rows * self.extent.iter().product::<usize>() / self.count()
    }

    fn row(&self, number: usize) -> Option<Row> {
        let inside = |i: usize, n: usize| i >= self.ghosts && i < self.ghosts + n;
        let (j, k) = (number % self.counts[0], number / self.counts[0]);
        let start = number * self.stride + self.ghosts;
        (inside(j, self.extent[1]) && inside(k, self.extent[2])).then_some(Row { start, len: self.extent[0], number })
    }

    /// Row and plane of a row within the box.
    pub(crate) fn coordinates(&self, row: &Row) -> [usize; 2] {
        [row.number % self.counts[0] - self.ghosts, row.number / self.counts[0] - self.ghosts]
    }

    /// The rows in order.
    pub(crate) fn iter(self) -> impl Iterator<Item = Row> {
        (0..self.count()).filter_map(move |number| self.row(number))
    }

    /// Calls `work` for every row with its part of the outputs.
    pub(crate) fn each<T: Send, const N: usize>(
        &self,
        outputs: [&mut [T]; N],
        work: impl Fn(Row, [&mut [T]; N]) + Sync,
    ) {
        // Units take no memory.
        let mut nothing = vec![(); self.count()];
        self.split(0..self.count(), outputs, &mut nothing, &work);
    }

    /// The same, and adds up what `work` returns; `sums` is memory for one number per row.
    pub(crate) fn sum<T: Send, const N: usize>(
        &self,
        outputs: [&mut [T]; N],
        sums: &mut Vec<f64>,
        work: impl Fn(Row, [&mut [T]; N]) -> f64 + Sync,
    ) -> f64 {
        self.collect(outputs, sums, work);
        sums.iter().sum()
    }

    /// The largest of zero and what `work` returns for the rows; a NaN wins.
    pub(crate) fn max(&self, work: impl Fn(Row) -> f64 + Sync) -> f64 {
        self.max_among(0..self.count(), &work)
    }

    fn max_among(&self, rows: Range<usize>, work: &(impl Fn(Row) -> f64 + Sync)) -> f64 {
        if self.cells_among(rows.len()) <= GRAIN || rows.len() == 1 {
            return rows.filter_map(|number| self.row(number)).map(work).fold(0.0, larger);
        }
        let middle = rows.start + rows.len() / 2;
        let (low, high) =
            rayon::join(|| self.max_among(rows.start..middle, work), || self.max_among(middle..rows.end, work));
        larger(low, high)
    }

    /// Keeps what `work` returns for each row, ghost rows included, which get the default.
    pub(crate) fn collect<T: Send, R: Send + Default + Clone, const N: usize>(
        &self,
        outputs: [&mut [T]; N],
        results: &mut Vec<R>,
        work: impl Fn(Row, [&mut [T]; N]) -> R + Sync,
    ) {
        results.clear();
        results.resize(self.count(), R::default());
        self.split(0..self.count(), outputs, results, &work);
    }

    fn split<T: Send, R: Send, const N: usize>(
        &self,
        rows: Range<usize>,
        mut outputs: [&mut [T]; N],
        results: &mut [R],
        work: &(impl Fn(Row, [&mut [T]; N]) -> R + Sync),
    ) {
        if self.cells_among(rows.len()) <= GRAIN || rows.len() == 1 {
            for (index, (number, result)) in rows.zip(results).enumerate() {
                if let Some(row) = self.row(number) {
                    let cut = index * self.stride + self.ghosts;
                    *result = work(row, outputs.each_mut().map(|o| &mut o[cut..cut + row.len]));
                }
            }
            return;
        }
        let half = rows.len() / 2;
        let middle = rows.start + half;
        let mut halves = outputs.map(|output| output.split_at_mut(half * self.stride));
        let left = halves.each_mut().map(|pair| std::mem::take(&mut pair.0));
        let right = halves.each_mut().map(|pair| std::mem::take(&mut pair.1));
        let (first, second) = results.split_at_mut(half);
        rayon::join(
            || self.split(rows.start..middle, left, first, work),
            || self.split(middle..rows.end, right, second, work),
        );
    }
}

/// The larger of two numbers; a NaN wins.
#[inline(always)]
pub(crate) fn larger(a: f64, b: f64) -> f64 {
    if a.is_nan() || a > b { a } else { b }
}

/// Σ aᵢ bᵢ over a row, along eight lanes and then a fixed tree.
#[inline(always)]
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut lanes = [0.0; 8];
    let (a_eights, a_rest) = a.as_chunks::<8>();
    let (b_eights, b_rest) = b.as_chunks::<8>();
    for (a, b) in a_eights.iter().zip(b_eights) {
        for ((lane, a), b) in lanes.iter_mut().zip(a).zip(b) {
            *lane += a * b;
        }
    }
    for ((lane, a), b) in lanes.iter_mut().zip(a_rest).zip(b_rest) {
        *lane += a * b;
    }
    add_up(lanes)
}

/// The lanes along a fixed tree.
#[inline(always)]
pub(crate) fn add_up(l: [f64; 8]) -> f64 {
    ((l[0] + l[4]) + (l[2] + l[6])) + ((l[1] + l[5]) + (l[3] + l[7]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DVec3;
    use meniscus_geometry::Aabb;

    #[test]
    fn rows_cover_every_cell_once_and_sums_do_not_depend_on_threads() {
        let grid = Grid::new(&Aabb::new(DVec3::ZERO, DVec3::new(37.0, 29.0, 23.0)), 1.0).unwrap();
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let (mut field, mut sums) = (grid.zeros(), Vec::new());
                let total = grid.rows().sum([&mut field], &mut sums, |row, [out]| {
                    for (i, value) in out.iter_mut().enumerate() {
                        *value += libm::sin((row.start + i) as f64);
                    }
                    dot(out, out)
                });
                (field, total)
            })
        };
        let (field, total) = run(1);
        assert!((total - 37.0 * 29.0 * 23.0 / 2.0).abs() < 100.0);
        for (index, value) in field.iter().enumerate() {
            let inside = (0..3).all(|d| (0..grid.cells()[d] as isize).contains(&grid.coordinates(index)[d]));
            assert_eq!(*value, if inside { libm::sin(index as f64) } else { 0.0 });
        }
        assert_eq!((field, total.to_bits()), (run(2).0, run(3).1.to_bits()));
    }

    #[test]
    fn faces_have_one_more() {
        let grid = Grid::new(&Aabb::new(DVec3::ZERO, DVec3::new(4.0, 3.0, 2.0)), 1.0).unwrap();
        let count = |rows: Rows| rows.iter().map(|row| row.len).sum::<usize>();
        assert_eq!((count(grid.rows()), count(grid.face_rows(0))), (24, 30));
        assert_eq!((count(grid.face_rows(1)), count(grid.face_rows(2))), (32, 36));
    }
}
