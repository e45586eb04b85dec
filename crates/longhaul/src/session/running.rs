//! A running summary: each update is appended to what was said before, within one limit.

use longhaul_summarize::{
    Draft,
    rules::{LEAST_LIMIT, OMITTED, Since},
};
use longhaul_tokens::TokenCounter;
use longhaul_transcript::{SummaryRecord, Tokens};

use crate::forms;

/// Stands before what is left when the updates no longer fit together.
const CONDENSED: &str = "[Condensed history]";

/// Ends a summary that had to be cut.
const TRUNCATED: &str = "[Summary truncated]";

/// Returns how much the next part of a running summary may cost within `limit`: the first part leaves room for an update,
/// an update gets what is left, and where that is too little, the history is condensed and the new part gets what the lines
/// that stay of it leave; all, where a model writes, whose words take the place of what was said before. The marks have room of
/// their own.
pub(super) fn room(previous: Option<&SummaryRecord>, limit: Tokens, by_model: bool) -> Tokens {
    // Of a small limit everything is needed to say anything.
    let least = |room: Tokens, mark: Tokens| room.max((limit - mark).min(LEAST_LIMIT));
    let Some(previous) = previous else { return least(limit.scaled(FIRST_SHARE), Tokens::ZERO) };
    let left = limit - previous.tokens - UPDATE_MARK;
    if left >= limit.scaled(LEAST_SHARE) && left >= LEAST_LIMIT {
        left
    } else if by_model {
        limit - CONDENSED_MARK
    } else {
        least(limit.scaled(CONDENSED_SHARE * NEW_SHARE) - CONDENSED_MARK, CONDENSED_MARK)
    }
}

/// The first part gets this share of the limit, and more only for what must be said. All of it, and there would never be an update.
const FIRST_SHARE: f64 = 0.7;

/// A condensed history gets this share of the limit, so that an update fits after it.
const CONDENSED_SHARE: f64 = 0.7;

/// What is new gets this share of a condensed history; the rest keeps what the work needs longest of the old.
const NEW_SHARE: f64 = 0.6;

/// What `[Condensed history]` and the line break after it cost at most.
const CONDENSED_MARK: Tokens = Tokens(8);

/// What `[Update N]` and the blank line before it cost at most.
const UPDATE_MARK: Tokens = Tokens(8);

/// An update that had less of the limit than this would say too little.
const LEAST_SHARE: f64 = 0.25;

/// Returns `draft` as the next update of `previous`: its text, `[Update N]`, the draft's text. What was said `since` and takes the
/// place of something in the text so far takes it out, or marks it. Where both do not fit
/// `limit`, what the work needs longest of both stands as condensed history, or the draft alone where it is prose; where
/// not even that fits, it is cut and says so.
///
/// The version N counts from 1; it is the depth of the record plus one.
pub(super) fn update(
    previous: &SummaryRecord,
    draft: Draft,
    since: Option<&Since>,
    limit: Tokens,
    counter: &dyn TokenCounter,
) -> Draft {
    let version = previous.depth.saturating_add(2);
    let fits = |text: &str| counter.count_up_to(text, limit).is_some();
    if matches!(draft.text.trim(), "" | OMITTED) {
        // What was said before stays where it fits; the next summary tells of all of it again.
        let texts = [format!("{}\n\n[Update {version}]\n{OMITTED}", previous.text), OMITTED.to_owned()];
        let text = texts.into_iter().find(|text| fits(text)).unwrap_or_default();
        return with_text(text, draft, counter);
    }
    let holds = forms::Holds::new(&draft, since);
    let before = holds.text(&previous.text);
    let updated = format!("{before}\n\n[Update {version}]\n{}", draft.text);
    let text = Some(updated)
        .filter(|text| fits(text))
        .or_else(|| {
            forms::condense(previous, &draft, &holds, counter, limit.scaled(CONDENSED_SHARE), limit)
                .filter(|text| fits(text))
        })
        .or_else(|| Some(format!("{CONDENSED}\n{}", draft.text)).filter(|text| fits(text)));
    with_text(text.unwrap_or_else(|| cut(&draft.text, &fits)), draft, counter)
}

/// Returns whether a summary leaves out, for want of room, what it should tell of.
pub(crate) fn leaves_out(record: &SummaryRecord) -> bool {
    record.text.trim().is_empty() || record.text.ends_with(OMITTED)
}

fn with_text(text: String, draft: Draft, counter: &dyn TokenCounter) -> Draft {
    Draft { tokens: counter.count_text(&text), text, ..draft }
}

/// Returns as many whole lines of `text` as fit with the marks around them; nothing but the mark where none does.
fn cut(text: &str, fits: &impl Fn(&str) -> bool) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let of = |count: usize| format!("{CONDENSED}\n{}\n{TRUNCATED}", lines[..count].join("\n"));
    // The cost grows with the number of lines, so the largest number that fits is found by halving.
    let (mut low, mut high) = (0, lines.len());
    while low < high {
        let middle = (low + high).div_ceil(2);
        if fits(&of(middle)) { low = middle } else { high = middle - 1 }
    }
    match low {
        0 if fits(TRUNCATED) => TRUNCATED.to_owned(),
        0 => String::new(),
        count => of(count),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use longhaul_tokens::CharsPer4;

    pub(crate) fn record(depth: u32, text: &str) -> SummaryRecord {
        SummaryRecord { depth, ..longhaul_testkit::record(text) }
    }

    fn updated(previous: &str, text: &str, limit: u64) -> String {
        let draft = Draft { text: text.to_owned(), ..Draft::default() };
        let draft = update(&record(0, previous), draft, None, Tokens(limit), &CharsPer4);
        assert_eq!(draft.tokens, CharsPer4.count_text(&draft.text));
        assert!(draft.tokens <= Tokens(limit));
        draft.text
    }

    // asserts 001-24, 001-25, 001-31
    #[test]
    fn updates_are_appended_while_they_fit_and_condensed_when_they_do_not() {
        assert_eq!(updated("old", "new", 50), "old\n\n[Update 2]\nnew");
        assert_eq!(updated(&"old ".repeat(100), "new", 50), "[Condensed history]\nnew");
        let long = "a line of the new summary\n".repeat(20);
        let cut = updated("old", &long, 50);
        assert!(
            cut.starts_with("[Condensed history]\na line") && cut.ends_with("[Summary truncated]"),
            "{cut}"
        );
        assert_eq!(updated("old", &long, 5), "[Summary truncated]");
        assert_eq!(updated("old", &long, 1), "");
    }

    // asserts 001-30
    #[test]
    fn an_update_without_room_says_so_and_keeps_what_was_said_where_it_fits() {
        assert_eq!(updated("old", OMITTED, 50), format!("old\n\n[Update 2]\n{OMITTED}"));
        assert_eq!(updated(&"old ".repeat(100), OMITTED, 20), OMITTED);
        assert_eq!(updated(&"old ".repeat(100), "", 20), OMITTED);
        assert!(leaves_out(&record(1, OMITTED)) && !leaves_out(&record(1, "said")));
        for limit in [20, 60, 100, 140] {
            let before = SummaryRecord { tokens: Tokens(60), ..record(0, "old") };
            let room = super::room(Some(&before), Tokens(limit), false);
            assert!(room >= LEAST_LIMIT.min(Tokens(limit - 8)) && room <= Tokens(limit), "{room} of {limit}");
            assert!(super::room(None, Tokens(limit), false) >= LEAST_LIMIT.min(Tokens(limit)));
        }
    }
}
