//! Blanks beside the sign between a name and its value, as people and formatters put there to align columns
//! (`db_password     = "x"`): expressions know a few of them, and find the value where one is left.

use std::ops::Range;

/// Returns the lines of `text` in which such blanks stand, those that touch as one.
pub(crate) fn lines(text: &str) -> Vec<Range<usize>> {
    let mut lines: Vec<Range<usize>> = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let span = start..start + line.len();
        start = span.end;
        if !is_padded(line) {
            continue;
        }
        match lines.last_mut() {
            Some(last) if last.end == span.start => last.end = span.end,
            _ => lines.push(span),
        }
    }
    lines
}

/// The characters of a text, each with where it stands, but one blank in the place of several beside a sign. That one stands
/// where all of them do.
#[derive(Clone, Debug)]
pub(crate) struct Squeezed<'a> {
    text: &'a str,
    /// Where the next character is looked for.
    at: usize,
    /// The first word of its line sets what the second names: `#define MQTT_PASSWORD     "x"`.
    sets: bool,
}

impl Squeezed<'_> {
    pub(crate) fn of(text: &str) -> Squeezed<'_> {
        Squeezed { text, at: 0, sets: sets(text) }
    }
}

impl Iterator for Squeezed<'_> {
    type Item = (Range<usize>, char);

    fn next(&mut self) -> Option<(Range<usize>, char)> {
        let start = self.at;
        let c = self.text[start..].chars().next()?;
        self.at += c.len_utf8();
        if c == '\n' {
            self.sets = sets(&self.text[self.at..]);
        }
        let length = if matches!(c, ' ' | '\t') { run(self.text.as_bytes(), start, self.sets) } else { 0 };
        if length > 1 {
            self.at = start + length;
            return Some((start..self.at, ' '));
        }
        Some((start..self.at, c))
    }
}

/// Returns whether blanks stand beside a sign of `line`.
fn is_padded(line: &str) -> bool {
    let bytes = line.as_bytes();
    let sets = sets(line);
    let mut at = bytes.len() - line.trim_start_matches([' ', '\t']).len();
    while let Some(found) = memchr::memchr2(b' ', b'\t', &bytes[at..]) {
        at += found;
        if run(bytes, at, sets) > 1 {
            return true;
        }
        at += blanks(bytes, at);
    }
    false
}

/// Returns how many blanks from `at` on stand beside a sign; no more than one where what they stand beside is none.
fn run(text: &[u8], at: usize, sets: bool) -> usize {
    let length = blanks(text, at);
    let before = text[..at].last();
    let is_line = matches!(before, None | Some(b'\n'));
    if !(2..=LONGEST).contains(&length) || is_line {
        return 1;
    }
    let behind = &text[at + length..];
    let opens = matches!(behind, [b':' | b'=', ..] | [b'-', b'>', ..] | [b'?', b'=', ..]);
    let ends = match before {
        Some(b':' | b'=') => true,
        Some(b'>') => matches!(text[..at], [.., b'=' | b'-', b'>']),
        // Behind a comma stands what a call is given; sentences have no quotes there.
        Some(b',') => matches!(behind, [b'"' | b'\'', ..]),
        _ => false,
    };
    // Nothing is assigned in an empty place.
    let is_inside = !matches!(behind, [] | [b'\n' | b'\r', ..]);
    if is_inside && (opens || ends || sets) { length } else { 1 }
}

fn blanks(text: &[u8], at: usize) -> usize {
    // A run is measured from wherever a walk comes to it, so that a longer one must not be counted whole each time.
    text[at..].iter().take(LONGEST + 1).take_while(|byte| is_blank(byte)).count()
}

/// Returns whether a line sets a variable without a sign.
fn sets(line: &str) -> bool {
    let line = line.trim_start_matches([' ', '\t', '+']);
    let word = &line[..line.find([' ', '\t']).unwrap_or(0)];
    SETTERS.contains(&word)
}

fn is_blank(byte: &u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// What sets the variable that is named behind it.
const SETTERS: [&str; 6] = ["#define", "ENV", "ARG", "setx", "requirepass", "masterauth"];

/// So many blanks align; more are a gap, in bytes. A tab in JSON is two, once it is no escape any more.
const LONGEST: usize = 128;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::places::Places;

    #[test]
    fn blanks_beside_signs_are_one_and_have_their_place() {
        let squeezed = |text: &str| Squeezed::of(text).map(|(_, c)| c).collect::<String>();
        for (text, expected) in [
            ("a     = \"x\"", "a = \"x\""),
            ("a:\t\t x", "a: x"),
            ("  é    =>    'x',", "  é => 'x',"),
            ("define( 'A',    'x' );", "define( 'A', 'x' );"),
            ("#define A     x\nb     c", "#define A x\nb     c"),
            ("  + a    : x", "  + a : x"),
        ] {
            assert_eq!(squeezed(text), expected);
            assert!(!lines(text).is_empty(), "{text}");
        }
        for text in
            ["    a: x", "a     b", "a:    \nb", "one,    two", "a > b    c", "a: x    ", "a\n    : x"]
        {
            assert_eq!(squeezed(text), text);
            assert!(lines(text).is_empty(), "{text}");
        }
        let text = "ab    =  cd";
        let mut places = Places::of(Squeezed::of(text));
        assert_eq!(&text[places.place(2..3)], "    ");
        assert_eq!(&text[places.place(5..7)], "cd");
    }

    #[test]
    fn lines_that_touch_are_one() {
        let text = "x\na   = 1\nb   = 2\ny\nc:   3";
        let found: Vec<_> = lines(text).into_iter().map(|span| &text[span]).collect();
        assert_eq!(found, ["a   = 1\nb   = 2\n", "c:   3"]);
    }
}
