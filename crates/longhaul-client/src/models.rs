//! Which models a server has: what can be asked without sending any text.

use longhaul_summarize::ClientError;
use serde_json::Value;

/// Returns the names in a list of models. Both protocols wrap them alike: `{"data": [{"id": …}, …]}`.
pub(crate) fn names(answer: &Value) -> Result<Vec<String>, ClientError> {
    let list = answer.get("data").and_then(Value::as_array);
    let list = list.ok_or_else(|| ClientError::InvalidResponse { reason: "no list of models".to_owned() })?;
    let names = list.iter().filter_map(|model| model.get("id").and_then(Value::as_str));
    Ok(names.take(MAX_NAMES).map(str::to_owned).collect())
}

/// No server of one user has more; the rest of a longer list is not looked at.
const MAX_NAMES: usize = 10_000;
