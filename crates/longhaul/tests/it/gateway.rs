//! Clients of a gateway that compact by themselves, say more between two requests than they keep, and change their instructions: what they
//! hand in is shown, once, behind the instructions that they have now, and what they cannot see stays.

use std::sync::Arc;

use longhaul::{
    FrontEnd, Session, SessionState, Synced,
    store::{MemoryStore, SummaryStore},
    tokens::{CharsPer4, ContextWindow},
    transcript::{Message, SessionId, Tokens},
    wire::{Format, Profile, validate},
};

use crate::{
    front_end::{SUMMARIES, document},
    windows::{shown, state, talk, window, words},
};

async fn open(store: &Arc<dyn SummaryStore>) -> Session {
    let window = ContextWindow::new(Tokens(100_000), Tokens::ZERO);
    let builder = Session::builder(SessionId::new("client").unwrap(), window);
    builder.counter(Arc::new(CharsPer4)).store(Arc::clone(store)).open().await.unwrap()
}

fn instructions(n: usize, nth: usize) -> Vec<Message> {
    (0..n).map(|at| Message::system(format!("Instruction {at}, at {nth}."))).collect()
}

/// What a client has of its own in the place of what it took out.
fn summary(bears_mark: bool) -> Message {
    let begins = if bears_mark { SUMMARIES[0] } else { "So far:" };
    Message::user(format!("{begins} The relay was mended."))
}

/// Whatever becomes of the number of instructions when a client compacts and after it: it compacts once, nothing is kept twice, and the
/// instructions stand in front of pins and memory.
#[tokio::test]
async fn more_or_fewer_instructions_change_nothing_else_after_the_client_compacted() {
    for (before, then, after) in
        [(0, 0, 1), (1, 1, 0), (1, 2, 2), (0, 1, 1), (0, 1, 0), (2, 1, 2), (2, 0, 1), (1, 0, 0)]
    {
        for (pins, remembers, stays_open) in
            [(true, false, true), (true, true, false), (false, true, false), (false, false, true)]
        {
            let store: Arc<dyn SummaryStore> = Arc::new(MemoryStore::new());
            let mut session = open(&store).await;
            let all = talk(31);
            let since = [&[summary(true)][..], &all[6..]].concat();
            let mut n_said = 0;
            for nth in 0..10 {
                let (head, said) = match nth {
                    0 => (before, &all[..9]),
                    1 => (then, &since[..4]),
                    _ => (if nth % 3 == 0 { then } else { after }, &since[..2 * nth + 2]),
                };
                let place = format!("{before}, {then}, {after}, {pins}, {remembers}, {stays_open}, {nth}");
                let head = instructions(head, nth);
                let has = document(&[&head[..], said].concat());
                let report = session.sync_with(&has, FrontEnd::known()).await.unwrap();
                n_said += match report.change {
                    Synced::Grew { n } if nth != 1 => n,
                    Synced::CompactedByClient { n } if nth == 1 => n,
                    change => panic!("{place}: {change:?}"),
                };
                assert_eq!(report.not_shown, 0, "{place}");
                let again = session.sync_with(&has, FrontEnd::known()).await.unwrap().change;
                assert_eq!(again, Synced::Unchanged, "{place}");
                if nth == 0 {
                    if pins {
                        let pinned = session.state().originals().get(before as u64 + 2).unwrap().id;
                        session.pin(pinned).await.unwrap();
                    }
                    session.set_memory("rule", if remembers { "Be kind." } else { "" }).unwrap();
                }
                let memory = remembers.then(|| "[Memory: rule]\nBe kind.".to_owned());
                let pin = (pins && nth > 0).then(|| "question_2?".to_owned());
                let expected: Vec<String> =
                    words(&head).into_iter().chain(memory).chain(pin).chain(words(said)).collect();
                let view = session.prepare().await.unwrap();
                assert_eq!(words(view.messages().map(|message| &**message)), expected, "{place}");
                assert_eq!(session.state().originals().len() as u64, n_said, "{place}");
                session.save().await.unwrap();
                if !stays_open {
                    session = open(&store).await;
                }
            }
        }
    }
}

/// In each format the instructions of a view go where the provider wants them, pins and memory or not.
#[tokio::test]
async fn a_view_with_pins_and_other_instructions_since_the_client_compacted_is_valid_in_every_format() {
    let store: Arc<dyn SummaryStore> = Arc::new(MemoryStore::new());
    let mut session = open(&store).await;
    let all = talk(15);
    session.sync_with(&document(&all[..9]), FrontEnd::known()).await.unwrap();
    let pinned = session.state().originals().get(0).unwrap().id;
    session.pin(pinned).await.unwrap();
    session.set_memory("rule", "Be kind.").unwrap();
    for nth in 0..4 {
        let has = [&instructions(nth % 3, nth)[..], &[summary(true)], &all[6..9 + 2 * nth]].concat();
        session.sync_with(&document(&has), FrontEnd::known()).await.unwrap();
        let view = session.prepare().await.unwrap();
        let first_other = view.messages().position(|message| !message.is_system());
        assert_eq!(first_other, Some(nth % 3), "{nth}");
        for format in [Format::OpenAi, Format::Anthropic, Format::Responses] {
            let json = view.to_json(format).unwrap();
            assert!(json.losses.is_empty(), "{format}, {nth}: {:?}", json.losses);
            let body = match format {
                Format::OpenAi => format!(r#"{{"messages":{}}}"#, json.json),
                _ => json.json,
            };
            let problems = validate(body.as_bytes(), format, &Profile::default()).unwrap();
            assert!(problems.is_empty(), "{format}, {nth}: {problems:?}");
        }
    }
}

/// Follows a client that hands in its newest messages, and says more than that between two requests.
fn with_a_gap(all: &[Message], newest: usize, front_end: FrontEnd) -> (SessionState, Synced) {
    let mut state = state();
    for len in (1..=all.len() - newest - 2).step_by(2) {
        state.sync_with(&document(&window(&all[..len], 0, newest)), front_end).unwrap();
    }
    let change = state.sync_with(&document(&window(all, 0, newest)), front_end).unwrap().change;
    (state, change)
}

/// What is handed in is shown, where it stands on both sides of such a gap as well.
#[test]
fn what_is_handed_in_from_before_a_gap_is_shown() {
    for (newest, n_back) in [(6, 2), (6, 4), (9, 2), (9, 4), (9, 6), (4, 2)] {
        let (mut all, place) = (talk(30 + newest % 2), format!("{newest}, {n_back}"));
        if all.len() % 2 == 0 {
            all.pop();
        }
        let mut state = state();
        for len in (1..=all.len() - newest).step_by(2) {
            state.sync_with(&document(&window(&all[..len], 0, newest)), FrontEnd::known()).unwrap();
        }
        // Nothing of it was handed in before, and nothing is missing.
        let cut = all.len() - newest;
        let cut = cut - usize::from(cut % 2 == 0);
        let next = &all[cut..];
        let change = state.sync_with(&document(next), FrontEnd::known()).unwrap().change;
        assert!(matches!(change, Synced::CompactedByClient { .. }), "{place}: {change:?}");
        let back = &all[cut - n_back..all.len() - n_back];
        let report = state.sync_with(&document(back), FrontEnd::known()).unwrap();
        let view = shown(&state);
        assert!(view.ends_with(&words(back)), "{place}: {:?}, {view:?}", report.change);
        assert_eq!(report.not_shown, 0, "{place}");
        // And it goes on from there.
        let grown = [back, &[Message::assistant("So."), Message::user("Next?")]].concat();
        let report = state.sync_with(&document(&grown), FrontEnd::known()).unwrap();
        assert_eq!((report.change, report.not_shown), (Synced::Grew { n: 2 }, 0), "{place}");
        assert!(shown(&state).ends_with(&words(&grown)), "{place}");
    }
}

/// Of who is known to keep so many of its newest messages a full window with nothing in common is no summary: more was said than it keeps.
#[test]
fn a_client_that_says_more_than_it_keeps_loses_nothing_where_it_is_told_what_it_keeps() {
    let all = talk(41);
    for newest in [3, 6, 11] {
        let told = FrontEnd::known().keeps_newest(newest);
        let (mut state, change) = with_a_gap(&all, newest, told);
        assert_eq!(change, Synced::Grew { n: newest as u64 }, "{newest}");
        let view = shown(&state);
        assert_eq!(view[0], "question_0?");
        assert!(view.ends_with(&words(&all[41 - newest..])), "{newest}: {view:?}");
        let marked = [&[summary(true)][..], &talk(61)[61 - newest + 1..]].concat();
        let change = state.sync_with(&document(&marked), told).unwrap().change;
        assert!(matches!(change, Synced::CompactedByClient { .. }), "{newest}: {change:?}");
        assert_eq!(shown(&state), words(&marked));
        let (_, change) = with_a_gap(&all, newest, FrontEnd::known());
        assert!(matches!(change, Synced::CompactedByClient { .. }), "{newest}: {change:?}");
    }
    // The same behind first messages.
    for first in [1, 2, 4, 9] {
        let told = FrontEnd::known().keeps_first(first).keeps_newest(6);
        let mut state = state();
        for len in (1..=27).step_by(2) {
            state.sync_with(&document(&window(&all[..len], first, 6)), told).unwrap();
        }
        let report = state.sync_with(&document(&window(&all, first, 6)), told).unwrap();
        assert_eq!((report.change, report.gone), (Synced::Grew { n: 6 }, 0), "{first}");
        assert_eq!(shown(&state), words(&[&all[..27], &all[35..]].concat()), "{first}");
    }
}

/// A client that has no more than its newest messages changes the first of these, and drops what followed.
#[test]
fn what_stands_before_a_told_window_stays_where_nothing_of_the_window_is_left() {
    let all = talk(41);
    for (first, newest) in [(0, 5), (0, 11), (0, 20)] {
        let told = FrontEnd::known().keeps_first(first).keeps_newest(newest);
        let mut state = state();
        for len in (1..=all.len()).step_by(2) {
            state.sync_with(&document(&window(&all[..len], first, newest)), told).unwrap();
        }
        let (at, place) = (all.len() - newest, format!("{first} and {newest}"));
        let has = [&all[..first], &[Message::user("In other words?")]].concat();
        let report = state.sync_with(&document(&has), told).unwrap();
        assert_eq!(report.change, Synced::Edited { at: at as u64, n: 1 }, "{place}");
        let line = [&all[..at], &[Message::user("In other words?")]].concat();
        assert_eq!(shown(&state), words(&line), "{place}");
        let grown = [&has[..], &[Message::assistant("So."), Message::user("Next?")]].concat();
        let change = state.sync_with(&document(&grown), told).unwrap().change;
        assert_eq!(change, Synced::Grew { n: 2 }, "{place}");
    }
}

/// A summary that bears no mark is one where the client is said to keep its first and its newest messages as well: the first are not there.
#[test]
fn a_summary_without_a_mark_is_no_edit_of_a_window_that_keeps_its_first_messages() {
    for (first, newest, kept) in [(4, 6, 6), (4, 6, 9), (2, 8, 7), (1, 11, 8), (6, 20, 12), (4, 6, 5)] {
        for has_answer in [false, true] {
            let told = FrontEnd::known().keeps_first(first).keeps_newest(newest);
            let (mut state, all) = (state(), talk(61));
            for len in (1..=41).step_by(2) {
                state.sync_with(&document(&window(&all[..len], first, newest)), told).unwrap();
            }
            let place = format!("{first} and {newest}, {kept}, {has_answer}");
            let own = [&[summary(false)][..], &[Message::assistant("I go on.")][..usize::from(has_answer)]]
                .concat();
            let mut line = [&own[..], &all[41 - kept..41]].concat();
            let report = state.sync_with(&document(&window(&line, first, newest)), told).unwrap();
            assert!(
                matches!(report.change, Synced::CompactedByClient { .. }),
                "{place}: {:?}",
                report.change
            );
            for turn in all[41..].chunks(2) {
                line.extend_from_slice(turn);
                let report = state.sync_with(&document(&window(&line, first, newest)), told).unwrap();
                assert_eq!((report.change, report.gone), (Synced::Grew { n: 2 }, 0), "{place}, {turn:?}");
            }
        }
    }
}

/// Who returns to a line that they left takes with them what they pinned since, where that is said there; what is not is told.
#[tokio::test]
async fn a_pin_goes_with_the_words_to_the_line_that_says_them() {
    let all = talk(9);
    let other = [&all[..4], &[Message::user("Rather this.")]].concat();
    for (pinned, is_said_there) in [(2, true), (4, false)] {
        let store: Arc<dyn SummaryStore> = Arc::new(MemoryStore::new());
        let mut session = open(&store).await;
        session.sync(&document(&all[..7])).await.unwrap();
        session.sync(&document(&other)).await.unwrap();
        let id = session.state().originals().get(pinned).unwrap().id;
        session.pin(id).await.unwrap();
        let report = session.sync(&document(&all)).await.unwrap();
        let unpinned = if is_said_there { vec![] } else { vec![pinned] };
        assert_eq!(report.unpinned, unpinned, "{:?}", report.change);
        let again = open(&store).await;
        for session in [&session, &again] {
            assert_eq!(
                session.state().pins().collect::<Vec<_>>(),
                if is_said_there { vec![2] } else { vec![] }
            );
        }
    }
}
