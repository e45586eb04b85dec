//! What the unit tests of this crate share.

use std::{
    future::Future,
    pin::pin,
    task::{Context, Poll, Waker},
};

use longhaul_tokens::{Accuracy, TokenCounter};
use longhaul_transcript::Tokens;

/// Four bytes a token, rounded up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bytes4;

impl TokenCounter for Bytes4 {
    fn count_text(&self, text: &str) -> Tokens {
        Tokens(text.len().div_ceil(4) as u64)
    }

    fn accuracy(&self) -> Accuracy {
        Accuracy::Estimate { margin: 0.3 }
    }
}

/// Runs a future that never really waits.
pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    for _ in 0..1_000_000 {
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return value;
        }
    }
    panic!("the future waits for something that never comes")
}
