//! Futures in tests that have no runtime.

use std::{
    future::Future,
    pin::pin,
    task::{Context, Poll, Waker},
};

/// Runs a future that never really waits.
///
/// # Panics
/// When it waits for something that never comes.
pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    let mut polls = (0..1_000_000).map(|_| future.as_mut().poll(&mut context));
    let ready = polls.find_map(|poll| match poll {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    });
    ready.expect("a future in such a test waits for nothing")
}
