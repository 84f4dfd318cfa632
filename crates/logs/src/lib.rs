//! From a dataset or a file of others to event logs.
//!
//! Two forms come out. **Records** that are walked through, for the writers of `flowmine-eventlog`: [`job_log`], [`task_log`], [`log_file`],
//! [`flat_parquet`]. **Columns** in memory, for models: [`columns`] makes a [`flowmine_activity_log::ActivityLog`] of the jobs or tasks of a
//! dataset, of any log that can be walked through, and [`tables`] of flat tables.

pub mod columns;
pub mod flat_parquet;
pub mod io_phases;
pub mod job_log;
pub mod log_file;
pub mod operations;
pub mod process_graph;
pub mod process_groups;
pub mod process_rows;
pub mod run_graph;
pub mod summary;
pub mod tables;
pub mod task_log;
pub mod task_summary;
pub mod traced_run;
