//! How an animation is placed and played.

use glam::{DAffine3, DMat3, DQuat, DVec3};

use super::{AnimationError, Wetting};
use crate::{ImportOptions, UpAxis};

/// How an animation enters a scene.
#[derive(Debug, Clone, PartialEq)]
pub struct AnimationOptions {
    /// Unit of length and upward axis of the file.
    pub import: ImportOptions,
    /// Where the file's origin comes to lie \[m\], default the origin.
    pub position: DVec3,
    /// How it is turned about its origin, default not.
    pub rotation: DQuat,
    /// How it is carried along while it is played \[m/s\], default not: a swimmer that swims in place gets on.
    pub velocity: DVec3,
    /// When and how fast it is played.
    pub playback: Playback,
    /// Frames per second of a sequence of files, default 24; glTF brings its own times.
    pub fps: f64,
    /// Name of the animation in a glTF file, default the first.
    pub animation: Option<String>,
    /// Motion of joints given from outside, on top of the file's: a script for a model without an animation.
    pub joints: Vec<JointKeys>,
    /// Closed or shell, default as found.
    pub wetting: Option<Wetting>,
}

impl Default for AnimationOptions {
    fn default() -> Self {
        Self {
            import: ImportOptions::default(),
            position: DVec3::ZERO,
            rotation: DQuat::IDENTITY,
            velocity: DVec3::ZERO,
            playback: Playback::default(),
            fps: 24.0,
            animation: None,
            joints: Vec::new(),
            wetting: None,
        }
    }
}

/// When and how fast an animation is played.
#[derive(Debug, Clone, PartialEq)]
pub struct Playback {
    /// Time of the scene at which it begins to move \[s\], default 0.
    pub start: f64,
    /// Seconds of the file per second of the scene, dimensionless, default 1.
    pub speed: f64,
    /// First time that is played, in the file \[s\], default that of the first key.
    pub from: Option<f64>,
    /// Last time that is played, in the file \[s\], default that of the last key.
    pub until: Option<f64>,
    /// How often it is played, dimensionless, default 1; infinite: for ever. Afterwards it stands still.
    pub cycles: f64,
}

impl Default for Playback {
    fn default() -> Self {
        Self { start: 0.0, speed: 1.0, from: None, until: None, cycles: 1.0 }
    }
}

/// Motion of one joint (a node of a glTF file), linear between keys.
#[derive(Debug, Clone, PartialEq)]
pub struct JointKeys {
    /// Name of the node.
    pub joint: String,
    /// At least one, in the order of their times.
    pub keys: Vec<JointKey>,
}

/// Where a joint is at a time, relative to where the file has it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JointKey {
    /// Time in the file \[s\].
    pub time: f64,
    /// Turn about the joint's own axes: axis times angle \[rad\].
    pub turn: DVec3,
    /// Shift along the axes of its parent, in the file's unit.
    pub shift: DVec3,
}

impl Playback {
    /// The time in the file for a time of the scene \[s\].
    pub(super) fn time_in_file(&self, time: f64, [from, until]: [f64; 2]) -> f64 {
        let length = until - from;
        let played = (self.speed * (time - self.start)).clamp(0.0, self.cycles * length);
        if played <= length {
            return from + played;
        }
        // The end of the last cycle is its end, not the beginning of another.
        let into = played % length;
        let ended = into == 0.0 && played >= self.cycles * length;
        from + if ended { length } else { into }
    }

    /// What of the file's range is played.
    pub(super) fn range_within(&self, [first, last]: [f64; 2]) -> Result<[f64; 2], AnimationError> {
        let [from, until] = [self.from.unwrap_or(first), self.until.unwrap_or(last)];
        let good = first <= from && from < until && until <= last;
        if good { Ok([from, until]) } else { Err(AnimationError::Range { from, until, first, last }) }
    }
}

impl AnimationOptions {
    /// Refuses numbers that cannot be meant.
    pub(super) fn check(&self) -> Result<(), AnimationError> {
        let play = &self.playback;
        let positive = |what, value: f64, most: f64| {
            if value > 0.0 && value <= most { Ok(()) } else { Err(AnimationError::Option { what, value }) }
        };
        positive("scale", self.import.scale, 1e12)?;
        positive("fps", self.fps, 1e6)?;
        positive("speed", play.speed, 1e6)?;
        positive("cycles", play.cycles, f64::INFINITY)?;
        let finite = |what, value: f64| {
            if value.is_finite() { Ok(()) } else { Err(AnimationError::Option { what, value }) }
        };
        finite("start", play.start)?;
        finite("position", self.position.element_sum())?;
        finite("velocity", self.velocity.element_sum())?;
        finite("rotation", self.rotation.normalize().length())
    }

    /// From the file's coordinates to ours.
    pub(super) fn affine(&self) -> DAffine3 {
        let axes = match self.import.up {
            UpAxis::Y => DMat3::IDENTITY,
            UpAxis::Z => DMat3::from_cols(DVec3::X, -DVec3::Z, DVec3::Y),
        };
        let turned = DMat3::from_quat(self.rotation.normalize()) * axes * self.import.scale;
        DAffine3::from_mat3_translation(turned, self.position)
    }
}
