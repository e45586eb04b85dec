//! Ctrl-C stops an answer or a command that runs, and not the program.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use tokio::sync::Notify;

/// Who is told of Ctrl-C.
#[derive(Clone, Debug, Default)]
pub(crate) struct Interrupts {
    pressed: Arc<Notify>,
    busy: Arc<AtomicUsize>,
}

/// Something is under way that Ctrl-C stops. Until this is dropped.
#[derive(Debug)]
pub(crate) struct Busy(Arc<AtomicUsize>);

/// The exit code of a program that was ended by Ctrl-C, by convention 128 and the signal's number.
const INTERRUPTED: i32 = 130;

impl Interrupts {
    /// Listens from now on. Call it inside a runtime.
    pub(crate) fn listen() -> Interrupts {
        let interrupts = Interrupts::default();
        let told = interrupts.clone();
        tokio::spawn(async move {
            while tokio::signal::ctrl_c().await.is_ok() {
                if told.busy.load(Ordering::SeqCst) == 0 {
                    // Everything that was said is on disk already; there is nothing to wind up.
                    std::process::exit(INTERRUPTED);
                }
                told.pressed.notify_one();
            }
        });
        interrupts
    }

    /// Takes note that something is under way.
    pub(crate) fn busy(&self) -> Busy {
        self.busy.fetch_add(1, Ordering::SeqCst);
        Busy(Arc::clone(&self.busy))
    }

    /// Waits for Ctrl-C.
    pub(crate) async fn pressed(&self) {
        self.pressed.notified().await;
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}
