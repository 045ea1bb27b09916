//! Heights of the interface over columns of cells, and what follows from them: its position and its curvature.
//!
//! Along the axis nearest to the normal, a column of cells runs from full to empty; the sum of its fractions is the height
//! h of the interface over it, in cells. From 3 × 3 columns, with the liquid below,
//!
//! ```text
//! κ = −[h_xx (1 + h_y²) + h_yy (1 + h_x²) − 2 h_x h_y h_xy] / (1 + h_x² + h_y²)^{3/2},
//! ```
//!
//! the sum of the principal curvatures, positive for a drop \[Pop09\].

use crate::boundary::Boundary;
use crate::grid::Grid;

/// How far a column is followed from its middle.
const REACH: isize = 4;

/// Cells fuller than one minus this are full for a column, emptier ones than this empty.
const NEARLY: f64 = 1e-8;

/// Array indices around a cell, also across the sides of the box.
pub(crate) struct HeightStencil<'a> {
    field: &'a [f64],
    /// Per axis, the part of the index for offsets from −REACH to REACH.
    parts: [[usize; 2 * REACH as usize + 1]; 3],
}

impl<'a> HeightStencil<'a> {
    pub(crate) fn new(grid: &Grid, boundary: &Boundary, field: &'a [f64], p: usize) -> Self {
        let cell = grid.coordinates(p);
        let origin = grid.index([0; 3]);
        let parts = std::array::from_fn(|axis| {
            let mut parts = [0; 2 * REACH as usize + 1];
            for (part, offset) in parts.iter_mut().zip(-REACH..) {
                *part = boundary.inside(axis, cell[axis] + offset) * grid.stride(axis);
            }
            parts
        });
        let mut around = Self { field, parts };
        around.parts[0].iter_mut().for_each(|part| *part += origin);
        around
    }

    fn at(&self, offset: [isize; 3]) -> f64 {
        let part = |axis: usize| self.parts[axis][(offset[axis] + REACH) as usize];
        self.field[part(0) + part(1) + part(2)]
    }

    /// Height of the interface over the middle of the cell's layer in a column beside it, in cells; `up` is 1 if the gas lies
    /// further along the axis, else −1. `None` if no full and no empty cell is in reach.
    pub(crate) fn height(&self, axis: usize, up: isize, mut offset: [isize; 3]) -> Option<f64> {
        let mut fraction = |t: isize| {
            offset[axis] = up * t;
            self.at(offset)
        };
        let middle = fraction(0);
        let mut sum = 0.0;
        // Down to the last full cell.
        let mut full = 0;
        if middle < 1.0 - NEARLY {
            sum += middle;
            full = -1;
            loop {
                let f = fraction(full);
                if f >= 1.0 - NEARLY {
                    break;
                }
                sum += f;
                full -= 1;
                if full < -REACH {
                    return None;
                }
            }
        }
        if middle > NEARLY {
            let mut t = 1;
            loop {
                let f = fraction(t);
                if f <= NEARLY {
                    break;
                }
                sum += f;
                t += 1;
                if t > REACH {
                    return None;
                }
            }
        }
        Some(sum + full as f64 + 0.5)
    }

    /// κ in units of one over the spacing, from heights along an axis.
    pub(crate) fn curvature(&self, axis: usize, up: isize) -> Option<f64> {
        let (s, t) = ((axis + 1) % 3, (axis + 2) % 3);
        let mut h = [[0.0; 3]; 3];
        for (b, row) in h.iter_mut().enumerate() {
            for (a, height) in row.iter_mut().enumerate() {
                let mut offset = [0; 3];
                (offset[s], offset[t]) = (a as isize - 1, b as isize - 1);
                *height = self.height(axis, up, offset)?;
            }
        }
        let (hx, hy) = (0.5 * (h[1][2] - h[1][0]), 0.5 * (h[2][1] - h[0][1]));
        let hxx = h[1][2] - 2.0 * h[1][1] + h[1][0];
        let hyy = h[2][1] - 2.0 * h[1][1] + h[0][1];
        let hxy = 0.25 * (h[2][2] - h[2][0] - h[0][2] + h[0][0]);
        Some(sum_of_curvatures([hx, hy], [hxx, hyy, hxy]))
    }
}

/// κ of the surface z = h(x, y) with the liquid below, from first and second derivatives.
pub(crate) fn sum_of_curvatures([hx, hy]: [f64; 2], [hxx, hyy, hxy]: [f64; 3]) -> f64 {
    let squared = 1.0 + hx * hx + hy * hy;
    let bent = hxx * (1.0 + hy * hy) + hyy * (1.0 + hx * hx) - 2.0 * hx * hy * hxy;
    -bent / (squared * squared.sqrt())
}
