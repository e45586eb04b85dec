//! A message as a provider spelled it: which of its strings are text, and which must never change.
//!
//! Signatures, encrypted content and the bytes of media are not searched: a changed one is refused by the provider, and
//! no secret is told by it. What a signature is over cannot be changed either, so that a signed or encrypted block with
//! a secret in it is left out whole. Nothing of this holds inside the arguments of a call: there, a field of any name is
//! the caller's.

mod file;
mod sealed;
mod walk;

use std::{borrow::Cow, collections::BTreeMap, iter, ops::Range, sync::Arc};

use aho_corasick::{AhoCorasick, MatchKind};
use longhaul_transcript::Raw;
use serde_json::value::RawValue;

use self::{
    file::{HOLDERS, is_text, may_hold_a_file, media_type},
    sealed::{METADATA, SEALED_WHERE_LONG, is_payload, is_ui_part, seals, seals_of_providers},
    walk::{each_field, span_of},
};
use crate::{
    Finding, Redactor, Vault, base64,
    json::{is_json, looks_like_json, string_values, unescaped},
    names::{id_in_place_of, name_in_place_of},
};

impl Redactor {
    /// Returns `raw` without its secrets, and how often each rule struck; `None` where nothing is left that could be
    /// sent. Numbers and the way back go to `vault`.
    pub fn redact_raw_into(&self, raw: &Raw, vault: &mut Vault) -> (Option<Raw>, BTreeMap<String, u64>) {
        self.redact_raw_with(raw, &BTreeMap::new(), vault)
    }

    /// Does the same, with what is known to be a secret in it beside what the rules find, each with what it is called.
    pub(crate) fn redact_raw_with(
        &self,
        raw: &Raw,
        known: &BTreeMap<String, Arc<str>>,
        vault: &mut Vault,
    ) -> (Option<Raw>, BTreeMap<String, u64>) {
        let mut counts = BTreeMap::new();
        if known.len() > MOST_KNOWN {
            return (None, counts);
        }
        let mut redacted = raw.redacted;
        // One item a line where there are several; an item by itself may be spread over lines, and so may what is no JSON.
        let is_item = |json: &str| serde_json::from_str::<&RawValue>(json).is_ok();
        let is_one = is_item(&raw.json) || !raw.json.lines().any(is_item);
        let items: Box<dyn Iterator<Item = &str>> = match is_one {
            true => Box::new(iter::once(&*raw.json)),
            false => Box::new(raw.json.lines()),
        };
        let mut json: Option<String> = None;
        for item in items {
            let (without, mut rules) = match known.is_empty() {
                true => (Some(Cow::Borrowed(item)), Vec::new()),
                false => self.swept(item, said_in(item, known), vault),
            };
            let (left, found) = match without {
                Some(Cow::Borrowed(item)) => self.redact_item(item, vault),
                Some(Cow::Owned(item)) => {
                    let (left, found) = self.redact_item(&item, vault);
                    (left.map(|left| Cow::Owned(left.into_owned())), found)
                }
                None => (None, Vec::new()),
            };
            rules.extend(found);
            for rule in rules {
                *counts.entry(rule.to_string()).or_default() += 1;
                redacted += 1;
            }
            match (&mut json, left) {
                (_, None) => {}
                (None, Some(left)) => json = Some(left.into_owned()),
                (Some(json), Some(left)) => json.extend(["\n", &left]),
            }
        }
        let (format, after_reasoning) = (raw.format.clone(), raw.after_reasoning);
        (json.map(|json| Raw { format, json: json.into(), after_reasoning, redacted }), counts)
    }

    /// Returns an item or a block as a provider spells it without its secrets, and the rules that struck; `None` where nothing
    /// is left of it.
    pub(crate) fn redact_item<'a>(
        &self,
        item: &'a str,
        vault: &mut Vault,
    ) -> (Option<Cow<'a, str>>, Vec<Arc<str>>) {
        self.swept(item, self.find_in_json(item), vault)
    }

    fn swept<'a>(
        &self,
        item: &'a str,
        findings: Vec<Finding>,
        vault: &mut Vault,
    ) -> (Option<Cow<'a, str>>, Vec<Arc<str>>) {
        let mut sweep =
            Sweep { redactor: self, text: item, findings, edits: BTreeMap::new(), within: Vec::new() };
        let is_left = sweep.item();
        let is_clean = sweep.findings.is_empty() && sweep.within.is_empty();
        let left = is_left.then(|| match is_clean {
            true => Cow::Borrowed(item),
            false => Cow::Owned(sweep.written(vault)),
        });
        vault.name(item, &mut sweep.findings);
        let found = sweep.findings.into_iter().map(|found| found.rule);
        (left, found.chain(sweep.within).collect())
    }
}

/// Returns where `item` says what is `known` to be a secret, by itself or between signs and blanks, in order and apart.
fn said_in(item: &str, known: &BTreeMap<String, Arc<str>>) -> Vec<Finding> {
    let texts: Vec<Range<usize>> = match is_json(item) {
        true => {
            string_values(item).filter(|(key, _)| !OF_FORMAT.contains(key)).map(|(_, text)| text).collect()
        }
        false => iter::once(0..item.len()).collect(),
    };
    let spelled: Vec<String> =
        known.keys().map(|secret| serde_json::to_string(secret).unwrap_or_default()).collect();
    let spelled = spelled.iter().map(|spelled| &spelled[1..spelled.len().max(2) - 1]);
    // The longest of those that begin together.
    let finder = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(spelled);
    let (Ok(finder), rules) = (finder, known.values().collect::<Vec<_>>()) else { return Vec::new() };
    let mut found = Vec::new();
    for text in texts {
        let said = &item[text.clone()];
        let ends = |c: char| c.is_alphanumeric() || c == '_';
        for place in finder.find_iter(said) {
            let before = &said[..place.start()];
            let is_escape = ["\\n", "\\t", "\\r"].iter().any(|escape| before.ends_with(escape));
            let is_apart = (is_escape || !before.ends_with(ends)) && !said[place.end()..].starts_with(ends);
            let span = text.start + place.start()..text.start + place.end();
            let rule = rules.get(place.pattern().as_usize()).filter(|_| is_apart);
            found.extend(rule.map(|rule| Finding { rule: Arc::clone(rule), span }));
        }
    }
    found
}

/// Where more is known, the spelling is not worth the memory that finding it takes: the message is spelled anew.
const MOST_KNOWN: usize = 4_096;

/// Fields whose words are a format's.
const OF_FORMAT: [&str; 8] = ["type", "role", "name", "id", "kind", "status", "model", "stop_reason"];

/// One JSON text, and what is to be changed in it.
struct Sweep<'a, 'r> {
    redactor: &'r Redactor,
    text: &'a str,
    findings: Vec<Finding>,
    /// What is replaced, by where it begins: where it ends, and by what.
    edits: BTreeMap<usize, (usize, With)>,
    /// The rules that struck in files that are spelled in base64.
    within: Vec<Arc<str>>,
}

/// What something is replaced by.
#[derive(Clone, Debug, PartialEq, Eq)]
enum With {
    /// This JSON.
    Json(Cow<'static, str>),
    /// A file with secrets, in base64 and without them; this stands before it.
    File { before: String, file: base64::File },
}

const NOTHING: With = With::Json(Cow::Borrowed(""));

/// Where a value stands.
#[derive(Clone, Copy)]
struct Place {
    /// In what a caller hands to a tool or gets from it.
    is_argument: bool,
    /// In so many other values.
    depth: usize,
    /// Under this key, where that is one of [`HOLDERS`].
    key: &'static str,
}

impl Place {
    fn inside(self, key: &'static str) -> Place {
        Place { depth: self.depth + 1, key, ..self }
    }
}

impl<'a> Sweep<'a, '_> {
    /// Decides what becomes of the whole; returns whether anything is left of it.
    fn item(&mut self) -> bool {
        let Ok(whole) = serde_json::from_str::<&'a RawValue>(self.text) else { return true };
        let is_left_out = self.value(whole, Place { is_argument: false, depth: 0, key: "" });
        self.findings.retain(|found| !found.span.is_empty());
        let is_emptied = self.edits.values().any(|(_, with)| *with == EMPTIED);
        !(is_left_out || is_emptied)
    }

    /// Walks a value and returns whether it has to go, since a change of it would be refused.
    fn value(&mut self, value: &'a RawValue, place: Place) -> bool {
        // Where there is no secret nothing is to be done, and nothing is walked or remembered; but a file in base64 is not yet
        // looked into.
        if place.depth > DEEPEST || !self.is_found(&self.span(value)) && !may_hold_a_file(value.get()) {
            return false;
        }
        match value.get().as_bytes().first() {
            Some(b'[') => self.array(value, place),
            Some(b'{') => return self.object(value, place),
            _ => {}
        }
        false
    }

    fn array(&mut self, value: &'a RawValue, place: Place) {
        let whole = self.span(value);
        // Where a run of elements begins that are left out before the first that stays; where the last element ended.
        let (mut open, mut end, mut is_any_kept) = (None, None, false);
        let Ok(elements) = serde_json::from_str::<Vec<&'a RawValue>>(value.get()) else { return };
        for element in elements {
            let span = self.span(element);
            if let Some(start) = open.take() {
                self.edits.insert(start, (span.start, NOTHING));
            }
            let is_left_out = self.value(element, place.inside(""));
            // With the comma behind it up to the first that stays, then with the one before it.
            match end {
                _ if !is_left_out => is_any_kept = true,
                Some(end) if is_any_kept => drop(self.edits.insert(end, (span.end, NOTHING))),
                _ => open = Some(span.start),
            }
            end = Some(span.end);
        }
        if end.is_some() && !is_any_kept {
            // A message without content is refused as well.
            let inside: Vec<usize> = self.edits.range(whole.clone()).map(|(start, _)| *start).collect();
            for start in inside {
                self.edits.remove(&start);
            }
            self.edits.insert(whole.start, (whole.end, EMPTIED));
        }
    }

    fn object(&mut self, value: &'a RawValue, place: Place) -> bool {
        let mut named: BTreeMap<&'static str, &'a str> = BTreeMap::new();
        let (mut vouched, mut answers) = (Vec::new(), Vec::new());
        let walked = each_field(value, |key, field| {
            if METADATA.contains(&key) {
                vouched.extend(seals_of_providers(field));
            }
            if ANSWERS.contains(&key) {
                answers.push(self.span(field));
            }
            let is_given = ARGUMENTS.contains(&key) && field.get().starts_with('{');
            let inside =
                place.inside(HOLDERS.iter().find(|holder| **holder == key).copied().unwrap_or_default());
            let span = self.span(field);
            if self.value(field, Place { is_argument: place.is_argument || is_given, ..inside }) {
                self.edits.insert(span.start, (span.end, With::Json("null".into())));
            }
            let Some(inside) = field.get().strip_prefix('"').and_then(|inside| inside.strip_suffix('"'))
            else {
                return;
            };
            if !place.is_argument && self.is_found(&span) {
                self.rename(key, inside);
            }
            if let Some(name) = NAMED.split(' ').find(|name| *name == key) {
                named.insert(name, inside);
            }
        });
        if place.is_argument || !walked {
            return false;
        }
        let string = |name: &str| named.get(name).copied().filter(|inside| !inside.is_empty());
        let kind = string("type").unwrap_or_default();
        let seals = seals(kind).iter().filter_map(|name| string(name));
        let long =
            SEALED_WHERE_LONG.iter().filter_map(|name| string(name)).filter(|sealed| is_payload(sealed));
        let mut seals: Vec<&str> = seals.chain(long).collect();
        let is_ui = is_ui_part(kind);
        seals.extend(vouched.into_iter().filter(|_| is_ui));
        seals.iter().for_each(|sealed| self.exempt(&span_of(self.text, sealed)));
        if let Some(data) = string("data")
            && let Some(media_type) = media_type(kind, place.key, string)
        {
            self.file("", media_type, data);
        }
        for address in ["file_data", "image_url", "url"].iter().filter_map(|name| string(name)) {
            if let Some((media_type, data)) =
                address.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,"))
            {
                self.file(&address[..address.len() - data.len()], media_type, address);
            }
        }
        // What came of a call stands beside it there, and nobody signed that.
        let span = self.span(value);
        let parts = answers.into_iter().filter(|_| is_ui);
        let ends: Vec<Range<usize>> = parts.chain(iter::once(span.end..span.end)).collect();
        let starts = [span.start].into_iter().chain(ends.iter().map(|answer| answer.end));
        !seals.is_empty() && starts.zip(&ends).any(|(start, answer)| self.is_touched(&(start..answer.start)))
    }

    /// Puts another name or id in the place of one that is a secret.
    fn rename(&mut self, key: &str, inside: &'a str) {
        let other = match key {
            "name" => name_in_place_of(self.redactor, inside),
            "id" | "call_id" | "tool_call_id" | "tool_use_id" => id_in_place_of(self.redactor, inside),
            _ => None,
        };
        if let Some((other, _)) = other {
            let Range { start, end } = span_of(self.text, inside);
            self.edits.insert(start, (end, With::Json(other.into())));
        }
    }

    /// Takes the secrets out of a file in base64 that is a text; any other stays as it is. `before` is what stands before it in
    /// `literal`.
    fn file(&mut self, before: &str, media_type: &str, literal: &'a str) {
        let data = unescaped(&literal[before.len()..]);
        let is_base64 = |byte: u8| byte.is_ascii_whitespace() || base64::is_digit(byte);
        let span = span_of(self.text, literal);
        let file = base64::File::read(&data, is_text(media_type));
        // Whoever says that it is text and gives none may mean it as it stands.
        let is_none = file.is_none() && is_text(media_type);
        if is_none || !data.trim_end().trim_end_matches('=').bytes().all(is_base64) {
            return;
        }
        let rules: Vec<_> =
            file.iter().flat_map(|file| self.redact_file(&file.text, &mut Vault::new()).1).collect();
        // What a rule sees in the digits themselves is chance.
        self.exempt(&span);
        if let Some(file) = file.filter(|_| !rules.is_empty()) {
            self.within.extend(rules);
            let before = before.to_owned();
            self.edits.insert(span.start, (span.end, With::File { before, file }));
        }
    }

    fn redact_file(&self, text: &str, vault: &mut Vault) -> (String, Vec<Arc<str>>) {
        let (clean, findings) = match looks_like_json(text) {
            true => self.redactor.redact_json_into(text, vault),
            false => self.redactor.redact_text_into(text, vault),
        };
        (clean.into_owned(), findings.into_iter().map(|found| found.rule).collect())
    }

    /// Takes what was found in `span` for chance.
    fn exempt(&mut self, span: &Range<usize>) {
        let from = self.findings.partition_point(|found| found.span.start < span.start);
        let inside = self.findings[from..].iter_mut().take_while(|found| found.span.end <= span.end);
        // Taken out at the end: a history may have as many of them as it has messages.
        inside.for_each(|found| found.span.end = found.span.start);
    }

    /// Returns whether a secret stands in `span` that nothing was done about yet.
    fn is_found(&self, span: &Range<usize>) -> bool {
        let is_done = |found: &Finding| {
            let before = self.edits.range(..=found.span.start).next_back();
            before.is_some_and(|(_, (end, _))| found.span.end <= *end)
        };
        self.found_in(span).any(|found| !is_done(found))
    }

    /// Returns whether anything in `span` is changed.
    fn is_touched(&self, span: &Range<usize>) -> bool {
        self.found_in(span).next().is_some() || self.edits.range(span.clone()).next().is_some()
    }

    fn found_in(&self, span: &Range<usize>) -> impl Iterator<Item = &Finding> {
        // Findings come in order: those of a block are looked at, and not all of them for each block.
        let from = self.findings.partition_point(|found| found.span.start < span.start);
        let inside = self.findings[from..].iter().take_while(move |found| found.span.start < span.end);
        inside.filter(move |found| !found.span.is_empty() && found.span.end <= span.end)
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
        let mut edit = |start: usize, end: usize, with: &With, vault: &mut Vault| match with {
            With::Json(json) => put(start, end, json),
            With::File { before, file } => {
                let clean = self.redact_file(&file.text, vault).0;
                put(start, end, &(before.clone() + &file.encoded(&clean)));
            }
        };
        let mut edits = self.edits.iter().map(|(start, (end, with))| (*start, *end, with)).peekable();
        for Finding { rule, span } in self.findings.iter().filter(|found| self.is_found(&found.span)) {
            while let Some((start, end, with)) = edits.next_if(|(start, ..)| *start <= span.start) {
                edit(start, end, with, vault);
            }
            let placeholder = vault.placeholder(rule, &self.text[span.clone()]).to_owned();
            edit(span.start, span.end, &With::Json(placeholder.into()), vault);
        }
        edits.for_each(|(start, end, with)| edit(start, end, with, vault));
        out.push_str(&self.text[at..]);
        out
    }
}

/// How deep values are walked. No reader takes a history that is deeper, and secrets further down are replaced as text.
const DEEPEST: usize = 128;

/// The fields whose text is looked at.
const NAMED: &str = "\
    type signature data encrypted_content encrypted_index encrypted_stdout encrypted_stderr thoughtSignature \
    thought_signature media_type mimeType mime_type format file_data image_url url";

/// What came of a call, in the part that is the call.
const ANSWERS: [&str; 2] = ["output", "errorText"];

/// Marks a list of which nothing is left.
const EMPTIED: With = With::Json(Cow::Borrowed("[]"));

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
    fn what_is_no_json_is_one_text() {
        let table = "user,password\nalice,h7Rk2m9QzLxw\n";
        assert_eq!(text(table), table.replace("h7Rk2m9QzLxw", "[REDACTED:password-column:1]"));
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
            format!(
                r#"{{"type":"reasoning","text":"hm","providerMetadata":{{"anthropic":{{"signature":"{SECRET}"}}}}}}"#
            ),
            format!(
                r#"{{"type":"reasoning","text":"","providerMetadata":{{"openai":{{"itemId":"rs_1","reasoningEncryptedContent":"{SECRET}"}}}}}}"#
            ),
            format!(
                r#"{{"type":"tool-ls","toolCallId":"a","input":{{}},"callProviderMetadata":{{"google":{{"thoughtSignature":"{SECRET}"}}}},"output":"x"}}"#
            ),
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

    /// What a call's text does not keep its raw spelling does not keep either.
    #[test]
    fn what_is_spelled_in_arguments_is_found_in_each_format() {
        let hex: String = SECRET.bytes().map(|byte| format!("{byte:02x}")).collect();
        let table = "user,password\nalice,h7Rk2m9QzLxw";
        for arguments in [
            serde_json::json!({ "command": hex }),
            serde_json::json!({ "command": format!("echo {hex} | xxd -r -p") }),
            serde_json::json!({ table: "x" }),
            serde_json::json!({ "a": { table: 1 } }),
        ] {
            let json = arguments.to_string();
            for call in [
                serde_json::json!({ "type": "tool_use", "id": "t", "name": "f", "input": arguments }),
                serde_json::json!({ "functionCall": { "name": "f", "args": arguments } }),
                serde_json::json!({ "type": "function", "id": "t", "function": { "name": "f", "arguments": json } }),
                serde_json::json!({ "type": "tool-f", "toolCallId": "t", "input": arguments }),
                serde_json::json!({ "type": "function_call", "call_id": "t", "name": "f", "arguments": json }),
            ] {
                let raw = text(&serde_json::json!({ "role": "assistant", "content": [call] }).to_string());
                assert!(!raw.contains(&hex) && !raw.contains("h7Rk2m9QzLxw"), "{raw}");
                serde_json::from_str::<serde_json::Value>(&raw).unwrap();
            }
        }
    }

    /// What nobody signed is redacted and its part stays, with the seals of what was signed.
    #[test]
    fn a_part_of_a_ui_message_goes_where_what_was_signed_has_a_secret() {
        let other = r#"{"type":"text","text":"done"}"#;
        let part = |text: &str, seal: &str| {
            format!(
                r#"{{"type":"reasoning","text":"{text}","providerMetadata":{{"anthropic":{{"signature":"{seal}"}}}}}}"#
            )
        };
        let parts =
            |parts: &[String]| format!(r#"{{"id":"1","role":"assistant","parts":[{}]}}"#, parts.join(","));
        let signed = part(&format!("it is {SECRET}"), "c2ln");
        assert_eq!(text(&parts(&[signed, other.into()])), parts(&[other.into()]));
        let call = |input: &str, output: &str| {
            format!(
                r#"{{"type":"tool-ls","toolCallId":"a","state":"output-available","input":{{"at":"{input}"}},"output":"{output}","callProviderMetadata":{{"google":{{"thoughtSignature":"{SECRET}"}}}}}}"#
            )
        };
        let (answered, clean) = (call(".", SECRET), call(".", "[REDACTED:github-pat:1]"));
        assert_eq!(text(&parts(&[answered])), parts(&[clean]));
        assert_eq!(text(&parts(&[call(SECRET, "x"), other.into()])), parts(&[other.into()]));
        // A field of that name in another block is nobody's seal.
        let note = format!(r#"{{"type":"note","providerMetadata":{{"x":{{"signature":"{SECRET}"}}}}}}"#);
        assert!(!text(&parts(&[note])).contains(SECRET));
    }

    #[test]
    fn files_in_base64_that_are_text_are_searched_and_stay_files() {
        for said in [
            format!("GITHUB_TOKEN={SECRET}\n"),
            format!("\u{feff}Clé: {SECRET}\n"),
            format!(r#"{{"key":"a\n{SECRET}"}}"#),
        ] {
            let data = base64::encode(said.as_bytes());
            for (block, head) in [
                (
                    format!(
                        r#"{{"type":"document","source":{{"type":"base64","media_type":"text/plain","data":"{data}"}}}}"#
                    ),
                    r#""data":""#,
                ),
                (
                    format!(r#"{{"inlineData":{{"mimeType":"application/json","data":"{data}"}}}}"#),
                    r#""data":""#,
                ),
                (
                    format!(r#"{{"type":"file","file":{{"file_data":"data:text/plain;base64,{data}"}}}}"#),
                    "base64,",
                ),
                (
                    format!(
                        r#"{{"type":"document","source":{{"type":"base64","media_type":"application/pdf","data":"{data}"}}}}"#
                    ),
                    r#""data":""#,
                ),
            ] {
                let (raw, count) = redacted(&format!(r#"{{"content":[{block}]}}"#));
                let json = raw.unwrap().json;
                let start = json.find(head).unwrap() + head.len();
                let data = &json[start..start + json[start..].find('"').unwrap()];
                let text = base64::File::read(data, true).unwrap().text;
                assert_eq!((text, count), (said.replace(SECRET, "[REDACTED:github-pat:1]"), 1), "{block}");
            }
        }
        let clean = base64::encode(b"nothing to hide in these words");
        let json = format!(
            r#"{{"content":[{{"type":"document","source":{{"type":"base64","media_type":"text/plain","data":"{clean}"}}}}]}}"#
        );
        assert_eq!(text(&json), json);
    }

    /// A PDF begins like text and is none: what is not the secret stays, byte for byte.
    #[test]
    fn the_other_bytes_of_a_file_stay_what_they_were() {
        let binary = |said: &str| {
            let mut bytes = b"%PDF-1.3\n3 0 obj\n\x81\xff\x00\xc3\xa9 ".to_vec();
            bytes.extend(said.as_bytes());
            bytes.extend(b"\nendobj \xe2\xe3");
            base64::encode(&bytes)
        };
        let wide = |said: &str| {
            let text = format!("\u{feff}$env:KEY='{said}' # é");
            base64::encode(&text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>())
        };
        let block = |data: String| {
            format!(
                r#"{{"content":[{{"type":"document","source":{{"type":"base64","media_type":"application/pdf","data":"{data}"}}}}]}}"#
            )
        };
        let placeholder = "[REDACTED:github-pat:1]";
        assert_eq!(text(&block(binary(SECRET))), block(binary(placeholder)));
        assert_eq!(text(&block(wide(SECRET))), block(wide(placeholder)));
    }

    /// As `base64.encodebytes` of Python writes one.
    #[test]
    fn a_file_may_end_with_a_line_end() {
        let block = |data: &str| {
            format!(
                r#"{{"content":[{{"type":"document","source":{{"type":"base64","media_type":"text/plain","data":"{data}"}}}}]}}"#
            )
        };
        let data = base64::encode(format!("the {SECRET} \n").as_bytes());
        assert!(data.ends_with("=="), "{data}");
        let clean = base64::encode(b"the [REDACTED:github-pat:1] \n");
        assert_eq!(text(&block(&(data + "\\n"))), block(&clean));
    }
}
