//! Simulated time against the time on the wall.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// A simulation that falls further behind than this does not try to catch up.
const PATIENCE: Duration = Duration::from_millis(100);

/// Steps that are taken in one go may run ahead by this much.
const AHEAD: Duration = Duration::from_millis(25);

/// Holds simulated time back to `speed` times the time on the wall.
#[derive(Debug)]
pub(crate) struct Pace {
    pub(crate) speed: f64,
    /// A moment at which both times were noted.
    mark: Option<(Instant, f64)>,
}

impl Pace {
    pub(crate) fn new() -> Self {
        Self { speed: 1.0, mark: None }
    }

    /// Forgets what was: after a pause, a reset or another speed.
    pub(crate) fn restart(&mut self) {
        self.mark = None;
    }

    /// How long the simulation has to wait at `time` \[s\]. The steps of a frame are taken `in_one_go` and followed by one rest:
    /// threads take their time to wake.
    pub(crate) fn wait(&mut self, time: f64, in_one_go: bool, now: Instant) -> Duration {
        let early = self.due(time, now).saturating_duration_since(now);
        if in_one_go && early < AHEAD { Duration::ZERO } else { early }
    }

    /// When the wall clock comes to `time` \[s\].
    pub(crate) fn due(&mut self, time: f64, now: Instant) -> Instant {
        let (then, start) = *self.mark.get_or_insert((now, time));
        let due = then + Duration::from_secs_f64(((time - start) / self.speed).clamp(0.0, 1e6));
        if now > due + PATIENCE {
            self.mark = Some((now, time));
        }
        due
    }
}

/// Time over which the rate is measured.
const WINDOW: Duration = Duration::from_millis(1500);

/// Measures simulated seconds per second on the wall.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    seen: VecDeque<(Instant, f64)>,
}

impl Meter {
    pub(crate) fn restart(&mut self) {
        self.seen.clear();
    }

    pub(crate) fn note(&mut self, time: f64, now: Instant) {
        self.seen.push_back((now, time));
        while self.seen.len() > 2 && now - self.seen[0].0 > WINDOW {
            self.seen.pop_front();
        }
    }

    /// The rate, dimensionless; nothing until there is something to measure.
    pub(crate) fn rate(&self) -> Option<f64> {
        let ((start, from), (end, to)) = (*self.seen.front()?, *self.seen.back()?);
        let wall = (end - start).as_secs_f64();
        (wall > 0.05).then(|| (to - from) / wall)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fast_simulation_waits_and_a_slow_one_does_not_hurry_later() {
        let start = Instant::now();
        let after = |ms: u64| start + Duration::from_millis(ms);
        let mut pace = Pace::new();
        pace.speed = 0.5;
        assert_eq!(pace.due(1.0, start), start);
        assert_eq!(pace.due(1.1, after(10)), after(200));
        // Half a second late: the wall clock is taken as it is.
        assert!(pace.due(1.2, after(900)) < after(900));
        assert_eq!(pace.due(1.25, after(910)), after(1000));
    }

    #[test]
    fn a_frame_is_taken_in_one_go_and_slow_motion_is_not() {
        // Four steps of 4 ms to a frame, each of which takes 1 ms.
        let waits = |speed: f64| {
            let (mut pace, mut now) = (Pace { speed, ..Pace::new() }, Instant::now());
            let mut wait_at = |k: u32| {
                let wait = pace.wait(0.004 * f64::from(k), !k.is_multiple_of(4), now);
                assert!(
                    pace.wait(0.004 * f64::from(k), !k.is_multiple_of(4), now + wait).is_zero(),
                    "a rest has an end"
                );
                now += wait + Duration::from_millis(1);
                wait.as_millis()
            };
            [0, 1, 2, 3, 4, 5, 6, 7, 8].map(&mut wait_at)
        };
        assert_eq!(waits(1.0), [0, 0, 0, 0, 12, 0, 0, 0, 12]);
        assert_eq!(waits(0.1), [0, 39, 39, 39, 39, 39, 39, 39, 39]);
    }

    #[test]
    fn the_rate_is_that_of_the_last_moments() {
        let start = Instant::now();
        let mut meter = Meter::default();
        assert_eq!(meter.rate(), None);
        for k in 0..100 {
            let time = if k < 50 { 0.0 } else { f64::from(k - 50) * 0.05 };
            meter.note(time, start + Duration::from_millis(100 * k as u64));
        }
        assert!((meter.rate().unwrap() - 0.5).abs() < 1e-6);
    }
}
