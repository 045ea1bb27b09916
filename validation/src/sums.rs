//! Sums over what was measured. A set that is empty, or has a NaN in it, gives NaN, and a NaN fails its row.

/// What was measured over time: (time, value).
pub(crate) type History = Vec<[f64; 2]>;

/// The largest of some values.
pub(crate) fn largest(values: impl IntoIterator<Item = f64>) -> f64 {
    extreme(values, |a, b| a > b)
}

/// The least of some values.
pub(crate) fn least(values: impl IntoIterator<Item = f64>) -> f64 {
    extreme(values, |a, b| a < b)
}

/// The value that comes before all others.
fn extreme(values: impl IntoIterator<Item = f64>, before: fn(f64, f64) -> bool) -> f64 {
    let first = |a: f64, b: f64| if a.is_nan() || before(a, b) { a } else { b };
    values.into_iter().reduce(|a, b| if b.is_nan() { b } else { first(a, b) }).unwrap_or(f64::NAN)
}

/// The mean of some values.
pub(crate) fn mean(values: impl IntoIterator<Item = f64>) -> f64 {
    let (sum, count) = values.into_iter().fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    sum / count
}

/// The root of the mean of the squares.
pub(crate) fn rms(values: impl IntoIterator<Item = f64>) -> f64 {
    mean(values.into_iter().map(|value| value * value)).sqrt()
}

/// A value that counts only if something has happened: a body that does not move keeps its momentum, too.
pub(crate) fn given(happened: bool, value: f64) -> f64 {
    if happened { value } else { f64::NAN }
}

/// Whether a history of (time, value) can be read: a NaN would be stepped over by a search for zeros.
pub(crate) fn is_sound(history: &[[f64; 2]]) -> bool {
    !history.is_empty() && history.iter().flatten().all(|value| value.is_finite())
}

/// The value of a history of (time, value) at a time; the last or first one outside.
pub(crate) fn interpolate(history: &[[f64; 2]], time: f64) -> f64 {
    if time.is_nan() {
        return f64::NAN;
    }
    let after = history.partition_point(|h| h[0] < time);
    match (history.get(after.wrapping_sub(1)), history.get(after)) {
        (Some([t0, a]), Some([t1, b])) => a + (b - a) * (time - t0) / (t1 - t0),
        (Some([_, value]), None) | (None, Some([_, value])) => *value,
        (None, None) => f64::NAN,
    }
}

/// Times at which a history of (time, value) passes through a value.
pub(crate) fn passages(history: &[[f64; 2]], value: f64) -> Vec<f64> {
    let pairs = history.array_windows().filter(|[a, b]| (a[1] - value) * (b[1] - value) < 0.0);
    pairs.map(|[[t0, a], [t1, b]]| t0 + (t1 - t0) * (value - a) / (b - a)).collect()
}

/// Mean time between the passages of a history through a value.
pub(crate) fn half_period(history: &[[f64; 2]], value: f64) -> Result<f64, String> {
    if !is_sound(history) || !value.is_finite() {
        return Err("what was measured is not finite".into());
    }
    match passages(history, value)[..] {
        [first, ref between @ .., last] => Ok((last - first) / (between.len() + 1) as f64),
        _ => Err("it does not swing".into()),
    }
}
