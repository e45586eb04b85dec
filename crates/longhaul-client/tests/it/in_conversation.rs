//! A summary asked for in the agent's own conversation, over real HTTP, of a server that keeps prompts as providers do.

use std::sync::{Arc, Mutex};

use longhaul_client::{Anthropic, Endpoint, OpenAi};
use longhaul_extract::FactIndex;
use longhaul_summarize::{
    ClientError, CompletionClient, CompletionRequest, Conversation, Draft, Ladder, LastRequest, LlmOptions,
    Protocol, Summarizer, SummarizerModel, SummaryForm, SummaryRequest, rules::RulesSummarizer,
};
use longhaul_testkit::transcript;
use longhaul_tokens::BytesPer4;
use longhaul_transcript::{FixedClock, NoJitter, SessionId, Sleep, SummaryMode, Tokens};
use serde_json::{Value, json, value::RawValue};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

const PROTOCOLS: [Protocol; 3] = [Protocol::ChatCompletions, Protocol::Responses, Protocol::Messages];
const SUMMARY: &str = "## State\n- The export waits for table ledger_2026 (m1).";

/// How a server answers the first request that asks for a summary.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Does {
    Summarizes,
    CallsATool,
    IsTooSmall,
    Fails,
    TellsASecret,
}

/// A provider that keeps the last prompt, and reports how much of the next one it had.
#[derive(Clone, Debug, Default)]
struct Provider {
    prompts: Arc<Mutex<Vec<String>>>,
    paths: Arc<Mutex<Vec<String>>>,
}

impl Provider {
    async fn start(does: Does) -> (Provider, String) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}/v1", listener.local_addr().unwrap());
        let provider = Provider::default();
        let own = provider.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let _ = own.serve(stream, does).await;
            }
        });
        (provider, base)
    }

    async fn serve(&self, mut stream: TcpStream, does: Does) -> std::io::Result<()> {
        let mut request = Vec::new();
        let mut chunk = vec![0; 65_536];
        let (head, body) = loop {
            let count = stream.read(&mut chunk).await?;
            request.extend_from_slice(&chunk[..count]);
            let text = String::from_utf8_lossy(&request).into_owned();
            let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
            let length = head.to_lowercase();
            let length = length.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
            if body.len() >= length.trim().parse::<usize>().unwrap() {
                break (head.to_owned(), body.to_owned());
            }
        };
        let prompt = prompt(&body);
        let before = self.prompts.lock().unwrap().last().cloned().unwrap_or_default();
        let shared = before.bytes().zip(prompt.bytes()).take_while(|(one, other)| one == other).count();
        let whole = prompt.len();
        self.prompts.lock().unwrap().push(prompt);
        let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
        let nth = {
            let mut paths = self.paths.lock().unwrap();
            paths.push(path.clone());
            paths.len()
        };
        // The first request is the agent's, the second asks for a summary in the conversation.
        let does = if nth == 2 { does } else { Does::Summarizes };
        let (status, answer) = match does {
            Does::IsTooSmall => {
                (400, json!({"error": {"type": "exceed_context_size_error", "message": "too long"}}))
            }
            Does::Fails => (500, json!({"error": {"message": "trouble"}})),
            does => (200, answer(&path, does, shared / 4, whole / 4)),
        };
        let answer = answer.to_string();
        let head = format!("HTTP/1.1 {status} X\r\ncontent-type: application/json\r\nconnection: close\r\n");
        stream.write_all(format!("{head}content-length: {}\r\n\r\n{answer}", answer.len()).as_bytes()).await
    }
}

/// What a provider's cache looks at, in its order: tools, system prompt, messages.
fn prompt(body: &str) -> String {
    let fields: std::collections::HashMap<String, Box<RawValue>> = serde_json::from_str(body).unwrap();
    let order = ["tools", "system", "instructions", "messages", "input"];
    order.iter().filter_map(|name| fields.get(*name)).map(|raw| raw.get()).collect()
}

fn answer(path: &str, does: Does, cached: usize, whole: usize) -> Value {
    let text = match does {
        Does::TellsASecret => format!("{SUMMARY}\n- The key is hunter2."),
        _ => SUMMARY.to_owned(),
    };
    let calls = does == Does::CallsATool;
    match path {
        "/v1/messages" => json!({
            "content": [if calls { json!({"type": "tool_use", "id": "t", "name": "read", "input": {}}) } else { json!({"type": "text", "text": text}) }],
            "stop_reason": if calls { "tool_use" } else { "end_turn" },
            "usage": {"input_tokens": whole - cached, "cache_read_input_tokens": cached, "output_tokens": 20},
        }),
        "/v1/responses" => json!({
            "status": "completed",
            "output": [if calls { json!({"type": "function_call", "name": "read", "arguments": "{}"}) } else { json!({"type": "message", "content": [{"type": "output_text", "text": text}]}) }],
            "usage": {"input_tokens": whole, "input_tokens_details": {"cached_tokens": cached}, "output_tokens": 20},
        }),
        _ => json!({
            "choices": [{
                "message": if calls { json!({"tool_calls": [{"id": "t", "function": {"name": "read", "arguments": "{}"}}]}) } else { json!({"content": text}) },
                "finish_reason": if calls { "tool_calls" } else { "stop" },
            }],
            "usage": {"prompt_tokens": whole, "prompt_tokens_details": {"cached_tokens": cached}, "completion_tokens": 20},
        }),
    }
}

const SPOKEN: &str = "The run times of last week agree with each other, é and all. ";

/// The body of an agent's last request, spelled as no serializer of ours would.
fn last_request(protocol: Protocol) -> String {
    let long = SPOKEN.repeat(1_500);
    match protocol {
        Protocol::Messages => format!(
            r#"{{ "model":"m", "max_tokens":1024,"stream":true,"tool_choice":{{"type":"auto"}},
 "tools":[{{"name":"read","input_schema":{{"type":"object"}},"cache_control":{{"type":"ephemeral"}}}}],
 "system":[{{"type":"text","text":"Be brief.","cache_control":{{"type":"ephemeral"}}}}],
 "messages":[ {{"role":"user","content":"Why is the export late?"}},{{"role":"assistant","content":[{{"type":"text","text":"{long}It waits for table ledger_2026."}}]}},
  {{"content":[{{"type":"text","text":"Go on.","cache_control":{{"type":"ephemeral"}}}}],"role":"user"}} ],"metadata":{{"user_id":"u"}} }}"#
        ),
        Protocol::Responses => format!(
            r#"{{"model":"m","instructions":"Be brief.","tools":[{{"type":"function","name":"read"}}],"tool_choice":"auto","prompt_cache_key":"k","input":[{{"role":"user","content":"Why is the export late?"}},{{"type":"message","role":"assistant","content":[{{"type":"output_text","text":"{long}It waits for table ledger_2026."}}]}},{{"role":"user","content":"Go on."}}],"stream":true,"store":false}}"#
        ),
        _ => format!(
            r#"{{"messages":[{{"role":"system","content":"Be brief."}},{{"role":"user","content":"Why is the export late?"}},{{"role":"assistant","content":"{long}It waits for table ledger_2026."}},{{"role":"user","content":"Go on."}}],"tools":[{{"type":"function","function":{{"name":"read"}}}}],"tool_choice":"auto","model":"m","stream":true,"stream_options":{{"include_usage":true}}}}"#
        ),
    }
}

#[derive(Debug)]
pub(crate) struct Timer;

impl Sleep for Timer {
    fn sleep(
        &self,
        duration: std::time::Duration,
    ) -> std::pin::Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(tokio::time::sleep(duration))
    }
}

/// Sends the agent's request, then asks for a summary; returns it with what the provider saw.
async fn summarized(protocol: Protocol, does: Does) -> (Draft, Provider, String) {
    let (provider, base) = Provider::start(does).await;
    let endpoint = Endpoint::new(&base).unwrap();
    let (client, path): (Arc<dyn CompletionClient>, _) = match protocol {
        Protocol::Messages => (Arc::new(Anthropic::new(endpoint).unwrap()), "messages"),
        Protocol::Responses => (Arc::new(OpenAi::new(endpoint).unwrap()), "responses"),
        _ => (Arc::new(OpenAi::new(endpoint).unwrap()), "chat/completions"),
    };
    let body = last_request(protocol);
    let host = base.trim_start_matches("http://").trim_end_matches("/v1").to_owned();
    let mut stream = TcpStream::connect(&host).await.unwrap();
    let head = format!("POST /v1/{path} HTTP/1.1\r\nhost: {host}\r\ncontent-length: {}\r\n\r\n", body.len());
    stream.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
    stream.read_to_end(&mut Vec::new()).await.unwrap();

    let said = transcript(&format!(
        "user: Why is the export late?\nassistant: {}It waits for table ledger_2026.\nuser: Go on.",
        SPOKEN.repeat(1_500)
    ));
    let mut index = FactIndex::new();
    said.entries().iter().for_each(|entry| index.push(entry));
    let mut model = SummarizerModel::new("m", Tokens(200_000), client);
    let last = LastRequest::default();
    last.set(Conversation::new(protocol, body.as_str(), Tokens(body.len() as u64 / 4)));
    model.last_request = Some(last);
    let mut options = LlmOptions::default();
    options.retries = 0;
    options.form = SummaryForm::Markdown;
    let rules = Arc::new(RulesSummarizer::default());
    let ladder = Ladder::new(
        vec![model],
        rules,
        options,
        Arc::new(FixedClock(0)),
        Arc::new(Timer),
        Arc::new(NoJitter),
    )
    .with_redaction(Arc::new(|text| text.replace("hunter2", "[secret]")));
    let session = SessionId::new("s").unwrap();
    let request = SummaryRequest::new(&session, said.entries(), &index, &BytesPer4, Tokens(1_000));
    assert!(ladder.plan(&request).models[0].in_conversation);
    (ladder.summarize(request).await.unwrap(), provider, body)
}

#[tokio::test]
async fn the_agents_request_comes_back_byte_for_byte_and_is_served_from_the_cache() {
    for protocol in PROTOCOLS {
        let (draft, provider, body) = summarized(protocol, Does::Summarizes).await;
        assert_eq!(draft.mode, SummaryMode::Hybrid, "{protocol:?}: {:?}", draft.attempts);
        assert!(draft.text.contains("The export waits for table ledger_2026 (m1)."), "{}", draft.text);
        let prompts = provider.prompts.lock().unwrap().clone();
        assert_eq!(prompts.len(), 2, "one call, no other");
        let first = prompt(&body);
        let said = first.trim_end().strip_suffix(']').unwrap();
        assert!(prompts[1].starts_with(said), "{protocol:?}: system, tools, messages and marks as they were");
        assert!(prompts[1].len() > first.len() && prompts[1].contains("about to be shortened"));
        let usage = draft.cost.unwrap().usage;
        let share = usage.cache_read.0 as f64 / usage.prompt_total().0 as f64;
        println!("{protocol:?}: {:.1} % of the prompt from the cache", share * 100.0);
        assert!(share >= 0.9, "{protocol:?}: {share}");
    }
}

#[tokio::test]
async fn what_else_may_come_of_it() {
    for protocol in PROTOCOLS {
        // Taken for the agent's work, or too large: asked once more, as data.
        for does in [Does::CallsATool, Does::IsTooSmall] {
            let (draft, provider, _) = summarized(protocol, does).await;
            assert_eq!(draft.attempts.len(), 1, "{protocol:?} {does:?}: {:?}", draft.attempts);
            assert_eq!(provider.prompts.lock().unwrap().len(), 3);
            assert!(!draft.text.is_empty());
        }
        let (draft, provider, _) = summarized(protocol, Does::Fails).await;
        assert_eq!(draft.mode, SummaryMode::Rules, "trouble on the way ends with the rules");
        assert_eq!(provider.prompts.lock().unwrap().len(), 2);
        let (draft, _, _) = summarized(protocol, Does::TellsASecret).await;
        assert!(!format!("{draft:?}").contains("hunter2"), "{}", draft.text);
    }
}

#[tokio::test]
async fn a_conversation_of_another_protocol_is_not_sent() {
    let (provider, base) = Provider::start(Does::Summarizes).await;
    let client = OpenAi::new(Endpoint::new(&base).unwrap()).unwrap();
    let mut request = CompletionRequest::new("m", String::new(), "Sum up.".into(), Tokens(10));
    request.conversation =
        Some(Arc::new(Conversation::new(Protocol::Messages, r#"{"messages":[]}"#, Tokens(1))));
    let error = client.complete(&request).await.unwrap_err();
    assert!(matches!(error, ClientError::InvalidResponse { .. }), "{error}");
    assert!(provider.prompts.lock().unwrap().is_empty());
}
