//! Axis-aligned boxes.

use glam::{DVec3, Vec3};
use serde::{Deserialize, Serialize};

/// An axis-aligned box \[m\], its faces included. Empty when some `min` exceeds its `max`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Aabb {
    /// Corner with the smallest coordinates \[m\].
    pub min: DVec3,
    /// Corner with the largest coordinates \[m\].
    pub max: DVec3,
}

/// A quick first look whether points in single precision are in a box.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct InnerBox {
    min: Vec3,
    max: Vec3,
}

impl InnerBox {
    /// Whether a point is in it; then it is in the box that it was made from.
    #[inline]
    #[must_use]
    pub fn contains(&self, point: Vec3) -> bool {
        point.cmpge(self.min).all() && point.cmple(self.max).all()
    }
}

impl Aabb {
    /// The box without points: the neutral element of [`union`](Self::union).
    pub const EMPTY: Self = Self { min: DVec3::INFINITY, max: DVec3::NEG_INFINITY };

    /// The box between two corners, given in any order.
    #[must_use]
    pub fn new(corner: DVec3, opposite: DVec3) -> Self {
        Self { min: corner.min(opposite), max: corner.max(opposite) }
    }

    /// The smallest box around some points; [`EMPTY`](Self::EMPTY) when there are none.
    #[must_use]
    pub fn around(points: impl IntoIterator<Item = DVec3>) -> Self {
        points.into_iter().fold(Self::EMPTY, |b, p| Self { min: b.min.min(p), max: b.max.max(p) })
    }

    /// The smallest box around both.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        Self { min: self.min.min(other.min), max: self.max.max(other.max) }
    }

    /// The box with every face moved outwards by `margin` \[m\].
    #[must_use]
    pub fn grow(&self, margin: f64) -> Self {
        Self { min: self.min - DVec3::splat(margin), max: self.max + DVec3::splat(margin) }
    }

    /// Whether it holds no point.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.min.cmpgt(self.max).any()
    }

    /// A box in single precision inside of this one, less than two roundings smaller.
    #[must_use]
    pub fn inner(&self) -> InnerBox {
        let (min, max) = (self.min.as_vec3(), self.max.as_vec3());
        InnerBox {
            min: Vec3::from_array(min.to_array().map(f32::next_up)),
            max: Vec3::from_array(max.to_array().map(f32::next_down)),
        }
    }

    /// Middle of the box \[m\]; does not overflow.
    #[must_use]
    pub fn center(&self) -> DVec3 {
        0.5 * self.min + 0.5 * self.max
    }

    /// Edge lengths \[m\]; zero for the empty box.
    #[must_use]
    pub fn size(&self) -> DVec3 {
        if self.is_empty() { DVec3::ZERO } else { self.max - self.min }
    }

    /// Volume \[m³\].
    #[must_use]
    pub fn volume(&self) -> f64 {
        self.size().element_product()
    }

    /// Area of the six faces \[m²\].
    #[must_use]
    pub fn area(&self) -> f64 {
        let size = self.size();
        2.0 * (size.x * size.y + size.y * size.z + size.z * size.x)
    }

    /// Whether a point lies in the box or on its faces.
    #[must_use]
    pub fn contains(&self, point: DVec3) -> bool {
        point.cmpge(self.min).all() && point.cmple(self.max).all()
    }

    /// Whether the boxes share a point; touching counts.
    #[must_use]
    pub fn intersects(&self, other: &Self) -> bool {
        self.min.cmple(other.max).all() && other.min.cmple(self.max).all()
    }

    /// Square of the distance from a point to the box \[m²\]; zero inside.
    #[must_use]
    pub fn distance_squared(&self, point: DVec3) -> f64 {
        (self.min - point).max(point - self.max).max(DVec3::ZERO).length_squared()
    }

    /// Square of the distance from a point to the farthest corner \[m²\].
    #[must_use]
    pub fn farthest_squared(&self, point: DVec3) -> f64 {
        (self.max - point).max(point - self.min).length_squared()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn point() -> impl Strategy<Value = DVec3> {
        prop::array::uniform3(-2.0..2.0f64).prop_map(DVec3::from)
    }

    #[test]
    fn what_an_inner_box_holds_the_box_holds() {
        let bounds =
            Aabb { min: DVec3::new(0.1, -f64::INFINITY, 0.3), max: DVec3::new(0.7, f64::INFINITY, 0.3 + 1e-9) };
        let inner = bounds.inner();
        // Narrower than a rounding.
        assert!(!inner.contains(Vec3::new(0.4, 1e30, 0.3)));
        for x in [0.1f32, 0.1f32.next_down(), 0.1f32.next_up(), 0.7, 0.7f32.next_up(), 0.7f32.next_down()] {
            let point = Vec3::new(x, 0.0, 0.0);
            let wide = Aabb { min: DVec3::new(0.1, -1.0, -1.0), max: DVec3::new(0.7, 1.0, 1.0) };
            assert!(!wide.inner().contains(point) || wide.contains(point.as_dvec3()), "{x}");
        }
        assert!(!inner.contains(Vec3::NAN));
    }

    proptest! {
        #[test]
        fn the_box_around_points_is_the_smallest(points in prop::collection::vec(point(), 1..20)) {
            let b = Aabb::around(points.iter().copied());
            prop_assert!(points.iter().all(|&p| b.contains(p) && b.distance_squared(p) == 0.0));
            for axis in 0..3 {
                prop_assert!(points.iter().any(|p| p[axis] == b.min[axis]));
                prop_assert!(points.iter().any(|p| p[axis] == b.max[axis]));
            }
        }

        #[test]
        fn distances_agree_with_the_clamped_point(a in point(), b in point(), p in point()) {
            let b = Aabb::new(a, b);
            let nearest = p.clamp(b.min, b.max);
            prop_assert!((b.distance_squared(p) - p.distance_squared(nearest)).abs() < 1e-14);
            prop_assert_eq!(b.contains(p), b.distance_squared(p) == 0.0);
            prop_assert!(b.farthest_squared(p) + 1e-14 >= p.distance_squared(b.min).max(p.distance_squared(b.max)));
        }

        #[test]
        fn boxes_intersect_when_their_union_is_no_longer_than_both(
            a in point(), b in point(), c in point(), d in point(),
        ) {
            let (one, two) = (Aabb::new(a, b), Aabb::new(c, d));
            let slack = one.size() + two.size() - one.union(&two).size();
            prop_assume!(slack.abs().min_element() > 1e-12);
            prop_assert_eq!(one.intersects(&two), slack.cmpgt(DVec3::ZERO).all());
        }
    }

    #[test]
    fn a_box_has_its_volume_area_and_center() {
        let b = Aabb::new(DVec3::new(1.0, 2.0, 3.0), DVec3::new(0.0, 0.0, 0.0));
        assert_eq!((b.volume(), b.area(), b.center()), (6.0, 22.0, DVec3::new(0.5, 1.0, 1.5)));
        assert_eq!(b.grow(0.5).volume(), 24.0);
    }

    #[test]
    fn the_empty_box_is_neutral_and_touches_nothing() {
        let b = Aabb::new(DVec3::ZERO, DVec3::ONE);
        assert_eq!(Aabb::EMPTY.union(&b), b);
        assert!(Aabb::EMPTY.is_empty() && Aabb::EMPTY.volume() == 0.0 && !Aabb::EMPTY.intersects(&b));
        assert!(!Aabb::EMPTY.contains(DVec3::ZERO) && Aabb::around([]).is_empty());
    }

    #[test]
    fn nothing_contains_a_point_that_is_not_a_number() {
        assert!(!Aabb::new(DVec3::ZERO, DVec3::ONE).contains(DVec3::new(0.5, f64::NAN, 0.5)));
    }
}
