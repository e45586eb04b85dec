//! Claude Code session files: messages of Anthropic's, in lines that hang on each other.

use longhaul_transcript::{ContentHash, Role};

use super::{Blanks, Draft, LaterSystem, Lead, SessionFile, Spec, Tools, Writing};
use crate::{
    Format,
    convert::regroup::{self, Shown},
    detect::{Claim, Head},
    json::{Json, quoted},
    session::{append, claude_code, claude_code_write::uuid_from},
    validate,
};

pub(super) const SPEC: Spec = Spec {
    name: "claude-code",
    aliases: &[],
    provider: Some("anthropic"),
    claims,
    is_lines: true,
    may_lack_ids: false,
    read: claude_code::read,
    segments: |doc| claude_code::segments(doc.as_bytes()),
    validate: Some(validate::session::check_claude_code),
    writing: Some(Writing {
        dialect: &super::ANTHROPIC,
        carries_all: false,
        keeps_reasoning: false,
        lead: Lead::Outside,
        later_system: LaterSystem::Never,
        blanks: Blanks::Stay,
        most_calls: usize::MAX,
        reads_as_one: true,
        regroup: |messages, losses| {
            let messages = regroup::paired_and_named(messages, losses);
            let messages = regroup::shown_by_the_user(messages, Shown::Answers, losses);
            regroup::merge_roles(messages, |role| match role {
                Role::System | Role::Developer => Role::User,
                role => role,
            })
        },
        tool: super::anthropic::tool,
        tools: Tools::Nowhere,
        takes_cache_marks: false,
        file: |draft, losses| {
            for at in &draft.outside_at {
                losses.count("system prompt left out: session files of Claude Code hold none", *at);
            }
            file(&draft)
        },
        session: Some(SessionFile {
            resume: "claude --resume",
            append: |doc, compacted, at, _| append::claude_code::lines(doc, compacted, at),
            ids: |line| line.get("sessionId").into_iter().collect(),
        }),
    }),
    written_as: Format::ClaudeCode,
};

fn claims(head: &Head<'_>) -> Option<Claim> {
    let is_line = head.has_any(&["parentUuid", "isSidechain", "leafUuid", "isSnapshotUpdate"])
        || head.has("type") && head.has("sessionId") && !head.has("messages");
    (is_line && !head.is_array()).then_some(Claim::Own)
}

fn file(draft: &Draft) -> String {
    let mut parent = "null".to_owned();
    let mut text = String::new();
    for value in &draft.messages {
        let role = Json::check(value.as_bytes()).ok().and_then(|json| json.get("role")?.string());
        let kind = if role.as_deref() == Some("assistant") { "assistant" } else { "user" };
        let hash = ContentHash::of_fields([parent.as_bytes(), value.as_bytes()]);
        let uuid = uuid_from(&hash);
        text.push_str(&format!(
            "{{\"parentUuid\":{parent},\"isSidechain\":false,\"userType\":\"external\",\"sessionId\":{},\"type\":\"{kind}\",\
             \"message\":{value},\"uuid\":\"{uuid}\",\"timestamp\":\"{}\"}}\n",
            quoted(draft.session.as_str()),
            append::EPOCH
        ));
        parent = quoted(&uuid);
    }
    text
}
