//! φ from the reconstructed interface: the distance of cell centres from the facets around them.
//!
//! Within [`REACH`] cells of a mixed cell, φ is the distance from the nearest facet; further away it stays at the limit. A
//! plane through a cube leaves more than half of it on the side of the centre: the sign of φ is that of F − ½.

use crate::boundary::Boundary;
use crate::facet::Facet;
use crate::grid::{GHOSTS, Grid};
use crate::interface::Interface;
use glam::DVec3;

/// How many cells around a mixed cell get their distance from its facet.
const REACH: isize = 2;

/// |φ| far from the interface, in cells.
pub(crate) const FAR: f64 = 2.5;

/// Sets φ in all cells.
pub(crate) fn measure(measured: &Measured, fraction: &[f64], distance: &mut [f64]) {
    let Measured { grid, boundary, interface, facets } = *measured;
    let h = grid.spacing();
    let rows = grid.rows();
    rows.each([distance], |row, [out]| {
        out.fill(FAR);
        for_each_row_around(measured, rows.coordinates(&row), |number, dy, dz| {
            let range = interface.range(number);
            for (&cell, facet) in interface.cells()[range.clone()].iter().zip(&facets[range]) {
                // The cells of this row around the cell with the facet.
                let column = (cell as usize % grid.stride(1)) as isize - GHOSTS as isize;
                for along in -REACH..=REACH {
                    let Some(i) = boundary.within(0, column + along) else { continue };
                    let offset = DVec3::new(along as f64, dy, dz);
                    let best = out[i];
                    // No point of that cell is nearer than its box.
                    if (offset.abs() - 0.5).max(DVec3::ZERO).length_squared() < best * best {
                        out[i] = facet.distance(offset + 0.5, best);
                    }
                }
            }
        });
        for (d, f) in out.iter_mut().zip(row.of(fraction)) {
            *d = if *f > 0.5 { *d * h } else { -*d * h };
        }
    });
}

/// What distances are measured from.
#[derive(Clone, Copy)]
pub(crate) struct Measured<'a> {
    pub(crate) grid: &'a Grid,
    pub(crate) boundary: &'a Boundary,
    pub(crate) interface: &'a Interface,
    pub(crate) facets: &'a [Facet],
}

/// Calls `work` for the rows within reach, also across periodic sides, nearest first, with the offset from there to here.
fn for_each_row_around(measured: &Measured, [y, z]: [usize; 2], mut work: impl FnMut(usize, f64, f64)) {
    let mut offsets = [[0isize; 2]; (2 * REACH as usize + 1).pow(2)];
    for (k, offset) in offsets.iter_mut().enumerate() {
        let width = 2 * REACH + 1;
        *offset = [k as isize % width - REACH, k as isize / width - REACH];
    }
    offsets.sort_unstable_by_key(|&[dy, dz]| (dy * dy + dz * dz, dy, dz));
    for [dy, dz] in offsets {
        let there = [measured.boundary.within(1, y as isize - dy), measured.boundary.within(2, z as isize - dz)];
        if let [Some(y), Some(z)] = there {
            work(measured.grid.index([0, y, z]) / measured.grid.stride(1), dy as f64, dz as f64);
        }
    }
}
