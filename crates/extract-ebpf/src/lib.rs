//! Tracing by eBPF: programs in the kernel (`bpf/`, C) that send records through a ring, and their
//! reader.
//!
//! - **In:** a command, processes, control groups, or the whole host; what is asked of the trace
//!   ([`Options`](flowmine_trace::Options)).
//! - **Out:** [`Record`](flowmine_trace::Record)s, and by [`run`] rows of them in a dataset; what
//!   was lost is counted by the kernel side.
//! - **Refused:** kernels that lack what it [`NEEDS`], in sentences that say what would help
//!   ([`verdict`]). The kernel's version is never asked: [`Facts::read`] tries what the kernel
//!   allows, [`choose`] decides from that what is loaded, [`Tracer`] loads it and hands on records.
//!   A record that is not understood is counted; nothing in it is trusted.
//!
//! From outside inwards: `run.rs` is one trace from its begin to its end, `tracer.rs` loads and
//! reads the ring, `decode.rs` makes records of bytes with the layout that `wire.rs` and
//! `bpf/wire.h` declare, `paths.rs` and `host_mounts.rs` make paths of names, `cgroups.rs` those of
//! control groups, which only the kernel knows by their ids.
//!
//! ```no_run
//! use std::path::Path;
//!
//! use flowmine_extract_ebpf::{Facts, Tracer, choose, run};
//! use flowmine_dataset::Dataset;
//! use flowmine_trace::Options;
//! use flowmine_trace::host::HostFacts;
//! use flowmine_trace::stop::Stop;
//!
//! let facts = Facts::read(Path::new("/proc"), Path::new("/sys"));
//! let plan = choose(&facts, None).map_err(|missing| missing.join("; "))?;
//! let host = HostFacts::read(Path::new("/proc"));
//! let writer = Dataset::open_or_create(Path::new("dataset"))?.host_writer(&host.name, "example")?;
//! let command = ["cat", "/etc/hostname"].map(Into::into);
//! let (options, stop) = (Options::default(), Stop::never());
//! let begun = |_: &Tracer| println!("traced from here");
//! let ended = run(&plan, &command, &options, host, writer, &stop, begun)?;
//! println!("{} of {:?} operations", ended.outcome.received, ended.outcome.counted);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

#[cfg(test)]
mod agreement;
mod batch;
mod btf;
mod calls;
mod cgroups;
mod counters;
pub mod decode;
pub mod facts;
mod host_mounts;
mod load;
mod object;
mod paths;
pub mod plan;
mod run;
mod running;
mod tracer;
mod try_out;
pub mod wire;

pub use facts::Facts;
pub use plan::{Hooks, LENT, NEEDS, Need, Plan, choose, verdict};
pub use run::{ROOM, run};
pub use tracer::{Extras, Tracer};
