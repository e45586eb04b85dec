//! One run of the measure over a folder of recordings.

use std::{
    collections::{BTreeMap, HashMap},
    fs,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use anyhow::{Context, Result};
use longhaul_extract::{DefaultRanker, Weights};
use longhaul_summarize::rules::RulesOptions;

use super::{
    load::load,
    methods::{self, Past},
    ours::Before,
    score::{Lines, Piece, have, is_kept, recall},
    session::{Demanded, Group, Read, Session, Where, known, mentions, unique_bases},
    train,
    weigh::Weigher,
};

/// The budgets of the tables, in tokens.
pub const BUDGETS: [usize; 5] = [1000, 2000, 4000, 8000, 16000];

/// What one method reached at one cut and budget.
#[derive(Clone, Debug)]
pub struct Row {
    /// The file.
    pub file: String,
    /// Its project.
    pub project: String,
    /// Its kind of work.
    pub group: Group,
    /// The method.
    pub method: &'static str,
    /// Tokens allowed.
    pub budget: usize,
    /// Tokens used.
    pub used: usize,
    /// Kept share of what is asked for in prose and key fields.
    pub literal: f64,
    /// The same, in a line like the one it came from.
    pub anchored: f64,
    /// Kept share of what plain truncation loses; `None` where it loses nothing.
    pub old: Option<f64>,
    /// Kept share of what is asked for in body fields.
    pub body: Option<f64>,
    /// Literals of the summary that the past does not hold; none for methods without a summary.
    pub invented: Vec<String>,
    /// Literals of the summary.
    pub stated: usize,
}

/// Reads all recordings under `root` (a folder for each format), segments of six messages or more.
pub fn sessions(root: &Path) -> Result<Vec<Session>> {
    let mut sessions = Vec::new();
    for format in sorted(root)? {
        let dir = root.join(&format);
        if !dir.is_dir() {
            continue;
        }
        for file in sorted(&dir)? {
            let segments =
                load(&format, &dir.join(&file)).with_context(|| format!("loading {format}/{file}"))?;
            let long = segments.iter().filter(|segment| segment.len() >= 6);
            sessions.extend(long.map(|segment| Session::new(&format, &file, segment)));
        }
    }
    Ok(sessions)
}

fn sorted(dir: &Path) -> Result<Vec<String>> {
    let entries = fs::read_dir(dir).with_context(|| format!("listing {}", dir.display()))?;
    let mut names: Vec<String> =
        entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect::<Result<_>>()?;
    names.sort();
    Ok(names)
}

/// Settings of a run.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Settings of our own method.
    pub options: RulesOptions,
    /// Whether the baselines run too.
    pub baselines: bool,
    /// Whether each coding project is ranked by weights that were fitted without it.
    pub left_out: bool,
}

/// Our own method in the tables.
pub const OURS: &str = "longhaul";

type Method = for<'a> fn(&Past<'a>, usize) -> Vec<Piece<'a>>;

const BASELINES: [(&str, Method); 7] = [
    ("tail", methods::plain_tail),
    ("head+tail", methods::head_tail),
    ("mask10", methods::mask10),
    ("clip200", methods::clip200),
    ("seed001", methods::seed001),
    ("seed003", methods::seed003),
    ("oracle", methods::oracle),
];

/// Measures all sessions, on two threads. The rows come in the sessions' order whatever the threads do.
pub fn measure_all(sessions: &[Session], weigher: &Weigher, settings: &Settings) -> Vec<Row> {
    let cuts = if settings.left_out { train::cuts(sessions, weigher, Group::Coding) } else { Vec::new() };
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(session) = sessions.get(at) else { return done };
            let mut settings = settings.clone();
            if settings.left_out && session.group == Group::Coding {
                let others = cuts.iter().filter(|cut| cut.project != session.project);
                let weights = Weights::from_array(train::fit(others, &[true; train::COUNT]));
                settings.options.ranker = Arc::new(DefaultRanker { weights: Some(weights) });
            }
            done.push((at, measure(session, weigher, &settings)));
        }
    };
    let mut parts: Vec<(usize, Vec<Row>)> = std::thread::scope(|scope| {
        let other = scope.spawn(work);
        let mut mine = work();
        mine.extend(other.join().unwrap_or_default());
        mine
    });
    parts.sort_by_key(|(at, _)| *at);
    parts.into_iter().flat_map(|(_, rows)| rows).collect()
}

/// Measures one session at all cuts and budgets.
pub fn measure(session: &Session, weigher: &Weigher, settings: &Settings) -> Vec<Row> {
    let mut rows = Vec::new();
    let is_chat = session.group == Group::Talk;
    if session.group == Group::Coding && session.tokens() < 4000 {
        return rows;
    }
    for share in [0.5, 0.7, 0.9] {
        let Some(cut) = session.cut(share) else { continue };
        let all = session.demand(cut);
        let of = |places: &[Where]| -> HashMap<String, Demanded> {
            let wanted = all.iter().filter(|(_, demanded)| places.contains(&demanded.place));
            wanted.map(|(name, demanded)| (name.clone(), demanded.clone())).collect()
        };
        let (main, body) = (of(&[Where::Prose, Where::Key]), of(&[Where::Body]));
        if main.len() < 2 {
            continue;
        }
        let weight = |name: &str, kind| weigher.weight(name, kind, &session.project);
        let weights =
            main.iter().map(|(name, demanded)| (name.clone(), weight(name, demanded.kind))).collect();
        let past = Past { messages: &session.messages[..cut], demand: &main, weights: &weights };
        let tokens: usize = past.messages.iter().map(|read| read.tokens).sum();
        let unique = unique_bases(past.messages);
        let source = Lines::holding(past.messages.iter().map(|read| read.body.as_str()), &main);
        let before = Before::new(session, cut);
        for budget in BUDGETS.into_iter().filter(|budget| tokens as f64 >= 1.5 * *budget as f64) {
            let mut results: Vec<(&'static str, Vec<Piece<'_>>)> = Vec::new();
            if settings.baselines {
                results.extend(BASELINES.iter().map(|(name, method)| (*name, method(&past, budget))));
            }
            let compacted = before.compact(budget, None, &settings.options);
            results.extend(compacted.as_ref().map(|compacted| (OURS, before.pieces(compacted))));
            let tail = have(&methods::plain_tail(&past, budget), is_chat);
            let lost: HashMap<String, Demanded> = main
                .iter()
                .filter(|(name, demanded)| !is_kept(name, demanded.kind, &tail, &unique))
                .map(|(name, demanded)| (name.clone(), demanded.clone()))
                .collect();
            for (method, pieces) in results {
                let seen = have(&pieces, is_chat);
                let kept = |name: &str, kind| is_kept(name, kind, &seen, &unique);
                let lines = Lines::holding(pieces.iter().map(Piece::text), &main);
                let Some(literal) = recall(&main, weight, kept) else { continue };
                let in_line = |name: &str, kind| kept(name, kind) && lines.is_anchored(name, &source);
                let anchored = recall(&main, weight, in_line);
                let (stated, invented) = match (method, &compacted) {
                    (OURS, Some(compacted)) => faithfulness(&compacted.record.text, past.messages),
                    _ => (0, Vec::new()),
                };
                rows.push(Row {
                    file: session.file.clone(),
                    project: session.project.clone(),
                    group: session.group,
                    method,
                    budget,
                    used: match (method, &compacted) {
                        (OURS, Some(compacted)) => compacted.outcome.tokens_after.0 as usize,
                        _ => pieces.iter().map(Piece::tokens).sum(),
                    },
                    literal,
                    anchored: anchored.unwrap_or(0.0),
                    old: recall(&lost, weight, kept),
                    body: recall(&body, weight, kept),
                    invented,
                    stated,
                });
            }
        }
    }
    rows
}

/// Returns how many literals `text` states, and those that no message holds. A path under the stated root or a directory
/// is held where a path of the past contains it.
fn faithfulness(text: &str, past: &[Read]) -> (usize, Vec<String>) {
    let stated = mentions(text, false, Where::Output);
    let held = |atom: &str| past.iter().any(|read| read.body.contains(atom) || read.raw.text.contains(atom));
    let known = known(past);
    let invented = stated
        .iter()
        .filter(|mention| !known.contains(&mention.atom) && !held(&mention.atom))
        .map(|mention| mention.atom.clone());
    (stated.len(), invented.collect())
}

/// Returns the mean of each file's values, by file.
pub fn by_file<'r>(rows: impl Iterator<Item = &'r Row>, value: impl Fn(&Row) -> Option<f64>) -> Vec<f64> {
    let mut files: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for row in rows {
        if let Some(value) = value(row) {
            files.entry(&row.file).or_default().push(value);
        }
    }
    files.values().map(|values| values.iter().sum::<f64>() / values.len() as f64).collect()
}
