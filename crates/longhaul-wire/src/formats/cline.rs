//! Tasks of Cline and of its kin (Roo Code, Kilo Code): messages as Anthropic has them, with fields of the agent's own. Import only.
//!
//! Sources: [cline/cline](https://github.com/cline/cline), `src/core/storage/disk.ts` (the files), `src/shared/messages/content.ts` and
//! `metrics.ts` (the messages), `src/core/assistant-message` (calls in the text);
//! [RooCodeInc/Roo-Code](https://github.com/RooCodeInc/Roo-Code), `src/core/task-persistence/apiMessages.ts` and `src/core/condense`.

use std::collections::HashSet;

use longhaul_transcript::{
    CallId, ContentHash, Outcome, Part, Reasoning, Role, Speaker, Tokens, ToolCall, ToolResult, Usage,
};

use super::{ANTHROPIC, Spec};
use crate::{
    Document, Format, WireError,
    detect::{Claim, Head},
    dialect::{Dialect, Said},
    edit::{Home, Leaf, Located},
    error::Fault,
    import::{Import, text_of},
    json::{Json, Object, quoted},
    whole,
};

pub(super) const SPEC: Spec =
    Spec { aliases: &["roo"], written_as: Format::Anthropic, ..Spec::read_only("cline", claims, read_file) };

/// A message, of which only what Anthropic knows is read.
static MESSAGE: Dialect = Dialect { format: Format::Cline, read, spelling: None, outside: None, ..ANTHROPIC };

fn claims(head: &Head<'_>) -> Option<Claim> {
    // A time beside blocks: an array of Anthropic's has none, and items of Responses have no blocks with it.
    let is_one = head.is_array() && ["role", "ts", "content.type"].iter().all(|key| head.has(key));
    is_one.then_some(Claim::Own)
}

fn read_file(bytes: Vec<u8>) -> Result<Document, WireError> {
    let mut import = Import::default();
    let json = whole::value(&bytes)?;
    if !json.is_array() {
        return Err(Fault::new("", json.raw(), "a task of Cline: an array of messages").at("the document"));
    }
    let all = json.elements();
    let in_force = InForce::of(&all);
    let mut messages = Vec::new();
    for (at, record) in all.into_iter().enumerate() {
        let fields = record.object();
        if in_force.has(&fields) {
            let said = read(record).map_err(|fault| fault.at(&format!("message {at}")))?;
            messages.push((at, record, fields, said));
        } else {
            import.leave("message that a summary of the agent's stands for".to_owned());
        }
    }
    // Where calls stand in the text, what follows tells which are some.
    for nth in 1..messages.len() {
        let (before, after) = messages.split_at_mut(nth);
        if let (Some((at, .., made)), Some((.., came))) = (before.last_mut(), after.first_mut()) {
            pair_in_text(*at, made, came);
        }
    }
    for (at, record, fields, said) in messages {
        let covered = import.last();
        import.push_record((&bytes, record), at, &MESSAGE, &said);
        if said.role == Role::Assistant {
            import.bill(covered, usage(&fields));
            let model = fields.get("modelInfo").and_then(|info| info.get("modelId")?.string());
            import.envelope.model = model.or_else(|| import.envelope.model.take());
        } else if import.envelope.folder.is_none() {
            import.envelope.folder = folder(&said);
        }
    }
    Ok(import.document(Format::Cline, bytes))
}

/// Which messages the agent would send: Roo keeps those that it summarized or cut, and names what stands for them.
struct InForce {
    stand_ins: HashSet<String>,
}

impl InForce {
    fn of(all: &[Json<'_>]) -> InForce {
        let ids = all.iter().flat_map(|message| {
            let fields = message.object();
            ["condenseId", "truncationId"].map(|key| fields.text(key).map(|id| id.into_owned()))
        });
        InForce { stand_ins: ids.flatten().collect() }
    }

    fn has(&self, message: &Object<'_>) -> bool {
        let is_replaced = |key| message.text(key).is_some_and(|id| self.stand_ins.contains(&*id));
        !is_replaced("condenseParent") && !is_replaced("truncationParent")
    }
}

fn read(record: Json<'_>) -> Result<Said<'_>, Fault> {
    let fields = record.object();
    if fields.text("type").as_deref() == Some("reasoning") {
        let mut said = Said::new(Role::Assistant);
        said.push(Part::Reasoning(reasoning(record, &fields)), Home::Whole, Leaf::Fixed);
        return Ok(said);
    }
    let said = (ANTHROPIC.read)(record)?;
    let is_summary = fields.is_true("isSummary") || fields.is_true("isTruncationMarker");
    let speaker = (is_summary && said.role == Role::User).then_some(Speaker::Harness);
    Ok(Said { speaker, ..said })
}

/// Reads reasoning that Roo keeps as an item of its own, as the Responses API has it.
fn reasoning(record: Json<'_>, fields: &Object<'_>) -> Reasoning {
    let text =
        fields.text("text").map(|text| text.into_owned()).unwrap_or_else(|| text_of(fields.get("summary")));
    Reasoning {
        text,
        opaque_bytes: fields.text("encrypted_content").map_or(0, |sealed| sealed.len() as u64),
        hash: ContentHash::of(record.raw().as_bytes()),
    }
}

/// Two versions of the figures were seen in the source; both count what came from the cache with the prompt.
fn usage(message: &Object<'_>) -> Usage {
    let Some(metrics) = message.get("metrics") else { return Usage::default() };
    let count = |newer: &str, older: &str| {
        let newer = metrics.get("tokens").and_then(|tokens| tokens.get(newer));
        Tokens(newer.or_else(|| metrics.get(older)).and_then(Json::as_u64).unwrap_or(0))
    };
    let (prompt, cached) = (count("prompt", "promptTokens"), count("cached", "cachedTokens"));
    let output = count("completion", "completionTokens");
    Usage { input: prompt - cached, cache_read: cached, output, ..Usage::default() }
}

/// Returns the folder that the agent tells the model it works in.
fn folder(said: &Said<'_>) -> Option<String> {
    const BEFORE: [&str; 2] = ["# Current Working Directory (", "# Current Workspace Directory ("];
    let texts = said.parts.iter().filter_map(|located| match &located.part {
        Part::Text(text) => Some(text),
        _ => None,
    });
    let mut lines = texts.flat_map(|text| text.lines());
    let rest = lines.find_map(|line| BEFORE.iter().find_map(|before| line.strip_prefix(before)))?;
    Some(rest.rsplit_once(')')?.0.to_owned())
}

/// Pairs calls that stand in the text of an answer, `<read_file><path>…</path></read_file>`, with what the next message says came of
/// them, `[read_file for '…'] Result:`. Only what is answered so is a call: a text may well have tags.
fn pair_in_text(at: usize, made: &mut Said<'_>, came: &mut Said<'_>) {
    let has_calls = made.parts.iter().any(|located| matches!(located.part, Part::ToolCall(_)));
    if made.role != Role::Assistant || came.role != Role::User || has_calls {
        return;
    }
    let names: Vec<String> = came.parts.iter().filter_map(|located| Some(head(&located.part)?.0)).collect();
    let mut calls: Vec<(String, CallId)> = Vec::new();
    let mut wanted = names.into_iter().peekable();
    let mut parts = Vec::new();
    for located in std::mem::take(&mut made.parts) {
        let Part::Text(text) = &located.part else {
            parts.push(located);
            continue;
        };
        let mut rest = text.as_str();
        while let Some((before, arguments, behind)) = wanted.peek().and_then(|name| call(rest, name)) {
            let name = wanted.next().unwrap_or_default();
            let id = format!("cline-{at}-{}", calls.len() + 1);
            parts.extend(words(before));
            parts.push(fixed(Part::ToolCall(ToolCall::function(&*id, name.as_str(), arguments))));
            calls.push((name, id.as_str().into()));
            rest = behind;
        }
        match rest.len() == text.len() {
            true => parts.push(located),
            false => parts.extend(words(rest)),
        }
    }
    made.parts = parts;
    if !calls.is_empty() {
        came.parts = answered(std::mem::take(&mut came.parts), calls);
    }
}

/// Returns what came of the calls as results, in front of what else is said.
fn answered<'a>(parts: Vec<Located<'a>>, calls: Vec<(String, CallId)>) -> Vec<Located<'a>> {
    let mut calls = calls.into_iter().peekable();
    let (mut results, mut others): (Vec<ToolResult>, Vec<Located<'a>>) = (Vec::new(), Vec::new());
    // What is said next of the last call, where it may be.
    let mut open = None;
    for located in parts {
        let answers =
            head(&located.part).filter(|(name, _)| calls.peek().is_some_and(|(next, _)| next == name));
        let part = match (answers, calls.peek()) {
            (Some((name, rest)), Some((_, id))) => {
                results.push(ToolResult {
                    call_id: id.clone(),
                    content: Vec::new(),
                    outcome: Outcome::Unstated,
                });
                open = Some(if BEGINS.contains(&&*name) { Next::Anybodys } else { Next::Tools });
                calls.next();
                (!rest.trim().is_empty()).then(|| Part::Text(rest.to_owned()))
            }
            _ => Some(located.part.clone()),
        };
        let Some(part) = part else { continue };
        // What the user says to it, and what the agent says of its surroundings, came of no call.
        let is_own = match (&part, open) {
            (Part::Text(text), Some(next)) => next == Next::Tools || !is_of_no_tool(text),
            (Part::Media(_), Some(_)) => true,
            _ => false,
        };
        match results.last_mut().filter(|_| is_own) {
            Some(result) => {
                open = Some(Next::Anybodys);
                result.content.push(part);
            }
            None => {
                // What a tool gives stands below what the user says as they let it run.
                let is_let = matches!(&part, Part::Text(text) if text.trim_start().starts_with(LET));
                open = open.filter(|_| is_let).map(|_| Next::Tools);
                others.push(Located { part, ..located });
            }
        }
    }
    results.into_iter().map(|result| fixed(Part::ToolResult(result))).chain(others).collect()
}

/// Who says what stands next behind `[…] Result:`.
#[derive(Clone, Copy, PartialEq)]
enum Next {
    /// The tool: in the first block stands what it gives, whatever that looks like. A file may hold any tag.
    Tools,
    /// The tool, the user or the agent.
    Anybodys,
}

/// Tools whose result begins with words of the agent's or the user's own. That of others begins with what they found: the first
/// words of a file may be any.
const BEGINS: [&str; 16] = [
    "ask_followup_question", "attempt_completion", "plan_mode_respond", "write_to_file", "replace_in_file",
    "apply_diff", "insert_content", "search_and_replace", "edit_file", "delete_file", "execute_command",
    "browser_action", "new_task", "switch_mode", "update_todo_list", "run_slash_command",
];

/// How the words begin that a user says as they let a tool run; its result follows.
const LET: &str = "The user approved this operation";

/// Returns whether the user or the agent says this: it begins with a tag of theirs, or behind a line that says so ("The user provided
/// the following feedback:").
fn is_of_no_tool(text: &str) -> bool {
    let text = text.trim_start();
    let below = text.split_once('\n').filter(|(first, _)| first.starts_with("The user "));
    let begins = |text: &str| OTHERS.iter().any(|tag| text.starts_with(tag));
    begins(text) || below.is_some_and(|(_, rest)| begins(rest.trim_start()))
}

/// How what a user or the agent says begins, where it stands behind a result.
const OTHERS: [&str; 5] =
    ["<environment_details>", "<feedback>", "<user_message>", "<answer>", "<user_feedback>"];

/// Returns the name of the tool that a text tells the result of, and what stands below that.
fn head(part: &Part) -> Option<(String, &str)> {
    let Part::Text(text) = part else { return None };
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    let inner = first.trim_end().strip_prefix('[')?.strip_suffix("] Result:")?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let name = inner.split(|c| !is_name(c)).next().filter(|name| !name.is_empty())?;
    Some((name.to_owned(), rest))
}

/// Finds a call of `name` in `text`: what stands before it, its arguments as JSON, and what stands behind it.
fn call<'t>(text: &'t str, name: &str) -> Option<(&'t str, String, &'t str)> {
    let (open, close) = (format!("<{name}>"), format!("</{name}>"));
    let start = text.find(&open)?;
    let inner = &text[start + open.len()..];
    let end = inner.find(&close)?;
    Some((&text[..start], arguments(&inner[..end])?, &inner[end + close.len()..]))
}

/// Returns `<path>a</path><content>…</content>` as JSON; `None` where that is not all. The content of a file may hold the tag that
/// ends it.
fn arguments(text: &str) -> Option<String> {
    let (mut fields, mut rest) = (Vec::new(), text);
    while let Some((name, inner)) = rest.trim_start().strip_prefix('<').and_then(|rest| rest.split_once('>'))
    {
        let close = format!("</{name}>");
        let end = if name == "content" { inner.rfind(&close) } else { inner.find(&close) };
        let end = end?;
        let value = inner[..end].strip_prefix('\n').unwrap_or(&inner[..end]);
        let value = value.strip_suffix('\n').unwrap_or(value);
        fields.push(format!("{}:{}", quoted(name), quoted(value)));
        rest = &inner[end + close.len()..];
    }
    rest.trim().is_empty().then(|| format!("{{{}}}", fields.join(",")))
}

fn words<'a>(text: &str) -> Option<Located<'a>> {
    let text = text.trim();
    (!text.is_empty()).then(|| fixed(Part::Text(text.to_owned())))
}

fn fixed<'a>(part: Part) -> Located<'a> {
    Located { part, home: Home::Whole, leaf: Leaf::Fixed }
}
