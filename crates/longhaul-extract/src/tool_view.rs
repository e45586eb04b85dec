//! What a tool call says, read tolerantly: paths, command, pattern, and which of its fields are facts.

use std::borrow::Cow;

use longhaul_transcript::{CallKind, ToolCall};

use crate::{
    fields::{Field, NEW_KEYS, OLD_KEYS, call_fields, fields_of, is_body_key, whole},
    json::{Json, Key, Leaf, Scalar},
    refusal::is_asked_first,
    tool::{ToolFamily, by_name, by_words, changes_record, plain_name},
};

/// A tool call as its fields, whatever the agent names them.
///
/// The arguments are read as far as they are JSON; a cut or broken text gives what it said until there, free text
/// (as of a patch tool) is one body field. Nothing here fails.
///
/// ```
/// use longhaul_extract::CallView;
/// use longhaul_transcript::ToolCall;
///
/// let call = ToolCall::function("c1", "Bash", r#"{"command":"cargo test","timeout":600000}"#);
/// assert_eq!(CallView::new(&call).command().as_deref(), Some("cargo test"));
/// ```
#[derive(Clone, Debug)]
pub struct CallView<'a> {
    call: &'a ToolCall,
    json: Option<Json<'a>>,
    family: ToolFamily,
}

/// Returns the family of a call, from the tool's name and, where the name leaves it open, from its arguments.
///
/// ```
/// use longhaul_extract::{ToolFamily, family};
/// use longhaul_transcript::ToolCall;
///
/// let call = ToolCall::function("c1", "str_replace_editor", r#"{"command":"view","path":"/a.rs"}"#);
/// assert_eq!(family(&call), ToolFamily::Read);
/// assert_eq!(family(&ToolCall::function("c2", "mcp__files__read_file", "{}")), ToolFamily::Read);
/// ```
pub fn family(call: &ToolCall) -> ToolFamily {
    CallView::new(call).family()
}

/// A path longer than this (in bytes) is no path.
const LONG_PATH: usize = 400;

const PATH_KEYS: [&str; 17] = [
    "file_path",
    "filePath",
    "path",
    "absolute_path",
    "notebook_path",
    "target_file",
    "filename",
    "file_name",
    "file",
    "relative_workspace_path",
    "AbsolutePath",
    "TargetFile",
    "dir_path",
    "directory",
    "uri",
    "paths",
    "files",
];

/// The same, where the tool is known to change files; others search for it.
const OLD_OF_EDITS: [&str; 2] = ["search", "old"];

/// The same of what is put in.
const NEW_OF_EDITS: &str = "new";

impl<'a> CallView<'a> {
    /// Reads a call.
    pub fn new(call: &'a ToolCall) -> CallView<'a> {
        let json = match call.kind {
            CallKind::Function => Json::read(&call.arguments.0),
            CallKind::Custom => None,
        };
        let mut view = CallView { call, json, family: ToolFamily::Other };
        view.family = decide(&call.name, &view);
        view
    }

    /// Returns the call.
    pub(crate) fn call(&self) -> &'a ToolCall {
        self.call
    }

    /// Returns the tool's name as the model wrote it.
    pub fn name(&self) -> &'a str {
        &self.call.name
    }

    /// Returns the family of the tool.
    pub fn family(&self) -> ToolFamily {
        self.family
    }

    /// Returns whether a person may be asked before the call is made, so that a harness hands on why they refuse it.
    pub fn is_asked_first(&self) -> bool {
        is_asked_first(self.family, self.name())
    }

    /// Returns whether the call is one that changes a record outside: a booking, an issue, a message to somebody. Told from
    /// the words of its name.
    pub fn changes_record(&self) -> bool {
        self.family == ToolFamily::Record && changes_record(self.inner_name())
    }

    /// Returns the name of the tool proper: through Cline's door to MCP servers it is an argument.
    pub fn inner_name(&self) -> &str {
        self.key_text("tool_name").unwrap_or(self.name())
    }

    /// Returns the arguments as they arrived.
    pub fn text(&self) -> &'a str {
        &self.call.arguments.0
    }

    /// Returns whether the arguments are free text rather than a JSON object.
    pub(crate) fn is_free_text(&self) -> bool {
        self.json.is_none()
    }

    /// Returns whether there is any argument.
    pub(crate) fn has_arguments(&self) -> bool {
        self.json.as_ref().is_some_and(|json| !json.leaves.is_empty())
    }

    /// Returns all fields in source order.
    pub fn fields(&self) -> Vec<Field<'_>> {
        match &self.json {
            Some(json) => fields_of(json),
            None if self.text().trim().is_empty() => Vec::new(),
            None => vec![whole(Cow::Borrowed(self.text()))],
        }
    }

    /// Returns all fields as [`call_fields`](crate::call_fields) does: text that is not whole JSON is one field.
    pub fn whole_fields(&self) -> Vec<Field<'_>> {
        match &self.json {
            Some(json) if !json.cut && json.rest == 0 => fields_of(json),
            _ => call_fields(self.text(), self.call.kind == CallKind::Function),
        }
    }

    /// Returns the text under a top-level key, where it is a scalar.
    pub fn key_text(&self, key: &str) -> Option<&str> {
        let json = self.json.as_ref()?;
        let leaf =
            json.leaves.iter().find(|leaf| leaf.container == 0 && leaf.key == Key::Name(key.into()))?;
        Some(leaf.value.as_str())
    }

    /// Returns the file or directory the call is about.
    pub fn path(&self) -> Option<&str> {
        self.named().next().or_else(|| self.patched().into_iter().next().map(|(_, path)| path))
    }

    /// Returns all files and directories the call names, once each, in order: from path arguments, or from the head
    /// lines of a patch.
    pub fn paths(&self) -> Vec<&str> {
        let mut paths: Vec<&str> = Vec::new();
        let mut add = |path| {
            if !paths.contains(&path) && paths.len() < MAX_PATHS {
                paths.push(path);
            }
        };
        self.named().for_each(&mut add);
        self.patched().into_iter().for_each(|(_, path)| add(path));
        paths
    }

    /// Returns the paths among the arguments.
    fn named(&self) -> impl Iterator<Item = &str> {
        let leaves = || self.json.iter().flat_map(|json| json.leaves.iter().map(move |leaf| (json, leaf)));
        let nth = |key: &str| PATH_KEYS.iter().position(|known| *known == key);
        // The keys that are there, as bits: mostly one.
        let there =
            leaves().filter_map(|(json, leaf)| nth(json.name(leaf))).fold(0, |all, nth| all | 1_u32 << nth);
        let keys = PATH_KEYS.iter().enumerate().filter(move |(nth, _)| there >> nth & 1 == 1);
        let named =
            keys.flat_map(move |(_, key)| leaves().filter(move |(json, leaf)| json.name(leaf) == *key));
        named.filter_map(|(json, leaf)| match &leaf.value {
            Scalar::Text(text) if (1..=LONG_PATH).contains(&text.len()) => {
                let in_body = json.any_key(leaf, |name| name != "edits" && is_body_key(name));
                (!in_body).then_some(&**text)
            }
            _ => None,
        })
    }

    /// Returns the files a patch names with what it does to them: `A` added, `M` modified, `D` deleted, `R` renamed to.
    pub fn patched(&self) -> Vec<(char, &str)> {
        let Some(patch) = self.patch() else { return Vec::new() };
        let heads = [
            ("*** Add File: ", 'A'),
            ("*** Update File: ", 'M'),
            ("*** Delete File: ", 'D'),
            ("*** Move to: ", 'R'),
            ("+++ b/", 'M'),
        ];
        patch
            .lines()
            .filter_map(|line| {
                heads.iter().find_map(|&(head, what)| line.strip_prefix(head).map(|path| (what, path.trim())))
            })
            .take(MAX_PATHS)
            .collect()
    }

    /// Returns the text of the patch a call carries, as an argument, as free text, or inside a command.
    pub fn patch(&self) -> Option<&str> {
        const KEYS: [&str; 5] = ["patch", "patchText", "input", "diff", "command"];
        let is_patch = |text: &str| {
            let has_head = text.contains("*** Begin Patch") || text.contains("\n+++ ");
            has_head && search_blocks(text).is_empty()
        };
        let Some(json) = &self.json else { return Some(self.text()).filter(|text| is_patch(text)) };
        json.leaves
            .iter()
            .filter(|leaf| KEYS.contains(&json.name(leaf)))
            .map(|leaf| leaf.value.as_str())
            .find(|text| is_patch(text))
    }

    /// Returns what an edit takes out, each with what it puts in its place, in order; of a file that is written whole, nothing and
    /// its text.
    pub fn replacements(&self) -> Vec<(Cow<'_, str>, Cow<'_, str>)> {
        let Some(json) = self.json.as_ref().filter(|_| self.family.changes_files()) else {
            return Vec::new();
        };
        let mut found = Vec::new();
        // Old and new stand in one object, in whatever order its keys were written.
        for object in json.leaves.chunk_by(|one, other| one.container == other.container) {
            let is_old = |key: &str| OLD_KEYS.contains(&key) || OLD_OF_EDITS.contains(&key);
            // A page may speak of such blocks.
            let is_pair = object.iter().any(|leaf| is_old(json.name(leaf)));
            let may_hold_blocks = !is_pair && self.family != ToolFamily::Write;
            let leaves = if may_hold_blocks { object } else { &[] };
            let blocks: Vec<_> = leaves.iter().flat_map(|leaf| search_blocks(leaf.value.as_str())).collect();
            if !blocks.is_empty() {
                found.extend(blocks.into_iter().map(|(old, new)| (old.into(), new.into())));
                continue;
            }
            let under = |is_one: fn(&str) -> bool| {
                let texts = object.iter().filter(move |leaf| is_one(json.name(leaf)));
                texts.map(|leaf| Cow::Borrowed(leaf.value.as_str()))
            };
            let old = under(is_old).next();
            let mut new = under(|key| NEW_KEYS.contains(&key) || key == NEW_OF_EDITS);
            match (old, new.next()) {
                (None, None) => {}
                // Without anything new the old text is taken out.
                (old, first) => found.push((old.unwrap_or_default(), first.unwrap_or_default())),
            }
            found.extend(new.map(|text| (Cow::Borrowed(""), text)));
        }
        found
    }

    /// Returns whether a write adds to what the file holds.
    pub(crate) fn appends(&self) -> bool {
        let is_mode = self.key_text("mode").is_some_and(|mode| mode.eq_ignore_ascii_case("append"));
        is_mode
            || self.key_text("append").is_some_and(|append| append.eq_ignore_ascii_case("true"))
            || self.inner_name().to_ascii_lowercase().contains("append")
    }

    /// Returns whether an edit does not say how many lines it changes: it replaces every place that reads so, or several, or lines
    /// that it only names by their numbers.
    pub(crate) fn replaces_unseen(&self) -> bool {
        const KEYS: [&str; 3] = ["replace_all", "replaceAll", "allow_multiple"];
        let leaves =
            self.json.iter().flat_map(|json| json.leaves.iter().map(move |leaf| (json.name(leaf), leaf)));
        leaves.into_iter().any(|(key, leaf)| {
            let value = leaf.value.as_str();
            KEYS.contains(&key) && value.eq_ignore_ascii_case("true")
                || key == "replacement_text"
                || key == "expected_replacements" && value.parse::<u64>().is_ok_and(|count| count > 1)
        })
    }

    /// Returns the command line. A command given as a list (`["bash", "-lc", "ls"]`) is its script, or its words joined.
    pub fn command(&self) -> Option<Cow<'_, str>> {
        const KEYS: [&str; 8] =
            ["command", "cmd", "CommandLine", "script", "commands", "code", "chars", "bash"];
        let Some(json) = &self.json else {
            let shell = self.family == ToolFamily::Shell && !self.text().trim().is_empty();
            return shell.then(|| Cow::Borrowed(self.text()));
        };
        let rank = |leaf: &Leaf<'_>| KEYS.iter().position(|key| *key == json.name(leaf));
        let key = KEYS[json.leaves.iter().filter_map(rank).min()?];
        let words = json.leaves.iter().filter(|leaf| json.name(leaf) == key);
        let words: Vec<&str> = words.map(|leaf| leaf.value.as_str()).take(256).collect();
        match words.as_slice() {
            [one] => Some(Cow::Borrowed(one)),
            [_, flag, script] if matches!(*flag, "-c" | "-lc" | "-ec" | "/c") => Some(Cow::Borrowed(script)),
            words => Some(Cow::Owned(words.join(" "))),
        }
    }

    /// Returns the command line where it is one string.
    pub(crate) fn command_text(&self) -> Option<&str> {
        ["command", "cmd", "CommandLine"].iter().find_map(|key| self.key_text(key))
    }

    /// Returns what is searched for.
    pub fn pattern(&self) -> Option<&str> {
        self.first(&[
            "pattern", "regex", "search_term", "searchTerm", "query", "glob_pattern", "Query", "symbol",
        ])
    }

    /// Returns the address of a page.
    pub fn url(&self) -> Option<&str> {
        self.first(&["url", "URL", "uri", "urls", "Url"])
    }

    /// Returns the question put to a search engine, an index or another agent.
    pub fn query(&self) -> Option<&str> {
        self.first(&["query", "q", "search_query", "description", "prompt", "task", "message", "question"])
    }

    /// Returns what the call is about in one argument: a path, a command, a pattern, an address or a question.
    pub fn subject(&self) -> Option<Cow<'_, str>> {
        let path = self.path().map(Cow::Borrowed);
        path.or_else(|| self.command())
            .or_else(|| self.pattern().or_else(|| self.url()).or_else(|| self.query()).map(Cow::Borrowed))
    }

    /// Returns the directory the call works in.
    pub(crate) fn working_dir(&self) -> Option<&str> {
        self.first(&["workdir", "cwd", "working_dir", "working_directory", "directory", "Cwd"])
    }

    /// Returns the first and last line asked for, as far as the call says so: from start and end, or offset and limit.
    pub(crate) fn line_range(&self) -> (Option<u64>, Option<u64>) {
        let number = |keys: &[&str]| keys.iter().find_map(|key| self.key_text(key)?.parse::<u64>().ok());
        let start = number(&["start_line", "startLine", "offset", "line_start", "start_line_one_indexed"]);
        let end = number(&["end_line", "endLine", "line_end", "end_line_one_indexed_inclusive"]);
        let limit = number(&["limit"]);
        (start, end.or_else(|| Some(start.unwrap_or(1).saturating_add(limit?).saturating_sub(1))))
    }

    fn first(&self, keys: &[&str]) -> Option<&str> {
        let json = self.json.as_ref()?;
        keys.iter().find_map(|key| {
            let leaf = json.leaves.iter().find(|leaf| json.name(leaf) == *key)?;
            Some(leaf.value.as_str()).filter(|text| !text.is_empty())
        })
    }
}

/// Decides the family from the plain name (see [`plain_name`]) and the arguments.
fn decide(name: &str, view: &CallView<'_>) -> ToolFamily {
    let plain = plain_name(name);
    match plain.as_str() {
        // Editors with a `command` argument: Anthropic's text editor, OpenHands, SWE-agent, Goose.
        "str_replace_editor" | "str_replace_based_edit_tool" | "text_editor" | "editor" | "file_editor" => {
            return match view.key_text("command") {
                Some("view" | "read") => ToolFamily::Read,
                Some("create" | "write") => ToolFamily::Write,
                _ => ToolFamily::Edit,
            };
        }
        // Cline's and Roo's doors to MCP servers: the tool proper is an argument.
        "use_mcp_tool" | "access_mcp_resource" | "call_mcp_tool" => {
            let inner = view.key_text("tool_name").map(plain_name).and_then(|inner| by_name(&inner));
            return inner.unwrap_or(ToolFamily::Record);
        }
        _ => {}
    }
    if let Some(family) = by_name(&plain) {
        return family;
    }
    if let Some(family) = by_words(&plain) {
        return family;
    }
    by_arguments(name, view)
}

/// What is left: the arguments tell. A function with named arguments is a look-up of records.
fn by_arguments(name: &str, view: &CallView<'_>) -> ToolFamily {
    let has = |keys: &[&str]| keys.iter().any(|key| view.key_text(key).is_some());
    if name.contains("__") {
        return ToolFamily::Record;
    }
    if view.is_free_text() {
        return if view.text().contains("*** Begin Patch") { ToolFamily::Patch } else { ToolFamily::Other };
    }
    match () {
        () if has(&["command", "cmd"]) => ToolFamily::Shell,
        () if has(&OLD_KEYS) => ToolFamily::Edit,
        () if has(&["patch", "patchText"]) => ToolFamily::Patch,
        () if has(&["file_path", "filePath", "path"]) && has(&["content", "contents", "file_text"]) => {
            ToolFamily::Write
        }
        () if has(&["url"]) => ToolFamily::WebFetch,
        () if name.contains('_') || view.has_arguments() => ToolFamily::Record,
        () => ToolFamily::Other,
    }
}

/// Returns what blocks of Cline's kind search for, each with what they put in its place:
///
/// ```text
/// ------- SEARCH
/// old
/// =======
/// new
/// +++++++ REPLACE
/// ```
fn search_blocks(text: &str) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    if !text.contains(" SEARCH") {
        return found;
    }
    let is_mark = |line: &str, marks: &[char], word: &str| {
        let rest = line.trim_start_matches(marks);
        line.len() - rest.len() >= LEAST_MARKS && rest.trim_end_matches('>').trim_end() == word
    };
    // Where the old text begins, then where it ends and the new one begins.
    let (mut old, mut new) = (None, None);
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let (start, bare) = (at, line.trim_end());
        at += line.len();
        match (old, new) {
            (None, _) if is_mark(bare, &['-', '<'], " SEARCH") => old = Some(at),
            (Some(begin), None) if is_mark(bare, &['='], "") => new = Some((begin, start, at)),
            // Roo's name the line that they begin at.
            (Some(begin), None)
                if text[begin..at].starts_with(":start_line:") && is_mark(bare, &['-'], "") =>
            {
                old = Some(at);
            }
            (_, Some((begin, end, from))) if is_mark(bare, &['+', '>'], " REPLACE") => {
                found.push((&text[begin..end], &text[from..start]));
                (old, new) = (None, None);
            }
            _ => {}
        }
    }
    found
}

/// Characters of the line that marks where a block begins, turns or ends.
const LEAST_MARKS: usize = 5;

/// More paths than this in one call are not listed.
const MAX_PATHS: usize = 200;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FieldPlace;

    fn call(name: &str, arguments: &str) -> ToolCall {
        ToolCall::function("c", name, arguments)
    }

    fn family_of(name: &str, arguments: &str) -> ToolFamily {
        family(&call(name, arguments))
    }

    #[test]
    fn paths_come_from_arguments_and_patches_but_not_from_bodies() {
        let read = call("read_many_files", r#"{"paths":["a.rs","b.rs","a.rs"]}"#);
        assert_eq!(CallView::new(&read).paths(), ["a.rs", "b.rs"]);
        let write = call("Write", r#"{"content":{"path":"no"},"file_path":"/x/y.rs"}"#);
        assert_eq!(CallView::new(&write).paths(), ["/x/y.rs"]);
        let mut patch =
            call("apply_patch", "*** Begin Patch\n*** Add File: n.rs\n+x\n*** Move to: m.rs\n*** End Patch");
        patch.kind = CallKind::Custom;
        assert_eq!(CallView::new(&patch).patched(), [('A', "n.rs"), ('R', "m.rs")]);
        assert_eq!(CallView::new(&patch).family(), ToolFamily::Patch);
    }

    #[test]
    fn a_command_is_a_string_or_a_list() {
        for (arguments, expected) in [
            (r#"{"cmd":"ls -l"}"#, "ls -l"),
            (r#"{"command":["bash","-lc","git status"]}"#, "git status"),
            (r#"{"command":["git","log"]}"#, "git log"),
            (r#"{"command":"cargo te"#, "cargo te"),
        ] {
            assert_eq!(CallView::new(&call("shell", arguments)).command().as_deref(), Some(expected));
        }
    }

    #[test]
    fn fields_are_keys_bodies_and_tuning() {
        let edit = call("Edit", r#"{"file_path":"a","old_string":"b","limit":3}"#);
        let places: Vec<_> = CallView::new(&edit).fields().iter().map(|field| field.place).collect();
        assert_eq!(places, [FieldPlace::Key, FieldPlace::Body, FieldPlace::Tuning]);
    }

    #[test]
    fn replacements_are_read_whatever_an_agent_calls_them() {
        for (name, arguments, expected) in [
            (
                "MultiEdit",
                r#"{"file_path":"a","edits":[{"old_string":"b","new_string":"c"},{"old_string":"d","new_string":"e"}]}"#,
                &[("b", "c"), ("d", "e")][..],
            ),
            ("NotebookEdit", r#"{"notebook_path":"a.ipynb","new_source":"c"}"#, &[("", "c")]),
            ("edit_file", r#"{"target_file":"a","code_edit":"c"}"#, &[("", "c")]),
            ("replace_in_file", r#"{"path":"a","search":"b","replace":"c"}"#, &[("b", "c")]),
            ("Write", r#"{"file_path":"a","content":"c"}"#, &[("", "c")]),
            ("Edit", r#"{"file_path":"a","new_string":"c","old_string":"b"}"#, &[("b", "c")]),
            ("Edit", r#"{"file_path":"a","old_string":"b"}"#, &[("b", "")]),
            ("edit_file", r#"{"path":"a","old":"b","new":"c"}"#, &[("b", "c")]),
            (
                "MultiEdit",
                r#"{"edits":[{"new_string":"c","old_string":"b"},{"new_string":"e","old_string":"d"}],"file_path":"a"}"#,
                &[("b", "c"), ("d", "e")],
            ),
            ("Grep", r#"{"search":"b","replace":"c"}"#, &[]),
            (
                "replace_in_file",
                r#"{"path":"a","diff":"<<<<<<< SEARCH>\nb\n=======\nc\n>>>>>>> REPLACE>\n------- SEARCH\n\n+++ d\n=======\n+++++++ REPLACE"}"#,
                &[("b\n", "c\n"), ("\n+++ d\n", "")],
            ),
            // One that is not closed replaces nothing.
            ("replace_in_file", r#"{"path":"a","diff":"------- SEARCH\nb\n=======\nc"}"#, &[]),
        ] {
            let call = call(name, arguments);
            let view = CallView::new(&call);
            let found = view.replacements();
            let found: Vec<_> = found.iter().map(|(old, new)| (&**old, &**new)).collect();
            assert_eq!(found, expected, "{name}");
        }
    }

    #[test]
    fn arguments_decide_where_the_name_does_not() {
        assert_eq!(family_of("str_replace_editor", r#"{"command":"create","path":"a"}"#), ToolFamily::Write);
        assert_eq!(
            family_of("str_replace_editor", r#"{"command":"str_replace","path":"a"}"#),
            ToolFamily::Edit
        );
        assert_eq!(family_of("go", r#"{"command":"ls"}"#), ToolFamily::Shell);
        assert_eq!(family_of("use_mcp_tool", r#"{"tool_name":"read_file"}"#), ToolFamily::Read);
        assert_eq!(family_of("frobnicate", "not json"), ToolFamily::Other);
        assert_eq!(family_of("frobnicate", r#"{"id":7}"#), ToolFamily::Record);
    }

    #[test]
    fn ranges_come_from_ends_or_from_limits() {
        let read = call("Read", r#"{"file_path":"a","offset":10,"limit":5}"#);
        assert_eq!(CallView::new(&read).line_range(), (Some(10), Some(14)));
        let view = call("view", r#"{"path":"a","start_line":3,"end_line":9}"#);
        assert_eq!(CallView::new(&view).line_range(), (Some(3), Some(9)));
    }
}
