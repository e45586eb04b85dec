//! The rules that providers hold a history to, checked on its JSON: what they share. Those of a format stand beside its reader, in
//! `formats/NAME/rules.rs`.
//!
//! No rules use the readers' model: a fault that reader and writer share would otherwise go unseen. What splits a file
//! into lines and values (`json`, `whole`) is theirs too, and formats without rules are checked by reading them. Rule ids are
//! those of `docs/wire-rules.md` (`A-05`, `O-03`, ...). What may stand first and last (U-10) each provider says for itself.

mod profile;
pub(crate) mod session;

use std::fmt;

pub use profile::{IdPattern, Profile, Thinking};

pub(crate) use crate::whole::value;
use crate::{
    Format, WireError,
    error::Fault,
    json::{Json, Object},
};

/// A rule that a history breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Violation {
    /// The rule's id, such as `A-05`.
    pub rule: &'static str,
    /// Where, as a path into the JSON.
    pub path: String,
    /// What is wrong there.
    pub detail: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}: {}", self.rule, self.path, self.detail)
    }
}

/// Checks `history` against the rules of `format`, as far as `profile` does not loosen or tighten them.
///
/// A history may end in the middle of an exchange: calls of its last message that nothing answers yet are no fault.
///
/// # Errors
/// When `history` is not in `format` at all.
pub fn validate(history: &[u8], format: Format, profile: &Profile) -> Result<Vec<Violation>, WireError> {
    let mut report = Report::default();
    match format.spec().validate {
        Some(check) => check(history, profile, &mut report)?,
        None => drop(crate::read(Some(format), history)?),
    }
    Ok(report.0)
}

/// Checks a file against the rules of a format. It fails where the file is not in the format at all.
pub(crate) type Check = fn(&[u8], &Profile, &mut Report) -> Result<(), WireError>;

/// The rules found broken so far.
#[derive(Debug, Default)]
pub(crate) struct Report(Vec<Violation>);

impl Report {
    pub(crate) fn add(&mut self, rule: &'static str, path: impl Into<String>, detail: impl Into<String>) {
        self.0.push(Violation { rule, path: path.into(), detail: detail.into() });
    }
}

/// Returns the elements of the list, which is the document or one of its fields.
pub(crate) fn messages<'a>(json: Json<'a>, keys: &[&str]) -> Result<Vec<Json<'a>>, WireError> {
    let list = match json.is_array() {
        true => Some(json),
        false => keys.iter().find_map(|key| json.get(key)),
    };
    match list.filter(|list| list.is_array()) {
        Some(list) => Ok(list.elements()),
        None => Err(Fault::new("", json.raw(), "an array of messages, or an object that holds one")
            .at("the document")),
    }
}

/// U-13, U-14: there is a message, and each bears one of the `roles`; which those of `messages` are that bear one, `is_said` tells.
pub(crate) fn roles(
    messages: &[Json<'_>],
    list: &str,
    roles: &[&str],
    is_said: impl Fn(&Object<'_>) -> bool,
    report: &mut Report,
) {
    if messages.is_empty() {
        report.add("U-13", list, "there are none; a request needs one at least");
    }
    for (at, message) in messages.iter().enumerate() {
        let role = message.object().text("role").unwrap_or_default().into_owned();
        if is_said(&message.object()) && !roles.contains(&&*role) {
            let expected = roles.join(", ");
            report.add(
                "U-14",
                format!("{list}[{at}]"),
                format!("the role {role:?}; expected one of {expected}"),
            );
        }
    }
}

pub(crate) fn kind(block: &Object<'_>) -> String {
    block.text("type").unwrap_or_default().into_owned()
}

/// Returns whether a text is empty or only whitespace: providers take the one for the other.
pub(crate) fn is_blank(text: &str) -> bool {
    text.chars().all(char::is_whitespace)
}
