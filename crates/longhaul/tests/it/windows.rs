//! Clients that keep their first messages and their newest, and say nothing of it, beside those that hand in all they have and take some
//! of it back: the former lose nothing, and of the latter the view has what they have.

use std::sync::Arc;

use longhaul::{
    FrontEnd, Session, SessionState, SyncReport, Synced,
    store::{MemoryStore, SummaryStore},
    tokens::{CharsPer4, ContextWindow},
    transcript::{Message, Role, SessionId, SummaryId, Tokens},
};

use crate::front_end::{Draw, SUMMARIES, document};

pub(crate) fn state() -> SessionState {
    let window = ContextWindow::new(Tokens(400_000), Tokens::ZERO);
    SessionState::new(SessionId::new("windows").unwrap(), window, Arc::new(CharsPer4), Default::default())
}

/// How many conversations are drawn: `LONGHAUL_FRONT_ENDS` tells.
pub(crate) fn conversations(n: u64) -> u64 {
    std::env::var("LONGHAUL_FRONT_ENDS").ok().and_then(|n| n.parse().ok()).unwrap_or(n)
}

pub(crate) fn words<'m>(messages: impl IntoIterator<Item = &'m Message>) -> Vec<String> {
    messages.into_iter().map(|message| message.texts().collect()).collect()
}

pub(crate) fn shown(state: &SessionState) -> Vec<String> {
    words(state.view().messages().map(|message| &**message))
}

pub(crate) fn talk(n: usize) -> Vec<Message> {
    let message = |nth: usize| match nth % 2 {
        0 => Message::user(format!("question_{nth}?")),
        _ => Message::assistant(format!("answer_{nth}.")),
    };
    (0..n).map(message).collect()
}

/// Returns what a client has that keeps so many of the first messages and of the newest.
pub(crate) fn window(all: &[Message], first: usize, newest: usize) -> Vec<Message> {
    match all.len() > first + newest {
        true => [&all[..first], &all[all.len() - newest..]].concat(),
        false => all.to_vec(),
    }
}

#[test]
fn who_keeps_the_first_messages_and_the_newest_loses_nothing_without_saying_so() {
    for (first, newest) in (1..=6).flat_map(|first| [6, 9, 20].map(|newest| (first, newest))) {
        for (says_the_same, front_end) in [
            (false, FrontEnd::default()),
            (false, FrontEnd::known()),
            (true, FrontEnd::default()),
            (true, FrontEnd::known()),
        ] {
            let place = format!("{first} and {newest}, {says_the_same}, {front_end:?}");
            let (mut state, mut all) = (state(), Vec::new());
            for nth in 0..40 {
                let next = if says_the_same { "continue".to_owned() } else { format!("Now step {nth}.") };
                all.push(Message::user(if nth == 0 { "Mend the relay.".to_owned() } else { next }));
                let said = document(&window(&all, first, newest));
                let change = state.sync_with(&said, front_end).unwrap().change;
                assert_eq!(change, Synced::Grew { n: 1 + u64::from(nth > 0) }, "{place}, {nth}");
                all.push(Message::assistant(format!("Part {nth} is done.")));
            }
            all.pop();
            assert_eq!(shown(&state), words(&all), "{place}");
        }
    }
}

/// Users and models that say the same again and again are followed as long as some answers tell one part of a conversation from another.
#[test]
fn who_keeps_the_first_messages_and_the_newest_is_followed_where_much_is_said_twice() {
    const OFTEN: [&str; 3] = ["continue", "yes", "ok"];
    for conversation in 1..=60 {
        let (mut state, mut draw) = (state(), Draw(conversation * 104_729));
        let (first, newest) = (1 + draw.below(6) as usize, 10 + draw.below(12) as usize);
        let mut all = vec![Message::user("Mend the relay.")];
        for nth in 0..40 {
            let change = state.sync(&document(&window(&all, first, newest))).unwrap().change;
            let place = format!("{conversation}, {nth}: {first} and {newest}");
            assert_eq!(change, Synced::Grew { n: 1 + u64::from(nth > 0) }, "{place}");
            let part = format!("Part {nth} is done.");
            all.push(Message::assistant(if draw.below(3) == 0 { "Done." } else { &*part }));
            all.push(Message::user(OFTEN[draw.below(3) as usize]));
        }
    }
}

/// Who has a window and takes the last turn back, or has the last answer made anew, takes back no more than that.
#[test]
fn what_is_taken_back_at_the_end_of_a_window_is_known() {
    let all = talk(41);
    for first in 1..=6 {
        for (from, to, new, expected) in [
            (31, 39, None, Synced::Rewound { to: 39 }),
            (31, 39, Some(Message::assistant("Otherwise.")), Synced::Edited { at: 39, n: 1 }),
            (30, 40, Some(Message::user("And that?")), Synced::Edited { at: 40, n: 1 }),
            (29, 38, Some(Message::user("And that?")), Synced::Edited { at: 38, n: 1 }),
        ] {
            let mut state = state();
            state.sync(&document(&all)).unwrap();
            let said = [&all[..first], &all[from..to], new.as_slice()].concat();
            assert_eq!(state.sync(&document(&said)).unwrap().change, expected, "{first}, {from}");
            let kept = [&all[..to], new.as_slice()].concat();
            assert_eq!(shown(&state), words(&kept), "{first}, {from}");
        }
    }
}

/// A client that hands in all that it has.
struct Whole {
    said: Vec<Message>,
    nth: usize,
}

impl Whole {
    /// A message, which says what was said often or what nobody said before.
    fn message(&mut self, role: Role, draw: &mut Draw) -> Message {
        const OFTEN: [&str; 4] = ["continue", "yes", "ok", "done"];
        self.nth += 1;
        let text = match draw.below(3) {
            0 => format!("Word {} of it.", self.nth),
            _ => OFTEN[draw.below(4) as usize].to_owned(),
        };
        Message::new(role, Message::user(text).parts)
    }

    fn ask(&mut self, draw: &mut Draw) {
        let message = self.message(Role::User, draw);
        self.said.push(message);
    }

    fn go_on(&mut self, draw: &mut Draw) {
        let answer = self.message(Role::Assistant, draw);
        self.said.push(answer);
        self.ask(draw);
    }

    /// Goes on, goes back, asks otherwise, or takes out one of the last turns and goes on.
    fn act(&mut self, draw: &mut Draw) {
        let n_turns = self.said.len() / 2;
        let turn = 2 * draw.below(n_turns as u64) as usize;
        match draw.below(8) {
            0 if n_turns > 1 => self.said.truncate(turn + 1),
            1 if n_turns > 1 => {
                self.said.truncate(turn + 2);
                self.ask(draw);
            }
            2 if n_turns > 2 => {
                // Three messages that the session knows follow it at most.
                let at = self.said.len() - 1 - 2 * (1 + draw.below(2) as usize);
                self.said.drain(at..at + 2);
                self.go_on(draw);
            }
            _ => self.go_on(draw),
        }
    }
}

#[test]
fn who_hands_in_all_they_have_is_shown_nothing_that_they_took_back() {
    for conversation in 1..=conversations(30) {
        let (mut state, mut draw) = (state(), Draw(conversation * 104_729));
        let mut client = Whole { said: vec![Message::user("Mend the relay.")], nth: 0 };
        for nth in 0..40 {
            client.act(&mut draw);
            state.sync(&document(&client.said)).unwrap();
            assert_eq!(shown(&state), words(&client.said), "{conversation}, {nth}");
        }
    }
}

/// A turn that is taken out of the middle looks as one that a window leaves out: it stays, and the report tells so, unless the caller knows
/// that the front end hands in all that it has.
#[test]
fn a_turn_taken_out_of_the_middle_stays_where_nobody_told_that_the_history_is_whole() {
    let all = talk(13);
    for first in 1..=9 {
        let rest = &all[first + 2..];
        let said = [&all[..first], rest, &[Message::assistant("So."), Message::user("Next?")]].concat();
        for (front_end, stays) in [
            (FrontEnd::default(), first <= 6),
            (FrontEnd::known().keeps_first(first), true),
            (FrontEnd::default().hands_in_all(), false),
            (FrontEnd::known().keeps_first(first).hands_in_all(), false),
        ] {
            // A window leaves so few behind only where it is told, and by an id of the caller's own.
            if stays && rest.len() < 4 && front_end == FrontEnd::default() {
                continue;
            }
            let (mut state, place) = (state(), format!("{first}, {front_end:?}"));
            state.sync(&document(&all)).unwrap();
            let SyncReport { change, gone, left_out, .. } =
                state.sync_with(&document(&said), front_end).unwrap();
            if stays {
                assert_eq!((change, gone, left_out), (Synced::Grew { n: 2 }, 0, 2), "{place}");
                assert_eq!(shown(&state)[..13], words(&all), "{place}");
            } else {
                let n = said.len() - first;
                let edited = Synced::Edited { at: first as u64, n: n as u64 };
                assert_eq!((change, gone, left_out), (edited, 2, 0), "{place}");
                assert_eq!(shown(&state), words(&said), "{place}");
            }
        }
    }
}

/// The report tells how many messages that the view showed it shows no more.
#[test]
fn what_the_view_shows_no_more_is_told() {
    let head = Message::system("Be brief.");
    let all = [&[head.clone()][..], &talk(13)].concat();
    let with = |at: usize, new: &[Message]| [&all[..at], new].concat();
    let mut other_first = all.clone();
    other_first[2] = Message::assistant("Otherwise.");
    let summary = Message::user(format!("{} Much.", SUMMARIES[0]));
    let compacted = [&[head, summary][..], &all[10..]].concat();
    let worded = [&[Message::system("Be verbose.")][..], &all[1..]].concat();
    for (said, gone) in [
        (all.clone(), 0),
        (with(14, &[Message::assistant("So."), Message::user("Next?")]), 0),
        (with(12, &[]), 2),
        (with(10, &[Message::user("Next?")]), 4),
        (with(13, &[Message::assistant("So.")]), 1),
        // What is said again word for word is not gone.
        (other_first, 1),
        (compacted, 9),
        (worded, 0),
    ] {
        let mut state = state();
        state.sync(&document(&all)).unwrap();
        let report = state.sync_with(&document(&said), FrontEnd::known()).unwrap();
        assert_eq!(report.gone, gone, "{:?}", report.change);
    }
}

/// Instructions that come or go once (a field that a client fills from some turn on) cost no message and double none.
#[test]
fn who_keeps_the_newest_is_followed_where_there_are_more_or_fewer_instructions_from_some_turn_on() {
    let instructions = |n: usize| (0..n).map(|nth| Message::system(format!("Instruction {nth}.")));
    for (before, after) in [(0, 1), (1, 0), (1, 2), (2, 1), (1, 1)] {
        for (newest, front_end) in
            [(5, FrontEnd::known()), (11, FrontEnd::known()), (11, FrontEnd::default())]
        {
            let place = format!("{before} and {after}, {newest}, {front_end:?}");
            let (mut state, all) = (state(), talk(51));
            for nth in 0..=25 {
                let said = &all[..2 * nth + 1];
                let n_head = if nth < 12 { before } else { after };
                let has: Vec<Message> = instructions(n_head).chain(window(said, 0, newest)).collect();
                let report = state.sync_with(&document(&has), front_end).unwrap();
                // What it has stands at the end of the view, once, and is what the report says it is.
                let view = shown(&state);
                let newest = words(&window(said, 0, newest));
                assert!(view.ends_with(&newest), "{place}, {nth}: {view:?}");
                assert!(
                    !view[..view.len() - newest.len()].iter().any(|one| newest.contains(one)),
                    "{place}, {nth}"
                );
                for (ordinal, message) in report.ordinals.iter().zip(&has) {
                    let here = ordinal.and_then(|ordinal| state.originals().get(ordinal));
                    let says = |here: &Message| here.is_system() || words([here]) == words([message]);
                    let is_it = here.is_none_or(|here| says(&here.message));
                    assert!(is_it, "{place}, {nth}: {ordinal:?} for {message:?}");
                }
            }
        }
    }
}

/// What a client has at the end of so many messages, of which it keeps the first and the newest, under its instructions.
fn under(head: &[Message], all: &[Message], (first, newest): (usize, usize)) -> Vec<Message> {
    [head, &window(all, first, newest)].concat()
}

/// Instructions of which there are more or fewer from some turn on are the instructions from then on, and nothing else changes.
#[test]
fn more_or_fewer_instructions_than_before_take_nothing_out_of_a_window() {
    let head = |n: usize, nth: usize| -> Vec<Message> {
        (0..n).map(|at| Message::system(format!("Instruction {at}, at {nth}."))).collect()
    };
    let all = talk(61);
    for (before, after) in [(0, 1), (1, 0), (1, 2), (2, 1), (0, 2), (2, 0), (1, 3)] {
        for (first, newest, front_end) in [
            (0, 11, FrontEnd::default()),
            (0, 5, FrontEnd::known()),
            (2, 11, FrontEnd::default()),
            (4, 9, FrontEnd::known()),
            (9, 9, FrontEnd::known().keeps_first(9)),
        ] {
            // New turns come with the change, and the instructions are worded otherwise each time, or stay as they are.
            for (n_new, is_clock) in [(1, false), (2, false), (1, true), (0, false)] {
                let place = format!("{before} and {after}, {first} and {newest}, {n_new}, {is_clock}");
                let (mut state, mut len) = (state(), 1);
                for nth in 0..24 {
                    let n_head = if (12..18).contains(&nth) { after } else { before };
                    let head = head(n_head, if is_clock { nth } else { 0 });
                    let said = under(&head, &all[..len], (first, newest));
                    let report = state.sync_with(&document(&said), front_end).unwrap();
                    let is_grown = matches!(report.change, Synced::Grew { .. } | Synced::Unchanged);
                    assert!(is_grown, "{place}, {nth}: {:?}", report.change);
                    assert_eq!((report.gone, report.summaries_gone.len()), (0, 0), "{place}");
                    let view = [&head[..], &all[..len]].concat();
                    assert_eq!(shown(&state), words(&view), "{place}, {nth}");
                    len += 2 * if [12, 18].contains(&(nth + 1)) { n_new } else { 1 };
                }
            }
        }
    }
}

/// The same where the older part is in a summary, and each request opens the session anew.
#[tokio::test]
async fn more_or_fewer_instructions_than_before_take_no_summary_out_of_a_window() {
    let long = |message: Message| {
        let text = message.texts().collect::<String>();
        Message::new(
            message.role,
            Message::user(format!("{text} {}", "It matters to all. ".repeat(30))).parts,
        )
    };
    let all: Vec<Message> = talk(81).into_iter().map(long).collect();
    for (before, after) in [(0, 1), (1, 0), (1, 2), (2, 1)] {
        let store: Arc<dyn SummaryStore> = Arc::new(MemoryStore::new());
        let mut held: Option<SummaryId> = None;
        for nth in 0..=40 {
            let n_head = if (30..36).contains(&nth) { after } else { before };
            let head: Vec<Message> = (0..n_head).map(|at| Message::system(format!("Rule {at}."))).collect();
            let window = ContextWindow::new(Tokens(6_000), Tokens::ZERO);
            let builder = Session::builder(SessionId::new("heads").unwrap(), window);
            let builder = builder.counter(Arc::new(CharsPer4)).store(Arc::clone(&store));
            let mut session = builder.open().await.unwrap();
            let place = format!("{before} and {after}, {nth}");
            if nth > 0 {
                let shown = words(session.state().view().messages().map(|message| &**message));
                let n_before = if (31..=36).contains(&nth) { after } else { before };
                assert_eq!(shown.iter().filter(|text| text.starts_with("Rule")).count(), n_before, "{place}");
            }
            let said = document(&under(&head, &all[..2 * nth + 1], (0, 11)));
            let report = session.sync_with(&said, FrontEnd::known()).await.unwrap();
            assert!(matches!(report.change, Synced::Grew { .. }), "{place}: {:?}", report.change);
            if let Some(held) = &held {
                assert_eq!(session.state().summary().map(|record| &record.id), Some(held), "{place}");
            }
            let view = session.prepare().await.unwrap();
            assert_eq!(view.messages().take_while(|message| message.is_system()).count(), n_head, "{place}");
            assert!(view.tokens() <= Tokens(6_000), "{place}");
            held = session.state().summary().map(|record| record.id.clone());
            session.save().await.unwrap();
        }
        assert!(held.is_some());
    }
}
