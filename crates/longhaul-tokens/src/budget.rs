//! How many tokens there are to spend, and how many an answer will take.

use longhaul_transcript::Tokens;

use crate::{Model, TokenCounter};

/// A model's window and the part of it that is kept free for the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContextWindow {
    /// Tokens of a prompt and its answer at most.
    pub window: Tokens,
    /// Tokens of the window that are kept free for the answer.
    pub reserved_output: Tokens,
}

impl ContextWindow {
    /// Returns a window of `window` tokens of which `reserved_output` are kept free.
    pub fn new(window: Tokens, reserved_output: Tokens) -> ContextWindow {
        ContextWindow { window, reserved_output }
    }

    /// Returns what is left for the history: the window less the reserved output less `fixed_overhead` (the system
    /// prompt where it is not a message, and the tool definitions). Zero where nothing is left.
    ///
    /// Every ratio longhaul speaks of is of this figure.
    pub fn budget(&self, fixed_overhead: Tokens) -> Tokens {
        self.window - self.reserved_output - fixed_overhead
    }
}

impl From<&Model> for ContextWindow {
    /// Reserves the model's longest answer, but never more than a quarter of the window: a longer answer is rare, and a
    /// budget of nothing is worse than a short answer. What of the answer has room beside the window is not kept free in it.
    fn from(model: &Model) -> ContextWindow {
        let reserved_output = (model.max_output - model.beside).min(model.window.scaled(0.25));
        ContextWindow { window: model.window, reserved_output }
    }
}

/// Returns the tokens an answer to a prompt of `prompt` tokens is expected to take, while no usage is known: half the
/// prompt, rounded up (design document 000, `estimateResponseTokens`).
pub fn estimate_response(prompt: Tokens) -> Tokens {
    Tokens(prompt.0.div_ceil(2))
}

/// What a provider adds around one tool definition: its markers and the namespace lines. The most of the figures in the
/// OpenAI cookbook ("How to count tokens with tiktoken", 2024: 7 to 12 a function), rounded up.
const PER_TOOL: Tokens = Tokens(12);

/// Returns the tokens of tool definitions, each given as the JSON text on the wire.
///
/// Providers do not bill the JSON: they render it into a form of their own, which is shorter. What is counted is the JSON
/// without its blanks plus a frame, which errs upwards, as a fixed overhead should; [`Ledger`](crate::Ledger) and
/// calibration replace it by what is billed as soon as that is known.
pub fn count_tools<'a, C: TokenCounter + ?Sized>(
    counter: &C,
    definitions: impl IntoIterator<Item = &'a str>,
) -> Tokens {
    definitions.into_iter().map(|json| counter.count_text(&without_blanks(json)) + PER_TOOL).sum()
}

/// Returns `json` without the blanks between its tokens. Text that is not JSON comes back shortened, never longer.
fn without_blanks(json: &str) -> String {
    let (mut in_string, mut escaped) = (false, false);
    let kept = json.chars().filter(|c| {
        if in_string {
            in_string = escaped || *c != '"';
            escaped = !escaped && *c == '\\';
            return true;
        }
        in_string = *c == '"';
        !matches!(c, ' ' | '\t' | '\r' | '\n')
    });
    kept.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::BytesPer4;

    #[test]
    fn a_budget_is_what_the_overheads_leave() {
        let window = ContextWindow::new(Tokens(1000), Tokens(200));
        assert_eq!(window.budget(Tokens(100)), Tokens(700));
        assert_eq!(window.budget(Tokens(5000)), Tokens::ZERO);
    }

    #[test]
    fn an_answer_that_is_limited_apart_takes_nothing_of_the_prompts_room() {
        let table = crate::ModelTable::builtin();
        let budget = |name: &str| ContextWindow::from(table.get(name).unwrap()).budget(Tokens::ZERO);
        assert_eq!(budget("gpt-5"), Tokens(272_000));
        assert_eq!(budget("gpt-5.1-codex"), Tokens(272_000));
        assert_eq!(budget("gpt-5.6"), Tokens(922_000));
        assert_eq!(budget("gpt-4o"), Tokens(128_000 - 16_384));
        assert_eq!(budget("claude-sonnet-4-5"), Tokens(150_000));
    }

    #[test]
    fn half_a_prompt_rounds_up() {
        assert_eq!(estimate_response(Tokens(0)), Tokens(0));
        assert_eq!(estimate_response(Tokens(101)), Tokens(51));
    }

    #[test]
    fn blanks_inside_strings_stay() {
        let json = "{ \"a b\\\" c\" :\n [ 1,\t\"\\\\\" , true ] }";
        assert_eq!(without_blanks(json), "{\"a b\\\" c\":[1,\"\\\\\",true]}");
    }

    #[test]
    fn tools_cost_the_same_however_they_are_indented() {
        let compact = r#"{"name":"read","parameters":{"type":"object"}}"#;
        let indented = "{\n  \"name\": \"read\",\n  \"parameters\": {\n    \"type\": \"object\"\n  }\n}";
        let tokens = count_tools(&BytesPer4, [compact]);
        assert_eq!(tokens, count_tools(&BytesPer4, [indented]));
        assert_eq!(tokens, Tokens(compact.len().div_ceil(4) as u64) + PER_TOOL);
        assert_eq!(count_tools(&BytesPer4, []), Tokens::ZERO);
    }
}
