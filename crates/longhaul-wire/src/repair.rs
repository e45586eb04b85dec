//! Making a history whole again where its source broke it.

use std::collections::HashMap;

use longhaul_transcript::{Entry, Message, Origin, Outcome, Part, Role, ToolCall, ToolResult, Transcript};

use crate::{
    convert::losses,
    formats::{Answers, Order, Writing},
    order::is_spelled,
};

/// A transcript in which every call but those of an open end has its result, and every result its call.
#[derive(Clone, Debug)]
pub struct Repair {
    /// The repaired transcript. Untouched messages keep their origin, so they still come back byte for byte.
    pub transcript: Transcript,
    /// What was done, in order; empty when the transcript was whole.
    pub done: Vec<String>,
}

/// What a call that was never answered gets for an answer (U-02, C-08). Codex uses the same word.
const ABORTED: &str = "aborted";

/// Returns `transcript` with an explicit `aborted` result behind each call that was never answered, calls at the open
/// end apart, and without results that answer no call (or answer one twice) and calls under an id that another call before
/// them waits under: one result answers both. The same input gives the same result.
pub fn repair(transcript: &Transcript) -> Repair {
    repaired(transcript, |_| true)
}

/// Does what [`repair`] does, for a request: the model is to go on. So calls at the open end are answered too where something
/// follows them, the results of others or words, for no provider takes that (A-02, O-01, R-01, G-01), and where they go out in
/// several messages: as they are too many for one, or some were spelled already.
pub(crate) fn repair_request(transcript: &Transcript, writing: &Writing) -> Repair {
    repaired(transcript, |open| {
        let calls: Vec<usize> = open.iter().map(|entry| entry.message.calls().count()).collect();
        let is_last = calls.iter().skip_while(|calls| **calls == 0).all(|calls| *calls > 0);
        let is_answered = open.iter().any(|entry| entry.message.results().next().is_some());
        let is_spelled = open.iter().any(|entry| is_spelled(&entry.message, writing));
        let mut callers = open.iter().skip_while(|entry| entry.message.calls().next().is_none()).skip(1);
        let is_one = match writing.order {
            _ if !is_spelled => true,
            // Calls that follow each other are made at once, with no words between them.
            Order::AsSaid => callers.all(|entry| entry.message.texts().next().is_none()),
            Order::ResultsFirst { answers, .. } => answers == Answers::AsOne || callers.next().is_none(),
        };
        is_last && !is_answered && is_one && calls.iter().sum::<usize>() <= writing.order.most_calls()
    })
}

/// Repairs, and leaves the open end as it is where it `stays` so.
fn repaired(transcript: &Transcript, stays: impl Fn(&[Entry]) -> bool) -> Repair {
    let entries = transcript.entries();
    let faults = Faults::of(transcript, stays);
    let mut repair = Repair { transcript: Transcript::new(), done: Vec::new() };
    if faults.unanswered.is_empty() && faults.left_out.is_empty() {
        repair.transcript = transcript.clone();
        return repair;
    }
    // Missing results stand behind those that the same message did get, and before a call that takes the id over.
    let mut due: HashMap<usize, Vec<Part>> = HashMap::new();
    for (at, part, before) in &faults.unanswered {
        let Part::ToolCall(call) = &entries[*at].message.parts[*part] else { continue };
        let result = ToolResult::text(call.id.clone(), ABORTED, Outcome::Failed);
        due.entry(faults.place[*at].min(before - 1)).or_default().push(Part::ToolResult(result));
    }
    repair.done.extend(answered(entries, &faults.unanswered));
    for (at, entry) in entries.iter().enumerate() {
        match faults.left_out.get(&at) {
            None => {
                repair.transcript.push(entry.message.clone());
            }
            Some(left_out) => {
                repair
                    .done
                    .extend(told(&entry.message, left_out).map(|what| format!("m{at}: {what} left out")));
                let mut message = (*entry.message).clone();
                let mut part = 0;
                message.parts.retain(|_| {
                    part += 1;
                    left_out.binary_search(&(part - 1)).is_err()
                });
                if !message.parts.is_empty() {
                    repair.transcript.push(message);
                }
            }
        }
        if let Some(results) = due.remove(&at) {
            for result in results {
                repair.transcript.push(Message::new(Role::Tool, vec![result]).with_origin(Origin::Longhaul));
            }
        }
    }
    repair
}

/// Says which calls are answered now, in one line: a turn that was broken off may have made many.
fn answered(entries: &[Entry], unanswered: &[(usize, usize, usize)]) -> Option<String> {
    let call = |(at, part, _): &(usize, usize, usize)| match &entries[*at].message.parts[*part] {
        Part::ToolCall(call) => Some((*at, call)),
        _ => None,
    };
    let calls: Vec<(usize, &ToolCall)> = unanswered.iter().filter_map(call).collect();
    match &calls[..] {
        [] => None,
        [(at, call)] => {
            let (id, name) = (&call.id, &call.name);
            Some(format!("m{at}: the call {id} of {name} was never answered; it is now, as aborted"))
        }
        calls => {
            let (n, at): (usize, Vec<usize>) = (calls.len(), calls.iter().map(|(at, _)| *at).collect());
            Some(format!("{n} calls were never answered; they are now, as aborted{}", losses::shown(&at)))
        }
    }
}

/// Says what these parts of a message are.
fn told(message: &Message, parts: &[usize]) -> impl Iterator<Item = String> {
    let calls = parts.iter().filter(|part| matches!(message.parts[**part], Part::ToolCall(_))).count();
    let told = |count: usize, one: &str, many: &str, why: &str| match count {
        0 => None,
        1 => Some(format!("{one} {why}")),
        count => Some(format!("{count} {many} {why}")),
    };
    let results = told(parts.len() - calls, "a result", "results", "without a call");
    let calls = told(calls, "a call", "calls", "under the id of another");
    calls.into_iter().chain(results)
}

/// Calls and results that do not pair up.
struct Faults {
    /// Message and part of each call that is never answered and does not stand at the open end, and the message before which its
    /// answer is due: one that calls under its id, or the end.
    unanswered: Vec<(usize, usize, usize)>,
    /// Parts that are results without a call, or calls under the id of another that waits, by message, in order.
    left_out: HashMap<usize, Vec<usize>>,
    /// For each message the last one that answers it, or itself.
    place: Vec<usize>,
}

impl Faults {
    fn of(transcript: &Transcript, stays: impl Fn(&[Entry]) -> bool) -> Faults {
        let entries = transcript.entries();
        let mut waiting: HashMap<&str, (usize, usize)> = HashMap::new();
        let mut faults =
            Faults { unanswered: Vec::new(), left_out: HashMap::new(), place: (0..entries.len()).collect() };
        // Where the calls begin that are made one after the other, before anything comes back.
        let mut run = 0;
        for (at, entry) in entries.iter().enumerate() {
            for (part, content) in entry.message.parts.iter().enumerate() {
                match content {
                    Part::ToolCall(call)
                        if waiting.get(call.id.as_str()).is_some_and(|(before, _)| *before >= run) =>
                    {
                        faults.left_out.entry(at).or_default().push(part);
                    }
                    Part::ToolCall(call) => {
                        let earlier = waiting.insert(call.id.as_str(), (at, part));
                        faults.unanswered.extend(earlier.map(|(call, part)| (call, part, at)));
                    }
                    Part::ToolResult(result) => match waiting.remove(result.call_id.as_str()) {
                        Some((call, _)) => faults.place[call] = at,
                        None => faults.left_out.entry(at).or_default().push(part),
                    },
                    _ => {}
                }
            }
            if entry.message.role != Role::Assistant {
                run = at + 1;
            }
        }
        // The end is open from its first unanswered call on, as long as nothing but calls and results follow.
        let open =
            transcript.units().last().filter(|unit| unit.is_open()).map(|unit| unit.span().start as usize);
        let open = open.filter(|open| stays(&entries[*open..]));
        // An answer that is put into it ends what stands before.
        let ended = faults.unanswered.iter().map(|(call, ..)| *call).max();
        let at_end = |at: usize| open.is_some_and(|open| at >= open) && ended.is_none_or(|ended| at > ended);
        let waiting = waiting.into_values().filter(|(at, _)| !at_end(*at));
        faults.unanswered.extend(waiting.map(|(call, part)| (call, part, entries.len())));
        faults.unanswered.sort_unstable();
        faults
    }
}

#[cfg(test)]
mod tests {
    use longhaul_testkit::transcript;
    use longhaul_transcript::{ToolCall, UnitState};
    use proptest::{collection::vec, prelude::*};

    use super::*;

    fn shown(transcript: &Transcript) -> String {
        let said = transcript.entries().iter().map(|entry| {
            let calls = entry.message.calls().map(|call| format!("!{}", call.id));
            let results =
                entry.message.results().map(|result| format!("+{}={}", result.call_id, result.joined_text()));
            let texts = entry.message.texts().map(str::to_owned);
            texts.chain(calls).chain(results).collect::<Vec<_>>().join(" ")
        });
        said.collect::<Vec<_>>().join(" | ")
    }

    #[test]
    fn c_08_calls_without_a_result_get_one_that_says_so() {
        let broken =
            transcript("user: go\nassistant: a !ls#1 {} !ls#2 {}\ntool#1: x\nuser: on\nassistant: b");
        let repaired = repair(&broken);
        assert_eq!(shown(&repaired.transcript), "go | a !1 !2 | +1=x | +2=aborted | on | b");
        assert_eq!(repaired.done, ["m1: the call 2 of ls was never answered; it is now, as aborted"]);
        assert!(repair(&repaired.transcript).done.is_empty());
    }

    #[test]
    fn many_calls_without_a_result_are_told_in_a_line() {
        let broken =
            transcript("user: go\nassistant: !ls#1 {} !ls#2 {}\nuser: on\nassistant: !ls#3 {}\nuser: b");
        let done = repair(&broken).done;
        assert_eq!(done, ["3 calls were never answered; they are now, as aborted (m1, m3)"]);
    }

    #[test]
    fn results_without_a_call_are_left_out() {
        let broken =
            transcript("tool#9: lost\nuser: go\nassistant: !ls#1 {}\ntool#1: x\ntool#1: again\nassistant: b");
        assert_eq!(shown(&repair(&broken).transcript), "go | !1 | +1=x | b");
    }

    #[test]
    fn of_two_calls_under_one_id_one_is_left_out() {
        let broken = transcript("user: go\nassistant: !ls#1 {} !ls#1 {\"all\":true}\ntool#1: x");
        let repaired = repair(&broken);
        assert_eq!(shown(&repaired.transcript), "go | !1 | +1=x");
        assert_eq!(repaired.done, ["m1: a call under the id of another left out"]);
        let twice = transcript("user: go\nassistant: !ls#1 {} !ls#1 {}\ntool#1: x\ntool#1: y\nassistant: b");
        assert_eq!(shown(&repair(&twice).transcript), "go | !1 | +1=x | b");
        assert!(repair(&repair(&twice).transcript).done.is_empty());
        let later = transcript("user: go\nassistant: !ls#1 {} !ls#2 {}\nassistant: !ls#1 {}\ntool#1: x");
        assert_eq!(shown(&repair(&later).transcript), "go | !1 !2 | +1=x");
    }

    #[test]
    fn u_02_an_open_end_stays_open() {
        let open = transcript("user: go\nassistant: !ls#1 {} !ls#2 {}\ntool#1: x");
        assert!(repair(&open).done.is_empty());
    }

    fn message() -> impl Strategy<Value = Message> {
        let id = || prop::sample::select(vec!["1", "2", "3"]);
        let call = |id: &str| Part::ToolCall(ToolCall::function(id, "ls", "{}"));
        let result = |id: &str| Part::ToolResult(ToolResult::text(id, "x", Outcome::Unstated));
        let text = || Part::Text("so".into());
        prop_oneof![
            Just(Message::user("go")),
            Just(Message::assistant("so")),
            (vec(id(), 1..4), any::<bool>()).prop_map(move |(ids, speaks)| {
                let calls = ids.into_iter().map(call);
                Message::new(Role::Assistant, speaks.then(text).into_iter().chain(calls).collect())
            }),
            (vec(id(), 1..3), any::<bool>()).prop_map(move |(ids, speaks)| {
                let results = ids.into_iter().map(result);
                let role = if speaks { Role::User } else { Role::Tool };
                Message::new(role, results.chain(speaks.then(text)).collect())
            }),
        ]
    }

    proptest! {
        #[test]
        fn what_is_repaired_has_no_loose_ends(said in vec(message(), 0..9)) {
            let broken: Transcript = said.into_iter().collect();
            let repaired = repair(&broken);
            let is_whole = repaired.transcript.units().all(|unit| unit.state != UnitState::Broken);
            prop_assert!(is_whole, "{} -> {}", shown(&broken), shown(&repaired.transcript));
            let again = repair(&repaired.transcript);
            prop_assert!(again.done.is_empty(), "{} => {} => {}", shown(&broken), shown(&repaired.transcript), shown(&again.transcript));
        }
    }
}
