//! Frames to bytes and back, bit for bit.
//!
//! A frame file is an envelope (magic, version, length, checksum) round a list of named, typed arrays. Particles,
//! surfaces and wires are arrays over all of them; how many belong to each surface or wire is an array too.

mod check;
mod section;
mod shuffle;

use std::fmt;

use glam::Vec3;
use meniscus_core::{BodyInfo, BodyKind, Foam, Frame, Particles, Surface, Wall, WallShape, Wire};
use serde::de::IntoDeserializer;
use serde::de::value::Error as UnknownVariant;
use serde::{Deserialize, Serialize};

pub use check::FrameFault;
pub(crate) use check::check_frame;
use check::{MAX_BODIES, MAX_PARTS};
use section::{SectionWriter, Sections};

use crate::envelope::Envelope;
use crate::error::{FileKind, Result};

/// Version of the frame format that this program writes and reads.
pub const FRAME_FORMAT: u32 = 1;

const ENVELOPE: Envelope = Envelope { kind: FileKind::Frame, magic: *b"\x89MNF\r\n\x1a\n", version: FRAME_FORMAT };

/// A frame as the bytes of a frame file: lossless, compressed, checksummed.
///
/// Any frame can be encoded; one that contradicts itself (see [`FrameFault`]) is refused by [`decode_frame`].
#[must_use]
pub fn encode_frame(frame: &Frame) -> Vec<u8> {
    let mut out = SectionWriter::default();
    out.put("frame/number", &[frame.number]);
    out.put("frame/time", &[frame.time]);
    out.put("frame/step", &[frame.step]);
    put_bodies(&mut out, &frame.bodies);
    put_particles(&mut out, &frame.particles);
    put_surfaces(&mut out, &frame.surfaces);
    put_wires(&mut out, &frame.wires);
    put_walls(&mut out, &frame.walls);
    let mut bytes = ENVELOPE.begin();
    out.append_to(&mut bytes);
    Envelope::seal(bytes)
}

/// The frame in the bytes of a frame file.
///
/// Memory is taken only for what the bytes can hold: at most 255 times their number, what LZ4 reaches at best.
///
/// # Errors
/// Tells apart what is not a frame file, has another version, is cut off, is damaged, or contradicts itself.
pub fn decode_frame(bytes: &[u8]) -> Result<Frame> {
    let sections = Sections::read(ENVELOPE.open(bytes)?)?;
    let frame = Frame {
        number: sections.get_one("frame/number")?,
        time: sections.get_one("frame/time")?,
        step: sections.get_one("frame/step")?,
        bodies: get_bodies(&sections)?,
        particles: get_particles(&sections)?,
        surfaces: get_surfaces(&sections)?,
        wires: get_wires(&sections)?,
        walls: get_walls(&sections)?,
        foam: Foam::default(),
    };
    check_frame(&frame)?;
    Ok(frame)
}

/// The name of a kind as serde spells it, so that files say "liquid" and not a number.
struct KindName(BodyKind);

impl fmt::Display for KindName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.serialize(f)
    }
}

fn kind_from_name(name: &str) -> Result<BodyKind> {
    BodyKind::deserialize(name.into_deserializer())
        .map_err(|_: UnknownVariant| FrameFault::UnknownKind { kind: name.into() }.into())
}

fn put_bodies(out: &mut SectionWriter, bodies: &[BodyInfo]) {
    let kinds: Vec<String> = bodies.iter().map(|b| KindName(b.kind).to_string()).collect();
    let colors: Vec<[f32; 3]> = bodies.iter().map(|b| b.color).collect();
    out.put_texts("bodies/names", bodies.iter().map(|b| b.name.as_str()));
    out.put_texts("bodies/kinds", kinds.iter().map(String::as_str));
    out.put("bodies/colors", &colors);
}

fn get_bodies(sections: &Sections) -> Result<Vec<BodyInfo>> {
    let names = sections.get_texts("bodies/names", MAX_BODIES)?;
    let kinds = sections.get_texts("bodies/kinds", MAX_BODIES)?;
    let colors = sections.get::<[f32; 3]>("bodies/colors")?;
    check::same_length("bodies/kinds", kinds.len(), names.len())?;
    check::same_length("bodies/colors", colors.len(), names.len())?;
    let kinds = kinds.iter().map(|k| kind_from_name(k)).collect::<Result<Vec<_>>>()?;
    let body = |((name, kind), color)| BodyInfo { name, kind, color };
    Ok(names.into_iter().zip(kinds).zip(colors).map(body).collect())
}

fn put_particles(out: &mut SectionWriter, particles: &Particles) {
    out.put("particles/spacing", &[particles.spacing]);
    out.put("particles/ids", &particles.ids);
    out.put("particles/bodies", &particles.bodies);
    out.put("particles/positions", &particles.positions);
    out.put("particles/velocities", &particles.velocities);
    out.put("particles/densities", &particles.densities);
    out.put("particles/pressures", &particles.pressures);
    out.put("particles/spray", &particles.spray.iter().map(|&alone| u8::from(alone)).collect::<Vec<_>>());
}

fn get_particles(sections: &Sections) -> Result<Particles> {
    Ok(Particles {
        spacing: sections.get_one("particles/spacing")?,
        ids: sections.get("particles/ids")?,
        bodies: sections.get("particles/bodies")?,
        positions: sections.get("particles/positions")?,
        velocities: sections.get("particles/velocities")?,
        densities: sections.get("particles/densities")?,
        pressures: sections.get("particles/pressures")?,
        spray: sections.get_if_there::<u8>("particles/spray")?.into_iter().map(|alone| alone != 0).collect(),
    })
}

fn put_surfaces(out: &mut SectionWriter, surfaces: &[Surface]) {
    let counts = |count: fn(&Surface) -> usize| surfaces.iter().map(|s| count(s) as u64).collect::<Vec<_>>();
    out.put("surfaces/bodies", &surfaces.iter().map(|s| s.body).collect::<Vec<_>>());
    out.put("surfaces/positions/counts", &counts(|s| s.positions.len()));
    out.put("surfaces/velocities/counts", &counts(|s| s.velocities.len()));
    out.put("surfaces/triangles/counts", &counts(|s| s.triangles.len()));
    out.put("surfaces/positions", &concat(surfaces, |s| &s.positions));
    out.put("surfaces/velocities", &concat(surfaces, |s| &s.velocities));
    out.put("surfaces/triangles", &concat(surfaces, |s| &s.triangles));
    if surfaces.iter().any(|s| !s.pressures.is_empty()) {
        out.put("surfaces/pressures/counts", &counts(|s| s.pressures.len()));
        out.put("surfaces/pressures", &concat(surfaces, |s| &s.pressures));
    }
}

fn get_surfaces(sections: &Sections) -> Result<Vec<Surface>> {
    let bodies = sections.get::<u16>("surfaces/bodies")?;
    check::at_most("surfaces", bodies.len(), MAX_PARTS)?;
    let mut positions = Parts::<Vec3>::get(sections, "surfaces/positions", bodies.len())?;
    let mut velocities = Parts::<Vec3>::get(sections, "surfaces/velocities", bodies.len())?;
    let mut triangles = Parts::<[u32; 3]>::get(sections, "surfaces/triangles", bodies.len())?;
    let mut pressures = Parts::<f32>::get_if_there(sections, "surfaces/pressures", bodies.len())?;
    let surface = |body| {
        Ok(Surface {
            body,
            positions: positions.next()?,
            velocities: velocities.next()?,
            pressures: pressures.next()?,
            triangles: triangles.next()?,
        })
    };
    let surfaces = bodies.into_iter().map(surface).collect::<Result<Vec<_>>>()?;
    positions.finish()?;
    velocities.finish()?;
    pressures.finish()?;
    triangles.finish()?;
    Ok(surfaces)
}

fn put_wires(out: &mut SectionWriter, wires: &[Wire]) {
    out.put("wires/bodies", &wires.iter().map(|w| w.body).collect::<Vec<_>>());
    out.put("wires/segments/counts", &wires.iter().map(|w| w.segments.len() as u64).collect::<Vec<_>>());
    out.put("wires/segments", &concat(wires, |w| &w.segments));
}

fn get_wires(sections: &Sections) -> Result<Vec<Wire>> {
    let bodies = sections.get::<u16>("wires/bodies")?;
    check::at_most("wires", bodies.len(), MAX_PARTS)?;
    let mut segments = Parts::<[Vec3; 2]>::get(sections, "wires/segments", bodies.len())?;
    let wire = |body| Ok(Wire { body, segments: segments.next()? });
    let wires = bodies.into_iter().map(wire).collect::<Result<Vec<_>>>()?;
    segments.finish()?;
    Ok(wires)
}

fn put_walls(out: &mut SectionWriter, walls: &[Wall]) {
    // A vessel is a plane without direction.
    let plane = |wall: &Wall| match wall.shape {
        WallShape::Plane { point, normal } => [point, normal],
        _ => [Vec3::ZERO; 2],
    };
    out.put("walls/bodies", &walls.iter().map(|w| w.body).collect::<Vec<_>>());
    out.put("walls/planes", &walls.iter().map(plane).collect::<Vec<_>>());
}

fn get_walls(sections: &Sections) -> Result<Vec<Wall>> {
    let bodies = sections.get_if_there::<u16>("walls/bodies")?;
    let planes = sections.get_if_there::<[Vec3; 2]>("walls/planes")?;
    check::same_length("walls/planes", planes.len(), bodies.len())?;
    let shape = |[point, normal]: [Vec3; 2]| match normal {
        Vec3::ZERO => WallShape::Vessel,
        normal => WallShape::Plane { point, normal },
    };
    Ok(bodies.into_iter().zip(planes).map(|(body, plane)| Wall { body, shape: shape(plane) }).collect())
}

fn concat<O, T: Copy>(owners: &[O], part: impl Fn(&O) -> &Vec<T>) -> Vec<T> {
    owners.iter().flat_map(|o| part(o).iter().copied()).collect()
}

/// An array over all owners, dealt out to them by their counts.
struct Parts<T> {
    name: &'static str,
    rows: Vec<T>,
    dealt: usize,
    counts: std::vec::IntoIter<u64>,
}

impl<T: section::Row> Parts<T> {
    fn get(sections: &Sections, name: &'static str, owners: usize) -> Result<Self> {
        let counts = sections.get::<u64>(&format!("{name}/counts"))?;
        check::same_length(name, counts.len(), owners)?;
        Ok(Self { name, rows: sections.get(name)?, dealt: 0, counts: counts.into_iter() })
    }

    /// None for every owner where the array is not there.
    fn get_if_there(sections: &Sections, name: &'static str, owners: usize) -> Result<Self> {
        let counts = sections.get_if_there::<u64>(&format!("{name}/counts"))?;
        if counts.is_empty() {
            let rows = sections.get_if_there(name)?;
            return Ok(Self { name, rows, dealt: 0, counts: vec![0; owners].into_iter() });
        }
        Self::get(sections, name, owners)
    }

    fn next(&mut self) -> Result<Vec<T>> {
        let count = self.counts.next().unwrap_or(0);
        let end = usize::try_from(count).ok().and_then(|count| self.dealt.checked_add(count));
        let part = end.and_then(|end| self.rows.get(self.dealt..end)).map(<[T]>::to_vec);
        let (Some(part), Some(end)) = (part, end) else {
            return Err(FrameFault::Counts { array: self.name, rows: self.rows.len() }.into());
        };
        self.dealt = end;
        Ok(part)
    }

    fn finish(self) -> Result<()> {
        if self.dealt == self.rows.len() {
            return Ok(());
        }
        Err(FrameFault::Counts { array: self.name, rows: self.rows.len() }.into())
    }
}
