//! What bodies and walls are made from.

use glam::{DQuat, DVec3};
use meniscus_geometry::{NotClosed, TriangleMesh};
use rapier3d_f64::prelude::{
    CoefficientCombineRule, ColliderBuilder, Pose, SharedShape, TriMeshBuilderError, TriMeshFlags,
};

/// How a body meets others, where it is at the start \[m\].
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Form {
    /// As a ball.
    Ball {
        /// Centre.
        center: DVec3,
        /// Radius.
        radius: f64,
    },
    /// As a cylinder.
    Cylinder {
        /// Centres of both ends.
        ends: [DVec3; 2],
        /// Radius.
        radius: f64,
    },
    /// As its surface, or the hull of it where that is the same.
    Surface,
}

/// How a body moves.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Motion {
    /// Velocity of the centre of mass \[m/s\].
    pub velocity: DVec3,
    /// Angular velocity \[rad/s\].
    pub spin: DVec3,
}

impl Motion {
    /// Velocity \[m/s\] of the body's matter at an arm from its centre \[m\].
    #[must_use]
    pub fn at(&self, arm: DVec3) -> DVec3 {
        self.velocity + self.spin.cross(arm)
    }
}

/// Why there is no body.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RigidError {
    /// The surface has no inside.
    #[error(transparent)]
    Open(#[from] NotClosed),
    /// The surface is inside out, or flat.
    #[error("the surface encloses no volume")]
    Empty,
    /// A number is out of range.
    #[error("`{key}` must be {range}, not {value}")]
    Number {
        /// The key.
        key: &'static str,
        /// What it may be.
        range: &'static str,
        /// What it is.
        value: f64,
    },
    /// rapier cannot use the surface.
    #[error("the surface cannot be met: {0}")]
    Surface(#[from] TriMeshBuilderError),
    /// A saved state belongs to other bodies.
    #[error("the state is damaged or belongs to other bodies")]
    Unsound,
}

/// Volume of the hull over that of the surface, minus one, up to which both are the same.
const CONVEX: f64 = 1e-3;

/// What rapier meets.
pub(crate) fn collider(surface: &TriangleMesh, form: Form) -> Result<ColliderBuilder, RigidError> {
    Ok(match form {
        Form::Ball { center, radius } => ColliderBuilder::ball(radius).translation(center),
        Form::Cylinder { ends: [start, end], radius } => {
            let rotation = DQuat::from_rotation_arc(DVec3::Y, (end - start).normalize_or(DVec3::Y));
            let middle = Pose::from_parts(0.5 * (start + end), rotation);
            ColliderBuilder::cylinder(0.5 * start.distance(end), radius).position(middle)
        }
        Form::Surface => match hull(surface) {
            Some(hull) => ColliderBuilder::new(hull),
            None => trimesh(surface, TriMeshFlags::ORIENTED | TriMeshFlags::FIX_INTERNAL_EDGES)?,
        },
    })
}

/// The hull of a surface that is convex.
fn hull(surface: &TriangleMesh) -> Option<SharedShape> {
    let hull = SharedShape::convex_hull(surface.vertices())?;
    let volume = hull.mass_properties(1.0).mass();
    (volume <= (1.0 + CONVEX) * surface.signed_volume()).then_some(hull)
}

pub(crate) fn trimesh(surface: &TriangleMesh, flags: TriMeshFlags) -> Result<ColliderBuilder, RigidError> {
    Ok(ColliderBuilder::trimesh_with_flags(surface.vertices().to_vec(), surface.triangles().to_vec(), flags)?)
}

/// Everything behind a plane: a point \[m\] and a normal of any length.
pub(crate) fn plane([point, normal]: [DVec3; 2]) -> ColliderBuilder {
    as_wall(ColliderBuilder::new(SharedShape::halfspace(normal.normalize_or(DVec3::Y))).translation(point))
}

/// A surface, met from both sides.
pub(crate) fn sheet(surface: &TriangleMesh) -> Result<ColliderBuilder, RigidError> {
    Ok(as_wall(trimesh(surface, TriMeshFlags::FIX_INTERNAL_EDGES_TWO_SIDED)?))
}

/// A wall has neither friction nor restitution of its own: those of the body count.
fn as_wall(collider: ColliderBuilder) -> ColliderBuilder {
    collider
        .friction(0.0)
        .friction_combine_rule(CoefficientCombineRule::Max)
        .restitution(0.0)
        .restitution_combine_rule(CoefficientCombineRule::Max)
}
