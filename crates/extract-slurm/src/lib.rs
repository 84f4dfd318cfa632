//! Slurm's queue and accounting as rows: live, local or over SSH, or from files that others
//! recorded.
//!
//! | module | in | out |
//! |---|---|---|
//! | [`squeue`] | the text of one poll | records |
//! | [`queue`] | the records of poll after poll | the changes between them, as rows of `job_states` and `job_dependencies` |
//! | [`clock`] | slurmctld's time, the states of jobs | how far the clock of whoever polls is ahead |
//! | [`nodes`] | sinfo's text of one poll | what changed of nodes, as rows of `node_states` |
//! | [`naming`] | names | the same, or pseudonyms |
//! | [`runner`], [`ssh`] | a fixed script | its output, from this machine or the login node |
//!
//! Decoding is the same whether bytes come from a live cluster or from a file. Nothing here knows
//! about cases or events.
//!
//! Times are UTC nanoseconds since 1970, memory is bytes. Faults of a file that other programs
//! recorded are listed in its [`import_files::FileReport`], by line and column.
//!
//! ```
//! use flowmine_extract_slurm::import_files::{Options, import_files};
//! use flowmine_dataset::Dataset;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let dir = tempfile::tempdir()?;
//! let poll = dir.path().join("squeue.txt");
//! std::fs::write(&poll, "JOBID|NAME|STATE\n7|align|RUNNING\n8|sort|PENDING\n")?;
//! let dataset = Dataset::open_or_create(&dir.path().join("dataset"))?;
//!
//! // The file does not say when the queue was looked at.
//! let options = Options { observed_at_ns: Some(1_700_000_000_000_000_000), ..Options::default() };
//! let reports = import_files(&dataset, &[poll], &options, |_, _| {})?;
//! assert_eq!((reports[0].records, reports[0].changes), (2, 2));
//! # Ok(())
//! # }
//! ```

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

pub mod accounting;
pub mod clock;
pub mod command;
pub mod details;
pub mod import;
pub mod import_files;
pub mod memory;
pub mod naming;
pub mod nodes;
pub mod observe;
pub mod queue;
pub mod record;
pub mod remembered;
pub mod runner;
pub mod sacct;
pub mod schedule;
pub mod squeue;
#[cfg(feature = "ssh")]
pub mod ssh;
pub mod submit_line;
