//! The seams on a tokio runtime: the system's clock, its timer, and chance enough to part clients that fail together.

use std::{
    future::Future,
    pin::Pin,
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use longhaul_transcript::{Clock, Jitter, Sleep};

/// The system's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now_ms(&self) -> i64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
    }
}

/// Waits on tokio's timer. It must be enabled in the runtime.
#[derive(Clone, Copy, Debug, Default)]
pub struct TokioSleep;

impl Sleep for TokioSleep {
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(tokio::time::sleep(duration))
    }
}

/// Spreads retries by the low digits of the clock: enough to part clients that failed at the same moment.
#[derive(Debug, Default)]
pub struct ClockJitter(AtomicU64);

impl Jitter for ClockJitter {
    fn next(&self) -> f64 {
        let turn = self.0.fetch_add(0x9E37_79B9_7F4A_7C15, Ordering::Relaxed);
        let mixed = (turn ^ SystemClock.now_ms() as u64 ^ u64::from(std::process::id()))
            .wrapping_mul(0xD6E8_FEB8_6659_FD93);
        (mixed >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jitter_is_a_share() {
        let jitter = ClockJitter::default();
        assert!((0..1_000).map(|_| jitter.next()).all(|share| (0.0..1.0).contains(&share)));
    }
}
