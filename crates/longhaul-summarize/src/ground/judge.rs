//! What becomes of one statement: it stays whole, it is set apart whole, or it goes whole.

use longhaul_transcript::Constraint;

use super::{
    RepairKind,
    atoms::{Unknown, unknown},
    calls::{is_change_of_looked_at, tells_other_outcome},
    claims::{has_wrong_speaker, is_planted, is_rejected, weakens},
    deeds::{is_undone_deed, is_unshown},
    echo::is_echo,
    evidence::Evidence,
    handles::{cited, without_handles},
    objects::{
        is_deed_of_wishes, is_deed_on_other, is_done_though_denied, is_step_for_other, is_wish_for_other,
    },
    outcomes::{is_other_state, is_other_verdict},
    polarity::{is_decision, speaks_of_source},
    reversals::{
        is_denied_deed, is_done_too_early, is_kept_though_gone, is_said_to_be_impossible, is_turned_choice,
        is_unshown_rejection,
    },
    siblings::{is_of_sibling, is_torn},
    support::{
        is_command_of_tools, is_forbidden, is_foreign_order, is_overstated, is_unasked_deed, is_unsaid_wish,
    },
};
use crate::notes::{Section, sentences};

/// What becomes of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Verdict {
    /// Nothing speaks against it.
    Stays,
    /// The conversation does not show it: it may be so, and nobody should rely on it.
    Unconfirmed(RepairKind),
    /// It may do harm where it stands.
    Goes(RepairKind),
}

/// Judges a statement of one or more sentences, in the section where it stands if there are sections.
pub(super) fn judge(
    statement: &str,
    section: Option<Section>,
    evidence: &Evidence,
    rules: &[Constraint],
) -> Verdict {
    let unknown = match unknown(statement, &cited(statement), evidence) {
        Some(Unknown::Name) => Verdict::Unconfirmed(RepairKind::UnknownName),
        Some(Unknown::Number) => Verdict::Unconfirmed(RepairKind::UnknownNumber),
        Some(Unknown::Quote) => Verdict::Unconfirmed(RepairKind::UnknownQuote),
        None => Verdict::Stays,
    };
    let judged = statement
        .lines()
        .flat_map(sentences)
        .map(|sentence| judge_sentence(without_handles(sentence).trim(), section, evidence, rules));
    let unshown = match section {
        // A rule tells what is to be done whenever, not what was done.
        Some(section)
            if section != Section::Rules && is_unshown(&without_handles(statement), section, evidence) =>
        {
            Verdict::Unconfirmed(RepairKind::UndoneDeed)
        }
        _ => Verdict::Stays,
    };
    match (unknown, judged.chain([unshown]).max().unwrap_or(Verdict::Stays)) {
        // What stands nowhere tells more of why than what stands otherwise.
        (Verdict::Unconfirmed(kind), Verdict::Unconfirmed(_)) => Verdict::Unconfirmed(kind),
        (unknown, judged) => unknown.max(judged),
    }
}

fn judge_sentence(
    sentence: &str,
    section: Option<Section>,
    evidence: &Evidence,
    rules: &[Constraint],
) -> Verdict {
    use Verdict::{Goes, Unconfirmed};
    let is_to_be_done = section == Some(Section::Next);
    if is_echo(sentence, evidence) {
        return Goes(RepairKind::Echo);
    }
    // What an edit says is a report: an argument may be optional where the user's rule is not.
    if section != Some(Section::Changes) && rules.iter().any(|rule| weakens(sentence, &rule.text)) {
        return Goes(RepairKind::RuleReworded);
    }
    if is_foreign_order(sentence, is_to_be_done, evidence) {
        return Goes(RepairKind::ForeignOrder);
    }
    // What is told of a file as the file's is a report; an order that a file gives and the summary takes over is not.
    if is_planted(sentence, is_to_be_done, evidence) && !speaks_of_source(sentence) {
        return Goes(RepairKind::Planted);
    }
    if has_wrong_speaker(sentence, evidence) {
        return Unconfirmed(RepairKind::WrongSpeaker);
    }
    if is_unsaid_wish(sentence, evidence)
        || is_overstated(sentence, section, evidence)
        || is_wish_for_other(sentence, evidence)
    {
        return Unconfirmed(RepairKind::UnsaidWish);
    }
    if section != Some(Section::Rules) && is_undone_deed(sentence, evidence) {
        return Unconfirmed(RepairKind::UndoneDeed);
    }
    if section != Some(Section::Rules)
        && (is_deed_on_other(sentence, evidence) || is_deed_of_wishes(sentence, evidence))
    {
        return Unconfirmed(RepairKind::UndoneDeed);
    }
    if tells_other_outcome(sentence, evidence)
        || is_other_verdict(sentence, evidence)
        || is_other_state(sentence, evidence)
    {
        return Unconfirmed(RepairKind::OtherOutcome);
    }
    if section != Some(Section::Rules) && is_change_of_looked_at(sentence, evidence) {
        return Unconfirmed(RepairKind::UndoneDeed);
    }
    if is_turned_choice(sentence, evidence)
        || is_kept_though_gone(sentence, evidence)
        || is_done_too_early(sentence, evidence)
        || is_denied_deed(sentence, evidence)
        || is_said_to_be_impossible(sentence, evidence)
        || is_of_sibling(sentence, evidence)
        || is_torn(sentence, evidence)
        || is_unshown_rejection(sentence, evidence)
        || is_done_though_denied(sentence, evidence)
    {
        return Unconfirmed(RepairKind::Turned);
    }
    if is_to_be_done && is_command_of_tools(sentence, evidence) {
        return Unconfirmed(RepairKind::UnaskedDeed);
    }
    if is_to_be_done && (is_unasked_deed(sentence, evidence) || is_step_for_other(sentence, evidence)) {
        return Unconfirmed(RepairKind::UnaskedDeed);
    }
    let is_to_be_followed = matches!(section, Some(Section::Next | Section::Rules));
    if is_to_be_followed && is_forbidden(sentence, evidence) {
        return Unconfirmed(RepairKind::Forbidden);
    }
    if is_decision(sentence) && is_rejected(sentence, evidence) {
        return Unconfirmed(RepairKind::Rejected);
    }
    Verdict::Stays
}
