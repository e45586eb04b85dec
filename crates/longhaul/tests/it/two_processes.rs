//! Two processes that talk under one name in one file: what either was told is written is there, in its own words.
//!
//! The test starts its own binary again for each of them, with the part it is to play in the environment.

use std::{
    collections::BTreeMap,
    env,
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, Command, Stdio},
    sync::Arc,
};

use longhaul::{
    Builder, Durability, Session,
    store::{SqliteStore, SummaryStore},
    tokens::{CharsPer4, ContextWindow},
    transcript::{Message, SessionId, Span, Tokens},
};

const TURNS: usize = 25;

fn builder(path: &Path) -> Builder {
    let window = ContextWindow::new(Tokens(2_000), Tokens::ZERO);
    let store = Arc::new(SqliteStore::open(path).unwrap());
    Session::builder(SessionId::new("same").unwrap(), window).counter(Arc::new(CharsPer4)).store(store)
}

/// What one process does; an ordinary run does nothing.
#[tokio::test]
async fn talks_as_one_of_two() {
    let (Some(path), Ok(who)) = (env::var_os("LONGHAUL_TEST_DATABASE"), env::var("LONGHAUL_TEST_WRITER"))
    else {
        return;
    };
    let durability = if who == "1" { Durability::EachPush } else { Durability::EachPrepare };
    let open = || builder(Path::new(&path)).durability(durability);
    let mut session = open().open().await.unwrap();
    for nth in 0..TURNS {
        let asked = format!("{who}-{nth}: {}", "word ".repeat(nth * 37 % 90));
        let answered = format!("{who}-{nth} answered");
        session.push(Message::user(asked.as_str()));
        session.prepare().await.unwrap();
        session.push(Message::assistant(answered.as_str()));
        session.save().await.unwrap();
        let mut out = std::io::stdout().lock();
        writeln!(out, "@{}@{asked}\n@{}@{answered}", session.line(), session.line()).unwrap();
        drop(out);
        if nth % 10 == 9 {
            // What it goes on with is its own line, or the one that has the name.
            let line = session.line().clone();
            drop(session);
            session = match nth {
                9 => open().open().await.unwrap(),
                _ => {
                    let window = ContextWindow::new(Tokens(2_000), Tokens::ZERO);
                    let store = Arc::new(SqliteStore::open(Path::new(&path)).unwrap());
                    Session::builder(line, window).store(store).open_line().await.unwrap()
                }
            };
        }
    }
}

fn play(path: &Path, who: usize) -> Child {
    let mut command = Command::new(env::current_exe().unwrap());
    command
        .args(["two_processes::talks_as_one_of_two", "--exact", "--nocapture", "--test-threads=1"])
        .env("LONGHAUL_TEST_DATABASE", path)
        .env("LONGHAUL_TEST_WRITER", who.to_string())
        .stdout(Stdio::piped());
    command.spawn().unwrap()
}

#[tokio::test]
async fn two_processes_under_one_name_lose_nothing() {
    let folder = env::temp_dir().join(format!("longhaul-processes-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("store.db");
    let mut writers = [play(&path, 0), play(&path, 1)];
    let mut said: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for writer in &mut writers {
        let out = BufReader::new(writer.stdout.take().unwrap());
        for line in out.lines().map(Result::unwrap) {
            let mut told = line.splitn(3, '@').skip(1).map(str::to_owned);
            if let (Some(line), Some(text)) = (told.next(), told.next()) {
                said.entry(line).or_default().push(text);
            }
        }
        assert!(writer.wait().unwrap().success());
    }
    assert_eq!(said.values().map(Vec::len).sum::<usize>(), 2 * 2 * TURNS);
    let store = SqliteStore::open(&path).unwrap();
    for (line, said) in &said {
        let line = SessionId::new(line.as_str()).unwrap();
        let all = Span { start: 0, end: u64::MAX };
        let kept: Vec<String> = store
            .originals_in_line(&line, all)
            .await
            .unwrap()
            .into_iter()
            .map(|original| original.message.unwrap().texts().collect())
            .collect();
        for text in said {
            assert_eq!(kept.iter().filter(|kept| *kept == text).count(), 1, "{line}: {text:?}");
        }
        assert!(store.verify(&line).await.unwrap().is_intact(), "{line}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}
