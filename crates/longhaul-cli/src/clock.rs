//! The system's clock, read here and nowhere below.

use std::time::{SystemTime, UNIX_EPOCH};

/// Returns milliseconds since the Unix epoch.
pub(crate) fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
