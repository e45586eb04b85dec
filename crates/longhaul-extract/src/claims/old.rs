//! What a sentence names as given up: "badger, not marmot", "Memcached instead of Redis", "from MySQL to MariaDB".

use super::{
    clause::{Clause, Word, begins, is_denial, telling},
    words::{CHANGING, CHOOSING, FORGETTING, GONE, NOT_THINGS, PERSONS, PREPOSITIONS},
};

/// What is given up, and what is said beside it.
#[derive(Clone, Debug)]
pub(super) struct Old {
    /// What is given up.
    what: Vec<String>,
    /// What takes its place and what both are for.
    beside: Vec<String>,
    /// What both are for, where that is said.
    thing: Vec<String>,
}

/// Returns all that is given up in a sentence of these clauses.
pub(super) fn all(clauses: &[Clause]) -> Vec<Old> {
    let mut found = Vec::new();
    for (nth, clause) in clauses.iter().enumerate() {
        let words = &clause.words[..];
        if let Some((_, not)) = words.split_first().filter(|(first, _)| first.text == "not" && nth > 0)
            && not.first().is_some_and(|first| !NOT_THINGS.contains(&&*first.text))
        {
            let before = &clauses[nth - 1].words;
            found.extend(Old::new(object(not), [before, &rest(not)]));
        }
        if let Some((_, what)) = words.split_first().filter(|(first, _)| FORGETTING.contains(&&*first.text))
            && clauses.len() > 1
        {
            let others: Vec<Word> = clauses.iter().flat_map(|one| one.words.iter().cloned()).collect();
            found.extend(Old::new(object(what), [&others, &rest(what)]));
        }
        if clauses.len() > 1
            && let Some(what) = gone(words)
        {
            let others: Vec<Word> = clauses
                .iter()
                .filter(|one| !std::ptr::eq(*one, clause))
                .flat_map(|one| one.words.clone())
                .collect();
            found.extend(Old::new(what, [&others, &[]]));
        }
        for at in 1..words.len() {
            let behind = &words[at..];
            if begins(behind, &["instead", "of"]) || begins(behind, &["rather", "than"]) {
                let old = &behind[2..];
                found.extend(Old::new(object(old), [&words[..at], &rest(old)]));
            }
            let is_ours =
                || words[..at].first().is_none_or(|who| PERSONS.contains(&&*who.text) || !who.is_name);
            if behind[0].text == "from" && CHANGING.contains(&&*words[at - 1].text) && is_ours() {
                found.extend(changed(&words[..at - 1], &behind[1..], "to"));
            }
        }
        if words.first().is_some_and(|first| ["replace", "swap"].contains(&&*first.text)) {
            found.extend(changed(&[], &words[1..], "with").or_else(|| changed(&[], &words[1..], "by")));
        }
    }
    found
}

/// "Saturn is booked", "we are dropping Stripe", "no more Friday deploys": what is said beside it takes its place.
fn gone(words: &[Word]) -> Option<&[Word]> {
    let ends = GONE.iter().find(|end| begins(&words[words.len().saturating_sub(end.len())..], end));
    let drops = |at: &usize| begins(&words[*at..], &["dropping"]);
    // "No" only opens a clause, and is left out there.
    let no_more = if begins(words, &["more"]) { Some(0) } else { None };
    let dropped = no_more.or_else(|| (0..words.len().min(3)).find(drops)).map(|at| &words[at + 1..]);
    let what = ends.map(|end| &words[..words.len() - end.len()]).or(dropped)?;
    Some(what).filter(|what| what.iter().any(|word| !PERSONS.contains(&&*word.text)))
}

/// "from MySQL to MariaDB", "replace MySQL with MariaDB".
fn changed(before: &[Word], behind: &[Word], to: &str) -> Option<Old> {
    let at = behind.iter().position(|word| word.text == to)?;
    Old::new(&behind[..at], [before, &behind[at + 1..]])
}

/// Returns the words up to what something is for.
fn object(words: &[Word]) -> &[Word] {
    let end = words.iter().position(|word| PREPOSITIONS.contains(&&*word.text));
    &words[..end.unwrap_or(words.len())]
}

fn rest(words: &[Word]) -> Vec<Word> {
    words[object(words).len()..].to_vec()
}

impl Old {
    fn new(what: &[Word], beside: [&[Word]; 2]) -> Option<Old> {
        let stems = |words: &[Word]| -> Vec<String> { telling(words).map(str::to_owned).collect() };
        let what = Some(stems(what)).filter(|stems| (1..=MOST).contains(&stems.len()))?;
        let thing = |words: &[Word]| {
            let at = words.iter().position(|word| word.text == "for");
            at.map(|at| stems(&words[at..])).unwrap_or_default()
        };
        let [before, behind] = beside;
        let thing = [thing(before), thing(behind)].concat();
        Some(Old { what, beside: [stems(before), stems(behind)].concat(), thing })
    }

    /// Returns whether that is what was said in one of these clauses, of the same thing.
    pub(super) fn is_of(&self, clauses: &[Clause]) -> bool {
        clauses.iter().any(|clause| self.is_of_clause(clause))
    }

    fn is_of_clause(&self, clause: &Clause) -> bool {
        let words = &clause.words;
        let is_old = |word: &Word| self.what.contains(&word.stem);
        let Some(first) = words.iter().position(is_old) else { return false };
        let has_all = self.what.iter().all(|old| words.iter().any(|word| word.stem == *old));
        let is_claimed = clause.verb.is_some_and(|verb| verb < first)
            || begins(&words[words.len().saturating_sub(2)..], &["it", "is"]);
        let is_left = words[..first]
            .iter()
            .any(|word| is_denial(&word.text) || ["than", "from", "of"].contains(&&*word.text));
        // "We host on Heroku": what they do is no other thing.
        let is_ours = words.first().is_some_and(|first| PERSONS.contains(&&*first.text));
        let does = words.get(1).filter(|_| is_ours).map(|word| &*word.stem);
        let others: Vec<&str> = clause
            .telling()
            .filter(|stem| !self.what.iter().any(|old| old == stem))
            .filter(|stem| !CHOOSING.contains(stem) && does != Some(*stem))
            .collect();
        let is_beside = |stem: &&str| self.beside.iter().any(|word| word == stem);
        let theirs = words.iter().position(|word| word.text == "for").map(|at| clause.from(at));
        let is_for_it = match theirs {
            Some(theirs) if !self.thing.is_empty() => {
                telling(theirs).any(|stem| self.thing.iter().any(|word| word == stem))
            }
            _ => true,
        };
        has_all && is_claimed && !is_left && is_for_it && (others.is_empty() || others.iter().any(is_beside))
    }
}

/// Words of the longest name of what is given up.
const MOST: usize = 3;
