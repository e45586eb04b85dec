//! The table of marks, and where they stand in a text.

use std::{ops::Range, sync::LazyLock};

use longhaul_transcript::Speaker;
use serde::{Deserialize, Serialize};

use super::Matter;

/// A sign by which a piece of text tells who speaks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mark {
    /// The agent that writes it, for readers of the table.
    pub agent: String,
    /// How it stands in the text, and how much it covers.
    pub form: Form,
    /// The name of the tag, or the words. Case does not count.
    pub mark: String,
    /// Who speaks; nobody for [`Form::Words`], which only takes the tags away.
    #[serde(default)]
    pub who: Option<Speaker>,
    /// What it is.
    #[serde(default)]
    pub what: Option<Matter>,
    /// For [`Form::Between`] and [`Form::Refused`]: the words that end it.
    #[serde(default)]
    pub end: Option<String>,
    /// The tag inside which another agent's report stands.
    #[serde(default)]
    pub report: Option<String>,
    /// Whether it counts in tools' results too.
    #[serde(default)]
    pub in_results: bool,
}

/// How a mark stands in a text, and how much of the text it covers. All begin a line, or follow another mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Form {
    /// `<mark …>` to `</mark>`; to the end where nothing closes it and it opens the text or has a line of its own.
    Tag,
    /// `<mark …>` and `</mark>` alone: what stands between them is the speaker's own.
    Words,
    /// The words open the text: all of it, up to a mark of the form [`Form::Rest`].
    Start,
    /// The words open a line: that line.
    Line,
    /// The words open a line: from there to the end.
    Rest,
    /// The words open a line: what follows it, other marks apart.
    After,
    /// The words open a line: from there through the words that end it, or to the end.
    Between,
    /// The words are a line: from the paragraph above it to the end.
    About,
    /// The text begins with `[` and its first line ends with the words: all of it.
    Head,
    /// The words open the result of a call that failed: what stands behind the words that end it. A call that a person refuses is
    /// answered like that, and why.
    Refused,
}

/// The table of marks was not understood.
#[derive(Debug)]
pub struct MarksError(serde_json::Error);

impl std::fmt::Display for MarksError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the table of marks is not a JSON list of marks: {}", self.0)
    }
}

impl std::error::Error for MarksError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.0)
    }
}

/// Tells who speaks, by a table of marks.
#[derive(Clone, Debug)]
pub struct Speakers {
    marks: Vec<Mark>,
    /// The marks by the first byte of what opens a line with them, in lower case.
    by_first: Vec<(u8, usize)>,
    heads: Vec<usize>,
    refusals: Vec<usize>,
    /// Finds how the marks open that count in tools' results.
    in_results: Vec<memchr::memmem::Finder<'static>>,
}

type Who = (Speaker, Matter);

/// Lines in which a harness tells a model how to go on.
const LAST_LINES: usize = 6;

impl Speakers {
    /// Returns the built-in table: the marks of Claude Code, Codex, pi, opencode, Copilot, Gemini CLI, Cline, Cursor, SWE-agent,
    /// aider and tau-bench.
    pub fn builtin() -> &'static Speakers {
        static BUILTIN: LazyLock<Speakers> = LazyLock::new(|| {
            let marks = serde_json::from_str(include_str!("marks.json")).unwrap_or_default();
            Speakers::new(marks)
        });
        &BUILTIN
    }

    /// Returns a table of these marks alone.
    pub fn new(marks: Vec<Mark>) -> Speakers {
        let first = |mark: &Mark| match mark.form {
            Form::Tag | Form::Words => b'<',
            _ => mark.mark.bytes().next().unwrap_or(b'<').to_ascii_lowercase(),
        };
        let places = || marks.iter().enumerate().filter(|(_, mark)| !mark.mark.is_empty());
        let all_of =
            |form: Form| places().filter(move |(_, mark)| mark.form == form).map(|(at, _)| at).collect();
        let (heads, refusals): (Vec<usize>, Vec<usize>) = (all_of(Form::Head), all_of(Form::Refused));
        let is_apart = |at: &usize| heads.contains(at) || refusals.contains(at);
        let mut by_first: Vec<(u8, usize)> =
            places().filter(|(at, _)| !is_apart(at)).map(|(at, mark)| (first(mark), at)).collect();
        by_first.sort_unstable();
        let opening = |mark: &Mark| match mark.form {
            Form::Tag | Form::Words => format!("<{}", mark.mark),
            _ => mark.mark.clone(),
        };
        let in_results = marks.iter().filter(|mark| mark.in_results);
        let finder = |mark| memchr::memmem::Finder::new(opening(mark).as_bytes()).into_owned();
        let in_results = in_results.map(finder).collect();
        Speakers { by_first, heads, refusals, in_results, marks }
    }

    /// Returns this table with the marks of a JSON list added; they come first, so that they can say otherwise.
    ///
    /// # Errors
    ///
    /// [`MarksError`] where `json` is no list of [`Mark`]s.
    ///
    /// ```
    /// use longhaul_extract::speaker::Speakers;
    /// use longhaul_transcript::{Message, Speaker};
    ///
    /// let json = r#"[{"agent": "ours", "form": "tag", "mark": "note", "who": "harness", "what": "reminder"}]"#;
    /// let speakers = Speakers::builtin().with_marks(json)?;
    /// let message = Message::user("<note>never mind</note>\nfix it");
    /// let said: Vec<_> = speakers.segments(&message).into_iter().map(|piece| (piece.speaker, piece.text)).collect();
    /// assert_eq!(said, [(Speaker::Harness, "<note>never mind</note>"), (Speaker::Person, "fix it")]);
    /// # Ok::<(), longhaul_extract::speaker::MarksError>(())
    /// ```
    pub fn with_marks(&self, json: &str) -> Result<Speakers, MarksError> {
        let mut marks: Vec<Mark> = serde_json::from_str(json).map_err(MarksError)?;
        marks.extend(self.marks.iter().cloned());
        Ok(Speakers::new(marks))
    }

    /// Returns the marks, in the order in which they are tried.
    pub fn marks(&self) -> &[Mark] {
        &self.marks
    }

    /// Returns the pieces of `text`, in order, with the speaker of each; `base` speaks where no mark stands.
    pub(super) fn marked(&self, text: &str, base: Who) -> Vec<(Range<usize>, Who)> {
        if self.is_plain(text, base) {
            return vec![(0..text.len(), base)];
        }
        if let Some(who) = self.head(text).filter(|_| base.0 != Speaker::Tool) {
            return vec![(0..text.len(), who)];
        }
        let mut scan = Scan { text, base, from: 0, found: Vec::new(), unclosed: Vec::new() };
        let mut at = 0;
        let mut fence = false;
        while at < text.len() {
            let line_end =
                memchr::memchr(b'\n', &text.as_bytes()[at..]).map_or(text.len(), |end| at + end + 1);
            let line = &text[at..line_end];
            let begins = at + (line.len() - line.trim_start().len());
            if base.0 != Speaker::Tool && text[begins..line_end].starts_with("```") {
                fence = !fence;
            }
            let mark = if fence { None } else { self.mark_at(text, begins, base.0 == Speaker::Tool) };
            let end = match mark {
                Some(Mark { form: Form::Start, .. }) => self.rest_behind(text, line_end),
                _ => text.len(),
            };
            at = match mark.and_then(|mark| scan.take(mark, begins, line_end, end)) {
                Some(after) => after.max(begins + 1),
                None => line_end,
            };
            while !text.is_char_boundary(at) {
                at += 1;
            }
        }
        scan.plain(text.len());
        scan.found
    }

    /// Returns whether all of `text` is surely said by `base`.
    pub(super) fn is_plain(&self, text: &str, base: Who) -> bool {
        base.0 == Speaker::Model || base.0 == Speaker::Tool && !self.may_stand_in_result(text)
    }

    fn may_stand_in_result(&self, text: &str) -> bool {
        self.in_results.iter().any(|opening| opening.find(text.as_bytes()).is_some())
    }

    fn head(&self, text: &str) -> Option<Who> {
        let text = text.trim_start();
        let first = text.strip_prefix('[')?.lines().next()?.trim_end();
        let mark = self.heads.iter().map(|at| &self.marks[*at]).find(|mark| first.ends_with(&*mark.mark))?;
        mark.who.zip(mark.what)
    }

    /// Returns who speaks at the end of the result of a call that failed, where that was refused, and from where on.
    pub(super) fn refused(&self, text: &str) -> Option<(usize, Who)> {
        let begins = text.len() - text.trim_start().len();
        let marks = self.refusals.iter().map(|at| &self.marks[*at]);
        let mut marks = marks.filter(|mark| starts(&text[begins..], &mark.mark));
        marks.find_map(|mark| {
            let end = mark.end.as_deref()?;
            let first = text[begins..].lines().next()?;
            Some((begins + find(first, end)? + end.len(), mark.who.zip(mark.what)?))
        })
    }

    /// Returns where, behind `from`, a line begins with which somebody else speaks to the end: a harness tells a model how to go on from
    /// a summary in the last lines of the text that brings it. Further up it is quoted.
    fn rest_behind(&self, text: &str, from: usize) -> usize {
        let is_rest = |at: &usize| self.mark_at(text, *at, false).is_some_and(|mark| mark.form == Form::Rest);
        let lines = memchr::memchr_iter(b'\n', &text.as_bytes()[from..]).map(|end| from + end + 1);
        let is_late = |at: &usize| *at < text.len() && text[*at..].lines().nth(LAST_LINES).is_none();
        [from].into_iter().chain(lines).find(|at| is_late(at) && is_rest(at)).unwrap_or(text.len())
    }

    fn mark_at(&self, text: &str, at: usize, in_result: bool) -> Option<&Mark> {
        let rest = &text[at..];
        let first = rest.bytes().next()?.to_ascii_lowercase();
        let from = self.by_first.partition_point(|(byte, _)| *byte < first);
        let candidates = self.by_first[from..].iter().take_while(|(byte, _)| *byte == first);
        candidates.map(|(_, mark)| &self.marks[*mark]).find(|mark| {
            let opens = match mark.form {
                Form::Tag => opening(rest, &mark.mark).is_some(),
                Form::Words => opening(rest, &mark.mark).is_some() || closing(rest, &mark.mark).is_some(),
                Form::Start => starts(rest, &mark.mark) && text[..at].trim().is_empty(),
                Form::About => {
                    rest.lines().next().is_some_and(|line| line.trim().eq_ignore_ascii_case(&mark.mark))
                }
                _ => starts(rest, &mark.mark),
            };
            opens && (mark.in_results || !in_result)
        })
    }
}

struct Scan<'t> {
    text: &'t str,
    base: Who,
    /// Where what is not yet given to anybody begins.
    from: usize,
    found: Vec<(Range<usize>, Who)>,
    /// Tags that nothing closes from here on, so that the rest is not searched again for each.
    unclosed: Vec<String>,
}

impl Scan<'_> {
    /// Gives a piece that begins at `begins`, up to `most_end`, to whom `mark` says, and returns where to go on; nothing where the mark
    /// is not whole.
    fn take(&mut self, mark: &Mark, begins: usize, line_end: usize, most_end: usize) -> Option<usize> {
        let text = self.text;
        let rest = &text[begins..];
        if mark.form == Form::Words {
            let tag = opening(rest, &mark.mark).or_else(|| closing(rest, &mark.mark))?;
            self.plain(begins);
            self.from = begins + tag;
            // The closing tag stands where the words end, in the middle of a line as well.
            let close = format!("</{}>", mark.mark);
            if self.unclosed.contains(&close) {
                return Some(self.from);
            }
            let Some(end) = find(&text[self.from..], &close) else {
                self.unclosed.push(close);
                return Some(self.from);
            };
            let end = self.from + end;
            let inside = &text[self.from..end];
            if !inside.contains('<') {
                self.plain(end);
                self.from = end + close.len();
            }
            return Some(self.from);
        }
        let who = mark.who.zip(mark.what)?;
        if mark.form == Form::After {
            let base = self.base;
            self.plain(line_end);
            if base.0 == Speaker::Person {
                self.base = who;
            }
            return Some(line_end);
        }
        let is_alone = || {
            let tag = opening(rest, &mark.mark).unwrap_or_default();
            text[..begins].trim().is_empty()
                || text[begins + tag..line_end.max(begins + tag)].trim().is_empty()
        };
        let (start, end) = match mark.form {
            Form::Tag => {
                let close = format!("</{}>", mark.mark.split(' ').next().unwrap_or_default());
                let close_whole = format!("</{}>", mark.mark);
                let is_open = self.unclosed.contains(&close_whole);
                let end = [&close_whole, &close]
                    .into_iter()
                    .filter(|_| !is_open)
                    .find_map(|close| closes(rest, close));
                if end.is_none() && !is_open {
                    self.unclosed.push(close_whole.clone());
                }
                (begins, begins + end.or_else(|| is_alone().then_some(rest.len()))?)
            }
            Form::Line => (begins, line_end),
            Form::Between => {
                let end = mark.end.as_deref().and_then(|end| Some(find(rest, end)? + end.len()));
                (begins, end.map_or(text.len(), |end| begins + end))
            }
            Form::About => (paragraph_above(text, begins).max(self.from), text.len()),
            _ => (begins, most_end),
        };
        self.plain(start);
        self.from = end;
        match mark.report.as_deref().and_then(|tag| inside(&text[start..end], tag)) {
            Some(report) => {
                let report = start + report.start..start + report.end;
                self.found.push((start..report.start, who));
                self.found.push((report.clone(), (Speaker::SubAgent, Matter::Report)));
                self.found.push((report.end..end, who));
            }
            None => self.found.push((start..end, who)),
        }
        Some(end)
    }

    /// Gives what nobody has up to `end` to the speaker of the message.
    fn plain(&mut self, end: usize) {
        if self.from < end {
            self.found.push((self.from..end, self.base));
            self.from = end;
        }
    }
}

fn starts(text: &str, mark: &str) -> bool {
    text.as_bytes().get(..mark.len()).is_some_and(|start| start.eq_ignore_ascii_case(mark.as_bytes()))
}

/// Returns the length of the tag that opens `text`.
fn opening(text: &str, name: &str) -> Option<usize> {
    let rest = text.strip_prefix('<').filter(|rest| starts(rest, name))?;
    let after = &rest[name.len()..];
    if !after.starts_with(['>', ' ', '\n', '\t']) {
        return None;
    }
    Some(1 + name.len() + after.find('>')? + 1)
}

fn closing(text: &str, name: &str) -> Option<usize> {
    let rest = text.strip_prefix("</").filter(|rest| starts(rest, name))?;
    rest[name.len()..].starts_with('>').then_some(name.len() + 3)
}

/// Returns where `what` stands in `text`, as spelled or in lower case.
fn find(text: &str, what: &str) -> Option<usize> {
    text.find(what).or_else(|| text.find(&what.to_ascii_lowercase()))
}

/// Closing tags in sentences that are passed over in the search of the one that closes.
const MOST_QUOTED: usize = 16;

/// Returns where the tag `close` ends that closes a block. One in a sentence, as in "`</note>` ends it", does not where
/// another does.
fn closes(text: &str, close: &str) -> Option<usize> {
    let (mut from, mut first) = (0, None);
    for _ in 0..MOST_QUOTED {
        let Some(at) = find(&text[from..], close) else { break };
        let end = from + at + close.len();
        if text[end..].chars().next().is_none_or(|c| c.is_whitespace() || c == '<') {
            return Some(end);
        }
        first = first.or(Some(end));
        from = end;
    }
    first
}

fn inside(text: &str, tag: &str) -> Option<Range<usize>> {
    let open = format!("<{tag}>");
    let start = text.find(&open)? + open.len();
    let end = text[start..].find(&format!("</{tag}>")).map_or(text.len(), |end| start + end);
    Some(start..end)
}

/// Returns where the paragraph above the line at `at` begins.
fn paragraph_above(text: &str, at: usize) -> usize {
    let above = text[..at].trim_end();
    above.rfind("\n\n").map_or(0, |blank| blank + 2)
}
