//! The extension module `flowmine_hpc._native`: requests of Python for `flowmine-api`.
//!
//! - **In:** paths, names and texts, as Python's side of the package has checked them.
//! - **Out:** a `Reply` for each call: a value or an error in words, and the messages of the
//!   library. Python's side makes exceptions and warnings of them.
//!
//! **One rule.** Work is done on a thread of its own without the interpreter's lock (`call.rs`):
//! other threads of Python go on, and a signal is seen while it lasts. A panic is an error.
//!
//! The module keeps nothing of Python beyond a call, and calls nothing of Python but the function
//! that takes progress.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod call;
mod found;
mod messages;
mod registry;
mod source;
mod table;

use pyo3::prelude::*;

use call::Reply;
use found::Found;
use source::Source;

/// The module as Python imports it.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<Reply>()?;
    module.add_class::<Source>()?;
    module.add_class::<Found>()?;
    module.add_function(wrap_pyfunction!(call::settle, module)?)?;
    module.add_function(wrap_pyfunction!(source::open, module)?)?;
    module.add_function(wrap_pyfunction!(found::discover, module)?)?;
    module.add_function(wrap_pyfunction!(found::format_of, module)?)?;
    module.add_function(wrap_pyfunction!(table::declared, module)?)?;
    module.add_function(wrap_pyfunction!(table::rows, module)?)?;
    module.add_function(wrap_pyfunction!(table::stream, module)?)?;
    module.add_function(wrap_pyfunction!(registry::models, module)?)?;
    module.add_function(wrap_pyfunction!(registry::options, module)?)?;
    Ok(())
}
