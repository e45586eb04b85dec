//! Running commands: bounded in time and output, and stopped with everything they started.

use std::{ffi::OsStr, path::Path, process::Stdio, time::Duration};

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
struct Running(Child);

/// Runs a command line and returns what it printed and how it ended. Dropping the future stops it.
pub(super) async fn run(folder: &Path, command: &str, timeout_seconds: u64) -> Said {
    let seconds = timeout_seconds.clamp(1, MAX_SECONDS);
    let mut shell = Command::new("sh");
    // Both streams in the order in which they were written.
    shell.arg("-c").arg(format!("exec 2>&1\n{command}"));
    shell.current_dir(folder).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    for (name, _) in std::env::vars_os().filter(|(name, _)| is_ours(name)) {
        shell.env_remove(name);
    }
    shell.kill_on_drop(true);
    #[cfg(unix)]
    shell.process_group(0);
    let child = shell.spawn().map_err(|error| format!("the shell does not start: {error}"))?;
    let mut running = Running(child);
    let out = running.0.stdout.take();
    let finished = async {
        let printed = match out {
            Some(out) => printed(out).await,
            None => String::new(),
        };
        (printed, running.0.wait().await)
    };
    match tokio::time::timeout(Duration::from_secs(seconds), finished).await {
        Err(_) => Err(format!("still running after {seconds} s; it was stopped")),
        Ok((_, Err(error))) => Err(format!("it cannot be waited for: {error}")),
        Ok((printed, Ok(status))) => {
            let code =
                status.code().map_or("stopped by a signal".to_owned(), |code| format!("exit code {code}"));
            let said = format!("{printed}[{code}]\n");
            if status.success() { Ok(said) } else { Err(said) }
        }
    }
}

/// Returns whether a variable is nothing to a command that a model wrote: what it prints goes to the model. Those are
/// the store and its key, everything else of longhaul's, and the keys of providers.
fn is_ours(name: &OsStr) -> bool {
    let name = name.to_string_lossy().to_ascii_uppercase();
    name.starts_with("LONGHAUL_") || name.ends_with("API_KEY")
}

/// Returns the end of what comes, read to its end so that the command never waits for us.
async fn printed(mut out: impl AsyncRead + Unpin) -> String {
    let mut kept: Vec<u8> = Vec::new();
    let mut buffer = vec![0; 16 << 10];
    let mut is_cut = false;
    while let Ok(count @ 1..) = out.read(&mut buffer).await {
        kept.extend_from_slice(&buffer[..count]);
        if kept.len() > 2 * MAX_OUTPUT {
            is_cut = true;
            kept.drain(..kept.len() - MAX_OUTPUT);
        }
    }
    let mut text = String::from_utf8_lossy(&kept).into_owned();
    if is_cut {
        text.insert_str(0, "[the beginning is left out]\n");
    }
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

impl Drop for Running {
    fn drop(&mut self) {
        // The shell leads a group of its own; what it started is in it. Once it was waited for there is no id left.
        #[cfg(unix)]
        if let Some(group) = self.0.id() {
            let kill =
                std::process::Command::new("kill").args(["-KILL", "--", &format!("-{group}")]).status();
            // Where there is no `kill`, the shell itself is still ended (`kill_on_drop`).
            drop(kill);
        }
    }
}

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
        let run = |command: &str| block_on(run(folder.path(), command, 20));
        assert_eq!(run("echo one; echo two >&2"), Ok("one\ntwo\n[exit code 0]\n".into()));
        assert_eq!(run("printf x; exit 3"), Err("x\n[exit code 3]\n".into()));
        let long = run("yes | head -c 3000000").unwrap();
        assert!(long.starts_with("[the beginning is left out]") && long.len() < 600_000);
    }

    #[test]
    fn the_store_and_keys_are_nothing_to_a_command() {
        for name in ["LONGHAUL_STORE", "LONGHAUL_STORE_KEY", "LONGHAUL_API_KEY", "OPENAI_API_KEY", "api_key"]
        {
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
        let stopped = block_on(run(folder.path(), &command, 1));
        assert_eq!(stopped, Err("still running after 1 s; it was stopped".into()));
        // Whether the child in the background is gone is seen by its process, not by waiting for its file.
        let listed = std::process::Command::new("pgrep").args(["-f", &marker.display().to_string()]).output();
        if let Ok(listed) = listed {
            assert!(listed.stdout.is_empty(), "{}", String::from_utf8_lossy(&listed.stdout));
        }
    }
}
