//! Where the summarizer is the agent's own model, asked in the conversation itself: what was promised before holds there too.

use std::sync::Arc;

use longhaul_summarize::{
    CallPlan, ClientError, Conversation, Draft, Finish, Ladder, LastRequest, LlmOptions, Protocol, Scripted,
    Summarizer, SummarizerModel, SummaryForm,
};
use longhaul_testkit::block_on;
use longhaul_transcript::{Message, NoJitter, SummaryMode, Tokens, Transcript};

use crate::fixtures::{Asking, UserWords, time};

const ANSWER: &str = "## Findings\n- m1 It is in table_1.\n";

fn talk() -> Transcript {
    let exchange = |nth: usize| {
        let compared = "I compared the run times of last week and they differ. ".repeat(10);
        [
            Message::user(format!("Question {nth} about src/part_{nth}.rs.")),
            Message::assistant(format!("{compared}It is in table_{nth}.")),
        ]
    };
    (0..40).flat_map(exchange).collect()
}

/// Asks a model of this `window` that was last sent a request of so many tokens, and returns what was planned and what came of it.
fn asked(client: &Arc<Scripted>, window: u64, sent: u64, options: LlmOptions) -> (CallPlan, Draft) {
    let last = LastRequest::default();
    last.set(Conversation::new(Protocol::ChatCompletions, r#"{"messages":[]}"#, Tokens(sent)));
    let mut model = SummarizerModel::new("own", Tokens(window), Arc::clone(client) as _);
    model.last_request = Some(last);
    let time = time();
    let ladder = Ladder::new(
        vec![model],
        Arc::new(UserWords),
        options,
        Arc::clone(&time) as _,
        Arc::clone(&time) as _,
        Arc::new(NoJitter),
    )
    .with_redaction(Arc::new(|text: &str| text.to_owned()));
    let (talk, asking) = (talk(), Asking::new());
    let request = asking.request(talk.entries(), 800);
    (ladder.plan(&request), block_on(ladder.summarize(request)).unwrap())
}

fn options() -> LlmOptions {
    let mut options = LlmOptions::default();
    (options.mode, options.form) = (SummaryMode::Llm, SummaryForm::Markdown);
    options
}

#[test]
fn a_cap_on_what_a_call_is_shown_holds_for_the_conversation_as_well() {
    for (cap, is_whole) in [(Some(5_999), false), (Some(6_000), true), (None, true)] {
        let client = Arc::new(Scripted::always(ANSWER));
        let mut options = options();
        options.transcript_cap = cap.map(Tokens);
        let (plan, _) = asked(&client, 200_000, 6_000, options);
        assert_eq!(plan.models[0].in_conversation, is_whole, "{cap:?}");
        assert_eq!(client.requests()[0].conversation.is_some(), is_whole, "{cap:?}");
    }
}

#[test]
fn no_more_calls_are_made_than_were_planned_where_the_conversation_gives_no_answer() {
    for retries in 0..3 {
        // The model goes on with its work instead, and each first try of a call meets trouble on the way.
        let client = Arc::new(Scripted::new(move |nth, request| {
            if nth % (retries + 1) != retries {
                return Err(ClientError::Transport { reason: "reset".into() });
            }
            match request.conversation {
                Some(_) => Ok(Scripted::ends("", Finish::ToolCall)),
                None => Ok(Scripted::says(ANSWER)),
            }
        }));
        let mut options = options();
        (options.retries, options.max_calls) = (retries as u32, 40);
        let (plan, _) = asked(&client, 6_000, 2_000, options);
        assert!(plan.models[0].in_conversation);
        // It is shown in several parts where the conversation was one request.
        assert!(client.calls() > 3 * (retries + 1), "{} calls", client.calls());
        assert!(client.calls() <= plan.max_calls as usize, "{} calls, {plan:?}", client.calls());
    }
}
