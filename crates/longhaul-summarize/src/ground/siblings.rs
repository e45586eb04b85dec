//! What belongs to one thing told of another of its kind: a price, a day, a booking, which no record of the source has together.

use std::collections::HashMap;

use super::{
    evidence::Evidence,
    names::trimmed,
    numbers::{digits_of, label},
    words::{hash, identifier_parts, stem, stems, words},
};

/// Where things of a kind stand in the source: paths of one file name, names of one pattern, numbers of one thing.
#[derive(Debug, Default)]
pub(super) struct Kinds {
    places: HashMap<u64, Vec<Place>>,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    at: u32,
    name: u64,
}

impl Kinds {
    /// Notes what stands in `text`, which begins at `base`.
    pub(super) fn note(&mut self, text: &str, base: usize) {
        for Literal { at, kinds, name, .. } in literals(text) {
            for kind in kinds {
                let places = self.places.entry(kind).or_default();
                if places.len() <= MOST_SIBLINGS {
                    places.push(Place { at: (base + at) as u32, name });
                }
            }
        }
    }
}

/// Returns whether two things that a claim names side by side stand in no record together.
pub(super) fn is_torn(claim: &str, evidence: &Evidence) -> bool {
    let is_everywhere = |literal: &Literal| {
        let mut kinds = literal.kinds.iter().filter_map(|kind| evidence.kinds.places.get(kind));
        kinds.any(|places| places.len() > MOST_SIBLINGS)
    };
    let mut own: Vec<Literal> = literals(claim).collect();
    own.sort_unstable_by_key(|literal| literal.at);
    if own.len() > MOST_NAMED {
        return false;
    }
    let places = |literal: &Literal| -> Vec<usize> {
        let all = literal.kinds.iter().filter_map(|kind| evidence.kinds.places.get(kind)).flatten();
        let mut found: Vec<usize> =
            all.filter(|place| place.name == literal.name).map(|place| place.at as usize).collect();
        found.sort_unstable();
        found
    };
    own.windows(2).any(|pair| {
        let between = claim.get(pair[0].at..pair[1].at).unwrap_or_default();
        // What is joined by a comma or an `and` may be of two records.
        let is_joined = between.contains([';', ':', ',', '(', ')', '—'])
            || words(between).any(|(_, word)| JOINING.contains(&word.to_lowercase().as_str()));
        if pair[0].name == pair[1].name || is_joined {
            return false;
        }
        let behind = claim[pair[1].at..].split(' ').next().map_or(0, str::len);
        // `gift_card_12 has $157`: a record has the number without its sign.
        let from = claim[..pair[0].at].strip_suffix('$').map_or(pair[0].at, str::len);
        if claim.get(from..pair[1].at + behind).is_some_and(|pair| evidence.records.has_amounts(pair)) {
            return false;
        }
        let (one, other) = (places(&pair[0]), places(&pair[1]));
        // Of what stands in too many places not all are known.
        if one.is_empty() || other.is_empty() || is_everywhere(&pair[0]) || is_everywhere(&pair[1]) {
            return false;
        }
        let is_near = |at: &usize| {
            let next = other.partition_point(|there| there < at);
            [next.checked_sub(1), Some(next)].into_iter().flatten().filter_map(|nth| other.get(nth)).any(
                |there| {
                    let (Some(a), Some(b)) = (evidence.clause_at(*at), evidence.clause_at(*there)) else {
                        return false;
                    };
                    a.ordinal.abs_diff(b.ordinal) <= 1 && at.abs_diff(*there) <= TOGETHER
                },
            )
        };
        !one.iter().any(is_near)
    })
}

/// Words that join two things, each of which may have a record of its own.
const JOINING: [&str; 9] = ["and", "or", "but", "while", "then", "against", "than", "before", "after"];

/// A claim that names more is a list.
const MOST_NAMED: usize = 5;
/// Bytes between two things of one record.
const TOGETHER: usize = 1_500;

/// More things of a kind than this are no siblings; each is looked at with what stands around it.
const MOST_SIBLINGS: usize = 400;

struct Literal {
    at: usize,
    /// What it is one of.
    kinds: Vec<u64>,
    name: u64,
}

/// Returns the paths, names with digits and labelled numbers of a text.
fn literals(text: &str) -> impl Iterator<Item = Literal> + '_ {
    let base = text.as_ptr() as usize;
    let tokens = text.split(|c: char| c.is_whitespace() || "\"`,;()[]{}<>".contains(c));
    let names = tokens.filter_map(move |token| {
        let token = trimmed(token).trim_matches(['\'', '*', ':', '=']);
        let (kind, name) = kind_of(token)?;
        Some(Literal { at: token.as_ptr() as usize - base, kinds: vec![kind], name })
    });
    names.chain(labelled(text))
}

/// `src/a/list.rs` is one of the files of its name, `L1002` and `OBUT9V` one of the names of their pattern.
fn kind_of(token: &str) -> Option<(u64, u64)> {
    if !token.is_ascii() || token.len() < 3 || token.len() > LONGEST || token.contains("://") {
        return None;
    }
    let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    if (7..=40).contains(&token.len()) && token.bytes().all(is_hex) {
        let has_both =
            token.bytes().any(|b| b.is_ascii_digit()) && token.bytes().any(|b| b.is_ascii_alphabetic());
        return has_both.then(|| (hash("hash"), hash(&token[..7])));
    }
    if token.contains('/') {
        // A place in a file (`src/a.rs:4:2`) is the file.
        let token = token.split(':').next().unwrap_or(token);
        let name = token.rsplit('/').next().filter(|name| name.contains('.'))?;
        let folder = token.rsplit('/').nth(1)?;
        return Some((hash(&format!("file {name}")), hash(folder)));
    }
    let has = |test: fn(&u8) -> bool| token.bytes().any(|byte| test(&byte));
    let is_plain = token.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_#-".contains(&byte));
    let digits = token.bytes().filter(u8::is_ascii_digit).count();
    if !is_plain
        || !has(u8::is_ascii_digit)
        || !has(u8::is_ascii_alphabetic)
        || has(u8::is_ascii_lowercase) && digits < 3
    {
        return None;
    }
    // What stands before the digits: `gift_card_7480005`, `#W5061109`, `HAT229`; a code of capitals has no such front.
    let front = token.trim_end_matches(|c: char| c.is_ascii_digit());
    let is_code = front.bytes().any(|byte| byte.is_ascii_digit()) || front == token;
    let pattern = match is_code {
        true if has(u8::is_ascii_lowercase) => return None,
        true => format!("code {}", token.len()),
        false => format!("front {front}"),
    };
    Some((hash(&pattern), hash(token)))
}

/// A longer token is no name.
const LONGEST: usize = 120;

/// Returns the numbers of a text with what they count: `line 239`, `10 hours`, `$271.89`.
fn labelled(text: &str) -> impl Iterator<Item = Literal> + '_ {
    let told: Vec<(usize, &str)> = words(text).collect();
    let mut found = Vec::new();
    let mut nth = 0;
    while nth < told.len() {
        let (at, word) = told[nth];
        let in_words = NUMBERS.iter().position(|number| word.eq_ignore_ascii_case(number));
        if in_words.is_none() && !word.bytes().all(|byte| byte.is_ascii_digit()) {
            nth += 1;
            continue;
        }
        let mut end = at + word.len();
        let mut last = nth;
        while let Some((next_at, next)) = told.get(last + 1).copied()
            && next_at == end + 1
            && matches!(text.as_bytes()[end], b'.' | b',')
            && next.bytes().all(|byte| byte.is_ascii_digit())
        {
            last += 1;
            end = next_at + next.len();
        }
        let number = in_words.map_or_else(|| digits_of(&text[at..end]), |nth| (nth + 2).to_string());
        let mut kinds = Vec::new();
        if let Some((before_at, before)) = nth.checked_sub(1).map(|nth| told[nth])
            && before.eq_ignore_ascii_case("line")
            && at - before_at - before.len() <= 3
        {
            kinds.push(hash("line"));
        }
        if let Some((next_at, next)) = told.get(last + 1).copied()
            && (text[end..next_at].trim().is_empty() || &text[end..next_at] == "-")
            && let Some(unit) = label(next)
        {
            kinds.push(unit);
        }
        let near = &told[nth.saturating_sub(FOUND_WITHIN)..(last + FOUND_WITHIN).min(told.len())];
        if near.iter().any(|(_, word)| word.eq_ignore_ascii_case("found")) {
            kinds.push(hash("found"));
        }
        let is_money = text[..at].ends_with('$')
            || number.split_once('.').is_some_and(|(_, decimals)| decimals.len() == 2);
        if is_money {
            kinds.push(hash("$"));
        }
        if !kinds.is_empty() {
            let name = hash(number.trim_end_matches('0').trim_end_matches('.'));
            let name = if number.contains('.') { name } else { hash(&number) };
            found.push(Literal { at, kinds, name });
        }
        nth = last + 1;
    }
    found.into_iter()
}

const NUMBERS: [&str; 11] =
    ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];
/// Words between a number and the `found` that says what it counts.
const FOUND_WITHIN: usize = 8;

/// Returns the content words of what stands around a place, and the parts of its identifiers.
pub(super) fn stems_of(around: &str) -> Vec<u64> {
    let mut all = stems(around);
    all.extend(words(around).flat_map(|(_, word)| identifier_parts(word)).filter_map(stem));
    all
}
