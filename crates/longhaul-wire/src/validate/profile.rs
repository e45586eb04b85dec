//! What differs from model to model and from server to server.

/// What differs from model to model and from server to server. The default knows nothing and is lenient;
/// [`of_model`](Profile::of_model) knows what a model's name tells. The rest is for who knows the server: fields may come with any
/// version, so one is set in a default that is there already.
///
/// ```
/// use longhaul_wire::{Profile, Thinking};
///
/// let mut profile = Profile::default();
/// profile.thinking = Thinking::On;
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Profile {
    /// Whether the model thinks, and whether its thinking is bound to what stands before it. Default: unknown.
    pub thinking: Thinking,
    /// What call ids may look like, beyond what the format says. Default: nothing more.
    pub id_pattern: IdPattern,
    /// An assistant message with tool calls must carry its `reasoning_content` (OD-1: DeepSeek). Default: no.
    pub needs_reasoning_content: bool,
    /// A result stands directly behind its call (R-03: clones of the Responses API). Default: no.
    pub keeps_adjacent: bool,
    /// User and assistant alternate strictly and one system message leads (OD-6: chat templates of local servers).
    /// Default: no.
    pub alternates: bool,
    /// The first function call of each step carries a signature (G-06: Gemini 3 and later). Default: no.
    pub needs_thought_signature: bool,
    /// The client sends item ids, so that a call and its reasoning must stay together (R-05). Default: yes.
    pub sends_item_ids: bool,
    /// The server stores no items, so that ids of reasoning mean nothing to it without encrypted content (R-08).
    /// Default: no.
    pub is_stateless: bool,
    /// Largest image, in characters of base64 (A-17). Default: 5 MiB, from Anthropic's documentation.
    pub max_image_chars: usize,
    /// Most images and documents in one request (A-17). Default: 100, from Anthropic's documentation.
    pub max_media: usize,
    /// Longest string, in characters (O-06). Default: 10,485,760, from OpenAI's error message.
    pub max_string_chars: usize,
}

/// Whether a model thinks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Thinking {
    /// Not known: neither having nor lacking thinking is a fault.
    #[default]
    Unknown,
    /// Thinking is off.
    Off,
    /// Thinking is on; that of earlier turns may be left out.
    On,
    /// Thinking is on and bound to the exact prefix (A-25): after any edit, nothing signed may stand.
    Preserved {
        /// The number of messages at the start that stand as the model saw them.
        unedited: usize,
    },
}

/// What call ids may look like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum IdPattern {
    /// As the format says.
    #[default]
    Any,
    /// Exactly nine letters and digits (OD-5: Mistral).
    Nine,
}

impl Default for Profile {
    fn default() -> Profile {
        Profile {
            thinking: Thinking::Unknown,
            id_pattern: IdPattern::Any,
            needs_reasoning_content: false,
            keeps_adjacent: false,
            alternates: false,
            needs_thought_signature: false,
            sends_item_ids: true,
            is_stateless: false,
            max_image_chars: 5 * 1024 * 1024,
            max_media: 100,
            max_string_chars: 10_485_760,
        }
    }
}

impl Profile {
    /// Returns what the name of a model tells: Mistral's ids of calls (OD-5), what DeepSeek's reasoner wants back (OD-1), the
    /// signatures of Gemini 3 and later (G-06).
    pub fn of_model(model: &str) -> Profile {
        let name = model.rsplit('/').next().unwrap_or(model).to_lowercase();
        let is_mistral = MISTRAL.iter().any(|family| name.starts_with(family));
        let generation =
            name.strip_prefix("gemini-").map(|rest| rest.split(['.', '-']).next().unwrap_or(rest));
        Profile {
            id_pattern: if is_mistral { IdPattern::Nine } else { IdPattern::Any },
            needs_reasoning_content: name.starts_with("deepseek-reasoner"),
            needs_thought_signature: generation.and_then(|n| n.parse().ok()).is_some_and(|n: u32| n >= 3),
            ..Profile::default()
        }
    }
}

/// How the names of Mistral's models begin.
const MISTRAL: [&str; 6] = ["mistral", "ministral", "magistral", "codestral", "devstral", "pixtral"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_models_name_tells_what_its_server_wants() {
        let told = |model| {
            let profile = Profile::of_model(model);
            (
                profile.id_pattern == IdPattern::Nine,
                profile.needs_reasoning_content,
                profile.needs_thought_signature,
            )
        };
        assert_eq!(told("mistralai/Devstral-small-2507"), (true, false, false));
        assert_eq!(told("deepseek-reasoner"), (false, true, false));
        assert_eq!(told("deepseek-chat"), (false, false, false));
        assert_eq!(told("google/gemini-3-pro-preview"), (false, false, true));
        assert_eq!(told("gemini-2.5-flash"), (false, false, false));
        assert_eq!(Profile::of_model("gpt-4o"), Profile::default());
    }
}
