//! What two claims are weighed by: how much they share and how rare that is, what stands beside it in each, and where the two differ.

use super::{
    Claim, Link,
    differing::{Run, differing},
    words::{Kind, Word},
};

/// Calls `each` with every feature of a claim and a later one, in parts: a feature is named by them with a blank between two.
pub fn features(was: &Claim, now: &Claim, link: Link, each: impl FnMut(&[&str])) {
    Pair::new(was, now).tell(link, each);
}

/// Two claims, laid beside each other.
struct Pair<'c> {
    was: &'c Claim,
    now: &'c Claim,
    /// For each word whether the other claim has it, where it tells something.
    was_shares: Vec<bool>,
    now_shares: Vec<bool>,
    /// How much of the earlier claim the later one has.
    covered: &'static str,
}

impl<'c> Pair<'c> {
    fn new(was: &'c Claim, now: &'c Claim) -> Pair<'c> {
        let shares = |of: &Claim, other: &Claim| -> Vec<bool> {
            of.words.iter().map(|word| word.key.is_some_and(|key| other.has(key))).collect()
        };
        let (was_shares, now_shares) = (shares(was, now), shares(now, was));
        let covered = match quarters(count(&was_shares), telling(was)) {
            3.. => "much",
            2 => "half",
            _ => "little",
        };
        Pair { was, now, was_shares, now_shares, covered }
    }

    fn tell(&self, link: Link, mut each: impl FnMut(&[&str])) {
        each(&["all"]);
        self.tell_link(link, &mut each);
        self.tell_later(&mut each);
        self.tell_earlier(&mut each);
        self.tell_kinds(&mut each);
        self.tell_things(&mut each);
        self.tell_runs(&mut each);
    }

    /// How much the two share, alone and among all claims.
    fn tell_link(&self, link: Link, each: &mut impl FnMut(&[&str])) {
        let shared = count(&self.was_shares);
        each(&["shared", digit(shared.min(4))]);
        let of_was = digit(quarters(shared, telling(self.was)));
        let of_now = digit(quarters(count(&self.now_shares), telling(self.now)));
        each(&["covers", of_was]);
        each(&["covered", of_now]);
        each(&["covers", of_was, of_now]);
        let [rarest, rank, weight] = link.steps().map(usize::from);
        let (rarest, rank) = (RAREST[rarest], digit(rank));
        each(&["rarest", rarest]);
        each(&["rank", rank]);
        each(&["rarest", rarest, "rank", rank]);
        each(&["rank", rank, "covers", of_was]);
        each(&["weight", digit(weight)]);
    }

    /// The words of the later claim: one that both have is written as `=`.
    fn tell_later(&self, each: &mut impl FnMut(&[&str])) {
        let words: Vec<&str> = self
            .now
            .words
            .iter()
            .zip(&self.now_shares)
            .map(|(word, shares)| written(word, *shares))
            .collect();
        for word in &words {
            each(&["l", word]);
            each(&["l", word, self.covered]);
        }
        words.windows(2).for_each(|two| each(&["l", two[0], two[1]]));
        words.windows(3).for_each(|three| each(&["l", three[0], three[1], three[2]]));
        let n_opening = self.now.words.iter().take_while(|word| word.opens()).count();
        let covers = digit(quarters(count(&self.was_shares), telling(self.was)));
        if let Some(first) = words.get(n_opening) {
            each(&["begins", first, covers]);
        }
        match words.get(n_opening..) {
            Some([one, two, three, ..]) => {
                each(&["begins", one]);
                each(&["begins", one, two]);
                each(&["begins", one, two, three]);
            }
            Some([one, two]) => {
                each(&["begins", one]);
                each(&["begins", one, two]);
            }
            Some([one]) => each(&["begins", one]),
            _ => {}
        }
        if let Some(last) = words.last() {
            each(&["ends", last]);
        }
        each(&["length", digit(LENGTHS.iter().filter(|most| words.len() > **most).count())]);
    }

    /// The words that only the earlier claim has.
    fn tell_earlier(&self, each: &mut impl FnMut(&[&str])) {
        for (at, (word, shares)) in self.was.words.iter().zip(&self.was_shares).enumerate() {
            let word = written(word, *shares);
            each(&["e", word]);
            if at == 0 {
                each(&["e", "begins", word]);
            }
        }
        if self.was.text.len() * 2 < self.now.text.len() {
            each(&["longer"]);
        }
    }

    /// What kinds of words both have and what only one has, what each denies, what is done by each.
    fn tell_kinds(&self, each: &mut impl FnMut(&[&str])) {
        let has = |words: &[Word], shares: &[bool], kind: Kind, shared: bool| {
            yes(words.iter().zip(shares).any(|(word, shares)| word.kind == kind && *shares == shared))
        };
        for (name, kind) in [("#", Kind::Number), ("@", Kind::Name)] {
            let was = [true, false].map(|shared| has(&self.was.words, &self.was_shares, kind, shared));
            let now = [true, false].map(|shared| has(&self.now.words, &self.now_shares, kind, shared));
            each(&["kind", name, was[0], was[1], now[0], now[1]]);
            each(&["kind", name, was[0], was[1], now[0], now[1], self.covered]);
        }
        let counts_the_same = |same: bool| {
            let of_was = counted(&self.was.words);
            of_was.iter().any(|(unit, figure)| {
                counted(&self.now.words).iter().any(|(other, now)| unit == other && (figure == now) == same)
            })
        };
        if counts_the_same(false) {
            each(&["unit", "other"]);
            each(&["unit", "other", self.covered]);
        }
        if counts_the_same(true) {
            each(&["unit", "same"]);
        }
        let (was, now) = (yes(self.was.denies), yes(self.now.denies));
        each(&["denies", was, now]);
        each(&["denies", was, now, self.covered]);
        let (was, now) = (self.was.act.name(), self.now.act.name());
        each(&["act", was, now]);
        each(&["act", now, self.covered]);
    }

    /// Whether the two are of one thing: what stands behind the same word, what is done to what.
    fn tell_things(&self, each: &mut impl FnMut(&[&str])) {
        for word in BEFORE_THINGS {
            let (was, now) = (behind(word, &self.was.words), behind(word, &self.now.words));
            if !was.is_empty() && !now.is_empty() {
                let same = if was.iter().any(|key| now.contains(key)) { "same" } else { "other" };
                each(&["behind", word, same]);
                each(&["behind", same]);
            }
        }
        if self.was.naming.is_of_another(&self.now.naming) {
            each(&["another"]);
        }
        if self.was.things.are_others(&self.now.things) {
            each(&["others"]);
        }
    }

    /// Where the two differ, as far as they are alike.
    fn tell_runs(&self, each: &mut impl FnMut(&[&str])) {
        let was: Vec<&Word> = self.was.words.iter().filter(|word| !word.is_mark()).collect();
        let now: Vec<&Word> = self.now.words.iter().skip_while(|word| word.opens()).collect();
        let now: Vec<&Word> = now.into_iter().filter(|word| !word.is_mark()).collect();
        let runs = differing(&was, &now);
        let n_same = was.len() - runs.iter().map(|run| run.was.len()).sum::<usize>();
        let same = quarters(n_same, was.len().max(now.len()));
        let n_runs = digit(runs.len().min(3));
        each(&["same", digit(same)]);
        each(&["runs", n_runs, digit(same)]);
        let first = yes(was.first().zip(now.first()).is_some_and(|(was, now)| was.form == now.form));
        each(&["first", first, self.covered]);
        each(&["first", first, n_runs, digit(same)]);
        let start = runs.first().map_or(was.len(), |run| if run.now.start == 0 { 0 } else { run.was.start });
        let start = digit(was[..start].iter().filter(|word| word.key.is_some()).count().min(3));
        each(&["start", start, n_runs]);
        each(&["start", start, self.covered]);
        if let Some(run) = runs.first() {
            let [before, behind] = kinds(run, (&was, &now));
            each(&["start", start, before, behind]);
        }
        if let [one, two] = &runs[..] {
            tell_two(one, two, (&was, &now), each);
        }
        if same >= 2 {
            runs.iter().for_each(|run| tell_run(run, (&was, &now), n_runs, each));
        }
    }
}

/// Two runs in which two claims differ: another value of the same thing stands at one place, that of another thing at two.
fn tell_two(one: &Run, two: &Run, words: (&[&Word], &[&Word]), each: &mut impl FnMut(&[&str])) {
    let (was, _) = words;
    let (one_place, [one_was, one_now]) = (place(one, words), kinds(one, words));
    let (two_place, [two_was, two_now]) = (place(two, words), kinds(two, words));
    each(&["two", one_place, one_was, one_now, two_place, two_was, two_now]);
    let before = |run: &Run| run.was.start.checked_sub(1).map_or("-", |at| &*was[at].text);
    each(&["two", "after", before(two), two_place, two_was, two_now]);
    each(&["two", "after", before(one), before(two)]);
}

/// Where in the claims a run is.
fn place(run: &Run, (was, now): (&[&Word], &[&Word])) -> &'static str {
    let begins = run.was.start == 0 && run.now.start == 0;
    let ends = run.was.end == was.len() && run.now.end == now.len();
    match (begins, ends) {
        (true, true) => "whole",
        (true, false) => "first",
        (false, true) => "last",
        (false, false) => "inside",
    }
}

/// What stands in a run of each claim.
fn kinds(run: &Run, (was, now): (&[&Word], &[&Word])) -> [&'static str; 2] {
    [kind_of(&was[run.was.clone()]), kind_of(&now[run.now.clone()])]
}

/// One run in which two claims differ that are alike for the rest.
fn tell_run(run: &Run, words: (&[&Word], &[&Word]), n_runs: &str, each: &mut impl FnMut(&[&str])) {
    let (was, now) = words;
    let (place, [before, behind]) = (place(run, words), kinds(run, words));
    each(&["run", place, before, behind]);
    each(&["run", place, before, behind, n_runs]);
    if let Some(word) = run.was.start.checked_sub(1).and_then(|at| was.get(at)) {
        each(&["run", "after", &word.text, place, n_runs]);
    }
    if let Some(word) = was.get(run.was.end) {
        each(&["run", "before", &word.text, n_runs]);
    }
    let size = digit(run.was.len().max(run.now.len()).min(3));
    each(&["run", "size", size, place, n_runs]);
    for word in now[run.now.clone()].iter().filter(|word| word.key.is_none()) {
        each(&["run", "new", &word.text, place]);
    }
    for word in was[run.was.clone()].iter().filter(|word| word.key.is_none()) {
        each(&["run", "old", &word.text]);
    }
}

/// A word as it is weighed.
fn written(word: &Word, shares: bool) -> &str {
    match word.kind {
        _ if shares => "=",
        Kind::Number => "#",
        _ => &word.text,
    }
}

/// The kind of the most telling of some words.
fn kind_of(words: &[&Word]) -> &'static str {
    let has = |kind| words.iter().any(|word| word.kind == kind);
    match words {
        [] => "-",
        _ if has(Kind::Number) => "#",
        _ if has(Kind::Name) => "@",
        _ if words.iter().all(|word| word.key.is_none()) => "e",
        _ => "w",
    }
}

/// Returns each figure with the word beside it that says what it counts.
fn counted(words: &[Word]) -> Vec<(u64, &str)> {
    let mut all = Vec::new();
    for (at, figure) in words.iter().enumerate().filter(|(_, word)| word.kind == Kind::Number) {
        let before = at.checked_sub(1).and_then(|at| words.get(at));
        let beside = before.into_iter().chain(words.get(at + 1));
        all.extend(beside.filter_map(|word| Some((word.key?, &*figure.text))));
    }
    all
}

/// Returns the first telling words behind a word that stands before the name of a place, a purpose, a person.
fn behind(before: &str, words: &[Word]) -> Vec<u64> {
    let places = words.iter().enumerate().filter(|(_, word)| word.text == before);
    let named = |(at, _): (usize, &Word)| words[at + 1..].iter().take(FURTHEST).find_map(|word| word.key);
    places.filter_map(named).collect()
}

/// A thing is named by one of so many words.
const FURTHEST: usize = 3;

/// What stands before the name of a place, a purpose, a person.
const BEFORE_THINGS: [&str; 16] = [
    "in", "for", "on", "at", "with", "to", "of", "from", "by", "für", "bei", "mit", "pour", "para", "per",
    "voor",
];

/// The number of words of a claim that tell something.
fn telling(claim: &Claim) -> usize {
    claim.words.iter().filter(|word| word.key.is_some()).count()
}

fn count(shares: &[bool]) -> usize {
    shares.iter().filter(|shares| **shares).count()
}

/// Returns how many quarters of a whole a part is, begun ones too.
fn quarters(part: usize, of: usize) -> usize {
    if of == 0 { 0 } else { (part * 4).div_ceil(of) }
}

fn digit(n: usize) -> &'static str {
    ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"][n.min(9)]
}

fn yes(is_so: bool) -> &'static str {
    if is_so { "y" } else { "n" }
}

/// How many claims have the rarest word at most, by the steps of a link.
const RAREST: [&str; 5] = ["2", "3", "5", "9", "many"];

/// Lengths of claims that are told apart, in words.
const LENGTHS: [usize; 5] = [3, 6, 9, 13, 18];
