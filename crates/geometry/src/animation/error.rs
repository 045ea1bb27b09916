//! What an animation says when it cannot be used.

use std::path::PathBuf;

use super::{MAX_FRAMES, MAX_VERTICES};
use crate::{MeshError, MeshFileError};

/// An animation cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AnimationError {
    /// A file cannot be read.
    #[error(transparent)]
    File(#[from] MeshFileError),
    /// Its extension is not one of ours.
    #[error(
        "{}: unknown kind of animation; the name must end in .glb or .gltf, or be a sequence such as frame_####.obj \
         (.ply, .stl)",
        path.display()
    )]
    UnknownFormat {
        /// The file.
        path: PathBuf,
    },
    /// Something in a glTF file is wrong.
    #[error("{}: {error}", path.display())]
    Gltf {
        /// The file.
        path: PathBuf,
        /// What.
        error: GltfError,
    },
    /// A sequence has no `#` in its name, or two groups of them.
    #[error("{}: the file name of a sequence needs one `#` for each digit of the frame's number, as in frame_####.obj", path.display())]
    Pattern {
        /// The name as given.
        path: PathBuf,
    },
    /// A sequence has too few files or too many.
    #[error("{}: {count} files fit this name, but a sequence has 2 to {MAX_FRAMES}", path.display())]
    FrameCount {
        /// The name as given.
        path: PathBuf,
        /// Files found.
        count: usize,
    },
    /// A sequence has a gap.
    #[error("{}: frame {number} is missing", path.display())]
    MissingFrame {
        /// The name as given.
        path: PathBuf,
        /// The first number without a file.
        number: u64,
    },
    /// A frame has other triangles than the first.
    #[error("{}: {problem}; all frames of a sequence must have the same triangles as {}", path.display(), first.display())]
    Topology {
        /// The frame.
        path: PathBuf,
        /// The first frame.
        first: PathBuf,
        /// What differs.
        problem: String,
    },
    /// There are too many numbers.
    #[error(
        "the sequence has {frames} frames of {vertices} vertices; {} positions can be held",
        super::sequence::MAX_POSITIONS
    )]
    TooLong {
        /// Number of frames.
        frames: usize,
        /// Vertices per frame.
        vertices: usize,
    },
    /// A vertex comes to lie nowhere.
    #[error(
        "at {time} s of the file vertex {vertex} of `{part}` (counted from 0) is at {position}, which is not a place"
    )]
    NotFinite {
        /// Time in the file \[s\].
        time: f64,
        /// Number of the vertex, from 0.
        vertex: usize,
        /// Name of its mesh.
        part: String,
        /// Where it is \[m\].
        position: glam::DVec3,
    },
    /// What is played is not within what there is.
    #[error("the animation runs from {first} to {last} s: it cannot be played from {from} to {until} s")]
    Range {
        /// First time asked for \[s\].
        from: f64,
        /// Last time asked for \[s\].
        until: f64,
        /// First key \[s\].
        first: f64,
        /// Last key \[s\].
        last: f64,
    },
    /// An option makes no sense.
    #[error("`{what}` cannot be {value}")]
    Option {
        /// Which.
        what: &'static str,
        /// What was given.
        value: f64,
    },
    /// Its triangles make no mesh.
    #[error(transparent)]
    Mesh(#[from] MeshError),
}

/// Something in a glTF file is wrong.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GltfError {
    /// The container is not as it should be.
    #[error("not a glTF 2.0 file: {0}")]
    Container(String),
    /// The JSON in it is not as it should be.
    #[error("the JSON in it is not glTF: {0}")]
    Json(String),
    /// It needs an extension that we do not have.
    #[error("it needs the extension `{0}`, which is not supported; export it without")]
    Extension(String),
    /// Something names what is not there.
    #[error("{owner} uses {kind} {index}, but the file has {count}, numbered from 0")]
    Missing {
        /// Who names it.
        owner: String,
        /// What is named.
        kind: &'static str,
        /// Its number.
        index: usize,
        /// How many there are.
        count: usize,
    },
    /// A buffer cannot be had.
    #[error("buffer {buffer}: {problem}")]
    Buffer {
        /// Its number, from 0.
        buffer: usize,
        /// Why not.
        problem: String,
    },
    /// An accessor cannot be read.
    #[error("accessor {accessor}: {problem}")]
    Accessor {
        /// Its number, from 0.
        accessor: usize,
        /// Why not.
        problem: String,
    },
    /// A node is in two places or within itself.
    #[error("node {node}: {problem}")]
    Node {
        /// Its number, from 0.
        node: usize,
        /// What is wrong.
        problem: String,
    },
    /// A mesh does not fit itself or its skin.
    #[error("mesh {mesh}: {problem}")]
    Mesh {
        /// Its number, from 0.
        mesh: usize,
        /// What is wrong.
        problem: String,
    },
    /// Keys are no keys.
    #[error("animation {animation}, sampler {sampler}: {problem}")]
    Keys {
        /// Number of the animation, from 0.
        animation: usize,
        /// Number of the sampler, from 0.
        sampler: usize,
        /// What is wrong.
        problem: String,
    },
    /// Nothing moves.
    #[error("{0}")]
    NoMotion(String),
    /// No mesh is in the scene.
    #[error("no triangle is in the scene of this file")]
    NoTriangles,
    /// More than we take.
    #[error("its meshes have more than {MAX_VERTICES} {0}")]
    TooMany(&'static str),
}
