//! Where pieces begin, for 64 bytes at a time, as algebra on bit sets.
//!
//! Bit `i` of a set says something of byte `i` of the window. From the sets of letters, digits, blanks and so on, shifts
//! and masks give the set of *starts*: the bytes at which a piece begins. The window itself must begin at the start of a
//! piece, so nothing before it matters; near its end what follows would matter, so starts count only below a *limit*. What
//! the algebra does not see it leaves to `scan`, which is the definition; a test compares the two.
//!
//! Characters of several bytes take part with their first byte, or *filled*, with all of them: to look at the character
//! before, a filled set is shifted by one.
//!
//! The idea of splitting by bit streams is that of Parabix and of `bitcannon` in Hugging Face's `tokenizers`; the
//! formulas are derived here from the published patterns.

#[cfg(test)]
use super::scan::Grammar;
use super::{
    classes::{self, LETTER, LOWER, NUMBER, SPACE, UPPER},
    layout, scan,
    simd::Machine,
};

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
    /// Bytes of a character but its first, 0x80 to 0xBF.
    pub(super) later: u64,
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
            later: set(|byte| (0x80..0xC0).contains(&byte)),
        }
    }
}

/// Where a text ends that does not fill a window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ending {
    /// Bytes of the text in the window, at least one and less than [`BYTES`]. What lies behind them is 0xFF.
    pub(super) length: u32,
    /// Whether blanks and breaks at the end are one piece, as `\s++$` says.
    pub(super) joins_blanks: bool,
}

/// Returns the starts of pieces in a window that begins at one. Bit 0 is not among them, though it is one; where the text
/// ends is.
///
/// `window` are the bytes that `masks` describe. `GPT4O` is false for the grammars that are like that of cl100k; `DIGITS` is
/// the most digits of a piece, one or three.
#[inline(always)]
pub(super) fn starts<const GPT4O: bool, const DIGITS: usize>(
    window: &[u8; BYTES],
    masks: &Masks,
    ending: Option<Ending>,
    machine: impl Machine,
) -> u64 {
    let inside = ending.map_or(u64::MAX, |ending| (1 << ending.length) - 1);
    match masks.beyond & inside {
        0 => starts_of::<GPT4O, DIGITS, false>(window, &Characters::ascii(masks), inside, ending),
        beyond => {
            let characters = Characters::mixed::<GPT4O>(window, masks, beyond, machine);
            starts_of::<GPT4O, DIGITS, true>(window, &characters, inside, ending)
        }
    }
}

/// The classes of the characters of a window, each at its first byte.
struct Characters {
    /// What words are made of: letters, and in o200k what combines with them.
    letters: u64,
    /// Those that only begin a word of o200k, and those that only go on with it; the rest do both.
    upper: u64,
    lower: u64,
    digits: u64,
    spaces: u64,
    breaks: u64,
    blank: u64,
    apostrophes: u64,
    slashes: u64,
    /// Bytes of a character behind its first, second and third.
    later: [u64; 3],
    /// Bytes that begin a blank of two bytes, and of three.
    wide_spaces: [u64; 2],
    /// From here on starts are not trusted, for a reason that lies in the characters; at most [`BYTES`].
    limit: u32,
    /// Where the first character begins that the window cuts; [`BYTES`] for none.
    cut: u32,
}

impl Characters {
    #[inline(always)]
    fn ascii(masks: &Masks) -> Characters {
        let Masks { letters, upper, digits, spaces, breaks, blank, apostrophes, slashes, .. } = *masks;
        let (upper, lower) = (upper & letters, letters & !upper);
        let (later, wide_spaces) = ([0; 3], [0; 2]);
        let (limit, cut) = (BYTES as u32, BYTES as u32);
        Characters {
            letters,
            upper,
            lower,
            digits,
            spaces,
            breaks,
            blank,
            apostrophes,
            slashes,
            later,
            wide_spaces,
            limit,
            cut,
        }
    }

    /// Adds the characters beyond ASCII, whose bytes are `beyond`.
    #[inline(always)]
    fn mixed<const GPT4O: bool>(
        window: &[u8; BYTES],
        masks: &Masks,
        beyond: u64,
        machine: impl Machine,
    ) -> Characters {
        let mut all = Characters::ascii(masks);
        let first = masks.later & beyond;
        let second = first & first << 1;
        all.later = [first, second, second & first << 2];
        let leads = beyond & !masks.later;
        let (mut class_of, mut left) = ([0; BYTES], leads);
        while left != 0 {
            let at = left.trailing_zeros() as usize;
            left &= left - 1;
            class_of[at] = classes::at(window, at).map_or(0, |(class, _)| class);
        }
        let [letter, number, space, upper, lower] =
            machine.with_bits(&class_of, [LETTER, NUMBER, SPACE, UPPER, LOWER]);
        // Characters that combine, and may also stand by themselves.
        let mut loose = 0;
        if GPT4O {
            all.letters |= upper | lower;
            all.upper |= upper & !lower;
            all.lower |= lower & !upper;
            loose = (upper | lower) & !letter;
        } else {
            all.letters |= letter;
        }
        all.digits |= number;
        all.limit = number.trailing_zeros();
        all.spaces |= space;
        let longer = second >> 2;
        all.wide_spaces = [space & !longer, space & longer];
        if let Some(last) = leads.checked_ilog2()
            && last as usize + layout::char_length(window[last as usize]) > BYTES
        {
            all.cut = last;
        }
        if GPT4O {
            // What combines begins a word only where no letter is before it, and then may be something else; and a capital
            // behind a letter that is no more low than high may belong to its word or not. Both are rare.
            let both = all.letters & !(all.upper | all.lower);
            let doubtful = loose & !(all.filled(all.letters) << 1) | all.upper & all.filled(both) << 1;
            all.limit = all.limit.min(doubtful.trailing_zeros());
        }
        all
    }

    /// Adds to each first byte in `set` the other bytes of its character.
    #[inline(always)]
    fn filled(&self, set: u64) -> u64 {
        let [first, second, third] = self.later;
        set | set << 1 & first | set << 2 & second | set << 3 & third
    }
}

#[inline(always)]
fn starts_of<const GPT4O: bool, const DIGITS: usize, const MIXED: bool>(
    window: &[u8; BYTES],
    characters: &Characters,
    inside: u64,
    ending: Option<Ending>,
) -> u64 {
    let Characters { letters, upper, lower, digits, spaces, breaks, blank, apostrophes, slashes, .. } =
        *characters;
    let filled = |set: u64| if MIXED { characters.filled(set) } else { set };
    let tabs = spaces & !breaks;
    let marks = inside & !(letters | digits | spaces | characters.later[0]);
    let (all_letters, all_marks, all_spaces) = (filled(letters), filled(marks), filled(spaces));
    let all_tabs = all_spaces & !breaks;

    // A single mark before letters belongs to them, unless a blank takes it for itself.
    let mark_starts = marks & !(all_marks << 1) & !(blank << 1);
    // So does the last blank of a run.
    let letter_starts = letters & !(all_letters << 1) & !((filled(mark_starts) | all_tabs) << 1);
    // Of a run of blanks, all but the last are one piece, and the last begins the next; before a break, or at the end of the
    // text, all belong to it.
    let end = ending.map_or(0, |ending| 1 << ending.length);
    let blank_or_end = spaces | end;
    let mut goes_on = blank_or_end >> 1;
    if MIXED {
        let [two, three] = characters.wide_spaces;
        goes_on |= two & blank_or_end >> 2 | three & blank_or_end >> 3;
    }
    let tab_starts = tabs & !(all_tabs << 1) | tabs & !goes_on;
    // Breaks join the blanks or the marks before them.
    let break_starts = breaks & !(all_spaces << 1) & !(all_marks << 1);
    let digit_starts = if DIGITS == 1 { digits } else { every_third(digits) };
    let mut starts = letter_starts | mark_starts | digit_starts | tab_starts | break_starts;
    if GPT4O {
        starts |= upper & filled(lower) << 1;
    }

    // Blanks between two breaks belong to the run of both, unless the first break joined marks and ended with them.
    let mut between = all_tabs & (breaks >> 1);
    while between != 0 {
        let last = between.trailing_zeros();
        between &= between - 1;
        let first = run_start(all_tabs, last);
        if first > 0 && breaks >> (first - 1) & 1 == 1 {
            let run = run_start(breaks, first - 1);
            if run == 0 || all_marks >> (run - 1) & 1 == 0 {
                starts &= !(1 << first);
            }
        }
    }

    let mut limit = characters.limit;
    match ending {
        Some(ending) => {
            limit = limit.min(ending.length + 1);
            let last = ending.length - 1;
            if ending.joins_blanks && all_spaces >> last & 1 == 1 {
                // The first start in the run stays.
                let run = run_start(all_spaces, last);
                let within = (starts | u64::from(run == 0)) & u64::MAX << run;
                starts &= !within | within & within.wrapping_neg();
            }
            starts |= end;
        }
        None => {
            limit = limit.min(BYTES as u32 - MARGIN);
            // A run of blanks that goes on behind the window.
            let before = characters.cut.saturating_sub(1);
            if all_spaces >> before & 1 == 1 {
                limit = limit.min(run_start(all_spaces, before) + 1);
            }
        }
    }
    if GPT4O {
        // A slash behind breaks belongs to the marks before them. Rare, so it is left to `scan`.
        let slashed = breaks & (slashes >> 1);
        if slashed != 0 {
            limit = limit.min(run_start(breaks | all_marks, slashed.trailing_zeros()) + 1);
        }
    }

    // Contractions: part of the word before in o200k, pieces of their own in cl100k.
    let before = if GPT4O { all_letters << 1 } else { mark_starts };
    let mut quotes = apostrophes & before & letters >> 1;
    let mut behind_contraction = u32::MAX;
    while quotes != 0 {
        let at = quotes.trailing_zeros();
        quotes &= quotes - 1;
        let length = scan::contraction(window, at as usize) as u32;
        if length == 0 || at >= limit || at == behind_contraction {
            continue;
        }
        let end = at + length;
        let inside = ((1 << length) - 1) << at;
        starts &= if GPT4O { !inside } else { !inside | 1 << at };
        starts |= letters & 1u64.checked_shl(end).unwrap_or(0);
        behind_contraction = if GPT4O { end } else { u32::MAX };
    }

    starts & 1u64.checked_shl(limit).unwrap_or(0).wrapping_sub(1) & !1
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

    use super::{super::simd::Portable, *};

    /// Checks that each start the algebra gives is one, and that it leaves out none before the last it gives.
    fn check(text: &str) {
        if text.is_empty() {
            return;
        }
        check_as::<true, 3>(Grammar::Gpt4o, text);
        check_as::<false, 3>(Grammar::Gpt4, text);
        check_as::<false, 3>(Grammar::Llama3, text);
        check_as::<false, 1>(Grammar::Qwen, text);
    }

    fn check_as<const GPT4O: bool, const DIGITS: usize>(grammar: Grammar, text: &str) {
        let mut expected = starts_by_scan(grammar, text.as_bytes());
        expected.push(text.len());
        let mut window = [0xFF; BYTES];
        let length = text.len().min(BYTES);
        window[..length].copy_from_slice(&text.as_bytes()[..length]);
        let joins_blanks = grammar == Grammar::Gpt4;
        let ending = (length < BYTES).then_some(Ending { length: length as u32, joins_blanks });
        let starts = starts::<GPT4O, DIGITS>(&window, &Masks::scalar(&window), ending, Portable);
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
            4 => "[éßÉДя日ー한٣\u{301}\u{85}\u{a0}\u{2003}\u{3000}€🦀ǅʰ½ſ๑กัनि]{1,4}",
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
