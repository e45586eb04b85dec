//! A sentence as it is compared with another: its words, what each of them is, and by what two of them are the same.

/// What a word is, as far as it matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Plain,
    /// A figure, a day, a month.
    Number,
    /// It is written as a name, or as what can be looked for.
    Name,
    /// A mark that parts or ends.
    Mark,
}

/// A word of a sentence.
#[derive(Clone, Debug)]
pub(super) struct Word {
    /// In lower case, without what stands around it.
    pub(super) text: String,
    pub(super) kind: Kind,
    /// Stands for the word and its forms.
    pub(super) form: u64,
    /// The same, where the word tells something of what is spoken of.
    pub(super) key: Option<u64>,
}

impl Word {
    fn new(text: &str, kind: Kind) -> Word {
        let form = hash(START, stem(text).as_bytes());
        let tells = kind != Kind::Mark && !EMPTY.contains(&text);
        Word { text: text.to_owned(), kind, form, key: tells.then_some(form) }
    }

    /// Returns whether it forbids or denies something.
    pub(super) fn denies(&self) -> bool {
        DENIALS.contains(&&*self.text) || self.text.ends_with("n't")
    }

    pub(super) fn is_mark(&self) -> bool {
        self.kind == Kind::Mark
    }

    /// Returns whether it opens a sentence and says nothing.
    pub(super) fn opens(&self) -> bool {
        self.is_mark() || OPENERS.contains(&&*self.text)
    }
}

/// Returns the words of a sentence and the marks between them.
pub(super) fn words(sentence: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let mut rest = sentence;
    while let Some(first) = rest.chars().next() {
        if !begins(first) {
            let mut mark = [0; 4];
            if MARKS.contains(first) {
                words.push(Word::new(first.encode_utf8(&mut mark), Kind::Mark));
            }
            rest = &rest[first.len_utf8()..];
            continue;
        }
        let ends = |c: char| is_alone(c) || !begins(c) && !is_inside(c);
        let end = if is_alone(first) { first.len_utf8() } else { rest.find(ends).unwrap_or(rest.len()) };
        let written = rest[..end].trim_end_matches(|c: char| is_inside(c) && !matches!(c, '+' | '%'));
        let is_first = words.is_empty();
        read(written, is_first, &mut words);
        rest = &rest[written.len()..];
    }
    words
}

/// Returns the key of where somebody lives, which two sentences may say without a word in common.
pub(super) fn home(words: &[Word]) -> Option<u64> {
    let says = |two: &[Word]| ["i", "we"].contains(&&*two[0].text) && LIVING.contains(&&*two[1].text);
    words.windows(2).any(says).then(|| hash(START, b"home"))
}

/// What somebody says of where they live.
const LIVING: [&str; 4] = ["live", "lived", "moved", "move"];

fn read(written: &str, is_first: bool, words: &mut Vec<Word>) {
    let lower = written.to_lowercase().replace('’', "'");
    let (text, short) = match lower.split_once('\'') {
        Some((text, "s")) if !OF_BEING.contains(&text) => (text, None),
        Some((text, short)) => match SHORT.iter().find(|(known, _)| *known == short) {
            Some((_, long)) => (text, Some(*long)),
            None => (&*lower, None),
        },
        None => (&*lower, None),
    };
    words.push(Word::new(text, kind(written, text, is_first)));
    words.extend(short.map(|long| Word::new(long, Kind::Plain)));
}

fn kind(written: &str, text: &str, is_first: bool) -> Kind {
    let is_month = |text: &str| text != "may" || written.starts_with('M') && !is_first;
    if written.contains(|c: char| c.is_ascii_digit()) || COUNTED.contains(&text) && is_month(text) {
        return Kind::Number;
    }
    let is_capital = !is_first && written.starts_with(char::is_uppercase) && text != "i";
    match is_capital || written.contains(['/', '_', '@', '#', '.']) {
        true => Kind::Name,
        false => Kind::Plain,
    }
}

fn begins(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '#' | '@' | '/' | '$' | '€' | '£')
}

/// Stands inside of words, and not behind them.
fn is_inside(c: char) -> bool {
    matches!(c, '\'' | '’' | '-' | '.' | ':' | '%' | '+')
}

/// A sign of a script without blanks between words.
fn is_alone(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}')
}

/// Returns the beginning of a word that its forms share: "deploys", "deployed" and "deployment" are one.
fn stem(word: &str) -> String {
    if word.contains(|c: char| !c.is_alphabetic()) {
        return word.to_owned();
    }
    let long_enough = |rest: &&str| rest.chars().count() >= LEAST;
    let rest = ENDINGS.iter().find_map(|ending| word.strip_suffix(ending).filter(long_enough));
    let rest = rest.unwrap_or(word);
    let stem: String = rest.chars().take(MOST).collect();
    // "retry" and "retries", "stop" and "stopped".
    match stem.strip_suffix('y') {
        Some(start) => format!("{start}i"),
        None => stem,
    }
}

/// Characters of a word that are left of it at least.
const LEAST: usize = 3;

/// More characters of a word are not compared.
const MOST: usize = 6;

const ENDINGS: [&str; 9] = ["ings", "ing", "edly", "ed", "es", "s", "ly", "en", "e"];

/// Goes on with a hash of FNV-1a.
pub(super) fn hash(from: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(from, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Where a hash begins.
pub(super) const START: u64 = 0xcbf2_9ce4_8422_2325;

/// Marks that tell something of a sentence.
const MARKS: &str = "?!,:;(";

/// Before these "'s" stands for "is".
const OF_BEING: [&str; 9] = ["it", "that", "let", "he", "she", "what", "there", "here", "who"];

/// What a word ends with for another.
const SHORT: [(&str, &str); 6] =
    [("re", "are"), ("ve", "have"), ("ll", "will"), ("m", "am"), ("d", "would"), ("s", "is")];

/// Words that open a sentence and say nothing.
const OPENERS: &[&str] = &[
    "ok", "okay", "and", "but", "so", "also", "please", "now", "well", "yes", "yeah", "then", "just", "oh",
    "actually", "sorry", "right", "fine", "hey",
];

const DENIALS: &[&str] = &[
    "not", "no", "never", "avoid", "without", "stop", "nobody", "nothing", "dont", "nicht", "kein", "keine",
    "keinen", "nie", "pas", "jamais", "nunca", "geen", "niet", "non", "não",
];

/// Words that count, or name a day.
const COUNTED: &[&str] = &[
    "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "half",
    "noon", "midnight", "twenty", "thirty", "forty", "fifty", "sixty", "hundred", "thousand", "monday",
    "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "mondays", "tuesdays", "wednesdays",
    "thursdays", "fridays", "saturdays", "sundays", "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december", "zwei", "drei", "vier", "fünf",
    "sechs", "sieben", "acht", "neun", "zehn", "montag", "dienstag", "mittwoch", "donnerstag", "freitag",
    "samstag", "sonntag", "januar", "februar", "märz", "mai", "juni", "juli", "oktober", "dezember", "deux",
    "trois", "quatre", "cinq", "huit", "neuf", "dix", "lundi", "mardi", "mercredi", "jeudi", "vendredi",
    "samedi", "dimanche", "janvier", "février", "mars", "avril", "juin", "juillet", "août", "septembre",
    "octobre", "novembre", "décembre", "dos", "tres", "cuatro", "cinco", "seis", "siete", "ocho", "nueve",
    "diez", "lunes", "martes", "miércoles", "jueves", "viernes", "sábado", "domingo", "enero", "febrero",
    "marzo", "mayo", "junio", "julio", "agosto", "septiembre", "octubre", "noviembre", "diciembre",
];

/// Words that tell nothing of what a sentence is about.
const EMPTY: &[&str] = &[
    "the", "a", "an", "is", "are", "was", "were", "be", "been", "being", "will", "would", "shall", "should",
    "must", "may", "can", "could", "has", "have", "had", "do", "does", "did", "it", "its", "this", "that",
    "these", "those", "there", "we", "i", "you", "he", "she", "they", "me", "us", "them", "of", "for", "in",
    "on", "at", "to", "from", "by", "with", "under", "into", "as", "and", "or", "but", "than", "per", "up",
    "so", "if", "when", "then", "about", "your", "our", "my", "his", "her", "their", "any", "all", "every",
    "each", "more", "most", "some", "get", "got", "instead", "rather", "let", "first", "what", "which",
    "who", "out", "over", "also", "not", "no", "never", "don't", "please", "now", "just", "only", "always",
    "again", "still", "already", "here", "too", "ok", "okay", "well", "yes", "yeah", "use", "make", "off",
    "down", "after", "before", "until", "one", "need", "needs", "want", "go", "goes", "going", "gone", "new",
    "old", "am", "won't", "can't", "isn't", "aren't", "doesn't", "longer", "anymore", "back", "like", "way",
    "thing", "things", "said", "say", "take", "took", "put", "keep", "set", "moved", "move", "changed",
    "change", "switched", "switch", "actually", "because", "since", "today", "tomorrow", "time", "der",
    "die", "das", "den", "dem", "des", "ein", "eine", "einen", "einem", "einer", "und", "oder", "aber",
    "ist", "sind", "war", "wird", "werden", "wir", "ich", "du", "sie", "er", "es", "im", "auf", "zu", "zum",
    "zur", "mit", "für", "von", "vom", "bei", "nicht", "kein", "keine", "keinen", "mehr", "nur", "jetzt",
    "noch", "doch", "immer", "bitte", "nie", "ab", "um", "als", "wie", "le", "la", "les", "un", "une", "de",
    "et", "ou", "est", "sont", "pas", "ne", "plus", "je", "tu", "il", "elle", "nous", "vous", "ils", "dans",
    "sur", "au", "aux", "pour", "par", "avec", "que", "qui", "el", "los", "las", "una", "y", "o", "son",
    "en", "con", "por", "para", "se", "lo", "ya", "del", "al", "het", "een", "zijn", "niet", "geen", "meer",
    "ik", "van", "voor", "met", "op", "te", "dat", "gli", "e", "è", "non", "di", "da", "che", "si", "os",
    "uma", "é", "não", "em", "na", "com", "mais", "à",
];
