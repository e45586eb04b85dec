//! Outlines of code, by the look of its lines.

use std::sync::OnceLock;

use super::{Language, Outline};
use crate::bytewise::Bytewise;

/// Lists the definitions and imports of code.
pub(crate) fn code(view: &[(u64, &str)], outline: &mut Outline) {
    let language = outline.language;
    let Some(rules) = Rules::of(language) else { return };
    let mut skip = Skip::default();
    let mut in_import_block = false;
    for &(number, line) in view {
        if skip.is_inside(line, language) {
            continue;
        }
        let body = line.trim();
        if body.is_empty() || body.starts_with("//") || line.len() > MAX_LINE_BYTES {
            continue;
        }
        if in_import_block {
            in_import_block = !body.starts_with(')');
            outline.import(body.split('"').nth(1).unwrap_or_default());
            continue;
        }
        if language == Language::Go && body == "import (" {
            in_import_block = true;
            continue;
        }
        if let Some(groups) = rules.import.groups(line) {
            let modules = groups.into_iter().flatten().next().unwrap_or_default();
            for module in modules.split(", ") {
                outline.import(module.split(" as ").next().unwrap_or(module).trim());
            }
            continue;
        }
        let Some(groups) = rules.define.groups(line) else { continue };
        let Some(name) = groups.into_iter().flatten().next() else { continue };
        let name = name.trim();
        if NOT_NAMES.contains(&name) {
            continue;
        }
        let exported = match language {
            Language::Go => name.starts_with(char::is_uppercase) && !body.starts_with("package"),
            Language::Rust => body.starts_with("pub "),
            _ => EXPORT_WORDS.iter().any(|word| body.starts_with(word)),
        };
        outline.define(number, line, name, exported);
    }
}

const EXPORT_WORDS: [&str; 4] = ["export ", "public ", "module.exports", "exports."];

/// Words that look like the name of a method before a bracket.
const NOT_NAMES: [&str; 16] = [
    "if", "for", "while", "switch", "catch", "return", "else", "do", "try", "function", "await", "new",
    "throw", "sizeof", "with", "super",
];

/// A longer line is generated code or data.
const MAX_LINE_BYTES: usize = 1_000;

/// Comments and strings of several lines.
#[derive(Default)]
struct Skip {
    until: Option<&'static str>,
}

impl Skip {
    fn is_inside(&mut self, line: &str, language: Language) -> bool {
        if let Some(end) = self.until {
            if line.contains(end) {
                self.until = None;
            }
            return true;
        }
        let body = line.trim_start();
        let opened = match language {
            Language::Python => ["\"\"\"", "'''"].into_iter().find(|quote| {
                let starts = body.trim_start_matches(['r', 'f', 'b', 'u']).starts_with(quote);
                starts && body.matches(quote).count() == 1
            }),
            Language::Ruby => body.starts_with("=begin").then_some("=end"),
            _ => (language.has_block_comments() && body.starts_with("/*") && !body.contains("*/"))
                .then_some("*/"),
        };
        self.until = opened;
        opened.is_some()
    }
}

struct Rules {
    import: Bytewise,
    define: Bytewise,
}

impl Rules {
    /// Returns the rules of a language; its patterns are compiled when they are first asked for, as most conversations are
    /// about one language and all of them take longer than a summary.
    fn of(language: Language) -> Option<&'static Rules> {
        static RULES: [OnceLock<Rules>; TABLE.len()] = [const { OnceLock::new() }; TABLE.len()];
        let at = TABLE.iter().position(|(known, ..)| *known == language)?;
        let (_, import, define) = TABLE[at];
        let compile = |pattern: &str| Bytewise::new(pattern).expect("the patterns below are tested");
        Some(RULES[at].get_or_init(|| Rules { import: compile(import), define: compile(define) }))
    }
}

/// For each language: the line that imports, with the module in a group; the line that defines, with the name in the
/// first group that matches.
const TABLE: &[(Language, &str, &str)] = &[
    (
        Language::Rust,
        r"^\s*(?:pub(?:\([a-z:]+\))? )?(?:use ([\w:]*\w)|extern crate (\w+))",
        r#"^\s*(?:pub(?:\([a-z: ]+\))? )?(?:(?:default |const |async |unsafe |extern (?:"\w+" )?)*fn (\w+)|(?:struct|enum|union|trait|mod|type|unsafe trait|const|static|static mut) (\w+)|(?:unsafe )?impl\b(?:<[^{]*?>)? ?([^{]+)|macro_rules! (\w+))"#,
    ),
    (
        Language::Python,
        r"^\s*(?:from (\.*[\w.]*) import|import ([\w.]+(?: as \w+)?(?:, [\w.]+)*))",
        r"^(?:\s*(?:async )?def (\w+)|\s*class (\w+)|([A-Z][A-Z0-9_]+)\s*(?::[^=]+)?=)",
    ),
    (Language::TypeScript, JS_IMPORT, JS_DEFINE),
    (Language::JavaScript, JS_IMPORT, JS_DEFINE),
    (
        Language::Go,
        r#"^import (?:\w+ )?"([^"]+)""#,
        r"^(?:package (\w+)|func (?:\([^)]*\) )?(\w+)|type (\w+)|(?:var|const) (\w+))",
    ),
    (
        Language::Java,
        r"^import (?:static )?([\w.]+\*?);",
        r"^\s*(?:package ([\w.]+);|(?:(?:public|private|protected|static|final|abstract|sealed|default|synchronized) )*(?:class|interface|enum|record|@interface) (\w+)|(?:(?:public|private|protected|static|final|abstract|synchronized|default|native) )+(?:<[^>]+> )?(?:[\w.<>\[\],? ]+ )?(\w+)\()",
    ),
    (Language::C, C_IMPORT, C_DEFINE),
    (Language::Cpp, C_IMPORT, C_DEFINE),
    (
        Language::Ruby,
        r#"^\s*require(?:_relative)? ['"]([^'"]+)['"]"#,
        r"^\s*(?:module ([\w:]+)|class ([\w:]+)|def ([\w.?!=]+)|(?:describe|context|it) (.+?) do)",
    ),
    (
        Language::Php,
        r#"^\s*(?:use ([\w\\]+)|(?:require|include)(?:_once)?\s*\(?['"]([^'"]+)['"])"#,
        r"^\s*(?:namespace ([\w\\]+)|(?:(?:abstract|final|readonly) )*(?:class|interface|trait|enum) (\w+)|(?:(?:public|private|protected|static|final|abstract) )*function &?(\w+))",
    ),
    (
        Language::Shell,
        r"^\s*(?:source|\.) ([^\s;]+)",
        r"^(?:\s*([\w:-]+)\s*\(\)|\s*function ([\w:-]+)|(?:export |readonly )?([A-Z][A-Z0-9_]+)=)",
    ),
    (
        Language::Sql,
        r"^\\i (\S+)",
        r#"(?i)^\s*(?:create (?:or replace )?(?:temp(?:orary)? |unlogged |unique |materialized )*(?:table|view|index|function|procedure|trigger|type|schema|sequence|extension|policy|database|role|user)(?: concurrently)?(?: if not exists)? ([\w."]+)|alter table(?: if exists| only)* ([\w."]+)|drop \w+(?: if exists)? ([\w."]+))"#,
    ),
    (
        Language::Other,
        r"^\s*(?:import|using|#include|require|use) ([\w./:<>]+)",
        r"^\s*(?:(?:pub|public|private|protected|internal|export|static|abstract|final|open|override|async|suspend|data|sealed|partial|virtual) )*(?:fn|fun|func|def|defp|defmodule|function|class|struct|interface|trait|enum|object|protocol|extension|module|namespace|record|type) ([\w.]+)",
    ),
];

const JS_IMPORT: &str = r#"^\s*(?:(?:import|export)\b[^'"]*\bfrom ['"]([^'"]+)['"]|import ['"]([^'"]+)['"]|(?:const|let|var) [^=]+= require\(['"]([^'"]+)['"]|\} from ['"]([^'"]+)['"])"#;
const JS_DEFINE: &str = r#"^(?:\s*(?:export (?:default )?)?(?:declare )?(?:abstract )?(?:(?:async )?function\*? ?([\w$]*)|(?:class|interface|enum|namespace) ([\w$]+)|type ([\w$]+)\b[^'"]*=)|(?:export )?(?:const|let|var) ([\w$]+)|(?:module\.)?exports\.?([\w$]*) =|\s+(?:(?:public|private|protected|static|async|override|readonly|get|set) )*([\w$#]+)(?:<[^>]*>)?\([^;]*\)[^;=]*\{$|\s*(?:describe|it|test)\(\s*['"`]([^'"`]+))"#;
const C_IMPORT: &str = r#"^\s*#\s*include\s*[<"]([^>"]+)[>"]"#;
const C_DEFINE: &str = r"^(?:\s*#\s*define (\w+)|\s*namespace ([\w:]+)|\s*(?:typedef )?(?:struct|class|union|enum(?: class)?) (\w+)[^;()]*$|(?:[A-Za-z_][\w:<>,*&\[\] ]*[ *&])([\w:~]+(?:operator\S+)?)\([^;]*$)";
