//! What each request changes beside what is said, written beside the snapshot in one go with the messages: a report of usage
//! must outlive a kill, and a whole snapshot with each request would be too much to write.

use longhaul_transcript::{ContentHash, Message, Redacted, SessionId};
use serde::Serialize;

use crate::session::{SessionState, Since};

/// How a session stands in the store beside what is said: what was written or read last.
#[derive(Clone, Debug, Default)]
pub(super) struct Standing {
    since: Option<Since>,
    /// The marks of what may stand there: what was written last with an answer, and what was tried since.
    marks: Vec<ContentHash>,
}

impl Standing {
    /// Returns that of a writer that found what bears `mark`.
    pub(super) fn on(mark: ContentHash) -> Standing {
        Standing { since: None, marks: vec![mark] }
    }

    /// Takes note that the session goes on from what was found, `since` being how it stands.
    pub(super) fn goes_on(&mut self, since: Since) {
        self.since = Some(since);
    }

    /// Returns whether it is known what stands there.
    pub(super) fn is_known(&self) -> bool {
        self.since.is_some()
    }

    /// Returns whether `now` says anything that is not written.
    pub(super) fn is_news(&self, now: &Since) -> bool {
        self.since.as_ref().is_none_or(|last| !last.is_same(now))
    }

    /// Returns what may stand there for a write to be on top of what is known.
    pub(super) fn marks(&self) -> Vec<ContentHash> {
        self.marks.clone()
    }

    /// Returns what is to stand there once the conversation's name stands for `line`: who goes on here does not know of that,
    /// and is to be told.
    pub(super) fn left_for(&self, line: &SessionId) -> Option<Redacted<Vec<u8>>> {
        #[derive(Serialize)]
        struct Left<'a> {
            #[serde(flatten)]
            since: &'a Since,
            left_for: &'a SessionId,
        }
        to_store(&Left { since: self.since.as_ref()?, left_for: line })
    }

    /// Takes note that `bytes` are about to be written: they may be even where no answer comes.
    pub(super) fn tries(&mut self, bytes: &[u8]) {
        self.marks.push(ContentHash::of(bytes));
    }

    /// Takes note that what was tried last is written, `since` being how the session stood then.
    pub(super) fn wrote(&mut self, since: Since) {
        self.since = Some(since);
        self.marks.drain(..self.marks.len().saturating_sub(1));
    }
}

/// Returns what changed, as it is written.
pub(super) fn to_store(since: &impl Serialize) -> Option<Redacted<Vec<u8>>> {
    // Numbers and names can be written as JSON.
    serde_json::to_vec(since).ok().map(Redacted::assume)
}

/// Brings `state` from its snapshot to where the session was left: `said` is what was said since, and `since` what was written
/// of what changed. What cannot be read of that is as good as nothing.
pub(super) fn go_on(state: &mut SessionState, said: Vec<Message>, since: Option<&[u8]>) {
    let (first, end) = (state.originals().len() as u64, (state.originals().len() + said.len()) as u64);
    let since = since.and_then(|json| serde_json::from_slice::<Since>(json).ok());
    let since = since.filter(|since| (first..=end).contains(&since.messages()) && since.is_of(state));
    let mut said = said.into_iter();
    if let Some(since) = since {
        let before = since.messages() - first;
        for message in said.by_ref().take(before as usize) {
            state.push(message);
        }
        state.catch_up(since);
    }
    for message in said {
        state.push(message);
    }
}
