//! A recorded past, and what a strong model said of it: over real HTTP and through all checks.

use std::sync::Arc;

use longhaul_client::{Endpoint, OpenAi};
use longhaul_extract::FactIndex;
use longhaul_summarize::{
    Draft, Ladder, LlmOptions, Summarizer, SummarizerModel, SummaryForm, SummaryRequest,
    rules::RulesSummarizer,
};
use longhaul_tokens::BytesPer4;
use longhaul_transcript::{Entry, FixedClock, NoJitter, SessionId, SummaryMode, Tokens};
use longhaul_wire::Format;
use serde_json::json;

use crate::{
    in_conversation::Timer,
    server::{Server, Step, answer},
};

const PAST: &[u8] = include_bytes!("../data/replay/airline.json");
const ANSWER: &str = include_str!("../data/replay/airline.md");

/// Another past, of which the model that answered saw so many messages; two stay beside the summary.
const EXCHANGE: &[u8] = include_bytes!("../data/lies/exchange.json");
const EXCHANGE_SEEN: usize = 17;
const EXCHANGE_ANSWER: &str =
    include_str!("../../../longhaul-bench/answers/tau2-tau2-retail-3659713b-0-70-4000.md");

/// False, each in another way.
const LIES: [&str; 4] = [
    "- EQ1G6C was paid with gift_card_6847881.",
    "- The user asked for an upgrade of every passenger to first class with British Airways.",
    "- HAT028 costs 1895 in economy (m27).",
    "- The assistant refunded the hotel voucher.",
];

/// What a summary may cost.
const LIMIT: Tokens = Tokens(4_000);

/// A recorded past, read.
#[derive(Debug)]
pub(crate) struct Past {
    entries: Vec<Entry>,
    index: FactIndex,
}

impl Past {
    pub(crate) fn read(format: Option<Format>, past: &[u8]) -> Past {
        let past = longhaul_wire::read(format, past).unwrap();
        let entries = past.transcript().entries().to_vec();
        let mut index = FactIndex::new();
        entries.iter().for_each(|entry| index.push(entry));
        Past { entries, index }
    }

    /// Returns its beginning.
    fn first(mut self, messages: usize) -> Past {
        self.entries.truncate(messages);
        self.index = FactIndex::new();
        self.entries.iter().for_each(|entry| self.index.push(entry));
        self
    }
}

/// Returns what comes of an answer: the client asks over HTTP, the ladder checks.
pub(crate) async fn replayed(past: &Past, said: &str, limit: Tokens) -> Draft {
    let body = json!({
        "model": "m",
        "choices": [{"message": {"role": "assistant", "content": said}, "finish_reason": "stop"}],
    });
    let server = Server::start(vec![vec![Step::Send(answer(200, "", &body.to_string()))]]).await;
    let client = Arc::new(OpenAi::new(Endpoint::new(&server.base).unwrap()).unwrap());
    let mut options = LlmOptions::default();
    (options.form, options.retries, options.abort_on_failure) = (SummaryForm::Markdown, 0, true);
    let ladder = Ladder::new(
        vec![SummarizerModel::new("m", Tokens(100_000), client)],
        Arc::new(RulesSummarizer::default()),
        options,
        Arc::new(FixedClock(0)),
        Arc::new(Timer),
        Arc::new(NoJitter),
    );
    let session = SessionId::new("replay").unwrap();
    let (covered, kept) = past.entries.split_at(past.entries.len() - 2);
    let request = SummaryRequest::new(&session, covered, &past.index, &BytesPer4, limit);
    let request = SummaryRequest { kept, ..request };
    ladder.summarize(request).await.unwrap()
}

/// Returns what a summary says with authority.
pub(crate) fn confirmed(draft: &Draft) -> &str {
    draft.text.split("## Not shown by the transcript").next().unwrap_or_default()
}

#[tokio::test]
async fn what_a_strong_model_said_arrives_whole() {
    let airline = Past::read(Some(Format::OpenAi), PAST);
    let exchange = Past::read(Some(Format::Tau2), EXCHANGE).first(EXCHANGE_SEEN + 2);
    for (past, answer, least) in [(airline, ANSWER, 50), (exchange, EXCHANGE_ANSWER, 18)] {
        let draft = replayed(&past, answer, LIMIT).await;
        assert_eq!(draft.mode, SummaryMode::Hybrid, "{:?}", draft.attempts);
        let said: Vec<&str> = answer.lines().filter(|line| line.starts_with("- ")).collect();
        let lost: Vec<&&str> = said.iter().filter(|line| !confirmed(&draft).contains(**line)).collect();
        assert!(said.len() > least && lost.is_empty(), "of {}: {lost:#?} {:?}", said.len(), draft.repairs);
        assert!(draft.tokens <= LIMIT);
    }
}

#[tokio::test]
async fn lies_among_it_do_not_stand_as_confirmed() {
    let said = format!("{ANSWER}\n## Findings\n{}\n", LIES.join("\n"));
    let draft = replayed(&Past::read(Some(Format::OpenAi), PAST), &said, LIMIT).await;
    let believed: Vec<&&str> = LIES.iter().filter(|lie| confirmed(&draft).contains(**lie)).collect();
    assert!(believed.is_empty(), "{believed:#?}");
    assert!(draft.repairs.iter().any(|line| line.contains("taken out")), "{:?}", draft.repairs);
}
