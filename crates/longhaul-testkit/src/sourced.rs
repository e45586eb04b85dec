//! Whether each line of a summary stands in its source: read apart from the code that writes summaries, so that it can catch
//! its mistakes.

use std::collections::{BTreeMap, HashMap, HashSet};

use longhaul_transcript::{Entry, Message, Part, Role, ToolCall, ToolResult};
use serde_json::Value;

mod calls;
mod claims;
mod sides;

use claims::Section;

/// Returns the lines of `summary` that `entries` do not hold.
///
/// - A line that quotes must stand in the message whose handle (`m12`) it follows, white space and the line numbers of file
///   views apart. An item may follow the line that leads to it.
/// - A line that the summary makes itself (how a command went, what became of a file) must consist of pieces that stand
///   anywhere in the source and of a few words of its own. Only headings that tell of states have such lines.
/// - What a call changed must be the arguments of one in the message named, in their order.
pub fn unsourced(summary: &str, entries: &[Entry]) -> Vec<String> {
    let sources = Sources::new(entries);
    let mut found = Vec::new();
    let (mut message, mut section) = (None, Section::default());
    for line in summary.lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            (message, section) = (handle_in(heading), Section::under(heading));
            if !sources.hold_heading(&section) {
                found.push(line.to_owned());
            }
            continue;
        }
        if line.trim().trim_matches('`').is_empty() {
            if line.starts_with("```") {
                section.fence();
            }
            continue;
        }
        // What another's summary tells as open was so then.
        let bare = line.strip_prefix("[as of then] ").unwrap_or(line);
        let bullet = bare.strip_prefix("- ").filter(|rest| handle(rest).is_some()).unwrap_or(bare);
        let said = match handle(bullet) {
            Some((named, rest)) => {
                message = Some(named);
                rest
            }
            None => bullet,
        };
        let stands = match section.is_of_deeds() {
            true => message.is_some_and(|at| sources.hold_deed(said, at)),
            false => {
                sources.hold(said, message)
                    || is_gap(said)
                    || sources.hold_count(said)
                    || (is_label(said) && sources.hold_label(said, message))
                    || (section.is_made() && sources.hold_pieces(&plain(line)))
            }
        };
        if !(stands && sources.hold_claims(&section, line, message)) {
            found.push(line.to_owned());
        }
    }
    found
}

/// Whether a line only stands for what is left out: `…`, `… 3 more`.
fn is_gap(line: &str) -> bool {
    let count = line.strip_prefix("… ").and_then(|rest| rest.strip_suffix(" more"));
    !line.contains(char::is_alphanumeric) || count.is_some_and(|count| count.parse::<usize>().is_ok())
}

/// The words that lines of its own making may have beside what the source says.
const OWN: [&str; 49] = [
    "branch", "asked", "went", "well", "temporary", "folders", "written", "anew", "after", "open", "done",
    "failed", "ok", "passed", "created", "edited", "renamed", "deleted", "reverted", "read", "times",
    "lines", "was", "now", "plan", "last", "words", "exit", "taken", "back", "in", "by", "to", "the", "and",
    "more", "error", "errors", "test", "tests", "skipped", "check", "still", "cured", "elsewhere", "since",
    "then", "answered", "earlier",
];

/// Returns a line of a summary's own making without what it says in a fixed form.
fn plain(line: &str) -> String {
    let line = line.replacen(", by commands as well", "", 1);
    line.replacen(": refused, the user said: ", ": ", 1).replacen(": outcome not stated (m", " (m", 1)
}

/// What a summary notes behind what it quotes.
const NOTES: [&str; 9] = [
    "a question)",
    "taken back in m",
    "what was done was taken back in m",
    "passed in m",
    "answered in m",
    "asked back in m",
    "interrupted by the user in m",
    "takes back what was done for m",
    "later on this: m",
];

/// What the messages say.
struct Sources<'e> {
    by_message: HashMap<u64, Said>,
    messages: BTreeMap<u64, &'e Message>,
    /// The calls and what they were answered, by their ids.
    calls: HashMap<&'e str, Vec<&'e ToolCall>>,
    answers: HashMap<&'e str, Vec<&'e ToolResult>>,
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

impl<'e> Sources<'e> {
    fn new(entries: &'e [Entry]) -> Sources<'e> {
        let messages = entries.iter().map(|entry| (entry.id.ordinal, &*entry.message)).collect();
        let (by_message, calls, answers) = (HashMap::new(), HashMap::new(), HashMap::new());
        let mut sources = Sources { by_message, messages, calls, answers, all: Said::default() };
        for entry in entries {
            for call in entry.message.calls() {
                sources.calls.entry(call.id.as_str()).or_default().push(call);
            }
            for result in entry.message.results() {
                sources.answers.entry(result.call_id.as_str()).or_default().push(result);
            }
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
            let parts: Vec<String> = text.split("[…]").flat_map(|part| part.split('…')).map(folded).collect();
            // One after the other in one text: what is cut out of the middle is no other order.
            let in_order = |text: &str| {
                let mut from = 0;
                parts.iter().all(|part| {
                    let at = text[from..].find(part.as_str());
                    from += at.map_or(0, |at| at + part.len());
                    at.is_some()
                })
            };
            match &parts[..] {
                [all] => source.contains(all.as_str()),
                _ => source.lines().any(in_order),
            }
        };
        let said = said.trim();
        let plain = [said, after(said, &["$ ", "+ ", "- ", ": "])];
        if plain.iter().any(|text| stands(text, source)) {
            return true;
        }
        // Who talks is told by the last name that the message begins with.
        let text = message.and_then(|at| self.messages.get(&at)?.texts().next());
        let name = text.and_then(|text| text.split([':', '(']).next()?.split_whitespace().next_back());
        if let Some(words) = name.and_then(|name| said.strip_prefix(name)?.strip_prefix(": …"))
            && self.hold(words, message)
        {
            return true;
        }
        // Items stand behind what leads to them, which begins a line or ends with a colon; it may have colons of its own.
        for (at, colon) in said.match_indices(": ") {
            let (lead, items) = (&said[..at], &said[at + colon.len()..]);
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
        if let Some((text, words)) = said.rsplit_once(" (the user's next words") {
            return message.is_some_and(|at| self.hold_next(at, words)) && self.hold(text, message);
        }
        let Some((text, behind)) = said.rsplit_once(" (") else { return false };
        let asked = behind.strip_prefix("to: \"").and_then(|asked| asked.strip_suffix("\")"));
        let is_note = NOTES.iter().any(|note| behind.starts_with(note));
        match asked {
            Some(asked) => stands(text, source) && stands(asked, &self.all.text),
            None if is_note => {
                self.hold_note(behind, text, message) && (stands(text, source) || self.hold(text, message))
            }
            None => said.split_once(" (to: \"").is_some_and(|(text, asked)| {
                stands(text, source) && stands(asked.trim_end_matches("\")"), &self.all.text)
            }),
        }
    }

    /// Whether a call of the message was told so, and answered without an error.
    fn hold_deed(&self, said: &str, message: u64) -> bool {
        let is_users = self.messages.get(&message).is_some_and(|message| message.role == Role::User);
        let said = match said.strip_suffix(" (by the user)") {
            Some(said) if is_users => said,
            _ if is_users => return false,
            _ => said,
        };
        self.calls(message).any(|call| calls::tells(said, call) && self.was_done(call))
    }

    /// Returns the calls of a message.
    fn calls(&self, message: u64) -> impl Iterator<Item = &'e ToolCall> + use<'e> {
        self.messages.get(&message).copied().into_iter().flat_map(Message::calls)
    }

    /// Whether what is noted of the user's next words after `message` is so: `, m12: "no")` quotes them, `: m12)` names them.
    fn hold_next(&self, message: u64, words: &str) -> bool {
        let is_users = |message: &Message| message.role == Role::User && message.texts().next().is_some();
        let mut behind = self.messages.range(message + 1..);
        let Some((next, _)) = behind.find(|(_, message)| is_users(message)) else { return false };
        match words.strip_prefix(", ").and_then(|rest| rest.split_once(": ")) {
            Some((named, quoted)) => {
                let quoted = quoted.strip_prefix('"').and_then(|quoted| quoted.strip_suffix("\")"));
                *named == format!("m{next}") && quoted.is_some_and(|quoted| self.hold(quoted, Some(*next)))
            }
            None => words == format!(": m{next})"),
        }
    }

    /// Whether a line tells how many requests are not told, between messages of the user's: `… 3 more between m2 and m9`.
    fn hold_count(&self, line: &str) -> bool {
        let Some((count, ends)) = line.strip_prefix("… ").and_then(|rest| rest.split_once(" more")) else {
            return false;
        };
        let ends = match ends.strip_prefix(" between ").map(|ends| ends.split_once(" and ")) {
            Some(ends) => ends,
            None => ends.strip_prefix(", ").map(|only| (only, only)),
        };
        let ordinal = |handle: &str| handle.strip_prefix('m')?.parse::<u64>().ok();
        let ends = ends.and_then(|(first, last)| Some((ordinal(first)?, ordinal(last)?)));
        let Some((first, last)) = ends.filter(|(first, last)| first <= last) else { return false };
        let users = |message: &&&Message| message.role == Role::User;
        let are_users = [first, last].iter().all(|at| self.messages.get(at).as_ref().is_some_and(users));
        let between = self.messages.range(first..=last).filter(|(_, message)| users(message)).count();
        are_users && count.parse().is_ok_and(|count: usize| count <= between)
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

/// Everything that a message says: words, reasoning, results, and arguments as they were written and as they are meant.
fn texts(message: &Message) -> Vec<String> {
    let mut all = Vec::new();
    for part in &message.parts {
        match part {
            Part::Text(text) => all.push(text.clone()),
            Part::Reasoning(reasoning) => all.push(reasoning.text.clone()),
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
                all.extend(meant(call));
            }
            _ => {}
        }
    }
    all
}

/// What the arguments of a call say, as they are meant.
fn meant(call: &ToolCall) -> Vec<String> {
    let mut all = Vec::new();
    match serde_json::from_str(&call.arguments.0) {
        Ok(value) => strings(&value, &mut all),
        Err(_) => all.push(unescaped(&call.arguments.0)),
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
    let text = text.replace("\\n", "\n").replace("\\t", "\t").replace("\\\"", "\"").replace("\\\\", "\\");
    text.replace("\\u003c", "<").replace("\\u003e", ">").replace("\\u0026", "&")
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
        let told = |line: &str| unsourced(&format!("## Asked\nm0 {line}"), said.entries()).is_empty();
        assert!(told("Open points: the changelog; the tag"));
        assert!(told("We ship: soon."));
        assert!(!told("soon: Open points"));
        assert!(!told("push: the changelog"));
    }

    #[test]
    fn what_is_told_as_pasted_a_person_put_in() {
        let said = transcript("user: It says\nline 1\nline 2\nassistant: It is\nline 1");
        let lost = |at: usize| {
            let told = format!("## From tool results (quoted)\n```\nm{at} pasted:\nline 1\n```");
            unsourced(&told, said.entries()).len()
        };
        assert_eq!((lost(0), lost(1)), (0, 1));
    }

    #[test]
    fn a_line_is_found_in_its_message_or_named() {
        let said = transcript(
            "user: Fix a.rs please.\nassistant: It is a\nlock. !read_file#c1 {\"path\":\"a.rs\"}\ntool#c1: 1\tfn lock() {}\nuser: yes\nassistant: !Edit#c2 {\"path\":\"a.rs\",\"old\":\"\",\"new\":\"x\"}\ntool#c2: ok",
        );
        let summary = "## Request (m0)\nFix a.rs please.\n## Findings\nm1 It is a lock.\n## Rules\n- m0: Fix a.rs […] please.\n## Asked\nm3 yes (to: \"It is a lock.\")\n## Changed files\na.rs: edited 2 times, +1 -0 lines\n## From tool results (quoted)\n```\nm2 read_file a.rs:\nfn lock() {}\n```";
        assert_eq!(unsourced(summary, said.entries()), Vec::<String>::new());
        let invented = "## Findings\nm1 It is a race.\nm0 It is a lock.\n## Checks and failures\n$ a.rs → failed m1 (exit 3)\n$ b.rs → ok m1";
        assert_eq!(
            unsourced(invented, said.entries()),
            ["m1 It is a race.", "m0 It is a lock.", "$ b.rs → ok m1"]
        );
    }
    #[test]
    fn what_a_summary_notes_in_its_own_forms_is_looked_up() {
        let said = transcript(
            r##"
user: Kira Bale (Ops): Good morning. Book the flights. And the hotel.
assistant: Which one do you want? !update_booking#c1 {"booking_id":"JG7","flights":[{"number":"HAT028"},{"number":"HAT277"}],"note":"a window seat, if there is one","seats":2}
tool#c1: ok
assistant: The hotel is booked.
user: no, not that hotel
assistant: Which then?
user: The other.
"##,
        );
        let lost = |summary: &str| unsourced(summary, said.entries());
        let so = "## Calls that changed something, answered without an error\n```\nm1 update_booking booking_id JG7, number HAT028, number HAT277, note a window…, seats 2\nm1 update_booking JG7, HAT028\nm1 update_booking booking_id JG7, numb…\n```\n## Findings\nm3 The hotel is booked. (the user's next words, m4: \"no, not that hotel\")\nm5 Which then? (the user's next words: m6)\n## Said\nm0 Bale: … And the hotel.\n… 2 more between m0 and m6";
        assert_eq!(lost(so), Vec::<String>::new());
        for not_so in [
            "## Calls that changed something\nm1 update_booking booking_id JG7, number HAT277",
            "## Calls that changed something\nm1 update_booking booking_id JG8",
            "## Calls that changed something\nm1 update_booking JG7, HAT028, HAT277",
            "## Findings\nm3 The hotel is booked. (the user's next words, m6: \"The other.\")",
            "## Findings\nm5 Which then? (the user's next words: m4)",
            "## Asked before\n… 9 more between m0 and m6",
            "## Asked before\n… 2 more between m1 and m6",
        ] {
            assert_eq!(lost(not_so).len(), 1, "{not_so}");
        }
    }

    const WORK: &str = r#"
user: Mend the lock in a.rs. Never push. Do we group them already
assistant: I look first. !Read#r1 {"file_path":"src/a.rs"}
tool#r1: fn lock() { spin(); }
assistant: The lock spins. Then it never yields. !Edit#e1 {"file_path":"src/a.rs","old_string":"fn lock() { spin(); }","new_string":"fn lock() {\n  lease();\n}"} !Edit#e2 {"file_path":"src/b.rs","old_string":"one();","new_string":"two();"} !Write#w1 {"file_path":"src/c.rs","content":"one\ntwo\nthree"}
tool#e1: ok
tool#e2!: String to replace not found
tool#w1: ok
assistant: !Bash#t1 {"command":"cargo test"} !TodoWrite#l1 {"todos":[{"content":"mend the lock","status":"completed"},{"content":"tell Mara","status":"pending"}]}
tool#t1: test result: ok. 3 passed
tool#l1: ok
assistant: !Bash#p1 {"command":"git push"} !send_mail#m1 {"to":"mara","text":"done"} !send_mail#m2 {"to":"kira","text":"done"} !Write#w2 {"file_path":"src/c.rs","content":"one\ntwo"}
tool#p1!: ! [rejected] main -> main
tool#m1: sent
tool#m2!: no such person
tool#w2: ok
assistant: The lock is mended.
user: No, undo that.
assistant: !Edit#e3 {"file_path":"src/d.rs","old_string":"three();","new_string":"four();"}
"#;

    #[test]
    fn what_a_summary_claims_is_looked_up() {
        let said = transcript(WORK);
        let lost = |summary: &str| unsourced(summary, said.entries());
        let so = r#"## Request (m16)
No, undo that.
## Asked before
m0 Mend the lock in a.rs. […] Do we group them already (answered in m15) (taken back in m16)
m0 Never push. (answered in m15; the rule holds)
## Rules and facts from the user
- m0: Never push. (later on this: m16)
- m0: Do we group them already (a question)
## To do, as the list stood in m7
open: tell Mara
done: mend the lock
edited since then: c.rs (m10)
asked since then: m16
## Findings and progress, in the assistant's words
m3 … Then it never yields.
m15 The lock is mended. (the user's next words: m16)
## Changed files
src/a.rs: +3 -1 lines
src/c.rs: edited 2 times, +2 -0 lines
```
m3 + lease();
- fn lock() { spin(); }
```
## From tool results (quoted)
```
m2 Read src/a.rs:
fn lock() { spin(); }
```
## Calls that changed something, answered without an error
```
m10 send_mail to mara, text done
```
## Committed, pushed and released (quoted)
branch: main (m10)
git push: failed: ! [rejected] main -> main (m10)
## Checks and failures (quoted)
cargo test: passed (m7), 3 passed, 0 failed
cargo test: outcome not stated (m7)
## Decisions of the user
m16 No, undo that.
## The assistant's last words (m15, then 1 call, the last in m17)
The lock is mended."#;
        assert_eq!(lost(so), Vec::<String>::new());
        for not_so in [
            // Somebody else said it.
            "## Request (m15)\nThe lock is mended.",
            "## The assistant's last words (m16)\nNo, undo that.",
            "## Asked before\nm15 The lock is mended.",
            "## Decisions of the user\nm15 The lock is mended.",
            "## Rules and facts from the user\n- m3: Then it never yields.",
            "## Findings and progress, in the assistant's words\nm0 Never push.",
            // Nothing became of it so.
            "## Asked before\nm0 Mend the lock in a.rs. (answered in m99)",
            "## Asked before\nm0 Mend the lock in a.rs. (answered in m16)",
            "## Asked before\nm16 No, undo that. (answered in m15)",
            "## Asked before\nm0 Mend the lock in a.rs. (asked back in m15)",
            "## Asked before\nm16 No, undo that. (taken back in m0)",
            "## Asked before\nm0 Never push. (takes back what was done for m16)",
            "## Rules and facts from the user\n- m16: No, undo that. (later on this: m0)",
            "## Rules and facts from the user\n- m0: Never push. (a question)",
            "## Rules and facts from the user\n- m0: Never push. (taken back in m15)",
            // The pieces stand there in another order.
            "## Findings\nm3 never yields. … The lock spins.",
            "## Rules\n- m0: Never push. […] Mend the lock",
            "## Findings\nm15 mended. […] The lock",
            // Words of a summary's own say nothing where it quotes.
            "## Findings\nm15 All tests passed.",
            "## Decisions\nm3 failed 3 times",
            "## Proposed by the assistant\nm3 read the tests again",
            // Another call, or none.
            "## From tool results (quoted)\nm2 Read src/b.rs:",
            "## From tool results (quoted)\nm2 Edit src/a.rs:",
            "## From tool results (quoted)\nm4 Read src/a.rs:",
            // The edit did something else, was refused, or nobody answered it.
            "## Changed files\n```\nm3 - lease();\n```",
            "## Changed files\n```\nm3 + two();\n```",
            "## Changed files\n```\nm17 + four();\n```",
            // The file was edited less, or otherwise.
            "## Changed files\nsrc/a.rs: edited 9 times, +3 -1 lines",
            "## Changed files\nsrc/c.rs: edited 2 times, +5 -0 lines",
            "## Changed files\nsrc/a.rs: +3 -40 lines",
            "## Changed files\nsrc/b.rs: deleted",
            "## Changed files\nsrc/a.rs: reverted",
            "## Changed files\nsrc/lock.rs: created",
            // The list says otherwise.
            "## To do, as the list stood in m7\nopen: mend the lock",
            "## To do, as the list stood in m7\ndone: tell Mara",
            "## To do, as the list stood in m7\nasked since then: m0",
            // It went otherwise, or elsewhere.
            "## Checks and failures (quoted)\ncargo test: failed (m7)",
            "## Checks and failures (quoted)\ngit push: passed (m10)",
            "## Checks and failures (quoted)\ncargo test: passed (m99)",
            "## Calls that changed something, answered without an error\nm10 send_mail to kira, text done",
            "## The assistant's last words (m15, then 4 calls, the last in m17)\nThe lock is mended.",
            "## The assistant's last words (m15, then 1 call, the last in m16)\nThe lock is mended.",
        ] {
            assert!(!lost(not_so).is_empty(), "{not_so}");
        }
    }
}
