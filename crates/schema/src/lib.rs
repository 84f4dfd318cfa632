//! Declarations of flowmine's tables, and the words in them. This crate opens no files.
//!
//! - [`tables`]: a row type for each table, with its columns, their meaning and the personal data
//!   that they can reveal ([`Private`]); `docs/tables.md` is generated from them ([`table_docs`]).
//!   [`table!`] declares a table, [`columns!`] a selection of its columns.
//! - [`row`]: operations of such types: push a row into columns ([`row::ColumnSink`]), read it from
//!   columns ([`row::ColumnSource`]), walk through its values, turn it into bytes for a temporary
//!   file.
//! - [`time`]: instants, days and how they are written. Times are UTC nanoseconds since 1970 as
//!   `i64`, sizes are bytes, and a column's name carries its unit. An unknown value is null.
//! - [`diagnostic`]: what was wrong with an input, and the registry of all codes;
//!   `docs/diagnostics.md` is generated from it.
//! - [`losses`]: the kinds of lost records that are operations.
//! - [`text_numbers`]: small numbers for texts; [`text`]: foreign text, without loss or safe to
//!   display.
//!
//! This crate is independent of sources: it parses no `squeue` output, trace or log, and does not
//! assign events to cases. The layout of rows on disk belongs to `flowmine-dataset`.
//!
//! ```
//! use flowmine_schema::tables::TaskRun;
//! use flowmine_schema::{Record, Row, View};
//!
//! flowmine_schema::columns! {
//!     /// How a task ended.
//!     struct End of TaskRun { name, exit_code }
//! }
//!
//! // What is declared of a table: its folder, its columns, what pseudonyms make of them.
//! assert_eq!(<TaskRun as Row>::TABLE, "task_runs");
//! let columns: Vec<String> = End::COLUMNS.iter().map(|c| format!("{}: {}, {}", c.name, c.kind.name(), c.private.becomes())).collect();
//! assert_eq!(columns, ["name: text, codes, word by word", "exit_code: i64, "]);
//!
//! // A row, some columns of it, and these as bytes and back.
//! let run = TaskRun { name: "align".into(), exit_code: Some(1), ..TaskRun::default() };
//! let end = End::of(&run);
//! let mut bytes = Vec::new();
//! end.put(&mut bytes);
//! assert_eq!(End::take(&bytes), Some(end));
//! ```
//!
//! The compiler **refuses** a column of text without a declaration of the personal data that it can
//! reveal, and names of columns that do not exist. [`Record::take`] refuses bytes that are no row.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

pub mod diagnostic;
pub mod losses;
pub mod private;
pub mod row;
mod table;
pub mod table_docs;
pub mod tables;
pub mod text_numbers;
pub mod time;

pub use flowmine_text as text;

pub use private::{Private, Vocabulary};
pub use row::{ColumnDef, ColumnKind, Record, Row, View};
