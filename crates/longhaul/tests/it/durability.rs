//! When words are safe: each push is written where that is asked for, and a store that fails is told of.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

use longhaul::{
    BuildError, Builder, Durability, Error, Event, EventKind, Session,
    store::{
        self, Decide, JournalEntry, MemoryStore, RecordEntry, SessionInfo, Snapshot, StoreError, SummaryStore,
    },
    tokens::{CharsPer4, ContextWindow},
    transcript::{ContentHash, FixedClock, Message, Redacted, SessionId, Span, Tokens},
};

fn name() -> SessionId {
    SessionId::new("pushed").unwrap()
}

fn builder() -> Builder {
    let window = ContextWindow::new(Tokens(6_000), Tokens::ZERO);
    let builder =
        Session::builder(name(), window).counter(Arc::new(CharsPer4)).clock(Arc::new(FixedClock(1)));
    builder.durability(Durability::EachPush)
}

async fn kept(store: &dyn SummaryStore) -> usize {
    store.originals(&name(), Span { start: 0, end: 9 }).await.unwrap().len()
}

#[test]
fn where_every_push_is_written_a_kill_loses_nothing() {
    let store = Arc::new(MemoryStore::default());
    assert!(matches!(builder().build(), Err(BuildError::NoStore)));
    let mut session = builder().store(store.clone()).build().unwrap();
    session.push(Message::user("Fix the build, please."));
    session.push(Message::assistant("Looking."));
    drop(session);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    assert_eq!(runtime.block_on(kept(&*store)), 2);
    // On a runtime's own thread as well.
    runtime.block_on(async {
        let mut session = builder().store(store.clone()).open().await.unwrap();
        session.push(Message::user("And the tests."));
        assert_eq!(kept(&*store).await, 3);
        assert_eq!(session.state().originals().len(), 3);
    });
}

#[tokio::test]
async fn a_push_that_cannot_be_written_is_told_of_and_written_later() {
    let store = Arc::new(Failing::default());
    let told: Arc<Mutex<Vec<String>>> = Arc::default();
    let log = Arc::clone(&told);
    let observer = move |event: &Event| {
        if let EventKind::NotSaved { .. } = event.kind {
            log.lock().unwrap().push(event.to_string());
        }
    };
    let mut session = builder().store(store.clone()).observer(observer).build().unwrap();
    session.push(Message::user("Fix the build, please."));
    store.is_down.store(true, Ordering::Relaxed);
    session.push(Message::assistant("Looking."));
    assert_eq!(*told.lock().unwrap(), ["m1 is not in the store yet: writing failed: the disk is full"]);
    // The next request is not made on words that may be lost.
    let error = session.prepare().await.unwrap_err();
    assert!(matches!(error, Error::Store(StoreError::Backend { .. })), "{error:?}");
    assert_eq!((session.state().view().len(), kept(&store.inner).await), (2, 1));
    store.is_down.store(false, Ordering::Relaxed);
    session.push(Message::user("Well?"));
    assert_eq!(kept(&store.inner).await, 3);
    assert_eq!(told.lock().unwrap().len(), 1);
    assert!(session.prepare().await.is_ok());
}

/// One answer is one write: nobody takes up a session that knows the words of an answer and not its calls.
#[cfg(feature = "wire")]
#[tokio::test]
async fn an_answer_of_several_messages_is_written_whole_or_not_at_all() {
    use longhaul::wire::Format;
    let answers = [
        (
            Format::Responses,
            r#"{"output":[{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"c2ln"},
                {"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"Reading both."}]},
                {"type":"function_call","id":"fc_1","call_id":"k1","name":"read_file","arguments":"{}"},
                {"type":"function_call","id":"fc_2","call_id":"k2","name":"bash","arguments":"{}"}]}"#,
        ),
        (
            Format::OpenAi,
            r#"[{"role":"assistant","content":"Reading.","tool_calls":[{"id":"k0","type":"function","function":{"name":"bash","arguments":"{}"}}]},
                {"role":"tool","tool_call_id":"k0","content":"done"},
                {"role":"assistant","content":null,"tool_calls":[{"id":"k1","type":"function","function":{"name":"read_file","arguments":"{}"}},
                {"id":"k2","type":"function","function":{"name":"bash","arguments":"{}"}}]}]"#,
        ),
        (
            Format::Anthropic,
            r#"[{"role":"assistant","content":[{"type":"tool_use","id":"k0","name":"bash","input":{}}]},
                {"role":"user","content":[{"type":"tool_result","tool_use_id":"k0","content":"done"},{"type":"text","text":"Go on."}]},
                {"role":"assistant","content":[{"type":"tool_use","id":"k1","name":"read_file","input":{}},{"type":"tool_use","id":"k2","name":"bash","input":{}}]}]"#,
        ),
        (
            Format::Gemini,
            r#"[{"role":"model","parts":[{"text":"Reading."}]},{"role":"user","parts":[{"text":"Go on."}]},
                {"role":"model","parts":[{"functionCall":{"id":"k1","name":"read_file","args":{}}},{"functionCall":{"id":"k2","name":"bash","args":{}}}]}]"#,
        ),
    ];
    for (format, answer) in answers {
        for allowed in 0..3 {
            let store = Arc::new(Failing::default());
            let mut session = builder().store(store.clone()).build().unwrap();
            session.push(Message::user("Look at both."));
            store.left.store(allowed, Ordering::Relaxed);
            let ids = session.push_json(format, answer).unwrap();
            assert!(ids.len() > 1, "{format}: {}", ids.len());
            drop(session); // killed
            store.left.store(u64::MAX, Ordering::Relaxed);
            let opened = builder().store(store.clone()).open().await.unwrap();
            let (held, open) = (opened.state().originals().len(), opened.state().open_calls().len());
            let whole = if allowed == 0 { (1, 0) } else { (1 + ids.len(), 2) };
            assert_eq!((held, open), whole, "{format}, {allowed} writes");
        }
    }
}

/// A store whose disk is full at times, or after so many writes.
#[derive(Debug)]
struct Failing {
    inner: MemoryStore,
    is_down: AtomicBool,
    left: AtomicU64,
}

impl Default for Failing {
    fn default() -> Failing {
        let (inner, is_down) = (MemoryStore::default(), AtomicBool::default());
        Failing { inner, is_down, left: AtomicU64::new(u64::MAX) }
    }
}

type Result<T> = std::result::Result<T, StoreError>;

#[async_trait::async_trait]
#[rustfmt::skip]
impl SummaryStore for Failing {
    async fn transact(&self, session: &SessionId, decide: Decide) -> Result<store::StoredSession> {
        let left = self.left.load(Ordering::Relaxed);
        self.left.store(left.saturating_sub(1), Ordering::Relaxed);
        if self.is_down.load(Ordering::Relaxed) || left == 0 {
            return Err(StoreError::backend("writing", "the disk is full"));
        }
        self.inner.transact(session, decide).await
    }
    async fn state(&self, session: &SessionId) -> Result<Option<store::StoredSession>> { self.inner.state(session).await }
    async fn events(&self, session: &SessionId, from: u64, limit: usize) -> Result<Vec<store::Event>> { self.inner.events(session, from, limit).await }
    async fn entries(&self, session: &SessionId, span: Span) -> Result<Vec<JournalEntry>> { self.inner.entries(session, span).await }
    async fn records(&self, session: &SessionId) -> Result<Vec<RecordEntry>> { self.inner.records(session).await }
    async fn snapshot(&self, session: &SessionId) -> Result<Option<Snapshot>> { self.inner.snapshot(session).await }
    async fn contents(&self, session: &SessionId, at: &[ContentHash]) -> Result<Vec<Option<Vec<u8>>>> { self.inner.contents(session, at).await }
    async fn find_words(&self, session: Option<&SessionId>, words: &[String], limit: usize) -> Result<Vec<(SessionId, u64)>> { self.inner.find_words(session, words, limit).await }
    async fn sessions(&self) -> Result<Vec<SessionInfo>> { self.inner.sessions().await }
    async fn set_alias(&self, alias: &SessionId, session: &SessionId) -> Result<()> { self.inner.set_alias(alias, session).await }
    async fn alias(&self, alias: &SessionId) -> Result<Option<SessionId>> { self.inner.alias(alias).await }
    async fn cached(&self, key: &ContentHash) -> Result<Option<Vec<u8>>> { self.inner.cached(key).await }
    async fn cache(&self, key: &ContentHash, value: &Redacted<Vec<u8>>) -> Result<()> { self.inner.cache(key, value).await }
}

/// What was destroyed in the store while a session could still redo it does not come back with the redo: not into the store, and
/// not into the view.
#[cfg(feature = "sqlite")]
#[tokio::test]
async fn what_another_process_destroyed_does_not_come_back_with_a_redo() {
    use longhaul::store::{Selector, SqliteStore};
    const WORD: &str = "zebra-4711-omega";
    for (case, compacts_between) in [("at once", false), ("after another compaction", true)] {
        let folder =
            std::env::temp_dir().join(format!("longhaul-redo-{}-{compacts_between}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("store.db");
        let open = || Arc::new(SqliteStore::open(&path).unwrap());
        let (mine, theirs) = (open(), open());
        let mut session = builder().store(mine.clone()).build().unwrap();
        session.push(Message::user(format!("Never name {WORD} to anybody, and fix the build.")));
        for nth in 0..8 {
            session.push(Message::assistant(format!("Part {nth} was looked at. ").repeat(20)));
            session.push(Message::user(format!("And the part number {nth}?")));
        }
        session.prepare().await.unwrap();
        session.compact(None).await.unwrap();
        assert!(session.state().summary().unwrap().text.contains(WORD), "{case}");
        assert!(session.undo().await.unwrap(), "{case}");
        if compacts_between {
            session.compact(None).await.unwrap();
            session.undo().await.unwrap();
        }
        let forgotten = theirs.forget(&name(), &Selector::Matching(WORD.to_owned()), 2).await.unwrap();
        assert!(!forgotten.records.is_empty(), "{case}");
        let redone = session.redo().await;
        assert!(!matches!(redone, Ok(true)), "{case}: {redone:?}");
        let _ = session.save().await;
        drop((session, mine, theirs));
        for file in std::fs::read_dir(&folder).unwrap() {
            let bytes = std::fs::read(file.unwrap().path()).unwrap();
            assert!(!bytes.windows(WORD.len()).any(|at| at == WORD.as_bytes()), "{case}: it is in the store");
        }
        let opened = builder().store(open()).open().await.unwrap();
        let shown: String = opened.state().view().messages().flat_map(|message| message.texts()).collect();
        assert!(!shown.contains(WORD), "{case}: {shown}");
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
