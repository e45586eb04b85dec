//! The calls of a conversation, each read once, with what came of it.

use std::ops::Range;

use longhaul_transcript::{Entry, Part, Role, ToolCall, ToolResult};

use crate::{CallView, waiting::Waiting};

/// A call with its result.
#[derive(Clone, Debug)]
pub struct Act<'e> {
    /// Ordinal of the message with the call.
    pub message: u64,
    /// Whether the user's side made it, which has tools of its own in talks with a customer.
    pub is_users: bool,
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
pub fn each_act<'e>(entries: &'e [Entry], each: impl FnMut(&Act<'e>)) {
    let calls = Calls::of(entries);
    calls.each(0..calls.len(), each);
}

/// The calls of a conversation with their results, of which none is read yet.
#[derive(Clone, Debug)]
pub struct Calls<'e>(Vec<Call<'e>>);

#[derive(Clone, Copy, Debug)]
struct Call<'e> {
    message: u64,
    is_users: bool,
    call: &'e ToolCall,
    result: Option<(u64, &'e ToolResult)>,
}

impl<'e> Calls<'e> {
    /// Returns the calls in `entries`, in their order.
    pub fn of(entries: &'e [Entry]) -> Calls<'e> {
        let mut calls: Vec<Call<'_>> = Vec::new();
        let mut waiting: Waiting<usize> = Waiting::default();
        for entry in entries {
            let (message, is_users) = (entry.id.ordinal, entry.message.role == Role::User);
            for part in &entry.message.parts {
                match part {
                    Part::ToolCall(call) => {
                        waiting.push(&call.id, message, calls.len());
                        calls.push(Call { message, is_users, call, result: None });
                    }
                    Part::ToolResult(result) => {
                        if let Some(at) = waiting.answered(&result.call_id) {
                            calls[at].result = Some((message, result));
                        }
                    }
                    _ => {}
                }
            }
        }
        Calls(calls)
    }

    /// Returns those of `part`, a part of the entries that these are the calls of, as [`of`](Self::of) reads them: what was answered
    /// behind it is not answered yet.
    pub fn within(&self, part: &[Entry]) -> Calls<'e> {
        let Some((first, last)) = part.first().zip(part.last()) else { return Calls(Vec::new()) };
        let (first, last) = (first.id.ordinal, last.id.ordinal);
        let from = self.0.partition_point(|call| call.message < first);
        let to = self.0.partition_point(|call| call.message <= last);
        let mut calls = self.0[from..to].to_vec();
        for call in &mut calls {
            call.result = call.result.filter(|(answered, _)| *answered <= last);
        }
        Calls(calls)
    }

    /// Returns how many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns how many of the first `len` were answered.
    pub fn answered(&self, len: usize) -> usize {
        self.0.iter().take(len).filter(|call| call.result.is_some()).count()
    }

    /// Reads those at these places, and calls `each` with every one of them.
    pub fn each(&self, places: Range<usize>, mut each: impl FnMut(&Act<'e>)) {
        for Call { message, is_users, call, result } in self.0.get(places).into_iter().flatten() {
            let (message, is_users, result) = (*message, *is_users, *result);
            each(&Act { message, is_users, call: CallView::new(call), result });
        }
    }
}
