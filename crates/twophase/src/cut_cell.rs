//! Open parts of faces and cells under a signed distance ψ, positive in the fluids, that is known at the nodes.
//!
//! ψ is linear in each of the four triangles around the middle of a face, and in each of the 24 tetrahedra that these triangles make
//! with the middle of a cell; middles take the mean of the corners. Faces and cells see the same ψ, and both parts are continuous when
//! ψ moves: a wall that crosses a cell changes its capacity by what it sweeps, without jumps.

use crate::grid::Grid;

/// Faces that are less open than this are closed.
const SLIVER: f64 = 0.01;

/// ψ at the corners of the face before a cell, in order around it.
#[inline(always)]
fn face_corners(grid: &Grid, nodes: &[f64], axis: usize, p: usize) -> [f64; 4] {
    let (s, t) = (grid.stride((axis + 1) % 3), grid.stride((axis + 2) % 3));
    [nodes[p], nodes[p + s], nodes[p + s + t], nodes[p + t]]
}

/// Whether all values are positive, or none is.
#[inline(always)]
fn uniform(values: &[f64]) -> Option<f64> {
    let positive = values.iter().filter(|v| **v > 0.0).count();
    match positive {
        0 => Some(0.0),
        n if n == values.len() => Some(1.0),
        _ => None,
    }
}

/// Open part of the face before a cell, dimensionless, while ψ goes from the first field to the second, linearly: the mean over five
/// instants, those at the ends counting half. With one instant, a cell's walls would sweep up to a third more or less than its capacity
/// changes; without the ends, a cell that a wall covers early in the interval would be shut before it is empty.
pub(crate) fn open_part(grid: &Grid, [first, last]: [&[f64]; 2], axis: usize, p: usize) -> f64 {
    const WEIGHTS: [f64; 5] = [0.125, 0.25, 0.25, 0.25, 0.125];
    let (a, b) = (face_corners(grid, first, axis, p), face_corners(grid, last, axis, p));
    let part = match (uniform(&a), uniform(&b)) {
        (Some(x), Some(y)) if x == y => x,
        _ if a == b => part_of_square(a),
        _ => {
            let at = |k: usize| part_of_square(std::array::from_fn(|i| a[i] + 0.25 * k as f64 * (b[i] - a[i])));
            WEIGHTS.iter().enumerate().map(|(k, weight)| weight * at(k)).sum::<f64>()
        }
    };
    if part < SLIVER { 0.0 } else { part }
}

/// The part of a square in which ψ, linear in the four triangles around its middle, is positive.
fn part_of_square(corners: [f64; 4]) -> f64 {
    let middle = 0.25 * (corners[0] + corners[1] + corners[2] + corners[3]);
    (0..4).map(|k| part_of_triangle([corners[k], corners[(k + 1) % 4], middle])).sum::<f64>() / 4.0
}

/// Corners of a cell: bit d is set where the coordinate along axis d is high. Each face in order around it.
const FACES: [[usize; 4]; 6] = [[0, 2, 6, 4], [1, 3, 7, 5], [0, 4, 5, 1], [2, 6, 7, 3], [0, 1, 3, 2], [4, 5, 7, 6]];

/// Open part of a cell, dimensionless.
pub(crate) fn open_volume(grid: &Grid, nodes: &[f64], p: usize) -> f64 {
    let (y, z) = (grid.stride(1), grid.stride(2));
    let corner = |k: usize| nodes[p + (k & 1) + (k >> 1 & 1) * y + (k >> 2) * z];
    part_of_cube(std::array::from_fn(corner))
}

fn part_of_cube(corners: [f64; 8]) -> f64 {
    if let Some(part) = uniform(&corners) {
        return part;
    }
    let middle = 0.125 * corners.iter().sum::<f64>();
    let pyramid = |face: &[usize; 4]| {
        let around = face.map(|k| corners[k]);
        let center = 0.25 * (around[0] + around[1] + around[2] + around[3]);
        (0..4).map(|k| part_of_tetrahedron([around[k], around[(k + 1) % 4], center, middle])).sum::<f64>()
    };
    FACES.iter().map(pyramid).sum::<f64>() / 24.0
}

/// The part of a triangle in which the linear function with these corner values is positive.
fn part_of_triangle(values: [f64; 3]) -> f64 {
    let positive = values.iter().filter(|v| **v > 0.0).count();
    // The part around the one corner that differs from the two others.
    let tip = |a: f64, b: f64, c: f64| (a / (a - b)) * (a / (a - c));
    let around = |sign: bool| {
        (0..3)
            .find(|&k| (values[k] > 0.0) == sign)
            .map_or(0.0, |k| tip(values[k], values[(k + 1) % 3], values[(k + 2) % 3]))
    };
    match positive {
        0 => 0.0,
        1 => around(true),
        2 => 1.0 - around(false),
        _ => 1.0,
    }
}

/// The part of a tetrahedron in which the linear function with these corner values is positive.
fn part_of_tetrahedron(values: [f64; 4]) -> f64 {
    // Positive corners first, in a fixed order.
    let mut sorted = [0.0; 4];
    let (mut front, mut back) = (0, 4);
    for v in values {
        if v > 0.0 {
            sorted[front] = v;
            front += 1;
        } else {
            back -= 1;
            sorted[back] = v;
        }
    }
    let [p, q, r, s] = sorted;
    // How far from a corner to another the function is zero.
    let way = |from: f64, to: f64| from / (from - to);
    match front {
        0 => 0.0,
        1 => way(p, q) * way(p, r) * way(p, s),
        2 => {
            let [a, b, c, d] = [way(p, r), way(p, s), way(q, r), way(q, s)];
            a * b + (1.0 - a) * b * c + (1.0 - b) * c * d
        }
        3 => 1.0 - way(s, p) * way(s, q) * way(s, r),
        _ => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plane_through_a_cube_cuts_off_its_part() {
        // ψ = n·x − α is linear: the parts are those of planes, whatever the tetrahedra.
        for (normal, constant) in [([1.0, 0.0, 0.0], 0.3), ([0.0, 0.0, -1.0], -0.8), ([0.2, 0.5, 0.3], 0.45)] {
            let at = |k: usize| {
                let x = [k & 1, k >> 1 & 1, k >> 2].map(|i| i as f64);
                (0..3).map(|d| normal[d] * x[d]).sum::<f64>() - constant
            };
            let plane = crate::plic::Plane { normal, constant };
            let part = part_of_cube(std::array::from_fn(at));
            assert!((part - (1.0 - plane.volume())).abs() < 1e-14, "{part}");
        }
    }

    #[test]
    fn parts_and_their_complements_are_one() {
        let mut seed = 1u64;
        let mut value = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 11) as f64 / (1u64 << 53) as f64 - 0.5
        };
        for _ in 0..1000 {
            let corners: [f64; 8] = std::array::from_fn(|_| value());
            let sum = part_of_cube(corners) + part_of_cube(corners.map(|v| -v));
            assert!((sum - 1.0).abs() < 1e-13, "{sum}");
        }
    }

    /// A ball that moves through the grid keeps its volume to a few parts in a million.
    #[test]
    fn the_volume_of_a_moving_ball_hardly_breathes() {
        use glam::DVec3;
        let grid = Grid::new(&meniscus_geometry::Aabb::new(DVec3::ZERO, DVec3::splat(30.0)), 1.0).unwrap();
        let volume = |shift: f64| {
            let middle = DVec3::new(15.0 + shift, 15.1, 15.2 + 0.3 * shift);
            let nodes: Vec<f64> =
                (0..grid.len()).map(|p| grid.position(p, DVec3::ZERO).distance(middle) - 12.0).collect();
            let cells = grid.rows().iter().flat_map(|row| row.start..row.start + row.len);
            cells.map(|p| 1.0 - open_volume(&grid, &nodes, p)).sum::<f64>()
        };
        let volumes: Vec<f64> = (0..6).map(|k| volume(f64::from(k) / 6.0)).collect();
        let (least, most) = volumes.iter().fold((f64::MAX, 0.0f64), |(a, b), &v| (a.min(v), b.max(v)));
        assert!((most - least) / most < 1e-5, "{}", (most - least) / most);
    }
}
