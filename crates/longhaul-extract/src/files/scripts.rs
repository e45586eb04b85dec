//! What a script that stands in a command line writes: `python3 -c "…"`, `node -e '…'`, `python3 - <<EOF`.

use super::{
    shell::{is_path, join},
    touch::Touch,
};
use crate::script::{Simple, simples};

/// Returns the files that a script in `command` opens to write, in the order in which it names them.
pub(super) fn touches(command: &str, dir: &str) -> Vec<Touch> {
    let runs_inline = || simples(command).iter().any(|simple| is_inline(simple, command));
    if command.len() > LONGEST || !WRITERS.iter().any(|(call, _)| command.contains(call)) || !runs_inline() {
        return Vec::new();
    }
    let script = command.replace("\\\"", "\"");
    let mut found: Vec<(usize, &str)> = Vec::new();
    for (call, kind) in WRITERS {
        // `urlopen(` opens no file.
        let is_whole = |at: &usize| call.starts_with('.') || !script[..*at].ends_with(is_of_a_name);
        for at in script.match_indices(call).map(|(at, _)| at).filter(is_whole) {
            found.extend(written(&script, at, call, kind).map(|path| (at, path)));
        }
    }
    found.sort_unstable();
    found.dedup_by_key(|(_, path)| *path);
    // Whether it was there before nothing tells.
    let is_file = |path: &&str| is_path(path) && !path.contains("://");
    found.into_iter().map(|(_, path)| path).filter(is_file).map(|path| Touch::Edit(join(dir, path))).collect()
}

/// Bytes of the longest command that is looked into.
const LONGEST: usize = 16 * 1024;

/// How a call names what it writes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// By its first argument.
    First,
    /// By its first argument, where the second says that it is to be written.
    Mode,
    /// By what stands before it.
    Receiver,
}

/// Calls that write a file.
const WRITERS: [(&str, Kind); 7] = [
    ("open(", Kind::Mode),
    (".write_text(", Kind::Receiver),
    (".write_bytes(", Kind::Receiver),
    ("writeFileSync(", Kind::First),
    ("writeFile(", Kind::First),
    ("Bun.write(", Kind::First),
    ("File.write(", Kind::First),
];

/// Whether a command hands a script to an interpreter in the command line itself.
fn is_inline(simple: &Simple<'_>, command: &str) -> bool {
    let words: Vec<&str> = simple.words.iter().map(|word| &*word.text).collect();
    let program = words.first().map_or("", |word| word.rsplit('/').next().unwrap_or(word));
    let interprets =
        ["python", "node", "ruby", "bun", "deno", "perl"].iter().any(|name| program.starts_with(name));
    let has_file = words[1..].iter().any(|word| !word.starts_with('-'));
    // What another command reads behind `<<` is no script of this one's.
    let is_behind = || {
        let opens = command.lines().filter(|line| line.contains("<<"));
        opens.clone().count() == 1 && opens.into_iter().all(|line| line.contains(program))
    };
    interprets
        && (words.iter().any(|word| matches!(*word, "-c" | "-e" | "--eval")) || !has_file && is_behind())
}

/// Returns the path that the call at `at` writes, where the script says it by a text or by a name that it gives to one.
fn written<'s>(script: &'s str, at: usize, call: &str, kind: Kind) -> Option<&'s str> {
    let arguments = &script[at + call.len()..];
    match kind {
        Kind::First => path(script, arguments),
        Kind::Mode => {
            let (_, mode) = arguments[..arguments.find(')')?].split_once(',')?;
            let mode = text(mode.trim_start().trim_start_matches("mode=").trim_start())?;
            mode.contains(['w', 'a', '+']).then(|| path(script, arguments)).flatten()
        }
        Kind::Receiver => {
            let before = &script[..at];
            match before.strip_suffix(')') {
                Some(before) => text(&before[before.rfind("Path(")? + "Path(".len()..]),
                None => path(script, &before[before.trim_end_matches(is_of_a_name).len()..]),
            }
        }
    }
}

/// Returns the path that an expression stands for: a text, or the name of one.
fn path<'s>(script: &'s str, expression: &'s str) -> Option<&'s str> {
    if let Some(text) = text(expression) {
        return Some(text);
    }
    let end = expression.find(|c: char| !is_of_a_name(c)).unwrap_or(expression.len());
    let name = &expression[..end];
    if name.is_empty() {
        return None;
    }
    script.match_indices(name).find_map(|(at, _)| {
        let is_whole = !script[..at].ends_with(is_of_a_name);
        let value = script[at + name.len()..].trim_start().strip_prefix('=')?.trim_start();
        let value =
            ["pathlib.Path(", "Path("].iter().find_map(|call| value.strip_prefix(call)).unwrap_or(value);
        text(value).filter(|_| is_whole)
    })
}

/// Returns the text between the quotation marks that `expression` begins with.
fn text(expression: &str) -> Option<&str> {
    let mark = expression.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    let inside = &expression[1..];
    inside.find(mark).map(|end| &inside[..end])
}

fn is_of_a_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_in_a_command_line_write_what_they_open_to_write() {
        for (command, told) in [
            (r#"python3 -c "s = open('a.py').read(); open('a.py', 'w').write(s)""#, r#"[Edit("/w/a.py")]"#),
            (
                "python3 - <<'EOF'\nfrom pathlib import Path\np = Path('a.py')\np.write_text(p.read_text() + 'x')\nEOF",
                r#"[Edit("/w/a.py")]"#,
            ),
            (r#"python -c "open(\"new.txt\", \"w\").write('x')""#, r#"[Edit("/w/new.txt")]"#),
            ("node -e \"require('fs').writeFileSync('b.json', '{}')\"", r#"[Edit("/w/b.json")]"#),
            ("python3 -c \"print(open('a.py').read())\"", "[]"),
            ("cat > gen.py <<'EOF'\nopen('out.txt', 'w')\nEOF", "[]"),
            ("python3 gen.py 'open(1, w)'", "[]"),
            ("cat > gen.py <<'EOF'\nopen('never.txt', 'w')\nEOF\npython3 --version", "[]"),
            (r#"python3 -c "größe.write_text('x')""#, "[]"),
            (
                r#"python3 -c "import os; os.popen('make', 'a'); Popen('make', 'w'); urlopen('http://x.io/a', 'w')""#,
                "[]",
            ),
        ] {
            assert_eq!(format!("{:?}", touches(command, "/w")), told, "{command}");
        }
    }
}
