//! Pictures of a run, and the film made of them.

use crate::froth::{Froth, foam_of};
use crate::run::RunError;
use crate::surfaces::dressed;
use meniscus_core::{Camera, Coloring, Frame, Look, Quality, Style};
use meniscus_picture::{GifWriter, Image, Renderer, Tracer, film_strip, settled_camera, settled_style};
use meniscus_record::{RecordError, RunFolder, Skipped, write_atomic};
use meniscus_scene::{Loaded, Scene};
use meniscus_surface::{Extractor, Kernel, Settings};
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Width of the film \[px\].
const FILM_WIDTH: u32 = 640;
/// Pictures per second that a film shows at most \[1/s\].
const FILM_RATE: f64 = 25.0;

/// Takes one picture per frame from the same place in the same light, and makes the film of them as it goes.
pub struct Film {
    painter: Painter,
    camera: Camera,
    extractor: Extractor,
    froth: Option<Froth>,
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
        let fine = style.quality == Quality::Final;
        if fine && style.shutter.is_none() {
            style.shutter = Some((0.5 / scene.fps) as f32);
        }
        Self {
            painter: Painter::new(style, scene, first),
            camera: settled_camera(&scene.camera, [first]),
            extractor: Extractor::new(if fine { finer(scene.surface) } else { scene.surface }),
            froth: None,
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
        self.picture_slowly(frame, &mut |_, _| {})
    }

    /// The same, with a word now and then about how much of the picture is done, and of how much.
    pub(crate) fn picture_slowly(
        &mut self,
        frame: &Frame,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<&Image, RunError> {
        let surfaces = self.painter.shows_surfaces() && !frame.particles.is_empty();
        let shown = if surfaces {
            let foam = foam_of(&mut self.froth, frame);
            Cow::Owned(Frame { foam, ..dressed(frame, &mut self.extractor) })
        } else {
            Cow::Borrowed(frame)
        };
        self.painter.shoot(&shown, &self.camera, progress)
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
        self.shoot_slowly(frame, folder, &mut |_, _| {})
    }

    fn shoot_slowly(
        &mut self,
        frame: &Frame,
        folder: &RunFolder,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<Option<PathBuf>, RunError> {
        if !frame.number.is_multiple_of(self.every) {
            return Ok(None);
        }
        let image = self.picture_slowly(frame, progress)?.clone();
        let path = folder.picture_path(frame.number);
        write_atomic(&path, &image.to_png()?)?;
        if self.shows(frame.number) {
            self.reel.push(&image)?;
        }
        Ok(Some(path))
    }

    /// Takes a picture as in a run, but for its file; the time that one takes in the mean \[s\].
    pub(crate) fn rehearse(&mut self, frame: &Frame) -> Result<f64, RunError> {
        let began = Instant::now();
        let image = self.picture(frame)?.clone();
        image.to_png()?;
        let taken = Instant::now();
        self.reel.push(&image)?;
        Ok((taken - began).as_secs_f64() + taken.elapsed().as_secs_f64() / f64::from(self.stride))
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

/// What takes the pictures: in a fraction of a second, or along paths of light.
enum Painter {
    Draft(Box<Renderer>),
    Final(Box<Tracer>),
}

impl Painter {
    fn new(style: Style, scene: &Scene, first: &Frame) -> Self {
        match style.quality {
            Quality::Draft => Self::Draft(Box::new(Renderer::new(style))),
            Quality::Final => Self::Final(Box::new(Tracer::new(style, looks(scene), first))),
        }
    }

    fn shows_surfaces(&self) -> bool {
        match self {
            Self::Draft(renderer) => renderer.style().shows_surfaces(),
            Self::Final(_) => true,
        }
    }

    fn shoot(
        &mut self,
        frame: &Frame,
        camera: &Camera,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<&Image, RunError> {
        Ok(match self {
            Self::Draft(renderer) => renderer.render(frame, camera)?,
            Self::Final(tracer) => tracer.render(frame, camera, progress)?,
        })
    }
}

/// Surfaces for pictures that may take longer: at least as fine as the scene asks for.
fn finer(settings: Settings) -> Settings {
    Settings {
        cube: settings.cube.min(0.5),
        kernel: Kernel::Anisotropic,
        smoothing: settings.smoothing.max(15),
        ..settings
    }
}

/// How the bodies of a scene look, by their names.
fn looks(scene: &Scene) -> Vec<(String, Look)> {
    let liquids = scene.liquid.iter().map(|(name, l)| (name, l.material, l.clarity));
    let bare = |(name, material)| (name, material, None);
    let walls = scene.wall.iter().map(|(name, w)| (name, w.material)).map(bare);
    let bodies = scene.bodies().map(|(_, name, body)| (name, body.look())).map(bare);
    let animated = scene.animated.iter().map(|(name, a)| (name, a.material)).map(bare);
    let all = liquids.chain(walls).chain(bodies).chain(animated);
    all.map(|(name, material, clarity)| (name.clone(), Look { material, clarity: clarity.map(|c| c as f32) })).collect()
}

/// The next of 1, 2, 5, 10, … times a power of ten.
fn round_up(value: f64) -> f64 {
    let power = 10f64.powf(value.max(1e-9).log10().floor());
    [1.0, 1.5, 2.0, 3.0, 5.0, 10.0].into_iter().map(|m| m * power).find(|&v| v >= value * 0.999).unwrap_or(value)
}

/// Reads a picture of a run.
pub(crate) fn read_picture(path: &Path) -> Result<Image, RunError> {
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
            // The bar moves on within a picture, too.
            let mut within = |part: usize, of: usize| progress(done * of + part, numbers.len() * of);
            match folder.read_frame(number) {
                Ok(frame) => drop(film.shoot_slowly(&frame, folder, &mut within)?),
                Err(reason) => skipped.push(Skipped { path: folder.frame_path(number), reason }),
            }
        }
        progress(done + 1, numbers.len());
    }
    let path = film.finish(folder, &folder.info()?.scene)?;
    Ok(Rendered { path, skipped })
}

/// The film of a run from its first sound frame on, the frames from there, and those before that cannot be read.
pub(crate) fn open_film(folder: &RunFolder, loaded: &Loaded) -> Result<(Film, Vec<u32>, Vec<Skipped>), RunError> {
    let mut numbers = folder.frame_numbers()?;
    let mut skipped = Vec::new();
    while let Some(&first) = numbers.first() {
        match folder.read_frame(first) {
            Ok(frame) => {
                let froth = Froth::open(folder, &loaded.scene)?;
                return Ok((Film { froth, ..Film::new(loaded, &frame) }, numbers, skipped));
            }
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
    let pictures = moments(&mut film, folder, &numbers, count, &mut skipped)?;
    let path = folder.dir().join("strip.png");
    write_atomic(&path, &film_strip(&pictures, columns).to_png()?)?;
    Ok(Rendered { path, skipped })
}

/// Pictures of `count` moments, evenly spread over frames; those that cannot be read are named.
pub(crate) fn moments(
    film: &mut Film,
    folder: &RunFolder,
    numbers: &[u32],
    count: usize,
    skipped: &mut Vec<Skipped>,
) -> Result<Vec<Image>, RunError> {
    let mut pictures = Vec::new();
    for k in 0..count {
        let number = numbers[(numbers.len() - 1) * k / (count - 1).max(1)];
        match folder.read_frame(number) {
            Ok(frame) => pictures.push(film.picture(&frame)?.clone()),
            Err(reason) => skipped.push(Skipped { path: folder.frame_path(number), reason }),
        }
    }
    Ok(pictures)
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
