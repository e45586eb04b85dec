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
}

impl<'a> Run<'a> {
    /// Returns the characters of the lines without their marks, each with where it stands in them.
    pub(crate) fn unmarked(&self) -> Unmarked<'a> {
        Unmarked { lines: self.lines, side: self.side, at: 0, mark: self.known, end: 0 }
    }

    /// Returns whether the lines are of a difference.
    pub(crate) fn is_of_difference(&self) -> bool {
        self.side != Side::Whole
    }
}

/// What of a run is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    /// Every line: they are of no difference.
    Whole,
    /// What a difference takes away, and what stands around it.
    Old,
    /// What a difference adds, and what stands around it.
    New,
}

/// Returns the runs of `text`, those of differences only where asked for. No line is in more than three of them.
pub(crate) fn runs(text: &str, with_differences: bool) -> impl Iterator<Item = Run<'_>> {
    let differences = with_differences.then(|| differences(text));
    marked(text).chain(differences.into_iter().flatten())
}

/// Returns the runs of lines that each have a mark of their own.
fn marked(text: &str) -> impl Iterator<Item = Run<'_>> {
    let bytes = text.as_bytes();
    let (mut lines, mut last) = (lines(bytes).peekable(), 0);
    iter::from_fn(move || {
        loop {
            let first = lines.next()?;
            let Some(first_mark) = Mark::of(&bytes[first.clone()]) else { continue };
            let (mut mark, mut end) = (first_mark, first.end);
            while let Some((line, next)) =
                lines.peek().and_then(|line| Some((line, mark.next(&bytes[line.clone()])?)))
            {
                (mark, end) = (next, line.end);
                lines.next();
            }
            let name = first_mark.name_of_lines_around();
            let start =
                name.map_or(first.start, |name| start_of_lines_around(bytes, last..first.start, name));
            if start < first.start || end > first.end {
                last = end;
                let known = (start < first.start).then_some(first_mark);
                return Some(Run { place: start..end, lines: &text[start..end], side: Side::Whole, known });
            }
        }
    })
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
fn differences(text: &str) -> impl Iterator<Item = Run<'_>> {
    let bytes = text.as_bytes();
    let mut lines = lines(bytes).peekable();
    let runs = iter::from_fn(move || {
        let first = lines.find(|line| part(&bytes[line.clone()]).is_some())?;
        let (mut end, mut n_lines, mut sides) = (first.start, 0, [false; 2]);
        let mut line = Some(first.clone());
        while let Some((this, part)) = line.and_then(|line| Some((line.clone(), part(&bytes[line])?))) {
            (end, n_lines) = (this.end, n_lines + 1);
            sides[0] |= part == Part::Removed;
            sides[1] |= part == Part::Added;
            line = lines.next_if(|next| self::part(&bytes[next.clone()]).is_some());
        }
        Some((first.start..end, sides.map(|is_there| is_there && n_lines > 1)))
    });
    runs.flat_map(move |(place, [old, new])| {
        let lines = &text[place.clone()];
        let run = move |side| Run { place: place.clone(), lines, side, known: None };
        let sides = [old.then_some(Side::Old), new.then_some(Side::New)];
        sides.into_iter().flatten().map(run)
    })
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
            let part = part(line);
            self.at += match (self.side, part) {
                (Side::Whole, _) => {
                    self.mark = match &self.mark {
                        Some(mark) => mark.next(line),
                        None => Mark::of(line),
                    };
                    self.mark.map_or(0, |mark| mark.length)
                }
                (_, Some(Part::Note)) | (Side::Old, Some(Part::Added)) | (Side::New, Some(Part::Removed)) => {
                    line.len()
                }
                _ => usize::from(matches!(line, [b'+' | b'-' | b' ', ..])),
            };
        }
    }
}

impl Iterator for Unmarked<'_> {
    type Item = (Range<usize>, char);

    fn next(&mut self) -> Option<(Range<usize>, char)> {
        self.begin_line();
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
        runs(text, true).map(|run| run.unmarked().map(|(_, c)| c).collect()).collect()
    }

    #[test]
    fn lines_are_read_without_their_marks() {
        for (text, expected) in [
            ("x\n  1→é\n  2→  b\n  3\n  4→c\ny", vec!["é\n  b\n\nc\n"]),
            ("1:a\n2-b\n--\n7:c\n8-d", vec!["a\nb\n", "c\nd"]),
            ("> a\r\n>\r\n> > b\r\n", vec!["a\r\n\r\nb\r\n"]),
            (
                "@@ -1 +1 @@\n a\n-b\n+c\n\n d\n\\ No newline at end of file\n",
                vec!["a\nb\n\nd\n", "a\nc\n\nd\n"],
            ),
            ("+a\n+  b\ndiff\n", vec!["a\n  b\n"]),
            ("a.yml-a\na.yml-  b\na.yml:c\na.yml-d\nb.yml:e\n", vec!["a\n  b\nc\nd\n"]),
            ("  a\n  b\n", vec![]),
            ("+a\nb\n", vec![]),
            ("1→a\nb\n2→c\n", vec![]),
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_read_has_its_place() {
        let place = |text: &str, span| {
            let run = runs(text, true).last().expect(text);
            let inside = Places::of(run.unmarked()).place(span);
            text[run.place][inside].to_owned()
        };
        assert_eq!(place("x\n  1→é\n  2→bc\n", 0..2), "é");
        assert_eq!(place("x\n  1→é\n  2→bc\n", 3..5), "bc");
        assert_eq!(place(" a\n-b\n+c\n", 0..3), "a\n-b\n+c");
    }
}
