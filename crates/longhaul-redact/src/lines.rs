//! The lines of a private key, as files have them and as tools show them: behind numbers, names, marks of quotations and of
//! differences, between quotes, joined by blanks.

use std::ops::Range;

use crate::rules::Side;

/// Returns where the lines of a key are beside `at`; `None` where there are none.
///
/// Whatever stands before the digits of a line is passed over, as are the few words between two lines.
pub(crate) fn beside(text: &[u8], at: Range<usize>, side: Side) -> Option<Range<usize>> {
    if side == Side::Between {
        return is_between(text, &at).then_some(at);
    }
    let (mut found, mut is_key, mut others): (Option<Range<usize>>, _, _) = (None, false, 0);
    let mut take = |word: Range<usize>| {
        if memchr::memmem::find(&text[word.clone()], MARK).is_some() {
            return false;
        }
        let digits = digits(&text[word.clone()]).unwrap_or_default();
        let is_long = digits.len() >= SHORTEST_KEY;
        // The last line of a key is short; any other word may have as many letters, further on.
        if is_long || !digits.is_empty() && others <= 1 {
            let digits = word.start + digits.start..word.start + digits.end;
            found = Some(match &found {
                Some(known) => known.start.min(digits.start)..known.end.max(digits.end),
                None => digits,
            });
        }
        is_key |= is_long;
        others = if is_long { 0 } else { others + 1 };
        others <= MOST_BETWEEN
    };
    match side {
        Side::After | Side::Between => words(text, at.end).all(&mut take),
        Side::Before => words_before(text, at.start).all(&mut take),
    };
    found.filter(|_| is_key)
}

/// Returns whether lines of a key go from what `whole` begins with to what it ends with. A text may tell of both, far from each
/// other, and what it says between them is no key.
fn is_between(text: &[u8], whole: &Range<usize>) -> bool {
    let inside = &text[whole.clone()];
    let marks: Vec<usize> = memchr::memmem::find_iter(inside, MARK).take(3).collect();
    let [_, begins, ends] = marks[..] else { return false };
    let (begins, ends) = (whole.start + begins + MARK.len(), whole.start + ends);
    let lines = beside(text, begins..begins, Side::After);
    lines.is_some_and(|lines| lines.end <= ends && words(&text[..ends], lines.end).count() <= MOST_BETWEEN)
}

/// Returns the words of `text` from `at` on.
fn words(text: &[u8], mut at: usize) -> impl Iterator<Item = Range<usize>> + '_ {
    std::iter::from_fn(move || {
        at += text[at..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let start = at;
        at += text[at..].iter().take(LONGEST_WORD).take_while(|byte| !byte.is_ascii_whitespace()).count();
        (start < at).then_some(start..at)
    })
}

/// Returns the words of `text` before `at`, the last one first.
fn words_before(text: &[u8], mut at: usize) -> impl Iterator<Item = Range<usize>> + '_ {
    std::iter::from_fn(move || {
        at -= text[..at].iter().rev().take_while(|byte| byte.is_ascii_whitespace()).count();
        let end = at;
        let word = text[..at].iter().rev().take(LONGEST_WORD);
        at -= word.take_while(|byte| !byte.is_ascii_whitespace()).count();
        (at < end).then_some(at..end)
    })
}

/// Returns where the most digits of base64 are in a word, where they may be those of a line.
fn digits(word: &[u8]) -> Option<Range<usize>> {
    let is_other = |byte: &u8| !(byte.is_ascii_alphanumeric() || b"+/=".contains(byte));
    let mut at = 0;
    let runs = word.split(is_other).map(|run| {
        let start = at;
        at += run.len() + 1;
        start..start + run.len()
    });
    let digits = runs.max_by_key(|run| run.len())?;
    (digits.len() >= SHORTEST_LINE || word[digits.clone()].ends_with(b"=")).then_some(digits)
}

/// What every other part of a key begins and ends with.
const MARK: &[u8] = b"-----";

/// The shortest line that is taken for one, in digits; the last of a key is shorter, and says as little.
const SHORTEST_LINE: usize = 16;

/// The least that the longest line of a key has: an Ed25519 key has 64 digits, tools break lines at 64 or 70.
const SHORTEST_KEY: usize = 32;

/// A longer word is looked at in pieces, so that what begins as a key again and again costs no more than its length.
const LONGEST_WORD: usize = 512;

/// How many words stand between two lines, as a number, a mark or a header has them.
const MOST_BETWEEN: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = "q3Vj0fYx7Lk2Wm9Tz4Rb8Nc1Hd6Gs5PaQ3Vj0fYx7Lk2Wm9Tz4Rb8Nc1Hd6Gs5";

    fn found(text: &str, at: usize, side: Side) -> Option<&str> {
        beside(text.as_bytes(), at..at, side).map(|span| &text[span])
    }

    #[test]
    fn lines_are_found_behind_whatever_a_tool_puts_there() {
        for mark in
            ["", "2:", "id_rsa:2:", "  2\t", "> ", "+", "a/b.pem-3-", "| ", "2→", "\"", "Comment: x\n"]
        {
            let text = format!("{mark}{LINE}\n{mark}{LINE}\nand that was it, as it seems to be");
            let found = found(&text, 0, Side::After).unwrap();
            assert_eq!((found.matches(LINE).count(), found.ends_with(LINE)), (2, true), "{text}");
        }
        for between in ["\n\n", "\\\n\n", " ", "\",\n\"", "' +\n '"] {
            let text = format!("{LINE}{between}{LINE}");
            assert_eq!(found(&text, 0, Side::After), Some(&*text));
            assert_eq!(found(&text, text.len(), Side::Before), Some(&*text));
        }
    }

    #[test]
    fn words_are_no_key() {
        for text in
            ["is what the program looks for", "\nfn is_key(line: &str) -> bool {", "", "=", &LINE[..20]]
        {
            assert_eq!(found(text, 0, Side::After), None, "{text}");
            assert_eq!(found(text, text.len(), Side::Before), None, "{text}");
        }
        assert_eq!(found(&format!("-----END KEY----- {LINE}"), 0, Side::After), None);
    }
}
