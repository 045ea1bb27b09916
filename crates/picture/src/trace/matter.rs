//! What bodies are made of: one table for all.

use glam::Vec3;
use meniscus_core::{BodyInfo, BodyKind, Look, Material};

use crate::color::{Light, linear};

/// A liquid as rays know it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Liquid {
    /// Refractive index, dimensionless.
    pub(crate) index: f32,
    /// Absorption, per colour \[1/m\].
    pub(crate) absorption: Vec3,
    /// Scattering, all colours alike \[1/m\].
    pub(crate) scattering: f32,
    pub(crate) color: Vec3,
}

/// A pattern on an opaque surface.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Texture {
    Plain,
    /// Lines this far apart \[m\].
    Tile(f32),
    /// Rings this far apart \[m\].
    Wood(f32),
    /// Grains of this size \[m\].
    Stone(f32),
}

/// How a surface answers a ray.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Matter {
    /// Dull below a clear coat; `gloss` is the part of Fresnel's reflection that the coat sends back.
    Opaque { albedo: Vec3, gloss: f32, texture: Texture },
    /// The border of a liquid, by its number in the set.
    Liquid(u16),
    /// A thin sheet: what is not mirrored passes straight, tinted.
    Glass { tint: Vec3 },
    /// A sheet of which a part is dull and the rest passes.
    Veil { albedo: Vec3, passes: f32 },
}

/// Half the width of a joint over the size of a tile, dimensionless.
const JOINT: f32 = 0.02;

/// A row of the table of liquids.
struct LiquidRow {
    index: f32,
    /// Over the size of the scene, dimensionless.
    clarity: f32,
    /// Scattering times the clarity, dimensionless.
    scattering: f32,
}

fn liquid_row(material: Material) -> LiquidRow {
    match material {
        Material::Blood => LiquidRow { index: 1.35, clarity: 0.035, scattering: 1.5 },
        Material::Honey => LiquidRow { index: 1.49, clarity: 0.05, scattering: 0.08 },
        _ => LiquidRow { index: 1.333, clarity: 0.3, scattering: 0.0 },
    }
}

/// Absorption of colours in proportion to how much of each the colour of a body lacks; the most absorbed has 1/clarity \[1/m\].
fn absorption(color: [f32; 3], clarity: f32) -> Vec3 {
    let lost = Vec3::from(color.map(|c| -libm::logf(if c.is_nan() { 0.5 } else { c.clamp(0.03, 0.98) })));
    lost / (lost.max_element() * clarity)
}

impl Liquid {
    /// The liquid of a body in a scene of `size` \[m\].
    pub(crate) fn new(body: &BodyInfo, look: Look, size: f32) -> Self {
        let row = liquid_row(look.material.unwrap_or(Material::Water));
        let given = look.clarity.filter(|c| c.is_finite() && *c > 0.0);
        let clarity = given.unwrap_or(row.clarity).max(1e-4) * size;
        Self {
            index: row.index,
            absorption: absorption(body.color, clarity),
            scattering: row.scattering / clarity,
            color: light(linear(body.color)),
        }
    }
}

fn light(light: Light) -> Vec3 {
    Vec3::from(light)
}

/// What the surface of a solid body or a wall is made of, in a scene of `size` \[m\].
pub(crate) fn of_solid(body: Option<&BodyInfo>, look: Look, size: f32) -> Matter {
    let color = body.map_or(Vec3::splat(0.35), |b| light(linear(b.color)));
    // The brightest paint sends back nine tenths.
    let albedo = color * 0.9;
    let wall = body.is_some_and(|b| b.kind == BodyKind::Wall);
    let material = look.material.unwrap_or(if wall { Material::Stone } else { Material::Rubber });
    let opaque = |gloss, texture| Matter::Opaque { albedo, gloss, texture };
    match material {
        Material::Water | Material::Blood | Material::Honey | Material::Rubber => opaque(1.0, Texture::Plain),
        Material::Tissue => opaque(0.7, Texture::Plain),
        Material::Glass => Matter::Glass { tint: Vec3::ONE.lerp(color, 0.15) },
        Material::Tile => opaque(0.8, Texture::Tile(0.05 * size)),
        Material::Wood => opaque(0.4, Texture::Wood(0.012 * size)),
        Material::Stone => opaque(0.05, Texture::Stone(0.004 * size)),
    }
}

impl Texture {
    /// By how much a surface is darker at a point that moves with it \[m\], dimensionless; `normal` is that of the surface.
    pub(crate) fn shade(self, at: Vec3, normal: Vec3) -> f32 {
        match self {
            Self::Plain => 1.0,
            Self::Tile(step) => {
                let aside = (at / step - (at / step).round()).abs();
                // Joints that lie in the surface are none.
                let near = Vec3::select(normal.abs().cmpgt(Vec3::splat(0.8)), Vec3::ONE, aside).min_element();
                if near < JOINT { 0.55 } else { 1.0 }
            }
            Self::Wood(step) => {
                let warped = at + Vec3::splat(noise(at / (6.0 * step)) * 2.0 * step);
                let rings = libm::hypotf(warped.x, warped.y * 0.8) / step;
                let part = rings - rings.floor();
                0.62 + 0.38 * part * (2.0 - part) + 0.08 * noise(at * Vec3::new(8.0, 8.0, 0.6) / step)
            }
            Self::Stone(step) => {
                0.85 + 0.3 * noise(at / step) * noise(at / (5.0 * step)) + 0.1 * noise(at / (0.4 * step))
            }
        }
    }
}

/// Smooth noise in −0.5..0.5 with a grain of one.
fn noise(at: Vec3) -> f32 {
    let cell = at.floor();
    let part = at - cell;
    let part = part * part * (Vec3::splat(3.0) - 2.0 * part);
    let mut sum = 0.0;
    for corner in 0..8u32 {
        let pick = Vec3::new((corner & 1) as f32, (corner >> 1 & 1) as f32, (corner >> 2) as f32);
        let weight = (pick * part + (Vec3::ONE - pick) * (Vec3::ONE - part)).to_array().iter().product::<f32>();
        let key = (cell + pick).to_array().map(|c| c as i32 as u32);
        let mut hash =
            key[0].wrapping_mul(0x8da6_b343) ^ key[1].wrapping_mul(0xd816_3841) ^ key[2].wrapping_mul(0xcb1a_b31f);
        hash = (hash ^ hash >> 15).wrapping_mul(0x2c1b_3c6d);
        hash ^= hash >> 13;
        sum += weight * ((hash & 0xffff) as f32 / 65536.0 - 0.5);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_liquid_keeps_one_part_in_e_of_what_it_takes_most_of() {
        let body = BodyInfo { name: "water".into(), kind: BodyKind::Liquid, color: [0.1, 0.4, 0.8] };
        let look = Look { material: None, clarity: Some(0.25) };
        let water = Liquid::new(&body, look, 8.0);
        assert!((water.absorption.x - 0.5).abs() < 1e-6, "{}", water.absorption);
        // ln 0.4 / ln 0.1 and ln 0.8 / ln 0.1
        assert!((water.absorption / 0.5 - Vec3::new(1.0, 0.397_94, 0.096_91)).length() < 1e-4);
        let honey = BodyInfo { color: [0.9, 0.6, 0.1], ..body };
        let honey = Liquid::new(&honey, Look { material: Some(Material::Honey), clarity: None }, 1.0);
        assert!(honey.absorption.z > 15.0 * honey.absorption.x && honey.scattering > 0.0);
    }
}
