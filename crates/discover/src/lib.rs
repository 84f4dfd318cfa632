//! Event logs, directly-follows graphs, layout and pictures

pub mod dfg;
pub mod draw;
pub mod file_access;
pub mod flat_parquet;
pub mod job_log;
pub mod layout;
pub mod log;
pub mod log_file;
pub mod summary;
pub mod task_log;
