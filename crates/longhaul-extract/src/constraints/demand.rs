//! Whether a sentence demands something: a label, a word of demand where it demands, an order.

use std::cell::RefCell;

use serde::{Deserialize, Serialize};

use super::markers;
use crate::memo::Memo;

mod abroad;
mod built;
mod cases;
mod chatter;
mod facts;
mod labels;
mod passing;
mod phrases;
#[cfg(test)]
mod requests;
mod work;

pub use facts::{Stated, stated};
pub(super) use labels::label;
pub(super) use passing::is_passing;
use phrases::{
    BANS_ABROAD, EPISTEMIC, GOES_BACK, HAPPENED, HOW_MANY, IN_LANGUAGE, INTERJECTIONS, LIMITS_SO, MODALS,
    NO_BANS, NO_BANS_ABROAD, NO_SUBJECTS, NOBODY_CAN_TELL, NOBODY_MAY, NOBODY_TELLS, NOT_LIMITS, NOT_THINGS,
    NOTHING_TELLS, OPENERS, ORDERS_OPEN, PHRASES, POLITE, QUALIFIERS, STANDING, STANDING_VERBS, STANDS_SO,
    SUPPOSES, TELLS, THINKS, VERBS,
};

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

/// Returns whether `sentence` demands something of the one it is said to, or sets something down.
pub(crate) fn is_constraint(sentence: &str) -> bool {
    read(sentence).is_some()
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
    // Nobody demands anything in so long a sentence, and each of its clauses would be looked at to its end.
    if sentence.len() > MOST_BYTES {
        return None;
    }
    *Memo::read(&READ, sentence, read_plain)
}

thread_local! {
    static READ: RefCell<Memo<Option<Reading>>> = RefCell::default();
}

/// Reads a sentence that no label stands before.
fn read_plain(sentence: &str) -> Option<Reading> {
    let plain = |kind| Some(Reading { kind, is_labelled: false });
    let words = Words::of(sentence);
    let text = &*words.text;
    let is_question = sentence.trim_end().ends_with(['?', '？']);
    if is_question {
        let asks_politely =
            words.begins(POLITE) || words.after_opener().is_some_and(|rest| begins(rest, POLITE));
        let rule = [
            " make sure ", " habit ", " from now on ", " never ", " always ", " don't ", " do not ",
            " only ", " without ",
        ];
        return if asks_politely && rule.iter().any(|rule| text.contains(rule)) {
            plain(DemandKind::Wish)
        } else {
            None
        };
    }
    if built::only_muses(&words) || chatter::is_chatter(&words) {
        return None;
    }
    for (phrases, kind) in PHRASES {
        if words.clauses().any(|clause| begins(clause, phrases) && !begins(clause, SUPPOSES)) {
            return plain(*kind);
        }
    }
    if is_rule(&words) {
        return plain(DemandKind::Rule);
    }
    if markers::demands_elsewhere(sentence) {
        let kind = if markers::is_rule(sentence) { DemandKind::Rule } else { DemandKind::Wish };
        return plain(kind);
    }
    if is_wish(sentence, &words) {
        return plain(DemandKind::Wish);
    }
    if facts::states(sentence, &words) { plain(DemandKind::Fact) } else { None }
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

    /// Returns whether a few words name all that is wanted: "English only please", "Kommentare auf Deutsch", "we don't deploy here".
    fn is_limited_to(&self) -> bool {
        if self.begins(&["we don't", "we do not"])
            && self.text.trim_end_matches([' ', '|']).ends_with(" here")
        {
            return true;
        }
        let words = self.text.split_whitespace().count();
        if words <= 8 && IN_LANGUAGE.iter().any(|language| self.has(language)) {
            return true;
        }
        let text = self.text.trim_end_matches([' ', '|']);
        let text = text.strip_suffix(" please").unwrap_or(text);
        text.ends_with(" only")
            && (2..=3).contains(&text.split_whitespace().count())
            && !self.begins(NOT_LIMITS)
    }

    fn has(&self, phrase: &str) -> bool {
        self.text.contains(phrase)
    }

    /// Returns the text before each place where `phrase` stands between blanks.
    fn before<'w>(&'w self, phrase: &'w str) -> impl Iterator<Item = &'w str> {
        let found = self.text.match_indices(phrase);
        let found = found.map(|(at, _)| (&self.text[..at], &self.text[at + phrase.len()..]));
        found.filter_map(|(before, after)| before.strip_suffix(' ').filter(|_| after.starts_with(' ')))
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

fn is_rule(words: &Words) -> bool {
    let orders_open =
        |clause: &str| begins(clause, ORDERS_OPEN) && !begins(clause, TELLS) && !tells_how_many(clause);
    let stops = words.clauses().take(1).chain(words.after_opener()).any(stops_doing);
    let opens = words.clauses().any(orders_open)
        || stops
        || words.begins(&["nothing", "none of", "not"]) && !tells_of_nothing(words)
        || words.begins(NOBODY_MAY) && !words.begins(NOBODY_CAN_TELL)
        || words.clauses().any(nobody_does);
    // "Use tabs, no blanks": a short clause behind an order.
    let is_short =
        |clause: &&str| clause.split('|').next().is_some_and(|clause| clause.split_whitespace().count() <= 4);
    let orders = begins_order(words.body());
    let forbids = words.forbids_first()
        || orders && words.clauses().skip(1).filter(is_short).any(forbids_clause)
        || words.text.split(" so ").skip(1).any(forbids_doing);
    let asks = words.begins(&["should we", "should i", "must we", "must i"]);
    let is_told = passing::asks_to_be_told(words.body());
    // "Say what must change" asks; "ids, which must not be logged" demands.
    let may_bind = |before: &str| {
        let mut last = before.rsplit(' ');
        let (subject, behind) = (last.next().unwrap_or_default(), last.next().unwrap_or_default());
        let is_bound = !NO_SUBJECTS.contains(&subject) || subject == "which" && behind == "|";
        is_bound && (!is_told || before.contains('|'))
    };
    let modal = !asks
        && !EPISTEMIC.iter().any(|weak| words.has(weak))
        && MODALS.iter().flat_map(|modal| words.before(modal)).any(may_bind);
    // "This fails only on my laptop" tells.
    let is_told_of = ["fails only", "failed only", "happens only", "works only", "breaks only"];
    let stands =
        STANDING.iter().any(|phrase| words.has(phrase)) && !is_told_of.iter().any(|told| words.has(told));
    opens
        || forbids
        || modal && !words.begins(THINKS)
        || stands
        || abroad::forbids(words)
        || built::is_rule(words)
}

/// "Nothing new from the others" tells; "nothing new goes into the release" orders.
fn tells_of_nothing(words: &Words) -> bool {
    const ORDERS: [&str; 8] =
        [" goes ", " go ", " gets ", " get ", " until ", " into ", " about ", " production "];
    words.begins(NOTHING_TELLS) && !ORDERS.iter().any(|word| words.has(word))
}

/// "Only three tests fail now" tells; "only one retry" limits, and "only one of them is allowed at a time".
fn tells_how_many(clause: &str) -> bool {
    let Some(rest) = clause.strip_prefix("only ") else { return false };
    let said = rest.split('|').next().unwrap_or_default();
    let counts = said.starts_with(|c: char| c.is_ascii_digit()) || begins(said, HOW_MANY);
    let has = |words: &[&str]| said.split(' ').any(|word| words.contains(&word));
    counts && has(STANDS_SO) && !has(LIMITS_SO)
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

/// "Until then nobody touches the schema".
fn nobody_does(clause: &str) -> bool {
    let rest = ["nobody ", "no one "].iter().find_map(|word| clause.strip_prefix(word));
    let is_past = |rest: &str| rest.split(' ').next().is_some_and(|verb| verb.ends_with("ed"));
    rest.is_some_and(|rest| !rest.starts_with('|') && !begins(rest, NOBODY_TELLS) && !is_past(rest))
}

/// "Stop writing changelog entries": what was done each time is not any more.
fn stops_doing(clause: &str) -> bool {
    let doing = clause.strip_prefix("stop ").and_then(|rest| rest.split(' ').next());
    doing.is_some_and(|word| word.ends_with("ing") && word.len() > 4)
}

/// What stands behind "so": "no merging this week", "no new tables".
fn forbids_doing(clause: &str) -> bool {
    let Some(rest) = clause.strip_prefix("no ") else { return false };
    let first = rest.split(' ').next().unwrap_or_default();
    first.ends_with("ing") && first.len() > 5 || ["new", "more", "other", "further"].contains(&first)
}

fn is_wish(sentence: &str, words: &Words) -> bool {
    let orders = words.clauses().take(1).chain(words.after_opener()).any(begins_order)
        || words.text.contains(" please ") && words.clauses().any(begins_order);
    let limits = QUALIFIERS.iter().any(|phrase| words.has(phrase));
    let lower = sentence.to_lowercase();
    let thinks = words.begins(THINKS) && MODALS.iter().any(|modal| words.before(modal).next().is_some());
    let contrast = lower.split(", not ").skip(1).any(|rest| !begins(rest, NOT_THINGS))
        && sentence.len() < 200
        && !words.begins(&["i'm", "i am", "it's", "that's", "it is"]);
    orders
        && (limits
            || words
                .clauses()
                .take(1)
                .chain(words.after_opener())
                .any(|clause| begins(clause, STANDING_VERBS)))
        || contrast
        || thinks
        || words.is_limited_to()
        || words.clauses().any(|clause| begins(clause, BANS_ABROAD) && !begins(clause, NO_BANS_ABROAD))
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
