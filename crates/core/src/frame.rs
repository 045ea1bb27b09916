//! The read-only copy of a world that travels downstream.

use glam::Vec3;
use serde::{Deserialize, Serialize};

/// The world at one instant. Lengths in metres, times in seconds, velocities in m/s.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Frame {
    /// Number of the frame; frame `n` shows the time `n / fps`.
    pub number: u32,
    /// Simulated time \[s\].
    pub time: f64,
    /// Steps taken since the start.
    pub step: u64,
    /// The bodies that particles, surfaces and wires refer to by index.
    pub bodies: Vec<BodyInfo>,
    /// All particles, in id order.
    pub particles: Particles,
    /// Triangle surfaces.
    pub surfaces: Vec<Surface>,
    /// Line drawings: tanks, nozzles, regions.
    pub wires: Vec<Wire>,
    /// Walls as the surface of a liquid meets them; frames of older records have none.
    #[serde(default)]
    pub walls: Vec<Wall>,
    /// Foam, bubbles and fine drops, where somebody has looked for them: they are made of the frames of a run, and records have none.
    #[serde(default)]
    pub foam: Foam,
}

/// Name and look of a body.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BodyInfo {
    /// Its name in the scene file.
    pub name: String,
    /// What it is.
    pub kind: BodyKind,
    /// Red, green, blue in 0..1 (sRGB).
    pub color: [f32; 3],
}

/// Kinds of bodies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum BodyKind {
    /// Particles of a liquid.
    Liquid,
    /// A wall that does not answer.
    Wall,
    /// An opening through which liquid comes.
    Nozzle,
    /// A deformable solid or a rigid body.
    Solid,
}

/// Particles as arrays of equal length, in id order.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Particles {
    /// Stable ids, ascending; an id is never used again.
    pub ids: Vec<u32>,
    /// Index into [`Frame::bodies`].
    pub bodies: Vec<u16>,
    /// Positions \[m\].
    pub positions: Vec<Vec3>,
    /// Velocities \[m/s\].
    pub velocities: Vec<Vec3>,
    /// Densities \[kg/m³\].
    pub densities: Vec<f32>,
    /// Pressures \[Pa\].
    pub pressures: Vec<f32>,
    /// Distance between particles at rest \[m\]; a particle is drawn as a sphere of half this size.
    pub spacing: f32,
    /// Which particles fly alone and belong to no surface; empty where nobody has looked.
    #[serde(default)]
    pub spray: Vec<bool>,
}

impl Particles {
    /// Number of particles.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }
}

/// A triangle surface with a velocity at each vertex, and a pressure at those of a liquid.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Surface {
    /// Index into [`Frame::bodies`].
    pub body: u16,
    /// Vertices \[m\].
    pub positions: Vec<Vec3>,
    /// Velocities of the vertices \[m/s\].
    pub velocities: Vec<Vec3>,
    /// Pressures at the vertices \[Pa\]; empty where there are none.
    pub pressures: Vec<f32>,
    /// Triangles, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
}

/// What a liquid has white, as arrays of equal length, in id order.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Foam {
    /// Stable ids, ascending; an id is never used again in a run.
    pub ids: Vec<u32>,
    /// The liquid that each belongs to: index into [`Frame::bodies`].
    pub bodies: Vec<u16>,
    /// What each is now.
    pub kinds: Vec<FoamKind>,
    /// Positions \[m\].
    pub positions: Vec<Vec3>,
    /// Velocities \[m/s\].
    pub velocities: Vec<Vec3>,
    /// How large each is drawn: a diameter \[m\].
    pub size: f32,
}

impl Foam {
    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }
}

/// Kinds of what is white in a liquid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FoamKind {
    /// A fine drop in the air.
    Spray,
    /// Air at the surface.
    Foam,
    /// Air below it.
    Bubble,
}

/// A wall, where it is now.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Wall {
    /// Index into [`Frame::bodies`].
    pub body: u16,
    /// Where the liquid ends.
    pub shape: WallShape,
}

/// Where the liquid ends at a wall.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum WallShape {
    /// A plane without end; a tank has one for each of its sides.
    Plane {
        /// A point of it \[m\].
        point: Vec3,
        /// Unit normal into the liquid.
        normal: Vec3,
    },
    /// Liquid is inside of the surface of this body only.
    Vessel,
}

/// The tetrahedra of a soft body. Not part of a frame: a world shows them to who asks.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tets {
    /// Index into [`Frame::bodies`].
    pub body: u16,
    /// Nodes \[m\].
    pub positions: Vec<Vec3>,
    /// Corners of the tetrahedra.
    pub corners: Vec<[u32; 4]>,
}

/// Line segments of a body that is drawn as an outline.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Wire {
    /// Index into [`Frame::bodies`].
    pub body: u16,
    /// Pairs of end points \[m\].
    pub segments: Vec<[Vec3; 2]>,
}
