//! Light through and onto things for which it can be worked out by hand.

use super::caustics::Caustics;
use super::path::{Paths, fresnel};
use super::random::Random;
use super::set::{FLOOR, Set, Wardrobe};
use super::sky::Sky;
use super::tree::Ray;
use crate::Bounds;
use glam::Vec3;
use meniscus_core::{BodyInfo, BodyKind, Frame, Look, Style, Surface, Theme};

/// A box of a liquid.
fn slab(low: Vec3, high: Vec3) -> Frame {
    let positions: Vec<Vec3> =
        (0..8).map(|k| Vec3::select(glam::BVec3::new(k & 1 == 1, k & 2 == 2, k & 4 == 4), high, low)).collect();
    let quads = [[0u32, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
    let triangles = quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
    let velocities = vec![Vec3::ZERO; 8];
    Frame {
        bodies: vec![BodyInfo { name: "water".into(), kind: BodyKind::Liquid, color: [0.1, 0.4, 0.8] }],
        surfaces: vec![Surface { body: 0, positions, velocities, triangles, ..Surface::default() }],
        ..Frame::default()
    }
}

fn collected(frame: &Frame, clarity: f32, ground: Option<f32>) -> Set {
    let looks = vec![("water".into(), Look { material: None, clarity: Some(clarity) })];
    let style = Style { ground: ground.is_some(), ground_height: ground, ..Style::default() };
    let wardrobe = Wardrobe { looks, rest: Vec::new() };
    Set::new(frame, &wardrobe, &style, &Bounds { min: Vec3::splat(-1.0), max: Vec3::ONE }, 0.0)
}

fn sky() -> Sky {
    Sky::new(Vec3::new(0.4, 0.8, 0.3).normalize(), Vec3::NEG_Z, Theme::Light)
}

fn mean(paths: &Paths, ray: Ray, count: u32) -> Vec3 {
    (0..count).map(|k| paths.look(ray, &mut Random::new(11, k)).light).sum::<Vec3>() / count as f32
}

#[test]
fn a_slab_of_water_mirrors_and_takes_what_fresnel_and_beer_say() {
    let (thickness, clarity) = (0.5, 0.3);
    let frame = slab(Vec3::new(-1.0, -1.0, -0.25), Vec3::new(1.0, 1.0, 0.25));
    let set = collected(&frame, clarity, None);
    let sky = sky();
    let paths = Paths { set: &set, sky: &sky, caustics: None };
    // Level, so that before and behind is the same horizon.
    let ray = Ray { origin: Vec3::new(0.31, 0.17, 3.0), direction: Vec3::NEG_Z, time: 0.0 };
    let light = mean(&paths, ray, 4000) / sky.horizon;
    let f = fresnel(1.0, 1.0 / 1.333);
    let size = 2.0 * 3.0f32.sqrt();
    let lost = Vec3::new(1.0, 0.4f32.ln() / 0.1f32.ln(), 0.8f32.ln() / 0.1f32.ln()) / (clarity * size);
    let a = (-lost * thickness).exp();
    // Once mirrored in front, and all that goes to and fro inside.
    let between = (1.0 - f) * (1.0 - f) * a / (Vec3::ONE - f * f * a * a);
    let expected = Vec3::splat(f) + between * (Vec3::ONE + f * a);
    assert!((light - expected).length() < 0.01, "{light} is not {expected}");
    assert!(expected.x < 0.7 && expected.z > 0.9, "the slab has a colour: {expected}");
}

#[test]
fn the_open_floor_gets_all_light_of_the_sky() {
    let set = collected(&Frame::default(), 0.4, Some(0.0));
    let sky = sky();
    let paths = Paths { set: &set, sky: &sky, caustics: None };
    let ray = Ray { origin: Vec3::new(0.05, 2.0, 0.05), direction: Vec3::NEG_Y, time: 0.0 };
    let light = mean(&paths, ray, 4000);
    // ∫ L cos dΩ over the dome, by rings and sectors; lamps by themselves.
    let (rings, sectors) = (200, 200);
    let mut sum = Vec3::ZERO;
    for ring in 0..rings {
        let sin = ((ring as f32 + 0.5) / rings as f32).sqrt();
        for sector in 0..sectors {
            let (s, c) = libm::sincosf(std::f32::consts::TAU * sector as f32 / sectors as f32);
            sum += sky.dome(Vec3::new(sin * c, (1.0 - sin * sin).sqrt(), sin * s));
        }
    }
    let dome = sum * std::f32::consts::PI / (rings * sectors) as f32;
    let lamps: Vec3 = (0..4000)
        .flat_map(|k| sky.lamps(&mut Random::new(5, k)))
        .map(|lamp| lamp.light * lamp.to.y.max(0.0) / 4000.0)
        .sum();
    let expected = FLOOR / std::f32::consts::PI * (dome + lamps);
    assert!((light / expected - Vec3::ONE).length() < 0.03, "{light} is not {expected}");
}

#[test]
fn still_water_lets_as_many_photons_through_as_fresnel_says() {
    // The water reaches below the floor: no film of air.
    let frame = slab(Vec3::new(-1.0, -0.1, -1.0), Vec3::new(1.0, 0.3, 1.0));
    let set = collected(&frame, 1e4, Some(0.0));
    let sky = sky();
    let map = Caustics::new(&set, &sky).unwrap();
    // Enough points that a few dozen photons each are known to a percent together.
    let point = |k: usize| Vec3::new(0.04 * (k % 20) as f32 - 0.4, 0.0, 0.04 * (k / 20) as f32 - 0.4);
    let light = (0..400).map(|k| map.light(point(k))).sum::<Vec3>() / 400.0;
    let expected = sky.sunlight * sky.sun.y * (1.0 - fresnel(sky.sun.y, 1.0 / 1.333));
    assert!((light / expected - Vec3::ONE).length() < 0.03, "{light} is not {expected}");
}
