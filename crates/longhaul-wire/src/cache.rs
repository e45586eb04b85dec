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

/// Anthropic takes no more than four marks in a request (A-11).
const MOST: usize = 4;

/// Returns a request of Anthropic's with a mark behind each of these messages. Other marks of messages are taken out.
///
/// `json` is a list of messages, or an object that holds one as `messages`, with the standing instructions as `system`.
/// `prefix` spells the first so many messages by themselves: by its length it is found where each message ends.
///
/// - Where a message ends in something that cannot bear a mark (thinking, an empty text), its mark stands on the part before
///   that. Without such a part it is left out.
/// - Anthropic takes four marks, those of the tools in `json` counted. Of more the first are left out.
/// - None for an hour stands behind one for less: of messages the one for less is left out, and where a tool has one for less
///   all are for less.
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
    Ok(settled(edits.apply(&request)))
}

/// A-11, A-13: returns a request with as many marks as may stand in it, those of its tools and its own included, which stay, and
/// none for an hour behind one for less. Messages bring along the marks of earlier requests: the last ones stay. A model of
/// Anthropic's may be asked in the format of OpenAI as well.
pub(crate) fn settled(request: String) -> String {
    let Some(json) = Json::check(request.as_bytes()).ok().filter(|_| request.contains("cache_control"))
    else {
        return request;
    };
    let tools = json.get("tools").map(Json::elements).unwrap_or_default();
    let tools: Vec<Json<'_>> =
        tools.into_iter().filter_map(|tool| tool.object().some("cache_control")).collect();
    // It stands for a mark at the end.
    let own = json.object().some("cache_control");
    let mut room = MOST.saturating_sub(tools.len() + usize::from(own.is_some()));
    let is_led_by_short = !tools.iter().all(|mark| is_long(*mark));
    let mut is_long_behind = own.is_some_and(is_long) && !is_led_by_short;
    let mut edits = Edits::default();
    for block in blocks(json).iter().rev() {
        let Some(mark) = block.some("cache_control") else { continue };
        if room == 0 || is_long_behind && !is_long(mark) {
            unmark(&request, block, &mut edits);
            continue;
        }
        room -= 1;
        match is_long(mark) && is_led_by_short {
            true => edits.replace(mark.range_in(&request), SHORT_MARK),
            false => is_long_behind |= is_long(mark),
        }
    }
    edits.apply(&request)
}

/// A mark for five minutes, and one for an hour.
const SHORT_MARK: &str = r#"{"type":"ephemeral"}"#;
const LONG_MARK: &str = r#"{"type":"ephemeral","ttl":"1h"}"#;

fn is_long(mark: Json<'_>) -> bool {
    mark.get("ttl").and_then(Json::string).is_some_and(|ttl| ttl == "1h")
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
    let mark = match lifetime {
        Lifetime::FiveMinutes => SHORT_MARK,
        Lifetime::OneHour => LONG_MARK,
    };
    match content {
        Content::Text(value) if value.string().is_some_and(|said| !said.is_empty()) => {
            let block = format!(r#"[{{"type":"text","text":{},"cache_control":{mark}}}]"#, value.raw());
            edits.replace(value.range_in(text), block);
        }
        Content::Text(_) => {}
        Content::Blocks(blocks) => {
            if let Some(block) = blocks.into_iter().rev().find(|block| can_bear(&block.object())) {
                let end = block.range_in(text).end;
                edits.replace(end - 1..end, format!(",\"cache_control\":{mark}}}"));
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

/// Takes the mark of a block away.
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

    /// Settles a request with these marks, in order: "1h" or "5m", on the tools, the system prompt and messages.
    fn settles(tools: &[&str], system: &str, said: &[&str], beside: &str, expected: Expect) {
        let mark = |ttl: &str| match ttl {
            "" => String::new(),
            ttl => format!(r#","cache_control":{{"type":"ephemeral","ttl":"{ttl}"}}"#),
        };
        let tools: Vec<String> = tools
            .iter()
            .map(|ttl| format!(r#"{{"name":"f","input_schema":{{"type":"object"}}{}}}"#, mark(ttl)))
            .collect();
        let turn = |(at, ttl): (usize, &&str)| {
            let role = if at % 2 == 0 { "user" } else { "assistant" };
            format!(r#"{{"role":"{role}","content":[{{"type":"text","text":"a"{}}}]}}"#, mark(ttl))
        };
        let said: Vec<String> = said.iter().enumerate().map(turn).collect();
        let (tools, said, system) = (tools.join(","), said.join(","), mark(system));
        let request = format!(
            r#"{{"tools":[{tools}],"system":[{{"type":"text","text":"b"{system}}}],"messages":[{said}]{beside}}}"#
        );
        let settled = settled(request);
        let found = validate(settled.as_bytes(), Format::Anthropic, &Profile::default()).unwrap();
        assert!(found.is_empty(), "{found:?}");
        let json = Json::check(settled.as_bytes()).unwrap();
        let told = |block: &Object<'_>| match block.some("cache_control") {
            None => "-",
            Some(mark) if is_long(mark) => "1h",
            Some(_) => "5m",
        };
        let tools: Vec<_> = json.get("tools").unwrap().elements().into_iter().map(Json::object).collect();
        let marks: Vec<_> = tools.iter().chain(&blocks(json)).map(told).collect();
        expected.assert_eq(&marks.join(" "));
    }

    #[test]
    fn the_marks_of_a_whole_request_are_no_more_than_are_taken() {
        settles(&["5m"], "5m", &["5m", "", "5m", "", "5m"], "", expect!["5m - 5m - 5m - 5m"]);
        settles(&["5m"], "1h", &["1h", "", "5m"], "", expect!["5m 5m 5m - 5m"]);
        settles(&["", "1h"], "1h", &["5m"], "", expect!["- 1h 1h 5m"]);
        settles(&["", ""], "5m", &["1h", "", "5m"], "", expect!["- - - 1h - 5m"]);
        settles(&["1h", "1h", "5m", "5m"], "1h", &["5m"], "", expect!["1h 1h 5m 5m - -"]);
        let automatic = |ttl| format!(r#","cache_control":{{"type":"ephemeral","ttl":"{ttl}"}}"#);
        settles(&["1h"], "1h", &["5m", "", "5m"], &automatic("5m"), expect!["1h - 5m - 5m"]);
        settles(&["1h"], "1h", &["5m", "", "5m"], &automatic("1h"), expect!["1h 1h - - -"]);
    }
}
