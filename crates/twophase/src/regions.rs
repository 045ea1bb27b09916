//! Parts of the box that no fluid leaves.
//!
//! Where no side is open, the pressure is found up to a constant, and only if as much comes in as goes out. In a closed box
//! this holds up to round-off, which is taken out as the mean over each closed region.

use crate::boundary::Boundary;
use crate::error::SetupError;
use crate::grid::Grid;
use crate::openings::Openings;
use crate::params::Side;

/// Regions of connected cells.
#[derive(Debug, Clone)]
pub(crate) struct Regions {
    kind: Kind,
}

#[derive(Debug, Clone)]
enum Kind {
    /// One region with an open side: nothing to be done.
    Open,
    /// One closed region, the whole box.
    Closed,
    /// Regions between solids: the number of each cell's region, from 1; and their cells, zero for open ones.
    Many { label: Vec<u32>, cells: Vec<usize> },
}

/// What touches a region.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Region {
    pub(crate) cells: usize,
    pub(crate) open: bool,
    inflow: bool,
}

impl Regions {
    /// Finds them.
    ///
    /// # Errors
    /// When fluid comes into a region that has no open side.
    pub(crate) fn new(grid: &Grid, boundary: &Boundary, openings: &Openings) -> Result<Self, SetupError> {
        if openings.cut().is_none() {
            let sides = || grid.active_axes().flat_map(|axis| [0, 1].map(|end| boundary.side(axis, end)));
            let open = sides().any(|side| matches!(side, Side::Open(_)));
            let inflow = sides().any(|side| matches!(side, Side::Inflow(_)));
            return match (open, inflow) {
                (true, _) => Ok(Self { kind: Kind::Open }),
                (false, false) => Ok(Self { kind: Kind::Closed }),
                (false, true) => Err(SetupError::NoOutlet),
            };
        }
        let (label, regions) = flood(grid, boundary, openings, |p| openings.capacity_at(p) > 0.0);
        if regions.iter().any(|region| region.inflow && !region.open) {
            return Err(SetupError::NoOutlet);
        }
        let cells = regions.iter().map(|region| if region.open { 0 } else { region.cells }).collect();
        Ok(Self { kind: Kind::Many { label, cells } })
    }

    /// Takes the mean over each closed region out of a field.
    pub(crate) fn balance(&self, grid: &Grid, field: &mut [f64], sums: &mut Vec<f64>) {
        match &self.kind {
            Kind::Open => {}
            Kind::Closed => {
                let sum = grid.rows().sum([&mut *field], sums, |_, [values]| values.iter().sum());
                let mean = sum / grid.cell_count() as f64;
                grid.rows().each([field], |_, [values]| values.iter_mut().for_each(|v| *v -= mean));
            }
            Kind::Many { label, cells } => {
                sums.clear();
                sums.resize(cells.len(), 0.0);
                for row in grid.rows().iter() {
                    row.of(label).iter().zip(row.of(field)).for_each(|(&l, v)| sums[l as usize] += v);
                }
                sums.iter_mut().zip(cells).for_each(|(sum, &n)| *sum = if n > 0 { *sum / n as f64 } else { 0.0 });
                let means = &*sums;
                grid.rows().each([field], |row, [values]| {
                    values.iter_mut().zip(row.of(label)).for_each(|(v, &l)| *v -= means[l as usize]);
                });
            }
        }
    }
}

/// Labels of the cells that belong to a region, zero for the others, and what is known of each region; region 0 is the rest.
pub(crate) fn flood(
    grid: &Grid,
    boundary: &Boundary,
    openings: &Openings,
    belongs: impl Fn(usize) -> bool,
) -> (Vec<u32>, Vec<Region>) {
    let mut label = vec![0u32; grid.len()];
    let mut regions = vec![Region { open: true, ..Region::default() }];
    let mut stack = Vec::new();
    for start in grid.rows().iter().flat_map(|row| row.start..row.start + row.len) {
        if label[start] != 0 || !belongs(start) {
            continue;
        }
        let number = regions.len() as u32;
        let mut region = Region::default();
        label[start] = number;
        stack.push(start);
        while let Some(p) = stack.pop() {
            region.cells += 1;
            for axis in grid.active_axes() {
                for end in 0..2 {
                    let s = grid.stride(axis);
                    if openings.face(axis, p + end * s) <= 0.0 {
                        continue;
                    }
                    let mut next = grid.coordinates(p);
                    next[axis] += if end == 0 { -1 } else { 1 };
                    let n = grid.cells()[axis] as isize;
                    if !(0..n).contains(&next[axis]) {
                        match boundary.side(axis, end) {
                            Side::Open(_) => region.open = true,
                            Side::Inflow(_) => region.inflow = true,
                            Side::Periodic => {}
                            _ => continue,
                        }
                        if boundary.side(axis, end) != Side::Periodic {
                            continue;
                        }
                    }
                    let q = grid.index(std::array::from_fn(|d| boundary.inside(d, next[d])));
                    if label[q] == 0 && belongs(q) {
                        label[q] = number;
                        stack.push(q);
                    }
                }
            }
        }
        regions.push(region);
    }
    (label, regions)
}
