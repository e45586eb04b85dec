//! The words by which two claims are compared.

/// Returns whether one of `phrases`, each with a blank at both ends, stands in a text of words with one blank around each.
pub(super) fn is_among(phrases: &[&str], padded: &str) -> bool {
    phrases.iter().any(|phrase| padded.contains(phrase))
}

/// What says that something is otherwise than it was.
pub(super) const MARKS: &[&str] = &[
    " now ", " instead ", " from now on ", " from today ", " from tomorrow ", " as of ", " since ",
    " any more ", " anymore ", " again ", " correction ", " update ", " change of plan ",
    " change of plans ", " actually ", " second thought ", " second thoughts ", " changed my mind ",
    " no longer ", " after all ", " these days ", " going forward ", " in future ", " in the future ",
    " moved ", " switched ", " from here on ", " i was wrong ", " changed it ", " make that ", " make it ",
    " newly ", " henceforth ",
];

/// Who says these claims nothing: it is supposed, asked about, or said by others.
pub(super) const UNSURE: &[&str] = &[
    " maybe ", " perhaps ", " might ", " could ", " if ", " unless ", " whether ", " suppose ", " wonder ",
    " would ", " said ", " says ", " thinks ", " think ", " wrote ", " asked ", " asks ", " probably ",
    " seems ", " apparently ", " not only ", " claims ", " next ",
];

/// What opens a question, or a case.
pub(super) const WHETHER: &[&str] = &[
    "should ", "could ", "can ", "would ", "what ", "why ", "how ", "where ", "who ", "when ", "which ",
    "imagine ", "is ", "are ", "do we ", "does ", "did ",
];

/// Words that open a clause and say nothing.
pub(super) const OPENERS: &[&str] = &[
    "ok", "okay", "well", "so", "and", "but", "actually", "now", "please", "just", "also", "correction",
    "update", "btw", "fyi", "sorry", "hm", "hmm", "right", "yes", "yeah", "no", "always", "then", "wait",
    "oh", "good", "fine", "thanks", "great", "henceforth", "first", "note",
];

/// The same in several words.
pub(super) const OPENING_PHRASES: &[&[&str]] = &[
    &["by", "the", "way"],
    &["for", "the", "record"],
    &["change", "of", "plan"],
    &["change", "of", "plans"],
    &["on", "second", "thought"],
    &["on", "second", "thoughts"],
    &["from", "now", "on"],
    &["from", "today", "on"],
    &["from", "here", "on"],
    &["as", "of", "today"],
    &["as", "of", "now"],
    &["going", "forward"],
    &["in", "future"],
    &["you", "can"],
    &["you", "may"],
    &["you", "should"],
    &["you", "must"],
    &["make", "that"],
    &["make", "it"],
    &["let's"],
    &["let"],
    &["lets"],
    &["i", "decided", "that"],
    &["we", "decided", "that"],
    &["i", "want", "you", "to"],
    &["make", "sure", "to"],
    &["make", "sure", "that"],
    &["note", "that"],
    &["remember", "that"],
];

/// What ends a clause that has said all before: since when it holds.
pub(super) const AFTERTHOUGHTS: &[&[&str]] = &[
    &["since"],
    &["as", "of"],
    &["from", "now", "on"],
    &["from", "today"],
    &["from", "tomorrow"],
    &["from", "here", "on"],
    &["these", "days"],
    &["any", "more"],
    &["any", "longer"],
    &["for", "now"],
    &["at", "the", "moment"],
    &["after", "all"],
    &["going", "forward"],
    &["in", "future"],
    &["in", "the", "future"],
    &["to", "be", "clear"],
];

/// Words that say nothing of a thing.
pub(super) const ARTICLES: &[&str] = &["the", "a", "an", "our", "my", "its", "their"];

/// When or how surely something is said.
pub(super) const ADVERBS: &[&str] = &[
    "now", "again", "instead", "here", "please", "currently", "always", "already", "still", "actually",
    "anymore", "just", "too", "newly", "today", "only",
];

/// Words that tell nothing of what a sentence is about.
pub(super) const EMPTY: &[&str] = &[
    "is", "are", "was", "were", "be", "been", "being", "will", "would", "shall", "should", "must", "may",
    "can", "has", "have", "had", "do", "does", "did", "it", "this", "that", "these", "those", "there", "we",
    "i", "you", "he", "she", "they", "me", "us", "them", "of", "for", "in", "on", "at", "to", "from", "by",
    "with", "under", "into", "as", "and", "or", "but", "than", "per", "up", "so", "if", "when", "then",
    "about", "your", "his", "her", "'ll", "we'll", "i'll", "any", "all", "every", "each", "more", "most",
    "some", "get", "got", "instead", "rather", "let", "first", "what", "which", "who", "out", "over", "also",
    "mr", "mrs", "ms", "dr",
];

/// Who opens a clause that says what they do.
pub(super) const PERSONS: &[&str] = &["we", "i", "you", "we'll", "i'll", "we've", "i've", "let's"];

/// What somebody did: it is told, and sets nothing down.
pub(super) const DID: &[&str] =
    &["had", "got", "ran", "did", "made", "saw", "went", "took", "found", "was", "were", "put", "read"];

/// Words that say what a thing is.
pub(super) const BEING: &[&str] = &[
    "is", "are", "will", "shall", "should", "must", "may", "becomes", "become", "remains", "stays", "stay",
    "called", "named", "be",
];

/// Words that say what a thing has, where it is, or when it happens.
pub(super) const HAVING: &[&str] = &[
    "has", "have", "uses", "runs", "listens", "lives", "ends", "begins", "starts", "expires", "closes",
    "opens", "costs", "takes", "goes", "go", "belongs", "belong", "needs", "supports", "sits", "lies",
    "happens", "reads", "writes", "points", "speaks", "deploys", "ships", "weighs", "reports", "answers",
    "expects", "holds", "live", "end", "begin", "start", "run", "use", "leaves",
];

/// What opens an order.
pub(super) const ORDERS: &[&str] = &[
    "use", "keep", "prefer", "put", "name", "call", "write", "answer", "reply", "run", "set", "take", "make",
    "store", "log", "format", "sort", "wrap", "round", "pin", "cap", "limit", "target", "deploy", "sign",
    "send", "add", "commit", "push", "test", "release", "build", "ask", "tell", "mark", "prefix", "quote",
    "support", "start", "save", "print", "return", "default", "include", "document", "speak", "go", "stick",
    "stay", "assume", "follow", "indent", "ship", "order", "serve", "print", "respond", "explain", "check",
    "show", "invoice", "bill",
];

/// Words that demand something.
pub(super) const BINDING: &[&str] = &["must", "should", "shall", "need", "needs", "has", "have"];

/// What stands before a value.
pub(super) const PREPOSITIONS: &[&str] = &[
    "in", "on", "at", "under", "to", "for", "by", "with", "within", "after", "before", "until", "till",
    "from", "below", "above", "over", "into", "about", "around", "as", "of", "because", "when", "while",
];

/// The same of a figure.
pub(super) const BEFORE_VALUES: &[&str] = &[
    "port", "version", "release", "least", "most", "max", "maximum", "minimum", "exactly", "only", "use",
    "keep", "take", "set", "cap", "limit", "pin", "support", "have", "every", "need", "want", "roughly",
    "nearly", "almost",
];

/// What is numbered.
pub(super) const NUMBERED: &[&str] = &[
    "part", "step", "phase", "issue", "ticket", "pr", "page", "chapter", "line", "task", "case", "test",
    "number", "item", "row", "bug", "room", "question", "section", "round", "level", "batch", "option",
];

/// Words of a day or a time.
pub(super) const WHEN: &[&str] = &[
    "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "mondays", "tuesdays",
    "wednesdays", "thursdays", "fridays", "saturdays", "sundays", "january", "february", "march", "april",
    "june", "july", "august", "september", "october", "november", "december", "tomorrow", "noon", "midnight",
    "spring", "summer", "autumn", "winter", "pm",
];

/// What may stand behind the name of one of its kind: "the Dublin region".
pub(super) const KINDS_OF_PLACE: &[&str] = &[
    "region", "zone", "server", "cluster", "host", "branch", "style", "theme", "format", "mode", "time",
    "timezone", "currency", "layout", "locale", "registry", "license", "licence",
];

/// Words that say that something goes over to something else.
pub(super) const CHANGING: &[&str] = &[
    "moves", "moved", "move", "changes", "changed", "switches", "switched", "switch", "shifts", "shifted",
    "slips", "slipped", "postponed", "delayed", "pushed", "raised", "lowered", "increased", "reduced",
    "bumped", "rises", "drops", "dropped", "migrated", "migrate", "upgraded", "renamed", "rename",
    "rescheduled", "raise", "lower", "turned",
];

/// Stems of the words by which something is chosen: they say nothing of it.
pub(super) const CHOOSING: &[&str] = &[
    "us", "tak", "go", "keep", "choos", "chos", "run", "cal", "prefer", "want", "ned", "decid", "setl",
    "pick", "hav", "plan", "stick", "nam", "mak", "put",
];

/// How somebody lets go of what they name.
pub(super) const FORGETTING: &[&str] = &["forget", "scrap", "strike", "scratch", "disregard", "skip"];

/// Numbers in words.
pub(super) const NUMBERS: &[&str] =
    &["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "twelve", "twenty", "thirty"];

/// What stands behind "not" where nothing is given up.
pub(super) const NOT_THINGS: &[&str] = &[
    "only", "everything", "all", "every", "sure", "yet", "so", "too", "really", "even", "that", "because",
    "always", "in", "on", "at", "for", "when", "if", "necessarily", "just", "to", "a", "one",
];

/// How somebody says that something is not to be done any more.
pub(super) const STOPPING: &[&str] = &[
    " stop ", " no need to ", " no longer need to ", " don't need to ", " don't have to ",
    " do not need to ", " do not have to ", " needn't ", " we no longer ", " no more need to ",
];

/// Verbs of what is not to be there.
pub(super) const DROPPING: &[&str] = &[
    "drop", "remove", "scrap", "ditch", "abandon", "retire", "delete", "disable", "cut", "forbid", "reject",
];

/// Verbs of what is to be there.
pub(super) const KEEPING: &[&str] =
    &["keep", "retain", "restore", "reinstate", "enable", "continue", "allow", "accept"];

/// Stems that say nothing more of what is dropped or kept.
pub(super) const FILLING: &[&str] = &[" support ", " anyway ", " version ", " option "];

/// Stems of what says how a measure limits.
pub(super) const LIMITS: &[&str] = &[
    "keep", "limit", "max", "least", "below", "cap", "hav", "mak", "allow", "up", "at", "within", "long",
    "maximum", "exced", "stay",
];

/// Which way something is moved.
pub(super) const PARTICLES: &[&str] =
    &["back", "up", "down", "forward", "was", "were", "got", "is", "been", "over"];

/// Stems of what says only that the words of a thing have a value: "the new due time for the report".
pub(super) const NEW_VALUES: &[&str] = &["dat", "tim", "new", "valu", "nam", "number"];

/// What stands before a colon and is no thing.
pub(super) const LEADING_IN: &[&str] =
    &["correction", "update", "note", "reminder", "rule", "remember", "important"];

/// How somebody makes a thing something.
pub(super) const SETTING: &[&str] = &["make", "made", "set"];

/// How somebody says where they live.
pub(super) const LIVING: &[&str] = &["live", "am", "are", "sit", "work"];

/// How somebody begins to do what another did: "takes over".
pub(super) const SUCCEEDING: &[&str] = &["takes", "took", "take"];

/// Who all are.
pub(super) const ANYBODY: &[&str] = &["anyone", "anybody", "everyone", "everybody", "all"];

/// What says who may do something.
pub(super) const ALLOWED: &[&str] = &["may", "can"];

/// What says of something that it is not to be had any more, at the end of a short clause.
pub(super) const GONE: &[&[&str]] = &[
    &["is", "out"],
    &["is", "gone"],
    &["is", "booked"],
    &["is", "taken"],
    &["is", "dead"],
    &["is", "no", "option"],
    &["fell", "through"],
    &["are", "out"],
];

/// What stands before the most that something may have.
pub(super) const UPPER: &[&str] = &["below", "under", "up", "most", "max", "maximum"];
