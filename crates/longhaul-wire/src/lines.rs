//! Splitting a file of lines, each one JSON value.

use std::{borrow::Cow, io::Write, ops::Range};

use crate::{
    Problem, WireError,
    json::{Flaw, Json},
};

/// Returns the range of each line, without its line break, and where the next one begins.
pub(crate) fn split(bytes: &[u8]) -> Vec<Range<usize>> {
    let mut lines = Vec::new();
    let mut at = 0;
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let end = at + line.len();
        let content = line.strip_suffix(b"\n").unwrap_or(line);
        let content = content.strip_suffix(b"\r").unwrap_or(content);
        lines.push(at..at + content.len());
        at = end;
    }
    lines
}

/// Returns `lines` without a last one that was cut off, in a file that begins anew: what an agent appends would go on in it.
pub(crate) fn without_cut<'a, 'l>(lines: &'a [Cow<'l, [u8]>]) -> &'a [Cow<'l, [u8]>] {
    match lines.split_last() {
        Some((last, before)) if check(last, false).is_err_and(|flaw| flaw.is_cut) => before,
        _ => lines,
    }
}

/// Writes `lines` with a break between each two, and one behind the last where the file is to end so.
pub(crate) fn write(
    lines: &[Cow<'_, [u8]>],
    ends_with_break: bool,
    out: &mut impl Write,
) -> Result<(), WireError> {
    for (at, line) in lines.iter().enumerate() {
        if at > 0 {
            out.write_all(b"\n")?;
        }
        out.write_all(line)?;
    }
    if ends_with_break && !lines.is_empty() {
        out.write_all(b"\n")?;
    }
    Ok(())
}

/// Checks one line. A blank one gives `Ok(None)`; `first` says whether a byte order mark may lead.
pub(crate) fn check(line: &[u8], first: bool) -> Result<Option<Json<'_>>, Flaw> {
    let line = if first { line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line) } else { line };
    if line.iter().all(u8::is_ascii_whitespace) {
        return Ok(None);
    }
    Json::check(line).map(Some)
}

/// What to tell of a line that does not say what it is.
pub(crate) const UNTYPED: &str = "it has no type; the line is carried, not read";

/// What to tell of a line that is no message where the others are.
pub(crate) const NO_MESSAGE: &str = "no message; the line is carried, not read";

/// What to tell of a line that another agent would write.
pub(crate) const FOREIGN: &str = "no line of this agent's; it is carried, not read";

/// Returns what to tell about a line that is not JSON.
pub(crate) fn problem(number: usize, flaw: &Flaw, is_last: bool) -> Problem {
    let place = format!("line {number}, byte {}", flaw.byte);
    match is_last && flaw.is_cut {
        true => Problem::new(place, "the last line is cut off; what stands before it was read"),
        false => Problem::new(place, format!("{}; the line is carried, not read", flaw.what)),
    }
}
