//! Particles that fill a closed surface and follow it.
//!
//! A lattice cuts through a surface and leaves steps. Here the particles of the lattice inside push each other apart until
//! they are even, and none comes nearer to the surface than half a spacing: the outermost layer lies along it, and
//! volume over spacing³ particles have room.

use glam::{DVec3, Vec3};
use meniscus_core::kernel::Kernel;
use meniscus_geometry::{Bvh, FillError, NeighbourGrid, Periodic, Shape, TriangleMesh, fill};
use rayon::prelude::*;

/// Rounds of pushing.
const ROUNDS: usize = 60;

/// Support radius of the pushes, in spacings.
const SUPPORT: f64 = 2.0;

/// Part of a spacing that a particle moves at most in a round.
const LARGEST: f64 = 0.1;

/// Positions \[m\] about a spacing \[m\] apart that fill a closed surface and keep half a spacing from it.
///
/// # Errors
/// When the surface is open or the spacing makes no sense.
pub fn pack(surface: &TriangleMesh, spacing: f64) -> Result<Vec<DVec3>, FillError> {
    let mut positions = fill(&Shape::Mesh(surface.clone()), spacing, &[])?;
    let tree = Bvh::new(surface);
    let h = SUPPORT * spacing;
    let mut grid = NeighbourGrid::default();
    let mut singles: Vec<Vec3> = Vec::new();
    let mut moved = positions.clone();
    for _ in 0..ROUNDS {
        singles.clear();
        singles.extend(positions.iter().map(|p| p.as_vec3()));
        grid.sort(&singles, h as f32, Periodic::default());
        moved.par_iter_mut().with_min_len(64).enumerate().for_each(|(i, to)| {
            let x = positions[i];
            let push = spread(&positions, (&grid, singles[i]), x, h);
            // Half of what would even out a pair, and never through the surface.
            let room = (0.5 * depth_of(&tree, x, spacing)).min(LARGEST * spacing);
            let step = (push * (0.25 * spacing)).clamp_length_max(room);
            *to = keep_inside(&tree, x + step, 0.5 * spacing);
        });
        std::mem::swap(&mut positions, &mut moved);
    }
    Ok(positions)
}

/// −Σ ∇W h⁴ of the others, about one for a neighbour missing.
fn spread(positions: &[DVec3], (grid, single): (&NeighbourGrid, Vec3), x: DVec3, h: f64) -> DVec3 {
    let reach = Vec3::splat(h as f32);
    let mut sum = DVec3::ZERO;
    grid.for_each_range_in(single - reach, single + reach, |range| {
        for &j in &grid.order()[range] {
            let away = x - positions[j as usize];
            let r = away.length();
            if r > 0.0 && r < h {
                sum -= away * (Kernel::SPIKY.slope(r / h) / (r * Kernel::SPIKY.slope(0.0).abs()));
            }
        }
    });
    sum
}

/// Distance from the surface \[m\], up to `most`.
fn depth_of(tree: &Bvh, x: DVec3, most: f64) -> f64 {
    tree.closest_within(x, most).map_or(most, |closest| closest.distance())
}

/// A position not nearer to the surface than `depth` \[m\], if there is room, for a position inside.
fn keep_inside(tree: &Bvh, x: DVec3, depth: f64) -> DVec3 {
    let Some(closest) = tree.closest_within(x, depth) else { return x };
    let moved = closest.point + (x - closest.point).normalize_or_zero() * depth;
    // In thin parts the other side is as near, and the middle is the best place.
    let free = depth_of(tree, moved, depth) > 0.99 * depth;
    if free || closest.distance() < 0.1 * depth && tree.inside(moved) { moved } else { x }
}

#[cfg(test)]
mod tests {
    use super::*;
    use meniscus_geometry::solids;

    #[test]
    fn a_packed_ball_follows_its_surface() {
        let (radius, s) = (0.1, 0.0125);
        let ball = solids::icosphere(DVec3::ZERO, radius, 12);
        let positions = pack(&ball, s).unwrap();
        let expected = ball.signed_volume() / (s * s * s);
        assert!((positions.len() as f64 / expected - 1.0).abs() < 0.03, "{} of {expected}", positions.len());
        // The outermost layer: as many as its area asks for, all at the same depth.
        let outer = positions.iter().filter(|p| p.length() > radius - 0.75 * s).count() as f64;
        let area = 4.0 * std::f64::consts::PI * (radius - 0.5 * s) * (radius - 0.5 * s);
        assert!((outer / (area / (s * s)) - 1.0).abs() < 0.2, "{outer} of {}", area / (s * s));
        let farthest = positions.iter().map(|p| p.length()).fold(0.0, f64::max);
        assert!(farthest < radius - 0.45 * s, "{farthest}");
        let nearest = |i: usize| {
            let others = positions.iter().enumerate().filter(|&(j, _)| j != i);
            others.map(|(_, q)| q.distance(positions[i])).fold(f64::INFINITY, f64::min)
        };
        let closest = (0..positions.len()).map(nearest).fold(f64::INFINITY, f64::min);
        assert!(closest > 0.7 * s, "{closest}");
    }
}
