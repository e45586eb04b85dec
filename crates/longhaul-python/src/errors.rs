//! What Python raises, and which of our errors becomes which.

use std::error::Error as _;

use longhaul::{DocumentError, Error, OpenError, store, wire::WireError};
use pyo3::{create_exception, exceptions::PyException, prelude::*, types::PyModule};

create_exception!(longhaul, LonghaulError, PyException, "Something longhaul could not do; nothing was lost.");
create_exception!(
    longhaul,
    SettingsError,
    LonghaulError,
    "A setting, a model or an argument that cannot be used."
);
create_exception!(
    longhaul,
    FormatError,
    LonghaulError,
    "Messages that are not of the format they should be of."
);
create_exception!(
    longhaul,
    BudgetError,
    LonghaulError,
    "What must stay is larger than the budget, or nothing is left to compact."
);
create_exception!(
    longhaul,
    SummarizeError,
    LonghaulError,
    "The model gave no summary, and rules were not to make one."
);
create_exception!(longhaul, StoreError, LonghaulError, "The store could not be read or written.");

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("LonghaulError", py.get_type::<LonghaulError>())?;
    module.add("SettingsError", py.get_type::<SettingsError>())?;
    module.add("FormatError", py.get_type::<FormatError>())?;
    module.add("BudgetError", py.get_type::<BudgetError>())?;
    module.add("SummarizeError", py.get_type::<SummarizeError>())?;
    module.add("StoreError", py.get_type::<StoreError>())
}

/// Returns an error with its causes, as one line.
fn words(error: &dyn std::error::Error) -> String {
    let mut words = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let said = error.to_string();
        if !words.contains(&said) {
            words = format!("{words}: {said}");
        }
        cause = error.source();
    }
    words
}

pub(crate) fn settings(error: &dyn std::error::Error) -> PyErr {
    SettingsError::new_err(words(error))
}

pub(crate) fn wire(error: &WireError) -> PyErr {
    FormatError::new_err(words(error))
}

pub(crate) fn store(error: &store::StoreError) -> PyErr {
    StoreError::new_err(words(error))
}

pub(crate) fn opening(error: &OpenError) -> PyErr {
    match error {
        OpenError::Store(error) => session(error),
        error => settings(error),
    }
}

pub(crate) fn session(error: &Error) -> PyErr {
    let words = words(error);
    match error {
        Error::Summarize(_) => SummarizeError::new_err(words),
        Error::Store(_) => StoreError::new_err(words),
        Error::Memory(_) => SettingsError::new_err(words),
        Error::Wire(_) | Error::Sync(_) => FormatError::new_err(words),
        Error::Pin(_) | Error::Branch(_) | Error::OnlyInSummary { .. } | Error::RedoLost | Error::Strayed => {
            LonghaulError::new_err(words)
        }
        _ => BudgetError::new_err(words),
    }
}

pub(crate) fn document(error: &DocumentError) -> PyErr {
    let said = words(error);
    match error {
        DocumentError::Compact(_) | DocumentError::Rewrite(_) | DocumentError::DoesNotFit { .. } => {
            BudgetError::new_err(said)
        }
        DocumentError::Summarize(_) => SummarizeError::new_err(said),
        _ => FormatError::new_err(said),
    }
}

/// Returns the error of a name that has its cause in words.
pub(crate) fn argument(words: impl Into<String>) -> PyErr {
    SettingsError::new_err(words.into())
}

/// Returns the error of a session that another process opened.
pub(crate) fn forked() -> PyErr {
    StoreError::new_err("this session was opened before a fork; open it anew in this process")
}

/// Returns the error of something that is not there.
pub(crate) fn unknown(words: impl Into<String>) -> PyErr {
    LonghaulError::new_err(words.into())
}

/// Returns the error of a summarizer that raised: what Python says of it, in a line.
pub(crate) fn raised(error: &PyErr) -> String {
    let source = error.source().map(|cause| format!(" ({cause})")).unwrap_or_default();
    format!("{error}{source}")
}
