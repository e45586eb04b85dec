//! VCSum meeting segments, one a line. Import only.

use longhaul_transcript::Message;

use super::Spec;
use crate::{
    Format,
    detect::{Claim, Head},
    import::{self, Import},
    json::{Json, Object},
};

pub(super) const SPEC: Spec = Spec {
    is_lines: true,
    ..Spec::read_only("vcsum", claims, |bytes| import::read_lines(Format::Vcsum, bytes, segment))
};

fn claims(head: &Head<'_>) -> Option<Claim> {
    let is_one = !head.is_array() && (head.has("av_num") || head.has("context") && head.has("speaker"));
    is_one.then_some(Claim::Shape)
}

/// A segment of a meeting a line; its turns are lists of sentences.
fn segment(import: &mut Import, fields: &Object<'_>) {
    let turns = fields.get("context").map(Json::elements).unwrap_or_default();
    let speakers = fields.get("speaker").map(Json::elements).unwrap_or_default();
    for (speaker, turn) in speakers.into_iter().zip(turns) {
        let speaker = speaker.string().unwrap_or_else(|| speaker.raw().to_owned());
        let said: String = turn.elements().into_iter().filter_map(Json::string).collect();
        import.push(Message::user(format!("发言人{speaker}: {said}")));
    }
}
