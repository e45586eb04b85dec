//! Ten summaries, each folding the one before: what was said early is still there.

use std::sync::Arc;

use longhaul_extract::FactIndex;
use longhaul_summarize::{
    Draft, Ladder, LlmOptions, Scripted, Summarizer, SummarizerModel, SummaryForm, SummaryRequest,
    rules::RulesSummarizer,
};
use longhaul_testkit::block_on;
use longhaul_transcript::{
    ContentHash, Covered, NoJitter, Span, SummaryId, SummaryMode, SummaryRecord, Tokens, Transcript,
};

use crate::fixtures::{Asking, time};

const RULE: &str = "Never restart the primary during business hours.";

pub(crate) fn record(parent: Option<&SummaryRecord>, draft: &Draft, covers: Span) -> SummaryRecord {
    SummaryRecord {
        version: SummaryRecord::VERSION,
        header: Default::default(),
        id: SummaryId::from(ContentHash::of(draft.text.as_bytes())),
        parent: parent.map(|parent| parent.id.clone()),
        depth: parent.map_or(0, |parent| parent.depth + 1),
        covers,
        covered: Vec::<Covered>::new(),
        kept: Vec::new(),
        emitted: None,
        summary: draft.summary.clone(),
        text: draft.text.clone(),
        mode: draft.mode,
        model: draft.model.clone(),
        made_with: draft.made_with.clone(),
        tokens: draft.tokens,
        tokens_before: Tokens::ZERO,
        tokens_after: Tokens::ZERO,
        survival: Default::default(),
        redactions: Vec::new(),
        cost: None,
        created_at_ms: 0,
        duration_ms: 0,
    }
}

#[test]
fn a_rule_is_byte_equal_after_ten_compactions_in_every_mode() {
    // A model that forgets the rule at once, and softens what it remembers.
    let answer = r#"{"narrative": "The work on the export goes on. Restarts of the primary should be avoided during business hours.", "constraints": ["Avoid restarting the primary during business hours"]}"#;
    for mode in [SummaryMode::Rules, SummaryMode::Hybrid, SummaryMode::Llm] {
        let mut options = LlmOptions::default();
        options.mode = mode;
        let time = time();
        let models = vec![SummarizerModel::new("m", Tokens(32_000), Arc::new(Scripted::always(answer)))];
        let rules = Arc::new(RulesSummarizer::default());
        let ladder = Ladder::new(models, rules, options, Arc::clone(&time) as _, time, Arc::new(NoJitter));
        let mut transcript = Transcript::new();
        let mut index = FactIndex::new();
        let mut previous: Option<SummaryRecord> = None;
        for round in 0..10 {
            let said = match round {
                0 => format!("user: The nightly export on db-prod-3 fails. {RULE} Please find out why."),
                _ => format!("user: What does step {round} of the runbook say?"),
            };
            let filler =
                format!("Step {round} checks table ledger_{round} and takes {round}0 minutes. ").repeat(30);
            let more = longhaul_testkit::transcript(&format!("{said}\nassistant: {filler}"));
            for entry in more.entries() {
                transcript.push(Arc::clone(&entry.message));
                index.push(transcript.entries().last().unwrap());
            }
            let asking = Asking::new();
            let request = SummaryRequest {
                index: &index,
                previous: previous.as_ref(),
                depth: round,
                ..asking.request(transcript.entries(), 300)
            };
            let draft = block_on(ladder.summarize(request)).unwrap();
            assert_eq!(draft.mode, mode, "{:?}", draft.attempts);
            assert!(draft.tokens <= Tokens(300));
            assert!(draft.text.contains(RULE), "{} round {round}: {}", mode.as_str(), draft.text);
            assert!(!draft.text.contains("should be avoided"), "{}", draft.text);
            assert!(draft.text.contains("db-prod-3"), "{} round {round}: {}", mode.as_str(), draft.text);
            previous = Some(record(previous.as_ref(), &draft, transcript.span()));
        }
    }
}

/// Each round the model is shown the statements of the summary before and what is new, and answers with changes.
#[test]
fn ten_updates_leave_what_they_do_not_mention_byte_for_byte() {
    let answers = (0..10).map(|round| match round {
        0 => Ok(Scripted::says(
            "## Request\n- The user wants to know why the nightly export on db-prod-3 fails (m0).\n## State\n- Step 0 is checked (m1).",
        )),
        // The statement about where things stand is replaced each time; one about the new step is added.
        round => Ok(Scripted::says(format!(
            "## Replace\ns3: Step {round} is checked (m{}).\n## Findings\n- Step {round} checks table ledger_{round} and takes {round}0 minutes.",
            2 * round + 1
        ))),
    });
    let client = Arc::new(Scripted::sequence(answers.collect()));
    let mut options = LlmOptions::default();
    options.form = SummaryForm::Markdown;
    let time = time();
    let models = vec![SummarizerModel::new("m", Tokens(32_000), Arc::clone(&client) as _)];
    let rules = Arc::new(RulesSummarizer::default());
    let ladder = Ladder::new(models, rules, options, Arc::clone(&time) as _, time, Arc::new(NoJitter));
    let (mut transcript, mut index) = (Transcript::new(), FactIndex::new());
    let mut previous: Option<SummaryRecord> = None;
    for round in 0..10 {
        let said = match round {
            0 => format!("user: The nightly export on db-prod-3 fails. {RULE} Please find out why."),
            _ => format!("user: What does step {round} of the runbook say?"),
        };
        let filler =
            format!("Step {round} checks table ledger_{round} and takes {round}0 minutes. ").repeat(30);
        for entry in longhaul_testkit::transcript(&format!("{said}\nassistant: {filler}")).entries() {
            transcript.push(Arc::clone(&entry.message));
            index.push(transcript.entries().last().unwrap());
        }
        let asking = Asking::new();
        let request = SummaryRequest {
            index: &index,
            previous: previous.as_ref(),
            depth: round,
            ..asking.request(transcript.entries(), 600)
        };
        let draft = block_on(ladder.summarize(request)).unwrap();
        assert_eq!(draft.mode, SummaryMode::Hybrid, "{:?}", draft.attempts);
        assert!(draft.tokens <= Tokens(600));
        assert_eq!(draft.text.matches(RULE).count(), 1, "round {round}: {}", draft.text);
        assert!(
            draft.text.contains("- The user wants to know why the nightly export on db-prod-3 fails (m0).")
        );
        assert_eq!(draft.text.matches("is checked (m").count(), 1, "round {round}: {}", draft.text);
        assert!(draft.text.contains(&format!("Step {round} is checked")), "round {round}: {}", draft.text);
        for earlier in 1..=round {
            let found =
                format!("- Step {earlier} checks table ledger_{earlier} and takes {earlier}0 minutes.");
            assert!(draft.text.contains(&found), "round {round}: {}", draft.text);
        }
        let asked = &client.requests()[round as usize].user;
        assert_eq!(asked.contains("[s1] (Request)"), round > 0, "{asked}");
        assert_eq!(asked.contains("table ledger_0"), round == 0, "only what is new is shown: {asked}");
        previous = Some(record(previous.as_ref(), &draft, transcript.span()));
    }
}
