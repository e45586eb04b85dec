//! A request that the provider does not take, and that cannot be made smaller: it is not sent again, and it is said why.

use std::{fmt, sync::Arc};

use anyhow::Result;
use longhaul::{
    Breakdown, Error, Largest,
    transcript::{Message, Tokens, Transcript},
};

use super::Conversation;

/// A request that the provider found too large.
#[derive(Clone, Copy, Debug)]
pub(super) struct Refused {
    /// What it cost, as it is counted here.
    tokens: Tokens,
    /// The largest that the provider takes, the answer included.
    limit: Tokens,
}

/// It would only be refused for its size again.
#[derive(Debug)]
struct NotSent;

impl Conversation {
    /// Compacts what would only be refused as before, and returns whether it did. What was said since may let it.
    ///
    /// # Errors
    /// When it cannot be made small enough.
    pub(super) async fn makes_room(&mut self) -> Result<bool> {
        let Some(Refused { tokens, limit }) = self.refused else { return Ok(false) };
        if self.used() < tokens && self.used() + self.kept_of(limit) <= limit {
            return Ok(false);
        }
        match self.manager.overflowed(Some(limit)).await {
            Ok(_) => {
                self.refused = None;
                Ok(true)
            }
            Err(error) if refused(&error).is_some() => Err(NotSent.into()),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns what is kept for the answer in a window of `limit` tokens: a quarter of it at most.
    fn kept_of(&self, limit: Tokens) -> Tokens {
        self.window().reserved_output.min(limit.scaled(0.25))
    }

    /// Says how to go on after `error`.
    pub(super) fn way_on(&self, error: &anyhow::Error) -> String {
        let is_of_size = error.is::<NotSent>() || error.downcast_ref().and_then(refused).is_some();
        let Some(Refused { limit, .. }) = self.refused.filter(|_| is_of_size) else {
            return "/retry asks again".to_owned();
        };
        let (floor, kept) = (self.manager.state().measure(None).floor, self.kept_of(limit));
        let over = match (floor + self.overhead() + kept) - limit {
            // The provider counts more than is counted here.
            Tokens::ZERO => String::new(),
            over => format!(": {over:#} too many"),
        };
        let largest = self.largest_that_stays();
        let (of_it, shorter) = match &largest {
            Some((large, is_system)) => (
                format!("; the largest that must stay is {:#}, {}", large.tokens, large.what),
                if *is_system { "" } else { "something shorter lets that be summarized, and " },
            ),
            None => (String::new(), ""),
        };
        format!(
            "{} takes {limit:#} tokens, {kept:#} of them for its answer{over}{of_it}; {shorter}/model NAME N goes on with a \
             larger window",
            self.with.model
        )
    }

    /// Returns the message that takes most of what no compaction may touch, instructions and what was said from the newest request
    /// on, and whether it is of the former.
    fn largest_that_stays(&self) -> Option<(Largest, bool)> {
        let view = self.manager.state().view();
        let shown: Vec<&Arc<Message>> = view.messages().collect();
        let newest = shown.iter().rposition(|message| message.is_user_text()).unwrap_or(0);
        let stays = |(at, message): &(usize, &Arc<Message>)| *at >= newest || message.is_system();
        let stays: Transcript =
            shown.into_iter().enumerate().filter(stays).map(|(_, message)| message.clone()).collect();
        let breakdown = Breakdown::of(stays.entries(), &*self.known.model.counter());
        let largest = breakdown.largest(stays.entries(), 1).pop()?;
        let is_system =
            stays.entries().iter().any(|entry| entry.id == largest.id && entry.message.is_system());
        Some((largest, is_system))
    }
}

impl fmt::Display for NotSent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("nothing was sent: it would be refused for its size again")
    }
}

impl std::error::Error for NotSent {}

/// Returns what was refused, where the provider said how much it takes and nothing is left to give.
pub(super) fn refused(error: &Error) -> Option<Refused> {
    match *error {
        Error::NothingLeft { tokens, limit: Some(limit), .. } => Some(Refused { tokens, limit }),
        _ => None,
    }
}
