//! What is sent to the model: summaries and messages, in order.

use std::sync::Arc;

use longhaul_transcript::{Item, Message, MessageId, SummaryRecord, Tokens};

use crate::{compact::standing, config::SummaryRole};

/// One element of the view, owned.
#[derive(Clone, Debug)]
pub enum Shown {
    /// A summary in place of what it covers.
    Summary {
        /// The record.
        record: Arc<SummaryRecord>,
        /// The record as the message that is sent.
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

/// What is to be sent to the model. Between two rewrites it only grows at its end.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    pub(super) items: &'a [Shown],
    pub(super) tokens: Tokens,
    pub(super) budget: Tokens,
    pub(super) rewrites: u64,
}

/// Which view a request was made from: what a provider reports of it is about this view and no other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// The last message in it.
    pub through: MessageId,
    /// The rewrites before it.
    pub(super) rewrites: u64,
}

impl<'a> View<'a> {
    /// Returns the elements, oldest first.
    pub fn items(&self) -> impl Iterator<Item = Item<'a>> + use<'a> {
        self.items.iter().map(|shown| match shown {
            Shown::Summary { record, .. } => Item::Summary(record),
            Shown::Message { id, message, .. } => Item::Message { id: *id, message },
        })
    }

    /// Returns the elements as messages, summaries included.
    pub fn messages(&self) -> impl Iterator<Item = &'a Arc<Message>> + use<'a> {
        self.items.iter().map(Shown::message)
    }

    /// Returns the elements as the state holds them.
    pub fn shown(&self) -> &'a [Shown] {
        self.items
    }

    /// Returns the summaries in the view, oldest first: one, or several where each covers a range of its own.
    pub fn summaries(&self) -> impl Iterator<Item = &'a Arc<SummaryRecord>> + use<'a> {
        self.items.iter().filter_map(|shown| match shown {
            Shown::Summary { record, .. } => Some(record),
            Shown::Message { .. } => None,
        })
    }

    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Returns whether nothing was said yet.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Returns what the view costs.
    pub fn tokens(&self) -> Tokens {
        self.tokens
    }

    /// Returns what the view costs as a share of the budget.
    pub fn ratio(&self) -> f64 {
        self.tokens.ratio_of(self.budget)
    }

    /// Returns what is to be handed back with the usage that the provider reports for this view; `None` where it is
    /// empty.
    pub fn sent(&self) -> Option<Sent> {
        let through = self.items.iter().rev().find_map(|shown| match shown {
            Shown::Message { id, .. } => Some(*id),
            Shown::Summary { .. } => None,
        });
        through.map(|through| Sent { through, rewrites: self.rewrites })
    }
}

impl Shown {
    /// Returns a summary as it is sent under `role`.
    pub(super) fn summary(record: SummaryRecord, role: SummaryRole) -> Shown {
        let mut message = record.to_message();
        if role == SummaryRole::System {
            message.role = longhaul_transcript::Role::System;
        }
        Shown::Summary { record: Arc::new(record), message: Arc::new(message) }
    }

    /// Returns what is sent.
    pub fn message(&self) -> &Arc<Message> {
        match self {
            Shown::Summary { message, .. } | Shown::Message { message, .. } => message,
        }
    }

    /// Returns whether this is a standing instruction of the caller.
    pub(super) fn is_instruction(&self) -> bool {
        matches!(self, Shown::Message { message, .. } if standing::is_instruction(message))
    }
}
