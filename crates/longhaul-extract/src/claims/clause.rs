//! The clauses of a sentence, without what only leads in or says since when.

use super::words::{
    ADVERBS, AFTERTHOUGHTS, ARTICLES, BEING, CHANGING, CHOOSING, DID, EMPTY, HAVING, OPENERS,
    OPENING_PHRASES, ORDERS, PERSONS,
};

/// A word of a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word {
    /// In lower case, without what stands around it.
    pub(super) text: String,
    /// Without its ending.
    pub(super) stem: String,
    /// It is written as a name, or as what can be looked for.
    pub(super) is_name: bool,
}

/// A part of a sentence up to the next mark.
#[derive(Clone, Debug, Default)]
pub(super) struct Clause {
    pub(super) words: Vec<Word>,
    /// The place of the word behind which its value may stand.
    pub(super) verb: Option<usize>,
    /// The place of a word that says that it goes over to something else.
    pub(super) change: Option<usize>,
    /// It speaks of one of several: "a meeting".
    pub(super) is_of_several: bool,
    /// A colon stands behind it.
    pub(super) is_label: bool,
    /// It begins with "only".
    pub(super) is_limited: bool,
}

impl Clause {
    /// The words that tell what it is about, without endings.
    pub(super) fn telling(&self) -> impl Iterator<Item = &str> {
        telling(&self.words)
    }

    /// Returns the words from the `at`th on, as far as there are any.
    pub(super) fn from(&self, at: usize) -> &[Word] {
        self.words.get(at..).unwrap_or_default()
    }

    /// Returns what it says something of: the words before the verb that tell something.
    pub(super) fn subject(&self) -> Vec<&str> {
        telling(&self.words[..self.verb.unwrap_or_default()]).collect()
    }

    /// Returns whether it forbids or denies something.
    pub(super) fn denies(&self) -> bool {
        self.words.iter().any(|word| is_denial(&word.text))
    }
}

/// Returns the stems of those of `words` that tell something.
pub(super) fn telling(words: &[Word]) -> impl Iterator<Item = &str> {
    let tells = |word: &&Word| !EMPTY.contains(&&*word.text) && !is_denial(&word.text);
    words.iter().filter(tells).map(|word| &*word.stem)
}

pub(super) fn is_denial(word: &str) -> bool {
    const DENIALS: [&str; 9] =
        ["not", "never", "no", "avoid", "without", "stop", "dont", "nobody", "nothing"];
    DENIALS.contains(&word) || word.ends_with("n't")
}

/// Returns the clauses of a sentence.
pub(super) fn clauses(sentence: &str) -> Vec<Clause> {
    let mut all: Vec<Vec<Word>> = vec![Vec::new()];
    let mut labels: Vec<usize> = Vec::new();
    for (nth, written) in sentence.split_whitespace().enumerate() {
        let bare = written.trim_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '/' | '#' | '@'));
        if !bare.is_empty()
            && let Some(last) = all.last_mut()
        {
            last.push(word(bare, nth == 0));
        }
        let ends = bare.is_empty() || written.ends_with([',', ';', ':', '.', '!', ')', '—', '–']);
        // "Mr." and "v1." end no clause.
        let is_short = bare.chars().count() <= 2 && written.ends_with('.');
        if ends && all.last().is_some_and(|last| !last.is_empty()) && !is_short {
            labels.extend(written.ends_with(':').then(|| all.len() - 1));
            all.push(Vec::new());
        }
    }
    let all = all.into_iter().enumerate().map(|(nth, words)| clause(words, labels.contains(&nth)));
    all.filter(|clause| !clause.words.is_empty()).collect()
}

/// Returns a sentence in lower case with one blank around each word and no marks.
pub(super) fn padded(sentence: &str) -> String {
    let mut text = String::from(" ");
    for word in sentence.split_whitespace() {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
        text.push_str(&bare.to_lowercase().replace('’', "'"));
        text.push(' ');
    }
    text
}

fn word(bare: &str, is_first: bool) -> Word {
    let lower = bare.to_lowercase().replace('’', "'");
    let text = lower.strip_suffix("'s").unwrap_or(&lower).to_owned();
    let marks = |c: char| c.is_ascii_digit() || matches!(c, '/' | '#' | '@' | '_');
    let is_capital = bare.starts_with(char::is_uppercase) && !is_first;
    Word { stem: stem(&text), is_name: is_capital || bare.contains(marks), text }
}

/// Returns a word without an ending of English.
pub(super) fn stem(word: &str) -> String {
    if word.contains(|c: char| !c.is_alphabetic()) {
        return word.to_owned();
    }
    let plain = match word.strip_suffix("ies") {
        Some(rest) if rest.len() > 2 => format!("{rest}y"),
        _ => {
            let rest = ["ing", "ed", "s"].iter().find_map(|ending| word.strip_suffix(ending));
            let rest = rest.filter(|rest| rest.len() > 1 && !rest.ends_with('s') && !rest.ends_with("ee"));
            rest.unwrap_or(word).to_owned()
        }
    };
    let plain = plain.strip_suffix('e').filter(|rest| rest.len() > 1).unwrap_or(&plain);
    let mut ends = plain.chars().rev();
    match (ends.next(), ends.next()) {
        (Some(last), Some(before)) if last == before => plain[..plain.len() - last.len_utf8()].to_owned(),
        _ => plain.to_owned(),
    }
}

fn clause(mut words: Vec<Word>, is_label: bool) -> Clause {
    let is_limited = words.first().is_some_and(|first| first.text == "only");
    let mut is_open = true;
    while is_open {
        let n_opening =
            OPENING_PHRASES.iter().find(|phrase| begins(&words, phrase)).map_or(0, |one| one.len());
        let opener = || words.first().is_some_and(|first| OPENERS.contains(&&*first.text));
        let n = if n_opening > 0 { n_opening } else { usize::from(opener()) };
        words.drain(..n);
        is_open = n > 0;
    }
    let ends = (1..words.len()).find(|at| AFTERTHOUGHTS.iter().any(|phrase| begins(&words[*at..], phrase)));
    words.truncate(ends.unwrap_or(words.len()));
    let mut at = 0;
    let texts: Vec<String> = words.iter().map(|word| word.text.clone()).collect();
    words.retain(|word| {
        at += 1;
        let is_of = word.text == "instead" && texts.get(at).is_some_and(|next| next == "of");
        is_of || !ARTICLES.contains(&&*word.text) && !ADVERBS.contains(&&*word.text)
    });
    let change = words.iter().skip(1).position(|word| CHANGING.contains(&&*word.text)).map(|at| at + 1);
    let is_of_several = texts.iter().any(|text| ["a", "an", "another"].contains(&&**text));
    Clause { verb: verb(&words), change, is_of_several, is_label, is_limited, words }
}

/// Returns whether `words` begin with a phrase.
pub(super) fn begins(words: &[Word], phrase: &[&str]) -> bool {
    phrase.len() <= words.len() && phrase.iter().zip(words).all(|(one, word)| word.text == *one)
}

/// Returns the place of the verb behind which a value may stand.
fn verb(words: &[Word]) -> Option<usize> {
    let first = words.first()?;
    if PERSONS.contains(&&*first.text) {
        // "I restarted the phone" tells what was done.
        let tells = |word: &Word| {
            word.text.ends_with("ed") && word.text != "need" && !CHOOSING.contains(&&*word.stem)
                || DID.contains(&&*word.text)
        };
        return words.get(1).filter(|word| !tells(word)).map(|_| 1);
    }
    let is_finite = |word: &Word| BEING.contains(&&*word.text) || HAVING.contains(&&*word.text);
    let finite = words.iter().take(FURTHEST).skip(1).position(is_finite).map(|at| at + 1);
    finite.or_else(|| ORDERS.contains(&&*first.text).then_some(0))
}

/// A verb stands among so many of the first words.
const FURTHEST: usize = 7;
