//! Other processes that write to a store, and what they must not lose.
//!
//! A test that needs another process starts this test binary again, with the part it is to play in the environment.

use std::{
    collections::BTreeSet,
    env,
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use longhaul_store::{
    StoreError, SummaryStore,
    conformance::{block_on, record, said, session},
};
use longhaul_transcript::Span;

/// Returns how often a test is to try: `default`, or what the environment says.
pub(crate) fn runs(name: &str, default: usize) -> usize {
    env::var(name).ok().and_then(|runs| runs.parse().ok()).unwrap_or(default)
}

/// Returns the command that starts this binary again as `role`, a test of this binary, on the database at `path`.
pub(crate) fn play(role: &str, path: &Path, writer: usize) -> Command {
    let mut command = Command::new(env::current_exe().expect("a test knows its binary"));
    command
        .args([role, "--exact", "--nocapture", "--test-threads=1"])
        .env("LONGHAUL_TEST_DATABASE", path)
        .env("LONGHAUL_TEST_WRITER", writer.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    command
}

/// Returns the database and the number this process was started with; `None` where it runs as an ordinary test.
pub(crate) fn part() -> Option<(PathBuf, usize)> {
    let path = env::var_os("LONGHAUL_TEST_DATABASE")?;
    let writer = env::var("LONGHAUL_TEST_WRITER").ok()?.parse().ok()?;
    Some((path.into(), writer))
}

pub(crate) fn tell(line: &str) {
    let mut out = std::io::stdout().lock();
    // Fails when the reader is gone, which is what it wants.
    let _ = writeln!(out, "@{line}").and_then(|()| out.flush());
}

/// Returns what the other process told before it ended or was killed. A line without an end was not told.
pub(crate) fn told(child: &mut Child, at_most: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut out = BufReader::new(child.stdout.take().expect("piped"));
    let mut line = String::new();
    while lines.len() < at_most && out.read_line(&mut line).is_ok_and(|read| read > 0) {
        // The test runner's own words stand before the first.
        if let Some((_, text)) = line.trim_end().split_once('@').filter(|_| line.ends_with('\n')) {
            lines.push(text.to_owned());
        }
        line.clear();
    }
    child.kill().expect("it is our own child");
    // What it told between the last line and its end was acknowledged too.
    for line in out.lines().map_while(Result::ok) {
        lines.extend(line.split_once('@').map(|(_, text)| text.to_owned()));
    }
    child.wait().expect("it is our own child");
    lines
}

pub(crate) fn texts(store: &dyn SummaryStore) -> Vec<String> {
    let originals = block_on(store.originals(&session("s"), Span { start: 0, end: u64::MAX })).unwrap();
    originals.into_iter().map(|original| original.message.unwrap().texts().collect()).collect()
}

fn compacted(store: &dyn SummaryStore) -> Vec<String> {
    block_on(store.chain(&session("s"))).unwrap().into_iter().map(|record| record.text).collect()
}

/// Writes originals and records until it is killed or cannot, and tells each once it is acknowledged.
pub(crate) fn write_on(store: &dyn SummaryStore, writer: usize, turns: usize) -> Result<(), StoreError> {
    let name = session("s");
    for turn in 0..turns {
        let text = format!("{writer}-{turn}-{}", "word.".repeat(turn * 37 % 400));
        block_on(store.extend(&name, &[said(&text)], 1))?;
        tell(&text);
        loop {
            let head = block_on(store.head(&name))?;
            let mine = record(&name, head.as_ref(), 1, &format!("record {writer}-{turn}"));
            match block_on(store.append(&name, &mine)) {
                Err(StoreError::Conflict { .. }) => continue,
                done => break done.map(drop)?,
            };
        }
        tell(&format!("record {writer}-{turn}"));
    }
    Ok(())
}

pub(crate) fn assert_all_there(store: &dyn SummaryStore, acknowledged: &[String]) {
    let Some(_) = block_on(store.state(&session("s"))).unwrap() else {
        assert!(acknowledged.is_empty(), "{} were acknowledged", acknowledged.len());
        return;
    };
    let verified = block_on(store.verify(&session("s"))).unwrap();
    assert!(verified.is_intact(), "{verified:?}");
    let there: Vec<String> = texts(store).into_iter().chain(compacted(store)).collect();
    let unique: BTreeSet<&String> = there.iter().collect();
    assert_eq!(unique.len(), there.len(), "something is doubled");
    let lost: Vec<_> = acknowledged.iter().filter(|text| !unique.contains(text)).collect();
    assert!(lost.is_empty(), "{} of {} lost", lost.len(), acknowledged.len());
}
