//! A real model on llama.cpp's own server. What it says is no matter: what holds is the protocol, the bounds, and that
//! a summary comes of it either way.

use std::time::Duration;

use longhaul_client::Anthropic;
use longhaul_summarize::{Answer, ClientError, CompletionClient, CompletionRequest, Finish, Summarizer};
use longhaul_transcript::{SummaryMode, Tokens};

use crate::support::{Asking, conversation, endpoint, given, ladder, openai, options};

const LONG: Duration = Duration::from_secs(900);

/// The server's address, the model's name and the key.
fn server() -> Option<(String, String, String)> {
    Some((given("LONGHAUL_E2E_URL")?, given("LONGHAUL_E2E_MODEL")?, given("LONGHAUL_E2E_KEY")?))
}

fn question(model: &str, words: &str, max_tokens: u64) -> CompletionRequest {
    CompletionRequest::new(model, "Answer in one short sentence.".into(), words.into(), Tokens(max_tokens))
}

#[tokio::test]
async fn model_answers_in_both_protocols() {
    let Some((url, model, key)) = server() else { return };
    let openai = openai(&format!("{url}/v1"), &key, LONG);
    let anthropic = Anthropic::new(endpoint(&url, &key, LONG)).unwrap();
    for client in [&*openai as &dyn CompletionClient, &anthropic] {
        let whole = client.complete(&question(&model, "What is the capital of France?", 60)).await.unwrap();
        println!("{:?}, {:?}", whole.text, whole.usage);
        let usage = whole.usage.unwrap();
        assert!(!whole.text.is_empty() && usage.prompt_total() > Tokens(5) && usage.output > Tokens::ZERO);
        let (system, user) = ("You tell long stories.", "Tell a long story about a ship and its crew.");
        let story = CompletionRequest::new(&model, system.into(), user.into(), Tokens(8));
        let cut = client.complete(&story).await.unwrap();
        assert_eq!((cut.finish, cut.usage.unwrap().output), (Finish::Length, Tokens(8)));
    }
}

#[tokio::test]
async fn model_refuses_a_wrong_key_and_a_prompt_that_is_too_long() {
    let Some((url, model, key)) = server() else { return };
    let base = format!("{url}/v1");
    let error = openai(&base, "sk-wrong", LONG).complete(&question(&model, "Hello", 8)).await.unwrap_err();
    assert!(matches!(error, ClientError::Denied { status: 401, .. }), "{error}");
    let long = "word ".repeat(20_000);
    let error = openai(&base, &key, LONG).complete(&question(&model, &long, 8)).await.unwrap_err();
    println!("{error}");
    assert!(matches!(error, ClientError::ContextOverflow { .. }), "{error}");
    let anthropic = Anthropic::new(endpoint(&url, &key, LONG)).unwrap();
    let error = anthropic.complete(&question(&model, &long, 8)).await.unwrap_err();
    assert!(matches!(error, ClientError::ContextOverflow { .. }), "{error}");
}

#[tokio::test]
async fn model_follows_the_schema_in_shape() {
    let Some((url, model, key)) = server() else { return };
    let mut question = question(&model, "Summarize: the test failed, then it was fixed.", 120);
    question.schema = Some(Answer::schema());
    let completion = openai(&format!("{url}/v1"), &key, LONG).complete(&question).await.unwrap();
    println!("{:?}: {}", completion.finish, completion.text);
    assert!(completion.text.trim_start().starts_with('{'), "the grammar makes it JSON");
    if completion.finish == Finish::Stop {
        let read = serde_json::from_str::<serde_json::Value>(&completion.text).unwrap();
        let schema = Answer::schema().schema;
        assert_eq!(read.as_object().unwrap().len(), schema["required"].as_array().unwrap().len());
    }
}

#[tokio::test]
async fn model_or_not_there_is_a_summary() {
    let Some((url, model, key)) = server() else { return };
    let conversation = conversation();
    let asking = Asking::about(conversation.entries());
    for mode in [SummaryMode::Hybrid, SummaryMode::Llm] {
        let ladder = ladder(openai(&format!("{url}/v1"), &key, LONG), &model, 4_096, options(mode));
        let request = asking.request(conversation.entries(), 300);
        let plan = ladder.plan(&request);
        let draft = ladder.summarize(request).await.unwrap();
        println!(
            "{}: {:?}\nattempts {:?}\nrepairs {:?}\n{}\n",
            mode.as_str(),
            draft.mode,
            draft.attempts,
            draft.repairs,
            draft.text
        );
        assert!(draft.tokens <= Tokens(300) && !draft.text.is_empty());
        assert!(draft.cost.unwrap().calls <= plan.max_calls);
        assert!(
            draft.summary.constraints.iter().all(|rule| draft.text.contains(&rule.text)),
            "each of the user's rules is there"
        );
    }
}
