//! A conversation in the terminal, with its context kept by longhaul.
//!
//! [`setup`] makes a [`Conversation`](conversation::Conversation) of the flags; [`console`] reads what is typed, [`slash`]
//! understands the commands in it, [`screen`] shows what comes back, and [`session`] goes from one to the next.

mod awaited;
pub(crate) mod console;
mod conversation;
mod interrupt;
mod picture;
mod screen;
mod session;
mod setup;
mod slash;
mod tools;
mod wait;
mod with;

pub(crate) use interrupt::Interrupts;
pub(crate) use session::run;
pub(crate) use setup::setup;
pub(crate) use with::With;
