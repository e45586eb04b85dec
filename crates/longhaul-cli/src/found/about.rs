//! What a session file says of itself, read from its beginning and its end: files of long sessions are large. What lies between is
//! read, line by line, only where the window depends on it.

use std::{
    fs::File,
    io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom},
    path::{Path, PathBuf},
    slice,
};

use longhaul::{
    summarize::rules,
    tokens::ModelTable,
    transcript::{Entry, Message, Role, Tokens, Transcript, Usage},
    wire::{self, Document, Format},
};
use serde_json::Value;

use super::{Found, agents, whole};
use crate::exit::without_secrets;

/// What is known of a session without reading all of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct About {
    /// The folder that the agent worked in.
    pub(crate) folder: Option<PathBuf>,
    /// Where it began: an agent may go into another folder.
    began: Option<PathBuf>,
    /// What was asked first.
    pub(crate) title: Option<String>,
    /// The model that spoke last.
    pub(crate) model: Option<String>,
    /// What the last request and its answer cost, as the provider billed them; none where a compaction came behind them.
    pub(crate) billed: Option<Tokens>,
    /// The most that any of them cost: it fits the window, whatever was compacted since.
    most_billed: Option<Tokens>,
    /// The model's context window, where the file tells it; or the table of models, where it was looked for.
    pub(crate) window: Option<Tokens>,
}

/// So much of the beginning is read: the first request stands in it.
pub(super) const HEAD: u64 = 1 << 20;
/// So much of the end is read: the last answer stands in it.
const TAIL: u64 = 1 << 19;

impl About {
    /// Returns what `found` says of itself, and does not look for its window; nothing where it cannot be read.
    pub(crate) fn quick(found: &Found) -> About {
        About::read(&found.path, found.agent.format).unwrap_or_default()
    }

    /// Returns what `found` says of itself, with its window; nothing where it cannot be read.
    pub(crate) fn with_window(found: &Found) -> About {
        About::read_with_window(&found.path, found.agent.format).unwrap_or_default()
    }

    /// Returns what the file at `path`, read as `document`, says of itself, where it is a session of an agent's that says such
    /// things.
    pub(crate) fn of(path: &Path, document: &Document) -> About {
        let format = document.format();
        if is_read_whole(format) {
            return About::told_by(path, document);
        }
        // A pipe was read to its end, and whoever wrote into it has left.
        let says = agents::is_kept_in(format) && path.is_file();
        let about = says.then(|| About::read_with_window(path, format).ok()).flatten().unwrap_or_default();
        // Where all of it is read, turns that were taken back are known.
        About { billed: last_billed(document), ..about }
    }

    /// Returns what a document that is all of the session at `path` says, with its window.
    fn told_by(path: &Path, document: &Document) -> About {
        let mut about = About {
            folder: document.folder().map(PathBuf::from).or_else(|| agents::folder(path, document.format())),
            title: title_of(document),
            model: document.model().map(str::to_owned),
            billed: last_billed(document),
            ..About::default()
        };
        about.window = about.usual_window(document.format());
        about
    }

    fn read(path: &Path, format: Format) -> io::Result<About> {
        if is_read_whole(format) {
            let about = About::told_by(path, &whole::read_beginning(path, format)?);
            // Where only the beginning was read, neither is known.
            return Ok(About { billed: None, window: None, ..about });
        }
        let mut file = File::open(path)?;
        let length = file.metadata()?.len();
        let mut head = Vec::new();
        file.by_ref().take(HEAD).read_to_end(&mut head)?;
        let mut about = About::default();
        lines(whole_lines(&head, length <= HEAD)).for_each(|line| about.note(&line));
        about.title = title(whole_lines(&head, length <= HEAD), format);
        if length > HEAD {
            file.seek(SeekFrom::Start(length - TAIL))?;
            let mut tail = Vec::new();
            file.take(TAIL).read_to_end(&mut tail)?;
            // The first line is cut, and no JSON.
            lines(&tail).for_each(|line| about.note(&line));
        }
        Ok(about)
    }

    /// Does what [`read`](Self::read) does, and looks for the window: for that all of a large file may have to be read.
    fn read_with_window(path: &Path, format: Format) -> io::Result<About> {
        if is_read_whole(format) {
            return Ok(About::told_by(path, &whole::read(path, format)?));
        }
        let mut about = About::read(path, format)?;
        if about.may_be_of_a_larger_window(format) {
            let all = File::open(path)?;
            if all.metadata()?.len() > HEAD {
                about.most_billed = about.most_billed.max(billed_above(CLAUDE_CODE, all)?);
            }
        }
        about.window = about.window.or_else(|| about.usual_window(format));
        Ok(about)
    }

    /// Returns the window of the model. Claude Code uses 200,000 tokens of larger ones where nobody asks for all of it, and
    /// keeps nothing that says so: what was billed tells.
    fn usual_window(&self, format: Format) -> Option<Tokens> {
        let window = ModelTable::builtin().get(self.model.as_deref()?)?.window;
        let is_all_used = format != Format::ClaudeCode || self.most_billed > Some(CLAUDE_CODE);
        Some(if is_all_used { window } else { window.min(CLAUDE_CODE) })
    }

    /// Returns whether it depends on what was billed between the beginning and the end which window it is.
    fn may_be_of_a_larger_window(&self, format: Format) -> bool {
        let largest = || ModelTable::builtin().get(self.model.as_deref()?).map(|model| model.window);
        format == Format::ClaudeCode
            && self.window.is_none()
            && self.most_billed <= Some(CLAUDE_CODE)
            && largest() > Some(CLAUDE_CODE)
    }

    /// Returns whether the session belongs to the folder `here`: it was held in it, above it or below it.
    pub(crate) fn is_of(&self, here: &Path, reach: Reach) -> bool {
        // An agent may go into a folder of the project it was begun in.
        [&self.began, &self.folder].into_iter().flatten().any(|folder| reach.takes(folder, here))
    }

    /// Returns whether the title holds each of `words`.
    pub(crate) fn is_about(&self, words: &str) -> bool {
        let title = self.title.as_deref().unwrap_or_default().to_lowercase();
        words.to_lowercase().split_whitespace().all(|word| title.contains(word))
    }

    /// Notes what a line says; what stands in a later line holds.
    fn note(&mut self, line: &Value) {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        if is_compaction(line) {
            // What was billed before is in the window no more.
            self.billed = None;
        }
        let folder = text(&line["cwd"]).or_else(|| text(&line["payload"]["cwd"]));
        self.folder = folder.map(PathBuf::from).or_else(|| self.folder.take());
        self.began = self.began.take().or_else(|| self.folder.clone());
        if line["isSidechain"] == true {
            return;
        }
        // Claude Code and pi keep the provider's message, Codex tells its turns and counts apart.
        let (message, payload) = (&line["message"], &line["payload"]);
        let model = [&message["model"], &payload["model"], &line["modelId"]].into_iter().find_map(text);
        self.model = model.filter(|model| model != SYNTHETIC).or_else(|| self.model.take());
        let billed = match payload["info"]["last_token_usage"].is_object() {
            true => sum(&payload["info"]["last_token_usage"], &["total_tokens"]),
            false => sum(&message["usage"], &USAGE),
        };
        self.billed = billed.filter(|billed| *billed > Tokens::ZERO).or(self.billed);
        self.most_billed = self.most_billed.max(self.billed);
        self.window = payload["info"]["model_context_window"].as_u64().map(Tokens).or(self.window);
    }
}

/// Which sessions are taken for those of the folder that one is in: what was held in it or in a folder above it, and what more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// No more: what changes something.
    Inside,
    /// What was held in a folder below it too: what only looks.
    Around,
}

impl Reach {
    /// Returns whether what was held in `folder` is of `here`.
    pub(crate) fn takes(self, folder: &Path, here: &Path) -> bool {
        let is_around = || self == Reach::Around && folder.starts_with(here);
        here == folder || folder.parent().is_some() && (here.starts_with(folder) || is_around())
    }
}

/// Returns what the last request and its answer cost, as they were billed.
fn last_billed(document: &Document) -> Option<Tokens> {
    let billed = |usage: &Usage| usage.prompt_total() + usage.output + usage.reasoning;
    let mut billed = document.usages().iter().map(|(_, usage)| billed(usage));
    billed.rfind(|billed| *billed > Tokens::ZERO)
}

/// Returns whether what a session says of itself is read from it as a history: line by line only those are known that were recorded.
fn is_read_whole(format: Format) -> bool {
    !matches!(format, Format::ClaudeCode | Format::Codex | Format::Pi) && agents::is_kept_in(format)
}

/// So much of a larger window Claude Code uses where nobody asks for all of it.
const CLAUDE_CODE: Tokens = Tokens(200_000);

/// Returns the first that was billed in `session` and is more than `least`, line by line: of a session that is large one line
/// is held at a time, and of those that bill nothing no JSON is read.
fn billed_above(least: Tokens, session: File) -> io::Result<Option<Tokens>> {
    let (mut session, mut line) = (BufReader::with_capacity(1 << 18, session), Vec::new());
    while session.read_until(b'\n', &mut line)? > 0 {
        let bills = std::str::from_utf8(&line).is_ok_and(|line| line.contains("\"usage\""));
        let mut about = About::default();
        lines(if bills { &line } else { b"" }).for_each(|line| about.note(&line));
        if about.most_billed > Some(least) {
            return Ok(about.most_billed);
        }
        line.clear();
    }
    Ok(None)
}

/// What Claude Code calls the model of messages that it wrote itself.
const SYNTHETIC: &str = "<synthetic>";

/// What a request cost, by the names of Anthropic and of pi.
const USAGE: [&str; 8] = [
    "input_tokens",
    "cache_creation_input_tokens",
    "cache_read_input_tokens",
    "output_tokens",
    "input",
    "cacheRead",
    "cacheWrite",
    "output",
];

fn sum(usage: &Value, names: &[&str]) -> Option<Tokens> {
    let mut counts = names.iter().filter_map(|name| usage[name].as_u64()).peekable();
    counts.peek()?;
    Some(counts.map(Tokens).sum())
}

/// Returns `bytes` up to the last line that is whole.
pub(super) fn whole_lines(bytes: &[u8], is_all: bool) -> &[u8] {
    match bytes.iter().rposition(|byte| *byte == b'\n').filter(|_| !is_all) {
        Some(end) => &bytes[..=end],
        None => bytes,
    }
}

fn lines(bytes: &[u8]) -> impl Iterator<Item = Value> {
    bytes.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok())
}

fn is_compaction(line: &Value) -> bool {
    let is_marked = line["subtype"] == "compact_boundary"
        || ["compacted", "compaction"].iter().any(|kind| line["type"] == *kind);
    is_marked && line["isSidechain"] != true
}

/// Returns the lines of `head` before the first compaction.
fn before_compaction(head: &[u8]) -> &[u8] {
    let mut at = 0;
    for line in head.split_inclusive(|byte| *byte == b'\n') {
        // Most lines are long, and are none.
        let may_be = std::str::from_utf8(line).is_ok_and(|line| line.contains("compact"));
        if may_be && serde_json::from_slice(line).is_ok_and(|line| is_compaction(&line)) {
            break;
        }
        at += line.len();
    }
    &head[..at]
}

/// Returns what was asked first, in a line: where the session was compacted, before that, or by what its summary says of it.
fn title(head: &[u8], format: Format) -> Option<String> {
    let title_in = |lines: &[u8]| title_of(&wire::read(Some(format), lines).ok()?);
    let before = before_compaction(head);
    title_in(before).or_else(|| title_in(head).filter(|_| before.len() < head.len()))
}

pub(super) fn title_of(document: &Document) -> Option<String> {
    title_in(document.transcript().entries())
}

/// Returns what was asked first among the first messages of a session, in a line.
fn title_in(entries: &[Entry]) -> Option<String> {
    // What a session begins with is a summary, where that was compacted into it.
    let mut first = entries.iter().take(3).filter(|entry| entry.message.role == Role::User);
    let first = first.next().and_then(|entry| entry.message.texts().next());
    match first.and_then(told_by_summary) {
        Some(asked) => first_line(&asked),
        None => {
            request(entries).and_then(first_line).or_else(|| first_line(&told_by_agents_summary(first?)?))
        }
    }
}

/// Returns the first message of a person's that asks for something, in however few words; the first of all where none does.
fn request(entries: &[Entry]) -> Option<&str> {
    let said = || entries.iter().filter_map(|entry| Some(rules::task(slice::from_ref(entry))?.1));
    said().find(|text| asks(text)).or_else(|| said().next())
}

/// Returns whether a message says more than a greeting or "go on": with one word more it is a task beside one that asks nothing.
fn asks(text: &str) -> bool {
    let said = [Message::user("hello"), Message::user(format!("{text} request"))];
    let said: Transcript = said.into_iter().collect();
    rules::task(said.entries()).is_some_and(|(entry, _)| entry.id.ordinal == 1)
}

/// Returns what persons asked among the first messages of a session, each in a line: the title first.
pub(crate) fn asked_in(entries: &[Entry]) -> Vec<String> {
    let mut asked: Vec<String> = title_in(entries).into_iter().collect();
    for entry in entries.iter().filter(|entry| entry.message.is_user_text()) {
        let one = entry.message.texts().next().and_then(first_line);
        asked.extend(one.filter(|one| !asked.contains(one)));
    }
    asked
}

/// Returns what was asked first, as a summary of ours tells it.
fn told_by_summary(summary: &str) -> Option<String> {
    let (_, asked) = summary.split_once("\n## Asked before\nm")?;
    let (handle, asked) = asked.lines().next()?.split_once(' ')?;
    // Where it was answered is the summary's to say.
    let mut marks = [" (answered in m", " (asked back in m"].iter();
    let said = marks.find_map(|mark| asked.rsplit_once(mark).filter(|(_, answer)| answer.ends_with(')')));
    let asked = said.map_or(asked, |(said, _)| said);
    handle.bytes().all(|byte| byte.is_ascii_digit()).then(|| asked.to_owned())
}

/// Returns what was asked first, as a summary of an agent's tells it: what stands under a heading that is about the request.
fn told_by_agents_summary(summary: &str) -> Option<String> {
    let mut lines = summary.lines().map(str::trim).filter(|line| !line.is_empty());
    let is_heading = |line: &str| line.trim_end_matches('*').ends_with(':') || line.starts_with('#');
    lines.find(|line| is_heading(line) && line.contains("Request"))?;
    lines.map(without_markup).find(|line| !line.is_empty())
}

/// Returns what a line of a list says: `- **Original task**: Mend the relay.` says "Mend the relay."
fn without_markup(line: &str) -> String {
    let words = line.trim_start_matches(|c: char| !c.is_alphanumeric() && c != '`');
    let words = match words.split_once(". ") {
        Some((number, rest)) if number.bytes().all(|byte| byte.is_ascii_digit()) => {
            rest.trim_start_matches('*')
        }
        _ => words,
    };
    let label = words.split_once("**").filter(|(label, rest)| label.ends_with(':') || rest.starts_with(':'));
    let words = label.map_or(words, |(_, rest)| rest.trim_start_matches(':').trim_start());
    words.replace("**", "")
}

/// Returns the first line of `text`, with the next where it only leads that in.
fn first_line(text: &str) -> Option<String> {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next()?;
    let next = lines.next().filter(|_| first.ends_with(':')).unwrap_or_default();
    let words = first.split_whitespace().chain(next.trim_start_matches('#').split_whitespace());
    // It is told in lists and by who is asked for a session, which go further than the session does.
    Some(without_secrets(&words.collect::<Vec<_>>().join(" ")).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn about(format: Format, lines: &str) -> About {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("session.jsonl");
        std::fs::write(&path, lines).unwrap();
        let about = About::read_with_window(&path, format).unwrap();
        let quick = About::read(&path, format).unwrap();
        assert_eq!((&quick.title, &quick.folder, quick.billed), (&about.title, &about.folder, about.billed));
        assert!(format == Format::Codex || quick.window.is_none(), "nobody looked for it");
        about
    }

    /// A title is shown in lists and kept by whoever keeps what `mcp` says.
    #[test]
    fn a_title_holds_no_secret() {
        let token = ["ghp", "_", "x8Kq2mV7Rt5Lw9Zc3Bn6Yd1Fg4Hj0Ps7Ua2b"].concat();
        let line = format!(
            r#"{{"type":"user","cwd":"/w","sessionId":"s","uuid":"a","parentUuid":null,"message":{{"role":"user","content":"Use {token} here"}}}}"#
        );
        let title = about(Format::ClaudeCode, &(line + "\n")).title.unwrap();
        assert_eq!(title, "Use [REDACTED:github-pat:1] here");
    }

    #[test]
    fn the_title_is_what_was_asked_first() {
        let title = |asked: &[&str]| {
            let said: Transcript = asked.iter().map(|text| Message::user(*text)).collect();
            title_in(said.entries()).unwrap()
        };
        // However short it is: another one further on is another request.
        assert_eq!(title(&["hello one", "B first"]), "hello one");
        assert_eq!(title(&["refactor", "Mend the relay."]), "refactor");
        assert_eq!(title(&["Hello there!", "ok go on", "Mend the relay."]), "Mend the relay.");
        assert_eq!(title(&["hi"]), "hi");
        let summary = "[Context Summary - 3 messages summarized]\n\n## Asked before\nm0 Mend the relay (it is slow). (answered in m17)";
        assert_eq!(title(&[summary]), "Mend the relay (it is slow).");
    }

    #[test]
    fn what_goes_on_from_an_agents_summary_is_told_by_its_request() {
        for (heading, request, title) in [
            (
                "1. Primary Request and Intent:",
                "   - Number the folders\n     from one.",
                "Number the folders",
            ),
            ("## Primary Request", "Number the **folders**.", "Number the folders."),
            (
                "1. **Primary Request and Intent:**",
                "   - **Original task**: Mend `relay.rs`.",
                "Mend `relay.rs`.",
            ),
            ("**User Request:**", "- **Task:**\n  1. **First**: `retry` is to wait.", "`retry` is to wait."),
        ] {
            let summary = format!(
                "This session is being continued from a previous conversation that ran out of context. The conversation is \
                 summarized below:\nSummary:\n{heading}\n{request}\n\n2. Key Technical Concepts:\n   - folders\n"
            );
            let line = serde_json::json!({
                "type": "user", "cwd": "/w", "sessionId": "s", "uuid": "a", "parentUuid": null, "isCompactSummary": true,
                "message": {"role": "user", "content": summary},
            });
            assert_eq!(about(Format::ClaudeCode, &format!("{line}\n")).title.as_deref(), Some(title));
        }
    }

    #[test]
    fn sessions_of_each_agent_tell_what_they_are() {
        let claude = about(
            Format::ClaudeCode,
            concat!(
                r#"{"type":"user","cwd":"/home/mara/relay","sessionId":"s","uuid":"a","parentUuid":null,"message":{"role":"user","content":"Fix the retry\nin relay."}}"#,
                "\n",
                r#"{"type":"assistant","cwd":"/home/mara/relay","sessionId":"s","uuid":"b","parentUuid":"a","message":{"model":"claude-sonnet-4-5","role":"assistant","content":[{"type":"text","text":"Done."}],"usage":{"input_tokens":8,"cache_creation_input_tokens":3000,"cache_read_input_tokens":77000,"output_tokens":40}}}"#,
                "\n",
                r#"{"type":"assistant","isSidechain":true,"message":{"model":"claude-haiku-4-5","usage":{"input_tokens":5}}}"#,
                "\n{\"cut",
            ),
        );
        assert_eq!(claude.title.as_deref(), Some("Fix the retry"));
        assert_eq!(
            (claude.billed, claude.model.as_deref()),
            (Some(Tokens(80_048)), Some("claude-sonnet-4-5"))
        );
        assert_eq!(claude.window, ModelTable::builtin().get("claude-sonnet-4-5").map(|model| model.window));
        let is_of = |here: &str, reach| claude.is_of(Path::new(here), reach);
        assert!(is_of("/home/mara/relay/src", Reach::Around) && is_of("/home/mara", Reach::Around));
        assert!(is_of("/home/mara/relay/src", Reach::Inside) && !is_of("/home/mara", Reach::Inside));
        assert!(!is_of("/home/mara/other", Reach::Around) && claude.is_about("RETRY fix"));

        // What fitted the window once fits it after a compaction, too.
        let billed = |tokens: u64| {
            format!(
                r#"{{"type":"assistant","message":{{"model":"claude-opus-5","usage":{{"input_tokens":{tokens}}}}}}}"#
            )
        };
        let boundary = r#"{"type":"system","subtype":"compact_boundary"}"#;
        let large = about(Format::ClaudeCode, &[&billed(700_015), boundary, &billed(30_010)].join("\n"));
        assert_eq!((large.billed, large.window), (Some(Tokens(30_010)), Some(Tokens(1_000_000))));
        let small = about(Format::ClaudeCode, &[&billed(70_015), boundary].join("\n"));
        assert_eq!((small.billed, small.window), (None, Some(Tokens(200_000))));

        let said = |id: &str, parent: &str, text: &str| {
            format!(
                r#"{{"type":"message","id":"{id}","parentId":{parent},"timestamp":"2026-01-02T10:00:00Z","message":{{"role":"user","content":"{text}"}}}}"#
            )
        };
        let pi = [
            r#"{"type":"session","version":3,"id":"s","timestamp":"2026-01-02T10:00:00Z","cwd":"/w"}"#,
            &said("a", "null", "Mend the relay."),
            r#"{"type":"compaction","id":"b","parentId":"a","timestamp":"2026-01-02T10:00:00Z","summary":"It was mended.","firstKeptEntryId":"c","tokensBefore":9}"#,
            &said("c", "\"b\"", "And now the queue."),
        ];
        assert_eq!(about(Format::Pi, &pi.join("\n")).title.as_deref(), Some("Mend the relay."));

        // The most stands between what is read of every session.
        let filler = format!(r#"{{"type":"user","message":{{"content":"{}"}}}}"#, "x".repeat(100_000));
        let filler = vec![filler; 12].join("\n");
        let said = [&*filler, &*billed(700_015), &*filler, boundary, &*billed(30_010)];
        let large = about(Format::ClaudeCode, &said.join("\n"));
        assert_eq!((large.billed, large.window), (Some(Tokens(30_010)), Some(Tokens(1_000_000))));

        let codex = about(
            Format::Codex,
            concat!(
                r#"{"type":"session_meta","payload":{"id":"x","cwd":"/w"}}"#,
                "\n",
                r#"{"type":"turn_context","payload":{"model":"gpt-5"}}"#,
                "\n",
                r#"{"type":"event_msg","payload":{"type":"token_count","info":{"last_token_usage":{"total_tokens":15569},"model_context_window":121600}}}"#,
                "\n",
            ),
        );
        assert_eq!((codex.billed, codex.window), (Some(Tokens(15_569)), Some(Tokens(121_600))));
        assert_eq!((codex.model.as_deref(), codex.title), (Some("gpt-5"), None));
    }
}
