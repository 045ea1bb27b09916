//! What the gallery shows of a run: a strip of its moments, a thumbnail, and one picture to be proud of.

use crate::film::{moments, open_film};
use crate::movie::render_frame;
use crate::run::RunError;
use meniscus_picture::{Image, film_strip};
use meniscus_record::{RecordError, RunFolder, write_atomic};
use meniscus_scene::Loaded;
use std::path::{Path, PathBuf};

/// Pictures of the book are no larger \[bytes\].
const LARGEST: usize = 200 << 10;
/// Qualities of JPEG that are tried until a picture is small enough.
const QUALITIES: [u8; 5] = [88, 80, 72, 64, 50];
/// The frame that is worth most, as a part of the run.
const HERO: f64 = 0.6;

/// Writes `NAME.jpg` (six moments), `NAME-thumbnail.png` and `NAME-hero.jpg` (a `final` picture without legend) of a run into a folder; the
/// last two are of the frame `hero`, by default of one after three fifths of the run. Settings such as `picture.samples=64` go on top
/// of the scene.
///
/// # Errors
/// When the record cannot be read, a file not be written, or a setting does not suit the scene.
pub fn render_album(
    folder: &RunFolder,
    overrides: &[String],
    (out, hero): (&Path, Option<u32>),
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Vec<PathBuf>, RunError> {
    let name = folder.info()?.scene;
    let file = |ending: &str| out.join(format!("{name}{ending}"));
    let last = folder.frame_numbers()?.last().copied().unwrap_or(0);
    let hero = hero.unwrap_or((HERO * f64::from(last)) as u32);
    std::fs::create_dir_all(out).map_err(|source| RecordError::Io {
        action: "make the folder",
        path: out.to_owned(),
        source,
    })?;
    let set = |own: &[&str]| -> Vec<String> {
        own.iter().map(|&word| word.to_owned()).chain(overrides.iter().cloned()).collect()
    };
    let loaded = Loaded::from_file(
        &folder.scene_path(),
        &set(&["picture.width=480", "picture.height=270", "picture.supersample=2"]),
    )?;
    let (mut film, numbers, mut skipped) = open_film(folder, &loaded)?;
    let strip = film_strip(&moments(&mut film, folder, &numbers, 6, &mut skipped)?, 3);
    write_atomic(file(".jpg"), &small_jpeg(&strip)?)?;
    let small = ["picture.width=256", "picture.height=144", "picture.supersample=4", "picture.legend=false"];
    render_frame(folder, &set(&small), hero, &file("-thumbnail.png"), &mut |_, _| {})?;
    let large = ["picture.quality=final", "picture.width=960", "picture.height=540", "picture.legend=false"];
    render_frame(folder, &set(&large), hero, &file("-hero.jpg"), progress)?;
    Ok([".jpg", "-thumbnail.png", "-hero.jpg"].map(file).to_vec())
}

/// A JPEG that the book may have.
fn small_jpeg(image: &Image) -> Result<Vec<u8>, RunError> {
    let mut bytes = Vec::new();
    for quality in QUALITIES {
        bytes = image.to_jpeg(quality)?;
        if bytes.len() <= LARGEST {
            break;
        }
    }
    Ok(bytes)
}
