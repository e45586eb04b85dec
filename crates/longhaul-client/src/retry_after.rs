//! The `Retry-After` header: seconds, or a date.

use std::time::{Duration, SystemTime};

/// Returns how long `value` asks to wait, counted from `now`. A date that has passed asks for no wait.
///
/// Reads seconds (with a fraction, as some gateways send) and the date format that RFC 9110 section 5.6.7 tells
/// senders to use, `Sun, 06 Nov 1994 08:49:37 GMT`. The two obsolete date formats are not read.
pub(crate) fn retry_after(value: &str, now: SystemTime) -> Option<Duration> {
    let value = value.trim();
    if let Ok(seconds) = value.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let at = SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(date(value)?))?;
    Some(at.duration_since(now).unwrap_or(Duration::ZERO))
}

/// Returns the seconds since the Unix epoch of an RFC 9110 date.
fn date(value: &str) -> Option<u64> {
    let (_, rest) = value.split_once(", ")?;
    let [day, month, year, time, "GMT"] = rest.split(' ').collect::<Vec<_>>()[..] else { return None };
    let [hour, minute, second] = time.split(':').collect::<Vec<_>>()[..] else { return None };
    let month = MONTHS.iter().position(|name| *name == month)? as u64 + 1;
    let (day, year) = (number(day, 31)?, number(year, 9_999)?);
    let (hour, minute, second) = (number(hour, 23)?, number(minute, 59)?, number(second, 60)?);
    let days = days_since_epoch(year, month, day)?;
    Some(days * 86_400 + hour * 3_600 + minute * 60 + second)
}

fn number(digits: &str, most: u64) -> Option<u64> {
    let only_digits = digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|number| only_digits && *number <= most)
}

/// Counts days in years that begin in March, so that the leap day is the last of its year.
fn days_since_epoch(year: u64, month: u64, day: u64) -> Option<u64> {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year.checked_sub(1)?, month + 9) };
    let leap_days = year / 4 - year / 100 + year / 400;
    let days = year * 365 + leap_days + (month * 153 + 2) / 5 + day.checked_sub(1)?;
    // Days from 1 March of year 0 to 1 January 1970.
    days.checked_sub(719_468)
}

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_and_dates() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
        let wait = |value| retry_after(value, now).map(|wait| wait.as_secs_f64());
        assert_eq!(wait("2"), Some(2.0));
        assert_eq!(wait(" 0.5 "), Some(0.5));
        assert_eq!(wait("Sun, 06 Nov 1994 08:49:37 GMT"), Some(0.0));
        assert_eq!(wait("Sun, 06 Nov 1994 08:50:37 GMT"), Some(60.0));
        assert_eq!(wait("Mon, 07 Nov 1994 08:49:37 GMT"), Some(86_400.0));
        assert_eq!(wait("Thu, 01 Jan 1970 00:00:00 GMT"), Some(0.0));
        for odd in [
            "",
            "soon",
            "-1",
            "NaN",
            "inf",
            "1e300",
            "Sun, 06 Nov 1994",
            "Sun, 99 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 0000 08:49:37 GMT",
        ] {
            assert_eq!(wait(odd), None, "{odd}");
        }
    }
}
