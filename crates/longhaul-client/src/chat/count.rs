//! The provider's own count of a request, before it is made.

use longhaul_summarize::ClientError;
use longhaul_transcript::Tokens;
use serde_json::{Value, json};

use super::{Chat, ChatRequest, ToolDefinition, anthropic};

impl Chat {
    /// Asks the server how many tokens `request` is by its own counter: its history, its tools, and what frames them.
    /// Nothing is answered and nothing is billed. The history is sent as it is.
    ///
    /// The call is `count_tokens` of Anthropic's Messages, whatever protocol the conversation uses: Anthropic, llama.cpp and
    /// vLLM have it.
    ///
    /// # Errors
    /// When the server cannot be reached, refuses, or does not have the call.
    pub async fn count_tokens(&self, request: &ChatRequest) -> Result<Tokens, ClientError> {
        let mut fields = json!({"model": request.model});
        anthropic::add_tools(&mut fields, request);
        let body = anthropic::with_history(&fields, request)?;
        let response = self.http.open(self.endpoint.versioned("messages/count_tokens"), body).await?;
        let answer = self.http.whole(response).await?;
        let tokens = answer.get("input_tokens").and_then(Value::as_u64);
        tokens
            .map(Tokens)
            .ok_or_else(|| ClientError::InvalidResponse { reason: "no number of input_tokens".to_owned() })
    }
}

impl ToolDefinition {
    /// Reads a definition as Chat Completions, Responses or Messages have it in JSON; `None` where it is no function's.
    pub fn from_json(text: &str) -> Option<ToolDefinition> {
        let value: Value = serde_json::from_str(text).ok()?;
        let function = value.get("function").unwrap_or(&value);
        let text_of = |key: &str| function.get(key).and_then(Value::as_str);
        let parameters = function.get("parameters").or_else(|| function.get("input_schema"))?;
        Some(ToolDefinition {
            name: text_of("name")?.to_owned(),
            description: text_of("description").unwrap_or_default().to_owned(),
            parameters: parameters.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_of_both_protocols_are_read() {
        let expected = ToolDefinition {
            name: "read".into(),
            description: "Reads".into(),
            parameters: json!({"type": "object"}),
        };
        for text in [
            r#"{"type":"function","function":{"name":"read","description":"Reads","parameters":{"type":"object"}}}"#,
            r#"{"type":"function","name":"read","description":"Reads","parameters":{"type":"object"}}"#,
            r#"{"name":"read","description":"Reads","input_schema":{"type":"object"}}"#,
        ] {
            assert_eq!(ToolDefinition::from_json(text).as_ref(), Some(&expected), "{text}");
        }
        for text in ["", "{}", r#"{"type":"web_search_20250305","name":"web_search"}"#] {
            assert_eq!(ToolDefinition::from_json(text), None, "{text}");
        }
    }
}
