//! Parts of the box that no fluid leaves.
//!
//! Where no side is open, the pressure is found up to a constant, and only if as much comes in as goes out. In a closed box
//! this holds up to round-off, which is taken out as the mean over each closed region. Where solids move, a closed region can grow or
//! shrink. Gas in it then gives way, all of it in the same proportion, as it does at one pressure and temperature. If there is none, the
//! solids give way: their walls in the region make that much less room, and more when the region opens again.

use crate::apertures::Apertures;
use crate::boundary::Boundary;
use crate::error::SetupError;
use crate::grid::Grid;
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
    pub(crate) fn new(grid: &Grid, boundary: &Boundary, apertures: &Apertures) -> Result<Self, SetupError> {
        if apertures.cut().is_none() {
            let sides = || grid.active_axes().flat_map(|axis| [0, 1].map(|end| boundary.side(axis, end)));
            let open = sides().any(|side| side.lets_out());
            let inflow = sides().any(|side| matches!(side, Side::Inflow(_)));
            return match (open, inflow) {
                (true, _) => Ok(Self { kind: Kind::Open }),
                (false, false) => Ok(Self { kind: Kind::Closed }),
                (false, true) => Err(SetupError::NoOutlet),
            };
        }
        let (label, regions) =
            flood(grid, boundary, apertures, |p| apertures.cut().is_none_or(|cut| cut.passes(grid, boundary, p)));
        if regions.iter().any(|region| region.inflow && !region.open) {
            return Err(SetupError::NoOutlet);
        }
        let cells = regions.iter().map(|region| if region.open { 0 } else { region.cells }).collect();
        Ok(Self { kind: Kind::Many { label, cells } })
    }

    /// Number of regions between solids, with that of what belongs to none.
    pub(crate) fn count(&self) -> usize {
        if let Kind::Many { cells, .. } = &self.kind { cells.len() } else { 0 }
    }

    /// Number of the region of a cell.
    pub(crate) fn label(&self, p: usize) -> usize {
        if let Kind::Many { label, .. } = &self.kind { label[p] as usize } else { 0 }
    }

    /// Whether nothing leaves a region.
    pub(crate) fn is_closed(&self, label: usize) -> bool {
        if let Kind::Many { cells, .. } = &self.kind { cells[label] > 0 } else { false }
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

/// What cells hold.
#[derive(Clone, Copy)]
pub(crate) struct Rooms<'a> {
    /// κ that the flow has reached, and κ at the end of the interval.
    pub(crate) capacity: &'a [f64],
    pub(crate) last: &'a [f64],
    pub(crate) fraction: &'a [f64],
}

impl Rooms<'_> {
    pub(crate) fn gas(&self, p: usize) -> f64 {
        self.capacity[p] * (1.0 - self.fraction[p])
    }

    fn change(&self, p: usize) -> f64 {
        (self.last[p] - self.capacity[p]).abs()
    }
}

/// Gas that would have to change by more than this part of itself in a step is too little to give way.
const MAX_SQUEEZE: f64 = 0.1;

impl Regions {
    /// Sums over the closed regions of a field, of gas, and of changes of room; the first of regions with open sides is zero.
    fn sums(&self, grid: &Grid, rooms: &Rooms, field: impl Fn(usize) -> f64) -> Vec<[f64; 3]> {
        let Kind::Many { label, cells } = &self.kind else { return Vec::new() };
        let mut sums = vec![[0.0; 3]; cells.len()];
        for p in grid.rows().iter().flat_map(|row| row.start..row.start + row.len) {
            let l = label[p] as usize;
            if cells[l] > 0 {
                let [sum, gas, change] = &mut sums[l];
                *sum += field(p);
                *gas += rooms.gas(p);
                *change += rooms.change(p);
            }
        }
        sums
    }

    /// Takes what closed regions grow out of the right-hand side, where gas or walls give way; `unit` brings it to cells per step.
    pub(crate) fn give_way(&self, grid: &Grid, rooms: &Rooms, unit: f64, field: &mut [f64]) {
        let Kind::Many { label, .. } = &self.kind else { return };
        let sums = self.sums(grid, rooms, |p| field[p]);
        grid.rows().each([field], |row, [values]| {
            for (i, value) in values.iter_mut().enumerate() {
                let p = row.start + i;
                let [sum, gas, change] = sums[label[p] as usize];
                if (sum * unit).abs() < MAX_SQUEEZE * gas {
                    *value -= sum * rooms.gas(p) / gas;
                } else if change > 0.0 {
                    *value -= sum * rooms.change(p) / change;
                }
            }
        });
    }

    /// After the sweeps: gas in closed regions has given way, so that cells have the room that is there; liquid keeps its volume. `room` is
    /// the capacity that a cell should have.
    pub(crate) fn squeeze(
        &self,
        grid: &Grid,
        rooms: &Rooms,
        room: impl Fn(usize) -> f64 + Sync,
        outputs: [&mut [f64]; 2],
    ) {
        let Kind::Many { label, .. } = &self.kind else { return };
        let sums = self.sums(grid, rooms, |p| rooms.capacity[p] - room(p));
        grid.rows().each(outputs, |row, [fraction, capacity]| {
            for i in 0..row.len {
                let p = row.start + i;
                let [sum, gas, _] = sums[label[p] as usize];
                (fraction[i], capacity[i]) = (rooms.fraction[p], rooms.capacity[p]);
                if sum.abs() < MAX_SQUEEZE * gas {
                    let liquid = rooms.capacity[p] * rooms.fraction[p];
                    capacity[i] = rooms.capacity[p] - sum / gas * rooms.gas(p);
                    fraction[i] = if capacity[i] > 0.0 { liquid / capacity[i] } else { rooms.fraction[p] };
                }
            }
        });
    }
}

/// Labels of the cells that belong to a region, zero for the others, and what is known of each region; region 0 is the rest.
pub(crate) fn flood(
    grid: &Grid,
    boundary: &Boundary,
    apertures: &Apertures,
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
                    if apertures.face(axis, p + end * s) <= 0.0 {
                        continue;
                    }
                    let mut next = grid.coordinates(p);
                    next[axis] += if end == 0 { -1 } else { 1 };
                    let n = grid.cells()[axis] as isize;
                    if !(0..n).contains(&next[axis]) {
                        match boundary.side(axis, end) {
                            side if side.lets_out() => region.open = true,
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
