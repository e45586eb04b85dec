//! 003's forms: the quick summary of its first tier, and the six sections of its second.

use std::collections::{HashMap, HashSet};

use longhaul_extract::CallView;
use longhaul_summarize::{Draft, SummaryRequest, rules::cut};
use longhaul_transcript::{CallId, ToolCall, ToolUse};

use super::{
    page::{Page, with_decisions_of_the_person, with_the_person},
    words,
};

/// The document's six subjects. The last that is said of the focus holds; of the others everything does.
const SUBJECTS: [(&str, &[&str]); 6] = [
    ("Task Progress", &["task progress", "progress"]),
    ("Key Decisions", &["key decisions", "decisions"]),
    ("Files & Changes", &["files & changes", "files and changes", "files"]),
    ("Errors & Solutions", &["errors & solutions", "errors and solutions", "errors"]),
    ("Current Focus", &["current focus", "focus"]),
    ("Important Context", &["important context", "context"]),
];
const FOCUS: usize = 4;

/// The quick lines get this share of the limit at most; the rest of the summary by rule gets what is left.
const QUICK_SHARE: f64 = 0.4;

/// Words in less than this share of the limit say next to nothing: the quick lines stand behind them.
const FEW_WORDS: f64 = 0.25;

/// Returns the draft in the form of its tier.
pub(super) fn text(draft: &Draft, request: &SummaryRequest<'_>) -> Option<String> {
    let counter = request.counter;
    let Some(words) = words(draft) else { return Some(quick(draft, request)) };
    // Sections of several parts are merged, subject by subject.
    let words = merged(words);
    let text = with_the_person(&words, &draft.summary, request, request.limit, "\n\n");
    let text = with_decisions_of_the_person(text, request, request.limit);
    if counter.count_up_to(&words, request.limit.scaled(FEW_WORDS)).is_none() {
        return Some(text);
    }
    let mut page = Page::new(counter, request.limit);
    page.line(&text);
    page.line(&format!("\n{}", quick_lines(request, &draft.summary.tools_used)));
    Some(page.text.trim_end().to_owned())
}

/// The quick lines; then what the rules say.
fn quick(draft: &Draft, request: &SummaryRequest<'_>) -> String {
    let (counter, lines) = (request.counter, quick_lines(request, &draft.summary.tools_used));
    let separator = if lines.is_empty() { "" } else { "\n\n" };
    let room = request.limit - counter.count_text(&format!("{lines}{separator}"));
    format!("{lines}{separator}{}", cut(&draft.text, counter, room)).trim_end().to_owned()
}

/// Tools used, files explored, commands run. Behind an earlier summary the tools are those that were `used` since the conversation began:
/// it stands for these messages too.
fn quick_lines(request: &SummaryRequest<'_>, used: &[ToolUse]) -> String {
    let counter = request.counter;
    let mut page = Page::new(counter, request.limit.scaled(QUICK_SHARE));
    let share = |nth: u64| Page::new(counter, request.limit.scaled(QUICK_SHARE / (4 - nth) as f64));
    let calls = calls(request);
    let tools = match request.previous {
        Some(_) if !request.stays => used.iter().rev().map(told).collect(),
        _ => tools(&counted(&calls, request)),
    };
    let (mut files, mut commands) = (Vec::new(), Vec::new());
    for call in calls {
        let view = CallView::new(call);
        files.extend(view.path().map(str::to_owned));
        commands.extend(view.command().map(|command| command.lines().next().unwrap_or_default().to_owned()));
    }
    for (nth, (name, entries)) in
        [("Tools used", tools), ("Files explored", newest(files)), ("Commands run", newest(commands))]
            .into_iter()
            .enumerate()
    {
        // The newest are kept where not all fit.
        let fits = |from: &usize| share(nth as u64).line(&format!("{name}: {}", entries[*from..].join(", ")));
        if let Some(from) = (0..entries.len()).find(fits) {
            page.line(&format!("{name}: {}", entries[from..].join(", ")));
        }
    }
    page.text
}

/// Returns the calls of the messages that the summary stands for. Among those that were read for it are some that stay in the view,
/// between others that do not; where all stay, it tells of what is read.
fn calls<'a>(request: &SummaryRequest<'a>) -> Vec<&'a ToolCall> {
    let kept: HashSet<u64> = request.kept.iter().map(|entry| entry.id.ordinal).collect();
    let stays = |ordinal: &u64| kept.contains(ordinal);
    let all_stay = request.entries.iter().all(|entry| stays(&entry.id.ordinal));
    let gone = request.entries.iter().filter(|entry| all_stay || !stays(&entry.id.ordinal));
    gone.flat_map(|entry| entry.message.calls()).collect()
}

/// Returns those of the `calls` that stay in the view only in part, with what they were answered; all of them where there are none. The
/// header counts these messages, and so are their calls.
fn counted<'a>(calls: &[&'a ToolCall], request: &SummaryRequest<'_>) -> Vec<&'a ToolCall> {
    let pairs = request.tail.iter().zip(request.kept);
    let clipped = || pairs.clone().filter(|(was, stays)| was.message != stays.message).map(|(was, _)| was);
    let own = clipped().flat_map(|was| was.message.calls()).map(|call| &call.id);
    let answered = clipped().flat_map(|was| was.message.results()).map(|result| &result.call_id);
    let ids: HashSet<&CallId> = own.chain(answered).collect();
    let in_part: Vec<&ToolCall> = calls.iter().copied().filter(|call| ids.contains(&call.id)).collect();
    if in_part.is_empty() { calls.to_vec() } else { in_part }
}

/// Returns each tool with its number of calls, the least used first, so that the others stay where not all fit.
fn tools(calls: &[&ToolCall]) -> Vec<String> {
    let mut counts: Vec<(String, u64)> = Vec::new();
    for call in calls {
        match counts.iter_mut().find(|(name, _)| *name == call.name) {
            Some((_, count)) => *count += 1,
            None => counts.push((call.name.clone(), 1)),
        }
    }
    counts.sort_by_key(|(_, count)| *count);
    counts.into_iter().map(|(name, count)| format!("{name} ({count})")).collect()
}

/// Returns a tool with its number of calls.
fn told(used: &ToolUse) -> String {
    format!("{} ({})", used.tool, used.count)
}

/// Returns each text once, where it stands last.
fn newest(texts: Vec<String>) -> Vec<String> {
    let last: HashMap<&String, usize> = texts.iter().enumerate().map(|(at, text)| (text, at)).collect();
    let is_last = |(at, text): &(usize, &String)| last.get(*text) == Some(at);
    texts.iter().enumerate().filter(is_last).map(|(_, text)| text.clone()).collect()
}

/// Returns `text` with each subject once, in the document's order. A text without the subjects stays as it is.
pub(super) fn merged(text: &str) -> String {
    let mut sections: [Vec<Vec<&str>>; 6] = Default::default();
    let mut before: Vec<&str> = Vec::new();
    let mut current: Option<usize> = None;
    for line in text.lines() {
        match heading(line) {
            Some((subject, rest)) => {
                current = Some(subject);
                sections[subject].push(if rest.is_empty() { Vec::new() } else { vec![rest] });
            }
            None => match current.and_then(|subject| sections[subject].last_mut()) {
                Some(section) => section.push(line),
                None => before.push(line),
            },
        }
    }
    if sections.iter().all(|parts| parts.len() <= 1) {
        return text.trim().to_owned();
    }
    let mut out = before.join("\n").trim().to_owned();
    for (subject, parts) in sections.iter().enumerate() {
        let parts = if subject == FOCUS { &parts[parts.len().saturating_sub(1)..] } else { &parts[..] };
        let mut lines: Vec<&str> = Vec::new();
        for line in parts.iter().flatten().map(|line| line.trim_end()).filter(|line| !line.trim().is_empty())
        {
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
        if !lines.is_empty() {
            out.push_str(if out.is_empty() { "" } else { "\n\n" });
            out.push_str(&format!("{}. {}:\n{}", subject + 1, SUBJECTS[subject].0, lines.join("\n")));
        }
    }
    out
}

/// Returns the subject that a line begins, and what it says of it already.
fn heading(line: &str) -> Option<(usize, &str)> {
    let bare = line.trim().trim_start_matches(['#', '*', '-', ' ']);
    let bare = bare.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start_matches(['.', ')', ' ', '*']);
    let is_marked = line.trim().len() != bare.len();
    let lower = bare.to_lowercase();
    for (subject, (_, names)) in SUBJECTS.iter().enumerate() {
        for name in *names {
            let Some(after) = lower.strip_prefix(name) else { continue };
            let after = &bare[bare.len() - after.len()..];
            let rest = after.trim_start_matches('*');
            // A colon, or nothing more on a line that is marked as a heading.
            if let Some(rest) = rest.strip_prefix(':') {
                return Some((subject, rest.trim_start_matches(['*', ' '])));
            }
            if is_marked && rest.trim().is_empty() {
                return Some((subject, ""));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use longhaul_extract::FactIndex;
    use longhaul_summarize::SummaryRequest;
    use longhaul_tokens::CharsPer4;
    use longhaul_transcript::{
        Message, Outcome, Part, Role, SessionId, Tokens, ToolCall, ToolResult, Transcript,
    };

    use super::{merged, quick_lines};

    // asserts 003-06
    #[test]
    fn the_tools_are_counted_of_the_messages_that_the_summary_stands_for() {
        let call = |nth: usize| {
            let (name, arguments) = match nth {
                0..3 => ("read_file", format!(r#"{{"path":"src/part_{nth}.rs"}}"#)),
                _ => ("execute_bash", format!(r#"{{"command":"cargo test part_{nth}"}}"#)),
            };
            let call = Part::ToolCall(ToolCall::function(format!("c{nth}"), name, arguments));
            Message::new(Role::Assistant, vec![call])
        };
        let said: Transcript = (0..6).map(call).collect();
        let (session, index) = (SessionId::new("s").unwrap(), FactIndex::default());
        let request = SummaryRequest::new(&session, said.entries(), &index, &CharsPer4, Tokens(900));
        // Those in the middle stay in the view.
        let lines = quick_lines(&SummaryRequest { kept: &said.entries()[1..5], ..request }, &[]);
        assert_eq!(
            lines,
            "Tools used: read_file (1), execute_bash (1)\nFiles explored: src/part_0.rs\nCommands run: cargo test part_5"
        );
        // Where all stay in part, the summary stands for what was read.
        for kept in [&[], said.entries()] {
            let lines = quick_lines(&SummaryRequest { kept, ..request }, &[]);
            assert!(lines.starts_with("Tools used: read_file (3), execute_bash (3)\n"), "{lines}");
        }
    }

    // asserts 003-06
    #[test]
    fn where_all_messages_stay_the_calls_are_counted_whose_results_do_so_in_part() {
        let call = |nth: usize| {
            let arguments = format!(r#"{{"path":"src/part_{nth}.rs"}}"#);
            let call = Part::ToolCall(ToolCall::function(format!("c{nth}"), "read_file", arguments));
            let result = ToolResult::text(format!("c{nth}"), "fn relay() {}", Outcome::Succeeded);
            [Message::new(Role::Assistant, vec![call]), Message::tool(result)]
        };
        let said: Transcript = (0..6).flat_map(call).collect();
        let mut kept = said.entries().to_vec();
        kept[3].message = Message::tool(ToolResult::text("c1", "…", Outcome::Succeeded)).into();
        let (session, index) = (SessionId::new("s").unwrap(), FactIndex::default());
        let request = SummaryRequest::new(&session, said.entries(), &index, &CharsPer4, Tokens(900));
        let lines = quick_lines(&SummaryRequest { kept: &kept, tail: said.entries(), ..request }, &[]);
        assert_eq!(
            lines,
            "Tools used: read_file (1)\nFiles explored: src/part_0.rs, src/part_1.rs, src/part_2.rs, src/part_3.rs, src/part_4.rs, src/part_5.rs"
        );
    }

    #[test]
    fn sections_of_several_parts_are_one_and_the_newest_focus_holds() {
        let parts = "1. Task Progress: the lexer is done\n2. Key Decisions:\n- tabs are tokens\n5. Current Focus: the lexer\n\n\
             ## Task Progress\nthe parser is done\n**Key Decisions**:\n- tabs are tokens\n- no recursion\n## Current Focus\nthe printer";
        assert_eq!(
            merged(parts),
            "1. Task Progress:\nthe lexer is done\nthe parser is done\n\n2. Key Decisions:\n- tabs are tokens\n- no recursion\n\n5. Current Focus:\nthe printer"
        );
    }

    #[test]
    fn one_part_stays_as_it_is() {
        let one =
            "1. Task Progress: the lexer is done.\n\nThe context is large.\n5. Current Focus: the parser";
        assert_eq!(merged(one), one);
        assert_eq!(merged("Just prose about files: none."), "Just prose about files: none.");
    }
}
