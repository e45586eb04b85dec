//! What stays at the end: the newest units, with older tool outputs digested.

use std::ops::Range;

use longhaul_transcript::{Entry, Message, Tokens, Unit, UnitState};

use super::{
    CompactSettings, Kept,
    digest::{Caps, Shortener},
    plan::Source,
};

/// The messages that stay after the summary.
#[derive(Clone, Debug, Default)]
pub(super) struct Tail {
    /// What is sent, oldest first.
    pub(super) kept: Vec<Kept>,
    /// What it costs.
    pub(super) tokens: Tokens,
    /// Index of the first entry of the run that ends the conversation; what lies before it is summarized.
    pub(super) start: usize,
}

/// A unit with the range of its entries.
#[derive(Clone, Debug)]
pub(super) struct Place<'a> {
    pub(super) unit: Unit<'a>,
    pub(super) range: Range<usize>,
}

/// Tool outputs older than the last exchange are cut to this many tokens unless there is room to spare, as the best
/// windows of `docs/recall.md` do (`clip200`).
pub(super) const OLDER_RESULT: Tokens = Tokens(200);

/// The last user message is cut when it would take more of the tail than this.
const REQUEST_SHARE: f64 = 0.35;

/// The last finished exchange is cut when it would take more than this of what is left.
const EXCHANGE_SHARE: f64 = 0.6;

/// What the last finished exchange and the last user message may be cut down to, step by step.
const STEPS: [u64; 12] = [25_600, 12_800, 6_400, 3_200, 1_600, 800, 400, 200, 100, 50, 25, LEAST_STEP];

/// The last of these steps.
const LEAST_STEP: u64 = 8;

/// How much the tail may cost.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    /// What it should cost at most.
    pub(super) wanted: Tokens,
    /// What it may cost where the last exchange and the last user message need more, in their smallest form.
    pub(super) most: Tokens,
    /// What a tool result older than the last exchange may cost; longer ones are digested.
    pub(super) older_result: Tokens,
}

/// Chooses the tail of `places` (all units after the system prompt, oldest first) that fits `room`.
///
/// An open exchange stays whole and is not counted against `room`. The last finished exchange and the last user
/// message come next, cut down as far as they must be; then whatever fits, newest first.
pub(super) fn choose(
    source: &Source<'_>,
    settings: &CompactSettings,
    places: &[Place<'_>],
    room: Room,
) -> Tail {
    let end = source.entries.len();
    let open = places.last().filter(|place| place.unit.is_open());
    let closed = &places[..places.len() - usize::from(open.is_some())];
    let mut chooser = Chooser { source, settings, kept: Vec::new(), tokens: Tokens::ZERO, room };
    let mut start = open.map_or(end, |place| place.range.start);

    let last_user = closed.iter().rposition(|place| place.unit.messages().any(Message::is_user_text));
    let request = last_user.and_then(|at| chooser.must_keep(&closed[at], REQUEST_SHARE));
    let mut left = closed.len();
    let mut exchanges = 0;
    for (at, place) in closed.iter().enumerate().rev() {
        let is_exchange = place.unit.is_exchange();
        let taken = match (place.unit.state, Some(at) == last_user) {
            (UnitState::Closed, true) => match &request {
                Some(request) => chooser.put(request.clone()),
                None => false,
            },
            (UnitState::Closed, false) if is_exchange && exchanges == 0 => {
                chooser.must_keep(place, EXCHANGE_SHARE).is_some_and(|kept| chooser.put(kept))
            }
            (UnitState::Closed, false) => chooser.older(place),
            // A call that never got its result cannot stay as it is; its facts are in the summary.
            _ => true,
        };
        if !taken {
            break;
        }
        exchanges += usize::from(is_exchange);
        start = place.range.start;
        left = at;
    }
    if let (Some(at), Some(request)) = (last_user, request)
        && at < left
    {
        chooser.kept.push(request);
    }
    let Chooser { kept, tokens, .. } = chooser;
    let mut kept: Vec<Kept> = kept.into_iter().rev().flatten().collect();
    if let Some(place) = open {
        kept.extend(verbatim(&source.entries[place.range.clone()]));
    }
    Tail { kept, tokens, start }
}

/// Returns the messages as they are.
pub(super) fn verbatim(entries: &[Entry]) -> Vec<Kept> {
    let kept = |entry: &Entry| Kept { id: entry.id, message: entry.message.clone(), digested: false };
    entries.iter().map(kept).collect()
}

struct Chooser<'a> {
    source: &'a Source<'a>,
    settings: &'a CompactSettings,
    /// Units taken so far, newest first.
    kept: Vec<Vec<Kept>>,
    tokens: Tokens,
    room: Room,
}

impl Chooser<'_> {
    fn left(&self) -> Tokens {
        self.room.wanted - self.tokens
    }

    fn shortened(&self, place: &Place<'_>, caps: Caps) -> (Vec<Kept>, Tokens) {
        let entries = &self.source.entries[place.range.clone()];
        let shortener = Shortener::new(entries, self.source.counter, self.settings.reasoning);
        let kept = shortener.shorten_all(entries, caps);
        let cost = |kept: &Kept| match kept.digested {
            true => self.source.counter.count_message(&kept.message),
            false => self.source.cost(kept.id.ordinal),
        };
        let tokens = kept.iter().map(cost).sum();
        (kept, tokens)
    }

    /// Returns `place` cut down to `share` of what is left, or to all of it, or where that is too little to its smallest
    /// form, and pays for it; `None` where not even that fits.
    fn must_keep(&mut self, place: &Place<'_>, share: f64) -> Option<Vec<Kept>> {
        let (kept, tokens) = [self.left().scaled(share), self.left()]
            .into_iter()
            .find_map(|most| self.largest_within(place, most))
            .or_else(|| self.smallest(place))?;
        self.tokens += tokens;
        Some(kept)
    }

    /// Returns the largest form of `place` that costs at most `most`.
    fn largest_within(&self, place: &Place<'_>, most: Tokens) -> Option<(Vec<Kept>, Tokens)> {
        let steps = STEPS.iter().filter(|step| **step <= most.0.max(LEAST_STEP));
        let caps = steps.flat_map(|step| [Caps::results(*step), Caps::all(*step)]);
        let mut forms = [Caps::NONE].into_iter().chain(caps);
        forms.find_map(|caps| Some(self.shortened(place, caps)).filter(|(_, tokens)| *tokens <= most))
    }

    /// Returns the smallest form of `place` where it fits at all.
    fn smallest(&self, place: &Place<'_>) -> Option<(Vec<Kept>, Tokens)> {
        let most = self.room.most - self.tokens;
        Some(self.shortened(place, Caps::all(LEAST_STEP))).filter(|(_, tokens)| *tokens <= most)
    }

    /// Takes what was already paid for.
    fn put(&mut self, kept: Vec<Kept>) -> bool {
        self.kept.push(kept);
        true
    }

    /// Takes an older unit with its tool outputs cut, where it fits.
    fn older(&mut self, place: &Place<'_>) -> bool {
        let wanted = self.settings.keep_recent.is_some_and(|count| self.taken() < count);
        let fits = match wanted {
            true => self.largest_within(place, self.left()),
            false => Some(self.shortened(place, Caps::results(self.room.older_result.0)))
                .filter(|(_, t)| *t <= self.left()),
        };
        let Some((kept, tokens)) = fits else { return false };
        self.tokens += tokens;
        self.put(kept)
    }

    fn taken(&self) -> usize {
        self.kept.iter().map(Vec::len).sum()
    }
}
