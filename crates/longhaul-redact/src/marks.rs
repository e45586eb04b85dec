//! Lines as they stand in a file, of those that a tool shows behind marks: a secret that takes several lines (a manifest, a table, a
//! block of YAML) is found where nothing stands between them. Lines that touch and have the same kind of mark are read without it, as a
//! text of their own.

use std::{iter, ops::Range};

use memchr::{memchr, memrchr};

use crate::mark::Mark;

/// Lines that touch and have the same kind of mark: at least two.
#[derive(Clone, Debug)]
pub(crate) struct Run<'a> {
    /// Where they stand.
    pub(crate) place: Range<usize>,
    /// What they are.
    lines: &'a str,
    side: Side,
    /// The mark that tells what that of the first line is, where it does not tell it itself.
    known: Option<Mark<'a>>,
    /// A blank stands behind each mark.
    is_spaced: bool,
}

impl<'a> Run<'a> {
    /// Returns the characters of the lines without their marks, each with where it stands in them.
    pub(crate) fn unmarked(&self) -> Unmarked<'a> {
        let Run { lines, side, known: mark, is_spaced, .. } = *self;
        Unmarked { lines, side, is_spaced, mark, at: 0, tail: 0, end: 0 }
    }

    /// Returns whether to search them by themselves costs more than what they say.
    pub(crate) fn is_short(&self) -> bool {
        self.lines.len() < SHORT
    }
}

/// A run of so many bytes is no short one.
const SHORT: usize = 512;

/// What of a run is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    /// Every line: they are of no difference.
    Whole,
    /// What a difference with its marks in this column takes away, and what stands around it.
    Old(usize),
    /// What it adds, and what stands around it.
    New(usize),
}

/// Returns the runs of lines that each have a mark of their own.
pub(crate) fn marked(text: &str) -> impl Iterator<Item = Run<'_>> {
    let bytes = text.as_bytes();
    let (mut lines, mut last) = (lines(bytes).peekable(), 0);
    iter::from_fn(move || {
        loop {
            let first = lines.next()?;
            let Some(first_mark) = Mark::of(&bytes[first.clone()]) else { continue };
            let is_spaced = |mark: &Mark<'_>, line: &Range<usize>| {
                matches!(&bytes[line.start + mark.length..line.end], [] | [b' ' | b'\n' | b'\r', ..])
            };
            let (mut mark, mut end) = (first_mark, first.end);
            let mut all_spaced = is_spaced(&mark, &first);
            while let Some((line, next)) =
                lines.peek().and_then(|line| Some((line, mark.next(&bytes[line.clone()])?)))
            {
                all_spaced &= is_spaced(&next, line);
                (mark, end) = (next, line.end);
                lines.next();
            }
            let name = first_mark.name_of_lines_around();
            let start =
                name.map_or(first.start, |name| start_of_lines_around(bytes, last..first.start, name));
            if start < first.start || end > first.end {
                last = end;
                let known = (start < first.start).then_some(first_mark);
                let (place, lines) = (start..end, &text[start..end]);
                return Some(Run { place, lines, side: Side::Whole, known, is_spaced: all_spaced });
            }
        }
    })
}

/// Returns whether `value` stands in the mark of its line, and what names it, from `label` on, in a line before: then it is the next thing
/// in the text, and nobody's value. What is behind the mark is read where the lines are read without theirs.
pub(crate) fn is_of_mark(text: &[u8], label: usize, value: &Range<usize>) -> bool {
    let named = text.get(label..value.start).unwrap_or_default();
    let Some(start) = memrchr(b'\n', named).map(|at| label + at + 1) else { return false };
    // A line end in JSON is two, once it is no escape any more.
    let before = &text[..start];
    let before = before.strip_suffix(b"\n\n").unwrap_or(&before[..start - 1]);
    let last = &before[memrchr(b'\n', before).map_or(0, |at| at + 1)..];
    let line = &text[start..line_end(text, start)];
    let end = value.end - start;
    // `a.yml-` stands around a line that `grep` found, and tells nothing by itself.
    let is_sign = |at: usize, line: &[u8]| matches!(line.get(at), Some(b':' | b'-'));
    let mut names = [end.saturating_sub(1), end].into_iter().filter(|name| is_sign(*name, line));
    let is_of_both = names.any(|name| last.starts_with(&line[..name]) && is_sign(name, last));
    let mark = || Mark::of(last)?.next(line);
    is_of_both || mark().is_some_and(|mark| end <= mark.length)
}

/// Returns where the lines with `name` and a dash begin that end the text in `place`.
fn start_of_lines_around(text: &[u8], place: Range<usize>, name: &[u8]) -> usize {
    let mut start = place.end;
    while start > place.start {
        let before =
            memrchr(b'\n', &text[place.start..start - 1]).map_or(place.start, |end| place.start + end + 1);
        let is_around = text[before..start].strip_prefix(name).is_some_and(|rest| rest.starts_with(b"-"));
        if !is_around {
            break;
        }
        start = before;
    }
    start
}

/// Returns the runs of lines that are those of a difference, once for each of its sides. Indented lines are, where some beside them are
/// marked.
pub(crate) fn differences(text: &str) -> impl Iterator<Item = Run<'_>> {
    let bytes = text.as_bytes();
    let mut lines = lines(bytes).peekable();
    let runs = iter::from_fn(move || {
        let first = lines.find(|line| part(&bytes[line.clone()]).is_some())?;
        let (mut place, mut n_lines, mut columns) = (first.clone(), 1, Columns::default());
        columns.take(&bytes[first]);
        while let Some(line) = lines.next_if(|next| part(&bytes[next.clone()]).is_some()) {
            (place.end, n_lines) = (line.end, n_lines + 1);
            columns.take(&bytes[line]);
        }
        Some((place, columns.sides().filter(|_| n_lines > 1)))
    });
    runs.flat_map(move |(place, sides)| {
        let lines = &text[place.clone()];
        let sides = sides.into_iter().flatten();
        sides.map(move |side| Run { place: place.clone(), lines, side, known: None, is_spaced: false })
    })
}

/// The columns in which the lines of a run begin: what a difference puts there stands in the first one of all.
struct Columns {
    least: usize,
    removed: usize,
    added: usize,
}

impl Default for Columns {
    fn default() -> Columns {
        Columns { least: usize::MAX, removed: usize::MAX, added: usize::MAX }
    }
}

impl Columns {
    fn take(&mut self, line: &[u8]) {
        let column = line.iter().take_while(|byte| **byte == b' ').count();
        let first = match line.get(column) {
            Some(b'-') => &mut self.removed,
            Some(b'+') => &mut self.added,
            Some(byte) if !byte.is_ascii_whitespace() && *byte != b'\\' => &mut self.least,
            _ => return,
        };
        *first = column.min(*first);
    }

    /// Returns the sides of the difference, if the lines are one. One that is indented adds something: lists have dashes, too.
    fn sides(&self) -> Option<impl Iterator<Item = Side> + use<>> {
        let column = self.removed.min(self.added);
        let is_one = column == 0 || column <= self.least && self.added == column;
        let (old, new) = (self.removed == column, self.added == column);
        let sides = [old.then_some(Side::Old(column)), new.then_some(Side::New(column))];
        (is_one && column < usize::MAX).then(|| sides.into_iter().flatten())
    }
}

/// What a line of a difference is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Removed,
    Added,
    Around,
    /// A note that the file has no line end, which is no line of it.
    Note,
}

fn part(line: &[u8]) -> Option<Part> {
    match line {
        [b'-', ..] => Some(Part::Removed),
        [b'+', ..] => Some(Part::Added),
        // Blanks at the end of a line are easily lost.
        [] | [b' ' | b'\n', ..] | [b'\r', b'\n'] => Some(Part::Around),
        [b'\\', b' ', ..] => Some(Part::Note),
        _ => None,
    }
}

/// Returns the lines of `text`, each with its end.
fn lines(text: &[u8]) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut at = 0;
    iter::from_fn(move || {
        let start = at;
        at = line_end(text, at);
        (start < at).then_some(start..at)
    })
}

/// Returns where a line of a difference is read from, whose mark stands in a column: its end where it is of the `other` side.
fn read_from(line: &[u8], (column, part): (usize, Option<Part>), other: Part) -> usize {
    match part {
        Some(Part::Note) => line.len(),
        Some(part) if part == other => line.len(),
        Some(_) if line.len() - column > end_of_line(line) => column + 1,
        _ => 0,
    }
}

/// Returns how long the end of `line` is, with its line feed.
fn end_of_line(line: &[u8]) -> usize {
    match line {
        [.., b'\r', b'\n'] => 2,
        [.., b'\n'] => 1,
        _ => 0,
    }
}

fn line_end(text: &[u8], at: usize) -> usize {
    memchr(b'\n', &text[at..]).map_or(text.len(), |length| at + length + 1)
}

/// The characters of a run without its marks, each with where it stands in the run.
#[derive(Clone, Debug)]
pub(crate) struct Unmarked<'a> {
    lines: &'a str,
    side: Side,
    /// Where the next character is looked for.
    at: usize,
    /// The mark of the last line.
    mark: Option<Mark<'a>>,
    /// A blank behind it is passed.
    is_spaced: bool,
    /// Where what the line says ends.
    tail: usize,
    /// Where the line ends that is read.
    end: usize,
}

impl Unmarked<'_> {
    /// Passes the mark of the line that begins, and lines that are not read.
    fn begin_line(&mut self) {
        let text = self.lines.as_bytes();
        while self.at == self.end && self.at < text.len() {
            self.end = line_end(text, self.at);
            let line = &text[self.at..self.end];
            let of_difference = |column: usize| (column, line.get(column..).and_then(part));
            self.at += match self.side {
                Side::Whole => {
                    self.mark = match &self.mark {
                        Some(mark) => mark.next(line),
                        None => Mark::of(line),
                    };
                    let length = self.mark.map_or(0, |mark| mark.length);
                    length + usize::from(self.is_spaced && line.get(length) == Some(&b' '))
                }
                Side::Old(column) => read_from(line, of_difference(column), Part::Added),
                Side::New(column) => read_from(line, of_difference(column), Part::Removed),
            };
            let tail = self.mark.map_or(0, |mark| mark.tail);
            self.tail = (self.end - end_of_line(line) - tail).max(self.at);
        }
    }
}

impl Iterator for Unmarked<'_> {
    type Item = (Range<usize>, char);

    fn next(&mut self) -> Option<(Range<usize>, char)> {
        self.begin_line();
        // A line ends as in a file of Unix': expressions know a few blanks between two lines.
        if self.at == self.tail && self.at < self.end {
            self.at = self.lines[self.at..self.end].rfind('\n').map_or(self.end, |at| self.at + at);
            if self.at == self.end {
                self.begin_line();
            }
        }
        let start = self.at;
        let c = self.lines[start..].chars().next()?;
        self.at += c.len_utf8();
        Some((start..self.at, c))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::places::Places;

    fn read(text: &str) -> Vec<String> {
        marked(text).chain(differences(text)).map(|run| run.unmarked().map(|(_, c)| c).collect()).collect()
    }

    #[test]
    fn lines_are_read_without_their_marks() {
        for (text, expected) in [
            ("x\n  1→é\n  2→  b\n  3\n  4→c\ny", vec!["é\n  b\n\nc\n"]),
            ("1:a\n2-b\n--\n7:c\n8-d", vec!["a\nb\n", "c\nd"]),
            ("> a\r\n>\r\n> > b\r\n", vec!["a\n\nb\n"]),
            (
                "@@ -1 +1 @@\n a\n-b\n+c\n\n d\n\\ No newline at end of file\n",
                vec!["a\nb\n\nd\n", "a\nc\n\nd\n"],
            ),
            ("+a\n+  b\ndiff\n", vec!["a\n  b\n"]),
            ("x\n   a\n  -b\n  +c\n\n", vec!["a\nb\n\n", "a\nc\n\n"]),
            ("  - a\n  - b\n    c\n", vec![]),
            ("a.yml-a\na.yml-  b\na.yml:c\na.yml-d\nb.yml:e\n", vec!["a\n  b\nc\nd\n"]),
            ("1: a\n2:   b\n", vec!["a\n  b\n"]),
            ("│ a  │\n│ é  │", vec!["a\né"]),
            ("  a\n  b\n", vec![]),
            ("+a\nb\n", vec![]),
            ("1→a\nb\n2→c\n", vec![]),
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
    }

    #[test]
    fn a_mark_is_no_value_of_the_line_before() {
        let is_of_mark = |text: &str, value: &str| {
            let start = text.rfind(value).expect(text);
            let label = text.find("pass").expect(text);
            is_of_mark(text.as_bytes(), label, &(start..start + value.len()))
        };
        assert!(is_of_mark("a.yml:7:pass:\na.yml:8:  x", "a.yml:8:"));
        assert!(is_of_mark("x\na.yml-pass:\n\na.yml-  x", "a.yml-"));
        assert!(is_of_mark("a.yml-pass:\na.yml:  x", "a.yml:"));
        assert!(is_of_mark("9fceb02d (Bob 7) pass:\n8fceb02d (Bob 8)   x", "8fceb02d"));
        assert!(!is_of_mark("a.yml:7:pass:\na.yml:8:  letters", "letters"));
        assert!(!is_of_mark("a.yml:7:pass:\nb.yml:8:  x", "b.yml:8:"));
        assert!(!is_of_mark("pass:\n  letters: x", "letters"));
        assert!(!is_of_mark("letters pass: letters", "letters"));
    }

    #[test]
    fn what_is_read_has_its_place() {
        let place = |text: &str, span| {
            let run = marked(text).chain(differences(text)).last().expect(text);
            let inside = Places::of(run.unmarked()).place(span);
            text[run.place][inside].to_owned()
        };
        assert_eq!(place("x\n  1→é\n  2→bc\n", 0..2), "é");
        assert_eq!(place("x\n  1→é\n  2→bc\n", 3..5), "bc");
        assert_eq!(place(" a\n-b\n+c\n", 0..3), "a\n-b\n+c");
    }
}
