//! The clock of the solids.
//!
//! Time is cut into intervals \[t_a, t_b\] in which no solid moves farther than a quarter of a cell; several steps of the fluids fit into
//! one. Over an interval faces have one open part, and capacities go to those at its end,
//!
//! ```text
//! κ̇ = (κ_b − κ)/(t_b − t),      Σ ±A u = −h κ̇,
//! ```
//!
//! κ being what the flow has reached. The divergence is the change of room, not the velocity of a mesh: no liquid is made or lost, whatever
//! the solid does. The projection prepares the velocity of the *next* step, so that the next interval is loaded before it.

use crate::connected_regions::Regions;
use crate::flow::Flow;
use crate::ways::Cells;
use glam::DVec3;
use serde::{Deserialize, Serialize};

/// Steps that fit into an interval when solids are slow.
const STEPS: f64 = 5.0;

/// An interval is over when less than this part of the last step is left of it: the next one starts there, and no step is spent on a rest. What is left of its change of room is paid back in the next.
const OVER: f64 = 0.6;

/// Intervals are reckoned with steps no longer than this \[s\]: before anything moves nothing tells how long they will be.
pub(crate) const LONGEST: f64 = 0.01;

/// Round-off of times, in parts of an interval.
const NOISE: f64 = 1e-9;

/// What a cell holds that solids have closed on all sides: it comes back when the cell opens.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Hidden {
    /// The cell.
    pub cell: u32,
    /// Its capacity when it was closed, dimensionless.
    pub capacity: f64,
    /// Liquid in it, in cells.
    pub liquid: f64,
}

impl Flow {
    /// Whether any solid moves.
    pub(crate) fn moves(&self) -> bool {
        self.bodies.as_ref().is_some_and(crate::bodies::Bodies::moves)
    }

    /// Time left in the interval \[s\]; without end if nothing moves.
    pub(crate) fn time_left(&self) -> f64 {
        if self.moves() { self.state.interval[1] - self.state.time } else { f64::INFINITY }
    }

    /// How fast room is made: κ̇ times this is κ_b − κ \[s\]. Solids at rest pay back at once what the last projection left.
    pub(crate) fn payback(&self, dt: f64) -> f64 {
        if self.moves() { self.time_left() } else { dt }
    }

    /// The part of the way to the end of the interval that a step of `dt` goes.
    pub(crate) fn part_of_interval(&self, dt: f64) -> f64 {
        (dt / self.payback(dt)).min(1.0)
    }

    /// Lets the time of the solids pass and loads the next interval if this one is over.
    pub(crate) fn move_solids(&mut self, dt: f64) {
        self.state.time += dt;
        if !self.moves() {
            return;
        }
        let [start, end] = self.state.interval;
        let left = end - self.state.time;
        let at_end = left.abs() <= NOISE * (end - start);
        if at_end {
            self.state.time = end;
        }
        if at_end || left <= OVER * dt {
            // Not from this step: one that a frame cut short would make the next shorter still.
            self.load_interval(STEPS * self.step_of_fluids().min(LONGEST));
        }
    }

    /// Loads the interval that starts now.
    pub(crate) fn load_interval(&mut self, longest: f64) {
        let Self { bodies: Some(bodies), grid, state, .. } = self else { return };
        let from = state.time;
        state.interval = [from, bodies.interval_end(grid, from, longest)];
        self.note_ways();
        let (before, densities) = (self.regions.clone(), self.gas_densities());
        self.cut_now();
        self.hand_over();
        self.hide();
        self.deal_gas(&before, &densities);
        self.apertures.cover(&mut self.state.volume_fraction);
        self.boundary.fill_cells(&self.grid, &mut self.state.volume_fraction);
    }

    /// Cuts the grid for the interval of the state. The same whatever was before.
    pub(crate) fn cut_now(&mut self) {
        let up = self.upright();
        let Self { bodies: Some(bodies), grid, boundary, apertures, state, .. } = self else { return };
        if bodies.moves() {
            bodies.go(grid, state.interval);
        }
        let Some(cut) = apertures.cut_mut() else { return };
        let [first, last] = &bodies.nodes;
        cut.open(grid, boundary, [first, last]);
        cut.cover(grid, boundary, up);
        cut.merge(grid, boundary, up, first);
        if bodies.moves() {
            for axis in 0..3 {
                cut.set_closed_velocities(grid, axis, |x| bodies.velocity(x));
            }
        }
        for axis in 0..3 {
            cut.set_friction(grid, axis, |x| bodies.slips_at(x));
            boundary.repeat_faces(grid, axis, &mut cut.friction[axis]);
        }
        if let Ok(regions) = Regions::new(grid, boundary, apertures) {
            self.regions = regions;
        }
    }

    /// The axis along which gravity is strongest.
    pub(crate) fn upright(&self) -> usize {
        let gravity: DVec3 = self.setup.gravity.abs();
        (0..3).max_by(|&a, &b| gravity[a].total_cmp(&gravity[b])).unwrap_or(1)
    }

    fn note_ways(&mut self) {
        let Self { grid, boundary, apertures, work, .. } = self;
        if let Some(cut) = apertures.cut() {
            work.ways.note(&Cells { grid, boundary, cut });
        }
    }

    fn hand_over(&mut self) {
        let Self { grid, boundary, apertures, state, work, .. } = self;
        if let Some(cut) = apertures.cut() {
            work.ways.hand_over(&Cells { grid, boundary, cut }, state);
        }
    }

    /// Puts aside what closed cells hold, and brings back what cells hold that are open again.
    fn hide(&mut self) {
        let Self { grid, boundary, apertures, state, .. } = self;
        let Some(cut) = apertures.cut() else { return };
        state.hidden.retain(|hidden| {
            let p = hidden.cell as usize;
            let opens = cut.passes(grid, boundary, p);
            if opens {
                // A neighbour that closes may have given it something already.
                let liquid = hidden.liquid + state.capacity[p] * state.volume_fraction[p];
                state.capacity[p] += hidden.capacity;
                state.volume_fraction[p] = (liquid / state.capacity[p]).clamp(0.0, 1.0);
            }
            !opens
        });
        for p in grid.rows().iter().flat_map(|row| row.start..row.start + row.len) {
            let capacity = state.capacity[p];
            if capacity > 0.0 && !cut.passes(grid, boundary, p) {
                let liquid = capacity * state.volume_fraction[p];
                state.hidden.push(Hidden { cell: p as u32, capacity, liquid });
                state.capacity[p] = 0.0;
            }
        }
        state.hidden.sort_unstable_by_key(|hidden| hidden.cell);
        boundary.fill_cells(grid, &mut state.capacity);
    }
}
