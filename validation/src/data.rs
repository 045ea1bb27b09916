//! Tables of reference values: comments after `#`, a line of names, then numbers.

/// A table.
pub(crate) struct Table {
    rows: Vec<Vec<f64>>,
}

impl Table {
    pub(crate) fn new(text: &str) -> Self {
        let lines = text.lines().filter(|line| !line.starts_with('#')).skip(1);
        let numbers = |line: &str| line.split(',').map(|word| word.trim().parse().unwrap_or(f64::NAN)).collect();
        Self { rows: lines.filter(|line| !line.is_empty()).map(numbers).collect() }
    }

    pub(crate) fn rows(&self) -> impl Iterator<Item = &[f64]> {
        self.rows.iter().map(Vec::as_slice)
    }
}

/// The value of a history of (time, value) at a time; the last or first one outside.
pub(crate) fn interpolate(history: &[[f64; 2]], time: f64) -> f64 {
    let after = history.partition_point(|h| h[0] < time);
    match (history.get(after.wrapping_sub(1)), history.get(after)) {
        (Some([t0, a]), Some([t1, b])) => a + (b - a) * (time - t0) / (t1 - t0),
        (Some([_, value]), None) | (None, Some([_, value])) => *value,
        (None, None) => f64::NAN,
    }
}
