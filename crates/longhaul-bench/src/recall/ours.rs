//! What longhaul emits: the same compaction that `longhaul compact` runs.

use std::sync::Arc;

use longhaul::compact::{CompactSettings, Compacted, Earlier, Source, compact};
use longhaul_extract::FactIndex;
use longhaul_summarize::rules::RulesOptions;
use longhaul_tokens::{Encoding, TokenCounter, counter};
use longhaul_transcript::{Entry, Message, Part, SessionId, SummaryRecord, Tokens};

use super::{
    load::Raw,
    score::Piece,
    session::{Group, Read, Session, read},
};

/// Everything before a cut, read and counted: what a compaction works on.
#[derive(Debug)]
pub struct Before {
    session: SessionId,
    entries: Vec<Entry>,
    costs: Vec<Tokens>,
    total: Tokens,
    index: FactIndex,
    counter: Arc<dyn TokenCounter>,
    is_chat: bool,
}

impl Before {
    /// Reads the first `cut` messages of `session`.
    pub fn new(session: &Session, cut: usize) -> Before {
        Before::of(session.transcript.entries()[..cut].to_vec(), session.group)
    }

    /// Reads `entries`.
    pub fn of(entries: Vec<Entry>, group: Group) -> Before {
        let counter = counter(Encoding::O200kBase);
        let costs: Vec<Tokens> = entries.iter().map(|entry| counter.count_message(&entry.message)).collect();
        let total = costs.iter().copied().sum::<Tokens>() + counter.framing().per_reply;
        let mut index = FactIndex::new();
        entries.iter().for_each(|entry| index.push(entry));
        let is_chat = group == Group::Talk;
        Before { session: SessionId::derived(&[]), entries, costs, total, index, counter, is_chat }
    }

    /// Compacts to `budget` tokens; `None` where the budget is below the floor.
    pub fn compact(
        &self,
        budget: usize,
        previous: Option<&SummaryRecord>,
        options: &RulesOptions,
    ) -> Option<Compacted> {
        let mut source = Source::new(&self.session, &self.entries, &self.costs, &*self.counter, &self.index);
        source.tokens_before = self.total;
        source.earlier = Earlier { summary: previous, ..Earlier::default() };
        compact(&source, &CompactSettings::new(Tokens(budget as u64)), options).ok()
    }

    /// Returns the messages of `compacted` as pieces, the summary first.
    pub fn pieces(&self, compacted: &Compacted) -> Vec<Piece<'static>> {
        let messages = compacted.messages();
        messages.iter().map(|message| Piece::Made(Box::new(self.read(message)))).collect()
    }

    fn read(&self, message: &Message) -> Read {
        let mut read = read(&raw(message), self.is_chat);
        read.tokens = self.counter.count_message(message).0 as usize;
        read
    }
}

/// Returns a message in the form that the loader gives.
fn raw(message: &Message) -> Raw {
    let (mut calls, mut call_id, mut texts) = (Vec::new(), String::new(), Vec::new());
    for part in &message.parts {
        match part {
            Part::Text(text) => texts.push(text.clone()),
            Part::ToolCall(call) => {
                calls.push((call.id.to_string(), call.name.clone(), call.arguments.0.clone()));
            }
            Part::ToolResult(result) => {
                call_id = result.call_id.to_string();
                texts.push(result.joined_text());
            }
            _ => {}
        }
    }
    Raw { role: message.role, text: texts.join("\n"), calls, call_id, tool: String::new() }
}
