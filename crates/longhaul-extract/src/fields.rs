//! The fields of a call's arguments: which name things and which are text being written.

use std::{borrow::Cow, sync::LazyLock};

use hashbrown::HashSet;

use crate::json::{Json, Leaf, Scalar};

/// One field of a call's arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field<'a> {
    /// The key it stands under, or that of the array it stands in; empty for arguments that are not an object.
    pub key: Cow<'a, str>,
    /// Its text: a string's content, the spelling of anything else.
    pub text: Cow<'a, str>,
    /// What kind of field it is.
    pub place: FieldPlace,
}

/// What kind of field a value stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldPlace {
    /// It names something: a path, a command, a pattern, an id.
    Key,
    /// Text to be written: contents, edits, long scripts.
    Body,
    /// A number that tunes the call: limits, offsets, time-outs. Habits of the caller, not facts.
    Tuning,
}

/// Returns the fields of `arguments`, in order. Text that is not whole JSON is one field.
pub fn call_fields(arguments: &str, is_json: bool) -> Vec<Field<'_>> {
    if is_json {
        if let Some(json) = Json::read(arguments).filter(|json| !json.cut && json.rest == 0) {
            return into_fields(json);
        }
        if let Ok(text) = serde_json::from_str::<String>(arguments) {
            return vec![whole(Cow::Owned(text))];
        }
    }
    vec![whole(Cow::Borrowed(arguments))]
}

/// Returns the fields of arguments that were read already.
pub(crate) fn fields_of<'v>(json: &'v Json<'_>) -> Vec<Field<'v>> {
    let field = |leaf: &'v Leaf<'_>| Field {
        key: Cow::Borrowed(json.name(leaf)),
        text: Cow::Borrowed(leaf.value.as_str()),
        place: place_of(json, leaf),
    };
    json.leaves.iter().map(field).collect()
}

/// Returns arguments that have no fields as one.
pub(crate) fn whole(text: Cow<'_, str>) -> Field<'_> {
    let place = if is_long(&text) { FieldPlace::Body } else { FieldPlace::Key };
    Field { key: Cow::Borrowed(""), text, place }
}

/// Returns whether text under this key is text to be written.
pub(crate) fn is_body_key(key: &str) -> bool {
    static KEYS: LazyLock<HashSet<&str>> =
        LazyLock::new(|| BODY_KEYS.into_iter().chain(OLD_KEYS).chain(NEW_KEYS).collect());
    KEYS.contains(key)
}

fn into_fields<'a>(mut json: Json<'a>) -> Vec<Field<'a>> {
    let leaves = std::mem::take(&mut json.leaves);
    let field = |leaf: Leaf<'a>| {
        let (key, place) = (json.key(&leaf).cloned().unwrap_or_default(), place_of(&json, &leaf));
        Field { key, text: leaf.value.into_text(), place }
    };
    leaves.into_iter().map(field).collect()
}

/// Returns the lines of a patch that name its files.
pub(crate) fn patch_heads(patch: &str) -> impl Iterator<Item = &str> {
    const HEADS: [&str; 5] =
        ["*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: ", "*** Move File: "];
    let lines = patch.contains("*** ").then(|| patch.lines()).into_iter().flatten();
    lines.filter(|line| HEADS.iter().any(|head| line.starts_with(head)))
}

/// Returns whether a field of this name says that its tool works on files or runs commands.
pub(crate) fn is_file_key(key: &str) -> bool {
    matches!(
        key,
        "file_path"
            | "path"
            | "filePath"
            | "file"
            | "filename"
            | "paths"
            | "command"
            | "cmd"
            | "pattern"
            | "glob"
            | "directory"
            | "dir"
            | "cwd"
            | "workdir"
            | "script"
            | "notebook_path"
            | "patch"
            | "relative_path"
            | "target_file"
            | "chars"
    )
}

fn place_of(json: &Json<'_>, leaf: &Leaf<'_>) -> FieldPlace {
    if matches!(leaf.value, Scalar::Literal(_)) && is_tuning(json.name(leaf)) {
        FieldPlace::Tuning
    } else if is_long(leaf.value.as_str()) || json.any_key(leaf, is_body_key) {
        FieldPlace::Body
    } else {
        FieldPlace::Key
    }
}

fn is_long(text: &str) -> bool {
    text.len() > LONG_FIELD && text.chars().nth(LONG_FIELD).is_some()
}

fn is_tuning(key: &str) -> bool {
    let lower = key.to_ascii_lowercase();
    const PARTS: [&str; 9] = ["time", "limit", "offset", "max", "yield", "head", "tail", "depth", "count"];
    let flag = key.len() == 2 && key.starts_with('-') && key.as_bytes()[1].is_ascii_alphabetic();
    PARTS.iter().any(|part| lower.contains(part))
        || lower.contains("page")
        || lower.ends_with("line")
        || lower.ends_with("lines")
        || flag
}

/// Characters from which on a value is text being written, whatever its key.
const LONG_FIELD: usize = 400;

/// Keys whose values are text to be written, beside those of an edit.
const BODY_KEYS: [&str; 8] =
    ["patch", "edits", "code", "patchText", "input", "diff", "message_body", "cell_source"];

/// What an edit takes out.
pub(crate) const OLD_KEYS: [&str; 5] = ["old_string", "oldText", "old_str", "old_text", "oldString"];

/// What an edit puts in, or all of a file that is written.
pub(crate) const NEW_KEYS: [&str; 16] = [
    "new_string", "newText", "new_str", "new_text", "newString", "content", "contents", "file_text", "text",
    "insert_text", "new_source", "new_content", "code_edit", "replace", "file_content", "replacement_text",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_told_apart_by_key_and_length() {
        let fields = call_fields(r#"{"path":"a.rs","limit":20,"edits":[{"old":"x"}],"n":7}"#, true);
        let seen: Vec<_> = fields.iter().map(|field| (&*field.key, &*field.text, field.place)).collect();
        assert_eq!(
            seen,
            [
                ("path", "a.rs", FieldPlace::Key),
                ("limit", "20", FieldPlace::Tuning),
                ("old", "x", FieldPlace::Body),
                ("n", "7", FieldPlace::Key)
            ]
        );
        assert_eq!(call_fields("not json", true)[0].place, FieldPlace::Key);
        assert_eq!(call_fields(&"x".repeat(401), false)[0].place, FieldPlace::Body);
    }

    #[test]
    fn patches_name_their_files() {
        let patch = "*** Begin Patch\n*** Update File: src/a.rs\n@@\n-x\n+y\n*** Add File: b.rs\n+z\n";
        assert_eq!(patch_heads(patch).count(), 2);
    }
}
