//! Lines that begin alike: what tells a log without times from what a person typed.

use std::borrow::Cow;

use hashbrown::HashMap;

use crate::constraints::demand::has_demand;

/// The lines of a paragraph by how they begin.
#[derive(Default)]
pub(super) struct Crowd<'t> {
    lines: HashMap<Cow<'t, str>, Vec<&'t str>>,
}

impl<'t> Crowd<'t> {
    /// Returns the crowd of a paragraph; an empty one where it is too short for a log that is told by nothing else.
    pub(super) fn of(paragraph: &'t str) -> Crowd<'t> {
        let mut crowd = Crowd::default();
        let lines = || paragraph.lines().filter(|line| !line.trim().is_empty());
        if lines().nth(LEAST_LINES).is_none() {
            return crowd;
        }
        for line in lines() {
            if let Some(start) = start(line) {
                crowd.lines.entry(start).or_default().push(line);
            }
        }
        crowd
    }

    /// Returns whether many lines begin as `line` does.
    pub(super) fn has(&self, line: &str) -> bool {
        let alike = start(line).and_then(|start| self.lines.get(&start));
        alike.is_some_and(|alike| alike.len() >= LEAST_ALIKE)
    }

    /// Returns whether at least half of the `n_lines` of the paragraph have many that begin alike, and few of these demand anything: a
    /// person lists rules that begin alike.
    pub(super) fn is_log(&self, n_lines: usize) -> bool {
        let crowded = || self.lines.values().filter(|alike| alike.len() >= LEAST_ALIKE);
        let n_crowded: usize = crowded().map(Vec::len).sum();
        let demands = |alike: &Vec<&str>| {
            let sample = alike.iter().step_by(alike.len().div_ceil(SAMPLE));
            let n_demands = sample.clone().filter(|line| has_demand(line.trim())).count();
            n_demands * alike.len() / sample.count().max(1)
        };
        n_crowded > 0 && n_crowded * 2 >= n_lines && crowded().map(demands).sum::<usize>() * 4 < n_crowded
    }
}

/// Returns how a line begins: its first word, where that is one of letters alone; of a path or an identifier the shape. `None` of an item of
/// a list and of what somebody is said to say (`Anna: …`).
fn start(line: &str) -> Option<Cow<'_, str>> {
    let word = line.split_whitespace().next()?;
    let is_marker = word.len() <= 4
        && word.trim_end_matches(['.', ')', ':']).bytes().all(|b| b.is_ascii_digit())
        || matches!(word, "-" | "*" | "•" | "–" | "+" | "#" | "##" | "###" | ">" | "|");
    let is_speaker = word.ends_with(':') && word.starts_with(char::is_uppercase);
    if is_marker || is_speaker {
        return None;
    }
    if word.chars().all(char::is_alphabetic) {
        return Some(Cow::Borrowed(word));
    }
    let mut shape = String::with_capacity(word.len());
    for c in word.chars() {
        let class = match c {
            c if c.is_alphabetic() => 'a',
            c if c.is_numeric() => '0',
            c => c,
        };
        if !shape.ends_with(class) {
            shape.push(class);
        }
    }
    Some(Cow::Owned(shape))
}

/// Lines of the shortest log that is told by lines that begin alike.
const LEAST_LINES: usize = 24;

/// Lines that begin alike from which on they are a crowd.
const LEAST_ALIKE: usize = 8;

/// Lines of a crowd that are read for what they demand.
const SAMPLE: usize = 32;
