//! Steps: jobs and tasks with different names, users and accounts that do the same.
//!
//! In goes what is known of each attempt at a job or task ([`Evidence`]): names, command, traced
//! programs, kinds of files, user. Out come steps with a readable name, and the step of each attempt
//! ([`Steps`]). The crate knows no dataset.
//!
//! 1. **Name.** The first of these that describes work names an attempt: what its engine declares,
//!    its script, its name, the first argument of its script, its main program. Counters, dates,
//!    UUIDs, hashes, sample ids and the user's name are variable ([`template`]).
//! 2. **Learning.** A place in names is variable, too, where almost every name of many has a word of
//!    its own there. A word after a program is a subcommand (`mem` of `bwa mem`) where few
//!    different ones follow it.
//! 3. **Programs.** Attempts with different names are one step if most of them run the same main
//!    program, unless somebody gave that program several names, or the kinds of files differ.
//!
//! A name that describes no work (`run.sh`, `job_17`) is a step of its user alone.
//!
//! The result is a function of the set of attempts: their order makes no difference. Times and ids
//! decide which attempt is the oldest, and a step's name is that of its oldest attempt. Time is
//! n log n, and memory is about a kilobyte for each different name.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

pub mod command;
mod gather;
mod merge;
pub mod template;
mod words;

pub use command::{Kind, Program};
pub use gather::{Builder, Evidence, Named, Ran};
pub use merge::{Step, Steps};
