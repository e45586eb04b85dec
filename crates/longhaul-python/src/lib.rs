//! longhaul for Python: the part that needs Rust. It takes and gives histories as JSON text; the Python files beside it
//! turn them into the plain dicts that the SDKs of OpenAI and Anthropic use.
//!
//! Nothing here holds the interpreter's lock while it counts, compacts or waits for a store.

mod errors;
mod history;
mod model;
mod session;
mod settings;

use pyo3::{prelude::*, types::PyModule};

/// The module `longhaul._longhaul`.
#[pymodule]
fn _longhaul(module: &Bound<'_, PyModule>) -> PyResult<()> {
    errors::add(module)?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_function(wrap_pyfunction!(history::count_text, module)?)?;
    module.add_function(wrap_pyfunction!(history::count, module)?)?;
    module.add_function(wrap_pyfunction!(history::format_of, module)?)?;
    module.add_function(wrap_pyfunction!(history::context, module)?)?;
    module.add_function(wrap_pyfunction!(history::compact, module)?)?;
    module.add_function(wrap_pyfunction!(history::validate, module)?)?;
    module.add_class::<session::Session>()?;
    module.add_class::<session::View>()?;
    Ok(())
}
