//! Where the secrets are: key words first, expressions only around them. What a text spells in base64, with percent signs, in
//! entities or in hexadecimal digits is searched as well.

use std::{borrow::Cow, ops::Range, sync::Arc};

use memchr::{memchr, memrchr};
use regex::bytes::CaptureLocations;

use crate::{
    apart, base64, hex, hidden,
    json::{find_in_json, is_of_objects, strikes_behind_escapes},
    lines, percent, pieces,
    places::Places,
    rules::{Candidate, Rule, RuleSet},
    words::{is_drawn, takes_turns},
};

/// A secret in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The id of the rule that found it.
    pub rule: Arc<str>,
    /// Where it is, in bytes of the text.
    pub span: Range<usize>,
}

/// A secret as it is searched for: the rule's index, and where it is. Small, since a text full of secrets has millions of
/// them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Struck {
    pub(crate) start: usize,
    length: u32,
    rule: u32,
}

impl Struck {
    /// Returns a strike of the rule with this index, nowhere yet.
    pub(crate) fn by(rule: usize) -> Struck {
        Struck { start: 0, length: 0, rule: u32::try_from(rule).unwrap_or(u32::MAX) }
    }

    /// Returns the index of its rule.
    pub(crate) fn rule(self) -> usize {
        self.rule as usize
    }

    pub(crate) fn end(self) -> usize {
        self.start + self.length as usize
    }

    /// Returns the same in the place `span`; what is longer than 4 GB in pieces.
    pub(crate) fn moved(self, span: Range<usize>) -> impl Iterator<Item = Struck> {
        let end = span.end;
        span.step_by(u32::MAX as usize).map(move |start| {
            let length = u32::try_from(end - start).unwrap_or(u32::MAX);
            Struck { start, length, ..self }
        })
    }

    /// Takes in `next`, which begins inside of this one; returns whether there was room for it.
    pub(crate) fn take_in(&mut self, next: Struck) -> bool {
        let length = u32::try_from(self.end().max(next.end()) - self.start);
        length.map(|length| self.length = length).is_ok()
    }
}

/// Returns the secrets in `text`, in order, none overlapping another; also those that are spelled in other ways.
pub(crate) fn find(set: &RuleSet, text: &str) -> Vec<Struck> {
    let mut struck = strikes(set, Cow::Borrowed(text));
    // A text may quote JSON, which spells any letter as it likes.
    if ESCAPED.iter().any(|escaped| contains(text.as_bytes(), escaped)) {
        let found = match is_of_objects(text) {
            true => find_in_json(set, text, true),
            false => strikes_behind_escapes(set, text, 1),
        };
        struck.extend(found);
        join(set, &mut struck);
    }
    struck
}

/// Returns what was struck as it is told.
pub(crate) fn told(set: &RuleSet, struck: &[Struck]) -> Vec<Finding> {
    let finding = |struck: &Struck| Finding {
        rule: set.rules[struck.rule()].id.clone(),
        span: struck.start..struck.end(),
    };
    struck.iter().map(finding).collect()
}

/// Returns where the secrets in `text` are, in order and apart: those in it, and those that it spells in other ways.
pub(crate) fn strikes(set: &RuleSet, text: Cow<'_, str>) -> Vec<Struck> {
    let text = &*without_escapes(text);
    let mut struck = strike(set, text);
    strike_spelled(set, text, 1, &mut struck);
    if let Some(left) = hidden::without(text) {
        let mut found = strike(set, &left);
        join(set, &mut found);
        let mut places = Places::of(hidden::Seen::of(text));
        struck.extend(
            found.into_iter().flat_map(|struck| struck.moved(places.place(struck.start..struck.end()))),
        );
    }
    join(set, &mut struck);
    struck
}

/// Puts what is struck in what `text` spells in base64, with percent signs, in entities or in hexadecimal digits into `struck`. What is spelled may spell
/// something, too.
fn strike_spelled(set: &RuleSet, text: &str, depth: usize, struck: &mut Vec<Struck>) {
    let found_in = |spelled: String| {
        let spelled = without_escapes(Cow::Owned(spelled));
        let mut found = strike(set, &spelled);
        if depth < MOST_SPELLED {
            strike_spelled(set, &spelled, depth + 1, &mut found);
        }
        found
    };
    let bytes = text.as_bytes();
    for run in base64::runs(bytes) {
        let spelled = run.decode(bytes);
        struck.extend(bot_token(set, text, run.place(0..spelled.len()), &spelled));
        let found = found_in(spelled);
        struck
            .extend(found.into_iter().flat_map(|struck| struck.moved(run.place(struck.start..struck.end()))));
    }
    for word in percent::words(bytes) {
        let mut found = found_in(percent::Decoded::of(&bytes[word.clone()]).map(|(_, c)| c).collect());
        join(set, &mut found);
        let mut places = Places::of(percent::Decoded::of(&bytes[word.clone()]));
        let mut place = |span| {
            let inside = places.place(span);
            word.start + inside.start..word.start + inside.end
        };
        struck.extend(found.into_iter().flat_map(|struck| struck.moved(place(struck.start..struck.end()))));
    }
    for dump in hex::dumps(bytes).chain(hex::words(bytes)).chain(hex::spaced(bytes)) {
        let found = found_in(dump.decode(bytes));
        let places = found.into_iter().map(|struck| (struck, dump.place(struck.start..struck.end())));
        struck.extend(places.flat_map(|(struck, place)| struck.moved(to_chars(text, place))));
    }
}

/// Returns the token of a Discord bot's that begins with `run`, in base64 the bot's id: digits, which no key word tells
/// (<https://discord.com/developers/docs/reference#authentication>). Behind dots follow a time and what signs both.
fn bot_token(set: &RuleSet, text: &str, run: Range<usize>, id: &str) -> Option<Struck> {
    if !(17..=20).contains(&id.len()) || !id.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let part = |at: usize| {
        let rest = text.as_bytes().get(at..)?.strip_prefix(b".")?;
        Some(rest.iter().take(LONGEST_PART).take_while(|byte| base64::is_digit(**byte)).count())
    };
    let time = part(run.end).filter(|length| *length == 6)?;
    let signature = part(run.end + 1 + time).filter(|length| *length >= 27)?;
    let rule = set.rules.iter().position(|rule| &*rule.id == "discord-bot-token")?;
    let length = run.len() + 2 + time + signature;
    Some(Struck { start: run.start, length: u32::try_from(length).ok()?, rule: u32::try_from(rule).ok()? })
}

/// So few strikes take next to no memory.
const MANY: usize = 1 << 16;

/// The longest part of a token, in digits.
const LONGEST_PART: usize = 64;

/// Returns every match of every rule in `text`.
fn strike(set: &RuleSet, text: &str) -> Vec<Struck> {
    let (mut struck, mut joined): (Vec<Struck>, usize) = (Vec::new(), MANY);
    // So many of what was struck are in order and apart, for rules whose value ends the match to look up.
    let mut n_known = 0;
    for windows in windows(set, text.as_bytes()).chunk_by(|(rule, _), (next, _)| rule == next) {
        // A key of many lines ends behind the window that it begins in.
        let mut searched = 0;
        let Some((index, _)) = windows.first() else { continue };
        let rule = &set.rules[*index];
        if rule.is_of_last() && struck.len() > n_known {
            join(set, &mut struck);
            n_known = struck.len();
        }
        for (_, window) in windows {
            if window.end > searched && rule.may_match(&text.as_bytes()[window.clone()]) {
                let window = window.start.max(searched)..window.end;
                searched = search(set, *index, text, window, &mut struck, n_known);
            }
        }
        // In a text full of secrets several rules find each.
        if struck.len() >= 3 * joined / 2 {
            join(set, &mut struck);
            n_known = struck.len();
            joined = n_known.max(MANY);
        }
    }
    struck
}

/// Puts what was struck in order and apart.
pub(crate) fn join(set: &RuleSet, struck: &mut Vec<Struck>) {
    let is_generic = |rule: u32| set.rules[rule as usize].is_generic;
    // The more telling rule comes first among those that begin at the same byte, and names the finding.
    struck.sort_unstable_by_key(|struck| {
        (struck.start, is_generic(struck.rule), usize::MAX - struck.end(), struck.rule)
    });
    struck.dedup_by(|next, before| {
        if next.start >= before.end() || !before.take_in(*next) {
            return false;
        }
        if is_generic(before.rule) && !is_generic(next.rule) {
            before.rule = next.rule;
        }
        true
    });
}

/// Returns `text` with the escapes of JSON and of programs (`\n`, `\"`) turned into what they stand for, each as long as
/// it was. A conversation quotes files inside JSON inside JSON, and in `\tAKIA...` no word begins at the `A`.
fn without_escapes(text: Cow<'_, str>) -> Cow<'_, str> {
    let Some(first) = memchr(b'\\', text.as_bytes()) else { return text };
    let mut bytes = text.into_owned().into_bytes();
    let mut next = Some(first);
    while let Some(at) = next {
        let meant = match bytes.get(at + 1) {
            Some(b'n' | b'r') => Some(b'\n'),
            Some(b't') => Some(b'\t'),
            Some(b'"') => Some(b'"'),
            Some(b'\'') => Some(b'\''),
            _ => None,
        };
        let mut from = at + 1;
        if let Some(meant) = meant {
            (bytes[at], bytes[at + 1]) = (meant, meant);
            from = at + 2;
        }
        next = memchr(b'\\', &bytes[from..]).map(|found| from + found);
    }
    // ASCII was put in place of ASCII.
    Cow::Owned(String::from_utf8(bytes).unwrap_or_default())
}

/// Returns, for each rule with a key word in `text`, in order, the parts of the text that its expression has to look at. Parts
/// that touch are one, so that no byte is searched twice for the same rule.
fn windows(set: &RuleSet, text: &[u8]) -> Vec<(usize, Range<usize>)> {
    let mut hits = set.keywords.find(text).peekable();
    // What a text spells in other ways is searched word by word, and most have none.
    if hits.peek().is_none() {
        return Vec::new();
    }
    let mut windows: Vec<(usize, Range<usize>)> = Vec::new();
    // Where the last one of each rule is.
    let mut last = vec![usize::MAX; set.rules.len()];
    let mut assignment = Assignment::default();
    for hit in hits {
        let mut value_end = None;
        for &index in &set.owners[hit.word] {
            let rule = &set.rules[index];
            let window = if rule.is_assignment {
                let value_end = *value_end.get_or_insert_with(|| assignment.value_end(text, hit.end));
                let Some(end) = value_end else { continue };
                hit.start.saturating_sub(NAME_REACH)..(end + NEXT_REACH).min(text.len())
            } else {
                let Some(compiled) = rule.compiled() else { continue };
                let end = (hit.end + compiled.reach).min(text.len());
                hit.start.saturating_sub(compiled.reach)..end
            };
            match windows.get_mut(last[index]) {
                Some((_, known)) if window.start <= known.end => {
                    known.start = known.start.min(window.start);
                    known.end = known.end.max(window.end);
                }
                _ => {
                    last[index] = windows.len();
                    windows.push((index, window));
                }
            }
        }
    }
    windows.sort_by_key(|(index, _)| *index);
    windows
}

/// Puts what a rule strikes in a window of the text into `struck`, of which the first are in order and apart; returns how far
/// it is searched.
fn search(
    set: &RuleSet,
    index: usize,
    text: &str,
    window: Range<usize>,
    struck: &mut Vec<Struck>,
    n_known: usize,
) -> usize {
    let rule = &set.rules[index];
    let Some(compiled) = rule.compiled() else { return window.end };
    // The text before the window stays visible, so that `\b` and `^` mean what they say.
    let haystack = &text.as_bytes()[..window.end];
    let is_cut = window.end < text.len();
    let mut at = window.start;
    // Where the groups stand is more work than whether there is a match, and most searches end with none.
    let mut groups: Option<CaptureLocations> = None;
    while let Some(whole) = compiled.regex.find_at(haystack, at) {
        if let Some(shape) = rule.shape {
            let named = apart::values(text.as_bytes(), whole.range(), shape);
            let is_found =
                |value: &Range<usize>| is_secret(set, rule, text.as_bytes(), value.clone(), value.clone());
            let found = Struck::by(index);
            struck.extend(
                named
                    .values
                    .into_iter()
                    .filter(is_found)
                    .flat_map(|value| found.moved(to_chars(text, value))),
            );
            at = named.end.max(whole.end());
            if at >= haystack.len() {
                break;
            }
            continue;
        }
        // A generic rule names nothing that another one does.
        let counts = |struck: &Struck| rule.is_of_drawn || !set.rules[struck.rule()].is_generic;
        if rule.is_of_last() && is_known(&struck[..n_known], text.as_bytes(), whole.range(), counts) {
            at = whole.end().saturating_sub(1).max(whole.start() + 1);
            continue;
        }
        // A text without blanks may be one match.
        let is_long = rule.is_of_drawn && whole.len() > LONG;
        if is_long && !is_drawn(&haystack[whole.start() + LONG / 2..whole.end()]) {
            at = whole.end();
            continue;
        }
        let groups = groups.get_or_insert_with(|| compiled.regex.capture_locations());
        compiled.regex.captures_read_at(groups, haystack, whole.start());
        let group = |nth: usize| groups.get(nth).map(|(start, end)| start..end);
        let secret = match rule.secret_group {
            0 => (1..groups.len()).find_map(|nth| group(nth).filter(|found| !found.is_empty())),
            nth => group(nth),
        };
        let mut secret = secret.unwrap_or(whole.range());
        if let Some(side) = rule.lines {
            secret = lines::beside(text.as_bytes(), whole.range(), side).unwrap_or(whole.end()..whole.end());
        }
        if is_default(haystack, secret.start) {
            secret.start += 1;
        }
        if rule.is_of_pieces {
            let is_set = matches!(haystack[..secret.start].last(), Some(b'=' | b':'));
            secret.end = secret.start + pieces::password(&haystack[secret.clone()], is_set);
        }
        // At a cut edge `$` and `\b` lie; a bounded match that reaches it has no key word in it.
        let is_artifact = is_cut && whole.end() == window.end && compiled.is_bounded;
        if !is_artifact && is_secret(set, rule, text.as_bytes(), secret.clone(), whole.range()) {
            let found = Struck::by(index);
            // What ends this one may begin the next.
            at = secret.end.max(whole.start() + 1);
            struck.extend(found.moved(to_chars(text, secret)));
        } else if secret.len() <= SHORT {
            // What was taken for a value may be the name of the next: `password: password: hunter2!`.
            at = whole.end().min(secret.start).max(whole.start() + 1);
        } else {
            at = whole.end();
        }
        if at > haystack.len() {
            break;
        }
    }
    at.max(window.end)
}

/// Returns whether the value at the end of a match was struck before by a rule that counts, all of it behind what names it, or is a
/// placeholder.
fn is_known(known: &[Struck], text: &[u8], whole: Range<usize>, counts: impl Fn(&Struck) -> bool) -> bool {
    // One byte may end it, and no bracket stands in it.
    let last = whole.end.saturating_sub(2).max(whole.start);
    let shown = text.get(whole.start..=last).unwrap_or_default();
    let open = memrchr(b'[', shown).map(|at| &shown[at..]);
    if open.is_some_and(|open| open.starts_with(PLACEHOLDER) && !open.contains(&b']')) {
        return true;
    }
    let struck = known[..known.partition_point(|struck| struck.start <= last)].last();
    struck.filter(|struck| counts(struck)).is_some_and(|struck| {
        let is_whole = struck.end() + usize::from(whole.end < text.len()) >= whole.end;
        is_whole && is_all_of_value(&text[whole.start..struck.start.max(whole.start)])
    })
}

/// Returns whether what stands `before` a struck value in a match is a name and what parts them, and no beginning of the value. A value
/// may have `=` and `:` in it: these part only what has nothing but a name before them.
fn is_all_of_value(before: &[u8]) -> bool {
    let Some((last, name)) = before.split_last() else { return false };
    match last {
        b' ' | b'\t' | b'"' | b'\'' | b'`' | b'(' | b'[' | b'|' | b'>' => true,
        b'=' | b':' => name.iter().all(|byte| byte.is_ascii_alphanumeric() || b"_-.\"'`*".contains(byte)),
        _ => false,
    }
}

/// Returns whether a dash at `at` stands between a variable of a shell and its value where it is not set: `${DB_PASSWORD:-...}`.
fn is_default(text: &[u8], at: usize) -> bool {
    let before = text.get(..at).and_then(|before| before.strip_suffix(b":"));
    let Some(before) = before.filter(|_| text.get(at) == Some(&b'-')) else { return false };
    let is_name = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
    let name = before.iter().rev().take(NAME_REACH).take_while(is_name).count();
    before[..before.len() - name].ends_with(b"${")
}

fn is_secret(set: &RuleSet, rule: &Rule, text: &[u8], secret: Range<usize>, whole: Range<usize>) -> bool {
    let value = &text[secret.clone()];
    let label = &text[whole.start..secret.start.max(whole.start)];
    let is_id = rule.is_generic && is_id(value);
    let least = if is_id { rule.entropy.min(HEX_ENTROPY) } else { rule.entropy };
    if value.is_empty() || is_replaced(with_placeholder(text, &secret)) {
        return false;
    }
    if least > 0.0 && entropy(value) < least || rule.is_of_drawn && !is_drawn(value) {
        return false;
    }
    if is_id && !has_telling_name(label) {
        return false;
    }
    if !rule.is_token && set.no_values.is_label(value) {
        return false;
    }
    if rule.is_labelled && set.no_values.has(value, label) || rule.is_token && reads_as_name(value) {
        return false;
    }
    // A text may have next to nothing but candidates, all in one line.
    let before = whole.start.saturating_sub(LINE_REACH);
    let behind = (whole.end + LINE_REACH).min(text.len());
    let line = memrchr(b'\n', &text[before..whole.start]).map_or(before, |at| before + at + 1)
        ..memchr(b'\n', &text[whole.end..behind]).map_or(behind, |at| whole.end + at);
    let before = text.get(line.start..whole.start + 1).unwrap_or_default();
    let behind = text.get(secret.end..line.end).unwrap_or_default();
    let phrase = line.start + memrchr(b'"', before).map_or(0, |at| at + 1)
        ..line.end - behind.len() + memchr(b'"', behind).unwrap_or(behind.len());
    let (before, behind) =
        (&text[line.start..secret.start.max(line.start)], &text[secret.end..line.end.max(secret.end)]);
    if !rule.is_token && pieces::is_choice(before, value, behind) {
        return false;
    }
    let is_random = takes_turns(value);
    let (whole, line, phrase) = (&text[whole], &text[line], text.get(phrase).unwrap_or_default());
    let candidate = Candidate { secret: value, whole, line, phrase, is_random };
    !set.allow.allows(candidate) && !rule.allow.iter().any(|list| list.allows(candidate))
}

/// Returns whether what has the form of a token is all small letters, as names of programs are: `sk_test_connection_string`.
/// Its end alone says nothing: people put `_in_production` behind a key, and an address goes on behind a token.
fn reads_as_name(value: &[u8]) -> bool {
    value.iter().all(|byte| byte.is_ascii_lowercase() || b"_-.".contains(byte))
}

/// Remembers the last value it measured, so that a long value full of key words is measured once.
#[derive(Default)]
struct Assignment {
    value: Range<usize>,
}

impl Assignment {
    /// Returns where the value ends that is assigned to a name with a key word ending at `at`; `None` where nothing
    /// that could be a secret is. Takes a little more than the expressions do, never less.
    fn value_end(&mut self, text: &[u8], at: usize) -> Option<usize> {
        let name = |byte: &u8| {
            byte.is_ascii_alphanumeric() || byte.is_ascii_whitespace() || b"_.-*'\"`]\x0b".contains(byte)
        };
        let rest = text.get(at..)?;
        let operator = at + rest.iter().take(24).take_while(|byte| name(byte)).count();
        let wide = WIDE_OPERATORS.iter().find(|wide| text[operator..].starts_with(wide));
        if wide.is_none() && !b"=>:|?,".contains(text.get(operator)?) {
            return None;
        }
        let operator = operator + wide.map_or(0, |wide| wide.len());
        let skip = |byte: &u8| byte.is_ascii_whitespace() || b"=>:|?,*_`'\"\x0b".contains(byte);
        let blank = |at: usize| at + text[at..].iter().take(9).take_while(|byte| skip(byte)).count();
        let mut start = blank(operator);
        if text[start..].starts_with(b"</")
            && let Some(tag) = text[start..].iter().take(LONGEST_TAG).position(|byte| *byte == b'>')
        {
            start = blank(start + tag + 1);
        }
        if !self.value.contains(&start) {
            let length = text[start..].iter().take_while(|byte| !byte.is_ascii_whitespace()).count();
            self.value = start..start + length;
        }
        (self.value.end - start >= SHORTEST_WORD).then_some(self.value.end)
    }
}

/// Returns Shannon's entropy of `bytes`, in bits a byte.
fn entropy(bytes: &[u8]) -> f64 {
    let mut counts = [0u32; 256];
    bytes.iter().for_each(|byte| counts[usize::from(*byte)] += 1);
    let total = bytes.len() as f64;
    let information = |byte: &u8| match std::mem::take(&mut counts[usize::from(*byte)]) {
        0 => 0.0,
        count => f64::from(count) / total * (f64::from(count) / total).log2(),
    };
    -bytes.iter().map(information).sum::<f64>()
}

/// Returns whether `value` is a hash, a UUID or another run of hexadecimal digits: more often an id than a secret.
fn is_id(value: &[u8]) -> bool {
    value.len() >= 8 && value.iter().all(|byte| byte.is_ascii_hexdigit() || *byte == b'-')
}

fn has_telling_name(name: &[u8]) -> bool {
    let name = name.to_ascii_lowercase();
    TELLING_NAMES.iter().any(|word| contains(&name, word))
}

/// Returns `text[secret]`, and what stands before it of the placeholder in which it begins.
fn with_placeholder<'a>(text: &'a [u8], secret: &Range<usize>) -> &'a [u8] {
    const LONGEST_RULE: usize = 64;
    let from = secret.start.saturating_sub(PLACEHOLDER.len() + LONGEST_RULE);
    let before = &text[from..secret.start];
    // It may begin inside of `[REDACTED:`, where an expression takes the bracket for its own.
    let head = &text[from..(secret.start + PLACEHOLDER.len() - 1).min(secret.end)];
    let open = memchr::memmem::rfind(head, PLACEHOLDER).filter(|open| !before[*open..].contains(&b']'));
    &text[open.map_or(secret.start, |open| from + open)..secret.end]
}

/// Returns whether `value` is placeholders with next to nothing around them. A block that has one somewhere in it may
/// still be a secret: whoever writes a placeholder into a key must not hide it thereby.
pub(crate) fn is_replaced(value: &[u8]) -> bool {
    let Some(mut at) = find_bytes(value, PLACEHOLDER) else { return false };
    let (mut rest, mut left) = (value, 0);
    loop {
        left += at;
        rest = &rest[at + PLACEHOLDER.len()..];
        // A rule and a number stand in it; where it is cut off, the value ends with it.
        let inside = rest.iter().take_while(|byte| is_of_placeholder(byte)).count();
        rest = rest.get(inside + 1..).unwrap_or_default();
        if left == 0 && ends_with_quote(rest) {
            // What an expression that knows no quotes took along is the JSON around the value.
            return true;
        }
        match find_bytes(rest, PLACEHOLDER) {
            Some(next) => at = next,
            None => return left + rest.len() < SHORTEST_VALUE,
        }
    }
}

/// Returns whether `byte` may stand in a placeholder, behind how it begins: in the id of a rule, and in a number.
pub(crate) fn is_of_placeholder(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_:".contains(byte)
}

/// Returns whether `rest`, which follows a placeholder, begins with the quote that ends a value: punctuation follows it, of
/// JSON or of a program. A quote may stand in a password as well, and what follows that one is the rest of it.
fn ends_with_quote(rest: &[u8]) -> bool {
    let escapes = rest.iter().take_while(|byte| **byte == b'\\').count();
    let is_quote = rest.get(escapes).is_some_and(|byte| b"\"'`".contains(byte));
    let behind = rest.get(escapes + 1);
    is_quote && behind.is_none_or(|byte| byte.is_ascii_whitespace() || b",:;.}])>\"'`\\".contains(byte))
}

fn find_bytes(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    memchr::memmem::find(haystack, needle)
}

fn contains(haystack: &[u8], needle: &[u8]) -> bool {
    find_bytes(haystack, needle).is_some()
}

/// Returns `span`, widened to whole characters.
fn to_chars(text: &str, span: Range<usize>) -> Range<usize> {
    text.floor_char_boundary(span.start)..text.ceil_char_boundary(span.end)
}

/// Colons and equals signs as wide as a Chinese letter.
const WIDE_OPERATORS: [&[u8]; 2] = ["：".as_bytes(), "＝".as_bytes()];

/// Names that make a run of hexadecimal digits a secret.
const TELLING_NAMES: &[&[u8]] = &[
    b"secret",
    b"passw",
    b"token",
    b"api_key",
    b"apikey",
    b"api-key",
    b"access_key",
    b"access-key",
    b"accesskey",
    b"auth_key",
    b"private_key",
    b"private-key",
    b"credential",
];

/// Escapes of JSON that stand for what a secret may hold, or for what a rule looks for beside it.
const ESCAPED: [&[u8]; 6] = [b"\\u", b"\\/", b"\\\\", b"\\n", b"\\t", b"\\\""];

/// How often a spelling is undone that spells another.
const MOST_SPELLED: usize = 3;

/// How every placeholder begins; a text is not redacted twice.
pub(crate) const PLACEHOLDER: &[u8] = crate::vault::PLACEHOLDER.as_bytes();

/// The most that stands before a key word in an assignment, in bytes: 50 characters of the name and what surrounds it.
const NAME_REACH: usize = 64;

/// The most that is looked at behind the value of an assignment, in bytes: the name in the next one.
const NEXT_REACH: usize = 32;

/// The longest tag that ends an emphasized name, in bytes.
const LONGEST_TAG: usize = 11;

/// The shortest value worth looking at, in bytes.
const SHORTEST_WORD: usize = 6;

/// What is left of a value beside placeholders says nothing where it is shorter, in bytes; gitleaks' shortest generic value
/// has 10.
const SHORTEST_VALUE: usize = 8;

/// A value that turns out to be no secret is looked at again where it is no longer than this, in bytes: so that looking
/// twice costs no more than once and a bit.
const SHORT: usize = 256;

/// A longer match of a rule of drawn values is looked at for being drawn before it is taken apart, in bytes. What names a value has
/// less than half of it.
const LONG: usize = 1024;

/// Least entropy of hexadecimal digits behind a telling name, in bits a byte: of 32 drawn ones, one in 7,000 has less, and
/// one in five less than the 3.5 that gitleaks asks of a value of any letters.
const HEX_ENTROPY: f64 = 3.0;

/// How much of a line an allowlist is shown on either side of a match, in bytes.
const LINE_REACH: usize = 512;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entropy_is_in_bits_a_byte() {
        assert_eq!(entropy(b"aaaa"), 0.0);
        assert_eq!(entropy(b"abcd"), 2.0);
    }

    #[test]
    fn a_placeholder_alone_is_no_secret_and_hides_none() {
        for (value, expected) in [
            ("[REDACTED:x:1]", true),
            ("user=[REDACTED:x-y_z:12]", true),
            ("[REDACTED:x:1][REDACTED:y:2],", true),
            ("[REDACTED:generic", true),
            (r#"[REDACTED:x:1]\"}"}}]},{"role":"tool"}"#, true),
            (r#"0123456789[REDACTED:x:1]\"}"}}]},{"role":"tool"}"#, false),
            ("[REDACTED:]0123456789abcdef", false),
            ("[REDACTED:x:1]'", true),
            ("[REDACTED:x:1]\\\"", true),
            ("[REDACTED:x:1]`Zk39dkLmQ02xWp81sVb7", false),
            ("[REDACTED:x:1]'Zk39dkLmQ02xWp81sVb7", false),
            ("[REDACTED:x:1]\\\"Zk39dkLmQ02xWp81sVb7", false),
            ("[REDACTED:x:1]\\Zk39dkLmQ02xWp81sVb7", false),
            ("0123456789[REDACTED:x:1]", false),
            ("0123456789", false),
        ] {
            assert_eq!(is_replaced(value.as_bytes()), expected, "{value}");
        }
    }

    #[test]
    fn a_value_that_begins_in_a_placeholder_is_one() {
        for (text, value, expected) in [
            ("key=[REDACTED:jwt:1]", "REDACTED:jwt:1", "[REDACTED:jwt:1"),
            ("key=[REDACTED:jwt:1]", "jwt:1", "[REDACTED:jwt:1"),
            ("[REDACTED:jwt:1] abc", "abc", "abc"),
            ("key=[abc]", "abc", "abc"),
        ] {
            let start = text.find(value).unwrap();
            let found = with_placeholder(text.as_bytes(), &(start..start + value.len()));
            assert_eq!(found, expected.as_bytes(), "{text}");
        }
    }

    #[test]
    fn escapes_keep_their_length() {
        let text = r#"a\n\tb\"c\\n\x\"#;
        assert_eq!(without_escapes(text.into()).len(), text.len());
        assert_eq!(without_escapes(text.into()), "a\n\n\t\tb\"\"c\\\n\n\\x\\");
    }

    #[test]
    fn an_assignment_needs_an_operator_and_a_value() {
        let end = |text: &str| Assignment::default().value_end(text.as_bytes(), 3);
        assert_eq!(end("key = 'abcdefghij' x"), Some(18));
        assert_eq!(end("key points are these"), None);
        assert_eq!(end("key: brief"), None);
        assert_eq!(end("key"), None);
    }
}
