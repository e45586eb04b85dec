//! What a tool puts before a line that it shows: a number, the name of the file, a time, whose line it is, the mark of a quotation or of
//! a comment. What a difference puts there is in `marks.rs`: which lines belong to one, only their neighbours tell.

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
    Timed,
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
    Bar,
    Blank,
}

impl<'a> Mark<'a> {
    /// Returns the mark that `line` begins with.
    pub(crate) fn of(line: &'a [u8]) -> Option<Mark<'a>> {
        let line = &line[..line.len().min(LONGEST)];
        timed(line)
            .or_else(|| blamed(line))
            .or_else(|| numbered(line, |_| true))
            .or_else(|| quoted(line))
            .or_else(|| named(line))
    }

    /// Returns the mark of `line`, which is the next one, where it is of the same kind.
    pub(crate) fn next(&self, line: &'a [u8]) -> Option<Mark<'a>> {
        match self.kind {
            // What the line itself begins with may look like another kind.
            Kind::Numbered(sign) => {
                let next = number_alone(line, sign).or_else(|| numbered(line, |other| other == sign))?;
                (next.number > self.number).then_some(next)
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
    let letter = usize::from(line.get(blanks) == Some(&b'L'));
    let (number, digits) = number(line.get(blanks + letter..)?)?;
    let at = blanks + letter + digits;
    let rest = &line[at..];
    let gap = count(rest, |byte| *byte == b' ');
    let first = rest.first();
    let signs = [
        (Sign::Arrow, rest.starts_with(ARROW).then_some(ARROW.len())),
        (Sign::Bar, bar(&rest[gap..]).map(|bar| gap + bar + blank(&rest[gap + bar..]))),
        (Sign::Tab, (first == Some(&b'\t')).then_some(1)),
        (Sign::Letter, (letter == 1 && first == Some(&b':')).then(|| 1 + blank(&rest[1..]))),
        (Sign::Colon, (letter == 0 && matches!(first, Some(b':' | b'-'))).then_some(1)),
        (Sign::Blank, (letter == 0 && first == Some(&b' ')).then_some(1)),
    ];
    let mut signs = signs.into_iter().filter(|(sign, _)| may_be(*sign));
    signs.find_map(|(sign, length)| {
        Some(Mark { kind: Kind::Numbered(sign), length: at + length?, number, name: b"" })
    })
}

/// Returns the mark of a line that has nothing behind its number. Blanks at the end of a line are easily lost.
fn number_alone(line: &[u8], sign: Sign) -> Option<Mark<'_>> {
    let blanks = count(&line[..line.len().min(LONGEST)], is_blank);
    let (number, digits) = number(&line[blanks..])?;
    let length = blanks + digits;
    let mark = Mark { kind: Kind::Numbered(sign), length, number, name: b"" };
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
        is_apart.then_some(Mark { kind: Kind::Blamed, length, number, name: b"" })
    })
}

/// A time as logs have it, by itself or behind what a tool says before it and a tab: `job<tab>step<tab>2026-11-29T17:08:09.1Z `.
fn timed(line: &[u8]) -> Option<Mark<'_>> {
    const SHAPE: &[u8] = b"0000-00-00T00:00:00";
    let is_time = |text: &[u8]| {
        text.len() >= SHAPE.len()
            && text.iter().zip(SHAPE).all(|(byte, shape)| match shape {
                b'0' => byte.is_ascii_digit(),
                b'T' => b"T ".contains(byte),
                shape => byte == shape,
            })
    };
    let mut starts = std::iter::once(0).chain(memchr::memchr_iter(b'\t', line).map(|tab| tab + 1));
    let start = starts.find(|start| is_time(&line[*start..]))?;
    let behind = &line[start..];
    let zone = count(&behind[SHAPE.len()..], |byte| byte.is_ascii_digit() || b".,:+-Zz".contains(byte));
    let length = start + SHAPE.len() + zone;
    let is_apart = line.get(length).is_none_or(u8::is_ascii_whitespace);
    is_apart.then_some(Mark {
        kind: Kind::Timed,
        length: length + blank(&line[length..]),
        number: 0,
        name: b"",
    })
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
        b'*' | b'<' if same == 1 && is_apart(1) => 1,
        b'R' | b'r' if rest.get(..3).is_some_and(|word| word.eq_ignore_ascii_case(b"rem")) && is_apart(3) => {
            3
        }
        _ => return None,
    };
    // Blanks behind the last sign are the line's own, but for one.
    let signs = length - rest[..length].iter().rev().take_while(|byte| **byte == b' ').count();
    let length = blanks + signs + blank(&rest[signs..]);
    Some(Mark { kind: Kind::Quoted(first), length, number: 0, name: b"" })
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
        (name > 0).then_some(Mark { kind, length, number, name: &line[..name] })
    };
    if let Some((name, number, length)) = (1..word.len()).find_map(ends) {
        return mark(Kind::Placed, name, number, length);
    }
    if let Some(name) = memchr::memchr(b':', word) {
        return mark(Kind::Told, name, 0, name + 1).filter(|_| !word[name..].starts_with(b"://"));
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
    ["|", "│", "┃"].into_iter().find(|bar| text.starts_with(bar.as_bytes())).map(str::len)
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
            ("x", None),
            ("https://x", None),
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
