//! A filter that takes away the grain of few samples and keeps edges \[DSHL10\].
//!
//! Four passes with holes that double look at neighbours 1, 2, 4, 8 pixels away. A neighbour counts as far as it shows the
//! same: normal and colour of the first dull surface, and light that differs by no more than the grain.

use glam::Vec3;
use rayon::prelude::*;

/// Passes.
const PASSES: u32 = 4;
/// The kernel of a pass along one axis, from its middle.
const KERNEL: [f32; 3] = [0.375, 0.25, 0.0625];
/// How much light may differ, in standard errors.
const GRAIN: f32 = 3.0;
/// Normals and colours that differ by this count e times less.
const TURN: f32 = 0.25;
const HUE: f32 = 0.08;
/// Colours below this are not divided by.
const DARKEST: f32 = 0.04;

/// What samples have found out about a pixel.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Pixel {
    /// Mean light.
    pub(crate) light: Vec3,
    /// Square of the standard error of its brightness.
    pub(crate) variance: f32,
    /// Means of what guides the filter.
    pub(crate) albedo: Vec3,
    pub(crate) normal: Vec3,
}

/// Brightness of light.
pub(crate) fn brightness(light: Vec3) -> f32 {
    light.dot(Vec3::new(0.25, 0.6, 0.15))
}

/// The light of all pixels of a picture, rows of `width`, without grain.
pub(crate) fn denoise(pixels: &mut Vec<Pixel>, width: usize) -> Vec<Vec3> {
    // Patterns are not smeared: light is filtered without the colour of what it falls on.
    let base: Vec<Vec3> = pixels.iter().map(|p| p.albedo.max(Vec3::splat(DARKEST))).collect();
    for (pixel, base) in pixels.iter_mut().zip(&base) {
        pixel.light /= base;
        pixel.variance /= brightness(*base) * brightness(*base);
    }
    spread_variance(pixels, width);
    for pass in 0..PASSES {
        let old = &*pixels;
        let new = (0..old.len()).into_par_iter().map(|k| filtered(old, width, k, 1 << pass));
        *pixels = new.collect();
    }
    pixels.iter().zip(&base).map(|(p, base)| p.light * base).collect()
}

/// Variances of few samples are themselves uncertain: each becomes the mean of nine.
fn spread_variance(pixels: &mut [Pixel], width: usize) {
    let height = pixels.len() / width;
    let mean: Vec<f32> = (0..pixels.len())
        .into_par_iter()
        .map(|k| {
            let (x, y) = (k % width, k / width);
            let (mut sum, mut count) = (0.0, 0.0);
            for j in y.saturating_sub(1)..(y + 2).min(height) {
                for i in x.saturating_sub(1)..(x + 2).min(width) {
                    sum += pixels[j * width + i].variance;
                    count += 1.0;
                }
            }
            sum / count
        })
        .collect();
    pixels.iter_mut().zip(mean).for_each(|(pixel, mean)| pixel.variance = mean);
}

fn filtered(old: &[Pixel], width: usize, k: usize, stride: isize) -> Pixel {
    let (x, y) = ((k % width) as isize, (k / width) as isize);
    let height = (old.len() / width) as isize;
    let middle = &old[k];
    let grain = 1.0 / (GRAIN * middle.variance.max(0.0).sqrt() + 1e-4);
    let (mut light, mut variance, mut sum) = (Vec3::ZERO, 0.0, 0.0);
    for dy in -2..=2isize {
        let j = y + dy * stride;
        if j < 0 || j >= height {
            continue;
        }
        for dx in -2..=2isize {
            let i = x + dx * stride;
            if i < 0 || i >= width as isize {
                continue;
            }
            let other = &old[(j * width as isize + i) as usize];
            let weight = KERNEL[dx.unsigned_abs()] * KERNEL[dy.unsigned_abs()] * likeness(middle, other, grain);
            light += other.light * weight;
            variance += other.variance * weight * weight;
            sum += weight;
        }
    }
    // The middle always counts in full.
    Pixel { light: light / sum, variance: variance / (sum * sum), ..*middle }
}

/// How far two pixels show the same, 0 to 1.
fn likeness(a: &Pixel, b: &Pixel, grain: f32) -> f32 {
    let turn = (a.normal - b.normal).length() / TURN;
    let hue = (a.albedo - b.albedo).length() / HUE;
    let light = brightness(a.light - b.light).abs() * grain;
    libm::expf(-(turn * turn + hue * hue + light))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::random::Random;

    #[test]
    fn grain_goes_and_edges_stay() {
        let (width, height) = (64, 48);
        let mut pixels: Vec<Pixel> = (0..width * height)
            .map(|k| {
                let grain = 0.2 * (Random::new(k as u64, 0).next() - 0.5);
                let right = k % width >= width / 2;
                let albedo = Vec3::splat(if right { 0.8 } else { 0.2 });
                // Evenly spread over a width of 0.2: variance 0.2²/12.
                Pixel {
                    light: albedo * (1.0 + grain),
                    variance: albedo.x * albedo.x * 0.04 / 12.0,
                    albedo,
                    normal: Vec3::Y,
                }
            })
            .collect();
        let light = denoise(&mut pixels, width);
        let error = |k: usize| light[k].x / if k % width >= width / 2 { 0.8 } else { 0.2 } - 1.0;
        let rms = ((0..width * height).map(|k| error(k) * error(k)).sum::<f32>() / (width * height) as f32).sqrt();
        // A quarter of what it was, 0.2/√12.
        assert!(rms < 0.25 * 0.2 / 12f32.sqrt(), "{rms}");
        for column in [width / 2 - 1, width / 2] {
            let beside = (0..height).map(|row| error(row * width + column)).sum::<f32>() / height as f32;
            assert!(beside.abs() < 0.01, "column {column}: {beside}");
        }
    }
}
