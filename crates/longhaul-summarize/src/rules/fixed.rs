//! What the sections have in common that stand whatever the ranking says.

use std::borrow::Cow;

use hashbrown::HashSet;
use longhaul_extract::Decision;
use longhaul_transcript::{Constraint, Entry, Tokens};

use super::{
    RulesOptions,
    acts::Acts,
    asks::{asks_something, last_line, own_text},
    clip,
    few::{FewOf, sent},
    gist::{gist, keeps_demands},
    heading::Heading,
    overruled::Overruling,
    overtaken::Overtaken,
    spoken::spoken,
    trail::Trail,
    undone::Undone,
};
use crate::SummaryRequest;

/// A part of the summary under its heading.
#[derive(Clone, Debug)]
pub(crate) struct Section {
    pub(crate) heading: String,
    pub(crate) body: String,
}

impl Section {
    pub(crate) fn text(&self) -> String {
        match self.body.is_empty() {
            true => format!("{}\n", self.heading),
            false => format!("{}\n{}\n", self.heading, self.body),
        }
    }
}

/// Makes the sections one after the other; what one says the next need not say.
#[derive(Debug)]
pub(super) struct Fixed<'a> {
    pub(super) request: &'a SummaryRequest<'a>,
    pub(super) few: FewOf<'a>,
    pub(super) acts: &'a Acts,
    pub(super) undone: &'a Undone,
    pub(super) trail: &'a Trail<'a>,
    /// The keys of what the model said.
    pub(super) said_by_the_model: HashSet<u32>,
    pub(super) options: &'a RulesOptions,
    /// What nothing else of the summary needs: the rules may have it beside their share.
    pub(super) spare: Tokens,
    /// A rule of the person's was left out for want of room.
    pub(super) lacks_room: bool,
    /// What the person decided, as far as nothing overrules it, oldest first.
    pub(super) decided: &'a [Decision],
    /// What persons say that may take the place of what they said before.
    pub(super) overruling: &'a Overruling,
    /// What of the person's decisions and facts something later took the place of.
    pub(super) overtaken: &'a Overtaken,
    /// The rules and facts that persons set down, those too that hold no more.
    pub(super) constraints: &'a [Constraint],
    /// Those that hold on.
    pub(super) holding: Vec<&'a Constraint>,
    pub(super) sections: Vec<Section>,
    pub(super) said: String,
}

impl<'a> Fixed<'a> {
    pub(super) fn add(&mut self, heading: Heading, body: String) {
        self.add_about(heading, "", body);
    }

    /// Adds a section whose heading says more than its words: `about` stands behind them.
    pub(super) fn add_about(&mut self, heading: Heading, about: &str, body: String) {
        self.said.push_str(&body);
        self.said.push('\n');
        self.sections.push(Section { heading: format!("{}{about}", heading.words()), body });
    }

    pub(super) fn cost(&self, text: &str) -> Tokens {
        self.request.counter.count_text(text)
    }

    pub(super) fn room(&self, share: f64) -> Tokens {
        self.request.limit.scaled(share).max(LEAST_SECTION)
    }

    /// Returns `text` whole where it fits `share` of the limit, else its start and end.
    pub(super) fn clip(&self, text: &str, share: f64) -> String {
        self.clip_to(text, self.room(share))
    }

    /// Returns `text` whole where it fits `most`, else its start and end, with the last line whole where that leaves as much
    /// again for the start.
    pub(super) fn clip_to(&self, text: &str, most: Tokens) -> String {
        let end = last_line(text).map_or(Tokens::ZERO, |last| self.cost(last));
        clip::ends(text, most, end, self.request.counter)
    }

    /// Returns `text`, which a person sent in `entry`, whole where it fits `most`, else shortened; of what was pasted before what is said.
    pub(super) fn clip_sent(&self, entry: &Entry, text: &str, most: Tokens) -> String {
        if self.request.counter.count_up_to(text, most).is_some() {
            return text.to_owned();
        }
        let shorten = |pasted: &str| clip::to_tokens(pasted, most.scaled(PASTED_SHARE), self.request.counter);
        let said = spoken(&entry.message, text, self.request.index.speakers(), shorten);
        let cut = self.clip_to(&said, most);
        let fits = |text: &str| self.request.counter.count_up_to(text, most).is_some();
        // What is told already need not be told again.
        match keeps_demands(&said, &format!("{cut}{}", self.said)) {
            true => cut,
            false => gist(&said, fits).unwrap_or(cut),
        }
    }

    /// Returns `text`, which a person sent in `entry`, without what was pasted where it is long.
    pub(super) fn said_in<'t>(&self, entry: &Entry, text: &'t str) -> Cow<'t, str> {
        match self.request.counter.count_up_to(text, FEW_WORDS) {
            Some(_) => Cow::Borrowed(text),
            None => spoken(&entry.message, text, self.request.index.speakers(), |_| String::new()),
        }
    }

    pub(super) fn goal(&mut self) {
        if let Some(goal) = self.request.goal.map(str::trim).filter(|goal| !goal.is_empty()) {
            let body = self.clip(goal, self.options.state_share);
            self.add(Heading::Goal, body);
        }
    }

    /// Returns the last message in which a person asks for something.
    pub(super) fn asked_last(&self) -> Option<u64> {
        let kept = self.persons_kept().filter(|(_, text)| asks_something(text));
        kept.chain(self.few.asking.last().copied()).map(|(entry, _)| entry.id.ordinal).max()
    }

    /// Returns the kept messages in which a person says something, each with what they sent.
    pub(super) fn persons_kept(&self) -> impl Iterator<Item = (&'a Entry, &'a str)> + use<'a> {
        let speakers = self.request.index.speakers();
        self.request.kept.iter().filter_map(|entry| Some((entry, sent(entry, speakers)?)))
    }
}

/// Returns whether what `entry` says stays after the summary, whole.
pub(super) fn is_kept(request: &SummaryRequest<'_>, entry: &Entry) -> bool {
    let same = |kept: &&Entry| kept.id == entry.id;
    let speakers = request.index.speakers();
    let says_the_same =
        |kept: &Entry| own_text(&kept.message, speakers) == own_text(&entry.message, speakers);
    request.kept.iter().find(same).is_some_and(says_the_same)
}

/// The least that a section gets, so that it says something at all.
const LEAST_SECTION: Tokens = Tokens(30);

/// The share of a request's room that the start of something pasted to it may take, where there is no room for all.
const PASTED_SHARE: f64 = 0.1;

/// What was sent in so few tokens is told with what was pasted.
const FEW_WORDS: Tokens = Tokens(40);
