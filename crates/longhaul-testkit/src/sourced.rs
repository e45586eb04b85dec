//! Whether each line of a summary stands in its source: read apart from the code that writes summaries, so that it can catch
//! its mistakes.

use std::collections::{HashMap, HashSet};

use longhaul_transcript::{Entry, Message, Part};
use serde_json::Value;

/// Returns the lines of `summary` that `entries` do not hold.
///
/// A line that quotes must stand in the message whose handle (`m12`) it follows, white space and the line numbers of file
/// views apart; an item may follow the line that leads to it. A line that the summary makes itself (how a command went, what became of a file) must consist of pieces that
/// stand anywhere in the source and of a few words of its own; only headings that tell of states have such lines.
pub fn unsourced(summary: &str, entries: &[Entry]) -> Vec<String> {
    let sources = Sources::new(entries);
    let mut found = Vec::new();
    let (mut message, mut is_made) = (None, false);
    for line in summary.lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            (message, is_made) = (handle_in(heading), MADE.iter().any(|word| heading.starts_with(word)));
            continue;
        }
        if line.trim().trim_matches('`').is_empty() {
            continue;
        }
        let bullet = line.strip_prefix("- ").filter(|rest| handle(rest).is_some()).unwrap_or(line);
        let said = match handle(bullet) {
            Some((named, rest)) => {
                message = Some(named);
                rest
            }
            None => bullet,
        };
        let holds = sources.hold(said, message)
            || said.split(' ').all(is_own)
            || (is_label(said) && sources.hold_pieces(said))
            || (is_made && sources.hold_pieces(line));
        if !holds {
            found.push(line.to_owned());
        }
    }
    found
}

/// Headings under which lines are made of pieces.
const MADE: [&str; 4] = ["Changed files", "To do", "Checks", "Committed"];

/// The words that lines of its own making may have beside what the source says.
const OWN: [&str; 47] = [
    "asked",
    "went",
    "well",
    "temporary",
    "folders",
    "written",
    "anew",
    "after",
    "open",
    "done",
    "failed",
    "ok",
    "passed",
    "created",
    "edited",
    "renamed",
    "deleted",
    "reverted",
    "read",
    "times",
    "lines",
    "was",
    "now",
    "plan",
    "last",
    "words",
    "exit",
    "taken",
    "back",
    "in",
    "by",
    "to",
    "the",
    "and",
    "more",
    "error",
    "errors",
    "test",
    "tests",
    "skipped",
    "check",
    "still",
    "cured",
    "elsewhere",
    "since",
    "then",
    "answered",
];

/// What a summary notes behind what it quotes.
const NOTES: [&str; 6] = [
    "taken back in m",
    "passed in m",
    "answered in m",
    "interrupted by the user in m",
    "takes back what was done for m",
    "later on this: m",
];

/// What the messages say.
struct Sources {
    by_message: HashMap<u64, Said>,
    all: Said,
}

/// A text without white space.
#[derive(Default)]
struct Said {
    text: String,
    /// Where its lines begin, with their marks and behind them.
    starts: HashSet<usize>,
}

impl Said {
    fn add(&mut self, text: &str) {
        for line in text.lines() {
            let line = folded(line);
            let marks = line.trim_start_matches(['-', '*', '#', '>', '•', '`']);
            self.starts.extend([self.text.len(), self.text.len() + line.len() - marks.len()]);
            self.text.push_str(&line);
        }
        self.text.push('\n');
    }
}

impl Sources {
    fn new(entries: &[Entry]) -> Sources {
        let mut sources = Sources { by_message: HashMap::new(), all: Said::default() };
        for entry in entries {
            let said = sources.by_message.entry(entry.id.ordinal).or_default();
            for text in texts(&entry.message) {
                for text in [&unnumbered(&text), &text] {
                    said.add(text);
                    sources.all.add(text);
                }
            }
        }
        sources
    }

    /// Whether `said` stands in `message`, or anywhere where no message is named. A clipped text stands there by its parts.
    fn hold(&self, said: &str, message: Option<u64>) -> bool {
        let said_there = message.map_or(Some(&self.all), |message| self.by_message.get(&message));
        let Some(Said { text: source, starts }) = said_there else { return false };
        let stands = |text: &str, source: &str| {
            let mut parts = text.split("[…]").flat_map(|part| part.split('…'));
            parts.all(|part| source.contains(&folded(part)))
        };
        let said = said.trim();
        let plain = [said, after(said, &["$ ", "+ ", "- ", ": "])];
        if plain.iter().any(|text| stands(text, source)) {
            return true;
        }
        // Items stand behind what leads to them, which begins a line or ends with a colon.
        if let Some((lead, items)) = said.split_once(": ") {
            let lead = lead.split('…').next().map(folded).unwrap_or_default();
            let leads = |at: usize| starts.contains(&at) || source[at + lead.len()..].starts_with(':');
            let mut leading = source.match_indices(&lead).map(|(at, _)| at).filter(|at| leads(*at));
            if !lead.is_empty()
                && leading.any(|at| items.split("; ").all(|item| stands(item, &source[at + lead.len()..])))
            {
                return true;
            }
        }
        // What a short answer answers, and what became of a demand or an error, stands behind it.
        let Some((text, behind)) = said.rsplit_once(" (") else { return false };
        let asked = behind.strip_prefix("to: \"").and_then(|asked| asked.strip_suffix("\")"));
        let is_note = NOTES.iter().any(|note| behind.starts_with(note));
        match asked {
            Some(asked) => stands(text, source) && stands(asked, &self.all.text),
            None if is_note => stands(text, source) || self.hold(text, message),
            None => said.split_once(" (to: \"").is_some_and(|(text, asked)| {
                stands(text, source) && stands(asked.trim_end_matches("\")"), &self.all.text)
            }),
        }
    }

    /// Whether all pieces of `line` stand in the source or are words of a summary's own.
    fn hold_pieces(&self, line: &str) -> bool {
        let holds = |piece: &str| {
            let piece = folded(piece);
            piece.is_empty() || self.all.text.contains(&piece)
        };
        let pieces = line
            .split(['…', '→', ';'])
            .flat_map(|piece| piece.split(": "))
            .flat_map(|piece| piece.split(" ("));
        let mut pieces = pieces.flat_map(|piece| piece.split(". "));
        pieces.all(|piece| {
            holds(bare(piece)) || piece.split([' ', ',']).all(|word| is_own(word) || holds(bare(word)))
        })
    }
}

/// `piece` without the marks around it.
fn bare(piece: &str) -> &str {
    piece.trim_matches(['[', ']', '(', ')', '$', ' ', ':', ',', '.'])
}

/// A count, a handle, a mark, or a word of a summary's own.
fn is_own(word: &str) -> bool {
    let word = word.trim_matches(['(', ')', ',', '.', ':', '[', ']', '×', '+', '-', '$', '"', '…']);
    let number = word.strip_prefix('m').unwrap_or(word);
    number.bytes().all(|byte| byte.is_ascii_digit()) || OWN.contains(&word.to_lowercase().as_str())
}

/// The line that names a call before what is quoted of it: `Read src/main.rs:`.
fn is_label(line: &str) -> bool {
    line.ends_with(':')
}

fn handle_in(heading: &str) -> Option<u64> {
    let (_, rest) = heading.split_once("(m")?;
    rest.split([')', ',']).next()?.parse().ok()
}

/// Returns the handle that opens `line`, and what follows it.
fn handle(line: &str) -> Option<(u64, &str)> {
    let rest = line.strip_prefix('m')?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let number = rest[..digits].parse().ok()?;
    let after = &rest[digits..];
    let said = after.strip_prefix(": ").or_else(|| after.strip_prefix(' '))?;
    Some((number, said))
}

fn after<'t>(text: &'t str, marks: &[&str]) -> &'t str {
    marks.iter().find_map(|mark| text.strip_prefix(mark)).unwrap_or(text)
}

fn folded(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

/// `text` without the numbers that file views put before its lines.
fn unnumbered(text: &str) -> String {
    let strip = |line: &str| {
        let rest = line.trim_start().trim_start_matches(|c: char| c.is_ascii_digit());
        let stripped = ["→", "\t", ": ", ":\t", "| "].iter().find_map(|mark| rest.strip_prefix(mark));
        stripped.map_or_else(|| line.to_owned(), str::to_owned)
    };
    text.lines().map(strip).collect::<Vec<_>>().join("\n")
}

/// Everything that a message says: words, results, and arguments as they were written and as they are meant.
fn texts(message: &Message) -> Vec<String> {
    let mut all = Vec::new();
    for part in &message.parts {
        match part {
            Part::Text(text) => all.push(text.clone()),
            Part::ToolResult(result) => {
                let inner = result.content.iter().filter_map(|part| match part {
                    Part::Text(text) => Some(text.clone()),
                    _ => None,
                });
                for text in inner {
                    // What a string of JSON says is told without its escapes.
                    if text.contains("\\n") {
                        all.push(unescaped(&text));
                    }
                    all.push(text);
                }
            }
            Part::ToolCall(call) => {
                all.push(call.name.clone());
                all.push(call.arguments.0.clone());
                match serde_json::from_str(&call.arguments.0) {
                    Ok(value) => strings(&value, &mut all),
                    Err(_) => all.push(unescaped(&call.arguments.0)),
                }
            }
            _ => {}
        }
    }
    all
}

fn strings(value: &Value, all: &mut Vec<String>) {
    match value {
        Value::String(text) => all.push(text.clone()),
        Value::Array(values) => values.iter().for_each(|value| strings(value, all)),
        Value::Object(fields) => fields.values().for_each(|value| strings(value, all)),
        other => all.push(other.to_string()),
    }
}

/// What JSON that was cut off means, near enough.
fn unescaped(text: &str) -> String {
    text.replace("\\n", "\n").replace("\\t", "\t").replace("\\\"", "\"").replace("\\\\", "\\")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript;

    #[test]
    fn items_stand_behind_what_leads_to_them() {
        let said = transcript(
            "user: Nobody may push on Fridays.\n\nOpen points\n- the changelog\n- the tag\n\nWe ship: soon.",
        );
        let told = |line: &str| unsourced(&format!("## Findings\nm0 {line}"), said.entries()).is_empty();
        assert!(told("Open points: the changelog; the tag"));
        assert!(told("We ship: soon."));
        assert!(!told("soon: Open points"));
        assert!(!told("push: the changelog"));
    }

    #[test]
    fn a_line_is_found_in_its_message_or_named() {
        let said = transcript(
            "user: Fix a.rs please.\nassistant: It is a\nlock. !read_file#c1 {\"path\":\"a.rs\"}\ntool#c1: 1\tfn lock() {}\nuser: yes",
        );
        let summary = "## Request (m0)\nFix a.rs please.\n## Findings\nm1 It is a lock.\n## Rules\n- m0: Fix a.rs […] please.\n## Asked\nm3 yes (to: \"It is a lock.\")\n## Changed files\na.rs: edited 2 times, +1 -0 lines\n```\nm2 read_file a.rs:\nfn lock() {}\n```";
        assert_eq!(unsourced(summary, said.entries()), Vec::<String>::new());
        let invented = "## Findings\nm1 It is a race.\nm0 It is a lock.\n## Checks and failures\n$ a.rs → failed m1 (exit 3)\n$ b.rs → ok m1";
        assert_eq!(
            unsourced(invented, said.entries()),
            ["m1 It is a race.", "m0 It is a lock.", "$ b.rs → ok m1"]
        );
    }
}
