//! Outlines of files: language, imports, and the lines that define something.

mod data;
mod language;
mod rules;

pub use language::Language;

use crate::digest::{is_numbered, strip_line_number};

/// What a file defines, by line.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Outline {
    /// The language, told from the path, else from the text.
    pub language: Language,
    /// Number of lines of the text.
    pub lines: usize,
    /// The number of the first line, where the text is a view with numbers.
    pub first_line: Option<u64>,
    /// The number of the last line, where the text is a view with numbers.
    pub last_line: Option<u64>,
    /// The modules, packages or files it imports, once each, in order.
    pub imports: Vec<String>,
    /// What it defines, in order.
    pub definitions: Vec<Definition>,
}

/// One line that defines something: a function, a type, a section, a table, a top-level key.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Definition {
    /// The line's number in the file: that of the view where the text carries numbers, else counted from 1.
    pub line: u64,
    /// The line without its indentation and its opening bracket.
    pub text: String,
    /// The name it defines.
    pub name: String,
    /// Whether it can be seen from outside, as far as the line says so (`pub`, `export`, a capital in Go).
    pub exported: bool,
    /// The line's indentation in columns, a tab being four.
    pub indent: usize,
}

/// Reads a file or a part of one. Line numbers that a file view puts before each line are understood and taken off.
///
/// Linear in the text, at most 5,000 definitions and as many imports. Works by the look of single lines:
/// code inside a string or a macro can be taken for a definition.
///
/// ```
/// use longhaul_extract::{Language, outline};
///
/// let outline = outline("src/lib.rs", "use std::fmt;\n\npub struct Point {\n    x: i32,\n}\n");
/// assert_eq!(outline.language, Language::Rust);
/// assert_eq!(outline.imports, ["std::fmt"]);
/// assert_eq!((outline.definitions[0].line, outline.definitions[0].text.as_str()), (3, "pub struct Point"));
/// ```
pub fn outline(path: &str, text: &str) -> Outline {
    let mut view: Vec<(u64, &str)> = Vec::new();
    let head: Vec<&str> = text.lines().take(80).collect();
    let numbered = is_numbered(&head, true);
    for (at, line) in text.lines().enumerate() {
        match strip_line_number(line).filter(|_| numbered) {
            Some((number, body)) => view.push((number, body)),
            // A line that the view's numbers skip is the harness's own.
            None if numbered => {}
            None => view.push((at as u64 + 1, line)),
        }
    }
    let language = Language::of(path, view.iter().take(30).map(|&(_, line)| line));
    let mut outline = Outline {
        language,
        lines: view.len(),
        first_line: view.first().map(|line| line.0).filter(|_| numbered),
        last_line: view.last().map(|line| line.0).filter(|_| numbered),
        imports: Vec::new(),
        definitions: Vec::new(),
    };
    match language {
        Language::Json => data::json(&view, &mut outline),
        Language::Yaml | Language::Toml | Language::Markdown => data::sections(&view, &mut outline),
        _ => rules::code(&view, &mut outline),
    }
    outline
}

/// No outline lists more than this.
const MAX_DEFINITIONS: usize = 5_000;

impl Outline {
    fn define(&mut self, line: u64, text: &str, name: &str, exported: bool) {
        if self.definitions.len() >= MAX_DEFINITIONS || name.is_empty() {
            return;
        }
        let indent =
            text.chars().take_while(|c| c.is_whitespace()).map(|c| if c == '\t' { 4 } else { 1 }).sum();
        let shown = text.trim().trim_end_matches(['{', ':']).trim_end();
        let text = crate::digest::clip(shown, MAX_TEXT_BYTES);
        self.definitions.push(Definition { line, text, name: name.to_owned(), exported, indent });
    }

    fn import(&mut self, module: &str) {
        // The list is short in real files; the look-back is bounded so that a hostile one stays linear.
        let known = self.imports.iter().rev().take(64).any(|import| import == module);
        if !module.is_empty() && !known && self.imports.len() < MAX_DEFINITIONS {
            self.imports.push(crate::digest::clip(module, MAX_TEXT_BYTES));
        }
    }
}

const MAX_TEXT_BYTES: usize = 200;

#[cfg(test)]
mod tests {
    use super::*;

    /// Shows an outline as `imports / line name`.
    fn show(path: &str, text: &str) -> String {
        let outline = outline(path, text);
        let names: Vec<String> = outline
            .definitions
            .iter()
            .map(|d| format!("{}{}{}", d.line, if d.exported { "+" } else { " " }, d.name))
            .collect();
        format!("{:?} [{}] {}", outline.language, outline.imports.join(" "), names.join(", "))
    }

    #[test]
    fn every_language_has_its_outline() {
        for (path, text, expected) in [
            (
                "a.rs",
                "use std::{fmt,\n    io};\npub(crate) async fn go<T>() {}\nimpl<T> Foo for Bar<T> {\n    pub fn m(&self) {}\n}\nmacro_rules! mac {\nconst X: u8 = 1;",
                "Rust [std] 3 go, 4 Foo for Bar<T>, 5+m, 7 mac, 8 X",
            ),
            (
                "a.py",
                "import os, sys\nfrom .util import x\n\"\"\"\ndef not_this():\n\"\"\"\nclass A(B):\n    async def m(self):\nLIMIT = 3\n",
                "Python [os sys .util] 6 A, 7 m, 8 LIMIT",
            ),
            (
                "a.tsx",
                "import { a } from './a';\nconst b = require('b');\nexport default async function f() {}\nexport const g = (x: number) => x;\ninterface I {}\nexport class C {\n  private async m(a: string): Promise<void> {\n    if (a) {\n",
                "TypeScript [./a b] 3+f, 4+g, 5 I, 6+C, 7 m",
            ),
            (
                "a.go",
                "package p\nimport (\n\t\"fmt\"\n\tx \"a/b\"\n)\ntype T struct {\nfunc (t *T) Run(a int) error {\nfunc help() {\n",
                "Go [fmt a/b] 1 p, 6+T, 7+Run, 8 help",
            ),
            (
                "A.java",
                "package a.b;\nimport java.util.List;\npublic class A extends B {\n    private static int m(int a) {\n        return call(a);\n",
                "Java [java.util.List] 1 a.b, 3+A, 4 m",
            ),
            (
                "a.c",
                "#include <stdio.h>\n#define N 3\n/*\nint no(void) {\n*/\nstatic int add(int a, int b)\n{\n    return a + b;\n}\nstruct point {\nint proto(void);\n",
                "C [stdio.h] 2 N, 6 add, 10 point",
            ),
            (
                "a.cpp",
                "namespace n {\nclass K : public J {\ntemplate <class T>\nvoid K::run(T t) {\n",
                "Cpp [] 1 n, 2 K, 4 K::run",
            ),
            (
                "a.rb",
                "require 'json'\nmodule M\n  class K < J\n    def self.run(x)\n",
                "Ruby [json] 2 M, 3 K, 4 self.run",
            ),
            (
                "a.php",
                "<?php\nnamespace A\\B;\nuse C\\D;\nfinal class K {\n    public static function run($x) {\n",
                "Php [C\\D] 2 A\\B, 4 K, 5+run",
            ),
            (
                "a.sh",
                "#!/bin/sh\nsource lib.sh\nbuild() {\nfunction test_all {\n",
                "Shell [lib.sh] 3 build, 4 test_all",
            ),
            (
                "a.sql",
                "CREATE TABLE IF NOT EXISTS users (\n  id int\n);\ncreate unique index i on users(id);\nALTER TABLE users ADD x int;\n",
                "Sql [] 1 users, 4 i, 5 users",
            ),
            ("a.md", "# Title\n```sh\n# not this\n```\n## Part two\n", "Markdown [] 1 Title, 5 Part two"),
            (
                "a.json",
                "{\n  \"name\": \"x\",\n  \"scripts\": {\n    \"test\": \"y\"\n  }\n}\n",
                "Json [] 2 name, 3 scripts, 4 scripts.test",
            ),
            ("a.yaml", "version: 1\njobs:\n  build:\n    steps: []\n", "Yaml [] 1 version, 2 jobs, 3 build"),
            ("a.toml", "[package]\nname = \"x\"\n[[bin]]\n", "Toml [] 1 package, 2 name, 3 bin"),
        ] {
            assert_eq!(show(path, text), expected);
        }
    }

    #[test]
    fn numbers_of_a_view_are_the_line_numbers() {
        let view = "    40→fn a() {\n    41→}\n    42→\n    43→fn b() {\n\n<system-reminder>\nfn no() {\n</system-reminder>";
        assert_eq!(show("x.rs", view), "Rust [] 40 a, 43 b");
        assert_eq!(outline("x.rs", view).lines, 4);
    }

    #[test]
    fn the_language_shows_in_the_text_where_the_path_does_not() {
        for (text, language) in [
            ("#!/usr/bin/env python3\nprint(1)", Language::Python),
            ("#!/bin/bash\necho", Language::Shell),
            ("<?php\n", Language::Php),
            ("package main\n\nfunc main() {}", Language::Go),
            ("plain words", Language::Other),
        ] {
            assert_eq!(outline("unknown", text).language, language, "{text}");
        }
    }
}
