//! What a text looks like, and the digest that suits it.

use std::collections::HashMap;

use super::{
    clean::{is_numbered, strip_line_number},
    fit::Allowance,
    lines,
    listing::{is_listing, listing_within},
    matches::{Match, matches_within, parse_matches},
    patterns::Class,
    records::records_within,
    render::lines_within,
    source::Source,
};
use crate::{
    json::Json,
    outline::{Definition, outline},
    tool::ToolFamily,
    tool_view::CallView,
};

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
    /// A file or a part of one, with its path where it is known and the number of its first line.
    Code { path: &'a str, first: Option<u64> },
    /// Anything else, line by line.
    Lines,
}

/// Tells the shape of a cleaned text, helped by what kind of tool gave it.
pub(crate) fn shape_of<'a>(source: Source<'a>, lines: &[&'a str]) -> Shape<'a> {
    let Source { text, call, .. } = source;
    let family = source.family();
    if let Some(json) = Json::read(text)
        && json.rest == 0
        && !json.leaves.is_empty()
    {
        return Shape::Json(json);
    }
    let is_view = is_numbered(lines, family.changes_files());
    let path = call.and_then(|call| call.path()).unwrap_or_default();
    if family == ToolFamily::Read || is_view && family != ToolFamily::Search {
        let first = call.map_or(Some(1), |call| call.line_range().0.or(Some(1)));
        return Shape::Code { path, first: first.filter(|_| family == ToolFamily::Read) };
    }
    if let Some(path) = call.filter(|_| family == ToolFamily::Shell).and_then(viewed_file) {
        return Shape::Code { path, first: None };
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
        Shape::Code { path, first } => code_within(path, *first, lines, allowance),
        Shape::Lines => scored(lines, allowance, lines::score),
    }
}

type Scored = (Vec<Class>, Vec<f64>);

fn scored(lines: &[&str], allowance: &Allowance<'_>, score: impl Fn(&[&str]) -> Scored) -> Option<String> {
    let (classes, scores) = score(lines);
    lines_within(lines, None, &classes, &scores, allowance)
}

/// Returns the file that a command does nothing but show.
fn viewed_file<'a>(call: &'a CallView<'_>) -> Option<&'a str> {
    let command = call.command_text()?;
    if command.contains(['|', ';', '&', '\n', '$', '<', '>']) {
        return None;
    }
    let mut words = command.split_whitespace();
    let shows = matches!(words.next()?, "cat" | "sed" | "head" | "tail" | "nl" | "bat" | "less");
    let file = words.next_back()?.trim_matches(['"', '\'']);
    (shows && !file.starts_with('-') && file.contains(['.', '/'])).then_some(file)
}

/// Shows a file by its definitions, with the numbers of the lines where they are known.
fn code_within(path: &str, first: Option<u64>, lines: &[&str], allowance: &Allowance<'_>) -> Option<String> {
    let numbered = is_numbered(lines, true);
    let mut numbers = Vec::with_capacity(lines.len());
    let mut bodies = Vec::with_capacity(lines.len());
    for (at, line) in lines.iter().enumerate() {
        let (number, body) = match strip_line_number(line).filter(|_| numbered) {
            Some((number, body)) => (Some(number), body),
            None => (first.filter(|_| !numbered).map(|first| first + at as u64), *line),
        };
        numbers.push(number);
        bodies.push(body);
    }
    let defined = outline(path, &lines.join("\n"));
    let by_line: HashMap<u64, &Definition> = defined.definitions.iter().map(|one| (one.line, one)).collect();
    let mut scores: Vec<f64> = Vec::with_capacity(lines.len());
    for (at, body) in bodies.iter().enumerate() {
        let trimmed = body.trim();
        let indent = (body.len() - body.trim_start().len()).min(24) as f64;
        let line = if numbered { numbers[at] } else { Some(at as u64 + 1) };
        scores.push(match line.and_then(|line| by_line.get(&line)) {
            Some(one) => 6.0 - (one.indent.min(40) as f64) * 0.08 + if one.exported { 0.6 } else { 0.0 },
            None if trimmed.len() < 3 => 0.2,
            None if is_import(trimmed) => 3.0,
            None if trimmed.starts_with("//") || trimmed.starts_with('*') => 1.2,
            None => 2.0 - indent * 0.02,
        });
    }
    lines::spread(&mut scores);
    let numbers = (numbered || first.is_some()).then_some(numbers.as_slice());
    lines_within(&bodies, numbers, &vec![Class::Plain; lines.len()], &scores, allowance)
}

fn is_import(line: &str) -> bool {
    const HEADS: [&str; 7] = ["import ", "use ", "from ", "#include", "require", "} from ", "package "];
    HEADS.iter().any(|head| line.starts_with(head)) || line.contains("require(")
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
