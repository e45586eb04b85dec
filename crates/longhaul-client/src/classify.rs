//! What a failed answer means, by its status and what it says: not by whose server it is. A server may speak one
//! provider's protocol and report errors in another's shape (llama.cpp does).

use std::time::Duration;

use longhaul_summarize::ClientError;
use longhaul_transcript::{Tokens, Usage};
use longhaul_wire::{Format, usage_from_json};
use serde_json::Value;

/// Returns the error that an answer with a status other than 2xx stands for.
pub(crate) fn classify(status: u16, body: &str, retry_after: Option<Duration>) -> ClientError {
    let said = Said::read(body);
    if is_overflow(status, &said) {
        return said.overflow();
    }
    let reason = said.reason();
    match status {
        300..=399 => ClientError::Redirected { status },
        // Out of credit is no matter of waiting, whatever the status says.
        429 if said.kind == "insufficient_quota" => ClientError::Denied { status, reason },
        429 => ClientError::RateLimited { retry_after, reason },
        401..=403 => ClientError::Denied { status, reason },
        408 | 425 | 500..=599 => ClientError::Unavailable { status, retry_after, reason },
        _ => ClientError::BadRequest { status, reason },
    }
}

/// Returns what an answer, or an event of one, says that it cost.
pub(crate) fn usage(format: Format, answer: &Value) -> Option<Usage> {
    let counts = answer.get("usage").filter(|counts| counts.is_object())?;
    usage_from_json(format, &counts.to_string())
}

/// Returns the error in a body that came with a status of 200, where there is one.
pub(crate) fn error_in(body: &Value) -> Option<ClientError> {
    let error = body.get("error").filter(|error| !error.is_null())?;
    let said = Said::of(error);
    if is_overflow(400, &said) {
        return Some(said.overflow());
    }
    let status = error.get("code").and_then(Value::as_u64).and_then(|code| u16::try_from(code).ok());
    Some(match (status, said.kind.as_str()) {
        (Some(status @ 400..=599), _) => classify(status, &body.to_string(), None),
        (_, "overloaded_error" | "api_error" | "server_error" | "timeout_error") => {
            ClientError::Unavailable { status: 200, retry_after: None, reason: said.reason() }
        }
        (_, "rate_limit_error" | "rate_limit_exceeded") => {
            ClientError::RateLimited { retry_after: None, reason: said.reason() }
        }
        _ => ClientError::InvalidResponse { reason: format!("an error with status 200: {}", said.reason()) },
    })
}

/// Returns the error that a web page in the place of an answer is: a proxy's, or that of an address that is no model server's.
pub(crate) fn web_page(page: &str) -> ClientError {
    let reason = format!("a web page and no answer: {}", title(page).unwrap_or(page).trim());
    ClientError::InvalidResponse { reason: ClientError::excerpt(&reason) }
}

/// Returns whether a request failed because the server does not know `response_format` or this schema.
pub(crate) fn refuses_schema(error: &ClientError) -> bool {
    let ClientError::BadRequest { status: 400 | 415 | 422, reason } = error else { return false };
    let reason = reason.to_lowercase();
    ["response_format", "json_schema", "schema", "structured output", "grammar"]
        .iter()
        .any(|word| reason.contains(word))
}

/// Returns whether a request failed because the server does not take a setting by this name.
pub(crate) fn refuses_setting(error: &ClientError, name: &str) -> bool {
    let ClientError::BadRequest { status: 400 | 422, reason } = error else { return false };
    reason.to_lowercase().contains(name)
}

/// What a server said about an error.
#[derive(Debug, Default)]
struct Said {
    /// The error's type or code.
    kind: String,
    message: String,
    limit: Option<Tokens>,
}

impl Said {
    fn read(body: &str) -> Said {
        match serde_json::from_str::<Value>(body) {
            Ok(value) => Said::of(value.get("error").unwrap_or(&value)),
            // A proxy's page: its title says most.
            Err(_) => Said { message: title(body).unwrap_or(body).to_owned(), ..Said::default() },
        }
    }

    fn of(error: &Value) -> Said {
        if let Value::String(message) = error {
            return Said { message: message.clone(), ..Said::default() };
        }
        let text = |key: &str| error.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let kind = [text("code"), text("type")].into_iter().find(|kind| !kind.is_empty()).unwrap_or_default();
        let message = [text("message"), text("detail")].into_iter().find(|message| !message.is_empty());
        Said {
            kind,
            message: message.unwrap_or_default(),
            limit: error.get("n_ctx").and_then(Value::as_u64).map(Tokens),
        }
    }

    /// Returns what it means of a prompt that was too large.
    fn overflow(&self) -> ClientError {
        let limit = self.limit.or_else(|| limit_in(&self.message));
        ClientError::ContextOverflow { limit, reason: self.reason() }
    }

    fn reason(&self) -> String {
        let reason = match (self.kind.is_empty(), self.message.is_empty()) {
            (true, true) => return "no reason given".to_owned(),
            (false, true) => self.kind.clone(),
            (true, false) => self.message.clone(),
            (false, false) => format!("{}: {}", self.kind, self.message),
        };
        ClientError::excerpt(&reason)
    }
}

/// Returns whether the prompt was too large. The spellings are OpenAI's (`context_length_exceeded`, "maximum context
/// length"), llama.cpp's (`exceed_context_size_error`), Anthropic's ("prompt is too long", `request_too_large`), vLLM's,
/// Ollama's and Gemini's.
fn is_overflow(status: u16, said: &Said) -> bool {
    let message = said.message.to_lowercase();
    status == 413
        || OVERFLOW_KINDS.contains(&said.kind.as_str())
        || (matches!(status, 400 | 422 | 500) && OVERFLOW_WORDS.iter().any(|words| message.contains(words)))
}

const OVERFLOW_KINDS: [&str; 5] = [
    "context_length_exceeded",
    "exceed_context_size_error",
    "request_too_large",
    "string_above_max_length",
    "context_window_exceeded",
];
const OVERFLOW_WORDS: [&str; 9] = [
    "maximum context length",
    "prompt is too long",
    "exceeds the available context size",
    "exceed context limit",
    "exceeds the context window",
    "input is too long",
    "input token count",
    "too many tokens",
    "reduce the length of the",
];

/// Returns the most tokens that a refusal names, by what stands before the number or behind it. A number that is none of these
/// may be what was asked for.
fn limit_in(message: &str) -> Option<Tokens> {
    /// Those of OpenAI, vLLM and OpenRouter, of llama.cpp, of Gemini, and of Anthropic where the answer has its share.
    const BEFORE: [&str; 7] = [
        "context length is ",
        "context length of ",
        "context size (",
        "context window of ",
        "maximum number of tokens allowed (",
        ", maximum ",
        " > ",
    ];
    /// Those of Anthropic and of Mistral.
    const BEHIND: [&str; 2] = [" maximum", " tokens maximum"];
    let message = message.to_lowercase();
    let number = |text: &str| {
        let end = text.find(|c: char| !c.is_ascii_digit() && c != ',').unwrap_or(text.len());
        let number = text[..end].trim_end_matches(',').replace(',', "").parse::<u64>().ok()?;
        // `128k`
        match text[end..].chars().next() {
            Some('k') => number.checked_mul(1_000),
            Some('m') => number.checked_mul(1_000_000),
            Some(c) if c.is_alphanumeric() => None,
            // `1.5m`
            Some('.') if text[end + 1..].starts_with(|c: char| c.is_ascii_digit()) => None,
            _ => Some(number),
        }
    };
    let named = |words: &str| number(message.split_once(words)?.1);
    let told = |words: &str| {
        // `50000, maximum 32768`: the number behind is meant, see above.
        let (before, _) = message.split_once(words).filter(|(before, _)| !before.ends_with(','))?;
        number(&before[before.rfind(|c: char| !c.is_ascii_digit() && c != ',').map_or(0, |at| at + 1)..])
    };
    BEHIND
        .iter()
        .find_map(|words| told(words))
        .or_else(|| BEFORE.iter().find_map(|words| named(words)))
        .map(Tokens)
}

fn title(page: &str) -> Option<&str> {
    let (_, rest) = page.split_once("<title>")?;
    rest.split_once("</title>").map(|(title, _)| title)
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn a_refusal_that_names_the_window_is_understood() {
        for (message, limit) in [
            (
                "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.",
                Some(8_192),
            ),
            (
                "'max_tokens' is too large: 2048. This model's maximum context length is 4096 tokens and your request has 3000 input tokens (2048 > 4096 - 3000).",
                Some(4_096),
            ),
            ("the request exceeds the available context size (2,048 tokens), try increasing it", Some(2_048)),
            ("prompt is too long: 208310 tokens > 200000 maximum", Some(200_000)),
            (
                "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length",
                Some(200_000),
            ),
            (
                "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
                Some(1_048_576),
            ),
            (
                "Prompt contains 40000 tokens, too large for model with 32768 maximum context length",
                Some(32_768),
            ),
            ("the prompt exceeds the context window of 128k tokens", Some(128_000)),
            ("too many tokens: 50000, maximum 32768", Some(32_768)),
            ("the prompt exceeds the context window of 1.5m tokens", None),
            ("Input is too long for requested model.", None),
            ("too many tokens: 9000", None),
            ("maximum context length is é", None),
        ] {
            assert_eq!(limit_in(message), limit.map(Tokens), "{message}");
        }
    }

    #[test]
    fn statuses_and_bodies() {
        let cases = [
            (
                400,
                r#"{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error","n_prompt_tokens":9000,"n_ctx":8192}}"#,
            ),
            (
                400,
                r#"{"error":{"message":"This model's maximum context length is 8192 tokens","type":"invalid_request_error","code":"context_length_exceeded"}}"#,
            ),
            (
                400,
                r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}"#,
            ),
            (413, "<html><title>413 Request Entity Too Large</title></html>"),
            (400, r#"{"error":{"message":"unknown model","type":"invalid_request_error"}}"#),
            (401, r#"{"error":{"message":"Invalid API Key","type":"authentication_error","code":401}}"#),
            (402, "{}"),
            (404, "not found"),
            (429, r#"{"error":{"type":"rate_limit_error","message":"slow down"}}"#),
            (429, r#"{"error":{"code":"insufficient_quota","message":"no credit"}}"#),
            (
                500,
                r#"{"error":{"code":500,"message":"[json.exception] key 'messages' not found","type":"server_error"}}"#,
            ),
            (502, "<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>"),
            (529, r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#),
            (302, ""),
        ];
        let table: String = cases
            .iter()
            .map(|(status, body)| format!("{status}: {}\n", classify(*status, body, None)))
            .collect();
        expect![[r#"
            400: the prompt is too large for the model: exceed_context_size_error: the request exceeds the available context size
            400: the prompt is too large for the model: context_length_exceeded: This model's maximum context length is 8192 tokens
            400: the prompt is too large for the model: invalid_request_error: prompt is too long: 210000 tokens > 200000 maximum
            413: the prompt is too large for the model: 413 Request Entity Too Large
            400: the provider does not take the request (status 400): invalid_request_error: unknown model
            401: the provider refuses the key (status 401): authentication_error: Invalid API Key
            402: the account has no credit left (status 402): no reason given
            404: the provider does not take the request (status 404): not found
            429: the provider limits the rate (status 429): rate_limit_error: slow down
            429: the account has no credit left (status 429): insufficient_quota: no credit
            500: the provider is in trouble (status 500): server_error: [json.exception] key 'messages' not found
            502: the provider is in trouble (status 502): 502 Bad Gateway
            529: the provider is in trouble (status 529): overloaded_error: Overloaded
            302: the server redirects (status 302), which is not followed
        "#]].assert_eq(&table);
    }

    #[test]
    fn errors_that_come_with_status_200() {
        let of = |body: &str| error_in(&serde_json::from_str(body).unwrap());
        assert_eq!(of(r#"{"choices": []}"#), None);
        assert!(
            of(r#"{"type":"error","error":{"type":"overloaded_error","message":"x"}}"#)
                .unwrap()
                .is_retryable()
        );
        assert!(of(r#"{"error":{"code":503,"message":"x"}}"#).unwrap().is_retryable());
        assert!(!of(r#"{"error":"no"}"#).unwrap().is_retryable());
    }

    #[test]
    fn a_refused_schema_is_told_from_other_bad_requests() {
        let error = |message: &str| classify(400, &format!(r#"{{"error":{{"message":"{message}"}}}}"#), None);
        assert!(refuses_schema(&error("'response_format' of type json_schema is not supported")));
        assert!(!refuses_schema(&error("unknown model")));
        assert!(refuses_setting(&error("unsupported parameter: 'temperature'"), "temperature"));
    }
}
