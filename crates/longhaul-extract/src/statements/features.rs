//! What is known of a statement when a summary is made, as small whole numbers.

use hashbrown::{HashMap, HashSet};

use super::{Statement, StatementKind, StatementSource, Statements, signs::Signs, words::log2_sixteenths};

/// Declares the features with their names, in one order.
macro_rules! features {
    ($s:ident, $v:ident: $($name:ident = $value:expr;)+) => {
        /// The names of the features, in the order of [`Statements::features`].
        pub const FEATURES: [&str; N_FEATURES] = [$(stringify!($name)),+];

        /// How many features a statement has.
        pub const N_FEATURES: usize = [$(stringify!($name)),+].len();

        fn values($s: &Statement, $v: &View) -> [i32; N_FEATURES] {
            [$(i32::from($value)),+]
        }
    };
}

features! { s, v:
    base = true;
    person = s.kind == StatementKind::Person;
    pasted = s.kind == StatementKind::Pasted;
    harness = s.kind == StatementKind::Harness;
    report = s.kind == StatementKind::Report;
    answer = s.kind == StatementKind::Answer;
    prose = v.is_on_the_way;
    added = s.kind == StatementKind::Added;
    removed = s.kind == StatementKind::Removed;
    command = s.kind == StatementKind::Command;
    argument = s.kind == StatementKind::Argument;
    todo = s.kind == StatementKind::Todo;
    place = v.place;
    place_answer = if s.kind == StatementKind::Answer { v.place } else { 0 };
    place_prose = if v.is_on_the_way { v.place } else { 0 };
    place_person = if s.kind == StatementKind::Person { v.place } else { 0 };
    place_result = if s.kind == StatementKind::Result { v.place } else { 0 };
    nth_person = if s.kind == StatementKind::Person { v.nth } else { 0 };
    nth_result = if s.kind == StatementKind::Result { v.nth } else { 0 };
    nth_said = if v.is_models { v.nth } else { 0 };
    opens = s.nth == 0;
    closes = s.nth + 1 == s.of;
    crowd_log = v.crowd;
    words = v.words;
    few_words = v.words < 4;
    settles_said = s.signs.has(Signs::SETTLES) && v.is_said;
    settles_shown = s.signs.has(Signs::SETTLES) && !v.is_said;
    fails_said = s.signs.has(Signs::FAILS) && v.is_said;
    fails_shown = s.signs.has(Signs::FAILS) && !v.is_said;
    path_said = s.signs.has(Signs::PATH) && v.is_said;
    path_shown = s.signs.has(Signs::PATH) && !v.is_said;
    number_said = s.signs.has(Signs::NUMBER) && v.is_said;
    number_shown = s.signs.has(Signs::NUMBER) && !v.is_said;
    holds_shown = s.signs.has(Signs::HOLDS) && !v.is_said;
    hit = v.is_hit;
    item = s.signs.has(Signs::ITEM) && v.is_said;
    bold = s.signs.has(Signs::BOLD) && v.is_said;
    heading = s.signs.has(Signs::HEADING) && v.is_said;
    colon = s.signs.has(Signs::COLON);
    table = s.signs.has(Signs::TABLE);
    question = s.signs.has(Signs::QUESTION) && v.is_said;
    plan = s.signs.has(Signs::PLAN);
    comment = s.signs.has(Signs::COMMENT) && !v.is_said;
    import = s.signs.has(Signs::IMPORT) && !v.is_said;
    sentence_shown = s.signs.has(Signs::PROSE) && !v.is_said;
    code = s.signs.has(Signs::CODE);
    counts = s.signs.has(Signs::COUNTS);
    seen = v.seen;
    superseded = v.superseded;
    rarity = v.rarity;
    rarest = v.rarest;
    in_prose = v.in_prose;
    by_person = v.by_person;
    spread = v.spread;
    alone = v.alone;
    taken_up = v.taken_up;
    asked = v.asked;
    recent = v.recent;
    new = v.new;
}

/// What depends on the rest of the conversation.
#[derive(Debug, Default)]
struct View {
    is_said: bool,
    is_models: bool,
    /// Whether the model says it, or thinks it, before its turn ends.
    is_on_the_way: bool,
    /// Whether a search shows it.
    is_hit: bool,
    /// How late it stands, 0 to 16.
    place: i32,
    nth: i32,
    crowd: i32,
    words: i32,
    seen: bool,
    superseded: bool,
    rarity: i32,
    rarest: i32,
    in_prose: i32,
    by_person: i32,
    spread: i32,
    alone: i32,
    taken_up: i32,
    asked: i32,
    recent: i32,
    new: i32,
}

/// Messages at the end whose words are what is being talked of.
const RECENT: u32 = 10;

/// How many of the last requests say what is asked.
const ASKING: usize = 3;

/// Words of a statement that asks for something.
const ASKING_WORDS: usize = 3;

impl Statements {
    /// Returns the features of every statement, in the order of [`all`](Self::all): whole numbers, the same on every
    /// machine.
    pub fn features(&self) -> Vec<[i32; N_FEATURES]> {
        let all = self.all();
        // "Go on" asks for nothing: what is asked is what the last persons' messages of some length say.
        let mut asking: Vec<u32> = Vec::new();
        for s in all.iter().rev().filter(|s| s.kind == StatementKind::Person && s.words.len() >= ASKING_WORDS)
        {
            if asking.last() != Some(&s.message) {
                asking.push(s.message);
            }
            if asking.len() > ASKING {
                asking.pop();
                break;
            }
        }
        let words_of = |keep: &dyn Fn(&Statement) -> bool| -> HashSet<u32> {
            all.iter().filter(|s| keep(s)).flat_map(|s| s.words.iter().copied()).collect()
        };
        let asked = words_of(&|s| s.kind == StatementKind::Person && asking.contains(&s.message));
        let recent = words_of(&|s| s.message + RECENT >= self.end);
        let mut removed = HashMap::new();
        for s in all.iter().filter(|s| s.kind == StatementKind::Removed) {
            removed.insert(s.key, s.message);
        }
        let searches: Vec<bool> = self.sources.iter().map(StatementSource::searches).collect();
        let mut seen: HashSet<u32> = HashSet::new();
        let view = |s: &Statement| {
            let is_new = seen.insert(s.key);
            let mut view = View {
                is_said: s.kind.is_said() || s.kind == StatementKind::Thought,
                is_models: matches!(
                    s.kind,
                    StatementKind::Answer
                        | StatementKind::Prose
                        | StatementKind::Thought
                        | StatementKind::Report
                ),
                is_on_the_way: matches!(s.kind, StatementKind::Prose | StatementKind::Thought),
                place: (u64::from(s.message) * 16 / u64::from(self.end.max(1))) as i32,
                is_hit: s.kind == StatementKind::Result && s.source.is_some_and(|at| searches[at as usize]),
                nth: (log2_sixteenths(u64::from(s.nth) + 1) / 4) as i32,
                crowd: (log2_sixteenths(u64::from(s.of)) / 4) as i32,
                words: s.text.split_whitespace().take(40).count() as i32,
                seen: !is_new,
                superseded: matches!(s.kind, StatementKind::Added | StatementKind::Result)
                    && removed.get(&s.key).is_some_and(|by| *by > s.message),
                ..View::default()
            };
            self.read_words(s, &mut view, &asked, &recent);
            values(s, &view)
        };
        all.iter().map(view).collect()
    }

    fn read_words(&self, s: &Statement, view: &mut View, asked: &HashSet<u32>, recent: &HashSet<u32>) {
        let count = s.words.len().max(1) as i32;
        let (mut rarity, mut spread) = (0, 0);
        for hash in &s.words {
            let word = self.words.get(*hash);
            let rare = self.words.rarity_of(&word) as i32;
            rarity += rare;
            view.rarest = view.rarest.max(rare / 4);
            spread += log2_sixteenths(u64::from(word.messages) + 1) as i32;
            view.in_prose += i32::from(word.said > 0);
            view.by_person += i32::from(word.persons);
            view.alone += i32::from(word.messages == 1);
            view.taken_up += i32::from(word.last_said.is_some_and(|said| said > s.message));
            view.asked += i32::from(asked.contains(hash));
            view.recent += i32::from(recent.contains(hash));
            view.new += i32::from(word.first == s.message);
        }
        view.rarity = rarity / count / 4;
        view.spread = spread / count / 4;
        let shares = [
            &mut view.in_prose, &mut view.by_person, &mut view.alone, &mut view.taken_up, &mut view.asked,
            &mut view.recent, &mut view.new,
        ];
        shares.into_iter().for_each(|share| *share = *share * 16 / count);
    }
}
