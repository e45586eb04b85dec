//! The source of a summary, indexed once so that each claim is looked up in little time.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use longhaul_extract::speaker::{self, Matter, Segment};
use longhaul_transcript::{CallId, Constraint, Entry, Part, Role, Speaker as Voice, ToolCall, ToolResult};
use serde_json::Value;

use super::{
    acts::Acts,
    numbers::{numbered, value, values},
    polarity::{is_emphatic, is_question},
    words::{clauses, hash, identifier_parts, is_wide, is_word_char, root, sentences, stem, stems, words},
};
use crate::SummaryRequest;

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
    /// Words that have a number beside them somewhere.
    counted: HashSet<u64>,
    /// Where each number stands, however it is written.
    numbers: HashMap<u64, Vec<u32>>,
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

/// A clause that a claim resembles.
#[derive(Clone, Copy, Debug)]
pub(super) struct Match {
    pub clause: usize,
    /// Share of the claim's content that the clause holds, rare words weighing more.
    pub score: f64,
}

/// Source beyond this many bytes is looked up but not indexed any further; a window of a million tokens is smaller.
const MAX_BYTES: usize = 64 << 20;
/// A word in more clauses than this tells nothing about which is meant.
const MAX_POSTINGS: usize = 4_000;
/// A longer sentence is not a rule but a paste.
const MAX_RULE_BYTES: usize = 300;
/// More rules than this are compared with nothing.
const MAX_RULES: usize = 64;
/// Occurrences of the rarest word that are compared with a name before it is given up.
const MAX_TRIES: usize = 20_000;

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
            evidence.read_entry(entry);
        }
        evidence
    }

    fn read_entry(&mut self, entry: &Entry) {
        let ordinal = entry.id.ordinal;
        self.acts.note(entry);
        self.end = self.end.max(ordinal.saturating_add(1));
        let speaker = match entry.message.role {
            Role::Assistant => Speaker::Assistant,
            Role::Tool => Speaker::Tool,
            _ => Speaker::User,
        };
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
        for piece in speaker::segments(&entry.message).iter().filter(|piece| piece.inner.is_none()) {
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

    /// Returns the largest share of a claim's content that a person said or replied to in one message, or, of a claim
    /// that is about several of them, in all.
    pub(super) fn said_by_person(&self, claim: &[u64]) -> f64 {
        let replied = self.replies.iter().map(|said| self.share(claim, |stem| said.contains(stem)));
        replied.fold(self.said_in_own_words(claim), f64::max)
    }

    /// Returns the same for a person's own words alone.
    pub(super) fn said_in_own_words(&self, claim: &[u64]) -> f64 {
        let best = self.said.iter().map(|said| self.share(claim, |stem| said.contains(stem)));
        let best = best.fold(0.0, f64::max);
        if claim.len() < MANY_STEMS {
            return best;
        }
        best.max(ACROSS * self.share(claim, |stem| self.said.iter().any(|said| said.contains(stem))))
    }

    /// Returns the largest share of a claim's content that stands in one message with a clause that `is_meant`.
    pub(super) fn told_with(&self, stems: &[u64], claim: &[u64], is_meant: impl Fn(&Clause) -> bool) -> f64 {
        let postings = stems.iter().filter_map(|stem| self.postings.get(stem)).flatten();
        let clauses = postings.filter_map(|index| self.clauses.get(*index as usize));
        let ordinals: BTreeSet<u64> =
            clauses.filter(|clause| is_meant(clause)).map(|clause| clause.ordinal).collect();
        let around =
            |at: u64| (at.saturating_sub(1)..=at.saturating_add(1)).filter_map(|at| self.messages.get(&at));
        let shares = ordinals
            .into_iter()
            .map(|at| self.share(claim, |stem| around(at).any(|message| message.contains(stem))));
        shares.fold(0.0, f64::max)
    }

    /// Returns the largest share of a claim's content that stands in one message.
    pub(super) fn told_at_once(&self, claim: &[u64]) -> f64 {
        let shares = self.messages.values().map(|message| self.share(claim, |stem| message.contains(stem)));
        shares.fold(0.0, f64::max)
    }

    /// Returns how much of a claim's content `holds`, rare words weighing more, as far as one word may.
    fn share(&self, claim: &[u64], holds: impl Fn(&u64) -> bool) -> f64 {
        let all = self.clauses.len().max(1) as f64;
        let weight = |stem: &u64| {
            let count = self.postings.get(stem).map_or(0, Vec::len);
            (1.0 + all / (1.0 + count as f64)).ln().min(MOST_WEIGHT)
        };
        let whole: f64 = claim.iter().map(weight).sum();
        let held: f64 = claim.iter().filter(|stem| holds(stem)).map(weight).sum();
        held / whole.max(f64::MIN_POSITIVE)
    }

    /// Returns whether `name` stands in what somebody said or did, and not only in what tools returned.
    pub(super) fn is_said(&self, name: &str) -> bool {
        self.occurrences(name)
            .any(|at| self.clause_at(at).is_some_and(|clause| clause.speaker != Speaker::Tool))
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
        for (word, number) in numbered(text) {
            self.pairs.insert((word, number));
            self.counted.insert(word);
        }
        for (at, number) in values(text) {
            self.numbers.entry(number).or_default().push((base + at) as u32);
        }
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

    /// Returns whether `name` stands in the source, whole: `4.2` is not in `4.2.1`, nor `lib.rs` in `zlib.rs`.
    pub(super) fn contains(&self, name: &str) -> bool {
        self.occurrences(name).next().is_some()
    }

    /// Returns where `name` stands in the source.
    pub(super) fn occurrences<'a>(&'a self, name: &'a str) -> impl Iterator<Item = usize> + 'a {
        let rarest = words(name)
            .map(|(offset, word)| (self.positions.get(&hash(word)).map_or(&[][..], Vec::as_slice), offset))
            .min_by_key(|(positions, _)| positions.len());
        let (positions, offset) = rarest.unwrap_or((&[], 0));
        positions.iter().take(MAX_TRIES).filter_map(move |at| {
            let start = (*at as usize).checked_sub(offset)?;
            self.is_at(start, name).then_some(start)
        })
    }

    fn is_at(&self, start: usize, name: &str) -> bool {
        let Some(found) = self.text.as_bytes().get(start..start + name.len()) else { return false };
        if found != name.as_bytes() {
            return false;
        }
        // Both ends are character boundaries, since the bytes between them are `name`.
        let before = self.text[..start].chars().next_back().unwrap_or('\n');
        let mut after = self.text[start + name.len()..].chars();
        let (next, second) = (after.next().unwrap_or('\n'), after.next().unwrap_or('\n'));
        let first = name.chars().next().unwrap_or(' ');
        let last = name.chars().next_back().unwrap_or(' ');
        let goes_on = |inside: char, outside: char| {
            is_word_char(inside) && is_word_char(outside) && !is_wide(inside) && !is_wide(outside)
        };
        let is_decimal = |c: char| matches!(c, '.' | ',');
        let digit_before = || self.text[..start].chars().rev().nth(1).is_some_and(|c| c.is_ascii_digit());
        !(goes_on(first, before)
            || goes_on(last, next)
            || (first.is_ascii_digit() && is_decimal(before) && digit_before())
            || (last.is_ascii_digit() && is_decimal(next) && second.is_ascii_digit()))
    }

    /// Returns whether `word` and `number` stand side by side somewhere, or `None` where `word` never has a number
    /// beside it. Both are hashes from [`numbered`].
    pub(super) fn is_pair(&self, word: u64, number: u64) -> Option<bool> {
        self.counted.contains(&word).then(|| self.pairs.contains(&(word, number)))
    }

    /// Returns whether a number stands anywhere, however it is written.
    pub(super) fn has_number(&self, number: &str) -> bool {
        self.numbers.contains_key(&value(number))
    }

    /// Returns whether a number stands in one of these messages, or right before or behind one.
    pub(super) fn stands_in(&self, number: &str, messages: &[u64]) -> bool {
        let written = self.numbers.get(&value(number)).map_or(&[][..], Vec::as_slice);
        let written = written.iter().map(|at| *at as usize);
        written.chain(self.occurrences(number)).any(|at| {
            let ordinal = self.ordinal_at(at);
            messages.iter().any(|message| message.abs_diff(ordinal) <= 1)
        })
    }

    /// Returns whether `least` words of `near` stand within a few lines of an occurrence of a number; one is enough in the
    /// messages `cited`.
    pub(super) fn stands_near(&self, number: &str, near: &HashSet<u64>, least: usize, cited: &[u64]) -> bool {
        let written = self.numbers.get(&value(number)).map_or(&[][..], Vec::as_slice);
        let written = written.iter().map(|at| *at as usize);
        written.chain(self.occurrences(number)).take(MAX_NEAR).any(|at| {
            let around = self.around(at, number.len() + NEAR_BYTES);
            let least = if cited.contains(&self.ordinal_at(at)) { 1 } else { least };
            stems(around).iter().filter(|stem| near.contains(stem)).count() >= least
        })
    }

    /// Returns what stands up to `bytes` before and behind a place.
    fn around(&self, at: usize, bytes: usize) -> &str {
        let start = self.text.ceil_char_boundary(at.saturating_sub(bytes));
        let end = self.text.floor_char_boundary((at + bytes).min(self.text.len()));
        self.text.get(start..end).unwrap_or_default()
    }

    /// Returns the clause that stands at a place.
    pub(super) fn clause_at(&self, at: usize) -> Option<&Clause> {
        let next = self.clauses.partition_point(|clause| clause.start as usize <= at);
        next.checked_sub(1).and_then(|at| self.clauses.get(at))
    }

    fn ordinal_at(&self, at: usize) -> u64 {
        self.clause_at(at).map_or(0, |clause| clause.ordinal)
    }

    /// Returns whether one message has all of these names.
    pub(super) fn are_together(&self, names: &[&str]) -> bool {
        let mut all = names.iter().map(|name| self.ordinals(name));
        let first = all.next().unwrap_or_default();
        !all.fold(first, |common, places| &common & &places).is_empty()
    }

    fn ordinals(&self, name: &str) -> BTreeSet<u64> {
        self.occurrences(name).map(|at| self.ordinal_at(at)).collect()
    }

    /// Returns whether `rest` stands without a folder before it in a message that has `folder`, or right behind one.
    pub(super) fn joins(&self, folder: &str, rest: &str) -> bool {
        let folders = self.ordinals(folder);
        let is_bare = |at: &usize| {
            let before = &self.text[..*at];
            !before.ends_with('/') || before.ends_with("./")
        };
        !folders.is_empty()
            && self.occurrences(rest).filter(is_bare).map(|at| self.ordinal_at(at)).any(|at| {
                folders.contains(&at) || at.checked_sub(1).is_some_and(|before| folders.contains(&before))
            })
    }

    /// Returns whether the source has these characters, also inside a word.
    pub(super) fn has_piece(&self, piece: &str) -> bool {
        self.text[..self.text.floor_char_boundary(MAX_SCANNED.min(self.text.len()))].contains(piece)
    }

    /// Returns whether `part` is a piece of a name that begins and ends where a word of the name does: `ModifiedFile` of
    /// `TestOverlap_ModifiedFile`.
    pub(super) fn contains_part(&self, part: &str) -> bool {
        let text = &self.text[..self.text.floor_char_boundary(MAX_SCANNED.min(self.text.len()))];
        let (first, last) = (part.chars().next(), part.chars().next_back());
        text.match_indices(part).any(|(at, _)| {
            let (before, after) = (text[..at].chars().next_back(), text[at + part.len()..].chars().next());
            let begins = |left: Option<char>, right: Option<char>| {
                !(left.is_some_and(char::is_alphanumeric) && right.is_some_and(char::is_alphanumeric))
                    || left.is_some_and(char::is_lowercase) && right.is_some_and(char::is_uppercase)
            };
            begins(before, first) && begins(last, after)
        })
    }

    /// Returns whether `text` stands in the source, however it is capitalised, spaced and marked up.
    pub(super) fn quotes(&self, text: &str) -> bool {
        self.contains(text) || self.is_quoted(text, |_| true)
    }

    /// Returns whether `text` stands in the words of those who are `meant`.
    pub(super) fn is_quoted(&self, text: &str, meant: impl Fn(Speaker) -> bool) -> bool {
        let wanted = plain(text);
        if wanted.is_empty() {
            return true;
        }
        let places = |word: &str| -> Vec<u32> {
            let spelled = self.spellings.get(&hash(&word.to_lowercase())).map_or(&[][..], Vec::as_slice);
            spelled.iter().filter_map(|spelling| self.positions.get(spelling)).flatten().copied().collect()
        };
        let all: Vec<Vec<u32>> = words(text).map(|(_, word)| places(word)).collect();
        let rarest = all.iter().min_by_key(|places| places.len()).map_or(&[][..], Vec::as_slice);
        let reach = 2 * text.len() + NEAR_BYTES;
        let wanted = format!(" {wanted} ");
        let is_meant = |at: &usize| self.clause_at(*at).is_some_and(|clause| meant(clause.speaker));
        let places = |rarest: &[u32]| {
            let places: Vec<usize> = rarest.iter().map(|at| *at as usize).take(MAX_QUOTED).collect();
            places.into_iter().filter(is_meant)
        };
        if places(rarest).any(|at| format!(" {} ", plain(self.around(at, reach))).contains(&wanted)) {
            return true;
        }
        // Letter by letter, where marks and line ends stand between and inside its words.
        let wanted = squeezed(&unmarked(text));
        let rarest = all.iter().filter(|places| !places.is_empty()).min_by_key(|places| places.len());
        wanted.len() >= LEAST_SQUEEZED
            && rarest.is_some_and(|rarest| {
                places(rarest).any(|at| squeezed(&unmarked(self.around(at, 2 * reach))).contains(&wanted))
            })
    }

    /// Returns the clauses that hold at least `least` of the content of a claim, best first.
    pub(super) fn matches(&self, claim: &[u64], least: f64) -> Vec<Match> {
        self.scored(claim, least, |index, _| index)
    }

    /// Returns the sentences that do, each by its first clause.
    pub(super) fn sentence_matches(&self, claim: &[u64], least: f64) -> Vec<Match> {
        self.scored(claim, least, |_, clause| clause.first)
    }

    fn scored(&self, claim: &[u64], least: f64, group: fn(u32, &Clause) -> u32) -> Vec<Match> {
        let all = self.clauses.len().max(1) as f64;
        let weight = |count: usize| (1.0 + all / (1.0 + count as f64)).ln();
        let mut scores: HashMap<u32, f64> = HashMap::new();
        let mut whole = 0.0;
        for stem in claim {
            let posting = self.postings.get(stem).map_or(&[][..], Vec::as_slice);
            whole += weight(posting.len());
            if posting.len() > MAX_POSTINGS {
                continue;
            }
            let mut before = None;
            for index in posting {
                let group = group(*index, &self.clauses[*index as usize]);
                if before.replace(group) != Some(group) {
                    *scores.entry(group).or_default() += weight(posting.len());
                }
            }
        }
        let whole = f64::max(whole, f64::MIN_POSITIVE);
        let scores =
            scores.into_iter().map(|(clause, score)| Match { clause: clause as usize, score: score / whole });
        let mut matches: Vec<Match> = scores.filter(|found| found.score >= least).collect();
        matches.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.clause.cmp(&b.clause)));
        matches
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
    pub(super) fn rules(&self) -> Vec<Constraint> {
        let firsts =
            self.clauses.iter().enumerate().filter(|(index, clause)| clause.first as usize == *index);
        let by_user = firsts.map(|(_, clause)| clause).filter(|clause| clause.speaker == Speaker::User);
        let rules = by_user.filter_map(|clause| {
            let text = self.sentence_of(clause).trim();
            let is_rule = text.len() <= MAX_RULE_BYTES && is_emphatic(text) && !is_question(text);
            is_rule.then(|| Constraint {
                text: text.to_owned(),
                message: clause.ordinal,
                superseded_by: None,
            })
        });
        rules.take(MAX_RULES).collect()
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
    "AskUserQuestion",
    "ExitPlanMode",
    "ask_user",
    "ask_followup_question",
    "request_user_input",
    "question",
];
/// A reply of fewer content words is about what was said right before it.
const SHORT_REPLY: usize = 25;
/// A claim of fewer content words is about one message.
const MANY_STEMS: usize = 8;
/// What it counts that a claim's words stand in several messages.
const ACROSS: f64 = 0.8;
/// The most that one word weighs: a word that nobody said is often another word for one that somebody did.
const MOST_WEIGHT: f64 = 4.0;

/// How far around a number its subject is looked for.
const NEAR_BYTES: usize = 160;
/// Occurrences of a number or a name whose surroundings are looked at.
const MAX_NEAR: usize = 64;
/// Occurrences of the rarest word of a quotation that are compared with it.
const MAX_QUOTED: usize = 400;
/// Names that stand only behind this many bytes are not looked for in pieces.
const MAX_SCANNED: usize = 8 << 20;

/// Lower case, words only.
fn plain(text: &str) -> String {
    let words: Vec<String> = words(text).map(|(_, word)| word.to_lowercase()).collect();
    words.join(" ")
}

/// Lower case, letters and digits only.
fn squeezed(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// A text without the line numbers of a file view and the tags of a page.
fn unmarked(text: &str) -> String {
    let unnumbered = |line: &str| {
        let rest = line.trim_start().trim_start_matches(|c: char| c.is_ascii_digit());
        rest.strip_prefix(['→', '\t', '|']).unwrap_or(line).to_owned()
    };
    let lines = text.lines().map(unnumbered).collect::<Vec<_>>().join("\n");
    let (mut out, mut rest) = (String::with_capacity(lines.len()), lines.as_str());
    while let Some(at) = rest.find('<') {
        let (before, inside) = (&rest[..at], &rest[at + 1..]);
        out.push_str(before);
        let is_tag = inside.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/');
        let end = inside.find('>').filter(|end| is_tag && *end <= LONGEST_TAG);
        rest = end.map_or(inside, |end| &inside[end + 1..]);
    }
    out.push_str(rest);
    out
}

/// What is longer is no tag.
const LONGEST_TAG: usize = 300;

/// A shorter text may stand anywhere letter by letter.
const LEAST_SQUEEZED: usize = 16;

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
