//! One thing done to a file.

/// One thing done to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Touch {
    Read(String),
    /// Written whole: created where it was not known before.
    Write(String),
    Create(String),
    /// Made where it was not there; nothing is changed in it.
    Touched(String),
    Edit(String),
    Delete(String),
    Rename(String, String),
    /// Put back to what version control has.
    Revert(String),
    /// Everything put back.
    RevertAll,
    /// What was changed so far is in version control now.
    Commit,
    /// The file was written, and the call does not say what that changed in it.
    Unseen(String),
    /// It was to be changed, and its tool did not: with what that said.
    Failed(String, String),
}

impl Touch {
    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        let (one, two) = match self {
            Touch::Read(path)
            | Touch::Write(path)
            | Touch::Create(path)
            | Touch::Edit(path)
            | Touch::Unseen(path)
            | Touch::Failed(path, _)
            | Touch::Touched(path) => (Some(path), None),
            Touch::Delete(path) | Touch::Revert(path) => (Some(path), None),
            Touch::Rename(from, to) => (Some(from), Some(to)),
            Touch::RevertAll | Touch::Commit => (None, None),
        };
        one.into_iter().chain(two).map(String::as_str)
    }

    /// Returns the file that something was written to.
    pub(super) fn written(&self) -> Option<&str> {
        match self {
            Touch::Write(path) | Touch::Create(path) | Touch::Edit(path) => Some(path),
            _ => None,
        }
    }
}
