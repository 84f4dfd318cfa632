//! Recognition of sources: paths in, a dataset or log files out.
//!
//! A source is anything that flowmine reads: a dataset, a log file, a table, recordings of Slurm,
//! traces, files and directories of workflow engines.
//!
//! - [`recognise()`] finds the kind of each path from its content and returns a [`Plan`]. A name or
//!   an extension never decides; an extension can break a tie between kinds.
//! - [`open`] carries the plan out: sources that are imported go together into a temporary dataset,
//!   which is then correlated. It is private and is removed when [`Opened`] is dropped.
//! - [`import`] has the importers that `flowmine import` and [`open`] share.
//! - [`KINDS`] is the registry: one file in `kinds/` and one line there add a kind.
//!
//! **Reading.** A kind sees at most the first 64 KiB of a file, unpacked from gzip, and at most
//! 10,000 entries of a directory. Links in directories are not followed; FIFOs, sockets and devices
//! are refused without being opened.
//!
//! **Errors.** [`SourceError`]: every variant names the path and what to do. Problems of single
//! files or lines are diagnostics in [`Opened`]; nothing is printed here.
//!
//! ```
//! # let dir = tempfile::tempdir()?;
//! let log = dir.path().join("no-extension");
//! std::fs::write(&log, "case_id,activity,timestamp\n1,sort,2026-11-20T13:00:00Z\n")?;
//!
//! let plan = flowmine_sources::recognise(&[log])?;
//! assert_eq!(plan.sources()[0].kind.name, "table");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod answer;
mod error;
pub mod import;
mod kind;
pub mod kinds;
mod listing;
mod opened;
mod plan;
mod recognise;
mod sample;

pub use answer::{Answer, Seen};
pub use error::SourceError;
pub use kind::{Kind, Reading};
pub use kinds::KINDS;
pub use listing::Listing;
pub use opened::{Data, Opened, Sink, open};
pub use plan::{Plan, Source};
pub use recognise::recognise;
pub use sample::Sample;
