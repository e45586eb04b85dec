//! Recorded sessions by what was asked in them first.

use std::iter;

use longhaul::{
    store::SessionInfo,
    transcript::{SessionId, Span, Transcript},
};

use super::{Archive, session_of};
use crate::{
    found::{self, About, Found},
    paint::name,
};

impl Archive {
    /// Returns what was asked first in a session that is recorded, and what then: where its file is on this machine, by that, which
    /// has what was said before its agent compacted it.
    pub(crate) fn asked(&self, info: &SessionInfo, found: &[Found]) -> Vec<String> {
        let file = found.iter().find(|found| found.id() == info.session.as_str());
        let title = file.and_then(|found| About::quick(found).title);
        /// The first request stands among so many messages.
        const FIRST: u64 = 12;
        let span = Span { start: 0, end: info.state.messages.min(FIRST) };
        // Of many that are looked at few are shown, and a title proves nothing.
        let first = self.wait(self.store.as_journaled(&info.session, span)).unwrap_or_default();
        let said: Transcript = first.into_iter().filter_map(|original| original.message).collect();
        let asked = found::asked_in(said.entries());
        match title {
            Some(title) => iter::once(title).chain(asked).collect(),
            None => asked,
        }
    }

    /// Returns the recorded sessions whose first request holds each of `words`, the newest first; where none does, those in which they
    /// stand in what was asked soon after it: lists show that as well where several begin alike.
    pub(super) fn about(&self, words: &str) -> Vec<SessionId> {
        if words.trim().is_empty() {
            return Vec::new();
        }
        let words = words.to_lowercase();
        let holds = |text: &str| {
            let text = text.to_lowercase();
            words.split_whitespace().all(|word| text.contains(word))
        };
        let (all, found) = (self.wait(self.store.sessions()).unwrap_or_default(), found::all());
        let asked: Vec<_> = all.iter().map(|info| (info, self.asked(info, &found))).collect();
        let meant = |is: &dyn Fn(&[String]) -> bool| -> Vec<SessionId> {
            asked.iter().filter(|(_, asked)| is(asked)).map(|(info, _)| session_of(info)).collect()
        };
        let first = meant(&|asked| asked.first().is_some_and(|first| holds(first)));
        if first.is_empty() { meant(&|asked| holds(&asked.join(" "))) } else { first }
    }

    /// Returns each of `sessions` with what was asked in it first, to choose from.
    pub(super) fn titled(&self, sessions: &[SessionId]) -> Vec<String> {
        let (all, found) = (self.wait(self.store.sessions()).unwrap_or_default(), found::all());
        let line = |session: &SessionId| {
            let info = all.iter().find(|info| info.session == *session);
            let title = info.and_then(|info| self.asked(info, &found).into_iter().next());
            match title {
                Some(title) => format!("{session}  {}", name(&title)),
                None => session.to_string(),
            }
        };
        sessions.iter().map(line).collect()
    }
}
