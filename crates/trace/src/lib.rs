//! What all ways of tracing share.
//!
//! A backend (`flowmine-extract-ebpf`, `flowmine-extract-fuse`, `flowmine-extract-ptrace`) sees
//! what processes do to files and makes [`Record`]s of it. The [`Recorder`] makes rows of them
//! (`hosts`, `clocks`, `processes`, `files`, `io_events`, `io_totals`, `losses`) and puts them into
//! a dataset. What a row means does not depend on the backend; what a backend cannot see is null or
//! absent, and is listed in `docs/tracing.md`.
//!
//! - **In:** records ([`record`]), what a user asked ([`options`]), facts of the host ([`host`],
//!   [`proc`], [`clock`]).
//! - **Out:** rows in a dataset ([`recorder`]); how the trace ended ([`stop`]).
//! - **Also here,** because every way needs it: a command that is held until it may run
//!   ([`command`]), signals that go on to it ([`stop`]), a socket at which commands join a trace
//!   ([`serve`]), rights that are given up ([`privileges`]), the choice among ways ([`probe`]).
//! - **Refused:** nothing that a record says. What cannot be written is counted as lost and the
//!   trace goes on; a [`TraceError`] is for what makes a trace impossible.
//!
//! Nothing here knows a backend, Slurm, workflow engines or tasks: who a process belonged to is
//! found out from the tables.
//!
//! A trace by hand, of one read:
//!
//! ```
//! use flowmine_dataset::Dataset;
//! use flowmine_trace::host::HostFacts;
//! use flowmine_trace::recorder::Backend;
//! use flowmine_trace::{FileKey, Op, Operation, Options, ProcessKey, Record, Recorder};
//!
//! # let dir = tempfile::tempdir()?;
//! # let dir = dir.path().join("dataset");
//! let host = HostFacts::read("/proc".as_ref());
//! let writer = Dataset::open_or_create(&dir)?.host_writer(&host.name, "example")?;
//! let backend = Backend { name: "ptrace", hooks: None, ring_bytes: None };
//! let mut recorder = Recorder::begin(writer, host, backend, &Options::default(), None)?;
//!
//! let process = ProcessKey { pid: 42, start_boot_ns: 1_000_000_000 };
//! let read = Operation {
//!     file: Some(FileKey { device: 1, inode: 7, generation: None }),
//!     offset: Some(0),
//!     size: Some(4096),
//!     result: Some(100),
//!     ..Operation::new(process, 42, Op::Read, 2_000_000_000)
//! };
//! recorder.take(&Record::Operation(read))?;
//! let outcome = recorder.end(None)?;
//! assert_eq!((outcome.events, outcome.lost), (1, 0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

pub mod clock;
pub mod command;
mod connect;
mod error;
pub mod host;
pub mod inherited;
pub mod limits;
pub mod options;
pub mod privileges;
pub mod probe;
pub mod proc;
pub mod record;
pub mod recorder;
pub mod serve;
pub mod stop;
mod witness;

pub use error::TraceError;
pub use options::{CommandLines, Detail, Options};
pub use record::{FileKey, Op, Operation, ProcessKey, Record, Via};
pub use recorder::Recorder;
