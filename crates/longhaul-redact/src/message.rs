//! Whole messages: which of their fields are text, and which must never change.

use std::{borrow::Cow, collections::BTreeMap, sync::Arc};

use longhaul_transcript::{
    CallId, CallKind, Media, Message, Opaque, Part, Raw, RawJson, Redacted, RedactionCount, Summary,
    SummaryRecord, ToolCall,
};

use crate::{
    Answers, Asked, Finding, Redactor, Vault,
    asked::Ask,
    bare::bare_secrets,
    json::looks_like_json,
    names::{id_in_place_of, name_in_place_of},
    redactor::replace,
};

impl Redactor {
    /// Returns `message` without its secrets, and how often each rule struck.
    ///
    /// Texts, names, readable reasoning, the arguments of tool calls (which stay valid JSON), tool results, references to
    /// media, files in base64 that are text, and the strings of blocks that longhaul does not read are searched. Hashes,
    /// signatures and encrypted content are left as they are; a block that is sealed and says a secret is left out whole. A
    /// name or an id that is a secret becomes another name: the same in a call and in its result. Numbering starts anew with
    /// each message, so that the same message always gives the same bytes.
    ///
    /// What a message tells only as an answer to another one stays, such as the bare word that a command printed: for the messages
    /// of a conversation there is [`redact_next`](Self::redact_next).
    pub fn redact_message(&self, message: &Message) -> (Redacted<Message>, Vec<RedactionCount>) {
        self.redact_message_into(message, &mut Vault::new())
    }

    /// Returns the next message of a conversation without its secrets, and how often each rule struck: what
    /// [`redact_message`](Self::redact_message) finds, and what the message tells as an answer to those that `asked` followed.
    pub fn redact_next(
        &self,
        message: &Message,
        asked: &mut Asked,
    ) -> (Redacted<Message>, Vec<RedactionCount>) {
        self.redact_answer(message, &asked.follow(message))
    }

    /// Returns the messages of a conversation, from its first one on, without their secrets.
    pub fn redact_conversation<'m>(
        &self,
        messages: impl IntoIterator<Item = &'m Message>,
    ) -> Vec<Redacted<Message>> {
        let mut asked = Asked::default();
        messages.into_iter().map(|message| self.redact_next(message, &mut asked).0).collect()
    }

    /// Does what [`redact_next`](Self::redact_next) does, for a message of which it is known what it answers.
    pub fn redact_answer(
        &self,
        message: &Message,
        answers: &Answers,
    ) -> (Redacted<Message>, Vec<RedactionCount>) {
        self.redact_with(message, answers, &mut Vault::new())
    }

    /// Does what [`redact_message`](Self::redact_message) does, with the numbers and the way back in `vault`.
    pub fn redact_message_into(
        &self,
        message: &Message,
        vault: &mut Vault,
    ) -> (Redacted<Message>, Vec<RedactionCount>) {
        self.redact_with(message, &Answers::default(), vault)
    }

    fn redact_with(
        &self,
        message: &Message,
        answers: &Answers,
        vault: &mut Vault,
    ) -> (Redacted<Message>, Vec<RedactionCount>) {
        let mut run = Run::new(self, vault);
        let mut message = message.clone();
        run.bare_words(&mut message.parts, answers);
        if let Some(name) = &mut message.name
            && let Some(other) = run.other_name(name)
        {
            *name = other.into();
        }
        run.parts(&mut message.parts);
        if let Some(raw) = message.raw.take() {
            message.raw = run.raw(&raw);
        }
        let counts = run.into_counts();
        (Redacted::assume(message), counts)
    }

    /// Returns `record` without secrets in what it says, and how often each rule struck; the counts are added to those
    /// the record carries.
    ///
    /// The id of a record is a hash of its text. Redact the messages before they are summarized, and this finds
    /// nothing; where it finds something, the id no longer follows from the text.
    pub fn redact_record(&self, record: &SummaryRecord) -> (Redacted<SummaryRecord>, Vec<RedactionCount>) {
        let mut vault = Vault::new();
        let mut run = Run::new(self, &mut vault);
        let mut record = record.clone();
        for text in [&mut record.text, &mut record.header, &mut record.model, &mut record.made_with] {
            run.text(text);
        }
        run.summary(&mut record.summary);
        let counts = run.into_counts();
        for RedactionCount { rule, count } in &counts {
            match record.redactions.iter_mut().find(|known| known.rule == *rule) {
                Some(known) => known.count += count,
                None => record.redactions.push(RedactionCount { rule: rule.clone(), count: *count }),
            }
        }
        (Redacted::assume(record), counts)
    }
}

impl Redactor {
    /// Takes the secrets out of a summary, `text` being how it is told. Whoever summarizes clean messages calls this before
    /// anything is made of the summary: what is told of two messages stands together there, such as the beginning of a private
    /// key that one spoke of and the end of another's.
    pub fn redact_summary(&self, text: &mut String, summary: &mut Summary) {
        let mut vault = Vault::new();
        let mut run = Run::new(self, &mut vault);
        run.text(text);
        run.summary(summary);
    }
}

struct Run<'a> {
    redactor: &'a Redactor,
    vault: &'a mut Vault,
    counts: BTreeMap<String, u64>,
    /// The bare words that are secrets, and what they are called.
    bare: BTreeMap<String, Arc<str>>,
}

impl<'a> Run<'a> {
    fn new(redactor: &'a Redactor, vault: &'a mut Vault) -> Run<'a> {
        Run { redactor, vault, counts: BTreeMap::new(), bare: BTreeMap::new() }
    }

    /// Takes out the bare words that are secrets for what they answer, before the rules look at what is left.
    fn bare_words(&mut self, parts: &mut [Part], answers: &Answers) {
        if answers.is_empty() {
            return;
        }
        for part in parts {
            match part {
                Part::Text(text) => self.bare_in(text, answers.of_words()),
                Part::ToolResult(result) => {
                    let ask = answers.of_result(&result.call_id);
                    for part in &mut result.content {
                        if let Part::Text(text) = part {
                            self.bare_in(text, ask);
                        }
                    }
                }
                _ => {}
            }
        }
    }

    fn bare_in(&mut self, text: &mut String, ask: Option<Ask>) {
        let Some(ask) = ask else { return };
        let rule: Arc<str> = if ask == Ask::Question { "asked-secret" } else { "printed-secret" }.into();
        let findings = bare_secrets(text, ask).into_iter().map(|span| Finding { rule: rule.clone(), span });
        let findings: Vec<Finding> = findings.collect();
        let secrets = findings.iter().map(|found| (text[found.span.clone()].to_owned(), rule.clone()));
        self.bare.extend(secrets);
        self.count(findings.iter().map(|found| &*found.rule));
        if let Cow::Owned(redacted) = replace(text, &findings, self.vault) {
            *text = redacted;
        }
    }

    fn parts(&mut self, parts: &mut [Part]) {
        for part in parts {
            match part {
                Part::Text(text) => self.text(text),
                Part::Media(media) => self.media(media),
                Part::ToolCall(call) => self.call(call),
                // One level only: a result that holds a result is no dialect's shape, and its text is text.
                Part::ToolResult(result) => {
                    self.id(&mut result.call_id);
                    self.leaves(&mut result.content);
                }
                Part::Reasoning(reasoning) => self.text(&mut reasoning.text),
                Part::Opaque(opaque) => self.block(opaque),
                _ => {}
            }
        }
    }

    fn summary(&mut self, summary: &mut Summary) {
        for text in texts_of(summary) {
            self.text(text);
        }
    }

    /// What is found in both is counted once.
    fn raw(&mut self, raw: &Raw) -> Option<Arc<Raw>> {
        let (raw, counts) = self.redactor.redact_raw_with(raw, &self.bare, self.vault);
        for (rule, count) in counts {
            let told = self.counts.entry(rule).or_default();
            *told = count.max(*told);
        }
        raw.map(Arc::new)
    }

    fn leaves(&mut self, parts: &mut [Part]) {
        let mut pending: Vec<&mut Part> = parts.iter_mut().collect();
        while let Some(part) = pending.pop() {
            match part {
                Part::ToolResult(result) => {
                    self.id(&mut result.call_id);
                    pending.extend(&mut result.content);
                }
                Part::Text(text) => self.text(text),
                Part::Media(media) => self.media(media),
                Part::ToolCall(call) => self.call(call),
                Part::Reasoning(reasoning) => self.text(&mut reasoning.text),
                Part::Opaque(opaque) => self.block(opaque),
                _ => {}
            }
        }
    }

    fn call(&mut self, call: &mut ToolCall) {
        self.id(&mut call.id);
        if let Some(other) = self.other_name(&call.name) {
            call.name = other;
        }
        match call.kind {
            CallKind::Function => self.json(&mut call.arguments),
            CallKind::Custom => self.text(&mut call.arguments.0),
        }
    }

    /// Formats without ids make one of a tool's name.
    fn id(&mut self, id: &mut CallId) {
        if let Some((other, rule)) = id_in_place_of(self.redactor, id.as_str()) {
            *id = CallId::from(&*other);
            self.count([&*rule]);
        }
    }

    fn other_name(&mut self, name: &str) -> Option<String> {
        let (other, rule) = name_in_place_of(self.redactor, name)?;
        self.count([&*rule]);
        Some(other)
    }

    fn block(&mut self, opaque: &mut Opaque) {
        self.text(&mut opaque.kind);
        if let Some(id) = &mut opaque.pair_id {
            self.id(id);
        }
        let (left, rules) = self.redactor.redact_item(&opaque.raw.0, self.vault);
        self.count(rules.iter().map(|rule| &**rule));
        match left {
            Some(Cow::Owned(redacted)) => opaque.raw.0 = redacted,
            Some(Cow::Borrowed(_)) => {}
            // The kind is the block's own word; what is left must be JSON whatever it is.
            None => opaque.raw.0 = LEFT_OUT.to_owned(),
        }
    }

    fn media(&mut self, media: &mut Media) {
        self.text(&mut media.media_type);
        self.text(&mut media.source);
    }

    fn text(&mut self, text: &mut String) {
        let (redacted, findings) = self.redactor.redact_text_into(text, self.vault);
        self.count(findings.iter().map(|found| &*found.rule));
        if let Cow::Owned(redacted) = redacted {
            *text = redacted;
        }
    }

    fn json(&mut self, arguments: &mut RawJson) {
        if !looks_like_json(&arguments.0) {
            return self.text(&mut arguments.0);
        }
        let (redacted, findings) = self.redactor.redact_json_into(&arguments.0, self.vault);
        self.count(findings.iter().map(|found| &*found.rule));
        if let Cow::Owned(redacted) = redacted {
            arguments.0 = redacted;
        }
    }

    fn count<'r>(&mut self, rules: impl IntoIterator<Item = &'r str>) {
        for rule in rules {
            *self.counts.entry(rule.to_owned()).or_default() += 1;
        }
    }

    fn into_counts(self) -> Vec<RedactionCount> {
        self.counts.into_iter().map(|(rule, count)| RedactionCount { rule, count }).collect()
    }
}

/// What stands in the place of a sealed block that said a secret.
const LEFT_OUT: &str = r#"{"type":"redacted"}"#;

/// Returns every text of a summary.
fn texts_of(summary: &mut Summary) -> Vec<&mut String> {
    let Summary {
        narrative,
        key_points,
        participants,
        decisions,
        action_items,
        unresolved,
        domain_entities,
        files,
        commands,
        errors,
        tools_used,
        constraints,
        goal,
        current_focus,
        unconfirmed,
        checks,
    } = summary;
    let mut texts = vec![narrative, goal, current_focus];
    for list in [key_points, participants, decisions, unresolved, domain_entities, unconfirmed, checks] {
        texts.extend(list);
    }
    for item in action_items {
        texts.extend([&mut item.owner, &mut item.task, &mut item.due]);
    }
    for file in files {
        texts.extend([&mut file.path, &mut file.note]);
    }
    for command in commands {
        texts.extend([&mut command.command, &mut command.note]);
    }
    for error in errors {
        texts.extend([&mut error.error, &mut error.resolution]);
    }
    for tool in tools_used {
        texts.push(&mut tool.tool);
        texts.extend(&mut tool.notable_uses);
    }
    for constraint in constraints {
        texts.push(&mut constraint.text);
        texts.extend(&mut constraint.answers);
    }
    texts
}
