//! Fitting a list of messages into a budget in one call, for those who want no session.

use std::sync::Arc;

use longhaul_tokens::TokenCounter;
use longhaul_transcript::{Entry, Message, Span, Tokens, Transcript, Unit, UnitState};
use longhaul_trim::{Candidate, Fate, plan};

use crate::compact::{ranked::Ranked, standing};

/// What fits.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Trimmed {
    /// The messages that stay, as they were and in their order: a valid history.
    pub messages: Vec<Arc<Message>>,
    /// What they cost as a request: their sum and what begins the reply (`Framing::per_reply`, 3 for OpenAI's models).
    pub tokens: Tokens,
    /// How many were dropped.
    pub dropped: usize,
    /// How far they are over the budget: what must stay (instructions, an exchange that is open or whose results come last, the task, the
    /// newest request) may alone cost more.
    pub over: Tokens,
}

/// Returns the messages that fit `budget`, least important dropped first: results that were superseded, then older ones,
/// then what the assistant said, then what failed or changed something, then what is recent, and last what the user said.
/// A call and its results stay or go together, as they were. Room that is left by then is filled with what fits of what was
/// dropped, the most important and newest first. Nothing is shortened, summarized or remembered; for a conversation that
/// goes on use a [`Session`](crate::Session).
///
/// ```
/// use longhaul::{tokens::CharsPer4, transcript::{Message, Tokens}, trim_messages};
///
/// let mut said = vec![Message::system("Be brief."), Message::user("Count to a thousand.")];
/// said.extend((0..100).map(|n| Message::assistant(format!("{n} and so on, as asked for"))));
/// said.push(Message::user("Enough."));
/// let fits = trim_messages(said, Tokens(200), &CharsPer4);
/// assert!(fits.tokens <= Tokens(200) && fits.over == Tokens(0));
/// assert_eq!(*fits.messages[0], Message::system("Be brief."));
/// assert_eq!(**fits.messages.last().unwrap(), Message::user("Enough."));
/// ```
pub fn trim_messages<M: Into<Arc<Message>>>(
    messages: impl IntoIterator<Item = M>,
    budget: Tokens,
    counter: &dyn TokenCounter,
) -> Trimmed {
    let said: Transcript = messages.into_iter().collect();
    let entries = said.entries();
    let costs: Vec<Tokens> = entries.iter().map(|entry| counter.count_message(&entry.message)).collect();
    let is_request = |entry: &&Entry| standing::is_request(&entry.message);
    let task = entries.iter().find(is_request).map(|entry| entry.id.ordinal);
    let newest = entries.iter().rfind(is_request).map(|entry| entry.id.ordinal);
    // What the model has yet to read: without it it would call again.
    let unread = entries.last().filter(|last| last.message.results().next().is_some());
    let mut ranked = Ranked::new(entries, task);
    let candidate = |unit: Unit<'_>| {
        let span = unit.span();
        let cost = costs[span.start as usize..span.end as usize].iter().copied().sum();
        let stays = |entry: &Entry| {
            standing::is_instruction(&entry.message)
                || newest == Some(entry.id.ordinal)
                || unread.is_some_and(|unread| unread.id == entry.id)
        };
        let priority = ranked.next(unit, stays);
        // A call without its result, or a result without its call, is refused by every provider.
        (unit.state != UnitState::Broken).then(|| Candidate::new(span, priority, cost))
    };
    let candidates: Vec<Candidate> = said.units().filter_map(candidate).collect();
    let trimmed = plan(&candidates, budget - counter.framing().per_reply);
    let kept = candidates.iter().zip(&trimmed.actions).filter(|(_, action)| **action == Fate::Keep);
    let spans: Vec<Span> = kept.map(|(candidate, _)| candidate.span).collect();
    let kept: Vec<usize> = spans.iter().flat_map(|span| span.start as usize..span.end as usize).collect();
    let tokens = kept.iter().map(|at| costs[*at]).sum::<Tokens>() + counter.framing().per_reply;
    Trimmed {
        messages: kept.iter().map(|at| Arc::clone(&entries[*at].message)).collect(),
        tokens,
        dropped: entries.len() - kept.len(),
        over: tokens - budget,
    }
}

#[cfg(test)]
mod tests {
    use longhaul_testkit::{conversation, transcript};
    use longhaul_tokens::CharsPer4;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_the_user_said_is_dropped_last() {
        let read =
            |id: usize| format!("assistant: !edit_file#{id} {{}}\ntool#{id}: {}\n", "done ".repeat(40));
        let said = format!(
            "user: Fix the build\n{}user: Never push to main\n{}user: And now?\n{}user: Go on\n",
            read(1),
            read(2),
            read(3),
        );
        let said = transcript(&said);
        let messages: Vec<_> = said.entries().iter().map(|entry| entry.message.clone()).collect();
        let cost = |of: &[Arc<Message>]| of.iter().map(|m| CharsPer4.count_message(m)).sum::<Tokens>();
        let users: Vec<_> = messages.iter().filter(|message| message.is_user_text()).cloned().collect();
        // The newest exchange would fit, were it not for all that the user said.
        let budget = cost(&users) + cost(&messages[7..9]) + CharsPer4.framing().per_reply - Tokens(1);
        let fits = trim_messages(messages, budget, &CharsPer4);
        let left: Vec<String> = fits.messages.iter().map(|message| message.texts().collect()).collect();
        assert_eq!(
            (left.join("|").as_str(), fits.over),
            ("Fix the build|Never push to main|And now?|Go on", Tokens(0))
        );
    }

    #[test]
    fn results_that_the_model_has_yet_to_read_stay() {
        let asked: String =
            (0..8).map(|nth| format!("user: {}\n", format!("question {nth} ").repeat(50))).collect();
        for (read, fits) in [("fn a() {} ".repeat(40), true), ("fn a() {} ".repeat(900), false)] {
            let said = transcript(&format!(
                "{asked}user: Now read a.rs.\nassistant: !read_file#1 {{}}\ntool#1: {read}\n"
            ));
            let messages: Vec<_> = said.entries().iter().map(|entry| entry.message.clone()).collect();
            let trimmed = trim_messages(messages.clone(), Tokens(600), &CharsPer4);
            assert_eq!(trimmed.messages[trimmed.messages.len() - 2..], messages[messages.len() - 2..]);
            assert_eq!(trimmed.over == Tokens(0), fits, "{} over", trimmed.over);
        }
    }

    proptest! {
        #[test]
        fn what_stays_is_a_history_within_the_budget(said in conversation(20), budget in 0u64..3_000) {
            let messages: Vec<_> = said.entries().iter().map(|entry| entry.message.clone()).collect();
            let fits = trim_messages(messages.clone(), Tokens(budget), &CharsPer4);
            prop_assert_eq!(fits.dropped + fits.messages.len(), messages.len());
            prop_assert!(fits.over > Tokens(0) || fits.tokens <= Tokens(budget));
            let left: Transcript = fits.messages.into_iter().collect();
            prop_assert!(left.units().all(|unit| unit.state != UnitState::Broken));
        }
    }
}
