//! What is never worth a line: receipts, the frame that a harness puts around an output, edits that did not happen, what
//! somebody is about to do and has done since.

use hashbrown::{HashMap, HashSet};
use longhaul_extract::{
    Domain, FileEdit, FileHistory, Statement, StatementKind, Statements, ToolFamily, decides, statement_key,
};
use longhaul_transcript::{Entry, has_summary_header, parse_handle_line};

use super::{
    acts::Acts,
    anew::{Anew, ordinal},
    few::FewOf,
    frames::is_frame,
    lists::{Lists, is_lead},
    noise::{is_envelope, is_markup, is_progress, says_nothing},
    passing::Passing,
    proposals::{settled_lists, settled_offers},
    runs::{Purpose, Run},
    stale::{found_later, removed, says_missing, stale},
    superseded::{Told, told_otherwise},
    undone::Undone,
};
use crate::SummaryRequest;

/// What of a pool is idle whatever a summary covers.
#[derive(Debug)]
pub(crate) struct Spent {
    /// What edits add and remove, by the keys of the lines.
    changed: HashSet<u32>,
    /// Lines that a command hands on, by their places in the pool, each with whether what they make tells of them.
    written: HashMap<usize, bool>,
    /// What the model asked before a person spoke again, by the places in the pool.
    settled: HashSet<usize>,
    /// What the model said of values that an edit took away since, by the places in the pool.
    stale: HashSet<usize>,
    /// Lines that an edit added or a file showed and a later edit removed, by the places in the pool, with the message of that edit.
    removed: HashMap<usize, u32>,
    /// What a model thought before it wrote a summary, by the places in the pool.
    analyses: HashSet<usize>,
}

impl Spent {
    pub(crate) fn new(pool: &Statements, lists: &Lists, domain: Domain) -> Spent {
        let is_change = |kind| matches!(kind, StatementKind::Added | StatementKind::Removed);
        let changes = pool.all().iter().filter(|one| is_change(one.kind));
        Spent {
            changed: changes.map(|one| one.key()).collect(),
            written: written(pool),
            settled: match domain {
                Domain::Talk => HashSet::new(),
                _ => settled_offers(pool).into_iter().chain(settled_lists(pool, lists, domain)).collect(),
            },
            stale: stale(pool).into_iter().chain(found_later(pool)).collect(),
            removed: removed(pool),
            analyses: analyses(pool),
        }
    }
}

/// What is known of a conversation that makes statements idle.
#[derive(Debug)]
pub(crate) struct Idle<'a> {
    pool: &'a Statements,
    lists: &'a Lists,
    undone: &'a Undone,
    anew: &'a Anew,
    /// The files that were put back to what version control has.
    put_back: Vec<&'a FileHistory>,
    /// The messages whose commands only look at something.
    looking: HashSet<u32>,
    /// The messages that are at hand, and the edits that took place in them, by their messages.
    at_hand: [&'a [Entry]; 2],
    edits: HashMap<u32, Vec<&'a FileEdit>>,
    /// The messages whose commands are told by how they went, and those whose output says no more, or nothing that still holds.
    told: Told,
    spent: &'a Spent,
    /// Lines of files that were read and never came up again, by the places in the pool.
    read: &'a Passing,
    /// The headers of summaries that longhaul wrote, whatever the settings call them.
    headers: HashSet<&'a str>,
    is_talk: bool,
    /// The last message in which all that was not committed was thrown away.
    reset: u64,
    /// Whether a list of what is to be done is told as a whole.
    has_plan: bool,
    /// The message with a summary of ours, which is told on under a heading of its own.
    told_on: Option<u64>,
}

impl<'a> Idle<'a> {
    pub(crate) fn new(
        request: &SummaryRequest<'a>,
        (lists, passing, spent): (&'a Lists, &'a Passing, &'a Spent),
        runs: &[Run],
        acts: &'a Acts,
        undone: &'a Undone,
        few: FewOf<'a>,
        told_on: Option<u64>,
    ) -> Idle<'a> {
        let looks = runs.iter().filter(|run| run.purpose == Purpose::Look);
        let mut edits: HashMap<u32, Vec<&FileEdit>> = HashMap::new();
        for edit in acts.files.iter().chain(&acts.files_after).flat_map(|file| &file.trail) {
            edits.entry(ordinal(edit.message)).or_default().push(edit);
        }
        let pool = request.index.statements();
        Idle {
            pool,
            lists,
            undone,
            anew: &acts.anew,
            put_back: acts.files.iter().filter(|file| file.was_put_back()).collect(),
            looking: looks.map(|run| ordinal(run.message)).collect(),
            at_hand: [request.entries, request.tail_beside_entries()],
            edits,
            told: told_otherwise(request, acts),
            spent,
            read: passing,
            headers: few.headed.iter().flat_map(|entry| entry.message.texts()).filter_map(header).collect(),
            is_talk: request.index.domain() == Domain::Talk,
            reset: acts.landings.iter().rfind(|one| one.throws_away()).map_or(0, |one| one.message),
            has_plan: !acts.plan.is_empty(),
            told_on,
        }
    }

    /// Returns whether a command hands this line on: it is no command.
    pub(crate) fn is_handed_on(&self, at: usize) -> bool {
        self.spent.written.contains_key(&at)
    }

    /// Returns whether the statement at this place of the pool says nothing that is worth a line of its own.
    pub(crate) fn holds(&self, at: usize) -> bool {
        let statement = &self.pool.all()[at];
        let family = self.pool.source(statement).map(|source| source.family());
        let is_scrap = statement.words().len() < 2 && !statement.tells_failure();
        // A few words of code or output say nothing where they stand alone.
        let is_crumb = is_crumb(statement);
        match statement.kind {
            StatementKind::Harness => true,
            StatementKind::Report if self.told_on == Some(u64::from(statement.message)) => true,
            kind if self.is_talk && kind.is_said() && statement.words().len() < LEAST_SPOKEN => true,
            // What it showed may be news; that it was run is not.
            StatementKind::Command => {
                let message = &statement.message;
                is_scrap
                    || self.looking.contains(message)
                    || self.told.asking.contains(message)
                    || says_nothing(&statement.text)
                    || self.spent.written.get(&at) == Some(&true)
            }
            StatementKind::Report => {
                is_frame(&statement.text)
                    || statement.text.starts_with(CONTINUED)
                    || self.headers.contains(statement.text.trim())
                    || is_lead(statement)
                    || is_envelope(&statement.text)
                    || statement.is_shown_code()
                    || self.spent.analyses.contains(&at)
            }
            StatementKind::Todo => self.has_plan,
            StatementKind::Added | StatementKind::Removed => {
                let message = &statement.message;
                is_scrap && statement.text.len() < SHORT_CODE
                    || self.is_at_hand(*message) && !self.took_place(statement)
                    || self.undone.by(u64::from(*message)).is_some()
                    || self.anew.stood(*message, statement.key())
                    || self.is_gone(at)
                    || self.was_put_back(at)
                    || is_crumb
            }
            StatementKind::Result => {
                is_scrap
                    || family == Some(ToolFamily::Read) && (self.is_gone(at) || self.is_there_after_all(at))
                    || is_crumb
                    || says_nothing(&statement.text)
                    || statement.is_import()
                    || self.read.is_sample(at)
                    || self.is_told_by_an_edit(&statement.text)
                    || family.is_some_and(ToolFamily::runs_commands) && self.told.answering.contains(&statement.message)
                    || is_progress(&statement.text) && !statement.tells_failure()
                    // What was refused and not done after all is told with its call.
                    || family.is_some_and(gives_receipts)
            }
            StatementKind::Argument | StatementKind::Pasted => is_scrap,
            StatementKind::Prose => {
                let opens_a_call = statement.text.ends_with([':', '：']) && self.lists.count(at) == 0;
                opens_a_call
                    || is_lead(statement)
                    || statement.is_shown_code()
                    || announces(&statement.text)
                    || self.is_settled(at)
                    || self.is_to_be_found_out(at)
            }
            StatementKind::Thought => is_scrap || self.is_said_as_well(at),
            StatementKind::Answer => {
                let is_undone = || self.undone.by(u64::from(statement.message)).is_some();
                is_lead(statement)
                    || statement.is_shown_code()
                    || self.spent.stale.contains(&at)
                    || self.is_settled(at)
                    || is_undone()
            }
            StatementKind::Person => is_lead(statement) || is_scrap && statement.answers.is_none(),
            _ => false,
        }
    }

    /// Returns whether the model says soon what it thinks at this place, in nearly the same words: it is told as said then.
    fn is_said_as_well(&self, at: usize) -> bool {
        let all = self.pool.all();
        let thought = &all[at];
        let near = |place: &usize| {
            (thought.message.saturating_sub(1)..=thought.message + SOON).contains(&all[*place].message)
        };
        let says = |place: usize| {
            let one = &all[place];
            let shared =
                || one.words().iter().filter(|word| thought.words().binary_search(word).is_ok()).count();
            matches!(one.kind, StatementKind::Answer | StatementKind::Prose)
                && shared() * 5 >= thought.words().len() * 3
                && !self.holds(place)
        };
        (0..at).rev().take_while(near).chain((at..all.len()).take_while(near)).any(says)
    }

    /// Returns whether the line at this place was read in passing: a few of them say what a file is.
    pub(crate) fn is_passing(&self, at: usize) -> bool {
        self.read.is_line(at)
    }

    /// Returns whether the line of a file at this place was taken out of the file since.
    fn is_gone(&self, at: usize) -> bool {
        let statement = &self.pool.all()[at];
        let path = || self.pool.source(statement).and_then(|source| source.path.as_deref());
        let removed = self.spent.removed.get(&at);
        // What was removed and put back stands there.
        removed.is_some_and(|by| !path().is_some_and(|path| self.is_put_back(path, *by)))
            || path().is_some_and(|path| self.anew.is_gone(path, statement.key(), statement.message))
    }

    /// Returns whether the line at this place says that a file is not there, which was read or changed since; or the tree was reset.
    fn is_there_after_all(&self, at: usize) -> bool {
        let statement = &self.pool.all()[at];
        let is_reset = || says_missing(&statement.text) && self.reset > u64::from(statement.message);
        self.spent.stale.contains(&at) || is_reset()
    }

    /// Returns whether the line of an edit at this place is gone since its file was put back to what version control has.
    fn was_put_back(&self, at: usize) -> bool {
        let statement = &self.pool.all()[at];
        let path = || self.pool.source(statement).and_then(|source| source.path.as_deref());
        !self.put_back.is_empty() && path().is_some_and(|path| self.is_put_back(path, statement.message))
    }

    /// Returns whether what the message `edit` changed in the file at `path` is gone since.
    fn is_put_back(&self, path: &str, edit: u32) -> bool {
        let mut of_path = self.put_back.iter().filter(|file| file.is_called(path));
        of_path.any(|file| file.is_gone(u64::from(edit)))
    }

    fn is_at_hand(&self, message: u32) -> bool {
        let holds = |entries: &&[Entry]| {
            entries.binary_search_by_key(&u64::from(message), |entry| entry.id.ordinal).is_ok()
        };
        self.at_hand.iter().any(holds)
    }

    /// Returns whether an edit that took place in its message may have changed this line.
    fn took_place(&self, line: &Statement) -> bool {
        let sign = if line.kind == StatementKind::Added { '+' } else { '-' };
        let edits = self.edits.get(&line.message);
        edits.is_some_and(|edits| edits.iter().any(|edit| edit.may_change(sign, &line.text)))
    }

    /// Returns whether this is a question of the model's that is settled, or an item of one.
    fn is_settled(&self, at: usize) -> bool {
        self.spent.settled.contains(&at)
            || self.lists.lead(at).is_some_and(|lead| self.spent.settled.contains(&lead))
    }

    /// Returns whether this is an item of what the model sets out to find out: what it found is told by itself.
    fn is_to_be_found_out(&self, at: usize) -> bool {
        let lead = self.lists.lead(at).map(|lead| &*self.pool.all()[lead].text);
        lead.is_some_and(|lead| announces(lead) && INQUIRING.iter().any(|verb| lead.contains(verb)))
    }

    /// Returns whether a line of a diff shows what an edit did: the edit tells it.
    fn is_told_by_an_edit(&self, line: &str) -> bool {
        line.strip_prefix(['+', '-']).is_some_and(|rest| self.spent.changed.contains(&statement_key(rest)))
    }
}

/// Returns the header of the summary that `text` is, where it is one of longhaul's.
fn header(text: &str) -> Option<&str> {
    let is_ours = has_summary_header(text) && parse_handle_line(text).is_some();
    is_ours.then(|| text.trim_start().lines().next().unwrap_or_default().trim_end())
}

/// Returns the places of the lines that commands hand on to a file or another program, `<<EOF` to `EOF`, each with whether what they
/// make tells of them.
fn written(pool: &Statements) -> HashMap<usize, bool> {
    let mut found = HashMap::new();
    let mut open: Option<(u32, String)> = None;
    for (at, statement) in pool.all().iter().enumerate() {
        if statement.kind != StatementKind::Command {
            open = None;
            continue;
        }
        if let Some((_, mark)) = open.as_ref().filter(|(message, _)| *message == statement.message) {
            // A letter to another agent, or a text, says something; code is told by the file it makes.
            let is_script = matches!(&**mark, "\"" | "'");
            found.insert(at, is_script || !statement.is_item() && statement.words().len() < LEAST_PROSE);
            if *statement.text == **mark || is_script && !is_even(&statement.text, mark) {
                open = None;
            }
            continue;
        }
        let is_mark_of_end = |mark: &&str| {
            let rest = pool.all()[at + 1..].iter();
            rest.take_while(|one| one.message == statement.message).any(|one| *one.text == **mark)
        };
        let mark = here_document(&statement.text).filter(is_mark_of_end).or(open_script(&statement.text));
        open = mark.map(|mark| (statement.message, mark.to_owned()));
    }
    found
}

/// Returns the word that ends what a command line hands on to a program, as `EOF` in `cat <<'EOF'`.
fn here_document(line: &str) -> Option<&str> {
    let (before, rest) = line.split_once("<<")?;
    let rest = rest.trim_start_matches(['-', '~']).trim_start_matches(' ');
    let rest = rest.strip_prefix(['\'', '"']).unwrap_or(rest);
    let length = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
    // In arithmetic it is a shift.
    let is_shift = before.contains("((") || rest.starts_with(|c: char| !c.is_alphabetic() && c != '_');
    (length > 0 && !is_shift).then(|| &rest[..length])
}

/// Returns the quotation mark that a script stands in which a command line hands on and that goes on in the next line: `python -c "`.
fn open_script(line: &str) -> Option<&'static str> {
    let (_, script) = [" -c ", " -e "].iter().find_map(|flag| line.split_once(flag))?;
    let mark = ["\"", "'"].into_iter().find(|mark| script.starts_with(mark))?;
    (!is_even(script, mark)).then_some(mark)
}

/// Whether as many quotations begin as end in a line.
fn is_even(line: &str, mark: &str) -> bool {
    let escaped = format!("\\{mark}");
    (line.matches(mark).count() - line.matches(&escaped).count()).is_multiple_of(2)
}

/// Returns the places of what a model thought before it wrote a summary, where both stand in one message: from `Analysis:` to
/// `Summary:`.
fn analyses(pool: &Statements) -> HashSet<usize> {
    let all = pool.all();
    let mut found = HashSet::new();
    let opens = |one: &Statement| one.kind == StatementKind::Report && begins_analysis(&one.text);
    for from in all.iter().enumerate().filter(|(_, one)| opens(one)).map(|(at, _)| at) {
        let of_message = all[from..].iter().take_while(|one| one.message == all[from].message);
        if let Some(length) = of_message.into_iter().position(|one| &*one.text == "Summary:") {
            found.extend(from..=from + length);
        }
    }
    found
}

/// Returns whether a line ends in what begins a model's thoughts before a summary.
fn begins_analysis(text: &str) -> bool {
    text.lines().last().is_some_and(|line| line.trim() == "Analysis:" || line.ends_with(": Analysis:"))
}

/// How another harness opens a summary.
const CONTINUED: &str = "This session is being continued from a previous conversation";

/// Messages behind a thought in which it may be said.
const SOON: u32 = 6;

/// Words from which on somebody says something in a talk.
const LEAST_SPOKEN: usize = 3;

/// Words from which on a line of output that names nothing says something.
const LEAST_SHOWN: usize = 4;

/// Words from which on a comment in code does.
const LEAST_COMMENT: usize = 8;

/// A line of code of one word and fewer characters is punctuation.
const SHORT_CODE: usize = 16;

/// Words from which on a line that a command writes is taken for prose.
const LEAST_PROSE: usize = 7;

/// Whether a tool's result only says that what was asked was done.
fn gives_receipts(family: ToolFamily) -> bool {
    family.changes_files() || family == ToolFamily::Todo
}

/// Whether a line of code or output is a few words that name nothing: no value, no key, and not that nothing was found.
fn is_crumb(statement: &Statement) -> bool {
    let text = statement.text.as_bytes();
    let joins = |at: usize| {
        matches!(text[at], b':' | b'=' | b'_')
            && text[at - 1].is_ascii_alphanumeric()
            && text[at + 1].is_ascii_alphanumeric()
    };
    // A record names what it is of, whatever stands between its keys and its values.
    let is_record = [": \"", ": '"].iter().any(|mark| statement.text.matches(mark).nth(1).is_some());
    let names = is_record || (1..text.len().saturating_sub(1)).any(joins);
    let least = if statement.is_comment() { LEAST_COMMENT } else { LEAST_SHOWN };
    is_markup(&statement.text)
        || statement.words().len() < least
            && !names
            && !statement.tells_failure()
            && !statement.names_a_value()
            && !text.starts_with(b"No ")
            && !COMPLAINS.iter().any(|word| statement.text.contains(word))
}

/// What stands in a line of few words that tells of something wrong.
const COMPLAINS: [&str; 11] = [
    "refused", "locked", "imeout", "imed out", "navailable", "issing", "nvalid", "onflict", "illed",
    "nauthorized", "orbidden",
];

/// Whether a sentence on the way only says what the model does next; what it then did is told by other means.
fn announces(text: &str) -> bool {
    const STARTS: [&str; 16] = [
        "let me ", "now let me ", "let's ", "now let's ", "now i'll ", "now i need to ", "now i will ",
        "i'll start ", "i'll now ", "i'll check ", "i'll look ", "i'll read ", "next, i'll ", "now update ",
        "now fix ", "now add ",
    ];
    let lower = text.to_lowercase().replace('’', "'");
    let start = lower.trim_start_matches(|c: char| !c.is_alphabetic());
    let rest = ["good! ", "good. ", "great! ", "perfect! ", "ok. ", "okay. ", "excellent! "]
        .iter()
        .find_map(|word| start.strip_prefix(word))
        .unwrap_or(start);
    let is_short = text.len() < 140 && !decides(text);
    // What goes on must be somebody's or something's that the agent itself started.
    let waits =
        WAITS.iter().any(|wait| start.contains(wait)) && STARTED.iter().any(|one| start.contains(one));
    let announces = STARTS.iter().any(|start| rest.starts_with(start)) && !rest.starts_with("let me know");
    is_short && (waits || announces)
}

/// What a model says that it does to know more.
const INQUIRING: [&str; 9] =
    ["understand", "check", "look", "find out", "figure out", "investigate", "explore", "see ", "know"];

/// What an agent waits for.
const STARTED: [&str; 9] =
    ["agent", "command", "the build", "the test", "background", "i'll ", "i will ", "i'm ", "let me "];

/// What somebody says who waits for something that goes on.
const WAITS: [&str; 9] = [
    "still running", "still working", "still active", "still pending", "still waiting", "keep waiting",
    "keep monitoring", "continue to wait", "continue monitoring",
];

#[cfg(test)]
mod tests {
    use longhaul_extract::FactIndex;
    use longhaul_testkit::transcript;

    use super::*;

    #[test]
    fn what_somebody_is_about_to_do_is_told_from_what_was_found() {
        assert!(announces("Let me re-read the file."));
        assert!(announces("Perfect! Now let's update the docs:"));
        assert!(!announces("Let's go with SQLite instead of files."));
        assert!(!announces("The file uses tabs."));
        assert!(announces("The agent is still running. I'll look again in a minute."));
        assert!(!announces("Postgres 13 is still running in production, so MERGE cannot be used."));
        assert!(!announces("The schema change is still pending because Ann has to approve it by 14 March."));
        assert!(!announces("Let me know whether key 4711 may be rotated."));
    }

    #[test]
    fn lines_that_a_command_writes_are_told_from_commands() {
        let said = transcript(
            r#"
user: go
assistant: !bash#c1 {"command":"cat > notes.txt <<'EOF'\nalpha beta gamma\nEOF\ncargo test --workspace"}
tool#c1: ok
"#,
        );
        let mut index = FactIndex::new();
        said.entries().iter().for_each(|entry| index.push(entry));
        let pool = index.statements();
        assert_eq!(here_document("cat > a.txt <<-'END' && ls"), Some("END"));
        assert_eq!([here_document("x=$((1<<n)); echo $x"), here_document("grep x <<< y")], [None, None]);
        let written = written(pool);
        let shown: Vec<&str> = written.keys().map(|at| &*pool.all()[*at].text).collect();
        assert!(
            shown.contains(&"alpha beta gamma") && !shown.contains(&"cargo test --workspace"),
            "{shown:?}"
        );
    }

    #[test]
    fn what_was_thought_before_a_summary_is_known() {
        for opening in [
            "The conversation is summarized below:\nAnalysis:",
            "The summary covers the earlier portion.\n\nAnalysis:",
        ] {
            let text = format!(
                "{CONTINUED} that ran out of context. {opening}\nLet me analyze the conversation chronologically:\n\n1. **Review**: I found that the relay is never closed.\n\n2. **Removal**: I removed `open_all()`:\n    - relay.rs\n    - wait.rs\n\nThe investigation was ongoing.\n\nSummary:\n1. Primary Request and Intent:\n   - Review the relay\n"
            );
            let mut index = FactIndex::new();
            let said: longhaul_transcript::Transcript =
                [longhaul_transcript::Message::user(text)].into_iter().collect();
            said.entries().iter().for_each(|entry| index.push(entry));
            let pool = index.statements();
            let all: Vec<_> = pool.all().iter().map(|one| (&*one.text, one.kind)).collect();
            let analyses = analyses(pool);
            let rest: Vec<&str> =
                (0..all.len()).filter(|at| !analyses.contains(at)).map(|at| all[at].0).collect();
            assert!(
                !rest.iter().any(|text| text.contains("relay is never") || text.contains("chronologically")),
                "{all:#?}"
            );
            assert!(rest.contains(&"- Review the relay"), "{all:#?}");
        }
    }
}
