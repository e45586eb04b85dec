//! Deciding what stays and how much the summary may cost.

use std::{collections::BTreeSet, sync::Arc};

use longhaul_extract::FactIndex;
use longhaul_summarize::SummaryRequest;
use longhaul_tokens::TokenCounter;
use longhaul_transcript::{
    Covered, Entry, Message, MessageId, Opaque, Part, Role, SessionId, Span, SummaryId, SummaryRecord,
    Tokens, Units, parse_summary,
};

use super::{
    CompactSettings, Cut, Kept, StepError,
    needed::Needed,
    share,
    standing::{self, Pins},
    tail::{self, Place, Request, Room, Tail},
};

/// What a compaction works on.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// The session, for the record's id.
    pub session: &'a SessionId,
    /// All messages, oldest first, system prompt included.
    pub entries: &'a [Entry],
    /// What each of them costs, framing included; as many as there are entries.
    pub costs: &'a [Tokens],
    /// What the view costs now: all entries, or a summary and its tail.
    pub tokens_before: Tokens,
    /// Counts what is new.
    pub counter: &'a dyn TokenCounter,
    /// The facts of all entries.
    pub index: &'a FactIndex,
    /// What came before, where the conversation was compacted before.
    pub earlier: Earlier<'a>,
    /// How much each line of an output is needed, for digests; their own rules decide where it is not given.
    pub(crate) needed: Option<&'a Needed>,
}

/// What a compaction knows of the ones before it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Earlier<'a> {
    /// The summary in the view now.
    pub summary: Option<&'a SummaryRecord>,
    /// The summaries in the view that stay beside the new one.
    pub beside: &'a [Arc<SummaryRecord>],
    /// How many entries at the start are messages that this summary stands for and that are quoted once more. There may
    /// be gaps between them. They are neither kept nor covered again.
    pub quoted: usize,
    /// How many messages before the other entries the new summary stands for, quoted or not.
    pub behind: usize,
    /// The summary is made anew from the originals as far as the entries reach: its depth is 0.
    pub is_rebuilt: bool,
    /// The new summary stays as it is when what it leaves in the view is summarized: the next one stands behind it.
    pub stays: bool,
    /// The entries begin later than the conversation: a standing instruction that they begin with is no part of the system
    /// prompt, and stays as one in their middle does.
    pub is_behind_head: bool,
}

/// What stays, what is summarized, and how much the summary may cost.
#[derive(Clone, Debug)]
pub struct CompactionPlan {
    pub(super) head: Vec<Kept>,
    pub(super) tail: Vec<Kept>,
    pub(super) cut: Option<Cut>,
    /// What the tail costs beyond pins, open exchange and newest request.
    pub(super) older: Tokens,
    /// The tail as entries, as the reader will see it.
    pub(super) visible: Vec<Entry>,
    /// The tail as entries, as it was.
    pub(super) originals: Vec<Entry>,
    /// Index of the first entry of the run that stays.
    pub(super) tail_start: usize,
    /// The entries to summarize, as indices.
    pub(super) summarized: std::ops::Range<usize>,
    pub(super) covered: Vec<Covered>,
    pub(super) covers: Span,
    /// The messages that the summary stands for, those of the one before included.
    pub(super) n_summarized: usize,
    /// How many the header says it stands for: those that an earlier summary among the entries speaks of count.
    pub(super) n_behind: usize,
    pub(super) depth: u32,
    pub(super) parent: Option<SummaryId>,
    /// What everything but the summary's text costs.
    pub(super) fixed: Tokens,
    /// The most the summary's text may cost.
    pub limit: Tokens,
    /// Identity of the last message the plan knows: it applies only while everything up to it is unchanged.
    pub through: Option<MessageId>,
}

/// A compaction is impossible, or there is no use in it. The conversation is as it was.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CompactError {
    /// The budget is below what must stay.
    #[error("a budget of {budget:#} tokens is {over:#} below the floor of {floor:#}, the least that works: the system prompt ({system:#}), {}the open exchange ({open:#}) and {rest:#} for everything else", pinned(*pins, largest_pins), over = *floor - *budget, rest = *floor - *system - *pins - *open)]
    Floor {
        /// The smallest budget that works.
        floor: Tokens,
        /// The budget that was asked for.
        budget: Tokens,
        /// What the system prompt costs.
        system: Tokens,
        /// What else is pinned costs.
        pins: Tokens,
        /// The ordinals of the pinned messages that cost most, with what each costs; three at most.
        largest_pins: Vec<(u64, Tokens)>,
        /// What the open exchange costs.
        open: Tokens,
    },
    /// There is no message beside the system prompt and an open exchange.
    #[error("there is nothing to compact: every message is the system prompt or part of the open exchange")]
    NothingToCompact,
    /// The summary would say nothing for want of room, and nothing may stand in the place of messages.
    #[error("there is no room for a summary that says anything")]
    NoRoom,
    /// A summary was asked for, and nothing was said that would go into it: all of it is in a summary or is to stay.
    #[error("there is nothing new to summarize: what no summary covers yet is to stay as it was said")]
    NothingNew,
    /// The summary was to be made anew from the originals, and they give the one in force.
    #[error("made anew from the originals, the summary would say what it says")]
    SaysTheSame,
    /// A step that the caller supplied asks for what cannot be.
    #[error(transparent)]
    Step(#[from] StepError),
}

impl CompactError {
    /// Returns the error for the budget that was `asked` for, where so much is written beside the messages.
    #[cfg(feature = "wire")]
    pub(crate) fn beside(mut self, beside: Tokens, asked: Tokens) -> CompactError {
        if let CompactError::Floor { floor, budget, .. } = &mut self {
            *floor += beside;
            *budget = asked;
        }
        self
    }
}

/// Returns the words for what is pinned, where anything is.
fn pinned(pins: Tokens, largest: &[(u64, Tokens)]) -> String {
    let named: Vec<String> =
        largest.iter().map(|(ordinal, tokens)| format!("m{ordinal} {tokens:#}")).collect();
    match named.is_empty() {
        true => String::new(),
        false => format!("pinned messages ({pins:#}, most of it in {}), ", named.join(", ")),
    }
}

/// How many pinned messages are named where they do not fit.
const NAMED_PINS: usize = 3;

/// Beside the system prompt and the open exchange, a view needs this many tokens to say anything.
pub(crate) const FLOOR_EXTRA: Tokens = Tokens(200);

/// What the last exchange may have of what summary and older messages share with it, where it comes first.
const EXCHANGE_FIRST: f64 = 0.8;

/// What a summary's header, handle line and frame cost at most, and with them the smallest summary: the line that says it
/// was left out.
pub(crate) const SUMMARY_FRAME: Tokens = Tokens(70);

impl<'a> Source<'a> {
    /// Returns the source of a compaction of `entries`, which was not compacted before. `costs` has what each of them
    /// costs, and `index` their facts.
    pub fn new(
        session: &'a SessionId,
        entries: &'a [Entry],
        costs: &'a [Tokens],
        counter: &'a dyn TokenCounter,
        index: &'a FactIndex,
    ) -> Source<'a> {
        let tokens_before = costs.iter().copied().sum();
        Source {
            session,
            entries,
            costs,
            tokens_before,
            counter,
            index,
            earlier: Earlier::default(),
            needed: None,
        }
    }

    /// Returns what the entry with this ordinal costs.
    pub(super) fn cost(&self, ordinal: u64) -> Tokens {
        let at = position(self.entries, ordinal);
        at.and_then(|at| self.costs.get(at)).copied().unwrap_or_default()
    }

    /// Returns the number of leading entries that are standing instructions.
    fn head_len(&self) -> usize {
        if self.earlier.is_behind_head {
            return 0;
        }
        self.entries.iter().take_while(|entry| standing::is_instruction(&entry.message)).count()
    }
}

/// Returns the place of the entry with this ordinal; entries are in order, and there may be gaps between them.
fn position(entries: &[Entry], ordinal: u64) -> Option<usize> {
    entries.binary_search_by_key(&ordinal, |entry| entry.id.ordinal).ok()
}

/// Decides what stays of `source` under `settings`. The tail gets the share of the budget that serves recall best.
///
/// # Errors
/// When the budget is below the floor, or nothing can be summarized.
pub fn plan(source: &Source<'_>, settings: &CompactSettings) -> Result<CompactionPlan, CompactError> {
    Ok(Planner::new(source, settings)?.plan(Spread { fills: true, ..Spread::default() }))
}

/// How generous a plan is to the tail.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spread {
    /// Tokens for the tail; `None` is the share of the budget that serves recall best.
    pub(super) tail: Option<Tokens>,
    /// What an older tool result may cost.
    pub(super) older_result: Tokens,
    /// Room that is left when all are chosen goes to the newest of what was shortened, whole where it fits.
    pub(super) fills: bool,
    /// Index of the oldest entry that may stay, pins apart.
    pub(super) oldest: usize,
}

impl Default for Spread {
    fn default() -> Spread {
        Spread { tail: None, older_result: tail::OLDER_RESULT, fills: false, oldest: 0 }
    }
}

/// Makes plans of one source, however generous to the tail: what they share is read once.
#[derive(Debug)]
pub(super) struct Planner<'s> {
    source: &'s Source<'s>,
    settings: &'s CompactSettings,
    head_len: usize,
    places: Vec<Place<'s>>,
    request: Option<Request>,
    /// What stays whatever is planned costs.
    kept: Tokens,
    /// What everything else may cost.
    most: Tokens,
}

impl<'s> Planner<'s> {
    /// Reads `source`.
    ///
    /// # Errors
    /// As [`plan`].
    pub(super) fn new(
        source: &'s Source<'s>,
        settings: &'s CompactSettings,
    ) -> Result<Planner<'s>, CompactError> {
        let head_len = source.head_len();
        let places = places(source.entries, head_len.max(source.earlier.quoted));
        let (kept, closed) = kept(source, settings, head_len, &places)?;
        let most = settings.budget - kept - source.counter.framing().per_reply - SUMMARY_FRAME;
        let request = tail::newest_request(source, settings, closed, most);
        Ok(Planner { source, settings, head_len, request, kept, most, places })
    }

    /// Decides what stays, with `spread` for the tail.
    pub(super) fn plan(&self, spread: Spread) -> CompactionPlan {
        let Planner { source, settings, most, .. } = *self;
        // Summary and older messages share what the newest request leaves.
        let request = self.request.clone();
        let rest = most + SUMMARY_FRAME - request.as_ref().map_or(Tokens::ZERO, |request| request.tokens);
        let wanted =
            spread.tail.unwrap_or_else(|| default_tail_room(settings, rest)).min(rest - SUMMARY_FRAME);
        let wanted = match settings.exchange_first {
            true => wanted.max(rest.scaled(EXCHANGE_FIRST)).min(rest - SUMMARY_FRAME),
            false => wanted,
        };
        // The summary has as much as it, at least.
        let whole = settings.exchange_whole.min(rest.scaled(0.5));
        let unread = self.unread().filter(|tokens| *tokens <= whole);
        let wanted = unread.map_or(wanted, |tokens| wanted.max(tokens));
        let Spread { older_result, fills, oldest, .. } = spread;
        let room = Room { wanted, most, older_result, fills, oldest, is_whole: unread.is_some() };
        let tail = tail::choose(source, settings, &self.places, request, room);
        finish(source, settings, self.head_len, tail, self.kept)
    }

    /// Returns what the exchange costs whose results end the conversation, where it is closed.
    fn unread(&self) -> Option<Tokens> {
        let last = self.places.last().filter(|place| place.in_progress && !place.unit.is_open())?;
        Some(last.unit.entries.iter().map(|entry| self.source.cost(entry.id.ordinal)).sum())
    }
}

/// Returns what stays in any case costs, and the places beside the open exchange.
fn kept<'p, 's>(
    source: &Source<'_>,
    settings: &CompactSettings,
    head_len: usize,
    places: &'p [Place<'s>],
) -> Result<(Tokens, &'p [Place<'s>]), CompactError> {
    let open = places.last().filter(|place| place.unit.is_open());
    let of =
        |range: std::ops::Range<usize>| source.costs.get(range).unwrap_or_default().iter().copied().sum();
    let system: Tokens = of(0..head_len);
    let open_cost: Tokens = open.map_or(Tokens::ZERO, |place| of(place.range.clone()));
    let closed = &places[..places.len() - usize::from(open.is_some())];
    let pins = Pins(&settings.pins);
    let kept = closed.iter().flat_map(|place| pins.kept_of(place));
    let mut pins: Vec<(u64, Tokens)> =
        kept.map(|kept| (kept.id.ordinal, source.cost(kept.id.ordinal))).collect();
    let pinned: Tokens = pins.iter().map(|(_, tokens)| *tokens).sum();
    let floor = system + pinned + open_cost + FLOOR_EXTRA;
    if settings.budget < floor {
        pins.sort_by_key(|(ordinal, tokens)| (std::cmp::Reverse(*tokens), *ordinal));
        pins.truncate(NAMED_PINS);
        return Err(CompactError::Floor {
            floor,
            budget: settings.budget,
            system,
            pins: pinned,
            largest_pins: pins,
            open: open_cost,
        });
    }
    if places.len() == usize::from(open.is_some()) {
        return Err(CompactError::NothingToCompact);
    }
    Ok((system + pinned + open_cost, closed))
}

fn places(entries: &[Entry], head_len: usize) -> Vec<Place<'_>> {
    let mut places = Vec::new();
    let mut start = head_len;
    let is_paused = is_paused(entries);
    // A turn that ends in an answer is over: what was thought in it goes with what stood before it.
    let is_answered =
        |last: &Entry| last.message.role == Role::Assistant && last.message.calls().next().is_none();
    let is_over = !is_paused && entries.last().is_none_or(is_answered);
    let turn = match is_over {
        true => entries.len(),
        false => entries.iter().rposition(|entry| entry.message.is_user_text()).map_or(0, |at| at + 1),
    };
    for unit in Units::new(entries.get(head_len..).unwrap_or_default()) {
        let range = start..start + unit.entries.len();
        start = range.end;
        let in_turn = range.start >= turn;
        let in_progress = range.end == entries.len() && (is_paused || unit.is_exchange());
        places.push(Place { unit, range, in_turn, in_progress });
    }
    places
}

/// Returns whether the provider paused the turn that ends `entries`: a call of a tool that it runs itself has no result yet.
/// It takes the answer so far back as it was, and goes on with it.
fn is_paused(entries: &[Entry]) -> bool {
    let answer = entries.iter().rev().take_while(|entry| entry.message.role == Role::Assistant);
    let mut waiting = BTreeSet::new();
    for part in answer.flat_map(|entry| &entry.message.parts) {
        if let Part::Opaque(Opaque { pair_id: Some(id), .. }) = part
            && !waiting.insert(id.as_str())
        {
            waiting.remove(id.as_str());
        }
    }
    !waiting.is_empty()
}

/// Returns the tokens that the tail gets when nobody says otherwise.
fn default_tail_room(settings: &CompactSettings, available: Tokens) -> Tokens {
    let share = share::tail(available);
    let room = available.scaled(share).min(available - settings.summary_first);
    match settings.max_summary_tokens {
        Some(cap) => room.max(available - cap - SUMMARY_FRAME),
        None => room,
    }
}

fn finish(
    source: &Source<'_>,
    settings: &CompactSettings,
    head_len: usize,
    tail: Tail,
    kept_cost: Tokens,
) -> CompactionPlan {
    let entries = source.entries;
    let verbatim: BTreeSet<u64> =
        tail.kept.iter().filter(|kept| !kept.digested).map(|kept| kept.id.ordinal).collect();
    let first = head_len.max(source.earlier.quoted);
    let covered: Vec<Covered> = entries[first..]
        .iter()
        .filter(|entry| !verbatim.contains(&entry.id.ordinal))
        .map(Covered::from)
        .collect();
    let (depth, parent) = chain(source);
    let summarized = match first < tail.start {
        true => head_len..tail.start,
        false => head_len..entries.len(),
    };
    let covers = Span {
        start: covered.first().map_or(0, |covered| covered.ordinal),
        end: covered.last().map_or(0, |covered| covered.ordinal + 1),
    };
    let n_summarized = source.earlier.behind + covered.len();
    let n_behind = n_summarized.saturating_add(counted_before(settings, &entries[first..]));
    let lookup = lookup(settings, &covered);
    let frame = source.counter.count_message(&placeholder(settings, &lookup, n_behind, depth)) + HANDLE_SLACK;
    let fixed = kept_cost + tail.tokens + source.counter.framing().per_reply + frame;
    let cap = settings.max_summary_tokens.unwrap_or(settings.budget);
    CompactionPlan {
        head: tail::verbatim(&entries[..head_len]),
        visible: visible(source, &tail.kept, |kept, _| kept.message.clone()),
        originals: visible(source, &tail.kept, |_, original| original.message.clone()),
        tail: tail.kept,
        tail_start: tail.start,
        cut: tail.cut,
        older: tail.older,
        summarized,
        covered,
        covers,
        n_summarized,
        n_behind,
        depth,
        parent,
        fixed,
        limit: (settings.budget - fixed).min(cap),
        through: entries.last().map(|entry| entry.id),
    }
}

/// Returns how many messages the summaries among `entries` stand for beyond themselves, as their headers say. They stand in front of all
/// that was said; behind that somebody only writes like us.
fn counted_before(settings: &CompactSettings, entries: &[Entry]) -> usize {
    let said = entries.iter().filter(|entry| !standing::is_instruction(&entry.message));
    let in_front = |entry: &&Entry| standing::begins_with_summary(&entry.message);
    let texts = said.take_while(in_front);
    let n_lines = header(settings, 0).lines().count().max(1);
    let counts = texts.flat_map(|entry| entry.message.texts()).filter_map(|text| {
        let text = text.trim_start();
        let front = text.lines().take(n_lines).flat_map(|line| line.split(|c: char| !c.is_ascii_digit()));
        let mut numbers = front.filter_map(|digits| digits.parse().ok());
        let begins = |header: &String| {
            text.strip_prefix(header.trim_start())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(['\r', '\n']))
        };
        numbers.find(|n| [header(settings, *n), SummaryRecord::default_header(*n)].iter().any(begins))
    });
    counts.map(|count| count.saturating_sub(1)).fold(0, usize::saturating_add)
}

/// The id in a handle line is not known before the text is: its digits may cost this many tokens more than the
/// placeholder's.
const HANDLE_SLACK: Tokens = Tokens(6);

/// Returns a summary message that says nothing, with a handle as long as a real one.
fn placeholder(settings: &CompactSettings, lookup: &str, covered: usize, depth: u32) -> Message {
    let id = SummaryId("0a1b2c3d4e5f6a7b".into());
    let handle = longhaul_transcript::handle_line(depth, &id);
    let ending = match lookup {
        "" => handle,
        how => format!("{}\n{handle}", longhaul_transcript::lookup_line(how)),
    };
    Message::user(format!("{}\n\n\n\n{ending}", header(settings, covered)))
}

/// Returns the header over a summary of `covered` messages.
pub(super) fn header(settings: &CompactSettings, covered: usize) -> String {
    match &settings.header {
        Some(header) => header.replace("{messages}", &covered.to_string()),
        None => SummaryRecord::default_header(covered),
    }
}

/// Returns how what a handle stands for is looked up, with a message that the summary covers for `{message}`.
pub(super) fn lookup(settings: &CompactSettings, covered: &[Covered]) -> String {
    /// Where there is so much to choose from, an example that is not taken for the beginning.
    const USUAL: u64 = 12;
    let ordinals = || covered.iter().map(|covered| covered.ordinal);
    let ordinal = ordinals().filter(|ordinal| *ordinal <= USUAL).max().or(ordinals().min());
    settings.lookup.replace("{message}", &format!("m{}", ordinal.unwrap_or_default()))
}

/// Returns depth and parent of the next summary: it follows the one in the view, or the one whose handle line stands in
/// the first message of a history that was compacted before.
fn chain(source: &Source<'_>) -> (u32, Option<SummaryId>) {
    if let Some(previous) = source.earlier.summary {
        let depth = if source.earlier.is_rebuilt { 0 } else { previous.depth.saturating_add(1) };
        return (depth, Some(previous.id.clone()));
    }
    let first = source.entries.iter().find(|entry| !entry.message.is_system());
    let handle = first.and_then(|entry| entry.message.texts().find_map(parse_summary));
    handle.map_or((0, None), |(depth, id)| (depth.saturating_add(1), Some(id)))
}

fn visible(
    source: &Source<'_>,
    tail: &[Kept],
    message: impl Fn(&Kept, &Entry) -> Arc<Message>,
) -> Vec<Entry> {
    let entry = |kept: &Kept| {
        let original = source.entries.get(position(source.entries, kept.id.ordinal)?)?;
        Some(Entry { message: message(kept, original), ..original.clone() })
    };
    tail.iter().filter_map(entry).collect()
}

impl CompactionPlan {
    /// Returns what is to be asked of a summarizer. `session`, `entries` and the rest come from the same source the plan
    /// was made from.
    pub fn request<'a>(&'a self, source: &Source<'a>, settings: &'a CompactSettings) -> SummaryRequest<'a> {
        SummaryRequest {
            session: source.session,
            entries: &source.entries[self.summarized.clone()],
            kept: &self.visible,
            tail: &self.originals,
            previous: source.earlier.summary,
            beside: source.earlier.beside,
            index: source.index,
            counter: source.counter,
            limit: self.limit,
            goal: settings.goal.as_deref(),
            depth: self.depth,
            is_rebuilt: false,
            stays: source.earlier.stays,
            most_listed: None,
        }
    }

    /// Returns whether one of the messages that `is_meant` names goes out of the view.
    pub(crate) fn takes_out(&self, is_meant: impl Fn(u64) -> bool) -> bool {
        let stays = |ordinal: u64| self.tail.iter().any(|kept| kept.id.ordinal == ordinal);
        self.covered.iter().any(|covered| is_meant(covered.ordinal) && !stays(covered.ordinal))
    }

    /// Returns the messages that stay, in the form in which they do.
    pub(crate) fn tail(&self) -> &[Kept] {
        &self.tail
    }

    /// Returns the messages that go into the summary, oldest first.
    pub(crate) fn covered_messages(&self) -> &[Covered] {
        &self.covered
    }

    /// Returns the number of messages that the summary stands for.
    pub fn covered(&self) -> usize {
        self.n_summarized
    }
}
