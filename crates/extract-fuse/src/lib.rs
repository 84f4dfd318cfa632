//! Tracing by an overlay: directories of the command are served by us, so that nothing done in them
//! is missed.
//!
//! In: a command and directories. Out: records of what it did to files below them, and the
//! command's exit status. The overlay lies on the directories themselves, in a mount namespace that
//! only the command and its children see; requests are done on the files underneath, which the
//! tracer reaches through descriptors that it opened before. Everything goes with the namespace,
//! also when the tracer is killed.
//!
//! It refuses `/` as a directory, and hosts that give neither `CAP_SYS_ADMIN` nor a user namespace
//! ([`facts::decide`]).
//!
//! From outside inwards: [`run`] begins a trace, `namespace.rs` mounts and starts the command,
//! `serve.rs` takes requests from the kernel, and `files.rs`, `names.rs`, `attributes.rs`,
//! `directories.rs`, `locks.rs` do them; `session.rs` has the request, `tracer.rs` the shared
//! state, what goes to the recorder in `report.rs`. `lock_table.rs` decides on locks,
//! `open_files.rs` has the descriptors of open files.
//!
//! ```no_run
//! use flowmine_dataset::Dataset;
//! use flowmine_trace::Options;
//! use flowmine_trace::host::HostFacts;
//! use flowmine_trace::stop::Stop;
//!
//! let host = HostFacts::read("/proc".as_ref());
//! let writer = Dataset::open_or_create("dataset".as_ref())?.host_writer(&host.name, "example")?;
//! let mut options = Options::default();
//! options.filters.directories = vec!["/data".into()];
//! let command = ["sort", "/data/in", "-o", "/data/out"].map(Into::into);
//! let ended = flowmine_extract_fuse::trace(&command, &options, host, writer, &Stop::never())?;
//! println!("{} operations in /data", ended.outcome.events);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod attributes;
mod caller;
mod depot;
mod directories;
pub mod facts;
mod files;
mod handles;
mod identity;
mod lock_ranges;
mod lock_table;
mod locks;
mod names;
mod namespace;
mod nodes;
mod open_files;
mod open_flags;
mod process;
mod refused;
mod report;
mod room;
mod root;
mod run;
mod serve;
mod session;
mod system;
mod tracer;
mod wire;

pub use namespace::Program;
pub use run::{ROOM, backend, run, trace};
