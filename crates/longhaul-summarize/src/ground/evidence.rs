//! The source of a summary, indexed once so that each claim is looked up in little time.

use std::collections::{BTreeMap, HashMap, HashSet};

use longhaul_extract::{
    Run, TodoItem, runs,
    speaker::{Matter, Segment, Speakers},
    todos,
};
use longhaul_transcript::{CallId, Constraint, Entry, Part, Role, Speaker as Voice, ToolCall, ToolResult};
use serde_json::Value;

use super::{
    acts::Acts,
    calls::Calls,
    numbers::{Amounts, numbered_by_parts, values},
    polarity::{is_emphatic, is_question},
    records::Records,
    siblings::Kinds,
    words::{clauses, hash, identifier_parts, root, sentences, stem, stems, words},
};
use crate::SummaryRequest;

mod lookup;
mod matches;
mod quotes;

pub(super) use matches::Match;

/// All that was said, with an index of its words and its clauses.
///
/// Built in one pass over the source. Maps are only looked up, never iterated, so their order does not matter.
#[derive(Debug, Default)]
pub(crate) struct Evidence {
    text: String,
    /// Where each word stands, by hash of the word as it is spelled.
    positions: HashMap<u64, Vec<u32>>,
    /// How a word is spelled, by its lower case.
    spellings: HashMap<u64, Vec<u64>>,
    clauses: Vec<Clause>,
    /// Which clauses hold a stem.
    postings: HashMap<u64, Vec<u32>>,
    /// Which numbers stand beside which words.
    pairs: HashSet<(u64, u64)>,
    /// Words that have a number beside them somewhere, and how many different ones.
    counted: HashMap<u64, usize>,
    /// Where each number stands, however it is written.
    numbers: HashMap<u64, Vec<u32>>,
    /// Whose each message is.
    voices: BTreeMap<u64, Speaker>,
    /// What each message holds, by ordinal: what a claim is about may be said in several of its sentences.
    messages: BTreeMap<u64, HashSet<u64>>,
    /// What a person said, message by message.
    said: Vec<HashSet<u64>>,
    /// A person's short replies with what they reply to.
    replies: Vec<HashSet<u64>>,
    /// The calls by which a model asks the user, whose results are the user's words.
    questions: HashMap<CallId, HashSet<u64>>,
    /// What was done by calls.
    pub(super) acts: Acts,
    /// The amounts of money.
    pub(super) amounts: Amounts,
    /// Where things of a kind stand.
    pub(super) kinds: Kinds,
    /// The commands that were run, and how they went.
    pub(super) runs: Vec<Run>,
    /// The list of what is to be done, as it was last.
    pub(super) todos: Vec<TodoItem>,
    /// How calls went.
    pub(super) calls: Calls,
    /// What the records say that calls return.
    pub(super) records: Records,
    /// One past the highest ordinal.
    end: u64,
}

/// Who said a clause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Speaker {
    User,
    Assistant,
    /// The assistant, in what it calls a tool with: what it does, not what it says about it.
    Call,
    /// A summary of what came before: what anybody said, told by somebody else.
    Account,
    /// A tool, a file, a page: anybody's text.
    Tool,
}

/// A clause of the source.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clause {
    start: u32,
    end: u32,
    /// Where the sentence it belongs to starts and ends.
    sentence: (u32, u32),
    /// The first clause of that sentence.
    first: u32,
    pub speaker: Speaker,
    pub ordinal: u64,
}

impl Clause {
    pub(super) fn is_in_sentence_of(&self, other: &Clause) -> bool {
        self.first == other.first
    }
}

/// Source beyond this many bytes is looked up but not indexed any further; a window of a million tokens is smaller.
const MAX_BYTES: usize = 64 << 20;
/// A longer sentence is not a rule but a paste.
const MAX_RULE_BYTES: usize = 300;
/// More rules than this are compared with nothing.
const MAX_RULES: usize = 64;

impl Evidence {
    /// Reads everything that a summary of `request` may speak of: the messages, those kept beside it, the summary it
    /// folds in, and the goal.
    pub(crate) fn new(request: &SummaryRequest<'_>) -> Evidence {
        let mut evidence = Evidence::default();
        if let Some(previous) = request.previous {
            evidence.read(&previous.text, Speaker::Account, 0);
            evidence.note_told(&previous.text);
        }
        if let Some(goal) = request.goal {
            evidence.read(goal, Speaker::User, 0);
        }
        let stays = if request.tail.is_empty() { request.kept } else { request.tail };
        for entry in request.entries.iter().chain(stays) {
            evidence.read_entry(entry, request.index.speakers());
        }
        let all: Vec<Entry> = request.entries.iter().chain(stays).cloned().collect();
        (evidence.runs, evidence.todos) = (runs(&all), todos(&all));
        evidence
    }

    fn read_entry(&mut self, entry: &Entry, speakers: &Speakers) {
        let ordinal = entry.id.ordinal;
        self.acts.note(entry);
        self.calls.note(entry);
        self.end = self.end.max(ordinal.saturating_add(1));
        let speaker = match entry.message.role {
            Role::Assistant => Speaker::Assistant,
            Role::Tool => Speaker::Tool,
            _ => Speaker::User,
        };
        self.voices.insert(ordinal, speaker);
        if let Some(name) = entry.message.name.as_deref() {
            self.read(name, speaker, ordinal);
        }
        for part in &entry.message.parts {
            match part {
                // Who speaks in a text is told below, piece by piece.
                Part::Text(_) => {}
                Part::Reasoning(reasoning) => self.read(&reasoning.text, speaker, ordinal),
                Part::ToolCall(call) => {
                    self.read(&call.name, Speaker::Call, ordinal);
                    self.note_question(call);
                    match serde_json::from_str::<Value>(&call.arguments.0) {
                        Ok(arguments) => self.read_json(&arguments, ordinal),
                        Err(_) => self.read(&call.arguments.0, Speaker::Call, ordinal),
                    }
                }
                Part::ToolResult(result) => self.read_result(result, ordinal),
                Part::Media(media) => self.read(&media.source, Speaker::Tool, ordinal),
                _ => {}
            }
        }
        let mut said = HashSet::new();
        for piece in speakers.segments(&entry.message).iter().filter(|piece| piece.inner.is_none()) {
            let speaker = voice(piece);
            self.read(piece.text, speaker, ordinal);
            if speaker == Speaker::User && piece.speaker == Voice::Person {
                said.extend(all_stems(piece.text));
            }
            if piece.matter == Matter::Summary {
                self.note_told(piece.text);
            }
        }
        self.note_said(said, ordinal);
    }

    /// Notes what a person said. A short reply says what it replies to: `Yes, do both.`
    fn note_said(&mut self, said: HashSet<u64>, ordinal: u64) {
        if said.is_empty() {
            return;
        }
        let before = ordinal.checked_sub(1).and_then(|before| self.messages.get(&before));
        if let Some(before) = before.filter(|_| said.len() <= SHORT_REPLY) {
            self.replies.push(said.iter().chain(before).copied().collect());
        }
        self.said.push(said);
    }

    /// Notes what a summary of earlier messages tells of the user, line by line: the messages themselves are gone.
    fn note_told(&mut self, summary: &str) {
        let told = summary.lines().map(|line| all_stems(line).collect::<HashSet<u64>>());
        self.said.extend(told.filter(|told| !told.is_empty()));
    }

    fn note_question(&mut self, call: &ToolCall) {
        if QUESTIONS.iter().any(|name| call.name.eq_ignore_ascii_case(name)) {
            self.questions.insert(call.id.clone(), all_stems(&call.arguments.0).collect());
        }
    }

    fn read_result(&mut self, result: &ToolResult, ordinal: u64) {
        self.records.note(&result.joined_text(), self.calls.is_change(&result.call_id));
        let asked = self.questions.remove(&result.call_id);
        let speaker = if asked.is_some() { Speaker::User } else { Speaker::Tool };
        let mut said = asked.unwrap_or_default();
        for part in &result.content {
            if let Part::Text(text) = part {
                self.read(text, speaker, ordinal);
                if speaker == Speaker::User {
                    said.extend(all_stems(text));
                }
            }
        }
        if speaker == Speaker::User {
            self.said.push(said);
        }
    }

    /// Reads the values of a call's arguments. `serde_json` bounds the depth.
    fn read_json(&mut self, value: &Value, ordinal: u64) {
        match value {
            Value::String(text) => self.read(text, Speaker::Call, ordinal),
            Value::Number(number) => self.read(&number.to_string(), Speaker::Call, ordinal),
            Value::Array(items) => items.iter().for_each(|item| self.read_json(item, ordinal)),
            Value::Object(fields) => {
                for (key, field) in fields {
                    match field {
                        // Beside its key, so that `"timeout": 30` reads as it does in prose.
                        Value::Number(number) => {
                            self.read(&format!("{key}: {number}"), Speaker::Call, ordinal)
                        }
                        field => {
                            self.read(key, Speaker::Call, ordinal);
                            self.read_json(field, ordinal);
                        }
                    }
                }
            }
            _ => {}
        }
    }

    fn read(&mut self, text: &str, speaker: Speaker, ordinal: u64) {
        if text.is_empty() || self.text.len() + text.len() > MAX_BYTES {
            return;
        }
        let base = self.text.len();
        self.text.push_str(text);
        self.text.push('\n');
        for (at, word) in words(text) {
            let spelling = hash(word);
            let places = self.positions.entry(spelling).or_default();
            if places.is_empty() {
                self.spellings.entry(hash(&word.to_lowercase())).or_default().push(spelling);
            }
            places.push((base + at) as u32);
        }
        for (word, number) in numbered_by_parts(text) {
            if self.pairs.insert((word, number)) {
                *self.counted.entry(word).or_default() += 1;
            }
        }
        for (at, number) in values(text) {
            self.numbers.entry(number).or_default().push((base + at) as u32);
        }
        self.kinds.note(text, base);
        self.amounts.note(text);
        let offset = |piece: &str| (base + (piece.as_ptr() as usize - text.as_ptr() as usize)) as u32;
        for sentence in sentences(text) {
            let whole = (offset(sentence), offset(sentence) + sentence.len() as u32);
            let first = self.clauses.len() as u32;
            for clause in clauses(sentence) {
                let index = self.clauses.len() as u32;
                let mut seen = stems(clause);
                seen.extend(joined(clause));
                // A tool's `total_baggages` is what prose calls the baggage.
                seen.extend(words(clause).flat_map(|(_, word)| identifier_parts(word)).filter_map(stem));
                let message = self.messages.entry(ordinal).or_default();
                for stem in seen {
                    message.insert(stem);
                    let posting = self.postings.entry(stem).or_default();
                    if posting.last() != Some(&index) {
                        posting.push(index);
                    }
                }
                let start = offset(clause);
                self.clauses.push(Clause {
                    start,
                    end: start + clause.len() as u32,
                    sentence: whole,
                    first,
                    speaker,
                    ordinal,
                });
            }
        }
    }

    pub(super) fn clause(&self, index: usize) -> Option<&Clause> {
        self.clauses.get(index)
    }

    pub(super) fn text_of(&self, clause: &Clause) -> &str {
        &self.text[clause.start as usize..clause.end as usize]
    }

    pub(super) fn sentence_of(&self, clause: &Clause) -> &str {
        &self.text[clause.sentence.0 as usize..clause.sentence.1 as usize]
    }

    /// Returns the user's sentences that forbid or demand something in so many words, the latest last.
    pub(crate) fn rules(&self) -> Vec<Constraint> {
        // Where nobody is an assistant, as in a meeting, nobody gives it rules.
        if !self.clauses.iter().any(|clause| matches!(clause.speaker, Speaker::Assistant | Speaker::Call)) {
            return Vec::new();
        }
        let firsts =
            self.clauses.iter().enumerate().filter(|(index, clause)| clause.first as usize == *index);
        let by_user = firsts.map(|(_, clause)| clause).filter(|clause| clause.speaker == Speaker::User);
        let rules = by_user.filter_map(|clause| {
            let text = self.sentence_of(clause).trim();
            let is_rule = text.len() <= MAX_RULE_BYTES && is_emphatic(text) && !is_question(text);
            is_rule.then(|| Constraint {
                text: text.to_owned(),
                message: clause.ordinal,
                ..Constraint::default()
            })
        });
        rules.take(MAX_RULES).collect()
    }

    /// Returns the clauses that hold a stem.
    pub(super) fn voices(&self, stem: u64) -> impl Iterator<Item = &Clause> {
        let places = self.postings.get(&stem).map_or(&[][..], Vec::as_slice);
        places.iter().filter_map(|index| self.clauses.get(*index as usize))
    }

    /// Returns the sentences of those who are `meant`, oldest first, each by its first clause.
    pub(super) fn sentences_of(&self, meant: impl Fn(&Clause) -> bool) -> impl Iterator<Item = &Clause> {
        let firsts = self.clauses.iter().enumerate();
        firsts
            .filter(move |(index, clause)| clause.first as usize == *index && meant(clause))
            .map(|(_, clause)| clause)
    }

    /// Returns whether the clause belongs to a question.
    pub(super) fn is_question(&self, clause: &Clause) -> bool {
        is_question(self.sentence_of(clause))
    }

    /// Returns the clauses of a clause's sentence that hold one of `stems`.
    pub(super) fn clauses_with<'a>(
        &'a self,
        clause: &Clause,
        wanted: &'a [u64],
    ) -> impl Iterator<Item = &'a Clause> {
        let first = clause.first;
        let own = self.clauses.iter().skip(first as usize).take_while(move |clause| clause.first == first);
        own.filter(|clause| stems(self.text_of(clause)).iter().any(|stem| wanted.contains(stem)))
    }

    /// Returns whether there is a message `m<ordinal>`.
    pub(super) fn has_message(&self, ordinal: u64) -> bool {
        ordinal < self.end
    }
}

/// Returns whose word a piece of a message is here. What a person pasted is material.
fn voice(piece: &Segment<'_>) -> Speaker {
    match (piece.speaker, piece.matter) {
        (_, Matter::Summary) => Speaker::Account,
        (Voice::Model, _) => Speaker::Assistant,
        (Voice::Person, Matter::Words | Matter::Plan) | (Voice::System, _) => Speaker::User,
        _ => Speaker::Tool,
    }
}

/// The stems of a text however long it is.
fn all_stems(text: &str) -> impl Iterator<Item = u64> + '_ {
    text.lines().flat_map(sentences).flat_map(stems)
}

/// Tools by which a model asks the user: their results are the user's words.
const QUESTIONS: [&str; 6] = [
    "AskUserQuestion", "ExitPlanMode", "ask_user", "ask_followup_question", "request_user_input", "question",
];
/// A reply of fewer content words is about what was said right before it.
const SHORT_REPLY: usize = 25;

/// Neighbouring short words written as one: `roll back` is `rollback`.
fn joined(clause: &str) -> Vec<u64> {
    let plain = |word: &str| word.len() <= 9 && word.bytes().all(|byte| byte.is_ascii_alphabetic());
    let words: Vec<&str> = words(clause).map(|(_, word)| word).take(60).collect();
    let pairs = words.windows(2).filter(|pair| plain(pair[0]) && plain(pair[1]));
    pairs
        .map(|pair| hash(root(&format!("{}{}", root(&pair[0].to_lowercase()), pair[1].to_lowercase()))))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::numbers::numbered;

    fn of(text: &str) -> Evidence {
        let mut evidence = Evidence::default();
        evidence.read(text, Speaker::User, 0);
        evidence
    }

    #[test]
    fn names_are_found_whole() {
        let evidence = of(
            "see zlib.rs and src/archive/writer.rs:120, version 4.2.1 of pg_locks; 1,200 rows; 在src/a.rs中",
        );
        for name in [
            "archive/writer.rs",
            "writer.rs",
            "src/archive/writer.rs:120",
            "4.2.1",
            "pg_locks",
            "1,200",
            "src/a.rs",
        ] {
            assert!(evidence.contains(name), "{name}");
        }
        for name in ["lib.rs", "4.2", "2.1", "locks", "200", "archive/writer.r", "120x", "Writer.rs"] {
            assert!(!evidence.contains(name), "{name}");
        }
    }

    #[test]
    fn numbers_belong_to_their_words() {
        let evidence = of("timeout = 30s, EXPORT_WORKERS=8, 3 tests failed, port 5432");
        let pair = |text: &str| {
            numbered(text).iter().map(|(word, number)| evidence.is_pair(*word, *number)).collect::<Vec<_>>()
        };
        assert_eq!(pair("30 seconds"), [Some(true)]);
        assert_eq!(pair("60 seconds"), [Some(false)]);
        assert_eq!(pair("EXPORT_WORKERS=1"), [Some(false)]);
        assert_eq!(pair("4 tests"), [Some(false)]);
        assert_eq!(pair("5432 port"), [Some(true)]);
        assert_eq!(pair("7 dwarfs"), [None]);
    }

    #[test]
    fn a_claim_finds_the_clause_it_is_about() {
        let evidence = of("Should we roll back to 4.2.1? The idle timeout of report_ro is open.");
        let found = evidence.matches(&stems("Rollback to 4.2.1"), 0.6);
        assert_eq!(found.len(), 1);
        assert!(evidence.is_question(evidence.clause(found[0].clause).unwrap()));
    }

    #[test]
    fn quotations_are_found_however_they_are_written() {
        let evidence = of("IMPORTANT: quote All iDentifiers, in 2026-11-09T10:30 and 9f137abc77 until July3");
        assert!(evidence.quotes("Important: Quote all Identifiers"));
        assert!(!evidence.quotes("Important: quote no identifiers"));
        for (number, stands) in [("137", false), ("77", false), ("09", true), ("3", true), ("30", true)] {
            assert_eq!(evidence.has_number(number), stands, "{number}");
        }
    }

    #[test]
    fn hostile_repetition_is_looked_up_in_little_time() {
        let evidence = of(&"a-".repeat(400_000));
        assert!(!evidence.contains(&format!("{}b", "a-".repeat(2_000))));
        assert!(!evidence.contains(&format!("{}!", "a-".repeat(2_000))));
    }
}
