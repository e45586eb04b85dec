//! What longhaul emits: a summary and a clipped tail.

use longhaul_extract::FactIndex;
use longhaul_summarize::{SummaryRequest, rules};
use longhaul_tokens::{Accuracy, TokenCounter};
use longhaul_transcript::{Entry, SessionId, Tokens};

use super::{
    score::Piece,
    session::{Session, count},
};

/// `o200k_base`.
#[derive(Debug)]
pub struct O200k;

impl TokenCounter for O200k {
    fn count_text(&self, text: &str) -> Tokens {
        Tokens(count(text) as u64)
    }

    fn accuracy(&self) -> Accuracy {
        Accuracy::Exact
    }
}

/// The summary of everything before `cut` within `limit`; `kept` of these messages stay after it.
pub fn summary(
    session: &Session,
    cut: usize,
    kept: usize,
    limit: usize,
    options: &rules::RulesOptions,
) -> String {
    let entries: Vec<Entry> = session.transcript.entries()[..cut].to_vec();
    let mut index = FactIndex::new();
    entries.iter().for_each(|entry| index.push(entry));
    let id = SessionId::derived(&[]);
    let request = SummaryRequest {
        session: &id,
        entries: &entries[..cut - kept],
        kept: &entries[cut - kept..],
        previous: None,
        index: &index,
        counter: &O200k,
        limit: Tokens(limit as u64),
        goal: None,
        depth: 0,
    };
    rules::summarize(&request, options).text
}

/// The compacted context: the summary, then what of the newest messages fits.
pub fn compacted<'a>(
    session: &'a Session,
    cut: usize,
    budget: usize,
    options: &rules::RulesOptions,
    tail_share: f64,
) -> Vec<Piece<'a>> {
    let past = &session.messages[..cut];
    // The tail: the newest whole messages, up to its share.
    let (mut kept, mut left) = (0, (budget as f64 * tail_share) as usize);
    for read in past.iter().rev() {
        if read.tokens > left || kept + 1 == cut {
            break;
        }
        left -= read.tokens;
        kept += 1;
    }
    let used: usize = past[cut - kept..].iter().map(|read| read.tokens).sum();
    let text = summary(session, cut, kept, budget - used, options);
    let mut pieces = vec![Piece::Text(text)];
    pieces.extend(past[cut - kept..].iter().map(Piece::Whole));
    pieces
}
