//! What was said about something: by all words that were asked for, by one side of `OR`, or by the most of them.

use std::collections::HashSet;

use longhaul_store::{Query, SummaryStore as _, readable_text};
use longhaul_transcript::{Message, Span};

use super::HITS;
use crate::{
    driver::{Error, Session},
    session::{Shown, changed},
};

/// How many are found, of which those that are no longer shown come first.
const LOOKED_AT: usize = 4 * HITS;

impl Session {
    /// Returns the messages that hold all of the words, the best first, or where `OR` or `|` stands between them those of one
    /// side; where there are none, those that hold the most, and a note that says so. What is still shown comes last.
    pub(super) async fn found(&self, query: &str) -> Result<(Vec<Found>, Option<String>), Error> {
        let (mut found, sides): (Vec<Found>, Vec<String>) = (Vec::new(), sides(query));
        for side in sides.iter().cloned().chain(sides.iter().flat_map(|side| inflected(side))) {
            let hits = self.holding(&side, Wanted::All).await?;
            found.extend(hits.into_iter().map(|(ordinal, message)| Found {
                ordinal,
                message,
                by: side.clone(),
            }));
        }
        let mut note = None;
        if found.is_empty() {
            note = Some("no message holds all of these words: these hold some".to_owned());
            let by = sides.join(" ");
            let hits = self.holding(&by, Wanted::Some).await?.into_iter();
            found.extend(hits.map(|(ordinal, message)| Found { ordinal, message, by: by.clone() }));
        }
        let mut known = HashSet::new();
        found.retain(|hit| known.insert(hit.ordinal));
        let view = self.state.view();
        let shown: HashSet<u64> = view.shown().filter_map(whole).collect();
        found.sort_by_key(|hit| shown.contains(&hit.ordinal));
        found.truncate(HITS);
        Ok((found, note))
    }

    /// Returns the messages that hold all words of `query`, or the most of them, the best first.
    async fn holding(&self, query: &str, wanted: Wanted) -> Result<Vec<(u64, Message)>, Error> {
        if let Some(journal) = &self.journal {
            let (store, line) = (journal.store(), journal.line());
            let hits = match wanted {
                Wanted::All => store.search_in_line(line, query, LOOKED_AT).await,
                Wanted::Some => store.search_some_in_line(line, query, LOOKED_AT).await,
            };
            let hits = hits.map_err(Error::Store)?.into_iter();
            return Ok(hits.map(|hit| (hit.id.ordinal, hit.message.unwrap_or_else(changed))).collect());
        }
        let query = Query::new(query);
        let entries = self.state.clean_in(Span { start: 0, end: u64::MAX }).into_iter().rev();
        let fits = entries.map(|entry| (query.fit(&readable_text(&entry.message)), entry));
        let mut hits: Vec<_> = fits.filter(|(fit, _)| fit.missing < query.words().len()).collect();
        let least = match wanted {
            Wanted::All => Some(0),
            Wanted::Some => hits.iter().map(|(fit, _)| fit.missing).min(),
        };
        hits.retain(|(fit, _)| Some(fit.missing) == least);
        hits.sort_by_key(|(fit, _)| *fit);
        let hits = hits.into_iter().take(LOOKED_AT);
        Ok(hits.map(|(_, entry)| (entry.id.ordinal, (*entry.message).clone())).collect())
    }
}

/// How many words of a query a message must hold.
#[derive(Clone, Copy, Debug)]
enum Wanted {
    All,
    Some,
}

/// Returns the sides of a query between which `OR` or `|` stands.
fn sides(query: &str) -> Vec<String> {
    let mut sides = vec![Vec::new()];
    for word in query.split_whitespace().flat_map(|word| word.split_inclusive('|')) {
        let (word, is_next) = match word.strip_suffix('|') {
            Some(word) => (word, true),
            None if word == "OR" => ("", true),
            None => (word, false),
        };
        sides.last_mut().into_iter().for_each(|side| side.extend(Some(word).filter(|word| !word.is_empty())));
        if is_next {
            sides.push(Vec::new());
        }
    }
    sides.iter().map(|side| side.join(" ")).filter(|side| !side.is_empty()).collect()
}

/// A message that was found, and the words that it was found by.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) ordinal: u64,
    pub(super) message: Message,
    pub(super) by: String,
}

/// Returns the ordinal of a message that the view shows as it was said.
fn whole(shown: &Shown) -> Option<u64> {
    match shown {
        Shown::Message { id, digested: false, .. } => Some(id.ordinal),
        _ => None,
    }
}

/// Returns a query with one word of it in the plural or the genitive where it is not, and without that ending where it is, for each of
/// its first words.
fn inflected(query: &str) -> Vec<String> {
    /// So many words are looked for otherwise.
    const MOST: usize = 8;
    let words: Vec<&str> = query.split_whitespace().collect();
    let mut queries = Vec::new();
    for at in 0..words.len().min(MOST) {
        for other in other_numbers(words[at]) {
            queries.push([&words[..at], &[other.as_str()], &words[at + 1..]].concat().join(" "));
        }
    }
    queries
}

/// Returns a word in the plural where it is none, and else what it may be the plural of.
fn other_numbers(word: &str) -> Vec<String> {
    let word = word.to_lowercase();
    if word.chars().count() < 3 || !word.chars().all(char::is_alphabetic) {
        return Vec::new();
    }
    let is_hissed = |stem: &str| ["s", "x", "z", "ch", "sh"].iter().any(|end| stem.ends_with(end));
    match word.strip_suffix('s') {
        Some(_) if ["ss", "us", "is"].iter().any(|end| word.ends_with(end)) => vec![format!("{word}es")],
        Some(stem) => {
            let of_y = stem.strip_suffix("ie").map(|stem| format!("{stem}y"));
            let of_es = stem.strip_suffix('e').filter(|stem| is_hissed(stem)).map(str::to_owned);
            [Some(stem.to_owned()), of_y, of_es].into_iter().flatten().collect()
        }
        None if is_hissed(&word) => vec![format!("{word}es")],
        None => {
            let of_y = word.strip_suffix('y').map(|stem| format!("{stem}ies"));
            [Some(format!("{word}s")), of_y].into_iter().flatten().collect()
        }
    }
}
