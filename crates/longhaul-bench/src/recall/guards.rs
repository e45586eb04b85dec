//! What recall alone does not see: drift over rounds, constraints, pairing, and how much of a prompt stays the same.

use std::collections::{HashMap, HashSet};

use longhaul_summarize::rules::RulesOptions;
use longhaul_transcript::{Entry, Message, Part, Role, SummaryRecord, Transcript};

use super::{
    ours::Before,
    score::{have, is_kept, recall},
    session::{Demanded, Group, Session, Where, unique_bases},
    weigh::Weigher,
};

/// What the guards found.
#[derive(Clone, Debug, Default)]
pub struct Guards {
    /// Recall at 4,000 tokens after five rounds, each on top of the one before, summed over sessions.
    pub rounds: f64,
    /// The same in one compaction.
    pub one_shot: f64,
    /// Constraints planted.
    pub planted: usize,
    /// Constraints that are in the compacted context word for word.
    pub survived: usize,
    /// Those that are not, with the recording and the budget.
    pub lost: Vec<String>,
    /// Compacted contexts looked at for pairing.
    pub contexts: usize,
    /// Calls without a result and results without a call in them.
    pub unpaired: usize,
    /// Tokens of all requests, in a window of 32,000 that is compacted to 8,000 when it is full.
    pub sent: usize,
    /// Those that the request before began with.
    pub repeated: usize,
}

/// Looks at all coding sessions.
pub fn guards(sessions: &[Session], weigher: &Weigher, options: &RulesOptions) -> Guards {
    let mut found = Guards::default();
    for session in
        sessions.iter().filter(|session| session.group == Group::Coding && session.tokens() >= 8000)
    {
        drift(session, weigher, options, &mut found);
        constraints(session, options, &mut found);
        prefix(session, options, &mut found);
    }
    found
}

fn drift(session: &Session, weigher: &Weigher, options: &RulesOptions, found: &mut Guards) {
    let Some(last) = session.cut(0.9) else { return };
    let demand: HashMap<String, Demanded> = session
        .demand(last)
        .into_iter()
        .filter(|(_, demanded)| matches!(demanded.place, Where::Prose | Where::Key))
        .collect();
    let unique = unique_bases(&session.messages[..last]);
    let mut previous: Option<SummaryRecord> = None;
    for share in [0.18, 0.36, 0.54, 0.72] {
        let Some(cut) = session.cut(share) else { continue };
        if let Some(compacted) = Before::new(session, cut).compact(BUDGET, previous.as_ref(), options) {
            previous = Some(compacted.record);
        }
    }
    let before = Before::new(session, last);
    let score = |previous: Option<&SummaryRecord>| {
        let compacted = before.compact(BUDGET, previous, options)?;
        let seen = have(&before.pieces(&compacted), false);
        let weight = |name: &str, kind| weigher.weight(name, kind, &session.project);
        recall(&demand, weight, |name, kind| is_kept(name, kind, &seen, &unique))
    };
    if let (Some(rounds), Some(one_shot)) = (score(previous.as_ref()), score(None)) {
        found.rounds += rounds;
        found.one_shot += one_shot;
    }
}

/// Tokens of the compactions here.
const BUDGET: usize = 4000;

/// What is planted: each on its own and inside a longer message.
const PLANTED: [&str; 3] = [
    "Never rename the table zq_ledger_seven.",
    "You must not touch the folder vendor/kestrel under any circumstances.",
    "Always run the tests with --offline-mirror before you commit.",
];

fn constraints(session: &Session, options: &RulesOptions, found: &mut Guards) {
    let Some(last) = session.cut(0.9) else { return };
    let mut messages: Vec<Message> =
        session.transcript.entries()[..last].iter().map(|entry| (*entry.message).clone()).collect();
    for (n, planted) in PLANTED.iter().enumerate().rev() {
        // Never between a call and its result.
        let mut at = messages.len() * (n + 1) / 5;
        while messages.get(at).is_some_and(|message| message.results().next().is_some()) {
            at += 1;
        }
        messages.insert(at, Message::user(format!("Looks good so far. {planted} Please go on.")));
    }
    let transcript: Transcript = messages.into_iter().collect();
    let before = Before::of(transcript.entries().to_vec(), session.group);
    for budget in [2000, 4000] {
        if let Some(compacted) = before.compact(budget, None, options) {
            let pieces = before.pieces(&compacted);
            found.planted += PLANTED.len();
            for planted in PLANTED {
                if pieces.iter().any(|piece| piece.text().contains(planted)) {
                    found.survived += 1;
                } else {
                    found.lost.push(format!("{} at {budget}: {planted}", session.file));
                }
            }
            found.contexts += 1;
            found.unpaired += unpaired(compacted.messages().iter().map(|message| &**message));
        }
    }
}

/// Returns how many calls have no result, and results no call.
fn unpaired<'m>(messages: impl Iterator<Item = &'m Message>) -> usize {
    let (mut open, mut lonely) = (HashSet::new(), 0);
    for part in messages.flat_map(|message| &message.parts) {
        match part {
            Part::ToolCall(call) => {
                open.insert(call.id.clone());
            }
            Part::ToolResult(result) => lonely += usize::from(!open.remove(&result.call_id)),
            _ => {}
        }
    }
    lonely + open.len()
}

/// Sends a request before every message of the assistant.
fn prefix(session: &Session, options: &RulesOptions, found: &mut Guards) {
    const WINDOW: usize = 32_000;
    let entries: &[Entry] = session.transcript.entries();
    // Tokens of the view, and how many of them the last request had.
    let (mut view, mut known) = (0, 0);
    for (at, read) in session.messages.iter().enumerate() {
        let is_request = entries[at].message.role == Role::Assistant;
        if is_request && at > 0 {
            if view > WINDOW
                && let Some(compacted) = Before::new(session, at).compact(WINDOW / 4, None, options)
            {
                view = compacted.outcome.tokens_after.0 as usize;
                known = 0;
            }
            found.sent += view;
            found.repeated += known;
            known = view;
        }
        view += read.tokens;
    }
}
