//! What a text spells in base64, with percent signs, in entities or in hexadecimal digits is searched as well, and so is what it shows
//! behind marks or lays out for the eye.

use std::{borrow::Cow, ops::Range};

use memchr::memchr;

use crate::{
    base64, hex, hidden, layout, marks, percent,
    places::Places,
    rules::RuleSet,
    scan::{strike, to_chars},
    struck::{Struck, join},
    together::{Together, together},
};

/// Returns where the secrets in `text` are, in order and apart: those in it, and those that it spells in other ways.
pub(crate) fn strikes(set: &RuleSet, text: Cow<'_, str>) -> Vec<Struck> {
    let text = &*without_escapes(text);
    let mut struck = strike(set, text);
    strike_spelled(set, text, 1, &mut struck);
    strike_laid_out(set, text, &mut struck);
    let left = hidden::without(text);
    let mut found = left.as_deref().map(|left| strike(set, left)).unwrap_or_default();
    match &left {
        // A mark may have a colour.
        Some(left) if memchr(ESCAPE, text.as_bytes()).is_some() => {
            strike_unmarked(set, left, 1, true, &mut found)
        }
        _ => strike_unmarked(set, text, 1, true, &mut struck),
    }
    struck.extend(placed(set, found, Places::of(hidden::Seen::of(text)), 0));
    join(set, &mut struck);
    struck
}

/// Puts what is struck in what is left of `text` without what nobody sees into `struck`.
fn strike_seen(set: &RuleSet, text: &str, struck: &mut Vec<Struck>) {
    if let Some(left) = hidden::without(text) {
        struck.extend(placed(set, strike(set, &left), Places::of(hidden::Seen::of(text)), 0));
    }
}

/// Puts what is struck in the lines that are laid out for the eye into `struck`.
fn strike_laid_out(set: &RuleSet, text: &str, struck: &mut Vec<Struck>) {
    for lines in layout::lines(text) {
        let shown = &text[lines.clone()];
        let found = strike(set, &layout::Squeezed::of(shown).map(|(_, c)| c).collect::<String>());
        struck.extend(placed(set, found, Places::of(layout::Squeezed::of(shown)), lines.start));
    }
}

/// Puts what is struck in lines without the marks that a tool put before them into `struck`. What they show may have marks, too; a
/// difference of a difference is read as one, so that no line is read too often.
fn strike_unmarked(
    set: &RuleSet,
    text: &str,
    depth: usize,
    with_differences: bool,
    struck: &mut Vec<Struck>,
) {
    let mut strike_runs = |runs: Together<'_>, with_differences: bool| {
        let unmarked = &runs.text;
        let mut found = strike(set, unmarked);
        strike_spelled(set, unmarked, 1, &mut found);
        strike_laid_out(set, unmarked, &mut found);
        strike_seen(set, unmarked, &mut found);
        if depth < MOST_MARKED {
            strike_unmarked(set, unmarked, depth + 1, with_differences, &mut found);
        }
        join(set, &mut found);
        struck.extend(runs.placed(found));
    };
    together(marks::marked(text)).for_each(|runs| strike_runs(runs, with_differences));
    if with_differences {
        together(marks::differences(text)).for_each(|runs| strike_runs(runs, false));
    }
}

/// Returns what was `found` in what a part of a text was turned into, where it stands in the text, in which the part begins at `start`.
fn placed<I: Iterator<Item = (Range<usize>, char)>>(
    set: &RuleSet,
    mut found: Vec<Struck>,
    mut places: Places<I>,
    start: usize,
) -> impl Iterator<Item = Struck> {
    join(set, &mut found);
    found.into_iter().flat_map(move |struck| {
        let inside = places.place(struck.start..struck.end());
        struck.moved(start + inside.start..start + inside.end)
    })
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
        let shown = &bytes[word.clone()];
        let found = found_in(percent::Decoded::of(shown).map(|(_, c)| c).collect());
        struck.extend(placed(set, found, Places::of(percent::Decoded::of(shown)), word.start));
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
    Struck::by(rule).moved(run.start..run.start + length).next()
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

/// What a colour begins with.
const ESCAPE: u8 = 0x1b;

/// The longest part of a token, in digits.
const LONGEST_PART: usize = 64;

/// How often a spelling is undone that spells another.
const MOST_SPELLED: usize = 3;

/// How often marks are passed that stand behind others: a difference of a quoted file, shown with numbers.
const MOST_MARKED: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_keep_their_length() {
        let text = r#"a\n\tb\"c\\n\x\"#;
        assert_eq!(without_escapes(text.into()).len(), text.len());
        assert_eq!(without_escapes(text.into()), "a\n\n\t\tb\"\"c\\\n\n\\x\\");
    }
}
