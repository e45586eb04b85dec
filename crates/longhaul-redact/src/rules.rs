//! Rules as data: what a rule file says, and the form in which a text is searched.

use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock},
};

use aho_corasick::AhoCorasick;
use regex::bytes::{RegexSet, RegexSetBuilder};
use regex_automata::meta::Regex;
use regex_syntax::hir::{Hir, literal::Extractor};
use serde::Deserialize;

use crate::{RedactError, keywords::Keywords, values::NoValues};

/// All rules, with one finder for the key words of all of them.
#[derive(Debug)]
pub(crate) struct RuleSet {
    pub(crate) rules: Vec<Rule>,
    /// Finds every key word in one pass; word `i` belongs to the rules `owners[i]`.
    pub(crate) keywords: Keywords,
    pub(crate) owners: Vec<Vec<usize>>,
    /// What is no secret whichever rule found it.
    pub(crate) allow: Allowlist,
    /// What is no password, although a label says so.
    pub(crate) no_values: NoValues,
}

/// One rule. Its expression is compiled when one of its key words first turns up: all of them at once would take
/// longer than most programs run.
#[derive(Debug)]
pub(crate) struct Rule {
    pub(crate) id: Arc<str>,
    source: String,
    compiled: OnceLock<Option<Compiled>>,
    /// Least entropy of the secret, in bits a byte.
    pub(crate) entropy: f64,
    /// The group that is the secret; 0 means the first group that took part.
    pub(crate) secret_group: usize,
    pub(crate) allow: Vec<Allowlist>,
    /// The expression is `<name with a key word> <assignment> <value>`; a text without the assignment is not searched.
    pub(crate) is_assignment: bool,
    /// One of these stands in every match; where none does, a window is not searched.
    beside: Vec<String>,
    beside_finder: OnceLock<Option<AhoCorasick>>,
    /// Knows a secret only by the name beside it, so that a hash or an id needs a clearer name than others.
    pub(crate) is_generic: bool,
    /// Takes any word behind a label for a password, so that some words have to be none.
    pub(crate) is_labelled: bool,
    /// Takes drawn values only: the label says little, or stands in a sentence or in a table.
    pub(crate) is_of_drawn: bool,
    /// The value ends the match, with at most one byte behind it, so that what was struck before is not looked at again.
    is_last: bool,
    /// Takes what a password of several pieces is, of all that stands behind a label.
    pub(crate) is_of_pieces: bool,
    /// Knows a token by its beginning, which may stand behind `_`, where names of programs have words too.
    pub(crate) is_token: bool,
    /// The secret is in the lines beside the match.
    pub(crate) lines: Option<Side>,
    /// The match is the head of something with several secrets in it.
    pub(crate) shape: Option<Shape>,
}

/// Where the lines of a key are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Side {
    /// Before its last line.
    Before,
    /// Behind its first line.
    After,
    /// Between its ends, both of which are in the match.
    Between,
}

/// What names several values that stand apart from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Shape {
    /// The first line of a table, for the cells below it.
    Table,
    /// The head of rows of a name and a value, for the values whose name is a secret's.
    Rows,
    /// A cell in the first row of a table of HTML, for the cells below it.
    Html,
    /// What opens a list, for its items.
    List,
    /// What names users and their passwords, for the passwords of pairs.
    Pairs,
    /// The beginning of an `INSERT`, up to the names of its columns.
    Insert,
    /// The kind of a Kubernetes secret, for its data.
    Manifest,
    /// The kind of a JSON web key, for its private members.
    WebKey,
    /// The field of an object that names a secret, or what opens such an object, for its value.
    Object,
    /// A name and what opens or assigns its value, for that value where a generator made it.
    Generated,
}

#[derive(Debug)]
pub(crate) struct Compiled {
    pub(crate) regex: Regex,
    /// How far a match can reach beside its key word, in bytes.
    pub(crate) reach: usize,
    /// Whether `reach` is a bound of the expression, not a cap of ours.
    pub(crate) is_bounded: bool,
}

/// What looks like a secret and is none.
#[derive(Debug, Default)]
pub(crate) struct Allowlist {
    sources: Vec<String>,
    /// All of them in one, so that a value is read once.
    regexes: OnceLock<Option<RegexSet>>,
    stopwords: Vec<String>,
    automaton: OnceLock<Option<AhoCorasick>>,
    target: Target,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Target {
    #[default]
    Secret,
    Match,
    Line,
    /// The line, up to the quotes around the match: in JSON a whole history is one line.
    Phrase,
}

/// What a match is judged by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate<'a> {
    pub(crate) secret: &'a [u8],
    pub(crate) whole: &'a [u8],
    pub(crate) line: &'a [u8],
    pub(crate) phrase: &'a [u8],
    /// The secret is drawn, so that words in it are chance.
    pub(crate) is_random: bool,
}

impl RuleSet {
    /// Returns the rules of `files`, where a later rule with an earlier id replaces the fields it names.
    ///
    /// # Errors
    /// When a file is not a rule file.
    pub(crate) fn parse(files: &[&str]) -> Result<RuleSet, RedactError> {
        let mut raw: Vec<RawRule> = Vec::new();
        let (mut allow, mut no_values) = (RawAllowlist::default(), NoValues::default());
        let mut names = Names::default();
        for file in files {
            let file: RawFile =
                toml::from_str(file).map_err(|error| RedactError::RuleFile { reason: error.to_string() })?;
            names.extend(file.names);
            allow.regexes.extend(file.allowlist.regexes);
            allow.stopwords.extend(file.allowlist.stopwords);
            no_values.extend(file.no_values.iter().flat_map(|words| words.split_whitespace()));
            no_values.extend_public(file.public_names.iter().flat_map(|words| words.split_whitespace()));
            no_values.extend_labels(file.labels.iter().flat_map(|words| words.split_whitespace()));
            let written = file.rules.into_iter().map(|rule| rule.with_names(&names));
            let tokens = file.tokens.into_iter().map(RawRule::of_token);
            for rule in written.chain(tokens).chain(file.options.into_iter().map(RawRule::of_option)) {
                match raw.iter_mut().find(|known| known.id == rule.id) {
                    Some(known) => known.amend(rule),
                    None => raw.push(rule),
                }
            }
        }
        raw.retain(|rule| !rule.disabled && rule.regex.is_some() && !rule.keywords.is_empty());
        let (mut words, mut owners): (Vec<String>, Vec<Vec<usize>>) = (Vec::new(), Vec::new());
        for (index, rule) in raw.iter().enumerate() {
            for word in &rule.keywords {
                match words.iter().position(|known| known == word) {
                    Some(at) => owners[at].push(index),
                    None => {
                        words.push(word.clone());
                        owners.push(vec![index]);
                    }
                }
            }
        }
        let keywords =
            Keywords::new(&words).map_err(|error| RedactError::RuleFile { reason: error.to_string() })?;
        let rules = raw.into_iter().map(Rule::from).collect();
        Ok(RuleSet { rules, keywords, owners, allow: Allowlist::from(allow), no_values })
    }

    /// Compiles every expression.
    ///
    /// # Errors
    /// When one is not valid; the first is named.
    pub(crate) fn check(&self) -> Result<(), RedactError> {
        let refused = |rule: &str, reason| RedactError::Expression { rule: rule.to_owned(), reason };
        for rule in &self.rules {
            compile(&rule.source).map_err(|reason| refused(&rule.id, reason))?;
        }
        let lists = self.rules.iter().flat_map(|rule| &rule.allow).chain([&self.allow]);
        for list in lists {
            list.compiled().map_err(|error| refused("allowlist", error.to_string()))?;
        }
        Ok(())
    }
}

impl Rule {
    /// Returns the compiled expression; `None` where it is not valid, which [`RuleSet::check`] reports.
    pub(crate) fn compiled(&self) -> Option<&Compiled> {
        self.compiled.get_or_init(|| compile(&self.source).ok()).as_ref()
    }

    /// Returns whether the value ends the match.
    pub(crate) fn is_of_last(&self) -> bool {
        self.is_of_drawn || self.is_last
    }

    /// Returns whether a match may stand in `window`, which has a key word.
    pub(crate) fn may_match(&self, window: &[u8]) -> bool {
        let finder = self.beside_finder.get_or_init(|| any_of(&self.beside));
        finder.as_ref().is_none_or(|words| words.is_match(window))
    }
}

impl Allowlist {
    /// Returns whether `candidate` is no secret.
    pub(crate) fn allows(&self, candidate: Candidate<'_>) -> bool {
        let target = match self.target {
            Target::Secret => candidate.secret,
            Target::Match => candidate.whole,
            Target::Line => candidate.line,
            Target::Phrase => candidate.phrase,
        };
        // What a drawn value looks like is chance, too; what stands around it is none.
        if candidate.is_random && matches!(self.target, Target::Secret) {
            return false;
        }
        let regexes = self.regexes.get_or_init(|| self.compiled().ok());
        if regexes.as_ref().is_some_and(|regexes| regexes.is_match(target)) {
            return true;
        }
        if candidate.is_random {
            return false;
        }
        let automaton = self.automaton.get_or_init(|| any_of(&self.stopwords));
        automaton.as_ref().is_some_and(|words| words.is_match(candidate.secret))
    }

    /// Returns the expressions as one, each with flags of its own.
    fn compiled(&self) -> Result<RegexSet, regex::Error> {
        let sources = self.sources.iter().map(|source| escape_literal_braces(source));
        RegexSetBuilder::new(sources).unicode(false).size_limit(SIZE_LIMIT).build()
    }
}

/// A rule file, in the shape of gitleaks' configuration; what only concerns files and commits is ignored.
#[derive(Debug, Deserialize)]
struct RawFile {
    #[serde(default)]
    allowlist: RawAllowlist,
    #[serde(default)]
    rules: Vec<RawRule>,
    /// The expressions of whole tokens, by the id of their rule.
    #[serde(default)]
    tokens: BTreeMap<String, String>,
    /// What a password follows in a command, by the id of its rule.
    #[serde(default)]
    options: BTreeMap<String, RawOption>,
    /// Words that are no passwords, separated by spaces.
    #[serde(default)]
    no_values: Vec<String>,
    /// What a password is called, separated by spaces.
    #[serde(default)]
    labels: Vec<String>,
    /// Names whose value is no secret, separated by spaces.
    #[serde(default)]
    public_names: Vec<String>,
    /// What expressions and key words of this file and later ones have in the place of `{{list}}`.
    #[serde(default)]
    names: BTreeMap<String, Vec<String>>,
}

/// An option that a password follows.
#[derive(Debug, Deserialize)]
struct RawOption {
    /// The programs that have it, each with its command where only that does.
    programs: Vec<String>,
    /// What stands between a blank and the password, as an expression.
    option: String,
}

#[derive(Debug, Default, Deserialize)]
struct RawRule {
    id: String,
    regex: Option<String>,
    entropy: Option<f64>,
    #[serde(rename = "secretGroup")]
    secret_group: Option<usize>,
    #[serde(default)]
    keywords: Vec<String>,
    #[serde(default)]
    allowlists: Vec<RawAllowlist>,
    #[serde(default)]
    disabled: bool,
    #[serde(default)]
    generic: bool,
    #[serde(default)]
    assignment: bool,
    #[serde(default)]
    beside: Vec<String>,
    #[serde(default)]
    labelled: bool,
    #[serde(default)]
    drawn: bool,
    #[serde(default)]
    last: bool,
    #[serde(default)]
    pieces: bool,
    lines: Option<Side>,
    shape: Option<Shape>,
}

#[derive(Debug, Default, Deserialize)]
struct RawAllowlist {
    #[serde(default)]
    regexes: Vec<String>,
    #[serde(default)]
    stopwords: Vec<String>,
    #[serde(default)]
    condition: String,
    #[serde(default, rename = "regexTarget")]
    target: Target,
}

impl RawRule {
    /// Returns the rule of a line of the table of tokens. Its key words are all the ways in which a token may begin.
    fn of_token((id, token): (String, String)) -> RawRule {
        let keywords = beginnings(&token);
        let regex = Some(format!(r"\b({token})"));
        RawRule { id, regex, entropy: Some(TOKEN_ENTROPY), keywords, ..RawRule::default() }
    }

    /// Returns the rule of a line of the table of options.
    fn of_option((id, RawOption { programs, option }): (String, RawOption)) -> RawRule {
        let programs = programs.join("|").replace(' ', r"[ \t]{1,3}");
        let regex = format!(r#"\b(?i:{programs})\b{BETWEEN_WORDS}[ \t]["']?(?:{option}){OPTION_VALUE}"#);
        let keywords = beginnings(&programs);
        let placeholder =
            RawAllowlist { regexes: vec![PLACEHOLDER_VALUE.to_owned()], ..RawAllowlist::default() };
        let regex = Some(regex);
        RawRule { id, regex, keywords, labelled: true, allowlists: vec![placeholder], ..RawRule::default() }
    }

    /// Returns the rule with words in the place of the lists that it names.
    fn with_names(mut self, names: &Names) -> RawRule {
        // Not in key words, which are how a name begins.
        let ended = |regex: &str| {
            let end = |regex: String, list: &str| regex.replace(list, &format!("{list}{NAME_END}"));
            let ended = ["{{password}}", "{{pass}}"].into_iter().fold(regex.to_owned(), end);
            names.put_into(&ended)
        };
        self.regex = self.regex.as_deref().map(ended);
        let (listed, words) = self.keywords.into_iter().partition(|word| word.contains("{{"));
        self.keywords = words;
        self.keywords
            .extend(Vec::from_iter(listed).iter().flat_map(|list| beginnings(&names.put_into(list))));
        let lists = self.allowlists.iter_mut().flat_map(|list| &mut list.regexes);
        lists.for_each(|regex| *regex = names.put_into(regex));
        self
    }

    fn amend(&mut self, by: RawRule) {
        self.regex = by.regex.or(self.regex.take());
        self.entropy = by.entropy.or(self.entropy);
        self.secret_group = by.secret_group.or(self.secret_group);
        if !by.keywords.is_empty() {
            self.keywords = by.keywords;
        }
        self.allowlists.extend(by.allowlists);
        self.disabled |= by.disabled;
        self.generic |= by.generic;
        self.assignment |= by.assignment;
        self.beside.extend(by.beside);
        self.labelled |= by.labelled;
        self.drawn |= by.drawn;
        self.last |= by.last;
        self.pieces |= by.pieces;
        self.lines = by.lines.or(self.lines);
        self.shape = by.shape.or(self.shape);
    }
}

impl From<RawRule> for Rule {
    fn from(raw: RawRule) -> Rule {
        let source = raw.regex.unwrap_or_default();
        let end = match source.contains(ASSIGNMENT) {
            true if raw.generic => WIDER_VALUE_END,
            true => WIDER_NAMED_END,
            false => WIDER_TOKEN_END,
        };
        let source = source.replace(VALUE_END, end);
        let (source, is_token) = match source.contains(ASSIGNMENT) {
            true => (source, false),
            false => with_wider_edges(source),
        };
        let name = source.split_once(ASSIGNMENT).map(|(name, _)| name.to_lowercase());
        // An expression with a second form beside the assignment (`...|\b(ATATT3...`) must be tried without it.
        let only_form = !source.contains(r"|\b(");
        let named = name.is_some_and(|name| raw.keywords.iter().all(|word| name.contains(word.as_str())));
        let source = source.replace(ASSIGNMENT, WIDER_ASSIGNMENT);
        Rule {
            id: raw.id.into(),
            compiled: OnceLock::new(),
            entropy: raw.entropy.unwrap_or_default(),
            secret_group: raw.secret_group.unwrap_or_default(),
            // A list that also asks for a path (`AND`) never applies: a message has none.
            allow: raw
                .allowlists
                .into_iter()
                .filter(|list| !list.condition.eq_ignore_ascii_case("and"))
                .map(Allowlist::from)
                .collect(),
            is_assignment: raw.assignment || (named && only_form),
            beside: raw.beside,
            beside_finder: OnceLock::new(),
            is_generic: raw.generic,
            is_labelled: raw.labelled,
            is_of_drawn: raw.drawn,
            is_last: raw.last,
            is_of_pieces: raw.pieces,
            is_token,
            lines: raw.lines,
            shape: raw.shape,
            source,
        }
    }
}

impl From<RawAllowlist> for Allowlist {
    fn from(raw: RawAllowlist) -> Allowlist {
        Allowlist {
            sources: raw.regexes,
            regexes: OnceLock::new(),
            stopwords: raw.stopwords,
            automaton: OnceLock::new(),
            target: raw.target,
        }
    }
}

/// What things are called, by the name of the list: expressions, each of them an alternative.
#[derive(Debug, Default)]
struct Names(BTreeMap<String, Vec<String>>);

impl Names {
    /// Adds lists. Expressions know the case of ASCII letters only, so that other words are listed in each.
    fn extend(&mut self, lists: BTreeMap<String, Vec<String>>) {
        for (name, words) in lists {
            let known = self.0.entry(name).or_default();
            for word in words {
                if !word.is_ascii() {
                    let first = word.chars().next().map_or(0, char::len_utf8);
                    let (capitals, capital) =
                        (word.to_uppercase(), word[..first].to_uppercase() + &word[first..]);
                    // Most other scripts know no case.
                    known.extend([capitals, capital].into_iter().filter(|other| *other != word));
                }
                known.push(word);
            }
        }
    }

    /// Returns `source` with a list's alternatives in the place of its name in double braces.
    fn put_into(&self, source: &str) -> String {
        self.0.iter().fold(source.to_owned(), |source, (name, words)| match source.contains("{{") {
            true => source.replace(&format!("{{{{{name}}}}}"), &format!("(?:{})", words.join("|"))),
            false => source,
        })
    }
}

/// Returns all the ways in which a match of `source` may begin, as key words.
fn beginnings(source: &str) -> Vec<String> {
    let seq = parse(source).map(|hir| Extractor::new().extract(&hir)).ok();
    let literals = seq.as_ref().and_then(|seq| seq.literals()).unwrap_or_default();
    let word = |bytes: &[u8]| String::from_utf8_lossy(bytes).to_ascii_lowercase();
    let mut keywords: Vec<String> = literals.iter().map(|literal| word(literal.as_bytes())).collect();
    keywords.sort_unstable();
    keywords.dedup();
    keywords
}

/// Returns the expression of a token with wider edges than words have, and whether it is one.
fn with_wider_edges(source: String) -> (String, bool) {
    let (flags, rest) = source.strip_prefix("(?i)").map_or(("", &*source), |rest| ("(?i)", rest));
    match rest.strip_prefix(r"\b(").filter(|inside| !inside.starts_with('?')) {
        Some(inside) => {
            let (inside, end) =
                inside.strip_suffix(r")\b").map_or((inside, ""), |inside| (inside, TOKEN_END));
            (format!("{flags}{TOKEN_START}({inside}{end}"), true)
        }
        None => (source, false),
    }
}

/// Returns what finds any of these words, in any case; `None` where there are none.
fn any_of(words: &[String]) -> Option<AhoCorasick> {
    let words = (!words.is_empty()).then_some(words)?;
    AhoCorasick::builder().ascii_case_insensitive(true).build(words).ok()
}

/// Compiles an expression written for Go's engine: classes are ASCII, and a brace that repeats nothing is a brace.
///
/// A key word leads to each search, so that none needs to be led by the bytes of a match: to find these out takes half as long
/// again as the expression itself.
fn compile(source: &str) -> Result<Compiled, String> {
    let hir = parse(&escape_literal_braces(source)).map_err(|error| error.to_string())?;
    let limits = Regex::config()
        .nfa_size_limit(Some(SIZE_LIMIT))
        .hybrid_cache_capacity(DFA_LIMIT)
        .utf8_empty(false)
        .auto_prefilter(false);
    let regex = Regex::builder().configure(limits).build_from_hir(&hir).map_err(|error| error.to_string())?;
    let longest = hir.properties().maximum_len().filter(|longest| *longest <= UNBOUNDED_REACH);
    let is_bounded = longest.is_some();
    Ok(Compiled { regex, reach: longest.map_or(UNBOUNDED_REACH, |longest| longest + 4), is_bounded })
}

fn parse(source: &str) -> Result<Hir, Box<regex_syntax::Error>> {
    let mut parser = regex_syntax::ParserBuilder::new().unicode(false).utf8(false).build();
    parser.parse(source).map_err(Box::new)
}

/// Returns `source` with a backslash before each `{` that begins no repetition: Go takes it literally, Rust refuses it.
fn escape_literal_braces(source: &str) -> String {
    let bytes = source.as_bytes();
    let mut out = String::with_capacity(source.len() + 8);
    let (mut escaped, mut in_class) = (false, false);
    for (at, c) in source.char_indices() {
        if c == '{' && !escaped && !in_class && !is_repetition(&bytes[at..]) {
            out.push('\\');
        }
        in_class = match c {
            '[' if !escaped && !in_class => true,
            // `]` right after `[` or `[^` is itself a member.
            ']' if !escaped && in_class => {
                source[..at].ends_with("[^") && !source[..at].ends_with("\\[^") || source[..at].ends_with('[')
            }
            _ => in_class,
        };
        escaped = c == '\\' && !escaped;
        out.push(c);
    }
    out
}

/// Returns whether `rest` begins with `{n}`, `{n,}` or `{n,m}`.
fn is_repetition(rest: &[u8]) -> bool {
    let digits = |from: usize| rest[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let first = digits(1);
    let mut at = 1 + first;
    if first > 0 && rest.get(at) == Some(&b',') {
        at += 1;
        at += digits(at);
    }
    first > 0 && rest.get(at) == Some(&b'}')
}

/// What may end the name of a password: a number, and that it is given again (`password_confirmation`, `new_password2`).
const NAME_END: &str =
    r"(?:[ _-]?(?:confirm(?:ation|ed)?|again|repeat(?:ed)?|verify|verification)|[_-]?[0-9]{1,2})?";

/// What gitleaks puts between a name and its value; expressions that have it need not be tried elsewhere.
const ASSIGNMENT: &str = r#"(?:[ \t\w.-]{0,20})[\s'"]{0,3}(?:=|>|:{1,3}=|\|\||:|=>|\?=|,)"#;

/// In its place: people who write Chinese or Japanese have wider signs, and models emphasize names, the colon inside or not.
const WIDER_ASSIGNMENT: &str = r#"(?:[ \t\w.-]{0,20})[\s'"*\x60\]]{0,3}(?:=|>|:{1,3}=|\|\||:|=>|\?=|,|：|＝)(?:[*_]{1,3}|</[a-z]{1,8}>)?"#;

/// What gitleaks wants after a secret. It reads files; in a conversation a secret is also followed by a bracket, the
/// full stop of a sentence, the backslash of a JSON escape, or a sign of another script, of which the first byte is told.
const VALUE_END: &str = r#"(?:[\x60'"\s;]|\\[nr]|$)"#;
/// In its place after a value that only its name tells.
const WIDER_VALUE_END: &str = r#"(?:[\x60'"\s;\\)\]}&<]|[\x80-\xff]|$)"#;
/// In its place after a value of a form of its own behind a vendor's name: a sentence may go on or end behind it.
const WIDER_NAMED_END: &str = r#"(?:[\x60'"\s;\\)\]}&<]|[.,:!?](?:[\s"'\\]|$)|[\x80-\xff]|$)"#;
/// In its place after a token that tells itself.
const WIDER_TOKEN_END: &str = r"(?:[^A-Za-z0-9]|$)";
/// In the place of the word boundary before a token: names are put before keys (`key_sk-...`), addresses spell what stands
/// before one (`%3D`), and terminals colour it (`ESC[32m`, with or without its ESC).
const TOKEN_START: &str = r"(?:\b|_|%[0-9A-Fa-f]{2}|\[[0-9;]{0,9}m)";
/// In the place of the one behind it.
const TOKEN_END: &str = r")(?:\b|_)";

/// What stands between a program and an option of it: the rest of the command, which may go on in the next line.
const BETWEEN_WORDS: &str = r"(?:[^\n|&;]|\\\r?\n){0,200}?";
/// A password behind an option: between quotes with whatever sign, or without with those that the shell leaves alone.
const OPTION_VALUE: &str =
    r#"(?:'([^\s',][^\s']{3,127})'|["']?([^\s"'<>{}()$\\|&;-][^\s"'<>{}()\\|&;]{3,127}))"#;
/// What stands in the place of one.
const PLACEHOLDER_VALUE: &str = r"(?i)^(?:pass(?:word|wd)?|example|changeme|x{3,}|\*+|\.+)$";

/// Least entropy of a token in the table, in bits a byte: what is drawn has more, `xxxx` and `1234` less.
const TOKEN_ENTROPY: f64 = 3.0;

/// How far to look beside a key word for an expression without a bound, in bytes. A PEM block of an 8,192-bit RSA key
/// has 6.4 KB.
const UNBOUNDED_REACH: usize = 16 * 1024;

/// How much an automaton may remember that is built while a text is searched, in bytes: long expressions forget and build anew
/// with less.
const DFA_LIMIT: usize = 8 << 20;

/// Size limit of one compiled expression, in bytes; the largest of the vendored ones takes about 1 MB without Unicode.
const SIZE_LIMIT: usize = 50 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_vendored_expression_compiles() {
        let set = RuleSet::parse(crate::redactor::BUILTIN_RULES).unwrap();
        set.check().unwrap();
        assert!(set.rules.len() > 240, "{} rules", set.rules.len());
    }

    #[test]
    fn most_rules_need_an_assignment() {
        let set = RuleSet::parse(crate::redactor::BUILTIN_RULES).unwrap();
        let gated = set.rules.iter().filter(|rule| rule.is_assignment).count();
        assert!(gated > 80, "{gated}");
    }

    #[test]
    fn literal_braces_are_escaped_and_repetitions_kept() {
        assert_eq!(escape_literal_braces(r"\${{[^}{]{2,}x{3}{"), r"\$\{\{[^}{]{2,}x{3}\{");
        assert_eq!(escape_literal_braces(r"[]{]\{"), r"[]{]\{");
    }

    #[test]
    fn a_later_file_amends_an_earlier_rule() {
        let first =
            "[[rules]]\nid='a'\nregex='a+'\nkeywords=['a']\n[[rules]]\nid='b'\nregex='b'\nkeywords=['b']";
        let second = "[[rules]]\nid='a'\nregex='aa'\n[[rules]]\nid='b'\ndisabled=true";
        let set = RuleSet::parse(&[first, second]).unwrap();
        let rules: Vec<_> = set.rules.iter().map(|rule| (&*rule.id, rule.source.as_str())).collect();
        assert_eq!(rules, [("a", "aa")]);
    }
}
