//! Surfaces of liquids, beside the frames and in their place.

use crate::froth::{Froth, foam_of};
use crate::run::RunError;
use meniscus_core::{Frame, Particles};
use meniscus_record::export::{ExportReport, export_ply_of, ply_files};
use meniscus_record::{RecordError, RunFolder, write_atomic};
use meniscus_scene::{Loaded, Scene};
use meniscus_surface::Extractor;
use std::borrow::Cow;
use std::path::Path;

/// A frame as it is looked at: liquids as surfaces, and as particles only their spray.
pub fn dressed(frame: &Frame, extractor: &mut Extractor) -> Frame {
    let Frame { particles, surfaces, .. } = bare(frame, extractor);
    let surfaces = frame.surfaces.iter().cloned().chain(surfaces).collect();
    let (bodies, wires, walls) = (frame.bodies.clone(), frame.wires.clone(), frame.walls.clone());
    let foam = frame.foam.clone();
    Frame { number: frame.number, time: frame.time, step: frame.step, bodies, particles, surfaces, wires, walls, foam }
}

/// The surfaces and the spray of the liquids of a frame, and nothing else.
fn bare(frame: &Frame, extractor: &mut Extractor) -> Frame {
    let found = extractor.extract(frame);
    Frame {
        number: frame.number,
        time: frame.time,
        step: frame.step,
        bodies: frame.bodies.clone(),
        particles: some_of(&frame.particles, &found.spray),
        surfaces: found.liquids.into_iter().map(|liquid| liquid.surface).collect(),
        ..Frame::default()
    }
}

/// Some of the particles of a frame.
fn some_of(all: &Particles, chosen: &[u32]) -> Particles {
    fn pick<T: Copy>(from: &[T], chosen: &[u32]) -> Vec<T> {
        chosen.iter().filter_map(|&i| from.get(i as usize).copied()).collect()
    }
    Particles {
        ids: pick(&all.ids, chosen),
        bodies: pick(&all.bodies, chosen),
        positions: pick(&all.positions, chosen),
        velocities: pick(&all.velocities, chosen),
        densities: pick(&all.densities, chosen),
        pressures: pick(&all.pressures, chosen),
        spacing: all.spacing,
        spray: pick(&all.spray, chosen),
    }
}

/// Writes the surfaces of one frame below `surface/` in the folder of its run.
pub(crate) fn write_surface(folder: &RunFolder, frame: &Frame, extractor: &mut Extractor) -> Result<(), RunError> {
    write_beside(folder, &bare(frame, extractor))
}

/// Writes the foam of a run that has ended beside its surfaces, if its scene has any: only then is known what was violent in it.
pub(crate) fn write_foam(folder: &RunFolder, scene: &Scene) -> Result<(), RunError> {
    let Some(mut froth) = Froth::open(folder, scene)? else { return Ok(()) };
    let due = |number: &u32| scene.surface.every > 0 && number.is_multiple_of(scene.surface.every);
    for frame in folder.frame_numbers()?.into_iter().filter(due).filter_map(|number| folder.read_frame(number).ok()) {
        let foam = froth.of(&frame);
        write_beside(folder, &Frame { number: frame.number, time: frame.time, foam, ..Frame::default() })?;
    }
    Ok(())
}

fn write_beside(folder: &RunFolder, frame: &Frame) -> Result<(), RunError> {
    for (name, bytes) in ply_files(frame) {
        let path = folder.dir().join("surface").join(name);
        if let Some(parent) = path.parent() {
            let action = "make the folder";
            std::fs::create_dir_all(parent).map_err(|source| RecordError::Io {
                action,
                path: parent.to_owned(),
                source,
            })?;
        }
        write_atomic(&path, &bytes)?;
    }
    Ok(())
}

/// Makes the surfaces of all frames of a run again, with settings such as `surface.cube=0.4` on top of its scene: a PLY file per
/// frame and liquid in `out/surfaces`, its spray in `out/particles`, and with `surface.foam` its foam in `out/foam`.
///
/// # Errors
/// When the record cannot be read or written, or a setting does not suit the scene.
pub fn write_surfaces(
    folder: &RunFolder,
    overrides: &[String],
    out: &Path,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<ExportReport, RunError> {
    let loaded = Loaded::from_file(&folder.scene_path(), overrides)?;
    let mut extractor = Extractor::new(loaded.scene.surface);
    let mut froth = Froth::open(folder, &loaded.scene)?;
    let mut white = |frame: &Frame| Frame { foam: foam_of(&mut froth, frame), ..bare(frame, &mut extractor) };
    Ok(export_ply_of(folder, out, progress, |frame| Cow::Owned(white(frame)))?)
}
