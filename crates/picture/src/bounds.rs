//! The box that holds what a frame shows.

use glam::Vec3;
use meniscus_core::Frame;

/// Coordinates beyond this are taken for garbage \[m\].
const FARTHEST: f32 = 1e9;

/// Particles looked at to tell the bulk from strays.
const SAMPLES: usize = 4096;

/// An axis-aligned box.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    /// Smallest coordinates \[m\].
    pub min: Vec3,
    /// Largest coordinates \[m\].
    pub max: Vec3,
}

impl Bounds {
    /// The box that holds nothing; it grows with the first point.
    pub const EMPTY: Self = Self { min: Vec3::INFINITY, max: Vec3::NEG_INFINITY };

    /// Whether it holds no point.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        !(self.min.cmple(self.max).all() && self.min.is_finite() && self.max.is_finite())
    }

    /// Its middle \[m\].
    #[must_use]
    pub fn center(&self) -> Vec3 {
        (self.min + self.max) * 0.5
    }

    /// Half of its diagonal \[m\].
    #[must_use]
    pub fn radius(&self) -> f32 {
        if self.is_empty() { 0.0 } else { (self.max - self.min).length() * 0.5 }
    }

    /// The eight corners \[m\].
    #[must_use]
    pub fn corners(&self) -> [Vec3; 8] {
        std::array::from_fn(|i| {
            let pick = |bit: usize, low: f32, high: f32| if i >> bit & 1 == 0 { low } else { high };
            Vec3::new(pick(0, self.min.x, self.max.x), pick(1, self.min.y, self.max.y), pick(2, self.min.z, self.max.z))
        })
    }

    /// The smallest box that holds both.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        Self { min: self.min.min(other.min), max: self.max.max(other.max) }
    }

    /// The box grown by `margin` \[m\] on every side.
    #[must_use]
    pub fn grown(&self, margin: f32) -> Self {
        Self { min: self.min - margin, max: self.max + margin }
    }

    /// The box of everything in the frame. Non-finite points are left out, and so are particles that are farther from
    /// the bulk than the bulk is wide: a single drop lost at the horizon must not shrink the picture to a dot.
    #[must_use]
    pub fn of(frame: &Frame) -> Self {
        let drawn = frame.surfaces.iter().flat_map(|s| s.positions.iter().copied());
        let lines = frame.wires.iter().flat_map(|w| w.segments.iter().flatten().copied());
        let solid = Self::of_points(drawn.chain(lines));
        solid.union(&Self::of_particles(&frame.particles.positions, frame.particles.spacing))
    }

    fn of_points(points: impl Iterator<Item = Vec3>) -> Self {
        points.filter(|p| is_usable(*p)).fold(Self::EMPTY, |b, p| Self { min: b.min.min(p), max: b.max.max(p) })
    }

    fn of_particles(positions: &[Vec3], spacing: f32) -> Self {
        let bulk = bulk(positions);
        if bulk.is_empty() {
            return bulk;
        }
        let reach = Self { min: bulk.min - (bulk.max - bulk.min), max: bulk.max + (bulk.max - bulk.min) };
        let reach = if spacing.is_finite() { reach.grown(4.0 * spacing.abs()) } else { reach };
        let near = positions.iter().copied().filter(|p| p.cmpge(reach.min).all() && p.cmple(reach.max).all());
        let all = Self::of_points(near);
        if spacing.is_finite() { all.grown(0.5 * spacing.abs()) } else { all }
    }
}

/// Whether a point can be drawn.
pub(crate) fn is_usable(p: Vec3) -> bool {
    p.abs().cmple(Vec3::splat(FARTHEST)).all()
}

/// The box between the first and the last percentile along each axis.
fn bulk(positions: &[Vec3]) -> Bounds {
    let stride = positions.len().div_ceil(SAMPLES).max(1);
    let sample: Vec<Vec3> = positions.iter().copied().step_by(stride).filter(|p| is_usable(*p)).collect();
    if sample.is_empty() {
        return Bounds::EMPTY;
    }
    let mut bounds = Bounds::EMPTY;
    let last = sample.len() - 1;
    for axis in 0..3 {
        let mut values: Vec<f32> = sample.iter().map(|p| p[axis]).collect();
        values.sort_unstable_by(f32::total_cmp);
        bounds.min[axis] = values[last / 100];
        bounds.max[axis] = values[last - last / 100];
    }
    bounds
}

#[cfg(test)]
mod tests {
    use super::*;
    use meniscus_core::{Particles, Surface, Wire};

    fn block(extra: &[Vec3]) -> Frame {
        let mut positions: Vec<Vec3> =
            (0..1000).map(|i| Vec3::new((i % 10) as f32, (i / 10 % 10) as f32, (i / 100) as f32)).collect();
        positions.extend(extra);
        Frame { particles: Particles { positions, spacing: 1.0, ..Particles::default() }, ..Frame::default() }
    }

    #[test]
    fn strays_and_garbage_do_not_count() {
        let plain = Bounds::of(&block(&[]));
        assert_eq!((plain.min, plain.max), (Vec3::splat(-0.5), Vec3::splat(9.5)));
        let strays = [Vec3::splat(5e4), Vec3::NAN, Vec3::splat(f32::INFINITY), Vec3::new(1e30, 0.0, 0.0)];
        assert_eq!(Bounds::of(&block(&strays)), plain);
        assert_eq!(Bounds::of(&block(&[Vec3::splat(14.0)])).max, Vec3::splat(14.5));
    }

    #[test]
    fn surfaces_and_wires_count_whole() {
        let mut frame = Frame::default();
        assert!(Bounds::of(&frame).is_empty());
        frame.surfaces.push(Surface { positions: vec![Vec3::ZERO, Vec3::NAN, Vec3::X], ..Surface::default() });
        frame.wires.push(Wire { body: 0, segments: vec![[Vec3::ONE, Vec3::splat(-3.0)]] });
        assert_eq!(Bounds::of(&frame), Bounds { min: Vec3::splat(-3.0), max: Vec3::ONE });
    }
}
