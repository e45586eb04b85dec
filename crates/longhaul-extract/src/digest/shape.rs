//! What a text looks like, and the digest that suits it.

use super::{
    clean::strip_line_number,
    fit::Allowance,
    lines::{self, Class},
    listing::{is_listing, listing_within},
    matches::{Match, matches_within, parse_matches},
    records::records_within,
    render::lines_within,
};
use crate::{json::Json, tool::ToolFamily};

/// What a text looks like.
#[derive(Debug)]
pub(crate) enum Shape<'a> {
    /// One JSON value, perhaps cut off.
    Json(Json<'a>),
    /// Matches of a search.
    Matches(Vec<Match<'a>>),
    /// Paths, one a line.
    Listing,
    /// A unified diff.
    Diff,
    /// A file or a part of one.
    Code,
    /// Anything else, line by line.
    Lines,
}

/// Tells the shape of a cleaned text, helped by what kind of tool gave it.
pub(crate) fn shape_of<'a>(text: &'a str, lines: &[&'a str], family: ToolFamily) -> Shape<'a> {
    if let Some(json) = Json::read(text)
        && json.rest == 0
        && !json.leaves.is_empty()
    {
        return Shape::Json(json);
    }
    let is_view = lines.iter().take(12).filter(|line| strip_line_number(line).is_some()).count() >= 3;
    if family == ToolFamily::Read || is_view && family != ToolFamily::Search {
        return Shape::Code;
    }
    let diff_heads = lines.iter().take(4000).filter(|line| is_diff_head(line)).count();
    if diff_heads >= 2 {
        return Shape::Diff;
    }
    if matches!(family, ToolFamily::Search | ToolFamily::Shell | ToolFamily::Record | ToolFamily::Other) {
        let shell = family != ToolFamily::Search;
        // A compiler's errors look like matches too: those stay lines.
        let errors = shell && lines.iter().take(200).any(|line| lines::classify(line).is_error());
        if let (Some(found), false) = (parse_matches(lines), errors) {
            return Shape::Matches(found);
        }
    }
    if is_listing(lines) {
        return Shape::Listing;
    }
    Shape::Lines
}

/// Returns the digest of a text of the given shape; `None` where not even the mark for omitted lines fits.
pub(crate) fn within(shape: &Shape<'_>, lines: &[&str], allowance: &Allowance<'_>) -> Option<String> {
    match shape {
        Shape::Json(json) => records_within(json, allowance),
        Shape::Matches(found) => matches_within(found, allowance),
        Shape::Listing => listing_within(lines, allowance),
        Shape::Diff => scored(lines, allowance, diff_scores),
        Shape::Code => scored(lines, allowance, code_scores),
        Shape::Lines => scored(lines, allowance, lines::score),
    }
}

type Scored = (Vec<Class>, Vec<f64>);

fn scored(lines: &[&str], allowance: &Allowance<'_>, score: impl Fn(&[&str]) -> Scored) -> Option<String> {
    let (classes, scores) = score(lines);
    lines_within(lines, &classes, &scores, allowance)
}

fn is_diff_head(line: &str) -> bool {
    line.starts_with("@@ ")
        || line.starts_with("diff --git ")
        || line.starts_with("+++ ")
        || line.starts_with("--- a/")
}

/// Files first, then hunks, then what changed; context last.
fn diff_scores(lines: &[&str]) -> Scored {
    let mut in_hunk = false;
    let mut changes_in_hunk = 0.0;
    let mut classes = Vec::with_capacity(lines.len());
    let mut scores = Vec::with_capacity(lines.len());
    for line in lines {
        let (class, score) = if line.starts_with("diff --git ") {
            in_hunk = false;
            (Class::Head, 7.0)
        } else if line.starts_with("@@") {
            in_hunk = true;
            changes_in_hunk = 0.0;
            (Class::Head, 5.0)
        } else if !in_hunk
            && (line.starts_with("+++ ") || line.starts_with("rename ") || line.contains(" file mode "))
        {
            (Class::Head, 6.0)
        } else if !in_hunk
            && (line.starts_with("--- ") || line.starts_with("index ") || line.starts_with("similarity"))
        {
            (Class::Noise, 0.5)
        } else if in_hunk && line.starts_with(['+', '-']) {
            let body = &line[1..];
            let says = match lines::classify(body) {
                Class::Definition => 5.5,
                Class::Noise if body.trim().is_empty() => 0.3,
                _ if body.trim().len() < 4 => 1.0,
                _ => 4.5,
            };
            changes_in_hunk += 1.0;
            (Class::Change, says / (1.0 + 0.04 * changes_in_hunk))
        } else if in_hunk {
            (Class::Plain, 0.8)
        } else {
            let class = lines::classify(line);
            (class, class.score())
        };
        classes.push(class);
        scores.push(score);
    }
    lines::spread(&mut scores);
    (classes, scores)
}

/// Definitions first, then imports, then the rest; comments and lone brackets last.
fn code_scores(lines: &[&str]) -> Scored {
    let mut scores: Vec<f64> = Vec::with_capacity(lines.len());
    for line in lines {
        let body = strip_line_number(line).map_or(*line, |(_, body)| body);
        let trimmed = body.trim();
        let indent = (body.len() - body.trim_start().len()).min(24) as f64;
        scores.push(match () {
            () if trimmed.len() < 3 => 0.2,
            () if lines::classify(body) == Class::Definition => 6.0 - indent * 0.1,
            () if trimmed.starts_with("import ")
                || trimmed.starts_with("use ")
                || trimmed.starts_with("from ") =>
            {
                3.0
            }
            () if trimmed.starts_with("#include") || trimmed.contains("require(") => 3.0,
            () if trimmed.starts_with('#') && !trimmed.starts_with("#[") => 4.0,
            () if trimmed.starts_with("//") || trimmed.starts_with('*') => 1.2,
            () => 2.0 - indent * 0.02,
        });
    }
    lines::spread(&mut scores);
    (vec![Class::Plain; lines.len()], scores)
}
