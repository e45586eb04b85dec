//! The times of lines.

use crate::{json::Json, lines};

/// Returns the newest time that a line of `bytes` bears, in milliseconds since 1970.
pub(super) fn newest(bytes: &[u8]) -> Option<i64> {
    let stamps = lines::split(bytes).into_iter().filter_map(|range| {
        let json = Json::check(&bytes[range]).ok()?;
        read(&json.get("timestamp")?.text()?)
    });
    stamps.max()
}

/// Returns a time, in milliseconds since 1970, as the session files of agents write it: `2026-02-04T04:17:12.984Z`.
pub fn timestamp(at_ms: i64) -> String {
    let (days, ms) = (at_ms.div_euclid(DAY), at_ms.rem_euclid(DAY));
    // Civil from days, after Howard Hinnant's `chrono`-compatible algorithms: eras of 400 years that begin in March.
    let shifted = days + ERA_BEGIN;
    let (era, day_of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let (hour, minute, second) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1_000 % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{:03}Z", ms % 1_000)
}

/// Returns the time that `text` tells, where it is written like [`timestamp`] writes it, fractions apart.
fn read(text: &str) -> Option<i64> {
    let number = |range: std::ops::Range<usize>| text.get(range)?.parse::<i64>().ok();
    let (year, month, day) = (number(0..4)?, number(5..7)?, number(8..10)?);
    let (hour, minute, second) = (number(11..13)?, number(14..16)?, number(17..19)?);
    let fraction = text.get(19..)?.strip_suffix('Z')?;
    let ms = match fraction.strip_prefix('.') {
        Some(digits) => digits.chars().chain("000".chars()).take(3).collect::<String>().parse().ok()?,
        None if fraction.is_empty() => 0,
        None => return None,
    };
    let year = year - i64::from(month <= 2);
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * (month + if month > 2 { -3 } else { 9 }) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    let days = era * 146_097 + day_of_era - ERA_BEGIN;
    Some(days * DAY + ((hour * 60 + minute) * 60 + second) * 1_000 + ms)
}

/// A day in milliseconds.
const DAY: i64 = 86_400_000;
/// 1970-01-01 in days since 0000-03-01.
const ERA_BEGIN: i64 = 719_468;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_they_are_written() {
        for (at, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (1_709_210_096_007, "2024-02-29T12:34:56.007Z"),
            (-1, "1969-12-31T23:59:59.999Z"),
            (4_102_444_800_000, "2100-01-01T00:00:00.000Z"),
        ] {
            assert_eq!((timestamp(at).as_str(), read(text)), (text, Some(at)));
        }
        assert_eq!(read("2024-02-29T12:34:56Z"), Some(1_709_210_096_000));
        assert_eq!(read("2024-02-29T12:34:56.0079Z"), Some(1_709_210_096_007));
        for odd in ["", "now", "2024-02-29", "2024-02-29T12:34:56+01:00", "2024-02-29T12:34:56.é"] {
            assert_eq!(read(odd), None, "{odd}");
        }
    }
}
