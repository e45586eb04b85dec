//! Signed thinking: the round that the model goes on from keeps its own, whatever is compacted before it.

use std::sync::Arc;

use longhaul::{
    Config, SessionState,
    policy::Decision,
    tokens::{CharsPer4, ContextWindow},
    transcript::{Message, Part, SessionId, Tokens},
    wire::{Format, Profile, Thinking, messages_from_json, validate},
};

/// A round of a tool loop with extended thinking, as Anthropic spells it.
fn round(nth: usize) -> String {
    let output = format!("line {nth} of what the file says about the ledger\\n").repeat(120);
    format!(
        r#"[{{"role":"assistant","content":[{{"type":"thinking","thinking":"Look at {nth}.","signature":"c2ln{nth}"}},{{"type":"text","text":"I read part {nth}."}},{{"type":"tool_use","id":"t{nth}","name":"read_file","input":{{"path":"src/{nth}.rs"}}}}]}},{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t{nth}","content":"{output}"}}]}}]"#
    )
}

#[test]
fn the_round_in_progress_keeps_its_signed_thinking() {
    let window = ContextWindow::new(Tokens(16_000), Tokens(2_000));
    let id = SessionId::new("thinking").unwrap();
    let mut state = SessionState::new(id, window, Arc::new(CharsPer4), Config::default());
    let ask = r#"{"role":"user","content":"Read all parts of the ledger and say where the sum goes wrong."}"#;
    let push = |state: &mut SessionState, json: &str| {
        for message in messages_from_json(Format::Anthropic, json).unwrap() {
            state.push(message);
        }
    };
    push(&mut state, ask);
    let mut compactions = 0;
    for nth in 0..40 {
        push(&mut state, &round(nth));
        while let Decision::Act { action, reason } = state.decide(None) {
            let job = state.plan(action, reason, None, None).unwrap();
            state.apply(job.finish_by_rule().unwrap()).unwrap();
            compactions += 1;
        }
        let sent = state.view().to_json(Format::Anthropic).unwrap();
        let mut profile = Profile::default();
        profile.thinking = Thinking::On;
        let found = validate(sent.json.as_bytes(), Format::Anthropic, &profile).unwrap();
        assert!(found.is_empty(), "round {nth}: {found:?}");
        assert!(sent.json.contains(&format!("\"signature\":\"c2ln{nth}\"")), "round {nth}");
        // Of the turn in progress no round is shown without its thinking.
        let is_bare = |message: &Message| {
            message.calls().next().is_some()
                && !message.parts.iter().any(|part| matches!(part, Part::Reasoning(_)))
        };
        assert_eq!(state.view().messages().filter(|message| is_bare(message)).count(), 0, "round {nth}");
    }
    assert!(compactions > 3, "{compactions}");
    // Once the user has said more, it may go.
    push(&mut state, r#"{"role":"assistant","content":"It goes wrong in part 7."}"#);
    push(&mut state, r#"{"role":"user","content":"Mend it."}"#);
    push(&mut state, &round(41));
    let action = longhaul::policy::Action::Summarize { rebuild: false };
    let job = state.plan(action, longhaul::policy::Reason::Manual, None, None).unwrap();
    state.apply(job.finish_by_rule().unwrap()).unwrap();
    let sent = state.view().to_json(Format::Anthropic).unwrap().json;
    assert_eq!(sent.matches("\"signature\"").count(), 1, "{sent}");
}

/// A model that binds what it thought to all that stood before it takes none of it behind a summary.
#[test]
fn a_turn_that_is_over_keeps_no_thinking_behind_a_summary() {
    let window = ContextWindow::new(Tokens(16_000), Tokens(2_000));
    let id = SessionId::new("thinking").unwrap();
    let mut state = SessionState::new(id, window, Arc::new(CharsPer4), Config::default());
    let ask =
        r#"[{"role":"user","content":"Read all parts of the ledger and say where the sum goes wrong."}]"#;
    let answer = r#"[{"role":"assistant","content":[{"type":"thinking","thinking":"All is read.","signature":"ZW5k"},{"type":"text","text":"It goes wrong in part 7."}]}]"#;
    let rounds: Vec<String> = (0..6).map(round).collect();
    for json in [ask].into_iter().chain(rounds.iter().map(String::as_str)).chain([answer]) {
        for message in messages_from_json(Format::Anthropic, json).unwrap() {
            state.push(message);
        }
    }
    let action = longhaul::policy::Action::Summarize { rebuild: false };
    let job = state.plan(action, longhaul::policy::Reason::Manual, None, None).unwrap();
    state.apply(job.finish_by_rule().unwrap()).unwrap();
    let sent = state.view().to_json(Format::Anthropic).unwrap().json;
    assert!(!sent.contains("\"signature\""), "{sent}");
}

/// A provider that pauses while a tool of its own runs is sent the answer so far as it was, and goes on with it.
#[test]
fn a_turn_that_the_provider_paused_keeps_its_thinking() {
    let search = r#"{"type":"server_tool_use","id":"s1","name":"web_search","input":{"query":"ledger"}}"#;
    let result = r#"{"type":"web_search_tool_result","tool_use_id":"s1","content":[]}"#;
    let said = r#"{"type":"text","text":"It goes wrong in part 7."}"#;
    for (end, is_paused) in [(search.to_owned(), true), (format!("{search},{result},{said}"), false)] {
        let answer = format!(
            r#"[{{"role":"assistant","content":[{{"type":"thinking","thinking":"Search.","signature":"ZW5k"}},{end}]}}]"#
        );
        let window = ContextWindow::new(Tokens(16_000), Tokens(2_000));
        let id = SessionId::new("thinking").unwrap();
        let mut state = SessionState::new(id, window, Arc::new(CharsPer4), Config::default());
        let ask =
            r#"[{"role":"user","content":"Read all parts of the ledger and say where the sum goes wrong."}]"#;
        let rounds: Vec<String> = (0..6).map(round).collect();
        for json in [ask].into_iter().chain(rounds.iter().map(String::as_str)).chain([&*answer]) {
            for message in messages_from_json(Format::Anthropic, json).unwrap() {
                state.push(message);
            }
        }
        let action = longhaul::policy::Action::Summarize { rebuild: false };
        let job = state.plan(action, longhaul::policy::Reason::Manual, None, None).unwrap();
        state.apply(job.finish_by_rule().unwrap()).unwrap();
        let sent = state.view().to_json(Format::Anthropic).unwrap().json;
        assert!(sent.contains("server_tool_use"), "{sent}");
        assert_eq!(sent.contains(r#""signature":"ZW5k""#), is_paused, "{sent}");
        if is_paused {
            let mut profile = Profile::default();
            profile.thinking = Thinking::On;
            let found = validate(sent.as_bytes(), Format::Anthropic, &profile).unwrap();
            assert!(found.is_empty(), "{found:?}");
        }
    }
}
