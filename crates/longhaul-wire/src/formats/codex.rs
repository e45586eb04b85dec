//! Codex CLI rollouts: items of the Responses API, one a line.

use super::{Blanks, Draft, LaterSystem, Lead, SessionFile, Spec, Tools, Writing};
use crate::{
    Format,
    convert::regroup::{self, Shown},
    detect::{Claim, Head},
    json::quoted,
    session::{append, codex},
    validate,
};

pub(super) const SPEC: Spec = Spec {
    name: "codex",
    aliases: &[],
    provider: Some("openai"),
    claims,
    is_lines: true,
    may_lack_ids: false,
    read: codex::read,
    segments: |doc| codex::segments(doc.as_bytes()),
    validate: Some(validate::session::check_codex),
    writing: Some(Writing {
        dialect: &super::responses::MESSAGE,
        carries_all: false,
        keeps_reasoning: false,
        lead: Lead::Outside,
        later_system: LaterSystem::Anywhere,
        blanks: Blanks::Stay,
        most_calls: usize::MAX,
        reads_as_one: true,
        regroup: |messages, losses| {
            regroup::shown_by_the_user(regroup::paired_and_named(messages, losses), Shown::Answers, losses)
        },
        tool: super::responses::tool,
        tools: Tools::Nowhere,
        takes_cache_marks: false,
        file: |draft, _| file(&draft),
        session: Some(SessionFile {
            resume: "codex resume",
            append: |doc, compacted, at, tokens| append::codex::lines(doc, compacted, at, tokens),
            ids: append::codex::session_ids,
        }),
    }),
    written_as: Format::Codex,
};

fn claims(head: &Head<'_>) -> Option<Claim> {
    // the first line of older files is bare.
    let is_bare = || {
        head.first_line().is_some_and(|first| {
            first.mentions("instructions") && first.mentions("timestamp") && !first.mentions("model")
        })
    };
    let is_line = !head.is_array() && (head.has("payload") && head.has("type") || is_bare());
    is_line.then_some(Claim::Own)
}

fn file(draft: &Draft) -> String {
    let epoch = append::EPOCH;
    let base = match super::responses::joined(&draft.outside) {
        None => String::new(),
        Some(instructions) => format!(",\"base_instructions\":{{\"text\":{instructions}}}"),
    };
    let mut text = format!(
        "{{\"timestamp\":\"{epoch}\",\"type\":\"session_meta\",\"payload\":{{\"id\":{},\"timestamp\":\"{epoch}\",\
         \"originator\":\"longhaul\"{base}}}}}\n",
        quoted(draft.session.as_str())
    );
    for value in &draft.messages {
        let line = format!("{{\"timestamp\":\"{epoch}\",\"type\":\"response_item\",\"payload\":{value}}}\n");
        text.push_str(&line);
    }
    text
}
