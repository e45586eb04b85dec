//! What holds whatever is done in whatever order: views are valid in every dialect and within their budget, pins and what
//! was just asked are whole, no branch knows of another, and a session that was resumed goes on as if it had not been.
//!
//! A small number of cases runs by default; `LONGHAUL_INTERLEAVINGS=100000` runs that many.

#![allow(clippy::unwrap_used, clippy::panic, reason = "this is a test")]

use std::{collections::BTreeSet, sync::Arc};

use longhaul_testkit::any_text;
use longhaul_tokens::{CharsPer4, ContextWindow, TokenCounter};
use longhaul_transcript::{
    Message, MessageId, Outcome, Part, Role, SessionId, Span, Tokens, ToolCall, ToolResult, Transcript,
    UnitState, Usage,
};
use longhaul_wire::{CacheMark, Format, Lifetime, Profile, validate};
use proptest::{collection::vec, prelude::*};

use super::{BranchError, Finished, PinError, SessionState, Shown, View};
use crate::{
    Config, Decision, Preset,
    policy::{Action, Hold, Reason},
};

/// What a program may well say, and no provider takes as it is.
#[derive(Clone, Debug)]
enum Odd {
    /// Nothing but white space.
    Blank(Role, String),
    /// White space beside words.
    Beside(Role, String),
    /// Nothing at all.
    Empty(Role),
    /// Of so many calls at once so many are answered.
    Calls(usize, usize),
    /// Answers that follow each other, with a call each.
    Split(usize),
}

/// One thing that is done.
#[derive(Clone, Debug)]
enum Step {
    Ask(String),
    Answer(String),
    Instruct(String),
    Work(String, usize),
    /// Something that no provider takes as it is.
    Odd(Odd),
    Prepare,
    /// A summary is begun, to be finished later.
    Start,
    Finish,
    Pin(prop::sample::Index),
    Unpin(prop::sample::Index),
    Remember(usize, String),
    Undo,
    Redo,
    Rewind(prop::sample::Index),
    /// Another branch is taken up.
    Switch(prop::sample::Index),
    Report(f64),
    Resume,
}

fn step() -> impl Strategy<Value = Step> {
    let text = || prop_oneof![3 => any_text(), 1 => "[a-z ]{400,3000}"];
    prop_oneof![
        6 => text().prop_map(Step::Ask),
        6 => text().prop_map(Step::Answer),
        1 => "[a-z ]{5,60}".prop_map(Step::Instruct),
        9 => (text(), 1usize..4).prop_map(|(text, n)| Step::Work(text, n)),
        2 => odd().prop_map(Step::Odd),
        12 => Just(Step::Prepare),
        2 => Just(Step::Start),
        2 => Just(Step::Finish),
        2 => any::<prop::sample::Index>().prop_map(Step::Pin),
        1 => any::<prop::sample::Index>().prop_map(Step::Unpin),
        1 => (0usize..3, "[a-z ]{0,60}").prop_map(|(nth, text)| Step::Remember(nth, text)),
        2 => Just(Step::Undo),
        1 => Just(Step::Redo),
        1 => any::<prop::sample::Index>().prop_map(Step::Rewind),
        1 => any::<prop::sample::Index>().prop_map(Step::Switch),
        2 => (0.7f64..1.6).prop_map(Step::Report),
        3 => Just(Step::Resume),
    ]
}

fn odd() -> impl Strategy<Value = Odd> {
    let role = || prop::sample::select(vec![Role::User, Role::Assistant, Role::System, Role::Developer]);
    let blank = || "( |\n|\t){0,4}";
    prop_oneof![
        3 => (role(), blank()).prop_map(|(role, text)| Odd::Blank(role, text)),
        3 => (role(), blank()).prop_map(|(role, text)| Odd::Beside(role, text)),
        1 => role().prop_map(Odd::Empty),
        3 => (2usize..5, 0usize..3).prop_map(|(n, answered)| Odd::Calls(n, answered)),
        1 => (129usize..260, 0usize..260).prop_map(|(n, answered)| Odd::Calls(n, answered)),
        2 => (2usize..4).prop_map(Odd::Split),
    ]
}

/// A session at work, and what must be true of it.
struct Run {
    state: SessionState,
    /// What was said on this branch, and on the others.
    said: Vec<Arc<Message>>,
    /// What was sent last on this branch.
    sent: Vec<Arc<Message>>,
    others: Vec<Branch>,
    /// How many messages were said with a word of their own, on all branches.
    n_said: usize,
    under_way: Option<Finished>,
}

/// Another branch, what was said on it, and what was sent last.
type Branch = (SessionState, Vec<Arc<Message>>, Vec<Arc<Message>>);

fn new(window: u64, config: &Config) -> SessionState {
    let window = ContextWindow::new(Tokens(window), Tokens::ZERO);
    SessionState::new(SessionId::new("run").unwrap(), window, Arc::new(CharsPer4), config.clone())
}

impl Run {
    fn new(window: u64, config: &Config) -> Run {
        Run {
            state: new(window, config),
            said: Vec::new(),
            sent: Vec::new(),
            others: Vec::new(),
            n_said: 0,
            under_way: None,
        }
    }

    /// Says something with a word in it that is said nowhere else.
    fn say(&mut self, role: Role, text: &str) {
        let canary = format!("canary_{}", self.n_said);
        self.n_said += 1;
        self.push(Message::new(role, vec![Part::Text(format!("{text} {canary}"))]));
    }

    fn push(&mut self, message: Message) {
        let message = Arc::new(message);
        self.said.push(Arc::clone(&message));
        self.state.push(message);
    }

    fn work(&mut self, text: &str, n: usize) {
        let ids = self.call(n);
        self.answer(&ids, text);
    }

    fn call(&mut self, n: usize) -> Vec<String> {
        let id = |nth: usize| format!("c{}_{nth}", self.said.len());
        let ids: Vec<String> = (0..n).map(id).collect();
        let call = |id: &String| {
            Part::ToolCall(ToolCall::function(id.as_str(), "bash", r#"{"command":"make test"}"#))
        };
        self.push(Message::new(Role::Assistant, ids.iter().map(call).collect()));
        ids
    }

    fn answer(&mut self, ids: &[String], text: &str) {
        for id in ids {
            let result = ToolResult::text(id.as_str(), text, Outcome::Unstated);
            self.push(Message::new(Role::Tool, vec![Part::ToolResult(result)]));
        }
    }

    fn odd(&mut self, odd: &Odd) {
        let text = |text: &str| Part::Text(text.to_owned());
        match odd {
            Odd::Blank(role, blank) => self.push(Message::new(*role, vec![text(blank)])),
            Odd::Beside(role, blank) => {
                self.push(Message::new(*role, vec![text(blank), text("word"), text(blank)]));
            }
            Odd::Empty(role) => self.push(Message::new(*role, Vec::new())),
            Odd::Calls(n, answered) => {
                let ids = self.call(*n);
                self.answer(&ids[..*answered.min(n)], "x");
            }
            Odd::Split(n) => {
                let ids: Vec<String> = (0..*n).flat_map(|_| self.call(1)).collect();
                self.answer(&ids, " ");
            }
        }
    }

    fn id(&self, at: &prop::sample::Index) -> Option<MessageId> {
        let n = self.said.len();
        (n > 0).then(|| self.state.originals().get(at.index(n) as u64).unwrap().id)
    }

    fn branch(&mut self, state: SessionState) {
        let len = state.originals().len();
        let before = std::mem::replace(&mut self.state, state);
        let said = self.said.clone();
        self.said.truncate(len);
        self.others.push((before, said, self.sent.clone()));
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Ask(text) => self.say(Role::User, text),
            Step::Answer(text) => self.say(Role::Assistant, text),
            Step::Instruct(text) => self.say(Role::System, text),
            Step::Work(text, n) => self.work(text, *n),
            Step::Odd(odd) => self.odd(odd),
            Step::Prepare => assert!(matches!(self.state.settle(None), Decision::Hold(_)), "it loops"),
            Step::Start => {
                let action = Action::Summarize { rebuild: false };
                let job = self.state.plan(action, Reason::Manual, None, None);
                self.under_way = job.and_then(|job| job.finish_by_rule()).ok();
                self.check_header();
            }
            Step::Finish => {
                if let Some(finished) = self.under_way.take() {
                    let _ = self.state.apply(finished);
                }
            }
            Step::Pin(at) => {
                // No more than the window can hold.
                if let Some(id) = self.id(at).filter(|id| self.state.cost(id.ordinal) < Tokens(60)) {
                    let pinned = self.state.pin(id);
                    assert!(matches!(pinned, Ok(_) | Err(PinError::TooLarge { .. })), "{pinned:?}");
                }
            }
            Step::Unpin(at) => {
                if let Some(id) = self.id(at) {
                    self.state.unpin(id);
                }
            }
            Step::Remember(nth, text) => {
                self.state.set_memory(&format!("block {nth}"), text.trim()).unwrap();
            }
            Step::Undo => {
                self.state.undo();
            }
            Step::Redo => {
                self.state.redo();
            }
            Step::Rewind(at) => {
                if let Some(id) = self.id(at) {
                    let branch = match self.state.branch(id) {
                        // What a driver reads back when it is asked for, once.
                        Err(BranchError::NotAtHand(spans)) => {
                            for Span { start, end } in spans {
                                let said = self.said[start as usize..end as usize].to_vec();
                                self.state.put_back(start, said);
                            }
                            self.state.branch(id).unwrap()
                        }
                        branch => branch.unwrap(),
                    };
                    self.branch(branch);
                }
            }
            Step::Switch(at) => {
                if !self.others.is_empty() {
                    let at = at.index(self.others.len());
                    let (state, said, sent) = &mut self.others[at];
                    std::mem::swap(state, &mut self.state);
                    std::mem::swap(said, &mut self.said);
                    std::mem::swap(sent, &mut self.sent);
                }
            }
            Step::Report(ratio) => {
                let view = self.state.view();
                let usage = Usage { input: self.state.counted().scaled(*ratio), ..Usage::default() };
                self.state.report_usage(view.id(), &usage);
            }
            Step::Resume => self.state = self.resumed(),
        }
    }

    /// Returns the session as a store gives it back.
    fn resumed(&self) -> SessionState {
        let snapshot = self.state.snapshot();
        let json = serde_json::to_vec(&snapshot).unwrap();
        let snapshot = serde_json::from_slice(&json).unwrap();
        let original = |span: Span| self.said[span.start as usize..span.end as usize].to_vec();
        let fresh = SessionState::new(
            self.state.session().clone(),
            self.state.window,
            Arc::new(CharsPer4),
            self.state.config().clone(),
        );
        let mut state = fresh.resume(snapshot, original).unwrap();
        // What a driver reads back when it is asked for.
        let all = state.originals().missing([Span { start: 0, end: u64::MAX }]);
        for span in all {
            state.put_back(span.start, original(span));
        }
        state
    }

    fn check(&self) -> Result<(), TestCaseError> {
        let view = self.state.view();
        // Nothing that was said is lost.
        let kept: Vec<Arc<Message>> =
            self.state.originals().entries().into_iter().map(|entry| entry.message).collect();
        prop_assert_eq!(&kept, &self.said);

        // It costs what it is said to cost, and no more than it may, once it is prepared.
        let counted: Tokens = view.messages().map(|message| CharsPer4.count_message(message)).sum();
        prop_assert_eq!(self.state.items.sums().counts.total(), counted);

        // Pins are whole.
        for pin in self.state.pins() {
            let is_it = |shown: &Shown| matches!(shown, Shown::Message { id, digested: false, .. } if id.ordinal == pin);
            prop_assert!(view.shown().any(is_it), "m{pin} is pinned and not shown whole");
        }
        for (name, text) in self.state.memory() {
            let said = format!("[Memory: {name}]\n{text}");
            prop_assert!(view.messages().any(|message| message.texts().any(|shown| shown == said)), "{name}");
        }

        // No word of another branch.
        let all = |messages: &[Arc<Message>]| canaries(messages.iter().map(|message| &**message));
        let shown: Vec<Arc<Message>> = view.messages().cloned().collect();
        let (told, said) = (all(&shown), all(&self.said));
        prop_assert!(told.is_subset(&said), "{:?} are another branch's", told.difference(&said));

        // Taken up from a store it is the same.
        let resumed = self.resumed();
        prop_assert_eq!(resumed.snapshot(), self.state.snapshot());
        let shown = |state: &SessionState| state.view().messages().cloned().collect::<Vec<_>>();
        prop_assert_eq!(shown(&resumed), shown(&self.state));
        prop_assert_eq!(resumed.decide(None), self.state.decide(None));
        Ok(())
    }

    /// Checks that a summary which takes the place of all before it says how many messages it stands for: those that the
    /// view no longer shows as they were said.
    fn check_header(&self) {
        let Some(finished) = self.under_way.clone() else { return };
        let header = finished.record().header.clone();
        let mut told =
            header.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse::<usize>().ok());
        let mut after = self.state.clone();
        let (Some(told), Ok(_)) = (told.next(), after.apply(finished)) else { return };
        let n_summaries = after.items.shown().filter(|shown| shown.record().is_some()).count();
        let is_whole = |shown: &&Shown| matches!(shown, Shown::Message { digested: false, .. });
        let n_shown = after.items.shown().filter(is_whole).count();
        // Of a pin in an exchange that was left unanswered the plan keeps the words, and the view all.
        let is_broken = after.pins().any(|pin| {
            let said: Transcript = self.said.iter().cloned().collect();
            said.units().any(|unit| unit.span().contains(pin) && unit.state == UnitState::Broken)
        });
        if n_summaries == 1 && !is_broken {
            assert_eq!(self.said.len() - n_shown, told, "{header}");
        }
    }

    /// Checks what holds of a view that is sent.
    fn check_sent(&mut self) -> Result<(), TestCaseError> {
        let view = self.state.send();
        let messages: Vec<Arc<Message>> = view.messages().cloned().collect();
        let stable = view.stable_prefix().items;
        prop_assert!(stable <= messages.len().min(self.sent.len()));
        prop_assert_eq!(&messages[..stable], &self.sent[..stable], "the stable prefix is not what was sent");
        self.sent = messages;
        let m = self.state.measure(None);
        let is_told = matches!(self.state.decide(None), Decision::Hold(Hold::Exhausted { .. }));
        prop_assert!(m.tokens <= m.budget || is_told, "{} of {}", m.tokens, m.budget);
        if let Some(request) = self.state.request
            && m.tokens <= m.budget
            && view.cut().is_none()
        {
            let is_it = |shown: &Shown| matches!(shown, Shown::Message { id, digested: false, .. } if id.ordinal == request);
            prop_assert!(
                view.shown().any(is_it),
                "the newest request, m{request}, is not whole, and nobody is told"
            );
        }
        if self.said.is_empty() {
            return Ok(());
        }
        // What requests are made in.
        for format in Format::ALL.into_iter().filter(|format| format.request() == Some(*format)) {
            let sent = view.to_json(format).unwrap();
            let found = validate(sent.json.as_bytes(), format, &Profile::default()).unwrap();
            prop_assert!(found.is_empty(), "{}: {found:?}", format.name());
        }
        check_marks(&view)
    }
}

/// Checks that a request asks for no more to be cached than its provider takes: four marks, those of an hour first, each on a
/// block of its own.
fn check_marks(view: &View) -> Result<(), TestCaseError> {
    let marks = view.cache_marks();
    let is_hour = |mark: &CacheMark| mark.lifetime == Lifetime::OneHour;
    prop_assert!(marks.len() <= 4 && marks.is_sorted_by(|one, other| one.item < other.item), "{marks:?}");
    prop_assert!(marks.iter().skip_while(|mark| is_hour(mark)).all(|mark| !is_hour(mark)), "{marks:?}");
    let json = view.to_json_marked(Format::Anthropic).unwrap().json;
    let found = validate(json.as_bytes(), Format::Anthropic, &Profile::default()).unwrap();
    prop_assert!(found.is_empty(), "marked: {found:?}");
    let marked = json.matches("\"cache_control\":{").count();
    let read: serde_json::Value = serde_json::from_str(&json).unwrap();
    let once = read.to_string().matches("\"cache_control\":{").count();
    prop_assert!(marked <= marks.len() && once == marked, "{marks:?}: {json}");
    Ok(())
}

/// Returns the numbers of all canaries in these messages.
fn canaries<'a>(messages: impl Iterator<Item = &'a Message>) -> BTreeSet<u64> {
    let number =
        |text: &str| text.split(|c: char| !c.is_ascii_digit()).next().and_then(|digits| digits.parse().ok());
    let in_text = |text: &str| text.split("canary_").skip(1).filter_map(number).collect::<Vec<u64>>();
    messages.flat_map(Message::texts).flat_map(in_text).collect()
}

fn cases() -> u32 {
    let asked = std::env::var("LONGHAUL_INTERLEAVINGS").ok();
    asked.and_then(|cases| cases.parse().ok()).unwrap_or(24)
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 400, ..ProptestConfig::with_cases(cases()) })]

    #[test]
    fn whatever_is_done_in_whatever_order(
        steps in vec(step(), 1..60), window in 1_200u64..8_000, preset in 0usize..=5,
    ) {
        let config = Preset::ALL.get(preset).map_or_else(Config::default, |preset| preset.config());
        let mut run = Run::new(window, &config);
        run.say(Role::User, "Please mend the export.");
        for step in &steps {
            run.step(step);
            run.check()?;
            if let Step::Prepare = step {
                run.check_sent()?;
            }
        }
    }
}
