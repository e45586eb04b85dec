//! A message as a snapshot holds it: with its provider's spelling, so that it goes out in the same bytes after a resume.

use std::sync::Arc;

use longhaul_transcript::{Message, Raw};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What a message is, and how it was spelled, which is no part of its content.
#[derive(Serialize, Deserialize)]
struct Spelled<M, R> {
    #[serde(flatten)]
    message: M,
    #[serde(default = "Option::default", skip_serializing_if = "Option::is_none")]
    raw: Option<R>,
}

pub(super) fn serialize<S: Serializer>(message: &Arc<Message>, serializer: S) -> Result<S::Ok, S::Error> {
    Spelled { message: &**message, raw: message.raw.as_deref() }.serialize(serializer)
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Arc<Message>, D::Error> {
    let Spelled { message, raw } = Spelled::<Message, Raw>::deserialize(deserializer)?;
    Ok(Arc::new(Message { raw: raw.map(Arc::new), ..message }))
}
