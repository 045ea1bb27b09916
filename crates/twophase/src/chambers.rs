//! Parts of the box that solids shut off, and the gas in them.
//!
//! Where a closed region holds gas, the gas gives way when solids press on it (see `regions`), and its pressure follows from how much of it
//! there is, at one temperature:
//!
//! ```text
//! π = p₀ (V₀/V − 1),
//! ```
//!
//! V₀ being the volume that it had under the air outside, which is kept in a ledger. Where regions part or join from one interval of the solids
//! to the next, cells take along what is theirs; a region that opens has the pressure of the air outside at once, and what it held too much
//! or too little of is added up and reported. A region without gas keeps its volume: what its walls withhold is reported.

use crate::connected_regions::{Regions, Rooms};
use crate::flow::Flow;
use meniscus_core::StepReport;

/// Pressure p₀ of the air outside \[Pa\].
pub const ATMOSPHERE: f64 = 101_325.0;

/// Gas below this part of a cell is round-off of what liquid leaves.
const LEAST_GAS: f64 = 1e-6;

/// What solids have shut off.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Chamber {
    /// Fluids in it \[m³\].
    pub volume: f64,
    /// Gas in it \[m³\].
    pub gas: f64,
    /// Pressure of that gas above the air outside \[Pa\], zero without gas.
    pub pressure: f64,
    /// What the solids would give or take at the end of their interval, and cannot yet or, without gas, ever \[m³\].
    pub withheld: f64,
}

impl Flow {
    /// Closed regions between solids, in the order of the grid.
    #[must_use]
    pub fn chambers(&self) -> Vec<Chamber> {
        let Some(cut) = self.apertures.cut() else { return Vec::new() };
        let unit = self.grid.spacing().powi(3);
        let rooms = self.rooms(&cut.capacity);
        let held = self.regions.held(&self.grid, &rooms);
        let amounts = self.state.chambers.iter().copied().map(Some).chain(std::iter::repeat(None));
        let chamber = |(held, amount): (&Held, Option<f64>)| {
            let pressure = pressure(amount.unwrap_or(held.gas), held.gas);
            Chamber { volume: held.room * unit, gas: held.gas * unit, pressure, withheld: held.change * unit }
        };
        let closed = held.iter().zip(amounts).filter(|(held, _)| held.closed);
        closed.map(chamber).collect()
    }

    fn rooms<'a>(&'a self, last: &'a [f64]) -> Rooms<'a> {
        Rooms { capacity: &self.state.capacity, last, fraction: &self.state.volume_fraction }
    }

    /// Writes down how much gas closed regions hold, if nothing is known of them yet: then it has the pressure of the air outside.
    pub(crate) fn note_gas(&mut self) {
        let Some(cut) = self.apertures.cut() else { return };
        let count = self.regions.count();
        if self.state.chambers.len() != count && self.moves() {
            let held = self.regions.held(&self.grid, &self.rooms(&cut.capacity));
            self.state.chambers = held.iter().map(|held| held.gas).collect();
        }
    }

    /// How dense the gas of each region is, that of the air outside being one; before solids move on.
    pub(crate) fn gas_densities(&self) -> Vec<f64> {
        let Some(cut) = self.apertures.cut() else { return Vec::new() };
        let held = self.regions.held(&self.grid, &self.rooms(&cut.capacity));
        let density = |(held, amount): (&Held, &f64)| {
            if held.closed && held.gas > LEAST_GAS { amount / held.gas } else { 1.0 }
        };
        held.iter().zip(&self.state.chambers).map(density).collect()
    }

    /// Deals the gas out to the regions that there are now, given those before with the densities in them.
    pub(crate) fn deal_gas(&mut self, before: &Regions, densities: &[f64]) {
        let Self { grid, regions, state, .. } = self;
        let mut amounts = vec![0.0; regions.count()];
        let mut dropped = state.chambers.first().copied().unwrap_or(0.0);
        for p in grid.rows().iter().flat_map(|row| row.start..row.start + row.len) {
            let now = regions.label(p);
            let density = densities.get(before.label(p)).copied().unwrap_or(1.0);
            let gas = state.capacity[p] * (1.0 - state.volume_fraction[p]);
            if regions.is_closed(now) {
                amounts[now] += density * gas;
            } else {
                dropped += (density - 1.0) * gas;
            }
        }
        if let Some(rest) = amounts.first_mut() {
            *rest = dropped;
        }
        state.chambers = amounts;
    }

    /// Gas that chambers held beyond what fits into them under the air outside when they opened, all together since the start \[m³\]; negative if
    /// it was thinner. It is gone: the air outside is not heavier for it.
    #[must_use]
    pub fn dropped_gas(&self) -> f64 {
        self.state.chambers.first().copied().unwrap_or(0.0) * self.grid.spacing().powi(3)
    }

    /// Pressures in closed regions are known up to a constant: that of the gas tells it.
    pub(crate) fn press_gas(&mut self) {
        let Self { grid, apertures, regions, state, .. } = self;
        let Some(cut) = apertures.cut() else { return };
        if state.chambers.is_empty() {
            return;
        }
        let rooms = Rooms { capacity: &state.capacity, last: &cut.capacity, fraction: &state.volume_fraction };
        let held = regions.held_with(grid, &rooms, |p| state.pressure[p]);
        let shift = |(held, amount): (&Held, &f64)| {
            let known = held.closed && held.gas > LEAST_GAS;
            if known { pressure(*amount, held.gas) - held.weighted / held.gas } else { 0.0 }
        };
        let shifts: Vec<f64> = held.iter().zip(&state.chambers).map(shift).collect();
        if shifts.iter().any(|shift| *shift != 0.0) {
            grid.rows().each([&mut state.pressure], |row, [values]| {
                for (i, value) in values.iter_mut().enumerate() {
                    *value += shifts.get(regions.label(row.start + i)).copied().unwrap_or(0.0);
                }
            });
        }
    }

    /// Notes chambers and what passed the sides.
    pub(crate) fn note_ledger(&self, report: &mut StepReport) {
        let [let_in, let_out] = self.passed_sides();
        report.count("liquid let in [m3]", let_in);
        report.count("liquid let out [m3]", let_out);
        if self.moves() {
            let chambers = self.chambers();
            let most = |value: fn(&Chamber) -> f64| chambers.iter().map(value).fold(0.0, f64::max);
            report.count("liquid in closed cells [m3]", self.hidden_volume());
            report.count("closed chambers", chambers.len() as f64);
            report.count("gas dropped by chambers that opened [m3]", self.dropped_gas());
            report.count("highest gas pressure [Pa]", most(|chamber| chamber.pressure));
            // Beyond two parts in a hundred it is the animation that is impossible.
            report.count(
                "largest part withheld by walls",
                most(|c| if c.gas > 0.0 { 0.0 } else { c.withheld.abs() / c.volume.max(f64::MIN_POSITIVE) }),
            );
        }
    }
}

fn pressure(amount: f64, gas: f64) -> f64 {
    if gas > LEAST_GAS { ATMOSPHERE * (amount / gas - 1.0) } else { 0.0 }
}

/// Sums over a region, in cells.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Held {
    pub(crate) closed: bool,
    /// κ, κ(1 − F), and a field weighted with the latter.
    pub(crate) room: f64,
    pub(crate) gas: f64,
    pub(crate) weighted: f64,
    /// κ at the end of the interval − κ.
    pub(crate) change: f64,
}

impl Regions {
    /// What closed regions hold; zero for those with open sides.
    pub(crate) fn held(&self, grid: &crate::grid::Grid, rooms: &Rooms) -> Vec<Held> {
        self.held_with(grid, rooms, |_| 0.0)
    }

    fn held_with(&self, grid: &crate::grid::Grid, rooms: &Rooms, field: impl Fn(usize) -> f64) -> Vec<Held> {
        let mut all: Vec<Held> =
            (0..self.count()).map(|label| Held { closed: self.is_closed(label), ..Held::default() }).collect();
        if all.iter().any(|held| held.closed) {
            for p in grid.rows().iter().flat_map(|row| row.start..row.start + row.len) {
                let held = &mut all[self.label(p)];
                if held.closed {
                    held.room += rooms.capacity[p];
                    held.gas += rooms.gas(p);
                    held.weighted += rooms.gas(p) * field(p);
                    held.change += rooms.last[p] - rooms.capacity[p];
                }
            }
        }
        all
    }
}
