//! Air and water in a box: how a flow is set up, filled, kept and restored.

use crate::apertures::{Apertures, Cut};
use crate::bodies::Bodies;
use crate::boundary::Boundary;
use crate::connected_regions::Regions;
use crate::cut_cell::open_volume;
use crate::error::SetupError;
use crate::fill;
use crate::grid::Grid;
use crate::interface::DUST;
use crate::params::Params;
use crate::poisson::Poisson;
use crate::solid::Solid;
use crate::state::{State, Workspace};
use crate::volume_correction;
use fearless_simd::Level;
use glam::DVec3;
use meniscus_geometry::Aabb;

/// Everything that a flow is made from.
#[derive(Debug, Clone)]
pub struct Setup {
    /// Grid, fluids, sides, numerics.
    pub params: Params,
    /// The box \[m\].
    pub domain: Aabb,
    /// Gravity \[m/s²\].
    pub gravity: DVec3,
    /// What stands in the box, and whether the fluids stick to it.
    pub solid: Option<Solid>,
}

/// Air and water in a box.
///
/// ```
/// use glam::DVec3;
/// use meniscus_core::StepReport;
/// use meniscus_geometry::Aabb;
/// use meniscus_twophase::{Flow, Params, Setup};
///
/// // A drop of water falls through air, in a box of 16³ cells.
/// let params = Params { spacing: 1.0 / 16.0, ..Params::default() };
/// let domain = Aabb::new(DVec3::ZERO, DVec3::ONE);
/// let mut flow = Flow::new(Setup { params, domain, gravity: DVec3::new(0.0, -9.81, 0.0), solid: None })?;
/// flow.fill(|x| x.distance(DVec3::splat(0.5)) - 0.2);
/// let volume = flow.liquid_volume();
/// let mut report = StepReport::default();
/// for _ in 0..5 {
///     let dt = flow.stable_step();
///     flow.step(dt, &mut report)?;
/// }
/// assert!((flow.liquid_volume() / volume - 1.0).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Flow {
    pub(crate) setup: Setup,
    pub(crate) grid: Grid,
    pub(crate) boundary: Boundary,
    pub(crate) apertures: Apertures,
    pub(crate) bodies: Option<Bodies>,
    pub(crate) regions: Regions,
    pub(crate) state: State,
    pub(crate) work: Workspace,
    pub(crate) poisson: Poisson,
    pub(crate) level: Level,
    /// A curvature to be used instead of the measured one \[1/m\], for tests.
    pub(crate) prescribed_curvature: Option<f64>,
}

impl Flow {
    /// A box of gas at rest.
    ///
    /// # Errors
    /// When a parameter is out of its range, the box is not made of whole cells, or a thin side lets something through.
    pub fn new(setup: Setup) -> Result<Self, SetupError> {
        setup.params.check()?;
        let grid = Grid::new(&setup.domain, setup.params.spacing)?;
        let boundary = Boundary::new(&grid, &setup.params.sides);
        boundary.check()?;
        let bodies = setup.solid.as_ref().map(|solid| Bodies::new(solid, &grid)).transpose()?;
        let apertures = Apertures::new(&grid, bodies.as_ref().map(|_| Cut::new(&grid)));
        let regions = Regions::new(&grid, &boundary, &Apertures::new(&grid, None))?;
        let (state, work) = (State::new(&grid), Workspace::new(&grid));
        let level = Level::new();
        let periodic = [0, 1, 2].map(|axis| boundary.is_periodic(axis) && grid.is_active(axis));
        let poisson = Poisson::new(&grid, periodic, level);
        let prescribed_curvature = None;
        let mut flow = Self {
            setup,
            boundary,
            apertures,
            bodies,
            regions,
            state,
            work,
            poisson,
            level,
            grid,
            prescribed_curvature,
        };
        flow.first_interval()?;
        Ok(flow)
    }

    /// Cuts the grid at time zero and tells cells what room they have.
    fn first_interval(&mut self) -> Result<(), SetupError> {
        if self.bodies.is_none() {
            return Ok(());
        }
        // Without gravity and surface tension nothing tells how long a step is before something moves.
        let longest = self.step_of_fluids().min(crate::interval::LONGEST);
        if let Some(bodies) = &mut self.bodies
            && bodies.moves()
        {
            self.state.interval[1] = bodies.interval_end(&self.grid, 0.0, longest);
        }
        self.cut_now();
        Regions::new(&self.grid, &self.boundary, &self.apertures)?;
        let Self { grid, boundary, apertures, bodies: Some(bodies), state, .. } = self else { return Ok(()) };
        let Some(cut) = apertures.cut() else { return Ok(()) };
        let nodes = &bodies.nodes[0];
        grid.rows().each([&mut state.capacity], |row, [out]| {
            for (i, out) in out.iter_mut().enumerate() {
                let open = cut.passes(grid, boundary, row.start + i);
                *out = if open { open_volume(grid, nodes, row.start + i) } else { 0.0 };
            }
        });
        boundary.fill_cells(grid, &mut state.capacity);
        Ok(())
    }

    /// What the flow was made from.
    #[must_use]
    pub fn setup(&self) -> &Setup {
        &self.setup
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

    /// Takes over a state; `false` if it is not one of this grid.
    pub fn restore(&mut self, state: State) -> bool {
        let fits = state.fits(&self.grid);
        if fits {
            self.state = state;
            self.cut_now();
        }
        fits
    }

    /// Changes the viscosity of the liquid \[Pa·s\] from here on.
    pub fn set_liquid_viscosity(&mut self, viscosity: f64) {
        self.setup.params.liquid.viscosity = viscosity;
    }

    /// Changes the density of the liquid \[kg/m³\] from here on.
    pub fn set_liquid_density(&mut self, density: f64) {
        self.setup.params.liquid.density = density;
    }

    /// Changes the surface tension \[N/m\] from here on.
    pub fn set_surface_tension(&mut self, surface_tension: f64) {
        self.setup.params.surface_tension = surface_tension;
    }

    /// Changes gravity \[m/s²\] from here on.
    pub fn set_gravity(&mut self, gravity: DVec3) {
        self.setup.gravity = gravity;
    }

    /// Uses this curvature \[1/m\] for the whole interface instead of the measured one.
    #[doc(hidden)]
    pub fn prescribe_curvature(&mut self, curvature: f64) {
        self.prescribed_curvature = Some(curvature);
    }

    /// Adds liquid where a signed distance \[m\] is negative.
    pub fn fill(&mut self, distance: impl Fn(DVec3) -> f64 + Sync) {
        self.change_fractions(distance, f64::max);
    }

    /// Adds gas where a signed distance \[m\] is negative: a bubble.
    pub fn carve(&mut self, distance: impl Fn(DVec3) -> f64 + Sync) {
        self.change_fractions(distance, |old, inside| old.min(1.0 - inside));
    }

    fn change_fractions(&mut self, distance: impl Fn(DVec3) -> f64 + Sync, change: fn(f64, f64) -> f64) {
        let (grid, bodies) = (&self.grid, self.bodies.as_ref());
        let capacities = &self.state.capacity;
        grid.rows().each([&mut self.state.volume_fraction], |row, [fraction]| {
            for (i, f) in fraction.iter_mut().enumerate() {
                let capacity = capacities[row.start + i];
                let inside = match bodies {
                    Some(bodies) if capacity < 1.0 => {
                        let solid = |x| bodies.signed_distance(x);
                        if bodies.is_shell() && fill::is_behind(grid, row.start + i, &distance, &solid) {
                            0.0
                        } else {
                            fill::fraction_of_open(grid, row.start + i, &distance, &solid)
                        }
                    }
                    _ => fill::fraction_inside(grid, row.start + i, &distance),
                };
                let new = change(*f, inside);
                let open = capacity > 0.0;
                *f = if new < DUST || !open {
                    0.0
                } else if new > 1.0 - DUST {
                    1.0
                } else {
                    new
                };
            }
        });
        self.apertures.cover(&mut self.state.volume_fraction);
        self.boundary.fill_cells(&self.grid, &mut self.state.volume_fraction);
        self.state.chambers.clear();
        self.state.liquid_cells = volume_correction::count(&self.grid, &self.state, &mut self.work.row_sums);
        self.state.still_level = self.setup.params.still_level.unwrap_or_else(|| self.level_at_rest());
        // No distance is known yet: normals come from the fractions the first time, from the distance then.
        self.state.signed_distance.fill(0.0);
        self.measure_distance();
        self.measure_distance();
    }

    /// Where the liquid would stand against gravity if the box had no solids and gravity went along an axis.
    fn level_at_rest(&self) -> f64 {
        let up = -self.setup.gravity.normalize_or_zero();
        let axis = (0..3).max_by(|&a, &b| up[a].abs().total_cmp(&up[b].abs())).unwrap_or(1);
        let cells = self.grid.cells();
        let height = self.state.liquid_cells / (cells.iter().product::<usize>() / cells[axis]) as f64;
        let domain = self.grid.domain();
        if up[axis] >= 0.0 {
            domain.min[axis] + height * self.grid.spacing()
        } else {
            height * self.grid.spacing() - domain.max[axis]
        }
    }

    /// Sets the velocity \[m/s\] on all faces.
    pub fn set_velocity(&mut self, velocity: impl Fn(DVec3) -> DVec3 + Sync) {
        self.change_velocity(|_, x| velocity(x));
    }

    /// Changes the velocity \[m/s\] on all faces: what it becomes, given its component on a face (in all three places) and the
    /// centre of the face.
    fn change_velocity(&mut self, change: impl Fn(f64, DVec3) -> DVec3 + Sync) {
        let grid = &self.grid;
        for (axis, field) in self.state.velocity.iter_mut().enumerate() {
            grid.face_rows(axis).each([field], |row, [values]| {
                for (i, value) in values.iter_mut().enumerate() {
                    *value = change(*value, grid.face_center(axis, row.start + i))[axis];
                }
            });
            self.boundary.fill_faces(grid, axis, field, 1.0);
        }
        self.state.started = false;
    }

    /// Adds a velocity \[m/s\] on all faces.
    pub fn add_velocity(&mut self, velocity: impl Fn(DVec3) -> DVec3 + Sync) {
        self.change_velocity(|old, x| DVec3::splat(old) + velocity(x));
    }
}
