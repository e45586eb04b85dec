//! longhaul's own form: a message of the transcript, as `serde` writes it.

use longhaul_transcript::{Message, Origin, Part};

use super::{Blanks, Draft, LaterSystem, Lead, Spec, Tools, Writing};
use crate::{
    Format, WireError,
    detect::{Claim, Head},
    dialect::{Dialect, Own, Said, Sources, typed_text},
    edit::{Home, Leaf},
    error::Fault,
    json::{Json, Object, quoted},
    whole::{self, Body},
};

pub(super) const SPEC: Spec = Spec {
    name: "longhaul",
    aliases: &[],
    provider: None,
    claims,
    is_lines: false,
    may_lack_ids: false,
    read: |bytes| whole::read(Format::Longhaul, &BODY, bytes),
    segments: super::one_segment,
    validate: None,
    writing: Some(Writing {
        dialect: &MESSAGE,
        carries_all: true,
        keeps_reasoning: true,
        lead: Lead::Inside,
        later_system: LaterSystem::Anywhere,
        blanks: Blanks::Stay,
        most_calls: usize::MAX,
        reads_as_one: true,
        regroup: |messages, _| messages,
        tool: super::openai::tool,
        tools: Tools::AsTheyCame,
        takes_cache_marks: false,
        file: |draft, _| file(&draft),
        session: None,
    }),
    written_as: Format::Longhaul,
};

const BODY: Body = Body {
    lists: &["messages"],
    expected: "an object with messages",
    outside: &[],
    dialect: &MESSAGE,
    takes_lines: false,
    text: None,
    session: &["session"],
    check: version,
};

static MESSAGE: Dialect = Dialect {
    format: Format::Longhaul,
    read,
    fresh,
    result_content,
    // It holds nothing that we would not write.
    text_element: typed_text,
    is_patched: false,
    content_key: None,
    unsign: |_, _, _| {},
    settle: |_, _, _, _| {},
    with_steps: |message, _| message.to_owned(),
    is_of_items: false,
    marks_failure: true,
    has_custom_calls: true,
    has_detail: false,
    has_file_names: false,
    says_reasoning: true,
    is_led_by_reasoning: false,
    takes_id: |_| true,
    takes_name: |_| true,
    spelling: None,
    answer: |_| Ok(None),
    usage: None,
    reaches: |_| true,
    own: Own { fields: &[], blocks: &[] },
    lacks: |_| false,
    expected: None,
    outside: None,
};

/// The version of the form that this code writes.
const VERSION: u64 = 1;

fn claims(head: &Head<'_>) -> Option<Claim> {
    (head.has("format") && head.has_value("format", "longhaul")).then_some(Claim::Own)
}

/// Refuses a history from the future.
fn version(fields: &Object<'_>) -> Result<(), WireError> {
    match fields.get("version").and_then(Json::as_u64) {
        Some(found) if found > VERSION => Err(WireError::NewerVersion { found, expected: VERSION }),
        _ => Ok(()),
    }
}

fn file(draft: &Draft) -> String {
    let named = draft.is_named.then(|| format!("\"session\":{}", quoted(draft.session.as_str())));
    let head = [Some(format!("\"format\":\"longhaul\",\"version\":{VERSION}")), named];
    let fields: Vec<_> =
        head.into_iter().chain([draft.model_field(), draft.tools_field()]).flatten().collect();
    let media: Vec<_> = draft.media.iter().map(|(hash, url)| format!("\"{hash}\":{}", quoted(url))).collect();
    format!(
        "{{{},\"messages\":[{}],\"media\":{{{}}}}}",
        fields.join(","),
        draft.messages.join(","),
        media.join(",")
    )
}

fn read(value: Json<'_>) -> Result<Said<'_>, Fault> {
    let message: Message = match serde_json::from_str(value.raw()) {
        Ok(message) => message,
        Err(error) => return Err(Fault::new("", &format!("{error}"), "a message with role and parts")),
    };
    let mut said = Said::new(message.role);
    said.name = message.name;
    message.parts.into_iter().for_each(|part| said.push(part, Home::Whole, Leaf::Fixed));
    Ok(said)
}

fn fresh(message: &Message, _: &Sources<'_>) -> Vec<String> {
    // Every field is a string, a number or a list of such: there is nothing that JSON cannot say.
    serde_json::to_string(&message.clone().with_origin(Origin::Caller)).into_iter().collect()
}

fn result_content(content: &[Part], _: &Sources<'_>) -> String {
    serde_json::to_string(content).unwrap_or_else(|_| "[]".to_owned())
}
