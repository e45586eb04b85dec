//! What is sent, and what is read from a good answer.

use longhaul_client::{Anthropic, Endpoint, OpenAi};
use longhaul_summarize::{Answer, ClientError, CompletionClient, CompletionRequest, Finish};
use longhaul_transcript::{Tokens, Usage};
use serde_json::Value;

use crate::server::{Server, Step, answer};

fn request() -> CompletionRequest {
    let mut request = CompletionRequest::new("m", "Be brief.".into(), "Hello".into(), Tokens(16));
    request.schema = Some(Answer::schema());
    request
}

fn openai_answer(message: &str, finish: &str) -> Vec<Step> {
    let body = format!(
        r#"{{"model":"m-2026","choices":[{{"message":{message},"finish_reason":{finish}}}],"usage":{{"prompt_tokens":10,"completion_tokens":5,"prompt_tokens_details":{{"cached_tokens":4}},"completion_tokens_details":{{"reasoning_tokens":2}}}}}}"#
    );
    vec![Step::Send(answer(200, "", &body))]
}

fn sent(request: &str) -> (String, Value) {
    let (head, body) = request.split_once("\r\n\r\n").unwrap();
    (head.to_lowercase(), serde_json::from_str(body).unwrap())
}

#[tokio::test]
async fn chat_completions() {
    let server = Server::start(vec![openai_answer(r#"{"content":"Hi"}"#, r#""stop""#)]).await;
    let endpoint = Endpoint::new(&server.base).unwrap().with_key("sk-1".to_owned());
    let completion = OpenAi::new(endpoint).unwrap().complete(&request()).await.unwrap();
    assert_eq!(
        (completion.text.as_str(), completion.finish, completion.model.as_str()),
        ("Hi", Finish::Stop, "m-2026")
    );
    let usage = Usage {
        input: Tokens(6),
        cache_read: Tokens(4),
        output: Tokens(3),
        reasoning: Tokens(2),
        ..Usage::default()
    };
    assert_eq!(completion.usage, Some(usage));

    let (head, body) = sent(&server.requests()[0]);
    assert!(
        head.starts_with("post /v1/chat/completions http/1.1") && head.contains("authorization: bearer sk-1")
    );
    assert_eq!(body["messages"][1]["content"], "Hello");
    assert_eq!((&body["max_tokens"], &body["temperature"]), (&16.into(), &0.0.into()));
    assert_eq!(body["response_format"]["json_schema"]["schema"], Answer::schema().schema);
}

#[tokio::test]
async fn messages() {
    let body = r#"{"model":"c","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"Hi"}],"stop_reason":"end_turn","usage":{"input_tokens":6,"cache_read_input_tokens":4,"output_tokens":5}}"#;
    let server = Server::start(vec![vec![Step::Send(answer(200, "", body))]]).await;
    for base in [server.base.trim_end_matches("/v1"), server.base.as_str()] {
        let endpoint = Endpoint::new(base).unwrap().with_key("sk-2".to_owned());
        let completion = Anthropic::new(endpoint).unwrap().complete(&request()).await.unwrap();
        assert_eq!((completion.text.as_str(), completion.finish), ("Hi", Finish::Stop));
        let usage = Usage { input: Tokens(6), cache_read: Tokens(4), output: Tokens(5), ..Usage::default() };
        assert_eq!(completion.usage, Some(usage));
    }
    for request in server.requests() {
        let (head, body) = sent(&request);
        assert!(head.starts_with("post /v1/messages http/1.1") && head.contains("x-api-key: sk-2"));
        assert!(head.contains("anthropic-version: 2023-06-01"));
        assert_eq!((&body["system"], &body["max_tokens"]), (&"Be brief.".into(), &16.into()));
    }
}

#[tokio::test]
async fn a_server_without_schemas_is_asked_for_plain_json_from_then_on() {
    let refusal = r#"{"error":{"message":"'response_format' of type json_schema is not supported","type":"invalid_request_error"}}"#;
    let server = Server::start(vec![
        vec![Step::Send(answer(400, "", refusal))],
        openai_answer(r#"{"content":"Hi"}"#, r#""stop""#),
    ])
    .await;
    let client = OpenAi::new(Endpoint::new(&server.base).unwrap()).unwrap();
    assert_eq!(client.complete(&request()).await.unwrap().text, "Hi");
    assert_eq!(client.complete(&request()).await.unwrap().text, "Hi");
    let formats: Vec<bool> =
        server.requests().iter().map(|request| sent(request).1.get("response_format").is_some()).collect();
    assert_eq!(formats, [true, false, false]);
}

#[tokio::test]
async fn reasoning_models_are_asked_in_their_way() {
    let refusal = |name: &str| {
        let body = format!(
            r#"{{"error":{{"message":"Unsupported parameter: '{name}' is not supported with this model.","code":"unsupported_parameter"}}}}"#
        );
        vec![Step::Send(answer(400, "", &body))]
    };
    let server = Server::start(vec![
        refusal("max_tokens"),
        refusal("temperature"),
        openai_answer(r#"{"content":"Hi"}"#, r#""stop""#),
    ])
    .await;
    let client = OpenAi::new(Endpoint::new(&server.base).unwrap()).unwrap();
    assert_eq!(client.complete(&request()).await.unwrap().text, "Hi");
    let (_, body) = sent(&server.requests()[2]);
    assert_eq!(body["max_completion_tokens"], 16);
    assert!(body.get("max_tokens").is_none() && body.get("temperature").is_none());
}

#[tokio::test]
async fn reasons_to_end() {
    for (message, finish, expected) in [
        (r#"{"content":"cut"}"#, r#""length""#, Finish::Length),
        (r#"{"content":null,"refusal":"I can't"}"#, r#""stop""#, Finish::Refusal),
        (r#"{"content":""}"#, r#""content_filter""#, Finish::Refusal),
        (r#"{"content":null,"tool_calls":[{"id":"1"}]}"#, r#""tool_calls""#, Finish::ToolCall),
        (r#"{"content":"odd"}"#, "null", Finish::Other),
        (r#"{"content":[{"type":"text","text":"parts"}]}"#, r#""stop""#, Finish::Stop),
    ] {
        let server = Server::start(vec![openai_answer(message, finish)]).await;
        let client = OpenAi::new(Endpoint::new(&server.base).unwrap()).unwrap();
        assert_eq!(client.complete(&request()).await.unwrap().finish, expected, "{message}");
    }
}

#[tokio::test]
async fn which_models_a_server_has() {
    let body = r#"{"object":"list","data":[{"id":"small"},{"id":"large"},{"name":"odd"}]}"#;
    let server = Server::start(vec![
        vec![Step::Send(answer(200, "", body))],
        vec![Step::Send(answer(200, "", body))],
        vec![Step::Send(answer(404, "", r#"{"error":{"message":"no such page"}}"#))],
        vec![Step::Send(answer(200, "", "[]"))],
    ])
    .await;
    let endpoint = || Endpoint::new(&server.base).unwrap().with_key("sk-1".to_owned());
    assert_eq!(OpenAi::new(endpoint()).unwrap().models().await.unwrap(), ["small", "large"]);
    assert_eq!(Anthropic::new(endpoint()).unwrap().models().await.unwrap(), ["small", "large"]);
    for request in server.requests() {
        let (head, body) = request.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("GET /v1/models HTTP/1.1") && body.is_empty(), "{request}");
    }
    let error = OpenAi::new(endpoint()).unwrap().models().await.unwrap_err();
    assert!(matches!(error, ClientError::BadRequest { status: 404, .. }), "{error}");
    let error = OpenAi::new(endpoint()).unwrap().models().await.unwrap_err();
    assert_eq!(error.to_string(), "the provider's answer cannot be read: no list of models");
}
