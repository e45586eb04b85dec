//! What a view costs that was made of one which the provider billed, where we count otherwise than it does.

use longhaul_tokens::{Accuracy, ContextWindow, TokenCounter};
use longhaul_transcript::{Outcome, Part, Role, SessionId, ToolCall, ToolResult};

use super::*;
use crate::policy::{Action, Reason};

/// Counts prose rightly, and code a third too low.
#[derive(Debug)]
struct Uneven;

impl TokenCounter for Uneven {
    fn count_text(&self, text: &str) -> Tokens {
        let divisor = if text.contains(';') { 6 } else { 4 };
        Tokens((text.len() as u64).div_ceil(divisor))
    }

    fn accuracy(&self) -> Accuracy {
        Accuracy::Estimate { margin: 0.25 }
    }
}

/// What the provider bills: a token for four bytes, and four a message.
fn bill(state: &SessionState) -> Tokens {
    let of = |message: &Message| {
        let calls: usize = message.calls().map(|call| call.name.len() + call.arguments.0.len()).sum();
        let results: usize = message.results().map(|result| result.joined_text().len()).sum();
        (message.texts().map(str::len).sum::<usize>() + calls + results) as u64 / 4 + 4
    };
    Tokens(state.view().messages().map(|message| of(message)).sum())
}

fn turn(state: &mut SessionState, nth: u64) {
    let id = format!("c{nth}");
    let lines = 20 + nth * 7 % 60;
    let output = match nth % 3 {
        0 => "The relay waits for the lock of the table and tells the edge of it. ".repeat(lines as usize),
        _ => format!("let value_{nth} = compute({nth});\n").repeat(lines as usize),
    };
    state.push(Message::user(format!("Look at file {nth}.")));
    let call = ToolCall::function(&*id, "read", format!("{{\"path\":\"src/{nth}.rs\"}}"));
    state.push(Message::new(Role::Assistant, vec![Part::ToolCall(call)]));
    let result = ToolResult::text(&*id, output, Outcome::Succeeded);
    state.push(Message::new(Role::Tool, vec![Part::ToolResult(result)]));
    let usage = Usage { input: bill(state), ..Usage::default() };
    let sent = state.view().id();
    // A bill that is what was expected at most says nothing new.
    let verdict = state.report_usage(sent, &usage);
    assert!(matches!(verdict, UsageVerdict::Taken | UsageVerdict::Echo), "turn {nth}: {verdict:?}");
    state.push(Message::assistant(format!("File {nth} is fine.")));
}

#[test]
fn a_view_that_a_rewrite_made_smaller_costs_less_than_it_did() {
    let window = ContextWindow::new(Tokens(16_000), Tokens::ZERO);
    let mut state =
        SessionState::new(SessionId::new("s").unwrap(), window, Arc::new(Uneven), Default::default());
    let mut n_rewrites = 0;
    for nth in 0..60 {
        turn(&mut state, nth);
        if nth < 12 || nth % 3 != 0 {
            continue;
        }
        let before = state.tokens();
        let Ok(rewrite) = state.soften(Action::SoftDigest, Reason::Manual, None) else { continue };
        n_rewrites += 1;
        let (after, billed) = (state.tokens(), bill(&state));
        assert!(after < before, "turn {nth}: {before} -> {after}");
        assert!(
            after >= billed && after <= billed.scaled(1.12),
            "turn {nth}: {after}, and {billed} is billed"
        );
        assert!(rewrite.outcome.tokens_after < rewrite.outcome.tokens_before, "{:?}", rewrite.outcome);
        // Taken up again it costs the same.
        let snapshot = serde_json::to_string(&state.snapshot()).unwrap();
        let fresh =
            SessionState::new(SessionId::new("s").unwrap(), window, Arc::new(Uneven), Default::default());
        let all = state.originals().entries().to_vec();
        let of = |span: Span| {
            let entries = &all[span.start as usize..span.end as usize];
            entries.iter().map(|entry| Arc::clone(&entry.message)).collect()
        };
        let resumed = fresh.resume(serde_json::from_str(&snapshot).unwrap(), of).unwrap();
        assert_eq!(resumed.tokens(), after);
    }
    assert!(n_rewrites > 2, "{n_rewrites}");
}
