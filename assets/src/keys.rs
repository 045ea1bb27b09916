//! Smooth curves through keys, and turns.

use glam::{DMat3, DQuat, DVec3};

/// A number over time through keys (time, value): cubic between them, level at both ends.
pub(crate) fn curve(keys: &[(f64, f64)], time: f64) -> f64 {
    let next = keys.partition_point(|key| key.0 <= time);
    if next == 0 || next == keys.len() {
        return keys[next.min(keys.len() - 1)].1;
    }
    let (from, to) = (keys[next - 1], keys[next]);
    let span = to.0 - from.0;
    hermite([from.1, to.1], [span * slope(keys, next - 1), span * slope(keys, next)], (time - from.0) / span)
}

/// As [`curve`], for keys of one cycle with times from 0 to 1.
pub(crate) fn cycle(keys: &[(f64, f64)], phase: f64) -> f64 {
    let phase = phase - phase.floor();
    let shifted = |by: f64| keys.iter().map(move |key| (key.0 + by, key.1));
    let thrice: Vec<_> = shifted(-1.0).chain(shifted(0.0)).chain(shifted(1.0)).collect();
    curve(&thrice, phase)
}

/// Slope at a key: that of the chord between its neighbours, none at a turning point or an end.
fn slope(keys: &[(f64, f64)], n: usize) -> f64 {
    let (Some(before), Some(after)) = (n.checked_sub(1).map(|n| keys[n]), keys.get(n + 1)) else { return 0.0 };
    let rising = (keys[n].1 - before.1) * (after.1 - keys[n].1);
    if rising > 0.0 { (after.1 - before.1) / (after.0 - before.0) } else { 0.0 }
}

fn hermite([a, b]: [f64; 2], [p, q]: [f64; 2], s: f64) -> f64 {
    let (s2, s3) = (s * s, s * s * s);
    (2.0 * s3 - 3.0 * s2 + 1.0) * a + (s3 - 2.0 * s2 + s) * p + (3.0 * s2 - 2.0 * s3) * b + (s3 - s2) * q
}

/// From 0 to 1 between two times, level at both.
pub(crate) fn ease(time: f64, [from, until]: [f64; 2]) -> f64 {
    let s = ((time - from) / (until - from)).clamp(0.0, 1.0);
    s * s * (3.0 - 2.0 * s)
}

/// A turn about an axis by an angle \[degrees\].
pub(crate) fn turn(axis: DVec3, degrees: f64) -> DQuat {
    let (sin, cos) = libm::sincos(0.5 * degrees.to_radians());
    let v = axis.normalize() * sin;
    DQuat::from_xyzw(v.x, v.y, v.z, cos)
}

/// The turn that a rotation matrix makes.
pub(crate) fn turn_of(matrix: DMat3) -> DQuat {
    DQuat::from_mat3(&matrix).normalize()
}

/// Cosine of a number of whole turns.
pub(crate) fn wave(turns: f64) -> f64 {
    libm::cos(std::f64::consts::TAU * turns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_pass_through_their_keys_and_do_not_overshoot() {
        let keys = [(0.0, 1.0), (0.5, 3.0), (1.0, 3.0), (2.0, -1.0)];
        keys.iter().for_each(|&(time, value)| assert!((curve(&keys, time) - value).abs() < 1e-12));
        let all: Vec<f64> = (-10..=30).map(|n| curve(&keys, 0.1 * f64::from(n))).collect();
        assert!(all.iter().all(|value| (-1.0..=3.0).contains(value)) && all[0] == 1.0 && all[40] == -1.0);
    }

    #[test]
    fn a_cycle_ends_as_it_began() {
        let keys = [(0.0, 1.0), (0.3, 2.0), (0.6, 0.0)];
        assert!((cycle(&keys, 0.999_999) - cycle(&keys, 0.0)).abs() < 1e-4);
        assert!((cycle(&keys, 1.3) - 2.0).abs() < 1e-9 && (cycle(&keys, -0.4) - 0.0).abs() < 1e-9);
    }
}
