//! Volume fractions of a shape: the part of each cell below the zero of a signed distance.

use crate::grid::Grid;
use crate::plic::Plane;
use glam::DVec3;

/// How often a cell at the surface is halved.
const DEPTH: u32 = 4;

/// The part of a cell in which `distance` \[m\] is negative. Cells at the surface are halved a few times along each axis;
/// what is left is cut by a plane.
pub(crate) fn fraction_inside(grid: &Grid, index: usize, distance: &impl Fn(DVec3) -> f64) -> f64 {
    part(grid.center(index), grid.spacing(), DEPTH, distance)
}

fn part(center: DVec3, edge: f64, depth: u32, distance: &impl Fn(DVec3) -> f64) -> f64 {
    let d = distance(center);
    // Half the diagonal of the cube, and a little.
    let reach = 0.867 * edge;
    if d >= reach {
        return 0.0;
    }
    if d <= -reach {
        return 1.0;
    }
    if depth == 0 {
        return below_plane(center, edge, distance);
    }
    let eighth = |k: u32| {
        let at = DVec3::new(f64::from(k & 1), f64::from(k >> 1 & 1), f64::from(k >> 2));
        part(center + (at - 0.5) * (0.5 * edge), 0.5 * edge, depth - 1, distance)
    };
    (0..8).map(eighth).sum::<f64>() / 8.0
}

/// The part below the plane that fits the distance: its slope from the differences between opposite faces, its constant from
/// the mean over the cube, d + Σ (d₊ + d₋ − 2d)/6, so that bent surfaces lose no volume; edges cost one part in 1e5.
fn below_plane(center: DVec3, edge: f64, distance: &impl Fn(DVec3) -> f64) -> f64 {
    let half = 0.5 * edge;
    let d = distance(center);
    let around = DVec3::AXES.map(|axis| [distance(center - half * axis), distance(center + half * axis)]);
    let slope = around.map(|[low, high]| high - low);
    let sum: f64 = slope.iter().map(|s| s.abs()).sum();
    if sum <= 1e-12 * edge {
        return if d <= 0.0 { 1.0 } else { 0.0 };
    }
    let bend = around.iter().map(|[low, high]| low + high - 2.0 * d).sum::<f64>() / 6.0;
    let mean = d + bend;
    let normal = slope.map(|s| s / sum);
    // n·x at the centre of the cell, less the distance in the same units.
    let constant = normal.iter().sum::<f64>() * 0.5 - mean / sum;
    Plane { normal, constant }.volume()
}

#[cfg(test)]
mod tests {
    use super::*;
    use meniscus_geometry::{Aabb, Region, Shape};

    #[test]
    fn volumes_of_shapes_are_exact() {
        let grid = Grid::new(&Aabb::new(DVec3::ZERO, DVec3::ONE), 1.0 / 16.0).unwrap();
        let total = |shape: Shape| {
            let region = Region::new(&shape).unwrap();
            let rows = grid.rows();
            let cells = rows.iter().flat_map(|row| row.start..row.start + row.len);
            let volume = cells.map(|p| fraction_inside(&grid, p, &|x| region.signed_distance(x))).sum::<f64>();
            volume * grid.spacing().powi(3) / region.volume() - 1.0
        };
        let ball = total(Shape::Sphere { center: DVec3::new(0.45, 0.52, 0.5), radius: 0.3 });
        assert!(ball.abs() < 1e-7, "{ball}");
        let block = total(Shape::Box(Aabb::new(DVec3::new(0.11, 0.0, 0.2), DVec3::new(0.57, 0.83, 0.9))));
        assert!(block.abs() < 1.2e-5, "{block}");
        let whole = total(Shape::Box(Aabb::new(DVec3::ZERO, DVec3::new(0.4, 0.8, 1.0))));
        assert!(whole.abs() < 1.2e-5, "{whole}");
    }
}
