//! Simple bodies and closed meshes as regions of space: what is inside, and how far away is the rest.

use glam::{DVec2, DVec3};

use crate::{Aabb, Bvh, NotClosed, TriangleMesh};

/// A region of space. Lengths in metres.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    /// A box along the axes.
    Box(Aabb),
    /// A ball.
    Sphere {
        /// Centre \[m\].
        center: DVec3,
        /// Radius \[m\].
        radius: f64,
    },
    /// A cylinder with flat ends.
    Cylinder {
        /// Centre of one end \[m\].
        start: DVec3,
        /// Centre of the other end \[m\].
        end: DVec3,
        /// Radius \[m\].
        radius: f64,
    },
    /// The inside of a closed mesh that faces outwards.
    Mesh(TriangleMesh),
}

/// Why a shape is not a region of space.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ShapeError {
    /// A size is zero, negative, infinite or not a number.
    #[error("{what} must be positive and finite, not {value}")]
    Size {
        /// What must be positive.
        what: &'static str,
        /// What was given.
        value: f64,
    },
    /// A coordinate is infinite or not a number.
    #[error("the shape reaches from {} to {}: coordinates must be finite", bounds.min, bounds.max)]
    NotFinite {
        /// The box around the shape \[m\].
        bounds: Aabb,
    },
    /// The mesh has holes.
    #[error(transparent)]
    NotClosed(#[from] NotClosed),
    /// The mesh is closed but faces inwards.
    #[error("the mesh faces inwards: its volume is {volume:.3e} m³; turn its triangles over (`orient_outward`)")]
    InsideOut {
        /// Its volume \[m³\].
        volume: f64,
    },
}

impl Shape {
    /// The smallest box along the axes around it \[m\].
    #[must_use]
    pub fn bounds(&self) -> Aabb {
        match self {
            Self::Box(bounds) => *bounds,
            Self::Sphere { center, radius } => Aabb { min: *center, max: *center }.grow(*radius),
            Self::Cylinder { start, end, radius } => {
                let axis = (*end - *start).normalize_or_zero();
                let reach = *radius * (1.0 - axis * axis).max(DVec3::ZERO).map(f64::sqrt);
                Aabb::around([*start - reach, *start + reach, *end - reach, *end + reach])
            }
            Self::Mesh(mesh) => mesh.bounds(),
        }
    }

    /// Volume \[m³\]; negative for a mesh that faces inwards, without meaning for one with holes.
    #[must_use]
    pub fn volume(&self) -> f64 {
        use std::f64::consts::PI;
        match self {
            Self::Box(bounds) => bounds.volume(),
            Self::Sphere { radius, .. } => 4.0 / 3.0 * PI * radius * radius * radius,
            Self::Cylinder { start, end, radius } => PI * radius * radius * start.distance(*end),
            Self::Mesh(mesh) => mesh.signed_volume(),
        }
    }

    fn check(&self) -> Result<(), ShapeError> {
        let positive = |what, value: f64| match value {
            v if v > 0.0 && v.is_finite() => Ok(()),
            value => Err(ShapeError::Size { what, value }),
        };
        let bounds = self.bounds();
        if !(bounds.min.is_finite() && bounds.max.is_finite()) {
            return Err(ShapeError::NotFinite { bounds });
        }
        match self {
            Self::Box(_) => positive("the smallest edge of a box", bounds.size().min_element()),
            Self::Sphere { radius, .. } => positive("the radius of a sphere", *radius),
            Self::Cylinder { start, end, radius } => {
                positive("the radius of a cylinder", *radius)?;
                positive("the length of a cylinder", start.distance(*end))
            }
            Self::Mesh(mesh) => {
                // Bodies that touch along an edge still have an inside.
                mesh.closed().or_else(|defects| if defects.unbalanced == 0 { Ok(()) } else { Err(defects) })?;
                let volume = mesh.signed_volume();
                if volume > 0.0 { Ok(()) } else { Err(ShapeError::InsideOut { volume }) }
            }
        }
    }
}

/// A [`Shape`] that has been checked and prepared for many questions.
#[derive(Debug, Clone)]
pub struct Region {
    bounds: Aabb,
    volume: f64,
    body: Body,
}

#[derive(Debug, Clone)]
enum Body {
    Box,
    Sphere { center: DVec3, radius: f64 },
    Cylinder { middle: DVec3, axis: DVec3, half_length: f64, radius: f64 },
    Mesh(Box<Bvh>),
}

impl Region {
    /// Checks a shape and builds the tree over a mesh.
    ///
    /// # Errors
    /// Sizes that are not positive, meshes that are open (with the place) or face inwards.
    pub fn new(shape: &Shape) -> Result<Self, ShapeError> {
        shape.check()?;
        let body = match shape {
            Shape::Box(_) => Body::Box,
            Shape::Sphere { center, radius } => Body::Sphere { center: *center, radius: *radius },
            Shape::Cylinder { start, end, radius } => Body::Cylinder {
                middle: 0.5 * *start + 0.5 * *end,
                axis: (*end - *start).normalize_or_zero(),
                half_length: 0.5 * start.distance(*end),
                radius: *radius,
            },
            Shape::Mesh(mesh) => Body::Mesh(Box::new(Bvh::new(mesh))),
        };
        Ok(Self { bounds: shape.bounds(), volume: shape.volume(), body })
    }

    /// The smallest box along the axes around it \[m\].
    #[must_use]
    pub fn bounds(&self) -> Aabb {
        self.bounds
    }

    /// Volume \[m³\].
    #[must_use]
    pub fn volume(&self) -> f64 {
        self.volume
    }

    /// Whether a point is inside.
    #[must_use]
    pub fn contains(&self, p: DVec3) -> bool {
        self.contains_up_to(p, 0.0)
    }

    /// Whether a point is inside or at most `slack` \[m\] away from a formula's surface. Meshes give no slack.
    pub(crate) fn contains_up_to(&self, p: DVec3, slack: f64) -> bool {
        match &self.body {
            Body::Mesh(tree) => tree.inside(p),
            _ => self.signed_distance(p) <= slack,
        }
    }

    /// Whether a point is inside or nearer than `distance` \[m\]; with a negative distance, deeper inside than that.
    #[must_use]
    pub fn is_nearer(&self, p: DVec3, distance: f64) -> bool {
        match &self.body {
            Body::Mesh(_) if !self.bounds.grow(distance.max(0.0)).contains(p) => false,
            Body::Mesh(tree) if distance >= 0.0 => {
                tree.inside(p) || tree.closest_within(p, distance).is_some_and(|c| c.distance() < distance)
            }
            _ => self.signed_distance(p) < distance,
        }
    }

    /// Distance to the surface \[m\], negative inside.
    #[must_use]
    pub fn signed_distance(&self, p: DVec3) -> f64 {
        match &self.body {
            Body::Box => to_box(p - self.bounds.center(), 0.5 * self.bounds.size()),
            Body::Sphere { center, radius } => p.distance(*center) - radius,
            Body::Cylinder { middle, axis, half_length, radius } => {
                let arm = p - *middle;
                let along = arm.dot(*axis);
                let beyond = DVec2::new(along.abs() - half_length, (arm - along * *axis).length() - radius);
                beyond.max(DVec2::ZERO).length() + beyond.max_element().min(0.0)
            }
            Body::Mesh(tree) => tree.signed_distance(p),
        }
    }
}

/// Signed distance to a box about the origin.
fn to_box(p: DVec3, half_size: DVec3) -> f64 {
    let beyond = p.abs() - half_size;
    beyond.max(DVec3::ZERO).length() + beyond.max_element().min(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solids;
    use proptest::prelude::*;
    use std::sync::LazyLock;

    fn a_box() -> Aabb {
        Aabb::new(DVec3::new(-0.5, -0.4, -0.3), DVec3::new(0.2, 0.5, 0.6))
    }

    fn a_cylinder() -> Shape {
        Shape::Cylinder { start: DVec3::new(-0.3, 0.1, 0.2), end: DVec3::new(0.4, 0.5, -0.2), radius: 0.3 }
    }

    /// The same bodies as formulas and as fine meshes, with the error of the mesh.
    static PAIRS: LazyLock<Vec<(Region, Region, f64)>> = LazyLock::new(|| {
        let Shape::Cylinder { start, end, radius } = a_cylinder() else { unreachable!() };
        let pairs = [
            (Shape::Box(a_box()), solids::cuboid(&a_box()), 1e-12),
            (
                Shape::Sphere { center: DVec3::ONE * 0.1, radius: 0.6 },
                solids::icosphere(DVec3::ONE * 0.1, 0.6, 4),
                2e-3,
            ),
            (a_cylinder(), solids::cylinder(start, end, radius, 100), 2e-3),
        ];
        pairs.map(|(shape, mesh, e)| (Region::new(&shape).unwrap(), Region::new(&Shape::Mesh(mesh)).unwrap(), e)).into()
    });

    proptest! {
        #[test]
        fn formulas_and_meshes_agree(
            p in prop::array::uniform3(-1.0..1.0f64).prop_map(DVec3::from), d in -0.2..0.4f64,
        ) {
            for (formula, mesh, error) in PAIRS.iter() {
                let distance = formula.signed_distance(p);
                prop_assert!((distance - mesh.signed_distance(p)).abs() <= *error);
                prop_assert!((formula.volume() - mesh.volume()).abs() <= 3.0 * *error);
                if distance.abs() > *error {
                    prop_assert_eq!(formula.contains(p), mesh.contains(p));
                }
                if (distance - d).abs() > *error {
                    prop_assert_eq!((formula.is_nearer(p, d), mesh.is_nearer(p, d)), (distance < d, distance < d));
                }
            }
        }
    }

    #[test]
    fn bounds_of_a_slanted_cylinder_are_tight() {
        let Shape::Cylinder { start, end, radius } = a_cylinder() else { unreachable!() };
        let mesh = solids::cylinder(start, end, radius, 1000).bounds();
        let exact = a_cylinder().bounds();
        assert!((exact.min - mesh.min).length() < 1e-4 && (exact.max - mesh.max).length() < 1e-4);
    }

    #[test]
    fn sizes_must_be_positive_and_meshes_closed_and_outward() {
        let sphere = |radius| Region::new(&Shape::Sphere { center: DVec3::ZERO, radius });
        assert!(sphere(1.0).is_ok());
        for radius in [0.0, -1.0] {
            assert!(matches!(sphere(radius), Err(ShapeError::Size { .. })));
        }
        for radius in [f64::NAN, f64::INFINITY] {
            assert!(matches!(sphere(radius), Err(ShapeError::NotFinite { .. })));
        }
        let nowhere = Aabb { min: DVec3::new(0.0, f64::NAN, 0.0), max: DVec3::ONE };
        assert!(matches!(Region::new(&Shape::Box(nowhere)), Err(ShapeError::NotFinite { .. })));
        assert!(Region::new(&Shape::Sphere { center: DVec3::NAN, radius: 1.0 }).is_err());
        let flat = Aabb { min: DVec3::ZERO, max: DVec3::new(1.0, 0.0, 1.0) };
        assert!(Region::new(&Shape::Box(flat)).is_err() && Region::new(&Shape::Box(Aabb::EMPTY)).is_err());
        let point = Shape::Cylinder { start: DVec3::ONE, end: DVec3::ONE, radius: 1.0 };
        assert!(Region::new(&point).unwrap_err().to_string().contains("length of a cylinder"));
        let mut mesh = solids::cuboid(&a_box());
        mesh.flip(|_| true);
        assert!(matches!(Region::new(&Shape::Mesh(mesh)), Err(ShapeError::InsideOut { .. })));
    }
}
