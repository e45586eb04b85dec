//! `longhaul digest`: a filter that puts a digest in place of one tool's output.

use std::process::ExitCode;

use anyhow::Result;
use longhaul::{
    extract::{Allowance, digest, summarize_tool_result},
    transcript::{Outcome, Tokens, ToolCall, ToolResult},
};
use serde_json::json;

use crate::{
    args::DigestArgs,
    counter, input,
    output::Target,
    paint::{harmless_json, plain},
};

pub(crate) fn run(args: &DigestArgs) -> Result<ExitCode> {
    let text = input::text(&args.file)?;
    let counter = counter::choose(&args.counter)?.counter;
    let call = call(args);
    let count = |text: &str| counter.count_text(text);
    let allowance = Allowance::new(Tokens(args.budget), &count);
    let result = ToolResult::text("digest", text.as_str(), Outcome::Unstated);
    let summary = summarize_tool_result(Some(&call), &result);
    let digested = digest(Some(&call), &text, Outcome::Unstated, &allowance);
    let shown = match args.json {
        true => {
            let object = json!({
                "version": 1,
                "summary": summary.to_string(),
                "digest": digested,
                "tokens_before": count(&text),
                "tokens_after": count(&digested),
            });
            harmless_json(&object.to_string())
        }
        // A pipe ends on a terminal or with a model more often than not, and a digest is nobody's data.
        false if digested.ends_with('\n') || digested.is_empty() => plain(&digested),
        false => plain(&digested) + "\n",
    };
    Target::Stdout.put(shown.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// Returns a call as an agent would have made it, so that the digest knows what was asked.
fn call(args: &DigestArgs) -> ToolCall {
    let name = match args.tool.as_str() {
        "shell" => "bash",
        "read" => "read_file",
        "search" => "grep",
        name => name,
    };
    let key = match name {
        "bash" => "command",
        "read_file" => "path",
        _ => "pattern",
    };
    let arguments = args.input.as_ref().map_or_else(|| json!({}), |input| json!({ key: input }));
    ToolCall::function("digest", name, arguments.to_string())
}
