//! The surface of the liquid as triangles, with its velocity and pressure: what pictures and exporters show.

use crate::flow::Flow;
use crate::grid::GHOSTS;
use glam::{DVec3, DVec4};
use meniscus_geometry::{IsoGrid, IsoSurface};

/// Triangles that face the gas.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Surface {
    /// Vertices \[m\].
    pub positions: Vec<DVec3>,
    /// Velocity of the liquid at the vertices \[m/s\].
    pub velocities: Vec<DVec3>,
    /// Pressure of the liquid at the vertices \[Pa\].
    pub pressures: Vec<f64>,
    /// Triangles, counter-clockwise seen from the gas.
    pub triangles: Vec<[u32; 3]>,
}

impl Flow {
    /// The surface φ = 0, closed along the sides of the box and along solids.
    #[must_use]
    pub fn surface(&self) -> Surface {
        let cells = self.grid.cells();
        // One layer of gas around the box closes the surface there.
        let samples = cells.map(|n| n as u32 + 2);
        let h = self.grid.spacing();
        let origin = self.grid.center(self.grid.index([0; 3])) - h;
        let Ok(iso) = IsoGrid::new(origin, h, samples) else { return Surface::default() };
        let value = |index: usize| {
            let [x, y, _] = samples.map(|n| n as usize);
            let at = [index % x, index / x % y, index / x / y];
            let beyond = (0..3).any(|d| at[d] == 0 || at[d] == cells[d] + 1);
            let p: usize = (0..3).map(|d| (at[d] + GHOSTS - 1) * self.grid.stride(d)).sum();
            // The outermost layer lies half a cell outside: mirrored, but never liquid.
            let from_solid = self.openings.cut().map_or(f64::INFINITY, |cut| cut.centers[p]);
            if beyond {
                self.state.signed_distance[p].max(0.5 * h)
            } else {
                (-self.state.signed_distance[p]).max(-from_solid)
            }
        };
        let values: Vec<f64> = (0..iso.sample_count()).map(value).collect();
        let found = iso.surface(&values, 0.0).unwrap_or_default();
        let IsoSurface { positions, triangles, .. } = found;
        let domain = self.grid.domain();
        let positions: Vec<DVec3> = positions.into_iter().map(|x| x.clamp(domain.min, domain.max)).collect();
        let (velocities, pressures) = positions.iter().map(|&x| self.in_liquid(x)).unzip();
        Surface { positions, velocities, pressures, triangles }
    }

    /// Velocity \[m/s\] and pressure \[Pa\] of the liquid at a place: of the cells around it, those with more liquid weigh more, so
    /// that they go on into the gas next to the surface. Zero where there is no liquid within a cell.
    #[must_use]
    pub fn in_liquid(&self, x: DVec3) -> (DVec3, f64) {
        let within = (x - self.grid.domain().min) / self.grid.spacing() - 0.5;
        let corner = within.floor();
        let part = within - corner;
        let (mut sum, mut weights) = (DVec4::ZERO, 0.0);
        for offset in 0..8usize {
            let bits = [offset & 1, offset >> 1 & 1, offset >> 2];
            let cell: [usize; 3] = std::array::from_fn(|d| {
                let last = self.grid.cells()[d] as f64 - 1.0;
                (corner[d] + bits[d] as f64).clamp(0.0, last) as usize
            });
            let p = self.grid.index(cell);
            let near: f64 = (0..3).map(|d| if bits[d] == 1 { part[d] } else { 1.0 - part[d] }).product();
            let weight = (near + 1e-3) * self.state.volume_fraction[p];
            sum += weight * self.cell_velocity(p).extend(self.state.pressure[p]);
            weights += weight;
        }
        if weights <= 0.0 {
            return (DVec3::ZERO, 0.0);
        }
        let mean = sum / weights;
        (mean.truncate(), mean.w + self.pressure_at_rest(self.setup.params.liquid.density, x))
    }
}
