//! What the particles carry, on a coarse grid: how many there are, how fast they move, what pressure they have.
//!
//! Every point is spread over the eight nodes around it. At a vertex velocity and pressure are those of the particles around it; their
//! number within about three spacings tells sheets and drops, which smoothing must leave alone, from the rest.

use crate::cloud::Cloud;
use glam::{UVec3, Vec3, Vec4};
use meniscus_core::Frame;
use rayon::prelude::*;

/// Points round a vertex of a flat surface, in a box of three spacings.
const FLAT: f32 = 13.0;

/// Nodes with what the points around them carry.
pub(crate) struct Carrier {
    low: Vec3,
    inverse: f32,
    count: UVec3,
    /// Velocity times weight \[m/s\], and weight.
    moved: Vec<Vec4>,
    /// Pressure times weight \[Pa\].
    pressed: Vec<f32>,
    /// Points in the box of three nodes around each node.
    crowd: Vec<f32>,
}

impl Carrier {
    pub(crate) fn new(cloud: &Cloud, frame: &Frame) -> Self {
        let sorted = &cloud.sorted;
        let positions = || (0..sorted.len()).map(|index| sorted.at(index));
        let low = positions().fold(Vec3::INFINITY, Vec3::min) - 1.5;
        let high = positions().fold(Vec3::NEG_INFINITY, Vec3::max) + 1.5;
        let mut carrier = Self::empty([low, high], 64 * sorted.len() + (1 << 16));
        for index in 0..sorted.len() {
            let number = sorted.number[index] as usize;
            let velocity = frame.particles.velocities.get(number).copied().unwrap_or_default();
            let pressure = frame.particles.pressures.get(number).copied().unwrap_or_default();
            carrier.spread(sorted.at(index), velocity, pressure);
        }
        carrier.crowd = carrier.moved.iter().map(|node| node.w).collect();
        carrier.add_neighbours();
        carrier
    }

    /// A grid over a box, with spacing one, or more if there would be too many nodes.
    fn empty([low, high]: [Vec3; 2], most: usize) -> Self {
        let mut step = 1.0;
        let size = if low.cmple(high).all() { high - low } else { Vec3::ZERO };
        let nodes = |step: f32| (size / step).ceil().as_u64vec3() + 2;
        while nodes(step).element_product() > most as u64 {
            step *= 2.0;
        }
        let count = nodes(step).as_uvec3();
        let nodes = count.element_product() as usize;
        let (moved, pressed) = (vec![Vec4::ZERO; nodes], vec![0.0; nodes]);
        Self {
            low: if size == Vec3::ZERO { Vec3::ZERO } else { low },
            inverse: 1.0 / step,
            count,
            moved,
            pressed,
            crowd: Vec::new(),
        }
    }

    /// The lowest of the eight nodes around a position, and how far it is beyond it.
    fn corner(&self, at: Vec3) -> (UVec3, Vec3) {
        let within = ((at - self.low) * self.inverse).clamp(Vec3::ZERO, (self.count - 2).as_vec3());
        let corner = within.as_uvec3();
        (corner, within - corner.as_vec3())
    }

    fn index(&self, node: UVec3) -> usize {
        ((node.z * self.count.y + node.y) * self.count.x + node.x) as usize
    }

    /// The eight nodes around a position and their weights.
    fn around(&self, at: Vec3) -> [(usize, f32); 8] {
        let (corner, part) = self.corner(at);
        let first = self.index(corner);
        let strides = [1, self.count.x as usize, (self.count.x * self.count.y) as usize];
        std::array::from_fn(|bits| {
            let (mut index, mut weight) = (first, 1.0);
            for axis in 0..3 {
                let up = bits >> axis & 1 == 1;
                index += if up { strides[axis] } else { 0 };
                weight *= if up { part[axis] } else { 1.0 - part[axis] };
            }
            (index, weight)
        })
    }

    fn spread(&mut self, at: Vec3, velocity: Vec3, pressure: f32) {
        for (node, weight) in self.around(at) {
            self.moved[node] += weight * velocity.extend(1.0);
            self.pressed[node] += weight * pressure;
        }
    }

    /// Adds the two neighbours of every node along x, then y, then z.
    fn add_neighbours(&mut self) {
        let strides = [1, self.count.x as usize, (self.count.x * self.count.y) as usize];
        for (axis, stride) in strides.into_iter().enumerate() {
            let before = std::mem::take(&mut self.crowd);
            let side = self.count[axis] as usize;
            let sum = |i: usize| {
                let k = i / stride % side;
                let low = if k > 0 { before[i - stride] } else { 0.0 };
                let high = if k + 1 < side { before[i + stride] } else { 0.0 };
                before[i] + (low + high)
            };
            self.crowd = (0..before.len()).into_par_iter().with_min_len(4096).map(sum).collect();
        }
    }

    /// Velocity \[m/s\] and pressure \[Pa\] of the particles around a position.
    pub(crate) fn carried(&self, at: Vec3) -> (Vec3, f32) {
        let (mut moved, mut pressed) = (Vec4::ZERO, 0.0);
        for (node, weight) in self.around(at) {
            moved += weight * self.moved[node];
            pressed += weight * self.pressed[node];
        }
        if moved.w > 1e-6 { (moved.truncate() / moved.w, pressed / moved.w) } else { (Vec3::ZERO, 0.0) }
    }

    /// How much of a smoothing step a vertex takes, 0 to 1.
    pub(crate) fn freedom(&self, at: Vec3) -> f32 {
        let crowd: f32 = self.around(at).into_iter().map(|(node, weight)| weight * self.crowd[node]).sum();
        (crowd / FLAT).clamp(0.0, 1.0)
    }
}
