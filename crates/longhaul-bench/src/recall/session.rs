//! Sessions, cut points and demand.

use std::collections::{HashMap, HashSet};

use longhaul_extract::{AtomKind, FieldPlace, call_fields, expand, scan, scan_words};
use longhaul_transcript::{Role, Transcript};

use super::load::{Raw, transcript};

/// What kind of work a session is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Group {
    /// Work on code.
    Coding,
    /// Customer service with record look-up.
    Service,
    /// Meetings.
    Talk,
}

/// Where an atom stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Where {
    /// The user's words.
    User,
    /// The assistant's prose (in meetings, everything).
    Prose,
    /// A key field.
    Key,
    /// A body field.
    Body,
    /// A tool result.
    Output,
    /// The system prompt.
    System,
}

/// An atom with its place.
#[derive(Clone, Debug)]
pub struct Mention {
    /// The literal.
    pub atom: String,
    /// Its kind.
    pub kind: AtomKind,
    /// Where it stands.
    pub place: Where,
}

/// One message, read.
#[derive(Clone, Debug)]
pub struct Read {
    /// As loaded.
    pub raw: Raw,
    /// The text that the budget counts.
    pub body: String,
    /// Its tokens.
    pub tokens: usize,
    /// Its atoms.
    pub mentions: Vec<Mention>,
    /// Tool names and argument keys.
    pub schema: Vec<String>,
}

/// One segment of one recording.
#[derive(Clone, Debug)]
pub struct Session {
    /// The file.
    pub file: String,
    /// The project, for weights and for leaving projects out.
    pub project: String,
    /// What kind of work.
    pub group: Group,
    /// Its messages, standing instructions apart.
    pub messages: Vec<Read>,
    /// Standing instructions.
    pub system: Vec<Read>,
    /// The messages as a transcript.
    pub transcript: Transcript,
    /// What is known from the standing instructions and tool definitions.
    pub standing: HashSet<String>,
}

/// A fact that the future uses.
#[derive(Clone, Debug)]
pub struct Demanded {
    /// Its kind where it is used.
    pub kind: AtomKind,
    /// Where it is used.
    pub place: Where,
}

/// Counts `o200k_base` tokens.
pub fn count(text: &str) -> usize {
    bpe_openai::o200k_base().count(text)
}

impl Session {
    /// Reads a segment.
    pub fn new(format: &str, file: &str, segment: &[Raw]) -> Session {
        let group = match format {
            "openai_chat" | "tau2" => Group::Service,
            "meeting" | "vcsum" => Group::Talk,
            _ => Group::Coding,
        };
        let is_chat = group == Group::Talk;
        let (system, messages): (Vec<Read>, Vec<Read>) =
            segment.iter().map(|raw| read(raw, is_chat)).partition(|read| read.raw.role == Role::System);
        let mut standing = HashSet::new();
        for mention in system.iter().flat_map(|read| &read.mentions) {
            expand(&mention.atom, mention.kind, |part| {
                standing.insert(part.to_string());
            });
        }
        standing.extend(messages.iter().flat_map(|read| read.schema.iter().cloned()));
        let raws: Vec<Raw> = messages.iter().map(|read| read.raw.clone()).collect();
        Session {
            file: file.into(),
            project: project(format, file),
            group,
            transcript: transcript(&raws),
            messages,
            system,
            standing,
        }
    }

    /// Returns the tokens of all messages.
    pub fn tokens(&self) -> usize {
        self.messages.iter().map(|read| read.tokens).sum()
    }

    /// Returns where to cut so that about `share` of the tokens lie before, and no tool result opens the future.
    pub fn cut(&self, share: f64) -> Option<usize> {
        let want = self.tokens() as f64 * share;
        let (mut best, mut sum) = (None::<(f64, usize)>, 0);
        for at in 1..self.messages.len() {
            sum += self.messages[at - 1].tokens;
            let off = (sum as f64 - want).abs();
            if best.is_none_or(|(least, _)| off < least) {
                best = Some((off, at));
            }
        }
        let mut at = best?.1;
        while self.messages.get(at).is_some_and(|read| read.raw.role == Role::Tool) {
            at += 1;
        }
        (at < self.messages.len()).then_some(at)
    }

    /// Returns the facts of the first `cut` messages that the rest uses before it is told them again.
    pub fn demand(&self, cut: usize) -> HashMap<String, Demanded> {
        let mut past = known(&self.messages[..cut]);
        past.retain(|name| !self.standing.contains(name));
        let mut seen: HashSet<&str> = HashSet::new();
        // With the message it was first used in: a mention beside a body field there counts more.
        let mut demand: HashMap<String, (Demanded, usize)> = HashMap::new();
        for (at, read) in self.messages[cut..].iter().enumerate() {
            let by_assistant = read.raw.role == Role::Assistant || self.group == Group::Talk;
            for mention in &read.mentions {
                if !past.contains(&mention.atom) || seen.contains(mention.atom.as_str()) {
                    continue;
                }
                let is_user = read.raw.role == Role::User;
                let here = Demanded { kind: mention.kind, place: mention.place };
                match demand.get_mut(&mention.atom) {
                    None if by_assistant => {
                        demand.insert(mention.atom.clone(), (here, at));
                    }
                    None if is_user => {
                        demand.insert(mention.atom.clone(), (Demanded { place: Where::User, ..here }, at));
                    }
                    Some((first, first_at))
                        if by_assistant
                            && first.place == Where::Body
                            && mention.place != Where::Body
                            && *first_at == at =>
                    {
                        *first = here;
                    }
                    _ => {}
                }
            }
            for mention in &read.mentions {
                expand(&mention.atom, mention.kind, |part| {
                    seen.insert(part);
                });
            }
        }
        demand.into_iter().map(|(name, (demanded, _))| (name, demanded)).collect()
    }
}

/// Returns everything that `messages` make known.
pub fn known(messages: &[Read]) -> HashSet<String> {
    let mut known = HashSet::new();
    for mention in messages.iter().flat_map(|read| &read.mentions) {
        expand(&mention.atom, mention.kind, |part| {
            if !known.contains(part) {
                known.insert(part.to_string());
            }
        });
    }
    known
}

/// Returns the last names that stand for one path only.
pub fn unique_bases(messages: &[Read]) -> HashSet<String> {
    let mut by: HashMap<&str, HashSet<String>> = HashMap::new();
    for mention in messages.iter().flat_map(|read| &read.mentions) {
        if mention.kind.is_path() && mention.atom.contains('/') {
            let parts: Vec<&str> = mention.atom.trim_matches('/').split('/').collect();
            if let Some(base) = parts.last() {
                let two = parts[parts.len().saturating_sub(2)..].join("/");
                by.entry(base).or_default().insert(two);
            }
        }
    }
    by.into_iter().filter(|(_, paths)| paths.len() == 1).map(|(base, _)| base.to_string()).collect()
}

/// Returns the mentions of `text`, all at `place`.
pub fn mentions(text: &str, is_chat: bool, place: Where) -> Vec<Mention> {
    let mut mentions = Vec::new();
    let mut add = |atom: longhaul_extract::Atom<'_>| {
        mentions.push(Mention { atom: atom.text.into_owned(), kind: atom.kind, place });
    };
    scan(text, &mut add);
    if is_chat {
        scan_words(text, &mut add);
    }
    mentions
}

/// Returns `text` without a number before each line, as the definition has it (`recallbench/core.py`): one that ends with an
/// arrow, a tab, a colon or a bar, whether the numbers count up or not.
fn without_number_prefixes(text: &str) -> String {
    text.split_inclusive('\n').map(without_number_prefix).collect()
}

fn without_number_prefix(line: &str) -> &str {
    let number = line.trim_start_matches([' ', '\t']);
    let rest = number.trim_start_matches(|c: char| c.is_ascii_digit());
    let marks = ["→", "\t", ": ", ":\t", "| "];
    match marks.into_iter().find_map(|mark| rest.strip_prefix(mark)) {
        Some(rest_of_line) if rest.len() < number.len() => rest_of_line,
        _ => line,
    }
}

/// Reads one message as the budget counts it.
pub fn read(raw: &Raw, is_chat: bool) -> Read {
    let text = if raw.role == Role::Tool { without_number_prefixes(&raw.text) } else { raw.text.clone() };
    let place = match raw.role {
        _ if is_chat => Where::Prose,
        Role::User => Where::User,
        Role::Assistant => Where::Prose,
        Role::Tool => Where::Output,
        _ => Where::System,
    };
    let mut body = format!("<{}> {text}", raw.role.as_str());
    let head = body.len();
    let (mut spans, mut schema) = (Vec::new(), Vec::new());
    for (_, tool, arguments) in &raw.calls {
        schema.push(tool.clone());
        body.push_str(&format!("\n[call {tool}]"));
        for field in call_fields(arguments, true) {
            body.push_str(&format!(" {}: ", field.key));
            schema.push(field.key.into_owned());
            let start = body.len();
            body.push_str(&field.text);
            let place = match field.place {
                FieldPlace::Key => Some(Where::Key),
                FieldPlace::Body => Some(Where::Body),
                FieldPlace::Tuning => None,
            };
            if field.place == FieldPlace::Body {
                let mut at = start;
                for line in field.text.split_inclusive('\n') {
                    if is_patch_head(line) {
                        spans.push((at, at + line.trim_end_matches('\n').len(), Some(Where::Key)));
                    }
                    at += line.len();
                }
            }
            spans.push((start, body.len(), place));
        }
    }
    let mut found = Vec::new();
    let mut add = |atom: longhaul_extract::Atom<'_>| {
        let place = if atom.at < head {
            Some(place)
        } else {
            spans
                .iter()
                .find(|(start, end, _)| (*start..*end).contains(&atom.at))
                .and_then(|(_, _, place)| *place)
        };
        if let Some(place) = place {
            found.push(Mention { atom: atom.text.into_owned(), kind: atom.kind, place });
        }
    };
    scan(&body, &mut add);
    if is_chat {
        scan_words(&body, &mut add);
    }
    Read { raw: raw.clone(), tokens: count(&body), body, mentions: found, schema }
}

fn is_patch_head(line: &str) -> bool {
    [
        "*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move File: ", "*** Add to: ",
        "*** Update to: ", "*** Delete to: ", "*** Move to: ",
    ]
    .iter()
    .any(|head| line.starts_with(head))
}

/// The project a recording belongs to (`recallbench/core.py`).
fn project(format: &str, file: &str) -> String {
    const PROJECTS: [(&str, &str); 15] = [
        ("entireio", "entireio/cli"),
        ("packmind", "context-evaluator"),
        ("ohmyposh", "oh-my-posh"),
        ("agentv", "agentv"),
        ("gatomia", "gatomia"),
        ("spotter", "spotter"),
        ("pi-", "pi-mono"),
        ("tau-", "tau-airline"),
        ("tau2-telecom", "tau2-telecom"),
        ("tau2-retail", "tau2-retail"),
        ("tau2-airline", "tau-airline"),
        ("cline", "cline"),
        ("deepagents", "deepagents"),
        ("openhands", "openhands"),
        ("nebius", "treon"),
    ];
    let known = PROJECTS.iter().find(|(start, _)| file.starts_with(start)).map(|(_, name)| *name);
    let own = matches!(format, "swe_agent" | "meeting" | "vcsum");
    known.unwrap_or(if own { file } else { format }).to_string()
}
