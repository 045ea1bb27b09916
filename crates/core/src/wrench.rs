//! Force and torque, together.

use glam::DVec3;
use serde::{Deserialize, Serialize};
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div};

/// A force and a torque on something: about the origin, where nothing else is said.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Wrench {
    /// Force \[N\].
    pub force: DVec3,
    /// Torque \[N·m\].
    pub torque: DVec3,
}

impl Wrench {
    /// None.
    pub const ZERO: Self = Self { force: DVec3::ZERO, torque: DVec3::ZERO };

    /// A force \[N\] that acts at a point \[m\], about the origin.
    #[must_use]
    pub fn at(point: DVec3, force: DVec3) -> Self {
        Self { force, torque: point.cross(force) }
    }

    /// The same about another point \[m\].
    #[must_use]
    pub fn about(self, point: DVec3) -> Self {
        Self { force: self.force, torque: self.torque - point.cross(self.force) }
    }

    /// Adds a force \[N\] that acts at a point \[m\].
    pub fn push(&mut self, point: DVec3, force: DVec3) {
        *self += Self::at(point, force);
    }

    /// Force, then torque.
    #[must_use]
    pub fn to_array(self) -> [f64; 6] {
        let ([fx, fy, fz], [tx, ty, tz]) = (self.force.to_array(), self.torque.to_array());
        [fx, fy, fz, tx, ty, tz]
    }
}

impl Add for Wrench {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self { force: self.force + other.force, torque: self.torque + other.torque }
    }
}

impl AddAssign for Wrench {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

/// An impulse and its moment, over the time \[s\] in which they came.
impl Div<f64> for Wrench {
    type Output = Self;
    fn div(self, time: f64) -> Self {
        Self { force: self.force / time, torque: self.torque / time }
    }
}

impl Sum for Wrench {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::ZERO, Self::add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_couple_has_the_same_torque_about_every_point() {
        let (a, b) = (DVec3::new(0.3, 0.1, -0.2), DVec3::new(-0.1, 0.4, 0.5));
        let force = DVec3::new(1.0, -2.0, 0.5);
        let couple: Wrench = [Wrench::at(a, force), Wrench::at(b, -force)].into_iter().sum();
        assert!(couple.force.length() < 1e-15 && (couple.torque - (a - b).cross(force)).length() < 1e-15);
        assert!((couple.about(DVec3::splat(7.0)).torque - couple.torque).length() < 1e-14);
        assert!(Wrench::at(a, force).about(a).torque.length() < 1e-15);
    }
}
