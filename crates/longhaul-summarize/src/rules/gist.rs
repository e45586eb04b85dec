//! What a person asks in less room than it takes, where it holds demands that last: these stay, and what is asked.

use longhaul_extract::{demand_kind, is_passing_wish};

use super::{asks::is_substantial, clip::GAP, persons::is_lasting};
use crate::sentences::sentences;

/// Returns as many sentences of `text` as `fits` takes, in their order, with a gap where some are left out: what is asked first,
/// demands that last, what else is asked, what is only told, and of each the first. `None` where nothing in it lasts, or no clause of what
/// is asked fits.
pub fn gist(text: &str, fits: impl Fn(&str) -> bool) -> Option<String> {
    let mut all: Vec<(usize, &str)> = text
        .lines()
        .enumerate()
        .flat_map(|(nth, line)| sentences(line).map(move |sentence| (nth, sentence.trim())))
        .collect();
    let ranks: Vec<Rank> = all.iter().take(MOST_SENTENCES).map(|(_, sentence)| Rank::of(sentence)).collect();
    if !ranks.contains(&Rank::Lasting) {
        return None;
    }
    // What is asked first is what the rest is said about, even where it has a demand in it.
    let is_asked = |at: &usize| ranks[*at] == Rank::Asked || ranks[*at] == Rank::Lasting && asks(all[*at].1);
    let request = (0..ranks.len()).find(is_asked);
    let request = request.or_else(|| all.iter().position(|(_, sentence)| is_substantial(sentence)));
    let request = request.filter(|at| *at < ranks.len());
    let mut order: Vec<usize> = (0..ranks.len()).collect();
    order.sort_by_key(|at| (Some(*at) != request, ranks[*at], *at));
    let mut stays = vec![false; all.len()];
    let (mut told, mut clipped) = (None, None);
    for at in order {
        stays[at] = true;
        let mut text = Some(rendered(&all, &stays, clipped)).filter(|text| fits(text));
        if text.is_none() && Some(at) == request {
            // Of the request at least a clause, or nothing is told of it.
            clipped = Some(at);
            text = clauses(all[at].1).find_map(|clause| {
                all[at].1 = clause;
                Some(rendered(&all, &stays, clipped)).filter(|text| fits(text))
            });
            text.as_ref()?;
        }
        stays[at] = text.is_some();
        told = text.or(told);
    }
    told
}

/// Returns the beginnings of a sentence that end where a clause does, the longest first.
fn clauses(sentence: &str) -> impl Iterator<Item = &str> {
    let ends = sentence.rmatch_indices([',', ';', ':', '，', '；', '：']).map(|(at, _)| &sentence[..at]);
    ends.filter(|clause| is_substantial(clause))
}

/// Returns whether nothing that lasts is in `text` that is not in `cut`, which was made of it.
pub fn keeps_demands(text: &str, cut: &str) -> bool {
    let mut lasting = text.lines().flat_map(sentences).take(MOST_SENTENCES).map(str::trim);
    lasting.all(|sentence| cut.contains(sentence) || Rank::of(sentence) != Rank::Lasting)
}

/// What a sentence is worth, most first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Lasting,
    Asked,
    Told,
}

impl Rank {
    fn of(sentence: &str) -> Rank {
        match demand_kind(sentence) {
            Some(_) if is_lasting(sentence) => Rank::Lasting,
            None if !is_passing_wish(sentence) && !asks(sentence) => Rank::Told,
            _ => Rank::Asked,
        }
    }
}

/// Returns whether a sentence, or a clause of it, asks for something.
fn asks(sentence: &str) -> bool {
    let mut clauses = sentence.split([',', ';', ':']).filter_map(|clause| clause.split_whitespace().next());
    sentence.ends_with(['?', '？'])
        || orders(sentence)
        || clauses.any(|first| ASKING.iter().any(|word| first.eq_ignore_ascii_case(word)))
}

/// Returns whether a sentence begins as an order does, with what is to be done and to what: `Port the exporter`, `Move all of it`.
fn orders(sentence: &str) -> bool {
    let mut words = sentence.split_whitespace();
    let (Some(first), Some(second)) = (words.next(), words.next()) else { return false };
    let is_in = |list: &[&str], word: &str| list.iter().any(|one| word.eq_ignore_ascii_case(one));
    first.chars().all(char::is_alphabetic)
        && first.chars().nth(1).is_some()
        && !is_in(&NO_ORDERS, first)
        && (is_in(&OBJECTS, second) || second.starts_with(['`', '/']))
}

/// What stands behind what is to be done.
const OBJECTS: [&str; 18] = [
    "the", "a", "an", "all", "any", "both", "each", "every", "this", "that", "these", "those", "my", "our",
    "your", "its", "their", "it",
];

/// What stands there behind these is what is told of.
const NO_ORDERS: [&str; 60] = [
    "about", "above", "after", "all", "also", "although", "and", "as", "at", "because", "before", "behind",
    "besides", "between", "both", "but", "by", "did", "does", "during", "even", "for", "from", "had", "has",
    "have", "here", "how", "if", "in", "into", "is", "just", "like", "not", "now", "of", "on", "once",
    "only", "or", "over", "per", "since", "so", "than", "that", "then", "there", "though", "through", "to",
    "under", "until", "was", "what", "when", "where", "while", "with",
];

/// How a clause begins that asks for something.
const ASKING: [&str; 14] = [
    "add", "can", "check", "could", "explain", "find", "fix", "help", "look", "make", "mend", "please",
    "tell", "write",
];

/// Returns the sentences that stay; of the `clipped` one something is missing.
fn rendered(all: &[(usize, &str)], stays: &[bool], clipped: Option<usize>) -> String {
    let (mut text, mut last) = (String::new(), None);
    for (at, (line, sentence)) in all.iter().enumerate().filter(|(at, _)| stays[*at]) {
        text.push_str(match last {
            None if at == 0 => "",
            None => GAP.trim_start(),
            Some((before, _)) if before + 1 != at || Some(before) == clipped => GAP,
            Some((_, other)) if other != line => "\n",
            Some(_) => " ",
        });
        text.push_str(sentence);
        last = Some((at, line));
    }
    if !stays.last().is_some_and(|stays| *stays) || clipped.is_some_and(|at| at + 1 == all.len()) {
        text.push_str(GAP.trim_end());
    }
    text
}

/// So many sentences are read: what is longer is no request but a page.
const MOST_SENTENCES: usize = 200;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lasts_and_what_is_asked_stay_before_talk() {
        let text = "Hi, I must say that I am slightly sleep deprived, haha, it was a long night. The leader keeps dying, find out why and propose a fix. \
                    Read-only on production: no kubectl apply, delete or edit there.\nThe box is slow today. Never reboot a node.";
        let within = |most: usize| gist(text, |text| text.len() <= most);
        assert_eq!(within(1_000).as_deref(), Some(text));
        let told = within(180).unwrap();
        for stays in ["find out why", "no kubectl apply", "Never reboot"] {
            assert!(told.contains(stays), "{stays}: {told}");
        }
        assert!(!told.contains("sleep") && told.contains(GAP.trim()), "{told}");
        assert!(keeps_demands(text, &told) && !keeps_demands(text, &text[..100]));
        assert_eq!(within(10), None);
        let task = "Port the exporter to streaming, part by part. Please go on with part nine. Never rename a column.";
        let told = gist(task, |text| text.len() <= 90).unwrap();
        assert!(told.starts_with("Port the exporter") && told.contains("Never rename"), "{told}");
        assert_eq!(gist("Please look at it. It is slow.", |_| true), None);
        let task = "Please migrate the relay to the new library; the goal is that all twenty jobs run on it by May. Please go on with the mail digest.";
        let within = |most: usize| gist(task, |text| text.len() <= most);
        assert_eq!(
            within(110).unwrap(),
            "Please migrate the relay to the new library; the goal is that all twenty jobs run on it by May. […]"
        );
        assert_eq!(within(60).unwrap(), "Please migrate the relay to the new library […]");
        assert_eq!(within(40), None, "less than the clause tells of something else");
    }
}
