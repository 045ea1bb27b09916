//! Names of files in a run folder.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use crate::error::{IoContext, RecordError, Result};

/// A family of numbered files.
pub(super) struct Numbered {
    prefix: &'static str,
    digits: usize,
    suffix: &'static str,
}

pub(super) const FRAME: Numbered = Numbered { prefix: "frame_", digits: 5, suffix: ".mnf" };
pub(super) const CHECKPOINT: Numbered = Numbered { prefix: "checkpoint_", digits: 5, suffix: ".mnc" };
pub(super) const PICTURE: Numbered = Numbered { prefix: "frame_", digits: 4, suffix: ".png" };

impl Numbered {
    /// The name with a number; numbers with more digits than usual take more.
    pub(super) fn of(&self, number: u32) -> String {
        format!("{}{number:0digits$}{}", self.prefix, self.suffix, digits = self.digits)
    }

    fn number_in(&self, name: &str) -> Option<u32> {
        let number = name.strip_prefix(self.prefix)?.strip_suffix(self.suffix)?.parse().ok()?;
        // Only names that we would write: not `frame_+7.mnf`, nor `frame_000000007.mnf`.
        (self.of(number) == name).then_some(number)
    }

    /// Numbers of the files in a folder, ascending; none when there is no folder.
    pub(super) fn numbers_in(&self, folder: &Path) -> Result<Vec<u32>> {
        let entries = match fs::read_dir(folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            result => result.while_trying("read the folder", folder)?,
        };
        let mut numbers = Vec::new();
        for entry in entries {
            let name = entry.while_trying("read the folder", folder)?.file_name();
            numbers.extend(name.to_str().and_then(|name| self.number_in(name)));
        }
        numbers.sort_unstable();
        Ok(numbers)
    }
}

/// A scene's name becomes a folder's name.
pub(super) fn check_scene_name(name: &str) -> Result<()> {
    let reason = if name.is_empty() {
        "it is empty"
    } else if name.contains(|c: char| c.is_control() || "/\\:*?\"<>|".contains(c)) {
        "it holds characters that file names cannot have everywhere"
    } else if name.starts_with('.') || name.ends_with(['.', ' ']) {
        "it begins with a dot or ends in a dot or a space"
    } else {
        return Ok(());
    };
    Err(RecordError::BadName { what: "a run folder", name: name.into(), reason })
}

/// What is written inside of a run folder under a name of its own; `write_atomic` replaces links, these would be followed.
#[rustfmt::skip]
const WRITTEN: [&str; 15] = [
    "frames", "checkpoints", "assets", "probes.csv", "commands.jsonl", "run.log", "run.lock",
    "vtk", "ply", "obj", "usd", "usda", "glb", "vti", "surface",
];

/// A folder of a stranger may hold links that lead writers out of it.
pub(super) fn refuse_links(dir: &Path) -> Result<()> {
    for name in WRITTEN {
        let path = dir.join(name);
        if fs::symlink_metadata(&path).is_ok_and(|about| about.file_type().is_symlink()) {
            return Err(RecordError::Link { path });
        }
    }
    Ok(())
}

/// The path of an asset, which must stay inside its folder.
pub(super) fn asset_path(folder: &Path, name: &str) -> Result<PathBuf> {
    let inside = Path::new(name).components().all(|c| matches!(c, Component::Normal(_)));
    if name.is_empty() || !inside || name.contains(['\\', ':', '\0']) {
        let reason = "it must be a plain relative path";
        return Err(RecordError::BadName { what: "an asset", name: name.into(), reason });
    }
    Ok(folder.join(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_belong_together() {
        assert_eq!(FRAME.of(7), "frame_00007.mnf");
        assert_eq!(PICTURE.of(50), "frame_0050.png");
        assert_eq!(CHECKPOINT.of(1_234_567), "checkpoint_1234567.mnc");
        for number in [0, 9, 99_999, 100_000, u32::MAX] {
            assert_eq!(FRAME.number_in(&FRAME.of(number)), Some(number));
        }
        for name in ["frame_7.mnf", "frame_000007.mnf", "frame_+0007.mnf", "frame_00007.png", "frame_.mnf"] {
            assert_eq!(FRAME.number_in(name), None, "{name}");
        }
    }

    #[test]
    fn numbers_are_sorted_as_numbers() {
        let folder = tempfile::tempdir().unwrap();
        for number in [100_000, 3, 99_999] {
            fs::write(folder.path().join(FRAME.of(number)), b"").unwrap();
        }
        fs::write(folder.path().join("notes.txt"), b"").unwrap();
        assert_eq!(FRAME.numbers_in(folder.path()).unwrap(), [3, 99_999, 100_000]);
        assert!(FRAME.numbers_in(&folder.path().join("none")).unwrap().is_empty());
    }

    #[test]
    fn names_stay_in_their_folder() {
        for name in ["", "..", "../out", "a/b", "a\\b", "c:", ".hidden", "dot.", "nul\0"] {
            assert!(check_scene_name(name).is_err(), "{name:?}");
        }
        for name in ["pool", "dam-break", "Strömung 2", "v1.5"] {
            assert!(check_scene_name(name).is_ok(), "{name:?}");
        }
        for name in ["", "/etc/passwd", "../scene.toml", "a/../../b", "c:\\x"] {
            assert!(asset_path(Path::new("assets"), name).is_err(), "{name:?}");
        }
        assert_eq!(asset_path(Path::new("assets"), "organs/liver.obj").unwrap(), Path::new("assets/organs/liver.obj"));
    }
}
