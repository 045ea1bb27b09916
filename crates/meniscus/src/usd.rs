//! A run for films: USD, sequences of surfaces, glTF.

use crate::froth::{Froth, foam_of};
use crate::run::RunError;
use crate::surfaces::dressed;
use glam::Vec3;
use meniscus_core::Frame;
use meniscus_picture::{settled_camera, settled_style, standpoint};
use meniscus_record::RunFolder;
use meniscus_record::export::{self, ExportReport, GltfScene, SequenceFormat, UsdCamera, UsdScene};
use meniscus_scene::{Loaded, Scene};
use meniscus_surface::Extractor;
use std::path::Path;

/// Exports a run as USD: liquids as closed surfaces with velocities, spray and foam as points, soft bodies as moving points, rigid ones as
/// transforms, camera and lights as in our pictures; clips in `words` or binary.
///
/// # Errors
/// When the record cannot be read or written.
pub fn export_usd(
    folder: &RunFolder,
    out: &Path,
    words: bool,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<ExportReport, RunError> {
    let loaded = Loaded::from_file(&folder.scene_path(), &[])?;
    let first = folder.frame_numbers()?.into_iter().find_map(|number| folder.read_frame(number).ok());
    let Some(first) = first else { return Err(RunError::NoFrames { dir: folder.dir().to_owned() }) };
    let scene = &loaded.scene;
    let (camera, to_light) = camera_and_light(scene, &first)?;
    let style = settled_style(&scene.picture, [&first]);
    let usd = UsdScene {
        name: folder.info()?.scene,
        fps: scene.fps,
        rigid: rigid(scene),
        camera,
        to_light,
        ground: style.ground_height.filter(|_| style.ground),
        clarity: style.clarity,
        words,
        foam: scene.surface.foam,
    };
    let (mut froth, mut surfaced) = (Froth::open(folder, scene)?, surfaced(scene));
    let white = |frame: &Frame| Frame { foam: foam_of(&mut froth, frame), ..surfaced(frame) };
    Ok(export::export_usd(folder, out, &usd, progress, white)?)
}

/// Exports the surfaces of a run, those of its liquids too, as files numbered without gaps.
///
/// # Errors
/// When the record cannot be read or written.
pub fn export_sequence(
    folder: &RunFolder,
    out: &Path,
    format: SequenceFormat,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<ExportReport, RunError> {
    let loaded = Loaded::from_file(&folder.scene_path(), &[])?;
    Ok(export::export_sequence(folder, out, format, progress, surfaced(&loaded.scene))?)
}

/// Exports the bodies of a run that keep their triangles as one binary glTF file.
///
/// # Errors
/// When the record cannot be read or written.
pub fn export_glb(
    folder: &RunFolder,
    out: &Path,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<ExportReport, RunError> {
    let loaded = Loaded::from_file(&folder.scene_path(), &[])?;
    let scene = GltfScene { name: folder.info()?.scene, rigid: rigid(&loaded.scene) };
    Ok(export::export_glb(folder, out, &scene, progress)?)
}

/// Names of bodies that never change their shape.
fn rigid(scene: &Scene) -> Vec<String> {
    scene.rigid.keys().chain(scene.wall.keys()).cloned().collect()
}

/// Frames with surfaces of liquids; a grid has them already.
fn surfaced(scene: &Scene) -> impl FnMut(&Frame) -> Frame {
    let mut extractor = Extractor::new(scene.surface);
    move |frame| if frame.particles.is_empty() { frame.clone() } else { dressed(frame, &mut extractor) }
}

/// The camera of our pictures, and the direction to their light.
fn camera_and_light(scene: &Scene, first: &Frame) -> Result<(UsdCamera, Vec3), RunError> {
    let (camera, picture) = (settled_camera(&scene.camera, [first]), &scene.picture);
    let stand = standpoint(&camera, first, picture)?;
    let camera = UsdCamera {
        eye: stand.eye,
        right: stand.right,
        up: stand.up,
        forward: stand.forward,
        field_of_view: camera.field_of_view,
        aspect: picture.width as f32 / picture.height as f32,
    };
    Ok((camera, stand.to_light))
}
