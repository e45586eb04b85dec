//! Every recording, message by message: looked at after each rewrite and at 40 cuts, and beside it a session that is
//! stored and taken up again after each rewrite. Both must show the same, valid in every dialect and within the budget.

use std::{path::Path, sync::Arc};

use longhaul::{
    Config, Decision, SessionState, Snapshot,
    policy::{Action, Hold},
    tokens::{CharsPer4, ContextWindow},
    transcript::{Message, SessionId, Span, Tokens},
    wire::{self, Format, Profile},
};

/// How often each recording is looked at beside its rewrites.
const CUTS: usize = 40;

const WINDOWS: [u64; 2] = [8_000, 32_000];

pub(crate) fn run(folder: &Path) {
    println!(
        "| recording | messages | window | rewrites | looked at | over budget, told | faults |\n|---|---|---|---|---|---|---|"
    );
    let mut faults = 0;
    for path in super::prices::files(folder) {
        let Ok(document) = wire::read(None, &*std::fs::read(&path).unwrap()) else { continue };
        let said: Vec<Arc<Message>> =
            document.transcript().entries().iter().map(|entry| Arc::clone(&entry.message)).collect();
        for window in WINDOWS {
            let done = one(&said, window);
            let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            println!(
                "| {stem} | {} | {window} | {} | {} | {} | {} |",
                said.len(),
                done.rewrites,
                done.looks,
                done.told,
                done.faults.len()
            );
            done.faults.iter().take(5).for_each(|fault| println!("    {fault}"));
            faults += done.faults.len();
        }
    }
    println!("{faults} faults");
    assert_eq!(faults, 0);
}

#[derive(Default)]
struct Done {
    rewrites: u64,
    looks: usize,
    told: usize,
    faults: Vec<String>,
}

fn fresh(window: u64) -> SessionState {
    let limits = ContextWindow::new(Tokens(window), Tokens(window / 10));
    SessionState::new(SessionId::new("recording").unwrap(), limits, Arc::new(CharsPer4), Config::default())
}

fn one(said: &[Arc<Message>], window: u64) -> Done {
    let (mut whole, mut resumed) = (fresh(window), fresh(window));
    let mut done = Done::default();
    // What the person says first stays.
    let pin = said.iter().position(|message| message.is_user_text());
    for (nth, message) in said.iter().enumerate() {
        let pinned = [&mut whole, &mut resumed].map(|state| {
            let id = state.push(Arc::clone(message));
            Some(nth) == pin && state.cost(id.ordinal) < Tokens(500) && state.pin(id).is_ok()
        });
        if pinned[0] != pinned[1] {
            done.faults.push(format!("m{nth}: pinned {pinned:?}"));
        }
        whole.settle(None);
        resumed.settle(None);
        let rewrites = whole.view().id().rewrites;
        let is_rewritten = rewrites != done.rewrites;
        done.rewrites = rewrites;
        if is_rewritten || nth % (said.len() / CUTS).max(1) == 0 || nth + 1 == said.len() {
            look(&whole, nth, &mut done);
            if whole.snapshot() != resumed.snapshot() || !shows_the_same(&whole, &resumed) {
                done.faults.push(format!("m{nth}: resumed it is another"));
                resumed = whole.clone();
            }
        }
        if is_rewritten {
            resumed = taken_up(&resumed, said, window);
        }
    }
    done
}

fn shows_the_same(one: &SessionState, other: &SessionState) -> bool {
    one.view().messages().eq(other.view().messages())
}

/// Returns a session as a store gives it back.
fn taken_up(state: &SessionState, said: &[Arc<Message>], window: u64) -> SessionState {
    let json = serde_json::to_vec(&state.snapshot()).unwrap();
    let snapshot: Snapshot = serde_json::from_slice(&json).unwrap();
    let original = |span: Span| said[span.start as usize..span.end as usize].to_vec();
    let mut state = fresh(window).resume(snapshot, original).unwrap();
    // Without facts everything is wanted.
    for span in state.wanted_by(Action::Summarize { rebuild: false }) {
        state.put_back(span.start, original(span));
    }
    state
}

/// Looks at a view that is about to be sent.
fn look(state: &SessionState, nth: usize, done: &mut Done) {
    done.looks += 1;
    let view = state.view();
    if view.tokens() > state.budget() {
        match state.decide(None) {
            Decision::Hold(Hold::Exhausted { .. }) => done.told += 1,
            decision => {
                done.faults.push(format!("m{nth}: {} of {}: {decision}", view.tokens(), state.budget()))
            }
        }
    }
    for pin in state.pins() {
        if !view
            .items()
            .any(|item| matches!(item, longhaul::transcript::Item::Message { id, .. } if id.ordinal == pin))
        {
            done.faults.push(format!("m{nth}: the pin m{pin} is not shown"));
        }
    }
    for format in [Format::OpenAi, Format::Responses, Format::Anthropic, Format::Gemini] {
        let sent = view.to_json(format).unwrap();
        for found in wire::validate(sent.json.as_bytes(), format, &Profile::default()).unwrap() {
            done.faults.push(format!("m{nth}: {}: {found:?}", format.name()));
        }
    }
}
