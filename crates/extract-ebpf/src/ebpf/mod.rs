//! Tracing by eBPF: programs in the kernel (`bpf/`, C) that send records through a ring, and their reader.
//!
//! [`Facts::read`] finds out what the kernel allows, [`choose`] decides what is loaded, [`Tracer`] loads it and hands on [`Record`](crate::Record)s. The kernel's version is
//! never asked.

#[cfg(test)]
mod agreement;
mod batch;
mod btf;
mod calls;
mod counters;
pub mod decode;
pub mod facts;
mod host_mounts;
mod load;
mod object;
pub mod paths;
pub mod plan;
mod run;
mod running;
mod tracer;
mod try_out;
pub mod wire;

pub use facts::Facts;
pub use plan::{Hooks, LENT, NEEDS, Need, Plan, choose, verdict};
pub use run::run;
pub use tracer::{Extras, Tracer};
