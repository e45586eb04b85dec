//! Files that were written anew: which of their lines had stood there before, and which are gone.

use hashbrown::{HashMap, HashSet};
use longhaul_extract::{Act, ToolFamily, call_failed, each_act, statement_key, strip_line_numbers};
use longhaul_transcript::{Entry, ToolResult};

/// The calls that read or write a file, as they come.
#[derive(Clone, Debug, Default)]
pub(crate) struct Visits {
    all: Vec<Visit>,
}

#[derive(Clone, Debug)]
struct Visit {
    message: u64,
    answered: Option<u64>,
    path: Box<str>,
    is_whole: bool,
}

impl Visits {
    pub(crate) fn take(&mut self, act: &Act<'_>) {
        let family = act.call.family();
        if let Some(path) = act.call.path().filter(|_| family == ToolFamily::Read || family.changes_files()) {
            self.all.push(Visit {
                message: act.message,
                answered: act.result.map(|(answered, _)| answered),
                path: path.into(),
                is_whole: family == ToolFamily::Write,
            });
        }
    }

    /// Returns the files that were written as a whole after they had been seen.
    fn written_anew(&self) -> HashSet<&str> {
        let mut seen = HashSet::new();
        if !self.all.iter().any(|visit| visit.is_whole) {
            return seen;
        }
        let anew = self.all.iter().filter(|visit| !seen.insert(&*visit.path) && visit.is_whole);
        anew.map(|visit| &*visit.path).collect()
    }
}

/// What writing files anew left as it was, and what it took away.
#[derive(Debug, Default)]
pub(crate) struct Anew {
    /// Lines that a message writes and that had stood in the file, by message and key.
    stood: HashSet<(u32, u32)>,
    /// The message that took a line away, by file and key.
    gone: HashMap<String, HashMap<u32, u32>>,
}

impl Anew {
    /// Reads the files among `visits` that were written anew; `entries` has the calls.
    pub(crate) fn read(entries: &[Entry], visits: &Visits) -> Anew {
        let paths = visits.written_anew();
        let mut anew = Anew::default();
        if paths.is_empty() {
            return anew;
        }
        let of_paths = visits.all.iter().filter(|visit| paths.contains(&*visit.path));
        let wanted: HashSet<u64> =
            of_paths.flat_map(|visit| [Some(visit.message), visit.answered]).flatten().collect();
        let of_paths: Vec<Entry> =
            entries.iter().filter(|entry| wanted.contains(&entry.id.ordinal)).cloned().collect();
        let mut known: HashMap<&str, HashSet<u32>> = HashMap::new();
        each_act(&of_paths, |act| {
            let path = act.call.path().and_then(|path| paths.get(path));
            let result = act.result.map(|(_, result)| result);
            // A call that nobody answered took nothing away.
            let is_done = |result: &ToolResult| !call_failed(&act.call, result);
            let Some(path) = path.filter(|_| result.is_some_and(is_done)) else { return };
            let known = known.entry(path).or_default();
            match (act.call.family(), result) {
                (ToolFamily::Read, Some(result)) => {
                    known.extend(keys(&strip_line_numbers(&result.joined_text())))
                }
                (ToolFamily::Write, _) => {
                    let written: HashSet<u32> = written(act);
                    let message = ordinal(act.message);
                    anew.stood.extend(written.intersection(known).map(|key| (message, *key)));
                    let gone = anew.gone.entry((*path).to_owned()).or_default();
                    gone.extend(known.difference(&written).map(|key| (*key, message)));
                    *known = written;
                }
                (family, _) if family.changes_files() => known.extend(written(act)),
                _ => {}
            }
        });
        anew
    }

    /// Returns whether a line that `message` writes had stood in the file before.
    pub(crate) fn stood(&self, message: u32, key: u32) -> bool {
        self.stood.contains(&(message, key))
    }

    /// Returns whether a line that `message` showed or wrote in the file at `path` is gone since the file was written anew.
    pub(crate) fn is_gone(&self, path: &str, key: u32, message: u32) -> bool {
        self.gone.get(path).and_then(|gone| gone.get(&key)).is_some_and(|by| *by > message)
    }
}

/// Returns the keys of all lines that a call hands on.
fn written(act: &Act<'_>) -> HashSet<u32> {
    act.call.fields().iter().flat_map(|field| keys(&field.text).collect::<Vec<_>>()).collect()
}

fn keys(text: &str) -> impl Iterator<Item = u32> {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).map(statement_key)
}

pub(super) fn ordinal(message: u64) -> u32 {
    u32::try_from(message).unwrap_or(u32::MAX)
}
