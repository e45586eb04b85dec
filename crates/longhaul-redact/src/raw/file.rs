//! Which fields hold a file in base64, and which of these are text.

/// Returns the media type of a block whose `data` is a file in base64; `None` where it is something else.
pub(super) fn media_type<'a>(
    kind: &str,
    holder: &str,
    string: impl Fn(&str) -> Option<&'a str>,
) -> Option<&'a str> {
    let declared = string("mimeType").or_else(|| string("mime_type"));
    match (kind, holder) {
        ("base64", _) => Some(string("media_type").unwrap_or_default()),
        // As tools of MCP return them.
        ("image" | "audio" | "video" | "blob", _) | (_, "inlineData" | "inline_data") => declared,
        (_, "input_audio") => string("format").map(|_| "audio"),
        _ => None,
    }
}

/// Returns whether files of this type are text.
pub(super) fn is_text(media_type: &str) -> bool {
    let media_type = media_type.to_ascii_lowercase();
    let texts =
        ["text/", "json", "xml", "yaml", "toml", "csv", "javascript", "typescript", "x-sh", "x-www-form"];
    texts.iter().any(|text| media_type.contains(text))
}

/// Returns whether `json` may hold a file in base64, in which a secret does not show.
pub(super) fn may_hold_a_file(json: &str) -> bool {
    let has = |word: &str| memchr::memmem::find(json.as_bytes(), word.as_bytes()).is_some();
    has("base64") || has("inlineData") || has("inline_data")
}

/// Fields whose objects hold a file.
pub(super) const HOLDERS: [&str; 3] = ["inlineData", "inline_data", "input_audio"];
