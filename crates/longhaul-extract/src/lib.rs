//! Extracts the facts worth keeping from a conversation, and digests tool results, by rule.
#![forbid(unsafe_code)]

// Facts.
mod atoms;
mod bytewise;
mod claims;
mod constraints;
mod decisions;
mod fields;
mod files;
mod index;
mod memo;
mod name_parts;
mod rank;
mod statements;

// Who speaks.
pub mod speaker;

pub use atoms::{Atom, AtomKind, FactClass, expand, is_known_extension, scan, scan_words};
pub use claims::{Claim, ClaimWeights, Claims, Link, claim_features};
pub use constraints::{
    Demand, DemandKind, DemandReader, SpeechAct, SpeechWeights, Stated, are_of_two, constraints, demand_kind,
    demands, ends_with_question, is_passing_wish, is_standing_rule, lifted_by_each, only_tells, sentences,
    speech_features, stated,
};
pub use decisions::{Decision, decides, decisions, settles};
pub use fields::{Field, FieldPlace, call_fields};
pub use files::{FileEdit, FileHistory, Touches, call_failed, trail};
pub use index::{
    Domain, Fact, FactIndex, FactPiece, Place, Said, ToolUse, Visible, for_each_text, shows,
    strip_line_numbers,
};
pub use name_parts::name_parts;
pub use rank::{DefaultRanker, RankContext, Ranker, Subject, Subjects, Weights, features};
pub use statements::{
    FEATURES, N_FEATURES, Statement, StatementKind, StatementSource, StatementWeights, Statements,
    WeightsError, log2_sixteenths, statement_form, statement_key, statement_words,
};

// Tools and digests.
mod acts;
mod digest;
mod json;
mod outline;
mod refusal;
mod runs;
mod script;
mod todo;
mod tool;
mod tool_summary;
mod tool_view;
mod waiting;

pub use acts::{Act, Calls, each_act};
pub use digest::{
    Allowance, Extractor, Registry, ShellOutcome, Source, TestCounts, digest, is_wrapper, read_shell,
    summarize_tool_result,
};
pub use outline::{Definition, Language, Outline, outline};
pub use runs::{
    Branch, Check, Cure, Landing, Landings, Purpose, Run, Runs, Verdict, checks, may_rework, run_of, runs,
};
pub use todo::{TodoItem, TodoState, Todos, todos};
pub use tool::{ToolFamily, looks_after_one};
pub use tool_summary::{ToolStatus, ToolSummary, format_summaries};
pub use tool_view::{CallView, family};
