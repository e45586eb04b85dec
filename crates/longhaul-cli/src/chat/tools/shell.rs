//! Running commands: bounded in time and output, and stopped with everything they started.

use std::{
    cell::RefCell,
    ffi::OsStr,
    io,
    path::Path,
    pin::pin,
    process::Stdio,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncReadExt as _},
    process::{Child, Command},
};

use super::Said;

/// The longest that a command may run.
const MAX_SECONDS: u64 = 600;

/// The most that is kept of a command's output, in bytes: the last that it said.
const MAX_OUTPUT: usize = 256 << 10;

/// A command and all it started. Dropping it ends them.
#[derive(Debug)]
struct Running {
    child: Child,
    /// Ends the group where this process is killed and can end nothing.
    _guard: Option<Child>,
    /// The group that the shell leads.
    group: Option<u32>,
    /// What the command and all it started have in their environment, whatever session or group they went to.
    mark: String,
}

/// What a command has printed so far: it is not lost where the command is stopped.
#[derive(Debug, Default)]
pub(super) struct Printed(RefCell<Kept>);

/// The end of an output.
#[derive(Debug, Default)]
struct Kept {
    bytes: Vec<u8>,
    is_cut: bool,
}

/// How long is read what a command that has ended may have printed: where something that could not be stopped holds its output
/// open, that comes to no end.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// The groups of the commands that run.
static GROUPS: Mutex<Vec<u32>> = Mutex::new(Vec::new());

/// The variable that holds the mark. Its name is not one of ours: a command that runs longhaul would read it as a setting.
const MARK: &str = "STARTED_BY_LONGHAUL_CHAT";

/// Runs a command line and returns what it printed and how it ended. Dropping the future stops it.
pub(super) async fn run(folder: &Path, command: &str, timeout_seconds: u64, printed: &Printed) -> Said {
    let seconds = timeout_seconds.clamp(1, MAX_SECONDS);
    let mut shell = Command::new("sh");
    // Both streams in the order in which they were written.
    shell.arg("-c").arg(format!("exec 2>&1\n{command}"));
    shell.current_dir(folder).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    for (name, _) in std::env::vars_os().filter(|(name, _)| is_ours(name)) {
        shell.env_remove(name);
    }
    let mark = mark();
    shell.env(MARK, &mark).kill_on_drop(true);
    #[cfg(unix)]
    shell.process_group(0);
    let mut running =
        Running::start(shell, mark).map_err(|error| format!("the shell does not start: {error}"))?;
    let out = running.child.stdout.take();
    let finished = async {
        let mut reads = pin!(async {
            if let Some(out) = out {
                printed.read(out).await;
            }
        });
        let status = tokio::select! {
            biased;
            status = running.child.wait() => status,
            // Its output may end before it does.
            () = &mut reads => return running.child.wait().await,
        };
        // What it left behind may hold its output open. What it printed itself is there to be read.
        running.stop();
        let _ = tokio::time::timeout(LAST_WORDS, reads).await;
        status
    };
    match tokio::time::timeout(Duration::from_secs(seconds), finished).await {
        Err(_) => Err(printed.until(&format!("still running after {seconds} s; it was stopped"))),
        Ok(Err(error)) => Err(format!("it cannot be waited for: {error}")),
        Ok(Ok(status)) => {
            let code =
                status.code().map_or("stopped by a signal".to_owned(), |code| format!("exit code {code}"));
            let said = format!("{}[{code}]\n", printed.text());
            if status.success() { Ok(said) } else { Err(said) }
        }
    }
}

/// Returns whether a variable is nothing to a command that a model wrote: what it prints goes to the model. Those are
/// the store and its key, everything else of longhaul's, and the keys of those who offer models.
fn is_ours(name: &OsStr) -> bool {
    let name = name.to_string_lossy().to_ascii_uppercase();
    name.starts_with("LONGHAUL_") || name.ends_with("API_KEY") || OPENS_A_MODEL.contains(&&*name)
}

/// Variables that open somebody's models and do not end in `API_KEY`. Others (`GH_TOKEN`) are what commands work with.
const OPENS_A_MODEL: [&str; 11] = [
    "ANTHROPIC_AUTH_TOKEN",
    "AWS_BEARER_TOKEN_BEDROCK",
    "AZURE_OPENAI_AD_TOKEN",
    "AZURE_OPENAI_KEY",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "HF_TOKEN",
    "HUGGINGFACEHUB_API_TOKEN",
    "HUGGING_FACE_HUB_TOKEN",
    "OPENAI_KEY",
    "OPENAI_TOKEN",
    "REPLICATE_API_TOKEN",
];

impl Printed {
    /// Reads what comes to its end, so that the command never waits for us, and keeps the last of it.
    async fn read(&self, mut out: impl AsyncRead + Unpin) {
        let mut buffer = vec![0; 16 << 10];
        while let Ok(count @ 1..) = out.read(&mut buffer).await {
            let Kept { bytes, is_cut } = &mut *self.0.borrow_mut();
            bytes.extend_from_slice(&buffer[..count]);
            if bytes.len() > 2 * MAX_OUTPUT {
                *is_cut = true;
                bytes.drain(..bytes.len() - MAX_OUTPUT);
            }
        }
    }

    /// Returns what was printed before the command came to this `end`.
    pub(super) fn until(&self, end: &str) -> String {
        match self.text() {
            text if text.is_empty() => end.to_owned(),
            text => format!("{text}[{end}]\n"),
        }
    }

    fn text(&self) -> String {
        let kept = self.0.borrow();
        let mut text = String::from_utf8_lossy(&kept.bytes).into_owned();
        if kept.is_cut {
            text.insert_str(0, "[the beginning is left out]\n");
        }
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text
    }
}

/// Returns what tells the commands of this process apart, and from those of others.
fn mark() -> String {
    static NTH: AtomicU64 = AtomicU64::new(0);
    format!("{}{}", our_mark(), NTH.fetch_add(1, Ordering::Relaxed))
}

/// Returns what the marks of all commands of this process begin with.
fn our_mark() -> String {
    format!("{}.", std::process::id())
}

/// Ends all commands that run, with what they started: for when this process is about to end without dropping them.
pub(crate) fn stop_all() {
    let groups = groups();
    groups.iter().copied().for_each(stop_group);
    stop_marked(|mark| mark.starts_with(&our_mark()));
    // No other is started from now on.
    std::mem::forget(groups);
}

fn groups() -> MutexGuard<'static, Vec<u32>> {
    GROUPS.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Running {
    fn start(mut shell: Command, mark: String) -> io::Result<Running> {
        let mut groups = groups();
        let child = shell.spawn()?;
        let group = child.id();
        let guard = group.map(guard).transpose()?;
        groups.extend(group);
        Ok(Running { child, _guard: guard, group, mark })
    }

    /// Ends what runs of it. Once is enough: later another group may have its number.
    fn stop(&mut self) {
        let Some(group) = self.group.take() else { return };
        groups().retain(|other| *other != group);
        stop_group(group);
        // What left the group still has the mark.
        stop_marked(|mark| mark == self.mark);
    }
}

/// Starts what waits for this process to end and then ends the group: its input ends with us, however we end. Dropping it ends it
/// first.
fn guard(group: u32) -> io::Result<Child> {
    let mut guard = Command::new("sh");
    guard.args(["-c", "read -r _; kill -s KILL -- -$0"]).arg(group.to_string());
    guard.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
    // Ctrl-C and a terminal that is closed are not meant for it.
    #[cfg(unix)]
    guard.process_group(0);
    guard.spawn()
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop();
    }
}

#[cfg(unix)]
fn stop_group(group: u32) {
    use nix::{
        sys::signal::{Signal, killpg},
        unistd::Pid,
    };
    if let Ok(group) = i32::try_from(group) {
        // Where it is gone already there is nothing to end.
        let _ = killpg(Pid::from_raw(group), Signal::SIGKILL);
    }
}

/// Ends the processes with such a mark. One that is ended may have started another in the meantime.
#[cfg(unix)]
fn stop_marked(is_meant: impl Fn(&str) -> bool) {
    use nix::{
        sys::signal::{Signal, kill},
        unistd::Pid,
    };
    for _ in 0..ROUNDS {
        let left = marked(&is_meant);
        if left.is_empty() {
            return;
        }
        for pid in left {
            let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
        }
    }
}

/// How often is looked for what a command left behind.
#[cfg(unix)]
const ROUNDS: usize = 16;

/// Returns the processes that have such a mark in their environment, as far as the system shows it (Linux).
#[cfg(unix)]
fn marked(is_meant: &impl Fn(&str) -> bool) -> Vec<i32> {
    let entry = format!("{MARK}=");
    let mark = |variable: &[u8]| {
        let mark = variable.strip_prefix(entry.as_bytes())?;
        Some(is_meant(std::str::from_utf8(mark).ok()?))
    };
    let is_marked = |pid: &i32| {
        // Of one that has ended nothing is left to read.
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).find_map(mark).unwrap_or_default()
    };
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    processes.filter_map(|process| process.file_name().to_str()?.parse().ok()).filter(is_marked).collect()
}

#[cfg(not(unix))]
fn stop_group(_: u32) {}

#[cfg(not(unix))]
fn stop_marked(_: impl Fn(&str) -> bool) {}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn block_on<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime starts")
            .block_on(future)
    }

    #[test]
    fn a_command_says_what_it_printed_and_how_it_ended() {
        let folder = tempfile::tempdir().unwrap();
        let run = |command: &str| block_on(run(folder.path(), command, 20, &Printed::default()));
        assert_eq!(run("echo one; echo two >&2"), Ok("one\ntwo\n[exit code 0]\n".into()));
        assert_eq!(run("printf x; exit 3"), Err("x\n[exit code 3]\n".into()));
        let long = run("yes | head -c 3000000").unwrap();
        assert!(long.starts_with("[the beginning is left out]") && long.len() < 600_000);
    }

    #[test]
    fn the_store_and_keys_are_nothing_to_a_command() {
        let named = ["LONGHAUL_STORE", "LONGHAUL_STORE_KEY", "LONGHAUL_API_KEY", "OPENAI_API_KEY", "api_key"];
        for name in named.into_iter().chain(OPENS_A_MODEL) {
            assert!(is_ours(OsStr::new(name)), "{name}");
        }
        for name in ["PATH", "HOME", "GH_TOKEN", "CARGO_HOME"] {
            assert!(!is_ours(OsStr::new(name)), "{name}");
        }
    }

    #[test]
    fn a_command_that_goes_on_is_stopped_with_what_it_started() {
        let folder = tempfile::tempdir().unwrap();
        let marker = folder.path().join("alive");
        let command = format!("(sleep 3; touch {}) & sleep 30", marker.display());
        let stopped = block_on(run(folder.path(), &command, 1, &Printed::default()));
        assert_eq!(stopped, Err("still running after 1 s; it was stopped".into()));
        // Whether the child in the background is gone is seen by its process, not by waiting for its file.
        let listed = std::process::Command::new("pgrep").args(["-f", &marker.display().to_string()]).output();
        if let Ok(listed) = listed {
            assert!(listed.stdout.is_empty(), "{}", String::from_utf8_lossy(&listed.stdout));
        }
    }

    #[test]
    fn what_goes_on_behind_a_command_neither_holds_it_up_nor_outlives_it() {
        let folder = tempfile::tempdir().unwrap();
        let began = std::time::Instant::now();
        let said = block_on(run(folder.path(), "sleep 773 & echo bg", 60, &Printed::default()));
        assert_eq!(said, Ok("bg\n[exit code 0]\n".into()));
        assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
        assert!(!sleeps("773"));
    }

    /// Whether somebody sleeps for so many seconds; where that cannot be seen, nobody does.
    fn sleeps(seconds: &str) -> bool {
        let Ok(processes) = std::fs::read_dir("/proc") else { return false };
        let commands = processes.flatten().filter_map(|one| std::fs::read(one.path().join("cmdline")).ok());
        commands.into_iter().any(|command| command == format!("sleep\0{seconds}\0").as_bytes())
    }

    #[test]
    fn what_a_command_printed_before_it_was_stopped_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let printed = Printed::default();
        let stopped = block_on(run(folder.path(), "echo 3 of 7 tests; printf on; sleep 30", 1, &printed));
        assert_eq!(stopped, Err("3 of 7 tests\non\n[still running after 1 s; it was stopped]\n".into()));
        assert_eq!(printed.until("stopped by the user"), "3 of 7 tests\non\n[stopped by the user]\n");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_leaves_the_group_of_a_command_is_stopped_with_it() {
        let folder = tempfile::tempdir().unwrap();
        // One that is stopped for its time, one that ends and leaves something behind.
        for (command, seconds) in
            [("setsid sleep 771 & sleep 30", 1), ("setsid sleep 772 > /dev/null 2>&1 & echo on", 20)]
        {
            let _ = block_on(run(folder.path(), command, seconds, &Printed::default()));
        }
        assert!(!sleeps("771") && !sleeps("772"));
    }
}
