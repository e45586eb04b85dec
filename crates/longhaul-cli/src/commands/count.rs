//! `longhaul count`: how many tokens, and whose.

use std::{collections::BTreeMap, path::Path, process::ExitCode, sync::Arc};

use anyhow::{Context as _, Result, bail};
use longhaul::{
    Breakdown, ToolTokens,
    redact::Redactor,
    redacted_messages,
    tokens::{Accuracy, Family, ModelTable, TokenCounter, Tokenizer, count_tools},
    transcript::{Role, Tokens},
    wire::Document,
};
use longhaul_client::{Chat, ChatRequest, Endpoint, ToolDefinition};
use serde::Serialize;

use crate::{
    args::CountArgs,
    counter::{self, Named},
    found::About,
    input::{self, Unseen},
    output::Target,
    paint::{self, Painter, counted, grouped, harmless_json, line_width, padded, plain, width, wrapped},
    store, stream, summarizer,
};

/// What `--json` prints. Keys are stable.
#[derive(Debug, Serialize)]
struct Count<'a> {
    version: u32,
    file: String,
    format: &'a str,
    encoding: &'a str,
    accuracy: String,
    messages: usize,
    /// Messages that a compaction took out of the window, or that stood before the agent began anew: they are not counted.
    #[serde(rename = "compacted_away")]
    unseen: Unseen,
    tokens: Tokens,
    tool_definitions: Tokens,
    by_role: BTreeMap<String, Tokens>,
    by_kind: BTreeMap<String, Tokens>,
    by_tool: BTreeMap<String, ToolTokens>,
    /// The assistant says something.
    #[serde(skip)]
    has_assistant: bool,
    /// What the provider's own counter says, where it was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    provider: Option<Provider>,
}

/// A provider's own count.
#[derive(Debug, Serialize)]
struct Provider {
    host: String,
    model: String,
    /// Of the history, the definitions of its tools, and what frames them.
    tokens: Tokens,
}

pub(crate) fn run(args: &CountArgs) -> Result<ExitCode> {
    let counter = counter::choose(&args.counter)?;
    for file in &args.files {
        let count = match args.text {
            true => of_text(file, &counter)?,
            false => of_transcript(file, args, &counter)?,
        };
        let shown = match args.json {
            true => harmless_json(&serde_json::to_string(&count)?),
            false => table(&count),
        };
        Target::Stdout.put(shown.as_bytes())?;
    }
    Ok(ExitCode::SUCCESS)
}

fn of_text<'a>(file: &Path, counter: &'a Named) -> Result<Count<'a>> {
    let tokens = stream::count(input::open(file)?, counter)
        .with_context(|| format!("{} cannot be read", input::shown(file)))?;
    Ok(Count {
        version: 1,
        file: input::named(file),
        format: "text",
        encoding: &counter.name,
        accuracy: accuracy(&*counter.counter),
        messages: 0,
        unseen: Unseen::Compacted(0),
        tokens,
        tool_definitions: Tokens::ZERO,
        by_role: BTreeMap::new(),
        by_kind: BTreeMap::from([("text".to_owned(), tokens)]),
        by_tool: BTreeMap::new(),
        has_assistant: false,
        provider: None,
    })
}

fn of_transcript<'a>(file: &Path, args: &CountArgs, counter: &'a Named) -> Result<Count<'a>> {
    let document = input::document(file, args.from.from.0)?;
    input::warn_of_problems(file, &document, false)?;
    let breakdown = Breakdown::of(document.transcript().entries(), &*counter.counter);
    Ok(Count {
        version: 1,
        file: input::named(file),
        format: document.format().name(),
        encoding: &counter.name,
        accuracy: accuracy_for(file, &document, counter),
        messages: breakdown.messages,
        unseen: input::unseen(&document),
        tokens: breakdown.total,
        tool_definitions: count_tools(&*counter.counter, document.tools().iter().map(String::as_str)),
        by_role: breakdown.by_role,
        by_kind: breakdown.by_kind,
        by_tool: breakdown.by_tool,
        has_assistant: document.transcript().entries().iter().any(|one| one.message.role == Role::Assistant),
        provider: args.ask.as_ref().map(|model| ask(&document, model, args)).transpose()?,
    })
}

/// Returns how far the counter may be off for this conversation: what is exact by an encoding of OpenAI's is not what another's model
/// is billed for.
fn accuracy_for(file: &Path, document: &Document, counter: &Named) -> String {
    if counter.bpe.is_none() {
        return accuracy(&*counter.counter);
    }
    let model = About::of(file, document).model;
    let named = model.as_deref().map(|model| ModelTable::builtin().get_or_unknown(model).tokenizer);
    let is_claudes = model.as_ref().is_some_and(|model| model.contains("claude"));
    match (document.format().provider(), named) {
        (Some("anthropic"), _) => "Claude's own count differs".to_owned(),
        _ if is_claudes => "Claude's own count differs".to_owned(),
        (Some("google"), _) | (_, Some(Tokenizer::Family(Family::Gemini))) => {
            "Gemini's own count differs".to_owned()
        }
        (_, Some(Tokenizer::Family(_))) => {
            format!("the own count of {} may differ", paint::name(&model.unwrap_or_default()))
        }
        _ => accuracy(&*counter.counter),
    }
}

/// Asks the provider for its own count.
fn ask(document: &Document, model: &str, args: &CountArgs) -> Result<Provider> {
    let Some(url) = &args.base_url else {
        bail!(
            "asking a provider needs --base-url (or LONGHAUL_BASE_URL): nothing is sent anywhere that you did not name"
        );
    };
    let chat = Chat::anthropic(summarizer::with_key(Endpoint::new(url)?))?;
    // What leaves the machine has no secrets; each one replaced may change the count by a few tokens.
    let clean = redacted_messages(document, Some(&Redactor::builtin()));
    let messages = clean.into_iter().map(|message| Arc::new(message.into_inner())).collect();
    let tools = document.tools().iter().filter_map(|tool| ToolDefinition::from_json(tool)).collect();
    let request = ChatRequest::new(model, messages, Tokens::ZERO).with_tools(tools);
    let host = chat.host();
    let tokens = store::block_on(async {
        let count = chat.count_tokens(&request).await;
        count.with_context(|| format!("{host} does not count"))
    })?;
    Ok(Provider { host, model: model.to_owned(), tokens })
}

/// Returns how far the counter may be off, in words: `exact`, or `estimate, +-10 %`.
pub(crate) fn accuracy(counter: &dyn TokenCounter) -> String {
    match counter.accuracy() {
        Accuracy::Exact => "exact".into(),
        Accuracy::Estimate { margin } => format!("estimate, ±{:.0} %", margin * 100.0),
    }
}

fn table(count: &Count<'_>) -> String {
    let painter = Painter::stdout();
    let told = format!(
        "  {} tokens{}  ({}, {}, {})",
        painter.bold(&grouped(count.tokens.0)),
        if count.format == "text" {
            String::new()
        } else {
            format!(" in {}", counted(count.messages as u64, "message"))
        },
        count.format,
        painter.short(&paint::name(count.encoding), 30),
        count.accuracy,
    );
    let file = painter.short(&paint::name(&count.file), line_width().saturating_sub(width(&told)).max(20));
    let mut out = wrapped(&painter.bold(&file), &told, "  ");
    if count.unseen.count() > 0 {
        out.push_str(&wrapped("  ", count.unseen.line().trim_end(), "    "));
    }
    if count.messages == 0 {
        return out;
    }
    let mut tools: Vec<_> =
        count.by_tool.iter().map(|(name, tool)| (format!("{name} ×{}", tool.calls), tool.tokens)).collect();
    tools.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let mut sections =
        vec![("by role", by_role(count)), ("by kind", sorted(&count.by_kind)), ("by tool", tools)];
    for (_, rows) in &mut sections {
        rows.retain(|(_, tokens)| *tokens > Tokens::ZERO);
        rows.iter_mut()
            .for_each(|(name, _)| *name = painter.short(&paint::name(name), most_columns(painter)));
    }
    // One column for all of them.
    let names = || sections.iter().flat_map(|(_, rows)| rows);
    let columns = names().map(|(name, _)| width(name)).max().unwrap_or_default();
    let columns = columns.max(most_columns(painter).min(USUAL));
    for (title, rows) in sections.iter().filter(|(_, rows)| !rows.is_empty()) {
        out.push_str(&format!("\n  {title}\n"));
        for (name, tokens) in rows {
            let (name, share) = (padded(name, columns), 100.0 * tokens.ratio_of(count.tokens));
            out.push_str(&format!("  {name} {:>11} {share:>5.1} %\n", grouped(tokens.0)));
        }
    }
    if count.tool_definitions > Tokens::ZERO {
        let told = format!(
            "beside them, the definitions of the tools: {} tokens",
            grouped(count.tool_definitions.0)
        );
        out.push_str(&format!("\n{}", wrapped("  ", &told, "    ")));
    }
    if let Some(provider) = &count.provider {
        let ours = count.tokens + count.tool_definitions;
        let told = format!(
            "{} counts {} tokens for {}, definitions included; the count above is {:+.1} % off",
            plain(&provider.host),
            painter.bold(&grouped(provider.tokens.0)),
            plain(&provider.model),
            100.0 * (ours.ratio_of(provider.tokens) - 1.0),
        );
        out.push('\n');
        out.push_str(&wrapped("  ", &told, "    "));
    }
    out
}

/// How long the names are that most tables have, in columns.
const USUAL: usize = 28;

/// Returns how long a name may be, in columns: what a person looks at is shortened.
fn most_columns(painter: Painter) -> usize {
    const LONGEST: usize = 50;
    // What stands beside it: blanks, a number, a share.
    const BESIDE: usize = 22;
    match painter.is_seen() {
        true => line_width().saturating_sub(BESIDE).min(LONGEST),
        false => USUAL,
    }
}

/// Returns what each role said. Where the assistant says nothing, as in a meeting, what is counted for it only begins its reply.
fn by_role(count: &Count<'_>) -> Vec<(String, Tokens)> {
    let mut rows = sorted(&count.by_role);
    if !count.has_assistant {
        let begins = rows.iter_mut().filter(|(name, _)| name == Role::Assistant.as_str());
        begins.for_each(|(name, _)| *name = "(what begins a reply)".to_owned());
    }
    rows
}

fn sorted(map: &BTreeMap<String, Tokens>) -> Vec<(String, Tokens)> {
    let mut rows: Vec<_> = map.iter().map(|(name, tokens)| (name.clone(), *tokens)).collect();
    rows.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    rows
}
