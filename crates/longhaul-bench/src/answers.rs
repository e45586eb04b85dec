//! Summaries by a strong reader who sees only the request: the requests are written out, and the answers to them replayed
//! over real HTTP through the whole pipeline.

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    path::Path,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::Duration,
};

use anyhow::{Context as _, Result};
use longhaul::compact::{self, CompactSettings, Compacted, Source};
use longhaul_client::{Endpoint, OpenAi};
use longhaul_extract::FactIndex;
use longhaul_summarize::{
    Ladder, LlmOptions, SummarizeError, Summarizer, SummarizerModel, rules::RulesSummarizer,
};
use longhaul_tokens::{Encoding, ModelTable, TokenCounter, counter};
use longhaul_transcript::{Entry, FixedClock, Message, NoJitter, Part, SessionId, Sleep, Tokens};
use longhaul_wire::Format;
use serde_json::{Value, json};

/// The model that the requests are made for: known to have room for all of the conversation, and so asked for Markdown.
pub const MODEL: &str = "claude-sonnet-4-5";

/// A recorded past, counted and read.
#[derive(Debug)]
pub struct Past {
    /// The name of its folder.
    pub name: String,
    entries: Vec<Entry>,
    costs: Vec<Tokens>,
    system: Tokens,
    index: FactIndex,
    counter: Arc<dyn TokenCounter>,
    session: SessionId,
}

/// What came of one compaction by a model.
#[derive(Debug)]
pub struct Outcome {
    /// The messages of the compacted history, and the record.
    pub compacted: Compacted,
    /// What was done to the model's words.
    pub repairs: Vec<String>,
    /// Why an answer was not used, where one was not.
    pub attempts: Vec<String>,
    /// The most that the summary might cost.
    pub limit: Tokens,
}

impl Past {
    /// Reads the history of the case in `folder`.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn read(folder: &Path) -> Result<Past> {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let history = fs::read(folder.join("history.json")).with_context(|| format!("reading {name}"))?;
        let document = longhaul_wire::read(Some(Format::OpenAi), history.as_slice())?;
        let entries = document.transcript().entries().to_vec();
        let counter = counter(Encoding::O200kBase);
        let costs: Vec<Tokens> = entries.iter().map(|entry| counter.count_message(&entry.message)).collect();
        let is_system = |(entry, _): &(&Entry, &Tokens)| entry.message.is_system();
        let system = entries.iter().zip(&costs).filter(is_system).map(|(_, cost)| *cost).sum();
        let mut index = FactIndex::new();
        entries.iter().for_each(|entry| index.push(entry));
        let session = SessionId::derived(&[]);
        Ok(Past { name, entries, costs, system, index, counter, session })
    }

    /// Compacts to `budget` tokens beside the system prompt, with the summarizer at `base`.
    ///
    /// # Errors
    /// When the budget is below the floor or the client cannot be set up.
    pub async fn compact(&self, budget: u64, base: &str) -> Result<Outcome> {
        let source = Source::new(&self.session, &self.entries, &self.costs, &*self.counter, &self.index);
        let ladder = ladder(base)?;
        let settings = CompactSettings {
            summary_first: ladder.worth(),
            ..CompactSettings::new(Tokens(budget) + self.system)
        };
        let plan = compact::plan(&source, &settings)?;
        let request = plan.request(&source, &settings);
        let limit = request.limit;
        let draft = match ladder.summarize(request).await {
            Ok(draft) => draft,
            Err(SummarizeError::Exhausted { attempts }) => {
                anyhow::bail!(
                    "no answer was used: {:?}",
                    attempts.iter().map(|attempt| &attempt.reason).collect::<Vec<_>>()
                )
            }
            Err(error) => return Err(error.into()),
        };
        let repairs = draft.repairs.clone();
        let attempts = draft.attempts.iter().map(|attempt| attempt.reason.clone()).collect();
        let compacted = plan.assemble_wide(&source, &settings, draft)?;
        Ok(Outcome { compacted, repairs, attempts, limit })
    }
}

fn ladder(base: &str) -> Result<Ladder> {
    let client = Arc::new(OpenAi::new(Endpoint::new(base)?)?);
    let table = ModelTable::builtin();
    let known = table.get(MODEL).context("a model of the table")?;
    let mut model = SummarizerModel::new(MODEL, known.window, client);
    model.max_output = known.max_output;
    let mut options = LlmOptions::default();
    options.abort_on_failure = true;
    options.retries = 0;
    let rules = Arc::new(RulesSummarizer::default());
    let (clock, sleep) = (Arc::new(FixedClock(0)), Arc::new(Timer));
    Ok(Ladder::new(vec![model], rules, options, clock, sleep, Arc::new(NoJitter)))
}

#[derive(Debug)]
struct Timer;

impl Sleep for Timer {
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(tokio::time::sleep(duration))
    }
}

/// Returns what the messages of a compacted history say to a reader, system prompt left out.
pub fn text(compacted: &Compacted) -> String {
    let messages = compacted.messages();
    let shown = messages.iter().filter(|message| !message.is_system());
    shown.map(|message| of_message(message)).collect::<Vec<_>>().join("\n\n")
}

fn of_message(message: &Message) -> String {
    let part = |part: &Part| match part {
        Part::Text(text) => Some(text.clone()),
        Part::ToolResult(result) => Some(result.joined_text()),
        Part::ToolCall(call) => Some(format!("{} {}", call.name, call.arguments.0)),
        _ => None,
    };
    let said: Vec<String> = message.parts.iter().filter_map(part).collect();
    format!("[{}] {}", message.role.as_str(), said.join("\n"))
}

/// An endpoint that gives the answer it was handed last and keeps what it is asked. It ends with the process.
#[derive(Clone, Debug)]
pub struct Reader {
    /// Its base URL.
    pub base: String,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    answer: String,
    asked: Vec<String>,
}

impl Reader {
    /// Starts one on the loopback interface.
    ///
    /// # Errors
    /// When there is no port.
    pub fn start() -> Result<Reader> {
        let listener = TcpListener::bind("127.0.0.1:0").context("no port on the loopback interface")?;
        let base = format!("http://{}/v1", listener.local_addr()?);
        let reader = Reader { base, state: Arc::default() };
        let state = Arc::clone(&reader.state);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let _ = serve(stream, &state);
            }
        });
        Ok(reader)
    }

    /// Sets what it answers from now on.
    pub fn answer_with(&self, answer: &str) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).answer = answer.to_owned();
    }

    /// Returns the bodies of the requests since the last call.
    pub fn take_asked(&self) -> Vec<String> {
        std::mem::take(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner).asked)
    }
}

fn serve(mut stream: TcpStream, state: &Mutex<State>) -> Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 || line.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse()?;
        }
    }
    if length == 0 {
        return Ok(());
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let body = String::from_utf8(body)?;
    let answer = {
        let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
        state.asked.push(body);
        state.answer.clone()
    };
    let answer = json!({
        "model": MODEL,
        "choices": [{"message": {"role": "assistant", "content": answer}, "finish_reason": "stop"}],
    })
    .to_string();
    write!(
        stream,
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{answer}",
        answer.len()
    )?;
    Ok(())
}

/// Returns the prompt of a request's body as a reader sees it: the standing instructions, then the question.
pub fn prompt(body: &str) -> Result<String> {
    let body: Value = serde_json::from_str(body)?;
    let messages = body["messages"].as_array().context("a list of messages")?;
    let texts: Vec<&str> = messages.iter().filter_map(|message| message["content"].as_str()).collect();
    Ok(texts.join("\n\n"))
}
