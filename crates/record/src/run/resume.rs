//! Finding the state to resume from, and removing what was written after it.

use std::fs;
use std::path::{Path, PathBuf};

use super::{CHECKPOINTS, FRAMES, RunFolder, misnamed, remove};
use crate::atomic::sync_folder;
use crate::checkpoint::{Checkpoint, CheckpointHeader, decode_checkpoint};
use crate::error::{FileKind, IoContext, Result, Skipped};
use crate::rows::{cut_rows, read_probes, require_rows};

/// What a search for a checkpoint brought.
#[derive(Debug)]
pub struct CheckpointSearch {
    /// The newest sound checkpoint.
    pub found: Option<Checkpoint>,
    /// Newer ones that cannot be used, newest first.
    pub skipped: Vec<Skipped>,
}

impl RunFolder {
    /// Reads the checkpoint of a frame.
    ///
    /// # Errors
    /// [`Io`](crate::RecordError::Io) when it cannot be read, [`InFile`](crate::RecordError::InFile) when it cannot be used.
    pub fn read_checkpoint(&self, frame: u32) -> Result<Checkpoint> {
        let path = self.checkpoint_path(frame);
        let checkpoint = read_state(&path)?;
        match checkpoint.header.frame {
            found if found != frame => Err(misnamed(FileKind::Checkpoint, found).in_file(&path)),
            _ => Ok(checkpoint),
        }
    }

    /// The newest checkpoint that can be used, and the newer ones that cannot.
    ///
    /// # Errors
    /// [`Io`](crate::RecordError::Io) when the folder cannot be read.
    pub fn latest_checkpoint(&self) -> Result<CheckpointSearch> {
        self.checkpoint_at_or_before(u32::MAX)
    }

    /// The newest checkpoint at or before a frame that can be used, and the newer ones of these that cannot.
    ///
    /// # Errors
    /// [`Io`](crate::RecordError::Io) when the folder cannot be read.
    pub fn checkpoint_at_or_before(&self, frame: u32) -> Result<CheckpointSearch> {
        let mut skipped = Vec::new();
        // It is newer than all others while it is there, and leads to the frame after its own.
        if self.stop_path().exists() {
            match read_state(&self.stop_path()) {
                Ok(stop) if stop.header.frame < frame => {
                    return Ok(CheckpointSearch { found: Some(stop), skipped });
                }
                Ok(_) => {}
                Err(reason) => skipped.push(Skipped { path: self.stop_path(), reason }),
            }
        }
        for number in self.checkpoint_numbers()?.into_iter().rev().filter(|&n| n <= frame) {
            match self.read_checkpoint(number) {
                Ok(checkpoint) => return Ok(CheckpointSearch { found: Some(checkpoint), skipped }),
                Err(reason) => skipped.push(Skipped { path: self.checkpoint_path(number), reason }),
            }
        }
        Ok(CheckpointSearch { found: None, skipped })
    }

    /// What is missing or damaged of the frames up to and with `last`, and of the probes: all of it lies before the moment
    /// from which a run goes on, so that resuming does not write it anew.
    #[must_use]
    pub fn damage_up_to(&self, last: u32) -> Vec<Skipped> {
        let mut damaged = Vec::new();
        for number in 0..=last {
            if let Err(reason) = self.read_frame(number) {
                damaged.push(Skipped { path: self.frame_path(number), reason });
            }
        }
        if let Err(reason) = read_probes(self.probes_path()) {
            damaged.push(Skipped { path: self.probes_path(), reason });
        }
        damaged
    }

    /// Takes the folder back to the moment of a checkpoint: removes later checkpoints, frames and pictures and cuts the
    /// rows of probes.csv and commands.jsonl, so that resuming writes what an unbroken run would have written. Writers
    /// of rows must be opened again afterwards.
    ///
    /// A kill on the way leaves a folder from which the same or a later checkpoint can still be resumed.
    ///
    /// # Errors
    /// [`RowsMissing`](crate::RecordError::RowsMissing) when rows are gone that the checkpoint counts on (then nothing was
    /// changed), [`Io`](crate::RecordError::Io) when the system refuses.
    pub fn rewind_to(&self, header: &CheckpointHeader) -> Result<()> {
        require_rows(&self.probes_path(), 1, header.probes_rows)?;
        require_rows(&self.commands_path(), 0, header.commands_rows)?;
        if read_state(&self.stop_path()).map_or(true, |stop| stop.header.step > header.step) {
            remove(&self.stop_path())?;
        }
        let later = |numbers: Vec<u32>| numbers.into_iter().rev().filter(|&n| n > header.frame);
        // Checkpoints first and from the last: while one is there, the rows that it counts on are there too.
        remove_all(later(self.checkpoint_numbers()?).map(|n| self.checkpoint_path(n)))?;
        sync_folder(&self.dir().join(CHECKPOINTS))?;
        cut_rows(&self.probes_path(), 1, header.probes_rows)?;
        cut_rows(&self.commands_path(), 0, header.commands_rows)?;
        remove_all(later(self.frame_numbers()?).map(|n| self.frame_path(n)))?;
        remove_all(later(self.picture_numbers()?).map(|n| self.picture_path(n)))?;
        sync_folder(&self.dir().join(FRAMES))?;
        sync_folder(self.dir())
    }
}

fn read_state(path: &Path) -> Result<Checkpoint> {
    let bytes = fs::read(path).while_trying("read", path)?;
    let (header, payload) = decode_checkpoint(&bytes).map_err(|e| e.in_file(path))?;
    Ok(Checkpoint { header, payload: payload.to_vec() })
}

fn remove_all(paths: impl Iterator<Item = PathBuf>) -> Result<()> {
    paths.into_iter().try_for_each(|path| remove(&path))
}
