//! 000's hybrid form: lists by program under three headings, then the conversation's summary.

use std::{cmp::Reverse, collections::HashMap};

use longhaul_extract::CallView;
use longhaul_summarize::{Draft, SummaryRequest, rules::cut};
use longhaul_transcript::{ErrorNote, FileState, Summary, Tokens};

use super::{
    page::{of_the_person, owed_to_rules, sure, with_decisions_of_the_person, with_the_person},
    words,
};

/// The document lets the model write this much (`maxTokens: 2000`).
const MOST_WORDS: Tokens = Tokens(2_000);

/// The three lists together get at least this share of the limit; beside a model, of what its words leave.
const LISTS_SHARE: f64 = 0.25;
const LISTS_SHARE_BESIDE_A_MODEL: f64 = 0.6;

/// And this share of it beside many rules, which would leave them none.
const LISTS_SHARE_BESIDE_RULES: f64 = 0.35;

/// So many of the newest mended errors are listed.
const MOST_MENDED: usize = 5;

/// The document's headings, in its order.
const HEADINGS: [&str; 4] =
    [FILES, "## Commands Executed\n", "## Errors Encountered\n", "## Conversation Summary\n"];

/// What they cost at most.
const OF_HEADINGS: Tokens = Tokens(24);

/// Returns the draft under the document's headings.
pub(super) fn text(draft: &Draft, request: &SummaryRequest<'_>) -> Option<String> {
    let (counter, summary) = (request.counter, &draft.summary);
    let files = files(summary, request);
    let commands: Vec<String> = summary
        .commands
        .iter()
        .map(|command| match (command.note.is_empty(), command.exit_code) {
            (false, _) => format!("{} → {}", command.command, command.note),
            (true, Some(code)) => format!("{} → exit {code}", command.command),
            (true, None) => command.command.clone(),
        })
        .collect();
    // What is mended is told to be known when it comes back; what is open is needed more.
    let is_mended = |error: &&ErrorNote| !error.resolution.is_empty();
    let mut surplus = summary.errors.iter().filter(is_mended).count().saturating_sub(MOST_MENDED);
    let errors = summary.errors.iter().filter(|error| {
        let is_old = is_mended(error) && surplus > 0;
        surplus -= usize::from(is_old);
        !is_old
    });
    let errors: Vec<String> = errors
        .map(|error| match error.resolution.is_empty() {
            true => error.error.clone(),
            false => format!("{}; resolved: {}", error.error, error.resolution),
        })
        .collect();
    let limit = request.limit;
    // A list without room for its entries says how many there are.
    let notes: Tokens = [&files, &commands, &errors]
        .into_iter()
        .filter(|list| !list.is_empty())
        .map(|list| counter.count_text(&left_out(list.len())) + Tokens(1))
        .sum();
    // What the lists do not need goes to the words, and the other way round.
    let lists: Vec<String> = [&files, &commands, &errors].map(|list| list.join("\n")).into();
    let of_lists: Tokens = lists.iter().map(|list| counter.count_text(list)).sum();
    let for_words = match words(draft) {
        Some(words) => {
            let left = limit - OF_HEADINGS - sure(words, summary, request);
            // The rules that the words do not tell go before most of what is listed.
            let owed = owed_to_rules(&of_the_person(summary, request, words), counter);
            let least = left.scaled(LISTS_SHARE_BESIDE_RULES).max(notes);
            let for_lists = left.scaled(LISTS_SHARE_BESIDE_A_MODEL).min(left - owed).max(least);
            (limit - OF_HEADINGS - of_lists.min(for_lists)).min(MOST_WORDS)
        }
        None => limit - OF_HEADINGS - of_lists.min(limit.scaled(LISTS_SHARE)).max(notes),
    };
    let said = match words(draft) {
        Some(words) => {
            let said = with_the_person(words, summary, request, for_words, "\n");
            with_decisions_of_the_person(said, request, for_words)
        }
        None => cut(&draft.text, counter, for_words),
    };
    let mut left = limit - counter.count_text(&said) - OF_HEADINGS;
    let mut shown = Vec::new();
    for (nth, list) in [files, commands, errors].iter().enumerate() {
        let share = Tokens(left.0 / (3 - nth as u64));
        let listed = match nth {
            0 => told_newest_first(list, request, share),
            _ => told_newest_last(list, request, share),
        };
        let newest = match listed.is_empty() && !list.is_empty() {
            true => {
                Some(left_out(list.len())).filter(|note| counter.count_text(note) <= left).unwrap_or_default()
            }
            false => listed,
        };
        left -= counter.count_text(&newest);
        shown.push(newest);
    }
    shown.push(said);
    let sections = HEADINGS.iter().zip(&shown).filter(|(_, section)| !section.is_empty());
    let sections: Vec<String> = sections.map(|(heading, section)| format!("{heading}{section}")).collect();
    Some(sections.join("\n\n"))
}

/// Stands under a heading where there is no room for so many of its entries.
fn left_out(count: usize) -> String {
    format!("({count} left out)")
}

/// Returns the files that tools were given and those that somebody named, the one spoken of last first.
fn files(summary: &Summary, request: &SummaryRequest<'_>) -> Vec<String> {
    let mut last: HashMap<String, usize> = HashMap::new();
    for (at, entry) in (1..).zip(request.entries) {
        let given = entry.message.calls().filter_map(|call| CallView::new(call).path().map(str::to_owned));
        let named = entry.message.texts().flat_map(paths).map(str::to_owned);
        last.extend(given.chain(named).map(|path| (path, at)));
    }
    let listed = request.previous.map_or_else(HashMap::new, |previous| listed(&previous.text));
    let mut files: Vec<(Place, String)> = Vec::new();
    // Its own list has the newest last.
    for (nth, file) in summary.files.iter().rev().enumerate() {
        let place = match last.remove(&file.path) {
            Some(at) => Place::Read(Reverse(at)),
            None => listed.get(&*file.path).map_or(Place::Carried(nth), |at| Place::Listed(*at)),
        };
        files.push(match file.state {
            FileState::Read => (place, file.path.clone()),
            state => (place, format!("{} ({})", file.path, state.as_str())),
        });
    }
    files.extend(last.into_iter().map(|(path, at)| (Place::Read(Reverse(at)), path)));
    files.sort();
    files.into_iter().map(|(_, path)| path).collect()
}

/// Where a file stands in the list: what was spoken of in the messages that were read first, the newest before the others. What
/// only the summary before tells of is older, and stays in its order; then what this one had no room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    /// By the place of the message.
    Read(Reverse<usize>),
    /// By the place in the list of the summary before.
    Listed(usize),
    /// By the place among the files that it knew.
    Carried(usize),
}

/// Returns the place of each file that a summary in this form lists.
fn listed(text: &str) -> HashMap<&str, usize> {
    let Some((_, list)) = text.split_once(FILES) else { return HashMap::new() };
    let is_note = |line: &str| line.starts_with('(') && line.ends_with(" left out)");
    let lines = list.lines().take_while(|line| !line.is_empty()).filter(|line| !is_note(line));
    let path = |line| {
        let stated = CHANGES.iter().find_map(|state| {
            let rest: &str = str::strip_suffix(line, ")")?.strip_suffix(state.as_str())?;
            rest.strip_suffix(" (")
        });
        stated.unwrap_or(line)
    };
    lines.enumerate().map(|(at, line)| (path(line), at)).collect()
}

/// What a file's entry tells of it behind its path.
const CHANGES: [FileState; 5] =
    [FileState::Created, FileState::Modified, FileState::Renamed, FileState::Deleted, FileState::Reverted];

/// Stands over the files.
const FILES: &str = "## Files Referenced\n";

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

/// Returns the entries of `list`, the newest first, that fit `limit`, one a line, and behind them how many do not.
fn told_newest_first(list: &[String], request: &SummaryRequest<'_>, limit: Tokens) -> String {
    let count = most_that_fit(list.iter(), request, limit);
    if count == 0 {
        return String::new();
    }
    let more = (count < list.len()).then(|| left_out(list.len() - count));
    list[..count].iter().cloned().chain(more).collect::<Vec<_>>().join("\n")
}

/// Returns the newest entries that fit `limit`, oldest first, one a line, and before them how many do not.
fn told_newest_last(list: &[String], request: &SummaryRequest<'_>, limit: Tokens) -> String {
    let count = most_that_fit(list.iter().rev(), request, limit);
    if count == 0 {
        return String::new();
    }
    let older = list.len() - count;
    let more = (older > 0).then(|| left_out(older));
    let told = more.into_iter().chain(list[older..].iter().cloned()).collect::<Vec<_>>();
    told.join("\n").replace("\n\n", "\n")
}

/// Returns how many of the first of `entries` fit `limit`, beside the note for those that do not.
fn most_that_fit<'l>(
    entries: impl ExactSizeIterator<Item = &'l String>,
    request: &SummaryRequest<'_>,
    limit: Tokens,
) -> usize {
    let count = |text: &str| request.counter.count_text(text) + Tokens(1);
    let all = entries.len();
    let note = count(&left_out(all));
    let mut spent = Tokens::ZERO;
    let mut fitting = 0;
    for (nth, entry) in entries.enumerate() {
        spent += count(entry);
        if spent > limit {
            break;
        }
        if nth + 1 == all || spent + note <= limit {
            fitting = nth + 1;
        }
    }
    fitting
}

#[cfg(test)]
mod tests {
    use longhaul_extract::FactIndex;
    use longhaul_summarize::{Draft, SummaryRequest};
    use longhaul_tokens::{CharsPer4, TokenCounter};
    use longhaul_transcript::{
        CommandNote, Entry, ErrorNote, FileNote, FileState, Message, SessionId, Summary, Tokens, Transcript,
    };

    use super::{paths, text};
    use crate::session::running_record;

    /// Returns what stands under each heading.
    fn under_headings(summary: &Summary, entries: &[Entry], before: &str, limit: u64) -> Vec<Vec<String>> {
        let (session, index) = (SessionId::new("s").unwrap(), FactIndex::default());
        let previous = running_record(0, before);
        let mut request = SummaryRequest::new(&session, entries, &index, &CharsPer4, Tokens(limit));
        request.previous = Some(&previous);
        let draft = Draft { summary: summary.clone(), text: "It was read.".into(), ..Draft::default() };
        let text = text(&draft, &request).unwrap();
        assert!(CharsPer4.count_text(&text) <= Tokens(limit), "{text}");
        let lines = |section: &str| {
            section.lines().skip(1).filter(|line| !line.is_empty()).map(str::to_owned).collect()
        };
        let sections = text.split("## ").skip(1).map(lines);
        sections.collect()
    }

    fn files(all: &[(&str, FileState)]) -> Vec<FileNote> {
        let note = |(path, state): &(&str, FileState)| FileNote {
            path: (*path).into(),
            state: *state,
            note: String::new(),
        };
        all.iter().map(note).collect()
    }

    // asserts 000-20
    #[test]
    fn files_of_the_summary_before_stay_in_the_order_in_which_they_were_touched() {
        use FileState::{Created, Modified, Read};
        let said: Transcript = [Message::user("Look at src/new.rs, please.")].into_iter().collect();
        // By itself, a summary's list has those that were only read first, and the newest last.
        let known = [
            ("src/a.rs", Read),
            ("src/d.rs", Read),
            ("src/oldest.rs", Modified),
            ("src/old.rs", Created),
            ("src/b.rs", Modified),
            ("src/e.rs", Modified),
        ];
        let summary = Summary { files: files(&known), ..Summary::default() };
        let before = "## Files Referenced\nsrc/d.rs\nsrc/e.rs (modified)\nsrc/b.rs (modified)\nsrc/a.rs\n\n## Commands Executed\n";
        let listed = under_headings(&summary, said.entries(), before, 400).swap_remove(0);
        assert_eq!(
            listed,
            [
                "src/new.rs",
                "src/d.rs",
                "src/e.rs (modified)",
                "src/b.rs (modified)",
                "src/a.rs",
                "src/old.rs (created)",
                "src/oldest.rs (modified)"
            ]
        );
        let unlisted = under_headings(&summary, said.entries(), "It was read.", 400).swap_remove(0);
        let paths: Vec<&str> = unlisted.iter().filter_map(|line| line.split(' ').next()).collect();
        let newest_first: Vec<&str> = known.iter().rev().map(|(path, _)| *path).collect();
        assert_eq!(paths, [&["src/new.rs"], &newest_first[..]].concat());
    }

    // asserts 000-19, 000-20
    #[test]
    fn a_heading_without_room_for_its_entries_says_how_many_were_left_out() {
        let command = |nth: usize| CommandNote {
            command: format!("cargo test -p a_crate_with_a_long_name_{nth} --all-features -- --nocapture"),
            ..CommandNote::default()
        };
        let summary = Summary { commands: (0..12).map(command).collect(), ..Summary::default() };
        let sections = under_headings(&summary, &[], "", 60);
        assert_eq!(sections[..1], [["(12 left out)".to_owned()]]);
        let all = under_headings(&summary, &[], "", 2_000);
        assert_eq!(all[0].len(), 12);
        // What has nothing has no heading.
        assert_eq!((sections.len(), all.len()), (2, 2));
    }

    // asserts 000-21
    #[test]
    fn of_mended_errors_the_newest_are_told_with_their_cure_and_of_open_ones_all() {
        let error = |nth: usize| ErrorNote {
            error: format!("error number {nth}"),
            resolution: if nth.is_multiple_of(4) { String::new() } else { format!("cure {nth}") },
        };
        let summary = Summary { errors: (0..12).map(error).collect(), ..Summary::default() };
        let told = under_headings(&summary, &[], "", 2_000).swap_remove(0);
        let mended = |nth: usize| format!("error number {nth}; resolved: cure {nth}");
        let open = |nth: usize| format!("error number {nth}");
        let all = [open(0), open(4), mended(6), mended(7), open(8), mended(9), mended(10), mended(11)];
        assert_eq!(told, all);
    }

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
