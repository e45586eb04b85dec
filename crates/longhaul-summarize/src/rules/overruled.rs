//! Decisions that a person overruled later: "Strike the Tuesday thing, Wednesday 05:00", "forget what I said about PDF".

use std::rc::Rc;

use longhaul_extract::{Decision, decisions, sentences, settles, speaker::Speakers};
use longhaul_transcript::{Entry, Role};

use super::{
    claimed::{Claims, LastRead},
    persons::leads_in,
};

/// What persons said that may take the place of what was said before.
#[derive(Debug, Default)]
pub(super) struct Overruling {
    /// What has words of taking something back, oldest first.
    said: Vec<Decision>,
    /// What is claimed in plain words.
    claims: Rc<Claims>,
}

impl Overruling {
    /// Reads what persons say in `entries`, as far as it was not read `last`.
    pub(super) fn of<'e>(
        entries: impl Iterator<Item = &'e Entry>,
        speakers: &Speakers,
        last: &LastRead,
    ) -> Overruling {
        let users: Vec<&Entry> = entries.filter(|entry| entry.message.role == Role::User).collect();
        let mut said = Vec::new();
        // Most messages have no such word, and need not be taken apart.
        for entry in users.iter().filter(|entry| entry.message.texts().any(has_word)) {
            for piece in speakers.segments(&entry.message).iter().filter(|piece| piece.is_persons()) {
                let back = sentences(piece.text).filter(|sentence| takes_back(sentence));
                said.extend(back.map(|text| Decision { text, message: entry.id.ordinal }));
            }
        }
        Overruling { said, claims: last.claims(&users, speakers) }
    }

    /// Who meets speaks for themselves: what one says takes no place of what another said.
    pub(super) fn of_many(mut self) -> Overruling {
        self.claims = Rc::default();
        self
    }

    /// What persons claim in plain words.
    pub(super) fn claims(&self) -> &Claims {
        &self.claims
    }

    /// Returns what overrules `decided`, which was said in `message`.
    pub(super) fn by(&self, message: u64, decided: &str) -> Option<&Decision> {
        let said = self.said.iter().rfind(|said| said.message > message && overrules(&said.text, decided));
        said.or_else(|| self.claims.by(message, decided))
    }

    /// Returns the message that overrules by name what was `chosen` in `message` in the place of something else: "Strike Odessane" after
    /// "Change of plan: Odessane instead of Kelmar". What forbids or demands is taken back in other words.
    pub(super) fn of_choice(&self, message: u64, chosen: &str) -> Option<u64> {
        Back::of(chosen)?;
        let by_name =
            |said: &&Decision| matches!(Back::of(&said.text), Some(Back::Named { .. } | Back::Said(_)));
        let later = self.said.iter().rev().filter(|said| said.message > message);
        later.filter(by_name).find(|said| overrules(&said.text, chosen)).map(|said| said.message)
    }

    /// Returns which of `all` stand, with what overrules others, and which do not.
    fn judge(&self, mut all: Vec<Decision>) -> Judged {
        all.sort_by_key(|one| one.message);
        let mut over: Vec<Option<&Decision>> =
            all.iter().map(|one| self.by(one.message, &one.text)).collect();
        for said in &self.said {
            match Back::of(&said.text) {
                Some(Back::To { words, is_bare }) => goes_back(said, &words, is_bare, &all, &mut over),
                Some(Back::Measure(measure)) => {
                    let is_other =
                        |one: &Decision| one.message < said.message && measure.is_other_in(&one.text);
                    if let Some(at) = all.iter().rposition(is_other) {
                        over[at] = over[at].or(Some(said));
                    }
                }
                _ => {}
            }
        }
        let mut by: Vec<Decision> = over.iter().flatten().map(|one| (*one).clone()).collect();
        let mut judged = Judged::default();
        for (one, over) in all.into_iter().zip(over.iter().copied()) {
            match over {
                Some(by) => judged.overruled.push(Overruled { decision: one, by: by.clone() }),
                None => judged.standing.push(one),
            }
        }
        let is_over = |one: &Decision| judged.overruled.iter().any(|over| over.decision == *one);
        by.retain(|one| self.by(one.message, &one.text).is_none() && !is_over(one));
        for one in by {
            if !judged.standing.contains(&one) {
                judged.standing.push(one);
            }
        }
        judged.standing.sort_by_key(|one| one.message);
        judged
    }
}

/// What a person decided.
#[derive(Debug, Default)]
pub(super) struct Judged {
    /// What nothing overrules, oldest first.
    pub(super) standing: Vec<Decision>,
    /// What something overrules, oldest first.
    pub(super) overruled: Vec<Overruled>,
}

impl Judged {
    /// Returns the same without what of `known` stands: that was told before.
    pub(super) fn without(mut self, known: &[Decision]) -> Judged {
        self.standing.retain(|one| !known.contains(one));
        self
    }
}

/// A decision that holds no more.
#[derive(Debug)]
pub(super) struct Overruled {
    pub(super) decision: Decision,
    /// What overrules it.
    pub(super) by: Decision,
}

/// Notes what a person overrules who goes back to what was decided before: "back to slim", where between the two they had said another
/// thing of it. What they go back to stands again.
fn goes_back<'s>(
    said: &'s Decision,
    words: &[String],
    is_bare: bool,
    all: &[Decision],
    over: &mut [Option<&'s Decision>],
) {
    let end = all.partition_point(|one| one.message < said.message);
    let names_it = |one: &Decision| {
        let has: Vec<String> = self::words(&one.text).collect();
        words.iter().all(|word| has.contains(word)) && !leaves(&one.text, words)
    };
    let switches = |at: &usize| {
        let lower = all[*at].text.to_lowercase();
        SWITCHING.iter().any(|words| lower.contains(words))
    };
    let Some(first) = all[..end].iter().rposition(names_it) else {
        // It had not been decided, but was so before somebody turned from it.
        if let Some(at) = end.checked_sub(1).filter(|at| is_bare && switches(at)) {
            over[at] = Some(said);
        }
        return;
    };
    let about: Vec<String> =
        self::words(&all[first].text).filter(|word| !words.contains(word) && !is_figure(word)).collect();
    let is_of_it = |one: &Decision| {
        overrules(&one.text, &all[first].text) || self::words(&one.text).any(|word| about.contains(&word))
    };
    let mut between: Vec<usize> = (first + 1..end).filter(|at| is_of_it(&all[*at])).collect();
    if between.is_empty() && is_bare {
        between.extend((first + 1..end).rev().find(switches));
        between.extend(Some(first + 1).filter(|at| between.is_empty() && at + 1 == end));
    }
    if between.is_empty() {
        return;
    }
    between.into_iter().for_each(|at| over[at] = Some(said));
    over[first].take_if(|by| by.message < said.message);
}

/// Returns whether a decision names one of `words` as what is not done any more: "alpine instead of slim".
fn leaves(decided: &str, words: &[String]) -> bool {
    let lower = decided.to_lowercase();
    let all: Vec<&str> =
        lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    (1..all.len()).filter(|at| words.iter().any(|word| word == all[*at])).any(|at| {
        let before = all[..at].iter().rev().find(|word| !["the", "a", "an", "our"].contains(word));
        before.is_some_and(|word| LEAVING.contains(word)) || all[..at].ends_with(&["instead", "of"])
    })
}

/// A figure and what it counts: `3 h`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Measure {
    figure: String,
    unit: String,
}

impl Measure {
    /// Returns the measures that a text names.
    fn all(text: &str) -> Vec<Measure> {
        let lower = text.to_lowercase();
        let words: Vec<&str> = lower.split_whitespace().collect();
        let bare = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric() && c != '%').to_owned();
        let of_word = |(at, word): (usize, &&str)| {
            let word = bare(word);
            let end = word.find(|c: char| !c.is_ascii_digit()).unwrap_or(word.len());
            let (figure, rest) = word.split_at(end);
            let next = || words.get(at + 1).map(|next| bare(next)).unwrap_or_default();
            let unit = if rest.is_empty() { next() } else { rest.to_owned() };
            let is_unit = !figure.is_empty() && is_unit(&unit);
            is_unit.then(|| Measure { figure: figure.to_owned(), unit: singular(&unit) })
        };
        words.iter().enumerate().filter_map(of_word).collect()
    }

    /// Returns whether a text has another figure of the same.
    fn is_other_in(&self, text: &str) -> bool {
        Measure::all(text).iter().any(|one| one.unit == self.unit && one.figure != self.figure)
    }
}

/// Returns whether a word behind a figure may say what it counts.
fn is_unit(word: &str) -> bool {
    const NONE: [&str; 14] =
        ["after", "and", "as", "at", "but", "for", "from", "in", "instead", "not", "of", "on", "or", "to"];
    word == "%" || word.chars().all(char::is_alphabetic) && !word.is_empty() && !NONE.contains(&word)
}

/// Returns one name for a unit: `hours`, `hrs` and `h` are the same.
fn singular(unit: &str) -> String {
    let short = match unit {
        "hour" | "hours" | "hr" | "hrs" => "h",
        "minute" | "minutes" | "mins" | "m" => "min",
        "second" | "seconds" | "sec" | "secs" => "s",
        "day" | "days" => "d",
        "percent" => "%",
        other if other.len() > 2 => other.strip_suffix('s').unwrap_or(other),
        other => other,
    };
    short.to_owned()
}

/// Returns what the person decided `before` and in `entries`.
pub(super) fn decided(
    before: Vec<Decision>,
    entries: &[Entry],
    overruling: &Overruling,
    speakers: &Speakers,
) -> Judged {
    // What only leads in others says nothing by itself.
    let said = decisions(entries, speakers).into_iter().filter(|one| !leads_in(&one.text));
    overruling.judge(before.into_iter().chain(said).collect())
}

/// Returns whether a person who says `said` takes back what was decided before in the words `of` it: it has a word of that, and what it
/// takes back.
pub fn overrules(said: &str, of: &str) -> bool {
    let Some(back) = Back::of(said) else { return false };
    let decided: Vec<String> = words(of).collect();
    let shared = |words: &[String]| words.iter().filter(|word| decided.contains(word)).count();
    // A figure alone may be any.
    let is_named = |words: &[String]| words.iter().any(|word| decided.contains(word) && !is_figure(word));
    match back {
        Back::Named { words, thing } => {
            let theirs: Vec<String> = of.split(FOR).skip(1).flat_map(self::words).collect();
            let is_of_it =
                thing.is_empty() || theirs.is_empty() || thing.iter().any(|word| theirs.contains(word));
            is_named(&words) && shared(&words) >= words.len().min(2) && is_of_it
        }
        Back::Said(words) => words.iter().any(|word| decided.contains(word)),
        Back::Figure(measure) => Measure::all(of).contains(&measure),
        // What stands between the two decides.
        Back::To { words, .. } => leaves(of, &words),
        Back::Measure(_) => false,
        Back::Somewhere(words) => {
            let first = words.first().is_some_and(|word| decided.contains(word) && !is_figure(word));
            first || is_named(&words) && shared(&words) >= 2
        }
    }
}

/// Returns whether a person's sentence takes something back. Words that reports have as well do so only where something is settled:
/// "the relay no longer starts".
fn takes_back(sentence: &str) -> bool {
    match Back::of(sentence) {
        Some(Back::Somewhere(_)) => {
            let lower = sentence.to_lowercase();
            settles(sentence) || SIGNS.iter().any(|sign| lower.contains(sign) && !REPORTING.contains(sign))
        }
        back => back.is_some(),
    }
}

/// The words of what is taken back.
enum Back {
    /// It is named, and maybe what it was to be for: "strike the Tuesday thing", "SQLite instead of Postgres for the cache".
    Named { words: Vec<String>, thing: Vec<String> },
    /// It is named as something that was said: "scratch what I said about 4 ms".
    Said(Vec<String>),
    /// It is somewhere in the sentence: "change of plan, the capacity goes up".
    Somewhere(Vec<String>),
    /// It is a figure of something: "make it 3 h instead of 2".
    Figure(Measure),
    /// It is another figure of the same: "make it 3 h".
    Measure(Measure),
    /// It came in place of what is gone back to, and that is named: "back to slim", bare or with an article.
    To { words: Vec<String>, is_bare: bool },
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
        let clause = |text: &str| -> Vec<String> {
            words(text.split([',', ';', ':', '.', '—', '–']).next().unwrap_or_default()).collect()
        };
        if let Some(to) = BACK_TO.iter().find_map(|words| body.strip_prefix(words)) {
            let is_bare =
                !["the ", "a ", "an ", "our ", "that ", "this "].iter().any(|word| to.starts_with(word));
            let words: Vec<String> = clause(to);
            return (1..=2).contains(&words.len()).then_some(Back::To { words, is_bare });
        }
        let makes = MAKING.iter().any(|words| body.starts_with(words));
        let old = body.split_once("instead of ").or_else(|| body.split_once(", not ").filter(|_| makes));
        if let Some((new, old)) = old.filter(|(_, old)| clause(old).iter().all(|word| is_figure(word))) {
            let unit = || Some(Measure::all(new).first()?.unit.clone());
            let figure: Option<String> = clause(old).into_iter().next();
            let named = Measure::all(old).into_iter().next();
            let measure = named.or_else(|| Some(Measure { figure: figure?, unit: unit()? }));
            return measure.map(Back::Figure);
        }
        if makes && let Some(measure) = Measure::all(body).into_iter().next() {
            return Some(Back::Measure(measure));
        }
        let strikes = |verb: &&str| body.strip_prefix(*verb).filter(|rest| rest.starts_with(' '));
        let struck = STRIKING.iter().find_map(strikes);
        if let Some(said) = struck.and_then(|struck| Some(struck.split_once("i said about ")?.1)) {
            return Some(Back::Said(clause(said))).filter(|back| !back.is_empty());
        }
        let replaced =
            || body.split_once("instead of ").map(|(_, old)| old.split_once(FOR).unwrap_or((old, "")));
        if let Some((named, thing)) = struck.map(|struck| (struck, "")).or_else(replaced) {
            let named = Back::Named { words: clause(named), thing: clause(thing) };
            return Some(named).filter(|back| !back.is_empty());
        }
        let sign = SIGNS.iter().find(|sign| body.contains(**sign))?;
        Some(Back::Somewhere(words(&body.replacen(sign, " ", 1)).collect())).filter(|back| !back.is_empty())
    }

    fn is_empty(&self) -> bool {
        match self {
            Back::Named { words, .. } | Back::Said(words) | Back::Somewhere(words) => words.is_empty(),
            _ => false,
        }
    }
}

/// Returns whether a text has a word of taking something back.
fn has_word(text: &str) -> bool {
    let lower = text.to_lowercase();
    let signs = STRIKING.iter().chain(&SIGNS).chain(&BACK_TO).chain(&MAKING);
    signs.into_iter().any(|word| lower.contains(*word)) || lower.contains("instead")
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

/// What stands before what something is chosen for.
const FOR: &str = " for ";

/// Words that open a sentence and say nothing.
const OPENING: [&str; 16] = [
    "actually", "and", "but", "hm", "hmm", "no", "oh", "ok", "okay", "please", "right", "so", "sorry",
    "wait", "well", "then",
];

/// What stands before what is gone back to.
const BACK_TO: [&str; 8] = [
    "back to ", "go back to ", "going back to ", "let's go back to ", "we go back to ", "switch back to ",
    "revert to ", "return to ",
];

/// What stands before a figure that is another now.
const MAKING: [&str; 4] = ["make it ", "make that ", "make them ", "let's make it "];

/// What somebody says who does another thing from now on.
const SWITCHING: [&str; 7] =
    ["switch", "change to", "change the", "move to", "go with", "going with", "it is"];

/// What stands before the name of what is not done any more.
const LEAVING: [&str; 10] =
    ["than", "not", "from", "drop", "dropping", "ditch", "replace", "replacing", "without", "leave"];

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

/// Those of them that stand in reports and in questions as well.
const REPORTING: [&str; 3] = ["after all", "no longer", " instead"];

/// Words that name nothing.
const COMMON: [&str; 68] = [
    "about", "all", "and", "any", "are", "but", "can", "earlier", "for", "from", "had", "has", "have",
    "idea", "into", "its", "let", "make", "not", "now", "one", "our", "out", "plan", "said", "says",
    "should", "take", "that", "the", "then", "they", "thing", "this", "thought", "told", "use", "was", "way",
    "what", "will", "with", "would", "you", "current", "first", "new", "old", "other", "same", "second",
    "decided", "decide", "decision", "settled", "agreed", "chose", "chosen", "choose", "picked", "going",
    "keep", "keeping", "using", "drop", "dropping", "cancel", "remains",
];

#[cfg(test)]
mod tests {
    use longhaul_testkit::transcript;

    use super::*;

    /// Returns the decisions that stand when these were said one after the other.
    fn standing(said: &[&str]) -> Vec<String> {
        let said: String = said.iter().map(|said| format!("user: {said}\nassistant: All right.\n")).collect();
        let said = transcript(&said);
        let speakers = Speakers::builtin();
        let overruling = Overruling::of(said.entries().iter(), speakers, &LastRead::default());
        let judged = decided(Vec::new(), said.entries(), &overruling, speakers);
        judged.standing.into_iter().map(|one| one.text).collect()
    }

    #[test]
    fn a_choice_that_is_told_as_a_rule_is_taken_back_by_its_name() {
        let said = transcript(
            "user: Change of plan: Odessane instead of Kelmar for first aid.\nassistant: All right.\nuser: Strike Odessane, we take Brunwick for first aid after all.\nassistant: All right.",
        );
        let overruling = Overruling::of(said.entries().iter(), Speakers::builtin(), &LastRead::default());
        let by = |rule: &str| overruling.of_choice(0, rule);
        assert_eq!(by("Change of plan: Odessane instead of Kelmar for first aid."), Some(2));
        // Another's name, and what forbids.
        for rule in
            ["Change of plan: Tarnwald instead of Kelmar for the camp.", "Never call Odessane at night."]
        {
            assert_eq!(by(rule), None, "{rule}");
        }
    }

    #[test]
    fn who_reports_takes_nothing_back() {
        for said in ["The relay no longer starts.", "Does it run after all?", "It printed the help instead."]
        {
            assert!(!takes_back(said), "{said}");
        }
        for said in ["No, we keep the relay after all.", "The relay moves to Thursday.", "Strike the relay."]
        {
            assert!(takes_back(said), "{said}");
        }
    }

    #[test]
    fn who_goes_back_overrules_what_came_between() {
        for (said, stands) in [
            (
                &[
                    "We will use python:3.12-slim as the image.",
                    "Let's switch to alpine.",
                    "Back to slim, sorry.",
                ][..],
                &["We will use python:3.12-slim as the image.", "Back to slim, sorry."][..],
            ),
            (
                &[
                    "We will use slim.",
                    "We will use alpine instead of slim.",
                    "We drop the CSV export.",
                    "Go back to slim.",
                ],
                &["We will use slim.", "We drop the CSV export.", "Go back to slim."],
            ),
            (
                &[
                    "We keep the tests in one folder.",
                    "We go with Postgres.",
                    "Back to the tests, they are slow.",
                ],
                &["We keep the tests in one folder.", "We go with Postgres."],
            ),
            (
                &["Can you shrink the slim image?", "Let's switch to alpine.", "Back to slim, sorry."],
                &["Back to slim, sorry."],
            ),
            (
                &["Let's keep the lock for 2 h.", "We go with Postgres.", "Make it 3 h."],
                &["We go with Postgres.", "Make it 3 h."],
            ),
            (&["Let's keep the lock for 2 h.", "Make it 3 h instead of 2."], &["Make it 3 h instead of 2."]),
            (
                &["Let's keep 2 replicas.", "Let's keep the lock for 2 h.", "Make it 3 h instead of 2."],
                &["Let's keep 2 replicas.", "Make it 3 h instead of 2."],
            ),
        ] {
            assert_eq!(standing(said), stands, "{said:?}");
        }
    }

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
            ("We decided to keep Jenkins after all.", "We decided to cancel Tuesday's demo.", false),
            ("We decided to keep Jenkins after all.", "Glass lids, that's decided.", false),
            ("We decided to keep Jenkins after all.", "We decided to drop Jenkins.", true),
            ("Put the switch on Wednesday.", "The switch is on Tuesday.", false),
            ("Back to slim, sorry.", "Let's go with alpine instead of slim.", true),
            ("Back to slim, sorry.", "We use the slim image.", false),
            ("Make it 3 h instead of 2.", "The lock expires after 2 h.", true),
            ("Make it 3 hours, not 2.", "We keep the lock for 2 hours.", true),
            ("Make it 3 h instead of 2.", "The page shows 2 columns.", false),
            (
                "Change of plan: brunwick instead of kelmar for the camp.",
                "Fine, kelmar then for the camp.",
                true,
            ),
            // Another's name, or another thing that it is for.
            (
                "Change of plan: brunwick instead of kelmar for the camp site.",
                "We go with odessane for the camp site.",
                false,
            ),
            ("Let's use Postgres instead of SQLite for the cache.", "We use SQLite for the tests.", false),
            ("Use the new client instead of the old one.", "Let's keep the old endpoint until March.", false),
        ] {
            assert_eq!(overrules(said, decided), is_so, "{said} / {decided}");
        }
    }
}
