//! Rare literals in text: paths, symbols, ids, numbers, addresses, flags.
//!
//! An *atom* is a literal that cannot be guessed: whoever needs it again must have seen it. What counts as one follows
//! the measure of future-reference recall (`docs/recall.md`), so that what the index calls a fact is what the measure
//! asks for. The scanner is written by hand: one pass, no backtracking, linear on any input.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

mod path;
mod scan;
mod words;

pub use scan::scan;
pub use words::scan_words;

/// A literal found in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Atom<'t> {
    /// The literal. Paths have forward slashes, no leading `./` and no trailing punctuation; addresses no trailing
    /// punctuation; everything else is as it stands.
    pub text: Cow<'t, str>,
    /// What it looks like.
    pub kind: AtomKind,
    /// Byte offset of its first byte.
    pub at: usize,
}

/// What a literal looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AtomKind {
    /// `https://example.org/x`.
    Url,
    /// A UUID.
    Uuid,
    /// `src/main.rs`, `/etc/hosts`, `C:\dir\file`.
    Path,
    /// `main.rs`: a name with a known extension.
    File,
    /// `2026-11-21`, with or without a time.
    Date,
    /// `--offline`.
    Flag,
    /// `ABC-123`, `#123`.
    Ticket,
    /// Seven to 64 hexadecimal digits, letters and digits mixed: a commit.
    Hex,
    /// `self.limit`, `std::fmt`, `a->b`.
    Dotted,
    /// `snake_case`.
    Snake,
    /// `camelCase`, `PascalCase`.
    Camel,
    /// Four to twelve capitals and digits mixed: `E0308`.
    Code,
    /// `three-part-names`.
    Kebab,
    /// Three digits or more, decimals, prices, versions, times of day.
    Number,
    /// A capitalised name inside a sentence. Only in conversations without tools.
    Name,
    /// A lower-case word of six letters or more. Only in conversations without tools.
    Word,
}

/// What kind of thing a literal names; coarser than [`AtomKind`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum FactClass {
    /// A file or a directory.
    Path,
    /// A name out of code or configuration.
    Symbol,
    /// An identifier: a record's id, a commit, a ticket, an error code.
    Id,
    /// A number, a date, a time, a price, a version.
    Number,
    /// A command-line flag.
    Flag,
    /// An address on the web.
    Url,
    /// A proper name.
    Name,
    /// A telling word.
    Word,
}

impl AtomKind {
    /// Returns the class of things this kind of literal names.
    pub fn class(self) -> FactClass {
        match self {
            AtomKind::Url => FactClass::Url,
            AtomKind::Path | AtomKind::File => FactClass::Path,
            AtomKind::Uuid | AtomKind::Ticket | AtomKind::Hex | AtomKind::Code => FactClass::Id,
            AtomKind::Date | AtomKind::Number => FactClass::Number,
            AtomKind::Flag => FactClass::Flag,
            AtomKind::Dotted | AtomKind::Snake | AtomKind::Camel | AtomKind::Kebab => FactClass::Symbol,
            AtomKind::Name => FactClass::Name,
            AtomKind::Word => FactClass::Word,
        }
    }

    /// Returns whether this is a file or directory by its look.
    pub fn is_path(self) -> bool {
        matches!(self, AtomKind::Path | AtomKind::File)
    }
}

impl FactClass {
    /// Returns the name used in reports and survival tables, in the plural: `paths`, `symbols`, `ids`.
    pub fn as_str(self) -> &'static str {
        match self {
            FactClass::Path => "paths",
            FactClass::Symbol => "symbols",
            FactClass::Id => "ids",
            FactClass::Number => "numbers",
            FactClass::Flag => "flags",
            FactClass::Url => "urls",
            FactClass::Name => "names",
            FactClass::Word => "words",
        }
    }
}

/// Calls `each` with everything that a literal makes known: itself, the suffixes of a path, the last part of a dotted
/// name. A text that shows `/src/a/b.rs` also shows `a/b.rs` and `b.rs`.
pub fn expand<'t>(text: &'t str, kind: AtomKind, mut each: impl FnMut(&'t str)) {
    each(text);
    match kind {
        AtomKind::Path | AtomKind::File => {
            let mut rest = text.trim_matches('/');
            if rest != text {
                each(rest);
            }
            while let Some((_, after)) = rest.split_once('/') {
                rest = after;
                each(rest);
            }
        }
        AtomKind::Dotted => {
            let last = last_part(text);
            if last.len() != text.len() && last.chars().nth(4).is_some() {
                each(last);
            }
        }
        _ => {}
    }
}

/// Returns the last part of a dotted name: `c` of `a.b::c`.
fn last_part(dotted: &str) -> &str {
    dotted.rsplit(['.', ':', '>']).next().unwrap_or(dotted)
}

/// Returns whether `extension` (without the dot, in the case of the text) is one that names a kind of file.
pub fn is_known_extension(extension: &str) -> bool {
    let bytes = extension.as_bytes();
    bytes.len() < size_of::<u64>() && KNOWN.binary_search(&packed(bytes)).is_ok()
}

/// The bytes of a short word, and how many they are, as one number: numbers are in the order of the words.
const fn packed(word: &[u8]) -> u64 {
    let (mut number, mut at) = (0, 0);
    while at < size_of::<u64>() - 1 {
        number = number << 8 | if at < word.len() { word[at] as u64 } else { 0 };
        at += 1;
    }
    number << 8 | word.len() as u64
}

/// The same as [`EXTENSIONS`], each as a number.
const KNOWN: [u64; EXTENSIONS.len()] = {
    let (mut known, mut at) = ([0; EXTENSIONS.len()], 0);
    while at < known.len() {
        known[at] = packed(EXTENSIONS[at].as_bytes());
        at += 1;
    }
    known
};

/// Extensions that make a word a file name, sorted. The list is that of the recall measure (`recallbench/atoms.py`,
/// 2026-11-21): the languages, documents and build files seen in the recorded sessions.
const EXTENSIONS: &[&str] = &[
    "bash", "c", "cc", "cfg", "cjs", "cpp", "cs", "css", "csv", "dart", "diff", "dll", "env", "ex", "exe",
    "exs", "fish", "gif", "go", "gradle", "h", "hpp", "html", "ini", "ipynb", "java", "jpg", "js", "json",
    "jsonl", "jsx", "kt", "lock", "log", "lua", "md", "mdx", "mjs", "mod", "nu", "omp", "patch", "pdf",
    "php", "png", "proto", "ps1", "py", "rb", "rs", "scss", "sh", "so", "sql", "sum", "svelte", "svg",
    "swift", "tf", "toml", "traj", "ts", "tsv", "tsx", "txt", "vue", "wasm", "xml", "yaml", "yml", "zig",
    "zsh",
];

/// Returns the length of the word character at `at`: a letter, a digit of any script or an underscore.
fn word_char(text: &str, at: usize) -> Option<usize> {
    let byte = *text.as_bytes().get(at)?;
    if byte < 0x80 {
        return (byte.is_ascii_alphanumeric() || byte == b'_').then_some(1);
    }
    let c = text.get(at..)?.chars().next()?;
    c.is_alphanumeric().then_some(c.len_utf8())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extensions_are_sorted_so_that_they_can_be_searched() {
        assert!(EXTENSIONS.is_sorted());
    }

    #[test]
    fn a_path_makes_its_suffixes_known() {
        let mut known = Vec::new();
        expand("/src/a/b.rs", AtomKind::Path, |text| known.push(text));
        assert_eq!(known, ["/src/a/b.rs", "src/a/b.rs", "a/b.rs", "b.rs"]);
        known.clear();
        expand("config::Limits.tokens", AtomKind::Dotted, |text| known.push(text));
        assert_eq!(known, ["config::Limits.tokens", "tokens"]);
    }
}
