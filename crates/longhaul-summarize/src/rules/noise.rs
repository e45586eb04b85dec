//! Lines of outputs that say nothing by themselves, told by what they look like.

/// Whether a line of an output says nothing wherever it stands: a part of a frame, of a diff's head, of markup, of a drawing, of a
/// help text, a hint.
pub(super) fn says_nothing(line: &str) -> bool {
    is_envelope(line)
        || is_of_a_diff(line)
        || is_markup(line)
        || is_option(line)
        || is_hint(line)
        || !has_a_word(line)
        || is_a_path(line)
        || is_stack_frame(line)
        || is_hexadecimal(line)
        || is_row_of_dots(line)
}

/// Whether a line has a dot for each test of a file that passed: `tests/test_a.py ....s.. [ 12%]`.
fn is_row_of_dots(line: &str) -> bool {
    let mut words = line.split_whitespace().skip(1);
    let dots = words.next().unwrap_or_default();
    let is_rest = words.all(|word| word == "[" || word.ends_with("%]"));
    is_rest && dots.len() >= 3 && dots.bytes().all(|byte| matches!(byte, b'.' | b's' | b'x'))
}

/// Whether a line belongs to the frame that a harness puts around what a command printed.
pub(super) fn is_envelope(line: &str) -> bool {
    const CODES: [&str; 4] =
        ["Exit code ", "Exit code: ", "Process exited with code ", "Command exited with code "];
    let is_code = |rest: &str| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit());
    const STARTS: [&str; 12] = [
        "<tool_use_error>Sibling tool call errored",
        "The user doesn't want to proceed with this tool use.",
        "agentId: ",
        "<usage>",
        "tool_uses: ",
        "duration_ms: ",
        "Chunk ID: ",
        "Wall time: ",
        "Original token count: ",
        "Total output lines: ",
        "Success. Updated the following files",
        "Command finished with exit code 0",
    ];
    STARTS.iter().any(|start| line.starts_with(start))
        || CODES.iter().filter_map(|start| line.strip_prefix(start)).any(is_code)
}

/// Whether a line only says which part of which file a diff shows, how a script was called, or which command could be called next.
fn is_of_a_diff(line: &str) -> bool {
    const STARTS: [&str; 15] = [
        "diff --git ",
        "index ",
        "--- a/",
        "+++ b/",
        "--- /dev/null",
        "+++ /dev/null",
        "@@ ",
        "new file mode ",
        "deleted file mode ",
        "similarity index ",
        "(use \"git ",
        "no changes added to commit",
        "nothing added to commit but",
        "} from ",
        "$ ",
    ];
    STARTS.iter().any(|start| line.starts_with(start))
}

/// Whether a line is an attribute of markup, or a tag without text: `className="…"`, `<div className="…">`.
pub(super) fn is_markup(line: &str) -> bool {
    const ATTRIBUTES: [&str; 9] =
        ["className=", "class=", "style=", "viewBox=", "d=\"M", "stroke", "fill=", "xmlns", "aria-"];
    // `cat -A` shows tabs.
    let line = line.replace("^I", "");
    let bare = line.trim_start_matches(['+', '-', ' ', '\t']);
    let is_tag = bare.starts_with('<') && bare.ends_with('>') && bare.matches('<').count() == 1;
    let is_attribute = ATTRIBUTES.iter().any(|name| bare.starts_with(name));
    is_attribute || is_tag && bare.contains('=')
}

/// Whether a line of a help text says what an option does: `--flag=<val>   What it is for`.
fn is_option(line: &str) -> bool {
    let name = line.split([' ', '=', ',', '\t']).next().unwrap_or_default();
    let is_flag = name.strip_prefix('-').is_some_and(|rest| {
        let letters = rest.trim_start_matches('-');
        letters.starts_with(|c: char| c.is_ascii_alphabetic())
            && letters.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
    });
    is_flag && line.contains("  ")
}

/// Whether a line only says how something could be called, or could have been.
fn is_hint(line: &str) -> bool {
    const STARTS: [&str; 9] = [
        "hint: ",
        "usage: ",
        "Usage: ",
        "USAGE:",
        "For more information, try",
        "For more information about this error, try",
        "Run `",
        "Try '",
        "Your branch is up to date with",
    ];
    STARTS.iter().any(|start| line.starts_with(start))
}

/// Whether a line is of a dump of bytes: `00000010: 6261 636b 2c20 7573  back, us`.
fn is_hexadecimal(line: &str) -> bool {
    let Some((place, rest)) = line.split_once(": ") else { return false };
    let is_hex = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let groups = rest.split_whitespace().take_while(|word| matches!(word.len(), 2 | 4) && is_hex(word));
    place.len() >= 7 && is_hex(place) && groups.count() >= 4
}

/// Whether a line is the name of a file or a package and nothing else, quoted or not: one that was only seen.
fn is_a_path(line: &str) -> bool {
    let line = line.trim_end_matches(',').trim_matches(['"', '\'']);
    let is_of_a_path =
        |c: char| c.is_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | '@' | '~' | '+' | '[' | ']');
    line.contains('/') && line.chars().all(is_of_a_path)
}

/// Whether there is a word of three letters, or a few of a script without blanks: a drawing's path has none.
fn has_a_word(line: &str) -> bool {
    let mut run = 0;
    line.chars().any(|c| {
        run = if c.is_alphabetic() { run + 1 } else { 0 };
        run >= 3 || c.is_alphabetic() && !c.is_ascii() || c.is_ascii_digit() && line.len() < SHORT
    })
}

/// A shorter line may be a count alone.
const SHORT: usize = 24;

/// Whether a line only says that a build, a download or a test run goes on: what comes of it stands in its last lines.
pub(super) fn is_progress(line: &str) -> bool {
    const STARTS: [&str; 20] = [
        "Checking ", "Compiling ", "Downloading ", "Downloaded ", "Documenting ", "Fresh ", "Locking ",
        "Updating ", "Unpacking ", "Installing ", "Collecting ", "Blocking waiting for ",
        "Running unittests ", "Running tests/", "Doc-tests ", "Finished `", "Preparing ", "Resolving ",
        "Fetching ", "=== RUN ",
    ];
    let line = line.trim_start();
    let counts = |line: &str| line.split(' ').next().is_some_and(|count| count.parse::<u32>().is_ok());
    let is_count_of_tests =
        line.strip_prefix("running ").is_some_and(|rest| counts(rest) && rest.contains(" test"));
    is_count_of_tests || line.len() < LONGEST_PROGRESS && STARTS.iter().any(|start| line.starts_with(start))
}

/// Whether a line is one call of a stack: without the error above it, it says nothing.
fn is_stack_frame(line: &str) -> bool {
    let line = line.trim_start();
    // `at name (file.ts:70:3)` of JavaScript, `at Class.method(File.java:12)` of Java.
    let ends_in_place = |line: &str| {
        let place = line.trim_end_matches(')').rsplit(['(', ' ']).next().unwrap_or_default();
        place
            .rsplit(':')
            .next()
            .is_some_and(|last| !last.is_empty() && last.bytes().all(|b| b.is_ascii_digit()))
            && place.contains(':')
    };
    // `12: core::panicking::panic_fmt` of Rust.
    let is_rusts = || {
        let (number, path) = line.split_once(": ")?;
        let is_path = path.contains("::") && !path.contains(' ');
        (number.parse::<u16>().is_ok() && is_path).then_some(())
    };
    line.strip_prefix("at ").is_some_and(ends_in_place) || is_rusts().is_some()
}

/// A longer line has something to say, whatever it begins with.
const LONGEST_PROGRESS: usize = 90;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_on_and_where_it_was_called_from_is_told_from_what_came_of_it() {
        for line in ["   Compiling bit-vec v0.10.1", "running 8 tests", "Finished `dev` profile in 5.22s"] {
            assert!(is_progress(line), "{line}");
        }
        for line in
            ["error: Compiling failed", "8 tests passed", "running the tests takes 8 s", "Checked 290 files"]
        {
            assert!(!is_progress(line), "{line}");
        }
        for frame in [
            "at runWithConcurrencyLimit (/src/shared/utils/concurrency-limiter.ts:33:9)",
            "at <anonymous> (evaluation.test.ts:317:25)",
            "at com.acme.Store.open(Store.java:41)",
            "    at ./src/plan.rs:12:5",
            "1: core::panicking::panic_fmt",
        ] {
            assert!(is_stack_frame(frame), "{frame}");
        }
        for line in [
            "at 12:30 the job died",
            "at least 3 of them",
            "2: see store::open for why",
            "panicked at src/plan.rs:12:5:",
        ] {
            assert!(!is_stack_frame(line), "{line}");
        }
    }

    #[test]
    fn lines_that_say_nothing_are_told_from_those_that_do() {
        for line in [
            "Exit code 1",
            "diff --git a/x b/x",
            "--shell=<val>                   Control the shell used for package.json scripts",
            "-b, --bun                           Force a script to use the runtime",
            "hint: for more information, try 'relay run --help'",
            "usage: cat [-belnstuv] [file ...]",
            "1.724 0 001.066-2.573c-.94-1.543.826-3.31 2.37-2.37.996.608 2.296.07 2.572-1.065z",
            "/home/mara/relay/node_modules/resolve/lib/homedir.js",
            "\"github.com/acme/relay/v5/plumbing\"",
            "00000010: 6261 636b 2c20 7573 6545 6666 6563 742c  back, useEffect,",
            "^I^I^I^I^IclassName=\"p-2 text-slate-400\"$",
            "<tool_use_error>Sibling tool call errored</tool_use_error>",
        ] {
            assert!(says_nothing(line), "{line}");
        }
        for line in [
            "- the relay waits for nobody",
            "-42 degrees",
            "12",
            "--retries was removed in 2.0",
            "The usage: one call a day",
            "変更なし",
            "/health: 503",
            "deadbeef: 12 tests passed",
            "https://relay.example.com/v2",
            "Exit code 1 means that nothing was found",
        ] {
            assert!(!says_nothing(line), "{line}");
        }
    }
}
