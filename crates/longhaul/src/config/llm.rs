//! The settings as the summarizer's ladder takes them.

use longhaul_summarize::{LlmOptions, prompt};

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
        options.abort_on_failure = self.abort_on_failure;
        options.spend.calls_per_hour = self.max_calls_per_hour.unwrap_or(u32::MAX);
        options.custom_prompt = self.prompt().map(str::to_owned);
        if self.oversize != Oversize::MapReduce {
            options.max_passes = 1;
        }
        options.newest_only = self.oversize == Oversize::Newest;
        options
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

#[cfg(test)]
mod tests {
    use longhaul_transcript::Tokens;

    use super::*;

    #[test]
    fn each_preset_asks_with_its_own_prompt_and_a_custom_one_wins() {
        let asks = |config: Config| config.llm_options().custom_prompt;
        assert_eq!(asks(Preset::TwoTier.config()).as_deref(), Some(prompt::TWO_TIER));
        assert_eq!(asks(Preset::Chain.config()), None);
        let own =
            Config { summary_prompt: "Say it in {maxTokens}: {context}".into(), ..Preset::Rolling.config() };
        assert_eq!(asks(own).as_deref(), Some("Say it in {maxTokens}: {context}"));
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
