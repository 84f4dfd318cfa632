//! Event logs in the formats of the standards: OCEL 2.0, XES and CSV, written, read and checked.
//!
//! - **Write.** The input is a log that can be walked through: an [`ObjectLog`] (events of several
//!   objects) or a [`CaseLog`] (traces, each with its events). The output is OCEL 2.0 as JSON, XML
//!   or SQLite ([`ocel`]), XES ([`xes`]) and CSV ([`csv`]), and [`Counts`] of the written records
//!   and of the values that the format cannot hold. Text formats can be compressed ([`gzip`]).
//! - **Read.** [`read::read_file`] recognises the format by the content and passes [`Record`]s to a
//!   [`read::Sink`], with a [`read::Finding`] for each irregularity. OCEL 1.0 and gzip are read
//!   too. Every file is treated as hostile: [`read::Limits`] bound every text and all nesting.
//! - **Check.** [`validate::validate`] gives all that is against a standard, with its place.
//!
//! **Units.** Times are UTC nanoseconds since 1970 as `i64`; [`time`] writes and parses them. An
//! [`Attribute`] has a [`Value`] of one of OCEL's and XES's types, which [`ValueType`] names.
//!
//! **Memory.** No log is held as a whole: records go through in [`Batch`]es of about 256 KiB, which
//! a [`BatchBuilder`] makes. The same log gives the same bytes on any number of processors.
//!
//! **Errors.** [`LogError`]: a file that is refused has line and column, or table and row. An error
//! of the side that gives records is wrapped by [`LogError::source`].
//!
//! A log of one case, written, and read again:
//!
//! ```
//! use flowmine_eventlog::read::{self, Finding, Format, Limits, Sink};
//! use flowmine_eventlog::{
//!     Attribute, Batch, BatchBuilder, Batches, CaseHeader, CaseLog, LogError, Record, Types, xes,
//! };
//!
//! struct Log(CaseHeader, Vec<Batch>);
//!
//! impl CaseLog for Log {
//!     fn header(&self) -> &CaseHeader {
//!         &self.0
//!     }
//!     fn traces(&self) -> Batches<'_> {
//!         Box::new(self.1.iter().cloned().map(Ok))
//!     }
//! }
//!
//! struct Activities(Vec<String>);
//!
//! impl Sink for Activities {
//!     fn types(&mut self, _: Types) -> Result<(), LogError> {
//!         Ok(())
//!     }
//!     fn header(&mut self, _: CaseHeader) -> Result<(), LogError> {
//!         Ok(())
//!     }
//!     fn record(&mut self, record: &Record<'_>) -> Result<(), LogError> {
//!         if let Record::CaseEvent(attributes) = record {
//!             let name = Attribute::find(attributes, "concept:name");
//!             self.0.extend(name.and_then(|name| name.value.as_name()).map(Into::into));
//!         }
//!         Ok(())
//!     }
//!     fn finding(&mut self, finding: Finding) {
//!         panic!("{}", finding.message);
//!     }
//! }
//!
//! let mut builder = BatchBuilder::default();
//! let mut batches = Vec::new();
//! for record in [
//!     Record::Trace(vec![Attribute::text("concept:name", "order 1")]),
//!     Record::CaseEvent(vec![
//!         Attribute::text("concept:name", "align"),
//!         Attribute::time("time:timestamp", 1_795_179_845_000_000_000),
//!     ]),
//!     Record::TraceEnd,
//! ] {
//!     batches.extend(builder.push(&record));
//! }
//! batches.extend(builder.finish());
//!
//! let mut file = tempfile::NamedTempFile::new()?;
//! let written = xes::write(&Log(CaseHeader::default(), batches), &mut file)?;
//! assert_eq!((written.traces, written.events), (1, 1));
//!
//! let mut activities = Activities(Vec::new());
//! let format = read::read_file(file.path(), &Limits::default(), &mut activities)?;
//! assert_eq!((format, activities.0), (Format::Xes, vec!["align".to_owned()]));
//! # Ok::<(), LogError>(())
//! ```
//!
//! Two programs to begin with are in `examples/`: `read_ocel` counts the objects and events of an
//! OCEL file by type, `write_xes` builds a log and writes it
//! (`cargo run --release -p flowmine-eventlog --example read_ocel -- FILE`).
//!
//! Nothing here knows of Slurm, of datasets or of process models, and nothing depends on polars.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

pub mod attribute;
pub mod case_names;
pub mod chosen;
pub mod csv;
pub mod error;
pub mod flat;
pub mod gzip;
pub mod id_hash;
pub mod log;
pub mod nested;
pub mod ocel;
pub mod parallel;
pub mod part_of_cases;
mod pieces;
pub mod read;
pub mod record;
pub mod relabelled;
pub mod sorted;
pub mod time;
pub mod validate;
pub mod xes;
pub mod xml;

pub use attribute::{Attribute, Value, ValueType};
pub use error::LogError;
pub use id_hash::IdHash;
pub use log::{Batches, CaseHeader, CaseLog, Classifier, Counts, Extension, ObjectLog, TypeDef, Types};
pub use record::{Batch, BatchBuilder, Event, Object, Record, Relation};
