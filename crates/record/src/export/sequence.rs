//! Surfaces as files that are numbered without gaps, one per body and frame.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

use meniscus_core::{BodyKind, Frame, Surface};

use super::ply::{encode_particles, encode_surface, surface_name};
use super::{Destination, ExportReport, joined};
use crate::RunFolder;
use crate::error::{PROGRAM_VERSION, Result};

/// What the files of a sequence are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SequenceFormat {
    /// Wavefront OBJ, text: vertices and triangles.
    Obj,
    /// PLY, binary: vertices with velocities, triangles; and all particles.
    Ply,
}

/// Exports the surfaces of what `change` makes of the frames of a run.
///
/// ```text
/// surfaces/01_water_00000.obj …     number and name of the body; all its surfaces in one file
/// particles/particles_00000.ply …   PLY only: the particles of the frame itself
/// ```
/// A liquid has a file at every frame, and so has any other body from the frame on that first shows it: where there is nothing to
/// see, a file without vertices.
///
/// # Errors
/// When the run cannot be listed or a file cannot be written. Frames that cannot be read are in the report.
pub fn export_sequence(
    run: &RunFolder,
    out_dir: impl AsRef<Path>,
    format: SequenceFormat,
    progress: &mut dyn FnMut(usize, usize),
    mut change: impl FnMut(&Frame) -> Frame,
) -> Result<ExportReport> {
    let mut out = Destination::new(out_dir.as_ref())?;
    let mut shown = BTreeSet::new();
    out.each_frame(run, progress, |out, frame| {
        if format == SequenceFormat::Ply {
            let name = format!("particles/particles_{:05}.ply", frame.number);
            out.write(&name, &encode_particles(frame.time, &frame.particles))?;
        }
        let frame = change(frame);
        shown.extend(seen(&frame));
        shown.iter().try_for_each(|&body| {
            let surface = joined(&frame, body);
            let (ending, bytes) = match format {
                SequenceFormat::Obj => ("obj", encode_obj(&frame, &surface).into_bytes()),
                SequenceFormat::Ply => ("ply", encode_surface(&frame, &surface)),
            };
            let name = surface_name(&frame, &surface, 0);
            out.write(&format!("surfaces/{name}_{:05}.{ending}", frame.number), &bytes)
        })
    })?;
    Ok(out.report)
}

/// Bodies that have a surface, or may have one.
fn seen(frame: &Frame) -> impl Iterator<Item = u16> {
    let liquids = (0..).zip(&frame.bodies).filter(|(_, info)| info.kind == BodyKind::Liquid).map(|(body, _)| body);
    liquids.chain(frame.surfaces.iter().map(|surface| surface.body))
}

fn encode_obj(frame: &Frame, surface: &Surface) -> String {
    let mut text = format!("# Meniscus {PROGRAM_VERSION}, metres\n# time {:?}\n", frame.time);
    if !surface.positions.is_empty() {
        let _ = writeln!(text, "o {}", surface_name(frame, surface, 0));
    }
    for v in &surface.positions {
        let _ = writeln!(text, "v {:?} {:?} {:?}", v.x, v.y, v.z);
    }
    for corners in &surface.triangles {
        // Counted from one.
        let [a, b, c] = corners.map(|corner| u64::from(corner) + 1);
        let _ = writeln!(text, "f {a} {b} {c}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec3;
    use meniscus_core::BodyInfo;

    fn frame() -> Frame {
        let body = |name: &str, kind| BodyInfo { name: name.into(), kind, color: [0.0; 3] };
        let bodies = vec![body("tank", BodyKind::Wall), body("water", BodyKind::Liquid), body("cube", BodyKind::Solid)];
        let positions = vec![Vec3::ZERO, Vec3::X, Vec3::new(0.1, 1e-9, 0.0)];
        let surface = Surface { body: 2, positions, triangles: vec![[0, 1, 2]], ..Surface::default() };
        Frame { bodies, surfaces: vec![surface], ..Frame::default() }
    }

    #[test]
    fn liquids_are_always_seen_and_others_with_a_surface() {
        assert_eq!(seen(&frame()).collect::<Vec<_>>(), [1, 2]);
    }

    #[test]
    fn obj_counts_from_one_and_an_empty_one_has_no_object() {
        let text = encode_obj(&frame(), &joined(&frame(), 2));
        assert!(text.ends_with("o 02_cube\nv 0.0 0.0 0.0\nv 1.0 0.0 0.0\nv 0.1 1e-9 0.0\nf 1 2 3\n"), "{text}");
        let empty = encode_obj(&frame(), &joined(&frame(), 1));
        assert!(empty.lines().all(|line| line.starts_with('#')), "{empty}");
    }
}
