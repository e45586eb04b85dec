//! The options that a model laid out and a person chose from: what was chosen is what the work goes on with.

use hashbrown::HashSet;
use longhaul_extract::{Statement, StatementKind, Statements};

use super::lists::is_lead;

/// Which statements tell of an option that was chosen.
#[derive(Debug, Default)]
pub(crate) struct Options {
    chosen: HashSet<usize>,
}

impl Options {
    pub(crate) fn new(pool: &Statements) -> Options {
        let mut options = Options::default();
        let mut laid_out: Vec<Laid> = Vec::new();
        let all = pool.all();
        let mut at = 0;
        while let Some(one) = all.get(at) {
            let is_same = |next: &&Statement| next.message == one.message && next.kind == one.kind;
            let end = at + all[at..].iter().take_while(is_same).count();
            match one.kind {
                StatementKind::Answer => laid_out = lay_out(all, at..end),
                StatementKind::Prose => laid_out.clear(),
                StatementKind::Person if laid_out.len() > 1 => {
                    let name = all[at..end].iter().find_map(chosen);
                    let is_it = |option: &&Laid| Some(&option.name) == name.as_ref();
                    let places = laid_out.iter().filter(is_it).flat_map(|option| option.places.clone());
                    options.chosen.extend(places);
                    laid_out.clear();
                }
                _ => {}
            }
            at = end;
        }
        options
    }

    /// Returns whether the statement at `at` tells of an option that was chosen.
    pub(crate) fn is_chosen(&self, at: usize) -> bool {
        self.chosen.contains(&at)
    }
}

/// An option: its number or letter, and the statements that tell of it.
#[derive(Debug)]
struct Laid {
    name: String,
    places: std::ops::Range<usize>,
}

/// Returns the options in a message: those that are called so, or else the items of its last numbered list, each up to the next or
/// to what is no item of it.
fn lay_out(all: &[Statement], message: std::ops::Range<usize>) -> Vec<Laid> {
    let heads = |name: fn(&str) -> Option<String>| -> Vec<(usize, String)> {
        message.clone().filter_map(|at| Some((at, name(&all[at].text)?))).collect()
    };
    let mut options = heads(named);
    if options.len() < 2 {
        options = heads(numbered);
        let first = options.iter().rposition(|(_, name)| name == "1").unwrap_or(options.len());
        options.drain(..first);
    }
    let ends = options.iter().skip(1).map(|(at, _)| *at).chain([message.end]);
    let whole = options.iter().zip(ends).map(|((from, name), to)| {
        let of_it = all[from + 1..to].iter().take_while(|one| one.is_item() || is_lead(one)).count();
        Laid { name: name.clone(), places: *from..from + 1 + of_it }
    });
    whole.collect()
}

/// Returns the number that a line begins with: `2. Keep it`, `**2. Keep it**`, `### 2) Keep it`.
fn numbered(text: &str) -> Option<String> {
    let bare = text.trim_start_matches(['*', '#', ' ']);
    let end = bare.bytes().take_while(u8::is_ascii_digit).count();
    let is_marked = [". ", ") "].iter().any(|mark| bare[end..].starts_with(mark));
    ((1..=2).contains(&end) && is_marked).then(|| bare[..end].to_owned())
}

/// Returns the number or letter of the option that a line begins to tell of: `1. **Option 1:** …`, `### Option B`.
fn named(text: &str) -> Option<String> {
    let bare = text.trim_start_matches(|c: char| !c.is_alphabetic());
    after_option(bare)
}

/// Returns what stands behind the word "option" at the beginning of `text`, where that is a number or a letter.
fn after_option(text: &str) -> Option<String> {
    let rest = text
        .get(..OPTION.len())
        .filter(|word| word.eq_ignore_ascii_case(OPTION))
        .map(|_| &text[OPTION.len()..])?;
    let name = rest.trim_start_matches([' ', '#']);
    let end = name.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(name.len());
    // "the option a friend took" names none.
    let is_article = name.starts_with("a ") && name[2..].starts_with(char::is_alphabetic);
    let is_name = end > 0
        && !is_article
        && (end == 1 || name[..end].bytes().all(|byte| byte.is_ascii_digit()))
        && rest.starts_with(' ');
    is_name.then(|| name[..end].to_uppercase())
}

/// Returns which option a person's statement chooses: one is named, or it opens the message with a number.
fn chosen(one: &Statement) -> Option<String> {
    let opens = one.nth() == 0 && !one.is_item();
    opens.then(|| by_number(&one.text)).flatten().or_else(|| by_name(&one.text))
}

/// Returns the option that a sentence of `text` names, where it is no question and does not turn it down.
fn by_name(text: &str) -> Option<String> {
    text.split_inclusive(['.', '!', '?', '\n']).find_map(|sentence| {
        // Places stay what they are in the sentence.
        let lower = sentence.to_ascii_lowercase();
        let at = lower.find(OPTION)?;
        let asks = sentence.trim_end().ends_with('?');
        let names_others = lower[at + OPTION.len()..].contains(OPTION);
        (!asks && !refuses(&lower) && !names_others).then(|| after_option(&sentence[at..])).flatten()
    })
}

/// Returns the number that a message opens with as an answer: `3`, `yes, do 1`, `let's go with 2 and add a test`.
fn by_number(text: &str) -> Option<String> {
    let words =
        text.split(|c: char| c.is_whitespace() || ",.;:!#()".contains(c)).filter(|word| !word.is_empty());
    let mut words = words.skip_while(|word| AGREEING.contains(&word.to_lowercase().as_str()));
    let is_number = |word: &&str| word.len() <= 2 && word.bytes().all(|byte| byte.is_ascii_digit());
    let number = words.next().filter(is_number)?;
    let (next, then) = (words.next().map(str::to_lowercase), words.next());
    // "1 and 3" are two, "2 of them", "3 tests" and "2 is wrong" choose none.
    let goes_on = next.as_deref().is_none_or(|next| {
        let praises = || then.is_some_and(|then| ["good", "great", "fine", "best"].contains(&then));
        ENDING.contains(&next) || ["sounds", "looks"].contains(&next) && praises()
    });
    let is_one = then.is_none_or(|then| !is_number(&then));
    (goes_on && is_one && !text.contains('?') && !refuses(&text.to_lowercase())).then(|| number.to_owned())
}

/// Returns whether something is turned down in `lower`: which of the options, is not clear then.
fn refuses(lower: &str) -> bool {
    let mut words = lower.split(|c: char| !(c.is_alphanumeric() || c == '\'' || c == '’'));
    words.any(|word| word.ends_with("n't") || word.ends_with("n’t") || REFUSING.contains(&word))
}

const REFUSING: [&str; 17] = [
    "not", "no", "never", "drop", "forget", "reject", "skip", "but", "without", "instead", "over", "too",
    "breaks", "fails", "wrong", "worse", "neither",
];

/// Words before the number of an option that somebody chooses.
const AGREEING: [&str; 22] = [
    "i'd", "i’d", "yes", "yeah", "yep", "ok", "okay", "sure", "do", "let's", "let’s", "lets", "go", "with",
    "take", "try", "pick", "choose", "use", "number", "please", "just",
];

/// Words behind it.
const ENDING: [&str; 4] = ["please", "and", "first", "then"];

const OPTION: &str = "option";

#[cfg(test)]
mod tests {
    use longhaul_extract::FactIndex;
    use longhaul_transcript::{Message, Transcript};

    use super::*;

    /// Returns what is told of the option that `answer` chooses of those laid out.
    fn chosen_of(laid_out: &str, answer: &str) -> Vec<String> {
        let said: Transcript =
            [Message::user("Go."), Message::assistant(laid_out), Message::user(answer)].into_iter().collect();
        let mut index = FactIndex::new();
        said.entries().iter().for_each(|entry| index.push(entry));
        let pool = index.statements();
        let options = Options::new(pool);
        let texts = pool.all().iter().enumerate().filter(|(at, _)| options.is_chosen(*at));
        texts.map(|(_, one)| one.text.to_string()).filter(|text| text.contains("HAT")).collect()
    }

    #[test]
    fn what_is_chosen_is_told_from_what_stood_beside_it() {
        let laid_out = "Here they are:\n\n1. **Option 1:**\n   - Flight HAT004, $122\n2. **Option 2:**\n   - Flight HAT059, $115\n\nWhich one?";
        let numbers = "There are:\n1. HAT001\n\nI recommend:\n\n**1. The relay** - most of all\n- flight HAT010\n\n**2. The edge**\n- flight HAT020\n\nWhich?";
        let lettered = laid_out.replace("Option 1", "Option A").replace("Option 2", "Option B");
        for (laid_out, answer, told) in [
            (laid_out, "I'd like to go with Option 1 for Newark. Is there a refund?", Some("HAT004")),
            (laid_out, "option 2 please", Some("HAT059")),
            (laid_out, "What about option 2?", None),
            (laid_out, "Not option 1.", None),
            (laid_out, "Neither.", None),
            (&lettered, "Größe M. Go with Option A for now.", Some("HAT004")),
            (&lettered, "option b please", Some("HAT059")),
            (&lettered, "I know the option a friend took.", None),
            (numbers, "yes, do 1", Some("HAT010")),
            (numbers, "2 and I would even add a test", Some("HAT020")),
            (numbers, "2", Some("HAT020")),
            (numbers, "1 and 2", None),
            (numbers, "2 of them fail", None),
            (numbers, "3", None),
            (numbers, "is it 2?", None),
            (numbers, "I'd go with 2", Some("HAT020")),
            (numbers, "2 sounds good", Some("HAT020")),
            (numbers, "go with 2 and forget option 1", None),
            (laid_out, "Option 1 won't work for us.", None),
            (laid_out, "Drop option 1.", None),
            (laid_out, "I prefer the second over option 1.", None),
            (numbers, "1 please no.", None),
            (numbers, "2 looks worst of all", None),
            (numbers, "2 is wrong, that breaks the edge", None),
            (numbers, "For 2 please: none. Take the third", None),
            (numbers, "1. Please drop this one.\n2. Then go on.", None),
        ] {
            let chosen = chosen_of(laid_out, answer);
            assert_eq!(chosen.len(), usize::from(told.is_some()), "{answer}: {chosen:?}");
            assert!(chosen.iter().zip(told).all(|(one, told)| one.contains(told)), "{answer}: {chosen:?}");
        }
    }
}
