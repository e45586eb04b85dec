//! 000's hybrid form: lists by program under three headings, then the conversation's summary.

use std::collections::HashMap;

use longhaul_extract::CallView;
use longhaul_summarize::{Draft, SummaryRequest};
use longhaul_transcript::{Entry, FileState, Summary, Tokens};

use super::{
    page::{first_lines, of_the_person, owed_to_rules, sure, with_the_person},
    words,
};

/// The document lets the model write this much (`maxTokens: 2000`).
const MOST_WORDS: Tokens = Tokens(2_000);

/// The three lists together get at least this share of the limit; beside a model, of what its words leave.
const LISTS_SHARE: f64 = 0.25;
const LISTS_SHARE_BESIDE_A_MODEL: f64 = 0.6;

/// What the headings cost at most.
const HEADINGS: Tokens = Tokens(24);

/// Returns the draft under the document's headings.
pub(super) fn text(draft: &Draft, request: &SummaryRequest<'_>) -> Option<String> {
    let (counter, summary) = (request.counter, &draft.summary);
    let files = files(summary, request.entries);
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
    // What the lists do not need goes to the words, and the other way round.
    let lists: Vec<String> = [&files, &commands, &errors].map(|list| list.join("\n")).into();
    let of_lists: Tokens = lists.iter().map(|list| counter.count_text(list)).sum();
    let for_words = match words(draft) {
        Some(words) => {
            let left = limit - HEADINGS - sure(words, request);
            // The rules that the words do not tell go before what is listed.
            let owed = owed_to_rules(&of_the_person(summary, request, words), counter);
            let for_lists = left.scaled(LISTS_SHARE_BESIDE_A_MODEL).min(left - owed);
            (limit - HEADINGS - of_lists.min(for_lists)).min(MOST_WORDS)
        }
        None => limit - HEADINGS - of_lists.min(limit.scaled(LISTS_SHARE)),
    };
    let said = match words(draft) {
        Some(words) => with_the_person(words, summary, request, for_words, "\n"),
        None => first_lines(&draft.text, counter, for_words),
    };
    let mut left = limit - counter.count_text(&said) - HEADINGS;
    let mut shown = Vec::new();
    for (nth, list) in [files, commands, errors].iter().enumerate() {
        let share = Tokens(left.0 / (3 - nth as u64));
        let newest = match nth {
            0 => first_that_fit(list, request, share),
            _ => newest_that_fit(list, request, share),
        };
        left -= counter.count_text(&newest);
        shown.push(newest);
    }
    let [files, commands, errors] = shown.try_into().ok()?;
    Some(format!(
        "## Files Referenced\n{files}\n\n## Commands Executed\n{commands}\n\n## Errors Encountered\n{errors}\n\n## Conversation Summary\n{said}"
    ))
}

/// Returns the files that tools were given and those that somebody named, the one spoken of last first.
fn files(summary: &Summary, entries: &[Entry]) -> Vec<String> {
    let mut last: HashMap<String, usize> = HashMap::new();
    for (at, entry) in (1..).zip(entries) {
        let given = entry.message.calls().filter_map(|call| CallView::new(call).path().map(str::to_owned));
        let named = entry.message.texts().flat_map(paths).map(str::to_owned);
        last.extend(given.chain(named).map(|path| (path, at)));
    }
    let mut files: Vec<(usize, String)> = Vec::new();
    for file in &summary.files {
        // What only the summary before tells of is oldest.
        let at = last.remove(&file.path).unwrap_or(0);
        files.push(match file.state {
            FileState::Read => (at, file.path.clone()),
            state => (at, format!("{} ({})", file.path, state.as_str())),
        });
    }
    files.extend(last.into_iter().map(|(path, at)| (at, path)));
    files.sort_by(|(at, path), (other_at, other)| other_at.cmp(at).then_with(|| path.cmp(other)));
    files.into_iter().map(|(_, path)| path).collect()
}

/// Returns what the document's expression, `/(?:\/[\w.-]+)+(?:\/[\w.-]+)*\.\w+/g`, finds in `text`, with the relative
/// path's first folder, which the expression leaves out.
fn paths(text: &str) -> impl Iterator<Item = &str> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let words = text.split(move |c: char| !is_word(c) && !matches!(c, '.' | '-' | '/'));
    // Two slashes begin anew: before them stands the scheme of an address.
    words.map(|word| word.rfind("//").map_or(word, |at| &word[at + 1..])).filter_map(move |word| {
        let dot = word.rfind('.').filter(|dot| word[dot + 1..].starts_with(is_word)).or_else(|| {
            let whole = word.trim_end_matches(['.', '-', '/']);
            whole.rfind('.')
        })?;
        let end = word[dot + 1..].find(|c| !is_word(c)).map_or(word.len(), |at| dot + 1 + at);
        let slash = word[..dot].rfind('/')?;
        // A name, a dot, an ending.
        (slash + 1 < dot && dot + 1 < end).then(|| &word[..end])
    })
}

/// Returns the entries of `list`, the newest first, that fit `limit`, one a line.
fn first_that_fit(list: &[String], request: &SummaryRequest<'_>, limit: Tokens) -> String {
    let mut spent = Tokens::ZERO;
    let fitting = list.iter().take_while(|entry| {
        spent += request.counter.count_text(entry) + Tokens(1);
        spent <= limit
    });
    fitting.cloned().collect::<Vec<_>>().join("\n")
}

/// Returns the newest entries that fit `limit`, oldest first, one a line.
fn newest_that_fit(list: &[String], request: &SummaryRequest<'_>, limit: Tokens) -> String {
    let mut spent = Tokens::ZERO;
    let fitting = list.iter().rev().take_while(|entry| {
        spent += request.counter.count_text(entry) + Tokens(1);
        spent <= limit
    });
    let count = fitting.count();
    list[list.len() - count..].join("\n").replace("\n\n", "\n")
}

#[cfg(test)]
mod tests {
    use super::paths;

    // asserts 000-20
    #[test]
    fn the_documents_expression_finds_paths_in_prose() {
        let found = |text: &'static str| paths(text).collect::<Vec<_>>();
        assert_eq!(
            found("I changed src/part_5/writer.rs, and (/srv/app/config/relay.yaml). See ./a-b/c.d.ts!"),
            ["src/part_5/writer.rs", "/srv/app/config/relay.yaml", "./a-b/c.d.ts"]
        );
        assert_eq!(found("at https://example.com/docs/page.html."), ["/example.com/docs/page.html"]);
        assert_eq!(found("and/or 3.5 README.md /usr/bin src/.hidden a/b. /"), [""; 0]);
    }
}
