//! Where the content of a cell goes when a solid closes the ways that it had.
//!
//! A cell that a moving solid closes may still hold what did not leave in time, a film thinner than a sliver. It goes to the cell that it was
//! open to, on the same side of the solid, and the next projection makes room for it. Kept in place, it would be missing from the level, and
//! come out on the other side of a shell that has passed.

use crate::apertures::Cut;
use crate::boundary::Boundary;
use crate::grid::Grid;
use crate::merge::neighbour;
use crate::state::State;

/// Cells that are looked at for one that stays open.
const MAX_CELLS_TRIED: usize = 32;

/// Open faces of the small cells of an interval, in the order of the grid; bit 2·axis + end.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ways {
    cells: Vec<(u32, u8)>,
    tried: Vec<usize>,
}

/// The six faces of a cell as axis and end.
const FACES: [[usize; 2]; 6] = [[0, 0], [0, 1], [1, 0], [1, 1], [2, 0], [2, 1]];

/// The grid as solids cut it.
#[derive(Clone, Copy)]
pub(crate) struct Cells<'a> {
    pub(crate) grid: &'a Grid,
    pub(crate) boundary: &'a Boundary,
    pub(crate) cut: &'a Cut,
}

impl Cells<'_> {
    /// The cell across an open face; none beyond sides.
    fn across(&self, p: usize, [axis, end]: [usize; 2]) -> Option<usize> {
        neighbour(self.grid, self.boundary, p, axis, end)
    }

    fn is_open(&self, p: usize, [axis, end]: [usize; 2]) -> bool {
        self.cut.faces[axis][p + end * self.grid.stride(axis)] > 0.0
    }

    fn mask(&self, p: usize) -> u8 {
        let open = |face: [usize; 2]| self.is_open(p, face) && self.across(p, face).is_some();
        FACES.iter().enumerate().map(|(bit, &face)| u8::from(open(face)) << bit).sum()
    }
}

impl Ways {
    /// Notes the ways of the small cells before solids move on. Others are too large to be closed in an interval.
    pub(crate) fn note(&mut self, cells: &Cells) {
        let merged = &cells.cut.merged;
        self.cells.clear();
        let small = (0..merged.count()).flat_map(|k| merged.cells(k));
        self.cells.extend(small.map(|&p| (p, cells.mask(p as usize))));
        self.cells.sort_unstable();
    }

    fn mask_of(&self, p: usize) -> Option<u8> {
        self.cells.binary_search_by_key(&(p as u32), |cell| cell.0).ok().map(|at| self.cells[at].1)
    }

    /// Whether one of the ways of a cell is still open.
    fn keeps_one(&self, cells: &Cells, p: usize) -> bool {
        let Some(mask) = self.mask_of(p) else { return cells.cut.passes(cells.grid, cells.boundary, p) };
        FACES.iter().enumerate().any(|(bit, &face)| mask >> bit & 1 == 1 && cells.is_open(p, face))
    }

    /// Empties the cells whose ways are all closed now into the nearest that keeps one, along the ways that there were.
    pub(crate) fn hand_over(&mut self, cells: &Cells, state: &mut State) {
        for at in 0..self.cells.len() {
            let p = self.cells[at].0 as usize;
            let room = state.capacity[p];
            if room <= 0.0 || self.keeps_one(cells, p) {
                continue;
            }
            let Some(home) = self.home(cells, p) else { continue };
            let liquid = room * state.volume_fraction[p] + state.capacity[home] * state.volume_fraction[home];
            state.capacity[home] += room;
            state.volume_fraction[home] = (liquid / state.capacity[home]).clamp(0.0, 1.0);
            state.capacity[p] = 0.0;
        }
    }

    /// The nearest cell along ways that there were which keeps one.
    fn home(&mut self, cells: &Cells, p: usize) -> Option<usize> {
        self.tried.clear();
        self.tried.push(p);
        let mut next = 0;
        while next < self.tried.len() && self.tried.len() < MAX_CELLS_TRIED {
            let here = self.tried[next];
            next += 1;
            let mask = self.mask_of(here).unwrap_or(0);
            let ways = FACES.iter().enumerate().filter(|(bit, _)| mask >> bit & 1 == 1);
            for q in ways.filter_map(|(_, &face)| cells.across(here, face)) {
                if self.keeps_one(cells, q) {
                    return Some(q);
                }
                if !self.tried.contains(&q) {
                    self.tried.push(q);
                }
            }
        }
        None
    }
}
