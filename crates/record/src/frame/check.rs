//! What must hold in every frame, on the way in and on the way out.

use meniscus_core::{Frame, Particles, Surface};

/// Bodies are referred to by 16 bits.
pub(super) const MAX_BODIES: usize = 1 << 16;

/// Surfaces, and wires, in one frame: keeps hostile files from asking for endless empty ones.
pub(super) const MAX_PARTS: usize = 1 << 16;

/// How a frame can contradict itself.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FrameFault {
    /// Arrays over the same things differ in length.
    #[error("{array} has {found} entries instead of {expected}")]
    Lengths {
        /// The array.
        array: &'static str,
        /// Entries it should have.
        expected: usize,
        /// Entries it has.
        found: usize,
    },
    /// The counts of the parts do not add up to the whole.
    #[error("the counts of {array} do not add up to its {rows} rows")]
    Counts {
        /// The array.
        array: &'static str,
        /// Its rows.
        rows: usize,
    },
    /// More of something than a frame may hold.
    #[error("{found} {what}, the most is {limit}")]
    TooMany {
        /// What there are too many of.
        what: &'static str,
        /// How many there may be.
        limit: usize,
        /// How many there are.
        found: usize,
    },
    /// Something belongs to a body that is not there.
    #[error("{what} {index} belongs to body {body} of {bodies}")]
    BodyOutOfRange {
        /// "particle", "surface", "wire" or "wall".
        what: &'static str,
        /// Its index in its array.
        index: usize,
        /// The body it names.
        body: u16,
        /// Number of bodies.
        bodies: usize,
    },
    /// A triangle has a corner that is not there.
    #[error("triangle {triangle} of surface {surface} has the corner {corner} of {vertices}")]
    CornerOutOfRange {
        /// Index of the surface in the frame.
        surface: usize,
        /// Index of the triangle in the surface.
        triangle: usize,
        /// The corner it names.
        corner: u32,
        /// Number of vertices.
        vertices: usize,
    },
    /// Particles are not in the order of their ids, or two have the same.
    #[error("the ids of the particles do not ascend at particle {index}")]
    IdsNotAscending {
        /// The first particle whose id is not above the one before.
        index: usize,
    },
    /// A kind of body that this version does not know.
    #[error("a body is of the kind {kind:?}, which Meniscus {} does not know", crate::PROGRAM_VERSION)]
    UnknownKind {
        /// The kind in the file.
        kind: String,
    },
}

/// Finds the first contradiction in a frame.
pub(crate) fn check_frame(frame: &Frame) -> Result<(), FrameFault> {
    let bodies = frame.bodies.len();
    at_most("bodies", bodies, MAX_BODIES)?;
    at_most("surfaces", frame.surfaces.len(), MAX_PARTS)?;
    at_most("wires", frame.wires.len(), MAX_PARTS)?;
    at_most("walls", frame.walls.len(), MAX_PARTS)?;
    check_particles(&frame.particles)?;
    for (s, surface) in frame.surfaces.iter().enumerate() {
        check_surface(s, surface)?;
    }
    check_bodies("particle", frame.particles.bodies.iter().copied(), bodies)?;
    check_bodies("surface", frame.surfaces.iter().map(|s| s.body), bodies)?;
    check_bodies("wire", frame.wires.iter().map(|w| w.body), bodies)?;
    check_bodies("wall", frame.walls.iter().map(|w| w.body), bodies)
}

fn check_particles(particles: &Particles) -> Result<(), FrameFault> {
    let count = particles.ids.len();
    same_length("particles/bodies", particles.bodies.len(), count)?;
    same_length("particles/positions", particles.positions.len(), count)?;
    same_length("particles/velocities", particles.velocities.len(), count)?;
    same_length("particles/densities", particles.densities.len(), count)?;
    same_length("particles/pressures", particles.pressures.len(), count)?;
    if !particles.spray.is_empty() {
        same_length("particles/spray", particles.spray.len(), count)?;
    }
    match particles.ids.windows(2).position(|pair| pair[0] >= pair[1]) {
        Some(before) => Err(FrameFault::IdsNotAscending { index: before + 1 }),
        None => Ok(()),
    }
}

fn check_surface(s: usize, surface: &Surface) -> Result<(), FrameFault> {
    let vertices = surface.positions.len();
    same_length("surfaces/velocities", surface.velocities.len(), vertices)?;
    if !surface.pressures.is_empty() {
        same_length("surfaces/pressures", surface.pressures.len(), vertices)?;
    }
    for (triangle, corners) in surface.triangles.iter().enumerate() {
        if let Some(&corner) = corners.iter().find(|&&c| c as usize >= vertices) {
            return Err(FrameFault::CornerOutOfRange { surface: s, triangle, corner, vertices });
        }
    }
    Ok(())
}

fn check_bodies(what: &'static str, owners: impl Iterator<Item = u16>, bodies: usize) -> Result<(), FrameFault> {
    match owners.enumerate().find(|&(_, body)| usize::from(body) >= bodies) {
        Some((index, body)) => Err(FrameFault::BodyOutOfRange { what, index, body, bodies }),
        None => Ok(()),
    }
}

pub(super) fn same_length(array: &'static str, found: usize, expected: usize) -> Result<(), FrameFault> {
    if found == expected { Ok(()) } else { Err(FrameFault::Lengths { array, expected, found }) }
}

pub(super) fn at_most(what: &'static str, found: usize, limit: usize) -> Result<(), FrameFault> {
    if found <= limit { Ok(()) } else { Err(FrameFault::TooMany { what, limit, found }) }
}
