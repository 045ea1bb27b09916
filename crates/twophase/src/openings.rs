//! How much of every face and cell is open to the fluids.
//!
//! Without solids everything is, and a single row of ones stands for all rows.

use crate::grid::Grid;
use crate::rows::Row;

/// Open parts of faces and cells, dimensionless, from 0 to 1.
#[derive(Debug, Clone)]
pub(crate) struct Openings {
    ones: Vec<f64>,
    cut: Option<Cut>,
}

/// Where a solid cuts the grid.
#[derive(Debug, Clone)]
pub(crate) struct Cut {
    /// Open part of each face, per axis.
    pub(crate) faces: [Vec<f64>; 3],
    /// Open part of each cell, not below that of a sliver.
    pub(crate) capacity: Vec<f64>,
    /// Its inverse, zero for closed cells.
    pub(crate) inverse: Vec<f64>,
    /// Closed faces, per axis.
    pub(crate) closed: [Vec<u32>; 3],
    /// Closed cells near open ones, nearest first.
    pub(crate) covered: Vec<Covered>,
    /// Signed distance of the cells' centres from the solid \[m\].
    pub(crate) centers: Vec<f64>,
}

/// A closed cell and the cells from which it takes its fraction.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Covered {
    pub(crate) cell: u32,
    pub(crate) count: u8,
    pub(crate) sources: [u32; 6],
}

impl Openings {
    pub(crate) fn new(grid: &Grid, cut: Option<Cut>) -> Self {
        Self { ones: vec![1.0; grid.cells()[0] + 1], cut }
    }

    pub(crate) fn cut(&self) -> Option<&Cut> {
        self.cut.as_ref()
    }

    /// Sets a velocity to zero on the closed faces along an axis.
    pub(crate) fn stop(&self, axis: usize, velocity: &mut [f64]) {
        if let Some(cut) = &self.cut {
            for &p in &cut.closed[axis] {
                velocity[p as usize] = 0.0;
            }
        }
    }

    /// Continues a fraction into solids, so that the interface meets them at a right angle.
    pub(crate) fn cover(&self, fraction: &mut [f64]) {
        if let Some(cut) = &self.cut {
            for covered in &cut.covered {
                let sources = &covered.sources[..usize::from(covered.count)];
                let sum: f64 = sources.iter().map(|&q| fraction[q as usize]).sum();
                fraction[covered.cell as usize] = sum / sources.len() as f64;
            }
        }
    }

    /// Open parts of the faces of a row.
    #[inline(always)]
    pub(crate) fn faces(&self, axis: usize, row: &Row) -> &[f64] {
        self.cut.as_ref().map_or(&self.ones[..row.len], |cut| row.of(&cut.faces[axis]))
    }

    /// Open parts of the faces that lie `stride` further than those of a row.
    #[inline(always)]
    pub(crate) fn faces_after(&self, axis: usize, row: &Row, stride: usize) -> &[f64] {
        self.cut.as_ref().map_or(&self.ones[..row.len], |cut| row.after(&cut.faces[axis], stride))
    }

    /// Open part of one face.
    #[inline(always)]
    pub(crate) fn face(&self, axis: usize, index: usize) -> f64 {
        self.cut.as_ref().map_or(1.0, |cut| cut.faces[axis][index])
    }

    /// Capacities of the cells of a row.
    #[inline(always)]
    pub(crate) fn capacity(&self, row: &Row) -> &[f64] {
        self.cut.as_ref().map_or(&self.ones[..row.len], |cut| row.of(&cut.capacity))
    }

    /// Capacities of the cells that lie `stride` before those of a row.
    #[inline(always)]
    pub(crate) fn capacity_before(&self, row: &Row, stride: usize) -> &[f64] {
        self.cut.as_ref().map_or(&self.ones[..row.len], |cut| row.before(&cut.capacity, stride))
    }

    /// Capacity of one cell.
    #[inline(always)]
    pub(crate) fn capacity_at(&self, index: usize) -> f64 {
        self.cut.as_ref().map_or(1.0, |cut| cut.capacity[index])
    }

    /// Inverse capacities of the cells of a row; zero for closed cells.
    #[inline(always)]
    pub(crate) fn inverse(&self, row: &Row) -> &[f64] {
        self.cut.as_ref().map_or(&self.ones[..row.len], |cut| row.of(&cut.inverse))
    }
}
