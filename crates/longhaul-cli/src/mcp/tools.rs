//! The tools, and what each is given.

use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};
use clap::Parser as _;
use longhaul::{store::readable_text, transcript::SessionId};
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};

use super::answer;
use crate::{
    archive::{Archive, Unrecorded, why_gone},
    args::{Args, Command, StoreArgs},
    commands, found,
    lookup::{self, By, Marks},
    paint::{self, plain},
};

/// The tools as a client lists them.
pub(super) fn all() -> Vec<Tool> {
    let session = json!({
        "type": "string",
        "description": "Which session: the beginning of its id, words of its first request, or its file. Default: the newest of this \
                        folder",
    });
    let reads = ToolAnnotations::new().read_only(true).open_world(false);
    let tool = |name: &'static str, about: &'static str, properties: Value, required: &[&str]| {
        let schema = json!({
            "type": "object", "properties": properties, "required": required, "additionalProperties": false,
        });
        Tool::new(name, about, schema.as_object().cloned().unwrap_or_default())
    };
    vec![
        tool(
            "recall",
            "Look up what was said earlier and is no longer in the context: by words (the places with the words, best first), by \
             message (m12, m3-m9; in full) or by the id of a summary (all that it stands for).",
            json!({
                "query": {"type": "string", "description": "Words that the message holds, or m12, m3-m9, or a summary's id"},
                "session": {
                    "type": "string",
                    "description": "A recorded session by its id, the beginning of it or its name; `all` searches every one. \
                                    Default: this folder's newest where it is recorded, else all",
                },
                "limit": {"type": "integer", "minimum": 1, "maximum": 50, "description": "The most messages of a search. Default: 8"},
                "from": {
                    "type": "integer", "minimum": 0,
                    "description": "Skip so many bytes of what an id names, to read on in a long message. Default: 0",
                },
            }),
            &["query"],
        )
        .with_annotations(reads.clone()),
        tool(
            "context",
            "Say what fills the context window of an agent's session: tokens by kind, the largest messages, when the next \
             compaction comes and what it would save.",
            json!({"session": session}),
            &[],
        )
        .with_annotations(reads.clone()),
        tool(
            "compact",
            "Summarize an agent's session by rule into a budget and return the summary. Writes nothing, unless `output` names a new \
             file for the compacted history; then every original is recorded, so that `recall` finds it.",
            json!({
                "session": session,
                "budget": {
                    "type": ["integer", "string"],
                    "description": "The most that the compacted history may cost, in tokens: 8000 or \"8k\". Default: 40 % of the window",
                },
                "output": {"type": "string", "description": "A file to write the compacted history to; an existing one is left alone"},
            }),
            &[],
        )
        .with_annotations(ToolAnnotations::new().read_only(false).destructive(false).open_world(false)),
        tool(
            "sessions",
            "List the sessions that agents keep on this machine, and those that are recorded with all their originals.",
            json!({"limit": {"type": "integer", "minimum": 1, "maximum": 100, "description": "The most of each kind. Default: 20"}}),
            &[],
        )
        .with_annotations(reads),
    ]
}

/// Does what the tool `name` is asked to.
///
/// # Errors
/// When there is no such tool, an argument is not as its schema says, or the work fails.
pub(super) fn call(store: &StoreArgs, name: &str, arguments: Option<JsonObject>) -> Result<String> {
    let arguments = Value::Object(arguments.unwrap_or_default());
    match name {
        "recall" => recall(store, &taken(arguments)?),
        "context" => context(&taken(arguments)?),
        "compact" => compact(store, &taken(arguments)?),
        "sessions" => sessions(store, &taken(arguments)?),
        name => bail!("there is no tool {name:?}; there are recall, context, compact and sessions"),
    }
}

fn taken<T: DeserializeOwned>(arguments: Value) -> Result<T> {
    serde_json::from_value(arguments).context("the arguments are not as the tool's schema says")
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Recall {
    query: String,
    session: Option<String>,
    limit: Option<u64>,
    #[serde(default)]
    from: usize,
}

fn recall(store: &StoreArgs, asked: &Recall) -> Result<String> {
    const USUAL: u64 = 8;
    const MOST: u64 = 50;
    /// How wide and how many the places are that are shown of a message.
    const COLUMNS: usize = 400;
    const PLACES: usize = 3;
    let recorded = Archive::if_there(store)?;
    let limit = asked.limit.unwrap_or(USUAL).clamp(1, MOST) as usize;
    let query: Vec<String> = asked.session.iter().chain([&asked.query]).cloned().collect();
    let (archive, sessions) = match Unrecorded::meant(recorded.as_ref(), &query)? {
        Some(unrecorded) => (unrecorded.archive, vec![Some(unrecorded.session)]),
        None => {
            let archive = recorded.map_or_else(|| Archive::existing(store), Ok)?;
            let sessions = sessions_of(&archive, asked.session.as_deref())?;
            (archive, sessions)
        }
    };
    let mut sessions = sessions.into_iter();
    let mut looked_up = lookup::look_up(&archive, sessions.next().flatten().as_ref(), &asked.query, limit)?;
    for session in sessions.by_ref() {
        if looked_up.by != By::SomeWords {
            break;
        }
        looked_up = lookup::look_up(&archive, session.as_ref(), &asked.query, limit)?;
    }
    if looked_up.found.is_empty() {
        // Who asked has it in full.
        const ECHOED: usize = 200;
        let query = plain(&paint::cut(&asked.query, ECHOED));
        bail!("no message holds the words of {query:?}; try fewer words, or session \"all\"");
    }
    let mut out = String::new();
    if looked_up.by == By::SomeWords {
        out.push_str("No message holds all of the words. These hold most of them:\n\n");
    }
    for (session, original) in &looked_up.found {
        let Some(message) = &original.message else {
            out.push_str(&format!("m{} of session {session} ({})\n", original.ordinal, why_gone(original)));
            continue;
        };
        let text = readable_text(message);
        out.push_str(&format!("m{} {} of session {session}", original.ordinal, message.who()));
        match looked_up.by {
            By::Id => out.push_str(&format!("\n{}\n\n", text.trim_end())),
            _ => {
                out.push_str(&format!(", {} bytes\n", text.len()));
                for place in lookup::snippets(&text, &asked.query, PLACES, COLUMNS, Marks("**", "**")) {
                    out.push_str(&format!("  {place}\n"));
                }
            }
        }
    }
    if looked_up.by == By::Id {
        return answer::part(&out, asked.from)
            .with_context(|| format!("from {} is beyond the end: about {} bytes", asked.from, out.len()));
    }
    out.push_str("\nrecall with `session`, and m and the number as the query, gives a message in full.\n");
    Ok(out)
}

/// Returns where to look, in order; `None` stands for every session.
fn sessions_of(archive: &Archive, named: Option<&str>) -> Result<Vec<Option<SessionId>>> {
    Ok(match named {
        Some("all") => vec![None],
        Some(name) => vec![Some(archive.session(name)?)],
        None => {
            let here = found::newest().map_or(Ok(Vec::new()), |found| archive.family(&found.id()))?;
            here.into_iter().map(Some).chain([None]).collect()
        }
    })
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Context {
    session: Option<String>,
}

fn context(asked: &Context) -> Result<String> {
    let file = file(asked.session.as_deref())?;
    let Command::Context(args) = parsed(&["context"], &file)? else { bail!("longhaul has a fault here") };
    commands::context::told(&args)
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Compact {
    session: Option<String>,
    budget: Option<Value>,
    output: Option<String>,
}

fn compact(store: &StoreArgs, asked: &Compact) -> Result<String> {
    let file = file(asked.session.as_deref())?;
    let budget = match &asked.budget {
        None => None,
        Some(Value::String(words)) => Some(format!("--budget={words}")),
        Some(Value::Number(number)) => Some(format!("--budget={number}")),
        Some(_) => bail!("budget is neither a number nor such as \"8k\""),
    };
    let to = asked.output.as_ref().map_or("--dry-run".to_owned(), |path| format!("--output={path}"));
    // Whatever the user's settings say: an agent waits for the answer, and it was told that no model is asked.
    let mut flags = vec!["compact", "--mode=rules", &to];
    flags.extend(budget.as_deref());
    let Command::Compact(mut args) = parsed(&flags, &file)? else { bail!("longhaul has a fault here") };
    args.store = store.clone();
    if let Some("-" | "/dev/stdout") = asked.output.as_deref() {
        bail!("output is to be a file");
    }
    if let Some(path) = asked.output.as_deref().filter(|path| std::path::Path::new(path).exists()) {
        bail!("{} exists; name a file that is not there yet", plain(path));
    }
    let report = commands::compact::perform(&args)?;
    let written = asked.output.as_ref().map(|path| format!("written to {path}\n")).unwrap_or_default();
    let summary = report.preview();
    Ok(format!("{}{written}\n{summary}", report.words(&paint::path(&file))))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sessions {
    limit: Option<usize>,
}

fn sessions(store: &StoreArgs, asked: &Sessions) -> Result<String> {
    const USUAL: usize = 20;
    const MOST: usize = 100;
    commands::sessions::told(store, asked.limit.unwrap_or(USUAL).clamp(1, MOST))
}

/// Returns the file of the session that is meant.
fn file(named: Option<&str>) -> Result<PathBuf> {
    let mut file = PathBuf::from(named.unwrap_or("-"));
    match named {
        None => file = found::newest_here()?,
        // The protocol itself comes from there.
        Some("-" | "" | "/dev/stdin") => bail!("session is to be an id, words or a file"),
        Some(words) => {
            found::settle(&mut file, found::ByWords::Taken)?;
            // What was no path, and still is, stands for nothing.
            let is_words = !words.contains(['/', '\\', '.']) && file == std::path::Path::new(words);
            if is_words && !file.exists() {
                bail!("{}; `sessions` lists them", found::unknown(words));
            }
        }
    }
    Ok(file)
}

/// Returns the command that `longhaul` takes these flags and this file for, so that both do the same.
fn parsed(flags: &[&str], file: &std::path::Path) -> Result<Command> {
    let mut line: Vec<std::ffi::OsString> = vec!["longhaul".into()];
    line.extend(flags.iter().map(Into::into));
    line.extend(["--".into(), file.into()]);
    Ok(Args::try_parse_from(line).map_err(|error| anyhow::anyhow!("{}", error.to_string().trim()))?.command)
}
