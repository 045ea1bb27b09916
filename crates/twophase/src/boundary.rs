//! Ghost cells and ghost faces: what lies beyond the sides of the box.
//!
//! Cell fields are mirrored at walls, repeated at periodic sides, and go on unchanged beyond open sides and inflows.
//! Velocities across a wall are odd about it; along a wall they are even if it is slippery and odd if it is not.

use crate::error::SetupError;
use crate::grid::{GHOSTS, Grid};
use crate::params::{Side, Sides};
use crate::state::Passed;
use glam::DVec3;

/// The sides of a grid.
#[derive(Debug, Clone)]
pub(crate) struct Boundary {
    pairs: [[Side; 2]; 3],
    cells: [usize; 3],
}

/// How the ghosts of a field follow from its inside.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Ghost {
    /// The same value, mirrored, times this.
    Mirror(f64),
    /// The value of the opposite side.
    Repeat,
    /// The nearest value.
    Extend,
    /// A given value.
    Fixed(f64),
}

/// What lies beyond sides that are open.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Outside {
    /// Against gravity; zero without gravity.
    pub(crate) up: DVec3,
    /// Height of the surface at rest \[m\].
    pub(crate) still_level: f64,
}

impl Outside {
    /// The part of what comes in through a face that is liquid; `None` for what is just inside.
    fn fraction(&self, side: &Side, grid: &Grid, axis: usize, face: usize) -> Option<f64> {
        let level = match side {
            Side::Inflow(inflow) => inflow.level.unwrap_or(f64::INFINITY),
            Side::Outflow(_) => f64::NEG_INFINITY,
            _ if self.up == DVec3::ZERO => return None,
            _ => self.still_level,
        };
        let height = self.up.dot(grid.face_center(axis, face));
        Some(((level - height) / grid.spacing() + 0.5).clamp(0.0, 1.0))
    }
}

impl Boundary {
    pub(crate) fn new(grid: &Grid, sides: &Sides) -> Self {
        Self { pairs: sides.pairs(), cells: grid.cells() }
    }

    /// Along an axis with one cell nothing moves.
    pub(crate) fn check(&self) -> Result<(), SetupError> {
        for (axis, name) in ['x', 'y', 'z'].into_iter().enumerate() {
            let still = |side: &Side| matches!(side, Side::Slip | Side::Periodic);
            if self.cells[axis] == 1 && !self.pairs[axis].iter().all(still) {
                return Err(SetupError::ThinSide { axis: name });
            }
        }
        Ok(())
    }

    /// The low (0) or high (1) side along an axis.
    pub(crate) fn side(&self, axis: usize, end: usize) -> Side {
        self.pairs[axis][end]
    }

    pub(crate) fn is_periodic(&self, axis: usize) -> bool {
        self.pairs[axis][0] == Side::Periodic
    }

    /// The cell inside the box that stands for the `i`-th along an axis, which may lie outside.
    #[inline(always)]
    pub(crate) fn inside(&self, axis: usize, i: isize) -> usize {
        let n = self.cells[axis] as isize;
        if (0..n).contains(&i) {
            i as usize
        } else if self.is_periodic(axis) {
            i.rem_euclid(n) as usize
        } else {
            (if i < 0 { -1 - i } else { 2 * n - 1 - i }).clamp(0, n - 1) as usize
        }
    }

    /// The `i`-th cell along an axis, counted on across periodic sides; `None` beyond other sides.
    #[inline(always)]
    pub(crate) fn within(&self, axis: usize, i: isize) -> Option<usize> {
        let n = self.cells[axis] as isize;
        if (0..n).contains(&i) { Some(i as usize) } else { self.is_periodic(axis).then(|| i.rem_euclid(n) as usize) }
    }

    /// Fills the ghosts of a cell field.
    pub(crate) fn fill_cells(&self, grid: &Grid, field: &mut [f64]) {
        for axis in 0..3 {
            for end in 0..2 {
                let ghost = match self.side(axis, end) {
                    Side::Slip | Side::NoSlip => Ghost::Mirror(1.0),
                    Side::Periodic => Ghost::Repeat,
                    Side::Open(_) | Side::Inflow(_) | Side::Outflow(_) => Ghost::Extend,
                };
                self.fill_side(grid, field, [axis, end], ghost);
            }
        }
    }

    /// Fills the ghosts of one component of a velocity and sets what the sides prescribe.
    /// The latter is multiplied by `prescribed`: one for velocities, zero for their changes.
    pub(crate) fn fill_faces(&self, grid: &Grid, component: usize, field: &mut [f64], prescribed: f64) {
        for axis in 0..3 {
            for end in 0..2 {
                if axis == component {
                    self.set_normal(grid, field, [axis, end], prescribed);
                } else {
                    let ghost = match self.side(axis, end) {
                        Side::Slip => Ghost::Mirror(1.0),
                        Side::NoSlip => Ghost::Mirror(-1.0),
                        Side::Periodic => Ghost::Repeat,
                        Side::Open(_) | Side::Outflow(_) => Ghost::Extend,
                        Side::Inflow(inflow) => Ghost::Fixed(prescribed * inflow.velocity[component]),
                    };
                    self.fill_side(grid, field, [axis, end], ghost);
                }
            }
        }
    }

    /// The faces on a side, and beyond it. Faces count one more than cells: the last one lies in the first ghost layer.
    fn set_normal(&self, grid: &Grid, field: &mut [f64], [axis, end]: [usize; 2], prescribed: f64) {
        let n = self.cells[axis] as isize;
        let at = if end == 0 { 0 } else { n };
        let side = self.side(axis, end);
        match side {
            Side::Slip | Side::NoSlip => self.layer(grid, field, axis, at, |_| 0.0, at),
            Side::Inflow(inflow) => self.layer(grid, field, axis, at, |_| prescribed * inflow.velocity[axis], at),
            Side::Periodic if end == 1 => self.layer(grid, field, axis, n, |v| v, 0),
            Side::Periodic | Side::Open(_) | Side::Outflow(_) => {}
        }
        let beyond = if end == 0 { -(GHOSTS as isize)..0 } else { n + 1..n + GHOSTS as isize };
        for i in beyond {
            match side {
                Side::Slip | Side::NoSlip => self.layer(grid, field, axis, i, |v| -v, (2 * at - i).clamp(0, n)),
                Side::Periodic => self.layer(grid, field, axis, i, |v| v, i.rem_euclid(n)),
                Side::Open(_) | Side::Inflow(_) | Side::Outflow(_) => self.layer(grid, field, axis, i, |v| v, at),
            }
        }
    }

    /// Fills the ghosts of a pressure: zero beyond sides that let out.
    pub(crate) fn fill_pressure(&self, grid: &Grid, field: &mut [f64]) {
        for axis in 0..3 {
            for end in 0..2 {
                let ghost = match self.side(axis, end) {
                    Side::Periodic => Ghost::Repeat,
                    Side::Open(_) | Side::Outflow(_) => Ghost::Fixed(0.0),
                    _ => Ghost::Mirror(1.0),
                };
                self.fill_side(grid, field, [axis, end], ghost);
            }
        }
    }

    /// Fills the ghosts of a field on the faces along an axis beyond periodic sides only.
    pub(crate) fn repeat_faces(&self, grid: &Grid, component: usize, field: &mut [f64]) {
        for axis in (0..3).filter(|&axis| self.is_periodic(axis)) {
            for end in 0..2 {
                if axis == component {
                    self.set_normal(grid, field, [axis, end], 1.0);
                } else {
                    self.fill_side(grid, field, [axis, end], Ghost::Repeat);
                }
            }
        }
    }

    /// The low and the high face of periodic sides are the same, but planes cut only what leaves cells inside the box: what comes in
    /// over the low one left through the high one.
    pub(crate) fn join_seam(&self, grid: &Grid, axis: usize, courant: &[f64], flux: &mut [f64]) {
        if self.is_periodic(axis) {
            let across = self.cells[axis] * grid.stride(axis);
            for p in grid.layer(axis, 0).filter(|&p| courant[p] > 0.0) {
                flux[p] = flux[p + across];
            }
        }
    }

    /// The sides along an axis through which fluid comes and goes, with the layer of their faces and the sign of what comes
    /// in.
    fn passages(&self, axis: usize) -> impl Iterator<Item = (Side, isize, f64)> + '_ {
        let ends = [(0, 0, 1.0), (1, self.cells[axis] as isize, -1.0)];
        ends.into_iter()
            .map(move |(end, layer, sign)| (self.side(axis, end), layer, sign))
            .filter(|(side, ..)| side.lets_out() || matches!(side, Side::Inflow(_)))
    }

    /// Sets the liquid fluxes of what comes in through the sides along an axis, and adds what passes to the ledgers of both; returns the liquid
    /// gained, in cells.
    pub(crate) fn let_in(
        &self,
        grid: &Grid,
        axis: usize,
        outside: &Outside,
        courant: &[f64],
        flux: &mut [f64],
        passed: &mut [Passed; 2],
    ) -> f64 {
        let mut gained = 0.0;
        for (side, layer, sign) in self.passages(axis) {
            let ledger = &mut passed[usize::from(sign < 0.0)];
            for p in grid.layer(axis, layer) {
                if sign * courant[p] > 0.0 {
                    flux[p] = courant[p] * outside.fraction(&side, grid, axis, p).unwrap_or(flux[p] / courant[p]);
                }
                let inward = sign * flux[p];
                gained += inward;
                *(if inward > 0.0 { &mut ledger.inward } else { &mut ledger.outward }) += inward.abs();
            }
        }
        gained
    }

    /// Restores what was on open sides: nothing moves it but the pressure. What leaves through an outflow comes with the velocity that it has;
    /// what comes in comes from rest, u ← u/(1 + |u| dt/h), so that in a steady flow the pressure half a cell inside is −½ρu². Without
    /// this the energy of what comes in would be made from nothing, and where a solid narrows a side the more of it, the faster it is.
    /// `scale` is dt/h \[s/m\].
    // (12) of docs/src/air-and-water.md
    pub(crate) fn hold_open_sides(&self, grid: &Grid, axis: usize, before: &[f64], scale: f64, field: &mut [f64]) {
        for (side, layer, sign) in self.passages(axis) {
            let inside = grid.stride(axis) as isize * if sign > 0.0 { 1 } else { -1 };
            let flows_out = matches!(side, Side::Outflow(_));
            for p in grid.layer(axis, layer) {
                let comes = field[p.wrapping_add_signed(inside)];
                let inward = sign * before[p] * scale;
                let held = if inward > 0.0 { before[p] / (1.0 + inward) } else { before[p] };
                field[p] = if flows_out && sign * comes < 0.0 { comes } else { held };
            }
        }
    }

    /// The live pressure beyond outflows times the coefficients of their faces, added to the cells before them; `live` is that pressure.
    pub(crate) fn push_from_outflows(
        &self,
        grid: &Grid,
        coefficients: &[Vec<f64>; 3],
        live: impl Fn(usize, usize) -> f64,
        field: &mut [f64],
    ) {
        self.each_outflow(grid, |axis, face, cell| {
            field[cell] += coefficients[axis][face] * live(axis, face);
        });
    }

    /// Sets the ghosts of the live pressure beyond outflows.
    pub(crate) fn set_outflow_pressure(&self, grid: &Grid, live: impl Fn(usize, usize) -> f64, pressure: &mut [f64]) {
        self.each_outflow(grid, |axis, face, cell| {
            let ghost = if cell == face { face - grid.stride(axis) } else { face };
            pressure[ghost] = live(axis, face);
        });
    }

    /// Calls `each` with every face of an outflow and the cell before it.
    fn each_outflow(&self, grid: &Grid, mut each: impl FnMut(usize, usize, usize)) {
        for axis in 0..3 {
            for (side, layer, sign) in self.passages(axis) {
                if !matches!(side, Side::Outflow(_)) {
                    continue;
                }
                for p in grid.layer(axis, layer) {
                    each(axis, p, if sign > 0.0 { p } else { p - grid.stride(axis) });
                }
            }
        }
    }

    fn fill_side(&self, grid: &Grid, field: &mut [f64], [axis, end]: [usize; 2], ghost: Ghost) {
        let n = self.cells[axis] as isize;
        let g = GHOSTS as isize;
        let beyond = if end == 0 { -g..0 } else { n..n + g };
        let edge = if end == 0 { 0 } else { n - 1 };
        for i in beyond {
            match ghost {
                Ghost::Mirror(sign) => {
                    let from = (if end == 0 { -1 - i } else { 2 * n - 1 - i }).clamp(0, n - 1);
                    self.layer(grid, field, axis, i, |v| sign * v, from);
                }
                Ghost::Repeat => self.layer(grid, field, axis, i, |v| v, i.rem_euclid(n)),
                Ghost::Extend => self.layer(grid, field, axis, i, |v| v, edge),
                Ghost::Fixed(value) => self.layer(grid, field, axis, i, |_| value, edge),
            }
        }
    }

    /// Sets the layer `to` across an axis to a function of the layer `from`. Axes are done in turn, each with the ghosts of
    /// those before it, so that edges and corners come out right.
    fn layer(&self, grid: &Grid, field: &mut [f64], axis: usize, to: isize, value: impl Fn(f64) -> f64, from: isize) {
        let stride = grid.stride(axis);
        let at = |i: isize| (i + GHOSTS as isize) as usize * stride;
        let (to, from) = (at(to), at(from));
        let (rows, planes) = (grid.stride(2) / grid.stride(1), grid.len() / grid.stride(2));
        let ends = [grid.stride(1), rows, planes];
        let [x, y, z]: [std::ops::Range<usize>; 3] = std::array::from_fn(|d| match d {
            _ if d == axis => 0..1,
            // The axes after this one have no ghosts yet, except the last face, which is theirs.
            _ if d > axis => GHOSTS..ends[d] - GHOSTS + 1,
            _ => 0..ends[d],
        });
        for k in z {
            for j in y.clone() {
                let row = k * grid.stride(2) + j * grid.stride(1);
                for i in x.clone() {
                    field[row + i + to] = value(field[row + i + from]);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Open;
    use meniscus_geometry::Aabb;

    fn grid() -> Grid {
        Grid::new(&Aabb::new(DVec3::ZERO, DVec3::new(5.0, 4.0, 3.0)), 1.0).unwrap()
    }

    fn sides() -> Sides {
        Sides { x_min: Side::Periodic, x_max: Side::Periodic, y_min: Side::NoSlip, ..Sides::default() }
    }

    /// A field whose value tells the coordinates.
    fn coded(grid: &Grid) -> Vec<f64> {
        let code = |c: [isize; 3]| (c[0] + 10 * c[1] + 100 * c[2]) as f64;
        (0..grid.len())
            .map(|p| {
                let c = grid.coordinates(p);
                let inside = (0..3).all(|d| (0..grid.cells()[d] as isize + 1).contains(&c[d]));
                if inside { code(c) } else { f64::NAN }
            })
            .collect()
    }

    #[test]
    fn cells_repeat_and_mirror_also_in_the_corners() {
        let grid = grid();
        let boundary = Boundary::new(&grid, &sides());
        let mut field = coded(&grid);
        boundary.fill_cells(&grid, &mut field);
        for (p, &value) in field.iter().enumerate() {
            let c = grid.coordinates(p);
            let from: [usize; 3] = std::array::from_fn(|d| boundary.inside(d, c[d]));
            assert_eq!(value, (from[0] + 10 * from[1] + 100 * from[2]) as f64, "{c:?}");
        }
    }

    #[test]
    fn faces_are_odd_about_walls_and_along_sticky_ones() {
        let grid = grid();
        let boundary = Boundary::new(&grid, &sides());
        let mut v = coded(&grid);
        boundary.fill_faces(&grid, 1, &mut v, 1.0);
        let at = |f: &[f64], c: [isize; 3]| {
            let p = c.map(|i| (i + GHOSTS as isize) as usize);
            f[p[0] + grid.stride(1) * p[1] + grid.stride(2) * p[2]]
        };
        assert_eq!((at(&v, [2, 0, 1]), at(&v, [2, 4, 1])), (0.0, 0.0));
        assert_eq!((at(&v, [2, -1, 1]), at(&v, [2, 5, 1])), (-112.0, -132.0));
        assert_eq!(at(&v, [-1, 1, 1]), at(&v, [4, 1, 1]));
        let mut u = coded(&grid);
        boundary.fill_faces(&grid, 0, &mut u, 1.0);
        assert_eq!((at(&u, [2, -1, 1]), at(&u, [2, 4, 1])), (-102.0, 132.0));
        assert_eq!((at(&u, [5, 1, 1]), at(&u, [-1, 1, 1])), (110.0, 114.0));
        assert!(u.iter().all(|v| v.is_finite()));
    }

    #[test]
    fn open_sides_go_on() {
        let grid = grid();
        let sides = Sides { x_max: Side::Open(Open::default()), ..Sides::default() };
        let mut u = coded(&grid);
        Boundary::new(&grid, &sides).fill_faces(&grid, 0, &mut u, 1.0);
        let p = grid.index([4, 1, 1]) + 1;
        assert_eq!((u[p], u[p + 1]), (115.0, 115.0));
    }
}
