//! Reads messages into the index: each once, for its facts and for its statements.

use std::hash::BuildHasher;

use longhaul_transcript::{Entry, Message, Origin, Part, Role};

use super::{
    Domain, FactIndex, Visible,
    fact::{Fact, Place, ToolUse},
    strip_line_numbers,
};
use crate::{
    CallView,
    atoms::{AtomKind, FactClass, scan, scan_words},
    fields::{FieldPlace, is_file_key, patch_heads},
    speaker::Speakers,
    statements::Statements,
};

impl FactIndex {
    /// Reads one message. Messages that longhaul itself wrote are not read: what they say was read before.
    pub fn push(&mut self, entry: &Entry) {
        let message = &*entry.message;
        if message.origin == Origin::Longhaul {
            return;
        }
        let ordinal = u32::try_from(entry.id.ordinal).unwrap_or(u32::MAX);
        let is_task = self.task.is_none() && message.is_user_text();
        if is_task {
            self.task = Some(entry.id.ordinal);
        }
        let standing = message.is_system();
        if !standing {
            // Counted before its facts are placed, so that a fact of the last message has the age zero.
            self.bytes += text_bytes(message) as u64;
            self.messages += 1;
        }
        let at = (self.bytes / 4).min(u64::from(u32::MAX)) as u32;
        // Read once, for its facts and for its statements.
        let calls: Vec<CallView<'_>> = message.calls().map(CallView::new).collect();
        let seen = std::mem::take(&mut self.room);
        let mut reader = Reader { at, ordinal, is_task, index: self, seen };
        reader.message(message, &calls, standing);
        let seen = std::mem::take(&mut reader.seen);
        self.crowd(seen);
        let speakers = self.speakers.as_deref().unwrap_or_else(|| Speakers::builtin());
        self.statements.push(ordinal, message, &calls, speakers);
        if self.facts.len() > self.most_facts {
            self.forget();
        }
    }

    /// Reads a summary that stands for messages up to `ordinal` of which some are gone, before the messages that are there: its names, and
    /// what it quotes of messages for which `is_gone` holds. It is nobody's word of its own.
    pub fn push_summary(&mut self, summary: &str, ordinal: u64, is_gone: impl Fn(u64) -> bool) {
        let ordinal = u32::try_from(ordinal).unwrap_or(u32::MAX);
        self.bytes += summary.len() as u64;
        let at = self.tokens_read();
        let seen = std::mem::take(&mut self.room);
        let mut reader = Reader { at, ordinal, is_task: false, index: self, seen };
        reader.text(summary, Place::Prose, ToolUse::default());
        let seen = std::mem::take(&mut reader.seen);
        self.crowd(seen);
        self.statements.push_told(summary, |message| is_gone(u64::from(message)));
        if self.facts.len() > self.most_facts {
            self.forget();
        }
    }

    /// Forgets what only messages said for which `is_gone` holds, and reads in their place what `instead`, oldest first, says.
    pub fn read_instead(&mut self, is_gone: impl Fn(u64) -> bool, instead: &[Entry]) {
        let is_gone = |message: u32| is_gone(u64::from(message));
        let mut shown = Visible::new(self.domain() == Domain::Talk);
        instead.iter().for_each(|entry| shown.read_message(&entry.message));
        let stays = |fact: &Fact| {
            !is_gone(fact.first_message) || !is_gone(fact.last_message) || shown.has(&fact.name)
        };
        let before = self.facts.len();
        self.facts.retain(stays);
        if self.facts.len() < before {
            self.find_anew();
        }
        let instead = Statements::of(instead.iter(), self.speakers());
        self.statements.put_in_place(is_gone, instead);
    }

    /// Notes for the facts of one message how many they are.
    fn crowd(&mut self, mut seen: Vec<u32>) {
        seen.sort_unstable();
        seen.dedup();
        let crowd = seen.len() as u32;
        for id in seen.drain(..) {
            let fact = &mut self.facts[id as usize];
            fact.crowd = fact.crowd.min(crowd);
        }
        self.room = seen;
    }

    fn intern(&mut self, name: &str, kind: AtomKind, at: u32, ordinal: u32) -> usize {
        let FactIndex { ids, hasher, facts, .. } = self;
        let hash = hasher.hash_one(name);
        if let Some(id) = ids.find(hash, |id| *facts[*id as usize].name == *name) {
            return *id as usize;
        }
        let id = facts.len();
        ids.insert_unique(hash, id as u32, |id| hasher.hash_one(&*facts[*id as usize].name));
        if id == facts.capacity() {
            // An eighth at a time: a doubled table would be half empty, and facts are most of what the index weighs.
            facts.reserve_exact(id / 8 + 16);
        }
        facts.push(Fact {
            name: name.into(),
            kind,
            mentions: 0,
            messages: 0,
            user: 0,
            prose: 0,
            key: 0,
            body: 0,
            output: 0,
            read: 0,
            edited: 0,
            shell: 0,
            in_task: false,
            standing: false,
            first: at,
            last: at,
            last_assistant: None,
            first_message: ordinal,
            last_message: ordinal,
            crowd: u32::MAX,
        });
        id
    }
}

struct Reader<'i> {
    index: &'i mut FactIndex,
    at: u32,
    ordinal: u32,
    is_task: bool,
    /// The facts of this message, as they come.
    seen: Vec<u32>,
}

impl Reader<'_> {
    /// Reads a message; `calls` are its calls, in order.
    fn message(&mut self, message: &Message, calls: &[CallView<'_>], standing: bool) {
        let mut calls = calls.iter();
        let place = match message.role {
            _ if standing => Place::Standing,
            Role::User => Place::User,
            Role::Tool => Place::Output,
            _ => Place::Prose,
        };
        match place {
            Place::Output => self.index.tool_messages += 1,
            Place::User if message.is_user_text() => self.index.recent.user_begins(),
            Place::Prose => self.index.recent.assistant_begins(),
            _ => {}
        }
        for part in &message.parts {
            match part {
                Part::Text(text) if place == Place::Output => self.output(text),
                Part::Text(text) => self.text(text, place, ToolUse::default()),
                Part::ToolCall(_) => calls.by_ref().take(1).for_each(|call| self.call(call)),
                Part::ToolResult(result) => {
                    self.index.tool_messages += 1;
                    for part in &result.content {
                        if let Part::Text(text) = part {
                            self.output(text);
                        }
                    }
                }
                _ => {}
            }
        }
    }

    fn output(&mut self, text: &str) {
        self.text(&strip_line_numbers(text), Place::Output, ToolUse::default());
    }

    fn call(&mut self, call: &CallView<'_>) {
        let index = &mut *self.index;
        index.calls += 1;
        match index.tools.get_mut(call.name()) {
            Some(count) => *count += 1,
            None => drop(index.tools.insert(call.name().to_owned(), 1)),
        }
        let family = match index.families.get(call.name()) {
            Some(family) => *family,
            None => {
                let family = ToolUse::of(call.name());
                index.families.insert(call.name().into(), family);
                self.standing(call.name());
                family
            }
        };
        let mut on_files = false;
        for field in call.whole_fields() {
            self.standing(&field.key);
            let place = match field.place {
                FieldPlace::Key => Place::Key,
                FieldPlace::Body => Place::Body,
                FieldPlace::Tuning => continue,
            };
            on_files |= is_file_key(&field.key) || field.key.is_empty();
            if place == Place::Body {
                for head in patch_heads(&field.text) {
                    on_files = true;
                    self.text(head, Place::Key, family);
                }
            }
            self.text(&field.text, place, family);
        }
        self.index.file_calls += u32::from(on_files);
    }

    /// Names out of a tool's definition are no facts.
    fn standing(&mut self, name: &str) {
        let Reader { index, at, ordinal, .. } = self;
        if name.len() >= 3 {
            let id = index.intern(name, AtomKind::Snake, *at, *ordinal);
            index.facts[id].standing = true;
        }
    }

    fn text(&mut self, text: &str, place: Place, family: ToolUse) {
        let Reader { index, at, ordinal, is_task, seen } = self;
        let (at, ordinal, is_task) = (*at, *ordinal, *is_task && place == Place::User);
        match place {
            Place::User => index.recent.user_says(text),
            Place::Prose | Place::Key => index.recent.assistant_says(text),
            _ => {}
        }
        let words =
            index.calls == 0 && index.tool_messages == 0 && matches!(place, Place::User | Place::Prose);
        let mut touch = |atom: crate::Atom<'_>| {
            let class = atom.kind.class();
            index.code_atoms += u64::from(matches!(class, FactClass::Path | FactClass::Symbol));
            let id = index.intern(&atom.text, atom.kind, at, ordinal);
            index.facts[id].touch(place, family, is_task, at, ordinal);
            seen.push(id as u32);
        };
        scan(text, &mut touch);
        if words {
            scan_words(text, &mut touch);
        }
    }
}

fn text_bytes(message: &Message) -> usize {
    let part_bytes = |part: &Part| match part {
        Part::Text(text) => text.len(),
        Part::ToolCall(call) => call.name.len() + call.arguments.0.len(),
        Part::ToolResult(result) => {
            result.content.iter().map(|part| if let Part::Text(text) = part { text.len() } else { 0 }).sum()
        }
        _ => 0,
    };
    message.parts.iter().map(part_bytes).sum()
}
