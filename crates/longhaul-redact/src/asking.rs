//! Which calls print a secret, and which words ask for one. What decides is data: `rules/answers.toml`.

use std::{collections::HashSet, sync::LazyLock};

use aho_corasick::AhoCorasick;
use longhaul_transcript::{CallKind, ToolCall};
use regex::{Regex, RegexSet};
use serde::Deserialize;
use serde_json::Value;

use crate::{
    asked::Ask,
    shell::{pipes, substituted},
};

/// Returns how the result of a call may tell a secret.
pub(crate) fn printed_by(call: &ToolCall) -> Option<Ask> {
    let table = &*TABLE;
    if !table.keywords.is_match(&call.name) && !table.keywords.is_match(&call.arguments.0) {
        return None;
    }
    if table.tools.is_match(&call.name) {
        return Some(Ask::Printed);
    }
    if call.kind == CallKind::Custom {
        let is_change = ["patch", "edit", "write"].iter().any(|word| call.name.contains(word));
        return if is_change { None } else { table.printed(&call.arguments.0, 0) };
    }
    let arguments: Value = serde_json::from_str(&call.arguments.0).ok()?;
    if table.askers.is_match(&call.name) {
        return any_text(&arguments, &mut asks_for_secret).then_some(Ask::Question);
    }
    let Value::Object(fields) = arguments else { return None };
    fields.iter().find_map(|(name, value)| match value {
        Value::String(path) if table.path_fields.contains(name.as_str()) => {
            table.file.is_match(path).then_some(Ask::Printed)
        }
        _ if !table.command_fields.contains(name.as_str()) => None,
        Value::String(script) => table.printed(script, 0),
        Value::Array(words) => {
            let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
            match words[..] {
                [_, option, script] if is_command_option(option) => table.printed(script, 0),
                _ => table.printed(&words.join(" "), 0),
            }
        }
        _ => None,
    })
}

/// Returns whether the last words of a message ask for a secret.
pub(crate) fn asks_for_secret(text: &str) -> bool {
    let table = &*TABLE;
    let end = &text[text.ceil_char_boundary(text.len().saturating_sub(LAST_WORDS))..];
    if !table.keywords.is_match(end) {
        return false;
    }
    let plain: String = end.chars().filter(|c| !"*`_\"".contains(*c)).collect();
    let ends = |c: char| matches!(c, '?' | '!' | '\n' | ';');
    let sentences = plain.split(ends).flat_map(|part| part.split(". "));
    let said: Vec<&str> = sentences.map(str::trim).filter(|sentence| !sentence.is_empty()).collect();
    said.iter().rev().take(LAST_SENTENCES).any(|sentence| {
        let sentence = sentence.trim_end_matches(['.', ':']);
        let is_asked = |question: &Regex| {
            let before = question.captures(sentence).and_then(|found| found.get(1));
            before.is_some_and(|before| before.as_str().split(' ').all(|word| !table.of_it.contains(word)))
        };
        table.short_questions.is_match(sentence) || table.questions.iter().any(|question| is_asked(question))
    })
}

impl Table {
    /// Returns how what a script prints may tell a secret.
    fn printed(&self, script: &str, depth: usize) -> Option<Ask> {
        let script = &script[..script.floor_char_boundary(LONGEST_SCRIPT)];
        if depth > DEEPEST || !self.keywords.is_match(script) {
            return None;
        }
        let (mut found, mut is_among, mut drawn) = (None, false, Vec::new());
        for pipe in pipes(script) {
            let Some((first, rest)) = pipe.commands.split_first() else { continue };
            let command = bare_command(first);
            if let Some((name, values)) = assigned(command) {
                if substituted(values).into_iter().any(|inside| self.printed(inside, depth + 1).is_some()) {
                    drawn.push(name.to_owned());
                }
                continue;
            }
            if pipe.is_kept {
                continue;
            }
            let is_handed_on = rest.iter().all(|command| self.hands_on(command));
            let decodes =
                || rest.iter().any(|command| self.decoders.is_match(command)).then_some(Ask::Decoded);
            let picks = || self.picks_one(command, rest).then_some(Ask::Printed);
            match self.source(command, &drawn, depth).or_else(picks).or_else(decodes).filter(|_| is_handed_on)
            {
                Some(Ask::Printed) => found = Some(Ask::Printed),
                Some(ask) => found = found.or(Some(ask)),
                None => is_among |= !self.silent.contains(word(command)),
            }
        }
        match found {
            Some(Ask::Printed) if is_among => Some(Ask::PrintedAmong),
            found => found,
        }
    }

    /// Returns how what one command prints may tell a secret; `drawn` are the variables that hold one.
    fn source(&self, command: &str, drawn: &[String], depth: usize) -> Option<Ask> {
        if self.kept.is_match(command) {
            return None;
        }
        let is_named = |source: &Regex| {
            source.captures(command).is_some_and(|found| {
                let variables =
                    found.iter().skip(1).flatten().map(|name| name.as_str().trim_matches(['"', '\'']));
                !variables.into_iter().any(|name| self.public_variable.is_match(name))
            })
        };
        if self
            .sources
            .matches(command)
            .iter()
            .any(|at| self.each_source.get(at).is_some_and(|source| is_named(source)))
        {
            return Some(Ask::Printed);
        }
        if self.decoders.is_match(command) {
            return Some(Ask::Decoded);
        }
        if self.runners.is_match(command) {
            let is_of_secret =
                self.scripts.iter().any(|script| is_named(script)) && self.prints.is_match(command);
            return is_of_secret.then_some(Ask::Printed);
        }
        if matches!(word(command), "echo" | "printf") {
            let is_drawn = |name: &String| {
                [format!("${name}"), format!("${{{name}}}")].iter().any(|used| {
                    let mut uses = command.match_indices(used.as_str());
                    uses.any(|(at, _)| {
                        !command[at + used.len()..].starts_with(|c: char| c.is_alphanumeric() || c == '_')
                    })
                })
            };
            let insides = || substituted(command).into_iter();
            return match drawn.iter().any(is_drawn) {
                true => Some(Ask::Printed),
                false => insides().find_map(|inside| self.printed(inside, depth + 1)),
            };
        }
        self.wrappers.is_match(command).then(|| self.wrapped(command, depth)).flatten()
    }

    /// Returns how what a command runs in another place prints.
    fn wrapped(&self, command: &str, depth: usize) -> Option<Ask> {
        let quoted = command.split_once(['\'', '"']).and_then(|(before, _)| {
            let quote = &command[before.len()..];
            let inside = quote.trim_end().strip_suffix(quote.chars().next()?)?;
            Some(&inside[1..])
        });
        if let Some(found) = quoted.and_then(|inside| self.printed(inside, depth + 1)) {
            return Some(found);
        }
        let words = command.match_indices(' ').map(|(at, _)| command[at..].trim_start());
        words.take(MOST_WORDS).find_map(|rest| self.printed(rest, DEEPEST))
    }

    /// Returns whether a command shows settings, and the next ones pick one of them that is a secret.
    fn picks_one(&self, command: &str, rest: &[String]) -> bool {
        self.shows.is_match(command) && rest.iter().any(|command| self.picks.is_match(command))
    }

    fn hands_on(&self, command: &str) -> bool {
        let command = bare_command(command);
        self.passes.contains(word(command)) && !self.kept.is_match(command)
    }
}

/// Returns a command without what a shell puts before it: key words, brackets, variables for it alone.
fn bare_command(command: &str) -> &str {
    let mut rest = command.trim_start();
    loop {
        let first = word(rest);
        let is_before = matches!(
            first,
            "do" | "then" | "else" | "{" | "(" | "!" | "time" | "sudo" | "exec" | "command" | "-E" | "-n"
        );
        let is_variable = first
            .split_once('=')
            .is_some_and(|(name, value)| is_name(name) && !value.contains(['(', '`', '"', '\'']));
        let behind = rest[first.len()..].trim_start();
        match (is_before || is_variable && !behind.is_empty(), rest.strip_prefix('(')) {
            (true, _) => rest = behind,
            (false, Some(inside)) => rest = inside.trim_start().trim_end_matches(')'),
            (false, None) => return rest.trim_end(),
        }
    }
}

/// Returns the variable that a command sets, and to what.
fn assigned(command: &str) -> Option<(&str, &str)> {
    let prefixes = ["export ", "local ", "declare ", "readonly "];
    let set = prefixes.iter().find_map(|prefix| command.strip_prefix(prefix)).unwrap_or(command);
    set.split_once('=').filter(|(name, _)| is_name(name))
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn word(command: &str) -> &str {
    command.split_whitespace().next().unwrap_or_default()
}

/// Returns whether an option of a shell says that a command follows: `-c`, `-lc`.
fn is_command_option(option: &str) -> bool {
    option.strip_prefix('-').is_some_and(|letters| letters.ends_with('c') && letters.len() <= 3)
}

fn any_text(value: &Value, is_it: &mut impl FnMut(&str) -> bool) -> bool {
    match value {
        Value::String(text) => is_it(text),
        Value::Array(values) => values.iter().any(|value| any_text(value, is_it)),
        Value::Object(fields) => fields.values().any(|value| any_text(value, is_it)),
        _ => false,
    }
}

/// The file as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    keywords: Vec<String>,
    sources: Vec<String>,
    decoders: Vec<String>,
    shows: String,
    picks: String,
    kept: String,
    runners: String,
    scripts: Vec<String>,
    prints: String,
    passes: String,
    silent: String,
    wrappers: String,
    file: String,
    variable: String,
    named: String,
    public_variable: String,
    tools: Vec<String>,
    askers: Vec<String>,
    command_fields: String,
    path_fields: String,
    answer_fields: String,
    around: Vec<String>,
    before: String,
    answered: String,
    harmless: Vec<String>,
    plain: String,
    nouns: String,
    questions: Vec<String>,
    short_questions: Vec<String>,
    of_it: String,
}

/// An expression that is compiled when it is first asked for: all of them at once take longer than most commands.
type Late<T> = LazyLock<T, Box<dyn FnOnce() -> T + Send>>;

fn late<T>(compile: impl FnOnce() -> Result<T, regex::Error> + Send + 'static) -> Late<T> {
    LazyLock::new(Box::new(|| compile().expect("a test compiles the built-in table")))
}

/// The file as it is used.
pub(crate) struct Table {
    keywords: AhoCorasick,
    sources: Late<RegexSet>,
    each_source: Vec<Late<Regex>>,
    decoders: Late<RegexSet>,
    shows: Late<Regex>,
    picks: Late<Regex>,
    kept: Late<Regex>,
    runners: Late<Regex>,
    scripts: Vec<Late<Regex>>,
    prints: Late<Regex>,
    passes: HashSet<String>,
    silent: HashSet<String>,
    wrappers: Late<Regex>,
    file: Late<Regex>,
    public_variable: Late<Regex>,
    tools: Late<RegexSet>,
    askers: Late<RegexSet>,
    command_fields: HashSet<String>,
    path_fields: HashSet<String>,
    pub(crate) answer_fields: HashSet<String>,
    pub(crate) around: Late<RegexSet>,
    pub(crate) before: Late<Regex>,
    pub(crate) answered: Late<Regex>,
    pub(crate) harmless: Late<RegexSet>,
    pub(crate) plain: Late<Regex>,
    questions: Vec<Late<Regex>>,
    short_questions: Late<RegexSet>,
    of_it: HashSet<String>,
}

impl Table {
    fn read(text: &str) -> Result<Table, Box<dyn std::error::Error>> {
        let written: Written = toml::from_str(text)?;
        let named = |source: &String| {
            let variable = format!("({})", written.variable);
            let source = source.replace("{{variable}}", &variable).replace("{{file}}", &written.file);
            let source = source.replace("{{nouns}}", &written.nouns).replace("{{named}}", &written.named);
            with_letters(&source)
        };
        let set = |sources: &[String]| {
            let sources: Vec<String> = sources.iter().map(named).collect();
            late(move || RegexSet::new(sources))
        };
        let one = |source: &String| {
            let source = named(source);
            late(move || Regex::new(&source))
        };
        let each = |sources: &[String]| sources.iter().map(one).collect();
        let words = |words: &str| words.split(' ').map(str::to_owned).collect();
        Ok(Table {
            keywords: AhoCorasick::builder().ascii_case_insensitive(true).build(&written.keywords)?,
            sources: set(&written.sources),
            each_source: each(&written.sources),
            decoders: set(&written.decoders),
            shows: one(&written.shows),
            picks: one(&written.picks),
            kept: one(&written.kept),
            runners: one(&written.runners),
            scripts: each(&written.scripts),
            prints: one(&written.prints),
            passes: words(&written.passes),
            silent: words(&written.silent),
            wrappers: one(&written.wrappers),
            file: one(&format!("^(?:{})$", written.file)),
            public_variable: one(&written.public_variable),
            tools: set(&written.tools),
            askers: set(&written.askers),
            command_fields: words(&written.command_fields),
            path_fields: words(&written.path_fields),
            answer_fields: words(&written.answer_fields),
            around: set(&written.around),
            before: one(&written.before),
            answered: one(&written.answered),
            harmless: set(&written.harmless),
            plain: one(&written.plain),
            questions: each(&written.questions),
            short_questions: set(&written.short_questions),
            of_it: words(&written.of_it),
        })
    }
}

/// The data, read once something may be asked for.
pub(crate) static TABLE: LazyLock<Table> =
    LazyLock::new(|| Table::read(ANSWERS).expect("a test reads the built-in table"));

/// What `\w` stands for: as far as a word goes, any letter but for the punctuation of other scripts. Unicode's own class of more
/// than 700 ranges, in every case, took 12 MB in the expressions of this table.
const LETTER: &str = r"[0-9A-Za-z_\x{C0}-\x{1FFF}\x{2C00}-\x{2DFF}\x{3040}-\x{D7FF}\x{F900}-\x{FDFF}\x{FE70}-\x{FEFE}\x{FF66}-\x{10FFFF}]";

/// Returns `source` with [`LETTER`] in the place of `\w`. It has letters of either case, so each class with it is put out of reach of
/// `(?i)`: to look up a million of them for the others took a third of a second, half of a short command.
fn with_letters(source: &str) -> String {
    let mut out = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(at) = rest.find(['\\', '[']) {
        let (before, from) = rest.split_at(at);
        let (token, behind) =
            from.split_at(if from.starts_with('[') { class_len(from) } else { escape_len(from) });
        out.push_str(before);
        match token.contains(r"\w") {
            true => out.extend(["(?-i:", &token.replace(r"\w", LETTER), ")"]),
            false => out.push_str(token),
        }
        rest = behind;
    }
    out + rest
}

/// Returns the length of the escape that `source` begins with, in bytes.
fn escape_len(source: &str) -> usize {
    source.chars().take(2).map(char::len_utf8).sum()
}

/// Returns the length of the class in brackets that `source` begins with, in bytes.
fn class_len(source: &str) -> usize {
    let mut is_escaped = false;
    let end = source.char_indices().skip(1).find(|(_, c)| {
        let ends = *c == ']' && !is_escaped;
        is_escaped = *c == '\\' && !is_escaped;
        ends
    });
    end.map_or(source.len(), |(at, _)| at + 1)
}

pub(crate) const ANSWERS: &str = include_str!("../rules/answers.toml");

/// So much of the end of a message may ask for something, in bytes.
const LAST_WORDS: usize = 600;

/// What is asked for is told in one of so many last sentences.
const LAST_SENTENCES: usize = 3;

/// The rest of a longer script is not read, in bytes.
const LONGEST_SCRIPT: usize = 1 << 15;

/// How often commands stand in commands.
const DEEPEST: usize = 4;

/// A command that another runs begins with one of so many words.
const MOST_WORDS: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_expression_of_the_table_compiles() {
        let Table {
            sources,
            each_source,
            decoders,
            shows,
            picks,
            kept,
            runners,
            scripts,
            prints,
            wrappers,
            file,
            public_variable,
            tools,
            askers,
            around,
            before,
            answered,
            harmless,
            plain,
            questions,
            short_questions,
            ..
        } = Table::read(ANSWERS).unwrap();
        let sets = [sources, decoders, tools, askers, around, harmless, short_questions];
        let ones =
            [shows, picks, kept, runners, prints, wrappers, file, public_variable, before, answered, plain];
        let lists = [each_source, scripts, questions];
        let n_sets: usize = sets.iter().map(|set| set.len()).sum();
        let n_alone =
            ones.iter().chain(lists.iter().flatten()).filter(|one| !one.as_str().is_empty()).count();
        assert!(n_sets > 60 && n_alone > 60, "{n_sets} and {n_alone}");
    }

    #[test]
    fn what_has_letters_of_either_case_is_not_folded() {
        let folded = with_letters(r"(?i)\bé \w+ [^}\]] [\w./@-]{2} \[\w \\w");
        let letters = format!("(?-i:{LETTER})");
        let class = format!("(?-i:[{LETTER}./@-])");
        assert_eq!(folded, format!(r"(?i)\bé {letters}+ [^}}\]] {class}{{2}} \[{letters} \\w"));
        let regex = Regex::new(&folded).expect("an expression");
        assert!(regex.is_match(r"É Äß x ./ [Ж \W"));
    }
}
