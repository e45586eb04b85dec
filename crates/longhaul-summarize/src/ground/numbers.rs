//! Numbers: which of a claim stand in the source, and beside what.

use std::collections::{BTreeSet, HashSet};

use super::{
    evidence::Evidence,
    words::{hash, identifier_parts, is_word_char, stem, stems, words},
};

/// Returns the first number of a claim that is not known. Each must stand in the source, beside the word it stands beside here where the
/// source counts that thing at all; or in a message that the claim cites; or near what the claim is about.
pub(super) fn unknown_number(prose: &str, claim: &str, cited: &[u64], evidence: &Evidence) -> Option<String> {
    let pairs = numbered(prose);
    let about = stems(claim);
    let labels: Vec<u64> = words(prose).filter_map(|(_, word)| label(word)).collect();
    let is_known = |number: &str, token: &str| {
        let plain = digits_of(number);
        let hashed = hash(&plain);
        let stands = evidence.has_number(number) || evidence.contains(number) || evidence.contains(token);
        let beside = pairs.iter().filter(|(_, other)| *other == hashed);
        let told: Vec<bool> = beside.filter_map(|(word, _)| evidence.is_pair(*word, hashed)).collect();
        // The only number that stands beside the word is another one of the claim: the two were changed over.
        let is_other = |word: u64| {
            evidence.is_pair(word, hashed) == Some(false)
                && evidence.counts_once(word)
                && pairs.iter().all(|(label, other)| *label != word || *other == hashed)
                && numbers(prose)
                    .any(|(other, _)| evidence.is_pair(word, hash(&digits_of(other))) == Some(true))
        };
        if pairs.iter().any(|(word, other)| *other == hashed && is_other(*word)) {
            return false;
        }
        // Beside this word here, beside another word of the claim in the source: `1 test failed`, `1 failed`.
        if told.contains(&true) || labels.iter().any(|word| evidence.is_pair(*word, hashed) == Some(true)) {
            return true;
        }
        // `#12` is a name, and `2026-11-09` the day of `2026-11-09T10:30`.
        let hashed_name = format!("#{number}");
        if prose.contains(&hashed_name) && evidence.contains(&hashed_name)
            || is_day(number) && evidence.has_piece(&format!("{number}T"))
            || counts_list(number, claim)
            // The last line of a file view says how many there are.
            || claim.contains(&format!("{number} lines")) && evidence.ends_view(number)
        {
            return true;
        }
        let is_small = plain.len() == 1;
        let is_telling = plain.len() >= 3 || plain.contains('.');
        let near: HashSet<u64> = about.iter().copied().filter(|stem| *stem != hashed).collect();
        match (stands, told.is_empty()) {
            // The source counts this very thing otherwise. The number may still be meant where what the claim is about
            // is near: more of it for `3` than for `31337`.
            (true, false) if is_telling && !cited.is_empty() => evidence.stands_in(number, cited),
            (true, false) => {
                let least = if is_telling { 1 } else { 2 };
                evidence.stands_near(number, &near, least, cited)
            }
            (true, true) => true,
            // One to nine of something that the source never counts is a count of what it lists.
            (false, told_nothing) => {
                is_small && told_nothing
                    || is_computed(&plain, prose)
                    || amount(&plain).is_some_and(|wanted| evidence.amounts.make(wanted))
            }
        }
    };
    let is_range = |number: &str| {
        // `735-815`: both ends of a range.
        let ends: Vec<&str> = number.split(['-', '/']).filter(|end| !end.is_empty()).collect();
        ends.len() == 2 && ends.iter().all(|end| is_known(end, end))
    };
    let mut unknown = numbers(prose).filter(|(number, token)| !is_known(number, token) && !is_range(number));
    unknown.next().map(|(_, token)| token.to_owned())
}

/// Returns the first day that a text names by its month and that the source does not have, in words or as `2026-11-09`.
pub(super) fn unknown_day(prose: &str, evidence: &Evidence) -> Option<String> {
    let told: Vec<&str> = words(prose).map(|(_, word)| word).collect();
    let is_day = |word: &&str| word.len() <= 2 && word.bytes().all(|byte| byte.is_ascii_digit());
    told.iter().enumerate().find_map(|(nth, word)| {
        let month = MONTHS.iter().position(|month| word.eq_ignore_ascii_case(month))?;
        let beside = [nth.checked_sub(1), Some(nth + 1)].into_iter().flatten();
        let mut days = beside.filter_map(|at| told.get(at).copied()).filter(is_day);
        let is_known = |day: &str| {
            let numeric = format!("-{:02}-{day:0>2}", month + 1);
            // `July3`, `Jul 3`
            evidence.has_piece(&MONTHS[month][..3]) || evidence.has_piece(&numeric)
        };
        days.find(|day| !is_known(day)).map(|day| format!("{word} {day}"))
    })
}

const MONTHS: [&str; 12] = [
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
    "November", "December",
];

/// Share of a claim, its numbers apart, that a sentence must hold to be about the same thing.
const SAME_THING: f64 = 0.6;

/// Returns whether the sentences that say what a claim says have another number in the place of one of its own: beside the
/// same word, where none of them has the claim's.
pub(super) fn is_other_number(prose: &str, claim: &str, evidence: &Evidence) -> bool {
    let pairs = numbered(prose);
    let own: HashSet<u64> = pairs.iter().map(|(_, number)| *number).collect();
    let counted: HashSet<u64> = numbers(prose).map(|(number, _)| hash(&digits_of(number))).collect();
    // A line has a number of its own, and a file so many of them.
    let lines = stem("line");
    pairs.iter().filter(|(label, _)| Some(*label) != lines).any(|(label, number)| {
        let rest: Vec<u64> = stems(claim).into_iter().filter(|stem| stem != number).collect();
        if rest.len() < LEAST_TOLD {
            return false;
        }
        let about = evidence.sentence_matches(&rest, SAME_THING);
        let said: Vec<&str> = about
            .iter()
            .take(MOST_SENTENCES)
            .filter_map(|found| evidence.clause(found.clause))
            .map(|clause| evidence.sentence_of(clause))
            .filter(|said| said.len() <= LONGEST_SENTENCE)
            .collect();
        let has_own = said.iter().any(|said| {
            words(said).any(|(_, word)| hash(word) == *number)
                || numbers(said).any(|(said, _)| hash(&digits_of(said)) == *number)
        });
        let has_other = said.iter().any(|said| {
            let there = numbered(said);
            there.iter().any(|(word, other)| {
                word == label && other != number && !own.contains(other) && !counted.contains(other)
            })
        });
        !has_own && has_other
    })
}

/// A claim of fewer content words may be about anything.
const LEAST_TOLD: usize = 3;
/// Sentences about the same thing that are compared.
const MOST_SENTENCES: usize = 12;
/// A longer sentence is a record of many numbers.
const LONGEST_SENTENCE: usize = 400;

fn is_day(number: &str) -> bool {
    number.len() == 10 && number.split('-').map(str::len).eq([4, 2, 2])
}

/// `13 functions: bold, italic, …`: the number of what is listed right behind it.
fn counts_list(number: &str, claim: &str) -> bool {
    let Ok(wanted) = number.parse::<usize>() else { return false };
    let Some((_, behind)) = claim.split_once(&format!("{number} ")) else { return false };
    let list = behind
        .split_once(": ")
        .or_else(|| behind.split_once(" ("))
        .filter(|(what, _)| words(what).count() <= 3);
    list.is_some_and(|(_, list)| {
        let list = list.split([';', ')', '.', ':']).next().unwrap_or_default();
        list.split(", ").filter(|item| !item.trim().is_empty()).count() == wanted
    })
}

/// Returns whether a number is the sum of others in the same claim, their difference, or a multiple: what a reader works
/// out for whoever reads the summary.
fn is_computed(number: &str, prose: &str) -> bool {
    let Some(wanted) = hundredths(number) else { return false };
    let others: Vec<i64> = numbers(prose)
        .filter_map(|(other, _)| hundredths(other))
        .filter(|other| *other != wanted)
        .take(MOST_ADDENDS)
        .collect();
    let is_sum = (0u32..1 << others.len()).any(|chosen| {
        let addends = others.iter().enumerate().filter(|(nth, _)| chosen >> nth & 1 == 1);
        chosen.count_ones() >= 2 && addends.map(|(_, value)| value).sum::<i64>() == wanted
    });
    let mut pairs = others.iter().flat_map(|one| others.iter().map(move |other| (*one, *other)));
    is_sum
        || pairs.any(|(one, other)| one - other == wanted || one * other == wanted * 100)
        || others.iter().any(|one| (2..=5).any(|times| one * times == wanted))
}

/// Returns a number in hundredths.
fn hundredths(number: &str) -> Option<i64> {
    let value: f64 = digits_of(number).parse().ok()?;
    (value.abs() < 1e12).then_some((value * 100.0).round() as i64)
}

/// Returns an amount of money in hundredths: a number with one decimal or two.
fn amount(number: &str) -> Option<i64> {
    let (_, decimals) = number.split_once('.')?;
    (1..=2).contains(&decimals.len()).then(|| hundredths(number)).flatten()
}

/// The amounts of money in the source: a summary tells what two of them make, a total or what one costs more than another.
#[derive(Debug, Default)]
pub(super) struct Amounts(BTreeSet<i64>);

impl Amounts {
    pub(super) fn note(&mut self, text: &str) {
        // Of very many nearly any amount is the sum of two.
        let all = numbers(text).filter_map(|(number, _)| amount(number));
        all.take_while(|_| self.0.len() <= MOST_AMOUNTS).collect::<Vec<_>>().into_iter().for_each(|one| {
            self.0.insert(one);
        });
    }

    /// Returns whether an amount is the sum of two of these, or what one is above another.
    fn make(&self, wanted: i64) -> bool {
        self.0.len() <= MOST_AMOUNTS
            && self.0.iter().any(|one| self.0.contains(&(wanted - one)) || self.0.contains(&(wanted + one)))
    }
}

/// More amounts than this are not added up.
const MOST_AMOUNTS: usize = 150;

/// More numbers than this in one claim are not tried as addends.
const MOST_ADDENDS: usize = 14;

/// Returns the numbers of a text that are words of their own or begin one, with what is written onto them (`30`, `30s`).
fn numbers(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let start = at + text[at..].find(|c: char| c.is_ascii_digit())?;
            let run = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',' | ':' | '-' | '/');
            let end = text[start..].find(|c| !run(c)).map_or(text.len(), |length| start + length);
            let begins_word = !text[..start].chars().next_back().is_some_and(|c| is_word_char(c) || c == '.');
            let number = text[start..end].trim_end_matches(|c: char| !c.is_ascii_digit());
            at = end + text[end..].find(|c| !is_word_char(c)).unwrap_or(text.len() - end);
            // Inside a name the name is what was looked up.
            if begins_word && text[end..at].chars().count() <= 3 {
                let token = if start + number.len() == end { &text[start..at] } else { number };
                return Some((number, token));
            }
        }
    })
}

/// Returns each number of `text` with each content word right beside it, as hashes. Units are brought to one
/// spelling, so `30s` and `30 seconds` are the same pair.
pub(super) fn numbered(text: &str) -> Vec<(u64, u64)> {
    pairs_of(text, |_| Vec::new())
}

/// Returns the same with the words of a name before a number: `data_used_gb: 15.1` is what was used.
pub(super) fn numbered_by_parts(text: &str) -> Vec<(u64, u64)> {
    pairs_of(text, |word| identifier_parts(word).into_iter().filter(|part| *part != word).collect())
}

fn pairs_of(text: &str, parts: impl Fn(&str) -> Vec<&str>) -> Vec<(u64, u64)> {
    let mut pairs = Vec::new();
    let mut before: Option<(usize, &str)> = None;
    let mut words = words(text).peekable();
    while let Some((at, word)) = words.next() {
        let here = before.replace((at + word.len(), word));
        let digits = word.bytes().take_while(u8::is_ascii_digit).count();
        if digits == 0 {
            continue;
        }
        let mut end = at + digits;
        let mut unit = &word[digits..];
        // `38cd6b4` is a name.
        if unit.bytes().any(|byte| byte.is_ascii_digit()) {
            continue;
        }
        // `4.2.1` and `1,200` are several words and one number.
        while unit.is_empty()
            && let Some((next_at, next)) = words.peek().copied()
            && next_at == end + 1
            && matches!(text.as_bytes()[end], b'.' | b',')
            && next.bytes().all(|byte| byte.is_ascii_digit())
        {
            words.next();
            end = next_at + next.len();
            before = Some((end, next));
        }
        let number = hash(&digits_of(&text[at..end]));
        if unit.is_empty()
            && let Some((next_at, next)) = words.peek().copied()
            && beside(&text[end..next_at])
        {
            unit = next;
        }
        if unit.is_empty() && text[end..].trim_start().starts_with('%') {
            unit = "percent";
        }
        // What is written onto the number belongs to it, however short it is: `768Mi`, `30s`.
        let attached = (!word[digits..].is_empty()).then(|| hash(&unit.to_lowercase()));
        pairs.extend(label(unit).or(attached).map(|word| (word, number)));
        if let Some((end_before, word)) = here
            && beside(&text[end_before..at])
        {
            pairs.extend(label(word).map(|word| (word, number)));
            pairs.extend(parts(word).into_iter().filter_map(label).map(|part| (part, number)));
        }
    }
    pairs
}

/// Returns a number without its thousands separators.
pub(super) fn digits_of(number: &str) -> String {
    let groups: Vec<&str> = number.split(',').collect();
    match groups.len() > 1 && groups[1..].iter().all(|group| group.len() == 3 || group.contains('.')) {
        true => groups.concat(),
        false => number.to_owned(),
    }
}

fn beside(between: &str) -> bool {
    between.len() <= 3
        && !between.contains(['\n', '.', ',', ';'])
        && between.chars().all(|c| !c.is_alphanumeric())
}

/// Returns the hash of a word that a number may belong to; units have one spelling.
pub(super) fn label(word: &str) -> Option<u64> {
    let lower = word.to_lowercase();
    if lower.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let unit = UNITS.iter().find(|spellings| spellings.contains(&lower.as_str()));
    unit.map(|spellings| hash(spellings[0])).or_else(|| stem(word))
}

const UNITS: [&[&str]; 11] = [
    &["seconds", "second", "secs", "sec", "s"],
    &["milliseconds", "millisecond", "msec", "ms"],
    &["minutes", "minute", "mins", "min"],
    &["hours", "hour", "hrs", "hr", "h"],
    &["days", "day", "d"],
    &["kilobytes", "kb", "kib", "k"],
    &["megabytes", "mb", "mib"],
    &["gigabytes", "gb", "gib", "g"],
    &["percent", "pct"],
    &["dollars", "dollar", "usd"],
    &["euros", "euro", "eur"],
];

/// Returns the numbers of a text with where they begin, however they are written onto words: `$1.6billion`, `July3`. The
/// digits inside a hash or an identifier are no numbers.
pub(super) fn values(text: &str) -> Vec<(usize, u64)> {
    let mut found = Vec::new();
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(start) = bytes[at..].iter().position(u8::is_ascii_digit).map(|skip| at + skip) {
        let mut end = start;
        while end < bytes.len()
            && (bytes[end].is_ascii_digit()
                || matches!(bytes[end], b'.' | b',') && bytes.get(end + 1).is_some_and(u8::is_ascii_digit))
        {
            end += 1;
        }
        if stands_alone(text, start, end) {
            found.push((start, value(&text[start..end])));
            found.extend(places(text, start, end));
        }
        at = end;
    }
    for (at, word) in words(text) {
        if let Some(nth) = WORDS.iter().position(|number| word.eq_ignore_ascii_case(number)) {
            found.push((at, hash(&(nth + 2).to_string())));
        }
    }
    found
}

/// Returns the numbers of which a pair of places is made: line and column `(28,2)`, the lines of `sed -n '1,320p'`.
fn places(text: &str, start: usize, end: usize) -> impl Iterator<Item = (usize, u64)> + '_ {
    let is_place = text[..start].ends_with('(') && text[end..].starts_with(')');
    let is_range = text[end..].starts_with(['p', 'd']) && !text[end + 1..].starts_with(is_word_char);
    let pieces = text[start..end].split(',').filter(move |_| is_place || is_range);
    let offset = move |piece: &str| piece.as_ptr() as usize - text.as_ptr() as usize;
    pieces.filter(move |piece| piece.len() < end - start).map(move |piece| (offset(piece), value(piece)))
}

/// Returns whether digits are no piece of a longer name: behind them stand at most letters to the word's end, before them
/// nothing, or a word to which they were pasted. `T` and `x` join numbers, `2026-11-09T10:30`, `1920x1080`, and so do the units
/// of a duration: `1h30m`.
fn stands_alone(text: &str, start: usize, end: usize) -> bool {
    let is_letter = |c: &char| c.is_alphabetic();
    let before: Vec<char> = text[..start].chars().rev().take(LONGEST_WORD).take_while(is_letter).collect();
    let behind: Vec<char> = text[end..].chars().take(LONGEST_WORD).take_while(is_letter).collect();
    let is_joint = |letters: &[char]| matches!(letters, ['T' | 'x']);
    let digit_before = || {
        let at = start - before.iter().map(|c| c.len_utf8()).sum::<usize>();
        text[..at].ends_with(|c: char| c.is_ascii_digit())
    };
    let digit_behind = || {
        let at = end + behind.iter().map(|c| c.len_utf8()).sum::<usize>();
        text[at..].starts_with(|c: char| c.is_ascii_digit())
    };
    let is_pasted = before.len() >= 3 && behind.is_empty() && !digit_before();
    // `v1.3.5`
    let is_version = before == ['v'] && !digit_before() && text[start..end].contains('.');
    (is_version || before.is_empty() || is_pasted || is_joint(&before) && digit_before())
        && (behind.is_empty() || !digit_behind() || is_joint(&behind))
        || is_duration(text, start, end)
}

/// Returns whether digits belong to a duration of several units: `0m12.345s`, `2d4h`. A hash has letters that are no units.
fn is_duration(text: &str, start: usize, end: usize) -> bool {
    let goes_on = |c: &char| c.is_alphanumeric() || *c == '.';
    // One character more than a duration has tells that it is none, however long the token is.
    let before = text[..start].chars().rev().take(LONGEST_WORD + 1).take_while(goes_on).map(char::len_utf8);
    let behind = text[end..].chars().take(LONGEST_WORD + 1).take_while(goes_on).map(char::len_utf8);
    let ((n_before, before), (n_behind, behind)) = (counted(before), counted(behind));
    if n_before.max(n_behind) > LONGEST_WORD {
        return false;
    }
    let mut rest = text[start - before..end + behind].trim_end_matches('.');
    let mut units = 0;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(rest.len());
        let unit = rest[digits..].find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len() - digits);
        if digits == 0 || !["d", "h", "m", "s", "ms"].contains(&&rest[digits..digits + unit]) {
            return false;
        }
        rest = &rest[digits + unit..];
        units += 1;
    }
    units > 1
}

/// Returns how many there are, and their sum.
fn counted(lengths: impl Iterator<Item = usize>) -> (usize, usize) {
    lengths.fold((0, 0), |(count, sum), length| (count + 1, sum + length))
}

/// More letters in a row than this are no word.
const LONGEST_WORD: usize = 24;

/// Returns the hash of a number without separators and idle zeros.
pub(super) fn value(number: &str) -> u64 {
    let plain = digits_of(number);
    match plain.split_once('.') {
        Some((_, decimals)) if !decimals.contains('.') => {
            hash(plain.trim_end_matches('0').trim_end_matches('.'))
        }
        _ => hash(&plain),
    }
}

/// The words for the numbers from two; `one` is seldom a number.
const WORDS: [&str; 11] =
    ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_a_text() {
        let found: Vec<_> = numbers("In 2026-11-09, 30s for v4.2.1 and 1,200 rows (50%), E0308, x86_64.")
            .map(|(number, _)| number)
            .collect();
        assert_eq!(found, ["2026-11-09", "30", "1,200", "50"]);
    }

    #[test]
    fn numbers_are_joined_by_units() {
        let all = |text: &str| values(text).into_iter().map(|(_, value)| value).collect::<Vec<u64>>();
        assert_eq!(all("real 0m12.345s"), [value("0"), value("12.345")]);
        assert_eq!(all("after 1h30m."), [value("1"), value("30")]);
        assert_eq!(all("9d137ab 3d5f 12mm4"), Vec::<u64>::new());
    }

    #[test]
    fn lines_of_a_place_are_numbers() {
        let all = |text: &str| values(text).into_iter().map(|(_, value)| value).collect::<Vec<u64>>();
        let of = |numbers: &[&str]| numbers.iter().map(|number| value(number)).collect::<Vec<u64>>();
        assert_eq!(all("chat.ts(28,2): error"), of(&["28,2", "28", "2"]));
        assert_eq!(all("sed -n '1,320p' a.ts"), of(&["1,320", "1", "320"]));
        assert_eq!(all("1,320 tests, 1,200pt"), of(&["1,320", "1,200"]));
        assert_eq!(all("f(28)"), of(&["28"]));
    }

    #[test]
    fn a_long_token_is_read_in_the_time_that_its_length_takes() {
        // Each of its hundred thousand numbers used to walk all of it: minutes.
        assert_eq!(values(&"3a".repeat(100_000)), []);
        assert_eq!(values(&"1h".repeat(100_000)), []);
    }

    #[test]
    fn thousands() {
        assert_eq!(digits_of("1,200"), "1200");
        for claim in ["140 and 101 make 241", "1166.98 less 481.5 leaves 685.48", "twice 241 is 482"] {
            let last = claim.rsplit(' ').find(|word| word.starts_with(|c: char| c.is_ascii_digit()));
            assert!(is_computed(last.unwrap(), claim), "{claim}");
        }
        assert!(!is_computed("43", "40 passed and 1 failed, 43 pass"));
    }
}
