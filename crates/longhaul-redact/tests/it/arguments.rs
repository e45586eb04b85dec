//! Files in the arguments of calls: each copy of a call gives away as little as the others, however deep the escapes are.

use longhaul_redact::{Redactor, Vault};
use longhaul_transcript::Raw;
use serde_json::{Value, json};

/// Files whose last line has a secret, which the end of a string must not hide.
const FILES: &[&str] = &[
    "| Role | Email | Password |\n|---|---|---|\n| Admin | a@b.co | Nimbus4761 |\n| User | b@b.co | Harbor9915 |",
    "password: >-\n  Harbor9915",
    "password: |\n  Harbor9915",
    "passwords:\n  - Nimbus8857\n  - Harbor9915",
    "Passwords:\n\n- Nimbus8857\n- Harbor9915",
];

#[test]
fn the_last_line_of_a_file_is_searched_in_every_copy_of_a_call() {
    let redactor = Redactor::builtin();
    for file in FILES {
        let written = json!({ "file_path": "/work/x", "content": file });
        // What a program is handed may hold a body that is JSON, too.
        for arguments in [written.clone(), json!({ "url": "https://x.io", "body": written.to_string() })] {
            let told = arguments.to_string();
            let messages = [
                json!({ "type": "function_call", "call_id": "c", "name": "w", "arguments": told }),
                json!({ "role": "assistant", "tool_calls": [{ "id": "c", "type": "function", "function": { "name": "w", "arguments": told } }] }),
                json!({ "role": "assistant", "content": [{ "type": "tool_use", "id": "c", "name": "w", "input": arguments }] }),
                json!({ "type": "function_call_output", "call_id": "c", "output": told }),
            ];
            let raw = messages.map(|message| {
                let raw = Raw::new("openai", message.to_string());
                let left = redactor.redact_raw_into(&raw, &mut Vault::new()).0.expect("something is left");
                assert!(is_json_to_its_depth(&left.json), "{}", left.json);
                left.json.to_string()
            });
            let copies = [redactor.redact_json(&told).0, redactor.redact_text(&told).0].map(String::from);
            for clean in raw.iter().chain(&copies) {
                let is_told = ["Harbor9915", "Nimbus"].iter().any(|word| clean.contains(word));
                assert!(!is_told, "{clean}");
            }
        }
    }
}

/// Returns whether `text` is JSON, and each string in it that begins as JSON does is as well.
fn is_json_to_its_depth(text: &str) -> bool {
    fn holds(value: &Value) -> bool {
        match value {
            Value::String(text) if text.starts_with('{') => is_json_to_its_depth(text),
            Value::Array(values) => values.iter().all(holds),
            Value::Object(fields) => fields.values().all(holds),
            _ => true,
        }
    }
    serde_json::from_str(text).is_ok_and(|value: Value| holds(&value))
}
