//! Tracing of I/O and processes on one host: three ways in, one way out.
//!
//! A way in (eBPF, FUSE, ptrace) produces [`Record`]s; the [`Recorder`] makes rows of them (`hosts`, `clocks`, `processes`, `files`,
//! `io_events`, `io_totals`, `losses`) and puts them into a dataset. What a row means does not depend on the way in; what a way cannot see is
//! null or absent, and stands in `docs/tracing.md`.
//!
//! Without the feature `tracing` there are no ways in: what others traced is read and written.
//!
//! Nothing here knows Slurm, workflow engines or tasks: who a process belonged to is found out from the tables.

#[cfg(feature = "tracing")]
pub mod cgroups;
pub mod clock;
#[cfg(feature = "tracing")]
pub mod command;
#[cfg(feature = "tracing")]
pub mod ebpf;
#[cfg(feature = "tracing")]
pub mod fuse;
pub mod host;
pub mod io_csv;
pub mod options;
#[cfg(feature = "tracing")]
pub mod privileges;
#[cfg(feature = "tracing")]
pub mod probe;
#[cfg(feature = "tracing")]
pub mod proc;
#[cfg(feature = "tracing")]
pub mod ptrace;
pub mod record;
pub mod recorder;
#[cfg(feature = "tracing")]
pub mod serve;
#[cfg(feature = "tracing")]
pub mod stop;
#[cfg(feature = "tracing")]
mod witness;

pub use options::{CommandLines, Detail, Options};
pub use record::{FileKey, Op, Operation, ProcessKey, Record, Via};
pub use recorder::{Recorder, TraceError};
