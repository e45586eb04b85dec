//! 000's hybrid form: lists by program under three headings, then the conversation's summary.

use longhaul_summarize::{Draft, SummaryRequest};
use longhaul_transcript::{FileState, Tokens};

use super::{
    page::{first_lines, of_the_person},
    words,
};

/// The document lets the model write this much (`maxTokens: 2000`).
const MOST_WORDS: Tokens = Tokens(2_000);

/// The three lists together get at least this share of the limit.
const LISTS_SHARE: f64 = 0.25;

/// What the headings cost at most.
const HEADINGS: Tokens = Tokens(24);

/// Returns the draft under the document's headings.
pub(super) fn text(draft: &Draft, request: &SummaryRequest<'_>) -> Option<String> {
    let (counter, summary) = (request.counter, &draft.summary);
    let said = match words(draft) {
        Some(words) => {
            let person = of_the_person(summary, request, words);
            [words].into_iter().chain(person.iter().map(String::as_str)).collect::<Vec<_>>().join("\n")
        }
        None => draft.text.clone(),
    };
    let files: Vec<String> = summary
        .files
        .iter()
        .map(|file| match file.state {
            FileState::Read => file.path.clone(),
            state => format!("{} ({})", file.path, state_word(state)),
        })
        .collect();
    let commands: Vec<String> = summary
        .commands
        .iter()
        .map(|command| match (command.note.is_empty(), command.exit_code) {
            (false, _) => format!("{} → {}", command.command, command.note),
            (true, Some(code)) => format!("{} → exit {code}", command.command),
            (true, None) => command.command.clone(),
        })
        .collect();
    let errors: Vec<String> = summary
        .errors
        .iter()
        .map(|error| match error.resolution.is_empty() {
            true => error.error.clone(),
            false => format!("{}; resolved: {}", error.error, error.resolution),
        })
        .collect();
    let limit = request.limit;
    let for_words = (limit - limit.scaled(LISTS_SHARE) - HEADINGS).min(MOST_WORDS);
    // What the lists do not need goes to the words, and the other way round.
    let lists: Vec<String> = [&files, &commands, &errors].map(|list| list.join("\n")).into();
    let of_lists: Tokens = lists.iter().map(|list| counter.count_text(list)).sum();
    let for_words = for_words.max(limit - of_lists - HEADINGS).min(match words(draft) {
        Some(_) => MOST_WORDS,
        None => limit,
    });
    let said = first_lines(&said, counter, for_words);
    let mut left = limit - counter.count_text(&said) - HEADINGS;
    let mut shown = Vec::new();
    for (nth, list) in [files, commands, errors].iter().enumerate() {
        let share = Tokens(left.0 / (3 - nth as u64));
        let newest = newest_that_fit(list, request, share);
        left -= counter.count_text(&newest);
        shown.push(newest);
    }
    let [files, commands, errors] = shown.try_into().ok()?;
    Some(format!(
        "## Files Referenced\n{files}\n\n## Commands Executed\n{commands}\n\n## Errors Encountered\n{errors}\n\n## Conversation Summary\n{said}"
    ))
}

fn state_word(state: FileState) -> &'static str {
    match state {
        FileState::Created => "created",
        FileState::Modified => "modified",
        FileState::Renamed => "renamed",
        FileState::Deleted => "deleted",
        FileState::Reverted => "reverted",
        _ => "read",
    }
}

/// Returns the newest entries that fit `limit`, oldest first, one a line. Changed files stand before read ones already.
fn newest_that_fit(list: &[String], request: &SummaryRequest<'_>, limit: Tokens) -> String {
    let mut spent = Tokens::ZERO;
    let fitting = list.iter().rev().take_while(|entry| {
        spent += request.counter.count_text(entry) + Tokens(1);
        spent <= limit
    });
    let count = fitting.count();
    list[list.len() - count..].join("\n").replace("\n\n", "\n")
}
