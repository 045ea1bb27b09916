//! Sequences of mesh files: one file per frame, all with the same triangles.

use std::path::{Path, PathBuf};

use glam::{DAffine3, DVec3};

use super::{
    Animation, AnimationError, AnimationOptions, Found, MAX_FRAMES, MAX_VERTICES, Part, ReadFile, Source, read_named,
};
use crate::files::{MeshFileError, parse_raw, read_bytes};

/// Positions in all frames, at most.
pub(super) const MAX_POSITIONS: usize = 1 << 27;

/// Positions at evenly spaced times.
#[derive(Debug, Clone)]
pub(crate) struct Frames {
    positions: Vec<Vec<DVec3>>,
    fps: f64,
}

impl Frames {
    pub(super) fn vertex_count(&self) -> usize {
        self.positions[0].len()
    }

    pub(super) fn keep(&mut self, vertices: &[u32]) {
        for frame in &mut self.positions {
            *frame = vertices.iter().map(|&v| frame[v as usize]).collect();
        }
    }

    /// Linear between frames.
    pub(super) fn pose(&self, time: f64, placement: &DAffine3, out: &mut Vec<DVec3>) {
        let last = self.positions.len() - 1;
        let at = (time * self.fps).clamp(0.0, last as f64);
        let before = (at.floor() as usize).min(last - 1);
        let s = at - before as f64;
        let frames = self.positions[before].iter().zip(&self.positions[before + 1]);
        out.clear();
        out.extend(frames.map(|(a, b)| placement.transform_point3(*a + s * (*b - *a))));
    }
}

pub(super) fn read(pattern: &Path, options: &AnimationOptions) -> Result<Animation, AnimationError> {
    let files = frame_paths(pattern)?.into_iter().map(|path| Ok((read_bytes(&path)?, path)));
    from_files(pattern, files, options)
}

/// From files by their names, tried one number after the other.
pub(super) fn load(file: &str, options: &AnimationOptions, read: &ReadFile<'_>) -> Result<Animation, AnimationError> {
    let path = Path::new(file);
    let (start, end, digits) = parts_of(path)?;
    let name = |number: usize| {
        let name = path.with_file_name(format!("{start}{number:0digits$}{end}"));
        name.to_str().map(|name| (name.to_owned(), PathBuf::from(name)))
    };
    let there = |number: usize| name(number).is_some_and(|(name, _)| read(&name).is_ok());
    let count_of = |from: usize| (from..MAX_FRAMES).take_while(|&number| there(number)).count();
    let Some(first) = (0..MAX_FRAMES).find(|&number| there(number)) else {
        return Err(AnimationError::FrameCount { path: path.into(), count: 0 });
    };
    let count = count_of(first);
    if count < 2 && !(first + count..MAX_FRAMES).any(there) {
        return Err(AnimationError::FrameCount { path: path.into(), count });
    }
    if (first + count..MAX_FRAMES).any(there) {
        return Err(AnimationError::MissingFrame { path: path.into(), number: (first + count) as u64 });
    }
    let files = (first..first + count).filter_map(name).map(|(name, path)| Ok((read_named(&name, read)?, path)));
    from_files(path, files, options)
}

fn from_files(
    pattern: &Path,
    files: impl Iterator<Item = Result<(Vec<u8>, PathBuf), AnimationError>>,
    options: &AnimationOptions,
) -> Result<Animation, AnimationError> {
    let mut positions: Vec<Vec<DVec3>> = Vec::new();
    let (mut triangles, mut first_path) = (Vec::new(), PathBuf::new());
    for file in files {
        let (bytes, path) = file?;
        let (vertices, found) = parse_raw(&path, &bytes)?;
        match positions.first() {
            None => (triangles, first_path) = (found, path),
            Some(first) => {
                if let Some(problem) = difference((first.len(), &triangles), (vertices.len(), &found)) {
                    return Err(AnimationError::Topology { path, first: first_path, problem });
                }
            }
        }
        let frames = positions.len() + 1;
        if vertices.len() > MAX_VERTICES || vertices.len().saturating_mul(frames) > MAX_POSITIONS {
            return Err(AnimationError::TooLong { frames, vertices: vertices.len() });
        }
        positions.push(vertices);
    }
    let range = [0.0, positions.len().saturating_sub(1) as f64 / options.fps];
    let name = pattern.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let parts = vec![Part { name, triangles: 0..triangles.len() }];
    let source = Source::Frames(Frames { positions, fps: options.fps });
    Animation::new(Found { source, triangles, parts, range, warnings: Vec::new() }, options)
}

/// What differs between the first frame and another.
fn difference(first: (usize, &[[u32; 3]]), other: (usize, &[[u32; 3]])) -> Option<String> {
    if first.0 != other.0 {
        return Some(format!("it has {} vertices instead of {}", other.0, first.0));
    }
    if first.1.len() != other.1.len() {
        return Some(format!("it has {} triangles instead of {}", other.1.len(), first.1.len()));
    }
    let triangle = first.1.iter().zip(other.1).position(|(a, b)| a != b)?;
    Some(format!("triangle {triangle} (counted from 0) has other corners"))
}

/// What comes before the number in a file's name, what comes after it, and its digits.
fn parts_of(pattern: &Path) -> Result<(&str, &str, usize), AnimationError> {
    let wrong = || AnimationError::Pattern { path: pattern.into() };
    let name = pattern.file_name().and_then(|name| name.to_str()).ok_or_else(wrong)?;
    let (start, rest) = name.split_once('#').ok_or_else(wrong)?;
    let end = rest.trim_start_matches('#');
    if end.contains('#') { Err(wrong()) } else { Ok((start, end, 1 + rest.len() - end.len())) }
}

/// The files of a sequence in the order of their numbers, which must not have gaps.
fn frame_paths(pattern: &Path) -> Result<Vec<PathBuf>, AnimationError> {
    let (start, end, digits) = parts_of(pattern)?;
    let folder = pattern.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let failed = |error| MeshFileError::Read { path: folder.into(), error };
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let number =
            name.strip_prefix(start).and_then(|rest| rest.strip_suffix(end)).and_then(|n| number_of(n, digits));
        found.extend(number.map(|number| (number, path)));
    }
    found.sort();
    if !(2..=MAX_FRAMES).contains(&found.len()) {
        return Err(AnimationError::FrameCount { path: pattern.into(), count: found.len() });
    }
    let gap = found.windows(2).find(|pair| pair[0].0 + 1 != pair[1].0);
    match gap {
        Some(pair) => Err(AnimationError::MissingFrame { path: pattern.into(), number: pair[0].0 + 1 }),
        None => Ok(found.into_iter().map(|(_, path)| path).collect()),
    }
}

/// A number of at least so many digits, padded with zeros to that length.
fn number_of(text: &str, digits: usize) -> Option<u64> {
    let padded = text.len() == digits || (text.len() > digits && !text.starts_with('0'));
    (padded && text.bytes().all(|b| b.is_ascii_digit())).then(|| text.parse().ok().filter(|&n| n < u64::MAX))?
}
