//! Names and queries from anywhere: paths, SQL, the search engine's own language, letters that look like others.

use longhaul_store::{
    MemoryStore, SqliteStore, StoreError, SummaryStore,
    conformance::{block_on, said, session},
};
use longhaul_transcript::SessionId;
use proptest::prelude::*;

const ODD: &[&str] = &[
    "../../etc/passwd",
    "/etc/passwd",
    "..\\..\\windows",
    "known/../known",
    "known\0",
    "KNOWN",
    "known ",
    "'; DROP TABLE sessions; --",
    "\" OR 1=1 --",
    "known' OR '1'='1",
    "alpha* OR beta",
    "text:alpha",
    "NEAR(alpha beta, 2)",
    "alpha NOT beta",
    "^alpha",
    "{text}: alpha",
    "-alpha",
    "alpha\" AND \"beta",
    "%",
    "_",
    "к\u{43d}own",
    "\u{212a}nown",
    "know\u{200b}n",
    "\u{202e}nwonk",
    "ａｌｐｈａ",
];

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::sample::select(ODD).prop_map(str::to_owned),
        any::<String>(),
        "[ab'\"*^:(){}\\-%_;. ]{0,20}",
    ]
}

fn stores() -> (tempfile::TempDir, Vec<Box<dyn SummaryStore>>) {
    let folder = tempfile::tempdir().unwrap();
    let sqlite = SqliteStore::open(folder.path().join("history.db")).unwrap();
    let stores: Vec<Box<dyn SummaryStore>> = vec![Box::new(MemoryStore::new()), Box::new(sqlite)];
    for store in &stores {
        let talk = ["alpha beta", "alpha (gamma)", "delta's \"quoted\" 100%"].map(said);
        block_on(store.journal(&session("known"), 0, &talk, 1)).unwrap();
    }
    (folder, stores)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    #[test]
    fn a_name_names_a_session_or_nothing_and_a_query_is_words(
        tries in prop::collection::vec((text(), text()), 1..12),
    ) {
        let (_folder, stores) = stores();
        for (name, query) in tries {
            let mut answers = Vec::new();
            for store in &stores {
                let resolved = block_on(store.resolve(&name));
                match (name.as_str(), &resolved) {
                    ("known", Ok(found)) => prop_assert_eq!(found, &session("known")),
                    (_, Err(StoreError::UnknownSession { name })) => {
                        prop_assert!(!name.contains(char::is_control));
                    }
                    _ => prop_assert!(false, "{:?} is {:?}", name, resolved),
                }
                if let Ok(id) = SessionId::new(&name) {
                    let plain = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
                    prop_assert!(id.as_str().chars().all(plain), "{:?}", name);
                }
                let hits = block_on(store.search(None, &query, 9)).unwrap();
                let words: Vec<String> = longhaul_store::words(&query).collect();
                for hit in &hits {
                    let text: String = hit.message.iter().flat_map(|message| message.texts()).collect();
                    let held: Vec<String> = longhaul_store::words(&text).collect();
                    prop_assert!(words.iter().all(|word| held.contains(word)), "{:?} found {:?}", query, text);
                }
                answers.push(hits.iter().map(|hit| hit.id.ordinal).collect::<Vec<_>>());
                let sessions = block_on(store.sessions()).unwrap();
                prop_assert_eq!(sessions.len(), 1);
                prop_assert_eq!(sessions[0].state.messages, 3);
            }
            prop_assert_eq!(&answers[0], &answers[1], "{:?}", query);
        }
        for store in &stores {
            prop_assert!(block_on(store.verify(&session("known"))).unwrap().is_intact());
        }
    }
}
