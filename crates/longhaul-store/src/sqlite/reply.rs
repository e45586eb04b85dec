//! A value that another thread will hand over: a future without a runtime.

use std::{
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll, Waker},
};

/// The end that waits. Ready with `None` when the other end is dropped without a value.
pub(crate) struct Reply<T>(Arc<Mutex<Slot<T>>>);

/// The end that answers.
pub(crate) struct Answer<T>(Arc<Mutex<Slot<T>>>);

struct Slot<T> {
    value: Option<T>,
    is_done: bool,
    waker: Option<Waker>,
}

/// Returns the two ends.
pub(crate) fn reply<T>() -> (Answer<T>, Reply<T>) {
    let slot = Arc::new(Mutex::new(Slot { value: None, is_done: false, waker: None }));
    (Answer(slot.clone()), Reply(slot))
}

impl<T> Answer<T> {
    /// Hands the value over.
    pub(crate) fn send(self, value: T) {
        self.finish(Some(value));
    }

    fn finish(&self, value: Option<T>) {
        let mut slot = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if slot.is_done {
            return;
        }
        (slot.value, slot.is_done) = (value, true);
        let waker = slot.waker.take();
        drop(slot);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl<T> Drop for Answer<T> {
    fn drop(&mut self) {
        self.finish(None);
    }
}

impl<T> Future for Reply<T> {
    type Output = Option<T>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<T>> {
        let mut slot = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if slot.is_done {
            return Poll::Ready(slot.value.take());
        }
        slot.waker = Some(context.waker().clone());
        Poll::Pending
    }
}
