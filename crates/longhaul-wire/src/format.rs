//! The formats, by name.

use std::{fmt, str::FromStr};

use longhaul_transcript::Role;

use crate::WireError;

/// What a history is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Format {
    /// OpenAI Chat Completions: an array of messages, or an object with `messages`.
    OpenAi,
    /// OpenAI Responses: an array of items, or an object with `input`.
    Responses,
    /// Anthropic Messages: a request body with `messages`, or the bare array.
    Anthropic,
    /// A Claude Code session file, one JSON value a line.
    ClaudeCode,
    /// A Codex CLI rollout file, one JSON value a line.
    Codex,
    /// Google Gemini: an array of contents, or an object with `contents`.
    Gemini,
    /// Plain chat as in ShareGPT: `from` and `value`.
    Chat,
    /// longhaul's own canonical form.
    Longhaul,
    /// A pi session file. Import only.
    Pi,
    /// A tau2-bench simulation, or a tau-bench result with `traj`. Import only.
    Tau2,
    /// A SWE-agent trajectory. Import only.
    SweAgent,
    /// A QMSum meeting. Import only.
    Meeting,
    /// VCSum meeting segments, one a line. Import only.
    Vcsum,
}

/// Every format's name, for messages.
pub(crate) const NAMES: &str = "openai, responses, anthropic, claude-code, codex, gemini, chat, longhaul, pi, tau2, swe-agent, meeting, vcsum";

impl Format {
    /// Every format, those that can be written first.
    pub const ALL: [Format; 13] = [
        Format::OpenAi,
        Format::Responses,
        Format::Anthropic,
        Format::ClaudeCode,
        Format::Codex,
        Format::Gemini,
        Format::Chat,
        Format::Longhaul,
        Format::Pi,
        Format::Tau2,
        Format::SweAgent,
        Format::Meeting,
        Format::Vcsum,
    ];

    /// Returns the name that the command line and reports use.
    pub fn name(self) -> &'static str {
        match self {
            Format::OpenAi => "openai",
            Format::Responses => "responses",
            Format::Anthropic => "anthropic",
            Format::ClaudeCode => "claude-code",
            Format::Codex => "codex",
            Format::Gemini => "gemini",
            Format::Chat => "chat",
            Format::Longhaul => "longhaul",
            Format::Pi => "pi",
            Format::Tau2 => "tau2",
            Format::SweAgent => "swe-agent",
            Format::Meeting => "meeting",
            Format::Vcsum => "vcsum",
        }
    }

    /// Returns whether the format can be read but not written, other than unchanged.
    pub fn is_import_only(self) -> bool {
        matches!(self, Format::Pi | Format::Tau2 | Format::SweAgent | Format::Meeting | Format::Vcsum)
    }

    /// Returns the role under which a summary stands in a history of the format. It is the user's everywhere: a system
    /// message in mid-history is refused by some servers and moved to the top by others.
    pub fn summary_role(self) -> Role {
        Role::User
    }

    /// Returns whether a file of the format is one JSON value a line.
    pub fn is_lines(self) -> bool {
        matches!(self, Format::ClaudeCode | Format::Codex | Format::Pi | Format::Vcsum)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Format {
    type Err = WireError;

    fn from_str(name: &str) -> Result<Format, WireError> {
        let named = Format::ALL.into_iter().find(|format| format.name() == name);
        named.ok_or_else(|| WireError::UnknownFormat { name: name.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip_and_are_all_listed() {
        for format in Format::ALL {
            assert_eq!(format.name().parse::<Format>().unwrap(), format);
        }
        assert_eq!(Format::ALL.map(Format::name).join(", "), NAMES);
        assert!("OpenAI".parse::<Format>().is_err());
    }
}
