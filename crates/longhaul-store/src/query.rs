//! What is looked for, and how well a text answers it: one order of hits wherever messages are searched.

use std::cmp::Reverse;

use longhaul_transcript::one_line;

use crate::search::{each_word, each_word_at, is_without_spaces, lower, words};

/// Words to look for, and how they were written.
#[derive(Clone, Debug)]
pub struct Query {
    /// As it was written, in lower case, one blank between what blanks keep apart.
    written: String,
    /// Each word once, the longest first.
    words: Vec<String>,
}

/// How well a text answers a query; the less, the better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fit {
    /// How many of the words it lacks.
    pub missing: usize,
    /// Whether the query does not stand in it as it was written.
    pub is_reworded: bool,
    /// How many pieces of the query, as blanks keep them apart, do not stand in it as they were written.
    pub torn: usize,
    /// Over how many bytes the words are spread where they stand closest together.
    pub spread: usize,
}

/// A word of a query in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WordPlace {
    /// Where it begins, in bytes.
    pub at: usize,
    /// How long what holds it is, in bytes.
    pub length: usize,
    /// Which of [`Query::telling`] it is.
    pub word: usize,
}

/// So many words, or pieces, of a long query tell where the best places are.
const TELLING: usize = 32;

impl Query {
    /// Returns the query that `text` is. Quotes around all of it are none of it.
    pub fn new(text: &str) -> Query {
        let text = text.trim().trim_matches(['"', '\'', '`', '“', '”']);
        let mut words: Vec<String> = words(text).collect();
        words.sort_unstable();
        words.dedup();
        words.sort_by_key(|word| Reverse(word.len()));
        Query { written: lower(&one_line(text)), words }
    }

    /// Returns its words, each once.
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// Returns the words that are looked at one by one: of many the longest.
    pub fn telling(&self) -> &[String] {
        &self.words[..self.words.len().min(TELLING)]
    }

    /// Returns how well `text` answers.
    pub fn fit(&self, text: &str) -> Fit {
        let mut missing: Vec<&String> = self.words.iter().collect();
        each_word(text, |word| {
            missing.retain(|missing| *missing != word);
            !missing.is_empty()
        });
        let missing = missing.len();
        let text_lower = lower(text);
        let is_reworded = self.written.is_empty() || standing(&text_lower, &self.written).is_none();
        if !is_reworded {
            return Fit { missing, is_reworded, torn: 0, spread: 0 };
        }
        let pieces = self.written.split(' ').take(TELLING);
        let torn = pieces.filter(|piece| standing(&text_lower, piece).is_none()).count();
        let spread = self.closest(text).map_or(usize::MAX, |(_, spread)| spread);
        Fit { missing, is_reworded, torn, spread }
    }

    /// Returns where in `text` is best looked: where all of it stands as it was written, else where its words stand closest
    /// together, else where the first of them does.
    pub fn place_in(&self, text: &str) -> Option<usize> {
        self.place_of_all(text).or_else(|| self.places(text).first().map(|place| place.at))
    }

    /// The same, but nowhere where one of its words does not stand in `text`.
    pub fn place_of_all(&self, text: &str) -> Option<usize> {
        let text_lower = lower(text);
        // Lower case may be longer or shorter than the text; the place is then only near.
        let written = standing(&text_lower, &self.written).map(|at| text.floor_char_boundary(at));
        written.or_else(|| self.closest(text).map(|(at, _)| at))
    }

    /// Returns the places in `text` where one of [`telling`](Self::telling) stands, in order.
    pub fn places(&self, text: &str) -> Vec<WordPlace> {
        /// As many places tell where the best is.
        const ENOUGH: usize = 2_000;
        let mut places = Vec::new();
        each_word_at(text, |at, length, word| {
            if let Some(word) = self.telling().iter().position(|told| told == word) {
                places.push(WordPlace { at, length, word });
            }
            places.len() < ENOUGH
        });
        places
    }

    /// Returns where in `text` all the words stand closest together, and over how many bytes.
    fn closest(&self, text: &str) -> Option<(usize, usize)> {
        let places = self.places(text);
        let (mut times, mut held, mut start) = (vec![0; self.telling().len()], 0, 0);
        let mut best: Option<(usize, usize)> = None;
        for last in &places {
            held += usize::from(times[last.word] == 0);
            times[last.word] += 1;
            while held == times.len() {
                let first = places[start];
                let spread = last.at + last.length - first.at;
                best = best.filter(|(_, best)| *best <= spread).or(Some((first.at, spread)));
                times[first.word] -= 1;
                held -= usize::from(times[first.word] == 0);
                start += 1;
            }
        }
        best
    }
}

/// Returns where `written` stands in `text`, whatever blanks stand between its words, and no word goes on beyond its ends.
fn standing(text: &str, written: &str) -> Option<usize> {
    let pieces: Vec<&str> = written.split(' ').filter(|piece| !piece.is_empty()).collect();
    match &pieces[..] {
        [] => None,
        [one] => {
            let stands = |at: &usize| is_edge(text, *at) && is_edge(text, at + one.len());
            text.match_indices(one).map(|(at, _)| at).find(stands)
        }
        [first, between @ .., last] if text.contains(first) => {
            // Blanks stand around all but the ends.
            let held: Vec<&str> = text.split_whitespace().collect();
            let place = |piece: &str| piece.as_ptr() as usize - text.as_ptr() as usize;
            let stands = |from: usize| {
                let (before, after) = (held.get(from.checked_sub(1)?)?, held.get(from + between.len())?);
                let at = place(before) + before.strip_suffix(first)?.len();
                let end = place(after) + after.starts_with(last).then_some(last.len())?;
                (is_edge(text, at) && is_edge(text, end)).then_some(at)
            };
            each_run(&held, between).find_map(stands)
        }
        _ => None,
    }
}

/// Returns where all of `wanted` stands in `held`, one after the other. Nothing is looked at more than twice, however often a
/// part of it is repeated.
fn each_run(held: &[&str], wanted: &[&str]) -> impl Iterator<Item = usize> {
    // How much of the beginning of `wanted` ends where so much of it does.
    let mut again = vec![0; wanted.len() + 1];
    let step = |again: &[usize], mut n: usize, piece: &str| {
        while n > 0 && wanted.get(n).is_none_or(|next| *next != piece) {
            n = again[n];
        }
        n + usize::from(wanted.get(n).is_some_and(|next| *next == piece))
    };
    for at in 1..wanted.len() {
        again[at + 1] = step(&again, again[at], wanted[at]);
    }
    let mut n = 0;
    (0..=held.len())
        .filter(move |end| {
            n = if *end == 0 { 0 } else { step(&again, n, held[end - 1]) };
            n == wanted.len()
        })
        .map(|end| end - wanted.len())
}

/// Returns whether no word goes on across this place of `text`.
fn is_edge(text: &str, at: usize) -> bool {
    let goes_on = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() && !is_without_spaces(c));
    !(goes_on(text[..at].chars().next_back()) && goes_on(text[at..].chars().next()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_holds_it_as_it_is_written_comes_before_scattered_words() {
        let query = Query::new("\"src/part_17.rs\"");
        let texts = [
            "It is in SRC/part_17.rs, line 3.",
            "see src/part_171.rs and src/part_2.rs; 17 of them",
            "the 17 files of src: part a.rs",
            "src/part_171.rs",
            "17 src",
        ];
        let fits: Vec<Fit> = texts.iter().map(|text| query.fit(text)).collect();
        assert!(fits.is_sorted(), "{fits:?}");
        assert_eq!((fits[0].is_reworded, fits[1].is_reworded), (false, true));
        assert_eq!((fits[0].spread, fits[1].spread, fits[2].spread), (0, 17, 26));
        assert_eq!(fits.iter().map(|fit| fit.missing).collect::<Vec<_>>(), [0, 0, 0, 1, 2]);
    }

    #[test]
    fn a_query_is_known_whatever_blanks_and_case_it_stands_in() {
        let is_reworded = |text: &str, query: &str| Query::new(query).fit(text).is_reworded;
        assert!(!is_reworded("the RETRY\n  budget.", "Retry budget"));
        assert!(is_reworded("retrybudget and budget retry", "retry budget"));
        assert!(is_reworded("the retry budgets", "retry budget"));
        assert!(!is_reworded("请先读文件再改", "文件"));
        assert!(!is_reworded("in C++, say", "c++"));
        assert!(is_reworded("anything", ""));
    }

    #[test]
    fn a_phrase_of_a_script_without_spaces_comes_before_its_words_apart() {
        let query = Query::new("Redis 服务器");
        let texts =
            ["Redis 服务器", "服务器和 Redis 的配置", "Redis 任务要用一台机器来服从", "服, 务, 器, Redis"];
        let fits: Vec<Fit> = texts.iter().map(|text| query.fit(text)).collect();
        assert!(fits[..2].iter().all(|fit| fits[2..].iter().all(|other| fit < other)), "{fits:?}");
        let turned = Query::new("读取文件");
        let (near, apart) = (turned.fit("先把文件读取出来"), turned.fit("读, 取, 文, 件"));
        assert!(near < apart && near.spread == "文件读取".len(), "{near:?} {apart:?}");
        let places = query.places("启动 Redis 服务器");
        let at: Vec<(usize, usize)> = places.iter().map(|place| (place.at, place.length)).collect();
        assert_eq!(at, [(7, 5), (13, 3), (16, 3), (19, 3)]);
    }

    #[test]
    fn a_query_that_repeats_itself_costs_no_more_than_another() {
        let text = "a ".repeat(60_000);
        let query = format!("{}b", "a ".repeat(30_000));
        assert_eq!(standing(&text, &query), None);
        assert_eq!(standing(&format!("{text}x-a b"), "a b"), Some(text.len() + 2));
        assert_eq!(standing(&format!("{text}b!"), &query), Some(text.len() - 60_000));
    }

    #[test]
    fn words_are_spread_as_they_stand_closest() {
        let spread = |text: &str, query: &str| Query::new(query).fit(text).spread;
        assert_eq!(spread("retry a budget", "retry budget"), 14);
        assert_eq!(spread("budget, retry once, and the budget or retry", "retry budget"), 13);
        assert_eq!(spread("retry", "retry budget"), usize::MAX);
        assert_eq!(spread("b a b", ""), usize::MAX);
    }
}
