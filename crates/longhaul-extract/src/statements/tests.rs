//! What the pool holds of small conversations.

use longhaul_testkit::transcript;
use longhaul_transcript::{Message, Transcript};

use super::*;

fn pool(fixture: &str) -> Statements {
    let mut pool = Statements::new();
    for entry in transcript(fixture).entries() {
        let calls: Vec<CallView<'_>> = entry.message.calls().map(CallView::new).collect();
        pool.push(entry.id.ordinal as u32, &entry.message, &calls, Speakers::builtin());
    }
    pool
}

const WORK: &str = r#"
user: Fix the flaky retry in src/queue.rs. Never change the wire format.
assistant: Looking. !read_file#c1 {"file_path":"src/queue.rs"}
tool#c1: pub fn wait_millis(attempt: u32) -> u64 { 1 << attempt }
assistant: The root cause is an overflow. !edit_file#c2 {"file_path":"src/queue.rs","old_string":"1 << attempt","new_string":"1u64.checked_shl(attempt).unwrap_or(MOST)"}
tool#c2: ok then
assistant: Done. Shall I also rename the queue?
user: yes
"#;

#[test]
fn each_kind_of_statement_is_told_apart() {
    use StatementKind::{Added, Answer, Person, Prose, Removed, Result};
    let pool = pool(WORK);
    let found: Vec<_> = pool.all().iter().map(|s| (s.message, s.kind, &*s.text)).collect();
    assert_eq!(
        found,
        [
            (0, Person, "Fix the flaky retry in src/queue.rs. Never change the wire format."),
            (1, Prose, "Looking."),
            (2, Result, "pub fn wait_millis(attempt: u32) -> u64 { 1 << attempt }"),
            (3, Prose, "The root cause is an overflow."),
            (3, Added, "1u64.checked_shl(attempt).unwrap_or(MOST)"),
            (3, Removed, "1 << attempt"),
            (4, Result, "ok then"),
            (5, Answer, "Done. Shall I also rename the queue?"),
            (6, Person, "yes"),
        ]
    );
    let read = &pool.all()[2];
    assert_eq!(pool.source(read).map(|source| &*source.label), Some("read_file src/queue.rs"));
    assert_eq!(pool.all()[8].answers.as_deref(), Some("Done. Shall I also rename the queue?"));
}

#[test]
fn an_edit_is_told_by_its_lines_whatever_an_agent_calls_its_text() {
    use StatementKind::{Added, Removed};
    let pool = pool(
        r#"
user: Mend the three of them please.
assistant: !NotebookEdit#c1 {"notebook_path":"a.ipynb","cell_id":"c","new_source":"load(twice)"} !edit_file#c2 {"target_file":"b.rs","code_edit":"let mended = true;"} !replace_in_file#c3 {"path":"c.rs","search":"once();","replace":"thrice();"}
"#,
    );
    let found = pool.all().iter().skip(1);
    let found: Vec<_> = found.map(|s| (pool.source(s).unwrap().path.as_deref(), s.kind, &*s.text)).collect();
    assert_eq!(
        found,
        [
            (Some("a.ipynb"), Added, "load(twice)"),
            (Some("b.rs"), Added, "let mended = true;"),
            (Some("c.rs"), Added, "thrice();"),
            (Some("c.rs"), Removed, "once();"),
        ]
    );
}

#[test]
fn what_the_model_says_on_the_way_is_no_answer() {
    let pool = pool(
        "user: Go on with it please\nassistant: I look first.\nassistant: Now !ls#c1 {\"path\":\"a\"}\ntool#c1: b.rs",
    );
    assert_eq!(pool.all()[1].kind, StatementKind::Prose);
}

#[test]
fn the_pool_is_bounded_and_keeps_what_a_person_said() {
    let mut pool = Statements::new();
    pool.most = 100;
    let mut said = Transcript::new();
    for nth in 0..2_000 {
        let text = match nth {
            7 => "Never rename the queue, whatever happens.".to_string(),
            _ => format!("step {nth} went through the table of module {nth}"),
        };
        let message = if nth == 7 { Message::user(text) } else { Message::assistant(text) };
        let id = said.push(message);
        pool.push(id.ordinal as u32, &said.entries().last().unwrap().message, &[], Speakers::builtin());
        assert!(pool.all().len() <= 100);
    }
    assert!(pool.all().iter().any(|s| &*s.text == "Never rename the queue, whatever happens."));
    assert!(pool.all().last().unwrap().text.contains("1999"));
}

#[test]
fn news_falls_with_what_was_told() {
    let pool = pool(WORK);
    let statement = &pool.all()[3];
    let mut known = std::collections::HashMap::new();
    assert_eq!(pool.news(statement, |_| 0), 16);
    statement.words().iter().for_each(|word| *known.entry(*word).or_insert(0) += 1);
    assert!(pool.news(statement, |word| known.get(&word).copied().unwrap_or_default()) <= 8);
}

#[test]
fn a_call_is_labelled_with_what_it_looks_at() {
    let label = |command: &str| {
        let pool = pool(&format!(
            "user: go\nassistant: !bash#c1 {{\"command\":\"{command}\"}}\ntool#c1: The issue asks for examples of how to combine two graders.\n"
        ));
        let shown = pool.all().iter().find(|one| one.kind == StatementKind::Result).unwrap();
        pool.source(shown).unwrap().label.to_string()
    };
    assert_eq!(
        label("curl -s https://api.github.com/repos/EntityProcess/agentv/issues/950"),
        "bash curl … api.github.com/repos/EntityProcess/agentv/issues/950"
    );
    assert_eq!(label("cat src/a.rs"), "bash cat src/a.rs");
    let piped = "rg -n 'stale|staleness|triage|issue|vscode' .github docs apps/web | head -50";
    assert_eq!(label(piped), "bash rg -n 'stale|staleness|triage|issue|vscode' .github docs…");
}

#[test]
fn a_note_of_what_is_shown_stays_with_what_it_is_said_of() {
    let pool = pool(
        "user: go\nassistant: !Grep#c1 {\"pattern\":\"wait_millis\",\"offset\":10}\ntool#c1: No matches found\n\n[Showing results with pagination = offset: 10]",
    );
    let shown: Vec<&str> = pool.all().iter().filter(|one| one.message == 2).map(|one| &*one.text).collect();
    assert_eq!(shown, ["No matches found [Showing results with pagination = offset: 10]"]);
}
