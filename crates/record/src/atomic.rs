//! Files that are never half written.
//!
//! A file is written under a temporary name in the folder where it belongs, forced to the disk, renamed over its final
//! name, and the folder is forced to the disk. A kill or a power cut at any moment leaves the old file, the new file,
//! or a stray temporary, never a torn file. [`RunFolder::open`](crate::RunFolder::open) removes stray temporaries.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{IoContext, RecordError, Result};
use crate::faults;

const TEMPORARY_PREFIX: &str = ".meniscus-";
const TEMPORARY_SUFFIX: &str = ".partial";

/// A sweep that comes between making and locking a temporary takes it for a stray; the writer then starts over.
const ATTEMPTS: u32 = 8;

/// Makes temporary names differ within the process; the process id makes them differ between processes.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// Writes a whole file so that it is either there with all its bytes or not there at all, even after a power cut.
///
/// # Errors
/// [`RecordError::BadName`] when `path` ends in no file name, [`RecordError::Io`] when the system refuses; then the old
/// file, if there was one, is untouched.
pub fn write_atomic(path: impl AsRef<Path>, bytes: &[u8]) -> Result<()> {
    let path = path.as_ref();
    let folder = folder_of(path)?;
    for _ in 0..ATTEMPTS {
        let (temporary, _locked) = write_temporary(folder, bytes).while_trying("write", path)?;
        match faults::before().and_then(|()| fs::rename(&temporary, path)) {
            Ok(()) => return sync_folder(folder),
            Err(_) if !temporary.exists() => {}
            Err(error) => {
                // The rename error is what the caller must hear of, whatever becomes of the temporary.
                let _ = fs::remove_file(&temporary);
                return Err(error).while_trying("write", path);
            }
        }
    }
    Err(io::Error::other("its temporary file disappears again and again")).while_trying("write", path)
}

fn folder_of(path: &Path) -> Result<&Path> {
    if path.file_name().is_none() {
        let (what, reason) = ("a file", "it ends in no file name");
        return Err(RecordError::BadName { what, name: path.display().to_string(), reason });
    }
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => Ok(parent),
        _ => Ok(Path::new(".")),
    }
}

/// The temporary with all its bytes on the disk. While its file is open it is locked: it is no stray.
fn write_temporary(folder: &Path, bytes: &[u8]) -> io::Result<(PathBuf, File)> {
    let (path, file) = create_temporary(folder)?;
    match faults::write_all(&file, bytes).and_then(|()| file.sync_all()) {
        Ok(()) => Ok((path, file)),
        Err(error) => {
            // The write error is what the caller must hear of, whatever becomes of the temporary.
            let _ = fs::remove_file(&path);
            Err(error)
        }
    }
}

fn create_temporary(folder: &Path) -> io::Result<(PathBuf, File)> {
    loop {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = folder.join(format!("{TEMPORARY_PREFIX}{}-{number}{TEMPORARY_SUFFIX}", std::process::id()));
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            // A stray temporary of a dead process with our id: take the next number.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
            Ok(file) => {
                // Where the system has no locks, starting over is the only protection.
                let _ = file.try_lock();
                return Ok((path, file));
            }
        }
    }
}

/// Whether files can be made in a folder, found out by making one.
pub(crate) fn try_writing_in(folder: &Path) -> io::Result<()> {
    let (path, _) = create_temporary(folder)?;
    fs::remove_file(path)
}

/// Removes what killed writers left in a folder and below. What cannot be removed stays: nobody reads it.
pub(crate) fn remove_strays(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            remove_strays(&entry.path());
        } else if is_temporary(&entry.file_name().to_string_lossy()) && !is_being_written(&entry.path()) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// The system drops the lock of a writer that is killed.
fn is_being_written(temporary: &Path) -> bool {
    File::open(temporary).is_ok_and(|file| matches!(file.try_lock(), Err(TryLockError::WouldBlock)))
}

fn is_temporary(name: &str) -> bool {
    name.starts_with(TEMPORARY_PREFIX) && name.ends_with(TEMPORARY_SUFFIX)
}

/// Forces the names in a folder to the disk.
#[cfg(unix)]
pub(crate) fn sync_folder(folder: &Path) -> Result<()> {
    use io::ErrorKind::{InvalidInput, PermissionDenied, Unsupported};
    match File::open(folder).and_then(|f| f.sync_all()) {
        // Some network file systems cannot sync a folder, and a folder may be writable but not readable.
        Err(error) if matches!(error.kind(), InvalidInput | PermissionDenied | Unsupported) => Ok(()),
        result => result.while_trying("sync", folder),
    }
}

/// Here the system offers no way to force names to the disk.
#[cfg(not(unix))]
pub(crate) fn sync_folder(_: &Path) -> Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<_> =
            fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn replaces_the_old_file_and_leaves_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.bin");
        write_atomic(&path, b"old").unwrap();
        write_atomic(&path, b"new and longer").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new and longer");
        assert_eq!(names(folder.path()), ["a.bin"]);
    }

    #[test]
    fn a_failed_rename_keeps_the_old_and_removes_the_temporary() {
        let folder = tempfile::tempdir().unwrap();
        let taken = folder.path().join("taken");
        fs::create_dir(&taken).unwrap();
        fs::write(taken.join("inside"), b"x").unwrap();
        assert!(matches!(write_atomic(&taken, b"bytes"), Err(RecordError::Io { action: "write", .. })));
        assert_eq!(names(folder.path()), ["taken"]);
    }

    #[test]
    fn refuses_paths_without_a_file_name_and_folders_that_are_not_there() {
        assert!(matches!(write_atomic("..", b""), Err(RecordError::BadName { .. })));
        let folder = tempfile::tempdir().unwrap();
        let error = write_atomic(folder.path().join("no/such/a.bin"), b"").unwrap_err();
        assert!(error.to_string().contains("a.bin"), "{error}");
    }

    #[test]
    fn only_our_temporaries_are_strays() {
        let folder = tempfile::tempdir().unwrap();
        for name in [".meniscus-1-0.partial", "meniscus-1-0.partial", ".hidden", "frame_0001.png"] {
            fs::write(folder.path().join(name), b"x").unwrap();
        }
        remove_strays(folder.path());
        assert_eq!(names(folder.path()), [".hidden", "frame_0001.png", "meniscus-1-0.partial"]);
    }

    #[test]
    fn a_writer_outlives_the_sweeping_of_its_temporaries() {
        let folder = tempfile::tempdir().unwrap();
        let stop = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    remove_strays(folder.path());
                    std::thread::sleep(std::time::Duration::from_millis(1));
                }
            });
            for n in 0..200u32 {
                write_atomic(folder.path().join("n"), &n.to_le_bytes()).unwrap();
            }
            stop.store(true, Ordering::Relaxed);
        });
        assert_eq!(fs::read(folder.path().join("n")).unwrap(), 199u32.to_le_bytes());
    }
}
