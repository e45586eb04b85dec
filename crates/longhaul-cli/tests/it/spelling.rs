//! What came in spelled by a provider goes out in the same bytes after it was stored, secrets apart.

use longhaul::{
    redact::Redactor,
    store::{Commit, SummaryStore, open_store},
    transcript::{Message, SessionId, Span},
    wire::{Format, messages_from_json, render},
};
use longhaul_testkit::samples;

/// What is said to each provider: a picture, signed thinking or a reasoning item, and fields that longhaul does not know.
fn said() -> Vec<(Format, String)> {
    let said = |format: Format| {
        let provider = samples::of(format.name()).written.as_ref()?.provider.as_ref()?;
        Some((format, format!("[{}]", provider.spelled.join(","))))
    };
    Format::ALL.into_iter().filter_map(said).collect()
}

const SECRET: &str = "ghp_9aF3kLmQ2xR7tVbW4yZcN8dEuH5sJ1oPqT6i";

/// Stores messages as a session does, and reads them back in another process's stead.
fn stored(place: &str, messages: &[Message]) -> Vec<Message> {
    let messages = Redactor::builtin().redact_conversation(messages);
    let session = SessionId::new("talk").unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let store = open_store(place).unwrap();
        store.commit(&session, &Commit { messages, ..Commit::default() }).await.unwrap();
        drop(store);
        let store = open_store(place).unwrap();
        assert!(store.verify(&session).await.unwrap().is_intact());
        let originals = store.originals(&session, Span { start: 0, end: 99 }).await.unwrap();
        originals.into_iter().map(|original| original.message.unwrap()).collect()
    })
}

#[test]
fn after_a_resume_everything_goes_out_as_it_came_in() {
    for (format, said) in said() {
        let folder = crate::run::Folder::new();
        let place = folder.path().join("store.db");
        let back = stored(place.to_str().unwrap(), &messages_from_json(format, &said).unwrap());
        let rendered = render(&back, format).unwrap();
        assert_eq!(rendered.json, said, "{format}");
        assert_eq!(rendered.losses, [""; 0], "{format}");
    }
}

#[test]
fn a_secret_goes_out_as_a_placeholder_and_takes_a_signed_block_along() {
    for (format, said) in said() {
        // In what may be changed, and in what is signed.
        let said = said.replace("look", SECRET).replace("\"hm\"", &format!("\"{SECRET}\""));
        let said = said.replace("\"x\":1", &format!("\"x\":\"{SECRET}\",\"y\":1"));
        let folder = crate::run::Folder::new();
        let place = folder.path().join("store.db");
        let messages = messages_from_json(format, &said).unwrap();
        assert_eq!(render(&messages, format).unwrap().json, said, "the process keeps what was said");
        let back = stored(place.to_str().unwrap(), &messages);
        let rendered = render(&back, format).unwrap();
        assert!(!rendered.json.contains(SECRET), "{}", rendered.json);
        assert_eq!(rendered.losses.is_empty(), !said.contains(SECRET), "{:?}", rendered.losses);
        if format == Format::Anthropic {
            assert!(
                !rendered.json.contains("c2lnbmVk") && rendered.json.contains("citations"),
                "{}",
                rendered.json
            );
        }
        let bytes = std::fs::read(place).unwrap();
        assert!(!bytes.windows(SECRET.len()).any(|window| window == SECRET.as_bytes()));
    }
}
