//! The shadow on the ground: sharp at the feet of a thing, soft where the thing is high above.
//!
//! On a plane the shadow map becomes a yes-or-no picture of what is shaded. Its sums over rectangles \[Cro84\] give the
//! mean height of what shades a position, hence the width of the half-shadow \[Fer05\], and then the shaded part of
//! a square of that width, each from a few look-ups and without noise.

use glam::{Vec2, Vec3};
use rayon::prelude::*;

use crate::shadow::ShadowMap;

/// Rows of the map that one task sums.
const STRIP: usize = 64;
/// Steps of the distance between ground and caster. With 2048² texels the sums fit: 22 bits of count, 32 of distance.
const STEPS: f32 = 1023.0;
/// Bits below the sum of distances, for the count.
const COUNT_BITS: u32 = 24;

/// How soft a light's shadows are.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Softness {
    /// Width of the half-shadow over the distance to what casts it, dimensionless: the light's apparent size.
    pub(crate) spread: f32,
    /// Half of the largest half-shadow, as a part of the map.
    pub(crate) widest: f32,
}

impl Softness {
    /// A lamp with a small screen.
    pub(crate) const KEY: Self = Self { spread: 0.22, widest: 1.0 / 24.0 };
    /// The whole sky.
    pub(crate) const SKY: Self = Self { spread: 1.6, widest: 1.0 / 6.0 };
}

/// Sums of shaded texels and of their casters' distances, over all rectangles from the first texel.
#[derive(Debug, Default)]
pub(crate) struct Penumbra {
    sums: Vec<u64>,
    carry: Vec<u64>,
    /// Distance of one step \[m\].
    step: f32,
    size: usize,
    texel: f32,
    softness: Softness,
}

impl Penumbra {
    /// Prepares the shadow of `map` on the plane through a point with an upward normal (view space).
    pub(crate) fn prepare(&mut self, map: &ShadowMap, (point, up): (Vec3, Vec3), softness: Softness) {
        let space = &map.space;
        (self.size, self.texel, self.softness) = (space.size, space.texel, softness);
        self.step = space.texel * space.size as f32 * 2.0 / STEPS;
        let plane = Plane::new(map, point, up);
        self.sums.resize(map.depth.len(), 0);
        let (size, step) = (self.size, self.step);
        let strips = self.sums.par_chunks_mut(size * STRIP).zip(map.depth.par_chunks(size * STRIP));
        strips.enumerate().for_each(|(i, (sums, depths))| {
            sum_strip(sums, depths, size, |x, y, depth| {
                let distance = plane.depth(x as f32 + 0.5, (i * STRIP + y) as f32 + 0.5) - depth;
                if distance > 0.0 { ((distance / step).min(STEPS) as u64) << COUNT_BITS | 1 } else { 0 }
            });
        });
        self.join_strips();
    }

    /// Adds to every strip what the strips above it hold.
    fn join_strips(&mut self) {
        let size = self.size;
        let strips = self.sums.len() / (size * STRIP);
        self.carry.clear();
        self.carry.resize(size * strips, 0);
        for strip in 1..strips {
            let last = &self.sums[(strip * STRIP - 1) * size..strip * STRIP * size];
            let (above, here) = self.carry.split_at_mut(strip * size);
            for ((here, above), last) in here.iter_mut().zip(&above[(strip - 1) * size..]).zip(last) {
                *here = above + last;
            }
        }
        let carry = &self.carry;
        self.sums.par_chunks_mut(size * STRIP).zip(carry.par_chunks(size)).skip(1).for_each(|(sums, carry)| {
            for row in sums.chunks_mut(size) {
                row.iter_mut().zip(carry).for_each(|(sum, carry)| *sum += carry);
            }
        });
    }

    /// Whether no shadow reaches the positions (texels) on the line between two positions.
    pub(crate) fn is_lit_between(&self, a: Vec2, b: Vec2) -> bool {
        let widest = self.softness.widest * self.size as f32;
        let (low, high) = (a.min(b) - widest, a.max(b) + widest + 1.0);
        self.sum(low, high) == 0
    }

    /// The part of the key light that reaches a position on the ground (texels), 0..1.
    pub(crate) fn light_at(&self, position: Vec2) -> f32 {
        let widest = self.softness.widest * self.size as f32;
        let (count, texels, distance) = self.look_round(position, widest);
        if count == 0 || count == texels {
            return if count == 0 { 1.0 } else { 0.0 };
        }
        let half = (0.5 * self.softness.spread * distance / self.texel).clamp(1.0, widest);
        // Two squares, one in the other, fall off more softly than one.
        let shaded = 0.6 * self.shaded_part(position, half) + 0.4 * self.shaded_part(position, half * 0.5);
        1.0 - shaded.clamp(0.0, 1.0)
    }

    /// Shaded texels in a square round a position, all texels in it, and the mean distance of what shades \[m\].
    fn look_round(&self, position: Vec2, half: f32) -> (u64, u64, f32) {
        let (low, high) = (position - half, position + half + 1.0);
        let sum = self.sum(low, high);
        let count = sum & ((1 << COUNT_BITS) - 1);
        let side = |low: f32, high: f32| high as u64 - low as u64;
        let distance = (sum >> COUNT_BITS) as f32 / count.max(1) as f32 * self.step;
        (count, side(low.x, high.x) * side(low.y, high.y), distance)
    }

    /// The sum over the texels between two positions.
    fn sum(&self, low: Vec2, high: Vec2) -> u64 {
        // Negative numbers cast to zero.
        let at = |x: f32, y: f32| self.prefix(x as usize, y as usize);
        at(high.x, high.y) + at(low.x, low.y) - at(low.x, high.y) - at(high.x, low.y)
    }

    fn shaded_part(&self, position: Vec2, half: f32) -> f32 {
        let (low, high) = (position - half, position + half);
        let sum = self.count(high.x, high.y) + self.count(low.x, low.y)
            - self.count(low.x, high.y)
            - self.count(high.x, low.y);
        sum as f32 / (4.0 * half * half)
    }

    /// Shaded texels above and left of a point between texels, in parts.
    fn count(&self, x: f32, y: f32) -> f64 {
        let end = self.size as f32;
        let (x, y) = (x.clamp(0.0, end), y.clamp(0.0, end));
        let (i, j) = (x as usize, y as usize);
        let (u, v) = (f64::from(x - i as f32), f64::from(y - j as f32));
        let at = |i: usize, j: usize| (self.prefix(i, j) & ((1 << COUNT_BITS) - 1)) as f64;
        let mix = |j: usize| at(i, j) * (1.0 - u) + at(i + 1, j) * u;
        mix(j) * (1.0 - v) + mix(j + 1) * v
    }

    /// The sum over all texels left of column `x` and above row `y`.
    #[inline]
    fn prefix(&self, x: usize, y: usize) -> u64 {
        let (x, y) = (x.min(self.size), y.min(self.size));
        if x == 0 || y == 0 { 0 } else { self.sums[(y - 1) * self.size + x - 1] }
    }
}

/// Sums over all rectangles from the first texel of a strip.
fn sum_strip(sums: &mut [u64], depths: &[f32], size: usize, value: impl Fn(usize, usize, f32) -> u64) {
    for (y, row) in depths.chunks(size).enumerate() {
        let (above, here) = sums.split_at_mut(y * size);
        let above = above.get((y.max(1) - 1) * size..).unwrap_or_default();
        let mut sum = 0;
        for (x, (here, depth)) in here.iter_mut().zip(row).enumerate() {
            sum += value(x, y, *depth);
            *here = sum + above.get(x).copied().unwrap_or(0);
        }
    }
}

/// Depth of the ground along the light, linear over the map.
struct Plane {
    at_origin: f32,
    per_column: f32,
    per_row: f32,
}

impl Plane {
    fn new(map: &ShadowMap, point: Vec3, up: Vec3) -> Self {
        let position = map.space.map(point);
        let [x, y, along] = map.space.unit_axes().map(|axis| up.dot(axis));
        let texel = map.space.texel;
        let (per_column, per_row) = (-texel * x / along, -texel * y / along);
        Self { at_origin: position.z - per_column * position.x - per_row * position.y, per_column, per_row }
    }

    #[inline]
    fn depth(&self, x: f32, y: f32) -> f32 {
        self.at_origin + self.per_column * x + self.per_row * y
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::camera::View;
    use crate::drawing::{Drawing, Material, Sphere};
    use crate::shadow::LightSpace;
    use crate::{Bounds, Camera};

    /// Light on the ground y = -1 along the x axis, under a sphere at a height, lit from straight above.
    fn light_along_x(height: f32) -> Vec<f32> {
        let camera = Camera::looking(Vec3::new(0.0, 2.0, 5.0), Vec3::ZERO, 40.0);
        let bounds = Bounds { min: Vec3::splat(-1.0), max: Vec3::ONE };
        let view = View::new(&camera, &bounds, 64, 64).unwrap();
        let center = view.to_view(Vec3::Y * height);
        let sphere = Sphere { center, radius: 0.3, albedo: crate::color::Light::ONE, material: Material::Satin };
        let mut map = ShadowMap::default();
        let drawing = Drawing { spheres: vec![sphere], ..Drawing::default() };
        map.cast(&drawing, LightSpace::new(&bounds, Vec3::Y, &view, 256));
        let mut penumbra = Penumbra::default();
        penumbra.prepare(&map, (view.to_view(-Vec3::Y), view.turn(Vec3::Y)), Softness::KEY);
        let position = |x: f32| map.space.map(view.to_view(Vec3::new(x, -1.0, 0.0))).truncate();
        (0..100).map(|i| penumbra.light_at(position(i as f32 * 0.02))).collect()
    }

    #[test]
    fn shadow_is_below_and_light_outside() {
        let light = light_along_x(-0.5);
        assert!(light[0] < 0.01 && light[5] < 0.05, "{light:?}");
        assert!(light[20..].iter().all(|l| *l > 0.99), "{light:?}");
        assert!(light.windows(2).all(|w| w[1] >= w[0] - 0.02), "{light:?}");
    }

    #[test]
    fn shadow_softens_with_height() {
        let width = |light: Vec<f32>| light.iter().filter(|l| (0.05..0.95).contains(*l)).count();
        assert!(width(light_along_x(0.8)) > width(light_along_x(-0.7)) + 2);
    }
}
