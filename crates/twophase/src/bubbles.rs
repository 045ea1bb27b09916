//! Gas enclosed in liquid.

use crate::connected_regions::flood;
use crate::flow::Flow;

/// Bubbles and pockets of gas.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Bubbles {
    /// How many.
    pub count: usize,
    /// Their volume together \[m³\].
    pub volume: f64,
}

impl Flow {
    /// The regions of gas that are not connected with an open side; if no gas is, all but the largest.
    ///
    /// Gas is connected through faces between cells that hold more gas than liquid. The rest of a bubble, in cells with more
    /// liquid around it, counts too.
    #[must_use]
    pub fn bubbles(&self) -> Bubbles {
        let Self { grid, boundary, apertures, state, .. } = self;
        let fraction = &state.volume_fraction;
        let (mut label, regions) = flood(grid, boundary, apertures, |p| state.capacity[p] > 0.0 && fraction[p] < 0.5);
        let outside = |number: usize| number > 0 && regions[number].open;
        let air = if (0..regions.len()).any(outside) {
            None
        } else {
            (1..regions.len()).max_by_key(|&number| regions[number].cells)
        };
        let is_bubble = |number: u32| number > 0 && !regions[number as usize].open && Some(number as usize) != air;
        let mut gas = 0.0;
        for p in grid.rows().iter().flat_map(|row| row.start..row.start + row.len) {
            if state.capacity[p] <= 0.0 {
                continue;
            }
            if label[p] == 0 && fraction[p] < 1.0 {
                label[p] = self.nearby_region(p, &label);
            }
            if is_bubble(label[p]) {
                gas += state.capacity[p] * (1.0 - fraction[p]);
            }
        }
        let count = (1..regions.len() as u32).filter(|&number| is_bubble(number)).count();
        Bubbles { count, volume: gas * grid.spacing().powi(3) }
    }

    /// The first region of gas among the cells that share a corner with this one; zero if there is none.
    fn nearby_region(&self, p: usize, label: &[u32]) -> u32 {
        let Self { grid, state, .. } = self;
        let around = (0..27).map(|k: usize| [k % 3, k / 3 % 3, k / 9]);
        let cells = around.map(|at| p + at[0] + at[1] * grid.stride(1) + at[2] * grid.stride(2));
        let middle = 1 + grid.stride(1) + grid.stride(2);
        let gas = cells.map(|q| q - middle).filter(|&q| state.volume_fraction[q] < 0.5).map(|q| label[q]);
        gas.into_iter().find(|&number| number > 0).unwrap_or(0)
    }
}
