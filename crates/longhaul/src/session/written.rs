//! What a model wrote stays when rules take over: a tier that asks nobody, or a model that does not answer.

use longhaul_summarize::{Draft, SummaryRequest, rules::LEAST_LIMIT, shortened, written};
use longhaul_transcript::{SummaryRecord, Tokens};

/// The share of a summary that a model's words may take in one by rule.
const SHARE: f64 = 0.65;

/// Returns the draft of `by_rule` with the words that a model wrote for summaries before, behind it. Where that would leave
/// too little to tell of what is new, what is new goes first.
pub(super) fn beside(
    words: Option<&str>,
    request: &SummaryRequest<'_>,
    by_rule: impl Fn(&SummaryRequest<'_>) -> Draft,
) -> Draft {
    let Some(words) = words else { return by_rule(request) };
    // The next model reads from there on.
    let heading = written::heading(request.previous);
    let room = request.limit.scaled(SHARE) - request.counter.count_text(&heading) - Tokens(4);
    let fits = |text: &str| request.counter.count_up_to(text, room).is_some();
    let Some(kept) = shortened(words, fits) else { return by_rule(request) };
    let section = format!("\n\n{heading}\n{kept}");
    let cost = request.counter.count_text(&section);
    let left = request.limit - cost - Tokens(2);
    if left < LEAST_LIMIT {
        return by_rule(request);
    }
    let draft = by_rule(&SummaryRequest { limit: left, ..*request });
    let text = format!("{}{section}", draft.text.trim_end());
    let tokens = request.counter.count_text(&text);
    match tokens <= request.limit {
        true => Draft { text, tokens, ..draft },
        false => by_rule(request),
    }
}

/// Returns what models wrote in these summaries, the oldest first; `None` where they wrote nothing.
pub(super) fn words<'a>(records: impl Iterator<Item = &'a SummaryRecord>) -> Option<String> {
    let words: Vec<String> = records.filter_map(written::words).collect();
    (!words.is_empty()).then(|| words.join("\n\n"))
}

#[cfg(test)]
mod tests {
    use longhaul_extract::FactIndex;
    use longhaul_summarize::{rules, written::HEADING};
    use longhaul_tokens::{CharsPer4, TokenCounter};
    use longhaul_transcript::{SessionId, SummaryMode};

    use super::*;

    fn record(mode: SummaryMode, text: &str) -> SummaryRecord {
        SummaryRecord { mode, ..crate::session::running::tests::record(0, text) }
    }

    #[test]
    fn each_of_several_summaries_is_asked_who_wrote_it() {
        let kept = format!("## Files\nsrc/a.rs\n\n{HEADING}\nThe port is 4711.");
        let records = [
            record(SummaryMode::Llm, "The queue is durable."),
            record(SummaryMode::Rules, "## Files\nsrc/b.rs"),
            record(SummaryMode::Rules, &kept),
        ];
        assert_eq!(words(records.iter()).unwrap(), "The queue is durable.\n\nThe port is 4711.");
        assert_eq!(words(records[1..2].iter()), None);
    }

    #[test]
    fn in_little_room_what_is_new_goes_before_what_a_model_wrote() {
        let (session, index) = (SessionId::new("words").unwrap(), FactIndex::new());
        let by_rule = |request: &SummaryRequest<'_>| {
            let text = if request.limit < LEAST_LIMIT { rules::OMITTED } else { "New: src/new.rs." };
            Draft { text: text.into(), tokens: CharsPer4.count_text(text), ..Draft::default() }
        };
        for limit in 40..400 {
            let request = SummaryRequest {
                session: &session,
                entries: &[],
                kept: &[],
                tail: &[],
                previous: None,
                beside: &[],
                index: &index,
                counter: &CharsPer4,
                limit: Tokens(limit),
                goal: None,
                depth: 1,
                is_rebuilt: false,
                most_listed: None,
            };
            let draft = beside(Some(&"The port is 4711, says the model. ".repeat(4)), &request, by_rule);
            assert_eq!(draft.text.contains("src/new.rs"), limit >= LEAST_LIMIT.0, "{limit}: {}", draft.text);
        }
    }
}
