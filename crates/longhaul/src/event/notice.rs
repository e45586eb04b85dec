//! The texts that tell a person what a compaction did. They quote the summary, so they are for the user's own
//! screen, not for logs.

use std::fmt::Write as _;

use longhaul_extract::{family, looks_after_one};
use longhaul_summarize::rules::{MOST_FILES, OMITTED};
use longhaul_transcript::{
    CommandNote, FileState, Summary, SummaryMode, SummaryRecord, ToolCall, ToolUse, grouped, one_line,
};

use crate::{compact::SHORTENED, session::Rewrite};

/// The width of the box, frame included.
const WIDTH: usize = 53;

/// Returns the notice after an automatic compaction: what happened, what the summary is about, and that one can go on.
/// `None` where the summary says nothing: there is then none to speak of.
pub fn notice(record: &SummaryRecord) -> Option<String> {
    if matches!(record.text.trim(), "" | OMITTED | SHORTENED) {
        return None;
    }
    let mut text = String::from(
        "I notice this conversation is getting long. I've created a summary\n\
         of our earlier discussion to maintain context efficiently.\n",
    );
    let points = points(record);
    if !points.is_empty() {
        text.push_str("\nSummary created:\n");
        points.iter().for_each(|point| text.push_str(&format!("- {point}\n")));
    }
    text.push_str("\nRecent conversation preserved. You can continue normally.\n");
    Some(text)
}

/// Returns the box after a compaction by hand: messages before and after, tokens saved, topics, how many files were changed and
/// commands run, and how many decisions the summary tells.
pub fn summary_box(rewrite: &Rewrite, messages_before: u64, messages_after: u64) -> String {
    let summary = rewrite.record.as_ref().map(|record| record.summary.clone()).unwrap_or_default();
    let saved = rewrite.outcome.tokens_before - rewrite.outcome.tokens_after;
    let reduction = match messages_before {
        0 => 0,
        before => 100 - (100 * messages_after.min(before)).div_ceil(before),
    };
    let mut lines = vec![
        format!("Messages: {messages_before} → {messages_after} ({reduction}% reduction)"),
        format!("Tokens saved: ~{}", grouped(saved.0)),
    ];
    let mut topics = rewrite.record.as_deref().map(topics).unwrap_or_default();
    if topics.is_empty() {
        topics.extend(Some(summary.goal.clone()).filter(|goal| !goal.is_empty()));
    }
    let topics: Vec<String> = topics.iter().map(|topic| whole_words(topic, WIDTH - 6)).collect();
    if !topics.is_empty() {
        lines.extend([String::new(), "Key Topics:".to_owned()]);
        lines.extend(topics.into_iter().map(|topic| format!("• {topic}")));
    }
    lines.extend([
        String::new(),
        format!("Files Modified: {}", n_changed(&summary)),
        format!("Commands Run: {}", n_run(&summary)),
        format!("Key Decisions: {}", rewrite.record.as_ref().map_or(0, |record| told(record).len())),
    ]);
    boxed("Session Summary", &lines)
}

/// Returns how many commands were run: as often as the tools that run them were called, which is counted on from summary to summary.
/// The commands that a record names are some of the last.
fn n_run(summary: &Summary) -> u64 {
    let named: u64 = summary.commands.iter().map(|command| u64::from(command.runs.max(1))).sum();
    let runs = |tool: &&ToolUse| {
        family(&ToolCall::function("", &*tool.tool, "{}")).runs_commands() && !looks_after_one(&tool.tool)
    };
    let called = summary.tools_used.iter().filter(runs).map(|tool| u64::from(tool.count)).sum();
    named.max(called)
}

/// So many characters of a decision tell which it is.
const RECOGNIZED: usize = 200;

/// Returns the decisions that the summary's text tells: a record may know more than there was room for.
fn told(record: &SummaryRecord) -> Vec<&String> {
    record.summary.decisions.iter().filter(|decision| tells(record, decision)).collect()
}

/// Returns what the summary's text is about: its key points where it tells them, else how a model's begins.
fn topics(record: &SummaryRecord) -> Vec<String> {
    let points = &record.summary.key_points;
    let told: Vec<String> =
        points.iter().filter(|point| tells(record, point)).take(MOST_TOPICS).cloned().collect();
    if !told.is_empty() || points.is_empty() && record.mode == SummaryMode::Rules {
        return told;
    }
    statements(&record.text).take(MOST_TOPICS).map(|line| whole_words(line, TOPIC_CHARS)).collect()
}

/// Returns whether the text of a record tells this; something long stands there in short.
fn tells(record: &SummaryRecord, what: &str) -> bool {
    let begins: String = one_line(what).chars().take(RECOGNIZED).collect();
    let begins = begins.trim().trim_end_matches('…').trim_end();
    !begins.is_empty() && one_line(&record.text).contains(begins)
}

/// What the lines of a preset's form begin with that only list.
const LISTS: [&str; 4] = ["Tools used: ", "Files explored: ", "Commands run: ", "Files modified: "];

/// Returns the lines of a summary in which somebody says something: no headings, no lists of ours, nothing that is quoted of tools.
fn statements(text: &str) -> impl Iterator<Item = &str> {
    let mut in_fence = false;
    let is_said = move |line: &&str| {
        let is_fence = line.starts_with("```");
        in_fence ^= is_fence;
        let is_frame =
            line.starts_with(['#', '[', '(', '…']) || line.ends_with(':') || line.starts_with("---");
        let is_list = LISTS.iter().any(|label| line.starts_with(label));
        !is_fence && !in_fence && !is_frame && !is_list && line.split_whitespace().count() >= LEAST_WORDS
    };
    text.lines().map(str::trim).map(|line| line.trim_start_matches("- ")).filter(is_said)
}

/// So many topics are named, each in one line of so many characters.
const MOST_TOPICS: usize = 3;
const TOPIC_CHARS: usize = 80;

/// So many decisions are named.
const MOST_DECISIONS: usize = 5;

/// A topic has so many words.
const LEAST_WORDS: usize = 3;

/// Returns what a summary is about, in a few lines.
fn points(record: &SummaryRecord) -> Vec<String> {
    let (summary, text) = (&record.summary, &record.text);
    let mut points = topics(record);
    let n_topics = points.len();
    let changed: Vec<&str> = changed(summary).collect();
    if !changed.is_empty() {
        // Those that the text names.
        let named: Vec<&str> = changed.iter().filter(|path| text.contains(**path)).take(3).copied().collect();
        points.push(match (named.len() < changed.len(), named.is_empty()) {
            (_, true) => format!("Modified {n} files", n = n_changed(summary)),
            (true, false) => {
                format!("Modified {n} files ({}, ...)", named.join(", "), n = n_changed(summary))
            }
            (false, false) => format!("Modified {n} files ({})", named.join(", "), n = n_changed(summary)),
        });
    }
    // What is decided may be what it is about.
    let is_said = |decision: &&String| {
        let says = |point: &String| point.contains(decision.as_str()) || decision.contains(point.as_str());
        !points[..n_topics].iter().any(says)
    };
    let decided: Vec<String> =
        told(record).into_iter().filter(is_said).take(MOST_DECISIONS).cloned().collect();
    points.extend(decided);
    // "Ran tests successfully": what the last command with a known outcome came to, where the text tells of it.
    let is_told =
        |command: &&CommandNote| text.contains(whole_words(&command.command, WIDTH).trim_end_matches('…'));
    if let Some(command) = summary.commands.iter().rfind(|command| !command.note.is_empty()).filter(is_told) {
        points.push(format!("Ran {}: {}", whole_words(&command.command, WIDTH), command.note));
    }
    points
}

/// Returns as many whole words of the first line of `text` as fit `width` characters.
pub(crate) fn whole_words(text: &str, width: usize) -> String {
    let line = text.trim().lines().next().unwrap_or_default();
    let Some((end, _)) = line.char_indices().nth(width) else { return line.to_owned() };
    let cut = &line[..end];
    let words =
        if line[end..].starts_with(' ') { cut } else { cut.rsplit_once(' ').map_or(cut, |(words, _)| words) };
    format!("{}…", words.trim_end_matches([' ', ',', ';', ':', '.', '…']))
}

fn changed(summary: &Summary) -> impl Iterator<Item = &str> {
    summary.files.iter().filter(|file| file.state != FileState::Read).map(|file| file.path.as_str())
}

/// Returns how many files were changed, as far as a record names them.
fn n_changed(summary: &Summary) -> String {
    match changed(summary).count() {
        count if count >= MOST_FILES => format!("{count} or more"),
        count => count.to_string(),
    }
}

fn boxed(title: &str, lines: &[String]) -> String {
    let inner = WIDTH - 4;
    let mut out = format!("┌─ {title} {}┐\n", "─".repeat(inner - title.chars().count() - 1));
    for line in lines {
        let shown: String = match line.chars().count() > inner {
            true => line.chars().take(inner - 1).chain(['…']).collect(),
            false => line.clone(),
        };
        // Writing to a string cannot fail.
        let _ = writeln!(out, "│ {shown:<inner$} │");
    }
    out.push_str(&format!("└{}┘\n", "─".repeat(WIDTH - 2)));
    out
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use expect_test::expect;
    use longhaul_transcript::{FileNote, Tokens};

    use super::*;
    use crate::{
        compact::Outcome,
        policy::{Action, Reason},
    };

    fn record() -> SummaryRecord {
        let file = |path: &str, state| FileNote { path: path.into(), state, note: String::new() };
        SummaryRecord {
            summary: Summary {
                key_points: vec!["Discussed authentication implementation".into()],
                decisions: vec!["Decided to use JWT tokens with refresh mechanism".into()],
                files: vec![
                    file("auth.ts", FileState::Modified),
                    file("login.tsx", FileState::Created),
                    file("README.md", FileState::Read),
                ],
                commands: vec![CommandNote { command: "npm test".into(), runs: 3, ..CommandNote::default() }],
                ..Summary::default()
            },
            ..longhaul_testkit::record(
                "Discussed authentication implementation.\n\nFiles modified: auth.ts, login.tsx\nKey decisions:\n- Decided to use JWT tokens with refresh mechanism",
            )
        }
    }

    // asserts 002-26
    #[test]
    fn the_notice_says_what_the_summary_is_about() {
        expect![[r#"
            I notice this conversation is getting long. I've created a summary
            of our earlier discussion to maintain context efficiently.

            Summary created:
            - Discussed authentication implementation
            - Modified 2 files (auth.ts, login.tsx)
            - Decided to use JWT tokens with refresh mechanism

            Recent conversation preserved. You can continue normally.
        "#]]
        .assert_eq(&notice(&record()).unwrap());
    }

    // asserts 002-26
    #[test]
    fn what_the_text_does_not_tell_is_no_topic() {
        let text =
            "## Summary\nThe relay was moved.\n- The queue is durable now.\n```\nnot a word of it\n```";
        let key_points = vec!["How would you test the mailer?".into(), "The queue is durable now".into()];
        let of = |summary: Summary, mode| {
            let told = SummaryRecord { summary, mode, text: text.into(), ..record() };
            notice(&told)
                .unwrap()
                .lines()
                .filter_map(|line| line.strip_prefix("- ").map(str::to_owned))
                .collect()
        };
        let told: Vec<String> =
            of(Summary { key_points: key_points.clone(), ..Summary::default() }, SummaryMode::Llm);
        assert_eq!(told, ["The queue is durable now"]);
        let untold = Summary { key_points: key_points[..1].to_vec(), ..Summary::default() };
        assert_eq!(of(untold, SummaryMode::Llm), ["The relay was moved.", "The queue is durable now."]);
        assert_eq!(of(Summary::default(), SummaryMode::Rules), [""; 0]);
    }

    // asserts 002-26
    #[test]
    fn what_is_decided_is_named_once() {
        let decided = "Change of plan: spruce instead of oak for the door.";
        let summary = Summary {
            key_points: vec![decided.into()],
            decisions: vec![decided.into(), "The door faces north.".into()],
            ..Summary::default()
        };
        let text = format!("m2 {decided}\nm4 The door faces north.");
        let told = notice(&SummaryRecord { summary, text, ..record() }).unwrap();
        let points: Vec<&str> = told.lines().filter_map(|line| line.strip_prefix("- ")).collect();
        assert_eq!(points, [decided, "The door faces north."]);
    }

    #[test]
    fn a_summary_that_says_nothing_is_not_announced() {
        let short = notice(&SummaryRecord { text: "Authentication was built.".into(), ..record() }).unwrap();
        assert!(short.contains("- Modified 2 files\n"), "{short}");
        for text in ["", OMITTED, SHORTENED] {
            assert_eq!(notice(&SummaryRecord { text: text.into(), ..record() }), None);
        }
    }

    #[test]
    fn a_topic_is_cut_between_words() {
        assert_eq!(whole_words("Decided to use JWT tokens, with refresh", 27), "Decided to use JWT tokens…");
        assert_eq!(whole_words("short\nand more", 27), "short");
    }

    // asserts 002-27
    #[test]
    fn commands_are_counted_as_often_as_they_were_run() {
        let tool = |tool: &str, count| ToolUse { tool: tool.into(), count, notable_uses: Vec::new() };
        let named = record().summary;
        assert_eq!(n_run(&named), 3);
        // Those of the summaries before are counted and not named; whoever asks how one goes runs none.
        let tools_used = vec![tool("execute_bash", 40), tool("BashOutput", 7), tool("read_file", 9)];
        assert_eq!(n_run(&Summary { tools_used, ..named }), 40);
    }

    #[test]
    fn a_record_that_names_as_many_files_as_it_may_has_that_many_or_more() {
        let named = |n: usize| {
            let note = |nth| FileNote {
                path: format!("part_{nth}.ts"),
                state: FileState::Modified,
                ..FileNote::default()
            };
            n_changed(&Summary { files: (0..n).map(note).collect(), ..Summary::default() })
        };
        assert_eq!((named(199), named(200)), ("199".to_owned(), "200 or more".to_owned()));
    }

    // asserts 002-27
    #[test]
    fn the_box_counts_messages_tokens_files_commands_and_decisions() {
        let rewrite = Rewrite {
            action: Action::Summarize { rebuild: false },
            reason: Reason::Manual,
            record: Some(Arc::new(record())),
            cut: None,
            outcome: Outcome {
                tokens_before: Tokens(21_345),
                tokens_after: Tokens(6_345),
                ..Outcome::default()
            },
        };
        expect![[r#"
            ┌─ Session Summary ─────────────────────────────────┐
            │ Messages: 78 → 23 (70% reduction)                 │
            │ Tokens saved: ~15,000                             │
            │                                                   │
            │ Key Topics:                                       │
            │ • Discussed authentication implementation         │
            │                                                   │
            │ Files Modified: 2                                 │
            │ Commands Run: 3                                   │
            │ Key Decisions: 1                                  │
            └───────────────────────────────────────────────────┘
        "#]]
        .assert_eq(&summary_box(&rewrite, 78, 23));
    }
}
