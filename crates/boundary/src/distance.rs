//! The one contract of solid surfaces: how far, which way, how fast.

use glam::DVec3;

/// A solid that moves as it likes, given by its distance.
pub trait Distance: Sync {
    /// Distance of a point \[m\] from the surface \[m\], negative inside the solid, and the unit normal out of the solid: the
    /// slope of the distance.
    fn distance(&self, point: DVec3) -> (f64, DVec3);

    /// The distance alone \[m\].
    fn signed_distance(&self, point: DVec3) -> f64 {
        self.distance(point).0
    }

    /// Velocity of the solid's matter at a point \[m/s\].
    fn velocity(&self, _point: DVec3) -> DVec3 {
        DVec3::ZERO
    }
}
