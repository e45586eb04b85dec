//! One exchange over HTTP: bounded in time and size, no redirects, nothing secret in an error.

use std::{
    error::Error as _,
    time::{Duration, SystemTime},
};

use longhaul_summarize::ClientError;
use reqwest::{
    Client, ClientBuilder, RequestBuilder, Response,
    header::{HeaderMap, RETRY_AFTER},
    redirect,
};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;

use crate::{
    classify::{classify, error_in},
    endpoint::{Endpoint, SetupError},
    retry_after::retry_after,
};

/// An HTTP client for one endpoint.
#[derive(Clone, Debug)]
pub(crate) struct Http {
    client: Client,
    total_timeout: Duration,
    max_body_bytes: usize,
    key: Option<SecretString>,
}

/// How long a connection is kept for the next request. Servers keep theirs for a minute or more (nginx 75 s, OpenAI and
/// llama.cpp longer).
const IDLE_CONNECTION: Duration = Duration::from_secs(30);

impl Http {
    /// Returns a client that sends `headers` with each request. Headers with keys must be marked sensitive.
    pub(crate) fn new(endpoint: &Endpoint, headers: HeaderMap) -> Result<Http, SetupError> {
        // A connection that was idle may be dead, and one call a compaction gains nothing by it.
        Http::build(endpoint, headers, |builder| {
            builder.timeout(endpoint.total_timeout).pool_max_idle_per_host(0)
        })
    }

    /// Returns a client for answers that come bit by bit: the endpoint's limit holds for the wait between two bits, since
    /// an answer may take as long as it has something to say.
    pub(crate) fn streaming(endpoint: &Endpoint, headers: HeaderMap) -> Result<Http, SetupError> {
        // A conversation asks again and again: one connection is kept, and dropped before servers usually drop it.
        Http::build(endpoint, headers, |builder| {
            let builder = builder.read_timeout(endpoint.total_timeout);
            builder.pool_max_idle_per_host(1).pool_idle_timeout(IDLE_CONNECTION)
        })
    }

    fn build(
        endpoint: &Endpoint,
        headers: HeaderMap,
        limit: impl FnOnce(ClientBuilder) -> ClientBuilder,
    ) -> Result<Http, SetupError> {
        // The first provider in a process stays; one that the program chose before is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut builder = limit(Client::builder());
        if endpoint.is_local() {
            // A proxy from the environment has no business with a server on this machine.
            builder = builder.no_proxy();
        }
        let client = builder
            .connect_timeout(endpoint.connect_timeout)
            .redirect(redirect::Policy::none())
            .default_headers(headers)
            .user_agent(concat!("longhaul/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(SetupError::Http)?;
        Ok(Http {
            client,
            total_timeout: endpoint.total_timeout,
            max_body_bytes: endpoint.max_body_bytes,
            key: endpoint.key.clone(),
        })
    }

    /// Posts `body` to `address` and returns the JSON that comes back.
    pub(crate) async fn post(&self, address: reqwest::Url, body: &Value) -> Result<Value, ClientError> {
        let bytes = serde_json::to_vec(body)
            .map_err(|error| ClientError::InvalidResponse { reason: error.to_string() })?;
        self.post_bytes(address, bytes).await
    }

    /// Posts a body of JSON as it is spelled and returns the JSON that comes back.
    pub(crate) async fn post_bytes(
        &self,
        address: reqwest::Url,
        bytes: Vec<u8>,
    ) -> Result<Value, ClientError> {
        let response = self.open(address, bytes).await?;
        self.whole(response).await
    }

    /// Returns the JSON at `address`.
    pub(crate) async fn get(&self, address: reqwest::Url) -> Result<Value, ClientError> {
        let response = self.answered(self.client.get(address)).await?;
        self.whole(response).await
    }

    /// Posts a body of JSON and returns the answer as soon as its status says that it is one.
    pub(crate) async fn open(&self, address: reqwest::Url, bytes: Vec<u8>) -> Result<Response, ClientError> {
        self.answered(self.client.post(address).header("content-type", "application/json").body(bytes)).await
    }

    async fn answered(&self, request: RequestBuilder) -> Result<Response, ClientError> {
        let response = request.send().await.map_err(|error| self.failed(&error))?;
        let status = response.status().as_u16();
        let asked = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok());
        let wait = asked.and_then(|value| retry_after(value, SystemTime::now()));
        if (200..300).contains(&status) {
            return Ok(response);
        }
        // The status decides even where the rest of the body never came.
        let body = self.body(response).await.unwrap_or_default();
        Err(classify(status, &self.without_key(&String::from_utf8_lossy(&body)), wait))
    }

    /// Returns the next bytes of an answer; `None` at its end.
    pub(crate) async fn next(&self, response: &mut Response) -> Result<Option<Vec<u8>>, ClientError> {
        let chunk = response.chunk().await.map_err(|error| self.failed(&error))?;
        Ok(chunk.map(|bytes| bytes.to_vec()))
    }

    /// Returns the largest answer that is read, in bytes.
    pub(crate) fn max_body_bytes(&self) -> usize {
        self.max_body_bytes
    }

    /// Returns the JSON that an answer is.
    pub(crate) async fn whole(&self, response: Response) -> Result<Value, ClientError> {
        let body = self.body(response).await?;
        let value: Value = serde_json::from_slice(&body)
            .map_err(|error| ClientError::InvalidResponse { reason: format!("not JSON: {error}") })?;
        match error_in(&value) {
            Some(error) => Err(error),
            None => Ok(value),
        }
    }

    /// Some servers repeat the key that they refuse.
    fn without_key(&self, body: &str) -> String {
        match self.key.as_ref().map(|key| key.expose_secret()).filter(|key| !key.is_empty()) {
            Some(key) => body.replace(key, "…"),
            None => body.to_owned(),
        }
    }

    pub(crate) async fn body(&self, mut response: Response) -> Result<Vec<u8>, ClientError> {
        let too_large = || ClientError::InvalidResponse {
            reason: format!("a body of more than {} bytes", self.max_body_bytes),
        };
        if response.content_length().is_some_and(|length| length > self.max_body_bytes as u64) {
            return Err(too_large());
        }
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| self.failed(&error))? {
            if body.len() + chunk.len() > self.max_body_bytes {
                return Err(too_large());
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body)
    }

    /// Returns what a failed exchange means. The innermost cause says most; the address is left out of it.
    fn failed(&self, error: &reqwest::Error) -> ClientError {
        if error.is_timeout() {
            return ClientError::Timeout { after: self.total_timeout };
        }
        let mut cause = error.source();
        let mut reason = String::new();
        while let Some(inner) = cause {
            reason = inner.to_string();
            cause = inner.source();
        }
        if reason.is_empty() {
            reason = if error.is_connect() { "no connection" } else { "broken off" }.to_owned();
        }
        ClientError::Transport { reason: ClientError::excerpt(&reason) }
    }
}
