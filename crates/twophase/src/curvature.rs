//! Where the interface is in a mixed cell, and how much it bends there.
//!
//! Heights come first, along the axes nearest to the normal, then along the others. Where the interface is too ragged for
//! them, a paraboloid is fitted to the middles of the facets around; where there are too few facets, the bend of φ decides.

use crate::boundary::Boundary;
use crate::facet::Facet;
use crate::grid::{GHOSTS, Grid};
use crate::height_function::{HeightStencil, sum_of_curvatures};
use crate::interface::Interface;
use glam::DVec3;

/// No interface on a grid bends more than this, in units of one over the spacing: a sphere inside one cell.
const LARGEST: f64 = 4.0;

/// Heights along an axis count where its part of the normal is more than this times the largest.
const MIN_NORMAL_SHARE: f64 = 0.6;

/// How a curvature was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    Heights,
    Paraboloid,
    Distance,
}

/// What is needed to measure an interface.
#[derive(Clone, Copy)]
pub(crate) struct InterfaceProbe<'a> {
    pub(crate) grid: &'a Grid,
    pub(crate) boundary: &'a Boundary,
    pub(crate) fraction: &'a [f64],
    pub(crate) distance: &'a [f64],
    pub(crate) interface: &'a Interface,
    pub(crate) facets: &'a [Facet],
}

impl InterfaceProbe<'_> {
    /// A point of the interface in the `k`-th mixed cell \[m\]: the middle of the column through the cell's centre, or of the
    /// facet.
    pub(crate) fn position(&self, k: usize) -> DVec3 {
        let p = self.interface.cells()[k] as usize;
        let normal = self.interface.planes()[k].normal;
        let around = HeightStencil::new(self.grid, self.boundary, self.fraction, p);
        let [axis, ..] = by_size(normal);
        let up = if normal[axis] > 0.0 { 1 } else { -1 };
        let mut within = DVec3::splat(0.5);
        match around.height(axis, up, [0; 3]) {
            Some(height) if height.abs() <= 1.0 => within[axis] += up as f64 * height,
            _ => within = self.facets[k].area_and_centroid().1,
        }
        self.grid.position(p, within)
    }

    /// κ in the `k`-th mixed cell \[1/m\], positive for a drop.
    pub(crate) fn curvature(&self, k: usize) -> (f64, Found) {
        let p = self.interface.cells()[k] as usize;
        let normal = self.interface.planes()[k].normal;
        let around = HeightStencil::new(self.grid, self.boundary, self.fraction, p);
        let heights = self.of_heights(normal, &around);
        let (bend, found) = heights
            .map(|bend| (bend, Found::Heights))
            .or_else(|| self.of_paraboloid(k).map(|bend| (bend, Found::Paraboloid)))
            .unwrap_or_else(|| (self.of_distance(p), Found::Distance));
        (bend.clamp(-LARGEST, LARGEST) / self.grid.spacing(), found)
    }

    /// From heights along the axis nearest to the normal, or along the next that has them. Where other axes are nearly as near, from
    /// all of these: a sudden change from one axis to another feeds waves of the length of a cell, which without viscosity grow.
    fn of_heights(&self, normal: [f64; 3], around: &HeightStencil) -> Option<f64> {
        let axes = by_size(normal);
        let (mut sum, mut weights) = (0.0, 0.0);
        for axis in axes {
            let weight = normal[axis].abs() - MIN_NORMAL_SHARE * normal[axes[0]].abs();
            if normal[axis] == 0.0 || (weight <= 0.0 && weights > 0.0) {
                break;
            }
            let up = if normal[axis] > 0.0 { 1 } else { -1 };
            if let Some(bend) = around.curvature(axis, up) {
                if weight <= 0.0 {
                    return Some(bend);
                }
                sum += weight * bend;
                weights += weight;
            }
        }
        (weights > 0.0).then(|| sum / weights)
    }

    /// From the paraboloid nearest to the middles of the facets in the 27 cells around, each weighing as its area.
    fn of_paraboloid(&self, k: usize) -> Option<f64> {
        let normal = DVec3::from_array(self.interface.planes()[k].normal).normalize_or_zero();
        let (tangent, other) = normal.any_orthonormal_pair();
        let (_, origin) = self.facets[k].area_and_centroid();
        let mut fit = Fit::default();
        self.for_each_facet_around(self.interface.cells()[k] as usize, |area, centroid| {
            let arm = centroid - origin;
            fit.add([arm.dot(tangent), arm.dot(other), arm.dot(normal)], area);
        });
        fit.solve().map(|[xx, yy, xy, x, y, _]| sum_of_curvatures([x, y], [2.0 * xx, 2.0 * yy, xy]))
    }

    /// Area and middle of the facets around a cell, in cells from its low corner; mirrored across walls.
    fn for_each_facet_around(&self, p: usize, mut work: impl FnMut(f64, DVec3)) {
        let cell = self.grid.coordinates(p);
        for n in 0..27 {
            let offset = [n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1];
            let there: [isize; 3] = std::array::from_fn(|d| cell[d] + offset[d]);
            let inside: [usize; 3] = std::array::from_fn(|d| self.boundary.inside(d, there[d]));
            let index = self.grid.index(inside);
            let Some(k) = self.interface.position(index / self.grid.stride(1), index) else { continue };
            let (area, mut centroid) = self.facets[k].area_and_centroid();
            for d in 0..3 {
                let beyond = !(0..self.grid.cells()[d] as isize).contains(&there[d]);
                if beyond && !self.boundary.is_periodic(d) {
                    centroid[d] = 1.0 - centroid[d];
                }
            }
            work(area, centroid + DVec3::from_array(offset.map(|o| o as f64)));
        }
    }

    /// ∇·n of the normals that follow from φ, by central differences.
    fn of_distance(&self, p: usize) -> f64 {
        let h = self.grid.spacing();
        let strides = [0, 1, 2].map(|axis| self.grid.stride(axis));
        let slope = |q: usize| {
            let gradient =
                DVec3::from_array(strides.map(|s| (self.distance[q + s] - self.distance[q - s]) / (2.0 * h)));
            -gradient.normalize_or_zero()
        };
        (0..3).map(|d| 0.5 * (slope(p + strides[d])[d] - slope(p - strides[d])[d])).sum()
    }
}

/// The axes, the one with the largest component first.
pub(crate) fn by_size(normal: [f64; 3]) -> [usize; 3] {
    let mut axes = [0, 1, 2];
    axes.sort_by(|&a, &b| normal[b].abs().total_cmp(&normal[a].abs()));
    axes
}

/// Least squares for z = c₀x² + c₁y² + c₂xy + c₃x + c₄y + c₅.
#[derive(Default)]
struct Fit {
    matrix: [[f64; 7]; 6],
    points: usize,
}

impl Fit {
    fn add(&mut self, [x, y, z]: [f64; 3], weight: f64) {
        let terms = [x * x, y * y, x * y, x, y, 1.0, z];
        for (row, a) in self.matrix.iter_mut().zip(terms) {
            for (entry, b) in row.iter_mut().zip(terms) {
                *entry += weight * a * b;
            }
        }
        self.points += 1;
    }

    /// The coefficients, unless the points leave them open.
    fn solve(mut self) -> Option<[f64; 6]> {
        if self.points < 6 {
            return None;
        }
        let m = &mut self.matrix;
        for column in 0..6 {
            let pivot = (column..6).max_by(|&a, &b| m[a][column].abs().total_cmp(&m[b][column].abs()))?;
            m.swap(column, pivot);
            if m[column][column].abs() < 1e-8 {
                return None;
            }
            let (done, rest) = m.split_at_mut(column + 1);
            let pivot = &done[column];
            for row in rest {
                let factor = row[column] / pivot[column];
                row.iter_mut().zip(pivot).for_each(|(entry, p)| *entry -= factor * p);
            }
        }
        let mut solution = [0.0; 6];
        for row in (0..6).rev() {
            let known: f64 = (row + 1..6).map(|k| m[row][k] * solution[k]).sum();
            solution[row] = (m[row][6] - known) / m[row][row];
        }
        Some(solution)
    }
}

const _: () = assert!(GHOSTS >= 2, "of_distance looks two cells away");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Params;
    use crate::{Flow, Setup};
    use meniscus_geometry::Aabb;

    /// Curvatures of a ball, over the exact one, and the part that does not come from heights.
    fn of_ball(n: usize, radius: f64, thin: bool) -> (Vec<f64>, f64) {
        let h = 1.0 / n as f64;
        let domain = Aabb::new(DVec3::ZERO, DVec3::new(1.0, 1.0, if thin { h } else { 1.0 }));
        let params = Params { spacing: h, ..Params::default() };
        let mut flow = Flow::new(Setup { params, domain, gravity: DVec3::ZERO, solid: None }).unwrap();
        let middle = DVec3::new(0.513, 0.487, 0.502);
        flow.fill(|x| if thin { (x - middle.with_z(x.z)).length() } else { x.distance(middle) } - radius);
        flow.find_interface();
        let probe = InterfaceProbe {
            grid: &flow.grid,
            boundary: &flow.boundary,
            fraction: &flow.state.volume_fraction,
            distance: &flow.state.signed_distance,
            interface: &flow.work.interface,
            facets: &flow.work.facets,
        };
        let all: Vec<_> = (0..flow.work.interface.cells().len()).map(|k| probe.curvature(k)).collect();
        let exact = if thin { 1.0 } else { 2.0 } / radius;
        let rough = all.iter().filter(|(_, found)| *found != Found::Heights).count() as f64 / all.len() as f64;
        (all.into_iter().map(|(bend, _)| bend / exact).collect(), rough)
    }

    fn root_mean_square(values: &[f64]) -> f64 {
        (values.iter().map(|v| (v - 1.0).powi(2)).sum::<f64>() / values.len() as f64).sqrt()
    }

    #[test]
    fn circles_and_balls_bend_as_they_should_to_second_order() {
        let circle = [32, 64].map(|n| root_mean_square(&of_ball(n, 0.4, true).0));
        assert!(circle[0] < 0.02 && circle[1] < 0.005, "{circle:?}");
        let ball = [32, 64].map(|n| root_mean_square(&of_ball(n, 0.4, false).0));
        assert!(ball[0] < 0.05 && ball[1] < 0.02, "{ball:?}");
        assert!(of_ball(64, 0.4, false).1 < 0.1);
    }

    #[test]
    fn small_balls_are_still_bent_outwards() {
        let (bends, _) = of_ball(32, 0.07, false);
        assert!(bends.iter().all(|b| *b > 0.0 && *b < 3.0), "{bends:?}");
    }
}
