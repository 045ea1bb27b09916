//! One step of a flow \[MKSMH07 sec. 3\].
//!
//! | | stage | what happens |
//! |---|---|---|
//! | | start | before the first step: forces act for half of it |
//! | 1 | keep state | to fall back on; its velocity, whose divergence is that of the room which solids make, moves everything in stage 2 |
//! | 2 | advect | F, φ and momentum along one axis after the other; the order changes from step to step |
//! | 3 | volume correction | what the sweeps lost to round-off is given back |
//! | 4 | move solids | when their interval of time is over: open parts of faces and cells for the next, see `interval` |
//! | 5 | measure distance | φ becomes the distance from the reconstructed interface |
//! | 6 | apply viscosity | ρ (u − u*) = dt ∇·\[μ (∇u + ∇uᵀ)\] |
//! | 7 | interface force | u += dt/(ρh) J (F₊ − F₋), J = σκ − (ρᴸ − ρᴳ) g·(x_Γ − x_s) |
//! | 8 | find pressure | Σ A/ρ (p_c − p_n) = −h/dt (Σ ±A u + h κ̇) |
//! | 9 | correct velocity | u −= dt/(ρh) (p₊ − p₋) |

use crate::boundary::Outside;
use crate::connected_regions::Rooms;
use crate::curvature::InterfaceProbe;
use crate::distance::{self, Measured};
use crate::facet::Facet;
use crate::flow::Flow;
use crate::grid::Grid;
use crate::merge::Before;
use crate::poisson::Solved;
use crate::pressure_jump::Forces;
use crate::projection::Projection;
use crate::space::Space;
use crate::transport::{Moving, Sweep};
use crate::viscosity::Viscosity;
use crate::volume_correction;
use glam::DVec3;
use meniscus_core::{Fault, StepError, StepReport, par};
use rayon::prelude::*;
use std::mem::swap;

/// The part of a cell that may leave it in a step: beyond one, cells would give what they do not hold.
const MAX_COURANT: f64 = 0.95;

/// What weighs on outflows.
struct Beyond {
    /// (ρᴸ − ρᴳ) |g| \[N/m³\].
    weight: f64,
    outside: Outside,
}

impl Beyond {
    /// Live pressure p − ρ g·(x − x_s) at a position of an outflow where the fluid inside is so much liquid, p being that of air there.
    fn pressure(&self, x: DVec3, fraction: f64) -> f64 {
        self.weight * fraction * (self.outside.up.dot(x) - self.outside.still_level)
    }

    /// The same on a face along an axis.
    fn on<'a>(&'a self, grid: &'a Grid, fraction: &'a [f64]) -> impl Fn(usize, usize) -> f64 + 'a {
        move |axis, face| {
            let cell = if grid.contains(face) { face } else { face - grid.stride(axis) };
            self.pressure(grid.face_center(axis, face), fraction[cell])
        }
    }
}

/// What faults are reported under.
const BODY: &str = "fluids";

impl Flow {
    /// One step of `dt` \[s\], at most [`Self::stable_step`].
    ///
    /// # Errors
    /// When the step is too long for the transport, or a velocity is no longer finite: [`Self::roll_back`] and try a smaller one.
    pub fn step(&mut self, dt: f64, report: &mut StepReport) -> Result<(), StepError> {
        if !self.state.started {
            report.stage("start", || self.start(dt))?;
        }
        report.stage("keep state", || self.keep(dt))?; // 1
        report.stage("advect", || self.advect(dt)); // 2
        report.stage("volume correction", || self.correct_volume()); // 3
        report.stage("move solids", || self.move_solids(dt)); // 4  [MKSMH07 step 1]
        report.stage("measure distance", || self.measure_distance()); // 5
        let viscous = report.stage("apply viscosity", || self.apply_viscosity(dt)); // 6
        let rough = report.stage("interface force", || self.apply_interface_force(dt)); // 7
        let solved = report.stage("find pressure", || self.find_pressure(dt)); // 8  [MKSMH07 step 3]
        report.stage("correct velocity", || self.correct_velocity(dt))?; // 9  [MKSMH07 step 4]
        report.count("pressure iterations", solved.iterations.into());
        report.count("pressure residual", solved.residual);
        report.count("solves that missed their error", f64::from(u8::from(solved.missed)));
        report.count("viscous iterations", viscous.into());
        report.count("curvatures not from heights", rough as f64);
        self.note_ledger(report);
        Ok(())
    }

    /// Velocities live half a step after the fluids, so that both advance like a leapfrog, to second order. Before the first
    /// step the forces act for half of it; from then on the velocity is free of divergence.
    fn start(&mut self, dt: f64) -> Result<(), StepError> {
        self.work.before.copy_from(&self.state);
        self.find_interface();
        self.apply_interface_force(0.5 * dt);
        self.find_pressure(0.5 * dt);
        self.correct_velocity(0.5 * dt)?;
        self.state.started = true;
        Ok(())
    }

    /// Undoes the last step.
    pub fn roll_back(&mut self) {
        let loaded = self.state.interval;
        self.state.copy_from(&self.work.before);
        if self.state.interval != loaded {
            self.cut_now();
        }
    }

    /// Moves the fluids for `dt` \[s\] with the velocity as it is, which must be free of divergence: stages 1 to 5 without momentum.
    pub fn carry(&mut self, dt: f64) {
        self.work.before.copy_from(&self.state);
        self.sweep_all(dt, false);
        self.correct_volume();
        self.move_solids(dt);
        self.measure_distance();
    }

    fn keep(&mut self, dt: f64) -> Result<(), StepError> {
        self.work.before.copy_from(&self.state);
        self.note_gas();
        let cells = self.fastest() * dt / self.grid.spacing();
        // Beyond the end of an interval nothing is known of the solids.
        let cells = if dt > self.time_left() * (1.0 + 1e-9) { f64::INFINITY } else { cells };
        if cells <= MAX_COURANT * (1.0 + 1e-9) {
            return Ok(());
        }
        let fault = Fault::TooFar { cells, largest: MAX_COURANT };
        Err(StepError { stage: "keep state".into(), body: BODY.into(), index: None, fault })
    }

    fn advect(&mut self, dt: f64) {
        self.sweep_all(dt, true);
    }

    fn sweep_all(&mut self, dt: f64, with_momentum: bool) {
        const ORDERS: [[usize; 3]; 6] = [[0, 1, 2], [2, 1, 0], [1, 2, 0], [0, 2, 1], [2, 0, 1], [1, 0, 2]];
        let groups = self.apertures.cut().map_or(0, |cut| cut.merged.count());
        self.work.shared.clear();
        self.work.shared.resize(groups, false);
        for axis in ORDERS[(self.state.steps % 6) as usize] {
            if self.grid.is_active(axis) {
                self.sweep(axis, dt, with_momentum);
            }
        }
        self.end_sweeps(dt);
        self.state.steps += 1;
    }

    fn sweep(&mut self, axis: usize, dt: f64, with_momentum: bool) {
        let outside = self.outside();
        let part = self.part_of_interval(dt);
        let Self { grid, apertures, state, work, boundary, .. } = self;
        let scale = dt / grid.spacing();
        let densities = [self.setup.params.gas.density, self.setup.params.liquid.density];
        let sweep = Sweep { grid, apertures, level: self.level, axis, scale, densities };
        let before = &work.before;
        work.interface.reconstruct(grid, &state.volume_fraction, &state.signed_distance);
        let outputs = [&mut work.courant[..], &mut work.flux[..]];
        let cells = [&state.capacity[..], &state.volume_fraction[..]];
        sweep.fluxes(&before.velocity[axis], cells, &work.interface, outputs);
        let held = Before { stride: grid.stride(axis), capacity: cells[0], fraction: cells[1] };
        if let Some(cut) = apertures.cut() {
            cut.merged.limit(&held, &work.courant, &mut work.flux, &mut work.shared);
        }
        boundary.join_seam(grid, axis, &work.courant, &mut work.flux);
        let passed = &mut state.passed[axis];
        state.liquid_cells += boundary.let_in(grid, axis, &outside, &work.courant, &mut work.flux, passed);
        boundary.repeat_faces(grid, axis, &mut work.courant);
        boundary.repeat_faces(grid, axis, &mut work.flux);
        let moving = |component: usize| Moving {
            courant: &work.courant,
            flux: &work.flux,
            capacity: &state.capacity,
            fraction: &state.volume_fraction,
            velocity: &state.velocity[component],
        };
        sweep.move_volumes(&moving(0), [&mut work.next_fraction, &mut work.next_capacity]);
        let room = |p: usize| before.capacity[p] + part * (apertures.capacity_at(p) - before.capacity[p]);
        if let Some(cut) = apertures.cut() {
            let output = [&mut work.next_fraction[..], &mut work.next_capacity[..]];
            cut.merged.share(&held, [&work.courant, &work.flux], room, output, &mut work.shared);
        }
        sweep.move_distance(&work.courant, &state.signed_distance, &mut work.next_distance);
        if with_momentum {
            for component in grid.active_axes() {
                let next = &mut work.next_velocity[component];
                sweep.move_momentum(component, &moving(component), next);
                boundary.hold_open_sides(grid, component, &before.velocity[component], scale, next);
                apertures.stop(component, next);
                boundary.fill_faces(grid, component, next, 1.0);
            }
            for component in grid.active_axes() {
                swap(&mut state.velocity[component], &mut work.next_velocity[component]);
            }
        }
        swap(&mut state.volume_fraction, &mut work.next_fraction);
        swap(&mut state.capacity, &mut work.next_capacity);
        swap(&mut state.signed_distance, &mut work.next_distance);
        apertures.cover(&mut state.volume_fraction);
        boundary.fill_cells(grid, &mut state.volume_fraction);
        boundary.fill_cells(grid, &mut state.capacity);
        boundary.fill_cells(grid, &mut state.signed_distance);
    }

    /// Cells of groups that have shared get the capacities that they should have, and gas in closed regions gives way.
    fn end_sweeps(&mut self, dt: f64) {
        let (moves, part) = (self.moves(), self.part_of_interval(dt));
        let Self { grid, boundary, apertures, regions, state, work, .. } = self;
        let Some(cut) = apertures.cut() else { return };
        let before = &work.before.capacity;
        let room = |p: usize| before[p] + part * (cut.capacity[p] - before[p]);
        cut.merged.end(room, &mut state.volume_fraction, &mut state.capacity, &work.shared);
        if moves {
            let rooms = Rooms { capacity: &state.capacity, last: &cut.capacity, fraction: &state.volume_fraction };
            regions.squeeze(grid, &rooms, room, [&mut work.next_fraction, &mut work.next_capacity]);
            swap(&mut state.volume_fraction, &mut work.next_fraction);
            swap(&mut state.capacity, &mut work.next_capacity);
            apertures.cover(&mut state.volume_fraction);
            boundary.fill_cells(grid, &mut state.volume_fraction);
        }
        boundary.fill_cells(grid, &mut state.capacity);
    }

    fn correct_volume(&mut self) {
        let Self { grid, apertures, state, work, .. } = self;
        let there = volume_correction::count(grid, state, &mut work.row_sums);
        let missing = state.liquid_cells - there;
        // Below this it is the noise of the sum itself.
        if missing.abs() > 1e-15 * grid.cell_count() as f64 {
            work.interface.find(grid, &state.volume_fraction);
            volume_correction::restore(&state.capacity, &work.interface, &mut state.volume_fraction, missing);
            apertures.cover(&mut state.volume_fraction);
            self.boundary.fill_cells(grid, &mut state.volume_fraction);
        }
    }

    pub(crate) fn find_interface(&mut self) {
        let Self { grid, state, work, .. } = self;
        work.interface.reconstruct(grid, &state.volume_fraction, &state.signed_distance);
        let planes = work.interface.planes();
        planes.par_iter().with_min_len(256).map(Facet::new).collect_into_vec(&mut work.facets);
    }

    pub(crate) fn measure_distance(&mut self) {
        self.find_interface();
        let Self { grid, state, work, boundary, .. } = self;
        let measured = Measured { grid, boundary, interface: &work.interface, facets: &work.facets };
        distance::measure(&measured, &state.volume_fraction, &mut state.signed_distance);
        boundary.fill_cells(grid, &mut state.signed_distance);
    }

    fn apply_viscosity(&mut self, dt: f64) -> u32 {
        let Self { grid, boundary, apertures, state, work, .. } = self;
        let (gas, liquid) = (self.setup.params.gas, self.setup.params.liquid);
        if gas.viscosity.max(liquid.viscosity) == 0.0 {
            return 0;
        }
        let viscosity = Viscosity {
            space: Space { grid, boundary, apertures, level: self.level },
            scale: dt / grid.spacing().powi(2),
            gas,
            liquid,
            fraction: &state.volume_fraction,
            wall_distance: self.bodies.as_ref().map(|bodies| &bodies.nodes[0][..]),
            smoothness: self.setup.params.smoothness(),
        };
        let mut lent = self.poisson.lend();
        let memory = [&mut work.next_velocity, &mut lent, &mut work.coefficients];
        let iterations = viscosity.act(&mut state.velocity, memory, &mut work.row_sums);
        self.poisson.take_back(lent);
        iterations
    }

    fn forces(&self) -> Forces {
        let params = &self.setup.params;
        Forces {
            surface_tension: params.surface_tension,
            density_difference: params.liquid.density - params.gas.density,
            gravity: self.setup.gravity,
            still_level: self.state.still_level,
            prescribed_curvature: self.prescribed_curvature,
        }
    }

    fn apply_interface_force(&mut self, dt: f64) -> usize {
        let forces = self.forces();
        let Self { grid, boundary, state, work, .. } = self;
        let probe = InterfaceProbe {
            grid,
            boundary,
            fraction: &state.volume_fraction,
            distance: &state.signed_distance,
            interface: &work.interface,
            facets: &work.facets,
        };
        let rough = forces.find(&probe, &mut work.potentials);
        // The flux of the last sweep is no longer needed.
        let field = &mut work.flux;
        field.fill(f64::NAN);
        for (&p, (potential, _)) in work.interface.cells().iter().zip(&work.potentials) {
            field[p as usize] = *potential;
        }
        boundary.fill_cells(grid, field);
        let scale = dt / grid.spacing();
        for axis in grid.active_axes() {
            forces.kick(&probe, axis, field, (scale, self.setup.params.gas.density), &mut state.velocity[axis]);
        }
        let smoothness = self.setup.params.smoothness();
        if smoothness > 0.0 {
            let columns = (&work.potentials[..], &mut work.bent);
            let memory = [&mut work.flux[..], &mut work.courant[..]];
            let factors = (smoothness * scale, self.setup.params.gas.density);
            forces.kick_viscous_jump(&probe, columns, memory, factors, &mut state.velocity);
        }
        self.calm(dt);
        rough
    }

    fn projection<'a>(&'a self, grid: &'a Grid, dt: f64) -> Projection<'a> {
        Projection {
            space: Space { grid, boundary: &self.boundary, apertures: &self.apertures, level: self.level },
            scale: dt / grid.spacing(),
            densities: [self.setup.params.gas.density, self.setup.params.liquid.density],
        }
    }

    fn find_pressure(&mut self, dt: f64) -> Solved {
        let (moves, payback) = (self.moves(), self.payback(dt));
        let beyond = self.beyond();
        let Self { grid, boundary, apertures, level, regions, state, work, poisson, setup, .. } = self;
        let scale = dt / grid.spacing();
        let densities = [setup.params.gas.density, setup.params.liquid.density];
        let space = Space { grid, boundary, apertures, level: *level };
        let projection = Projection { space, scale, densities };
        for component in 0..3 {
            apertures.stop(component, &mut state.velocity[component]);
            boundary.fill_faces(grid, component, &mut state.velocity[component], 1.0);
        }
        projection.resist_on_open_sides(&mut state.velocity);
        projection.coefficients(&state.volume_fraction, &mut work.coefficients);
        projection.right_hand_side(&state.velocity, &state.capacity, payback, &mut poisson.residual);
        if let (true, Some(cut)) = (moves, apertures.cut()) {
            let rooms = Rooms { capacity: &state.capacity, last: &cut.capacity, fraction: &state.volume_fraction };
            regions.give_way(grid, &rooms, scale * scale, &mut poisson.residual);
        }
        regions.balance(grid, &mut poisson.residual, &mut work.row_sums);
        let fraction = &state.volume_fraction;
        boundary.push_from_outflows(grid, &work.coefficients, beyond.on(grid, fraction), &mut poisson.residual);
        boundary.fill_pressure(grid, &mut state.pressure);
        poisson.prepare(grid, &work.coefficients, setup.params.gas.density);
        // The velocity lasts for the rest of the interval, however short this step is.
        let limit = setup.params.tolerance / (scale * scale.max(payback / grid.spacing()));
        let solved = poisson.solve(grid, &work.coefficients, &mut state.pressure, limit, setup.params.max_iterations);
        self.press_gas();
        let Self { grid, boundary, state, .. } = self;
        let fraction = &state.volume_fraction;
        boundary.fill_pressure(grid, &mut state.pressure);
        boundary.set_outflow_pressure(grid, beyond.on(grid, fraction), &mut state.pressure);
        solved
    }

    fn beyond(&self) -> Beyond {
        let params = &self.setup.params;
        let weight = (params.liquid.density - params.gas.density) * self.setup.gravity.length();
        Beyond { weight, outside: self.outside() }
    }

    fn correct_velocity(&mut self, dt: f64) -> Result<(), StepError> {
        let mut velocity = std::mem::take(&mut self.state.velocity);
        self.projection(&self.grid, dt).correct(&self.work.coefficients, &self.state.pressure, &mut velocity);
        for (component, field) in velocity.iter_mut().enumerate() {
            self.boundary.fill_faces(&self.grid, component, field, 1.0);
        }
        self.state.velocity = velocity;
        self.check()
    }

    fn check(&self) -> Result<(), StepError> {
        for field in &self.state.velocity {
            if let Some(index) = par::find_first(field.len(), |p| !field[p].is_finite()) {
                return Err(StepError::not_finite("correct velocity", BODY, index as u64, "velocity"));
            }
        }
        Ok(())
    }
}
