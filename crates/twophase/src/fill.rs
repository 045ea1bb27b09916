//! Volume fractions of a shape: the part of each cell below the zero of a signed distance.

use crate::grid::Grid;
use crate::plic::Plane;
use glam::DVec3;

/// How often a cell at the surface is halved.
const DEPTH: u32 = 4;
/// The same for cells that a solid cuts: their capacity is not known better.
const CUT_DEPTH: u32 = 2;

/// The part of a cell in which `distance` \[m\] is negative. Cells at the surface are halved a few times along each axis;
/// what is left is cut by a plane.
pub(crate) fn fraction_inside(grid: &Grid, index: usize, distance: &impl Fn(DVec3) -> f64) -> f64 {
    part(grid.center(index), grid.spacing(), DEPTH, distance)
}

/// The same for a cell that a solid cuts; `solid` is the signed distance from it. A shape that ends where the solid begins fills
/// what is left of the cell, without a film of gas. One that goes on into the solid, such as the half space below a level, counts
/// as if the solid were not there: then the interface lies where it lies in the cells beside it, and stays at rest.
pub(crate) fn fraction_of_open(
    grid: &Grid,
    index: usize,
    distance: &impl Fn(DVec3) -> f64,
    solid: &impl Fn(DVec3) -> f64,
) -> f64 {
    /// Parts of a cell that are not told apart.
    const FINEST: f64 = 1e-4;
    if !ends_at(grid.center(index), grid.spacing(), distance, solid) {
        return fraction_inside(grid, index, distance);
    }
    let inside = |shape: &dyn Fn(DVec3) -> f64| part(grid.center(index), grid.spacing(), CUT_DEPTH, &shape);
    let open = inside(&|x| -solid(x));
    let both = inside(&|x| distance(x).max(-solid(x)));
    if open < FINEST {
        return fraction_inside(grid, index, distance);
    }
    if both > open - FINEST { 1.0 } else { both / open }
}

/// Whether a cell that a shell cuts has nothing of a shape but behind the shell: the shape is not in its open part, nor near the shell's face there.
pub(crate) fn is_behind(
    grid: &Grid,
    index: usize,
    distance: &impl Fn(DVec3) -> f64,
    solid: &impl Fn(DVec3) -> f64,
) -> bool {
    let (center, edge) = (grid.center(index), grid.spacing());
    let both = part(center, edge, CUT_DEPTH, &|x: DVec3| distance(x).max(-solid(x)));
    let on = center - outwards(center, edge, solid) * solid(center);
    both <= 0.0 && distance(on) > 0.5 * edge
}

/// Unit normal of a solid near a position.
fn outwards(center: DVec3, edge: f64, solid: &impl Fn(DVec3) -> f64) -> DVec3 {
    let slope = |axis: DVec3| solid(center + axis * (0.1 * edge)) - solid(center - axis * (0.1 * edge));
    DVec3::new(slope(DVec3::X), slope(DVec3::Y), slope(DVec3::Z)).normalize_or_zero()
}

/// Whether a shape ends where a solid begins, to a quarter of a cell: its border is there, and half a cell deeper it is half a
/// cell away.
fn ends_at(center: DVec3, edge: f64, distance: &impl Fn(DVec3) -> f64, solid: &impl Fn(DVec3) -> f64) -> bool {
    let normal = outwards(center, edge, solid);
    let on = center - normal * solid(center);
    let deep = on - normal * (0.5 * edge);
    distance(on).abs() < 0.25 * edge && (distance(deep) - 0.5 * edge).abs() < 0.25 * edge
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

    /// A cup filled to its wall has no gas along it, wherever the wall lies in its cells.
    #[test]
    fn liquid_that_touches_a_solid_leaves_no_film() {
        let grid = Grid::new(&Aabb::new(DVec3::ZERO, DVec3::ONE), 1.0 / 8.0).unwrap();
        let cup = |x: DVec3| 0.31 - (x.with_y(0.5) - 0.5).length();
        let liquid = |x: DVec3| (-cup(x)).max(x.y - 0.55);
        for p in grid.rows().iter().flat_map(|row| row.start..row.start + row.len) {
            let f = fraction_of_open(&grid, p, &liquid, &cup);
            let (y, open) = (grid.center(p).y, fraction_inside(&grid, p, &|x| -cup(x)));
            let expected = if y < 0.5 {
                1.0
            } else if y > 0.625 {
                0.0
            } else {
                0.4
            };
            assert!(open < 1e-3 || (f - expected).abs() < 0.02, "{f} at {}", grid.center(p));
        }
    }

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
