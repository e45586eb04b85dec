//! Whether a sentence demands something or sets something down: by a label, by a phrase that says so, and else by its words together.

use std::cell::RefCell;

use serde::{Deserialize, Serialize};

use super::{blocks::sentences_of, markers};
use crate::memo::Memo;

mod abroad;
mod facts;
mod labels;
mod phrases;
pub(super) mod speech;

pub use facts::{Stated, stated};
pub(super) use labels::label;
use phrases::{
    GOES_BACK, HAPPENED, INTERJECTIONS, MODALS, NO_BANS, NOBODY, OPENERS, ORDERS_OPEN, PHRASES, PLEASANT,
    POLITE, STANDING, THINKS, VERBS,
};
use speech::{SpeechAct, SpeechWeights};

/// What a person demands or sets down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum DemandKind {
    /// What holds until it is taken back: never, always, must, only.
    Rule,
    /// How something is wanted.
    Wish,
    /// What is to be reached, or how far it is.
    Goal,
    /// What is to be remembered.
    Fact,
}

/// What was read out of one sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reading {
    pub(super) kind: DemandKind,
    /// Whether a label says so: then everything that stands under it belongs to it.
    pub(super) is_labelled: bool,
}

/// Returns whether a line has words by which somebody demands something. It is asked of lines that may be a log's, to which no weights
/// were fitted.
pub(crate) fn has_demand(line: &str) -> bool {
    label(line).is_some() || line.len() <= MOST_BYTES && binds(line, &Words::of(line))
}

/// Returns what `sentence` demands or sets down, where it does.
pub fn demand_kind(sentence: &str) -> Option<DemandKind> {
    read(sentence).map(|reading| reading.kind)
}

/// Returns what `sentence` demands, where it does.
pub(super) fn read(sentence: &str) -> Option<Reading> {
    if let Some(kind) = label(sentence) {
        return Some(Reading { kind, is_labelled: true });
    }
    // Nobody demands anything in so long a sentence.
    if sentence.len() > MOST_BYTES {
        return None;
    }
    *Memo::read(&READ, sentence, read_plain)
}

/// Returns whether `sentence` only asks for something that is over once it is done.
pub(super) fn is_request(sentence: &str) -> bool {
    let is_one = |sentence: &str| {
        let words = Words::of(sentence);
        !forbids_or_obliges(&words)
            && !PHRASES.iter().any(|(phrases, _)| words.clauses().any(|clause| begins(clause, phrases)))
            && SpeechWeights::builtin().is_request(sentence)
    };
    label(sentence).is_none() && sentence.len() <= MOST_BYTES && *Memo::read(&REQUESTS, sentence, is_one)
}

thread_local! {
    static READ: RefCell<Memo<Option<Reading>>> = RefCell::default();
    static REQUESTS: RefCell<Memo<bool>> = RefCell::default();
}

/// Reads a sentence that no label stands before.
fn read_plain(sentence: &str) -> Option<Reading> {
    let plain = |kind| Some(Reading { kind, is_labelled: false });
    let words = Words::of(sentence);
    if sentence.trim_end().ends_with(['?', '？']) {
        return asks_politely(&words).then_some(Reading { kind: DemandKind::Wish, is_labelled: false });
    }
    for (phrases, kind) in PHRASES {
        if words.clauses().any(|clause| begins(clause, phrases)) {
            return plain(*kind);
        }
    }
    let binds = binds(sentence, &words);
    match if forbids_or_obliges(&words) { SpeechAct::Rule } else { act(sentence) } {
        SpeechAct::Rule if binds && !words.begins(THINKS) => plain(DemandKind::Rule),
        SpeechAct::Rule => plain(DemandKind::Wish),
        SpeechAct::Fact => plain(DemandKind::Fact),
        SpeechAct::Decision | SpeechAct::Request | SpeechAct::Talk => None,
    }
}

/// Returns what is done by a text: of several sentences, and of items that are told together, the most that one of them does.
fn act(text: &str) -> SpeechAct {
    // Items are told behind what leads them in.
    let between = if text.contains(": ") { "; " } else { "\n" };
    let pieces = sentences_of(text).flat_map(|sentence| sentence.split(between));
    pieces.map(|piece| SpeechWeights::builtin().act(piece)).min().unwrap_or(SpeechAct::Talk)
}

/// "Never restart the relay while …": however much is said of when and where. "Never mind" and "always nice to see" are none.
fn forbids_or_obliges(words: &Words) -> bool {
    let orders = |clause: &str| {
        let verb = ["never ", "always "].iter().find_map(|word| clause.strip_prefix(word)?.split(' ').next());
        let is_past = |verb: &str| verb.ends_with("ed") && !verb.ends_with("eed") && verb != "embed";
        verb.is_some_and(|verb| verb.len() > 1 && !is_past(verb) && !PLEASANT.contains(&verb))
    };
    orders(words.body()) || words.clauses().any(orders)
}

/// "Can you make sure that it always builds?"
fn asks_politely(words: &Words) -> bool {
    const RULE: [&str; 9] = [
        " make sure ", " habit ", " from now on ", " never ", " always ", " don't ", " do not ", " only ",
        " without ",
    ];
    let asks = words.begins(POLITE) || words.after_opener().is_some_and(|rest| begins(rest, POLITE));
    asks && RULE.iter().any(|rule| words.has(rule))
}

/// Returns whether a sentence has a word that forbids or obliges, wherever it stands.
fn binds(sentence: &str, words: &Words) -> bool {
    markers::is_rule(sentence)
        || words.clauses().any(|clause| begins(clause, ORDERS_OPEN))
        || words.clauses().any(forbids_clause)
        || words.clauses().any(|clause| begins(clause, NOBODY))
        || MODALS.iter().any(|modal| words.has_word(modal))
        || STANDING.iter().any(|phrase| words.has(phrase))
        || abroad::forbids(words)
}

/// Bytes of the longest sentence that is read.
const MOST_BYTES: usize = 4 * super::LONGEST;

/// Returns whether `sentence` begins as an order does: "now move the export".
pub(crate) fn is_order(sentence: &str) -> bool {
    begins_order(Words::of(sentence).body())
}

/// The words of a sentence in lower case with one blank between, clause marks kept as words of their own.
struct Words {
    text: String,
    /// Where a clause may begin, first of all at the front.
    starts: Vec<usize>,
}

impl Words {
    fn of(sentence: &str) -> Words {
        let mut text = String::with_capacity(sentence.len() + 8);
        text.push(' ');
        let mut code = false;
        for c in sentence.chars() {
            match c {
                '`' => code = !code,
                _ if code => {
                    if !text.ends_with("~") {
                        text.push('~');
                    }
                }
                '’' | '\'' => text.push('\''),
                ',' | ';' | ':' | '(' | ')' | '—' | '–' | '.' | '!' => {
                    if !text.ends_with("| ") {
                        if !text.ends_with(' ') {
                            text.push(' ');
                        }
                        text.push_str("| ");
                    }
                }
                c if c.is_alphanumeric() || matches!(c, '_' | '/' | '%' | '+') => {
                    text.extend(c.to_lowercase())
                }
                '-' if !text.ends_with(' ') => text.push('-'),
                _ if text.ends_with(' ') => {}
                _ => text.push(' '),
            }
        }
        if !text.ends_with(' ') {
            text.push(' ');
        }
        Words { starts: clause_starts(&text), text }
    }

    /// Returns the text from each place where a clause may begin.
    fn clauses(&self) -> impl Iterator<Item = &str> {
        self.starts.iter().map(|start| &self.text[*start..])
    }

    fn begins(&self, phrases: &[&str]) -> bool {
        begins(&self.text[1..], phrases)
    }

    /// Returns the text behind the words that only open it: `omg, and please use tabs`.
    fn body(&self) -> &str {
        let mut rest = &*self.text;
        let openers = || OPENERS.iter().chain(INTERJECTIONS);
        // Each ends in the blank that the next begins with.
        while let Some(after) = openers().find_map(|opener| {
            rest.starts_with(opener)
                .then(|| &rest[opener.len() - 1..])
                .map(|rest| rest.strip_prefix(" |").unwrap_or(rest))
        }) {
            rest = after;
        }
        rest.trim_start_matches([' ', '|'])
    }

    fn after_opener(&self) -> Option<&str> {
        let body = self.body();
        (body.len() + 1 < self.text.len()).then_some(body)
    }

    /// Returns whether the sentence begins with what is not to be.
    fn forbids_first(&self) -> bool {
        self.clauses().take(1).chain(self.after_opener()).any(forbids_clause)
    }

    fn has(&self, phrase: &str) -> bool {
        self.text.contains(phrase)
    }

    /// Returns whether a word, or several, stand between blanks.
    fn has_word(&self, word: &str) -> bool {
        self.text
            .match_indices(word)
            .any(|(at, _)| self.text[..at].ends_with(' ') && self.text[at + word.len()..].starts_with(' '))
    }
}

/// Returns where clauses may begin in `text`: at its front, behind marks, and behind words that open one.
fn clause_starts(text: &str) -> Vec<usize> {
    let mut starts = vec![1.min(text.len())];
    // The opener before, and where it ends: of one that is said twice in a row the first counts.
    let mut before = ("", 0);
    for at in memchr::memchr_iter(b' ', text.as_bytes()) {
        let rest = &text[at..];
        if text[..at].ends_with('|') {
            starts.push(at + 1);
        }
        if let Some(opener) = OPENERS.iter().find(|opener| rest.starts_with(*opener))
            && (before.0 != *opener || before.1 <= at)
        {
            before = (opener, at + opener.len());
            starts.push(before.1);
        }
    }
    starts
}

fn begins(text: &str, phrases: &[&str]) -> bool {
    phrases.iter().any(|phrase| text.strip_prefix(phrase).is_some_and(|rest| rest.starts_with(' ')))
}

/// Returns whether a text begins as an order does: what stands before "of" is no verb ("change of plan").
fn begins_order(text: &str) -> bool {
    let is_verb = |rest: &str| rest.starts_with(' ') && !rest.starts_with(" of ");
    VERBS.iter().any(|verb| text.strip_prefix(verb).is_some_and(is_verb))
}

/// Returns whether `sentence` goes back on what was said: "back to read-only", "wait, hold that". It counts only where it is of what
/// was allowed.
pub(super) fn goes_back(sentence: &str) -> bool {
    let words = Words::of(sentence);
    words.clauses().take(1).chain(words.after_opener()).any(|clause| begins(clause, GOES_BACK))
}

/// Returns whether `sentence` begins as a ban without a verb does: "no new dependencies".
pub(super) fn forbids_first(sentence: &str) -> bool {
    Words::of(sentence).forbids_first()
}

/// "No, that is wrong" answers; "no console logs" orders.
fn forbids_clause(clause: &str) -> bool {
    // "No file that was signed off may change" forbids.
    let is_relative = |word: &&str| ["that", "who", "which", "whose"].contains(word);
    let tells = |rest: &str| {
        let words = rest.split(' ').skip(1).take(3).take_while(|word| !is_relative(word));
        words.into_iter().any(|word| HAPPENED.contains(&word))
    };
    let is_spanish = |rest: &str| abroad::is_spanish(rest.split('|').next().unwrap_or_default());
    let rest = clause.strip_prefix("no ");
    rest.is_some_and(|rest| {
        !rest.starts_with('|') && !begins(rest, NO_BANS) && !tells(rest) && !is_spanish(rest)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clauses_begin_at_the_front_behind_marks_and_behind_openers() {
        let clauses =
            |sentence: &str| -> Vec<String> { Words::of(sentence).clauses().map(str::to_owned).collect() };
        assert_eq!(clauses("Fix it"), ["fix it "]);
        assert_eq!(
            clauses("Look, and then stop"),
            ["look | and then stop ", "and then stop ", "then stop ", "stop "]
        );
        // Said twice in a row, the first counts; three times, the third as well.
        assert_eq!(clauses("go and and and run"), ["go and and and run ", "and and run ", "run "]);
    }
}
