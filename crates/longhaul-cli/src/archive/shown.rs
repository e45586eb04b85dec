//! How what was recorded is shown: an original in a line or in full, and a time.

use std::borrow::Cow;

use longhaul::{
    extract::{CallView, is_wrapper},
    store::{Original, readable_text},
    transcript::{Message, Part, SessionId, SummaryRecord},
};

use crate::paint::{self, Painter, counted, harmless_json, plain};

/// Returns one line about an original: its id, who speaks, and how it begins.
pub(crate) fn line(original: &Original) -> String {
    line_cut(original, |text, taken| Painter::stdout().cut(text, taken))
}

/// Returns the same in so many columns, whoever reads it.
pub(crate) fn line_within(original: &Original, columns: usize) -> String {
    line_cut(original, |text, taken| paint::cut(text, columns.saturating_sub(taken)))
}

fn line_cut(original: &Original, cut: impl Fn(&str, usize) -> String) -> String {
    let Some(message) = &original.message else {
        return format!("m{:<5} {:9} ({})", original.ordinal, "", why_gone(original));
    };
    let columns = format!("m{:<5} {:9} ", original.ordinal, message.who());
    let begins = cut(&plain(&preview(message)), columns.len());
    format!("{columns}{begins}")
}

/// Returns an original in full, as a person reads it.
pub(crate) fn full(original: &Original) -> String {
    let Some(message) = &original.message else {
        return format!("── m{} ({})\n", original.ordinal, why_gone(original));
    };
    format!("── m{} {}\n{}\n", original.ordinal, message.who(), plain(readable_text(message).trim_end()))
}

/// Returns an original as a JSON object on a line of its own.
pub(crate) fn json_line(session: &SessionId, original: &Original) -> String {
    let value = serde_json::json!({
        "version": 1,
        "session": session,
        "ordinal": original.ordinal,
        "recorded_at_ms": original.at_ms,
        "forgotten": original.message.is_none() && !original.is_changed,
        "changed": original.is_changed,
        "message": original.message,
    });
    harmless_json(&value.to_string())
}

/// Returns why there is nothing to show of an original.
pub(crate) fn why_gone(original: &Original) -> &'static str {
    if original.is_changed { "changed in the store: not what was said" } else { "forgotten" }
}

fn preview(message: &Message) -> String {
    /// No list shows more of one.
    const MOST: usize = 2_000;
    let told: Vec<String> = message.parts.iter().map(told).collect();
    let mut words = String::new();
    for word in told.iter().flat_map(|part| part.split_whitespace()) {
        if !words.is_empty() {
            words.push(' ');
        }
        words.push_str(word);
        if words.len() > MOST {
            break;
        }
    }
    paint::cut(&words, MOST)
}

/// Returns what a part says to one who looks for it in a list: what a call is about, and an output without what its harness says
/// of it.
fn told(part: &Part) -> String {
    match part {
        Part::ToolCall(call) => {
            let view = CallView::new(call);
            format!("{} {}", call.name, view.subject().unwrap_or(Cow::Borrowed(&call.arguments.0)))
        }
        Part::ToolResult(result) => {
            let text = result.joined_text();
            let own = text.lines().skip_while(|line| is_wrapper(line) || line.trim().is_empty());
            own.collect::<Vec<_>>().join("\n")
        }
        Part::Text(text) => text.clone(),
        Part::Reasoning(reasoning) if reasoning.text.is_empty() => "(reasoning)".to_owned(),
        Part::Reasoning(reasoning) => reasoning.text.clone(),
        Part::Media(_) => "(media)".to_owned(),
        _ => "(what only the provider reads)".to_owned(),
    }
}

/// Returns how many of the summaries in `chain` stand in the view, in words: a summary that went into a later one is part of that.
pub(crate) fn in_force(chain: &[SummaryRecord]) -> String {
    let is_part =
        |at: usize| chain[at + 1..].iter().any(|later| later.covers.start <= chain[at].covers.start);
    let parts = (0..chain.len()).filter(|at| is_part(*at)).count();
    let told = format!("{} in force", chain.len() - parts);
    match parts as u64 {
        0 => told,
        parts => format!("{told}, made of {}", counted(parts, "earlier one")),
    }
}

/// Returns a time as people read it, in UTC: `2026-11-21 23:24`.
pub(crate) fn utc(at_ms: i64) -> String {
    let stamp = longhaul::wire::timestamp(at_ms);
    let minutes = stamp.split_at_checked(16).map_or(&*stamp, |(minutes, _)| minutes);
    minutes.replace('T', " ")
}

/// Returns a time as it may stand in the name of a file, in UTC: `2026-11-21T23-24-05`.
pub(crate) fn utc_in_a_name(at_ms: i64) -> String {
    let seconds = at_ms.div_euclid(1_000).rem_euclid(60);
    format!("{}-{seconds:02}", utc(at_ms).replace(' ', "T").replace(':', "-"))
}

/// Returns what is to be said of `n` deleted messages where words are not found.
pub(crate) fn but_deleted(n: u64) -> String {
    match n {
        0 => String::new(),
        1 => "; one message was deleted, and what it said cannot be found".to_owned(),
        n => format!("; {n} messages were deleted, and what they said cannot be found"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_says_what_a_call_is_about_and_how_its_output_begins() {
        use longhaul::transcript::{Outcome, Role, ToolCall, ToolResult};

        let call = ToolCall::function("c1", "exec_command", r#"{"cmd":"cargo test","yield_time_ms":1000}"#);
        let output =
            "Chunk ID: bf10c6\nWall time: 0.5 seconds\nProcess exited with code 0\nOutput:\n3 passed\n";
        let result = ToolResult::text("c1", output, Outcome::Unstated);
        let said = [
            Message::new(Role::Assistant, vec![Part::Text("Now the tests.".into()), Part::ToolCall(call)]),
            Message::new(Role::Tool, vec![Part::ToolResult(result)]),
        ];
        let rows = said.map(|message| {
            line(&Original { ordinal: 1, at_ms: 0, message: Some(message), is_changed: false })
        });
        assert_eq!(
            rows,
            ["m1     assistant Now the tests. exec_command cargo test", "m1     result    3 passed"]
        );
    }

    #[test]
    fn times_are_read_in_utc() {
        assert_eq!(utc(0), "1970-01-01 00:00");
        assert_eq!(utc(1_709_210_096_000), "2024-02-29 12:34");
        assert_eq!(utc(-1), "1969-12-31 23:59");
    }
}
