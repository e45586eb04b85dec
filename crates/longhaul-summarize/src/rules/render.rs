//! The summary as text: its sections in the order in which a reader needs them.

use std::{borrow::Cow, collections::BTreeMap};

use hashbrown::HashSet;
use longhaul_extract::{Domain, Statement, StatementKind, Statements, ToolFamily, decides};
use longhaul_transcript::{Constraint, one_line};

use super::{
    choose::Places,
    fixed::Section,
    heading::Heading,
    later::Later,
    lines::{LEFT_OUT, fenced, parts_comment},
    lists::is_lead,
    marks::Marks,
    newer,
    overtaken::Overtaken,
    proposals::proposes,
    rejected::Rejected,
    talkers::Talkers,
    trail::Trail,
};
use crate::sentences::sentences;

/// What the text is made from, picks apart.
#[derive(Debug)]
pub(crate) struct Page<'a> {
    /// What stands there whatever is picked.
    pub(crate) fixed: &'a [Section],
    /// What comes after everything else.
    pub(crate) last: &'a [Section],
    /// What is known of places in the pool.
    pub(crate) places: &'a Places<'a>,
    pub(crate) later: &'a Later<'a>,
    pub(crate) overtaken: &'a Overtaken,
    /// The words of what marks name.
    pub(crate) marks: &'a Marks,
    /// The rules and facts that persons set down.
    pub(crate) rules: &'a [Constraint],
    /// Those of them that stand in a message that stays.
    pub(crate) shown: Vec<(u64, &'a str)>,
    pub(crate) rejected: &'a Rejected,
    /// Who talks, where many do.
    pub(crate) talkers: &'a Talkers,
    pub(crate) pool: &'a Statements,
    /// The files that were changed.
    pub(crate) trail: &'a Trail<'a>,
    pub(crate) domain: Domain,
    /// The messages in which a person says something, oldest first.
    pub(crate) said_by_person: Vec<u64>,
    /// What the person decided, by the message and the key of the words.
    pub(crate) decided: HashSet<(u64, u32)>,
}

impl Page<'_> {
    /// Returns the whole summary with these picks.
    pub(crate) fn text(&self, picks: &[usize]) -> String {
        let mut sections: BTreeMap<Heading, Vec<usize>> = BTreeMap::new();
        let picks = self.completed(self.led(picks));
        let told: HashSet<usize> = picks.iter().copied().collect();
        for at in &picks {
            sections.entry(self.heading(*at)).or_default().push(*at);
        }
        sections.values_mut().for_each(|picks| picks.sort_unstable());
        let asked = sections.remove(&Heading::Told).unwrap_or_default();
        let (decided, asked): (Vec<usize>, Vec<usize>) =
            asked.into_iter().partition(|at| self.is_decided_by_the_user(*at));
        let decided: Vec<usize> = decided.into_iter().filter(|at| !self.stands_as_a_rule(*at)).collect();
        let mut text: String = match decided.is_empty() {
            true => self.fixed.iter().map(Section::text).collect(),
            false => self.with_decided(&decided, &told).iter().map(Section::text).collect(),
        };
        let is_rule =
            |at: &usize| self.pool.all()[*at].kind == StatementKind::Person && self.stands_as_a_rule(*at);
        let asked = asked.into_iter().filter(|at| !is_rule(at));
        let asked: Vec<usize> = asked.filter(|at| !self.completes(*at, &mut text)).collect();
        let of = |heading: Heading| sections.get(&heading).map_or(&[][..], Vec::as_slice);
        let mut add = |heading: &str, body: String| {
            if !body.is_empty() {
                text.push_str(&format!("{heading}\n{body}\n"));
            }
        };
        let told_by_persons = if self.domain == Domain::Talk { Heading::Said } else { Heading::Told };
        add(told_by_persons.words(), self.said(&asked, &told));
        add(Heading::Decisions.words(), self.decided(of(Heading::Decisions), &told));
        add(Heading::Findings.words(), self.found(of(Heading::Findings), &told));
        add(Heading::Thought.words(), self.said(of(Heading::Thought), &told));
        add(Heading::Proposed.words(), self.proposed(of(Heading::Proposed), &told));
        add(Heading::Reports.words(), fenced(self.said(of(Heading::Reports), &told)));
        add(Heading::Planned.words(), self.said(of(Heading::Planned), &told));
        add(&self.trail.heading(), self.trail.text(self.pool, of(Heading::Changed)));
        add(Heading::Calls.words(), fenced(self.quoted(of(Heading::Calls))));
        add(Heading::Pasted.words(), fenced(self.quoted(of(Heading::Pasted))));
        add(Heading::Results.words(), fenced(self.quoted(of(Heading::Results))));
        self.last.iter().for_each(|section| text.push_str(&section.text()));
        self.marks.with_words(text.trim_end().to_string())
    }

    /// Keeps of `picks`, the most needed first, so many under each heading.
    pub(crate) fn keep_most_needed(&self, picks: &mut Vec<usize>, most: usize) {
        let mut counts: BTreeMap<Heading, usize> = BTreeMap::new();
        picks.retain(|at| {
            let count = counts.entry(self.heading(*at)).or_default();
            *count += 1;
            *count <= most
        });
    }

    /// Returns whether a person decides something in the statement at this place.
    fn is_decided_by_the_user(&self, at: usize) -> bool {
        let statement = &self.pool.all()[at];
        statement.kind == StatementKind::Person
            && self.decided.contains(&(u64::from(statement.message), statement.key()))
    }

    /// Returns whether the rules of the user tell the statement at this place already, or a message that stays does.
    fn stands_as_a_rule(&self, at: usize) -> bool {
        let statement = &self.pool.all()[at];
        let said = one_line(&statement.text);
        let mut rules = self.fixed.iter().filter(|section| section.heading == Heading::Rules.words());
        self.shown.contains(&(u64::from(statement.message), &*said))
            || rules.any(|section| section.body.contains(&*said))
    }

    /// Returns the sections that stand there whatever is picked, with the picks that the user decided under their heading.
    fn with_decided(&self, picks: &[usize], told: &HashSet<usize>) -> Vec<Section> {
        let mut sections = self.fixed.to_vec();
        let is_of = |section: &Section, heading: Heading| section.heading.starts_with(heading.words());
        let at = sections.iter().position(|section| is_of(section, Heading::Decided)).unwrap_or_else(|| {
            let before = [Heading::Request, Heading::AskedBefore, Heading::Goal, Heading::Earlier];
            let is_before = |section: &Section| before.iter().any(|heading| is_of(section, *heading));
            let at = sections.iter().rposition(is_before).map_or(0, |at| at + 1);
            let heading = Heading::Decided.words().to_owned();
            sections.insert(at, Section { heading, body: String::new() });
            at
        });
        let ordinal = |line: &str| -> u64 {
            let handle = line.strip_prefix('m').and_then(|rest| rest.split(' ').next());
            handle.and_then(|handle| handle.parse().ok()).unwrap_or_default()
        };
        let mut blocks: Vec<String> = sections[at].body.lines().map(str::to_owned).collect();
        blocks.extend(self.of_messages(picks).map(|of_message| self.said(of_message, told)));
        blocks.sort_by_key(|block| ordinal(block));
        sections[at].body = blocks.join("\n");
        sections
    }

    /// Puts what a person said in the place of its beginning, where `text` has a line of that alone, so that it is not told twice in part.
    /// Returns whether it did.
    fn completes(&self, at: usize, text: &mut String) -> bool {
        let statement = &self.pool.all()[at];
        let handle = format!("m{} ", statement.message);
        if statement.answers.is_some() || self.domain == Domain::Talk {
            return false;
        }
        let whole = one_line(&statement.text);
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            let from = start + handle.len();
            start += line.len();
            let begun = line.strip_prefix(&handle).and_then(|said| said.split_once(CUT));
            let Some((begun, after)) = begun.filter(|(begun, _)| whole.starts_with(begun)) else { continue };
            if after != "\n" && !after.starts_with(" (") {
                continue;
            }
            // What is all of the message is not cut any more.
            let is_all = statement.nth() == 0 && statement.closes();
            let to = from + begun.len() + if is_all { CUT.len() } else { 0 };
            text.replace_range(from..to, &whole);
            return true;
        }
        false
    }

    /// Returns the picks without the headings of which no item is among them.
    fn led(&self, picks: &[usize]) -> Vec<usize> {
        let used: HashSet<usize> =
            picks.iter().filter_map(|at| self.places.lists.leads(*at).next()).collect();
        let leads = |at: usize| is_lead(&self.pool.all()[at]) || self.places.lists.heads_a_table(at);
        let stays = |at: &&usize| !leads(**at) || used.contains(*at);
        let mut led: Vec<usize> = picks.iter().filter(stays).copied().collect();
        led.dedup();
        led
    }

    /// Returns the picks with each short item of which its list lacks only this one: to say that one more is left out costs nearly
    /// as much, and it may be the step that is still to do.
    fn completed(&self, mut picks: Vec<usize>) -> Vec<usize> {
        let picked: HashSet<usize> = picks.iter().copied().collect();
        let leads: HashSet<usize> = picks.iter().filter_map(|at| self.places.lists.lead(*at)).collect();
        for lead in leads {
            let is_missing = |at: &usize| !picked.contains(at) && !self.places.are_silent_of(*at);
            let mut missing = self.places.lists.items(lead).filter(is_missing);
            if let (Some(at), None) = (missing.next(), missing.next())
                && self.pool.all()[at].text.len() <= SHORT_ITEM
            {
                picks.push(at);
            }
        }
        picks
    }

    fn heading(&self, at: usize) -> Heading {
        let statement: &Statement = &self.pool.all()[at];
        match statement.kind {
            StatementKind::Person => Heading::Told,
            _ if statement.kind.is_said() && self.domain == Domain::Talk => Heading::Told,
            StatementKind::Report => Heading::Reports,
            _ if statement.kind.is_said() && proposes(&self.outermost(at).text) => Heading::Proposed,
            _ if statement.kind.is_said() && self.is_decision(at) => Heading::Decisions,
            _ if statement.kind.is_said() => Heading::Findings,
            StatementKind::Thought => Heading::Thought,
            StatementKind::Todo => Heading::Planned,
            StatementKind::Added | StatementKind::Removed => Heading::Changed,
            StatementKind::Command | StatementKind::Argument => Heading::Calls,
            StatementKind::Pasted => Heading::Pasted,
            _ => Heading::Results,
        }
    }

    /// Returns what leads in the list that the statement at `at` stands in, or the statement itself.
    fn outermost(&self, at: usize) -> &Statement {
        let outermost =
            std::iter::successors(Some(at), |at| self.places.lists.lead(*at)).last().unwrap_or(at);
        &self.pool.all()[outermost]
    }

    /// Whether a statement settles something. A list stays in one piece: its items go where its heading goes.
    fn is_decision(&self, at: usize) -> bool {
        let statement = self.outermost(at);
        // What was done instead of something else, and what was not, is progress; with a verb of deciding it is more.
        // What is wrong, and why, was found.
        let is_aside =
            ["instead of", "rather than", "the issue is", "the problem is", "the bug is", "root cause"];
        let text = is_aside.iter().fold(statement.text.to_lowercase(), |text, words| text.replace(words, ""));
        !statement.is_item() && decides(&text)
    }

    /// Returns statements in the order in which they were made, each message's first with its handle. Where items of a list are left out,
    /// the last one told says how many; where anything else is, a mark stands: two sentences would be taken for one after the other.
    fn said(&self, picks: &[usize], told: &HashSet<usize>) -> String {
        let mut lines: Vec<String> = Vec::new();
        let leads: HashSet<usize> = picks.iter().filter_map(|at| self.places.lists.lead(*at)).collect();
        let mut counts: Vec<(usize, usize)> = Vec::new();
        let mut before: Option<usize> = None;
        for (nth, at) in picks.iter().enumerate() {
            let statement = &self.pool.all()[*at];
            let of_message =
                before.replace(*at).filter(|at| self.pool.all()[*at].message == statement.message);
            let handle = match of_message {
                Some(_) => String::new(),
                None => format!("m{} ", statement.message),
            };
            let speaker = match of_message {
                Some(_) => String::new(),
                None => self.speaker(*at).map_or(String::new(), |name| format!("{name}: ")),
            };
            let answers =
                statement.answers.as_ref().map_or(String::new(), |asked| format!(" (to: \"{asked}\")"));
            // Nothing that is quoted is a heading of ours.
            let bare = statement.text.trim_start_matches('#');
            let text = if bare.starts_with(' ') { bare.trim_start() } else { &*statement.text };
            let text = self.beside_rules(statement, text);
            let later = match self.places.revised.by(*at) {
                Some(by) => format!(" (later on this: m{})", self.pool.all()[by].message),
                None if statement.kind == StatementKind::Person => {
                    let message = u64::from(statement.message);
                    let note = self.overtaken.note(message, &text);
                    if note.is_empty() { newer::note(self.rules, message, &text) } else { note }
                }
                None => String::new(),
            };
            let gap = match self.leaves_out(of_message, *at, &leads, told) {
                true if statement.is_item() && of_message.is_some() => "…\n",
                true => "… ",
                false => "",
            };
            lines.push(format!("{handle}{speaker}{gap}{text}{answers}{later}"));
            if let Some(lead) = self.places.lists.lead(*at) {
                let is_of = |at: &&usize| self.places.lists.lead(**at) == Some(lead);
                let is_last = !picks[nth + 1..].iter().any(|at| is_of(&at));
                let missing =
                    self.places.lists.count(lead).saturating_sub(picks.iter().filter(is_of).count());
                if is_last && missing > 0 {
                    counts.push((*at, missing));
                }
            }
            // What is missing of a list is counted behind what stands under its last item.
            let next = picks.get(nth + 1);
            let mut ended = 0;
            while let Some((item, missing)) = counts.last()
                && !next.is_some_and(|next| self.places.lists.stands_under(*next, *item))
            {
                // Lists that end in the same place are counted as one: nobody could tell which count is whose.
                ended += missing;
                counts.pop();
            }
            if ended > 0 {
                lines.push(format!("… {ended} more"));
            }
        }
        lines.join("\n")
    }

    /// Returns the `text` of a person's statement without the sentences of it that the user's rules tell: these leave after it.
    fn beside_rules<'t>(&self, statement: &Statement, text: &'t str) -> Cow<'t, str> {
        let is_person = statement.kind == StatementKind::Person;
        let mut sections = self.fixed.iter().filter(|section| section.heading == Heading::Rules.words());
        let Some(told) = sections.find(|_| is_person) else { return Cow::Borrowed(text) };
        let is_told = |sentence: &str| {
            let line = format!("- m{}: {}", statement.message, one_line(sentence.trim()));
            told.body.lines().any(|told| told.starts_with(&line))
        };
        let of_rules = |sentence: &&str| is_told(sentence);
        let n_told = sentences(text).filter(of_rules).count();
        if n_told == 0 || sentences(text).count() == n_told {
            return Cow::Borrowed(text);
        }
        let mut left: Vec<&str> = Vec::new();
        for sentence in sentences(text) {
            match is_told(sentence) {
                false => left.push(sentence.trim()),
                true if left.last() != Some(&ELSEWHERE) => left.push(ELSEWHERE),
                true => {}
            }
        }
        Cow::Owned(left.join(" "))
    }

    /// Returns whether something that was said before the statement at `at`, behind the one that is told `before` it or from the
    /// beginning of the message on, is not told. Headings and lead-ins say nothing, and the first items of lists are counted.
    fn leaves_out(
        &self,
        before: Option<usize>,
        at: usize,
        leads: &HashSet<usize>,
        told: &HashSet<usize>,
    ) -> bool {
        let all = self.pool.all();
        let from = before.map_or(0, |before| before + 1);
        let skipped = (from..at).rev().take_while(|place| all[*place].message == all[at].message);
        // Those between two that are told are marked all the same: what stands behind them would be taken for the first's.
        let is_counted = |place: usize| {
            before.is_none() && self.places.lists.lead(place).is_some_and(|lead| leads.contains(&lead))
        };
        skipped.into_iter().any(|place| {
            let one = &all[place];
            one.kind == all[at].kind && !told.contains(&place) && !is_lead(one) && !is_counted(place)
        })
    }

    /// Returns proposals, those of each message with the handle of what a person said next: whether that answers them, it tells.
    fn proposed(&self, picks: &[usize], told: &HashSet<usize>) -> String {
        let all = self.pool.all();
        let mut lines: Vec<String> = Vec::new();
        for chunk in self.of_messages(picks) {
            let message = all[chunk[0]].message;
            // The pool has no short answers, and the messages may begin later than what is told of.
            let of_person = |one: &&Statement| one.kind == StatementKind::Person && one.message > message;
            let in_pool = all[chunk[0]..].iter().find(of_person).map(|one| u64::from(one.message));
            let said = self.said_by_person.iter().copied().find(|said| *said > u64::from(message));
            let next = in_pool.into_iter().chain(said).min();
            let said = self.said(chunk, told);
            let (first, rest) = said.split_once('\n').unwrap_or((&said, ""));
            let next = next.map_or(String::new(), |next| format!(" (the user's next words: m{next})"));
            lines.push(format!("{first}{next}"));
            lines.extend((!rest.is_empty()).then(|| rest.to_owned()));
        }
        lines.join("\n")
    }

    /// Returns what the model found, what is told of each message with the person's next words where they turn it down.
    fn found(&self, picks: &[usize], told: &HashSet<usize>) -> String {
        let of_messages = self.of_messages(picks);
        let lines =
            of_messages.map(|chunk| self.said(chunk, told) + &self.turned_down(chunk).unwrap_or_default());
        lines.collect::<Vec<_>>().join("\n")
    }

    /// Returns decisions, each with the handle of what was said later about the same, where that may overrule it.
    fn decided(&self, picks: &[usize], told: &HashSet<usize>) -> String {
        let mut lines: Vec<String> = Vec::new();
        for of_message in self.of_messages(picks) {
            let turned_down = self.turned_down(of_message);
            for chunk in
                of_message.chunk_by(|one, next| self.places.lists.lead(*next).is_some() || one == next)
            {
                let mut text = self.said(chunk, told);
                let later = self.later.on(chunk[0]).filter(|_| self.places.revised.by(chunk[0]).is_none());
                if let Some(later) = later.filter(|_| turned_down.is_none()) {
                    text.push_str(&format!(" (later on this: m{later})"));
                }
                lines.push(text);
            }
            if let (Some(last), Some(turned_down)) = (lines.last_mut(), turned_down) {
                last.push_str(&turned_down);
            }
        }
        lines.join("\n")
    }

    /// Returns the picks of one message after the other.
    fn of_messages<'p>(&self, picks: &'p [usize]) -> impl Iterator<Item = &'p [usize]> {
        let all = self.pool.all();
        picks.chunk_by(|one, next| all[*one].message == all[*next].message)
    }

    /// Returns the words with which the person turned down what the message of these picks says.
    fn turned_down(&self, picks: &[usize]) -> Option<String> {
        self.rejected.told(self.pool.all()[*picks.first()?].message)
    }

    /// Returns who says this, where many talk and the statement itself does not begin with the name.
    fn speaker(&self, at: usize) -> Option<&str> {
        if self.domain != Domain::Talk {
            return None;
        }
        let all = self.pool.all();
        let before = all[..at].iter().rev().take_while(|one| one.message == all[at].message);
        let first = before.last().filter(|first| first.nth() == 0)?;
        self.talkers.of(first)
    }

    /// Returns quotations, each call's first after what the call was. Where a part of a record is left out, a mark says so: three items
    /// would be taken for all four.
    fn quoted(&self, picks: &[usize]) -> String {
        let mut lines = Vec::new();
        let mut before = None;
        for (nth, at) in picks.iter().enumerate() {
            let statement = &self.pool.all()[*at];
            // A command says itself what it was; what it hands on does not.
            let is_command = statement.kind == StatementKind::Command && !self.places.idle.is_handed_on(*at);
            let source = self.pool.source(statement).filter(|_| !is_command);
            let pasted = (statement.kind == StatementKind::Pasted).then_some(PASTED);
            let label = source.map(|source| &*source.label).or(pasted);
            let place = (statement.message, label);
            let is_first = before.replace(place) != Some(place);
            if let Some(label) = label.filter(|_| is_first) {
                let label = match pasted {
                    Some(pasted) => pasted.to_owned(),
                    None => self.trail.below(name_or_label(label, &statement.text)),
                };
                lines.push(format!("m{} {label}:", statement.message));
            }
            let lacks =
                |next: usize| picks.binary_search(&next).is_err() && self.are_of_one_record(*at, next);
            if at.checked_sub(1).is_some_and(lacks) && lines.last().is_none_or(|line| line != LEFT_OUT) {
                lines.push(LEFT_OUT.to_owned());
            }
            lines.push(match label {
                None if is_first => format!("m{} $ {}", statement.message, statement.text),
                _ => statement.text.to_string(),
            });
            let next = picks.get(nth + 1).map(|next| &self.pool.all()[*next]);
            let ends_hits = || self.ends_hits(*at, next) && self.has_more_hits(*at, picks);
            if lacks(at + 1) || next.is_some_and(|next| parts_comment(statement, next)) || ends_hits() {
                lines.push(LEFT_OUT.to_owned());
            }
        }
        lines.join("\n")
    }

    /// Returns whether this is the last that is told of what a search found.
    fn ends_hits(&self, at: usize, next: Option<&Statement>) -> bool {
        let statement = &self.pool.all()[at];
        let of = |one: &Statement| (one.message, self.pool.source(one).map(std::ptr::from_ref));
        let is_search =
            self.pool.source(statement).is_some_and(|source| source.family() == ToolFamily::Search);
        is_search && next.is_none_or(|next| of(next) != of(statement))
    }

    /// Returns whether a search found more than is told of it: one hit would be taken for the only one.
    fn has_more_hits(&self, at: usize, picks: &[usize]) -> bool {
        let all = self.pool.all();
        let is_of_it = |one: &Statement| {
            let source = |one| self.pool.source(one).map(std::ptr::from_ref);
            one.message == all[at].message && source(one) == source(&all[at])
        };
        let before = all[..at].iter().rev().take_while(|one| one.message == all[at].message).count();
        let of_message = all.iter().enumerate().skip(at - before);
        let mut of_message = of_message.take_while(|(_, one)| one.message == all[at].message);
        of_message.any(|(nth, one)| is_of_it(one) && picks.binary_search(&nth).is_err())
    }

    /// Returns whether two statements are parts of one record, as JSON, that a call was answered.
    fn are_of_one_record(&self, one: usize, other: usize) -> bool {
        let part = |at: usize| {
            let part = self.pool.all().get(at).filter(|part| part.kind == StatementKind::Result)?;
            let is_json = part.text.starts_with(['{', '[', '"']) && part.text.contains("\":");
            is_json.then(|| (part.message, self.pool.source(part).map(std::ptr::from_ref)))
        };
        part(one).is_some() && part(one) == part(other)
    }
}

/// Stands where a rule or a fact stood that is told as that.
const ELSEWHERE: &str = "[…]";

/// What stands behind the beginning of a message.
const CUT: &str = " […]";

/// What stands over lines that a person put in.
const PASTED: &str = "pasted";

/// Bytes of an item that is told rather than left out as the only one of its list.
const SHORT_ITEM: usize = 100;

/// Returns the label of a call, or only its name where what it is about is what is quoted of it.
fn name_or_label<'l>(label: &'l str, quoted: &str) -> &'l str {
    match label.split_once(' ') {
        Some((name, about)) if quoted.starts_with(about.trim_end_matches('…').trim_end()) => name,
        _ => label,
    }
}
