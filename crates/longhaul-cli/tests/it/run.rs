//! Running the command in a folder of its own.

use std::{
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// What the command did.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

/// A folder that goes away with the test.
pub(crate) struct Folder(tempfile::TempDir);

impl Folder {
    pub(crate) fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Puts a file into the folder.
    pub(crate) fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }

    /// Runs `longhaul` here, with nothing of the user's own settings or data in reach.
    pub(crate) fn run(&self, args: &[&str], stdin: &[u8]) -> Ran {
        self.run_with(&[], args, stdin)
    }

    /// The same with these variables in the environment.
    pub(crate) fn run_with(&self, variables: &[(&str, &str)], args: &[&str], stdin: &[u8]) -> Ran {
        self.ran(self.path(), variables, args, stdin)
    }

    /// The same in another folder.
    pub(crate) fn run_in(&self, place: &Path, args: &[&str], stdin: &[u8]) -> Ran {
        self.ran(place, &[], args, stdin)
    }

    fn ran(&self, place: &Path, variables: &[(&str, &str)], args: &[&str], stdin: &[u8]) -> Ran {
        let mut child = Command::new(assert_cmd::cargo::cargo_bin!("longhaul"))
            .args(args)
            .current_dir(place)
            .env_clear()
            .env("HOME", self.path())
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .envs(variables.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        let bytes = stdin.to_vec();
        let writer = std::thread::spawn(move || {
            // The command may have seen enough before the end: a closed pipe is its right.
            let _ = input.write_all(&bytes);
        });
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        Ran {
            code: output.status.code().unwrap_or(-1),
            stdout: output.stdout,
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

impl Ran {
    /// Returns what was said for a person, in one line: long lines are broken where they happen to be.
    pub(crate) fn said(&self) -> String {
        self.stderr.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

/// Returns the session that lies in the repository.
pub(crate) fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/session.jsonl")
}
