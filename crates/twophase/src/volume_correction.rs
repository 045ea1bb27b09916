//! The ledger of the liquid.
//!
//! The sweeps keep the volume up to the dust that is swept away. It is far below what can be seen, but it adds up; so what must be there is
//! written down, and what is missing is given back to the mixed cells, each in proportion to F(1 − F). What is there is what can be seen and what closed
//! cells hide.

use crate::grid::Grid;
use crate::interface::{DUST, Interface};
use crate::rows::dot;
use crate::state::State;
use meniscus_core::par;

/// Σ κF over all cells, and what is hidden: the liquid in cells.
pub(crate) fn count(grid: &Grid, state: &State, sums: &mut Vec<f64>) -> f64 {
    let visible =
        grid.rows().sum::<f64, 0>([], sums, |row, []| dot(row.of(&state.volume_fraction), row.of(&state.capacity)));
    visible + state.hidden.iter().map(|hidden| hidden.liquid).sum::<f64>()
}

/// Adds `missing` cells of liquid to the mixed cells; what finds no room there is still missing after the next step.
pub(crate) fn restore(capacity: &[f64], interface: &Interface, fraction: &mut [f64], missing: f64) {
    let cells = interface.cells();
    let room = |f: f64| f * (1.0 - f);
    let total = par::sum(cells.len(), |k| {
        let p = cells[k] as usize;
        capacity[p] * room(fraction[p])
    });
    if total <= 0.0 {
        return;
    }
    // More than this would fill or empty a cell.
    let share = (missing / total).clamp(-0.5, 0.5);
    for &p in cells {
        let f = &mut fraction[p as usize];
        *f += share * room(*f);
        *f = f.clamp(DUST, 1.0 - DUST);
    }
}
