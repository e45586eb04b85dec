//! What a summary claims beside what it quotes: who says it, what became of it, what was edited, how a check went.

use longhaul_transcript::{Message, Outcome, Role, ToolCall, ToolResult};

use super::{Sources, folded, handle, handle_in, sides::Sides};

/// The section of a summary that a line stands in.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Section<'s> {
    heading: &'s str,
    /// The message that the heading names.
    named: Option<u64>,
    /// Whether the line stands between fences.
    is_fenced: bool,
}

impl<'s> Section<'s> {
    pub(super) fn under(heading: &'s str) -> Section<'s> {
        Section { heading, named: handle_in(heading), is_fenced: false }
    }

    pub(super) fn fence(&mut self) {
        self.is_fenced = !self.is_fenced;
    }

    /// Whether what stands here is made of pieces of the source.
    pub(super) fn is_made(&self) -> bool {
        self.begins(&["Changed files", "To do", "Checks", "Committed", "Branch"])
    }

    /// Whether what calls changed stands here.
    pub(super) fn is_of_deeds(&self) -> bool {
        self.begins(&["Calls that changed something"])
    }

    fn begins(&self, words: &[&str]) -> bool {
        words.iter().any(|words| self.heading.starts_with(words))
    }

    /// Whether who says what stands here may be in this role.
    fn is_said_by(&self, message: &Message) -> bool {
        match message.role {
            Role::Assistant => !self.begins(&["Request", "Asked", "Rules", "Decisions of the user"]),
            _ if self.begins(&["Decisions of the user"]) => true,
            // A reader of a file may know better who speaks.
            _ if message.speaker.is_some() => true,
            _ => {
                !self.begins(&["Findings", "Thought", "Proposed", "Decisions", "The assistant's last words"])
            }
        }
    }
}

impl<'e> Sources<'e> {
    /// Whether a heading names a message of whoever it is said to be of, and counts no more calls behind it than there are:
    /// `The assistant's last words (m4, then 3 calls, the last in m9)`.
    pub(super) fn hold_heading(&self, section: &Section<'_>) -> bool {
        let Some(at) = section.named else { return true };
        let Some(message) = self.messages.get(&at) else { return false };
        let calls: Vec<u64> =
            self.messages.range(at..).flat_map(|(at, message)| message.calls().map(|_| *at)).collect();
        let (mut counted, mut last) = (0, None);
        if let Some((_, then)) = section.heading.split_once(", then ") {
            counted = then.split(' ').next().and_then(|count| count.parse().ok()).unwrap_or_default();
            last = then.split_once("the last in m").and_then(|(_, at)| at.trim_end_matches(')').parse().ok());
        }
        section.is_said_by(message)
            && counted <= calls.len()
            && last.is_none_or(|last: u64| calls.contains(&last))
    }

    /// Whether what a line claims by where it stands is so.
    pub(super) fn hold_claims(&self, section: &Section<'_>, line: &str, message: Option<u64>) -> bool {
        let named = message.and_then(|at| self.messages.get(&at));
        let is_unsaid = handle(line.trim_start_matches("- ")).is_none() && section.named.is_none();
        // What was said before and is not at hand any more has no handle.
        if !is_unsaid && named.is_some_and(|message| !section.is_said_by(message)) {
            return false;
        }
        match () {
            () if section.begins(&["Changed files"]) && section.is_fenced => self.hold_change(line, message),
            () if section.begins(&["Changed files"]) => self.hold_file(section, line),
            () if section.begins(&["To do, as"]) => self.hold_list(line, first_handle(section.heading)),
            () if section.begins(&["Checks", "Committed"]) => self.hold_outcome(line),
            () => true,
        }
    }

    /// Whether a note behind what is quoted of `message` is so.
    pub(super) fn hold_note(&self, note: &str, text: &str, message: Option<u64>) -> bool {
        if note.starts_with("a question)") {
            return asks(text);
        }
        let Some((at, by)) = message.zip(first_handle(note)) else { return false };
        let Some(other) = self.messages.get(&by) else { return false };
        let says = |role: Role| other.role == role && other.texts().next().is_some();
        let begins = |words: &str| note.starts_with(words);
        match () {
            () if begins("takes back what was done for m") => by < at && says(Role::User),
            () if begins("answered in m") => {
                by > at && says(Role::Assistant) && !self.is_asked_between(at, by)
            }
            () if begins("asked back in m") => {
                by > at && says(Role::Assistant) && other.texts().any(|text| text.contains(['?', '？']))
            }
            () if begins("interrupted by the user in m") => by > at && other.role == Role::User,
            () if begins("taken back in m") || begins("what was done was taken back in m") => {
                by > at && says(Role::User)
            }
            () => by > at && other.texts().next().is_some(),
        }
    }

    /// Whether somebody asks something else between two messages, by the look of it: what a harness puts in begins with a mark.
    fn is_asked_between(&self, from: u64, to: u64) -> bool {
        let mut between = self.messages.range(from + 1..to).map(|(_, message)| message);
        between.any(|message| {
            let is_persons = message.role == Role::User && message.speaker.is_none();
            is_persons
                && message
                    .texts()
                    .any(|text| text.trim_start().starts_with(char::is_alphabetic) && !is_frame(text))
        })
    }

    /// Whether the line names a call of this message, or one that it answers, and what that is about: `Read src/main.rs:`.
    pub(super) fn hold_label(&self, label: &str, message: Option<u64>) -> bool {
        let Some(message) = message.and_then(|at| self.messages.get(&at)) else { return false };
        // What a person puts in stands in a message of theirs.
        if label == "pasted:" {
            return message.role == Role::User && message.texts().any(|text| text.lines().nth(1).is_some());
        }
        let answered = message.results().filter_map(|result| self.calls.get(result.call_id.as_str()));
        let mut calls = message.calls().chain(answered.flatten().copied());
        calls.any(|call| {
            let Some(about) = label.trim_end_matches(':').strip_prefix(&*call.name) else { return false };
            let said = folded(&super::meant(call).join("\n"));
            // The directory that all changed files are in is left out of paths.
            about.split(['…', ' ']).all(|word| said.contains(&folded(word)))
        })
    }

    /// Whether a call of this message was answered, and not with an error.
    pub(super) fn was_done(&self, call: &ToolCall) -> bool {
        let answers = self.answers.get(call.id.as_str());
        // One id may stand for several calls.
        answers.is_some_and(|answers| answers.iter().any(|result| !is_refused(result)))
    }

    /// Whether an edit that took place in the message adds or removes this line: `m5 + let x = 1;`.
    fn hold_change(&self, line: &str, message: Option<u64>) -> bool {
        let said = handle(line).map_or(line, |(_, said)| said);
        let is_added = said.starts_with("+ ");
        let Some(text) = said.strip_prefix("+ ").or(said.strip_prefix("- ")) else { return true };
        let calls = message.into_iter().flat_map(|at| self.calls(at)).filter(|call| self.was_done(call));
        calls.into_iter().any(|call| Sides::of(call).changes(text.trim(), is_added))
    }

    /// Whether calls name a file, as often as it is told to be edited, with as many lines: `a.rs: edited 2 times, +3 -1 lines`.
    fn hold_file(&self, section: &Section<'_>, line: &str) -> bool {
        let Some((path, note)) = line.split_once(": ").filter(|(path, _)| !path.starts_with("in temporary"))
        else {
            return true;
        };
        let names = |call: &ToolCall, name: &str| super::meant(call).iter().any(|text| text.contains(name));
        let calls = || self.messages.values().flat_map(|message| message.calls());
        let base = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
        // It may have had another name.
        let renamed =
            note.split(", ").filter_map(|part| part.strip_prefix("now ").or(part.strip_prefix("was ")));
        let bases: Vec<String> = renamed.chain([path]).map(base).collect();
        let names_it = |call: &ToolCall| bases.iter().any(|base| names(call, base));
        let of_file: Vec<&ToolCall> = calls().filter(|call| names_it(call)).collect();
        let root = section.heading.split_once("(under ").map_or("", |(_, root)| root.trim_end_matches(')'));
        let whole = if root.is_empty() { path.to_owned() } else { format!("{root}/{path}") };
        let is_at = |text: &String| match text.contains('\n') {
            // A patch names its files itself.
            true => text.contains("*** ") || text.contains("+++ "),
            false => {
                is_end(&whole, text)
                    || is_end(text, &whole)
                    || bases[..bases.len() - 1].iter().any(|base| is_end(text, base))
            }
        };
        let of_path =
            of_file.iter().filter(|call| self.was_done(call) && super::meant(call).iter().any(is_at));
        let mut sides: Vec<Sides> = of_path.map(|call| Sides::of(call)).collect();
        // Of a file that is written whole again what it held before is gone.
        if let Some(last) = sides.iter().rposition(Sides::is_whole) {
            sides.drain(..last);
        }
        let lines = |of: fn(&Sides) -> usize| sides.iter().map(of).sum::<usize>();
        let does = |words: &[&str]| {
            let is_there = |text: &String| {
                let mut parts = path.split('/').filter(|part| part.len() > 1);
                words.iter().any(|word| text.contains(word)) && parts.any(|part| text.contains(part))
            };
            calls().any(|call| super::meant(call).iter().any(is_there) || words.contains(&&*call.name))
        };
        let holds = |part: &str| {
            if let Some(count) = part.strip_prefix("edited ").and_then(|rest| rest.strip_suffix(" times")) {
                return count.parse().is_ok_and(|count: usize| count <= of_file.len());
            }
            if let Some((added, removed)) =
                part.strip_suffix(" lines").and_then(|part| part.strip_prefix('+')?.split_once(" -"))
            {
                let most = |count: &str, most| count.parse().is_ok_and(|count: usize| count <= most);
                return most(added, lines(Sides::n_added)) && most(removed, lines(Sides::n_removed));
            }
            if let Some(at) = part.strip_prefix("written anew in m") {
                return at.parse().is_ok_and(|at: u64| self.calls(at).any(names_it));
            }
            match part {
                "deleted" => does(&["rm", "elete", "emove", "unlink"]),
                "reverted" => does(&["checkout", "restore", "reset", "stash"]),
                part if part.starts_with("now ") || part.starts_with("was ") => does(&["mv", "ove", "ename"]),
                _ => true,
            }
        };
        !of_file.is_empty() && note.split(", ").all(holds)
            || note
                .split(", ")
                .all(|part| part == "deleted" || part.starts_with("now ") || part.starts_with("was "))
                && does(&["rm", "mv"])
    }

    /// Whether items stand in the message with the list, each in that state: `open: a; b`, `done: c`.
    fn hold_list(&self, line: &str, list: Option<u64>) -> bool {
        let Some((list, message)) = list.and_then(|at| Some((at, self.messages.get(&at)?))) else {
            return true;
        };
        let Some((word, items)) = line.split_once(": ") else { return true };
        if word == "asked since then" {
            let asked = first_handle(items).filter(|asked| *asked > list);
            return asked
                .and_then(|asked| self.messages.get(&asked))
                .is_some_and(|asked| asked.role == Role::User);
        }
        if ["edited since then", "edited since then, and not on the list"].contains(&word) {
            let name = items.split(" (m").next().unwrap_or_default();
            let edited = first_handle(items).filter(|edited| *edited > list);
            return edited
                .is_some_and(|at| self.calls(at).any(|call| super::meant(call).join("\n").contains(name)));
        }
        let states: &[&str] = match word {
            "open" => &["pending", "in_progress", "not_started", "open", "todo"],
            "done" => &["completed", "done", "complete", "finished"],
            _ => return true,
        };
        // What only one call of several says of a list does not tell the others' states.
        let lists: Vec<serde_json::Value> =
            message.calls().filter_map(|call| serde_json::from_str(&call.arguments.0).ok()).collect();
        let mut told = Vec::new();
        lists.iter().for_each(|list| stated(list, &mut told));
        items.split("; ").all(|item| {
            let item = folded(item.trim_end_matches(" (in progress)"));
            let state = told.iter().find(|(text, _)| folded(text) == item).map(|(_, state)| state);
            state.is_none_or(|state| states.contains(&state.to_lowercase().as_str()))
        })
    }

    /// Whether each message that a line names is there, and whether the command that is told to have passed or failed was run in it
    /// and answered so: `cargo test: passed (m4); failed in m2: …`.
    fn hold_outcome(&self, line: &str) -> bool {
        let is_there =
            |rest: &str| first_handle(&format!("m{rest}")).is_none_or(|at| self.messages.contains_key(&at));
        let literal = folded(line);
        let named = line.match_indices("(m").all(|(at, _)| is_there(&line[at + 2..]));
        if !named && !self.all.text.contains(&literal) {
            return false;
        }
        for (verdict, failed) in [(": passed (m", false), (": failed (m", true)] {
            let Some((command, rest)) = line.split_once(verdict) else { continue };
            let Some(at) = first_handle(&format!("m{rest}")) else { continue };
            let word = command.split_whitespace().next().unwrap_or_default();
            let mut runs = self.calls(at).filter(|call| super::meant(call).join("\n").contains(word));
            return runs.any(|call| {
                let answers = self.answers.get(call.id.as_str()).into_iter().flatten();
                answers.into_iter().any(|answer| match failed {
                    true => tells_failure(answer),
                    false => answer.outcome != Outcome::Failed && !states_a_failed_exit(answer),
                })
            });
        }
        true
    }
}

/// Whether a path ends in another one.
fn is_end(path: &str, end: &str) -> bool {
    !end.is_empty() && path.strip_suffix(end).is_some_and(|before| before.is_empty() || before.ends_with('/'))
}

/// Returns the first handle (`m12`) of a text.
fn first_handle(text: &str) -> Option<u64> {
    let mut words = text.split(|c: char| !c.is_ascii_alphanumeric());
    words.find_map(|word| word.strip_prefix('m')?.parse().ok())
}

/// Whether a sentence has a mark of asking, or a word of it near its beginning.
fn asks(text: &str) -> bool {
    const ASKING: [&str; 16] = [
        "do", "does", "did", "don't", "should", "shouldn't", "can", "can't", "could", "will", "would", "are",
        "were", "why", "how", "is",
    ];
    let lower = text.to_lowercase();
    let mut first =
        lower.split_whitespace().take(6).map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
    text.contains(['?', '？']) || first.any(|word| ASKING.contains(&word))
}

/// Whether a text begins as notices of harnesses do.
fn is_frame(text: &str) -> bool {
    ["Caveat:", "Base directory", "This session is being continued", "Stop hook"]
        .iter()
        .any(|words| text.trim_start().starts_with(words))
}

fn is_refused(result: &ToolResult) -> bool {
    let text = result.joined_text();
    let text = text.trim_start();
    result.outcome == Outcome::Failed
        || ["<tool_use_error>", "Error: String to replace", "String to replace not found"]
            .iter()
            .any(|words| text.starts_with(words))
}

fn tells_failure(answer: &ToolResult) -> bool {
    let lower = answer.joined_text().to_lowercase();
    let words = [
        "fail", "error", "exit", "✗", "✖", "×", "problem", "panic", "not ok", "not found", "cannot",
        "invalid",
    ];
    answer.outcome == Outcome::Failed || words.iter().any(|word| lower.contains(word))
}

fn states_a_failed_exit(answer: &ToolResult) -> bool {
    let text = answer.joined_text();
    let code = ["Exit code: ", "exited with code "].iter().find_map(|words| text.split_once(words));
    code.is_some_and(|(_, code)| code.starts_with(|c: char| ('1'..='9').contains(&c)))
}

/// Returns the texts of a JSON value beside which their objects have a status.
fn stated(value: &serde_json::Value, found: &mut Vec<(String, String)>) {
    match value {
        serde_json::Value::Array(values) => values.iter().for_each(|value| stated(value, found)),
        serde_json::Value::Object(fields) => {
            if let Some(status) = fields.get("status").and_then(|status| status.as_str()) {
                let texts = fields.values().filter_map(|value| value.as_str());
                found.extend(texts.map(|text| (text.to_owned(), status.to_owned())));
            }
            fields.values().for_each(|value| stated(value, found));
        }
        _ => {}
    }
}
