//! Air and water in a box: the state and one method per stage of a step.

use crate::boundary::Boundary;
use crate::error::SetupError;
use crate::fill;
use crate::grid::Grid;
use crate::interface::DUST;
use crate::openings::Openings;
use crate::params::Params;
use crate::state::{State, Workspace};
use crate::transport::{Moving, Sweep};
use fearless_simd::Level;
use glam::DVec3;
use meniscus_geometry::Aabb;
use rayon::prelude::*;
use std::mem::swap;

/// Everything that a flow is made from.
#[derive(Debug, Clone)]
pub struct Setup {
    /// Grid, fluids, sides, numerics.
    pub params: Params,
    /// The box \[m\].
    pub domain: Aabb,
    /// Gravity \[m/s²\].
    pub gravity: DVec3,
}

/// Air and water in a box.
pub struct Flow {
    pub(crate) setup: Setup,
    pub(crate) grid: Grid,
    pub(crate) boundary: Boundary,
    pub(crate) openings: Openings,
    pub(crate) state: State,
    pub(crate) work: Workspace,
    pub(crate) level: Level,
}

impl Flow {
    /// A box of gas at rest.
    ///
    /// # Errors
    /// When a parameter is out of its range or the box is not made of whole cells.
    pub fn new(setup: Setup) -> Result<Self, SetupError> {
        setup.params.check()?;
        let grid = Grid::new(&setup.domain, setup.params.spacing)?;
        let boundary = Boundary::new(&grid, &setup.params.sides);
        let openings = Openings::new(&grid, None);
        let (state, work) = (State::new(&grid), Workspace::new(&grid));
        Ok(Self { setup, boundary, openings, state, work, level: Level::new(), grid })
    }

    /// The grid.
    #[must_use]
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// The state.
    #[must_use]
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Adds liquid where a signed distance \[m\] is negative.
    pub fn fill(&mut self, distance: impl Fn(DVec3) -> f64 + Sync) {
        let grid = &self.grid;
        grid.rows().each([&mut self.state.volume_fraction], |row, [fraction]| {
            for (i, f) in fraction.iter_mut().enumerate() {
                let inside = fill::fraction_inside(grid, row.start + i, &distance).max(*f);
                *f = if inside < DUST { 0.0 } else if inside > 1.0 - DUST { 1.0 } else { inside };
            }
        });
        self.boundary.fill_cells(&self.grid, &mut self.state.volume_fraction);
        self.state.liquid_cells = self.count_liquid();
        self.state.signed_distance.fill(0.0);
        self.measure_distance();
    }

    fn count_liquid(&mut self) -> f64 {
        let fraction = &self.state.volume_fraction;
        let openings = &self.openings;
        self.grid.rows().sum::<f64, 0>([], &mut self.work.row_sums, |row, []| {
            crate::rows::dot(row.of(fraction), openings.capacity(&row))
        })
    }

    /// Sets the velocity \[m/s\] on all faces.
    pub fn set_velocity(&mut self, velocity: impl Fn(DVec3) -> DVec3 + Sync) {
        let grid = &self.grid;
        for (axis, field) in self.state.velocity.iter_mut().enumerate() {
            grid.face_rows(axis).each([field], |row, [values]| {
                for (i, value) in values.iter_mut().enumerate() {
                    *value = velocity(grid.face_center(axis, row.start + i))[axis];
                }
            });
            self.boundary.fill_faces(grid, axis, field, 1.0);
        }
    }

    /// 1. Keeps the state for a roll-back; its velocity moves everything during the step.
    pub fn keep(&mut self) {
        self.work.before.copy_from(&self.state);
    }

    /// 2. F, φ and momentum move along one axis after the other; the order changes from step to step.
    pub fn advect(&mut self, dt: f64) {
        const ORDERS: [[usize; 3]; 6] = [[0, 1, 2], [2, 1, 0], [1, 2, 0], [0, 2, 1], [2, 0, 1], [1, 0, 2]];
        for axis in ORDERS[(self.state.steps % 6) as usize] {
            if self.grid.is_active(axis) {
                self.sweep(axis, dt);
            }
        }
        self.state.steps += 1;
    }

    fn sweep(&mut self, axis: usize, dt: f64) {
        let Self { grid, openings, state, work, boundary, .. } = self;
        let sweep = Sweep {
            grid,
            openings,
            level: self.level,
            axis,
            scale: dt / grid.spacing(),
            densities: [self.setup.params.gas.density, self.setup.params.liquid.density],
        };
        let before = &work.before;
        work.interface.reconstruct(grid, &state.volume_fraction, &state.signed_distance);
        sweep.fluxes(
            &before.velocity[axis],
            &state.volume_fraction,
            &work.interface,
            [&mut work.courant, &mut work.flux],
        );
        let moving = |component: usize| Moving {
            courant: &work.courant,
            flux: &work.flux,
            fraction: &state.volume_fraction,
            first_fraction: &before.volume_fraction,
            velocity: &state.velocity[component],
            first_velocity: &before.velocity[component],
        };
        sweep.move_fraction(&moving(0), &mut work.next_fraction);
        sweep.move_distance(&work.courant, &state.signed_distance, &mut work.next_distance);
        for component in grid.active_axes() {
            sweep.move_momentum(component, &moving(component), &mut work.next_velocity[component]);
        }
        swap(&mut state.volume_fraction, &mut work.next_fraction);
        swap(&mut state.signed_distance, &mut work.next_distance);
        swap(&mut state.velocity, &mut work.next_velocity);
        boundary.fill_cells(grid, &mut state.volume_fraction);
        boundary.fill_cells(grid, &mut state.signed_distance);
        for component in 0..3 {
            boundary.fill_faces(grid, component, &mut state.velocity[component], 1.0);
        }
    }

    /// 4. φ becomes the distance from the reconstructed interface.
    pub fn measure_distance(&mut self) {
        let Self { grid, state, work, boundary, .. } = self;
        work.interface.reconstruct(grid, &state.volume_fraction, &state.signed_distance);
        let planes = work.interface.planes();
        planes.par_iter().with_min_len(256).map(crate::facet::Facet::new).collect_into_vec(&mut work.facets);
        crate::distance::measure(grid, &work.interface, &work.facets, &state.volume_fraction, &mut state.signed_distance);
        boundary.fill_cells(grid, &mut state.signed_distance);
    }

    pub fn debug_mode(&mut self, on: bool) { if !on { self.state.signed_distance.fill(0.0); } }
}
