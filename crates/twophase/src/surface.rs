//! The surface of the liquid as triangles, with its velocity and pressure: what pictures and exporters show.

use crate::flow::Flow;
use crate::grid::GHOSTS;
use glam::{DVec3, DVec4};
use meniscus_geometry::{IsoGrid, IsoSurface};
use rayon::prelude::*;

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

/// Where the samples along an axis lie \[m\]: beyond the low side and on it, in the middles of the cells, on the high side and beyond it. What is
/// beyond a side is put onto it, so that the surface closes there flat and with sharp rims.
struct Samples(Vec<f64>);

impl Samples {
    fn new([low, high]: [f64; 2], spacing: f64, cells: usize) -> Self {
        let middles = (0..cells).map(|i| low + (i as f64 + 0.5) * spacing);
        Self([low, low].into_iter().chain(middles).chain([high, high]).collect())
    }

    /// The cell whose value a sample has; none beyond the sides.
    fn cell(&self, sample: usize) -> Option<usize> {
        let last = self.0.len() - 1;
        (0 < sample && sample < last).then(|| sample.clamp(2, last - 2) - 2)
    }

    /// Where a position lies that is given in samples.
    fn position(&self, at: f64) -> f64 {
        let sample = (at as usize).min(self.0.len() - 2);
        self.0[sample] + (at - sample as f64) * (self.0[sample + 1] - self.0[sample])
    }
}

/// Makes one vertex of those that share a position, and drops triangles that have no area then.
fn weld(positions: &[DVec3], triangles: &[[u32; 3]]) -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let key = |&vertex: &u32| positions[vertex as usize].to_array().map(|x| (x + 0.0).to_bits());
    let mut sorted: Vec<u32> = (0..positions.len() as u32).collect();
    sorted.par_sort_unstable_by_key(|vertex| (key(vertex), *vertex));
    let mut first: Vec<u32> = (0..positions.len() as u32).collect();
    for same in sorted.chunk_by(|a, b| key(a) == key(b)) {
        same.iter().for_each(|&vertex| first[vertex as usize] = same[0]);
    }
    let (mut kept, mut number) = (Vec::new(), vec![0; positions.len()]);
    for vertex in (0..positions.len()).filter(|&vertex| first[vertex] as usize == vertex) {
        number[vertex] = kept.len() as u32;
        kept.push(positions[vertex]);
    }
    let welded = triangles.iter().map(|t| t.map(|vertex| number[first[vertex as usize] as usize]));
    (kept, welded.filter(|[a, b, c]| a != b && b != c && c != a).collect())
}

impl Flow {
    /// The surface φ = 0, which goes up to the sides of the box as it is before them, closed along these sides and along solids.
    #[must_use]
    pub fn surface(&self) -> Surface {
        let (cells, domain) = (self.grid.cells(), self.grid.domain());
        let axes: [Samples; 3] =
            std::array::from_fn(|d| Samples::new([domain.min[d], domain.max[d]], self.grid.spacing(), cells[d]));
        let samples = cells.map(|n| n as u32 + 4);
        let Ok(iso) = IsoGrid::new(DVec3::ZERO, 1.0, samples) else { return Surface::default() };
        let value = |index: usize| {
            let [x, y, _] = samples.map(|n| n as usize);
            let at = [index % x, index / x % y, index / x / y];
            let mut p = 0;
            for (d, axis) in axes.iter().enumerate() {
                let Some(cell) = axis.cell(at[d]) else { return 1.0 };
                p += (cell + GHOSTS) * self.grid.stride(d);
            }
            let from_solid = self.apertures.cut().map_or(f64::INFINITY, |cut| cut.centers[p]);
            (-self.state.signed_distance[p]).max(-from_solid)
        };
        let values: Vec<f64> = (0..iso.sample_count()).into_par_iter().map(value).collect();
        let IsoSurface { positions, triangles, .. } = iso.surface(&values, 0.0).unwrap_or_default();
        let position = |x: DVec3| DVec3::from_array(std::array::from_fn(|d| axes[d].position(x[d])));
        let placed: Vec<DVec3> = positions.into_iter().map(position).collect();
        let (positions, triangles) = weld(&placed, &triangles);
        let (velocities, pressures) = positions.iter().map(|&x| self.in_liquid(x)).unzip();
        Surface { positions, velocities, pressures, triangles }
    }

    /// Velocity \[m/s\] and pressure \[Pa\] of the liquid at a position: of the cells around it, those with more liquid weigh more, so
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
