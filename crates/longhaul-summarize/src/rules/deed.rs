//! A call that changed something outside the files.

use longhaul_extract::{Act, call_failed};
use longhaul_transcript::{FileNote, clipped};

/// A call that changes a record and was answered without an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Deed {
    pub(super) message: u64,
    /// The tool and what it was told.
    pub(super) told: String,
    /// The same in a few words: what it was told first.
    pub(super) brief: String,
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
        let by = if act.is_users { BY_THE_USER } else { "" };
        let told = clipped(&line(&all), DEED_CHARS) + by;
        Some(Deed { message: act.message, told, brief: line(&few) + by })
    }
}

/// Stands behind what the user's side did by itself.
const BY_THE_USER: &str = " (by the user)";

/// Characters of one argument.
const FIELD_CHARS: usize = 60;

/// Characters of what is told of a call.
const DEED_CHARS: usize = 200;

/// How many arguments are told in a few words.
const BRIEF_FIELDS: usize = 2;
