//! What a provider signed or encrypted: a changed one is refused.

use serde_json::value::RawValue;

use super::walk::each_field;
use crate::base64;

/// Returns the fields of a block of this type that a provider signed or encrypted.
pub(super) fn seals(kind: &str) -> &'static [&'static str] {
    match kind {
        _ if kind.ends_with("thinking") || kind == "reasoning" || kind.starts_with("reasoning.") => {
            &["signature", "data", "encrypted_content"]
        }
        _ if kind.starts_with("compaction") || kind.starts_with("web_search_result") => {
            &["encrypted_content", "encrypted_index"]
        }
        _ if kind.ends_with("code_execution_result") => &["encrypted_stdout", "encrypted_stderr"],
        // A part of Gemini's, which names no type.
        "" => &["thoughtSignature", "thought_signature"],
        _ => &[],
    }
}

/// Returns whether a block of this type is a part of a UI message of Vercel's AI SDK, or of a message for its models.
pub(super) fn is_ui_part(kind: &str) -> bool {
    matches!(kind, "text" | "reasoning" | "file" | "dynamic-tool") || kind.starts_with("tool-")
}

/// Returns what providers signed or encrypted in the metadata of a UI message's part, each provider in an object of its own.
pub(super) fn seals_of_providers(metadata: &RawValue) -> Vec<&str> {
    let mut seals = Vec::new();
    each_field(metadata, |_, own| {
        each_field(own, |key, sealed| {
            let inside = sealed.get().strip_prefix('"').and_then(|inside| inside.strip_suffix('"'));
            seals.extend(inside.filter(|inside| PROVIDERS_SEALS.contains(&key) && !inside.is_empty()));
        });
    });
    seals
}

/// Sealed in a block of any type, where it is longer than secrets are: next month's types are not known yet.
pub(super) const SEALED_WHERE_LONG: [&str; 4] =
    ["encrypted_content", "encrypted_index", "encrypted_stdout", "encrypted_stderr"];

pub(super) fn is_payload(sealed: &str) -> bool {
    const LONGER_THAN_SECRETS: usize = 200;
    sealed.len() >= LONGER_THAN_SECRETS && sealed.bytes().all(|byte| byte == b'=' || base64::is_digit(byte))
}

/// Where a UI message, or one for a model of the same SDK, has what providers say for themselves.
pub(super) const METADATA: [&str; 4] =
    ["providerMetadata", "callProviderMetadata", "resultProviderMetadata", "providerOptions"];

/// What they sign or encrypt there.
const PROVIDERS_SEALS: [&str; 4] =
    ["signature", "redactedData", "reasoningEncryptedContent", "thoughtSignature"];
