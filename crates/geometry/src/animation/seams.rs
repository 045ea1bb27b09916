//! Vertices that files split become one again.
//!
//! A seam between two textures, or a mesh without indices, has several vertices at one position. They are one when they
//! stay together over the whole animation: lips that only touch at rest stay two.

use std::collections::HashMap;

use glam::DVec3;

use super::{Animation, AnimationError, Pose, Source};
use crate::{LARGEST_COORDINATE, MeshError};

/// Vertices closer than this part of the animation's size, at all times, are one: ten times the rounding of
/// single precision.
const TOGETHER: f64 = 1e-6;
/// Poses that are looked at.
const POSES: usize = 12;
/// Vertices at one position that stay different, before a new one is no longer compared with all of them.
const MAX_AT_POSITION: usize = 8;

impl Animation {
    /// Makes vertices that stay together one, and drops triangles that this makes a line.
    pub(super) fn weld(&mut self) -> Result<(), AnimationError> {
        let poses = self.checked_poses()?;
        let mut used = vec![false; self.vertex_count()];
        self.triangles.iter().flatten().for_each(|&v| used[v as usize] = true);
        let (kept, number) = together(&poses, &used);
        self.triangles.iter_mut().flatten().for_each(|v| *v = number[*v as usize]);
        match &mut self.source {
            Source::Rig(rig) => rig.keep(&kept),
            Source::Frames(frames) => frames.keep(&kept),
        }
        self.drop_collapsed()
    }

    /// Some poses of one cycle, each vertex where it can be.
    fn checked_poses(&self) -> Result<Vec<Vec<DVec3>>, AnimationError> {
        let mut poses = Vec::new();
        for time in self.sample_times(POSES) {
            let mut pose = Pose::default();
            self.pose_in_file(time, &mut pose);
            let good = |p: &DVec3| p.abs().cmple(DVec3::splat(LARGEST_COORDINATE)).all();
            if let Some(vertex) = pose.positions.iter().position(|p| !good(p)) {
                let part = self.part_of(vertex);
                return Err(AnimationError::NotFinite { time, vertex, part, position: pose.positions[vertex] });
            }
            poses.push(pose.positions);
        }
        Ok(poses)
    }

    fn drop_collapsed(&mut self) -> Result<(), AnimationError> {
        let flat = |&[a, b, c]: &[u32; 3]| a == b || b == c || c == a;
        let dropped = self.triangles.iter().filter(|t| flat(t)).count();
        let mut kept = Vec::with_capacity(self.triangles.len() - dropped);
        for part in &mut self.parts {
            let first = kept.len();
            kept.extend(self.triangles[part.triangles.clone()].iter().filter(|t| !flat(t)));
            part.triangles = first..kept.len();
        }
        self.triangles = kept;
        if self.triangles.is_empty() {
            return Err(MeshError::Empty { dropped }.into());
        }
        if dropped > 0 {
            self.warnings.push(format!("{dropped} triangles without area were dropped"));
        }
        Ok(())
    }
}

/// The first of each group of vertices that stay together, and the group of each vertex.
fn together(poses: &[Vec<DVec3>], used: &[bool]) -> (Vec<u32>, Vec<u32>) {
    let first = &poses[0];
    let seen = || first.iter().zip(used).filter(|(_, used)| **used).map(|(p, _)| *p);
    let bounds = crate::Aabb::around(seen());
    let reach = (TOGETHER * bounds.size().length()).max(f64::MIN_POSITIVE);
    let alike = |a: usize, b: usize| poses.iter().all(|pose| pose[a].distance_squared(pose[b]) <= reach * reach);
    let cell = |v: usize| ((first[v] - bounds.min) / (4.0 * reach)).floor().as_i64vec3();
    let (mut kept, mut number) = (Vec::new(), vec![0; first.len()]);
    // Looked up, never iterated: its order does not matter.
    let mut by_cell: HashMap<glam::I64Vec3, Vec<u32>> = HashMap::new();
    for v in (0..first.len()).filter(|&v| used[v]) {
        let near = near(first[v] - bounds.min, 4.0 * reach, reach);
        let mut known = near.flat_map(|key| by_cell.get(&key).into_iter().flatten().copied());
        number[v] = match known.find(|&group| alike(v, kept[group as usize] as usize)) {
            Some(group) => group,
            None => kept.len() as u32,
        };
        if number[v] as usize == kept.len() {
            let here = by_cell.entry(cell(v)).or_default();
            if here.len() < MAX_AT_POSITION {
                here.push(kept.len() as u32);
            }
            kept.push(v as u32);
        }
    }
    (kept, number)
}

/// The cells within reach of a point: eight at most, mostly one.
fn near(point: DVec3, side: f64, reach: f64) -> impl Iterator<Item = glam::I64Vec3> {
    let low = ((point - reach) / side).floor().as_i64vec3();
    let high = ((point + reach) / side).floor().as_i64vec3();
    let corners = (0..8).map(move |n| glam::I64Vec3::new(n & 1, n >> 1 & 1, n >> 2 & 1));
    corners.filter(move |c| (low + c).cmple(high).all()).map(move |c| low + c)
}
