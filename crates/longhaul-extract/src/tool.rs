//! Which kind of tool a call uses, told from its name. Where that leaves it open, its arguments tell (`tool_view.rs`).

use std::sync::LazyLock;

use hashbrown::HashMap;
use serde::{Deserialize, Serialize};

/// What a tool does, whatever its agent calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToolFamily {
    /// Shows a file or a part of one.
    Read,
    /// Creates a file or replaces all of it.
    Write,
    /// Changes a file in place, by replacing text or inserting it.
    Edit,
    /// Applies a patch that names its files itself.
    Patch,
    /// Runs a command line, or goes on with one that runs.
    Shell,
    /// Runs tests or reports diagnostics, without a command line.
    Test,
    /// Looks for text or names in files.
    Search,
    /// Lists files and directories.
    List,
    /// Fetches a page.
    WebFetch,
    /// Asks a search engine.
    WebSearch,
    /// Keeps a to-do list or a plan.
    Todo,
    /// Hands work to another agent.
    SubAgent,
    /// Lets the model think, ask or announce; nothing outside is touched.
    Talk,
    /// Looks up or changes records: MCP servers and business functions, mostly answered in JSON.
    Record,
    /// Anything else.
    Other,
}

impl ToolFamily {
    /// Returns the name used in reports: that of the variant in snake case.
    pub fn as_str(self) -> &'static str {
        match self {
            ToolFamily::Read => "read",
            ToolFamily::Write => "write",
            ToolFamily::Edit => "edit",
            ToolFamily::Patch => "patch",
            ToolFamily::Shell => "shell",
            ToolFamily::Test => "test",
            ToolFamily::Search => "search",
            ToolFamily::List => "list",
            ToolFamily::WebFetch => "web_fetch",
            ToolFamily::WebSearch => "web_search",
            ToolFamily::Todo => "todo",
            ToolFamily::SubAgent => "sub_agent",
            ToolFamily::Talk => "talk",
            ToolFamily::Record => "record",
            ToolFamily::Other => "other",
        }
    }

    /// Returns whether the tool changes files.
    pub fn changes_files(self) -> bool {
        matches!(self, ToolFamily::Write | ToolFamily::Edit | ToolFamily::Patch)
    }

    /// Returns whether the tool runs commands.
    pub fn runs_commands(self) -> bool {
        matches!(self, ToolFamily::Shell | ToolFamily::Test)
    }

    /// Returns whether the tool changes nothing outside the conversation, whatever it is called with.
    pub fn only_looks(self) -> bool {
        match self {
            ToolFamily::Read | ToolFamily::Search | ToolFamily::List => true,
            ToolFamily::WebFetch | ToolFamily::WebSearch | ToolFamily::Todo | ToolFamily::Talk => true,
            ToolFamily::Write | ToolFamily::Edit | ToolFamily::Patch => false,
            ToolFamily::Shell | ToolFamily::Test | ToolFamily::SubAgent => false,
            ToolFamily::Record | ToolFamily::Other => false,
        }
    }
}

/// Returns whether a tool of this name runs no command of its own: it asks for one that goes on, answers it, or ends it.
///
/// ```
/// use longhaul_extract::looks_after_one;
///
/// assert!(looks_after_one("BashOutput") && looks_after_one("functions.write_stdin"));
/// assert!(!looks_after_one("Bash"));
/// ```
pub fn looks_after_one(name: &str) -> bool {
    const NAMES: [&str; 8] = [
        "write_stdin", "bash_output", "kill_shell", "kill_bash", "get_terminal_output", "command_status",
        "task_output", "read_process_output",
    ];
    NAMES.contains(&plain_name(name).as_str())
}

/// Returns whether a tool of this name changes records: its first word, or that behind the name of its service, says so. A word
/// that is also a thing (`book_search`) says it only where nothing behind it looks.
pub(crate) fn changes_record(name: &str) -> bool {
    let plain = plain_name(name);
    let words: Vec<&str> = plain.split('_').filter(|word| !word.is_empty()).collect();
    let is_of = |list: &str, word: &str| list.split(' ').any(|one| one == word);
    let says = |word: &&str| is_of(CHANGES, word) || is_of(LOOKS, word);
    let Some(at) = words.iter().take(2).position(says) else { return false };
    let looks_behind = || words[at + 1..].iter().any(|word| is_of(LOOKS, word) || STATES.contains(word));
    is_of(CHANGES, words[at]) && !(is_of(THINGS, words[at]) && looks_behind())
}

/// Those of the words that a tool's name may also mean a thing by.
const THINGS: &str = "\
    archive block book charge exchange grant merge pay post purchase refund reply return schedule transfer";

/// What a tool shows of a thing.
const STATES: [&str; 4] = ["details", "history", "info", "status"];

const CHANGES: &str = "\
    add approve archive assign block book buy cancel change charge close create deactivate delete deploy \
    disable enable exchange grant insert invite merge modify move pay post publish purchase put reactivate \
    reboot refuel refund register reject remove rename reopen replace reply reschedule reserve reset resume \
    return revoke save schedule send set suspend toggle transfer update upsert write";

const LOOKS: &str = "\
    calculate can check compare count describe download estimate fetch find get has is list lookup preview \
    query read search should show validate verify view";

/// Returns the name without its server or name space, in snake case: `mcp__github__getIssue` is `get_issue`.
pub(crate) fn plain_name(name: &str) -> String {
    let mut tail = name.trim();
    for separator in ["__", "::", "."] {
        // Most names have none of them, and looking is cheaper than searching.
        let is_there = tail.as_bytes().windows(separator.len()).any(|bytes| bytes == separator.as_bytes());
        if let Some((_, last)) = is_there.then(|| tail.rsplit_once(separator)).flatten()
            && !last.is_empty()
        {
            tail = last;
        }
    }
    let tail = tail.rsplit(['/', ':']).next().unwrap_or(tail);
    let mut plain = String::with_capacity(tail.len() + 4);
    let mut previous_lower = false;
    for c in tail.chars().take(120) {
        if c.is_uppercase() && previous_lower {
            plain.push('_');
        }
        previous_lower = c.is_lowercase() || c.is_ascii_digit();
        if matches!(c, '-' | ' ') {
            plain.push('_');
        } else if c.is_ascii() {
            plain.push(c.to_ascii_lowercase());
        } else {
            plain.extend(c.to_lowercase());
        }
    }
    plain
}

/// Returns the family of a tool that real agents have under this plain name (see [`plain_name`]).
pub(crate) fn by_name(plain: &str) -> Option<ToolFamily> {
    static KNOWN: LazyLock<HashMap<&str, ToolFamily>> = LazyLock::new(|| {
        let each =
            |&(family, names): &(ToolFamily, &'static str)| names.split(' ').map(move |name| (name, family));
        NAMES.iter().flat_map(each).collect()
    });
    KNOWN.get(plain).copied()
}

/// The names that agents really use: Claude Code, Codex, pi, Cline, Roo, OpenHands, SWE-agent, Gemini CLI, opencode,
/// Cursor, Copilot, Windsurf, Goose, and those of the documents in `docs/seeds.md` (read from their recordings and documentation,
/// November 2026).
const NAMES: [(ToolFamily, &str); 13] = [
    (
        ToolFamily::Read,
        "read read_file read_files read_many_files view view_file open open_file cat goto scroll_down \
        scroll_up notebook_read view_line_range file_read get_file_contents get_file_content read_text_file \
        read_multiple_files view_code_item view_image read_notebook read_file_content read_media_file \
        show_file",
    ),
    (
        ToolFamily::Write,
        "write write_file create create_file write_to_file new_file save_file file_write create_new_file \
        create_or_update_file write_text_file",
    ),
    (
        ToolFamily::Edit,
        "edit edit_file multi_edit multiedit notebook_edit replace replace_in_file search_and_replace \
        insert_content insert_edit_into_file replace_string_in_file multi_replace_string_in_file \
        edit_notebook_file insert str_replace search_replace propose_code replace_file_content edit_files \
        delete_file move_file rename_file remove_file edit_notebook undo_edit file_edit",
    ),
    (ToolFamily::Patch, "apply_patch patch apply_diff apply_edits"),
    (
        ToolFamily::Shell,
        "bash shell exec_command execute_bash execute_command run_command terminal run_terminal_cmd \
        run_in_terminal run_shell_command local_shell shell_command container_exec write_stdin bash_output \
        kill_shell kill_bash get_terminal_output command_status exec cmd powershell execute_ipython_cell \
        ipython python code_interpreter run_code execute_code jupyter task_output read_process_output \
        start_process unified_exec bash_tool computer_terminal run_bash sh",
    ),
    (
        ToolFamily::Test,
        "run_tests run_test test get_errors get_diagnostics diagnostics lint read_lints test_failure problems",
    ),
    (
        ToolFamily::Search,
        "grep search search_files grep_search search_file_content grep_files search_dir search_file \
        codebase_search code_search codesearch semantic_search search_code search_codebase ripgrep rg \
        search_for_pattern find_symbol lsp list_code_usages search_in_files text_search file_content_search",
    ),
    (
        ToolFamily::List,
        "glob ls list list_files list_dir list_directory find find_file find_files find_by_name file_search \
        list_code_definition_names directory_tree glob_file_search tree glob_files list_allowed_directories",
    ),
    (
        ToolFamily::WebFetch,
        "web_fetch webfetch fetch fetch_webpage fetch_url read_url_content browse browser browser_action \
        browser_navigate open_url url_fetch get_page view_web_document_content_chunk http_request visit_page",
    ),
    (
        ToolFamily::WebSearch,
        "web_search websearch google_web_search search_web brave_web_search tavily_search internet_search \
        google_search",
    ),
    (
        ToolFamily::Todo,
        "todo_write todowrite todo_read todoread update_plan write_todos task_create task_update task_list \
        task_get update_todo_list manage_todo_list todo todos plan set_plan task_tracker",
    ),
    (
        ToolFamily::SubAgent,
        "task agent sub_agent subagent run_subagent spawn_agent new_task delegate delegate_task wait_agent \
        send_input handoff oracle",
    ),
    (
        ToolFamily::Talk,
        "think ask_user_question ask_followup_question attempt_completion finish submit exit_plan_mode \
        enter_plan_mode request_user_input plan_mode_respond switch_mode sequentialthinking \
        sequential_thinking message notify_user transfer_to_human_agents done",
    ),
];

/// Names built of the usual words: `run_my_command`, `search_company_docs`, `get_order_details`.
pub(crate) fn by_words(plain: &str) -> Option<ToolFamily> {
    use ToolFamily::*;
    let words: Vec<&str> = plain.split('_').filter(|word| !word.is_empty()).collect();
    let has = |list: &[&str]| words.iter().any(|word| list.contains(word));
    let file = has(&["file", "files", "document", "notebook", "path"]);
    Some(match () {
        () if has(&["bash", "shell", "terminal", "command", "cmd", "console"]) => Shell,
        () if has(&["patch", "diff"]) && has(&["apply"]) => Patch,
        () if file && has(&["read", "view", "open", "show", "load", "cat"]) => Read,
        () if file && has(&["write", "create", "save"]) => Write,
        () if file && has(&["edit", "replace", "modify", "update", "insert", "delete", "move", "rename"]) => {
            Edit
        }
        () if file && has(&["list", "find", "glob"]) => List,
        () if has(&["grep"]) || file && has(&["search"]) => Search,
        () if has(&["directory", "dir", "folder"]) => List,
        () if has(&["web", "internet", "google", "bing"]) && has(&["search"]) => WebSearch,
        () if has(&["url", "webpage", "website"]) || has(&["fetch"]) && has(&["page", "web"]) => WebFetch,
        () if has(&["todo", "todos"]) => Todo,
        () if has(&["subagent"]) => SubAgent,
        () if has(&["test", "tests", "lint", "diagnostics"]) && has(&["run", "get"]) => Test,
        () => return None,
    })
}

#[cfg(test)]
mod tests {
    use longhaul_transcript::ToolCall;

    use super::*;

    fn of(name: &str) -> ToolFamily {
        crate::family(&ToolCall::function("c", name, "{}"))
    }

    #[test]
    fn the_names_of_real_agents_are_known() {
        use ToolFamily::*;
        let table = [
            ("Read", Read),
            ("MultiEdit", Edit),
            ("NotebookEdit", Edit),
            ("Bash", Shell),
            ("BashOutput", Shell),
            ("Grep", Search),
            ("Glob", List),
            ("LS", List),
            ("Task", SubAgent),
            ("TodoWrite", Todo),
            ("WebFetch", WebFetch),
            ("WebSearch", WebSearch),
            ("TaskCreate", Todo),
            ("ExitPlanMode", Talk),
            ("exec_command", Shell),
            ("apply_patch", Patch),
            ("update_plan", Todo),
            ("write_stdin", Shell),
            ("functions.shell", Shell),
            ("container.exec", Shell),
            ("execute_bash", Shell),
            ("search_files", Search),
            ("create_file", Write),
            ("edit_file", Edit),
            ("write_to_file", Write),
            ("replace_in_file", Edit),
            ("run_shell_command", Shell),
            ("google_web_search", WebSearch),
            ("read_many_files", Read),
            ("developer__shell", Shell),
            ("mcp__github__get_issue", Record),
            ("mcp__fs__list_directory", List),
            ("get_order_details", Record),
            ("run_in_terminal", Shell),
            ("replaceStringInFile", Edit),
            ("default_api:read_file", Read),
            ("runSubagent", SubAgent),
            ("think", Talk),
        ];
        for (name, expected) in table {
            assert_eq!(of(name), expected, "{name}");
        }
    }

    #[test]
    fn a_name_tells_whether_a_record_is_changed() {
        for name in [
            "update_reservation_flights",
            "mcp__github__createIssue",
            "slack_post_message",
            "book_reservation",
            "move_card_to_list",
            "cancel_download",
            "API-post-page",
            "set_status",
        ] {
            assert!(changes_record(name), "{name}");
        }
        for name in [
            "get_order_details",
            "list_changes",
            "can_send_mms",
            "calculate",
            "get_update_status",
            "issue_comments_to_set",
            "mcp__notion__API-post-search",
            "API-post-database-query",
            "book_search",
            "post_get",
            "transfer_status_check",
            "pay_history",
        ] {
            assert!(!changes_record(name), "{name}");
        }
    }
}
