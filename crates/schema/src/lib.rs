//! What a flowmine dataset is: its tables, its files, and the words used in them.
//!
//! In go typed rows ([`tables`]); out come Parquet files in a directory ([`dataset`]) that any Parquet reader
//! opens, and the same rows again. Times are UTC nanoseconds since 1970 as `i64`, sizes are bytes, and a column's
//! name carries its unit. An unknown value is null.
//!
//! This crate knows no source: nothing here parses `squeue`, a trace or a log, and nothing here decides which
//! event belongs to which case.

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
