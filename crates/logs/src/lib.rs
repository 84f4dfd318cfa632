//! From a dataset or a file of others to event logs.
//!
//! Two forms come out. **Records** that are walked through, for the writers of `flowmine-eventlog`:
//! [`job_log`] (jobs), [`task_log`] (tasks, processes, files), [`log_file`] (XES and OCEL of
//! others), [`flat_parquet`]. **Columns** in memory, for models: [`columns`] makes a
//! [`flowmine_activity_log::ActivityLog`] of the jobs or tasks of a dataset or of any log that can
//! be walked through, [`tables`] of CSV and Parquet with an event or an instance in each row.
//!
//! Next to logs, the crate has: a run as a graph of tasks and files ([`run_graph`]) or as it was
//! traced ([`traced_run`]), what jobs waited for ([`job_waits`]), processes and their operations
//! ([`process_rows`], [`operations`], [`io_phases`]), which jobs and tasks do the same ([`steps`]), and
//! the numbers of a dataset's jobs and tasks ([`summary`], [`task_summary`]).
//!
//! ```
//! use flowmine_logs::tables::{TableOptions, read_csv};
//!
//! let csv = "\
//! case,activity,start,end
//! order 1,align,2026-11-25T08:00:00Z,2026-11-25T08:00:30Z
//! order 1,sort,2026-11-25T08:00:30Z,2026-11-25T08:00:50Z
//! order 2,align,2026-11-25T08:01:00Z,later
//! ";
//! let read = read_csv(csv.as_bytes(), &TableOptions::default())?;
//! let log = &read.log;
//! assert_eq!(log.cases().map(|cases| cases.len()), Some(2));
//! assert_eq!((log.activity(1), log.service_ns(1)), ("sort", Some(20_000_000_000)));
//! // A time that cannot be read is not known, and its place is reported.
//! assert_eq!(log.service_ns(2), None);
//! assert_eq!(read.notes.len(), 1);
//! # Ok::<(), flowmine_logs::tables::TableError>(())
//! ```
//!
//! **Order and memory.** A log is the same whichever way it was read: the order of events with the
//! same time is fixed. Records are sorted outside of memory; columns take 8 bytes an event and 12
//! an instance, and 1 to 8 for each optional column. Everything that is left out is counted.
//!
//! **Errors.** Each module has one of its own: of files with file, line and column, of datasets
//! with the table's file.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

pub mod columns;
pub mod flat_parquet;
pub mod io_phases;
pub mod job_log;
pub mod job_waits;
pub mod log_file;
pub mod operations;
mod places;
pub mod process_graph;
pub mod process_groups;
pub mod process_rows;
pub mod run_graph;
pub mod steps;
pub mod summary;
pub mod tables;
pub mod task_log;
pub mod task_summary;
pub mod traced_run;
pub mod unrecorded;
