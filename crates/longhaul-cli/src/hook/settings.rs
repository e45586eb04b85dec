//! Our hooks among those of a settings file: put there once, and taken out without a trace, while everything else keeps its bytes.

use std::{env, path::PathBuf};

use anyhow::{Context as _, Result};
use serde_json::{Map, Value, json};

use super::json::{self, Node};
use crate::args::HookPlace;

/// The events that are listened to, and for which of them.
const EVENTS: [(&str, Option<&str>); 3] =
    [("PreCompact", None), ("SessionStart", Some("compact")), ("PostToolUse", Some("Bash"))];

/// The event that is left out where output is to stay as it is.
const FILTER: &str = "PostToolUse";

/// How a command of ours ends, whatever it is called by.
const OURS: &str = " hook run";

/// How long the agent waits for us, in seconds.
const TIMEOUT: u64 = 30;

/// Returns the settings file that is meant.
pub(crate) fn file(place: &HookPlace) -> Result<PathBuf> {
    if let Some(path) = &place.settings {
        return Ok(path.clone());
    }
    let folder = match place.project {
        true => PathBuf::from(".claude"),
        false => {
            let named = env::var_os("CLAUDE_CONFIG_DIR").filter(|path| !path.is_empty()).map(PathBuf::from);
            let home = || env::var_os("HOME").or_else(|| env::var_os("USERPROFILE")).map(PathBuf::from);
            let usual = || home().map(|home| home.join(".claude"));
            named.or_else(usual).context("there is no home directory; name the file with --settings")?
        }
    };
    Ok(folder.join("settings.json"))
}

/// What follows settings that were made for our hooks: there was no file before, not even its folder, or one in which nothing stood, which follows in
/// turn. No reader of JSON minds the blanks, and nobody types them.
const WAS_MISSING: &str = " \t";
const WAS_FOLDERLESS: &str = " \t\t";
const WAS_BLANK: &str = "\t ";

/// Returns the settings in `text` with our hooks run by `command`, the filter among them where it is wanted. Where they stand
/// already, they stay where they are.
///
/// # Errors
/// When the settings are not of the shape that Claude Code reads: what is not.
pub(crate) fn installed(text: Option<&str>, command: &str, with_filter: bool) -> Result<String, String> {
    with_hooks(text, WAS_MISSING, command, with_filter)
}

/// The same where not even the folder is there that the settings are to stand in.
///
/// # Errors
/// As [`installed`].
pub(crate) fn installed_with_folder(command: &str, with_filter: bool) -> Result<String, String> {
    with_hooks(None, WAS_FOLDERLESS, command, with_filter)
}

/// Returns whether the folder of the settings in `text` was made for them.
pub(crate) fn made_folder(text: &str) -> bool {
    text.ends_with(WAS_FOLDERLESS)
}

fn with_hooks(
    text: Option<&str>,
    was_missing: &str,
    command: &str,
    with_filter: bool,
) -> Result<String, String> {
    let mut text = match text {
        None => format!("{{}}\n{was_missing}"),
        Some(blank) if blank.trim().is_empty() => format!("{{}}\n{WAS_BLANK}{blank}"),
        Some(text) => text.to_owned(),
    };
    for (event, matcher) in EVENTS {
        let mut group = Map::new();
        group.extend(matcher.map(|matcher| ("matcher".to_owned(), json!(matcher))));
        let ours = json!([{ "type": "command", "command": command, "timeout": TIMEOUT }]);
        group.insert("hooks".to_owned(), ours);
        let group = Value::Object(group);
        let wanted = if with_filter || event != FILTER { vec![&group] } else { Vec::new() };
        let root = checked(&text)?;
        let there: Vec<Value> =
            ours_of(&root, &text, event).iter().map(|ours| ours.group.value(&text)).collect();
        if there.iter().eq(wanted.iter().copied()) {
            continue;
        }
        text = without_ours(text, event)?;
        if !wanted.is_empty() {
            text = with_group(&text, event, &group)?;
        }
    }
    Ok(text)
}

/// Returns the settings in `text` without our hooks: what stood there before them, or nothing where there was no file.
///
/// # Errors
/// When the settings are not of the shape that Claude Code reads: what is not.
pub(crate) fn removed(text: &str) -> Result<Option<String>, String> {
    if text.trim().is_empty() {
        return Ok(Some(text.to_owned()));
    }
    let without =
        EVENTS.into_iter().try_fold(text.to_owned(), |text, (event, _)| without_ours(text, event))?;
    let made_for_ours = without.strip_prefix("{}\n").filter(|_| without != text);
    Ok(match made_for_ours {
        Some(WAS_MISSING | WAS_FOLDERLESS) => None,
        Some(end) => Some(end.strip_prefix(WAS_BLANK).map_or(without.clone(), str::to_owned)),
        None => Some(without),
    })
}

fn without_ours(mut text: String, event: &str) -> Result<String, String> {
    loop {
        let root = checked(&text)?;
        let Some(ours) = ours_of(&root, &text, event).into_iter().next() else { return Ok(text) };
        text = json::without(&text, &ours.path).ok_or("our hook cannot be taken out")?;
    }
}

fn with_group(text: &str, event: &str, group: &Value) -> Result<String, String> {
    let root = checked(text)?;
    Ok(match root.members("hooks").next_back() {
        None => root.with(text, Some("hooks"), &json!({ event: [group] })),
        Some((_, hooks)) => match hooks.members(event).next_back() {
            None => hooks.with(text, Some(event), &json!([group])),
            Some((_, groups)) => groups.with(text, None, group),
        },
    })
}

/// A hook of ours, in the group that it stands in.
struct Ours<'a> {
    group: &'a Node,
    /// Where what has to go stands: all of the group where nothing else is in it.
    path: Vec<usize>,
}

fn ours_of<'a>(root: &'a Node, text: &str, event: &str) -> Vec<Ours<'a>> {
    let mut found = Vec::new();
    for (a, hooks) in root.members("hooks") {
        for (b, groups) in hooks.members(event) {
            for (c, group) in groups.elements().enumerate() {
                for (d, list) in group.members("hooks") {
                    for (e, _) in list.elements().enumerate().filter(|(_, hook)| is_ours(&hook.value(text))) {
                        let path = if list.len() == 1 { vec![a, b, c] } else { vec![a, b, c, d, e] };
                        found.push(Ours { group, path });
                    }
                }
            }
        }
    }
    found
}

/// Returns where everything stands in settings of the shape that Claude Code reads.
fn checked(text: &str) -> Result<Node, String> {
    if text.starts_with('\u{feff}') {
        return Err(
            "it begins with a byte order mark (BOM), which JSON has not; save it without one".to_owned()
        );
    }
    if let Err(error) = serde_json::from_str::<Value>(text) {
        return Err(format!("it is no JSON ({error})"));
    }
    let root = Node::of(text).filter(Node::is_object).ok_or("it is no JSON object")?;
    for (_, hooks) in root.members("hooks") {
        if !hooks.is_object() {
            return Err("`hooks` is not an object, as Claude Code reads it".to_owned());
        }
        for (event, _) in EVENTS {
            if hooks.members(event).any(|(_, groups)| !groups.is_list()) {
                return Err(format!("`{event}` is not a list, as Claude Code reads it"));
            }
        }
    }
    Ok(root)
}

fn is_ours(hook: &Value) -> bool {
    let command = hook["command"].as_str().unwrap_or_default();
    command.ends_with(OURS) && command.contains("longhaul")
}

/// Returns the command line that runs this program as a hook.
///
/// # Errors
/// When this program's path is no text.
pub(crate) fn command() -> Result<String> {
    Ok(format!("{}{OURS}", program()?))
}

/// Returns what a shell runs this program by: its name where that finds it, else its path.
///
/// # Errors
/// When its path is no text.
pub(crate) fn program() -> Result<String> {
    let own = env::current_exe().context("this program has no path")?;
    let own = own.canonicalize().unwrap_or(own);
    let found = env::var_os("PATH").and_then(|path| {
        let named = env::split_paths(&path).map(|folder| folder.join("longhaul"));
        named.filter_map(|path| path.canonicalize().ok()).find(|path| path.is_file())
    });
    if found.is_some_and(|found| found == own) {
        return Ok("longhaul".to_owned());
    }
    let path = own.to_str().context("the path of this program is no text")?;
    Ok(format!("'{}'", path.replace('\'', r"'\''")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMAND: &str = "longhaul hook run";

    /// Texts of every shape that a file of settings has, and some that none has.
    fn foreign() -> Vec<String> {
        let pretty = r#"{
  "model": "opus",
  "n": 12345678901234567890123,
  "e": 1e5, "twice": 1, "twice": 2,
  "hooks": {
    "PostToolUse": [
      {
        "matcher": "Edit",
        "hooks": [{"type": "command", "command": "fmt \u00e9 \"]}"}]
      }
    ],
    "Stop": [{"hooks": [{"type": "command", "command": "bell hook run"}]}]
  },
  "permissions": {"allow": ["Bash(ls:*)"]}
}
"#;
        let mut texts: Vec<String> = [
            "{}",
            "{ }",
            "{\n}",
            "{}\n",
            "\n {} ",
            "{\"a\":1}",
            "{ \"a\": 1 }",
            "{\"hooks\":{}}",
            "{\n  \"hooks\": {}\n}\n",
            "{\n  \"hooks\": {\n  }\n}\n",
            "{\"hooks\":{\"PreCompact\":[]}}",
            "{\"hooks\":{\"PreCompact\":[ ],\"Stop\":[]},\"b\":{}}",
            "{\"hooks\":{\"Stop\":[]},\"hooks\":{\"Stop\":[],\"Stop\":[]}}",
            "{\"hooks\": {\"PostToolUse\": [{\"matcher\": \"Bash\", \"hooks\": []}]}}",
            "{\"h\\u006foks\":{}}",
            "{\n\t\"a\": [],\n\n\t\"hooks\": {\n\t\t\"SessionStart\": [\n\t\t\t{}\n\t\t]\n\t}\n}",
            pretty,
        ]
        .map(str::to_owned)
        .into();
        texts.push(pretty.replace("\n", "\r\n"));
        texts.push(pretty.replace("  ", "      "));
        texts.push(pretty.split_whitespace().collect());
        texts
    }

    #[test]
    fn hooks_are_put_in_once_and_taken_out_to_the_byte() {
        for text in foreign() {
            for with_filter in [true, false] {
                let with = installed(Some(&text), COMMAND, with_filter).unwrap();
                assert_eq!(installed(Some(&with), COMMAND, with_filter).unwrap(), with);
                assert_eq!(with.matches(COMMAND).count(), if with_filter { 3 } else { 2 }, "{with}");
                let value: Value = serde_json::from_str(&with).unwrap();
                let start = value["hooks"]["SessionStart"].as_array().unwrap().last().unwrap();
                assert_eq!(start["matcher"], "compact", "{with}");
                assert_eq!(removed(&with).unwrap().unwrap(), text, "{with}");
                assert_eq!(removed(&text).unwrap().unwrap(), text);
                // Nothing was taken away, and nothing is between but what is ours.
                let mut rest = with.as_str();
                for byte in text.chars() {
                    rest = rest.split_once(byte).unwrap().1;
                }
                if text.contains("\r\n") {
                    assert_eq!(with.matches('\n').count(), with.matches("\r\n").count(), "{with:?}");
                }
            }
        }
    }

    #[test]
    fn what_is_put_in_stands_as_its_neighbours_do() {
        let with = installed(Some("{\n    \"model\": \"opus\"\n}\n"), COMMAND, false).unwrap();
        let expected = expect_test::expect![[r#"
            {
                "model": "opus",
                "hooks": {
                    "PreCompact": [
                        {
                            "hooks": [
                                {
                                    "type": "command",
                                    "command": "longhaul hook run",
                                    "timeout": 30
                                }
                            ]
                        }
                    ],
                    "SessionStart": [
                        {
                            "matcher": "compact",
                            "hooks": [
                                {
                                    "type": "command",
                                    "command": "longhaul hook run",
                                    "timeout": 30
                                }
                            ]
                        }
                    ]
                }
            }
        "#]];
        expected.assert_eq(&with);
        let made = installed(None, COMMAND, false).unwrap();
        assert_eq!(
            made.trim_end().to_owned() + "\n",
            with.replace("    \"model\": \"opus\",\n", "").replace("    ", "  ")
        );
    }

    #[test]
    fn where_nothing_stood_nothing_stands_again() {
        for with_filter in [true, false] {
            let with = installed(None, COMMAND, with_filter).unwrap();
            assert_eq!(installed(Some(&with), COMMAND, with_filter).unwrap(), with);
            assert_eq!(removed(&with).unwrap(), None);
            for blank in ["", "\n", " \t", "\t \n", "\r\n\r\n"] {
                let with = installed(Some(blank), COMMAND, with_filter).unwrap();
                assert!(serde_json::from_str::<Value>(&with).is_ok());
                assert_eq!(removed(&with).unwrap().as_deref(), Some(blank));
                assert_eq!(removed(blank).unwrap().as_deref(), Some(blank));
            }
        }
        // Whoever put something beside ours keeps it.
        let with = installed(None, COMMAND, false).unwrap().replacen('{', "{\n  \"model\": \"opus\",", 1);
        assert!(removed(&with).unwrap().is_some_and(|text| text.contains("opus")));
    }

    #[test]
    fn ours_are_renewed_where_they_are_not_as_they_are_to_be() {
        for text in foreign() {
            let old = installed(Some(&text), "'/old/longhaul' hook run", true).unwrap();
            let new = installed(Some(&old), COMMAND, false).unwrap();
            assert!(!new.contains("/old/"), "{new}");
            assert_eq!(new.matches(COMMAND).count(), 2, "without the filter: {new}");
            assert_eq!(removed(&new).unwrap().unwrap(), text, "{new}");
        }
    }

    #[test]
    fn a_hook_of_somebody_else_in_a_group_with_ours_stays() {
        let text = "{\"hooks\": {\"PostToolUse\": [{\"matcher\": \"Bash\", \"hooks\": [{\"command\": \"a\"}, OURS, {\"command\": \"b\"}]}]}}";
        let ours = "{\"command\": \"longhaul hook run\"}";
        assert_eq!(removed(&text.replace("OURS", ours)).unwrap().unwrap(), text.replace("OURS, ", ""));
    }

    #[test]
    fn settings_of_another_shape_are_left_alone() {
        for (odd, why) in [
            ("[]", "no JSON object"),
            ("{\"hooks\": []}", "`hooks` is not an object"),
            ("{\"hooks\": {\"PreCompact\": {}}}", "`PreCompact` is not a list"),
            ("{ // so\n}", "no JSON (key must be a string at line 1"),
            ("\u{feff}{}", "byte order mark"),
        ] {
            for done in [installed(Some(odd), COMMAND, true).map(Some), removed(odd)] {
                assert!(done.as_ref().is_err_and(|said| said.contains(why)), "{odd}: {done:?}");
            }
        }
    }

    #[test]
    fn what_is_nested_without_end_is_refused() {
        let deep = format!("{{\"a\":{}{}}}", "[".repeat(200_000), "]".repeat(200_000));
        assert!(installed(Some(&deep), COMMAND, true).is_err());
    }
}
