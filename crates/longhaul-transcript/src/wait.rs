//! Waiting for a future on the calling thread, without a runtime.

use std::{
    future::Future,
    pin::pin,
    sync::Arc,
    task::{Context, Poll, Wake, Waker},
    thread::{self, Thread},
};

/// Wakes a thread that is parked.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Waits for a future on this thread, without a runtime.
pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut context = Context::from_waker(&waker);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(done) => return done,
            Poll::Pending => thread::park(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::mpsc, task::Poll};

    use super::*;

    #[test]
    fn a_future_that_is_woken_from_elsewhere_is_waited_for() {
        let (wakers, woken) = mpsc::channel::<Waker>();
        let other = thread::spawn(move || woken.recv().unwrap().wake());
        let mut polls = 0;
        let done = block_on(std::future::poll_fn(|context| {
            polls += 1;
            match polls {
                1 => {
                    wakers.send(context.waker().clone()).unwrap();
                    Poll::Pending
                }
                n => Poll::Ready(n),
            }
        }));
        other.join().unwrap();
        assert_eq!(done, 2);
    }
}
