//! What a model wrote stays when rules take over: a tier that asks nobody, or a model that does not answer.

use longhaul_summarize::{Draft, SummaryRequest};
use longhaul_transcript::{SummaryMode, SummaryRecord, Tokens};

/// Stands over the words of a model in a summary by rule.
const HEADING: &str = "## As a model summarized what came before";

/// The share of a summary that a model's words may take in one by rule.
const SHARE: f64 = 0.5;

/// Returns the draft of `by_rule` with the words that a model wrote for the summary before, behind it.
pub(super) fn beside(
    previous: Option<&SummaryRecord>,
    request: &SummaryRequest<'_>,
    by_rule: impl Fn(&SummaryRequest<'_>) -> Draft,
) -> Draft {
    let Some(words) = previous.and_then(words) else { return by_rule(request) };
    let kept = whole_lines(words, request.limit.scaled(SHARE), request);
    if kept.is_empty() {
        return by_rule(request);
    }
    let section = format!("\n\n{HEADING}\n{kept}");
    let cost = request.counter.count_text(&section);
    let draft = by_rule(&SummaryRequest { limit: request.limit - cost - Tokens(2), ..*request });
    let text = format!("{}{section}", draft.text.trim_end());
    let tokens = request.counter.count_text(&text);
    match tokens <= request.limit {
        true => Draft { text, tokens, ..draft },
        false => by_rule(request),
    }
}

/// Returns what a model wrote in a summary: all of it, or the part that a summary by rule kept.
fn words(record: &SummaryRecord) -> Option<&str> {
    match record.mode {
        SummaryMode::Rules => record.text.split_once(HEADING).map(|(_, words)| words.trim()),
        _ => Some(record.text.trim()),
    }
}

/// Returns as many lines as fit into `room`, without one that is cut.
fn whole_lines(text: &str, room: Tokens, request: &SummaryRequest<'_>) -> String {
    let mut kept = String::new();
    let mut left = room;
    for line in text.lines() {
        let cost = request.counter.count_text(line) + Tokens(1);
        if cost > left {
            break;
        }
        left -= cost;
        kept.push_str(line);
        kept.push('\n');
    }
    kept.trim_end().to_owned()
}
