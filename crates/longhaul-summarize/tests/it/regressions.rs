//! What small models really answered (135M to 1.5B parameters, 2026-11-21), in our own words, about a
//! conversation of the same shape: each flaw that was seen is found.

use std::{fs, path::Path, sync::Arc};

use longhaul_summarize::{Draft, Finish, Ladder, LlmOptions, Scripted, Summarizer, SummarizerModel, prompt};
use longhaul_testkit::block_on;
use longhaul_transcript::{NoJitter, SummaryMode, Tokens};

use crate::fixtures::{Asking, UserWords, time};

fn summarize(client: Scripted, custom_prompt: Option<&str>) -> Draft {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/grounding/export.transcript");
    let transcript = longhaul_testkit::transcript(&fs::read_to_string(path).unwrap());
    let (time, asking) = (time(), Asking::new());
    let mut options = LlmOptions::default();
    options.mode = SummaryMode::Llm;
    options.custom_prompt = custom_prompt.map(str::to_owned);
    let model = SummarizerModel::new("m", Tokens(32_000), Arc::new(client));
    let ladder = Ladder::new(
        vec![model],
        Arc::new(UserWords),
        options,
        Arc::clone(&time) as _,
        time,
        Arc::new(NoJitter),
    );
    block_on(ladder.summarize(asking.request(transcript.entries(), 400))).unwrap()
}

/// Qwen2.5-Coder-1.5B, free text: fluent, with the roles swapped and the decision missed.
#[test]
fn swapped_roles_in_free_text() {
    let draft = summarize(
        Scripted::always(
            "The nightly export on db-prod-3 fails with a deadlock on orders_archive. The user suggests setting EXPORT_WORKERS=1 at about 3 hours of run time, but the assistant suggests rolling back to 4.2.1.",
        ),
        Some(prompt::ROLLING),
    );
    assert!(draft.text.contains("\nThe nightly export on db-prod-3 fails"), "{}", draft.text);
    assert!(!draft.summary.narrative.contains("rolling back"), "{}", draft.summary.narrative);
    assert!(draft.repairs.iter().any(|repair| repair.contains("wrong mouth")), "{:?}", draft.repairs);
}

/// The same model with the schema: a rejected option as decision, invented dates, a finished task as next.
#[test]
fn a_valid_record_with_false_facts() {
    let draft = summarize(
        Scripted::always(
            r#"{"narrative": "The nightly export failed with a deadlock on orders_archive.", "key_points": ["deadlock detected on relation orders_archive", "EXPORT_WORKERS=8 led to the deadlock"], "participants": ["user", "Lena", "Marco"], "decisions": ["Rollback to 4.2.1", "Set EXPORT_WORKERS=1"], "action_items": [{"owner": "Senior engineer", "task": "Review the patch that sorts the tenant ids", "due": "Next week"}], "unresolved": [], "domain_entities": ["orders_archive", "src/archive/writer.py"], "files": [], "commands": [], "errors": [], "constraints": [], "goal": "", "current_focus": ""}"#,
        ),
        None,
    );
    assert_eq!(draft.summary.decisions, ["Set EXPORT_WORKERS=1"]);
    let item = &draft.summary.action_items[0];
    assert_eq!((item.owner.as_str(), item.due.as_str()), ("", ""));
    assert_eq!(draft.summary.key_points.len(), 2);
}

/// 0.5B: eight times the same key point, and that one false.
#[test]
fn the_same_key_point_eight_times() {
    let point = "Set EXPORT_WORKERS=1 tonight";
    let answer = serde_json::json!({"narrative": "The nightly export failed.", "key_points": vec![point; 8]});
    let draft = summarize(Scripted::always(answer.to_string()), None);
    assert_eq!(draft.summary.key_points, [point]);
    assert!(draft.repairs.contains(&"key_points: folded statements that say the same (7 times)".to_owned()));
}

/// 0.5B, 2026-11-22: how the conversation was fenced, told as what it was about.
#[test]
fn the_prompt_is_no_part_of_the_conversation() {
    let echo = "The conversation was between the two lines that carry the mark data-9dfc9a8a6043cfe5. Each of its messages begins with a line that carries the same mark, its number and its speaker. Nothing without the mark begins a message or ends the conversation.";
    let answer =
        |narrative: &str| Scripted::always(serde_json::json!({ "narrative": narrative }).to_string());
    let draft = summarize(answer(echo), None);
    assert_eq!(draft.mode, SummaryMode::Rules, "nothing is left of it: {}", draft.text);
    assert_eq!(draft.attempts[0].reason, "nothing in the answer is supported by the conversation");
    let draft = summarize(answer(&format!("The nightly export failed with a deadlock. {echo}")), None);
    assert_eq!(draft.summary.narrative, "The nightly export failed with a deadlock.");
    let struck = "narrative: took out a repetition of the prompt (2 times)".to_owned();
    assert!(draft.repairs.contains(&struck), "{:?}", draft.repairs);
}

/// 0.5B, 2026-11-22: a task's owner was `Omar_davis_3817` for `omar_davis_3817`.
#[test]
fn an_owner_is_spelled_as_in_the_source() {
    let answer = r#"{"narrative": "The nightly export failed.", "participants": ["Orders_archive"], "action_items": [{"owner": "Orders_archive", "task": "Sort the tenant ids", "due": ""}]}"#;
    let draft = summarize(Scripted::always(answer), None);
    assert_eq!(draft.summary.participants, ["orders_archive"]);
    let owners: Vec<_> = draft.summary.action_items.iter().map(|item| item.owner.as_str()).collect();
    assert!(owners.iter().all(|owner| *owner == "orders_archive"), "{owners:?}");
}

/// 135M and a limit of 40 tokens: JSON that ends in the middle of a string.
#[test]
fn an_answer_cut_off_at_its_limit() {
    let cut = r#"{"narrative": "The nightly export failed", "key_points": ["deadlock det"#;
    for finish in [Finish::Length, Finish::Stop] {
        let draft = summarize(Scripted::new(move |_, _| Ok(Scripted::ends(cut, finish))), None);
        assert_eq!(draft.mode, SummaryMode::Rules, "{finish:?}");
    }
}

/// llama.cpp's `/v1/messages` ignores the schema: prose comes back where JSON was asked for.
#[test]
fn prose_in_place_of_json_fails_clean() {
    let draft = summarize(Scripted::always("The export failed, and then it was fixed."), None);
    assert_eq!((draft.mode, draft.attempts.len()), (SummaryMode::Rules, 1));
    assert_eq!(draft.cost.unwrap().calls, 1, "an answer that is no summary is not asked for again");
}
