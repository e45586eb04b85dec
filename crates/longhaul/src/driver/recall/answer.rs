//! An answer within its bound: what short lines leave, long ones have.

use longhaul_tokens::TokenCounter;
use longhaul_transcript::Tokens;

use super::LEAST_SHOWN;
use crate::compact::clip_text;

/// The most that an answer costs.
pub(super) const ANSWER_TOKENS: Tokens = Tokens(2_000);

/// Stands between the lines of an answer.
const BETWEEN: &str = "\n\n";

/// What an answer tells of one message, or beside them.
#[derive(Debug)]
pub(super) struct Line {
    /// Stands whole.
    pub(super) begins: String,
    /// May be cut.
    pub(super) said: String,
    /// What was searched for stands here in it.
    pub(super) place: Option<usize>,
}

impl Line {
    pub(super) fn whole(text: String) -> Line {
        Line { begins: text, said: String::new(), place: None }
    }

    fn within(&self, most: Tokens, counter: &dyn TokenCounter) -> String {
        let shown = clipped_around(&self.said, self.place, most - counter.count_text(&self.begins), counter);
        format!("{}{shown}", self.begins)
    }
}

/// Returns the lines in at most [`ANSWER_TOKENS`]: what short ones leave, long ones have.
pub(super) fn answer(lines: &[Line], counter: &dyn TokenCounter) -> String {
    let mut most = ANSWER_TOKENS;
    loop {
        let answer = shared_out(lines, most, counter);
        let cost = counter.count_text(&answer);
        if cost <= ANSWER_TOKENS || most == Tokens::ZERO {
            return answer;
        }
        // The lines together may cost a little more than each by itself.
        most -= cost - ANSWER_TOKENS;
    }
}

fn shared_out(lines: &[Line], most: Tokens, counter: &dyn TokenCounter) -> String {
    let whole = |line: &Line| format!("{}{}", line.begins, line.said);
    // What a line costs that is longer than all there is tells nothing.
    let cost = |line: &Line| counter.count_up_to(&(whole(line) + BETWEEN), most);
    let mut shortest_first: Vec<(usize, Option<Tokens>)> = lines.iter().map(cost).enumerate().collect();
    shortest_first.sort_by_key(|(_, cost)| cost.unwrap_or(most));
    let mut shown = vec![String::new(); lines.len()];
    let mut left = most;
    for (nth, (at, cost)) in shortest_first.iter().enumerate() {
        let share = Tokens(left.0 / (lines.len() - nth) as u64);
        (shown[*at], left) = match cost.filter(|cost| *cost <= share) {
            Some(cost) => (whole(&lines[*at]), left - cost),
            None => (lines[*at].within(share - counter.count_text(BETWEEN), counter), left - share),
        };
    }
    shown.join(BETWEEN)
}

/// Returns `text` cut so that it costs `most` at most, and hardly less, whatever it is written in.
fn clipped(text: &str, most: Tokens, counter: &dyn TokenCounter) -> String {
    if counter.count_up_to(text, most).is_some() {
        return text.to_owned();
    }
    let (mut fits, mut too_long) = (LEAST_SHOWN, text.chars().count());
    while too_long > fits + 1 {
        let limit = fits.midpoint(too_long);
        match counter.count_up_to(&clip_text(text, limit), most) {
            Some(_) => fits = limit,
            None => too_long = limit,
        }
    }
    clip_text(text, fits)
}

/// Returns `text` cut as [`clipped`] does it, so that what stands at `place` is in it.
fn clipped_around(text: &str, place: Option<usize>, most: Tokens, counter: &dyn TokenCounter) -> String {
    let whole = clipped(text, most, counter);
    let Some(place) = place else { return whole };
    if whole.contains(&text[place..text.ceil_char_boundary(place + LEAST_SHOWN)]) {
        return whole;
    }
    let before = usize::try_from(most.0).unwrap_or(usize::MAX);
    let from = text.floor_char_boundary(place.saturating_sub(before));
    clipped(&format!("… {}", &text[from..]), most, counter)
}
