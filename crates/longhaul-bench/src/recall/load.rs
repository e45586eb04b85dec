//! The measure's own loaders: recorded sessions as segments of plain messages.
//!
//! Kept apart from `longhaul-wire` on purpose: a measure that read its data through what it measures would not notice
//! what both lose. Follows `recallbench/formats.py`.

use std::{collections::HashMap, fs, path::Path};

use anyhow::{Context, Result, bail};
use longhaul_transcript::{Message, Outcome, Part, Role, ToolCall, ToolResult, Transcript};
use serde_json::Value;

/// One message as the model saw it.
#[derive(Clone, Debug)]
pub struct Raw {
    /// `system`, `user`, `assistant` or `tool`.
    pub role: Role,
    /// Its text.
    pub text: String,
    /// Its calls.
    pub calls: Vec<Call>,
    /// The call that a tool's message answers.
    pub call_id: String,
    /// The tool that answers, where known.
    pub tool: String,
}

/// A call: id, tool, arguments.
pub type Call = (String, String, String);

/// A run of messages between two compactions that the agent itself made.
pub type Segment = Vec<Raw>;

/// Reads one recording of the given format (the name of its folder).
pub fn load(format: &str, path: &Path) -> Result<Vec<Segment>> {
    let text =
        String::from_utf8_lossy(&fs::read(path).with_context(|| format!("reading {}", path.display()))?)
            .into_owned();
    let mut segments = Segments::default();
    match format {
        "claude_code" => claude_code(&text, &mut segments),
        "codex" => codex(&text, &mut segments),
        "pi" => pi(&text, &mut segments),
        "openai_chat" | "tau2" => chat(&serde_json::from_str(&text)?, &mut segments)?,
        "swe_agent" => swe_agent(&serde_json::from_str(&text)?, &mut segments),
        "meeting" => meeting(&serde_json::from_str(&text)?, &mut segments),
        "vcsum" => vcsum(&text, &mut segments),
        other => bail!("no loader for the format {other:?}"),
    }
    Ok(segments.done())
}

/// Returns a segment as a transcript.
pub fn transcript(segment: &[Raw]) -> Transcript {
    segment
        .iter()
        .map(|raw| {
            let mut parts = Vec::new();
            if raw.role == Role::Tool && !raw.call_id.is_empty() {
                let result = ToolResult::text(raw.call_id.as_str(), raw.text.clone(), Outcome::Unstated);
                parts.push(Part::ToolResult(result));
            } else if !raw.text.is_empty() {
                parts.push(Part::Text(raw.text.clone()));
            }
            for (id, tool, arguments) in &raw.calls {
                parts.push(Part::ToolCall(ToolCall::function(
                    id.as_str(),
                    tool.as_str(),
                    arguments.as_str(),
                )));
            }
            Message::new(raw.role, parts)
        })
        .collect()
}

impl Raw {
    fn new(role: Role, text: String) -> Raw {
        Raw { role, text, calls: Vec::new(), call_id: String::new(), tool: String::new() }
    }
}

#[derive(Default)]
struct Segments {
    done: Vec<Segment>,
    current: Segment,
    tools: HashMap<String, String>,
}

impl Segments {
    fn add(&mut self, mut raw: Raw) {
        for (id, tool, _) in &raw.calls {
            self.tools.insert(id.clone(), tool.clone());
        }
        if raw.role == Role::Tool && raw.tool.is_empty() {
            raw.tool = self.tools.get(&raw.call_id).cloned().unwrap_or_default();
        }
        self.current.push(raw);
    }

    fn say(&mut self, role: Role, text: String) {
        self.add(Raw::new(role, text));
    }

    fn result(&mut self, text: String, call_id: &str) {
        self.add(Raw { call_id: call_id.into(), ..Raw::new(Role::Tool, text) });
    }

    fn assistant(&mut self, text: String, calls: Vec<Call>) {
        self.add(Raw { calls, ..Raw::new(Role::Assistant, text) });
    }

    fn cut(&mut self) {
        if !self.current.is_empty() {
            self.done.push(std::mem::take(&mut self.current));
        }
    }

    fn done(mut self) -> Vec<Segment> {
        self.cut();
        self.done
    }
}

fn text_of(content: &Value) -> String {
    match content {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts = blocks.iter().filter_map(|block| match block {
                Value::String(text) => Some(text.clone()),
                Value::Object(map) => match map.get("text") {
                    Some(Value::String(text)) => Some(text.clone()),
                    _ if str_of(block, "type") == "tool_result" => Some(text_of(&block["content"])),
                    _ => None,
                },
                _ => None,
            });
            texts.collect::<Vec<_>>().join("\n")
        }
        Value::Object(map) => match map.get("text") {
            Some(Value::String(text)) => text.clone(),
            _ => content.to_string(),
        },
        other => other.to_string(),
    }
}

fn str_of<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or_default()
}

fn arguments(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_string)
}

fn call(id: &Value, tool: &Value, of: &Value) -> Call {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
    (text(id), text(tool), arguments(of))
}

/// The texts of an assistant's blocks and its calls, which are blocks of the type `kind` with their arguments under `key`.
fn blocks(content: &Value, kind: &str, key: &str) -> (Vec<String>, Vec<Call>) {
    let of_type = |block: &&Value, name: &str| str_of(block, "type") == name;
    let texts = list(content).iter().filter(|block| of_type(block, "text"));
    let calls = list(content).iter().filter(|block| of_type(block, kind));
    let texts = texts.map(|block| str_of(block, "text").to_string());
    let calls = calls.map(|block| call(&block["id"], &block["name"], &block[key]));
    (texts.collect(), calls.collect())
}

/// The calls of a message of OpenAI's.
fn tool_calls(message: &Value) -> Vec<Call> {
    let calls = list(&message["tool_calls"]).iter();
    calls
        .map(|one| {
            let function = if one["function"].is_object() { &one["function"] } else { one };
            call(&one["id"], &function["name"], &function["arguments"])
        })
        .collect()
}

fn lines(text: &str) -> impl Iterator<Item = Value> {
    text.lines().filter_map(|line| serde_json::from_str(line.trim()).ok()).filter(Value::is_object)
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn claude_code(text: &str, segments: &mut Segments) {
    let mut last_id = String::new();
    for line in lines(text) {
        if line["isSidechain"].as_bool() == Some(true) {
            continue;
        }
        let kind = str_of(&line, "type");
        if kind == "system" && str_of(&line, "subtype") == "compact_boundary" {
            segments.cut();
            last_id.clear();
            continue;
        }
        if !matches!(kind, "user" | "assistant") || !line["message"].is_object() {
            continue;
        }
        let message = &line["message"];
        let content = &message["content"];
        if kind == "assistant" {
            let (mut texts, calls) = blocks(content, "tool_use", "input");
            texts.extend(content.as_str().map(str::to_string));
            if texts.is_empty() && calls.is_empty() {
                continue;
            }
            let id = str_of(message, "id");
            let same = !id.is_empty() && id == last_id;
            match segments.current.last_mut().filter(|last| same && last.role == Role::Assistant) {
                Some(last) => {
                    last.text = format!("{}\n{}", last.text, texts.join("\n")).trim().to_string();
                    for (id, tool, _) in &calls {
                        segments.tools.insert(id.clone(), tool.clone());
                    }
                    last.calls.extend(calls);
                }
                None => segments.assistant(texts.join("\n"), calls),
            }
            last_id = id.to_string();
            continue;
        }
        let begins = content.as_str().is_some_and(|text| {
            text.starts_with("This session is being continued from a previous conversation")
        });
        if line["isCompactSummary"].as_bool() == Some(true) || begins {
            segments.cut();
            segments.say(Role::User, text_of(content));
            continue;
        }
        if let Some(text) = content.as_str() {
            segments.say(Role::User, text.to_string());
            continue;
        }
        let mut texts = Vec::new();
        for block in list(content) {
            match str_of(block, "type") {
                "tool_result" => segments.result(text_of(&block["content"]), str_of(block, "tool_use_id")),
                "text" => texts.push(str_of(block, "text").to_string()),
                _ => {}
            }
        }
        if !texts.is_empty() {
            segments.say(Role::User, texts.join("\n"));
        }
    }
}

fn codex(text: &str, segments: &mut Segments) {
    for line in lines(text) {
        let payload = &line["payload"];
        match str_of(&line, "type") {
            "compacted" => {
                segments.cut();
                if !str_of(payload, "message").is_empty() {
                    segments.say(Role::User, str_of(payload, "message").into());
                }
                continue;
            }
            "response_item" => {}
            _ => continue,
        }
        match str_of(payload, "type") {
            "message" => {
                let text = text_of(&payload["content"]);
                let start = text.trim_start();
                let injected = ["<environment_context", "<user_instructions", "# AGENTS.md instructions"]
                    .iter()
                    .any(|head| start.starts_with(head));
                let role = match str_of(payload, "role") {
                    "developer" | "system" => Role::System,
                    "user" if injected => Role::System,
                    "user" => Role::User,
                    _ => Role::Assistant,
                };
                segments.say(role, text);
            }
            kind @ ("function_call" | "custom_tool_call" | "tool_search_call" | "local_shell_call") => {
                let (name, keys) = match kind {
                    "local_shell_call" => ("shell", ["action", "action"]),
                    _ => (payload["name"].as_str().unwrap_or(kind), ["arguments", "input"]),
                };
                let given = if payload[keys[0]].is_null() { &payload[keys[1]] } else { &payload[keys[0]] };
                let call = (str_of(payload, "call_id").into(), name.into(), arguments(given));
                segments.assistant(String::new(), vec![call]);
            }
            "function_call_output" | "custom_tool_call_output" | "tool_search_output" => {
                let mut output =
                    if payload.get("output").is_some() { &payload["output"] } else { &payload["tools"] };
                if output.is_object() && output.get("content").is_some() {
                    output = &output["content"];
                }
                segments.result(text_of(output), str_of(payload, "call_id"));
            }
            _ => {}
        }
    }
}

fn pi(text: &str, segments: &mut Segments) {
    for line in lines(text) {
        if str_of(&line, "type") == "compaction" {
            segments.cut();
            if !str_of(&line, "summary").is_empty() {
                segments.say(Role::User, str_of(&line, "summary").into());
            }
            continue;
        }
        let message = &line["message"];
        if str_of(&line, "type") != "message" {
            continue;
        }
        match str_of(message, "role") {
            "user" => segments.say(Role::User, text_of(&message["content"])),
            "assistant" => {
                let (texts, calls) = blocks(&message["content"], "toolCall", "arguments");
                if !texts.is_empty() || !calls.is_empty() {
                    segments.assistant(texts.join("\n"), calls);
                }
            }
            "toolResult" => {
                let (text, id) = (text_of(&message["content"]), str_of(message, "toolCallId"));
                let tool = str_of(message, "toolName").to_string();
                segments.add(Raw { call_id: id.into(), tool, ..Raw::new(Role::Tool, text) });
            }
            "bashExecution" => {
                segments.say(
                    Role::User,
                    format!("$ {}\n{}", str_of(message, "command"), str_of(message, "output")),
                );
            }
            _ => {}
        }
    }
}

fn message_list(value: &Value) -> Option<&[Value]> {
    if let Some(list) = value.as_array() {
        return Some(list);
    }
    let direct =
        ["messages", "traj", "history", "conversation"].iter().find_map(|key| value[*key].as_array());
    direct.map(Vec::as_slice).or_else(|| {
        ["request", "info"]
            .iter()
            .filter(|key| value[**key].is_object())
            .find_map(|key| message_list(&value[*key]))
    })
}

fn chat(value: &Value, segments: &mut Segments) -> Result<()> {
    for message in message_list(value).context("no list of messages")? {
        let role = match message["role"].as_str().or_else(|| message["from"].as_str()).unwrap_or_default() {
            "system" | "developer" => Role::System,
            "user" | "human" => Role::User,
            "assistant" | "gpt" => Role::Assistant,
            "tool" | "function" => Role::Tool,
            _ => continue,
        };
        let mut calls = tool_calls(message);
        let content = if message["content"].is_null() { &message["value"] } else { &message["content"] };
        let mut text = text_of(content);
        let mut call_id = str_of(message, "tool_call_id").to_string();
        if call_id.is_empty() {
            call_id = message["tool_call_ids"][0].as_str().unwrap_or_default().into();
        }
        if call_id.is_empty() && role == Role::Tool {
            call_id = str_of(message, "id").into();
        }
        let (texts, used) = blocks(&message["content"], "tool_use", "input");
        calls.extend(used);
        let is_result = |block: &&Value| matches!(str_of(block, "type"), "tool_result" | "tool-result");
        let results: Vec<&Value> = list(&message["content"]).iter().filter(is_result).collect();
        if !results.is_empty() {
            for block in &results {
                segments.result(text_of(&block["content"]), str_of(block, "tool_use_id"));
            }
            text = texts.join("\n");
            if text.is_empty() {
                continue;
            }
        }
        if text.is_empty() && calls.is_empty() {
            continue;
        }
        let is_tool = role == Role::Tool;
        segments.add(Raw {
            role,
            text,
            calls,
            call_id: if is_tool { call_id } else { String::new() },
            tool: if is_tool { str_of(message, "name").into() } else { String::new() },
        });
    }
    Ok(())
}

fn swe_agent(value: &Value, segments: &mut Segments) {
    for message in list(&value["history"]) {
        let text = text_of(&message["content"]);
        if message["is_demo"].as_bool() == Some(true) {
            segments.say(Role::System, text);
            continue;
        }
        let calls = tool_calls(message);
        let kind = str_of(message, "message_type");
        let answers = segments.current.last().is_some_and(|last| last.role == Role::Assistant);
        let role = match str_of(message, "role") {
            "user" if kind == "observation" || (kind.is_empty() && answers) => Role::Tool,
            "user" => Role::User,
            "assistant" => Role::Assistant,
            "tool" => Role::Tool,
            _ => Role::System,
        };
        let call_id = message["tool_call_ids"][0].as_str().unwrap_or_default().to_string();
        let call_id = if role == Role::Tool { call_id } else { String::new() };
        segments.add(Raw { calls, call_id, ..Raw::new(role, text) });
    }
}

fn meeting(value: &Value, segments: &mut Segments) {
    for turn in list(&value["meeting_transcripts"]) {
        segments.say(Role::User, format!("{}: {}", str_of(turn, "speaker"), str_of(turn, "content")));
    }
}

fn vcsum(text: &str, segments: &mut Segments) {
    for row in lines(text) {
        for (speaker, turn) in list(&row["speaker"]).iter().zip(list(&row["context"])) {
            let sentences: String = list(turn).iter().filter_map(Value::as_str).collect();
            segments.say(Role::User, format!("发言人{}: {sentences}", arguments(speaker)));
        }
    }
}
