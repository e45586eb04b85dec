//! Where pieces begin, for 64 bytes of ASCII at a time, as algebra on bit sets.
//!
//! Bit `i` of a set says something of byte `i` of the window. From the sets of letters, digits, blanks and so on, shifts
//! and masks give the set of *starts*: the bytes at which a piece begins. The window itself must begin at the start of a
//! piece, so nothing before it matters; near its end, and before the first byte that is not ASCII, what follows would
//! matter, so starts count only below a *limit*. What the algebra does not see it leaves to `scan`, which is the
//! definition; a test compares the two.
//!
//! The idea of splitting by bit streams is that of Parabix and of `bitcannon` in Hugging Face's `tokenizers`; the
//! formulas are derived here from the published patterns.

use super::scan;
#[cfg(test)]
use super::scan::Grammar;

/// Bytes in a window.
pub(super) const BYTES: usize = 64;

/// The last bytes of a window, in which no start is trusted: a contraction is three bytes and needs the one behind it.
const MARGIN: u32 = 4;

/// The classes of the bytes of a window, as bit sets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Masks {
    /// `[A-Za-z]`
    pub(super) letters: u64,
    /// `[A-Z]` among the letters; anything elsewhere.
    pub(super) upper: u64,
    /// `[0-9]`
    pub(super) digits: u64,
    /// Blanks and breaks: `[\t\n\v\f\r ]`.
    pub(super) spaces: u64,
    /// `[\r\n]`
    pub(super) breaks: u64,
    /// The blank itself, U+0020.
    pub(super) blank: u64,
    /// `'`
    pub(super) apostrophes: u64,
    /// `/`
    pub(super) slashes: u64,
    /// Bytes from 0x80 on.
    pub(super) beyond: u64,
}

#[cfg(test)]
impl Masks {
    /// Classifies a window one byte at a time: the definition of the other ways to do it.
    pub(super) fn scalar(window: &[u8; BYTES]) -> Masks {
        let set = |belongs: fn(u8) -> bool| {
            window.iter().rev().fold(0, |set, byte| set << 1 | u64::from(belongs(*byte)))
        };
        Masks {
            letters: set(|byte| byte.is_ascii_alphabetic()),
            upper: set(|byte| byte.is_ascii_uppercase()),
            digits: set(|byte| byte.is_ascii_digit()),
            spaces: set(|byte| matches!(byte, b' ' | b'\t'..=b'\r')),
            breaks: set(|byte| matches!(byte, b'\r' | b'\n')),
            blank: set(|byte| byte == b' '),
            apostrophes: set(|byte| byte == b'\''),
            slashes: set(|byte| byte == b'/'),
            beyond: set(|byte| byte >= 0x80),
        }
    }
}

/// Returns the starts of pieces in a window that begins at one. Bit 0 is not among them, though it is one.
///
/// `window` are the bytes that `masks` describe. `GPT4O` is false for the grammars that are like that of cl100k; `DIGITS` is
/// the most digits of a piece, one or three.
#[inline(always)]
pub(super) fn starts<const GPT4O: bool, const DIGITS: usize>(window: &[u8; BYTES], masks: &Masks) -> u64 {
    let Masks { letters, upper, digits, spaces, breaks, blank, apostrophes, slashes, beyond } = *masks;
    let tabs = spaces & !breaks;
    let marks = !(letters | digits | spaces | beyond);

    // A single mark before letters belongs to them, unless a blank takes it for itself.
    let mark_starts = marks & !(marks << 1) & !(blank << 1);
    let prefix = mark_starts & (letters >> 1);
    // So does the last blank of a run.
    let letter_starts = letters & !(letters << 1) & !((prefix | tabs & (letters >> 1)) << 1);
    // Of a run of blanks, all but the last are one piece, and the last begins the next; before a break all belong to it.
    let tab_starts = tabs & !(tabs << 1) | tabs & !(spaces >> 1);
    // Breaks join the blanks or the marks before them.
    let break_starts = breaks & !(spaces << 1) & !(marks << 1);
    let digit_starts = if DIGITS == 1 { digits } else { every_third(digits) };
    let mut starts = letter_starts | mark_starts | digit_starts | tab_starts | break_starts;
    if GPT4O {
        starts |= upper & letters & ((letters & !upper) << 1);
    }

    // Blanks between two breaks belong to the run of both, unless the first break joined marks and ended with them.
    let mut between = tabs & (breaks >> 1);
    while between != 0 {
        let last = between.trailing_zeros();
        between &= between - 1;
        let first = run_start(tabs, last);
        if first > 0 && breaks >> (first - 1) & 1 == 1 {
            let run = run_start(breaks, first - 1);
            if run == 0 || marks >> (run - 1) & 1 == 0 {
                starts &= !(1 << first);
            }
        }
    }

    let mut limit = BYTES as u32 - MARGIN;
    if beyond != 0 {
        let at = beyond.trailing_zeros();
        limit = limit.min(match at.checked_sub(1) {
            // The byte may be a blank too, or a letter that takes the last blank.
            Some(before) if spaces >> before & 1 == 1 => run_start(spaces, before) + 1,
            // The byte may be a long s, and the two a contraction.
            Some(before) if GPT4O && apostrophes >> before & 1 == 1 => before,
            _ => at,
        });
    }
    if spaces >> (BYTES - 1) == 1 {
        limit = limit.min(run_start(spaces, BYTES as u32 - 1) + 1);
    }
    if GPT4O {
        // A slash behind breaks belongs to the marks before them. Rare, so it is left to `scan`.
        let slashed = breaks & (slashes >> 1);
        if slashed != 0 {
            limit = limit.min(run_start(breaks | marks, slashed.trailing_zeros()) + 1);
        }
    }

    // Contractions: part of the word before in o200k, pieces of their own in cl100k.
    let mut quotes = if GPT4O { apostrophes & (letters << 1) & (letters >> 1) } else { apostrophes & prefix };
    let mut behind_contraction = u32::MAX;
    while quotes != 0 {
        let at = quotes.trailing_zeros();
        quotes &= quotes - 1;
        let length = scan::contraction(window, at as usize) as u32;
        if length == 0 || at >= limit || at == behind_contraction {
            continue;
        }
        // `at` is at most 59, so `end` is at most 62.
        let end = at + length;
        let inside = ((1 << length) - 1) << at;
        starts &= if GPT4O { !inside } else { !inside | 1 << at };
        starts |= letters & (1 << end);
        behind_contraction = if GPT4O { end } else { u32::MAX };
    }

    starts & ((1 << limit) - 1) & !1
}

/// Returns each third digit of each run, from the first on.
#[inline(always)]
fn every_third(digits: u64) -> u64 {
    let mut starts = digits & !(digits << 1);
    // A start, three places on, is one again if no byte in between ended the run.
    let long = digits & (digits << 1) & (digits << 2) & (digits << 3);
    let mut next = starts;
    loop {
        next = (next << 3) & long;
        if next == 0 {
            return starts;
        }
        starts |= next;
    }
}

/// Returns the first bit of the run of ones in `set` that ends with bit `at`; `at` itself is taken for one.
#[inline(always)]
fn run_start(set: u64, at: u32) -> u32 {
    64 - (!set & ((1 << at) - 1)).leading_zeros()
}

/// Returns all starts by the definition.
#[cfg(test)]
fn starts_by_scan(grammar: Grammar, text: &[u8]) -> Vec<usize> {
    let next = |at: &usize| Some(scan::piece_end(grammar, text, *at));
    std::iter::successors(Some(0), next).take_while(|at| *at < text.len()).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Checks that each start the algebra gives is one, and that it leaves out none before the last it gives.
    fn check(text: &str) {
        check_as::<true, 3>(Grammar::Gpt4o, text);
        check_as::<false, 3>(Grammar::Gpt4, text);
        check_as::<false, 3>(Grammar::Llama3, text);
        check_as::<false, 1>(Grammar::Qwen, text);
    }

    fn check_as<const GPT4O: bool, const DIGITS: usize>(grammar: Grammar, text: &str) {
        let expected = starts_by_scan(grammar, text.as_bytes());
        let mut window = [0xFF; BYTES];
        let length = text.len().min(BYTES);
        window[..length].copy_from_slice(&text.as_bytes()[..length]);
        let starts = starts::<GPT4O, DIGITS>(&window, &Masks::scalar(&window));
        let given: Vec<usize> = (0..BYTES).filter(|at| *at == 0 || starts >> at & 1 == 1).collect();
        assert_eq!(given, expected[..given.len().min(expected.len())], "{grammar:?} {text:?}");
    }

    /// Strings made of what the patterns tell apart, longer than a window.
    fn text() -> impl Strategy<Value = String> {
        let bit = prop_oneof![
            8 => "[a-zA-Z]{1,4}",
            4 => " {1,3}",
            3 => "[ \t\n\r\u{b}\u{c}]{1,4}",
            3 => "[0-9]{1,5}",
            4 => "[!-/:-@\\[-`{-~]{1,3}",
            3 => "'(s|t|re|ve|m|ll|d|S|LL|Ve|lL|x|ſ)",
            1 => "[/\n\r.]{1,5}",
            1 => "[\u{0}-\u{1f}\u{7f}]",
            2 => "[éßÉДя日ー한٣\u{301}\u{a0}\u{3000}€🦀ǅʰ½]",
        ];
        prop::collection::vec(bit, 1..40).prop_map(|bits| bits.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1024))]

        #[test]
        fn starts_are_those_of_the_definition(text in text()) {
            check(&text);
        }
    }

    #[test]
    fn neighbours_in_every_context() {
        // Each pair of characters of Latin 1, in one of the contexts that the patterns distinguish; all pairs in all
        // contexts in `tests/it/long.rs`.
        let contexts = [
            ("", ""),
            ("a", "b"),
            (" ", "a"),
            ("1", " "),
            ("\n", "\n"),
            (".", "x"),
            ("A'", "l"),
            ("x\n", "/"),
        ];
        for first in '\0'..='\u{ff}' {
            for second in '\0'..='\u{ff}' {
                for (before, after) in contexts {
                    let text: String =
                        [before, &first.to_string(), &second.to_string(), after, " end."].concat();
                    check(&text);
                }
            }
        }
    }

    #[test]
    fn a_window_of_one_kind_has_no_start_but_its_first() {
        for byte in ["a", " ", "\n", "-"] {
            check(&byte.repeat(64));
            check(&byte.repeat(70));
        }
    }
}
