//! Films of the pictures of a run, in formats that encoders and players read, and single pictures.

use crate::film::{Rendered, open_film, read_picture};
use crate::run::RunError;
use meniscus_picture::{Image, Y4mWriter};
use meniscus_record::{RecordError, RunFolder, write_atomic};
use meniscus_scene::Loaded;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

/// Quality of JPEG pictures, 1 to 100.
const JPEG_QUALITY: u8 = 88;

/// Formats of films beside the GIF that every run has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Movie {
    /// Raw planes, which encoders read from a file or a pipe.
    Y4m,
    /// H.264, with the feature `mp4`.
    Mp4,
}

impl Movie {
    fn ending(self) -> &'static str {
        match self {
            Self::Y4m => "y4m",
            Self::Mp4 => "mp4",
        }
    }

    /// Whether this program can write it.
    #[must_use]
    pub fn is_built_in(self) -> bool {
        self == Self::Y4m || cfg!(feature = "mp4")
    }
}

/// Makes a film of the pictures that a run has, beside its GIF, and returns its path.
///
/// # Errors
/// When there are no pictures, they cannot be read, the film cannot be written, or the format is not built in.
pub fn write_movie(
    folder: &RunFolder,
    movie: Movie,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<PathBuf, RunError> {
    if !movie.is_built_in() {
        return Err(RunError::NotBuiltIn { movie: movie.ending() });
    }
    let scene = Loaded::from_file(&folder.scene_path(), &[])?.scene;
    let rate = scene.fps / f64::from(scene.output.picture_every.max(1));
    let numbers = folder.picture_numbers()?;
    if numbers.is_empty() {
        return Err(RunError::NoFrames { dir: folder.dir().to_owned() });
    }
    let path = folder.film_path(&folder.info()?.scene)?.with_extension(movie.ending());
    let unfinished = path.with_extension(format!("{}.part", movie.ending()));
    let io = |action| {
        let path = path.clone();
        move |source| RecordError::Io { action, path, source }
    };
    let out = BufWriter::new(File::create(&unfinished).map_err(io("make"))?);
    let pictures = numbers.iter().enumerate().map(|(done, &number)| {
        progress(done + 1, numbers.len());
        read_picture(&folder.picture_path(number))
    });
    write_pictures(movie, out, rate, pictures)?;
    std::fs::rename(&unfinished, &path).map_err(io("finish"))?;
    Ok(path)
}

fn write_pictures(
    movie: Movie,
    out: BufWriter<File>,
    rate: f64,
    pictures: impl Iterator<Item = Result<Image, RunError>>,
) -> Result<(), RunError> {
    match movie {
        Movie::Y4m => {
            let mut film = Y4mWriter::new(out, rate);
            for picture in pictures {
                film.push(&picture?)?;
            }
            film.finish()?;
        }
        #[cfg(feature = "mp4")]
        Movie::Mp4 => {
            let mut film = meniscus_picture::Mp4Writer::new(out, rate)?;
            for picture in pictures {
                film.push(&picture?)?;
            }
            film.finish()?;
        }
        #[cfg(not(feature = "mp4"))]
        Movie::Mp4 => return Err(RunError::NotBuiltIn { movie: movie.ending() }),
    }
    Ok(())
}

/// Takes one picture of a run, of the last frame that is not after `number`, into a file: a JPEG if its name ends so, otherwise a PNG.
///
/// # Errors
/// When the record cannot be read, the file not be written, or a setting does not suit the scene.
pub fn render_frame(
    folder: &RunFolder,
    overrides: &[String],
    number: u32,
    out: &Path,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Rendered, RunError> {
    let loaded = Loaded::from_file(&folder.scene_path(), overrides)?;
    let (mut film, numbers, skipped) = open_film(folder, &loaded)?;
    let number = numbers.iter().copied().rev().find(|&n| n <= number).unwrap_or(numbers[0]);
    let image = film.picture_slowly(&folder.read_frame(number)?, progress)?;
    let ending = out.extension().map(std::ffi::OsStr::to_ascii_lowercase);
    let jpeg = ending.is_some_and(|e| e == "jpg" || e == "jpeg");
    let bytes = if jpeg { image.to_jpeg(JPEG_QUALITY)? } else { image.to_png()? };
    write_atomic(out, &bytes)?;
    Ok(Rendered { path: out.to_owned(), skipped })
}
