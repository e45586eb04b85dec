//! Models that repeat what they were told to do instead of doing it.

use std::sync::LazyLock;

use super::{
    claims::is_same,
    evidence::Evidence,
    words::{sentences, stems},
};
use crate::prompt;

/// Returns whether `sentence` repeats one of the prompt's own, which the source does not say. Asked what a conversation
/// was about, Qwen2.5-Coder-0.5B told how it was fenced.
pub(super) fn is_echo(sentence: &str, evidence: &Evidence) -> bool {
    let said = stems(sentence);
    said.len() >= LEAST_STEMS && OURS.iter().any(|ours| is_same(ours, &said)) && !evidence.quotes(sentence)
}

/// Sentences of fewer content words are too common to tell whose they are.
const LEAST_STEMS: usize = 4;

static OURS: LazyLock<Vec<Vec<u64>>> = LazyLock::new(|| {
    let prompts = [
        prompt::SYSTEM,
        prompt::SYSTEM_PROSE,
        prompt::USER,
        prompt::HYBRID,
        prompt::REDUCE,
        prompt::NOTES,
        prompt::NOTES_SECTIONS,
        prompt::NOTES_UPDATE,
        prompt::NOTES_REDUCE,
        prompt::NOTES_INSTRUCTION,
    ];
    let lines = prompts.into_iter().flat_map(str::lines);
    lines.flat_map(sentences).map(stems).filter(|stems| stems.len() >= LEAST_STEMS).collect()
});
