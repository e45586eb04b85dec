//! Lines that are quoted, and what stands between them.

use longhaul_extract::Statement;

/// Returns `lines` between fences that no run of backticks inside can close: what a tool said stands in the summary as
/// a quotation, never as a line of the summary's own.
pub(super) fn fenced(lines: String) -> String {
    if lines.is_empty() {
        return lines;
    }
    let longest = lines.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat((longest + 1).max(3));
    format!("{fence}\n{lines}\n{fence}")
}

/// Returns whether `one` is a comment in code and `next`, of the same message, does not follow it there: it would be taken for what the
/// comment is on.
pub(super) fn parts_comment(one: &Statement, next: &Statement) -> bool {
    const BEGIN: [&str; 5] = ["//", "# ", "-- ", "/*", "<!--"];
    let is_comment = BEGIN.iter().any(|mark| one.text.trim_start().starts_with(mark));
    is_comment && one.message == next.message && next.nth() != one.nth() + 1
}

/// What stands for parts of a record that are left out.
pub(super) const LEFT_OUT: &str = "…";
