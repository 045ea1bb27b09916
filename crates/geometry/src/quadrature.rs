//! Integrals over triangles: seven points, exact to degree five, on any number of equal pieces.
//!
//! ∫ f dA ≈ A Σ w f(λ)  \[Rad48; MSTHG04 eq. 13, tab. 1\]. The points are the centroid and two orbits of three,
//! here with the closed forms of which the paper prints eight digits:
//!
//! | λ         | parameter          | weight             |
//! |-----------|--------------------|--------------------|
//! | (⅓, ⅓, ⅓) |                    | 9/40               |
//! | (a, b, b) | b = (6 + √15) / 21 | (155 + √15) / 1200 |
//! | (c, d, d) | d = (6 − √15) / 21 | (155 − √15) / 1200 |
//!
//! with a = 1 − 2b and c = 1 − 2d. Cutting a triangle into n² equal pieces shrinks the offsets of the points from the
//! centroid by n; the n(n−1)/2 pieces that stand on their heads take the negated offsets, which the paper leaves out.
//! The barycentric coordinates λ always refer to the whole triangle.

use glam::DVec3;

/// A point of a quadrature rule.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// Barycentric coordinates λ in the whole triangle: one per corner, dimensionless, with sum 1.
    pub lambda: DVec3,
    /// Share of the triangle's area, dimensionless; the shares of all samples add up to 1.
    pub weight: f64,
}

impl Sample {
    /// Where it lies in a triangle \[m\], or what a quantity given at the corners is there.
    #[must_use]
    pub fn at(&self, [a, b, c]: [DVec3; 3]) -> DVec3 {
        self.lambda.x * a + self.lambda.y * b + self.lambda.z * c
    }
}

/// The seven points of the rule on the whole triangle.
#[must_use]
pub fn seven_points() -> [Sample; 7] {
    let root = 15f64.sqrt();
    let (b, d) = ((6.0 + root) / 21.0, (6.0 - root) / 21.0);
    let (a, c) = (1.0 - 2.0 * b, 1.0 - 2.0 * d);
    let (e, f) = ((155.0 + root) / 1200.0, (155.0 - root) / 1200.0);
    let sample = |x, y, z, weight| Sample { lambda: DVec3::new(x, y, z), weight };
    [
        sample(1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0, 9.0 / 40.0),
        sample(a, b, b, e),
        sample(b, a, b, e),
        sample(b, b, a, e),
        sample(c, d, d, f),
        sample(d, c, d, f),
        sample(d, d, c, f),
    ]
}

/// The 7n² points of the rule on a triangle cut into n² equal pieces; `n` is at least 1.
///
/// They depend on n alone: collect them once and use them for every triangle that is cut n times.
///
/// ```
/// use glam::DVec3;
/// use meniscus_geometry::quadrature;
///
/// let corners = [DVec3::ZERO, DVec3::X, DVec3::Y];
/// let area = 0.5;
/// let moment: DVec3 = quadrature::subdivided(3).map(|s| area * s.weight * s.at(corners)).sum();
/// assert!(moment.distance(area * DVec3::new(1.0, 1.0, 0.0) / 3.0) < 1e-15);
/// ```
pub fn subdivided(n: u32) -> impl Iterator<Item = Sample> {
    let n = n.max(1);
    let parts = f64::from(n);
    let offsets = seven_points().map(|s| Sample { lambda: s.lambda - 1.0 / 3.0, weight: s.weight });
    pieces(n).flat_map(move |(centroid, sign)| {
        offsets.map(|s| Sample { lambda: (centroid + sign * s.lambda) / parts, weight: s.weight / (parts * parts) })
    })
}

/// The pieces of a triangle cut along n − 1 lines per side: n times the centroid's λ, and −1 for those upside down.
fn pieces(n: u32) -> impl Iterator<Item = (DVec3, f64)> {
    let piece = move |i: u32, j: u32, third: f64, sign: f64| {
        let (x, y) = (f64::from(i) + third, f64::from(j) + third);
        (DVec3::new(x, y, f64::from(n) - x - y), sign)
    };
    let rows = move |last: u32| (0..last).flat_map(move |i| (0..last - i).map(move |j| (i, j)));
    let upright = rows(n).map(move |(i, j)| piece(i, j, 1.0 / 3.0, 1.0));
    let inverted = rows(n - 1).map(move |(i, j)| piece(i, j, 2.0 / 3.0, -1.0));
    upright.chain(inverted)
}

/// How often to cut the sides of a triangle so that no side of a piece is longer than `longest` \[m\], at most `limit`.
#[must_use]
pub fn subdivisions([a, b, c]: [DVec3; 3], longest: f64, limit: u32) -> u32 {
    let edge = a.distance(b).max(b.distance(c)).max(c.distance(a));
    // Saturates: a `longest` of zero gives the limit.
    ((edge / longest).ceil() as u32).clamp(1, limit.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The mean of xᵖ yᵠ over the triangle (0,0), (1,0), (0,1): 2 p! q! / (p+q+2)!.
    fn mean(p: i32, q: i32) -> f64 {
        let factorial = |n: i32| (1..=n).map(f64::from).product::<f64>();
        2.0 * factorial(p) * factorial(q) / factorial(p + q + 2)
    }

    fn by_rule(samples: &[Sample], p: i32, q: i32) -> f64 {
        samples.iter().map(|s| s.weight * s.lambda.x.powi(p) * s.lambda.y.powi(q)).sum()
    }

    fn worst_error(samples: &[Sample], degree: i32) -> f64 {
        (0..=degree).map(|p| (by_rule(samples, p, degree - p) - mean(p, degree - p)).abs()).fold(0.0, f64::max)
    }

    #[test]
    fn the_constants_are_those_of_the_table() {
        let [center, abb, .., ddc] = seven_points();
        assert!((abb.lambda - DVec3::new(0.0597158717897699, 0.470142064105115, 0.470142064105115)).length() < 1e-14);
        assert!((ddc.lambda - DVec3::new(0.101286507323456, 0.101286507323456, 0.797426985353087)).length() < 1e-14);
        let weights = DVec3::new(center.weight, abb.weight, ddc.weight);
        assert!((weights - DVec3::new(0.225, 0.132394152788506, 0.125939180544827)).length() < 1e-14);
    }

    #[test]
    fn the_rule_is_exact_to_degree_five() {
        let samples = seven_points();
        assert!((by_rule(&samples, 0, 0) - 1.0).abs() < 1e-15);
        for degree in 0..=5 {
            assert!(worst_error(&samples, degree) < 1e-15, "degree {degree}: {:e}", worst_error(&samples, degree));
        }
        assert!((worst_error(&samples, 6) - 1.64e-4).abs() < 5e-7, "{:e}", worst_error(&samples, 6));
    }

    #[test]
    fn swapped_weights_would_be_noticed() {
        let mut samples = seven_points();
        let (e, f) = (samples[1].weight, samples[4].weight);
        samples[1..4].iter_mut().for_each(|s| s.weight = f);
        samples[4..].iter_mut().for_each(|s| s.weight = e);
        assert!((by_rule(&samples, 0, 0) - 1.0).abs() < 1e-15, "the sum alone does not notice");
        assert!((by_rule(&samples, 2, 0) - 0.168027).abs() < 5e-7);
        assert!((by_rule(&seven_points(), 2, 0) - 1.0 / 6.0).abs() < 1e-15);
    }

    #[test]
    fn a_third_of_the_pieces_of_a_fine_cut_are_upside_down() {
        for n in 1..8 {
            let inverted = pieces(n).filter(|piece| piece.1 < 0.0).count() as u32;
            assert_eq!((pieces(n).count() as u32, inverted), (n * n, n * (n - 1) / 2));
        }
        assert!(subdivided(0).eq(subdivided(1)));
    }

    #[test]
    fn pieces_make_the_rule_converge_with_sixth_order() {
        let error = |n| worst_error(&subdivided(n).collect::<Vec<_>>(), 6);
        let order = (error(1) / error(4)).log2() / 2.0;
        assert!((order - 6.0).abs() < 0.05, "{order}");
    }

    #[test]
    fn edges_decide_how_often_to_cut() {
        let corners = [DVec3::ZERO, 3.0 * DVec3::X, DVec3::Y];
        let cuts = |longest| subdivisions(corners, longest, 100);
        assert_eq!([cuts(10.0), cuts(4.0), cuts(1.0), cuts(0.0), cuts(f64::NAN)], [1, 1, 4, 100, 1]);
    }

    proptest! {
        #[test]
        fn every_cut_is_exact_to_degree_five(n in 1u32..7, degree in 0i32..6) {
            let samples: Vec<_> = subdivided(n).collect();
            prop_assert_eq!(samples.len() as u32, 7 * n * n);
            let proper = |s: &Sample| s.lambda.min_element() > 0.0 && (s.lambda.element_sum() - 1.0).abs() < 1e-15;
            prop_assert!(samples.iter().all(proper));
            prop_assert!(worst_error(&samples, degree) < 1e-14);
        }

        #[test]
        fn first_moments_are_those_of_the_centroid(
            n in 1u32..7, c in prop::array::uniform3(prop::array::uniform3(-1.0..1.0f64)),
        ) {
            let corners = c.map(DVec3::from);
            let area = crate::triangle::area_vector(corners).length();
            let moment: DVec3 = subdivided(n).map(|s| area * s.weight * s.at(corners)).sum();
            prop_assert!(moment.distance(area * corners.iter().sum::<DVec3>() / 3.0) < 1e-14);
        }
    }
}
