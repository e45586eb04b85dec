//! Two clauses that say the same of the same thing but for one value.

use super::{
    clause::{Clause, Word, is_denial, telling},
    words::{
        BEFORE_VALUES, BEING, CHOOSING, HAVING, KINDS_OF_PLACE, LIMITS, NUMBERED, NUMBERS, PERSONS,
        PREPOSITIONS, UPPER, WHEN,
    },
};

/// Returns whether `now` says the same as `was` but for one value. Where nothing says that it is otherwise (`is_sure`), only a figure or a
/// date counts; where the former value is named (`names_it`), less may be said of the thing than before.
pub(super) fn is_another(was: &Clause, now: &Clause, is_sure: bool, names_it: bool) -> bool {
    let Some((old, new)) = differing(&was.words, &now.words) else {
        return names_it && has_other_value(was, now);
    };
    let (Some(was_verb), Some(now_verb)) = (was.verb, now.verb) else { return false };
    let from = old.0;
    if from <= was_verb || from <= now_verb {
        return false;
    }
    let (values, others) = (&was.words[old.0..old.1], &now.words[new.0..new.1]);
    // Most sentences that are alike say the same of many things.
    let are_plain = || is_plain(values) && is_plain(others) || who_it_is(was, old) && who_it_is(now, new);
    let may_be = || !was.is_of_several && !now.is_of_several && are_plain();
    if !is_sure && !may_be() {
        return false;
    }
    let (before, after) = (&was.words[..from], &was.words[old.1..]);
    // What is done names no thing by itself, but "answer in German" says how.
    let is_bare = |verb: usize| verb == 0 || PERSONS.contains(&&*was.words[0].text);
    let says_how = before.last().is_some_and(|last| PREPOSITIONS.contains(&&*last.text));
    let named = if is_bare(was_verb) && !says_how { was_verb + 1 } else { 0 };
    let thing = |after| telling(&before[named..]).chain(telling(after));
    let has_thing = |after| thing(after).any(|stem| !CHOOSING.contains(&stem));
    let says_more = |word: &Word| is_denial(&word.text) || PREPOSITIONS.contains(&&*word.text);
    let Some(kind) = Kind::of(values).filter(|kind| Some(*kind) == Kind::of(others)) else { return false };
    let is_value = match kind {
        Kind::Figure => !is_numbered(before),
        Kind::When => true,
        Kind::Word => !says_which(before, after),
    };
    // Behind a figure stands what it counts.
    let counted = after.get(1..).unwrap_or_default();
    let is_certain = is_sure || kind != Kind::Word && has_thing(counted) || who_it_is(was, old);
    has_thing(after) && !values.iter().chain(others).any(says_more) && is_value && is_certain
}

/// Returns whether a part of a clause is all that it says of a thing, and a name: "the owner is Lena".
fn who_it_is(clause: &Clause, (from, to): Part) -> bool {
    let is_last = to == clause.words.len() && from > 0;
    let is = |word: &Word| ["is", "called", "named"].contains(&&*word.text);
    is_last && to == from + 1 && clause.words[from].is_name && is(&clause.words[from - 1])
}

/// Returns whether a clause of `all` other than `now` names the value of `was`: "Mrs Balder has left; the contact is Mr Quill".
pub(super) fn is_named(was: &Clause, all: &[Clause], now: &Clause) -> bool {
    let Some(value) = value_of(was) else { return false };
    let has = |stem: &str| {
        let others = all.iter().filter(|one| !std::ptr::eq(*one, now));
        others.into_iter().any(|one| one.telling().any(|word| word == stem))
    };
    let is_name = |stem: &&str| value.iter().any(|word| word.is_name && word.stem == *stem);
    let mut names = telling(value).filter(is_name).peekable();
    names.peek().is_some() && names.all(has)
}

/// Returns whether `now` gives another value to what `was` is said of, of which it may say less.
fn has_other_value(was: &Clause, now: &Clause) -> bool {
    let (Some(old), Some(new)) = (value_of(was), value_of(now)) else { return false };
    let (thing, of) = (was.subject(), now.subject());
    let is_of_it = !of.is_empty() && of.iter().all(|word| thing.contains(word));
    let is_same_kind = Kind::of(old).is_some() && Kind::of(old) == Kind::of(new);
    is_of_it && is_same_kind && telling(old).ne(telling(new))
}

/// Returns whether `now` says that the thing that `was` is said of goes over to another value: "the launch moves to Thursday".
pub(super) fn is_moved(was: &Clause, now: &Clause) -> bool {
    let Some(change) = now.change else { return false };
    let (before, behind) = now.words.split_at(change);
    let Some(to) = behind.iter().position(|word| word.text == "to") else { return false };
    let thing: Vec<&str> = telling(before).collect();
    let new = &behind[to + 1..];
    let Some(old) = value_of(was).filter(|_| !thing.is_empty() && thing == was.subject()) else {
        return false;
    };
    let are_names = || [old, new].iter().all(|words| words.iter().any(|word| word.is_name));
    let kind = Kind::of(new);
    let is_same_kind = kind == Kind::of(old) && (kind != Some(Kind::Word) || are_names());
    (1..=LONGEST).contains(&new.len()) && is_same_kind && telling(old).ne(telling(new))
}

/// Returns whether `now` gives another figure of the same measure to the same thing: "functions may have up to 60 lines".
pub(super) fn has_another_measure(was: &Clause, now: &Clause) -> bool {
    let (Some((old, unit)), Some((new, of))) = (measure(was), measure(now)) else { return false };
    let thing = |clause: &Clause| -> Vec<String> {
        let is_thing = |word: &&str| *word != unit && !word.starts_with(|c: char| c.is_ascii_digit());
        let mut all: Vec<String> = clause
            .telling()
            .filter(is_thing)
            .filter(|word| !LIMITS.contains(word))
            .map(str::to_owned)
            .collect();
        all.sort_unstable();
        all
    };
    let things = thing(was);
    unit == of && old != new && !things.is_empty() && things == thing(now)
}

/// Returns whether two clauses say how far something may go: "below 2 MB", "up to 4 MB".
pub(super) fn are_limits(was: &Clause, now: &Clause) -> bool {
    [was, now].iter().all(|clause| clause.words.iter().any(|word| UPPER.contains(&&*word.text)))
}

/// Returns whether a clause ends with a name that something is said to be.
pub(super) fn may_be_who(clause: &Clause) -> bool {
    let n_words = clause.words.len();
    n_words > 1 && who_it_is(clause, (n_words - 1, n_words))
}

fn measure(clause: &Clause) -> Option<(&str, &str)> {
    let pair = clause.words.windows(2).find(|pair| {
        let is_figure = pair[0].text.bytes().all(|byte| byte.is_ascii_digit());
        is_figure && pair[1].text.chars().all(char::is_alphabetic) && telling(&pair[1..]).next().is_some()
    })?;
    Some((&pair[0].text, &pair[1].stem))
}

/// Returns the words behind the verb of a clause that are its value, where they are few.
pub(super) fn value_of(clause: &Clause) -> Option<&[Word]> {
    let verb = clause.verb?;
    let is_finite = |word: &Word| BEING.contains(&&*word.text) || HAVING.contains(&&*word.text);
    let mut value = clause.from(verb);
    while let Some((first, rest)) = value.split_first()
        && (is_finite(first)
            || PREPOSITIONS.contains(&&*first.text)
            || value.len() == clause.words.len() - verb)
    {
        value = rest;
    }
    (1..=LONGEST).contains(&value.len()).then_some(value)
}

/// Returns the one part in which two rows of words differ, in each from where to where.
type Part = (usize, usize);
fn differing(one: &[Word], other: &[Word]) -> Option<(Part, Part)> {
    let is_same = |(one, other): &(&Word, &Word)| one.stem == other.stem;
    let begin = one.iter().zip(other).take_while(is_same).count();
    let end = one[begin..].iter().rev().zip(other[begin..].iter().rev()).take_while(is_same).count();
    let parts = ((begin, one.len() - end), (begin, other.len() - end));
    let is_short = |part: Part| (1..=LONGEST_PART).contains(&(part.1 - part.0));
    (is_short(parts.0) && is_short(parts.1)).then_some(parts)
}

/// What kind of value some words are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Figure,
    When,
    Word,
}

impl Kind {
    pub(super) fn of(words: &[Word]) -> Option<Kind> {
        let has_digit =
            |word: &Word| NUMBERS.contains(&&*word.text) || word.text.contains(|c: char| c.is_ascii_digit());
        let is_path = |word: &Word| word.text.contains('/');
        let is_time = |word: &Word| {
            let parts: Vec<&str> = word.text.split(':').collect();
            WHEN.contains(&&*word.text)
                || parts.len() == 2 && parts.iter().all(|part| part.parse::<u8>().is_ok())
        };
        match words {
            [] => None,
            _ if words.iter().any(is_time) => Some(Kind::When),
            _ if words.iter().any(is_path) => Some(Kind::Word),
            _ if words.iter().any(has_digit) => Some(Kind::Figure),
            _ => Some(Kind::Word),
        }
    }
}

/// Returns whether a word is a figure or of a date.
pub(super) fn is_figure_or_date(word: &Word) -> bool {
    let is_figure = word.text.starts_with(|c: char| c.is_ascii_digit());
    is_figure || NUMBERS.contains(&&*word.text) || WHEN.contains(&&*word.text)
}

/// Returns whether a figure or a date is all that some words say.
fn is_plain(words: &[Word]) -> bool {
    words.iter().all(is_figure_or_date)
}

/// Returns whether a figure behind these words says which one is meant: "part 3", "bug 12".
fn is_numbered(before: &[Word]) -> bool {
    let Some(last) = before.last() else { return true };
    let is_of_value = BEFORE_VALUES.contains(&&*last.text)
        || PREPOSITIONS.contains(&&*last.text)
        || BEING.contains(&&*last.text)
        || HAVING.contains(&&*last.text)
        || last.is_name && before.len() > 1;
    NUMBERED.contains(&&*last.text) || !is_of_value
}

/// Returns whether words between these say of which thing the sentence is: "the logs of Leeds for 30 days", "the Leeds logs".
fn says_which(before: &[Word], after: &[Word]) -> bool {
    let Some(next) = after.first() else { return false };
    let is_behind = |words: &[&str]| before.last().is_some_and(|last| words.contains(&&*last.text));
    let is_kind = after.len() == 1 && KINDS_OF_PLACE.contains(&&*next.text);
    let goes_on = PREPOSITIONS.contains(&&*next.text) && !is_behind(&["from"]);
    is_behind(&["of", "for", "inside", "with"]) || !is_kind && !goes_on
}

/// Words of the longest value.
const LONGEST: usize = 4;

/// Words of the longest part in which two clauses differ.
const LONGEST_PART: usize = 3;
