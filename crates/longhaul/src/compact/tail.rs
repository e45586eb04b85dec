//! What stays at the end: the newest units, with older tool outputs digested.

use std::ops::Range;

use longhaul_transcript::{Entry, Tokens, Unit, UnitState};

use super::{
    CompactSettings, Cut, KeepReasoning, Kept,
    digest::{Caps, Shortener, is_pasted},
    owed,
    plan::Source,
    standing::{self, Pins},
};

/// The messages that stay after the summary.
#[derive(Clone, Debug, Default)]
pub(super) struct Tail {
    /// What is sent, oldest first.
    pub(super) kept: Vec<Kept>,
    /// What it costs, pins and an open exchange apart.
    pub(super) tokens: Tokens,
    /// What of that is not the newest request.
    pub(super) older: Tokens,
    /// Index of the first entry of the run that ends the conversation; what lies before it is summarized.
    pub(super) start: usize,
    /// The newest request, where it had to be cut.
    pub(super) cut: Option<Cut>,
}

/// A unit with the range of its entries.
#[derive(Clone, Debug)]
pub(super) struct Place<'a> {
    pub(super) unit: Unit<'a>,
    pub(super) range: Range<usize>,
    /// It is part of the turn in progress: no text in the user's role comes after it.
    pub(super) in_turn: bool,
    /// The model goes on from it: it ends the history, with what came back from tools or where the provider paused.
    pub(super) in_progress: bool,
}

/// Tool outputs older than the last exchange are cut to this many tokens unless there is room to spare, as the best
/// windows of `docs/recall.md` do (`clip200`).
pub(super) const OLDER_RESULT: Tokens = Tokens(200);

/// The last finished exchange is cut when it would take more than this of what is left, and not all that is to stay fits.
const EXCHANGE_SHARE: f64 = 0.6;

/// What the last finished exchange and the newest request may be cut down to, step by step.
const STEPS: [u64; 12] = [25_600, 12_800, 6_400, 3_200, 1_600, 800, 400, 200, 100, 50, 25, LEAST_STEP];

/// A newest request that is too large for all that there is gets this share of it: what was said before is summarized rather than that.
const CUT_REQUEST_SHARE: f64 = 0.85;

/// The last of these steps.
const LEAST_STEP: u64 = 8;

/// Of what was pasted into the newest request so many tokens stay at least.
const LEAST_PASTED: u64 = 25;

/// How much the tail may cost, pins and an open exchange apart.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    /// What everything but the newest request should cost at most.
    pub(super) wanted: Tokens,
    /// What all of it may cost where the newest request, or the last exchange in its smallest form, needs more.
    pub(super) most: Tokens,
    /// What a tool result older than the last exchange may cost; longer ones are digested.
    pub(super) older_result: Tokens,
    /// What is left in the end goes to the newest of those.
    pub(super) fills: bool,
    /// Index of the oldest entry that may stay, pins apart.
    pub(super) oldest: usize,
    /// The last exchange may have all of it.
    pub(super) is_whole: bool,
}

/// The newest request of the user, in the form in which it stays.
#[derive(Clone, Debug)]
pub(super) struct Request {
    /// Which of the closed places it is.
    at: usize,
    kept: Vec<Kept>,
    /// What it costs.
    pub(super) tokens: Tokens,
    cut: Option<Cut>,
}

/// Returns the newest request of the user among `places`, whole where it costs at most `most`, and cut where even what
/// gives way to it leaves too little room. `None` where nobody asked, or it is part of what stays anyway.
pub(super) fn newest_request(
    source: &Source<'_>,
    settings: &CompactSettings,
    places: &[Place<'_>],
    most: Tokens,
) -> Option<Request> {
    let is_request = |place: &Place<'_>| place.unit.messages().any(standing::is_request);
    let at = places.iter().rposition(is_request)?;
    let place = &places[at];
    let pins = Pins(&settings.pins);
    if place.unit.state != UnitState::Closed || place.unit.entries.iter().any(|entry| pins.holds(entry)) {
        return None;
    }
    let shortened = |caps: Caps| shortened(source, settings, place, caps);
    let has_pasted = has_pasted(source, place);
    let beside = if has_pasted { owed::to_rules(source, settings, place, most) } else { Tokens::ZERO };
    // What came back from tools in the same message gives way before what was said in it.
    let whole = [Caps::NONE].into_iter().chain(STEPS.map(Caps::results)).map(shortened);
    if let Some((kept, tokens)) = whole.into_iter().find(|(_, tokens)| *tokens <= most - beside) {
        return Some(Request { at, kept, tokens, cut: None });
    }
    let asked = place.unit.entries.iter().rfind(|entry| standing::is_request(&entry.message))?;
    let cut = |kept: Vec<Kept>, tokens: Tokens| {
        let left = kept.iter().find(|kept| kept.id == asked.id);
        let left = left.map(|kept| source.counter.count_message(&kept.message)).unwrap_or_default();
        let cut = Cut { id: asked.id, whole: source.cost(asked.id.ordinal), left };
        Request { at, kept, tokens, cut: Some(cut) }
    };
    // So does what was pasted: of that as much stays as words and rules leave room for.
    let pasted = |cap: u64| shortened(Caps::results(LEAST_STEP).with_pasted(cap));
    if has_pasted && pasted(LEAST_PASTED).1 <= most {
        let (mut low, mut high) = (LEAST_PASTED, most.0);
        while high > low + 1 {
            let middle = low.midpoint(high);
            if pasted(middle).1 <= most - beside { low = middle } else { high = middle }
        }
        let (kept, tokens) = pasted(low);
        return Some(cut(kept, tokens));
    }
    let within = |room: Tokens| STEPS.into_iter().find(|cap| shortened(Caps::all(*cap)).1 <= room);
    // The rest is for a summary of everything else.
    let room = most.scaled(CUT_REQUEST_SHARE);
    let least = within(room).or_else(|| within(most))?;
    let (mut low, mut high) = (least, least.saturating_mul(2).max(most.0));
    while high - low > low / 16 + 1 {
        let middle = low.midpoint(high);
        if shortened(Caps::all(middle)).1 <= room { low = middle } else { high = middle }
    }
    let (kept, tokens) = shortened(Caps::all(low));
    Some(cut(kept, tokens))
}

/// Returns whether a person pasted something into what they said in `place`.
fn has_pasted(source: &Source<'_>, place: &Place<'_>) -> bool {
    let mut pieces = place.unit.messages().flat_map(|message| source.index.speakers().segments(message));
    pieces.any(|piece| is_pasted(&piece))
}

/// Chooses the tail of `places` (all units after the system prompt, oldest first) that fits `room`.
///
/// An open exchange and pins stay whole and are not counted against `room`; the newest request was chosen before. The
/// last finished exchange comes next, cut down as far as it must be; then whatever fits, newest first.
pub(super) fn choose(
    source: &Source<'_>,
    settings: &CompactSettings,
    places: &[Place<'_>],
    request: Option<Request>,
    room: Room,
) -> Tail {
    let end = source.entries.len();
    let open = places.last().filter(|place| place.unit.is_open());
    let closed = &places[..places.len() - usize::from(open.is_some())];
    let pins = Pins(&settings.pins);
    let mut start = open.map_or(end, |place| place.range.start);
    let for_request = request.as_ref().map_or(Tokens::ZERO, |request| request.tokens);
    let room = Room { most: room.most - for_request, ..room };
    let mut chooser =
        Chooser { source, settings, pins, kept: Vec::new(), older: Vec::new(), tokens: Tokens::ZERO, room };

    // Where all that is to stay fits as it was said, nothing of it is cut so that something older may stay as well.
    let is_first = settings.exchange_first || room.is_whole || chooser.fits_whole(closed, request.as_ref());
    let share = if is_first { 1.0 } else { EXCHANGE_SHARE };
    let mut left = closed.len();
    let mut exchanges = 0;
    let is_young = |(_, place): &(usize, &Place<'_>)| place.range.start >= room.oldest;
    for (at, place) in closed.iter().enumerate().rev().take_while(is_young) {
        let is_exchange = place.unit.is_exchange();
        let taken = match (place.unit.state, &request) {
            (UnitState::Closed, Some(request)) if request.at == at => chooser.put(request.kept.clone()),
            (UnitState::Closed, _) if is_exchange && exchanges == 0 => {
                chooser.must_keep(place, share).is_some_and(|kept| chooser.put(kept))
            }
            (UnitState::Closed, _) => chooser.older(place),
            // A call that never got its result cannot stay as it is; its facts are in the summary.
            _ => chooser.put(pins.kept_of(place)),
        };
        if !taken {
            break;
        }
        exchanges += usize::from(is_exchange);
        start = place.range.start;
        left = at;
    }
    if room.fills {
        chooser.fill();
    }
    for (at, place) in closed.iter().enumerate().take(left).rev() {
        chooser.put(match &request {
            Some(request) if request.at == at => request.kept.clone(),
            _ => pins.kept_of(place),
        });
    }
    let Chooser { kept, tokens, .. } = chooser;
    let mut kept: Vec<Kept> = kept.into_iter().rev().flatten().collect();
    if let Some(place) = open {
        kept.extend(verbatim(&source.entries[place.range.clone()]));
    }
    Tail {
        kept,
        tokens: tokens + for_request,
        older: tokens,
        start,
        cut: request.and_then(|request| request.cut),
    }
}

/// Returns the messages as they are.
pub(super) fn verbatim(entries: &[Entry]) -> Vec<Kept> {
    let kept = |entry: &Entry| Kept { id: entry.id, message: entry.message.clone(), digested: false };
    entries.iter().map(kept).collect()
}

/// Returns the messages of `place` within `caps`, and what they cost.
fn shortened(
    source: &Source<'_>,
    settings: &CompactSettings,
    place: &Place<'_>,
    caps: Caps,
) -> (Vec<Kept>, Tokens) {
    let entries = &source.entries[place.range.clone()];
    let reasoning = match settings.reasoning {
        KeepReasoning::Turn if place.in_turn => KeepReasoning::Keep,
        // The model is to find the thinking that led there.
        _ if place.in_progress => KeepReasoning::Keep,
        KeepReasoning::Turn => KeepReasoning::Strip,
        reasoning => reasoning,
    };
    let shortener = Shortener::new(entries, source.counter, reasoning, settings.preserve_error_details)
        .with_needed(source.needed)
        .with_speakers(source.index.speakers());
    let kept = shortener.shorten_all(entries, caps);
    let tokens = kept.iter().map(|kept| cost(source, kept)).sum();
    (kept, tokens)
}

fn cost(source: &Source<'_>, kept: &Kept) -> Tokens {
    match kept.digested {
        true => source.counter.count_message(&kept.message),
        false => source.cost(kept.id.ordinal),
    }
}

struct Chooser<'a, 'p> {
    source: &'a Source<'a>,
    settings: &'a CompactSettings,
    pins: Pins<'a>,
    /// Units taken so far, newest first.
    kept: Vec<Vec<Kept>>,
    /// Those of them that were shortened for their age: where they are, and what they cost.
    older: Vec<(usize, &'p Place<'p>, Tokens)>,
    tokens: Tokens,
    room: Room,
}

impl<'p> Chooser<'_, 'p> {
    fn left(&self) -> Tokens {
        self.room.wanted.min(self.room.most) - self.tokens
    }

    /// Returns whether as many of the newest messages as are to stay fit as they were said.
    fn fits_whole(&self, closed: &[Place<'_>], request: Option<&Request>) -> bool {
        let Some(count) = self.settings.keep_recent else { return false };
        let (mut taken, mut tokens) = (0, Tokens::ZERO);
        for (at, place) in
            closed.iter().enumerate().rev().take_while(|(_, place)| place.unit.state == UnitState::Closed)
        {
            if taken >= count {
                break;
            }
            taken += place.unit.entries.len();
            if request.is_none_or(|request| request.at != at) {
                tokens += self.shortened(place, Caps::NONE).1;
            }
        }
        tokens <= self.left()
    }

    /// Returns `place` within `caps`, but for its pins, and what it costs beyond these.
    fn shortened(&self, place: &Place<'_>, caps: Caps) -> (Vec<Kept>, Tokens) {
        let (mut kept, mut tokens) = shortened(self.source, self.settings, place, caps);
        for pinned in self.pins.kept_of(place) {
            let Some(at) = kept.iter().position(|kept| kept.id >= pinned.id) else {
                kept.push(pinned);
                continue;
            };
            if kept[at].id == pinned.id {
                tokens -= cost(self.source, &kept[at]);
                kept[at] = pinned;
            } else {
                kept.insert(at, pinned);
            }
        }
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
        let within = |caps: Caps| Some(self.shortened(place, caps)).filter(|(_, tokens)| *tokens <= most);
        let (caps, found) =
            [Caps::NONE].into_iter().chain(caps).find_map(|caps| Some((caps, within(caps)?)))?;
        if !self.settings.exchange_first {
            return Some(found);
        }
        // Up to half of what the model is to read lies between two steps.
        [7, 6, 5].into_iter().find_map(|quarters| within(caps.scaled(quarters))).or(Some(found))
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
    fn older(&mut self, place: &'p Place<'p>) -> bool {
        let wanted = self.settings.keep_recent.is_some_and(|count| self.taken() < count);
        if self.settings.only_recent && !wanted {
            return false;
        }
        let fits = match wanted {
            true => self.largest_within(place, self.left()),
            false => Some(self.shortened(place, Caps::results(self.room.older_result.0)))
                .filter(|(_, t)| *t <= self.left()),
        };
        let Some((kept, tokens)) = fits else { return false };
        if kept.iter().any(|kept| kept.digested) {
            self.older.push((self.kept.len(), place, tokens));
        }
        self.tokens += tokens;
        self.put(kept)
    }

    /// Gives what is left of the room to what was shortened for its age: whole where that fits, the newest first.
    fn fill(&mut self) {
        for (at, place, tokens) in std::mem::take(&mut self.older) {
            if self.left() < self.room.older_result {
                break;
            }
            let larger = self.largest_within(place, tokens + self.left());
            if let Some((kept, larger)) = larger.filter(|(_, larger)| *larger > tokens) {
                self.tokens = self.tokens - tokens + larger;
                self.kept[at] = kept;
            }
        }
    }

    fn taken(&self) -> usize {
        self.kept.iter().map(Vec::len).sum()
    }
}
