//! Prescribed motion of surfaces.

use crate::frames::Frames;
use glam::{DQuat, DVec3};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::f64::consts::TAU;
use std::sync::Arc;

/// How a wall moves.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Motion {
    /// It does not.
    #[default]
    Still,
    /// Back and forth along a line.
    Slide(Slide),
    /// Round and round.
    Turn(Turn),
    /// To and fro about an axis.
    Swing(Swing),
    /// From place to place, smoothly.
    Keys(Vec<Key>),
    /// Vertex by vertex: an animated mesh, which is where its frames say. Made by programs, not by a key of a scene.
    #[serde(skip)]
    Frames(Arc<Frames>),
}

/// Back and forth along a line, gently from rest: displacement (1 − cos 2πt/period)/2.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Slide {
    /// From where it is to the other end \[m\].
    pub displacement: [f64; 3],
    /// There and back \[s\].
    pub period: f64,
}

/// Round and round at constant speed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Turn {
    /// A point of the axis \[m\].
    pub center: [f64; 3],
    /// Direction of the axis, of any length; right-handed.
    pub axis: [f64; 3],
    /// Time of a turn \[s\].
    pub period: f64,
}

/// To and fro about an axis, gently from rest: angle (1 − cos 2πt/period)/2.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Swing {
    /// A point of the axis \[m\].
    pub center: [f64; 3],
    /// Direction of the axis, of any length; right-handed.
    pub axis: [f64; 3],
    /// To the other end \[degrees\].
    pub angle: f64,
    /// There and back \[s\].
    pub period: f64,
}

/// A position at a time; before the first and after the last the wall rests.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Key {
    /// When \[s\].
    pub time: f64,
    /// Moved by this much \[m\], default \[0, 0, 0\].
    #[serde(default)]
    pub position: [f64; 3],
    /// Turned about the origin: axis times angle \[degrees\], default \[0, 0, 0\].
    #[serde(default)]
    pub rotation: [f64; 3],
}

/// Where a body is: x = R x₀ + t.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pose {
    /// R.
    pub rotation: DQuat,
    /// t \[m\].
    pub translation: DVec3,
}

impl Default for Pose {
    fn default() -> Self {
        Self { rotation: DQuat::IDENTITY, translation: DVec3::ZERO }
    }
}

impl Pose {
    /// Where a point of the body is \[m\].
    #[must_use]
    pub fn apply(&self, rest: DVec3) -> DVec3 {
        self.rotation * rest + self.translation
    }

    /// Which point of the body is here \[m\].
    #[must_use]
    pub fn unapply(&self, point: DVec3) -> DVec3 {
        self.rotation.conjugate() * (point - self.translation)
    }

    fn about(center: DVec3, rotation: DQuat) -> Self {
        Self { rotation, translation: center - rotation * center }
    }
}

impl Motion {
    /// Where the wall is at a time \[s\]; one that goes vertex by vertex has no pose of its own.
    #[must_use]
    pub fn pose(&self, time: f64) -> Pose {
        let swing = |period: f64| 0.5 * (1.0 - libm::cos(TAU * time / period));
        let turn = |axis: [f64; 3], angle: f64| DQuat::from_axis_angle(DVec3::from_array(axis).normalize(), angle);
        match self {
            Self::Still | Self::Frames(_) => Pose::default(),
            Self::Slide(slide) => {
                let translation = DVec3::from_array(slide.displacement) * swing(slide.period);
                Pose { translation, ..Pose::default() }
            }
            Self::Turn(t) => Pose::about(DVec3::from_array(t.center), turn(t.axis, TAU * time / t.period)),
            Self::Swing(s) => {
                Pose::about(DVec3::from_array(s.center), turn(s.axis, s.angle.to_radians() * swing(s.period)))
            }
            Self::Keys(keys) => interpolate(keys, time),
        }
    }

    /// Whether it ever moves.
    #[must_use]
    pub fn moves(&self) -> bool {
        *self != Self::Still
    }
}

/// Cubic Hermite between keys, with the slopes of Catmull and Rom; at rest at both ends.
fn interpolate(keys: &[Key], time: f64) -> Pose {
    let Some(next) = keys.iter().position(|key| key.time > time) else {
        return keys.last().map_or(Pose::default(), |key| pose_of(key.position, key.rotation));
    };
    if next == 0 {
        return pose_of(keys[0].position, keys[0].rotation);
    }
    let (a, b) = (&keys[next - 1], &keys[next]);
    let length = b.time - a.time;
    let u = (time - a.time) / length;
    let along = |value: &dyn Fn(&Key) -> [f64; 3]| {
        std::array::from_fn(|k| {
            let slope = |before: Option<&Key>, after: Option<&Key>| match (before, after) {
                (Some(before), Some(after)) => (value(after)[k] - value(before)[k]) / (after.time - before.time),
                _ => 0.0,
            };
            let before = (next >= 2).then(|| &keys[next - 2]);
            let (m0, m1) = (slope(before, Some(b)) * length, slope(Some(a), keys.get(next + 1)) * length);
            let (p0, p1) = (value(a)[k], value(b)[k]);
            let (u2, u3) = (u * u, u * u * u);
            (2.0 * u3 - 3.0 * u2 + 1.0) * p0 + (u3 - 2.0 * u2 + u) * m0 + (3.0 * u2 - 2.0 * u3) * p1 + (u3 - u2) * m1
        })
    };
    pose_of(along(&|key| key.position), along(&|key| key.rotation))
}

fn pose_of(position: [f64; 3], rotation: [f64; 3]) -> Pose {
    let vector = DVec3::from_array(rotation).map(f64::to_radians);
    Pose { rotation: DQuat::from_scaled_axis(vector), translation: DVec3::from_array(position) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn motions_start_at_rest_where_the_wall_is_and_come_back() {
        let slide = Motion::Slide(Slide { displacement: [0.2, 0.0, 0.0], period: 2.0 });
        let swing = Motion::Swing(Swing { center: [1.0, 0.0, 0.0], axis: [0.0, 0.0, 2.0], angle: 90.0, period: 2.0 });
        let point = DVec3::new(1.5, 0.3, 0.1);
        for motion in [&slide, &swing] {
            assert!(motion.pose(0.0).apply(point).distance(point) < 1e-12);
            assert!(motion.pose(2.0).apply(point).distance(point) < 1e-12);
            assert!(motion.pose(1e-4).apply(point).distance(point) < 1e-7, "from rest");
        }
        assert!(slide.pose(1.0).apply(point).distance(point + DVec3::X * 0.2) < 1e-12);
        assert!(swing.pose(1.0).apply(DVec3::new(2.0, 0.0, 0.0)).distance(DVec3::new(1.0, 1.0, 0.0)) < 1e-12);
        let turn = Motion::Turn(Turn { center: [0.0; 3], axis: [0.0, 3.0, 0.0], period: 4.0 });
        assert!(turn.pose(1.0).apply(DVec3::X).distance(-DVec3::Z) < 1e-12);
        assert!(turn.pose(1.0).unapply(-DVec3::Z).distance(DVec3::X) < 1e-12);
    }

    #[test]
    fn keys_are_met_and_passed_smoothly() {
        let key = |time: f64, x: f64| Key { time, position: [x, 0.0, 0.0], rotation: [0.0, 0.0, 90.0 * x] };
        let keys = Motion::Keys(vec![key(0.0, 0.0), key(1.0, 1.0), key(3.0, 0.0)]);
        let x = |t: f64| keys.pose(t).translation.x;
        assert!(
            [(-1.0, 0.0), (0.0, 0.0), (1.0, 1.0), (3.0, 0.0), (9.0, 0.0)]
                .iter()
                .all(|&(t, v)| (x(t) - v).abs() < 1e-12)
        );
        let slope = |t: f64| (x(t + 1e-6) - x(t - 1e-6)) / 2e-6;
        assert!((slope(1.0 - 1e-5) - slope(1.0 + 1e-5)).abs() < 1e-3, "no kink at a key");
        assert!(slope(1e-5).abs() < 1e-3 && slope(3.0 - 1e-5).abs() < 1e-3, "at rest at the ends");
        assert!(keys.pose(1.0).apply(DVec3::X).distance(DVec3::new(1.0, 1.0, 0.0)) < 1e-12);
        assert_eq!(Motion::Keys(vec![]).pose(1.0), Pose::default());
    }
}
