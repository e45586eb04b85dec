//! tau2-bench simulations and tau-bench results: Chat Completions messages. Import only.

use longhaul_transcript::{Message, Part, Role, Tokens, Usage};

use super::{OPENAI, Spec};
use crate::{
    Format,
    detect::{Claim, Head},
    error::Fault,
    import::{self, Import},
    json::Json,
};

pub(super) const SPEC: Spec = Spec {
    aliases: &["tau"],
    ..Spec::read_only("tau2", claims, |bytes| {
        import::read_whole(Format::Tau2, bytes, (&LISTS, EXPECTED), message)
    })
};

const LISTS: [&str; 3] = ["traj", "messages", "history"];
const EXPECTED: &str = "a simulation: an object with messages or traj";

fn claims(head: &Head<'_>) -> Option<Claim> {
    let is_one = !head.is_array()
        && head.has_any(&["traj", "task_id", "termination_reason"])
        && !head.has_any(&["trajectory", "history"]);
    is_one.then_some(Claim::Shape)
}

/// Chat Completions messages; in tau2 the simulated user has tools as well.
fn message(import: &mut Import, element: Json<'_>) -> Result<(), Fault> {
    let covered = import.last();
    let said = (OPENAI.read)(element)?;
    let is_assistant = said.role == Role::Assistant;
    let parts: Vec<Part> = said.parts.into_iter().map(|located| located.part).collect();
    if parts.is_empty() {
        return Ok(());
    }
    import.push(Message { name: said.name, ..Message::new(said.role, parts) });
    if let (true, Some(covered), Some(usage)) = (is_assistant, covered, element.get("usage")) {
        let usage = usage.object();
        let tokens = |key| usage.get(key).and_then(Json::as_u64).map(Tokens);
        if let (Some(input), output) = (tokens("prompt_tokens"), tokens("completion_tokens")) {
            let output = output.unwrap_or_default();
            import.envelope.usages.push((covered, Usage { input, output, ..Usage::default() }));
        }
    }
    Ok(())
}
