//! Scenes by name: of the gallery, or a file.

use meniscus_scene::{Loaded, SceneError};
use meniscus_scenes::GalleryScene;
use std::path::Path;

pub use meniscus_scenes::{DEFAULT, GALLERY, find};

/// Loads a scene: a name of the gallery, or the path of a TOML file. `overrides` are `key=value` settings.
///
/// # Errors
/// With file, line, the offending text and what would be right.
pub fn load(scene: &str, overrides: &[String]) -> Result<Loaded, SceneError> {
    match find(scene) {
        // A file of that name next to us was made to be edited: it goes first.
        Some(gallery) if !Path::new(scene).is_file() => load_gallery(gallery, overrides),
        _ => Loaded::from_file(Path::new(scene), overrides),
    }
}

/// Loads a scene of the gallery.
///
/// # Errors
/// When an override does not suit it.
pub fn load_gallery(scene: &GalleryScene, overrides: &[String]) -> Result<Loaded, SceneError> {
    let read = |file: &str| {
        let asset = scene.assets.iter().find(|(name, _)| *name == file);
        asset.map(|(_, bytes)| bytes.to_vec()).ok_or_else(|| std::io::ErrorKind::NotFound.into())
    };
    Loaded::from_text(scene.name, &format!("{}.toml", scene.name), scene.text, overrides, &read)
}
