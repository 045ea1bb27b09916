//! glTF 2.0: skins, morph targets and moving nodes, from `.glb` and `.gltf`.
//!
//! The reader is our own and small, because files come from anywhere: every index is checked where it is used, no
//! count is believed before the bytes that it stands for have been seen, and buffers are read from the file's own
//! folder only. Materials, cameras and lights are passed over.

mod accessor;
mod container;
mod json;
mod keys;
mod meshes;
pub(super) mod rig;

use std::path::Path;

use super::{Animation, AnimationError, AnimationOptions, Found, GltfError, ReadFile, Source, read_named};
use crate::files::read_bytes;
use accessor::Document;
use container::Buffers;

/// Reads an animation from the bytes of a `.glb` file, which must hold its buffers itself.
///
/// # Errors
/// Says what is wrong where; `path` only names the bytes.
pub fn parse_glb(path: &Path, bytes: &[u8], options: &AnimationOptions) -> Result<Animation, AnimationError> {
    options.check()?;
    parse(path, bytes, &Buffers::Within, options)
}

pub(super) fn read(path: &Path, options: &AnimationOptions) -> Result<Animation, AnimationError> {
    let folder = path.parent().unwrap_or(Path::new(""));
    parse(path, &read_bytes(path)?, &Buffers::Folder(folder), options)
}

/// From files by their names.
pub(super) fn load(file: &str, options: &AnimationOptions, read: &ReadFile<'_>) -> Result<Animation, AnimationError> {
    let path = Path::new(file);
    let folder = path.parent().unwrap_or(Path::new(""));
    parse(path, &read_named(file, read)?, &Buffers::Named(folder, read), options)
}

fn parse(
    path: &Path,
    bytes: &[u8],
    buffers: &Buffers<'_>,
    options: &AnimationOptions,
) -> Result<Animation, AnimationError> {
    let named = |error| AnimationError::Gltf { path: path.into(), error };
    let found = container::open(bytes, buffers).and_then(|document| found(&document, options)).map_err(named)?;
    Animation::new(found, options)
}

fn found(document: &Document, options: &AnimationOptions) -> Result<Found, GltfError> {
    let mut rig = rig::Rig::new(document)?;
    let mut warnings = Vec::new();
    let range = keys::animate(document, &mut rig, options, &mut warnings)?;
    let (triangles, parts) = meshes::fill(document, &mut rig, &mut warnings)?;
    Ok(Found { source: Source::Rig(Box::new(rig)), triangles, parts, range, warnings })
}
