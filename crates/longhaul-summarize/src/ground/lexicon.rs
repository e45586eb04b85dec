//! Words that turn a sentence, and words that say nothing: lists, in the languages that conversations are held in.
//!
//! Lower case. A list that several languages share costs a few false matches and saves guessing the language of a
//! sentence; what the lists get right is measured in `figures.rs`.

pub(super) const NEGATIONS: &[&str] = &[
    "not", "no", "never", "none", "nothing", "neither", "without", "cannot", "against", "rejected", "reject",
    "rejects", "declined", "refused", "ruled", "discarded", "abandoned", "dropped", "dismissed", "cancelled",
    "canceled", "unless", "nor", "nicht", "kein", "keine", "keinen", "keinem", "keiner", "nichts", "ohne",
    "statt", "anstatt", "abgelehnt", "verworfen", "nie", "niemals", "pas", "jamais", "aucun", "nunca",
    "jamás", "não", "не", "нельзя", "никогда", "нет", "forbids", "forbid", "forbidden", "prohibits",
];
pub(super) const NEGATED_PARTS: &[&str] = &[
    "n't", "instead of", "rather than", "rule out", "不", "别", "勿", "没", "未", "ない", "しない", "않",
    "안 ",
];
pub(super) const DONE: &[&str] = &[
    "done", "completed", "finished", "fixed", "merged", "committed", "passes", "passed", "pass",
    "implemented", "deployed", "resolved", "shipped", "released", "landed", "works", "green", "erledigt",
    "fertig", "hecho", "listo", "terminé", "fait", "готово", "сделано",
];
/// Endings of the English past and of Spanish and Portuguese participles.
pub(super) const PAST_ENDINGS: &[&str] = &["ed", "ado", "ada", "ados", "adas"];
pub(super) const DEEDS: &[&str] = &[
    "set", "wrote", "written", "made", "put", "ran", "run", "built", "cut", "sent", "found", "split", "took",
    "taken",
];
pub(super) const ATTEMPTS: &[&str] =
    &["considered", "tried", "wanted", "planned", "started", "looked", "checked", "needed"];
pub(super) const PENDING: &[&str] = &[
    "todo", "next", "remaining", "pending", "later", "still", "yet", "will", "tomorrow", "plan", "need",
    "needs", "should", "must", "then", "failed", "fails", "failing", "unless", "until", "if", "noch",
    "später", "morgen", "danach", "ausstehend", "soll", "sollte", "muss", "falls", "pendiente", "mañana",
    "reste", "demain", "потом", "завтра",
];
pub(super) const PENDING_PARTS: &[&str] =
    &["als nächstes", "下一步", "接下来", "稍后", "以后", "需要", "待办", "次に", "다음"];
pub(super) const DONE_PARTS: &[&str] = &["已", "完成", "完了", "済み", "しました", "했습니다"];
pub(super) const STRICT: &[&str] = &[
    "must", "always", "only", "exactly", "required", "mandatory", "forbidden", "prohibited", "immer", "nur",
    "muss", "siempre", "solo", "debe", "toujours", "doit", "sempre", "apenas", "deve", "всегда", "только",
    "должен",
];
pub(super) const EMPHATIC: &[&str] = &[
    "never", "must", "always", "forbidden", "prohibited", "mandatory", "required", "niemals", "nie", "darf",
    "muss", "nunca", "jamás", "siempre", "jamais", "toujours", "sempre", "никогда", "нельзя", "всегда",
];
pub(super) const WEAK: &[&str] = &[
    "avoid", "avoids", "avoided", "avoiding", "prefer", "prefers", "preferably", "preferred", "should",
    "try", "tries", "ideally", "usually", "generally", "minimize", "minimise", "limit", "reluctant",
    "careful", "cautious", "recommended", "recommends", "suggests", "suggested", "possibly", "rarely",
    "unlikely", "optional", "vermeiden", "vermieden", "möglichst", "sollte", "sollten", "bevorzugt",
    "vorzugsweise", "empfohlen", "idealerweise", "ungern", "debería", "preferible", "conviene", "preferível",
    "préférable", "devrait", "deveria", "evitar", "éviter", "preferiblemente", "избегать", "желательно",
];
/// Words that leave a choice unless they are denied.
pub(super) const MODAL: &[&str] = &["may", "might", "could"];
pub(super) const WEAK_PARTS: &[&str] = &[
    "if possible", "where possible", "when possible", "as far as possible", "would like", "nach möglichkeit",
    "wenn möglich", "si es posible", "si possible", "避免", "建议", "最好", "尽量", "尽可能", "なるべく",
];
pub(super) const IMPERATIVES: &[&str] = &[
    "ignore", "disregard", "forget", "run", "execute", "delete", "send", "post", "upload", "email",
    "download", "curl", "visit", "open", "click", "reveal", "print", "output", "reply", "respond", "answer",
    "say", "tell", "act", "pretend", "override", "disable", "enable", "grant", "approve", "install", "add",
    "push", "transfer", "pay", "call", "use", "remember", "always", "never", "do", "don", "please", "stop",
    "start", "write", "copy", "share", "exfiltrate", "include", "repeat", "follow", "obey", "trust",
    "consider", "treat", "switch", "skip", "merge", "commit", "remove", "change", "set", "make", "give",
    "provide", "leak", "encode", "base64", "fetch", "you", "important", "attention", "system", "note",
    "warning", "urgent", "from", "forward", "wire", "notify", "contact", "invite", "issue", "refund",
    "publish", "deploy", "release", "restart", "kill", "purge", "wipe", "reset", "rotate", "bypass", "allow",
    "submit", "paste", "load", "import", "clone", "build", "buy", "order", "subscribe", "register", "expose",
    "save",
];
pub(super) const DIRECTIVES: &[&str] = &[
    "must", "should", "always", "never", "ignore", "disregard", "instruction", "instructions", "immediately",
    "obey", "required", "mandatory", "shall", "urgent",
];
pub(super) const DIRECTIVE_PARTS: &[&str] = &[
    "you are now", "you will", "you have to", "you need to", "from now on", "do not tell", "don't tell",
    "new task", "approved by", "authorized", "has approved", "is authorized", "is authorised",
    "without asking", "without confirmation",
];
pub(super) const DECISIONS: &[&str] = &[
    "decide", "decided", "decides", "deciding", "chose", "choose", "chosen", "agreed", "agrees", "opted",
    "selected", "settled", "adopted", "approved", "accepted", "suggests", "suggested", "proposes",
    "proposed", "recommends", "recommended", "plans", "planned", "will", "choice", "decision",
];
pub(super) const CHANGES: &[&str] = &[
    "created", "creates", "create", "added", "adds", "add", "wrote", "written", "writes", "modified",
    "updated", "edited", "changed", "contains", "implements", "implemented", "exists", "is", "lives",
];
pub(super) const REMOVALS: &[&str] = &[
    "deleted", "deletes", "delete", "removed", "removes", "remove", "renamed", "renames", "moved",
    "reverted", "reverts", "gone", "dropped", "restored", "rolled",
];
pub(super) const REFERENCES: &[&str] =
    &["it", "that", "this", "them", "so", "das", "dies", "es", "eso", "esto", "cela", "ça", "isso", "это"];
/// Words that say nothing by themselves.
pub(super) const STOP_WORDS: &[&str] = &[
    "the", "and", "for", "with", "that", "this", "from", "have", "has", "had", "was", "were", "been", "are",
    "its", "will", "would", "should", "could", "into", "then", "than", "they", "their", "there", "when",
    "what", "which", "who", "also", "just", "some", "more", "most", "such", "over", "user", "assistant",
    "about", "after", "before", "because", "but", "can", "did", "does", "not", "you", "your", "our", "now",
    "all", "any", "out", "use", "der", "die", "das", "und", "auf", "aus", "bei", "mit", "von", "vom", "zum",
    "zur", "für", "den", "dem", "dass", "ein", "eine", "einen", "einem", "einer", "ist", "sind", "wird",
    "werden", "wurde", "wurden", "habe", "hat", "haben", "darf", "soll", "sollte", "muss", "kann", "nicht",
    "kein", "keine", "keinen", "oder", "auch", "noch", "nach", "vor", "als", "wie", "wir", "ich", "sie",
    "sich", "una", "por", "para", "con", "une", "pour", "avec", "dans", "sur", "les", "des", "los", "las",
    "que",
];
