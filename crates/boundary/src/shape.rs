//! Solids whose distance is known in closed form.

use crate::distance::Distance;
use glam::DVec3;
use meniscus_geometry::Aabb;

/// Everything below a plane.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plane {
    /// A point of the plane \[m\].
    pub point: DVec3,
    /// The normal out of the solid, of any length but zero.
    pub normal: DVec3,
    /// Velocity \[m/s\].
    pub velocity: DVec3,
}

impl Plane {
    /// A floor at rest at a height y \[m\].
    #[must_use]
    pub fn floor(height: f64) -> Self {
        Self { point: DVec3::new(0.0, height, 0.0), normal: DVec3::Y, velocity: DVec3::ZERO }
    }
}

impl Distance for Plane {
    fn distance(&self, point: DVec3) -> (f64, DVec3) {
        let normal = self.normal.normalize_or(DVec3::Y);
        (normal.dot(point - self.point), normal)
    }

    fn velocity(&self, _: DVec3) -> DVec3 {
        self.velocity
    }
}

/// What is behind any of some planes, each a point \[m\] and the unit normal out of the solid: a floor, or what is around a box.
#[derive(Debug, Clone, PartialEq)]
pub struct Planes(pub Vec<[DVec3; 2]>);

impl Distance for Planes {
    fn distance(&self, point: DVec3) -> (f64, DVec3) {
        let before = self.0.iter().map(|&[at, normal]| ((point - at).dot(normal), normal));
        before.fold((f64::INFINITY, DVec3::Y), |nearest, one| if one.0 < nearest.0 { one } else { nearest })
    }
}

/// A solid that is given by a function: the distance \[m\], negative inside. Its normals are differences.
#[derive(Debug, Clone, Copy)]
pub struct Field<F>(pub F);

impl<F: Fn(DVec3) -> f64 + Sync> Distance for Field<F> {
    fn distance(&self, point: DVec3) -> (f64, DVec3) {
        const STEP: f64 = 1e-6;
        let along = |axis: DVec3| (self.0)(point + STEP * axis) - (self.0)(point - STEP * axis);
        let slope = DVec3::new(along(DVec3::X), along(DVec3::Y), along(DVec3::Z));
        ((self.0)(point), slope.normalize_or(DVec3::Y))
    }

    fn signed_distance(&self, point: DVec3) -> f64 {
        (self.0)(point)
    }
}

/// A solid box.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cuboid {
    /// Its bounds \[m\].
    pub bounds: Aabb,
    /// Velocity \[m/s\].
    pub velocity: DVec3,
}

impl Distance for Cuboid {
    fn distance(&self, point: DVec3) -> (f64, DVec3) {
        let half = 0.5 * self.bounds.size();
        let p = point - self.bounds.center();
        let sign = DVec3::ONE.copysign(p);
        let beyond = p.abs() - half;
        let outside = beyond.max(DVec3::ZERO);
        let distance = outside.length();
        if distance > 0.0 {
            return (distance, sign * outside / distance);
        }
        let nearest = beyond.max_element();
        let axis = [DVec3::X, DVec3::Y, DVec3::Z].into_iter().find(|axis| beyond.dot(*axis) == nearest);
        (nearest, sign * axis.unwrap_or(DVec3::Y))
    }

    fn velocity(&self, _: DVec3) -> DVec3 {
        self.velocity
    }
}

/// Everything outside a box.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tank {
    /// The room inside \[m\].
    pub bounds: Aabb,
    /// Velocity \[m/s\].
    pub velocity: DVec3,
}

impl Distance for Tank {
    fn distance(&self, point: DVec3) -> (f64, DVec3) {
        let (distance, normal) = Cuboid { bounds: self.bounds, velocity: self.velocity }.distance(point);
        (-distance, -normal)
    }

    fn velocity(&self, _: DVec3) -> DVec3 {
        self.velocity
    }
}

/// A solid ball that may turn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ball {
    /// Its centre \[m\].
    pub center: DVec3,
    /// Its radius \[m\].
    pub radius: f64,
    /// Velocity of its centre \[m/s\].
    pub velocity: DVec3,
    /// Angular velocity \[rad/s\].
    pub spin: DVec3,
}

impl Distance for Ball {
    fn distance(&self, point: DVec3) -> (f64, DVec3) {
        let from = point - self.center;
        (from.length() - self.radius, from.normalize_or(DVec3::Y))
    }

    fn velocity(&self, point: DVec3) -> DVec3 {
        self.velocity + self.spin.cross(point - self.center)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn normals_are_the_slopes_of_distances(p in prop::array::uniform3(-2.0f64..2.0)) {
            let p = DVec3::from_array(p);
            let bounds = Aabb::new(DVec3::new(-1.0, -0.5, -0.7), DVec3::new(0.8, 0.9, 0.6));
            let velocity = DVec3::ZERO;
            let ball = Ball { center: DVec3::new(0.1, 0.2, 0.3), radius: 0.7, velocity, spin: velocity };
            let plane = Plane { point: DVec3::ONE, normal: DVec3::new(1.0, 2.0, -3.0), velocity };
            let (cuboid, tank) = (Cuboid { bounds, velocity }, Tank { bounds, velocity });
            let planes = Planes(vec![[DVec3::ZERO, DVec3::Y], [DVec3::X, DVec3::new(-0.6, 0.0, 0.8)]]);
            let field = Field(|x: DVec3| x.distance(DVec3::splat(0.4)) - 0.3);
            let obstacles: [&dyn Distance; 6] = [&ball, &plane, &cuboid, &tank, &planes, &field];
            for obstacle in obstacles {
                let (_, normal) = obstacle.distance(p);
                prop_assert!((normal.length() - 1.0).abs() < 1e-12);
                let e = 1e-7;
                let along = |a: DVec3| (obstacle.distance(p + e * a).0 - obstacle.distance(p - e * a).0) / (2.0 * e);
                let slope = DVec3::new(along(DVec3::X), along(DVec3::Y), along(DVec3::Z));
                // Where two sides are equally near there is no slope.
                prop_assume!((slope.length() - 1.0).abs() < 1e-6);
                prop_assert!(slope.distance(normal) < 1e-5, "{slope} {normal}");
            }
        }
    }

    #[test]
    fn inside_is_negative() {
        let bounds = Aabb::new(DVec3::ZERO, DVec3::ONE);
        let cuboid = Cuboid { bounds, velocity: DVec3::ZERO };
        assert_eq!(cuboid.distance(DVec3::new(0.5, 0.9, 0.5)), (-0.09999999999999998, DVec3::Y));
        assert_eq!(cuboid.distance(DVec3::new(0.5, 3.0, 0.5)), (2.0, DVec3::Y));
        assert!(Tank { bounds, velocity: DVec3::ZERO }.distance(DVec3::splat(0.5)).0 > 0.0);
        let spinning = Ball { center: DVec3::ZERO, radius: 1.0, velocity: DVec3::X, spin: DVec3::Z };
        assert_eq!(spinning.velocity(DVec3::X), DVec3::new(1.0, 1.0, 0.0));
        assert!(Plane::floor(1.0).distance(DVec3::ZERO).0 == -1.0);
    }
}
