//! What is told of a line where there is room for less than all of it.

use std::borrow::Cow;

use longhaul_summarize::rules::gist;
use longhaul_transcript::{first_chars, one_line};

use super::{line::Class, tools::DETAILS_MARK};

/// A line about the task, a rule, a decision or the last request quotes this many characters at most, and so does a tool's.
pub(super) const QUOTED: usize = 300;

/// A line about any other request: what it asks is mostly in its first sentence.
pub(super) const QUOTED_REQUEST: usize = 120;

/// Returns the forms in which a line may stand, the longest first: an error also without its details, and then with as much of it as
/// the document has; what was asked also without what is only told in it. Where it `is_tight`, an error has no details, what was asked
/// is not told otherwise, and a decision also in its first sentences.
pub(super) fn forms(line: &str, is_tight: bool) -> Vec<Cow<'_, str>> {
    if let Some((class @ (Class::Task | Class::Now), asked)) = Class::told(line) {
        let asked = asked.strip_suffix(']').unwrap_or(asked);
        let told = gist(asked, |told| told.chars().count() <= ASKED_IN_SHORT);
        let told = told.unwrap_or_else(|| first_sentences(asked, QUOTED_REQUEST));
        let short = Cow::Owned(format!("{}{told}]", class.start()));
        return if is_tight { vec![short] } else { vec![Cow::Borrowed(line), short] };
    }
    let mut forms = vec![Cow::Borrowed(line)];
    let is_decision = matches!(Class::told(line), Some((Class::Choice | Class::Decision, _)));
    if is_tight && is_decision {
        let short = first_sentences(line, QUOTED_REQUEST);
        if short != line {
            forms.push(Cow::Owned(format!("{short}]")));
        }
    }
    if line.starts_with("[❌ ") {
        let short = line.split_once(&format!(" | {DETAILS_MARK}")).map(|(before, _)| format!("{before}]"));
        let short = short.unwrap_or_else(|| line.to_owned());
        let least = bounded(&short, ERROR_IN_SHORT);
        if is_tight {
            forms.clear();
        }
        forms.extend([short, least].map(Cow::Owned));
    }
    forms
}

/// Where what was asked is told in short, it has so many characters, with the demands in it that last.
const ASKED_IN_SHORT: usize = 200;

/// The tool, 60 characters of a command and 100 of an error come to about this.
const ERROR_IN_SHORT: usize = 200;

/// Returns what was said on one line: its first sentences where it is long, and its last line, since what is wanted of a long
/// message mostly stands before or behind it.
pub(super) fn quoted(said: &str, most: usize) -> String {
    let line = one_line(said).into_owned();
    if line.chars().nth(most).is_none() {
        return line;
    }
    let is_said = |line: &&str| {
        line.split_whitespace().filter(|word| word.starts_with(char::is_alphabetic)).nth(1).is_some()
    };
    match said.trim().rsplit_once('\n') {
        Some((before, last)) if is_said(&last) => {
            format!(
                "{} {}",
                first_sentences(&one_line(before), most),
                first_sentences(&one_line(last), QUOTED)
            )
        }
        _ => first_sentences(&line, most),
    }
}

/// Returns the first sentences of a line, with an ellipsis where that is not all of it.
fn first_sentences(line: &str, most: usize) -> String {
    let Some((end, _)) = line.char_indices().nth(most) else { return line.to_owned() };
    let cut = &line[..end];
    let whole = cut.rfind(['.', '!', '?']).map_or_else(|| cut.rfind(' ').unwrap_or(end), |at| at + 1);
    format!("{} …", line[..whole].trim_end())
}

/// Returns a tool's line without what makes it longer than anybody reads, still closed.
pub(super) fn bounded(line: &str, most: usize) -> String {
    let first = first_chars(line, most);
    if first.len() < line.len() { format!("{first}…]") } else { line.to_owned() }
}
