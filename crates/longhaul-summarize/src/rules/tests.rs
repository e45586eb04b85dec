//! What every summary by rule keeps to, and a small recall case that fails when recall drops.

use longhaul_extract::{FactIndex, Visible, scan};
use longhaul_testkit::transcript;
use longhaul_tokens::{Accuracy, TokenCounter};
use longhaul_transcript::{Entry, Message, SessionId, Tokens};
use proptest::prelude::*;

use super::{OMITTED, RulesOptions, summarize};
use crate::{Draft, SummaryRequest};

/// One token for every four bytes begun.
#[derive(Debug)]
struct Quarter;

impl TokenCounter for Quarter {
    fn count_text(&self, text: &str) -> Tokens {
        Tokens(text.len().div_ceil(4) as u64)
    }

    fn accuracy(&self) -> Accuracy {
        Accuracy::Exact
    }
}

fn draft(fixture: &str, limit: u64) -> Draft {
    draft_before(fixture, limit, &[])
}

/// A summary that `kept` follows.
fn draft_before(fixture: &str, limit: u64, kept: &[Entry]) -> Draft {
    let said = transcript(fixture);
    let mut index = FactIndex::new();
    said.entries().iter().for_each(|entry| index.push(entry));
    let session = SessionId::new("s").unwrap();
    let request = SummaryRequest {
        session: &session,
        entries: said.entries(),
        kept,
        tail: &[],
        previous: None,
        index: &index,
        counter: &Quarter,
        limit: Tokens(limit),
        goal: None,
        depth: 0,
    };
    let draft = summarize(&request, &RulesOptions::default());
    assert_eq!(draft, summarize(&request, &RulesOptions::default()), "the same input gives the same bytes");
    assert!(draft.tokens <= request.limit, "{} > {limit}", draft.tokens);
    draft
}

/// A piece of work that goes on: the second half needs what the first half touched.
const SESSION: &str = r#"
user: Fix the flaky retry in /srv/relay/src/queue/retry_policy.rs. Never change the wire format.
assistant: Looking. !read_file#c1 {"file_path":"/srv/relay/src/queue/retry_policy.rs"}
tool#c1: pub fn backoff_millis(attempt: u32) -> u64 { 1 << attempt }
assistant: !grep#c2 {"pattern":"backoff_millis","path":"/srv/relay"}
tool#c2: src/queue/worker_loop.rs:88: let wait = backoff_millis(n);
assistant: The root cause is an overflow in backoff_millis. !edit_file#c3 {"file_path":"/srv/relay/src/queue/retry_policy.rs","old_string":"1 << attempt","new_string":"1u64.checked_shl(attempt).unwrap_or(MAX_BACKOFF)"}
tool#c3: ok
assistant: !bash#c4 {"command":"cargo test -p relay_queue retry_caps_out"}
tool#c4!: error[E0425]: cannot find value `MAX_BACKOFF` in this scope
Exit code: 101
assistant: !write_file#c5 {"file_path":"/srv/relay/src/queue/limits_table.rs","content":"pub const MAX_BACKOFF: u64 = 60_000;"}
tool#c5: ok
user: Also look at incident RLY-4812 please.
"#;

#[test]
fn recall_does_not_drop() {
    // What the next steps of such a session name, at half its size.
    let wanted = [
        "retry_policy.rs",
        "worker_loop.rs",
        "limits_table.rs",
        "backoff_millis",
        "MAX_BACKOFF",
        "RLY-4812",
        "E0425",
    ];
    let text = draft(SESSION, 240).text;
    let mut visible = Visible::new(false);
    visible.read(&text);
    let missing: Vec<_> = wanted.iter().filter(|name| !visible.has(name)).collect();
    assert!(missing.is_empty(), "{missing:?} are missing in:\n{text}");
}

#[test]
fn constraints_survive_verbatim_in_tight_budgets() {
    for limit in [120, 200, 400] {
        let draft = draft(SESSION, limit);
        assert!(draft.text.contains("Never change the wire format."), "{limit}: {}", draft.text);
        assert_eq!(draft.summary.constraints[0].text, "Never change the wire format.");
    }
}

#[test]
fn a_constraint_is_told_where_the_kept_message_lost_it() {
    let fixture = format!("{SESSION}\nuser: Go on. Never rename the queue. Then the changelog.\n");
    let said = transcript(&fixture);
    let whole = said.entries().last().unwrap();
    let listed = format!("- {}: Never rename the queue.", whole.id);
    assert!(!draft_before(&fixture, 400, std::slice::from_ref(whole)).text.contains(&listed));
    let cut = Entry { message: Message::user("Go on. … then the changelog.").into(), ..whole.clone() };
    assert!(draft_before(&fixture, 400, &[cut]).text.contains(&listed));
}

#[test]
fn the_account_tells_files_commands_and_errors() {
    let summary = draft(SESSION, 400).summary;
    let files: Vec<_> = summary.files.iter().map(|file| (file.path.as_str(), file.state)).collect();
    use longhaul_transcript::FileState::{Created, Modified};
    assert_eq!(
        files,
        [
            ("/srv/relay/src/queue/limits_table.rs", Created),
            ("/srv/relay/src/queue/retry_policy.rs", Modified)
        ]
    );
    assert_eq!((summary.commands[0].exit_code, summary.commands[0].runs), (Some(101), 1));
    assert!(summary.errors[0].error.contains("E0425") && summary.errors[0].resolution.is_empty());
    assert_eq!(summary.decisions, ["The root cause is an overflow in backoff_millis."]);
}

#[test]
fn nothing_is_invented() {
    let source = SESSION.replace("\\n", "\n");
    for limit in [60, 120, 200, 400, 1000] {
        let text = draft(SESSION, limit).text;
        scan(&text, |atom| {
            assert!(source.contains(&*atom.text), "{} at limit {limit} in:\n{text}", atom.text);
        });
    }
}

#[test]
fn without_room_a_summary_is_omitted() {
    assert_eq!(draft(SESSION, 49).text, OMITTED);
    assert_eq!(draft(SESSION, 5).text, "");
}

proptest! {
    #[test]
    fn a_summary_never_exceeds_its_limit(
        lines in proptest::collection::vec("(user|assistant): [a-zA-Z0-9_./ áé漢]{0,80}", 1..12),
        limit in 0u64..400,
    ) {
        draft(&lines.join("\n"), limit);
    }
}
