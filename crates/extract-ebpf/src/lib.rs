//! Tracing of I/O and processes on one host: three ways in, one way out.
//!
//! A way in (eBPF, FUSE, ptrace) produces [`Record`]s; the [`Recorder`] makes rows of them (`hosts`, `clocks`, `processes`, `files`,
//! `io_events`, `io_totals`, `losses`) and puts them into a dataset. What a row means does not depend on the way in; what a way cannot see is
//! null or absent, and stands in `docs/tracing.md`.
//!
//! Nothing here knows Slurm, workflow engines or tasks: who a process belonged to is found out from the tables.

pub mod cgroups;
pub mod clock;
pub mod command;
pub mod ebpf;
pub mod fuse;
pub mod host;
pub mod io_csv;
pub mod options;
pub mod privileges;
pub mod probe;
pub mod proc;
pub mod ptrace;
pub mod record;
pub mod recorder;
pub mod stop;

pub use options::{Detail, Options};
pub use record::{FileKey, Op, Operation, ProcessKey, Record, Via};
pub use recorder::{Recorder, TraceError};
