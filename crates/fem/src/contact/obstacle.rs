//! Things that soft bodies touch and that are not soft: given by their distance, and by how they answer.

use glam::{DMat3, DVec3};
use meniscus_boundary::PlacedSide;
pub use meniscus_boundary::{Ball, Cuboid, Distance, Plane, Tank};
use meniscus_core::Wrench;

/// A solid that moves as it likes. The velocity of one that answers is that at the end of the step if soft bodies did to it what they
/// did in the last one.
pub trait Obstacle: Distance {
    /// Points of the surface that are held against soft bodies, so that none is too small or too sharp to be felt. By default
    /// only nodes of soft bodies are held against the solid.
    fn samples(&self) -> &[Sample] {
        &[]
    }

    /// How it resists being pushed. By default it is not pushed at all.
    fn inertia(&self) -> Option<Inertia> {
        None
    }
}

/// A point of an obstacle's surface.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// Where it is \[m\].
    pub position: DVec3,
    /// Area that it stands for \[m²\].
    pub area: f64,
}

/// How a rigid body resists being pushed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Inertia {
    /// Mass \[kg\].
    pub mass: f64,
    /// Centre of mass \[m\].
    pub center: DVec3,
    /// Inertia about it \[kg·m²\], along the axes of space.
    pub inertia: DMat3,
    /// Force that [`Distance::velocity`] reckons with already \[N\].
    pub force: DVec3,
    /// Torque about the centre that it reckons with already \[N·m\].
    pub torque: DVec3,
}

impl Inertia {
    /// Velocity \[m/s\] and spin \[rad/s\] that it has after `dt` \[s\] under a wrench about the origin, beyond what is reckoned with.
    pub(super) fn beyond(&self, felt: &Wrench, dt: f64) -> [DVec3; 2] {
        let Wrench { force, torque } = felt.about(self.center);
        [(force - self.force) * (dt / self.mass), self.inertia.inverse() * (torque - self.torque) * dt]
    }
}

impl Obstacle for Plane {}
impl Obstacle for Cuboid {}
impl Obstacle for Tank {}
impl Obstacle for Ball {}
impl Obstacle for PlacedSide<'_> {}
