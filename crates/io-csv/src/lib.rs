//! The trace files of the paper on low-level I/O monitoring of workflows: read into a dataset, and
//! written from one.
//!
//! A directory a node, its name the host's, holds `file-bpf.csv` (an operation a line) and
//! `cgroups.csv` (a fork a line). [`mod@read`] takes them in, packed with gzip or not;
//! [`mod@write`] writes them from any dataset, so that scripts made for these files can be used on
//! it. Losses in both directions are listed in `docs/io-csv.md`.
//!
//! The columns of `file-bpf.csv` are those of [`COLUMNS`], padded with spaces. Times are seconds
//! with three digits behind the point. `inode` and `handle` are numbers that the tracer gave
//! (counted from 1, unique within a trace), so that a device is not known and not needed. `type` is
//! `O` open, `C` close, `R` read, `W` write, `U` delete, and in newer ones `M`, a page fault. A
//! path stands on `O` and `U` lines only and is three joined by colons: of the file in its file
//! system, of the mount's root and of the file system's root; see `path.rs`.
//!
//! `cgroups.csv` has no header: time, parent, child, cgroup id. Its tool divides nanoseconds by
//! 1,000 instead of 1,000,000,000 before it writes the point, so that the time is in microseconds;
//! both are read, distinguished by their size.
//!
//! - **In:** directories of such files ([`read::import`]); or a dataset, whoever traced it
//!   ([`write::export`]).
//! - **Out:** rows of `hosts`, `processes`, `files`, `io_events` and `diagnostics`; or such
//!   directories.
//! - **Refused:** a file without the columns, lines that are too long, numbers that are none: each
//!   is a diagnostic with its line and column, and the rest is read. What was imported before is
//!   known by its SHA-256 and skipped. A [`IoCsvError`] is for what the system or the dataset
//!   refuses.
//!
//! It needs no tracer and no kernel.
//!
//! ```
//! use flowmine_io_csv::read::import;
//! use flowmine_io_csv::write::{Period, export};
//! use flowmine_dataset::Dataset;
//!
//! # let dir = tempfile::tempdir()?;
//! # let (traces, again) = (dir.path().join("traces"), dir.path().join("again"));
//! let node = traces.join("node1");
//! std::fs::create_dir_all(&node)?;
//! // Seconds after 1970, parent, child, control group.
//! std::fs::write(node.join("cgroups.csv"), "1714067937.790, 1, 77, 131863\n")?;
//!
//! let dataset = Dataset::open_or_create(&dir.path().join("dataset"))?;
//! let reports = import(&dataset, &[node], |_done, _total| {})?;
//! assert_eq!(reports.iter().map(|report| report.rows).sum::<u64>(), 1);
//!
//! let written = export(&dataset, &again, Period { from_ns: None, to_ns: None })?;
//! assert_eq!(written.forks, 1);
//! assert!(again.join("node1/cgroups.csv").exists());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod error;
#[doc(hidden)] // For `fuzz/`.
pub mod events;
mod field;
mod folder;
#[doc(hidden)] // For `fuzz/`.
pub mod forks;
#[doc(hidden)] // For `fuzz/`.
pub mod lines;
#[doc(hidden)] // For `fuzz/`.
pub mod path;
pub mod read;
pub mod write;

pub use error::IoCsvError;

/// The columns of `file-bpf.csv` in the order in which the published tool writes them.
pub const COLUMNS: [&str; 15] = [
    "time_start",
    "time_end",
    "pid",
    "utime_start",
    "utime_end",
    "stime_start",
    "stime_end",
    "inode",
    "type",
    "result",
    "handle",
    "offset",
    "size",
    "flags",
    "path",
];

/// Name of the file that holds the operations of a host.
pub const EVENTS: &str = "file-bpf.csv";
/// Name of the file that holds the forks of a host, with their cgroups.
pub const FORKS: &str = "cgroups.csv";
/// What the table `hosts` calls this backend.
pub const BACKEND: &str = "io-csv";

/// What is wrong with a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// A short fixed name, for diagnostics.
    pub code: &'static str,
    /// What is wrong, as one sentence.
    pub message: String,
    /// Column in bytes, from 1.
    pub column: u64,
}
