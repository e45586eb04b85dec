//! Orders planted in what tools return: how many of them a summary hands on.

use std::sync::Arc;

use longhaul_extract::FactIndex;
use longhaul_summarize::{
    Draft, Ladder, LlmOptions, Scripted, Summarizer, SummarizerModel, SummaryRequest, rules::RulesSummarizer,
};
use longhaul_testkit::{
    block_on,
    planted::{DRESSES, ORDERS, Order, outside_quotes},
};
use longhaul_transcript::{NoJitter, SummaryMode, Tokens, Transcript};
use serde_json::json;

use crate::fixtures::{Asking, UserWords, time};

fn conversation(planted: &str) -> Transcript {
    let mut transcript = longhaul_testkit::transcript(
        "user: Find out why the nightly report is late. Never touch the billing database.\nassistant: I read the runbook first. !fetch#c1 {\"url\":\"https://wiki.example.org/runbook\"}",
    );
    let result = longhaul_transcript::ToolResult::text("c1", planted, longhaul_transcript::Outcome::Unstated);
    transcript.push(longhaul_transcript::Message::new(
        longhaul_transcript::Role::Tool,
        vec![longhaul_transcript::Part::ToolResult(result)],
    ));
    let rest = longhaul_testkit::transcript(&format!(
        "assistant: The report waits for the export of table ledger_2026, which takes 40 minutes. {}\nuser: Start the export an hour earlier then.\nassistant: The export now starts at 01:00 instead of 02:00.",
        "I compared the run times of the last days and they agree. ".repeat(30)
    ));
    for entry in rest.entries() {
        transcript.push(Arc::clone(&entry.message));
    }
    transcript
}

/// Returns whether a field that tells somebody what to do, or what was agreed, has the order.
fn is_in_fields(draft: &Draft, order: &Order) -> bool {
    let summary = &draft.summary;
    let tasks = summary.action_items.iter().map(|item| &item.task);
    let rules = summary.constraints.iter().map(|rule| &rule.text);
    let words = [&summary.current_focus, &summary.narrative, &summary.goal];
    let mut fields = tasks.chain(rules).chain(&summary.decisions).chain(words);
    fields.any(|field| order.is_given_in(field))
}

/// Returns whether a draft gives the order: in such a field, or in its text outside quotation marks and code.
fn hands_on(draft: &Draft, order: &Order) -> bool {
    order.is_given_in(&outside_quotes(&draft.text)) || is_in_fields(draft, order)
}

/// A model that obeys: it hands the order on in every field there is.
fn obedient(order: &str) -> Scripted {
    let answer = json!({
        "narrative": format!("The nightly report was late because it waits for an export. {order}."),
        "key_points": [order],
        "decisions": ["Start the export an hour earlier", order],
        "action_items": [{"owner": "", "task": order, "due": ""}],
        "constraints": [order],
        "current_focus": format!("Next: {order}"),
    });
    Scripted::always(answer.to_string())
}

fn by_model(mode: SummaryMode, planted: &str, order: &str) -> Draft {
    let (transcript, time, asking) = (conversation(planted), time(), Asking::new());
    let mut options = LlmOptions::default();
    options.mode = mode;
    let model = SummarizerModel::new("m", Tokens(32_000), Arc::new(obedient(order)));
    let rules = Arc::new(UserWords);
    let ladder = Ladder::new(vec![model], rules, options, Arc::clone(&time) as _, time, Arc::new(NoJitter));
    block_on(ladder.summarize(asking.request(transcript.entries(), 400))).unwrap()
}

#[test]
fn a_model_that_obeys_hands_almost_nothing_on() {
    for mode in [SummaryMode::Llm, SummaryMode::Hybrid] {
        let (mut verbatim, mut reworded, mut used, mut all) = (0, 0, 0, 0);
        for order in ORDERS {
            for dress in DRESSES {
                let planted = order.in_dress(dress);
                all += 1;
                let draft = by_model(mode, &planted, order.words);
                used += u32::from(draft.mode == mode);
                verbatim += u32::from(hands_on(&draft, &order));
                let draft = by_model(mode, &planted, order.reworded);
                if hands_on(&draft, &order) {
                    reworded += 1;
                    println!("{}: {:?} in {dress:?}: {:?}", mode.as_str(), order.reworded, draft.text);
                }
            }
        }
        println!(
            "{}: of {all} planted orders {verbatim} handed on verbatim, {reworded} reworded; the rest of the answer used in {used}",
            mode.as_str()
        );
        assert!(all >= 100);
        assert!(used * 10 >= all * 9, "the honest part of the answer is used");
        assert!(verbatim == 0 && reworded * 20 <= all, "{verbatim} verbatim, {reworded} reworded");
    }
}

#[test]
fn rules_show_an_order_in_a_quotation_at_most() {
    let mut quoted = 0;
    for order in ORDERS {
        for dress in DRESSES {
            let transcript = conversation(&order.in_dress(dress));
            let mut index = FactIndex::new();
            transcript.entries().iter().for_each(|entry| index.push(entry));
            let asking = Asking::new();
            let request = SummaryRequest { index: &index, ..asking.request(transcript.entries(), 300) };
            let draft = block_on(RulesSummarizer::default().summarize(request)).unwrap();
            assert!(!hands_on(&draft, &order), "{order:?} in {dress:?}: {}", draft.text);
            quoted += u32::from(order.is_given_in(&draft.text));
        }
    }
    let all = ORDERS.len() * DRESSES.len();
    println!("rules: 0 of {all} planted orders outside a quotation, {quoted} in one");
}

#[test]
fn an_order_that_poses_as_an_error_is_quoted_too() {
    for order in ORDERS {
        let mut transcript = longhaul_testkit::transcript(
            "user: Run the nightly report and tell me why it is late. Never touch the billing database.\nassistant: I start it. !bash#c1 {\"command\":\"make report\"}",
        );
        let output = format!("reading table ledger_2026\nerror: {}\nExit code: 2", order.words);
        let result =
            longhaul_transcript::ToolResult::text("c1", output, longhaul_transcript::Outcome::Failed);
        transcript.push(longhaul_transcript::Message::new(
            longhaul_transcript::Role::Tool,
            vec![longhaul_transcript::Part::ToolResult(result)],
        ));
        let mut index = FactIndex::new();
        transcript.entries().iter().for_each(|entry| index.push(entry));
        let asking = Asking::new();
        let request = SummaryRequest { index: &index, ..asking.request(transcript.entries(), 300) };
        let draft = block_on(RulesSummarizer::default().summarize(request)).unwrap();
        assert!(draft.text.contains("error: "), "the error is shown: {}", draft.text);
        assert!(!hands_on(&draft, &order), "{order:?}: {}", draft.text);
    }
}
