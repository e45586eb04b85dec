//! What is sent to the model, as data: summaries, memory blocks and messages, in order.

use std::sync::Arc;

use longhaul_transcript::{Item, Message, MessageId, Part, SummaryRecord, Tokens};
#[cfg(feature = "wire")]
use longhaul_wire::{CacheMark, Format, Lifetime, Rendition, WireError};
use serde::{Deserialize, Serialize};

use super::{SessionState, items::Items};
use crate::{
    compact::{Cut, standing},
    config::SummaryRole,
};

/// One element of the view, owned.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Shown {
    /// A summary in place of what it covers.
    Summary {
        /// The record.
        record: Arc<SummaryRecord>,
        /// The record as the message that is sent.
        message: Arc<Message>,
    },
    /// A named memory block.
    Block {
        /// Its name.
        name: Arc<str>,
        /// What is sent.
        message: Arc<Message>,
    },
    /// A standing instruction that the front end has now, in the place of those that were said first, where these were more or fewer.
    Instruction {
        /// What is sent.
        message: Arc<Message>,
    },
    /// A message, verbatim or with digested content.
    Message {
        /// The id of the original.
        id: MessageId,
        /// What is sent.
        message: Arc<Message>,
        /// Whether its content was shortened.
        digested: bool,
    },
}

/// What is to be sent to the model. It is the caller's own and stays as it is; the next one begins with the same
/// elements and grows at its end, until an announced rewrite.
#[derive(Clone, Debug)]
pub struct View {
    items: Items,
    tokens: Tokens,
    budget: Tokens,
    id: ViewId,
    stable: usize,
    /// What was sent before, the first so many of these elements, where it was rewritten since.
    #[cfg(feature = "wire")]
    sent: Option<(Items, usize)>,
    has_open_calls: bool,
    cut: Option<Cut>,
}

/// Which view a request was made from: what a provider reports of it is about this view and no other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ViewId {
    /// The last message in it.
    pub through: Option<MessageId>,
    /// The rewrites before it.
    pub rewrites: u64,
}

/// With what a view begins that the one sent before it began with too: what a provider still has in its cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StablePrefix {
    /// How many elements.
    pub items: usize,
    /// What they cost, in the measure of [`View::tokens`].
    pub tokens: Tokens,
}

/// Anthropic takes no more than four marks in a request (its page on prompt caching, 2025).
#[cfg(feature = "wire")]
const MOST_MARKS: usize = 4;

/// Anthropic looks back this many blocks from a mark for one that it has; a longer stretch needs a mark within it.
#[cfg(feature = "wire")]
const LOOK_BACK: usize = 20;

impl View {
    pub(super) fn new(state: &SessionState) -> View {
        let through = state.items.shown().rev().find_map(|shown| match shown {
            Shown::Message { id, .. } => Some(*id),
            _ => None,
        });
        View {
            items: state.items.clone(),
            tokens: state.tokens(),
            budget: state.budget(),
            id: ViewId { through, rewrites: state.rewrites },
            stable: state.stable,
            #[cfg(feature = "wire")]
            sent: state.sent.clone(),
            has_open_calls: state.exchange.open_from().is_some(),
            cut: state.cut,
        }
    }

    /// Returns the elements, oldest first.
    pub fn items(&self) -> impl Iterator<Item = Item<'_>> {
        self.items.shown().map(|shown| match shown {
            Shown::Summary { record, .. } => Item::Summary(record),
            Shown::Message { id, message, .. } => Item::Message { id: *id, message },
            // Neither has a place in the conversation.
            Shown::Block { message, .. } | Shown::Instruction { message } => {
                Item::Message { id: MessageId { ordinal: u64::MAX, hash: message.content_hash() }, message }
            }
        })
    }

    /// Returns the elements as messages, summaries included.
    pub fn messages(&self) -> impl DoubleEndedIterator<Item = &Arc<Message>> {
        self.items.shown().map(Shown::message)
    }

    /// Returns the elements as the state holds them.
    pub fn shown(&self) -> impl DoubleEndedIterator<Item = &Shown> {
        self.items.shown()
    }

    /// Returns the summaries in the view, oldest first: one, or several where each covers a range of its own.
    pub fn summaries(&self) -> impl Iterator<Item = &Arc<SummaryRecord>> {
        self.items.shown().filter_map(Shown::record)
    }

    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Returns whether nothing was said yet.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Returns whether there is nothing in it but standing instructions, memory blocks, and messages of white space, which no request
    /// has, if anything: a request that needs another message. OpenAI's models answer instructions alone, Anthropic's and Google's APIs refuse them; nobody takes an empty one.
    pub fn is_only_instructions(&self) -> bool {
        let asks_nothing = |shown: &Shown| match shown {
            Shown::Block { .. } => true,
            Shown::Instruction { .. } => true,
            Shown::Message { message, .. } => standing::is_instruction(message) || is_blank(message),
            Shown::Summary { .. } => false,
        };
        self.shown().all(asks_nothing)
    }

    /// Returns whether it ends with calls whose results are missing in part or all: no provider takes such a request. Run
    /// [`open_calls`](SessionState::open_calls), push their results, and make the next view ready.
    pub fn has_open_calls(&self) -> bool {
        self.has_open_calls
    }

    /// Returns what the view costs at most, as expected. Where the provider's bills differ so much that what must stay fits by
    /// the count and by the last bill, and not by the largest, this is over the budget: it is sent all the same.
    pub fn tokens(&self) -> Tokens {
        self.tokens
    }

    /// Returns what the view costs as a share of the budget.
    pub fn ratio(&self) -> f64 {
        self.tokens.ratio_of(self.budget)
    }

    /// Returns what is to be handed back with the usage that the provider reports for this view.
    pub fn id(&self) -> ViewId {
        self.id
    }

    /// Returns the newest request of the user, where it does not fit with what else must stay and is shown in part.
    pub fn cut(&self) -> Option<Cut> {
        self.cut
    }

    /// Returns with what this view begins that the one sent before it began with too, by what was pushed and rewritten since.
    /// A result that comes late, where its call was already sent as unanswered, changes what stands there without being counted
    /// here; [`stable_bytes`](Self::stable_bytes) compares what is sent.
    pub fn stable_prefix(&self) -> StablePrefix {
        let counted = |len| self.items.sums_of(len).counts.total();
        let (stable, all) = (counted(self.stable), counted(self.len()));
        let share = if all == Tokens::ZERO { 0.0 } else { stable.ratio_of(all) };
        StablePrefix { items: self.stable, tokens: self.tokens.scaled(share) }
    }
}

#[cfg(feature = "wire")]
impl View {
    /// Returns the view as a request of `format` carries it, and what could not be carried: what came in that provider's own
    /// spelling goes out in it, images, signed thinking and unknown fields included. All that the request lost is told each time; to
    /// hear only what the one before it did not lose, [`render_grown`](longhaul_wire::render_grown) the messages, with the number
    /// of them that went out before in this format ([`stable_prefix`](Self::stable_prefix)).
    ///
    /// # Errors
    /// When the format can only be imported.
    pub fn to_json(&self, format: Format) -> Result<Rendition, WireError> {
        longhaul_wire::render(self.messages().map(|message| &**message), format)
    }

    /// Returns where a request should mark what the provider is to cache, at most four places: what stays until the next
    /// rewrite for an hour, what this one ends with for five minutes, and where 20 blocks or more came since the last request
    /// what that ended with: from nearer by the provider finds it by itself. The marks of an hour come first, as Anthropic
    /// demands.
    pub fn cache_marks(&self) -> Vec<CacheMark> {
        let Some(last) = self.len().checked_sub(1) else { return Vec::new() };
        let is_front = |shown: &&Shown| matches!(shown, Shown::Block { .. }) || shown.is_instruction();
        let front = self.shown().take_while(is_front).count();
        let is_summary = |(at, shown): (usize, &Shown)| shown.record().map(|_| at);
        let summaries = self.shown().enumerate().filter_map(is_summary).last();
        let hour = |item: usize| CacheMark { item, lifetime: Lifetime::OneHour };
        let minutes = |item: usize| CacheMark { item, lifetime: Lifetime::FiveMinutes };
        let mut marks: Vec<CacheMark> = Vec::new();
        marks.extend(front.checked_sub(1).map(hour));
        marks.extend(summaries.map(hour));
        // Behind the marks of an hour, or there is nothing new to keep for less.
        let is_behind = |sent: &usize| marks.last().is_none_or(|mark| mark.item < *sent);
        let blocks =
            |from: usize| self.messages().skip(from).map(|message| message.parts.len()).sum::<usize>();
        let sent = self.stable.checked_sub(1).filter(|sent| *sent < last && blocks(sent + 1) >= LOOK_BACK);
        let sent = sent.filter(is_behind);
        marks.extend(sent.map(minutes));
        marks.push(minutes(last));
        marks.dedup_by_key(|mark| mark.item);
        marks.truncate(MOST_MARKS);
        marks
    }

    /// Returns the view as a request of Anthropic's, with [`cache_marks`](Self::cache_marks) where they belong; marks that
    /// messages bring along from earlier requests go. Formats that take no marks are as [`to_json`](Self::to_json) has
    /// them.
    ///
    /// # Errors
    /// Those of `to_json`.
    pub fn to_json_marked(&self, format: Format) -> Result<Rendition, WireError> {
        let whole = self.to_json(format)?;
        if !format.takes_cache_marks() {
            return Ok(whole);
        }
        let prefix = |n: usize| {
            let messages = self.messages().take(n).map(|message| &**message);
            longhaul_wire::render(messages, format).map(|rendition| rendition.json)
        };
        let json = longhaul_wire::with_cache_marks(&whole.json, &self.cache_marks(), prefix)?;
        Ok(Rendition { json, ..whole })
    }

    /// Returns with how many bytes of [`to_json`](Self::to_json) the request begins that the last one sent began with
    /// too: the [stable prefix](Self::stable_prefix) as it is spelled, up to where the rest begins; none where that is empty.
    ///
    /// # Errors
    /// Those of `to_json`.
    pub fn stable_bytes(&self, format: Format) -> Result<usize, WireError> {
        if self.stable == 0 {
            return Ok(0);
        }
        // What a format joins or moves to its front depends on what follows.
        let (items, len) =
            self.sent.as_ref().map_or((&self.items, self.stable), |(items, len)| (items, *len));
        let sent = items.shown().take(len).map(|shown| &**shown.message());
        let (sent, whole) = (longhaul_wire::render(sent, format)?.json, self.to_json(format)?.json);
        Ok(sent.bytes().zip(whole.bytes()).take_while(|(one, other)| one == other).count())
    }
}

impl Shown {
    /// Returns a summary as it is sent under `role`.
    pub(super) fn summary(record: Arc<SummaryRecord>, role: SummaryRole) -> Shown {
        let mut message = record.to_message();
        if role == SummaryRole::System {
            message.role = longhaul_transcript::Role::System;
        }
        Shown::Summary { record, message: Arc::new(message) }
    }

    /// Returns what is sent.
    pub fn message(&self) -> &Arc<Message> {
        match self {
            Shown::Summary { message, .. }
            | Shown::Block { message, .. }
            | Shown::Instruction { message }
            | Shown::Message { message, .. } => message,
        }
    }

    /// Returns the record of a summary.
    pub(super) fn record(&self) -> Option<&Arc<SummaryRecord>> {
        match self {
            Shown::Summary { record, .. } => Some(record),
            _ => None,
        }
    }

    /// Returns whether this is a standing instruction of the caller.
    pub(super) fn is_instruction(&self) -> bool {
        match self {
            Shown::Instruction { .. } => true,
            Shown::Message { message, .. } => standing::is_instruction(message),
            _ => false,
        }
    }

    /// Returns whether both are sent as the same message.
    pub(super) fn is_same(&self, other: &Shown) -> bool {
        Arc::ptr_eq(self.message(), other.message()) || self.message() == other.message()
    }
}

/// Returns whether a message says nothing that a request has: white space alone.
fn is_blank(message: &Message) -> bool {
    message.parts.iter().all(|part| matches!(part, Part::Text(text) if text.trim().is_empty()))
}
