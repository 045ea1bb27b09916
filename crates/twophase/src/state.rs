//! What a flow is at one instant, and the memory that a step needs besides.

use crate::facet::Facet;
use crate::grid::Grid;
use crate::interface::Interface;
use crate::interval::Hidden;
use crate::viscous_jump::Bent;
use crate::ways::Ways;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Liquid that has passed a side of the box, in cells, dimensionless.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Passed {
    /// What came in.
    pub inward: f64,
    /// What went out.
    pub outward: f64,
}

/// What a checkpoint holds. Arrays include the ghosts, x runs fastest; see [`Grid`].
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// Volume fraction F of liquid in each cell, dimensionless.
    pub volume_fraction: Vec<f64>,
    /// Signed distance φ of each cell's centre from the interface \[m\], positive in the liquid, known near it.
    pub signed_distance: Vec<f64>,
    /// Velocity on the faces along each axis \[m/s\].
    pub velocity: [Vec<f64>; 3],
    /// Capacity κ of each cell that the flow has reached, dimensionless: 1 without solids, up to what the pressure solver leaves.
    pub capacity: Vec<f64>,
    /// Live pressure in each cell, without that of the fluids at rest \[Pa\].
    pub pressure: Vec<f64>,
    /// The liquid that must be there, in cells, dimensionless.
    pub liquid_cells: f64,
    /// What has passed the low and the high side along each axis.
    pub passed: [[Passed; 2]; 3],
    /// Height of the surface at rest against gravity from the origin \[m\].
    pub still_level: f64,
    /// Time of the solids \[s\], and the interval in which it lies.
    pub time: f64,
    /// See `interval.rs`.
    pub interval: [f64; 2],
    /// What closed cells hold, in the order of the grid.
    pub hidden: Vec<Hidden>,
    /// The volume that the gas of each closed region had under the air outside, in cells; empty as long as nothing moves. The first, that of
    /// what belongs to no region, is what regions have dropped when they opened.
    pub chambers: Vec<f64>,
    /// Steps taken.
    pub steps: u64,
    /// Whether the velocity is half a step ahead and free of divergence; it is not when it was just set.
    pub started: bool,
}

impl State {
    pub(crate) fn new(grid: &Grid) -> Self {
        Self {
            volume_fraction: grid.zeros(),
            signed_distance: grid.zeros(),
            velocity: std::array::from_fn(|_| grid.zeros()),
            capacity: vec![1.0; grid.len()],
            pressure: grid.zeros(),
            liquid_cells: 0.0,
            passed: Default::default(),
            still_level: 0.0,
            time: 0.0,
            interval: [0.0; 2],
            hidden: Vec::new(),
            chambers: Vec::new(),
            steps: 0,
            started: false,
        }
    }

    /// Whether all arrays belong to a grid and hold numbers.
    pub(crate) fn fits(&self, grid: &Grid) -> bool {
        let [u, v, w] = &self.velocity;
        let fields = [&self.volume_fraction, &self.signed_distance, u, v, w, &self.capacity, &self.pressure];
        let cells =
            |hidden: &Hidden| (hidden.cell as usize) < grid.len() && hidden.liquid.is_finite() && hidden.capacity > 0.0;
        fields.iter().all(|field| field.len() == grid.len() && field.iter().all(|value| value.is_finite()))
            && self.volume_fraction.iter().all(|f| (0.0..=1.0).contains(f))
            && self.liquid_cells.is_finite()
            && self.still_level.is_finite()
            && self.time.is_finite()
            && self.interval[0] <= self.interval[1]
            && self.hidden.iter().all(cells)
            && self.chambers.iter().all(|amount| amount.is_finite())
            && self.passed.iter().flatten().all(|passed| passed.inward.is_finite() && passed.outward.is_finite())
    }

    /// Copies another state without allocating.
    pub(crate) fn copy_from(&mut self, other: &Self) {
        copy(&mut self.volume_fraction, &other.volume_fraction);
        copy(&mut self.signed_distance, &other.signed_distance);
        for (to, from) in self.velocity.iter_mut().zip(&other.velocity) {
            copy(to, from);
        }
        copy(&mut self.capacity, &other.capacity);
        copy(&mut self.pressure, &other.pressure);
        self.hidden.clone_from(&other.hidden);
        self.chambers.clone_from(&other.chambers);
        self.passed = other.passed;
        (self.time, self.interval) = (other.time, other.interval);
        (self.liquid_cells, self.still_level) = (other.liquid_cells, other.still_level);
        (self.steps, self.started) = (other.steps, other.started);
    }
}

/// Values that are worth a task of their own.
const PIECE: usize = 1 << 16;

fn copy(to: &mut [f64], from: &[f64]) {
    to.par_chunks_mut(PIECE).zip(from.par_chunks(PIECE)).for_each(|(to, from)| to.copy_from_slice(from));
}

/// Memory that lives from step to step and means nothing between steps.
#[derive(Debug, Default)]
pub(crate) struct Workspace {
    /// The state before the step: to fall back on, and the velocity that moves everything during the step.
    pub(crate) before: State,
    /// Where a sweep writes: fraction, capacity, distance, velocity.
    pub(crate) next_fraction: Vec<f64>,
    pub(crate) next_capacity: Vec<f64>,
    pub(crate) next_distance: Vec<f64>,
    pub(crate) next_velocity: [Vec<f64>; 3],
    /// Courant numbers of a sweep, and its liquid fluxes.
    pub(crate) courant: Vec<f64>,
    pub(crate) flux: Vec<f64>,
    /// The interface, its facets, the jump J of the live pressure in its cells and whether heights gave its curvature.
    pub(crate) interface: Interface,
    pub(crate) facets: Vec<Facet>,
    pub(crate) potentials: Vec<(f64, bool)>,
    /// Where the velocity has a kink.
    pub(crate) bent: Vec<Bent>,
    /// A/ρ of all faces \[m³/kg\].
    pub(crate) coefficients: [Vec<f64>; 3],
    /// Whether a group of small cells has shared in this step.
    pub(crate) shared: Vec<bool>,
    /// The ways of small cells before solids move on.
    pub(crate) ways: Ways,
    /// One number per row.
    pub(crate) row_sums: Vec<f64>,
}

impl Workspace {
    pub(crate) fn new(grid: &Grid) -> Self {
        Self {
            before: State::new(grid),
            next_fraction: grid.zeros(),
            next_capacity: vec![1.0; grid.len()],
            next_distance: grid.zeros(),
            next_velocity: std::array::from_fn(|_| grid.zeros()),
            courant: grid.zeros(),
            flux: grid.zeros(),
            coefficients: std::array::from_fn(|_| grid.zeros()),
            ..Self::default()
        }
    }
}
