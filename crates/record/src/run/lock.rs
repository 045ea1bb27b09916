//! One writer at a time.
//!
//! Whoever writes into a run folder holds `run.lock`, which names its process. The operating system drops the lock of a
//! process that ends, however it ends: a file that nobody locks is left over and counts for nothing.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::{RunFolder, RunStatus};
use crate::error::{IoContext, RecordError, Result};

/// Somebody who only looks whether the file is locked holds it for a moment: asked so often, this is told from a writer.
const ATTEMPTS: u32 = 20;
const PAUSE: Duration = Duration::from_millis(10);

/// Tells the locks of one process apart.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// The right to write into a run folder, given back when it is dropped.
#[derive(Debug)]
pub struct RunLock {
    path: PathBuf,
    /// Open, and so locked, as long as this lives.
    _file: File,
}

impl Drop for RunLock {
    fn drop(&mut self) {
        // Removed while it is still ours; what cannot be removed is not locked, and so counts for nothing.
        let _ = fs::remove_file(&self.path);
    }
}

impl RunFolder {
    /// Takes the right to write into the folder. What a writer that was killed left behind is taken over.
    ///
    /// # Errors
    /// [`RecordError::Locked`] with the process that writes, [`RecordError::Io`] when the system refuses.
    pub fn lock(&self) -> Result<RunLock> {
        let path = self.lock_path();
        for _ in 0..ATTEMPTS {
            if let Some(file) = try_to_hold(&path).while_trying("lock", &path)? {
                return Ok(RunLock { path, _file: file });
            }
            std::thread::sleep(PAUSE);
        }
        Err(RecordError::Locked { dir: self.dir().to_path_buf(), process: process_in(&path) })
    }

    /// Whether a process writes into the folder now.
    #[must_use]
    pub fn is_at_work(&self) -> bool {
        File::open(self.lock_path()).is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }

    /// How far the run is: what run.json says, but [`RunStatus::BrokenOff`] for one at which nobody works any more.
    ///
    /// # Errors
    /// Those of [`RunFolder::info`].
    pub fn status(&self) -> Result<RunStatus> {
        match self.info()?.status {
            // A run that ends between the two looks is asked again.
            RunStatus::Running if !self.is_at_work() => Ok(match self.info()?.status {
                RunStatus::Running => RunStatus::BrokenOff,
                ended => ended,
            }),
            status => Ok(status),
        }
    }

    fn lock_path(&self) -> PathBuf {
        self.dir().join("run.lock")
    }
}

/// The locked file with our name in it; nothing while somebody else holds it.
fn try_to_hold(path: &Path) -> io::Result<Option<File>> {
    let mut file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => return Ok(None),
        // Where the system has no locks, the name in the file is all there is.
        Err(TryLockError::Error(_)) if process_in(path).is_some_and(is_alive) => return Ok(None),
        _ => {}
    }
    let ours = format!("{} {}\n", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    file.set_len(0)?;
    file.rewind()?;
    file.write_all(ours.as_bytes())?;
    // The file may have been removed by its last holder after we opened it: then somebody else can make a new one.
    // Where a locked file cannot be read, it cannot have been removed either.
    Ok(fs::read_to_string(path).map_or(cfg!(windows), |text| text == ours).then_some(file))
}

/// The process that a lock file names.
fn process_in(path: &Path) -> Option<u32> {
    let mut text = String::new();
    File::open(path).ok()?.take(64).read_to_string(&mut text).ok()?;
    text.split_whitespace().next()?.parse().ok()
}

/// Whether a process runs, where the system tells.
fn is_alive(process: u32) -> bool {
    Path::new("/proc").join(process.to_string()).exists()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RunInfo;

    fn folder() -> (tempfile::TempDir, RunFolder) {
        let out = tempfile::tempdir().unwrap();
        let run = RunFolder::create(out.path(), "a").unwrap();
        run.write_info(&RunInfo::start("a", "b")).unwrap();
        (out, run)
    }

    #[test]
    fn one_writer_at_a_time() {
        let (_out, run) = folder();
        let lock = run.lock().unwrap();
        let refused = run.lock().unwrap_err();
        assert!(refused.to_string().contains(&format!("process {}", std::process::id())), "{refused}");
        assert_eq!(run.status().unwrap(), RunStatus::Running);
        drop(lock);
        assert!(!run.lock_path().exists());
        assert_eq!(run.status().unwrap(), RunStatus::BrokenOff);
        drop(run.lock().unwrap());
    }

    #[test]
    fn what_a_killed_writer_left_counts_for_nothing() {
        let (_out, run) = folder();
        fs::write(run.lock_path(), "1 0\n").unwrap();
        assert!(!run.is_at_work());
        drop(run.lock().unwrap());
    }

    #[test]
    fn many_who_want_it_get_it_in_turn() {
        let (_out, run) = folder();
        let held = std::sync::atomic::AtomicU32::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        if let Ok(lock) = run.lock() {
                            assert_eq!(held.fetch_add(1, Ordering::SeqCst), 0, "two hold it");
                            held.fetch_sub(1, Ordering::SeqCst);
                            drop(lock);
                        }
                        let _ = run.is_at_work();
                    }
                });
            }
        });
    }
}
