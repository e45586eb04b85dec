//! Ctrl-C stops an answer or a command that runs, and not the program. Where the program is told to end, or its terminal is gone,
//! a command that runs ends with it.

#[cfg(unix)]
use std::{io, sync::Mutex};
use std::{
    pin::pin,
    process,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use anyhow::{Context as _, Result};
#[cfg(unix)]
use nix::sys::termios::{LocalFlags, SetArg, Termios, tcgetattr, tcsetattr};
use tokio::{runtime::Runtime, sync::Notify};

use super::tools;
use crate::{exit::INTERRUPTED, review};

/// Who is told of Ctrl-C.
#[derive(Clone, Debug, Default)]
pub(crate) struct Interrupts(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    pressed: Notify,
    /// It was pressed, and nobody has stopped yet.
    is_pressed: AtomicBool,
    /// What was under way has stopped for it, and nothing else has begun.
    is_stopped: AtomicBool,
    /// How many things are under way.
    busy: AtomicUsize,
}

/// Something is under way that Ctrl-C stops. Until this is dropped.
#[derive(Debug)]
pub(crate) struct Busy(Arc<Shared>);

impl Interrupts {
    /// Listens from now on. Where there is a line editor, this comes after it: its own handler would keep Ctrl-C to itself. While
    /// a line is read the terminal sends keys, no signals, so that it needs none.
    ///
    /// # Errors
    /// When the system does not let us.
    pub(crate) fn listen(&self, has_editor: bool) -> Result<()> {
        remember_terminal();
        let told = Arc::clone(&self.0);
        ctrlc::set_handler(move || told.press(has_editor)).context("Ctrl-C cannot be listened to")
    }

    /// Takes note that something is under way. What was pressed before is not meant for it.
    pub(crate) fn busy(&self) -> Busy {
        if self.0.busy.fetch_add(1, Ordering::SeqCst) == 0 {
            pin!(self.0.pressed.notified()).as_mut().enable();
            self.0.is_pressed.store(false, Ordering::SeqCst);
            self.0.is_stopped.store(false, Ordering::SeqCst);
        }
        Busy(Arc::clone(&self.0))
    }

    /// Takes note that what was under way has stopped: once more leaves.
    pub(crate) fn stopped(&self) {
        self.0.is_stopped.store(true, Ordering::SeqCst);
    }

    /// Returns whether it was pressed once more while that still wound up.
    pub(crate) fn again(&self) -> bool {
        self.0.is_pressed.load(Ordering::SeqCst)
    }

    /// Waits for Ctrl-C.
    pub(crate) async fn pressed(&self) {
        self.0.pressed.notified().await;
        self.0.is_pressed.store(false, Ordering::SeqCst);
    }
}

impl Shared {
    fn press(&self, has_editor: bool) {
        // It is a key of the user's editor.
        if review::is_editing() {
            return;
        }
        let is_busy = self.busy.load(Ordering::SeqCst) > 0;
        // What is under way stops at the first; where it does not, at the second, and where it still winds up, that is waited for
        // (`again`). Everything that was said is on disk already. At an editor's prompt a signal is nobody's key, unless it comes
        // before there is a prompt again.
        let was_pressed = self.is_pressed.swap(true, Ordering::SeqCst);
        let ends = if is_busy { was_pressed } else { !has_editor || self.is_stopped.load(Ordering::SeqCst) };
        if ends {
            end(INTERRUPTED);
        }
        if is_busy {
            self.pressed.notify_one();
        }
    }
}

/// Ends the program, and what it lets run.
fn end(code: i32) -> ! {
    tools::stop_commands();
    give_terminal_back();
    process::exit(code)
}

/// The terminal as it was found: while a line is read it shows no keys and sends no signals.
#[cfg(unix)]
static TERMINAL: Mutex<Option<Termios>> = Mutex::new(None);

/// Remembers it, and has it keep what was typed ahead when Ctrl-C is pressed, which it forgets else.
#[cfg(unix)]
fn remember_terminal() {
    let found = tcgetattr(io::stdin()).ok();
    if let Some(mut keeps) = found.clone() {
        keeps.local_flags.insert(LocalFlags::NOFLSH);
        let _ = tcsetattr(io::stdin(), SetArg::TCSANOW, &keeps);
    }
    if let Ok(mut terminal) = TERMINAL.lock() {
        *terminal = found;
    }
}

/// Leaves the terminal as it was found.
#[cfg(unix)]
pub(crate) fn give_terminal_back() {
    let terminal = TERMINAL.lock().ok();
    if let Some(found) = terminal.as_deref().and_then(Option::as_ref) {
        // One that is gone needs nothing.
        let _ = tcsetattr(io::stdin(), SetArg::TCSANOW, found);
    }
}

#[cfg(not(unix))]
fn remember_terminal() {}

#[cfg(not(unix))]
pub(crate) fn give_terminal_back() {}

/// Ends what the program lets run along with it where it is told to end, or its terminal is gone. Everything that was said is on disk
/// already.
///
/// # Errors
/// When the system does not let us listen.
#[cfg(unix)]
pub(crate) fn end_when_told(runtime: &Runtime) -> Result<()> {
    use nix::libc::{SIGHUP, SIGTERM};
    use tokio::signal::unix::{SignalKind, signal};

    let _inside = runtime.enter();
    for number in [SIGHUP, SIGTERM].into_iter().filter(|number| !is_ignored(*number)) {
        let mut told = signal(SignalKind::from_raw(number)).context("signals cannot be listened to")?;
        runtime.spawn(async move {
            if told.recv().await.is_some() {
                end(128 + number);
            }
        });
    }
    Ok(())
}

#[cfg(not(unix))]
pub(crate) fn end_when_told(_: &Runtime) -> Result<()> {
    Ok(())
}

/// Returns whether whoever started this program has it ignore a signal, as `nohup` does, as far as the system shows it (Linux).
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.busy.fetch_sub(1, Ordering::SeqCst);
    }
}
