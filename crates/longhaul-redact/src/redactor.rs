//! The front: text in, text without secrets out.

use std::{
    borrow::Cow,
    fmt,
    sync::{Arc, LazyLock},
};

use longhaul_transcript::ContentHash;

use crate::{
    Finding, RedactError, Vault,
    asking::ANSWERS,
    json::{find, find_in_json, is_json},
    rules::RuleSet,
    settle,
    struck::{Struck, told},
};

/// Finds and replaces secrets. Cheap to make and to clone; rules are read and compiled when they are first needed.
#[derive(Clone)]
pub struct Redactor {
    /// `None` stands for the built-in rules.
    custom: Option<(Arc<RuleSet>, ContentHash)>,
}

impl Redactor {
    /// Returns a redactor with the built-in rules: gitleaks' and longhaul's own.
    pub fn builtin() -> Redactor {
        Redactor { custom: None }
    }

    /// Returns a redactor with the built-in rules and those of `toml` on top, in the shape of gitleaks' configuration.
    /// A rule with the id of a built-in one replaces the fields it names; `disabled = true` takes it out.
    ///
    /// # Errors
    /// When `toml` is not a rule file, or an expression in it does not compile. All expressions are compiled here,
    /// which takes about a second in a debug build.
    pub fn with_rules(toml: &str) -> Result<Redactor, RedactError> {
        let files: Vec<&str> = BUILTIN_RULES.iter().copied().chain([toml]).collect();
        let set = RuleSet::parse(&files)?;
        set.check()?;
        Ok(Redactor { custom: Some((Arc::new(set), fingerprint(&files))) })
    }

    /// Tells redactors with other rules apart, over processes and versions: what one of them let through another may find.
    pub fn fingerprint(&self) -> ContentHash {
        static BUILTIN: LazyLock<ContentHash> = LazyLock::new(|| fingerprint(BUILTIN_RULES));
        self.custom.as_ref().map_or_else(|| *BUILTIN, |(_, fingerprint)| *fingerprint)
    }

    /// Returns where the secrets of `text` are, in order, none overlapping another. Linear in the length of the text.
    pub fn find(&self, text: &str) -> Vec<Finding> {
        self.settled(text, |text| find(self.set(), text))
    }

    /// Returns `text` with placeholders for its secrets, and where they were in `text`. Borrows where there is none.
    pub fn redact_text<'a>(&self, text: &'a str) -> (Cow<'a, str>, Vec<Finding>) {
        self.redact_text_into(text, &mut Vault::new())
    }

    /// Does what [`redact_text`](Self::redact_text) does, with the numbers and the way back in `vault`.
    pub fn redact_text_into<'a>(&self, text: &'a str, vault: &mut Vault) -> (Cow<'a, str>, Vec<Finding>) {
        let mut findings = self.find(text);
        let clean = replace(text, &findings, vault);
        vault.name(text, &mut findings);
        (clean, findings)
    }

    /// Returns the JSON text `json` with placeholders inside its strings; it is valid JSON if it was before, and every
    /// byte outside the secrets is as it was. What is no JSON, such as arguments that a model left open, is searched as a text
    /// too.
    pub fn redact_json<'a>(&self, json: &'a str) -> (Cow<'a, str>, Vec<Finding>) {
        self.redact_json_into(json, &mut Vault::new())
    }

    /// Does what [`redact_json`](Self::redact_json) does, with the numbers and the way back in `vault`. A secret is
    /// remembered as it is written in the JSON text, escapes and all.
    pub fn redact_json_into<'a>(&self, json: &'a str, vault: &mut Vault) -> (Cow<'a, str>, Vec<Finding>) {
        let mut findings = self.find_in_json(json);
        let clean = replace(json, &findings, vault);
        vault.name(json, &mut findings);
        (clean, findings)
    }

    /// Returns how many rules there are.
    pub fn rule_count(&self) -> usize {
        self.set().rules.len()
    }

    /// Returns where the secrets of a JSON text are, or of what was meant to be one.
    pub(crate) fn find_in_json(&self, json: &str) -> Vec<Finding> {
        let is_json = is_json(json);
        self.settled(json, |json| find_in_json(self.set(), json, is_json))
    }

    fn settled(&self, text: &str, find: impl Fn(&str) -> Vec<Struck>) -> Vec<Finding> {
        let set = self.set();
        told(set, &settle::found(text, |struck| &set.rules[struck.rule()].id, find))
    }

    fn set(&self) -> &RuleSet {
        self.custom.as_ref().map_or(&BUILTIN, |(set, _)| set)
    }
}

impl Default for Redactor {
    fn default() -> Redactor {
        Redactor::builtin()
    }
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redactor").field("is_builtin", &self.custom.is_none()).finish_non_exhaustive()
    }
}

pub(crate) fn replace<'a>(text: &'a str, findings: &[Finding], vault: &mut Vault) -> Cow<'a, str> {
    if findings.is_empty() {
        return Cow::Borrowed(text);
    }
    // The numbers in placeholders have a few digits more.
    let spans = findings.iter().map(|found| (&*found.rule, found.span.clone()));
    let capacity = settle::length_without(text, spans) + findings.len();
    let (mut out, mut at) = (String::with_capacity(capacity), 0);
    for Finding { rule, span } in findings {
        out.push_str(&text[at..span.start]);
        out.push_str(vault.placeholder(rule, &text[span.clone()]));
        at = span.end;
    }
    out.push_str(&text[at..]);
    Cow::Owned(out)
}

fn fingerprint(files: &[&str]) -> ContentHash {
    ContentHash::of_fields(files.iter().chain([&ANSWERS]).map(|file| file.as_bytes()))
}

/// The built-in rule files, each able to change the rules of those before it.
pub(crate) const BUILTIN_RULES: &[&str] = &[
    include_str!("../rules/gitleaks.toml"),
    include_str!("../rules/longhaul.toml"),
    include_str!("../rules/uses.toml"),
    include_str!("../rules/stored.toml"),
];

static BUILTIN: LazyLock<RuleSet> =
    LazyLock::new(|| RuleSet::parse(BUILTIN_RULES).expect("a test parses the built-in rules"));
