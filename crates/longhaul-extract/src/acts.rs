//! The calls of a conversation, each read once, with what came of it.

use longhaul_transcript::{Entry, Part, ToolResult};

use crate::{CallView, waiting::Waiting};

/// A call with its result.
#[derive(Clone, Debug)]
pub struct Act<'e> {
    /// Ordinal of the message with the call.
    pub message: u64,
    /// What the call says.
    pub call: CallView<'e>,
    /// What it was answered, and the ordinal of that message; `None` where nothing was.
    pub result: Option<(u64, &'e ToolResult)>,
}

/// Calls `each` with every call in `entries`, in their order. Whoever asks several things of the calls asks them in one walk, as
/// reading their arguments is most of the work.
///
/// ```
/// use longhaul_extract::{Runs, Todos, Touches, each_act};
/// # let entries: &[longhaul_transcript::Entry] = &[];
///
/// let (mut runs, mut todos, mut touches) = (Runs::default(), Todos::default(), Touches::default());
/// each_act(entries, |act| {
///     runs.take(act);
///     todos.take(act);
///     touches.take(act);
/// });
/// assert!(runs.done().is_empty() && todos.items(entries).is_empty() && touches.histories().is_empty());
/// ```
pub fn each_act<'e>(entries: &'e [Entry], mut each: impl FnMut(&Act<'e>)) {
    let mut results: Vec<Option<(u64, &ToolResult)>> = Vec::new();
    let mut waiting: Waiting<usize> = Waiting::default();
    for entry in entries {
        for part in &entry.message.parts {
            match part {
                Part::ToolCall(call) => {
                    waiting.push(&call.id, entry.id.ordinal, results.len());
                    results.push(None);
                }
                Part::ToolResult(result) => {
                    if let Some(at) = waiting.answered(&result.call_id) {
                        results[at] = Some((entry.id.ordinal, result));
                    }
                }
                _ => {}
            }
        }
    }
    let mut results = results.into_iter();
    for entry in entries {
        for call in entry.message.calls() {
            let result = results.next().flatten();
            each(&Act { message: entry.id.ordinal, call: CallView::new(call), result });
        }
    }
}
