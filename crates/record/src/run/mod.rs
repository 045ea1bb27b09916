//! The folder of a run.
//!
//! ```text
//! run.json                              what was run, by which program, how far it came
//! scene.toml                            the scene as it was given
//! assets/                               the files that the scene names
//! frames/frame_00000.mnf                what the viewer, the pictures and the exporters read
//! checkpoints/checkpoint_00000.mnc      whole states, numbered by frame
//! checkpoints/stopped.mnc               the state at which a run was asked to stop, between two frames
//! probes.csv                            numbers over time
//! commands.jsonl                        what was done live
//! input.jsonl                           commands that were to be repeated, done or not yet
//! run.log                               how it went, a line per frame
//! run.lock                              there while a process writes, and names it
//! frame_0000.png                        pictures
//! ```

mod clock;
mod info;
mod lock;
mod names;
mod resume;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use meniscus_core::Frame;
use serde_json::Value;

pub use clock::rfc3339_utc;
pub use info::{Branch, RUN_FORMAT, RunFailure, RunInfo, RunStatus, StageTiming};
pub use lock::RunLock;
use names::{CHECKPOINT, FRAME, PICTURE, asset_path, check_scene_name, refuse_links};
pub use resume::CheckpointSearch;

use crate::atomic::{remove_strays, sync_folder, try_writing_in, write_atomic};
use crate::checkpoint::{CheckpointHeader, encode_checkpoint};
use crate::error::{FileKind, IoContext, RecordError, Result};
use crate::frame::{check_frame, decode_frame, encode_frame};
use crate::rows::{CommandWriter, ProbeWriter, sync_rows};

const FRAMES: &str = "frames";
const CHECKPOINTS: &str = "checkpoints";
const ASSETS: &str = "assets";

/// The folder of a run. Cheap to clone: it holds nothing but the path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunFolder {
    dir: PathBuf,
}

/// Making and opening.
impl RunFolder {
    /// Makes the folder `parent/scene_name`, or with the suffix -2, -3, … the first that does not exist.
    ///
    /// # Errors
    /// [`RecordError::BadName`] when the scene's name cannot be a folder, [`RecordError::NotWritable`] when no folder
    /// can be made.
    pub fn create(parent: impl AsRef<Path>, scene_name: &str) -> Result<Self> {
        let parent = parent.as_ref();
        check_scene_name(scene_name)?;
        fs::create_dir_all(parent).map_err(|e| not_writable(parent, e))?;
        for number in 1u64.. {
            let suffix = if number == 1 { String::new() } else { format!("-{number}") };
            let dir = parent.join(format!("{scene_name}{suffix}"));
            match fs::create_dir(&dir) {
                Ok(()) => return Self::furnish(dir),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(not_writable(&dir, error)),
            }
        }
        Err(RecordError::FolderNotEmpty { dir: parent.join(scene_name) })
    }

    /// Makes a run folder exactly here. An empty folder that exists is taken.
    ///
    /// # Errors
    /// [`RecordError::FolderNotEmpty`], [`RecordError::NotAFolder`] or [`RecordError::NotWritable`].
    pub fn create_at(dir: impl AsRef<Path>) -> Result<Self> {
        let dir = dir.as_ref();
        if dir.exists() && !dir.is_dir() {
            return Err(RecordError::NotAFolder { dir: dir.to_path_buf() });
        }
        fs::create_dir_all(dir).map_err(|e| not_writable(dir, e))?;
        if fs::read_dir(dir).map_err(|e| not_writable(dir, e))?.next().is_some() {
            return Err(RecordError::FolderNotEmpty { dir: dir.to_path_buf() });
        }
        Self::furnish(dir.to_path_buf())
    }

    fn furnish(dir: PathBuf) -> Result<Self> {
        try_writing_in(&dir).map_err(|e| not_writable(&dir, e))?;
        for name in [FRAMES, CHECKPOINTS] {
            fs::create_dir(dir.join(name)).map_err(|e| not_writable(&dir, e))?;
        }
        sync_folder(&dir)?;
        if let Some(parent) = dir.parent().filter(|p| !p.as_os_str().is_empty()) {
            sync_folder(parent)?;
        }
        Ok(Self { dir })
    }

    /// Opens the folder of a run that was begun, and removes what a kill has left half written.
    ///
    /// # Errors
    /// [`RecordError::NoSuchFolder`], [`RecordError::NotAFolder`], [`RecordError::NotARun`],
    /// [`RecordError::MalformedRun`], [`RecordError::IncompatibleRun`] or [`RecordError::Link`].
    pub fn open(dir: impl AsRef<Path>) -> Result<Self> {
        let dir = dir.as_ref().to_path_buf();
        if !dir.exists() {
            return Err(RecordError::NoSuchFolder { dir });
        }
        if !dir.is_dir() {
            return Err(RecordError::NotAFolder { dir });
        }
        let run = Self { dir };
        refuse_links(&run.dir)?;
        run.info()?;
        remove_strays(&run.dir);
        Ok(run)
    }
}

/// Where things are.
impl RunFolder {
    /// The folder itself.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// `run.json`
    #[must_use]
    pub fn info_path(&self) -> PathBuf {
        self.dir.join("run.json")
    }

    /// `scene.toml`
    #[must_use]
    pub fn scene_path(&self) -> PathBuf {
        self.dir.join("scene.toml")
    }

    /// `assets/<name>`; the name may hold folders.
    ///
    /// # Errors
    /// [`RecordError::BadName`] for a name that leads out of the folder.
    pub fn asset_path(&self, name: &str) -> Result<PathBuf> {
        asset_path(&self.dir.join(ASSETS), name)
    }

    /// `frames/frame_00050.mnf`
    #[must_use]
    pub fn frame_path(&self, number: u32) -> PathBuf {
        self.dir.join(FRAMES).join(FRAME.of(number))
    }

    /// `checkpoints/checkpoint_00050.mnc`
    #[must_use]
    pub fn checkpoint_path(&self, frame: u32) -> PathBuf {
        self.dir.join(CHECKPOINTS).join(CHECKPOINT.of(frame))
    }

    /// `frame_0050.png`
    #[must_use]
    pub fn picture_path(&self, number: u32) -> PathBuf {
        self.dir.join(PICTURE.of(number))
    }

    /// `probes.csv`
    #[must_use]
    pub fn probes_path(&self) -> PathBuf {
        self.dir.join("probes.csv")
    }

    /// `commands.jsonl`
    #[must_use]
    pub fn commands_path(&self) -> PathBuf {
        self.dir.join("commands.jsonl")
    }

    /// `input.jsonl`
    #[must_use]
    pub fn input_path(&self) -> PathBuf {
        self.dir.join("input.jsonl")
    }

    /// `run.log`
    #[must_use]
    pub fn log_path(&self) -> PathBuf {
        self.dir.join("run.log")
    }

    /// `checkpoints/stopped.mnc`
    #[must_use]
    pub fn stop_path(&self) -> PathBuf {
        self.dir.join(CHECKPOINTS).join("stopped.mnc")
    }

    /// `<scene>.gif`
    ///
    /// # Errors
    /// [`RecordError::BadName`] for a name that cannot be a file everywhere, or leads out of the folder.
    pub fn film_path(&self, scene: &str) -> Result<PathBuf> {
        check_scene_name(scene)?;
        Ok(self.dir.join(format!("{scene}.gif")))
    }

    /// Numbers of the frames, ascending.
    ///
    /// # Errors
    /// [`RecordError::Io`] when the folder cannot be read.
    pub fn frame_numbers(&self) -> Result<Vec<u32>> {
        FRAME.numbers_in(&self.dir.join(FRAMES))
    }

    /// Numbers of the pictures, ascending.
    ///
    /// # Errors
    /// [`RecordError::Io`] when the folder cannot be read.
    pub fn picture_numbers(&self) -> Result<Vec<u32>> {
        PICTURE.numbers_in(&self.dir)
    }

    /// Frames at which there are checkpoints, ascending, whether they are sound or not.
    ///
    /// # Errors
    /// [`RecordError::Io`] when the folder cannot be read.
    pub fn checkpoint_numbers(&self) -> Result<Vec<u32>> {
        CHECKPOINT.numbers_in(&self.dir.join(CHECKPOINTS))
    }
}

/// Reading and writing. Everything that is written whole is written [atomically](write_atomic).
impl RunFolder {
    /// Reads run.json as it is now.
    ///
    /// # Errors
    /// [`RecordError::NotARun`], [`RecordError::MalformedRun`], [`RecordError::IncompatibleRun`] or [`RecordError::Io`].
    pub fn info(&self) -> Result<RunInfo> {
        let path = self.info_path();
        let bytes = match fs::read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(RecordError::NotARun { dir: self.dir.clone() });
            }
            result => result.while_trying("read", &path)?,
        };
        let malformed = |e: serde_json::Error| RecordError::MalformedRun { path: path.clone(), reason: e.to_string() };
        let format: Value = serde_json::from_slice(&bytes).map_err(malformed)?;
        // The version first: another one may have other keys.
        match format.get("format").and_then(Value::as_u64) {
            Some(RUN_FORMAT) | None => {
                let info: RunInfo = serde_json::from_slice(&bytes).map_err(malformed)?;
                // Files are named after the scene, and whoever made this file may be a stranger.
                let bad = |e: RecordError| RecordError::MalformedRun { path: path.clone(), reason: e.to_string() };
                check_scene_name(&info.scene).map_err(bad)?;
                Ok(info)
            }
            Some(other) => Err(self.incompatible(&format, other)),
        }
    }

    fn incompatible(&self, info: &Value, format: u64) -> RecordError {
        let program = info.get("program").and_then(Value::as_str).unwrap_or("of an unknown version").into();
        RecordError::IncompatibleRun { dir: self.dir.clone(), program, format }
    }

    /// Writes run.json.
    ///
    /// # Errors
    /// [`RecordError::BadName`] when files cannot be named after the scene, [`RecordError::Io`] when the system refuses.
    pub fn write_info(&self, info: &RunInfo) -> Result<()> {
        check_scene_name(&info.scene)?;
        let path = self.info_path();
        let mut text = serde_json::to_string_pretty(info).map_err(io::Error::other).while_trying("write", &path)?;
        text.push('\n');
        write_atomic(path, text.as_bytes())
    }

    /// Reads scene.toml.
    ///
    /// # Errors
    /// [`RecordError::Io`] when the file is missing, is not text or cannot be read.
    pub fn scene(&self) -> Result<String> {
        let path = self.scene_path();
        fs::read_to_string(&path).while_trying("read", &path)
    }

    /// Writes scene.toml.
    ///
    /// # Errors
    /// [`RecordError::Io`] when the system refuses.
    pub fn write_scene(&self, text: &str) -> Result<()> {
        write_atomic(self.scene_path(), text.as_bytes())
    }

    /// Writes a file under assets/ and returns its path.
    ///
    /// # Errors
    /// [`RecordError::BadName`] for a name that leads out of the folder, [`RecordError::Io`] when the system refuses.
    pub fn write_asset(&self, name: &str, bytes: &[u8]) -> Result<PathBuf> {
        let path = self.asset_path(name)?;
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).while_trying("make the folder", folder)?;
        }
        write_atomic(&path, bytes)?;
        for folder in path.ancestors().skip(2).take_while(|folder| folder.starts_with(&self.dir)) {
            sync_folder(folder)?;
        }
        Ok(path)
    }

    /// Reads a frame.
    ///
    /// # Errors
    /// [`RecordError::Io`] when it cannot be read, [`RecordError::InFile`] when it is damaged.
    pub fn read_frame(&self, number: u32) -> Result<Frame> {
        let path = self.frame_path(number);
        let bytes = fs::read(&path).while_trying("read", &path)?;
        let frame = decode_frame(&bytes).map_err(|e| e.in_file(&path))?;
        if frame.number != number {
            return Err(misnamed(FileKind::Frame, frame.number).in_file(&path));
        }
        Ok(frame)
    }

    /// Writes a frame under its number and returns its path.
    ///
    /// # Errors
    /// [`RecordError::BadFrame`] when it contradicts itself, [`RecordError::Io`] when the system refuses.
    pub fn write_frame(&self, frame: &Frame) -> Result<PathBuf> {
        check_frame(frame)?;
        let path = self.frame_path(frame.number);
        write_atomic(&path, &encode_frame(frame))?;
        Ok(path)
    }

    /// Writes a checkpoint under its frame and returns its path. The rows that it counts on are forced to the disk first.
    ///
    /// # Errors
    /// [`RecordError::Io`] when the system refuses.
    pub fn write_checkpoint(&self, header: &CheckpointHeader, payload: &[u8]) -> Result<PathBuf> {
        let path = self.write_state(self.checkpoint_path(header.frame), header, payload)?;
        // It is older than this.
        remove(&self.stop_path())?;
        Ok(path)
    }

    /// Writes the state at which a run is stopped between two frames, and returns its path. The next checkpoint removes it.
    ///
    /// # Errors
    /// [`RecordError::Io`] when the system refuses.
    pub fn write_stop(&self, header: &CheckpointHeader, payload: &[u8]) -> Result<PathBuf> {
        self.write_state(self.stop_path(), header, payload)
    }

    fn write_state(&self, path: PathBuf, header: &CheckpointHeader, payload: &[u8]) -> Result<PathBuf> {
        sync_rows(&self.probes_path())?;
        sync_rows(&self.commands_path())?;
        write_atomic(&path, &encode_checkpoint(header, payload))?;
        Ok(path)
    }

    /// Writes input.jsonl: the commands that a run repeats, so that one that is broken off still knows those to come.
    ///
    /// # Errors
    /// [`RecordError::Io`] when the system refuses.
    pub fn write_input(&self, commands: &[Value]) -> Result<()> {
        let text: String = commands.iter().map(|command| format!("{command}\n")).collect();
        write_atomic(self.input_path(), text.as_bytes())
    }

    /// Opens probes.csv to append to.
    ///
    /// # Errors
    /// See [`ProbeWriter::open`].
    pub fn probe_writer(&self, columns: &[impl AsRef<str>]) -> Result<ProbeWriter> {
        ProbeWriter::open(self.probes_path(), columns)
    }

    /// Opens commands.jsonl to append to.
    ///
    /// # Errors
    /// See [`CommandWriter::open`].
    pub fn command_writer(&self) -> Result<CommandWriter> {
        CommandWriter::open(self.commands_path())
    }
}

fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result.while_trying("remove", path),
    }
}

/// A file of another frame under this name: somebody renamed it.
fn misnamed(kind: FileKind, frame: u32) -> RecordError {
    RecordError::Corrupt { kind, reason: format!("it belongs to frame {frame}, not to the frame in its name") }
}

fn not_writable(dir: &Path, source: io::Error) -> RecordError {
    RecordError::NotWritable { dir: dir.to_path_buf(), source }
}
