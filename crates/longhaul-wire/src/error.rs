//! What can go wrong between bytes and a document.

use longhaul_transcript::first_words;

use crate::Format;

/// Why a history could not be read, written or converted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WireError {
    /// The bytes could not be read or written.
    #[error("reading or writing failed: {0}")]
    Io(#[from] std::io::Error),
    /// The input is not JSON, or not JSON that we read.
    #[error("{place}: {what}; expected {expected}")]
    Syntax {
        /// Where: a line, a byte, a path.
        place: String,
        /// What stands there.
        what: String,
        /// What could have stood there.
        expected: &'static str,
    },
    /// The JSON is sound but does not have the shape of the format.
    #[error("{place}: found {found}; expected {expected}")]
    Shape {
        /// Where: a path, after the line for a file of lines.
        place: String,
        /// What stands there, shortened.
        found: String,
        /// What the format has there.
        expected: &'static str,
    },
    /// No format was named, and there is nothing in the input to recognise one by.
    #[error("the input is empty; expected a history in one of the formats {}", crate::formats::names())]
    Empty,
    /// No format was named and none was recognised.
    #[error(
        "the input is no history that longhaul knows (it begins with {excerpt:?}); expected one of {}",
        crate::formats::names()
    )]
    Unrecognized {
        /// The first characters, control characters replaced.
        excerpt: String,
    },
    /// A format was named that does not exist.
    #[error("no format is named {name:?}; expected one of {}", crate::formats::names())]
    UnknownFormat {
        /// The name given.
        name: String,
    },
    /// The format can be read, but neither compacted in place nor converted to.
    #[error("{} can only be imported; expected a format that can be written, such as openai", .format.name())]
    ImportOnly {
        /// The format.
        format: Format,
    },
    /// What is asked for is there for the session files of some agents only.
    #[error("{} is no session file of Claude Code or Codex", .format.name())]
    NoSessionFile {
        /// The format.
        format: Format,
    },
    /// A file of the format has a line for each message, and of the history there is none that it can hold.
    #[error("no message of the history can be written as {}", .format.name())]
    NothingToWrite {
        /// The format.
        format: Format,
    },
    /// What is asked for is there for the bodies of requests only.
    #[error("{} is no body of a request", .format.name())]
    NoRequest {
        /// The format.
        format: Format,
    },
    /// Messages are to be put into the body of a request in another format: what each holds outside of its list the other has no
    /// place for.
    #[error("the messages are spelled as {}; expected {}, as the body is", .found.name(), .expected.name())]
    OtherFormat {
        /// The format of the messages.
        found: Format,
        /// The format of the body.
        expected: Format,
    },
    /// A canonical history written by a newer longhaul.
    #[error("version {found} of the longhaul format; expected {expected} or older")]
    NewerVersion {
        /// The version the input names.
        found: u64,
        /// The newest version this code reads.
        expected: u64,
    },
}

/// Damage that was tolerated: the document is still usable, and still comes back byte for byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where: a line, a byte, a path.
    pub place: String,
    /// What is wrong there and what was done about it.
    pub what: String,
}

impl Problem {
    pub(crate) fn new(place: impl Into<String>, what: impl Into<String>) -> Problem {
        Problem { place: place.into(), what: what.into() }
    }
}

/// A shape fault inside one message, before its place in the file is known.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) path: String,
    pub(crate) found: String,
    pub(crate) expected: &'static str,
}

impl Fault {
    pub(crate) fn new(path: impl Into<String>, found: &str, expected: &'static str) -> Fault {
        Fault { path: path.into(), found: excerpt(found), expected }
    }

    /// Returns the fault as one that was tolerated: the line it stands in is carried, not read.
    pub(crate) fn problem(self, place: &str) -> Problem {
        let place = self.place(place);
        let (found, expected) = (self.found, self.expected);
        Problem::new(place, format!("found {found}; expected {expected}; it is carried, not read"))
    }

    pub(crate) fn at(self, place: &str) -> WireError {
        WireError::Shape { place: self.place(place), found: self.found, expected: self.expected }
    }

    fn place(&self, place: &str) -> String {
        match self.path.is_empty() {
            true => place.to_owned(),
            false => format!("{place}.{}", self.path),
        }
    }
}

/// Returns the first characters of `text`, control characters replaced. What is cut ends before the word that is.
pub(crate) fn excerpt(text: &str) -> String {
    const CHARS: usize = 60;
    let first = first_words(text, CHARS);
    let mut short: String = first.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if first.len() < text.len() {
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests {
    use super::excerpt;

    #[test]
    fn what_is_cut_ends_before_the_word_that_is() {
        assert_eq!(excerpt("a\nb"), "a b");
        let key = format!("ghp_{}", "x7".repeat(18));
        let inside = |n: usize| excerpt(&format!("{{\"content\":\"{} {key}\"}}", "x".repeat(n)));
        assert_eq!(inside(20), format!("{{\"content\":\"{} …", "x".repeat(20)));
        assert!((0..60).all(|n| !inside(n).contains("ghp_") || inside(n).contains(&key)));
        assert_eq!(excerpt(&"x".repeat(99)), "…");
    }
}
