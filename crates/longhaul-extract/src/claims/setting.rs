//! What something is said to be, in other words than before: "they raised the limit to 80", "retry limit: seven", "make the timeout 45
//! seconds".

use std::collections::BTreeSet;

use super::{
    Claim,
    clause::{Clause, Word, begins, is_denial, telling},
    value::{Kind, is_figure_or_date, value_of},
    words::{BEING, CHANGING, HAVING, LEADING_IN, NEW_VALUES, PARTICLES, PERSONS, PREPOSITIONS, SETTING},
};

/// Returns whether one of the clauses of `later` gives another value to what `was` says the value of.
pub(super) fn is_set_anew(was: &Clause, later: &Claim) -> bool {
    let Some(was) = Setting::of(was) else { return false };
    let all = &later.clauses;
    let is_labelled = |pair: &[Clause]| {
        let now = Setting::labelled(&pair[0], &pair[1]);
        now.is_some_and(|now| (later.is_marked || now.has_figure()) && was.has_another_value(&now, true))
    };
    let is_changed = |now: &Clause| {
        let others = Setting::changed(now).into_iter().chain(Setting::made(now));
        others.into_iter().any(|now| was.has_another_value(&now, true))
    };
    let is_marked = |now: &Clause| {
        later.is_marked && Setting::of(now).is_some_and(|now| was.has_another_value(&now, false))
    };
    let is_it = |pair: &[Clause]| {
        let now = Setting::of_it(&pair[0], &pair[1]).filter(|now| was.thing.is_subset(&now.thing));
        now.is_some_and(|now| was.is_another_value(&now, later.is_marked))
    };
    all.iter().any(|now| is_changed(now) || is_marked(now))
        || all.windows(2).any(|pair| is_labelled(pair) || is_it(pair))
}

/// Returns whether a clause may give a value in other words.
pub(super) fn may_set(clause: &Clause) -> bool {
    clause.words.iter().any(|word| CHANGING.contains(&&*word.text) || SETTING.contains(&&*word.text))
}

/// A thing and what it is said to be.
#[derive(Debug)]
struct Setting<'c> {
    thing: BTreeSet<&'c str>,
    value: &'c [Word],
}

impl<'c> Setting<'c> {
    fn new(thing: &'c [Word], value: &'c [Word]) -> Option<Setting<'c>> {
        let is_thing = |word: &&Word| !BEING.contains(&&*word.text) && !HAVING.contains(&&*word.text);
        let words = thing.iter().filter(is_thing);
        let stems: BTreeSet<&str> = words.flat_map(|word| telling(std::slice::from_ref(word))).collect();
        let named: BTreeSet<&str> = stems.iter().copied().filter(|stem| !NEW_VALUES.contains(stem)).collect();
        let thing = if named.is_empty() { stems } else { named };
        ((1..=LONGEST).contains(&value.len()) && !thing.is_empty()).then_some(Setting { thing, value })
    }

    /// What a clause says that something is: "the report is due at noon", "call the class Ledger".
    fn of(clause: &'c Clause) -> Option<Setting<'c>> {
        let first = clause.words.first()?;
        if ["call", "name"].contains(&&*first.text) {
            let (value, thing) = clause.from(1).split_last()?;
            return Setting::new(thing, std::slice::from_ref(value)).filter(|_| value.is_name);
        }
        // What is to be done once has no thing of its own.
        let is_said = clause.verb.is_some_and(|verb| verb > 0) && !PERSONS.contains(&&*first.text);
        let value = value_of(clause).filter(|_| is_said)?;
        // "Tuesday at 3" is one time; in "due at noon" only what stands behind is.
        let is_inside = |at: &usize| !value.get(at.wrapping_sub(1)).is_some_and(is_figure_or_date);
        let last = value.iter().rposition(|word| PREPOSITIONS.contains(&&*word.text)).filter(is_inside);
        let value = &value[last.map_or(0, |at| at + 1)..];
        Setting::new(&clause.words[..clause.words.len() - value.len()], value)
    }

    /// What a clause says that something goes over to: "they pushed the deadline back to 19 June", "rename the class to Journal".
    fn changed(clause: &'c Clause) -> Option<Setting<'c>> {
        let change = clause.words.iter().position(|word| CHANGING.contains(&&*word.text))?;
        let (before, behind) = (&clause.words[..change], clause.from(change + 1));
        if clause.words[change].text == "turned" {
            return Setting::new(before, behind.get(..1)?).filter(Setting::has_figure);
        }
        let to = behind.iter().position(|word| word.text == "to")?;
        let between = without_particles(&behind[..to]);
        // Who changes it is one of theirs, and said in a word.
        let (thing, is_sure) = if between.is_empty() { (before, true) } else { (between, before.len() <= 1) };
        Setting::new(thing, &behind[to + 1..]).filter(|_| is_sure)
    }

    /// What a clause may say that something is made: "make the gateway timeout 45 seconds", "we made the repo public".
    fn made(clause: &'c Clause) -> Vec<Setting<'c>> {
        let is_who = |first: &Word| PERSONS.contains(&&*first.text) || first.text == "they";
        let at = usize::from(clause.words.first().is_some_and(is_who));
        let rest = clause.words.get(at).filter(|verb| SETTING.contains(&&*verb.text));
        let rest = rest.map(|_| clause.from(at + 1)).unwrap_or_default();
        (1..rest.len()).filter_map(|at| Setting::new(&rest[..at], &rest[at..])).collect()
    }

    /// What stands behind a colon: "retry limit: seven".
    fn labelled(label: &'c Clause, value: &'c Clause) -> Option<Setting<'c>> {
        let leads_in = |word: &Word| LEADING_IN.contains(&&*word.text);
        // "Support" may be an order, and "support email" is none.
        let is_label =
            label.is_label && label.verb.unwrap_or_default() == 0 && !label.words.iter().any(leads_in);
        Setting::new(&label.words, &value.words).filter(|_| is_label)
    }

    /// What stands behind "it is": "we switched domains, it is quillbox.com now".
    fn of_it(before: &'c Clause, it: &'c Clause) -> Option<Setting<'c>> {
        let is_it = it.words.len() == 3 && begins(&it.words, &["it", "is"]);
        Setting::new(&before.words, it.from(2)).filter(|_| is_it && may_set(before))
    }

    fn has_figure(&self) -> bool {
        self.value.iter().any(is_figure_or_date)
    }

    /// Returns whether `now` is another value of the same thing.
    fn has_another_value(&self, now: &Setting<'_>, may_be_words: bool) -> bool {
        self.thing == now.thing && self.is_another_value(now, may_be_words)
    }

    /// Returns whether `now` has another value of the same kind. Words that are no names are one only where they stand alone and
    /// `may_be_words`.
    fn is_another_value(&self, now: &Setting<'_>, may_be_words: bool) -> bool {
        let both = [self.value, now.value];
        let are_names = || both.iter().all(|words| words.iter().any(|word| word.is_name));
        let are_single = || both.iter().all(|words| words.len() == 1);
        let is_unsure = |word: &Word| is_denial(&word.text) || PERSONS.contains(&&*word.text);
        let (was, new) = (Kind::of(self.value), Kind::of(now.value));
        let is_of_kind =
            was == new && (was != Some(Kind::Word) || are_names() || may_be_words && are_single());
        is_of_kind
            && telling(self.value).ne(telling(now.value))
            && !both.iter().any(|words| words.iter().any(is_unsure))
    }
}

/// Returns `words` without those at both ends that say which way something is moved: "back", "up".
fn without_particles(words: &[Word]) -> &[Word] {
    let is_particle = |word: &&Word| PARTICLES.contains(&&*word.text);
    let begin = words.iter().take_while(is_particle).count();
    let rest = &words[begin..];
    &rest[..rest.len() - rest.iter().rev().take_while(is_particle).count()]
}

/// Words of the longest value.
const LONGEST: usize = 4;
