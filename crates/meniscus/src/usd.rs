//! A run for films.

use crate::run::RunError;
use crate::surfaces::dressed;
use meniscus_core::Frame;
use meniscus_picture::{settled_camera, standpoint};
use meniscus_record::RunFolder;
use meniscus_record::export::{ExportReport, UsdCamera, UsdScene};
use meniscus_scene::{Loaded, Scene};
use meniscus_surface::Extractor;
use std::path::Path;

/// Exports a run as USD: liquids as closed surfaces with velocities, spray as points, soft bodies as moving points, rigid ones as
/// transforms, camera and lights as in our pictures.
///
/// # Errors
/// When the record cannot be read or written.
pub fn export_usd(
    folder: &RunFolder,
    out: &Path,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<ExportReport, RunError> {
    let loaded = Loaded::from_file(&folder.scene_path(), &[])?;
    let first = folder.frame_numbers()?.into_iter().find_map(|number| folder.read_frame(number).ok());
    let Some(first) = first else { return Err(RunError::NoFrames { dir: folder.dir().to_owned() }) };
    let scene = &loaded.scene;
    let mut extractor = Extractor::new(scene.surface);
    let usd = UsdScene {
        name: folder.info()?.scene,
        fps: scene.fps,
        rigid: scene.rigid.keys().chain(scene.wall.keys()).cloned().collect(),
        camera: camera(scene, &first)?,
    };
    let change = |frame: &Frame| {
        // A grid has its surface already.
        if frame.particles.is_empty() { frame.clone() } else { dressed(frame, &mut extractor) }
    };
    Ok(meniscus_record::export::export_usd(folder, out, &usd, progress, change)?)
}

fn camera(scene: &Scene, first: &Frame) -> Result<UsdCamera, RunError> {
    let (camera, picture) = (settled_camera(&scene.camera, [first]), &scene.picture);
    let stand = standpoint(&camera, first, picture.width, picture.height)?;
    Ok(UsdCamera {
        eye: stand.eye,
        right: stand.right,
        up: stand.up,
        forward: stand.forward,
        field_of_view: camera.field_of_view,
        aspect: picture.width as f32 / picture.height as f32,
    })
}
