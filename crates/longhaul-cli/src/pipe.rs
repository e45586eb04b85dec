//! What waits for somebody else: a named pipe has two ends, and nobody may be at the other.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read as _},
    path::Path,
    sync::mpsc,
    thread,
    time::Duration,
};

/// How long a named pipe may have nobody at its other end: as long as it takes a person's second command to start.
const PATIENCE: Duration = Duration::from_secs(5);

/// Opens the file or pipe at `path` for reading.
///
/// # Errors
/// Also where it is a named pipe that nobody writes into.
pub(crate) fn opened(path: &Path) -> io::Result<File> {
    match is_pipe(path) {
        true => to_open(path, "a named pipe that nobody writes into", |path| File::open(path)),
        false => File::open(path),
    }
}

/// Opens the device or pipe at `path` for writing.
///
/// # Errors
/// Also where it is a named pipe that nobody reads.
pub(crate) fn opened_to_write(path: &Path) -> io::Result<File> {
    let open = |path: &Path| OpenOptions::new().write(true).open(path);
    match is_pipe(path) {
        true => to_open(path, "a named pipe that nobody reads", open),
        false => open(path),
    }
}

fn to_open(path: &Path, late: &'static str, open: fn(&Path) -> io::Result<File>) -> io::Result<File> {
    let path = path.to_owned();
    within(PATIENCE, late, move || open(&path))
}

/// Waits until nobody else has the file locked.
///
/// # Errors
/// Also where somebody has it for too long.
pub(crate) fn locked(file: File) -> io::Result<File> {
    /// Whoever locks a file here records a session and writes the file; a large one takes seconds.
    const PATIENCE: Duration = Duration::from_secs(60);
    within(PATIENCE, "another program has it locked", move || file.lock().map(|()| file))
}

/// Reads what is to be a file, and small: settings, a key, a tokenizer. A pipe will do: of `<(pass show longhaul)`, say, where a
/// person types a passphrase before anything comes.
///
/// # Errors
/// When it cannot be read, is a folder, is a named pipe that nobody writes into, or is not written to its end in time.
pub(crate) fn small(path: &Path) -> io::Result<Vec<u8>> {
    /// As long as it takes a person to find a passphrase and type it.
    const TO_THE_END: Duration = Duration::from_secs(60);
    const LARGEST: u64 = 64 << 20;
    let found = fs::metadata(path)?;
    if found.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if found.is_file() {
        return fs::read(path);
    }
    let file = opened(path)?;
    within(TO_THE_END, "it is no regular file, and was not written to its end in time", move || {
        let mut bytes = Vec::new();
        file.take(LARGEST).read_to_end(&mut bytes)?;
        match bytes.len() as u64 == LARGEST {
            true => Err(io::Error::other("it is no regular file, and does not end")),
            false => Ok(bytes),
        }
    })
}

/// Reads a [`small`] text.
///
/// # Errors
/// Also when it is no text.
pub(crate) fn small_text(path: &Path) -> io::Result<String> {
    String::from_utf8(small(path)?)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not text (UTF-8)"))
}

/// Returns what `work` gives, or says what is `late`. Nothing ends a thread that waits but the end of the program.
fn within<T: Send + 'static>(
    patience: Duration,
    late: &'static str,
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    let (done, waiting) = mpsc::channel();
    thread::spawn(move || done.send(work()));
    waiting.recv_timeout(patience).map_err(|_| io::Error::new(io::ErrorKind::TimedOut, late))?
}

#[cfg(unix)]
fn is_pipe(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    path.metadata().is_ok_and(|found| found.file_type().is_fifo())
}

#[cfg(not(unix))]
fn is_pipe(_: &Path) -> bool {
    false
}
