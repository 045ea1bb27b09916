//! One triangle: area, angles, closest point, solid angle, crossing with a segment.
//!
//! Legend: `[a, b, c]` corners \[m\]; λ barycentric coordinates, one per corner, with sum 1.

use glam::{DVec2, DVec3};

/// Height over longest edge below which a triangle counts as having no area: its normal would be noise.
const FLAT: f64 = 1e-12;

/// Height over longest edge below which the plane of a triangle is too uncertain to rely on alone.
const SLIVER: f64 = 1e-3;

/// Half the cross product of two edges \[m²\]: the normal with the area as its length.
pub(crate) fn area_vector([a, b, c]: [DVec3; 3]) -> DVec3 {
    0.5 * (b - a).cross(c - a)
}

/// Volume of the tetrahedron over the triangle with its tip at `origin` \[m³\], positive behind the triangle.
pub(crate) fn signed_volume([a, b, c]: [DVec3; 3], origin: DVec3) -> f64 {
    (a - origin).dot((b - origin).cross(c - origin)) / 6.0
}

fn longest_edge_squared([a, b, c]: [DVec3; 3]) -> f64 {
    a.distance_squared(b).max(b.distance_squared(c)).max(c.distance_squared(a))
}

/// Whether the triangle has no area as far as double precision can tell.
pub(crate) fn is_flat(corners: [DVec3; 3]) -> bool {
    thinner_than(FLAT, corners, 2.0 * area_vector(corners))
}

/// Whether height over longest edge is at most `ratio`, given the cross product of two edges; true as well when that
/// cannot be computed.
fn thinner_than(ratio: f64, corners: [DVec3; 3], normal: DVec3) -> bool {
    let limit = ratio * longest_edge_squared(corners);
    let thick = normal.length_squared() > limit * limit;
    !thick
}

/// The angles at the three corners \[rad\].
pub(crate) fn angles([a, b, c]: [DVec3; 3]) -> [f64; 3] {
    let between = |u: DVec3, v: DVec3| libm::atan2(u.cross(v).length(), u.dot(v));
    [between(b - a, c - a), between(c - b, a - b), between(a - c, b - c)]
}

/// The point λ₀ a + λ₁ b + λ₂ c.
pub(crate) fn at([a, b, c]: [DVec3; 3], lambda: DVec3) -> DVec3 {
    lambda.x * a + lambda.y * b + lambda.z * c
}

/// The point of a triangle that is nearest to `p`, and its barycentric coordinates.
///
/// If the projection falls inside, it is the answer. If not, the answer lies on an edge that separates the projection
/// from the triangle. On slivers the sign that says so is uncertain, so there every edge is tried.
#[must_use]
pub fn closest_point(p: DVec3, corners: [DVec3; 3]) -> (DVec3, DVec3) {
    let [a, b, c] = corners;
    let (pa, pb, pc) = (a - p, b - p, c - p);
    let normal = (b - a).cross(c - a);
    // Twice the areas of the projected triangles opposite the corners, times |normal|.
    let u = DVec3::new(pb.cross(pc).dot(normal), pc.cross(pa).dot(normal), pa.cross(pb).dot(normal));
    let sliver = thinner_than(SLIVER, corners, normal);
    let mut best = Candidate::NONE;
    if u.min_element() > 0.0 {
        let lambda = u / u.element_sum();
        best = Candidate::new(p, at(corners, lambda), lambda);
        if !sliver {
            return (best.point, lambda);
        }
    }
    if sliver || u.x <= 0.0 {
        let (point, t) = on_segment(p, b, c);
        best = best.or(Candidate::new(p, point, DVec3::new(0.0, 1.0 - t, t)));
    }
    if sliver || u.y <= 0.0 {
        let (point, t) = on_segment(p, c, a);
        best = best.or(Candidate::new(p, point, DVec3::new(t, 0.0, 1.0 - t)));
    }
    if sliver || u.z <= 0.0 {
        let (point, t) = on_segment(p, a, b);
        best = best.or(Candidate::new(p, point, DVec3::new(1.0 - t, t, 0.0)));
    }
    (best.point, best.lambda)
}

/// A point that may be the nearest.
#[derive(Clone, Copy)]
struct Candidate {
    distance_squared: f64,
    point: DVec3,
    lambda: DVec3,
}

impl Candidate {
    const NONE: Self = Self { distance_squared: f64::INFINITY, point: DVec3::NAN, lambda: DVec3::NAN };

    fn new(p: DVec3, point: DVec3, lambda: DVec3) -> Self {
        Self { distance_squared: p.distance_squared(point), point, lambda }
    }

    fn or(self, other: Self) -> Self {
        if other.distance_squared < self.distance_squared { other } else { self }
    }
}

/// The nearest point of the segment from `a` to `b`, and how far along it lies, from 0 to 1.
fn on_segment(p: DVec3, a: DVec3, b: DVec3) -> (DVec3, f64) {
    let edge = b - a;
    let length_squared = edge.length_squared();
    let t = if length_squared > 0.0 { ((p - a).dot(edge) / length_squared).clamp(0.0, 1.0) } else { 0.0 };
    (a + t * edge, t)
}

/// Cosine and sine of half the solid angle under which `p` sees the triangle, times a positive factor. The angle is
/// positive from behind: those of a closed outward surface add up to 2π inside.
///
/// tan(Ω/2) = a·(b×c) / (|a||b||c| + (a·b)|c| + (b·c)|a| + (c·a)|b|)  \[OS83\], with a, b, c seen from p. The triple
/// product is taken with the edges, which loses no digits far away.
pub(crate) fn half_solid_angle(p: DVec3, [a, b, c]: [DVec3; 3]) -> DVec2 {
    let (a, b, c) = (a - p, b - p, c - p);
    let (la, lb, lc) = (a.length(), b.length(), c.length());
    let triple = a.dot((b - a).cross(c - a));
    DVec2::new(la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb, triple)
}

/// A sum of angles, each given by its cosine and sine times a positive factor.
///
/// Small angles are added by the addition theorem of the tangent; the arcus tangent is taken only when they have grown
/// to an eighth of a turn.
#[derive(Default)]
pub(crate) struct AngleSum {
    total: f64,
    /// Tangent of what is not in the total yet: less than an eighth of a turn.
    tangent: f64,
}

impl AngleSum {
    pub(crate) fn add(&mut self, angle: DVec2) {
        let small = |z: DVec2| z.x > z.y.abs();
        if !small(angle) {
            self.total += libm::atan2(angle.y, angle.x);
            return;
        }
        let sum = angle + self.tangent * angle.perp();
        if small(sum) {
            self.tangent = sum.y / sum.x;
        } else {
            self.total += libm::atan2(sum.y, sum.x);
            self.tangent = 0.0;
        }
    }

    /// The sum \[rad\].
    pub(crate) fn total(&self) -> f64 {
        self.total + libm::atan2(self.tangent, 1.0)
    }
}

/// A line through `origin`, turned and sheared so that it runs along the third axis: the two-dimensional edge functions
/// of neighbouring triangles then have exactly opposite values on their common edge, and nothing slips through
/// \[WBW13\].
pub(crate) struct Shear {
    origin: DVec3,
    axes: [usize; 3],
    shear: DVec3,
}

impl Shear {
    /// `None` when the direction is zero or not finite.
    pub(crate) fn new(origin: DVec3, direction: DVec3) -> Option<Self> {
        let z = direction.abs().max_position();
        let (x, y) = ((z + 1) % 3, (z + 2) % 3);
        let scale = 1.0 / direction[z];
        let shear = DVec3::new(direction[x] * scale, direction[y] * scale, scale);
        shear.is_finite().then_some(Self { origin, axes: [x, y, z], shear })
    }

    fn apply(&self, point: DVec3) -> DVec3 {
        let p = point - self.origin;
        let [x, y, z] = self.axes.map(|axis| p[axis]);
        DVec3::new(x - self.shear.x * z, y - self.shear.y * z, self.shear.z * z)
    }

    /// Where the line meets the triangle: the parameter along the direction and λ. Edges and corners count as hits of
    /// every triangle that shares them; a triangle seen edge-on is never hit.
    pub(crate) fn crossing(&self, corners: [DVec3; 3]) -> Option<(f64, DVec3)> {
        let [a, b, c] = corners.map(|corner| self.apply(corner));
        let edge = |p: DVec3, q: DVec3| p.x * q.y - p.y * q.x;
        let u = DVec3::new(edge(b, c), edge(c, a), edge(a, b));
        if u.min_element() < 0.0 && u.max_element() > 0.0 {
            return None;
        }
        let determinant = u.element_sum();
        let lambda = u / determinant;
        let t = lambda.dot(DVec3::new(a.z, b.z, c.z));
        (determinant != 0.0 && t.is_finite()).then_some((t, lambda))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::f64::consts::PI;

    pub(crate) fn point() -> impl Strategy<Value = DVec3> {
        prop::array::uniform3(-1.0..1.0f64).prop_map(DVec3::from)
    }

    /// The smallest distance over a fine net of the triangle, never below the true one.
    fn on_a_net(p: DVec3, corners: [DVec3; 3]) -> f64 {
        let n = 60;
        let node = |i, j| DVec3::new(f64::from(i), f64::from(j), f64::from(n - i - j)) / f64::from(n);
        let nodes = (0..=n).flat_map(|i| (0..=n - i).map(move |j| (i, j)));
        nodes.map(|(i, j)| at(corners, node(i, j)).distance(p)).fold(f64::INFINITY, f64::min)
    }

    proptest! {
        #[test]
        fn the_closest_point_is_on_the_triangle_and_no_other_is_closer(
            p in point(), a in point(), b in point(), c in point(),
        ) {
            let (point, lambda) = closest_point(p, [a, b, c]);
            prop_assert!(lambda.min_element() >= 0.0 && (lambda.element_sum() - 1.0).abs() < 1e-14);
            prop_assert!(at([a, b, c], lambda).distance(point) < 1e-14);
            let net = on_a_net(p, [a, b, c]);
            prop_assert!(p.distance(point) <= net + 1e-14);
            prop_assert!(p.distance(point) >= net - 0.06);
        }

        #[test]
        fn at_the_closest_point_no_direction_into_the_triangle_comes_closer(
            p in point(), a in point(), b in point(), c in point(),
        ) {
            let (point, _) = closest_point(p, [a, b, c]);
            for corner in [a, b, c] {
                prop_assert!((p - point).dot(corner - point) < 1e-12);
            }
        }

        #[test]
        fn slivers_are_as_near_as_their_longest_edge(
            p in point(), a in point(), b in point(), along in 0.0..1.0f64, thin in 1e-16..1e-5f64,
        ) {
            let c = a + along * (b - a) + thin * DVec3::new(0.3, -0.7, 0.5);
            let (point, lambda) = closest_point(p, [a, b, c]);
            let edge = on_segment(p, a, b).0;
            prop_assert!(lambda.min_element() >= 0.0 && point.distance(at([a, b, c], lambda)) < 1e-14);
            prop_assert!((p.distance(point) - p.distance(edge)).abs() <= thin);
        }

        #[test]
        fn a_point_of_the_triangle_is_its_own_closest(
            a in point(), b in point(), c in point(), s in 0.0..1.0f64, t in 0.0..1.0f64,
        ) {
            let (s, t) = if s + t < 1.0 { (s, t) } else { (1.0 - s, 1.0 - t) };
            let lambda = DVec3::new(s, t, 1.0 - s - t);
            let p = at([a, b, c], lambda);
            prop_assert!(closest_point(p, [a, b, c]).0.distance(p) < 1e-8);
        }

        #[test]
        fn the_solid_angles_of_a_tetrahedron_add_up(p in point(), v in prop::array::uniform4(point())) {
            let volume = (v[1] - v[0]).dot((v[2] - v[0]).cross(v[3] - v[0]));
            prop_assume!(volume.abs() > 1e-3);
            let faces = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]].map(|f| f.map(|i: usize| v[i]));
            let mut sum = AngleSum::default();
            faces.iter().for_each(|&f| sum.add(half_solid_angle(p, f)));
            let total = sum.total() / (2.0 * PI);
            let sides = faces.map(|f| signed_volume(f, p) * volume.signum());
            prop_assume!(sides.iter().all(|s| s.abs() > 1e-6));
            let inside = sides.iter().all(|&s| s > 0.0);
            prop_assert!((total - if inside { volume.signum() } else { 0.0 }).abs() < 1e-10, "{total} {inside}");
        }

        #[test]
        fn sums_of_angles_do_not_lose_turns(
            angles in prop::collection::vec((-3.1..3.1f64, 1e-3..1e3f64), 0..200),
            scale in prop::sample::select(vec![1.0, 0.1, 1e-3]),
        ) {
            let mut sum = AngleSum::default();
            angles.iter().for_each(|(angle, factor)| sum.add(*factor * DVec2::from_angle(scale * angle)));
            prop_assert!((sum.total() - scale * angles.iter().map(|a| a.0).sum::<f64>()).abs() < 1e-12);
        }

        #[test]
        fn a_line_through_a_point_of_the_triangle_hits_it_there(
            a in point(), b in point(), c in point(), o in point(), s in 0.01..0.49f64, t in 0.01..0.49f64,
        ) {
            let lambda = DVec3::new(s, t, 1.0 - s - t);
            let target = at([a, b, c], lambda);
            let direction = target - o;
            let normal = area_vector([a, b, c]);
            prop_assume!(normal.length() > 1e-2);
            prop_assume!(normal.dot(direction).abs() > 1e-2 * normal.length() * direction.length());
            let (t, found) = Shear::new(o, direction).unwrap().crossing([a, b, c]).unwrap();
            prop_assert!((t - 1.0).abs() < 1e-9 && found.distance(lambda) < 1e-9);
        }
    }

    #[test]
    fn angles_of_a_right_triangle() {
        let [a, b, c] = angles([DVec3::ZERO, DVec3::X, DVec3::Y]);
        assert!((a - PI / 2.0).abs() < 1e-15 && (b - PI / 4.0).abs() < 1e-15 && (c - PI / 4.0).abs() < 1e-15);
    }

    #[test]
    fn an_octant_is_an_eighth_of_the_sphere() {
        let angle = half_solid_angle(DVec3::ZERO, [DVec3::X, DVec3::Y, DVec3::Z]);
        assert_eq!(angle, DVec2::ONE);
    }

    #[test]
    fn a_single_point_is_a_triangle_too() {
        let (point, lambda) = closest_point(DVec3::ZERO, [DVec3::ONE; 3]);
        assert_eq!((point, lambda.element_sum()), (DVec3::ONE, 1.0));
        assert!(is_flat([DVec3::ONE; 3]) && is_flat([DVec3::ZERO, DVec3::ONE, 3.0 * DVec3::ONE]));
    }

    #[test]
    fn a_direction_of_length_zero_is_no_line() {
        assert!(Shear::new(DVec3::ZERO, DVec3::ZERO).is_none() && Shear::new(DVec3::ZERO, DVec3::NAN).is_none());
    }
}
