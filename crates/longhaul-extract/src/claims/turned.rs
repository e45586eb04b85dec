//! What is said of the same thing in the other way: done by somebody else, turned off, denied, moved away from.

use super::{
    clause::{Clause, Word, begins, is_denial, telling},
    value::Kind,
    words::{ALLOWED, ANYBODY, CHOOSING, LIVING, ORDERS, PERSONS, PREPOSITIONS, SUCCEEDING},
};

/// Returns whether `now`, one of `all` clauses of a sentence, says of what `was` says that it is the other way. Where nothing else
/// says that it is otherwise (`is_marked`), it must be plain.
pub(super) fn is_turned(was: &Clause, now: &Clause, all: &[Clause], is_marked: bool) -> bool {
    moves_house(was, now)
        || is_switched(was, now)
        || switches(was, now)
        || takes_over(was, now)
        || is_opposite(was, now)
        || is_open_to_all(was, now)
        || is_succeeded(was, now, all)
        || is_marked && (is_done_by_another(was, now) || ends_otherwise(was, now))
}

/// Returns whether a clause may turn something, where nothing marks it.
pub(super) fn may_turn(clause: &Clause) -> bool {
    let first = clause.words.first().map(|first| &*first.text).unwrap_or_default();
    let has = |words: &[&str]| clause.words.iter().any(|word| words.contains(&&*word.text));
    clause.denies()
        || ["switch", "change", "turn"].contains(&first)
        || ANYBODY.contains(&first)
        || has(&["moved", "over"])
}

/// Returns whether a clause says where somebody lives, or that they moved there.
pub(super) fn is_of_home(clause: &Clause) -> bool {
    let of = |who: &Word, does: &Word| {
        PERSONS.contains(&&*who.text) && (does.text == "moved" || LIVING.contains(&&*does.text))
    };
    matches!(&clause.words[..], [who, does, ..] if of(who, does))
}

/// "I live in Lisbon", "I moved to Madrid".
fn moves_house(was: &Clause, now: &Clause) -> bool {
    let ([who, lives, old @ ..], [one, moved, to, new @ ..]) = (&was.words[..], &now.words[..]) else {
        return false;
    };
    if moved.text != "moved" || to.text != "to" {
        return false;
    }
    let old = old.iter().position(|word| word.text == "in").map(|at| &old[at + 1..]);
    let places = old.and_then(|old| old.first()).zip(new.first());
    let is_another = places.is_some_and(|(old, new)| old.is_name && new.is_name && old.stem != new.stem);
    let is_same_one = PERSONS.contains(&&*who.text) && who.text == one.text;
    is_same_one && LIVING.contains(&&*lives.text) && is_another
}

/// "Keep the flag dark_mode off", "turn the flag dark_mode on".
fn is_switched(was: &Clause, now: &Clause) -> bool {
    fn side(clause: &Clause) -> Option<bool> {
        let last = &clause.words.last()?.text;
        (last == "on" || last == "off").then(|| last == "on")
    }
    fn thing(clause: &Clause) -> Vec<&str> {
        let verb = |first: &Word| ["turn", "switch", "keep", "leave", "have"].contains(&&*first.text);
        let from = usize::from(clause.words.first().is_some_and(verb));
        telling(clause.from(from)).filter(|stem| *stem != "off").collect()
    }
    let differ = side(was).zip(side(now)).is_some_and(|(was, now)| was != now);
    differ && !thing(was).is_empty() && thing(was) == thing(now)
}

/// "Use British spelling", "switch to American spelling".
fn switches(was: &Clause, now: &Clause) -> bool {
    let switches = begins(&now.words, &["switch", "to"]) || begins(&now.words, &["change", "to"]);
    let (old, new) = (was.from(1), now.from(2));
    let is_one_other = || old.first().zip(new.first()).is_some_and(|(old, new)| old.stem != new.stem);
    switches
        && was.verb == Some(0)
        && old.len() == new.len()
        && is_one_other()
        && telling(&old[1..]).next().is_some()
        && telling(&old[1..]).eq(telling(&new[1..]))
}

/// "Dana is on call", "Oskar takes over on call from Dana".
fn takes_over(was: &Clause, now: &Clause) -> bool {
    let over =
        now.words.windows(2).position(|pair| SUCCEEDING.contains(&&*pair[0].text) && pair[1].text == "over");
    let Some((over, who)) = over.zip(was.words.first()) else { return false };
    let behind = now.from(over + 2);
    let from = behind.windows(2).any(|pair| pair[0].text == "from" && pair[1].stem == who.stem);
    let of = |stem: &str| telling(was.from(1)).any(|word| word == stem);
    from && telling(behind).any(of)
}

/// "Use the staging key for demos", "don't use the staging key for demos any more": the same, but that one is denied.
fn is_opposite(was: &Clause, now: &Clause) -> bool {
    fn bare(clause: &Clause) -> impl Iterator<Item = &Word> {
        clause.words.iter().filter(|word| !is_denial(&word.text) && word.text != "do")
    }
    let orders = |clause: &Clause| bare(clause).next().is_some_and(|first| ORDERS.contains(&&*first.text));
    let are_same = || bare(was).map(|word| &word.stem).eq(bare(now).map(|word| &word.stem));
    was.denies() != now.denies()
        && telling(&now.words).nth(1).is_some()
        && orders(was)
        && orders(now)
        && are_same()
}

/// "Only Petra may merge", "anyone on the team may merge".
fn is_open_to_all(was: &Clause, now: &Clause) -> bool {
    fn may(clause: &Clause) -> Option<(&Word, &Word)> {
        let at = clause.words.iter().position(|word| ALLOWED.contains(&&*word.text))?;
        Some((clause.words.first()?, clause.words.get(at + 1)?))
    }
    let is_anybodys = |first: &Word| ANYBODY.contains(&&*first.text);
    if !was.is_limited || !now.words.first().is_some_and(is_anybodys) {
        return false;
    }
    may(was)
        .zip(may(now))
        .is_some_and(|((who, one), (all, other))| who.stem != all.stem && one.stem == other.stem)
}

/// "Sofia approves the expenses", "expenses are approved by Henrik".
fn is_done_by_another(was: &Clause, now: &Clause) -> bool {
    let Some(by) = now.words.iter().position(|word| word.text == "by") else { return false };
    let Some(([who, does], what)) = was.words.split_first_chunk::<2>() else { return false };
    let (before, names) = (now.words[..by].split_last(), now.from(by + 1));
    let Some((done, thing)) = before else { return false };
    let is_other = names.first().is_some_and(|name| name.is_name && name.stem != who.stem);
    is_other && done.stem == does.stem && telling(what).next().is_some() && telling(what).eq(telling(thing))
}

/// "My phone number ends in 4471", "my number ends in 9923 now": all that is said was said before, but for the value at the end.
fn ends_otherwise(was: &Clause, now: &Clause) -> bool {
    let split = |clause: &Clause| {
        let at = clause.words.iter().rposition(|word| PREPOSITIONS.contains(&&*word.text));
        at.filter(|at| *at > 0)
    };
    let (Some(old), Some(new)) = (split(was), split(now)) else { return false };
    let values = [was.from(old + 1), now.from(new + 1)];
    let kinds = values.map(Kind::of);
    let is_value = kinds[0].is_some()
        && kinds[0] == kinds[1]
        && (kinds[0] != Some(Kind::Word) || values.iter().all(|value| value.len() == 1))
        && telling(values[0]).ne(telling(values[1]));
    let known: Vec<&str> = telling(&was.words[..old]).collect();
    let said: Vec<&str> = telling(&now.words[..new]).collect();
    let is_known = |stem: &&str| known.iter().any(|word| are_forms(word, stem));
    let is_more = |stem: &&&str| !CHOOSING.contains(*stem) && !said.iter().any(|word| are_forms(word, stem));
    is_value
        && was.verb.is_some()
        && was.words[old].text == now.words[new].text
        && said.len() > 1
        && said.iter().all(is_known)
        && known.iter().filter(is_more).count() <= 1
        && !was.denies()
        && !now.denies()
}

/// Returns whether two stems are of one word: "show" and "shown".
fn are_forms(one: &str, other: &str) -> bool {
    let (short, long) = if one.len() < other.len() { (one, other) } else { (other, one) };
    one == other || short.len() >= LEAST_STEM && long.len() <= short.len() + 2 && long.starts_with(short)
}

/// "Marta is our contact", "Marta left, Piotr is our contact": the same of somebody else, and it is said that the first is no more.
fn is_succeeded(was: &Clause, now: &Clause, all: &[Clause]) -> bool {
    let Some((who, rest)) = was.words.split_first() else { return false };
    let Some((other, same)) = now.words.split_first() else { return false };
    let is_left = |clause: &Clause| {
        let first = clause.words.first();
        !std::ptr::eq(clause, now)
            && first.is_some_and(|first| first.stem == who.stem)
            && clause.words.len() <= 3
    };
    who.stem != other.stem
        && telling(rest).next().is_some()
        && rest.iter().map(|word| &word.stem).eq(same.iter().map(|word| &word.stem))
        && all.iter().any(is_left)
}

/// Letters of a stem that another form may go on from.
const LEAST_STEM: usize = 4;
