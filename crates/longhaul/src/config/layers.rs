//! Settings from several places, and where each value comes from.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use super::{Config, ConfigError, Problem, threshold::Thresholds};
use crate::Preset;

/// Where a setting's value comes from, weakest first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Source {
    /// The built-in default.
    Default,
    /// A preset.
    Preset(Preset),
    /// A file, by the name the caller gives it.
    File(String),
    /// An environment variable, by name.
    Environment(String),
    /// A command line flag, as it was typed: `--set trigger_ratio`.
    Flag(String),
}

/// Some settings from one place.
///
/// The library reads no file and no environment: the caller hands in their content.
#[derive(Clone, Debug)]
pub struct Layer {
    /// Weakest first: file, environment, flags.
    rank: u8,
    values: Vec<(String, Value, Source)>,
    problems: Vec<Problem>,
    warnings: Vec<Problem>,
}

/// Says in a line where `text` stops being TOML, and why.
fn not_toml(text: &str, error: &toml::de::Error) -> String {
    let before = error.span().and_then(|span| text.get(..span.start));
    let place = before.map_or(String::new(), |before| {
        let (line, column) =
            (before.matches('\n').count() + 1, before.lines().last().map_or(0, |line| line.chars().count()));
        format!(" at line {line}, column {}", if before.ends_with('\n') { 1 } else { column + 1 })
    });
    format!("not TOML{place}: {}", error.message().replace('\n', ", "))
}

/// The settings that all layers give together, and the source of each.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Layered {
    /// The settings; valid.
    pub config: Config,
    /// The source of each setting, by name. An override is named by its table: `models.gpt-5`.
    pub sources: BTreeMap<String, Source>,
    /// What was ignored, as an environment variable that names no setting.
    pub warnings: Vec<Problem>,
}

impl Layer {
    /// Returns the settings in a TOML file's text; `name` is how the file is called in messages.
    pub fn file(name: &str, toml: &str) -> Layer {
        let source = Source::File(name.to_owned());
        let mut layer = Layer { rank: 0, values: Vec::new(), problems: Vec::new(), warnings: Vec::new() };
        match toml::from_str::<Map<String, Value>>(toml) {
            Ok(table) => {
                layer.values = table.into_iter().map(|(key, value)| (key, value, source.clone())).collect()
            }
            Err(error) => layer.problems.push(Problem {
                field: "file".to_owned(),
                message: not_toml(toml, &error),
                source: source.to_string(),
            }),
        }
        layer
    }

    /// Returns the settings among environment variables: `LONGHAUL_TRIGGER_RATIO=0.8` is `trigger_ratio = 0.8`.
    ///
    /// A name that is no setting is a warning, since other programs of longhaul have variables of their own.
    pub fn environment(variables: impl IntoIterator<Item = (String, String)>) -> Layer {
        let mut layer = Layer { rank: 1, values: Vec::new(), problems: Vec::new(), warnings: Vec::new() };
        let known = known_settings();
        let mut variables: Vec<_> = variables.into_iter().collect();
        variables.sort();
        for (variable, text) in variables {
            let Some(field) = variable.strip_prefix("LONGHAUL_").map(str::to_ascii_lowercase) else {
                continue;
            };
            let source = Source::Environment(variable.clone());
            match known.get(&field) {
                Some(_) => layer.values.push((field.clone(), from_text(&field, &text), source)),
                None => layer.warnings.push(Problem {
                    field,
                    message: "names no setting and was ignored".to_owned(),
                    source: source.to_string(),
                }),
            }
        }
        layer
    }

    /// Returns the setting `field` with the value that `text` stands for, given by a flag; `typed` is how messages call the
    /// flag.
    pub fn flag(typed: &str, field: &str, text: &str) -> Layer {
        let field = field.replace('-', "_");
        let value = from_text(&field, text);
        let values = vec![(field, value, Source::Flag(typed.to_owned()))];
        Layer { rank: 2, values, problems: Vec::new(), warnings: Vec::new() }
    }
}

impl Config {
    /// Returns the settings in a TOML file's text, as the command reads them: what it leaves out is as it is by default, or in the preset
    /// that it names. For settings from several places, see [`Layered`].
    ///
    /// ```
    /// use longhaul::Config;
    ///
    /// let config = Config::from_toml("preserve_recent = 4")?;
    /// assert_eq!(config.preserve_recent, 4);
    /// assert!(Config::from_toml("preserve_recent = \"many\"").is_err());
    /// # Ok::<(), longhaul::config::ConfigError>(())
    /// ```
    ///
    /// # Errors
    /// With all that is wrong: what is no TOML, a name that is no setting, a value out of range.
    pub fn from_toml(toml: &str) -> Result<Config, ConfigError> {
        Layered::from_layers(vec![Layer::file("settings", toml)]).map(|layered| layered.config)
    }
}

impl Layered {
    /// Returns what `layers` give over the defaults: flags over environment over files, later files over earlier ones,
    /// the chosen preset under all of them.
    ///
    /// # Errors
    /// When a value cannot be read, names no setting, or does not fit the others; every such problem with its source.
    pub fn from_layers(mut layers: Vec<Layer>) -> Result<Layered, ConfigError> {
        layers.sort_by_key(|layer| layer.rank);
        let mut problems: Vec<Problem> = layers.iter().flat_map(|layer| layer.problems.clone()).collect();
        let warnings = layers.iter().flat_map(|layer| layer.warnings.clone()).collect();

        let mut merged = known_settings();
        let mut sources: BTreeMap<String, Source> =
            merged.keys().map(|key| (key.clone(), Source::Default)).collect();
        let preset = layers.iter().flat_map(|layer| &layer.values).rfind(|(field, ..)| field == "preset");
        // A preset that cannot be read is reported below, with its source.
        let preset: Option<Preset> =
            preset.and_then(|(_, value, _)| serde_json::from_value(value.clone()).ok());
        if let Some(preset) = preset {
            for (field, value) in preset.settings() {
                sources.insert(field.clone(), Source::Preset(preset));
                merged.insert(field, value);
            }
        }
        for (field, value, source) in layers.into_iter().flat_map(|layer| layer.values) {
            if let Some(message) = why_unreadable(&field, &value) {
                problems.push(Problem { field, message, source: source.to_string() });
                continue;
            }
            match (merged.get_mut(&field), value) {
                (Some(Value::Object(old)), Value::Object(new)) => {
                    for (name, table) in new {
                        sources.insert(format!("{field}.{name}"), source.clone());
                        merge_table(old, name, table);
                    }
                }
                (_, value) => {
                    merged.insert(field.clone(), value);
                    sources.insert(field, source);
                }
            }
        }
        let config: Config = serde_json::from_value(Value::Object(merged))
            .map_err(|error| ConfigError { problems: vec![Problem::new("config", error.to_string())] })?;
        let unknown = unknown(&problems, &sources);
        let mut of_values = config.validate();
        for problem in written_contradictions(&config, &sources) {
            if of_values.iter().all(|other| other.field != problem.field) {
                of_values.push(problem);
            }
        }
        let of_values = of_values.into_iter().filter(|problem| !is_about(problem, &unknown));
        problems.extend(of_values.map(|problem| {
            let source = sources.get(&problem.field).map(ToString::to_string).unwrap_or_default();
            Problem { source, ..problem }
        }));
        if !problems.is_empty() {
            return Err(ConfigError { problems });
        }
        Ok(Layered { config, sources, warnings })
    }

    /// Returns whether the settings, or the document that the preset stands for, say how many messages stay. Where they do
    /// not, a whole history that is compacted to a budget keeps what serves best.
    pub fn choose_recent(&self) -> bool {
        let is_chosen = |name| self.sources.get(name).is_some_and(|source| *source != Source::Default);
        // Every document but 001 says how many stay; 004's number is the default.
        let is_documents = self.config.preset.is_some_and(|preset| preset != Preset::Rolling);
        is_documents || ["preserve_recent", "preserve_recent_tokens"].into_iter().any(is_chosen)
    }

    /// Returns each setting with its value as it would be written in a file, and its source, in the settings' order.
    pub fn rows(&self) -> Vec<(String, String, Source)> {
        let Ok(Value::Object(fields)) = serde_json::to_value(&self.config) else { return Vec::new() };
        let row = |(field, value): (String, Value)| {
            // A table of overrides comes from where the strongest of them does.
            let prefix = format!("{field}.");
            let of_tables = self.sources.iter().filter(|(name, _)| name.starts_with(&prefix));
            let sources = self.sources.get(&field).into_iter().chain(of_tables.map(|(_, source)| source));
            let source = sources.max().cloned().unwrap_or(Source::Default);
            (field, value.to_string(), source)
        };
        fields.into_iter().map(row).collect()
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Default => f.write_str("default"),
            Source::Preset(preset) => write!(f, "preset {preset}"),
            Source::File(name) => write!(f, "file {name}"),
            Source::Environment(name) => write!(f, "environment {name}"),
            Source::Flag(name) => write!(f, "flag {name}"),
        }
    }
}

impl Serialize for Source {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Returns the settings whose values are not known for want of what could not be read: those themselves, and where a file or the preset
/// could not be read, all that nobody else set.
fn unknown(problems: &[Problem], sources: &BTreeMap<String, Source>) -> BTreeSet<String> {
    let is_whole = problems.iter().any(|problem| ["file", "preset"].contains(&&*problem.field));
    let unset = sources.iter().filter(|(_, source)| is_whole && **source == Source::Default);
    problems.iter().map(|problem| &problem.field).chain(unset.map(|(field, _)| field)).cloned().collect()
}

/// Returns what is in no order of the thresholds that were written down, be it with the value that they have anyway.
fn written_contradictions(config: &Config, sources: &BTreeMap<String, Source>) -> Vec<Problem> {
    let is_written = |name: &&str| {
        sources.get(*name).is_some_and(|source| !matches!(source, Source::Default | Source::Preset(_)))
    };
    let names: [&[&str]; 4] =
        [&["target_ratio", "target_context_tokens"], &["soft_ratio"], &["reset_ratio"], &["trigger_ratio"]];
    let is_set = names.map(|names| names.iter().any(is_written));
    config.contradictions(Thresholds { is_set, ..config.thresholds() })
}

/// Returns whether a problem of values is about any of these settings, by its name or by what its value was compared with.
fn is_about(problem: &Problem, settings: &BTreeSet<String>) -> bool {
    let named = |text: &str| {
        text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|name| settings.contains(name))
    };
    named(&problem.field) || named(&problem.message)
}

/// Returns every setting with its default, in the order of [`Config`].
fn known_settings() -> Map<String, Value> {
    match serde_json::to_value(Config::default()) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    }
}

/// Returns the value that `text` stands for in `field`: as TOML where that fits the field, else as a text.
fn from_text(field: &str, text: &str) -> Value {
    let as_text = Value::String(text.to_owned());
    // The text must not leave the one value it stands for.
    let one_line = !text.contains(['\n', '\r']);
    let parsed =
        one_line.then(|| toml::from_str::<Map<String, Value>>(&format!("value = {text}")).ok()).flatten();
    match parsed.and_then(|mut table| table.remove("value")) {
        Some(value) if why_unreadable(field, &value).is_none() => value,
        Some(value) if why_unreadable(field, &as_text).is_some() => value,
        _ => as_text,
    }
}

/// Returns why `value` cannot be the value of `field`, or `None` where it can.
fn why_unreadable(field: &str, value: &Value) -> Option<String> {
    let single = Value::Object(Map::from_iter([(field.to_owned(), value.clone())]));
    serde_json::from_value::<Config>(single).err().map(|error| {
        let message = error.to_string();
        // serde lists every known field after an unknown one; the name alone says enough.
        match message.split_once(", expected one of") {
            Some((what, _)) if what.starts_with("unknown field") => {
                let unknown = what.split('`').nth(1).unwrap_or(field);
                match Config::setting_called(field) {
                    _ if unknown != field => format!("{unknown} is no setting of a single model or provider"),
                    Some(setting) => format!("names no setting; it is called {setting} here"),
                    None => "names no setting".to_owned(),
                }
            }
            _ => message,
        }
    })
}

/// Adds `table`'s entries to those that `tables` has under `name`.
fn merge_table(tables: &mut Map<String, Value>, name: String, table: Value) {
    match (tables.get_mut(&name), table) {
        (Some(Value::Object(old)), Value::Object(new)) => old.extend(new),
        (_, table) => {
            tables.insert(name, table);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_single_model_cannot_have_is_named() {
        let file = Layer::file("f", "[models.'gpt-4o*']\ncooldown_messages = 9");
        let problems = Layered::from_layers(vec![file]).unwrap_err().problems;
        assert_eq!(problems[0].message, "cooldown_messages is no setting of a single model or provider");
    }
    use crate::config::{SoftAction, Threshold};
    use expect_test::expect;

    fn pairs(values: &[(&str, &str)]) -> Vec<(String, String)> {
        values.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn each_layer_wins_over_the_one_below() {
        let layered = Layered::from_layers(vec![
            Layer::flag("--set cooldown-messages", "cooldown-messages", "9"),
            Layer::file("longhaul.toml", "preset = \"session\"\nmin_messages = 5\ncooldown_messages = 7"),
            Layer::environment(pairs(&[
                ("LONGHAUL_COOLDOWN_MESSAGES", "8"),
                ("LONGHAUL_PRESERVE_RECENT", "4"),
                ("PATH", "x"),
            ])),
        ])
        .unwrap();
        let rows: String = layered
            .rows()
            .into_iter()
            .filter(|(.., source)| *source != Source::Default)
            .map(|(field, value, source)| format!("{field} = {value}  ({source})\n"))
            .collect();
        expect![[r#"
            preset = "session"  (file longhaul.toml)
            enabled = true  (preset session)
            mode = "hybrid"  (preset session)
            trigger_ratio = 0.8  (preset session)
            soft_action = "off"  (preset session)
            trigger_messages = 50  (preset session)
            min_messages = 5  (file longhaul.toml)
            preserve_recent = 4  (environment LONGHAUL_PRESERVE_RECENT)
            preserve_recent_tokens = "off"  (preset session)
            chaining = "append"  (preset session)
            summary_role = "system"  (preset session)
            summary_header = "[Previous conversation summarized - {messages} messages]"  (preset session)
            cooldown_messages = 9  (flag --set cooldown-messages)
            target_compression = 0.3  (preset session)
            max_summary_tokens = 1000  (preset session)
        "#]]
        .assert_eq(&rows);
    }

    #[test]
    fn a_preset_may_come_from_any_layer_and_the_strongest_counts() {
        let layered = Layered::from_layers(vec![
            Layer::file("a.toml", "preset = \"session\""),
            Layer::environment(pairs(&[("LONGHAUL_PRESET", "two-tier")])),
        ])
        .unwrap();
        assert_eq!(layered.config.preset, Some(Preset::TwoTier));
        assert_eq!(layered.config.soft_action, SoftAction::SummarizeRules);
        assert_eq!(layered.config.trigger_messages, None);
    }

    // asserts 004-11
    #[test]
    fn every_problem_is_reported_with_its_source() {
        let told = |file: &str| {
            let layers = vec![
                Layer::file("a.toml", file),
                Layer::environment(pairs(&[("LONGHAUL_MODE", "magic"), ("LONGHAUL_TRIGGER_MESSAGES", "4")])),
                Layer::flag("--set cooldown_messages", "cooldown_messages", "-3"),
                Layer::flag("--set preserve_recent", "preserve_recent", "1"),
            ];
            Layered::from_layers(layers).unwrap_err().to_string()
        };
        // What could be read is checked as well, but for what is compared with a value that could not.
        expect![[r#"
            the configuration has 6 problems:
              triger: names no setting (from file a.toml)
              trigger_ratio: 80 could be a ratio, percent or tokens; expected a ratio (0.8, "80%") or tokens (120000, "120k tokens") (from file a.toml)
              mode: unknown variant `magic`, expected one of `rules`, `llm`, `hybrid` (from environment LONGHAUL_MODE)
              cooldown_messages: invalid value: integer `-3`, expected u64 (from flag --set cooldown_messages)
              preserve_recent: 1 is too small; expected at least 2 (from flag --set preserve_recent)
              trigger_messages: 4 is not above min_messages and preserve_recent (12) (from environment LONGHAUL_TRIGGER_MESSAGES)"#]].assert_eq(&told("trigger_ratio = 80\ntriger = 1\nreset_ratio = 0.95"));
        // Of what another preset may set nothing is known.
        expect![[r#"
            the configuration has 4 problems:
              preset: unknown variant `best`, expected one of `context-manager`, `rolling`, `session`, `two-tier`, `chain`, or `off` (from file a.toml)
              mode: unknown variant `magic`, expected one of `rules`, `llm`, `hybrid` (from environment LONGHAUL_MODE)
              cooldown_messages: invalid value: integer `-3`, expected u64 (from flag --set cooldown_messages)
              preserve_recent: 1 is too small; expected at least 2 (from flag --set preserve_recent)"#]].assert_eq(&told("preset = \"best\"\nreset_ratio = 0.95"));
    }

    #[test]
    fn a_name_out_of_a_design_document_leads_to_ours() {
        let error = Layered::from_layers(vec![Layer::file("a.toml", "keepRecentMessages = 4")]).unwrap_err();
        assert_eq!(
            error.problems[0].to_string(),
            "keepRecentMessages: names no setting; it is called preserve_recent here (from file a.toml)"
        );
    }

    #[test]
    fn values_that_do_not_fit_each_other_name_their_source() {
        let trigger = Layer::file("a.toml", "trigger_ratio = 0.92");
        let flag = Layer::flag("--set reset_ratio", "reset_ratio", "95%");
        // Alone it would have the trigger follow.
        assert!(Layered::from_layers(vec![flag.clone()]).is_ok());
        let error = Layered::from_layers(vec![flag, trigger]).unwrap_err();
        expect![[r#"
            the configuration has 1 problem:
              reset_ratio: 0.95 is not below trigger_ratio (0.92); expected target < soft < reset < trigger (from flag --set reset_ratio)"#]]
        .assert_eq(&error.to_string());
    }

    #[test]
    fn a_file_that_is_not_toml_is_a_problem() {
        let error =
            Layered::from_layers(vec![Layer::file("a.toml", "preset = \"chain\"\ntrigger_ratio = = 1")]);
        expect![[r#"
            the configuration has 1 problem:
              file: not TOML at line 2, column 17: extra `=`, expected nothing (from file a.toml)"#]]
        .assert_eq(&error.unwrap_err().to_string());
    }

    #[test]
    fn a_variable_that_names_no_setting_is_a_warning() {
        let layered =
            Layered::from_layers(vec![Layer::environment(pairs(&[("LONGHAUL_LOG", "debug")]))]).unwrap();
        let warnings: Vec<_> = layered.warnings.iter().map(ToString::to_string).collect();
        assert_eq!(warnings, ["log: names no setting and was ignored (from environment LONGHAUL_LOG)"]);
    }

    #[test]
    fn texts_are_read_as_the_setting_needs_them() {
        let layered = Layered::from_layers(vec![Layer::environment(pairs(&[
            ("LONGHAUL_TRIGGER_RATIO", "120k tokens"),
            ("LONGHAUL_RESET_RATIO", "100000"),
            ("LONGHAUL_SUMMARY_PROMPT", "12"),
            ("LONGHAUL_TRIGGER_MESSAGES", "off"),
            ("LONGHAUL_SUMMARIZER_MODEL_PREFERENCE", "[\"a\", \"b\"]"),
            ("LONGHAUL_ENABLED", "false"),
        ]))])
        .unwrap();
        let config = layered.config;
        assert_eq!(config.trigger_ratio, Threshold::Tokens(longhaul_transcript::Tokens(120_000)));
        assert_eq!(config.summary_prompt, "12");
        assert_eq!(config.summarizer_model_preference, ["a", "b"]);
        assert!(!config.enabled);
    }

    #[test]
    fn tables_of_two_files_are_merged() {
        let layered = Layered::from_layers(vec![
            Layer::file("a", "[models.x]\ntrigger_ratio = 0.9\n[models.y]\nenabled = false"),
            Layer::file("b", "[models.x]\nreset_ratio = 0.75"),
        ])
        .unwrap();
        let x = &layered.config.models["x"];
        assert_eq!(
            (x.trigger_ratio, x.reset_ratio),
            (Some(Threshold::Ratio(0.9)), Some(Threshold::Ratio(0.75)))
        );
        assert_eq!(layered.sources["models.x"], Source::File("b".into()));
        let of = |name: &str| layered.rows().into_iter().find(|row| row.0 == name).unwrap().2;
        assert_eq!((of("models"), of("providers")), (Source::File("b".into()), Source::Default));
        assert_eq!(layered.config.models.len(), 2);
    }
}
