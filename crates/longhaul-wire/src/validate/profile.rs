//! What differs from model to model and from server to server.

/// What differs from model to model and from server to server. The default knows nothing and is lenient.
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
    /// The client sends item ids, so that a call and its reasoning must stay together. Default: yes.
    pub sends_item_ids: bool,
    /// The server stores no items, so that ids of reasoning mean nothing to it without encrypted content.
    /// Default: no.
    pub is_stateless: bool,
    /// Largest image, in characters of base64. Default: 5 MiB, from Anthropic's documentation.
    pub max_image_chars: usize,
    /// Most images and documents in one request. Default: 100, from Anthropic's documentation.
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
    /// Thinking is on and bound to the exact prefix: after any edit, nothing signed may stand.
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
