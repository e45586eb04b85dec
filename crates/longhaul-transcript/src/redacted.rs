//! Proof, in the type, that secrets were looked for.

use std::ops::Deref;

/// A value that went through redaction. The store accepts nothing else, so that forgetting is a type error.
///
/// `longhaul-redact` makes these; [`Redacted::assume`] is for a caller who has a reason to know better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Redacted<T>(T);

impl<T> Redacted<T> {
    /// Takes the caller's word that `value` holds no secret.
    pub fn assume(value: T) -> Redacted<T> {
        Redacted(value)
    }

    /// Returns the value.
    pub fn into_inner(self) -> T {
        self.0
    }
}

impl<T> Deref for Redacted<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}
