//! Colour where it is wanted, and text that cannot harm a terminal.

use std::{
    borrow::Cow,
    fmt::Write as _,
    io::IsTerminal as _,
    ops::Range,
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
};

use longhaul::transcript::is_invisible;
pub(crate) use longhaul::transcript::{counted, grouped};
use terminal_size::{Width, terminal_size_of};
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use crate::flow::Flow;

/// A colour, by its 256-colour index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Colour(pub(crate) u8);

pub(crate) const GREEN: Colour = Colour(35);
pub(crate) const YELLOW: Colour = Colour(178);
pub(crate) const RED: Colour = Colour(167);
pub(crate) const GREY: Colour = Colour(245);

/// Returns the colour of a window that is full to this share.
pub(crate) fn fullness(ratio: f64) -> Colour {
    match ratio {
        ratio if ratio < 0.5 => GREEN,
        ratio if ratio < 0.8 => YELLOW,
        _ => RED,
    }
}

/// Returns a share in per cent. Of what is many times too much the numbers beside it say more.
pub(crate) fn percent(ratio: f64) -> String {
    match 100.0 * ratio {
        share if share < 1_000.0 => format!("{share:.1}"),
        _ => ">999".to_owned(),
    }
}

/// Every colour that is painted with. None of them is close to a background, so that no text is hidden by it.
pub(crate) const PALETTE: [Colour; 10] =
    [GREEN, YELLOW, RED, GREY, Colour(38), Colour(69), Colour(134), Colour(141), Colour(173), Colour(103)];

/// Nothing is painted in this process, whatever it writes to.
static NEVER: AtomicBool = AtomicBool::new(false);

/// Paints nothing from now on: what is written is for programs.
#[cfg(feature = "mcp")]
pub(crate) fn never() {
    NEVER.store(true, Ordering::Relaxed);
}

/// Writes colour, or leaves it out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Painter {
    colour: bool,
    /// A person reads it on a terminal.
    is_seen: bool,
}

impl Painter {
    /// Paints when stdout is a terminal and the user has not said no (`NO_COLOR`, `TERM=dumb`).
    pub(crate) fn stdout() -> Painter {
        Painter::on(std::io::stdout().is_terminal())
    }

    /// The same for stderr.
    pub(crate) fn stderr() -> Painter {
        Painter::on(std::io::stderr().is_terminal())
    }

    fn on(is_terminal: bool) -> Painter {
        Painter { colour: is_terminal && wanted(), is_seen: is_terminal && !NEVER.load(Ordering::Relaxed) }
    }

    /// Returns whether a person reads it on a terminal.
    pub(crate) fn is_seen(self) -> bool {
        self.is_seen
    }

    /// Returns `text` [`shortened`] where a person only looks at it; whole for a program.
    pub(crate) fn short(self, text: &str, columns: usize) -> String {
        if self.is_seen { shortened(text, columns) } else { text.to_owned() }
    }

    /// Returns `words` with each that is longer than so many columns [`shortened`] where a person looks at them. What is marked stays
    /// in sight.
    pub(crate) fn short_words(self, words: &str, columns: usize) -> String {
        match self.is_seen {
            true => words.split(' ').map(|word| short_word(word, columns)).collect::<Vec<_>>().join(" "),
            false => words.to_owned(),
        }
    }

    /// Returns `text` with its long lines broken between words where a person reads it; as it is for a program.
    pub(crate) fn folded(self, text: &str) -> String {
        match self.is_seen {
            true => text.lines().map(|line| wrapped("", &self.short_words(line, line_width()), "")).collect(),
            false => format!("{}\n", text.strip_suffix('\n').unwrap_or(text)),
        }
    }

    /// Returns what was said with its lines broken between words where a person reads it, and nothing of it left out; as it is for a
    /// program.
    pub(crate) fn flowed(self, text: &str) -> String {
        let mut flow = Flow::new(line_width());
        match self.is_seen {
            true => flow.push(text) + &flow.end(),
            false => text.to_owned(),
        }
    }

    /// Returns `words` behind `first`, [`wrapped`] where a person reads them; in one line for a program.
    pub(crate) fn hung(self, first: &str, words: &str, rest: &str) -> String {
        match self.is_seen {
            true => wrapped(first, words, rest),
            false => format!("{first}{words}\n"),
        }
    }

    /// Returns the beginning of `text` that a line has room for behind `taken` columns, where a person looks at it, and in the
    /// answers of a protocol, which are short; for any other program as much as somebody may have written as a line.
    pub(crate) fn cut(self, text: &str, taken: usize) -> String {
        let columns = match (self.is_seen, NEVER.load(Ordering::Relaxed)) {
            (true, _) => line_width().saturating_sub(taken),
            (_, true) => 120_usize.saturating_sub(taken),
            _ => 2_000,
        };
        cut(text, columns)
    }

    /// Does what [`with_whole`] does where a person reads it; in one line for a program.
    pub(crate) fn with_whole(self, indent: &str, words: &str, whole: &str) -> String {
        match self.is_seen {
            true => with_whole(indent, words, whole),
            false => format!("{indent}{words} {whole}\n"),
        }
    }

    /// Returns `text` in `colour`.
    pub(crate) fn paint(self, colour: Colour, text: &str) -> String {
        debug_assert!(PALETTE.contains(&colour), "{colour:?} would be spelled out");
        match self.colour {
            true => format!("\x1b[38;5;{}m{text}\x1b[0m", colour.0),
            false => text.to_owned(),
        }
    }

    /// Returns what stands before and after a word that is marked on stdout: colour on a terminal, or signs that a text seldom
    /// has. A program reads the words as they are.
    pub(crate) fn marks(self) -> (&'static str, &'static str) {
        match (self.colour, self.is_seen) {
            (true, _) => ("\x1b[1m", "\x1b[0m"),
            (false, true) => ("«", "»"),
            (false, false) => ("", ""),
        }
    }

    /// Returns `text` in bold.
    pub(crate) fn bold(self, text: &str) -> String {
        match self.colour {
            true => format!("\x1b[1m{text}\x1b[0m"),
            false => text.to_owned(),
        }
    }
}

fn wanted() -> bool {
    !NEVER.load(Ordering::Relaxed)
        && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
        && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// Returns `text` with control characters, bidirectional marks and what is invisible shown instead of obeyed: what a transcript
/// says must not steer the terminal of the one who reads about it.
pub(crate) fn plain(text: &str) -> String {
    spelled(text, (None, None), |_| None)
}

/// Does what [`plain`] does to a piece of `text`.
pub(crate) fn plain_piece(text: &str, piece: Range<usize>) -> String {
    let beside = (text[..piece.start].chars().next_back(), text[piece.end..].chars().next());
    spelled(&text[piece], beside, |_| None)
}

/// Does what [`plain`] does to the name of something, which is one line: a line end in it cannot begin a line of ours.
pub(crate) fn name(text: &str) -> String {
    plain(text).replace('\n', "\\n").replace('\t', "\\t")
}

/// Returns the name that [`name`] spelled out so, as far as that can be told.
pub(crate) fn as_named(spelled: &str) -> String {
    let mut named = String::with_capacity(spelled.len());
    let mut rest = spelled;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        let hex = escape.strip_prefix("\\u{").and_then(|hex| hex.split_once('}')).map(|(hex, _)| hex);
        let coded = hex.and_then(|hex| {
            Some((char::from_u32(u32::from_str_radix(hex, 16).ok()?)?, "\\u{}".len() + hex.len()))
        });
        let (c, length) = match escape.as_bytes().get(1) {
            Some(b'n') => ('\n', 2),
            Some(b't') => ('\t', 2),
            _ => coded.unwrap_or(('\\', 1)),
        };
        named.push_str(before);
        named.push(c);
        rest = &escape[length..];
    }
    named + rest
}

/// Returns what people call the file at `path`.
pub(crate) fn path(path: &Path) -> String {
    name(&path.display().to_string())
}

/// Returns `word` as a shell takes it for one word, whatever stands in it.
pub(crate) fn for_shell(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:@%+=,".contains(&byte);
    match !word.is_empty() && word.bytes().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// Does what [`plain`] does, and keeps the colours that a [`Painter`] of ours writes. They can be forged, and do no harm:
/// none of them hides a text.
pub(crate) fn harmless(text: &str) -> Cow<'_, str> {
    match text.chars().any(is_invisible) {
        true => Cow::Owned(spelled(text, (None, None), paint_length)),
        false => Cow::Borrowed(text),
    }
}

/// Returns `text`, which stands between these, with what steers spelled out, but for what is `ours` at the beginning of a rest, in
/// bytes.
fn spelled(
    text: &str,
    (mut before, end): (Option<char>, Option<char>),
    ours: impl Fn(&str) -> Option<usize>,
) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let length = ours(rest).unwrap_or(0);
        let after = rest[c.len_utf8()..].chars().next().or(end);
        match length {
            0 if is_invisible(c) && !(is_joiner(c) && joins(before, after)) => {
                let _ = write!(out, "\\u{{{:x}}}", c as u32);
            }
            0 => out.push(c),
            length => out.push_str(&rest[..length]),
        }
        before = Some(c);
        rest = &rest[length.max(c.len_utf8())..];
    }
    out
}

/// Returns `json` as a line that does a terminal no harm and says the same: what steers is escaped as JSON does it, which our own
/// way of spelling it out would break.
pub(crate) fn harmless_json(json: &str) -> String {
    let mut out = String::with_capacity(json.len() + 1);
    for c in json.chars() {
        if !is_invisible(c) {
            out.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            let _ = write!(out, "\\u{unit:04x}");
        }
    }
    out.push('\n');
    out
}

/// Returns the length of the colour, bold or end of either that `rest` begins with.
fn paint_length(rest: &str) -> Option<usize> {
    let inside = rest.strip_prefix("\x1b[")?;
    let end = inside.find('m').filter(|end| *end <= "38;5;255".len())?;
    let is_ours = match &inside[..end] {
        "0" | "1" => true,
        colour => colour.strip_prefix("38;5;").is_some_and(|index| {
            index.len() <= 3 && index.parse().is_ok_and(|index| PALETTE.contains(&Colour(index)))
        }),
    };
    is_ours.then_some("\x1b[".len() + end + 1)
}

fn is_joiner(c: char) -> bool {
    matches!(c, '\u{200c}' | '\u{200d}')
}

/// Returns whether a joiner between these is spelling: in the scripts that need it (Arabic, those of India and its neighbours) and
/// in signs that are made of several. Between letters that never join it only hides.
fn joins(before: Option<char>, after: Option<char>) -> bool {
    let takes = |c: char| matches!(c, '\u{600}'..='\u{1cff}' | '\u{2190}'..='\u{10ffff}') && !is_invisible(c);
    let known = [before, after].into_iter().flatten();
    known.clone().count() > 0 && known.into_iter().all(takes)
}

/// Returns how wide a line for a person is, in columns: as the terminal is, as far as lines are read at ease; 80 where there is none.
pub(crate) fn line_width() -> usize {
    let (out, err) = (std::io::stdout(), std::io::stderr());
    let width = terminal_size_of(out).or_else(|| terminal_size_of(err));
    width.map_or(80, |(Width(columns), _)| usize::from(columns).clamp(40, 120))
}

/// Returns how many columns `text` takes on a terminal; colours of ours take none.
pub(crate) fn width(text: &str) -> usize {
    let (mut columns, mut rest) = (text.width(), text);
    while let Some(at) = rest.find('\x1b') {
        rest = &rest[at..];
        let length = paint_length(rest).unwrap_or(1);
        columns = columns.saturating_sub(rest[..length].width());
        rest = &rest[length..];
    }
    columns
}

/// Returns `text` with blanks behind it up to so many columns.
pub(crate) fn padded(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

/// Returns the beginning of `text` that takes at most so many columns, with a mark where that is not all.
pub(crate) fn cut(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let mut left = columns.saturating_sub(1);
    let fits = |c: &char| {
        let taken = c.width().unwrap_or_default();
        let fits = taken <= left;
        left = left.saturating_sub(taken);
        fits
    };
    text.chars().take_while(fits).chain(['…']).collect()
}

/// Returns `text` in at most so many columns, without its middle where that is longer: a path is known by both its ends. For what is
/// only looked at; what somebody may copy stays whole.
pub(crate) fn shortened(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let room = columns.saturating_sub(1);
    let taken = |left: &mut usize, c: &char| {
        let fits = c.width().unwrap_or_default() <= *left;
        *left = left.saturating_sub(c.width().unwrap_or_default());
        fits
    };
    let (mut head, mut tail) = (room / 3, room - room / 3);
    let start: String = text.chars().take_while(|c| taken(&mut head, c)).collect();
    let end: Vec<char> = text.chars().rev().take_while(|c| taken(&mut tail, c)).collect();
    start + "…" + &end.into_iter().rev().collect::<String>()
}

/// Returns a word in at most so many columns; what is marked in it stays in sight.
fn short_word(word: &str, columns: usize) -> String {
    if width(word) <= columns {
        return word.to_owned();
    }
    const END: &str = "\x1b[0m";
    let (Some(start), Some(end)) = (word.find('\x1b'), word.rfind(END)) else {
        return shortened(word, columns);
    };
    let (before, marked, after) = (&word[..start], &word[start..end + END.len()], &word[end + END.len()..]);
    let room = columns.saturating_sub(width(marked)) / 2;
    let backwards = |text: &str| text.chars().rev().collect::<String>();
    format!("{}{marked}{}", backwards(&cut(&backwards(before), room)), cut(after, room))
}

/// Returns `words` with what is to be copied behind them, which may be a path: on the same line where both fit, else on a line of its
/// own, whole.
pub(crate) fn with_whole(indent: &str, words: &str, whole: &str) -> String {
    match width(indent) + width(words) + 1 + width(whole) <= line_width() {
        true => format!("{indent}{words} {whole}\n"),
        false => format!("{}{indent}  {whole}\n", wrapped(indent, words, &format!("{indent}  "))),
    }
}

/// Returns `words` behind `first`, over several lines where they are longer than [`line_width`]; each further line begins with
/// `rest`. A word that is longer than a line stays whole: it may be a path.
pub(crate) fn wrapped(first: &str, words: &str, rest: &str) -> String {
    let columns = line_width();
    let (mut out, mut at) = (first.to_owned(), width(first));
    for (nth, word) in words.split(' ').enumerate() {
        // The first word stays behind what it begins with, unless only a line of its own is long enough for it.
        let is_better_below =
            at > width(rest) && at + width(word) > columns && width(rest) + width(word) <= columns;
        if nth > 0 && at + 1 + width(word) > columns || nth == 0 && is_better_below {
            out.truncate(out.trim_end_matches(' ').len());
            out.push('\n');
            out.push_str(rest);
            at = width(rest);
        } else if nth > 0 {
            out.push(' ');
            at += 1;
        }
        out.push_str(word);
        at += width(word);
    }
    out.push('\n');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transcript_cannot_steer_the_terminal() {
        assert_eq!(plain("a\x1b[31mb\u{202e}c\nd"), "a\\u{1b}[31mb\\u{202e}c\nd");
    }

    #[test]
    fn a_word_for_a_shell_is_one() {
        for (word, shown) in [
            ("/a/b-1.db", "/a/b-1.db"),
            ("my store.db", "'my store.db'"),
            ("it's", r"'it'\''s'"),
            ("", "''"),
            ("~/x", "'~/x'"),
        ] {
            assert_eq!(for_shell(word), shown);
        }
    }

    #[test]
    fn what_is_invisible_is_spelled_out_unless_a_script_needs_it() {
        for (text, shown) in [
            ("a\u{feff}b\u{200b}c\u{2060}d\u{ad}e", "a\\u{feff}b\\u{200b}c\\u{2060}d\\u{ad}e"),
            ("adm\u{200d}in", "adm\\u{200d}in"),
            ("пар\u{200c}оль", "пар\\u{200c}оль"),
            ("می\u{200c}خواهم 👩\u{200d}👧", "می\u{200c}خواهم 👩\u{200d}👧"),
            ("é\u{200e}\u{2066}x\u{2069}", "é\\u{200e}\\u{2066}x\\u{2069}"),
            ("\u{85}\u{9b}2J", "\\u{85}\\u{9b}2J"),
        ] {
            assert_eq!((plain(text), harmless(text).into_owned()), (shown.to_owned(), shown.to_owned()));
        }
        assert_eq!(name("a\nlonghaul: all is well\t"), "a\\nlonghaul: all is well\\t");
    }

    #[test]
    fn what_is_only_shown_loses_its_middle_and_what_is_copied_stays_whole() {
        assert_eq!(shortened("/home/dev/work/session.jsonl", 40), "/home/dev/work/session.jsonl");
        assert_eq!(shortened("/home/dev/work/deep/down/session.jsonl", 20), "/home/…session.jsonl");
        assert_eq!(shortened("更为重要更为重要", 9), "更…为重要");
        let long = "/a-b/".repeat(30);
        let painter = Painter { colour: true, is_seen: true };
        let marked = format!("{}{}{}", "/a".repeat(50), painter.bold("here"), "/b".repeat(50));
        let short = painter.short_words(&marked, 78);
        assert!(width(&short) <= 78 && short.contains(&painter.bold("here")), "{short}");
        assert!(
            painter
                .folded(&format!("{long}\n{}", "word ".repeat(40)))
                .lines()
                .all(|line| width(line) <= line_width())
        );
        assert_eq!(with_whole("  ", "kept as", "/x"), "  kept as /x\n");
        assert_eq!(with_whole("  ", "kept as", &long), format!("  kept as\n    {long}\n"));
        assert_eq!(wrapped("x".repeat(50).as_str(), &"y".repeat(40), "  ").lines().count(), 2);
    }

    #[test]
    fn our_colours_pass_and_nothing_else_does() {
        let painter = Painter { colour: true, is_seen: true };
        let painted = format!("{} {}", painter.paint(RED, "no"), painter.bold("yes"));
        assert_eq!(harmless(&painted), painted);
        for (text, shown) in [
            ("a\x1b[8mhidden", "a\\u{1b}[8mhidden"),
            ("\x1b[38;5;0mblack", "\\u{1b}[38;5;0mblack"),
            ("\x1b[38;5;00035mlong", "\\u{1b}[38;5;00035mlong"),
            ("\x1b[2J\x1b]0;title\x07", "\\u{1b}[2J\\u{1b}]0;title\\u{7}"),
            ("\x1b[", "\\u{1b}["),
            ("\u{9b}31m é\r", "\\u{9b}31m é\\u{d}"),
            ("x\u{e0041}\u{2028}", "x\\u{e0041}\\u{2028}"),
        ] {
            assert_eq!(harmless(text), shown);
        }
        for colour in PALETTE {
            let painted = painter.paint(colour, "x");
            assert_eq!(harmless(&painted), painted);
        }
    }

    #[test]
    fn json_says_the_same_and_steers_nothing() {
        let said = "a\u{202e}b\u{7f}\u{9b}c\u{e0041}\u{2028}\n\té更";
        let json = serde_json::to_string(said).unwrap();
        let line = harmless_json(&json);
        assert_eq!(serde_json::from_str::<String>(&line).unwrap(), said);
        assert!(!line.trim_end().chars().any(is_invisible) && harmless(&line) == line, "{line}");
    }

    #[test]
    fn long_lines_are_broken_between_words() {
        let words = "word ".repeat(30) + &"x".repeat(90) + " end";
        let text = wrapped("  ", &words, "    ");
        assert!(text.lines().all(|line| line.len() <= line_width() || !line.trim().contains(' ')), "{text}");
        assert_eq!(text.split_whitespace().collect::<Vec<_>>(), words.split_whitespace().collect::<Vec<_>>());
        assert_eq!(wrapped("- ", "short one", "  "), "- short one\n");
    }

    #[test]
    fn columns_are_counted_as_a_terminal_does() {
        let painter = Painter { colour: true, is_seen: true };
        assert_eq!((width("abc"), width("更为重要"), width(&painter.bold("é…"))), (3, 8, 2));
        assert_eq!(width(&painter.paint(RED, "no")), 2);
        for (text, columns, shown) in [
            ("abcdef", 6, "abcdef"),
            ("abcdef", 5, "abcd…"),
            ("更为重要", 8, "更为重要"),
            ("更为重要", 6, "更为…"),
        ] {
            assert_eq!(cut(text, columns), shown);
        }
        let long = wrapped("", &"更为 ".repeat(40), "");
        assert!(long.lines().all(|line| width(line) <= line_width()), "{long}");
    }
}
