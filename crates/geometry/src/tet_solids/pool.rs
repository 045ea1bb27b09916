//! Open boxes with thick walls.

use glam::DVec3;

use super::patchwork::Patchwork;
use super::{BodyError, Pool};
use crate::TetMesh;

/// Where the cells of a pool are cut: coordinates along each axis \[m\], and how many cells are wall.
pub(super) struct PoolLines {
    lines: [Vec<f64>; 3],
    wall_cells: u32,
}

impl PoolLines {
    /// Cells with edges of at most this length \[m\], in walls as well.
    pub(super) fn with_edges(pool: &Pool, edge: f64) -> Self {
        Self::new(pool, pool.inside.size().to_array().map(|length| cells(length, edge)), cells(pool.wall, edge))
    }

    /// What comes nearest to a number of tetrahedra, of many edge lengths and thicknesses of cells in the walls; cells
    /// that are flat or long count as somewhat farther off.
    pub(super) fn with_about(pool: &Pool, count: f64) -> Self {
        const TRIES: i32 = 400;
        const MAX_CELLS_IN_WALL: i32 = 12;
        let size = pool.inside.size();
        let longest = size.max_element().max(pool.wall);
        let shortest = 0.5 * libm::cbrt(5.0 * (size + pool.wall).element_product() / count).min(longest);
        let mut best = (f64::INFINITY, [1.0; 3], 1.0);
        for i in 0..=TRIES {
            let edge = longest * libm::pow(shortest / longest, f64::from(i) / f64::from(TRIES));
            let inside = size.to_array().map(|length| cells(length, edge));
            for wall in (1..=MAX_CELLS_IN_WALL).map(f64::from) {
                let off = libm::log(tet_count(inside, wall) / count).abs();
                let slimness = libm::log(pool.wall / (wall * edge)).abs();
                let cost = off + 0.1 * slimness;
                if cost < best.0 {
                    best = (cost, inside, wall);
                }
            }
        }
        Self::new(pool, best.1, best.2)
    }

    fn new(pool: &Pool, cells: [f64; 3], wall_cells: f64) -> Self {
        // A number too large for the lines is too large for the tetrahedra, which are counted before they are made.
        let fits = cells.iter().copied().fold(wall_cells, f64::max) <= 1e6;
        let (cells, wall_cells) =
            if fits { (cells.map(|n| n as u32), wall_cells as u32) } else { ([u32::MAX; 3], u32::MAX) };
        let even = |from: f64, to: f64, n: u32| (0..n).map(move |i| from + (to - from) * f64::from(i) / f64::from(n));
        let line = |axis: usize| {
            let (low, high) = (pool.inside.min[axis], pool.inside.max[axis]);
            let mut line: Vec<f64> = Vec::new();
            if fits {
                line.extend(even(low - pool.wall, low, wall_cells));
                line.extend(even(low, high, cells[axis]));
                // The top is open.
                if axis != 1 {
                    line.extend(even(high, high + pool.wall, wall_cells));
                }
                line.push(if axis == 1 { high } else { high + pool.wall });
            }
            line
        };
        Self { lines: [line(0), line(1), line(2)], wall_cells }
    }

    fn cells(&self) -> [u32; 3] {
        [0, 1, 2].map(|axis| self.lines[axis].len().saturating_sub(1) as u32)
    }

    pub(super) fn tets(&self) -> f64 {
        if self.wall_cells == u32::MAX {
            return f64::INFINITY;
        }
        let wall = f64::from(self.wall_cells);
        let [x, y, z] = self.cells().map(f64::from);
        tet_count([x - 2.0 * wall, y - wall, z - 2.0 * wall], wall)
    }

    pub(super) fn mesh(&self) -> Result<TetMesh, BodyError> {
        let wall = self.wall_cells;
        let [nx, _, nz] = self.cells();
        let is_wall = |[x, y, z]: [u32; 3]| y < wall || x < wall || z < wall || x + wall >= nx || z + wall >= nz;
        let vertex = |point: [u32; 3]| DVec3::from([0, 1, 2].map(|axis| self.lines[axis][point[axis] as usize]));
        Ok(Patchwork::new(self.cells(), is_wall, |point| point).mesh(vertex)?)
    }
}

/// Cells with edges of at most this length that a length takes.
fn cells(length: f64, edge: f64) -> f64 {
    (length / edge - 1e-9).ceil().max(1.0)
}

/// Tetrahedra of a pool with so many cells inside and through the walls.
fn tet_count([x, y, z]: [f64; 3], wall: f64) -> f64 {
    5.0 * ((x + 2.0 * wall) * (y + wall) * (z + 2.0 * wall) - x * y * z)
}
