//! The settings as the summarizer's ladder takes them.

use std::{sync::Arc, time::Duration};

use longhaul_summarize::{CompletionClient, LlmOptions, SummarizerModel, prompt};
use longhaul_tokens::ModelTable;
use longhaul_transcript::Tokens;

use super::{Chaining, Config, Oversize};
use crate::Preset;

impl Config {
    /// Returns how summaries by a model are to be made under these settings.
    ///
    /// The prompt is [`Config::summary_prompt`], else the one of the preset's document, else the built-in one, which asks
    /// for the whole schema.
    pub fn llm_options(&self) -> LlmOptions {
        let mut options = LlmOptions::default();
        options.mode = self.mode;
        options.transcript_cap = self.transcript_cap_tokens;
        options.form = self.summary_form;
        // An update of a running summary is put behind it by the caller.
        options.updates = self.chaining != Chaining::Running;
        options.retries = self.transport_retries;
        options.deadline = self.summary_deadline();
        options.abort_on_failure = self.abort_on_failure;
        options.spend.calls_per_hour = self.max_calls_per_hour.unwrap_or(u32::MAX);
        options.custom_prompt = self.prompt().map(str::to_owned);
        if self.oversize == Oversize::Rules {
            options.max_passes = 1;
        }
        options.newest_only = self.oversize == Oversize::Newest;
        options
    }

    /// Returns what one summary may take.
    pub(crate) fn summary_deadline(&self) -> Duration {
        Duration::from_millis(self.summary_deadline_ms)
    }

    /// Returns the models of `summarizer_model_preference`, all asked through `client`. `window` is theirs where somebody
    /// says so; else it is the table's, or what small local models have.
    pub fn summarizer_models(
        &self,
        client: &Arc<dyn CompletionClient>,
        window: Option<Tokens>,
    ) -> Vec<SummarizerModel> {
        let table = ModelTable::builtin();
        let model = |name: &String| {
            let known = table.get(name);
            let window = window.or(known.map(|model| model.window)).unwrap_or(UNKNOWN_WINDOW);
            let mut model = SummarizerModel::new(name.clone(), window, Arc::clone(client));
            if let Some(known) = known {
                model.max_output = known.max_output.min(window);
                model.counter = Some(known.counter());
            }
            model
        };
        self.summarizer_model_preference.iter().map(model).collect()
    }

    /// Returns those of `models` that are preferred, first choice first; all of them where none is.
    pub(crate) fn preferred(&self, models: Vec<SummarizerModel>) -> Vec<SummarizerModel> {
        if self.summarizer_model_preference.is_empty() {
            return models;
        }
        // The same model at a second endpoint is there for when the first fails.
        let preferred = self.summarizer_model_preference.iter();
        preferred.flat_map(|name| models.iter().filter(move |model| model.name == *name)).cloned().collect()
    }

    fn prompt(&self) -> Option<&str> {
        if !self.summary_prompt.is_empty() {
            return Some(&self.summary_prompt);
        }
        match self.preset? {
            Preset::ContextManager => Some(prompt::CONTEXT_MANAGER),
            Preset::Rolling => Some(prompt::ROLLING),
            Preset::Session => Some(prompt::SESSION),
            Preset::TwoTier => Some(prompt::TWO_TIER),
            Preset::Chain => None,
        }
    }
}

/// The window of a summarizer that nobody knows.
const UNKNOWN_WINDOW: Tokens = Tokens(8_192);

#[cfg(test)]
mod tests {
    use super::*;

    // asserts 001-08
    #[test]
    fn each_preset_asks_with_its_own_prompt_and_a_custom_one_wins() {
        let asks = |config: Config| config.llm_options().custom_prompt;
        assert_eq!(asks(Preset::TwoTier.config()).as_deref(), Some(prompt::TWO_TIER));
        assert_eq!(asks(Preset::Chain.config()), None);
        let own =
            Config { summary_prompt: "Say it in {maxTokens}: {context}".into(), ..Preset::Rolling.config() };
        assert_eq!(asks(own).as_deref(), Some("Say it in {maxTokens}: {context}"));
    }

    // asserts 000-17, 002-06, 004-08
    #[test]
    fn a_preferred_model_at_two_endpoints_is_asked_at_both() {
        let client = Arc::new(longhaul_summarize::Scripted::always("never asked"));
        let model = |name: &str| {
            SummarizerModel::new(name, Tokens(8_000), Arc::clone(&client) as Arc<dyn CompletionClient>)
        };
        let config =
            Config { summarizer_model_preference: vec!["b".into(), "a".into()], ..Config::default() };
        let preferred = config.preferred(vec![model("a"), model("b"), model("c"), model("a")]);
        let names: Vec<_> = preferred.iter().map(|model| model.name.as_str()).collect();
        assert_eq!(names, ["b", "a", "a"]);
    }

    #[test]
    fn caps_and_limits_are_handed_on() {
        let options = Preset::Rolling.config().llm_options();
        assert_eq!(
            (options.transcript_cap, options.max_passes, options.retries),
            (Some(Tokens(1_000)), 1, 1)
        );
        let unlimited = Config { max_calls_per_hour: None, ..Config::default() };
        assert_eq!(unlimited.llm_options().spend.calls_per_hour, u32::MAX);
    }
}
