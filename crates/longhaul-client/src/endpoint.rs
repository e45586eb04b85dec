//! Where a model is, and how long to wait for it.

use std::{fmt, net::IpAddr, time::Duration};

use longhaul_transcript::first_chars;
use reqwest::{
    Url,
    header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue},
};
use secrecy::{ExposeSecret, SecretString};

/// The version of Anthropic's protocol that these clients were written against.
const ANTHROPIC_VERSION: &str = "2023-06-01";

/// Where a model is, how to prove that one may use it, and how long to wait for it.
#[derive(Clone)]
#[non_exhaustive]
pub struct Endpoint {
    /// The base of the provider's addresses, with `/v1` where its documentation has it.
    pub(crate) base: Url,
    /// The key; local servers need none.
    pub key: Option<SecretString>,
    /// The most that making the connection may take. Default: 10 s.
    pub connect_timeout: Duration,
    /// The most that the whole exchange may take, the answer's last byte included. Default: 120 s.
    pub total_timeout: Duration,
    /// The largest answer that is read. Default: 4 MiB; an answer of 4,096 tokens takes about 16 KiB.
    pub max_body_bytes: usize,
}

/// A client cannot be set up.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SetupError {
    /// The base URL is none, or of a scheme other than `http` and `https`, or carries credentials.
    #[error("{url:?} is no base URL: {reason}")]
    BaseUrl {
        /// What was given; credentials in it are left out.
        url: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The key holds characters that cannot stand in a header.
    #[error("the key holds characters that cannot stand in an HTTP header")]
    Key,
    /// The TLS library cannot be set up.
    #[error("the HTTP client cannot be set up: {0}")]
    Http(#[source] reqwest::Error),
}

impl Endpoint {
    /// Returns the endpoint at `base_url`, such as `https://api.openai.com/v1` or `http://127.0.0.1:8080/v1`.
    ///
    /// # Errors
    /// When `base_url` is not an `http` or `https` URL, or carries a user name, a query or a fragment.
    pub fn new(base_url: &str) -> Result<Endpoint, SetupError> {
        let refuse = |reason: &str| {
            // What stands before an `@` may be a password, and what stands behind a `?` or a `#` a key.
            let shown = base_url.rsplit('@').next().unwrap_or_default();
            let shown = shown.split(['?', '#']).next().unwrap_or_default();
            SetupError::BaseUrl { url: first_chars(shown, 200).to_owned(), reason: reason.to_owned() }
        };
        let base = Url::parse(base_url.trim()).map_err(|error| refuse(&error.to_string()))?;
        if !matches!(base.scheme(), "http" | "https") {
            return Err(refuse("expected http or https"));
        }
        if base.host_str().is_none_or(str::is_empty) {
            return Err(refuse("expected a host"));
        }
        if !base.username().is_empty() || base.password().is_some() {
            return Err(refuse("expected no user name or password; give the key apart"));
        }
        if base.query().is_some() || base.fragment().is_some() {
            return Err(refuse("expected no query and no fragment"));
        }
        Ok(Endpoint {
            base,
            key: None,
            connect_timeout: Duration::from_secs(10),
            total_timeout: Duration::from_secs(120),
            max_body_bytes: 4 << 20,
        })
    }

    /// Returns this endpoint with a key.
    pub fn with_key(mut self, key: impl Into<SecretString>) -> Endpoint {
        self.key = Some(key.into());
        self
    }

    /// Returns this endpoint with other limits on connecting and on the whole exchange.
    pub fn with_timeouts(mut self, connect: Duration, total: Duration) -> Endpoint {
        (self.connect_timeout, self.total_timeout) = (connect, total);
        self
    }

    /// Returns the host, with its port where it is not the scheme's own: where text would be sent.
    pub fn host(&self) -> String {
        let host = self.base.host_str().unwrap_or_default();
        match self.base.port() {
            Some(port) => format!("{host}:{port}"),
            None => host.to_owned(),
        }
    }

    /// Returns whether the host is this machine.
    pub fn is_local(&self) -> bool {
        match self.base.host_str() {
            Some(host) => {
                let host = host.trim_matches(['[', ']']);
                let is_loopback = host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
                is_loopback || host == "localhost" || host.ends_with(".localhost")
            }
            None => false,
        }
    }

    /// Returns the address of `path` below the base.
    pub(crate) fn address(&self, path: &str) -> Url {
        let mut address = self.base.clone();
        address.set_path(&format!("{}/{path}", self.base.path().trim_end_matches('/')));
        address
    }

    /// Returns the address of `path` of Anthropic's protocol: base URLs are about with `/v1` and, as the SDKs take them, without.
    pub(crate) fn versioned(&self, path: &str) -> Url {
        match self.base.path().trim_end_matches('/').ends_with("/v1") {
            true => self.address(path),
            false => self.address(&format!("v1/{path}")),
        }
    }

    /// Returns the headers that servers want that speak OpenAI's protocols.
    pub(crate) fn openai_headers(&self) -> Result<HeaderMap, SetupError> {
        let key = self.key.iter().map(|key| (AUTHORIZATION, format!("Bearer {}", key.expose_secret())));
        key.map(|(name, value)| Ok((name, secret(&value)?))).collect()
    }

    /// Returns the headers that servers want that speak Anthropic's protocol.
    pub(crate) fn anthropic_headers(&self) -> Result<HeaderMap, SetupError> {
        let version = HeaderValue::from_static(ANTHROPIC_VERSION);
        let mut headers = HeaderMap::from_iter([(HeaderName::from_static("anthropic-version"), version)]);
        if let Some(key) = &self.key {
            headers.insert(HeaderName::from_static("x-api-key"), secret(key.expose_secret())?);
        }
        Ok(headers)
    }
}

fn secret(text: &str) -> Result<HeaderValue, SetupError> {
    let mut value = HeaderValue::try_from(text).map_err(|_| SetupError::Key)?;
    value.set_sensitive(true);
    Ok(value)
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint")
            .field("base", &self.base.as_str())
            .field("key", &self.key.as_ref().map(|_| "…"))
            .field("connect_timeout", &self.connect_timeout)
            .field("total_timeout", &self.total_timeout)
            .field("max_body_bytes", &self.max_body_bytes)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_lie_below_the_base() {
        for (base, expected) in [
            ("http://127.0.0.1:8080/v1", "http://127.0.0.1:8080/v1/chat/completions"),
            ("http://127.0.0.1:8080/v1/", "http://127.0.0.1:8080/v1/chat/completions"),
            ("https://a.b", "https://a.b/chat/completions"),
        ] {
            assert_eq!(Endpoint::new(base).unwrap().address("chat/completions").as_str(), expected);
        }
        assert_eq!(Endpoint::new("https://a.b/v1").unwrap().host(), "a.b");
        assert_eq!(Endpoint::new("http://a.b:81/v1").unwrap().host(), "a.b:81");
        for (base, local) in [
            ("http://127.0.0.1:1", true),
            ("http://[::1]:1/v1", true),
            ("http://localhost", true),
            ("http://a.b", false),
        ] {
            assert_eq!(Endpoint::new(base).unwrap().is_local(), local, "{base}");
        }
    }

    #[test]
    fn what_is_no_base_url_is_refused_without_showing_a_password() {
        for odd in [
            "",
            "localhost:8080",
            "ftp://a/b",
            "file:///etc/passwd",
            "http://u:hunter2@a/v1",
            "http://a/v1?key=hunter2",
            "http://a/v1#hunter2",
            "nonsense?key=hunter2",
            "http://",
        ] {
            let error = Endpoint::new(odd).unwrap_err().to_string();
            assert!(error.contains("is no base URL") && !error.contains("hunter2"), "{odd}: {error}");
        }
    }

    #[test]
    fn the_key_is_never_shown() {
        let endpoint = Endpoint::new("http://a/v1").unwrap().with_key("sk-canary-1234".to_owned());
        assert!(!format!("{endpoint:?}").contains("canary"));
    }
}
