//! How much a visitor may say.

use std::time::Instant;

/// Messages that a viewer may send per second in the long run \[1/s\]: a drag and its pictures are about two hundred.
const RATE: f64 = 600.0;
/// Messages that it may send at once.
const BURST: f64 = 1200.0;

/// Fills with time, empties with messages.
#[derive(Debug)]
pub(crate) struct Bucket {
    left: f64,
    seen: Instant,
}

impl Bucket {
    pub(crate) fn new(now: Instant) -> Self {
        Self { left: BURST, seen: now }
    }

    /// Whether one more message is allowed.
    pub(crate) fn take(&mut self, now: Instant) -> bool {
        let passed = now.saturating_duration_since(self.seen).as_secs_f64();
        self.seen = now;
        self.left = (self.left + passed * RATE).min(BURST);
        let allowed = self.left >= 1.0;
        self.left -= if allowed { 1.0 } else { 0.0 };
        allowed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_drag_passes_and_a_flood_does_not() {
        let start = Instant::now();
        let allowed_at = |rate: u32, seconds: u32| {
            let mut bucket = Bucket::new(start);
            (0..rate * seconds).all(|n| bucket.take(start + Duration::from_secs(1) * n / rate))
        };
        assert!(allowed_at(240, 60));
        assert!(!allowed_at(10_000, 1));
    }
}
