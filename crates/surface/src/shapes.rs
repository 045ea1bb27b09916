//! Ellipsoids that lie along the surface \[YT13\].
//!
//! C_i = Σ_j w_ij (x_j − m_i)(x_j − m_i)ᵀ / Σ w_ij, m_i = Σ w_ij x_j / Σ w_ij, w_ij = 1 − (r/2.5)³; eigenvalues σ floored at
//! a quarter of the largest and divided by that of a full neighbourhood, so that inside a particle is a ball. Deviation:
//! centres stay where the particles are (λ = 0), which keeps the level of the balls; a particle with few neighbours is a ball.

use crate::REACH;
use crate::cloud::Sorted;
use glam::{Mat3, Vec3};
use meniscus_geometry::NeighbourGrid;

/// Neighbours within this distance count \[spacings\].
const WIDE: f32 = 2.5;

/// The eigenvalues of C in a lattice \[spacings²\]: computed, see the tests.
pub(crate) const LATTICE: f32 = 0.968;

/// The least eigenvalue over the largest.
const FLATTEST: f32 = 0.25;

/// Fewer neighbours than this say nothing about a direction.
const FEWEST: u32 = 10;

/// Radii over those of the ball.
const LIMITS: (f32, f32) = (0.3, 1.25);

/// An ellipsoid: q² = rᵀ G r.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Shape {
    /// xx, yy, zz, twice xy, xz, yz \[1/spacing²\].
    pub(crate) form: [f32; 6],
    /// Half the sides of the box around it \[spacings\].
    pub(crate) reach: [f32; 3],
    /// Volume of the ball over its own.
    pub(crate) density: f32,
}

/// The reach of the largest ellipsoid \[spacings\].
pub(crate) const LONGEST: f32 = REACH * LIMITS.1;

/// The ellipsoid of the point at a sorted index.
pub(crate) fn shape(grid: &NeighbourGrid, sorted: &Sorted, index: usize) -> Option<Shape> {
    let covariance = covariance(grid, sorted, index)?;
    let (values, axes) = eigen(covariance);
    let floor = FLATTEST * values.into_iter().fold(0.0, f32::max);
    let radius = values.map(|v| REACH * (v.max(floor) / LATTICE).clamp(LIMITS.0, LIMITS.1));
    let inverse = radius.map(|r| 1.0 / (r * r));
    let entry = |a: usize, b: usize| (0..3).map(|k| axes[k][a] * axes[k][b] * inverse[k]).sum::<f32>();
    let reach = |a: usize| (0..3).map(|k| (axes[k][a] * radius[k]) * (axes[k][a] * radius[k])).sum::<f32>().sqrt();
    Some(Shape {
        form: [entry(0, 0), entry(1, 1), entry(2, 2), 2.0 * entry(0, 1), 2.0 * entry(0, 2), 2.0 * entry(1, 2)],
        reach: [reach(0), reach(1), reach(2)],
        density: REACH * REACH * REACH / (radius[0] * radius[1] * radius[2]),
    })
}

/// C of the neighbours of a point, about their mean.
pub(crate) fn covariance(grid: &NeighbourGrid, sorted: &Sorted, index: usize) -> Option<Mat3> {
    let at = sorted.at(index);
    let (mut weights, mut mean, mut square, mut count) = (0.0, Vec3::ZERO, Mat3::ZERO, 0);
    let wide = Vec3::splat(WIDE);
    grid.for_each_range_in(at - wide, at + wide, |range| {
        for j in range {
            let r = sorted.at(j) - at;
            let q = r.length() / WIDE;
            if q < 1.0 && sorted.rank[j] == sorted.rank[index] {
                let w = 1.0 - q * q * q;
                weights += w;
                mean += w * r;
                square += Mat3::from_cols(w * r.x * r, w * r.y * r, w * r.z * r);
                count += 1;
            }
        }
    });
    let mean = mean / weights;
    let outer = Mat3::from_cols(mean.x * mean, mean.y * mean, mean.z * mean);
    (count > FEWEST).then(|| square * (1.0 / weights) - outer)
}

/// Eigenvalues and eigenvectors of a symmetric matrix, by Jacobi's rotations.
fn eigen(mut a: Mat3) -> ([f32; 3], [Vec3; 3]) {
    let mut axes = [Vec3::X, Vec3::Y, Vec3::Z];
    for _ in 0..6 {
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            let off = a.col(p)[q];
            if off.abs() < 1e-9 {
                continue;
            }
            let theta = (a.col(q)[q] - a.col(p)[p]) / (2.0 * off);
            let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
            let c = 1.0 / (t * t + 1.0).sqrt();
            let s = t * c;
            let mut turn = Mat3::IDENTITY;
            turn.col_mut(p)[p] = c;
            turn.col_mut(q)[q] = c;
            turn.col_mut(q)[p] = s;
            turn.col_mut(p)[q] = -s;
            a = turn.transpose() * a * turn;
            (axes[p], axes[q]) = (c * axes[p] - s * axes[q], s * axes[p] + c * axes[q]);
        }
    }
    ([a.x_axis.x, a.y_axis.y, a.z_axis.z], axes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eigenvectors_stretch_by_their_values() {
        let a = Mat3::from_cols(Vec3::new(2.0, 0.5, -0.3), Vec3::new(0.5, 1.0, 0.2), Vec3::new(-0.3, 0.2, 3.0));
        let (values, axes) = eigen(a);
        for (value, axis) in values.into_iter().zip(axes) {
            assert!((a * axis - value * axis).length() < 1e-5 && (axis.length() - 1.0).abs() < 1e-5);
        }
    }
}
