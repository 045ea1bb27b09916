//! Wall-clock times as text.

use std::time::{SystemTime, UNIX_EPOCH};

const SECONDS_PER_DAY: i64 = 86_400;

/// A time as RFC 3339 text in UTC, to the second: `2026-02-28T17:05:09Z`.
#[must_use]
pub fn rfc3339_utc(time: SystemTime) -> String {
    let seconds = match time.duration_since(UNIX_EPOCH) {
        Ok(after) => after.as_secs() as i64,
        // Before 1970: round down, as after it.
        Err(before) => -(before.duration().as_secs_f64().ceil() as i64),
    };
    let (year, month, day) = civil_from_days(seconds.div_euclid(SECONDS_PER_DAY));
    let second = seconds.rem_euclid(SECONDS_PER_DAY);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// Year, month and day of a number of days since 1970-01-01, in the Gregorian calendar.
///
/// Years are counted from 1 March, so that the leap day is the last of its year and the months before it repeat:
/// March to July and August to December have 153 days each.
fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let since_march_0000 = days + 719_468;
    let (cycle, day) = (since_march_0000.div_euclid(400 * 365 + 97), since_march_0000.rem_euclid(400 * 365 + 97));
    // The fourth century of a cycle and the fourth year of four are a day longer than the others.
    let century = (day / (100 * 365 + 24)).min(3);
    let day = day - century * (100 * 365 + 24);
    let (four, day) = (day / (4 * 365 + 1), day % (4 * 365 + 1));
    let year = (day / 365).min(3);
    let day = day - year * 365;
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    // Months 10 and 11 from March are January and February of the next civil year.
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (400 * cycle + 100 * century + 4 * four + year + next, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn agrees_with_known_times() {
        let at = |seconds| rfc3339_utc(UNIX_EPOCH + Duration::from_secs(seconds));
        assert_eq!(at(0), "1970-01-01T00:00:00Z");
        assert_eq!(at(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(at(1_234_567_890), "2009-02-13T23:31:30Z");
        assert_eq!(at(4_107_542_399), "2100-02-28T23:59:59Z");
        assert_eq!(at(4_107_542_400), "2100-03-01T00:00:00Z");
        assert_eq!(rfc3339_utc(UNIX_EPOCH - Duration::from_millis(1)), "1969-12-31T23:59:59Z");
    }

    #[test]
    fn walks_through_eight_centuries_day_by_day() {
        let leap = |y: i64| y % 4 == 0 && (y % 100 != 0 || y % 400 == 0);
        let length = |y, m: i64| match m {
            2 => 28 + i64::from(leap(y)),
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        };
        let (mut year, mut month, mut day) = (1600, 1, 1);
        for days in -135_140..157_054 {
            assert_eq!(civil_from_days(days), (year, month, day));
            day += 1;
            if day > length(year, month) {
                (month, day) = (month + 1, 1);
            }
            if month > 12 {
                (year, month) = (year + 1, 1);
            }
        }
        assert_eq!((year, month, day), (2400, 1, 1));
    }
}
