//! Preferred models in order, then the rules.

use std::{borrow::Cow, collections::VecDeque, fmt, sync::Arc};

use async_trait::async_trait;
use longhaul_tokens::{Accuracy, TokenCounter};
use longhaul_transcript::{Clock, Constraint, ContentHash, Cost, Entry, Jitter, Sleep, SummaryMode, Tokens};

use crate::{
    Answer, Attempt, CallPlan, ClientError, Completion, CompletionRequest, Conversation, Draft,
    InvalidAnswer, LlmOptions, ModelPlan, SummarizeError, Summarizer, SummarizerModel, SummaryCache,
    SummaryRequest,
    asking::{Asking, Said},
    breaker::Breaker,
    compose::{self, Composed},
    form::Form,
    ground::{Evidence, Ledger, ground, ground_notes, report},
    notes::Notes,
    options::FOREIGN_COUNTER_MARGIN,
    passes::{cut, newest, passes},
    prompt,
    run::{NoAnswer, Run},
    spend::Spend,
    supplement::tells_apart,
    update::Earlier,
};

/// A [`Summarizer`] that asks models and never depends on them.
///
/// The rules go first: their facts are the skeleton of a hybrid summary, the repair kit of a model's, and the answer
/// where every model fails. What a model says is checked against its source before it is used; nothing of the
/// conversation is changed here, so a failure loses nothing. Calls, time and spending are bounded by [`LlmOptions`].
pub struct Ladder {
    models: Vec<SummarizerModel>,
    rules: Arc<dyn Summarizer>,
    options: LlmOptions,
    clock: Arc<dyn Clock>,
    sleep: Arc<dyn Sleep>,
    jitter: Arc<dyn Jitter>,
    breaker: Breaker,
    spend: Spend,
    cache: Option<Arc<dyn SummaryCache>>,
    redact: Option<Redact>,
}

/// Takes secrets out of a text.
pub type Redact = Arc<dyn Fn(&str) -> String + Send + Sync>;

/// A limit under which a summary is not worth a call, and rules say so in a line.
const FLOOR: Tokens = Tokens(50);

/// A model with less room than this for the conversation is not asked.
const MIN_ROOM: Tokens = Tokens(256);

/// What the statements of a strong model are worth before the messages that they tell of: readers answered .97 from 4,000
/// tokens of them, and .94 from 3,000 with the last messages behind them (`docs/quality.md`).
const NOTES_WORTH: Tokens = Tokens(4_000);

impl Ladder {
    /// Returns a ladder of `models` in order of preference, above `rules`. For a summary of more than a model's window takes without
    /// hard clipping, those that take it are asked before that one.
    pub fn new(
        models: Vec<SummarizerModel>,
        rules: Arc<dyn Summarizer>,
        options: LlmOptions,
        clock: Arc<dyn Clock>,
        sleep: Arc<dyn Sleep>,
        jitter: Arc<dyn Jitter>,
    ) -> Ladder {
        let (breaker, spend) = (Breaker::new(options.breaker), Spend::new(options.spend));
        Ladder { models, rules, options, clock, sleep, jitter, breaker, spend, cache: None, redact: None }
    }

    /// Returns this ladder with a cache of what models wrote.
    pub fn with_cache(mut self, cache: Arc<dyn SummaryCache>) -> Ladder {
        self.cache = Some(cache);
        self
    }

    /// Returns this ladder with what takes secrets out of answers to the conversation itself, which is sent as it was. Without
    /// it no model is asked in the conversation.
    pub fn with_redaction(mut self, redact: Redact) -> Ladder {
        self.redact = Some(redact);
        self
    }

    fn asks_models(&self, request: &SummaryRequest<'_>) -> bool {
        self.options.mode != SummaryMode::Rules && request.limit >= FLOOR && !self.models.is_empty()
    }

    /// Returns the agent's own conversation, where `model` is the agent's and our own prompt is asked.
    fn conversation(
        &self,
        model: &SummarizerModel,
        request: &SummaryRequest<'_>,
    ) -> Option<Arc<Conversation>> {
        // A small model keeps to a schema more easily, and there is none for it in the agent's request.
        let may = self.redact.is_some() && Form::of(&self.options, model) == Form::Notes;
        // It begins with the summary that a new one is to owe nothing.
        let may = may && !(request.is_rebuilt && request.previous.is_some());
        model.last_request.as_ref().filter(|_| may)?.get()
    }

    /// Returns what `model` would be shown of the conversation, within its window.
    fn show(&self, model: &SummarizerModel, request: &SummaryRequest<'_>) -> Show {
        let mut asking = Asking::new(&self.options, model, request);
        let counter = model.counter.as_deref().unwrap_or(request.counter);
        let margin = match (&model.counter, counter.accuracy()) {
            (None, _) => FOREIGN_COUNTER_MARGIN,
            (Some(_), Accuracy::Estimate { margin }) => margin,
            (Some(_), Accuracy::Exact) => 0.0,
        };
        let is_within_cap = |tokens| self.options.transcript_cap.is_none_or(|cap| tokens <= cap);
        if let Some(conversation) =
            self.conversation(model, request).filter(|conversation| is_within_cap(conversation.tokens))
        {
            let max_prompt = conversation.tokens + counter.count_text(&asking.instruction()) + PROMPT_FRAME;
            if max_prompt + asking.max_tokens <= model.window {
                let conversation = Some(conversation);
                return Show { conversation, max_prompt, ..Show::default() };
            }
        }
        let show = self.show_fenced(model, &asking, counter, margin);
        // What is not shown stands in the summary before.
        match show.units_left_out > 0 && asking.tell_before() {
            true => self.show_fenced(model, &asking, counter, margin),
            false => show,
        }
    }

    /// Returns what a model is shown of the conversation as data in a prompt.
    fn show_fenced(
        &self,
        model: &SummarizerModel,
        asking: &Asking<'_>,
        counter: &dyn TokenCounter,
        margin: f64,
    ) -> Show {
        let fixed = counter.count_text(&asking.fill("")) + counter.count_text(prompt::SYSTEM) + PROMPT_FRAME;
        let window = Tokens(((model.window - asking.max_tokens).0 as f64 / (1.0 + margin)) as u64);
        let in_window = window - fixed;
        // Whoever wants a summary that owes nothing to the one before wants all of it read.
        let is_newest_alone = self.options.newest_only && !asking.request.is_rebuilt;
        let cap = self.options.transcript_cap.filter(|_| is_newest_alone || !self.options.newest_only);
        let room = cap.map_or(in_window, |cap| in_window.min(cap));
        if room < MIN_ROOM {
            return Show { is_narrow: true, ..Show::default() };
        }
        let within = |room: Tokens| match is_newest_alone {
            true => newest(&asking.entries, &asking.fence, counter, room),
            false => passes(&asking.entries, &asking.fence, counter, room, self.options.max_passes),
        };
        let mut passes = within(room);
        // Behind the first part stands the summary of those before it, or its new statements.
        let carried = match passes.texts.len() > 1 && asking.goes_on() {
            true => asking.answer_tokens.min(room.scaled(0.5)),
            false => Tokens::ZERO,
        };
        if carried > Tokens::ZERO {
            passes = within(room - carried);
        }
        Show {
            conversation: None,
            texts: passes.texts,
            units_left_out: passes.units_left_out,
            is_narrow: !passes.holds_all && cap.is_none_or(|cap| in_window < cap),
            room,
            max_prompt: fixed + passes.largest + carried,
        }
    }

    /// Asks one model for all it takes, and returns its answer, read and joined but not yet checked.
    async fn ask(
        &self,
        run: &mut Run<'_>,
        model: &SummarizerModel,
        request: &SummaryRequest<'_>,
        rules: &[Constraint],
        show: Show,
    ) -> Option<Heard> {
        let Some(conversation) = &show.conversation else {
            let mut asking = Asking::new(&self.options, model, request);
            asking.leave_room_for(rules);
            return self.ask_fenced(run, model, asking, show).await;
        };
        let asking = Asking::in_form(&self.options, Form::Notes, model, request);
        let since = self.clock.now_ms();
        let user = asking.instruction();
        let asked = CompletionRequest {
            conversation: Some(Arc::clone(conversation)),
            ..CompletionRequest::new(&model.name, String::new(), user, asking.max_tokens)
        };
        match run.ask(model, &asked, show.max_prompt).await {
            Ok(mut completion) => {
                // The model saw what nobody had taken secrets out of.
                if let Some(redact) = &self.redact {
                    completion.text = redact(&completion.text);
                }
                match asking.read(&completion) {
                    Ok((said, mut notes)) => {
                        notes.push("asked in the conversation itself".to_owned());
                        return Some(Heard { said, form: asking.form, notes, earlier: asking.earlier });
                    }
                    Err(invalid) => {
                        let is_mistaken = invalid == InvalidAnswer::ToolCall;
                        run.note(model, invalid.to_string(), invalid.excerpt().to_owned(), since);
                        if !is_mistaken {
                            return None;
                        }
                    }
                }
            }
            Err(NoAnswer::Failed(
                ClientError::ContextOverflow { .. }
                | ClientError::BadRequest { .. }
                | ClientError::InvalidResponse { .. },
            )) => {}
            Err(_) => return None,
        }
        // Where it is too large, or taken for the agent's work, it is shown as data.
        let show = self.show_as_data(model, request);
        self.ask_fenced(run, model, Asking::new(&self.options, model, request), show).await
    }

    /// Returns what `model` is shown where it was asked in the conversation itself and gave no answer.
    fn show_as_data(&self, model: &SummarizerModel, request: &SummaryRequest<'_>) -> Show {
        let asking = Asking::new(&self.options, model, request);
        let counter = model.counter.as_deref().unwrap_or(request.counter);
        self.show_fenced(model, &asking, counter, FOREIGN_COUNTER_MARGIN)
    }

    async fn ask_fenced(
        &self,
        run: &mut Run<'_>,
        model: &SummarizerModel,
        mut asking: Asking<'_>,
        show: Show,
    ) -> Option<Heard> {
        let since = self.clock.now_ms();
        if show.units_left_out > 0 {
            asking.tell_before();
        }
        if show.texts.is_empty() {
            run.attempts.push(passed_over(model, &show));
            return None;
        }
        let counter = model.counter.as_deref().unwrap_or(asking.request.counter);
        let (mut room, mut shrunk) = (show.room, false);
        let (mut parts, mut notes) = (Vec::new(), Vec::new());
        let earlier = asking.earlier.clone();
        if show.units_left_out > 0 {
            notes.push(format!("did not show the model the {} oldest units", show.units_left_out));
        }
        for text in &show.texts {
            let mut is_told_late = false;
            let completion = loop {
                let (text, tokens) = match shrunk {
                    false => (text.clone(), show.max_prompt),
                    true => cut(text, counter, room),
                };
                let before = parts.last().filter(|_| asking.form == Form::Prose).and_then(Said::prose);
                let before = match is_told_late {
                    true => asking.with_previous(before),
                    false => before.map(Cow::Borrowed),
                };
                let asked = asking.ask(model, &asking.fill_behind(before.as_deref(), &text));
                match run.ask(model, &asked, tokens).await {
                    Ok(completion) => break completion,
                    // The server knows its window better than we do: show it less, once.
                    Err(NoAnswer::Failed(error)) if error.is_overflow() && !shrunk => {
                        shrunk = true;
                        room = counter.count_text(&text).min(room).scaled(0.5);
                        // What is cut out stands in the summary before, which takes of the room in turn.
                        let without = counter.count_text(&asking.fill(""));
                        is_told_late = asking.tell_before();
                        let told = counter.count_text(&asking.fill("")) - without;
                        room = (room - told).max(room.min(MIN_ROOM));
                    }
                    Err(_) => return None,
                }
            };
            let (said, done) = self.read(run, model, &asking, &completion, since)?;
            // Prose is told on, not joined: joined, the newest would be what the limit cuts. And a statement that one part
            // changed may be changed again by the next.
            if asking.goes_on() {
                parts.clear();
            }
            if let (Said::Notes(notes), Some(earlier)) = (&said, &mut asking.earlier) {
                *earlier = Earlier::after(notes);
            }
            parts.push(said);
            notes.extend(done);
        }
        if shrunk {
            notes.push(
                "showed the model less than planned, since its window is smaller than configured".to_owned(),
            );
        }
        if asking.goes_on() && show.texts.len() > 1 {
            notes.push(format!("told on in {} parts", show.texts.len()));
        }
        let said = match parts.len() {
            1 => parts.pop()?,
            _ => self.merge(run, model, &asking, &show, parts, &mut notes).await,
        };
        Some(Heard { said, form: asking.form, notes, earlier })
    }

    /// Asks for one answer out of several. Where that fails the joined parts are the answer: all was said already.
    async fn merge(
        &self,
        run: &mut Run<'_>,
        model: &SummarizerModel,
        asking: &Asking<'_>,
        show: &Show,
        parts: Vec<Said>,
        notes: &mut Vec<String>,
    ) -> Said {
        notes.push(format!("summarized in {} parts", show.texts.len()));
        let joined = joined(parts);
        let counter = model.counter.as_deref().unwrap_or(asking.request.counter);
        let parts = match &joined {
            Said::Record(answer) => serde_json::to_string(answer).unwrap_or_default(),
            Said::Notes(notes) => notes.render(),
        };
        let (parts, tokens) = cut(&asking.fence.clean(&parts), counter, show.room);
        let asked = asking.ask(model, &asking.fill_merge(&parts));
        let since = self.clock.now_ms();
        if let Ok(completion) = run.ask(model, &asked, tokens).await
            && let Some((said, done)) = self.read(run, model, asking, &completion, since)
        {
            notes.extend(done);
            return said;
        }
        notes.push("joined the parts without the model".to_owned());
        joined
    }

    fn read(
        &self,
        run: &mut Run<'_>,
        model: &SummarizerModel,
        asking: &Asking<'_>,
        completion: &Completion,
        since: i64,
    ) -> Option<(Said, Vec<String>)> {
        match asking.read(completion) {
            Ok(read) => Some(read),
            Err(invalid) => {
                run.note(model, invalid.to_string(), invalid.excerpt().to_owned(), since);
                None
            }
        }
    }

    /// Checks what a model said and joins it with what the rules know. The second value says what the checks did.
    async fn composed(
        &self,
        heard: Heard,
        by_rule: &Draft,
        evidence: &Evidence,
        request: &SummaryRequest<'_>,
    ) -> (Option<Composed>, Vec<String>) {
        let known = &by_rule.summary;
        let ledger = Ledger { constraints: &known.constraints, files: &known.files };
        let Heard { said, form, notes: mut done, earlier } = heard;
        let mut composed = match said {
            Said::Notes(notes) => {
                let is_checked =
                    |statement: &_| earlier.as_ref().is_some_and(|earlier| earlier.has(statement));
                let (kept, unconfirmed, struck, tally) = ground_notes(notes, is_checked, evidence, &ledger);
                let composed = compose::compose_notes(kept, unconfirmed.clone(), known, request);
                // Those of this answer come last.
                let new = &unconfirmed[unconfirmed.len() - tally.unconfirmed..];
                let is_told = |statement: &&String| {
                    composed.as_ref().is_some_and(|composed| tells_apart(&composed.text, statement))
                };
                done.extend(report(tally, new.iter().filter(is_told).count(), &struck));
                composed
            }
            Said::Record(answer) => {
                let (checked, struck, tally) = ground(*answer, evidence, &ledger);
                // The text of a record has no place for what is set apart.
                done.extend(report(tally, 0, &struck));
                match checked.narrative.is_empty() && checked.decisions.is_empty() {
                    true => None,
                    false => {
                        let mode = self.options.mode;
                        compose::compose(mode, form, checked, &*self.rules, known, request).await
                    }
                }
            }
        };
        if let Some(composed) = &mut composed {
            composed.summary.checks.clone_from(&done);
        }
        (composed, done)
    }

    /// Returns the key under which a summary is cached: everything that the models and the checks are shown, and the
    /// versions of prompts and rules.
    fn key(&self, request: &SummaryRequest<'_>, made_with: &str) -> ContentHash {
        let options = serde_json::to_vec(&self.options).unwrap_or_default();
        let models: Vec<u8> = self
            .models
            .iter()
            .flat_map(|model| {
                format!("{}\0{}\0{}\0", model.name, model.window, model.max_output).into_bytes()
            })
            .collect();
        let hashes =
            |entries: &[Entry]| entries.iter().flat_map(|entry| entry.id.hash.0).collect::<Vec<u8>>();
        // What stays in part keeps its id.
        let cut: Vec<u8> = request
            .clipped()
            .flat_map(|(was, stays)| {
                let stays = serde_json::to_vec(&*stays.message).unwrap_or_default();
                [&was.id.hash.0[..], &ContentHash::of(&stays).0[..]].concat()
            })
            .collect();
        // The index has read everything up to the last message, which is what the lineage names.
        let lineage = request.kept.last().or_else(|| request.entries.last()).map(|entry| entry.lineage.0);
        ContentHash::of_fields([
            request.session.as_str().as_bytes(),
            &hashes(request.entries),
            &hashes(request.kept),
            &cut,
            &lineage.unwrap_or_default()[..],
            request.previous.map_or("", |previous| previous.id.as_str()).as_bytes(),
            request.goal.unwrap_or_default().as_bytes(),
            &request.limit.0.to_le_bytes(),
            &request.depth.to_le_bytes(),
            &[u8::from(request.is_rebuilt)],
            &request.most_listed.map_or(u64::MAX, |most| most as u64).to_le_bytes(),
            made_with.as_bytes(),
            &options,
            &models,
        ])
    }
}

impl fmt::Debug for Ladder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ladder")
            .field("models", &self.models)
            .field("rules", &self.rules)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl Summarizer for Ladder {
    fn writes_facts(&self) -> bool {
        true
    }

    fn ends_by_itself(&self) -> bool {
        true
    }

    fn plan(&self, request: &SummaryRequest<'_>) -> CallPlan {
        if !self.asks_models(request) {
            return CallPlan::default();
        }
        let mut shows: Vec<(&SummarizerModel, Show)> =
            self.models.iter().map(|model| (model, self.show(model, request))).collect();
        shows.sort_by_key(|(_, show)| show.is_narrow);
        // A part may be asked again after trouble, once more after an overflow, and the parts are merged by one call.
        let tries = self.options.retries.saturating_add(1);
        let of_parts = |parts: usize| match parts {
            0 => 0,
            1 => tries.saturating_mul(2),
            parts => tries.saturating_mul(parts as u32 + 2),
        };
        let most = shows.iter().map(|(model, show)| match &show.conversation {
            // In the conversation, and as data where that gives no answer.
            Some(_) => tries.saturating_add(of_parts(self.show_as_data(model, request).texts.len())),
            None => of_parts(show.texts.len()),
        });
        let most = most.fold(0, u32::saturating_add);
        let plans = shows.iter().map(|(model, show)| ModelPlan {
            model: model.name.clone(),
            passes: if show.conversation.is_some() { 1 } else { show.texts.len() },
            in_conversation: show.conversation.is_some(),
            max_prompt: show.max_prompt,
            units_left_out: show.units_left_out,
        });
        CallPlan { models: plans.collect(), max_calls: most.min(self.options.max_calls) }
    }

    fn worth(&self) -> Tokens {
        match self
            .models
            .first()
            .filter(|_| self.options.mode != SummaryMode::Rules)
            .map(|model| Form::of(&self.options, model))
        {
            Some(Form::Notes) => NOTES_WORTH,
            _ => Tokens::ZERO,
        }
    }

    async fn summarize(&self, request: SummaryRequest<'_>) -> Result<Draft, SummarizeError> {
        if request.entries.is_empty() {
            return Err(SummarizeError::NothingToDo);
        }
        // Alone, rules tell as much as there is room for.
        let by_rule = self.rules.summarize(SummaryRequest { most_listed: None, ..request }).await?;
        if !self.asks_models(&request) {
            return Ok(by_rule);
        }
        let made_with = format!("{}+{}", prompt::VERSION, by_rule.made_with);
        let key = self.key(&request, &made_with);
        if let Some(cache) = &self.cache
            && let Some(mut draft) = cache.load(&key).await
            && draft.tokens <= request.limit
        {
            draft.attempts.clear();
            draft.cost = None;
            return Ok(draft);
        }
        let mut evidence = None;
        let mut run = Run {
            options: &self.options,
            clock: &*self.clock,
            sleep: &*self.sleep,
            jitter: &*self.jitter,
            breaker: &self.breaker,
            spend: &self.spend,
            attempts: Vec::new(),
            cost: Cost::default(),
            started_ms: self.clock.now_ms(),
        };
        // Those whose window is narrow for this summary wait until no other has written it.
        let (mut models, mut narrow) = (self.models.iter(), VecDeque::new());
        loop {
            let (model, show) = match models.next() {
                Some(model) => match self.show(model, &request) {
                    show if show.is_narrow => {
                        narrow.push_back((model, show));
                        continue;
                    }
                    show => (model, show),
                },
                None => match narrow.pop_front() {
                    Some(next) => next,
                    None => break,
                },
            };
            let (since, is_narrow) = (self.clock.now_ms(), show.is_narrow);
            let Some(heard) = self.ask(&mut run, model, &request, &by_rule.summary.constraints, show).await
            else {
                continue;
            };
            // Read only once there is something to check: most failures need no reading.
            let evidence = evidence.get_or_insert_with(|| Evidence::new(&request));
            let (composed, repairs) = self.composed(heard, &by_rule, evidence, &request).await;
            let Some(Composed { summary, text, tokens }) = composed else {
                run.note(model, InvalidAnswer::Unsupported.to_string(), String::new(), since);
                continue;
            };
            let passed_over =
                narrow.iter().filter(|_| !is_narrow).map(|(model, show)| passed_over(model, show));
            let draft = Draft {
                summary,
                text,
                tokens,
                mode: self.options.mode,
                model: model.name.clone(),
                made_with,
                attempts: passed_over.chain(run.attempts).collect(),
                cost: Some(run.cost),
                repairs,
            };
            if let Some(cache) = &self.cache {
                cache.store(&key, &draft).await;
            }
            return Ok(draft);
        }
        if self.options.abort_on_failure {
            return Err(SummarizeError::Exhausted { attempts: run.attempts });
        }
        let mut attempts = run.attempts;
        attempts.extend(by_rule.attempts.iter().cloned());
        let cost = (run.cost.calls > 0).then_some(run.cost);
        Ok(Draft { attempts, cost, ..by_rule })
    }
}

/// What a model said, what was done to it, and the summary that it was to bring up to date.
struct Heard {
    said: Said,
    form: Form,
    notes: Vec<String>,
    earlier: Option<Earlier>,
}

/// Joins what was said about consecutive parts of one conversation.
fn joined(parts: Vec<Said>) -> Said {
    let (mut answers, mut whole) = (Vec::new(), Notes::default());
    for part in parts {
        match part {
            Said::Record(answer) => answers.push(*answer),
            Said::Notes(notes) => {
                for statement in notes.statements {
                    if !whole.statements.contains(&statement) {
                        whole.statements.push(statement);
                    }
                }
            }
        }
    }
    match answers.is_empty() {
        true => Said::Notes(whole),
        false => Said::Record(Box::new(Answer::join(answers))),
    }
}

/// Returns why `model` was not asked for what it would have been shown.
fn passed_over(model: &SummarizerModel, show: &Show) -> Attempt {
    let what = if show.texts.is_empty() { "the prompt" } else { "all that is to be summarized" };
    let reason = format!("its window of {} tokens is too small for {what}", model.window);
    Attempt { summarizer: model.name.clone(), reason, ..Attempt::default() }
}

/// What one model is shown.
#[derive(Debug, Default)]
struct Show {
    /// The conversation itself, where the model is the agent's own and has room for it.
    conversation: Option<Arc<Conversation>>,
    texts: Vec<String>,
    units_left_out: usize,
    /// Its window leaves something out of what is to be summarized, or clips it hard: a model that takes it whole is asked first.
    is_narrow: bool,
    /// The most tokens of conversation in one call.
    room: Tokens,
    max_prompt: Tokens,
}

/// Two messages, their roles, the reply's primer, and what a chat template adds.
const PROMPT_FRAME: Tokens = Tokens(32);
