//! 001's form: `--- Summarized Context (N items) ---` over a line for each thing that was done or said.

mod beside;
mod chosen;
mod condensed;
mod cured;
mod drawn;
mod holds;
mod line;
mod once;
#[cfg(any(feature = "wire", test))]
pub(super) mod said;
mod short;
#[cfg(test)]
mod tests;
mod tools;

use longhaul_summarize::{Draft, SummaryRequest};
use longhaul_transcript::{Entry, Tokens};

pub(crate) use condensed::condense;
pub(crate) use holds::Holds;

use super::words;

/// Ends a summary in which something that must be said did not fit.
const TRUNCATED: &str = "[Summary truncated]";

/// Stands before what is left when updates no longer fit together.
const CONDENSED: &str = "[Condensed history]";

/// What the head begins with.
const HEAD: &str = "--- Summarized Context (";

/// Returns the draft in the document's lines; a model's words stay as they are, with what the user demands after them. What must be
/// said may cost up to `most`.
pub(super) fn text(
    draft: &Draft,
    request: &SummaryRequest<'_>,
    most: Tokens,
    error_details: bool,
) -> Option<String> {
    if let Some(words) = words(draft) {
        return Some(beside::with_what_is_owed(words, draft, request, most));
    }
    let lines = drawn::lines(draft, request, error_details);
    (!lines.is_empty()).then(|| chosen::framed("", &lines, request.counter, request.limit, most))
}

fn head(count: usize) -> String {
    format!("{HEAD}{count} items) ---")
}

/// Returns whether the summary follows what the one before it says, and tells of what is new only.
fn is_update(request: &SummaryRequest<'_>) -> bool {
    request.previous.is_some() && request.depth > 0
}

/// Returns what the summary is to tell of.
fn new_entries<'a>(request: &SummaryRequest<'a>) -> &'a [Entry] {
    let told = request.previous.filter(|_| is_update(request)).map_or(0, |previous| previous.covers.end);
    let at = request.entries.partition_point(|entry| entry.id.ordinal < told);
    &request.entries[at..]
}

/// Returns the message that this was said in.
fn said_in<'e>(entries: &'e [Entry], said: &str) -> Option<&'e Entry> {
    entries.iter().find(|entry| entry.message.texts().any(|text| text.contains(said.trim())))
}

/// Returns whether a message that stays says this.
fn is_kept(request: &SummaryRequest<'_>, text: &str) -> bool {
    request.kept.iter().any(|entry| entry.message.texts().any(|said| said.contains(text)))
}
