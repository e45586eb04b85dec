//! Export and import: the same bytes, here and there.

use longhaul_transcript::Span;

use super::{record, said, session};
use crate::{Selector, StoreError, SummaryStore};

async fn lived_in(store: &impl SummaryStore) -> String {
    let name = session("lived-in");
    store
        .journal(&name, 0, &["zero", "one \"quoted\" \u{2028} é", "two", "three"].map(said), 1)
        .await
        .unwrap();
    let first = record(&name, None, 2, "first");
    let second = record(&name, Some(&first), 3, "second");
    store.append(&name, &first).await.unwrap();
    store.append(&name, &second).await.unwrap();
    store.undo(&name, 4).await.unwrap();
    store.restore(&name, Span { start: 0, end: 2 }, 5).await.unwrap();
    store.forget(&name, &Selector::Range(Span { start: 2, end: 3 }), 6).await.unwrap();
    store.extend(&name, &[said("zero")], 7).await.unwrap();
    store.set_alias(&session("home"), &name).await.unwrap();
    store.export(&name).await.unwrap()
}

pub(super) async fn an_export_comes_back_exactly(store: &impl SummaryStore, other: &impl SummaryStore) {
    let exported = lived_in(store).await;
    let name = session("lived-in");
    assert!(exported.starts_with("{\"version\":1,\"type\":\"longhaul-session\""), "{exported}");
    assert_eq!(other.import(&exported).await.unwrap(), std::slice::from_ref(&name));
    assert_eq!(other.export(&name).await.unwrap(), exported);
    assert_eq!(other.state(&name).await.unwrap(), store.state(&name).await.unwrap());
    assert_eq!(other.resolve("home").await.unwrap(), name);
    assert_eq!(
        other.search(None, "quoted", 9).await.unwrap(),
        store.search(None, "quoted", 9).await.unwrap()
    );
    let (here, there) = (store.verify(&name).await.unwrap(), other.verify(&name).await.unwrap());
    assert!(here.is_intact());
    assert_eq!(here, there);
}

pub(super) async fn what_is_there_already_stays(store: &impl SummaryStore, other: &impl SummaryStore) {
    let older = lived_in(store).await;
    let name = session("lived-in");
    store.extend(&name, &[said("later")], 8).await.unwrap();
    let newer = store.export(&name).await.unwrap();
    other.import(&older).await.unwrap();
    other.import(&newer).await.unwrap();
    assert_eq!(other.export(&name).await.unwrap(), newer, "a newer export adds what is new");
    other.import(&older).await.unwrap();
    assert_eq!(other.export(&name).await.unwrap(), newer, "an older export adds nothing");
    other.extend(&name, &[said("there")], 9).await.unwrap();
    store.extend(&name, &[said("here")], 9).await.unwrap();
    let diverged = other.import(&store.export(&name).await.unwrap()).await.unwrap_err();
    assert!(matches!(diverged, StoreError::SessionExists { .. }), "{diverged}");
}

pub(super) async fn a_damaged_export_is_refused(store: &impl SummaryStore, other: &impl SummaryStore) {
    let exported = lived_in(store).await;
    let name = session("lived-in");
    let lines: Vec<&str> = exported.lines().collect();
    let without = |gone: usize| {
        let left = lines.iter().enumerate().filter(|(index, _)| *index != gone);
        left.map(|(_, line)| format!("{line}\n")).collect::<String>()
    };
    let newer = exported.replacen("\"version\":1", "\"version\":2", 1);
    let damaged = (0..lines.len())
        .map(without)
        .chain([exported.replace("zero", "nero"), exported.replace("\"at_ms\":5", "\"at_ms\":6"), newer])
        .chain(["{}".to_owned(), "not JSON".to_owned(), exported[..exported.len() / 2].to_owned()]);
    // A content that was taken out of the file, though nothing in its log destroyed it.
    let (head, tail) = exported.split_once("\"contents\":[{").expect("an original comes first");
    let next = ["},{", "}]"].iter().filter_map(|end| tail.find(end)).min().expect("it ends");
    let nulled = format!("{head}\"contents\":[null{}", &tail[next + 1..]);
    for text in damaged.chain([nulled]) {
        let error = other.import(&text).await.unwrap_err();
        let is_told = matches!(error, StoreError::NotAnExport { .. } | StoreError::NewerVersion { .. });
        assert!(is_told, "{error}");
        assert!(!error.to_string().contains("zero"), "{error}");
        assert_eq!(other.state(&name).await.unwrap(), None, "nothing half-read is kept");
    }
    assert!(other.import("").await.unwrap().is_empty());
}
