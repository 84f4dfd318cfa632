//! Slurm's words, each read and written in one place.
//!
//! | module | what |
//! |---|---|
//! | [`clock`] | how far a clock is ahead of slurmctld's |
//! | [`state`] | job states and the phase of a job's life that each belongs to: squeue(1), JOB STATE CODES |
//! | [`job_ref`] | jobs as displayed: `7`, `8_3`, `8_[3-9%3]`, `18+1` |
//! | [`index_set`] | the indices of an array: `1,3,5-15:5%2` |
//! | [`host_list`] | lists of nodes: `n[1-4,07],m01` |
//! | [`dependency`] | what a job waits for: `afterok:3,after:8_*+10?singleton` (sbatch(1), `--dependency`) |
//! | [`reason`] | reasons for which a job waits, and what each means |
//! | [`options`] | options of sbatch(1), srun(1) and salloc(1), and whether each takes an argument |
//! | [`tres`] | trackable resources: how many GPUs and how much memory a list names |
//! | [`units`] | times, lengths of time, sizes of memory, and the words for nothing |
//!
//! In goes text as Slurm or its users write it; out come values, or a refusal that says where. Text
//! is never guessed at: what is no word of Slurm's is kept as it is, or refused.
//!
//! ```
//! use flowmine_slurm::job_ref::{self, JobRef};
//! use flowmine_slurm::state::{Phase, State};
//!
//! let (raw_id, job) = job_ref::parse_displayed("8_3").expect("a task of an array");
//! assert_eq!((raw_id, job), (None, JobRef::Task { array: 8, task: 3 }));
//! assert_eq!(State::parse("PD").name(), "PENDING");
//! assert_eq!(State::Completing.phase(), Phase::Ending);
//! assert_eq!(flowmine_slurm::host_list::expand("n[1-2],m01", 10)?, ["n1", "n2", "m01"]);
//! # Ok::<(), flowmine_slurm::host_list::HostListError>(())
//! ```
//!
//! Nothing here knows polls, files, events or cases.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

pub mod clock;
pub mod dependency;
pub mod host_list;
pub mod index_set;
pub mod job_ref;
pub mod options;
pub mod reason;
pub mod state;
pub mod tres;
pub mod units;
