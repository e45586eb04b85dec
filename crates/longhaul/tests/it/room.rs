//! In which order room is given: pins, the open exchange, the newest request whole, and then everything else.

use std::sync::Arc;

use longhaul::{
    Config, Event, EventKind, SessionState,
    tokens::{CharsPer4, ContextWindow},
    transcript::{Message, Outcome, Part, Role, SessionId, Tokens, ToolCall, ToolResult},
};

const SENTENCE: &str = "The export of the ledger has to keep the order of its lines, number and all. ";

fn state(window: u64, config: Config) -> SessionState {
    let window = ContextWindow::new(Tokens(window), Tokens(window / 8));
    SessionState::new(SessionId::new("room").unwrap(), window, Arc::new(CharsPer4), config)
}

fn text_of(tokens: u64) -> String {
    SENTENCE.repeat((tokens as usize * 4).div_ceil(SENTENCE.len()))
}

fn exchange(state: &mut SessionState, nth: usize, tokens: u64) {
    let id = format!("c{nth}");
    let call = ToolCall::function(id.as_str(), "bash", format!(r#"{{"command":"make part_{nth}"}}"#));
    state.push(Message::new(Role::Assistant, vec![Part::ToolCall(call)]));
    let result = ToolResult::text(id.as_str(), text_of(tokens), Outcome::Succeeded);
    state.push(Message::new(Role::Tool, vec![Part::ToolResult(result)]));
}

fn shows(state: &SessionState, message: &Message) -> bool {
    state.view().messages().any(|shown| **shown == *message)
}

#[test]
fn a_result_that_the_model_has_yet_to_read_is_whole_while_there_is_room() {
    for (window, tokens) in [(16_000u64, 2_700u64), (16_000, 4_700), (16_000, 9_000), (32_000, 9_000)] {
        let mut state = state(window, Config::default());
        state.push(Message::user("Read the parts one by one and say what each is for."));
        for nth in 0..8 {
            exchange(&mut state, nth, tokens);
            let newest = Arc::clone(&state.originals().last().unwrap().message);
            state.settle(None);
            assert!(shows(&state, &newest), "{tokens} of {window}, exchange {nth}");
            assert!(state.tokens() <= state.budget());
        }
        assert!(state.summary().is_some(), "{tokens} of {window}");
    }
}

// asserts 004-50
#[test]
fn what_the_user_just_said_reaches_the_model_whole() {
    for (window, length) in
        [(16_000u64, 3_000u64), (16_000, 6_000), (32_000, 9_000), (128_000, 20_000), (128_000, 60_000)]
    {
        let budget = window - window / 8;
        for filled in [4, 6, 7, 8, 9] {
            for is_open in [false, true] {
                let mut state = state(window, Config::default());
                state.push(Message::system("You are careful."));
                state.push(Message::user("Please mend the export."));
                let mut nth = 0;
                while state.tokens().0 < budget * filled / 10 {
                    exchange(&mut state, nth, window / 50);
                    nth += 1;
                    state.settle(None);
                    if nth > 400 {
                        break;
                    }
                }
                let request = Message::user(format!("Now look at this, please.\n{}", text_of(length)));
                state.push(request.clone());
                state.settle(None);
                if is_open {
                    (0..8).for_each(|n| exchange(&mut state, 1_000 + n, window / 100));
                    state.settle(None);
                }
                let says = format!("{length} at {filled}/10 of {window}");
                assert!(state.tokens().0 <= budget, "{says}: {} of {budget}", state.tokens());
                assert!(shows(&state, &request), "{says}: the request is cut");
            }
        }
    }
}

#[tokio::test]
async fn a_request_that_cannot_fit_is_cut_and_the_caller_told() {
    let told = Arc::new(std::sync::Mutex::new(Vec::new()));
    let log = Arc::clone(&told);
    let window = ContextWindow::new(Tokens(8_000), Tokens(0));
    let mut context = longhaul::Session::builder(SessionId::new("cut").unwrap(), window)
        .counter(Arc::new(CharsPer4))
        .observer(move |event: &Event| log.lock().unwrap().push(event.kind.clone()))
        .build()
        .unwrap();
    for nth in 0..20 {
        context.push(Message::user(format!("Question {nth}?")));
        context.push(Message::assistant(text_of(100)));
    }
    let request = context.push(Message::user(text_of(12_000)));
    let view = context.prepare().await.unwrap();
    assert!(view.tokens() <= Tokens(8_000));
    let told = told.lock().unwrap();
    let cut = told.iter().find_map(|kind| match kind {
        EventKind::RequestCut { message, message_tokens, left } => Some((*message, *message_tokens, *left)),
        _ => None,
    });
    let (message, whole, left) = cut.expect("the caller is told");
    assert_eq!(message, request.ordinal);
    assert!(whole > Tokens(12_000) && left > Tokens(3_000) && left < Tokens(8_000), "{whole} {left}");
}

#[test]
fn instructions_in_mid_conversation_stay() {
    for role in [Role::System, Role::Developer] {
        let mut state = state(8_000, Config::default());
        state.push(Message::system("You are careful."));
        state.push(Message::user("Please mend the export."));
        (0..6).for_each(|nth| exchange(&mut state, nth, 60));
        let rule = Message::new(role, vec![Part::Text("Amounts are in EUR cents. Never round.".into())]);
        state.push(rule.clone());
        for nth in 6..400 {
            exchange(&mut state, nth, 80);
            state.settle(None);
            assert!(shows(&state, &rule), "gone after {nth} exchanges as {role:?}");
            assert!(state.tokens() <= state.budget());
        }
        assert!(state.summary().is_some_and(|record| record.depth > 0 || record.covers.start > 0));
    }
}

#[test]
fn without_preserve_system_instructions_are_summarized_like_the_rest() {
    let mut state = state(8_000, Config { preserve_system: false, ..Config::default() });
    let first = Message::system("You are careful. The ledger is src/ledger.rs.");
    state.push(first.clone());
    state.push(Message::user("Please mend the export."));
    for nth in 0..80 {
        exchange(&mut state, nth, 80);
        state.settle(None);
    }
    assert!(!shows(&state, &first) && state.summary().is_some());
}
