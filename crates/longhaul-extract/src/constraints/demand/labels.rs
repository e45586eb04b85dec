//! Labels that say what stands after them: `Rule:`, `**Important**:`, `规则：`.

use std::sync::LazyLock;

use hashbrown::HashMap;

use super::DemandKind;

/// Returns what the label says that opens `sentence`: `Rule:`, `**Important**:`, `One more thing to remember -`.
pub(in crate::constraints) fn label(sentence: &str) -> Option<DemandKind> {
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

const LABEL_CHARS: usize = 40;

/// Words that may stand beside the word that makes a label.
const FILLERS: &[&str] = &[
    "one", "more", "another", "a", "an", "the", "my", "our", "your", "thing", "things", "to", "please",
    "also", "very", "hard", "house", "project", "team", "code", "coding", "style", "general", "ground",
    "standing", "new", "last", "first", "second", "third", "and", "of", "for", "this", "that", "all", "big",
    "super", "key", "main", "current", "overall", "final", "small", "quick", "side", "is", "non-negotiable",
    "strict", "personal", "time", "you", "security", "testing", "design", "naming", "git", "api", "data",
    "no", "in", "it", "mind",
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
    "rule", "rules", "important", "constraint", "constraints", "requirement", "requirements", "policy",
    "convention", "conventions", "must", "mandatory", "guideline", "guidelines", "invariant", "warning",
    "caution", "attention", "critical", "never", "always", "restriction", "restrictions", "do", "don't",
    "dont", "don'ts", "regla", "importante", "atención", "obligatorio", "règle", "regle", "attention",
    "contrainte", "regel", "wichtig", "achtung", "vorgabe", "regra", "atenção", "правило", "важно",
    "внимание", "требование",
];

const FACT_LABELS: &[&str] = &[
    "remember", "note", "notes", "fact", "facts", "fyi", "nb", "reminder", "background", "heads-up", "heads",
    "record", "decision", "deadline", "budget", "recuerda", "nota", "hecho", "rappel", "note", "fait",
    "merke", "hinweis", "fakt", "notiz", "lembre-se", "fato", "помни", "запомни", "заметка", "факт",
];

const WISH_LABELS: &[&str] = &[
    "wish", "wishes", "preference", "preferences", "request", "deseo", "souhait", "wunsch", "wünsche",
    "desejo", "желание", "пожелание",
];

const GOAL_LABELS: &[&str] = &[
    "goal", "goals", "objective", "objectives", "aim", "purpose", "mission", "state", "status", "progress",
    "objetivo", "meta", "objectif", "but", "ziel", "stand", "цель", "статус", "состояние",
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
