//! Which language a file is in.

use serde::{Deserialize, Serialize};

/// A language that [`outline`](crate::outline) can read, or [`Other`](Language::Other).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
#[allow(missing_docs, reason = "the variants are the names of languages")]
pub enum Language {
    Rust,
    Python,
    TypeScript,
    JavaScript,
    Go,
    Java,
    C,
    Cpp,
    Ruby,
    Php,
    Shell,
    Sql,
    Markdown,
    Json,
    Yaml,
    Toml,
    /// Kotlin, Swift, C#, Scala and others that define with `fun`, `func`, `class`: read by the common words.
    Other,
}

impl Language {
    /// Returns the language of a file by its name, else by its first lines.
    pub(crate) fn of<'a>(path: &str, mut head: impl Iterator<Item = &'a str>) -> Language {
        let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
        let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension).to_ascii_lowercase();
        match extension.as_str() {
            "rs" => Language::Rust,
            "py" | "pyi" | "pyx" => Language::Python,
            "ts" | "tsx" | "mts" | "cts" | "vue" | "svelte" => Language::TypeScript,
            "js" | "jsx" | "mjs" | "cjs" => Language::JavaScript,
            "go" => Language::Go,
            "java" => Language::Java,
            "c" | "h" => Language::C,
            "cc" | "cpp" | "cxx" | "hpp" | "hh" | "hxx" | "cu" => Language::Cpp,
            "rb" | "rake" | "gemspec" => Language::Ruby,
            "php" => Language::Php,
            "sh" | "bash" | "zsh" | "ksh" => Language::Shell,
            "sql" | "psql" | "ddl" => Language::Sql,
            "md" | "mdx" | "markdown" => Language::Markdown,
            "json" | "jsonc" | "json5" | "ipynb" => Language::Json,
            "yaml" | "yml" => Language::Yaml,
            "toml" => Language::Toml,
            _ => head
                .find_map(|line| {
                    let line = line.trim_start();
                    Some(match () {
                        () if line.starts_with("#!") && line.contains("python") => Language::Python,
                        () if line.starts_with("#!") && line.contains("node") => Language::JavaScript,
                        () if line.starts_with("#!") && line.contains("ruby") => Language::Ruby,
                        () if line.starts_with("#!") && line.contains("sh") => Language::Shell,
                        () if line.starts_with("<?php") => Language::Php,
                        () if line.starts_with("package ") && !line.ends_with(';') => Language::Go,
                        () if line.starts_with("package ") => Language::Java,
                        () if line.starts_with("use ") && line.contains("::") => Language::Rust,
                        () if line.starts_with("fn ") || line.starts_with("pub fn ") => Language::Rust,
                        () if line.starts_with("#include ") => Language::C,
                        () if line.starts_with("from ") && line.contains(" import ") => Language::Python,
                        () if line.starts_with("import ") && line.contains(" from ") => Language::TypeScript,
                        () if line.starts_with("def ") && line.ends_with(':') => Language::Python,
                        () => return None,
                    })
                })
                .unwrap_or(Language::Other),
        }
    }

    /// Returns whether `/* … */` is a comment.
    pub(crate) fn has_block_comments(self) -> bool {
        !matches!(
            self,
            Language::Python
                | Language::Ruby
                | Language::Shell
                | Language::Markdown
                | Language::Yaml
                | Language::Toml
        )
    }
}
