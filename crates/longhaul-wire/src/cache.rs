//! Marks in a request that ask Anthropic to cache what stands up to them.

use crate::{
    edit::Edits,
    json::{Json, Object},
};

/// A place where a request should ask the provider to cache what stands up to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheMark {
    /// Index of the last message before the mark.
    pub item: usize,
    /// How long it is worth keeping.
    pub lifetime: Lifetime,
}

/// How long a provider is to keep a prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Lifetime {
    /// What changes with every request: the least there is.
    FiveMinutes,
    /// What stays until the next rewrite.
    OneHour,
}

/// Returns a request of Anthropic's with marks behind these messages, and no others: `json` is a list of messages, or an
/// object that holds one as `messages`, with the standing instructions as `system`. `prefix` spells the first so many
/// messages by themselves, for finding where each ends.
///
/// A mark whose message ends in nothing that can bear one (thinking, an empty text) stands before that, or is left out.
/// Give at most four, those of an hour first: Anthropic takes no others.
///
/// # Errors
/// Those of `prefix`.
pub fn with_cache_marks<E>(
    json: &str,
    marks: &[CacheMark],
    prefix: impl Fn(usize) -> Result<String, E>,
) -> Result<String, E> {
    let Ok(request) = Json::check(json.as_bytes()) else { return Ok(json.to_owned()) };
    let mut edits = Edits::default();
    blocks(request).into_iter().for_each(|block| unmark(json, &block, &mut edits));
    let request = edits.apply(json);
    let Ok(request_json) = Json::check(request.as_bytes()) else { return Ok(json.to_owned()) };
    let mut edits = Edits::default();
    for mark in marks {
        let spelled = prefix(mark.item + 1)?;
        if let Some(content) = end_of(request_json, &spelled) {
            set(&request, content, mark.lifetime, &mut edits);
        }
    }
    Ok(edits.apply(&request))
}

/// What a mark stands behind.
enum Content<'a> {
    /// A text that is all of a message, or the system prompt.
    Text(Json<'a>),
    /// Blocks, of which the last that can is to bear it.
    Blocks(Vec<Json<'a>>),
}

fn content_of(value: Json<'_>, most: usize) -> Content<'_> {
    match value.is_string() {
        true => Content::Text(value),
        false => Content::Blocks(value.elements().into_iter().take(most).collect()),
    }
}

/// Returns what the messages in `prefix` end with, where it stands in `request`.
fn end_of<'a>(request: Json<'a>, prefix: &str) -> Option<Content<'a>> {
    let prefix = Json::check(prefix.as_bytes()).ok()?;
    let said = messages(prefix);
    let Some(last) = said.last() else {
        let n_blocks = prefix.get("system").map_or(0, |system| system.elements().len());
        return Some(content_of(request.get("system")?, n_blocks));
    };
    let n_blocks = match last.get("content")? {
        content if content.is_string() => 1,
        content => content.elements().len(),
    };
    Some(content_of(messages(request).get(said.len() - 1)?.get("content")?, n_blocks))
}

fn set(text: &str, content: Content<'_>, lifetime: Lifetime, edits: &mut Edits) {
    let control = match lifetime {
        Lifetime::FiveMinutes => r#""cache_control":{"type":"ephemeral"}"#,
        Lifetime::OneHour => r#""cache_control":{"type":"ephemeral","ttl":"1h"}"#,
    };
    match content {
        Content::Text(value) if value.string().is_some_and(|said| !said.is_empty()) => {
            let block = format!(r#"[{{"type":"text","text":{},{control}}}]"#, value.raw());
            edits.replace(value.range_in(text), block);
        }
        Content::Text(_) => {}
        Content::Blocks(blocks) => {
            if let Some(block) = blocks.into_iter().rev().find(|block| can_bear(&block.object())) {
                let end = block.range_in(text).end;
                edits.replace(end - 1..end, format!(",{control}}}"));
            }
        }
    }
}

fn can_bear(block: &Object<'_>) -> bool {
    match block.text("type").as_deref() {
        Some("thinking" | "redacted_thinking") | None => false,
        Some("text") => block.text("text").is_some_and(|text| !text.is_empty()),
        Some(_) => true,
    }
}

/// Takes the mark of a block away, which came with it from an earlier request: too many of them are refused.
fn unmark(text: &str, block: &Object<'_>, edits: &mut Edits) {
    let Some(at) = block.position("cache_control") else { return };
    let fields = block.fields();
    let (key, value) = fields[at];
    let range = match (at.checked_sub(1).map(|before| fields[before]), fields.get(at + 1)) {
        (Some((_, before)), _) => before.range_in(text).end..value.range_in(text).end,
        (None, Some((next, _))) => key.range_in(text).start..next.range_in(text).start,
        (None, None) => return,
    };
    edits.replace(range, "");
}

/// Returns all blocks that may bear a mark, those inside of results too.
fn blocks(request: Json<'_>) -> Vec<Object<'_>> {
    let system = request.get("system").map(Json::elements).unwrap_or_default();
    let content = messages(request).into_iter().filter_map(|message| message.get("content"));
    let outer = system.into_iter().chain(content.flat_map(Json::elements));
    outer.flat_map(with_inner).map(Json::object).collect()
}

fn with_inner(block: Json<'_>) -> Vec<Json<'_>> {
    let inside = block.get("content").map(Json::elements).unwrap_or_default();
    std::iter::once(block).chain(inside).collect()
}

fn messages(request: Json<'_>) -> Vec<Json<'_>> {
    match request.is_array() {
        true => request.elements(),
        false => request.get("messages").map(Json::elements).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::{Format, Profile, validate};

    const LONG: Lifetime = Lifetime::OneHour;
    const SHORT: Lifetime = Lifetime::FiveMinutes;

    /// Marks a request whose first so many messages are the first so many of `prefixes`.
    fn check(request: &str, marks: &[(usize, Lifetime)], prefixes: &[&str], expected: Expect) {
        let marks: Vec<CacheMark> =
            marks.iter().map(|(item, lifetime)| CacheMark { item: *item, lifetime: *lifetime }).collect();
        let prefix = |n: usize| Ok::<_, ()>(prefixes[n - 1].to_owned());
        let marked = with_cache_marks(request, &marks, prefix).unwrap();
        expected.assert_eq(&marked);
        let found = validate(marked.as_bytes(), Format::Anthropic, &Profile::default()).unwrap();
        assert!(found.is_empty(), "{found:?}");
    }

    #[test]
    fn marks_stand_behind_system_prompt_texts_and_results() {
        let system = r#"{"system":"Be brief.","messages":[]}"#;
        let asked = r#"{"system":"Be brief.","messages":[{"role":"user","content":"Go."}]}"#;
        check(
            asked,
            &[(0, LONG), (1, SHORT)],
            &[system, asked],
            expect![[
                r#"{"system":[{"type":"text","text":"Be brief.","cache_control":{"type":"ephemeral","ttl":"1h"}}],"messages":[{"role":"user","content":[{"type":"text","text":"Go.","cache_control":{"type":"ephemeral"}}]}]}"#
            ]],
        );
    }

    #[test]
    fn what_is_written_as_one_message_is_marked_within() {
        let first = r#"[{"role":"user","content":[{"type":"text","text":"A."}]}]"#;
        let both = r#"[{"role":"user","content":[{"type":"text","text":"A."},{"type":"text","text":"B."}]}]"#;
        check(
            both,
            &[(0, SHORT)],
            &[first, both],
            expect![[
                r#"[{"role":"user","content":[{"type":"text","text":"A.","cache_control":{"type":"ephemeral"}},{"type":"text","text":"B."}]}]"#
            ]],
        );
    }

    #[test]
    fn marks_inside_of_results_go_too() {
        let asked = r#"{"role":"user","content":"A."},{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"ls","input":{"content":[{"cache_control":1}]}}]}"#;
        let old = format!(
            r#"[{asked},{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t","cache_control":{{"type":"ephemeral"}},"content":[{{"type":"text","text":"x","cache_control":{{"type":"ephemeral"}}}}]}}]}}]"#
        );
        let marked =
            with_cache_marks(&old, &[CacheMark { item: 0, lifetime: SHORT }], |_| Ok::<_, ()>(old.clone()))
                .unwrap();
        assert_eq!(
            marked,
            format!(
                r#"[{asked},{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t","content":[{{"type":"text","text":"x"}}],"cache_control":{{"type":"ephemeral"}}}}]}}]"#
            )
        );
    }

    #[test]
    fn marks_of_earlier_requests_go_and_thinking_bears_none() {
        let thought = r#"[{"role":"user","content":"A."},{"role":"assistant","content":[{"type":"thinking","thinking":"h","signature":"s"}]}]"#;
        let old = r#"[{"role":"user","content":[{"type":"text","text":"A.","cache_control":{"type":"ephemeral"}}]},{"role":"assistant","content":[{"type":"thinking","thinking":"h","signature":"s"},{"cache_control":{"type":"ephemeral"},"type":"text","text":"B."}]},{"role":"user","content":"C."}]"#;
        check(
            old,
            &[(1, SHORT), (2, SHORT)],
            &["[]", thought, old],
            expect![[
                r#"[{"role":"user","content":[{"type":"text","text":"A."}]},{"role":"assistant","content":[{"type":"thinking","thinking":"h","signature":"s"},{"type":"text","text":"B."}]},{"role":"user","content":[{"type":"text","text":"C.","cache_control":{"type":"ephemeral"}}]}]"#
            ]],
        );
    }
}
