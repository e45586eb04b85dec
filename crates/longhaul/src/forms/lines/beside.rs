//! What stands beside a model's words, which stay as they are.

use longhaul_summarize::{Draft, SummaryRequest, rules::Since};
use longhaul_transcript::{Constraint, Summary, Tokens};

use super::{
    super::page::{Page, is_a_persons, with_the_person},
    drawn::new_demands,
    is_kept, is_update,
    line::{Class, Line},
    new_entries, said_in,
};

/// Returns a model's words with what the user demands after them. What must be said may cost up to `most`.
pub(super) fn with_what_is_owed(
    words: &str,
    draft: &Draft,
    request: &SummaryRequest<'_>,
    most: Tokens,
) -> String {
    let said = of_the_person(draft, request, most);
    // The first may take the room that it was asked to leave for an update: its end is worth more than one.
    let limit = if is_update(request) { request.limit } else { most };
    let text = with_the_person(words, &said, request, limit, "\n\n");
    if takes_the_place(request, most) {
        return with_decisions(text, &said.decisions, request, limit);
    }
    // What it took the place of leaves the text before.
    let since = Since::summary_before(request).filter(|_| is_update(request));
    let newer: Vec<String> = since.iter().flat_map(Since::decisions).map(str::to_owned).collect();
    with_decisions(text, &newer, request, limit)
}

/// Returns whether what is new takes the place of what was said before, for want of room within `most`.
fn takes_the_place(request: &SummaryRequest<'_>, most: Tokens) -> bool {
    let previous = request.previous.filter(|_| is_update(request));
    previous.is_some_and(|previous| previous.tokens + request.limit > most)
}

/// Returns a model's words and behind them the newest of `decisions` that they do not tell, as far as there is room: those of the words
/// whose place they take are gone with these.
fn with_decisions(
    words: String,
    decisions: &[String],
    request: &SummaryRequest<'_>,
    limit: Tokens,
) -> String {
    let missing = decisions.iter().filter(|decision| !words.contains(decision.trim()));
    let lines = missing.filter(|decision| !is_kept(request, decision.trim())).map(|decision| {
        let is_a_persons =
            said_in(request.entries, decision).is_some_and(|entry| is_a_persons(&entry.message));
        Line::of(if is_a_persons { Class::Choice } else { Class::Decision }, decision).text
    });
    let lines: Vec<String> = lines.collect();
    let mut page = Page::new(request.counter, limit);
    page.text = words;
    page.newest(&lines);
    page.text
}

/// Returns a summary with the task and the rules that a model's words do not stand beside yet. Where they follow what was said before,
/// the new rules; where they take its place, for want of room within `most`, all of it that is known.
fn of_the_person(draft: &Draft, request: &SummaryRequest<'_>, most: Tokens) -> Summary {
    let mut said = draft.summary.clone();
    let Some(previous) = request.previous.filter(|_| is_update(request)) else { return said };
    if !takes_the_place(request, most) {
        let first = new_entries(request).first().map_or(u64::MAX, |entry| entry.id.ordinal);
        said.constraints = new_demands(&said.constraints, first);
        said.goal.clear();
        return said;
    }
    let before = &previous.summary;
    if said.goal.trim().is_empty() {
        said.goal.clone_from(&before.goal);
    }
    let is_known = |rule: &Constraint| said.constraints.iter().any(|known| known.text == rule.text);
    let older: Vec<_> = before.constraints.iter().filter(|rule| !is_known(rule)).cloned().collect();
    said.constraints.splice(0..0, older);
    said
}
