//! Pictures for the eye: paths of light through liquids, glass and past bodies, with motion blur and caustics.
//!
//! # How a picture is made
//!
//! 1. *collect*: surfaces, drops, panes and a floor, each of its [material](matter).
//! 2. *grow trees* over them, with room for what moves while the shutter is open.
//! 3. *send photons* from the sun through liquids to the floor.
//! 4. *follow paths*: some dozens per pixel, from the eye to the lights.
//! 5. *denoise*, guided by what pixels show; then *tone* and *label*.
//!
//! Random numbers depend on pixel and sample alone, sums run in one order: the same bits at any number of threads.

mod caustics;
mod denoise;
mod matter;
mod path;
mod random;
mod set;
mod sky;
#[cfg(test)]
mod tests;
mod tree;

use glam::Vec3;
use meniscus_core::{Camera, Frame, Look, Style};
use rayon::prelude::*;

use crate::camera::View;
use crate::color::{Encoder, Light, dither_threshold, tone};
use crate::legend::write_clock;
use crate::renderer::check_size;
use crate::studio::Studio;
use crate::{Bounds, Image, PictureError};
use caustics::Caustics;
use denoise::{Pixel, brightness, denoise};
use path::Paths;
use random::Random;
use set::{Set, Wardrobe};
use sky::Sky;
use tree::Ray;

/// Rows of pixels between two words about the progress.
const BAND: usize = 16;
/// Paths after which a pixel is asked whether it is clean,
const MIN_SAMPLES: u32 = 8;
/// which it is when its standard error is this part of its light.
const CLEAN: f32 = 0.012;
/// Paths per pixel at most.
const MAX_SAMPLES: u32 = 4096;

/// Takes `final` pictures, one after the other.
#[derive(Debug, Default)]
pub struct Tracer {
    style: Style,
    wardrobe: Wardrobe,
    /// The box of the scene: sizes must not change from picture to picture.
    bounds: Option<Bounds>,
    image: Image,
}

impl Tracer {
    /// A tracer for pictures of a style, of bodies that look as is said beside their names. What a pattern shows moves with the
    /// bodies that the first frame has; sizes are taken from it.
    #[must_use]
    pub fn new(style: Style, looks: Vec<(String, Look)>, first: &Frame) -> Self {
        let bounds = Some(Bounds::of(first)).filter(|b| !b.is_empty() && b.radius() > 0.0);
        Self { style, wardrobe: Wardrobe { looks, rest: first.surfaces.clone() }, bounds, image: Image::default() }
    }

    /// The style of its pictures.
    #[must_use]
    pub fn style(&self) -> &Style {
        &self.style
    }

    /// Takes a picture of a frame: of liquids by their surfaces, particles of liquids beside them as drops. `progress` hears about
    /// rows of pixels, done and of how many.
    ///
    /// # Errors
    /// When the picture has no pixels or too many, or the camera looks nowhere.
    pub fn render(
        &mut self,
        frame: &Frame,
        camera: &Camera,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<&Image, PictureError> {
        let style = &self.style;
        check_size(style, 1)?;
        let view = View::new(camera, &Bounds::of(frame), style.width, style.height)?;
        let whole = Bounds { min: Vec3::splat(-0.5), max: Vec3::splat(0.5) };
        let bounds = self.bounds.or(Some(Bounds::of(frame)).filter(|b| b.radius() > 0.0)).unwrap_or(whole);
        let shutter = style.shutter.filter(|s| s.is_finite()).unwrap_or(0.0).max(0.0);
        let set = Set::new(&crate::cut::cut_open(frame, style), &self.wardrobe, style, &bounds, shutter);
        let studio = Studio::new(style, &view);
        let sky = Sky::new(studio.to_light_world, view.forward, style.theme);
        let caustics = Caustics::new(&set, &sky);
        let paths = Paths { set: &set, sky: &sky, caustics: caustics.as_ref() };
        let mut pixels = follow(&paths, &view, style.samples.clamp(1, MAX_SAMPLES), shutter, progress);
        let light = denoise(&mut pixels, view.width);
        develop(&mut self.image, &light, &view);
        if style.clock {
            write_clock(&mut self.image, frame.time, style, &studio);
        }
        self.image.set_time(Some(frame.time));
        Ok(&self.image)
    }
}

/// Follows the paths of all pixels, band by band.
fn follow(paths: &Paths, view: &View, samples: u32, shutter: f32, tell: &mut dyn FnMut(usize, usize)) -> Vec<Pixel> {
    let mut pixels = vec![Pixel::default(); view.width * view.height];
    for (band, rows) in pixels.chunks_mut(view.width * BAND).enumerate() {
        rows.par_iter_mut().with_min_len(32).enumerate().for_each(|(k, pixel)| {
            *pixel = expose(paths, view, band * BAND * view.width + k, samples, shutter);
        });
        tell(((band + 1) * BAND).min(view.height), view.height);
    }
    pixels
}

/// The light that one pixel gets.
fn expose(paths: &Paths, view: &View, pixel: usize, samples: u32, shutter: f32) -> Pixel {
    let (x, y) = ((pixel % view.width) as f32, (pixel / view.width) as f32);
    let mut sum = Pixel::default();
    let (mut squares, mut taken) = (0.0, 0);
    for sample in 0..samples {
        let mut random = Random::new(pixel as u64, sample);
        let [s, t] = random.pair();
        let time = (random.next() - 0.5) * shutter;
        let direction = view.turn_back(view.slopes(x + s, y + t).extend(1.0)).normalize();
        let seen = paths.look(Ray { origin: view.eye, direction, time }, &mut random);
        sum.light += seen.light;
        sum.albedo += seen.albedo;
        sum.normal += seen.normal;
        squares += brightness(seen.light) * brightness(seen.light);
        taken = sample + 1;
        if taken >= MIN_SAMPLES && taken.is_multiple_of(4) {
            let error = variance(brightness(sum.light), squares, taken as f32).sqrt();
            if error < CLEAN * (brightness(sum.light) / taken as f32 + 0.1) {
                break;
            }
        }
    }
    let n = taken as f32;
    let variance = variance(brightness(sum.light), squares, n);
    Pixel { light: sum.light / n, variance, albedo: sum.albedo / n, normal: sum.normal / n }
}

/// Square of the standard error of the mean of `n` numbers, from their sum and that of their squares.
fn variance(sum: f32, squares: f32, n: f32) -> f32 {
    let mean = sum / n;
    (squares / n - mean * mean).max(0.0) / n
}

/// Light to bytes.
fn develop(image: &mut Image, light: &[Vec3], view: &View) {
    image.reshape(view.width as u32, view.height as u32);
    let encoder = Encoder::new();
    for (k, (pixel, light)) in image.pixels_mut().iter_mut().zip(light).enumerate() {
        let threshold = dither_threshold(k % view.width, k / view.width);
        *pixel = encoder.dithered(tone(Light::from(*light)), threshold);
    }
}
