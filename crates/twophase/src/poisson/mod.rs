//! The pressure equation: conjugate gradients in double precision, preconditioned by a multigrid cycle in single precision.
//!
//! Σ_f β_f (p_c − p_n) = b in every cell, with coefficients that jump by the ratio of the densities. The cycle relaxes red
//! and black cells in turn, those around jumps more often \[MST10\], and corrects on networks of blocks, see `network`. The two
//! coarsest transfers of a large grid being cheap, the first two coarser levels are visited twice. β of the conjugate
//! directions is the one of Polak and Ribière, which forgives a preconditioner in single precision.

mod level;
mod network;
mod pack;
mod transfer;
mod wrap;

use crate::grid::{GHOSTS, Grid};
use crate::rows::{Row, dot, larger};
use fearless_simd::{Level as Instructions, Simd, dispatch};
use level::Level;
use network::Network;

/// Extra half-sweeps around jumps, on each side of a visit.
const BAND_SWEEPS: usize = 2;
/// Levels whose next coarser level is visited twice.
const TWICE: usize = 2;
/// Sweeps on the coarsest level.
const COARSEST_SWEEPS: usize = 8;
/// The coarsest level has at most this many cells.
const COARSEST_CELLS: usize = 32;

/// A residual that is so many times what was asked for is no noise.
const FAR_ABOVE: f64 = 1e3;

/// Share of what coarser levels find below which none of it is taken.
const LEAST_SHARE: f32 = 0.2;

/// Noise of a residual in parts of the right-hand side.
const ROUND_OFF: f64 = 4.0 * f64::EPSILON;

/// Iterations in which the residual must halve at least.
const PATIENCE: u32 = 10;

/// Stops iterations that have come down to noise: in a closed box, going on there would follow the constant, which the operator
/// does not see.
struct Patience {
    best: f64,
    waited: u32,
}

impl Patience {
    fn new(residual: f64) -> Self {
        Self { best: residual, waited: 0 }
    }

    /// With a share of what coarser levels find, iterations gain less.
    fn lasts(&mut self, residual: f64, share: f32) -> bool {
        if residual < 0.5 * self.best {
            *self = Self::new(residual);
        } else {
            self.waited += 1;
        }
        self.waited <= if share < 1.0 { 4 * PATIENCE } else { PATIENCE }
    }
}

/// The outcome of a solution.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Solved {
    pub(crate) iterations: u32,
    /// Largest residual of a cell at the end.
    pub(crate) residual: f64,
    /// Whether it is far above what was asked for.
    pub(crate) missed: bool,
}

/// Solver and its memory.
#[derive(Debug)]
pub(crate) struct Poisson {
    networks: Vec<Network>,
    levels: Vec<Level>,
    marks: [Vec<u8>; 2],
    /// Residual, direction, and the operator applied to the direction; ghosts are zero beyond sides that are not periodic.
    pub(crate) residual: Vec<f64>,
    direction: Vec<f64>,
    image: Vec<f64>,
    row_sums: Vec<[f64; 2]>,
    periodic: [bool; 3],
    instructions: Instructions,
    /// What brings the largest coefficients near one.
    scale: f64,
}

impl Poisson {
    pub(crate) fn new(grid: &Grid, periodic: [bool; 3], instructions: Instructions) -> Self {
        let mut networks = vec![Network::new(grid.cells(), periodic)];
        while let Some(last) = networks.last()
            && last.cells().iter().product::<usize>() > COARSEST_CELLS
        {
            networks.push(last.coarser());
        }
        let levels = networks.iter().map(|network| Level::new(network, instructions)).collect();
        Self {
            networks,
            levels,
            marks: Default::default(),
            residual: grid.zeros(),
            direction: grid.zeros(),
            image: grid.zeros(),
            row_sums: Vec::new(),
            periodic,
            instructions,
            scale: 1.0,
        }
    }

    /// Lends three fields to others; their ghosts must come back as they were.
    pub(crate) fn lend(&mut self) -> [Vec<f64>; 3] {
        [&mut self.residual, &mut self.direction, &mut self.image].map(std::mem::take)
    }

    /// Takes them back.
    pub(crate) fn take_back(&mut self, fields: [Vec<f64>; 3]) {
        [self.residual, self.direction, self.image] = fields;
    }

    /// Takes over the coefficients β of the faces, times a scale that brings them near one.
    pub(crate) fn prepare(&mut self, grid: &Grid, coefficients: &[Vec<f64>; 3], scale: f64) {
        self.scale = scale;
        for (axis, from) in coefficients.iter().enumerate() {
            let mut extent = grid.cells();
            extent[axis] += 1;
            let network = &mut self.networks[0];
            let rows = network.rows().reaching(extent);
            rows.each([&mut network.conductance[axis]], |row, [output]| {
                let start = start_of(grid, rows.coordinates(&row));
                for (to, from) in output.iter_mut().zip(&from[start..]) {
                    *to = (from * scale) as f32;
                }
            });
        }
        for fine in 0..self.networks.len() {
            if let [network, coarser, ..] = &mut self.networks[fine..] {
                coarser.join(network);
            }
            self.levels[fine].pack(&self.networks[fine], &mut self.marks);
        }
    }

    /// Solves for `x`, whose values are the first guess, with the right-hand side in [`Self::residual`], until no residual is
    /// larger than `limit`.
    pub(crate) fn solve(
        &mut self,
        grid: &Grid,
        coefficients: &[Vec<f64>; 3],
        x: &mut [f64],
        limit: f64,
        most: u32,
    ) -> Solved {
        let right_hand_side = self.step(grid, x, 0.0, false);
        let largest = self.direction_from(grid, x);
        // Below this the residual is the noise of its own computation.
        let limit = larger(limit, ROUND_OFF * (right_hand_side + largest / self.scale));
        self.apply(grid, coefficients);
        let mut residual = self.step(grid, x, 1.0, false);
        let mut patience = Patience::new(residual);
        let (mut rz_before, mut alpha, mut share, mut begins) = (0.0, 0.0, 1.0, true);
        let mut iterations = 0;
        while residual > limit && iterations < most && patience.lasts(residual, share) {
            self.precondition(grid, share);
            let [rz, zq] = self.products(grid);
            // What coarser levels find is too much for some shapes of the interface, so that the cycle turns against its residual: less
            // of it, and none in the end, does not.
            if (rz <= 0.0 || rz.is_nan()) && share > 0.0 {
                share = if share > LEAST_SHARE { 0.5 * share } else { 0.0 };
                (iterations, begins, patience) = (iterations + 1, true, Patience::new(residual));
                continue;
            }
            let beta = if begins { 0.0 } else { -alpha * zq / rz_before };
            self.turn(grid, beta);
            let dq = self.apply(grid, coefficients);
            // Nothing left in a direction that the operator does not see.
            if !(dq > 0.0 && rz > 0.0) {
                break;
            }
            (alpha, rz_before, begins) = (rz / dq, rz, false);
            residual = self.step(grid, x, alpha, true);
            iterations += 1;
        }
        // Somewhat above it may be noise, which patience ends.
        Solved { iterations, residual, missed: residual > FAR_ABOVE * limit }
    }

    /// Direction = x; returns the largest |x|.
    fn direction_from(&mut self, grid: &Grid, x: &[f64]) -> f64 {
        grid.rows().collect([&mut self.direction], &mut self.row_sums, |row, [d]| {
            d.copy_from_slice(row.of(x));
            [d.iter().fold(0.0, |most, x| larger(x.abs(), most)), 0.0]
        });
        self.row_sums.iter().map(|s| s[0]).fold(0.0, larger)
    }

    /// Image = operator times direction; returns direction · image.
    fn apply(&mut self, grid: &Grid, coefficients: &[Vec<f64>; 3]) -> f64 {
        wrap(grid, self.periodic, &mut self.direction);
        let (direction, instructions) = (&self.direction, self.instructions);
        grid.rows().collect([&mut self.image], &mut self.row_sums, |row, [image]| {
            let stencil = Stencil::new(grid, &row, direction, coefficients);
            [dispatch!(instructions, simd => apply_row(simd, &stencil, image)), 0.0]
        });
        self.row_sums.iter().map(|s| s[0]).sum()
    }

    /// x += α d (if it moves) and r −= α q; returns the largest residual.
    fn step(&mut self, grid: &Grid, x: &mut [f64], alpha: f64, moves: bool) -> f64 {
        let (direction, image) = (&self.direction, &self.image);
        let instructions = self.instructions;
        grid.rows().collect([x, &mut self.residual], &mut self.row_sums, |row, [x, r]| {
            let (d, q) = (row.of(direction), row.of(image));
            if moves {
                dispatch!(instructions, simd => add_scaled(simd, x, alpha, d));
            }
            [dispatch!(instructions, simd => subtract_scaled(simd, r, alpha, q)), 0.0]
        });
        self.row_sums.iter().map(|s| s[0]).fold(0.0, larger)
    }

    /// r · z and z · q.
    fn products(&mut self, grid: &Grid) -> [f64; 2] {
        let (level, residual, image) = (&self.levels[0], &self.residual, &self.image);
        let (rows, instructions) = (grid.rows(), self.instructions);
        rows.collect::<f64, _, 0>([], &mut self.row_sums, |row, []| {
            let z = level.natural_row(rows.coordinates(&row));
            dispatch!(instructions, simd => two_products(simd, z, row.of(residual), row.of(image)))
        });
        self.row_sums.iter().fold([0.0; 2], |sum, s| [sum[0] + s[0], sum[1] + s[1]])
    }

    /// d = z + β d.
    fn turn(&mut self, grid: &Grid, beta: f64) {
        let (level, rows, instructions) = (&self.levels[0], grid.rows(), self.instructions);
        rows.each([&mut self.direction], |row, [d]| {
            let z = level.natural_row(rows.coordinates(&row));
            dispatch!(instructions, simd => turn_row(simd, z, beta, d));
        });
    }

    /// z ≈ the solution for the residual, with a share of what coarser levels find, left in natural order on the finest level.
    fn precondition(&mut self, grid: &Grid, share: f32) {
        self.levels[0].load(grid, &self.residual);
        cycle(&mut self.levels, TWICE, share);
        self.levels[0].put_in_natural_order();
    }
}

/// Solves for the right-hand side of the first level from zero, approximately and symmetrically.
fn cycle(levels: &mut [Level], twice: usize, share: f32) {
    if let Some(level) = levels.first_mut() {
        level.clear();
        visit(levels, twice, share);
    }
}

fn visit(levels: &mut [Level], twice: usize, share: f32) {
    let Some((level, coarser)) = levels.split_first_mut() else { return };
    let Some(next) = coarser.first_mut() else { return level.relax_to_the_end() };
    (0..BAND_SWEEPS).for_each(|_| level.sweep_band([0, 1]));
    level.sweep([0, 1]);
    level.restrict(next, share);
    next.clear();
    for _ in 0..if twice > 0 { 2 } else { 1 } {
        visit(coarser, twice.saturating_sub(1), share);
    }
    level.correct(&mut coarser[0]);
    level.sweep([1, 0]);
    (0..BAND_SWEEPS).for_each(|_| level.sweep_band([1, 0]));
}

impl Level {
    fn sweep(&mut self, colors: [usize; 2]) {
        colors.into_iter().for_each(|color| self.relax(color));
    }

    fn sweep_band(&mut self, colors: [usize; 2]) {
        colors.into_iter().for_each(|color| self.relax_band(color));
    }

    fn relax_to_the_end(&mut self) {
        (0..COARSEST_SWEEPS).for_each(|_| self.sweep([0, 1]));
        (0..COARSEST_SWEEPS).for_each(|_| self.sweep([1, 0]));
    }

    /// Takes a right-hand side in double precision.
    fn load(&mut self, grid: &Grid, from: &[f64]) {
        let (rows, n) = (self.rows(), self.cells[0]);
        for (color, b) in self.b.iter_mut().enumerate() {
            rows.each([b], |row, [output]| {
                let start = start_of(grid, rows.coordinates(&row)) + Self::shift(&rows, &row, color);
                let end = start_of(grid, rows.coordinates(&row)) + n;
                for (to, from) in output.iter_mut().zip(from[start..end].iter().step_by(2)) {
                    *to = *from as f32;
                }
            });
        }
    }

    /// A row of the field in natural order.
    #[inline(always)]
    fn natural_row(&self, [j, k]: [usize; 2]) -> &[f32] {
        let [x, y, _] = self.cells.map(|n| n + 2);
        let start = 1 + (j + 1) * x + (k + 1) * x * y;
        &self.natural[start..start + self.cells[0]]
    }
}

/// Index of the first cell of row j in plane k.
#[inline(always)]
fn start_of(grid: &Grid, [j, k]: [usize; 2]) -> usize {
    GHOSTS + (j + GHOSTS) * grid.stride(1) + (k + GHOSTS) * grid.stride(2)
}

/// Fills the nearest ghosts beyond periodic sides.
fn wrap(grid: &Grid, periodic: [bool; 3], field: &mut [f64]) {
    for axis in (0..3).filter(|&axis| periodic[axis]) {
        let (s, n) = (grid.stride(axis), grid.cells()[axis]);
        let mut extent = grid.cells();
        extent[axis] = 1;
        for row in grid.rows().reaching(extent).iter() {
            for p in row.start..row.start + row.len {
                field[p - s] = field[p + (n - 1) * s];
                field[p + n * s] = field[p];
            }
        }
    }
}

/// A row of a field, its six neighbours, and the coefficients towards them.
struct Stencil<'a> {
    center: &'a [f64],
    values: [[&'a [f64]; 2]; 3],
    coefficients: [[&'a [f64]; 2]; 3],
}

impl<'a> Stencil<'a> {
    #[inline(always)]
    fn new(grid: &Grid, row: &Row, field: &'a [f64], coefficients: &'a [Vec<f64>; 3]) -> Self {
        let around = |axis: usize| [row.before(field, grid.stride(axis)), row.after(field, grid.stride(axis))];
        let faces = |axis: usize| [row.of(&coefficients[axis]), row.after(&coefficients[axis], grid.stride(axis))];
        Self { center: row.of(field), values: std::array::from_fn(around), coefficients: std::array::from_fn(faces) }
    }
}

#[inline(always)]
fn apply_row<S: Simd>(simd: S, stencil: &Stencil, image: &mut [f64]) -> f64 {
    simd.vectorize(
        #[inline(always)]
        || {
            let n = image.len();
            let center = &stencil.center[..n];
            let v = stencil.values.map(|pair| pair.map(|v| &v[..n]));
            let g = stencil.coefficients.map(|pair| pair.map(|g| &g[..n]));
            for i in 0..n {
                let along = |axis: usize| {
                    g[axis][0][i] * (center[i] - v[axis][0][i]) + g[axis][1][i] * (center[i] - v[axis][1][i])
                };
                image[i] = (along(0) + along(1)) + along(2);
            }
            dot(center, image)
        },
    )
}

#[inline(always)]
fn add_scaled<S: Simd>(simd: S, x: &mut [f64], alpha: f64, d: &[f64]) {
    simd.vectorize(
        #[inline(always)]
        || x.iter_mut().zip(d).for_each(|(x, d)| *x += alpha * d),
    );
}

#[inline(always)]
fn subtract_scaled<S: Simd>(simd: S, r: &mut [f64], alpha: f64, q: &[f64]) -> f64 {
    simd.vectorize(
        #[inline(always)]
        || {
            r.iter_mut().zip(q).for_each(|(r, q)| *r -= alpha * q);
            let mut lanes = [0.0f64; 8];
            for eight in r.chunks(8) {
                for (lane, r) in lanes.iter_mut().zip(eight) {
                    *lane = larger(r.abs(), *lane);
                }
            }
            lanes.into_iter().fold(0.0, larger)
        },
    )
}

#[inline(always)]
fn two_products<S: Simd>(simd: S, z: &[f32], r: &[f64], q: &[f64]) -> [f64; 2] {
    simd.vectorize(
        #[inline(always)]
        || {
            let mut lanes = [[0.0f64; 8]; 2];
            for ((z, r), q) in z.chunks(8).zip(r.chunks(8)).zip(q.chunks(8)) {
                for (i, ((z, r), q)) in z.iter().zip(r).zip(q).enumerate() {
                    lanes[0][i] += f64::from(*z) * r;
                    lanes[1][i] += f64::from(*z) * q;
                }
            }
            lanes.map(crate::rows::add_up)
        },
    )
}

#[inline(always)]
fn turn_row<S: Simd>(simd: S, z: &[f32], beta: f64, d: &mut [f64]) {
    simd.vectorize(
        #[inline(always)]
        || d.iter_mut().zip(z).for_each(|(d, z)| *d = f64::from(*z) + beta * *d),
    );
}

#[cfg(test)]
mod tests;
