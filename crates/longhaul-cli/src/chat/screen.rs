//! What is shown: answers on stdout, everything about them on stderr.

use longhaul::{Event, EventKind, config::Limits, policy::Reason, transcript::Tokens};
use longhaul_client::Delta;

use crate::{
    exit::without_secrets,
    flow::Flow,
    paint::{Colour, GREEN, GREY, Painter, RED, YELLOW, grouped, line_width, plain},
    say,
};

/// The terminal, or the files in its place.
#[derive(Clone, Debug)]
pub(crate) struct Screen {
    out: Painter,
    err: Painter,
    /// Breaks the lines of an answer, where a person reads it.
    flow: Option<Flow>,
    /// An answer has begun and its last line is not ended.
    is_in_line: bool,
    is_thinking: bool,
}

impl Screen {
    pub(crate) fn new() -> Screen {
        let (out, err) = (Painter::stdout(), Painter::stderr());
        let flow = out.is_seen().then(|| Flow::new(line_width()));
        Screen { out, err, flow, is_in_line: false, is_thinking: false }
    }

    /// Shows a bit of an answer as it comes. A terminal that went away is noticed when it is read from.
    pub(crate) fn delta(&mut self, delta: &Delta) {
        match delta {
            Delta::Text(text) => {
                self.end_thinking();
                let shown = plain(text);
                if !shown.is_empty() {
                    self.is_in_line = !shown.ends_with('\n');
                }
                match &mut self.flow {
                    Some(flow) => say::out(&flow.push(&shown)),
                    None => say::out(&shown),
                }
            }
            Delta::Reasoning(text) => {
                self.is_thinking = true;
                say::err(&self.err.paint(GREY, &plain(text)));
            }
            _ => {}
        }
    }

    /// Ends the answer's last line.
    pub(crate) fn end_answer(&mut self) {
        self.end_thinking();
        if std::mem::take(&mut self.is_in_line) {
            let held = self.flow.as_mut().map(Flow::end).unwrap_or_default();
            say::out(&format!("{held}\n"));
        }
    }

    /// Takes note of Ctrl-C, which a terminal shows where it is pressed: what is said next begins a line.
    pub(crate) fn interrupted(&mut self) {
        self.is_in_line |= self.out.is_seen();
    }

    fn end_thinking(&mut self) {
        if std::mem::take(&mut self.is_thinking) {
            say::err("\n");
        }
    }

    /// Shows text that was asked for.
    pub(crate) fn text(&mut self, text: &str) {
        self.end_answer();
        say::out(text);
    }

    /// Shows words that were asked for, as they were said: in lines that break between words where a person reads them.
    pub(crate) fn words(&mut self, words: &str) {
        self.text(&self.out.flowed(words));
    }

    /// Says something about the conversation.
    pub(crate) fn note(&mut self, text: &str) {
        self.say(GREY, "", text);
    }

    /// Says that something went wrong.
    pub(crate) fn error(&mut self, text: &str) {
        self.say(RED, "✗ ", text);
    }

    /// Says that something needs attention.
    pub(crate) fn warn(&mut self, text: &str) {
        self.say(YELLOW, "! ", text);
    }

    /// Shows what longhaul did, where the user should know. Where originals are deleted a compaction stays for good.
    pub(crate) fn event(&mut self, event: &Event, can_be_undone: bool) {
        match &event.kind {
            EventKind::Finished(finish) => {
                let back = if can_be_undone { "; /undo takes it back" } else { "" };
                let text = format!("{event} ({}{back})", why(finish.reason, finish.tokens_before));
                self.say(YELLOW, "◆ ", &text);
            }
            EventKind::Trimmed { reason, tokens_before, .. } => {
                self.say(YELLOW, "◆ ", &format!("{event} ({})", why(*reason, *tokens_before)));
            }
            // How much the window holds now stands in the status below.
            EventKind::Undone => self.say(YELLOW, "◆ ", "compaction undone"),
            EventKind::Redone => self.say(YELLOW, "◆ ", "compaction applied again"),
            _ if event.is_notice() => self.warn(&event.to_string()),
            _ => {}
        }
    }

    /// Shows how full the window is, in the colour of its [`light`].
    pub(crate) fn status(&mut self, used: Tokens, window: Tokens, colour: Colour, about: &str) {
        let share = used.ratio_of(window);
        let numbers = format!("{} of {} tokens ({:.0} %)", grouped(used.0), grouped(window.0), 100.0 * share);
        // As long as leaves room for the numbers of any conversation: a bar that changes its length cannot be read at a glance.
        let cells = match line_width() {
            130.. => 20,
            100.. => 10,
            _ => 5,
        };
        let full = (share.min(1.0) * cells as f64).round() as usize;
        let bar = format!("{}{}", "▰".repeat(full), "▱".repeat(cells - full));
        self.end_answer();
        let line = self.err.paint(colour, &format!("{bar} {numbers}"));
        say::err(&self.err.hung(
            &line,
            &format!(" {}", self.err.paint(GREY, &format!("· {}", plain(about)))),
            "  ",
        ));
    }

    /// Returns `text` in `colour`, for stdout.
    pub(crate) fn painter(&self) -> Painter {
        self.out
    }

    fn say(&mut self, colour: Colour, sign: &str, text: &str) {
        self.end_answer();
        let text = plain(&without_secrets(text));
        let shown: String = text
            .lines()
            .enumerate()
            .map(|(nth, line)| {
                let first = if nth == 0 { sign } else { "" };
                self.err.hung(first, line, "  ")
            })
            .collect();
        say::err(&format!("{}\n", self.err.paint(colour, shown.trim_end_matches('\n'))));
    }
}

/// Returns why a context was made smaller that likely cost `before`. What is decided on may lie above that.
fn why(reason: Reason, before: Tokens) -> String {
    match reason.tokens() {
        Some(tokens) if tokens > before => {
            format!("with a margin for what is billed otherwise than expected, {reason}")
        }
        _ => reason.to_string(),
    }
}

/// Returns the colour of a context of this size: green below the soft threshold, yellow below the trigger, red from there on.
pub(crate) fn light(tokens: Tokens, limits: &Limits) -> Colour {
    match tokens {
        tokens if tokens >= limits.trigger => RED,
        tokens if tokens >= limits.soft => YELLOW,
        _ => GREEN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_measures_of_one_context_are_told_apart() {
        let reason = Reason::Emergency { tokens: Tokens(1_747), budget: Tokens(1_536) };
        assert_eq!(why(reason, Tokens(1_747)), "1,747 tokens reach the hard limit of 1,536");
        let told = why(reason, Tokens(1_565));
        assert!(
            told.starts_with("with a margin ")
                && told.ends_with(", 1,747 tokens reach the hard limit of 1,536")
        );
    }
}
