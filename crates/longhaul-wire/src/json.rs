//! Views into JSON text that keep every byte: no tree is built, nothing is decoded before it is asked for.
//!
//! `serde_json` checks the grammar once (it scans without recursion); after that a value is a slice of the text, and
//! its children are slices of that slice. So numbers keep their spelling, duplicate keys stay, and a lone surrogate
//! escape is no error.

use std::{borrow::Cow, ops::Range};

use longhaul_transcript::{json_escape, unescaped};
use serde_json::value::RawValue;

/// One JSON value inside checked text, without the blanks around it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Json<'a>(&'a str);

/// The fields of an object, in order, duplicates included.
#[derive(Clone, Debug)]
pub(crate) struct Object<'a> {
    whole: Json<'a>,
    fields: Vec<(Json<'a>, Json<'a>)>,
}

/// Why some bytes are not JSON that we read.
#[derive(Debug)]
pub(crate) struct Flaw {
    /// Byte offset from the start of what was checked.
    pub(crate) byte: usize,
    /// What is wrong there.
    pub(crate) what: String,
    /// The text ended too early: more of it could have made it right.
    pub(crate) is_cut: bool,
}

/// How deep values may nest. The same bound as `serde_json` sets for its own trees.
pub(crate) const MAX_DEPTH: usize = 128;

impl<'a> Json<'a> {
    /// Checks that `bytes` are one JSON value and returns it.
    pub(crate) fn check(bytes: &'a [u8]) -> Result<Json<'a>, Flaw> {
        let text = std::str::from_utf8(bytes).map_err(|error| Flaw {
            byte: error.valid_up_to(),
            what: "a byte that is not UTF-8".to_owned(),
            is_cut: error.error_len().is_none(),
        })?;
        if let Err(error) = serde_json::from_str::<&RawValue>(text) {
            return Err(Flaw {
                byte: if error.is_eof() { text.len() } else { offset_of(text, error.line(), error.column()) },
                what: plain_message(&error),
                is_cut: error.is_eof(),
            });
        }
        let json = Json(text.trim_matches([' ', '\t', '\r', '\n']));
        match json.too_deep_at() {
            Some(at) => Err(Flaw {
                byte: offset_in(text, json.0) + at,
                what: format!("values nested more than {MAX_DEPTH} deep"),
                is_cut: false,
            }),
            None => Ok(json),
        }
    }

    /// Returns the text of the value.
    pub(crate) fn raw(self) -> &'a str {
        self.0
    }

    /// Returns the value as a provider reads it, however it was spelled: without blanks between its parts, and with every character
    /// itself that needs no escape.
    pub(crate) fn compact(self) -> Cow<'a, str> {
        let (text, bytes) = (self.0, self.0.as_bytes());
        let (mut out, mut copied, mut at) = (String::new(), 0, 0);
        while let Some(byte) = bytes.get(at) {
            match byte {
                b'"' => {
                    let end = string_end(bytes, at);
                    while let Some(escape) = text[at..end].find('\\').map(|before| at + before) {
                        let plain = json_escape(&text[escape..end]).filter(|(c, _)| {
                            // Half of a pair is no character: it stays as it is.
                            let is_half = *c == char::REPLACEMENT_CHARACTER
                                && !text[escape..]
                                    .get(..6)
                                    .is_some_and(|spelled| spelled.eq_ignore_ascii_case(r"\ufffd"));
                            needs_no_escape(*c) && !is_half
                        });
                        let length = plain.map_or(ESCAPED, |(_, length)| length);
                        if let Some((c, _)) = plain {
                            out.push_str(&text[copied..escape]);
                            out.push(c);
                            copied = escape + length;
                        }
                        at = escape + length;
                    }
                    at = end;
                }
                b' ' | b'\t' | b'\r' | b'\n' => {
                    out.push_str(&text[copied..at]);
                    at += 1;
                    copied = at;
                }
                _ => at += 1,
            }
        }
        match copied {
            0 => Cow::Borrowed(text),
            _ => Cow::Owned(out + &text[copied..]),
        }
    }

    /// Returns where this value stands in `text`, of which it must be a part.
    pub(crate) fn range_in(self, text: impl AsRef<[u8]>) -> Range<usize> {
        let start = offset_in(text, self.0);
        start..start + self.0.len()
    }

    pub(crate) fn is_object(self) -> bool {
        self.0.starts_with('{')
    }

    pub(crate) fn is_array(self) -> bool {
        self.0.starts_with('[')
    }

    pub(crate) fn is_string(self) -> bool {
        self.0.starts_with('"')
    }

    pub(crate) fn is_null(self) -> bool {
        self.0 == "null"
    }

    pub(crate) fn is_true(self) -> bool {
        self.0 == "true"
    }

    /// Returns the text of a string, decoded; what is no character (a lone surrogate) becomes U+FFFD.
    pub(crate) fn text(self) -> Option<Cow<'a, str>> {
        let inner = self.0.strip_prefix('"')?.strip_suffix('"')?;
        Some(unescaped(inner))
    }

    /// Returns the text of a string, owned.
    pub(crate) fn string(self) -> Option<String> {
        self.text().map(Cow::into_owned)
    }

    /// Returns a number that is a whole one and not negative.
    pub(crate) fn as_u64(self) -> Option<u64> {
        self.0.parse().ok()
    }

    /// Returns the elements of an array; none of anything else.
    pub(crate) fn elements(self) -> Vec<Json<'a>> {
        let mut found = Vec::new();
        if !self.is_array() {
            return found;
        }
        let mut at = self.blanks(1);
        while at < self.0.len() && self.0.as_bytes()[at] != b']' {
            let end = self.value_end(at);
            found.push(Json(&self.0[at..end]));
            at = self.blanks(end);
            if self.0.as_bytes().get(at) == Some(&b',') {
                at = self.blanks(at + 1);
            }
        }
        found
    }

    /// Returns the fields of an object; none of anything else.
    pub(crate) fn object(self) -> Object<'a> {
        let mut fields = Vec::new();
        if !self.is_object() {
            return Object { whole: self, fields };
        }
        let mut at = self.blanks(1);
        while at < self.0.len() && self.0.as_bytes()[at] != b'}' {
            let key_end = self.value_end(at);
            let start = self.blanks(self.blanks(key_end) + 1);
            let end = self.value_end(start);
            fields.push((Json(&self.0[at..key_end]), Json(&self.0[start..end])));
            at = self.blanks(end);
            if self.0.as_bytes().get(at) == Some(&b',') {
                at = self.blanks(at + 1);
            }
        }
        Object { whole: self, fields }
    }

    /// Returns one field of an object. Where several are asked for, [`Json::object`] scans but once.
    pub(crate) fn get(self, key: &str) -> Option<Json<'a>> {
        self.object().get(key)
    }

    fn blanks(self, mut at: usize) -> usize {
        while matches!(self.0.as_bytes().get(at), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            at += 1;
        }
        at
    }

    /// Returns one past the value that begins at `start`. The grammar was checked, so brackets need no matching by kind.
    fn value_end(self, start: usize) -> usize {
        let bytes = self.0.as_bytes();
        let (mut at, mut depth) = (start, 0usize);
        while let Some(byte) = bytes.get(at) {
            match byte {
                b'"' => at = string_end(bytes, at),
                b'{' | b'[' => {
                    depth += 1;
                    at += 1;
                }
                b'}' | b']' => {
                    if depth == 0 {
                        return at;
                    }
                    depth -= 1;
                    at += 1;
                }
                b',' | b':' | b' ' | b'\t' | b'\r' | b'\n' if depth == 0 => return at,
                _ => at += 1,
            }
            if depth == 0 && matches!(byte, b'"' | b'}' | b']') {
                return at;
            }
        }
        at
    }

    fn too_deep_at(self) -> Option<usize> {
        let bytes = self.0.as_bytes();
        let (mut at, mut depth) = (0, 0usize);
        while let Some(byte) = bytes.get(at) {
            match byte {
                b'"' => {
                    at = string_end(bytes, at);
                    continue;
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth -= 1,
                _ => {}
            }
            if depth > MAX_DEPTH {
                return Some(at);
            }
            at += 1;
        }
        None
    }
}

impl<'a> Object<'a> {
    /// Returns the value of `key`: the last one, as parsers do where a key stands twice.
    pub(crate) fn get(&self, key: &str) -> Option<Json<'a>> {
        self.position(key).map(|at| self.fields[at].1)
    }

    /// Returns the value of `key` where it is neither missing nor null.
    pub(crate) fn some(&self, key: &str) -> Option<Json<'a>> {
        self.get(key).filter(|value| !value.is_null())
    }

    /// Returns the decoded string under `key`.
    pub(crate) fn text(&self, key: &str) -> Option<Cow<'a, str>> {
        self.get(key)?.text()
    }

    /// Returns whether `key` holds `true`.
    pub(crate) fn is_true(&self, key: &str) -> bool {
        self.get(key).is_some_and(Json::is_true)
    }

    /// Returns the index of the last field named `key`.
    pub(crate) fn position(&self, key: &str) -> Option<usize> {
        self.fields.iter().rposition(|(name, _)| name.text().is_some_and(|name| name == key))
    }

    /// Returns keys and values, in order.
    pub(crate) fn fields(&self) -> &[(Json<'a>, Json<'a>)] {
        &self.fields
    }

    /// Returns the object itself.
    pub(crate) fn whole(&self) -> Json<'a> {
        self.whole
    }
}

/// Returns a JSON text without the blanks between its tokens: an agent that keeps its files for people to read sends it so.
pub(crate) fn tight(json: Json<'_>) -> String {
    let (mut out, mut is_text, mut is_escaped) = (String::with_capacity(json.raw().len()), false, false);
    for c in json.raw().chars() {
        if is_text || !c.is_ascii_whitespace() {
            out.push(c);
        }
        is_text ^= c == '"' && !is_escaped;
        is_escaped = is_text && c == '\\' && !is_escaped;
    }
    out
}

/// Returns `text` as a JSON string.
pub(crate) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Returns the offset of `part` in `whole`, of which it must be a part.
pub(crate) fn offset_in(whole: impl AsRef<[u8]>, part: &str) -> usize {
    (part.as_ptr() as usize).saturating_sub(whole.as_ref().as_ptr() as usize)
}

/// Returns one past the string that begins at `start`.
fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(found) = bytes.get(at..).and_then(|rest| memchr::memchr2(b'"', b'\\', rest)) {
        at += found;
        match bytes[at] {
            b'"' => return at + 1,
            _ => at += 2,
        }
    }
    bytes.len()
}

/// Returns the byte offset of a line and column, both from one, the column in bytes.
fn offset_of(text: &str, line: usize, column: usize) -> usize {
    let before: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    (before + column.saturating_sub(1)).min(text.len())
}

/// Returns the message of `error` without its own place: ours is more exact.
fn plain_message(error: &serde_json::Error) -> String {
    let message = error.to_string();
    match message.rfind(" at line ") {
        Some(at) => message[..at].to_owned(),
        None => message,
    }
}

/// Bytes of an escape that stays: the backslash and what it stands before.
const ESCAPED: usize = 2;

fn needs_no_escape(c: char) -> bool {
    !c.is_ascii_control() && !matches!(c, '"' | '\\')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn however_a_value_is_spelled_it_reads_the_same() {
        let compact = |text: &str| Json::check(text.as_bytes()).unwrap().compact().into_owned();
        let plain = r#"{"path":"/a/é 日本","n":[1,2.50,"a\\u00e9 \"q\" \n😀"],"e":{}}"#;
        assert!(matches!(Json::check(plain.as_bytes()).unwrap().compact(), Cow::Borrowed(_)));
        let spelled = r#" { "path" : "\/a\/\u00e9 \u65e5\u672c",
            "n": [ 1, 2.50, "a\\u00e9 \"q\" \n\ud83d\ude00" ], "e": { } } "#;
        assert_eq!(compact(spelled), plain);
        // What is no character, and what must be escaped, stays.
        let kept = r#"["\ud800x","\u0007","\u0022","\udfff"]"#;
        assert_eq!(compact(kept), kept);
    }

    #[test]
    fn children_are_slices_of_the_text() {
        let text = r#" {"a" : 1e2, "b":[ "x\"]" , {"c":{}} ,-0.10], "a":"last", "e":{ } } "#;
        let object = Json::check(text.as_bytes()).unwrap().object();
        let fields: Vec<_> = object.fields().iter().map(|(k, v)| (k.raw(), v.raw())).collect();
        assert_eq!(
            fields,
            [
                ("\"a\"", "1e2"),
                ("\"b\"", r#"[ "x\"]" , {"c":{}} ,-0.10]"#),
                ("\"a\"", "\"last\""),
                ("\"e\"", "{ }")
            ]
        );
        assert_eq!(object.text("a").unwrap(), "last");
        let elements: Vec<_> = object.get("b").unwrap().elements().iter().map(|e| e.raw()).collect();
        assert_eq!(elements, [r#""x\"]""#, r#"{"c":{}}"#, "-0.10"]);
    }

    #[test]
    fn lone_surrogates_become_replacement_characters() {
        let json = Json::check(br#""a\ud800b\ud83d\ude00\u00e9\/""#).unwrap();
        assert_eq!(json.text().unwrap(), "a\u{fffd}b😀é/");
    }

    #[test]
    fn depth_is_bounded_by_an_error() {
        let bomb = "[".repeat(300_000) + &"]".repeat(300_000);
        let flaw = Json::check(bomb.as_bytes()).unwrap_err();
        assert_eq!(flaw.byte, MAX_DEPTH);
        assert!(Json::check(format!("{}{}", "[".repeat(128), "]".repeat(128)).as_bytes()).is_ok());
    }

    #[test]
    fn flaws_name_their_byte() {
        assert_eq!(Json::check(b"{\"a\": tru}").unwrap_err().byte, 9);
        assert!(Json::check(b"{\"a\": [1,").unwrap_err().is_cut);
        assert_eq!(Json::check(b"\"a\xffb\"").unwrap_err().byte, 2);
    }

    proptest! {
        #[test]
        fn what_is_made_compact_says_the_same(words in prop::collection::vec("\\PC{0,12}|[\\x00-\\x7f]{0,12}", 0..4)) {
            let value = serde_json::json!({ "words": words, "n": 1.5 });
            let pretty = serde_json::to_string_pretty(&value).unwrap();
            let escaped: String = pretty.chars().map(|c| match c {
                c if c.is_ascii() => c.to_string(),
                c => c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect(),
            }).collect();
            let compact = Json::check(escaped.as_bytes()).unwrap().compact().into_owned();
            prop_assert_eq!(&compact, &Json::check(pretty.as_bytes()).unwrap().compact());
            prop_assert_eq!(serde_json::from_str::<serde_json::Value>(&compact).unwrap(), value);
            prop_assert_eq!(&*Json::check(compact.as_bytes()).unwrap().compact(), &*compact);
        }

        #[test]
        fn strings_decode_as_serde_json_decodes_them(text in "\\PC{0,40}|[\\x00-\\x7f]{0,40}") {
            let raw = quoted(&text);
            prop_assert_eq!(Json::check(raw.as_bytes()).unwrap().string().unwrap(), text);
        }
    }
}
