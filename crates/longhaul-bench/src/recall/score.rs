//! What a compacted context still knows of what the future asks for.

use std::collections::{HashMap, HashSet};

use longhaul_extract::{AtomKind, expand};

use super::session::{Demanded, Mention, Read, Where, mentions};

/// One piece of a compacted context: a message as it was, or text.
#[derive(Clone, Debug)]
pub enum Piece<'a> {
    /// A whole message.
    Whole(&'a Read),
    /// A message that the compaction made or shortened.
    Made(Box<Read>),
    /// Text.
    Text(String),
}

impl Piece<'_> {
    /// Returns its tokens.
    pub fn tokens(&self) -> usize {
        match self {
            Piece::Whole(read) => read.tokens,
            Piece::Made(read) => read.tokens,
            Piece::Text(text) => super::session::count(text),
        }
    }

    /// Returns its text.
    pub fn text(&self) -> &str {
        match self {
            Piece::Whole(read) => &read.body,
            Piece::Made(read) => &read.body,
            Piece::Text(text) => text,
        }
    }
}

/// What a compacted context makes known.
pub fn have(pieces: &[Piece<'_>], is_chat: bool) -> HashSet<String> {
    let mut known = HashSet::new();
    let mut add = |mention: &Mention| {
        expand(&mention.atom, mention.kind, |part| {
            known.insert(part.to_string());
        });
    };
    for piece in pieces {
        match piece {
            Piece::Whole(read) => read.mentions.iter().for_each(&mut add),
            Piece::Made(read) => read.mentions.iter().for_each(&mut add),
            Piece::Text(text) => mentions(text, is_chat, Where::Output).iter().for_each(&mut add),
        }
    }
    known
}

/// Returns whether `name` is known: itself, or for a path a suffix of two components or more, or a last name that
/// stands for one path only.
pub fn is_kept(name: &str, kind: AtomKind, known: &HashSet<String>, unique: &HashSet<String>) -> bool {
    if known.contains(name) {
        return true;
    }
    if kind != AtomKind::Path {
        return false;
    }
    suffixes(name).any(|suffix| known.contains(suffix)) || {
        let base = name.trim_matches('/').rsplit('/').next().unwrap_or(name);
        unique.contains(base) && known.contains(base)
    }
}

/// Returns the suffixes of two components or more, shorter than the whole.
fn suffixes(name: &str) -> impl Iterator<Item = &str> {
    let mut rest = name.trim_matches('/');
    std::iter::from_fn(move || {
        rest = rest.split_once('/')?.1;
        rest.contains('/').then_some(rest)
    })
}

/// Returns the kept share of the demanded weight, or `None` where nothing is demanded.
pub fn recall(
    demand: &HashMap<String, Demanded>,
    weight: impl Fn(&str, AtomKind) -> f64,
    is_kept: impl Fn(&str, AtomKind) -> bool,
) -> Option<f64> {
    let (mut kept, mut all) = (0.0, 0.0);
    for (name, demanded) in demand {
        let weight = weight(name, demanded.kind);
        all += weight;
        if is_kept(name, demanded.kind) {
            kept += weight;
        }
    }
    (all > 0.0).then(|| kept / all)
}

/// For each demanded fact the words of the lines that hold it.
#[derive(Debug, Default)]
pub struct Lines {
    of: HashMap<String, Vec<HashSet<String>>>,
}

impl Lines {
    /// Reads the lines of `texts` that hold one of `names`.
    pub fn holding<'a>(texts: impl Iterator<Item = &'a str>, names: &HashMap<String, Demanded>) -> Lines {
        let mut of: HashMap<String, Vec<HashSet<String>>> = HashMap::new();
        let names: Vec<(&String, Vec<&str>)> = names
            .iter()
            .map(|(name, demanded)| {
                let mut forms = vec![name.as_str()];
                if demanded.kind == AtomKind::Path {
                    forms.extend(suffixes(name));
                }
                // The shortest form is a part of all others.
                (name, vec![forms[forms.len() - 1]])
            })
            .collect();
        for line in texts.flat_map(str::lines) {
            let mut words = None;
            for (name, forms) in &names {
                if forms.iter().any(|form| line.contains(form)) {
                    let words = words.get_or_insert_with(|| words_of(line));
                    of.entry((*name).clone()).or_default().push(words.clone());
                }
            }
        }
        Lines { of }
    }

    /// Returns whether `name` stands in a line like one of `source`'s: a Jaccard index of 0.3 or more.
    pub fn is_anchored(&self, name: &str, source: &Lines) -> bool {
        let (Some(here), Some(there)) = (self.of.get(name), source.of.get(name)) else { return false };
        here.iter().any(|line| there.iter().any(|other| jaccard(line, other) >= 0.3))
    }
}

fn words_of(line: &str) -> HashSet<String> {
    line.split(|c: char| !c.is_alphabetic())
        .filter(|word| word.chars().nth(2).is_some())
        .map(str::to_lowercase)
        .collect()
}

fn jaccard(one: &HashSet<String>, other: &HashSet<String>) -> f64 {
    let both = one.intersection(other).count();
    let either = one.len() + other.len() - both;
    if either == 0 { 0.0 } else { both as f64 / either as f64 }
}
