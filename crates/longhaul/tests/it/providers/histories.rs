//! Histories as agents have them: tool rounds with parallel calls, reasoning, pictures, blocks that nobody reads, an
//! exchange that is still open at the end. The same seed draws the same history.

use serde_json::{Value, json};

/// A source of chance that is the same everywhere.
pub(super) struct Draw(u64);

impl Draw {
    pub(super) fn new(seed: u64) -> Draw {
        Draw(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1))
    }

    fn next(&mut self) -> u64 {
        // splitmix64
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number below `end`.
    pub(super) fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    /// Returns true in one of `n` draws.
    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn words(&mut self, most: usize) -> String {
        const WORDS: [&str; 16] = [
            "the", "test", "fails", "in", "src/lock.rs", "because", "error[E0277]:", "漢字", "naïve",
            "\"quoted\"", "\\n", "line\n", "must", "port 8123", "assert_eq!", "🦀",
        ];
        let count = 1 + self.below(most);
        (0..count).map(|_| WORDS[self.below(WORDS.len())]).collect::<Vec<_>>().join(" ")
    }

    /// Returns what a tool said: sometimes nothing, mostly a line or two, sometimes a page.
    fn output(&mut self) -> String {
        match self.below(8) {
            0 => String::new(),
            1..4 => self.words(20),
            _ => self.words(400),
        }
    }

    fn arguments(&mut self) -> Value {
        match self.below(4) {
            0 => json!({}),
            1 => json!({"command": self.words(8)}),
            2 => json!({"file_path": "src/lock.rs", "content": self.words(300), "n": 1.0}),
            _ => json!({"edits": [{"old": self.words(60), "new": self.words(60)}], "path": "src/a.rs"}),
        }
    }

    fn tool(&mut self) -> &'static str {
        ["bash", "read_file", "write_file", "grep", "mcp__x__y"][self.below(5)]
    }
}

/// What one turn of the model is made of.
struct Round {
    request: Option<String>,
    says: Option<String>,
    thinks: bool,
    calls: Vec<(String, &'static str, Value, Option<String>)>,
}

fn rounds(draw: &mut Draw) -> Vec<Round> {
    let count = 4 + draw.below(24);
    let is_open = draw.one_in(3);
    let mut rounds: Vec<Round> = Vec::new();
    for n in 0..count {
        let is_last = n + 1 == count;
        let n_calls = if draw.one_in(4) { 0 } else { 1 + draw.below(4) };
        let calls: Vec<_> = (0..n_calls)
            .map(|c| {
                let is_answered = !(is_last && is_open && c + 1 == n_calls);
                let output = is_answered.then(|| draw.output());
                (format!("call_{n}_{c}"), draw.tool(), draw.arguments(), output)
            })
            .collect();
        // Without a call the model has the last word, and somebody must speak next.
        let is_told = rounds.last().is_none_or(|before: &Round| before.calls.is_empty());
        rounds.push(Round {
            request: (is_told || draw.one_in(6)).then(|| draw.words(60)),
            says: (calls.is_empty() || draw.one_in(2)).then(|| draw.words(80)),
            thinks: draw.one_in(2),
            calls,
        });
    }
    rounds
}

pub(super) fn openai(draw: &mut Draw) -> String {
    let mut messages = vec![json!({"role": "system", "content": "You are an engineer."})];
    for round in rounds(draw) {
        if let Some(request) = round.request {
            let picture =
                json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}});
            messages.push(match draw.one_in(6) {
                true => json!({"role": "user", "content": [{"type": "text", "text": request}, picture]}),
                false => json!({"role": "user", "content": request}),
            });
        }
        let mut said = json!({"role": "assistant", "content": round.says});
        if round.thinks {
            said["reasoning_content"] = json!(draw.words(40));
        }
        let calls: Vec<Value> = round
            .calls
            .iter()
            .map(|(id, name, arguments, _)| {
                json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments.to_string()}})
            })
            .collect();
        if !calls.is_empty() {
            said["tool_calls"] = Value::Array(calls);
        }
        messages.push(said);
        for (id, _, _, output) in round.calls {
            messages
                .extend(output.map(|output| json!({"role": "tool", "tool_call_id": id, "content": output})));
        }
    }
    json!({"model": "gpt-x", "messages": messages}).to_string()
}

fn anthropic_messages(draw: &mut Draw) -> Vec<Value> {
    let mut messages: Vec<Value> = Vec::new();
    let mut results: Vec<Value> = Vec::new();
    for (n, round) in rounds(draw).into_iter().enumerate() {
        let mut told = std::mem::take(&mut results);
        if let Some(request) = round.request {
            told.push(json!({"type": "text", "text": request}));
            if draw.one_in(6) {
                let source = json!({"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="});
                told.push(json!({"type": "image", "source": source}));
            }
            if draw.one_in(8) {
                let source = json!({"type": "text", "media_type": "text/plain", "data": draw.words(50)});
                told.push(json!({"type": "document", "source": source, "title": "notes"}));
            }
        }
        messages.push(json!({"role": "user", "content": told}));
        let mut said: Vec<Value> = Vec::new();
        if round.thinks {
            said.push(match draw.one_in(4) {
                true => json!({"type": "redacted_thinking", "data": format!("c2VhbGVk{n}")}),
                false => {
                    json!({"type": "thinking", "thinking": draw.words(30), "signature": format!("c2ln{n}")})
                }
            });
        }
        if draw.one_in(8) {
            let id = format!("srvtoolu_{n}");
            said.push(
                json!({"type": "server_tool_use", "id": id, "name": "web_search", "input": {"query": "x"}}),
            );
            let page = json!({"type": "web_search_result", "url": "https://a.example", "title": "A", "encrypted_content": "eA=="});
            said.push(json!({"type": "web_search_tool_result", "tool_use_id": id, "content": [page]}));
        }
        said.extend(round.says.map(|says| json!({"type": "text", "text": says})));
        for (id, name, arguments, output) in round.calls {
            said.push(json!({"type": "tool_use", "id": id, "name": name, "input": arguments}));
            let Some(output) = output else { continue };
            let content = match draw.below(4) {
                0 => json!(output),
                1 => {
                    json!([{"type": "text", "text": format!("{output}.")}, {"type": "future_block", "x": [1.0]}])
                }
                _ => json!([{"type": "text", "text": format!("{output}.")}]),
            };
            let mut result = json!({"type": "tool_result", "tool_use_id": id, "content": content});
            if draw.one_in(4) {
                result["is_error"] = json!(true);
            }
            results.push(result);
        }
        if said.iter().all(|block| text_of(block, "type").ends_with("thinking")) {
            said.push(json!({"type": "text", "text": "Done."}));
        }
        messages.push(json!({"role": "assistant", "content": said}));
    }
    if !results.is_empty() {
        messages.push(json!({"role": "user", "content": results}));
    }
    messages
}

fn text_of<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

pub(super) fn anthropic(draw: &mut Draw) -> String {
    let messages = anthropic_messages(draw);
    json!({"model": "claude-x", "system": "You are an engineer.", "messages": messages}).to_string()
}

/// One line a block of the assistant, as the agent writes them.
pub(super) fn claude_code(draw: &mut Draw) -> String {
    let (mut lines, mut parent) = (Vec::new(), Value::Null);
    for (n, message) in anthropic_messages(draw).into_iter().enumerate() {
        let is_assistant = message["role"] == "assistant";
        let blocks = message["content"].as_array().cloned().unwrap_or_default();
        let pieces: Vec<Value> = match is_assistant {
            true => blocks.into_iter().map(|block| json!([block])).collect(),
            false => vec![Value::Array(blocks)],
        };
        for (at, content) in pieces.into_iter().enumerate() {
            let uuid = format!("{n:08x}-0000-4000-8000-{at:012x}");
            let mut said = json!({"role": message["role"], "content": content});
            if is_assistant {
                said["id"] = json!(format!("msg_{n}"));
                said["model"] = json!("claude-x");
            }
            lines.push(json!({
                "parentUuid": parent, "isSidechain": false, "sessionId": "11111111-1111-4111-8111-111111111111",
                "cwd": "/w", "version": "2.1.0", "type": message["role"], "message": said, "uuid": uuid,
                "timestamp": "2026-01-01T00:00:01.000Z",
            }));
            parent = json!(uuid);
            if draw.one_in(12) {
                let uuid = format!("{n:08x}-1111-4000-8000-{at:012x}");
                lines.push(json!({"type": "system", "subtype": "informational", "content": "x", "parentUuid": parent, "uuid": uuid, "sessionId": "11111111-1111-4111-8111-111111111111"}));
                parent = json!(uuid);
            }
        }
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn items(draw: &mut Draw) -> Vec<Value> {
    let mut items = Vec::new();
    let has_phase = draw.one_in(2);
    for (n, round) in rounds(draw).into_iter().enumerate() {
        if let Some(request) = round.request {
            items.push(json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": request}]}));
        }
        for part in 0..usize::from(round.thinks) * (1 + draw.below(2)) {
            items.push(json!({"type": "reasoning", "id": format!("rs_{n}_{part}"), "summary": [], "encrypted_content": "Z0FBQUE="}));
        }
        if let Some(says) = round.says {
            let content = json!([{"type": "output_text", "text": says, "annotations": []}]);
            let mut said = json!({"type": "message", "id": format!("msg_{n}"), "role": "assistant", "content": content, "status": "completed"});
            if has_phase {
                said["phase"] = json!(if round.calls.is_empty() { "final_answer" } else { "commentary" });
            }
            items.push(said);
        }
        let mut outputs = Vec::new();
        for (at, (id, name, arguments, output)) in round.calls.into_iter().enumerate() {
            // Reasoning may also come between the calls of one answer.
            if round.thinks && at > 0 && draw.one_in(5) {
                items.push(json!({"type": "reasoning", "id": format!("rs_{n}_between_{at}"), "summary": [], "encrypted_content": "Z0FBQUE="}));
            }
            items.push(json!({"type": "function_call", "id": format!("fc_{n}_{at}"), "call_id": id, "name": name, "arguments": arguments.to_string(), "status": "completed"}));
            outputs.extend(
                output.map(|output| json!({"type": "function_call_output", "call_id": id, "output": output})),
            );
        }
        items.extend(outputs);
    }
    items
}

pub(super) fn responses(draw: &mut Draw) -> String {
    json!({"model": "gpt-x", "instructions": "You are an engineer.", "input": items(draw)}).to_string()
}

pub(super) fn codex(draw: &mut Draw) -> String {
    let meta = json!({"id": "22222222-2222-4222-8222-222222222222", "cwd": "/w", "originator": "codex-tui", "base_instructions": {"text": "You are an agent."}});
    let mut lines =
        vec![json!({"timestamp": "2026-01-01T00:00:00.000Z", "type": "session_meta", "payload": meta})];
    for item in items(draw) {
        if draw.one_in(10) {
            lines.push(json!({"timestamp": "2026-01-01T00:00:01.000Z", "type": "event_msg", "payload": {"type": "agent_message", "message": "x"}}));
        }
        lines
            .push(json!({"timestamp": "2026-01-01T00:00:01.000Z", "type": "response_item", "payload": item}));
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

pub(super) fn gemini(draw: &mut Draw) -> String {
    let mut contents: Vec<Value> = Vec::new();
    for (n, round) in rounds(draw).into_iter().enumerate() {
        // An open call cannot be told from a history that lacks its response: here every call is answered.
        if let Some(request) = round.request {
            let told = json!({"text": request});
            match contents.last_mut().filter(|content| content["role"] == "user") {
                Some(content) => content["parts"].as_array_mut().unwrap().push(told),
                None => contents.push(json!({"role": "user", "parts": [told]})),
            }
        }
        let mut parts = Vec::new();
        if round.thinks {
            parts.push(json!({"text": draw.words(20), "thought": true}));
        }
        if let Some(says) = round.says {
            parts.push(match draw.one_in(3) {
                true => json!({"text": says, "thoughtSignature": format!("dHh0{n}")}),
                false => json!({"text": says}),
            });
        }
        let (mut responses, has_ids) = (Vec::new(), draw.one_in(2));
        for (at, (id, name, arguments, output)) in round.calls.into_iter().enumerate() {
            let mut call = json!({"name": name, "args": arguments});
            let said = json!({"output": output.unwrap_or_default()});
            let mut response = json!({"name": name, "response": said});
            if has_ids {
                (call["id"], response["id"]) = (json!(id), json!(id));
            }
            let mut part = json!({"functionCall": call});
            if at == 0 {
                part["thoughtSignature"] = json!(format!("c2ln{n}"));
            }
            parts.push(part);
            responses.push(json!({"functionResponse": response}));
        }
        contents.push(json!({"role": "model", "parts": parts}));
        if !responses.is_empty() {
            contents.push(json!({"role": "user", "parts": responses}));
        }
    }
    json!({"systemInstruction": {"parts": [{"text": "You are an engineer."}]}, "contents": contents})
        .to_string()
}
