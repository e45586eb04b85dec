//! What is done beneath a window: turns taken back that it reaches no more, an edit of the first message that it shows, instructions that
//! come and go. What the client does not hand in stays, and what it took back goes.

use std::sync::Arc;

use longhaul::{
    FrontEnd, Session, SessionState, Synced,
    store::{MemoryStore, SummaryStore},
    tokens::{CharsPer4, ContextWindow},
    transcript::{Message, Role, SessionId, Tokens},
};

use crate::{
    front_end::{Draw, SUMMARIES, document},
    windows::{conversations, shown, state, talk, window, words},
};

fn edited(role: Role, nth: usize) -> Message {
    Message::new(role, Message::user(format!("In other words, the {nth}th.")).parts)
}

/// Follows a client turn by turn, so that it is known to leave something out.
fn followed(all: &[Message], (first, newest): (usize, usize), front_end: FrontEnd) -> SessionState {
    let mut state = state();
    for len in (1..=all.len()).step_by(2) {
        let change =
            state.sync_with(&document(&window(&all[..len], first, newest)), front_end).unwrap().change;
        assert!(matches!(change, Synced::Grew { .. }), "{len}: {change:?}");
    }
    assert_eq!(shown(&state), words(all));
    state
}

#[test]
fn turns_taken_back_beneath_a_window_are_followed_however_many_they_are() {
    let all = talk(121);
    for (first, newest, front_end) in [
        (0, 11, FrontEnd::default()),
        (0, 9, FrontEnd::known()),
        (1, 11, FrontEnd::default()),
        (4, 15, FrontEnd::known()),
        (9, 9, FrontEnd::known().keeps_first(9)),
    ] {
        let before = followed(&all, (first, newest), front_end);
        for to in (25..119).step_by(2) {
            for new in [None, Some(Message::user("Rather this."))] {
                let is_new = new.is_some();
                let line = [&all[..to - usize::from(is_new)], new.as_slice()].concat();
                let mut state = before.clone();
                let report = state.sync_with(&document(&window(&line, first, newest)), front_end).unwrap();
                let place = format!("{first} and {newest}, {to}, {is_new}: {:?}", report.change);
                match is_new {
                    false => assert_eq!(report.change, Synced::Rewound { to: to as u64 }, "{place}"),
                    true => assert_eq!(report.change, Synced::Edited { at: to as u64 - 1, n: 1 }, "{place}"),
                }
                assert_eq!(shown(&state), words(&line), "{place}");
                assert_eq!(report.gone as usize, 121 - to + usize::from(is_new), "{place}");
            }
        }
    }
}

/// What stands there twice may be meant twice, and what is mostly new is no rewind.
#[test]
fn little_that_was_said_far_back_is_no_rewind() {
    let mut all = talk(21);
    let again: Vec<Message> =
        ["yes", "ok", "go on", "done"].iter().map(|text| Message::user(*text)).collect();
    all.extend(again.clone());
    all.extend(talk(41).split_off(21));
    all.extend(again.clone());
    all.extend(talk(141).split_off(41));
    let mut state = state();
    state.sync(&document(&all)).unwrap();
    let change = state.sync(&document(&[&again[..], &[Message::user("And now?")]].concat())).unwrap().change;
    assert_eq!(change, Synced::Another);
    let new: Vec<Message> = (0..9).map(|nth| edited(Role::User, nth)).collect();
    let change = state.sync(&document(&[&all[9..15], &new[..]].concat())).unwrap().change;
    assert_eq!(change, Synced::Another);
}

/// What a client cannot see it did not take back.
#[test]
fn an_edit_of_the_first_messages_of_a_window_leaves_what_stands_before_it() {
    let all = talk(79);
    for (first, newest, front_end) in [
        (0, 11, FrontEnd::default()),
        (0, 11, FrontEnd::known()),
        (0, 11, FrontEnd::known().keeps_newest(11)),
        (1, 11, FrontEnd::default()),
        (4, 12, FrontEnd::known()),
        (6, 21, FrontEnd::default()),
    ] {
        let before = followed(&all, (first, newest), front_end);
        for nth in 0..newest - 1 {
            let (mut line, at) = (all.clone(), all.len() - newest + nth);
            line[at] = edited(all[at].role, nth);
            let mut state = before.clone();
            let report = state.sync_with(&document(&window(&line, first, newest)), front_end).unwrap();
            let place = format!("{first} and {newest}, {nth}: {:?}", report.change);
            assert!(report.change.is_at(at), "{place}");
            assert_eq!(shown(&state), words(&line), "{place}");
        }
    }
}

trait At {
    fn is_at(&self, at: usize) -> bool;
}

impl At for Synced {
    fn is_at(&self, ordinal: usize) -> bool {
        matches!(self, Synced::Edited { at, .. } | Synced::Regenerated { at, .. } if *at as usize == ordinal)
    }
}

/// Who is not known to leave anything out has put a summary there; so has who leaves out much more than before.
#[test]
fn a_summary_that_bears_no_mark_is_no_edit() {
    let all = talk(79);
    let summary = Message::user("What happened so far: much.");
    let mut whole = state();
    whole.sync(&document(&all)).unwrap();
    let window = followed(&all, (0, 21), FrontEnd::known());
    for (mut state, kept) in [(whole, 11), (window, 7)] {
        let said = [std::slice::from_ref(&summary), &all[all.len() - kept..]].concat();
        let change = state.sync_with(&document(&said), FrontEnd::known()).unwrap().change;
        assert!(matches!(change, Synced::CompactedByClient { .. }), "{kept}: {change:?}");
        assert_eq!(shown(&state), words(&said));
    }
}

/// Who compacts, goes back to before that and returns by a window is shown nothing of what the compaction took out.
#[test]
fn what_a_client_compacted_away_does_not_come_back_by_a_window() {
    for (front_end, n_back) in [(FrontEnd::known(), 2), (FrontEnd::default(), 2), (FrontEnd::known(), 5)] {
        let (mut state, all) = (state(), talk(27));
        state.sync_with(&document(&all), front_end).unwrap();
        let summary = Message::user(format!("{} Much.", SUMMARIES[0]));
        let compacted = [&[summary][..], &all[18..]].concat();
        state.sync_with(&document(&compacted), front_end).unwrap();
        let mut line = compacted.clone();
        for nth in 0..6 {
            line.extend([Message::assistant(format!("since_{nth}.")), Message::user(format!("next_{nth}?"))]);
            state.sync_with(&document(&line), front_end).unwrap();
        }
        state.sync_with(&document(&line[..n_back]), front_end).unwrap();
        let newest = &line[1..];
        let report = state.sync_with(&document(newest), front_end).unwrap();
        let view = shown(&state);
        assert!(!view.contains(&"question_16?".to_owned()), "{n_back}: {:?}, {view:?}", report.change);
        assert_eq!(view, words(&line), "{n_back}: {:?}", report.change);
    }
}

/// The report names the summaries that the view shows no more, and none where it has grown.
#[tokio::test]
async fn summaries_that_left_the_view_are_told() {
    let long = |message: Message| {
        let text = message.texts().collect::<String>();
        Message::new(
            message.role,
            Message::user(format!("{text} {}", "It matters to all. ".repeat(30))).parts,
        )
    };
    let all: Vec<Message> = talk(61).into_iter().map(long).collect();
    let ask = || Message::user("Rather this.");
    let summary = Message::user(format!("{} Much.", SUMMARIES[0]));
    for (said, is_gone) in [
        ([&all[..], &[Message::assistant("So."), ask()]].concat(), false),
        (all.clone(), false),
        ([&all[..60], &[ask()]].concat(), false),
        ([&all[..2], &[ask()]].concat(), true),
        (all[..5].to_vec(), true),
        ([&[summary][..], &all[56..]].concat(), true),
    ] {
        let window = ContextWindow::new(Tokens(6_000), Tokens::ZERO);
        let store: Arc<dyn SummaryStore> = Arc::new(MemoryStore::new());
        let builder = Session::builder(SessionId::new("told").unwrap(), window);
        let mut session = builder.counter(Arc::new(CharsPer4)).store(store).open().await.unwrap();
        for len in (1..=all.len()).step_by(2) {
            let report = session.sync(&document(&all[..len])).await.unwrap();
            assert_eq!(report.summaries_gone, [], "{len}");
            session.prepare().await.unwrap();
        }
        let held = session.state().summary().unwrap().id.clone();
        let report = session.sync(&document(&said)).await.unwrap();
        let gone = if is_gone { vec![held.clone()] } else { Vec::new() };
        assert_eq!(report.summaries_gone, gone, "{:?}", report.change);
        assert_eq!(session.state().summary().is_none_or(|record| record.id != held), is_gone);
    }
}

/// A client with a window.
struct Client {
    line: Vec<Message>,
    head: usize,
    first: usize,
    newest: usize,
    /// Whether people and models say the same now and then.
    says_the_same: bool,
    nth: usize,
    /// What it handed in last left something out.
    was_cut: bool,
}

impl Client {
    fn message(&mut self, role: Role, draw: &mut Draw) -> Message {
        const OFTEN: [&str; 4] = ["continue", "yes", "ok", "done"];
        self.nth += 1;
        let text = match self.says_the_same && draw.below(3) == 0 {
            true => OFTEN[draw.below(4) as usize].to_owned(),
            false => format!("Word {} of it.", self.nth),
        };
        Message::new(role, Message::user(text).parts)
    }

    fn go_on(&mut self, draw: &mut Draw) {
        for role in [Role::Assistant, Role::User] {
            let message = self.message(role, draw);
            self.line.push(message);
        }
    }

    /// Goes on, perhaps under more or fewer instructions; goes back, and asks otherwise; changes the words of what it sees.
    fn act(&mut self, draw: &mut Draw) {
        let len = self.line.len();
        let has_room = len > self.first + self.newest + 1;
        match draw.below(12) {
            0 => self.line.truncate(1 + 2 * draw.below(len as u64 / 2 + 1) as usize),
            1 if len > 2 => {
                // Another first message is another conversation.
                self.line.truncate(2 + 2 * draw.below(len as u64 / 2) as usize);
                let ask = self.message(Role::User, draw);
                self.line.push(ask);
            }
            2 if has_room && self.was_cut => {
                let at = len - self.newest + draw.below(self.newest as u64 - 1) as usize;
                self.nth += 1;
                self.line[at] = edited(self.line[at].role, self.nth);
            }
            3 => {
                self.head = draw.below(3) as usize;
                self.go_on(draw);
            }
            4 => {
                self.go_on(draw);
                self.go_on(draw);
            }
            _ => self.go_on(draw),
        }
    }

    fn has(&self) -> Vec<Message> {
        let head = (0..self.head).map(|nth| Message::system(format!("Instruction {nth}.")));
        head.chain(window(&self.line, self.first, self.newest)).collect()
    }

    fn is_cut(&self) -> bool {
        self.line.len() > self.first + self.newest
    }
}

/// Returns how many of the drawn requests left something of the line out of the view, or had in it what was taken back.
fn faults(says_the_same: bool, n: u64) -> (u64, u64) {
    let (mut n_faults, mut n_requests) = (0, 0);
    for conversation in 1..=n {
        let (mut state, mut draw) = (state(), Draw(conversation * 104_729));
        let (first, newest) = (draw.below(7) as usize, 11 + draw.below(10) as usize);
        let front_end = match draw.below(4) {
            0 => FrontEnd::default(),
            1 => FrontEnd::known(),
            2 => FrontEnd::known().keeps_first(first),
            _ => FrontEnd::known().keeps_first(first).keeps_newest(newest),
        };
        let head = draw.below(2) as usize;
        let ask = Message::user("Mend the relay.");
        let mut client =
            Client { line: vec![ask], head, first, newest, says_the_same, nth: 0, was_cut: false };
        for nth in 0..40 {
            let report = state.sync_with(&document(&client.has()), front_end).unwrap();
            n_requests += 1;
            let view: Vec<String> = shown(&state).split_off(client.head);
            let is_it = view == words(&client.line);
            let place =
                format!("{conversation}, {nth}: {first}, {newest}, {front_end:?}, {:?}", report.change);
            assert!(is_it || says_the_same, "{place}\n{:?}\n{view:?}", words(&client.has()));
            if !is_it {
                n_faults += 1;
                break;
            }
            client.was_cut = client.is_cut();
            client.act(&mut draw);
        }
    }
    (n_faults, n_requests)
}

#[test]
fn whatever_is_done_beneath_a_window_the_view_has_what_stands_and_nothing_else() {
    let (n_faults, n_requests) = faults(false, conversations(40));
    assert_eq!(n_faults, 0, "of {n_requests}");
}

/// Where much is said twice some of it cannot be told apart: a conversation in a hundred goes wrong, if that.
#[test]
fn where_much_is_said_twice_little_is_taken_for_something_else() {
    let n = conversations(40);
    let (n_faults, n_requests) = faults(true, n);
    println!("{n_faults} of {n} conversations, {n_requests} requests");
    assert!(n_faults <= n.div_ceil(50), "{n_faults} of {n} conversations, {n_requests} requests");
}
