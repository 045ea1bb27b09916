//! The pressure equation as a network of conductances, and coarser networks that behave like it.
//!
//! Σ β (p_c − p_n) over the faces of a cell is the current into a resistor network: cells are nodes, face coefficients
//! conductances. What lies outside the box is a node at zero, or, along periodic axes, the other end. A coarse network joins
//! blocks of 2 × 2 × 2 cells (one cell at an odd end). Between the middles of two blocks there are four paths, each half a
//! face in the one block, the face between them, and half a face in the other; in series these conduct s, and a for the
//! face alone. The truth for a block that holds both fluids lies between; we take √(s a), summed over the paths.
//! A cell that hangs on its neighbours' blocks more than on its own joins these to each other, which no path through its own block sees. There
//! the coarse network would conduct too little, find too much, and turn the cycle against its residual: such paths take a part of a − √(s a) more.
//!
//! A fine cell takes its value from its block C and from the neighbour D of the block on its side along each axis,
//! p = p_C + Σ w (p_D − p_C), w being the part of the path's resistance that lies before the cell: ¼ in a uniform fluid, and
//! flux is continuous across a jump. \[Ours; compare the operator-dependent interpolation of ABDP81.\]

use crate::rows::Rows;

/// The weights of neighbouring blocks add up to so much in a uniform fluid.
const UNIFORM_WEIGHTS: f32 = 0.75;

/// How much of a loose cell's face is seen alone. With all of it torn interfaces take a third fewer iterations and bubbles twice as many; with
/// this much the cycle is positive on all of 120 torn interfaces and bubbles take three more.
const FACE_SHARE: f32 = 0.1;

/// Conductances of the faces of a box of cells, with one layer of ghosts around it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Network {
    cells: [usize; 3],
    periodic: [bool; 3],
    strides: [usize; 3],
    /// Per axis: of the face between a cell and the one before it. The last face lies in the ghost layer.
    pub(crate) conductance: [Vec<f32>; 3],
}

impl Network {
    pub(crate) fn new(cells: [usize; 3], periodic: [bool; 3]) -> Self {
        let [x, y, z] = cells.map(|n| n + 2);
        let field = || vec![0.0; x * y * z];
        Self { cells, periodic, strides: [1, x, x * y], conductance: [field(), field(), field()] }
    }

    /// A network of blocks, its conductances not yet set.
    pub(crate) fn coarser(&self) -> Self {
        Self::new(self.cells.map(|n| n.div_ceil(2)), self.periodic)
    }

    pub(crate) fn cells(&self) -> [usize; 3] {
        self.cells
    }

    pub(crate) fn periodic(&self) -> [bool; 3] {
        self.periodic
    }

    pub(crate) fn stride(&self, axis: usize) -> usize {
        self.strides[axis]
    }

    pub(crate) fn rows(&self) -> Rows {
        Rows::new(self.cells, 1)
    }

    pub(crate) fn index(&self, [i, j, k]: [usize; 3]) -> usize {
        (i + 1) + (j + 1) * self.strides[1] + (k + 1) * self.strides[2]
    }

    /// Half the resistance inside the block that holds the `i`-th cell along an axis; `p` is the index of that cell. Zero
    /// for a block of one cell and outside the box.
    #[inline(always)]
    fn half_inside(&self, axis: usize, i: isize, p: usize) -> f32 {
        let n = self.cells[axis] as isize;
        let (i, p) = if (0..n).contains(&i) {
            (i, p)
        } else if self.periodic[axis] {
            let wrapped = i.rem_euclid(n);
            (wrapped, (p as isize + (wrapped - i) * self.strides[axis] as isize) as usize)
        } else {
            return 0.0;
        };
        if i & 1 == 1 {
            0.5 * resistance(self.conductance[axis][p])
        } else if i + 1 < n {
            0.5 * resistance(self.conductance[axis][p + self.strides[axis]])
        } else {
            0.0
        }
    }

    /// Sets the conductances from those of the network of the cells in the blocks.
    pub(crate) fn join(&mut self, fine: &Self) {
        let mut conductance = std::mem::take(&mut self.conductance);
        for (axis, field) in conductance.iter_mut().enumerate() {
            let mut extent = self.cells;
            extent[axis] += 1;
            let rows = Rows::new(self.cells, 1).reaching(extent);
            rows.each([field], |row, [out]| {
                let [j, k] = rows.coordinates(&row);
                for (i, out) in out.iter_mut().enumerate() {
                    *out = fine.joined(axis, [i, j, k]);
                }
            });
        }
        self.conductance = conductance;
    }

    /// Conductance between a block and the one before it: four paths side by side.
    fn joined(&self, axis: usize, block: [usize; 3]) -> f32 {
        let mut first = block.map(|b| 2 * b);
        first[axis] = first[axis].min(self.cells[axis]);
        let (s, t) = ((axis + 1) % 3, (axis + 2) % 3);
        let mut sum = 0.0;
        for b in first[t]..(first[t] + 2).min(self.cells[t]) {
            for a in first[s]..(first[s] + 2).min(self.cells[s]) {
                let mut cell = first;
                (cell[s], cell[t]) = (a, b);
                sum += self.path(axis, cell);
            }
        }
        sum
    }

    /// Conductance of one path through the face before a cell.
    fn path(&self, axis: usize, cell: [usize; 3]) -> f32 {
        let p = self.index(cell);
        let face = self.conductance[axis][p];
        if face <= 0.0 {
            return 0.0;
        }
        let i = cell[axis] as isize;
        let before = self.half_inside(axis, i - 1, p - self.strides[axis]);
        let behind = self.half_inside(axis, i, p);
        let halves = 0.5 * f32::from(u8::from(before > 0.0) + u8::from(behind > 0.0));
        let alone = face / (1.0 + halves);
        let both = (alone / (before + 1.0 / face + behind)).sqrt();
        let loose = self.looseness(axis, cell, 0).max(self.looseness(axis, cell, 1));
        both + FACE_SHARE * loose * (alone - both)
    }

    /// How far the cell behind (0) or before (1) a face hangs on neighbouring blocks more than on its own, from 0 to 1.
    #[inline(always)]
    fn looseness(&self, axis: usize, mut cell: [usize; 3], before: usize) -> f32 {
        let n = self.cells[axis];
        if (before..n + before).contains(&cell[axis]) {
            cell[axis] -= before;
        } else if self.periodic[axis] {
            cell[axis] = (cell[axis] + n - before) % n;
        } else {
            return 0.0;
        }
        let p = self.index(cell);
        let sum: f32 = (0..3).map(|axis| self.weight(axis, cell[axis] as isize, p)).sum();
        ((sum - UNIFORM_WEIGHTS) / (1.0 - UNIFORM_WEIGHTS)).clamp(0.0, 1.0)
    }

    /// Weights of the neighbouring blocks along the three axes for one cell.
    #[inline(always)]
    pub(crate) fn weights(&self, cell: [usize; 3]) -> [f32; 3] {
        let p = self.index(cell);
        let mut w: [f32; 3] = std::array::from_fn(|axis| self.weight(axis, cell[axis] as isize, p));
        let sum: f32 = w.iter().sum();
        if sum > 1.0 {
            w = w.map(|w| w / sum);
        }
        w
    }

    #[inline(always)]
    fn weight(&self, axis: usize, i: isize, p: usize) -> f32 {
        let s = self.strides[axis];
        // The face towards the neighbouring block, and the nearest cell of that block.
        let (face, j, q) = if i & 1 == 0 { (p, i - 1, p - s) } else { (p + s, i + 1, p + s) };
        let own = self.half_inside(axis, i, p);
        let conductance = self.conductance[axis][face];
        if conductance <= 0.0 || own == 0.0 {
            return 0.0;
        }
        own / (own + 1.0 / conductance + self.half_inside(axis, j, q))
    }

    /// Whether the conductances around a cell differ by more than a factor of two: an interface passes.
    #[inline(always)]
    pub(crate) fn jumps(&self, p: usize) -> bool {
        let (mut least, mut most) = (f32::INFINITY, 0.0f32);
        for (axis, field) in self.conductance.iter().enumerate() {
            for g in [field[p], field[p + self.strides[axis]]] {
                most = if g > most { g } else { most };
                least = if g > 0.0 && g < least { g } else { least };
            }
        }
        most > 2.0 * least
    }
}

/// A face that is closed counts for nothing: the part of the block before it is then the whole block.
#[inline(always)]
fn resistance(conductance: f32) -> f32 {
    if conductance > 0.0 { 1.0 / conductance } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uniform(cells: [usize; 3], periodic: [bool; 3], g: f32) -> Network {
        let mut network = Network::new(cells, periodic);
        for axis in 0..3 {
            for p in 0..network.conductance[axis].len() {
                let c = [p % network.strides[1], p / network.strides[1] % (cells[1] + 2), p / network.strides[2]];
                let inside = (0..3).all(|d| c[d] >= 1 && c[d] <= cells[d]);
                let wall = !periodic[axis] && c[axis] == 1;
                let last = periodic[axis] && c[axis] == cells[axis] + 1;
                network.conductance[axis][p] = if (inside || last) && !wall { g } else { 0.0 };
            }
        }
        network
    }

    #[test]
    fn a_uniform_network_stays_uniform() {
        let fine = uniform([8, 6, 4], [false, true, false], 3.0);
        let mut coarse = fine.coarser();
        coarse.join(&fine);
        assert_eq!(coarse.cells(), [4, 3, 2]);
        let at = |axis: usize, c| coarse.conductance[axis][coarse.index(c)];
        // Four paths, twice as long.
        assert_eq!((at(0, [1, 1, 1]), at(1, [1, 2, 0]), at(2, [3, 0, 1])), (6.0, 6.0, 6.0));
        assert_eq!((at(0, [0, 1, 1]), at(1, [1, 0, 0])), (0.0, 6.0), "wall and periodic end");
        assert_eq!(at(1, [1, 3, 0]), 6.0, "the last face is the first");
        assert_eq!(fine.weights([3, 2, 1]), [0.25; 3]);
        assert_eq!(fine.weights([0, 0, 3]), [0.0, 0.25, 0.0]);
    }

    #[test]
    fn odd_ends_are_blocks_of_one() {
        let fine = uniform([5, 1, 1], [false; 3], 1.0);
        let mut coarse = fine.coarser();
        coarse.join(&fine);
        assert_eq!(coarse.cells(), [3, 1, 1]);
        let at = |i| coarse.conductance[0][coarse.index([i, 0, 0])];
        assert!((at(1) - 0.5).abs() < 1e-6 && (at(2) - 1.0 / 1.5).abs() < 1e-6);
        assert!((fine.weights([3, 0, 0])[0] - 1.0 / 3.0).abs() < 1e-6);
        assert_eq!(fine.weights([4, 0, 0]), [0.0; 3]);
    }

    #[test]
    fn a_jump_keeps_the_flux() {
        // Light up to cell 2, heavy beyond.
        let mut fine = uniform([8, 1, 1], [false; 3], 1.0);
        for i in 3..8 {
            let p = fine.index([i, 0, 0]);
            fine.conductance[0][p] = 1e-3;
        }
        let w = fine.weights([2, 0, 0])[0];
        // From the middle of block 1 (half of 1000) over 1 to the middle of block 0 (half of 1).
        assert!((w - 500.0 / 501.5).abs() < 1e-5);
        assert!(fine.jumps(fine.index([2, 0, 0])) && !fine.jumps(fine.index([5, 0, 0])));
    }
}
