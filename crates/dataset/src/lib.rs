//! A dataset: tables in a directory, written in transactions and read by row groups; and other
//! Parquet files.
//!
//! In go typed rows ([`flowmine_schema::tables`]); out come Parquet files that any Parquet reader
//! opens, and the same rows again. This crate knows no source, and what rows mean is nothing to it.
//!
//! - [`Dataset`] is a directory, open for reading. [`Dataset::read`] reads a table,
//!   [`Dataset::read_host`] one host's rows in the order of time. Who reads names the columns as a
//!   type ([`flowmine_schema::columns!`]); only these are read from the files.
//! - [`Writer`] and [`Transaction`] write, one writer of a [`Role`] at a time. [`Builder`] takes
//!   the rows.
//! - [`column_file`] writes files with columns that are known only at run time, [`foreign_parquet`]
//!   reads files of other programs.
//!
//! ```
//! use flowmine_dataset::{Builder, Dataset, DatasetError, Role};
//! use flowmine_schema::tables::TaskRun;
//!
//! flowmine_schema::columns! {
//!     /// How a task ended.
//!     struct End of TaskRun { name, exit_code }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let dir = tempfile::tempdir()?;
//! let dataset = Dataset::open_or_create(&dir.path().join("dataset"))?;
//! let mut rows: Builder<TaskRun<'static>> = Builder::new();
//! let exit_code = Some(1);
//! rows.push(&TaskRun { name: "align".into(), status: "failed".into(), exit_code, ..TaskRun::default() });
//! let mut writer = dataset.writer(Role::Raw, "an example")?;
//! let mut transaction = writer.begin()?;
//! transaction.append(rows)?;
//! transaction.commit()?;
//!
//! let mut ends = Vec::new();
//! dataset.read::<End<'static>, DatasetError>(|row| {
//!     ends.push((row.name.to_string(), row.exit_code));
//!     Ok(())
//! })?;
//! assert_eq!(ends, [("align".to_owned(), Some(1))]);
//! # Ok(())
//! # }
//! ```
//!
//! **Errors.** A [`DatasetError`] names the file. A damaged file, one of a later version, a link or
//! a device in the place of a file is refused; what is in the dataset stays as it was.
//!
//! # The directory: what is in it, who may write, and how nothing is lost or doubled
//!
//! ```text
//! DIR/flowmine.json                                  format version, clusters, hosts, imported files
//! DIR/job_states/part-0000000001-0000000001.parquet  one folder a table; the numbers say which writes a file holds
//! DIR/io_events/host=n%201/date=2026-11-20/part-0000000001-0000000004@n%201.parquet
//!                                                    rows from hosts: a folder for each host and day, as Hive names them
//! DIR/.state/…                                       what an observer must remember between polls
//! ```
//!
//! **Writing** is a transaction: every new file is written and synced under a hidden name in the
//! dataset's own folder, then a list of the renames and deletions to do is itself renamed to
//! `.raw.commit.json` (that is the moment of commit), then they are done. Whoever is killed before
//! that moment leaves only hidden files, which the next writer removes; whoever is killed after it
//! leaves a list that the next writer finishes and that readers apply in their heads. A full disk
//! is an error before the moment of commit.
//!
//! There is one writer of raw tables at a time, one of derived tables and one for each trace of a
//! host ([`Role`]), each with a lock file (`.raw.lock`, `.host=NAME.lock`), a list of steps and
//! hidden names of its own. Traces of one host that run side by side take the first place that is
//! free: the second is `host=NAME+1` in all names, and so on; what a killed one left there is put
//! in order by whoever writes of that host next. The locks are advisory (flock(2)), and the kernel
//! releases them when a process ends; over a network they hold between machines where the file
//! system says so (NFS; Lustre mounted with `flock`). Writers do not wait for each other, but for
//! the moment in which one adds to `flowmine.json`, which `.manifest.lock` guards. Files of a
//! host's writer carry its name behind an `@`, so that two writers never want the same name.
//! Readers take no lock.
//!
//! **Whatever lies in the way.** The directory is opened once, and all that is in it is reached
//! through that descriptor, step by step and without following a link ([`flowmine_files::Folder`]):
//! a link, a FIFO or a device in place of a file is an error. Root does not write into a directory
//! of another user, unless as that user. Whoever may only read cannot take a lock: the lock files'
//! modes let only those open them who may write.
//!
//! **Modes.** Files and folders are made as the umask says, in a directory that only its owner may
//! enter with the modes 0600 and 0700 from the first byte ([`Access`]).
//!
//! **Order.** A table is read by host, by day, by writer (the raw one first), and as written. Host
//! names are percent-encoded in paths.
//!
//! **Small files** are merged by their writer as they grow in number, within a folder: a merged
//! file carries the range of writes that it holds, and appears in the same transaction in which
//! those it replaces go.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod access;
pub mod arrow_stream;
pub mod column_file;
mod columns;
mod commit;
mod dataset;
mod dictionary;
mod disk;
mod error;
pub mod foreign_parquet;
mod format;
mod host_folder;
mod in_time;
mod inputs;
pub mod leb128;
mod manifest;
mod merge;
mod parquet_checks;
mod parquet_error;
mod parquet_writer;
mod part;
mod place;
mod projection;
mod prune;
mod quiet;
mod role;
pub mod row_file;
mod row_groups;
mod rows;
mod table_file;
#[cfg(test)]
mod tests;
mod thrift;
mod transaction;
mod unchecked;
mod writer;

pub use access::Access;
pub use dataset::Dataset;
pub use error::DatasetError;
pub use format::FORMAT_VERSION;
pub use in_time::{HostRows, InTime};
pub use inputs::Input;
pub use manifest::{HubLimits, Import, Manifest};
pub use merge::{Merge, Merged};
pub use parquet_error::{FormatError, ParquetError};
pub use parquet_writer::GROUP_ROWS;
pub use part::Part;
pub use place::{Leaf, host_folder, of_host_folder as host_of_folder};
pub use prune::Pruned;
pub use role::Role;
pub use rows::{Builder, Rows};
pub use transaction::Transaction;
pub use unchecked::files_without_checksums;
pub use writer::Writer;
