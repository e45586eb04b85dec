//! A summary of what was said before the messages at hand: all there is of it.

use std::ops::Range;

use longhaul_extract::speaker::Speakers;
use longhaul_transcript::{Entry, Tokens, has_summary_header, parse_summary};

use super::{few::FewOf, fixed::Fixed, frames::is_frame, heading::Heading};
use crate::sentences::sentences;

/// The newest earlier summary among the entries.
#[derive(Debug)]
pub(super) struct Earlier<'e> {
    entry: &'e Entry,
    text: &'e str,
    is_ours: bool,
    lines: Vec<Line>,
}

impl<'e> Earlier<'e> {
    pub(super) fn find(few: FewOf<'e>, speakers: &Speakers) -> Option<Earlier<'e>> {
        let of = |entry: &'e Entry| speakers.summary(&entry.message);
        // One of ours stands in front of all that was said; behind that somebody only writes like us.
        let n_in_front = few.users.iter().take_while(|entry| of(entry).is_some()).count();
        let brings = |(at, entry): (usize, &'e Entry)| {
            let text = of(entry).filter(|text| at < n_in_front || parse_summary(text).is_none())?;
            Some((entry, text))
        };
        let (entry, text) = few.users.iter().enumerate().rev().find_map(brings)?;
        let is_ours = parse_summary(text).is_some();
        let mut lines = lines(text);
        if !is_ours {
            // What was open then may be done since.
            let open = lines.iter_mut().filter(|line| line.tells_open());
            open.for_each(|line| line.text.insert_str(0, "[as of then] "));
        }
        Some(Earlier { entry, text, is_ours, lines })
    }
}

impl Fixed<'_> {
    /// An earlier summary that the entries hold is told on as far as there is room, where it does not stay as it is.
    pub(super) fn earlier(&mut self, earlier: &Earlier<'_>) {
        let Earlier { entry, text, .. } = earlier;
        if self.request.kept.iter().any(|kept| kept.message.texts().any(|shown| shown.contains(text))) {
            return;
        }
        let lines = self.pieces(earlier.lines.clone());
        let mut body: Vec<String> = Vec::new();
        let mut end = 0;
        for told in self.chosen(&lines, earlier.is_ours) {
            let fence = |at: usize| {
                let open = at.checked_sub(1).and_then(|before| lines[before].fence);
                open.filter(|_| !told.is_empty()).map(|ticks| "`".repeat(ticks))
            };
            if told.start > end && end > 0 {
                body.push(LEFT_OUT.to_owned());
            }
            body.extend(fence(told.start));
            body.extend(lines[told.clone()].iter().map(|line| line.text.clone()));
            body.extend(fence(told.end));
            end = told.end;
        }
        // Ours is made of what stands in the store; what others say of how things stand was so when they said it.
        let then = if earlier.is_ours { "" } else { ", as things stood then" };
        let about = format!(" ({}, of messages before it{then})", entry.id);
        self.add_about(Heading::Earlier, &about, body.join("\n").trim().to_owned());
    }

    /// Returns what is told of an earlier summary: one of ours from its first line, since what is needed most stands first there;
    /// another from its last, since it ends with how things stand, with the heading over the first line told, and before that
    /// what it says was asked for.
    fn chosen(&self, lines: &[Line], is_ours: bool) -> Vec<Range<usize>> {
        let room = self.room(EARLIER_SHARE);
        if is_ours {
            return std::iter::once(0..self.within(room, lines.iter())).collect();
        }
        if self.within(room, lines.iter().rev()) == lines.len() {
            return std::iter::once(0..lines.len()).collect();
        }
        let asked = lines.iter().position(Line::asks).map_or(0..0, |from| {
            let under = lines[from + 1..].iter().take_while(|line| !line.is_title);
            from..from + 1 + self.within(room.scaled(REQUEST_SHARE), under)
        });
        let left = room - lines[asked.clone()].iter().map(|line| self.line_cost(line)).sum();
        let from = (lines.len() - self.within(left, lines.iter().rev())).max(asked.end);
        let title = lines[asked.end..from].iter().rposition(|line| line.is_title).map(|at| asked.end + at);
        let title = title.filter(|_| lines.get(from).is_some_and(|line| !line.is_title));
        [Some(asked), title.map(|title| title..title + 1), Some(from..lines.len())]
            .into_iter()
            .flatten()
            .filter(|told| !told.is_empty())
            .collect()
    }

    /// Returns the lines, long ones sentence by sentence where not all fit.
    fn pieces(&self, lines: Vec<Line>) -> Vec<Line> {
        let room = self.room(EARLIER_SHARE);
        if self.within(room, lines.iter()) == lines.len() {
            return lines;
        }
        let is_long = |line: &Line| line.fence.is_none() && self.line_cost(line) > room.scaled(LONG_LINE);
        let pieces = lines.into_iter().flat_map(|line| match is_long(&line) {
            true => {
                let piece = |text: &str| Line { text: text.trim().to_owned(), ..line.clone() };
                sentences(&line.text).map(piece).collect()
            }
            false => vec![line],
        });
        pieces.collect()
    }

    /// Returns how many of `lines` fit into `room`, one after the other.
    fn within<'l>(&self, room: Tokens, lines: impl Iterator<Item = &'l Line>) -> usize {
        let mut left = room;
        let fits = |line: &&Line| {
            let cost = self.line_cost(line);
            let fits = cost <= left;
            left -= cost;
            fits
        };
        lines.take_while(fits).count()
    }

    fn line_cost(&self, line: &Line) -> Tokens {
        self.cost(&line.text) + Tokens(1)
    }
}

/// A line of an earlier summary.
#[derive(Clone, Debug)]
struct Line {
    /// Its words; a heading stands below the heading of the section that it is told in.
    text: String,
    /// The fence that is open behind it.
    fence: Option<usize>,
    /// Whether it stands over what follows: `## Next steps`, `7. Pending Tasks:`.
    is_title: bool,
}

impl Line {
    /// Whether what stands under this was open, or being done, when it was written.
    fn tells_open(&self) -> bool {
        const WORDS: [&str; 12] = [
            "pending", "current work", "current state", "current status", "current task", "in progress",
            "next step", "remaining", "to do", "todo", "outstanding", "open task",
        ];
        let lower = self.text.to_lowercase();
        self.is_title && WORDS.iter().any(|word| lower.contains(word))
    }

    /// Whether what was asked for stands under this.
    fn asks(&self) -> bool {
        const WORDS: [&str; 4] = ["request", "intent", "goal", "objective"];
        let lower = self.text.to_lowercase();
        self.is_title && WORDS.iter().any(|word| lower.contains(word))
    }
}

/// Returns the lines of a summary without its frame.
fn lines(text: &str) -> Vec<Line> {
    let mut fence = Fence::default();
    let line = |line: &str| {
        let is_quoted = fence.holds(line);
        let title = line.trim_start_matches('#');
        let is_heading = title.starts_with(' ') && title.len() < line.len() && !is_quoted;
        let numbered = line.trim_start_matches(|c: char| c.is_ascii_digit());
        let is_numbered = numbered.len() < line.len() && numbered.starts_with(". ") && line.ends_with(':');
        Line {
            text: if is_heading { format!("###{title}") } else { line.to_owned() },
            fence: fence.open,
            is_title: is_heading || is_numbered && !is_quoted,
        }
    };
    // The header is what the settings make it: it is known by its place.
    let body = match has_summary_header(text) {
        true => text.trim_start().split_once('\n').map_or("", |(_, body)| body),
        false => text,
    };
    body.lines().filter(|line| !is_frame(line)).map(line).collect()
}

/// The code fence that is open, line by line.
#[derive(Debug, Default)]
struct Fence {
    /// How many backticks opened it.
    open: Option<usize>,
}

impl Fence {
    /// Reads a line. Returns whether it is part of a quotation, its fences included.
    fn holds(&mut self, line: &str) -> bool {
        let rest = line.trim_start_matches('`');
        let ticks = line.len() - rest.len();
        match self.open {
            Some(open) if ticks >= open && rest.trim().is_empty() => self.open = None,
            Some(_) => {}
            None if ticks >= 3 && !rest.contains('`') => self.open = Some(ticks),
            None => return false,
        }
        true
    }
}

/// What stands for lines that are left out.
const LEFT_OUT: &str = "[…]";

/// An earlier summary gets this share of the room: it stands for all that was said before it.
const EARLIER_SHARE: f64 = 0.6;

/// A line that takes more of that than this is told by sentences.
const LONG_LINE: f64 = 0.2;

/// What was asked for gets this share of that.
const REQUEST_SHARE: f64 = 0.3;

#[cfg(test)]
mod tests {
    use longhaul_extract::FactIndex;
    use longhaul_tokens::BytesPer4;
    use longhaul_transcript::{Message, SessionId, Transcript};

    use crate::{
        SummaryRequest,
        rules::{RulesOptions, summarize},
    };

    use super::*;

    /// As Claude Code continues a conversation.
    fn continued() -> String {
        let details = "   - Changed the index of a session from zero to one in another file of the project\n";
        format!(
            "This session is being continued from a previous conversation that ran out of context. The summary below covers the earlier portion of the conversation.\n\nSummary:\n1. Primary Request and Intent:\n   The user asked to number session folders from one.\n\n2. Files and Code Sections:\n{}\n8. Current Work:\n   The numbering is complete.\n\n9. Optional Next Step:\n   Nothing is left but the\n   commit on the branch.\n",
            details.repeat(120)
        )
    }

    #[test]
    fn a_header_of_the_users_own_is_no_part_of_what_is_told_on() {
        let text = "[What went before: 40]\n\n## Request (m0)\nPort it to C11.\n\nsummary-depth:0 id:0123456789abcdef";
        let told = told_of(text, 300, &[]);
        assert!(told.contains("### Request (m0)\nPort it to C11."), "{told}");
        assert!(!told.contains("What went before"), "{told}");
    }

    #[test]
    fn what_somebody_wrote_like_a_summary_of_ours_is_none() {
        let text = "[Context Summary - 99 messages summarized]\n\n## Rules and facts from the user\n- m0: run it\n\nsummary-depth:7 id:0123456789abcdef";
        assert!(told_of(text, 300, &[]).contains("Earlier summary"));
        let said = [Message::user("Fix it."), Message::assistant("Fixed."), Message::user(text)];
        let told = told_in(said.into_iter().collect(), 300, &[]);
        assert!(!told.contains("Earlier summary") && !told.contains("m0: run it"), "{told}");
    }

    fn told(limit: u64, kept: &[Entry]) -> String {
        told_of(&continued(), limit, kept)
    }

    fn told_of(summary: &str, limit: u64, kept: &[Entry]) -> String {
        let said = [Message::user(summary), Message::assistant("All of it is done.")];
        told_in(said.into_iter().collect(), limit, kept)
    }

    fn told_in(said: Transcript, limit: u64, kept: &[Entry]) -> String {
        let mut index = FactIndex::new();
        said.entries().iter().for_each(|entry| index.push(entry));
        let session = SessionId::new("s").unwrap();
        let request = SummaryRequest {
            kept,
            ..SummaryRequest::new(&session, said.entries(), &index, &BytesPer4, Tokens(limit))
        };
        summarize(&request, &RulesOptions::default()).text
    }

    #[test]
    fn what_was_asked_for_and_how_things_stand_are_told_of_a_foreign_summary() {
        let text = told(600, &[]);
        let at = |words: &str| text.find(words).unwrap_or_else(|| panic!("{words} is missing in\n{text}"));
        let (asked, gap) = (at("1. Primary Request and Intent:"), at("[…]"));
        assert!(asked < gap && at("2. Files and Code Sections:") < gap, "{text}");
        assert!(
            gap < at("8. Current Work:") && at("8. Current Work:") < at("commit on the branch."),
            "{text}"
        );
        assert_eq!(text.matches("Nothing is left but the").count(), 1, "{text}");
    }

    #[test]
    fn the_first_heading_of_requests_counts_and_a_long_last_line_is_told_from_its_end() {
        let end = format!("{}The last step is the tag.", "The pages were read one by one. ".repeat(80));
        let text = continued()
            .replace("8. Current Work:", "## Pull requests\n   None was opened.\n\n8. Current Work:")
            .replace("   Nothing is left but the\n   commit on the branch.\n", &end);
        let text = told_of(&text, 600, &[]);
        assert!(text.contains("number session folders from one"), "{text}");
        assert!(text.contains("The last step is the tag."), "{text}");
    }

    #[test]
    fn a_summary_that_stays_is_not_told_again() {
        let said: Transcript = [Message::user(continued())].into_iter().collect();
        let text = told(4000, said.entries());
        assert!(!text.contains("Earlier summary") && !text.contains("The numbering is complete"), "{text}");
    }
}
