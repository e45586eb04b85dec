//! Sentences that bind by how they are built, without a word of demand in the place where it demands: a condition and an order behind it, a
//! limit at the end, something that each of a kind needs, a permission that stops somewhere.

use super::{VERBS, Words, begins, begins_order, work::OCCASIONS};

/// Returns whether a sentence is a rule by how it is built.
pub(super) fn is_rule(words: &Words) -> bool {
    let first = words.text.split('|').next().unwrap_or_default();
    if words.begins(TELLERS) || first.split(' ').any(|word| OF_TROUBLE.contains(&word)) {
        return words.begins(ALLOWING) && stops_somewhere(words);
    }
    orders_under_a_condition(words)
        || orders_in_general(words)
        || is_limited(words)
        || names_what_each_needs(words)
        || is_wanted_on_each(words)
        || plural_does(words)
        || is_measured(words)
        || is_the_custom(words)
        || words.begins(ALLOWING) && stops_somewhere(words)
}

/// Returns whether nothing is set down: somebody thinks of what might be one day, or of what would follow.
pub(super) fn only_muses(words: &Words) -> bool {
    let forbids = ["never", "don't", "do not", "must not", "always"];
    let mut clauses = words.text.split('|').map(str::trim_start);
    let is_firm = clauses.any(|clause| begins(clause, &forbids) || begins_order(clause));
    let has = |phrases: &[&str]| phrases.iter().any(|phrase| words.has(phrase));
    let muses = words.begins(super::THINKS) && has(MUSING) || words.begins(&["could be", "might be"]);
    let is_case = words.begins(CASES) || words.begins(&["if", "unless"]) && has(WOULD_BE);
    let is_hearsay = has(HEARSAY) && !words.begins(&["i", "we"]);
    muses || (is_case || is_hearsay) && !is_firm
}

/// "Before you run anything slow, ask me"; "if you change C code, keep it C99"; "when you email suppliers keep me in cc".
fn orders_under_a_condition(words: &Words) -> bool {
    if words.begins(EACH_TIME_YOU) || is_on_each_occasion(words) && orders(&words.text) {
        return true;
    }
    if !words.begins(CONDITIONS) || words.begins(COURTESIES) {
        return false;
    }
    let text = words.text.trim_start();
    match text.split_once(" | ") {
        Some((_, behind)) if begins_order(behind) || begins(behind, &["please", "always", "first"]) => true,
        _ => text.split(' ').skip(4).take_while(|word| *word != "|").any(|word| VERBS.contains(&word)),
    }
}

fn orders(text: &str) -> bool {
    text.split(' ').any(|word| VERBS.contains(&word))
}

/// "At the end of each session", "before every push".
fn is_on_each_occasion(words: &Words) -> bool {
    let rest = EACH_TIME.iter().find_map(|each| words.text[1..].strip_prefix(each)?.strip_prefix(' '));
    rest.and_then(|rest| rest.split(' ').next())
        .is_some_and(|what| OCCASIONS.contains(&what.trim_end_matches("'s")))
}

/// "Generally: keep answers short"; "whatever you do, leave the format as it is".
fn orders_in_general(words: &Words) -> bool {
    let Some((opener, behind)) = words.body().split_once(" | ") else { return false };
    GENERAL.contains(&opener) && begins_order(behind.trim_start_matches("please "))
}

/// "Base images come from our registry only"; "docstrings in numpy style please, everywhere".
fn is_limited(words: &Words) -> bool {
    let text = words.text.trim_matches([' ', '|']);
    let n_words = text.split(' ').filter(|word| *word != "|").count();
    let ends = |clause: &str| clause.split(' ').count() > 2 && clause.ends_with(" everywhere");
    let mut clauses = text.split('|').map(|clause| clause.trim().trim_end_matches(" please"));
    let is_short = |clause: &str| {
        clause.ends_with(" only") && clause.split(' ').count() == 2 && !begins(clause, super::NOT_LIMITS)
    };
    let n_bans = clauses.clone().filter(|clause| super::forbids_clause(&format!("{clause} "))).count();
    n_bans > 1
        || text.contains('|') && clauses.clone().any(is_short)
        || n_words > 3 && text.trim_end_matches(" please").ends_with(" only")
        || clauses.any(|clause| clause == "everywhere" || ends(clause))
}

/// "Every change needs a line in the runbook".
fn names_what_each_needs(words: &Words) -> bool {
    let body = words.body();
    let Some(rest) = ["every ", "each ", "all ", "any "].iter().find_map(|each| body.strip_prefix(each))
    else {
        return false;
    };
    let is_of_somebody = begins(rest, &["i", "we", "you", "he", "she", "they"]);
    !is_of_somebody
        && rest.split(' ').skip(1).take(4).take_while(|word| *word != "|").any(|word| NEEDS.contains(&word))
}

/// "Type hints on each public function": what is wanted, and on what.
fn is_wanted_on_each(words: &Words) -> bool {
    let clause = words.text.split('|').next().unwrap_or_default().trim();
    let before = ON_EACH.iter().find_map(|on| Some(clause.split_once(on)?.0));
    let says = |word: &str| {
        FINITE.contains(&word) || VERBS.contains(&word) || word.ends_with("ed") || word.ends_with("ing")
    };
    before.is_some_and(|before| (1..=3).contains(&before.split(' ').count()) && !before.split(' ').any(says))
}

/// "Secrets never show up in logs", "public functions need an example"; "the secrets never show up" tells.
fn plural_does(words: &Words) -> bool {
    let said: Vec<&str> = words.text.split(' ').skip(1).take(5).collect();
    let is_plural = |word: &str| word.ends_with('s') && !word.ends_with("ss") && !word.contains('\'');
    let is_base = |verb: &str| !verb.ends_with('s') && !verb.ends_with("ed") && verb != "been";
    let binds = |verb: &str, next: &str| match verb {
        "never" => is_base(next),
        "need" => ["a", "an", "to", "no", "at"].contains(&next),
        _ => ALL_NEED.contains(&verb),
    };
    !words.begins(NAMING) && said.windows(3).any(|three| is_plural(three[0]) && binds(three[1], three[2]))
}

/// "One concern per commit", "max 100 columns", "the spending limit is 20 a day".
fn is_measured(words: &Words) -> bool {
    let mut each = words.body().split(' ');
    let first = each.next().unwrap_or_default();
    let is_number = |word: &str| word.starts_with(|c: char| c.is_ascii_digit());
    let counts = is_number(first) || COUNTS.contains(&first);
    let is_of_each = counts && words.body().split(' ').take(6).any(|word| word == "per");
    let is_limit = || words.has(" limit ") && words.text.split(" is ").skip(1).any(is_number);
    is_of_each || ["max", "maximum"].contains(&first) && each.next().is_some_and(is_number) || is_limit()
}

/// "SQL keywords in upper case, that's how we do it".
fn is_the_custom(words: &Words) -> bool {
    let customs = [
        " house rule ", " how we do it ", " how we do things ", " the way we do it ", " is our rule ",
        " is our gate ", " how we always ",
    ];
    let ours = words.begins(OUR_WAYS) && words.text.split(" |").any(|clause| clause.ends_with(" here"));
    ours || words.begins(WANTS_NONE) && !words.begins(WANTS) || customs.iter().any(|custom| words.has(custom))
}

/// "You may touch the manifest, but nothing else".
fn stops_somewhere(words: &Words) -> bool {
    let stops = [
        " but not ", " but nothing ", " nothing else ", " but only ", " but never ", " but no ",
        " but don't ",
    ];
    stops.iter().any(|stop| words.has(stop))
}

/// What opens a condition under which something is done each time.
const CONDITIONS: &[&str] = &[
    "before you",
    "if you",
    "when you",
    "whenever",
    "after you",
    "each time",
    "every time",
    "any time",
    "anytime",
    "before any",
    "after any",
    "before touching",
    "before changing",
    "before running",
    "before pushing",
    "before committing",
    "before deleting",
    "when changing",
    "when adding",
    "when writing",
    "when touching",
    "when in doubt",
    "if in doubt",
    "if unsure",
    "if anything is unclear",
    "if something is unclear",
];

/// What opens a condition that is only polite, or is met once.
const COURTESIES: &[&str] = &[
    "if you can", "if you could", "if you want", "if you like", "if you wish", "if you have", "if you need",
    "if you don't mind", "if you look", "if you see", "if you get", "if you ask", "if you are", "if you're",
    "when you can", "when you have", "when you are", "when you're", "when you get", "when you finish",
    "when you see", "after you finish", "after you have", "after you've", "before you go",
    "before you start", "before you continue",
];

/// What names each time that something is done.
const EACH_TIME_YOU: &[&str] = &["each time you", "every time you", "whenever you", "any time you"];

/// The same of an occasion.
const EACH_TIME: &[&str] = &[
    "at the end of each", "at the end of every", "after each", "after every", "before each", "before every",
    "on each", "on every", "in each", "in every", "for each", "for every", "with each", "with every",
];

/// How somebody tells how things are done where they are.
const OUR_WAYS: &[&str] = &[
    "we write", "we use", "we say", "we spell", "we call", "we name", "we keep", "we put", "we log", "we do",
    "we test",
];

/// What somebody does not want to be, and what begins alike and asks for something else.
const WANTS_NONE: &[&str] = &["i don't want", "i do not want", "we don't want"];
const WANTS: &[&str] = &[
    "i don't want to", "i do not want to", "i don't want the", "i don't want it", "i don't want this",
    "i don't want that", "i don't want them", "i do not want the", "i do not want it", "we don't want to",
    "we don't want the",
];

/// What opens an order that holds for all that is done.
const GENERAL: &[&str] = &[
    "generally",
    "in general",
    "as always",
    "as usual",
    "overall",
    "whatever you do",
    "whatever happens",
    "no matter what",
    "at all costs",
    "in any case",
    "by default",
    "for everything",
    "for the whole project",
    "for the rest of this",
    "for the rest of the session",
    "throughout",
    "in principle",
];

/// What each of a kind does where it is demanded.
const NEEDS: &[&str] = &[
    "needs", "need", "gets", "get", "requires", "require", "carries", "carry", "belongs", "belong", "lives",
    "live", "stays", "stay", "starts", "start", "ends", "end", "uses", "use", "must", "shall",
];

/// What all things of a kind do where it is demanded.
const ALL_NEED: &[&str] =
    &["get", "require", "carry", "belong", "live", "stay", "start", "end", "use", "go", "must", "shall"];

/// How many, where it is said per what.
const COUNTS: &[&str] = &["one", "two", "three", "a", "an", "no"];

/// Where something is wanted.
const ON_EACH: &[&str] = &[
    " on each ", " on every ", " on all ", " in every ", " in each ", " in all ", " to every ", " to each ",
    " with every ", " with each ",
];

/// Words that say what is, or what is felt, before "on each".
const FINITE: &[&str] = &[
    "is", "are", "was", "were", "has", "have", "had", "fails", "runs", "ran", "works", "happens", "thanks",
    "thank", "sorry", "same", "see", "look", "it", "this", "that", "i", "we", "you", "he", "she", "they",
    "there", "progress", "done", "went", "got", "gets", "takes", "took", "how", "what", "why",
];

/// What stands before things that are there already.
const NAMING: &[&str] = &[
    "the", "these", "those", "this", "his", "her", "their", "some", "most", "my", "users", "customers",
    "clients", "people", "things", "yes", "this", "always", "thanks",
];

/// How somebody allows something.
const ALLOWING: &[&str] = &[
    "you may", "you can", "you're allowed", "you are allowed", "feel free", "it's ok to", "it is ok to",
    "it's okay to", "it's fine to", "it is fine to", "go ahead and",
];

/// Who tells what is.
const TELLERS: &[&str] = &[
    "i", "i'm", "i've", "he", "she", "it", "it's", "they", "that", "that's", "there", "there's", "this",
    "you", "we've", "we had", "we were", "people", "the old",
];

/// Words of what goes wrong: who says them tells of it.
pub(super) const OF_TROUBLE: &[&str] = &[
    "error", "errors", "bug", "bugs", "crash", "crashes", "crashed", "fail", "fails", "failed", "failing",
    "failure", "failures", "flaky", "broken", "breaks", "broke", "happens", "happened", "slow", "weird",
    "wrong", "looked", "tried", "saw",
];

/// What says that somebody only thinks of something.
const MUSING: &[&str] = &[
    " think about ", " consider ", " at some point ", " some day ", " someday ", " one day ", " eventually ",
    " who knows ", " i guess ", " no idea ", " not sure ", " i wonder ", " not yet ", " should never have ",
];

/// What says that a case is not given.
const WOULD_BE: &[&str] = &[" we'd ", " i'd ", " they'd ", " would ", " could be ", " might ", " i suppose "];

/// What others say or think.
const HEARSAY: &[&str] = &[
    " claims ", " thinks ", " claim ", " reckons ", " reckon ", " argues ", " on the fence ", " swears by ",
];

/// What opens a case that is not given: what would follow is told.
const CASES: &[&str] = &[
    "if we", "if i", "if they", "if that", "if only", "suppose we", "i wonder", "wondering",
    "i read somewhere", "i heard", "i was told",
];

#[cfg(test)]
mod tests {
    use super::super::{demand_kind, is_passing};

    #[test]
    fn sentences_bind_by_how_they_are_built() {
        for rule in [
            "Base images come from registry.harborlight.example only.",
            "Before you run anything that takes more than a minute, ask me.",
            "Docstrings in numpy style please, everywhere.",
            "Every change needs a rollback line in the runbook docs/runbook.md.",
            "Generally: keep answers short, I read on my phone.",
            "I don't want to see any unwrap in non-test code, ever.",
            "If you change C code, keep it C99.",
            "Keep bundle size under 180 kB gzipped, CI checks it.",
            "Read-only on production: no kubectl apply, delete or edit there.",
            "Whatever you do, leave the wire format v2 byte-identical, three customers parse it by hand.",
            "secrets never show up in chat or logs, mask them",
            "type hints on each public function, mypy --strict is our gate",
            "you may touch Cargo.toml of gate now, but nothing else outside crates/gate and tests/",
        ] {
            assert!(demand_kind(rule).is_some() && !is_passing(rule), "{rule}");
        }
    }

    #[test]
    fn who_tells_muses_or_supposes_sets_nothing_down() {
        for said in [
            "If we settle on gRPC, the tests must change.",
            "If we went with server components we'd have to decide on a new host.",
            "Maybe we should think about moving to ArgoCD at some point.",
            "Nobody chose that, it was the default.",
            "The error comes from the staging cluster only.",
            "I looked everywhere.",
            "Every test fails since Tuesday.",
            "the same message on every request",
            "The handlers never get that far.",
            "thanks for all the help",
        ] {
            assert_eq!(demand_kind(said), None, "{said}");
        }
        assert!(is_passing("Ask Svenja."));
    }
}
