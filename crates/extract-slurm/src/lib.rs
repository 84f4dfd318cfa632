//! Slurm's queue and accounting as rows: live, local or over SSH, or from files that others recorded.
//!
//! | module | in | out |
//! |---|---|---|
//! | [`squeue`] | the text of one poll | records |
//! | [`queue`] | the records of poll after poll | the changes between them, as rows of `job_states` and `job_dependencies` |
//! | [`naming`] | names | the same, or pseudonyms |
//! | [`runner`], [`ssh`] | a fixed script | its output, from this machine or the login node |
//!
//! Decoding is the same whether bytes come from a live cluster or from a file. Nothing here knows about cases or events.

pub mod accounting;
pub mod command;
pub mod details;
pub mod import;
pub mod memory;
pub mod naming;
pub mod observe;
pub mod queue;
pub mod record;
pub mod runner;
pub mod sacct;
pub mod schedule;
pub mod squeue;
#[cfg(feature = "ssh")]
pub mod ssh;
pub mod submit_line;
pub mod take_in;
