//! Which counter the flags ask for.

use std::{path::Path, sync::Arc};

use anyhow::{Result, bail};
use longhaul::tokens::{self, Bpe, Encoding, ModelTable, TokenCounter, Tokenizer};

use crate::args::CounterArgs;

/// A counter with the name under which reports show it.
#[derive(Clone, Debug)]
pub(crate) struct Named {
    pub(crate) counter: Arc<dyn TokenCounter>,
    /// The same where it is exact by an encoding of ours, which can count a text as it comes in.
    pub(crate) bpe: Option<Bpe>,
    pub(crate) name: String,
    /// The window of the model, where one was named and is known.
    pub(crate) window: Option<u64>,
}

/// Returns the counter that `args` name; `o200k_base` where they name none.
pub(crate) fn choose(args: &CounterArgs) -> Result<Named> {
    if let Some(path) = &args.tokenizer {
        return from_file(path);
    }
    if let Some(name) = &args.encoding {
        return Ok(of_encoding(name.parse()?));
    }
    let Some(model) = &args.model else {
        return Ok(of_encoding(Encoding::O200kBase));
    };
    let table = ModelTable::builtin();
    let Some(found) = table.get(model) else {
        bail!(
            "the model {model:?} is not in the table; name its --encoding or its --tokenizer, and its --window"
        );
    };
    let bpe = match found.tokenizer {
        Tokenizer::Exact(encoding) => Bpe::new(encoding),
        _ => None,
    };
    Ok(Named { counter: found.counter(), bpe, name: found.name.clone(), window: Some(found.window.0) })
}

/// Returns the counter that `args` name; where they name none that of `model`, as a conversation with it is counted, with a window
/// that others tell.
pub(crate) fn choose_for(args: &CounterArgs, model: Option<&str>) -> Result<Named> {
    let names_none = args.model.is_none() && args.encoding.is_none() && args.tokenizer.is_none();
    let Some(model) = model.filter(|_| names_none) else { return choose(args) };
    let found = ModelTable::builtin().get_or_unknown(model);
    Ok(Named { counter: found.counter(), bpe: None, name: found.name, window: None })
}

fn of_encoding(encoding: Encoding) -> Named {
    let bpe = Bpe::new(encoding);
    Named { counter: tokens::counter(encoding), bpe, name: encoding.name().into(), window: None }
}

#[cfg(feature = "tokenizers")]
fn from_file(path: &Path) -> Result<Named> {
    use crate::{paint, pipe};
    use anyhow::Context as _;

    let bytes = pipe::small(path).with_context(|| format!("{} cannot be read", paint::path(path)))?;
    let counter = tokens::TokenizerFile::from_bytes(bytes, path)?;
    Ok(Named { counter: Arc::new(counter), bpe: None, name: path.display().to_string(), window: None })
}

#[cfg(not(feature = "tokenizers"))]
fn from_file(_: &Path) -> Result<Named> {
    bail!("this build has no `tokenizers` feature: --tokenizer cannot be used")
}
