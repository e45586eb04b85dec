//! Many at once.

use std::{
    future::{Future, poll_fn},
    pin::Pin,
    task::Poll,
};

use longhaul_transcript::Span;

use super::{record, said, session};
use crate::{StoreError, SummaryStore};

pub(super) async fn many_writers_lose_and_double_nothing(store: &impl SummaryStore) {
    const WRITERS: usize = 16;
    const EACH: usize = 4;
    let name = session("crowded");
    store.journal(&name, 0, &[said("first")], 1).await.unwrap();
    let writer = async |writer: usize| {
        for turn in 0..EACH {
            store.extend(&name, &[said(&format!("w{writer}t{turn}"))], 2).await.unwrap();
            // Compact on top of whatever the head is, until nobody else was quicker.
            loop {
                let head = store.head(&name).await.unwrap();
                let mine = record(&name, head.as_ref(), 1, &format!("w{writer}t{turn}"));
                match store.append(&name, &mine).await {
                    Ok(_) => break,
                    Err(StoreError::Conflict { .. }) => continue,
                    Err(error) => panic!("{error}"),
                }
            }
        }
    };
    together(
        (0..WRITERS).map(|index| Box::pin(writer(index)) as Pin<Box<dyn Future<Output = ()> + '_>>).collect(),
    )
    .await;
    let originals = store.originals(&name, Span { start: 1, end: u64::MAX }).await.unwrap();
    let mut texts: Vec<String> =
        originals.iter().map(|original| original.message.as_ref().unwrap().texts().collect()).collect();
    let mut records: Vec<String> =
        store.chain(&name).await.unwrap().into_iter().map(|record| record.text).collect();
    let mut expected: Vec<String> =
        (0..WRITERS).flat_map(|writer| (0..EACH).map(move |turn| format!("w{writer}t{turn}"))).collect();
    expected.sort();
    texts.sort();
    records.sort();
    assert_eq!(texts, expected);
    assert_eq!(records, expected);
    assert!(store.verify(&name).await.unwrap().is_intact());
}

pub(super) async fn a_dropped_future_leaves_all_or_nothing(store: &impl SummaryStore) {
    let name = session("dropped");
    for turn in 0..8 {
        let messages = [said(&format!("{turn} one")), said(&format!("{turn} two"))];
        let mut future = store.extend(&name, &messages, 1);
        // Polled a few times and dropped wherever it stands.
        let mut polls = turn;
        poll_fn(|context| {
            if polls == 0 || future.as_mut().poll(context).is_ready() {
                return Poll::Ready(());
            }
            polls -= 1;
            context.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
        drop(future);
    }
    store.extend(&name, &[said("last")], 2).await.unwrap();
    let verified = store.verify(&name).await.unwrap();
    assert!(verified.is_intact() && verified.originals % 2 == 1, "{verified:?}");
}

/// Polls futures in turn until all are done.
async fn together(mut futures: Vec<Pin<Box<dyn Future<Output = ()> + '_>>>) {
    poll_fn(move |context| {
        futures.retain_mut(|future| future.as_mut().poll(context).is_pending());
        if futures.is_empty() { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}
