//! The staggered grid: cubic cells in a box, with ghost layers around them.
//!
//! Every field of the solver is one array of [`Grid::len`] numbers with x running fastest. Entry `p` of a cell field
//! belongs to the cell `p`; entry `p` of a face field along an axis belongs to the face between the cell `p` and the one
//! before it along that axis.

use crate::error::SetupError;
use glam::DVec3;
use meniscus_geometry::Aabb;

/// Layers of ghost cells on each side.
pub const GHOSTS: usize = 2;

/// More cells than any machine we know can step.
const MAX_CELLS: f64 = 1e9;

/// Cubic cells in a box.
#[derive(Debug, Clone, PartialEq)]
pub struct Grid {
    cells: [usize; 3],
    strides: [usize; 3],
    len: usize,
    origin: DVec3,
    spacing: f64,
}

impl Grid {
    /// Cuts a box into cubic cells of edge `spacing` \[m\].
    ///
    /// # Errors
    /// When the edges of the box are not whole multiples of the spacing (to one part in a million), or not finite, or
    /// when there would be too many cells.
    pub fn new(domain: &Aabb, spacing: f64) -> Result<Self, SetupError> {
        let size = domain.size();
        if !(spacing > 0.0 && spacing.is_finite() && size.is_finite() && size.min_element() > 0.0) {
            return Err(SetupError::Box { size, spacing });
        }
        let counts = (size / spacing).round();
        if counts.element_product() > MAX_CELLS {
            return Err(SetupError::TooManyCells { cells: counts.element_product() });
        }
        let off = (size / spacing - counts).abs() / counts.max(DVec3::ONE);
        if counts.min_element() < 1.0 || off.max_element() > 1e-6 {
            return Err(SetupError::Box { size, spacing });
        }
        Ok(Self::from_cells(counts.to_array().map(|n| n as usize), domain.min, spacing))
    }

    fn from_cells(cells: [usize; 3], origin: DVec3, spacing: f64) -> Self {
        let [x, y, z] = cells.map(|n| n + 2 * GHOSTS);
        Self { cells, strides: [1, x, x * y], len: x * y * z, origin, spacing }
    }

    /// Number of cells along each axis.
    #[must_use]
    pub fn cells(&self) -> [usize; 3] {
        self.cells
    }

    /// Number of cells.
    #[must_use]
    pub fn cell_count(&self) -> usize {
        self.cells.iter().product()
    }

    /// Length of the arrays, ghosts included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Never: a grid has at least one cell.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Distance in the arrays between neighbours along an axis.
    #[must_use]
    pub fn stride(&self, axis: usize) -> usize {
        self.strides[axis]
    }

    /// Edge h of a cell \[m\].
    #[must_use]
    pub fn spacing(&self) -> f64 {
        self.spacing
    }

    /// The box \[m\].
    #[must_use]
    pub fn domain(&self) -> Aabb {
        let size = DVec3::from_array(self.cells.map(|n| n as f64)) * self.spacing;
        Aabb { min: self.origin, max: self.origin + size }
    }

    /// Index of a cell in the arrays.
    #[must_use]
    pub fn index(&self, cell: [usize; 3]) -> usize {
        let [x, y, z] = cell.map(|i| i + GHOSTS);
        x + self.strides[1] * y + self.strides[2] * z
    }

    /// The cell with an index; ghosts have coordinates below zero or beyond the last.
    #[must_use]
    pub fn coordinates(&self, index: usize) -> [isize; 3] {
        let (x, rest) = (index % self.strides[1], index / self.strides[1]);
        let rows = self.strides[2] / self.strides[1];
        [x, rest % rows, rest / rows].map(|i| i as isize - GHOSTS as isize)
    }

    /// Whether an index is that of a cell in the box, not of a ghost.
    #[must_use]
    pub fn contains(&self, index: usize) -> bool {
        let cell = self.coordinates(index);
        (0..3).all(|axis| (0..self.cells[axis] as isize).contains(&cell[axis]))
    }

    /// Centre of a cell \[m\].
    #[must_use]
    pub fn center(&self, index: usize) -> DVec3 {
        self.position(index, DVec3::splat(0.5))
    }

    /// Centre of the face before a cell along an axis \[m\].
    #[must_use]
    pub fn face_center(&self, axis: usize, index: usize) -> DVec3 {
        let mut within = DVec3::splat(0.5);
        within[axis] = 0.0;
        self.position(index, within)
    }

    /// A position in a cell, given by its three coordinates from 0 to 1 within the cell \[m\].
    #[must_use]
    pub fn position(&self, index: usize, within: DVec3) -> DVec3 {
        let corner = DVec3::from_array(self.coordinates(index).map(|i| i as f64));
        self.origin + (corner + within) * self.spacing
    }

    /// Whether an axis has more than one cell; nothing moves along the others.
    #[must_use]
    pub fn is_active(&self, axis: usize) -> bool {
        self.cells[axis] > 1
    }

    /// The axes with more than one cell.
    pub fn active_axes(&self) -> impl Iterator<Item = usize> + '_ {
        (0..3).filter(|&axis| self.is_active(axis))
    }

    /// Indices of the cells with coordinate `i` along an axis, which may be that of a ghost.
    pub(crate) fn layer(&self, axis: usize, i: isize) -> impl Iterator<Item = usize> + use<> {
        let mut extent = self.cells;
        extent[axis] = 1;
        let shift = i * self.strides[axis] as isize;
        let rows = self.rows().reaching(extent);
        rows.iter().flat_map(|row| row.start..row.start + row.len).map(move |p| p.wrapping_add_signed(shift))
    }

    /// A field of zeros.
    #[must_use]
    pub fn zeros(&self) -> Vec<f64> {
        vec![0.0; self.len]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_and_positions_agree() {
        let grid = Grid::new(&Aabb::new(DVec3::new(-1.0, 0.0, 2.0), DVec3::new(0.0, 0.75, 2.25)), 0.25).unwrap();
        assert_eq!((grid.cells(), grid.cell_count()), ([4, 3, 1], 12));
        let p = grid.index([3, 1, 0]);
        assert_eq!(grid.coordinates(p), [3, 1, 0]);
        assert!((grid.center(p) - DVec3::new(-0.125, 0.375, 2.125)).length() < 1e-15);
        assert!((grid.face_center(0, p) - DVec3::new(-0.25, 0.375, 2.125)).length() < 1e-15);
        assert_eq!(grid.coordinates(p + grid.stride(0) + grid.stride(2)), [4, 1, 1]);
        assert_eq!(grid.active_axes().collect::<Vec<_>>(), [0, 1]);
        assert_eq!(grid.domain().max, DVec3::new(0.0, 0.75, 2.25));
    }

    #[test]
    fn boxes_must_be_whole_multiples_of_the_spacing() {
        let cube = |edge: f64, spacing| Grid::new(&Aabb { min: DVec3::ZERO, max: DVec3::splat(edge) }, spacing);
        assert!(cube(1.0, 1.0 / 64.0).is_ok() && cube(0.3, 0.1).is_ok());
        assert!(cube(1.0, 0.3).is_err() && cube(0.0, 0.1).is_err() && cube(1.0, 0.0).is_err());
        assert!(cube(f64::NAN, 0.1).is_err() && cube(1.0, f64::NAN).is_err() && cube(1.0, -0.1).is_err());
        assert!(cube(1e6, 1e-6).unwrap_err().to_string().contains("cells"));
    }
}
