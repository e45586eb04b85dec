//! A message as a provider spelled it: which of its strings are text, and which must never change.
//!
//! Signatures, encrypted content and the bytes of media are not searched: a changed one is refused by the provider, and
//! no secret is told by it. What a signature is over cannot be changed either, so that a signed or encrypted block with
//! a secret in it is left out whole. Nothing of this holds inside the arguments of a call: there, a field of any name is
//! the caller's.

use std::{borrow::Cow, collections::BTreeMap, fmt, ops::Range};

use longhaul_transcript::Raw;
use serde::{
    Deserializer as _,
    de::{MapAccess, SeqAccess, Visitor},
};
use serde_json::value::RawValue;

use crate::{Finding, Redactor, Vault};

impl Redactor {
    /// Returns `raw` without its secrets, and how often each rule struck; `None` where nothing is left that could be
    /// sent. Numbers and the way back go to `vault`.
    pub fn redact_raw_into(&self, raw: &Raw, vault: &mut Vault) -> (Option<Raw>, BTreeMap<String, u64>) {
        let mut counts = BTreeMap::new();
        let mut redacted = raw.redacted;
        // One item a line where there are several; an item by itself may be spread over lines.
        let items: Vec<&str> = match serde_json::from_str::<&RawValue>(&raw.json) {
            Ok(_) => vec![&raw.json],
            Err(_) => raw.json.lines().collect(),
        };
        let mut kept = Vec::with_capacity(items.len());
        for item in items {
            let mut sweep = Sweep { text: item, findings: self.redact_json(item).1, edits: BTreeMap::new() };
            let is_left = sweep.item();
            for finding in &sweep.findings {
                *counts.entry(finding.rule.to_string()).or_default() += 1;
                redacted += 1;
            }
            if is_left {
                kept.push(sweep.written(vault));
            }
        }
        let json = match kept.len() {
            0 => None,
            1 => kept.pop(),
            _ => Some(kept.join("\n")),
        };
        let (format, after_reasoning) = (raw.format.clone(), raw.after_reasoning);
        (json.map(|json| Raw { format, json: json.into(), after_reasoning, redacted }), counts)
    }
}

/// One JSON text, and what is to be changed in it.
struct Sweep<'a> {
    text: &'a str,
    findings: Vec<Finding>,
    /// What is replaced, by where it begins: where it ends, and by what.
    edits: BTreeMap<usize, (usize, &'static str)>,
}

impl<'a> Sweep<'a> {
    /// Decides what becomes of the whole; returns whether anything is left of it.
    fn item(&mut self) -> bool {
        let Ok(whole) = serde_json::from_str::<&'a RawValue>(self.text) else { return true };
        let is_sealed = self.value(whole, false, 0);
        self.findings.retain(|found| !found.span.is_empty());
        let is_emptied = self.edits.values().any(|(_, with)| *with == EMPTIED);
        !(is_sealed && self.is_found(&self.span(whole)) || is_emptied)
    }

    /// Walks a value and returns whether a change of it would be refused. `is_argument` where it is a caller's. `depth` is how
    /// many values it stands in.
    fn value(&mut self, value: &'a RawValue, is_argument: bool, depth: usize) -> bool {
        // Where there is no secret nothing is to be done, and nothing is walked or remembered.
        if depth > DEEPEST || !self.is_found(&self.span(value)) {
            return false;
        }
        match value.get().as_bytes().first() {
            Some(b'[') => self.array(value, is_argument, depth),
            Some(b'{') => return self.object(value, is_argument, depth),
            _ => {}
        }
        false
    }

    fn array(&mut self, value: &'a RawValue, is_argument: bool, depth: usize) {
        let whole = self.span(value);
        // Where a run of elements begins that are left out before the first that stays; where the last element ended.
        let (mut open, mut end, mut is_any_kept) = (None, None, false);
        let walked = each_element(value, |element| {
            let span = self.span(element);
            if let Some(start) = open.take() {
                self.edits.insert(start, (span.start, ""));
            }
            let is_left_out = self.value(element, is_argument, depth + 1) && self.is_found(&span);
            // With the comma behind it up to the first that stays, then with the one before it.
            match end {
                _ if !is_left_out => is_any_kept = true,
                Some(end) if is_any_kept => drop(self.edits.insert(end, (span.end, ""))),
                _ => open = Some(span.start),
            }
            end = Some(span.end);
        });
        if walked && end.is_some() && !is_any_kept {
            // A message without content is refused as well.
            let inside: Vec<usize> = self.edits.range(whole.clone()).map(|(start, _)| *start).collect();
            for start in inside {
                self.edits.remove(&start);
            }
            self.edits.insert(whole.start, (whole.end, EMPTIED));
        }
    }

    fn object(&mut self, value: &'a RawValue, is_argument: bool, depth: usize) -> bool {
        let mut named: BTreeMap<&'static str, &'a str> = BTreeMap::new();
        let walked = each_field(value, |key, field| {
            let is_given = ARGUMENTS.contains(&key) && field.get().starts_with('{');
            let span = self.span(field);
            if self.value(field, is_argument || is_given, depth + 1) && self.is_found(&span) {
                self.edits.insert(span.start, (span.end, "null"));
            }
            let inside = field.get().strip_prefix('"').and_then(|inside| inside.strip_suffix('"'));
            if let Some((name, inside)) = NAMED.iter().find(|name| **name == key).zip(inside) {
                named.insert(name, inside);
            }
        });
        if is_argument || !walked {
            return false;
        }
        let string = |name: &str| named.get(name).copied().filter(|inside| !inside.is_empty());
        let kind = string("type").unwrap_or_default();
        let is_thought = kind.ends_with("thinking") || kind.starts_with("reasoning");
        let seals: &[&str] = match is_thought {
            true => &["signature", "data", "encrypted_content"],
            false => &["thoughtSignature", "thought_signature", "encrypted_content"],
        };
        let seals: Vec<&str> = seals.iter().filter_map(|name| string(name)).collect();
        let is_media =
            kind == "base64" || ["mimeType", "mime_type", "format"].iter().any(|name| string(name).is_some());
        let media = string("data").filter(|_| is_media);
        let addresses = ["file_data", "image_url", "url"].iter().filter_map(|name| string(name));
        let inline = addresses.filter(|address| address.starts_with("data:"));
        for exempt in seals.iter().copied().chain(media).chain(inline) {
            let exempt = span_of(self.text, exempt);
            let from = self.findings.partition_point(|found| found.span.start < exempt.start);
            let inside = self.findings[from..].iter_mut().take_while(|found| found.span.end <= exempt.end);
            // Taken out at the end: a history may have as many of them as it has messages.
            inside.for_each(|found| found.span.end = found.span.start);
        }
        !seals.is_empty()
    }

    /// Returns whether a secret stands in `span` that nothing was done about yet.
    fn is_found(&self, span: &Range<usize>) -> bool {
        let is_done = |found: &Finding| {
            let before = self.edits.range(..=found.span.start).next_back();
            before.is_some_and(|(_, (end, _))| found.span.end <= *end)
        };
        // Findings come in order: those of a block are looked at, and not all of them for each block.
        let from = self.findings.partition_point(|found| found.span.start < span.start);
        let inside = self.findings[from..].iter().take_while(|found| found.span.start < span.end);
        inside
            .into_iter()
            .any(|found| !found.span.is_empty() && found.span.end <= span.end && !is_done(found))
    }

    fn span(&self, value: &RawValue) -> Range<usize> {
        span_of(self.text, value.get())
    }

    /// Returns the text with everything done.
    fn written(&self, vault: &mut Vault) -> String {
        let (mut out, mut at) = (String::with_capacity(self.text.len()), 0);
        let mut put = |start: usize, end: usize, with: &str| {
            // What stands inside of something that was replaced went with it.
            if start >= at {
                out.push_str(&self.text[at..start]);
                out.push_str(with);
                at = end;
            }
        };
        let mut edits = self.edits.iter().map(|(start, (end, with))| (*start, *end, *with)).peekable();
        for Finding { rule, span } in self.findings.iter().filter(|found| self.is_found(&found.span)) {
            while let Some((start, end, with)) = edits.next_if(|(start, ..)| *start <= span.start) {
                put(start, end, with);
            }
            put(span.start, span.end, vault.placeholder(rule, &self.text[span.clone()]));
        }
        edits.for_each(|(start, end, with)| put(start, end, with));
        out.push_str(&self.text[at..]);
        out
    }
}

/// Returns where `part`, a slice of `text`, stands in it.
fn span_of(text: &str, part: &str) -> Range<usize> {
    let start = part.as_ptr() as usize - text.as_ptr() as usize;
    start..start + part.len()
}

/// Hands over each element of a list; returns whether it is one to its end.
fn each_element<'a>(list: &'a RawValue, take: impl FnMut(&'a RawValue)) -> bool {
    struct Elements<F>(F);
    impl<'de, F: FnMut(&'de RawValue)> Visitor<'de> for Elements<F> {
        type Value = ();

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a list")
        }

        fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<(), A::Error> {
            while let Some(element) = list.next_element::<&'de RawValue>()? {
                (self.0)(element);
            }
            Ok(())
        }
    }
    list.deserialize_seq(Elements(take)).is_ok()
}

/// Hands over each field of an object; returns whether it is one to its end.
fn each_field<'a>(object: &'a RawValue, take: impl FnMut(&str, &'a RawValue)) -> bool {
    struct Fields<F>(F);
    impl<'de, F: FnMut(&str, &'de RawValue)> Visitor<'de> for Fields<F> {
        type Value = ();

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(mut self, mut fields: A) -> Result<(), A::Error> {
            while let Some((key, field)) = fields.next_entry::<Cow<'de, str>, &'de RawValue>()? {
                (self.0)(&key, field);
            }
            Ok(())
        }
    }
    object.deserialize_map(Fields(take)).is_ok()
}

/// How deep values are walked. No reader takes a history that is deeper, and secrets further down are replaced as text.
const DEEPEST: usize = 128;

/// The fields whose text is looked at.
const NAMED: [&str; 12] = [
    "type",
    "signature",
    "data",
    "encrypted_content",
    "thoughtSignature",
    "thought_signature",
    "mimeType",
    "mime_type",
    "format",
    "file_data",
    "image_url",
    "url",
];

/// Marks a list of which nothing is left.
const EMPTIED: &str = "[]";

/// Fields whose objects are what a caller hands to a tool, or gets from it.
const ARGUMENTS: [&str; 6] = ["input", "args", "arguments", "parameters", "response", "output"];

#[cfg(test)]
mod tests {
    use super::*;

    /// A key that rules find, made up.
    const SECRET: &str = "ghp_9aF3kLmQ2xR7tVbW4yZcN8dEuH5sJ1oPqT6i";

    fn redacted(json: &str) -> (Option<Raw>, u64) {
        let raw = Raw::new("anthropic", json);
        let (raw, counts) = Redactor::builtin().redact_raw_into(&raw, &mut Vault::new());
        (raw, counts.values().sum())
    }

    fn text(json: &str) -> String {
        redacted(json).0.unwrap().json.into()
    }

    #[test]
    fn text_is_swept_and_every_other_byte_stays() {
        let json = format!(
            r#"{{"role":"user", "content":[ {{"type":"text","text":"use {SECRET} é\n"}} ],"x":1e2}}"#
        );
        let (raw, count) = redacted(&json);
        let raw = raw.unwrap();
        assert_eq!((count, raw.redacted), (1, 1));
        assert_eq!(*raw.json, json.replace(SECRET, "[REDACTED:github-pat:1]"));
        let clean = r#"{"role":"user","content":"hello"}"#;
        assert_eq!(redacted(clean), (Some(Raw::new("anthropic", clean)), 0));
    }

    #[test]
    fn what_must_not_change_is_not_searched() {
        for kept in [
            format!(r#"{{"type":"thinking","thinking":"hm","signature":"{SECRET}"}}"#),
            format!(r#"{{"type":"reasoning","summary":[],"encrypted_content":"{SECRET}"}}"#),
            format!(
                r#"{{"type":"image","source":{{"type":"base64","media_type":"image/png","data":"{SECRET}"}}}}"#
            ),
            format!(r#"{{"text":"hm","thoughtSignature":"{SECRET}"}}"#),
            format!(r#"{{"inlineData":{{"mimeType":"image/png","data":"{SECRET}"}}}}"#),
            format!(r#"{{"type":"input_image","image_url":"data:image/png;base64,{SECRET}"}}"#),
        ] {
            let json = format!(r#"{{"content":[{kept}]}}"#);
            assert_eq!(text(&json), json);
        }
        // The same names in what a tool is called with are the caller's.
        for swept in [
            format!(r#"{{"type":"tool_use","id":"t","input":{{"type":"thinking","signature":"{SECRET}"}}}}"#),
            format!(
                r#"{{"functionCall":{{"name":"f","args":{{"a":[{{"thoughtSignature":"{SECRET}"}}]}}}}}}"#
            ),
            format!(r#"{{"type":"image","source":{{"type":"url","url":"https://x/?t={SECRET}"}}}}"#),
        ] {
            assert!(!text(&format!(r#"{{"content":[{swept}]}}"#)).contains(SECRET), "{swept}");
        }
    }

    #[test]
    fn a_signed_block_with_a_secret_is_left_out_whole() {
        let signed = format!(r#"{{"type":"thinking","thinking":"it is {SECRET}","signature":"c2ln"}}"#);
        let other = r#"{"type":"text","text":"done"}"#;
        for (content, left) in [
            (format!("[{signed}, {other}]"), format!("[{other}]")),
            (format!("[{other}, {signed}]"), format!("[{other}]")),
            (format!("[{signed},{signed}, {other} ,{signed}, {other}]"), format!("[{other}, {other}]")),
        ] {
            assert_eq!(text(&format!(r#"{{"content":{content}}}"#)), format!(r#"{{"content":{left}}}"#));
        }
        assert_eq!(redacted(&format!(r#"{{"content":[{signed}]}}"#)).0, None, "nothing is left");
        // An item of several goes alone.
        let sealed =
            format!(r#"{{"type":"reasoning","summary":[{{"text":"{SECRET}"}}],"encrypted_content":"x"}}"#);
        assert_eq!(text(&format!("{sealed}\n{other}")), other);
        assert_eq!(redacted(&sealed).0, None);
        let open = format!(r#"{{"type":"reasoning","summary":[{{"text":"{SECRET}"}}]}}"#);
        assert_eq!(text(&open), open.replace(SECRET, "[REDACTED:github-pat:1]"));
    }
}
