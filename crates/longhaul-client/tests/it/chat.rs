//! Whole conversations, streamed: split anywhere, broken off anywhere, refused and retold.

use std::sync::Arc;

use expect_test::expect;
use longhaul_client::{Chat, ChatRequest, Delta, Endpoint, Reply, ToolDefinition};
use longhaul_summarize::{ClientError, Finish, LastRequest};
use longhaul_testkit::transcript;
use longhaul_transcript::{Message, Tokens};
use longhaul_wire::{CacheMark, Format, Lifetime, Profile, validate};
use serde_json::{Value, json};

use crate::server::{Server, Step, answer};

const OPENAI: &str = r#"data: {"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":null},"finish_reason":null}]}

data: {"choices":[{"index":0,"delta":{"reasoning_content":"Hm."}}]}

data: {"choices":[{"index":0,"delta":{"content":"Grüß "}}]}

: keep-alive

data: {"choices":[{"index":0,"delta":{"content":"Gott 👋"}}]}

data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"read","arguments":""}}]}}]}

data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"path\":"}}]}}]}

data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\"a\"}"}},{"index":1,"id":"c2","function":{"name":"list"}}]}}]}

data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}

data: {"choices":[],"usage":{"prompt_tokens":20,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":4}}}

data: [DONE]

"#;

const ANTHROPIC: &str = r#"event: message_start
data: {"type":"message_start","message":{"model":"m","content":[],"usage":{"input_tokens":12,"cache_read_input_tokens":8,"output_tokens":1}}}

event: ping
data: {"type":"ping"}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Grüß Gott 👋"}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: content_block_start
data: {"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"c1","name":"read","input":{}}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"path\":"}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"\"a\"}"}}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":9}}

event: message_stop
data: {"type":"message_stop"}

"#;

fn streamed(body: &str) -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n{body}")
        .into_bytes()
}

fn request() -> ChatRequest {
    let history = transcript(
        "system: Be brief.\nuser: hello\nassistant: Hm. !list#c0 {}\ntool#c0: a b\nassistant: Two files.\nuser: which?",
    );
    let messages = history.entries().iter().map(|entry| Arc::clone(&entry.message)).collect();
    ChatRequest::new("m", messages, Tokens(50)).with_tools(vec![ToolDefinition {
        name: "read".into(),
        description: "Reads a file".into(),
        parameters: json!({"type": "object", "properties": {"path": {"type": "string"}}}),
    }])
}

async fn openai(scripts: Vec<Vec<Step>>) -> (Server, Chat) {
    let server = Server::start(scripts).await;
    let chat = Chat::openai(Endpoint::new(&server.base).unwrap().with_key("k-1".to_owned())).unwrap();
    (server, chat)
}

async fn ask(chat: &Chat) -> (Result<Reply, ClientError>, Vec<Delta>) {
    let mut deltas = Vec::new();
    let reply = chat.reply(&request(), |delta| deltas.push(delta)).await;
    (reply, deltas)
}

fn shape(message: &Message) -> String {
    let calls =
        message.calls().map(|call| format!(" !{}#{} {}", call.name, call.id.as_str(), call.arguments.0));
    message.texts().map(str::to_owned).chain(calls).collect()
}

#[tokio::test]
async fn an_answer_is_put_together_wherever_its_bytes_are_cut() {
    let bytes = streamed(OPENAI);
    let byte_by_byte = bytes.iter().map(|byte| Step::Send(vec![*byte])).collect();
    for script in [vec![Step::Send(bytes.clone())], byte_by_byte] {
        let (_server, chat) = openai(vec![script]).await;
        let (reply, deltas) = ask(&chat).await;
        let reply = reply.unwrap();
        expect![[r#"Grüß Gott 👋 !read#c1 {"path":"a"} !list#c2 {}"#]].assert_eq(&shape(&reply.message));
        assert_eq!(reply.finish, Finish::ToolCall);
        let usage = reply.usage.unwrap();
        assert_eq!((usage.input, usage.cache_read, usage.output), (Tokens(16), Tokens(4), Tokens(7)));
        let calls: Vec<_> = deltas.iter().filter(|delta| matches!(delta, Delta::Call(_))).collect();
        assert_eq!(calls, [&Delta::Call("read".into()), &Delta::Call("list".into())]);
        assert!(deltas.contains(&Delta::Reasoning("Hm.".into())));
    }
}

#[tokio::test]
async fn messages_are_put_together_as_well() {
    let server = Server::start(vec![vec![Step::Send(streamed(ANTHROPIC))]]).await;
    let chat = Chat::anthropic(Endpoint::new(&server.base).unwrap().with_key("k-1".to_owned())).unwrap();
    let (reply, _) = ask(&chat).await;
    let reply = reply.unwrap();
    expect![[r#"Grüß Gott 👋 !read#c1 {"path":"a"}"#]].assert_eq(&shape(&reply.message));
    assert_eq!((reply.finish, reply.model.as_str()), (Finish::ToolCall, "m"));
    let usage = reply.usage.unwrap();
    assert_eq!((usage.input, usage.cache_read, usage.output), (Tokens(12), Tokens(8), Tokens(9)));
    let request = &server.requests()[0];
    assert!(request.starts_with("POST /v1/messages ") && request.contains("x-api-key: k-1"), "{request}");
}

#[tokio::test]
async fn the_provider_counts_a_request_that_is_not_made() {
    let answer = |status: &str, body: &str| {
        let head = format!("HTTP/1.1 {status}\r\ncontent-type: application/json\r\nconnection: close\r\n");
        vec![Step::Send(format!("{head}content-length: {}\r\n\r\n{body}", body.len()).into_bytes())]
    };
    let scripts = vec![
        answer("200 OK", r#"{"input_tokens": 321}"#),
        answer("200 OK", r#"{"tokens": []}"#),
        answer("404 Not Found", r#"{"error": {"message": "File Not Found"}}"#),
    ];
    let (server, chat) = openai(scripts).await;
    assert_eq!(chat.count_tokens(&request()).await.unwrap(), Tokens(321));
    assert!(matches!(chat.count_tokens(&request()).await, Err(ClientError::InvalidResponse { .. })));
    assert!(chat.count_tokens(&request()).await.is_err());
    let sent = &server.requests()[0];
    assert!(sent.starts_with("POST /v1/messages/count_tokens "), "{sent}");
    let body: Value = serde_json::from_str(sent.split_once("\r\n\r\n").unwrap().1).unwrap();
    let mut keys: Vec<&String> = body.as_object().unwrap().keys().collect();
    keys.sort();
    assert_eq!(keys, ["messages", "model", "system", "tools"], "nothing that counting refuses");
}

#[tokio::test]
async fn what_is_sent_is_a_valid_history() {
    let endpoint = || Endpoint::new("http://127.0.0.1:1/v1").unwrap();
    for (chat, format) in
        [(Chat::openai(endpoint()), Format::OpenAi), (Chat::anthropic(endpoint()), Format::Anthropic)]
    {
        let body = chat.unwrap().body(&request()).unwrap();
        assert_eq!(validate(&body, format, &Profile::default()).unwrap(), []);
        let body: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(
            (&body["model"], &body["stream"], &body["max_tokens"]),
            (&json!("m"), &json!(true), &json!(50))
        );
        assert!(body["tools"].to_string().contains("Reads a file"));
    }
}

#[tokio::test]
async fn a_stream_that_ends_before_the_answer_is_an_error_wherever_it_ends() {
    for stream in [OPENAI, ANTHROPIC] {
        let finish = stream.find("finish_reason\":\"tool_calls\"").or(stream.find("stop_reason")).unwrap();
        // Each event boundary, and one place inside each event.
        let cuts = stream.match_indices("\n\n").flat_map(|(at, _)| [at + 2, at.saturating_sub(7)]);
        for cut in cuts.filter(|cut| *cut < finish && stream.is_char_boundary(*cut)) {
            let server = Server::start(vec![vec![Step::Send(streamed(&stream[..cut]))]]).await;
            let endpoint = Endpoint::new(&server.base).unwrap();
            let chat =
                if stream == OPENAI { Chat::openai(endpoint) } else { Chat::anthropic(endpoint) }.unwrap();
            let (reply, _) = ask(&chat).await;
            assert!(matches!(reply, Err(ClientError::Transport { .. })), "cut at {cut}: {reply:?}");
        }
    }
}

#[tokio::test]
async fn faults_in_the_midst_of_a_stream_are_told_with_what_was_said_before_them() {
    let begun = "data: {\"choices\":[{\"delta\":{\"content\":\"So far\"}}]}\n\n";
    let cases = [
        (
            "data: {\"error\":{\"type\":\"overloaded_error\",\"message\":\"too much\"}}\n\n",
            expect!["the provider is in trouble (status 200): overloaded_error: too much"],
        ),
        (
            "data: {\"choices\":[{\"delta\":\n\n",
            expect![
                "the provider's answer cannot be read: an event of the stream is not JSON: EOF while parsing a value at line 1 column 21"
            ],
        ),
        (
            "data: {\"error\":{\"code\":400,\"type\":\"exceed_context_size_error\",\"message\":\"too long\",\"n_ctx\":512}}\n\n",
            expect!["the prompt is too large for the model: exceed_context_size_error: too long"],
        ),
    ];
    for (fault, expected) in cases {
        let (_server, chat) = openai(vec![vec![Step::Send(streamed(&format!("{begun}{fault}")))]]).await;
        let (reply, deltas) = ask(&chat).await;
        expected.assert_eq(&reply.unwrap_err().to_string());
        assert_eq!(deltas, [Delta::Text("So far".into())]);
    }
    let (_server, chat) = openai(vec![vec![Step::Send(streamed(begun)), Step::Reset]]).await;
    let (reply, deltas) = ask(&chat).await;
    assert!(reply.is_err());
    assert_eq!(deltas, [Delta::Text("So far".into())]);
}

#[tokio::test]
async fn a_server_that_cannot_stream_or_lacks_a_setting_is_understood() {
    let whole = r#"{"model":"m","choices":[{"message":{"role":"assistant","content":"Hi."},"finish_reason":"stop"}]}"#;
    let refusal = |what: &str| {
        vec![Step::Send(answer(400, "", &format!(r#"{{"error":{{"message":"unknown field {what}"}}}}"#)))]
    };
    let scripts = vec![
        refusal("stream_options"),
        refusal("max_tokens; use max_completion_tokens"),
        vec![Step::Send(answer(200, "", whole))],
    ];
    let (server, chat) = openai(scripts).await;
    let last = LastRequest::default();
    let chat = chat.with_last_request(last.clone());
    for _ in 0..2 {
        let (reply, deltas) = ask(&chat).await;
        assert_eq!(reply.unwrap().finish, Finish::Stop);
        assert_eq!(deltas, [Delta::Text("Hi.".into())]);
    }
    let requests = server.requests();
    // What was learned is not asked again.
    assert_eq!(requests.len(), 4);
    assert!(requests[3].contains("max_completion_tokens") && !requests[3].contains("stream_options"));
    // What is noted is what was answered, not what was tried.
    let noted = last.get().unwrap();
    assert!(requests[3].ends_with(&*noted.body) && !requests[0].ends_with(&*noted.body));
}

#[tokio::test]
async fn an_overflow_names_the_window() {
    let body = r#"{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error","n_prompt_tokens":9000,"n_ctx":2048}}"#;
    let (_server, chat) = openai(vec![vec![Step::Send(answer(400, "", body))]]).await;
    let (reply, _) = ask(&chat).await;
    assert!(
        matches!(reply, Err(ClientError::ContextOverflow { limit: Some(Tokens(2048)), .. })),
        "{reply:?}"
    );
}

#[tokio::test]
async fn the_provider_is_asked_to_cache_where_the_marks_say() {
    let script = vec![Step::Send(streamed(ANTHROPIC))];
    let server = Server::start(vec![script]).await;
    let chat = Chat::anthropic(Endpoint::new(&server.base).unwrap().with_key("k-1".to_owned())).unwrap();
    let mark = |item, lifetime| CacheMark { item, lifetime };
    let marks =
        vec![mark(0, Lifetime::OneHour), mark(3, Lifetime::FiveMinutes), mark(5, Lifetime::FiveMinutes)];
    chat.reply(&request().with_cache_marks(marks), |_| {}).await.unwrap();
    let sent = &server.requests()[0];
    let body: Value = serde_json::from_str(sent.split_once("\r\n\r\n").unwrap().1).unwrap();
    let (short, long) = (json!({"type": "ephemeral"}), json!({"type": "ephemeral", "ttl": "1h"}));
    assert_eq!(body["system"][0]["cache_control"], long);
    // The result of the call, and what was asked last.
    assert_eq!(body["messages"][2]["content"][0]["cache_control"], short);
    assert_eq!(body["messages"][4]["content"][0]["cache_control"], short);
    assert_eq!(sent.matches("cache_control").count(), 3);
    let history = json!({"system": body["system"], "messages": body["messages"]}).to_string();
    let found = validate(history.as_bytes(), Format::Anthropic, &Profile::default()).unwrap();
    assert!(found.is_empty(), "{found:?}");
}
