//! Clients of a gateway, drawn: with a window or without, with pins, a memory block, instructions that come and go, compactions of their
//! own, edits, turns taken back, and more said between two requests than they keep. The view has what stands of all that they ever handed
//! in, and nothing else.

use std::{collections::BTreeMap, sync::Arc};

use longhaul::{
    FrontEnd, Session, SyncReport, Synced,
    store::{MemoryStore, SummaryStore},
    tokens::{CharsPer4, ContextWindow},
    transcript::{Message, Role, SessionId, Tokens},
};

use crate::{
    front_end::{Draw, SUMMARIES, document},
    windows::{conversations, words},
};

/// A message of a client's, and whether it handed that in.
#[derive(Clone)]
struct Said {
    message: Message,
    is_known: bool,
}

struct Client {
    line: Vec<Said>,
    head: usize,
    has_clock: bool,
    first: usize,
    /// How many of its newest messages it keeps; none where it has no window.
    newest: usize,
    is_told: bool,
    says_the_same: bool,
    nth: usize,
    /// What it handed in last left something out.
    was_cut: bool,
}

/// What a client did, as far as a report says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Did {
    Grew,
    Retried,
    Compacted,
    Else,
}

impl Client {
    fn new(draw: &mut Draw, says_the_same: bool) -> (Client, FrontEnd) {
        let newest = if draw.below(3) == 0 { 0 } else { 3 + draw.below(17) as usize };
        let told = draw.below(4);
        // Few are followed of who is known to keep so many, and many of anybody.
        let is_told = newest > 0 && (told > 1 || newest < 11);
        let first = if newest == 0 { 0 } else { draw.below(7) as usize };
        let front_end = match (newest, told) {
            (0, 0) => FrontEnd::known().hands_in_all(),
            (_, 0) if !is_told => FrontEnd::default(),
            _ if !is_told => FrontEnd::known(),
            _ => FrontEnd::known().keeps_first(first).keeps_newest(newest),
        };
        let ask = Said { message: Message::user("Mend the relay, as always."), is_known: false };
        let (head, has_clock) = (draw.below(3) as usize, draw.below(2) == 0);
        let client = Client {
            line: vec![ask],
            head,
            has_clock,
            first,
            newest,
            is_told,
            says_the_same,
            nth: 0,
            was_cut: false,
        };
        (client, front_end)
    }

    fn say(&mut self, role: Role, draw: &mut Draw) -> Said {
        const OFTEN: [&str; 4] = ["continue", "yes", "ok", "done"];
        self.nth += 1;
        let text = match self.says_the_same && draw.below(3) == 0 {
            true => OFTEN[draw.below(4) as usize].to_owned(),
            false => format!("Word {} of it, said by the {role:?}.", self.nth),
        };
        Said { message: Message::new(role, Message::user(text).parts), is_known: false }
    }

    fn go_on(&mut self, draw: &mut Draw) {
        for role in [Role::Assistant, Role::User] {
            let said = self.say(role, draw);
            self.line.push(said);
        }
    }

    /// Where the newest messages begin that it hands in.
    fn from(&self) -> usize {
        match self.newest {
            0 => 0,
            newest if self.line.len() > self.first + newest => self.line.len() - newest,
            _ => 0,
        }
    }

    fn is_cut(&self) -> bool {
        self.from() > 0
    }

    fn compact(&mut self, draw: &mut Draw) {
        // A summary without a mark is one where the first messages are known to be kept.
        let may_bear_none = self.newest == 0 || self.is_told && self.first > 0;
        let bears_none = may_bear_none && draw.below(2) == 0;
        let begins = match bears_none {
            true => "So far, this:",
            false => SUMMARIES[draw.below(4) as usize],
        };
        self.nth += 1;
        let mut line = vec![Said {
            message: Message::user(format!("{begins} Summary {} of it.", self.nth)),
            is_known: false,
        }];
        if draw.below(2) == 0 {
            line.push(self.say(Role::Assistant, draw));
        }
        let most = if self.newest == 0 { 12 } else { self.first + self.newest - 2 };
        // In the place of one or two messages it is an edit of them.
        let most_of_all = self.line.len() - if bears_none { 3 } else { 1 };
        let kept = (draw.below(most as u64) as usize).min(most_of_all);
        line.extend(self.line.split_off(self.line.len() - kept));
        self.line = line;
    }

    fn act(&mut self, draw: &mut Draw) -> Did {
        let len = self.line.len();
        match draw.below(20) {
            0 if len > 4 => {
                self.line.truncate(3 + 2 * draw.below(len as u64 / 2 - 1) as usize);
                Did::Else
            }
            1 if len > 4 => {
                self.line.truncate(2 + 2 * draw.below(len as u64 / 2 - 1) as usize);
                let ask = self.say(Role::User, draw);
                self.line.push(ask);
                Did::Else
            }
            2 if len > 8 && (self.newest == 0 || self.is_cut() && self.was_cut) => {
                // One of what it shows, its last two turns apart, is worded otherwise.
                let from = self.from().max(1);
                let at = from + draw.below((len - from).saturating_sub(2).max(1) as u64) as usize;
                self.nth += 1;
                let role = self.line[at].message.role;
                let text = format!("In other words, {} of it.", self.nth);
                let message = Message::new(role, Message::user(text).parts);
                self.line[at] = Said { message, is_known: false };
                Did::Else
            }
            3 if len > 8 => {
                self.compact(draw);
                Did::Compacted
            }
            4 | 5 => {
                let before = std::mem::replace(&mut self.head, draw.below(3) as usize);
                self.go_on(draw);
                // Before anything was left out that may be an edit of the instructions.
                if self.head == before || self.was_cut { Did::Grew } else { Did::Else }
            }
            6 => Did::Retried,
            7 if self.is_told => {
                (0..self.newest.div_ceil(2) + draw.below(4) as usize).for_each(|_| self.go_on(draw));
                Did::Grew
            }
            8 => {
                self.go_on(draw);
                self.go_on(draw);
                Did::Grew
            }
            _ => {
                self.go_on(draw);
                Did::Grew
            }
        }
    }

    fn head(&self, nth: usize) -> Vec<Message> {
        let nth = if self.has_clock { nth } else { 0 };
        (0..self.head).map(|at| Message::system(format!("Instruction {at}, at {nth}."))).collect()
    }

    /// Hands in what it has; returns whether any of that but its first messages was handed in before.
    fn hand_in(&mut self) -> (Vec<Message>, bool) {
        let from = self.from();
        let first = if from > 0 { self.first } else { 0 };
        let is_known = self.line[from..].iter().any(|said| said.is_known);
        let mut has = Vec::new();
        for (at, said) in self.line.iter_mut().enumerate() {
            if at < first || at >= from {
                said.is_known = true;
                has.push(said.message.clone());
            }
        }
        (has, is_known)
    }

    /// What stands of all that it handed in.
    fn stands(&self) -> Vec<String> {
        words(self.line.iter().filter(|said| said.is_known).map(|said| &said.message))
    }
}

async fn open(store: &Arc<dyn SummaryStore>) -> Session {
    let window = ContextWindow::new(Tokens(400_000), Tokens::ZERO);
    let builder = Session::builder(SessionId::new("client").unwrap(), window);
    builder.counter(Arc::new(CharsPer4)).store(Arc::clone(store)).open().await.unwrap()
}

/// What went wrong in drawn conversations, the first in each, by what the client did and what it was taken for.
#[derive(Debug, Default)]
struct Faults {
    n_requests: u64,
    found: BTreeMap<String, (u64, Vec<String>)>,
}

impl Faults {
    fn n(&self) -> u64 {
        self.found.values().map(|(n, _)| n).sum()
    }

    fn told(&self) -> String {
        let of = |(what, (n, places)): (&String, &(u64, Vec<String>))| {
            format!("{n} {what}\n    {}\n", places.iter().take(4).cloned().collect::<Vec<_>>().join("\n    "))
        };
        let all: String = self.found.iter().map(of).collect();
        format!("{all}{} conversations of {} requests went wrong", self.n(), self.n_requests)
    }

    fn found(&mut self, what: String, place: String) {
        let found = self.found.entry(what).or_default();
        found.0 += 1;
        found.1.push(place);
    }
}

fn kind(report: &SyncReport) -> String {
    format!("{:?}", report.change).split(' ').next().unwrap().to_owned()
}

/// What may be wrong with a report, as far as it does not depend on what the view shows.
fn fault_of(report: &SyncReport, did: Did, has: &[Message], session: &Session) -> Option<String> {
    let is_expected = match did {
        Did::Grew => matches!(report.change, Synced::Grew { .. }),
        Did::Retried => report.change == Synced::Unchanged,
        Did::Compacted => matches!(report.change, Synced::CompactedByClient { .. }),
        Did::Else => true,
    };
    let says = |at: u64| session.state().originals().get(at).map(|entry| words([&*entry.message]));
    let is_it = |(ordinal, message): (&Option<u64>, &Message)| {
        message.is_system() || ordinal.and_then(says) == Some(words([message]))
    };
    if !is_expected {
        return Some(format!("{did:?} is {}", kind(report)));
    }
    if !report.ordinals.iter().zip(has).all(is_it) {
        return Some(format!("{did:?}: ordinals of others"));
    }
    (report.not_shown > 0).then(|| format!("{did:?}: not shown"))
}

/// Follows one drawn client.
async fn follow(conversation: u64, says_the_same: bool, faults: &mut Faults) {
    let mut draw = Draw(conversation * 104_729);
    let (mut client, front_end) = Client::new(&mut draw, says_the_same);
    let store: Arc<dyn SummaryStore> = Arc::new(MemoryStore::new());
    let mut session = open(&store).await;
    let (remembers, pins) = (draw.below(3) == 0, draw.below(2) == 0);
    let mut pinned: Option<String> = None;
    let mut did = Did::Grew;
    let mut told = Vec::new();
    for nth in 0..40 {
        let (has, is_known) = client.hand_in();
        // What shares nothing with what was handed in before may be anything.
        if nth > 0 && !is_known && did == Did::Else {
            return;
        }
        let has = [&client.head(nth)[..], &has].concat();
        let report = session.sync_with(&document(&has), front_end).await.unwrap();
        faults.n_requests += 1;
        told.push(format!("{did:?} {:?} {:?}", report.change, report.ordinals));
        if pinned.is_some() && !report.unpinned.is_empty() {
            pinned = None;
        }
        let line = client.stands();
        let memory = (remembers && nth > 0).then(|| "[Memory: rule]\nBe kind.".to_owned());
        let pin = pinned.clone().filter(|pin| !line.contains(pin));
        let expected: Vec<String> =
            words(&client.head(nth)).into_iter().chain(memory).chain(pin).chain(line.clone()).collect();
        let view = words(session.prepare().await.unwrap().messages().map(|message| &**message));
        let place = || {
            let last = told.len().saturating_sub(4);
            let (first, newest) = (client.first, client.newest);
            format!(
                "{conversation}, {nth}: {first}, {newest}, {front_end:?}, pin {pinned:?}, {:?}\nhas {:?}\nwants {expected:?}\nshows {view:?}",
                &told[last..],
                words(&has)
            )
        };
        if let Some(fault) = fault_of(&report, did, &has, &session) {
            return faults.found(fault, place());
        }
        if view != expected {
            let n = |one: &[String], other: &[String]| one.iter().filter(|one| !other.contains(one)).count();
            let (lost, kept) = (n(&expected, &view), n(&view, &expected));
            let what = match (lost, kept) {
                (0, 0) => "out of order, or twice",
                (0, _) => "kept",
                (_, 0) => "lost",
                _ => "lost and kept",
            };
            return faults.found(format!("{did:?} is {}: {what}", kind(&report)), place());
        }
        if pins && pinned.is_none() && draw.below(6) == 0 {
            let is_own = |said: &Said| words([&said.message])[0].len() > 12;
            if is_own(client.line.last().unwrap()) {
                let last = session.state().originals().last().unwrap().id;
                session.pin(last).await.unwrap();
                pinned = line.last().cloned();
            }
        }
        if remembers && nth == 0 {
            session.set_memory("rule", "Be kind.").unwrap();
        }
        session.save().await.unwrap();
        if draw.below(4) == 0 {
            session = open(&store).await;
        }
        client.was_cut = client.is_cut();
        did = client.act(&mut draw);
    }
}

async fn faults(says_the_same: bool, n: u64) -> Faults {
    let mut faults = Faults::default();
    for conversation in 1..=n {
        follow(conversation, says_the_same, &mut faults).await;
    }
    faults
}

#[tokio::test]
async fn whatever_a_client_of_a_gateway_does_the_view_has_what_stands_of_what_it_handed_in() {
    let faults = faults(false, conversations(60)).await;
    println!("{}", faults.told());
    assert_eq!(faults.n(), 0, "{}", faults.told());
}

/// Where much is said twice some of it cannot be told apart: five conversations in a hundred go wrong, of which people who say more than
/// they keep between two requests, and begin and end with the same few words, are the most.
#[tokio::test]
async fn where_a_client_of_a_gateway_says_much_twice_little_is_taken_for_something_else() {
    let n = conversations(60);
    let faults = faults(true, n).await;
    println!("{}", faults.told());
    assert!(faults.n() <= n.div_ceil(10), "of {n}: {}", faults.told());
}
