//! What a setting means, and the names under which readers of the design documents look for it.

use super::Config;

/// A name that one of the design documents gives to a setting, or to something that is no setting here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DocumentName {
    /// The name in the document.
    pub name: &'static str,
    /// The document, as `docs/seeds.md` numbers them.
    pub document: &'static str,
    /// The setting that it is here; `None` where there is none.
    pub setting: Option<&'static str>,
    /// What is different; empty where nothing is.
    pub note: &'static str,
}

/// What there is to say of a name: the settings that it may mean, with their documentation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// What was asked for.
    pub asked: String,
    /// Under which names the documents know it.
    pub names: Vec<DocumentName>,
    /// Each setting's name and documentation, as `docs/configuration.md` has it.
    pub settings: Vec<(&'static str, String)>,
}

/// Every setting's name in the documents, in their order.
pub const DOCUMENT_NAMES: &[DocumentName] = &[
    of("000", "maxContextTokens", "max_context_tokens", ""),
    of("000", "targetContextTokens", "target_context_tokens", ""),
    of("000", "summaryTriggerRatio", "trigger_ratio", ""),
    of("000", "keepRecentMessages", "preserve_recent", ""),
    of("000", "keepSystemPrompt", "preserve_system", ""),
    of("001", "enabled", "enabled", ""),
    of("001", "mode", "mode", "`rule-based` is `rules`, `llm-based` is `llm`"),
    of("001", "maxSummaryTokens", "max_summary_tokens", ""),
    of("001", "preserveErrorDetails", "preserve_error_details", ""),
    of("001", "summaryPrompt", "summary_prompt", ""),
    of("001", "reservedOutputTokens", "reserved_output_tokens", ""),
    none(
        "001",
        "summarizeOnTruncate",
        "what is taken out of the view is always summarized; `soft_action = \"trim\"` drops without",
    ),
    of("002", "trigger_threshold", "trigger_messages", ""),
    of("002", "target_compression", "target_compression", ""),
    of("002", "preserve_recent", "preserve_recent", ""),
    of("002", "preserve_system", "preserve_system", ""),
    of("002", "model", "summarizer_model_preference", "a list, first choice first"),
    of("003", "CONTEXT_THRESHOLD_BASIC", "soft_ratio", "in tokens: `\"80000 tokens\"`"),
    of("003", "CONTEXT_THRESHOLD_AI", "trigger_ratio", "in tokens: `\"120000 tokens\"`"),
    of("004", "triggerTokenRatio", "trigger_ratio", ""),
    of("004", "resetTokenRatio", "reset_ratio", ""),
    of("004", "minMessages", "min_messages", ""),
    of("004", "preserveRecent", "preserve_recent", ""),
    of("004", "maxSummaryChainDepth", "max_summary_chain_depth", ""),
    of("004", "forceRefreshAfterMessages", "force_refresh_after_messages", ""),
    of("004", "summarizerModelPreference", "summarizer_model_preference", ""),
    of("004", "cooldownMessages", "cooldown_messages", ""),
    of("004", "abortOnFailure", "abort_on_failure", ""),
];

const fn of(
    document: &'static str,
    name: &'static str,
    setting: &'static str,
    note: &'static str,
) -> DocumentName {
    DocumentName { name, document, setting: Some(setting), note }
}

const fn none(document: &'static str, name: &'static str, note: &'static str) -> DocumentName {
    DocumentName { name, document, setting: None, note }
}

impl Config {
    /// Explains the setting that `name` means: one of ours, or the name that a design document gives it, in whatever
    /// spelling (`keepSystemPrompt`, `keep-system-prompt`). `None` where nothing is called so.
    ///
    /// ```
    /// let explanation = longhaul::Config::explain("keepSystemPrompt").unwrap();
    /// assert_eq!(explanation.settings[0].0, "preserve_system");
    /// ```
    pub fn explain(name: &str) -> Option<Explanation> {
        let asked = plain(name);
        let names: Vec<DocumentName> =
            DOCUMENT_NAMES.iter().filter(|known| plain(known.name) == asked).copied().collect();
        let ours = Config::documentation().into_iter().filter(|(field, _)| {
            plain(field) == asked || names.iter().any(|known| known.setting == Some(*field))
        });
        let settings: Vec<_> = ours.collect();
        let known = !settings.is_empty() || !names.is_empty();
        known.then(|| Explanation { asked: name.to_owned(), names, settings })
    }

    /// Returns each setting's name and documentation, in the order of the page that documents them.
    pub fn documentation() -> Vec<(&'static str, String)> {
        const SOURCE: &str = include_str!("../config.rs");
        let body = SOURCE.split_once("pub struct Config {").map_or("", |(_, body)| body);
        let body = body.split_once("\n}\n").map_or(body, |(body, _)| body);
        let (mut fields, mut doc) = (Vec::new(), String::new());
        for line in body.lines().map(str::trim) {
            if let Some(text) = line.strip_prefix("///") {
                doc.push_str(text.strip_prefix(' ').unwrap_or(text));
                doc.push('\n');
            } else if let Some((name, _)) = line.strip_prefix("pub ").and_then(|field| field.split_once(':'))
            {
                fields.push((name, std::mem::take(&mut doc)));
            }
        }
        fields
    }

    /// Returns the setting that a document's `name` means here, where it means one.
    pub(super) fn setting_called(name: &str) -> Option<&'static str> {
        let asked = plain(name);
        DOCUMENT_NAMES.iter().find(|known| plain(known.name) == asked).and_then(|known| known.setting)
    }
}

/// Returns a name without what spellings differ in.
fn plain(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_of_the_documents_leads_to_a_setting_there_is() {
        let known: Vec<&str> = Config::documentation().into_iter().map(|(name, _)| name).collect();
        assert!(known.len() > 30, "{known:?}");
        for name in DOCUMENT_NAMES {
            if let Some(setting) = name.setting {
                assert!(known.contains(&setting), "{name:?}");
                let explanation = Config::explain(name.name).unwrap();
                assert!(explanation.settings.iter().any(|(known, _)| *known == setting), "{explanation:?}");
            } else {
                assert!(!name.note.is_empty(), "{name:?}");
            }
        }
    }

    #[test]
    fn a_name_is_known_in_any_spelling() {
        for spelling in ["keepSystemPrompt", "keep_system_prompt", "keep-system-prompt"] {
            assert_eq!(Config::explain(spelling).unwrap().settings[0].0, "preserve_system", "{spelling}");
        }
        let ours = Config::explain("preserve_system").unwrap();
        assert!(ours.settings[0].1.contains("Unit: "), "{ours:?}");
        assert_eq!(Config::explain("magic"), None);
        assert!(Config::explain("summarizeOnTruncate").unwrap().settings.is_empty());
    }
}
