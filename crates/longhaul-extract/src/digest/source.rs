//! One tool result as the rules read it.

use longhaul_transcript::Outcome;

use crate::{tool::ToolFamily, tool_view::CallView};

/// One tool result to be read: what was called, what came back, and whether the wire says it went well.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Source<'a> {
    /// The call, where it is known.
    pub call: Option<&'a CallView<'a>>,
    /// The text that came back, without terminal escapes and harness envelopes.
    pub text: &'a str,
    /// Whether the wire says it went well.
    pub outcome: Outcome,
}

impl<'a> Source<'a> {
    /// Returns a source of an already cleaned text.
    pub fn new(call: Option<&'a CallView<'a>>, text: &'a str, outcome: Outcome) -> Source<'a> {
        Source { call, text, outcome }
    }

    /// Returns the family of the tool; `Other` where the call is not known.
    pub fn family(&self) -> ToolFamily {
        self.call.map_or(ToolFamily::Other, CallView::family)
    }

    /// Returns the tool's name; `tool` where the call is not known.
    pub fn tool(&self) -> &'a str {
        self.call.map_or("tool", CallView::name)
    }
}
