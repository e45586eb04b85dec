//! An agent that has a session open while it is compacted and taken back: what it writes is somewhere, and somebody says where.
#![cfg(unix)]

use std::{
    fs::{self, File, OpenOptions},
    io::Write as _,
    path::PathBuf,
    process::Command,
};

use crate::run::{Folder, example};

/// A session in a folder of its own.
struct Session {
    folder: Folder,
    file: PathBuf,
    before: Vec<u8>,
}

impl Session {
    fn new() -> Session {
        let (folder, before) = (Folder::new(), fs::read(example()).unwrap());
        let file = folder.file("s.jsonl", &before);
        Session { folder, file, before }
    }

    /// Runs the command and returns what it said.
    fn run(&self, args: &[&str]) -> String {
        let ran = self.folder.run(args, b"");
        assert_eq!(ran.code, 0, "{args:?}: {}", ran.stderr);
        ran.stderr
    }

    fn compact(&self, budget: &str) -> String {
        self.run(&["compact", "s.jsonl", "--budget", budget, "--in-place", "--session", "work"])
    }

    /// Opens the session as an agent does.
    fn open(&self) -> File {
        OpenOptions::new().append(true).open(&self.file).unwrap()
    }

    /// Returns the files that hold `words`.
    fn holding(&self, words: &str) -> Vec<String> {
        let files = fs::read_dir(self.folder.path()).unwrap().map(|entry| entry.unwrap().path());
        let holds = |path: &PathBuf| fs::read_to_string(path).is_ok_and(|text| text.contains(words));
        let mut names: Vec<String> =
            files.filter(holds).map(|path| path.file_name().unwrap().to_str().unwrap().to_owned()).collect();
        names.sort();
        names
    }

    /// Runs the command behind `words` as it was printed.
    fn follow(&self, said: &str, words: &str) {
        let command = said.split(words).nth(1).unwrap().lines().next().unwrap();
        let binary = assert_cmd::cargo::cargo_bin!("longhaul");
        let path = format!("{}:{}", binary.parent().unwrap().display(), std::env::var("PATH").unwrap());
        let shell = Command::new("sh")
            .args(["-c", command])
            .current_dir("/")
            .env_clear()
            .env("HOME", self.folder.path())
            .env("PATH", path)
            .output()
            .unwrap();
        assert!(shell.status.success(), "{command}: {}", String::from_utf8_lossy(&shell.stderr));
    }
}

fn line(words: &str) -> Vec<u8> {
    format!("{{\"type\":\"summary\",\"summary\":\"{words}\"}}\n").into_bytes()
}

const GIVES_BACK: &str = "once the agent is left: ";

#[test]
fn what_is_written_into_a_compacted_session_after_undo_has_a_name() {
    let session = Session::new();
    session.compact("6k");
    let mut agent = session.open();
    let undone = session.run(&["undo", "work"]);
    assert!(undone.contains("should be left first") && undone.contains("s.jsonl.undone"), "{undone}");
    assert_eq!(fs::read(&session.file).unwrap(), session.before);
    agent.write_all(&line("zq-late")).unwrap();
    assert_eq!(session.holding("zq-late"), ["s.jsonl.undone"]);
    // The next compaction says so, and what it says gives it back.
    let told = format!("s.jsonl.undone holds {} bytes more than the session had", line("zq-late").len());
    let said = session.compact("6k");
    assert!(said.contains(&told), "{said}");
    session.follow(&said, GIVES_BACK);
    assert!(session.holding("zq-late").contains(&"s.jsonl".to_owned()), "{said}");
}

/// However often it is compacted and taken back by the same steps.
#[test]
fn names_are_used_again_where_nothing_was_written_under_them() {
    let session = Session::new();
    for _ in 0..3 {
        session.compact("6k");
        session.run(&["undo", "work"]);
        assert_eq!(fs::read(&session.file).unwrap(), session.before);
    }
    let names: Vec<String> =
        session.holding("").into_iter().filter(|name| name.contains("s.jsonl")).collect();
    assert_eq!(names, ["s.jsonl", "s.jsonl.undone"]);
    // What somebody wrote into stays.
    session.compact("6k");
    fs::write(session.folder.path().join("s.jsonl.undone"), "zq-mine").unwrap();
    session.run(&["undo", "work"]);
    assert_eq!(session.holding("zq-mine"), ["s.jsonl.undone"]);
}

/// The session is the file again that it was.
#[test]
fn what_is_written_after_undo_by_an_agent_from_before_is_in_the_session() {
    let session = Session::new();
    let mut agent = session.open();
    session.compact("6k");
    session.run(&["undo", "work"]);
    agent.write_all(&line("zq-late")).unwrap();
    assert_eq!(session.holding("zq-late"), ["s.jsonl"], "and in nothing that is called a copy");
    let said = session.compact("6k");
    assert!(!said.contains("an agent had it open"), "{said}");
}

#[test]
fn the_same_compaction_made_again_still_knows_the_first_copy() {
    let session = Session::new();
    let mut agent = session.open();
    session.compact("6k");
    agent.write_all(&line("zq-first")).unwrap();
    let undone = session.run(&["undo", "work"]);
    assert!(undone.contains("s.jsonl.bak holds"), "{undone}");
    agent.write_all(&line("zq-second")).unwrap();
    let n_bytes = line("zq-first").len() + line("zq-second").len();
    let told = format!("s.jsonl.bak holds {n_bytes} bytes more than the session had");
    let said = session.compact("6k");
    assert!(said.contains(&told), "{said}");
    let undone = session.run(&["undo", "work"]);
    assert!(undone.contains(&told), "{undone}");
    session.follow(&undone, GIVES_BACK);
    assert!(fs::read_to_string(&session.file).unwrap().contains("zq-second"));
}

/// However often the copy is renewed.
#[test]
fn what_is_written_after_later_compactions_has_a_name() {
    for budgets in [&["6k", "4k"][..], &["6k", "4k", "3k"]] {
        let session = Session::new();
        let mut agent = session.open();
        budgets.iter().for_each(|budget| drop(session.compact(budget)));
        agent.write_all(&line("zq-late")).unwrap();
        assert_eq!(session.holding("zq-late"), ["s.jsonl.left"]);
        let undone = session.run(&["undo", "work"]);
        assert!(undone.contains("s.jsonl.left holds"), "{undone}");
        session.follow(&undone, GIVES_BACK);
        assert_eq!(fs::read(&session.file).unwrap(), [&session.before[..], &line("zq-late")].concat());
    }
}

#[test]
fn a_hint_that_is_followed_loses_no_line() {
    // One step back or two lead to what the copy begins with.
    for steps in [&["6k"][..], &["6k", "4k"]] {
        let session = Session::new();
        let mut agent = session.open();
        let mut said = session.compact(steps[0]);
        assert!(!said.contains(GIVES_BACK), "nothing was written yet: {said}");
        agent.write_all(&line("zq-late")).unwrap();
        match steps.get(1) {
            Some(budget) => said = session.compact(budget),
            None => said = session.run(&["undo", "work"]),
        }
        assert_eq!(said.contains("longhaul undo 7d1c2f6a"), steps.len() > 1, "{said}");
        session.follow(&said, GIVES_BACK);
        assert_eq!(
            fs::read(&session.file).unwrap(),
            [&session.before[..], &line("zq-late")].concat(),
            "{said}"
        );
    }
    // The agent that was resumed wrote into the session, and the one from before into the copy.
    let session = Session::new();
    let mut agent = session.open();
    session.compact("6k");
    agent.write_all(&line("zq-late")).unwrap();
    session.open().write_all(&line("zq-resumed")).unwrap();
    let said = session.compact("4k");
    assert!(said.contains("s.jsonl.bak holds"), "{said}");
    assert!(!said.contains(GIVES_BACK) && said.contains("neither may take the other's place"), "{said}");
    assert!(session.holding("zq-resumed").contains(&"s.jsonl".to_owned()), "{said}");
    assert!(session.holding("zq-late").contains(&"s.jsonl.bak".to_owned()), "{said}");
}
