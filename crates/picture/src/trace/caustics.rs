//! Sunlight that liquids have bundled, on the floor: photons through the water into a map.

use glam::Vec3;
use rayon::prelude::*;

use super::matter::Matter;
use super::path::{bend, fresnel};
use super::random::Random;
use super::set::{Point, Set};
use super::sky::Sky;
use super::tree::Ray;

/// Photons along each side of the square from which they start.
const ROWS: usize = 600;
/// Texels along each side of the map.
const SIZE: usize = 512;
/// Borders that a photon crosses at most.
const MAX_STEPS: usize = 12;
/// How far the floor of a tank may lie above the floor, over the size of the scene.
const NEAR_FLOOR: f32 = 0.006;

/// Irradiance of the floor by sunlight that came through liquid.
#[derive(Debug)]
pub(crate) struct Caustics {
    low: Vec3,
    /// Texels per metre along x and z.
    scale: Vec3,
    height: f32,
    near: f32,
    texels: Vec<Vec3>,
}

impl Caustics {
    /// Sends photons; `None` when there is no liquid or no floor.
    pub(crate) fn new(set: &Set, sky: &Sky) -> Option<Self> {
        let (wet, floor) = (set.wet?, set.floor?);
        if sky.sun.y < 0.05 || !(wet.low.cmple(wet.high).all()) {
            return None;
        }
        // The shadow of the box of the liquids on the floor, and a border for what is bent outwards.
        let reach = Vec3::new(sky.sun.x, 0.0, sky.sun.z) / sky.sun.y * (wet.high.y - floor.height).max(0.0);
        let border = 0.15 * (wet.high - wet.low).max_element();
        let low = wet.low.min(wet.low - reach) - border;
        let high = wet.high.max(wet.high - reach) + border;
        let scale = SIZE as f32 / (high - low);
        let mut map = Self {
            low,
            scale,
            height: floor.height,
            near: NEAR_FLOOR * set.size,
            texels: vec![Vec3::ZERO; SIZE * SIZE],
        };
        map.send(set, sky, [wet.low, wet.high]);
        map.soften();
        map.soften();
        Some(map)
    }

    /// Whether a point lies on what the map shows.
    pub(crate) fn covers(&self, point: &Point) -> bool {
        let position = (point.at - self.low) * self.scale;
        let within = |x: f32| x > 0.0 && x < SIZE as f32;
        point.face.y > 0.99 && (point.at.y - self.height).abs() < self.near && within(position.x) && within(position.z)
    }

    /// Irradiance at a point of the floor.
    pub(crate) fn light(&self, at: Vec3) -> Vec3 {
        let position = (at - self.low) * self.scale - 0.5;
        let (x, z) = (position.x.clamp(0.0, SIZE as f32 - 1.001), position.z.clamp(0.0, SIZE as f32 - 1.001));
        let (i, k) = (x as usize, z as usize);
        let (s, t) = (x - i as f32, z - k as f32);
        let texel = |i: usize, k: usize| self.texels[k * SIZE + i];
        let row = |k: usize| texel(i, k).lerp(texel(i + 1, k), s);
        row(k).lerp(row(k + 1), t)
    }

    fn send(&mut self, set: &Set, sky: &Sky, wet: [Vec3; 2]) {
        let side = sky.sun.any_orthonormal_vector();
        let up = sky.sun.cross(side);
        let corners: Vec<Vec3> = (0..8).map(|k| Vec3::new(wet[k & 1].x, wet[k >> 1 & 1].y, wet[k >> 2].z)).collect();
        let ends = |axis: Vec3| {
            corners
                .iter()
                .map(|c| c.dot(axis))
                .fold((f32::INFINITY, f32::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)))
        };
        let ((left, right), (bottom, top)) = (ends(side), ends(up));
        let away = ends(sky.sun).1 + 0.1 * set.size;
        let step = [(right - left) / ROWS as f32, (top - bottom) / ROWS as f32];
        // Power of a photon over the area of a texel.
        let weight = sky.sunlight * (step[0] * step[1] * self.scale.x * self.scale.z);
        let rows: Vec<Vec<(u32, Vec3)>> = (0..ROWS)
            .into_par_iter()
            .map(|row| {
                let mut landed = Vec::new();
                for column in 0..ROWS {
                    let mut random = Random::new((row * ROWS + column) as u64 | 1 << 50, 0);
                    let [x, y] = random.pair();
                    let origin = sky.sun * away
                        + side * (left + (column as f32 + x) * step[0])
                        + up * (bottom + (row as f32 + y) * step[1]);
                    let ray = Ray { origin, direction: -sky.towards_sun(&mut random), time: 0.0 };
                    landed.extend(self.fall(set, ray));
                }
                landed
            })
            .collect();
        // One after the other: a sum must not depend on who comes first.
        for (texel, light) in rows.into_iter().flatten() {
            self.texels[texel as usize] += light * weight;
        }
    }

    /// Where a photon lands after it has been in a liquid, and what is left of it.
    fn fall(&self, set: &Set, mut ray: Ray) -> Option<(u32, Vec3)> {
        let (mut left, mut inside, mut wet) = (Vec3::ONE, None, false);
        for _ in 0..MAX_STEPS {
            let hit = set.first(&ray, f32::INFINITY)?;
            let point = set.point(&ray, &hit);
            if let Some(k) = inside {
                let liquid = &set.liquids[usize::from(k)];
                left *= (liquid.absorption + liquid.scattering).map(|a| libm::expf(-a * hit.distance));
            }
            let mut direction = ray.direction;
            match point.matter {
                Matter::Opaque { .. } => return (wet && self.covers(&point)).then(|| (self.texel(point.at), left)),
                Matter::Glass { tint } => left *= tint * 0.92,
                Matter::Veil { passes, .. } => left *= passes,
                Matter::Liquid(k) => {
                    wet = true;
                    let index = set.liquids[usize::from(k)].index;
                    let ratio = if point.outside { 1.0 / index } else { index };
                    let mirrored = fresnel(-ray.direction.dot(point.normal), ratio);
                    match bend(ray.direction, point.normal, ratio) {
                        Some(bent) => {
                            left *= 1.0 - mirrored;
                            direction = bent;
                            inside = point.outside.then_some(k);
                        }
                        None => direction -= 2.0 * direction.dot(point.normal) * point.normal,
                    }
                }
            }
            let side = if direction.dot(point.face) < 0.0 { -1.0 } else { 1.0 };
            ray = Ray { origin: point.at + point.face * (side * 2e-5 * set.size), direction, ..ray };
        }
        None
    }

    fn texel(&self, at: Vec3) -> u32 {
        let position = (at - self.low) * self.scale;
        let (x, z) = ((position.x as usize).min(SIZE - 1), (position.z as usize).min(SIZE - 1));
        (z * SIZE + x) as u32
    }

    /// Spreads each texel over its neighbours, 1 : 2 : 1 along both axes.
    fn soften(&mut self) {
        for stride in [1, SIZE] {
            let old = &self.texels;
            let new = (0..SIZE * SIZE).map(|k| {
                let index = k / stride % SIZE;
                let before = if index > 0 { old[k - stride] } else { old[k] };
                let after = if index + 1 < SIZE { old[k + stride] } else { old[k] };
                (before + after) * 0.25 + old[k] * 0.5
            });
            self.texels = new.collect();
        }
    }
}
