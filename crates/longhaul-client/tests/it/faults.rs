//! Faults on the way: each ends in an error that says what to do, in time, and none in half an answer.

use std::time::{Duration, Instant};

use expect_test::expect;
use longhaul_client::{Anthropic, Endpoint, OpenAi};
use longhaul_summarize::{ClientError, Completion, CompletionClient, CompletionRequest};
use longhaul_transcript::Tokens;

use crate::server::{Server, Step, answer};

const OPENAI: &str = r#"{"id":"1","model":"m","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"grüße 😀"}}],"usage":{"prompt_tokens":7,"completion_tokens":3}}"#;
const ANTHROPIC: &str = r#"{"id":"1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"grüße 😀"}],"stop_reason":"end_turn","usage":{"input_tokens":7,"output_tokens":3}}"#;

fn endpoint(base: &str) -> Endpoint {
    Endpoint::new(base)
        .unwrap()
        .with_key("sk-canary-0123456789".to_owned())
        // Far more than a loaded machine needs; the stalls, which use all of it, set their own.
        .with_timeouts(Duration::from_secs(20), Duration::from_secs(20))
}

fn request() -> CompletionRequest {
    CompletionRequest::new("m", "system".into(), "user".into(), Tokens(16))
}

async fn ask(steps: Vec<Step>) -> Result<Completion, ClientError> {
    let server = Server::start(vec![steps]).await;
    OpenAi::new(endpoint(&server.base)).unwrap().complete(&request()).await
}

#[tokio::test]
async fn an_answer_cut_at_any_byte_is_no_answer() {
    for (whole, is_anthropic) in [(answer(200, "", OPENAI), false), (answer(200, "", ANTHROPIC), true)] {
        let scripts = (0..=whole.len()).map(|cut| vec![Step::Send(whole[..cut].to_vec())]).collect();
        let server = Server::start(scripts).await;
        let endpoint = endpoint(&server.base);
        let openai = OpenAi::new(endpoint.clone()).unwrap();
        let anthropic = Anthropic::new(endpoint).unwrap();
        for cut in 0..=whole.len() {
            let answer = match is_anthropic {
                true => anthropic.complete(&request()).await,
                false => openai.complete(&request()).await,
            };
            match (cut == whole.len(), answer) {
                (true, Ok(answer)) => assert_eq!(answer.text, "grüße 😀"),
                (false, Err(error)) => assert!(error.is_retryable(), "cut at {cut}: {error}"),
                (_, answer) => panic!("cut at {cut}: {answer:?}"),
            }
        }
        assert_eq!(server.requests().len(), whole.len() + 1, "one attempt each");
    }
}

#[tokio::test]
async fn characters_split_between_reads_stay_whole() {
    let whole = answer(200, "", OPENAI);
    let steps =
        whole.chunks(1).flat_map(|byte| [Step::Send(byte.to_vec()), Step::Wait(Duration::from_micros(50))]);
    assert_eq!(ask(steps.collect()).await.unwrap().text, "grüße 😀");
    let chunked = OPENAI
        .as_bytes()
        .chunks(3)
        .flat_map(|piece| [format!("{:x}\r\n", piece.len()).as_bytes(), piece, b"\r\n"].concat());
    let head = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n".to_vec();
    let whole = [head, chunked.collect(), b"0\r\n\r\n".to_vec()].concat();
    assert_eq!(ask(vec![Step::Send(whole)]).await.unwrap().text, "grüße 😀");
}

#[tokio::test]
async fn stalls_end_at_the_deadline() {
    let whole = answer(200, "", OPENAI);
    let hour = Step::Wait(Duration::from_secs(3600));
    for steps in [
        vec![hour.clone()],
        vec![Step::Send(whole[..30].to_vec()), hour.clone()],
        vec![Step::Send(whole[..whole.len() - 1].to_vec()), hour],
    ] {
        let (server, started) = (Server::start(vec![steps]).await, Instant::now());
        let limit = Duration::from_millis(600);
        let endpoint = endpoint(&server.base).with_timeouts(limit, limit);
        let answer = OpenAi::new(endpoint).unwrap().complete(&request()).await;
        assert_eq!(answer, Err(ClientError::Timeout { after: limit }));
        assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    }
}

#[tokio::test]
async fn statuses_bodies_and_lies() {
    let json = |status: u16, headers: &str, body: &str| vec![Step::Send(answer(status, headers, body))];
    let limited = r#"{"error":{"type":"rate_limit_error","message":"slow down"}}"#;
    let cases = [
        ("400", json(400, "", r#"{"error":{"message":"unknown model","type":"invalid_request_error"}}"#)),
        (
            "401 with the key in it",
            json(401, "", r#"{"error":{"message":"wrong key sk-canary-0123456789"}}"#),
        ),
        ("404", json(404, "", "")),
        ("413", json(413, "", "<html>")),
        ("429", json(429, "", limited)),
        ("429 in 2 s", json(429, "retry-after: 2\r\n", limited)),
        ("429 at a date", json(429, "retry-after: Fri, 31 Dec 1999 23:59:59 GMT\r\n", limited)),
        ("500", json(500, "", r#"{"error":{"message":"oops","type":"server_error"}}"#)),
        ("502 HTML", json(502, "", "<html><head><title>502 Bad Gateway</title></head></html>")),
        ("503", json(503, "retry-after: 5\r\n", "")),
        (
            "529",
            json(529, "", r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#),
        ),
        ("redirect", json(307, "location: http://127.0.0.1:1/\r\n", "")),
        ("200 with an error", json(200, "", r#"{"error":{"type":"overloaded_error","message":"later"}}"#)),
        ("200 malformed", json(200, "", "{malformed json: <<<")),
        ("200 empty", json(200, "", "")),
        ("200 without choices", json(200, "", r#"{"choices":[]}"#)),
        (
            "length too small",
            vec![Step::Send(b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n{\"choices\": [{}]}".to_vec())],
        ),
        ("length too large", vec![Step::Send(b"HTTP/1.1 200 OK\r\ncontent-length: 9999\r\n\r\n{}".to_vec())]),
        (
            "length a lie of 1 TB",
            vec![Step::Send(b"HTTP/1.1 200 OK\r\ncontent-length: 1000000000000\r\n\r\n".to_vec())],
        ),
        ("no HTTP", vec![Step::Send(b"SSH-2.0-OpenSSH_9.2\r\n".to_vec())]),
        ("reset", vec![Step::Reset]),
        ("closed", vec![]),
    ];
    let mut table = String::new();
    for (name, steps) in cases {
        let error = ask(steps).await.unwrap_err();
        assert!(!format!("{error} {error:?}").contains("canary"), "{name}");
        let again = if error.is_retryable() { "again" } else { "never" };
        let after = error.retry_after().map(|after| format!(" after {after:?}")).unwrap_or_default();
        table.push_str(&format!("{name}: {again}{after}: {error}\n"));
    }
    expect![[r#"
        400: never: the provider does not take the request (status 400): invalid_request_error: unknown model
        401 with the key in it: never: the provider refuses the key (status 401): wrong key …
        404: never: the provider does not take the request (status 404): no reason given
        413: never: the prompt is too large for the model: <html>
        429: again: the provider limits the rate (status 429): rate_limit_error: slow down
        429 in 2 s: again after 2s: the provider limits the rate (status 429): rate_limit_error: slow down
        429 at a date: again after 0ns: the provider limits the rate (status 429): rate_limit_error: slow down
        500: again: the provider is in trouble (status 500): server_error: oops
        502 HTML: again: the provider is in trouble (status 502): 502 Bad Gateway
        503: again after 5s: the provider is in trouble (status 503): no reason given
        529: again: the provider is in trouble (status 529): overloaded_error: Overloaded
        redirect: never: the server redirects (status 307), which is not followed
        200 with an error: again: the provider is in trouble (status 200): overloaded_error: later
        200 malformed: never: the provider's answer cannot be read: not JSON: key must be a string at line 1 column 2
        200 empty: never: the provider's answer cannot be read: not JSON: EOF while parsing a value at line 1 column 0
        200 without choices: never: the provider's answer cannot be read: no choices
        length too small: never: the provider's answer cannot be read: not JSON: EOF while parsing an object at line 1 column 10
        length too large: again: the connection failed: end of file before message length reached
        length a lie of 1 TB: never: the provider's answer cannot be read: a body of more than 4194304 bytes
        no HTTP: again: the connection failed: invalid HTTP version parsed
        reset: again: the connection failed: Connection reset by peer (os error 104)
        closed: again: the connection failed: connection closed before message completed
    "#]].assert_eq(&table);
}

#[tokio::test]
async fn a_body_without_end_is_not_read_to_the_end() {
    let mut endless = vec![Step::Send(b"HTTP/1.1 200 OK\r\n\r\n".to_vec())];
    endless.extend((0..64).map(|_| Step::Send(vec![b' '; 1 << 20])));
    let error = ask(endless).await.unwrap_err();
    assert_eq!(error.to_string(), "the provider's answer cannot be read: a body of more than 4194304 bytes");
}

#[tokio::test]
async fn a_refused_connection_is_trouble_on_the_way() {
    let server = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}/v1", server.local_addr().unwrap());
    drop(server);
    let error = OpenAi::new(endpoint(&base)).unwrap().complete(&request()).await.unwrap_err();
    assert!(matches!(error, ClientError::Transport { .. }) && error.is_retryable(), "{error}");
}

#[tokio::test]
async fn dropping_the_future_ends_the_exchange() {
    let server = Server::start(vec![vec![Step::Wait(Duration::from_secs(3600))]]).await;
    let client = OpenAi::new(endpoint(&server.base)).unwrap();
    let question = request();
    let asked = tokio::time::timeout(Duration::from_millis(50), client.complete(&question)).await;
    assert!(asked.is_err(), "left before the answer");
}
