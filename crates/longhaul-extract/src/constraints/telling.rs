//! What two sentences are compared by: what each names, forbids or allows, and what it claims.

use std::{cell::RefCell, collections::BTreeSet, sync::Arc};

use crate::{claims::Claim, memo::Memo};

use super::{
    DemandKind, content_words, demand,
    markers::{Revocation, forbids, lifts, permits, revocation},
    naming::Naming,
    taken_back::{FORGET, begins},
    things::Things,
};

/// What a sentence is compared by.
#[derive(Debug)]
pub(super) struct Telling {
    pub(super) words: BTreeSet<String>,
    pub(super) forbids: bool,
    pub(super) permits: bool,
    /// It takes something back.
    pub(super) lets_go: bool,
    /// What each of its clauses names, without endings, where it is a rule or allows something.
    clauses: Vec<BTreeSet<String>>,
    /// What it names: of the folder, the one of orders.
    pub(super) naming: Naming,
    things: Things,
    /// What it wants something for: "use tabs for the tables".
    thing: BTreeSet<String>,
    /// What it claims.
    pub(super) claim: Option<Arc<Claim>>,
}

thread_local! {
    static TELLING: RefCell<Memo<Telling>> = RefCell::default();
    static LIFTING: RefCell<Memo<Option<Lifting>>> = RefCell::default();
}

impl Telling {
    pub(super) fn of(sentence: &str) -> Arc<Telling> {
        Memo::read(&TELLING, sentence, Telling::read)
    }

    fn read(sentence: &str) -> Telling {
        let forbids = forbids(sentence) || demand::forbids_first(sentence);
        let permits = !forbids && (permits(sentence) || lifts(sentence));
        let is_rule =
            || demand::read(sentence).is_some_and(|read| read.kind == DemandKind::Rule || read.is_labelled);
        let is_compared = forbids || permits || is_rule();
        let clauses = sentence.split([',', ';', '.', ':']).filter(|_| is_compared);
        let clauses = clauses.map(stems).filter(|stems| !stems.is_empty()).collect();
        Telling {
            words: content_words(sentence),
            forbids,
            permits,
            lets_go: revocation(sentence) == Some(Revocation::LetsGo),
            clauses,
            naming: Naming::of(sentence),
            things: Things::of(sentence),
            thing: sentence.split_once(FOR).map(|(_, thing)| stems(thing)).unwrap_or_default(),
            claim: Claim::of(sentence),
        }
    }

    /// Returns whether `by` says otherwise what this says, or may.
    pub(super) fn may_be_lifted(&self, by: &Lifting) -> bool {
        let claims = self.claim.as_ref().zip(by.claim.as_ref());
        let is_overtaken = claims.is_some_and(|(was, now)| was.is_overtaken_alone(now));
        is_overtaken && self.is_of_the_same(by) || self.may_be_allowed(by)
    }

    /// Returns whether what they name is the same, as far as they say.
    pub(super) fn is_of_the_same(&self, by: &Lifting) -> bool {
        !self.naming.is_of_another(&by.naming) && !self.things.are_others(&by.things)
    }

    /// Returns whether `by` allows or changes what this rule is of, or turns round what this allows: a third of what one of its
    /// clauses names is there.
    pub(super) fn may_be_allowed(&self, by: &Lifting) -> bool {
        let shares = |clause: &BTreeSet<String>| {
            let shared = clause.intersection(&by.stems).count();
            shared > 0 && shared * 3 >= clause.len()
        };
        let is_of = if self.permits { by.turns } else { by.allows && !(self.forbids && by.only_forbids) };
        // Who takes one thing back, and then another in the same words, means both.
        let are_alike = self.lets_go && by.lets_go && !self.permits;
        let is_for_the_same = || !self.thing.is_disjoint(&by.thing);
        is_of
            && !are_alike
            && !self.naming.is_of_another(&by.naming)
            && !self.things.are_others(&by.things)
            && (self.clauses.iter().any(shares) || is_for_the_same())
    }
}

/// What a sentence allows, changes, turns round, or says otherwise.
#[derive(Debug)]
pub(super) struct Lifting {
    stems: BTreeSet<String>,
    /// What something else is chosen for in the place of what is taken back by its name.
    thing: BTreeSet<String>,
    naming: Naming,
    things: Things,
    /// It takes something back.
    lets_go: bool,
    /// It allows or changes what was forbidden.
    allows: bool,
    /// It forbids what was allowed, or goes back on it.
    turns: bool,
    /// It forbids something, and lets nothing go: what was forbidden before is so still.
    only_forbids: bool,
    /// What it says otherwise.
    claim: Option<Arc<Claim>>,
}

impl Lifting {
    /// Reads a sentence; most say nothing of the kind.
    pub(super) fn by(sentence: &str) -> Arc<Option<Lifting>> {
        Memo::read(&LIFTING, sentence, Lifting::read)
    }

    fn read(sentence: &str) -> Option<Lifting> {
        let reads = demand::read(sentence).is_some();
        let lower = sentence.to_lowercase();
        let forbids =
            reads && (forbids(sentence) || format!(" {lower}").contains(" no ")) || lower.contains(" so no ");
        let revocation = revocation(sentence);
        let (changes, lets_go) = (revocation.is_some(), revocation == Some(Revocation::LetsGo));
        let permits = clauses(sentence).any(|clause| permits(clause) && !self::forbids(clause));
        let allows = changes || permits;
        let only_forbids =
            !permits && !lets_go && (self::forbids(sentence) || demand::forbids_first(sentence));
        let turns = forbids || changes || demand::goes_back(sentence);
        let asks = sentence.trim_end().trim_end_matches('!').ends_with(['?', '？']);
        let choice = Choice::of(sentence);
        // Neither a remark nor what is asked for now is a rule for that it is near to what was demanded.
        let claim = Claim::of(sentence).filter(|claim| claim.lasts());
        (!asks && (allows || turns || claim.is_some())).then(|| Lifting {
            stems: choice.parts.iter().copied().flat_map(stems).collect(),
            thing: choice.things.iter().copied().flat_map(stems).collect(),
            naming: Naming::of(sentence),
            things: Things::of(sentence),
            lets_go,
            allows,
            turns,
            only_forbids,
            claim,
        })
    }
}

/// What is taken back in a sentence and what is chosen in its place, apart from the thing that it is chosen for: "the lathe instead of the
/// mill for the front door" says nothing of what else was said about the door.
struct Choice<'s> {
    parts: Vec<&'s str>,
    things: Vec<&'s str>,
}

impl Choice<'_> {
    fn of(sentence: &str) -> Choice<'_> {
        if let Some((before, behind)) = sentence.split_once(INSTEAD) {
            let end = behind.find(FOR).map_or(sentence.len(), |at| before.len() + INSTEAD.len() + at);
            return Choice { parts: vec![&sentence[..end]], things: Vec::new() };
        }
        let mut choice = Choice { parts: vec![sentence], things: Vec::new() };
        let Some(end) = sentence.find([',', ';', ':', '.']).filter(|end| names_what_goes(&sentence[..*end]))
        else {
            return choice;
        };
        choice.parts = vec![&sentence[..end]];
        for clause in sentence[end..].split([',', ';', ':', '.']) {
            // What goes elsewhere is named before that, and what it is chosen for behind it.
            let moved = MOVES.iter().find_map(|words| clause.split_once(words));
            let (thing, clause) = moved.map_or(("", clause), |(thing, to)| (thing, to));
            let (clause, purpose) = clause.split_once(FOR).unwrap_or((clause, ""));
            choice.parts.push(clause);
            choice.things.extend([thing, purpose]);
        }
        choice
    }
}

/// Returns whether a clause takes back something that it names: "forget what I said about the mill", "strike Odessane".
fn names_what_goes(clause: &str) -> bool {
    let lower = clause.to_lowercase();
    let mut rest = FORGET.iter().chain(&["strike ", "scratch "]).filter_map(|words| {
        let at = lower.find(words).filter(|at| begins(&lower[..*at]))?;
        Some(&lower[at + words.len()..])
    });
    rest.next().is_some_and(|rest| !stems(rest.strip_prefix("what i said").unwrap_or(rest)).is_empty())
}

/// Returns the parts of a sentence that may each allow or forbid for itself.
fn clauses(sentence: &str) -> impl Iterator<Item = &str> {
    let parts = sentence.split([',', ';', '.', ':']).flat_map(|part| part.split(" but "));
    // "Vale, revisa la rama" allows nothing.
    parts.filter(|part| part.split_whitespace().nth(1).is_some())
}

/// Returns the beginnings of what a sentence names: words of four letters, and shorter ones in capitals or without a vowel (`npm`).
pub(super) fn stems(sentence: &str) -> BTreeSet<String> {
    let short = sentence.split(|c: char| !c.is_alphanumeric());
    let is_name = |word: &&str| {
        let is_short = (2..4).contains(&word.len()) && word.chars().all(|c| c.is_ascii_alphabetic());
        let spells = word.chars().all(|c| c.is_ascii_uppercase())
            || !word.to_lowercase().contains(['a', 'e', 'i', 'o', 'u', 'y']);
        is_short && spells && !["pls", "plz", "thx", "btw", "tbh", "hmm", "msg"].contains(word)
    };
    let short = short.filter(is_name);
    let words = content_words(sentence).into_iter().filter(|word| !DOES_ANYTHING.contains(&&**word));
    words.map(|word| stem(&word).to_owned()).chain(short.map(str::to_lowercase)).collect()
}

/// Words that tell of nothing what it is.
const DOES_ANYTHING: [&str; 33] = [
    "nada", "nothing", "anything", "everything", "nichts", "alles", "rien", "tout", "todo", "take", "keep",
    "give", "send", "want", "need", "look", "does", "done", "doing", "going", "nehmen", "machen", "geben",
    "gehen", "usar", "hacer", "faire", "mettre", "puedes", "puede", "peux", "kannst", "darfst",
];

/// Returns a word without an ending of English, German or Spanish, where enough is left.
pub(super) fn stem(word: &str) -> &str {
    const ENDINGS: [&str; 12] =
        ["ments", "ment", "ings", "ing", "tions", "ions", "ion", "ed", "es", "en", "s", "e"];
    let stems = ENDINGS.iter().filter_map(|ending| word.strip_suffix(ending));
    stems.into_iter().find(|stem| stem.len() >= 4 || stem.len() == 3 && word.len() <= 6).unwrap_or(word)
}

/// What stands before the thing that something is chosen for.
const FOR: &str = " for ";

/// What stands between what is chosen and what it takes the place of.
const INSTEAD: &str = " instead of ";

/// What stands behind a thing that goes to something else.
const MOVES: [&str; 3] = [" moves to ", " is moved to ", " goes to "];
