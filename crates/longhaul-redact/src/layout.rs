//! What is laid out for the eye: blanks beside the sign between a name and its value, as people and formatters put there to
//! align columns (`db_password     = "x"`), and tables with drawn strokes (`│ bob │ x │`). Expressions know a few blanks, and
//! the stroke of the keyboard: they find the value where one blank is left, and where a stroke is `|`.

use std::ops::Range;

/// Returns the lines of `text` in which such blanks or strokes stand, those that touch as one.
pub(crate) fn lines(text: &str) -> Vec<Range<usize>> {
    let mut lines: Vec<Range<usize>> = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let span = start..start + line.len();
        start = span.end;
        if !is_padded(line) && !is_drawn(line) {
            continue;
        }
        match lines.last_mut() {
            Some(last) if last.end == span.start => last.end = span.end,
            _ => lines.push(span),
        }
    }
    lines
}

/// The characters of a text, each with where it stands, but one blank in the place of several beside a sign, which stands
/// where all of them do, and strokes of the keyboard in the place of drawn ones.
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
        Some((start..self.at, typed(c)))
    }
}

/// Returns whether `line` has drawn strokes.
fn is_drawn(line: &str) -> bool {
    // Few lines have their first byte, and the characters with it are no letters.
    memchr::memchr_iter(0xe2, line.as_bytes()).any(|at| line[at..].starts_with(|c| typed(c) != c))
}

/// Returns what a keyboard has in the place of a drawn stroke; any other character as it is.
fn typed(c: char) -> char {
    match c {
        '│' | '┃' | '║' | '┆' | '┊' => '|',
        '─' | '━' | '═' | '╌' | '┄' => '-',
        '\u{2500}'..='\u{257f}' => '+',
        c => c,
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
    let before = text[..at].last();
    // What begins a line, and what goes on; a longer run is passed blank by blank.
    if matches!(before, None | Some(b'\n' | b' ' | b'\t')) {
        return 1;
    }
    let length = blanks(text, at);
    if !(2..=LONGEST).contains(&length) {
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
    text[at..].iter().take(LONGEST + 1).take_while(|byte| is_blank(byte)).count()
}

/// Returns whether a line sets a variable without a sign.
fn sets(line: &str) -> bool {
    let line = line.trim_start_matches([' ', '\t', '+']);
    let begins = |setter: &str| line.strip_prefix(setter).is_some_and(|rest| rest.starts_with([' ', '\t']));
    SETTERS.iter().any(|setter| begins(setter))
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
        for text in [
            "    a: x", "a     b", "a:    \nb", "one,    two", "a > b    c", "a: x    ", "a\n    : x",
            "a:   \r\n",
        ] {
            assert_eq!(squeezed(text), text);
            assert!(lines(text).is_empty(), "{text}");
        }
        let text = "ab    =  cd";
        let mut places = Places::of(Squeezed::of(text));
        assert_eq!(&text[places.place(2..3)], "    ");
        assert_eq!(&text[places.place(5..7)], "cd");
    }

    #[test]
    fn drawn_strokes_are_typed_ones() {
        let text = "┌────┬───┐\n│ é  │ x │\n╞════╪═══╡\nx";
        let typed: String = Squeezed::of(text).map(|(_, c)| c).collect();
        assert_eq!(typed, "+----+---+\n| é  | x |\n+----+---+\nx");
        assert_eq!(lines(text).first(), Some(&(0..text.len() - 1)));
        let mut places = Places::of(Squeezed::of(text));
        assert_eq!(&text[places.place(19..20)], "x");
        assert!(lines("“a” … b\n").is_empty());
    }

    #[test]
    fn lines_that_touch_are_one() {
        let text = "x\na   = 1\nb   = 2\ny\nc:   3";
        let found: Vec<_> = lines(text).into_iter().map(|span| &text[span]).collect();
        assert_eq!(found, ["a   = 1\nb   = 2\n", "c:   3"]);
    }
}
