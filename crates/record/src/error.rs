//! What can go wrong between memory and disk.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::frame::FrameFault;

/// Version of the program that writes and reads these files.
pub const PROGRAM_VERSION: &str = env!("CARGO_PKG_VERSION");

/// The result of everything in this crate.
pub type Result<T> = std::result::Result<T, RecordError>;

/// Files with a format of our own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileKind {
    /// `frames/frame_00000.mnf`
    Frame,
    /// `checkpoints/checkpoint_00000.mnc`
    Checkpoint,
}

impl fmt::Display for FileKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Frame => "frame",
            Self::Checkpoint => "checkpoint",
        })
    }
}

/// Why a record could not be written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// The operating system refused.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried, as a verb.
        action: &'static str,
        /// On which file or folder.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// The folder of a run does not exist.
    #[error("there is no folder {}", dir.display())]
    NoSuchFolder {
        /// The folder asked for.
        dir: PathBuf,
    },
    /// A path that should be a folder is something else.
    #[error("{} is not a folder", dir.display())]
    NotAFolder {
        /// The path asked for.
        dir: PathBuf,
    },
    /// The folder exists but holds no run.
    #[error("{} holds no run: there is no run.json in it", dir.display())]
    NotARun {
        /// The folder asked for.
        dir: PathBuf,
    },
    /// run.json is not what it should be.
    #[error("{} is malformed: {reason}", path.display())]
    MalformedRun {
        /// The file.
        path: PathBuf,
        /// What is wrong with it, with line and column where they are known.
        reason: String,
    },
    /// The run was made by a version whose files this one cannot read.
    #[error(
        "{} was made by Meniscus {program} with record format {format}; this is Meniscus {PROGRAM_VERSION} with format {}: \
         open it with that version, or run the scene again",
        dir.display(), crate::run::RUN_FORMAT
    )]
    IncompatibleRun {
        /// The folder of the run.
        dir: PathBuf,
        /// The program that made it.
        program: String,
        /// The record format it used.
        format: u64,
    },
    /// A run is not written over another.
    #[error("the folder {} is not empty: choose another, or remove it first", dir.display())]
    FolderNotEmpty {
        /// The folder asked for.
        dir: PathBuf,
    },
    /// The folder for a run cannot be made or written in.
    #[error("cannot write in the folder {}: {source}", dir.display())]
    NotWritable {
        /// The folder asked for.
        dir: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// Somebody else writes into the folder.
    #[error("{} is being written{}: wait for it, or stop it", dir.display(), process.map(|id| format!(" by process {id}")).unwrap_or_default())]
    Locked {
        /// The folder of the run.
        dir: PathBuf,
        /// The process that writes, if it is known.
        process: Option<u32>,
    },
    /// A link in a run folder that would lead writers out of it.
    #[error("{} is a link that leads out of the run folder: put what it points to in its place", path.display())]
    Link {
        /// The link.
        path: PathBuf,
    },
    /// A file that a run writes has been removed or changed by somebody else.
    #[error("{} was removed or changed by somebody else while the run wrote it", path.display())]
    Meddled {
        /// The file.
        path: PathBuf,
    },
    /// A name that cannot be used as a file, a column or an array.
    #[error("{name:?} cannot be the name of {what}: {reason}")]
    BadName {
        /// What was to be named, such as "a run folder".
        what: &'static str,
        /// The name.
        name: String,
        /// Why not.
        reason: &'static str,
    },
    /// The first bytes are not those of the format.
    #[error("this is not a {kind} file")]
    NotThisKind {
        /// The format expected.
        kind: FileKind,
    },
    /// The file has a format version that this program does not know.
    #[error(
        "the {kind} has format version {found}, this program reads version {supported}: use the Meniscus that wrote it, \
         or run the scene again"
    )]
    OtherFormat {
        /// The format.
        kind: FileKind,
        /// The version in the file.
        found: u32,
        /// The version that this program reads.
        supported: u32,
    },
    /// The state in a checkpoint belongs to another version of the program.
    #[error(
        "the checkpoint was made by Meniscus {found}, this is {PROGRAM_VERSION}: resume with Meniscus {found}, or run the scene \
         again from the start"
    )]
    OtherProgram {
        /// The version that made the checkpoint.
        found: String,
    },
    /// The file ends too early.
    #[error("the {kind} is cut off: it has {found} of {expected} bytes")]
    Truncated {
        /// The format.
        kind: FileKind,
        /// Length that the file should have \[bytes\].
        expected: u64,
        /// Length that it has \[bytes\].
        found: u64,
    },
    /// The contents do not agree with their checksum or with the format.
    #[error("the {kind} is damaged: {reason}")]
    Corrupt {
        /// The format.
        kind: FileKind,
        /// What does not agree.
        reason: String,
    },
    /// A frame that contradicts itself.
    #[error("the frame is inconsistent: {0}")]
    BadFrame(#[from] FrameFault),
    /// An error inside a file, with the file's path.
    #[error("{}: {source}", path.display())]
    InFile {
        /// The file.
        path: PathBuf,
        /// What is wrong in it.
        source: Box<RecordError>,
    },
    /// A row file has fewer rows than the checkpoint says.
    #[error("{} has {found} rows, the checkpoint needs {needed}", path.display())]
    RowsMissing {
        /// The row file.
        path: PathBuf,
        /// Rows in it.
        found: u64,
        /// Rows that it should have at least.
        needed: u64,
    },
    /// The columns of probes.csv are not those that are to be written.
    #[error("{} has the columns {found:?}, not {expected:?}", path.display())]
    OtherColumns {
        /// The row file.
        path: PathBuf,
        /// Its header row.
        found: String,
        /// The header row expected.
        expected: String,
    },
    /// A row that cannot be read back.
    #[error("{}, line {line}: {reason}", path.display())]
    BadRow {
        /// The row file.
        path: PathBuf,
        /// Line, counted from 1.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// A row or an array with another number of values than its columns or points.
    #[error("{what} has {found} values instead of {expected}")]
    WrongLength {
        /// The row or array.
        what: String,
        /// Values it should have.
        expected: usize,
        /// Values it has.
        found: usize,
    },
    /// A mesh refers to a point that does not exist.
    #[error("a cell refers to point {index} of {points}")]
    PointOutOfRange {
        /// The index.
        index: u64,
        /// Number of points.
        points: usize,
    },
}

impl RecordError {
    /// Whether asking for something else would help: the wrong folder or name rather than a damaged file or a failing disk.
    /// The command line then ends with status 2.
    #[must_use]
    pub fn is_usage(&self) -> bool {
        matches!(
            self,
            Self::NoSuchFolder { .. }
                | Self::NotAFolder { .. }
                | Self::NotARun { .. }
                | Self::MalformedRun { .. }
                | Self::IncompatibleRun { .. }
                | Self::FolderNotEmpty { .. }
                | Self::NotWritable { .. }
                | Self::Locked { .. }
                | Self::Link { .. }
                | Self::BadName { .. }
        )
    }

    pub(crate) fn in_file(self, path: &Path) -> Self {
        match self {
            // These name their file already.
            Self::Io { .. } | Self::InFile { .. } => self,
            other => Self::InFile { path: path.to_path_buf(), source: Box::new(other) },
        }
    }
}

/// Names action and path in the errors of the file system.
pub(crate) trait IoContext<T> {
    fn while_trying(self, action: &'static str, path: &Path) -> Result<T>;
}

impl<T> IoContext<T> for io::Result<T> {
    fn while_trying(self, action: &'static str, path: &Path) -> Result<T> {
        self.map_err(|source| RecordError::Io { action, path: path.to_path_buf(), source })
    }
}

/// A file that was passed over, and why.
#[derive(Debug)]
pub struct Skipped {
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it.
    pub reason: RecordError,
}
