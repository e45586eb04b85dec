//! What could not be carried, and of which messages.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    fmt::Write,
    hash::Hash,
};

use longhaul_transcript::{Message, Origin};

/// What could not be carried: each kind of thing with the messages that lost it, as they are numbered in the source.
#[derive(Debug, Default)]
pub(crate) struct Losses {
    counted: BTreeMap<String, Vec<Option<usize>>>,
    fields: BTreeMap<String, Vec<usize>>,
    noted: Vec<String>,
}

/// Said of a message in which nothing is.
pub(crate) const WITHOUT_CONTENT: &str = "message without content left out";

impl Losses {
    /// Counts one more of `what`, a phrase that reads well after a number; `at` is the message that lost it.
    pub(crate) fn count(&mut self, what: impl Into<String>, at: Option<usize>) {
        self.counted.entry(what.into()).or_default().push(at);
    }

    /// Counts a field of message `at` that longhaul does not read, by its path.
    pub(crate) fn field(&mut self, path: String, at: usize) {
        self.fields.entry(path).or_default().push(at);
    }

    pub(crate) fn note(&mut self, what: impl Into<String>) {
        self.noted.push(what.into());
    }

    /// Returns these without those that `told` has too.
    pub(crate) fn without(mut self, told: &Losses) -> Losses {
        self.counted.retain(|what, at| remain(at, told.counted.get(what)));
        self.fields.retain(|path, at| remain(at, told.fields.get(path)));
        let noted: HashSet<&String> = told.noted.iter().collect();
        self.noted.retain(|note| !noted.contains(note));
        self
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.counted.is_empty() && self.fields.is_empty() && self.noted.is_empty()
    }

    pub(crate) fn into_lines(self) -> Vec<String> {
        // Fields that the same messages lost are told together.
        let mut together: BTreeMap<Vec<usize>, Vec<String>> = BTreeMap::new();
        for (path, at) in self.fields {
            together.entry(at).or_default().push(path);
        }
        let counted = self.counted.into_iter().map(|(what, at)| {
            let places: Vec<usize> = at.iter().copied().flatten().collect();
            format!("{} x {what}{}", at.len(), shown(&places))
        });
        let fields = together.into_iter().map(|(at, paths)| {
            let noun = if paths.len() == 1 { "field" } else { "fields" };
            format!("{} x {noun} {} left out{}", at.len(), paths.join(", "), shown(&at))
        });
        self.noted.into_iter().chain(counted).chain(fields).collect()
    }
}

/// Takes the places in `told` away, each as often as it stands there, and returns whether any are left.
fn remain<P: Copy + Eq + Hash>(at: &mut Vec<P>, told: Option<&Vec<P>>) -> bool {
    let mut counts: HashMap<P, usize> = HashMap::new();
    told.into_iter().flatten().for_each(|place| *counts.entry(*place).or_default() += 1);
    at.retain(|place| match counts.get_mut(place) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        _ => true,
    });
    !at.is_empty()
}

/// Returns which message of its source this is, where it is one.
pub(crate) fn place(message: &Message) -> Option<usize> {
    match message.origin {
        Origin::Document(n) => Some(n as usize),
        _ => None,
    }
}

/// Returns message numbers in order, runs of them as such: ` (m1, m3-m5)`; of many runs the first and the last.
pub(crate) fn shown(places: &[usize]) -> String {
    /// Nobody reads more; the last says how far it goes.
    const RUNS: usize = 8;
    let mut places = places.to_vec();
    places.sort_unstable();
    places.dedup();
    let runs: Vec<&[usize]> = places.chunk_by(|before, after| before + 1 == *after).collect();
    let mut text = String::new();
    for (nth, run) in runs.iter().enumerate() {
        if runs.len() > RUNS && (RUNS - 1..runs.len() - 1).contains(&nth) {
            if nth == RUNS - 1 {
                text.push_str(", …");
            }
            continue;
        }
        let (first, last) = (run[0], run[run.len() - 1]);
        let comma = if text.is_empty() { " (" } else { ", " };
        let _ = match first == last {
            true => write!(text, "{comma}m{first}"),
            false => write!(text, "{comma}m{first}-m{last}"),
        };
    }
    if !text.is_empty() {
        text.push(')');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_messages_the_first_and_the_last_are_named() {
        assert_eq!(shown(&[]), "");
        assert_eq!(shown(&[5, 3, 1, 4]), " (m1, m3-m5)");
        let odd: Vec<usize> = (0..8).map(|nth| 2 * nth + 1).collect();
        assert_eq!(shown(&odd), " (m1, m3, m5, m7, m9, m11, m13, m15)");
        let odd: Vec<usize> = (0..200).map(|nth| 2 * nth + 1).collect();
        assert_eq!(shown(&odd), " (m1, m3, m5, m7, m9, m11, m13, …, m399)");
    }
}
