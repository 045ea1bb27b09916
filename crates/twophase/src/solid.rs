//! What stands in the box: open parts of faces and cells from a signed distance.
//!
//! The distance ψ, negative inside the solid, is taken at the nodes of the grid. The open part of a face is where ψ, linear in
//! each of the four triangles around its middle, is positive; that of a cell is the mean over a few such slices.
//! \[NMG09; compare the staircase of MKSMH07.\]

use crate::boundary::Boundary;
use crate::error::SetupError;
use crate::grid::Grid;
use crate::openings::{Covered, Cut};
use glam::DVec3;
use meniscus_geometry::{Bvh, TriangleMesh};
use rayon::prelude::*;
use std::fmt;
use std::sync::Arc;

/// Faces that are less open than this are closed.
const SLIVER: f64 = 0.01;

/// A cell holds at least this part of its most open face, so that what passes in a step fits into it.
const LEAST_CAPACITY: f64 = 0.5;

/// A solid that stands still in the box.
#[derive(Clone)]
pub struct Solid {
    distance: Arc<dyn Fn(DVec3) -> f64 + Send + Sync>,
    /// Whether the fluids stick to it.
    pub no_slip: bool,
}

impl fmt::Debug for Solid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Solid").field("no_slip", &self.no_slip).finish_non_exhaustive()
    }
}

impl Solid {
    /// From a signed distance \[m\], negative inside; the fluids slip along it.
    #[must_use]
    pub fn new(distance: impl Fn(DVec3) -> f64 + Send + Sync + 'static) -> Self {
        Self { distance: Arc::new(distance), no_slip: false }
    }

    /// From a closed mesh whose triangles face outwards; the fluids slip along it.
    ///
    /// # Errors
    /// When the mesh is not closed.
    pub fn from_mesh(mesh: &TriangleMesh) -> Result<Self, SetupError> {
        mesh.closed().map_err(|error| SetupError::OpenMesh(error.to_string()))?;
        let tree = Bvh::new(mesh);
        Ok(Self::new(move |x| tree.signed_distance(x)))
    }

    /// Both solids.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let (a, b) = (self.distance, other.distance);
        Self { distance: Arc::new(move |x| a(x).min(b(x))), no_slip: self.no_slip || other.no_slip }
    }

    /// What is around it, with the fluids inside: a vessel.
    #[must_use]
    pub fn inside_out(self) -> Self {
        let distance = self.distance;
        Self { distance: Arc::new(move |x| -distance(x)), no_slip: self.no_slip }
    }

    /// The same, with fluids that stick to it.
    #[must_use]
    pub fn sticky(mut self) -> Self {
        self.no_slip = true;
        self
    }

    /// Signed distance of a place \[m\], negative inside.
    #[must_use]
    pub fn signed_distance(&self, x: DVec3) -> f64 {
        (self.distance)(x)
    }

    /// Where it cuts a grid.
    pub(crate) fn cut(&self, grid: &Grid, boundary: &Boundary, gravity: DVec3) -> Cut {
        let at_nodes: Vec<f64> =
            (0..grid.len()).into_par_iter().map(|p| (self.distance)(grid.place(p, DVec3::ZERO))).collect();
        let mut faces: [Vec<f64>; 3] = std::array::from_fn(|axis| {
            let mut field = grid.zeros();
            grid.face_rows(axis).each([&mut field], |row, [out]| {
                for (i, out) in out.iter_mut().enumerate() {
                    *out = open_part(grid, &at_nodes, axis, row.start + i);
                }
            });
            field
        });
        let (mut capacity, mut inverse) = (grid.zeros(), grid.zeros());
        for p in grid.rows().iter().flat_map(|row| row.start..row.start + row.len) {
            let around = || (0..3).flat_map(|axis| [(axis, p), (axis, p + grid.stride(axis))]);
            let most = around().map(|(axis, q)| faces[axis][q]).fold(0.0, f64::max);
            let open = open_volume(grid, &at_nodes, p).max(LEAST_CAPACITY * most);
            (capacity[p], inverse[p]) = if most > 0.0 { (open, 1.0 / open) } else { (0.0, 0.0) };
        }
        boundary.fill_cells(grid, &mut capacity);
        boundary.fill_cells(grid, &mut inverse);
        for (axis, field) in faces.iter_mut().enumerate() {
            boundary.repeat_faces(grid, axis, field);
        }
        let closed = [0, 1, 2].map(|axis| {
            let inside = grid.face_rows(axis).iter().flat_map(|row| row.start..row.start + row.len);
            inside.filter(|&p| faces[axis][p] <= 0.0).map(|p| p as u32).collect()
        });
        let covered = cover(grid, &capacity, gravity);
        let centers = (0..grid.len()).into_par_iter().map(|p| (self.distance)(grid.center(p))).collect();
        Cut { faces, capacity, inverse, closed, covered, centers }
    }
}

/// Layers of closed cells that are covered.
const LAYERS: usize = 3;

/// The closed cells within a few layers of open ones and where each takes its fraction from: level neighbours if there are any,
/// else those above and below.
fn cover(grid: &Grid, capacity: &[f64], gravity: DVec3) -> Vec<Covered> {
    let up = (0..3).max_by(|&a, &b| gravity[a].abs().total_cmp(&gravity[b].abs())).unwrap_or(1);
    let mut known: Vec<bool> = capacity.iter().map(|c| *c > 0.0).collect();
    let mut covered = Vec::new();
    let inside = || grid.rows().iter().flat_map(|row| row.start..row.start + row.len);
    for _ in 0..LAYERS {
        let first = covered.len();
        for p in inside().filter(|&p| !known[p]) {
            let along = |axis: usize| [p - grid.stride(axis), p + grid.stride(axis)].into_iter();
            let of = |axes: &mut dyn Iterator<Item = usize>| -> Vec<u32> {
                axes.flat_map(along).filter(|&q| known[q] && grid.contains(q)).map(|q| q as u32).collect()
            };
            let mut sources = of(&mut grid.active_axes().filter(|&axis| axis != up));
            if sources.is_empty() {
                sources = of(&mut std::iter::once(up));
            }
            if !sources.is_empty() {
                let mut entry = Covered { cell: p as u32, count: sources.len() as u8, sources: [0; 6] };
                entry.sources[..sources.len()].copy_from_slice(&sources);
                covered.push(entry);
            }
        }
        covered[first..].iter().for_each(|entry| known[entry.cell as usize] = true);
    }
    covered
}

/// Open part of the face before a cell, from ψ at its corners: four triangles around the middle.
fn open_part(grid: &Grid, nodes: &[f64], axis: usize, p: usize) -> f64 {
    let (s, t) = (grid.stride((axis + 1) % 3), grid.stride((axis + 2) % 3));
    let corners = [nodes[p], nodes[p + s], nodes[p + s + t], nodes[p + t]];
    let middle = 0.25 * corners.iter().sum::<f64>();
    let part = (0..4).map(|k| part_of_triangle([corners[k], corners[(k + 1) % 4], middle])).sum::<f64>() / 4.0;
    if part < SLIVER { 0.0 } else { part }
}

/// The part of a triangle in which the linear function with these corner values is positive.
fn part_of_triangle(values: [f64; 3]) -> f64 {
    let positive = values.iter().filter(|v| **v > 0.0).count();
    // The part around the one corner that differs from the two others.
    let tip = |a: f64, b: f64, c: f64| (a / (a - b)) * (a / (a - c));
    let around = |sign: bool| {
        (0..3)
            .find(|&k| (values[k] > 0.0) == sign)
            .map_or(0.0, |k| tip(values[k], values[(k + 1) % 3], values[(k + 2) % 3]))
    };
    match positive {
        0 => 0.0,
        1 => around(true),
        2 => 1.0 - around(false),
        _ => 1.0,
    }
}

/// Open part of a cell: the mean over layers of its eight-cornered ψ, each like a face.
fn open_volume(grid: &Grid, nodes: &[f64], p: usize) -> f64 {
    const SLICES: usize = 4;
    let (y, z) = (grid.stride(1), grid.stride(2));
    let low = [nodes[p], nodes[p + 1], nodes[p + 1 + y], nodes[p + y]];
    let high = [nodes[p + z], nodes[p + 1 + z], nodes[p + 1 + y + z], nodes[p + y + z]];
    let layer = |k: usize| {
        let w = (k as f64 + 0.5) / SLICES as f64;
        let corners: [f64; 4] = std::array::from_fn(|i| low[i] + w * (high[i] - low[i]));
        let middle = 0.25 * corners.iter().sum::<f64>();
        (0..4).map(|i| part_of_triangle([corners[i], corners[(i + 1) % 4], middle])).sum::<f64>() / 4.0
    };
    (0..SLICES).map(layer).sum::<f64>() / SLICES as f64
}
