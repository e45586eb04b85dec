//! The fields of a call's arguments: which name things and which are text being written.

use serde_json::Value;

/// One field of a call's arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its innermost key; empty for arguments that are not an object.
    pub key: String,
    /// Its value, as text.
    pub text: String,
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

/// Returns the fields of `arguments`, in order. Text that is not JSON, or nests too deep, is one field.
pub fn call_fields(arguments: &str, is_json: bool) -> Vec<Field> {
    let whole =
        || vec![Field { key: String::new(), place: place_of(arguments, false), text: arguments.to_string() }];
    if !is_json {
        return whole();
    }
    let mut fields = Vec::new();
    match serde_json::from_str::<Value>(arguments) {
        // The parser limits the depth, so the recursion is bounded.
        Ok(value @ (Value::Object(_) | Value::Array(_))) => collect(value, "", false, &mut fields),
        Ok(Value::String(text)) => {
            fields.push(Field { key: String::new(), place: place_of(&text, false), text });
        }
        _ => return whole(),
    }
    fields
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

fn collect(value: Value, key: &str, in_body: bool, fields: &mut Vec<Field>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                let in_body = in_body || BODY_KEYS.contains(&key.as_str());
                collect(value, &key, in_body, fields);
            }
        }
        Value::Array(values) => values.into_iter().for_each(|value| collect(value, key, in_body, fields)),
        Value::String(text) => {
            fields.push(Field { key: key.to_string(), place: place_of(&text, in_body), text });
        }
        other => {
            let text = other.to_string();
            let place = if is_tuning(key) { FieldPlace::Tuning } else { place_of(&text, in_body) };
            fields.push(Field { key: key.to_string(), place, text });
        }
    }
}

fn place_of(text: &str, in_body: bool) -> FieldPlace {
    let long = text.len() > LONG_FIELD && text.chars().nth(LONG_FIELD).is_some();
    if in_body || long { FieldPlace::Body } else { FieldPlace::Key }
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

/// Keys whose values are text to be written (`recallbench/atoms.py`, from the recorded agents).
const BODY_KEYS: [&str; 22] = [
    "old_string",
    "new_string",
    "content",
    "new_str",
    "old_str",
    "file_text",
    "patch",
    "edits",
    "code",
    "new_source",
    "oldText",
    "newText",
    "oldString",
    "newString",
    "patchText",
    "input",
    "text",
    "diff",
    "replace",
    "contents",
    "insert_text",
    "message_body",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_told_apart_by_key_and_length() {
        let fields = call_fields(r#"{"path":"a.rs","limit":20,"edits":[{"old":"x"}],"n":7}"#, true);
        let seen: Vec<_> =
            fields.iter().map(|field| (field.key.as_str(), field.text.as_str(), field.place)).collect();
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
