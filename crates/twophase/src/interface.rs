//! The reconstructed interface: a plane in every cell that holds both fluids.

use crate::grid::Grid;
use crate::normal;
use crate::plic::Plane;
use rayon::prelude::*;
use std::ops::Range;

/// Cells that are emptier or fuller than this hold one fluid only; what is dropped is given back, see `volume_correction`.
pub(crate) const DUST: f64 = 1e-10;

/// Cells per task.
const GRAIN: usize = 128;

/// The cells with both fluids, in the order of the grid, and their planes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Interface {
    cells: Vec<u32>,
    planes: Vec<Plane>,
    /// Where each row starts in the lists, and the end.
    starts: Vec<u32>,
}

impl Interface {
    /// Finds the mixed cells and puts planes into them: normals from the signed distance where it can be trusted, else
    /// from the fractions; constants from the fractions, always.
    pub(crate) fn reconstruct(&mut self, grid: &Grid, fraction: &[f64], distance: &[f64]) {
        self.find(grid, fraction);
        let strides = [grid.stride(1), grid.stride(2)];
        let h = grid.spacing();
        let plane = |&p: &u32| {
            let p = p as usize;
            let agree = (fraction[p] > 0.5) == (distance[p] > 0.0);
            let normal = agree
                .then(|| normal::from_distance(distance, p, strides, h))
                .flatten()
                .unwrap_or_else(|| normal::from_fractions(fraction, p, strides));
            Plane::with_volume(normal, fraction[p])
        };
        self.cells.par_iter().with_min_len(GRAIN).map(plane).collect_into_vec(&mut self.planes);
    }

    /// Lists the mixed cells alone.
    pub(crate) fn find(&mut self, grid: &Grid, fraction: &[f64]) {
        self.cells.clear();
        self.starts.clear();
        for row in grid.rows().iter() {
            // Ghost rows before this one are empty.
            self.starts.resize(row.number + 1, self.cells.len() as u32);
            let cells = row.of(fraction).iter().zip(row.start as u32..);
            self.cells.extend(cells.filter(|(f, _)| **f > 0.0 && **f < 1.0).map(|(_, p)| p));
        }
        self.starts.resize(grid.row_count() + 1, self.cells.len() as u32);
    }

    /// Indices of the mixed cells.
    pub(crate) fn cells(&self) -> &[u32] {
        &self.cells
    }

    /// Their planes.
    pub(crate) fn planes(&self) -> &[Plane] {
        &self.planes
    }

    /// The part of the lists that belongs to a row.
    pub(crate) fn range(&self, row: usize) -> Range<usize> {
        match (self.starts.get(row), self.starts.get(row + 1)) {
            (Some(&start), Some(&end)) => start as usize..end as usize,
            _ => 0..0,
        }
    }

    /// Mixed cells of a row with their planes.
    pub(crate) fn in_row(&self, row: usize) -> impl Iterator<Item = (usize, &Plane)> {
        let range = self.range(row);
        self.cells[range.clone()].iter().map(|&p| p as usize).zip(&self.planes[range])
    }

    /// The index of a cell in the lists, if it is mixed.
    pub(crate) fn position(&self, row: usize, cell: usize) -> Option<usize> {
        let range = self.range(row);
        self.cells[range.clone()].binary_search(&(cell as u32)).ok().map(|index| range.start + index)
    }
}
