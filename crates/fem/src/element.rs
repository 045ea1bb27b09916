//! Tetrahedra of 4 and of 10 nodes, with straight sides.
//!
//! Legend: L the four barycentric coordinates, gₐ = ∇Lₐ the gradients of the corners \[1/m\], Nₐ the shape functions.
//!
//! | | linear | quadratic |
//! |---|---|---|
//! | corner a | Nₐ = Lₐ | Nₐ = Lₐ (2 Lₐ − 1) |
//! | edge ij | | N = 4 Lᵢ Lⱼ |
//! | points | the centre | four of Gauss, exact to degree 2: the stiffness of linear material |
//! | mass of a node | ¼ | 1/36 at corners, 4/27 at edges |
//!
//! The masses of quadratic elements are the diagonal of the consistent matrix (6 and 32 parts of 420), scaled to the
//! whole \[HRZ76\]: the sums of its rows would be negative at the corners (−1/20).

use crate::params::Order;
use glam::DVec3;
use meniscus_geometry::tet_volume;

/// Corners of the six edges, in the order of their nodes.
pub(crate) const EDGES: [[usize; 2]; 6] = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]];

/// Corners of the four faces, each opposite the corner of its number, counter-clockwise seen from outside.
pub(crate) const FACES: [[usize; 3]; 4] = [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]];

/// The kind of element: all that differs between them.
pub(crate) trait Element<const N: usize>: Send + Sync {
    /// Points at which strain is taken; all have the same share of the volume.
    const POINTS: usize;
    /// Share of each node in the mass.
    const MASS: [f64; N];

    /// Values of the shape functions.
    fn values(barycentric: [f64; 4]) -> [f64; N];
    /// ∇Nₐ at a point \[1/m\], from the gradients of the corners.
    fn gradients(point: usize, g: &[DVec3; 4]) -> [DVec3; N];
}

/// 4 nodes.
pub(crate) struct Linear;

/// 10 nodes.
pub(crate) struct Quadratic;

impl Element<4> for Linear {
    const POINTS: usize = 1;
    const MASS: [f64; 4] = [0.25; 4];

    fn values(barycentric: [f64; 4]) -> [f64; 4] {
        barycentric
    }

    #[inline(always)]
    fn gradients(_: usize, g: &[DVec3; 4]) -> [DVec3; 4] {
        *g
    }
}

/// The two coordinates of Gauss's points: (5 + 3√5)/20 for one corner, (5 − √5)/20 for the others.
const NEAR_CORNER: f64 = 0.585_410_196_624_968_5;
const FAR: f64 = 0.138_196_601_125_010_5;

impl Element<10> for Quadratic {
    const POINTS: usize = 4;
    const MASS: [f64; 10] = {
        let (corner, edge) = (1.0 / 36.0, 4.0 / 27.0);
        [corner, corner, corner, corner, edge, edge, edge, edge, edge, edge]
    };

    fn values(l: [f64; 4]) -> [f64; 10] {
        std::array::from_fn(|a| match a {
            0..4 => l[a] * (2.0 * l[a] - 1.0),
            _ => 4.0 * l[EDGES[a - 4][0]] * l[EDGES[a - 4][1]],
        })
    }

    #[inline(always)]
    fn gradients(point: usize, g: &[DVec3; 4]) -> [DVec3; 10] {
        let l = |a: usize| if a == point { NEAR_CORNER } else { FAR };
        std::array::from_fn(|a| match a {
            0..4 => (4.0 * l(a) - 1.0) * g[a],
            _ => {
                let [i, j] = EDGES[a - 4];
                4.0 * (l(i) * g[j] + l(j) * g[i])
            }
        })
    }
}

impl Order {
    /// Nodes per tetrahedron.
    pub(crate) fn nodes(self) -> usize {
        match self {
            Self::Linear => 4,
            Self::Quadratic => 10,
        }
    }

    /// Points per tetrahedron at which strain is taken.
    pub(crate) fn points(self) -> usize {
        match self {
            Self::Linear => Linear::POINTS,
            Self::Quadratic => Quadratic::POINTS,
        }
    }

    /// Share of a node in the mass of its tetrahedron.
    pub(crate) fn mass_share(self, node: usize) -> f64 {
        match self {
            Self::Linear => Linear::MASS[node],
            Self::Quadratic => Quadratic::MASS[node],
        }
    }
}

/// Runs a generic function for the body's kind of element.
macro_rules! with_element {
    ($order:expr, $function:ident($($argument:expr),* $(,)?)) => {
        match $order {
            $crate::params::Order::Linear => $function::<$crate::element::Linear, 4>($($argument),*),
            $crate::params::Order::Quadratic => $function::<$crate::element::Quadratic, 10>($($argument),*),
        }
    };
}
pub(crate) use with_element;

/// Gradients of the corners \[1/m\] and volume \[m³\] of a tetrahedron at rest.
pub(crate) fn corner_gradients(corners: [DVec3; 4]) -> ([DVec3; 4], f64) {
    let [a, b, c, d] = corners;
    let volume = tet_volume(corners);
    let (u, v, w) = (b - a, c - a, d - a);
    let scale = 1.0 / (6.0 * volume);
    let (gb, gc, gd) = (v.cross(w) * scale, w.cross(u) * scale, u.cross(v) * scale);
    ([-(gb + gc + gd), gb, gc, gd], volume)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CORNERS: [DVec3; 4] =
        [DVec3::new(0.1, 0.2, -0.3), DVec3::new(1.3, 0.1, 0.2), DVec3::new(0.4, 1.1, 0.1), DVec3::new(0.2, 0.3, 0.9)];

    fn point<const N: usize>(nodes: [DVec3; N], values: [f64; N]) -> DVec3 {
        nodes.iter().zip(values).fold(DVec3::ZERO, |sum, (x, n)| sum + *x * n)
    }

    fn quadratic_nodes() -> [DVec3; 10] {
        std::array::from_fn(|a| match a {
            0..4 => CORNERS[a],
            _ => 0.5 * (CORNERS[EDGES[a - 4][0]] + CORNERS[EDGES[a - 4][1]]),
        })
    }

    fn suite<E: Element<N>, const N: usize>(nodes: [DVec3; N]) {
        let (g, volume) = corner_gradients(CORNERS);
        assert!(volume > 0.0);
        assert!((E::MASS.iter().sum::<f64>() - 1.0).abs() < 1e-15 && E::MASS.iter().all(|&m| m > 0.0));
        let l = [0.1, 0.2, 0.3, 0.4];
        assert!((E::values(l).iter().sum::<f64>() - 1.0).abs() < 1e-15);
        assert!(point(nodes, E::values(l)).distance(point(CORNERS, l)) < 1e-15, "coordinates are reproduced");
        for q in 0..E::POINTS {
            let gradients = E::gradients(q, &g);
            assert!(gradients.iter().sum::<DVec3>().length() < 1e-14, "constants have no gradient");
            // ∇(aᵀx) = a for any a, so Σ xᵢ ⊗ ∇Nᵢ is one.
            for axis in [DVec3::X, DVec3::Y, DVec3::Z] {
                let sum = nodes.iter().zip(gradients).fold(DVec3::ZERO, |sum, (x, g)| sum + g * x.dot(axis));
                assert!(sum.distance(axis) < 1e-14);
            }
        }
    }

    #[test]
    fn shape_functions_reproduce_positions_and_slopes() {
        suite::<Linear, 4>(CORNERS);
        suite::<Quadratic, 10>(quadratic_nodes());
    }

    #[test]
    fn gradients_of_quadratic_elements_are_those_of_their_values() {
        let (g, _) = corner_gradients(CORNERS);
        for q in 0..Quadratic::POINTS {
            let l: [f64; 4] = std::array::from_fn(|a| if a == q { NEAR_CORNER } else { FAR });
            let gradients = Quadratic::gradients(q, &g);
            for axis in [DVec3::X, DVec3::Y, DVec3::Z] {
                let e = 1e-6;
                let moved = |e: f64| Quadratic::values(std::array::from_fn(|a| l[a] + e * g[a].dot(axis)));
                let (plus, minus) = (moved(e), moved(-e));
                for a in 0..10 {
                    let slope = (plus[a] - minus[a]) / (2.0 * e);
                    assert!((slope - gradients[a].dot(axis)).abs() < 1e-9);
                }
            }
        }
    }

    #[test]
    fn gauss_points_are_exact_to_second_degree() {
        assert!((NEAR_CORNER - (5.0 + 3.0 * 5f64.sqrt()) / 20.0).abs() < 1e-15);
        assert!((FAR - (5.0 - 5f64.sqrt()) / 20.0).abs() < 1e-15);
        // The mean of L₀² is 1/10, of L₀L₁ 1/20.
        assert!((0.25 * (NEAR_CORNER * NEAR_CORNER + 3.0 * FAR * FAR) - 0.1).abs() < 1e-15);
        assert!((0.25 * (2.0 * NEAR_CORNER * FAR + 2.0 * FAR * FAR) - 0.05).abs() < 1e-15);
    }
}
