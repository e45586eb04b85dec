//! Lists and their headings: an item stands with the line that says what it is an item of. A line of code in what was said is an item
//! of its block: whether it is what was found, an example or what is to go, only the line before the block says.

use hashbrown::{HashMap, HashSet};
use longhaul_extract::{Statement, StatementKind, Statements};

/// For each statement the one that leads it in, where there is one.
#[derive(Debug)]
pub(crate) struct Lists {
    leads: Vec<Option<u32>>,
    /// How many items each lead has.
    items: HashMap<u32, usize>,
    /// The first rows of tables that have more.
    tables: HashSet<usize>,
    /// For each numbered item the first one of its list.
    numbers: Vec<Option<u32>>,
    /// For what a section begins with, and is no item, its title.
    titles: HashMap<usize, usize>,
}

/// What an item begins with.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bullet {
    None,
    Dash,
    Number,
    Row,
    /// It stands in a fence.
    Code,
}

impl Lists {
    pub(crate) fn new(pool: &Statements) -> Lists {
        let all = pool.all();
        let mut leads = vec![None; all.len()];
        let mut items: HashMap<u32, usize> = HashMap::new();
        let mut tables = HashSet::new();
        let mut titles = HashMap::new();
        let mut numbers: Vec<Option<u32>> = vec![None; all.len()];
        let mut firsts: HashMap<u32, u32> = HashMap::new();
        for at in 0..all.len() {
            if !is_worded(&all[at]) {
                continue;
            }
            if bullet(&all[at]) == Bullet::None {
                titles.extend(title_over(all, &titles, at).map(|title| (at, title)));
                continue;
            }
            leads[at] = lead_of(all, &leads, at);
            if let Some(lead) = leads[at] {
                *items.entry(lead).or_default() += 1;
                if bullet(&all[lead as usize]) == Bullet::Row {
                    tables.insert(lead as usize);
                }
                if bullet(&all[at]) == Bullet::Number {
                    numbers[at] = Some(*firsts.entry(lead).or_insert(at as u32));
                }
            }
        }
        Lists { leads, items, tables, numbers, titles }
    }

    /// Returns the places of what leads in the statement at `at`, the nearest first, up to the title of the section that begins with it.
    pub(crate) fn leads(&self, at: usize) -> impl Iterator<Item = usize> {
        let over = |at: usize| self.lead(at).or_else(|| self.titles.get(&at).copied());
        std::iter::successors(over(at), move |at| over(*at))
    }

    /// Returns the place of the statement that leads this one in.
    pub(crate) fn lead(&self, at: usize) -> Option<usize> {
        self.leads[at].map(|lead| lead as usize)
    }

    /// Returns whether the statement at `at` stands under the one at `lead`, or under what stands under it.
    pub(crate) fn stands_under(&self, at: usize, lead: usize) -> bool {
        std::iter::successors(self.lead(at), |lead| self.lead(*lead)).any(|over| over == lead)
    }

    /// Returns the places of the numbered items that stand before the one at `at` in its list, the first one first: nobody reads a list
    /// from its middle.
    pub(crate) fn numbered_before(&self, at: usize) -> impl Iterator<Item = usize> {
        let first = self.numbers[at].map_or(at, |first| first as usize);
        (first..at).filter(move |place| self.numbers[*place] == Some(first as u32))
    }

    /// Returns whether the statement at `at` names the columns of a table.
    pub(crate) fn heads_a_table(&self, at: usize) -> bool {
        self.tables.contains(&at)
    }

    /// Returns the places of the items that `lead` leads in.
    pub(crate) fn items(&self, lead: usize) -> impl Iterator<Item = usize> {
        (lead..self.leads.len()).filter(move |at| self.leads[*at] == Some(lead as u32)).take(self.count(lead))
    }

    /// Returns how many items `lead` has.
    pub(crate) fn count(&self, lead: usize) -> usize {
        self.items.get(&(lead as u32)).copied().unwrap_or_default()
    }
}

/// Whether a statement only leads in what comes after it: a heading, or a few words and a colon. What is said whole under the looks of
/// one is told like any other sentence.
pub(crate) fn is_lead(statement: &Statement) -> bool {
    let text = &*statement.text;
    if text.starts_with('#') {
        return !concludes(text.trim_start_matches('#'));
    }
    let bare = text.trim_end_matches(['*', '_']);
    let is_bold_line = in_bold(text).is_some_and(|inside| !is_sentence(inside) && !concludes(inside));
    (bare.ends_with([':', '：']) || is_bold_line) && text.split_whitespace().count() <= LONGEST_LEAD
}

/// Returns what stands in bold in a line that is bold as a whole.
fn in_bold(text: &str) -> Option<&str> {
    let inside = text.strip_prefix("**").and_then(|rest| rest.strip_suffix("**"));
    inside.filter(|inside| !inside.is_empty() && !inside.contains("**"))
}

/// Whether a line ends as a sentence does, and has the words of one.
fn is_sentence(line: &str) -> bool {
    line.ends_with(['.', '!', '。', '！']) && line.split_whitespace().nth(LEAST_SENTENCE - 1).is_some()
}

/// Words of the shortest sentence in bold that is no title.
const LEAST_SENTENCE: usize = 4;

/// Whether a line is a label that concludes, with what it concludes: `My recommendation: keep the second table`.
pub(super) fn concludes(line: &str) -> bool {
    const LABELS: [&str; 16] = [
        "recommendation", "recommended", "answer", "short answer", "conclusion", "verdict", "result",
        "bottom line", "root cause", "cause", "decision", "diagnosis", "the bug", "takeaway", "tl;dr",
        "in short",
    ];
    let line = line.trim_start_matches([' ', '*', '_']);
    let Some((label, rest)) = line.split_once([':', '：']) else { return false };
    let label = label.trim_end_matches(['*', '_']).to_lowercase();
    let of = ["my ", "the ", "so ", "so the ", "final ", "overall ", "practical "];
    let bare = of.iter().filter_map(|word| label.strip_prefix(word)).chain([&*label]);
    let mut bare = bare.map(|label| label.strip_prefix("practical ").unwrap_or(label));
    bare.any(|label| LABELS.contains(&label)) && rest.split_whitespace().nth(1).is_some()
}

/// Whether a line is a title in bold with a word about it in brackets: it leads in its list, and says something by itself.
fn is_titled(text: &str) -> bool {
    let title = text.strip_prefix("**").and_then(|rest| rest.split_once("**"));
    title.is_some_and(|(title, aside)| {
        let aside = aside.trim();
        !title.trim().is_empty() && aside.starts_with('(') && aside.ends_with(')')
    })
}

/// Words of the longest line that says nothing but what comes.
const LONGEST_LEAD: usize = 14;

/// Lines between an item and what leads it in.
const FARTHEST: usize = 60;

fn is_worded(statement: &Statement) -> bool {
    statement.kind.is_said() || statement.kind == StatementKind::Thought
}

fn bullet(statement: &Statement) -> Bullet {
    let text = &*statement.text;
    match text.chars().next() {
        _ if statement.is_fenced() => Bullet::Code,
        Some('|') => Bullet::Row,
        Some('-' | '*' | '•') if statement.is_item() => Bullet::Dash,
        Some('0'..='9') if statement.is_item() => Bullet::Number,
        _ => Bullet::None,
    }
}

/// Returns the place of what leads in the item at `at`: for a row the first one of its table, else the nearest line
/// before the list that is no item of it. `leads` holds those of the statements before.
fn lead_of(all: &[Statement], leads: &[Option<u32>], at: usize) -> Option<u32> {
    let (item, kind) = (&all[at], bullet(&all[at]));
    let is_title = |one: &Statement| in_bold(&one.text).is_some() || one.text.starts_with('#');
    let mut is_behind_code = false;
    let before = (at.saturating_sub(FARTHEST)..at).rev();
    for place in before.take_while(|place| same_text(&all[*place], item)) {
        let one = &all[place];
        match (bullet(one), kind) {
            // However long the table is, its first row leads it.
            (Bullet::Row, Bullet::Row) => return leads[place].or_else(|| u32::try_from(place).ok()),
            (Bullet::Code, Bullet::Code) => {}
            (_, Bullet::Code) => {
                return one.text.ends_with([':', '：']).then(|| u32::try_from(place).ok()).flatten();
            }
            (_, Bullet::Row) => return None,
            // What leads in a block of code leads in nothing behind it; the title over both does.
            (Bullet::Code, _) => is_behind_code = true,
            (Bullet::None, _) if is_behind_code && one.text.ends_with([':', '：']) && !is_title(one) => {}
            (Bullet::None, _) if is_behind_code && !is_title(one) => return None,
            (Bullet::Number, Bullet::Dash) if is_lead(one) => return u32::try_from(place).ok(),
            (Bullet::None, _) => {
                let leads = is_lead(one)
                    || is_title(one)
                    || one.text.ends_with([':', '：'])
                    || is_titled(&one.text)
                    || is_field(&one.text);
                return leads.then(|| u32::try_from(place).ok()).flatten();
            }
            _ => {}
        }
    }
    None
}

/// Returns the place of the title of the section that begins with the statement at `at`; fields (`**File:** src/a.rs`) may stand between.
fn title_over(all: &[Statement], titles: &HashMap<usize, usize>, at: usize) -> Option<usize> {
    let before = at.checked_sub(1).filter(|before| same_text(&all[*before], &all[at]))?;
    let is_title =
        |one: &Statement| is_lead(one) && (one.text.starts_with('#') || in_bold(&one.text).is_some());
    match is_title(&all[before]) {
        // `Context`, `Summary`: nobody misses these.
        true => (!is_title(&all[at]) && tells(&all[before].text)).then_some(before),
        false => titles.get(&before).copied().filter(|_| is_field(&all[before].text)),
    }
}

/// Whether a title has more than one word.
fn tells(title: &str) -> bool {
    title.split_whitespace().filter(|word| word.contains(char::is_alphabetic)).nth(1).is_some()
}

/// Whether a line is a label in bold with the value that belongs to it: it says something, and the list behind it is of that.
fn is_field(text: &str) -> bool {
    let label = text.strip_prefix("**").and_then(|rest| rest.split_once("**"));
    label.is_some_and(|(label, value)| {
        let is_label = label.ends_with([':', '：']) || value.starts_with([':', '：']);
        let value = value.trim_start_matches([':', '：', ' ']);
        is_label
            && !value.is_empty()
            && value.split_whitespace().count() <= LONGEST_VALUE
            && !is_sentence(value)
    })
}

/// Words of the longest value of a field.
const LONGEST_VALUE: usize = 6;

fn same_text(one: &Statement, other: &Statement) -> bool {
    one.message == other.message && one.kind == other.kind
}

#[cfg(test)]
mod tests {
    use longhaul_extract::FactIndex;
    use longhaul_transcript::{Message, Transcript};

    use super::*;

    fn read(said: &[Message]) -> FactIndex {
        let said: Transcript = said.iter().cloned().collect();
        let mut index = FactIndex::new();
        said.entries().iter().for_each(|entry| index.push(entry));
        index
    }

    fn lead_in(pool: &Statements, lists: &Lists, text: &str) -> Option<String> {
        let at = pool.all().iter().position(|statement| &*statement.text == text).unwrap();
        lists.lead(at).map(|lead| pool.all()[lead].text.to_string())
    }

    #[test]
    fn an_item_has_its_heading() {
        let text = "Done.\n\nWhat changed:\n\n1. **Fixed the queue**:\n   - takes a lock\n   - gives it back\n2. Renamed the table\n\n| File | State |\n|---|---|\n| a.rs | done |\n| b.rs | open |\n";
        let index = read(&[Message::user("go"), Message::assistant(text)]);
        let pool = index.statements();
        let lists = Lists::new(pool);
        let lead = |text: &str| lead_in(pool, &lists, text);
        assert_eq!(lead("- gives it back").as_deref(), Some("1. **Fixed the queue**:"));
        assert_eq!(lead("1. **Fixed the queue**:").as_deref(), Some("What changed:"));
        assert_eq!(lead("2. Renamed the table").as_deref(), Some("What changed:"));
        assert_eq!(lead("| b.rs | open |").as_deref(), Some("| File | State |"));
        assert_eq!(lead("| File | State |"), None);
        assert_eq!(lead("Done."), None);
        let at = |text: &str| pool.all().iter().position(|statement| &*statement.text == text).unwrap();
        let before: Vec<usize> = lists.numbered_before(at("2. Renamed the table")).collect();
        assert_eq!(before, [at("1. **Fixed the queue**:")]);
    }

    #[test]
    fn an_item_behind_a_block_of_code_has_the_title_over_both() {
        let text = "**Option 1: look whether it is clean**\n\nThat is:\n\n```\nif it is clean\n```\n\n- simple, and fails late\n\n**Option 2: compare**\n\nIt reads all of it.\n\n```\nfor file in all\n```\n\n- slow, and always right\n";
        let index = read(&[Message::user("go"), Message::assistant(text)]);
        let pool = index.statements();
        let lists = Lists::new(pool);
        let lead = |text: &str| lead_in(pool, &lists, text);
        assert_eq!(
            lead("- simple, and fails late").as_deref(),
            Some("**Option 1: look whether it is clean**")
        );
        assert_eq!(lead("- slow, and always right"), None, "a sentence stands between");
    }

    #[test]
    fn a_sentence_in_bold_and_a_label_with_what_it_concludes_are_no_headings() {
        let text = "**The relays**\n\n- first\n\n**So no, the table stays as it was.**\n\n**My recommendation: Keep the second table**\n\n**Option 2: a second table**\n\n## Verdict: do not merge\n\n**Done.**\n";
        let index = read(&[Message::user("go"), Message::assistant(text)]);
        let told = index.statements().all().iter().filter(|one| one.message == 1 && !is_lead(one));
        let told: Vec<&str> = told.map(|one| &*one.text).collect();
        assert_eq!(
            told,
            [
                "- first",
                "**So no, the table stays as it was.**",
                "**My recommendation: Keep the second table**",
                "## Verdict: do not merge",
            ]
        );
    }

    #[test]
    fn an_item_behind_a_field_has_it_and_the_title_over_both() {
        let text = "## 1. Add the button\n\n**File:** `src/a.rs`\n**Tests:** none yet\n\n- import it\n\n## 2. Wire it up\n\n**File:** `src/b.rs`\n\n- hand it on\n\n**Note:** it is slow, and nobody has looked for the reason so far.\n\n- measure it\n";
        let index = read(&[Message::user(text)]);
        let (pool, lists) = (index.statements(), Lists::new(index.statements()));
        let lead = |text: &str| lead_in(pool, &lists, text);
        assert_eq!(lead("- import it").as_deref(), Some("**Tests:** none yet"));
        assert_eq!(lead("- hand it on").as_deref(), Some("**File:** `src/b.rs`"));
        assert_eq!(lead("- measure it"), None, "a sentence stands between");
        let at = |text: &str| pool.all().iter().position(|statement| &*statement.text == text).unwrap();
        let leads = lists.leads(at("- import it")).map(|at| &*pool.all()[at].text).collect::<Vec<_>>();
        assert_eq!(leads, ["**Tests:** none yet", "## 1. Add the button"]);
    }

    #[test]
    fn an_item_stands_under_its_own_title() {
        let text = "Found:\n\n**1. The hook is not found** (high)\n- it is looked for by name\n\n**2. The example is set** (low)\n- copied as it is it changes how all behaves\n";
        let index = read(&[Message::user("go"), Message::assistant(text)]);
        let pool = index.statements();
        let lists = Lists::new(pool);
        let at = |text: &str| pool.all().iter().position(|statement| &*statement.text == text).unwrap();
        let (title, item) =
            (at("**2. The example is set** (low)"), at("- copied as it is it changes how all behaves"));
        assert_eq!(lists.lead(item), Some(title));
        assert_eq!(lists.items(title).collect::<Vec<_>>(), [item]);
        assert!(!is_lead(&pool.all()[title]), "it says something by itself");
    }

    #[test]
    fn a_line_of_code_has_the_line_before_its_block() {
        let text = "One run is enough. Several runs let you answer:\n\n```text\nmean score = 0.74\n\np95 = 90s\n```\n\nThat is useful.\n```\nmake test\n```\n- then push";
        let index = read(&[Message::user("go"), Message::assistant(text)]);
        let pool = index.statements();
        let lists = Lists::new(pool);
        let at = |text: &str| pool.all().iter().position(|statement| &*statement.text == text).unwrap();
        let lead = at("One run is enough. Several runs let you answer:");
        assert_eq!(lists.items(lead).collect::<Vec<_>>(), [at("mean score = 0.74"), at("p95 = 90s")]);
        assert_eq!([lists.lead(at("make test")), lists.lead(at("- then push"))], [None, None]);
    }

    #[test]
    fn every_row_of_a_long_table_has_the_first_one() {
        let rows: String = (0..90).map(|nth| format!("| host-{nth} | up since day {nth} |\n")).collect();
        let text = format!("The hosts:\n\n***\n\n| Host | State |\n|---|---|\n{rows}");
        let index = read(&[Message::user(text.as_str())]);
        let pool = index.statements();
        let lists = Lists::new(pool);
        let head = pool.all().iter().position(|statement| &*statement.text == "| Host | State |").unwrap();
        let rows = pool.all().iter().enumerate().filter(|(_, row)| row.text.starts_with("| host-"));
        let leads: Vec<Option<usize>> = rows.map(|(at, _)| lists.lead(at)).collect();
        assert_eq!(leads, vec![Some(head); 90]);
        // A rule of Markdown is no heading.
        assert!(pool.all().iter().all(|statement| &*statement.text != "***" || !is_lead(statement)));
    }
}
