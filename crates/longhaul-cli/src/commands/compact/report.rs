//! What a compaction did, for people and for programs.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use longhaul::{
    Breakdown, CompactedDocument,
    transcript::{Message, Part, Redacted, SessionId, SummaryMode, SummaryRecord, Survival, Tokens},
    wire::{Document, Violation},
};
use serde::{Serialize, Serializer};

use crate::{
    counter::Named,
    exit::without_secrets,
    paint::{self, GREEN, Painter, grouped, plain},
    store::{self, Recorded},
};

/// Returns a line of the report, over several lines where it is long.
fn wrapped(words: &str) -> String {
    paint::wrapped("  ", words, "    ")
}

/// What a compaction did. The keys are stable.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    pub(crate) version: u32,
    pub(crate) format: &'static str,
    pub(crate) encoding: String,
    pub(crate) budget: Tokens,
    /// Where the budget comes from, unless the user says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) budget_from: Option<String>,
    pub(crate) tokens_before: Tokens,
    pub(crate) tokens_after: Tokens,
    pub(crate) messages_before: usize,
    pub(crate) messages_after: usize,
    pub(crate) summary_tokens: Tokens,
    pub(crate) summarized: usize,
    pub(crate) digested: usize,
    pub(crate) dropped: usize,
    pub(crate) kept_verbatim: usize,
    pub(crate) depth: u32,
    pub(crate) mode: SummaryMode,
    pub(crate) duration_ms: u64,
    pub(crate) valid: Valid,
    pub(crate) survival: BTreeMap<String, Survival>,
    pub(crate) decision: String,
    pub(crate) summary: Option<SummaryRecord>,
    pub(crate) recorded: Option<Recorded>,
    /// Why nothing is recorded, where something was to be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) not_recorded: Option<String>,
    pub(crate) not_kept: NotKept,
    /// Where the transcript is kept that the new history replaced.
    pub(crate) backup: Option<PathBuf>,
    /// `undo` puts it back in its place.
    #[serde(skip)]
    pub(crate) comes_back: bool,
    /// The session that the transcript says it is.
    #[serde(skip)]
    pub(crate) session_id: Option<SessionId>,
}

/// What of the transcript the store does not have, in messages but for the last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct NotKept {
    /// Kept with placeholders in place of secrets.
    pub(crate) redacted: u64,
    /// Kept without an image or a document that they hold.
    pub(crate) media: u64,
    /// Kept without a provider's signature or encrypted reasoning.
    pub(crate) signed: u64,
    /// Forgotten earlier, on demand.
    pub(crate) forgotten: u64,
    /// Summaries that the transcript began with, of which only the text is kept: what they stand for is not in the store.
    pub(crate) elsewhere: u64,
    /// Kinds of things that were left out where the transcript was written in another format: it is kept as it was written.
    pub(crate) converted: u64,
}

impl NotKept {
    /// Returns what the store lacks of `document`, kept as `kept`, in a session of which `forgotten` originals were
    /// destroyed. `is_elsewhere` where it begins with a summary whose originals are not there.
    pub(crate) fn of(
        document: &Document,
        kept: &[Redacted<Message>],
        forgotten: u64,
        is_elsewhere: bool,
    ) -> NotKept {
        let mut lacks = NotKept { forgotten, elsewhere: u64::from(is_elsewhere), ..NotKept::default() };
        for (said, kept) in document.transcript().entries().iter().zip(kept) {
            let parts = &said.message.parts;
            // A secret in a file is in none of the parts.
            let is_spelled_without = kept.raw.as_ref().is_some_and(|raw| raw.redacted > 0);
            lacks.redacted += u64::from(*parts != kept.parts || is_spelled_without);
            if kept.raw.is_some() {
                // It is kept as it was spelled, with its images and signatures.
                continue;
            }
            lacks.media += u64::from(parts.iter().any(holds_media));
            let is_signed =
                |part: &Part| matches!(part, Part::Reasoning(reasoning) if reasoning.opaque_bytes > 0);
            lacks.signed += u64::from(parts.iter().any(is_signed));
        }
        lacks
    }

    /// Returns what is lacking in words; nothing where nothing is.
    fn words(self) -> Option<String> {
        let lacking = [
            (self.redacted, "with placeholders for secrets"),
            (self.media, "without their images or documents"),
            (self.signed, "without a provider's signature"),
            (self.forgotten, "were forgotten"),
            (self.elsewhere, "is a summary whose originals are not in this store"),
        ];
        let counted = lacking.iter().filter(|(n, _)| *n > 0);
        let counted = counted.map(|(n, what)| format!("{} {what}", grouped(*n)));
        let converted =
            (self.converted > 0).then(|| "without what the conversion left out, told above".to_owned());
        let lacking: Vec<String> = converted.into_iter().chain(counted).collect();
        (!lacking.is_empty()).then(|| lacking.join(", "))
    }
}

fn holds_media(part: &Part) -> bool {
    match part {
        Part::Media(media) => media.source.is_empty(),
        Part::ToolResult(result) => result.content.iter().any(holds_media),
        _ => false,
    }
}

/// Whether the history is valid for its format: `true`, or the list of violations.
#[derive(Debug, Default)]
pub(crate) struct Valid(pub(crate) Vec<String>);

impl Serialize for Valid {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.is_empty() {
            true => serializer.serialize_bool(true),
            false => self.0.serialize(serializer),
        }
    }
}

impl Report {
    /// Returns the report of a history that stays as it is.
    pub(crate) fn new(
        document: &Document,
        counter: &Named,
        (budget, budget_from): (Tokens, Option<String>),
        breakdown: &Breakdown,
    ) -> Report {
        Report {
            version: 1,
            format: document.format().name(),
            encoding: counter.name.clone(),
            budget,
            budget_from,
            tokens_before: breakdown.total,
            tokens_after: breakdown.total,
            messages_before: breakdown.messages,
            messages_after: breakdown.messages,
            summary_tokens: Tokens::ZERO,
            summarized: 0,
            digested: 0,
            dropped: 0,
            kept_verbatim: breakdown.messages,
            depth: 0,
            mode: SummaryMode::Rules,
            duration_ms: 0,
            valid: Valid::default(),
            survival: BTreeMap::new(),
            decision: String::new(),
            summary: None,
            recorded: None,
            not_recorded: None,
            not_kept: NotKept::default(),
            backup: None,
            comes_back: false,
            session_id: document.session_id(),
        }
    }

    /// Returns whether the file at `path` is a report.
    pub(crate) fn is_at(path: &Path) -> bool {
        let read =
            fs::read(path).ok().and_then(|json| serde_json::from_slice::<serde_json::Value>(&json).ok());
        read.is_some_and(|json| {
            ["version", "tokens_before", "decision"].iter().all(|key| json.get(key).is_some())
        })
    }

    /// Notes that the history stays as it is. What was `billed` last may be more than is counted.
    pub(crate) fn rests(&mut self, billed: Option<Tokens>) {
        let (cost, budget) = (grouped(self.tokens_before.0), grouped(self.budget.0));
        self.decision = format!("unchanged: {cost} tokens are within the budget of {budget}");
        if let Some(from) = &self.budget_from {
            self.decision.push_str(&format!(" ({from}); --budget names another"));
        }
        if let Some(billed) = billed.filter(|billed| *billed > self.tokens_before) {
            let billed = grouped(billed.0);
            self.decision.push_str(&format!("; billed were {billed} last, with what is not in the file"));
        }
    }

    /// Fills in what a compaction did.
    pub(crate) fn fill(&mut self, done: &CompactedDocument) {
        let (record, outcome) = (&done.record, &done.outcome);
        self.tokens_after = done.tokens_after;
        self.messages_after = done.messages;
        self.summary_tokens = record.tokens;
        self.summarized = outcome.summarized;
        self.digested = outcome.digested;
        self.dropped = outcome.dropped;
        self.kept_verbatim = outcome.kept_verbatim;
        self.depth = record.depth;
        self.mode = record.mode;
        // What breaks a rule is quoted: a name, an id.
        let quoted = |fault: &Violation| without_secrets(&fault.to_string()).into_owned();
        self.valid = Valid(done.inherited.iter().map(quoted).collect());
        self.survival = record.survival.clone();
        self.decision =
            format!("compacted: {} tokens are over the budget of {}", self.tokens_before, self.budget);
        self.summary = Some(record.clone());
    }

    /// Returns the report in words, for stderr.
    pub(crate) fn words(&self, file: &str) -> String {
        let painter = Painter::stderr();
        let encoding = painter.short(&paint::name(&self.encoding), 30);
        let about = format!(" ({}, {encoding})", self.format);
        let file = painter.short(&plain(file), paint::line_width().saturating_sub(paint::width(&about) + 1));
        let head = format!("{}{about}", painter.bold(&file));
        let Some(record) = &self.summary else {
            return paint::wrapped(&format!("{head}:"), &format!(" {}", self.decision), "  ");
        };
        let saved = 100.0 * (1.0 - self.tokens_after.ratio_of(self.tokens_before));
        let mut out = format!(
            "{head}\n  {} → {} tokens ({}), budget {}\n",
            grouped(self.tokens_before.0),
            painter.bold(&grouped(self.tokens_after.0)),
            painter.paint(GREEN, &format!("-{saved:.1} %")),
            grouped(self.budget.0),
        );
        if let Some(from) = &self.budget_from {
            out.push_str(&wrapped(&format!("the budget is {from}; --budget names another")));
        }
        out.push_str(&wrapped(&format!(
            "{} → {}: {} summarized{}{}, {} kept as they were",
            grouped(self.messages_before as u64),
            paint::counted(self.messages_after as u64, "message"),
            grouped(self.summarized as u64),
            // Those that the summary before stands for are in none of the two histories.
            if self.summarized + self.kept_verbatim > self.messages_before {
                " with those that the summary before says it stands for"
            } else {
                ""
            },
            match self.digested {
                0 => String::new(),
                digested => format!(", {} of them still shown in short", grouped(digested as u64)),
            },
            grouped(self.kept_verbatim as u64),
        )));
        out.push_str(&format!(
            "  summary {} of {} tokens, depth {}, by {}\n",
            record.id,
            grouped(self.summary_tokens.0),
            self.depth,
            self.mode.as_str(),
        ));
        // What a model said that was taken out is told where it is asked; rules that found no room are told by rule alone.
        for left_out in record.summary.checks.iter().filter(|check| check.ends_with("left out: no room")) {
            out.push_str(&wrapped(left_out));
        }
        let survival: Vec<String> = (self.survival.iter())
            .filter(|(_, survival)| survival.total > 0)
            .map(|(class, survival)| format!("{class} {}/{}", survival.kept, survival.total))
            .collect();
        if !survival.is_empty() {
            out.push_str(&wrapped(&format!("still visible: {}", survival.join(", "))));
        }
        if let Some(recorded) = &self.recorded {
            out.push_str(&self.kept(recorded));
        }
        if let Some(why) = &self.not_recorded {
            out.push_str(&wrapped(&format!("the compaction was not recorded: {why}")));
        }
        if let Some(backup) = &self.backup {
            let words = "the transcript as it was is kept as";
            out.push_str(&paint::with_whole("  ", words, &paint::path(backup)));
        }
        out.push_str(&match self.valid.0.is_empty() {
            true => format!("  valid for {} {}\n", self.format, painter.paint(GREEN, "✓")),
            false => wrapped(&format!("faults that the input had too: {}", plain(&self.valid.0.join("; ")))),
        });
        out
    }

    /// Returns where the originals are kept, and how they come back.
    fn kept(&self, recorded: &Recorded) -> String {
        let store = Painter::stderr().short(&paint::name(&recorded.store), 70);
        let (session, flags) = (plain(&recorded.session), store::flags());
        let kept = match (recorded.deleted, self.not_kept) {
            _ if let Some(problem) = &recorded.damaged => format!(
                "recorded in {store}, where the session is damaged: {problem}; what is lacking does not come back, and `longhaul \
                 audit {session} --verify{flags}` tells more"
            ),
            (0, NotKept { forgotten: 0, .. }) => match self.not_kept.words() {
                None => format!("every original is kept in {store}"),
                Some(lacking) => format!("the originals are kept ({lacking}) in {store}"),
            },
            (0, lacks) => format!(
                "what was not forgotten is kept ({}) in {store}; what was forgotten does not come back",
                lacks.words().unwrap_or_default()
            ),
            (deleted, _) => format!(
                "recorded in {store} and {} originals deleted there (delete_originals): this cannot be taken back",
                grouped(deleted),
            ),
        };
        let mut out = wrapped(&kept);
        if !recorded.earlier.is_empty() {
            out.push_str(&wrapped(
                "so is what the agent saw before it compacted by itself: `longhaul recall` finds that, too",
            ));
        }
        let what = if recorded.deleted > 0 { "shows the summary:" } else { "shows them:     " };
        out.push_str(&paint::with_whole("  ", what, &format!("longhaul history {session}{flags}")));
        if recorded.deleted == 0 {
            // What was written where nothing stood before stays there.
            let what = if self.comes_back { "takes this back:" } else { "takes the record back:" };
            out.push_str(&paint::with_whole("  ", what, &format!("longhaul undo {session}{flags}")));
            if self.backup.is_some() && !self.comes_back {
                out.push_str(&wrapped(
                    "the file itself stays: its name holds a secret or is not UTF-8, and is not kept",
                ));
            }
        }
        out
    }

    /// Returns what `--dry-run` shows: the summary as it would stand in the history.
    pub(crate) fn preview(&self) -> String {
        match &self.summary {
            Some(record) => {
                format!("{}\n\n{}\n\n{}\n", record.header, plain(&record.text), plain(&record.ending()))
            }
            None => String::new(),
        }
    }
}
