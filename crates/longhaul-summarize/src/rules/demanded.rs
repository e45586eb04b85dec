//! What persons demand and what they mark, as the constraints of a summary.

use longhaul_extract::{DemandReader, constraints, speaker::Speakers};
use longhaul_transcript::{Constraint, Entry};

use super::{few::FewOf, marked};

/// The demands that a conversation begins with, read: whoever summarizes a little more or less of it goes on from there.
#[derive(Debug)]
pub(super) struct DemandFront {
    /// Where the conversation begins that these are the first demands of.
    place: usize,
    n_read: usize,
    reader: DemandReader,
}

/// The last part of a conversation is read again for another summary of it: so much of what may demand something.
const LAST_PART: usize = 16;

/// Returns what persons demand in a part of a conversation and, but where people talk, what they mark, oldest first. Where it begins
/// at a `place` in the conversation, its `front` may be read already.
pub(super) fn demanded(
    few: FewOf<'_>,
    speakers: &Speakers,
    is_talk: bool,
    place: Option<usize>,
    front: &mut Option<DemandFront>,
) -> Vec<Constraint> {
    let mut all = match place {
        Some(place) => read_on(few.demanding, speakers, place, front),
        None => constraints(few.demanding, speakers),
    };
    let marked = if is_talk { Vec::new() } else { marked::lines(few.users, speakers) };
    for (message, text) in marked {
        let is_known = |known: &Constraint| known.text.contains(&text) || text.contains(&known.text);
        match all.iter_mut().find(|known| is_known(known)) {
            Some(known) if known.text.len() < text.len() => known.text = text,
            Some(_) => {}
            None => all.push(Constraint { text, message, ..Constraint::default() }),
        }
    }
    all.sort_by_key(|constraint| constraint.message);
    all
}

fn read_on(
    entries: &[Entry],
    speakers: &Speakers,
    place: usize,
    front: &mut Option<DemandFront>,
) -> Vec<Constraint> {
    let leads = |front: &DemandFront| front.place == place && front.n_read <= entries.len();
    let known = front.take().filter(leads).unwrap_or_else(|| {
        let n_read = entries.len() - entries.len() / LAST_PART;
        let mut reader = DemandReader::default();
        entries[..n_read].iter().for_each(|entry| reader.read(entry, speakers));
        DemandFront { place, n_read, reader }
    });
    let mut reader = known.reader.clone();
    entries[known.n_read..].iter().for_each(|entry| reader.read(entry, speakers));
    *front = Some(known);
    reader.constraints()
}
