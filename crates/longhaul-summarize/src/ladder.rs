//! Preferred models in order, then the rules.

use std::sync::Arc;

use async_trait::async_trait;
use longhaul_tokens::Accuracy;
use longhaul_transcript::{
    Clock, ContentHash, Cost, Entry, Jitter, Message, Role, Sleep, SummaryMode, Tokens,
};

use crate::{
    Answer, AnswerSchema, CallPlan, CompletionRequest, Draft, InvalidAnswer, LlmOptions, ModelPlan,
    SummarizeError, Summarizer, SummarizerModel, SummaryCache, SummaryRequest,
    breaker::Breaker,
    compose::{self, Composed},
    fence::Fence,
    ground::{Evidence, Ledger, ground},
    language::language,
    options::FOREIGN_COUNTER_MARGIN,
    passes::{cut, passes},
    prompt::{self, Fields},
    run::{NoAnswer, Run},
    spend::Spend,
};

/// A [`Summarizer`] that asks models and never depends on them.
///
/// The rules go first: their facts are the skeleton of a hybrid summary, the repair kit of a model's, and the answer
/// where every model fails. What a model says is checked against its source before it is used; nothing of the
/// conversation is changed here, so a failure loses nothing. Calls, time and spending are bounded by [`LlmOptions`].
#[derive(Debug)]
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
}

/// A limit under which a summary is not worth a call, and rules say so in a line (spec section 6).
const FLOOR: Tokens = Tokens(50);

/// A model with less room than this for the conversation is not asked.
const MIN_ROOM: Tokens = Tokens(256);

impl Ladder {
    /// Returns a ladder of `models` in order of preference, above `rules`.
    pub fn new(
        models: Vec<SummarizerModel>,
        rules: Arc<dyn Summarizer>,
        options: LlmOptions,
        clock: Arc<dyn Clock>,
        sleep: Arc<dyn Sleep>,
        jitter: Arc<dyn Jitter>,
    ) -> Ladder {
        let (breaker, spend) = (Breaker::new(options.breaker), Spend::new(options.spend));
        Ladder { models, rules, options, clock, sleep, jitter, breaker, spend, cache: None }
    }

    /// Returns this ladder with a cache of what models wrote.
    pub fn with_cache(mut self, cache: Arc<dyn SummaryCache>) -> Ladder {
        self.cache = Some(cache);
        self
    }

    fn asks_models(&self, request: &SummaryRequest<'_>) -> bool {
        self.options.mode != SummaryMode::Rules && request.limit >= FLOOR && !self.models.is_empty()
    }

    /// Returns what `model` would be shown of the conversation, within its window.
    fn show(&self, model: &SummarizerModel, request: &SummaryRequest<'_>) -> Show {
        let prompt = Prompt::new(self, request);
        let counter = model.counter.as_deref().unwrap_or(request.counter);
        let margin = match (&model.counter, counter.accuracy()) {
            (None, _) => FOREIGN_COUNTER_MARGIN,
            (Some(_), Accuracy::Estimate { margin }) => margin,
            (Some(_), Accuracy::Exact) => 0.0,
        };
        let wanted = prompt.answer_tokens.scaled(ANSWER_OVERHEAD) + ANSWER_FRAME + model.reasoning;
        let max_tokens = wanted.min(model.max_output.max(Tokens(1)));
        let fixed = counter.count_text(&prompt.fill("")) + counter.count_text(prompt::SYSTEM) + PROMPT_FRAME;
        let window = Tokens(((model.window - max_tokens).0 as f64 / (1.0 + margin)) as u64);
        let room = (window - fixed).min(self.options.transcript_cap);
        if room < MIN_ROOM {
            return Show { max_tokens, ..Show::default() };
        }
        let passes = passes(request.entries, &prompt.fence, counter, room, self.options.max_passes);
        Show {
            texts: passes.texts,
            units_left_out: passes.units_left_out,
            room,
            max_tokens,
            max_prompt: fixed + room,
        }
    }

    /// Asks one model for all it takes, and returns its answer, read and joined but not yet checked.
    async fn ask(
        &self,
        run: &mut Run<'_>,
        model: &SummarizerModel,
        request: &SummaryRequest<'_>,
    ) -> Option<(Answer, Vec<String>)> {
        let prompt = Prompt::new(self, request);
        let show = self.show(model, request);
        let since = self.clock.now_ms();
        if show.texts.is_empty() {
            let reason = format!("its window of {} tokens is too small for the prompt", model.window);
            run.note(model, reason, String::new(), since);
            return None;
        }
        let counter = model.counter.as_deref().unwrap_or(request.counter);
        let (mut room, mut shrunk) = (show.room, false);
        let (mut answers, mut notes) = (Vec::new(), Vec::new());
        if show.units_left_out > 0 {
            notes.push(format!("did not show the model the {} oldest units", show.units_left_out));
        }
        for text in &show.texts {
            let completion = loop {
                let (text, tokens) = match shrunk {
                    false => (text.clone(), show.max_prompt),
                    true => cut(text, counter, room),
                };
                let asked = prompt.ask(model, &prompt.fill(&text), show.max_tokens);
                match run.ask(model, &asked, tokens).await {
                    Ok(completion) => break completion,
                    // The server knows its window better than we do: show it less, once.
                    Err(NoAnswer::Failed(error)) if error.is_overflow() && !shrunk => {
                        shrunk = true;
                        room = counter.count_text(&text).min(room).scaled(0.5);
                    }
                    Err(_) => return None,
                }
            };
            let (answer, said) = self.read(run, model, &prompt, &completion, since)?;
            answers.push(answer);
            notes.extend(said);
        }
        if shrunk {
            notes.push(
                "showed the model less than planned, since its window is smaller than configured".to_owned(),
            );
        }
        if answers.len() == 1 {
            return answers.pop().map(|answer| (answer, notes));
        }
        let merged = self.merge(run, model, &prompt, &show, Answer::join(answers), &mut notes).await;
        Some((merged, notes))
    }

    /// Asks for one answer out of several. Where that fails the joined parts are the answer: all was said already.
    async fn merge(
        &self,
        run: &mut Run<'_>,
        model: &SummarizerModel,
        prompt: &Prompt<'_>,
        show: &Show,
        joined: Answer,
        notes: &mut Vec<String>,
    ) -> Answer {
        notes.push(format!("summarized in {} parts", show.texts.len()));
        let counter = model.counter.as_deref().unwrap_or(prompt.request.counter);
        let parts = serde_json::to_string(&joined).unwrap_or_default();
        let (parts, tokens) = cut(&prompt.fence.clean(&parts), counter, show.room);
        let asked = prompt.ask(model, &prompt.fill_with(prompt::REDUCE, &parts), show.max_tokens);
        let since = self.clock.now_ms();
        if prompt::wants_record(prompt.template)
            && let Ok(completion) = run.ask(model, &asked, tokens).await
            && let Some((answer, said)) = self.read(run, model, prompt, &completion, since)
        {
            notes.extend(said);
            return answer;
        }
        notes.push("joined the parts without the model".to_owned());
        joined
    }

    fn read(
        &self,
        run: &mut Run<'_>,
        model: &SummarizerModel,
        prompt: &Prompt<'_>,
        completion: &crate::Completion,
        since: i64,
    ) -> Option<(Answer, Vec<String>)> {
        let read = match prompt::wants_record(prompt.template) {
            true => Answer::read(completion),
            false => Answer::read_prose(completion),
        };
        match read.and_then(|read| prompt.judge(completion, read)) {
            Ok(read) => Some(read),
            Err(invalid) => {
                run.note(model, invalid.to_string(), invalid.excerpt().to_owned(), since);
                None
            }
        }
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
        // The index has read everything up to the last message, which is what the lineage names.
        let lineage = request.kept.last().or_else(|| request.entries.last()).map(|entry| entry.lineage.0);
        ContentHash::of_fields([
            request.session.as_str().as_bytes(),
            &hashes(request.entries),
            &hashes(request.kept),
            &lineage.unwrap_or_default()[..],
            request.previous.map_or("", |previous| previous.id.as_str()).as_bytes(),
            request.goal.unwrap_or_default().as_bytes(),
            &request.limit.0.to_le_bytes(),
            &request.depth.to_le_bytes(),
            made_with.as_bytes(),
            &options,
            &models,
        ])
    }
}

#[async_trait]
impl Summarizer for Ladder {
    fn plan(&self, request: &SummaryRequest<'_>) -> CallPlan {
        if !self.asks_models(request) {
            return CallPlan::default();
        }
        let shows: Vec<Show> = self.models.iter().map(|model| self.show(model, request)).collect();
        // A part may be asked again after trouble, once more after an overflow, and the parts are merged by one call.
        let tries = self.options.retries.saturating_add(1);
        let most = shows.iter().map(|show| match show.texts.len() {
            0 => 0,
            1 => tries * 2,
            parts => tries.saturating_mul(parts as u32 + 2),
        });
        let most = most.fold(0, u32::saturating_add);
        let plans = self.models.iter().zip(&shows).map(|(model, show)| ModelPlan {
            model: model.name.clone(),
            passes: show.texts.len(),
            max_prompt: show.max_prompt,
            units_left_out: show.units_left_out,
        });
        CallPlan { models: plans.collect(), max_calls: most.min(self.options.max_calls) }
    }

    async fn summarize(&self, request: SummaryRequest<'_>) -> Result<Draft, SummarizeError> {
        if request.entries.is_empty() {
            return Err(SummarizeError::NothingToDo);
        }
        let by_rule = self.rules.summarize(request).await?;
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
        let ledger = Ledger { constraints: &by_rule.summary.constraints, files: &by_rule.summary.files };
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
        for model in &self.models {
            let since = self.clock.now_ms();
            let Some((answer, mut repairs)) = self.ask(&mut run, model, &request).await else { continue };
            // Read only once there is something to check: most failures need no reading.
            let evidence = evidence.get_or_insert_with(|| Evidence::new(&request));
            let (checked, struck) = ground(answer, evidence, &ledger);
            repairs.extend(struck.iter().map(ToString::to_string));
            let composed = match checked.narrative.is_empty() && checked.decisions.is_empty() {
                true => None,
                false => {
                    compose::compose(self.options.mode, checked, &*self.rules, ledger.constraints, &request)
                        .await
                }
            };
            let Some(Composed { summary, text, tokens }) = composed else {
                run.note(model, InvalidAnswer::Unsupported.to_string(), String::new(), since);
                continue;
            };
            let draft = Draft {
                summary,
                text,
                tokens,
                mode: self.options.mode,
                model: model.name.clone(),
                made_with,
                attempts: run.attempts,
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

/// What one model is shown.
#[derive(Debug, Default)]
struct Show {
    texts: Vec<String>,
    units_left_out: usize,
    /// The most tokens of conversation in one call.
    room: Tokens,
    max_tokens: Tokens,
    max_prompt: Tokens,
}

/// One request's prompt, all but the conversation.
struct Prompt<'a> {
    request: &'a SummaryRequest<'a>,
    template: &'a str,
    schema: AnswerSchema,
    fence: Fence,
    previous: Option<&'a str>,
    language: Option<&'static str>,
    source_tokens: Tokens,
    answer_tokens: Tokens,
}

/// JSON spends about as much again on keys, quotes and brackets as on words in short entries.
const ANSWER_OVERHEAD: f64 = 2.0;
/// The keys of the schema themselves.
const ANSWER_FRAME: Tokens = Tokens(200);
/// Two messages, their roles, the reply's primer, and what a chat template adds.
const PROMPT_FRAME: Tokens = Tokens(32);

impl<'a> Prompt<'a> {
    fn new(ladder: &'a Ladder, request: &'a SummaryRequest<'a>) -> Prompt<'a> {
        let template = match (&ladder.options.custom_prompt, ladder.options.mode) {
            (Some(custom), _) => custom.as_str(),
            (None, SummaryMode::Hybrid) => prompt::HYBRID,
            (None, _) => prompt::USER,
        };
        let previous = request.previous.map(|record| record.text.as_str());
        let fence = Fence::around(request.entries, &[previous.unwrap_or(""), request.goal.unwrap_or("")]);
        let said = |message: &Message| message.role == Role::User && message.is_user_text();
        let by_user = request.entries.iter().filter(|entry| said(&entry.message));
        let language = language(by_user.flat_map(|entry| entry.message.texts()));
        let source_tokens =
            request.entries.iter().map(|entry| request.counter.count_message(&entry.message)).sum();
        let answer_tokens = compose::share(ladder.options.mode, request.limit);
        let schema = match ladder.options.mode {
            SummaryMode::Hybrid => Answer::hybrid_schema(),
            _ => Answer::schema(),
        };
        Prompt { request, template, schema, fence, previous, language, source_tokens, answer_tokens }
    }

    fn fill(&self, context: &str) -> String {
        self.fill_with(self.template, context)
    }

    fn fill_with(&self, template: &str, context: &str) -> String {
        prompt::fill(
            template,
            &Fields {
                messages: self.request.entries.len() as u64,
                tokens: self.source_tokens,
                depth: self.request.depth,
                previous: self.previous,
                goal: self.request.goal,
                language: self.language.unwrap_or("the language of the conversation"),
                max_tokens: self.answer_tokens,
                schema: &self.schema.schema,
                fence: &self.fence,
                context: context.trim_end(),
            },
        )
    }

    fn ask(&self, model: &SummarizerModel, user: &str, max_tokens: Tokens) -> CompletionRequest {
        let schema = prompt::wants_record(self.template).then(|| self.schema.clone());
        let system = if schema.is_some() { prompt::SYSTEM } else { prompt::SYSTEM_PROSE };
        CompletionRequest {
            schema,
            temperature: model.temperature,
            ..CompletionRequest::new(&model.name, system.to_owned(), user.to_owned(), max_tokens)
        }
    }

    /// Refuses what is no summary of this conversation, however well formed.
    fn judge<T>(
        &self,
        completion: &crate::Completion,
        (answer, notes): (Answer, T),
    ) -> Result<(Answer, T), InvalidAnswer> {
        let size = self.request.counter.count_text(&completion.text);
        if size >= self.source_tokens {
            return Err(InvalidAnswer::TooLarge { answer: size, source_tokens: self.source_tokens });
        }
        let words = [answer.narrative.as_str()];
        let words = words.into_iter().chain(answer.key_points.iter().map(String::as_str));
        match (self.language, language(words)) {
            (Some(expected), Some(got)) if expected != got => {
                Err(InvalidAnswer::WrongLanguage { expected, got })
            }
            _ => Ok((answer, notes)),
        }
    }
}
