//! Pictures of a run, and the film made of them.

use crate::run::RunError;
use crate::surfaces::dressed;
use meniscus_core::{Camera, Coloring, Frame};
use meniscus_picture::{GifWriter, Image, Renderer, film_strip, settled_camera, settled_style};
use meniscus_record::{RecordError, RunFolder, Skipped, write_atomic};
use meniscus_scene::{Loaded, Scene};
use meniscus_surface::Extractor;
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// Width of the film \[px\].
const FILM_WIDTH: u32 = 640;
/// Pictures per second that a film shows at most \[1/s\].
const FILM_RATE: f64 = 25.0;

/// Takes one picture per frame from the same place in the same light.
pub struct Film {
    renderer: Renderer,
    camera: Camera,
    extractor: Extractor,
}

impl Film {
    /// Camera and colours settle on the first frame and on the speeds to be expected: a film must not flicker.
    #[must_use]
    pub fn new(loaded: &Loaded, first: &Frame) -> Self {
        let scene = &loaded.scene;
        let mut style = settled_style(&scene.picture, [first]);
        if scene.picture.range.is_none() && matches!(style.color, Coloring::Speed | Coloring::Water) {
            style.range = Some([0.0, round_up(meniscus_sim::speed_scale(loaded)) as f32]);
        }
        let camera = settled_camera(&scene.camera, [first]);
        Self { renderer: Renderer::new(style), camera, extractor: Extractor::new(scene.surface) }
    }

    /// Takes a picture: of liquids by their surfaces, unless the colours tell what only particles have.
    ///
    /// # Errors
    /// When the picture would be larger than pictures can be.
    pub fn picture(&mut self, frame: &Frame) -> Result<&Image, RunError> {
        let surfaces = self.renderer.style().shows_surfaces() && !frame.particles.is_empty();
        let shown = if surfaces { Cow::Owned(dressed(frame, &mut self.extractor)) } else { Cow::Borrowed(frame) };
        Ok(self.renderer.render(&shown, &self.camera)?)
    }

    pub(crate) fn shoot(&mut self, frame: &Frame, folder: &RunFolder) -> Result<PathBuf, RunError> {
        let png = self.picture(frame)?.to_png()?;
        let path = folder.picture_path(frame.number);
        write_atomic(&path, &png)?;
        Ok(path)
    }
}

/// The next of 1, 2, 5, 10, … times a power of ten.
fn round_up(value: f64) -> f64 {
    let power = 10f64.powf(value.max(1e-9).log10().floor());
    [1.0, 1.5, 2.0, 3.0, 5.0, 10.0].into_iter().map(|m| m * power).find(|&v| v >= value * 0.999).unwrap_or(value)
}

/// Makes an animated GIF of all pictures of a run and returns its path.
pub(crate) fn write_gif(folder: &RunFolder, name: &str, scene: &Scene) -> Result<PathBuf, RunError> {
    let numbers = folder.picture_numbers()?;
    let rate = scene.fps / f64::from(scene.output.picture_every.max(1));
    let stride = (rate / FILM_RATE).ceil().max(1.0) as usize;
    let mut film = GifWriter::new(Vec::new(), FILM_WIDTH, rate / stride as f64);
    for &number in numbers.iter().step_by(stride) {
        film.push(&read_picture(&folder.picture_path(number))?)?;
    }
    let path = folder.film_path(name)?;
    write_atomic(&path, &film.finish()?)?;
    Ok(path)
}

fn read_picture(path: &Path) -> Result<Image, RunError> {
    let bytes =
        std::fs::read(path).map_err(|source| RecordError::Io { action: "read", path: path.to_owned(), source })?;
    Ok(Image::from_png(&bytes)?)
}

/// What was made of a record.
#[derive(Debug)]
pub struct Rendered {
    /// The film or the strip.
    pub path: PathBuf,
    /// Frames that could not be read and are not in it.
    pub skipped: Vec<Skipped>,
}

/// Takes all pictures of a run again, with settings such as `picture.color=water` on top of its scene, and makes the film.
///
/// # Errors
/// When the record cannot be read or written, or a setting does not suit the scene.
pub fn render(
    folder: &RunFolder,
    overrides: &[String],
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Rendered, RunError> {
    let loaded = Loaded::from_file(&folder.scene_path(), overrides)?;
    let (mut film, numbers, mut skipped) = open_film(folder, &loaded)?;
    for (done, &number) in numbers.iter().enumerate() {
        if number.is_multiple_of(loaded.scene.output.picture_every.max(1)) {
            match folder.read_frame(number) {
                Ok(frame) => drop(film.shoot(&frame, folder)?),
                Err(reason) => skipped.push(Skipped { path: folder.frame_path(number), reason }),
            }
        }
        progress(done + 1, numbers.len());
    }
    let path = write_gif(folder, &folder.info()?.scene, &loaded.scene)?;
    Ok(Rendered { path, skipped })
}

/// The film of a run from its first sound frame on, the frames from there, and those before that cannot be read.
fn open_film(folder: &RunFolder, loaded: &Loaded) -> Result<(Film, Vec<u32>, Vec<Skipped>), RunError> {
    let mut numbers = folder.frame_numbers()?;
    let mut skipped = Vec::new();
    while let Some(&first) = numbers.first() {
        match folder.read_frame(first) {
            Ok(frame) => return Ok((Film::new(loaded, &frame), numbers, skipped)),
            Err(reason) => skipped.push(Skipped { path: folder.frame_path(first), reason }),
        }
        numbers.remove(0);
    }
    match skipped.into_iter().next() {
        Some(Skipped { reason, .. }) => Err(reason.into()),
        None => Err(RunError::NoFrames { dir: folder.dir().to_owned() }),
    }
}

/// Makes one picture of `count` moments of a run, evenly spread, in rows of `columns`, and returns its path.
///
/// # Errors
/// When the record cannot be read or written, or a setting does not suit the scene.
pub fn render_strip(
    folder: &RunFolder,
    overrides: &[String],
    [count, columns]: [usize; 2],
) -> Result<Rendered, RunError> {
    let loaded = Loaded::from_file(&folder.scene_path(), overrides)?;
    let (mut film, numbers, mut skipped) = open_film(folder, &loaded)?;
    let mut moments = Vec::new();
    for k in 0..count {
        let number = numbers[(numbers.len() - 1) * k / (count - 1).max(1)];
        match folder.read_frame(number) {
            Ok(frame) => moments.push(film.picture(&frame)?.clone()),
            Err(reason) => skipped.push(Skipped { path: folder.frame_path(number), reason }),
        }
    }
    let path = folder.dir().join("strip.png");
    write_atomic(&path, &film_strip(&moments, columns).to_png()?)?;
    Ok(Rendered { path, skipped })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_of_scales_are_short_numbers() {
        for (value, rounded) in [(0.73, 1.0), (1.2, 1.5), (2.97, 3.0), (3.1, 5.0), (70.0, 100.0), (0.002, 0.002)] {
            assert!((round_up(value) / rounded - 1.0).abs() < 1e-9, "{value} became {}", round_up(value));
        }
    }
}
