//! What a flowmine dataset is: its tables, its files, and the words used in them.
//!
//! In go typed rows ([`tables`]); out come Parquet files in a directory ([`dataset`]) that any Parquet reader
//! opens, and the same rows again. Times are UTC nanoseconds since 1970 as `i64`, sizes are bytes, and a column's
//! name carries its unit. An unknown value is null.
//!
//! This crate knows no source: nothing here parses `squeue`, a trace or a log, and nothing here decides which
//! event belongs to which case.
//!
//! Rows are written in transactions by one writer at a time ([`Writer`], [`Transaction`]). Who reads
//! names the columns as a type ([`columns!`]); only these are read from the files.
//!
//! ```
//! use flowmine_schema::dataset::Role;
//! use flowmine_schema::tables::TaskRun;
//! use flowmine_schema::{Builder, Dataset, DatasetError};
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
//! **Errors.** A [`DatasetError`] names the file. A damaged file, one of a later version, a link or a
//! device in the place of a file is refused; what is in the dataset stays as it was.

pub mod column_file;
pub mod dataset;
pub mod diagnostic;
pub mod foreign_parquet;
pub mod leb128;
pub mod parquet;
mod parquet_checks;
mod parquet_error;
mod parquet_writer;
pub mod private;
mod quiet;
pub mod row;
mod table;
pub mod table_docs;
pub mod tables;
pub mod text_numbers;
pub mod time;

pub use flowmine_text as text;

pub use dataset::{Access, Dataset, DatasetError, Merge, Merged, Transaction, Writer};
pub use private::{Private, Vocabulary};
pub use row::{Builder, ColumnDef, ColumnKind, Record, Row, Rows, View};
