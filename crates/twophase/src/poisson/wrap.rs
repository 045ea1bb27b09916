//! Ghosts of a level beyond periodic sides.

use super::level::Level;
use super::network::Network;

/// Which ghost takes its value from where.
#[derive(Debug, Clone, Default)]
pub(super) struct Wraps {
    /// Per colour of the ghost: its index, colour of the source, index of the source.
    packed: [Vec<Copy>; 2],
    /// In natural order: ghost, source.
    natural: Vec<[u32; 2]>,
}

#[derive(Debug, Clone, Copy)]
struct Copy {
    to: u32,
    color: u8,
    from: u32,
}

impl Wraps {
    pub(super) fn new(level: &Level, network: &Network) -> Self {
        let mut wraps = Self::default();
        for axis in (0..3).filter(|&axis| network.periodic()[axis]) {
            let n = level.cells[axis] as isize;
            for (ghost, source) in [(-1, n - 1), (n, 0)] {
                wraps.add_layer(level, axis, [ghost, source]);
            }
        }
        wraps
    }

    fn add_layer(&mut self, level: &Level, axis: usize, [ghost, source]: [isize; 2]) {
        let (s, t) = ((axis + 1) % 3, (axis + 2) % 3);
        for b in 0..level.cells[t] as isize {
            for a in 0..level.cells[s] as isize {
                let mut cell = [a; 3];
                (cell[axis], cell[t]) = (ghost, b);
                let (color, to) = packed_index(level, cell);
                let natural = natural_index(level, cell);
                cell[axis] = source;
                let (source_color, from) = packed_index(level, cell);
                self.packed[color].push(Copy { to, color: source_color as u8, from });
                self.natural.push([natural, natural_index(level, cell)]);
            }
        }
    }

    /// Fills the ghosts of a field that red cells alone have.
    pub(super) fn fill_red(&self, field: &mut [f32]) {
        for copy in &self.packed[0] {
            field[copy.to as usize] = if copy.color == 0 { field[copy.from as usize] } else { 0.0 };
        }
    }
}

impl Level {
    /// Fills the ghosts of the unknown of a colour.
    pub(super) fn wrap_unknown(&mut self, color: usize) {
        for copy in &self.wraps.packed[color] {
            self.x[color][copy.to as usize] = self.x[usize::from(copy.color)][copy.from as usize];
        }
    }

    /// Fills the ghosts of the field in natural order.
    pub(super) fn wrap_natural(&mut self) {
        for &[to, from] in &self.wraps.natural {
            self.natural[to as usize] = self.natural[from as usize];
        }
    }
}

/// Colour and index of a cell, which may be a ghost.
fn packed_index(level: &Level, [i, j, k]: [isize; 3]) -> (usize, u32) {
    let color = (i + j + k).rem_euclid(2);
    let s = (j + k + color).rem_euclid(2);
    let m = (i - s) / 2;
    let [sy, sz] = level.strides.map(|s| s as isize);
    (color as usize, (1 + m + (j + 1) * sy + (k + 1) * sz) as u32)
}

fn natural_index(level: &Level, [i, j, k]: [isize; 3]) -> u32 {
    let [x, y, _] = level.cells.map(|n| n as isize + 2);
    ((i + 1) + (j + 1) * x + (k + 1) * x * y) as u32
}
