//! Placeholders: what stands in a secret's place, and the way back.

use std::{collections::HashMap, fmt, sync::Arc};

use crate::Finding;

/// Numbers secrets, and remembers which placeholder stands for which.
///
/// A placeholder names the rule and a number, never a hash: a hash would let a reader confirm a guess. (Names and ids, of
/// which formats take no placeholder and which must be the same in every message, end in a few digits of one.) The same secret
/// has the same placeholder as long as the same vault is used. A vault lives in the process: it is not serializable and
/// does not show what it holds.
#[derive(Clone, Default)]
pub struct Vault {
    /// The place of each secret among them: a text may have as many as it has lines.
    places: HashMap<Arc<str>, usize>,
    /// Placeholder and secret, in the order of their numbers.
    secrets: Vec<(Box<str>, Arc<str>)>,
}

impl Vault {
    /// Returns an empty vault.
    pub fn new() -> Vault {
        Vault::default()
    }

    /// Returns the placeholder of `secret`, found by `rule`: `[REDACTED:github-pat:1]`.
    pub fn placeholder(&mut self, rule: &str, secret: &str) -> &str {
        let place = match self.places.get(secret) {
            Some(place) => *place,
            None => {
                let place = self.secrets.len();
                let secret: Arc<str> = secret.into();
                self.places.insert(secret.clone(), place);
                self.secrets.push((format!("{PLACEHOLDER}{rule}:{}]", place + 1).into(), secret));
                place
            }
        };
        self.secrets.get(place).map_or("", |(placeholder, _)| placeholder)
    }

    /// Gives what was found in `text` the rules that its placeholders name: a message is searched in each spelling that it has,
    /// and another rule may find the same secret there.
    pub(crate) fn name(&self, text: &str, findings: &mut [Finding]) {
        for Finding { rule, span } in findings {
            let known = text.get(span.clone()).and_then(|secret| self.secrets.get(*self.places.get(secret)?));
            let named = known.and_then(|(placeholder, _)| {
                placeholder.strip_prefix(PLACEHOLDER)?.rsplit_once(':').map(|(rule, _)| rule)
            });
            if let Some(named) = named.filter(|named| *named != &**rule) {
                *rule = named.into();
            }
        }
    }

    /// Returns `text` with the placeholders of this vault turned back into the secrets.
    pub fn restore(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find(PLACEHOLDER) {
            out.push_str(&rest[..at]);
            rest = &rest[at..];
            // Its number is its place, so that a text full of placeholders costs no search for each.
            const LONGEST: usize = 256;
            let end = rest.bytes().take(LONGEST).position(|byte| byte == b']');
            let number = end.and_then(|end| rest[..end].rsplit(':').next()?.parse::<usize>().ok());
            let known = number.and_then(|number| self.secrets.get(number.checked_sub(1)?));
            let known = known.filter(|(placeholder, _)| rest.starts_with(&**placeholder));
            let (shown, length) = match known {
                Some((placeholder, secret)) => (&**secret, placeholder.len()),
                None => (&rest[..1], 1),
            };
            out.push_str(shown);
            rest = &rest[length..];
        }
        out.push_str(rest);
        out
    }

    /// Returns how many different secrets the vault knows.
    pub fn len(&self) -> usize {
        self.secrets.len()
    }

    /// Returns whether the vault knows no secret.
    pub fn is_empty(&self) -> bool {
        self.secrets.is_empty()
    }
}

impl fmt::Debug for Vault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Vault").field("secrets", &self.secrets.len()).finish()
    }
}

/// Returns how many placeholders stand in a text.
pub fn placeholders(text: &str) -> usize {
    let begins = text.match_indices(PLACEHOLDER);
    begins.filter(|(at, _)| text[at + PLACEHOLDER.len()..].split(']').next().is_some_and(is_numbered)).count()
}

/// Returns whether a placeholder holds a rule and a number.
fn is_numbered(inside: &str) -> bool {
    inside.rsplit_once(':').is_some_and(|(rule, number)| !rule.is_empty() && number.parse::<u64>().is_ok())
}

/// How what stands for a secret begins.
pub(crate) const PLACEHOLDER: &str = "[REDACTED:";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_secret_has_the_same_placeholder_and_comes_back() {
        let mut vault = Vault::new();
        let first = vault.placeholder("r", "s1").to_owned();
        assert_eq!(first, "[REDACTED:r:1]");
        assert_eq!(vault.placeholder("other", "s1"), first);
        assert_eq!(vault.placeholder("r", "s2"), "[REDACTED:r:2]");
        let text = "a [REDACTED:r:1] b [REDACTED:r:2] c [REDACTED:r:3] [REDACTED:";
        assert_eq!(placeholders(text), 3);
        assert_eq!(vault.restore(text), "a s1 b s2 c [REDACTED:r:3] [REDACTED:");
    }

    #[test]
    fn debug_shows_no_secret() {
        let mut vault = Vault::new();
        vault.placeholder("r", "hunter2");
        assert!(!format!("{vault:?}").contains("hunter2"));
    }
}
