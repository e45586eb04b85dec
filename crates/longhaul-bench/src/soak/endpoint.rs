//! An endpoint that answers by script, over HTTP on the loopback interface, and looks closely at what it is sent.

use std::{
    collections::HashMap,
    io::{BufRead, BufReader, Write},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
};

use anyhow::{Context as _, Result, anyhow};
use longhaul::{
    tokens::{self, Encoding, TokenCounter},
    transcript::{ContentHash, Tokens},
    wire::{Format, Profile, validate},
};
use serde_json::{Value, json, value::RawValue};

use super::{Plan, script::Script};

/// What an endpoint found wrong with its requests.
#[derive(Clone, Debug, Default)]
pub struct Faults {
    /// Requests that broke a rule of the protocol.
    pub invalid: u64,
    /// Requests over the window.
    pub too_large: u64,
    /// The first of them, in words.
    pub first: Option<String>,
}

/// A running endpoint. It ends with the process.
#[derive(Debug)]
pub(super) struct ScriptedEndpoint {
    base: String,
    faults: Arc<Mutex<Faults>>,
}

/// What one connection needs.
struct Server {
    window: Tokens,
    counter: Arc<dyn TokenCounter>,
    /// What each message costs, by what it says: most of a history was sent before.
    counted: HashMap<ContentHash, u64>,
    script: Script,
    nth: u64,
    faults: Arc<Mutex<Faults>>,
}

/// The parts of a request that are looked at.
#[derive(serde::Deserialize)]
struct Request {
    messages: Vec<Box<RawValue>>,
}

/// How many counts are remembered.
const REMEMBERED: usize = 50_000;

impl ScriptedEndpoint {
    pub(super) fn start(plan: Plan) -> Result<ScriptedEndpoint> {
        let listener = TcpListener::bind("127.0.0.1:0").context("no port on the loopback interface")?;
        let base = format!("http://{}/v1", listener.local_addr()?);
        let faults: Arc<Mutex<Faults>> = Arc::default();
        let mut server = Server {
            window: plan.window,
            counter: tokens::counter(Encoding::O200kBase),
            counted: HashMap::new(),
            script: Script::new(plan.turn_tokens),
            nth: 0,
            faults: Arc::clone(&faults),
        };
        // One client, one connection at a time; it may be dropped and made again.
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let _ = server.serve(stream);
            }
        });
        Ok(ScriptedEndpoint { base, faults })
    }

    pub(super) fn base(&self) -> &str {
        &self.base
    }

    pub(super) fn faults(&self) -> Faults {
        self.faults.lock().map(|faults| faults.clone()).unwrap_or_default()
    }
}

impl Server {
    /// Answers the requests of one connection until it is closed.
    fn serve(&mut self, mut stream: TcpStream) -> Result<()> {
        stream.set_nodelay(true)?;
        let mut reader = BufReader::new(stream.try_clone()?);
        while let Some(body) = read_request(&mut reader)? {
            let answer = self.answer(&body)?;
            stream.write_all(answer.as_bytes())?;
        }
        Ok(())
    }

    fn answer(&mut self, body: &[u8]) -> Result<String> {
        let violations = validate(body, Format::OpenAi, &Profile::default())?;
        if let Some(first) = violations.first() {
            self.note(|faults| &mut faults.invalid, &first.to_string());
        }
        let prompt = self.count(body)?;
        if prompt > self.window.0 {
            self.note(
                |faults| &mut faults.too_large,
                &format!("{prompt} tokens in a window of {}", self.window),
            );
            let error = json!({"error": {"code": 400, "type": "exceed_context_size_error", "message": "too long", "n_ctx": self.window}});
            return Ok(whole(400, "application/json", &error.to_string()));
        }
        self.nth += 1;
        let text = self.script.answer(self.nth);
        let mut events = String::new();
        let mut event = |value: Value| events.push_str(&format!("data: {value}\n\n"));
        let cut = text.len() / 2;
        for piece in [&text[..cut], &text[cut..]] {
            event(json!({"choices": [{"delta": {"content": piece}}]}));
        }
        let calls_tool = Script::calls_tool(self.nth);
        if calls_tool {
            let function = json!({"name": "run", "arguments": json!({"command": format!("make check N={}", self.nth)}).to_string()});
            let call = json!({"index": 0, "id": format!("call_{}", self.nth), "function": function});
            event(json!({"choices": [{"delta": {"tool_calls": [call]}}]}));
        }
        let finish = if calls_tool { "tool_calls" } else { "stop" };
        event(json!({"choices": [{"delta": {}, "finish_reason": finish}]}));
        let said = self.counter.count_text(&text);
        event(json!({"choices": [], "usage": {"prompt_tokens": prompt, "completion_tokens": said}}));
        events.push_str("data: [DONE]\n\n");
        Ok(whole(200, "text/event-stream", &events))
    }

    /// Counts a prompt in the way of this endpoint: each message's content and calls, and six tokens around it.
    fn count(&mut self, body: &[u8]) -> Result<u64> {
        if self.counted.len() > REMEMBERED {
            self.counted.clear();
        }
        let request: Request = serde_json::from_slice(body)?;
        let mut total = 3;
        for raw in &request.messages {
            let raw = raw.get();
            let key = ContentHash::of(raw.as_bytes());
            if let Some(known) = self.counted.get(&key) {
                total += known;
                continue;
            }
            let message: Value = serde_json::from_str(raw)?;
            let mut tokens = 6 + self.counter.count_text(message["content"].as_str().unwrap_or_default()).0;
            for call in message["tool_calls"].as_array().into_iter().flatten() {
                tokens += self.counter.count_text(&call["function"].to_string()).0;
            }
            self.counted.insert(key, tokens);
            total += tokens;
        }
        Ok(total)
    }

    fn note(&self, which: impl FnOnce(&mut Faults) -> &mut u64, what: &str) {
        if let Ok(mut faults) = self.faults.lock() {
            *which(&mut faults) += 1;
            faults.first.get_or_insert_with(|| what.to_owned());
        }
    }
}

fn whole(status: u16, kind: &str, body: &str) -> String {
    format!("HTTP/1.1 {status} X\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n\r\n{body}", body.len())
}

/// Returns the body of the next request; `None` where the connection is closed.
fn read_request(reader: &mut impl BufRead) -> Result<Option<Vec<u8>>> {
    let mut length = None;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        if line == "\r\n" {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().ok();
        }
    }
    let mut body = vec![0; length.ok_or_else(|| anyhow!("a request without a length"))?];
    reader.read_exact(&mut body)?;
    Ok(Some(body))
}
