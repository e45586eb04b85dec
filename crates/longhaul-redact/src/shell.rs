//! A command line as a shell reads it, as far as it matters for what is printed: statements, the commands of a pipe, what goes
//! into a file.

/// Commands whose output goes from one to the next.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Pipe {
    pub(crate) commands: Vec<String>,
    /// What the last one prints goes into a file.
    pub(crate) is_kept: bool,
}

/// Returns what a script runs, in order. What a here document hands to a command is part of that.
pub(crate) fn pipes(script: &str) -> Vec<Pipe> {
    let mut reader =
        Reader { rest: script, pipes: Vec::new(), pipe: Pipe::default(), command: String::new() };
    while let Some(next) = reader.rest.chars().next() {
        reader.step(next);
    }
    reader.end_statement();
    reader.pipes
}

/// Returns the insides of what is put in its place when it is run: `$(…)` and between backticks.
pub(crate) fn substituted(command: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for (at, _) in command.match_indices("$(") {
        let inside = &command[at + 2..];
        found.push(&inside[..closed(inside)]);
    }
    let mut ticks = command.split('`').skip(1).step_by(2);
    found.extend(ticks.by_ref());
    found
}

struct Reader<'a> {
    rest: &'a str,
    pipes: Vec<Pipe>,
    pipe: Pipe,
    command: String,
}

impl Reader<'_> {
    fn step(&mut self, next: char) {
        let after = |text: &'static str| self.rest.starts_with(text);
        match next {
            '\\' => self.take(self.rest.chars().take(2).map(char::len_utf8).sum()),
            '\'' | '"' => self.take(1 + quoted(&self.rest[1..], next)),
            '`' => self.take(1 + self.rest[1..].find('`').map_or(self.rest.len() - 1, |end| end + 1)),
            '$' if after("$(") => self.take(2 + closed(&self.rest[2..])),
            '#' if self.command.is_empty() || self.command.ends_with(char::is_whitespace) => {
                self.skip(self.rest.find('\n').unwrap_or(self.rest.len()));
            }
            '<' if after("<<<") => self.take(3),
            '<' if after("<<") => self.here(),
            '|' if after("||") => {
                self.end_statement();
                self.skip(2);
            }
            '|' => {
                self.end_command();
                self.skip(if after("|&") { 2 } else { 1 });
            }
            '&' if after("&&") => {
                self.end_statement();
                self.skip(2);
            }
            '&' if after("&>") => self.redirect(2),
            '>' => self.redirect(1),
            ';' | '\n' => {
                self.end_statement();
                self.skip(1);
            }
            _ => self.take(next.len_utf8()),
        }
    }

    fn take(&mut self, length: usize) {
        let (taken, rest) = self.rest.split_at(self.rest.ceil_char_boundary(length));
        self.command.push_str(taken);
        self.rest = rest;
    }

    fn skip(&mut self, length: usize) {
        self.rest = &self.rest[length.min(self.rest.len())..];
    }

    /// Reads where output goes; what is said of errors keeps nothing.
    fn redirect(&mut self, length: usize) {
        self.skip(length);
        let is_of_errors = length == 1 && self.command.ends_with('2');
        if is_of_errors {
            self.command.pop();
        }
        self.rest = self.rest.trim_start_matches(['>', '|']).trim_start_matches([' ', '\t']);
        let end = self.rest.find([' ', '\t', '\n', ';', '|', ')']).unwrap_or(self.rest.len());
        let target = &self.rest[..end];
        let is_shown =
            target.starts_with('&') || ["/dev/stdout", "/dev/stderr", "/dev/tty"].contains(&target);
        self.pipe.is_kept |= !is_of_errors && !is_shown;
        self.skip(end);
    }

    /// Takes a here document whole.
    fn here(&mut self) {
        self.skip(2);
        self.rest = self.rest.trim_start_matches('-').trim_start_matches([' ', '\t']);
        let end = self.rest.find(|c: char| !(c.is_alphanumeric() || "_'\"\\".contains(c)));
        let (word, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        let word = word.trim_matches(['\'', '"', '\\']);
        self.rest = rest;
        let Some(line) = self.rest.find('\n').filter(|_| !word.is_empty()) else { return };
        let (behind, body) = (&self.rest[..line], &self.rest[line + 1..]);
        let mut length = 0;
        for line in body.split_inclusive('\n') {
            if line.trim() == word {
                break;
            }
            length += line.len();
        }
        // What stands behind the word belongs to the command, what stands below it to the document.
        let after = body[length..].find('\n').map_or("", |end| &body[length + end..]);
        let mut command = Reader {
            rest: behind,
            command: std::mem::take(&mut self.command),
            pipes: Vec::new(),
            pipe: std::mem::take(&mut self.pipe),
        };
        while let Some(next) = command.rest.chars().next() {
            command.step(next);
        }
        (self.command, self.pipe) = (command.command, command.pipe);
        self.pipes.append(&mut command.pipes);
        self.command.push('\n');
        self.command.push_str(&body[..length]);
        self.rest = after;
        self.end_statement();
    }

    fn end_command(&mut self) {
        let command = std::mem::take(&mut self.command);
        let command = command.trim();
        if !command.is_empty() {
            self.pipe.commands.push(command.to_owned());
        }
    }

    fn end_statement(&mut self) {
        self.end_command();
        let pipe = std::mem::take(&mut self.pipe);
        if !pipe.commands.is_empty() {
            self.pipes.push(pipe);
        }
    }
}

/// Returns how long `rest` is up to and with the quote that ends it.
fn quoted(rest: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, c) in rest.char_indices() {
        match c {
            '\\' if quote == '"' && !is_escaped => is_escaped = true,
            _ if c == quote && !is_escaped => return at + 1,
            _ => is_escaped = false,
        }
    }
    rest.len()
}

/// Returns how long `rest` is up to the bracket that closes what stands before it.
fn closed(rest: &str) -> usize {
    let mut depth = 1;
    for (at, c) in rest.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at;
        }
    }
    rest.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_read_as_a_shell_does() {
        for (script, expected) in [
            (
                "a 'x | y' && b | c; d",
                vec![(vec!["a 'x | y'"], false), (vec!["b", "c"], false), (vec!["d"], false)],
            ),
            ("a > f\nb >> g 2>&1", vec![(vec!["a"], true), (vec!["b"], true)]),
            ("a 2>/dev/null | b >&2", vec![(vec!["a", "b"], false)]),
            ("# a | b\nc # d", vec![(vec!["c"], false)]),
            ("x=$(a | b; c)", vec![(vec!["x=$(a | b; c)"], false)]),
            ("cat > f <<'E'\na | b\nE\nc", vec![(vec!["cat  \na | b"], true), (vec!["c"], false)]),
            ("echo \"a > b\" > c", vec![(vec!["echo \"a > b\""], true)]),
            ("é | ü", vec![(vec!["é", "ü"], false)]),
            ("a <<<x|b", vec![(vec!["a <<<x", "b"], false)]),
            ("a \\", vec![(vec!["a \\"], false)]),
        ] {
            let read: Vec<(Vec<String>, bool)> =
                pipes(script).into_iter().map(|pipe| (pipe.commands, pipe.is_kept)).collect();
            let expected: Vec<(Vec<String>, bool)> = expected
                .into_iter()
                .map(|(commands, kept)| (commands.into_iter().map(str::to_owned).collect(), kept))
                .collect();
            assert_eq!(read, expected, "{script}");
        }
        assert_eq!(substituted("echo $(a $(b)) `c`"), ["a $(b)", "b", "c"]);
    }
}
