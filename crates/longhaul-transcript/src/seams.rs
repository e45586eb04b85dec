//! What the layers are handed instead of taking it from the system: time, waiting, chance.

use std::{fmt::Debug, future::Future, pin::Pin, time::Duration};

/// Tells the time. Layers never read the system's clock.
pub trait Clock: Debug + Send + Sync {
    /// Returns milliseconds since the Unix epoch.
    fn now_ms(&self) -> i64;
}

/// Waits. Libraries name no runtime: the caller hands in its runtime's timer.
pub trait Sleep: Debug + Send + Sync {
    /// Returns a future that is ready after `duration`.
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Future<Output = ()> + Send + '_>>;
}

/// Spreads retries, so that many clients do not come back at the same moment.
pub trait Jitter: Debug + Send + Sync {
    /// Returns a number from 0.0 up to but not including 1.0.
    fn next(&self) -> f64;
}

/// A clock that stands still. For tests, and for output that must not depend on the time.
#[derive(Clone, Copy, Debug, Default)]
pub struct FixedClock(pub i64);

impl Clock for FixedClock {
    fn now_ms(&self) -> i64 {
        self.0
    }
}

/// A sleep that does not wait.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoSleep;

impl Sleep for NoSleep {
    fn sleep(&self, _: Duration) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(std::future::ready(()))
    }
}

/// No jitter at all.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoJitter;

impl Jitter for NoJitter {
    fn next(&self) -> f64 {
        0.0
    }
}
