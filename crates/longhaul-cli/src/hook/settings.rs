//! Our hooks among those of a settings file: put there once, and taken out without a trace.

use std::{env, path::PathBuf};

use anyhow::{Context as _, Result, bail};
use serde_json::{Map, Value, json};

use crate::{args::HookPlace, exit::Impossible};

/// What becomes of a settings file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Change {
    /// It is as it is to be.
    None,
    /// It is to be this.
    To(Value),
}

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

/// Returns `settings` with our hooks run by `command`, the filter among them where it is wanted.
///
/// # Errors
/// When the settings are not of the shape that Claude Code reads.
pub(crate) fn installed(settings: &Value, command: &str, with_filter: bool) -> Result<Change> {
    let mut new = without_ours(settings)?;
    let hooks = entry(object(&mut new, "the file")?, "hooks", Value::Object(Map::new()));
    let hooks = object(hooks, "`hooks`")?;
    for (event, matcher) in EVENTS.into_iter().filter(|(event, _)| with_filter || *event != FILTER) {
        let mut group = Map::new();
        group.extend(matcher.map(|matcher| ("matcher".to_owned(), json!(matcher))));
        let ours = json!([{ "type": "command", "command": command, "timeout": TIMEOUT }]);
        group.insert("hooks".to_owned(), ours);
        let groups = entry(hooks, event, json!([]));
        groups.as_array_mut().with_context(|| shape(event, "a list"))?.push(Value::Object(group));
    }
    Ok(changed(settings, new))
}

/// Returns `settings` without our hooks.
///
/// # Errors
/// When the settings are not of the shape that Claude Code reads.
pub(crate) fn removed(settings: &Value) -> Result<Change> {
    Ok(changed(settings, without_ours(settings)?))
}

fn changed(old: &Value, new: Value) -> Change {
    // Where our hooks stand among others has no meaning, as long as each is there.
    if *old == new { Change::None } else { Change::To(new) }
}

/// Returns `settings` without our hooks, and without what is empty then and was made for them.
fn without_ours(settings: &Value) -> Result<Value> {
    let mut new = settings.clone();
    let settings = object(&mut new, "the file")?;
    let Some(hooks) = settings.get_mut("hooks") else { return Ok(new) };
    let hooks = object(hooks, "`hooks`")?;
    let mut had_ours = false;
    for (event, _) in EVENTS {
        let Some(groups) = hooks.get_mut(event) else { continue };
        let groups = groups.as_array_mut().with_context(|| shape(event, "a list"))?;
        let before = groups.len();
        let mut touched = false;
        for group in groups.iter_mut() {
            let Some(list) = group.get_mut("hooks").and_then(Value::as_array_mut) else { continue };
            let n = list.len();
            list.retain(|hook| !is_ours(hook));
            touched |= list.len() < n;
        }
        if touched {
            had_ours = true;
            groups.retain(|group| group["hooks"].as_array().is_none_or(|list| !list.is_empty()));
        }
        if groups.is_empty() && before > 0 {
            hooks.shift_remove(event);
        }
    }
    if hooks.is_empty() && had_ours {
        settings.shift_remove("hooks");
    }
    Ok(new)
}

fn is_ours(hook: &Value) -> bool {
    let command = hook["command"].as_str().unwrap_or_default();
    command.ends_with(OURS) && command.contains("longhaul")
}

/// Returns the command line that runs this program as a hook: by its name where that finds it, else by its path.
pub(crate) fn command() -> Result<String> {
    let own = env::current_exe().context("this program has no path")?;
    let own = own.canonicalize().unwrap_or(own);
    let found = env::var_os("PATH").and_then(|path| {
        let named = env::split_paths(&path).map(|folder| folder.join("longhaul"));
        named.filter_map(|path| path.canonicalize().ok()).find(|path| path.is_file())
    });
    if found.is_some_and(|found| found == own) {
        return Ok(format!("longhaul{OURS}"));
    }
    let path = own.to_str().context("the path of this program is no text")?;
    Ok(format!("'{}'{OURS}", path.replace('\'', r"'\''")))
}

fn entry<'a>(object: &'a mut Map<String, Value>, key: &str, new: Value) -> &'a mut Value {
    object.entry(key).or_insert(new)
}

fn object<'a>(value: &'a mut Value, what: &str) -> Result<&'a mut Map<String, Value>> {
    match value {
        Value::Object(object) => Ok(object),
        _ => bail!(Impossible(shape(what, "an object"))),
    }
}

fn shape(what: &str, expected: &str) -> String {
    format!("the settings are not as Claude Code reads them: {what} is not {expected}; nothing was changed")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn to(change: Change) -> Value {
        match change {
            Change::To(value) => value,
            Change::None => panic!("nothing is to change"),
        }
    }

    fn foreign() -> Value {
        json!({
            "model": "opus",
            "hooks": {
                "PostToolUse": [{"matcher": "Edit", "hooks": [{"type": "command", "command": "fmt"}]}],
                "Stop": [{"hooks": [{"type": "command", "command": "bell hook run"}]}],
            },
            "permissions": {"allow": ["Bash(ls:*)"]},
        })
    }

    #[test]
    fn hooks_are_put_in_once_and_taken_out_without_a_trace() {
        for settings in [json!({}), json!({"hooks": {}}), foreign()] {
            let with = to(installed(&settings, "longhaul hook run", true).unwrap());
            assert_eq!(installed(&with, "longhaul hook run", true).unwrap(), Change::None);
            let bare = to(removed(&with).unwrap());
            // An empty `hooks` says nothing, and may go.
            let expected = if settings == json!({"hooks": {}}) { json!({}) } else { settings.clone() };
            assert_eq!(bare.to_string(), expected.to_string(), "the order too");
            assert_eq!(removed(&bare).unwrap(), Change::None);
        }
    }

    #[test]
    fn foreign_hooks_stay_and_ours_are_renewed() {
        let with = to(installed(&foreign(), "'/old/longhaul' hook run", true).unwrap());
        let new = to(installed(&with, "longhaul hook run", false).unwrap());
        let text = new.to_string();
        assert!(!text.contains("/old/") && text.contains("bell hook run") && text.contains("fmt"), "{text}");
        assert_eq!(text.matches("longhaul hook run").count(), 2, "without the filter: {text}");
        assert_eq!(new["hooks"]["PostToolUse"], foreign()["hooks"]["PostToolUse"]);
        assert_eq!(new["hooks"]["SessionStart"][0]["matcher"], "compact");
    }

    #[test]
    fn a_hook_of_somebody_else_in_a_group_with_ours_stays() {
        let mut with = to(installed(&json!({}), "longhaul hook run", true).unwrap());
        let group = with["hooks"]["PostToolUse"][0]["hooks"].as_array_mut().unwrap();
        group.push(json!({"type": "command", "command": "fmt"}));
        let bare = to(removed(&with).unwrap());
        assert_eq!(
            bare,
            json!({"hooks": {"PostToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "fmt"}]}]}})
        );
    }

    #[test]
    fn settings_of_another_shape_are_left_alone() {
        for odd in [json!([]), json!({"hooks": []}), json!({"hooks": {"PreCompact": {}}})] {
            assert!(installed(&odd, "longhaul hook run", true).is_err(), "{odd}");
        }
    }
}
