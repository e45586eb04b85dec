//! What a person sees who waits for a large input at a terminal: one line on stderr, gone when there is something to say.

use std::{
    io::{self, Read},
    sync::Mutex,
    time::Duration,
};

use indicatif::{ProgressBar, ProgressFinish, ProgressStyle};

/// An input of this many bytes takes long enough that a person wants to see it move.
const LONG: u64 = 16 << 20;

/// What is shown of the work after the reading.
static WORK: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// A reader that shows how far it is, once that is far.
struct Reading<R> {
    input: R,
    /// Of a pipe nobody knows it.
    length: Option<u64>,
    n_bytes: u64,
    bar: Option<ProgressBar>,
}

/// Returns `input`, which shows how far it is read where it is long.
pub(crate) fn reading(input: impl Read, length: Option<u64>) -> impl Read {
    Reading { input, length, n_bytes: 0, bar: None }
}

impl<R: Read> Read for Reading<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let n = self.input.read(bytes)?;
        self.n_bytes += n as u64;
        if self.bar.is_none() && self.length.unwrap_or(self.n_bytes) >= LONG {
            let of = if self.length.is_some() {
                "reading {bytes} of {total_bytes} {wide_bar}"
            } else {
                "reading {bytes}"
            };
            let bar = self.length.map_or_else(ProgressBar::no_length, ProgressBar::new);
            self.bar = Some(styled(bar, of));
        }
        if let Some(bar) = &self.bar {
            bar.set_position(self.n_bytes);
        }
        Ok(n)
    }
}

/// Shows that there is work to do with an input of so many bytes, where that is long, until the next thing is said.
pub(crate) fn working(n_bytes: u64) {
    if n_bytes < LONG {
        return;
    }
    let bar = styled(ProgressBar::no_length(), "working through {bytes}, {elapsed}");
    bar.set_position(n_bytes);
    bar.enable_steady_tick(Duration::from_millis(200));
    set(Some(bar));
}

/// Shows nothing any more.
pub(crate) fn done() {
    set(None);
}

/// Does what writes to stderr while the line is out of the way.
pub(crate) fn aside(write: impl FnOnce()) {
    let bar = WORK.lock().ok().and_then(|work| work.clone());
    match bar {
        Some(bar) => bar.suspend(write),
        None => write(),
    }
}

fn set(bar: Option<ProgressBar>) {
    if let Ok(mut work) = WORK.lock()
        && let Some(before) = std::mem::replace(&mut *work, bar)
    {
        before.finish_and_clear();
    }
}

/// Nothing is drawn where stderr is no terminal.
fn styled(bar: ProgressBar, template: &str) -> ProgressBar {
    let style = ProgressStyle::with_template(template).unwrap_or(bar.style());
    bar.with_style(style).with_finish(ProgressFinish::AndClear)
}
