//! Cells too small to stand alone.
//!
//! A cell whose capacity is, or will be, less than a half joins the open neighbour with the most room. What leaves such a group in a step
//! must fit into the group, not into its smallest cell. As long as every cell of a group can pay for its own fluxes, each keeps its
//! own fraction, so that what is at rest stays at rest; when one cannot, all of them share what the group holds. Cells that a moving
//! solid uncovers inherit by this, cells that it covers hand over.

use crate::apertures::Cut;
use crate::boundary::Boundary;
use crate::grid::Grid;

/// Cells with less capacity than this join a neighbour.
const SMALL: f64 = 0.5;

/// A cell that loses more than this part of its capacity in a sweep shares.
const MAX_LOSS: f64 = 0.75;

/// Round-off of volumes, in parts of a capacity: no reason to share.
const NOISE: f64 = 1e-12;

/// Groups of cells, in the order of the grid.
#[derive(Debug, Clone, Default)]
pub(crate) struct Merged {
    /// Number of each cell's group, from 1; zero for those that stand alone.
    group: Vec<u32>,
    /// Cells of all groups, one group after the other, and where each starts.
    cells: Vec<u32>,
    starts: Vec<u32>,
    /// Who joined whom.
    parent: Vec<u32>,
    touched: Vec<u32>,
}

/// Fields before a sweep, and the stride along it.
#[derive(Clone, Copy)]
pub(crate) struct Before<'a> {
    pub(crate) stride: usize,
    pub(crate) capacity: &'a [f64],
    pub(crate) fraction: &'a [f64],
}

impl Merged {
    /// Finds the groups; `room` is the smaller of a cell's capacities at the start and at the end of the interval.
    pub(crate) fn find(
        &mut self,
        grid: &Grid,
        boundary: &Boundary,
        up: usize,
        faces: &[Vec<f64>; 3],
        room: &impl Fn(usize) -> f64,
    ) {
        self.group.clear();
        self.group.resize(grid.len(), 0);
        self.parent.clear();
        self.parent.resize(grid.len(), u32::MAX);
        self.touched.clear();
        for p in grid.rows().iter().flat_map(|row| row.start..row.start + row.len) {
            if room(p) >= SMALL {
                continue;
            }
            // Of equals the one beside comes before those above and below: an interface stays level.
            let axes = [(up + 1) % 3, (up + 2) % 3, up].into_iter().filter(|&axis| grid.is_active(axis));
            let mut best: Option<([f64; 2], usize)> = None;
            for (axis, end) in axes.flat_map(|axis| [(axis, 0), (axis, 1)]) {
                let open = faces[axis][p + end * grid.stride(axis)];
                let Some(q) = neighbour(grid, boundary, p, axis, end) else { continue };
                let key = [room(q).min(SMALL), open];
                if open > 0.0 && best.is_none_or(|(other, _)| key > other) {
                    best = Some((key, q));
                }
            }
            if let Some((_, q)) = best {
                self.join(p as u32, q as u32);
            }
        }
        self.list();
    }

    fn join(&mut self, p: u32, q: u32) {
        for cell in [p, q] {
            if self.parent[cell as usize] == u32::MAX {
                self.parent[cell as usize] = cell;
                self.touched.push(cell);
            }
        }
        let (a, b) = (self.root(p), self.root(q));
        self.parent[a.max(b) as usize] = a.min(b);
    }

    fn root(&mut self, mut p: u32) -> u32 {
        while self.parent[p as usize] != p {
            let next = self.parent[self.parent[p as usize] as usize];
            self.parent[p as usize] = next;
            p = next;
        }
        p
    }

    fn list(&mut self) {
        let mut touched = std::mem::take(&mut self.touched);
        for &p in &touched {
            let root = self.root(p);
            self.parent[p as usize] = root;
        }
        touched.sort_unstable_by_key(|&p| (self.parent[p as usize], p));
        self.cells.clear();
        self.starts.clear();
        let mut last = u32::MAX;
        for &p in &touched {
            if self.parent[p as usize] != last {
                last = self.parent[p as usize];
                self.starts.push(self.cells.len() as u32);
            }
            self.group[p as usize] = self.starts.len() as u32;
            self.cells.push(p);
        }
        self.touched = touched;
        self.starts.push(self.cells.len() as u32);
    }

    /// Whether a cell belongs to a group.
    #[inline(always)]
    pub(crate) fn is_grouped(&self, p: usize) -> bool {
        self.group[p] != 0
    }

    /// Number of groups.
    pub(crate) fn count(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// The cells of a group.
    pub(crate) fn cells(&self, k: usize) -> &[u32] {
        &self.cells[self.starts[k] as usize..self.starts[k + 1] as usize]
    }

    /// Whether two cells are of one group.
    #[inline(always)]
    pub(crate) fn together(&self, p: usize, q: usize) -> bool {
        self.group[p] == self.group[q]
    }

    /// Where planes would let more of a fluid out of a group than it holds, everything leaves it in the proportion that it holds.
    pub(crate) fn limit(&self, before: &Before, courant: &[f64], flux: &mut [f64], shared: &mut [bool]) {
        let Before { stride, capacity, fraction } = *before;
        for (k, shared) in shared.iter_mut().enumerate().take(self.count()) {
            let (mut room, mut liquid, mut out, mut liquid_out) = (0.0, 0.0, 0.0, 0.0);
            for &p in self.cells(k) {
                let p = p as usize;
                room += capacity[p];
                liquid += capacity[p] * fraction[p];
                for (face, next, gives) in
                    [(p, p - stride, courant[p] < 0.0), (p + stride, p + stride, courant[p + stride] > 0.0)]
                {
                    if gives && !self.together(p, next) {
                        out += courant[face].abs();
                        liquid_out += flux[face].abs();
                    }
                }
            }
            let noise = NOISE * room;
            if liquid_out <= liquid + noise && out - liquid_out <= room - liquid + noise {
                continue;
            }
            let part = (liquid / room.max(f64::MIN_POSITIVE)).clamp(0.0, 1.0);
            for &p in self.cells(k) {
                let p = p as usize;
                for (face, gives) in [(p, courant[p] < 0.0), (p + stride, courant[p + stride] > 0.0)] {
                    if gives {
                        flux[face] = courant[face] * part;
                    }
                }
            }
            *shared = true;
        }
    }

    /// After a sweep: groups with a cell that cannot pay share what they hold, each cell in proportion to its weight.
    pub(crate) fn share(
        &self,
        before: &Before,
        [courant, flux]: [&[f64]; 2],
        weight: impl Fn(usize) -> f64,
        output: [&mut [f64]; 2],
        shared: &mut [bool],
    ) {
        let Before { stride, capacity, fraction } = *before;
        let [next_fraction, next_capacity] = output;
        let after = |p: usize| {
            let room = capacity[p] - (courant[p + stride] - courant[p]);
            (room, capacity[p] * fraction[p] - (flux[p + stride] - flux[p]))
        };
        for (k, shared) in shared.iter_mut().enumerate().take(self.count()) {
            let cells = self.cells(k);
            let (mut room, mut liquid, mut cannot, mut weights) = (0.0, 0.0, *shared, 0.0);
            for &p in cells {
                let p = p as usize;
                let (own, own_liquid) = after(p);
                room += own;
                liquid += own_liquid;
                weights += weight(p);
                let lost = own < (1.0 - MAX_LOSS) * capacity[p];
                let noise = NOISE * capacity[p];
                cannot |= lost || own < 0.0 || own_liquid < -noise || own_liquid > own + noise;
            }
            if !cannot || weights <= 0.0 {
                continue;
            }
            *shared = true;
            let part = liquid / room.max(f64::MIN_POSITIVE);
            for &p in cells {
                next_fraction[p as usize] = crate::transport::without_dust(part);
                next_capacity[p as usize] = room * weight(p as usize) / weights;
            }
        }
    }

    /// At the end of a step: cells of groups that have shared get back the capacities that they should have.
    pub(crate) fn end(
        &self,
        weight: impl Fn(usize) -> f64,
        fraction: &mut [f64],
        capacity: &mut [f64],
        shared: &[bool],
    ) {
        for k in (0..self.count()).filter(|&k| shared[k]) {
            let (mut room, mut liquid, mut weights) = (0.0, 0.0, 0.0);
            for &p in self.cells(k) {
                let p = p as usize;
                room += capacity[p];
                liquid += capacity[p] * fraction[p];
                weights += weight(p);
            }
            if weights <= 0.0 {
                continue;
            }
            let part = (liquid / room.max(f64::MIN_POSITIVE)).clamp(0.0, 1.0);
            for &p in self.cells(k) {
                fraction[p as usize] = part;
                capacity[p as usize] = room * weight(p as usize) / weights;
            }
        }
    }
}

/// The cell across the low (0) or high (1) face of a cell along an axis, also across periodic sides; `None` beyond other sides.
pub(crate) fn neighbour(grid: &Grid, boundary: &Boundary, p: usize, axis: usize, end: usize) -> Option<usize> {
    let i = grid.coordinates(p)[axis];
    let there = i + if end == 0 { -1 } else { 1 };
    let inside = boundary.within(axis, there)? as isize;
    Some(p.wrapping_add_signed((inside - i) * grid.stride(axis) as isize))
}

impl Cut {
    /// Largest part of a group's capacity that leaves it per second times h, given the velocity \[m/s\].
    pub(crate) fn fastest_group(&self, grid: &Grid, capacity: &[f64], velocity: &[Vec<f64>; 3]) -> f64 {
        let merged = &self.merged;
        let leaves = |p: usize, axis: usize| {
            let s = grid.stride(axis);
            let (low, high) =
                (self.faces[axis][p] * velocity[axis][p], self.faces[axis][p + s] * velocity[axis][p + s]);
            let outside = |q: usize| !grid.contains(q) || !merged.together(p, q);
            let below = if outside(p - s) { (-low).max(0.0) } else { 0.0 };
            let above = if outside(p + s) { high.max(0.0) } else { 0.0 };
            below + above
        };
        let of_group = |k: usize| {
            let cells = merged.cells(k).iter().map(|&p| p as usize);
            let (out, room) = cells.fold((0.0, 0.0), |(out, room), p| {
                (out + grid.active_axes().map(|axis| leaves(p, axis)).sum::<f64>(), room + capacity[p])
            });
            if out > 0.0 { out / room.max(LEAST) } else { 0.0 }
        };
        (0..merged.count()).map(of_group).fold(0.0, crate::rows::larger)
    }
}

/// Groups with less capacity than this, in cells, do not make steps shorter: what they cannot pay is shared with no one.
const LEAST: f64 = 0.05;
