//! Waiting where no runtime is known.

use std::{
    future::{Future, poll_fn},
    pin::Pin,
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{self, RecvTimeoutError},
    },
    task::{Poll, Waker},
    thread,
    time::Duration,
};

use longhaul_transcript::Sleep;

/// Waits on a thread of its own, which ends with the future: for what is waited for seldom and long.
#[derive(Debug)]
pub(super) struct ThreadSleep;

/// Whether the time is over, and who wants to know.
#[derive(Debug, Default)]
struct Alarm {
    is_over: bool,
    waker: Option<Waker>,
}

impl Sleep for ThreadSleep {
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        let alarm = Arc::new(Mutex::new(Alarm::default()));
        let (waits, is_waited_for) = mpsc::channel::<()>();
        let rings = Arc::clone(&alarm);
        let ring = move || {
            // Nothing is ever sent: who waits no longer hangs up.
            if is_waited_for.recv_timeout(duration) == Err(RecvTimeoutError::Timeout) {
                let waker = {
                    let mut alarm = rings.lock().unwrap_or_else(PoisonError::into_inner);
                    alarm.is_over = true;
                    alarm.waker.take()
                };
                waker.into_iter().for_each(Waker::wake);
            }
        };
        // Where there can be no thread, nothing bounds the wait.
        let thread = thread::Builder::new().name("longhaul-sleep".to_owned()).spawn(ring);
        Box::pin(poll_fn(move |context| {
            let _held = (&waits, &thread);
            let mut alarm = alarm.lock().unwrap_or_else(PoisonError::into_inner);
            if alarm.is_over {
                return Poll::Ready(());
            }
            alarm.waker = Some(context.waker().clone());
            Poll::Pending
        }))
    }
}

#[cfg(test)]
mod tests {
    use longhaul_transcript::block_on;

    use super::*;

    #[test]
    fn it_is_over_when_the_time_is_and_not_before() {
        let start = std::time::Instant::now();
        block_on(ThreadSleep.sleep(Duration::from_millis(20)));
        assert!(start.elapsed() >= Duration::from_millis(20));
    }
}
