//! What a flow amounts to: volume, energy, levels, and how long a step may be.

use crate::facet::Facet;
use crate::flow::Flow;
use crate::interface::Interface;
use crate::rows::larger;
use glam::DVec3;
use std::f64::consts::PI;

/// Energies of both fluids together.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Energy {
    /// ½ Σ ρ u² V \[J\].
    pub kinetic: f64,
    /// −Σ ρ g·x V \[J\].
    pub potential: f64,
    /// σ times the area of the interface \[J\].
    pub surface: f64,
}

/// Where the liquid is or went \[m³\]: what is visible, hidden and let out, less what was let in, is what was there at the start.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Ledger {
    /// In cells that fluid can enter or leave.
    pub visible: f64,
    /// In cells that solids have closed.
    pub hidden: f64,
    /// Came in through the sides.
    pub let_in: f64,
    /// Went out through them.
    pub let_out: f64,
}

impl Ledger {
    /// What was there at the start \[m³\].
    #[must_use]
    pub fn start(&self) -> f64 {
        self.visible + self.hidden + self.let_out - self.let_in
    }
}

impl Flow {
    /// Where the liquid is or went.
    #[must_use]
    pub fn ledger(&self) -> Ledger {
        let (hidden, [let_in, let_out]) = (self.hidden_volume(), self.passed_sides());
        Ledger { visible: self.liquid_volume() - hidden, hidden, let_in, let_out }
    }

    /// Liquid in cells that solids have closed \[m³\].
    pub(crate) fn hidden_volume(&self) -> f64 {
        self.state.hidden.iter().map(|hidden| hidden.liquid).sum::<f64>() * self.grid.spacing().powi(3)
    }

    /// Liquid that came in and went out through all sides \[m³\].
    pub(crate) fn passed_sides(&self) -> [f64; 2] {
        let sides = || self.state.passed.iter().flatten();
        let sums = [sides().map(|side| side.inward).sum::<f64>(), sides().map(|side| side.outward).sum()];
        sums.map(|sum| sum * self.grid.spacing().powi(3))
    }

    /// Volume of the liquid \[m³\].
    #[must_use]
    pub fn liquid_volume(&self) -> f64 {
        let sum = crate::volume_correction::count(&self.grid, &self.state, &mut Vec::new());
        sum * self.grid.spacing().powi(3)
    }

    /// Energies.
    #[must_use]
    pub fn energy(&self) -> Energy {
        let volume = self.grid.spacing().powi(3);
        Energy {
            kinetic: 0.5 * volume * (0..3).map(|axis| self.twice_kinetic(axis)).sum::<f64>(),
            potential: volume * self.moment(),
            surface: self.setup.params.surface_tension * self.interface_area(),
        }
    }

    fn density(&self, fraction: f64) -> f64 {
        let [gas, liquid] = [self.setup.params.gas.density, self.setup.params.liquid.density];
        gas + (liquid - gas) * fraction
    }

    /// Σ ρ u² over the faces along an axis; those on walls are at rest.
    fn twice_kinetic(&self, axis: usize) -> f64 {
        let (u, f, s) = (&self.state.velocity[axis], &self.state.volume_fraction, self.grid.stride(axis));
        self.grid.rows().sum::<f64, 0>([], &mut Vec::new(), |row, []| {
            let faces = row.start..row.start + row.len;
            faces.map(|p| self.density(0.5 * (f[p - s] + f[p])) * u[p] * u[p] * self.apertures.face(axis, p)).sum()
        })
    }

    /// −Σ ρ g·x over the cells.
    fn moment(&self) -> f64 {
        let gravity = self.setup.gravity;
        self.grid.rows().sum::<f64, 0>([], &mut Vec::new(), |row, []| {
            let cells = row.start..row.start + row.len;
            let one = |p: usize| {
                let mass = self.state.capacity[p] * self.density(self.state.volume_fraction[p]);
                -mass * gravity.dot(self.grid.center(p))
            };
            cells.map(one).sum()
        })
    }

    /// Σ ρ u V \[kg·m/s\].
    #[must_use]
    pub fn momentum(&self) -> DVec3 {
        let f = &self.state.volume_fraction;
        let along = |axis: usize| {
            let (u, s) = (&self.state.velocity[axis], self.grid.stride(axis));
            self.grid.rows().sum::<f64, 0>([], &mut Vec::new(), |row, []| {
                (row.start..row.start + row.len).map(|p| self.density(0.5 * (f[p - s] + f[p])) * u[p]).sum()
            })
        };
        DVec3::from_array([0, 1, 2].map(along)) * self.grid.spacing().powi(3)
    }

    /// Largest component of a velocity on a face \[m/s\].
    #[must_use]
    pub fn max_speed(&self) -> f64 {
        let along = |axis: usize| {
            let u = &self.state.velocity[axis];
            self.grid.face_rows(axis).max(|row| row.of(u).iter().fold(0.0, |most, u| larger(u.abs(), most)))
        };
        (0..3).map(along).fold(0.0, larger)
    }

    /// Length of liquid on a line along an axis through a position \[m\]: over a floor, the level that a gauge shows.
    #[must_use]
    pub fn gauge(&self, axis: usize, position: DVec3) -> f64 {
        let mut cell = self.cell_around(position);
        let column = (0..self.grid.cells()[axis]).map(|i| {
            cell[axis] = i;
            let p = self.grid.index(cell);
            self.state.capacity[p] * self.state.volume_fraction[p]
        });
        column.sum::<f64>() * self.grid.spacing()
    }

    /// Largest stable step from here \[s\]: no cell gives more than it holds, and the fastest waves that the grid can
    /// carry, of wave number k = π/h, turn by less than a quarter (capillary ones, ω² = σk³/(ρᴸ + ρᴳ)) or by half a radian
    /// (those of gravity, ω² = gk (ρᴸ − ρᴳ)/(ρᴸ + ρᴳ)).
    #[must_use]
    pub fn stable_step(&self) -> f64 {
        let dt = self.step_of_fluids();
        // Steps land on the end of the interval in which solids move.
        let left = self.time_left();
        if left.is_finite() { left / (left / dt).ceil().max(1.0) } else { dt }
    }

    /// The same as if no solid moved.
    pub(crate) fn step_of_fluids(&self) -> f64 {
        let params = &self.setup.params;
        let sum = params.liquid.density + params.gas.density;
        let difference = (params.liquid.density - params.gas.density).abs();
        let k = PI / self.grid.spacing();
        let capillary = params.surface_tension * k * k * k / sum;
        let gravity = self.setup.gravity.length() * k * difference / sum;
        let wave = 1.0 / (capillary / (0.25 * PI * PI) + gravity / 0.25).sqrt();
        wave.min(self.courant_step())
    }

    /// Largest step in which no more than `courant` of a cell leaves it \[s\].
    #[must_use]
    pub fn courant_step(&self) -> f64 {
        self.setup.params.courant * self.grid.spacing() / self.fastest().max(f64::MIN_POSITIVE)
    }

    /// Largest part of a cell's capacity, or of that of a group of small cells, that leaves it per second, times h \[m/s\].
    pub(crate) fn fastest(&self) -> f64 {
        let (u, capacity) = (&self.state.velocity, &self.state.capacity);
        let alone = self.grid.rows().max(|row| {
            let mut most = 0.0;
            for p in row.start..row.start + row.len {
                let leaves = |axis: usize| {
                    let q = p + self.grid.stride(axis);
                    let (low, high) =
                        (-u[axis][p] * self.apertures.face(axis, p), u[axis][q] * self.apertures.face(axis, q));
                    larger(low, 0.0) + larger(high, 0.0)
                };
                let out = leaves(0) + leaves(1) + leaves(2);
                if out != 0.0 && !self.apertures.is_grouped(p) {
                    most = larger(out / capacity[p].max(1e-3), most);
                }
            }
            most
        });
        let groups = self.apertures.cut().map_or(0.0, |cut| cut.fastest_group(&self.grid, capacity, u));
        larger(alone, groups)
    }

    /// The mean of a quantity over the cells, each weighing as the fraction of gas (0) or liquid (1) in it.
    #[must_use]
    pub fn mean_over(&self, liquid: bool, value: impl Fn(usize) -> f64 + Sync) -> f64 {
        let weights = |p: usize| {
            let f = self.state.volume_fraction[p];
            self.state.capacity[p] * if liquid { f } else { 1.0 - f }
        };
        let sum = |value: &(dyn Fn(usize) -> f64 + Sync)| {
            self.grid.rows().sum::<f64, 0>([], &mut Vec::new(), |row, []| {
                (row.start..row.start + row.len).map(|p| weights(p) * value(p)).sum()
            })
        };
        sum(&value) / sum(&|_| 1.0).max(f64::MIN_POSITIVE)
    }

    /// Liquid in a cell \[m³\].
    #[must_use]
    pub fn liquid_in(&self, p: usize) -> f64 {
        self.state.capacity[p] * self.state.volume_fraction[p] * self.grid.spacing().powi(3)
    }

    /// Velocity \[m/s\], density \[kg/m³\] and pressure \[Pa\] in the cell around a position; NaN outside the box.
    #[must_use]
    pub fn at(&self, x: DVec3) -> (DVec3, f64, f64) {
        let domain = self.grid.domain();
        if !domain.contains(x) {
            return (DVec3::NAN, f64::NAN, f64::NAN);
        }
        let p = self.grid.index(self.cell_around(x));
        let density = self.density(self.state.volume_fraction[p]);
        let pressure = self.state.pressure[p] + self.pressure_at_rest(density, self.grid.center(p));
        (self.cell_velocity(p), density, pressure)
    }

    /// What the live pressure leaves out \[Pa\]: ρ g·(x − x_s), with x_s on the surface at rest.
    pub(crate) fn pressure_at_rest(&self, density: f64, x: DVec3) -> f64 {
        let up = -self.setup.gravity.normalize_or_zero();
        -density * self.setup.gravity.length() * (up.dot(x) - self.state.still_level)
    }

    /// The cell around a position in the box, or the nearest.
    fn cell_around(&self, x: DVec3) -> [usize; 3] {
        let within = (x - self.grid.domain().min) / self.grid.spacing();
        std::array::from_fn(|d| (within[d].floor().max(0.0) as usize).min(self.grid.cells()[d] - 1))
    }

    /// Velocity at the centre of a cell \[m/s\].
    #[must_use]
    pub fn cell_velocity(&self, p: usize) -> DVec3 {
        let along = |axis: usize| {
            let u = &self.state.velocity[axis];
            0.5 * (u[p] + u[p + self.grid.stride(axis)])
        };
        DVec3::from_array([0, 1, 2].map(along))
    }

    /// Area of the reconstructed interface \[m²\].
    #[must_use]
    pub fn interface_area(&self) -> f64 {
        let area: f64 = self.facets().iter().map(|facet| facet.area_and_centroid().0).sum();
        area * self.grid.spacing().powi(2)
    }

    /// Facets of the interface, in cells, in the order of the grid.
    fn facets(&self) -> Vec<Facet> {
        let mut interface = Interface::default();
        interface.reconstruct(&self.grid, &self.state.volume_fraction, &self.state.signed_distance);
        interface.planes().iter().map(Facet::new).collect()
    }
}
