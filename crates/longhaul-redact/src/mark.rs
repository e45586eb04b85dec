//! What a tool puts before a line that it shows: a number, the name of the file, a time, whose line it is, the mark of a quotation or of
//! a comment. What a difference puts there is in `marks.rs`: which lines belong to one, only their neighbours tell.

use std::iter;

use memchr::memmem;

use crate::placeholder::PLACEHOLDER;

/// What stands before a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark<'a> {
    kind: Kind,
    /// How much of the line it is, in bytes.
    pub(crate) length: usize,
    /// The number of the line; 0 where it has none.
    number: u64,
    /// The file or the program that the line is of.
    name: &'a [u8],
    /// How much of the end of the line belongs to it, in bytes, without the line end.
    pub(crate) tail: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A number and what stands behind it.
    Numbered(Sign),
    /// The name of a file and a number: `a.yml:12:`, `a.yml-12-`.
    Placed,
    /// The name of a file alone: `a.yml:`, and `a.yml-` around it.
    Told,
    /// The name of what logs: `web-1  |`.
    Logged,
    /// A commit, who made it and when, and a number.
    Blamed,
    /// A time, and what a log says with it.
    Timed,
    /// A stroke, and another one at the end of the line.
    Framed,
    /// What quotes the line, or makes it a comment.
    Quoted(u8),
}

/// What stands behind a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sign {
    Arrow,
    Tab,
    /// A dash as well, where the line stands around one that was looked for.
    Colon,
    /// A colon, and a letter before the number: `L12: `.
    Letter,
    /// Something that points at one of the lines may stand before the number, or another stroke: `> 12 | `.
    Bar,
    /// Or what closes a bracket: `12. `, `12) `.
    Dot,
    /// The number is between brackets.
    Bracket,
    Blank,
}

impl<'a> Mark<'a> {
    fn by(kind: Kind, length: usize) -> Mark<'a> {
        Mark { kind, length, number: 0, name: b"", tail: 0 }
    }

    /// Returns the mark that `line` begins with.
    pub(crate) fn of(line: &'a [u8]) -> Option<Mark<'a>> {
        let shown = &line[..line.len().min(LONGEST)];
        timed(shown)
            .or_else(|| blamed(shown))
            .or_else(|| numbered(shown, |_| true))
            .or_else(|| quoted(shown))
            .or_else(|| framed(line))
            .or_else(|| named(shown))
    }

    /// Returns the mark of `line`, which is the next one, where it is of the same kind.
    pub(crate) fn next(&self, line: &'a [u8]) -> Option<Mark<'a>> {
        match self.kind {
            // What the line itself begins with may look like another kind.
            Kind::Numbered(sign) => {
                let next = number_alone(line, sign).or_else(|| numbered(line, |other| other == sign))?;
                // What a difference takes away and what it adds in its place may have the same number.
                let may_stay = matches!(sign, Sign::Bar | Sign::Blank);
                (next.number > self.number || may_stay && next.number == self.number).then_some(next)
            }
            Kind::Told => {
                let rest = line.strip_prefix(self.name)?;
                matches!(rest.first(), Some(b':' | b'-')).then_some(*self)
            }
            kind => Mark::of(line).filter(|next| {
                let is_behind = next.number > self.number || self.number == 0 && next.number == 0;
                next.kind == kind && next.name == self.name && is_behind
            }),
        }
    }

    /// Returns the name that stands before lines which `grep` shows around one that it found, where `self` is the mark of that one:
    /// by itself, `a.yml-x` may be anything.
    pub(crate) fn name_of_lines_around(&self) -> Option<&'a [u8]> {
        (self.kind == Kind::Told).then_some(self.name)
    }
}

/// Numbers as editors, `cat -n`, `grep -n`, `bat` and agents' tools put them there, with a sign behind them that may be one.
fn numbered(line: &[u8], may_be: impl Fn(Sign) -> bool) -> Option<Mark<'_>> {
    let blanks = count(line, is_blank);
    let stroke = STROKES.into_iter().find(|stroke| line[blanks..].starts_with(stroke.as_bytes()));
    let pointer = |length: usize| length + count(&line[blanks + length..], is_blank);
    let before = match (line.get(blanks)?, stroke) {
        (b'L' | b'[', _) => 1,
        (b'>' | b'*', _) => pointer(1),
        (_, Some(stroke)) => pointer(stroke.len()),
        _ => 0,
    };
    let letter = if before > 0 { line[blanks] } else { 0 };
    let (number, digits) = number(&line[blanks + before..])?;
    let at = blanks + before + digits;
    let rest = &line[at..];
    let gap = count(rest, |byte| *byte == b' ');
    let behind = |signs: &[u8]| rest.first().filter(|first| signs.contains(first)).map(|_| 1);
    let parted = |length: usize| {
        rest.get(length).is_none_or(u8::is_ascii_whitespace).then(|| length + blank(&rest[length..]))
    };
    let bar = bar(&rest[gap..]).map(|bar| gap + bar + blank(&rest[gap + bar..]));
    let signs = match letter {
        0 => [
            (Sign::Arrow, rest.starts_with(ARROW).then_some(ARROW.len())),
            (Sign::Bar, bar),
            (Sign::Tab, behind(b"\t")),
            (Sign::Colon, behind(b":-")),
            (Sign::Dot, behind(b".)").and_then(parted)),
            (Sign::Blank, behind(b" ")),
        ],
        b'L' => [(Sign::Letter, behind(b":").map(|sign| sign + blank(&rest[1..]))); 6],
        b'[' => [(Sign::Bracket, behind(b"]").and_then(parted)); 6],
        _ => [(Sign::Bar, bar); 6],
    };
    let mut signs = signs.into_iter().filter(|(sign, _)| may_be(*sign));
    signs.find_map(|(sign, length)| Some(Mark { number, ..Mark::by(Kind::Numbered(sign), at + length?) }))
}

/// Returns the mark of a line that has nothing behind its number. Blanks at the end of a line are easily lost.
fn number_alone(line: &[u8], sign: Sign) -> Option<Mark<'_>> {
    let blanks = count(&line[..line.len().min(LONGEST)], is_blank);
    let (number, digits) = number(&line[blanks..])?;
    let length = blanks + digits;
    let mark = Mark { number, ..Mark::by(Kind::Numbered(sign), length) };
    line[length..].iter().take(LONGEST).all(u8::is_ascii_whitespace).then_some(mark)
}

/// What `git blame` and `git annotate` put there.
fn blamed(line: &[u8]) -> Option<Mark<'_>> {
    let caret = usize::from(line.first() == Some(&b'^'));
    let digits = count(&line[caret..], u8::is_ascii_hexdigit);
    if !(7..=64).contains(&digits) || !matches!(line.get(caret + digits), Some(b' ' | b'\t')) {
        return None;
    }
    let mut closed = line.iter().enumerate().filter(|(_, byte)| **byte == b')').map(|(at, _)| at);
    closed.find_map(|at| {
        let digits = line[..at].iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
        let (number, _) = number(&line[at - digits..])?;
        let is_apart = matches!(line[..at - digits].last(), Some(b' ' | b'\t'));
        let length = at + 1 + blank(&line[at + 1..]);
        is_apart.then_some(Mark { number, ..Mark::by(Kind::Blamed, length) })
    })
}

/// A time as logs have it, by itself or behind what a tool says before it and a tab (`job<tab>step<tab>2026-11-29T17:08:09.1Z `), with
/// what a log says behind it: how grave it is, or who says it.
fn timed(line: &[u8]) -> Option<Mark<'_>> {
    let mut starts = iter::once(0).chain(memchr::memchr_iter(b'\t', line).map(|tab| tab + 1));
    let (start, open, shape) = starts.find_map(|start| {
        let open = usize::from(line.get(start) == Some(&b'['));
        let shape = TIMES.iter().find(|shape| has_shape(&line[start + open..], shape))?;
        Some((start, open, shape))
    })?;
    let mut length = start + open + shape.len();
    length += count(&line[length..], |byte| byte.is_ascii_digit() || b".,:+-Zz".contains(byte));
    length += usize::from(open == 1 && line.get(length) == Some(&b']'));
    if !line.get(length).is_none_or(u8::is_ascii_whitespace) {
        return None;
    }
    length += blank(&line[length..]);
    let said = match *shape {
        SYSTEM_TIME => memmem::find(&line[length..], b": ").map_or(0, |at| at + 2),
        _ => level(&line[length..]),
    };
    Some(Mark::by(Kind::Timed, length + said))
}

/// Returns whether `text` begins with digits, letters and signs as `shape` has them: `0`, `A`, and `T` for a blank as well.
fn has_shape(text: &[u8], shape: &[u8]) -> bool {
    text.len() >= shape.len()
        && text.iter().zip(shape).all(|(byte, shape)| match shape {
            b'0' => byte.is_ascii_digit(),
            b'_' => byte.is_ascii_digit() || *byte == b' ',
            b'A' => byte.is_ascii_alphabetic(),
            b'T' => b"T ".contains(byte),
            shape => byte == shape,
        })
}

/// Returns how much of `text` the word takes that says how grave it is what a log tells.
fn level(text: &[u8]) -> usize {
    const LEVELS: [&[u8]; 8] =
        [b"TRACE", b"DEBUG", b"INFO", b"NOTICE", b"WARN", b"WARNING", b"ERROR", b"FATAL"];
    let open = count(text, |byte| b" [".contains(byte));
    let word = count(&text[open..], u8::is_ascii_alphabetic);
    let close = open + word + count(&text[open + word..], |byte| b"]:".contains(byte));
    let is_level = LEVELS.iter().any(|level| text[open..open + word].eq_ignore_ascii_case(level));
    let is_apart = text.get(close).is_none_or(u8::is_ascii_whitespace);
    if is_level && is_apart { close + blank(&text[close..]) } else { 0 }
}

/// What stands in a box that is drawn around it: `│ x │`.
fn framed(line: &[u8]) -> Option<Mark<'_>> {
    let blanks = count(&line[..line.len().min(LONGEST)], is_blank);
    let stroke = STROKES.into_iter().find(|stroke| line[blanks..].starts_with(stroke.as_bytes()))?;
    let length = blanks + stroke.len();
    let length = length + blank(&line[length..]);
    let said = &line[length..];
    let shown = said.strip_suffix(b"\n").unwrap_or(said);
    let shown = shown.strip_suffix(b"\r").unwrap_or(shown);
    let inside = shown.trim_ascii_end().strip_suffix(stroke.as_bytes()).map(<[u8]>::trim_ascii_end);
    let cells = inside.unwrap_or(shown);
    // The row of a table is read as one, but for that of a table in a box.
    if !cells.starts_with(stroke.as_bytes()) && memmem::find(cells, stroke.as_bytes()).is_some() {
        return None;
    }
    let tail = inside.map_or(0, |inside| shown.len() - inside.len());
    Some(Mark { tail, ..Mark::by(Kind::Framed, length) })
}

/// What makes a line a quotation or a comment.
fn quoted(line: &[u8]) -> Option<Mark<'_>> {
    let blanks = count(line, is_blank);
    let rest = &line[blanks..];
    let first = *rest.first()?;
    let same = count(rest, |byte| *byte == first);
    let is_apart = |length: usize| rest.get(length).is_none_or(u8::is_ascii_whitespace);
    let length = match first {
        // One in another: `> > x`.
        b'>' => count(rest, |byte| b"> ".contains(byte)),
        b'#' | b';' | b'%' => same,
        b'/' if same > 1 => same + count(&rest[same..], |byte| *byte == b'!'),
        b'-' if same == 2 => same,
        b'*' | b'!' | b'<' if is_apart(same) => same,
        b'R' | b'r' if rest.get(..3).is_some_and(|word| word.eq_ignore_ascii_case(b"rem")) && is_apart(3) => {
            3
        }
        _ => return None,
    };
    // Blanks behind the last sign are the line's own, but for one.
    let signs = length - rest[..length].iter().rev().take_while(|byte| **byte == b' ').count();
    let length = blanks + signs + blank(&rest[signs..]);
    Some(Mark::by(Kind::Quoted(first), length))
}

/// The name of a file, as `grep` puts it there, or of a program that logs.
fn named(line: &[u8]) -> Option<Mark<'_>> {
    let word = &line[..count(line, |byte| !byte.is_ascii_whitespace())];
    let ends = |at: usize| {
        let (sign, rest) = word[at..].split_first().filter(|(sign, _)| b":-".contains(sign))?;
        let (number, digits) = number(rest)?;
        (rest.get(digits) == Some(sign)).then_some((at, number, at + digits + 2))
    };
    let mark = |kind, name: usize, number, length| {
        (name > 0).then_some(Mark { number, name: &line[..name], ..Mark::by(kind, length) })
    };
    if let Some((name, number, length)) = (1..word.len()).find_map(ends) {
        return mark(Kind::Placed, name, number, length);
    }
    if let [b'[', inside @ .., b']'] = word {
        return mark(Kind::Logged, word.len(), 0, word.len() + blank(&line[word.len()..]))
            .filter(|_| !inside.is_empty());
    }
    if let Some(name) = memchr::memchr(b':', word) {
        // Every placeholder has a colon.
        let is_name = !word[name..].starts_with(b"://") && !word[..=name].ends_with(PLACEHOLDER);
        return mark(Kind::Told, name, 0, name + 1).filter(|_| is_name);
    }
    let gap = word.len() + count(&line[word.len()..], |byte| *byte == b' ');
    let length = gap + bar(&line[gap..])?;
    mark(Kind::Logged, word.len(), 0, length + blank(&line[length..]))
}

/// Returns the number that `text` begins with, and how many digits it has.
fn number(text: &[u8]) -> Option<(u64, usize)> {
    const MOST_DIGITS: usize = 8;
    let digits = count(text, u8::is_ascii_digit);
    let value = text[..digits]
        .iter()
        .fold(0, |value: u64, digit| value.wrapping_mul(10).wrapping_add(u64::from(digit - b'0')));
    (1..=MOST_DIGITS).contains(&digits).then_some((value, digits))
}

/// Returns how long the stroke is that `text` begins with.
fn bar(text: &[u8]) -> Option<usize> {
    iter::once("|").chain(STROKES).find(|bar| text.starts_with(bar.as_bytes())).map(str::len)
}

/// Returns how much of `text` the one blank takes that parts a mark from its line.
fn blank(text: &[u8]) -> usize {
    usize::from(text.first() == Some(&b' '))
}

fn is_blank(byte: &u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

fn count(text: &[u8], is_one: impl Fn(&u8) -> bool) -> usize {
    text.iter().take_while(|byte| is_one(byte)).count()
}

const ARROW: &[u8] = "→".as_bytes();

/// Drawn strokes beside a line.
const STROKES: [&str; 3] = ["│", "┃", "║"];

/// How a time begins: a whole one, one of the day, and one that a system's log has.
const TIMES: [&[u8]; 3] = [b"0000-00-00T00:00:00", b"00:00:00", SYSTEM_TIME];

const SYSTEM_TIME: &[u8] = b"AAA _0 00:00:00";

/// A longer mark is none, in bytes.
const LONGEST: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_told_from_what_they_stand_before() {
        for (line, expected) in [
            ("    12→  x", Some("  x")),
            ("    12\tx", Some("x")),
            ("12:  x", Some("  x")),
            ("12-x", Some("x")),
            ("L12:   x", Some("  x")),
            ("  12 | x", Some("x")),
            ("  12 │   x", Some("  x")),
            ("12 x", Some("x")),
            ("a/b.yml:12:x", Some("x")),
            ("a-1/b.yml-12-  x", Some("  x")),
            ("a/b.yml:x", Some("x")),
            ("web-1  | x", Some("x")),
            ("^9fceb02d (Bob (x) 2026-11-29 17:08:09 +0000  12)   x", Some("  x")),
            ("9fceb02d a/b.yml (Bob 2026-11-29 12) x", Some("x")),
            ("2026-11-29T17:08:09.123Z   x", Some("  x")),
            ("build\tRun it\t2026-11-29T17:08:09.1234567Z x", Some("x")),
            ("2026-11-29 17:08:09,123 x", Some("x")),
            (">   x", Some("  x")),
            ("> > x", Some("x")),
            (">", Some("")),
            ("    # x", Some("x")),
            ("//!   x", Some("  x")),
            ("/// x", Some("x")),
            (" * x", Some("x")),
            ("-- x", Some("x")),
            ("REM x", Some("x")),
            ("< x", Some("x")),
            ("> 12 |   x", Some("  x")),
            ("12. x", Some("x")),
            ("[12] x", Some("x")),
            ("[2026-11-29 17:08:09] x", Some("x")),
            ("17:08:09.1 [INFO] x", Some("x")),
            ("2026-11-29T17:08:09Z WARN:   x", Some("  x")),
            ("Nov  9 17:08:09 web-1 app[812]:   x", Some("  x")),
            ("[web] x", Some("x")),
            ("│ x", Some("x")),
            ("│ 12 │ x", Some("x")),
            ("│ x │ y │", None),
            ("! x", Some("x")),
            ("!x", None),
            ("x", None),
            ("https://x", None),
            ("A=[REDACTED:x:1]", None),
            ("<td>", None),
            ("**x**", None),
            ("remember", None),
        ] {
            let mark = Mark::of(line.as_bytes());
            assert_eq!(mark.map(|mark| &line[mark.length..]), expected, "{line}");
        }
    }

    #[test]
    fn a_mark_goes_on_in_the_next_line() {
        for (line, next, expected) in [
            ("12→x", "13→x", true),
            ("12→x", "13", true),
            ("12→x", "12→x", false),
            ("12→x", "13:x", false),
            ("12:x", "13-x", true),
            ("2026-11-29", "2026-11-30", false),
            ("a.yml:12:x", "a.yml:13:x", true),
            ("a.yml:12:x", "b.yml:13:x", false),
            ("a.yml-12-x", "a.yml:13:x", true),
            ("12 +---", "13 | x", true),
            ("a.yml:x", "a.yml-y", true),
            ("a.yml:x", "b.yml:y", false),
            ("> x", ">", true),
            ("# x", "// x", false),
        ] {
            let mark = Mark::of(line.as_bytes()).expect(line);
            assert_eq!(mark.next(next.as_bytes()).is_some(), expected, "{line} {next}");
        }
    }
}
