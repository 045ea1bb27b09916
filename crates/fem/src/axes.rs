//! Directions in which a node is held.

use glam::{DQuat, DVec3};
use serde::{Deserialize, Serialize};

/// Directions in which a node is held or led; in the others it moves freely.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Axes {
    /// Along x.
    pub x: bool,
    /// Along y.
    pub y: bool,
    /// Along z.
    pub z: bool,
}

impl Axes {
    /// Free.
    pub const NONE: Self = Self { x: false, y: false, z: false };
    /// Held altogether.
    pub const ALL: Self = Self { x: true, y: true, z: true };
    /// Held along x: free to slide in a plane across it.
    pub const X: Self = Self { x: true, ..Self::NONE };
    /// Held along y.
    pub const Y: Self = Self { y: true, ..Self::NONE };
    /// Held along z.
    pub const Z: Self = Self { z: true, ..Self::NONE };

    /// Whether any direction is held.
    #[must_use]
    pub fn any(self) -> bool {
        self != Self::NONE
    }

    /// Whether all directions are held.
    #[must_use]
    pub fn all(self) -> bool {
        self == Self::ALL
    }

    /// The directions of both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self { x: self.x || other.x, y: self.y || other.y, z: self.z || other.z }
    }

    /// `held` along the directions held, `free` along the others.
    #[inline]
    #[must_use]
    pub fn select(self, held: DVec3, free: DVec3) -> DVec3 {
        let pick = |axis: bool, held: f64, free: f64| if axis { held } else { free };
        DVec3::new(pick(self.x, held.x, free.x), pick(self.y, held.y, free.y), pick(self.z, held.z, free.z))
    }

    /// A vector without its part along the directions held.
    #[inline(always)]
    #[must_use]
    pub fn free_part(self, v: DVec3) -> DVec3 {
        if self.any() { self.select(DVec3::ZERO, v) } else { v }
    }

    /// The part of a rotation that leaves the directions held where they are.
    #[inline]
    pub(crate) fn turn_about(self, q: DQuat) -> DQuat {
        let [x, y, z, w] = q.to_array();
        let twist = match (self.x, self.y, self.z) {
            (false, false, false) => return q,
            (true, false, false) => DQuat::from_xyzw(x, 0.0, 0.0, w),
            (false, true, false) => DQuat::from_xyzw(0.0, y, 0.0, w),
            (false, false, true) => DQuat::from_xyzw(0.0, 0.0, z, w),
            _ => DQuat::IDENTITY,
        };
        if twist.length_squared() > 1e-12 { twist.normalize() } else { DQuat::IDENTITY }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn held_directions_stay_where_they_are() {
        let q = DQuat::from_euler(glam::EulerRot::XYZ, 0.7, -0.4, 1.1);
        for (axes, axis) in [(Axes::X, DVec3::X), (Axes::Y, DVec3::Y), (Axes::Z, DVec3::Z)] {
            assert!((axes.turn_about(q) * axis - axis).length() < 1e-15);
            assert_eq!(axes.free_part(DVec3::ONE), DVec3::ONE - axis);
        }
        assert_eq!(Axes::NONE.turn_about(q), q);
        assert_eq!(Axes::ALL.turn_about(q), DQuat::IDENTITY);
        assert_eq!(Axes::X.and(Axes::Z).turn_about(q), DQuat::IDENTITY);
        let about_z = DQuat::from_rotation_z(0.3);
        assert!((Axes::Z.turn_about(about_z) - about_z).length() < 1e-15);
    }
}
