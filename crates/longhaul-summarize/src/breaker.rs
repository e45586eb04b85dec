//! Stops asking a model that keeps failing, and tries it again after a while.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
    time::Duration,
};

/// When a model is left alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BreakerOptions {
    /// Failures of the provider in a row after which it is left alone. Range: from 1. Default: 3.
    pub failures: u32,
    /// How long it is left alone; then one request may try. Default: 60 s.
    pub cooldown: Duration,
}

/// One circuit for each model: closed while it answers, open after repeated failures, half-open for one trial.
///
/// Only trouble of the provider opens it; an answer that is no summary does not, since another conversation may fare
/// better. A trial that is never reported (its future was dropped) does not wedge the circuit: the next trial is
/// due one cooldown later.
#[derive(Debug)]
pub(crate) struct Breaker {
    options: BreakerOptions,
    circuits: Mutex<BTreeMap<String, Circuit>>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Circuit {
    failures: u32,
    /// When the next trial is due, in milliseconds since the Unix epoch.
    trial_at_ms: i64,
}

impl Default for BreakerOptions {
    fn default() -> BreakerOptions {
        BreakerOptions { failures: 3, cooldown: Duration::from_secs(60) }
    }
}

impl Breaker {
    pub(crate) fn new(options: BreakerOptions) -> Breaker {
        Breaker { options, circuits: Mutex::new(BTreeMap::new()) }
    }

    /// Returns whether `model` may be asked now. A yes to an open circuit is its trial.
    pub(crate) fn admits(&self, model: &str, now_ms: i64) -> bool {
        let mut circuits = self.circuits.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(circuit) = circuits.get_mut(model) else { return true };
        if circuit.failures < self.options.failures.max(1) {
            return true;
        }
        // A clock that was set back must not keep the circuit open for longer than one cooldown.
        let wait = circuit.trial_at_ms.saturating_sub(now_ms);
        if wait > 0 && wait <= self.cooldown_ms() {
            return false;
        }
        circuit.trial_at_ms = now_ms.saturating_add(self.cooldown_ms());
        true
    }

    /// Returns whether `model` failed so often that a request to it is a trial.
    pub(crate) fn is_open(&self, model: &str) -> bool {
        let circuits = self.circuits.lock().unwrap_or_else(PoisonError::into_inner);
        circuits.get(model).is_some_and(|circuit| circuit.failures >= self.options.failures.max(1))
    }

    pub(crate) fn succeeded(&self, model: &str) {
        self.circuits.lock().unwrap_or_else(PoisonError::into_inner).remove(model);
    }

    pub(crate) fn failed(&self, model: &str, now_ms: i64) {
        let mut circuits = self.circuits.lock().unwrap_or_else(PoisonError::into_inner);
        let circuit = circuits.entry(model.to_owned()).or_default();
        circuit.failures = circuit.failures.saturating_add(1);
        circuit.trial_at_ms = now_ms.saturating_add(self.cooldown_ms());
    }

    fn cooldown_ms(&self) -> i64 {
        i64::try_from(self.options.cooldown.as_millis()).unwrap_or(i64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closed_open_half_open_closed() {
        let breaker = Breaker::new(BreakerOptions { failures: 2, cooldown: Duration::from_secs(10) });
        breaker.failed("m", 0);
        assert!(breaker.admits("m", 0), "one failure is not enough");
        breaker.failed("m", 0);
        assert!(!breaker.admits("m", 9_999));
        assert!(breaker.admits("other", 0), "other models are not affected");
        assert!(breaker.admits("m", 10_000), "the trial");
        assert!(!breaker.admits("m", 10_001), "one trial at a time");
        breaker.failed("m", 10_500);
        assert!(!breaker.admits("m", 20_000));
        assert!(breaker.admits("m", 20_500));
        breaker.succeeded("m");
        assert!(breaker.admits("m", 20_501) && breaker.admits("m", 20_502));
    }

    #[test]
    fn a_dropped_trial_or_a_clock_set_back_does_not_wedge_it() {
        let breaker = Breaker::new(BreakerOptions { failures: 1, cooldown: Duration::from_secs(10) });
        breaker.failed("m", 1_000_000);
        assert!(breaker.admits("m", 1_010_000), "this trial is dropped");
        assert!(breaker.admits("m", 1_020_000));
        breaker.failed("m", 1_030_000);
        assert!(breaker.admits("m", 5), "a year back");
    }
}
