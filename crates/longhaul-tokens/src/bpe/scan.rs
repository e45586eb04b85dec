//! The split patterns, character by character: the definition that the fast scanner must agree with, and the fallback
//! where it does not see enough.

use super::{
    classes::{self, BREAK, LETTER, LOWER, NUMBER, SPACE, UPPER},
    deepseek,
};

/// The split patterns there are. OpenAI's are spelled out in `tiktoken_ext/openai_public.py` of PyPI `tiktoken` 0.14.0, the
/// others in the `tokenizer.json` of their models (`families`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Grammar {
    /// `r50k_base` and `p50k_base`.
    Gpt3,
    /// `cl100k_base`.
    Gpt4,
    /// `o200k_base` and `o200k_harmony`; gpt-oss.
    Gpt4o,
    /// Llama 3: as [`Gpt4`](Self::Gpt4), but for whitespace at the end of the text.
    Llama3,
    /// Qwen 2 and 3: as [`Llama3`](Self::Llama3), with each digit a piece.
    Qwen,
    /// DeepSeek V3; see `deepseek`.
    DeepSeek,
}

/// Returns the end of the piece that begins at `start`, which lies before the end of `text`.
///
/// `text` is UTF-8, or UTF-8 cut at the edges of characters. The piece is never empty.
pub(super) fn piece_end(grammar: Grammar, text: &[u8], start: usize) -> usize {
    let Some((class, length)) = classes::at(text, start) else { return text.len() };
    let word = match grammar {
        Grammar::Gpt3 => gpt3_word(text, start),
        Grammar::Gpt4 | Grammar::Llama3 => gpt4_word(text, start, class, length, 3),
        Grammar::Qwen => gpt4_word(text, start, class, length, 1),
        Grammar::DeepSeek => return deepseek::piece_end(text, start),
        Grammar::Gpt4o => gpt4o_word(text, start, class, length),
    };
    word.or_else(|| marks(grammar, text, start))
        .unwrap_or_else(|| blanks(grammar, text, start))
        .max(start + length)
}

/// Returns the end of the characters from `at` on that have one of `bits`.
pub(super) fn run(text: &[u8], mut at: usize, bits: u8) -> usize {
    while let Some((class, length)) = classes::at(text, at)
        && class & bits != 0
    {
        at += length;
    }
    at
}

/// `'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++`
fn gpt3_word(text: &[u8], start: usize) -> Option<usize> {
    let suffix = match text.get(start..) {
        Some([b'\'', b's' | b'd' | b'm' | b't', ..]) => 2,
        Some([b'\'', b'l', b'l', ..] | [b'\'', b'v' | b'r', b'e', ..]) => 3,
        _ => 0,
    };
    if suffix > 0 {
        return Some(start + suffix);
    }
    let from = start + usize::from(text.get(start) == Some(&b' '));
    let (class, _) = classes::at(text, from)?;
    match class & (LETTER | NUMBER) {
        0 => None,
        bits => Some(run(text, from, bits)),
    }
}

/// `'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+`, with at most `most` digits.
fn gpt4_word(text: &[u8], start: usize, class: u8, length: usize, most: usize) -> Option<usize> {
    let suffix = contraction(text, start);
    if suffix > 0 {
        return Some(start + suffix);
    }
    if class & NUMBER != 0 {
        return Some(digits(text, start, most));
    }
    let from = if class & (LETTER | BREAK) == 0 { start + length } else { start };
    Some(run(text, from, LETTER)).filter(|end| *end > from)
}

/// The two kinds of word of o200k, each after an optional character that is no letter, digit or break and before an
/// optional contraction, and then `\p{N}{1,3}`.
fn gpt4o_word(text: &[u8], start: usize, class: u8, length: usize) -> Option<usize> {
    // A mark (`\p{M}`) may be the optional character as well as part of the word; the alternatives are tried in the
    // pattern's order: with and without it for the first kind, then for the second.
    let after = (class & (LETTER | NUMBER | BREAK) == 0).then_some(start + length);
    let word = after
        .and_then(|from| word_ending_low(text, from))
        .or_else(|| word_ending_low(text, start))
        .or_else(|| after.and_then(|from| word_beginning_high(text, from)))
        .or_else(|| word_beginning_high(text, start));
    match word {
        Some(end) => Some(end + contraction(text, end)),
        None if class & NUMBER != 0 => Some(digits(text, start, 3)),
        None => None,
    }
}

/// `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+`
fn word_ending_low(text: &[u8], start: usize) -> Option<usize> {
    // The first part takes all it can and then gives back until the second part finds a character: it ends behind the
    // last one that is of both kinds.
    let (mut at, mut both) = (start, None);
    while let Some((class, length)) = classes::at(text, at)
        && class & UPPER != 0
    {
        at += length;
        if class & LOWER != 0 {
            both = Some(at);
        }
    }
    let end = run(text, at, LOWER);
    if end > at { Some(end) } else { both }
}

/// `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*`
fn word_beginning_high(text: &[u8], start: usize) -> Option<usize> {
    let upper = run(text, start, UPPER);
    (upper > start).then(|| run(text, upper, LOWER))
}

/// Returns the length of `'(?i:[sdmt]|ll|ve|re)` at `at`, or zero.
#[inline(always)]
pub(super) fn contraction(text: &[u8], at: usize) -> usize {
    match text.get(at..) {
        Some([b'\'', rest @ ..]) => match rest {
            [b's' | b'd' | b'm' | b't' | b'S' | b'D' | b'M' | b'T', ..] => 2,
            [b'l' | b'L', b'l' | b'L', ..] | [b'v' | b'V' | b'r' | b'R', b'e' | b'E', ..] => 3,
            // U+017F, the long s, is an s without its case.
            [0xC5, 0xBF, ..] => 3,
            _ => 0,
        },
        _ => 0,
    }
}

/// `\p{N}{1,most}`
pub(super) fn digits(text: &[u8], start: usize, most: usize) -> usize {
    let mut at = start;
    for _ in 0..most {
        match classes::at(text, at) {
            Some((class, length)) if class & NUMBER != 0 => at += length,
            _ => break,
        }
    }
    at
}

/// ` ?[^\s\p{L}\p{N}]+` and what the grammar lets follow it.
fn marks(grammar: Grammar, text: &[u8], start: usize) -> Option<usize> {
    let from = start + usize::from(text.get(start) == Some(&b' '));
    let mut at = from;
    while let Some((class, length)) = classes::at(text, at)
        && class & (SPACE | LETTER | NUMBER) == 0
    {
        at += length;
    }
    if at == from {
        return None;
    }
    let follows = |byte: &u8| match grammar {
        Grammar::Gpt3 => false,
        Grammar::Gpt4 | Grammar::Llama3 | Grammar::Qwen | Grammar::DeepSeek => matches!(byte, b'\r' | b'\n'),
        Grammar::Gpt4o => matches!(byte, b'\r' | b'\n' | b'/'),
    };
    while text.get(at).is_some_and(follows) {
        at += 1;
    }
    Some(at)
}

/// What is left when nothing else matches: whitespace.
fn blanks(grammar: Grammar, text: &[u8], start: usize) -> usize {
    let (mut at, mut last, mut behind_break) = (start, start, None);
    while let Some((class, length)) = classes::at(text, at)
        && class & SPACE != 0
    {
        last = at;
        at += length;
        if class & BREAK != 0 {
            behind_break = Some(at);
        }
    }
    match grammar {
        // `\s++$` comes first.
        Grammar::Gpt3 | Grammar::Gpt4 if at == text.len() => at,
        // `\s*[\r\n]`
        _ if grammar != Grammar::Gpt3 && behind_break.is_some() => behind_break.unwrap_or(at),
        // `\s+(?!\S)`: the last blank is left to what follows, unless it is the only one or nothing follows.
        _ if at == text.len() || last == start => at,
        _ => last,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(grammar: Grammar, text: &str) -> Vec<&str> {
        let mut at = 0;
        std::iter::from_fn(|| {
            let start = at;
            (start < text.len()).then(|| {
                at = piece_end(grammar, text.as_bytes(), start);
                &text[start..at]
            })
        })
        .collect()
    }

    #[test]
    fn the_grammars_differ_where_their_patterns_do() {
        let text = "I'LL sayHello\n\n  1234 x.\n/y";
        assert_eq!(
            pieces(Grammar::Gpt4o, text),
            ["I'LL", " say", "Hello", "\n\n", " ", " ", "123", "4", " x", ".\n/", "y"]
        );
        assert_eq!(
            pieces(Grammar::Gpt4, text),
            ["I", "'LL", " sayHello", "\n\n", " ", " ", "123", "4", " x", ".\n", "/y"]
        );
        assert_eq!(pieces(Grammar::Llama3, text), pieces(Grammar::Gpt4, text));
        assert_eq!(
            pieces(Grammar::Qwen, text),
            ["I", "'LL", " sayHello", "\n\n", " ", " ", "1", "2", "3", "4", " x", ".\n", "/y"]
        );
        assert_eq!(
            pieces(Grammar::DeepSeek, text),
            ["I", "'LL", " sayHello", "\n\n", "  ", "123", "4", " x", ".\n", "/y"]
        );
        assert_eq!(
            pieces(Grammar::Gpt3, text),
            ["I", "'", "LL", " sayHello", "\n\n ", " 1234", " x", ".", "\n", "/", "y"]
        );
    }

    #[test]
    fn whitespace_at_the_end_of_the_text() {
        assert_eq!(pieces(Grammar::Gpt4o, "a\n  "), ["a", "\n", "  "]);
        assert_eq!(pieces(Grammar::Gpt4, "a\n  "), ["a", "\n  "]);
        assert_eq!(pieces(Grammar::Gpt3, "a\n  "), ["a", "\n  "]);
        assert_eq!(pieces(Grammar::Llama3, "a\n  "), ["a", "\n", "  "]);
    }

    #[test]
    fn other_scripts() {
        assert_eq!(pieces(Grammar::Gpt4o, "日本語です。ÉCOLEété"), ["日本語です", "。ÉCOLEété"]);
        assert_eq!(pieces(Grammar::Gpt4o, "it'ſa \u{301}x"), ["it'ſ", "a", " \u{301}x"]);
        assert_eq!(pieces(Grammar::Gpt4, "٣٤٥٦\u{3000}x"), ["٣٤٥", "٦", "\u{3000}x"]);
    }
}
