//! QMSum meetings. Import only.

use longhaul_transcript::Message;

use super::Spec;
use crate::{
    Format,
    detect::{Claim, Head},
    error::Fault,
    import::{self, Import},
    json::Json,
};

pub(super) const SPEC: Spec = Spec {
    aliases: &["qmsum"],
    ..Spec::read_only("meeting", claims, |bytes| {
        import::read_whole(Format::Meeting, bytes, (&["meeting_transcripts"], EXPECTED), turn)
    })
};

const EXPECTED: &str = "a meeting: an object with meeting_transcripts";

fn claims(head: &Head<'_>) -> Option<Claim> {
    let is_one = !head.is_array() && head.has_any(&["meeting_transcripts", "topic_list"]);
    is_one.then_some(Claim::Shape)
}

/// Turns of named speakers.
fn turn(import: &mut Import, element: Json<'_>) -> Result<(), Fault> {
    let turn = element.object();
    let (Some(speaker), Some(content)) = (turn.text("speaker"), turn.text("content")) else {
        return Err(Fault::new("", element.raw(), "a turn with speaker and content"));
    };
    import.push(Message::user(format!("{speaker}: {content}")));
    Ok(())
}
