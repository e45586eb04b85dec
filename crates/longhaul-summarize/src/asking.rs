//! What one model is asked about one request: the prompt, all but the conversation, and how its answer is read.

use std::{borrow::Cow, collections::HashMap};

use longhaul_transcript::{Constraint, Entry, Message, MessageId, Role, SummaryMode, SummaryRecord, Tokens};

use crate::{
    Answer, AnswerSchema, Completion, CompletionRequest, InvalidAnswer, LlmOptions, SummarizerModel,
    SummaryRequest,
    compose::{self, LEAST_TOLD, prose_told},
    fence::Fence,
    form::Form,
    joined::render,
    language::language,
    notes::Notes,
    prompt::{self, Fields},
    rules::{self, OMITTED},
    update::Earlier,
    written,
};

/// What a summary is asked to take of its source's size at most.
const SHORTER: f64 = 0.8;

/// How far an answer may go beyond what the model is told before its provider breaks it off. JSON spends about as much again
/// on keys, quotes and brackets as on words in short entries; prose is counted by another tokenizer.
const ANSWER_OVERHEAD: f64 = 2.0;

/// The keys of the schema themselves.
const ANSWER_FRAME: Tokens = Tokens(200);

/// Where only the newest of a conversation is shown, the words of the summary before take this share of its cap at most.
const BEFORE_SHARE: f64 = 0.25;

/// What a model said.
#[derive(Clone, Debug)]
pub(crate) enum Said {
    Record(Box<Answer>),
    Notes(Notes),
}

impl Said {
    /// Returns the words of an answer in prose.
    pub(crate) fn prose(&self) -> Option<&str> {
        match self {
            Said::Record(answer) => Some(&answer.narrative),
            Said::Notes(_) => None,
        }
    }
}

/// One request's prompt to one model.
pub(crate) struct Asking<'a> {
    pub(crate) request: &'a SummaryRequest<'a>,
    pub(crate) form: Form,
    pub(crate) fence: Fence,
    pub(crate) source_tokens: Tokens,
    /// How long the model is told that its answer may be.
    pub(crate) answer_tokens: Tokens,
    /// Where the provider is to break its answer off.
    pub(crate) max_tokens: Tokens,
    /// The messages that the model is to read: those that the previous summary does not tell of, where it is updated, and
    /// those that stay.
    pub(crate) entries: Cow<'a, [Entry]>,
    /// The messages that stay in part.
    clipped: Vec<u64>,
    /// The statements of the previous summary, where it is updated.
    pub(crate) earlier: Option<Earlier>,
    template: &'a str,
    schema: AnswerSchema,
    previous: Option<Cow<'a, str>>,
    /// The previous summary, where all that it tells of is read again: it is shown where the model is not shown all after all.
    withheld: Option<Cow<'a, str>>,
    language: Option<&'static str>,
}

/// Returns what a model is shown of the previous summary. What rules add to a model's words they know for themselves: whoever
/// is only asked for the words need not read it.
fn told_before<'a>(
    options: &LlmOptions,
    form: Form,
    previous: &'a SummaryRecord,
    request: &SummaryRequest<'_>,
) -> Cow<'a, str> {
    let words = |limit| render(options.mode, &written::own_data(previous), request.counter, limit);
    // Whoever bounds what a call shows of the conversation does not want more than that of a summary of it.
    let cap = options.transcript_cap.filter(|_| options.newest_only).map(|cap| cap.scaled(BEFORE_SHARE));
    match (form, options.mode, cap) {
        (Form::Record, _, Some(cap)) if !written::is_data(previous) => {
            Cow::Owned(rules::cut(&previous.text, request.counter, cap))
        }
        (Form::Record, ..) if !written::is_data(previous) => Cow::Borrowed(&previous.text),
        (Form::Record, SummaryMode::Hybrid, _) => Cow::Owned(words(request.limit)),
        (Form::Record, _, Some(cap)) => Cow::Owned(words(cap)),
        _ => Cow::Borrowed(&previous.text),
    }
}

/// Returns the text of a summary that says something: where there was no room for any, one says so or is empty.
fn says(text: &str) -> Option<&str> {
    Some(text).filter(|text| !matches!(text.trim(), "" | OMITTED))
}

/// Returns the messages that no model has read for the previous summary, where they directly follow those that one has and
/// that are to be read again; `None` where all are to be read. What a model wrote stands for the rest: a conversation that
/// grows is paid for once, and what a model wrote is not lost when it falls out of its window.
fn untold(options: &LlmOptions, request: &SummaryRequest<'_>) -> Option<Vec<Entry>> {
    let is_update = options.updates && !options.newest_only && !request.is_rebuilt;
    let previous = request.previous.filter(|_| is_update)?;
    // One that left everything out stands for nothing.
    says(&previous.text)?;
    let at = request.entries.partition_point(|entry| entry.id.ordinal < written::read_until(previous));
    // Where a model has read all of it, the last is what is told of again.
    let (told, new) = request.entries.split_at_checked(at.min(request.entries.len().saturating_sub(1)))?;
    let is_read_again = told.last()?.id.ordinal + 1 == new.first()?.id.ordinal;
    let new = written::new_to(previous, request.entries, written::read_until(previous));
    is_read_again
        .then(|| if new.is_empty() { request.entries.last().cloned().into_iter().collect() } else { new })
}

/// Returns those of the messages that the reader of the summary will not have as they were said. The others are read, and paid for, once
/// they leave as well.
fn that_leave<'a>(request: &SummaryRequest<'_>, entries: Cow<'a, [Entry]>) -> Cow<'a, [Entry]> {
    let kept: HashMap<MessageId, &Message> =
        request.kept.iter().map(|entry| (entry.id, &*entry.message)).collect();
    let leaves = |entry: &&Entry| kept.get(&entry.id).is_none_or(|stays| **stays != *entry.message);
    match entries.iter().filter(leaves).count() {
        0 => entries,
        n if n == entries.len() => entries,
        _ => entries.iter().filter(leaves).cloned().collect(),
    }
}

/// Returns the longest answer that `model` may be told to write: one that is not broken off where it comes out longer.
fn most_told(model: &SummarizerModel) -> Tokens {
    (longest(model) - model.reasoning - ANSWER_FRAME).scaled(1.0 / ANSWER_OVERHEAD).max(LEAST_TOLD)
}

/// Returns the longest answer that `model` may be asked for: it has to read something, too.
fn longest(model: &SummarizerModel) -> Tokens {
    model.max_output.min(model.window.scaled(0.5)).max(Tokens(1))
}

/// Returns whether every message that the previous summary stands for is among `entries`.
fn reads_all_again(request: &SummaryRequest<'_>, entries: &[Entry]) -> bool {
    let Some(previous) = request.previous else { return true };
    let covered = entries.iter().filter(|entry| previous.covers.contains(entry.id.ordinal));
    covered.count() as u64 >= previous.covers.len()
}

impl<'a> Asking<'a> {
    pub(crate) fn new(
        options: &'a LlmOptions,
        model: &SummarizerModel,
        request: &'a SummaryRequest<'a>,
    ) -> Asking<'a> {
        Asking::in_form(options, Form::of(options, model), model, request)
    }

    /// Returns the prompt that asks `model` for an answer in `form`.
    pub(crate) fn in_form(
        options: &'a LlmOptions,
        form: Form,
        model: &SummarizerModel,
        request: &'a SummaryRequest<'a>,
    ) -> Asking<'a> {
        let template = match (&options.custom_prompt, form, options.mode) {
            (Some(custom), _, _) => custom.as_str(),
            (None, Form::Notes, _) => prompt::NOTES,
            (None, _, SummaryMode::Hybrid) => prompt::HYBRID,
            (None, _, _) => prompt::USER,
        };
        let (earlier, entries) = match form {
            Form::Notes => match Earlier::of(request).filter(|_| options.updates && !request.is_rebuilt) {
                Some((earlier, new)) => (Some(earlier), Cow::Owned(new)),
                None => (None, Cow::Borrowed(request.entries)),
            },
            _ => {
                let entries = untold(options, request).map_or(Cow::Borrowed(request.entries), Cow::Owned);
                (None, that_leave(request, entries))
            }
        };
        let needs_previous = !reads_all_again(request, &entries);
        // A small model has no room for what stays anyway.
        let tail = if form == Form::Notes { request.tail_beside_entries() } else { &[] };
        let entries = match tail.is_empty() {
            true => entries,
            false => Cow::Owned([&*entries, tail].concat()),
        };
        let clipped = match form {
            Form::Notes => request.clipped().map(|(was, _)| was.id.ordinal).collect(),
            _ => Vec::new(),
        };
        let previous = request.previous.filter(|record| says(&record.text).is_some());
        let previous = previous.map(|record| told_before(options, form, record, request));
        let previous = previous.filter(|_| match form {
            Form::Notes => earlier.is_none(),
            Form::Record => true,
            // A caller that joins the two wants to hear of the new alone.
            Form::Prose => options.updates,
        });
        let fence = Fence::around(
            request.entries.iter().chain(request.kept).chain(tail),
            &[previous.as_deref().unwrap_or(""), request.goal.unwrap_or("")],
        );
        let said = |message: &Message| message.role == Role::User && message.is_user_text();
        let by_user = request.entries.iter().filter(|entry| said(&entry.message));
        let language = language(by_user.flat_map(|entry| entry.message.texts()));
        let source_tokens = request.replaced();
        let answer_tokens = match form {
            // A summary of little is smaller still.
            Form::Notes => {
                compose::share(options.mode, form, request.limit).min(source_tokens.scaled(SHORTER))
            }
            _ => compose::share(options.mode, form, request.limit),
        };
        // An update writes what changes; what stands already is not written again.
        let standing = earlier.as_ref().map(|earlier| request.counter.count_text(&earlier.numbered()));
        let answer_tokens = answer_tokens.min(most_told(model) + standing.unwrap_or_default());
        let max_tokens =
            (answer_tokens.scaled(ANSWER_OVERHEAD) + ANSWER_FRAME + model.reasoning).min(longest(model));
        let schema = match options.mode {
            SummaryMode::Hybrid => Answer::hybrid_schema(),
            _ => Answer::schema(),
        };
        let is_withheld = !needs_previous && (request.is_rebuilt || form == Form::Prose);
        let (previous, withheld) = if is_withheld { (None, previous) } else { (previous, None) };
        Asking {
            request,
            form,
            fence,
            source_tokens,
            answer_tokens,
            max_tokens,
            entries,
            clipped,
            previous,
            withheld,
            earlier,
            template,
            schema,
            language,
        }
    }

    /// Tells a model that writes prose to leave the user's rules room behind its words, where they need more than is left anyway.
    pub(crate) fn leave_room_for(&mut self, rules: &[Constraint]) {
        if self.form != Form::Prose {
            return;
        }
        self.answer_tokens = self.answer_tokens.min(prose_told(self.request, rules));
    }

    /// Whether a part of a long conversation is asked about with the answer to the part before it.
    pub(crate) fn goes_on(&self) -> bool {
        self.form == Form::Prose || self.earlier.is_some()
    }

    /// Shows the previous summary where it was withheld, since not all that it stands for is shown. Returns whether it was.
    pub(crate) fn tell_before(&mut self) -> bool {
        let withheld = self.withheld.take();
        let is_told = withheld.is_some();
        self.previous = withheld.or(self.previous.take());
        is_told
    }

    /// Returns the previous summary and behind it `answer`, which was asked for without it.
    pub(crate) fn with_previous<'b>(&'b self, answer: Option<&'b str>) -> Option<Cow<'b, str>> {
        match (self.previous.as_deref(), answer) {
            (Some(previous), Some(answer)) => Some(Cow::Owned(format!("{previous}\n\n{answer}"))),
            (previous, answer) => previous.or(answer).map(Cow::Borrowed),
        }
    }

    /// Returns the prompt with `context` as the conversation.
    pub(crate) fn fill(&self, context: &str) -> String {
        self.fill_with(self.template, context, self.previous.as_deref())
    }

    /// Returns the prompt with `context` as what was said since `answer`, the summary of the parts before.
    pub(crate) fn fill_behind(&self, answer: Option<&str>, context: &str) -> String {
        self.fill_with(self.template, context, answer.or(self.previous.as_deref()))
    }

    /// Returns the prompt that merges `parts`.
    pub(crate) fn fill_merge(&self, parts: &str) -> String {
        match self.form {
            Form::Notes => self.fill_with(prompt::NOTES_REDUCE, parts, self.previous.as_deref()),
            _ => self.fill_with(prompt::REDUCE, parts, self.previous.as_deref()),
        }
    }

    /// Returns the instruction that stands behind the conversation itself.
    pub(crate) fn instruction(&self) -> String {
        self.fill_with(prompt::NOTES_INSTRUCTION, "", self.previous.as_deref())
    }

    fn fill_with(&self, template: &str, context: &str, previous: Option<&str>) -> String {
        let statements = self.earlier.as_ref().map(Earlier::numbered);
        let counter = self.request.counter;
        let kept: Vec<u64> = self.request.kept.iter().map(|entry| entry.id.ordinal).collect();
        prompt::fill(
            template,
            &Fields {
                messages: self.entries.len() as u64,
                tokens: match self.form {
                    Form::Notes => self.source_tokens,
                    _ => self.entries.iter().map(|entry| counter.count_message(&entry.message)).sum(),
                },
                depth: self.request.depth,
                previous,
                statements: statements.as_deref(),
                standing: statements.as_ref().map_or(Tokens::ZERO, |text| counter.count_text(text)),
                kept: &kept,
                clipped: &self.clipped,
                goal: self.request.goal,
                language: self.language.unwrap_or("the language of the conversation"),
                max_tokens: self.answer_tokens,
                schema: &self.schema.schema,
                fence: &self.fence,
                context: context.trim_end(),
            },
        )
    }

    pub(crate) fn ask(&self, model: &SummarizerModel, user: &str) -> CompletionRequest {
        let schema = (self.form == Form::Record).then(|| self.schema.clone());
        let mut system = if schema.is_some() { prompt::SYSTEM } else { prompt::SYSTEM_PROSE }.to_owned();
        // A prompt may leave open how long the answer is to be; what is too long is cut.
        if self.form == Form::Prose && !self.template.contains("{maxTokens}") {
            system.push_str(&format!("Keep the summary under {} tokens.\n", self.answer_tokens));
        }
        CompletionRequest {
            schema,
            temperature: model.temperature,
            ..CompletionRequest::new(&model.name, system, user.to_owned(), self.max_tokens)
        }
    }

    /// Reads an answer, and refuses what is no summary of this conversation, however well formed. The second value says
    /// what was done to it.
    pub(crate) fn read(&self, completion: &Completion) -> Result<(Said, Vec<String>), InvalidAnswer> {
        let (said, notes) = match self.form {
            Form::Record => {
                let (answer, notes) = Answer::read(completion)?;
                (Said::Record(Box::new(answer)), notes)
            }
            Form::Prose => {
                let (answer, notes) = Answer::read_prose(completion)?;
                (Said::Record(Box::new(answer)), notes)
            }
            Form::Notes => self.read_notes(completion)?,
        };
        let size = self.request.counter.count_text(&completion.text);
        // Statements leave until the rest is smaller than the source.
        let most = if self.form == Form::Notes { self.source_tokens.scaled(2.0) } else { self.source_tokens };
        if size >= most {
            return Err(InvalidAnswer::TooLarge { answer: size, source_tokens: self.source_tokens });
        }
        let got = match &said {
            Said::Record(answer) => {
                let points = answer.key_points.iter().map(String::as_str);
                language([answer.narrative.as_str()].into_iter().chain(points))
            }
            Said::Notes(notes) => language(notes.statements.iter().map(|statement| &*statement.text)),
        };
        match (self.language, got) {
            (Some(expected), Some(got)) if expected != got => {
                Err(InvalidAnswer::WrongLanguage { expected, got })
            }
            _ => Ok((said, notes)),
        }
    }

    fn read_notes(&self, completion: &Completion) -> Result<(Said, Vec<String>), InvalidAnswer> {
        let Some(earlier) = &self.earlier else {
            return Notes::read(completion).map(|notes| (Said::Notes(notes), Vec::new()));
        };
        let (notes, done) = earlier.updated(completion)?;
        Ok((Said::Notes(notes), vec![done]))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use longhaul_extract::FactIndex;
    use longhaul_tokens::{BytesPer4, TokenCounter};
    use longhaul_transcript::{SessionId, Tokens};

    use super::*;
    use crate::Scripted;

    // asserts 004-37
    #[test]
    fn of_a_summary_by_rule_a_model_is_shown_as_much_as_of_its_own() {
        let found: String =
            (0..900).map(|nth| format!("m{nth} Lane {nth} waits for lock_{nth}.\n")).collect();
        let mut previous =
            longhaul_testkit::record(&format!("## Request (m9)\nMend the lanes.\n## Findings\n{found}"));
        previous.mode = SummaryMode::Rules;
        let (session, index) = (SessionId::new("s").unwrap(), FactIndex::default());
        let request = SummaryRequest::new(&session, &[], &index, &BytesPer4, Tokens(20_000));
        let shown =
            |options: &LlmOptions| told_before(options, Form::Record, &previous, &request).into_owned();
        let options =
            LlmOptions { transcript_cap: Some(Tokens(8_000)), newest_only: true, ..LlmOptions::default() };
        let told = shown(&options);
        assert!(BytesPer4.count_up_to(&told, Tokens(2_000)).is_some(), "{told}");
        assert!(BytesPer4.count_text(&told) > Tokens(1_800) && told.contains("Mend the lanes."), "{told}");
        assert_eq!(shown(&LlmOptions { newest_only: false, ..options }), previous.text);
    }

    #[test]
    fn what_stays_in_part_is_shown_whole() {
        let said = longhaul_testkit::transcript(
            "user: Add a test\nassistant: I look first. !read#c1 {\"path\":\"a.rs\"}\ntool#c1: fn helper() {} fn other() {}",
        );
        let clipped = longhaul_testkit::transcript(
            "user: Add a test\nassistant: I look first. !read#c1 {\"path\":\"a.rs\"}\ntool#c1: …",
        );
        let kept: Vec<Entry> = said.entries()[1..]
            .iter()
            .zip(&clipped.entries()[1..])
            .map(|(was, stays)| Entry { message: stays.message.clone(), ..was.clone() })
            .collect();
        let (session, index, options) =
            (SessionId::new("s").unwrap(), FactIndex::default(), LlmOptions::default());
        let request = SummaryRequest {
            kept: &kept,
            tail: &said.entries()[1..],
            ..SummaryRequest::new(&session, &said.entries()[..1], &index, &BytesPer4, Tokens(1_000))
        };
        let model = SummarizerModel::new("small", Tokens(8_192), Arc::new(Scripted::always("never asked")));
        let asking = Asking::in_form(&options, Form::Notes, &model, &request);
        let prompt = asking.instruction();
        assert!(prompt.contains("from m1 on stay") && prompt.contains("Of m2, though"), "{prompt}");
        assert_eq!(asking.entries.len(), 3);
        assert!(asking.source_tokens < Tokens(100) && asking.answer_tokens < asking.source_tokens);
        // A small model has no room for it.
        assert_eq!(Asking::in_form(&options, Form::Record, &model, &request).entries.len(), 1);
        // Of all that is summarized it reads what leaves: not the message that stays whole in between.
        let request = SummaryRequest { entries: said.entries(), ..request };
        let read = Asking::in_form(&options, Form::Record, &model, &request);
        assert_eq!(read.entries.iter().map(|entry| entry.id.ordinal).collect::<Vec<_>>(), [0, 2]);
    }
}
