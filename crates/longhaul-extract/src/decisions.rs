//! What was decided: the sentences of the assistant and of a person that say so.

use std::sync::LazyLock;

use longhaul_transcript::{Entry, Role};
use regex::Regex;

use crate::{
    bytewise::Bytewise,
    constraints::{sentences_of, sentences_where},
    speaker::Speakers,
};

/// A sentence that settles something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The sentence, verbatim.
    pub text: String,
    /// Ordinal of the message it stands in.
    pub message: u64,
}

/// Returns the decisions in `entries`, oldest first: sentences with a word of deciding, in the languages that
/// [`constraints`](crate::constraints) knows, of the assistant's prose and of what a person said, by `speakers`.
pub fn decisions(entries: &[Entry], speakers: &Speakers) -> Vec<Decision> {
    let mut found: Vec<Decision> = Vec::new();
    for entry in entries {
        let mut take = |text: &str, has_word: fn(&str) -> bool, settles: fn(&str) -> bool| {
            // Most paragraphs decide nothing, and need not be taken apart; a line is one at most.
            if text.contains('\n') || has_word(text) {
                let sentences = sentences_where(text, has_word).filter(|sentence| settles(sentence));
                found.extend(sentences.map(|text| Decision { text, message: entry.id.ordinal }));
            }
        };
        match entry.message.role {
            Role::Assistant => entry.message.texts().for_each(|text| take(text, has_marker, is_settled)),
            Role::User if entry.message.is_user_text() => {
                let said = speakers.sent(&entry.message);
                said.into_iter().for_each(|text| take(text, may_settle, settles));
            }
            _ => {}
        }
    }
    found
}

/// Returns whether a sentence of `text` settles something, or says what is behind something.
pub fn decides(text: &str) -> bool {
    has_marker(text) && sentences_of(text).any(is_settled)
}

fn has_marker(text: &str) -> bool {
    static ANY: LazyLock<Option<Regex>> = LazyLock::new(|| any_of(&[CHOICES, REASONS, COMPARISONS]));
    ANY.as_ref().is_some_and(|any| any.is_match(&text.to_lowercase()))
}

/// Whether the assistant's sentence settles something: not one that announces a look, asks, supposes, or leads in what is not said yet.
/// What is done instead of something else was decided where it shall be so; what was done is progress.
fn is_settled(sentence: &str) -> bool {
    static REASON: LazyLock<Option<Regex>> = LazyLock::new(|| any_of(&[REASONS]));
    static COMPARISON: LazyLock<Option<Regex>> = LazyLock::new(|| any_of(&[COMPARISONS]));
    static SHALL: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(INTENDS).ok());
    let lower = sentence.to_lowercase().replace('’', "'");
    if lower.ends_with(['?', '？']) || announces_a_look(&lower) {
        return false;
    }
    // What stands before the first of such words, and behind it.
    let parted = |any: &'static LazyLock<Option<Regex>>| {
        let found = any.as_ref()?.find(&lower)?;
        Some((&lower[..found.start()], &lower[found.end()..]))
    };
    let says =
        |text: &str| text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).count();
    let supposes =
        |before: &str| before.split(|c: char| !c.is_alphanumeric()).any(|word| SUPPOSING.contains(&word));
    let has_reason = |(before, behind): (&str, &str)| {
        let leads_in = lower.ends_with([':', '：']) && says(behind) < LEAST_SAID;
        // "The problem is clear" says nothing of it, and "the bug is fixed" is progress.
        let n_said = says(before) + says(behind);
        let says_enough = n_said >= LEAST_SAID || n_said > 0 && !lower.is_ascii();
        let is_over = behind
            .split_whitespace()
            .next()
            .is_some_and(|word| OVER.contains(&word.trim_end_matches([',', '.'])));
        !supposes(before) && !leads_in && says_enough && !is_over
    };
    let is_meant = |(before, _): (&str, &str)| {
        let deeds = LOOKS.as_ref().map_or(before.into(), |looks| looks.replace_all(before, ""));
        !supposes(before) && SHALL.as_ref().is_some_and(|shall| shall.is_match(&deeds))
    };
    chooses(&lower) && !uses_to_look(&lower)
        || parted(&REASON).is_some_and(has_reason)
        || parted(&COMPARISON).is_some_and(is_meant)
}

/// Whether a sentence begins by saying what is looked at next ("Now let me check if …"), behind a word or two that say nothing.
fn announces_a_look(lower: &str) -> bool {
    let look = LOOKS.as_ref().and_then(|looks| looks.find(lower));
    let opens = |before: &str| {
        before.split(|c: char| !c.is_alphanumeric()).all(|word| word.is_empty() || OPENING.contains(&word))
    };
    look.is_some_and(|look| opens(&lower[..look.start()]))
        || LOOKS_ELSEWHERE.iter().any(|words| lower.starts_with(words))
}

/// Whether a tool is only used to look at something: "I'll use grep to find the callers".
fn uses_to_look(lower: &str) -> bool {
    let used = ["i'll use ", "i will use ", "we'll use ", "we will use ", "decided to use "];
    let rest = used.iter().find_map(|words| Some(lower.split_once(words)?.1));
    let verb = |rest: &str| rest.split(' ').next().is_some_and(|verb| LOOKING.contains(&verb));
    rest.is_some_and(|rest| rest.split(" to ").skip(1).any(verb))
}

/// For what a tool is used that changes nothing.
const LOOKING: &[&str] = &[
    "check", "confirm", "count", "examine", "explore", "figure", "find", "get", "inspect", "list", "locate",
    "look", "read", "review", "search", "see", "show", "trace", "understand", "verify", "view",
];

/// Somebody is about to look, to wait or to try: `let me check`, `i'll take another look`, `i'm going to quickly read`.
static LOOKS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"\b(?:let me|let us|let's|i'll|i will|i'm|i am|we'll|we will|i need to|we need to|i want to|i should|we should|i can|we can)",
        r"(?: (?:going to|try to|have to|need to|first|now|also|just|then|next|again|keep|continue to|go and|[a-z]+ly|take|have|do|an?|another|one|more|closer|quick))*",
        r" (?:look|check|see|verif(?:y|ying)|(?:re-?)?read|search|grep|find|inspect|examine|investigat|explor|review|confirm",
        r"|understand|trace|debug|watch|wait|monitor|think|figure|peek|glance|try|status|snapshot|double-check)",
    ))
    .ok()
});

/// The same in other languages, at the beginning of a sentence.
const LOOKS_ELSEWHERE: &[&str] = &[
    "déjame ver",
    "déjame revisar",
    "déjame comprobar",
    "voy a ver",
    "voy a revisar",
    "voy a comprobar",
    "laisse-moi v",
    "laissez-moi v",
    "laissez-moi regarder",
    "je vais vérifier",
    "je vais regarder",
    "lass mich",
    "ich prüfe",
    "ich schaue",
    "ich sehe nach",
    "ich werde prüfen",
    "deixe-me ver",
    "deixa-me ver",
    "vou verificar",
    "让我看",
    "让我检查",
    "让我先",
    "我来看",
    "我先看",
    "先确认",
    "確認します",
    "まず確認",
    "посмотрю",
    "проверю",
    "сейчас проверю",
    "давайте проверим",
];

/// What may stand before a look and says nothing.
const OPENING: &[&str] = &[
    "so", "now", "ok", "okay", "good", "great", "perfect", "excellent", "first", "next", "then", "and",
    "but", "hmm", "wait", "actually", "also", "right", "yes", "alright", "interesting", "well", "done",
];

/// Before a reason: it is supposed, or only one case is told.
const SUPPOSING: &[&str] =
    &["if", "whether", "maybe", "perhaps", "possibly", "apparently", "might", "could", "may"];

/// Says before a comparison that something shall be so, and not that it is.
const INTENDS: &str = concat!(
    r"\b(?:i'll|i will|we'll|we will|we|let's|should|must|going to|want|prefer|better)\b",
    r"|^\W*(?:use|keep|choose|take)\b",
);

/// A sentence that says fewer words than this beside the word of a reason tells none, or it is still to come.
const LEAST_SAID: usize = 4;

/// What stands behind "the issue is" where it is done with.
const OVER: &[&str] = &["resolved", "fixed", "solved", "gone", "clear", "addressed"];

/// Returns whether a person's sentence settles something: what is wrong with something is a report, what might be done a question, and what is said not to be
/// decided, or of a case, no decision. What stands behind the word of choosing only says more of it ("Postgres, not MySQL").
pub fn settles(sentence: &str) -> bool {
    let lower = sentence.to_lowercase().replace('’', "'");
    let asks = lower.trim_end().ends_with(['?', '？']) || WHETHER.iter().any(|word| lower.starts_with(word));
    if asks {
        return false;
    }
    if names_what_is_chosen(&lower) {
        return true;
    }
    let Some(choice) = persons_choices().and_then(|any| any.find(&lower)) else {
        return sets_against(&lower);
    };
    let (before, behind) = (&lower[..choice.start], &lower[choice.end..]);
    let choice = &lower[choice];
    let is_of_others = choice.starts_with("decided")
        && before
            .split_whitespace()
            .last()
            .is_some_and(|who| ["they", "he", "she", "somebody", "someone"].contains(&who));
    if is_of_others {
        return false;
    }
    // "We keep getting timeouts" tells, "keep going with it" asks; a branch is only worked on.
    if choice.ends_with("take ") && behind.starts_with("a ") {
        return false;
    }
    let tells = choice.ends_with("keep")
        && behind.split_whitespace().next().is_some_and(|word| word.len() > 4 && word.ends_with("ing"))
        || choice.starts_with("going") && before.trim_end().ends_with("keep");
    if tells || choice.contains("switch to") && behind.contains("branch") {
        return false;
    }
    // "The first one I'll talk about is Rick", "both of those will go a long way": what is named is only spoken of.
    let next = behind.trim_start().split(' ').next().unwrap_or_default();
    let picks = PICKED.iter().any(|word| choice.contains(word));
    if picks
        && before.is_empty()
        && (SPEAKERS.contains(&next) || lower.split_whitespace().count() > MOST_PICKING)
    {
        return false;
    }
    let denies = |word: &str| NOT.contains(&word) || word.ends_with("n't");
    let mut words = before.split(|c: char| !(c.is_alphanumeric() || c == '\''));
    !words.any(denies) && !NOT_APART.iter().any(|word| before.contains(word))
}

/// Words by which one of several is picked at the beginning of a sentence.
const PICKED: [&str; 7] = ["both", "neither", "first ", "second ", "third ", "latter ", "former "];

/// Who stands behind them where the sentence goes on to tell of it.
const SPEAKERS: [&str; 9] = ["i", "i'll", "i'm", "we", "we'll", "you", "he", "she", "they"];

/// A sentence of more words tells of what it begins with.
const MOST_PICKING: usize = 12;

/// What is chosen stands among the words of choosing: `Option B it is: Kelmar for the parking`, `Fine, Brunwick then for the tickets`,
/// `Let's book Odessane for the lighting`.
fn names_what_is_chosen(lower: &str) -> bool {
    let Some(named) = NAMED.as_ref().and_then(|named| named.groups(lower)) else { return false };
    let mut words = named.into_iter().flatten().flat_map(str::split_whitespace);
    !words.any(|word| NOT_CHOSEN.contains(&word.trim_matches([',', '\''])))
}

static NAMED: LazyLock<Option<Bytewise>> = LazyLock::new(|| {
    Bytewise::new(concat!(
        r"^(?:(?:so|ok|okay|fine|right|good|then|alright),? )?((?:\S+ ){1,4})it is(?:[:;-]|—)",
        r"|^(?:(?:so|ok|okay|fine|right|good|then|alright),? )?(\S+(?: \S+)?) it is for ",
        r"|^(?:fine|ok|okay|right|alright|good|yes|agreed),? (?:so |we )?((?:\S+ ){1,4})then (?:for|as|in|at|on|with) ",
        r"|^(?:(?:so|ok|okay|fine|right|good|then|alright|yes),? )?(?:let's|let us|we'll|we will|i'll|i will) ",
        r"(?:book|hire|buy|order|rent|reserve|commission|appoint|invite|name|call|use|have) (\S+(?: \S+){0,5}?) (?:for|as|on|at|to) ",
    ))
});

/// Who says these says what is there, what is to be done, or asks; nothing is chosen by them.
const NOT_CHOSEN: &[&str] = &[
    "here", "there", "what", "how", "where", "why", "who", "that's", "i", "you", "he", "she", "they",
    "think", "know", "mean", "look", "a look", "tell", "show", "explain", "check", "run", "try", "go",
    "read", "write", "see", "fix", "add", "make", "do", "give", "list", "find", "wait", "start", "begin",
    "continue", "proceed", "not", "if", "maybe", "perhaps", "whether", "grep", "tool", "them", "it", "back",
    "me", "yes", "no", "that", "this", "and", "but", "or", "because", "since", "as", "so", "now", "says",
    "said", "means", "guess", "hope", "believe", "suppose", "though", "which", "when", "while",
];

/// "Release is 2.0, not 1.9": few words set one thing against another.
fn sets_against(lower: &str) -> bool {
    let Some((one, other)) = lower.split_once(", not ").filter(|_| !lower.contains(" , ")) else {
        return false;
    };
    let n_words = |text: &str| text.split_whitespace().count();
    let tells = one.split(' ').next().is_some_and(|first| TELLERS.contains(&first));
    !tells && n_words(one) <= 8 && n_words(other) <= 4 && !OTHER.iter().any(|word| other.starts_with(word))
}

/// Who sets nothing against anything, but says how it is.
const TELLERS: &[&str] =
    &["i", "i'm", "it", "it's", "that", "that's", "this", "he", "she", "they", "there", "you", "you're"];

/// What stands behind ", not" where nothing else is named.
const OTHER: &[&str] = &[
    "sure", "yet", "so", "too", "really", "even", "that", "because", "a single", "in ", "clear", "the ",
    "bad", "great", "good", "a problem", "gonna", "going",
];

/// Words that say, before a choice, that it is not made, or not yet, or in some case.
const NOT: &[&str] = &[
    "not", "never", "if", "unless", "whether", "maybe", "perhaps", "possibly", "apparently", "might",
    "could", "nicht", "noch", "ob", "wenn", "vielleicht", "pas", "não", "не", "если",
];

/// The same in scripts without blanks.
const NOT_APART: &[&str] = &["没", "不", "尚未", "还未", "まだ", "もし", "如果"];

/// What a question begins with.
const WHETHER: &[&str] =
    &["are we ", "did ", "do we ", "had ", "have ", "has ", "should ", "shall ", "what if", "why ", "how "];

fn chooses(text: &str) -> bool {
    choices().is_some_and(|any| any.is_match(&text.to_lowercase()))
}

/// What a person says decides in more words than a model's: `Option B it is`, `Fine, they expire after an hour then.`
fn persons_choices() -> Option<&'static Bytewise> {
    static ANY: LazyLock<Option<Bytewise>> = LazyLock::new(|| {
        let words: Vec<String> = CHOICES.iter().map(|marker| regex::escape(marker)).collect();
        Bytewise::new(&format!("{}|{PERSONS}", words.join("|")))
    });
    ANY.as_ref()
}

/// Whether a sentence of a paragraph may settle something: how a sentence begins and ends tells, and not how its paragraph does.
fn may_settle(text: &str) -> bool {
    let may = |sentence: &str| {
        let lower = sentence.to_lowercase().replace('’', "'");
        let names = || NAMED.as_ref().is_some_and(|named| named.is_match(lower.trim()));
        lower.contains(", not ") || persons_choices().is_some_and(|any| any.is_match(&lower)) || names()
    };
    text.lines().flat_map(sentences_of).any(may)
}

/// How persons choose beside [`CHOICES`].
const PERSONS: &str = concat!(
    // Who chooses, and what they do with it.
    r"\b(?:let's|we|we'll|we will|i'll|i will) (?:keep|drop|stay with|stick (?:to|with)|go (?:with|for)|settle (?:on|for))\b",
    r"|\b(?:let's|we'll|we will|i'll|i will) (?:take|pick|choose|skip|leave out|stay (?:on|at|with)|move to|switch to|start with|do without",
    r"|defer|postpone|ship|not|only)\b",
    r"|\b(?:we|i) (?:won't|will not) (?:use|do|support|need|build|ship|touch|have|add|offer|keep)\b",
    r"|\b(?:we're|we are|i'm|i am) (?:dropping|keeping|switching to|moving to|staying (?:on|with|at)|skipping|postponing|not (?:using|doing|adding))\b",
    r"|\b(?:i|we)(?:'ve| have)? (?:settled on|opted for|agreed (?:on|to|that)|picked|chosen|approved?|reject(?:ed)?|accept|ruled out",
    r"|decided|made up (?:my|our) mind)\b",
    r"|\bi(?:'m| am) (?:fine|ok|okay|happy|good) with\b|\bworks for me\b|\bi (?:prefer|take|pick|choose|want (?:the|all|every|them|it))\b|\bi'd (?:rather|prefer|take|pick)\b",
    // An order that chooses.
    r"|^(?:please )?(?:take|choose|pick|go with|go for|stick with|stick to|stay with|switch to|drop|ditch|scrap|postpone) ",
    r"|^(?:approved|confirmed|accepted|rejected|decided|decision|final|final answer|verdict|agreed)\b[:,.]?|^make (?:it|that|them) (?:\d|an? |the )",
    r"|^(?:ok|okay|so|right|alright|fine|good|well|yes|then)[,.:!]? (?:it's |that's |we've |we have )?(?:approved|decided|settled|agreed)\b[:,.!]",
    r"|^(?:yes|yep|yeah|ok|okay|fine|right|good|sure|no)[,.]? (?:then )?(?:go (?:with|for)|use|take|drop|keep|both|neither|option|the (?:first|second|third|latter|former))\b",
    r"|^(?:option|variant|plan) [a-z0-9](?:[.,!]|$)|^(?:the )?(?:first|second|third|latter|former) (?:one|option|variant|way)\b",
    // What becomes of a thing.
    r"|\bit is(?:,? then\b|[.!]|$)| is settled\b|'s settled\b|\bis (?:out|off the table|a no-go|ruled out|dropped|postponed|approved|final|decided)(?:[.,;!]|$)| wins(?:[.,;!]|$)",
    r"|\bstays? (?:as it is|as they are|at|with)\b|\b(?:my|our|the) (?:decision|choice|verdict) (?:is|was)\b|\bfor good\b",
    r"|^(?:fine|ok|okay|right|alright|good|yes|agreed)\b.*\bthen[.!]?$",
    r"|\bwir (?:nehmen|bleiben bei|behalten)\b|\bon (?:garde|prend|reste sur)\b|\bnos quedamos con\b|\bvamos com\b|\bficamos com\b",
    r"|(?:^|[ ,.:(])(?:оставляем|берём)(?:[ ,.!:)]|$)|就用|就选|にします|で行きます",
    // Somebody has thought it over, or something said before is over.
    r"|^(?:strike|scratch|forget|scrap) (?:the|that|what|about|my)\b|\bchange of plans?\b|\bchanged my mind\b|\bon second thoughts?\b",
    r"|\bmy call\b|\byou win,|\b(?:you )?convinced me\b|\bno more debate\b|\bend of (?:discussion|story|debate)\b|^sold[.,!:]",
    r"|\bi(?:'ve| have)? (?:slept on it|thought (?:about it|it (?:over|through)))\b|(?:^|[.;] ?)final[.!]?$|\bthat settles it\b",
    r"|\b(?:is|are|that's|it's|been) decided\b|\bis history\b|\bnever mind\b.*[,;:]",
    // What is done from here on.
    r"|\b(?:we|i)(?:'re| are|'m| am) going (?:for\b|with\b|to (?:use|ship|keep|drop|go with|stay|build on|switch|move to|support)\b)",
    r"|\b(?:we|i)(?:'ll| will| won't| will not) (?:reuse|leave|rename|store|merge|release|wait with|live with)\b",
    r"|(?:^|(?:[,:;-]|—) |^(?:ok|okay|so|then|right|well|alright|hmm?|yes|no),? )(?:we|i'll|i) (?:leave|rename|skip|ship|defer|postpone|bump|stay|stick|switch|park|freeze)\b",
    r"|^(?:you win|right|so|then|ok|okay|alright|fine|good|well)\b.*\bwe (?:do|use|run|go|build|take|support)\b",
    r"|^(?:\S+ ){1,3}it is,|, so \S+(?: \S+){0,2} it is\b|\bstays? (?:on|off|internal|optional|mandatory|public|private|closed|open|enabled|disabled|out|put)\b|^(?:the )?\S+ stays?[.!]?$",
    r"|^[\w./-]+ goes, |\bsupport (?:for .{1,40} )?(?:gets|is) dropped\b|^dropping .{1,60} is (?:fine|ok|okay)\b|\bdefaults? to (?:off|on|true|false)\b",
    r"|\b(?:limit|timeout|capacity|threshold|default|interval|port|version|size) (?:goes|moves|comes|is going) (?:\w+ )?to\b",
    r"|\b(?:is|are|'s) (?:fine|ok|okay|plenty|good enough|enough) (?:for|with|by) me\b|\bis plenty\b|\bfine by me\b",
    r"|\bsays \S+, so\b|\bso (?:let's )?do it (?:that way|like that)\b|^(?:both|neither|all (?:three|four) of them)\b",
    r"|^no .{1,60} (?:this|for this) (?:year|release|sprint|quarter|version|time)\b|\bafter all[.!]?$",
    r"|\b(?:we're|we are|i'm|im|i am) (?:shipping|choosing|picking|taking|pinning|leaving|parking|dropping|merging|freezing|self-hosting)\b",
    r"|^(?:pinning|keeping|dropping|sticking|staying|switching|skipping|leaving|shipping|choosing|parking|punting|going) (?:to|with|on|at|the|it|that|this|our|for|in)\b",
    r"|\b(?:settled|decided|agreed) with \w+|\b(?:decided|final answer|settled|end of story|moving on)[.!]?$|\bsleeping on it\b|\bill (?:go with|take)\b",
    r"|\b(?:isn't|isnt|not) happening\b|\b(?:is|are) cut(?:[.,;!]|$)|\bexperiment is over\b|^(?:nah|no|ok|okay),? (?:revert|go back|back) to\b",
    r"|^instead of .* we \w+|\blet's do (?:option|variant|plan|the|both|it (?:with|in|without))\b|\bon part sur\b|\b(?:lassen|nehmen|machen) wir\b",
    r"|\btalked it over\b|\boverrul(?:e|ing) (?:you|that|this|it)\b|\bmy pick is\b|\bdone deal\b|\b(?:call|calling) it off\b|\bcall(?:ing)? (?:it|that|this) off\b",
    r"|^(?:actually|no|nah|actually no),? (?:no, )?(?:revert|go back|back) to\b|\bkeep both\b|\bit (?:shall|will) be[.!]?$|\bis the one[.,!]|\b(?:i'm|im|i am) cutting\b",
    r"|\bstays? in[.!]?$|\b(?:we|i) shall (?:go|keep|take|renew|stay|use|have|drop|do)\b|^(?:yeah|yes|yep|ok),? the \S+(?: \S+){0,2} one\b|^\S+ \d[\w.]* not \d",
    r"|\b(?:lieber|doch lieber|dann eben|wir machen|wir lassen|wir gehen)\b|\bfinalmente (?:vamos|usamos)\b|\bmejor (?:usamos|usa|lo hacemos)\b|\bfinalement\b",
);

fn choices() -> Option<&'static Regex> {
    static ANY: LazyLock<Option<Regex>> = LazyLock::new(|| any_of(&[CHOICES]));
    ANY.as_ref()
}

fn any_of(markers: &[&[&str]]) -> Option<Regex> {
    let markers: Vec<String> = markers.concat().iter().map(|marker| regex::escape(marker)).collect();
    Regex::new(&markers.join("|")).ok()
}

/// Words of choosing.
const CHOICES: &[&str] = &[
    "i'll use", "i will use", "i decided", "we decided", "decided to", "decision:", "let's go with",
    "going with", "i'll go with", "i chose", "we chose", "chose to", "we'll use", "we will use",
    "he decidido", "decidimos", "j'ai décidé", "nous avons décidé", "entschieden", "decidi ", "决定",
    "決めた", "決定", "решил", "решили",
];

/// Words of judging and explaining.
const REASONS: &[&str] = &[
    "the best approach",
    "the right approach",
    "better approach",
    "root cause",
    "the fix is",
    "the issue is",
    "the problem is",
    "the bug is",
    "this is because",
    "the solution is",
    "agreed",
    "la mejor opción",
    "en lugar de",
    "la causa",
    "la meilleure approche",
    "plutôt que",
    "la cause",
    "beste lösung",
    "die ursache",
    "das problem ist",
    "statt ",
    "a melhor abordagem",
    "a causa",
    "em vez de",
    "采用",
    "原因是",
    "问题在于",
    "最好的办法",
    "採用",
    "原因は",
    "лучший подход",
    "причина",
    "вместо того",
];

/// Words of doing one thing and not another.
const COMPARISONS: &[&str] = &["instead of", "rather than"];

#[cfg(test)]
mod tests {
    use longhaul_testkit::transcript;

    use super::*;

    fn decided(said: &str) -> Vec<String> {
        let found = decisions(transcript(said).entries(), Speakers::builtin());
        found.into_iter().map(|decision| decision.text).collect()
    }

    // asserts 002-18
    #[test]
    fn deciding_is_told_from_telling() {
        let said =
            "user: The problem is slow. I decided to go with Postgres. Should it be going with option B?
user: I don't think we will use Redis for this. Wir haben uns noch nicht entschieden, ob es Postgres sein muss. Should we be going with A
assistant: Reading it now. The root cause is a missing lock. I'll use a mutex instead of a cell.
user: We will use JWT tokens for login, not sessions. No, we will use Redis for the queue.
user: Wir haben uns für Rust entschieden, nicht für Go. 我们决定用 SQLite，这样不会丢数据。 If it fails we will use files.";
        assert_eq!(
            decided(said),
            [
                "I decided to go with Postgres.",
                "The root cause is a missing lock.",
                "I'll use a mutex instead of a cell.",
                "We will use JWT tokens for login, not sessions.",
                "No, we will use Redis for the queue.",
                "Wir haben uns für Rust entschieden, nicht für Go.",
                "我们决定用 SQLite，这样不会丢数据。"
            ]
        );
    }

    // asserts 002-18
    #[test]
    fn persons_decide_in_many_words() {
        let some = [
            "OK, Postgres it is then, and not MySQL: the ledger needs its locks.",
            "We drop the CSV export for good; nobody reads it.",
            "Let's keep the old endpoint until March and remove it after that.",
            "I want the amounts in cents, as integers, everywhere.",
            "Fine, tokens expire after fifteen minutes then.",
            "We go with Redis streams for the queue.",
            "Take option B: one worker for each region.",
            "The nightly job moves to 03:30, that’s settled with operations.",
            "I'd rather have one table than two.",
            "Option B it is.",
            "Wir bleiben bei Postgres.",
            "I've decided against GraphQL.",
            "We'll take the managed queue.",
            "Switch to pnpm, npm is too slow.",
            "Approved: the schema as proposed.",
            "Drop the CSV export.",
            "Yes, use the second approach.",
            "The second one, please.",
            "Option 2.",
            "Make it 30 seconds.",
            "Postgres, not MySQL.",
            "We're dropping support for Node 16.",
            "We won't support Windows in this release.",
            "GraphQL is off the table.",
            "REST wins.",
            "The timeout stays at ten seconds.",
            "My decision is to keep one table.",
            "I'm fine with the larger image.",
            "We agreed on a monorepo.",
            "I pick the blue theme.",
            "We've settled on Kafka.",
            "I'll take option C.",
            "We will not use Redis.",
            "Let's switch to cents everywhere.",
            "Decision: two regions, Frankfurt and Dublin.",
        ];
        for one in some {
            assert_eq!(decided(&format!("user: {one}")), [one]);
        }
        let none = [
            "I want you to look at the queue.",
            "Should we go with Redis for the queue?",
            "If it fails we go with Redis for the queue.",
            "The invoice of customer 7 is wrong, and then it is sent.",
            "Please go on with part 7.",
            "It is slow, and I don't know why it is.",
            "We haven't settled on the queue yet.",
            "We keep getting timeouts from the relay.",
            "Keep going with the second half.",
            "Switch to the branch relay-2 and run the tests.",
            "I have not decided yet.",
            "Is the second one better?",
            "The build takes ten minutes.",
            "Take a look at the log.",
        ];
        for one in none {
            assert_eq!(decided(&format!("user: {one}")), [""; 0], "{one}");
        }
    }

    // asserts 002-18
    #[test]
    fn persons_decide_by_what_becomes_of_a_thing_and_by_what_they_say_of_themselves() {
        let some = [
            "Bounded it is, capacity 1024.",
            "Change of plan, the capacity goes up to 4096, Maren measured bursts of 3000.",
            "Forget what I said about PDF; labels are ZPL for the warehouse printers.",
            "I'm going for a StatefulSet with one replica, leader election can wait.",
            "My call: the flag defaults to off in production.",
            "Release is 2.0, not 1.9.",
            "Sold. Postgres 16 then.",
            "Strike the Tuesday thing, Wednesday 05:00 UTC.",
            "Svenja says PDF, so PDF.",
            "You win, we do it in Go.",
            "bookworm stays",
            "moment goes, date-fns comes.",
            "so the memory limit goes to 10Gi for the moment",
            "we leave swap off",
            "i18n isnt happening for the mvp, moving on",
            "pinning to llvm 17, the 18 experiment is over",
            "You can stop weighing it up, we're self-hosting.",
            "Das mit dem Dark Mode lassen wir jetzt, kommt in 2.0.",
        ];
        for one in some {
            assert!(settles(one), "{one}");
        }
        let none = [
            "the tooltip on the pie chart is cut off at the right edge, fix it pls",
            "apparently the mobile team decided to go with Flutter, poor sods",
            "Had we picked Elixir back then we wouldn't have this conversation",
            "They decided to close the office on Monday.",
            "Maybe we'll drop the feature later.",
            "It is slow, not sure why.",
            "Option A would have been nicer, who knows.",
            "The first one I'll talk about is the relay.",
            "Both of those will go a long way towards helping whoever has to keep the relay alive.",
        ];
        for one in none {
            assert!(!settles(one), "{one}");
        }
    }

    // asserts 002-18
    #[test]
    fn what_is_chosen_may_stand_among_the_words_of_choosing() {
        let some = [
            "OK, decided: the main stage goes to Zanotti.",
            "Right, it's settled: the exporter streams.",
            "Option B it is: Kelmar for the parking.",
            "Ok, the second draft it is; send it to the printer.",
            "Fine, Brunwick then for the tickets.",
            "OK, the blue tent then for the workshops.",
            "Let's book Odessane for the lighting, the other offer is too expensive.",
            "Let's use Lagrun as the queue backend, the other one is too slow.",
            "We'll hire the Tarn brothers for the security.",
            "Brolikun it is for the import wizard.",
            "Strike rafevux, the status page moves to tivotuk after all.",
            "I'll name it.",
        ];
        let (name, some) = some.split_last().unwrap();
        for one in some {
            assert_eq!(decided(&format!("user: {one}")), [*one]);
            // How the paragraph begins and ends is something else.
            let among = format!("user: Thanks a lot. {one} Can you look at the log next?");
            assert_eq!(decided(&among), [*one]);
        }
        let none = [
            "Here it is: the log of last night.",
            "What I think it is: a race in the relay.",
            "OK, look then for the callers.",
            "Fine, tell me then for which modules that holds.",
            "Let's have a look at the log.",
            "Let's use it for now and see.",
            "Could we book Odessane for the lighting?",
            "Okay, run the tests then on the relay.",
            "OK, so far so good.",
            "This means it is for the tests.",
            "Yes, it is for the tests.",
            "Can the relay be stopped after all?",
            "Fine, what is next then?",
            name,
        ];
        for one in none {
            assert_eq!(decided(&format!("user: {one}")), [""; 0], "{one}");
        }
    }

    // asserts 002-18
    #[test]
    fn who_announces_a_look_supposes_or_tells_what_was_done_decides_nothing() {
        let none = "assistant: Let me check if maybe the issue is in how the bgColor is handled:
assistant: Good. Now let me verify that this is the root cause. I’ll take another look at the tail rather than guess.
assistant: I'm going to check its live status once instead of waiting blind. Let me try again with a better approach:
assistant: It takes long, so I'm going to check its live status once instead of waiting blind.
assistant: I’ll keep waiting, then read the last output rather than interrupting them. Is the bug is in the lexer or is this because of it?
assistant: Maybe the issue is that the cache isn't cleared. If it has a light background, we should see it load the light theme instead of the dark one.
assistant: The footer now uses dim instead of muted. Fixed all tests to use proper themes instead of chalk directly.
assistant: I'll use grep to find the callers. The problem is clear. This confirms the root cause. Let me clean up now that the issue is resolved. I'll use the search tool to see where it is read.
assistant: Agreed!\n\nThe issue is likely that:\n\nDéjame revisar si la causa es otra.";
        assert_eq!(decided(none), [""; 0]);
        let some = [
            "I'll base the branch on origin/main instead of changing this checkout.",
            "The theme loader should catch this error gracefully instead of crashing.",
            "The issue is that the package was rebuilt and the agent still imports the old one.",
            "We keep the pool rather than a single connection.",
            "Agreed, the amounts are cents from now on.",
            "Wir nehmen SQLite statt Postgres.",
        ];
        for one in some {
            assert_eq!(decided(&format!("assistant: {one}")), [one]);
        }
        // What is looked at next stands beside it.
        assert!(decides("We decided to use a mutex. Let me check the rest."));
        assert!(decides("Let me check the rest. We decided to use a mutex."));
        assert!(!decides("Let me check if we decided to use a mutex."));
    }

    // asserts 002-18
    #[test]
    fn whoever_chose_to_do_something_decided() {
        let said =
            "assistant: The team chose to drop IPv4. They chose to wait. The colour is theirs to choose.";
        assert_eq!(decided(said), ["The team chose to drop IPv4.", "They chose to wait."]);
    }
}
