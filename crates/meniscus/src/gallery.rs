//! Scenes by name: of the gallery, or a file.

use meniscus_scene::{Loaded, SceneError, Settings, nearest};
use meniscus_scenes::GalleryScene;
use std::path::Path;

pub use meniscus_scenes::{DEFAULT, GALLERY, find};

/// Loads a scene: a name of the gallery, or the path of a TOML file. `overrides` are `key=value` settings.
///
/// # Errors
/// With file, line, the offending text and what would be right.
pub fn load(scene: &str, overrides: &[String]) -> Result<Loaded, SceneError> {
    load_with(scene, &Settings::new(overrides))
}

/// The same with settings.
///
/// # Errors
/// With file, line, the offending text and what would be right.
pub fn load_with(scene: &str, settings: &Settings) -> Result<Loaded, SceneError> {
    let path = Path::new(scene);
    match find(scene) {
        // A file of that name next to us was made to be edited: it goes first.
        Some(gallery) if !path.is_file() => from_gallery(gallery, settings),
        None if !path.exists() && path.extension().is_none() && path.components().count() == 1 => Err(unknown(scene)),
        _ => Loaded::from_file_with(path, settings),
    }
}

/// Loads a scene of the gallery.
///
/// # Errors
/// When an override does not suit it.
pub fn load_gallery(scene: &GalleryScene, overrides: &[String]) -> Result<Loaded, SceneError> {
    from_gallery(scene, &Settings::new(overrides))
}

fn from_gallery(scene: &GalleryScene, settings: &Settings) -> Result<Loaded, SceneError> {
    let read = |file: &str| {
        let asset = scene.assets.iter().find(|(name, _)| *name == file);
        asset.map(|(_, bytes)| bytes.to_vec()).ok_or_else(|| std::io::ErrorKind::NotFound.into())
    };
    Loaded::with_settings(scene.name, &format!("{}.toml", scene.name), scene.text, settings, &read)
}

/// What someone is told who asks for a scene that is not there.
#[must_use]
pub fn unknown(name: &str) -> SceneError {
    let known: Vec<String> = GALLERY.iter().map(|scene| scene.name.to_owned()).collect();
    let advice = nearest(name, &known, "scene").unwrap_or_default();
    SceneError::Unknown { name: name.to_owned(), help: format!("{advice}; or give the path of a TOML file") }
}
