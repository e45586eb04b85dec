//! Ten summaries, each folding the one before: what was said early is still there.

use std::sync::Arc;

use longhaul_extract::FactIndex;
use longhaul_summarize::{
    Draft, Ladder, LlmOptions, Scripted, Summarizer, SummarizerModel, SummaryForm, SummaryRequest,
    rules::RulesSummarizer, written,
};
use longhaul_testkit::block_on;
use longhaul_transcript::{
    ContentHash, Covered, NoJitter, Span, SummaryId, SummaryMode, SummaryRecord, Tokens, Transcript,
};

use crate::fixtures::{Asking, time};

const RULE: &str = "Never restart the primary during business hours.";

pub(crate) fn record(parent: Option<&SummaryRecord>, draft: &Draft, covers: Span) -> SummaryRecord {
    SummaryRecord {
        id: SummaryId::from(ContentHash::of(draft.text.as_bytes())),
        parent: parent.map(|parent| parent.id.clone()),
        depth: parent.map_or(0, |parent| parent.depth + 1),
        covers,
        summary: draft.summary.clone(),
        mode: draft.mode,
        model: draft.model.clone(),
        made_with: draft.made_with.clone(),
        tokens: draft.tokens,
        ..longhaul_testkit::record(&draft.text)
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

/// What stays beside a summary need not be told in it, and is shown again once it no longer stays; what could not be
/// confirmed stands apart until somebody takes it out.
#[test]
fn what_stayed_untold_and_what_stood_apart_is_shown_in_the_next_round() {
    let answers = [
        "## State\n- Step 0 is checked (m1).\n- The relay of ledger_0 listens on port 5433.",
        "## Findings\n- Step 1 takes 10 minutes (m5).",
    ];
    let client = Arc::new(Scripted::sequence(answers.map(|answer| Ok(Scripted::says(answer))).into()));
    let mut options = LlmOptions::default();
    options.form = SummaryForm::Markdown;
    let time = time();
    let models = vec![SummarizerModel::new("m", Tokens(32_000), Arc::clone(&client) as _)];
    let rules = Arc::new(RulesSummarizer::default());
    let ladder = Ladder::new(models, rules, options, Arc::clone(&time) as _, time, Arc::new(NoJitter));
    let filler =
        |step: u64| format!("Step {step} checks table ledger_{step} and takes {step}0 minutes. ").repeat(30);
    let transcript = longhaul_testkit::transcript(&format!(
        "user: Check the steps.\nassistant: {}\nuser: Keep the lamps lit.\nassistant: Lit.\nuser: And step 1?\nassistant: {}",
        filler(0),
        filler(1)
    ));
    let (asking, entries) = (Asking::new(), transcript.entries());
    let first = SummaryRequest { kept: &entries[2..4], ..asking.request(&entries[..2], 600) };
    let draft = block_on(ladder.summarize(first)).unwrap();
    assert!(client.requests()[0].user.contains("The messages from m2 on stay as they are"));
    assert_eq!(draft.summary.unconfirmed.len(), 1, "{}", draft.text);
    // One of the messages that stayed was cut, and told.
    let previous = SummaryRecord {
        covered: [0, 1, 3].map(|at| Covered { ordinal: at, sha256: entries[at as usize].id.hash }).into(),
        kept: vec![Span { start: 2, end: 4 }],
        ..record(None, &draft, Span { start: 0, end: 4 })
    };
    let kept = [entries[2].clone(), entries[5].clone()];
    let second =
        SummaryRequest { previous: Some(&previous), kept: &kept, ..asking.request(&entries[..5], 600) };
    let draft = block_on(ladder.summarize(second)).unwrap();
    let asked = &client.requests()[1].user;
    assert!(asked.contains("Keep the lamps lit.") && !asked.contains("Lit.\n"), "{asked}");
    assert!(asked.contains("The messages m2 and from m5 on stay as they are"), "{asked}");
    assert!(asked.contains("(Unconfirmed) The relay of ledger_0 listens on port 5433."), "{asked}");
    assert!(asked.contains("for what is new there are"), "{asked}");
    assert_eq!(draft.text.matches("port 5433").count(), 1, "{}", draft.text);
    assert_eq!(draft.summary.unconfirmed.len(), 1, "{}", draft.text);
}

/// The same where a summary by rule came between, which quotes the model's words.
#[test]
fn what_stayed_untold_is_shown_after_a_summary_by_rule() {
    let answer = "## Findings\n- Step 1 takes 10 minutes (m5).";
    let client = Arc::new(Scripted::always(answer));
    let mut options = LlmOptions::default();
    options.form = SummaryForm::Markdown;
    let time = time();
    let models = vec![SummarizerModel::new("m", Tokens(32_000), Arc::clone(&client) as _)];
    let rules = Arc::new(RulesSummarizer::default());
    let ladder = Ladder::new(models, rules, options, Arc::clone(&time) as _, time, Arc::new(NoJitter));
    let filler = "Step 0 checks table ledger_0 and takes 5 minutes. ".repeat(30);
    let transcript = longhaul_testkit::transcript(&format!(
        "user: Check the steps.\nassistant: {filler}\nuser: Keep the lamps lit.\nassistant: Step 0 is done.\nuser: And step 1?\nassistant: {filler}"
    ));
    let (asking, entries) = (Asking::new(), transcript.entries());
    let said = Draft {
        text: "## State\n- Step 0 is checked (m1).".into(),
        mode: SummaryMode::Hybrid,
        ..Draft::default()
    };
    let covered = |ordinals: &[u64]| -> Vec<Covered> {
        ordinals.iter().map(|at| Covered { ordinal: *at, sha256: entries[*at as usize].id.hash }).collect()
    };
    let first = SummaryRecord {
        covered: covered(&[0, 1, 3]),
        kept: vec![Span { start: 2, end: 3 }, Span { start: 4, end: 6 }],
        ..record(None, &said, Span { start: 0, end: 4 })
    };
    let heading = written::heading(Some(&first));
    assert_eq!(heading, format!("{} m4, but for m2", written::HEADING));
    let text = format!("## Files\nnone\n\n{heading}\n{}", first.text);
    let by_rule = SummaryRecord {
        covered: covered(&[0, 1, 2, 3]),
        kept: vec![Span { start: 4, end: 6 }],
        mode: SummaryMode::Rules,
        text,
        ..first.clone()
    };
    assert_eq!(written::heading(Some(&by_rule)), heading, "the next by rule says the same");
    let request = SummaryRequest { previous: Some(&by_rule), ..asking.request(entries, 600) };
    block_on(ladder.summarize(request)).unwrap();
    let asked = &client.requests()[0].user;
    assert!(
        asked.contains("Keep the lamps lit.") && asked.contains("[s1] (State) Step 0 is checked"),
        "{asked}"
    );
    assert!(!asked.contains("Check the steps.") && !asked.contains("Step 0 is done."), "{asked}");
}

/// What rules added beside a small model's words is not quoted as the model's by a summary by rule.
#[test]
fn what_rules_said_is_not_quoted_as_a_models() {
    let said = Draft { mode: SummaryMode::Hybrid, made_with: "prompt-5+rules".into(), ..Draft::default() };
    let mut first = record(None, &said, Span { start: 0, end: 4 });
    first.summary.narrative = "Step 0 is checked.".into();
    first.text = "## Files Referenced\na.rs\n\nStep 0 is checked.\n\n## Checks and failures (quoted)\ncargo test: failed (m12)".into();
    assert_eq!(written::words(&first).as_deref(), Some("Step 0 is checked."));
    // Of several, side by side, the rules' are told apart.
    let notes = |text: &str| SummaryRecord {
        text: text.into(),
        ..record(None, &Draft { mode: SummaryMode::Hybrid, ..Draft::default() }, Span { start: 4, end: 8 })
    };
    let (one, other) = (notes("## State\n- one\n\n## By rule\n- Open: x"), notes("## State\n- two"));
    let by_rule = SummaryRecord { mode: SummaryMode::Rules, ..notes("## Asked before\nm9 go on") };
    let records = [&one, &other, &by_rule];
    let all = SummaryRecord { text: written::joined(records.into_iter()), ..one.clone() };
    assert_eq!(all.text, "## State\n- one\n\n## State\n- two\n\n## By rule\n### Asked before\nm9 go on");
    assert_eq!(written::words(&all).as_deref(), Some("## State\n- one\n\n## State\n- two"));
}

/// A small model is shown its own words of the round before, not what rules know and add to them again.
#[test]
fn a_small_model_is_shown_its_words_without_the_facts_beside_them() {
    let answer = r#"{"narrative": "The nightly export on db-prod-3 fails, and step 0 is checked.", "decisions": [], "action_items": [], "unresolved": [], "current_focus": "Step 0 reads table ledger_0."}"#;
    let client = Arc::new(Scripted::always(answer));
    let time = time();
    let models = vec![SummarizerModel::new("m", Tokens(8_000), Arc::clone(&client) as _)];
    let (rules, options) = (Arc::new(RulesSummarizer::default()), LlmOptions::default());
    let ladder = Ladder::new(models, rules, options, Arc::clone(&time) as _, time, Arc::new(NoJitter));
    let transcript = longhaul_testkit::transcript(&format!(
        "user: The nightly export on db-prod-3 fails. {RULE} Please find out why.\nassistant: Step 0 reads table ledger_0. {}\nuser: And step 1?\nassistant: {}",
        "It takes 10 minutes and writes to the log. ".repeat(40),
        "Step 1 waits for a lock. ".repeat(30)
    ));
    let (asking, entries) = (Asking::new(), transcript.entries());
    let draft = block_on(ladder.summarize(asking.request(&entries[..2], 400))).unwrap();
    assert!(draft.text.contains("Please find out why."), "rules add it: {}", draft.text);
    let previous = SummaryRecord { model: "m".into(), ..record(None, &draft, Span { start: 0, end: 2 }) };
    let second = SummaryRequest { previous: Some(&previous), ..asking.request(entries, 400) };
    block_on(ladder.summarize(second)).unwrap();
    let asked = &client.requests()[1].user;
    assert!(asked.contains("and step 0 is checked.") && asked.contains("reads table ledger_0."), "{asked}");
    assert!(!asked.contains("Please find out why.") && asked.contains("waits for a lock"), "{asked}");
}
