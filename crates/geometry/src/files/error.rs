//! What a mesh file says when it cannot be read.

use std::fmt;
use std::path::PathBuf;

use crate::{LARGEST_COORDINATE, MeshError, TetMeshError};

/// A mesh file cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MeshFileError {
    /// The operating system does not hand it out.
    #[error("cannot read {}: {error}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why not.
        error: std::io::Error,
    },
    /// It is a folder, a pipe or a device.
    #[error("{} is not a file", path.display())]
    NotAFile {
        /// The path.
        path: PathBuf,
    },
    /// Its extension is not one of ours.
    #[error("{}: unknown kind of mesh file; the name must end in .obj, .stl or .ply", path.display())]
    UnknownFormat {
        /// The file.
        path: PathBuf,
    },
    /// Its extension is not one of ours for tetrahedra.
    #[error(
        "{}: unknown kind of tetrahedral mesh file; the name must end in .msh, .vtk, .vtu, .node or .ele", path.display()
    )]
    UnknownTetFormat {
        /// The file.
        path: PathBuf,
    },
    /// It is too large.
    #[error("{} has {bytes} bytes; the largest mesh file that can be read has {}", path.display(), super::LARGEST_FILE)]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Its size \[bytes\].
        bytes: u64,
    },
    /// Something in it is wrong.
    #[error("{}, {error}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// Where, and what.
        error: ParseError,
    },
}

/// Something in a mesh file is wrong: where, and what.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{place}: {problem}")]
pub struct ParseError {
    /// Where it is.
    pub place: Place,
    /// What it is.
    pub problem: Problem,
}

/// A place in a mesh file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Place {
    /// Nowhere in particular.
    File,
    /// A line of text, from 1.
    Line(usize),
    /// So many bytes after the beginning.
    Byte(usize),
    /// A vertex of a binary file, from 0.
    Vertex(usize),
    /// A face of a binary file, from 0.
    Face(usize),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File => write!(f, "the file as a whole"),
            Self::Line(number) => write!(f, "line {number}"),
            Self::Byte(offset) => write!(f, "byte {offset}"),
            Self::Vertex(number) => write!(f, "vertex {number} (counted from 0)"),
            Self::Face(number) => write!(f, "face {number} (counted from 0)"),
        }
    }
}

/// What is wrong at a place in a mesh file.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// Something else should stand here.
    #[error("expected {expected}, found `{found}`")]
    Expected {
        /// What should stand here.
        expected: &'static str,
        /// What stands here, cut short.
        found: String,
    },
    /// Nothing of the format has been seen yet: it may be any file, and what stands in it is nobody's business.
    #[error("expected {expected}, found something else: this seems to be another kind of file")]
    OtherKind {
        /// What should stand here.
        expected: &'static str,
    },
    /// Something does not follow: the line or the file ends too early.
    #[error("{expected} should follow, but nothing does")]
    Ends {
        /// What should follow.
        expected: &'static str,
    },
    /// More is announced than the file can hold.
    #[error("{count} {what} are announced, which take at least {needed} bytes, but only {left} follow")]
    Announced {
        /// What is announced.
        what: String,
        /// How many.
        count: u64,
        /// How much they take at least \[bytes\].
        needed: u128,
        /// How much there is \[bytes\].
        left: usize,
    },
    /// A face uses a vertex that does not exist.
    #[error("a face uses vertex {index}, but the file has {vertices} vertices, numbered from {first}")]
    Index {
        /// The number that the face uses, as written.
        index: i64,
        /// Number of vertices in the file.
        vertices: usize,
        /// Number of the first vertex in this kind of file.
        first: u8,
    },
    /// A tetrahedron uses a node that does not exist.
    #[error("a tetrahedron uses node {number}, which the file does not have")]
    Node {
        /// The number of the node, as written.
        number: i64,
    },
    /// A tetrahedron has a face that two others have already.
    #[error("a face of tetrahedron {tet} (counted from 0) belongs to two others already")]
    CrowdedFace {
        /// Number of the tetrahedron, from 0.
        tet: usize,
    },
    /// A tetrahedron overlaps a neighbour.
    #[error(
        "tetrahedron {tet} (counted from 0) overlaps another: both lie on the same side of the face that they share"
    )]
    Folded {
        /// Number of the tetrahedron, from 0.
        tet: usize,
    },
    /// A coordinate is infinite, not a number or absurdly large.
    #[error("the coordinate {value} is not finite or beyond {LARGEST_COORDINATE:e} m")]
    Coordinate {
        /// The coordinate, in the unit of the file.
        value: f64,
    },
    /// The unit of length makes no sense.
    #[error("the scale must be positive and finite, not {scale}")]
    Scale {
        /// What was given \[m\].
        scale: f64,
    },
    /// Too many bytes.
    #[error("{bytes} bytes are too many for a mesh file")]
    TooLarge {
        /// How many.
        bytes: usize,
    },
    /// What was read is no mesh.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// What was read is no mesh of tetrahedra.
    #[error(transparent)]
    Tets(#[from] TetMeshError),
}

impl Problem {
    /// `expected` should stand where `found` stands.
    pub(super) fn expected(expected: &'static str, found: &[u8]) -> Self {
        const LONGEST: usize = 40;
        let mut text: String = String::from_utf8_lossy(found).chars().take(LONGEST + 1).collect();
        if text.chars().count() > LONGEST {
            text = text.chars().take(LONGEST).chain("…".chars()).collect();
        }
        Self::Expected { expected, found: text.escape_debug().to_string() }
    }

    pub(super) fn at(self, place: Place) -> ParseError {
        ParseError { place, problem: self }
    }
}

impl ParseError {
    /// The same without a word of the file.
    pub(super) fn without_echo(self) -> Self {
        match self.problem {
            Problem::Expected { expected, .. } => Problem::OtherKind { expected }.at(self.place),
            problem => problem.at(self.place),
        }
    }
}
