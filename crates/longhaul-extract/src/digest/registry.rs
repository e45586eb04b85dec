//! Extractors: which rules read which tool's results, and how a user adds their own.

use std::{fmt, sync::Arc};

use longhaul_transcript::{Outcome, ToolCall, ToolResult};

use super::{
    clean::{bare, clean, clip, prefix, unwrap},
    fit::Allowance,
    shape::{shape_of, within},
    source::Source,
};
use crate::{
    tool::ToolFamily,
    tool_summary::{ToolStatus, ToolSummary, builtin_facts},
    tool_view::CallView,
};

/// Reads the results of some tools.
///
/// Implementations are pure: the same source gives the same facts and the same digest, without IO, clock or
/// randomness, in time linear in the text; and they must not panic: nobody catches it. The registry asks the last registered extractor first.
pub trait Extractor: fmt::Debug + Send + Sync {
    /// A short name for reports, in lower case.
    fn name(&self) -> &'static str;

    /// Returns whether this extractor reads such a source. Called for each result: keep it cheap.
    fn handles(&self, source: Source<'_>) -> bool;

    /// Writes what the result says into `facts`, which arrives with the tool's name and a status by the wire's word.
    fn extract(&self, source: Source<'_>, facts: &mut ToolSummary);

    /// Returns the text's digest within the allowance, or `None` to leave it to the built-in rules by shape. What
    /// exceeds the allowance is discarded in favour of those.
    fn digest(&self, source: Source<'_>, allowance: &Allowance<'_>) -> Option<String> {
        let _ = (source, allowance);
        None
    }
}

/// The extractors in use, the last registered first in line.
///
/// ```
/// use longhaul_extract::{Extractor, Registry, Source, ToolSummary};
/// use longhaul_transcript::{Outcome, ToolCall, ToolResult};
///
/// #[derive(Debug)]
/// struct Weather;
/// impl Extractor for Weather {
///     fn name(&self) -> &'static str { "weather" }
///     fn handles(&self, source: Source<'_>) -> bool { source.tool() == "weather" }
///     fn extract(&self, source: Source<'_>, facts: &mut ToolSummary) {
///         facts.key_facts.push(format!("Sky: {}", source.text));
///     }
/// }
///
/// let registry = Registry::builtin().with(Weather);
/// let call = ToolCall::function("c1", "weather", "{}");
/// let result = ToolResult::text("c1", "clear", Outcome::Succeeded);
/// assert_eq!(registry.summarize(Some(&call), &result).to_string(), "[✓ weather: Sky: clear]");
/// ```
#[derive(Clone, Debug)]
pub struct Registry {
    extractors: Vec<Arc<dyn Extractor>>,
}

impl Registry {
    /// Returns the registry of the built-in extractors, which handle everything.
    pub fn builtin() -> Registry {
        Registry { extractors: vec![Arc::new(Builtin)] }
    }

    /// Returns this registry with one more extractor, which goes before all others where it handles the source.
    pub fn with(mut self, extractor: impl Extractor + 'static) -> Registry {
        self.extractors.push(Arc::new(extractor));
        self
    }

    /// Returns the facts of a tool result.
    pub fn summarize(&self, call: Option<&ToolCall>, result: &ToolResult) -> ToolSummary {
        let view = call.map(CallView::new);
        let family = view.as_ref().map_or(ToolFamily::Other, CallView::family);
        let raw = result.joined_text();
        let text = unwrap(&raw, family);
        let text = clean(&text);
        let source = Source::new(view.as_ref(), &text, result.outcome);
        let mut facts = ToolSummary::new(source.tool(), ToolStatus::of(result.outcome));
        if let Some(extractor) = self.handler(source) {
            extractor.extract(source, &mut facts);
        }
        facts
    }

    /// Returns the digest of a tool's output: what matters of it, within the allowance.
    ///
    /// A text that fits comes back whole, without terminal escapes and what a harness put around it. Otherwise the digest is
    /// never longer than the text, never above the limit, and all it says stands in the text, but for the marks of what was
    /// left out.
    pub fn digest(
        &self,
        call: Option<&ToolCall>,
        text: &str,
        outcome: Outcome,
        allowance: &Allowance<'_>,
    ) -> String {
        let view = call.map(CallView::new);
        let family = view.as_ref().map_or(ToolFamily::Other, CallView::family);
        let opened = unwrap(text, family);
        let bare = bare(&opened);
        let whole = bare.trim_end();
        if whole.len() <= text.len() && allowance.fits(whole) {
            return whole.to_owned();
        }
        let clipped = clip(bare);
        let whole = clipped.trim_end();
        let source = Source::new(view.as_ref(), whole, outcome);
        let own = self.handler(source).and_then(|extractor| extractor.digest(source, allowance));
        let acceptable = |digest: &String| allowance.fits(digest) && digest.len() <= text.len();
        if let Some(digest) = own.filter(acceptable) {
            return digest;
        }
        let lines: Vec<&str> = whole.lines().collect();
        let digest = within(&shape_of(source, &lines), &lines, allowance);
        digest.filter(acceptable).unwrap_or_else(|| head(whole, allowance))
    }

    fn handler(&self, source: Source<'_>) -> Option<&dyn Extractor> {
        self.extractors.iter().rev().find(|extractor| extractor.handles(source)).map(AsRef::as_ref)
    }
}

impl Default for Registry {
    fn default() -> Registry {
        Registry::builtin()
    }
}

/// Returns the digest of a tool's output by the built-in rules. See [`Registry::digest`].
///
/// ```
/// use longhaul_extract::{Allowance, digest};
/// use longhaul_transcript::{Outcome, Tokens, ToolCall};
///
/// let count = |text: &str| Tokens(text.len().div_ceil(4) as u64);
/// let call = ToolCall::function("c1", "Bash", r#"{"command":"make"}"#);
/// let output = format!("{}main.c:3:5: error: expected ';'\n{}", "cc -c x.c\n".repeat(90), "cc -c y.c\n".repeat(90));
/// let digest = digest(Some(&call), &output, Outcome::Failed, &Allowance::new(Tokens(40), &count));
/// assert!(digest.contains("main.c:3:5: error: expected ';'"));
/// assert!(digest.len() <= 160);
/// ```
pub fn digest(call: Option<&ToolCall>, text: &str, outcome: Outcome, allowance: &Allowance<'_>) -> String {
    Registry::builtin().digest(call, text, outcome, allowance)
}

/// Returns what a tool call did, by the built-in rules.
///
/// ```
/// use longhaul_extract::summarize_tool_result;
/// use longhaul_transcript::{Outcome, ToolCall, ToolResult};
///
/// let call = ToolCall::function("c1", "execute_bash", r#"{"command":"npm test"}"#);
/// let result = ToolResult::text("c1", "Error: Module not found\nexit code: 1", Outcome::Unstated);
/// assert_eq!(
///     summarize_tool_result(Some(&call), &result).to_string(),
///     "[❌ execute_bash: Command: npm test | Exit: 1 | Output: 2 lines | Error: Error: Module not found]"
/// );
/// ```
pub fn summarize_tool_result(call: Option<&ToolCall>, result: &ToolResult) -> ToolSummary {
    Registry::builtin().summarize(call, result)
}

/// The head of a text that fits: what is left where not even a mark does.
fn head(text: &str, allowance: &Allowance<'_>) -> String {
    let (mut low, mut high) = (0, text.len().min(allowance.most_bytes()));
    while low < high {
        let middle = (low + high).div_ceil(2);
        if allowance.fits(prefix(text, middle)) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    prefix(text, low).to_owned()
}

/// The rules by tool family and by the shape of the text.
#[derive(Debug)]
struct Builtin;

impl Extractor for Builtin {
    fn name(&self) -> &'static str {
        "builtin"
    }

    fn handles(&self, _: Source<'_>) -> bool {
        true
    }

    fn extract(&self, source: Source<'_>, facts: &mut ToolSummary) {
        builtin_facts(source, facts);
    }
}
