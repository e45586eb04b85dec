//! Facts by rule beside the words of a summarizer that is not of this crate: the mode `hybrid` for whoever brings their own.

use std::sync::Arc;

use longhaul_transcript::{ContentHash, Entry, Message, MessageId, SummaryMode, Tokens};

use crate::{Draft, SummaryRequest, compose, notes::EXACTLY, rules};

/// The share of a summary's limit that a summarizer's words are asked to keep to in the mode `hybrid`: the facts get the
/// rest.
pub const WORDS_SHARE: f64 = 0.5;

/// Returns `draft` with facts by rule behind its words, as far as the request's limit leaves room for any. They stand in a
/// section of their own, so that the words can be told from them later, and in the data.
pub fn with_facts(
    draft: Draft,
    request: &SummaryRequest<'_>,
    by_rule: impl Fn(&SummaryRequest<'_>) -> Draft,
) -> Draft {
    let (counter, limit) = (request.counter, request.limit);
    let words = draft.text.trim();
    let kept = with_said(request, words);
    let heading = format!("\n\n## {EXACTLY}\n");
    let mut room = limit - counter.count_text(&format!("{words}{heading}"));
    for _ in 0..TRIES {
        if room < rules::LEAST_LIMIT {
            break;
        }
        let facts = by_rule(&SummaryRequest { kept: &kept, limit: room, ..*request });
        if matches!(facts.text.trim(), "" | rules::OMITTED) {
            break;
        }
        let text = format!("{words}{heading}{}", below(facts.text.trim()));
        let tokens = counter.count_text(&text);
        if tokens <= limit {
            return Draft { text, tokens, ..with_facts_in_data(draft, facts) };
        }
        // Headings one level lower cost more than those they take the place of.
        room = room.min(facts.tokens) - (tokens - limit) - Tokens(1);
    }
    draft
}

/// Returns `draft` with `facts` by rule in its data alone, where there are any: for a form that shows words, and of the data what it
/// has a place for.
pub fn with_facts_in_data(mut draft: Draft, facts: Draft) -> Draft {
    if matches!(facts.text.trim(), "" | rules::OMITTED) {
        return draft;
    }
    if draft.summary.narrative.trim().is_empty() {
        draft.text.trim().clone_into(&mut draft.summary.narrative);
    }
    let summary = compose::join(SummaryMode::Llm, draft.summary, facts.summary);
    Draft { summary, mode: SummaryMode::Hybrid, ..draft }
}

/// Returns what stays verbatim with `words` at its end: what they say need not be said again, and stands beside the facts
/// as the tail does.
pub(crate) fn with_said(request: &SummaryRequest<'_>, words: &str) -> Vec<Entry> {
    let mut kept = request.kept.to_vec();
    let message = Message::assistant(words);
    let last = kept.last().or(request.entries.last());
    let ordinal = last.map_or(0, |entry| entry.id.ordinal.saturating_add(1));
    let id = MessageId { ordinal, hash: message.content_hash() };
    kept.push(Entry { id, lineage: ContentHash([0; 32]), message: Arc::new(message) });
    kept
}

/// Returns a text with its headings one level lower.
fn below(text: &str) -> String {
    let lower = |line: &str| match line.starts_with("## ") {
        true => format!("#{line}"),
        false => line.to_owned(),
    };
    text.lines().map(lower).collect::<Vec<_>>().join("\n")
}

/// How often the facts are asked for again in less room.
const TRIES: usize = 4;
