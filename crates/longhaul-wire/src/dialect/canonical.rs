//! longhaul's own form: a message of the transcript, as `serde` writes it.

use longhaul_transcript::{Message, Origin, Part};

use super::Said;
use crate::{
    edit::{Home, Leaf},
    error::Fault,
    json::Json,
};

pub(super) fn read(value: Json<'_>) -> Result<Said<'_>, Fault> {
    let message: Message = match serde_json::from_str(value.raw()) {
        Ok(message) => message,
        Err(error) => return Err(Fault::new("", &format!("{error}"), "a message with role and parts")),
    };
    let mut said = Said::new(message.role);
    said.name = message.name;
    message.parts.into_iter().for_each(|part| said.push(part, Home::Whole, Leaf::Fixed));
    Ok(said)
}

pub(super) fn fresh(message: &Message) -> Vec<String> {
    // Every field is a string, a number or a list of such: there is nothing that JSON cannot say.
    serde_json::to_string(&message.clone().with_origin(Origin::Caller)).into_iter().collect()
}

pub(super) fn result_content(content: &[Part]) -> String {
    serde_json::to_string(content).unwrap_or_else(|_| "[]".to_owned())
}
