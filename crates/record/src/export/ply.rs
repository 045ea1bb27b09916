//! A run as PLY files, binary and little endian.

use std::borrow::Cow;
use std::fmt::Write;
use std::path::Path;

use glam::Vec3;
use meniscus_core::{Foam, Frame, Particles, Surface};

use super::{Destination, ExportReport};
use crate::RunFolder;
use crate::error::{PROGRAM_VERSION, Result};

/// Exports a run for Blender, Houdini and their kin.
///
/// ```text
/// particles/particles_00000.ply …   x y z vx vy vz density pressure id body
/// foam/foam_00000.ply …             x y z vx vy vz id body kind: 0 a drop, 1 foam, 2 a bubble
/// surfaces/01_pool_00000.ply …      number and name of the body; x y z vx vy vz, of liquids pressure, and triangles
/// ```
/// Further surfaces of the same body have -2, -3, … behind its name. `progress` is told how many of how many frames are
/// done.
///
/// # Errors
/// When the run cannot be listed or a file cannot be written. Frames that cannot be read are in the report.
pub fn export_ply(
    run: &RunFolder,
    out_dir: impl AsRef<Path>,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<ExportReport> {
    export_ply_of(run, out_dir, progress, |frame| Cow::Borrowed(frame))
}

/// Exports what `change` makes of the frames of a run, as [`export_ply`].
///
/// # Errors
/// When the run cannot be listed or a file cannot be written. Frames that cannot be read are in the report.
pub fn export_ply_of(
    run: &RunFolder,
    out_dir: impl AsRef<Path>,
    progress: &mut dyn FnMut(usize, usize),
    mut change: impl for<'f> FnMut(&'f Frame) -> Cow<'f, Frame>,
) -> Result<ExportReport> {
    let mut out = Destination::new(out_dir.as_ref())?;
    out.each_frame(run, progress, |out, frame| {
        let frame = change(frame);
        ply_files(&frame).try_for_each(|(name, bytes)| out.write(&name, &bytes))
    })?;
    Ok(out.report)
}

/// The files of one frame: names below a folder, and bytes.
pub fn ply_files(frame: &Frame) -> impl Iterator<Item = (String, Vec<u8>)> {
    let particles = (!frame.particles.is_empty()).then(|| {
        let name = format!("particles/particles_{:05}.ply", frame.number);
        (name, encode_particles(frame.time, &frame.particles))
    });
    let surfaces = frame.surfaces.iter().enumerate().map(|(s, surface)| {
        let before = frame.surfaces.iter().take(s).filter(|other| other.body == surface.body).count();
        let name = format!("surfaces/{}_{:05}.ply", surface_name(frame, surface, before), frame.number);
        (name, encode_surface(frame, surface))
    });
    let foam = (!frame.foam.is_empty())
        .then(|| (format!("foam/foam_{:05}.ply", frame.number), encode_foam(frame.time, &frame.foam)));
    particles.into_iter().chain(foam).chain(surfaces)
}

/// Number and name of the body in characters that every file system has.
pub(super) fn surface_name(frame: &Frame, surface: &Surface, before: usize) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    let name: String = body_name(frame, surface).chars().take(80).map(plain).collect();
    let suffix = if before == 0 { String::new() } else { format!("-{}", before + 1) };
    format!("{:02}_{name}{suffix}", surface.body)
}

fn body_name<'a>(frame: &'a Frame, surface: &Surface) -> &'a str {
    frame.bodies.get(usize::from(surface.body)).map_or("", |body| &body.name)
}

pub(super) fn encode_particles(time: f64, particles: &Particles) -> Vec<u8> {
    let mut header = Header::new(time);
    header.element("vertex", particles.len());
    header.properties("float", &["x", "y", "z", "vx", "vy", "vz", "density", "pressure"]);
    // All readers know `uint`; some do not know `ushort`.
    header.properties("uint", &["id", "body"]);
    let mut bytes = header.finish();
    let p = particles;
    let vectors = p.positions.iter().zip(&p.velocities);
    let scalars = p.densities.iter().zip(&p.pressures);
    let owners = p.ids.iter().zip(&p.bodies);
    for (((position, velocity), (density, pressure)), (id, body)) in vectors.zip(scalars).zip(owners) {
        push_vector(&mut bytes, *position);
        push_vector(&mut bytes, *velocity);
        bytes.extend(density.to_le_bytes());
        bytes.extend(pressure.to_le_bytes());
        bytes.extend(id.to_le_bytes());
        bytes.extend(u32::from(*body).to_le_bytes());
    }
    bytes
}

fn encode_foam(time: f64, foam: &Foam) -> Vec<u8> {
    let mut header = Header::new(time);
    header.comment("kind 0 spray, 1 foam, 2 bubble");
    header.element("vertex", foam.len());
    header.properties("float", &["x", "y", "z", "vx", "vy", "vz"]);
    header.properties("uint", &["id", "body", "kind"]);
    let mut bytes = header.finish();
    let vectors = foam.positions.iter().zip(&foam.velocities);
    let words = foam.ids.iter().zip(&foam.bodies).zip(&foam.kinds);
    for ((position, velocity), ((id, body), kind)) in vectors.zip(words) {
        push_vector(&mut bytes, *position);
        push_vector(&mut bytes, *velocity);
        for word in [*id, u32::from(*body), *kind as u32] {
            bytes.extend(word.to_le_bytes());
        }
    }
    bytes
}

pub(super) fn encode_surface(frame: &Frame, surface: &Surface) -> Vec<u8> {
    let mut header = Header::new(frame.time);
    header.comment(&format!("body {} {}", surface.body, body_name(frame, surface)));
    header.element("vertex", surface.positions.len());
    header.properties("float", &["x", "y", "z", "vx", "vy", "vz"]);
    if !surface.pressures.is_empty() {
        header.properties("float", &["pressure"]);
    }
    header.element("face", surface.triangles.len());
    header.properties("list uchar uint", &["vertex_indices"]);
    let mut bytes = header.finish();
    for (i, (position, velocity)) in surface.positions.iter().zip(&surface.velocities).enumerate() {
        push_vector(&mut bytes, *position);
        push_vector(&mut bytes, *velocity);
        bytes.extend(surface.pressures.get(i).map(|p| p.to_le_bytes()).into_iter().flatten());
    }
    for corners in &surface.triangles {
        bytes.push(3);
        corners.iter().for_each(|corner| bytes.extend(corner.to_le_bytes()));
    }
    bytes
}

fn push_vector(bytes: &mut Vec<u8>, vector: Vec3) {
    vector.to_array().iter().for_each(|v| bytes.extend(v.to_le_bytes()));
}

/// The text at the beginning of a PLY file. Writing to a string does not fail, so results of `writeln!` are dropped.
struct Header(String);

impl Header {
    fn new(time: f64) -> Self {
        let mut header = Self("ply\nformat binary_little_endian 1.0\n".into());
        header.comment(&format!("Meniscus {PROGRAM_VERSION}, metres and seconds"));
        header.comment(&format!("time {time:?}"));
        header
    }

    /// A comment, with everything that is not printable ASCII escaped.
    fn comment(&mut self, text: &str) {
        let escape = |c: char| if matches!(c, ' '..='~') { c.to_string() } else { c.escape_default().to_string() };
        let _ = writeln!(self.0, "comment {}", text.chars().map(escape).collect::<String>());
    }

    fn element(&mut self, name: &str, count: usize) {
        let _ = writeln!(self.0, "element {name} {count}");
    }

    fn properties(&mut self, kind: &str, names: &[&str]) {
        for name in names {
            let _ = writeln!(self.0, "property {kind} {name}");
        }
    }

    fn finish(mut self) -> Vec<u8> {
        self.0.push_str("end_header\n");
        self.0.into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use meniscus_core::{BodyInfo, BodyKind};

    #[test]
    fn names_become_file_names_and_comments() {
        let bodies = vec![BodyInfo { name: "../Fußball 2\n".into(), kind: BodyKind::Wall, color: [0.0; 3] }];
        let frame = Frame { bodies, ..Frame::default() };
        let surface = Surface::default();
        assert_eq!(surface_name(&frame, &surface, 0), "00____Fu_ball_2_");
        assert_eq!(surface_name(&frame, &surface, 1), "00____Fu_ball_2_-2");
        let text = String::from_utf8(encode_surface(&frame, &surface)).unwrap();
        assert!(text.contains("comment body 0 ../Fu\\u{df}ball 2\\n\nelement vertex 0\n"), "{text}");
    }

    #[test]
    fn a_particle_takes_40_bytes() {
        let particles = Particles {
            ids: vec![7],
            bodies: vec![258],
            positions: vec![Vec3::X],
            velocities: vec![Vec3::Y],
            densities: vec![1000.0],
            pressures: vec![0.0],
            spacing: 0.1,
            spray: Vec::new(),
        };
        let bytes = encode_particles(0.5, &particles);
        let at = bytes.windows(11).position(|w| w == b"end_header\n").unwrap() + 11;
        assert_eq!(bytes.len() - at, 40);
        assert!(bytes.ends_with(&[7, 0, 0, 0, 2, 1, 0, 0]));
    }
}
