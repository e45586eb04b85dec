//! What several targets read from their input.

use longhaul_wire::Format;

/// The formats that a first byte tells; `xtask/src/fuzz.rs` seeds in the same order.
pub const FORMATS: [Format; 8] = [
    Format::OpenAi,
    Format::Anthropic,
    Format::Responses,
    Format::Gemini,
    Format::ClaudeCode,
    Format::Codex,
    Format::Chat,
    Format::Longhaul,
];

/// Returns the format that the first byte of an input tells, and the rest of it.
pub fn told(bytes: &[u8]) -> Option<(Format, &[u8])> {
    let (first, rest) = bytes.split_first()?;
    Some((FORMATS[usize::from(*first) % FORMATS.len()], rest))
}
