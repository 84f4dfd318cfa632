//! Assignment of traced processes and their bytes to tasks and jobs.
//!
//! The input is the tables of a trace (`processes`, `files`, `io_events`, `io_totals`, `losses`,
//! `hosts`, `clocks`) and the known tasks and jobs ([`entities`]): the attempts at tasks that
//! workflow engines describe (`task_runs`), and attempts at jobs as plain values
//! ([`entities::KnownJob`]). The results are the tables `task_io`, `task_totals`,
//! `logical_task_totals` and `data_flow`, links of processes, and contradictions as diagnostics
//! ([`attribute`]). [`rules`] find the owners of a process from its properties;
//! `docs/attribution.md` lists the rules, and how each can be forged.
//!
//! The bytes of all rows are the bytes of all operations: unassigned operations have a reason
//! ([`owners::Reason`]). This crate is independent of attempts of jobs, events and cases. Other
//! modules serve readers of traces or tasks: [`files`] (the file of an operation),
//! [`task_attempts`] (each attempt at a task once, with its traced sums).
//!
//! ```
//! use flowmine_attribution::attribute;
//! use flowmine_attribution::entities::{Entities, KnownJob, KnownJobs};
//! use flowmine_dataset::{Builder, Dataset, DatasetError, Role};
//! use flowmine_schema::tables::{DiagnosticRow, IoEvent, Link, Process, TaskTotal};
//! use flowmine_schema::time::{Day, SECOND_NS};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let start_ns = 1_795_000_000 * SECOND_NS;
//! let dir = tempfile::tempdir()?;
//! let dataset = Dataset::open_or_create(&dir.path().join("dataset"))?;
//!
//! // What a tracer writes: a process that says in which job it is, and its one write of 4096 bytes.
//! let process_start_ns = Some(5 * SECOND_NS);
//! let mut processes: Builder<Process<'static>> = Builder::new();
//! processes.push(&Process {
//!     host: "n1".into(),
//!     trace_ns: start_ns,
//!     pid: 42,
//!     process_start_ns,
//!     start_precision_ns: Some(1),
//!     as_of_ns: start_ns + SECOND_NS,
//!     started_ns: Some(start_ns),
//!     environment: Some(r#"{"SLURM_JOB_ID":"7"}"#.into()),
//!     ..Process::default()
//! });
//! let mut operations: Builder<IoEvent<'static>> = Builder::new();
//! operations.push(&IoEvent {
//!     host: "n1".into(),
//!     trace_ns: start_ns,
//!     pid: 42,
//!     process_start_ns,
//!     op: "write".into(),
//!     start_ns: start_ns + 1000,
//!     device: Some(1),
//!     inode: Some(2),
//!     offset: Some(0),
//!     size: Some(4096),
//!     result: Some(4096),
//!     ..IoEvent::default()
//! });
//! let mut writer = dataset.writer(Role::Host("n1".to_owned()), "an example")?;
//! let mut transaction = writer.begin()?;
//! transaction.append_split(processes, "n1", Day::new(start_ns))?;
//! transaction.append_split(operations, "n1", Day::new(start_ns))?;
//! transaction.commit()?;
//!
//! // Who knows jobs says which there are.
//! let mut jobs = KnownJobs::default();
//! jobs.add(KnownJob { job: "7".to_owned(), job_id: 7, since_ns: start_ns, ..KnownJob::default() });
//! let entities = Entities::read(&dataset, jobs)?;
//!
//! let mut writer = dataset.writer(Role::Derived, "an example")?;
//! let mut transaction = writer.begin()?;
//! transaction.replace(Builder::<Link<'static>>::new())?;
//! transaction.replace(Builder::<DiagnosticRow<'static>>::new())?;
//! let found = attribute(&dataset, &entities, &mut transaction)?;
//! transaction.commit()?;
//! assert_eq!((found.operations, found.processes), (1, 1));
//!
//! let mut totals = Vec::new();
//! dataset.read::<TaskTotal<'static>, DatasetError>(|row| {
//!     totals.push((row.job.as_deref().map(str::to_owned), row.written_bytes));
//!     Ok(())
//! })?;
//! assert_eq!(totals, [(Some("7".to_owned()), 4096)]);
//! # Ok(())
//! # }
//! ```
//!
//! **Memory** holds live processes, files in use and four bytes for each process of the hosts that
//! are read at the same time, the owners of all hosts, and all tasks and jobs by name; the rest is
//! sorted outside of it.
//!
//! **Errors.** An [`AttributionError`] means that the dataset or a temporary file could not be read
//! or written. A process that is reported twice, a job that two clusters have, or an engine that
//! contradicts the kernel is no error: it is counted, and reported in the diagnostics.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

pub mod access;
mod attribute;
mod bytes;
pub mod clocks;
pub mod entities;
mod error;
pub mod files;
pub mod flow;
mod groups;
pub mod histogram;
mod links;
mod listener;
pub mod losses;
pub mod merge;
pub mod names;
mod out_of_range;
pub mod owners;
pub mod partial;
pub mod processes;
pub mod ranges;
pub mod rules;
pub mod sums;
pub mod task_attempts;

#[cfg(test)]
mod tests;

pub use attribute::{Attributed, attribute, attribute_telling, has_traces, hosts, partial_of};
pub use error::AttributionError;
pub use listener::Listener;
pub use out_of_range::OutOfRange;
