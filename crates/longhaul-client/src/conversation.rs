//! Going on with a conversation that an agent sent before.

use longhaul_summarize::{ClientError, Conversation, Protocol};

/// Returns the body that asks `instruction` behind `conversation`, where its protocol is one of `spoken`.
pub(crate) fn asking(
    conversation: &Conversation,
    spoken: &[Protocol],
    instruction: &str,
) -> Result<String, ClientError> {
    let is_spoken = spoken.contains(&conversation.protocol);
    let body = is_spoken.then(|| conversation.asking(instruction)).flatten();
    body.ok_or_else(|| ClientError::InvalidResponse {
        reason: "the conversation is no request that this client can go on with".to_owned(),
    })
}
