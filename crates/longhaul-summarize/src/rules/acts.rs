//! What the calls of a conversation did: read in one walk.

use longhaul_extract::{
    Act, Branch, CallView, Calls, FileHistory, Landing, Landings, Run, Runs, TodoItem, Todos, ToolFamily,
    Touches, call_failed, each_act, may_rework,
};
use longhaul_transcript::{Entry, FileNote, FileState, Outcome, ToolUse, clipped};

use super::{
    anew::{Anew, Visits},
    deed::Deed,
    tools::Tools,
    trail::is_scratch,
};

/// What calls did.
#[derive(Debug)]
pub(crate) struct Acts {
    /// What became of the files.
    pub(crate) files: Vec<FileHistory>,
    /// The same of those that calls behind it touched.
    pub(crate) files_after: Vec<FileHistory>,
    /// The commands that were run.
    pub(crate) runs: Vec<Run>,
    /// What was committed, pushed and published.
    pub(crate) landings: Vec<Landing>,
    /// The branch that was checked out last, as far as git said.
    pub(crate) branch: Option<Branch>,
    /// The agent's own list, as it stood last.
    pub(crate) plan: Vec<TodoItem>,
    /// The tools and what they were used for.
    pub(crate) tools: Vec<ToolUse>,
    /// The message of each call, in their order.
    pub(crate) calls: Vec<u64>,
    /// What writing files anew left as it was, and took away.
    pub(crate) anew: Anew,
    /// What tools refused and was not done after all, oldest first: the call, and the first line of what it was told.
    pub(crate) refusals: Vec<String>,
    /// The last message with a command that may have moved what is committed, whatever it was answered.
    pub(crate) reworked: Option<u64>,
    /// The calls that changed records and were not refused, oldest first.
    pub(super) deeds: Vec<Deed>,
}

/// A part of a conversation that is summarized.
#[derive(Debug)]
pub(super) struct Part<'e> {
    pub(super) entries: &'e [Entry],
    /// Those in which the model may keep a list.
    pub(super) telling: &'e [Entry],
    /// What stays behind it.
    pub(super) tail: &'e [Entry],
    pub(super) calls: Calls<'e>,
}

/// What calls did, as far as they were read.
#[derive(Clone, Debug, Default)]
struct Walk {
    calls: Vec<u64>,
    visits: Visits,
    files: Touches,
    runs: Runs,
    landings: Landings,
    branch: Option<Branch>,
    todos: Todos,
    tools: Tools,
    refused: Refused,
    deeds: Vec<Deed>,
    reworked: Option<u64>,
}

/// The calls that a conversation begins with, read: whoever summarizes a little more or less of it goes on from there.
#[derive(Debug)]
pub(crate) struct Front {
    /// Where the conversation begins that these are the first calls of.
    place: usize,
    n_calls: usize,
    n_answered: usize,
    walk: Walk,
}

impl Front {
    /// Returns whether the `calls` of a conversation that begins at `place` begin with these.
    fn leads(&self, place: usize, calls: &Calls<'_>) -> bool {
        self.place == place && calls.len() >= self.n_calls && calls.answered(self.n_calls) == self.n_answered
    }
}

/// The last part of a conversation is read again for another summary of it: so many of its calls.
const LAST_PART: usize = 16;

impl Walk {
    fn take(&mut self, act: &Act<'_>) {
        self.calls.push(act.message);
        self.visits.take(act);
        self.files.take(act);
        self.runs.take(act);
        self.landings.take(act);
        self.branch = Branch::shown(act).or(self.branch.take());
        self.todos.take(act);
        self.tools.take(&act.call);
        self.refused.take(act);
        self.deeds.extend(Deed::of(act));
        if act.call.command().is_some_and(|command| may_rework(&command)) {
            self.reworked = Some(act.message);
        }
    }
}

impl Acts {
    /// Reads what the calls of `entries` did; what those of the `tail` behind them did after all is no refusal any more.
    #[cfg(test)]
    pub(crate) fn read(entries: &[Entry], tail: &[Entry]) -> Acts {
        let part = Part { entries, telling: entries, tail, calls: Calls::of(entries) };
        Acts::of_part(&part)
    }

    /// Reads what the calls of a part of a conversation did.
    pub(super) fn of_part(part: &Part<'_>) -> Acts {
        let mut walk = Walk::default();
        part.calls.each(0..part.calls.len(), |act| walk.take(act));
        Acts::of(walk, part)
    }

    /// Does the same for a part that begins at `place` in a conversation, of which the `front` may be read already.
    pub(super) fn read_on(part: &Part<'_>, place: usize, front: &mut Option<Front>) -> Acts {
        let calls = &part.calls;
        let known = front.take().filter(|front| front.leads(place, calls)).unwrap_or_else(|| {
            let n_calls = calls.len() - calls.len() / LAST_PART;
            let mut walk = Walk::default();
            calls.each(0..n_calls, |act| walk.take(act));
            Front { place, n_calls, n_answered: calls.answered(n_calls), walk }
        });
        let mut walk = known.walk.clone();
        calls.each(known.n_calls..calls.len(), |act| walk.take(act));
        *front = Some(known);
        Acts::of(walk, part)
    }

    fn of(walk: Walk, part: &Part<'_>) -> Acts {
        let Walk { calls, visits, files, runs, landings, branch, todos, tools, mut refused, deeds, reworked } =
            walk;
        let mut after = Touches::default();
        each_act(part.tail, |act| {
            refused.mend(act);
            after.take(act);
        });
        let landings = landings.done();
        // An edit that was refused before the last commit was made otherwise, or given up.
        let committed =
            landings.iter().rev().find(|landing| landing.commits()).map(|landing| landing.message);
        let is_open = |refusal: &Refusal| !refusal.is_edit || committed.is_none_or(|at| refusal.message > at);
        Acts {
            files: files.histories(),
            files_after: after.histories(),
            runs: runs.done(),
            landings,
            branch,
            plan: todos.items(part.telling),
            tools: tools.used(),
            calls,
            anew: Anew::read(part.entries, &visits),
            deeds,
            reworked,
            refusals: refused.open.into_iter().filter(is_open).map(|refusal| refusal.told).collect(),
        }
    }
}

impl Acts {
    /// Returns each edit after `message` with its file, oldest first; files made in passing do not count.
    pub(crate) fn edits_since(&self, message: u64) -> Vec<(u64, &str)> {
        let files = self.files.iter().filter(|file| !is_scratch(&file.path));
        let edits = files.flat_map(|file| file.trail.iter().map(|edit| (edit.message, file.path.as_str())));
        let mut since: Vec<(u64, &str)> = edits.filter(|(at, _)| *at > message).collect();
        since.sort_unstable();
        since
    }

    /// Names the files that were edited after `message`, a few of them; `None` where none was.
    pub(crate) fn edited_since(&self, message: u64) -> Option<String> {
        let mut paths: Vec<&str> = Vec::new();
        for (_, path) in self.edits_since(message) {
            if !paths.contains(&path) {
                paths.push(path);
            }
        }
        // A line end in a name begins no line of ours.
        let mut names: Vec<String> =
            paths.iter().map(|path| FileNote::spelled(told_apart(path, &paths))).collect();
        let more = names.len().saturating_sub(MOST_NAMED);
        names.truncate(MOST_NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        (!names.is_empty()).then(|| names.join(", ") + &more)
    }
}

/// Returns as much of the end of `path`, in whole names, as tells it from the others in `all`.
fn told_apart<'p>(path: &'p str, all: &[&str]) -> &'p str {
    let slashes = path.rmatch_indices('/').map(|(at, _)| at);
    let mut ends = slashes.map(|at| &path[at + 1..]).filter(|end| !end.is_empty());
    let is_others = |end: &str| {
        let ends_so =
            |other: &&str| other.strip_suffix(end).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'));
        all.iter().filter(|other| **other != path).any(ends_so)
    };
    ends.find(|end| !is_others(end)).unwrap_or(path)
}

/// Files that are named.
const MOST_NAMED: usize = 4;

/// What tools refused so far, each with what the call was about.
#[derive(Clone, Debug, Default)]
struct Refused {
    open: Vec<Refusal>,
}

#[derive(Clone, Debug)]
struct Refusal {
    message: u64,
    about: String,
    /// Whether that is a file.
    is_of_file: bool,
    is_edit: bool,
    told: String,
}

impl Refused {
    fn take(&mut self, act: &Act<'_>) {
        self.mended_by_command(act);
        let (Some((answered, result)), Some(says_itself)) = (act.result, answers(&act.call)) else { return };
        let about = about(&act.call);
        let text = result.joined_text();
        let says_something = |line: &&str| !line.is_empty() && !opens_output(line);
        let line = text.lines().map(str::trim).find(says_something).unwrap_or_default();
        let line = line.trim_start_matches("<tool_use_error>").trim_end_matches("</tool_use_error>");
        // What the person said to it is the reason; the rest is the harness's.
        let is_harness = ["The user doesn't want to", "The tool use was rejected"]
            .iter()
            .any(|head| text.starts_with(head));
        let is_harness = is_harness && act.call.is_asked_first();
        let said = text.split_once(SAID).filter(|_| is_harness);
        let said = said.and_then(|(_, said)| said.trim_start().lines().next());
        let line = said.map_or_else(|| line.to_owned(), |said| format!("refused, {SAID} {said}"));
        let is_error = result.outcome == Outcome::Failed || says_itself && call_failed(&act.call, result);
        if is_error && !line.is_empty() {
            let path = act.call.path().unwrap_or_default();
            let call = FileNote::spelled(format!("{} {path}", act.call.name()).trim_end());
            let told = format!("m{answered} {call}: {}", brief(&line));
            let is_edit = act.call.family().changes_files();
            // What was tried again is told of its last time.
            let says = |told: &str| told.split_once(' ').map(|(_, says)| says.to_owned());
            self.open.retain(|refusal| says(&refusal.told) != says(&told));
            let is_of_file = !path.is_empty();
            self.open.push(Refusal { message: act.message, about, is_of_file, is_edit, told });
        } else {
            self.mended(&about);
        }
    }

    /// Takes in a call of which no refusal is told.
    fn mend(&mut self, act: &Act<'_>) {
        self.mended_by_command(act);
        let Some((_, result)) = act.result.filter(|_| answers(&act.call).is_some()) else { return };
        if result.outcome != Outcome::Failed && !call_failed(&act.call, result) {
            self.mended(&about(&act.call));
        }
    }

    /// A command changed the files that a tool would not.
    fn mended_by_command(&mut self, act: &Act<'_>) {
        if act.call.family() != ToolFamily::Shell || !self.open.iter().any(|refusal| refusal.is_of_file) {
            return;
        }
        let mut touches = Touches::default();
        touches.take(act);
        let mut files = touches.histories();
        files.retain(|file| file.state != FileState::Read);
        let is_changed = |refusal: &Refusal| files.iter().any(|file| file.is_called(&refusal.about));
        self.open.retain(|refusal| !refusal.is_of_file || !is_changed(refusal));
    }

    /// The same file was changed after all, if by another tool, or the same record.
    fn mended(&mut self, about: &str) {
        self.open.retain(|refusal| about.is_empty() || refusal.about != about);
    }
}

/// Returns what a call is about: a file; else the change of a record, by what is told of it and which one it is. Empty where
/// nothing says that another call is about the same.
fn about(call: &CallView<'_>) -> String {
    if let Some(path) = call.path() {
        return path.to_owned();
    }
    let fields = call.fields();
    let names_one =
        |key: &str| ["id", "number", "key", "code"].iter().any(|end| key.to_lowercase().ends_with(end));
    match fields.iter().find(|field| names_one(&field.key)).filter(|_| call.changes_record()) {
        Some(which) => {
            let mut told: Vec<&str> = fields.iter().map(|field| &*field.key).collect();
            told.dedup();
            format!("{} {} {}", call.inner_name(), which.text, told.join(" "))
        }
        None => String::new(),
    }
}

/// Returns whether what a call is answered are the tool's own words: what a page, a person or another agent says may begin with
/// any word. `None` where it is told otherwise, or only looks.
fn answers(call: &CallView<'_>) -> Option<bool> {
    match call.family() {
        ToolFamily::Shell | ToolFamily::Read | ToolFamily::Search | ToolFamily::List => None,
        ToolFamily::WebFetch | ToolFamily::WebSearch | ToolFamily::SubAgent | ToolFamily::Talk => Some(false),
        _ => Some(true),
    }
}

/// Returns as much of `text` as is told of a check.
pub(super) fn brief(text: &str) -> String {
    clipped(text, CHECK_CHARS)
}

/// Characters of what is told of a check.
pub(super) const CHECK_CHARS: usize = 320;

/// What stands before a person's words in the refusal of a call.
const SAID: &str = "the user said:";

/// Whether a line only opens what a harness hands on of an output.
fn opens_output(line: &str) -> bool {
    ["Exit code: ", "Wall time: ", "Output:", "Chunk ID: "].iter().any(|start| line.starts_with(start))
}

#[cfg(test)]
mod tests {
    use longhaul_testkit::transcript;

    use super::*;

    #[test]
    fn whoever_reads_on_reads_the_same() {
        let mut text = "user: go\n".to_owned();
        for nth in 0..12 {
            // Results come late, in another order, or never.
            text += &format!(
                r#"assistant: !Bash#r{nth} {{"command":"cargo test part_{nth} && git commit -m 'part {nth}'"}} !Edit#e{nth} {{"file_path":"src/{}.rs","old_string":"x","new_string":"y{nth}"}}
tool#e{nth}: {}
assistant: !Read#s{nth} {{"file_path":"src/{}.rs"}} !create_issue#i{nth} {{"title":"part {nth}"}}
tool#r{nth}: [main 1a2b3c{nth}] part {nth}
tool#s{nth}: fn part() {{}}
"#,
                nth % 5,
                if nth % 3 == 0 { "File does not exist." } else { "ok" },
                nth % 4,
            );
        }
        let said = transcript(&text);
        let (all, told) = (said.entries(), |acts: Acts| {
            let Acts { files, runs, landings, branch, plan, tools, calls, refusals, reworked, deeds, .. } =
                acts;
            format!("{:?}", (files, runs, landings, branch, plan, tools, calls, refusals, reworked, deeds))
        });
        for first in (0..=all.len()).step_by(5) {
            for next in 0..=all.len() {
                let calls = Calls::of(all);
                let part = |end: usize| Part {
                    entries: &all[..end],
                    telling: &all[..end],
                    tail: &all[end..],
                    calls: calls.within(&all[..end]),
                };
                let mut front = None;
                Acts::read_on(&part(first), 0, &mut front);
                let on = Acts::read_on(&part(next), 0, &mut front);
                assert_eq!(told(on), told(Acts::read(&all[..next], &all[next..])), "{first}, {next}");
            }
        }
    }

    #[test]
    fn an_edit_that_a_command_made_after_all_was_not_refused() {
        let edit = |nth: usize, file: &str| {
            format!(
                "assistant: !Edit#e{nth} {{\"file_path\":\"/w/app/src/{file}\",\"old_string\":\"x\",\"new_string\":\"y\"}}\ntool#e{nth}!: String to replace not found in file.\n"
            )
        };
        let script = |prints: &str| {
            format!(
                "assistant: !Bash#b1 {{\"command\":\"python3 -c \\\"\\nwith open('src/relay.rs') as f:\\n    text = f.read()\\nwith open('src/relay.rs', 'w') as f:\\n    f.write(text.replace('x', 'y'))\\n\\\"\"}}\ntool#b1: {prints}\n"
            )
        };
        let (relay, edge) = (edit(1, "relay.rs"), edit(2, "edge.rs"));
        let again = edit(3, "relay.rs");
        let said = transcript(&format!("user: go\n{relay}{edge}{again}"));
        let (of_edge, of_relay) = (
            "m4 Edit /w/app/src/edge.rs: String to replace not found in file.",
            "m6 Edit /w/app/src/relay.rs: String to replace not found in file.",
        );
        assert_eq!(Acts::read(said.entries(), &[]).refusals, [of_edge, of_relay]);
        let said = transcript(&format!("user: go\n{relay}{edge}{again}{}", script("done")));
        assert_eq!(Acts::read(said.entries(), &[]).refusals, [of_edge]);
        let (before, behind) = said.entries().split_at(7);
        assert_eq!(Acts::read(before, behind).refusals, [of_edge]);
    }

    #[test]
    fn files_of_one_name_are_told_apart() {
        let paths = ["/w/red/hooks/run.sh", "/w/blue/hooks/run.sh", "/w/red/main.rs", "main.py"];
        let named: Vec<&str> = paths.iter().map(|path| told_apart(path, &paths)).collect();
        assert_eq!(named, ["red/hooks/run.sh", "blue/hooks/run.sh", "main.rs", "main.py"]);
        assert_eq!(told_apart("run.sh", &["run.sh", "/w/run.sh"]), "run.sh");
    }

    #[test]
    fn a_refused_edit_is_told_by_what_the_tool_said() {
        let said = transcript(
            r#"
user: go
assistant: !apply_patch#c1 {"input":"*** Begin Patch\n*** Update File: a.rs\n@@\n-x\n+y\n*** End Patch"}
tool#c1: apply_patch verification failed: Failed to find expected lines in a.rs
assistant: !Edit#c2 {"file_path":"b.rs","old_string":"x","new_string":"y"} !Edit#c2 {"file_path":"c.rs","old_string":"x","new_string":"y"}
tool#c2: File does not exist.
tool#c2: ok
"#,
        );
        assert_eq!(
            Acts::read(said.entries(), &[]).refusals,
            [
                "m2 apply_patch a.rs: apply_patch verification failed: Failed to find expected lines in a.rs",
                "m4 Edit b.rs: File does not exist.",
            ]
        );
        let said = transcript(
            r#"
user: go
assistant: !ExitPlanMode#c1 {"plan":"Write the tests."}
tool#c1!: The tool use was rejected. To tell you how to proceed, the user said:
we do not need the second test
"#,
        );
        assert_eq!(
            Acts::read(said.entries(), &[]).refusals,
            ["m2 ExitPlanMode: refused, the user said: we do not need the second test"]
        );
    }
}
