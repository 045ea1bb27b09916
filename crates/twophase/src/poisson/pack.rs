//! From a network in natural order to a level with its colours apart.

use super::level::{Band, Level};
use super::network::Network;
use super::wrap::Wraps;
use crate::rows::Rows;
use fearless_simd::Level as Instructions;

impl Level {
    pub(super) fn new(network: &Network, instructions: Instructions) -> Self {
        let cells = network.cells();
        let half = cells[0].div_ceil(2);
        let [w, y, z] = [half + 2, cells[1] + 2, cells[2] + 2];
        let field = || vec![0.0; w * y * z];
        let mut level = Self {
            cells,
            half,
            strides: [w, w * y],
            instructions,
            low: std::array::from_fn(|_| std::array::from_fn(|_| field())),
            inverse: [field(), field()],
            x: [field(), field()],
            b: [field(), field()],
            residual: field(),
            weight: std::array::from_fn(|_| field()),
            band: Default::default(),
            natural: vec![0.0; network.conductance[0].len()],
            wraps: Wraps::default(),
        };
        level.wraps = Wraps::new(&level, network);
        level
    }

    /// Takes over the conductances of a network; `marks` is memory for two bytes per cell.
    pub(super) fn pack(&mut self, network: &Network, marks: &mut [Vec<u8>; 2]) {
        self.pack_conductances(network);
        self.pack_inverses();
        self.pack_weights(network);
        self.find_bands(network, marks);
    }

    fn pack_conductances(&mut self, network: &Network) {
        let n = self.cells[0];
        // One more on each side: the last faces belong to ghosts.
        let rows = self.rows().reaching([self.half + 1, self.cells[1] + 1, self.cells[2] + 1]);
        for (color, low) in self.low.iter_mut().enumerate() {
            rows.each(low.each_mut().map(Vec::as_mut_slice), |row, outputs| {
                let s = Self::shift(&rows, &row, color);
                let [j, k] = rows.coordinates(&row);
                let start = network.index([0, j, k]);
                for (output, field) in outputs.into_iter().zip(&network.conductance) {
                    every_second(&field[start..start + n + 1], s, output);
                }
            });
        }
    }

    fn pack_inverses(&mut self) {
        let rows = self.rows();
        let n = self.cells[0];
        for color in 0..2 {
            let mut inverse = std::mem::take(&mut self.inverse[color]);
            rows.each([&mut inverse], |row, [output]| {
                let s = Self::shift(&rows, &row, color);
                let around = self.around(color, &row, s);
                for (m, value) in output.iter_mut().enumerate() {
                    let sum: f32 = around.conductances.iter().map(|g| g[m]).sum();
                    *value = if sum > 0.0 && 2 * m + s < n { 1.0 / sum } else { 0.0 };
                }
            });
            self.inverse[color] = inverse;
        }
    }

    fn pack_weights(&mut self, network: &Network) {
        let rows = self.rows();
        let n = self.cells[0];
        rows.each(self.weight.each_mut().map(Vec::as_mut_slice), |row, [x, y, z]| {
            let s = Self::shift(&rows, &row, 0);
            let [j, k] = rows.coordinates(&row);
            for m in 0..x.len() {
                let i = 2 * m + s;
                [x[m], y[m], z[m]] = if i < n { network.weights([i, j, k]) } else { [0.0; 3] };
            }
        });
        let wraps = &self.wraps;
        self.weight.iter_mut().for_each(|weight| wraps.fill_red(weight));
    }

    /// Lists the cells next to a jump and their neighbours.
    fn find_bands(&mut self, network: &Network, [jumps, near]: &mut [Vec<u8>; 2]) {
        let natural = network.rows();
        // Ghosts are not marked, whatever the memory was used for before.
        for marks in [&mut *jumps, &mut *near] {
            marks.clear();
            marks.resize(network.conductance[0].len(), 0);
        }
        natural.each([jumps], |row, [marks]| {
            for (i, mark) in marks.iter_mut().enumerate() {
                *mark = u8::from(network.jumps(row.start + i));
            }
        });
        let jumps = &*jumps;
        natural.each([near], |row, [marks]| {
            marks.copy_from_slice(row.of(jumps));
            for s in [0, 1, 2].map(|axis| network.stride(axis)) {
                for ((mark, a), b) in marks.iter_mut().zip(row.before(jumps, s)).zip(row.after(jumps, s)) {
                    *mark |= a | b;
                }
            }
        });
        let packed = self.rows();
        let row_count = self.x[0].len() / self.strides[0];
        for (color, band) in self.band.iter_mut().enumerate() {
            band.list(color, [packed, natural], near, row_count);
        }
    }
}

impl Band {
    /// Lists the marked cells of a colour; rows come in packed and in natural order.
    fn list(&mut self, color: usize, [packed, natural]: [Rows; 2], marks: &[u8], row_count: usize) {
        self.cells.clear();
        self.starts.clear();
        for (row, natural) in packed.iter().zip(natural.iter()) {
            self.starts.resize(row.number + 1, self.cells.len() as u32);
            let s = Level::shift(&packed, &row, color);
            let cells = natural.of(marks)[s..].iter().step_by(2).zip(row.start as u32..);
            self.cells.extend(cells.filter(|(mark, _)| **mark != 0).map(|(_, p)| p));
        }
        self.starts.resize(row_count + 1, self.cells.len() as u32);
    }
}

/// The entries s, s + 2, s + 4, … of a row, zero beyond its end.
#[inline(always)]
pub(super) fn every_second(from: &[f32], s: usize, to: &mut [f32]) {
    let (mut m, (pairs, rest)) = (0, from.as_chunks::<2>());
    for (value, pair) in to.iter_mut().zip(pairs) {
        *value = pair[s];
        m += 1;
    }
    for value in &mut to[m..] {
        *value = rest.get(s + 2 * (m - pairs.len())).copied().unwrap_or(0.0);
        m += 1;
    }
}
