//! The system's clock, as commands read it.

use longhaul::{runtime::SystemClock, transcript::Clock as _};

/// Returns milliseconds since the Unix epoch.
pub(crate) fn now_ms() -> i64 {
    SystemClock.now_ms()
}
