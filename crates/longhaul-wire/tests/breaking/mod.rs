//! Whether a history breaks exactly one rule.
#![allow(dead_code, reason = "each test binary uses some of these")]

use longhaul_wire::{Format, Profile, validate};

/// The rules that `history` breaks, each once, sorted.
pub(crate) fn rules(history: &str, format: Format, profile: &Profile) -> Vec<&'static str> {
    let found = validate(history.as_bytes(), format, profile).expect("a history of the format");
    let mut rules: Vec<_> = found.into_iter().map(|violation| violation.rule).collect();
    rules.sort_unstable();
    rules.dedup();
    rules
}

pub(crate) fn breaks_with(rule: &str, format: Format, history: &str, profile: &Profile) {
    assert_eq!(rules(history, format, profile), [rule], "{history}");
}

pub(crate) fn breaks(rule: &str, format: Format, history: &str) {
    breaks_with(rule, format, history, &Profile::default());
}

pub(crate) fn holds_with(format: Format, history: &str, profile: &Profile) {
    let found = validate(history.as_bytes(), format, profile).expect("a history of the format");
    assert_eq!(found, [], "{history}");
}

pub(crate) fn holds(format: Format, history: &str) {
    holds_with(format, history, &Profile::default());
}
