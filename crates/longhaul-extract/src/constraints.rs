//! What persons demand and set down: rules, wishes, goals and facts to be remembered, in whole sentences.

use std::{collections::BTreeSet, sync::Arc};

use longhaul_transcript::{Constraint, Entry, Message, Origin, Role, Speaker};

use crate::speaker::{Matter, Segment, Speakers};

mod account;
mod answers;
mod blocks;
pub(crate) mod demand;
mod markers;
mod naming;
#[cfg(test)]
mod planted;
mod taken_back;
mod telling;
#[cfg(test)]
mod tests;
mod things;

pub use account::only_tells;
pub(crate) use blocks::{Block, blocks, sentences_of};
pub use demand::{
    DemandKind, Stated, demand_kind,
    speech::{SpeechAct, SpeechWeights, features as speech_features},
    stated,
};
pub(crate) use naming::Naming;
pub use naming::are_of_two;
pub use taken_back::lifted_by_each;
pub(crate) use things::Things;

use markers::revocation;
use taken_back::Before;
use telling::Telling;

/// Something a person demands or sets down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Demand {
    /// The whole sentence, on one line however it was wrapped; a list item with the line that leads to it.
    pub text: String,
    /// What it is.
    pub kind: DemandKind,
    /// Whether a label says so (`Rule:`, `Remember:`).
    pub is_labelled: bool,
    /// Ordinal of the message it stands in.
    pub message: u64,
    /// Ordinal of the later message that takes it back, where one does.
    pub superseded_by: Option<u64>,
    /// What the model asked that it answers, where it says too little without: "yes, always".
    pub answers: Option<String>,
}

/// Returns what persons demand and set down in `entries`, oldest first, in English, Spanish, French, German, Portuguese,
/// Chinese, Japanese or Russian.
///
/// Only what a person says in words of their own counts, and the rules of a plan that a person wants carried out: what
/// harnesses inject, what sub-agents report and what was pasted demands nothing. Standing instructions are left out, as
/// they are always kept. What a later message takes back stays in the list and names that message; what is said again is
/// listed once, where it was said last.
pub fn demands(entries: &[Entry], speakers: &Speakers) -> Vec<Demand> {
    let mut reader = DemandReader::default();
    entries.iter().for_each(|entry| reader.read(entry, speakers));
    reader.found.into_iter().map(|found| found.demand).collect()
}

/// Reads [`demands`] message by message: whoever asks for them again after more messages reads each once.
#[derive(Clone, Debug, Default)]
pub struct DemandReader {
    found: Vec<Found>,
    before: Before,
    /// What the model asked last, where nobody has said anything since.
    asked: Option<String>,
}

impl DemandReader {
    /// Reads the next message. Of the model's only those count that end with a question: what a person takes back may be its answer.
    pub fn read(&mut self, entry: &Entry, speakers: &Speakers) {
        if entry.message.role == Role::Assistant {
            self.before.was_asked = ends_with_question(&entry.message);
            self.asked = answers::asked(&entry.message).filter(|_| self.before.was_asked);
        }
        if entry.message.role != Role::User || entry.message.origin == Origin::Longhaul {
            return;
        }
        let mut speaks = false;
        // Standing instructions that are to be summarized like any other message.
        let may_speak = |speaker| speaker == Speaker::Person || Some(speaker) == systems(&entry.message);
        // What a result says that somebody said binds nobody: any tool may print it.
        for segment in speakers.segments(&entry.message).into_iter().filter(|piece| piece.inner.is_none()) {
            if may_speak(segment.speaker) {
                let before = (self.before, self.asked.as_deref());
                in_segment(&segment, entry.id.ordinal, before, &mut self.found);
                speaks |= segment.matter == Matter::Words && !segment.text.trim().is_empty();
            }
        }
        if speaks {
            self.before = Before { said: Some(entry.id.ordinal), was_asked: false };
            self.asked = None;
        }
    }

    /// Returns what was demanded so far, as the constraints of a summary.
    pub fn constraints(&self) -> Vec<Constraint> {
        let all = self.found.iter().map(|found| &found.demand);
        all.map(|demand| Constraint {
            text: demand.text.clone(),
            message: demand.message,
            superseded_by: demand.superseded_by,
            answers: demand.answers.clone(),
        })
        .collect()
    }
}

/// Returns whether the last text of `message` ends with a question.
pub fn ends_with_question(message: &Message) -> bool {
    message.texts().last().is_some_and(|text| text.trim_end().ends_with(['?', '？']))
}

/// A demand with what it is compared by.
#[derive(Clone, Debug)]
struct Found {
    demand: Demand,
    telling: Arc<Telling>,
}

/// Returns the speaker of a message that has the role of the user and is the system's.
fn systems(message: &Message) -> Option<Speaker> {
    message.speaker.filter(|speaker| *speaker == Speaker::System)
}

/// Returns [`demands`] as the constraints of a summary.
pub fn constraints(entries: &[Entry], speakers: &Speakers) -> Vec<Constraint> {
    let mut reader = DemandReader::default();
    entries.iter().for_each(|entry| reader.read(entry, speakers));
    reader.constraints()
}

/// Returns whether `sentence` is a rule that stands until it is taken back: never, always, must, or one that is labelled.
/// Where there is not room for all constraints, these go first.
pub fn is_standing_rule(sentence: &str) -> bool {
    markers::is_rule(sentence) || demand::label(sentence).is_some()
}

/// Returns whether `sentence` surely asks for something that is over once it is done, and is no rule.
pub fn is_passing_wish(sentence: &str) -> bool {
    demand::is_request(sentence)
}

/// Returns the sentences of `text`, whole, in order. Fenced code, markup and quoted output are left out, as are sentences
/// too short or too long to be a person's. Bullets and numbers that open a line do not count as text.
pub fn sentences(text: &str) -> impl Iterator<Item = String> {
    sentences_where(text, |_| true)
}

/// Returns the same of those paragraphs and list items that `is_meant` holds for.
pub(crate) fn sentences_where(text: &str, is_meant: impl Fn(&str) -> bool) -> impl Iterator<Item = String> {
    let all = blocks(text)
        .into_iter()
        .filter(move |block| is_meant(&block.text))
        .flat_map(|block| sentences_of(&block.text).map(str::to_owned).collect::<Vec<_>>());
    all.filter(|sentence| {
        let length = sentence.chars().take(LONGEST + 1).count();
        (SHORTEST..=LONGEST).contains(&length)
    })
}

/// Reads one piece of what a person sent.
fn in_segment(
    segment: &Segment<'_>,
    message: u64,
    (before, asked): (Before, Option<&str>),
    found: &mut Vec<Found>,
) {
    let least = match segment.matter {
        Matter::Words => DemandKind::Fact,
        // What a plan or the system describes is no rule; what they forbid or demand is one.
        Matter::Plan | Matter::Instructions => DemandKind::Rule,
        _ => return,
    };
    let mut taken: Vec<Demand> = Vec::new();
    let mut add = |text: String, reading: demand::Reading| {
        // A plan has many lines that say what it takes not.
        let says_what_is_not_needed =
            segment.matter != Matter::Words && text.starts_with("No ") && text.contains(" needed");
        let is_one = !says_what_is_not_needed
            && text.chars().take(SHORTEST).count() == SHORTEST
            && (reading.kind <= least || reading.is_labelled);
        if is_one {
            let demand::Reading { kind, is_labelled } = reading;
            taken.push(Demand { text, kind, is_labelled, message, superseded_by: None, answers: None });
        }
    };
    let blocks = blocks(segment.text);
    let mut rest = &blocks[..];
    while let Some((block, after)) = rest.split_first() {
        rest = after;
        let items = after.iter().take_while(|next| next.is_item && next.lead == block.text).count();
        if items > 0 && block.text.ends_with([':', '：']) {
            let all: Vec<&str> = after[..items].iter().map(|item| &*item.text).collect();
            let lead = last_sentence(&block.text);
            // "Do not touch:" is short of words to go by without what it is said of.
            let reading = demand::read(lead)
                .or_else(|| {
                    demand::read(&format!("{lead} {}", all.first()?)).filter(|_| demand::has_demand(lead))
                })
                .filter(|reading| !reading.is_labelled);
            let of_branches = || if counts(&block.text, items) { strictest(&all) } else { None };
            if let Some(reading) = reading.or_else(of_branches) {
                // "Do not touch:" means nothing without what follows; one of two ways says less than nothing.
                add(shortened(&format!("{} {}", block.text, all.join("; "))), reading);
                rest = &after[items..];
                continue;
            }
        }
        in_block(block, &mut add);
    }
    // Who tells so many in one piece has handed in a report: its sentences are statements like others.
    let is_fact = |demand: &Demand| demand.kind == DemandKind::Fact && !demand.is_labelled;
    if taken.iter().filter(|demand| is_fact(demand)).count() > MOST_FACTS {
        taken.retain(|demand| !is_fact(demand));
    }
    let mut lifting: Vec<Demand> = Vec::new();
    if segment.matter == Matter::Words {
        let all = blocks.iter().flat_map(|block| sentences_of(&block.text));
        let mut all = all.peekable();
        while let Some(sentence) = all.next() {
            let next = all.peek().copied();
            if !lifts(sentence, next, message, before, found) {
                continue;
            }
            let text = shortened(&taken_back::with_what_follows(sentence, next));
            // What takes something back is needed as long as that is told, with what limits it.
            match taken.iter_mut().find(|demand| demand.text.contains(sentence)) {
                Some(demand) if demand.text == sentence => {
                    (demand.kind, demand.text) = (DemandKind::Rule, text)
                }
                Some(demand) => demand.kind = DemandKind::Rule,
                None => lifting.push(Demand {
                    text,
                    kind: DemandKind::Rule,
                    is_labelled: false,
                    message,
                    superseded_by: None,
                    answers: None,
                }),
            }
        }
    }
    for mut demand in lifting.into_iter().chain(taken) {
        demand.answers = asked.filter(|_| answers::says_little(&demand.text)).map(str::to_owned);
        taken_back::by_its_words(&demand.text, message, found);
        let is_same = |earlier: &Demand| earlier.text == demand.text && earlier.answers == demand.answers;
        found.retain(|earlier| !is_same(&earlier.demand));
        found.push(Found { telling: Telling::of(&demand.text), demand });
        if found.len() > MOST {
            found.remove(least_needed(found));
        }
    }
}

/// Marks what `sentence` takes back, and returns whether it takes something back or may do so: it need not demand anything itself,
/// and is told beside what it is about, as the marks may be wrong.
fn lifts(sentence: &str, next: Option<&str>, message: u64, before: Before, found: &mut [Found]) -> bool {
    let may_lift = taken_back::may_lift_any(sentence, message, found);
    if revocation(sentence).is_none() {
        return may_lift;
    }
    let by_words = taken_back::by_its_words(sentence, message, found);
    let replaced = taken_back::replaced(sentence, next, found, before);
    let about = taken_back::about(sentence, found);
    // Of several it is not certain which is meant: all stand.
    let one = replaced.or(about.first().copied().filter(|_| about.len() == 1));
    if let Some(one) = one.and_then(|one| found.get_mut(one)) {
        one.demand.superseded_by = Some(message);
    }
    may_lift || by_words || one.is_some() || about.len() > 1
}

/// Returns which demand is given up for a newer one: what was taken back, else what is no rule, else a rule; the oldest of
/// these.
fn least_needed(found: &[Found]) -> usize {
    let need = |found: &Found| match found.demand.superseded_by {
        Some(_) => 0,
        None => 1 + usize::from(found.demand.kind == DemandKind::Rule),
    };
    let least = found.iter().enumerate().min_by_key(|(_, demand)| need(demand));
    least.map_or(0, |(at, _)| at)
}

fn in_block(block: &Block, add: &mut impl FnMut(String, demand::Reading)) {
    // A label covers all that stands under it.
    if let Some(kind) = demand::label(&block.text) {
        let says_more = !block.text.ends_with([':', '：']);
        if says_more {
            add(shortened(&block.text), demand::Reading { kind, is_labelled: true });
        }
        return;
    }
    let lead = block.lead.trim_end_matches([':', '：']).trim();
    if let Some(kind) = demand::label(&format!("{lead}:")).filter(|_| block.is_item) {
        add(shortened(&format!("{lead}: {}", block.text)), demand::Reading { kind, is_labelled: true });
        return;
    }
    let is_telling = block.is_item && !lead.is_empty() && lead.chars().count() <= LONGEST_LEAD;
    let sentences: Vec<&str> = sentences_of(&block.text).collect();
    let mut covered = 0;
    for (at, sentence) in sentences.iter().enumerate() {
        let Some(reading) = demand::read(sentence).filter(|_| at >= covered) else { continue };
        if sentence.chars().count() > LONGEST {
            continue;
        }
        let reach = if reading.is_labelled { reach(&sentences[at..]) } else { 1 };
        covered = at + reach;
        let whole = sentences[at..covered].join(" ");
        add(shortened(&if is_telling && at == 0 { format!("{lead}: {whole}") } else { whole }), reading);
    }
}

/// Returns how many sentences a label inside of a paragraph covers: a few, as one does not see where what it leads ends.
fn reach(sentences: &[&str]) -> usize {
    let mut length = 0;
    let all = sentences.iter().take_while(|sentence| {
        length += sentence.chars().count();
        length <= LABELLED
    });
    all.count().max(1)
}

/// Returns whether `lead` says that what stands under it are so many ways that things may go: "there are two ways:". Two things that are
/// wanted are two demands.
fn counts(lead: &str, items: usize) -> bool {
    const NUMBERS: [[&str; 2]; 3] = [["two", "zwei"], ["three", "drei"], ["four", "vier"]];
    const WAYS: [&str; 13] = [
        "alternatives", "branches", "cases", "fälle", "möglichkeiten", "options", "outcomes", "paths",
        "possibilities", "scenarios", "situations", "ways", "wege",
    ];
    let Some(names) = items.checked_sub(2).and_then(|nth| NUMBERS.get(nth)) else { return false };
    let lower = lead.to_lowercase();
    let words: Vec<&str> =
        lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let is_number = |word: &str| names.contains(&word) || word == items.to_string();
    let of = words.iter().position(|word| is_number(word));
    of.is_some_and(|at| words[at..].iter().any(|word| WAYS.contains(word)))
}

/// Returns the strictest of what `items` demand, where one does; one with a label of its own stands by itself.
fn strictest(items: &[&str]) -> Option<demand::Reading> {
    let all: Vec<demand::Reading> =
        items.iter().flat_map(|item| sentences_of(item)).filter_map(demand::read).collect();
    let is_labelled = all.iter().any(|reading| reading.is_labelled);
    all.into_iter().min_by_key(|reading| reading.kind).filter(|_| !is_labelled)
}

fn last_sentence(text: &str) -> &str {
    sentences_of(text).last().unwrap_or(text)
}

/// Returns `text` without the sentences and items that go beyond the longest demand.
fn shortened(text: &str) -> String {
    if text.chars().count() <= LONGEST {
        return text.to_owned();
    }
    let mut kept = String::new();
    for piece in text.split_inclusive(['.', ';', '。']) {
        if !kept.is_empty() && kept.chars().count() + piece.chars().count() > LONGEST {
            break;
        }
        kept.push_str(piece);
    }
    kept.trim_end_matches([' ', ';']).to_owned()
}

/// The words that tell what a sentence is about: of four letters or more and no words of demand; pairs of characters
/// in scripts without blanks.
fn content_words(sentence: &str) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    for word in sentence.split(|c: char| !(c.is_alphanumeric() || c == '_')) {
        if word.chars().any(is_ideograph) {
            let chars: Vec<char> = word.chars().collect();
            let pairs = chars.windows(2).map(|pair| pair.iter().collect::<String>());
            words.extend(pairs.filter(|pair| !markers::is_demand(pair)));
        } else if word.chars().nth(3).is_some() && !markers::is_function_word(word) {
            words.insert(word.to_lowercase());
        }
    }
    words
}

fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}')
}

/// More facts than this nobody tells in one message to have them kept in mind.
const MOST_FACTS: usize = 24;

/// More demands than this are not collected from one conversation.
const MOST: usize = 400;

/// Characters of the shortest sentence; three ideographs and a stop can be one.
const SHORTEST: usize = 4;

/// Characters of the longest sentence that a person demands something with.
const LONGEST: usize = 700;

/// Characters that a label inside of a paragraph covers.
const LABELLED: usize = 320;

/// Characters of the longest heading that is told with the item under it.
const LONGEST_LEAD: usize = 60;
