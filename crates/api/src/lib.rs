//! What flowmine can do, as functions with typed options and typed results.
//!
//! A caller (command line, server, scripts) makes a request and gets a result that it can write.
//! The library prints nothing: messages and progress go to the [`Sink`] of the caller. It knows no
//! command line. [`models::MODELS`] is the registry of models: help, completions, manual pages and
//! the tables of the documentation are made from it.
//!
//! ```
//! use flowmine_api::{Format, Request, Silent, SourcePaths, discover};
//!
//! # let dir = tempfile::tempdir()?;
//! # let log = dir.path().join("log.csv");
//! # std::fs::write(&log, "case,activity,timestamp\na,align,2026-11-20\na,merge,2026-11-21\n")?;
//! let source = SourcePaths { logs: vec![log], ..SourcePaths::default() };
//! let request = Request::read("dfg", source, Some(Format::Csv), [("min-count", "1")])?;
//! let found = discover(&request, &Silent)?;
//! let mut table = Vec::new();
//! found.write(Format::Csv, &mut table)?;
//! assert!(String::from_utf8(table)?.contains("align"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

pub mod activities;
pub mod correlate;
pub mod distribute;
pub mod doctor;
pub mod endings;
mod error;
pub mod evaluate;
pub mod export;
mod format;
mod found;
pub mod generate;
pub mod groups;
pub mod import;
pub mod inputs;
mod job_waits;
pub mod jobs;
pub mod log;
pub mod log_format;
pub mod log_memory;
mod log_parts;
pub mod lower_bounds;
#[cfg(test)]
mod model_docs;
pub mod models;
mod node_load;
pub mod now;
pub mod observe;
mod one_run;
pub mod options;
pub mod output;
pub mod part_of_log;
pub mod partial;
pub mod predict;
mod predicted_gains;
mod processes;
pub mod prune;
pub mod pseudonyms;
#[cfg(test)]
mod python_docs;
pub mod recognised;
pub mod registry;
pub mod remarks;
pub mod report;
mod request;
pub mod run;
mod sink;
pub mod source;
pub mod steps;
pub mod tables;
pub mod target;
mod task_waits;
pub mod trace;
pub mod transform;
mod usual_notion;
pub mod validate;
pub mod why;

pub use error::{Context, Error, Result, chain, is_broken_pipe};
pub use format::Format;
pub use found::Found;
pub use report::messages::Messages;
pub use request::{Request, discover};
pub use sink::{Message, Silent, Sink, Stage};
pub use source::SourcePaths;

use flowmine_draw::document::DocumentFormat;

/// The JSON documents of commands other than models: of `predict`, `summary.json` of `run`, and
/// those of `serve`.
pub const OTHER_DOCUMENTS: &[DocumentFormat] = &[
    DocumentFormat::new::<flowmine_predict::report::PredictionDocument<'static>>(),
    DocumentFormat::new::<run::Numbers>(),
    DocumentFormat::new::<now::Now>(),
    DocumentFormat::new::<registry::Registry>(),
    DocumentFormat::new::<registry::Refusal>(),
    DocumentFormat::new::<registry::SourceState>(),
    DocumentFormat::new::<registry::RequestProgress>(),
];
