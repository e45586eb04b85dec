//! Reading one message into statements.

use std::borrow::Cow;

use hashbrown::HashSet;
use longhaul_transcript::{Message, Part, Role, Speaker};

use super::{
    Statement, StatementKind, StatementSource, Statements, changes,
    records::{is_record, records, texts_in},
    signs::Signs,
    split, thoughts,
    words::{Voice, each_word, hash_of},
};
use crate::{
    CallView, FieldPlace, ToolFamily,
    decisions::settles,
    refusal::is_asked_first,
    speaker::{Matter, Segment, Speakers},
    strip_line_numbers,
};

/// What is known of a statement beside its text.
#[derive(Clone, Copy, Debug)]
struct Draft {
    kind: StatementKind,
    signs: Signs,
}

pub(super) struct Reader<'p> {
    pool: &'p mut Statements,
    message: u32,
    /// Where the statements of this message begin.
    first: usize,
    source: Option<u32>,
    /// The words of one statement.
    words: Vec<u32>,
}

impl<'p> Reader<'p> {
    pub(super) fn new(pool: &'p mut Statements, message: u32) -> Reader<'p> {
        let first = pool.all.len();
        let words = std::mem::take(&mut pool.room);
        Reader { pool, message, first, source: None, words }
    }

    pub(super) fn message(mut self, message: &Message, views: &[CallView<'_>], speakers: &Speakers) {
        let calls = !views.is_empty();
        let mut views = views.iter();
        self.turn(message, calls);
        let pieces = speakers.segments(message);
        for (at, part) in message.parts.iter().enumerate() {
            match part {
                Part::ToolCall(_) => views.by_ref().take(1).for_each(|view| self.call(view)),
                Part::ToolResult(result) => {
                    self.source = self.pool.waiting.remove(&result.call_id);
                    pieces
                        .iter()
                        .filter(|piece| piece.part == at)
                        .for_each(|piece| self.segment(piece, calls));
                    self.source = None;
                }
                Part::Reasoning(reasoning) => self.thought(&reasoning.text),
                _ => pieces
                    .iter()
                    .filter(|piece| piece.part == at)
                    .for_each(|piece| self.segment(piece, calls)),
            }
        }
        self.ask(message);
        self.finish();
    }

    /// Notes whose turn it is: what the model said before is no answer where the model goes on.
    fn turn(&mut self, message: &Message, calls: bool) {
        match message.role {
            Role::Assistant => {
                let before = self.pool.answered.take();
                for statement in self.pool.all.iter_mut().rev() {
                    if before != Some(statement.message) {
                        break;
                    }
                    if statement.kind == StatementKind::Answer {
                        statement.kind = StatementKind::Prose;
                    }
                }
                self.pool.answered = (!calls).then_some(self.message);
            }
            _ => self.pool.answered = None,
        }
    }

    /// Notes what is asked or proposed last in `message`, for a short answer to it.
    fn ask(&mut self, message: &Message) {
        if message.role == Role::Assistant {
            let said = self.pool.all[self.first..].iter().rev().filter(|made| made.kind.is_said());
            let asking = said.into_iter().find(|made| asks(&made.text));
            self.pool.asked = asking.map(|made| made.text.clone());
        } else if message.is_user_text() {
            self.pool.asked = None;
        }
    }

    /// Takes in a line of a summary, as it stands there; of a call that `label` names, where it does.
    pub(super) fn told(&mut self, line: &str, kind: StatementKind, label: Option<&str>) {
        self.source = label.map(|label| {
            let known = self.pool.sources.last().is_some_and(|source| &*source.label == label);
            if !known {
                let family = ToolFamily::Other;
                self.pool.sources.push(StatementSource { label: label.into(), path: None, family });
            }
            self.pool.sources.len() as u32 - 1
        });
        self.add(line, Draft { kind, signs: Signs::default() });
    }

    fn segment(&mut self, piece: &Segment<'_>, calls: bool) {
        let family = self.source.map(|at| self.pool.sources[at as usize].family);
        let kind = match (piece.speaker, piece.matter) {
            (_, Matter::Command | Matter::Reminder | Matter::Interruption | Matter::Environment) => return,
            (Speaker::Person, _) if piece.inner.is_some() && !self.is_of_harness() => StatementKind::Result,
            (Speaker::Person, Matter::Pasted) => StatementKind::Pasted,
            (Speaker::Person, Matter::Words | Matter::Plan) => StatementKind::Person,
            (_, Matter::Summary | Matter::Report) | (Speaker::SubAgent, _) => StatementKind::Report,
            (Speaker::Model, _) if calls => StatementKind::Prose,
            (Speaker::Model, _) => StatementKind::Answer,
            (Speaker::Tool, _) | (_, Matter::Output) if family == Some(ToolFamily::SubAgent) => {
                StatementKind::Report
            }
            (Speaker::Tool, _) | (_, Matter::Output) => StatementKind::Result,
            _ => StatementKind::Harness,
        };
        let signs = Signs::default().with(Signs::PLAN, piece.matter == Matter::Plan);
        let draft = Draft { kind, signs };
        match kind {
            StatementKind::Result | StatementKind::Pasted => self.output(piece.text, draft),
            _ => {
                let is_answer = kind == StatementKind::Person && piece.text.chars().count() <= SHORT_ANSWER;
                let asked = if is_answer { self.pool.asked.take() } else { None };
                match asked {
                    Some(asked) => {
                        self.add(piece.text, draft);
                        if let Some(made) = self.pool.all[self.first..].last_mut() {
                            made.answers = Some(asked);
                        }
                    }
                    None => self.prose(piece.text, draft),
                }
            }
        }
    }

    /// Returns whether a harness may have handed on what a person said to the call that the text is a result of.
    fn is_of_harness(&self) -> bool {
        let source = self.source.map(|at| &self.pool.sources[at as usize]);
        source.is_some_and(|source| is_asked_first(source.family, &source.label))
    }

    fn prose(&mut self, text: &str, draft: Draft) {
        // What a person shows as wrong is to be mended.
        let pieces = match draft.kind {
            StatementKind::Person => split::prose(text),
            _ => split::prose_without_bad_examples(text),
        };
        for piece in pieces.into_iter().take(MOST_OF_MESSAGE) {
            let signs = draft.signs.with(Signs::ITEM, piece.is_item).with(Signs::FENCED, piece.is_fenced);
            let draft = Draft { signs, ..draft };
            // What was found stands apart from what the model does next.
            let (found, next) = match draft.kind {
                StatementKind::Prose => split::before_announcement(&piece.text),
                _ => (&*piece.text, ""),
            };
            [found, next].into_iter().filter(|text| !text.is_empty()).for_each(|text| self.add(text, draft));
        }
    }

    fn thought(&mut self, text: &str) {
        for thought in thoughts::settled(text).into_iter().take(MOST_THOUGHTS) {
            let signs = Signs::default().with(Signs::ITEM, thought.is_item);
            self.add(&thought.text, Draft { kind: StatementKind::Thought, signs });
        }
    }

    fn output(&mut self, text: &str, draft: Draft) {
        let text = strip_line_numbers(text);
        let trimmed = text.trim();
        if EMPTY.contains(&trimmed) {
            return;
        }
        if is_record(trimmed) {
            return self.record(trimmed, draft);
        }
        // That nothing was found may hold of the page alone that was asked for.
        if let Some((said, note)) = with_note(trimmed) {
            return self.add(&format!("{said} {note}"), draft);
        }
        for line in sample(trimmed.lines().collect()) {
            let line = line.trim();
            // A field of JSON has a line of its own where it is indented.
            let is_text = || line.starts_with('"') && line.contains("\": \"") && line.contains("\\n");
            match is_record(line) || is_text() {
                true => self.record(line, draft),
                false => split::pieces(line, |piece| self.add(piece, draft)),
            }
        }
    }

    /// Reads JSON: its records, and line by line what its strings say that are texts.
    fn record(&mut self, text: &str, draft: Draft) {
        let of_record = Draft { signs: draft.signs.with(Signs::RECORD, true), ..draft };
        let mut from = 0;
        for (place, said) in texts_in(text) {
            records(&text[from..place.start], |piece| self.add(piece, of_record));
            for line in sample(said.lines().collect()) {
                split::pieces(line, |piece| self.add(piece, draft));
            }
            from = place.end;
        }
        records(&text[from..], |piece| self.add(piece, of_record));
    }

    fn call(&mut self, view: &CallView<'_>) {
        let family = view.family();
        let at = self.pool.sources.len() as u32;
        self.pool.sources.push(StatementSource {
            label: label(view).into(),
            path: view.path().map(Into::into),
            family,
        });
        if self.pool.waiting.len() >= MOST_WAITING {
            self.pool.waiting.clear();
        }
        self.pool.waiting.insert(view.call().id.clone(), at);
        self.source = Some(at);
        let plain = |kind| Draft { kind, signs: Signs::default() };
        if let Some(patch) = view.patch() {
            for change in changes::of_patch(patch).into_iter().take(MOST_OF_MESSAGE) {
                self.patched(change);
            }
        } else if family.changes_files() {
            for (old, new) in view.replacements() {
                changes::between(&old, &new)
                    .into_iter()
                    .take(MOST_OF_MESSAGE)
                    .for_each(|change| self.change(change));
            }
        } else {
            for field in view.fields() {
                match &*field.key {
                    _ if family == ToolFamily::Todo => {
                        if field.text.len() > 12 {
                            self.prose(&field.text, plain(StatementKind::Todo));
                        }
                    }
                    key if family == ToolFamily::Shell && COMMAND_KEYS.contains(&key) => {
                        for line in sample(field.text.lines().collect()) {
                            split::pieces(line, |piece| self.add(piece, plain(StatementKind::Command)));
                        }
                    }
                    _ if is_told_by_label(family) || field.place == FieldPlace::Tuning => {}
                    _ if field.place == FieldPlace::Body || family == ToolFamily::Talk => {
                        self.prose(&field.text, plain(StatementKind::Argument));
                    }
                    _ => split::pieces(&field.text, |piece| self.add(piece, plain(StatementKind::Argument))),
                }
            }
        }
        self.source = None;
    }

    fn patched(&mut self, change: changes::Change<'_>) {
        let at = self.source;
        if let (Some(at), Some(path)) = (at, change.path)
            && self.pool.sources[at as usize].path.as_deref() != Some(path)
        {
            let source =
                StatementSource { label: path.into(), path: Some(path.into()), family: ToolFamily::Patch };
            let known = self.pool.sources.iter().rposition(|known| *known == source);
            let place = known.filter(|known| *known > at as usize).unwrap_or_else(|| {
                self.pool.sources.push(source);
                self.pool.sources.len() - 1
            });
            self.source = Some(place as u32);
        }
        self.change(change);
        self.source = at;
    }

    fn change(&mut self, change: changes::Change<'_>) {
        let kind = if change.is_added { StatementKind::Added } else { StatementKind::Removed };
        split::pieces(change.line, |piece| self.add(piece, Draft { kind, signs: Signs::default() }));
    }

    fn add(&mut self, text: &str, draft: Draft) {
        let says_something = draft.signs.has(Signs::RECORD) || text.chars().any(char::is_alphabetic);
        // A person may say something by a mark alone; the line under the head of a table does not.
        let says_something = says_something || draft.kind == StatementKind::Person && !text.starts_with('|');
        let nth = self.pool.all.len() - self.first;
        if nth >= MOST_OF_MESSAGE || !says_something {
            return;
        }
        let own = Signs::of(text);
        // A person decides in more words than a model.
        let own = own.with(
            Signs::DECIDES,
            own.has(Signs::DECIDES) || draft.kind == StatementKind::Person && settles(text),
        );
        let signs = [Signs::PLAN, Signs::ITEM, Signs::RECORD, Signs::FENCED]
            .into_iter()
            .fold(own, |signs, sign| signs.with(sign, draft.signs.has(sign)));
        self.words.clear();
        each_word(text, |word| self.words.push(word));
        self.words.sort_unstable();
        self.words.dedup();
        self.pool.all.push(Statement {
            message: self.message,
            kind: draft.kind,
            key: key(text),
            text: text.into(),
            answers: None,
            source: self.source,
            signs,
            nth: nth as u16,
            of: 0,
            words: self.words.as_slice().into(),
            prior: 0,
        });
    }

    pub(super) fn finish(self) {
        let Statements { all, words, room, .. } = self.pool;
        *room = self.words;
        let count = (all.len() - self.first) as u16;
        for made in &mut all[self.first..] {
            made.of = count;
            let voice = match made.kind {
                StatementKind::Person => Voice::Person,
                StatementKind::Answer | StatementKind::Prose | StatementKind::Report => Voice::Model,
                _ => Voice::Other,
            };
            words.count(&made.words, self.message, voice);
        }
    }
}

/// Returns whether a text asks something: a question mark ends a word in it. In code it mostly does not.
pub(crate) fn asks(text: &str) -> bool {
    let ends = text.match_indices(['?', '？']).map(|(at, mark)| (mark == "？", &text[at + mark.len()..]));
    ends.into_iter().any(|(is_wide, rest)| {
        is_wide
            || rest
                .trim_start_matches(['*', '_', '`', ')', '"', '?', '!'])
                .chars()
                .next()
                .is_none_or(char::is_whitespace)
    })
}

/// A person's message of so few characters is an answer to what was asked before it.
const SHORT_ANSWER: usize = 24;

/// No more statements than these are taken from one message.
const MOST_OF_MESSAGE: usize = 600;

/// No more than these are taken from one piece of reasoning: who thinks long, weighs most of the time.
const MOST_THOUGHTS: usize = 40;

/// Calls that wait for their results; more are a sign that results never come.
const MOST_WAITING: usize = 256;

/// Results that say nothing.
const EMPTY: [&str; 4] = ["(no output)", "(empty)", "null", "{}"];

const COMMAND_KEYS: [&str; 6] = ["command", "cmd", "CommandLine", "script", "code", ""];

/// Whether the label of a call says all there is to say of it.
fn is_told_by_label(family: ToolFamily) -> bool {
    matches!(family, ToolFamily::Read | ToolFamily::Search | ToolFamily::List | ToolFamily::Shell)
}

/// Returns the only line of an output and what stands under it in brackets: how much of it is shown.
fn with_note(output: &str) -> Option<(&str, &str)> {
    let (said, note) = output.split_once('\n')?;
    let (said, note) = (said.trim(), note.trim());
    let is_note =
        note.starts_with('[') && note.ends_with(']') && !note.contains('\n') && note.len() <= LONGEST_NOTE;
    (is_note && !said.starts_with(['[', '{']) && said.len() <= LONGEST_NOTE).then_some((said, note))
}

/// Bytes of a note of what is shown, and of what it is said of.
const LONGEST_NOTE: usize = 160;

/// Returns all lines, or of many the first, the last, and between them those that are unlike what stands before them: in a log
/// the few that are no row of it.
fn sample(mut lines: Vec<&str>) -> Vec<&str> {
    if lines.len() <= FIRST_LINES + LAST_LINES {
        return lines;
    }
    let shape = |line: &str| hash_of(shape(line));
    let last = lines.split_off(lines.len() - LAST_LINES);
    let middle = lines.split_off(FIRST_LINES);
    let mut seen: HashSet<u32> = lines.iter().map(|line| shape(line)).collect();
    lines.extend(middle.into_iter().filter(|line| seen.insert(shape(line))).take(MIDDLE_LINES));
    lines.extend(last);
    lines
}

const FIRST_LINES: usize = 400;
const MIDDLE_LINES: usize = 100;
const LAST_LINES: usize = 150;

/// Returns a hash of `text` in which neither white space nor case counts.
pub fn key(text: &str) -> u32 {
    hash_of(folded(text))
}

/// Returns a hash of `text` in which numbers do not count either, nor how often a mark is repeated: the rows of a table of readings have the
/// same. `None` where there is no number, and for a record of JSON: its numbers are what it is there for.
pub fn form(text: &str) -> Option<u32> {
    let bytes = text.as_bytes();
    let is_row = bytes.iter().any(u8::is_ascii_digit) && memchr::memmem::find(bytes, b"\":").is_none();
    is_row.then(|| hash_of(shape(text)))
}

/// Returns `text` folded, without digits, each run of a mark once.
fn shape(text: &str) -> impl Iterator<Item = u8> {
    let mut before = 0;
    folded(text).filter(|byte| !byte.is_ascii_digit()).filter(move |byte| {
        let is_again = *byte == before && byte.is_ascii_punctuation();
        before = *byte;
        !is_again
    })
}

fn folded(text: &str) -> impl Iterator<Item = u8> {
    text.bytes().map(|byte| FOLDED[usize::from(byte)]).filter(|byte| *byte != b' ')
}

/// Each byte in lower case; all white space is a blank.
const FOLDED: [u8; 256] = {
    let mut folded = [0; 256];
    let mut at = 0;
    while at < 256 {
        let byte = at as u8;
        folded[at] = if byte.is_ascii_whitespace() { b' ' } else { byte.to_ascii_lowercase() };
        at += 1;
    }
    folded
};

/// What a call did, in a few words of its own.
fn label(view: &CallView<'_>) -> String {
    let about = match view.family() {
        ToolFamily::Shell => view.command().map(|command| Cow::Owned(act(&command).to_string())),
        ToolFamily::Search => view.pattern().map(Cow::Borrowed),
        ToolFamily::WebFetch => view.url().map(Cow::Borrowed),
        ToolFamily::SubAgent | ToolFamily::WebSearch => view.query().map(Cow::Borrowed),
        ToolFamily::Todo => None,
        _ => view.path().map(Cow::Borrowed),
    };
    let first = || view.fields().into_iter().map(|field| field.text).find(|text| text.len() > 2);
    let about = about.or_else(|| if view.family() == ToolFamily::Todo { None } else { first() });
    let about = about.unwrap_or_default();
    let about = about.lines().next().unwrap_or_default();
    let about = shortened(about);
    if about.is_empty() {
        return view.name().trim_end().to_string();
    }
    [view.name(), " ", &about].concat()
}

/// Returns what a call is about in so many characters: of a single command that ends in a path or an address its program and the
/// end of that, which is what it looks at; of anything else the beginning.
fn shortened(about: &str) -> Cow<'_, str> {
    let about = about.trim();
    let Some((end, _)) = about.char_indices().nth(LABEL_CHARS) else { return about.into() };
    let is_single = !about.contains(['|', ';', '&', '>']);
    let last = about.rsplit_once(' ').filter(|(before, last)| last.contains('/') && !is_quoted(before));
    match last.filter(|_| is_single) {
        Some((before, last)) => {
            let program = program(before);
            let room = LABEL_CHARS.saturating_sub(program.chars().count() + 3).max(LABEL_CHARS / 2);
            let start = last.char_indices().rev().nth(room - 1).map_or(0, |(at, _)| at);
            // A name that is cut in two is none.
            let start =
                last[start..].find('/').filter(|_| start > 0).map_or(start, |slash| start + slash + 1);
            format!("{program} … {}", &last[start..]).into()
        }
        None => cut(about, end).into(),
    }
}

/// Returns the beginning of a text, whole words of it; of a path the end, whole names of it.
fn cut(about: &str, end: usize) -> String {
    if about.contains('/') && !about.contains(char::is_whitespace) {
        let start = about.char_indices().rev().nth(PATH_CHARS - 1).map_or(0, |(at, _)| at);
        let whole = about[start..].find('/').filter(|_| start > 0).map(|slash| &about[start + slash + 1..]);
        return whole.map_or_else(|| about.to_owned(), |whole| format!("…/{whole}"));
    }
    let start = &about[..end];
    let is_whole = about[end..].starts_with(char::is_whitespace);
    let blank = start.rfind(char::is_whitespace).filter(|blank| *blank * 2 > end);
    // An address that takes most of it is cut between its names.
    let whole = blank.or_else(|| start.rfind('/').map(|slash| slash + 1)).filter(|_| !is_whole);
    format!("{}…", start[..whole.unwrap_or(end)].trim_end())
}

/// Returns whether what follows stands inside quotation marks.
fn is_quoted(before: &str) -> bool {
    ['"', '\''].iter().any(|mark| before.matches(*mark).count() % 2 == 1)
}

/// Returns the program that a command calls: with its own command where it has some, and the method of a request, which says
/// whether something is looked at or changed.
fn program(command: &str) -> String {
    let words: Vec<&str> = command.split_whitespace().collect();
    let named = usize::from(words.first() == Some(&"git")) + 1;
    let method = words.windows(2).find(|pair| ["-X", "--request"].contains(&pair[0]));
    words.iter().take(named).chain(method.unwrap_or_default()).copied().collect::<Vec<_>>().join(" ")
}

/// Returns the first line of a command without the change of directory it begins with.
fn act(command: &str) -> &str {
    let mut rest = command.lines().next().unwrap_or_default();
    while let Some((_, after)) = rest.strip_prefix("cd ").and_then(|cd| cd.split_once("&&")) {
        rest = after.trim_start();
    }
    rest
}

/// Characters of what a call is about.
const LABEL_CHARS: usize = 60;

/// Characters of a path, which says nothing where it is cut.
const PATH_CHARS: usize = 120;

#[cfg(test)]
mod tests {
    use super::shortened;

    #[test]
    fn a_long_command_is_told_by_its_program_and_what_it_looks_at() {
        for (command, short) in [
            ("cargo test", "cargo test"),
            (
                "git grep -n \"CompactionPlan\" -- crates/longhaul/src/compact crates/longhaul/src/session",
                "git grep … crates/longhaul/src/session",
            ),
            (
                "curl -s -X DELETE https://api.example.com/v1/projects/relay/branches/feature",
                "curl -X DELETE … v1/projects/relay/branches/feature",
            ),
            (
                "grep -rn \"a long text that somebody looks for, with a/b c/d\"",
                "grep -rn \"a long text that somebody looks for, with a/b c/d\"",
            ),
            (
                "curl -s https://api.example.com/v1/projects/relay/branches/feature | head -5",
                "curl -s https://api.example.com/v1/projects/relay/branches/…",
            ),
            (
                "To go on with the reservations, I need to first look up what each of them costs now.",
                "To go on with the reservations, I need to first look up what…",
            ),
            (
                "/home/mara/projects/relay/services/edge/src/hooks/useRelayTimeouts.ts",
                "/home/mara/projects/relay/services/edge/src/hooks/useRelayTimeouts.ts",
            ),
            (
                "/home/mara/projects/relay/services/edge/src/hooks/of/a/long/way/down/to/where/nobody/would/look/for/it/and/further/useRelayTimeouts.ts",
                "…/relay/services/edge/src/hooks/of/a/long/way/down/to/where/nobody/would/look/for/it/and/further/useRelayTimeouts.ts",
            ),
        ] {
            let got = shortened(command);
            assert_eq!(got, short, "{command}");
        }
    }
}
