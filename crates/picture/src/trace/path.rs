//! The way of a ray, from the eye to the lights.
//!
//! | symbol | meaning |
//! |---|---|
//! | F | part of the light that a border of two media mirrors (Fresnel, both polarisations) |
//! | T | what one unit of light at the end of the path so far is worth in the picture |
//!
//! Where the eye's ray first meets water, glass or gloss, both ways are followed, mirrored and bent; later one of them is
//! drawn, with F as its chance. Dull surfaces ask sun and softbox directly; what bounces from them therefore sees the sky without these.

use glam::Vec3;

use super::caustics::Caustics;
use super::matter::{Liquid, Matter};
use super::random::Random;
use super::set::{Point, Set};
use super::sky::{Lamp, Sky, disc};
use super::tree::Ray;

/// Borders that a path crosses at most, and dull surfaces that it bounces from.
const MAX_STEPS: u32 = 24;
const MAX_BOUNCES: u32 = 3;
/// The same for scattering inside of a liquid.
const MAX_SCATTERINGS: u32 = 12;
/// Light of one path is cut here: rarer and brighter ones would stay as specks.
const BRIGHTEST: f32 = 6.0;
/// Refractive index of glass and of coats, dimensionless.
const GLASS: f32 = 1.5;
/// How much of the scattering of a liquid takes light from a straight way through it; most goes on forwards.
const TAKEN: f32 = 0.35;
/// Where the floor begins to fade and is gone, in sizes of the scene.
const FADE: [f32; 2] = [0.9, 4.0];
/// Paths that wait: each of two splits leaves one.
const WAITING: usize = 4;

/// What a pixel gets from one path: light, and what it shows, to guide the filter.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Seen {
    pub(crate) light: Vec3,
    /// Colour of the first dull surface, times T.
    pub(crate) albedo: Vec3,
    pub(crate) normal: Vec3,
}

/// A path under way.
#[derive(Debug, Clone, Copy)]
struct Walk {
    ray: Ray,
    /// T
    worth: Vec3,
    /// The liquid that it is in.
    inside: Option<u16>,
    /// Whether sun and softbox are seen where it ends.
    sees_lamps: bool,
    /// How often it may still be split.
    splits: u32,
    /// Whether it tells the filter what it meets.
    tells: bool,
    bounces: u32,
    scattered: u32,
}

/// What follows after a step.
enum Next {
    On(Walk),
    End,
}

/// Follows paths through a set.
pub(crate) struct Paths<'a> {
    pub(crate) set: &'a Set,
    pub(crate) sky: &'a Sky,
    pub(crate) caustics: Option<&'a Caustics>,
}

/// Paths that wait to be followed.
struct Waiting {
    walks: [Option<Walk>; WAITING],
    count: usize,
}

impl Waiting {
    fn push(&mut self, walk: Walk) {
        if self.count < WAITING && walk.worth.max_element() > 2e-3 {
            self.walks[self.count] = Some(walk);
            self.count += 1;
        }
    }

    fn pop(&mut self) -> Option<Walk> {
        self.count = self.count.checked_sub(1)?;
        self.walks[self.count].take()
    }
}

impl Paths<'_> {
    /// Light along a ray into the eye.
    pub(crate) fn look(&self, ray: Ray, random: &mut Random) -> Seen {
        let mut seen = Seen::default();
        let mut waiting = Waiting { walks: [None; WAITING], count: 0 };
        waiting.push(Walk {
            ray,
            worth: Vec3::ONE,
            inside: None,
            sees_lamps: true,
            splits: 2,
            tells: true,
            bounces: 0,
            scattered: 0,
        });
        while let Some(mut walk) = waiting.pop() {
            for _ in 0..MAX_STEPS {
                match self.step(walk, &mut waiting, random, &mut seen) {
                    Next::On(next) => walk = next,
                    Next::End => break,
                }
            }
        }
        let most = seen.light.max_element();
        if most > BRIGHTEST {
            seen.light *= BRIGHTEST / most;
        }
        if !seen.light.is_finite() {
            seen.light = Vec3::ZERO;
        }
        seen
    }

    fn step(&self, mut walk: Walk, waiting: &mut Waiting, random: &mut Random, seen: &mut Seen) -> Next {
        let hit = self.set.first(&walk.ray, f32::INFINITY);
        let way = hit.map_or(f32::INFINITY, |h| h.distance);
        if let Some(liquid) = walk.inside.map(|k| self.set.liquids[usize::from(k)]) {
            if let Some(scattered) = self.scatter(&walk, &liquid, way, random, seen) {
                return scattered;
            }
            walk.worth *= passed(&liquid, way);
        }
        let Some(hit) = hit else {
            let sky =
                if walk.sees_lamps { self.sky.seen(walk.ray.direction) } else { self.sky.dome(walk.ray.direction) };
            tell(&mut walk, seen, Vec3::ONE, Vec3::ZERO);
            seen.light += walk.worth * sky;
            return Next::End;
        };
        let point = self.set.point(&walk.ray, &hit);
        match point.matter {
            Matter::Liquid(k) => self.cross(walk, k, &point, waiting, random),
            Matter::Glass { tint } => self.pass_glass(walk, tint, &point, waiting, random),
            Matter::Veil { albedo, passes } => {
                if random.next() < passes {
                    walk.worth *= Vec3::ONE.lerp(albedo, 0.25);
                    Next::On(self.onwards(walk, &point, walk.ray.direction))
                } else {
                    self.bounce(walk, &point, (albedo, 0.7), waiting, random, seen)
                }
            }
            Matter::Opaque { albedo, gloss, texture } => {
                let albedo = albedo * texture.shade(point.rest, point.face);
                self.bounce(walk, &point, (albedo, gloss), waiting, random, seen)
            }
        }
    }

    /// The same path from a point on, beyond the surface or back from it.
    fn onwards(&self, walk: Walk, point: &Point, direction: Vec3) -> Walk {
        let side = if direction.dot(point.face) < 0.0 { -1.0 } else { 1.0 };
        let origin = point.at + point.face * (side * 2e-5 * self.set.size);
        Walk { ray: Ray { origin, direction, ..walk.ray }, ..walk }
    }

    /// At the border of a liquid.
    fn cross(&self, walk: Walk, k: u16, point: &Point, waiting: &mut Waiting, random: &mut Random) -> Next {
        let straight = self.onwards(walk, point, walk.ray.direction);
        let index = |liquid: Option<u16>| liquid.map_or(1.0, |k| self.set.liquids[usize::from(k)].index);
        let (from, to) = match (point.outside, walk.inside) {
            (true, Some(here)) if here == k => return Next::On(straight),
            (true, here) => (here, Some(k)),
            (false, Some(here)) if here != k => return Next::On(straight),
            (false, _) => (Some(k), self.neighbour(&straight.ray, k)),
        };
        let ratio = index(from) / index(to);
        let cos = -walk.ray.direction.dot(point.normal);
        let mirrored = fresnel(cos, ratio);
        let reflection = Walk { inside: from, splits: 0, tells: false, ..self.mirror(walk, point) };
        let Some(bent) = bend(walk.ray.direction, point.normal, ratio) else {
            return Next::On(Walk { tells: walk.tells, splits: walk.splits, ..reflection });
        };
        let refraction = Walk { inside: to, ..self.onwards(walk, point, bent) };
        if walk.splits > 0 && point.outside {
            waiting.push(Walk { worth: walk.worth * mirrored, ..reflection });
            let worth = walk.worth * (1.0 - mirrored);
            return Next::On(Walk { worth, splits: walk.splits - 1, ..refraction });
        }
        Next::On(if random.next() < mirrored { reflection } else { refraction })
    }

    /// Another liquid that begins where one ends: they share the interface, there is no air between them.
    fn neighbour(&self, ray: &Ray, k: u16) -> Option<u16> {
        if self.set.liquids.len() < 2 {
            return None;
        }
        let hit = self.set.first(ray, 4e-3 * self.set.size)?;
        let enters = self.set.outwards(ray, hit.distance, hit.what).dot(ray.direction) < 0.0;
        match self.set.matter_of(hit.what) {
            Matter::Liquid(other) if other != k && enters => Some(other),
            _ => None,
        }
    }

    fn mirror(&self, walk: Walk, point: &Point) -> Walk {
        let mut direction = reflect(walk.ray.direction, point.normal);
        // A smooth normal may send the ray into the face.
        if direction.dot(point.face) <= 0.0 {
            direction = reflect(walk.ray.direction, point.face);
        }
        self.onwards(walk, point, direction)
    }

    /// Through a thin pane: two borders, and all that is mirrored between them.
    fn pass_glass(&self, walk: Walk, tint: Vec3, point: &Point, waiting: &mut Waiting, random: &mut Random) -> Next {
        let cos = -walk.ray.direction.dot(point.normal);
        let once = fresnel(cos, 1.0 / GLASS);
        let mirrored = 2.0 * once / (1.0 + once);
        let reflection = Walk { splits: 0, tells: false, ..self.mirror(walk, point) };
        let through = Walk { worth: walk.worth * tint, ..self.onwards(walk, point, walk.ray.direction) };
        if walk.splits > 0 {
            waiting.push(Walk { worth: walk.worth * mirrored, ..reflection });
            let worth = through.worth * (1.0 - mirrored);
            // The first pane takes no split from the water behind it.
            return Next::On(Walk { worth, splits: walk.splits.max(2) - 1, ..through });
        }
        Next::On(if random.next() < mirrored { reflection } else { through })
    }

    /// From a dull surface with a coat.
    fn bounce(
        &self,
        mut walk: Walk,
        point: &Point,
        (albedo, gloss): (Vec3, f32),
        waiting: &mut Waiting,
        random: &mut Random,
        seen: &mut Seen,
    ) -> Next {
        let clear = self.fade(walk, point);
        if clear < 1.0 {
            seen.light += walk.worth * (1.0 - clear) * self.sky.dome(walk.ray.direction);
            walk.worth *= clear;
        }
        tell(&mut walk, seen, albedo, point.normal);
        // Below water a coat hardly shows.
        let coated = gloss > 0.0 && walk.inside.is_none();
        let mirrored = if coated { gloss * fresnel(-walk.ray.direction.dot(point.normal), 1.0 / GLASS) } else { 0.0 };
        if mirrored > 0.0 {
            let reflection = Walk { splits: 0, ..self.mirror(walk, point) };
            if walk.splits > 0 {
                waiting.push(Walk { worth: walk.worth * mirrored, ..reflection });
                walk.worth *= 1.0 - mirrored;
            } else if random.next() < mirrored {
                return Next::On(reflection);
            }
        }
        let start = point.at + point.face * (2e-5 * self.set.size);
        for lamp in self.chosen(&walk, random) {
            seen.light += walk.worth * albedo * self.lit(start, point, &lamp, walk.ray.time) / std::f32::consts::PI;
        }
        walk.worth *= albedo;
        walk.bounces += 1;
        if walk.bounces > MAX_BOUNCES || !self.survives(&mut walk, random) {
            return Next::End;
        }
        let [x, y] = disc(random.pair());
        let side = point.normal.any_orthonormal_vector();
        let height = (1.0 - x * x - y * y).max(0.0).sqrt();
        let direction = side * x + point.normal.cross(side) * y + point.normal * height;
        let direction = if direction.dot(point.face) > 0.0 { direction } else { reflect(direction, point.face) };
        Next::On(Walk { sees_lamps: false, splits: 0, ..self.onwards(walk, point, direction.normalize_or(point.face)) })
    }

    /// The lamps to be asked: both at first, one of them later.
    fn chosen(&self, walk: &Walk, random: &mut Random) -> impl Iterator<Item = Lamp> {
        let lamps = self.sky.lamps(random);
        let one = (walk.bounces > 0).then(|| usize::from(random.next() < 0.5));
        let weight = if one.is_some() { 2.0 } else { 1.0 };
        let asked = lamps.into_iter().enumerate().filter(move |(k, _)| one.is_none_or(|one| one == *k));
        asked.map(move |(_, lamp)| Lamp { light: lamp.light * weight, ..lamp })
    }

    /// How much of the floor is seen so far out; it fades into the horizon.
    fn fade(&self, walk: Walk, point: &Point) -> f32 {
        let out = (point.at - self.set.middle).length() / self.set.size;
        let part = ((out - FADE[0]) / (FADE[1] - FADE[0])).clamp(0.0, 1.0);
        if walk.bounces > 0 { 1.0 } else { 1.0 - part * part * (3.0 - 2.0 * part) }
    }

    /// Irradiance of a dull surface from a lamp; below water, where sun comes bundled, from the map of caustics.
    fn lit(&self, start: Vec3, point: &Point, lamp: &Lamp, time: f32) -> Vec3 {
        let cos = lamp.to.dot(point.normal).max(0.0);
        if cos == 0.0 || lamp.to.dot(point.face) <= 0.0 {
            return Vec3::ZERO;
        }
        let sun = lamp.to.dot(self.sky.sun) > 0.999;
        let map = self.caustics.filter(|map| sun && map.covers(point));
        let ray = Ray { origin: start, direction: lamp.to, time };
        let (passed, wet) = self.shadow(&ray, map.is_some());
        match map {
            Some(map) if wet => map.light(point.at) * (lamp.light / self.sky.sunlight),
            _ => lamp.light * passed * cos,
        }
    }

    /// What passes along a straight way out, and whether it leads through a liquid; `whole` looks on behind what is opaque.
    fn shadow(&self, ray: &Ray, whole: bool) -> (Vec3, bool) {
        let (mut passed, mut wet) = (Vec3::ONE, false);
        let mut depth = Vec3::ZERO;
        self.set.all(ray, &mut |distance, what| {
            match self.set.matter_of(what) {
                Matter::Opaque { .. } => passed = Vec3::ZERO,
                Matter::Glass { tint } => passed *= tint * 0.92,
                Matter::Veil { albedo, passes } => passed *= Vec3::ONE.lerp(albedo, 0.25) * passes,
                Matter::Liquid(k) => {
                    wet = true;
                    let liquid = &self.set.liquids[usize::from(k)];
                    let cos = self.set.outwards(ray, distance, what).normalize_or_zero().dot(ray.direction);
                    let extinction = liquid.absorption + TAKEN * liquid.scattering;
                    depth += extinction * distance.copysign(cos);
                    passed *= 1.0 - fresnel(cos.abs(), 1.0 / liquid.index);
                }
            }
            whole || passed != Vec3::ZERO
        });
        (passed * depth.map(|d| libm::expf(-d.max(0.0))), wet)
    }

    /// Scattering before a path has gone its way through a liquid \[m\].
    fn scatter(&self, walk: &Walk, liquid: &Liquid, way: f32, random: &mut Random, seen: &mut Seen) -> Option<Next> {
        if liquid.scattering <= 0.0 {
            return None;
        }
        let free = -libm::logf(1.0 - random.next()) / liquid.scattering;
        if free >= way {
            return None;
        }
        let mut walk = *walk;
        walk.worth *= passed(liquid, free);
        tell(&mut walk, seen, liquid.color, Vec3::ZERO);
        let at = walk.ray.at(free);
        for lamp in self.chosen(&Walk { bounces: walk.scattered, ..walk }, random) {
            let (passed, _) = self.shadow(&Ray { origin: at, direction: lamp.to, time: walk.ray.time }, false);
            seen.light += walk.worth * lamp.light * passed / (4.0 * std::f32::consts::PI);
        }
        walk.scattered += 1;
        if walk.scattered > MAX_SCATTERINGS || !self.survives(&mut walk, random) {
            return Some(Next::End);
        }
        let y = 1.0 - 2.0 * random.next();
        let (sin, cos) = libm::sincosf(std::f32::consts::TAU * random.next());
        let aside = (1.0 - y * y).max(0.0).sqrt();
        let direction = Vec3::new(aside * cos, y, aside * sin);
        let ray = Ray { origin: at, direction, ..walk.ray };
        Some(Next::On(Walk { ray, sees_lamps: false, splits: 0, ..walk }))
    }

    /// Ends paths that are worth little, and makes up for it with the others.
    fn survives(&self, walk: &mut Walk, random: &mut Random) -> bool {
        let chance = walk.worth.max_element().clamp(0.05, 1.0);
        walk.worth /= chance;
        random.next() < chance
    }
}

/// Tells the filter what a path shows, once.
fn tell(walk: &mut Walk, seen: &mut Seen, albedo: Vec3, normal: Vec3) {
    if walk.tells {
        seen.albedo = albedo * walk.worth;
        seen.normal = normal;
        walk.tells = false;
    }
}

/// What a liquid leaves of light after a way \[m\] (Beer–Lambert).
fn passed(liquid: &Liquid, way: f32) -> Vec3 {
    liquid.absorption.map(|a| libm::expf(-a * way.min(1e9)))
}

fn reflect(direction: Vec3, normal: Vec3) -> Vec3 {
    (direction - 2.0 * direction.dot(normal) * normal).normalize_or(normal)
}

/// A direction behind a border with this ratio of refractive indices, before over behind; `None`: all is mirrored.
pub(super) fn bend(direction: Vec3, normal: Vec3, ratio: f32) -> Option<Vec3> {
    let cos = -direction.dot(normal);
    let square = 1.0 - ratio * ratio * (1.0 - cos * cos);
    if square < 0.0 {
        return None;
    }
    (direction * ratio + normal * (ratio * cos - square.sqrt())).try_normalize()
}

/// F for an angle of incidence with this cosine.
pub(super) fn fresnel(cos: f32, ratio: f32) -> f32 {
    let cos = cos.clamp(0.0, 1.0);
    let square = 1.0 - ratio * ratio * (1.0 - cos * cos);
    if square <= 0.0 {
        return 1.0;
    }
    let behind = square.sqrt();
    let across = (ratio * cos - behind) / (ratio * cos + behind);
    let along = (cos - ratio * behind) / (cos + ratio * behind);
    0.5 * (across * across + along * along)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn borders_mirror_and_bend_as_fresnel_and_snell_say() {
        // Straight on: ((n − 1)/(n + 1))² = 0.0204 for water.
        assert!((fresnel(1.0, 1.0 / 1.333) - 0.020_37).abs() < 1e-4);
        // Beyond the critical angle, asin(1/1.333) = 48.6°, all is mirrored from within.
        assert!(fresnel(libm::cosf(0.87), 1.333) == 1.0 && fresnel(libm::cosf(0.82), 1.333) < 1.0);
        assert!(fresnel(1e-4, 1.0 / 1.333) > 0.99);
        // At 30° into water: sin 22.03° = sin 30° / 1.333.
        let down = Vec3::new(0.5, -(0.75f32).sqrt(), 0.0);
        let bent = bend(down, Vec3::Y, 1.0 / 1.333).unwrap();
        assert!((bent.x - 0.5 / 1.333).abs() < 1e-6 && (bent.length() - 1.0).abs() < 1e-6);
        assert!(bend(Vec3::new(0.9, 0.19f32.sqrt(), 0.0), -Vec3::Y, 1.333).is_none());
    }
}
