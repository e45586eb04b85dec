//! The few messages that many rules ask for. Most of a long conversation are calls and what they were answered: whoever looks for
//! what persons say, or the model decided, need not read them all once more.

use longhaul_extract::{decides, ends_with_question, speaker::Speakers};
use longhaul_transcript::{Entry, Origin, Role, has_summary_header};

use super::{asks::asks_something, quoted};

/// The messages of a conversation that many rules ask for, oldest first.
#[derive(Debug, Default)]
pub(super) struct Few<'e> {
    /// Those in which a person says something, each with what they sent, without what it only repeats of the answer before.
    persons: Vec<(&'e Entry, &'e str)>,
    /// Those of them that ask for something.
    asking: Vec<(&'e Entry, &'e str)>,
    /// Those in the role of the user, whoever speaks in them.
    users: Vec<Entry>,
    /// The same, and those of the model that end with a question, which what a person takes back may be of.
    demanding: Vec<Entry>,
    /// Those in which the model may decide something or keep a list.
    telling: Vec<Entry>,
    /// Those with a text that has the header of a summary.
    headed: Vec<&'e Entry>,
}

/// Those of a part of the conversation.
#[derive(Clone, Copy, Debug)]
pub(super) struct FewOf<'f> {
    pub(super) persons: &'f [(&'f Entry, &'f str)],
    pub(super) asking: &'f [(&'f Entry, &'f str)],
    pub(super) users: &'f [Entry],
    pub(super) demanding: &'f [Entry],
    pub(super) telling: &'f [Entry],
    pub(super) headed: &'f [&'f Entry],
}

impl<'e> Few<'e> {
    /// Finds them among `entries`.
    pub(super) fn among(entries: &'e [Entry], speakers: &Speakers) -> Few<'e> {
        let mut few = Few::default();
        let mut answer = None;
        for entry in entries {
            let message = &*entry.message;
            if message.texts().any(has_summary_header) {
                few.headed.push(entry);
            }
            if message.role == Role::User || message.role == Role::Assistant && ends_with_question(message) {
                few.demanding.push(entry.clone());
            }
            if message.role == Role::Assistant && message.texts().next().is_some() {
                answer = Some(message);
            }
            match message.role {
                Role::User => {
                    few.users.push(entry.clone());
                    if let Some(text) = sent(entry, speakers) {
                        let text = quoted::own(text, answer);
                        few.persons.push((entry, text));
                        few.asking.extend(asks_something(text).then_some((entry, text)));
                    }
                }
                // A list has several lines.
                Role::Assistant if message.texts().any(|text| text.contains('\n') || decides(text)) => {
                    few.telling.push(entry.clone());
                }
                _ => {}
            }
        }
        few
    }

    /// Returns those of `part`, which is a part of these entries.
    pub(super) fn of(&self, part: &[Entry]) -> FewOf<'_> {
        let ends = part.first().zip(part.last()).map(|(first, last)| (first.id.ordinal, last.id.ordinal));
        FewOf {
            persons: between(&self.persons, ends, |(entry, _)| entry),
            asking: between(&self.asking, ends, |(entry, _)| entry),
            users: between(&self.users, ends, |entry| entry),
            demanding: between(&self.demanding, ends, |entry| entry),
            telling: between(&self.telling, ends, |entry| entry),
            headed: between(&self.headed, ends, |entry| entry),
        }
    }
}

impl<'f> FewOf<'f> {
    /// Returns what a person sends in `entry`, without what it only repeats of the answer before.
    pub(super) fn sent(&self, entry: &Entry) -> Option<&'f str> {
        let at = self.persons.binary_search_by_key(&entry.id.ordinal, |(one, _)| one.id.ordinal).ok()?;
        Some(self.persons[at].1)
    }
}

/// Returns what a person sends in `entry`. A summary stands in the user's name, but nobody asked for what it says.
pub(super) fn sent<'e>(entry: &'e Entry, speakers: &Speakers) -> Option<&'e str> {
    let message = &*entry.message;
    let may = message.is_user_text() && message.origin != Origin::Longhaul;
    if may { speakers.sent(message) } else { None }
}

/// Returns those of `all` that stand between the messages with these ordinals.
fn between<T>(all: &[T], ends: Option<(u64, u64)>, entry: impl Fn(&T) -> &Entry) -> &[T] {
    let Some((first, last)) = ends else { return &[] };
    let from = all.partition_point(|one| entry(one).id.ordinal < first);
    let to = all.partition_point(|one| entry(one).id.ordinal <= last);
    &all[from..to]
}
