//! Whether a sentence demands something: a label, a word of demand where it demands, an order.

use std::{collections::HashMap, sync::LazyLock};

use serde::{Deserialize, Serialize};

use super::markers;

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

/// Returns what `sentence` demands, where it does.
pub(super) fn read(sentence: &str) -> Option<Reading> {
    if let Some(kind) = label(sentence) {
        return Some(Reading { kind, is_labelled: true });
    }
    let plain = |kind| Some(Reading { kind, is_labelled: false });
    let words = Words::of(sentence);
    let text = &*words.text;
    let is_question = sentence.trim_end().ends_with(['?', '？']);
    if is_question {
        let asks_politely =
            words.begins(POLITE) || words.after_opener().is_some_and(|rest| begins(rest, POLITE));
        let rule = [" make sure ", " never ", " always ", " don't ", " do not ", " only ", " without "];
        return if asks_politely && rule.iter().any(|rule| text.contains(rule)) {
            plain(DemandKind::Wish)
        } else {
            None
        };
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
    if is_wish(sentence, &words) { plain(DemandKind::Wish) } else { None }
}

/// Returns what the label says that opens `sentence`: `Rule:`, `**Important**:`, `One more thing to remember -`.
pub(super) fn label(sentence: &str) -> Option<DemandKind> {
    let sentence = sentence.trim_start_matches(['*', '_', '`', '[', '(', '"', '⚠', '❗', '\u{fe0f}', ' ']);
    let end = sentence.char_indices().take(LABEL_CHARS).find_map(|(at, c)| {
        let rest = &sentence[at..];
        let is_end = matches!(c, ':' | '：' | '!' | '！' | ']' | ')')
            || [" - ", " – ", " — "].iter().any(|dash| rest.starts_with(dash));
        is_end.then_some((at, c))
    });
    let (end, mark) = end.filter(|(end, _)| !sentence[..*end].contains(". "))?;
    let words: Vec<String> = sentence[..end]
        .split(|c: char| !(c.is_alphanumeric() || c == '\'' || c == '-'))
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    let known = |word: &String| LABELS.get(word.as_str()).copied();
    if let Some((_, kind)) = WIDE_LABELS.iter().find(|(name, _)| sentence[..end].trim() == *name) {
        return Some(*kind);
    }
    let kind = words.iter().find_map(known)?;
    let is_number = |word: &String| word.bytes().all(|byte| byte.is_ascii_digit());
    let is_filler =
        |word: &String| known(word).is_some() || FILLERS.contains(&word.as_str()) || is_number(word);
    let ends = words.iter().rfind(|word| !is_number(word)).and_then(known).is_some();
    let begins = words.first().and_then(known).is_some()
        && words.get(1).is_some_and(|word| matches!(word.as_str(), "of" | "for" | "to" | "in" | "on"));
    let is_label = match mark {
        ':' | '：' => (ends || begins) && (words.len() <= 4 || words.iter().all(is_filler)),
        _ => ends && words.iter().all(is_filler),
    };
    (words.len() <= 6 && is_label).then_some(kind)
}

/// The words of a sentence in lower case with one blank between, clause marks kept as words of their own.
struct Words {
    text: String,
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
        Words { text }
    }

    /// Returns the text from each place where a clause may begin.
    fn clauses(&self) -> impl Iterator<Item = &str> {
        let text = &*self.text;
        let mut starts = vec![1.min(text.len())];
        for (at, _) in text.match_indices("| ") {
            starts.push(at + 2);
        }
        for opener in OPENERS {
            starts.extend(text.match_indices(opener).map(|(at, _)| at + opener.len()));
        }
        starts.into_iter().map(move |start| &text[start..])
    }

    fn begins(&self, phrases: &[&str]) -> bool {
        begins(&self.text[1..], phrases)
    }

    fn after_opener(&self) -> Option<&str> {
        OPENERS.iter().find_map(|opener| self.text.strip_prefix(opener))
    }

    fn has(&self, phrase: &str) -> bool {
        self.text.contains(phrase)
    }
}

fn begins(text: &str, phrases: &[&str]) -> bool {
    phrases.iter().any(|phrase| text.strip_prefix(phrase).is_some_and(|rest| rest.starts_with(' ')))
}

fn is_rule(words: &Words) -> bool {
    let opens = words.clauses().any(|clause| begins(clause, ORDERS_OPEN))
        || words.begins(&["nothing", "nobody", "no one", "none of", "not"]);
    // "No, that is wrong" answers; "no console logs" orders.
    let forbids = words.clauses().take(1).chain(words.after_opener()).any(|clause| {
        clause.strip_prefix("no ").is_some_and(|rest| {
            !rest.starts_with('|') && !begins(rest, &["problem", "worries", "idea", "need"])
        })
    });
    let first = |phrase: &&&str| words.has(&format!(" {phrase} "));
    let modal = MODALS.iter().find(first).is_some_and(|modal| {
        let before = words.text.split(&format!(" {modal} ")).next().unwrap_or_default();
        let subject = before.rsplit(' ').next().unwrap_or_default();
        let asks = ["should we", "should i", "must we", "must i"].iter().any(|asks| words.begins(&[asks]));
        !matches!(subject, "i" | "i'd" | "i'll" | "he" | "she")
            && !asks
            && !EPISTEMIC.iter().any(|weak| words.has(weak))
    });
    let stands = STANDING.iter().any(|phrase| words.has(phrase));
    opens || forbids || modal || stands
}

fn is_wish(sentence: &str, words: &Words) -> bool {
    let orders = words.clauses().take(1).chain(words.after_opener()).any(|clause| begins(clause, VERBS))
        || words.text.contains(" please ") && words.clauses().any(|clause| begins(clause, VERBS));
    let limits = QUALIFIERS.iter().any(|phrase| words.has(phrase));
    let contrast = sentence.contains(", not ")
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
}

const LABEL_CHARS: usize = 40;

const POLITE: &[&str] = &["can you", "could you", "would you", "will you", "please", "can we", "could we"];

/// Words after which a clause begins.
const OPENERS: &[&str] = &[
    " and ",
    " but ",
    " so ",
    " then ",
    " please ",
    " also ",
    " just ",
    " ok ",
    " okay ",
    " yeah ",
    " yes ",
    " now ",
    " alright ",
    " well ",
    " otherwise ",
    " or ",
    " hey ",
    " that ",
    " because ",
    " to ",
    " again ",
    " further ",
    " therefore ",
];

/// What opens a clause that gives an order to be kept.
const ORDERS_OPEN: &[&str] = &[
    "never",
    "always",
    "don't",
    "dont",
    "do not",
    "avoid",
    "make sure",
    "ensure",
    "be sure",
    "make certain",
    "only",
    "under no circumstances",
    "at no point",
    "not a single",
    "stick to",
    "stick with",
    "no more",
    "we never",
    "we always",
    "we only",
    "you never",
    "you always",
    "you only",
    "we don't want",
    "we do not want",
    "we don't use",
    "we don't need",
    "we do not need",
    "we do not use",
    "you can't",
    "you cannot",
    "you can only",
    "you may not",
    "you may only",
    "we can't",
    "we cannot",
    "let's not",
    "let's never",
    "let's always",
    "let's only",
    "refrain from",
    "keep your hands off",
    "everything must",
];

/// Words of duty, wherever they stand.
const MODALS: &[&str] = &[
    "must",
    "mustn't",
    "should",
    "shouldn't",
    "shall",
    "have to",
    "has to",
    "needs to",
    "need to",
    "may not",
    "may only",
    "ought to",
    "supposed to",
    "is required",
    "are required",
    "is mandatory",
    "are mandatory",
    "is forbidden",
    "are forbidden",
    "is prohibited",
    "are prohibited",
    "not allowed",
    "is banned",
    "are banned",
    "can't be",
    "cannot be",
    "is not to be",
    "are not to be",
    "is to be",
    "are to be",
];

/// What looks like duty and only guesses.
const EPISTEMIC: &[&str] = &[
    " must have ",
    " should have been ",
    " should work ",
    " should be fine ",
    " should be ok ",
    " should be good ",
    " should be able ",
    " should be enough ",
    " don't have to ",
    " doesn't have to ",
    " would have to ",
    " might need to ",
];

/// What sets a rule in the middle of a sentence.
const STANDING: &[&str] = &[
    " is always ",
    " are always ",
    " is never ",
    " are never ",
    " is only ",
    " are only ",
    " stays ",
    " stay on ",
    " off limits ",
    " off-limits ",
    " out of bounds ",
    " hands off ",
    " read-only ",
    " from now on ",
    " going forward ",
    " as a rule ",
    " under any circumstances ",
    " under no circumstances ",
    " without asking ",
    " without my ",
    " without approval ",
    " without permission ",
    " at most ",
    " at least ",
    " no more than ",
    " no less than ",
    " no later than ",
    " no longer than ",
    " not more than ",
    " at all times ",
    " must never ",
    " never ever ",
    " let's do ",
    " non-negotiable ",
    " go in ",
    " goes in ",
    " belong in ",
    " belongs in ",
    " go through ",
    " goes through ",
    " go to ",
    " goes to ",
    " can only ",
    " needs approval ",
    " need approval ",
    " only if ",
    " only when ",
    " only after ",
    " only with ",
    " only in ",
    " only on ",
    " only from ",
    " unless ",
];

/// Phrases that open a clause and say what it is.
const PHRASES: &[(&[&str], DemandKind)] = &[
    (
        &[
            "remember that",
            "remember to",
            "remember |",
            "remember",
            "note that",
            "keep in mind",
            "bear in mind",
            "for the record",
            "don't forget",
            "do not forget",
            "fyi",
            "be aware",
            "heads up",
            "just so you know",
            "for your information",
        ],
        DemandKind::Fact,
    ),
    (
        &[
            "from now on",
            "going forward",
            "as a rule",
            "the rule is",
            "rule of thumb",
            "in this project",
            "in this repo",
            "our convention",
            "our policy",
            "the convention",
            "the policy",
        ],
        DemandKind::Rule,
    ),
    (
        &[
            "the goal",
            "my goal",
            "our goal",
            "the aim",
            "the objective",
            "the end goal",
            "what we want",
            "what i want",
        ],
        DemandKind::Goal,
    ),
    (
        &[
            "i want",
            "i'd like",
            "i would like",
            "i prefer",
            "i'd prefer",
            "i would prefer",
            "i'd rather",
            "we prefer",
            "we want",
            "we'd like",
            "i need you",
            "it would be nice",
            "it would be great",
            "i expect",
            "i insist",
            "let's",
            "i wish",
            "my preference",
        ],
        DemandKind::Wish,
    ),
];

/// What opens a thought, not a wish.
const SUPPOSES: &[&str] = &["let's say", "let's see", "let's look", "let's assume", "let's suppose"];

/// What makes an order one that limits how something is done.
const QUALIFIERS: &[&str] = &[
    " only ",
    " instead ",
    " rather than ",
    " without ",
    " before ",
    " unless ",
    " until ",
    " every ",
    " all ",
    " any ",
    " each ",
    " whenever ",
    " when ",
    " if ",
    " always ",
    " never ",
    " no ",
    " not ",
    " under ",
    " max ",
    " maximum ",
    " over ",
    " except ",
    " same ",
    " as is ",
];

/// Verbs that open an order that lasts.
const STANDING_VERBS: &[&str] = &[
    "use", "keep", "prefer", "follow", "treat", "leave", "respect", "preserve", "pin", "cap", "limit",
    "restrict", "default", "support", "format", "prefix", "suffix", "stick", "stay", "name", "write", "put",
    "log", "store", "target", "assume", "answer", "reply", "quote", "round", "sort", "wrap", "call", "ask",
];

/// Verbs that open an order.
const VERBS: &[&str] = &[
    "use", "keep", "prefer", "follow", "treat", "leave", "respect", "preserve", "pin", "cap", "limit",
    "restrict", "default", "support", "format", "prefix", "suffix", "stick", "stay", "name", "write", "put",
    "log", "store", "target", "assume", "answer", "reply", "quote", "round", "sort", "wrap", "call", "ask",
    "add", "remove", "delete", "rename", "update", "create", "commit", "push", "test", "check", "verify",
    "tell", "stop", "start", "wait", "give", "show", "fix", "change", "set", "move", "copy", "open", "read",
    "print", "return", "run", "save", "send", "generate", "make", "mark", "report", "include", "exclude",
    "skip", "ignore", "drop", "merge", "rebase", "squash", "sign", "build", "deploy", "release", "document",
    "explain", "do", "let", "take", "pass", "throw", "raise", "catch", "handle", "validate", "escape",
    "cache", "retry", "hold", "bump",
];

/// Words that may stand beside the word that makes a label.
const FILLERS: &[&str] = &[
    "one",
    "more",
    "another",
    "a",
    "an",
    "the",
    "my",
    "our",
    "your",
    "thing",
    "things",
    "to",
    "please",
    "also",
    "very",
    "hard",
    "house",
    "project",
    "team",
    "code",
    "coding",
    "style",
    "general",
    "ground",
    "standing",
    "new",
    "last",
    "first",
    "second",
    "third",
    "and",
    "of",
    "for",
    "this",
    "that",
    "all",
    "big",
    "super",
    "key",
    "main",
    "current",
    "overall",
    "final",
    "small",
    "quick",
    "side",
    "is",
    "non-negotiable",
    "strict",
    "personal",
    "time",
    "you",
    "security",
    "testing",
    "design",
    "naming",
    "git",
    "api",
    "data",
    "no",
    "in",
    "it",
    "mind",
];

static LABELS: LazyLock<HashMap<&'static str, DemandKind>> = LazyLock::new(|| {
    let of = |kind, words: &'static [&'static str]| words.iter().map(move |word| (*word, kind));
    of(DemandKind::Rule, RULE_LABELS)
        .chain(of(DemandKind::Fact, FACT_LABELS))
        .chain(of(DemandKind::Wish, WISH_LABELS))
        .chain(of(DemandKind::Goal, GOAL_LABELS))
        .collect()
});

const RULE_LABELS: &[&str] = &[
    "rule",
    "rules",
    "important",
    "constraint",
    "constraints",
    "requirement",
    "requirements",
    "policy",
    "convention",
    "conventions",
    "must",
    "mandatory",
    "guideline",
    "guidelines",
    "invariant",
    "warning",
    "caution",
    "attention",
    "critical",
    "never",
    "always",
    "restriction",
    "restrictions",
    "do",
    "don't",
    "dont",
    "don'ts",
    "regla",
    "importante",
    "atención",
    "obligatorio",
    "règle",
    "regle",
    "attention",
    "contrainte",
    "regel",
    "wichtig",
    "achtung",
    "vorgabe",
    "regra",
    "atenção",
    "правило",
    "важно",
    "внимание",
    "требование",
];

const FACT_LABELS: &[&str] = &[
    "remember",
    "note",
    "notes",
    "fact",
    "facts",
    "fyi",
    "nb",
    "reminder",
    "background",
    "heads-up",
    "heads",
    "record",
    "decision",
    "decided",
    "agreed",
    "deadline",
    "budget",
    "recuerda",
    "nota",
    "hecho",
    "rappel",
    "note",
    "fait",
    "merke",
    "hinweis",
    "fakt",
    "notiz",
    "lembre-se",
    "fato",
    "помни",
    "запомни",
    "заметка",
    "факт",
];

const WISH_LABELS: &[&str] = &[
    "wish",
    "wishes",
    "preference",
    "preferences",
    "request",
    "deseo",
    "souhait",
    "wunsch",
    "wünsche",
    "desejo",
    "желание",
    "пожелание",
];

const GOAL_LABELS: &[&str] = &[
    "goal",
    "goals",
    "objective",
    "objectives",
    "aim",
    "purpose",
    "mission",
    "state",
    "status",
    "progress",
    "objetivo",
    "meta",
    "objectif",
    "but",
    "ziel",
    "stand",
    "цель",
    "статус",
    "состояние",
];

const WIDE_LABELS: &[(&str, DemandKind)] = &[
    ("规则", DemandKind::Rule),
    ("重要", DemandKind::Rule),
    ("注意", DemandKind::Rule),
    ("要求", DemandKind::Rule),
    ("ルール", DemandKind::Rule),
    ("规定", DemandKind::Rule),
    ("约束", DemandKind::Rule),
    ("记住", DemandKind::Fact),
    ("备注", DemandKind::Fact),
    ("事实", DemandKind::Fact),
    ("覚えて", DemandKind::Fact),
    ("メモ", DemandKind::Fact),
    ("目标", DemandKind::Goal),
    ("目標", DemandKind::Goal),
    ("状态", DemandKind::Goal),
    ("希望", DemandKind::Wish),
];
