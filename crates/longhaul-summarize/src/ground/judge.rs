//! What becomes of one statement: it stays whole, it is set apart whole, or it goes whole.

use longhaul_transcript::Constraint;

use super::{
    RepairKind,
    atoms::{Unknown, unknown},
    calls::{is_change_of_looked_at, tells_other_outcome},
    claims::{has_wrong_speaker, is_planted, is_rejected, weakens},
    deeds::{is_undone_deed, is_unshown},
    denials::{is_done_though_denied, is_step_done},
    echo::is_echo,
    evidence::Evidence,
    handles::{cited, without_handles},
    objects::{is_step_for_other, is_wish_for_other},
    outcomes::{is_other_state, is_other_verdict},
    polarity::{is_decision, speaks_of_source},
    records::{
        is_other_count, is_other_payer, is_other_price, is_other_refund, is_other_status,
        is_refund_of_record, is_refund_to_come,
    },
    reversals::{is_denied_deed, is_done_too_early, is_kept_though_gone, is_turned_choice},
    siblings::is_torn,
    support::{
        is_command_of_tools, is_forbidden, is_foreign_order, is_overstated, is_unasked_deed, is_unsaid_wish,
    },
};
use crate::{notes::Section, sentences::sentences};

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

use Verdict::{Goes, Unconfirmed};

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
        .map(without_handles)
        .map(|sentence| judge_sentence(Said { sentence: sentence.trim(), section, evidence, rules }));
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

/// A sentence, with all that checks look at.
#[derive(Clone, Copy)]
struct Said<'a> {
    sentence: &'a str,
    section: Option<Section>,
    evidence: &'a Evidence,
    rules: &'a [Constraint],
}

impl Said<'_> {
    /// Returns whether it stands among what is to be done.
    fn is_next(&self) -> bool {
        self.section == Some(Section::Next)
    }

    /// Returns whether it tells what was; a rule tells what is to be done whenever.
    fn is_report(&self) -> bool {
        self.section != Some(Section::Rules)
    }
}

fn judge_sentence(said: Said<'_>) -> Verdict {
    CHECKS.iter().find(|(_, finds)| finds(said)).map_or(Verdict::Stays, |(verdict, _)| *verdict)
}

type Check = (Verdict, fn(Said<'_>) -> bool);

/// The checks of a sentence, those first that take it out; the first that finds something decides.
const CHECKS: [Check; 31] = [
    (Goes(RepairKind::Echo), |said| is_echo(said.sentence, said.evidence)),
    // What an edit says is a report: an argument may be optional where the user's rule is not.
    (Goes(RepairKind::RuleReworded), |said| {
        said.section != Some(Section::Changes)
            && said.rules.iter().any(|rule| weakens(said.sentence, &rule.text))
    }),
    (Goes(RepairKind::ForeignOrder), |said| is_foreign_order(said.sentence, said.is_next(), said.evidence)),
    // What is told of a file as the file's is a report; an order that a file gives and the summary takes over is not.
    (Goes(RepairKind::Planted), |said| {
        is_planted(said.sentence, said.is_next(), said.evidence) && !speaks_of_source(said.sentence)
    }),
    (Unconfirmed(RepairKind::WrongSpeaker), |said| has_wrong_speaker(said.sentence, said.evidence)),
    (Unconfirmed(RepairKind::UnsaidWish), |said| is_unsaid_wish(said.sentence, said.evidence)),
    (Unconfirmed(RepairKind::UnsaidWish), |said| is_overstated(said.sentence, said.section, said.evidence)),
    (Unconfirmed(RepairKind::UnsaidWish), |said| is_wish_for_other(said.sentence, said.evidence)),
    (Unconfirmed(RepairKind::UndoneDeed), |said| {
        said.is_report() && is_undone_deed(said.sentence, said.evidence)
    }),
    (Unconfirmed(RepairKind::OtherOutcome), |said| tells_other_outcome(said.sentence, said.evidence)),
    (Unconfirmed(RepairKind::OtherOutcome), |said| is_other_verdict(said.sentence, said.evidence)),
    (Unconfirmed(RepairKind::OtherOutcome), |said| is_other_state(said.sentence, said.evidence)),
    (Unconfirmed(RepairKind::UndoneDeed), |said| {
        said.is_report() && is_change_of_looked_at(said.sentence, said.evidence)
    }),
    (Unconfirmed(RepairKind::Turned), |said| is_turned_choice(said.sentence, said.evidence)),
    (Unconfirmed(RepairKind::Turned), |said| is_kept_though_gone(said.sentence, said.evidence)),
    // What was announced before may be in a record since.
    (Unconfirmed(RepairKind::Turned), |said| {
        is_done_too_early(said.sentence, said.evidence) && !is_refund_of_record(said.sentence, said.evidence)
    }),
    (Unconfirmed(RepairKind::Turned), |said| is_denied_deed(said.sentence, said.evidence)),
    (Unconfirmed(RepairKind::Turned), |said| is_done_though_denied(said.sentence, said.evidence)),
    (Unconfirmed(RepairKind::Turned), |said| said.is_next() && is_step_done(said.sentence, said.evidence)),
    (Unconfirmed(RepairKind::Turned), |said| is_other_price(said.sentence, said.evidence)),
    (Unconfirmed(RepairKind::Turned), |said| is_other_refund(said.sentence, said.evidence)),
    (Unconfirmed(RepairKind::Turned), |said| is_other_status(said.sentence, said.evidence)),
    (Unconfirmed(RepairKind::Turned), |said| is_other_count(said.sentence, said.evidence)),
    (Unconfirmed(RepairKind::Turned), |said| is_other_payer(said.sentence, said.evidence)),
    (Unconfirmed(RepairKind::Turned), |said| {
        said.is_next() && is_refund_to_come(said.sentence, said.evidence)
    }),
    (Unconfirmed(RepairKind::Turned), |said| is_torn(said.sentence, said.evidence)),
    (Unconfirmed(RepairKind::UnaskedDeed), |said| {
        said.is_next() && is_command_of_tools(said.sentence, said.evidence)
    }),
    (Unconfirmed(RepairKind::UnaskedDeed), |said| {
        said.is_next() && is_unasked_deed(said.sentence, said.evidence)
    }),
    (Unconfirmed(RepairKind::UnaskedDeed), |said| {
        said.is_next() && is_step_for_other(said.sentence, said.evidence)
    }),
    (Unconfirmed(RepairKind::Forbidden), |said| {
        matches!(said.section, Some(Section::Next | Section::Rules))
            && is_forbidden(said.sentence, said.evidence)
    }),
    (Unconfirmed(RepairKind::Rejected), |said| {
        is_decision(said.sentence) && is_rejected(said.sentence, said.evidence)
    }),
];
