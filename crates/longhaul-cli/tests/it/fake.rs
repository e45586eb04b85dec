//! A summarizer's server on the loopback interface, for tests: it says what it is told to and remembers what it was sent.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
};

/// What the server does with a request.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    /// Answers with this status and body, and these header lines (each with its line end).
    Says(u16, String, String),
    /// Takes the request and says nothing until the client goes away.
    Hangs,
}

/// One request as it came in.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    /// The request line and the header lines.
    pub(crate) head: String,
    pub(crate) body: String,
}

/// A running server. Its thread ends with the test's process.
pub(crate) struct Fake {
    pub(crate) base: String,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl Fake {
    /// Starts a server that gives every request the same reply.
    pub(crate) fn always(reply: Reply) -> Fake {
        Fake::start(move |_, _| reply.clone())
    }

    /// Starts a server that replies as `script` says to the nth request.
    pub(crate) fn start(script: impl Fn(usize, &Request) -> Reply + Send + 'static) -> Fake {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base = format!("http://{}/v1", listener.local_addr().unwrap());
        let requests: Arc<Mutex<Vec<Request>>> = Arc::default();
        let log = Arc::clone(&requests);
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let Some(request) = read(&stream) else { continue };
                let nth = {
                    let mut log = log.lock().unwrap();
                    log.push(request.clone());
                    log.len() - 1
                };
                let reply = script(nth, &request);
                // A request that hangs must not hold up the next.
                thread::spawn(move || answer(stream, reply));
            }
        });
        Fake { base, requests }
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }

    /// Returns the host as the command names it.
    pub(crate) fn host(&self) -> &str {
        self.base.trim_start_matches("http://").trim_end_matches("/v1")
    }
}

impl Reply {
    /// A completion that says `text`.
    pub(crate) fn completion(text: &str) -> Reply {
        let body = serde_json::json!({
            "model": "fake-1",
            "choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 900, "completion_tokens": 80},
        });
        Reply::Says(200, String::new(), body.to_string())
    }

    /// The same in Anthropic's protocol.
    pub(crate) fn message(text: &str) -> Reply {
        let body = serde_json::json!({
            "model": "fake-1",
            "content": [{"type": "text", "text": text}],
            "stop_reason": "end_turn",
            "usage": {"input_tokens": 900, "output_tokens": 80},
        });
        Reply::Says(200, String::new(), body.to_string())
    }

    /// An error with this status.
    pub(crate) fn error(status: u16) -> Reply {
        Reply::Says(status, String::new(), r#"{"error":{"message":"not today"}}"#.into())
    }
}

fn read(stream: &TcpStream) -> Option<Request> {
    let mut reader = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        head.push_str(&line);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Request { head, body: String::from_utf8(body).ok()? })
}

fn answer(mut stream: TcpStream, reply: Reply) {
    match reply {
        Reply::Says(status, headers, body) => {
            let length = body.len();
            let head = format!(
                "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n"
            );
            // A client that has left is not our trouble.
            let _ = stream.write_all(format!("{head}{body}").as_bytes());
        }
        Reply::Hangs => {
            let _ = stream.read(&mut [0]);
        }
    }
}
