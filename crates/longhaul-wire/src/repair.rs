//! Making a history whole again where its source broke it.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    sync::Arc,
};

use longhaul_transcript::{
    CallId, Entry, Message, Origin, Outcome, Part, Role, ToolCall, ToolResult, Transcript,
};

use crate::{
    Format,
    convert::losses,
    formats::Writing,
    ids::{self, Derived, renamed},
    spelled::is_spelled,
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
/// end apart, and without results that answer no call (or answer one twice). Of calls that wait under one id, the results are
/// theirs in order: a later one gets an id of its own, to its result too, and is left out where there is none. The same input gives
/// the same result.
pub fn repair(transcript: &Transcript) -> Repair {
    repaired(transcript, false, |_| true)
}

/// Does what [`repair`] does, for what is to be sent, or taken up again: the model is to go on. So calls at the open end are answered too where something
/// follows them, the results of others or words, for no provider takes that (A-02, O-01, R-01, G-01), and where they go out in
/// several messages: as they are too many for one, or some were spelled already. Messages without a spelling are Gemini's where
/// `may_lack_ids` says so.
pub(crate) fn repair_for(writing: &Writing, transcript: &Transcript, may_lack_ids: bool) -> Repair {
    repaired(transcript, may_lack_ids, |open| {
        let calls: Vec<usize> = open.iter().map(|entry| entry.message.calls().count()).collect();
        let is_last = calls.iter().skip_while(|calls| **calls == 0).all(|calls| *calls > 0);
        let is_answered = open.iter().any(|entry| entry.message.results().next().is_some());
        let is_spelled = open.iter().any(|entry| is_spelled(&entry.message, writing));
        let mut callers = open.iter().skip_while(|entry| entry.message.calls().next().is_none()).skip(1);
        let is_one = match writing.reads_as_one {
            _ if !is_spelled => true,
            // Calls that follow each other are made at once, where words are no items between them.
            true => {
                !writing.dialect.is_of_items || callers.all(|entry| entry.message.texts().next().is_none())
            }
            false => callers.next().is_none(),
        };
        is_last && !is_answered && is_one && calls.iter().sum::<usize>() <= writing.most_calls
    })
}

/// Repairs, and leaves the open end as it is where it `stays` so.
fn repaired(transcript: &Transcript, may_lack_ids: bool, stays: impl Fn(&[Entry]) -> bool) -> Repair {
    let mut done = Vec::new();
    let strays = Strays::of(transcript, may_lack_ids);
    let (transcript, numbers) = strays.settled(transcript, &mut done);
    let entries = transcript.entries();
    // What stood behind a call that is left open now was no answer to it, but came after it.
    let is_cut = |open: usize| strays.last_result > Some(numbers[open]);
    let faults = Unanswered::of(&transcript, |open, entries| !is_cut(open) && stays(entries));
    if faults.calls.is_empty() {
        return Repair { transcript, done };
    }
    // Missing results stand behind those that the same message did get, and before a call that takes the id over.
    let mut due: HashMap<usize, Vec<Part>> = HashMap::new();
    for (at, part, before) in &faults.calls {
        let Part::ToolCall(call) = &entries[*at].message.parts[*part] else { continue };
        let result = ToolResult::text(call.id.clone(), ABORTED, Outcome::Failed);
        due.entry(faults.place[*at].min(before - 1)).or_default().push(Part::ToolResult(result));
    }
    done.extend(answered(entries, &faults.calls, &numbers));
    let mut repair = Repair { transcript: Transcript::new(), done };
    for (at, entry) in entries.iter().enumerate() {
        repair.transcript.push(entry.message.clone());
        for result in due.remove(&at).into_iter().flatten() {
            repair.transcript.push(Message::new(Role::Tool, vec![result]).with_origin(Origin::Longhaul));
        }
    }
    repair
}

/// Says which calls are answered now, in one line: a turn that was broken off may have made many.
fn answered(entries: &[Entry], unanswered: &[(usize, usize, usize)], numbers: &[usize]) -> Option<String> {
    let call = |(at, part, _): &(usize, usize, usize)| match &entries[*at].message.parts[*part] {
        Part::ToolCall(call) => Some((numbers[*at], call)),
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

/// Calls and results that do not pair up by their ids.
#[derive(Default)]
struct Strays {
    /// Parts that are results without a call, or calls under the id of another that waits, by message, in order.
    left_out: HashMap<usize, Vec<usize>>,
    /// Calls under the id of another that were answered as well, and their results, with ids of their own.
    renamed: HashMap<usize, Vec<(usize, CallId)>>,
    /// The last message with a result without a call.
    last_result: Option<usize>,
}

impl Strays {
    fn of(transcript: &Transcript, may_lack_ids: bool) -> Strays {
        // Elsewhere `ls-2` is an id like any other.
        let may_lack_ids = |message: &Message| match &message.raw {
            Some(raw) => raw.format.parse::<Format>().is_ok_and(|format| format.spec().may_lack_ids),
            None => may_lack_ids,
        };
        let mut strays = Strays::default();
        let (mut derived, mut said) = (Derived::default(), HashMap::new());
        // What waits under an id: the call, and others that are made under it in the same run of calls.
        let mut waiting: HashMap<&str, VecDeque<Waiting>> = HashMap::new();
        // G-10: calls that came without an id, by their tools.
        let mut nameless: HashMap<&str, VecDeque<(&str, usize, usize)>> = HashMap::new();
        // Where the calls begin that are made one after the other, before anything comes back, and those since the user spoke.
        let (mut run, mut turn) = (0, 0);
        for (at, entry) in transcript.entries().iter().enumerate() {
            let mut n_calls = 0;
            for (part, content) in entry.message.parts.iter().enumerate() {
                match content {
                    Part::ToolCall(call) => {
                        let queue = waiting.entry(call.id.as_str()).or_default();
                        let is_again = queue.back().is_some_and(|before| before.at >= run);
                        if !is_again {
                            strays.leave_out(queue.drain(..));
                        }
                        queue.push_back(Waiting { at, part, nth: n_calls, is_again });
                        if may_lack_ids(&entry.message) && tool_in(call.id.as_str(), &call.name) {
                            nameless.entry(&call.name).or_default().push_back((call.id.as_str(), at, part));
                        }
                        n_calls += 1;
                    }
                    Part::ToolResult(result) => {
                        let id = result.call_id.as_str();
                        // A message that holds a call with its result means this one.
                        let of_queue = |queue: &mut VecDeque<Waiting>| {
                            let own = queue.iter().position(|call| call.at == at);
                            queue.remove(own.unwrap_or_default())
                        };
                        let named = waiting.get_mut(id).and_then(of_queue).map(|call| (id, call));
                        match named.or_else(|| next_of_tool(id, turn, &mut nameless, &mut waiting)) {
                            Some((_, call)) if call.is_again => {
                                let caller = &transcript.entries()[call.at].message;
                                let said = said.entry(call.at).or_insert_with(|| ids::said(caller));
                                let id = derived.id(said, call.nth, &HashSet::new());
                                strays.renamed.entry(call.at).or_default().push((call.part, id.clone()));
                                strays.renamed.entry(at).or_default().push((part, id));
                            }
                            Some((own, _)) if own != id => {
                                strays.renamed.entry(at).or_default().push((part, own.into()));
                            }
                            Some(_) => {}
                            None => {
                                strays.left_out.entry(at).or_default().push(part);
                                strays.last_result = Some(at);
                            }
                        }
                    }
                    _ => {}
                }
            }
            if entry.message.role != Role::Assistant {
                run = at + 1;
                turn = if entry.message.results().next().is_none() { run } else { turn };
            }
        }
        waiting.into_values().for_each(|queue| strays.leave_out(queue));
        strays.left_out.values_mut().for_each(|parts| parts.sort_unstable());
        strays
    }

    /// Leaves the calls out that were made under the id of another and not answered.
    fn leave_out(&mut self, waiting: impl IntoIterator<Item = Waiting>) {
        for call in waiting.into_iter().filter(|call| call.is_again) {
            self.left_out.entry(call.at).or_default().push(call.part);
        }
    }

    /// Returns `transcript` without these, and which message of it each one was.
    fn settled(&self, transcript: &Transcript, done: &mut Vec<String>) -> (Transcript, Vec<usize>) {
        if self.left_out.is_empty() && self.renamed.is_empty() {
            return (transcript.clone(), (0..transcript.len()).collect());
        }
        let (mut settled, mut numbers) = (Transcript::new(), Vec::new());
        for (at, entry) in transcript.entries().iter().enumerate() {
            let mut message = entry.message.clone();
            let is_broken = self.renamed.contains_key(&at) || self.left_out.contains_key(&at);
            if is_broken && message.calls().next().is_some() && message.results().next().is_some() {
                // Which of two calls under one id a result in their message is of, its spelling alone tells.
                Arc::make_mut(&mut message).raw = None;
            }
            if let Some(ids) = self.renamed.get(&at) {
                let is_call =
                    |(part, _): &&(usize, CallId)| matches!(message.parts[*part], Part::ToolCall(_));
                let n_calls = ids.iter().filter(is_call).count();
                let what = counted(n_calls, "a call has an id", "calls have ids");
                done.extend(
                    what.map(|what| {
                        format!("m{at}: {what} of its own now, that stood under the id of another")
                    }),
                );
                message = Arc::new(renamed(&message, ids));
            }
            if let Some(left_out) = self.left_out.get(&at) {
                done.extend(told(&message, left_out).map(|what| format!("m{at}: {what} left out")));
                let mut part = 0;
                Arc::make_mut(&mut message).parts.retain(|_| {
                    part += 1;
                    left_out.binary_search(&(part - 1)).is_err()
                });
                if message.parts.is_empty() {
                    continue;
                }
            }
            numbers.push(at);
            settled.push(message);
        }
        (settled, numbers)
    }
}

/// A call that waits for its result.
struct Waiting {
    at: usize,
    part: usize,
    /// How many calls stand before it in its message.
    nth: usize,
    /// Another one waits under its id, in the same run of calls.
    is_again: bool,
}

/// Returns whether `id` is what stands for the id of a call to `tool` that came without: its name, and the how manieth it is.
fn tool_in(id: &str, tool: &str) -> bool {
    let nth = id.strip_prefix(tool);
    nth.is_some_and(|nth| {
        nth.is_empty() || nth.strip_prefix('-').is_some_and(|nth| nth.parse::<u32>().is_ok())
    })
}

/// Returns the first call since the user spoke (`turn`) that waits for a result of the tool which `id` names, with its own id: without ids,
/// results come in the order of the calls, in however many messages the calls and the results stand.
fn next_of_tool<'a>(
    id: &str,
    turn: usize,
    nameless: &mut HashMap<&str, VecDeque<(&'a str, usize, usize)>>,
    waiting: &mut HashMap<&'a str, VecDeque<Waiting>>,
) -> Option<(&'a str, Waiting)> {
    let names = [Some(id), id.rsplit_once('-').map(|(name, _)| name)];
    let name = names.into_iter().flatten().find(|name| nameless.contains_key(name) && tool_in(id, name))?;
    let queue = nameless.get_mut(name)?;
    while let Some((own, at, part)) = queue.pop_front() {
        let queue = waiting.get_mut(own).filter(|_| at >= turn);
        let call = queue.and_then(|queue| {
            let place = queue.iter().position(|call| (call.at, call.part) == (at, part))?;
            queue.remove(place)
        });
        if let Some(call) = call {
            return Some((own, call));
        }
    }
    None
}

/// Says what these parts of a message are.
fn told(message: &Message, parts: &[usize]) -> impl Iterator<Item = String> {
    let n_calls = parts.iter().filter(|part| matches!(message.parts[**part], Part::ToolCall(_))).count();
    let calls = counted(n_calls, "a call", "calls").map(|calls| format!("{calls} under the id of another"));
    let results = counted(parts.len() - n_calls, "a result", "results");
    calls.into_iter().chain(results.map(|results| format!("{results} without a call")))
}

fn counted(count: usize, one: &str, many: &str) -> Option<String> {
    match count {
        0 => None,
        1 => Some(one.to_owned()),
        count => Some(format!("{count} {many}")),
    }
}

/// Calls that are never answered.
struct Unanswered {
    /// Message and part of each that does not stand at the open end, and the message before which its answer is due: one that
    /// calls under its id, or the end.
    calls: Vec<(usize, usize, usize)>,
    /// For each message the last one that answers it, or itself.
    place: Vec<usize>,
}

impl Unanswered {
    fn of(transcript: &Transcript, stays: impl Fn(usize, &[Entry]) -> bool) -> Unanswered {
        let entries = transcript.entries();
        let mut waiting: HashMap<&str, (usize, usize)> = HashMap::new();
        let mut faults = Unanswered { calls: Vec::new(), place: (0..entries.len()).collect() };
        for (at, entry) in entries.iter().enumerate() {
            for (part, content) in entry.message.parts.iter().enumerate() {
                match content {
                    Part::ToolCall(call) => {
                        let earlier = waiting.insert(call.id.as_str(), (at, part));
                        faults.calls.extend(earlier.map(|(call, part)| (call, part, at)));
                    }
                    Part::ToolResult(result) => {
                        if let Some((call, _)) = waiting.remove(result.call_id.as_str()) {
                            faults.place[call] = at;
                        }
                    }
                    _ => {}
                }
            }
        }
        // The end is open from its first unanswered call on, as long as nothing but calls and results follow.
        let open =
            transcript.units().last().filter(|unit| unit.is_open()).map(|unit| unit.span().start as usize);
        let open = open.filter(|open| stays(*open, &entries[*open..]));
        // An answer that is put into it ends what stands before.
        let ended = faults.calls.iter().map(|(call, ..)| *call).max();
        let at_end = |at: usize| open.is_some_and(|open| at >= open) && ended.is_none_or(|ended| at > ended);
        let waiting = waiting.into_values().filter(|(at, _)| !at_end(*at));
        faults.calls.extend(waiting.map(|(call, part)| (call, part, entries.len())));
        faults.calls.sort_unstable();
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
    fn a_call_is_answered_that_only_a_result_without_a_call_follows() {
        for said in [
            "user: go\nassistant: !ls#1 {}\ntool#9: nobody",
            "user: go\nassistant: !ls#0 {}\ntool#0: x\nassistant: !ls#1 {}\ntool#0: x",
        ] {
            let repaired = repair(&transcript(said));
            assert!(
                shown(&repaired.transcript).ends_with("!1 | +1=aborted"),
                "{}",
                shown(&repaired.transcript)
            );
            assert_eq!(repaired.done.len(), 2, "{:?}", repaired.done);
        }
    }

    #[test]
    fn of_two_calls_under_one_id_one_is_left_out() {
        let broken = transcript("user: go\nassistant: !ls#1 {} !ls#1 {\"all\":true}\ntool#1: x");
        let repaired = repair(&broken);
        assert_eq!(shown(&repaired.transcript), "go | !1 | +1=x");
        assert_eq!(repaired.done, ["m1: a call under the id of another left out"]);
        let twice = transcript("user: go\nassistant: !ls#1 {} !ls#1 {}\ntool#1: x\ntool#1: y\nassistant: b");
        let repaired = repair(&twice);
        let id = repaired.transcript.entries()[1].message.calls().nth(1).unwrap().id.clone();
        assert_eq!(shown(&repaired.transcript), format!("go | !1 !{id} | +1=x | +{id}=y | b"));
        assert_eq!(
            repaired.done,
            ["m1: a call has an id of its own now, that stood under the id of another"]
        );
        assert!(repair(&repaired.transcript).done.is_empty());
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
