//! The originals of one line of conversation: the newest in memory, older ones perhaps in a store only.

use std::sync::{Arc, OnceLock};

use longhaul_redact::{Answers, Redactor};
use longhaul_transcript::{ContentHash, Entry, Message, MessageId, RedactionCount, Span, Transcript};

/// The originals of one line of conversation, oldest first.
///
/// Copies share what they have in common, so that a branch costs nothing but what is said on it. Old originals of a
/// stored session may be let go and read back when they are needed; what is asked for here is only what is at hand.
#[derive(Clone, Debug, Default)]
pub struct Line {
    full: Arc<Vec<Chunk>>,
    last: Arc<Vec<Original>>,
    /// Lineage of the last original.
    lineage: Option<ContentHash>,
}

/// A message as it was said.
#[derive(Clone, Debug)]
pub(crate) struct Original {
    pub(crate) entry: Entry,
    /// Looked for once it is asked for, unless the message answers what makes a bare word a secret: what comes back from a store is
    /// often only shown.
    clean: OnceLock<Option<Arc<Clean>>>,
}

/// A message without its secrets.
#[derive(Debug)]
pub(crate) struct Clean {
    pub(crate) message: Arc<Message>,
    /// Its hash: one of what it was made from would be a hint to the secret.
    pub(crate) hash: ContentHash,
    /// How often each rule struck.
    pub(crate) redactions: Vec<RedactionCount>,
}

/// So many originals at a time are let go and read back.
pub(crate) const CHUNK: u64 = 64;

#[derive(Clone, Debug, Default)]
struct Chunk {
    held: Option<Arc<Vec<Original>>>,
    /// Lineage of its last original, where it is known.
    lineage: Option<ContentHash>,
    /// The lineages of those that are held are known: what comes back from the store follows what may not be at hand.
    is_dated: bool,
    /// Of what was let go, the hashes without their secrets of the messages that have any: the store knows these only.
    clean: Vec<(u64, ContentHash)>,
}

impl Chunk {
    fn let_go(&mut self) {
        let Some(held) = self.held.take() else { return };
        let clean =
            |original: &Original| Some((original.entry.id.ordinal, original.clean.get()?.as_ref()?.hash));
        self.clean.extend(held.iter().filter_map(clean));
    }
}

impl Original {
    /// Returns it without its secrets; `None` where it has none.
    pub(crate) fn clean(&self, redactor: Option<&Redactor>) -> Option<&Arc<Clean>> {
        self.clean.get_or_init(|| Clean::of(&self.entry.message, &Answers::default(), redactor)).as_ref()
    }

    /// Returns it as facts and summaries are made from it.
    pub(crate) fn clean_entry(&self, redactor: Option<&Redactor>) -> Entry {
        match self.clean(redactor) {
            Some(clean) => Entry { message: Arc::clone(&clean.message), ..self.entry.clone() },
            None => self.entry.clone(),
        }
    }
}

impl Clean {
    /// Returns the message without its secrets; `None` where it has none.
    pub(crate) fn of(
        message: &Message,
        answers: &Answers,
        redactor: Option<&Redactor>,
    ) -> Option<Arc<Clean>> {
        let (clean, redactions) = redactor?.redact_answer(message, answers);
        (!redactions.is_empty()).then(|| {
            let message = Arc::new(clean.into_inner());
            Arc::new(Clean { hash: message.content_hash(), message, redactions })
        })
    }
}

impl Line {
    /// Returns a line of `len` originals of which none is at hand, with the lineages of the last full chunk and of the
    /// last one. Those after the last full chunk must be put back before anything else is done.
    pub(crate) fn away(len: u64, chunk: Option<ContentHash>, lineage: Option<ContentHash>) -> Line {
        let mut full = vec![Chunk::default(); (len / CHUNK) as usize];
        if let Some(last) = full.last_mut() {
            last.lineage = chunk;
        }
        Line { full: Arc::new(full), last: Arc::default(), lineage }
    }

    /// Adds a message at the end.
    pub(crate) fn push(&mut self, message: Arc<Message>, clean: Option<Arc<Clean>>) -> MessageId {
        let hash = message.content_hash();
        let before = self.lineage.as_ref().map_or(&[][..], |lineage| &lineage.0[..]);
        let lineage = ContentHash::of_fields([before, &hash.0]);
        let id = MessageId { ordinal: self.len() as u64, hash };
        self.lineage = Some(lineage);
        let last = Arc::make_mut(&mut self.last);
        last.push(Original { entry: Entry { id, lineage, message }, clean: clean.into() });
        if last.len() as u64 == CHUNK {
            let held = Some(std::mem::take(&mut self.last));
            Arc::make_mut(&mut self.full).push(Chunk {
                held,
                lineage: Some(lineage),
                is_dated: true,
                clean: Vec::new(),
            });
        }
        id
    }

    /// Returns the number of originals, those included that are not at hand.
    pub fn len(&self) -> usize {
        self.full.len() * CHUNK as usize + self.last.len()
    }

    /// Returns whether nothing was said yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the original with this ordinal, where it is at hand.
    pub fn get(&self, ordinal: u64) -> Option<&Entry> {
        self.original(ordinal).map(|original| &original.entry)
    }

    /// Returns the originals that are at hand, oldest first.
    pub fn entries(&self) -> Vec<Entry> {
        self.in_span(Span { start: 0, end: self.len() as u64 })
    }

    /// Returns those in `span` that are at hand, oldest first.
    pub fn in_span(&self, span: Span) -> Vec<Entry> {
        self.originals(span).map(|original| original.entry.clone()).collect()
    }

    /// Returns the last one.
    pub fn last(&self) -> Option<&Entry> {
        self.get((self.len() as u64).checked_sub(1)?)
    }

    /// Returns what is at hand as a transcript of its own.
    pub fn to_transcript(&self) -> Transcript {
        self.entries().into_iter().map(|entry| entry.message).collect()
    }

    pub(crate) fn original(&self, ordinal: u64) -> Option<&Original> {
        let (chunk, at) = ((ordinal / CHUNK) as usize, (ordinal % CHUNK) as usize);
        match self.full.get(chunk) {
            Some(chunk) => chunk.held.as_ref()?.get(at),
            None if chunk == self.full.len() => self.last.get(at),
            None => None,
        }
    }

    pub(crate) fn originals(&self, span: Span) -> impl DoubleEndedIterator<Item = &Original> {
        let end = span.end.min(self.len() as u64);
        (span.start.min(end)..end).filter_map(|ordinal| self.original(ordinal))
    }

    /// Returns the hash of an original without its secrets; `None` where it has none, as far as is known.
    pub(crate) fn clean_hash(&self, ordinal: u64, redactor: Option<&Redactor>) -> Option<ContentHash> {
        let chunk = self.full.get((ordinal / CHUNK) as usize);
        let noted = chunk.and_then(|chunk| chunk.clean.iter().find(|(at, _)| *at == ordinal));
        match noted {
            Some((_, hash)) => Some(*hash),
            None => self.original(ordinal)?.clean(redactor).map(|clean| clean.hash),
        }
    }

    /// Returns the lineage of the last full chunk.
    pub(crate) fn chunk_lineage(&self) -> Option<ContentHash> {
        self.full.last()?.lineage
    }

    /// Returns the lineage of the original with this ordinal, where it is known.
    pub(crate) fn lineage(&self, ordinal: u64) -> Option<ContentHash> {
        if ordinal + 1 == self.len() as u64 {
            return self.lineage;
        }
        let of_chunk = || match (ordinal + 1) % CHUNK {
            0 => self.full.get((ordinal / CHUNK) as usize)?.lineage,
            _ => None,
        };
        let is_dated = self.full.get((ordinal / CHUNK) as usize).is_none_or(|chunk| chunk.is_dated);
        let original = self.original(ordinal).filter(|_| is_dated);
        original.map(|original| original.entry.lineage).or_else(of_chunk)
    }

    /// Returns what is to be put back for the lineage of the original with this ordinal to be known: all from the last
    /// chunk on whose lineage is known, whole chunks, at hand or not.
    pub(crate) fn to_date(&self, ordinal: u64) -> Span {
        let last = ((ordinal / CHUNK) as usize).min(self.full.len().saturating_sub(1));
        let known = self.full[..last].iter().rposition(|chunk| chunk.lineage.is_some());
        Span { start: known.map_or(0, |at| at + 1) as u64 * CHUNK, end: (last + 1) as u64 * CHUNK }
    }

    /// Returns which of `spans` are not at hand, as the store is to be asked for them: whole chunks.
    pub(crate) fn missing(&self, spans: impl IntoIterator<Item = Span>) -> Vec<Span> {
        let mut chunks: Vec<u64> = Vec::new();
        for span in spans {
            let end = span.end.min(self.len() as u64);
            if span.start < end {
                chunks.extend(span.start / CHUNK..=(end - 1) / CHUNK);
            }
        }
        chunks.sort_unstable();
        chunks.dedup();
        let is_away = |chunk: &u64| self.full.get(*chunk as usize).is_some_and(|chunk| chunk.held.is_none());
        chunks.retain(is_away);
        let runs = Span::runs(chunks).into_iter();
        runs.map(|run| Span { start: run.start * CHUNK, end: run.end * CHUNK }).collect()
    }

    /// Takes back what [`missing`](Self::missing) asked for: originals from the first of a chunk on. `clean` gives those without their
    /// secrets that are not to be judged by themselves.
    pub(crate) fn put_back(
        &mut self,
        start: u64,
        messages: impl IntoIterator<Item = Arc<Message>>,
        clean: impl Fn(u64, &Message) -> Option<Option<Arc<Clean>>>,
    ) {
        let original = |id: MessageId, lineage: ContentHash, message: Arc<Message>| {
            let clean = clean(id.ordinal, &message).map_or_else(OnceLock::new, OnceLock::from);
            Original { entry: Entry { id, lineage, message }, clean }
        };
        let mut messages = messages.into_iter();
        let mut lineage = start.checked_sub(1).and_then(|before| self.lineage(before));
        let mut is_known = start == 0 || lineage.is_some();
        let full = Arc::make_mut(&mut self.full);
        for (nth, chunk) in full.iter_mut().enumerate().skip((start / CHUNK) as usize) {
            let first = nth as u64 * CHUNK;
            let mut held = Vec::with_capacity(CHUNK as usize);
            for message in messages.by_ref().take(CHUNK as usize) {
                let id = MessageId { ordinal: first + held.len() as u64, hash: message.content_hash() };
                let before = lineage.as_ref().map_or(&[][..], |lineage| &lineage.0[..]);
                let next = ContentHash::of_fields([before, &id.hash.0]);
                held.push(original(id, next, message));
                lineage = Some(next);
            }
            if held.len() as u64 != CHUNK {
                return;
            }
            if chunk.held.is_none() || is_known && !chunk.is_dated {
                // What was said with secrets comes back without, and its lineage would be another.
                chunk.lineage = chunk.lineage.or(lineage.filter(|_| is_known));
                chunk.is_dated = is_known;
                chunk.held = Some(Arc::new(held));
            }
            (lineage, is_known) = (chunk.lineage, chunk.lineage.is_some());
        }
        // What follows the last full chunk is at hand in any case, but for a line that has just been made.
        if self.last.is_empty() {
            let first = self.full.len() as u64 * CHUNK;
            let mut held = Vec::new();
            for message in messages {
                let id = MessageId { ordinal: first + held.len() as u64, hash: message.content_hash() };
                held.push(original(id, id.hash, message));
            }
            self.last = Arc::new(held);
            self.date(first);
        }
    }

    /// Works out the lineages of the originals after the last full chunk.
    fn date(&mut self, first: u64) {
        let mut lineage = first.checked_sub(1).and_then(|before| self.lineage(before));
        for original in Arc::make_mut(&mut self.last) {
            let before = lineage.as_ref().map_or(&[][..], |lineage| &lineage.0[..]);
            original.entry.lineage = ContentHash::of_fields([before, &original.entry.id.hash.0]);
            lineage = Some(original.entry.lineage);
        }
    }

    /// Lets go of the originals before `ordinal`, by whole chunks, the first apart: the task is there.
    pub(crate) fn let_go(&mut self, ordinal: u64) {
        let end = (ordinal / CHUNK) as usize;
        if self.full.iter().take(end).skip(1).any(|chunk| chunk.held.is_some()) {
            let full = Arc::make_mut(&mut self.full);
            full.iter_mut().take(end).skip(1).for_each(Chunk::let_go);
        }
    }

    /// Puts `instead` in the place of the originals with these ordinals that are at hand. The lineages stay those of what was said.
    pub(crate) fn forget(&mut self, ordinals: impl IntoIterator<Item = u64>, instead: &Arc<Message>) {
        for ordinal in ordinals {
            self.replace(ordinal, instead, OnceLock::new());
        }
    }

    /// Puts a message as it was said in the place of what is at hand of it, which is it without its secrets. The lineages stay.
    #[cfg(feature = "wire")]
    pub(crate) fn say_again(&mut self, ordinal: u64, message: &Arc<Message>, clean: Arc<Clean>) {
        self.replace(ordinal, message, Some(clean).into());
    }

    fn replace(&mut self, ordinal: u64, instead: &Arc<Message>, clean: OnceLock<Option<Arc<Clean>>>) {
        let (chunk, at) = ((ordinal / CHUNK) as usize, (ordinal % CHUNK) as usize);
        let n_full = self.full.len();
        let held = match Arc::make_mut(&mut self.full).get_mut(chunk) {
            Some(chunk) => chunk.held.as_mut().map(Arc::make_mut),
            None => Some(Arc::make_mut(&mut self.last)).filter(|_| chunk == n_full),
        };
        if let Some(original) = held.and_then(|held| held.get_mut(at)) {
            let id = MessageId { ordinal, hash: instead.content_hash() };
            original.entry = Entry { id, message: Arc::clone(instead), ..original.entry.clone() };
            original.clean = clean;
        }
    }

    /// Ends the line before `len`. What is cut in two must be at hand.
    pub(crate) fn truncate(&mut self, len: u64) {
        if len >= self.len() as u64 {
            return;
        }
        let lineage = len.checked_sub(1).and_then(|last| self.lineage(last));
        let rest: Vec<Original> =
            self.originals(Span { start: len / CHUNK * CHUNK, end: len }).cloned().collect();
        Arc::make_mut(&mut self.full).truncate((len / CHUNK) as usize);
        self.last = Arc::new(rest);
        self.lineage = lineage;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(n: u64) -> Line {
        let mut line = Line::default();
        (0..n).for_each(|nth| {
            line.push(Message::user(format!("{nth}")).into(), None);
        });
        line
    }

    fn texts(line: &Line, span: Span) -> Vec<String> {
        line.in_span(span).iter().map(|entry| entry.message.texts().collect()).collect()
    }

    #[test]
    fn what_is_let_go_is_asked_for_and_comes_back_the_same() {
        let whole = line(500);
        let mut part = whole.clone();
        part.let_go(400);
        let span = Span { start: 100, end: 300 };
        assert!(part.get(100).is_none() && part.get(63).is_some() && part.get(384).is_some());
        let missing = part.missing([span, Span { start: 390, end: 500 }]);
        assert_eq!(missing, [Span { start: 64, end: 320 }]);
        assert_eq!(part.lineage(127), whole.lineage(127));
        for span in missing {
            let messages = whole.in_span(span).into_iter().map(|entry| entry.message);
            part.put_back(span.start, messages, |_, _| None);
        }
        assert_eq!(texts(&part, span), texts(&whole, span));
        let lineages = |line: &Line| (64..320).map(|at| line.lineage(at)).collect::<Vec<_>>();
        assert_eq!(lineages(&part), lineages(&whole));
    }

    #[test]
    fn no_lineage_is_made_up_behind_what_is_not_at_hand() {
        let whole = line(500);
        let mut away = Line::away(500, whole.chunk_lineage(), whole.lineage(499));
        let put_back = |away: &mut Line, span: Span| {
            away.put_back(span.start, whole.in_span(span).into_iter().map(|entry| entry.message), |_, _| {
                None
            });
        };
        put_back(&mut away, Span { start: 448, end: 500 });
        put_back(&mut away, Span { start: 192, end: 320 });
        assert_eq!((away.lineage(200), away.lineage(319)), (None, None));
        assert_eq!((away.lineage(447), away.lineage(460)), (whole.lineage(447), whole.lineage(460)));
        let span = away.to_date(200);
        assert_eq!(span, Span { start: 0, end: 256 });
        put_back(&mut away, span);
        assert_eq!(away.lineage(200), whole.lineage(200));
        let span = away.to_date(319);
        assert_eq!(span, Span { start: 256, end: 320 });
        put_back(&mut away, span);
        assert!((0..320).chain(448..500).all(|at| away.lineage(at) == whole.lineage(at)));
    }

    #[test]
    fn what_is_forgotten_is_had_by_nobody_else_and_keeps_its_lineage() {
        let whole = line(200);
        let mut part = whole.clone();
        part.forget([3, 64, 199, 300], &Arc::new(Message::user("gone")));
        for (ordinal, text) in [(2, "2"), (3, "gone"), (64, "gone"), (65, "65"), (199, "gone")] {
            let span = Span { start: ordinal, end: ordinal + 1 };
            assert_eq!(texts(&part, span), [text]);
            assert_eq!(texts(&whole, span), [ordinal.to_string()]);
        }
        assert_eq!(part.get(3).map(|entry| entry.id.hash), Some(Message::user("gone").content_hash()));
        assert!((0..200).all(|ordinal| part.lineage(ordinal) == whole.lineage(ordinal)));
    }

    #[test]
    fn a_branch_shares_its_beginning_and_goes_its_own_way() {
        let main = line(200);
        for at in [0, 1, 63, 64, 65, 128, 199, 200] {
            let mut branch = main.clone();
            branch.truncate(at);
            assert_eq!((branch.len() as u64, main.len()), (at, 200));
            let id = branch.push(Message::user("another way").into(), None);
            assert_eq!(id.ordinal, at);
            let plain: Transcript = branch.to_transcript();
            let lineage = |at: u64| Some(plain.entries()[at as usize].lineage);
            assert!((0..=at).all(|ordinal| branch.lineage(ordinal) == lineage(ordinal)), "at {at}");
        }
    }
}
