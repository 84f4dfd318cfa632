//! What the tests of several crates share.
//!
//! A case of [`Cases`] is an input file and a file with its expected rows. [`TempDataset`] contains
//! the rows of a test, and [`table_text`] shows the rows of a table. A failure panics, with a line
//! diff where texts differ.
//!
//! ```
//! use flowmine_schema::tables::TaskRun;
//! use flowmine_test_support::{TempDataset, assert_text, table_text};
//!
//! let dataset = TempDataset::new();
//! dataset.append::<TaskRun<'static>>(&[TaskRun { engine: "makeflow".into(), name: "sort".into(), ..TaskRun::default() }]);
//! let shown = table_text::<TaskRun<'static>>(&dataset);
//! assert!(shown.starts_with("engine=\"makeflow\" "), "{shown}");
//! assert_text("the same rows", &shown, &shown);
//! ```

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has to fail")]

mod cases;
mod diff;
mod rows;
mod temp_dataset;

pub use cases::{Cases, assert_text};
pub use diff::line_diff;
pub use rows::{each_row, row_text, table_text};
pub use temp_dataset::{TempDataset, built, write_by_host};
