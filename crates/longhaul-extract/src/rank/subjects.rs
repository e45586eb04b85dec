//! What facts are about: one file may be named by several paths.

use super::{RankContext, Ranker};
use crate::{AtomKind, Fact, FactClass, FactIndex, expand};

/// The things a conversation is about, with their values. Paths that are suffixes of one longer path are one thing.
#[derive(Clone, Debug, Default)]
pub struct Subjects {
    subjects: Vec<Subject>,
    /// For each fact of the index, the subject it belongs to.
    of_fact: Vec<u32>,
}

/// One thing, under the longest name it has.
#[derive(Clone, Debug)]
pub struct Subject {
    /// Its history, all its names taken together; the name is the longest.
    pub fact: Fact,
    /// How much it is worth to keep (see [`Ranker`]).
    pub value: f64,
}

impl Subjects {
    /// Returns what the facts of `index` are about, valued by `ranker`. Order of first appearance.
    pub fn new(index: &FactIndex, ranker: &dyn Ranker) -> Subjects {
        let longest = longest_names(index.facts());
        let mut of_fact = vec![0; index.facts().len()];
        let mut by_longest: Vec<Option<u32>> = vec![None; index.facts().len()];
        let mut subjects: Vec<Subject> = Vec::new();
        for (fact, longest) in longest.into_iter().enumerate() {
            let id = *by_longest[longest].get_or_insert_with(|| {
                subjects.push(Subject { fact: index.facts()[longest].clone(), value: 0.0 });
                (subjects.len() - 1) as u32
            });
            of_fact[fact] = id;
            if fact != longest {
                subjects[id as usize].fact.absorb(&index.facts()[fact]);
            }
        }
        let context = RankContext::of(index);
        for subject in &mut subjects {
            subject.value = ranker.value(&subject.fact, &context).max(0.0);
        }
        Subjects { subjects, of_fact }
    }

    /// Returns all subjects.
    pub fn all(&self) -> &[Subject] {
        &self.subjects
    }

    /// Returns the `n` names that are worth most, the first one most of all: paths, numbers, identifiers, flags, addresses
    /// and symbols, no words. What has no value, such as a tool's own parameter names, is never among them.
    pub fn first(&self, n: usize) -> Vec<&str> {
        let is_name = |subject: &&Subject| !matches!(subject.fact.class(), FactClass::Word | FactClass::Name);
        let mut ranked: Vec<&Subject> =
            self.subjects.iter().filter(is_name).filter(|subject| subject.value > 0.0).collect();
        ranked.sort_by(|a, b| b.value.total_cmp(&a.value));
        ranked.into_iter().take(n).map(|subject| &*subject.fact.name).collect()
    }

    /// Returns the place in [`all`](Self::all) of what `name` names, where the index has it.
    pub fn named(&self, index: &FactIndex, name: &str) -> Option<usize> {
        index.position_of(name).map(|fact| self.of_fact[fact] as usize)
    }

    /// Returns the places in [`all`](Self::all) of everything that a mention of `name` makes known.
    pub fn known_by(&self, index: &FactIndex, name: &str, kind: AtomKind) -> Vec<u32> {
        let mut known = Vec::new();
        expand(name, kind, |part| {
            if let Some(subject) = index.position_of(part).map(|fact| self.of_fact[fact])
                && !known.contains(&subject)
            {
                known.push(subject);
            }
        });
        known
    }
}

impl Fact {
    /// Adds what is known of the same thing under another name.
    fn absorb(&mut self, other: &Fact) {
        self.mentions += other.mentions;
        // Two names of one thing often stand in the same message; the larger count is the safer one.
        self.messages = self.messages.max(other.messages);
        self.user = self.user.saturating_add(other.user);
        self.prose = self.prose.saturating_add(other.prose);
        self.key = self.key.saturating_add(other.key);
        self.body = self.body.saturating_add(other.body);
        self.output += other.output;
        self.read = self.read.saturating_add(other.read);
        self.edited = self.edited.saturating_add(other.edited);
        self.shell = self.shell.saturating_add(other.shell);
        self.in_task |= other.in_task;
        self.standing |= other.standing;
        self.first = self.first.min(other.first);
        self.last = self.last.max(other.last);
        self.last_assistant = self.last_assistant.max(other.last_assistant);
        self.first_message = self.first_message.min(other.first_message);
        self.last_message = self.last_message.max(other.last_message);
        self.crowd = self.crowd.min(other.crowd);
    }
}

/// Returns for each fact the fact whose name is the longest path that ends in it, where there is only one; else itself.
fn longest_names(facts: &[Fact]) -> Vec<usize> {
    let mut longest: Vec<usize> = (0..facts.len()).collect();
    // Each with its components from the last to the first, all in one text; no component holds the mark between them.
    let mut turned = String::new();
    let mut places: Vec<(std::ops::Range<usize>, usize)> = Vec::new();
    for (id, fact) in facts.iter().enumerate().filter(|(_, fact)| fact.kind.is_path()) {
        let start = turned.len();
        let mut rest = fact.name.trim_matches('/');
        while let Some(slash) = memchr::memrchr(b'/', rest.as_bytes()) {
            turned.extend([&rest[slash + 1..], "\0"]);
            rest = &rest[..slash];
        }
        turned.extend([rest, "\0"]);
        places.push((start..turned.len(), id));
    }
    // Sorted, each path stands right before those that end in it.
    let mut paths: Vec<(&str, usize)> = places.into_iter().map(|(place, id)| (&turned[place], id)).collect();
    paths.sort_unstable();
    // For each path: one past the last that ends in it, and the only longest of these.
    let mut reach: Vec<(usize, Option<usize>)> = vec![(0, None); paths.len()];
    for at in (0..paths.len()).rev() {
        let (mut next, mut branches) = (at + 1, 0);
        let mut only = Some(paths[at].1);
        while next < paths.len() && paths[next].0.starts_with(paths[at].0) {
            only = if branches == 0 { reach[next].1 } else { None };
            branches += 1;
            next = reach[next].0;
        }
        reach[at] = (next, only);
        if let Some(name) = only {
            longest[paths[at].1] = name;
        }
    }
    longest
}

#[cfg(test)]
mod tests {
    use longhaul_testkit::transcript;

    use super::*;
    use crate::DefaultRanker;

    #[test]
    fn the_names_of_one_file_are_one_subject() {
        let mut index = FactIndex::new();
        let said = transcript("user: /srv/a/src/one.rs src/one.rs one.rs; x/lib.rs y/lib.rs lib.rs");
        said.entries().iter().for_each(|entry| index.push(entry));
        let subjects = Subjects::new(&index, &DefaultRanker::default());
        let names: Vec<_> =
            subjects.all().iter().map(|subject| (&*subject.fact.name, subject.fact.mentions)).collect();
        assert_eq!(names, [("/srv/a/src/one.rs", 3), ("x/lib.rs", 1), ("y/lib.rs", 1), ("lib.rs", 1)]);
        let known = subjects.known_by(&index, "x/lib.rs", AtomKind::Path);
        assert_eq!(known, [1, 3]); // the bare name may mean either, so it is its own subject
    }

    #[test]
    fn the_first_names_are_those_of_the_task_and_no_words() {
        let mut index = FactIndex::new();
        let said = transcript(
            "user: Mend src/dial.rs, where the retry budget of 4812 ms is ignored\nassistant: Looking.",
        );
        said.entries().iter().for_each(|entry| index.push(entry));
        let subjects = Subjects::new(&index, &DefaultRanker::default());
        let first = subjects.first(20);
        assert!(first.contains(&"src/dial.rs") && first.contains(&"4812"), "{first:?}");
        assert!(!first.contains(&"budget"), "{first:?}");
        assert_eq!(subjects.first(1), first[..1]);
    }
}
