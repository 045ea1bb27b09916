//! Walls as particle bodies meet them.

use glam::DVec3;

/// Surfaces that move as they like, given by their distance.
pub trait Walls: Sync {
    /// Number of surfaces.
    fn count(&self) -> usize;

    /// Puts all of them where they are at a time \[s\].
    fn place(&mut self, time: f64);

    /// Distance of a point from a surface \[m\], negative behind it, and the unit normal out of it.
    fn distance(&self, surface: usize, point: DVec3) -> (f64, DVec3);

    /// Velocity of a surface at a point \[m/s\].
    fn velocity(&self, surface: usize, point: DVec3) -> DVec3;
}

/// Empty space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoWalls;

impl Walls for NoWalls {
    fn count(&self) -> usize {
        0
    }
    fn place(&mut self, _: f64) {}
    fn distance(&self, _: usize, _: DVec3) -> (f64, DVec3) {
        (f64::INFINITY, DVec3::Y)
    }
    fn velocity(&self, _: usize, _: DVec3) -> DVec3 {
        DVec3::ZERO
    }
}

/// Everything below planes at rest.
#[derive(Debug, Clone, PartialEq)]
pub struct Planes(
    /// A point \[m\] and the unit normal of each.
    pub Vec<[DVec3; 2]>,
);

impl Walls for Planes {
    fn count(&self) -> usize {
        self.0.len()
    }
    fn place(&mut self, _: f64) {}
    fn distance(&self, surface: usize, p: DVec3) -> (f64, DVec3) {
        let [point, normal] = self.0[surface];
        ((p - point).dot(normal), normal)
    }
    fn velocity(&self, _: usize, _: DVec3) -> DVec3 {
        DVec3::ZERO
    }
}
