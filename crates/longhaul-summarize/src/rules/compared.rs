//! What the records in an answer come to where a person asked for the cheapest or the dearest: which it is, and what it costs.

use longhaul_extract::{Domain, Statement};
use longhaul_transcript::{Tokens, clipped};

use super::{
    fixed::Fixed,
    records::{fields, names_id, results},
    render::fenced,
};

/// Which end of the records a person asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Lowest,
    Highest,
}

/// A record with a price.
#[derive(Debug)]
struct Priced<'p> {
    /// The name of its id and the id.
    id: (&'p str, &'p str),
    price: (f64, &'p str),
    /// Whether it can be had, where the records say so.
    available: Option<bool>,
}

impl Fixed<'_> {
    /// What records of one answer have the lowest or the highest price, by what a person asked for. A line for each answer, the
    /// newest of them, oldest first.
    pub(super) fn compared(&mut self) {
        let index = self.request.index;
        if index.domain() != Domain::Service {
            return;
        }
        let persons = self.few.persons.iter().copied().chain(self.persons_kept());
        let mut ends: Vec<End> = persons.filter_map(|(_, text)| end(text)).collect();
        ends.dedup();
        let Some(end) = ends.last().copied() else { return };
        let entries = self.request.entries;
        let is_covered = |one: &Statement| {
            entries.binary_search_by_key(&u64::from(one.message), |entry| entry.id.ordinal).is_ok()
        };
        let pool = index.statements();
        let mut left = self.room(SHARE);
        let mut lines: Vec<String> = Vec::new();
        let mut told: Vec<String> = Vec::new();
        for places in results(pool).into_iter().rev() {
            let parts: Vec<&Statement> = places.iter().map(|at| &pool.all()[*at]).collect();
            let Some(first) = parts.first().filter(|first| is_covered(first)) else { continue };
            let Some(line) = line(&parts, end) else { continue };
            let name = name(&parts).or_else(|| pool.source(first).map(|source| &*source.label));
            let name = clipped(name.unwrap_or("records"), NAME_CHARS);
            // What was read again is told as it stood last.
            if told.contains(&name) {
                continue;
            }
            let line = format!("m{} {name}: {line}", first.message);
            let cost = self.cost(&line) + Tokens(1);
            if cost > left {
                break;
            }
            left -= cost;
            lines.push(line);
            told.push(name);
        }
        lines.reverse();
        if !lines.is_empty() {
            self.add("## Compared, as was asked".into(), fenced(lines.join("\n")));
        }
    }
}

/// Returns which end of records somebody asks for; the last where both are.
fn end(text: &str) -> Option<End> {
    let lower = text.to_lowercase();
    let last = |words: &[&str]| words.iter().filter_map(|word| lower.rfind(word)).max();
    let (low, high) = (last(&LOW), last(&HIGH));
    match (low, high) {
        (None, None) => None,
        (low, high) if low > high => Some(End::Lowest),
        _ => Some(End::Highest),
    }
}

/// Returns the line for an answer of several records with a price.
fn line(parts: &[&Statement], end: End) -> Option<String> {
    let priced: Vec<Priced<'_>> = parts.iter().filter_map(|part| priced(&part.text)).collect();
    let is_known = priced.iter().all(|one| one.available.is_some());
    let may_be: Vec<&Priced<'_>> =
        priced.iter().filter(|one| !is_known || one.available == Some(true)).collect();
    // What is to be had at least cost is looked for among what can be had; what somebody has already is no choice.
    let is_choice = is_known || end == End::Highest;
    if priced.len() < LEAST_RECORDS || may_be.is_empty() || !is_choice {
        return None;
    }
    let prices = may_be.iter().map(|one| one.price);
    let better = |one: (f64, _), other: (f64, _)| match end {
        End::Lowest => other.0 < one.0,
        End::Highest => other.0 > one.0,
    };
    let (best, spelled) = prices.reduce(|one, other| if better(one, other) { other } else { one })?;
    let ids: Vec<String> = may_be
        .iter()
        .filter(|one| one.price.0 == best)
        .map(|one| format!("{} {}", one.id.0, one.id.1))
        .collect();
    let word = if end == End::Lowest { "lowest" } else { "highest" };
    let of = if is_known { " of those available" } else { "" };
    Some(format!("{word} price{of} {spelled} ({})", ids.join(", ")))
}

/// Reads a record that has one id and one price.
fn priced(text: &str) -> Option<Priced<'_>> {
    let all = fields(text);
    let mut prices = all.iter().filter(|(name, _)| *name == "price");
    let (_, spelled) = prices.next().filter(|_| prices.next().is_none())?;
    let value: f64 = spelled.parse().ok()?;
    let mut ids = all.iter().filter(|(name, value)| names_id(name) && !value.is_empty());
    // A thing has the id of what it is an instance of beside its own.
    let (name, id) = ids.clone().find(|(name, _)| name.starts_with("item")).or(ids.next())?;
    let available = all.iter().find(|(name, _)| *name == "available").map(|(_, value)| *value == "true");
    Some(Priced { id: (name, id.trim_matches('"')), price: (value, spelled), available })
}

/// Returns what the records are called as a whole: the name in what stands before them.
fn name<'p>(parts: &[&'p Statement]) -> Option<&'p str> {
    let head = parts.first().filter(|first| priced(&first.text).is_none())?;
    let (_, value) = fields(&head.text).into_iter().find(|(name, _)| *name == "name")?;
    Some(value.trim_matches('"')).filter(|name| !name.is_empty())
}

const LOW: [&str; 9] = [
    "cheapest",
    "lowest",
    "least expensive",
    "günstigst",
    "billigst",
    "más barat",
    "moins cher",
    "mais barat",
    "最便宜",
];

const HIGH: [&str; 6] = ["most expensive", "highest price", "priciest", "teuerst", "más car", "最贵"];

/// Fewer records are compared at a glance.
const LEAST_RECORDS: usize = 3;

/// Share of the limit that they may take.
const SHARE: f64 = 0.08;

/// Characters of what records are called.
const NAME_CHARS: usize = 60;
