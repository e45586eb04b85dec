//! What a person pasted: output of programs, code and quotations among words of their own.

use std::ops::Range;

use super::{Matter, crowd::Crowd};
use crate::constraints::demand::{has_demand, is_order};

/// Returns the pieces of `text[range]`, which a person sent, as words and as what was pasted.
///
/// Told from structure only: fenced code, quotations, and paragraphs most of whose lines look as programs write them. A
/// command to the harness is one line of its own that begins with a slash.
pub(super) fn split(text: &str, range: Range<usize>) -> impl Iterator<Item = (Range<usize>, Matter)> {
    let piece = &text[range.clone()];
    if is_command(piece.trim()) {
        return vec![(range, Matter::Command)].into_iter();
    }
    let mut paragraphs = paragraphs(piece);
    // An indented paragraph between two that were pasted was pasted with them.
    for at in 1..paragraphs.len().saturating_sub(1) {
        let is_indented = piece[paragraphs[at].0.clone()].starts_with([' ', '\t']);
        if is_indented && paragraphs[at - 1].1 && paragraphs[at + 1].1 {
            paragraphs[at].1 = true;
        }
    }
    set_apart(piece, &mut paragraphs);
    let mut found: Vec<(Range<usize>, Matter)> = Vec::new();
    for (place, is_pasted) in paragraphs {
        let place = range.start + place.start..range.start + place.end;
        let matter = if is_pasted { Matter::Pasted } else { Matter::Words };
        match found.last_mut().filter(|(_, last)| *last == matter) {
            Some((last, _)) => last.end = place.end,
            None => found.push((place, matter)),
        }
    }
    found.into_iter()
}

/// Takes the first and the last lines of what a person sent apart from the material that they stand at without a blank line,
/// where they ask for something or the first lead it in: "Never touch the table: " and then the log.
fn set_apart(text: &str, paragraphs: &mut Vec<(Range<usize>, bool)>) {
    let is_material = |(place, is_pasted): &&(Range<usize>, bool)| {
        *is_pasted && !text[place.clone()].trim_start().starts_with("```")
    };
    if let Some((place, _)) = paragraphs.last().filter(is_material).cloned()
        && let Some(at) = said_behind(&text[place.clone()]).map(|at| place.start + at)
    {
        paragraphs.pop();
        paragraphs.extend([(place.start..at, true), (at..place.end, false)]);
    }
    if let Some((place, _)) = paragraphs.first().filter(is_material).cloned()
        && let Some(at) = said_before(&text[place.clone()]).map(|at| place.start + at)
    {
        paragraphs.splice(..1, [(place.start..at, false), (at..place.end, true)]);
    }
}

/// Returns where the words begin that stand behind `material`, of which they are the last lines: the first that asks for something.
fn said_behind(material: &str) -> Option<usize> {
    let crowd = Crowd::of(material);
    let lines = material.trim_end().rsplit('\n').take(MOST_SAID);
    let said = lines.take_while(|line| may_be_said(line) && !crowd.has(line));
    let mut at = material.trim_end().len() + 1;
    let places = said.map(|line| {
        at -= line.len() + 1;
        (at, line)
    });
    places.filter(|(at, line)| *at > 0 && asks(line)).last().map(|(at, _)| at)
}

/// Returns where the words end that stand before `material`, of which they are the first lines: behind the last that asks for
/// something, or leads the rest in.
fn said_before(material: &str) -> Option<usize> {
    let crowd = Crowd::of(material);
    let mut lines = material.split_inclusive('\n').peekable();
    let (mut at, mut end) = (0, None);
    for _ in 0..MOST_SAID {
        let line = lines.next().filter(|line| may_be_said(line) && !crowd.has(line));
        let (Some(line), Some(next)) = (line, lines.peek()) else { break };
        at += line.len();
        let is_log = crowd.has(next) || is_stamped(next.trim_start());
        let leads = is_log || line.trim_end().ends_with(':') && is_machine(next);
        if asks(line) || leads && line.split_whitespace().count() >= LEAST_LEAD {
            end = Some(at);
        }
    }
    end
}

fn may_be_said(line: &str) -> bool {
    // Beside a log a note is a compiler's.
    let notes = ["note: ", "help: ", "= note: ", "= help: ", "hint: "];
    !line.starts_with([' ', '\t']) && !is_machine(line) && !notes.iter().any(|note| line.starts_with(note))
}

fn asks(line: &str) -> bool {
    let text = line.trim();
    let first = text.split(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
    let asks = |word: &str| first.eq_ignore_ascii_case(word);
    // Programs say what to run next.
    let orders = || !asks("run") && is_order(text);
    has_demand(text) || text.ends_with('?') || ASKING.iter().any(|word| asks(word)) || orders()
}

/// How a line begins that asks for something beside a log.
const ASKING: &[&str] = &[
    "find", "fix", "tell", "explain", "why", "what", "how", "can", "could", "help", "answer", "look",
    "check", "please", "and",
];

/// Lines of words that are looked for at either end of a log.
const MOST_SAID: usize = 12;

/// Fewer words before a log are a part of it.
const LEAST_LEAD: usize = 3;

/// Whether `text` is a command to the harness: `/clear`, `/review 12`. A path has a second slash.
fn is_command(text: &str) -> bool {
    let Some(rest) = text.strip_prefix('/').filter(|_| !text.contains('\n')) else { return false };
    let name = rest.split(' ').next().unwrap_or_default();
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':');
    rest.len() <= 80 && name.starts_with(|c: char| c.is_ascii_lowercase()) && name.chars().all(is_name)
}

/// Returns the paragraphs of `text`, fenced code as one each, and whether each was pasted.
fn paragraphs(text: &str) -> Vec<(Range<usize>, bool)> {
    let mut found = Vec::new();
    let mut open: Option<Range<usize>> = None;
    let (mut lines, mut machine) = (0, 0);
    let mut fence = false;
    let mut at = 0;
    let close =
        |open: &mut Option<Range<usize>>, lines: &mut usize, machine: &mut usize, found: &mut Vec<_>| {
            if let Some(place) = open.take() {
                let paragraph = &text[place.clone()];
                let opens_output = *lines > 1 && opens_output(paragraph);
                let is_machine = *machine > 0 && *machine * 2 >= *lines;
                found.push((place, opens_output || is_machine || Crowd::of(paragraph).is_log(*lines)));
            }
            (*lines, *machine) = (0, 0);
        };
    for line in text.split_inclusive('\n') {
        let place = at..at + line.len();
        at = place.end;
        if line.trim_start().starts_with("```") {
            if fence {
                if let Some(open) = open.as_mut() {
                    open.end = place.end;
                }
                close(&mut open, &mut lines, &mut machine, &mut found);
            } else {
                close(&mut open, &mut lines, &mut machine, &mut found);
                open = Some(place);
            }
            fence = !fence;
            (lines, machine) = (0, 0);
            if fence {
                (lines, machine) = (1, 1);
            }
            continue;
        }
        if fence {
            if let Some(open) = open.as_mut() {
                open.end = place.end;
            }
            continue;
        }
        if line.trim().is_empty() && !is_padded(line) {
            close(&mut open, &mut lines, &mut machine, &mut found);
            continue;
        }
        open.get_or_insert(place.start..place.start).end = place.end;
        if !line.trim().is_empty() {
            lines += 1;
            machine += usize::from(is_machine(line));
        }
    }
    close(&mut open, &mut lines, &mut machine, &mut found);
    found
}

/// Whether a program rather than a person wrote the line, by itself.
fn is_machine(line: &str) -> bool {
    let text = line.trim();
    let opens = |starts: &[&str]| starts.iter().any(|start| text.starts_with(start));
    is_padded(line)
        || opens(STARTS)
        || matches!(text, "FAIL" | "PASS" | "{" | "}" | "}," | "]" | "],")
        || text.contains(is_box)
        || is_stamped(text)
        || is_frame(text)
        || is_build_step(text)
        || is_columns(text)
        || is_logged(text)
        || text
            .split(' ')
            .next()
            .is_some_and(|word| word.len() > "Warning:".len() && word.ends_with("Warning:"))
        || is_place(text)
        || is_of_an_excerpt(text)
}

/// Whether a paragraph begins as the output of a test run, a crash or a screen does: what follows in it goes on so.
fn opens_output(paragraph: &str) -> bool {
    let text = paragraph.trim_start();
    let first = text.lines().next().unwrap_or_default();
    OUTPUT_STARTS.iter().any(|start| text.starts_with(start)) || text.starts_with(is_box) || is_banner(first)
}

fn is_box(c: char) -> bool {
    ('\u{2500}'..='\u{257f}').contains(&c)
}

/// Whether the line is filled up with blanks, as terminals do.
fn is_padded(line: &str) -> bool {
    line.trim_end_matches(['\n', '\r']).ends_with("    ")
}

/// A line that begins with a date or a time: `2026-01-02T10:00`, `[10:00:01]`.
fn is_stamped(text: &str) -> bool {
    let text = text.strip_prefix('[').unwrap_or(text).as_bytes();
    let shaped = |shape: &str| {
        shape.len() <= text.len()
            && shape.bytes().zip(text).all(|(want, byte)| match want {
                b'0' => byte.is_ascii_digit(),
                b'T' => matches!(byte, b'T' | b' '),
                want => want == *byte,
            })
    };
    let is_of_syslog = || {
        let month = text.get(..3).is_some_and(|month| MONTHS.iter().any(|known| known.as_bytes() == month));
        month && text.get(6..15).is_some_and(|time| time[0] == b' ' && time[3] == b':' && time[6] == b':')
    };
    shaped("0000-00-00T00:00") || shaped("00:00:00") || is_of_syslog()
}

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// A line of the excerpt that a compiler shows: `  --> src/a.rs:7:5`, `12 |     let x = 1;`.
fn is_of_an_excerpt(text: &str) -> bool {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start();
    text.starts_with("--> ") || rest == "|" || rest.starts_with("| ") && !rest[1..].contains('|')
}

/// A line of an image's build: `#8 0.310 Unpacking libx2`, `#9 [2/7] RUN make`, `#9 DONE 2.1s`.
fn is_build_step(text: &str) -> bool {
    let Some((number, rest)) = text.strip_prefix('#').and_then(|text| text.split_once(' ')) else {
        return false;
    };
    let is_time =
        |word: &str| word.contains('.') && word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let first = rest.split(' ').next().unwrap_or_default();
    !number.is_empty()
        && number.bytes().all(|byte| byte.is_ascii_digit())
        && (is_time(first)
            || first.starts_with('[')
            || ["DONE", "CACHED", "ERROR", "sha256:"].contains(&first))
}

/// A row of a table as programs print it (`ns-0   worker-0   1/1   Running`), a banner, a test file's row of dots.
fn is_columns(text: &str) -> bool {
    let fields = text.split("  ").filter(|field| !field.trim().is_empty()).count();
    fields >= 4 || is_banner(text) || text.ends_with("%]")
}

/// `===== test session starts =====`
fn is_banner(text: &str) -> bool {
    text.starts_with("===") && text.ends_with("===") && text.contains(' ')
}

/// A line of a program's own log: `WARNING etl.bucket:bucket.py:31 always pass …`.
fn is_logged(text: &str) -> bool {
    let mut words = text.split_whitespace();
    let level = words.next().is_some_and(|word| LEVELS.contains(&word.trim_end_matches(':')));
    level
        && words.next().is_some_and(|of| of.trim_end_matches(':').contains([':', '.']) && !of.ends_with('.'))
}

const LEVELS: [&str; 8] = ["TRACE", "DEBUG", "INFO", "WARN", "WARNING", "ERROR", "CRITICAL", "FATAL"];

/// A frame of a stack: `at run (src/a.ts:1:2)`.
fn is_frame(text: &str) -> bool {
    text.strip_prefix("at ").is_some_and(|rest| {
        rest.ends_with(|c: char| c == ')' || c.is_ascii_digit())
            && rest.contains(':')
            && rest.contains(['/', '.'])
    })
}

/// A line that begins with a place in a file: `src/a.go:12: `, `a.ts(3,4): `.
fn is_place(text: &str) -> bool {
    let Some((place, _)) = text.split_once(": ") else { return false };
    let Some((file, line)) = place.split_once([':', '(']) else { return false };
    let is_number = |c: char| c.is_ascii_digit() || matches!(c, ':' | ',' | ')');
    file.contains('.') && !file.contains(' ') && !line.is_empty() && line.chars().all(is_number)
}

/// How lines begin that programs write: test runners, compilers, shells, stack traces, diffs; and quotations.
const STARTS: &[&str] = &[
    "> ",
    "$ ",
    "➜ ",
    "❯ ",
    "⎿",
    "⏺",
    "⠇",
    "● ",
    "✓ ",
    "✗ ",
    "✔ ",
    "✖ ",
    "--- FAIL",
    "--- PASS",
    "=== RUN",
    "=== NAME",
    "=== FAIL",
    "ok  \t",
    "FAIL\t",
    "FAIL ",
    "PASS ",
    "Traceback (most recent",
    "File \"",
    "error[",
    "error: ",
    "Error: ",
    "warning: ",
    "panic:",
    "goroutine ",
    "thread '",
    "diff --git",
    "@@ ",
    "+++ ",
    "--- a/",
    "Caused by:",
    "Debugger ",
    "Waiting for the debugger",
    "npm ERR!",
    "npm error",
    "npm warn",
    "npm WARN",
    "ERROR: ",
    "FATAL: ",
    "WARNING:  ",
    "LOG:  ",
    "HINT:  ",
    "DETAIL:  ",
    "WARN[",
    "[WARN",
    "[ERROR",
    "[INFO",
    "Error from server",
    "nginx: [",
    "> Task :",
    "E   ",
    "make: *** ",
    "make[",
];

/// How output begins that goes on to the next blank line, whatever its lines look like.
const OUTPUT_STARTS: &[&str] = &[
    "--- FAIL", "--- PASS", "=== RUN", "=== NAME", "=== FAIL", "Traceback (most recent", "panic:",
    "goroutine ", "diff --git", "thread '", "error[",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(text: &str) -> Vec<(Matter, &str)> {
        split(text, 0..text.len()).map(|(range, matter)| (matter, text[range].trim())).collect()
    }

    #[test]
    fn output_and_code_are_told_from_words() {
        let text = "this fails, never skip it:\n\n--- FAIL: TestA (0.0s)\n    a_test.go:65: must not be empty\nFAIL\n\nplease fix\n\n```sh\nmust not\n\nalways\n```\nthanks";
        let found = pieces(text);
        let matters: Vec<Matter> = found.iter().map(|(matter, _)| *matter).collect();
        assert_eq!(
            matters,
            [Matter::Words, Matter::Pasted, Matter::Words, Matter::Pasted, Matter::Words],
            "{found:?}"
        );
        assert_eq!((found[2].1, found[4].1), ("please fix", "thanks"));
    }

    #[test]
    fn a_demand_before_or_behind_a_log_is_said_although_no_blank_line_parts_them() {
        let log = "10:00:01 served part 1\n10:00:02 served part 2\nerror: you must not do that\n";
        let text = format!("Rule: never restart the relay.\n{log}Never touch the table audit_trail.");
        assert_eq!(
            pieces(&text),
            [
                (Matter::Words, "Rule: never restart the relay."),
                (Matter::Pasted, log.trim()),
                (Matter::Words, "Never touch the table audit_trail."),
            ]
        );
        assert_eq!(pieces(log), [(Matter::Pasted, log.trim())], "what a program says asks for nothing");
        let crash =
            "Traceback (most recent call last):\n  File \"a.py\", line 1\nValueError: not a number: 'x'";
        assert_eq!(pieces(crash), [(Matter::Pasted, crash)]);
    }

    #[test]
    fn a_log_without_stamps_is_pasted_and_what_stands_at_it_is_said() {
        let logs: [fn(usize) -> String; 5] = [
            |nth| format!("gcc -O2 -c src/mod_{nth}.c -o build/mod_{nth}.o\n"),
            |nth| format!("   Compiling crate-{nth} v0.{nth}.0\n"),
            |nth| format!("npm http fetch GET 200 https://registry.npmjs.org/pkg-{nth} {nth}ms\n"),
            |nth| format!("tests/test_mod_{nth}.py::test_case_{nth} PASSED [ {nth}%]\n"),
            |nth| format!("Nov {nth:02} 10:00:07 host7 systemd[1]: Started Session {nth} of user root.\n"),
        ];
        let before = "The build fails since Tuesday, here is all of it.\nUse tabs, not spaces.";
        let behind = "Now move the export into the relay.\nNever push to main.\nThe port is 7443.";
        for log in logs {
            let warning = "You must not edit generated files. Always run 'make regen'.\n";
            let lines: String =
                (0..60).map(|nth| if nth % 20 == 7 { warning.to_owned() } else { log(nth) }).collect();
            for break_at in ["\n", "\n\n"] {
                let text = format!("{before}{break_at}{lines}{}{behind}", &break_at[1..]);
                let parts =
                    [(Matter::Words, before), (Matter::Pasted, lines.trim()), (Matter::Words, behind)];
                assert_eq!(pieces(&text), parts);
            }
            assert_eq!(pieces(&lines), [(Matter::Pasted, lines.trim())]);
        }
    }

    #[test]
    fn many_lines_of_a_person_that_begin_alike_are_said() {
        let rules: String =
            (0..40).map(|nth| format!("Never touch table_{nth}, whatever it holds.\n")).collect();
        let steps: String = (0..40).map(|nth| format!("{nth}. look at part {nth} of the parser\n")).collect();
        let talk: String =
            (0..40).map(|nth| format!("Anna: we had {nth} calls about the relay.\n")).collect();
        for text in [rules, steps, talk] {
            assert_eq!(pieces(&text), [(Matter::Words, text.trim())]);
        }
    }

    #[test]
    fn what_leads_a_log_in_is_said_although_no_blank_line_parts_them() {
        let log = "10:00:01 served part 1\n10:00:02 served part 2\nnever push\n10:00:03 served part 3";
        for lead in ["here is the log of last night, with notes", "what the relay says:"] {
            let text = format!("{lead}\n{log}");
            assert_eq!(pieces(&text), [(Matter::Words, lead), (Matter::Pasted, log)]);
        }
        let test = "$ make test\n✗ adds: expected 2\nerror: one failed";
        let text = format!("this is what I get:\n{test}\nwhy is that?");
        let parts =
            [(Matter::Words, "this is what I get:"), (Matter::Pasted, test), (Matter::Words, "why is that?")];
        assert_eq!(pieces(&text), parts);
        for output in ["Starting relay\n10:00:01 served part 1", "the relay has stopped\nerror: a\nerror: b"]
        {
            assert_eq!(pieces(output), [(Matter::Pasted, output)]);
        }
    }

    #[test]
    fn a_copy_from_a_terminal_is_pasted() {
        let text = "take this:\n\n  You must clean up.          \n                 \n  Only then go on.         \n\nis it so?";
        let found = pieces(text);
        assert_eq!(found[0], (Matter::Words, "take this:"));
        assert_eq!(found[1].0, Matter::Pasted);
        assert_eq!(found[2], (Matter::Words, "is it so?"));
    }

    #[test]
    fn what_an_image_build_a_test_run_or_a_table_says_is_pasted() {
        for said in [
            "#9 1.860 WARNING: Running pip as root can break things. Do not do this; always use a virtual environment.",
            "#8 [build 2/7] RUN make",
            "NAMESPACE     NAME         READY   STATUS    RESTARTS",
            "============================= test session starts ==============================",
            "tests/test_stage0.py ........................  [  0%]",
            "WARNING  etl.bucket:bucket.py:31 always pass aware timestamps, never naive ones",
            "PytestUnknownMarkWarning: Unknown mark. You must register custom marks.",
            "Error from server (Forbidden): pods is forbidden: it must not be listed",
        ] {
            assert_eq!(pieces(said), [(Matter::Pasted, said)]);
        }
        for said in [
            "#12 must not be merged before Friday.",
            "WARNING never touch prod.",
            "Only  two  blanks here, never tabs.",
        ] {
            assert_eq!(pieces(said), [(Matter::Words, said)]);
        }
    }

    #[test]
    fn what_pytest_and_make_say_at_the_end_is_pasted() {
        for said in ["E       AssertionError: assert 92 == 96", "make: *** [Makefile:12: all] Error 2"] {
            assert_eq!(pieces(said), [(Matter::Pasted, said)]);
        }
    }

    #[test]
    fn a_note_of_a_compiler_beside_a_log_is_pasted() {
        let log: String = (0..60).map(|nth| format!("   Compiling crate-{nth} v0.{nth}.0\n")).collect();
        let text =
            format!("{log}note: you must not hold head across the push\nWhy is that? Never clone rows.");
        let found = pieces(&text);
        assert_eq!(found.len(), 2, "{found:?}");
        assert_eq!(found[1], (Matter::Words, "Why is that? Never clone rows."));
    }

    #[test]
    fn commands_are_no_words() {
        assert_eq!(pieces("/clear")[0].0, Matter::Command);
        assert_eq!(pieces("/review 12")[0].0, Matter::Command);
        assert_eq!(pieces("/src/a.rs is wrong")[0].0, Matter::Words);
        assert_eq!(pieces("/tmp/x")[0].0, Matter::Words);
        assert_eq!(pieces("yes")[0].0, Matter::Words);
    }
}
