//! What Claude Code appends when it compacts: a boundary, the summary, and behind it what stays.

use std::collections::HashMap;

use longhaul_transcript::ContentHash;

use crate::{
    Document,
    document::Layout,
    edit::{Edits, set_field},
    json::{Json, Object, quoted},
    session::{
        claude_code::{Kind, Line},
        claude_code_write::uuid_from,
    },
};

/// Returns the lines that `compacted` has from its boundary on, each with an id of its own and hanging on the one before it
/// that is here too. Lines that are no part of the chain (snapshots of files, progress) stay where they were.
pub(crate) fn lines(doc: &Document, compacted: &Document, at: &str) -> Vec<String> {
    let Layout::ClaudeCode(lines) = &compacted.layout else { return Vec::new() };
    let mut renamed = Renamed { at, ids: HashMap::new() };
    let mut appended = Vec::new();
    for line in lines {
        let text = compacted.raw(&line.range).trim_start_matches('\u{feff}');
        let Ok(json) = Json::check(text.as_bytes()) else { continue };
        let fields = json.object();
        let parent = fields.text("parentUuid").and_then(|parent| renamed.id(&parent));
        let Some(uuid) = line.uuid.as_deref() else { continue };
        if !belongs(line, &fields) {
            // Who hangs on it hangs on what it hangs on.
            renamed.ids.insert(uuid.to_owned(), parent);
            continue;
        }
        let mut edits = Edits::default();
        set_field(
            text,
            json,
            "parentUuid",
            &parent.map_or("null".to_owned(), |parent| quoted(&parent)),
            &mut edits,
        );
        set_field(text, json, "uuid", &quoted(&renamed.new_id(uuid)), &mut edits);
        set_field(text, json, "timestamp", &quoted(at), &mut edits);
        if line.kind == Kind::Boundary {
            set_field(text, json, "logicalParentUuid", &last_said(doc), &mut edits);
        }
        if let Some(message) = fields.get("message") {
            // A reader that joins the lines of one message by its id must not find those of the past.
            if let Some(id) = message.get("id").and_then(Json::string) {
                set_field(text, message, "id", &quoted(&renamed.message_id(&id)), &mut edits);
            }
        }
        appended.push(edits.apply(text));
    }
    appended
}

/// Returns whether a line is part of the chain: what was said, what was put beside it, and the boundary itself.
fn belongs(line: &Line, fields: &Object<'_>) -> bool {
    match line.kind {
        Kind::Message => line.live.is_some(),
        Kind::Boundary => true,
        Kind::Sidechain | Kind::Again => false,
        Kind::Other => fields.text("type").as_deref() == Some("attachment"),
    }
}

/// Returns the last message before the compaction, as the agent's own boundaries name it.
fn last_said(doc: &Document) -> String {
    let Layout::ClaudeCode(lines) = &doc.layout else { return "null".to_owned() };
    let last = lines.iter().rev().find(|line| line.kind == Kind::Message);
    last.and_then(|line| line.uuid.as_deref()).map_or("null".to_owned(), quoted)
}

/// New ids for old ones, made from the old one and the time: the same every time.
struct Renamed<'a> {
    at: &'a str,
    ids: HashMap<String, Option<String>>,
}

impl Renamed<'_> {
    fn id(&self, old: &str) -> Option<String> {
        self.ids.get(old).cloned().flatten()
    }

    fn new_id(&mut self, old: &str) -> String {
        let hash = ContentHash::of_fields([b"appended line".as_slice(), self.at.as_bytes(), old.as_bytes()]);
        let new = uuid_from(&hash);
        self.ids.insert(old.to_owned(), Some(new.clone()));
        new
    }

    fn message_id(&self, old: &str) -> String {
        let hash =
            ContentHash::of_fields([b"appended message".as_slice(), self.at.as_bytes(), old.as_bytes()]);
        format!("msg_{}", hash.short(24))
    }
}
