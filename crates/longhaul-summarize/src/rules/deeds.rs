//! What calls changed outside the files: bookings, orders, issues, messages that were sent. Whoever goes on must not do it again.

use longhaul_transcript::Tokens;

use super::{acts::Acts, deed::Deed, fixed::Fixed, heading::Heading, lines::fenced};

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
            self.add_about(Heading::Deeds, &more, fenced(lines.join("\n")));
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
