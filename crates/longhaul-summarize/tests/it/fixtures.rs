//! A conversation to summarize, rules to fall back to, and time that only moves when told.

use std::{
    future::Future,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use longhaul_extract::FactIndex;
use longhaul_summarize::{Draft, SummarizeError, Summarizer, SummaryRequest};
use longhaul_tokens::BytesPer4;
use longhaul_transcript::{Clock, Constraint, Entry, SessionId, Sleep, Summary, Tokens, Transcript};

/// A clock that a sleep moves on, so that waits and deadlines are real and take no time.
#[derive(Debug, Default)]
pub(crate) struct Time(AtomicI64);

impl Time {
    pub(crate) fn pass(&self, duration: Duration) {
        self.0.fetch_add(duration.as_millis() as i64, Ordering::Relaxed);
    }
}

impl Clock for Time {
    fn now_ms(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Sleep for Time {
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(async move { self.pass(duration) })
    }
}

/// Rules as simple as they get: the user's first sentences are rules, and the text is as much of the user's words as
/// fits.
#[derive(Debug)]
pub(crate) struct UserWords;

#[async_trait]
impl Summarizer for UserWords {
    async fn summarize(&self, request: SummaryRequest<'_>) -> Result<Draft, SummarizeError> {
        let said = request.entries.iter().filter(|entry| entry.message.is_user_text());
        let mut constraints = Vec::new();
        let mut text = String::new();
        for entry in said {
            for sentence in entry.message.texts().flat_map(|text| text.split_inclusive(". ")) {
                if sentence.to_lowercase().contains("never") {
                    let text = sentence.trim().to_owned();
                    constraints.push(Constraint { text, message: entry.id.ordinal, ..Constraint::default() });
                }
                let next = format!("{text}{sentence}");
                let is_known =
                    request.kept.iter().any(|kept| kept.message.texts().any(|text| text.contains(sentence)));
                if !is_known && request.counter.count_text(&next) <= request.limit {
                    text = next;
                }
            }
        }
        let tokens = request.counter.count_text(&text);
        let summary = Summary { constraints, ..Summary::default() };
        Ok(Draft { summary, text, tokens, made_with: "words-0".into(), ..Draft::default() })
    }
}

/// A conversation of an engineer and an assistant about an export that deadlocks; long enough that a summary pays.
pub(crate) fn conversation() -> Transcript {
    let mut text = String::from(
        r#"user: The nightly export fails with a deadlock. Never touch Cargo.lock. Please find out why and fix src/export/writer.rs.
assistant: Looking at the writer first. !read_file#c1 {"path":"src/export/writer.rs"}
tool#c1: pub fn flush(tenants: &[TenantId]) { for tenant in tenants { lock(tenant); } }
assistant: The tenants are locked in the order they arrive, so two workers can wait for each other. Shall we set EXPORT_WORKERS=1 tonight?
user: Yes, set EXPORT_WORKERS=1 tonight. Should we roll back to 4.2.1?
assistant: I advise against a rollback to 4.2.1: the schema has changed since. I will sort the tenant ids in flush instead.
user: Agreed, no rollback. Lena reviews the patch.
"#,
    );
    for n in 0..12 {
        text.push_str(&format!(
            "assistant: Running the tests. !bash#t{n} {{\"command\":\"cargo test -p export --test deadlock_{n}\"}}\ntool#t{n}: running 3 tests\n{}\ntest result: ok. 3 passed\n",
            "test export::case ... ok\n".repeat(20)
        ));
    }
    text.push_str("assistant: I sorted the tenant ids in flush; all deadlock tests pass.\n");
    longhaul_testkit::transcript(&text)
}

/// What asks for a summary of a whole transcript.
pub(crate) struct Asking {
    session: SessionId,
    index: FactIndex,
}

impl Asking {
    pub(crate) fn new() -> Asking {
        Asking { session: SessionId::new("s").unwrap(), index: FactIndex::default() }
    }

    pub(crate) fn request<'a>(&'a self, entries: &'a [Entry], limit: u64) -> SummaryRequest<'a> {
        SummaryRequest::new(&self.session, entries, &self.index, &BytesPer4, Tokens(limit))
    }
}

pub(crate) fn time() -> Arc<Time> {
    Arc::new(Time::default())
}
