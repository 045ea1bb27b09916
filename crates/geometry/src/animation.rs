//! Meshes that move by themselves: constant triangles, vertices over time.
//!
//! An [`Animation`] comes from a film animator's program: a glTF file with skins, morph targets and moving nodes, or a
//! sequence of OBJ, PLY or STL files. It is read and checked once, its vertices welded where the file splits them, and
//! then posed at any time without asking for memory:
//!
//! ```no_run
//! use meniscus_geometry::animation::{AnimationOptions, Pose, read_animation};
//!
//! let hand = read_animation("hand.glb", &AnimationOptions::default())?;
//! let mut pose = Pose::default();
//! hand.pose(0.5, &mut pose);
//! assert_eq!(pose.positions().len(), hand.vertex_count());
//! # Ok::<(), meniscus_geometry::animation::AnimationError>(())
//! ```
//!
//! Time in a file is τ, time in a scene t: τ = from + speed (t − start), kept within \[from, until\], repeated
//! [`cycles`](Playback::cycles) times. A position in a file is x, in a scene position + rotation (scale · axes(x)).

mod error;
mod gltf;
mod holes;
mod options;
mod seams;
mod sequence;

use std::path::Path;

use glam::{DAffine3, DVec3};

use crate::{Aabb, MeshFileError, TriangleMesh};

pub use error::{AnimationError, GltfError};
pub use gltf::parse_glb;
pub use options::{AnimationOptions, JointKey, JointKeys, Playback};

use gltf::rig::Rig;
use sequence::Frames;

/// Frames that are looked at for jumps, and files of a sequence, at most.
pub const MAX_FRAMES: usize = 100_000;
/// Vertices of an animation before welding, at most.
pub const MAX_VERTICES: usize = 1 << 24;

/// On how many sides a surface is wetted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wetting {
    /// Closed: a body with an inside.
    Closed,
    /// Open: a shell with fluid on both sides.
    Shell,
}

/// A named stretch of the triangles: a mesh of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Name of its mesh or node in the file.
    pub name: String,
    /// Its triangles, counted from 0.
    pub triangles: std::ops::Range<usize>,
}

/// A vertex that moves too far within a frame.
#[derive(Debug, Clone, PartialEq)]
pub struct Jump {
    /// The frame at whose end it has moved, from 1.
    pub frame: usize,
    /// Time at the beginning of the move \[s\].
    pub time: f64,
    /// Number of the vertex, from 0.
    pub vertex: usize,
    /// Name of its mesh in the file.
    pub part: String,
    /// How far it moves \[m\].
    pub distance: f64,
}

/// Where vertices come from.
#[derive(Debug, Clone)]
enum Source {
    Rig(Box<Rig>),
    Frames(Frames),
}

/// A mesh of constant triangles whose vertices move.
#[derive(Debug, Clone)]
pub struct Animation {
    triangles: Vec<[u32; 3]>,
    parts: Vec<Part>,
    source: Source,
    playback: Playback,
    /// First and last time that is played, in the file's own time \[s\].
    range: [f64; 2],
    /// From the file's coordinates to ours.
    placement: DAffine3,
    /// How it is carried along while it is played \[m/s\].
    velocity: DVec3,
    wetting: Wetting,
    warnings: Vec<String>,
}

/// The vertices at a time, with what is needed to find them: reuse it, and posing asks for no memory.
#[derive(Debug, Clone, Default)]
pub struct Pose {
    positions: Vec<DVec3>,
    work: gltf::rig::Work,
}

impl Pose {
    /// Vertices \[m\].
    #[must_use]
    pub fn positions(&self) -> &[DVec3] {
        &self.positions
    }
}

/// Reads an animation: glTF (`.glb`, `.gltf`), or a sequence of meshes whose name holds `#` for each digit of the
/// frame's number, `frame_####.obj`.
///
/// # Errors
/// Names the file, the place in it, and what would be right.
pub fn read_animation(path: impl AsRef<Path>, options: &AnimationOptions) -> Result<Animation, AnimationError> {
    let path = path.as_ref();
    options.check()?;
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase();
    match extension.as_str() {
        "glb" | "gltf" => gltf::read(path, options),
        "obj" | "ply" | "stl" => sequence::read(path, options),
        _ => Err(AnimationError::UnknownFormat { path: path.into() }),
    }
}

/// Reads a file by its name, as a scene names it.
pub type ReadFile<'a> = dyn Fn(&str) -> std::io::Result<Vec<u8>> + 'a;

/// The same from files that `read` finds: buffers of a glTF file beside it or below its folder, frames of a sequence by their numbers,
/// which must be less than [`MAX_FRAMES`].
///
/// # Errors
/// Names the file, the place in it, and what would be right.
pub fn load_animation(
    file: &str,
    options: &AnimationOptions,
    read: &ReadFile<'_>,
) -> Result<Animation, AnimationError> {
    options.check()?;
    let extension = Path::new(file).extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase();
    match extension.as_str() {
        "glb" | "gltf" => gltf::load(file, options, read),
        "obj" | "ply" | "stl" => sequence::load(file, options, read),
        _ => Err(AnimationError::UnknownFormat { path: file.into() }),
    }
}

fn read_named(file: &str, read: &ReadFile<'_>) -> Result<Vec<u8>, AnimationError> {
    read(file).map_err(|error| MeshFileError::Read { path: file.into(), error }.into())
}

/// What a reader has found, before it is welded, placed and judged.
struct Found {
    source: Source,
    triangles: Vec<[u32; 3]>,
    parts: Vec<Part>,
    /// First and last key \[s\].
    range: [f64; 2],
    warnings: Vec<String>,
}

impl Animation {
    fn new(found: Found, options: &AnimationOptions) -> Result<Self, AnimationError> {
        let Found { source, triangles, parts, range, warnings } = found;
        let mut animation = Self {
            triangles,
            parts,
            source,
            range: options.playback.range_within(range)?,
            playback: options.playback.clone(),
            placement: options.affine(),
            velocity: options.velocity,
            wetting: Wetting::Shell,
            warnings,
        };
        animation.weld()?;
        animation.judge(options.wetting)?;
        Ok(animation)
    }

    /// The triangles, counter-clockwise seen from outside where the surface is closed. They never change.
    #[must_use]
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// Named stretches of the triangles, in order.
    #[must_use]
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// Number of vertices.
    #[must_use]
    pub fn vertex_count(&self) -> usize {
        match &self.source {
            Source::Rig(rig) => rig.vertex_count(),
            Source::Frames(frames) => frames.vertex_count(),
        }
    }

    /// Closed or shell: found, or as the options wish.
    #[must_use]
    pub fn wetting(&self) -> Wetting {
        self.wetting
    }

    /// What a user should know about the file.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Length of one cycle as it is played \[s\].
    #[must_use]
    pub fn duration(&self) -> f64 {
        (self.range[1] - self.range[0]) / self.playback.speed
    }

    /// When the motion begins and ends in a scene \[s\]; the end of one that repeats for ever is infinite.
    #[must_use]
    pub fn moving(&self) -> [f64; 2] {
        let start = self.playback.start;
        [start, start + self.playback.cycles * self.duration()]
    }

    /// Puts the vertices where they are at a time of the scene \[s\].
    pub fn pose(&self, time: f64, pose: &mut Pose) {
        let [start, end] = self.moving();
        let carried = self.velocity * (time.clamp(start, end) - start);
        let placement = DAffine3 { translation: self.placement.translation + carried, ..self.placement };
        self.pose_at(self.playback.time_in_file(time, self.range), &placement, pose);
    }

    /// The pose at a time of the file \[s\], before anything is carried along.
    fn pose_in_file(&self, time: f64, pose: &mut Pose) {
        self.pose_at(time, &self.placement, pose);
    }

    fn pose_at(&self, time: f64, placement: &DAffine3, pose: &mut Pose) {
        match &self.source {
            Source::Rig(rig) => rig.pose(time, placement, &mut pose.work, &mut pose.positions),
            Source::Frames(frames) => frames.pose(time, placement, &mut pose.positions),
        }
    }

    /// The mesh at a time of the scene \[s\]. Triangles that are flat at that time stay: their numbers never change.
    #[must_use]
    pub fn mesh_at(&self, time: f64) -> TriangleMesh {
        let mut pose = Pose::default();
        self.pose(time, &mut pose);
        TriangleMesh::trusted(pose.positions, self.triangles.clone())
    }

    /// One part of the surface at a time of the scene \[s\], alone.
    #[must_use]
    pub fn part_at(&self, name: &str, time: f64) -> Option<TriangleMesh> {
        let part = self.parts.iter().find(|part| part.name == name)?;
        let mesh = self.mesh_at(time);
        TriangleMesh::from_soup(mesh.vertices().to_vec(), self.triangles[part.triangles.clone()].to_vec()).ok()
    }

    /// The smallest box around the surface over `frames` poses of a cycle, not carried along \[m\].
    #[must_use]
    pub fn bounds(&self, frames: usize) -> Aabb {
        let mut pose = Pose::default();
        let mut all = Aabb::EMPTY;
        for time in self.sample_times(frames) {
            self.pose_in_file(time, &mut pose);
            all = all.union(&Aabb::around(pose.positions.iter().copied()));
        }
        all
    }

    /// Evenly spaced times of one cycle in the file, both ends included \[s\].
    fn sample_times(&self, count: usize) -> impl Iterator<Item = f64> + use<> {
        let [from, until] = self.range;
        let last = count.max(2) - 1;
        (0..=last).map(move |n| from + (until - from) * n as f64 / last as f64)
    }

    /// In every frame of so many seconds: the vertex that moves farthest, if that is farther than `limit` \[m\]. A cycle
    /// that does not end where it began jumps too.
    #[must_use]
    pub fn jumps(&self, limit: f64, seconds_per_frame: f64) -> Vec<Jump> {
        let cycles = if self.playback.cycles > 1.0 { 2.0_f64.min(self.playback.cycles) } else { self.playback.cycles };
        let frames = (cycles * self.duration() / seconds_per_frame).ceil().clamp(1.0, MAX_FRAMES as f64) as usize;
        let [mut before, mut after] = [Pose::default(), Pose::default()];
        let mut found = Vec::new();
        self.pose(self.playback.start, &mut before);
        for frame in 1..=frames {
            let time = self.playback.start + (frame - 1) as f64 * seconds_per_frame;
            self.pose(time + seconds_per_frame, &mut after);
            let moves = before.positions.iter().zip(&after.positions).map(|(a, b)| a.distance(*b));
            let farthest = moves.enumerate().fold((0, 0.0), |best, next| if next.1 > best.1 { next } else { best });
            if farthest.1 > limit {
                let (vertex, distance) = farthest;
                found.push(Jump { frame, time, vertex, part: self.part_of(vertex), distance });
            }
            std::mem::swap(&mut before, &mut after);
        }
        found
    }

    fn part_of(&self, vertex: usize) -> String {
        let uses = |t: &[u32; 3]| t.contains(&(vertex as u32));
        let triangle = self.triangles.iter().position(uses).unwrap_or_default();
        let part = self.parts.iter().find(|part| part.triangles.contains(&triangle));
        part.map(|part| part.name.clone()).unwrap_or_default()
    }
}
