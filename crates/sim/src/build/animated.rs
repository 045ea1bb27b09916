//! Animated meshes of a scene: solids on a grid, walls among particles.

use super::BuildError;
use glam::DVec3;
use meniscus_boundary::{Frames, Friction, Vertices, Wall, Wet};
use meniscus_core::{BodyInfo, BodyKind, Surface};
use meniscus_geometry::Aabb;
use meniscus_geometry::animation::{Animation, Pose, Wetting};
use meniscus_scene::{Animated, Loaded, ShellSide};
use meniscus_twophase::{SetupError, Solid, Thicken};
use std::sync::{Arc, Mutex, PoisonError};

/// Thickness of a shell, in cells: tight while it moves by a quarter of a cell (at least √3 + ¼) \[MKSMH07 sec. 3.1\].
const SHELL: f64 = 2.0;

/// Cells that a vertex may move in a frame before it is named.
const FAST: f64 = 16.0;

/// Poses per second that walls among particles go through; between them vertices move on straight lines.
const POSES: f64 = 120.0;

/// Positions in all poses of a wall, at most.
const MAX_POSITIONS: f64 = 1.3e8;

/// Poses from which the extent of an animation is taken.
const EXTENT_POSES: usize = 48;

/// An animation cannot be used; under its name.
fn wrong(name: &str, message: impl Into<String>) -> BuildError {
    BuildError::Animated { name: name.to_owned(), message: message.into() }
}

/// How an animated mesh is named and coloured.
pub(crate) fn bodies(loaded: &Loaded) -> impl Iterator<Item = BodyInfo> {
    let infos = loaded.scene.animated.iter().map(|(name, table)| BodyInfo {
        name: name.clone(),
        kind: BodyKind::Wall,
        color: table.color.map(|c| c as f32),
    });
    infos.collect::<Vec<_>>().into_iter()
}

/// The boxes in which animated meshes move \[m\], under their names.
#[must_use]
pub fn bounds(loaded: &Loaded) -> Vec<(String, Aabb)> {
    let extent = |(name, table, animation): (&str, &Animated, &Arc<Animation>)| {
        let [start, end] = animation.moving();
        let carried = DVec3::from_array(table.velocity) * (end.min(loaded.scene.seconds) - start).max(0.0);
        let own = animation.bounds(EXTENT_POSES);
        (name.to_owned(), own.union(&Aabb { min: own.min + carried, max: own.max + carried }))
    };
    loaded.animations().map(extent).collect()
}

/// Says what is odd about the animations of a scene, in which vertices should move no farther than `length` \[m\] in an instant.
///
/// # Errors
/// When one does.
pub(crate) fn check(loaded: &Loaded, length: f64, warnings: &mut Vec<String>) -> Result<(), BuildError> {
    let seconds_per_frame = 1.0 / loaded.scene.fps;
    for (name, _, animation) in loaded.animations() {
        warnings.extend(animation.warnings().iter().map(|warning| format!("animated `{name}`: {warning}")));
        let fast = animation.jumps(FAST * length, seconds_per_frame);
        for jump in &fast {
            if let Some((time, distance)) =
                instant_jump(animation, jump.vertex, [jump.time, jump.time + seconds_per_frame], length)
            {
                let (vertex, part) = (jump.vertex, &jump.part);
                return Err(wrong(
                    name,
                    format!(
                        "vertex {vertex} of `{part}` (counted from 0) jumps by {distance:.2e} m at {time:.4} s: nothing can follow it; does the animation end where it begins?"
                    ),
                ));
            }
        }
        if let Some(first) = fast.first() {
            warnings.push(format!(
                "animated `{name}`: in {} frames it moves farther than {FAST} cells; in frame {}, vertex {} of `{}` by {:.2e} m: steps will be short",
                fast.len(), first.frame, first.vertex, first.part, first.distance
            ));
        }
        if let Some((time, distance)) = seam(animation, length) {
            return Err(wrong(
                name,
                format!(
                    "it ends {distance:.2e} m from where it begins, and is played again at {time:.4} s: nothing can follow it; cut it with `from` and `until`, or let it play once"
                ),
            ));
        }
    }
    Ok(())
}

/// Where a vertex is \[m\].
fn vertex_at(animation: &Animation, vertex: usize, time: f64, pose: &mut Pose) -> DVec3 {
    animation.pose(time, pose);
    pose.positions()[vertex]
}

/// Whether a vertex moves farther than `length` in no time at all within a span of time: when, and how far.
fn instant_jump(animation: &Animation, vertex: usize, span: [f64; 2], length: f64) -> Option<(f64, f64)> {
    const INSTANT: f64 = 1e-7;
    let mut pose = Pose::default();
    let mut at = |time| vertex_at(animation, vertex, time, &mut pose);
    let [mut from, mut until] = span;
    while until - from > INSTANT {
        let middle = 0.5 * (from + until);
        let [a, b, c] = [from, middle, until].map(&mut at);
        if a.distance(b) > b.distance(c) { until = middle } else { from = middle }
    }
    let distance = at(from).distance(at(until));
    (distance > 0.25 * length).then_some((from, distance))
}

/// How far the end of a cycle is from the beginning of the next, if that is a jump: when, and how far.
fn seam(animation: &Animation, length: f64) -> Option<(f64, f64)> {
    let [start, end] = animation.moving();
    let time = start + animation.duration();
    if end <= time {
        return None;
    }
    let instant = 1e-9 * animation.duration();
    let (mut before, mut after) = (Pose::default(), Pose::default());
    animation.pose(time - instant, &mut before);
    animation.pose(time + instant, &mut after);
    let moved = before.positions().iter().zip(after.positions()).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
    (moved > 0.25 * length).then_some((time, moved))
}

/// The vertices of an animation as a grid asks for them.
struct Posed {
    animation: Arc<Animation>,
    pose: Mutex<Pose>,
}

impl Vertices for Posed {
    fn triangles(&self) -> &[[u32; 3]] {
        self.animation.triangles()
    }

    fn positions(&self, time: f64, positions: &mut Vec<DVec3>) {
        let mut pose = self.pose.lock().unwrap_or_else(PoisonError::into_inner);
        self.animation.pose(time, &mut pose);
        positions.clear();
        positions.extend_from_slice(pose.positions());
    }
}

/// The animated meshes as solids on a grid.
pub(crate) fn solids(loaded: &Loaded, spacing: f64) -> Result<Vec<Solid>, SetupError> {
    let solid = |(_, table, animation): (&str, &Animated, &Arc<Animation>)| {
        let posed = Arc::new(Posed { animation: animation.clone(), pose: Mutex::default() });
        let side = match table.side {
            ShellSide::Centred => Thicken::Centred,
            ShellSide::Inside => Thicken::Inside,
            ShellSide::Outside => Thicken::Outside,
        };
        let solid = match animation.wetting() {
            Wetting::Closed => Solid::from_vertices(posed)?,
            Wetting::Shell => Solid::shell_of_vertices(posed, SHELL * spacing, side)?,
        };
        Ok(if table.friction == Friction::NoSlip { solid.sticky() } else { solid })
    };
    loaded.animations().map(solid).collect()
}

/// The animated meshes as walls among particles.
pub(crate) fn walls(loaded: &Loaded) -> Result<Vec<Wall>, BuildError> {
    loaded.animations().map(|(name, table, animation)| wall(loaded.scene.seconds, name, table, animation)).collect()
}

fn wall(seconds: f64, name: &str, table: &Animated, animation: &Animation) -> Result<Wall, BuildError> {
    if animation.wetting() == Wetting::Shell {
        return Err(wrong(
            name,
            "it is an open surface, which only \"twophase\" wets on both sides; wetting = \"closed\" closes its holes",
        ));
    }
    let [start, end] = animation.moving();
    // What repeats where it is comes again without end; what goes away is followed as long as the scene lasts.
    let period = (end.is_infinite() && table.velocity == [0.0; 3]).then(|| animation.duration());
    let last = period.map_or(end.min(seconds).max(start), |period| start + period);
    let poses = ((last - start) * POSES).ceil().max(1.0);
    let positions = poses * animation.vertex_count() as f64;
    if positions > MAX_POSITIONS {
        return Err(wrong(name, format!("{poses} poses of {} vertices are too many", animation.vertex_count())));
    }
    let time = |k: f64| start + (last - start) * k / poses;
    let kept = if period.is_some() { poses as usize } else { poses as usize + 1 };
    let times: Vec<f64> = (0..kept).map(|k| time(k as f64)).collect();
    let mut pose = Pose::default();
    let frames = times.iter().map(|&time| {
        animation.pose(time, &mut pose);
        pose.positions().to_vec()
    });
    let frames = Frames::new(times.clone(), frames.collect(), period).map_err(|e| wrong(name, e.to_string()))?;
    Wall::animated(animation.mesh_at(start), frames, Wet::Front, table.friction).map_err(|e| wrong(name, e.to_string()))
}

/// An animated mesh as a frame of a world shows it.
pub(crate) struct Shown {
    /// The body that it is.
    pub(crate) body: u16,
    pub(crate) animation: Arc<Animation>,
}

impl Shown {
    /// Where it is at a time \[s\], and how fast its vertices move; `shift` \[m\] is that of the box.
    pub(crate) fn at(&self, time: f64, shift: DVec3) -> Surface {
        /// Velocities are differences over this time \[s\].
        const INSTANT: f64 = 1e-4;
        let mut pose = Pose::default();
        let mut at = |time: f64| {
            self.animation.pose(time, &mut pose);
            pose.positions().to_vec()
        };
        let [before, now, after] = [time - INSTANT, time, time + INSTANT].map(&mut at);
        let moved = after.iter().zip(before).map(|(b, a)| ((*b - a) / (2.0 * INSTANT)).as_vec3());
        Surface {
            body: self.body,
            velocities: moved.collect(),
            positions: now.iter().map(|x| (*x + shift).as_vec3()).collect(),
            triangles: self.animation.triangles().to_vec(),
            ..Surface::default()
        }
    }
}
