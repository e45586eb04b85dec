//! The ids of many sessions: whether a part of one means it alone.

use super::{Found, may_name};

/// The ids of sessions, to be looked up by their beginning and by their end.
pub(crate) struct Ids {
    /// Each with the number of its session, in order.
    forwards: Vec<(String, usize)>,
    /// The same, each spelled from its end.
    backwards: Vec<(String, usize)>,
}

impl Ids {
    pub(crate) fn of(all: &[Found]) -> Ids {
        let ids = all.iter().map(|found| found.id().to_lowercase()).zip(0..);
        let mut forwards: Vec<_> = ids.collect();
        let mut backwards: Vec<_> = forwards.iter().map(|(id, at)| (reversed(id), *at)).collect();
        forwards.sort_unstable();
        backwards.sort_unstable();
        Ids { forwards, backwards }
    }

    /// Returns whether the id of one session, and no more, begins or ends with `part`.
    pub(crate) fn has_one(&self, part: &str) -> bool {
        let part = part.to_lowercase();
        let (begin, end) = (beginning(&self.forwards, &part), beginning(&self.backwards, &reversed(&part)));
        let mut one = begin.iter().chain(end).map(|(_, at)| at);
        let first = one.next();
        may_name(&part) && first.is_some() && one.all(|other| Some(other) == first)
    }
}

/// Returns the first two that begin with `part`: more say nothing more.
fn beginning<'a>(ids: &'a [(String, usize)], part: &str) -> &'a [(String, usize)] {
    let from = &ids[ids.partition_point(|(id, _)| id.as_str() < part)..];
    let n = from.iter().take(2).take_while(|(id, _)| id.starts_with(part)).count();
    &from[..n]
}

fn reversed(id: &str) -> String {
    id.chars().rev().collect()
}
