use longhaul_extract::FactIndex;
use longhaul_tokens::{CharsPer4, TokenCounter};
use longhaul_transcript::{Constraint, Message, SessionId, Summary, SummaryRecord, Transcript};

use super::{
    chosen::framed,
    condensed::with_owed,
    line::{Line, Rank},
    short::forms,
    *,
};
use crate::session::running_record;

#[test]
fn what_a_person_told_to_go_by_is_no_rule() {
    let said = |text: &str| Constraint { text: text.into(), message: 1, ..Constraint::default() };
    let constraints = vec![said("Never push."), said("Our contract number is KX-4411.")];
    let summary = Summary { goal: "Port it.".into(), constraints, ..Summary::default() };
    let lines: Vec<String> = with_owed(Vec::new(), &summary).into_iter().map(|line| line.text).collect();
    assert_eq!(
        lines,
        [
            "[✓ user: Task: Port it.]",
            "[✓ user: Rule: Never push.]",
            "[✓ user: Fact: Our contract number is KX-4411.]",
        ]
    );
}

fn record(text: &str) -> SummaryRecord {
    running_record(0, text)
}

fn condensed(old: &SummaryRecord, more: &str, [limit, most]: [Tokens; 2]) -> Option<String> {
    let new = new(more);
    condense(old, &new, &Holds::new(&new, None), &CharsPer4, limit, most)
}

fn new(text: &str) -> Draft {
    Draft { text: text.to_owned(), ..Draft::default() }
}

const OLD: &str = "--- Summarized Context (4 items) ---
[✓ user: Task: Port the exporter]
[✓ read_file: File: a.rs | Lines: 10]
[❌ execute_bash: Command: make | Exit: 2]
[✓ user: Now: Fix the build]";
const NEW: &str = "--- Summarized Context (2 items) ---
[✓ edit_file: File: a.rs]
[✓ assistant: Decision: The exporter streams]";

// asserts 001-25
#[test]
fn a_condensed_history_keeps_what_was_asked_and_decided() {
    let all = condensed(&record(OLD), NEW, [Tokens(200), Tokens(200)]).unwrap();
    assert_eq!(
        all,
        "[Condensed history]
--- Summarized Context (6 items) ---
[✓ user: Task: Port the exporter]
[✓ read_file: File: a.rs | Lines: 10]
[❌ execute_bash: Command: make | Exit: 2]
[✓ user: Request: Fix the build]
[✓ edit_file: File: a.rs]
[✓ assistant: Decision: The exporter streams]"
    );
    let little = condensed(&record(OLD), NEW, [Tokens(60), Tokens(60)]).unwrap();
    assert!(CharsPer4.count_text(&little) <= Tokens(60), "{little}");
    assert!(little.contains("Task: Port") && little.contains("Decision: The exporter"), "{little}");
    assert!(!little.contains("read_file"), "{little}");
    // Ten more rounds of lines that matter less.
    let mut running = all;
    for nth in 0..10 {
        let more = format!(
            "--- Summarized Context (9 items) ---\n{}",
            format!("[✓ read_file: File: {nth}.rs]\n").repeat(9)
        );
        running = condensed(&record(&running), &more, [Tokens(90), Tokens(90)]).unwrap();
    }
    assert!(running.contains("Task: Port") && running.contains("Decision: The exporter"), "{running}");
    // What was said of an error at length is told in short where there is no room for more, and not left out.
    let error = "[❌ execute_bash: Command: npm test | Exit: 1 | Error: Error: Cannot find module 'lib7'";
    let long = format!("{error} | Details: {}]", "at Module._load (node:internal/modules/cjs) ⏎ ".repeat(9));
    let more = format!("--- Summarized Context (1 items) ---\n{long}");
    let roomy = condensed(&record(OLD), &more, [Tokens(300), Tokens(300)]).unwrap();
    assert!(roomy.contains(&long), "{roomy}");
    let tight = condensed(&record(OLD), &more, [Tokens(90), Tokens(130)]).unwrap();
    assert!(tight.contains(&format!("{error}]\n")) || tight.ends_with(&format!("{error}]")), "{tight}");
    assert!(CharsPer4.count_text(&tight) <= Tokens(130), "{tight}");
    // And of one that is long itself as much as the document has.
    let longer = long.replace("lib7", &"lib7/".repeat(50));
    let least = forms(&longer, false).pop().unwrap();
    assert!(
        least.starts_with("[❌ execute_bash: Command: npm test | Exit: 1 | Error: ") && least.ends_with("…]")
    );
    assert!((150..=202).contains(&least.chars().count()), "{least}");
}

// asserts 002-11
#[test]
fn a_decision_that_is_overruled_leaves_a_condensed_history() {
    let old = record(
        "--- Summarized Context (2 items) ---\n[✓ user: Task: Port the exporter]\n[✓ user: Decision: We switch on Tuesday 06:00.]\n[✓ user: Decision: Labels are PDF.]",
    );
    let more =
        "--- Summarized Context (1 items) ---\n[✓ user: Now: Strike the Tuesday thing, Wednesday 05:00.]";
    let all = condensed(&old, more, [Tokens(200), Tokens(200)]).unwrap();
    assert!(!all.contains("We switch on Tuesday") && all.contains("Wednesday 05:00"), "{all}");
    assert!(all.contains("Labels are PDF"), "{all}");
}

#[test]
fn a_summary_in_which_a_rule_did_not_fit_says_so() {
    let rules: Vec<Line> = (0..9)
        .map(|nth| Line {
            text: format!("[✓ user: Rule: Never touch the table number {nth}]"),
            rank: Rank::Rule,
        })
        .collect();
    let text = framed("", &rules, &CharsPer4, Tokens(80), Tokens(80));
    assert!(text.ends_with("\n[Summary truncated]"), "{text}");
    assert!(CharsPer4.count_text(&text) <= Tokens(80), "{text}");
    let all = framed("", &rules, &CharsPer4, Tokens(80), Tokens(500));
    assert!(!all.contains(TRUNCATED) && all.starts_with("--- Summarized Context (9 items) ---\n"), "{all}");
}

// asserts 001-25
#[test]
fn of_many_rules_and_decisions_the_newest_of_both_stay() {
    let said =
        |what: &str, nth: usize| format!("[✓ assistant: {what}: Number {nth}: {}]", "so it is. ".repeat(20));
    let lines: Vec<Line> = (0..6)
        .flat_map(|nth| {
            let rule = Line { text: said("Rule", nth), rank: Rank::Rule };
            [rule, Line { text: said("Decision", nth), rank: Rank::Decision }]
        })
        .collect();
    let text = framed("", &lines, &CharsPer4, Tokens(350), Tokens(500));
    assert!(CharsPer4.count_text(&text) <= Tokens(500), "{text}");
    for told in ["Rule: Number 5", "Rule: Number 4", "Rule: Number 3", "Decision: Number 5"] {
        assert!(text.contains(told), "{told}: {text}");
    }
}

#[test]
fn a_models_line_about_a_task_is_not_the_persons() {
    let mut old = record("- the lexer was built\nTask: rewrite everything in Zig\n\nTask: Port the exporter");
    old.summary.goal = "Port the exporter".to_owned();
    let all = condensed(&old, NEW, [Tokens(80), Tokens(80)]).unwrap();
    assert!(all.contains("[✓ user: Task: Port the exporter]"), "{all}");
    assert!(all.contains("\nTask: rewrite everything in Zig\n"), "{all}");
    assert_eq!(all.matches("Port the exporter").count(), 1, "{all}");
}

#[test]
fn of_a_summary_in_another_form_the_task_and_the_rules_stay() {
    let mut old = record("## Request (m0)\nPort the exporter\n- m2: Never touch audit_trail.");
    old.summary.goal = "Port the exporter".to_owned();
    let (text, message) = ("Never touch audit_trail.".to_owned(), 2);
    old.summary.constraints.push(Constraint { text, message, ..Constraint::default() });
    let all = condensed(&old, NEW, [Tokens(60), Tokens(60)]).unwrap();
    assert!(all.contains("[✓ user: Task: Port the exporter]"), "{all}");
    assert!(all.contains("[✓ user: Rule: Never touch audit_trail.]"), "{all}");
}

#[test]
fn what_only_leads_in_rules_is_none() {
    let demand = |text: &str| Constraint { text: text.into(), message: 2, ..Constraint::default() };
    let demands = vec![demand("Some rules:"), demand("Some rules: never touch audit_trail.")];
    let mut old = record("It was read.");
    old.summary.constraints.clone_from(&demands);
    let all = condensed(&old, NEW, [Tokens(200), Tokens(200)]).unwrap();
    let said: Transcript = ["Port the exporter", "And this", "Some rules: …", "Go on with it now"]
        .into_iter()
        .map(Message::user)
        .collect();
    let (session, index) = (SessionId::new("s").unwrap(), FactIndex::default());
    let request = SummaryRequest::new(&session, said.entries(), &index, &CharsPer4, Tokens(200));
    let summary = Summary { constraints: demands, ..Summary::default() };
    let first = text(&Draft { summary, ..Draft::default() }, &request, Tokens(200), true).unwrap();
    for told in [all, first] {
        assert!(told.contains("[✓ user: Rule: Some rules: never touch audit_trail.]"), "{told}");
        assert!(!told.contains("Rule: Some rules:]"), "{told}");
    }
}

#[test]
fn what_was_asked_before_a_message_that_stays_is_not_what_is_asked_now() {
    let said: Transcript = ["Port the exporter", "Is it covered by a test?", "Then write the release notes"]
        .into_iter()
        .map(Message::user)
        .collect();
    let (session, index) = (SessionId::new("s").unwrap(), FactIndex::default());
    let (entries, kept) = said.entries().split_at(2);
    let mut request = SummaryRequest::new(&session, entries, &index, &CharsPer4, Tokens(200));
    let told = |request: &SummaryRequest<'_>| text(&Draft::default(), request, Tokens(200), true).unwrap();
    assert!(told(&request).contains("[✓ user: Now: Is it covered by a test?]"));
    // What stays from before says nothing of that.
    request.kept = &entries[..1];
    assert!(told(&request).contains("[✓ user: Now: Is it covered by a test?]"));
    request.kept = kept;
    assert!(told(&request).contains("[✓ user: Request: Is it covered by a test?]"), "{}", told(&request));
}

#[test]
fn prose_is_not_condensed_by_lines() {
    let old = record("The lexer was built.");
    assert_eq!(condensed(&old, "The parser was built.", [Tokens(90), Tokens(90)]), None);
}
