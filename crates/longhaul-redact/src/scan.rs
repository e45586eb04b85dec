//! Where the secrets are: key words first, expressions only around them.

use std::ops::Range;

use memchr::memrchr;
use regex_automata::{Input, util::captures::Captures};

use crate::{
    apart, lines, marks, pieces,
    placeholder::PLACEHOLDER,
    rules::RuleSet,
    secret::is_secret,
    struck::{Struck, join},
    windows::{NAME_REACH, windows},
    words::is_drawn,
};

/// Returns every match of every rule in `text`.
pub(crate) fn strike(set: &RuleSet, text: &str) -> Vec<Struck> {
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
    let mut groups: Option<Captures> = None;
    while let Some(whole) = compiled.regex.find(Input::new(haystack).range(at..)) {
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
        let groups = groups.get_or_insert_with(|| compiled.regex.create_captures());
        compiled.regex.captures(Input::new(haystack).range(whole.start()..), groups);
        let group = |nth: usize| groups.get_group(nth).map(|span| span.range());
        let secret = match rule.secret_group {
            0 => (1..groups.group_len()).find_map(|nth| group(nth).filter(|found| !found.is_empty())),
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
        let is_of_mark = || {
            let is_alone = rule.is_token || rule.lines.is_some();
            !is_alone && marks::is_of_mark(text.as_bytes(), whole.start(), &secret)
        };
        if !is_artifact
            && is_secret(set, rule, text.as_bytes(), secret.clone(), whole.range())
            && !is_of_mark()
        {
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

/// Returns `span`, widened to whole characters.
pub(crate) fn to_chars(text: &str, span: Range<usize>) -> Range<usize> {
    text.floor_char_boundary(span.start)..text.ceil_char_boundary(span.end)
}

/// So few strikes take next to no memory.
const MANY: usize = 1 << 16;

/// A value that turns out to be no secret is looked at again where it is no longer than this, in bytes: so that looking
/// twice costs no more than once and a bit.
const SHORT: usize = 256;

/// A longer match of a rule of drawn values is looked at for being drawn before it is taken apart, in bytes. What names a value has
/// less than half of it.
const LONG: usize = 1024;
