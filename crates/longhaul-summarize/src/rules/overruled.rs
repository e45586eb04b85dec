//! Decisions that a person overruled later: "Strike the Tuesday thing, Wednesday 05:00", "forget what I said about PDF".

use longhaul_extract::{Decision, decisions, sentences, speaker::Speakers};
use longhaul_transcript::{Entry, Role};

/// What persons said with words of taking something back, oldest first.
#[derive(Debug, Default)]
pub(super) struct Overruling(Vec<Decision>);

impl Overruling {
    /// Reads what persons say in `entries`.
    pub(super) fn of<'e>(entries: impl Iterator<Item = &'e Entry>, speakers: &Speakers) -> Overruling {
        let mut found = Vec::new();
        // Most messages have no such word, and need not be taken apart.
        let may = |entry: &&Entry| entry.message.role == Role::User && entry.message.texts().any(has_word);
        for entry in entries.filter(may) {
            for piece in speakers.segments(&entry.message).iter().filter(|piece| piece.is_persons()) {
                let back = sentences(piece.text).filter(|sentence| Back::of(sentence).is_some());
                found.extend(back.map(|text| Decision { text, message: entry.id.ordinal }));
            }
        }
        Overruling(found)
    }

    /// Returns what overrules `decided`, which was said in `message`.
    pub(super) fn by(&self, message: u64, decided: &str) -> Option<&Decision> {
        self.0.iter().rfind(|said| said.message > message && overrules(&said.text, decided))
    }

    /// Returns `all` without what is overruled, and with what overrules it, oldest first.
    pub(super) fn standing(&self, all: Vec<Decision>) -> Vec<Decision> {
        let mut by: Vec<Decision> =
            all.iter().filter_map(|one| self.by(one.message, &one.text)).cloned().collect();
        let mut standing: Vec<Decision> =
            all.into_iter().filter(|one| self.by(one.message, &one.text).is_none()).collect();
        by.retain(|one| self.by(one.message, &one.text).is_none());
        for one in by {
            if !standing.contains(&one) {
                standing.push(one);
            }
        }
        standing.sort_by_key(|one| one.message);
        standing
    }
}

/// Returns what the person decided `before` and in `entries`, as far as nothing overrules it.
pub(super) fn decided(
    before: Vec<Decision>,
    entries: &[Entry],
    overruling: &Overruling,
    speakers: &Speakers,
) -> Vec<Decision> {
    overruling.standing([before, decisions(entries, speakers)].concat())
}

/// Returns whether a person who says `said` takes back what was `decided` before: it has a word of that, and what it takes back.
pub fn overrules(said: &str, decided: &str) -> bool {
    let Some(back) = Back::of(said) else { return false };
    let decided: Vec<String> = words(decided).collect();
    let shared = |words: &[String]| words.iter().filter(|word| decided.contains(word)).count();
    // A figure alone may be any.
    let is_named = |words: &[String]| words.iter().any(|word| decided.contains(word) && !is_figure(word));
    match back {
        Back::Named(words) => is_named(&words) && shared(&words) >= words.len().min(2),
        Back::Said(words) => words.iter().any(|word| decided.contains(word)),
        Back::Somewhere(words) => {
            let first = words.first().is_some_and(|word| decided.contains(word) && !is_figure(word));
            first || is_named(&words) && shared(&words) >= 2
        }
    }
}

/// The words of what is taken back.
enum Back {
    /// It is named: "strike the Tuesday thing".
    Named(Vec<String>),
    /// It is named as something that was said: "scratch what I said about 4 ms".
    Said(Vec<String>),
    /// It is somewhere in the sentence: "change of plan, the capacity goes up".
    Somewhere(Vec<String>),
}

impl Back {
    fn of(sentence: &str) -> Option<Back> {
        let lower = sentence.to_lowercase().replace('’', "'");
        let opens = |c: char| !c.is_alphanumeric();
        let mut body = lower.trim_start_matches(opens);
        while let Some(rest) =
            OPENING.iter().find_map(|word| body.strip_prefix(word).filter(|rest| rest.starts_with(opens)))
        {
            body = rest.trim_start_matches(opens);
        }
        let clause = |text: &str| {
            words(text.split([',', ';', ':', '.', '—', '–']).next().unwrap_or_default()).collect()
        };
        let strikes = |verb: &&str| body.strip_prefix(*verb).filter(|rest| rest.starts_with(' '));
        let named = STRIKING.iter().find_map(strikes).or_else(|| Some(body.split_once("instead of ")?.1));
        if let Some(said) = named.and_then(|named| Some(named.split_once("i said about ")?.1)) {
            return Some(Back::Said(clause(said))).filter(|back| !back.is_empty());
        }
        if let Some(named) = named {
            return Some(Back::Named(clause(named))).filter(|back| !back.is_empty());
        }
        let sign = SIGNS.iter().find(|sign| body.contains(**sign))?;
        Some(Back::Somewhere(words(&body.replacen(sign, " ", 1)).collect())).filter(|back| !back.is_empty())
    }

    fn is_empty(&self) -> bool {
        let (Back::Named(words) | Back::Said(words) | Back::Somewhere(words)) = self;
        words.is_empty()
    }
}

/// Returns whether a text has a word of taking something back.
fn has_word(text: &str) -> bool {
    let lower = text.to_lowercase();
    STRIKING.iter().chain(&SIGNS).any(|word| lower.contains(*word)) || lower.contains("instead")
}

fn is_figure(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_digit())
}

/// The words of a text, in lower case, that say what it is about.
fn words(text: &str) -> impl Iterator<Item = String> {
    let all = text.split(|c: char| !(c.is_alphanumeric() || c == '_')).map(str::to_lowercase);
    all.filter(|word| {
        (word.chars().count() >= 3 || is_figure(word)) && !word.is_empty() && !COMMON.contains(&word.as_str())
    })
}

/// Words that open a sentence and say nothing.
const OPENING: [&str; 16] = [
    "actually", "and", "but", "hm", "hmm", "no", "oh", "ok", "okay", "please", "right", "so", "sorry",
    "wait", "well", "then",
];

/// What stands before the name of what is taken back.
const STRIKING: [&str; 10] = [
    "strike", "forget", "scratch", "scrap", "drop", "disregard", "never mind", "vergiss", "streich",
    "streiche",
];

/// What says that something is taken back, wherever that is named.
const SIGNS: [&str; 12] = [
    " moves to ", " is moved to ", "changed my mind", "change of plan", "change of plans",
    "on second thought", "after all", "no longer", " instead", "doch nicht", "doch lieber", "stattdessen",
];

/// Words that name nothing.
const COMMON: [&str; 44] = [
    "about", "all", "and", "any", "are", "but", "can", "earlier", "for", "from", "had", "has", "have",
    "idea", "into", "its", "let", "make", "not", "now", "one", "our", "out", "plan", "said", "says",
    "should", "take", "that", "the", "then", "they", "thing", "this", "thought", "told", "use", "was", "way",
    "what", "will", "with", "would", "you",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_takes_something_back_names_it() {
        for (said, decided, is_so) in [
            (
                "Strike the Tuesday thing, Wednesday 05:00 UTC.",
                "Agreed with Tom that we'd do the switch on Tuesday 06:00 UTC.",
                true,
            ),
            (
                "Forget what I said about PDF; labels are ZPL for the warehouse printers.",
                "Svenja says PDF, so PDF.",
                true,
            ),
            ("Scratch what I said about 4 ms, make it 2.", "Default stays 4.", true),
            ("Rollout moves to Thursday.", "I settled on Friday for the rollout.", true),
            ("Change of plan, the capacity goes up to 4096.", "Bounded it is, capacity 1024.", true),
            ("I changed my mind about redux, zustand it is.", "For state we use redux.", true),
            ("Actually, let's use Postgres instead of SQLite.", "We go with SQLite for the cache.", true),
            ("Strike the Tuesday thing, Wednesday 05:00 UTC.", "Alert threshold: 80 percent, not 90.", false),
            ("Drop the label from the header.", "The label has a border.", false),
            (
                "OK we rename the secret back instead of changing forty manifests.",
                "Secrets are mounted read-only.",
                false,
            ),
            ("Retry after all 3 attempts failed.", "We keep 3 replicas.", false),
            ("Put the switch on Wednesday.", "The switch is on Tuesday.", false),
        ] {
            assert_eq!(overrules(said, decided), is_so, "{said} / {decided}");
        }
    }
}
