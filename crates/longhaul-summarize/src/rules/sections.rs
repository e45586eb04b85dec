//! The sections that stand whatever the ranking says, in their order.

use longhaul_extract::{Decision, Domain, Statement, StatementKind};
use longhaul_transcript::{Role, Summary, Tokens};

use super::{
    RulesOptions,
    acts::Acts,
    earlier::Earlier,
    few::FewOf,
    fixed::{Fixed, Section},
    overruled::Overruling,
    overtaken::Overtaken,
    persons::holding,
    trail::Trail,
    undone::Undone,
};
use crate::SummaryRequest;

/// The sections, each within its share of the limit.
#[derive(Debug)]
pub(crate) struct Sections {
    /// What comes first.
    pub(crate) first: Vec<Section>,
    /// What comes after everything that was picked.
    pub(crate) last: Vec<Section>,
    /// A rule of the person's was left out for want of room.
    pub(crate) lacks_room: bool,
}

/// Returns the sections of a summary of the request's entries. What is `spare` the person's rules may take beside their share.
pub(crate) fn sections(
    request: &SummaryRequest<'_>,
    summary: &Summary,
    acts: &Acts,
    few: FewOf<'_>,
    (undone, trail, earlier): (&Undone, &Trail<'_>, Option<&Earlier<'_>>),
    (decided, overruling, overtaken): (&[Decision], &Overruling, &Overtaken),
    (options, spare): (&RulesOptions, Tokens),
) -> Sections {
    // What it wrote into a file is quoted like what it said.
    let is_models = |kind| {
        use StatementKind::{Added, Answer, Argument, Prose};
        matches!(kind, Answer | Prose | Added | Argument)
    };
    let models = request.index.statements().all().iter().filter(|one| is_models(one.kind));
    let mut fixed = Fixed {
        request,
        few,
        acts,
        undone,
        trail,
        said_by_the_model: models.map(Statement::key).collect(),
        options,
        spare,
        lacks_room: false,
        decided,
        overruling,
        overtaken,
        constraints: &summary.constraints,
        holding: holding(&summary.constraints, overtaken),
        sections: Vec::new(),
        said: String::new(),
    };
    fixed.goal();
    if let Some(earlier) = earlier {
        fixed.earlier(earlier);
    }
    // A meeting asks nobody for anything, and what is said in it is no rule of the user's.
    let is_meeting = is_meeting(request);
    // Where there is little room, rules come first; elsewhere the messages that state them need no second mention.
    if !is_meeting {
        let rules = &summary.constraints;
        if request.limit < TIGHT {
            fixed.binding_rules(rules);
        }
        let mut decided = fixed.decided_to_tell();
        decided.extend(fixed.requests(earlier.is_some(), &decided));
        decided.retain(|one| !fixed.is_rule(one));
        decided.sort_by_key(|one| one.message);
        fixed.add_decided(&decided);
        // What is wanted is a request, where that is told.
        fixed.rules(&summary.constraints);
    }
    fixed.plan(acts);
    let first = std::mem::take(&mut fixed.sections);
    fixed.deeds(acts);
    fixed.landings(acts);
    fixed.checks(acts);
    fixed.last_words(acts);
    Sections { first, last: fixed.sections, lacks_room: fixed.lacks_room }
}

/// Returns whether people meet, and no model is among them.
pub(super) fn is_meeting(request: &SummaryRequest<'_>) -> bool {
    let mut all = request.entries.iter().chain(request.kept);
    request.index.domain() == Domain::Talk && !all.any(|entry| entry.message.role == Role::Assistant)
}

/// In less room than this, rules come before what was asked since.
const TIGHT: Tokens = Tokens(1000);
