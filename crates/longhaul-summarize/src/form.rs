//! In which form a model answers.

use longhaul_tokens::ModelTable;

use crate::{LlmOptions, STRONG_WINDOW, SummarizerModel, SummaryForm, prompt};

/// What kind of answer is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// A record by a schema, in JSON.
    Record,
    /// Whatever a custom prompt asks for.
    Prose,
    /// Sections of statements, in Markdown.
    Notes,
}

impl Form {
    /// Returns the form in which `model` is to answer.
    pub(crate) fn of(options: &LlmOptions, model: &SummarizerModel) -> Form {
        if let Some(custom) = &options.custom_prompt {
            return if prompt::wants_record(custom) { Form::Record } else { Form::Prose };
        }
        let is_strong = || {
            let known = ModelTable::builtin().get(&model.name).map(|known| known.window);
            known.is_some_and(|window| window >= STRONG_WINDOW) && model.window >= STRONG_WINDOW
        };
        match options.form {
            SummaryForm::Json => Form::Record,
            SummaryForm::Markdown => Form::Notes,
            SummaryForm::Auto if is_strong() => Form::Notes,
            SummaryForm::Auto => Form::Record,
        }
    }
}
