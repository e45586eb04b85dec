//! A server that injects faults (`llmock`), and grades how the client dealt with them.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use longhaul_client::Anthropic;
use longhaul_summarize::{CompletionClient, Summarizer};
use longhaul_transcript::{SummaryMode, Tokens};
use serde_json::{Value, json};

use crate::support::{Asking, conversation, endpoint, given, ladder, openai, options};

const GOOD: &str = r#"{"narrative": "The nightly export failed with a deadlock because flush did not sort the tenant ids. It does now, and all 14 tests pass.", "decisions": ["Set EXPORT_WORKERS=1 for tonight"], "current_focus": "The patch waits for Lena's review."}"#;

/// Each fault, how often it strikes, and how the summary is made in the end.
fn faults() -> Vec<(&'static str, Vec<Value>, SummaryMode)> {
    let fail = |status: u16, times: Value| json!({"type": "fail", "status": status, "times": times});
    let wait = |status: u16, seconds: u64, times: Value| json!({"type": "fail", "status": status, "retry_after": seconds, "times": times});
    let says = |text: &str| json!({"type": "reply", "text": text, "times": null});
    let ends = |text: &str, reason: &str| json!({"type": "reply", "text": text, "finish_reason": reason, "times": null});
    let good = || says(GOOD);
    let once = || json!(1);
    let always = || Value::Null;
    use SummaryMode::{Hybrid, Rules};
    vec![
        ("none", vec![good()], Hybrid),
        ("429 once", vec![fail(429, once()), good()], Hybrid),
        ("429 once, Retry-After 2 s", vec![wait(429, 2, once()), good()], Hybrid),
        ("429 always", vec![fail(429, always())], Rules),
        ("429, Retry-After 1 h", vec![wait(429, 3600, once()), good()], Rules),
        ("500 once", vec![fail(500, once()), good()], Hybrid),
        ("500 always", vec![fail(500, always())], Rules),
        ("503 always", vec![fail(503, always())], Rules),
        ("529 always", vec![fail(529, always())], Rules),
        ("400", vec![fail(400, always())], Rules),
        ("401", vec![fail(401, always())], Rules),
        ("404", vec![fail(404, always())], Rules),
        ("413", vec![fail(413, always())], Rules),
        ("slow: 1 s of 3 s", vec![json!({"type": "delay", "seconds": 1, "times": null}), good()], Hybrid),
        ("hangs for 30 s", vec![json!({"type": "delay", "seconds": 30, "times": null}), good()], Rules),
        ("malformed JSON", vec![says("{\"narrative\": \"bad")], Rules),
        ("wrong schema", vec![says("{\"narrative\": [\"no\"]}")], Rules),
        ("empty", vec![says("")], Rules),
        ("prose", vec![says("All is well.")], Rules),
        ("oversize", vec![says(&"the export failed ".repeat(2_000))], Rules),
        ("cut off", vec![ends("{\"narrative\": \"The ni", "length")], Rules),
        ("refusal", vec![ends("I cannot help with that.", "content_filter")], Rules),
    ]
}

#[tokio::test]
async fn faults_end_in_a_summary() {
    let Some(mock) = given("LONGHAUL_E2E_MOCK") else { return };
    // The mock is told what to do before the first of our clients is made, which would choose the provider itself.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let conversation = conversation();
    let asking = Asking::about(conversation.entries());
    let limit = Duration::from_secs(3);
    println!("| protocol | fault | summary by | calls | time | why |\n|---|---|---|---|---|---|");
    for protocol in ["openai", "anthropic"] {
        for (name, behaviors, expected) in faults() {
            // The two protocols spell their reasons to end differently; the mock takes the protocol's own.
            let behaviors = json!({ "behaviors": behaviors }).to_string();
            let behaviors = match protocol {
                "anthropic" => behaviors
                    .replace("\"length\"", "\"max_tokens\"")
                    .replace("\"content_filter\"", "\"refusal\""),
                _ => behaviors,
            };
            admin(&mock, "reset", "{}").await;
            admin(&mock, "scenario", &behaviors).await;
            let client: Arc<dyn CompletionClient> = match protocol {
                "openai" => openai(&format!("{mock}/v1"), "sk-mock", limit),
                _ => Arc::new(
                    Anthropic::new(endpoint(&format!("{mock}/anthropic"), "sk-mock", limit)).unwrap(),
                ),
            };
            let ladder = ladder(client, "gpt-4o-mini", 32_000, options(SummaryMode::Hybrid));
            let request = asking.request(conversation.entries(), 300);
            let plan = ladder.plan(&request);
            let started = Instant::now();
            let draft = ladder.summarize(request).await.unwrap();
            let took = started.elapsed();
            let calls = draft.cost.map_or(0, |cost| cost.calls);
            let why: Vec<_> = draft.attempts.iter().map(|attempt| attempt.reason.replace('|', "/")).collect();
            println!(
                "| {protocol} | {name} | {} | {calls} of {} | {:.1} s | {} |",
                draft.mode.as_str(),
                plan.max_calls,
                took.as_secs_f64(),
                why.join("; ")
            );
            assert_eq!(draft.mode, expected, "{protocol}: {name}: {draft:?}");
            assert!(draft.tokens <= Tokens(300) && calls <= plan.max_calls, "{protocol}: {name}");
            assert!(
                draft.summary.constraints.iter().all(|rule| draft.text.contains(&rule.text)),
                "each of the user's rules is there"
            );
            assert!(took < Duration::from_secs(20), "{protocol}: {name}: {took:?}");
            let verdict = reqwest::get(format!("{mock}/_llmock/verdict?format=text"))
                .await
                .unwrap()
                .text()
                .await
                .unwrap();
            assert!(!verdict.contains("retry_after_ignored"), "{protocol}: {name}: {verdict}");
        }
    }
}

async fn admin(mock: &str, what: &str, body: &str) {
    let request = reqwest::Client::new()
        .post(format!("{mock}/_llmock/{what}"))
        .header("content-type", "application/json")
        .body(body.to_owned());
    let answer = request.send().await.unwrap();
    let status = answer.status();
    assert!(status.is_success(), "{what}: {status}: {}", answer.text().await.unwrap());
}
