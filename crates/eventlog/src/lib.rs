//! Event logs in the formats of the standards.
//!
//! In goes a log that can be walked through, as an [`ObjectLog`] or a [`CaseLog`]; out come files: OCEL 2.0 as JSON, XML and
//! SQLite ([`ocel`]), XES ([`xes`]), CSV ([`csv`]), all that is text also as gz ([`gzip`]). In go files of others ([`read`]); out come their records, or what is wrong with
//! them and where ([`validate`]).
//!
//! Nothing here knows of Slurm, of datasets or of process models, and nothing holds a whole log: records pass through in
//! [`Batch`]es of bounded size.

pub mod attribute;
pub mod case_names;
pub mod csv;
pub mod error;
pub mod flat;
pub mod gzip;
pub mod id_hash;
pub mod log;
pub mod nested;
pub mod ocel;
pub mod parallel;
mod pieces;
pub mod read;
pub mod record;
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
