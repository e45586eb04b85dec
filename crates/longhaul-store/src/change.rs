//! What is to be written: a change decided on a state, as events with the contents that they name.

use std::sync::Arc;

use longhaul_transcript::{ContentHash, Message, Redacted, SessionId};

use crate::{Event, EventKind, Object, StoreError, StoredSession};

/// Decides what is to be written on top of a state. Pure: it may be called more than once.
pub type Decide = Arc<dyn Fn(&StoredSession) -> Result<Change, StoreError> + Send + Sync>;

/// What is to be written: events in order, with the contents they name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// The steps, in order.
    pub steps: Vec<Step>,
    /// What is to be the session's snapshot from then on; `None` leaves the one there is.
    pub snapshot: Option<Redacted<Vec<u8>>>,
    /// What is to stand beside the snapshot from then on (see [`Snapshot::since`]); `None` leaves what there is.
    pub since: Option<Redacted<Vec<u8>>>,
    /// The [marks](Snapshot::mark) of what the writer knows to stand there: where it is something else, somebody else wrote
    /// it, and nothing is to be written. `None` for a writer that does not go by snapshots.
    pub on: Option<Vec<ContentHash>>,
}

/// What a session's writer needs beside the log to go on where it was, in a form that the store does not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// How many events the session had when it was written, those of the same change included. Where the session has more
    /// now, somebody else went on since.
    pub events: u64,
    /// What was written.
    pub bytes: Vec<u8>,
    /// What changed since beside what was said: small, so that it can be written with each request. A new snapshot takes its
    /// place.
    pub since: Option<Vec<u8>>,
}

impl Snapshot {
    /// Returns what tells a writer whether this is what it left: the hash of what was written last.
    pub fn mark(&self) -> ContentHash {
        ContentHash::of(self.since.as_ref().unwrap_or(&self.bytes))
    }
}

/// One event to be, with its contents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// When it happened, in milliseconds since the Unix epoch.
    pub at_ms: i64,
    /// What happened.
    pub kind: EventKind,
    /// The contents that `kind` names, in the same order; `None` for one that was destroyed before an import. Empty for
    /// kinds that name none.
    pub objects: Vec<Option<Object>>,
}

/// A step that became an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sealed {
    /// The event.
    pub event: Event,
    /// The contents it names, as in [`Step::objects`].
    pub objects: Vec<Option<Object>>,
}

impl Change {
    /// Returns a change of one step without contents, or of none.
    pub fn of(at_ms: i64, kind: Option<EventKind>) -> Change {
        let steps = kind.into_iter().map(|kind| Step { at_ms, kind, objects: Vec::new() }).collect();
        Change { steps, ..Change::default() }
    }

    /// Returns whether there is nothing to write.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty() && self.snapshot.is_none() && self.since.is_none()
    }

    /// Fails unless `mark`, of the session's stored [snapshot](Snapshot), is one that the writer knows (`on`), or is this very
    /// change's own, or there is none: the snapshot was forgotten. For backends.
    ///
    /// # Errors
    /// [`StoreError::Changed`]; nothing is to be written then.
    pub fn check(&self, session: &SessionId, mark: Option<ContentHash>) -> Result<(), StoreError> {
        let (Some(on), Some(mark)) = (&self.on, mark) else { return Ok(()) };
        let own = self.since.as_ref().or(self.snapshot.as_ref()).map(|own| ContentHash::of(own));
        match on.contains(&mark) || own == Some(mark) {
            true => Ok(()),
            false => Err(StoreError::Changed { session: session.clone() }),
        }
    }

    /// Returns the change that opens a session where `state` is that of a new one, else no change.
    pub fn opened(state: &StoredSession, at_ms: i64) -> Change {
        Change::of(at_ms, (state.events == 0).then_some(EventKind::Opened { forked_from: None }))
    }

    /// Moves `state` through `steps`, and returns the events they are with their contents. For backends.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] where a step cannot follow; nothing is to be written then, and `state` is of no use.
    pub fn seal(
        steps: Vec<Step>,
        session: &SessionId,
        state: &mut StoredSession,
    ) -> Result<Vec<Sealed>, StoreError> {
        let steps = steps.into_iter().map(|step| {
            let event = state.next_event(session, step.at_ms, step.kind);
            let applied = state.apply(session, &event);
            applied.map_err(|problem| StoreError::Damaged { session: session.clone(), problem })?;
            Ok(Sealed { event, objects: step.objects })
        });
        steps.collect()
    }
}

/// A message on its way into a store, with what is kept beside it.
#[derive(Clone, Debug)]
pub(crate) struct Spoken {
    pub(crate) content: Object,
    pub(crate) spelling: Option<Object>,
}

impl Spoken {
    pub(crate) fn of(message: &Redacted<Message>) -> Spoken {
        Spoken { content: Object::of_message(message), spelling: Object::of_spelling(message) }
    }
}

/// Returns the change that adds messages at the end of a session.
pub(crate) fn originals_change(state: &StoredSession, spoken: Vec<Spoken>, at_ms: i64) -> Change {
    let mut change = Change::opened(state, at_ms);
    if spoken.is_empty() {
        return change;
    }
    let addresses = spoken.iter().map(|spoken| spoken.content.address).collect();
    let is_spelled = spoken.iter().any(|spoken| spoken.spelling.is_some());
    let spelling = |spoken: &Spoken| spoken.spelling.as_ref().map(|spelling| spelling.address);
    let spellings = if is_spelled { spoken.iter().map(spelling).collect() } else { Vec::new() };
    let kind = EventKind::Originals { start: state.messages, addresses, spellings };
    let (contents, spellings): (Vec<_>, Vec<_>) =
        spoken.into_iter().map(|spoken| (Some(spoken.content), spoken.spelling)).unzip();
    let objects = contents.into_iter().chain(spellings.into_iter().flatten().map(Some)).collect();
    change.steps.push(Step { at_ms, kind, objects });
    change
}
