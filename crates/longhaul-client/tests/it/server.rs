//! A server on the loopback interface that sends the bytes it is told to.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

/// What the server does with a connection after it has read the request.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// Sends these bytes.
    Send(Vec<u8>),
    /// Does nothing for a while.
    Wait(Duration),
    /// Resets the connection instead of closing it.
    Reset,
}

/// A running server. It ends with the test's runtime.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) base: String,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Starts a server that does `scripts[n]` with its n-th connection, and the last of them ever after.
    pub(crate) async fn start(scripts: Vec<Vec<Step>>) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}/v1", listener.local_addr().unwrap());
        let requests: Arc<Mutex<Vec<String>>> = Arc::default();
        let log = Arc::clone(&requests);
        tokio::spawn(async move {
            let mut nth = 0;
            while let Ok((stream, _)) = listener.accept().await {
                let steps = scripts[nth.min(scripts.len() - 1)].clone();
                nth += 1;
                tokio::spawn(serve(stream, steps, Arc::clone(&log)));
            }
        });
        Server { base, requests }
    }

    /// Returns the requests so far, head and body.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

async fn serve(mut stream: TcpStream, steps: Vec<Step>, log: Arc<Mutex<Vec<String>>>) {
    let mut request = Vec::new();
    let mut chunk = [0; 4096];
    while !is_whole(&request) {
        match stream.read(&mut chunk).await {
            Ok(0) | Err(_) => return,
            Ok(count) => request.extend_from_slice(&chunk[..count]),
        }
    }
    log.lock().unwrap().push(String::from_utf8_lossy(&request).into_owned());
    for step in steps {
        match step {
            Step::Send(bytes) => {
                if stream.write_all(&bytes).await.is_err() || stream.flush().await.is_err() {
                    return;
                }
            }
            Step::Wait(duration) => tokio::time::sleep(duration).await,
            Step::Reset => {
                let _ = stream.set_zero_linger();
                return;
            }
        }
    }
    let _ = stream.shutdown().await;
}

fn is_whole(request: &[u8]) -> bool {
    let text = String::from_utf8_lossy(request);
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head
        .lines()
        .find_map(|line| line.to_lowercase().strip_prefix("content-length:")?.trim().parse().ok());
    body.len() >= length.unwrap_or(0)
}

/// Returns a whole answer with this status and body.
pub(crate) fn answer(status: u16, headers: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("HTTP/1.1 {status} X\r\ncontent-type: application/json\r\n{headers}content-length: {length}\r\n\r\n{body}")
        .into_bytes()
}
