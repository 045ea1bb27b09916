//! Light: linear values inside, sRGB bytes outside.
//!
//! Everything is shaded in linear light. The way out is a gentle shoulder, the sRGB curve and an ordered dither that
//! hides the steps of eight bits in soft gradients.

use std::sync::LazyLock;

use glam::Vec3A;

/// Linear red, green and blue; white paper in full light is about one.
pub(crate) type Light = Vec3A;

/// Linear light of an sRGB value in 0..1, dimensionless.
pub(crate) fn linear_of_srgb(value: f32) -> f32 {
    if value <= 0.040_45 { value / 12.92 } else { libm::powf((value + 0.055) / 1.055, 2.4) }
}

/// sRGB value in 0..1 of linear light in 0..1, dimensionless.
pub(crate) fn srgb_of_linear(light: f32) -> f32 {
    if light <= 0.003_130_8 { light * 12.92 } else { 1.055 * libm::powf(light, 1.0 / 2.4) - 0.055 }
}

/// Linear light of an sRGB colour; values outside 0..1 are clamped, NaN becomes black.
pub(crate) fn linear(srgb: [f32; 3]) -> Light {
    Light::from(srgb.map(|v| linear_of_srgb(if v.is_nan() { 0.0 } else { v.clamp(0.0, 1.0) })))
}

/// Linear light of an sRGB colour given in bytes.
pub(crate) fn linear_of_bytes([r, g, b]: [u8; 3]) -> Light {
    Light::new(DECODE[r as usize], DECODE[g as usize], DECODE[b as usize])
}

static DECODE: LazyLock<[f32; 256]> = LazyLock::new(|| std::array::from_fn(|i| linear_of_srgb(i as f32 / 255.0)));

const STEPS: usize = 4096;

/// sRGB × 255 over light. Where the curve is steepest an entry is less than a byte from the next.
static ENCODE: LazyLock<Vec<f32>> =
    LazyLock::new(|| (0..=STEPS).map(|i| 255.0 * srgb_of_linear(i as f32 / STEPS as f32)).collect());

/// Turns linear light into bytes. Holds the table, so that hot loops do not look for it.
#[derive(Clone, Copy)]
pub(crate) struct Encoder(&'static [f32]);

impl Encoder {
    /// The sRGB encoder.
    pub(crate) fn new() -> Self {
        Self(&ENCODE)
    }

    /// Nearest bytes of a linear colour.
    pub(crate) fn bytes(self, light: Light) -> [u8; 3] {
        self.dithered(light, 0.5)
    }

    /// Bytes of a linear colour, rounded up where the fraction exceeds `1 - threshold`.
    #[inline]
    pub(crate) fn dithered(self, light: Light, threshold: f32) -> [u8; 3] {
        // Negative values and NaN cast to zero.
        let indices = light * STEPS as f32 + 0.5;
        indices.to_array().map(|index| (self.0[(index as usize).min(STEPS)] + threshold) as u8)
    }
}

/// Threshold in 0..1 of the 8 × 8 ordered dither at a pixel.
#[inline]
pub(crate) fn dither_threshold(x: usize, y: usize) -> f32 {
    BAYER[y & 7][x & 7]
}

static BAYER: [[f32; 8]; 8] = bayer();

const fn bayer() -> [[f32; 8]; 8] {
    let mut table = [[0.0; 8]; 8];
    let mut i = 0;
    while i < 64 {
        let (x, y) = (i % 8, i / 8);
        // Interleave the bits of x ^ y and y, lowest bit first.
        let (a, b) = (x ^ y, y);
        let rank = ((a & 1) << 5) | ((b & 1) << 4) | ((a & 2) << 2) | ((b & 2) << 1) | ((a & 4) >> 1) | ((b & 4) >> 2);
        table[y][x] = (rank as f32 + 0.5) / 64.0;
        i += 1;
    }
    table
}

/// Compresses light above `KNEE` so that it reaches one only at infinity; below it nothing changes. Half of it keeps the
/// hue, half goes towards white as film does.
#[inline]
pub(crate) fn tone(light: Light) -> Light {
    const KNEE: f32 = 0.72;
    const ROOM: f32 = 1.0 - KNEE;
    let brightest = light.max_element();
    if brightest <= KNEE {
        return light;
    }
    let over = (light - KNEE).max(Light::ZERO);
    let faded = light.min(Light::splat(KNEE)) + over * ROOM / (over + ROOM);
    let pure = light * (faded.max_element() / brightest);
    (faded + pure) * 0.5
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_survives_decoding_and_encoding() {
        let encoder = Encoder::new();
        for v in 0..=255 {
            assert_eq!(encoder.bytes(linear_of_bytes([v, v, v])), [v, v, v]);
        }
    }

    #[test]
    fn odd_colours_are_tamed() {
        assert_eq!(Encoder::new().bytes(linear([f32::NAN, -1.0, 7.0])), [0, 0, 255]);
        assert_eq!(Encoder::new().bytes(Light::splat(f32::NAN)), [0, 0, 0]);
    }

    #[test]
    fn dither_holds_every_threshold_once() {
        let mut ranks: Vec<u32> = (0..64).map(|i| (dither_threshold(i % 8, i / 8) * 64.0) as u32).collect();
        ranks.sort_unstable();
        assert!(ranks.iter().enumerate().all(|(i, &r)| i as u32 == r));
    }

    #[test]
    fn tone_keeps_mid_tones_and_order() {
        assert_eq!(tone(Light::splat(0.5)), Light::splat(0.5));
        assert!(tone(Light::splat(1.0)).x < tone(Light::splat(2.0)).x && tone(Light::splat(100.0)).x <= 1.0);
    }
}
