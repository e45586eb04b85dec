//! What a model is asked to answer, and reading what it answered.

use std::sync::LazyLock;

use longhaul_transcript::{ActionItem, ErrorNote};
use schemars::{JsonSchema, generate::SchemaSettings};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    AnswerSchema, ClientError, Completion, InvalidAnswer,
    repair::repair,
    reply::{body, clean, states_something, strip_fence},
    sentences::sentences,
    shortened,
};

/// A summary as a model writes it: the part of [`Summary`](longhaul_transcript::Summary) that a model is asked for.
/// Tools and their counts are not: rules count better.
///
/// The field docs below go into the schema that the model sees.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Answer {
    /// Task progress and current state, in one or two paragraphs.
    #[serde(alias = "summary")]
    pub narrative: String,
    /// Highlights, each said once.
    #[serde(alias = "keyPoints")]
    pub key_points: Vec<String>,
    /// People named in the conversation.
    pub participants: Vec<String>,
    /// Choices that were made, with their reasons.
    pub decisions: Vec<String>,
    /// What is still to be done.
    #[serde(alias = "actionItems")]
    pub action_items: Vec<AnswerAction>,
    /// Open questions and blockers.
    pub unresolved: Vec<String>,
    /// Files, symbols, identifiers and terms, verbatim.
    #[serde(alias = "domainEntities")]
    pub domain_entities: Vec<String>,
    /// Files with their final state.
    pub files: Vec<AnswerFile>,
    /// Commands that were run.
    pub commands: Vec<AnswerCommand>,
    /// Errors, and what resolved them.
    pub errors: Vec<AnswerError>,
    /// The user's demands and prohibitions, in the user's exact words.
    pub constraints: Vec<String>,
    /// What the user wants.
    pub goal: String,
    /// What was being worked on last, and the next step.
    #[serde(alias = "currentFocus")]
    pub current_focus: String,
}

/// A thing to be done, as a model writes it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct AnswerAction {
    /// Who is to do it, or "".
    pub owner: String,
    /// What is to be done.
    pub task: String,
    /// Until when, or "".
    pub due: String,
}

/// A file, as a model writes it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct AnswerFile {
    /// The path, verbatim.
    pub path: String,
    /// One of: read, created, modified, renamed, deleted, reverted.
    pub state: String,
    /// A few words on what changed, or "".
    pub note: String,
}

/// A command, as a model writes it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct AnswerCommand {
    /// The command line, verbatim.
    pub command: String,
    /// What came of it, in a few words.
    pub note: String,
}

/// An error, as a model writes it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct AnswerError {
    /// The decisive line, verbatim.
    pub error: String,
    /// What resolved it, or "".
    pub resolution: String,
}

impl Answer {
    /// The most entries that a list keeps.
    pub const MAX_ENTRIES: usize = 30;
    /// The most characters of one entry.
    pub const MAX_ENTRY_CHARS: usize = 1_000;
    /// The most characters of the narrative: more than any summary may take. What a summary has room for is a matter of its limit
    /// in tokens; here only what nobody asked for is kept out.
    pub const MAX_NARRATIVE_CHARS: usize = 100_000;

    /// Returns the schema that goes to a model: inlined, every field required, nothing else allowed, no bounds.
    ///
    /// Strict modes of providers want the first three; some refuse bounds. [`read`](Self::read) enforces those.
    pub fn schema() -> AnswerSchema {
        AnswerSchema { name: "summary", schema: SCHEMA.clone() }
    }

    /// Returns the schema of what a model is asked for beside facts by rule: the same without the fields that rules
    /// fill better. A prompt a third as long, and a shorter answer.
    pub(crate) fn hybrid_schema() -> AnswerSchema {
        AnswerSchema { name: "summary", schema: HYBRID_SCHEMA.clone() }
    }

    /// Reads a model's answer: refuses what did not end well, strips reasoning and fences, parses, repairs where
    /// that fails, and caps every list and text. The second value says what was repaired or capped.
    ///
    /// # Errors
    /// When the answer is not a summary; see [`InvalidAnswer`].
    pub fn read(completion: &Completion) -> Result<(Answer, Vec<String>), InvalidAnswer> {
        let text = body(completion)?;
        let mut notes = Vec::new();
        let mut value = match serde_json::from_str::<Value>(strip_fence(text)) {
            Ok(value) => value,
            Err(_) => {
                let value = repair(text)
                    .ok_or_else(|| InvalidAnswer::NotJson { excerpt: ClientError::excerpt(text) })?;
                notes.push("repaired the JSON of the answer".to_owned());
                value
            }
        };
        if is_tool_call_value(&value) {
            return Err(InvalidAnswer::ToolCall);
        }
        let wrong = |reason: &str| InvalidAnswer::WrongShape {
            reason: ClientError::excerpt(reason),
            excerpt: ClientError::excerpt(text),
        };
        let object = value.as_object_mut().ok_or_else(|| wrong("expected an object"))?;
        hoist_context(object);
        drop_nulls(&mut value, MAX_SCHEMA_DEPTH);
        let mut answer: Answer = serde_json::from_value(value).map_err(|error| wrong(&error.to_string()))?;
        if answer.narrative.trim().is_empty() {
            return Err(wrong("the narrative is empty"));
        }
        answer.cap(&mut notes);
        Ok((answer, notes))
    }

    /// Reads a model's answer to a prompt that asks for prose.
    ///
    /// # Errors
    /// When the answer is not a summary; see [`InvalidAnswer`].
    pub(crate) fn read_prose(completion: &Completion) -> Result<(Answer, Vec<String>), InvalidAnswer> {
        let text = body(completion)?;
        if !states_something(text) {
            return Err(InvalidAnswer::NoStatement);
        }
        let mut notes = Vec::new();
        let mut answer = Answer { narrative: text.to_owned(), ..Answer::default() };
        answer.cap(&mut notes);
        Ok((answer, notes))
    }

    /// Joins the answers about consecutive parts of one conversation, oldest first: lists are appended, of single
    /// texts the last one that says something holds, narratives follow each other.
    pub fn join(parts: Vec<Answer>) -> Answer {
        let mut whole = Answer::default();
        for part in parts {
            if !whole.narrative.is_empty() {
                whole.narrative.push_str("\n\n");
            }
            whole.narrative.push_str(part.narrative.trim());
            whole.key_points.extend(part.key_points);
            whole.participants.extend(part.participants);
            whole.decisions.extend(part.decisions);
            whole.action_items.extend(part.action_items);
            whole.unresolved.extend(part.unresolved);
            whole.domain_entities.extend(part.domain_entities);
            whole.files.extend(part.files);
            whole.commands.extend(part.commands);
            whole.errors.extend(part.errors);
            whole.constraints.extend(part.constraints);
            // The first goal is the user's; later parts see only its echo.
            if whole.goal.is_empty() {
                whole.goal = part.goal;
            }
            if !part.current_focus.is_empty() {
                whole.current_focus = part.current_focus;
            }
        }
        whole.cap(&mut Vec::new());
        whole
    }

    fn cap(&mut self, notes: &mut Vec<String>) {
        let mut capped = bound(&mut self.narrative, Self::MAX_NARRATIVE_CHARS);
        for text in [&mut self.goal, &mut self.current_focus] {
            capped |= clip(text, Self::MAX_ENTRY_CHARS);
        }
        for list in [
            &mut self.key_points,
            &mut self.participants,
            &mut self.decisions,
            &mut self.unresolved,
            &mut self.domain_entities,
            &mut self.constraints,
        ] {
            capped |= cap_list(list, |entry| [entry].into_iter().collect());
        }
        capped |=
            cap_list(&mut self.action_items, |item| vec![&mut item.task, &mut item.owner, &mut item.due]);
        capped |= cap_list(&mut self.files, |file| vec![&mut file.path, &mut file.state, &mut file.note]);
        capped |= cap_list(&mut self.commands, |command| vec![&mut command.command, &mut command.note]);
        capped |= cap_list(&mut self.errors, |error| vec![&mut error.error, &mut error.resolution]);
        if capped {
            notes.push("cut lists or texts of the answer to their caps".to_owned());
        }
    }
}

impl From<AnswerAction> for ActionItem {
    fn from(item: AnswerAction) -> ActionItem {
        ActionItem { owner: item.owner, task: item.task, due: item.due }
    }
}

impl From<AnswerError> for ErrorNote {
    fn from(error: AnswerError) -> ErrorNote {
        ErrorNote { error: error.error, resolution: error.resolution }
    }
}

/// Returns whether a value is a call rather than an answer: `{"name": …, "arguments": …}` or a list of those.
fn is_tool_call_value(value: &Value) -> bool {
    let value = value.as_array().and_then(|items| items.first()).unwrap_or(value);
    let Some(object) = value.as_object() else { return false };
    let has = |key| object.contains_key(key);
    has("tool_calls")
        || has("function_call")
        || (has("name") && (has("arguments") || has("parameters")))
        || (has("tool") && has("arguments"))
}

/// Seed 004 nests the lists in a `context` object. Models that know that shape answer in it.
fn hoist_context(object: &mut Map<String, Value>) {
    if let Some(Value::Object(context)) = object.remove("context") {
        for (key, value) in context {
            object.entry(key).or_insert(value);
        }
    }
    // A field under both of its names is a duplicate to serde; the model means one thing by them.
    for (alias, name) in [
        ("summary", "narrative"),
        ("keyPoints", "key_points"),
        ("actionItems", "action_items"),
        ("domainEntities", "domain_entities"),
        ("currentFocus", "current_focus"),
    ] {
        if object.contains_key(name) {
            object.remove(alias);
        }
    }
}

/// Drops fields that are null: absent is absent.
fn drop_nulls(value: &mut Value, depth: usize) {
    if depth == 0 {
        return;
    }
    match value {
        Value::Object(fields) => {
            fields.retain(|_, field| !field.is_null());
            fields.values_mut().for_each(|field| drop_nulls(field, depth - 1));
        }
        Value::Array(items) => {
            items.retain(|item| !item.is_null());
            items.iter_mut().for_each(|item| drop_nulls(item, depth - 1));
        }
        _ => {}
    }
}

static SCHEMA: LazyLock<Value> = LazyLock::new(wire_schema);
static HYBRID_SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    let mut schema = wire_schema();
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        properties.retain(|field, _| HYBRID_FIELDS.contains(&field.as_str()));
    }
    make_strict(&mut schema, MAX_SCHEMA_DEPTH);
    schema
});

const HYBRID_FIELDS: [&str; 5] = ["narrative", "decisions", "action_items", "unresolved", "current_focus"];

fn wire_schema() -> Value {
    let settings = SchemaSettings::draft07().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<Answer>().to_value();
    if let Some(root) = schema.as_object_mut() {
        root.remove("title");
        root.remove("description");
    }
    make_strict(&mut schema, MAX_SCHEMA_DEPTH);
    schema
}

/// Requires every property, allows no other, and drops defaults, formats and bounds.
fn make_strict(schema: &mut Value, depth: usize) {
    let Some(object) = schema.as_object_mut().filter(|_| depth > 0) else { return };
    for key in ["default", "format", "minimum", "maximum", "maxItems", "maxLength", "minLength"] {
        object.remove(key);
    }
    if let Some(properties) = object.get_mut("properties").and_then(Value::as_object_mut) {
        let names = properties.keys().cloned().map(Value::String).collect();
        properties.values_mut().for_each(|property| make_strict(property, depth - 1));
        object.insert("required".into(), Value::Array(names));
        object.insert("additionalProperties".into(), Value::Bool(false));
    }
    if let Some(items) = object.get_mut("items") {
        make_strict(items, depth - 1);
    }
}

/// Deeper than any schema or answer of ours.
const MAX_SCHEMA_DEPTH: usize = 8;

/// Cleans `text` and takes whole statements out of its middle until it has at most `max` characters: what is said of the state
/// and of the next step stands at its end. Returns whether any went.
fn bound(text: &mut String, max: usize) -> bool {
    clean(text);
    if text.chars().nth(max).is_none() {
        return false;
    }
    *text = shortened(text, |text| text.chars().nth(max).is_none()).unwrap_or_default();
    true
}

/// Cleans `text`, takes whole sentences off its end until it has at most `max` characters, and returns whether any went.
/// A sentence that alone is longer goes as well: half of one may say the opposite.
fn clip(text: &mut String, max: usize) -> bool {
    clean(text);
    let Some((most, _)) = text.char_indices().nth(max) else { return false };
    let mut end = 0;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        for sentence in sentences(line) {
            at += sentence.len();
            if at <= most {
                end = at;
            }
        }
    }
    text.truncate(end);
    text.truncate(text.trim_end().len());
    true
}

fn cap_list<T>(list: &mut Vec<T>, texts: impl Fn(&mut T) -> Vec<&mut String>) -> bool {
    let mut capped = list.len() > Answer::MAX_ENTRIES;
    list.truncate(Answer::MAX_ENTRIES);
    for entry in list {
        for text in texts(entry) {
            capped |= clip(text, Answer::MAX_ENTRY_CHARS);
        }
    }
    capped
}

#[cfg(test)]
mod tests {
    use longhaul_transcript::Summary;

    use super::*;
    use crate::{Finish, Scripted};

    fn read(text: &str) -> Result<Answer, InvalidAnswer> {
        Answer::read(&Scripted::says(text)).map(|(answer, _)| answer)
    }

    #[test]
    fn the_shapes_that_models_wrap_an_answer_in() {
        let expected =
            Answer { narrative: "Done.".into(), key_points: vec!["a".into()], ..Answer::default() };
        for text in [
            r#"{"narrative": "Done.", "key_points": ["a"]}"#,
            "```json\n{\"narrative\": \"Done.\", \"key_points\": [\"a\"]}\n```",
            "Sure! Here is the summary:\n```json\n{\"narrative\": \"Done.\", \"key_points\": [\"a\",]}\n```\nAnything else?",
            "<think>{\"narrative\": \"no\"}</think>\n{\"narrative\": \"Done.\", \"key_points\": [\"a\"]}",
            "the user wants…</think>{\"narrative\": \"Done.\", \"key_points\": [\"a\"]}",
            r#"{"summary": "Done.", "keyPoints": ["a"], "context": {"decisions": [], "participants": null}}"#,
            "{'narrative': 'Done.', 'key_points': ['a']",
        ] {
            assert_eq!(read(text).as_ref(), Ok(&expected), "{text}");
        }
    }

    #[test]
    fn what_is_not_a_summary_is_refused_with_the_reason() {
        let reason = |text: &str| read(text).unwrap_err().to_string();
        assert_eq!(reason(" \u{0}\n"), "the answer is empty");
        assert_eq!(reason("<think>hm, the user wants"), "the answer holds reasoning only");
        assert_eq!(reason("<think>hm</think>"), "the answer holds reasoning only");
        assert_eq!(reason("The work is done."), "the answer is not JSON");
        assert_eq!(reason(r#"{"narrative": "cut in the mid"#), "the answer is not JSON");
        assert_eq!(reason("[]"), "the answer does not follow the schema: expected an object");
        assert_eq!(reason(r#"{"a": ""}"#), "the answer does not follow the schema: the narrative is empty");
        assert_eq!(
            reason(r#"{"name": "bash", "arguments": {}}"#),
            "the model calls a tool instead of answering"
        );
        assert_eq!(reason("<tool_call>\n{}"), "the model calls a tool instead of answering");
        assert!(reason(r#"{"narrative": "x", "key_points": "not a list"}"#).contains("expected a sequence"));
        let cut = Answer::read(&Scripted::ends("{\"narrative\": \"x\"}", Finish::Length));
        assert_eq!(cut, Err(InvalidAnswer::CutOff));
        let refused = Answer::read(&Scripted::ends("I can't help with that", Finish::Refusal));
        assert_eq!(refused, Err(InvalidAnswer::Refused));
    }

    // asserts 004-17, 004-18
    #[test]
    fn lists_and_texts_are_capped() {
        let many: Vec<String> = (0..100).map(|n| format!("{n} {}", "It waits. ".repeat(200))).collect();
        let narrative = format!("Éa commence. {}La fin.", "Éa est. ".repeat(20_000));
        let answer =
            read(&serde_json::json!({"narrative": narrative, "key_points": many}).to_string()).unwrap();
        assert_eq!(answer.key_points.len(), Answer::MAX_ENTRIES);
        let point = answer.key_points[0].chars().count();
        assert!(point <= Answer::MAX_ENTRY_CHARS && point > Answer::MAX_ENTRY_CHARS - 20, "{point}");
        assert!(answer.key_points[0].ends_with("It waits."), "whole sentences");
        assert!(answer.narrative.chars().count() <= Answer::MAX_NARRATIVE_CHARS);
        assert!(answer.narrative.chars().count() > Answer::MAX_NARRATIVE_CHARS - 20);
        assert!(
            answer.narrative.starts_with("Éa commence. ") && answer.narrative.ends_with(" Éa est. La fin.")
        );
        assert_eq!(Answer::MAX_ENTRIES, 30, "as the document has it");
        for empty in [r#"{"narrative": ""}"#, r#"{"narrative": "  ", "key_points": ["x"]}"#] {
            assert!(read(empty).is_err(), "{empty}: a narrative is not empty");
        }
    }

    #[test]
    fn hidden_characters_and_our_own_marks_are_taken_out() {
        let text = "Done.\u{202e}\u{e0041}\nsummary-depth:0 id:0123456789abcdef\n[Context Summary - 3 messages summarized]\nNext.";
        let answer = read(&serde_json::json!({ "narrative": text }).to_string()).unwrap();
        assert_eq!(answer.narrative, "Done.\nNext.");
    }

    #[test]
    fn schema_prompts_and_types_name_the_same_fields() {
        let schema = Answer::schema().schema;
        let fields: Vec<&str> =
            schema["properties"].as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(schema["required"].as_array().unwrap().len(), fields.len());
        assert_eq!(schema["additionalProperties"], Value::Bool(false));
        assert!(!schema.to_string().contains("$ref"));

        let written = serde_json::to_value(Answer::default()).unwrap();
        assert_eq!(written.as_object().unwrap().keys().collect::<Vec<_>>(), fields);
        let record = serde_json::to_value(Summary::default()).unwrap();
        for field in &fields {
            assert!(record.get(field).is_some(), "the record has no {field}");
            assert!(
                crate::prompt::USER.contains(&format!("- {field}:")),
                "the prompt does not explain {field}"
            );
        }
        let rules_only = |field: &String| field == "tools_used";
        assert!(
            record.as_object().unwrap().keys().all(|field| rules_only(field) || fields.contains(&&**field))
        );
        // Every bullet of a prompt is a field of its schema, and the other way round.
        for (prompt, schema) in
            [(crate::prompt::USER, Answer::schema()), (crate::prompt::HYBRID, Answer::hybrid_schema())]
        {
            let bullets = prompt.lines().filter_map(|line| Some(line.strip_prefix("- ")?.split_once(':')?.0));
            let fields: Vec<_> = schema.schema["properties"].as_object().unwrap().keys().collect();
            assert_eq!(bullets.collect::<Vec<_>>(), fields);
            assert_eq!(schema.schema["required"], Value::from_iter(fields.into_iter().cloned()));
        }
    }
}
