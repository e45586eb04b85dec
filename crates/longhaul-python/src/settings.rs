//! Settings, models and counters as Python names them.

use std::sync::{Arc, Mutex, PoisonError};

use longhaul::{
    Config,
    config::{Layer, Layered},
    tokens::{self, Encoding, ModelTable, TokenCounter},
    transcript::Tokens,
    wire::Format,
};
use pyo3::prelude::*;
use serde_json::{Map, Value};
use tokio::runtime::{Builder, Runtime};

use crate::errors;

/// The window of a model that nobody named, as in the command.
const DEFAULT_WINDOW: Tokens = Tokens(200_000);

/// Where nobody says how long an answer may be, it gets this share of the window, and at most [`RESERVED_OUTPUT`], as in the
/// command.
const RESERVED_SHARE: f64 = 0.1;

/// Tokens set aside for the reply in a large window.
const RESERVED_OUTPUT: Tokens = Tokens(16_000);

/// What counts, and the window of the model that it is, where one was named.
pub(crate) struct Counting {
    pub(crate) counter: Arc<dyn TokenCounter>,
    pub(crate) window: Option<Tokens>,
}

/// Returns the counter of a model or an encoding; `o200k_base` where neither is named.
pub(crate) fn counting(model: Option<&str>, encoding: Option<&str>) -> PyResult<Counting> {
    if let Some(name) = encoding {
        let encoding: Encoding = name.parse().map_err(|error| errors::settings(&error))?;
        return Ok(Counting { counter: tokens::counter(encoding), window: None });
    }
    let Some(model) = model else {
        return Ok(Counting { counter: tokens::counter(Encoding::O200kBase), window: None });
    };
    match ModelTable::builtin().get(model) {
        Some(known) => Ok(Counting { counter: known.counter(), window: Some(known.window) }),
        None => Err(errors::argument(format!(
            "the model {model:?} is not in the table; name its encoding= and its window="
        ))),
    }
}

/// Returns the window to work with: the one that is named, the model's, or the default.
pub(crate) fn window(named: Option<u64>, counting: &Counting) -> Tokens {
    named.map(Tokens).or(counting.window).unwrap_or(DEFAULT_WINDOW)
}

/// Returns what is set aside for the reply where nobody says how much.
pub(crate) fn reserved(window: Tokens) -> Tokens {
    window.scaled(RESERVED_SHARE).min(RESERVED_OUTPUT)
}

/// Returns the settings in a JSON object, over the defaults, each by the name that `longhaul config` lists.
pub(crate) fn layered(json: &str) -> PyResult<Layered> {
    let fields: Map<String, Value> = serde_json::from_str(json).map_err(|error| errors::settings(&error))?;
    let fields: Map<String, Value> = fields.into_iter().filter(|(_, value)| !value.is_null()).collect();
    let table = toml::to_string(&fields).map_err(|error| errors::settings(&error))?;
    Layered::from_layers(vec![Layer::file("settings", &table)]).map_err(|error| errors::settings(&error))
}

/// Returns the settings as they hold for a model whose provider `format` tells.
pub(crate) fn for_model(config: &Config, format: Format, model: Option<&str>) -> Config {
    let provider = format.provider().unwrap_or_default();
    config.for_model(provider, model.unwrap_or_default())
}

/// Returns the format of this name; `None` leaves it to be told from what it holds.
pub(crate) fn format(name: Option<&str>) -> PyResult<Option<Format>> {
    name.map(|name| name.parse().map_err(|error| errors::wire(&error))).transpose()
}

/// Returns the runtime on which stores are waited for. The threads of one do not outlive a fork: the child gets its own.
pub(crate) fn runtime() -> PyResult<&'static Runtime> {
    static RUNTIME: Mutex<Option<(u32, &'static Runtime)>> = Mutex::new(None);
    let mut begun = RUNTIME.lock().unwrap_or_else(PoisonError::into_inner);
    match *begun {
        Some((process, runtime)) if process == std::process::id() => Ok(runtime),
        _ => {
            let made = Builder::new_multi_thread().worker_threads(2).enable_all().build();
            let made =
                made.map_err(|error| errors::argument(format!("no thread could be started: {error}")))?;
            let runtime: &'static Runtime = Box::leak(Box::new(made));
            *begun = Some((std::process::id(), runtime));
            Ok(runtime)
        }
    }
}
