//! Pictures of a run, and the film made of them.

use crate::run::RunError;
use crate::surfaces::dressed;
use meniscus_core::{Camera, Coloring, Frame};
use meniscus_picture::{GifWriter, Image, Renderer, film_strip, settled_camera, settled_style};
use meniscus_record::{RecordError, RunFolder, Skipped, write_atomic};
use meniscus_scene::Loaded;
use meniscus_surface::Extractor;
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// Width of the film \[px\].
const FILM_WIDTH: u32 = 640;
/// Pictures per second that a film shows at most \[1/s\].
const FILM_RATE: f64 = 25.0;

/// Takes one picture per frame from the same place in the same light, and makes the film of them as it goes.
pub struct Film {
    renderer: Renderer,
    camera: Camera,
    extractor: Extractor,
    reel: GifWriter<Vec<u8>>,
    /// A picture after so many frames; one in so many of them goes into the film.
    every: u32,
    stride: u32,
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
        let every = scene.output.picture_every.max(1);
        let rate = scene.fps / f64::from(every);
        let stride = (rate / FILM_RATE).ceil().max(1.0);
        Self {
            renderer: Renderer::new(style),
            camera: settled_camera(&scene.camera, [first]),
            extractor: Extractor::new(scene.surface),
            reel: GifWriter::new(Vec::new(), FILM_WIDTH, rate / stride),
            every,
            stride: stride as u32,
        }
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

    /// Takes over the pictures of a run up to a frame, from which it goes on.
    pub(crate) fn catch_up(&mut self, folder: &RunFolder, frame: u32) -> Result<(), RunError> {
        for number in folder.picture_numbers()?.into_iter().filter(|&number| number <= frame) {
            if self.shows(number) {
                self.reel.push(&read_picture(&folder.picture_path(number))?)?;
            }
        }
        Ok(())
    }

    /// Takes the picture of a frame, if one is due, into its file and into the film.
    pub(crate) fn shoot(&mut self, frame: &Frame, folder: &RunFolder) -> Result<Option<PathBuf>, RunError> {
        if !frame.number.is_multiple_of(self.every) {
            return Ok(None);
        }
        let image = self.picture(frame)?.clone();
        let path = folder.picture_path(frame.number);
        write_atomic(&path, &image.to_png()?)?;
        if self.shows(frame.number) {
            self.reel.push(&image)?;
        }
        Ok(Some(path))
    }

    /// Whether a frame is in the film.
    fn shows(&self, number: u32) -> bool {
        number.is_multiple_of(self.every * self.stride)
    }

    /// Writes the animated GIF of all pictures and returns its path.
    pub(crate) fn finish(self, folder: &RunFolder, name: &str) -> Result<PathBuf, RunError> {
        let path = folder.film_path(name)?;
        write_atomic(&path, &self.reel.finish()?)?;
        Ok(path)
    }
}

/// The next of 1, 2, 5, 10, … times a power of ten.
fn round_up(value: f64) -> f64 {
    let power = 10f64.powf(value.max(1e-9).log10().floor());
    [1.0, 1.5, 2.0, 3.0, 5.0, 10.0].into_iter().map(|m| m * power).find(|&v| v >= value * 0.999).unwrap_or(value)
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
        if number.is_multiple_of(film.every) {
            match folder.read_frame(number) {
                Ok(frame) => drop(film.shoot(&frame, folder)?),
                Err(reason) => skipped.push(Skipped { path: folder.frame_path(number), reason }),
            }
        }
        progress(done + 1, numbers.len());
    }
    let path = film.finish(folder, &folder.info()?.scene)?;
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
