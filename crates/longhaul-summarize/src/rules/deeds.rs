//! What calls changed outside the files: bookings, orders, issues, messages that were sent. Whoever goes on must not do it again.

use longhaul_extract::{Act, call_failed};
use longhaul_transcript::{FileNote, Tokens, clipped};

use super::{acts::Acts, fixed::Fixed, render::fenced};

/// A call that changes a record and was answered without an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Deed {
    pub(super) message: u64,
    /// The tool and what it was told.
    told: String,
    /// The same in a few words: what it was told first.
    brief: String,
}

impl Deed {
    /// Returns what a call did, where it changes a record and nothing says that it failed.
    pub(super) fn of(act: &Act<'_>) -> Option<Deed> {
        let (_, result) = act.result.filter(|_| act.call.changes_record())?;
        if call_failed(&act.call, result) {
            return None;
        }
        let name = act.call.name();
        let fields = act.call.fields();
        // Items of one array stand under one key.
        let is_next = |at: usize| at > 0 && fields[at - 1].key == fields[at].key;
        let text = |at: usize| clipped(&fields[at].text, FIELD_CHARS);
        let named = |at: usize| match is_next(at) {
            true => text(at),
            false => format!("{} {}", fields[at].key, text(at)),
        };
        let all: Vec<String> = (0..fields.len()).map(named).collect();
        let few: Vec<String> = (0..fields.len().min(BRIEF_FIELDS)).map(text).collect();
        let line = |fields: &[String]| FileNote::spelled(format!("{name} {}", fields.join(", ")).trim_end());
        Some(Deed { message: act.message, told: clipped(&line(&all), DEED_CHARS), brief: line(&few) })
    }
}

impl Fixed<'_> {
    /// The calls that changed records, the newest of them, oldest first; in a few words where that lets more of them in.
    pub(super) fn deeds(&mut self, acts: &Acts) {
        let stays = |deed: &&Deed| self.request.kept.iter().any(|entry| entry.id.ordinal == deed.message);
        let all: Vec<&Deed> = acts.deeds.iter().filter(|deed| !stays(deed)).collect();
        let whole = self.newest(all.iter().map(|deed| format!("m{} {}", deed.message, deed.told)));
        let lines = match whole.len() == all.len() {
            true => whole,
            false => self.newest(all.iter().map(|deed| format!("m{} {}", deed.message, deed.brief))),
        };
        if !lines.is_empty() {
            let before = all.len() - lines.len();
            let more = if before > 0 { format!(", {before} more before them") } else { String::new() };
            let heading = format!("## Calls that changed something, answered without an error{more}");
            self.add(heading, fenced(lines.join("\n")));
        }
    }

    /// Returns the last of `lines` that there is room for.
    fn newest(&self, lines: impl DoubleEndedIterator<Item = String>) -> Vec<String> {
        let mut left = self.room(DEEDS_SHARE);
        let fits = |line: &String| {
            let cost = self.cost(line) + Tokens(1);
            let fits = cost <= left;
            left -= cost;
            fits
        };
        let mut newest: Vec<String> = lines.rev().take_while(fits).collect();
        newest.reverse();
        newest
    }
}

/// Share of the limit that they may take.
const DEEDS_SHARE: f64 = 0.2;

/// Characters of one argument.
const FIELD_CHARS: usize = 60;

/// Characters of what is told of a call.
const DEED_CHARS: usize = 200;

/// How many arguments are told in a few words.
const BRIEF_FIELDS: usize = 2;
