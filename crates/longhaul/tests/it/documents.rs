//! What the design documents give literally: values of settings, and the words of prompts.

use longhaul::{
    Config, Preset,
    config::{Chaining, OnMaxDepth, Oversize, RatioBase, SoftAction, SummaryLimit, SummaryRole, Threshold},
    summarize::prompt,
    transcript::{SummaryMode, Tokens},
};

#[test]
fn the_documents_settings_have_the_documents_values() {
    let ratio = Threshold::Ratio;
    let tokens = |n| Threshold::Tokens(Tokens(n));

    let manager = Preset::ContextManager.config();
    assert_eq!(manager.max_context_tokens, Some(Tokens(180_000)));
    assert_eq!((manager.trigger_ratio, manager.ratio_base), (ratio(0.8), RatioBase::Window));
    assert_eq!((manager.preserve_recent, manager.preserve_system), (10, true));
    assert_eq!(manager.max_summary_tokens, SummaryLimit::Tokens(Tokens(2_000)));
    assert_eq!((manager.mode, manager.summary_role), (SummaryMode::Hybrid, SummaryRole::System));
    assert!(manager.limits(Tokens(180_000), Tokens(180_000)).target < Tokens(150_000));

    let rolling = Preset::Rolling.config();
    assert_eq!(
        (rolling.enabled, rolling.mode, rolling.preserve_error_details),
        (true, SummaryMode::Rules, true)
    );
    assert_eq!(rolling.max_summary_tokens, SummaryLimit::Tokens(Tokens(500)));
    assert_eq!((rolling.max_summary_share, rolling.oversize), (Some(0.1), Oversize::Rules));
    assert_eq!((rolling.chaining, rolling.transcript_cap_tokens), (Chaining::Running, Tokens(1_000)));
    assert_eq!(rolling.header(7), "[Previous Conversation Summary]");

    let session = Preset::Session.config();
    assert_eq!((session.enabled, session.trigger_messages, session.preserve_recent), (true, Some(50), 10));
    assert_eq!((session.target_compression, session.preserve_system), (Some(0.3), true));
    assert_eq!(session.max_summary_tokens, SummaryLimit::Tokens(Tokens(1_000)));
    assert_eq!(session.header(41), "[Previous conversation summarized - 41 messages]");

    let two_tier = Preset::TwoTier.config();
    assert_eq!((two_tier.soft_ratio, two_tier.trigger_ratio), (tokens(80_000), tokens(120_000)));
    assert_eq!((two_tier.soft_action, two_tier.preserve_recent), (SoftAction::SummarizeRules, 8));
    assert_eq!((two_tier.min_messages, two_tier.mode), (9, SummaryMode::Llm));
    assert_eq!(two_tier.max_summary_tokens, SummaryLimit::Tokens(Tokens(2_000)));

    let chain = Preset::Chain.config();
    assert_eq!((chain.enabled, chain.min_messages, chain.preserve_recent), (true, 12, 6));
    assert_eq!((chain.trigger_ratio, chain.reset_ratio), (ratio(0.8), ratio(0.7)));
    assert_eq!((chain.ratio_base, chain.soft_action), (RatioBase::Window, SoftAction::Off));
    assert_eq!((chain.max_summary_chain_depth, chain.on_max_depth), (3, OnMaxDepth::Halt));
    assert_eq!((chain.cooldown_messages, chain.abort_on_failure), (4, false));
    assert_eq!((chain.force_refresh_after_messages, chain.transcript_cap_tokens), (None, Tokens(8_000)));
    assert_eq!(chain.summary_role, SummaryRole::System);
}

/// Each document's prompt, up to where the conversation comes.
const PROMPTS: [(Preset, &str); 4] = [
    (
        Preset::ContextManager,
        "Summarize this conversation transcript, preserving:
1. Key decisions made
2. Important technical details (file paths, code snippets, errors)
3. Current task/goal state
4. Any pending questions or blockers

Be concise but comprehensive. Format as structured notes.

Transcript:
",
    ),
    (
        Preset::Rolling,
        "Summarize the following conversation context concisely.
Focus on:
1. What files were read/modified
2. What operations succeeded or failed
3. Key decisions or findings
4. Current state of the task

Keep the summary under {maxTokens} tokens. Be factual and brief.

Context to summarize:
",
    ),
    (
        Preset::Session,
        "Summarize this conversation segment concisely.
Focus on:
1. What the user was trying to accomplish
2. What actions were taken (files changed, commands run)
3. Any important decisions or discoveries
4. Current state at the end of this segment

Keep the summary focused and technical. Use bullet points.

Conversation:
",
    ),
    (
        Preset::TwoTier,
        "Create a detailed, structured summary that includes:
1. Task Progress: What has been accomplished so far?
2. Key Decisions: Important choices made and why
3. Files & Changes: What files were created, modified, or read?
4. Errors & Solutions: Any errors and how they were resolved
5. Current Focus: What was the agent working on most recently?
6. Important Context: Domain-specific knowledge discovered
",
    ),
];

/// 004's baseline, which stands before every prompt that asks for a record.
const BASELINE: &str = "You are an expert conversation summarizer. Produce a STRICT JSON object ONLY matching the provided schema. No markdown, no commentary.
Preserve:
- Technical identifiers (filenames, class names, function signatures) verbatim.
- Concrete numbers, dates, versions.
If an element is absent, use an empty array instead of fabricating.
Do NOT add information not present in the source.
";

#[test]
fn the_documents_prompts_are_asked_word_for_word() {
    for (preset, words) in PROMPTS {
        let asked = Config { mode: SummaryMode::Llm, ..preset.config() }.llm_options().custom_prompt.unwrap();
        assert!(asked.starts_with(words), "{preset}: {asked}");
        assert!(asked.contains("{context}"), "{preset}: {asked}");
    }
    assert!(prompt::SYSTEM.starts_with(BASELINE), "{}", prompt::SYSTEM);
    assert_eq!(Preset::Chain.config().llm_options().custom_prompt, None, "which asks with the baseline");
}
