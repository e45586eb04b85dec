//! What a script that stands in a command line writes: `python3 -c "…"`, `node -e '…'`, `python3 - <<EOF`.

use super::{
    shell::{is_path, join},
    touch::Touch,
};
use crate::script::{Simple, simples};

/// Returns the files that the scripts in `command` open to write, in the order in which each names them.
pub(super) fn touches(command: &str, dir: &str) -> Vec<Touch> {
    if command.len() > LONGEST || !WRITERS.iter().any(|(call, _)| command.contains(call)) {
        return Vec::new();
    }
    let scripts: Vec<String> =
        simples(command).iter().filter_map(|simple| script_of(simple, command)).collect();
    // Whether it was there before nothing tells.
    let is_file = |path: &&str| is_path(path) && !path.contains("://");
    let written = scripts.iter().flat_map(|script| written_by(script));
    written.filter(is_file).map(|path| Touch::Edit(join(dir, path))).collect()
}

/// Returns the paths that a script writes.
fn written_by(script: &str) -> Vec<&str> {
    let mut found: Vec<(usize, &str)> = Vec::new();
    for (call, kind) in WRITERS {
        // `urlopen(` opens no file.
        let is_whole = |at: &usize| call.starts_with('.') || !script[..*at].ends_with(is_of_a_name);
        for at in script.match_indices(call).map(|(at, _)| at).filter(is_whole) {
            found.extend(written(script, at, call, kind).map(|path| (at, path)));
        }
    }
    found.sort_unstable();
    found.dedup_by_key(|(_, path)| *path);
    found.into_iter().map(|(_, path)| path).collect()
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

/// Returns the script that a command hands to an interpreter in the command line itself.
fn script_of(simple: &Simple<'_>, command: &str) -> Option<String> {
    let words: Vec<&str> = simple.words.iter().map(|word| &*word.text).collect();
    let program = *words.first()?;
    let name = program.rsplit('/').next().unwrap_or(program);
    if !["python", "node", "ruby", "bun", "deno", "perl"].iter().any(|known| name.starts_with(known)) {
        return None;
    }
    if let Some(at) = words.iter().position(|word| matches!(*word, "-c" | "-e" | "--eval")) {
        return words.get(at + 1).map(|script| script.replace("\\\"", "\""));
    }
    // What stands behind `<<` is read by who stands before it.
    let mut opens = command.lines().filter(|line| line.contains("<<"));
    let (before, _) = opens.next().filter(|_| opens.next().is_none())?.split_once("<<")?;
    let last = before.rsplit([';', '&', '|']).next()?.trim();
    let has_file = words[1..].iter().any(|word| !word.starts_with('-'));
    (last.split(' ').next() == Some(program) && !has_file).then(|| command.to_owned())
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
                Some(before) => {
                    let inside = &before[before.rfind("Path(")? + "Path(".len()..];
                    text(inside).filter(|path| path.len() + 2 == inside.len())
                }
                None => {
                    let name = &before[before.trim_end_matches(is_of_a_name).len()..];
                    given(script, name)
                }
            }
        }
    }
}

/// Returns the path that an argument stands for: a text, or the name of one, and nothing more.
fn path<'s>(script: &'s str, arguments: &'s str) -> Option<&'s str> {
    let (path, behind) = match text(arguments) {
        Some(path) => (path, &arguments[path.len() + 2..]),
        None => {
            let end = arguments.find(|c: char| !is_of_a_name(c)).unwrap_or(arguments.len());
            (given(script, &arguments[..end])?, &arguments[end..])
        }
    };
    behind.trim_start().starts_with([',', ')']).then_some(path)
}

/// Returns the text that a script gives to a name, once.
fn given<'s>(script: &'s str, name: &str) -> Option<&'s str> {
    if name.is_empty() {
        return None;
    }
    script.match_indices(name).find_map(|(at, _)| {
        let is_whole = !script[..at].ends_with(is_of_a_name);
        let value = script[at + name.len()..].trim_start().strip_prefix('=')?.trim_start();
        let inside = ["pathlib.Path(", "Path("].iter().find_map(|call| value.strip_prefix(call));
        let path = text(inside.unwrap_or(value)).filter(|_| is_whole)?;
        let behind = &inside.unwrap_or(value)[path.len() + 2..];
        let behind = if inside.is_some() { behind.strip_prefix(')')? } else { behind };
        let ends = behind.trim_start_matches(' ');
        (ends.is_empty() || ends.starts_with(['\n', ';'])).then_some(path)
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
            ("cat > gen.py <<'EOF'\nopen('never.txt', 'w')\nEOF\npython3 -c \"import gen\"", "[]"),
            ("cat > test_node.js <<'EOF'\nopen('never.txt', 'w')\nEOF\nnode --version", "[]"),
            ("python3 -c \"p = 'c.json'; open(p + '.bak', 'w')\"", "[]"),
            ("python3 -c \"(Path('src') / 'a.py').write_text('x')\"", "[]"),
            ("python3 -c \"Path('a.py').with_suffix('.bak').write_text('x')\"", "[]"),
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
