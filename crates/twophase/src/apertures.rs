//! How much of every face and cell is open to the fluids.
//!
//! Without solids everything is, and a single row of ones stands for all rows.

use crate::boundary::Boundary;
use crate::cut_cell::{open_part, open_volume};
use crate::grid::Grid;
use crate::merge::{Merged, neighbour};
use crate::rows::Row;
use glam::DVec3;
use rayon::prelude::*;

/// Open parts of faces and cells, dimensionless, from 0 to 1.
#[derive(Debug, Clone)]
pub(crate) struct Apertures {
    ones: Vec<f64>,
    cut: Option<Cut>,
}

/// Where solids cut the grid, over an interval of time in which they move by a quarter of a cell at most.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cut {
    /// Open part of each face, per axis: the mean over the interval.
    pub(crate) faces: [Vec<f64>; 3],
    /// Open part of each cell at the end of the interval; zero for cells without an open face.
    pub(crate) capacity: Vec<f64>,
    /// Closed faces, per axis, and how fast the solid moves there along the axis \[m/s\].
    pub(crate) closed: [Vec<u32>; 3],
    pub(crate) closed_velocity: [Vec<f64>; 3],
    /// What a face is to viscosity, per axis: [`SLIPPERY`] or [`STICKY`] if it is closed, else [`FREE`].
    pub(crate) friction: [Vec<f64>; 3],
    /// Closed cells near open ones, nearest first.
    pub(crate) covered: Vec<Covered>,
    /// Signed distance of the cells' centres from the solid \[m\], at the end of the interval.
    pub(crate) centers: Vec<f64>,
    /// Cells too small to stand alone.
    pub(crate) merged: Merged,
    known: Vec<u8>,
}

/// A closed cell and the cells from which it takes its fraction.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Covered {
    pub(crate) cell: u32,
    pub(crate) count: u8,
    pub(crate) sources: [u32; 6],
}

/// A closed face along which the fluids slip, one that is open or on a side, and a closed one to which they stick.
pub(crate) const SLIPPERY: f64 = 0.0;
pub(crate) const FREE: f64 = 1.0;
pub(crate) const STICKY: f64 = 2.0;

/// Layers of closed cells that are covered.
const LAYERS: u8 = 3;

impl Cut {
    pub(crate) fn new(grid: &Grid) -> Self {
        Self {
            faces: std::array::from_fn(|_| grid.zeros()),
            capacity: grid.zeros(),
            centers: grid.zeros(),
            known: vec![0; grid.len()],
            ..Self::default()
        }
    }

    /// Open parts while ψ at the nodes goes from the first field to the second.
    pub(crate) fn open(&mut self, grid: &Grid, boundary: &Boundary, nodes: [&[f64]; 2]) {
        for (axis, field) in self.faces.iter_mut().enumerate() {
            grid.face_rows(axis).each([&mut field[..]], |row, [out]| {
                for (i, out) in out.iter_mut().enumerate() {
                    *out = open_part(grid, nodes, axis, row.start + i);
                }
            });
            boundary.repeat_faces(grid, axis, field);
        }
        let faces = &self.faces;
        grid.rows().each([&mut self.capacity, &mut self.centers], |row, [capacity, centers]| {
            for i in 0..row.len {
                let p = row.start + i;
                let passes = || (0..3).any(|axis| passage(grid, boundary, &faces[axis], axis, p));
                capacity[i] = if passes() { open_volume(grid, nodes[1], p) } else { 0.0 };
                let corners =
                    (0..8).map(|k| nodes[1][p + (k & 1) + (k >> 1 & 1) * grid.stride(1) + (k >> 2) * grid.stride(2)]);
                centers[i] = 0.125 * corners.sum::<f64>();
            }
        });
        boundary.fill_cells(grid, &mut self.capacity);
        boundary.fill_cells(grid, &mut self.centers);
        for (axis, list) in self.closed.iter_mut().enumerate() {
            let inside = grid.face_rows(axis).iter().flat_map(|row| row.start..row.start + row.len);
            list.clear();
            list.extend(inside.filter(|&p| faces[axis][p] <= 0.0).map(|p| p as u32));
            self.closed_velocity[axis].clear();
            self.closed_velocity[axis].resize(list.len(), 0.0);
        }
    }

    /// Whether some fluid can come into a cell or leave it.
    pub(crate) fn passes(&self, grid: &Grid, boundary: &Boundary, p: usize) -> bool {
        (0..3).any(|axis| passage(grid, boundary, &self.faces[axis], axis, p))
    }

    /// Finds the cells too small to stand alone; `first` is ψ at the start of the interval.
    pub(crate) fn merge(&mut self, grid: &Grid, boundary: &Boundary, up: usize, first: &[f64]) {
        let mut merged = std::mem::take(&mut self.merged);
        let room = |p: usize| self.capacity[p].min(open_volume(grid, first, p));
        merged.find(grid, boundary, up, &self.faces, &room);
        self.merged = merged;
    }

    /// Notes to which closed faces near open cells the fluids stick.
    pub(crate) fn set_friction(&mut self, grid: &Grid, axis: usize, slips_at: impl Fn(DVec3) -> bool) {
        let (centers, s, near) = (&self.centers, grid.stride(axis), 2.0 * grid.spacing());
        self.friction[axis].clear();
        self.friction[axis].resize(grid.len(), FREE);
        for p in self.closed[axis].iter().map(|&p| p as usize) {
            if centers[p].max(centers[p - s]) > -near {
                self.friction[axis][p] = if slips_at(grid.face_center(axis, p)) { SLIPPERY } else { STICKY };
            }
        }
    }

    /// How fast the solid moves at closed faces near open cells.
    pub(crate) fn set_closed_velocities(&mut self, grid: &Grid, axis: usize, velocity: impl Fn(DVec3) -> DVec3 + Sync) {
        let (centers, s, near) = (&self.centers, grid.stride(axis), 2.0 * grid.spacing());
        self.closed_velocity[axis].par_iter_mut().zip(&self.closed[axis]).with_min_len(256).for_each(|(v, &p)| {
            let p = p as usize;
            let from = centers[p].max(centers[p - s]);
            *v = if from > -near { velocity(grid.face_center(axis, p))[axis] } else { 0.0 };
        });
    }

    /// Lists closed cells near open ones and where each takes its fraction from: level neighbours if there are any, else those above
    /// and below.
    pub(crate) fn cover(&mut self, grid: &Grid, boundary: &Boundary, up: usize) {
        let mut known = std::mem::take(&mut self.known);
        known.fill(0);
        let inside = || grid.rows().iter().flat_map(|row| row.start..row.start + row.len);
        for p in inside().filter(|&p| self.passes(grid, boundary, p)) {
            known[p] = 1;
        }
        self.covered.clear();
        for layer in 1..=LAYERS {
            for p in inside() {
                if known[p] != 0 {
                    continue;
                }
                let level = sources(grid, &known, layer, p, grid.active_axes().filter(|&axis| axis != up));
                let entry = if level.count > 0 { level } else { sources(grid, &known, layer, p, std::iter::once(up)) };
                if entry.count > 0 {
                    known[p] = layer + 1;
                    self.covered.push(entry);
                }
            }
        }
        self.known = known;
    }
}

/// The neighbours of a cell along some axes that were known before this layer.
fn sources(grid: &Grid, known: &[u8], layer: u8, p: usize, axes: impl Iterator<Item = usize>) -> Covered {
    let mut entry = Covered { cell: p as u32, count: 0, sources: [0; 6] };
    for q in axes.flat_map(|axis| [p - grid.stride(axis), p + grid.stride(axis)]) {
        if (1..=layer).contains(&known[q]) {
            entry.sources[usize::from(entry.count)] = q as u32;
            entry.count += 1;
        }
    }
    entry
}

/// Whether fluid can pass a face of a cell along an axis: it is open, and no wall of the box.
fn passage(grid: &Grid, boundary: &Boundary, faces: &[f64], axis: usize, p: usize) -> bool {
    let open = |end: usize| {
        faces[p + end * grid.stride(axis)] > 0.0
            && grid.is_active(axis)
            && (neighbour(grid, boundary, p, axis, end).is_some() || !boundary.side(axis, end).is_wall())
    };
    open(0) || open(1)
}

impl Apertures {
    pub(crate) fn new(grid: &Grid, cut: Option<Cut>) -> Self {
        Self { ones: vec![1.0; grid.cells()[0] + 1], cut }
    }

    pub(crate) fn cut(&self) -> Option<&Cut> {
        self.cut.as_ref()
    }

    pub(crate) fn cut_mut(&mut self) -> Option<&mut Cut> {
        self.cut.as_mut()
    }

    /// Sets a velocity to that of the solid on the closed faces along an axis.
    pub(crate) fn stop(&self, axis: usize, velocity: &mut [f64]) {
        if let Some(cut) = &self.cut {
            for (&p, &v) in cut.closed[axis].iter().zip(&cut.closed_velocity[axis]) {
                velocity[p as usize] = v;
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

    /// Capacities that the cells of a row have at the end of the interval.
    #[inline(always)]
    pub(crate) fn capacity(&self, row: &Row) -> &[f64] {
        self.cut.as_ref().map_or(&self.ones[..row.len], |cut| row.of(&cut.capacity))
    }

    /// The same of one cell.
    #[inline(always)]
    pub(crate) fn capacity_at(&self, index: usize) -> f64 {
        self.cut.as_ref().map_or(1.0, |cut| cut.capacity[index])
    }

    /// Whether a cell belongs to a group.
    #[inline(always)]
    pub(crate) fn is_grouped(&self, p: usize) -> bool {
        self.cut.as_ref().is_some_and(|cut| cut.merged.is_grouped(p))
    }
}
