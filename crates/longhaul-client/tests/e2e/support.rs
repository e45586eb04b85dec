//! A conversation, a ladder in real time, and the servers' addresses.

use std::{
    future::Future,
    pin::Pin,
    sync::Arc,
    time::{Duration, SystemTime},
};

use longhaul_client::{Endpoint, OpenAi};
use longhaul_extract::FactIndex;
use longhaul_summarize::{
    CompletionClient, Ladder, LlmOptions, SummarizerModel, SummaryRequest, rules::RulesSummarizer,
};
use longhaul_tokens::BytesPer4;
use longhaul_transcript::{Clock, Entry, NoJitter, SessionId, Sleep, SummaryMode, Tokens, Transcript};

#[derive(Debug)]
pub(crate) struct Now;

impl Clock for Now {
    fn now_ms(&self) -> i64 {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        since.map_or(0, |since| since.as_millis() as i64)
    }
}

impl Sleep for Now {
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(tokio::time::sleep(duration))
    }
}

/// Returns the value of a variable that `cargo xtask e2e` sets, or says why the test does nothing.
pub(crate) fn given(name: &str) -> Option<String> {
    let value = std::env::var(name).ok().filter(|value| !value.is_empty());
    if value.is_none() {
        println!("skipped: {name} is not set; `cargo xtask e2e` starts the server and sets it");
    }
    value
}

pub(crate) fn endpoint(base: &str, key: &str, total: Duration) -> Endpoint {
    let endpoint = Endpoint::new(base).unwrap().with_timeouts(Duration::from_secs(5), total);
    if key.is_empty() { endpoint } else { endpoint.with_key(key.to_owned()) }
}

pub(crate) fn openai(base: &str, key: &str, total: Duration) -> Arc<OpenAi> {
    Arc::new(OpenAi::new(endpoint(base, key, total)).unwrap())
}

pub(crate) fn ladder(
    client: Arc<dyn CompletionClient>,
    model: &str,
    window: u64,
    options: LlmOptions,
) -> Ladder {
    let mut model = SummarizerModel::new(model, Tokens(window), client);
    let max_output = std::env::var("LONGHAUL_E2E_MAX_OUTPUT").ok().and_then(|tokens| tokens.parse().ok());
    model.max_output = Tokens(max_output.unwrap_or(window / 4));
    let now = Arc::new(Now);
    let rules = Arc::new(RulesSummarizer::default());
    Ladder::new(vec![model], rules, options, Arc::clone(&now) as _, now, Arc::new(NoJitter))
}

pub(crate) fn options(mode: SummaryMode) -> LlmOptions {
    let mut options = LlmOptions::default();
    options.mode = mode;
    options.call_timeout = Duration::from_secs(1_800);
    options.deadline = Duration::from_secs(3_600);
    options
}

/// What asks for a summary.
pub(crate) struct Asking {
    session: SessionId,
    pub(crate) index: FactIndex,
}

impl Asking {
    pub(crate) fn about(entries: &[Entry]) -> Asking {
        let mut index = FactIndex::new();
        entries.iter().for_each(|entry| index.push(entry));
        Asking { session: SessionId::new("e2e").unwrap(), index }
    }

    pub(crate) fn request<'a>(&'a self, entries: &'a [Entry], limit: u64) -> SummaryRequest<'a> {
        SummaryRequest::new(&self.session, entries, &self.index, &BytesPer4, Tokens(limit))
    }
}

pub(crate) fn conversation() -> Transcript {
    longhaul_testkit::transcript(
        r#"user: The nightly export on db-prod-3 fails since Monday with "deadlock detected on relation orders_archive". Never restart the primary during business hours. Can you find out why?
assistant: Let me look at the log and the writer. !bash#c1 {"command":"grep -n deadlock /var/log/export/nightly.log | tail -20"}
tool#c1: 4711: ERROR deadlock detected on relation orders_archive_2026_11; process 8123 waits for process 8127
assistant: Two of the 8 workers take the tenant locks in different order, since flush in src/archive/writer.py does not sort the tenant ids. EXPORT_WORKERS=8 is set in deploy/export.env.
user: Should we roll back to 4.2.1?
assistant: I advise against rolling back to 4.2.1: the schema migration 0117 has run since. EXPORT_WORKERS=1 avoids the deadlock tonight.
user: OK, no rollback. Set EXPORT_WORKERS=1 for tonight. Lena will review the patch that sorts the tenant ids.
assistant: I set EXPORT_WORKERS=1. !edit_file#c3 {"path":"deploy/export.env","old":"EXPORT_WORKERS=8","new":"EXPORT_WORKERS=1"}
tool#c3: 1 replacement
assistant: Now the patch. !edit_file#c4 {"path":"src/archive/writer.py","old":"for tenant_id in tenant_ids:","new":"for tenant_id in sorted(tenant_ids):"} !bash#c5 {"command":"pytest tests/test_writer.py -q"}
tool#c4: 1 replacement
tool#c5: 14 passed in 6.02s
assistant: flush now sorts the tenant ids, and all 14 tests pass. The patch waits for Lena's review. The idle timeout for report_ro is still open."#,
    )
}
